"""Prints the table of speeds and ratios and writes it as JSON.

Single thread, CPU seconds. Ours and the peer's runs take turns, and each keeps its best of several, because other work
on the machine slows both down in turns. A peer that is not installed is left out, and the row says so.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import rookery
from rookery.games.endgames import rules as endgames
from rookery.report.text import table
from rookery.search import perft

Rate = Callable[[], float]
"""Runs once and answers units per CPU second."""


@dataclass(frozen=True)
class Row:
    what: str
    unit: str
    ours: float
    peer: str
    theirs: float | None
    bar: str
    """What we promise: a rate, or a ratio to the peer."""
    met: bool

    @property
    def ratio(self) -> float | None:
        return None if self.theirs is None else self.ours / self.theirs


def rate(work: Callable[[], float]) -> Rate:
    """`work` does a fixed amount and answers how many units it was."""

    def run() -> float:
        begin = time.process_time()
        units = work()
        return units / (time.process_time() - begin)

    return run


def best_of(ours: Rate, theirs: Rate | None, repeats: int = 5) -> tuple[float, float | None]:
    our_rates, their_rates = [], []
    for _ in range(repeats):
        our_rates.append(ours())
        if theirs:
            their_rates.append(theirs())
    return max(our_rates), max(their_rates) if theirs else None


def random_games(name: str, variant: str, games: int) -> Rate:
    game = rookery.load(name, variant)
    return rate(lambda: game.random_games(games, seed=1, threads=1).games)


def open_spiel_games(name: str, games: int) -> Rate | None:
    """Random games as OpenSpiel's Python users play them."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game(name)

    def play() -> float:
        rng = random.Random(1)
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        return games

    return rate(play)


def python_chess_games(fen: str, games: int) -> Rate | None:
    """Random games with the same ends as ours: mate, stalemate, bare material, threefold repetition."""
    try:
        import chess
    except ImportError:
        return None

    def play() -> float:
        rng = random.Random(1)
        for _ in range(games):
            board = chess.Board(fen)
            while not (board.is_insufficient_material() or board.is_repetition(3)):
                moves = list(board.legal_moves)
                if not moves:
                    break
                board.push(rng.choice(moves))
        return games

    return rate(play)


def measure() -> list[Row]:
    rows = []

    def at_least(what: str, unit: str, bar: float, ours: Rate, peer: str = "-", theirs: Rate | None = None) -> None:
        rate_ours, rate_theirs = best_of(ours, theirs)
        rows.append(Row(what, unit, rate_ours, peer, rate_theirs, f"{bar:,.0f}/s", rate_ours >= bar))

    def ratio(what: str, unit: str, bar: float, ours: Rate, peer: str, theirs: Rate | None) -> None:
        rate_ours, rate_theirs = best_of(ours, theirs)
        met = rate_theirs is not None and rate_ours >= bar * rate_theirs
        rows.append(Row(what, unit, rate_ours, peer, rate_theirs, f"{bar:g}x", met))

    checkers = rookery.load("checkers").initial_state()
    at_least("checkers: bulk perft, depth 10", "leaves", 40e6, rate(lambda: perft(checkers, 10)))
    ratio(
        "checkers: random games", "games", 40, random_games("checkers", "standard", 50_000),
        "OpenSpiel", open_spiel_games("checkers", 1_000),
    )  # fmt: skip
    at_least("morpion: uniform 5D playouts", "games", 350_000, random_games("morpion", "5D", 200_000))
    ratio(
        "morpion: uniform 4D playouts", "games", 100, random_games("morpion", "4D", 200_000),
        "OpenSpiel", open_spiel_games("morpion_solitaire", 200),
    )  # fmt: skip
    tenten = rookery.load("tenten", "10x10")
    at_least(
        "1010!: random placements, 10x10", "placements", 10e6,
        rate(lambda: float(tenten.random_games(100_000, seed=1, threads=1).lengths.sum())),
    )  # fmt: skip
    fen = str(endgames.Endgames(material="KRK").initial_state())
    ratio(
        "endgames: random KRK games", "games", 100, random_games("endgames", "KRK", 20_000),
        "python-chess", python_chess_games(fen, 20),
    )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("reports/benchmarks.json"))
    out = parser.parse_args().out
    rows = measure()
    shown = [
        (
            row.what,
            f"{row.ours:,.0f} {row.unit}/s",
            "-" if row.ratio is None else f"{row.ratio:,.1f} times {row.peer}",
            row.bar,
            "yes" if row.met else "NO",
        )
        for row in rows
    ]
    print("Single thread, per CPU second")
    print(table(("what", "ours", "beside a peer", "bar", "met"), shown, shutil.get_terminal_size().columns))
    out.parent.mkdir(parents=True, exist_ok=True)
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    data = {"machine": machine, "version": rookery.__version__, "rows": [asdict(r) | {"ratio": r.ratio} for r in rows]}
    out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written to {out}")


if __name__ == "__main__":
    main()
