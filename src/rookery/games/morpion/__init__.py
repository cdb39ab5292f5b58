"""Morpion Solitaire."""

from pathlib import Path

from rookery.games.morpion.rules import Morpion, MorpionState

MODELS = Path(__file__).parent / "models"
"""Trained models that ship with the game, each with the command that made it."""

GAME = Morpion

__all__ = ["GAME", "MODELS", "Morpion", "MorpionState"]
