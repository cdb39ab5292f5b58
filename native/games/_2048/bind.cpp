#include "games/_2048/rules.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

namespace rookery {

ROOKERY_BIND(_2048, 0) {
    auto [rules, state] = bind_game<_2048::State>(m);
    using H = Handle<_2048::State>;
    rules.def(nb::init<int, int>(), "rows"_a, "columns"_a);
    rules.def_prop_ro("most_cell", &_2048::Rules::most_cell, "The greatest exponent; two such tiles do not merge.");
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& cells, int due) {
            new (self) H{game, _2048::State(nb::cast<const _2048::Rules&>(game.attr("rules")), cells, due)};
        },
        "game"_a, "cells"_a, "due"_a);
    state.def_prop_ro(
        "cells",
        [](const H& self) {
            std::vector<std::uint8_t> cells(self.state.rules().cells());
            self.state.cells(cells.data());
            return std::vector<int>(cells.begin(), cells.end());
        },
        "The exponent of the tile on each cell, row by row; 0 if there is none.");
    state.def_prop_ro("due", [](const H& self) { return self.state.due(); }, "Tiles that chance still puts down.");
    state.def_prop_ro("score", [](const H& self) { return self.state.score(); }, "Points so far.");
}

}  // namespace rookery
