"""Backtracking and best-first search: one player, no chance, and any agent to rank the moves.

Both searches look for the line with the greatest return. `backtracking` goes depth first: it tries the moves in the
ranker's order and takes a move back when everything after it has been tried (the first paper puts its net inside such
a search). `best_first` always goes on from the position that is least at odds with the ranker: a move costs as many
points as there are moves ranked above it, and the least sum comes first; of several, the greatest return so far, then
the deepest. A ranker that is wrong once near the start then costs little, where backtracking has to try everything
below that move. Without a ranker the return so far decides alone: where moves cost points, the first line is the best.

A position is entered again only with a greater return so far. The search ends when it has found the game's
`best_return`, when nothing is left to try, or at its limit.

>>> import rookery
>>> game = rookery.load("solitaire-chess")
>>> found = backtracking(game.initial_state())
>>> found.score, found.states, found.backtracks
(1.0, 158, 151)
>>> best_first(game.initial_state(), rookery.agent("dqn", game)).backtracks
11
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from rookery.agents import Agent, Explanation
from rookery.game import CHANCE, TERMINAL, Overlay, State, play_out
from rookery.search.agents import Plan, plan_of

Order = Literal["backtracking", "best-first"]

NODES = 10_000
"""Positions to enter at most, if nothing else is said."""
SECONDS = 10.0
"""Seconds to search at most, if nothing else is said."""


@dataclass(frozen=True)
class Found:
    """What a search found and what it took."""

    actions: list[int] | None
    """The best line to an end of the game; None if the search met no end before its limit."""
    score: float | None
    """The return at that end."""
    states: int
    """Positions entered, the first one included. A search that never went wrong enters those of its line."""
    finished: bool
    """Whether no line is better: the score is the game's best return, or everything has been tried."""

    @property
    def backtracks(self) -> int:
        """Positions entered that are not on the line."""
        return self.states - 1 - len(self.actions or ())


@dataclass(frozen=True)
class _Node:
    """A position that was entered, and how."""

    state: State
    parent: _Node | None
    action: int
    depth: int
    earned: float
    """Rewards since the start of the search."""

    def line(self) -> list[int]:
        actions, node = [], self
        while node.parent is not None:
            actions.append(node.action)
            node = node.parent
        return actions[::-1]


def backtracking(state: State, ranker: Agent | None = None, nodes: int = NODES, seconds: float = SECONDS) -> Found:
    """Search depth first, in the order of the ranker's values; without a ranker in the order of the legal actions.

    `nodes` and `seconds` are where the search gives up; 0 seconds mean no limit.
    """
    waiting: list[tuple[_Node, int]] = []

    def push(node: _Node, _: int, ranked: list[tuple[int, int]]) -> None:
        waiting.extend((node, action) for _, action in reversed(ranked))

    def pop() -> tuple[_Node, int, int] | None:
        return (*waiting.pop(), 0) if waiting else None

    return _search(state, ranker, nodes, seconds, push, pop)


def best_first(state: State, ranker: Agent | None = None, nodes: int = NODES, seconds: float = SECONDS) -> Found:
    """Search on from the position whose moves the ranker puts in front, by the sum of their ranks.

    `nodes` and `seconds` are where the search gives up; 0 seconds mean no limit.
    """
    waiting: list[tuple[int, float, int, int, _Node, int]] = []
    pushed = itertools.count()

    def push(node: _Node, cost: int, ranked: list[tuple[int, int]]) -> None:
        for rank, action in ranked:
            heapq.heappush(waiting, (cost + rank, -node.earned, -node.depth, next(pushed), node, action))

    def pop() -> tuple[_Node, int, int] | None:
        if not waiting:
            return None
        cost, *_, node, action = heapq.heappop(waiting)
        return node, action, cost

    return _search(state, ranker, nodes, seconds, push, pop)


def _search(
    start: State,
    ranker: Agent | None,
    nodes: int,
    seconds: float,
    push: Callable[[_Node, int, list[tuple[int, int]]], None],
    pop: Callable[[], tuple[_Node, int, int] | None],
) -> Found:
    """Enter positions in the order in which `pop` gives moves, and hand the ranked moves of each to `push`."""
    game = start.game
    if game.players != 1:
        raise ValueError(f"this search is for one player, and {game.name} has {game.players}")
    goal = math.inf if game.best_return is None else game.best_return
    end = time.monotonic() + (seconds or math.inf)
    node, cost = _Node(start.clone(), None, -1, 0, 0.0), 0
    reached = {start.key(): 0.0}
    best, score, states = None, -math.inf, 0
    while True:
        states += 1
        player = node.state.player()
        if player == CHANCE:
            raise ValueError(f"this search needs a game without chance, and {game.name} has it")
        if player == TERMINAL:
            if node.state.returns()[0] > score:
                best, score = node, node.state.returns()[0]
        else:
            push(node, cost, ranks(node.state, ranker))
        following = None if score >= goal else _next(pop, reached, game.history_matters)
        if following is None or states == nodes or time.monotonic() > end:
            line = None if best is None else best.line()
            return Found(line, None if best is None else score, states, following is None)
        node, cost = following


def _next(
    pop: Callable[[], tuple[_Node, int, int] | None], reached: dict[bytes, float], history_matters: bool
) -> tuple[_Node, int] | None:
    """The next position to enter, with the sum of the ranks on the way to it; None if nothing is left."""
    while (popped := pop()) is not None:
        parent, action, cost = popped
        state = parent.state.clone()
        state.apply(action)
        earned = parent.earned + state.rewards()[0]
        if not history_matters:
            key = state.key()
            if earned <= reached.get(key, -math.inf):
                continue
            reached[key] = earned
        return _Node(state, parent, action, parent.depth + 1, earned), cost
    return None


def ranks(state: State, ranker: Agent | None) -> list[tuple[int, int]]:
    """The legal actions, those of greatest value first, each with the number of actions that are valued above it."""
    if ranker is None:
        return [(0, action) for action in state.legal_actions()]
    values = ranker.values(state)
    actions = sorted(values, key=lambda action: -values[action])
    ranked: list[tuple[int, int]] = []
    for place, action in enumerate(actions):
        tied = place > 0 and values[action] == values[actions[place - 1]]
        ranked.append((ranked[-1][0] if tied else place, action))
    return ranked


class LineAgent(Agent):
    """Backtracking or best-first search: searches once and plays the line it found; off the line it searches again.

    A move is worth the best return found after it. Where the search met no end of the game the ranker decides.
    """

    def __init__(self, order: Order, ranker: Agent | None = None, nodes: int = NODES, seconds: float = SECONDS) -> None:
        self.order, self.ranker, self.nodes, self.seconds = order, ranker, nodes, seconds
        self.plan: Plan = {}
        self.found: Found | None = None
        """The last search that the plan comes from."""

    def search(self, state: State, share: int = 1) -> Found:
        """Search from a position, with a share of the limits."""
        function = backtracking if self.order == "backtracking" else best_first
        return function(state, self.ranker, max(1, self.nodes // share), self.seconds / share)

    def _know(self, state: State) -> None:
        """Make sure that the position is on the plan, if a search can put it there."""
        if state.key() not in self.plan:
            self.found = self.search(state)
            self.plan = plan_of(state, self.found.actions or (), self.found.score or 0.0)

    def _line(self, state: State) -> Iterator[int]:
        state = state.clone()
        while state.key() in self.plan:
            yield self.plan[state.key()][0]
            state.apply(self.plan[state.key()][0])

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        self._know(state)
        if state.key() in self.plan:
            return self.plan[state.key()][0]
        return ranks(state, self.ranker)[0][1]

    def values(self, state: State) -> dict[int, float]:
        """The best return found after every move. One after which no end was met counts as the worst of the others."""
        self._know(state)
        actions = state.legal_actions()
        scores = {}
        for action in actions:
            after = state.clone()
            after.apply(action)
            found = self.search(after, len(actions)).score
            if found is not None:
                scores[action] = found
        if state.key() in self.plan:
            action, score = self.plan[state.key()]
            scores[action] = max(scores.get(action, score), score)
        worst = min(scores.values(), default=0.0)
        return {action: scores.get(action, worst) for action in actions}

    def explain(self, state: State) -> Explanation:
        values, action = self.values(state), self.choose(state)
        found = self.found
        assert found is not None
        took = f"{found.states} positions entered, {found.backtracks} of them taken back"
        if state.key() in self.plan:
            names = play_out(state, self._line(state))[1]
            sure = "nothing is better" if found.finished else "a longer search may find more"
            reasons = [
                f"the line {' '.join(names)} ends with {self.plan[state.key()][1]:g}, and {sure}",
                f"the search that found it: {took}",
            ]
        else:
            reasons = [f"no line to an end of the game was found ({took}); the move is the ranker's"]
        others = sorted(values, key=lambda a: -values[a])[:5]
        reasons += [f"after {state.action_name(a)} the best return found is {values[a]:g}" for a in others]
        return Explanation(state, action, values, reasons, Overlay(values=values))
