"""The perfect player of 1010! on small boards.

>>> game = TenTen(3, 3, "seven")
>>> oracle = TableAgent(exact.solve(game))
>>> state = game.parse_state("##./.../... 1x1")
>>> print(oracle.explain(state).reasons[0])
1x1@r3c3: 71.8 rounds to be expected from here, this one included
"""

from __future__ import annotations

from rookery.agents import Agent, Explanation
from rookery.game import Overlay, State
from rookery.games.tenten import exact
from rookery.games.tenten.rules import TenTen, TenTenState

SOLVED_AT_ONCE = 16
"""Boards of up to this many cells are solved when the oracle is loaded: in about a second."""


class TableAgent(Agent):
    """Plays by a table of exact values."""

    def __init__(self, solution: exact.SolvedGame) -> None:
        self.solution = solution

    def values(self, state: State) -> dict[int, float]:
        assert isinstance(state, TenTenState)
        return self.solution.placement_values(state)

    def in_words(self, state: State, value: float) -> str:
        if self.solution.objective != "survival":
            return super().in_words(state, value)
        return f"{value:,.0f} more round{'' if round(value) == 1 else 's'}"

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        survival = self.solution.objective == "survival"
        unit = "rounds to be expected from here, this one included" if survival else f"in {self.solution.objective}"
        reasons = [f"{state.action_name(action)}: {values[action]:,.1f} {unit}" for action in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))


def solves(game: TenTen) -> bool:
    """Is the game solved at once?"""
    return game.rows * game.columns <= SOLVED_AT_ONCE and game.hand == 1
