"""Least-squares policy iteration of any game (Lagoudakis and Parr, 2003).

A move is worth what it earns and, for the position it leads to before chance or the opponent acts (the afterstate), a
weighted sum of features. Many games are played at once, greedily but for some random moves. For every afterstate x met,
with the best move of the next position and its afterstate x',

    A += f(x) (f(x) - discount * f(x'))^T        b += f(x) (earned after x + discount * earned by the best move)

and after every part of the play the weights become the solution of A w = b with a small ridge (LSTDQ). If the opponent
moves next, what is best for him counts against the player, and each player has weights of his own. A and b of earlier
policies fade by `keep`.

The features of a game are what its `features(state)` gives, an array of numbers, if it has that method. Else they are
made from the observation: a constant, all cells of all planes if there are not too many, and for a board how often each
pattern of three cells in a row (two where there are many planes) is on it, by direction and content; and on the
smallest boards all pairs of cells.

>>> import rookery
>>> game = rookery.load("tenten", "3x3-three")
>>> trainer = Trainer(game, Settings(games=8, steps=5), seed=1)
>>> trainer.iterate()["samples"]
34
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import run as runs
from rookery.agents import Agent
from rookery.environments import vector
from rookery.game import TERMINAL, Game, State
from rookery.method import check_at_least, check_shares
from rookery.run import Row, Run, as_json, duration, settings_from

MODEL = "model.npz"
Array = npt.NDArray[Any]

MOST_CELLS = 1000
"""Cells of all planes together up to which each is a feature."""
MOST_PAIRED = 40
"""Cells of all planes together up to which each pair is a feature."""
MOST_PATTERNS = 1000
"""Patterns are as long as this allows, at most three cells."""
CHECKPOINT_SECONDS = 30.0
BATCH = 100
"""Parts of samples that go into the equations together: few large products are faster than many small ones."""


@dataclass(frozen=True)
class Settings:
    iterations: int = duration(20)
    """Solutions of the equations at most."""
    tolerance: float = duration(0.01)
    """Stop when the weights change by less than this share of their size."""
    games: int = 64
    """Games played at once."""
    steps: int = 50
    """Moves in each of them between two solutions."""
    epsilon: float = 0.05
    """Share of random moves; in the first part all are random."""
    discount: float = 0.99
    """Discount."""
    ridge: float = 1e-6
    """Weight of the ridge, for features of size 1."""
    keep: float = 0.9
    """What earlier samples count less after every solution; 1 keeps all of them."""
    starts: Literal["initial", "random"] = "initial"
    """Where games begin: in the initial position, or in a random start of the game."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations", "games", "steps")
        check_at_least(self, 0, "tolerance")
        check_shares(self, "epsilon", "discount", "keep")
        if not self.ridge > 0:
            raise ValueError(f"ridge must be above 0, and is {self.ridge}")


class Features:
    """What the value of a position is a weighted sum of."""

    def __init__(self, game: Game) -> None:
        self.own = getattr(game, "features", None)
        shape = game.observation_shape
        contents = shape[0] + 1 if len(shape) == 3 else 0
        fitting = [k for k in (3, 2) if contents and 4 * contents**k <= MOST_PATTERNS]
        self.length = max(fitting, default=0)
        """Cells of a pattern; 0 without patterns."""
        self.cells = int(np.prod(shape)) <= MOST_CELLS or not self.length
        self.pairs = np.triu_indices(int(np.prod(shape)), 1) if np.prod(shape) <= MOST_PAIRED else None
        """The cells of each pair; None without pairs."""
        self.size = self.of([game.initial_state()]).shape[1]

    def of(self, states: list[State]) -> Array:
        """`[states, size]`."""
        if self.own is not None:
            return np.stack([np.asarray(self.own(state), np.float64) for state in states])
        seen = np.stack([state.observation() for state in states])
        parts: list[Array] = [np.ones((len(seen), 1))]
        if self.cells:
            cells = seen.reshape(len(seen), -1)
            parts.append(cells)
            if self.pairs is not None:
                parts.append(cells[:, self.pairs[0]] * cells[:, self.pairs[1]])
        if self.length:
            parts += self._patterns(seen)
        return np.concatenate(parts, axis=1, dtype=np.float64)

    def _patterns(self, seen: Array) -> Iterator[Array]:
        """Counts of contents in a row, in four directions. A content is a plane, or nothing on all planes."""
        nothing = 1 - seen.max(axis=1, keepdims=True).clip(0, 1)
        contents = np.concatenate([seen, nothing], axis=1)
        rows, columns = seen.shape[2:]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            high, wide = rows - down * (self.length - 1), columns - abs(right) * (self.length - 1)
            if high < 1 or wide < 1:
                continue
            left = (self.length - 1) * (right < 0)
            windows = [
                contents[:, :, i * down : i * down + high, left + i * right : left + i * right + wide].reshape(
                    len(seen), contents.shape[1], -1
                )
                for i in range(self.length)
            ]
            if self.length == 3:
                pairs = (windows[0][:, :, None] * windows[1][:, None]).reshape(len(seen), -1, high * wide)
                windows = [pairs, windows[2]]
            yield (windows[0] @ windows[1].transpose(0, 2, 1)).reshape(len(seen), -1)


class Afterstates:
    """Every move of some positions: what it earns, and the features of where it leads."""

    def __init__(self, features: Features, states: list[State]) -> None:
        self.actions = [state.legal_actions() for state in states]
        ends = np.cumsum([len(actions) for actions in self.actions])
        self.first = ends - [len(actions) for actions in self.actions]
        """The place of each position's first move."""
        reached, earned, over = [], [], []
        for state, actions in zip(states, self.actions, strict=True):
            player = state.player()
            for action in actions:
                after = state.clone()
                after.apply(action)
                reached.append(after)
                earned.append(after.rewards()[player])
                over.append(after.player() == TERMINAL)
        self.features = features.of(reached)
        self.features[over] = 0.0
        self.earned, self.over = np.array(earned), np.array(over)
        self.mover = np.repeat([state.player() for state in states], [len(actions) for actions in self.actions])

    def values(self, weights: Array) -> Array:
        """What every move is worth to who makes it, `[moves]`; `weights` is `[players, size]`."""
        return np.asarray(self.earned + np.einsum("nd,nd->n", self.features, weights[self.mover]))


class Trainer:
    """The same seed and settings give the same weights on the same machine, stopped and resumed or not."""

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        self.game, self.settings = game, settings
        self.features = Features(game)
        self.rng = np.random.default_rng(seed)
        self.envs = vector(game, settings.games, seed, threads=1, starts=settings.starts)
        width = game.players * self.features.size
        self.a, self.b = np.zeros((width, width)), np.zeros(width)
        self.weights = np.zeros((game.players, self.features.size))
        self.iterations = 0
        self.gained = np.zeros(settings.games)
        """What player 0 has earned in the current games."""

    def _greedy(self, values: Array, first: Array) -> Array:
        """The place of a move of greatest value for each position, ties broken at random."""
        ends = [*first[1:], len(values)]
        noise = self.rng.random(len(values))
        return np.array([
            begin + max(range(end - begin), key=lambda i: (values[begin + i], noise[begin + i]))
            for begin, end in zip(first, ends, strict=True)
        ])  # fmt: skip

    def iterate(self) -> Row:
        """Play a part with the weights as they are, and solve the equations."""
        s, envs = self.settings, self.envs
        epsilon = s.epsilon if self.iterations else 1.0
        games, size = len(envs), self.features.size
        self.a *= s.keep
        self.b *= s.keep
        batch: list[tuple[Array, ...]] = []
        last = np.zeros((games, size))
        last_player = np.zeros(games, np.int64)
        waiting = np.zeros(games, np.bool_)
        """Whether the game has a last afterstate whose next position is not known yet."""
        earned_since = np.zeros(games)
        samples, returns = 0, list[float]()
        for _ in range(s.steps):
            states = [envs.state(i) for i in range(games)]
            player = envs.player.astype(np.int64)
            after = Afterstates(self.features, states)
            best = self._greedy(after.values(self.weights), after.first)
            sign = np.where(player == last_player, 1.0, -1.0) * s.discount
            target = earned_since + sign * after.earned[best]
            follows = sign[:, None] * after.features[best]
            found = (last, last_player, follows, player, target)
            batch.append(tuple(array[waiting] for array in found))
            at_random = after.first + (self.rng.random(games) * [len(a) for a in after.actions]).astype(np.int64)
            chosen = np.where(self.rng.random(games) < epsilon, at_random, best)
            envs.step([after.actions[i][place - after.first[i]] for i, place in enumerate(chosen)])
            earned = envs.reward[np.arange(games), player] - after.earned[chosen]
            last, last_player, earned_since = after.features[chosen], player, earned
            ended = envs.done & ~after.over[chosen]  # by chance
            batch.append(tuple(array[ended] for array in (last, player, 0 * last, player, earned)))
            waiting = ~envs.done
            if len(batch) >= BATCH:
                samples += self._add(batch)
            self.gained += envs.reward[:, 0]
            returns += self.gained[envs.done].tolist()
            self.gained[envs.done] = 0
        samples += self._add(batch) if batch else 0
        before = self.weights
        self.weights = solve(self.a, self.b, s.ridge).reshape(before.shape)
        self.iterations += 1
        moved = float(np.linalg.norm(self.weights - before)) / max(float(np.linalg.norm(self.weights)), 1e-12)
        return {
            "iteration": self.iterations, "samples": samples,
            "mean_return": float(np.mean(returns)) if returns else None, "change": moved,
            "progress": 1.0 if moved < s.tolerance else self.iterations / s.iterations,
        }  # fmt: skip

    def _add(self, batch: list[tuple[Array, ...]]) -> int:
        """Add samples to the equations, and empty the batch: features and player, features and player of what follows
        with sign and discount, and what was earned. Returns their number."""
        now, player, follows, follower, target = (np.concatenate(arrays) for arrays in zip(*batch, strict=True))
        batch.clear()
        size = self.features.size
        for p, q in itertools.product(range(self.game.players), repeat=2):
            some = (player == p) & (follower == q)
            x = now[some]
            rows, columns = slice(p * size, (p + 1) * size), slice(q * size, (q + 1) * size)
            self.a[rows, rows] += x.T @ x
            self.a[rows, columns] -= x.T @ follows[some]
            self.b[rows] += x.T @ target[some]
        return len(now)

    def arrays(self) -> dict[str, Array]:
        """What training resumes from."""
        return {
            **{f"games.{name}": array for name, array in self.envs.save().items()},
            "a": self.a, "b": self.b, "weights": self.weights, "iterations": np.array(self.iterations),
            "gained": self.gained, "rng": np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from what `arrays` gave."""
        self.a, self.b, self.weights = (saved[name].copy() for name in ("a", "b", "weights"))
        self.iterations, self.gained = int(saved["iterations"]), saved["gained"].copy()
        prefix = "games."
        self.envs.restore({n.removeprefix(prefix): array for n, array in saved.items() if n.startswith(prefix)})
        self.rng.bit_generator.state = json.loads(saved["rng"].tobytes())


def solve(a: Array, b: Array, ridge: float) -> Array:
    """The weights that solve A w = b, with every feature scaled to size 1 and a ridge. Features never met weigh 0."""
    size = np.sqrt(np.abs(np.diag(a)))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    return np.asarray(scale * np.linalg.solve(a * np.outer(scale, scale) + ridge * np.eye(len(b)), b * scale))


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Iterate until the weights settle."""
    trainer = Trainer(game, settings, run.seed)
    if (saved := run.restore()) is not None:
        trainer.restore(saved)
    begin, before = time.process_time(), run.rows[-1]["seconds"] if run.rows else 0.0
    last_save = time.monotonic()
    while trainer.iterations < settings.iterations and not (run.rows and run.rows[-1]["change"] < settings.tolerance):
        row = trainer.iterate() | {"seconds": round(before + time.process_time() - begin, 2)}
        if row["progress"] == 1 or time.monotonic() - last_save > CHECKPOINT_SECONDS:
            info = {"kind": run.kind, "settings": as_json(settings), "seed": run.seed, "iterations": trainer.iterations}
            runs.save_model(run.folder / MODEL, info, {"weights": trainer.weights})
            run.save(row, trainer.arrays())
            last_save = time.monotonic()
        else:
            run.add(row)
        yield row


class LspiAgent(Agent):
    """Plays the move of greatest value by weighted features."""

    def __init__(self, features: Features, weights: Array) -> None:
        self.features, self.weights = features, weights

    def values(self, state: State) -> dict[int, float]:
        """What the player to move still earns after every action, discounted."""
        after = Afterstates(self.features, [state])
        return dict(zip(after.actions[0], after.values(self.weights).tolist(), strict=True))


def load(game: Game, path: Path | str) -> LspiAgent:
    """The agent of a file that training wrote."""
    info, arrays = runs.load_arrays(path, f"{game.name} lspi")
    settings_from(Settings, info.get("settings", {}))
    features = Features(game)
    if arrays["weights"].shape != (game.players, features.size):
        raise ValueError(f"{path} does not hold {features.size} weights for each player of {game.name}")
    return LspiAgent(features, arrays["weights"])
