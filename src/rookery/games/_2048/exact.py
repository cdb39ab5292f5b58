"""2048 solved: what perfect play earns on boards of up to nine cells.

A move keeps the sum of the tiles and a new tile raises it, so that positions lie in layers by their sum: they are
listed in rising order, and their values computed in falling order. Images of a board in mirrors and turned round are
one position. `native/games/_2048/layers.hpp` does it.

>>> import rookery
>>> from rookery.exact.solve import solve_game
>>> game = rookery.load("2048", "2x2")
>>> solved = solve_game(game.initial_state(), form=SolvedBoard)
>>> round(solved.value(game.initial_state()), 6), len(solved)
(66.964149, 110)
>>> state = game.parse_state("2,8/2,4")
>>> {state.action_name(action): round(worth, 3) for action, (worth, _) in solved.moves(state).items()}
{'up': 8.373, 'down': 51.652}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rookery._native import Control
from rookery._native import _2048 as native
from rookery.exact.solve import SolvedGame, Statistics
from rookery.game import State
from rookery.games._2048.rules import TwentyFortyEightState

MOST_CELLS = 9
"""Larger boards have too many positions."""


class SolvedBoard(SolvedGame):
    """The value of every position that can be reached from a start, up to symmetry."""

    def __init__(self, layers: native.Layers) -> None:
        self.layers = layers

    @classmethod
    def of(
        cls, start: State, positions: int, most_bytes: int, precision: float, discount: float, control: Control | None
    ) -> SolvedGame:
        """Solve by layers; with a discount, and on larger boards from late in the game, as any game is solved."""
        assert isinstance(start, TwentyFortyEightState)
        game = start.game
        if discount == 1 and game.rows * game.columns <= MOST_CELLS:
            return SolvedBoard(native.Layers(start, positions, most_bytes, 0, control))
        if game.rows * game.columns > MOST_CELLS and start == game.initial_state():
            raise ValueError(
                f"a {game.rows}x{game.columns} board has too many positions; boards of up to {MOST_CELLS} cells, such "
                "as 3x3, can be solved"
            )
        return SolvedGame.of(start, positions, most_bytes, precision, discount, control)

    def __len__(self) -> int:
        return len(self.layers)

    def look(self, state: State) -> tuple[float, int | None] | None:
        value = self.layers.value(state)  # type: ignore[arg-type]
        return None if value is None else (value, None)

    @property
    def error(self) -> float:
        return 0.0

    def statistics(self) -> Statistics:
        """Positions in which a move is due or the game is over, all up to symmetry."""
        layers = self.layers
        return Statistics(
            positions=len(self), ends=layers.ends, chances=layers.chances, moves=layers.moves, won=None, drawn=None,
            lost=None, longest=None, bytes=layers.keys.nbytes + layers.values.nbytes, error=self.error,
        )  # fmt: skip

    def save(self, file: IO[bytes]) -> None:
        layers = self.layers
        numbers = np.array([getattr(layers, name) for name in _NUMBERS], np.int64)
        np.savez(file, numbers=numbers, first=layers.first, keys=layers.keys, values=layers.values)

    @classmethod
    def load(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> SolvedBoard:
        numbers = dict(zip(_NUMBERS, arrays["numbers"].tolist(), strict=True))
        return cls(native.Layers(**numbers, first=arrays["first"], keys=arrays["keys"], values=arrays["values"]))


_NUMBERS = ("rows", "columns", "first_sum", "ends", "chances", "moves")
