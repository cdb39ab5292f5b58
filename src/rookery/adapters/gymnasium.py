"""Gymnasium environments of every game. Needs the extra `gym`.

Importing this module registers `rookery/NAME-v0` for every game, and `rookery/game-v0` for any other, such as one in a
file of yours.

>>> import gymnasium
>>> import rookery.adapters.gymnasium
>>> env = gymnasium.make("rookery/checkers-v0", opponent="random")
>>> observation, info = env.reset(seed=1)
>>> observation.shape, int(info["action_mask"].sum())
((5, 8, 8), 7)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))

>>> envs = gymnasium.make_vec("rookery/tenten-v0", num_envs=64, variant="4x4-seven")
>>> observations, infos = envs.reset(seed=1)
>>> observations.shape, infos["action_mask"].shape
((64, 2, 4, 4), (64, 16))
"""

from __future__ import annotations

import inspect
import re
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError(f"Gymnasium is not installed: pip install 'rookery[gym]' ({error})") from None

from rookery import raster
from rookery.environments import Vector, vector
from rookery.game import Game, State
from rookery.registry import GAMES, load

Array = npt.NDArray[Any]
RENDER_MODES = ["rgb_array", "svg", "ansi"]


def batch(game: Game | str, variant: str | None, games: int, **settings: Any) -> Vector:
    """Games side by side, from the settings of `rookery.vector` and the options of the game together."""
    known = {name: settings.pop(name) for name in inspect.signature(vector).parameters if name in settings}
    return vector(load(game, variant, **settings), games, **known)


def observation_space(envs: Vector) -> spaces.Box:
    """The space of one environment's observations."""
    least, most = envs.game.observation_range
    kind = envs.observation.dtype.type
    return spaces.Box(least, most, envs.game.observation_shape, kind)


def movers(envs: Vector) -> npt.NDArray[np.intp]:
    """The columns of `reward` that belong to those who are to move, `[games]`."""
    return np.zeros(len(envs), np.intp) if envs.reward.shape[1] == 1 else np.maximum(envs.player, 0).astype(np.intp)


def render(state: State, mode: str | None) -> Array | str | None:
    """A position as an image `[height, width, 3]`, as the text of an SVG file, or as text for a terminal."""
    if mode == "rgb_array":
        return raster.pixels(state.svg())
    return state.svg() if mode == "svg" else state.text_board() if mode == "ansi" else None


def check_render_mode(mode: str | None) -> str | None:
    """The render mode itself; ValueError if there is none of this name."""
    if mode not in (None, *RENDER_MODES):
        raise ValueError(f"unknown render mode {mode!r}; known render modes: {', '.join(RENDER_MODES)}")
    return mode


class BoardEnv(gymnasium.Env[Array, np.int64]):
    """A game as an environment of Gymnasium.

    `settings` are those of `rookery.vector`, such as `opponent` and `starts`, and the options of the game. The reward
    is that of the player who has just moved; with an opponent that is always you. `info["action_mask"]` marks the legal
    actions, and `info["player"]` is the player to move.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": RENDER_MODES, "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        game: Game | str,
        variant: str | None = None,
        *,
        illegal: str = "lose",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.games = batch(game, variant, 1, threads=1, autoreset="next", illegal=illegal, **settings)
        self.observation_space = observation_space(self.games)
        self.action_space = spaces.Discrete(self.games.game.num_actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.games.reset(int(self.np_random.integers(2**63)))
        return self.games.observation[0].copy(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        games = self.games
        if games.done[0]:
            raise ValueError("the game is over: call reset before the next step")
        mover = movers(games)
        games.step([int(action)])
        return games.observation[0].copy(), float(games.reward[0, mover[0]]), bool(games.done[0]), False, self._info()

    def _info(self) -> dict[str, Any]:
        # Spaces of Gymnasium sample by masks of this type.
        return {"action_mask": self.games.mask[0].astype(np.int8), "player": int(self.games.player[0])}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, as the algorithms of sb3-contrib ask for them."""
        return np.array(self.games.mask[0])

    def render(self) -> Any:
        return render(self.games.state(0), self.render_mode)


class BoardVectorEnv(VectorEnv[Array, Array, Array]):
    """Games side by side as a vector environment of Gymnasium; `games` is the `rookery.vector` under it.

    `settings` are those of `rookery.vector` and the options of the game. What is returned is copied.
    """

    def __init__(
        self,
        num_envs: int,
        game: Game | str,
        variant: str | None = None,
        *,
        illegal: str = "lose",
        autoreset: str = "next",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.games = batch(game, variant, num_envs, autoreset=autoreset, illegal=illegal, **settings)
        self.num_envs = num_envs
        mode = AutoresetMode.SAME_STEP if autoreset == "same" else AutoresetMode.NEXT_STEP
        self.metadata = BoardEnv.metadata | {"autoreset_mode": mode}
        self.single_observation_space = observation_space(self.games)
        self.single_action_space = spaces.Discrete(self.games.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.games.reset(int(self.np_random.integers(2**63)))
        return self.games.observation.copy(), self._info()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        games, mover = self.games, movers(self.games)
        games.step(actions)
        reward = games.reward[np.arange(len(games)), mover].astype(np.float64)
        info = self._info()
        if self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and games.done.any():
            final = np.full(len(games), None, object)
            for i in np.flatnonzero(games.done):
                final[i] = games.final_observation[i].copy()
            info |= {"final_obs": final, "_final_obs": games.done.copy()}
        return games.observation.copy(), reward, games.done.copy(), np.zeros(len(games), np.bool_), info

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self.games.mask.astype(np.int8), "_action_mask": everywhere,
            "player": self.games.player.copy(), "_player": everywhere.copy(),
        }  # fmt: skip

    def render(self) -> tuple[Any, ...] | None:
        if self.render_mode is None:
            return None
        return tuple(render(self.games.state(i), self.render_mode) for i in range(self.num_envs))


def register() -> list[str]:
    """Register every game with Gymnasium; returns the names of the environments."""
    names = []
    for name in (None, *GAMES):
        id = f"rookery/{re.sub(r'[^A-Za-z0-9_.-]+', '-', name or 'game')}-v0"
        if id not in gymnasium.registry:
            gymnasium.register(
                id, f"{__name__}:BoardEnv", vector_entry_point=f"{__name__}:BoardVectorEnv",
                kwargs={"game": name} if name else {},
            )  # fmt: skip
        names.append(id)
    return names


register()
