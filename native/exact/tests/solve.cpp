// Exact solutions beside plain recursion: the value with n steps left, for n from 0 until nothing changes.
#include "exact/solve.hpp"

#include <functional>
#include <map>
#include <set>

#include "tests/check.hpp"
#include "tests/toys.hpp"

using namespace rookery;
using testing::Places;
using testing::Stones;

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

PositionGraph reached(const Places::Rules& rules) {
    Control control;
    return reach(Places(rules), 1'000'000, 1'000'000'000, control);
}

// A graph without keys; what follows position i is next[i], earning rewards[i].
PositionGraph graph_of(int players, const std::vector<int>& player, const std::vector<std::vector<std::uint32_t>>& next,
                       const std::vector<std::vector<float>>& rewards) {
    PositionGraph graph;
    graph.players = players;
    for (std::size_t i = 0; i < player.size(); ++i) {
        graph.player.push_back(static_cast<std::int8_t>(player[i]));
        for (std::size_t e = 0; e < next[i].size(); ++e) graph.edge.push_back({next[i][e], rewards[i][e]});
        graph.first.push_back(graph.edge.size());
    }
    return graph;
}

// The value with at most `steps` steps left, where an unfinished game is worth `unfinished`.
std::vector<double> with_steps(const PositionGraph& graph, const std::vector<double>& fewer) {
    std::vector<double> values(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
        if (graph.player[i] == kTerminal) continue;
        double value = 0;
        for (std::size_t e = graph.first[i]; e < graph.first[i + 1]; ++e) {
            const double worth = graph.edge[e].reward + fewer[graph.edge[e].to];
            if (graph.player[i] == kChance) {
                value += graph.probability[e] * worth;
            } else if (e == graph.first[i]) {
                value = worth;
            } else {
                value = graph.player[i] == 0 ? std::max(value, worth) : std::min(value, worth);
            }
        }
        values[i] = value;
    }
    return values;
}

// Random places: those from `ends` on are ends, the others lead anywhere or, if told, only onward.
Places::Rules random_places(int players, int count, int ends, bool onward, bool chance, Rng& rng) {
    Places::Rules rules{players, {}};
    for (int i = 0; i < count; ++i) {
        if (i >= ends) {
            rules.places.push_back({kTerminal, {}, {}, static_cast<double>(rng.below(3)) - 1});
            continue;
        }
        Places::Place place{static_cast<int>(rng.below(static_cast<std::uint32_t>(players))), {}, {}};
        if (chance && rng.below(2) == 0) place.player = kChance;
        const int least = onward ? i + 1 : 0;
        for (std::uint32_t n = 1 + rng.below(3); n > 0; --n) {
            place.next.push_back(least + static_cast<int>(rng.below(static_cast<std::uint32_t>(count - least))));
        }
        if (place.player == kChance) {
            // Chance always may end the game, so that none goes on for ever.
            if (!onward) place.next[0] = ends + static_cast<int>(rng.below(static_cast<std::uint32_t>(count - ends)));
            place.chances.assign(place.next.size(), 1.0 / static_cast<double>(place.next.size()));
        } else if (chance && !onward) {
            place.next.assign(1, ends);
        }
        rules.places.push_back(place);
    }
    if (chance && !onward) {  // players only choose between chance and an end
        std::vector<int> draws;
        for (int i = 0; i < ends; ++i) {
            if (rules.places[i].player == kChance) draws.push_back(i);
        }
        for (auto& place : rules.places) {
            for (std::uint32_t n = 1 + rng.below(2); place.player >= 0 && !draws.empty() && n > 0; --n) {
                place.next.push_back(draws[rng.below(static_cast<std::uint32_t>(draws.size()))]);
            }
        }
    }
    return rules;
}

template <class Error = std::invalid_argument, class Work>
bool refused(Work&& work) {
    try {
        work();
    } catch (const Error&) {
        return true;
    }
    return false;
}

}  // namespace

TEST(what_can_be_reached_is_listed_breadth_first) {
    Rng rng(1);
    for (int round = 0; round < 100; ++round) {
        const auto rules = random_places(2, 30, 25, false, round % 2 == 0, rng);
        const PositionGraph graph = reached(rules);
        std::vector<int> order{0};
        std::set<int> seen{0};
        for (std::size_t i = 0; i < order.size(); ++i) {
            for (const int next : rules.places[order[i]].next) {
                if (seen.insert(next).second) order.push_back(next);
            }
        }
        CHECK(graph.size() == order.size() && graph.keys.size() == order.size());
        bool chance = false;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto& place = rules.places[order[i]];
            CHECK(graph.keys[i] == std::to_string(order[i]));
            CHECK(graph.player[i] == place.player);
            CHECK(graph.after(i).size() == place.next.size());
            chance |= place.player == kChance;
            for (std::size_t e = 0; e < place.next.size(); ++e) {
                const auto& edge = graph.after(i)[e];
                CHECK(order[edge.to] == place.next[e]);
                const auto& to = rules.places[place.next[e]];
                CHECK(edge.reward == (to.player == kTerminal ? to.worth : 0));
                if (place.player == kChance) CHECK(graph.probability[graph.first[i] + e] == place.chances[e]);
            }
        }
        CHECK(graph.chance == chance);
        const std::size_t least =
            graph.keys.bytes() + 9 * graph.size() + 8 * graph.edge.size() * (graph.chance ? 2 : 1);
        CHECK(graph.bytes() >= least && graph.bytes() <= 3 * least + 100);
    }
}

TEST(what_is_too_large_is_refused) {
    const Stones::Rules rules{20, 2};
    Control control;
    const std::size_t positions = reach(Stones(rules), 1'000'000, 1'000'000'000, control).size();
    CHECK(control.done == static_cast<std::int64_t>(positions));
    const auto too_large = [&](std::size_t most_positions, std::int64_t bytes) {
        return refused<TooLarge>(
            [&] { reach(Stones(rules), static_cast<std::int64_t>(most_positions), bytes, control); });
    };
    CHECK(!too_large(positions, 1'000'000));
    CHECK(too_large(positions - 1, 1'000'000));
    CHECK(too_large(positions, static_cast<std::int64_t>(24 * positions)));
    control.stop = true;
    CHECK(reach(Stones(rules), 1'000, 1'000'000, control).size() == 0);
}

// Who wins a game of stones, and how long it takes: the winner leaves a multiple of 4, so each pair of moves takes 4.
TEST(stones_are_solved) {
    for (int stones = 1; stones < 25; ++stones) {
        const Stones::Rules rules{stones, 2};
        Control control;
        const PositionGraph graph = reach(Stones(rules), 1'000'000, 1'000'000'000, control);
        const Solved solved = solve(graph, 1e-9, 1.0, control);
        CHECK(solved.low[0] == (stones % 4 ? 1 : -1) && solved.high.empty() && solved.error() == 0);
        // The loser takes one stone at a time; the winner, who cannot hurry more, takes three: 4 stones in 2 moves.
        CHECK(solved.distance[0] == (stones + 3) / 4 * 2 - (stones % 4 ? 1 : 0));
    }
}

// Without repetition: values, and the steps that they take, by recursion.
TEST(what_cannot_come_back_is_solved_in_one_pass) {
    Rng rng(2);
    for (int round = 0; round < 300; ++round) {
        const bool chance = round % 3 == 0;
        const double discount = round % 2 ? 1.0 : 0.5;
        const auto rules = random_places(1 + round % 2, 25, 20, true, chance, rng);
        const PositionGraph graph = reached(rules);
        Control control;
        const Solved solved = solve(graph, 1e-9, discount, control);
        const std::function<std::pair<double, int>(std::size_t)> value = [&](std::size_t i) {
            std::vector<std::pair<double, int>> found;
            double mean = 0;
            for (std::size_t e = graph.first[i]; e < graph.first[i + 1]; ++e) {
                const auto [worth, steps] = value(graph.edge[e].to);
                const double rate = graph.player[i] == kChance ? 1.0 : discount;
                found.emplace_back(graph.edge[e].reward + rate * worth, steps + 1);
                if (graph.player[i] == kChance) mean += graph.probability[e] * found.back().first;
            }
            if (graph.player[i] < 0) return std::pair(mean, 0);
            const double sign = graph.player[i] == 0 ? 1 : -1;
            auto best = found[0];
            for (const auto& one : found) {
                const bool lost = sign * one.first < 0;
                if (sign * one.first > sign * best.first) best = one;
                if (one.first == best.first && (lost ? one.second > best.second : one.second < best.second)) best = one;
            }
            return best;
        };
        CHECK(solved.high.empty() && solved.sweeps == 1);
        for (std::size_t i = 0; i < graph.size(); ++i) {
            const auto [worth, steps] = value(i);
            CHECK(std::abs(solved.low[i] - worth) < 1e-12);
            CHECK(solved.distance[i] == (graph.chance ? -1 : steps));
        }
    }
}

// A won game is won in n steps if n is the least number with which it is.
TEST(games_of_two_that_come_back_are_solved_backwards) {
    Rng rng(3);
    int drawn = 0, won = 0, lost = 0;
    for (int round = 0; round < 300; ++round) {
        const PositionGraph graph = reached(random_places(2, 30, 26, false, false, rng));
        Control control;
        const Solved solved = solve(graph, 1e-9, 1.0, control);
        std::vector<double> values(graph.size());
        std::vector<int> distance(graph.size(), -1);
        for (int steps = 1; steps <= static_cast<int>(graph.size()); ++steps) {
            values = with_steps(graph, values);
            for (std::size_t i = 0; i < graph.size(); ++i) {
                if (values[i] != 0 && distance[i] < 0) distance[i] = steps;
            }
        }
        const bool comes_back = solving::backward_order(graph).empty();
        for (std::size_t i = 0; i < graph.size(); ++i) {
            CHECK(solved.low[i] == values[i]);
            if (graph.player[i] == kTerminal) {
                CHECK(solved.distance[i] == 0);
            } else if (comes_back) {
                CHECK(solved.distance[i] == distance[i]);
                ++(values[i] == 0 ? drawn : values[i] > 0 ? won : lost);
            }
        }
    }
    CHECK(drawn > 500 && won > 500 && lost > 500);
}

// Steps may cost something, but earn nothing unless they end the game.
TEST(games_of_one_that_come_back_end_where_it_is_best) {
    Rng rng(4);
    int endless = 0;
    for (int round = 0; round < 300; ++round) {
        const std::size_t count = 20;
        std::vector<int> player(count, 0);
        std::vector<std::vector<std::uint32_t>> next(count);
        std::vector<std::vector<float>> rewards(count);
        player[count - 1] = player[count - 2] = kTerminal;
        for (std::size_t i = 0; i + 2 < count; ++i) {
            for (std::uint32_t n = 1 + rng.below(2); n > 0; --n) {
                next[i].push_back(rng.below(count));
                const bool ends = next[i].back() >= count - 2;
                rewards[i].push_back(ends ? static_cast<float>(rng.below(5)) - 1 : -static_cast<float>(rng.below(2)));
            }
        }
        const PositionGraph graph = graph_of(1, player, next, rewards);
        if (!solving::backward_order(graph).empty()) continue;
        Control control;
        const Solved solved = solve(graph, 1e-9, 1.0, control);
        std::vector<std::vector<double>> values(1, std::vector<double>(count, kNothing));
        values[0][count - 1] = values[0][count - 2] = 0;
        for (std::size_t steps = 1; steps <= count; ++steps) {
            values.push_back(with_steps(graph, values.back()));
            for (std::size_t i = 0; i < count; ++i) values[steps][i] = std::max(values[steps][i], values[steps - 1][i]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const double best = values[count][i];
            int steps = 0;
            while (values[static_cast<std::size_t>(steps)][i] != best) ++steps;
            CHECK(solved.low[i] == (best == kNothing ? 0 : best));
            CHECK(solved.distance[i] == (best == kNothing ? -1 : steps));
            endless += best == kNothing;
        }
    }
    CHECK(endless > 50);
    // Earning on the way round, without end.
    const PositionGraph graph = graph_of(1, {0, kTerminal}, {{0, 1}, {}}, {{1, 0}, {}});
    Control control;
    CHECK(refused([&] { solve(graph, 1e-9, 1.0, control); }));
}

// The bounds of games with chance, beside what a thousand sweeps give.
TEST(games_with_chance_lie_between_their_bounds) {
    Rng rng(5);
    int rounds = 0;
    for (int round = 0; round < 800; ++round) {
        PositionGraph graph = reached(random_places(1 + round % 2, 25, 20, false, true, rng));
        if (!graph.chance || !solving::backward_order(graph).empty()) continue;
        const bool on_the_way = graph.players == 1 && round % 4 == 0;
        for (auto& edge : graph.edge) {
            if (on_the_way) edge.reward = static_cast<float>(rng.below(3));
        }
        std::vector<double> values(graph.size());
        for (int i = 0; i < 1000; ++i) values = with_steps(graph, values);
        Control control;
        for (const double precision : {1e-2, 1e-9}) {
            const Solved solved = solve(graph, precision, 1.0, control);
            double most = 0, gap = 0;
            for (std::size_t i = 0; i < graph.size(); ++i) {
                CHECK(solved.low[i] <= values[i] + 1e-12 && values[i] <= solved.high[i] + 1e-12);
                CHECK(solved.distance[i] == -1);
                most = std::max(most, values[i]);
                gap = std::max(gap, solved.high[i] - solved.low[i]);
            }
            CHECK(gap <= precision * std::max(1.0, most) && solved.error() == gap && solved.sweeps > 0);
        }
        ++rounds;
    }
    CHECK(rounds > 100);
}

// Wherever they are listed, the ends are worth exactly nothing, and a guess above that is none.
TEST(ends_are_worth_nothing_from_both_sides) {
    PositionGraph graph =
        graph_of(1, {kTerminal, 0, kChance, kTerminal}, {{}, {2}, {1, 0, 3}, {}}, {{}, {1}, {0, 0, 2}, {}});
    graph.chance = true;
    graph.probability = {0, 0.5, 0.25, 0.25};
    Control control;
    const Solved solved = solve(graph, 1e-3, 1.0, control);
    for (const std::size_t end : {0, 3}) CHECK(solved.low[end] == 0 && solved.high[end] == 0);
    // With x at the player and y at chance: x = 1 + y and y = x / 2 + 2 / 4, so that x = 3 and y = 2.
    const double expected[] = {0, 3, 2, 0};
    for (std::size_t i = 0; i < 4; ++i) CHECK(solved.low[i] <= expected[i] && expected[i] <= solved.high[i]);
}

// With a discount every move of a player counts less, and even a game without end has a value.
TEST(discounted_games_have_a_value) {
    // One step earns 1 and comes back: 1 + 1/2 + 1/4 + ... = 2. The other earns 1.5 once.
    const PositionGraph graph = graph_of(1, {0, kTerminal}, {{0, 1}, {}}, {{1, 1.5f}, {}});
    Control control;
    const Solved solved = solve(graph, 1e-9, 0.5, control);
    CHECK(solved.low[0] <= 2 && solved.high[0] >= 2 && solved.error() <= 1e-9);
    // The same for player 1, who wants the least: 1.5 now is less than 2.
    const Solved other = solve(graph_of(2, {1, kTerminal}, {{0, 1}, {}}, {{1, 1.5f}, {}}), 1e-9, 0.5, control);
    CHECK(other.low[0] <= 1.5 && other.high[0] >= 1.5 && other.error() <= 1e-9);
    const Solved costs = solve(graph_of(1, {0, kTerminal}, {{0, 1}, {}}, {{-1, -3}, {}}), 1e-9, 0.5, control);
    CHECK(costs.low[0] <= -2 && costs.high[0] >= -2 && costs.error() <= 1e-9);
}

TEST(games_without_a_value_are_refused) {
    Control control;
    // Two players, and a reward on the way, or ends of different worth.
    CHECK(refused(
        [&] { solve(graph_of(2, {0, 1, kTerminal}, {{1}, {0, 2}, {}}, {{1}, {0, 1}, {}}), 1e-9, 1.0, control); }));
    CHECK(refused([&] {
        solve(graph_of(2, {0, 1, kTerminal}, {{1}, {0, 2, 2}, {}}, {{0}, {0, 1, 2}, {}}), 1e-9, 1.0, control);
    }));
    CHECK(!refused([&] {
        solve(graph_of(2, {0, 1, kTerminal}, {{1}, {0, 2, 2}, {}}, {{0}, {0, 1, -1}, {}}), 1e-9, 1.0, control);
    }));
    // Chance, and rewards of both signs on the way; or of one sign, without end.
    PositionGraph graph = graph_of(1, {0, kChance, kTerminal}, {{1}, {0, 2}, {}}, {{-1}, {1, 0}, {}});
    graph.chance = true;
    graph.probability = {0, 0.5, 0.5};
    CHECK(refused([&] { solve(graph, 1e-9, 1.0, control); }));
    graph.edge[0].reward = 0;
    const Solved solved = solve(graph, 1e-9, 1.0, control);  // 1/2 + 1/4 + ...
    CHECK(solved.low[0] <= 1 && solved.high[0] >= 1 && solved.error() <= 1e-9);
    graph.players = 2;
    CHECK(refused([&] { solve(graph, 1e-9, 1.0, control); }));
    graph.players = 1;
    graph.probability = {0, 1.0, 0.0};
    CHECK(refused([&] { solve(graph, 1e-9, 1.0, control); }));
}
