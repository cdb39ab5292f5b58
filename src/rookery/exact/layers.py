"""Exact solution at the speed of NumPy, for games in Python that write their rules on arrays.

A position is a number below 2^64, and `ArrayRules` moves millions of them at once. The game must go forward: players
take turns, and no position comes up on two plies, as where every move adds a disc. Then the positions of a ply are a
sorted array, found from those of the ply before, and the values are computed from the last ply to the first.

A game offers its rules through `Game.array_rules()`; `rookery solve` uses them where they are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rookery._native import Control
from rookery.game import TERMINAL, State

Numbers = npt.NDArray[np.uint64]
CHUNK = 1 << 20
BYTES = 8 + 4 + 2
"""Per position: its number, value and distance."""


class ArrayRules(Protocol):
    """The rules of a game for two that goes forward, on arrays of positions."""

    def number(self, state: State) -> int:
        """The number of a position."""
        ...

    def moves(self, numbers: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """The positions after every action, `[positions, num_actions]`, and which actions are legal; none at ends."""
        ...

    def returns(self, numbers: Numbers) -> npt.NDArray[np.float32]:
        """What player 0 gets at ends."""
        ...


class Layers:
    """Every position that can be reached from a start, ply by ply, with its value. What `SolvedGame` calls a table."""

    players, error = 2, 0.0

    def __init__(
        self, first: int, starts: npt.NDArray[np.int64], numbers: Numbers, low: npt.NDArray[np.float32],
        distance: npt.NDArray[np.int16], moves: int, memory: int = 0,
    ) -> None:  # fmt: skip
        self.first = first
        """`first` is the player to move on the first ply."""
        self.starts, self.numbers, self.low, self.distance = starts, numbers, low, distance
        """Ply i has the positions from `starts[i]` to `starts[i + 1]`."""
        self.high = np.empty(0)
        self.moves, self.memory = moves, memory

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def player(self) -> npt.NDArray[np.int8]:
        """The player to move in each position, TERMINAL at ends."""
        mover = np.repeat((self.first + np.arange(len(self.starts) - 1)) % 2, np.diff(self.starts)).astype(np.int8)
        return np.where(self.distance == 0, np.int8(TERMINAL), mover)

    def find(self, state: State) -> int:
        """The place of a position; -1 if it cannot be reached."""
        rules: ArrayRules | None = state.game.array_rules()
        assert rules is not None
        number = np.uint64(rules.number(state))
        for begin, end in zip(self.starts, self.starts[1:], strict=False):
            place = int(begin) + int(np.searchsorted(self.numbers[begin:end], number))
            if place < end and self.numbers[place] == number:
                return place
        return -1

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """For a file."""
        return {
            "first": np.array(self.first), "starts": self.starts, "numbers": self.numbers, "low": self.low,
            "distance": self.distance, "moves": np.array(self.moves),
        }  # fmt: skip

    @staticmethod
    def load(arrays: Mapping[str, npt.NDArray[Any]]) -> Layers:
        """What `arrays` gave."""
        a = arrays
        return Layers(int(a["first"]), a["starts"], a["numbers"], a["low"], a["distance"], int(a["moves"]))


def _chunks(count: int) -> Iterator[slice]:
    return (slice(begin, begin + CHUNK) for begin in range(0, count, CHUNK))


def solve_layers(
    start: State, rules: ArrayRules, positions: int, most_bytes: int, control: Control | None = None
) -> Layers:
    """Solve everything that can be reached from a position; ValueError if that is too much."""
    if start.player() not in (0, 1) or start.game.players != 2:
        raise ValueError("rules on arrays are for two players, one of whom is to move")
    plies = [np.array([rules.number(start)], np.uint64)]
    total = moves = 0
    while len(plies[-1]):
        total += len(plies[-1])
        if total > positions:
            raise ValueError(f"there are more than {positions} positions")
        found = []
        for chunk in _chunks(len(plies[-1])):
            after, legal = rules.moves(plies[-1][chunk])
            moves += int(legal.sum())
            found.append(np.unique(after[legal]))
            _check(control, len(legal))
        # The arrays of the solution, and the new positions before and after they are sorted.
        needed = total * BYTES + 4 * 8 * sum(map(len, found))
        if needed > most_bytes:
            raise ValueError(f"{total:,} positions and more need {needed:,} bytes, and {most_bytes:,} are allowed")
        plies.append(np.unique(np.concatenate(found)))
    plies.pop()
    values = [np.zeros(len(ply), np.float32) for ply in plies]
    distances = [np.zeros(len(ply), np.int16) for ply in plies]
    for ply in reversed(range(len(plies))):
        sign = np.float32(1 if (start.player() + ply) % 2 == 0 else -1)
        for chunk in _chunks(len(plies[ply])):
            after, legal = rules.moves(plies[ply][chunk])
            over = ~legal.any(axis=1)
            values[ply][chunk][over] = rules.returns(plies[ply][chunk][over])
            if not over.all():
                place = np.searchsorted(plies[ply + 1], after[legal])
                worth = np.full(legal.shape, -np.inf, np.float32)
                worth[legal] = sign * values[ply + 1][place]
                steps = np.zeros(legal.shape, np.int16)
                steps[legal] = distances[ply + 1][place] + 1
                best = worth.max(axis=1)
                among = worth == best[:, np.newaxis]
                slowest = np.where(among, steps, -1).max(axis=1)
                quickest = np.where(among, steps, np.iinfo(np.int16).max).min(axis=1)
                going = ~over
                values[ply][chunk][going] = sign * best[going]
                distances[ply][chunk][going] = np.where(best < 0, slowest, quickest)[going]
            _check(control, 0)
    for value, distance in zip(values, distances, strict=True):
        value[distance == 0] = 0  # nothing is left to earn at an end
    starts = np.cumsum([0, *map(len, plies)])
    return Layers(
        start.player(), starts, np.concatenate(plies), np.concatenate(values), np.concatenate(distances), moves,
        total * BYTES + 4 * 8 * max(map(len, plies)),
    )  # fmt: skip


def _check(control: Control | None, done: int) -> None:
    """Count positions, and stop if that is asked for."""
    if control is not None:
        control.add(done)
        if control.stopped:
            raise KeyboardInterrupt
