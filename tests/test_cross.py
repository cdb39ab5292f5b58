"""The cross table in a small form, and the exams behind it."""

from __future__ import annotations

import io
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import rookery
from rookery.agents import Agent
from rookery.exam import Exam, examine
from rookery.game import State
from rookery.statistics import bootstrap_interval
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


def cells_of(exam: Exam, rows: dict[str, Any], failures: dict[str, str] | None = None, seeds: int = 1) -> cross.Cells:
    return cross.Cells(cross.Plan(7, seeds, 0.5, [("g", 0, exam)]), rows, failures or {}, "the command")


def test_means_have_as_many_digits_as_are_worth_reading() -> None:
    for number, text in ((9.994, "9.99"), (-9.994, "-9.99"), (10.0, "10.0"), (999.94, "999.9"), (1000.4, "1,000")):
        assert cross._mean(np.array([number])) == text
    mean = cross._mean(np.array([1.0, 2.0, 3.0, 6.0]))
    low, high = bootstrap_interval(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == f"3.00 ({low:.2f} to {high:.2f})"


def test_the_table_of_all_cells_and_who_is_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross, "METHODS", dict.fromkeys(("dqn", "zero", "mcts", "voting"), cross.METHODS["mcts"]))
    exam = Exam("v", True, "points", "best", exact="oracle", games=9)
    rows = {
        "g v random 0": {"scores": [0.0, 2.0]}, "g v exact 0": {"scores": [11.0]}, "g v strongest 0": {"scores": [9.0]},
        "g v dqn 0": {"scores": [5.0]}, "g v dqn 1": {"scores": [7.0]}, "g v zero 0": {"misfit": "is for others"},
        "g v voting 0": {"scores": [8.5]},
    }  # fmt: skip
    cells = cells_of(exam, rows, {"g v mcts 0": "broke"}, seeds=2)
    table, best = cells.table(), cells.best()
    assert table.columns == [
        "game",
        "variant",
        "score",
        "perfect",
        "random",
        "strongest",
        "dqn",
        "zero",
        "mcts",
        "voting",
    ]
    low, high = bootstrap_interval(np.array([0.0, 2.0]))
    assert table.rows[0][:6] == ["g", "v", "points", "11.0", f"1.00 ({low:.2f} to {high:.2f})", "9.00"]
    assert table.rows[0][6].startswith("6.00 (")
    assert table.rows[0][7:] == ["is for others", "broke", "8.50"]
    assert "number of seeds: 2" in table.note
    assert "trains for 7 CPU seconds" in table.note
    assert "g v: 4 games per seed, 9 of those it is compared with." in table.note
    assert best.rows == [["g", "v", "voting 75%", "dqn 50%"]]
    assert ">75<" in cells.heat_map().svg
    known = Exam("v", True, "points", "best", optimum=21.0)
    assert cells_of(known, rows).share("g", known, "dqn") == 0.25
    assert cells_of(known, rows).table().rows[0][3] == "21"
    strongest = {key: row for key, row in rows.items() if "exact" not in key}
    assert cells_of(exam, strongest).best_known("g", exam) == 9.0
    assert cells_of(exam, strongest).table().rows[0][3] == "unknown"
    assert cells_of(exam, {}).best_known("g", exam) is None
    assert np.isnan(cells_of(exam, {}).share("g", exam, "dqn"))
    assert cells_of(exam, {}).best().rows == [["g", "v", "none", ""]]
    level = {"g v random 0": {"scores": [9.0]}, "g v strongest 0": {"scores": [9.0]}, "g v dqn 0": {"scores": [9.0]}}
    assert np.isnan(cells_of(exam, level).share("g", exam, "dqn")), "random play is as good as the best"


def test_every_player_has_its_tasks() -> None:
    exam = Exam("v", True, "points", "best", games=9)
    tasks = list(cross.Plan(3.0, 2, 0.25, [("g", 4, exam)]).tasks(10))
    arguments = [task.arguments for task in tasks]
    by_player: dict[str, list[Any]] = {}
    for given in arguments:
        by_player.setdefault(given["player"], []).append(given)
    assert list(by_player) == [*cross.REFERENCES, *cross.METHODS]
    for player, all_given in by_player.items():
        learns = player in cross.METHODS and cross._learner(cross.METHODS[player]) is not None
        assert [one["seed"] for one in all_given] == ([10, 11] if learns else [10])
        assert {one["games"] for one in all_given} == {9 if player in cross.REFERENCES else 2}
        assert {(one["game"], one["number"], one["budget"]) for one in all_given} == {("g", 4, 3.0)}
    assert [task.key for task in tasks[:2]] == ["g v random 10", "g v strongest 10"]
    assert len({task.key for task in tasks}) == len(tasks)
    few = next(iter(cross.Plan(3.0, 1, 0.01, [("g", 0, exam)]).tasks(0)))
    assert few.arguments["games"] == 9
    assert [task.arguments["games"] for task in cross.Plan(3.0, 1, 0.01, [("g", 0, exam)]).tasks(0)][-1] == 2
    quick, default, full = (cross.Plan.of(SIZES[name]) for name in ("quick", "default", "full"))
    assert all(exam.small for *_, exam in quick.exams)
    assert len(quick.exams) < len(default.exams) == len(full.exams) == len(cross.all_exams())
    assert quick.budget < default.budget < full.budget
    assert quick.seeds < default.seeds < full.seeds
    assert quick.share < default.share < full.share == 1.0


def test_training_takes_about_as_long_as_it_may(tmp_path: Path) -> None:
    game = rookery.load("tenten", "3x3-three")
    method = cross.METHODS["q-learning"]
    settings = method.default_settings(game)
    (length,) = [name for name in cross.LENGTHS if cross._is_length(settings, name)]
    model, used, seconds = cross.trained(game, method, settings, 0.4, 3, tmp_path)
    assert model.exists()
    assert seconds < 4 * 0.4
    first = max(1, getattr(settings, length) // 500)
    assert getattr(used, length) >= first
    info = json.loads((tmp_path / "first" / "run.json").read_text())
    assert info["settings"][length] == first
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"][length] == getattr(used, length)


def test_a_cell_names_the_command_and_has_a_score_per_game() -> None:
    [(number, exam)] = [(n, exam) for name, n, exam in cross.all_exams() if name == "tenten" and exam.small]
    row = cross.cell("tenten", number, "q-learning", 5, 0.1, 6)
    assert len(row["scores"]) == 6
    assert row["command"].startswith(f"tenten {exam.variant} q-learning --")
    assert row["trained"] > 0
    begin = time.process_time()
    plain = cross.cell("tenten", number, "random", 5, 0.1, 6)
    assert 0 <= plain["examined"] <= time.process_time() - begin + 0.01
    game = rookery.load("tenten", exam.variant, **exam.options)
    assert plain["scores"] == [round(x, 4) for x in examine(game, exam, rookery.agent("random", game), None, 6, 5)]
    assert plain["trained"] == 0
    assert cross.cell("tenten", number, "best-first", 5, 0.1, 6) == {"misfit": "needs a game without chance"}
    mcts = cross.cell("tenten", number, "mcts", 5, 0.1, 2)
    agent = rookery.agent("mcts:simulations=100", game)
    assert mcts["scores"] == [round(x, 4) for x in examine(game, exam, agent, None, 2, 5)]
    [unknown] = [(name, n) for name, n, exam in cross.all_exams() if not exam.exact][:1]
    assert cross.cell(*unknown, "exact", 0, 0.1, 2) == {"misfit": "is not known"}


def test_exams_for_two_take_sides_in_turns_and_count_what_was_earned() -> None:
    game = TicTacToe()

    class Last(Agent):
        def choose(self, state: State, rng: random.Random | None = None) -> int:
            return state.legal_actions()[-1]

    exam = Exam("", True, "score", "", opponent="x", sides=(1, 0, 0))
    first, second = (examine(game, Exam("", True, "score", "", opponent="x", sides=(side,)), First(), Last(), 1, 0)[0]
                     for side in (0, 1))  # fmt: skip
    assert examine(game, exam, First(), Last(), 4, 0) == [second, first, first, second]
    assert {first, second} <= {0.0, 0.5, 1.0}
    chess = rookery.load("solitaire-chess")
    random_starts = Exam("", True, "points", "", starts="random", moves=1)
    scores = examine(chess, random_starts, First(), None, 5, 2)
    for number, score in enumerate(scores):
        state = chess.random_start(random.Random(f"2/{number}"))
        state.apply(state.legal_actions()[0])
        assert score == (state.returns()[0] if state.player() < 0 else state.rewards()[0])
