"""Least-squares policy iteration for 1010!, as the paper has it.

The value of a placement is a weighted sum of 21 features (Table 1 of the paper; computed in
`native/games/tenten/features.hpp`). Games are played greedily with the current weights; every placement adds to A and b

    A += phi(s, a) (phi(s, a) - discount phi(s', a'))^T        b += phi(s, a) r

where (s', a') is the next placement of the same game; the last one has no next, and the penalty for its reward. After
every 20 games ("turns") the weights become the solution of A w = b. A and b are never reset.

The paper repeats that until the weights converge and does not say how it tells. A and b only grow, so the n-th update
moves the weights by about 1/n of what it would do alone, and a small last step says little. Here the weights have
converged when they have stayed within `tolerance` of where they are now for the whole second half of the run.

A is singular whatever is played: filled and blank cells add up to a constant, which is the bias. So the equations are
solved by least squares: of all solutions, the one of least norm, with the features on one scale.

>>> import rookery
>>> lspi = Lspi(rookery.load("tenten", "4x4-seven"), Settings())
>>> len(FEATURES) == len(lspi.weights) == 21
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery import run as runs
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.survival import Survival
from rookery.method import check_at_least
from rookery.run import Row, Run, duration, settings_from

KIND = "tenten-lspi"

FEATURES = (
    "average horizontal blank run",
    "longest horizontal blank run",
    "average vertical blank run",
    "longest vertical blank run",
    "filled cells",
    "blank cells",
    "places of 5x1",
    "places of 1x5",
    "places of 3x3",
    "largest blank square",
    "largest blank rectangle",
    "distance of the piece from the edge",
    "blank rows",
    "blank columns",
    "regions of blank cells",
    "regions of filled cells",
    "largest blank region",
    "largest filled region",
    "reward of the placement",
    "chance that the next piece fits",
    "bias",
)
"""The rows of the paper's Table 1, in its order."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """The paper's, but for the discount."""

    reward: Literal[1, 2, 3] = 2
    """1: lines squared plus expected placements; 2: lines squared; 3: expected placements."""
    discount: float = 0.99
    """Discount. The paper used 0.8 on 4x4 and does not give the one for 10x10; there a longer view plays better."""
    penalty: float = -1000.0
    """Reward of a placement after which the next piece does not fit."""
    turns: int = 20
    """Games between two updates of the weights."""
    tolerance: float = duration(0.01)
    """Stop when the weights of the second half of the run all lie this close to the last ones, relative to their
    norm."""
    updates: int = duration(1000)
    """Stop after this many updates of the weights even if they have not converged."""
    max_rounds: int = 100_000
    """A game longer than this is stopped."""
    threads: int = duration(0)
    """Cores to play on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "turns", "updates", "max_rounds")
        check_at_least(self, 0, "discount", "tolerance")
        if self.discount > 1:
            raise ValueError(f"discount must be at most 1 and is {self.discount}")


class Lspi:
    """The weights, and games played with them."""

    names = FEATURES

    def __init__(self, game: TenTen, settings: Settings, weights: Weights | None = None) -> None:
        self.game, self.settings = game, settings
        self.features = _native.tenten.PaperFeatures(game.rules, settings.reward)
        self.weights: Weights = np.zeros(len(FEATURES)) if weights is None else weights

    def play(self, games: int, seed: int, max_rounds: int = 10_000_000, threads: int = 0) -> Survival:
        rounds, _, scores, ended, fatal = self.features.play(self.weights, games, seed, max_rounds, threads)
        return Survival(rounds, ended.astype(bool), scores, fatal)

    def feature_vectors(self, board: tuple[int, int], piece: int, cells: Any, boards: Any) -> Weights:
        """The features of placements of a piece, `[placements, features]`."""
        return np.array([self.features.of_placement(board, piece, int(cell)) for cell in cells])

    def save(self, path: Path | str, **info: Any) -> None:
        runs.save_model(path, {"kind": KIND, "settings": asdict(self.settings), **info}, {"weights": self.weights})


def load(path: Path | str, game: TenTen) -> Lspi:
    info, arrays = runs.load_arrays(path, KIND)
    if arrays["weights"].shape != (len(FEATURES),):
        raise ValueError(f"{path} does not hold {len(FEATURES)} weights")
    return Lspi(game, settings_from(Settings, info["settings"]), arrays["weights"])


def solve(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> Weights:
    """The least-squares solution of least norm of A w = b, with every feature scaled to the same size."""
    size = np.sqrt(np.abs(np.diag(a)))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    solution, *_ = np.linalg.lstsq(a * np.outer(scale, scale), b * scale, rcond=1e-9)
    return np.asarray(solution * scale)


def drift(history: npt.NDArray[np.float64]) -> float:
    """The greatest distance of weights in the second half of `history`, `[updates + 1, features]`, from the last ones,
    relative to their norm.

    >>> drift(np.array([[0.0, 0], [9, 9], [3, 5], [3, 4]]))  # after three updates the second half begins with the first
    1.5620499351813308
    """
    half = history[(len(history) - 1) // 2 :]
    return float(np.linalg.norm(half - half[-1], axis=1).max() / np.linalg.norm(half[-1]))


def train(game: TenTen, settings: Settings, run: Run) -> Iterator[Row]:
    """Play and learn; yields a row of metrics after every update."""
    lspi = Lspi(game, settings)
    size = len(FEATURES)
    a, b, history = np.zeros((size, size)), np.zeros(size), np.zeros((1, size))
    if (saved := run.restore()) is not None:
        a, b, history = saved["a"], saved["b"], saved["history"]
    for update in range(len(run.rows), settings.updates):
        if run.rows and run.rows[-1]["drift"] < settings.tolerance:
            return
        lspi.weights = history[-1]
        more_a, more_b, rounds = lspi.features.sample(
            lspi.weights, settings.discount, settings.penalty, settings.turns, run.seed, update * settings.turns,
            settings.max_rounds, settings.threads,
        )  # fmt: skip
        a, b = a + more_a, b + more_b
        lspi.weights = solve(a, b)
        history = np.vstack([history, lspi.weights])
        moved = drift(history)
        row = {
            "update": update + 1, "mean_rounds": float(rounds.mean()), "drift": moved,
            "progress": 1.0 if moved < settings.tolerance else (update + 1) / settings.updates,
        }  # fmt: skip
        lspi.save(run.folder / "model.npz")
        run.save(row, {"a": a, "b": b, "history": history})
        yield row
