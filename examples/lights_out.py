"""Lights Out in one file: pressing a lamp switches it and its neighbours; put all of them out.

Solve it: rookery solve examples/lights_out.py --variant 3x3
Play it:  rookery play examples/lights_out.py --agent oracle
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from rookery.draw import Canvas
from rookery.game import TERMINAL, Game, Overlay, Randomness, State, fresh_seed
from rookery.symmetry import Symmetry, of_grid


class LightsOut(Game):
    """Action r * columns + c presses the lamp in row r and column c. A press costs a point; all out ends the game."""

    name = "lights-out"
    players = 1
    observation_range = (0.0, 1.0)
    title = "Lights Out"
    blurb = "Press lamps until all are out."
    variants = {"3x3": {"rows": 3, "columns": 3}, "4x4": {"rows": 4, "columns": 4}}  # noqa: RUF012

    def __init__(self, rows: int = 3, columns: int = 3) -> None:
        if not (1 <= rows <= 6 and 1 <= columns <= 6):
            raise ValueError("the board must have 1 to 6 rows and columns")
        self.rows, self.columns = rows, columns
        self.num_actions = rows * columns
        self.observation_shape = (1, rows, columns)
        self.switches = [self._switched(r, c) for r in range(rows) for c in range(columns)]
        """The lamps that each press switches, as bits."""

    def _switched(self, row: int, column: int) -> int:
        near = [(row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        inside = [(r, c) for r, c in near if 0 <= r < self.rows and 0 <= c < self.columns]
        return sum(1 << (r * self.columns + c) for r, c in inside)

    def initial_state(self) -> LightsOutState:
        """All lamps pressed once from darkness: one of the hardest on small boards, and solvable on all."""
        lamps = 0
        for switched in self.switches:
            lamps ^= switched
        return LightsOutState(self, lamps)

    def symmetries(self) -> list[Symmetry]:
        return [Symmetry(cells, cells) for cells in of_grid(self.rows, self.columns)]

    def random_start(self, rng: Randomness = None) -> LightsOutState:
        """Darkness after random presses, so that it can be solved."""
        draw = random.Random(fresh_seed(rng))
        lamps = 0
        while not lamps:
            for switched in self.switches:
                lamps ^= switched * draw.randrange(2)
        return LightsOutState(self, lamps)

    def parse_state(self, text: str) -> LightsOutState:
        """Rows of `#` (on) and `.` (off) joined by `/`."""
        rows = text.split("/")
        if [len(row) for row in rows] != [self.columns] * self.rows or set(text) - set("#./"):
            raise ValueError(f"expected {self.rows} rows of {self.columns} # or . joined by '/', not {text[:40]!r}")
        return LightsOutState(self, sum(1 << i for i, lamp in enumerate("".join(rows)) if lamp == "#"))


class LightsOutState(State):
    def __init__(self, game: LightsOut, lamps: int, cost: int = 0) -> None:
        self._game, self.lamps, self.cost = game, lamps, cost

    @property
    def game(self) -> LightsOut:
        return self._game

    def player(self) -> int:
        return 0 if self.lamps else TERMINAL

    def legal_actions(self) -> list[int]:
        return list(range(self._game.num_actions)) if self.lamps else []

    def apply(self, action: int) -> None:
        if not (self.lamps and 0 <= action < self._game.num_actions):
            raise ValueError(f"action {action} is not possible in {self}")
        self.lamps ^= self._game.switches[action]
        self.cost += 1

    def clone(self) -> LightsOutState:
        return LightsOutState(self._game, self.lamps, self.cost)

    def returns(self) -> list[float]:
        return [0.0 if self.lamps else -float(self.cost)]

    def rewards(self) -> list[float]:
        return [-1.0 if self.cost else 0.0]

    def key(self) -> bytes:
        return self.lamps.to_bytes(5, "little")

    def observation(self) -> npt.NDArray[np.float32]:
        lamps = [self.lamps >> i & 1 for i in range(self._game.num_actions)]
        return np.array(lamps, np.float32).reshape(self._game.observation_shape)

    def action_name(self, action: int) -> str:
        row, column = divmod(action, self._game.columns)
        return f"r{row + 1}c{column + 1}"

    def action_cells(self, action: int) -> list[int]:
        return [action]

    def __str__(self) -> str:
        lamps = "".join(".#"[self.lamps >> i & 1] for i in range(self._game.num_actions))
        return "/".join(lamps[i : i + self._game.columns] for i in range(0, len(lamps), self._game.columns))

    def svg(self, overlay: Overlay | None = None) -> str:
        canvas = Canvas(self._game.columns, self._game.rows, str(self))
        for cell in range(self._game.num_actions):
            row, column = divmod(cell, self._game.columns)
            lamp = "#f2c14e" if self.lamps >> cell & 1 else "#3b4048"
            canvas.rect(column + 0.06, row + 0.06, 0.88, 0.88, lamp, cell, 'rx="0.15"')
        return canvas.render()
