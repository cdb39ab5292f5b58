"""`rookery train morpion` and `rookery evaluate morpion`: learning to play Morpion Solitaire, and what it is worth."""

from __future__ import annotations

import dataclasses
import importlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress


def train(
    method: Annotated[Literal["zero", "r2"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    preset: Literal["full", "small"] = "full",
    out: Path | None = None,
    resume: bool = False,
    iterations: int | None = None,
    minutes: float | None = None,
    settings: tuple[str, ...] = (),
    common: Options = DEFAULTS,
) -> Answer:
    """Train a player of Morpion Solitaire 5D from nothing: zero (the strong one) or r2 (the paper's).

    Example: rookery train morpion zero --preset small --minutes 25 --out runs/morpion
    See what it is worth: rookery evaluate morpion runs/morpion/model.safetensors --seconds 60

    The folder keeps a checkpoint after every iteration: a stopped run goes on with --resume and ends as it would have.

    Args:
        method: zero learns from ranked games of its own and of searches it seeds; r2 is the paper's Algorithm 7.
        preset: full is for a GPU and 16 cores, small for 2 cores.
        out: Folder of the run; runs/morpion-METHOD-PRESET if not given.
        resume: Go on with the run in the folder.
        iterations: Stop after so many iterations; without this and --minutes zero has no end, r2 the paper's.
        minutes: Stop at the first iteration that ends after so many minutes.
        settings: Settings to change, such as games=512 steps=50; docs/methods/ranked-reward.md lists them.
    """
    learn = _learner(method)
    for name, given in (("iterations", iterations), ("minutes", minutes)):
        if given is not None and not given > 0:
            raise ValueError(f"the {name} must be more than 0, not {given}")
    chosen = _change(learn.PRESETS[preset], settings)
    folder = out or Path("runs") / f"morpion-{method}-{preset}"
    row: dict[str, Any] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=progress()) as bar:
        task = bar.add_task(f"{method}: starting", total=60 * minutes if minutes else iterations)
        for row in learn.train(chosen, folder, common.seed, resume, iterations or 10**9, minutes or float("inf")):
            text = f"iteration {row['iteration']}: best {row['best']}, the net plays {row['played_mean']:.1f}"
            bar.update(task, completed=row["seconds"] if minutes else row["iteration"], description=text)
    if not row:  # the run was complete already
        row = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    data = {"run": str(folder), "metrics": row}

    def show(console: Console) -> None:
        console.print(f"Best game: {row.get('best')} moves, in {folder / 'best.psol'}; metrics in metrics.jsonl there.")

    return Answer(data, show)


def evaluate(
    model: Annotated[Path, Positional, tyro.conf.arg(metavar="MODEL")],
    *,
    seconds: float = 60.0,
    threads: int = 0,
    games: int = 1024,
    level: int = 3,
    search_iterations: int = 100,
    simulations: int = 0,
    settings: tuple[str, ...] = (),
    common: Options = DEFAULTS,
) -> Answer:
    """What a trained net plays alone, and what NRPA finds from it, beside plain NRPA in the same time.

    Example: rookery evaluate morpion runs/morpion/model.safetensors --seconds 60

    Args:
        model: The model.safetensors of a run.
        seconds: Time for each of the two searches.
        threads: Cores for the searches; 0 means all.
        games: Games the net plays alone.
        level: Level of NRPA.
        search_iterations: Calls each level of NRPA makes.
        simulations: If not 0, 64 games of the net with tree search as well, so many simulations a move.
        settings: Settings of the search to change, such as prior=0.5 coldest=0.2.
    """
    learn = _learner("zero")
    if not seconds > 0:
        raise ValueError(f"the seconds must be more than 0, not {seconds}")
    net, trained, metrics = learn.load_model(model)
    chosen = dataclasses.replace(trained, games=games, searches=games, level=level, threads=threads)
    chosen = _change(dataclasses.replace(chosen, search_iterations=search_iterations), settings)
    played, found = learn.search_with_net(net, chosen, seconds, common.seed)
    plain = learn.search_without_net(net.game, chosen, seconds, common.seed)

    def summary(scores: Any, **more: Any) -> dict[str, Any]:
        if len(scores) == 0:  # the time was up before a search had begun
            return {"best": None, "count": 0, **more}
        middle = {"mean": round(float(scores.mean()), 2), "median": float(np.median(scores))}
        return {"best": int(scores.max()), **middle, "count": len(scores), **more}

    data: dict[str, Any] = {
        "net_alone": summary(played.scores),
        "net_and_search": summary(found.scores, cpu_seconds=round(found.cpu_seconds, 1)),
        "search_alone": summary(plain.scores, cpu_seconds=round(plain.cpu_seconds, 1)),
        "seconds": seconds,
        "record": learn.record(net.game, max([*played.games, *found.games], key=len)),
        "trained": metrics,
    }

    if simulations:
        threshold = float(np.quantile(played.scores, trained.ratio))
        trees = learn.Trees(net, net.game.initial_state(), 64, threshold)
        data["net_and_tree"] = summary(np.array([len(game) for game in trees.play(simulations, threads)]))

    def show(console: Console) -> None:
        for name in ("net_alone", "net_and_search", "net_and_tree", "search_alone"):
            if name in data:
                console.print(f"{name.replace('_', ' ')}: {data[name]}")

    return Answer(data, show)


def _learner(method: str) -> Any:
    """The module of a method; PyTorch is loaded only here."""
    try:
        return importlib.import_module(f"rookery.games.morpion.{method}")
    except ModuleNotFoundError as error:
        raise ValueError(f"a net needs PyTorch: pip install 'rookery[deep]' ({error})") from None


def _change(settings: Any, changes: tuple[str, ...]) -> Any:
    """Settings with some fields changed by `name=number`."""
    kinds = {field.name: type(getattr(settings, field.name)) for field in dataclasses.fields(settings)}
    changed = {}
    for change in changes:
        name, _, value = change.partition("=")
        if name not in kinds:
            raise ValueError(f"unknown setting {name!r}; known settings: {', '.join(kinds)}")
        try:
            changed[name] = kinds[name](value)
        except ValueError:
            raise ValueError(f"the setting {name} takes a number, not {value!r}") from None
    return dataclasses.replace(settings, **changed)


COMMANDS: Commands = {"train": {"morpion": train}, "evaluate": {"morpion": evaluate}}
