"""The cross-entropy method: tune the weights of a linear evaluation by playing.

Draw candidates from a normal distribution, let each play the same pieces, move the distribution to the best of them,
and repeat. What a candidate is measured by is not how long its games happened to last but how likely they were to end:
the mean chance, over a fixed number of placements, that the next piece does not fit. That is far less noisy.

The features are those of `native/games/tenten/features.hpp`, `HandFeatures`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery import run as runs
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.survival import Survival
from rookery.method import check_at_least
from rookery.run import Row, Run, duration

KIND = "tenten-linear"

FEATURES = (
    "filled cells",
    "edges between filled and free",
    "free cells without a free neighbour",
    "free cells with one free neighbour",
    "filled cells without a filled neighbour",
    "inner corners",
    "outer corners",
    "corners that only touch",
    "places of 3x3 (log2)",
    "places of 1x5 and 5x1 (log2)",
    "places of the large corners (log2)",
    "places of 2x2 (log2)",
    "chance that the next piece does not fit",
    "squared fill of the lines",
    "3x3 squares side by side",
    "regions of free cells",
)

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    generations: int = duration(30)
    """Generations of candidates."""
    population: int = 40
    """Candidates per generation."""
    elite: int = 8
    """The best candidates of a generation, which the next one is drawn around."""
    rounds: int = 5_000
    """Placements each candidate is measured on."""
    noise: float = 0.2
    """Noise added to every standard deviation, falling to 0 over the run, so that the search does not freeze early."""
    threads: int = duration(0)
    """Cores to play on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "generations", "population", "elite", "rounds")
        if self.elite > self.population:
            raise ValueError(f"elite must be at most population, {self.population}, and is {self.elite}")


class Linear:
    """The weights, and games played with them."""

    names = FEATURES

    def __init__(self, game: TenTen, weights: Weights) -> None:
        self.game, self.weights = game, weights
        self.features = _native.tenten.HandFeatures(game.rules)

    def play(self, games: int, seed: int, max_rounds: int = 10_000_000, threads: int = 0) -> Survival:
        rounds, _, scores, ended, fatal = self.features.play(self.weights, games, seed, max_rounds, threads)
        return Survival(rounds, ended.astype(bool), scores, fatal)

    def feature_vectors(self, board: tuple[int, int], piece: int, cells: Any, boards: Any) -> npt.NDArray[np.float64]:
        """The features of the boards after placements of a piece, `[placements, features]`."""
        return np.asarray(self.features.of_boards(boards).astype(np.float64))

    def save(self, path: Path | str, **info: Any) -> None:
        runs.save_model(path, {"kind": KIND, **info}, {"weights": self.weights})


def load(path: Path | str, game: TenTen) -> Linear:
    _, arrays = runs.load_arrays(path, KIND)
    if arrays["weights"].shape != (len(FEATURES),):
        raise ValueError(f"{path} does not hold {len(FEATURES)} weights")
    return Linear(game, arrays["weights"].astype(np.float32))


def train(game: TenTen, settings: Settings, run: Run) -> Iterator[Row]:
    """Tune the weights; yields a row of metrics after every generation."""
    features = _native.tenten.HandFeatures(game.rules)
    # The features differ in size by a factor of a hundred; the weights are tuned on a common scale.
    scale = _typical_size(game)
    mean, spread = np.zeros(len(FEATURES)), np.ones(len(FEATURES))
    if (saved := run.restore()) is not None:
        mean, spread = saved["mean"], saved["spread"]
    for generation in range(len(run.rows), settings.generations):
        rng = np.random.default_rng([run.seed, generation])
        candidates = mean + spread * rng.standard_normal((settings.population, len(FEATURES)))
        weights = (candidates / scale).astype(np.float32)
        rates = features.death_rates(weights, settings.rounds, int(rng.integers(1 << 62)), settings.threads)
        best = np.argsort(rates, kind="stable")[: settings.elite]
        noise = settings.noise * (1 - generation / settings.generations)
        mean, spread = candidates[best].mean(axis=0), candidates[best].std(axis=0) + noise
        # Only the direction of the weights matters.
        length = np.linalg.norm(mean)
        mean, spread = mean / length, spread / length
        row = {
            "generation": generation + 1,
            "elite_mean_rounds": float(1 / max(rates[best].mean(), 1e-9)),
            "spread": float(spread.mean()),
            "progress": (generation + 1) / settings.generations,
        }
        Linear(game, (mean / scale).astype(np.float32)).save(run.folder / "model.npz")
        run.save(row, {"mean": mean, "spread": spread})
        yield row


def _typical_size(game: TenTen) -> npt.NDArray[np.float64]:
    """Root mean square of every feature on random boards a third full."""
    cells = game.rows * game.columns
    boards = np.zeros((200, 2), dtype=np.uint64)
    rng = np.random.default_rng(0)
    for board in boards:
        for cell in np.flatnonzero(rng.random(cells) < 1 / 3):
            board[cell // 64] |= np.uint64(1 << int(cell % 64))
    values = _native.tenten.HandFeatures(game.rules).of_boards(boards).astype(np.float64)
    return np.asarray(np.maximum(np.sqrt((values**2).mean(axis=0)), 1e-3))
