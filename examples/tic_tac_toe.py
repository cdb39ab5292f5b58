"""A game of your own in one file: tic-tac-toe in plain Python, playing under the native searches.

Run it: python examples/tic_tac_toe.py
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rookery.game import TERMINAL, Game, State
from rookery.search import mcts, minimax
from rookery.symmetry import Symmetry, of_grid
from rookery.testing import check_game

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class TicTacToe(Game):
    name = "tic-tac-toe"
    players = 2
    observation_range = (0.0, 1.0)
    num_actions = 9
    observation_shape = (2, 3, 3)

    def initial_state(self) -> TicTacToeState:
        return TicTacToeState(self, "." * 9)

    def parse_state(self, text: str) -> TicTacToeState:
        """Three rows of `x`, `o` and `.` joined by `/`; x moves first."""
        cells = text.replace("/", "")
        if [len(row) for row in text.split("/")] != [3, 3, 3] or set(cells) - set("xo."):
            raise ValueError(f"expected three rows of three x, o or . joined by '/', not {text[:40]!r}")
        if cells.count("x") - cells.count("o") not in (0, 1):
            raise ValueError("x moves first, so there is as many x as o, or one more")
        return TicTacToeState(self, cells)

    def symmetries(self) -> list[Symmetry]:
        return [Symmetry(cells, cells) for cells in of_grid(3, 3)]


class TicTacToeState(State):
    def __init__(self, game: TicTacToe, cells: str) -> None:
        self._game, self.cells = game, cells

    @property
    def game(self) -> TicTacToe:
        return self._game

    def winner(self) -> str | None:
        for a, b, c in LINES:
            if self.cells[a] == self.cells[b] == self.cells[c] != ".":
                return self.cells[a]
        return None

    def player(self) -> int:
        if self.winner() or "." not in self.cells:
            return TERMINAL
        return self.cells.count("x") - self.cells.count("o")

    def legal_actions(self) -> list[int]:
        return [] if self.player() == TERMINAL else [i for i, cell in enumerate(self.cells) if cell == "."]

    def apply(self, action: int) -> None:
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not an empty cell of {self}")
        self.cells = self.cells[:action] + "xo"[self.player()] + self.cells[action + 1 :]

    def clone(self) -> TicTacToeState:
        return TicTacToeState(self._game, self.cells)

    def returns(self) -> list[float]:
        value = {"x": 1.0, "o": -1.0, None: 0.0}[self.winner()]
        return [value, -value]

    def key(self) -> bytes:
        return self.cells.encode()

    def observation(self) -> npt.NDArray[np.float32]:
        return np.array([[c == mark for c in self.cells] for mark in "xo"], np.float32).reshape(2, 3, 3)

    def __str__(self) -> str:
        return "/".join(self.cells[i : i + 3] for i in (0, 3, 6))


if __name__ == "__main__":
    game = TicTacToe()
    check_game(game)
    print("conformance: passed")
    print("random play:", game.random_games(1000).outcome_shares())
    state = game.parse_state("x.o/.x./..o")
    for move in minimax(state, depth=9):
        print(f"minimax: {state.action_name(move.action)} is worth {move.value:+.0f}")
    best = max(mcts(state, simulations=500), key=lambda move: move.visits)
    print(f"mcts: plays {best.action}, thinks it is worth {best.value:+.2f}")
