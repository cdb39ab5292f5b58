"""Commands for checkers: learning with a Q-table or a deep net, and merging tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from tyro.conf import Positional

from rookery import load
from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress
from rookery.games.checkers import Checkers
from rookery.learn import q_table
from rookery.learn.q_table import FALLBACKS, QTable, Settings, play_against_random


def train(
    method: Annotated[Literal["q-table"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    games: int = 40_000,
    alpha: float = 0.1,
    epsilon: float = 0.5,
    discount: tuple[float, float] = (0.1, 1.0),
    out: Path | None = None,
    resume: bool = False,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Learn checkers by self-play.

    Method `q-table`: the system of Benning (2021). Afterwards the table plays random with each of its fallbacks.

    Example: rookery train checkers q-table --games 10000 --out runs/checkers
    Play it with: rookery arena checkers psv:runs/checkers random --games 100

    Args:
        method: q-table.
        games: Games of self-play.
        alpha: How far a value moves towards what a game says.
        epsilon: Share of random moves in training.
        discount: Of the first game and of the last.
        out: Folder of the run; runs/checkers-METHOD if not given.
        resume: Go on with the run in the folder.
        variant: Variant of the game: what draws it.
    """
    game = load("checkers", variant)
    assert isinstance(game, Checkers)
    settings = Settings(games, alpha, epsilon, *discount)
    folder = out or Path("runs") / f"checkers-{method}"
    row: dict[str, Any] = {}
    with Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=progress()) as bar:
        task = bar.add_task("learning", total=games)
        for row in q_table.train(game, settings, folder, common.seed, resume):
            text = f"learning: {row['positions']:,} positions, {row['games_per_second']:,} games/s"
            bar.update(task, completed=row["games"], description=text)
        table = QTable.load(folder)
        bar.update(task, description="playing against random")
        matches = {
            fallback: play_against_random(table, game, fallback, count, common.seed)
            for fallback, count in zip(FALLBACKS, (1000, 1000, 20), strict=True)
        }
    metrics = row | {
        "against_random": {
            fallback: {"games": match.games, "wins": match.wins, "draws": match.draws, "interval": list(match.interval)}
            for fallback, match in matches.items()
        }
    }
    data = {"run": str(folder), "model": str(folder / q_table.MODEL), "settings": asdict(settings), "metrics": metrics}

    def show(console: Console) -> None:
        console.print(f"{len(table):,} positions learned in {games:,} games, saved in {data['model']}")
        for fallback, match in matches.items():
            low, high = match.interval
            console.print(
                f"  against random, fallback {fallback}: {match.wins} of {match.games} won ({low:.1%} to {high:.1%}), "
                f"{match.draws} drawn"
            )

    return Answer(data, show)


def merge(
    tables: Annotated[tuple[Path, ...], Positional, tyro.conf.arg(metavar="TABLE")],
    *,
    out: Path,
    common: Options = DEFAULTS,
) -> Answer:
    """Merge Q-tables of checkers that were trained apart, with different seeds for one.

    Where two tables have learned the same action in the same position, the result has the mean of what was there before
    and the next table. Example: rookery merge checkers runs/a runs/b --out both.npz

    Args:
        tables: Files or folders of `rookery train checkers q-table`.
        out: File to write.
    """
    if len(tables) < 2:
        raise ValueError("name at least two tables")
    merged = QTable()
    sizes = []
    for path in tables:
        table = QTable.load(path)
        sizes.append(len(table))
        merged.merge(table)
    merged.save(out, {"merged": [str(path) for path in tables]})
    data = {"tables": sizes, "positions": len(merged), "model": str(out)}
    text = f"{' + '.join(f'{size:,}' for size in sizes)} positions make {len(merged):,}, saved in {out}"
    return Answer(data, lambda console: console.print(text))


COMMANDS: Commands = {"train": {"checkers": train}, "merge": {"checkers": merge}}
