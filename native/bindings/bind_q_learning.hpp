// Tabular Q-learning as Python sees it.
#pragma once

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/handle.hpp"
#include "bindings/interruptible.hpp"
#include "learn/q_learning.hpp"

namespace rookery {

inline void bind_q_table(nb::module_& m) {
    using T = ActionValues;
    nb::class_<QSettings>(m, "QSettings")
        .def(
            "__init__",
            [](QSettings* self, double alpha, double discount, double epsilon, double last_epsilon,
               const std::string& backup, int replay) {
                const auto number = backup == "max"         ? Backup::kMax
                                    : backup == "self-play" ? Backup::kSelfPlay
                                                            : Backup::kLeastBestMove;
                new (self) QSettings{alpha, discount, epsilon, last_epsilon, number, replay};
            },
            "alpha"_a, "discount"_a, "epsilon"_a, "last_epsilon"_a, "backup"_a, "replay"_a);
    nb::class_<QTraining>(m, "QTraining", "What happened in a part of the training.")
        .def_ro("games", &QTraining::games)
        .def_ro("moves", &QTraining::moves)
        .def_ro("returns", &QTraining::returns, "Of player 0, over all games.")
        .def_ro("results", &QTraining::results, "Games in which they were above, at and below 0.")
        .def_ro("new_starts", &QTraining::new_starts, "Those of the starts that got a number, in its order.");
    nb::class_<T>(m, "QTable", "Values of actions by position.")
        .def(nb::init<>())
        .def("__len__", &T::size)
        .def_prop_ro("memory", &T::bytes, "Bytes in use.")
        .def(
            "find",
            [](const T& self, nb::bytes key) -> std::optional<std::vector<float>> {
                const std::uint32_t row = self.find_row({key.c_str(), key.size()});
                if (row == T::kNone) return std::nullopt;
                const auto values = self.row(row);
                return std::vector<float>(values.begin(), values.end());
            },
            "key"_a, "The values of a position in the order of its legal actions; None if it is not known.")
        .def(
            "way",
            [](const T& self, std::size_t row) {
                if (row >= self.size()) throw nb::index_error("there is no such row");
                ActionList way;
                for (auto step = self.where(row); step != T::kNone; step = self.way()[step].before) {
                    way.push_back(self.way()[step].action);
                }
                std::reverse(way.begin(), way.end());
                return way;
            },
            "row"_a, "The number of a start, and the actions and chance outcomes that lead from it to a position.")
        .def(
            "row",
            [](const T& self, std::size_t row) {
                if (row >= self.size()) throw nb::index_error("there is no such row");
                const auto values = self.row(row);
                return std::vector<float>(values.begin(), values.end());
            },
            "row"_a, "The values of a position by its number.")
        .def("arrays",
             [](const T& self) {
                 std::string text;
                 std::vector<std::uint64_t> ends;
                 std::vector<std::uint32_t> before;
                 std::vector<Action> action;
                 for (std::size_t i = 0; i < self.size(); ++i) {
                     text += self.keys()[i];
                     ends.push_back(text.size());
                 }
                 for (const auto& step : self.way()) {
                     before.push_back(step.before);
                     action.push_back(step.action);
                 }
                 auto first = self.first();
                 auto values = self.values();
                 auto where = self.where();
                 const std::size_t rows = self.size(), all = values.size(), steps = before.size();
                 std::vector<std::uint8_t> bytes(text.begin(), text.end());
                 const std::size_t length = bytes.size();
                 return std::make_tuple(to_numpy(std::move(bytes), {length}), to_numpy(std::move(ends), {rows}),
                                        to_numpy(std::move(first), {rows + 1}), to_numpy(std::move(values), {all}),
                                        to_numpy(std::move(before), {steps}), to_numpy(std::move(action), {steps}),
                                        to_numpy(std::move(where), {rows}));
             })
        .def_static(
            "from_arrays",
            [](nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> text,
               nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> ends,
               nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> first,
               nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu> values,
               nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> before,
               nb::ndarray<const Action, nb::ndim<1>, nb::c_contig, nb::device::cpu> action,
               nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> where) {
                const std::size_t rows = ends.size(), steps = before.size();
                const auto fail = [] { throw nb::value_error("the arrays of a Q-table do not fit together"); };
                if (first.size() != rows + 1 || where.size() != rows || action.size() != steps) fail();
                if (first(0) != 0 || first(rows) != values.size()) fail();
                T table;
                for (std::size_t i = 0; i < steps; ++i) {
                    if (before(i) != T::kNone && before(i) >= i) fail();  // a way leads back, never around
                    table.add_step(before(i), action(i));
                }
                std::uint64_t begin = 0;
                for (std::size_t i = 0; i < rows; ++i) {
                    if (ends(i) < begin || ends(i) > text.size() || first(i + 1) < first(i)) fail();
                    if (first(i + 1) - first(i) > 0x7fffffff || (where(i) != T::kNone && where(i) >= steps)) fail();
                    const std::string_view key(reinterpret_cast<const char*>(text.data()) + begin, ends(i) - begin);
                    if (table.find_row(key) != T::kNone) fail();
                    float* row = table.find_or_add(key, static_cast<int>(first(i + 1) - first(i)));
                    std::copy(values.data() + first(i), values.data() + first(i + 1), row);
                    table.set_where(i, where(i));
                    begin = ends(i);
                }
                return table;
            },
            "text"_a, "ends"_a, "first"_a, "values"_a, "before"_a, "action"_a, "where"_a);
}

// Methods of a state.
template <GameState S>
void bind_q_learning(nb::class_<Handle<S>>& cls) {
    using H = Handle<S>;
    cls.def_static(
        "q_learn",
        [](const std::vector<const H*>& starts, std::vector<Action> numbers, const std::vector<const H*>& roots,
           Action next_number, ActionValues& table, const QSettings& settings, std::int64_t first, std::int64_t end,
           std::int64_t games, std::uint64_t seed, Control* given) {
            const auto states = [](const std::vector<const H*>& handles) {
                std::vector<const S*> found;
                for (const H* handle : handles) found.push_back(&handle->state);
                return found;
            };
            if (starts.empty() || starts.size() != numbers.size()) {
                throw nb::value_error("there must be at least one start, and a number for each");
            }
            if (settings.replay > 0 && roots.size() != static_cast<std::size_t>(next_number)) {
                throw nb::value_error("a replay needs all starts that have a number");
            }
            ControlOrNone call(given);
            return interruptible(
                call.control,
                [&] {
                    return QLearner<S, ActionValues>(table, settings)
                        .train(states(starts), numbers, states(roots), next_number, first, end, games, seed,
                               call.control);
                },
                true);
        },
        "starts"_a, "numbers"_a, "roots"_a, "next_number"_a, "table"_a, "settings"_a, "first"_a, "end"_a, "games"_a,
        "seed"_a, "control"_a = nb::none(),
        "Plays games first to end - 1 of `games`, each from the next of the starts, and learns from them. A start has the "
        "number that the table knows it by, or -1: then it gets the next one if it is needed. `roots` are the starts by "
        "number; only a replay needs them. Stopped by Ctrl-C, it returns how far it came.");
    cls.def(
        "q_keep_training",
        [](const H& self, const ActionValues& table, const QSettings& settings, std::int64_t games, std::uint64_t seed,
           Control* given) {
            ControlOrNone call(given);
            return interruptible(call.control, [&] {
                LayeredValues layer(table);
                QLearner<S, LayeredValues>(layer, settings)
                    .train(std::array{&self.state}, {0}, {}, 1, 0, games, games, seed, call.control);
                ActionList actions;
                self.state.legal_actions(actions);
                const float* values = layer.find_or_add(self.state.key(), static_cast<int>(actions.size()));
                return std::vector<float>(values, values + actions.size());
            });
        },
        "table"_a, "settings"_a, "games"_a, "seed"_a, "control"_a = nb::none(),
        "The values of this position after training games from it, which the table does not keep.");
}

}  // namespace rookery
