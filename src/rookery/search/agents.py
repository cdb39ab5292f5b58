"""Agents for any game."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from rookery._native import Control
from rookery.agents import Agent
from rookery.game import TERMINAL, State
from rookery.search import mcts, minimax, nmcs, nrpa


class RandomAgent(Agent):
    """Plays a uniformly random legal move: the floor under every other agent."""

    def values(self, state: State) -> dict[int, float]:
        return dict.fromkeys(state.legal_actions(), 0.0)


class MinimaxAgent(Agent):
    """Alpha-beta to a fixed depth, for games without chance."""

    def __init__(self, depth: int = 3) -> None:
        self.depth = depth

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in minimax(state, self.depth)}

    def stages(self) -> list[Agent]:
        return [*(MinimaxAgent(depth) for depth in range(1, self.depth)), self]


class MctsAgent(Agent):
    """Monte Carlo tree search with random playouts."""

    def __init__(self, simulations: int = 1000, exploration: float = 1.0) -> None:
        self.simulations, self.exploration = simulations, exploration

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        moves = mcts(state, self.simulations, self.exploration, rng.getrandbits(63))
        return max(moves, key=lambda move: (move.visits, move.value)).action

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in mcts(state, self.simulations, self.exploration)}

    def stages(self) -> list[Agent]:
        return [MctsAgent(self.simulations // 10, self.exploration), self] if self.simulations > 1000 else [self]


Plan = dict[bytes, tuple[int, float]]
"""Known moves by position, each with the return it leads to."""


def plan_of(state: State, actions: Sequence[int], score: float) -> Plan:
    """A game from a position on, up to where chance comes in."""
    state, plan = state.clone(), Plan()
    for action in actions:
        if action not in state.legal_actions():
            break
        plan[state.key()] = action, score
        state.apply(action)
    return plan


class NestedAgent(Agent):
    """NRPA or NMCS, for games of one player: searches once and follows the game it found for as long as chance lets it.

    A move is worth the best return found after it. What was found is forgotten when another game begins, so that no
    game owes its luck to an earlier one; `known` is a plan that stays.
    """

    def __init__(
        self, method: Literal["nrpa", "nmcs"], level: int = 2, iterations: int = 100, known: Plan | None = None
    ) -> None:
        self.method, self.level, self.iterations = method, level, iterations
        self.known = known or {}
        self.plan = dict(self.known)
        self._here: set[bytes] = set()
        """The position of the last choice and, where chance does not come in, the one after it."""

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        if state.key() not in self._here:
            self.plan = dict(self.known)
        if state.key() not in self.plan:
            self.plan |= plan_of(state, *self._search(state, self.level, rng.getrandbits(62)))
        action = self.plan[state.key()][0]
        after = state.clone()
        after.apply(action)
        self._here = {state.key(), after.key()}
        return action

    def values(self, state: State) -> dict[int, float]:
        values = {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            over = after.player() == TERMINAL
            values[action] = after.returns()[0] if over else self._search(after, max(1, self.level - 1), 0)[1]
        if state.key() in self.plan:
            action, score = self.plan[state.key()]
            values[action] = max(values[action], score)
        return values

    def _search(self, state: State, level: int, seed: int) -> tuple[list[int], float]:
        control = Control()
        if self.method == "nrpa":
            [run] = nrpa(state, level, self.iterations, seed=seed, control=control)
        else:
            [run] = nmcs(state, level, seed=seed, control=control)
        if control.stopped:  # by Ctrl-C, which these searches take as the wish to see what they have
            raise KeyboardInterrupt
        return run.actions, run.score
