"""Rookery: programs learn to play finite board games and puzzles, and you see how far from perfect they still are.

>>> import rookery
>>> game = rookery.load("tenten")
>>> summary = game.random_games(1000, seed=1)
>>> 18 < float(summary.lengths.mean()) < 23
True
"""

from importlib.metadata import version

from rookery._native import Control
from rookery.game import CHANCE, TERMINAL, Game, Overlay, State
from rookery.registry import GAMES, load, register

__version__ = version("rookery")
__all__ = ["CHANCE", "GAMES", "TERMINAL", "Control", "Game", "Overlay", "State", "load", "register"]
