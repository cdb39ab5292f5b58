"""The exact solution of a game as a method: words, values and limits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import rookery
from rookery.exact import solve as exact
from rookery.exact.methods import Oracle, SolvedAgent, in_words
from rookery.game import play_chance

ROOT = Path(__file__).parents[2]
TIC_TAC_TOE = rookery.load(str(ROOT / "examples" / "tic_tac_toe.py"))
LIGHTS_OUT = rookery.load(str(ROOT / "examples" / "lights_out.py"))


@pytest.mark.parametrize(
    ("worth", "steps", "players", "words"),
    [
        (1.0, 3, 2, "a win in 3 moves"),
        (1.0, 1, 2, "a win in 1 move"),
        (-1.0, 2, 2, "a loss in 2 moves"),
        (-1.0, None, 2, "a loss"),
        (0.0, 5, 2, "a draw"),
        (0.5, 5, 2, "worth +0.5"),
        (-0.25, None, 2, "worth -0.25"),
        (12.0, 1, 1, "12 still to earn in 1 move"),
        (-3.5, 4, 1, "-3.5 still to earn in 4 moves"),
        (0.0, None, 1, "0 still to earn"),
    ],
)
def test_words(worth: float, steps: int | None, players: int, words: str) -> None:
    assert in_words(worth, steps, players) == words


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No solution is kept, neither in memory nor in files."""
    monkeypatch.setattr(exact, "_KEPT", type(exact._KEPT)())
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))


@cache
def agent() -> SolvedAgent:
    found = Oracle().agent(TIC_TAC_TOE, Oracle.Options())
    assert isinstance(found, SolvedAgent)
    return found


def test_solutions_name_every_move() -> None:
    # x has two in a row at the top and wins at once; everything else lets o win by the middle row.
    state = TIC_TAC_TOE.parse_state("xx./oo./...")
    found = Oracle().solve(state)
    assert (found.text, found.value, found.error) == ("a win in 1 move", 1.0, 0.0)
    assert found.values[2] == 1.0
    assert found.notes[2] == "a win in 1 move"
    assert found.values[6] == -1.0
    assert found.notes[6] == "a loss in 2 moves"
    assert found.values.keys() == found.notes.keys() == set(state.legal_actions())
    assert found.notes[5] != "a loss in 2 moves"  # that blocks the row


def test_equal_moves_differ_by_a_trifle_if_they_win_sooner() -> None:
    state = TIC_TAC_TOE.parse_state("xx./oo./...")
    values = agent().values(state)
    assert max(values, key=lambda action: values[action]) == 2
    assert values[2] == pytest.approx(1.0, abs=1e-6)
    assert values[2] > 1.0
    assert values[6] == -1.0
    drawn = agent().values(TIC_TAC_TOE.initial_state())
    assert set(drawn.values()) == {1e-9}  # all nine are draws, and all are the best
    assert agent().in_words(state, 1e-9) == "draws"
    assert agent().in_words(state, 1.0) != "draws"


def test_explanations_go_from_the_best_move_to_the_worst() -> None:
    state = TIC_TAC_TOE.parse_state("xx./oo./...")
    why = agent().explain(state)
    assert why.action == 2
    assert why.values[2] == 1.0
    assert why.reasons[0] == f"{state.action_name(2)}: a win in 1 move"
    assert len(why.reasons) == len(state.legal_actions())
    worth = [why.values[state.parse_action(reason.split(":")[0])] for reason in why.reasons]
    assert worth == sorted(worth, reverse=True)


@pytest.mark.usefixtures("nothing_kept")
def test_only_as_many_positions_as_are_allowed() -> None:
    """Tic-tac-toe has 5478 positions."""
    with pytest.raises(ValueError, match="positions must be at least 1, and is 0"):
        Oracle.Options(positions=0)
    assert Oracle.Options(positions=1).positions == 1
    with pytest.raises(ValueError, match=r"tic-tac-toe is not solved: .*`rookery solve` may take longer"):
        Oracle().agent(TIC_TAC_TOE, Oracle.Options(positions=100))


@pytest.mark.usefixtures("nothing_kept")
def test_a_game_that_is_kept_is_ready() -> None:
    assert Oracle().unready(TIC_TAC_TOE) == "is not solved yet"
    solved = exact.solve_game(TIC_TAC_TOE.initial_state())
    exact.keep(TIC_TAC_TOE, solved)
    assert Oracle().unready(TIC_TAC_TOE) is None
    found = Oracle().agent(TIC_TAC_TOE, Oracle.Options(positions=1))  # nothing is left to be solved
    assert isinstance(found, SolvedAgent)


def test_a_game_for_one() -> None:
    state = LIGHTS_OUT.initial_state()
    play_chance(state, 1)
    found = Oracle().solve(state)
    assert "still to earn" in found.text
    assert found.value == max(found.values.values())


@pytest.mark.usefixtures("nothing_kept")
def test_a_kept_solution_answers_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may know a part of the game only; the rest is solved when it is asked for."""
    late = TIC_TAC_TOE.parse_state("xx./oo./...")
    exact._KEPT[TIC_TAC_TOE] = exact.solve_game(late)
    found = Oracle().solve(TIC_TAC_TOE.initial_state())
    assert (found.text, found.value) == ("a draw", 0.0)
    monkeypatch.setattr(exact, "solve_game", lambda *given, **named: pytest.fail("it is solved again"))
    assert Oracle().solve(late).value == 1.0
