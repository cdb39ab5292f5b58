"""Solitaire Chess."""

from pathlib import Path

from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState

MODELS = Path(__file__).parent / "models"
"""Trained models that ship with the game, each with the command that made it."""

GAME = SolitaireChess

__all__ = ["GAME", "MODELS", "SolitaireChess", "SolitaireChessState"]
