#include "games/morpion/rules.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"
#include "games/morpion/repair.hpp"

namespace rookery {

ROOKERY_BIND(morpion, 0) {
    auto [rules, state] = bind_game<morpion::State>(m);
    using H = Handle<morpion::State>;
    using morpion::Rules;
    rules.def(nb::init<int, bool, int>(), "length"_a, "touching"_a, "board"_a);
    rules.def_prop_ro("side", &Rules::side, "Rows and columns; of the unlimited grid, those that are kept.");
    rules.def_prop_ro("corner", &Rules::corner, "Row and column of the top left cell of the square around the cross.");
    rules.def_prop_ro(
        "cross",
        [](const Rules& self) {
            std::vector<int> cells;
            for (const auto dot : self.cross()) cells.push_back(self.number(dot));
            return cells;
        },
        "The cells of the cross.");
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<Action>& moves) {
            const auto& r = nb::cast<const Rules&>(game.attr("rules"));
            new (self) H{game, morpion::State(r, moves)};
        },
        "game"_a, "moves"_a);
    state.def_prop_ro(
        "moves", [](const H& self) { return ActionList(self.state.moves().begin(), self.state.moves().end()); },
        "The actions played, in order.");
    rules.def_prop_ro("centred", &Rules::centred, "Whether the cross lies in the centre of the board.");
    rules.def(
        "transform",
        [](const Rules& self, Action action, int symmetry) {
            if (action < 0 || action >= self.num_actions()) throw nb::value_error("there is no such action");
            if (symmetry < 0 || symmetry > 7) throw nb::value_error("a symmetry is 0 to 7");
            return self.transform(action, symmetry);
        },
        "action"_a, "symmetry"_a, "The action under a symmetry of the cross.");
    bind_search_runs(
        state, "repair",
        +[](const morpion::State& start, const RunContext& run, const std::int64_t& trials,
            const std::vector<double>& temperatures) {
            morpion::Repair search(start, {trials, temperatures}, run.seed, run.stream, run.control, run.hear);
            Playout game = search.run();
            return std::make_pair(std::move(game), search.trials());
        },
        "trials"_a, "temperatures"_a);
}

}  // namespace rookery
