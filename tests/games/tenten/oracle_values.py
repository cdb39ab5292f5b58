"""Value iteration for 1010! as the paper writes it, slowly: a state is a set of filled cells and a piece."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from tests.games.tenten.oracle import Cell, place, placements

Board = frozenset[Cell]
Shape = list[Cell]
Reward = Callable[[int, float], float]
"""Of the number of lines cleared and the expected number of placements of the next piece."""


class Mdp:
    def __init__(self, rows: int, columns: int, shapes: list[Shape], weights: list[int]) -> None:
        cells = list(itertools.product(range(rows), range(columns)))
        lines = [{(r, c) for c in range(columns)} for r in range(rows)]
        lines += [{(r, c) for r in range(rows)} for c in range(columns)]
        self.chances = [weight / sum(weights) for weight in weights]
        self.boards = [
            frozenset(filled)
            for size in range(len(cells) + 1)
            for filled in itertools.combinations(cells, size)
            if not any(line <= set(filled) for line in lines)
        ]
        self.edges: dict[tuple[Board, int], list[tuple[Board, int]]] = {}
        for board in self.boards:
            for piece, shape in enumerate(shapes):
                after = []
                for at in placements(set(board), rows, columns, shape):
                    filled = set(board) | {(at[0] + r, at[1] + c) for r, c in shape}
                    next_board, _ = place(set(board), rows, columns, shape, at)
                    after.append((frozenset(next_board), sum(line <= filled for line in lines)))
                self.edges[board, piece] = after
        self.moves = {
            board: sum(chance * len(self.edges[board, piece]) for piece, chance in enumerate(self.chances))
            for board in self.boards
        }

    def expected(self, values: dict[tuple[Board, int], float], board: Board) -> float:
        return sum(chance * values[board, piece] for piece, chance in enumerate(self.chances))

    def solve(self, reward: Reward, discount: float, iterations: int) -> dict[tuple[Board, int], float]:
        """Values of all states after so many synchronous iterations from 0."""
        values = dict.fromkeys(self.edges, 0.0)
        for _ in range(iterations):
            ahead = {board: self.expected(values, board) for board in self.boards}
            values = {
                state: max(
                    (reward(lines, self.moves[board]) + discount * ahead[board] for board, lines in after), default=0.0
                )
                for state, after in self.edges.items()
            }
        return values
