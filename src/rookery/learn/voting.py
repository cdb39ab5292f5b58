"""Prior State Voting (Benning, 2021): values for positions that a learner never met, for any game on a grid.

Every learned position in which an equivalent action was possible votes with what it learned about that action, the more
the better the two boards match when one action is laid upon the other. What an action looks like on the board is its
`View`: the contents of all cells, the cell that is laid upon another (`anchor`), and a pattern that is the same for
equivalent actions. `grid_view` makes it from the observation and the cells of an action, so that a game has nothing to
add; one that knows better writes its own. `examples/prior_state_voting.py` plays with it.

This is the method as the paper has it, one vote after the other. A game may have a faster one that gives the
same scores.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rookery.game import State

Cells = npt.NDArray[np.integer]


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


def grid_view(state: State, action: int) -> View:
    """A view for any game on a grid: actions are equivalent if the same player makes them with the same displacements
    from cell to cell over the same contents.

    What is on a cell is which observation planes are not 0 there. The cells that `action_cells` names must be numbered
    row by row on the observation's grid; an action without cells is taken for the number of a cell if there are as many
    actions as cells. ValueError if neither holds.
    """
    planes = state.observation()
    if planes.ndim != 3:
        raise ValueError(f"voting needs a board of rows and columns, and {state.game.name} observes {planes.shape}")
    rows, columns = planes.shape[1:]
    touched = state.action_cells(action)
    if not touched and state.game.num_actions == rows * columns:
        touched = [action]
    if not touched or not all(0 <= cell < rows * columns for cell in touched):
        raise ValueError(f"voting does not know on which cells of {state.game.name} {state.action_name(action)} is")
    weights = 1 << np.arange(len(planes), dtype=np.int64)
    cells = np.tensordot(weights, (planes != 0).astype(np.int64), axes=1)
    places = [divmod(cell, columns) for cell in touched]
    moves = tuple((there[0] - here[0], there[1] - here[1]) for here, there in pairwise(places))
    return View(cells, places[0], (state.player(), moves, tuple(int(cells[place]) for place in places)))


class PriorStateVoting:
    """`view` says what an action looks like; `symmetries` are further ways to look at a learned one."""

    def __init__(
        self, view: Callable[[State, int], View] = grid_view, symmetries: Sequence[Callable[[View], View]] = ()
    ) -> None:
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
