"""Games side by side are the same games one by one."""

from __future__ import annotations

import numpy as np
import pytest

import rookery as rk
from rookery.game import CHANCE, TERMINAL
from tests.tic_tac_toe import TicTacToe

GAMES = [rk.load(name) for name in rk.GAMES if name != "morpion"] + [rk.load("morpion", board=16), TicTacToe()]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_step_is_that_of_the_state(game: rk.Game) -> None:
    """Where chance draws, the state is read off the observation: after a player's action it is one of its outcomes."""
    envs = rk.vector(game, 3, seed=5)
    states = [game.initial_state() for _ in range(3)]
    ended = 0
    for _ in range(150):
        for i, state in enumerate(states):
            draw_as_shown(state, envs.observation[i])
            assert envs.player[i] == state.player()
            assert np.array_equal(envs.mask[i], state.legal_mask())
            assert np.array_equal(envs.observation[i], state.observation())
        actions = envs.sample()
        assert envs.mask[np.arange(3), actions].all()
        envs.step(actions)
        for i, state in enumerate(states):
            state.apply(int(actions[i]))
            rewards = state.rewards()
            assert envs.reward[i].tolist() == rewards or state.player() == CHANCE
            if envs.done[i]:
                ended += 1
                states[i] = game.initial_state()
            else:
                assert state.player() != TERMINAL
    assert ended > 2 or game.name in ("endgames", "morpion")


def draw_as_shown(state: rk.State, observation: np.ndarray) -> None:
    """Draw chance as the environment has drawn it."""
    while state.player() == CHANCE:
        for outcome, _ in state.chance_outcomes():
            after = state.clone()
            after.apply(outcome)
            if after.player() == CHANCE or np.array_equal(after.observation(), observation):
                state.apply(outcome)
                break
        else:
            raise AssertionError("no outcome leads to what is shown")


def test_results_do_not_depend_on_threads() -> None:
    game = rk.load("tenten", "4x4-seven")
    one, two = (rk.vector(game, 300, seed=3, threads=threads) for threads in (1, 3))
    for _ in range(40):
        actions = one.sample()
        assert np.array_equal(actions, two.sample())
        one.step(actions)
        two.step(actions)
        for name in ("observation", "mask", "reward", "done", "player"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
    other = rk.vector(game, 300, seed=4)
    assert not np.array_equal(other.observation, rk.vector(game, 300, seed=3).observation)


def test_chance_has_the_right_shares() -> None:
    game = rk.load("tenten", "3x3-three")
    envs = rk.vector(game, 6000, seed=1)
    shapes, counts = np.unique(envs.observation[:, 1].reshape(6000, -1), axis=0, return_counts=True)
    assert len(shapes) == 3
    assert np.all(np.abs(counts / 6000 - 1 / 3) < 0.03)


def test_what_is_not_legal_is_refused_whole() -> None:
    envs = rk.vector(rk.load("checkers"), 4)
    before = envs.observation.copy()
    actions = envs.sample()
    for wrong in (-1, 1426, int(np.flatnonzero(~envs.mask[2])[0])):
        actions[2] = wrong
        with pytest.raises(ValueError, match=f"action {wrong} is not legal in game 2"):
            envs.step(actions)
    with pytest.raises(ValueError, match="expected one action per game"):
        envs.step(actions[:3])
    assert np.array_equal(envs.observation, before)
    with pytest.raises(ValueError, match="the number of games"):
        rk.vector(rk.load("checkers"), 0)


def test_arrays_outlive_the_environment() -> None:
    mask = rk.vector(rk.load("checkers"), 4).mask
    assert mask.sum() == 28
