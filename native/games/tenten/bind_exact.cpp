// Exact values of 1010! on small boards: functions of the submodule rookery._native.tenten.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/tenten/policy.hpp"
#include "games/tenten/rules.hpp"

namespace rookery {

template <class T>
using Values = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class V>
static void check_size(const tenten::Rules& rules, const V& values) {
    if (values.shape(0) != tenten::SmallRules(rules).boards()) {
        throw nb::value_error("the table needs one value for each of the 2^(rows * columns) boards");
    }
}

static tenten::Rewards make_rewards(double constant, double moves, double cells, const std::vector<double>& lines) {
    tenten::Rewards rewards{constant, moves, cells, {}};
    if (lines.size() != rewards.lines.size()) throw nb::value_error("give a reward for 0 to 20 lines");
    std::copy(lines.begin(), lines.end(), rewards.lines.begin());
    return rewards;
}

template <class T>
static tenten::TablePolicy<T> make_policy(const tenten::Rules& rules, const std::vector<Values<const T>>& tables,
                                          double tolerance) {
    tenten::TablePolicy<T> policy{{}, tolerance};
    for (const auto& table : tables) {
        check_size(rules, table);
        policy.tables.push_back(table.data());
    }
    return policy;
}

template <class T>
static void bind_tables(nb::module_& m) {
    using Tables = std::vector<Values<const T>>;
    m.def(
        "sweep",
        [](const tenten::Rules& rules, Values<T> values, double constant, double moves,
           const std::vector<double>& lines, double discount, double scale, int threads, Control* given) {
            check_size(rules, values);
            const auto rewards = make_rewards(constant, moves, 0, lines);
            ControlOrNone call(given);
            const auto change = interruptible(call.control, [&] {
                return tenten::sweep(rules, values.data(), rewards, discount, scale, threads, call.control);
            });
            return std::make_pair(change.lowest, change.highest);
        },
        "rules"_a, "values"_a.noconvert(), "constant"_a, "moves"_a, "lines"_a, "discount"_a, "scale"_a, "threads"_a,
        "control"_a = nb::none(),
        "One sweep of value iteration in place; the least and the greatest change of a board with full lines.");
    m.def(
        "successors",
        [](const tenten::Rules& rules, const Tables& tables, double tolerance, Control* given) {
            const auto policy = make_policy<T>(rules, tables, tolerance);
            ControlOrNone call(given);
            auto found = interruptible(call.control, [&] { return tenten::successors(rules, policy, call.control); });
            const std::size_t size = found.size();
            return to_numpy(std::move(found), {size});
        },
        "rules"_a, "tables"_a.noconvert(), "tolerance"_a, "control"_a = nb::none(),
        "Where the policy of one or more tables leads: a raw board for every board, piece and table, flat.");
    m.def(
        "play_policy",
        [](const tenten::Rules& rules, const Tables& tables, double tolerance, std::int64_t games, std::uint64_t seed,
           std::int64_t max_rounds, int threads, Control* given) {
            if (games < 1 || games > 1'000'000'000) throw nb::value_error("the number of games must be 1 to 10^9");
            if (tables.empty()) throw nb::value_error("give at least one table to play by");
            const auto policy = make_policy<T>(rules, tables, tolerance);
            ControlOrNone call(given);
            std::vector<std::int64_t> rounds(games), scores(games);
            interruptible(call.control, [&] {
                tenten::play_policy(rules, policy, seed, max_rounds, threads, std::span(rounds), std::span(scores),
                                    call.control);
            });
            const auto size = static_cast<std::size_t>(games);
            return std::make_pair(to_numpy(std::move(rounds), {size}), to_numpy(std::move(scores), {size}));
        },
        "rules"_a, "tables"_a.noconvert(), "tolerance"_a, "games"_a, "seed"_a, "max_rounds"_a, "threads"_a,
        "control"_a = nb::none(), "Rounds and score of every game.");
}

static std::span<const tenten::SmallBoard> check_successors(const tenten::Rules& rules,
                                                            const Values<const tenten::SmallBoard>& successors) {
    const std::size_t least = tenten::SmallRules(rules).boards() * rules.pieces().size();
    if (successors.size() % least != 0) throw nb::value_error("the successors belong to other rules");
    return {successors.data(), successors.size()};
}

static void bind_evaluation(nb::module_& m) {
    using Successors = Values<const tenten::SmallBoard>;
    m.def(
        "evaluation_sweep",
        [](const tenten::Rules& rules, Successors successors, Values<double> values, double constant, double cells,
           const std::vector<double>& lines, double scale, int threads, Control* given) {
            check_size(rules, values);
            const auto policy = check_successors(rules, successors);
            if (policy.empty()) throw nb::value_error("a policy has successors");
            const auto rewards = make_rewards(constant, 0, cells, lines);
            ControlOrNone call(given);
            const auto change = interruptible(call.control, [&] {
                return tenten::evaluation_sweep(rules, policy, values.data(), rewards, scale, threads, call.control);
            });
            return std::make_pair(change.lowest, change.highest);
        },
        "rules"_a, "successors"_a.noconvert(), "values"_a.noconvert(), "constant"_a, "cells"_a, "lines"_a, "scale"_a,
        "threads"_a, "control"_a = nb::none(),
        "A sweep as `sweep`, with the policy's placements in place of the best.");
    m.def(
        "endless",
        [](const tenten::Rules& rules, Successors successors, int threads, Control* given) {
            const auto policy = check_successors(rules, successors);
            ControlOrNone call(given);
            return interruptible(call.control, [&] { return tenten::endless(rules, policy, threads, call.control); });
        },
        "rules"_a, "successors"_a.noconvert(), "threads"_a, "control"_a = nb::none(),
        "Whether the policy survives every sequence of pieces; with no successors, whether any policy can.");
}

ROOKERY_BIND(tenten, 2) {
    bind_tables<float>(m);
    bind_tables<double>(m);
    bind_evaluation(m);
}

}  // namespace rookery
