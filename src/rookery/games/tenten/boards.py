"""Every board of a small game of 1010! in numpy, for what the paper computes over all of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rookery.games.tenten.exact import OBJECTIVES, Values
from rookery.games.tenten.rules import TenTen

EQUAL = 1e-9
"""Placements whose values differ by a smaller part than this count as equal."""


class Boards:
    """Every board of a game in numpy: the paper's value iteration as it is written, all states at once.

    A state of the paper is a board and a piece; its value is the best over placements of the reward and the discounted
    mean value of the next states. Here one array holds the mean over pieces.
    """

    def __init__(self, game: TenTen) -> None:
        self.game = game
        rows, columns = game.rows, game.columns
        self.numbers = np.arange(1 << (rows * columns), dtype=np.int64)
        row_masks = [((1 << columns) - 1) << (r * columns) for r in range(rows)]
        column_masks = [sum(1 << (r * columns + c) for r in range(rows)) for c in range(columns)]
        self.lines = np.zeros(len(self.numbers), np.int64)
        self.cleared = self.numbers.copy()
        for mask in row_masks + column_masks:
            full = self.numbers & mask == mask
            self.lines += full
            self.cleared[full] &= ~mask
        self.open = self.numbers[self.lines == 0]
        """Boards without a full line: those on which a piece can be drawn."""
        self.masks = [
            [sum(1 << (cell + r * columns + c) for r, c in shape) for cell in game.rules.placements(0, piece)]
            for piece, shape in enumerate(game.shapes)
        ]
        self.chances = np.array(game.weights) / sum(game.weights)

    def fits(self, mask: int) -> npt.NDArray[np.bool_]:
        return np.asarray(self.open & mask == 0)

    def counts(self) -> Values:
        """Placements of each piece on each open board: `[pieces, open]`."""
        return np.array(
            [np.sum([self.fits(m) for m in masks], axis=0) if masks else 0 * self.open for masks in self.masks]
        )

    def count_placements(self) -> int:
        return int(self.counts().sum())

    def survival_chance(self) -> Values:
        """The chance that the next piece fits, a number per board; 0 on boards with full lines."""
        chance = np.zeros(len(self.numbers))
        chance[self.open] = self.chances @ (self.counts() > 0)
        return chance

    def iterations_to_converge(self, reward: str, discount: float) -> tuple[int, int]:
        """The last iteration that changed the best placement of any board and piece, and how many were made.

        A policy that holds still for a while may change again: on 4x4 it has done so after four quiet iterations. So
        iterations are made until the values have settled: all that is still to come, the last change times
        discount / (1 - discount) at most, is less than the difference below which placements count as equal.
        """
        last, before = 0, None
        for number, (values, policy) in enumerate(self.iterate(reward, discount), 1):
            if before is not None:
                if not np.array_equal(policy, before[1]):
                    last = number
                to_come = float(np.abs(values - before[0]).max()) * discount / (1 - discount)
                if to_come < EQUAL * float(values.max()):
                    return last, number
            before = values, policy
        raise AssertionError("value iteration does not end")

    def iterate(self, reward: str, discount: float) -> Iterator[tuple[Values, npt.NDArray[np.int16]]]:
        """Synchronous value iteration from 0: after each iteration the worth of arriving at every raw board, and the
        best placement of every piece on every open board, the first among equals."""
        rewards = OBJECTIVES[reward]
        earned = np.asarray(rewards.lines)[self.lines]
        if rewards.moves:
            moves = np.zeros(len(self.numbers))
            moves[self.open] = rewards.moves * (self.chances @ self.counts())
            earned = earned + moves[self.cleared]
        mean = np.zeros(len(self.numbers))
        while True:
            arriving = earned + discount * mean[self.cleared]
            fresh = np.zeros(len(self.open))
            policy = np.full((len(self.masks), len(self.open)), -1, np.int16)
            for piece, masks in enumerate(self.masks):
                best = np.full(len(self.open), -np.inf)
                for place, mask in enumerate(masks):
                    where = np.flatnonzero(self.fits(mask))
                    value = arriving[self.open[where] | mask]
                    better = value > best[where] + EQUAL * np.abs(value)
                    best[where[better]] = value[better]
                    policy[piece, where[better]] = place
                fresh += self.chances[piece] * np.where(policy[piece] >= 0, best, 0.0)
            mean = np.zeros(len(self.numbers))
            mean[self.open] = fresh
            yield arriving, policy
