#include "games/endgames/rules.hpp"

#include "bindings/bind_game.hpp"
#include "bindings/module.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

namespace rookery {

static std::optional<std::string> ending_name(endgames::Ending ending) {
    using endgames::Ending;
    switch (ending) {
        case Ending::kCheckmate:
            return "checkmate";
        case Ending::kInsufficientMaterial:
            return "insufficient material";
        case Ending::kStalemate:
            return "stalemate";
        case Ending::kRepetition:
            return "repetition";
        case Ending::kFiftyMoves:
            return "fifty-move rule";
        case Ending::kNone:
            break;
    }
    return std::nullopt;
}

ROOKERY_BIND(endgames, 0) {
    auto [rules, state] = bind_game<endgames::State>(m);
    using H = Handle<endgames::State>;
    rules.def(nb::init<std::string_view, int, bool>(), "start"_a, "repetition"_a, "fifty_move_rule"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, std::string_view fen) {
            const auto& r = nb::cast<const endgames::Rules&>(game.attr("rules"));
            new (self) H{game, endgames::State(r, endgames::parse_fen(fen))};
        },
        "game"_a, "fen"_a);
    state.def(
        "__init__",
        [](H* self, nb::object game, std::string_view pieces, std::uint64_t seed) {
            const auto& r = nb::cast<const endgames::Rules&>(game.attr("rules"));
            Rng rng(seed);
            new (self) H{game, endgames::State(r, {endgames::random_position(pieces, rng)})};
        },
        "game"_a, "pieces"_a, "seed"_a, "A random position in which White has these pieces and the game goes on.");
    state.def(
        "fen", [](const H& self) { return endgames::to_fen(self.state.setup()); },
        "Forsyth-Edwards notation, all six fields.");
    state.def(
        "san",
        [](const H& self, Action action) {
            if (!self.state.is_legal(action)) throw nb::value_error("only legal actions have a name");
            return endgames::san(self.state.position(), endgames::move_of(action));
        },
        "action"_a, "A legal action in standard algebraic notation.");
    state.def_prop_ro(
        "letters", [](const H& self) { return endgames::letters(self.state.position()); },
        "The squares a1, b1 .. h8 as 64 letters; '.' where a square is empty.");
    state.def_prop_ro(
        "in_check", [](const H& self) { return endgames::in_check(self.state.position()); },
        "Whether the side to move is in check.");
    state.def_prop_ro(
        "halfmove_clock", [](const H& self) { return self.state.setup().halfmove_clock; },
        "Plies since the last capture or move of a pawn.");
    state.def_prop_ro(
        "fullmove_number", [](const H& self) { return self.state.setup().fullmove_number; },
        "The number of the move; it grows after Black's.");
    state.def_prop_ro(
        "ending", [](const H& self) { return ending_name(self.state.ending()); },
        "Why the game is over, or None while it goes on.");
    m.def(
        "decode",
        [](Action action) {
            if (action < 0 || action >= endgames::kNumActions) throw nb::value_error("actions are 0 to 1855");
            const endgames::Move move = endgames::move_of(action);
            return std::make_tuple(move.from(), move.to(), move.promotion());
        },
        "action"_a, "(from, to, promotion) with promotion 0 for none, then N, B, R, Q.");
    m.def(
        "random_fen",
        [](std::string_view pieces, std::uint64_t seed) {
            Rng rng(seed);
            return endgames::to_fen({endgames::random_position(pieces, rng)});
        },
        "pieces"_a, "seed"_a, "A random legal position in which White has the given pieces and the game goes on.");
}

}  // namespace rookery
