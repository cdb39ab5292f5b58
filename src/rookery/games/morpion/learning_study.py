"""Morpion Solitaire learned by ranked reward: the paper's system, ours, and searches that learn nothing, side by side.

The long run's figures and its learning curve come with the net that ships (`models/5D.json`). Sizes above quick
train both systems anew, in their small presets.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rookery.games.morpion import MODELS
from rookery.games.morpion.rules import RECORDS, Morpion
from rookery.games.morpion.search import Campaign
from rookery.report import plots
from rookery.report.study import Figure, Table
from rookery.run import read_metrics
from rookery.training import train

PAPER_BEST = 67
"""The paper's best game of 5D: the only game length it reports."""

System = Literal["zero", "r2"]
NAMES: dict[System, str] = {"zero": "improved system", "r2": "the paper's system"}

MINUTES: dict[str, dict[System, float]] = {
    "quick": {},
    "default": {"zero": 0.75, "r2": 0.5},
    "full": {"zero": 30, "r2": 30},
}
"""How long each system is trained anew, by size of the study."""


@dataclass(frozen=True)
class Curve:
    """What a training run logged, iteration by iteration."""

    seconds: Sequence[float]
    best: Sequence[float]
    played_mean: Sequence[float]

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Curve:
        return cls(*([row[name] for row in rows] for name in ("seconds", "best", "played_mean")))


def parts(size: str, seed: int, folder: Path, console: Console, nrpa: Campaign, command: str) -> tuple[Table, Figure]:
    """The table and the figure. `nrpa` is a campaign of NRPA on 5D made in this study, to compare with."""
    shipped = json.loads((MODELS / "5D.json").read_text())
    fresh = {
        system: train_anew(system, minutes, seed, folder / f"{system}-small-seed-{seed}", console)
        for system, minutes in MINUTES[size].items()
        if importlib.util.find_spec("torch") is not None
    }
    return _table(shipped, fresh, seed, nrpa, command), _figure(shipped, fresh)


def train_anew(system: System, minutes: float, seed: int, folder: Path, console: Console) -> Curve:
    """A run of the small preset that resumes where an earlier run of the study stopped."""
    before = read_metrics(folder)
    left = minutes - (before[-1]["seconds"] / 60 if before else 0)
    if left <= 0:
        return Curve.of(before)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"5D, {NAMES[system]} from nothing", total=60 * minutes)
        run = train(
            Morpion(), system, out=folder, seed=seed, resume=True, preset="small", minutes=left,
            on_row=lambda row: bar.update(task, completed=row["seconds"]),
        )  # fmt: skip
    return Curve.of(run.rows)


def _table(shipped: dict[str, Any], fresh: dict[System, Curve], seed: int, nrpa: Campaign, command: str) -> Table:
    figures, machine = shipped["figures"], shipped["machine"]
    training = figures["training"]

    def judged(name: str) -> list[str]:
        found = figures[name]
        cpu = f"60 s, {found['cpu_seconds']:.0f} CPU s" if "cpu_seconds" in found else "-"
        return [f"{found['count']:,}", f"{found['mean']:.2f}", str(found["best"]), cpu]

    def trained(curve: Curve, games: int, cpu: float | None = None) -> list[str]:
        on_cores = "" if cpu is None else f", {cpu:.0f} CPU s"
        time = f"{curve.seconds[-1]:.0f} s{on_cores}, {len(curve.seconds)} iterations"
        return [f"{games}", f"{curve.played_mean[-1]:.2f}", str(curve.best[-1]), time]

    rows = [
        ["the paper's system", "the paper", "-", "-", str(PAPER_BEST), "about a week, eight GPUs"],
        *(
            [f"{NAMES[system]}, small preset", run["machine"], *trained(_curve(run), run["games"], run["cpu_seconds"])]
            for system, run in shipped["small_runs"].items()
        ),
        *(
            [f"{NAMES[system]}, small preset", f"this run, seed {seed}", *trained(curve, _games(system))]
            for system, curve in fresh.items()
        ),
        ["improved system, training", machine, "-", "-", str(training["best"]),
         f"{training['seconds']:.0f} s, {training['search_cpu_seconds']:.0f} CPU s of it searches"],
        ["its net alone", machine, *judged("net_alone")],
        ["its net with PUCT, 100 simulations", machine, *judged("net_and_tree")],
        ["its net with NRPA level 3", machine, *judged("net_and_search")],
        ["NRPA level 3 alone, same time", machine, *judged("search_alone")],
        _nrpa(nrpa),
        ["record", "NRPA, 2010", "-", "-", str(RECORDS["5D"]), "-"],
    ]  # fmt: skip
    columns = ["5D", "where", "games or runs", "mean moves", "best", "time"]
    note = (
        "The net alone plays longer games than the paper's best, and longer ones than the mean run of NRPA. But "
        "searches without a net do as well where only the best game counts: they scatter more. What the training "
        "found its searches found, so it owes NRPA as much as the net. Of a training the mean is that of the games "
        "its net plays in the last iteration, the best that of the whole run."
    )
    return Table("Learning by ranked reward", columns, rows, command, note)


def full_size_best() -> int:
    """The longest game of the paper's system at full size."""
    boards = json.loads((MODELS / "r2.json").read_text())["boards"]
    return int(max(max(curve["best"]) for curve in boards.values()))


def full_size(command: str) -> tuple[Table, Figure]:
    """The paper's system with the values of Table 7.1, on its three boards: a run whose curves ship."""
    data = json.loads((MODELS / "r2.json").read_text())
    boards: dict[str, dict[str, list[Any]]] = data["boards"]
    rows = [["22", "the paper", "100 of 100", "about a week", "-", str(PAPER_BEST), "-"]]
    for board, curve in boards.items():
        enhanced = [str(length) for length in curve["enhanced"] if length is not None]
        rows.append([
            board, data["machine"], f"{len(curve['best'])} of {data['iterations']}", f"{curve['seconds'][-1]:.0f} s",
            f"{np.mean(curve['played_mean'][-5:]):.1f}", str(max(curve["best"])), " ".join(enhanced) or "-",
        ])  # fmt: skip
    columns = ["board", "where", "iterations", "time", "mean of the last 5", "best", "games with tree search"]
    note = (
        f"{data['note']} Random play on an unlimited grid lasts 42.9 moves on average. Remake a row: {data['command']}"
    )

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, name, title in ((left, "best", "Best so far"), (right, "played_mean", "Mean of self-play")):
            curves = {
                f"board {board}": (list(range(1, len(curve[name]) + 1)), curve[name]) for board, curve in boards.items()
            }
            longest = max(len(curve[name]) for curve in boards.values())
            curves["the paper's best"] = [1, longest], [PAPER_BEST] * 2
            plots.lines(axes, curves, "iterations (the paper: 100)", "moves", title)

    figure = Figure(plots.draw(paint, 9, 3.6), "The paper's system at full size: learning curves by board.", wide=True)
    return Table("Table 7.1: the paper's system at full size", columns, rows, command, note), figure


def _nrpa(campaign: Campaign) -> list[str]:
    scores = [run.score for run in campaign.runs]
    cpu = sum(run.cpu_seconds for run in campaign.runs)
    mean = f"{np.mean(scores):.2f}"
    how = f"NRPA level {campaign.settings.level} alone"
    return [how, "this run", str(len(scores)), mean, str(max(scores)), f"{cpu:.0f} CPU s"]


def _games(system: System) -> int:
    """Games in an iteration of the small preset."""
    small = importlib.import_module(f"rookery.games.morpion.{system}").SMALL
    return int(small.games if system == "zero" else small.episodes)


def _curve(run: dict[str, Any]) -> Curve:
    return Curve(*(run["curve"][name] for name in ("seconds", "best", "played_mean")))


def _figure(shipped: dict[str, Any], fresh: dict[System, Curve]) -> Figure:
    small = {NAMES[system]: _curve(run) for system, run in shipped["small_runs"].items()}
    small |= {f"{NAMES[system]}, this run": curve for system, curve in fresh.items()}

    def paint(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        long = _curve(shipped)
        curves = {"best so far": (long.seconds, long.best), "the net alone, mean": (long.seconds, long.played_mean)}
        curves["its searches, mean"] = long.seconds, shipped["curve"]["searched_mean"]
        ends = [long.seconds[0], long.seconds[-1]]
        curves["the paper's best"] = ends, [PAPER_BEST] * 2
        curves["the record"] = ends, [RECORDS["5D"]] * 2
        plots.lines(left, curves, "seconds", "moves", "Improved system, long run")
        others = {f"{name}, mean": (curve.seconds, curve.played_mean) for name, curve in small.items()}
        others |= {f"{name}, best": (c.seconds, c.best) for name, c in small.items() if name.startswith(NAMES["zero"])}
        plots.lines(right, others, "seconds", "moves", "Small presets, two cores")

    caption = (
        f"Learning 5D from nothing, on {shipped['machine']} (left) and on two cores (right): the best game so far, and "
        "the mean of the games that the net plays in an iteration."
    )
    return Figure(plots.draw(paint, 9, 3.6), caption, wide=True)
