"""Line charts as SVG, readable in black and white: series differ by marker and dashes.

Drawn here, not by a plotting library, so that a page stays self-contained: no links, no fonts, the reader's colours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 460, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 14, 30, 46
_DASHES = ["", "7 3", "2 3", "9 3 2 3"]


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    log_y: bool = False,
) -> str:
    """A chart of (x, y) points by series name; values that are not finite are left out."""
    points = {name: [(x, y) for x, y in line if math.isfinite(y)] for name, line in series.items()}
    xs = sorted({x for line in points.values() for x, _ in line})
    ys = [y for line in points.values() for _, y in line]
    if not xs:
        raise ValueError("a chart needs at least one finite point")
    ticks = _log_ticks(min(ys), max(ys)) if log_y else _linear_ticks(min(0.0, min(ys)), max(ys))
    scale = math.log10 if log_y else float
    low, high = scale(ticks[0]), scale(ticks[-1])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - xs[0]) / ((xs[-1] - xs[0]) or 1)
        up = (scale(y) - low) / ((high - low) or 1)
        return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    legend_rows = (len(points) + 1) // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT + 20 * legend_rows}" role="img" '
        f'aria-label="{escape(title)}" font-family="sans-serif" font-size="12" fill="currentColor" '
        'stroke="currentColor" stroke-width="0">',
        f'<text x="{_WIDTH / 2}" y="18" text-anchor="middle" font-size="14">{escape(title)}</text>',
    ]
    for tick in ticks:
        _, y = place(xs[0], tick)
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke-width="0.5" opacity="0.35"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:,g}</text>'
        )
    for tick in xs:
        x, _ = place(tick, ticks[0])
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{tick:g}</text>')
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(
        f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>'
        f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>'
    )
    for number, (name, line) in enumerate(points.items()):
        path = "M" + "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in line) if line else ""
        dashes = f'stroke-dasharray="{_DASHES[number % len(_DASHES)]}"'
        parts.append(f'<path d="{path}" fill="none" stroke-width="1.6" {dashes}/>')
        parts += [_marker(number, *place(x, y)) for x, y in line]
        x, y = _LEFT + (number % 2) * 200, _HEIGHT + 20 * (number // 2) + 6
        parts.append(
            f'<path d="M{x} {y}h34" stroke-width="1.6" {dashes}/>{_marker(number, x + 17, y)}'
            f'<text x="{x + 42}" y="{y + 4}">{escape(name)}</text>'
        )
    return "".join(parts) + "</svg>"


def _marker(number: int, x: float, y: float) -> str:
    shapes = [
        f"M{x - 3.5:.1f} {y:.1f}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
        f"M{x - 3.2:.1f} {y - 3.2:.1f}h6.4v6.4h-6.4z",
        f"M{x:.1f} {y - 4.2:.1f}l4 7.2h-8z",
        f"M{x:.1f} {y - 4.5:.1f}l4.5 4.5l-4.5 4.5l-4.5 -4.5z",
    ]
    hollow = number // len(shapes) % 2 == 1
    fill = 'fill="none" stroke-width="1.2"' if hollow else ""
    return f'<path d="{shapes[number % len(shapes)]}" {fill}/>'


def _linear_ticks(low: float, high: float) -> list[float]:
    """Four to nine round numbers that cover the range."""
    step = 10 ** math.floor(math.log10((high - low) or 1))
    for factor in (2.0, 1.0, 0.5, 0.2):
        if (high - low) / (step * factor) >= 4:
            step *= factor
            break
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(step * n, 12) for n in range(first, max(last, first + 1) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**n for n in range(first, max(last, first + 1) + 1)]
