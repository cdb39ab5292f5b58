"""Our games in Gymnasium, judged by its own checks, and step by step against the games themselves."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rookery as rk
from rookery.game import CHANCE, TERMINAL

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env, data_equivalence  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import rookery.adapters.gymnasium as faces  # noqa: E402

NAMES = [*rk.GAMES]
SMALL: dict[str, dict[str, Any]] = {"morpion": {"board": 16}, "tenten": {"variant": "4x4-seven"}}


def make(name: str, **settings: Any) -> Any:
    return gymnasium.make(f"rookery/{name}-v0", **(SMALL.get(name, {}) | settings))


def make_vec(name: str, num_envs: int, **settings: Any) -> Any:
    return gymnasium.make_vec(f"rookery/{name}-v0", num_envs=num_envs, **(SMALL.get(name, {}) | settings))


@pytest.mark.parametrize("name", NAMES)
def test_their_checker_passes(name: str) -> None:
    check_env(make(name).unwrapped)


@pytest.mark.parametrize("opponent", ["random", "mcts:simulations=10"])
def test_their_checker_passes_with_an_opponent(opponent: str) -> None:
    check_env(make("checkers", opponent=opponent, dtype="uint8").unwrapped, skip_render_check=True)


def test_games_of_others() -> None:
    for game in ("examples/connect_four.py", "open_spiel:tic_tac_toe", rk.load("examples/lights_out.py", "4x4")):
        env = gymnasium.make("rookery/game-v0", game=game, starts="random")
        env.reset(seed=1)
        env.step(env.action_space.sample(env.unwrapped.action_masks().astype(np.int8)))
    check_env(gymnasium.make("rookery/game-v0", game="examples/connect_four.py").unwrapped)


def test_no_import_is_needed() -> None:
    code = "import gymnasium; print(gymnasium.make('rookery.adapters.gymnasium:rookery/checkers-v0').spec.id)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "rookery/checkers-v0\n"


@pytest.mark.parametrize("name", ["checkers", "solitaire-chess"])
def test_every_step_is_that_of_the_state(name: str) -> None:
    env = make(name)
    game, ended = env.unwrapped.games.game, 0
    observation, info = env.reset(seed=5)
    env.action_space.seed(5)
    state = game.initial_state()
    while ended < 3:
        assert np.array_equal(observation, state.observation())
        assert np.array_equal(info["action_mask"], state.legal_mask())
        assert info["player"] == state.player()
        action = env.action_space.sample(info["action_mask"])
        mover = state.player()
        state.apply(int(action))
        observation, reward, terminated, truncated, info = env.step(action)
        assert reward == state.rewards()[mover]
        assert terminated == (state.player() == TERMINAL)
        assert not truncated
        if terminated:
            ended += 1
            assert not info["action_mask"].any()
            assert np.array_equal(observation, state.observation())
            with pytest.raises(ValueError, match="call reset"):
                env.step(action)
            observation, info = env.reset()
            state = game.initial_state()


def test_what_is_not_legal() -> None:
    env = make("checkers", illegal="raise")
    _, info = env.reset(seed=1)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    with pytest.raises(ValueError, match=f"action {wrong} is not legal"):
        env.step(wrong)
    env.step(env.action_space.sample(info["action_mask"]))

    for settings in ({}, {"opponent": "random"}):
        env = make("checkers", **settings)
        before, _ = env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step(wrong)
        assert (reward, terminated, truncated) == (-1, True, False)
        assert np.array_equal(observation, before)
        assert not info["action_mask"].any()
    assert make("tenten").reset(seed=1)[1]["action_mask"].dtype == np.int8
    with pytest.raises(ValueError, match="illegal"):
        make("checkers", illegal="ignore")


def test_opponents_and_starts() -> None:
    env = make("checkers", opponent="random")
    sides, total = set(), 0.0
    for seed in range(4):
        _, info = env.reset(seed=seed)
        side = info["player"]
        sides.add(side)
        terminated = False
        while not terminated:
            assert env.unwrapped.games.state(0).player() == side
            _, reward, terminated, _, info = env.step(env.action_space.sample(info["action_mask"]))
            total += abs(reward)
    assert sides == {0, 1}
    assert total > 0
    text = "R.../.B../..N./P..."
    env = make("solitaire-chess", starts=[text], render_mode="ansi")
    env.reset()
    assert str(env.unwrapped.games.state(0)) == text
    assert env.render() == rk.load("solitaire-chess").parse_state(text).text_board()


def test_pictures() -> None:
    env = make("checkers", render_mode="rgb_array")
    env.reset()
    first = env.render()
    assert first.dtype == np.uint8
    # A dark square, a light square, a black man and a white one.
    middles = [first[14 + 48 * row + 24, 14 + 48 * column + 24].tolist() for row, column in [(3, 0), (3, 1)]]
    assert middles == [[185, 168, 138], [236, 229, 213]]
    men = [int(first[14 + 48 * row + 24, 14 + 48 * column + 24].max()) for row, column in [(0, 1), (7, 0)]]
    assert men[0] < 60
    assert men[1] > 240
    assert make("checkers", render_mode="svg").unwrapped.games.state(0).svg().startswith("<svg")
    envs = make_vec("checkers", 2, render_mode="svg")
    envs.reset()
    assert [frame[:4] for frame in envs.render()] == ["<svg", "<svg"]
    with pytest.raises(ValueError, match="unknown render mode"):
        faces.BoardEnv("checkers", render_mode="human")


# Vector environments


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("autoreset", ["next", "same"])
def test_vector_environments_keep_their_promises(name: str, autoreset: str) -> None:
    """What Gymnasium's own tests of vector environments ask: spaces, shapes, types, seeds, and nothing shared."""
    envs, others = (make_vec(name, 3, autoreset=autoreset) for _ in range(2))
    assert envs.metadata["autoreset_mode"] == (
        AutoresetMode.NEXT_STEP if autoreset == "next" else AutoresetMode.SAME_STEP
    )
    assert envs.observation_space == gymnasium.vector.utils.batch_space(envs.single_observation_space, 3)
    assert envs.action_space == gymnasium.vector.utils.batch_space(envs.single_action_space, 3)
    single = make(name)
    assert (envs.single_observation_space, envs.single_action_space) == (single.observation_space, single.action_space)

    first, infos = envs.reset(seed=7)
    kept = first.copy()
    assert data_equivalence((first, infos), others.reset(seed=7), exact=True)
    seen, ended = [(first, infos)], 0
    for step in range(60):
        actions = [space_sample(infos["action_mask"][i], step) for i in range(3)]
        result = envs.step(np.array(actions))
        assert data_equivalence(result, others.step(np.array(actions)), exact=True)
        observation, reward, terminations, truncations, infos = result
        assert observation in envs.observation_space
        assert (reward.shape, terminations.shape, truncations.shape) == ((3,), (3,), (3,))
        assert (reward.dtype, terminations.dtype, truncations.dtype) == (np.float64, np.bool_, np.bool_)
        if autoreset == "same" and terminations.any():
            assert np.array_equal(infos["_final_obs"], terminations)
            for i in range(3):
                assert (infos["final_obs"][i] is not None) == terminations[i]
        ended += terminations.sum()
        seen.append((observation, infos))
    assert ended or np.median(rk.load(name).random_games(200, seed=1).lengths) > 40
    assert np.array_equal(first, kept)
    assert not any(np.shares_memory(seen[0][0], later) for later, _ in seen[1:])
    assert len({id(infos["action_mask"]) for _, infos in seen}) == len(seen)
    assert data_equivalence(envs.reset(seed=7)[0], kept)
    envs.close()


def space_sample(mask: np.ndarray, step: int) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[step % len(legal)]) if len(legal) else 0


@pytest.mark.parametrize("autoreset", ["next", "same"])
def test_vector_and_sync_vector_agree(autoreset: str) -> None:
    """Gymnasium's own vector environment around single ones does the same as ours, where nothing is drawn."""
    text = "R.../.B../..N./P..."
    ours = make_vec("solitaire-chess", 2, starts=[text], autoreset=autoreset)
    mode = AutoresetMode.NEXT_STEP if autoreset == "next" else AutoresetMode.SAME_STEP
    theirs = gymnasium.make_vec(
        "rookery/solitaire-chess-v0", 2, vectorization_mode="sync", starts=[text],
        vector_kwargs={"autoreset_mode": mode},
    )  # fmt: skip
    (a, infos), (b, their_infos) = ours.reset(seed=1), theirs.reset(seed=1)
    assert np.array_equal(a, b)
    for step in range(25):
        assert np.array_equal(infos["action_mask"], their_infos["action_mask"])
        actions = np.array([space_sample(infos["action_mask"][i], step + i) for i in range(2)])
        if step % 6 == 5:
            actions[0] = 255  # not legal
        *mine, infos = ours.step(actions)
        *others, their_infos = theirs.step(actions)
        for x, y in zip(mine, others, strict=True):
            assert np.array_equal(x, y)
        if autoreset == "same" and mine[2].any():
            for i in np.flatnonzero(mine[2]):
                assert np.array_equal(infos["final_obs"][i], their_infos["final_obs"][i])


def test_without_gymnasium() -> None:
    for module, name, extra in (
        ("gymnasium", "Gymnasium", "gym"), ("pettingzoo", "PettingZoo", "gym"),
        ("sb3", "Stable-Baselines3", "sb3"),
    ):  # fmt: skip
        hidden = "stable_baselines3" if module == "sb3" else module
        code = f"import sys; sys.modules[{hidden!r}] = None\nimport rookery.adapters.{module}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"{name} is not installed: pip install 'rookery[{extra}]'" in done.stderr
        assert done.returncode == 1


def test_chance_is_drawn_by_the_seed() -> None:
    env = make("tenten")
    firsts = [env.reset(seed=seed)[0] for seed in (1, 1, 2, 3, 4)]
    assert np.array_equal(firsts[0], firsts[1])
    assert len({first.tobytes() for first in firsts}) > 1
    assert env.unwrapped.games.state(0).player() != CHANCE
