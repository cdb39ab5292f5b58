"""The paper's three greedy players of 1010!.

>>> import random
>>> game = TenTen(3, 3, "three")
>>> state = game.parse_state("##./.../... 1x1")
>>> state.action_name(GreedyAgent(1).choose(state, random.Random(0)))
'1x1@r1c3'
"""

from __future__ import annotations

import random

from rookery.agents import Agent, Explanation
from rookery.game import TERMINAL, Overlay, State
from rookery.games.tenten.rules import TenTen, TenTenState

MEANINGS = {1: "lines cleared now", 2: "chance that the next piece fits", 3: "lines cleared now, or the next chance"}


class GreedyAgent(Agent):
    """Algorithm 1 clears the most lines now, 2 makes it most likely that the next piece fits, 3 follows one of them at
    random, drawn anew every round. Among equal placements the first in reading order is taken."""

    def __init__(self, algorithm: int = 1) -> None:
        if algorithm not in MEANINGS:
            raise ValueError(f"the paper has greedy algorithms 1, 2 and 3, not {algorithm}")
        self.algorithm = algorithm

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        values = self._values(state, rng.choice((1, 2)) if self.algorithm == 3 else self.algorithm)
        return max(values, key=lambda action: values[action])

    def values(self, state: State) -> dict[int, float]:
        """By the algorithm's own measure; for algorithm 3, by that of algorithm 1."""
        return self._values(state, 2 if self.algorithm == 2 else 1)

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(a)}: {MEANINGS[self.algorithm]} {values[a]:.3g}" for a in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))

    def _values(self, state: State, algorithm: int) -> dict[int, float]:
        assert isinstance(state, TenTenState)
        measure = _lines if algorithm == 1 else _next_chance
        return {action: measure(state, action) for action in state.legal_actions()}


def _lines(state: TenTenState, action: int) -> float:
    game = state.game
    assert isinstance(game, TenTen)
    filled = {*state.cells, *state.preview_cells(action)}
    rows = [range(row * game.columns, (row + 1) * game.columns) for row in range(game.rows)]
    columns = [range(column, game.rows * game.columns, game.columns) for column in range(game.columns)]
    return float(sum(filled.issuperset(line) for line in rows + columns))


def _next_chance(state: TenTenState, action: int) -> float:
    after = state.clone()
    after.apply(action)
    if not (outcomes := after.chance_outcomes()):
        return float(after.player() != TERMINAL)
    total = 0.0
    for outcome, probability in outcomes:
        drawn = after.clone()
        drawn.apply(outcome)
        total += probability * (drawn.player() != TERMINAL)
    return total
