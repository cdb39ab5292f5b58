"""Nested searches that start from what a net knows, and the list of games whose scores are ranked.

For games of one player without chance, where the best result counts and not the mean. A net plays many games side by
side, each at a temperature of its own; the best of them seed NRPA searches (`native/search/policy_search.hpp`), whose
playouts start from the net's own probabilities; and what was played and found joins a list of different games, of which
those above a quantile of the scores are won. Needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rookery.game import Game

Array = npt.NDArray[Any]
Think = Callable[[Array, Array, Array], tuple[Tensor, Tensor, Tensor]]
"""Planes, offsets and legal actions of positions to log-probabilities `[positions, most]`, the actions they belong to,
and which of them count."""


@dataclass(frozen=True)
class Play:
    """Games that a net played side by side, and what it thought of every legal move on the way."""

    games: list[list[int]]
    scores: npt.NDArray[np.float64]
    owner: npt.NDArray[np.int32]
    actions: npt.NDArray[np.int32]
    advantage: npt.NDArray[np.float32]
    """Log-probability of each legal move, less that of the most probable move in the same position."""

    def priors(self, chosen: npt.NDArray[np.int64], per: int = 1) -> tuple[Array, Array, Array]:
        """The mean advantage of every action in each chosen game: actions, means, and where those of each game start.

        `per` actions in a row that begin with a multiple of it count as one, which the first of them stands for.
        """
        heads = self.actions // per * per
        span = np.int64(heads.max()) + 1
        rank = np.full(len(self.games), -1, np.int64)
        rank[chosen] = np.arange(len(chosen))
        mine = rank[self.owner]
        keys = (mine * span + heads)[mine >= 0]
        keys, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        means = np.bincount(inverse, self.advantage[mine >= 0], len(keys)) / counts
        starts = np.searchsorted(keys, np.arange(len(chosen) + 1) * span)
        return (keys % span).astype(np.int32), means.astype(np.float32), starts.astype(np.int64)


@torch.no_grad()
def play(think: Think, start: Any, temperatures: npt.NDArray[np.float32], seed: int, threads: int) -> Play:
    """Games in which every move is drawn from the net's policy, one for each temperature: 1 takes the policy as it is,
    0 the most probable move. `start` is a native state."""
    games = start.Games(start, len(temperatures))
    generator: torch.Generator | None = None
    owners, actions, advantages = [], [], []
    while len(live := games.live()):
        planes, offsets, legal_actions = games.observe(threads)
        chances, rows, legal = think(planes, offsets, legal_actions)
        if generator is None:
            generator = torch.Generator(chances.device).manual_seed(seed)
            temperature = torch.from_numpy(temperatures).to(chances.device)[:, np.newaxis]
        # The greatest sum of log-probability and Gumbel noise is a draw from the policy.
        noise = -torch.empty_like(chances).exponential_(generator=generator).clamp(min=1e-20).log()
        pick = (chances + temperature[torch.from_numpy(live).to(chances.device).long()] * noise).argmax(1, keepdim=True)
        games.apply(rows.gather(1, pick).squeeze(1).int().cpu().numpy())
        owners.append(np.repeat(live, np.diff(offsets)))
        actions.append(legal_actions)
        advantages.append((chances - chances.max(1, keepdim=True).values)[legal].cpu().numpy())
    joined = (np.concatenate(parts) for parts in (owners, actions, advantages))
    return Play(games.histories, np.array(games.returns), *joined)


_LEAST_ADVANTAGE = -8.0
"""A search can forget what it starts from, if it is not too sure of it."""


@dataclass(frozen=True)
class Found:
    """What searches found, one game each."""

    games: list[list[int]]
    scores: npt.NDArray[np.float64]
    trust: npt.NDArray[np.float32]
    """How far each search trusted the net."""
    cpu_seconds: float
    playouts: int

    @classmethod
    def of(cls, runs: list[Any], trust: npt.NDArray[np.float32]) -> Found:
        mine = trust[[run[0] for run in runs]]  # searches that were not begun when the time was up are missing
        scores = np.array([run[1] for run in runs], np.float64)
        return cls([run[2] for run in runs], scores, mine, sum(run[4] for run in runs), sum(run[3] for run in runs))


def search(
    start: Any, seeds: Play, searches: int, level: int, iterations: int, prior: float, unseen: float, seed: int,
    threads: int, control: Any = None, per: int = 1,
) -> Found:  # fmt: skip
    """NRPA from the net's policy around each of the best games: one search per game. How far each search trusts the net
    is drawn at random up to `prior`, so that no one number has to be right; a quarter start from nothing, so that games
    unlike those the net knows keep coming in. A move that was never legal in the game that seeds a search has the
    log-probability `unseen`."""
    chosen = np.argsort(-seeds.scores, kind="stable")[:searches]
    actions, means, starts = seeds.priors(chosen, per)
    trust = np.random.default_rng(seed).uniform(-prior / 3, prior, len(chosen)).clip(0).astype(np.float32)
    weights = np.repeat(trust, np.diff(starts)) * np.maximum(means, _LEAST_ADVANTAGE)
    runs = start.nrpa_from(
        actions, weights, starts, trust * np.float32(unseen), level, iterations, 1.0, seed, threads, control
    )
    return Found.of(runs, trust)


class Ranking:
    """The last games, all different up to symmetry and, where it does not matter, the order of their moves."""

    def __init__(self, game: Game, window: int, symmetries: bool = True) -> None:
        self.window, self.any_order = window, game.any_order
        self.turned = np.array([range(game.num_actions), *(game.action_symmetries() if symmetries else ())], np.int32)
        self.games: dict[bytes, tuple[npt.NDArray[np.int32], float]] = {}

    def add(self, games: Sequence[Sequence[int]], scores: Sequence[float]) -> int:
        """Add games at the end of the list, those known already once more; returns how many are new."""
        new = 0
        for moves, score in zip(games, scores, strict=True):
            played = np.array(moves, np.int32)
            images = (turned[played] for turned in self.turned)
            key = min((np.sort(image) if self.any_order else image).tobytes() for image in images)
            new += self.games.pop(key, None) is None
            self.games[key] = played, float(score)
        for key in list(self.games)[: -self.window]:
            del self.games[key]
        return new

    @property
    def moves(self) -> list[npt.NDArray[np.int32]]:
        return [moves for moves, _ in self.games.values()]

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        return np.array([score for _, score in self.games.values()])

    def threshold(self, ratio: float) -> float:
        scores = np.sort(self.scores)
        return float(scores[min(len(scores) - 1, int(len(scores) * ratio))])

    def rewards(self, ratio: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """z of every game: +1 above the threshold, -1 below, either at random on it."""
        above = np.sign(self.scores - self.threshold(ratio)).astype(np.int64)
        return np.where(above == 0, rng.choice([-1, 1], len(above)), above)


class Examples:
    """Draws positions to learn from out of ranked games: three of four from games with z = +1."""

    def __init__(self, start: Any, ranking: Ranking, z: npt.NDArray[np.int64]) -> None:
        self.start, self.any_order, self.z = start, ranking.any_order, z
        games = ranking.moves
        self.won, self.lost = np.flatnonzero(z > 0), np.flatnonzero(z < 0)
        self.lengths = np.array([len(game) for game in games])
        joined = np.concatenate(games)
        # The games under every symmetry, one list after the other.
        self.images, self.count = len(ranking.turned), len(games)
        self.moves = ranking.turned[:, joined].ravel()
        self.starts = np.concatenate([[0], np.cumsum(np.tile(self.lengths, self.images))]).astype(np.int64)

    def draw(self, batch: int, rng: np.random.Generator, threads: int) -> tuple[Array, Array, Array, Array, Array]:
        """Planes, offsets, legal actions, which of them the game continues with, and whether its z is +1."""
        from_won = batch * 3 // 4 if len(self.lost) else batch
        game = (
            np.concatenate([rng.choice(self.won, from_won), rng.choice(self.lost, batch - from_won)])
            if len(self.won) and len(self.lost)
            else rng.choice(self.won if len(self.won) else self.lost, batch)
        )
        played = (rng.random(batch) * self.lengths[game]).astype(np.int32)
        image = rng.integers(0, self.images, batch)
        planes, offsets, actions, wanted = self.start.examples(
            self.moves, self.starts, (image * self.count + game).astype(np.int32), played, self.any_order,
            int(rng.integers(1 << 62)), threads,
        )  # fmt: skip
        return planes, offsets, actions, wanted, self.z[game] > 0
