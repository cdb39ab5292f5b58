"""Chess endgames solved: the exact distance to mate in every position of king and one or two pieces against king.

>>> import rookery
>>> game = rookery.load("endgames", "KRK")
>>> state = game.parse_state("8/8/8/4k3/8/8/8/R3K3 w - - 0 1")
>>> table = tables("KRK")
>>> table.dtm(state)  # plies: White mates on its 14th move
27
>>> [state.action_name(move) for move in table.best_moves(state)]
['Ke2', 'Ra5+']

A table is made on demand in seconds and kept in a folder for caches: `$ROOKERY_CACHE` if set, else `rookery` in
`$XDG_CACHE_HOME` or `~/.cache`. Distances look at the position alone: they know nothing of repetitions and of the
fifty-move rule (no mate here takes that long).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery._native import Control
from rookery.files import read_cache, write_cache
from rookery.games.endgames.rules import STARTS, Endgames, EndgamesState, decode_action
from rookery.progress import watching

MATERIALS = tuple(STARTS)
"""The endgames with a name of their own; every other one of one or two pieces works too."""

DRAW: int = _native.endgames.DRAW
"""How `DistanceTable.dtm_many` writes a draw."""
ILLEGAL: int = _native.endgames.ILLEGAL
"""How `DistanceTable.dtm_many` writes what is no legal position of the table's endgame or of one that it leads to."""

_DRAWN = ("KK", "KBK", "KNK")


@dataclass(frozen=True)
class SideStatistics:
    """All legal positions with one side to move, every placement on the board counted."""

    positions: int
    decided: int
    """Positions in which the strong side mates."""
    drawn: int
    mated: int
    """Positions in which the side to move is mated now."""
    longest: int
    """The greatest distance, in plies."""
    mean_moves: float
    """Mean distance of the decided positions in moves of the strong side: mate in one ply is 1."""


class DistanceTable:
    """The distance to mate in every position of one endgame, whoever is to move and whichever side is strong.

    A distance ("dtm") is a number of plies, signed for the side to move: 5 means that it mates with its third move,
    -4 that it is mated by the opponent's second, 0 that it is mated now. None is a draw.
    """

    def __init__(self, material: str, native: Any) -> None:
        self.material = material
        self.native = native
        """What native code takes: `rookery::endgames::Table`."""

    def dtm(self, state: EndgamesState) -> int | None:
        """The distance to mate of a position of this endgame, or of one that a move of it leads to."""
        return _plies(self.native.distance(state))

    def dtm_many(self, keys: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
        """Distances of many positions in one native call.

        `keys` is `[n, 8]`, a row for each position as `EndgamesState.key` has it; the answer is `[n]`, with `DRAW` for
        draws and `ILLEGAL` where the eight bytes are no legal position.

        >>> state = Endgames("KQK").parse_state("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
        >>> tables("KQK").dtm_many(np.frombuffer(state.key() + bytes(8), np.uint8).reshape(2, 8)).tolist()
        [1, -32768]
        """
        found: npt.NDArray[np.int16] = self.native.distances(np.ascontiguousarray(keys))
        return found

    def moves(self, state: EndgamesState) -> dict[int, int | None]:
        """Every legal move with the distance it leads to, for the side that moves and counted from this position."""
        return {action: _plies(distance) for action, distance in self.native.moves(state)}

    def best_moves(self, state: EndgamesState) -> list[int]:
        """The moves that mate fastest, or else hold the draw (captures first), or else lose as late as possible."""
        return best(state, self.moves(state))

    @property
    def size(self) -> int:
        """Numbers of positions run from 0 to `size - 1`; some belong to no legal position."""
        return int(self.native.size)

    @property
    def strong_to_move(self) -> npt.NDArray[np.uint8]:
        """Plies to mate by number, `[size]`: 254 is a draw, 255 belongs to no legal position. Read only."""
        return np.asarray(self.native.plies(0))

    @property
    def weak_to_move(self) -> npt.NDArray[np.uint8]:
        """The same with the lone king to move."""
        return np.asarray(self.native.plies(1))

    def index(self, state: EndgamesState) -> int:
        """The number of a position. It is the same for positions that are alike: colours exchanged, board mirrored or,
        without pawns, turned. Whose turn it is does not matter."""
        return int(self.native.index(state))

    def fen(self, number: int, white_to_move: bool = True) -> str | None:
        """The position that stands for all with this number, White being strong; None if there is no legal one."""
        fen: str | None = self.native.fen(number, white_to_move)
        return fen

    def statistics(self) -> tuple[SideStatistics, SideStatistics]:
        """Counts of all positions with the strong side and with the weak side to move (White strong).

        >>> strong, weak = tables("KQK").statistics()
        >>> strong.positions, weak.positions, weak.mated, weak.drawn, strong.longest
        (144508, 223944, 364, 23048, 19)
        """
        return _statistics(self.native.histogram())


def _statistics(histogram: npt.NDArray[np.int64]) -> tuple[SideStatistics, SideStatistics]:
    def side(counts: npt.NDArray[np.int64]) -> SideStatistics:
        decided = counts[:254]
        plies = np.arange(len(decided))
        total = int(decided.sum())
        return SideStatistics(
            positions=int(counts[:255].sum()),
            decided=total,
            drawn=int(counts[254]),
            mated=int(counts[0]),
            longest=int(plies[decided > 0].max(initial=0)),
            mean_moves=float((decided * ((plies + 1) // 2)).sum() / total) if total else 0.0,
        )

    return side(histogram[0]), side(histogram[1])


def _plies(distance: int) -> int | None:
    return None if distance == DRAW else distance


def preference(dtm: int | None) -> int:
    """The greater, the better for the side that has this distance.

    >>> sorted([-4, None, 3, 1, 0, -2], key=preference)
    [0, -2, -4, None, 3, 1]
    """
    if dtm is None:
        return 0
    return 1000 - dtm if dtm > 0 else -1000 - dtm


def best(state: EndgamesState, moves: dict[int, int | None]) -> list[int]:
    """The best of the moves; of drawing ones, captures come first: they leave nothing to go wrong."""
    top = max(map(preference, moves.values()), default=0)
    found = [action for action, dtm in moves.items() if preference(dtm) == top]
    return sorted(found, key=lambda action: not is_capture(state, action)) if top == 0 else found


def is_capture(state: EndgamesState, action: int) -> bool:
    return state.letters[decode_action(action)[1]] != "."


@dataclass(frozen=True)
class Distances:
    """The exact truth about one position."""

    dtm: int | None
    """Plies to mate, signed for the side to move; 0: it is mated; None: a draw."""
    moves: dict[int, int | None]
    """Every legal move with the distance it leads to, for the side that moves and counted from before it."""
    best_moves: list[int]


def solve(state: EndgamesState) -> Distances:
    """Solve any position of the game, drawn material included.

    >>> state = Endgames("KPK").parse_state("8/8/8/8/8/1k6/p7/K7 w - - 0 1")
    >>> solve(state).dtm is None, state.ending
    (True, 'stalemate')
    """
    table = table_of(state)
    if table is None:
        moves: dict[int, int | None] = dict.fromkeys(state.legal_actions())
        return Distances(None, moves, best(state, moves))
    moves = table.moves(state)
    return Distances(table.dtm(state), moves, best(state, moves))


def start_to_practise(game: Endgames, rng: random.Random) -> EndgamesState:
    """A random position in which White, to move, wins but does not mate at once.

    Of all random positions some are drawn before they began: one in twenty of king and rook has Black to take the rook.

    >>> state = start_to_practise(Endgames("KPK"), random.Random(1))
    >>> state.player(), solve(state).dtm > 1
    (0, True)
    """
    while True:
        state = game.random_start(rng)
        if state.player() == 0 and (solve(state).dtm or 0) > 1:
            return state


def table_of(state: EndgamesState) -> DistanceTable | None:
    """The table of a position's material; None if that is always drawn."""
    return None if state.material in _DRAWN else tables(state.material)


def tables(material: str) -> DistanceTable:
    """The table of an endgame such as "KRK" or "KBNK", from the cache or made anew."""
    return _tables(Endgames(material).material)


@cache
def _tables(material: str) -> DistanceTable:
    others = [_tables(other) for other in leads_to(material)]
    name, pieces, kind = f"endgames/{material}.bin", material[1:-1], _native.endgames.Table
    size = kind.size_of(pieces)
    if (raw := read_cache(name, material, 2 * size)) is not None:
        return DistanceTable(material, kind.load(pieces, [other.native for other in others], raw[:size], raw[size:]))
    native = generate(material, others)
    write_cache(name, material, native.plies(0).tobytes() + native.plies(1).tobytes())
    return DistanceTable(material, native)


def leads_to(material: str) -> list[str]:
    """The endgames that one capture or promotion leads to, those left out that are always drawn.

    >>> leads_to("KPK"), leads_to("KBNK"), leads_to("KQRK")
    (['KQK', 'KRK'], [], ['KQK', 'KRK'])
    """
    pieces = material[1:-1]
    found = set()
    for i, piece in enumerate(pieces):
        for replacement in ("", *("QRBN" if piece == "P" else "")):
            left = sorted(pieces[:i] + replacement + pieces[i + 1 :], key="QRBNP".index)
            found.add(f"K{''.join(left)}K")
    return sorted(found - set(_DRAWN))


def generate(material: str, others: list[DistanceTable], threads: int = 0) -> Any:
    """Make the native table of an endgame from nothing but the rules and the tables of `leads_to(material)`.

    `threads` 0 means all cores; the result does not depend on it. Progress is shown on a terminal.
    """
    control = Control()
    kind = _native.endgames.Table
    with watching(f"Solving {material}", control, 2 * kind.size_of(material[1:-1])):
        return kind.generate(material[1:-1], [other.native for other in others], threads, control)
