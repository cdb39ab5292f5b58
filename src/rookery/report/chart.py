"""A small chart as SVG: curves over numbered things, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rookery.games import draw

COLOURS = (draw.LINE, draw.ACCENT, draw.HIGHLIGHTS["good"], draw.HIGHLIGHTS["last"])
_LEFT, _TOP, _WIDTH, _HEIGHT = 1.1, 1.0, 14.0, 6.0


def log_curves_svg(title: str, curves: Mapping[str, Sequence[float]], labels: Sequence[str], unit: str) -> str:
    """One curve a name over the labels; all values must be at least 1."""
    canvas = draw.Canvas(_LEFT + _WIDTH + 0.4, _TOP + _HEIGHT + 1.3, title)
    canvas.text(canvas.width / 2, 0.35, title, 0.36, extra='font-weight="600"')
    decades = max(1, math.ceil(math.log10(max(max(values) for values in curves.values()))))

    def place(i: int, value: float) -> tuple[float, float]:
        across = _LEFT + (i + 0.5) * _WIDTH / len(labels)
        return across, _TOP + _HEIGHT * (1 - math.log10(value) / decades)

    for decade in range(decades + 1):
        y = place(0, 10**decade)[1]
        canvas.line(_LEFT, y, _LEFT + _WIDTH, y, draw.LIGHT, 0.03)
        canvas.text(_LEFT - 0.5, y, f"{10**decade:,}", 0.26, draw.LINE)
    for i, label in enumerate(labels):
        canvas.text(place(i, 1)[0], _TOP + _HEIGHT + 0.3, label, min(0.26, 0.5 * _WIDTH / len(labels)), draw.LINE)
    canvas.text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 0.7, unit, 0.26, draw.LINE)
    for number, (name, values) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x:.3f},{y:.3f}" for x, y in (place(i, value) for i, value in enumerate(values)))
        canvas.add(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="0.07"/>')
        at = _LEFT + 0.4 + number * _WIDTH / len(curves)
        canvas.line(at, 0.78, at + 0.5, 0.78, colour, 0.09)
        canvas.add(f'<text x="{at + 0.65:g}" y="0.87" font-size="0.27" fill="{draw.INK}">{name}</text>')
    return canvas.render()
