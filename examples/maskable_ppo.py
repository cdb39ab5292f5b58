"""MaskablePPO of sb3-contrib on many games side by side, without a Python environment per game.

    python examples/maskable_ppo.py tenten
    python examples/maskable_ppo.py solitaire-chess

Needs `pip install 'rookery[sb3]'`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

import rookery as rk
from rookery.adapters.sb3 import BoardVecEnv


@dataclass(frozen=True)
class Task:
    """A game, and settings of MaskablePPO that suit it."""

    game: str
    steps: int
    """Actions in all games together."""
    games: int
    """Games side by side."""
    settings: dict[str, Any]
    variant: str | None = None
    starts: str = "initial"


TASKS = {
    "tenten": Task(
        "tenten", variant="4x4-seven", steps=400_000, games=256,
        settings={"n_steps": 32, "batch_size": 1024, "n_epochs": 4, "policy_kwargs": {"net_arch": [128, 128]}},
    ),
    "solitaire-chess": Task(
        "solitaire-chess", starts="random", steps=40_000, games=32,
        settings={
            "n_steps": 32, "batch_size": 128, "n_epochs": 6, "gamma": 1.0, "gae_lambda": 1.0,
            "policy_kwargs": {"net_arch": [512], "activation_fn": nn.ReLU},
        },
    ),
}  # fmt: skip


def train(task: Task, steps: int | None = None, seed: int = 0) -> MaskablePPO:
    """Train on a task, for `steps` actions in all games together."""
    torch.set_num_threads(1)  # the net is small
    envs = BoardVecEnv(task.game, task.games, task.variant, seed=seed, starts=task.starts)
    # Rewards are divided by the standard deviation of the returns; observations stay as they are.
    scaled = VecNormalize(envs, norm_obs=False)
    model = MaskablePPO(
        "MlpPolicy", scaled, learning_rate=1e-3, ent_coef=0.01, seed=seed, device="cpu", **task.settings
    )
    return model.learn(steps or task.steps)


def play(model: MaskablePPO | None, task: Task, games: int = 1000, most: int = 5000) -> tuple[float, float]:
    """The mean length and the mean return of new games, with the likeliest actions, or at random without a model."""
    envs = rk.vector(rk.load(task.game, task.variant), games, seed=10_000, starts=task.starts)
    lengths, returns, going = np.zeros(games), np.zeros(games), np.ones(games, bool)
    while going.any() and lengths.max() < most:
        actions = envs.sample()
        if model is not None:
            actions, _ = model.predict(envs.observation, action_masks=envs.mask, deterministic=True)
        envs.step(actions)
        lengths += going
        returns += going * envs.reward[:, 0]
        going &= ~envs.done
    return float(lengths.mean()), float(returns.mean())


@dataclass(frozen=True)
class Settings:
    task: tyro.conf.Positional[str] = field(default="tenten")
    """What to learn: "tenten" or "solitaire-chess"."""
    steps: int | None = None
    """Actions in all games together."""
    seed: int = 0
    """Random seed."""


def main(settings: Settings) -> None:
    task = TASKS[settings.task]
    print("random: mean length {:.1f}, mean return {:.3f}".format(*play(None, task)))
    begin = time.perf_counter()
    model = train(task, settings.steps, settings.seed)
    print(f"trained for {model.num_timesteps:,} steps in {time.perf_counter() - begin:.1f} s")
    print("trained: mean length {:.1f}, mean return {:.3f}".format(*play(model, task)))


if __name__ == "__main__":
    main(tyro.cli(Settings))
