"""Figures in one style, as SVG: dashes tell curves apart and shades bars, so that black and white will do.

>>> svg = draw(lambda figure: lines(figure.subplots(), {"a line": ([1, 2], [3, 4])}, "x", "y"), 4, 3)
>>> svg.startswith("<svg"), "a line" in svg
(True, True)
"""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery.draw import PAPER

STYLES = (
    ("#1b1b1b", "-", 1.0),
    ("#c2571a", "--", 0.0),
    ("#2a6f97", "-.", 0.55),
    ("#7a8b3c", ":", 0.25),
    ("#8a6fb0", (0, (6, 1, 1, 1, 1, 1)), 0.8),
    ("#9a9a9a", (0, (1, 2)), 0.4),
)
"""Colour, dashes and shade of the first, second .. curve or bars of a plot. Bars are shaded and not hatched, because
printing turns hatching into images of megabytes."""


def draw(paint: Callable[[Any], None], width: float, height: float) -> str:
    """An SVG of the given size in inches; `paint` gets a matplotlib figure. The same figure gives the same text."""
    import matplotlib
    from matplotlib.figure import Figure

    look: dict[Any, Any] = {
        "svg.fonttype": "none", "svg.hashsalt": "rookery", "font.size": 9, "font.family": "sans-serif",
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e0d8",
        "figure.facecolor": PAPER, "axes.facecolor": PAPER, "axes.axisbelow": True,
        "legend.frameon": False, "axes.titlesize": 9.5,
    }  # fmt: skip
    with matplotlib.rc_context(look):
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def lines(
    axes: Any,
    curves: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    x: str,
    y: str,
    title: str = "",
    log_y: bool = False,
) -> None:
    """Curves by their names: x and y values of each."""
    for (name, (xs, ys)), (colour, dashes, _) in zip(curves.items(), STYLES, strict=False):
        axes.plot(xs, ys, color=colour, linestyle=dashes, linewidth=1.4, label=name)
    axes.set(xlabel=x, ylabel=y, title=title, yscale="log" if log_y else "linear")
    axes.legend()


def parallel(axes: Any, columns: Mapping[str, Sequence[Any]], log: Container[str] = ()) -> None:
    """Parallel coordinates: an upright axis per column and a line per row. Rows come best first and are drawn darker.

    Columns of words and switches have a place per value; those named in `log` have a logarithmic scale.
    """
    places, count = [], len(next(iter(columns.values())))
    for at, (name, values) in enumerate(columns.items()):
        if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
            scaled = np.log(values) if name in log else np.asarray(values, dtype=float)
            low, high = float(scaled.min()), float(scaled.max())
            heights = (scaled - low) / (high - low) if high > low else np.full(count, 0.5)
            ticks = {f"{min(values):.4g}": float(heights.min()), f"{max(values):.4g}": float(heights.max())}
        else:
            words = sorted({str(value) for value in values})
            ticks = {word: i / max(1, len(words) - 1) for i, word in enumerate(words)}
            heights = np.array([ticks[str(value)] for value in values])
        places.append(heights)
        axes.axvline(at, color="#9a9a9a", linewidth=0.8)
        for word, height in ticks.items():
            axes.annotate(word, (at, height), xytext=(4, 2), textcoords="offset points", fontsize=8)
    for row in reversed(range(count)):
        share = row / max(1, count - 1)
        colour = tuple(0.1 + share * (limit - 0.1) for limit in (0.85, 0.82, 0.78))
        axes.plot([heights[row] for heights in places], color=colour, linewidth=2.0 if row == 0 else 1.1)
    axes.set_xticks(range(len(columns)), list(columns))
    axes.set(yticks=[], ylim=(-0.08, 1.12), xlim=(-0.1, len(columns) - 0.6))
    axes.grid(False)
    axes.spines["left"].set_visible(False)


def histogram(
    axes: Any, samples: Mapping[str, npt.ArrayLike], low: int, high: int, x: str, y: str, title: str = "",
    label_every: int = 1,
) -> None:  # fmt: skip
    """Percentages of the whole numbers from `low` to `high`; what lies outside counts at the ends.

    A narrow chart labels only some of the numbers: `label_every` is the step between them.
    """
    width = 0.86 / max(len(samples), 1)
    below = any(np.any(np.asarray(values) < low) for values in samples.values())
    above = any(np.any(np.asarray(values) > high) for values in samples.values())
    for i, ((name, values), (colour, _, shade)) in enumerate(zip(samples.items(), STYLES, strict=False)):
        counts = np.bincount(np.clip(values, low, high) - low, minlength=high - low + 1)
        heights = 100 * counts / max(counts.sum(), 1)
        places = np.arange(low, high + 1) + (i - (len(samples) - 1) / 2) * width
        axes.bar(places, heights, width, color=(colour, shade), edgecolor=colour, linewidth=0.7, label=name)
    ticks = [low, *range(low + label_every, high, label_every), high]
    axes.set_xticks(ticks, ["≤" * below + str(low), *map(str, ticks[1:-1]), "≥" * above + str(high)])
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.legend()


def heat_map(axes: Any, rows: Sequence[str], columns: Sequence[str], values: npt.NDArray[np.floating]) -> None:
    """Shares from 0 to 1 as shades, each with its percentage; NaN is left empty."""
    axes.imshow(np.clip(values, 0, 1), cmap="Greys", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), share in np.ndenumerate(values):
        if not np.isnan(share):
            axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=9)
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right")
    axes.set_yticks(range(len(rows)), rows)
    axes.grid(False)
    axes.tick_params(length=0)
