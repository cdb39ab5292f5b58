"""Searches for a solution of a Solitaire Chess position, which differ in how many positions they enter.

>>> import rookery
>>> state = rookery.load("solitaire-chess").parse_state(".RN./B.P./..../....")
>>> found = search(state)
>>> found.states, [state.action_name(move) for move in (found.moves or [])[:1]]
(12, ['Rb4xc4'])
>>> search(state, prune=True).states
5
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rookery import _native
from rookery._native import Control
from rookery._native.solitaire_chess import CaptureRanker
from rookery.games.solitaire_chess.rules import SolitaireChessState

Method = Literal["dfs", "dfs-tt", "best-first"]
"""Depth first; depth first that enters no position twice; best first."""

Order = Literal["paper", "centre"] | CaptureRanker
"""The order of captures: as the paper's backtracking does, towards the centre, or as a ranker says."""


@dataclass(frozen=True)
class Found:
    """What a search found and what it took."""

    moves: list[int] | None
    """The captures that leave one piece; None if there are none, or if the search gave up."""
    states: int
    """Positions entered, the first one included. A search that never went wrong enters one per piece."""
    finished: bool
    """Whether the answer is certain; False if the search gave up at its limit."""
    tree: list[tuple[int, int]]
    """The first positions entered, in order: the place of the one before in this list (-1 at the root), and the
    capture that led here."""
    looked_at: int
    """Positions one capture ahead that the ranker was asked about to rank the captures; they are not entered."""


def search(
    state: SolitaireChessState,
    method: Method = "dfs",
    order: Order = "paper",
    prune: bool = False,
    max_states: int = 10_000_000,
    max_tree: int = 0,
    control: Control | None = None,
    look_ahead: bool = True,
) -> Found:
    """Look for one solution.

    `prune` leaves out positions that are plainly dead: two squares that nothing could ever leave, pieces in two groups
    that could never meet, fewer captures left than pieces to take. `max_states` is where the search gives up,
    `max_tree` how many positions to keep for a drawing. `control.done` counts positions entered. With
    `look_ahead` a ranker's score is the mean of what it says about a capture and about the best one after it.
    """
    if method not in ("dfs", "dfs-tt", "best-first"):
        raise ValueError(f"unknown search {method!r}; known searches: dfs, dfs-tt, best-first")
    if max_states < 1:
        raise ValueError(f"max_states must be at least 1, and is {max_states}")
    name, ranker = (order, None) if isinstance(order, str) else ("ranked", order)
    return Found(
        *_native.solitaire_chess.search(state, name, ranker, method, prune, look_ahead, max_states, max_tree, control)
    )


def plainly_dead(state: SolitaireChessState) -> bool:
    """Whether the quick tests of `prune` show that the position cannot be solved. False says nothing."""
    return bool(_native.solitaire_chess.plainly_dead(state))
