"""A game of checkers looked at afterwards: what every move lost, and where the game turned.

>>> from rookery.games.checkers.rules import parse_pdn
>>> [game] = parse_pdn("1. 11-15 22-18 2. 15x22 25x18 *")
>>> [move.name for move in analyse(game, EngineAgent(None, None, nodes=200))]
['11-15', '22-18', '15x22', '25x18']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rookery.games.checkers.agents import EngineAgent, describe
from rookery.games.checkers.rules import Checkers, PdnGame

TURNING = 0.15
"""A move that loses this much, of values between -1 and 1, is a turning point."""


@dataclass(frozen=True)
class Judged:
    """One move of a game, for the side that made it."""

    number: int
    """Of the move in the game, from 1; both sides have one of each."""
    side: str
    position: str
    """Before the move."""
    name: str
    value: float
    """What the move was worth, -1 to 1."""
    best: str
    """The best move."""
    best_value: float
    exact: str = ""
    """What the move does by the solved endgames: "wins in 19 plies", "draws"; empty if they do not know."""
    exact_best: str = ""
    """What the best move does by them."""

    @property
    def loss(self) -> float:
        """What the move gave away, 0 for a best one."""
        return self.best_value - self.value

    @property
    def turning(self) -> bool:
        """Whether the move changed the outcome, exactly if the solved endgames know it, else by its loss."""
        if self.exact:
            return self.exact.split()[0] != self.exact_best.split()[0]
        return self.loss >= TURNING


def analyse(game: PdnGame, judge: EngineAgent) -> Iterator[Judged]:
    """Judge every move of a game. Where the solved endgames of the judge know a position their values count."""
    rules = Checkers(**Checkers.variants["no-draws"])
    state = rules.parse_state(game.start)
    for ply, action in enumerate(game.actions, state.side):
        solved = judge.solved
        outcomes = solved.solve(state).moves if solved is not None and solved.covers(state) else {}
        values = {a: outcome.preference / 1000 for a, outcome in outcomes.items()} or judge.values(state)
        if action not in values:
            raise ValueError(f"{state.action_name(action)} is not a legal move in {state}")
        best = max(values, key=lambda a: (values[a], a == action))
        yield Judged(
            ply // 2 + 1,
            rules.sides[state.side],
            str(state),
            state.action_name(action),
            values[action],
            state.action_name(best),
            values[best],
            describe(outcomes[action]) if outcomes else "",
            describe(outcomes[best]) if outcomes else "",
        )
        state.apply(action)


def load_judge(agent: object) -> EngineAgent:
    """The agent if it can judge."""
    if not isinstance(agent, EngineAgent):
        raise ValueError("the judge must be best or net, with settings, such as best:nodes=1000000")
    return agent
