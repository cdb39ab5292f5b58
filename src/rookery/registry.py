"""Games by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, MutableMapping
from typing import Any

from rookery import games
from rookery.game import Game


class _Games(MutableMapping[str, type[Game]]):
    """Every game by name. A game that ships is imported when it is first asked for."""

    def __init__(self) -> None:
        folders = [module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg]
        self._found: dict[str, type[Game] | str] = {
            folder.replace("_", "-"): f"{games.__name__}.{folder}" for folder in folders
        }

    def __getitem__(self, name: str) -> type[Game]:
        found = self._found[name]
        if isinstance(found, str):
            found = self._found[name] = importlib.import_module(found).GAME
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __setitem__(self, name: str, game: type[Game]) -> None:
        self._found[name] = game

    def __delitem__(self, name: str) -> None:
        del self._found[name]


GAMES = _Games()
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
