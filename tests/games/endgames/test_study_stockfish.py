"""The grid against an engine: a fake one, on several processes, stopped and continued."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rookery.games.endgames import study_stockfish as study
from rookery.games.endgames.q_learning import VERSIONS, play_out, train
from rookery.games.endgames.stockfish import Stockfish
from rookery.games.endgames.study import ENDGAMES, Plan
from rookery.scale import Job, Task
from rookery.studies.sizes import SIZES

pytest.importorskip("chess")

PLAN = Plan(starts=2, runs=2, matches=4)


@pytest.fixture(autouse=True)
def engine(fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("ROOKERY_STOCKFISH", str(fake("obeys")))
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "cache"))


def test_tasks_begin_every_cell_before_they_repeat_one() -> None:
    tasks = [task.arguments for task in study.Grid(PLAN, 0).tasks()]
    assert len({task.key for task in study.Grid(PLAN, 0).tasks()}) == len(tasks) == 4 * 3 * 2 * 2
    assert {(task["version"], task["endgame"]) for task in tasks[:12]} == {(v, e) for v in VERSIONS for e in ENDGAMES}
    assert {(task["start"], task["run"]) for task in tasks[:12]} == {(0, 0)}
    assert {task["run"] for task in tasks[:24]} == {0}


def test_runs_on_two_processes_are_those_made_here(tmp_path: Path) -> None:
    grid = study.Grid(PLAN, 3)
    with Stockfish() as stockfish:
        job = grid.job(tmp_path / "grid", stockfish.label)
        study.learn_all(job, 0.0, "processes:2")
        assert not any(grid.cells(job).values()), "there was no time"
        study.learn_all(job, 5.0, "processes:2")
        cells = grid.cells(job)
        for (version, _), runs in cells.items():
            assert len(runs) == PLAN.starts
            for i, (start, batch) in enumerate(runs):
                here = train(
                    start.state, VERSIONS[version], stockfish.native(), matches=4, runs=2, seed=3000 + i
                )  # fmt: skip
                assert batch.moves.tolist() == [run.moves.tolist() for run in here]
                assert batch.solutions.tolist() == [run.solution or -1 for run in here]
                assert start.stockfish == play_out(start.state, stockfish.native(), stockfish.native())
        again = grid.job(tmp_path / "grid", stockfish.label)
        assert again.resume() == len(again.tasks) == 48
        study.learn_all(again, 5.0, "here")
        table = study.solved_table(cells, grid, job, "command")
        assert "48 of the 48 runs of 4 matches" in table.note


def fill_cache(number: int) -> int:
    """Many answers into the cache that all processes share, some of them the same."""
    with Stockfish() as stockfish:
        for i in range(100):
            row = ("engine", "settings", f"{number % 2} {i}", "a1a2", 0, number)
            with stockfish._answers:
                stockfish._answers.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row)
        return stockfish._answers.execute("SELECT COUNT(*) FROM answers").fetchone()[0]  # type: ignore[no-any-return]


def test_processes_share_the_cache() -> None:
    job = Job({}, [Task(f"{n}", f"{__name__}:fill_cache", {"number": n}) for n in range(6)])
    rows = dict(job.run("processes:3", retries=0))
    assert job.failures == {}
    assert fill_cache(0) == max(rows.values()) == 200


def test_the_study_hands_over_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", Plan(starts=1, runs=1, matches=3))
    result = study.run(SIZES["quick"], 0, tmp_path / "study", Console(quiet=True), "here")
    solved, _ = result.tables
    assert [row[1] for row in solved.rows] == ["100.0%", "100.0%", "99.0%", "100.0%"], "the paper's first column"
    assert len((tmp_path / "study" / "KBBK.fen").read_text().splitlines()) == 1
    assert [figure.caption[:10] for figure in result.figures] == ["Figure 3.4", "Figure 3.5"]


def test_means_have_intervals_where_there_are_several() -> None:
    assert study._with_interval(np.array([])) == "-"
    assert study._with_interval(np.array([-3.0])) == "-3"
    assert study._with_interval(np.array([2.0, 2.0])) == "+2.0 (+2.0 to +2.0)"
    text = study._with_interval(np.array([-10.0, 10.0] * 50))
    mean, low, high = (float(number) for number in re.findall(r"[-+][0-9.]+", text))
    assert mean == 0
    # The standard error is 1: by the normal distribution 1.96 to both sides.
    assert (low, high) == pytest.approx((-1.96, 1.96), abs=0.4)
