"""Temporal-difference learning of a checkers evaluation, by self-play alone.

The value of a position is a sum of weights looked up by patterns of its pieces, on the scale of log-odds
(`native/games/checkers/patterns.hpp` names the patterns). All weights start at zero, so that at first not even a man is
worth anything. A batch of games is played by a shallow search with the weights as they are; then every quiet position
of every game learns from what the search found there, from the positions after it and from the end of the game:
TD(lambda) with search, and temporal-coherence step sizes (`native/games/checkers/td.hpp`).

The games of a batch are spread over the threads and learned from in order: the result depends on the seed alone.

>>> value = PatternValue(np.zeros(PatternValue.size, np.float32))
>>> from rookery.games.checkers import Checkers
>>> value(Checkers().initial_state())
0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rookery import _native
from rookery.games.checkers import MODELS
from rookery.games.checkers.rules import Checkers
from rookery.method import check_at_least
from rookery.run import Row, Run, duration, load_arrays, save_model

KIND = "checkers-td"
SHIPPED = MODELS / "td.npz"

PatternValue = _native.checkers.PatternValue
"""The value of a position for the side to move, called with a state: hundredths of log-odds."""


@dataclass(frozen=True)
class Settings:
    generations: int = duration(100)
    """Generations of self-play; a checkpoint is written after each."""
    games: int = 2048
    """Games per generation."""
    batch: int = 256
    """Games that are played with the same weights."""
    depth: int = 3
    """Plies that the search looks ahead, captures followed to their end."""
    trace: float = 0.8
    """Lambda: how much the rest of the game counts against what the search found."""
    exploration: float = 0.05
    """Chance of a random move."""
    opening: int = 8
    """The largest number of random plies at the start of a game."""
    step: float = 8.0
    """How much of an error is corrected at once, before temporal coherence makes it smaller."""
    half_step: int = 20
    """After N generations the step is a half, after 2N a third, and so on."""
    threads: int = duration(0)
    """Cores to play on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "generations", "games", "batch", "half_step")


def train(game: Checkers, settings: Settings, run: Run) -> Iterator[Row]:
    """Play and learn; yields a row of metrics after every generation."""
    learner = _native.checkers.TdLearner(settings.depth, settings.trace, settings.exploration, settings.opening)
    if (saved := run.restore()) is not None:
        learner.restore(saved["value"], saved["error"], saved["magnitude"])
    start = game.initial_state()
    for generation in range(len(run.rows), settings.generations):
        totals, step = np.zeros(5), settings.step / (1 + generation / settings.half_step)
        for first in range(0, settings.games, settings.batch):
            batch = min(settings.batch, settings.games - first)
            totals += learner.train(start, generation * settings.games + first, batch, step, run.seed, settings.threads)
        games, plies, draws, learned, squared = totals.tolist()
        row = {
            "generation": generation + 1,
            "games": (generation + 1) * settings.games,
            "plies_per_game": plies / games,
            "drawn": draws / games,
            "error": (squared / max(learned, 1)) ** 0.5,
            "progress": (generation + 1) / settings.generations,
        }
        info = {"kind": KIND, "settings": run.settings | {"seed": run.seed}, "command": run.info["command"]}
        # As 16-bit numbers.
        save_model(run.folder / "model.npz", info, {"weights": learner.state()[0].astype(np.float16)})
        run.save(row, dict(zip(("value", "error", "magnitude"), learner.state(), strict=True)))
        yield row


def load(path: Path | str = SHIPPED) -> Any:
    """The learned value in a file that `train` wrote."""
    _, arrays = load_arrays(path, KIND)
    weights = arrays.get("weights")
    if weights is None or weights.shape != (PatternValue.size,):
        raise ValueError(f"{path} does not hold the {PatternValue.size:,} weights of the value")
    return PatternValue(weights.astype(np.float32))
