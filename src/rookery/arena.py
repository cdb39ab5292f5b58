"""Two agents against each other, or side by side where a game has one player.

>>> import rookery
>>> from rookery import agents
>>> game = rookery.load("tenten", "3x3-three")
>>> result = play_match(game, agents.load("mcts:simulations=20", game), agents.load("random", game), games=6)
>>> result.wins + result.draws + result.losses
6
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rookery.agents import Agent
from rookery.games import CHANCE, TERMINAL, Game, State
from rookery.statistics import bootstrap_interval, wilson_interval


@dataclass(frozen=True)
class Match:
    """What came out, seen from the first agent."""

    wins: int
    draws: int
    losses: int
    interval: tuple[float, float]
    """95%. Two players: of the share of points, a draw counting half. One player: of the mean lead in returns."""
    means: tuple[float, float]
    """Mean return of each agent."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    def data(self) -> dict[str, Any]:
        return {
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "games": self.games,
            "interval": list(self.interval), "means": list(self.means),
        }  # fmt: skip


def play_game(start: State, players: Sequence[Agent], chance: random.Random, rngs: Sequence[random.Random]) -> State:
    """Play to the end. Chance has a random source of its own, so that two players can meet the same draws."""
    state = start.clone()
    while (player := state.player()) != TERMINAL:
        if player == CHANCE:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply(chance.choices(outcomes, weights)[0])
        else:
            state.apply(players[player].choose(state, rngs[player]))
    return state


def play_match(
    game: Game, first: Agent, second: Agent, games: int, seed: int = 0, on_game: Callable[[], None] = lambda: None
) -> Match:
    """Two players: every start is played twice, with sides exchanged. One player: both agents play every start with the
    same draws of chance, and the greater return wins."""
    if games < 1:
        raise ValueError(f"the number of games must be at least 1, and is {games}")
    if game.players == 2 and games % 2:
        raise ValueError(f"the number of games must be even, so that sides can be exchanged, and is {games}")
    returns = np.zeros((games, 2))
    for i in range(games):
        pair = i // 2 if game.players == 2 else i
        start = game.random_start(random.Random(f"{seed} start {pair}"))

        def play(players: Sequence[Agent], start: State = start, i: int = i, pair: int = pair) -> list[float]:
            rngs = [random.Random(f"{seed} player {i} {p}") for p in range(2)]
            return play_game(start, players, random.Random(f"{seed} chance {pair}"), rngs).returns()

        if game.players == 2:
            swapped = i % 2 == 1
            result = play([second, first] if swapped else [first, second])
            returns[i] = result[::-1] if swapped else result
        else:
            returns[i] = play([first])[0], play([second])[0]
        on_game()
    lead = returns[:, 0] - returns[:, 1]
    wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
    draws = games - wins - losses
    interval = wilson_interval(wins + draws / 2, games) if game.players == 2 else bootstrap_interval(lead, seed)
    means = returns.mean(axis=0)
    return Match(wins, draws, losses, interval, (float(means[0]), float(means[1])))
