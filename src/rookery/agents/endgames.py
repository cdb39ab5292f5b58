"""Agents for chess endgames."""

from __future__ import annotations

import random

from rookery.agents import Explanation, ValueAgent
from rookery.exact import endgames as exact
from rookery.games import Overlay, State
from rookery.games.endgames import EndgamesState


class OracleAgent(ValueAgent):
    """Perfect play from the exact tables: mates as fast as possible with the pieces, resists as long as possible with
    the lone king, and takes every draw it can get, by capture first.

    A move is worth 1 less a thousandth for every ply to mate, 0 if it draws, and -1 plus a thousandth for every ply if
    it loses. A move that ends the game by repetition or the fifty-move rule draws, whatever the tables say.

    >>> import rookery
    >>> from rookery import agents
    >>> game = rookery.load("endgames")
    >>> state = game.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    >>> explanation = agents.load("oracle", game).explain(state)
    >>> explanation.reasons[:2]
    ['Rh1# mates', 'Rd2 mates in 2 moves; the best reply is Kb1']
    """

    def moves(self, state: State) -> dict[int, int | None]:
        """Every legal move with its distance to mate, for the side that moves."""
        assert isinstance(state, EndgamesState)
        moves = exact.solve(state).moves
        return {action: None if _drawn_by_history(state, action) else moves[action] for action in state.legal_actions()}

    def values(self, state: State) -> dict[int, float]:
        return {action: exact.preference(dtm) / 1000 for action, dtm in self.moves(state).items()}

    def choose(self, state: State, rng: random.Random) -> int:
        assert isinstance(state, EndgamesState)
        moves = self.moves(state)
        best = exact.best(state, moves)
        captures = [action for action in best if moves[action] is None and exact.is_capture(state, action)]
        return rng.choice(captures or best)

    def explain(self, state: State) -> Explanation:
        assert isinstance(state, EndgamesState)
        moves = self.moves(state)
        best = exact.best(state, moves)
        values = {action: exact.preference(dtm) / 1000 for action, dtm in moves.items()}
        ranked = best + sorted(set(moves) - set(best), key=lambda action: (-values[action], action))
        reasons = [describe(state, action, moves[action]) for action in ranked]
        cells = state.action_cells(best[0])
        return Explanation(best[0], values, reasons, Overlay(arrows=[(cells[0], cells[1])], values=values))


def describe(state: EndgamesState, action: int, dtm: int | None) -> str:
    """A move, its exact result, and the opponent's best reply."""
    after = _after(state, action)
    name = state.action_name(action)
    if after.ending:
        return f"{name} mates" if after.ending == "checkmate" else f"{name} draws by {after.ending}"
    reply = after.action_name(exact.solve(after).best_moves[0])
    if dtm is None:
        result = "draws"
    elif dtm > 0:
        result = f"mates in {(dtm + 1) // 2} moves"
    else:
        moves = -dtm // 2
        result = f"is mated in {moves} move{'s' if moves > 1 else ''}"
    return f"{name} {result}; the best reply is {reply}"


def _after(state: EndgamesState, action: int) -> EndgamesState:
    after = state.clone()
    after.apply(action)
    return after


def _drawn_by_history(state: EndgamesState, action: int) -> bool:
    return _after(state, action).ending in ("repetition", "fifty-move rule")
