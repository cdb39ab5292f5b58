"""A user's program. `tests/test_packaging.py` checks its types against the installed wheel and runs it.

It prints one JSON object: the instruction set of the native module, and results that are the same with any.
"""

from __future__ import annotations

import json
import random
from typing import assert_type

import numpy as np
import numpy.typing as npt

import rookery as rk
from rookery import _native
from rookery.game import play_chance


def play(game: rk.Game, agent: rk.Agent, seed: int) -> list[str]:
    """The moves of one game."""
    rng = random.Random(seed)
    state: rk.State = game.initial_state()
    names: list[str] = []
    play_chance(state, rng)
    while state.player() != rk.TERMINAL:
        action = agent.choose(state, rng)
        names.append(state.action_name(action))
        state.apply(action)
        play_chance(state, rng)
    return names


def step(game: rk.Game, steps: int) -> list[int]:
    """The sampled actions of four environments, added up."""
    envs = rk.vector(game, 4, seed=1)
    mask: npt.NDArray[np.bool_] = envs.mask
    total = np.zeros(4, np.int64)
    for _ in range(steps):
        actions = envs.sample()
        assert mask[np.arange(4), actions].all()
        total += actions
        envs.step(actions)
    return [int(number) for number in total]


def mistake() -> None:
    """Never called: under `--strict`, the comment is an error unless the call is."""
    _native.checkers.Rules("three", 40, False)  # type: ignore[arg-type]


def main() -> None:
    control = _native.Control()
    assert_type(control.stopped, bool)
    board: rk.State = _native.checkers.State(rk.load("checkers"))
    assert_type(_native.checkers.Rules(3, 40, False).num_actions, int)
    assert len(board.legal_actions()) == 7
    results = {}
    for name in rk.GAMES:
        game = rk.load(name)
        random_games = game.random_games(50, seed=1)
        lengths = int(random_games.lengths.sum())
        results[name] = [lengths, play(game, rk.agent("random", game), 1), step(game, 20)]
    print(json.dumps({"arch": _native.ARCH, "results": results}))


if __name__ == "__main__":
    main()
