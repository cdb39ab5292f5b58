"""Prior State Voting (Benning, 2021): values for positions that a learner never met, for any game on a grid.

Every learned position in which an equivalent action was possible votes with what it learned about that action, the more
the better the two boards match when one action is laid upon the other. All that a game has to tell is what an action
looks like on the board, its `View`: the contents of all cells, the cell that is laid upon another (`anchor`), and a
pattern that is the same for equivalent actions. `examples/prior_state_voting.py` does it for a game of your own.

This is the method as the paper has it, one vote after the other. A game may have a faster one that gives the
same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rookery.game import State

Cells = npt.NDArray[np.int8]


@dataclass(frozen=True)
class View:
    """An action in a position, as voting sees it."""

    cells: Cells
    """What is on the board, `[rows, columns]`: equal numbers for equal contents."""
    anchor: tuple[int, int]
    """Row and column of the cell that is laid upon the anchor of an equivalent action."""
    pattern: Hashable
    """Equal for actions that are equivalent; whose turn it is belongs to it."""


@dataclass(frozen=True)
class Score:
    mean: float
    """0 without votes."""
    votes: int


def compare(prior: View, new: View) -> Cells:
    """The cells of the prior board: 1 where both boards have the same when one action lies upon the other, -1 where
    they differ, 0 where the new board does not reach."""
    result = np.zeros_like(prior.cells)
    rows, columns = prior.cells.shape
    down, right = (there - here for there, here in zip(prior.anchor, new.anchor, strict=True))
    ours = new.cells[max(0, -down) : rows - down, max(0, -right) : columns - right]
    theirs = prior.cells[max(0, down) : rows + down, max(0, right) : columns + right]
    result[max(0, down) : rows + down, max(0, right) : columns + right] = np.where(ours == theirs, 1, -1)
    return result


def matching_fraction(prior: View, new: View) -> float:
    """Equal cells of the overlap, over all cells of a board."""
    return float((compare(prior, new) == 1).sum() / prior.cells.size)


class PriorStateVoting:
    """`view` says what an action looks like; `symmetries` are further ways to look at a learned one."""

    def __init__(self, view: Callable[[State, int], View], symmetries: Sequence[Callable[[View], View]] = ()) -> None:
        self.view, self.symmetries = view, symmetries
        self.learned: dict[Hashable, list[tuple[View, float]]] = {}

    def learn(self, state: State, action: int, q: float) -> None:
        """Add what was learned about an action. A value of 0 is nothing learned, and does not vote."""
        if q == 0:
            return
        seen = self.view(state, action)
        for view in (seen, *(symmetry(seen) for symmetry in self.symmetries)):
            self.learned.setdefault(view.pattern, []).append((view, q))

    def score(self, state: State, action: int) -> Score:
        new = self.view(state, action)
        votes = [q * matching_fraction(prior, new) for prior, q in self.learned.get(new.pattern, ())]
        return Score(sum(votes) / len(votes) if votes else 0.0, len(votes))

    def values(self, state: State) -> dict[int, float]:
        return {action: self.score(state, action).mean for action in state.legal_actions()}
