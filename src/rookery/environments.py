"""Many games side by side as an environment for learners.

>>> import rookery as rk
>>> envs = rk.vector(rk.load("checkers"), 4, seed=1)
>>> envs.observation.shape, envs.mask.shape, envs.mask.sum(axis=1).tolist()
((4, 5, 8, 8), (4, 1426), [7, 7, 7, 7])
>>> for _ in range(200):
...     envs.step(envs.sample())
>>> envs.steps, bool(envs.mask.any(axis=1).all())
(200, True)

An opponent makes a game for two an environment for one:

>>> envs = rk.vector(rk.load("checkers"), 4, seed=1, opponent="random")
>>> envs.step(envs.sample())
>>> envs.reward.shape, envs.player.tolist()
((4, 1), [1, 0, 1, 1])

A saved batch continues exactly as it would have:

>>> saved = envs.save()
>>> envs.step(envs.sample())
>>> then = envs.observation.copy()
>>> envs.restore(saved)
>>> envs.step(envs.sample())
>>> bool((envs.observation == then).all())
True
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

import rookery
from rookery.agents import Agent
from rookery.game import TERMINAL, Game, State, native

POOL = 4096
"""Positions from which games begin with `starts="random"`, drawn once with the seed."""
PUZZLES = 64
"""Puzzles per level from which games begin with `starts="puzzles"`, made once with the seed."""

Array = npt.NDArray[Any]

_BAD_SEED = "a seed is a whole number from 0 to 2^64 - 1"

_SAVED = {"starts": np.int32, "offsets": np.int64, "actions": np.int32, "learners": np.int8, "streams": np.uint64}
"""What the native part saves: where each game began, what happened in it since then, and its random stream."""


class Vector:
    """Games side by side, made by `vector`. The arrays never move: every step writes into them.

    Chance is drawn natively. Game i has the random stream (seed, i), so results do not depend on the number of threads.
    """

    observation: npt.NDArray[np.float32] | npt.NDArray[np.uint8]
    """What the player to move sees, `[games, *observation_shape]`."""
    mask: npt.NDArray[np.bool_]
    """Whether each action is legal, `[games, num_actions]`."""
    reward: npt.NDArray[np.float32]
    """Reward of the last step, `[games, players]`; with an opponent the learner's, `[games, 1]`."""
    done: npt.NDArray[np.bool_]
    """Whether a game ended in the last step, `[games]`."""
    player: npt.NDArray[np.int8]
    """The player to move, `[games]`; `TERMINAL` if the game is over. With an opponent, the learner's side."""
    final_observation: npt.NDArray[np.float32] | npt.NDArray[np.uint8]
    """Where `done`, the last observation of the game that ended, `[games, *observation_shape]`."""
    length: npt.NDArray[np.int32]
    """Actions of the current games so far, `[games]`; with an opponent those of the learner."""
    steps: int
    """Calls of `step` since the last reset."""

    def __init__(self, game: Game, start: State, games: Any, opponent: Agent | None, settings: str) -> None:
        """`games` are native, all made with `settings`; `opponent` is asked where they wait for it."""
        self.game, self.steps = game, 0
        self._start, self._native, self._opponent, self._settings = start, games, opponent, settings
        count = len(games.mask)
        shape = (count, *game.observation_shape)
        self.observation, self.final_observation = (
            games.observation.reshape(shape),
            games.final_observation.reshape(shape),
        )
        self.mask, self.reward = games.mask, games.reward
        self.done, self.player, self.length = (a.reshape(count) for a in (games.done, games.player, games.length))
        self._ask_opponent()

    def __len__(self) -> int:
        return len(self.done)

    def step(self, actions: Sequence[int] | npt.NDArray[np.integer[Any]]) -> None:
        """Play one action per game. ValueError names one that is not legal, and then nothing happens in any game; with
        `illegal="lose"` it loses its game instead."""
        chosen = np.ascontiguousarray(actions)
        if chosen.dtype not in (np.int32, np.int64):
            if chosen.dtype.kind not in "iu":
                raise ValueError(f"actions are whole numbers, not {chosen.dtype}")
            chosen = chosen.astype(np.int64)
        if chosen.shape != (len(self),):
            raise ValueError(f"expected one action per game, [{len(self)}], not {list(chosen.shape)}")
        self._native.step(chosen)
        self.steps += 1
        self._ask_opponent()

    def sample(self) -> npt.NDArray[np.int32]:
        """A uniformly random legal action per game; 0 where a game is over."""
        chosen: npt.NDArray[np.int32] = self._native.sample()
        return chosen

    def reset(self, seed: int | None = None) -> None:
        """Begin all games anew; with a seed, also all random streams. The positions to start from stay the same."""
        if seed is not None and not 0 <= seed < 2**64:
            raise ValueError(_BAD_SEED)
        self._native.reset(seed)
        self.steps = 0
        self._ask_opponent()

    def state(self, i: int) -> State:
        """A copy of the state of one game, with its history."""
        if not 0 <= i < len(self):
            raise IndexError(f"games are 0 to {len(self) - 1}, not {i}")
        kind: Any = type(self._start)
        state = self._native.state(i)
        return cast(State, state if isinstance(state, State) else kind(state))

    def save(self) -> dict[str, Array]:
        """The whole batch as plain arrays, which `numpy.savez` can write and `restore` reads."""
        return {
            **dict(zip(_SAVED, self._native.save(), strict=True)),
            "reward": self.reward.copy(),
            "done": self.done.copy(),
            "final_observation": self.final_observation[self.done],
            "steps": np.array(self.steps),
            "settings": np.array(self._settings),
        }

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Continue from what `save` gave, for the same game with the same settings; the seed and threads may differ."""
        refusal = ValueError("these are not games saved from this environment")
        if {*_SAVED, "reward", "done", "final_observation", "steps", "settings"} - set(saved):
            raise refusal
        if str(saved["settings"]) != self._settings:
            raise ValueError(f"the batch was saved from [{saved['settings']}], and this one is [{self._settings}]")
        done = np.asarray(saved["done"], np.bool_)
        reward = np.asarray(saved["reward"], np.float32)
        last = np.asarray(saved["final_observation"], self.final_observation.dtype)
        if done.shape != self.done.shape or reward.shape != self.reward.shape:
            raise refusal
        if last.shape != (done.sum(), *self.game.observation_shape):
            raise refusal
        self._native.restore(*(np.ascontiguousarray(saved[name], kind).ravel() for name, kind in _SAVED.items()))
        self.reward[:], self.done[:] = reward, done
        self.final_observation[done] = last
        self.steps = int(saved["steps"])

    def _ask_opponent(self) -> None:
        """Let the opponent move wherever it is to move, until it is nowhere."""
        while self._opponent is not None and (waiting := self._native.waiting()):
            for i, seed in waiting:
                self._native.answer(i, int(self._opponent.choose(self.state(i), random.Random(seed))))


def vector(
    game: Game,
    games: int,
    seed: int = 0,
    threads: int = 0,
    *,
    starts: str | Sequence[State | str] = "initial",
    reward: Literal["steps", "end"] = "steps",
    autoreset: Literal["same", "next"] = "same",
    dtype: Literal["float32", "uint8"] = "float32",
    opponent: Any = None,
    opponent_side: int | None = None,
    illegal: Literal["raise", "lose"] = "raise",
) -> Vector:
    """Many games side by side as an environment for learners, natively for the games that are native.

    - `threads`: 0 for all cores. A game written in Python always runs on one.
    - `starts`: where games begin. "initial"; "random", one of 4,096 positions drawn with the game's `random_start`;
      "puzzles" or "puzzles:LEVEL", one of 64 puzzles per level, for a game that makes puzzles; or a list of states or
      texts. Each new game draws its start uniformly.
    - `reward`: "steps" for what each step earns, which adds up to the returns; "end" for the returns at the end only.
    - `autoreset`: "same": a game that ends begins again in the same step, and `final_observation` holds its last
      observation. "next": the arrays show the end; the next step ignores the action of that game, begins it anew and
      earns nothing.
    - `dtype`: "float32", or "uint8" for games whose observations are whole numbers from 0 to 255.
    - `opponent`: an agent by name or object, which plays the other side of a game for two. "random" plays natively;
      others are asked through Python.
    - `opponent_side`: 0 or 1; None draws it for every game.
    - `illegal`: "raise": an action that is not legal raises ValueError, and then nothing happens in any game. "lose":
      it ends its game with a reward of -1, and the other player gets 1.
    """
    if not 1 <= games <= 1_000_000:
        raise ValueError(f"the number of games must be from 1 to 10^6, and is {games}")
    if threads < 0:
        raise ValueError("the number of threads must not be negative; 0 means all cores")
    if not 0 <= seed < 2**64:
        raise ValueError(_BAD_SEED)
    _one_of("reward", reward, ("steps", "end"))
    _one_of("autoreset", autoreset, ("same", "next"))
    _one_of("dtype", dtype, ("float32", "uint8"))
    _one_of("opponent_side", opponent_side, (None, 0, 1))
    _one_of("illegal", illegal, ("raise", "lose"))
    if opponent is not None and game.players != 2:
        raise ValueError(f"{game.name} is a game for one player, who has no opponent")
    asked = None if opponent is None or opponent == "random" else rookery.agent(opponent, game)
    kind = "none" if opponent is None else "asked" if asked else "random"
    pool = _positions(game, starts, seed)
    first = native(pool[0])
    natives = [first, *(native(state, first) for state in pool[1:])]
    made = (first.Vector if dtype == "float32" else first.ByteVector)(
        natives,
        games,
        seed,
        threads if first is pool[0] else 1,
        reward == "end",
        autoreset == "next",
        ("none", "random", "asked").index(kind),
        -1 if opponent_side is None else opponent_side,
        illegal == "lose",
    )
    settings = (
        f"{game!r}, starts {_digest(pool)}, reward {reward}, autoreset {autoreset}, {dtype}, opponent {kind}, "
        f"opponent_side {opponent_side}, illegal {illegal}"
    )
    return Vector(game, pool[0], made, asked, settings)


def _one_of(name: str, value: object, known: Sequence[object]) -> None:
    if value not in known:
        raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")


def _positions(game: Game, starts: str | Sequence[State | str], seed: int) -> list[State]:
    """The positions that games start from."""
    if isinstance(starts, str):
        rng = random.Random(seed)
        if starts == "initial" or (starts == "random" and type(game).random_start is Game.random_start):
            return [game.initial_state()]
        if starts == "random":
            return [game.random_start(rng) for _ in range(POOL)]
        kind, _, level = starts.partition(":")
        if kind != "puzzles":
            expected = "'initial', 'random', 'puzzles', 'puzzles:LEVEL' or a list of positions"
            raise ValueError(f"starts is {expected}, not {starts[:80]!r}")
        return _puzzles(game, level, rng)
    pool = [game.parse_state(start) if isinstance(start, str) else start for start in starts]
    if not pool:
        raise ValueError("the list of positions to start from is empty")
    for state in pool:
        if state.game != game:
            raise ValueError(f"{state!r} is not a position of {game!r}")
        if state.player() == TERMINAL:
            raise ValueError(f"the game is over at the start {state}")
    return pool


def _puzzles(game: Game, level: str, rng: random.Random) -> list[State]:
    """Puzzles of one level, or of all levels that are for the variant of the game."""
    if not game.puzzle_levels:
        raise ValueError(f"{game.name} has no puzzles made by level")
    pool: list[State] = []
    for name in [level] if level else game.puzzle_levels:
        made = [game.puzzle(name, rng.getrandbits(32))]
        if made[0].variant not in (None, game.variant):
            if level:
                raise ValueError(f"puzzles of the level {level} are for the variant {made[0].variant}")
            continue
        made += [game.puzzle(name, rng.getrandbits(32)) for _ in range(PUZZLES - 1)]
        pool += [game.parse_state(puzzle.position) for puzzle in made]
    if not pool:
        raise ValueError(f"there are no puzzles for this variant of {game.name}")
    return pool


def _digest(states: Sequence[State]) -> str:
    """A short name for a list of positions, equal for equal lists."""
    return hashlib.sha256(b"".join(hashlib.sha256(state.key()).digest() for state in states)).hexdigest()[:16]
