"""`rookery train tenten`: the learners of 1010!."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress
from rookery.games.tenten import linear as cross_entropy
from rookery.games.tenten import lspi, ntuple
from rookery.games.tenten.rules import TenTen
from rookery.registry import load

# Each method's settings, and the name of the one that says how long it trains.
_METHODS: dict[str, tuple[Any, str]] = {
    "lspi": (lspi, "updates"),
    "linear": (cross_entropy, "generations"),
    "ntuple": (ntuple, "steps"),
}


def train_tenten(
    method: Annotated[Literal["lspi", "ntuple", "linear"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    variant: str | None = None,
    out: Path | None = None,
    resume: bool = False,
    length: int | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Train a player of 1010!: lspi (the paper's), linear (cross-entropy), ntuple (the strongest).

    Example: rookery train tenten ntuple --variant 10x10 --out runs/ntuple
    Play it with: rookery arena tenten ntuple:runs/ntuple/model.npz random --games 20

    The folder keeps a checkpoint after every batch, so a stopped run goes on with --resume and ends as it would have.

    Args:
        method: lspi, ntuple or linear.
        variant: Variant of the game; `rookery games` lists them.
        out: Folder of the run; runs/tenten-METHOD-VARIANT if not given.
        resume: Go on with the run in the folder.
        length: How long to train: updates of lspi, generations of linear, steps of ntuple.
    """
    game = load("tenten", variant)
    assert isinstance(game, TenTen)
    if game.hand != 1:
        raise ValueError("train on a variant with one piece a round; the result plays hands of three as well")
    if length is not None and length < 1:
        raise ValueError(f"the length must be at least 1, and is {length}")
    module, unit = _METHODS[method]
    settings = ntuple.default_settings(game) if method == "ntuple" else module.Settings()
    if length is not None:
        settings = dataclasses.replace(settings, **{unit: length})
    folder = out or Path("runs") / f"tenten-{method}-{variant or next(iter(game.variants))}"
    rows = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=progress()) as bar:
        task = bar.add_task(f"{method}: starting", total=getattr(settings, unit))
        for row in module.train(game, settings, folder, common.seed, resume):
            rows.append(row)
            done = next(iter(row.values()))
            rounds = row.get("mean_rounds", row.get("elite_mean_rounds"))
            bar.update(task, completed=done, description=f"{method}: {unit} {done:,}, {rounds:,.0f} rounds a game")
    data = {"run": str(folder), "model": str(folder / "model.npz"), "metrics": rows[-1] if rows else {}}

    def show(console: Console) -> None:
        console.print(f"The model lies in {data['model']}; its metrics in {folder / 'metrics.jsonl'}.")

    return Answer(data, show)


COMMANDS: Commands = {"train": {"tenten": train_tenten}}
