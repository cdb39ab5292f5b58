"""Our games in PettingZoo, judged by its own tests, and step by step against the games themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rookery as rk
from rookery.game import TERMINAL

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

from rookery.adapters import pettingzoo as faces

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("checkers", {}),
    ("endgames", {}),
    ("morpion", {"board": 16}),
    ("solitaire-chess", {}),
    ("tenten", {"variant": "4x4-seven"}),
    ("examples/connect_four.py", {}),
]
pytestmark = [
    # Their own games with masks are on a list of exceptions.
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),  # an empty board
]


@pytest.mark.parametrize(("game", "settings"), GAMES)
def test_their_tests_pass(game: str, settings: dict[str, Any]) -> None:
    api_test(faces.env(game, **settings), num_cycles=60)
    seed_test(lambda: faces.env(game, **settings), num_cycles=40)
    seed_test(lambda: faces.env(game, starts="random", **settings), num_cycles=20)


@pytest.mark.parametrize(("game", "settings"), GAMES)
def test_their_parallel_tests_pass(game: str, settings: dict[str, Any]) -> None:
    parallel_api_test(faces.parallel_env(game, **settings), num_cycles=40)
    parallel_seed_test(lambda: faces.parallel_env(game, **settings), num_cycles=10)


def test_rendering() -> None:
    def env(render_mode: str) -> Any:
        return faces.env("checkers", render_mode=None if render_mode == "human" else render_mode)

    render_test(env, {"svg": lambda frame: frame.startswith("<svg"), "ansi": lambda frame: "." in frame})


def test_every_step_is_that_of_the_state() -> None:
    env = faces.raw_env("checkers")
    env.reset(seed=3)
    env.action_space("player_0").seed(3)
    env.action_space("player_1").seed(4)
    state, totals = rk.load("checkers").initial_state(), dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, _ = env.last()
        totals[agent] += reward
        assert np.array_equal(observation["observation"], state.observation())
        if terminated:
            assert state.player() == TERMINAL
            env.step(None)
            continue
        assert agent == f"player_{state.player()}"
        assert np.array_equal(observation["action_mask"], state.legal_mask())
        other = env.observe(f"player_{1 - state.player()}")
        assert not other["action_mask"].any()
        action = env.action_space(agent).sample(observation["action_mask"])
        state.apply(int(action))
        env.step(action)
    assert list(totals.values()) == state.returns()
    assert state.player() == TERMINAL


def test_what_is_not_legal() -> None:
    raw, wrapped = faces.raw_env("checkers"), faces.env("checkers")
    raw.reset(seed=1)
    with pytest.raises(ValueError, match="action 0 is not legal"):
        raw.step(0)
    wrapped.reset(seed=1)
    wrapped.step(0)
    assert wrapped.rewards == {"player_0": -1, "player_1": 0}
    assert all(wrapped.terminations.values())
