#include "games/tenten/rules.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

namespace rookery {

// Python sees a board as the list of its filled cells.
static tenten::Board to_board(const tenten::Rules& rules, const std::vector<int>& cells) {
    tenten::Board board = 0;
    for (const int cell : cells) {
        if (cell < 0 || cell >= rules.cells()) throw nb::value_error("a cell lies outside the board");
        board |= tenten::Board(1) << cell;
    }
    return board;
}

static std::vector<int> to_cells(tenten::Board board) {
    std::vector<int> cells;
    for (; board; board &= board - 1) cells.push_back(lowest_bit(board));
    return cells;
}

ROOKERY_BIND(tenten, 0) {
    auto [rules, state] = bind_game<tenten::State>(m);
    using H = Handle<tenten::State>;
    rules.def(nb::init<int, int, const std::vector<tenten::Rules::CellList>&, const std::vector<int>&, int>(), "rows"_a,
              "columns"_a, "shapes"_a, "weights"_a, "hand"_a);
    rules.def(
        "placements",
        [](const tenten::Rules& self, std::uint64_t board, int piece) {
            if (self.cells() > 64 || (self.cells() < 64 && board >> self.cells() != 0)) {
                throw nb::value_error("the board has cells outside its size");
            }
            if (piece < 0 || piece >= static_cast<int>(self.pieces().size())) throw nb::value_error("unknown piece");
            return to_cells(self.placements(board, piece));
        },
        "board"_a, "piece"_a, "Cells for the top left corner of a piece, on a board of up to 64 cells as a bit mask.");
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& cells, const std::vector<int>& hand, int drawn) {
            const auto& r = nb::cast<const tenten::Rules&>(game.attr("rules"));
            new (self) H{game, tenten::State(r, to_board(r, cells), hand, drawn)};
        },
        "game"_a, "cells"_a, "hand"_a, "drawn"_a);
    state.def_prop_ro("cells", [](const H& self) { return to_cells(self.state.board()); }, "The filled cells.");
    state.def_prop_ro(
        "hand",
        [](const H& self) {
            std::vector<int> hand;
            for (int slot = 0; slot < self.state.rules().hand(); ++slot) hand.push_back(self.state.hand_piece(slot));
            return hand;
        },
        "The piece in each slot; -1 where there is none.");
    state.def_prop_ro("drawn", [](const H& self) { return self.state.drawn(); }, "Slots drawn of the current hand.");
    state.def_prop_ro("score", [](const H& self) { return self.state.score(); }, "Points so far.");
    state.def_prop_ro("rounds", [](const H& self) { return self.state.rounds(); }, "Pieces placed so far.");
}

}  // namespace rookery
