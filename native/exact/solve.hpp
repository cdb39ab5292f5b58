// The exact solution of any game whose reachable positions fit in memory.
//
// First every position that can be reached is listed, breadth first, with its moves (`reach`). Then the values are
// computed (`solve`), always as what player 0 still earns with best play of both: the sum of the rewards to come.
//
// - Where no position can come back, one pass from the ends to the start settles everything.
// - Two players without chance: retrograde analysis from the ends; what it does not reach is drawn, for nobody can be
//   forced to an end.
// - One player without chance: the best end that can be reached, and the shortest way there.
// - With chance: value iteration between a lower and an upper bound, both proven.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <queue>
#include <span>

#include "core/control.hpp"
#include "core/key_table.hpp"
#include "core/state.hpp"

namespace rookery {

// Positions and what follows them. Those of `edge` from `first[i]` to `first[i + 1]` leave position i, in the order of
// the legal actions or chance outcomes.
struct PositionGraph {
    struct Edge {
        std::uint32_t to;
        float reward;  // what player 0 earns by the step
    };
    int players = 1;
    bool chance = false;
    KeyTable keys;
    std::vector<std::int8_t> player;
    std::vector<std::uint64_t> first{0};
    std::vector<Edge> edge;
    std::vector<double> probability;  // of every edge if there is chance, else empty

    std::size_t size() const { return player.size(); }
    std::size_t bytes() const {
        return keys.bytes() + player.capacity() + first.capacity() * sizeof(first[0]) + edge.capacity() * sizeof(Edge) +
               probability.capacity() * sizeof(double);
    }
    std::span<const Edge> after(std::size_t i) const { return {edge.data() + first[i], edge.data() + first[i + 1]}; }
};

struct TooLarge : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Everything that can be reached from `root`. Throws TooLarge when more than `most_positions` are met or more than
// `most_bytes` would be needed, solution included. `control.done` counts positions.
template <GameState S>
PositionGraph reach(const S& root, std::int64_t most_positions, std::int64_t most_bytes, Control& control) {
    constexpr std::int64_t kSolutionBytes = 24;  // values, bounds, distances and work arrays, per position
    PositionGraph graph;
    graph.players = root.rules().players();
    std::vector<S> layer{root}, next;
    graph.keys.add(root.key());
    ActionList actions;
    ChanceList outcomes;
    while (!layer.empty()) {
        for (S& state : layer) {
            if (control.stopped()) return graph;
            const int player = state.player();
            graph.player.push_back(static_cast<std::int8_t>(player));
            actions.clear();
            outcomes.clear();
            if (player == kChance) {
                graph.chance = true;
                chance_outcomes(state, outcomes);
                for (const auto& outcome : outcomes) actions.push_back(outcome.first);
            } else if (player != kTerminal) {
                state.legal_actions(actions);
            }
            if (graph.chance) graph.probability.resize(graph.edge.size(), 0.0);
            for (std::size_t i = 0; i < actions.size(); ++i) {
                S after = state;
                const double reward = apply_for_rewards(after, actions[i])[0];
                const auto [number, is_new] = graph.keys.add(after.key());
                graph.edge.push_back({number, static_cast<float>(reward)});
                if (graph.chance) graph.probability.push_back(player == kChance ? outcomes[i].second : 0.0);
                if (is_new) next.push_back(std::move(after));
            }
            graph.first.push_back(graph.edge.size());
            control.add(1);
            const auto count = static_cast<std::int64_t>(graph.keys.size());
            if (count > most_positions) throw TooLarge("positions");
            if (static_cast<std::int64_t>(graph.bytes()) + count * kSolutionBytes > most_bytes) throw TooLarge("bytes");
        }
        layer = std::move(next);
        next.clear();
    }
    return graph;
}

// What the positions of a graph are worth to player 0, and how many steps the game still takes with best play: the
// winner hurries, the loser delays, and one player takes the shortest of the best ways.
struct Solved {
    std::vector<double> low, high;         // bounds of the value; `high` is empty if `low` is exact
    std::vector<std::int32_t> distance;    // -1 where the game need not end, and everywhere if there is chance
    int sweeps = 0;
    double error() const {
        double most = 0;
        for (std::size_t i = 0; i < high.size(); ++i) most = std::max(most, high[i] - low[i]);
        return most;
    }
};

namespace solving {

// Positions in an order in which everything comes after what follows it; empty if a position can come back.
inline std::vector<std::uint32_t> backward_order(const PositionGraph& graph) {
    std::vector<std::uint32_t> before(graph.size()), order;
    for (const auto& edge : graph.edge) ++before[edge.to];
    order.reserve(graph.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (before[i] == 0) order.push_back(i);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        for (const auto& edge : graph.after(order[done])) {
            if (--before[edge.to] == 0) order.push_back(edge.to);
        }
    }
    if (order.size() < graph.size()) return {};
    std::reverse(order.begin(), order.end());
    return order;
}

// Whether `value` in `steps` is better than what the mover has, for a mover who wants `sign` times the value.
inline bool better(double sign, double value, std::int32_t steps, double best, std::int32_t best_steps) {
    const double mine = sign * value, his = sign * best;
    if (mine != his) return mine > his;
    return mine < 0 ? steps > best_steps : steps < best_steps;
}

inline double backed_up(const PositionGraph& graph, const std::vector<double>& value, std::size_t i, double discount) {
    const auto edges = graph.after(i);
    const int player = graph.player[i];
    if (player == kTerminal || edges.empty()) return 0;
    if (player == kChance) {
        double mean = 0;
        for (std::size_t e = 0; e < edges.size(); ++e) {
            mean += graph.probability[graph.first[i] + e] * (edges[e].reward + value[edges[e].to]);
        }
        return mean;
    }
    double best = player == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    for (const auto& edge : edges) {
        const double worth = edge.reward + discount * value[edge.to];
        best = player == 0 ? std::max(best, worth) : std::min(best, worth);
    }
    return best;
}

inline Solved in_one_pass(const PositionGraph& graph, const std::vector<std::uint32_t>& order, double discount) {
    Solved solved;
    solved.low.assign(graph.size(), 0);
    solved.distance.assign(graph.size(), graph.chance ? -1 : 0);
    for (const auto i : order) {
        const int player = graph.player[i];
        if (graph.chance || player < 0) {
            solved.low[i] = backed_up(graph, solved.low, i, discount);
            continue;
        }
        const double sign = player == 0 ? 1 : -1;
        bool first = true;
        for (const auto& edge : graph.after(i)) {
            const double worth = edge.reward + discount * solved.low[edge.to];
            const std::int32_t steps = solved.distance[edge.to] + 1;
            if (!first && !better(sign, worth, steps, solved.low[i], solved.distance[i])) continue;
            solved.low[i] = worth;
            solved.distance[i] = steps;
            first = false;
        }
    }
    solved.sweeps = 1;
    return solved;
}

// Edges turned round: who leads to each position, and by which edge.
struct Backward {
    std::vector<std::uint64_t> first;
    std::vector<std::uint32_t> from;
    std::vector<float> reward;

    explicit Backward(const PositionGraph& graph)
        : first(graph.size() + 2), from(graph.edge.size()), reward(from.size()) {
        for (const auto& edge : graph.edge) ++first[edge.to + 2];
        std::partial_sum(first.begin(), first.end(), first.begin());
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            for (const auto& edge : graph.after(i)) {
                const auto at = first[edge.to + 1]++;
                from[at] = i;
                reward[at] = edge.reward;
            }
        }
        first.pop_back();
    }
};

// Two players, no chance, and only ends are rewarded. In rounds: all that is decided in d steps before what takes d + 1.
inline Solved retrograde(const PositionGraph& graph) {
    Solved solved;
    solved.low.assign(graph.size(), 0);
    solved.distance.assign(graph.size(), -1);
    const Backward backward(graph);
    std::vector<std::uint32_t> open(graph.size());  // moves of which the worst is not known yet
    for (std::size_t i = 0; i < graph.size(); ++i) open[i] = static_cast<std::uint32_t>(graph.after(i).size());
    std::vector<std::uint32_t> now, next;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph.player[i] == kTerminal) {
            solved.distance[i] = 0;
            now.push_back(i);
        }
    }
    for (std::int32_t steps = 1; !now.empty(); ++steps) {
        for (const auto position : now) {
            const bool end = graph.player[position] == kTerminal;
            for (auto e = backward.first[position]; e < backward.first[position + 1]; ++e) {
                const auto before = backward.from[e];
                if (solved.distance[before] >= 0) continue;
                const double worth = end ? backward.reward[e] : solved.low[position];
                const double mine = graph.player[before] == 0 ? worth : -worth;
                if (mine > 0 || (mine < 0 && --open[before] == 0)) {
                    solved.low[before] = worth;
                    solved.distance[before] = steps;
                    next.push_back(before);
                }
            }
        }
        now = std::move(next);
        next.clear();
    }
    for (std::size_t i = 0; i < graph.size(); ++i) {
        if (solved.low[i] == 0 && graph.player[i] != kTerminal) solved.distance[i] = -1;
    }
    solved.sweeps = 1;
    return solved;
}

// One player, no chance, and no reward on a way that leads back. What cannot reach an end is worth nothing.
inline Solved best_ends(const PositionGraph& graph) {
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    Solved solved;
    solved.low.assign(graph.size(), kNothing);
    solved.distance.assign(graph.size(), -1);
    const Backward backward(graph);
    std::vector<std::uint32_t> work;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph.player[i] != kTerminal) continue;
        solved.low[i] = 0;
        work.push_back(i);
    }
    const std::vector<std::uint32_t> ends = work;
    std::size_t raised = 0;
    while (!work.empty()) {
        const auto position = work.back();
        work.pop_back();
        for (auto e = backward.first[position]; e < backward.first[position + 1]; ++e) {
            const double worth = backward.reward[e] + solved.low[position];
            if (worth <= solved.low[backward.from[e]]) continue;
            solved.low[backward.from[e]] = worth;
            work.push_back(backward.from[e]);
            if (++raised > 64 * (graph.edge.size() + 64)) {
                throw std::invalid_argument("a position that can come back is rewarded on the way, without end");
            }
        }
    }
    // The shortest way along edges that keep the value.
    std::vector<std::uint32_t> now = ends, next;
    for (const auto i : ends) solved.distance[i] = 0;
    for (std::int32_t steps = 1; !now.empty(); ++steps) {
        for (const auto position : now) {
            for (auto e = backward.first[position]; e < backward.first[position + 1]; ++e) {
                const auto before = backward.from[e];
                if (solved.distance[before] >= 0 || backward.reward[e] + solved.low[position] != solved.low[before])
                    continue;
                solved.distance[before] = steps;
                next.push_back(before);
            }
        }
        now = std::move(next);
        next.clear();
    }
    for (auto& value : solved.low) {
        if (value == kNothing) value = 0;
    }
    solved.sweeps = 1;
    return solved;
}

// A game that may go on for ever earns without bound, and one that hardly ever ends takes this many sweeps to show it.
constexpr int kMostSweeps = 100'000;

inline std::invalid_argument no_bound() {
    return std::invalid_argument(
        "no bound of the rewards to come could be proven in 100,000 sweeps, so the game may go "
        "on for ever; give a discount below 1");
}

inline double sweep(const PositionGraph& graph, std::vector<double>& value, double discount) {
    double most = 0;
    for (std::size_t i = graph.size(); i-- > 0;) {
        const double fresh = backed_up(graph, value, i, discount);
        most = std::max(most, std::abs(fresh - value[i]) / std::max(1.0, std::abs(fresh)));
        value[i] = fresh;
    }
    return most;
}

// One player and rewards that are never negative. Sweeps from 0 never overshoot, so they give a lower bound. A guess
// above it that no sweep raises is an upper bound, because the values are the least such function.
inline Solved between_guesses(const PositionGraph& graph, double precision, Control& control) {
    Solved solved;
    solved.low.assign(graph.size(), 0);
    solved.distance.assign(graph.size(), -1);
    const double margin = precision / 2;
    double change = precision;
    while (!control.stopped()) {
        for (change *= 0.1; !control.stopped(); ++solved.sweeps) {
            if (solved.sweeps == kMostSweeps) throw no_bound();
            if (sweep(graph, solved.low, 1.0) <= change) break;
        }
        solved.high = solved.low;
        for (auto& value : solved.high) value += margin * std::max(1.0, value);
        // The ends, and what surely leads to them without a reward, are worth exactly nothing.
        for (std::size_t i = 0; i < graph.size(); ++i) {
            if (graph.player[i] == kTerminal) solved.high[i] = 0;
        }
        bool holds = true;
        for (std::size_t i = 0; i < graph.size() && holds; ++i) {
            holds = backed_up(graph, solved.high, i, 1.0) <= solved.high[i] * (1 + 1e-15);
        }
        if (holds) return solved;
        if (change < 1e-15) throw no_bound();
    }
    return solved;
}

// Values that lie between two numbers, from both of these.
inline Solved from_both_sides(const PositionGraph& graph, double least, double most, double discount, double precision,
                              Control& control) {
    Solved solved;
    solved.low.assign(graph.size(), least);
    solved.high.assign(graph.size(), most);
    solved.distance.assign(graph.size(), -1);
    for (std::size_t i = 0; i < graph.size(); ++i) {
        if (graph.player[i] == kTerminal) solved.low[i] = solved.high[i] = 0;
    }
    while (!control.stopped()) {
        const double below = sweep(graph, solved.low, discount), above = sweep(graph, solved.high, discount);
        ++solved.sweeps;
        if (solved.error() <= precision) break;
        if ((below == 0 && above == 0) || solved.sweeps == kMostSweeps) break;  // the game need not end
    }
    return solved;
}

}  // namespace solving

// `precision` is how far the two bounds may lie apart where there is chance, relative to values above 1; `discount` is
// applied at every move of a player. Throws std::invalid_argument if the game is none that can be solved.
inline Solved solve(const PositionGraph& graph, double precision, double discount, Control& control) {
    if (const auto order = solving::backward_order(graph); !order.empty()) {
        return solving::in_one_pass(graph, order, discount);
    }
    bool only_ends = true, never_negative = true;
    double least = 0, most = 0;
    for (const auto& edge : graph.edge) {
        only_ends &= edge.reward == 0 || graph.player[edge.to] == kTerminal;
        never_negative &= edge.reward >= 0;
        least = std::min<double>(least, edge.reward);
        most = std::max<double>(most, edge.reward);
    }
    if (discount < 1) {
        return solving::from_both_sides(graph, 2 * least / (1 - discount), 2 * most / (1 - discount), discount,
                                        precision, control);
    }
    if (!graph.chance) {
        if (graph.players == 1) return solving::best_ends(graph);
        const bool one_size = std::all_of(graph.edge.begin(), graph.edge.end(), [&](const auto& edge) {
            return edge.reward == 0 || std::abs(edge.reward) == std::max(most, -least);
        });
        if (!only_ends || !one_size) {
            throw std::invalid_argument(
                "positions can come back, and more is at stake than to win, draw or lose at the end");
        }
        return solving::retrograde(graph);
    }
    if (only_ends) return solving::from_both_sides(graph, least, most, 1.0, precision, control);
    if (graph.players == 1 && never_negative) return solving::between_guesses(graph, precision, control);
    throw std::invalid_argument(
        "positions can come back with rewards of both signs on the way; give a discount below 1");
}

}  // namespace rookery
