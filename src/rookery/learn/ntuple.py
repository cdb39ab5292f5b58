"""N-tuple networks for any game on a grid, learned by temporal differences.

Every cell of the grid has a small whole number. A tuple is a set of cells; what is on them, read as one number, is an
index into the tuple's table of weights. The value of a position is the sum of one weight per tuple and per image of it:
images under the symmetries that the game names share a table. In games for two every side has tables of its own.

Only positions after a move are valued, for the player who made it: before chance acts, or before the opponent answers.
The player takes the move of greatest worth: what it earns, and the value of the position after it. Training plays
greedily, with random moves where the game has too little chance to show everything, and after every move draws the
value of the position before it towards what came out:

    V(position) += alpha * (earned by chance + discount * worth of the best next move - V(position))

The worth of the opponent's best move counts against the player. Every weight of the position takes an equal share of
the step. With a `trace` (lambda) above 0 the error also reaches the positions before it. With temporal coherence (Beal
and Smith, 1999; Jaskowski, 2017) each weight has a step size of its own, |sum of its errors| / sum of |errors|, which
is 1 while all errors point the same way and falls where they are noise.

For one player, `sweeps` may follow the games. Positions then have values of their own. Each starts at what the network
says, and more by a share (`optimism`), so that what the network undervalues is tried. A sweep plays some games by these
values, remembers the positions after all legal moves that it met, and gives every remembered position, the latest in a
game first, the value that follows from all outcomes of chance and the best moves after them.

On one thread a run is reproducible. More threads play games at the same time and share the weights without locks, so
that an update may be lost now and then and no two runs are the same.

The loop is `native/learn/ntuple.hpp`. Read from top to bottom: settings, the grid, tuples, the network, training, the
agent.

>>> import rookery
>>> game = rookery.load("tenten", "3x3-seven")
>>> network = Network(game, default_settings(game))
>>> _ = network.learn(0, 2000, seed=1)
>>> network.play(100, seed=2).mean > 300
True
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery import run as runs
from rookery.agents import Agent
from rookery.exact.solve import memory
from rookery.game import CHANCE, TERMINAL, Game, State, native
from rookery.method import check_at_least, check_shares, suggestion
from rookery.run import Row, Run, duration, settings_from

MODEL = "model.npz"
Tuples = tuple[tuple[int, ...], ...]

SETS: dict[str, str] = {
    "4x6": "0,1,2,3,4,5; 4,5,6,7,8,9; 0,1,2,4,5,6; 4,5,6,8,9,10",
    "8x6": "0,1,2,4,5,6; 1,2,5,6,9,13; 0,1,2,3,4,5; 0,1,5,6,7,10;"
    "0,1,2,5,9,10; 0,1,5,9,13,14; 0,1,5,8,9,13; 0,1,2,4,6,10",
}
"""Tuples by name, for grids of 4x4: four (Yeh and others, 2016) and eight (Matsuzaki, 2016) of six cells."""


@dataclass(frozen=True)
class Settings:
    games: int = duration(100_000)
    """Games to train for."""
    minutes: float = duration(0.0)
    """Stop after this many minutes of training, if the games are not over before; 0 means no limit."""
    tuples: str = ""
    """The cells of every tuple, such as "0,1,2; 3,4,5", or the name of a set; chosen by the grid's size if empty."""
    table_bits: int = 24
    """A table has at most 2^N weights: a tuple with more contents shares them by hashing."""
    symmetries: bool = True
    """Whether images under the symmetries that the game names share their weights."""
    most_cell: int = 0
    """The greatest number on a cell: greater ones count as this one; 0 means as the game has it."""
    alpha: float = 1.0
    """Learning rate: the share of an error that is corrected at once."""
    coherence: bool = True
    """Temporal coherence: a step size for every weight. It takes three numbers per weight instead of one."""
    first_value: float = 0.0
    """Value of every position before learning. A value above what is possible makes the player try everything."""
    every_outcome: bool = False
    """Learn from every outcome of chance, weighted by its probability, instead of the one drawn: slower, but without
    its noise."""
    discount: float = 1.0
    """What comes a move later counts less; 1 counts everything the same."""
    trace: float = 0.0
    """Lambda: how much of an error reaches the position one move before."""
    trace_length: int = 5
    """Positions that an error reaches, if the trace is above 0."""
    epsilon: float = 0.0
    """Share of random moves in the first game."""
    last_epsilon: float = 0.0
    """Share of random moves in the last game; in between it changes evenly."""
    starts: Literal["initial", "random"] = "initial"
    """Where games begin: in the initial position, or in a random start of the game."""
    sweeps: int = 0
    """Sweeps over positions that are remembered one by one, after the games; for one player."""
    sweep_games: int = 2000
    """Games before every sweep, in which positions are met."""
    optimism: float = 0.3
    """By what share of its value a position that is not remembered looks better while there are sweeps."""
    positions: int = 5_000_000
    """Positions that are remembered at most."""
    threads: int = duration(1)
    """Games that are played at the same time; 0 means one per core. Only one thread is reproducible."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "games", "trace_length", "table_bits", "sweep_games", "positions")
        if self.table_bits > 32:
            raise ValueError(f"table_bits must be at most 32, and is {self.table_bits}")
        check_at_least(self, 0, "minutes", "most_cell", "threads", "sweeps", "optimism")
        check_shares(self, "alpha", "discount", "trace", "epsilon", "last_epsilon")

    def native(self) -> _native.TupleSettings:
        length = self.trace_length if self.trace > 0 else 1
        return _native.TupleSettings(
            self.alpha, self.discount, self.trace, length, self.epsilon, self.last_epsilon, self.every_outcome
        )  # fmt: skip


PRESETS = {name: Settings(games=1_000_000, tuples=name, threads=0) for name in SETS}


HOPE = 5.0
"""What unknown positions are worth at first, in a game for one player: this times the best of 200 random games."""


def default_settings(game: Game) -> Settings:
    """For one player, unknown positions look much better than the best of some random games, so that they are tried.
    Chance shows a player everything; without it he needs random moves."""
    first_value = max(0.0, HOPE * float(game.random_games(200, threads=1).returns.max())) if game.players == 1 else 0.0
    epsilon, last_epsilon = (0.0, 0.0) if game.has_chance() else (1.0, 0.1)
    return Settings(first_value=first_value, epsilon=epsilon, last_epsilon=last_epsilon)


# The grid


@dataclass(frozen=True)
class CellNumbers:
    """How the number on a cell comes about.

    A native game may say it itself. Else it is a code of the observation planes that are not 0 there: planes that never
    tell two cells apart, such as whose turn it is, are left out; 0 is for none, then follows every plane alone, then
    what else was met in random games. Anything else has the last code.
    """

    planes: tuple[int, ...]
    """The planes that are looked at."""
    patterns: tuple[int, ...]
    """Which of them are not 0, as bits, for the numbers 1, 2, ..."""
    most: int
    """The greatest number."""

    @property
    def bits(self) -> int:
        return self.most.bit_length()

    def native(self) -> _native.CellView:
        return _native.CellView(list(self.planes), list(self.patterns), self.most)


def cell_numbers(game: Game, most: int = 0) -> CellNumbers:
    """The numbers on the cells of a game; `most` bounds them unless it is 0."""
    if native(game.initial_state()).has_cells():
        greatest = int(game.rules.most_cell)  # type: ignore[attr-defined]
        return CellNumbers((), (), min(greatest, most or greatest))
    seen = np.stack(list(_sampled(game)))
    flat = seen.reshape(*seen.shape[:2], -1) != 0
    planes = np.flatnonzero((flat != flat[:, :, :1]).any(axis=(0, 2)))
    bits = 1 << np.arange(len(planes), dtype=np.uint64)
    met = np.unique(np.tensordot(flat[:, planes].astype(np.uint64), bits, axes=(1, 0))).tolist()
    alone = bits.tolist()
    patterns = alone + [pattern for pattern in met if pattern not in (0, *alone)]
    greatest = len(patterns) + (len(patterns) < 2 ** len(planes) - 1)  # one number for all else
    return CellNumbers(tuple(planes.tolist()), tuple(patterns[:255]), max(1, min(greatest, most or 255, 255)))


SAMPLED = 1000
"""Positions after a move, from random games, that are looked at for what may be on a cell."""


def _sampled(game: Game) -> Iterator[npt.NDArray[np.float32]]:
    rng = random.Random(0)
    seen = 0
    while seen < SAMPLED:
        state: Any = game.random_start(rng)
        for _ in range(200):
            if state.player() == TERMINAL:
                break
            chance = state.player() == CHANCE
            outcomes = state.chance_outcomes() if chance else []
            moves = [outcome for outcome, _ in outcomes] or state.legal_actions()
            state.apply(rng.choices(moves, [p for _, p in outcomes] or None)[0])
            seen += 1
            if not chance:
                yield state.observation()


# Tuples

WEIGHTS = 70_000_000
"""Weights that lines and rectangles may have, on all sides together, if they are chosen by the size of the grid."""
PLACES = 5000
"""Tuples that there may be then."""
WHOLE_BITS = 40
"""Grids of at most 2^N contents have a tuple of all cells, hashed if its table would be too large."""


def default_tuples(game: Game, bits: int, symmetries: Sequence[Sequence[int]], table_bits: int = 24) -> Tuples:
    """The whole grid where a table can hold it. Else straight lines, and rectangles that are nearly square, on every
    place, as large as the weights allow, and on small grids the whole grid beside them. Of tuples that are images of
    each other there is one."""
    rows, columns = game.observation_shape[1:]
    whole = tuple(range(rows * columns))
    if bits * len(whole) <= table_bits:
        return (whole,)
    for cells in range(max(1, min(24, table_bits) // bits), 0, -1):
        side = min(rows, columns, int(cells**0.5))
        longer = cells // side
        shapes = {(side, min(longer, columns)), (min(longer, rows), side)}
        shapes |= {(1, min(cells, columns)), (min(cells, rows), 1)}
        found = {min(_images(tuple_, symmetries)) for shape in shapes for tuple_ in _places(rows, columns, *shape)}
        found |= {min(_images(t, symmetries)) for t in _diagonals(rows, columns, min(cells, rows, columns))}
        weights = sum(2 ** (bits * len(tuple_)) for tuple_ in found) * game.players
        if weights <= WEIGHTS and len(found) <= PLACES:
            break
    chosen = sorted(found, key=lambda tuple_: (-len(tuple_), tuple_))
    return tuple(chosen + ([whole] if bits * len(whole) <= WHOLE_BITS else []))


def _images(cells: tuple[int, ...], symmetries: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    return [tuple(sorted(symmetry[cell] for cell in cells)) for symmetry in symmetries]


def _places(rows: int, columns: int, height: int, width: int) -> Iterator[tuple[int, ...]]:
    for row in range(rows - height + 1):
        for column in range(columns - width + 1):
            yield tuple((row + r) * columns + column + c for r in range(height) for c in range(width))


def _diagonals(rows: int, columns: int, length: int) -> Iterator[tuple[int, ...]]:
    for row in range(rows - length + 1):
        for column in range(columns - length + 1):
            first = row * columns + column
            yield tuple(first + i * (columns + 1) for i in range(length))
            yield tuple(first + length - 1 + i * (columns - 1) for i in range(length))


def parse_tuples(text: str, rows: int, columns: int) -> Tuples:
    """Read "0,1,2; 3,4,5", or the name of a set of tuples.

    >>> parse_tuples("2,1; 0,3", 2, 2)
    ((1, 2), (0, 3))
    """
    if text in SETS:
        if (rows, columns) != (4, 4):
            raise ValueError(f"the tuples {text} are for a grid of 4x4, not of {rows}x{columns}")
        text = SETS[text]
    try:
        tuples = tuple(tuple(sorted({int(cell) for cell in part.split(",")})) for part in text.split(";"))
    except ValueError:
        raise ValueError(
            f"tuples are cells such as '0,1,2; 3,4,5', not {text[:40]!r}{suggestion(text, SETS, 'sets')}"
        ) from None
    if bad := [cell for tuple_ in tuples for cell in tuple_ if not 0 <= cell < rows * columns]:
        raise ValueError(f"cells are numbered from 0 to {rows * columns - 1}, and a tuple has {bad[0]}")
    return tuples


def misfit(game: Game) -> str | None:
    """Why a game has no grid to lay tuples on; None if it has one."""
    shape = game.observation_shape
    if len(shape) != 3 or shape[1] * shape[2] < 2:
        return "needs a board of rows and columns"
    return "needs at most 64 planes" if shape[0] > 64 else None


# The network


@dataclass(frozen=True)
class Played:
    """Games of a network."""

    games: int
    mean: float
    """The mean return of the first player."""
    error: float
    """Standard error of the mean."""
    best: float
    moves: int


class Network:
    """The weights, and games played with them."""

    def __init__(
        self, game: Game, settings: Settings, numbers: CellNumbers | None = None, *, learns: bool = True
    ) -> None:
        """`numbers` are found out if they are not given. Without `learns` there is no temporal coherence."""
        if reason := misfit(game):
            raise ValueError(f"ntuple does not fit {game.name}: it {reason}")
        if settings.sweeps and game.players != 1:
            raise ValueError(f"sweeps are for one player, and {game.name} has {game.players}")
        rows, columns = game.observation_shape[1:]
        self.game, self.settings = game, settings
        self.numbers = cell_numbers(game, settings.most_cell) if numbers is None else numbers
        symmetries: list[Sequence[int]] = [range(rows * columns)]
        if settings.symmetries:
            symmetries += [symmetry.cells for symmetry in game.symmetries() if symmetry.planes is None]
        bits = self.numbers.bits
        self.tuples = (
            parse_tuples(settings.tuples, rows, columns) if settings.tuples
            else default_tuples(game, bits, symmetries, settings.table_bits)
        )  # fmt: skip
        weights = sum(2 ** min(bits * len(cells), settings.table_bits) for cells in self.tuples) * game.players
        coherent = settings.coherence and learns
        self.bytes = weights * (12 if coherent else 4)
        if self.bytes > 2 * memory():
            raise ValueError(
                f"the tuples have {weights:,} weights, which take {self.bytes / 1e9:.1f} GB, and "
                f"{2 * memory() / 1e9:.1f} GB are free: choose fewer or smaller tuples"
            )
        self.native = _native.TupleNet(
            rows * columns, bits, game.players, list(map(list, self.tuples)), list(map(list, symmetries)), coherent,
            settings.first_value, settings.table_bits,
        )  # fmt: skip
        self._view = self.numbers.native()
        self._first: Any = native(game.initial_state())

    def cells(self, state: State) -> npt.NDArray[np.uint8]:
        """The numbers on the cells of a position, `[rows, columns]`."""
        return np.asarray(native(state, self._first).ntuple_cells(self._view))

    def values(self, state: State, depth: int = 0) -> dict[int, float]:
        """What every legal move is worth to the player to move, looking `depth` moves further ahead."""
        found = native(state, self._first).ntuple_values(self.native, self._view, self.settings.native(), depth)
        return dict(zip(state.legal_actions(), found, strict=True))

    def learn(
        self, first: int, end: int, seed: int, seconds: float = 0.0, control: _native.Control | None = None
    ) -> _native.TupleTraining:
        """Play games `first` to `end` - 1 of `settings.games` and learn from them.

        Ctrl-C, `control` and `seconds`, if they are not 0, stop it after a game.
        """
        starts = [self._first]
        if self.settings.starts == "random":
            states = [self.game.random_start(np.random.default_rng((seed, game))) for game in range(first, end)]
            starts = [native(state, self._first) for state in states]
        return self._play(starts, self.settings, first, end, seed, seconds, control)

    def play(self, games: int, seed: int, threads: int = 1) -> Played:
        """Play games from the initial position without random moves and without learning."""
        still = replace(self.settings, alpha=0.0, epsilon=0.0, last_epsilon=0.0, threads=threads)
        played = self._play([self._first], still, 0, games, seed, 0.0, None)
        mean = played.returns / played.games
        spread = max(0.0, played.squares / played.games - mean**2)
        return Played(played.games, mean, (spread / played.games) ** 0.5, played.best, played.moves)

    def _play(
        self, starts: list[Any], settings: Settings, first: int, end: int, seed: int, seconds: float,
        control: _native.Control | None,
    ) -> _native.TupleTraining:  # fmt: skip
        played: _native.TupleTraining = type(self._first).ntuple_learn(
            starts, self.native, self._view, settings.native(), first, end, settings.games, seed, settings.threads,
            seconds, control,
        )  # fmt: skip
        return played

    def sweep(self, seed: int, control: _native.Control | None = None) -> Iterator[_native.TupleTraining]:
        """Play `settings.sweep_games` games and sweep over all positions that were met so far, `settings.sweeps` times.

        Yields what the games before each sweep earned. The result does not depend on the number of threads.
        """
        settings = self.settings
        self.native.set_optimism(settings.optimism)
        sweeper = type(self._first).TupleSweeper(
            self._first, self.native, self._view, settings.native(), settings.positions, settings.threads
        )
        for first in range(0, settings.sweeps * settings.sweep_games, settings.sweep_games):
            played = sweeper.explore(self._first, first, first + settings.sweep_games, seed, control)
            sweeper.sweep(control)
            yield played
        self.native.set_optimism(0.0)

    def arrays(self, everything: bool = True) -> dict[str, npt.NDArray[Any]]:
        """The weights that were learned and where they are; with `everything` what temporal coherence needs, too.
        Positions that are remembered have keys and values."""
        known, weights = self.native.arrays(everything)
        found: dict[str, npt.NDArray[Any]] = {"known": np.asarray(known), "weights": np.asarray(weights)}
        if self.native.remembered:
            keys, values = self.native.positions()
            found |= {"keys": np.asarray(keys), "key_values": np.asarray(values)}
        return found

    def restore(self, arrays: runs.Arrays) -> None:
        """Take the weights of `arrays`, and the positions that are remembered."""
        self.native.restore(arrays["known"], arrays["weights"])
        if "keys" in arrays:
            self.native.remember(arrays["keys"], arrays["key_values"])

    def save(self, path: Path | str, kind: str, **info: Any) -> None:
        """Write the network without what only learning needs; whole or not at all."""
        about = {"kind": kind, "settings": asdict(self.settings), "numbers": asdict(self.numbers), **info}
        runs.save_model(path, about, self.arrays(everything=False))


def load(game: Game, path: Path | str) -> Network:
    """A network that training wrote."""
    info, arrays = runs.load_arrays(path, f"{game.name} ntuple")
    try:
        numbers = settings_from(
            CellNumbers, info["numbers"] | {n: tuple(info["numbers"][n]) for n in ("planes", "patterns")}
        )
        network = Network(game, settings_from(Settings, info["settings"]), numbers, learns=False)
        network.restore(arrays)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} does not hold a network for {game.name}: {error}") from None
    return network


# Training

PARTS = 100
"""Rows of metrics in a whole training, at least."""
ROW_SECONDS = 15.0
"""A row of metrics comes at least as often, if games are short."""
CHECKPOINT_SECONDS = 60.0
"""Checkpoints are written no more often; large ones less often, so that they take at most a twentieth of the time."""


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Train in parts. A stopped training resumes from its last checkpoint; one that was stopped while it swept sweeps
    again from the first sweep."""
    network = Network(game, settings)
    saved = run.restore()
    last: Row = run.rows[-1] if run.rows else {"games": 0, "minutes": 0.0}
    done, minutes = int(last["games"]), float(last["minutes"])
    part = max(1, settings.games // PARTS)
    next_save = time.monotonic() + CHECKPOINT_SECONDS
    control = _native.Control()

    games_part = 0.5 if settings.sweeps else 1.0
    """The share of games in the whole progress."""

    def share() -> float:
        """How many of the games are played, 0 to 1."""
        return min(1.0, max(done / settings.games, minutes / settings.minutes if settings.minutes else 0.0))

    if saved is not None:
        if share() < 1:  # the sweeps come after all games
            saved.pop("keys", None)
        network.restore(saved)
    while share() < 1:
        begin = time.perf_counter()
        left = 60 * (settings.minutes - minutes) if settings.minutes else ROW_SECONDS
        end = min(settings.games, done - done % part + part)
        played = network.learn(done, end, run.seed, max(1e-3, min(ROW_SECONDS, left)), control)
        seconds = time.perf_counter() - begin
        done, minutes = done + played.games, minutes + seconds / 60
        progress = games_part * share()
        row: Row = {"games": done, "mean_return": played.returns / max(played.games, 1)}
        if game.players == 2:
            row |= dict(zip(("first_won", "drawn", "second_won"), played.results, strict=True))
        elif played.games:
            row["best_return"] = played.best
        row |= {
            "mean_moves": played.moves / max(played.games, 1), "moves_per_second": round(played.moves / seconds),
            "megabytes": round(network.bytes / 1e6, 1), "minutes": minutes, "progress": progress,
        }  # fmt: skip
        if control.stopped or share() >= 1 or time.monotonic() > next_save:
            begin = time.monotonic()
            network.save(run.folder / MODEL, run.kind, games=done, seed=run.seed)
            run.save(row, network.arrays())
            next_save = time.monotonic() + max(CHECKPOINT_SECONDS, 20 * (time.monotonic() - begin))
        else:
            run.add(row)
        if control.stopped:
            raise KeyboardInterrupt
        yield row

    if settings.sweeps and not network.native.remembered:
        yield from _sweep(network, run, done, minutes, control)


def _sweep(network: Network, run: Run, done: int, minutes: float, control: _native.Control) -> Iterator[Row]:
    """The sweeps of a training, whose games are done."""
    settings = network.settings
    begin, next_save = time.perf_counter(), time.monotonic() + CHECKPOINT_SECONDS
    for number, played in enumerate(network.sweep(run.seed, control), start=1):
        if control.stopped:
            raise KeyboardInterrupt
        row: Row = {
            "games": done, "mean_return": played.returns / played.games, "best_return": played.best,
            "mean_moves": played.moves / played.games, "sweeps": number, "positions": network.native.remembered,
            "minutes": minutes + (time.perf_counter() - begin) / 60,
            "progress": 0.5 + 0.5 * number / settings.sweeps,
        }  # fmt: skip
        last = number == settings.sweeps
        if last or time.monotonic() > next_save:
            network.save(run.folder / MODEL, run.kind, games=done, sweeps=number, seed=run.seed)
            next_save = time.monotonic() + CHECKPOINT_SECONDS
        if last:
            run.save(row, network.arrays())
        else:
            run.add(row)
        yield row


class NTupleAgent(Agent):
    """Plays the move after which the network likes the position best, and looks ahead if it is told to."""

    def __init__(self, network: Network, depth: int = 0) -> None:
        self.network, self.depth = network, depth

    def values(self, state: State) -> dict[int, float]:
        return self.network.values(state, self.depth)
