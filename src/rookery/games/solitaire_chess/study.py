"""Solitaire Chess: a learned ranking of captures inside backtracking, beside the paper's and a perfect one.

The paper trained a deep Q-network to rank the captures that backtracking tries, and compared the positions explored.
Its puzzles are not to be had; the study runs on 80 of our own, 20 per level. Puzzles in a file of the reader's are
measured too: the environment variable `ROOKERY_PUBLISHED_PUZZLES` names a CSV file with columns `rows` and `final`.
"""

from __future__ import annotations

import csv
import itertools
import os
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rookery.game import play_out
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import capture_tree, solve
from rookery.games.solitaire_chess.puzzles import GradedPuzzle, make_puzzles, make_solo_puzzles, pack
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.games.solitaire_chess.search import Method, Order, search
from rookery.games.solitaire_chess.search_tree import search_tree_svg
from rookery.progress import steps
from rookery.report import plots
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import Exact
from rookery.studies.sizes import Size

PAPER_PUZZLE = ".RN./B.P./..../...."
"""The paper's puzzle 2, whose trees it draws."""

TIED_PUZZLE = "B.../R..N/.N../...."
"""The paper's puzzle 5, read off the thirteen boards of its Figure 5; its G is a knight, as its captures show."""

PUBLISHED = "ROOKERY_PUBLISHED_PUZZLES"


@dataclass(frozen=True)
class Way:
    """One way to search."""

    name: str
    method: Method
    order: Order
    prune: bool = False
    look_ahead: bool = True


@dataclass(frozen=True)
class Measured:
    """Positions entered for each puzzle of a list."""

    way: Way
    states: list[int]
    looked_at: list[int]
    """Positions that the ranker looked at without entering them."""
    right: int
    """Puzzles whose only possible last piece and square were found."""

    def row(self, baseline: Measured, pieces: Sequence[int]) -> list[str]:
        states, base = np.array(self.states), np.array(baseline.states)
        straight, better = float(np.mean(states == pieces)), int(np.sum(states > base))
        low, high = _ratio_interval(states, base)
        interval = f" ({low:.3f} to {high:.3f})" if low < high else ""
        return [
            self.way.name,
            f"{states.mean():.1f}",
            f"{np.mean(self.looked_at):.1f}",
            f"{states.mean() / base.mean():.3f}{interval}",
            f"{straight:.0%}",
            f"{better}",
            f"{self.right}/{len(states)}",
        ]


COLUMNS = [
    "search", "mean positions", "looked at besides", "ratio to backtracking (95%)", "no backtrack", "puzzles worse",
    "right final",
]  # fmt: skip


def _ratio_interval(states: np.ndarray, base: np.ndarray) -> tuple[float, float]:
    """Bootstrap over puzzles."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(states), (2000, len(states)))
    ratios = states[chosen].mean(axis=1) / base[chosen].mean(axis=1)
    low, high = np.percentile(ratios, [2.5, 97.5])
    return float(low), float(high)


def ways(rankers: Mapping[str, Order]) -> list[Way]:
    """The paper's backtracking first, then the same without learning, then three searches for each ranker; for the
    paper's own only the one that the paper has."""
    plain = [
        Way("the paper's backtracking", "dfs", "paper"),
        Way("backtracking with memory", "dfs-tt", "paper"),
        Way("the same, pruned", "dfs-tt", "paper", prune=True),
    ]
    for name, ranker in rankers.items():
        if name == "paper-dqn":
            plain.append(Way("paper-dqn ranking, depth first", "dfs", ranker, look_ahead=False))
            continue
        plain += [
            Way(f"{name} ranking, depth first", "dfs", ranker),
            Way(f"{name} ranking with memory", "dfs-tt", ranker),
            Way(f"{name} best first", "best-first", ranker),
        ]
    return plain


def measure(way: Way, states: Sequence[SolitaireChessState], finals: Sequence[str]) -> Measured:
    """Solve every puzzle."""
    counts, looked_at, right = [], [], 0
    for state, final in zip(states, finals, strict=True):
        found = search(state, way.method, way.order, way.prune, look_ahead=way.look_ahead)
        counts.append(found.states)
        looked_at.append(found.looked_at)
        at = state.clone()
        for move in found.moves or []:
            at.apply(move)
        cell, kind = next((cell, kind) for cell, kind in enumerate(at.kinds) if kind >= 0)
        right += found.moves is not None and final == "KQRBNP"[kind] + state.game.cell_name(cell)
    return Measured(way, counts, looked_at, right)


def run(size: Size, seed: int, folder: Path, console: Console) -> Result:
    """All tables and figures."""
    begin = time.perf_counter()
    game = SolitaireChess()
    rankers: dict[str, Order] = {
        method: capture_ranker.load(capture_ranker.shipped(game, method)) for method in capture_ranker.METHODS
    }
    command = f"rookery reproduce solitaire-chess{size.flag} --seed {seed}"
    puzzles: list[GradedPuzzle] = list(pack())
    states = [game.parse_state(puzzle.rows) for puzzle in puzzles]
    finals, pieces = [puzzle.final for puzzle in puzzles], [puzzle.pieces for puzzle in puzzles]
    measured = [measure(way, states, finals) for way in steps(ways(rankers), "80 puzzles", console)]
    chosen = {m.way.name: m for m in measured}
    base = measured[0]
    compared = {"backtracking": base} | {f"{name} ranking": chosen[f"{name} ranking, depth first"] for name in rankers}
    note = (
        "The paper says that its ranking is bounded above by the baseline and guaranteed never to be worse. It is not: "
        "the column counts the puzzles on which a search enters more positions than plain backtracking. It gives 100% "
        "accuracy as a result; a complete search has that by construction, so the share of puzzles solved without a "
        f"single step back says more. The least possible, one position per piece, has the ratio "
        f"{np.mean(pieces) / np.mean(base.states):.3f}. paper-dqn learned as the paper describes it and ranks by "
        "its values alone; dqn learned from play alone too, in our improved way; taught learned from exact answers to "
        "other puzzles. The last two also look one capture ahead; the positions they look at are not entered, and "
        "counted beside."
    )
    tables = [
        Table("Positions entered on 80 generated puzzles", COLUMNS, [m.row(base, pieces) for m in measured], command,
              note),
        _by_level(puzzles, compared, command),
        _random_boards(game, rankers, seed, command),
        _tie(game, rankers, command),
        _speed(states, seed, command),
    ]  # fmt: skip
    if os.environ.get(PUBLISHED):
        tables.append(_published(Path(os.environ[PUBLISHED]), game, rankers, command, console))
    if size.name != "quick":
        tables.append(_solo(20 if size.name == "default" else 100, seed, command, console))
    return Result(
        "solitaire-chess", "Solitaire Chess: a learned ranking inside search", seed, tables,
        [*_trees(game, rankers), _curves(puzzles, compared)], time.perf_counter() - begin,
        conclusion=_conclusion(chosen, base, pieces), claims=_claims(chosen, base, pieces),
    )  # fmt: skip


PAPERS_RANKING = "paper-dqn ranking, depth first"


def _ratio(measured: Measured, base: Measured) -> float:
    return float(np.mean(measured.states) / np.mean(base.states))


def _worse(measured: Measured, base: Measured) -> int:
    return sum(count > plain for count, plain in zip(measured.states, base.states, strict=True))


def _claims(chosen: Mapping[str, Measured], base: Measured, pieces: Sequence[int]) -> list[Claim]:
    learned = chosen[PAPERS_RANKING]
    low, high = _ratio_interval(np.array(learned.states), np.array(base.states))
    least, worse = float(np.mean(pieces) / np.mean(base.states)), _worse(learned, base)
    return [
        Claim(
            "A learned ranking of captures explores fewer positions than backtracking",
            f"{_ratio(learned, base):.2f} of the positions ({low:.2f} to {high:.2f})",
            Exact(f"{least:.3f}, without one step back"),
            "holds" if high < 1 else "in part",
            f"Memory and pruning, without learning, come to {_ratio(chosen['the same, pruned'], base):.2f}.",
        ),
        Claim(
            "It is never worse than backtracking, puzzle by puzzle",
            f"worse on {worse} of {len(pieces)} puzzles",
            "no such bound exists",
            "fails" if worse else "holds",
            "A ranking that errs early enters more positions than none.",
        ),
    ]


def _conclusion(chosen: Mapping[str, Measured], base: Measured, pieces: Sequence[int]) -> str:
    learned, best = chosen[PAPERS_RANKING], chosen["dqn best first"]
    return (
        f"Learned as the paper describes it, the ranking enters {_ratio(learned, base):.2f} of the positions that "
        f"plain backtracking enters on {len(pieces)} puzzles, and more than it on {_worse(learned, base)} of them: the "
        "guarantee that it is never worse does not exist. A memory of positions and a test for dead ends, which learn "
        f"nothing, come to {_ratio(chosen['the same, pruned'], base):.3f}. Our network, which learns from what it "
        f"takes back, comes to {_ratio(best, base):.3f} in best-first search, where "
        f"{np.mean(pieces) / np.mean(base.states):.3f} is the least possible."
    )


def _published(file: Path, game: SolitaireChess, rankers: Mapping[str, Order], command: str, console: Console) -> Table:
    """The first table on puzzles that are not ours to ship."""
    try:
        rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        states, finals = [game.parse_state(row["rows"]) for row in rows], [row["final"] for row in rows]
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise ValueError(f"{PUBLISHED} must name a CSV file with columns rows and final: {error}") from None
    if not states:
        raise ValueError(f"{PUBLISHED} names a file without puzzles")
    pieces = [state.pieces for state in states]
    measured = [measure(way, states, finals) for way in steps(ways(rankers), "published puzzles", console)]
    note = f"The {len(states)} puzzles of {file.name}, which {PUBLISHED} names. No ranker has learned from them."
    title = f"Positions entered on {len(states)} published puzzles"
    return Table(title, COLUMNS, [m.row(measured[0], pieces) for m in measured], command, note)


def random_boards(game: SolitaireChess, count: int, seed: int) -> list[SolitaireChessState]:
    """Random boards with one possible last piece and square, with any number of solutions."""
    rng = random.Random(seed)
    drawn = (game.random_start(rng) for _ in itertools.count())
    return list(itertools.islice((state for state in drawn if len(capture_tree(state).finals) == 1), count))


def _random_boards(game: SolitaireChess, rankers: Mapping[str, Order], seed: int, command: str) -> Table:
    """The learned searches beside the least number of positions on boards that nobody made hard."""
    states = random_boards(game, 200, seed)
    pieces = np.array([state.pieces for state in states])
    rows = []
    for name in ("dqn", "taught"):
        depth_first = np.array([search(state, "dfs", rankers[name]).states for state in states])
        methods: dict[str, Method] = {"depth first": "dfs", "with memory": "dfs-tt", "best first": "best-first"}
        for label, method in methods.items():
            counts = np.array([search(state, method, rankers[name]).states for state in states])
            rows.append(
                [f"{name}, {label}", f"{counts.sum():,}", f"{counts.sum() / pieces.sum():.4f}",
                 str((counts == pieces).sum()), str((counts > depth_first).sum())]
            )  # fmt: skip
    columns = ["search", "positions", "ratio to the least", "straight to a solution", "more than depth first"]
    note = f"Boards of 4 to 8 pieces; the least possible is one position per piece, {pieces.sum():,} in all."
    return Table("200 random boards with one possible last piece", columns, rows, command, note)


def _tie(game: SolitaireChess, rankers: Mapping[str, Order], command: str) -> Table:
    """The paper's Figure 5."""
    state = game.parse_state(TIED_PUZZLE)
    orders: dict[str, Order] = {"the paper's backtracking": "paper"}
    orders |= {f"{name} ranking": ranker for name, ranker in rankers.items()}
    rows = []
    for name, order in orders.items():
        look_ahead = not name.startswith("paper-dqn")
        found = search(state, "dfs", order, look_ahead=look_ahead)
        _, names = play_out(state, found.moves or [])
        drawn = "13" if name.startswith(("the paper's", "paper-dqn")) else "-"
        rows.append([name, drawn, str(found.states), str(found.looked_at), " ".join(names)])
    columns = ["search", "boards (paper)", "positions entered", "looked at besides", "solution found"]
    tree = capture_tree(state)
    note = (
        "The paper's puzzle 5, read off its figure, on which its two searches tie at roughly 13 steps. It draws 13 "
        "boards: the start four times, and the nine captures that our backtracking tries. The first knight takes the "
        "bishop there before it takes the other knight, and here after it: the order of moves within a piece is our "
        f"reading. The puzzle has {tree.solutions} solutions, and not one possible last piece, as the paper says of "
        f"its puzzles, but {len(tree.finals)}: {' and '.join(tree.finals)}."
    )
    return Table("Figure 5: the puzzle on which the ranking ties", columns, rows, command, note)


def _by_level(puzzles: Sequence[GradedPuzzle], compared: Mapping[str, Measured], command: str) -> Table:
    rows = []
    for level in dict.fromkeys(puzzle.level for puzzle in puzzles):
        chosen = [i for i, puzzle in enumerate(puzzles) if puzzle.level == level]
        means = [np.mean([m.states[i] for i in chosen]) for m in compared.values()]
        ratings = [puzzles[i].rating for i in chosen]
        rows.append(
            [level, str(len(chosen)), f"{min(ratings):.1f} to {max(ratings):.1f}", *(f"{m:.1f}" for m in means)]
        )
    columns = ["level", "puzzles", "rating", *compared]
    note = "The rating is the number of pieces plus the binary logarithm of the number of different positions."
    return Table("Mean positions by level", columns, rows, command, note)


def _speed(states: Sequence[SolitaireChessState], seed: int, command: str) -> Table:
    rows = []
    for name, count, work in (
        ("exact solution of a pack puzzle", len(states), lambda: [solve(state) for state in states]),
        ("whole tree of a pack puzzle", len(states), lambda: [capture_tree(state) for state in states]),
        ("a new expert puzzle", 40, lambda: make_puzzles("expert", 40, seed)),
    ):
        begin = time.process_time()
        work()
        rows.append([name, f"{1000 * (time.process_time() - begin) / count:.3f} ms"])
    return Table("Processor time", ["work", "each"], rows, command)


def _solo(count: int, seed: int, command: str, console: Console) -> Table:
    """Solo Chess on 8x8: a learned best-first search beside the best order known that nobody learned."""
    game = SolitaireChess(8, 8, max_captures=2)
    ranker = capture_ranker.load(capture_ranker.shipped(game))
    solo = [
        Way("towards the centre, with memory", "dfs-tt", "centre"),
        Way("towards the centre, with memory, pruned", "dfs-tt", "centre", prune=True),
        Way("learned best first, pruned", "best-first", ranker, prune=True),
    ]
    limits = (5_000_000, 5_000_000, 100_000)
    each = -(-count // 7)
    states = [state for pieces in range(14, 21) for state in make_solo_puzzles(game, pieces, each, seed)][:count]
    rows = []
    for way, limit in zip(solo, limits, strict=True):
        found = [
            search(state, way.method, way.order, way.prune, limit)
            for state in steps(states, f"Solo Chess, {way.name}", console)
        ]
        counts = [f.states for f in found]
        rows.append(
            [way.name, f"{sum(f.moves is not None for f in found)}/{len(found)}", f"{np.mean(counts):,.0f}",
             f"{np.median(counts):,.0f}", f"{max(counts):,}"]
        )  # fmt: skip
    note = f"Boards of 14 to 20 pieces with a king, made by playing backwards; searches give up after {limits[0]:,} "
    note += f"positions, the learned one after {limits[2]:,}. A search that gave up counts with its limit."
    return Table("Solo Chess on 8x8", ["search", "solved", "mean positions", "median", "most"], rows, command, note)


def _trees(game: SolitaireChess, rankers: Mapping[str, Order]) -> list[Figure]:
    drawn: list[tuple[str, int, str, Order, str]] = [
        (PAPER_PUZZLE, 2, "the paper's backtracking", "paper", "1"),
        (PAPER_PUZZLE, 2, "the ranking learned as in the paper", rankers["paper-dqn"], "3"),
        (PAPER_PUZZLE, 2, "our learned ranking", rankers["dqn"], "3"),
        (TIED_PUZZLE, 5, "the paper's backtracking", "paper", "5"),
        (TIED_PUZZLE, 5, "the ranking learned as in the paper", rankers["paper-dqn"], "5"),
    ]
    figures = []
    for rows, number, name, order, figure in drawn:
        state = game.parse_state(rows)
        found = search(state, "dfs", order, max_tree=100, look_ahead=order is not rankers["paper-dqn"])
        svg = search_tree_svg(state, found.tree, True, f"{found.states - 1} captures tried")
        figures.append(Figure(svg, f"The paper's puzzle {number} under {name}: its Figure {figure}.", found.states > 5))
    return figures


def _curves(puzzles: Sequence[GradedPuzzle], compared: Mapping[str, Measured]) -> Figure:
    numbers = [float(i) for i in range(1, len(puzzles) + 1)]
    curves = {name: (numbers, [float(count) for count in measured.states]) for name, measured in compared.items()}

    def paint(figure: Any) -> None:
        plots.lines(figure.subplots(), curves, "puzzle, in the order of rating", "positions entered", log_y=True)

    caption = "The paper's Figure 4: positions entered for each of the 80 puzzles."
    return Figure(plots.draw(paint, 9, 3.6), caption, wide=True)
