"""Solitaire Chess solved: one position by walking its captures, and every 4x4 board by enumeration.

>>> import rookery
>>> state = rookery.load("solitaire-chess").parse_state("R.../.B../..N./P...")
>>> capture_tree(state)
CaptureTree(finals=('Nb3',), solutions=1, nodes=15, distinct_states=13)
>>> for move in solve(state).moves or []:
...     print(state.action_name(move))
...     state.apply(move)
Ra4xa1
Nc2xa1
Na1xb3
>>> enumeration = enumerate_boards(3)
>>> layer = enumeration.layer(3)
>>> layer.boards, round(layer.solvable / layer.boards, 3), round(layer.unique / layer.boards, 3)
(100800, 0.401, 0.201)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery._native import Control
from rookery.games.solitaire_chess.rules import KINDS, PIECE_SET, SolitaireChessState


@dataclass(frozen=True)
class FirstSolution:
    """What a depth-first search for one solution found."""

    moves: list[int] | None
    """The captures that leave one piece, or None if nothing does."""
    states: int
    """Positions entered, the first one included."""

    @property
    def solvable(self) -> bool:
        return self.moves is not None


def solve(state: SolitaireChessState, control: Control | None = None) -> FirstSolution:
    """A solution of one position, or the certainty that there is none. `control.done` counts positions entered."""
    return FirstSolution(*_native.solitaire_chess.solve(state, control))


@dataclass(frozen=True)
class CaptureTree:
    """All that the captures from one position lead to. Counts of 2**64 - 1 mean that or more."""

    finals: tuple[str, ...]
    """The pieces that can be left, with their squares, such as `Ka4`; none if the position cannot be solved."""
    solutions: int
    """Sequences of captures that leave one piece."""
    nodes: int
    """Nodes of the tree of all sequences, the position itself included."""
    distinct_states: int
    """Different positions among these nodes."""

    @property
    def saturated(self) -> bool:
        """Whether `nodes` or `solutions` are only lower bounds, because they do not fit in 64 bits."""
        return max(self.nodes, self.solutions) == 2**64 - 1


def capture_tree(
    state: SolitaireChessState, max_states: int = 5_000_000, control: Control | None = None
) -> CaptureTree:
    """Walk the whole tree of one position; RuntimeError if it has more than `max_states` different positions.

    `control.done` counts these.
    """
    finals, solutions, nodes, distinct = _native.solitaire_chess.capture_tree(state, max_states, control)
    names = tuple(KINDS[kind] + state.game.cell_name(cell) for kind, cell in finals)
    return CaptureTree(names, solutions, nodes, distinct)


UNSOLVABLE = 0
SEVERAL_FINALS = 255


class Layer(Protocol):
    """All 4x4 boards with a given number of pieces of the set K, Q, 2R, 2B, 2N, 2P."""

    @property
    def pieces(self) -> int: ...

    @property
    def boards(self) -> int: ...

    @property
    def solvable(self) -> int:
        """Boards that can be solved."""
        raise NotImplementedError

    @property
    def unique(self) -> int:
        """Boards that can be solved with one possible final piece and square only."""
        raise NotImplementedError

    @property
    def values(self) -> npt.NDArray[np.uint8]:
        """One byte per board, `[boards]`: `UNSOLVABLE`, `SEVERAL_FINALS`, or 1 + 16 * kind + cell of the only possible
        final piece. Read only."""
        raise NotImplementedError

    def index(self, kinds: Sequence[int]) -> int:
        """The place in `values` of the board with these kinds on its 16 cells, as `SolitaireChessState.kinds` has
        them."""
        raise NotImplementedError

    def board(self, index: int) -> list[int]:
        """The inverse of `index`."""
        raise NotImplementedError


@dataclass(frozen=True)
class Answer:
    """What the enumeration knows of a board."""

    solvable: bool
    final: str | None
    """The only piece that can be left, with its square; None if there are several or none."""


@dataclass(frozen=True)
class Enumeration:
    """Every board of the 4x4 game with up to the given number of pieces, solved."""

    layers: tuple[Layer, ...]
    """Boards with 1, 2, 3 ... pieces."""

    def layer(self, pieces: int) -> Layer:
        if not 1 <= pieces <= len(self.layers):
            raise ValueError(f"boards with 1 to {len(self.layers)} pieces were enumerated, not {pieces}")
        return self.layers[pieces - 1]

    def lookup(self, state: SolitaireChessState) -> Answer:
        """The answer for a position of the 4x4 game, without searching.

        >>> import rookery
        >>> state = rookery.load("solitaire-chess").parse_state("..../.K../..../.R..")
        >>> enumerate_boards(2).lookup(state)
        Answer(solvable=False, final=None)
        """
        game = state.game
        if (game.rows, game.columns, game.max_captures, game.king_last) != (4, 4, 0, True):
            raise ValueError("the enumeration is of 4x4 boards with unlimited captures and the king last")
        layer = self.layer(state.pieces)
        value = int(layer.values[layer.index(state.kinds)])
        if value in (UNSOLVABLE, SEVERAL_FINALS):
            return Answer(value != UNSOLVABLE, None)
        kind, cell = divmod(value - 1, 16)
        return Answer(True, KINDS[kind] + game.cell_name(cell))


def enumerate_boards(max_pieces: int = 6, threads: int = 0, control: Control | None = None) -> Enumeration:
    """Solve every 4x4 board with up to `max_pieces` pieces of the set K, Q, 2R, 2B, 2N, 2P.

    One byte per board: 0.14 GB in all for 6 pieces, 0.7 GB for 7, 2.3 GB for 8, 4.9 GB for 9, 6.7 GB for all 10.
    `threads` 0 means all cores; the result does not depend on it. `control.done` counts boards; if it is stopped, the
    layers finished so far come back.
    """
    if not 1 <= max_pieces <= len(PIECE_SET):
        raise ValueError(f"boards have 1 to {len(PIECE_SET)} pieces, not {max_pieces}")
    control = control or Control()
    layers: list[_native.solitaire_chess.Layer] = [_native.solitaire_chess.single_pieces()]
    while len(layers) < max_pieces:
        layer = _native.solitaire_chess.next_layer(layers[-1], threads, control)
        if control.stopped:
            break
        layers.append(layer)
    return Enumeration(tuple(layers))
