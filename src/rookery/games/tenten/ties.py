"""The paper's greedy rules with other ways to break ties and to score, solved exactly on a small board.

>>> boards = Boards(TenTen(3, 3, "three"))
>>> rates = play(boards, [most_lines(boards)], ties=(0, 0, 0))  # the first of equal placements in reading order
>>> round(rates.rounds, 1), round(rates.points(SCORES["5 r (r + 1)"]), 2), round(rates.points(SCORES["10 r^2"]), 2)
(4697.1, 7.9, 8.56)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np

from rookery.games.tenten.boards import EQUAL, Boards
from rookery.games.tenten.exact import Values
from rookery.games.tenten.rules import TenTen

SCANS = tuple(product((False, True), (1, -1), (1, -1)))
"""The eight ways to scan a board line by line: column by column instead of row by row; the direction through the rows
and through the columns. The first is reading order."""

SCORES: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        "5 r (r + 1)": lambda lines: 5.0 * lines * (lines + 1),
        "10 r^2": lambda lines: 10.0 * lines**2,
        "10 r": lambda lines: 10.0 * lines,
    }
)
"""Points for r lines cleared at once; the first is that of the game. The cells of the piece are added to it."""


@dataclass(frozen=True)
class Rates:
    """Mean rounds of a policy from the empty board, and what happens in a round."""

    rounds: float
    """Infinite where some boards that are reached can be survived for ever; the rest is then empty."""
    cells: float = math.nan
    lines: tuple[float, ...] = ()
    """Shares of the rounds in which 1, 2 .. lines are cleared."""

    def points(self, score: Callable[[int], float]) -> float:
        """Points per round: expected score over expected rounds."""
        return self.cells + sum(share * score(number) for number, share in enumerate(self.lines, 1))


def most_lines(boards: Boards) -> Values:
    """What the paper's Algorithm 1 looks at, for every raw board."""
    return boards.lines.astype(float)


def surest_next_piece(boards: Boards) -> Values:
    """What the paper's Algorithm 2 looks at, for every raw board."""
    return boards.survival_chance()[boards.cleared]


def play(boards: Boards, tables: Sequence[Values], ties: Sequence[int] | None) -> Rates:
    """Exact rates of the policy that places a piece where a table is greatest; given several tables, one is drawn for
    every piece. Of equal placements it takes the first in the piece's scan, `SCANS[ties[piece]]`, or with None any of
    them with the same chance."""
    number = {board: i for i, board in enumerate(boards.open.tolist())}
    values, cleared, lines = [table.tolist() for table in tables], boards.cleared.tolist(), boards.lines.tolist()
    moves = np.zeros((len(number), len(number)))
    rewards = np.zeros((len(number), 2 + max(lines)))  # rounds, cells, and rounds with 1, 2 .. lines
    for piece, masks in enumerate(boards.masks):
        rank = None if ties is None else _ranks(boards.game, piece, SCANS[ties[piece]])
        for board, i in number.items():
            fits = [place for place, mask in enumerate(masks) if board & mask == 0]
            for table in values if fits else ():
                greatest = max(table[board | masks[place]] for place in fits)
                equal = [place for place in fits if table[board | masks[place]] >= greatest - EQUAL]
                chosen = equal if rank is None else [min(equal, key=rank.__getitem__)]
                chance = boards.chances[piece] / len(tables) / len(chosen)
                for place in chosen:
                    raw = board | masks[place]
                    moves[i, number[cleared[raw]]] += chance
                    rewards[i, :2] += chance, chance * masks[place].bit_count()
                    if lines[raw]:
                        rewards[i, 1 + lines[raw]] += chance
    reached = _reachable(moves > 0, np.arange(len(number)) == 0)
    mortal = _reachable(moves.T > 0, moves.sum(axis=1) < 1 - EQUAL)
    if (reached & ~mortal).any():
        return Rates(math.inf)
    totals = np.linalg.solve(np.eye(int(reached.sum())) - moves[np.ix_(reached, reached)], rewards[reached])[0]
    return Rates(float(totals[0]), float(totals[1] / totals[0]), tuple(map(float, totals[2:] / totals[0])))


def _ranks(game: TenTen, piece: int, scan: tuple[bool, int, int]) -> list[tuple[int, int]]:
    """Where each placement of a piece, in reading order, comes in a scan."""
    by_columns, down, right = scan
    places = [divmod(cell, game.columns) for cell in game.rules.placements(0, piece)]
    ranks = [(down * row, right * column) for row, column in places]
    return [(column, row) if by_columns else (row, column) for row, column in ranks]


def _reachable(edges: Values, start: Values) -> Values:
    """The boards that can be reached from some of `start`, these included."""
    found = start
    while (more := found | (edges[found].any(axis=0))).sum() > found.sum():
        found = more
    return found
