"""Generic methods beside the special forms that games have under the same name.

    python -m benchmarks.methods
    python -m benchmarks.methods --page    # also into docs/benchmarks.md

One thread, CPU seconds. The two forms take turns, and each has the median of several runs; the ratio is the median of
the ratios of the turns. The special form is what answers to the method's name on its game, so that a ratio of at least
0.95 says that the game is no slower for the generic form beside it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rookery
from benchmarks.page import put
from rookery.exact.solve import SolvedGame, solve_game
from rookery.game import Game
from rookery.games._2048.exact import SolvedBoard
from rookery.games.checkers import q_learning as checkers_q_learning
from rookery.games.endgames import perfect
from rookery.games.solitaire_chess import SolitaireChess
from rookery.games.solitaire_chess import search as solitaire_chess
from rookery.games.tenten import lspi as tenten_lspi
from rookery.games.tenten import ntuple as tenten_ntuple
from rookery.learn import lspi, methods, ntuple, q_learning
from rookery.method import Method
from rookery.run import Row
from rookery.search.backtracking import backtracking
from rookery.training import learner, train

COMMAND = "python -m benchmarks.methods --page"
ROUNDS = 5

Work = Callable[[], float]
"""Does some work and answers how many units it was."""


@dataclass(frozen=True)
class Pair:
    """A method in its generic and its special form."""

    method: str
    game: str
    unit: str
    generic: Work
    special: Work
    note: str = ""


def rate(work: Work) -> float:
    """Units per CPU second."""
    begin = time.process_time()
    units = work()
    return units / (time.process_time() - begin)


def trained(game: Game, method: Method, settings: Any, units: Callable[[list[Row]], float]) -> Work:
    """Training from the beginning; `units` counts them in the metrics."""

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder:
            run = train(game, method, out=Path(folder) / "run", settings=settings, on_row=lambda row: None)
            return units(run.metrics)

    return work


def games_of(rows: list[Row]) -> float:
    return float(rows[-1]["games"])


def moves_of(rows: list[Row]) -> float:
    """Moves of all games."""
    games = [0.0, *(float(row["games"]) for row in rows)]
    return sum(
        (end - begin) * float(row["mean_moves"]) for begin, end, row in zip(games, games[1:], rows, strict=False)
    )


def windows(rows: int, columns: int, shapes: tuple[tuple[int, int], ...]) -> str:
    """The cells of every window of some shapes, on every place, as the generic method takes them."""
    found = []
    for height, width in shapes:
        for row in range(rows - height + 1):
            for column in range(columns - width + 1):
                cells = [(row + r) * columns + column + c for r in range(height) for c in range(width)]
                found.append(",".join(map(str, cells)))
    return "; ".join(found)


def pairs() -> list[Pair]:
    checkers = rookery.load("checkers")
    queen = rookery.load("endgames", "KQK")
    tenten, small = rookery.load("tenten", "10x10"), rookery.load("tenten", "4x4-seven")
    puzzle = rookery.load("solitaire-chess")
    assert isinstance(puzzle, SolitaireChess)
    tiles = rookery.load("2048", "2x3")
    replay = 20
    shapes = tenten_ntuple.default_tuples(10, 10)
    return [
        Pair(
            "q-learning", "checkers", "games",
            trained(
                checkers, methods.QLearning(),
                q_learning.Settings(games=2000, alpha=0.1, epsilon=0.5, last_epsilon=0.5), games_of,
            ),
            trained(checkers, learner(checkers, "q-learning"), checkers_q_learning.Settings(games=2000), games_of),
        ),
        Pair(
            "q-learning, least best move", "endgames KQK", "positions in which every move is tried",
            trained(
                queen, methods.QLearning(),
                q_learning.Settings(games=1000, backup="least-best-move", starts="random", replay=replay),
                lambda rows: moves_of(rows) + games_of(rows) * replay,
            ),
            trained(
                queen, learner(queen, "perfect"), perfect.Settings(passes=10, threads=1),
                lambda rows: float(rows[-1]["starts"]),
            ),
            "the special form is called `perfect`",
        ),
        Pair(
            "ntuple", "1010! 10x10", "placements",
            trained(
                tenten, methods.NTuple(),
                ntuple.Settings(games=10**6, minutes=0.05, tuples=windows(10, 10, shapes), symmetries=False), moves_of,
            ),
            trained(
                tenten, learner(tenten, "ntuple"), tenten_ntuple.Settings(steps=500_000, batch=500_000, threads=1),
                lambda rows: float(rows[-1]["steps"]),
            ),
            "the same windows; the special form adds its tables of mobility",
        ),
        Pair(
            "lspi", "1010! 4x4 `seven`", "placements",
            trained(
                small, methods.Lspi(), lspi.Settings(iterations=3, tolerance=0.0),
                lambda rows: sum(float(row["samples"]) for row in rows),
            ),
            trained(
                small, learner(small, "lspi"), tenten_lspi.Settings(updates=20, tolerance=0.0, threads=1),
                lambda rows: sum(20 * float(row["mean_rounds"]) for row in rows),
            ),
            "other features: codes of the cells, and the 19 of the paper",
        ),
        Pair(
            "solve", "2048 2x3", "solutions",
            lambda: solutions(tiles, SolvedGame),
            lambda: solutions(tiles, SolvedBoard),
        ),
        Pair(
            "backtracking", "Solitaire Chess", "positions entered",
            lambda: sum(backtracking(puzzle.initial_state()).states for _ in range(50)),
            lambda: sum(solitaire_chess.search(puzzle.initial_state()).states for _ in range(5000)),
        ),
    ]  # fmt: skip


def solutions(game: Game, form: type[SolvedGame]) -> float:
    for _ in range(20):
        solve_game(game.initial_state(), form=form)
    return 20.0


def measure(pair: Pair) -> list[str]:
    """A row of the table."""
    generic, special, ratios = [], [], []
    for _ in range(ROUNDS):
        generic.append(rate(pair.generic))
        special.append(rate(pair.special))
        ratios.append(special[-1] / generic[-1])
    numbers = [f"{statistics.median(rates):,.0f}" for rates in (special, generic)]
    return [pair.method, pair.game, pair.unit, *numbers, f"{statistics.median(ratios):.3g}", pair.note]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="put the table into docs/benchmarks.md")
    page = parser.parse_args().page
    rows = []
    for pair in pairs():
        rows.append(measure(pair))
        print(*rows[-1], sep="  ", flush=True)
    if page:
        head = ["method", "game", "per CPU second", "special", "generic", "ratio", ""]
        lines = [head, ["---"] * len(head), *rows]
        put("benchmarks.md", COMMAND, "\n".join("| " + " | ".join(line) + " |" for line in lines))


if __name__ == "__main__":
    main()
