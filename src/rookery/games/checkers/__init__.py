"""Checkers (English draughts)."""

from pathlib import Path

from rookery.games.checkers.rules import Checkers, CheckersState

MODELS = Path(__file__).parent / "models"
"""Trained models that ship with the game, each with the command that made it."""

GAME = Checkers

__all__ = ["GAME", "MODELS", "Checkers", "CheckersState"]
