"""What the page says about a game. A game that is not named here is called by its name."""

from __future__ import annotations

from typing import Any

from rookery.game import TERMINAL, Game, State

TITLES = {
    "solitaire-chess": "Solitaire Chess",
    "checkers": "Checkers",
    "morpion": "Morpion Solitaire",
    "endgames": "Chess endgames",
    "tenten": "1010!",
}

BLURBS = {
    "solitaire-chess": "Every move captures. Leave one piece.",
    "checkers": "English draughts: captures are compulsory.",
    "morpion": "Add a dot, draw a line, and go on as long as you can.",
    "endgames": "King and pieces against a lone king.",
    "tenten": "Place the pieces, clear rows and columns, stay alive.",
}


STARTS = {"endgames": "a random position that White wins", "solitaire-chess": "a random board that can be solved"}
"""Where a game begins if nothing is said."""


def title(game: Game) -> str:
    return TITLES.get(game.name, game.name.replace("-", " ").title())


def status(state: State) -> str:
    """One sentence about where the game stands."""
    game = state.game
    if state.player() == TERMINAL:
        return _outcome(state)
    if game.players == 1:
        return _tally(state)
    side = game.sides[state.player()]
    return f"{side} to move" + (", in check" if getattr(state, "in_check", False) else "")


def _tally(state: Any) -> str:
    """How far a person has come in a game for one."""
    if hasattr(state, "score"):
        return f"{state.score:,} points"
    if hasattr(state, "pieces"):
        return f"{state.pieces} pieces left"
    if hasattr(state, "moves"):
        return f"{len(state.moves)} moves"
    return "Your move"


def _outcome(state: Any) -> str:
    returns = state.returns()
    if state.game.players == 2:
        reason = f" ({state.ending})" if getattr(state, "ending", None) else ""
        if returns[0] == 0:
            return f"Drawn{reason}"
        return f"{state.game.sides[0 if returns[0] > 0 else 1]} wins{reason}"
    if hasattr(state, "pieces"):
        return "Solved: one piece is left" if returns[0] else f"Stuck with {state.pieces} pieces left"
    if hasattr(state, "score"):
        return f"No piece fits any more: {state.score:,} points in {state.rounds:,} rounds"
    if hasattr(state, "moves"):
        return f"No line is left: {len(state.moves)} moves"
    return f"Over: {returns[0]:g}"
