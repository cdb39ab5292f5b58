"""SVG for boards: one style for notebooks, reports, docs and the web page.

A game draws its board on a `Canvas` and ends with `draw_overlay`. Every cell a person can touch is an element with a
`data-cell` attribute; what must stay upright when the board is turned round carries its middle as `data-upright`. A
piece that moves from cell to cell carries its kind as `data-piece`, by which the page animates and drags it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rookery.game import Overlay, State

INK = "#2c2a27"
PAPER = "#faf8f3"
LIGHT = "#ece5d5"
DARK = "#b9a88a"
LINE = "#8d8069"
HIGHLIGHTS = {"focus": "#e3b341", "good": "#3f8f5f", "bad": "#c0503f", "last": "#6f8fb8"}
ACCENT = "#b4532a"
FONT = "ui-sans-serif, system-ui, 'Helvetica Neue', Arial, sans-serif"


class Canvas:
    """Collects SVG elements. Coordinates are in units of one cell."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []
        self.ground: int | None = None
        """How many of the parts lie below marks; None for all."""
        self.add(f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>')

    def pieces(self) -> None:
        """What is drawn from here on stands above the marks that an overlay puts on cells."""
        if self.ground is None:
            self.ground = len(self.parts)

    def add(self, element: str) -> None:
        self.parts.append(element)

    def rect(self, x: float, y: float, w: float, h: float, fill: str, cell: int | None = None, extra: str = "") -> None:
        data = "" if cell is None else f' data-cell="{cell}"'
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}"{data} {extra}/>')

    def circle(self, x: float, y: float, r: float, fill: str, cell: int | None = None, extra: str = "") -> None:
        data = "" if cell is None else f' data-cell="{cell}"'
        self.add(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill}"{data} {extra}/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, stroke: str, width: float, extra: str = "") -> None:
        ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
        self.add(f'<line {ends} stroke="{stroke}" stroke-width="{width:g}" {extra}/>')

    def text(self, x: float, y: float, text: str, size: float, fill: str = INK, extra: str = "") -> None:
        """Text centred on (x, y)."""
        self.add(
            f'<text x="{x:g}" y="{y + 0.35 * size:g}" font-size="{size:g}" fill="{fill}" text-anchor="middle" {extra}>'
            f"{escape(text)}</text>"
        )

    def render(self, cell_pixels: float = 48, metadata: str = "") -> str:
        """The whole SVG; `metadata` is carried as text that is not drawn."""
        w, h = self.width, self.height
        meta = f"<metadata>{escape(metadata)}</metadata>" if metadata else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:g} {h:g}" width="{w * cell_pixels:g}" '
            f'height="{h * cell_pixels:g}" font-family="{FONT}" role="img"><title>{escape(self.title)}</title>{meta}'
            + "".join(self.parts)
            + "</svg>"
        )


def text_board(text: str) -> str:
    """The drawing of a game that has none of its own: its text."""
    lines = text.split("\n")
    canvas = Canvas(max(4.0, 0.32 * max(map(len, lines)) + 1), 0.6 * len(lines) + 1, text)
    for i, line in enumerate(lines):
        canvas.text(canvas.width / 2, 0.8 + 0.6 * i, line, 0.5, extra='font-family="ui-monospace, monospace"')
    return canvas.render()


def labelled(cells: Sequence[str], rows: Sequence[str], columns: Sequence[str]) -> str:
    """A board for the terminal, with the names of its rows and columns.

    >>> print(labelled("K..q", ["2", "1"], ["a", "b"]))
    2  K .
    1  . q
       a b
    """
    wide = max(map(len, [*cells, *columns]))
    start = max(map(len, rows)) + 2
    lines = []
    for i, row in enumerate([*rows, ""]):
        here = cells[i * len(columns) : (i + 1) * len(columns)] or columns
        lines.append(row.ljust(start) + " ".join(cell.ljust(wide) for cell in here))
    return "\n".join(line.rstrip() for line in lines)


def bars(title: str, rows: Sequence[tuple[str, float]]) -> str:
    """Signed numbers as bars to the right and to the left of a line."""
    canvas = Canvas(13.5, 0.7 * len(rows) + 0.6, title)
    most = max((abs(value) for _, value in rows), default=0.0) or 1.0
    zero, width = 10.4, 2.8
    for i, (label, value) in enumerate(rows):
        y = 0.65 + 0.7 * i
        place = f'x="7.2" y="{y + 0.13:g}" text-anchor="end"'
        canvas.add(f'<text {place} font-size="0.38" fill="{INK}">{escape(label[:40])}</text>')
        length = width * abs(value) / most
        colour = HIGHLIGHTS["good" if value > 0 else "bad"]
        canvas.rect(zero - (length if value < 0 else 0), y - 0.2, length, 0.4, colour, extra='rx="0.05"')
        canvas.text(zero + (0.8 if value < 0 else -0.8), y, f"{value:+.3g}", 0.34)
    canvas.line(zero, 0.25, zero, canvas.height - 0.25, LINE, 0.03)
    return canvas.render(32)


MARGIN = 0.34
"""The width of the edge around a checkerboard, on which its ranks and files are named."""


def checkerboard(canvas: Canvas, rows: int, columns: int, margin: float = MARGIN, first_dark: bool = False) -> None:
    """Squares with files a, b, c ... below and ranks on the left. Cell 0 is the top left one."""
    for row in range(rows):
        for column in range(columns):
            fill = DARK if (row + column + rows + first_dark) % 2 else LIGHT
            canvas.rect(margin + column, margin + row, 1, 1, fill, row * columns + column)
        canvas.text(margin / 2, margin + row + 0.5, str(rows - row), 0.22, LINE)
    for column in range(columns):
        canvas.text(margin + column + 0.5, margin * 1.5 + rows, chr(ord("a") + column), 0.22, LINE)
    edge = f'stroke="{LINE}" stroke-width="0.04"'
    canvas.rect(margin, margin, columns, rows, "none", extra=f"{edge} pointer-events='none'")


def draw_overlay(
    canvas: Canvas, state: State, overlay: Overlay | None, centre: Callable[[int], tuple[float, float]]
) -> None:
    """Highlights and colours of values under the pieces of a drawn board whose cells are 1 wide; arrows, labels and the
    best values above them."""
    if overlay is None:
        return
    above, ground = canvas.parts, len(canvas.parts) if canvas.ground is None else canvas.ground
    canvas.parts = ['<g pointer-events="none">']
    for cell, kind in overlay.highlights.items():
        x, y = centre(cell)
        opacity = "0.5" if kind == "last" else "0.6"
        canvas.rect(x - 0.5, y - 0.5, 1, 1, HIGHLIGHTS[kind], extra=f'fill-opacity="{opacity}"')
    ways = _ways(state, overlay.values)
    _colour_values(canvas, state, overlay.values, ways, centre)
    canvas.add("</g>")
    canvas.parts = [*above[:ground], *canvas.parts, *above[ground:], '<g pointer-events="none">']
    for start, end in overlay.arrows:
        arrow(canvas, centre(start), centre(end))
    for cell, label in overlay.labels.items():
        x, y = centre(cell)
        canvas.text(x, y, label, 0.42 if len(label) < 3 else 0.32, extra='font-weight="600"')
    _write_values(canvas, state, overlay, ways, centre)
    canvas.add("</g>")


SCALE = ("#c0503f", "#d58a4e", "#e3c06a", "#9db368", "#3f8f5f")
"""The colours of values, from the worst move to the best."""
WRITTEN = 3
"""Values that are written on a board; all have a colour."""


def colour_of(value: float, values: Sequence[float]) -> str:
    """The colour of a value among others.

    >>> [SCALE.index(colour_of(value, [0.0, 0.5, 1.0])) for value in (0.0, 0.5, 1.0)]
    [0, 2, 4]
    """
    low, high = min(values), max(values)
    share = 1.0 if high == low else (value - low) / (high - low)
    return SCALE[min(len(SCALE) - 1, int(share * len(SCALE)))]


def _ways(state: State, values: Mapping[int, float]) -> dict[tuple[int, int], int]:
    """The best action for every first and last cell, the best of all first."""
    ways: dict[tuple[int, int], int] = {}
    for action in sorted(values, key=lambda action: -values[action]):
        if cells := state.action_cells(action):
            ways.setdefault((cells[0], cells[-1]), action)
    return ways


def _colour_values(
    canvas: Canvas, state: State, values: Mapping[int, float], ways: Mapping[tuple[int, int], int],
    centre: Callable[[int], tuple[float, float]],
) -> None:  # fmt: skip
    """A cell has the colour of the best action that ends there; a line has the colour of its own action."""
    ends: dict[int, int] = {}
    numbers = list(values.values())
    for (_, end), action in reversed(list(ways.items())):  # the best ones last, above the others
        line = state.action_line(action)
        if line is None:
            ends[end] = action
        else:
            colour = colour_of(values[action], numbers)
            canvas.line(
                *centre(line[0]), *centre(line[1]), colour, 0.16, 'stroke-linecap="round" stroke-opacity="0.75"'
            )
    for cell, action in ends.items():
        x, y = centre(cell)
        colour = colour_of(values[action], numbers)
        canvas.rect(x - 0.5, y - 0.5, 1, 1, colour, extra='fill-opacity="0.55"')


def _write_values(
    canvas: Canvas, state: State, overlay: Overlay, ways: Mapping[tuple[int, int], int],
    centre: Callable[[int], tuple[float, float]],
) -> None:  # fmt: skip
    """The best values are written at the lower edge of the cell where their action ends, below what is on the cell.
    The best have an arrow, and so have actions that end on one cell; there the value stands before the end. No value
    covers another: where there is no room, the lower one is left out."""
    values = overlay.values
    few = dict(list(ways.items())[:WRITTEN])
    ends = Counter(end for _, end in few)
    best = max(values.values(), default=0.0)
    for (start, end), action in reversed(few.items()):
        moves = state.preview_cells(action) == state.action_cells(action)  # and does not fill or join other cells
        if start != end and moves and (values[action] == best or ends[end] > 1):
            arrow(canvas, centre(start), centre(end), 0.9 if values[action] == best else 0.35)
    taken: list[tuple[float, float, float]] = []  # the middles and widths of what is written
    for (start, end), action in few.items():
        text = overlay.words.get(action) or short(values[action])
        width = 0.14 * len(text) + 0.14
        (x0, y0), (x1, y1) = centre(start), centre(end)
        if state.action_line(action) is not None:  # the new dot tells the line
            (x0, y0), (x1, y1) = (x1, y1), (x0, y0)
        length = max(math.hypot(x1 - x0, y1 - y0), 1.0)
        places = [(x1, y1 + 0.33), (x1, y1 - 0.33)] if ends[end] == 1 else []
        places += [(x1 - back / length * (x1 - x0), y1 - back / length * (y1 - y0)) for back in (0.4, 0.55, 0.7)]
        for x, y in places:
            x = min(max(x, width / 2), canvas.width - width / 2)
            y = min(max(y, 0.16), canvas.height - 0.16)
            if all(abs(y - other_y) >= 0.32 or abs(x - other_x) >= (width + w) / 2 for other_x, other_y, w in taken):
                fill = HIGHLIGHTS["good"] if values[action] == best else INK
                canvas.rect(x - width / 2, y - 0.16, width, 0.32, PAPER, extra='rx="0.08" fill-opacity="0.9"')
                canvas.text(x, y, text, 0.22, fill, 'font-weight="600"')
                taken.append((x, y, width))
                break


def short(value: float) -> str:
    """A value in few characters, without an exponent.

    >>> [short(value) for value in (3.86e-07, 0.9731, -0.5, 12.345, 1234.5, 2.5e6)]
    ['0', '0.973', '-0.5', '12.3', '1234', '2.5M']
    """
    size = abs(value)
    if size >= 1e12:
        return "∞" if value > 0 else "-∞"
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= unit:
            return f"{value / (1e3 if letter == 'k' else unit):.3g}{letter}"
    text = f"{value:.{3 if size < 1 else 2 if size < 10 else 1 if size < 100 else 0}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def arrow(canvas: Canvas, start: tuple[float, float], end: tuple[float, float], opacity: float = 0.8) -> None:
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    if length == 0:
        return
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    tip_x, tip_y = x2 - 0.1 * dx, y2 - 0.1 * dy
    base_x, base_y = tip_x - 0.3 * dx, tip_y - 0.3 * dy
    canvas.add(f'<g opacity="{opacity:g}">')
    canvas.line(x1 + 0.2 * dx, y1 + 0.2 * dy, base_x, base_y, ACCENT, 0.1, 'stroke-linecap="round"')
    canvas.add(
        f'<polygon fill="{ACCENT}" points="{tip_x:.3f},{tip_y:.3f} {base_x - 0.16 * dy:.3f},{base_y + 0.16 * dx:.3f} '
        f'{base_x + 0.16 * dy:.3f},{base_y - 0.16 * dx:.3f}"/></g>'
    )


# Chess pieces as outlines in a box of 100 by 100.
_BASE = "M24 88 L24 80 Q24 76 30 75 L70 75 Q76 76 76 80 L76 88 Z"
_PIECES = {
    "P": ["M50 22 A13 13 0 1 1 49.9 22 Z", "M40 47 L60 47 Q60 62 68 75 L32 75 Q40 62 40 47 Z"],
    "R": [
        "M30 24 L30 42 L38 47 L36 75 L64 75 L62 47 L70 42 L70 24 "
        "L61 24 L61 31 L55 31 L55 24 L45 24 L45 31 L39 31 L39 24 Z"
    ],
    "B": [
        "M50 13 A5 5 0 1 1 49.9 13 Z",
        "M50 23 Q67 37 66 51 Q65 60 57 64 L61 75 L39 75 L43 64 Q35 60 34 51 Q33 37 50 23 Z",
    ],
    "N": [
        "M36 75 Q36 60 49 50 Q43 51 39 55 L31 60 Q24 56 25 50 L38 34 Q40 25 48 23 "
        "L50 16 L57 24 Q75 33 72 58 Q71 67 68 75 Z"
    ],
    "Q": [
        "M50 12 A5 5 0 1 1 49.9 12 Z",
        "M22 24 A5 5 0 1 1 21.9 24 Z",
        "M78 24 A5 5 0 1 1 77.9 24 Z",
        "M22 33 L36 50 L50 21 L64 50 L78 33 L68 75 L32 75 Z",
    ],
    "K": [
        "M46 10 L54 10 L54 17 L61 17 L61 25 L54 25 L54 33 L46 33 L46 25 L39 25 L39 17 L46 17 Z",
        "M50 34 Q56 34 58 41 Q78 33 79 50 Q79 60 68 75 L32 75 Q21 60 21 50 Q22 33 42 41 Q44 34 50 34 Z",
    ],
}
_DETAILS = {
    "B": "M50 34 L50 50 M43 42 L57 42",
    "N": "M46 33 L47 34",
    "R": "M38 47 L62 47",
    "Q": "M34 67 L66 67",
    "K": "M35 66 Q50 60 65 66",
}


def chess_piece(canvas: Canvas, x: float, y: float, piece: str, white: bool = True, size: float = 0.94) -> None:
    """A chess piece ("K", "Q", "R", "B", "N", "P") centred on (x, y)."""
    fill, stroke = ("#fdfbf6", INK) if white else (INK, "#fdfbf6")
    outline = INK if white else "#14130f"
    transform = f"translate({x - size / 2:g} {y - size / 2:g}) scale({size / 100:g})"
    canvas.pieces()
    canvas.add(
        f'<g transform="{transform}" fill="{fill}" stroke="{outline}" stroke-width="3.4" stroke-linejoin="round" '
        f'pointer-events="none" data-upright="{x:g} {y:g}" data-piece="{piece if white else piece.lower()}">'
    )
    for path in [*_PIECES[piece], _BASE]:
        canvas.add(f'<path d="{path}"/>')
    if piece in _DETAILS:
        canvas.add(f'<path d="{_DETAILS[piece]}" fill="none" stroke="{stroke}" stroke-linecap="round"/>')
    canvas.add("</g>")


def piece_icon(piece: str, white: bool = True) -> str:
    """One chess piece as a drawing of its own."""
    canvas = Canvas(1, 1, piece)
    canvas.parts = []
    chess_piece(canvas, 0.5, 0.5, piece, white)
    return canvas.render()
