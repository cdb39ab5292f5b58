"""Many games side by side as an environment for learners.

>>> import rookery as rk
>>> envs = rk.vector(rk.load("checkers"), 4, seed=1)
>>> envs.observation.shape, envs.mask.shape, envs.mask.sum(axis=1).tolist()
((4, 5, 8, 8), (4, 1426), [7, 7, 7, 7])
>>> for _ in range(200):
...     envs.step(envs.sample())
>>> envs.steps, bool(envs.mask.any(axis=1).all())
(200, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery.game import Game, native


class Vector:
    """Games side by side. The arrays stay where they are: every step writes into them.

    A game that ends begins again in the same step: `done` and `reward` tell of its end, the other arrays of the new
    game. Chance is drawn natively; game i has the random stream (seed, i), so that results do not depend on `threads`.
    """

    observation: npt.NDArray[np.float32]
    """`[games, planes, rows, columns]`."""
    mask: npt.NDArray[np.bool_]
    """Whether each action is legal, `[games, num_actions]`."""
    reward: npt.NDArray[np.float32]
    """Reward of the last step, `[games, players]`."""
    done: npt.NDArray[np.bool_]
    """Whether a game ended in the last step, `[games]`."""
    player: npt.NDArray[np.int8]
    """The player to move, `[games]`."""

    def __init__(self, game: Game, games: int, seed: int = 0, threads: int = 1) -> None:
        if not 1 <= games <= 1_000_000:
            raise ValueError(f"the number of games must be from 1 to 10^6, and is {games}")
        self.game, self.threads, self.steps = game, threads, 0
        self._native: Any = native(game.initial_state()).vector(games, seed)
        shape = (games, *game.observation_shape)
        self.observation = self._native.observation.reshape(shape)
        self.mask, self.reward = self._native.mask, self._native.reward
        self.done, self.player = self._native.done, self._native.player

    def __len__(self) -> int:
        return len(self.done)

    def step(self, actions: Sequence[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Play one action per game. ValueError names one that is not legal, and then nothing happens in any game."""
        self._native.step(np.ascontiguousarray(actions, np.int32), self.threads)
        self.steps += 1

    def sample(self) -> npt.NDArray[np.int32]:
        """A uniformly random legal action per game."""
        chosen: npt.NDArray[np.int32] = self._native.sample()
        return chosen


def vector(game: Game, games: int, seed: int = 0, threads: int = 1) -> Vector:
    """Many games side by side as an environment for learners, natively for the games that are native."""
    return Vector(game, games, seed, threads)
