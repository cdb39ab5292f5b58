"""Commands for checkers: learning with a Q-table or a deep net, and merging tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress
from rookery.games.checkers import q_learning as q_table
from rookery.games.checkers import strong_commands as checkers_strong
from rookery.games.checkers.q_learning import FALLBACKS, QTable, Settings, play_against_random
from rookery.games.checkers.rules import Checkers
from rookery.registry import load
from rookery.statistics import wilson_interval


def train(
    method: Annotated[Literal["q-table", "dqn", "td"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    games: int = 40_000,
    alpha: float = 0.1,
    epsilon: float = 0.5,
    discount: tuple[float, float] = (0.1, 1.0),
    steps: int = 10_000,
    generations: int = 100,
    out: Path | None = None,
    resume: bool = False,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Learn checkers by self-play: q-table (the paper's), dqn, td (the strongest).

    Method `q-table`: the system of Benning (2021), with its three ways out of unknown positions.
    Method `dqn`: deep Q-learning, for comparison. Needs PyTorch.
    Method `td`: temporal differences on patterns, for a player that searches.

    Examples: rookery train checkers q-table --games 10000 --out runs/checkers;
    rookery arena checkers voting:runs/checkers random --games 100;
    rookery train checkers dqn --steps 10000 --out runs/dqn;
    rookery train checkers td --out runs/td

    Args:
        method: q-table, dqn or td.
        games: q-table: games of self-play.
        alpha: q-table: how far a value moves towards what a game says.
        epsilon: q-table: share of random moves in training.
        discount: q-table: of the first game and of the last.
        steps: dqn: gradient steps; 10,000 take about two minutes.
        generations: td: generations of self-play; 100 take about four minutes on two cores.
        out: Folder of the run; runs/checkers-METHOD if not given.
        resume: Go on with the run in the folder, which ends as it would have.
        variant: Variant of the game: what draws it.
    """
    game = load("checkers", variant)
    assert isinstance(game, Checkers)
    folder = out or Path("runs") / f"checkers-{method}"
    if method == "dqn":
        return _train_dqn(game, steps, folder, resume, common.seed)
    if method == "td":
        return checkers_strong.train_td(generations, folder, resume, common.seed)
    settings = Settings(games, alpha, epsilon, *discount)
    rows = q_table.train(game, settings, folder, common.seed, resume)
    row: dict[str, Any] = {}
    with _bar() as bar:
        task = bar.add_task("learning", total=games)
        for row in rows:
            text = f"learning: {row['positions']:,} positions, {row['games_per_second']:,} games/s"
            bar.update(task, completed=row["games"], description=text)
        table = QTable.load(folder)
        bar.update(task, description="playing against random")
        matches = {
            fallback: play_against_random(table, game, fallback, count, common.seed)
            for fallback, count in zip(FALLBACKS, (1000, 1000, 20), strict=True)
        }
    against = {
        fallback: {"games": match.games, "wins": match.wins, "draws": match.draws, "interval": list(match.interval)}
        for fallback, match in matches.items()
    }
    data = {
        "run": str(folder), "model": str(folder / q_table.MODEL), "settings": asdict(settings),
        "metrics": row | {"against_random": against},
    }  # fmt: skip

    def show(console: Console) -> None:
        console.print(f"{len(table):,} positions learned in {games:,} games, saved in {data['model']}")
        for fallback, match in matches.items():
            low, high = match.interval
            console.print(
                f"  against random, fallback {fallback}: {match.wins} of {match.games} won ({low:.1%} to {high:.1%}), "
                f"{match.draws} drawn"
            )

    return Answer(data, show)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=progress(), transient=True
    )


def _train_dqn(game: Checkers, steps: int, folder: Path, resume: bool, seed: int) -> Answer:
    if steps < 1:
        raise ValueError(f"the number of steps must be at least 1, and is {steps}")
    try:
        from rookery.games.checkers import dqn as checkers_dqn
    except ImportError as error:
        raise ValueError(f"training needs PyTorch: pip install 'rookery[deep]' ({error})") from None
    with _bar() as bar:
        task = bar.add_task("learning", total=steps)
        for row in checkers_dqn.train(game, checkers_dqn.Settings(), folder, steps, seed, resume):
            text = f"learning: {row.games:,} games, loss {row.loss:.4f}"
            bar.update(task, completed=row.steps, description=text)
        bar.update(task, description="playing against random")
        results = checkers_dqn.play_against_random(checkers_dqn.load(folder), game, 1000, seed)
    wins, draws = int((results > 0).sum()), int((results == 0).sum())
    low, high = wilson_interval(wins, len(results))
    against = {"games": len(results), "wins": wins, "draws": draws, "interval": [low, high]}
    data = {
        "run": str(folder), "model": str(folder / checkers_dqn.MODEL),
        "metrics": asdict(row) | {"against_random": against},
    }  # fmt: skip

    def show(console: Console) -> None:
        console.print(f"{row.games:,} games in {row.seconds:.0f} s, saved in {data['model']}")
        console.print(f"  against random: {wins} of {len(results)} won ({low:.1%} to {high:.1%}), {draws} drawn")

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
