"""1010!."""

from pathlib import Path

from rookery.games.tenten.rules import TenTen, TenTenState

MODELS = Path(__file__).parent / "models"
"""Trained models that ship with the game, each with the command that made it."""

GAME = TenTen

__all__ = ["GAME", "MODELS", "TenTen", "TenTenState"]
