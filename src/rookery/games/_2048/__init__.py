"""2048."""

from rookery.games._2048.rules import TwentyFortyEight, TwentyFortyEightState

GAME = TwentyFortyEight

__all__ = ["GAME", "TwentyFortyEight", "TwentyFortyEightState"]
