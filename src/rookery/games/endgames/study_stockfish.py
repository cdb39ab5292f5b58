"""The paper's whole grid against Stockfish itself: every version of the agent, endgame, start and run.

Stockfish searches a new position for some hundredths of a second, and the whole grid asks for millions: dozens of hours
of one core. So it may be interrupted at any time, and the next call continues from the same folder and from the answers
kept in the cache. Runs are made on all cores, each with an engine of its own, the first run from the first start of
every cell before any second one. The quick size is a slice that takes less than three minutes.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rookery._native import Control
from rookery.files import write_text
from rookery.games.endgames.q_learning import (
    EXACT_MOVES,
    STOCKFISH_MOVES,
    VERSIONS,
    Batch,
    load_batch,
    play_out,
    setup,
    train_batch,
)
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
    slug,
    start_positions,
    stockfish_moves,
)
from rookery.progress import cores
from rookery.report.study import Figure, Result, Table
from rookery.statistics import bootstrap_interval
from rookery.studies.sizes import Size

QUICK = Plan(starts=1, runs=1, matches=20)


@dataclass(frozen=True)
class Task:
    """Bring a cell and start to a number of runs."""

    version: str
    endgame: str
    start: int
    runs: int

    @property
    def place(self) -> tuple[str, str, int]:
        return self.version, self.endgame, self.start


@dataclass(frozen=True)
class Grid:
    """Where the grid is kept, and what is in it."""

    folder: Path
    plan: Plan
    seed: int
    depth: int = 15
    path: str | None = None
    """Program of the engine, if Stockfish is not found by itself."""

    def tasks(self) -> list[Task]:
        """The first run from the first start of every cell, then from the other starts, then the second runs."""
        return [
            Task(version, endgame, start, runs)
            for runs in range(1, self.plan.runs + 1)
            for start in range(self.plan.starts)
            for endgame in ENDGAMES
            for version in VERSIONS
        ]

    def starts(self, endgame: str) -> list[Start]:
        return start_positions(ENDGAMES[endgame], self.plan.starts, self.seed)

    def place(self, version: str, endgame: str, start: int) -> Path:
        return self.folder / slug(version) / ENDGAMES[endgame] / f"start-{start + 1:02}"

    def batch(self, version: str, endgame: str, number: int, start: Start, stockfish: Stockfish) -> Batch:
        """The runs of a cell and start that are done."""
        fixed = setup(
            start.state, VERSIONS[version], opponent=stockfish.label, matches=self.plan.matches,
            seed=self.seed * 1000 + number,
        )  # fmt: skip
        return load_batch(self.place(version, endgame, number), fixed | self._about(start, stockfish))

    def learn(self, task: Task, stockfish: Stockfish, deadline: float) -> bool:
        """Do a task; False if the time was up before it was done. What is done before is kept."""
        start = self.starts(task.endgame)[task.start]
        control = Control()
        timer = threading.Timer(min(max(0.0, deadline - time.time()), threading.TIMEOUT_MAX), control.stop)
        timer.daemon = True
        timer.start()
        try:
            train_batch(
                self.place(*task.place), start.state, VERSIONS[task.version], stockfish.native(),
                opponent=stockfish.label, matches=self.plan.matches, runs=task.runs,
                seed=self.seed * 1000 + task.start, one_by_one=True, about=self._about(start, stockfish),
                control=control,
            )  # fmt: skip
        except KeyboardInterrupt:
            if time.time() < deadline:
                raise
            return False
        finally:
            timer.cancel()
        return True

    @staticmethod
    def _about(start: Start, stockfish: Stockfish) -> dict[str, int | None]:
        engine = stockfish.native()
        return {EXACT_MOVES: start.exact, STOCKFISH_MOVES: play_out(start.state, engine, engine)}


_engine: Stockfish | None = None
"""The engine of a worker process."""


def _start(depth: int, path: str | None) -> None:
    global _engine
    _engine = Stockfish(depth, path)


def _learn(grid: Grid, task: Task, deadline: float) -> bool:
    assert _engine is not None
    return grid.learn(task, _engine, deadline)


def learn_all(grid: Grid, minutes: float, workers: int, progress: Progress) -> None:
    """As many tasks as the time allows, on a number of processes; a task that was done before takes no time."""
    deadline = time.time() + 60 * minutes
    todo = grid.tasks()
    bar = progress.add_task("learning against Stockfish (may be interrupted)", total=len(todo))
    context = multiprocessing.get_context("spawn")
    running: dict[Future[bool], Task] = {}
    with ProcessPoolExecutor(workers, context, _start, (grid.depth, grid.path)) as pool:
        try:
            while todo or running:
                for task in _ready(todo, {task.place for task in running.values()}, workers - len(running)):
                    todo.remove(task)
                    running[pool.submit(_learn, grid, task, deadline)] = task
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    del running[future]
                    if future.result():
                        progress.advance(bar)
                if time.time() >= deadline:
                    todo = []
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress.remove_task(bar)


def _ready(todo: Sequence[Task], busy: set[tuple[str, str, int]], count: int) -> list[Task]:
    """The next tasks of which no two write to the same place."""
    found: list[Task] = []
    for task in todo:
        if len(found) == count:
            break
        if task.place not in busy:
            busy.add(task.place)
            found.append(task)
    return found


def results(grid: Grid, stockfish: Stockfish, progress: Progress) -> Cells:
    """The runs that are done, each start with the moves that Stockfish needs from it."""
    cells: Cells = {(version, endgame): [] for version in VERSIONS for endgame in ENDGAMES}
    for endgame in ENDGAMES:
        begun = [
            (i, start)
            for i, start in enumerate(grid.starts(endgame))
            if any((grid.place(version, endgame, i) / "batch.npz").exists() for version in VERSIONS)
        ]
        moves = stockfish_moves([start for _, start in begun], stockfish, progress)
        for (i, start), alone in zip(begun, moves, strict=True):
            for version in VERSIONS:
                batch = grid.batch(version, endgame, i, start, stockfish)
                if len(batch.solutions):
                    cells[version, endgame].append((Start(start.state, start.exact, alone), batch))
    return cells


def solutions(runs: Sequence[tuple[Start, Batch]]) -> Iterator[tuple[Start, int | None]]:
    """The moves to mate of every run, None where it reached no solution."""
    for start, batch in runs:
        for moves in batch.solutions:
            yield start, int(moves) if moves >= 0 else None


def solved_table(cells: Cells, grid: Grid, stockfish: Stockfish, command: str) -> Table:
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
        f"Runs reaching a solution against {stockfish.version} at depth {stockfish.depth}, 95% intervals: {done} of "
        f"the {len(grid.tasks())} runs of {grid.plan.matches} matches are done so far, and the same command continues. "
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


def run(size: Size, seed: int, folder: Path, console: Console) -> Result:
    """Learn against Stockfish and make the paper's tables."""
    begin = time.perf_counter()
    plan, minutes = (QUICK, 2.0) if size.name == "quick" else (Plan(), float("inf"))
    command = f"rookery reproduce endgames-stockfish{size.flag} --seed {seed}"
    grid = Grid(folder, plan, seed)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with Stockfish() as stockfish, bar as progress:
        for endgame, material in ENDGAMES.items():
            write_text(folder / f"{material}.fen", "".join(f"{start.state}\n" for start in grid.starts(endgame)))
        learn_all(grid, minutes, cores(), progress)
        cells = results(grid, stockfish, progress)
        tables = [solved_table(cells, grid, stockfish, command), moves_table(cells, command)]
    title = "Chess endgames: Q-learning against Stockfish"
    return Result("endgames-stockfish", title, seed, tables, figures(cells), time.perf_counter() - begin)
