"""Checkers with up to four pieces, solved: who wins, and in how many plies, in every position.

>>> from rookery.games.checkers.rules import Checkers
>>> state = Checkers().parse_state("B:W6:BK2,K11")
>>> solution = solve(state)
>>> solution.outcome, [state.action_name(move) for move in solution.best_moves]
(Outcome(value='win', plies=1), ['2x9'])

The tables are made by retrograde analysis in a few seconds when they are first asked for, and kept in a folder for
caches (`rookery.files.cache_folder`). Five and six pieces are solved on request and kept in compressed files, one per
material, that are mapped into memory; `native/games/checkers/packed.hpp` says how. Outcomes look at the position alone:
they know nothing of repetitions and counters; a draw is where nobody can force a win.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rookery import _native
from rookery._native import Control
from rookery.files import cache_folder, read_cache, replacing, write_cache
from rookery.game import State
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.progress import available_memory, watching
from rookery.statistics import wilson_interval

PIECES = 4
"""Pieces of both sides together, unless more are asked for; these lie in memory whole."""
MOST_PIECES = 6

_DRAWN: int = _native.checkers.Database.DRAWN


@dataclass(frozen=True)
class Outcome:
    """How a game ends for one side if both play perfectly."""

    value: Literal["win", "draw", "loss"]
    plies: int | None
    """Plies until the loser cannot move, the winner hurrying and the loser delaying; None for a draw."""

    @property
    def preference(self) -> int:
        """The greater, the better: fast wins, slow wins, draws, slow losses, fast losses."""
        if self.plies is None:
            return 0
        return 1000 - self.plies if self.value == "win" else self.plies - 1000


def _outcome(plies: int) -> Outcome:
    if plies == _DRAWN:
        return Outcome("draw", None)
    return Outcome("win" if plies % 2 else "loss", plies)


@dataclass(frozen=True)
class Outlook:
    """The exact truth about one position."""

    outcome: Outcome
    """The outcome for the side to move."""
    moves: dict[int, Outcome]
    """Every legal move with its outcome, for the side that moves and counted from before the move."""
    best_moves: list[int]


class Database:
    """All positions of up to `pieces` pieces."""

    def __init__(self, native: Any) -> None:
        self.native = native
        """What native code takes: `rookery::checkers::Database`."""
        self.pieces: int = native.pieces

    def covers(self, state: CheckersState) -> bool:
        return bool(self.native.covers(state))

    def outcome(self, state: CheckersState) -> Outcome:
        self._check(state)
        return _outcome(self.native.plies(state))

    def solve(self, state: CheckersState) -> Outlook:
        """The draw rules of the state's variant do not count: a move is judged by the position it leads to."""
        self._check(state)
        moves = {
            action: _outcome(plies if plies == _DRAWN else plies + 1) for action, plies in self.native.moves(state)
        }
        top = max((outcome.preference for outcome in moves.values()), default=0)
        best = [action for action, outcome in moves.items() if outcome.preference == top]
        return Outlook(self.outcome(state), moves, best)

    def _check(self, state: CheckersState) -> None:
        if not self.covers(state):
            pieces = len(state.black) + len(state.white)
            raise ValueError(f"positions of up to {self.pieces} pieces are solved, and this one has {pieces}: {state}")

    def counts(self) -> dict[str, tuple[int, int, int, int]]:
        """Wins, draws and losses of the side to move and the longest distance, by material: "2K v 1K+1".

        The material of the side to move comes first. Colours do not matter, so this is every position once.
        """
        return {
            f"{_side(kings, men)} v {_side(other_kings, other_men)}": self.native.counts(place)
            for place, (men, kings, other_men, other_kings, _, _) in enumerate(self.native.materials)
        }

    def random_position(self, game: Checkers, pieces: int, rng: random.Random) -> CheckersState:
        """A position drawn uniformly from those of exactly `pieces` pieces, both sides on the board."""
        if not 2 <= pieces <= self.pieces:
            raise ValueError(f"there are 2 to {self.pieces} pieces, not {pieces}")
        ranges = [(first, size) for *material, first, size in self.native.materials if sum(material) == pieces]
        begin, end = ranges[0][0], ranges[-1][0] + ranges[-1][1]
        squares = None
        while squares is None:
            squares = self.native.squares(rng.randrange(begin, end))
        black, white, kings = ([n + 1 for n in range(32) if bits >> n & 1] for bits in squares)
        if rng.random() < 0.5:
            return CheckersState(game, black, white, kings, 0)
        turned = [[33 - n for n in numbers] for numbers in (white, black, kings)]
        return CheckersState(game, turned[0], turned[1], turned[2], 1)


def _side(kings: int, men: int) -> str:
    return "+".join(filter(None, [f"{kings}K" if kings else "", str(men) if men else ""]))


def solve(state: CheckersState, pieces: int = PIECES) -> Outlook:
    """Solve a position of up to the given number of pieces."""
    return load(pieces).solve(state)


@cache
def load(pieces: int = PIECES) -> Database:
    """The solved endgames of up to the given number of pieces, from the cache or made anew."""
    _check_pieces(pieces)
    return load_packed(pieces, min(pieces, PIECES))


def _check_pieces(pieces: int) -> None:
    if not 2 <= pieces <= MOST_PIECES:
        raise ValueError(f"endgames of 2 to {MOST_PIECES} pieces can be solved, not of {pieces}")


def look_up(pieces: int = PIECES) -> Database:
    """The same for agents, which look up what is solved: more than `PIECES` would take them minutes on all cores."""
    _check_pieces(pieces)
    for number in range(PIECES + 1, pieces + 1):
        materials = sum((own + 1) * (number - own + 1) for own in range(1, number))
        if len(list(_folder(number).glob("*.bin"))) < materials:
            raise ValueError(
                f"endgames of {number} pieces are not solved yet: "
                f"`rookery solve checkers W:WK18,K23:BK1 --pieces {pieces}` solves them"
            )
    return load(pieces)


def load_packed(pieces: int, whole: int, threads: int = 0) -> Database:
    """The same, with those of more than `whole` pieces in files. What is missing is solved, a group of materials at a
    time; groups that are done stay if it is stopped."""
    name, kind = f"checkers/{whole}-pieces.bin", _native.checkers.Database
    raw = read_cache(name, "checkers endgames", kind.size_of(whole))
    if raw is None:
        raw = generate(whole, threads).table.tobytes()
        write_cache(name, "checkers endgames", raw)
    native = kind.load(pieces, raw)
    for number in range(whole + 1, pieces + 1):
        groups = [places for places in native.groups if sum(native.materials[places[0]][:4]) == number]
        missing = [places for places in groups if not all(_attach(native, place) for place in places)]
        if missing:
            _solve_groups(native, number, groups, missing, threads)
    return Database(native)


def _folder(pieces: int) -> Path:
    return cache_folder() / f"checkers/{pieces}-pieces"


def _file(native: Any, place: int) -> Path:
    men, kings, other_men, other_kings = native.materials[place][:4]
    return _folder(men + kings + other_men + other_kings) / f"{kings}K{men}-{other_kings}K{other_men}.bin"


def _attach(native: Any, place: int) -> bool:
    """Whether there is a file for the material, which is then used."""
    file = _file(native, place)
    if not file.exists():
        return False
    try:
        native.attach(place, str(file))
    except ValueError as error:
        print(f"rookery: {file} is damaged ({error}) and will be made again", file=sys.stderr)
        return False
    return True


def _solve_groups(native: Any, pieces: int, groups: list[list[int]], missing: list[list[int]], threads: int) -> None:
    """Solve the missing ones of the groups of materials of a number of pieces, and write their files."""
    materials, control = native.materials, Control()
    sizes = [sum(materials[place][5] for place in places) for places in missing]
    _check_room(pieces, materials[groups[0][0]][4] + 3 * max(sizes), sum(sizes) // 4)
    with watching(f"Solving checkers with {pieces} pieces", control, 2 * sum(sizes)):
        solver = native.unpacked(pieces, threads, control)
        for places in groups:
            if places in missing:
                contents = solver.solve_group(native.groups.index(places), threads, control)
                for place, content in zip(places, contents, strict=True):
                    with replacing(_file(native, place)) as file:
                        file.write(content)
                    native.attach(place, str(_file(native, place)))
            for place in places:
                solver.attach(place, str(_file(native, place)))


def _check_room(pieces: int, memory: int, disk: int) -> None:
    """OSError if the machine has less memory or disk space than this many bytes."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    free = {"memory": (memory, available_memory()), f"disk space in {folder}": (disk, shutil.disk_usage(folder).free)}
    for name, (need, there) in free.items():
        if there < need:
            raise OSError(
                f"solving checkers with {pieces} pieces needs {need // 10**6} MB of {name}, and there are "
                f"{there // 10**6} MB"
            )


def generate(pieces: int, threads: int = 0) -> Any:
    """Solve from nothing but the rules. `threads` 0 means all cores; the result does not depend on it."""
    kind, control = _native.checkers.Database, Control()
    with watching(f"Solving checkers with {pieces} pieces", control, 2 * kind.size_of(pieces)):
        return kind.solve(pieces, threads, control)


@dataclass(frozen=True)
class Kept:
    """How often a player's move kept what a position was worth."""

    value: Literal["win", "draw"]
    positions: int
    kept: int

    @property
    def share(self) -> float:
        return self.kept / self.positions

    @property
    def interval(self) -> tuple[float, float]:
        """95%."""
        return wilson_interval(self.kept, self.positions)


def value_kept(
    choose: Callable[[State, random.Random], int],
    value: Literal["win", "draw"],
    positions: int = 1000,
    pieces: int = PIECES,
    seed: int = 0,
) -> Kept:
    """How often a player, given by its `choose`, keeps a won game won, or a drawn one from being lost.

    Positions are drawn uniformly from those of exactly `pieces` pieces that have this value and a move that gives it
    away; in all others there is nothing to keep.

    >>> def first_move(state, rng):
    ...     return state.legal_actions()[0]
    >>> 0.2 < value_kept(first_move, "win", 200).share < 0.8
    True
    """
    solved, game = load(max(pieces, PIECES)), Checkers()
    rng = random.Random(f"{seed} {value} {pieces}")
    kept = 0
    for _ in range(positions):
        while True:
            state = solved.random_position(game, pieces, rng)
            if solved.outcome(state).value != value:
                continue
            moves = solved.solve(state).moves
            if any(outcome.value != value for outcome in moves.values()):
                break
        kept += moves[choose(state, rng)].value == value
    return Kept(value, positions, kept)
