"""The exact result of a position in words, and which learner fits which endgame."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rookery.games.endgames import methods
from rookery.games.endgames.agents import PerfectAgent, QLearningAgent, TablesAgent, describe, q_tables
from rookery.games.endgames.rules import Endgames

GAME = Endgames()
MATE_IN_1 = "8/8/8/8/8/1K6/7R/k7 w - - 0 1"
MATED_IN_2 = "8/8/8/8/8/2K5/7R/1k6 b - - 0 1"


@pytest.mark.parametrize(
    ("fen", "dtm", "words"),
    [
        (MATE_IN_1, 1, "White mates in 1 move"),
        (MATE_IN_1, 2 * 2 - 1, "White mates in 2 moves"),
        (MATE_IN_1, -2, "Black mates in 1 move"),
        (MATED_IN_2, -4, "White mates in 2 moves"),
        (MATED_IN_2, 3, "Black mates in 2 moves"),
        (MATED_IN_2, None, "a draw"),
        ("8/8/8/8/8/1K6/8/k6R b - - 0 1", 0, "Black is mated"),
        ("8/8/8/8/8/1k6/8/K6r w - - 0 1", 0, "White is mated"),
        ("8/8/8/8/8/1K6/1R6/k7 b - - 0 1", None, "a draw (stalemate)"),
    ],
)
def test_verdicts(fen: str, dtm: int | None, words: str) -> None:
    assert methods.verdict(GAME.parse_state(fen), dtm) == words


def test_solutions_have_the_mate_and_every_move() -> None:
    state = GAME.parse_state(MATE_IN_1)
    found = methods.Oracle().solve(state)
    assert found.text == "White mates in 1 move"
    assert found.value == pytest.approx(0.999)
    assert [state.action_name(action) for action in found.best] == ["Rh1#"]
    assert found.values.keys() == found.notes.keys() == set(state.legal_actions())
    assert found.values[state.parse_action("Rb2")] == 0.0
    assert found.notes[state.parse_action("Rb2")] == "Rb2 draws by stalemate"
    assert found.values[state.parse_action("Rd2")] == pytest.approx(0.997)
    lost = methods.Oracle().solve(GAME.parse_state(MATED_IN_2))
    assert lost.text == "White mates in 2 moves"
    assert lost.value == pytest.approx(-0.996)
    bare = methods.Oracle().solve(GAME.parse_state("8/8/8/8/8/1K6/8/2k5 w - - 0 1"))
    assert (bare.value, bare.values) == (0.0, {})  # the game is over


@pytest.mark.parametrize(
    ("fen", "move", "dtm", "words"),
    [
        (MATE_IN_1, "Rd2", 3, "Rd2 mates in 2 moves; the best reply is Kb1"),
        (MATE_IN_1, "Rd2", None, "Rd2 draws; the best reply is Kb1"),
        (MATED_IN_2, "Ka1", -4, "Ka1 is mated in 2 moves; the best reply is Kb3"),
        (MATED_IN_2, "Kc1", -2, "Kc1 is mated in 1 move; the best reply is Rh1#"),
        (MATE_IN_1, "Rh1#", 1, "Rh1# mates"),
    ],
)
def test_moves_are_described(fen: str, move: str, dtm: int | None, words: str) -> None:
    state = GAME.parse_state(fen)
    assert describe(state, state.parse_action(move), dtm) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "draw"), (0.999, "mate"), (0.997, "mate in 2"), (0.995, "mate in 3"), (-0.998, "mated in 1"),
     (-0.996, "mated in 2")],
)  # fmt: skip
def test_values_in_words(value: float, words: str) -> None:
    assert TablesAgent().in_words(GAME.initial_state(), value) == words


def test_the_perfect_learner_learns_endgames_without_pawns_only() -> None:
    perfect = methods.Perfect()
    for material in ("KQK", "KRK", "KBBK", "KBNK"):
        assert perfect.misfit(Endgames(material)) is None
    assert "KPK" not in (perfect.misfit(Endgames("KPK")) or "KPK")


def test_stockfish_looks_as_deep_as_in_the_study() -> None:
    page = (Path(__file__).parents[3] / "docs" / "studies" / "endgames.md").read_text(encoding="utf-8")
    assert {int(depth) for depth in re.findall(r"--opponent stockfish --depth ([0-9]+)", page)} == {
        methods.StockfishMethod.Options().depth
    }


def test_tables_of_a_run_are_found_in_its_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no Q-table in"):
        q_tables(tmp_path)
    names = [tmp_path / "run" / f"q-table-{side}.npz" for side in ("strong", "weak")]
    names[0].parent.mkdir()
    for name in [*names, tmp_path / "other.npz"]:
        name.touch()
    assert q_tables(tmp_path) == names
    assert q_tables(names[1]) == [names[1]]


class Learned:
    """Values that a learner might have."""

    def values(self, state: object) -> list[tuple[int, float]]:
        return [(1, 0.5), (2, 0.25)]


def test_what_was_learned_of_an_endgame_says_nothing_of_others() -> None:
    agent = PerfectAgent("KRK", Learned())
    assert agent.values(GAME.parse_state(MATE_IN_1)) == {1: 0.5, 2: 0.25}
    with pytest.raises(ValueError, match="the learner knows KRK, and not KQK"):
        agent.values(Endgames("KQK").initial_state())


def test_shipped_values_are_of_some_endgames() -> None:
    agent = QLearningAgent()
    assert agent.met(GAME.parse_state(MATE_IN_1)) is not None
    assert agent.met(Endgames("KPK").initial_state()) is None
    assert agent.met(GAME.parse_state("8/8/8/8/8/1K6/8/k6R b - - 0 1")) is None  # the game is over
    why = agent.explain(GAME.parse_state(MATE_IN_1))
    assert re.fullmatch(r"Q [0-9.]+: Rh1# mates", why.reasons[0])
    assert len(why.reasons) == len(why.values)
    unmet = agent.explain(Endgames("KPK").initial_state())
    assert len(unmet.reasons) == len(unmet.values) + 1
