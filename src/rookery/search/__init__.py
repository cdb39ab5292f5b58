"""Looking ahead: searches that work on every game, native or written in Python.

>>> import rookery
>>> perft(rookery.load("tenten", "3x3-three").initial_state(), 2)  # 3 pieces, on 9, 6 and 6 places
21
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rookery._native import Control
from rookery.game import State, native


def perft(state: State, depth: int, control: Control | None = None) -> int:
    """The number of action sequences of the given length; chance outcomes count as actions."""
    nodes: int = native(state).perft(depth, control)
    return nodes


@dataclass(frozen=True)
class SearchedMove:
    """One move of the root and what the search found out about it."""

    action: int
    value: float
    """The value for the player to move at the root."""
    visits: int


def mcts(
    state: State, simulations: int = 1000, exploration: float = 1.0, seed: int = 0, control: Control | None = None
) -> list[SearchedMove]:
    """Monte Carlo tree search (UCT) with random playouts, for one or two players, with or without chance.

    Play the move with the most visits. Returns are scaled by the range seen during the search, so `exploration` means
    the same in every game. The same seed gives the same result.
    """
    rows = native(state).mcts(simulations, exploration, seed, control)
    return [SearchedMove(action, value, visits) for action, visits, value in rows]


def minimax(state: State, depth: int, control: Control | None = None) -> list[SearchedMove]:
    """Alpha-beta to a fixed depth, for games without chance; positions at the horizon count 0 unless the game has an
    evaluation. Every root move gets its exact value, not a bound."""
    rows, _ = native(state).minimax(depth, control)
    return [SearchedMove(action, value, 1) for action, value in rows]


@dataclass(frozen=True)
class SearchRun:
    """The best game that one run of a search for one player found."""

    run: int
    """Run i of a seed is always the same, on any number of threads."""
    score: float
    actions: list[int]
    playouts: int
    cpu_seconds: float


OnBest = Callable[[int, float, list[int]], None]
"""Called with run, score and actions of every game that is better than all before it, while the search runs."""

ALPHA = 0.5
"""Step size of one adaptation of NRPA. The usual 1 finds less in the long puzzles that this was tuned on."""


def nrpa(
    state: State,
    level: int = 3,
    iterations: int = 100,
    alpha: float = ALPHA,
    beam: int = 1,
    runs: int = 1,
    seed: int = 0,
    threads: int = 0,
    control: Control | None = None,
    on_best: OnBest | None = None,
) -> list[SearchRun]:
    """Nested Rollout Policy Adaptation, for any game of one player: independent runs, spread over the threads.

    A run of level n makes `iterations`**n playouts. `beam` is the number of policies kept at every level above the
    first. A stopped search, by `control` or Ctrl-C, returns what it has.

    >>> import rookery
    >>> [found] = nrpa(rookery.load("morpion", "4D").initial_state(), level=1, seed=1)
    >>> found.playouts, found.score > 24
    (100, True)
    """
    rows = native(state).nrpa(level, iterations, alpha, beam, runs, seed, threads, control, on_best)
    return [SearchRun(*row) for row in rows]


def nmcs(
    state: State,
    level: int = 2,
    runs: int = 1,
    seed: int = 0,
    threads: int = 0,
    control: Control | None = None,
    on_best: OnBest | None = None,
) -> list[SearchRun]:
    """Nested Monte Carlo Search, for any game of one player: every move is tried by a search one level lower."""
    rows = native(state).nmcs(level, runs, seed, threads, control, on_best)
    return [SearchRun(*row) for row in rows]
