#include "games/solitaire_chess.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "exact/capture_tree.hpp"
#include "exact/enumeration.hpp"

namespace rookery {

using namespace solitaire_chess;
using H = Handle<solitaire_chess::State>;

static std::vector<int> on_every_cell(const H& self, int (*value)(std::uint8_t)) {
    std::vector<int> values;
    for (int cell = 0; cell < self.state.rules().cells(); ++cell) values.push_back(value(self.state.board()[cell]));
    return values;
}

static void bind_exact(nb::module_& m) {
    m.def(
        "solve",
        [](const H& state, Control* given) {
            ControlOrNone call(given);
            FirstSolution search(call.control);
            auto moves = interruptible(call.control, [&] { return search.find(state.state); });
            return std::make_pair(moves, search.states());
        },
        "state"_a, "control"_a = nb::none(), "The moves of a solution, or None; and the number of positions entered.");
    m.def(
        "capture_tree",
        [](const H& state, std::int64_t max_states, Control* given) {
            ControlOrNone call(given);
            TreeWalk walk(max_states, call.control);
            const CaptureTree tree = interruptible(call.control, [&] { return walk.walk(state.state); });
            std::vector<std::pair<int, int>> finals;
            for (int kind = 0; kind < kKinds; ++kind) {
                for (Bitboard left = tree.finals[kind]; left; left &= left - 1) {
                    finals.emplace_back(kind, lowest_bit(left));
                }
            }
            return std::make_tuple(finals, tree.solutions, tree.nodes, walk.distinct());
        },
        "state"_a, "max_states"_a, "control"_a = nb::none(),
        "Possible finals as (kind, cell), solutions, nodes of the tree and distinct positions.");

    nb::class_<Layer>(m, "Layer", "All 4x4 boards with a given number of pieces.")
        .def_ro("pieces", &Layer::pieces)
        .def_prop_ro("boards", &Layer::boards)
        .def_ro("solvable", &Layer::solvable)
        .def_ro("unique", &Layer::unique)
        .def_prop_ro("values",
                     [](nb::handle py_self) {
                         const auto& self = nb::cast<const Layer&>(py_self);
                         return nb::ndarray<nb::numpy, const std::uint8_t>(self.values.data(), {self.values.size()},
                                                                           py_self);
                     })
        .def("index", &Layer::index, "kinds"_a)
        .def("board", &Layer::board, "index"_a);
    m.def("single_pieces", &single_pieces);
    m.def(
        "next_layer",
        [](const Layer& below, int threads, Control* given) {
            if (threads < 0) throw nb::value_error("the number of threads must not be negative; 0 means all cores");
            ControlOrNone call(given);
            return interruptible(call.control, [&] { return next_layer(below, threads, call.control); });
        },
        "below"_a, "threads"_a, "control"_a = nb::none());
}

void bind_solitaire_chess(nb::module_& parent) {
    nb::module_ m = parent.def_submodule("solitaire_chess");
    auto [rules, state] = bind_game<solitaire_chess::State>(m);
    rules.def(nb::init<int, int, int, bool, const std::vector<int>&, const std::vector<int>&>(), "rows"_a, "columns"_a,
              "max_captures"_a, "king_last"_a, "kinds"_a, "captures"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& kinds, const std::vector<int>& captures) {
            const auto& r = nb::cast<const solitaire_chess::Rules&>(game.attr("rules"));
            new (self) H{game, solitaire_chess::State(r, kinds, captures)};
        },
        "game"_a, "kinds"_a, "captures"_a);
    state.def_prop_ro(
        "kinds", [](const H& self) { return on_every_cell(self, kind_of); },
        "The kind of piece on every cell: 0 to 5 for K, Q, R, B, N, P; -1 where there is none.");
    state.def_prop_ro(
        "captures", [](const H& self) { return on_every_cell(self, captures_of); },
        "Captures that the piece on every cell has made; 0 throughout in games that do not limit them.");
    state.def_prop_ro("pieces", [](const H& self) { return self.state.pieces(); }, "Number of pieces left.");
    bind_exact(m);
}

}  // namespace rookery
