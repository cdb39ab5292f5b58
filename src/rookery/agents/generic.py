"""Agents for any game."""

from __future__ import annotations

import random

from rookery.agents.base import ValueAgent
from rookery.games import State
from rookery.search import mcts, minimax


class RandomAgent(ValueAgent):
    """Plays a uniformly random legal move: the floor under every other agent."""

    def values(self, state: State) -> dict[int, float]:
        return dict.fromkeys(state.legal_actions(), 0.0)


class MinimaxAgent(ValueAgent):
    """Alpha-beta to a fixed depth, for games without chance."""

    def __init__(self, depth: int = 3) -> None:
        self.depth = depth

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in minimax(state, self.depth)}


class MctsAgent(ValueAgent):
    """Monte Carlo tree search with random playouts."""

    def __init__(self, simulations: int = 1000, exploration: float = 1.0) -> None:
        self.simulations, self.exploration = simulations, exploration

    def choose(self, state: State, rng: random.Random) -> int:
        moves = mcts(state, self.simulations, self.exploration, rng.getrandbits(63))
        return max(moves, key=lambda move: (move.visits, move.value)).action

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in mcts(state, self.simulations, self.exploration)}
