"""Solving chess endgames using Q learning (Boar, 2022): its tables and figures beside ours, and the exact distances.

The paper's opponent is Stockfish. Ours is the perfect defender from the exact tables, which needs no engine and gives
the agent the hardest task there is. What Stockfish itself would need from the same starts, and how often its moves are
the best ones, is measured where it is installed (not in quick runs).
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import Progress

from rookery.files import write_text
from rookery.games.endgames import perfect as perfect_endgames
from rookery.games.endgames.q_learning import (
    EXACT_MOVES,
    POTENTIAL,
    POTENTIAL_VERSIONS,
    VERSIONS,
    Batch,
    Engine,
    LearnedTable,
    Learners,
    Settings,
    perfect_engine,
    play_out,
    train,
    train_batch,
)
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.stockfish import EngineError, Stockfish
from rookery.games.endgames.tables import DistanceTable, tables
from rookery.registry import load
from rookery.report import plots
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import Exact, counted
from rookery.scale import Job, Task
from rookery.statistics import wilson_interval
from rookery.studies.sizes import Size

ENDGAMES = {"King and Queen": "KQK", "King and Rook": "KRK", "King and Bishops": "KBBK"}

PAPER_SOLVED = {
    "Stockfish Static": (100.0, 93.0, 82.0),
    "Stockfish Decaying": (100.0, 100.0, 100.0),
    "Heuristic Static": (99.0, 47.5, 5.0),
    "Heuristic Decaying": (100.0, 58.0, 7.0),
}
"""Table 3.2: percentage of runs reaching a solution, by endgame."""

PAPER_CASES = {
    ("A", "Stockfish Static"): "21 - 26 24 19 20 - 22 20 27",
    ("A", "Stockfish Decaying"): "25 27 27 23 15 23 23 21 20 22",
    ("A", "Heuristic Static"): "- - - - - - - - - -",
    ("A", "Heuristic Decaying"): "- - - - - - - - - -",
    ("B", "Stockfish Static"): "22 20 22 19 - 18 20 27 19 21",
    ("B", "Stockfish Decaying"): "20 22 21 24 13 19 16 23 24 20",
    ("B", "Heuristic Static"): "- - - - - - - - - -",
    ("B", "Heuristic Decaying"): "- - - - - 18 - - 28 -",
}
"""Table 3.1: moves to mate in runs 1 to 10. Stockfish itself drew case A and took 49 moves in case B."""

DEEP = 25
"""Depth at which the paper checks its special cases once more; 15 is the default."""

PARAMETER_SETS = ((0.05, 0.95, 0.003), (0.05, 0.9, 0.003), (0.05, 0.5, 0.003), (0.2, 0.95, 0.003), (0.05, 0.95, 0.03))
"""alpha, gamma and epsilon of Figure 3.1; the paper's text names the first two sets."""


@dataclass(frozen=True)
class Plan:
    """How much of it is run. The paper: 10 starts per endgame, 10 runs of 5000 matches."""

    starts: int = 10
    runs: int = 10
    matches: int = 5000
    sample: int = 0
    """Positions per endgame and side on which Stockfish's moves are checked; 0: no engine at all."""


PLANS = {"quick": Plan(runs=1), "default": Plan(sample=100), "full": Plan(sample=500)}


@dataclass(frozen=True)
class Start:
    """A start position, and the least number of moves in which White mates from it against the best defence."""

    state: EndgamesState
    exact: int
    stockfish: int | None = None
    """Moves in which Stockfish mates itself, where that was asked for and does not end in a draw."""


def start_positions(material: str, count: int, seed: int) -> list[Start]:
    """Random positions with White to move in which no two men stand on neighbouring squares, as the paper draws them,
    and which White wins, which the paper does not ask for."""
    game = load("endgames", None, material=material, fifty_move_rule=True)
    assert isinstance(game, Endgames)
    rng = random.Random(f"{seed} {material}")
    table = tables(material)
    found: list[Start] = []
    while len(found) < count:
        state = game.random_start(rng)
        distance = table.dtm(state)
        if state.player() == 0 and distance is not None and not _neighbours(state):
            found.append(Start(state, (distance + 1) // 2))
    return found


def _neighbours(state: EndgamesState) -> bool:
    men = [(i % 8, i // 8) for i, letter in enumerate(state.letters) if letter != "."]
    return any(max(abs(a - c), abs(b - d)) == 1 for i, (a, b) in enumerate(men) for c, d in men[:i])


def percent(count: int, total: int) -> str:
    """A share with its 95% interval (Wilson).

    >>> percent(7, 100), percent(100, 100)
    ('7.0% (3.4-13.7)', '100.0% (96.3-100.0)')
    """
    low, high = wilson_interval(count, total)
    return f"{100 * count / total:.1f}% ({100 * low:.1f}-{100 * high:.1f})"


class Grid:
    """Batches of runs by version of the agent and endgame, one batch per start."""

    def __init__(self, folder: Path, plan: Plan, seed: int, progress: Progress) -> None:
        self.folder, self.plan, self.seed, self.progress = folder, plan, seed, progress
        self.starts = {name: start_positions(material, plan.starts, seed) for name, material in ENDGAMES.items()}
        self.engines = {name: perfect_engine(tables(material).native) for name, material in ENDGAMES.items()}
        self.cells: Cells = {}

    def run(self, versions: Mapping[str, Settings], on: str = "here") -> None:
        """Do the cells that are not in the folder yet; each is a task that writes there."""
        total = len(versions) * len(ENDGAMES)
        task = self.progress.add_task("learning against the perfect defender", total=total)
        if on != "here":
            cells = [
                Task(f"{version}, {endgame}", f"{__name__}:do_cell",
                     {"folder": str(self.folder.resolve()), "plan": asdict(self.plan), "seed": self.seed,
                      "version": version, "settings": asdict(settings), "endgame": endgame})
                for version, settings in versions.items() for endgame in ENDGAMES
            ]  # fmt: skip
            for _ in Job({}, cells).run(on):
                self.progress.advance(task)
        for version, settings in versions.items():
            for endgame in ENDGAMES:
                self.cells[version, endgame] = self.cell(version, settings, endgame)
                self.progress.update(task, completed=len(self.cells))
        self.progress.remove_task(task)

    def cell(self, version: str, settings: Settings, endgame: str) -> list[tuple[Start, Batch]]:
        """The runs of a version from every start of an endgame; those in the folder are not made again."""
        return [
            (start, train_batch(
                self.folder / "runs" / slug(version) / ENDGAMES[endgame] / f"start-{i + 1:02}",
                start.state,
                settings,
                self.engines[endgame],
                opponent="perfect",
                matches=self.plan.matches,
                runs=self.plan.runs,
                seed=self.seed * 1000 + i,
                every_run=i == 0,
                about={EXACT_MOVES: start.exact},
            ))
            for i, start in enumerate(self.starts[endgame])
        ]  # fmt: skip

    def batches(self, versions: Iterable[str], endgames: Iterable[str]) -> list[tuple[Start, Batch]]:
        return together(self.cells, versions, endgames)

    def solved(self, version: str, endgame: str) -> tuple[int, int]:
        """Runs that reached a solution, and all runs."""
        found = np.concatenate([batch.solved for _, batch in self.cells[version, endgame]])
        return int(found.sum()), len(found)


def do_cell(
    folder: str, plan: dict[str, int], seed: int, version: str, settings: dict[str, Any], endgame: str
) -> dict[str, int]:
    """Do a cell as a task: its runs lie in the folder afterwards."""
    with Progress(disable=True) as progress:
        done = Grid(Path(folder), Plan(**plan), seed, progress).cell(version, Settings(**settings), endgame)
    return {"runs": sum(len(batch.solutions) for _, batch in done)}


def win_curve(batches: Iterable[tuple[Start, Batch]], solved_only: bool = False) -> npt.NDArray[np.float64]:
    """The mean percentage of matches won so far, after each match."""
    curves = [batch.win_percentage[batch.solved] if solved_only else batch.win_percentage for _, batch in batches]
    every = np.concatenate(curves)
    return every.mean(axis=0) if len(every) else np.full(every.shape[1], np.nan)


Reference = Literal["exact", "stockfish"]


def extra_moves(batches: Iterable[tuple[Start, Batch]], reference: Reference = "exact") -> npt.NDArray[np.int16]:
    """Moves to win of every match won, less the exact distance or those of Stockfish, where it wins."""
    known = [(getattr(start, reference), batch) for start, batch in batches]
    return np.concatenate([
        np.empty(0, np.int16), *(batch.moves[batch.won] - moves for moves, batch in known if moves is not None)
    ]).astype(np.int16)  # fmt: skip


Cells = dict[tuple[str, str], list[tuple[Start, Batch]]]
"""Starts and their runs by version of the agent and endgame."""


def together(cells: Cells, versions: Iterable[str], endgames: Iterable[str]) -> list[tuple[Start, Batch]]:
    endgames = list(endgames)
    return [pair for version in versions for endgame in endgames for pair in cells[version, endgame]]


def run(size: Size, seed: int, folder: Path, console: Console, on: str = "here") -> Result:
    """All of it; runs that are in `folder` already are not run again."""
    begin = time.perf_counter()
    plan = PLANS[size.name]
    command = f"rookery reproduce endgames{size.flag} --seed {seed}"
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        grid = Grid(folder, plan, seed, progress)
        more = {"Stockfish 1.01": replace(VERSIONS["Stockfish Static"], decay=1.01)}
        grid.run(VERSIONS | more | POTENTIAL_VERSIONS, on)
        found_tables = [solved_table(grid, command), quality_table(grid, command)]
        with _stockfish(plan, console) as stockfish:
            found_tables.append(cases_table(grid, stockfish, command, progress))
            if stockfish is not None:
                found_tables += [reference_table(grid, stockfish, command, progress)]
                found_tables += [optimality_table(plan, stockfish, seed, command, progress)]
        found_tables.append(beyond_table(grid, command, progress))
        found_tables.append(pawn_table(plan, seed, command, progress))
        learned = learn_perfectly(size, seed, progress)
        found_tables.append(perfection_table(learned, command))
        figures = [
            parameter_figure(grid, progress),
            decay_figure(grid),
            endgames_figure(grid.cells),
            agents_figure(grid.cells),
            potential_figure(grid),
            perfection_figure(learned),
        ]
    for number, figure in zip(("3.1", "3.2", "3.4", "3.5", "potential", "perfection"), figures, strict=True):
        write_text(folder / f"figure-{number}.svg", figure.svg)
    figures[2:2] = examples_figures(grid)
    return Result(
        "endgames",
        "Chess endgames: Q-learning beside the exact distance to mate",
        seed,
        found_tables,
        figures,
        time.perf_counter() - begin,
        conclusion=conclusion(grid, learned),
        claims=claims(grid),
        settings={"starts": plan.starts, "runs": plan.runs, "matches": plan.matches, "opponent": "perfect defender"},
    )


def solved_shares(grid: Grid, version: str) -> str:
    """The percentages of runs that reached a solution, by endgame."""
    found = [grid.solved(version, endgame) for endgame in ENDGAMES]
    return ", ".join(f"{100 * count / total:.0f}%" for count, total in found)


def claims(grid: Grid) -> list[Claim]:
    """The paper's two findings: its reward by Stockfish learns to mate, that by simple features does not."""
    best, simple, potential = "Stockfish Decaying", "Heuristic Decaying", "Potential Decaying"
    found = [grid.solved(best, endgame) for endgame in ENDGAMES]
    distances = [np.mean([start.exact for start in starts]) for starts in grid.starts.values()]
    weak, strong = (grid.solved(version, "King and Bishops") for version in (simple, potential))
    return [
        Claim(
            "Q-learning rewarded by an engine learns to mate with queen, rook, and two bishops: 100% of runs",
            f"{solved_shares(grid, best)}; {_optimal(grid, best)} of the mates are shortest",
            Exact(f"mate in {', '.join(f'{distance:.1f}' for distance in distances)} moves"),
            "holds" if all(count == total for count, total in found) else "in part",
            "Against the perfect defender, where the paper has Stockfish.",
        ),
        Claim(
            f"With a reward of simple features it does not: {PAPER_SOLVED[simple][2]:g}% of runs with bishops",
            f"{100 * weak[0] / weak[1]:.0f}%; as a potential {100 * strong[0] / strong[1]:.0f}%",
            Exact("every start can be won"),
            "in part" if strong[0] > weak[0] else "holds",
            "True of the reward, not of the features: used as a potential, the same two suffice.",
        ),
    ]


def _optimal(grid: Grid, version: str) -> str:
    """The share of all solutions that need not one move more than the exact distance."""
    pairs = grid.batches([version], ENDGAMES)
    extra = [int(moves) - start.exact for start, batch in pairs for moves in batch.solutions[batch.solved]]
    return f"{100 * extra.count(0) / max(1, len(extra)):.0f}%"


def conclusion(grid: Grid, learned: dict[str, list[perfect_endgames.Point]]) -> str:
    return (
        "Runs that reach a mate, with queen, rook and two bishops: "
        f"{solved_shares(grid, 'Stockfish Decaying')} by the engine's reward, "
        f"{solved_shares(grid, 'Heuristic Decaying')} by the paper's heuristic reward, and "
        f"{solved_shares(grid, 'Potential Decaying')} by a potential of the same two quantities. The paper's order of "
        f"agents and endgames comes out again. {_optimal(grid, 'Stockfish Decaying')} of the mates of the first are as "
        "short as can be, and none is shorter than the exact distance. Q-learning from all positions at once plays "
        f"every won position of {' and '.join(name for name, curve in learned.items() if curve[-1].optimal == 1)} "
        "perfectly."
    )


@contextmanager
def _stockfish(plan: Plan, console: Console) -> Iterator[Stockfish | None]:
    """The engine, or None with a remark if it is not to be used or cannot be."""
    if not plan.sample:
        yield None
        return
    try:
        stockfish = Stockfish()
        console.print(f"comparing with {stockfish.version}, depth {stockfish.depth}", highlight=False)
    except EngineError as error:
        console.print(f"no comparison with Stockfish: {error}")
        yield None
        return
    with stockfish:
        yield stockfish


def solved_table(grid: Grid, command: str) -> Table:
    rows = []
    for version in (*VERSIONS, *POTENTIAL_VERSIONS):
        row = [version]
        for i, endgame in enumerate(ENDGAMES):
            paper = f"{PAPER_SOLVED[version][i]:.1f}%" if version in PAPER_SOLVED else "-"
            row += [paper, percent(*grid.solved(version, endgame))]
        rows.append(row)
    columns = ["agent", *(f"{name} ({who})" for name in ENDGAMES for who in ("paper", "ours"))]
    note = (
        f"Ours: {grid.plan.starts} starts per endgame, {counted(grid.plan.runs, 'run')} each, "
        f"{grid.plan.matches} matches, "
        "against the perfect defender; 95% intervals. Starts are drawn as the paper says, and kept if White wins them. "
        "A run has reached a solution if its table, without exploration, mates. Where the paper rewards by Stockfish's "
        "evaluation, ours takes the exact distance for its 'mate in n'. The potential knows no more than the heuristic "
        "reward: the king's area and the distance of the kings."
    )
    return Table("Table 3.2: percentage of runs reaching a solution", columns, rows, command, note)


def quality_table(grid: Grid, command: str) -> Table:
    rows = []
    for version in (*VERSIONS, *POTENTIAL_VERSIONS):
        for endgame in ENDGAMES:
            batches = list(grid.batches([version], [endgame]))
            extra = [int(m) - start.exact for start, batch in batches for m in batch.solutions[batch.solved]]
            rows.append([
                version,
                endgame,
                f"{win_curve(batches)[-1]:.1f}%",
                f"{np.mean([batch.won[:, -500:].mean() for _, batch in batches]):.1%}",
                f"{np.mean(extra):.2f}" if extra else "-",
                percent(extra.count(0), len(extra)) if extra else "-",
            ])  # fmt: skip
    note = (
        "Moves more than the exact distance: 0 is perfect play from the start, and against this opponent less is "
        "impossible. 'Optimal' is the share of solutions that need not one move more."
    )
    columns = ["agent", "endgame", "won, all matches", "won, last 500", "moves more than exact", "optimal"]
    return Table("How good the solutions are", columns, rows, command, note)


def cases_table(grid: Grid, stockfish: Stockfish | None, command: str, progress: Progress) -> Table:
    """The two starts with bishops that give Stockfish most trouble, or else the two that take longest."""
    endgame = "King and Bishops"
    starts = grid.starts[endgame]
    if stockfish is None:
        own: list[int | None] = [None] * len(starts)
        order = sorted(range(len(starts)), key=lambda i: -starts[i].exact)[:2]
        deep = own
    else:
        own = stockfish_moves(starts, stockfish, progress)
        order = sorted(range(len(starts)), key=lambda i: -(1000 if own[i] is None else own[i] - starts[i].exact))[:2]  # type: ignore[operator]
        with Stockfish(DEEP, stockfish.path, stockfish.cache) as deeper:
            deep = stockfish_moves([starts[i] for i in order], deeper, progress)
    rows = []
    for case, i, at_depth in zip("AB", order, deep, strict=False):
        itself = [] if stockfish is None else [str(own[i] or "-"), str(at_depth or "-")]
        for version in (*VERSIONS, *POTENTIAL_VERSIONS):
            moves = [str(m) if m >= 0 else "-" for m in grid.cells[version, endgame][i][1].solutions]
            paper = PAPER_CASES.get((case, version), "")
            rows.append([f"{version} {case}", Exact(starts[i].exact), *itself, " ".join(moves), paper])
    note = (
        "Moves to mate in each run, '-' where it reached no solution. The paper does not give its positions: ours are "
        + (
            "the two on which Stockfish, playing itself, does worst beside the exact distance"
            if stockfish
            else "the two with the longest exact distance, no engine having been asked"
        )
        + f": A is {starts[order[0]].state}, B is {starts[order[1]].state}. Stockfish itself drew the paper's A and "
        f"took 49 moves for its B, and solved them in 14 and 18 moves at depth {DEEP}: the exact distance is never "
        "more than 19 with two bishops."
    )
    itself = [] if stockfish is None else ["Stockfish", f"at depth {DEEP}"]
    columns = ["agent and case", "exact", *itself, f"ours, {counted(grid.plan.runs, 'run')}", "paper's runs"]
    return Table("Table 3.1: special cases", columns, rows, command, note)


def stockfish_moves(starts: Sequence[Start], stockfish: Stockfish, progress: Progress) -> list[int | None]:
    """The paper's reference: moves that Stockfish needs against itself."""
    engine = stockfish.native()
    task = progress.add_task("Stockfish plays itself", total=len(starts))
    found = []
    for start in starts:
        found.append(play_out(start.state, engine, engine))
        progress.advance(task)
    progress.remove_task(task)
    return found


def reference_table(grid: Grid, stockfish: Stockfish, command: str, progress: Progress) -> Table:
    """Stockfish from the same starts, and our solutions relative to it."""
    rows = []
    for endgame, starts in grid.starts.items():
        engine = stockfish.native()
        alone = stockfish_moves(starts, stockfish, progress)
        task = progress.add_task("Stockfish attacks the perfect defender", total=len(starts))
        against = []
        for start in starts:
            against.append(play_out(start.state, engine, grid.engines[endgame]))
            progress.advance(task)
        progress.remove_task(task)
        ours = [
            (int(moves), start, reference)
            for (start, batch), reference in zip(grid.batches(["Stockfish Decaying"], [endgame]), against, strict=True)
            for moves in batch.solutions[batch.solved]
        ]
        better = sum(reference is None or moves < reference for moves, _, reference in ours)
        optimal = sum(moves == start.exact for moves, start, _ in ours)
        rows.append([
            endgame,
            Exact(f"{np.mean([start.exact for start in starts]):.1f}"),
            mean_or_draws(alone),
            mean_or_draws(against),
            percent(better, len(ours)),
            percent(optimal, len(ours)),
        ])  # fmt: skip
    note = (
        f"{stockfish.version} at depth {stockfish.depth}, {grid.plan.starts} starts per endgame. 'Ours better' is "
        "the share of the Stockfish Decaying agent's solutions that mate the perfect defender in fewer moves than "
        "Stockfish does. That is no paradox: Stockfish is far from the exact distance, and the agent never beats that."
    )
    columns = [
        "endgame", "exact", "Stockfish v itself", "Stockfish v perfect defender", "ours better than Stockfish",
        "ours optimal",
    ]  # fmt: skip
    return Table("Moves to mate: exact, Stockfish and ours", columns, rows, command, note)


def mean_or_draws(moves: Sequence[int | None]) -> str:
    """The mean of the games won, and how many were drawn (None)."""
    won = [m for m in moves if m is not None]
    drawn = len(moves) - len(won)
    return (f"{np.mean(won):.1f}" if won else "-") + (f" and {drawn} drawn" if drawn else "")


def optimality_table(plan: Plan, stockfish: Stockfish, seed: int, command: str, progress: Progress) -> Table:
    """How often Stockfish's move is one of the best, and what its "mate in n" is worth."""
    rows = []
    engine = stockfish.native()
    for endgame, material in ENDGAMES.items():
        table = tables(material)
        task = progress.add_task(f"Stockfish on {material}", total=2 * plan.sample)
        row = [endgame]
        announced = too_long = too_short = 0
        for player in (0, 1):
            best = total = 0
            for state in won_positions(material, player, plan.sample, seed):
                action, mate, score = engine.ask(state)
                best += action in table.best_moves(state)
                total += 1
                exact = (abs(table.dtm(state) or 0) + 1) // 2
                announced += mate
                too_long += mate and score > exact
                too_short += mate and score < exact
                progress.advance(task)
            row.append(percent(best, total))
        progress.remove_task(task)
        row += [percent(announced, 2 * plan.sample), percent(too_long, max(announced, 1)), str(too_short)]
        rows.append(row)
    note = (
        f"{stockfish.version} at depth {stockfish.depth} on {plan.sample} random won positions per endgame and side to "
        "move. So neither its attack nor its defence is perfect, and its 'mate in n' is an upper bound only. That is "
        "why 'better than Stockfish' is measured here against the exact distance."
    )
    columns = ["endgame", "attack optimal", "defence optimal", "sees a mate", "of these too long", "too short"]
    return Table("What the paper could not see: Stockfish beside the exact tables", columns, rows, command, note)


def won_positions(material: str, player: int, count: int, seed: int) -> Iterator[EndgamesState]:
    """Random positions in which White mates, with a choice of moves."""
    game = Endgames(material)
    rng = random.Random(f"{seed} {material} {player}")
    table = tables(material)
    while count:
        state = game.random_start(rng)
        if state.player() == player and table.dtm(state) is not None and len(state.legal_actions()) > 1:
            count -= 1
            yield state


def beyond_table(grid: Grid, command: str, progress: Progress) -> Table:
    """Black learns, and both learn against each other."""
    plan = grid.plan
    rows = []
    task = progress.add_task("both sides learn", total=2 * len(ENDGAMES) * plan.starts)
    for endgame, material in ENDGAMES.items():
        table, engine = tables(material), grid.engines[endgame]
        both_ways: tuple[Learners, ...] = ("weak", "both")
        for learners in both_ways:
            first, last, exact, kept, moves_of_black, mated = [], [], [], 0, 0, []
            for i, start in enumerate(grid.starts[endgame]):
                runs = train(
                    start.state, POTENTIAL, engine, learners=learners, matches=plan.matches, runs=plan.runs,
                    seed=grid.seed * 1000 + 500 + i,
                )  # fmt: skip
                for run in runs:
                    first.append(float(run.moves[:100].mean()))
                    last.append(float(run.moves[-100:].mean()))
                    exact.append(start.exact)
                    good, all_moves = best_move_share(start.state, run.tables["weak"], table)
                    kept, moves_of_black = kept + good, moves_of_black + all_moves
                    if learners == "both":
                        mated.append(bool(run.won[-100:].mean() >= 0.5))
                progress.advance(task)
            rows.append([
                endgame,
                "Black, against perfect attack" if learners == "weak" else "both, against each other",
                f"{np.mean(first):.1f}",
                f"{np.mean(last):.1f}",
                Exact(f"{np.mean(exact):.1f}"),
                percent(kept, moves_of_black),
                percent(sum(mated), len(mated)) if mated else "-",
            ])  # fmt: skip
    progress.remove_task(task)
    note = (
        f"{plan.starts} starts, {counted(plan.runs, 'run')}, {plan.matches} matches. White's moves until the end of "
        "the match, in the first and the last 100 matches. Black's best moves: share of optimal moves of the learned "
        "defence along its game against perfect attack. White wins: runs in which White mates in half or more of the "
        "last 100."
    )
    columns = ["endgame", "who learns", "first 100", "last 100", "exact", "Black's best moves", "White wins"]
    return Table("Beyond the paper: Black learns too", columns, rows, command, note)


def best_move_share(start: EndgamesState, weak: LearnedTable, table: DistanceTable) -> tuple[int, int]:
    """Best moves and all moves of a learned defence against perfect attack."""
    state = start.clone()
    good = total = 0
    while state.player() >= 0:
        best = table.best_moves(state)
        if state.player() == 1 - start.strong:
            values = weak.values(state)
            action = max(values, key=values.__getitem__) if values else state.legal_actions()[0]
            good, total = good + (action in best), total + 1
        else:
            action = best[0]
        state.apply(action)
    return good, total


def pawn_table(plan: Plan, seed: int, command: str, progress: Progress) -> Table:
    """King and pawn: White learns to win won positions, Black learns to hold drawn ones."""
    game = Endgames("KPK", fifty_move_rule=True)
    table = tables("KPK")
    engine = perfect_engine(table.native)
    rng = random.Random(f"{seed} pawns")
    won: list[EndgamesState] = []
    drawn: list[EndgamesState] = []
    while len(won) < plan.starts or len(drawn) < plan.starts:
        state = game.random_start(rng)
        kind = drawn if table.dtm(state) is None else won
        if state.player() == 0 and len(kind) < plan.starts and not _neighbours(state):
            kind.append(state)
    rows = []
    tasks: list[tuple[str, list[EndgamesState], Learners, str]] = [
        ("White wins won positions", won, "strong", "Stockfish Decaying"),
        ("White wins won positions", won, "strong", "Heuristic Decaying"),
        ("Black holds drawn ones", drawn, "weak", "Potential Decaying"),
        ("Black holds drawn ones, learning against a learner", drawn, "both", "Potential Decaying"),
    ]
    task = progress.add_task("king and pawn", total=len(tasks) * plan.starts)
    for name, starts, learners, version in tasks:
        settings = (VERSIONS | POTENTIAL_VERSIONS)[version]
        able = total = 0
        last = []
        for i, start in enumerate(starts):
            for run in train(
                start, settings, engine, learners=learners, matches=plan.matches, runs=plan.runs,
                seed=seed * 1000 + 700 + i,
            ):  # fmt: skip
                able += run.solution is not None if learners == "strong" else holds(start, run.tables["weak"], engine)
                total += 1
                last.append(float((run.won if learners == "strong" else ~run.won)[-500:].mean()))
            progress.advance(task)
        rows.append([name, version, percent(able, total), f"{np.mean(last):.1%}"])
    progress.remove_task(task)
    note = (
        f"{plan.starts} starts each, {counted(plan.runs, 'run')}, {plan.matches} matches. Rows 1 to 3 are learned "
        "against perfect play, which in a drawn position always sets the hardest problem: of the moves that draw, the "
        "one after which the smallest share of the replies holds. A run can hold a position if its table does so "
        "against that."
    )
    columns = ["task", "agent", "runs that can do it", "done in the last 500 matches"]
    return Table("Beyond the paper: pawns, and playing for the draw", columns, rows, command, note)


def holds(start: EndgamesState, weak: LearnedTable, engine: Engine) -> bool:
    """Does a learned defence, without exploration, keep the draw against the engine?"""
    state = start.clone()
    while state.player() >= 0:
        if state.player() == start.strong:
            action = engine.ask(state)[0]
        else:
            values = weak.values(state)
            action = max(values, key=values.__getitem__) if values else state.legal_actions()[0]
        state.apply(action)
    return state.ending != "checkmate"


def _matches(curve: npt.NDArray[np.float64]) -> tuple[Sequence[float], Sequence[float]]:
    """A curve as plotted: 250 points are enough for the eye."""
    places = np.unique(np.linspace(0, len(curve) - 1, 250).astype(int))
    return (places + 1).tolist(), curve[places].tolist()


def learn_perfectly(size: Size, seed: int, progress: Progress) -> dict[str, list[perfect_endgames.Point]]:
    """Q-learning from all positions, until every one is played perfectly."""
    materials = {"quick": ("KQK", "KRK"), "default": ("KQK", "KRK", "KBBK")}.get(size.name, perfect_endgames.MATERIALS)
    task = progress.add_task("learning until perfect", total=len(materials))
    curves = {}
    for material in materials:
        curves[material] = perfect_endgames.learn(Endgames(material), perfect_endgames.Settings(), seed)
        progress.advance(task)
    return curves


def perfection_table(learned: dict[str, list[perfect_endgames.Point]], command: str) -> Table:
    rows = []
    for material, curve in learned.items():
        last = curve[-1]
        shares = [
            next((f"{point.backups / 1e6:,.1f} M" for point in curve if point.optimal >= share), "-")
            for share in (0.5, 0.9, 0.99, 1.0)
        ]
        rows.append([material, *shares, f"{last.optimal:.3%}", f"{last.exact:.3%}", f"{last.seconds:.1f}"])
    note = (
        "Backups until the given share of all won positions is played optimally, judged by the exact tables: in each "
        "of these, every move of greatest value mates as fast as possible. At the end every value is exactly "
        "0.95^(moves to mate - 1). The reward is 1 for mate and nothing else, the learning rate 1."
    )
    columns = ["endgame", "50%", "90%", "99%", "100%", "optimal at the end", "values exact", "seconds"]
    return Table("Beyond the paper: learning that ends in perfection", columns, rows, command, note)


def perfection_figure(learned: dict[str, list[perfect_endgames.Point]]) -> Figure:
    def paint(figure: Any) -> None:
        curves = {
            material: (
                [point.backups / curve[-1].backups for point in curve],
                [100 * point.optimal for point in curve],
            )
            for material, curve in learned.items()
        }
        plots.lines(figure.subplots(), curves, "backups, as a share of those until perfection", "played optimally (%)")

    return _chart(plots.draw(paint, 7.0, 3.2), "Beyond the paper: the share of won positions played optimally.")


def _chart(svg: str, caption: str) -> Figure:
    return Figure(svg, caption, wide=True)


Samples = Mapping[str, npt.NDArray[np.int16]]


def _panels(
    curves: Sequence[tuple[str, Mapping[str, npt.NDArray[np.float64]]]],
    samples: Sequence[tuple[str, Samples]],
    low: int,
    high: int,
    reference: Reference = "exact",
) -> str:
    """Win percentages over matches, then the moves to win."""
    less = "the exact distance" if reference == "exact" else "those of Stockfish"

    def paint(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1)
        for axes, (title, lines) in zip(np.atleast_1d(top.subplots(1, len(curves), sharey=True)), curves, strict=True):
            plots.lines(axes, {k: _matches(v) for k, v in lines.items()}, "matches", "won so far (%)", title)
            axes.set_ylim(0, 102)
        places = np.atleast_1d(bottom.subplots(1, len(samples), sharey=True))
        for axes, (title, found) in zip(places, samples, strict=True):
            label, step = f"moves to win, less {less}", 5 if len(samples) > 1 else 1
            plots.histogram(axes, found, low, high, label, "share of wins (%)", title, step)

    return plots.draw(paint, 8.0, 6.2)


def parameter_figure(grid: Grid, progress: Progress) -> Figure:
    """Figure 3.1: sets of parameters on one start with king and queen."""
    curves, samples = {}, {}
    start = grid.starts["King and Queen"][0]
    task = progress.add_task("sets of parameters", total=len(PARAMETER_SETS))
    for alpha, gamma, epsilon in PARAMETER_SETS:
        name = f"[{alpha}, {gamma}, {epsilon}]"
        batch = train_batch(
            grid.folder / "runs" / "parameters" / f"alpha-{alpha}-gamma-{gamma}-epsilon-{epsilon}",
            start.state,
            Settings("stockfish", alpha=alpha, gamma=gamma, epsilon=epsilon),
            grid.engines["King and Queen"],
            opponent="perfect",
            matches=2 * grid.plan.matches,
            runs=grid.plan.runs,
            seed=grid.seed * 1000,
        )
        curves[name], samples[name] = win_curve([(start, batch)]), extra_moves([(start, batch)])
        progress.advance(task)
    progress.remove_task(task)
    caption = (
        "Figure 3.1: [alpha, gamma, epsilon] compared, one start with king and queen, Stockfish reward, static "
        "exploration. Where curves lie on one another the sets do not differ."
    )
    return _chart(_panels([("", curves)], [("", samples)], 0, 10), caption)


def decay_figure(grid: Grid) -> Figure:
    names = {"static": "Stockfish Static", "/ 1.1^wins": "Stockfish Decaying", "/ 1.01^wins": "Stockfish 1.01"}
    caption = "Figure 3.2: decay of the exploration rate by endgame, Stockfish reward."
    return _by_endgame(grid, names, 15, caption)


def _by_endgame(grid: Grid, names: Mapping[str, str], high: int, caption: str) -> Figure:
    """Agents compared on each endgame."""
    curves = [
        (endgame, {name: win_curve(grid.batches([version], [endgame])) for name, version in names.items()})
        for endgame in ENDGAMES
    ]
    samples = [
        (endgame, {name: extra_moves(grid.batches([version], [endgame])) for name, version in names.items()})
        for endgame in ENDGAMES
    ]
    return _chart(_panels(curves, samples, 0, high), caption)


def examples_figures(grid: Grid) -> list[Figure]:
    """Figure 3.3: a start of each endgame."""
    return [
        Figure(starts[0].state.svg(), f"Figure 3.3: {endgame}, mate in {starts[0].exact}: {starts[0].state}")
        for endgame, starts in grid.starts.items()
    ]


_GROUPS = (("all runs", False), ("runs that reached a solution", True))


def endgames_figure(cells: Cells, reference: Reference = "exact") -> Figure:
    """Figure 3.4."""
    groups = {endgame: together(cells, VERSIONS, [endgame]) for endgame in ENDGAMES}
    return _compared(groups, reference, "Figure 3.4: the endgames compared, the paper's four agents together.")


def agents_figure(cells: Cells, reference: Reference = "exact") -> Figure:
    """Figure 3.5."""
    groups = {version: together(cells, [version], ENDGAMES) for version in VERSIONS}
    return _compared(groups, reference, "Figure 3.5: the agents compared, all endgames together.")


def _compared(groups: Mapping[str, list[tuple[Start, Batch]]], reference: Reference, caption: str) -> Figure:
    curves = [(title, {name: win_curve(runs, only) for name, runs in groups.items()}) for title, only in _GROUPS]
    samples = {name: extra_moves(runs, reference) for name, runs in groups.items()}
    return _chart(_panels(curves, [("", samples)], 0 if reference == "exact" else -10, 20, reference), caption)


def potential_figure(grid: Grid) -> Figure:
    names = {"paper's rewards": "Heuristic Decaying", "potential": "Potential Decaying"}
    caption = "Beyond the paper: the heuristic's two quantities as relative rewards and as a potential."
    return _by_endgame(grid, names, 20, caption)


def slug(name: str) -> str:
    return name.lower().replace(" ", "-")
