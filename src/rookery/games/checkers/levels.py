"""Levels of strength for people, from a beginner to a master."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Strength:
    """A level: how far the engine looks, and how large its errors are."""

    name: str
    about: str
    nodes: int = 0
    """Positions to look at per move; 0 for no limit."""
    depth: int = 0
    """Plies to look ahead; 0 for no limit."""
    noise: float = 0.0
    """The standard deviation of the errors in its judgement of moves, in hundredths of log-odds."""
    endgames: bool = False
    """Whether it knows the solved endgames and the opening book."""
    elo: int | None = None
    """Its rating, on a scale where the first rung of the ladder (`ladder:depth=1`) has 1000."""


LEVELS = (
    Strength("Beginner", "looks one move ahead and often errs", depth=1, noise=200, elo=600),
    Strength("Novice", "sees simple captures, and errs", depth=2, noise=100, elo=1040),
    Strength("Casual player", "sees short exchanges, and errs now and then", depth=3, noise=50, elo=1400),
    Strength("Improver", "looks four plies ahead, with small errors", depth=4, noise=25, elo=1720),
    Strength("Club player", "looks six plies ahead", depth=6, noise=10, elo=2100),
    Strength("Tournament player", "looks at 2,000 positions per move", nodes=2_000, elo=2240),
    Strength("Expert", "looks at 20,000 positions, knows openings and endgames", nodes=20_000, endgames=True, elo=2480),
    Strength(
        "Master", "looks at 100,000 positions, knows openings and endgames", nodes=100_000, endgames=True, elo=2610
    ),
)
