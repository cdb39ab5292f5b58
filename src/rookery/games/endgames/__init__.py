"""Chess endgames: a king and up to two pieces against a lone king."""

from pathlib import Path

from rookery.games.endgames.rules import Endgames, EndgamesState

MODELS = Path(__file__).parent / "models"
"""Trained models that ship with the game, each with the command that made it."""

GAME = Endgames

__all__ = ["GAME", "MODELS", "Endgames", "EndgamesState"]
