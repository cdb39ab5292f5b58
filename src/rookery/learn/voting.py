"""Prior State Voting (Benning, 2021): values for positions that a learner never met, for any game on a grid.

Every learned position in which an equivalent action was possible votes with what it learned about that action, the more
the better the two boards match when one action is laid upon the other. What an action looks like on the board is its
`View`: the contents of all cells, the cell that is laid upon another (`anchor`), and a pattern that is the same for
equivalent actions. `grid_view` makes it from the observation and the cells of an action, so that a game has nothing to
add; one that knows better writes its own. `examples/prior_state_voting.py` plays with it.

This is the method as the paper has it. A game may have a faster one that gives the same scores.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rookery.game import Game, State, play_chance

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


Slices = tuple[slice, slice]


def _overlap(anchor: tuple[int, int], new: View) -> tuple[Slices, Slices]:
    """What two boards of one size share when the new one's anchor is laid upon this one: as part of the new board, and
    as part of the other."""
    rows, columns = new.cells.shape
    down, right = anchor[0] - new.anchor[0], anchor[1] - new.anchor[1]
    ours = slice(max(0, -down), rows - max(0, down)), slice(max(0, -right), columns - max(0, right))
    theirs = slice(max(0, down), rows + min(0, down)), slice(max(0, right), columns + min(0, right))
    return ours, theirs


def compare(prior: View, new: View) -> Cells:
    """The cells of the prior board: 1 where both boards have the same when one action lies upon the other, -1 where
    they differ, 0 where the new board does not reach."""
    result = np.zeros_like(prior.cells)
    ours, theirs = _overlap(prior.anchor, new)
    result[theirs] = np.where(new.cells[ours] == prior.cells[theirs], 1, -1)
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


def misfit(game: Game) -> str | None:
    """Why `grid_view` cannot look at a game; None if it can."""
    if len(game.observation_shape) != 3:
        return "needs a board of rows and columns"
    state = game.initial_state()
    play_chance(state, random.Random(0))
    try:
        grid_view(state, state.legal_actions()[0])
    except ValueError:
        return "needs to know the cells of a move"
    return None


class PriorStateVoting:
    """`view` says what an action looks like; `symmetries` are further ways to look at a learned one."""

    def __init__(
        self, view: Callable[[State, int], View] = grid_view, symmetries: Sequence[Callable[[View], View]] = ()
    ) -> None:
        self.view, self.symmetries = view, symmetries
        self._learned: dict[Hashable, dict[tuple[int, int], _Voters]] = {}

    def learn(self, state: State, action: int, q: float) -> None:
        """Add what was learned about an action. A value of 0 is nothing learned, and does not vote."""
        if q == 0:
            return
        seen = self.view(state, action)
        for view in (seen, *(symmetry(seen) for symmetry in self.symmetries)):
            self._learned.setdefault(view.pattern, {}).setdefault(view.anchor, _Voters()).add(view.cells, q)

    def score(self, state: State, action: int) -> Score:
        new = self.view(state, action)
        total, count = 0.0, 0
        for anchor, voters in self._learned.get(new.pattern, {}).items():
            total += voters.votes(anchor, new)
            count += len(voters)
        return Score(total / count if count else 0.0, count)

    def values(self, state: State) -> dict[int, float]:
        return {action: self.score(state, action).mean for action in state.legal_actions()}


class _Voters:
    """Learned boards that are laid upon another in the same way, and vote together."""

    def __init__(self) -> None:
        self._cells: list[Cells] = []
        self._q: list[float] = []
        self._stacked: tuple[Cells, npt.NDArray[np.float64]] | None = None

    def __len__(self) -> int:
        return len(self._q)

    def add(self, cells: Cells, q: float) -> None:
        self._cells.append(cells)
        self._q.append(q)
        self._stacked = None

    def votes(self, anchor: tuple[int, int], new: View) -> float:
        """The sum of all votes: the values, each times the share of cells that match."""
        if self._stacked is None:
            self._stacked = np.stack(self._cells), np.array(self._q)
        cells, q = self._stacked
        ours, theirs = _overlap(anchor, new)
        matching = (cells[(slice(None), *theirs)] == new.cells[ours]).sum(axis=(1, 2)) / new.cells.size
        return float(q @ matching)
