"""Games for Stable-Baselines3, with masks for the algorithms of sb3-contrib. Needs the extra `sb3`.

>>> import torch
>>> from rookery.adapters.sb3 import BoardVecEnv
>>> from sb3_contrib import MaskablePPO
>>> torch.set_num_threads(1)  # more only help larger nets
>>> envs = BoardVecEnv("tenten", 16, "4x4-seven")
>>> model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=128, seed=1, device="cpu").learn(512)
>>> action, _ = model.predict(envs.reset(), action_masks=envs.action_masks(), deterministic=True)
>>> action.shape
(16,)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from gymnasium import spaces
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(f"Stable-Baselines3 is not installed: pip install 'rookery[sb3]' ({error})") from None

from rookery import raster
from rookery.adapters.gymnasium import Array, batch, observation_space
from rookery.game import Game


class BoardVecEnv(VecEnv):
    """Games side by side as one `VecEnv`; `games` is the `rookery.vector` under it.

    `settings` are those of `rookery.vector` and the options of the game. A game for two needs an `opponent`. Actions
    that are not legal raise ValueError, unless `illegal` is "lose", for algorithms that know no masks.
    """

    render_mode = "rgb_array"

    def __init__(self, game: Game | str, num_envs: int, variant: str | None = None, **settings: Any) -> None:
        self.games = batch(game, variant, num_envs, autoreset="same", **settings)
        rules = self.games.game
        if self.games.reward.shape[1] > 1:
            raise ValueError(f"{rules.name} has two players: name an opponent, such as opponent='random'")
        self._actions: Array = np.empty(0, np.int32)
        super().__init__(num_envs, observation_space(self.games), spaces.Discrete(rules.num_actions))

    def reset(self) -> Array:
        self.games.reset(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        return self.games.observation.copy()

    def step_async(self, actions: Array) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        games = self.games
        games.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(games.done):
            infos[i] = {"terminal_observation": games.final_observation[i].copy(), "TimeLimit.truncated": False}
        # Algorithms and wrappers keep what they get until after the next step, except masks.
        return games.observation.copy(), games.reward[:, 0].copy(), games.done.copy(), infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, `[num_envs, num_actions]`. The array stays: every step writes into it."""
        return self.games.mask

    def get_images(self) -> list[Array]:
        return [raster.pixels(self.games.state(i).svg()) for i in range(self.num_envs)]

    def close(self) -> None:
        """There is nothing to close."""

    # What others ask single environments for: there are none, and all are alike.

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise ValueError(f"the games of a batch have no attributes of their own, so {attr_name!r} cannot be set")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"the games of a batch have the method action_masks, and not {method_name!r}")
        masks = self.games.mask
        return list(masks if indices is None else masks[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]
