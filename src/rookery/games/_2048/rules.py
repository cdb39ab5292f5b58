"""2048: slide all tiles to one side; equal ones that meet merge, and a new one comes.

>>> game = TwentyFortyEight(2, 3)
>>> state = game.parse_state("2,2,4/.,.,.")
>>> [state.action_name(action) for action in state.legal_actions()]
['right', 'down', 'left']
>>> state.apply(state.parse_action("right"))  # the two 2s merge, and earn 4; the 4 they make merges no more
>>> str(state), state.score
('.,4,4/.,.,. +1', 4)
>>> state.apply(state.parse_action("2@r2c1"))  # a tile comes by chance
>>> str(state)
'.,4,4/2,.,.'

Text form: rows joined by `/`, their cells joined by `,`, with `.` for an empty one; then ` +1` or ` +2` where chance
has still to put that many tiles on the board.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from rookery import _native, draw
from rookery.game import (
    CHANCE,
    TERMINAL,
    Level,
    NativeGame,
    Overlay,
    Randomness,
    find_action,
    native_state,
    play_chance,
)
from rookery.symmetry import Symmetry, of_grid

DIRECTIONS = ("up", "right", "down", "left")
"""The moves, in the order of their action ids."""


class TwentyFortyEight(NativeGame):
    """2048 on a board of 2x2 to 4x4."""

    name = "2048"
    title = "2048"
    blurb = "Slide the tiles; equal ones merge."
    unit = "points"
    variants = MappingProxyType(
        {
            "4x4": {},
            "2x2": {"rows": 2, "columns": 2},
            "2x3": {"rows": 2, "columns": 3},
            "3x3": {"rows": 3, "columns": 3},
            "3x4": {"rows": 3, "columns": 4},
        }
    )

    def __init__(self, rows: int = 4, columns: int = 4) -> None:
        self.rows, self.columns = rows, columns
        super().__init__(_native._2048.Rules(rows, columns))

    @property
    def tiles(self) -> list[int]:
        """The tiles there are on this board, from 2 to the greatest, of which two do not merge.

        >>> TwentyFortyEight(2, 2).tiles
        [2, 4, 8, 16, 32]
        """
        return [2**exponent for exponent in range(1, self.rules.most_cell + 1)]

    def initial_state(self) -> TwentyFortyEightState:
        return TwentyFortyEightState(self)

    def parse_state(self, text: str) -> TwentyFortyEightState:
        match = re.fullmatch(r"\s*([^\s+]+)\s*(?:\+([12]))?\s*", text)
        rows = [row.split(",") for row in match[1].split("/")] if match else []
        if match is None or len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise ValueError(
                f"expected {self.rows} rows of {self.columns} cells such as {self._example()!r}, not {text[:80]!r}"
            )
        names = [".", *map(str, self.tiles)]
        for name in (name for row in rows for name in row):
            if name not in names:
                raise ValueError(f"unknown tile {name[:20]!r}; a cell is . or one of {', '.join(names[1:])}")
        cells = [names.index(name) for row in rows for name in row]
        return TwentyFortyEightState(self, cells, int(match[2] or 0))

    def _example(self) -> str:
        row = ["2", *(["."] * (self.columns - 1))]
        return "/".join([",".join(row)] * self.rows)

    def symmetries(self) -> list[Symmetry]:
        """The board may be turned and mirrored."""
        return [Symmetry(cells, self._turned(cells)) for cells in of_grid(self.rows, self.columns)]

    def _turned(self, cells: Sequence[int]) -> list[int]:
        """What every action becomes when cell i goes to `cells[i]`: the directions turn."""
        steps = [-self.columns, 1, self.columns, -1]
        starts = [self.columns, 0, 0, 1]  # a cell that has a neighbour in each direction
        turned = [cells[start + step] - cells[start] for start, step in zip(starts, steps, strict=True)]
        return [*map(steps.index, turned), *range(len(steps), self.num_actions)]

    def random_start(self, rng: Randomness = None) -> TwentyFortyEightState:
        """A board with two tiles."""
        state = self.initial_state()
        play_chance(state, rng)
        return state

    def levels(self) -> Sequence[Level]:
        """Measured by `python -m benchmarks.levels` in the variant 4x4; of others nothing is told."""
        return _LEVELS if self.variant == "4x4" else [replace(level, about="") for level in _LEVELS]

    def pieces(self) -> dict[str, str]:
        return {str(tile): f"A tile of {tile}" for tile in self.tiles} | {".": "Nothing"}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """The text after a tile is put on a cell; then it is the player's turn, if there is a tile at all.

        >>> TwentyFortyEight(2, 2).with_piece(".,./.,. +2", 3, "8")
        '.,./.,8'
        >>> TwentyFortyEight(2, 2).with_piece(".,./.,8", 3, ".")
        '.,./.,. +2'
        """
        cells = re.split("[,/]", text.partition(" ")[0])
        if not 0 <= cell < len(cells):
            raise ValueError(f"cells are 0 to {len(cells) - 1}, not {cell}")
        cells[cell] = piece
        return self._text(cells) + (" +2" if set(cells) == {"."} else "")

    def _text(self, cells: list[str]) -> str:
        return "/".join(",".join(cells[i : i + self.columns]) for i in range(0, len(cells), self.columns))


_LEVELS = (
    Level("Guesser", "random", about="1,000 points per game"),
    Level("Quick search", "mcts:simulations=10", about="7,800 points per game"),
    Level("Search", "mcts:simulations=100", about="27,000 points per game"),
    Level("Deep search", "mcts:simulations=1000", about="44,000 points per game"),
)


@native_state
class TwentyFortyEightState(_native._2048.State):
    """A board. `cells` has the exponents of its tiles, `score` the points so far, `due` the tiles still to come."""

    game: TwentyFortyEight

    def action_name(self, action: int) -> str:
        if self.player() != CHANCE:
            return DIRECTIONS[action]
        row, column = divmod(action // 2, self.game.columns)
        return f"{(2, 4)[action % 2]}@r{row + 1}c{column + 1}"

    def parse_action(self, text: str) -> int:
        """The direction, or the tile that comes, that a text names; a direction may be cut to its first letter.

        >>> state = TwentyFortyEight(2, 2).parse_state("2,2/.,.")
        >>> {state.action_name(state.parse_action(text)) for text in ("left", "LEFT", "l")}
        {'left'}
        """

        def forms(action: int) -> list[str]:
            name = self.action_name(action)
            return [name] if self.player() == CHANCE else [name, name[0]]

        return find_action(self, text, forms)

    def action_cells(self, action: int) -> list[int]:
        """Cells 0 to rows * columns - 1 are the board's; an arrow for each direction follows."""
        return [action // 2] if self.player() == CHANCE else [self.game.rows * self.game.columns + action]

    def action_key(self, action: int) -> str:
        """The arrow key of a direction."""
        return "" if self.player() == CHANCE else f"Arrow{DIRECTIONS[action].title()}"

    def feats(self) -> list[str]:
        """The greatest tile from 2048 on.

        >>> TwentyFortyEight().parse_state("4096,2,.,./.,.,.,./.,.,.,./.,.,.,.").feats()
        ['You made the 2048 tile.', 'You made the 4096 tile.']
        """
        return [f"You made the {2**exponent} tile." for exponent in range(11, max(self.cells) + 1)]

    def _names(self) -> list[str]:
        return [str(2**exponent) if exponent else "." for exponent in self.cells]

    def __str__(self) -> str:
        return self.game._text(self._names()) + (f" +{self.due}" if self.due else "")

    def text_board(self) -> str:
        """The board for the terminal.

        >>> print(TwentyFortyEight(2, 3).parse_state("2,.,16/.,4,.").text_board())
         2  . 16
         .  4  .
        """
        names, columns = self._names(), self.game.columns
        wide = max(map(len, names))
        lines = [names[i : i + columns] for i in range(0, len(names), columns)]
        return "\n".join(" ".join(name.rjust(wide) for name in line) for line in lines)

    def svg(self, overlay: Overlay | None = None) -> str:
        rows, columns, cells = self.game.rows, self.game.columns, self.cells
        margin = 0.9
        canvas = draw.Canvas(columns + 2 * margin, rows + 2 * margin, f"2048 {self}")
        arrows = [
            (canvas.width / 2, margin / 2),
            (canvas.width - margin / 2, canvas.height / 2),
            (canvas.width / 2, canvas.height - margin / 2),
            (margin / 2, canvas.height / 2),
        ]

        def centre(cell: int) -> tuple[float, float]:
            if cell >= rows * columns:
                return arrows[cell - rows * columns]
            return margin + cell % columns + 0.5, margin + cell // columns + 0.5

        canvas.rect(margin - 0.06, margin - 0.06, columns + 0.12, rows + 0.12, draw.DARK, extra='rx="0.12"')
        for cell, exponent in enumerate(cells):
            x, y = centre(cell)
            canvas.rect(x - 0.46, y - 0.46, 0.92, 0.92, _TILES[exponent], cell, 'rx="0.08"')
            if exponent:
                name = str(2**exponent)
                ink = draw.INK if exponent < 3 else draw.PAPER
                canvas.text(x, y, name, min(0.44, 1.25 / len(name)), ink, 'font-weight="600" pointer-events="none"')
        for direction, (x, y) in enumerate(arrows):
            legal = self.player() == 0 and self.is_legal(direction)
            canvas.rect(x - 0.36, y - 0.36, 0.72, 0.72, draw.LIGHT, rows * columns + direction, 'rx="0.12"')
            turn = f'transform="rotate({90 * direction} {x:g} {y:g})" pointer-events="none"'
            points = f"{x:g},{y - 0.16:g} {x + 0.18:g},{y + 0.12:g} {x - 0.18:g},{y + 0.12:g}"
            canvas.add(f'<polygon points="{points}" fill="{draw.ACCENT if legal else draw.DARK}" {turn}/>')
        draw.draw_overlay(canvas, self, overlay, centre)
        return canvas.render(56)

    def status(self) -> str:
        """The points so far; at the end also the greatest tile."""
        points = f"{self.score:,} point{'' if self.score == 1 else 's'}"
        if self.player() != TERMINAL:
            return points
        return f"Nothing moves any more: {points}, greatest tile {2 ** max(self.cells)}"


_TILES = (
    draw.LIGHT, "#f4ecd8", "#eadbb6", "#e2b377", "#d99a5b", "#cf7f45", "#c26436", "#c9a227", "#b08d1e", "#8f9a3a",
    "#5f8f55", "#3f7f6f", "#3c6f8c", "#4a5a8c", "#5a4577", "#3a2f45",
)  # fmt: skip
"""The colour of a cell by the exponent of its tile."""
