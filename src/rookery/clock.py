"""Clocks for games of two players: a time for all moves of a side, and an increment per move."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Clock:
    """The seconds that are left to each player, and those that each gets back per move.

    >>> clock = Clock.parse("5+3")
    >>> clock.spend(0, 10)
    True
    >>> str(clock)
    '4:53 and 5:00'
    >>> clock.spend(1, 301)
    False
    """

    left: list[float]
    increment: float

    @classmethod
    def parse(cls, text: str) -> Clock:
        """A clock from minutes per side and seconds per move, "5+3", or from minutes alone, "5"."""
        number = r"\d{1,4}(?:\.\d{1,3})?"
        found = re.fullmatch(rf"({number})(?:\+({number}))?", text.strip())
        if not found or not float(found[1]):
            raise ValueError(f"a clock is minutes per side and seconds per move, such as 5+3, not {text[:40]!r}")
        return cls([60 * float(found[1])] * 2, float(found[2] or 0))

    def spend(self, player: int, seconds: float) -> bool:
        """Take the time of a move from a player's clock and add the increment; False if the time was over before."""
        self.left[player] -= seconds
        if self.left[player] <= 0:
            self.left[player] = 0.0
            return False
        self.left[player] += self.increment
        return True

    def __str__(self) -> str:
        return " and ".join(f"{int(left) // 60}:{int(left) % 60:02}" for left in self.left)
