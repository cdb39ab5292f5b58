"""Agents for Solitaire Chess: `dqn`, `paper-dqn` and `taught`, which learned; `oracle` and `best`, which solve."""

from __future__ import annotations

import math

from rookery import _native
from rookery.agents import Agent, Explanation, Hint, Verdict
from rookery.game import Overlay, State
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import STUCK, hints
from rookery.games.solitaire_chess.rules import SolitaireChessState


class RankerAgent(Agent):
    """Plays the capture after which the net believes most in a solution; values are that belief, 0 to 1.

    With `look_ahead` the net is also asked about the position after each capture.
    """

    def __init__(self, ranker: _native.solitaire_chess.CaptureRanker, look_ahead: bool = True) -> None:
        self.ranker, self.look_ahead = ranker, look_ahead

    def values(self, state: State) -> dict[int, float]:
        assert isinstance(state, SolitaireChessState)
        moves = _native.solitaire_chess.ranked_moves(self.ranker, state, self.look_ahead)
        return {action: 1 / (1 + math.exp(-score)) for action, score in moves}

    def in_words(self, state: State, value: float) -> str:
        return f"{value:.0%} solvable"

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"after {state.action_name(a)} the net gives a solution {values[a]:.1%}" for a in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))


class SolverAgent(Agent):
    """Values a capture 1 if the position after it can be solved and 0 if not; certain, by search."""

    def values(self, state: State) -> dict[int, float]:
        values = {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            assert isinstance(after, SolitaireChessState)
            values[action] = float(solve(after).solvable)
        return values

    def in_words(self, state: State, value: float) -> str:
        return "solvable" if value else "stuck"

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        good = [state.action_name(action) for action, value in values.items() if value]
        reasons = [f"a solution can begin with {', '.join(good)}" if good else "no capture leads to a solution"]
        return Explanation(
            state, max(values, key=lambda action: values[action]), values, reasons, Overlay(values=values)
        )

    def hint(self, state: State) -> Hint:
        """Who moves first, what it takes, and which piece is the last; or that the puzzle is stuck."""
        assert isinstance(state, SolitaireChessState)
        told = list(hints(state))
        if len(told) == 1:
            return Hint(told, [[]], stuck=told == [STUCK])
        moves = solve(state).moves
        assert moves
        cells = state.action_cells(moves[0])
        return Hint(told, [cells[:1], cells, cells])

    def judge(self, before: State, action: int) -> Verdict:
        """Whether a capture keeps the puzzle solvable."""
        assert isinstance(before, SolitaireChessState)
        values = self.values(before)
        if not any(values.values()):
            return Verdict("bad", STUCK)
        if not values[action]:
            return Verdict("bad", f"{before.action_name(action)} spoils the puzzle. {STUCK}")
        solved = sum(kind >= 0 for kind in before.kinds) == 2  # the capture leaves one piece
        return Verdict("good", "Solved." if solved else "Still solvable.")
