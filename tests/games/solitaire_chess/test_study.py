"""The study of Solitaire Chess: its tables and claims by hand, and on a few puzzles."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess import study
from rookery.games.solitaire_chess.exact import capture_tree, solve
from rookery.games.solitaire_chess.puzzles import pack
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.solitaire_chess.search import search
from rookery.studies.sizes import SIZES

GAME = SolitaireChess()


def measured(name: str, states: list[int], looked_at: int = 0, right: int = 0) -> study.Measured:
    return study.Measured(study.Way(name, "dfs", "paper"), states, [looked_at] * len(states), right)


BASE = measured("the paper's backtracking", [10, 20, 30, 40])
PIECES = [4, 5, 5, 6]


def test_a_row_of_what_was_measured() -> None:
    row = measured("other", [4, 25, 5, 6], 3, 4).row(BASE, PIECES)
    assert row[:3] == ["other", "10.0", "3.0"]
    assert row[3].startswith("0.400 (")
    assert row[4:] == ["75%", "1", "4/4"]
    low, high = (float(word) for word in row[3].split("(")[1].rstrip(")").split(" to "))
    assert low < 0.4 < high
    assert BASE.row(BASE, PIECES)[3] == "1.000"  # no interval where all ratios are one
    exact = study._ratio_interval(np.array([5, 10, 15, 20]), np.array([10, 20, 30, 40]))
    assert exact == (0.5, 0.5)


def test_the_interval_of_a_ratio_covers_what_it_should() -> None:
    """Beside the standard error of a ratio of means, by the delta method."""
    rng = np.random.default_rng(1)
    base = rng.integers(50, 150, 400)
    states = base * 0.5 + rng.normal(0, 10, 400)
    low, high = study._ratio_interval(states, base)
    ratio = states.mean() / base.mean()
    error = float(np.std(states - ratio * base, ddof=1)) / 400**0.5 / base.mean()
    assert (low, high) == pytest.approx((ratio - 1.96 * error, ratio + 1.96 * error), abs=0.3 * error)


def test_claims_follow_from_the_counts() -> None:
    chosen = {
        study.PAPERS_RANKING: measured("r", [5, 21, 15, 20]), "the same, pruned": measured("p", [4, 5, 5, 6]),
        "dqn best first": measured("b", [4, 5, 6, 6]),
    }  # fmt: skip
    fewer, never = study._claims(chosen, BASE, PIECES)
    assert fewer.ours.startswith("0.61 of the positions (")
    assert fewer.exact == "0.200, without one step back"
    assert fewer.why == "Memory and pruning, without learning, come to 0.20."
    assert (never.ours, never.verdict) == ("worse on 1 of 4 puzzles", "fails")
    words = study._conclusion(chosen, BASE, PIECES)
    assert "enters 0.61 of the positions that plain backtracking enters on 4 puzzles, and more than it on 1 of" in words
    assert "comes to 0.210 in best-first search, where 0.200 is the least possible." in words
    chosen[study.PAPERS_RANKING] = measured("r", [10, 20, 30, 39])
    fewer, never = study._claims(chosen, BASE, PIECES)
    assert (fewer.verdict, never.verdict) == ("in part", "holds")
    chosen[study.PAPERS_RANKING] = measured("r", [5, 10, 15, 20])
    assert study._claims(chosen, BASE, PIECES)[0].verdict == "holds"


def test_every_puzzle_is_solved_and_its_last_piece_compared() -> None:
    puzzles = pack()[:12]
    states, finals = [GAME.parse_state(puzzle.rows) for puzzle in puzzles], [puzzle.final for puzzle in puzzles]
    found = study.measure(study.Way("x", "dfs", "paper"), states, finals)
    assert found.states == [search(state).states for state in states]
    assert found.right == 12
    wrong = [*finals[:-2], "Ka1" if finals[-2] != "Ka1" else "Kb1", "Z9"]
    assert study.measure(study.Way("x", "dfs", "paper"), states, wrong).right == 10


def test_levels_have_their_means() -> None:
    puzzles = [pack()[0], pack()[1], pack()[-1]]
    rows = study._by_level(puzzles, {"a": measured("a", [2, 4, 9]), "b": measured("b", [1, 2, 3])}, "command").rows
    ratings = sorted(puzzle.rating for puzzle in puzzles[:2])
    assert rows[0] == [puzzles[0].level, "2", f"{ratings[0]:.1f} to {ratings[1]:.1f}", "3.0", "1.5"]
    assert rows[1][1:] == ["1", f"{puzzles[2].rating:.1f} to {puzzles[2].rating:.1f}", "9.0", "3.0"]


def test_ways_of_searching() -> None:
    rankers = {name: capture_ranker.load(capture_ranker.shipped(GAME, name)) for name in ("paper-dqn", "dqn")}
    found = study.ways(rankers)
    assert [(way.name, way.method, way.prune, way.look_ahead) for way in found] == [
        ("the paper's backtracking", "dfs", False, True), ("backtracking with memory", "dfs-tt", False, True),
        ("the same, pruned", "dfs-tt", True, True), ("paper-dqn ranking, depth first", "dfs", False, False),
        ("dqn ranking, depth first", "dfs", False, True), ("dqn ranking with memory", "dfs-tt", False, True),
        ("dqn best first", "best-first", False, True),
    ]  # fmt: skip


def test_random_boards_have_one_last_piece() -> None:
    boards = study.random_boards(GAME, 8, 3)
    assert len(boards) == 8
    assert all(len(capture_tree(state).finals) == 1 for state in boards)
    assert [str(state) for state in boards] == [str(state) for state in study.random_boards(GAME, 8, 3)]


def test_the_tie_of_figure_5() -> None:
    rankers = {name: capture_ranker.load(capture_ranker.shipped(GAME, name)) for name in ("paper-dqn", "dqn")}
    table = study._tie(GAME, rankers, "command")
    assert [row[:2] for row in table.rows] == [
        ["the paper's backtracking", "13"], ["paper-dqn ranking", "13"], ["dqn ranking", "-"],
    ]  # fmt: skip
    state = GAME.parse_state(study.TIED_PUZZLE)
    assert table.rows[0][2] == str(search(state).states) == "10"
    for row in table.rows:
        at = state.clone()
        for name in row[4].split():
            at.apply(at.parse_action(name))
        assert at.pieces == 1
    assert solve(state).solvable


def test_the_whole_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = pack()[::16]
    monkeypatch.setattr(study, "pack", lambda: few)
    boards = study.random_boards
    monkeypatch.setattr(study, "random_boards", lambda game, count, seed: boards(game, 6, seed))
    monkeypatch.setattr(study, "make_puzzles", lambda *given: None)
    result = study.run(SIZES["quick"], 2, tmp_path, Console(quiet=True))
    entered, levels, random, _, speed = result.tables
    assert len(entered.rows) == 3 + 1 + 3 + 3
    assert all(row[6] == f"{len(few)}/{len(few)}" for row in entered.rows)
    assert sum(int(row[1]) for row in levels.rows) == len(few)
    least = [float(row[2]) for row in random.rows]
    assert all(ratio >= 1 for ratio in least)
    assert [row[0] for row in speed.rows][-1] == "a new expert puzzle"
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)
    assert len(result.figures) == 6
    assert "captures tried" in result.figures[0].svg


def test_the_table_of_solo_chess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine boards are two each of 14 to 17 pieces and one of 18. A search that finds nothing counts with its states."""
    asked: list[tuple[int, str, bool, int]] = []

    def counted(state: Any, method: str, order: Any, prune: bool, limit: int) -> Any:
        pieces = sum(letter.isalpha() for letter in str(state))
        asked.append((pieces, method, prune, limit))
        return SimpleNamespace(moves=None if pieces == 18 else [], states=1000 * pieces)

    monkeypatch.setattr(study, "search", counted)
    table = study._solo(9, 1, "command", Console(quiet=True))
    pieces = [14, 14, 15, 15, 16, 16, 17, 17, 18]
    assert [p for p, *_ in asked] == 3 * pieces
    assert [way for _, *way in asked[::9]] == [
        ["dfs-tt", False, 5_000_000], ["dfs-tt", True, 5_000_000], ["best-first", True, 100_000],
    ]  # fmt: skip
    for row in table.rows:
        assert row[1:] == ["8/9", f"{1000 * sum(pieces) / 9:,.0f}", "16,000", "18,000"]
    assert "give up after 5,000,000 positions, the learned one after 100,000" in table.note


def test_processor_time_is_told_in_milliseconds_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that shows 3 seconds more at every look: 3 s for two puzzles are 1500 ms each, for 40 are 75."""
    clock = itertools.count(5, 3)
    monkeypatch.setattr(study, "time", SimpleNamespace(process_time=lambda: float(next(clock))))
    monkeypatch.setattr(study, "make_puzzles", lambda level, count, seed: None)
    states = [GAME.parse_state(puzzle.rows) for puzzle in pack()[:2]]
    assert [row[1] for row in study._speed(states, 1, "command").rows] == ["1500.000 ms", "1500.000 ms", "75.000 ms"]


def test_the_curves_have_a_point_for_every_puzzle(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    lines = study.plots.lines

    def watched(axes: Any, curves: Any, *rest: Any, **more: Any) -> None:
        drawn.append(curves)
        lines(axes, curves, *rest, **more)

    monkeypatch.setattr(study.plots, "lines", watched)
    study._curves(pack()[:4], {"backtracking": BASE})
    assert drawn == [{"backtracking": ([1, 2, 3, 4], [10, 20, 30, 40])}]
