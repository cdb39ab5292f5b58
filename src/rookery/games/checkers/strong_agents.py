"""The strong players of checkers: search with a learned evaluation, the rungs of the ladder, the solved endgames."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

from rookery import _native
from rookery.agent import Agent, Explanation
from rookery.game import Game, Overlay, State
from rookery.games.checkers import td as checkers_td
from rookery.games.checkers.database import Endgames, Outcome, endgames
from rookery.games.checkers.rules import CheckersState
from rookery.games.checkers.search import DECIDED, SCALE, Player

DEPTH = 9
"""Plies that `best` and `td` look ahead."""


class SearchAgent(Agent):
    """Alpha-beta to a fixed depth, captures followed to their end, ties broken at random.

    A move is worth what the search expects of the game: 1 or -1 for a decided one, less a thousandth for every ply
    until its end, and between -0.7 and 0.7 for all others, so that nothing undecided looks better than a win.

    >>> import rookery
    >>> from rookery import agents
    >>> game = rookery.load("checkers")
    >>> state = game.parse_state("W:W25,K26:B21")
    >>> agents.load("ladder:depth=5", game).explain(state).reasons[:2]
    ['26-30 wins in 1 ply', 'expected line: 26-30']
    """

    def __init__(self, value: Any, depth: int, solved: Endgames | None) -> None:
        """`value` None is the ladder's evaluation, `solved` None a search that knows no endgames."""
        self.player = Player(depth, value, solved.native if solved else None)
        self.player.native()  # refuses a bad depth
        if depth < 1:
            raise ValueError(f"the depth must be at least 1, and is {depth}")
        self.depth, self.solved = depth, solved
        self.search: Any = _native.checkers.Search(value, self.player.endgames)

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        return int(rng.choice(self.search.best(state, self.depth))[0])

    def values(self, state: State) -> dict[int, float]:
        return {action: self.worth(score) for action, score in self.search.values(state, self.depth)}

    def plies(self, score: int) -> int | None:
        """How far ahead the game is decided, if the search saw that."""
        ahead = DECIDED + self.depth - abs(score)
        return ahead if abs(score) > DECIDED / 2 and ahead >= 0 else None

    def worth(self, score: int) -> float:
        ahead = self.plies(score)
        return 0.7 * math.tanh(score / SCALE / 2) if ahead is None else math.copysign(1 - ahead / 1000, score)

    def line(self, state: State, action: int) -> list[str]:
        """The principal line: the moves that both sides would play after this one, as far as the search sees."""
        state, names = state.clone(), []
        for depth in range(self.depth, 0, -1):
            names.append(state.action_name(action))
            state.apply(action)
            if depth == 1 or not state.legal_actions():
                break
            action = self.search.best(state, depth - 1)[0][0]
        return names

    def explain(self, state: State) -> Explanation:
        scores = dict(self.search.values(state, self.depth))
        nodes = self.search.nodes
        ranked = sorted(scores, key=lambda action: -scores[action])
        values = {action: self.worth(score) for action, score in scores.items()}
        reasons = [f"{state.action_name(action)} {self._verdict(scores[action])}" for action in ranked[:5]]
        reasons.insert(1, f"expected line: {' '.join(self.line(state, ranked[0]))}")
        reasons.append(f"searched {self.depth} plies and captures: {nodes:,} positions")
        cells = state.action_cells(ranked[0])
        arrows = list(pairwise(cells))
        return Explanation(ranked[0], values, reasons, Overlay(arrows=arrows, values=values))

    def _verdict(self, score: int) -> str:
        ahead = self.plies(score)
        if ahead is not None:
            return f"{'wins' if score > 0 else 'loses'} in {ahead} {'ply' if ahead == 1 else 'plies'}"
        if self.solved and score == 0:
            return "is even, or a proven draw"
        return f"is worth {self.worth(score):+.3f}"


class OracleAgent(Agent):
    """Perfect play in positions of few pieces: the fastest win, else a draw, else the slowest loss.

    A move is worth 1 less a thousandth for every ply to the win, 0 if it draws, -1 plus a thousandth for every ply if
    it loses. Positions with more pieces are refused.
    """

    def __init__(self, pieces: int) -> None:
        self.solved = endgames(pieces)

    def outcomes(self, state: State) -> dict[int, Outcome]:
        assert isinstance(state, CheckersState)
        return self.solved.solve(state).moves

    def values(self, state: State) -> dict[int, float]:
        return {action: outcome.preference / 1000 for action, outcome in self.outcomes(state).items()}

    def explain(self, state: State) -> Explanation:
        outcomes, values = self.outcomes(state), self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(action)} {describe(outcomes[action])}" for action in ranked]
        cells = state.action_cells(ranked[0])
        arrows = list(pairwise(cells))
        return Explanation(ranked[0], values, reasons, Overlay(arrows=arrows, values=values))


def describe(outcome: Outcome) -> str:
    if outcome.plies is None:
        return "draws"
    return (
        f"{'wins' if outcome.value == 'win' else 'loses'} in {outcome.plies} {'ply' if outcome.plies == 1 else 'plies'}"
    )


def load_td(game: Game, path: str | None = None, depth: int = DEPTH) -> Agent:
    """`td`: the learned evaluation with search and nothing else; a run's folder or a file may be named."""
    return SearchAgent(_value(path), depth, None)


def load_best(game: Game, path: str | None = None, depth: int = DEPTH) -> Agent:
    """`best`: the same with the solved endgames looked up in the search."""
    return SearchAgent(_value(path), depth, endgames())


def load_ladder(game: Game, depth: int = 3) -> Agent:
    """`ladder`: a rung of the minimax ladder, 100 a man and 130 a king."""
    return SearchAgent(None, depth, None)


def load_oracle(game: Game, pieces: int = 4) -> Agent:
    """`oracle`: the solved endgames."""
    return OracleAgent(pieces)


def _value(path: str | None) -> Any:
    if path is None:
        return checkers_td.load()
    file = Path(path)
    return checkers_td.load(file / "model.npz" if file.is_dir() else file)
