"""PettingZoo environments of every game. Needs the extra `gym`.

>>> from rookery.adapters import pettingzoo
>>> env = pettingzoo.env("checkers")
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     over = termination or truncation
...     env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rookery.adapters.gymnasium import RENDER_MODES, batch, check_render_mode, observation_space, render

try:
    from gymnasium import spaces
    from pettingzoo.utils import AECEnv, ParallelEnv, wrappers
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
except ImportError as error:
    raise ImportError(f"PettingZoo is not installed: pip install 'rookery[gym]' ({error})") from None

from rookery.game import Game


def env(game: Game | str, variant: str | None = None, **settings: Any) -> AECEnv[str, Any, Any]:
    """A game with the usual wrappers: an action that is not legal ends the game, and costs its player one point.

    The arguments are those of `raw_env`.
    """
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(game, variant, **settings), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


def parallel_env(game: Game | str, variant: str | None = None, **settings: Any) -> ParallelEnv[str, Any, Any]:
    """The same with actions of all agents in every step, of which only that of the player to move counts.

    For a game of one player the two are alike. Players of our games never act at the same time, so that for two
    players this is only for programs that need this form.
    """
    return turn_based_aec_to_parallel(env(game, variant, **settings))


class raw_env(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A game without wrappers: an action that is not legal raises ValueError.

    `settings` are `starts`, `reward` and `dtype` of `rookery.vector`, and the options of the game. Agents are called
    `player_0` and `player_1`. All of them see the position as the player to move sees it; the mask of those who wait is
    empty.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012, PettingZoo has it so
        "render_modes": RENDER_MODES, "render_fps": 4, "name": "rookery_v0", "is_parallelizable": False,
    }  # fmt: skip

    def __init__(
        self,
        game: Game | str,
        variant: str | None = None,
        *,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.render_mode = check_render_mode(render_mode)
        self.games = batch(game, variant, 1, threads=1, autoreset="next", **settings)
        self.metadata = type(self).metadata | {"name": f"{self.games.game.name.replace('-', '_')}_v0"}
        self.possible_agents = [f"player_{i}" for i in range(self.games.game.players)]
        seen = observation_space(self.games)
        actions = self.games.game.num_actions
        mask = spaces.Box(0, 1, (actions,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._random = np.random.default_rng()

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.games.reset(int(self._random.integers(2**63)))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.games.player[0]]

    def observe(self, agent: str) -> dict[str, Any]:
        mask = self.games.mask[0].astype(np.int8)
        if agent != self.agent_selection:
            mask[:] = 0
        return {"observation": self.games.observation[0].copy(), "action_mask": mask}

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.games.step([int(action)])
        self.rewards = dict(zip(self.possible_agents, map(float, self.games.reward[0]), strict=True))
        if self.games.done[0]:
            self.terminations = dict.fromkeys(self.agents, True)
            last = self.possible_agents.index(self.agent_selection)
            self.agent_selection = self.possible_agents[(last + 1) % len(self.agents)]
        else:
            self.agent_selection = self.possible_agents[self.games.player[0]]
        self._accumulate_rewards()

    def render(self) -> Any:
        return render(self.games.state(0), self.render_mode)

    def close(self) -> None:
        """There is nothing to close."""
