#include "games/checkers/rules.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

namespace rookery {

// Python sees squares by their numbers, 1 to 32.
static checkers::Squares to_squares(const std::vector<int>& numbers) {
    checkers::Squares squares = 0;
    for (const int number : numbers) {
        if (number < 1 || number > 32) throw nb::value_error("squares are 1 to 32");
        const checkers::Squares square = checkers::Squares(1) << (number - 1);
        if (squares & square) throw nb::value_error("a square is named twice");
        squares |= square;
    }
    return squares;
}

static std::vector<int> to_numbers(checkers::Squares squares) {
    std::vector<int> numbers;
    for (; squares; squares &= squares - 1) numbers.push_back(std::countr_zero(squares) + 1);
    return numbers;
}

ROOKERY_BIND(checkers, 0) {
    auto [rules, state] = bind_game<checkers::State>(m);
    using H = Handle<checkers::State>;
    rules.def(nb::init<int, int, bool>(), "repetition"_a, "quiet_limit"_a, "forty_move_rule"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, const std::vector<int>& black, const std::vector<int>& white,
           const std::vector<int>& kings, int side) {
            const auto& r = nb::cast<const checkers::Rules&>(game.attr("rules"));
            const checkers::Position position = {
                {to_squares(black), to_squares(white)}, to_squares(kings), static_cast<std::uint32_t>(side)};
            new (self) H{game, checkers::State(r, position)};
        },
        "game"_a, "black"_a, "white"_a, "kings"_a, "side"_a);
    state.def_prop_ro(
        "black", [](const H& self) { return to_numbers(self.state.position().pieces[0]); },
        "The squares of Black's men and kings.");
    state.def_prop_ro(
        "white", [](const H& self) { return to_numbers(self.state.position().pieces[1]); },
        "The squares of White's men and kings.");
    state.def_prop_ro(
        "kings", [](const H& self) { return to_numbers(self.state.position().kings); },
        "The squares of the kings of both sides.");
    state.def_prop_ro(
        "side", [](const H& self) { return static_cast<int>(self.state.position().side); },
        "Whose turn it is, also when the game is over: 0 Black, 1 White.");
    state.def_prop_ro(
        "quiet_plies", [](const H& self) { return self.state.quiet_plies(); }, "Plies since the last capture.");
    state.def_prop_ro(
        "reversible_plies", [](const H& self) { return self.state.reversible_plies(); },
        "Plies since the last capture or move of a man.");
    state.def_prop_ro(
        "occurrences", [](const H& self) { return self.state.occurrences(); },
        "How often this position has occurred in the game, if the repetition rule is on.");
    m.def(
        "decode",
        [](Action action) {
            checkers::Move move = checkers::decode(action);
            for (int& square : move.path) ++square;
            for (int& square : move.captured) ++square;
            return std::make_pair(move.path, move.captured);
        },
        "action"_a);
    m.def(
        "encode",
        [](std::vector<int> path) {
            for (int& square : path) {
                if (square < 1 || square > 32) throw nb::value_error("squares are 1 to 32");
                --square;
            }
            return checkers::encode(path);
        },
        "path"_a);
}

}  // namespace rookery
