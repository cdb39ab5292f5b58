"""What a game written in Python gets without writing it: names, words, drawings, records, chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rookery
from rookery import game as rules
from rookery.game import CHANCE, TERMINAL, Game, RandomGames, State, find_action, play_chance, play_out
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


class Dice(State):
    """A die with three unequal sides is thrown twice; the sum is the return."""

    def __init__(self, game: Game, thrown: tuple[int, ...] = ()) -> None:
        self._game, self.thrown = game, thrown

    @property
    def game(self) -> Game:
        return self._game

    def player(self) -> int:
        return CHANCE if len(self.thrown) < 2 else 0 if len(self.thrown) == 2 else TERMINAL

    def legal_actions(self) -> list[int]:
        return [0] if self.player() == 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(1, 0.5), (2, 0.375), (5, 0.125)] if self.player() == CHANCE else []

    def apply(self, action: int) -> None:
        self.thrown += (action,)

    def clone(self) -> Dice:
        return Dice(self._game, self.thrown)

    def returns(self) -> list[float]:
        return [float(sum(self.thrown)) if self.player() == TERMINAL else 0.0]

    def key(self) -> bytes:
        return bytes(self.thrown)

    def __str__(self) -> str:
        return "-".join(map(str, self.thrown)) or "start"


class DiceGame(Game):
    name, players, num_actions, observation_shape = "three-sided-dice", 1, 6, (1,)
    blurb = "Small & quick."

    def initial_state(self) -> State:
        return Dice(self)

    def parse_state(self, text: str) -> State:
        return Dice(self, () if text == "start" else tuple(map(int, text.split("-"))))


def test_chance_is_drawn_by_its_probabilities() -> None:
    rng, counts = random.Random(1), Counter[int]()
    for _ in range(2000):
        state = Dice(DiceGame())
        drawn = play_chance(state, rng)
        assert tuple(drawn) == state.thrown
        assert len(drawn) == 2
        counts.update(drawn)
    for outcome, probability in Dice(DiceGame()).chance_outcomes():
        noise = (4000 * probability * (1 - probability)) ** 0.5
        assert abs(counts[outcome] - 4000 * probability) < 5 * noise
    assert play_chance(GAME.initial_state(), rng) == []
    one, same = (play_chance(Dice(DiceGame()), np.random.default_rng(3)) for _ in range(2))
    assert one == same


@pytest.mark.parametrize(("point", "outcome"), [(0.0, 1), (0.49, 1), (0.5, 2), (0.874, 2), (0.875, 5), (0.999, 5)])
def test_the_outcome_that_a_number_draws(point: float, outcome: int) -> None:
    class Fixed(random.Random):
        def random(self) -> float:
            return point

    assert play_chance(Dice(DiceGame()), Fixed()) == [outcome, outcome]
    assert rules.uniform(Fixed()) == point
    assert rules.fresh_seed(Fixed()) == int(point * 2**53)
    assert 0 <= rules.uniform(None) < 1


def test_a_game_without_words_of_its_own() -> None:
    game, state = DiceGame(), Dice(DiceGame(), (1, 2))
    assert (game.title, game.unit, game.variant) == ("Three Sided Dice", "", None)
    assert game.has_chance()
    assert not GAME.has_chance()
    html = game._repr_html_()
    assert html.startswith("<div><p>Three Sided Dice. Small &amp; quick.</p><svg")
    assert state._repr_svg_() == state.svg() == rookery.draw.text_board("1-2")
    assert (state.action_name(7), state.action_label(7), state.text_board()) == ("7", "7", "1-2")
    assert (state.action_cells(0), state.preview_cells(0), state.action_line(0)) == ([], [], None)
    assert state.listed_actions() == [0]
    assert state.status() == "Your move"
    state.apply(0)
    assert state.status() == "Over: 3"
    assert state.rewards() == [3.0]
    with pytest.raises(ValueError, match="Three Sided Dice has no puzzles made by level"):
        game.puzzle("easy", 1)
    with pytest.raises(ValueError, match="positions of Three Sided Dice can only be written"):
        game.with_piece("start", 0, "x")
    assert game.sketch("1-2") == state.svg().replace("1-2-0", "1-2")
    assert GAME.action_symmetries() == [symmetry.actions for symmetry in GAME.symmetries()]
    assert len({tuple(actions) for actions in GAME.action_symmetries()}) == 7
    assert list(game.action_symmetries()) == []


@pytest.mark.parametrize(
    ("position", "words"),
    [("xx./oo./...", "First player to move"), ("x../.../...", "Second player to move"),
     ("xxx/oo./...", "First player wins"), ("xx./ooo/x..", "Second player wins"), ("xox/xxo/oxo", "Drawn")],
)  # fmt: skip
def test_where_a_game_for_two_stands(position: str, words: str) -> None:
    assert GAME.parse_state(position).status() == words


def test_masks_say_what_is_legal() -> None:
    state = GAME.parse_state("x.o/.x./..o")
    mask = state.legal_mask()
    assert mask.dtype == np.bool_
    assert np.flatnonzero(mask).tolist() == [1, 3, 5, 6, 7]
    assert len(mask) == 9


def test_states_are_equal_where_games_and_positions_are() -> None:
    state = GAME.parse_state("x../.o./...")
    assert state == TicTacToe().parse_state("x../.o./...")
    assert state != GAME.parse_state("x../..o/...")
    assert state != "x../.o./..."
    other = Dice(DiceGame())
    other.key = state.key  # type: ignore[method-assign]
    assert state != other
    assert len({state, state.clone()}) == 1
    assert GAME.__copy__() is GAME


def named(names: dict[int, str]) -> State:
    class Named(type(GAME.initial_state())):  # type: ignore[misc]
        def action_name(self, action: int) -> str:
            return names.get(action, str(action))

    return Named(GAME, "." * 9)


def test_a_move_is_found_by_its_name_whatever_the_case_and_spaces() -> None:
    state = named({0: "Ab", 1: "aB", 2: "C d"})
    forms: Callable[[int], list[str]] = lambda action: [state.action_name(action)]  # noqa: E731
    assert [find_action(state, text, forms) for text in ("Ab", "aB", "cD", " c D ", "8")] == [0, 1, 2, 2, 8]
    with pytest.raises(ValueError, match="'ab' may mean Ab or aB: write it in full"):
        state.parse_action("ab")
    with pytest.raises(ValueError, match=r"'9' is not a legal move in \.\.\./") as refused:
        state.parse_action("9")
    assert str(refused.value).endswith("expected one of Ab, aB, C d, 3, 4 and 4 more")
    with pytest.raises(ValueError, match=r"expected one of 4, 5, 6, 7, 8$"):
        GAME.parse_state("xox/o../...").parse_action("0")
    with pytest.raises(ValueError, match="'7' is not a possible outcome in start; expected one of 1, 2, 5"):
        Dice(DiceGame()).parse_action("7")
    assert Dice(DiceGame()).parse_action("5") == 5
    with pytest.raises(ValueError, match="'1' is not possible: the game is over"):
        GAME.parse_state("xxx/oo./...").parse_action("1")
    with pytest.raises(ValueError, match=f"'{'y' * 80}' is not a legal move"):
        state.parse_action("y" * 200)


def test_a_record_is_read_back_and_checked() -> None:
    record = GAME.record("x../.../...", [4, 8], ["me", "you"])
    lines = record.text.splitlines()
    assert (lines, record.extension) == (
        ["# tic-tac-toe: me, you", "x../.../...", "4", "8", "x../.o./..x"], "txt",
    )  # fmt: skip
    assert GAME.parse_record(record.text) == ("x../.../...", [4, 8])
    assert GAME.parse_record("  x../.../...\n") == ("x../.../...", [])
    assert GAME.parse_record("x../.../...\nx../.../...") == ("x../.../...", [])
    with pytest.raises(ValueError, match=r"the game leads to x../.o./..., and its last line says 'x../.o./..x'"):
        GAME.parse_record("\n".join([*lines[:3], lines[-1]]))
    state, names = play_out(GAME.initial_state(), [4, 0])
    assert (str(state), names) == ("o../.x./...", ["4", "0"])
    assert str(rules.replay(GAME, "x../.../...", [1])) == "xo./.../..."


def test_shares_of_random_games() -> None:
    def shares(*returns: list[float], seconds: float = 0.5) -> dict[str, float]:
        played = RandomGames(np.arange(len(returns), dtype=np.int32), np.array(returns, float), seconds)
        assert (played.games, played.games_per_second) == (len(returns), len(returns) / 0.5)
        return played.outcome_shares()

    assert shares([1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]) == {
        "first wins": 0.5, "second wins": 0.25, "drawn": 0.25,
    }  # fmt: skip
    assert shares([1.0], [2.0], [2.0], [2.5], [4.0]) == {"1": 0.2, "2": 0.4, "2.5": 0.2, "4": 0.2}
    assert shares([1.0], [2.0], [3.0], [4.0], [9.0]) == {"min": 1.0, "25%": 2.0, "50%": 3.0, "75%": 4.0, "max": 9.0}


def test_random_games_begin_where_they_are_told() -> None:
    """From here the only move left draws."""
    played = GAME.random_games(20, seed=1, start=GAME.parse_state("xox/xxo/o.o"))
    assert played.lengths.tolist() == [1] * 20
    assert played.outcome_shares()["drawn"] == 1.0
    assert played.seconds > 0
    whole = GAME.random_games(20, seed=1)
    assert whole.lengths.min() >= 5


class Options(Game):
    name, players, num_actions, observation_shape = "options", 1, 1, (1,)
    variants = {"plain": {}, "wide": {"width": 5}, "named": {"names": ["a"]}}  # noqa: RUF012

    def __init__(self, width: int = 3, names: Any = (), **more: Any) -> None:
        self.width = width


def test_options_of_a_game() -> None:
    assert Options.variant_options(None) == {}
    assert Options.variant_options("wide") == {"width": 5}
    assert TicTacToe.variant_options(None) == {}
    with pytest.raises(ValueError, match="unknown variant 'tall' of options; known variants: plain, wide, named"):
        Options.variant_options("tall")
    with pytest.raises(ValueError, match="known variants: none"):
        TicTacToe.variant_options("tall")
    assert [Options().variant, Options(5).variant, Options(names=["a"]).variant, Options(6).variant] == [
        "plain", "wide", "named", None,
    ]  # fmt: skip
    assert Options(3, names=[]).options == {}, "lists and tuples are the same"
    assert Options(extra=1).options == {"extra": 1}
    assert Options(names={"a": [1]}).options == {"names": {"a": [1]}}
    assert hash(Options(names={"a": [1]})) == hash(Options(names={"a": (1,)}))
    assert Options(extra=1) != Options(extra=2)


def test_adapters_share_what_they_remember() -> None:
    first = rules.native(GAME.initial_state())
    assert rules.native(first) is first
    asked: list[str] = []

    class Counted(type(GAME.initial_state())):  # type: ignore[misc]
        def legal_actions(self) -> list[int]:
            asked.append(str(self))
            return list(super().legal_actions())

        def clone(self) -> Any:
            return Counted(self._game, self.cells)

    one = rules.native(Counted(GAME, "xox.xoo.."))
    one.random_games(50, 1, 1)
    known = set(asked)
    asked.clear()
    rules.native(Counted(GAME, "xoxxxoo.."), one).random_games(50, 1, 1)
    assert {"xox/xxo/o..", "xox/xxo/oo."} <= known
    assert set(asked) == {"xox/xxo/o.."}, "what comes after the new position is known"
