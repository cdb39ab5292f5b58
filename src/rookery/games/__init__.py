"""The games. `load("checkers")` gives one; `GAMES` lists them all."""

from __future__ import annotations

from typing import Any

from rookery.games.base import CHANCE, TERMINAL, Game, NativeGame, Overlay, RandomGames, State, native, play_chance
from rookery.games.checkers import Checkers
from rookery.games.endgames import Endgames
from rookery.games.morpion import Morpion
from rookery.games.solitaire_chess import SolitaireChess
from rookery.games.tenten import TenTen

GAMES: dict[str, type[Game]] = {game.name: game for game in (SolitaireChess, Checkers, Morpion, Endgames, TenTen)}
"""Every game by name. Add your own with `register`."""


def register(game: type[Game]) -> type[Game]:
    """Make a game known by its name to everything that takes names; usable as a class decorator."""
    GAMES[game.name] = game
    return game


def load(name: str, variant: str | None = None, **options: Any) -> Game:
    """A game by name, with a variant's options and then yours.

    >>> load("tenten", "3x3-three").num_actions
    9
    >>> load("chess")
    Traceback (most recent call last):
    ...
    ValueError: unknown game 'chess'; known games: ...
    """
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}; known games: {', '.join(GAMES)}")
    variants = GAMES[name].variants
    if variant is not None and variant not in variants:
        raise ValueError(f"unknown variant {variant!r} of {name}; known variants: {', '.join(variants) or 'none'}")
    if variant is None and variants:
        variant = next(iter(variants))
    settings = dict(variants[variant]) if variant is not None else {}
    return GAMES[name](**(settings | options))


__all__ = [
    "CHANCE", "GAMES", "TERMINAL", "Game", "NativeGame", "Overlay", "RandomGames", "State", "load", "native",
    "play_chance", "register",
]  # fmt: skip
