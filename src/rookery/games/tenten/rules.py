"""1010!: place the drawn piece, clear full rows and columns, and stay alive.

>>> game = TenTen(rows=3, columns=3, pieces="three")
>>> state = game.parse_state("##./.../... 1x2")
>>> [state.action_name(a) for a in state.legal_actions()]
['1x2@r2c1', '1x2@r2c2', '1x2@r3c1', '1x2@r3c2']
>>> state = game.parse_state("##./.../... 1x1")
>>> state.apply(state.legal_actions()[0])  # fills the row: 1 cell placed and 10 points for a line
>>> str(state), state.score
('.../.../... ?', 11)

Text form: rows of `#` and `.` joined by `/`, then the hand: piece names joined by `,`, with `-` for a slot already
placed and `?` for one still to be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType

from rookery import _native, draw
from rookery.game import TERMINAL, Level, NativeGame, Overlay, Randomness, find_action, native_state, play_chance

Shape = tuple[tuple[int, int], ...]


def _rectangle(rows: int, columns: int) -> Shape:
    return tuple((r, c) for r in range(rows) for c in range(columns))


def _corner(size: int, row: int, column: int) -> Shape:
    """An L whose two arms of `size` cells meet in the given corner of its square."""
    return tuple((r, c) for r, c in _rectangle(size, size) if r == row or c == column)


SHAPES: Mapping[str, Shape] = MappingProxyType(
    {f"{r}x{c}": _rectangle(r, c) for r, c in [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (4, 1), (1, 5), (5, 1)]}
    | {"2x2": _rectangle(2, 2), "3x3": _rectangle(3, 3)}
    | {
        f"L{size}-{name}": _corner(size, row * (size - 1), column * (size - 1))
        for size in (2, 3)
        for name, row, column in [("nw", 0, 0), ("ne", 0, 1), ("sw", 1, 0), ("se", 1, 1)]
    }
)
"""The 19 pieces: rectangles by rows x columns, corner-Ls by arm length and the corner in which the arms meet."""

_SMALL_CORNERS = ("L2-nw", "L2-ne", "L2-sw", "L2-se")
_FULL = {
    "1x1": 2, "1x2": 3, "2x1": 3, "1x3": 3, "3x1": 3, "1x4": 2, "4x1": 2, "1x5": 2, "5x1": 2, "2x2": 6, "3x3": 2,
    **dict.fromkeys(_SMALL_CORNERS, 2), "L3-nw": 1, "L3-ne": 1, "L3-sw": 1, "L3-se": 1,
}  # fmt: skip
PIECE_SETS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "full": _FULL,
        "no-3x3": {name: weight for name, weight in _FULL.items() if name != "3x3"},
        "three": {"1x1": 1, "1x2": 1, "2x1": 1},
        "seven": {"1x1": 2, "1x2": 2, "2x1": 2, **dict.fromkeys(_SMALL_CORNERS, 1)},
    }
)
"""Piece sets by name: each piece with its weight in the draw."""


class TenTen(NativeGame):
    """1010! on a board of up to 10x10.

    `pieces` names a set of `PIECE_SETS` or maps piece names to weights; a piece of your own is given as a drawing of
    `#` and `.` rows joined by `/`, for example `{"1x1": 1, "##./.##": 2}`.
    """

    name = "tenten"
    title = "1010!"
    blurb = "Place the pieces, clear rows and columns, stay alive."
    play_variant = "10x10-hand3"
    unit = "points"
    variants = MappingProxyType(
        {
            "10x10": {},
            "10x10-hand3": {"hand": 3},
            "10x10-no-3x3": {"pieces": "no-3x3"},
            "3x3-three": {"rows": 3, "columns": 3, "pieces": "three"},
            "3x3-seven": {"rows": 3, "columns": 3, "pieces": "seven"},
            "4x4-three": {"rows": 4, "columns": 4, "pieces": "three"},
            "4x4-seven": {"rows": 4, "columns": 4, "pieces": "seven"},
            "5x5-full": {"rows": 5, "columns": 5, "pieces": "full"},
        }
    )

    def __init__(
        self, rows: int = 10, columns: int = 10, pieces: str | Mapping[str, int] = "full", hand: int = 1
    ) -> None:
        if isinstance(pieces, str):
            if pieces not in PIECE_SETS:
                raise ValueError(f"unknown piece set {pieces!r}; known sets: {', '.join(PIECE_SETS)}")
            pieces = PIECE_SETS[pieces]
        self.rows, self.columns, self.hand = rows, columns, hand
        self.piece_names = list(pieces)
        self.shapes = [SHAPES[name] if name in SHAPES else _parse_shape(name) for name in pieces]
        self.weights = list(pieces.values())
        super().__init__(_native.tenten.Rules(rows, columns, self.shapes, self.weights, hand))

    def initial_state(self) -> TenTenState:
        return TenTenState(self)

    def parse_state(self, text: str) -> TenTenState:
        parts = text.split()
        if not 1 <= len(parts) <= 2:
            raise ValueError(f"expected board rows and a hand, such as '#../... 1x2', not {text[:80]!r}")
        rows = parts[0].split("/")
        if len(rows) != self.rows or any(len(row) != self.columns or set(row) - set("#.") for row in rows):
            raise ValueError(f"expected {self.rows} rows of {self.columns} '#' or '.', joined by '/', not {parts[0]!r}")
        cells = [r * self.columns + c for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "#"]
        names = parts[1].split(",") if len(parts) == 2 else ["?"] * self.hand
        if len(names) != self.hand:
            raise ValueError(f"expected {self.hand} pieces in the hand, not {len(names)}")
        for name in names:
            if name not in (*self.piece_names, "-", "?"):
                raise ValueError(
                    f"unknown piece {name!r}; known: {', '.join(self.piece_names)}, - (placed), ? (undrawn)"
                )
        drawn = names.index("?") if "?" in names else self.hand
        hand = [-1 if name in "-?" else self.piece_names.index(name) for name in names]
        return TenTenState(self, cells, hand, drawn)

    def random_start(self, rng: Randomness = None) -> TenTenState:
        """The empty board with a drawn hand."""
        state = self.initial_state()
        play_chance(state, rng)
        return state

    def levels(self) -> Sequence[Level]:
        """Measured by `python -m benchmarks.levels` in the variant 10x10-hand3; of others nothing is told."""
        return _LEVELS if self.variant == "10x10-hand3" else [replace(level, about="") for level in _LEVELS]

    def pieces(self) -> dict[str, str]:
        return {"#": "A block", ".": "Nothing"} | {name: f"In the hand: {name}" for name in self.piece_names}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """The text after a block is put on a cell, or a piece into a slot of the hand.

        >>> TenTen(3, 3, "three").with_piece("#../.../... ?", 8, "#")
        '#../.../..# ?'
        >>> TenTen(3, 3, "three", hand=2).with_piece("#../.../... ?,?", 10, "1x2")
        '#../.../... -,1x2'
        """
        board, _, written = text.partition(" ")
        size, slots = self.rows * self.columns, written.split(",")
        if not 0 <= cell < size + self.hand:
            raise ValueError(f"cells are 0 to {size + self.hand - 1}, not {cell}")
        if piece in self.piece_names:
            slots[max(0, cell - size)] = piece
            # What comes before a drawn piece is drawn or placed.
            slots = ["-" if slot == "?" and piece in slots[i:] else slot for i, slot in enumerate(slots)]
        elif cell < size:
            cells = list(board.replace("/", ""))
            cells[cell] = piece
            board = "/".join("".join(cells[i : i + self.columns]) for i in range(0, size, self.columns))
        return f"{board} {','.join(slots)}"


_LEVELS = (
    Level("Guesser", "random", about="84 points per game"),
    Level("Greedy", "greedy", about="550 points per game"),
    Level("Steady", "linear", about="no game lost within 300 pieces"),
    Level("Best", "best", about="no game lost within 300 pieces"),
)


def _parse_shape(drawing: str) -> Shape:
    rows = drawing.split("/")
    if not re.fullmatch(r"[#./]+", drawing) or len({len(row) for row in rows}) != 1:
        known = ", ".join(SHAPES)
        raise ValueError(f"unknown piece {drawing!r}; known: {known}; or draw one as rows such as '##./.##'")
    return tuple((r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "#")


@native_state
class TenTenState(_native.tenten.State):
    """A board and a hand. `score`, `rounds`, `cells` and `hand` say how it stands."""

    game: TenTen

    def action_name(self, action: int) -> str:
        slot, cell = divmod(action, self.game.rows * self.game.columns)
        if self.player() != 0:
            return self.game.piece_names[action]
        row, column = divmod(cell, self.game.columns)
        # A hand may hold two of a kind, so its slots have numbers.
        prefix = f"{slot + 1}:" if self.game.hand > 1 else ""
        return f"{prefix}{self.game.piece_names[self.hand[slot]]}@r{row + 1}c{column + 1}"

    def action_label(self, action: int) -> str:
        """The placement in words.

        >>> state = TenTen().parse_state("/".join([".........."] * 10) + " 2x1")
        >>> state.action_label(48)
        '2x1 at row 5, column 9'
        """
        if self.player() != 0:
            return f"{self.action_name(action)} is drawn"
        slot, cell = divmod(action, self.game.rows * self.game.columns)
        row, column = divmod(cell, self.game.columns)
        return f"{self.game.piece_names[self.hand[slot]]} at row {row + 1}, column {column + 1}"

    def parse_action(self, text: str) -> int:
        """The placement, or the piece to be drawn, that a text names; the slot, the piece and the `@` may be left out
        where that leaves no doubt.

        >>> state = TenTen(3, 3, "three").parse_state("##./.../... 1x2")
        >>> {state.action_name(state.parse_action(text)) for text in ("1x2@r2c1", "1x2 R2C1", "r2c1")}
        {'1x2@r2c1'}
        """

        def forms(action: int) -> list[str]:
            slot, _, unnumbered = self.action_name(action).rpartition(":")
            piece, _, place = unnumbered.rpartition("@")
            return [f"{number}{name}{place}" for number in ("", f"{slot}:") for name in ("", piece, f"{piece}@")]

        return find_action(self, text, forms)

    def action_cells(self, action: int) -> list[int]:
        """Cells 0 to rows * columns - 1 are the board's; the slots of the hand follow."""
        cells = self.game.rows * self.game.columns
        slot, cell = divmod(action, cells)
        return [cells + slot, cell] if self.game.hand > 1 else [cell]

    def preview_cells(self, action: int) -> list[int]:
        """The cells the piece will fill, shown while the placement is considered."""
        slot, cell = divmod(action, self.game.rows * self.game.columns)
        return [cell + row * self.game.columns + column for row, column in self.game.shapes[self.hand[slot]]]

    def __str__(self) -> str:
        rows, columns, filled = self.game.rows, self.game.columns, set(self.cells)
        board = "/".join("".join(".#"[r * columns + c in filled] for c in range(columns)) for r in range(rows))
        names = [
            self.game.piece_names[piece] if piece >= 0 else "?" if slot >= self.drawn else "-"
            for slot, piece in enumerate(self.hand)
        ]
        return f"{board} {','.join(names)}"

    def text_board(self) -> str:
        """The board for the terminal, and under it the pieces in the hand.

        >>> print(TenTen(3, 3, "seven").parse_state("##./.#./... 2x1").text_board())
        r1  #  #  .
        r2  .  #  .
        r3  .  .  .
            c1 c2 c3
        <BLANKLINE>
        2x1
        #
        #
        """
        game, filled = self.game, set(self.cells)
        cells = [".#"[cell in filled] for cell in range(game.rows * game.columns)]
        names = [[f"{letter}{i + 1}" for i in range(n)] for letter, n in (("r", game.rows), ("c", game.columns))]
        hand = [[game.piece_names[piece], *_text_piece(game.shapes[piece])] for piece in self.hand if piece >= 0]
        lines = zip_longest(*hand, fillvalue="")
        wide = max((len(line) for piece in hand for line in piece), default=0) + 3
        shown = "\n".join("".join(part.ljust(wide) for part in line).rstrip() for line in lines)
        return f"{draw.labelled(cells, *names)}\n\n{shown}"

    def svg(self, overlay: Overlay | None = None) -> str:
        rows, columns, filled = self.game.rows, self.game.columns, set(self.cells)
        tray = 2.6
        canvas = draw.Canvas(max(columns, 3.0 * self.game.hand) + 1, rows + 1 + tray, f"1010! {self}")
        left = (canvas.width - columns) / 2

        def centre(cell: int) -> tuple[float, float]:
            if cell >= rows * columns:
                slot = cell - rows * columns
                return canvas.width * (slot + 1) / (self.game.hand + 1), rows + 0.8 + tray / 2
            return left + cell % columns + 0.5, 0.5 + cell // columns + 0.5

        rounded = 'rx="0.12"'
        for cell in range(rows * columns):
            x, y = centre(cell)
            colour = _BLOCK if cell in filled else draw.LIGHT
            canvas.rect(x - 0.46, y - 0.46, 0.92, 0.92, colour, cell, rounded)
        for slot, piece in enumerate(self.hand):
            cell = rows * columns + slot
            x, y = centre(cell)
            canvas.rect(x - 1.2, y - 1.2, 2.4, 2.4, "none", cell, f'{rounded} stroke="{draw.LINE}" stroke-width="0.03"')
            if piece >= 0:
                _draw_piece(canvas, x, y, self.game.shapes[piece])
        draw.draw_overlay(canvas, self, overlay, centre)
        return canvas.render(36)

    def status(self) -> str:
        """The points so far, and at the end the rounds."""
        points = f"{self.score:,} point{'s' * (self.score != 1)}"
        if self.player() != TERMINAL:
            return points
        return f"No piece fits any more: {points} in {self.rounds:,} round{'s' * (self.rounds != 1)}"


_BLOCK = "#5d7f9c"
_HAND_BLOCK = "#b4532a"


def _text_piece(shape: Sequence[tuple[int, int]]) -> list[str]:
    rows, columns = (1 + max(cell[i] for cell in shape) for i in (0, 1))
    return [" ".join(" #"[(row, column) in shape] for column in range(columns)).rstrip() for row in range(rows)]


def _draw_piece(canvas: draw.Canvas, x: float, y: float, shape: Sequence[tuple[int, int]]) -> None:
    height = 1 + max(r for r, _ in shape)
    width = 1 + max(c for _, c in shape)
    unit = min(0.5, 2.2 / max(height, width))
    for row, column in shape:
        px, py = x + (column - width / 2) * unit, y + (row - height / 2) * unit
        canvas.rect(px, py, unit * 0.94, unit * 0.94, _HAND_BLOCK, extra='rx="0.06" pointer-events="none"')
