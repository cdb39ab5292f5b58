"""The cross table in a small form, and the exams behind it."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import rookery
from rookery.agents import Agent
from rookery.exam import Exam, examine
from rookery.game import State
from rookery.studies import cross
from rookery.studies.sizes import SIZES
from tests.tic_tac_toe import TicTacToe


class First(Agent):
    """Always the first legal move."""

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        return state.legal_actions()[0]


def test_scores_are_those_of_the_games() -> None:
    game = TicTacToe()
    exam = Exam("", True, "score", "", opponent="first")
    # Whoever moves first takes 0, 2, 4, 6 and wins with 2, 4, 6.
    assert examine(game, exam, First(), First(), 4, 0) == [1.0, 0.0, 1.0, 0.0]
    only_second = Exam("", True, "score", "", opponent="first", sides=(1,), moves=3)
    assert examine(game, only_second, First(), First(), 2, 0) == [0.5, 0.5]  # not over after three moves
    tenten = rookery.load("tenten", "3x3-seven")
    random_agent = rookery.agent("random", tenten)
    whole = examine(tenten, Exam("", True, "points", ""), random_agent, None, 20, 3)
    cut = examine(tenten, Exam("", True, "points", "", moves=5), random_agent, None, 20, 3)
    assert min(whole) > 0
    assert all(part <= all_of_it for part, all_of_it in zip(cut, whole, strict=True))
    assert sum(cut) < sum(whole)


def test_every_exam_can_be_taken() -> None:
    exams = cross.all_exams()
    assert [exam.small for _, _, exam in exams] == sorted((exam.small for _, _, exam in exams), reverse=True)
    assert len({name for name, _, _ in exams}) == 5
    for name, _, exam in exams:
        game = rookery.load(name, exam.variant, **exam.options)
        for agent in filter(None, (exam.strongest, exam.exact, exam.opponent)):
            rookery.methods(game)[agent.partition(":")[0]]


def test_a_small_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exams = [row for row in cross.all_exams() if row[0] == "tenten" and row[2].small]
    plan = cross.Plan(0.2, 1, 0.05, exams)
    monkeypatch.setattr(cross.Plan, "of", staticmethod(lambda size: plan))
    chosen = {name: cross.METHODS[name] for name in ("q-learning", "voting", "best-first")}
    monkeypatch.setattr(cross, "METHODS", chosen)
    console = Console(file=io.StringIO())
    result = cross.run(SIZES["quick"], 0, tmp_path, console, "here")
    table, best = result.tables
    [row] = table.rows
    shown = dict(zip(table.columns, row, strict=True))
    assert shown["best-first"] == "needs a game without chance"
    score = {name: float(shown[name].split()[0].replace(",", "")) for name in ("perfect", "random", "q-learning")}
    assert score["random"] < score["perfect"]
    assert best.rows[0][2].split()[0] in ("q-learning", "voting")
    assert "<svg" in result.figures[0].svg
    before = (tmp_path / "cells.jsonl").read_bytes()
    again = cross.run(SIZES["quick"], 0, tmp_path, console, "here")  # resumed: nothing is left to do
    assert again.tables[0].rows == table.rows
    assert (tmp_path / "cells.jsonl").read_bytes() == before


def test_shares_lie_between_random_and_the_best_known() -> None:
    exam = Exam("v", True, "points", "best", exact="oracle")
    rows = {
        "g v random 0": {"scores": [0.0, 2.0]}, "g v exact 0": {"scores": [11.0]},
        "g v dqn 0": {"scores": [5.0]}, "g v dqn 1": {"scores": [7.0]}, "g v zero 0": {"misfit": "is for others"},
    }  # fmt: skip
    cells = cross.Cells(cross.Plan(1, 2, 1, [("g", 0, exam)]), rows, {"g v mcts 0": "broke"}, "")
    assert cells.share("g", exam, "dqn") == 0.5
    assert np.isnan(cells.share("g", exam, "zero"))
    assert cells.found("g", exam, "mcts")[1] == "broke"
