"""Checkers by search: alpha-beta with the ladder's evaluation or a learned one, and whole matches natively.

>>> result = play_match(Player(depth=1), Player(depth=0), games=100, seed=1)
>>> result.score > 0.9
True
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery import _native
from rookery._native import Control
from rookery.games.checkers.rules import Checkers
from rookery.statistics import wilson_interval

DECIDED: int = _native.checkers.DECIDED
"""A game decided n plies ahead, found by a search of d plies, scores `DECIDED - n + d`."""

WIN: int = _native.checkers.WIN
"""A game that the engine sees won n plies ahead scores `WIN - n`."""
LEAST_WIN: int = _native.checkers.LEAST_WIN
"""Scores above this are won games."""

SCALE: float = _native.checkers.SCORE_SCALE
"""Learned scores are log-odds times this; in the ladder's evaluation it is a man."""


@dataclass(frozen=True)
class Player:
    """A player of native matches: the engine if nodes or seconds per move are limited, else random moves at depth 0 and
    exact minimax at others, ties broken at random."""

    depth: int = 0
    value: Any = None
    """A learned evaluation; None for the ladder's: 100 per man, 130 per king."""
    endgames: Any = None
    """Native solved endgames to look up in the search."""
    nodes: int = 0
    """Positions that the engine looks at per move."""
    seconds: float = 0.0
    """CPU time of the engine per move."""
    contempt: int = 0
    """Hundredths of log-odds that a draw counts less than an even game to the engine."""
    paced: bool = False
    """Whether the engine's nodes and seconds are roughly the average per move instead of limits."""

    def native(self) -> Any:
        return _native.checkers.Player(
            self.depth, self.value, self.endgames, self.nodes, self.seconds, self.contempt, self.paced
        )


@dataclass(frozen=True)
class MatchResult:
    """What came out, seen from the first player."""

    wins: int
    draws: int
    losses: int
    seconds: float
    """CPU time of all threads."""
    nodes_per_move: tuple[float, float]
    """Positions that each player looked at for a move."""
    seconds_per_move: tuple[float, float]
    """CPU time that each player took for a move."""
    thrown: tuple[int, int]
    """Games that each player did not win although the solved endgames called a position of it won; they must be those
    of one of the players."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points, a draw counting half."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """95%, of the score."""
        return wilson_interval(self.wins + self.draws / 2, self.games)


def play_match(
    first: Player,
    second: Player,
    games: int,
    seed: int = 0,
    threads: int = 0,
    game: Checkers | None = None,
    control: Control | None = None,
    opening: int = 2,
) -> MatchResult:
    """Games from random openings of the given number of plies, each opening played twice with colours exchanged.

    Unless time is limited, the same seed gives the same games whatever the number of threads (0: all cores).
    `control.done` counts games.
    """
    if games < 2 or games % 2:
        raise ValueError(f"the number of games must be even, so that colours can be exchanged, and is {games}")
    start = (game or Checkers()).initial_state()
    begin = time.process_time()
    rows = _native.checkers.play_match(start, first.native(), second.native(), games, seed, threads, opening, control)
    seconds = time.process_time() - begin
    results = rows[:, 0]
    nodes, thought = rows[:, (4, 6, 5, 7)].sum(axis=0).reshape(2, 2).T / np.maximum(rows[:, 2:4].sum(axis=0), 1)
    wins, losses = int((results > 0).sum()), int((results < 0).sum())
    thrown = [int(((side * results <= 0) & (won > 0)).sum()) for side, won in ((1, rows[:, 8]), (-1, rows[:, 9]))]
    return MatchResult(
        wins, games - wins - losses, losses, seconds,
        nodes_per_move=(float(nodes[0]), float(nodes[1])),
        seconds_per_move=(float(thought[0]), float(thought[1])),
        thrown=(thrown[0], thrown[1]),
    )  # fmt: skip
