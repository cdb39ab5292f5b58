"""Runs side by side: a table with what differs, and curves, for the terminal and as a page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rookery.report import plots
from rookery.report.study import Figure, Result, Table
from rookery.report.text import cell
from rookery.run import INFO, Run, find_runs, is_figure

MARKS = "abcdefghijklmnopqrstuvwxyz"


def found_runs(places: Sequence[Path]) -> list[Run]:
    """The runs that folders are or contain, the newest first; ValueError if there are none."""
    folders: dict[Path, None] = {}
    for place in places:
        inside = [place] if (place / INFO).is_file() else list(find_runs(place))
        if not inside:
            raise ValueError(f"there is no run in {place}")
        folders |= dict.fromkeys(inside)
    opened = []
    for folder in folders:
        try:
            opened.append(Run.open(folder))
        except ValueError:
            if folder in places:
                raise
    return sorted(opened, key=lambda run: -float(run.info.get("started", 0)))


def differing(runs: Sequence[Run]) -> list[str]:
    """The settings in which runs differ."""
    names = {name: None for run in runs for name in run.settings}
    return [name for name in names if len({str(run.settings.get(name)) for run in runs}) > 1]


def table(runs: Sequence[Run], metric: str = "", compare: bool = False) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of text: what each run is, how far it is and its figure; to compare, with what differs."""
    settings = differing(runs) if compare else []
    columns = ["run", "game", "method", "seed", "state", "time", "figure", *settings]
    rows = []
    for run in runs:
        figures = run.info.get("figures", {})
        name = metric or next((name for name in figures if name != "progress"), "")
        shown = f"{name} {cell(figures[name])}" if name in figures else "-"
        rows.append([
            str(run.folder), " ".join(filter(None, [run.info["game"], run.info.get("variant")])), run.info["method"],
            str(run.seed), run.state, elapsed(run.info.get("seconds", 0.0)), shown,
            *(cell(run.settings.get(name)) for name in settings),
        ])  # fmt: skip
    return columns, rows


def elapsed(seconds: float) -> str:
    """A time as people read it.

    >>> elapsed(7.25), elapsed(3723)
    ('7.2 s', '1:02:03')
    """
    return f"{seconds:.1f} s" if seconds < 60 else time.strftime("%-H:%M:%S", time.gmtime(seconds))


def curve(run: Run, metric: str) -> tuple[list[float], list[float]]:
    """A metric of a run over what its method counts: the first figure that only grows, else the number of the row."""
    rows = [row for row in run.rows if is_figure(row.get(metric))]
    names = [name for name in (rows[0] if rows else {}) if name not in (metric, "progress")]
    growing = [
        name
        for name in names
        if all(is_figure(row.get(name)) for row in rows) and all(a[name] < b[name] for a, b in pairwise(rows))
    ]
    xs = [float(row[growing[0]]) for row in rows] if growing else [float(i) for i in range(len(rows))]
    return xs, [float(row[metric]) for row in rows]


def common_metric(runs: Sequence[Run], metric: str = "") -> str:
    """The metric to plot: the given one, or the first that all runs report; ValueError if there is none."""
    names = [name for name in (runs[0].rows[-1] if runs and runs[0].rows else {}) if name != "progress"]
    shared = [name for name in names if all(run.rows and is_figure(run.rows[-1].get(name)) for run in runs)]
    if metric:
        if not any(is_figure(row.get(metric)) for run in runs for row in run.rows):
            raise ValueError(f"no run reports {metric!r}; all report {', '.join(shared) or 'nothing in common'}")
        return metric
    if not shared:
        raise ValueError("the runs report no figure in common; name one with --metric")
    return shared[0]


def text_plot(runs: Sequence[Run], metric: str, width: int = 72, height: int = 14) -> str:
    """Curves in plain text: one letter per run, `*` where they meet."""
    curves = {mark: curve(run, metric) for mark, run in zip(MARKS, runs, strict=False)}
    points = [(x, y) for xs, ys in curves.values() for x, y in zip(xs, ys, strict=True)]
    if not points:
        return f"no run reports {metric}"
    (left, right), (low, high) = ((min(values), max(values)) for values in zip(*points, strict=True))
    grid = [[" "] * width for _ in range(height)]
    for mark, (xs, ys) in curves.items():
        for x, y in zip(xs, ys, strict=True):
            column = round((x - left) / (right - left or 1) * (width - 1))
            row = height - 1 - round((y - low) / (high - low or 1) * (height - 1))
            grid[row][column] = mark if grid[row][column] in (" ", mark) else "*"
    labels = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    wide = max(map(len, labels))
    lines = [f"{label:>{wide}} |{''.join(row).rstrip()}" for label, row in zip(labels, grid, strict=True)]
    lines.append(f"{'':>{wide}} +{'-' * width}")
    lines.append(f"{'':>{wide}}  {left:<{width // 2}.4g}{right:>{width - width // 2}.4g}")
    names = [f"  {mark}: {run.folder}" for mark, run in zip(curves, runs, strict=False)]
    return "\n".join([metric, *lines, *names])


def result(runs: Sequence[Run], metric: str, command: str) -> Result:
    """The runs as a report: the table, and their curves in one chart."""
    columns, rows = table(runs, metric, compare=True)
    shown = [run for run in runs if curve(run, metric)[0]][: len(plots.STYLES)]
    curves = {str(run.folder): curve(run, metric) for run in shown}
    note = "Settings are shown where they differ." + (
        f" The chart has the newest {len(shown)} runs." if len(shown) < len(runs) else ""
    )
    figures = []
    if curves:
        drawn = plots.draw(lambda figure: plots.lines(figure.subplots(), curves, "", metric), 8.0, 4.0)
        figures = [Figure(drawn, f"{metric} of {len(shown)} runs", True)]
    return Result("runs", "Runs", 0, [Table("Runs", columns, rows, command, note)], figures)
