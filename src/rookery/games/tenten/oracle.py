"""The perfect player of 1010! on small boards.

>>> game = TenTen(3, 3, "seven")
>>> oracle = load(game)
>>> state = game.parse_state("##./.../... 1x1")
>>> print(oracle.explain(state).reasons[0])
1x1@r3c3: 71.8 rounds to be expected from here, this one included
"""

from __future__ import annotations

from pathlib import Path

from rookery.agent import Agent, Explanation
from rookery.game import Overlay, State
from rookery.games.tenten import exact
from rookery.games.tenten.rules import TenTen, TenTenState

SOLVED_AT_ONCE = 16
"""Boards of up to so many cells are solved when the oracle is loaded: in about a second."""


class OracleAgent(Agent):
    """Plays by a table of exact values."""

    def __init__(self, solution: exact.Solution) -> None:
        self.solution = solution

    def values(self, state: State) -> dict[int, float]:
        assert isinstance(state, TenTenState)
        return self.solution.placement_values(state)

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        survival = self.solution.objective == "survival"
        unit = "rounds to be expected from here, this one included" if survival else f"in {self.solution.objective}"
        reasons = [f"{state.action_name(action)}: {values[action]:,.1f} {unit}" for action in ranked[:5]]
        return Explanation(ranked[0], values, reasons, Overlay(values=values))


def solves(game: TenTen) -> bool:
    """Is the game solved at once?"""
    return game.rows * game.columns <= SOLVED_AT_ONCE and game.hand == 1


def load(
    game: TenTen, path: str | None = None, objective: str | None = None, discount: float | None = None
) -> OracleAgent:
    """The oracle of a board: from the file that `rookery solve tenten --out` wrote, or solved now if small.

    Its aim is to survive; where that can be done for ever, the paper's r1 with a discount of 0.99. The paper's value
    iteration is `oracle:objective=r1,discount=0.8`.
    """
    if path is not None:
        return OracleAgent(exact.load(Path(path), game))
    if not solves(game):
        raise ValueError(
            f"the oracle solves boards of up to {SOLVED_AT_ONCE} cells with one piece in the hand at once; this one "
            f"has {game.rows * game.columns} cells and a hand of {game.hand}; write a table with 'rookery solve tenten "
            "--size N --out FILE' and load it with 'oracle:FILE'"
        )
    if objective is None:
        objective, discount = ("r1", discount or 0.99) if exact.endless(game) else ("survival", discount)
    return OracleAgent(exact.solve(game, objective, discount))
