"""Games of your own, from Python files."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from rookery.game import Game
from rookery.registry import GAMES, register


def load_games(files: Iterable[Path]) -> None:
    """Register every game that a file defines."""
    for file in files:
        name = f"rookery_own_{file.stem}"
        spec = importlib.util.spec_from_file_location(name, file)
        if not file.is_file() or spec is None or spec.loader is None:
            raise ValueError(f"{file} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        found = [
            item
            for item in vars(module).values()
            if isinstance(item, type) and issubclass(item, Game) and item.__module__ == name
        ]
        if not found:
            raise ValueError(f"{file} defines no game; see docs/adding-a-game.md")
        for game in found:
            if game.name not in GAMES:
                register(game)
