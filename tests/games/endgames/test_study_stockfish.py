"""The grid against an engine: a fake one, on several processes, stopped and continued."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from rookery.games.endgames import study_stockfish as study
from rookery.games.endgames.q_learning import VERSIONS, play_out, train
from rookery.games.endgames.stockfish import Stockfish
from rookery.games.endgames.study import ENDGAMES, Plan
from rookery.studies.sizes import SIZES

pytest.importorskip("chess")

PLAN = Plan(starts=2, runs=2, matches=4)


@pytest.fixture(autouse=True)
def engine(fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("ROOKERY_STOCKFISH", str(fake("obeys")))
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "cache"))


def test_tasks_begin_every_cell_before_they_repeat_one() -> None:
    tasks = study.Grid(Path(), PLAN, 0).tasks()
    assert len(tasks) == len(set(tasks)) == 4 * 3 * 2 * 2
    assert {(task.version, task.endgame) for task in tasks[:12]} == {(v, e) for v in VERSIONS for e in ENDGAMES}
    assert {(task.start, task.runs) for task in tasks[:12]} == {(0, 1)}
    assert {task.runs for task in tasks[:24]} == {1}


def test_no_two_running_tasks_write_to_one_place() -> None:
    tasks = study.Grid(Path(), Plan(starts=1, runs=3, matches=4), 0).tasks()
    found = study._ready(tasks, {tasks[0].place}, 30)
    assert len(found) == len({task.place for task in found}) == 11
    assert tasks[0].place not in {task.place for task in found}


def test_runs_on_two_processes_are_those_made_here(tmp_path: Path) -> None:
    grid = study.Grid(tmp_path / "grid", PLAN, 3)
    with Progress(disable=True) as progress, Stockfish() as stockfish:
        study.learn_all(grid, 0.0, 2, progress)
        assert not any(study.results(grid, stockfish, progress).values()), "there was no time"
        study.learn_all(grid, 5.0, 2, progress)
        cells = study.results(grid, stockfish, progress)
        for (version, endgame), runs in cells.items():
            assert len(runs) == PLAN.starts
            for i, (start, batch) in enumerate(runs):
                here = train(
                    start.state, VERSIONS[version], stockfish.native(), matches=4, runs=2, seed=3000 + i
                )  # fmt: skip
                assert batch.moves.tolist() == [run.moves.tolist() for run in here]
                assert start.stockfish == play_out(start.state, stockfish.native(), stockfish.native())
                log = (grid.place(version, endgame, i) / "log.txt").read_text()
                assert f"moves of Stockfish: {start.stockfish}" in log
        asked = stockfish.asked
        study.learn_all(grid, 5.0, 1, progress)
        assert stockfish.asked == asked
        table = study.solved_table(cells, grid, stockfish, "command")
        assert "48 of the 48 runs of 4 matches" in table.note


def test_the_study_hands_over_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "QUICK", Plan(starts=1, runs=1, matches=3))
    result = study.run(SIZES["quick"], 0, tmp_path / "study", Console(quiet=True))
    solved, _ = result.tables
    assert [row[1] for row in solved.rows] == ["100.0%", "100.0%", "99.0%", "100.0%"], "the paper's first column"
    assert len((tmp_path / "study" / "KBBK.fen").read_text().splitlines()) == 1
    assert [figure.caption[:10] for figure in result.figures] == ["Figure 3.4", "Figure 3.5"]
