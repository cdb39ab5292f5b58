"""Temporal-difference learning of an n-tuple network for 1010!.

The network gives every board after a placement a value, the log-odds of staying alive: a sum of weights, one for each
window of cells (looked up by what is filled in it) and a few for how many places the largest pieces still have. The
player is greedy. After every placement the value of the board before it is moved towards the value of the board after
(`native/games/tenten/td.hpp` has the formula and the reasons): TD(0) on afterstates with temporal-coherence step sizes,
optimistic first weights, and the symmetries of the square shared.

Training runs in lanes, each a learner of its own; after every batch their weights are merged. The result depends on the
seed and the number of lanes, not on the number of threads.

>>> import rookery
>>> network = NTuple(rookery.load("tenten", "4x4-seven"), Settings(tuples=((4, 4),)))
>>> network.play(games=20, seed=1).mean > 1
True
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery import run as runs
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.survival import Survival
from rookery.method import check_at_least
from rookery.run import Row, Run, duration, settings_from

KIND = "tenten-ntuple"

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    steps: int = duration(200_000_000)
    """Placements to learn from, in all lanes together."""
    tuples: tuple[tuple[int, int], ...] = ()
    """Rows and columns of the windows; chosen by the size of the board if empty."""
    discount: float = 0.97
    """Discount of the risk in later rounds."""
    step: float = 2.0
    """How much of an error is corrected at once, before temporal coherence makes it smaller."""
    every_piece: bool = False
    """Learn from every next piece, weighted by its chance, instead of the one drawn: slower, but without the noise."""
    first_value: float = 5.0
    """Value of every board before learning: log-odds of staying alive, so that unknown boards look safe."""
    restart: float = 0.0
    """Chance that a game is broken off after a placement and goes on from a random board."""
    lanes: int = 2
    """Learners side by side."""
    games: int = 32
    """Games that a lane plays side by side."""
    batch: int = 1_000_000
    """Placements between two mergers of the lanes, in all lanes together."""
    threads: int = duration(0)
    """Cores to play on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "steps", "lanes", "games", "batch")


def default_tuples(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """The whole board or most of it where a table can hold it; else squares of 3x3 and whole lines."""
    if rows * columns <= 20:
        return ((rows, columns),)
    if rows * columns <= 25:
        return ((min(rows, 20 // columns), columns),)
    return ((3, 3), (1, columns), (rows, 1))


def default_settings(game: TenTen) -> Settings:
    """On small boards the network is a table of all boards or nearly so, and every entry must be visited: a good player
    hardly ever sees a bad board, so games are broken off and go on from random ones."""
    if game.rows * game.columns <= 25:
        return Settings(steps=8_000_000, step=1.0, every_piece=True, first_value=8.0, restart=0.1)
    return Settings()


class NTuple:
    """The network, and games played with it."""

    def __init__(self, game: TenTen, settings: Settings, weights: Weights | None = None) -> None:
        self.game, self.settings = game, settings
        shapes = list(settings.tuples or default_tuples(game.rows, game.columns))
        self.features = _native.tenten.TupleFeatures(game.rules, shapes)
        if weights is None:
            weights = np.full(self.features.weights, settings.first_value / self.features.features, np.float32)
        if weights.shape != (self.features.weights,):
            raise ValueError(f"the network has {self.features.weights} weights on this board, not {weights.size}")
        self.weights: Weights = np.ascontiguousarray(weights, dtype=np.float32)

    def values(self, boards: npt.NDArray[np.uint64]) -> npt.NDArray[np.float32]:
        """Log-odds of staying alive for boards `[n, 2]`, each as its low and its high 64 cells."""
        return np.asarray(self.features.values(self.weights, boards))

    def play(
        self, games: int, seed: int, max_rounds: int = 1_000_000_000, *, look_ahead: int = 0, margin: float = 1.5,
        narrow: int = 8, wide: int = 100, comfort: float = 4.0, safe: float = 0.0, worry: float = -math.inf,
        guesses: int = 48, threads: int = 0,
    ) -> Survival:  # fmt: skip
        """Play whole games. `look_ahead` is the greatest number of placements behind which every next piece is looked
        at, `margin` how far below the best value they may lie. Where the best of them stays alive with a chance below
        `safe`, the first four are compared by a look at the next two pieces.

        Where a hand has several pieces, a beam search of width `narrow` plans all of them, and one of width `wide` if
        the plan's value is below `comfort`; lengths are then hands and not rounds. Where even that plan's value is
        below `worry`, the six best plans are compared by planning `guesses` random hands after each of them.
        """
        rounds, hands, scores, ended, fatal = self.features.play(
            self.weights, self.settings.discount, games, seed, max_rounds, look_ahead, margin, narrow, wide,
            comfort, safe, worry, guesses, threads,
        )  # fmt: skip
        return Survival(rounds if self.game.hand == 1 else hands, ended.astype(bool), scores, fatal)

    def save(self, path: Path | str, **info: Any) -> None:
        """Weights go into the file as 16-bit numbers."""
        settings = asdict(self.settings) | {"tuples": [list(shape) for shape in self.settings.tuples]}
        weights = self.weights.astype(np.float16)
        runs.save_model(path, {"kind": KIND, "settings": settings, **info}, {"weights": weights})


def load(path: Path | str, game: TenTen) -> NTuple:
    info, arrays = runs.load_arrays(path, KIND)
    return NTuple(game, settings_from(Settings, info["settings"]), arrays["weights"].astype(np.float32))


def train(game: TenTen, settings: Settings, run: Run) -> Iterator[Row]:
    """Play and learn; yields a row of metrics after every batch."""
    shapes = tuple(settings.tuples) or default_tuples(game.rows, game.columns)
    learner = _native.tenten.TdLearner(
        game.rules, list(shapes), settings.lanes, settings.games, settings.first_value, settings.discount,
        settings.every_piece, settings.restart,
    )  # fmt: skip
    if (saved := run.restore()) is not None:
        last = run.rows[-1]
        arrays = [saved[name] for name in ("weights", "errors", "sizes", "boards")]
        learner.restore(arrays[0], arrays[1], arrays[2], arrays[3], last["steps"], last["deaths"])
    batches = -(-settings.steps // settings.batch)
    for batch in range(len(run.rows), batches):
        begin, steps, deaths = time.perf_counter(), learner.rounds, learner.deaths
        learner.train(-(-settings.batch // settings.lanes), settings.step, run.seed, batch, settings.threads)
        seconds = time.perf_counter() - begin
        row = {
            "steps": learner.rounds,
            "deaths": learner.deaths,
            "mean_rounds": (learner.rounds - steps) / max(1, learner.deaths - deaths),
            "steps_per_second": round((learner.rounds - steps) / seconds),
            "progress": (batch + 1) / batches,
        }
        state = learner.state()
        NTuple(game, replace(settings, tuples=shapes), state[0]).save(run.folder / "model.npz")
        run.save(row, dict(zip(("weights", "errors", "sizes", "boards"), state, strict=True)))
        yield row
