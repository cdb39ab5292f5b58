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

SCALE: float = _native.checkers.SCORE_SCALE
"""Learned scores are log-odds times this; in the ladder's evaluation it is a man."""


@dataclass(frozen=True)
class Player:
    """A player of native matches: random moves at depth 0, else alpha-beta, ties broken at random."""

    depth: int
    value: Any = None
    """A learned evaluation; None for the ladder's: 100 per man, 130 per king."""
    endgames: Any = None
    """Native solved endgames to look up in the search."""

    def native(self) -> Any:
        return _native.checkers.Player(self.depth, self.value, self.endgames)


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
) -> MatchResult:
    """Games from random two-ply openings, each opening played twice with colours exchanged.

    The same seed gives the same games whatever the number of threads (0: all cores). `control.done` counts games.
    """
    if games < 2 or games % 2:
        raise ValueError(f"the number of games must be even, so that colours can be exchanged, and is {games}")
    start = (game or Checkers()).initial_state()
    begin = time.process_time()
    rows = _native.checkers.play_match(start, first.native(), second.native(), games, seed, threads, control)
    seconds = time.process_time() - begin
    results = rows[:, 0]
    nodes = rows[:, 4:6].sum(axis=0) / np.maximum(rows[:, 2:4].sum(axis=0), 1)
    wins, losses = int((results > 0).sum()), int((results < 0).sum())
    return MatchResult(wins, games - wins - losses, losses, seconds, (float(nodes[0]), float(nodes[1])))
