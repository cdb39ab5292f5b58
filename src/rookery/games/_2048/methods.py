"""The methods of 2048."""

from __future__ import annotations

from rookery.exact import methods
from rookery.game import Game
from rookery.games._2048.exact import SolvedBoard
from rookery.games._2048.rules import TwentyFortyEight

SOLVED_AT_ONCE = 6
"""Boards of up to this many cells are solved when the oracle is loaded, in less than a second."""


class Oracle(methods.Oracle):
    """Perfect play on small boards, from the solution of all their positions."""

    game = "2048"
    form = SolvedBoard

    def unready(self, game: Game) -> str | None:
        assert isinstance(game, TwentyFortyEight)
        return None if game.rows * game.columns <= SOLVED_AT_ONCE else super().unready(game)


METHODS = (Oracle(),)
