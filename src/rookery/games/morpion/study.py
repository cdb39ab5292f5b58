"""Morpion Solitaire: the paper's best game beside nested search, destroy and repair, the records and what is proven.

The paper trained a net by ranked-reward self-play and found a game of 67 moves on 5D, after about a week on a server
with eight GPUs. Here: how long the games of searches get that learn nothing from one run to the next, and what learning
adds to them (`morpion_learning`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rookery.games.morpion import learning_study as morpion_learning
from rookery.games.morpion.learning_study import PAPER_BEST
from rookery.games.morpion.rules import RECORDS, UPPER_BOUNDS, Morpion
from rookery.games.morpion.search import METHODS, Campaign, CampaignSettings, Method, shipped
from rookery.registry import load
from rookery.report import plots
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import Exact
from rookery.statistics import bootstrap_interval, wilson_interval
from rookery.studies.sizes import Size

HUMAN = {"5D": 68, "5T": 170, "4D": None, "4T": None}
"""The longest games known that people found with pencil and paper; of 5D as the paper quotes it."""


@dataclass(frozen=True)
class Plan:
    """How much work a size is."""

    runs_by_level: dict[int, int]
    """Runs of NRPA on 5D."""
    small: tuple[int, int]
    """Level and runs of NRPA on 4D and on 4T."""
    seconds: float
    """Wall time for each method on each of 5D and 5T."""


PLANS = {
    "quick": Plan({1: 100, 2: 40, 3: 2}, (3, 1), 3.0),
    "default": Plan({1: 1000, 2: 300, 3: 20}, (3, 4), 65.0),
    "full": Plan({1: 10_000, 2: 2000, 3: 200, 4: 4}, (3, 20), 1800.0),
}

LEVELS: dict[Method, int] = {"repair": 3, "exchange": 4, "nrpa": 3, "beam-nrpa": 3, "nmcs": 3}
"""Level of each method where methods compete."""

KNOWN = {2: "68.4 in 0.08 s", 3: "78.2 in 8.7 s"}
"""Mean and CPU time that carefully written NRPA is known to reach, by level."""


class Laboratory:
    """Campaigns that are saved under the study's folder and resume where an earlier run of the study stopped."""

    def __init__(self, folder: Path, seed: int, console: Console, on: str = "here") -> None:
        self.folder, self.seed, self.console = folder, seed, console
        self.on = "here" if on == "processes" else on  # threads of one process use all cores, and start at once

    def _campaign(self, purpose: str, variant: str, method: Method, level: int) -> Campaign:
        path = self.folder / f"{purpose}-{variant}-{method}-{level}-seed-{self.seed}.json"
        return Campaign(CampaignSettings(variant, method, level, self.seed), path, resume=True)

    def runs(self, variant: str, method: Method, level: int, runs: int) -> Campaign:
        """A campaign with a number of runs."""
        campaign = self._campaign("runs", variant, method, level)
        left = runs - len(campaign.runs)
        with self._progress() as bar:
            task = bar.add_task(f"{variant} {method} level {level}", total=runs)
            if left > 0:
                campaign.go(runs=left, tick=lambda: bar.update(task, completed=len(campaign.runs)), on=self.on)
        return campaign

    def seconds(self, variant: str, method: Method, level: int, seconds: float) -> Campaign:
        """A campaign for a number of seconds on all cores."""
        campaign = self._campaign("time", variant, method, level)
        left = seconds - campaign.seconds
        with self._progress() as bar:
            task = bar.add_task(f"{variant} {method} for {seconds:.0f} s", total=round(seconds))
            if left > 0:
                campaign.go(seconds=left, tick=lambda: bar.update(task, completed=round(campaign.seconds)), on=self.on)
        return campaign

    def _progress(self) -> Progress:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        return Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal)


def run(size: Size, seed: int, folder: Path, console: Console, on: str = "here") -> Result:
    """All tables and figures."""
    begin = time.perf_counter()
    plan = PLANS[size.name]
    command = f"rookery reproduce morpion{size.flag} --seed {seed}"
    laboratory = Laboratory(folder, seed, console, on)
    levels = [laboratory.runs("5D", "nrpa", level, runs) for level, runs in plan.runs_by_level.items()]
    small = {variant: laboratory.runs(variant, "nrpa", *plan.small) for variant in ("4D", "4T")}
    timed = {
        variant: [laboratory.seconds(variant, method, LEVELS[method], plan.seconds) for method in METHODS]
        for variant in ("5D", "5T")
    }
    to_compare = max((c for c in levels if c.settings.level <= 3), key=lambda c: c.settings.level)
    learning, curves = morpion_learning.parts(size.name, seed, folder, console, to_compare, command)
    tables = [
        _longest_games(levels, small, timed, command),
        _levels(levels, seed, command),
        _methods(timed, plan.seconds, command),
        learning,
    ]
    figures = [_moves_example(), *_grids(timed, levels), _progress_curves(timed), curves]
    full_size, full_size_curves = morpion_learning.full_size(command)
    tables.append(full_size)
    figures.append(full_size_curves)
    found = max(campaign.best.score for campaign in (*timed["5D"], *levels))
    return Result(
        "morpion", "Morpion Solitaire: how long can a game be?", seed, tables, figures, time.perf_counter() - begin,
        conclusion=_conclusion(levels, timed, found), claims=[_claim(levels, found)],
    )  # fmt: skip


def _as_good(campaign: Campaign) -> tuple[float, float]:
    """The share of a campaign's runs that are at least as good as the paper's best game, and CPU seconds per run."""
    runs = campaign.runs
    return sum(run.score >= PAPER_BEST for run in runs) / len(runs), sum(run.cpu_seconds for run in runs) / len(runs)


def _claim(levels: Sequence[Campaign], found: int) -> Claim:
    share, cpu = _as_good(next(campaign for campaign in levels if campaign.settings.level == 2))
    return Claim(
        f"Self-play with ranked rewards, near the best by hand ({HUMAN['5D']}): {PAPER_BEST} moves on 5D after a week "
        "on eight GPUs",
        f"{morpion_learning.full_size_best()} by its system in one sitting; {found} by search in this run",
        f"record {RECORDS['5D']}, at most {UPPER_BOUNDS['5D']}",
        "in part",
        f"{share:.0%} of runs of NRPA, a search that learns nothing lasting, do as well in {cpu:.2f} s.",
    )


def _conclusion(levels: Sequence[Campaign], timed: dict[str, list[Campaign]], found: int) -> str:
    share, cpu = _as_good(next(campaign for campaign in levels if campaign.settings.level == 2))
    longest = max(campaign.best.score for campaign in timed["5T"])
    return (
        f"The paper's best game on 5D has {PAPER_BEST} moves. NRPA of level 2 does as well in {share:.0%} of its runs, "
        f"at {cpu:.2f} CPU seconds each. The longest games of this run have {found} moves on 5D, where the record is "
        f"{RECORDS['5D']}, and {longest} on 5T, where it is {RECORDS['5T']}; those that ship have "
        f"{len(shipped('5D').moves)} and {len(shipped('5T').moves)}. The games of the paper's own system do not get "
        "longer by training as far as we ran it: its policy learns from itself, and only the value learns anything new."
    )


EXAMPLE = ("(27,32) \\ 0", "(28,24) | +2", "(30,26) \\ 0", "(31,29) | -2", "(31,30) | +1")
"""Moves as in Figure 7.1: the fourth line crosses the third, and the fifth touches the fourth at an end, which is legal
in 5T and not in 5D."""


def _moves_example() -> Figure:
    state = load("morpion", "5T").initial_state()
    for text in EXAMPLE:
        state.apply(state.parse_action(text))
    caption = "Figure 7.1: lines may cross (4 and 3); 5 touches 4 at an end, which is legal in 5T and not in 5D."
    return Figure(state.svg(), caption)


def _longest_games(
    levels: Sequence[Campaign], small: dict[str, Campaign], timed: dict[str, list[Campaign]], command: str
) -> Table:
    rows = []
    for variant in Morpion.variants:
        mine = [*timed.get(variant, []), *([small[variant]] if variant in small else [])]
        if variant == "5D":
            mine += levels
        nrpa = [campaign for campaign in mine if campaign.settings.method == "nrpa"]
        rows.append(
            [
                variant,
                str(PAPER_BEST) if variant == "5D" else "-",
                str(max(campaign.best.score for campaign in mine)),
                str(max(campaign.best.score for campaign in nrpa)),
                str(len(shipped(variant).moves)),
                str(HUMAN[variant] or "-"),
                str(RECORDS[variant]),
                Exact(UPPER_BOUNDS[variant])
                if UPPER_BOUNDS[variant] == RECORDS[variant]
                else f"{UPPER_BOUNDS[variant]}",
            ]
        )
    columns = [
        "variant", "paper", "this run, all searches", "this run, NRPA", "our shipped grid", "best by hand", "record",
        "upper bound",
    ]  # fmt: skip
    note = (
        "The paper's game was found on a board of 22 x 22, after training of about a week. It quotes an upper bound of "
        "121 for 5D; 84 has been proven since. A bound that a game reaches is exact: "
        "that game is optimal. Every game here was approved by the slow referee."
    )
    return Table("The longest games", columns, rows, command, note)


def _levels(levels: Sequence[Campaign], seed: int, command: str) -> Table:
    games = Morpion().random_games(20_000, seed)
    low, high = bootstrap_interval(games.lengths.astype(np.float64))
    share = float(np.mean(games.lengths >= PAPER_BEST))
    rows = [
        ["random play", f"{games.games:,}", f"{games.lengths.mean():.2f} ({low:.2f} to {high:.2f})",
         str(games.lengths.max()), f"{share:.0%}", "", "", "42.90"]
    ]  # fmt: skip
    for campaign in levels:
        scores = np.array([run.score for run in campaign.runs], dtype=np.float64)
        low, high = bootstrap_interval(scores)
        reached = int(np.sum(scores >= PAPER_BEST))
        share_low, share_high = wilson_interval(reached, len(scores))
        cpu = sum(run.cpu_seconds for run in campaign.runs)
        rate = sum(run.playouts for run in campaign.runs) / max(cpu, 1e-9)
        rows.append(
            [
                f"NRPA level {campaign.settings.level}",
                f"{len(scores):,}",
                f"{scores.mean():.2f} ({low:.2f} to {high:.2f})" if low < high else f"{scores.mean():.2f}",
                f"{scores.max():.0f}",
                f"{reached / len(scores):.0%} ({share_low:.0%} to {share_high:.0%})",
                f"{cpu / len(scores):.3f} s",
                f"{rate:,.0f}",
                KNOWN.get(campaign.settings.level, "-"),
            ]
        )
    columns = [
        "5D", "runs", "mean moves (95%)", "best", f"at least the paper's {PAPER_BEST} (95%)", "CPU time per run",
        "playouts a CPU second", "known of such code",
    ]  # fmt: skip
    note = f"Seeds {seed}, {seed + 1} and so on. A run of level n is 100 to the power of n playouts."
    return Table("Nested Rollout Policy Adaptation on 5D", columns, rows, command, note)


def _methods(timed: dict[str, list[Campaign]], seconds: float, command: str) -> Table:
    rows = []
    for variant, campaigns in timed.items():
        for campaign in campaigns:
            scores = [run.score for run in campaign.runs]
            rows.append(
                [
                    variant,
                    f"{campaign.settings.method}, level {campaign.settings.level}",
                    str(campaign.best.score),
                    f"{campaign.best.seconds:.0f} s",
                    f"{len(scores)}",
                    f"{np.mean(scores):.1f}" if scores else "-",
                    f"{campaign.playouts:,}",
                ]
            )
    columns = ["variant", "search", "best", "found after", "whole runs", "their mean", "playouts"]
    note = f"Every search had {seconds:g} s on all cores of this machine. A run cut short counts for the best only."
    return Table("Searches at equal time", columns, rows, command, note)


def _grids(timed: dict[str, list[Campaign]], levels: Sequence[Campaign]) -> list[Figure]:
    figures = []
    for variant, campaigns in timed.items():
        campaign = max([*campaigns, *(levels if variant == "5D" else ())], key=lambda c: c.best.score)
        caption = f"The longest {variant} game of this run: {campaign.best.score} moves, {campaign.best.how}."
        figures.append(Figure(campaign.state.svg(remarks=[campaign.best.how]), caption))
    figures.append(Figure(shipped("5T").svg(), f"Our longest 5T game: {len(shipped('5T').moves)} moves."))
    return figures


def _progress_curves(timed: dict[str, list[Campaign]]) -> Figure:
    def paint(figure: Any) -> None:
        for axes, (variant, campaigns) in zip(figure.subplots(1, 2), timed.items(), strict=True):
            curves: dict[str, tuple[list[float], list[float]]] = {}
            for campaign in campaigns:
                # A staircase: each height lasts until the next better game, the last one until the end.
                times = [at for at, _ in campaign.history] + [campaign.seconds]
                heights = [float(score) for _, score in campaign.history]
                xs = [x for at, until in pairwise(times) for x in (at, until)]
                curves[campaign.settings.method] = xs, [y for height in heights for y in (height, height)]
            curves["the record"] = [0.1, max(c.seconds for c in campaigns)], [float(RECORDS[variant])] * 2
            plots.lines(axes, curves, "seconds, all cores", "longest game", variant)
            axes.set_xscale("log")

    return Figure(plots.draw(paint, 9, 3.6), "The longest game found so far, by search and time.", wide=True)
