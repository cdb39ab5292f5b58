// Monte Carlo tree search (UCT) with random playouts, for one or two players, with or without chance.
#pragma once

#include <cmath>
#include <limits>

#include "core/control.hpp"
#include "core/state.hpp"

namespace rookery {

struct MctsMove {
    Action action;
    std::int64_t visits;
    double value;  // mean return of the player to move at the root
};

// `exploration` weighs the UCB1 bonus on returns scaled to 0 .. 1 by the range seen so far, so that games whose scores
// are counts need no tuning of their own. Chance nodes are sampled, never peeked at. `control.done` counts simulations.
template <GameState S>
std::vector<MctsMove> mcts(const S& root, std::int64_t simulations, double exploration, std::uint64_t seed,
                           Control& control) {
    struct Node {
        Action action = -1;
        int player = 0;  // who moves here; set when the node is expanded
        std::int32_t first_child = -1;
        std::int32_t children = 0;
        std::int64_t visits = 0;
        Returns total{};
    };
    if (root.player() < 0) throw std::invalid_argument("search needs a state in which a player is to move");

    Rng rng(seed);
    std::vector<Node> tree(1);
    std::vector<std::int32_t> path;
    ActionList actions;
    ChanceList outcomes;
    double low = std::numeric_limits<double>::infinity(), high = -low;

    auto expand = [&](std::int32_t index, const S& state) {
        actions.clear();
        const int player = state.player();
        if (player == kChance) {
            outcomes.clear();
            chance_outcomes(state, outcomes);
            for (const auto& outcome : outcomes) actions.push_back(outcome.first);
        } else if (player != kTerminal) {
            state.legal_actions(actions);
            // Untried children are taken in order, so the order must not favour low ids.
            for (std::size_t i = actions.size(); i > 1; --i) {
                std::swap(actions[i - 1], actions[rng.below(static_cast<std::uint32_t>(i))]);
            }
        }
        const auto first = static_cast<std::int32_t>(tree.size());
        tree[index].player = player;
        tree[index].first_child = first;
        tree[index].children = static_cast<std::int32_t>(actions.size());
        tree.resize(tree.size() + actions.size());
        for (std::size_t i = 0; i < actions.size(); ++i) tree[first + i].action = actions[i];
    };

    auto pick = [&](const Node& node) -> std::int32_t {
        const double scale = high > low ? 1.0 / (high - low) : 0.0;
        const double log_visits = std::log(static_cast<double>(node.visits));
        std::int32_t best = node.first_child;
        double best_score = -std::numeric_limits<double>::infinity();
        for (std::int32_t i = node.first_child; i < node.first_child + node.children; ++i) {
            const Node& child = tree[i];
            if (child.visits == 0) return i;
            const double n = static_cast<double>(child.visits);
            const double mean = (child.total[node.player] / n - low) * scale;
            const double score = mean + exploration * std::sqrt(log_visits / n);
            if (score > best_score) best = i, best_score = score;
        }
        return best;
    };

    expand(0, root);
    S state = root;
    for (std::int64_t simulation = 0; simulation < simulations && !control.stopped(); ++simulation) {
        state = root;
        path.assign(1, 0);
        std::int32_t index = 0;
        while (tree[index].children > 0) {
            if (tree[index].player == kChance) {
                const Action outcome = sample_chance(state, rng);
                index = tree[index].first_child;
                while (tree[index].action != outcome) ++index;
            } else {
                index = pick(tree[index]);
            }
            state.apply(tree[index].action);
            path.push_back(index);
            if (tree[index].first_child < 0) {
                const bool first_visit = tree[index].visits == 0;
                if (first_visit && state.player() != kChance) break;
                expand(index, state);
            }
        }
        play_randomly(state, rng, actions);
        const Returns result = state.returns();
        for (int player = 0; player < root.rules().players(); ++player) {
            low = std::min(low, result[player]);
            high = std::max(high, result[player]);
        }
        for (const auto visited : path) {
            ++tree[visited].visits;
            for (std::size_t player = 0; player < result.size(); ++player) {
                tree[visited].total[player] += result[player];
            }
        }
        control.add(1);
    }

    std::vector<MctsMove> moves;
    for (std::int32_t i = tree[0].first_child; i < tree[0].first_child + tree[0].children; ++i) {
        const Node& child = tree[i];
        const double n = static_cast<double>(std::max<std::int64_t>(1, child.visits));
        moves.push_back({child.action, child.visits, child.total[tree[0].player] / n});
    }
    std::sort(moves.begin(), moves.end(), [](const MctsMove& a, const MctsMove& b) { return a.action < b.action; });
    return moves;
}

}  // namespace rookery
