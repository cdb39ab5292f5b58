"""A small net that values checkers positions, learned from self-play alone.

121 inputs (own men, other men, own kings, other kings, and who has the opposition, as the side to move sees them), two
hidden layers of 128 and 32 clipped linear units, and log-odds of winning as output. The second layer and the output
have four sets of weights, one per stage of the game by the number of pieces. `native/games/checkers/net.hpp` evaluates
it with integers inside the search.

A generation plays games with the engine, whose evaluation is the net so far, or in the first one the patterns of `td`,
and ends games by the solved endgames. Every position without a capture gets a target: 1 - lambda times the chance that
the search saw there plus lambda times the target of the next position, which at the end is the result. Random leaves of
the searches are examples too, with the chance that a search from the leaf finds. Then the net
learns from the last generations by gradient descent (Adam, cross-entropy; `native/games/checkers/net_learner.hpp`).

>>> value = NetValue(np.zeros(NetValue.size, np.float32))
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
import numpy.typing as npt

from rookery import _native
from rookery._native import Control
from rookery.games.checkers import MODELS, database, td
from rookery.games.checkers.rules import Checkers
from rookery.method import check_at_least
from rookery.progress import watching
from rookery.run import Row, Run, duration, load_arrays, save_model

KIND = "checkers net"
SHIPPED = MODELS / "net.npz"

NetValue = _native.checkers.NetValue
"""The value of a position for the side to move, called with a state: hundredths of log-odds."""


@dataclass(frozen=True)
class Settings:
    generations: int = duration(10)
    """Generations of self-play and learning; a checkpoint is written after each."""
    games: int = 20_000
    """Games per generation."""
    nodes: int = 1000
    """Positions that the search looks at per move."""
    trace: float = 0.9
    """Lambda: how much the rest of the game counts against what the search found."""
    exploration: float = 0.04
    """Chance of a random move."""
    opening: int = 12
    """The largest number of random plies at the start of a game."""
    leaves: int = 3
    """Examples per move that are taken from the leaves of its search."""
    window: int = 4
    """Generations that the net learns from: the last N."""
    epochs: int = 4
    """Passes over these games per generation."""
    batch: int = 4096
    """Positions per gradient step."""
    rate: float = 0.003
    """The largest learning rate; every generation rises to it and falls to zero."""
    threads: int = duration(0)
    """Cores to play and learn on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "generations", "games", "nodes", "window", "epochs", "batch")


def train(game: Checkers, settings: Settings, run: Run) -> Iterator[Row]:
    """Play and learn; yields a row of metrics after every generation."""
    learner, solved = _native.checkers.NetLearner(run.seed), database.load()
    boards: list[npt.NDArray[np.uint32]] = []
    targets: list[npt.NDArray[np.float32]] = []
    if (saved := run.restore()) is not None:
        learner.restore(saved["weights"])
        ends = np.cumsum(saved["sizes"])[:-1]
        boards, targets = np.split(saved["boards"], ends), np.split(saved["targets"], ends)
    for generation in range(len(run.rows), settings.generations):
        value = NetValue(learner.weights()) if generation else td.load()
        with watching(f"Generation {generation + 1}: playing", control := Control(), settings.games):
            found = _native.checkers.play_examples(
                game.initial_state(), value, solved.native, settings.nodes, settings.trace, settings.exploration,
                settings.opening, settings.leaves, generation * settings.games, settings.games, run.seed,
                settings.threads, control,
            )  # fmt: skip
        boards = [*boards, found[0]][-settings.window :]
        targets = [*targets, found[1]][-settings.window :]
        kept: dict[str, npt.NDArray[Any]] = {"boards": np.concatenate(boards), "targets": np.concatenate(targets)}
        total = settings.epochs * len(kept["targets"])
        with watching(f"Generation {generation + 1}: learning", control := Control(), total):
            error = learner.learn(
                kept["boards"], kept["targets"], settings.epochs, settings.batch, settings.rate, run.seed + generation,
                settings.threads, control,
            )  # fmt: skip
        row = {
            "generation": generation + 1,
            "games": (generation + 1) * settings.games,
            "positions": len(found[1]),
            "error": error,
            "progress": (generation + 1) / settings.generations,
        }
        info = {"kind": KIND, "settings": run.settings | {"seed": run.seed}, "command": run.info["command"]}
        save_model(run.folder / "model.npz", info, {"weights": learner.weights().astype(np.float16)})
        run.save(row, kept | {"weights": learner.weights(), "sizes": np.array([len(part) for part in targets])})
        yield row


def load(path: Path | str = SHIPPED) -> Any:
    """The net in a file that `train` wrote."""
    _, arrays = load_arrays(path, KIND)
    weights = arrays.get("weights")
    if weights is None or weights.shape != (NetValue.size,):
        raise ValueError(f"{path} does not hold the {NetValue.size:,} weights of the net")
    return NetValue(weights.astype(np.float32))
