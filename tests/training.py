"""How tests train: a method's own `train` on a run's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rookery.game import Game
from rookery.registry import method
from rookery.run import Row, Run


def training(game: Game, name: str, settings: Any, folder: Path, seed: int = 0, resume: bool = False) -> Iterator[Row]:
    """The rows of a training run, one by one."""
    run = Run.create(folder, game, name, settings, seed, resume=resume)
    return method(name, game).train(game, settings, run)


def trained(game: Game, name: str, settings: Any, folder: Path, seed: int = 0, resume: bool = False) -> list[Row]:
    """The rows of a training run that is made to the end."""
    return list(training(game, name, settings, folder, seed, resume))
