"""Drawings as pixels: the part of SVG that boards are drawn with, painted by Matplotlib.

>>> import rookery as rk
>>> pixels(rk.load("checkers").initial_state().svg()).shape
(413, 413, 3)
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STEP = re.compile(r"([MLHVQCAZ])([^A-Za-z]*(?:[eE][-+]?\d[^A-Za-z]*)*)")
_INHERITED = ("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "fill-opacity", "stroke-opacity",
              "font-family", "font-size", "font-weight", "text-anchor")  # fmt: skip
_SILENT = ("title", "desc", "metadata", "animate", "set")
"""Elements that are not painted."""


def pixels(svg: str) -> npt.NDArray[np.uint8]:
    """A drawing as an image, `[height, width, 3]`.

    Known are svg, g, rect, circle, ellipse, line, polyline, polygon, path (with absolute commands) and text, with
    colours, opacity and the transforms translate, scale and rotate. Anything else raises ValueError.
    """
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.transforms import Affine2D

    root = ElementTree.fromstring(svg)
    left, top, width, height = _numbers(root.get("viewBox", ""))
    wide, high = (float(root.get(name, size)) for name, size in (("width", width), ("height", height)))
    renderer: Any = RendererAgg(math.ceil(wide), math.ceil(high), 72)  # type: ignore[no-untyped-call]
    renderer.clear()
    scale = wide / width
    # SVG counts from the top, Matplotlib from the bottom.
    place = Affine2D().translate(-left, -top).scale(scale, -scale).translate(0, math.ceil(high))
    _paint(renderer, root, place, {}, 1.0)
    image = np.asarray(renderer.buffer_rgba(), np.float64)
    opaque = image[..., 3:] / 255
    return np.rint(image[..., :3] * opaque + 255 * (1 - opaque)).astype(np.uint8)


def _paint(renderer: Any, element: ElementTree.Element, place: Any, above: dict[str, str], opacity: float) -> None:
    """Paint an element and what is in it; `above` is what it inherits."""
    kind = element.tag.rpartition("}")[2]
    if kind in _SILENT:
        return
    style = above | {name: value for name, value in element.items() if name in _INHERITED}
    opacity *= float(element.get("opacity", 1))
    place = _transform(element.get("transform", "")) + place
    if kind in ("svg", "g"):
        for child in element:
            _paint(renderer, child, place, style, opacity)
        return
    path = _outline(kind, element, style)
    if not len(path.vertices):
        return
    scale = float(np.sqrt(abs(np.linalg.det(place.get_matrix()[:2, :2]))))
    fill = _colour(
        "none" if kind == "line" else style.get("fill", "black"), opacity * float(style.get("fill-opacity", 1))
    )
    stroke = _colour(style.get("stroke", "none"), opacity * float(style.get("stroke-opacity", 1)))
    line = renderer.new_gc()
    line.set_linewidth(float(style.get("stroke-width", 1)) * scale if stroke[3] else 0)
    line.set_foreground(stroke, isRGBA=True)
    line.set_capstyle({"round": "round", "square": "projecting"}.get(style.get("stroke-linecap", ""), "butt"))
    line.set_joinstyle({"round": "round", "bevel": "bevel"}.get(style.get("stroke-linejoin", ""), "miter"))
    line.set_snap(False)
    renderer.draw_path(line, path, place, fill if fill[3] else None)
    line.restore()


def _outline(kind: str, element: ElementTree.Element, style: dict[str, str]) -> Any:
    """The outline of a shape as a path of Matplotlib."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    def number(name: str, default: float = 0) -> float:
        return float(element.get(name, default))

    if kind == "rect":
        x, y, w, h = (number(name) for name in ("x", "y", "width", "height"))
        r = min(number("rx"), w / 2, h / 2)
        if not r:
            return Path([(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)], closed=True)
        corner = f"A{r} {r} 0 0 1"
        return _parsed(
            f"M{x + r} {y} L{x + w - r} {y} {corner} {x + w} {y + r} L{x + w} {y + h - r} {corner} {x + w - r} {y + h} "
            f"L{x + r} {y + h} {corner} {x} {y + h - r} L{x} {y + r} {corner} {x + r} {y} Z"
        )
    if kind in ("circle", "ellipse"):
        rx, ry = (number("r"), number("r")) if kind == "circle" else (number("rx"), number("ry"))
        return Affine2D().scale(rx, ry).translate(number("cx"), number("cy")).transform_path(Path.unit_circle())
    if kind == "line":
        return Path([(number("x1"), number("y1")), (number("x2"), number("y2"))])
    if kind in ("polyline", "polygon"):
        points = np.reshape(_numbers(element.get("points", "")), (-1, 2))
        return Path(np.vstack([points, points[:1]]), closed=True) if kind == "polygon" else Path(points)
    if kind == "path":
        return _parsed(element.get("d", ""))
    if kind == "text":
        family = "monospace" if "monospace" in style.get("font-family", "") else "sans-serif"
        bold = style.get("font-weight", "normal") in ("bold", "600", "700", "800", "900")
        path, width = _text("".join(element.itertext()), family, "bold" if bold else "normal")
        size = float(style.get("font-size", 16))
        shift = {"middle": 0.5, "end": 1.0}.get(style.get("text-anchor", ""), 0.0) * width
        place = Affine2D().translate(-shift, 0).scale(size, -size).translate(number("x"), number("y"))
        return place.transform_path(path)
    raise ValueError(f"a drawing with <{kind}> cannot be made into pixels")


@cache
def _text(text: str, family: str, weight: str) -> tuple[Any, float]:
    """The outline of a text of size 1 that begins at the origin, and its width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.path import Path
    from matplotlib.textpath import TextPath, text_to_path
    from matplotlib.transforms import Affine2D

    big = 100
    font = FontProperties(family=family, weight=weight, size=big)
    if not text.strip():
        return Path(np.empty((0, 2))), 0.0
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    outline = TextPath((0, 0), text, size=big, prop=font, usetex=False)
    return Affine2D().scale(1 / big).transform_path(Path(outline.vertices, outline.codes)), width / big


@cache
def _parsed(commands: str) -> Any:
    """The path that the commands of an SVG path draw."""
    from matplotlib.path import Path

    points: list[tuple[float, ...]] = []
    codes: list[np.uint8] = []
    start: tuple[float, ...] = (0.0, 0.0)
    here = start

    def go(code: np.uint8, *to: tuple[float, ...]) -> None:
        points.extend(to)
        codes.extend([code] * len(to))

    found = _STEP.findall(commands)
    if "".join(letter for letter, _ in found) != re.sub(r"[^A-DF-Za-df-z]", "", commands):
        raise ValueError(f"cannot read the path {commands[:80]!r}: the commands are M, L, H, V, Q, C, A and Z")
    for letter, rest in found:
        values = _numbers(rest)
        if letter == "Z":
            go(Path.CLOSEPOLY, start)
            here = start
            continue
        size = {"H": 1, "V": 1, "Q": 4, "C": 6, "A": 7}.get(letter, 2)
        for i in range(0, len(values), size):
            part = values[i : i + size]
            end = (part[0], here[1]) if letter == "H" else (here[0], part[0]) if letter == "V" else tuple(part[-2:])
            if letter == "A":
                arc = _arc(here, part, end)
                points.extend(map(tuple, arc.vertices[1:]))
                codes.extend(arc.codes[1:])
            elif letter in "QC":
                go(Path.CURVE3 if letter == "Q" else Path.CURVE4, *zip(part[::2], part[1::2], strict=True))
            elif letter == "M" and i == 0:
                go(Path.MOVETO, end)
                start = end
            else:
                go(Path.LINETO, end)
            here = end
    return Path(points, codes)


def _arc(start: tuple[float, ...], values: list[float], end: tuple[float, ...]) -> Any:
    """An arc of an ellipse from its ends, as SVG gives it (implementation notes B.2.4 of SVG 2)."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    rx, ry, turned, large, clockwise = values[:5]
    to_circle = Affine2D().rotate_deg(-turned).scale(1 / rx, 1 / ry)
    (x1, y1), (x2, y2) = to_circle.transform([start, end])
    half = math.hypot(x2 - x1, y2 - y1) / 2
    radius = max(1.0, half)
    away = math.sqrt(max(0.0, radius**2 - half**2)) * (1 if large == clockwise else -1)
    cx = (x1 + x2) / 2 + away * (y2 - y1) / (2 * half or 1)
    cy = (y1 + y2) / 2 - away * (x2 - x1) / (2 * half or 1)
    first, last = (math.degrees(math.atan2(y - cy, x - cx)) for x, y in ((x1, y1), (x2, y2)))
    # Path.arc draws towards growing angles, at most once round.
    arc = Path.arc(first, last + 360 * (last <= first)) if clockwise else Path.arc(last, first + 360 * (first <= last))
    vertices = np.asarray(arc.vertices)[:: 1 if clockwise else -1]
    back = Affine2D().scale(radius).translate(cx, cy) + to_circle.inverted()
    return Path(back.transform(vertices), arc.codes)


def _transform(text: str) -> Any:
    from matplotlib.transforms import Affine2D

    whole = Affine2D()
    for name, given in reversed(re.findall(r"(\w+)\s*\(([^)]*)\)", text)):
        values = _numbers(given)
        if name == "translate":
            whole.translate(values[0], values[1] if len(values) > 1 else 0)
        elif name == "scale":
            whole.scale(values[0], values[-1])
        elif name == "rotate":
            x, y = values[1:] or (0.0, 0.0)
            whole.rotate_deg_around(x, y, values[0])
        else:
            raise ValueError(f"a drawing with the transform {name} cannot be made into pixels")
    return whole


@cache
def _colour(name: str, opacity: float) -> tuple[float, float, float, float]:
    from matplotlib.colors import to_rgba

    if name == "none":
        return 0.0, 0.0, 0.0, 0.0
    red, green, blue, alpha = to_rgba(name)
    return red, green, blue, alpha * opacity


def _numbers(text: str) -> list[float]:
    return [float(found) for found in _NUMBER.findall(text)]
