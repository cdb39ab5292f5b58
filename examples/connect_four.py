"""Connect Four in one file, on a board of any size: drop discs, and be the first with four in a row.

Solve it: rookery solve examples/connect_four.py --variant 4x4
Play it:  rookery play examples/connect_four.py --agent mcts
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rookery.draw import Canvas
from rookery.exact.layers import Numbers
from rookery.game import TERMINAL, Game, Overlay, State
from rookery.symmetry import Symmetry


class ConnectFour(Game):
    """An action is a column. Boards are bits, a column after the other from its foot, with one empty bit above each."""

    name = "connect-four"
    players = 2
    observation_range = (0.0, 1.0)
    title = "Connect Four"
    blurb = "Drop discs into columns; four in a row win."
    sides = ("Yellow", "Red")
    variants = {  # noqa: RUF012
        "6x7": {"rows": 6, "columns": 7}, "4x4": {"rows": 4, "columns": 4}, "4x5": {"rows": 4, "columns": 5},
        "5x4": {"rows": 5, "columns": 4}, "5x5": {"rows": 5, "columns": 5},
    }  # fmt: skip

    def __init__(self, rows: int = 6, columns: int = 7) -> None:
        if not (1 <= rows <= 8 and 1 <= columns <= 8):
            raise ValueError("the board must have 1 to 8 rows and columns")
        self.rows, self.columns = rows, columns
        self.num_actions = columns
        self.observation_shape = (2, rows, columns)

    def initial_state(self) -> ConnectFourState:
        return ConnectFourState(self, 0, 0, 0)

    def parse_state(self, text: str) -> ConnectFourState:
        """Rows from the top, of `x` (Yellow, who begins), `o` and `.`, joined by `/`."""
        rows = text.split("/")
        if [len(row) for row in rows] != [self.columns] * self.rows or set(text) - set("xo./"):
            raise ValueError(f"expected {self.rows} rows of {self.columns} x, o or . joined by '/', not {text[:80]!r}")
        discs = [0, 0]
        for column in range(self.columns):
            stack = "".join(row[column] for row in reversed(rows)).rstrip(".")
            if "." in stack:
                raise ValueError(f"a disc hangs in the air in column {column + 1}")
            for row, disc in enumerate(stack):
                discs["xo".index(disc)] |= 1 << (column * (self.rows + 1) + row)
        count = discs[0].bit_count() - discs[1].bit_count()
        if count not in (0, 1):
            raise ValueError("x begins, so there are as many x as o, or one more")
        if self.four_in_a_row(discs[count]):
            raise ValueError("the side to move has four in a row already, and the other side could not have moved")
        return ConnectFourState(self, discs[0], discs[1], count)

    def symmetries(self) -> list[Symmetry]:
        """Left and right may be exchanged."""
        cells = [row * self.columns + column for row in range(self.rows) for column in reversed(range(self.columns))]
        return [Symmetry(cells, list(reversed(range(self.columns))))]

    def array_rules(self) -> ConnectFourArrays | None:
        return ConnectFourArrays(self) if self.columns * (self.rows + 1) < 64 else None

    def four_in_a_row(self, discs: int) -> bool:
        height = self.rows + 1
        for step in (1, height, height - 1, height + 1):
            pairs = discs & (discs >> step)
            if pairs & (pairs >> 2 * step):
                return True
        return False


class ConnectFourState(State):
    def __init__(self, game: ConnectFour, yellow: int, red: int, side: int) -> None:
        self._game, self.discs, self.side = game, (yellow, red), side

    @property
    def game(self) -> ConnectFour:
        return self._game

    def won(self) -> bool:
        """Whether the last disc made four in a row."""
        return self._game.four_in_a_row(self.discs[1 - self.side])

    def player(self) -> int:
        return TERMINAL if self.won() or not self._open() else self.side

    def _open(self) -> list[int]:
        height, occupied = self._game.rows + 1, self.discs[0] | self.discs[1]
        return [c for c in range(self._game.columns) if not occupied >> (c * height + height - 2) & 1]

    def legal_actions(self) -> list[int]:
        return [] if self.won() else self._open()

    def apply(self, action: int) -> None:
        height, occupied = self._game.rows + 1, self.discs[0] | self.discs[1]
        if action not in range(self._game.columns) or occupied >> (action * height + height - 2) & 1 or self.won():
            raise ValueError(f"column {action} is not possible in {self}")
        disc = (occupied + (1 << action * height)) & ~occupied & ((1 << height) - 1) << action * height
        yellow, red = self.discs
        self.discs = (yellow | disc, red) if self.side == 0 else (yellow, red | disc)
        self.side = 1 - self.side

    def clone(self) -> ConnectFourState:
        return ConnectFourState(self._game, *self.discs, self.side)

    def returns(self) -> list[float]:
        if not self.won():
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.side == 0 else [1.0, -1.0]

    def key(self) -> bytes:
        return b"".join(discs.to_bytes(9, "little") for discs in self.discs)

    def observation(self) -> npt.NDArray[np.float32]:
        """The discs of the side to move, then the others."""
        planes = np.array([self._cells(self.discs[self.side]), self._cells(self.discs[1 - self.side])], np.float32)
        return planes.reshape(self._game.observation_shape)

    def _cells(self, discs: int) -> list[int]:
        height = self._game.rows + 1
        rows, columns = range(self._game.rows - 1, -1, -1), range(self._game.columns)
        return [discs >> (column * height + row) & 1 for row in rows for column in columns]

    def action_name(self, action: int) -> str:
        return str(action + 1)

    def action_cells(self, action: int) -> list[int]:
        """The cell in which the disc comes to rest; cells are numbered row by row from the top."""
        game, occupied = self._game, self.discs[0] | self.discs[1]
        filled = (occupied >> action * (game.rows + 1) & (1 << game.rows) - 1).bit_count()
        return [(game.rows - 1 - filled) * game.columns + action] if filled < game.rows else []

    def __str__(self) -> str:
        marks = zip(self._cells(self.discs[0]), self._cells(self.discs[1]), strict=True)
        text = "".join("x" if yellow else "o" if red else "." for yellow, red in marks)
        columns = self._game.columns
        return "/".join(text[i : i + columns] for i in range(0, len(text), columns))

    def svg(self, overlay: Overlay | None = None) -> str:
        game, colours = self._game, {"x": "#f2c14e", "o": "#c8553d", ".": "#f7f7f2"}
        canvas = Canvas(game.columns, game.rows, str(self))
        canvas.rect(0, 0, game.columns, game.rows, "#30638e")
        for cell, mark in enumerate(str(self).replace("/", "")):
            row, column = divmod(cell, game.columns)
            canvas.circle(column + 0.5, row + 0.5, 0.4, colours[mark], cell)
        return canvas.render()


class ConnectFourArrays:
    """The rules on arrays, for solving boards with millions of positions.

    A number has the cells of a column from its foot: 1 for Yellow, 0 for Red, then a 1 above the topmost disc.
    """

    def __init__(self, game: ConnectFour) -> None:
        self.columns, self.height = game.columns, game.rows + 1
        self.feet = sum(1 << column * self.height for column in range(self.columns))
        self.cells = self.feet * ((1 << game.rows) - 1)

    def number(self, state: ConnectFourState) -> int:
        return state.discs[0] | (state.discs[0] | state.discs[1]) + self.feet

    def moves(self, numbers: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        yellow, occupied = self._discs(numbers)
        red_moves = np.bitwise_count(occupied) % 2 == 1
        going = ~self._four(np.where(red_moves, yellow, yellow ^ occupied))
        after, legal = [], []
        for column in range(self.columns):
            foot = np.uint64(1 << column * self.height)
            cells = np.uint64(((1 << self.height) - 1) << column * self.height)
            cell = (occupied + foot) & ~occupied & cells
            after.append(np.where(red_moves, numbers ^ cell, numbers) | cell << np.uint64(1))
            legal.append(going & (cell & np.uint64(self.cells) != 0))
        return np.stack(after, axis=1), np.stack(legal, axis=1)

    def returns(self, numbers: Numbers) -> npt.NDArray[np.float32]:
        yellow, occupied = self._discs(numbers)
        return self._four(yellow).astype(np.float32) - self._four(yellow ^ occupied)

    def _discs(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The discs of Yellow, and all discs: what lies below the topmost 1 of each column."""
        filled = numbers.copy()
        for _ in range(self.height - 1):
            filled |= filled >> np.uint64(1) & np.uint64(self.cells)
        occupied = filled >> np.uint64(1) & np.uint64(self.cells)
        return numbers & occupied, occupied

    def _four(self, discs: Numbers) -> npt.NDArray[np.bool_]:
        found = np.zeros(len(discs), bool)
        for step in (1, self.height, self.height - 1, self.height + 1):
            pairs = discs & (discs >> np.uint64(step))
            found |= pairs & (pairs >> np.uint64(2 * step)) != 0
        return found
