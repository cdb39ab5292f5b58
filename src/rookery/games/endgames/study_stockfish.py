"""The paper's whole grid against Stockfish itself: every version of the agent, endgame, start and run.

Stockfish searches a new position for some hundredths of a second, and the whole grid asks for millions: dozens of hours
of one core. So every run is a task of `rookery.scale`: the grid may be interrupted at any time, divided among processes
and machines, and continued from the same folder and from the answers kept in the cache, which processes share. The
first run from the first start of every cell comes before any second one. The quick size is a slice that takes less than
three minutes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rookery.files import write_text
from rookery.games.endgames.q_learning import VERSIONS, Batch, play_out, train
from rookery.games.endgames.stockfish import Stockfish
from rookery.games.endgames.study import (
    ENDGAMES,
    PAPER_SOLVED,
    Cells,
    Plan,
    Start,
    agents_figure,
    endgames_figure,
    mean_or_draws,
    percent,
    start_positions,
)
from rookery.report.study import Figure, Result, Table
from rookery.scale import Job, Task
from rookery.statistics import bootstrap_interval
from rookery.studies.sizes import Size

QUICK = Plan(starts=1, runs=1, matches=20)


@dataclass(frozen=True)
class Grid:
    """What is in the grid."""

    plan: Plan
    seed: int
    depth: int = 15

    def tasks(self) -> list[Task]:
        """The first run from the first start of every cell, then from the other starts, then the second runs."""
        return [
            Task(
                f"{version}, {endgame}, start {start + 1}, run {run + 1}",
                f"{__name__}:learn",
                {"plan": asdict(self.plan), "seed": self.seed, "depth": self.depth, "version": version,
                 "endgame": endgame, "start": start, "run": run},
            )
            for run in range(self.plan.runs)
            for start in range(self.plan.starts)
            for endgame in ENDGAMES
            for version in VERSIONS
        ]  # fmt: skip

    def starts(self, endgame: str) -> list[Start]:
        return start_positions(ENDGAMES[endgame], self.plan.starts, self.seed)

    def job(self, folder: Path, engine: str) -> Job:
        """The runs, kept in the folder. Another engine is another job."""
        header = {"job": "endgames against Stockfish", "engine": engine, "plan": asdict(self.plan), "seed": self.seed}
        return Job(header, self.tasks(), file=folder / "runs.jsonl")

    def cells(self, job: Job) -> Cells:
        """The runs that are done, each start with the moves that Stockfish needs from it."""
        found: Cells = {(version, endgame): [] for version in VERSIONS for endgame in ENDGAMES}
        rows: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
        for task in job.tasks:
            if task.key in job.rows:
                place = task.arguments["version"], task.arguments["endgame"], task.arguments["start"]
                rows.setdefault(place, []).append(job.rows[task.key])
        starts = {endgame: self.starts(endgame) for endgame in ENDGAMES}
        for (version, endgame, number), runs in rows.items():
            start = starts[endgame][number]
            batch = Batch(
                np.array([row["moves"] for row in runs], np.int16),
                np.array([row["endings"] for row in runs], np.uint8),
                np.array([row["solution"] or -1 for row in runs], np.int16),
            )
            found[version, endgame].append((Start(start.state, start.exact, runs[0]["stockfish"]), batch))
        return found


@cache
def _engine(depth: int) -> Stockfish:
    """The engine of a process."""
    return Stockfish(depth)


@cache
def _alone(state: Any, depth: int) -> int | None:
    """Moves in which Stockfish mates itself from a start."""
    engine = _engine(depth).native()
    return play_out(state, engine, engine)


def learn(
    plan: dict[str, int], seed: int, depth: int, version: str, endgame: str, start: int, run: int
) -> dict[str, Any]:
    """Do one run as a task: all its matches, and the moves of its solution."""
    chosen = Grid(Plan(**plan), seed, depth)
    state = chosen.starts(endgame)[start].state
    (found,) = train(
        state, VERSIONS[version], _engine(depth).native(), matches=chosen.plan.matches, runs=1, first_run=run,
        seed=seed * 1000 + start,
    )  # fmt: skip
    return {
        "moves": found.moves.tolist(), "endings": found.endings.tolist(), "solution": found.solution,
        "stockfish": _alone(state, depth),
    }  # fmt: skip


def learn_all(job: Job, minutes: float, on: str) -> None:
    """As many runs as the time allows."""
    deadline = time.monotonic() + 60 * minutes
    deque(job.run(on, label="learning against Stockfish (may be interrupted)", shown=True, until=deadline), maxlen=0)


def solutions(runs: Sequence[tuple[Start, Batch]]) -> Iterator[tuple[Start, int | None]]:
    """The moves to mate of every run, None where it reached no solution."""
    for start, batch in runs:
        for moves in batch.solutions:
            yield start, int(moves) if moves >= 0 else None


def solved_table(cells: Cells, grid: Grid, job: Job, command: str) -> Table:
    rows = []
    for version in VERSIONS:
        row = [version]
        for i, endgame in enumerate(ENDGAMES):
            found = list(solutions(cells[version, endgame]))
            solved = sum(moves is not None for _, moves in found)
            row += [
                f"{PAPER_SOLVED[version][i]:.1f}%",
                f"{percent(solved, len(found))} of {len(found)}" if found else "-",
            ]
        rows.append(row)
    done = sum(len(batch.solutions) for runs in cells.values() for _, batch in runs)
    columns = ["agent", *(f"{name} ({who})" for name in ENDGAMES for who in ("paper", "ours"))]
    note = (
        f"Runs reaching a solution against {job.header['engine']}, 95% intervals: {done} of the {len(job.tasks)} runs "
        f"of {grid.plan.matches} matches are done so far ({done / len(job.tasks):.1%}); the same command continues. "
        "Starts are random won positions; the paper asks only that no two pieces are neighbours."
    )
    return Table("Table 3.2 against Stockfish itself", columns, rows, command, note)


def moves_table(cells: Cells, command: str) -> Table:
    rows = []
    for version in VERSIONS:
        for endgame in ENDGAMES:
            won = [(start, moves) for start, moves in solutions(cells[version, endgame]) if moves is not None]
            if not won:
                continue
            compared = [(moves, start.stockfish) for start, moves in won if start.stockfish is not None]
            relative = np.array([moves - other for moves, other in compared], dtype=np.float64)
            references = {start.state: start for start, _ in won}.values()
            rows.append([
                version,
                endgame,
                f"{np.mean([start.exact for start in references]):.1f}",
                mean_or_draws([start.stockfish for start in references]),
                f"{np.mean([moves for _, moves in won]):.1f}",
                _with_interval(relative),
                percent(int((relative < 0).sum()), len(relative)) if len(relative) else "-",
            ])  # fmt: skip
    columns = [
        "agent", "endgame", "exact", "Stockfish", "agent", "less Stockfish (95%)", "fewer moves than Stockfish",
    ]  # fmt: skip
    note = (
        "Mean moves to mate of the runs that reached a solution, playing Stockfish without exploration; Stockfish's "
        "are those it needs against itself from the same starts. Starts that Stockfish does not win are left out of "
        "the comparison, as in the paper. Fewer moves than the exact distance are possible here: Stockfish does not "
        "always defend best."
    )
    return Table("Moves to win relative to Stockfish", columns, rows, command, note)


def _with_interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    if len(values) < 2:
        return f"{values[0]:+.0f}" if len(values) else "-"
    low, high = bootstrap_interval(values)
    return f"{values.mean():+.1f} ({low:+.1f} to {high:+.1f})"


def figures(cells: Cells) -> list[Figure]:
    """Figures 3.4 and 3.5 as the paper has them, of the starts that Stockfish wins."""
    if not all(cells.values()):
        return []
    return [endgames_figure(cells, "stockfish"), agents_figure(cells, "stockfish")]


def run(size: Size, seed: int, folder: Path, console: Console, on: str = "processes") -> Result:
    """Learn against Stockfish and make the paper's tables."""
    begin = time.perf_counter()
    plan, minutes = (QUICK, 2.0) if size.name == "quick" else (Plan(), float("inf"))
    command = f"rookery reproduce endgames-stockfish{size.flag} --seed {seed}"
    grid = Grid(plan, seed)
    for endgame, material in ENDGAMES.items():
        write_text(folder / f"{material}.fen", "".join(f"{start.state}\n" for start in grid.starts(endgame)))
    with Stockfish(grid.depth) as stockfish:
        job = grid.job(folder, stockfish.label)
    job.resume()
    learn_all(job, minutes, on)
    cells = grid.cells(job)
    tables = [solved_table(cells, grid, job, command), moves_table(cells, command)]
    title = "Chess endgames: Q-learning against Stockfish"
    error = next((f"{key}: {error}" for key, error in job.failures.items()), "")
    seconds = time.perf_counter() - begin
    return Result("endgames-stockfish", title, seed, tables, figures(cells), seconds, error)
