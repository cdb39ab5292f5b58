"""What Prior State Voting sees of checkers: the board around a move, and its symmetries.

>>> from rookery.games.checkers.rules import Checkers, encode_action
>>> from rookery.learn.voting import PriorStateVoting
>>> voting = PriorStateVoting(view_of)
>>> voting.learn(Checkers().parse_state("B:W16:B11"), encode_action([11, 20]), q=1.0)
>>> voting.score(Checkers().parse_state("B:W6:B1"), encode_action([1, 10]))  # Figure 2 of the paper: 4 x 6 of 64 cells
Score(mean=0.375, votes=1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import cast

import numpy as np

from rookery.game import State
from rookery.games.checkers.rules import CheckersState, decode_action
from rookery.learn.voting import View


def _place(square: int) -> tuple[int, int]:
    row, place = divmod(square - 1, 4)
    return row, 2 * place + (row % 2 == 0)


Pattern = tuple[int, tuple[tuple[int, int], ...], tuple[bool, ...]]
"""The side to move, the displacements, and which of the captured pieces are kings."""


def view_of(state: State, action: int) -> View:
    """Checkers: light squares count as empty; equivalent are steps with the same displacement, and captures with the
    same jumps over the same kinds of pieces."""
    assert isinstance(state, CheckersState)
    cells = np.zeros((8, 8), np.int8)
    kings = set(state.kings)
    for colour, squares in enumerate((state.black, state.white)):
        for square in squares:
            cells[_place(square)] = 1 + 2 * colour + (square in kings)
    path, captured = decode_action(action)
    places = [_place(square) for square in path]
    moves = tuple((there[0] - here[0], there[1] - here[1]) for here, there in pairwise(places))
    pattern: Pattern = (state.side, moves, tuple(square in kings for square in captured))
    return View(cells, places[0], pattern)


def rotation(view: View) -> View:
    """Half a turn with colours exchanged: the same game seen by the other side."""
    rows, columns = view.cells.shape
    exchanged = np.array([0, 3, 4, 1, 2], np.int8)[view.cells[::-1, ::-1]]
    side, moves, kinds = cast(Pattern, view.pattern)
    back = tuple((-down, -right) for down, right in moves)
    return View(exchanged, (rows - 1 - view.anchor[0], columns - 1 - view.anchor[1]), (1 - side, back, kinds))


def mirror(view: View) -> View:
    """Left and right exchanged. Dark squares come where light ones were, which the shift sets right."""
    side, moves, kinds = cast(Pattern, view.pattern)
    mirrored = tuple((down, -right) for down, right in moves)
    anchor = (view.anchor[0], view.cells.shape[1] - 1 - view.anchor[1])
    return View(view.cells[:, ::-1], anchor, (side, mirrored, kinds))


SYMMETRIES: Sequence[Callable[[View], View]] = (
    lambda view: view,
    rotation,
    mirror,
    lambda view: mirror(rotation(view)),
)
"""By the numbers that the native code gives them; it uses the first 1, 2 or 4."""
