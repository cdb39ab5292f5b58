"""Agents for chess endgames."""

from __future__ import annotations

import functools
import random
from pathlib import Path
from typing import Any

from rookery.agents import Agent, Explanation, Verdict
from rookery.game import Game, Overlay, State
from rookery.games.endgames import MODELS, perfect
from rookery.games.endgames import tables as exact
from rookery.games.endgames.q_learning import LearnedTable, promise
from rookery.games.endgames.rules import Endgames, EndgamesState


class TablesAgent(Agent):
    """Perfect play from the exact tables: mates as fast as possible with the pieces, resists as long as possible with
    the lone king, and takes every draw it can get, by capture first.

    A move is worth 1 less a thousandth for every ply to mate, 0 if it draws, and -1 plus a thousandth for every ply if
    it loses. A move that ends the game by repetition or the fifty-move rule draws, whatever the tables say.

    >>> import rookery
    >>> game = rookery.load("endgames")
    >>> state = game.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    >>> explanation = rookery.agent("oracle", game).explain(state)
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

    def in_words(self, state: State, value: float) -> str:
        """The distance to mate.

        >>> import rookery
        >>> state = rookery.load("endgames").initial_state()
        >>> [TablesAgent().in_words(state, value) for value in (0.999, 0.973, 0, -0.98)]
        ['mate', 'mate in 14', 'draw', 'mated in 10']
        """
        if value == 0:
            return "draw"
        plies = round(1000 - 1000 * abs(value))
        if value < 0:
            return f"mated in {plies // 2}"
        return "mate" if plies == 1 else f"mate in {(plies + 1) // 2}"

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
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
        return Explanation(state, best[0], values, reasons, Overlay(arrows=[(cells[0], cells[1])], values=values))

    def practice_start(self, game: Game, rng: random.Random) -> State:
        """A random position that White, to move, wins."""
        assert isinstance(game, Endgames)
        return exact.start_to_practise(game, rng)

    def judge(self, before: State, action: int) -> Verdict:
        """What a move did to the distance to mate."""
        assert isinstance(before, EndgamesState)
        solution = exact.solve(before)
        was, got = solution.dtm, solution.moves[action]
        name, best = before.action_name(action), before.action_name(solution.best_moves[0])

        def moves(plies: int) -> str:
            count = (abs(plies) + 1) // 2
            return f"{count} move{'s' if count > 1 else ''}"

        if was is not None and was > 0:
            if got is None or got < 0:
                now = "a draw" if got is None else "lost"
                text = f"{name} threw the win away: it was mate in {moves(was)} with {best}, now it is {now}."
                return Verdict("bad", text)
            if got > was:
                return Verdict("slower", f"{name} still wins, in {moves(got)}; {best} mates in {moves(was)}.")
            return Verdict("good", f"{name} is best: mate in {moves(got)}." if got > 1 else f"{name} mates.")
        if was is None:
            if got is None:
                return Verdict("good", f"{name} holds the draw.")
            return Verdict("bad", f"{name} loses, in {moves(got)}; {best} was a draw.")
        if got is not None and got > was:
            return Verdict("slower", f"{name} is mated in {moves(got)}; {best} lasts {moves(was)}.")
        return Verdict("good", f"{name} lasts as long as possible: {moves(was)}.")


class QLearningAgent(Agent):
    """Plays the move of greatest Q-value in the positions that a learner met; in others it looks one move ahead, at the
    area of the lone king and the distance of the kings, as a learner with a potential does at first.

    `path` is a `q-table-strong.npz` or `q-table-weak.npz` of `rookery train endgames q-learning`, or a run's folder.
    Without it the shipped values are used: `rookery train endgames perfect` learned them from all positions of KQK, KRK
    and KBBK as starts, so that the agent plays these endgames perfectly, with either side.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.tables = [] if path is None else [LearnedTable.load(file) for file in q_tables(path)]
        self.shipped = path is None

    def met(self, state: EndgamesState) -> dict[int, float] | None:
        """The learned values, or None in a position that no learner met."""
        if self.shipped and state.material in SHIPPED and not state.ending:
            return dict(_shipped(state.material).values(state))
        for table in self.tables:
            values = table.values(state)
            if values is not None and values.keys() == set(state.legal_actions()):
                return values
        return None

    def values(self, state: State) -> dict[int, float]:
        assert isinstance(state, EndgamesState)
        learned = self.met(state)
        if learned is not None:
            return learned
        return {action: promise(state, action) for action in state.legal_actions()}

    def explain(self, state: State) -> Explanation:
        assert isinstance(state, EndgamesState)
        values = self.values(state)
        ranked = sorted(values, key=lambda action: (-values[action], action))
        distances = exact.solve(state).moves
        reasons = [f"Q {values[action]:.6g}: {describe(state, action, distances[action])}" for action in ranked]
        if self.met(state) is None:
            reasons.insert(0, "never met in training: judged by the lone king's area and the distance of the kings")
        cells = state.action_cells(ranked[0])
        return Explanation(state, ranked[0], values, reasons, Overlay(arrows=[(cells[0], cells[1])], values=values))


SHIPPED = ("KQK", "KRK", "KBBK")
"""Endgames whose learned values ship."""


@functools.cache
def _shipped(material: str) -> Any:
    """The values of an endgame that ship; loaded when they are first needed."""
    return perfect.load(MODELS / f"q-learning-{material}.npz")[1]


def q_tables(path: Path) -> list[Path]:
    """The files of Q-tables in a folder, or the file itself."""
    found = sorted(path.rglob("q-table-*.npz")) if path.is_dir() else [path]
    if not found:
        raise ValueError(f"there is no Q-table in {path}; `rookery train endgames q-learning` writes them")
    return found


class PerfectAgent(Agent):
    """Plays by the values that `perfect` learned: the discount to the power of the moves to mate after the first."""

    def __init__(self, material: str, learned: Any) -> None:
        self.material, self.learned = material, learned

    def values(self, state: State) -> dict[int, float]:
        assert isinstance(state, EndgamesState)
        if state.material != self.material:
            raise ValueError(f"the learner knows {self.material}, and not {state.material}")
        return dict(self.learned.values(state))


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
