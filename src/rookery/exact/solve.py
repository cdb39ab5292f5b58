"""The exact solution of any game whose reachable positions fit in memory.

Every position that can be reached is listed with its moves; then the values are computed, as what each player still
earns with best play. `native/exact/solve.hpp` does it, and says how: one pass from the ends where no position can come
back, retrograde analysis for two players, the best end and the shortest way to it for one, and value iteration between
proven bounds where there is chance. Where a game in Python has its rules on arrays too, `layers.py` does it.

>>> import rookery
>>> start = rookery.load("solitaire-chess").parse_state("R.P./..N./...P/...N")
>>> solved = solve_game(start)
>>> solved.value(start), solved.distance(start)  # it can be solved, in four captures
(1.0, 4)

A position is its `State.key`. What is not part of the key (move counters, repetitions) does not count: where play could
go on for ever, a game for two is drawn.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery._native import Control
from rookery.exact import layers
from rookery.exact.layers import Layers
from rookery.files import cache_folder, replacing
from rookery.game import CHANCE, TERMINAL, Game, State, native

POSITIONS = 100_000_000
"""Positions at most, if nothing else is said."""
PRECISION = 1e-6
"""How far proven bounds may lie apart where there is chance, relative to values above 1."""


class SolvedGame:
    """The value of every position that can be reached from a start.

    A game that has a faster way to solve itself writes a subclass with `of`, `look`, `__len__`, `error`, `statistics`,
    `save` and `load` of its own, and names it as the `form` of its method `oracle`.
    """

    def __init__(self, table: _native.Solved | Layers) -> None:
        self.table = table
        low, high = table.low, table.high
        self.values: npt.NDArray[np.floating] = (low + high) / 2 if len(high) else low
        """What player 0 still earns in each position."""

    def __len__(self) -> int:
        return len(self.table)

    def __contains__(self, state: State) -> bool:
        return self.look(state) is not None

    @classmethod
    def of(
        cls, start: State, positions: int, most_bytes: int, precision: float, discount: float, control: Control | None
    ) -> SolvedGame:
        """Solve what can be reached from a start; `solve_game` explains the arguments and checks them."""
        rules = start.game.array_rules()
        if rules is not None and discount == 1 and start.player() >= 0:
            return SolvedGame(layers.solve_layers(start, rules, positions, most_bytes, control))
        return SolvedGame(native(start).solve_reachable(positions, most_bytes, precision, discount, control))

    def look(self, state: State) -> tuple[float, int | None] | None:
        """What player 0 still earns, and the steps to the end with best play: who wins hurries, who loses delays.

        The steps are None if there need be no end, or chance decides; all is None if the state was not solved.
        """
        found = self.table.find(state) if isinstance(self.table, Layers) else self.table.find(state.key())
        if found < 0:
            return None
        steps = int(self.table.distance[found])
        return float(self.values[found]), None if steps < 0 else steps

    def _found(self, state: State) -> tuple[float, int | None]:
        found = self.look(state)
        if found is None:
            raise ValueError(f"{state} cannot be reached from the start that was solved")
        return found

    def value(self, state: State) -> float:
        """What the player to move still earns, or player 0 where nobody is to move."""
        value, _ = self._found(state)
        return -value if state.player() == 1 else value + 0.0

    def distance(self, state: State) -> int | None:
        """Steps to the end, as `look` gives them."""
        return self._found(state)[1]

    def moves(self, state: State) -> dict[int, tuple[float, int | None]]:
        """What every legal move is worth to the player to move, with the steps to the end from here."""
        sign = -1.0 if state.player() == 1 else 1.0
        found = {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            value, steps = self._found(after)
            worth = sign * (after.rewards()[0] + value)
            found[action] = worth + 0.0, None if steps is None else steps + 1
        return found

    def best_moves(self, state: State) -> list[int]:
        """The moves of greatest worth; of these the quickest if they win, the slowest if they lose."""
        moves = self.moves(state)
        if not moves:
            return []
        top = max(worth for worth, _ in moves.values())
        best = {a: preference(*move) for a, move in moves.items() if move[0] >= top - self.error}
        quickest = max(rank for _, rank in best.values())
        return [action for action, (_, rank) in best.items() if rank == quickest]

    @property
    def error(self) -> float:
        """The widest gap between the bounds of a value; 0 where values are exact."""
        return float(self.table.error)

    def statistics(self) -> Statistics:
        """Positions, and for a game for two how they are won."""
        players, values = self.table.player, self.values
        to_move = players >= 0
        sign = np.where(players == 1, -1.0, 1.0)
        mine = (sign * values)[to_move]
        two = self.table.players == 2
        distance = self.table.distance[to_move]
        won = mine > 0
        return Statistics(
            positions=len(self),
            ends=int((players == TERMINAL).sum()),
            chances=int((players == CHANCE).sum()),
            moves=int(self.table.moves),
            won=int(won.sum()) if two else None,
            drawn=int((mine == 0).sum()) if two else None,
            lost=int((mine < 0).sum()) if two else None,
            longest=int(distance[won].max()) if won.any() and distance[won].max() > 0 else None,
            bytes=int(self.table.memory),
            error=self.error,
        )

    def save(self, file: IO[bytes]) -> None:
        """Write the table for `load`."""
        if isinstance(self.table, Layers):
            np.savez(file, allow_pickle=False, **self.table.arrays())
            return
        text, ends = self.table.keys()
        np.savez_compressed(
            file, players=np.array(self.table.players), moves=np.array(self.table.moves, np.uint64),
            text=np.frombuffer(text, np.uint8), ends=ends, player=self.table.player, low=self.table.low,
            high=self.table.high, distance=self.table.distance,
        )  # fmt: skip

    @classmethod
    def load(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> SolvedGame:
        """What `save` wrote."""
        a = arrays
        if "numbers" in a:
            return SolvedGame(Layers.load(a))
        table = _native.Solved(
            int(a["players"]), int(a["moves"]), a["text"].tobytes(), a["ends"], a["player"], a["low"], a["high"],
            a["distance"],
        )  # fmt: skip
        return SolvedGame(table)


def read(file: Path | IO[bytes], form: type[SolvedGame] = SolvedGame) -> SolvedGame:
    """Read a file that the `save` of a form wrote; ValueError if it is anything else."""
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return form.load(arrays)
    except Exception as error:  # numpy and zipfile raise a dozen kinds for damaged data
        raise ValueError(f"this is no solved game, or it is damaged: {error}") from None


def preference(worth: float, steps: int | None) -> tuple[float, float]:
    """Larger is better: worth first, then a quick win or a slow loss."""
    return worth, 0.0 if steps is None else float(steps if worth < 0 else -steps)


@dataclass(frozen=True)
class Statistics:
    """What is in a solved game."""

    positions: int
    ends: int
    chances: int
    """Positions in which chance decides."""
    moves: int
    won: int | None
    """Positions that the player to move wins; None in games for one player."""
    drawn: int | None
    lost: int | None
    longest: int | None
    """Steps of the longest win."""
    bytes: int
    """Memory that solving took; 0 if it came from a file."""
    error: float


def memory() -> int:
    """Bytes that solving may take if nothing else is said: half of what is free."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):
        return 2 << 30


def solve_game(
    start: State,
    *,
    positions: int = POSITIONS,
    most_bytes: int | None = None,
    precision: float = PRECISION,
    discount: float = 1.0,
    control: Control | None = None,
    form: type[SolvedGame] = SolvedGame,
) -> SolvedGame:
    """Solve everything that can be reached from a position; ValueError says why that cannot be done.

    `positions` and `most_bytes` bound the work. `control.done` counts the positions met. `form` is a game's own way to
    do it.
    """
    if not 0 < precision <= 1:
        raise ValueError(f"the precision must be above 0 and at most 1, not {precision:g}")
    if not 0 < discount <= 1:
        raise ValueError(f"the discount must be above 0 and at most 1, not {discount:g}")
    if positions < 1:
        raise ValueError(f"the number of positions must be at least 1, not {positions}")
    solved = form.of(start, positions, memory() if most_bytes is None else most_bytes, precision, discount, control)
    if control is not None and control.stopped:
        raise KeyboardInterrupt
    return solved


# Solved games are kept


def _file(game: Game) -> Path | None:
    """Where the solution of a game is kept; the name changes when the file that defines the game does. None for a game
    that no file defines, as in a notebook."""
    kind = type(game)
    source = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if source is None or not Path(source).is_file():
        return None
    options = sorted(game.options.items())
    what = f"{kind.__qualname__} {options!r} {version('rookery')}\n".encode() + Path(source).read_bytes()
    return cache_folder() / "solved" / f"{game.name}-{hashlib.sha256(what).hexdigest()[:24]}.npz"


_KEPT: dict[Game, SolvedGame] = {}


def keep(game: Game, solved: SolvedGame) -> None:
    """Keep the solution of a game from its initial position, for `kept`. What cannot be written is only remembered."""
    _KEPT[game] = solved
    if file := _file(game):
        try:
            with replacing(file) as out:
                solved.save(out)
        except OSError as error:
            print(f"rookery: the solution of {game.name} could not be kept: {error}", file=sys.stderr)


def is_kept(game: Game) -> bool:
    """Whether there is a solution of a game that `kept` can read; it may take long to read."""
    file = _file(game)
    return game in _KEPT or (file is not None and file.is_file())


def kept(game: Game, form: type[SolvedGame] = SolvedGame) -> SolvedGame | None:
    """The solution of a game that was kept, in the form it was solved in; None if there is none, it is damaged, or the
    game has changed since."""
    if game not in _KEPT:
        file = _file(game)
        if file is None or not file.is_file():
            return None
        try:
            _KEPT[game] = read(file, form)
        except ValueError as error:
            print(f"rookery: {file} will be made again: {error}", file=sys.stderr)
            return None
    return _KEPT[game]
