"""Our games for Stable-Baselines3: the same steps as those of the vector environment, and algorithms that learn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery as rk
from rookery.user_code import load_file

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from rookery.adapters.sb3 import BoardVecEnv

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_every_step_is_that_of_the_vector_environment() -> None:
    envs = BoardVecEnv("tenten", 5, "4x4-seven", seed=3)
    games = rk.vector(rk.load("tenten", "4x4-seven"), 5, seed=3)
    observation = envs.reset()
    games.reset()
    ended, kept, rng = 0, [], np.random.default_rng(1)
    for _ in range(80):
        assert np.array_equal(observation, games.observation)
        assert np.array_equal(get_action_masks(envs), games.mask)
        # `sample` would draw from the streams of the games, and only on one side.
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in games.mask])
        games.step(actions)
        observation, rewards, dones, infos = envs.step(actions)  # type: ignore[assignment]
        assert np.array_equal(rewards, games.reward[:, 0])
        assert np.array_equal(dones, games.done)
        for i in range(5):
            assert ("terminal_observation" in infos[i]) == dones[i]
            if dones[i]:
                assert np.array_equal(infos[i]["terminal_observation"], games.final_observation[i])
        ended += dones.sum()
        kept.append((observation, observation.copy(), dones, dones.copy()))
    assert ended > 5
    for observation, then, dones, done_then in kept:
        assert np.array_equal(observation, then)
        assert np.array_equal(dones, done_then)


def test_seeds() -> None:
    envs = BoardVecEnv("tenten", 6, "4x4-seven")
    firsts = []
    for seed in (1, 1, 2):
        envs.seed(seed)
        firsts.append(envs.reset())
    assert np.array_equal(firsts[0], firsts[1])
    assert not np.array_equal(firsts[0], firsts[2])


def test_what_they_ask_for() -> None:
    envs = BoardVecEnv("checkers", 3, opponent="random")
    assert is_masking_supported(envs)
    assert is_masking_supported(VecMonitor(envs))
    assert get_action_masks(VecMonitor(envs)).shape == (3, 1426)
    assert [len(mask) for mask in envs.env_method("action_masks", indices=[0, 2])] == [1426, 1426]
    assert envs.env_is_wrapped(VecMonitor) == [False] * 3
    assert not envs.has_attr("nothing")
    assert envs.render().dtype == np.uint8  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="checkers has two players: name an opponent"):
        BoardVecEnv("checkers", 3)
    with pytest.raises(ValueError, match="is not legal"):
        envs.step(np.zeros(3, int))
    with pytest.raises(AttributeError, match="action_masks"):
        envs.env_method("nothing")
    losing = BoardVecEnv("checkers", 3, opponent="random", illegal="lose")
    losing.reset()
    _, rewards, dones, _ = losing.step(np.zeros(3, int))
    assert (rewards.tolist(), dones.tolist()) == ([-1] * 3, [True] * 3)


@pytest.mark.parametrize("name", ["tenten", "solitaire-chess"])
def test_maskable_ppo_runs(name: str) -> None:
    example: Any = load_file(EXAMPLES / "maskable_ppo.py")
    task = example.TASKS[name]
    model = example.train(task, steps=2 * task.games * task.settings["n_steps"])
    length, _ = example.play(model, task, games=20, most=200)
    assert length > 0


def test_masked_ppo_learns() -> None:
    """A form so small that it takes seconds, on a board so small that the difference is plain."""
    example: Any = load_file(EXAMPLES / "masked_ppo.py")
    settings = example.Settings(game="tenten", variant="3x3-three", steps=40_000, games=64, minibatch=512, width=64)
    _, before = example.play(None, settings, games=300)
    _, after = example.play(example.train(settings, show=False), settings, games=300)
    assert after > 1.3 * before


def test_masked_ppo_needs_an_opponent() -> None:
    example: Any = load_file(EXAMPLES / "masked_ppo.py")
    with pytest.raises(ValueError, match="name an opponent"):
        example.train(example.Settings(game="checkers"))


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "least"), [(60_000, 162), (400_000, 430)])
def test_maskable_ppo_learns_1010(steps: int, least: float) -> None:
    """Random play earns about 105 points; a plain wrapper of single environments reached 162 after 60,000 steps."""
    example: Any = load_file(EXAMPLES / "maskable_ppo.py")
    task = example.TASKS["tenten"]
    _, before = example.play(None, task)
    assert before == pytest.approx(105, abs=6)
    begin = time.process_time()
    model = example.train(task, steps)
    seconds = time.process_time() - begin
    length, after = example.play(model, task)
    print(f"{before:.1f} -> {after:.1f} points, {length:.1f} rounds, {seconds:.1f} CPU s")
    assert after >= least


@pytest.mark.slow
def test_maskable_ppo_learns_solitaire_chess() -> None:
    """Random play solves 27% of random boards."""
    example: Any = load_file(EXAMPLES / "maskable_ppo.py")
    task = example.TASKS["solitaire-chess"]
    _, before = example.play(None, task, games=4000)
    assert before == pytest.approx(0.27, abs=0.04)
    model = example.train(task)
    assert model.num_timesteps <= 41_000
    _, after = example.play(model, task, games=4000)
    print(f"{before:.3f} -> {after:.3f}")
    assert after >= 0.44
