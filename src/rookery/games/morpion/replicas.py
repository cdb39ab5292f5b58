"""Replica exchange of thousands of grids of 5T or 5D on a GPU.

Every grid is worked on by destroy and repair (`native/games/morpion/walk.hpp`) at a temperature. A ladder is one grid
at each of several temperatures, and after every round neighbours change places. Ladders are plain, or belong to
islands, which merge in pairs from time to time. Inside an island,

- the grids are turned so that they share as many lines as possible with the island's longest one;
- grids mate: a hole in one of them is repaired with the lines that a grid of another ladder has there;
- at times the ladders that have done worst are replaced by copies of the best, or begin again.

The GPU does the rounds, and this module all that happens between them. What is found depends on the seed, the settings
and the number of ladders, not on the time or the GPU.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rookery import gpu
from rookery.games.morpion.rules import STEPS, Morpion, MorpionState, Move, read
from rookery.games.morpion.search import SavedSearch
from rookery.run import load_arrays, save_arrays

MOVES = 224
"""Moves that a grid has at most: kMoves in walk.hpp."""
LOSSES = 32
"""Trials that are shorter by this much are never accepted: kLosses in walk.hpp."""
HOLES = ("box", "strip", "wedge", "mated")
"""What a trial takes out, in the order of walk.hpp."""
SIDE, CORNER = 32, 11
"""Rows and columns of the board, and the row and column of the top left cell of the square around the cross."""
CHECKPOINT_SECONDS = 20
ALIGN_ROUNDS = 100
"""Rounds between two alignments of the grids of an island."""
CHOOSING = (0.3, 3.0)
"""Temperatures at which the first and the last ladder choose the grid to cut next."""

Grids = npt.NDArray[np.uint16]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Settings:
    """What a search with replicas on a GPU does. The defaults of None depend on the variant."""

    variant: str = "5T"
    seed: int = 0
    ladders: int = 0
    """Ladders of grids; 0 for as many as the GPU works on at the same time."""
    temperatures: int = 8
    """Grids of a ladder."""
    coldest: float | None = None
    """Temperature of the first grid of a ladder; 0.5 on 5T, 0.3 on 5D."""
    hottest: float | None = None
    """Temperature of the last grid of a ladder; 1.1 on 5T, 0.51 on 5D."""
    trials: int = 2000
    """Trials of every grid in a round."""
    radius: int | None = None
    """Greatest radius of a box that is taken out; 5 on 5T, 3 on 5D."""
    strips: int = 64
    """Trials of 256 that take out a strip."""
    wedges: int = 4
    """Trials of 256 that take out a quarter or a half of the plane."""
    mating: float = 0.01
    """Share of the grids that have a partner in a round."""
    mated: int = 8
    """Trials of 256 that repair a hole with the partner's lines, in grids that have a partner."""
    remade: int = 128
    """Trials of 256 in which every line that makes a dot of the hole again counts as known."""
    weight: int = 1000
    """Weight of a known line when a game is played to its end; any other has 1."""
    plain: float = 1.0
    """Share of the ladders that have neither mating nor renewal; the others are in islands."""
    islands: int = 64
    """Groups of the other ladders that have nothing to do with each other at first."""
    merge: int = 250
    """Rounds after which islands merge in pairs, again and again until there is one; 0 for never."""
    settle: int = 400
    """Rounds before the first mating and renewal, and until a new ladder can be replaced."""
    renew: int = 150
    """Rounds between two renewals; 0 for none."""
    share: float = 0.125
    """Share of the ladders that a renewal replaces, those that have done worst since the last one."""
    fresh: float = 0.25
    """Share of the replaced ladders that begin again; the others are copies of one of the best quarter."""
    cut: int = 0
    """Rounds after which all grids of a ladder become one of its best ones with parts cut out; 0 for never."""
    least: int = 12
    """Moves that a cut takes out at least."""
    most: int = 70
    """Moves that a cut takes out at most."""

    method: ClassVar[str] = "replicas"

    def __post_init__(self) -> None:
        cold = self.variant == "5D"
        if self.variant not in ("5T", "5D"):
            raise ValueError(f"the GPU searches 5T and 5D, not {self.variant}")
        for name, default in (
            ("coldest", 0.3 if cold else 0.5),
            ("hottest", 0.51 if cold else 1.1),
            ("radius", 3 if cold else 5),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        whole = {"ladders": (0, 1_000_000), "temperatures": (1, 64), "trials": (1, 1_000_000), "radius": (0, 31)}
        whole |= dict.fromkeys(("strips", "wedges", "mated", "remade"), (0, 256)) | {"weight": (1, 1_000_000)}
        whole |= dict.fromkeys(("mating", "share", "fresh", "plain"), (0, 1)) | {"islands": (1, 1000)}
        whole |= dict.fromkeys(("settle", "renew", "merge", "cut"), (0, 1_000_000_000))
        whole |= dict.fromkeys(("least", "most"), (0, MOVES))
        for name, (low, high) in whole.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} must be {low} to {high:,}, and is {getattr(self, name)}")
        assert self.coldest is not None
        assert self.hottest is not None
        if not 0.01 <= self.coldest <= self.hottest <= 100:
            raise ValueError(
                f"the temperatures must be 0.01 to 100, coldest first, and are {self.coldest} and {self.hottest}"
            )

    @property
    def heat(self) -> npt.NDArray[np.float64]:
        """The temperatures, `[temperatures]`."""
        return np.linspace(self.coldest or 0, self.hottest or 0, self.temperatures)


class _Settings(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint32) for name in ("used", "reach", "weight", "radius", "strips", "wedges", "mated", "remade")
    ]


class _Batch(ctypes.Structure):
    _fields_ = [
        ("walkers", ctypes.c_int), ("trials", ctypes.c_int), ("seed", ctypes.c_uint64), ("settings", _Settings),
        ("grids", ctypes.c_void_p), ("best", ctypes.c_void_p), ("lengths", ctypes.c_void_p),
        ("best_lengths", ctypes.c_void_p), ("partners", ctypes.c_void_p), ("partner_lengths", ctypes.c_void_p),
        ("counters", ctypes.c_void_p), ("accept", ctypes.c_void_p), ("tallies", ctypes.c_void_p),
        ("lost", ctypes.c_void_p),
    ]  # fmt: skip


class Device:
    """The compiled program: on a GPU, or for tests on the CPU."""

    def __init__(self, on_cpu: bool = False) -> None:
        self._library = gpu.library("games/morpion/walk.cu", on_cpu)
        self._library.morpion_error.restype = ctypes.c_char_p
        self._library.morpion_walk.argtypes = [ctypes.POINTER(_Batch)]

    def capacity(self) -> int:
        """Grids that are worked on at the same time."""
        found: int = self._library.morpion_capacity()
        if found < 1:
            raise ValueError(f"the GPU cannot be used: {self._error()}")
        return found

    def _error(self) -> str:
        return str(self._library.morpion_error().decode())

    def walk(self, settings: Settings, replicas: Replicas, partners: Grids, partner_lengths: Numbers) -> Round:
        """Do one round: the trials of every grid. The arrays of the replicas are changed in place."""
        walkers = len(replicas.lengths)
        touching = settings.variant == "5T"
        chosen = _Settings(
            15 if touching else 31, 3 if touching else 4, settings.weight, settings.radius, settings.strips,
            settings.wedges, settings.mated, settings.remade,
        )  # fmt: skip
        accept = replicas.accept[replicas.heat]
        tallies = np.zeros((walkers, len(HOLES), 3), np.uint32)
        lost = np.zeros(walkers, np.uint32)
        arrays = (
            replicas.grids, replicas.best, replicas.lengths, replicas.best_lengths, partners, partner_lengths,
            replicas.counters, accept, tallies, lost,
        )  # fmt: skip
        assert all(array.flags.c_contiguous for array in arrays)
        batch = _Batch(walkers, settings.trials, settings.seed, chosen, *(array.ctypes.data for array in arrays))
        if self._library.morpion_walk(ctypes.byref(batch)):
            raise RuntimeError(f"the GPU failed: {self._error()}")
        return Round(tallies, lost)


@dataclass(frozen=True)
class Round:
    """What the GPU counted in a round."""

    tallies: npt.NDArray[np.uint32]
    """Trials, accepted ones and ones that made the grid longer, `[walkers, holes, 3]`."""
    lost: npt.NDArray[np.uint32]
    """Legal lines that did not fit into a list and were not considered, `[walkers]`."""


# Grids


def _codes(direction: Any, x: Any, y: Any, position: Any) -> Any:
    """Moves as walk.hpp numbers them, from the first cells of their lines."""
    row = np.choose(direction, [y, x, (x + y) % SIDE, (x - y) % SIDE])
    place = np.where(direction == 1, y, x)
    return direction << 13 | row << 8 | place << 3 | position


def _parts(codes: Any) -> tuple[Any, Any, Any, Any]:
    """Direction, first cell and position of the new dot of moves."""
    codes = np.asarray(codes, np.int64)
    direction, row, place, position = codes >> 13, codes >> 8 & 31, codes >> 3 & 31, codes & 7
    x = np.where(direction == 1, row, place)
    y = np.choose(direction, [row, place, (row - place) % SIDE, (place - row) % SIDE])
    return direction, x, y, position


@cache
def turned_moves() -> npt.NDArray[np.int32]:
    """Every move under the symmetries of the cross, `[8, 32768]`: bit 0 mirrors columns, bit 1 rows, then bit 2 swaps
    them; -1 for what is no move that stays on the board."""
    direction, x, y, position = _parts(np.arange(1 << 15))
    dx, dy = (np.choose(direction, [step[i] for step in STEPS]) for i in range(2))
    cells = [x, y, x + 4 * dx, y + 4 * dy]
    # The outermost rows are left out: there a diagonal ends, and in 5D its last dot counts as used.
    valid = (position < 5) & np.all([(cell > 0) & (cell < SIDE - 1) for cell in cells], axis=0)
    turned = np.full((8, 1 << 15), -1, np.int32)
    for symmetry in range(8):
        x0, y0, x1, y1 = cells
        if symmetry & 1:
            x0, x1 = SIDE - 1 - x0, SIDE - 1 - x1
        if symmetry & 2:
            y0, y1 = SIDE - 1 - y0, SIDE - 1 - y1
        if symmetry & 4:
            x0, y0, x1, y1 = y0, x0, y1, x1
        back = (x1 < x0) | ((x1 == x0) & (y1 < y0))
        x0, x1, y0, y1 = np.where(back, [x1, x0, y1, y0], [x0, x1, y0, y1])
        way = np.where(x0 == x1, 1, np.where(y0 == y1, 0, np.where(y1 < y0, 2, 3)))
        codes = _codes(way, x0, y0, np.where(back, 4 - position, position))
        turned[symmetry, valid] = codes[valid]
    return turned


def to_actions(game: Morpion, codes: Sequence[int] | Grids) -> list[int]:
    """The actions of a grid as walk.hpp has it."""
    shift = game.rules.corner - CORNER
    return [
        game.action(Move(int(direction), int(x) + shift, int(y) + shift, int(position)))
        for direction, x, y, position in zip(*_parts(codes), strict=True)
    ]


def to_codes(state: MorpionState) -> Grids:
    """The moves of a game as walk.hpp has them."""
    shift = state.game.rules.corner - CORNER
    moves = np.array([state.game.move(action) for action in state.moves], np.int64).reshape(-1, 4)
    direction, x, y, position = moves[:, 0], moves[:, 1] - shift, moves[:, 2] - shift, moves[:, 3]
    steps = np.array(STEPS)[direction]
    cells = np.stack([x, y, x + 4 * steps[:, 0], y + 4 * steps[:, 1]])
    if len(moves) > MOVES or cells.min(initial=1) < 1 or cells.max(initial=1) > SIDE - 2:
        raise ValueError(f"the GPU works on grids of at most {MOVES} moves that lie within 10 cells of the cross")
    return np.asarray(_codes(direction, x, y, position), np.uint16)


# The search


@dataclass
class Replicas:
    """The grids and where they stand."""

    grids: Grids
    """Moves, `[walkers, MOVES]`; a ladder's walkers follow each other."""
    lengths: Numbers
    best: Grids
    """The longest grid of every walker since the last renewal."""
    best_lengths: Numbers
    counters: npt.NDArray[np.uint32]
    """How many random numbers every walker has used, in 32s."""
    at: Numbers
    """The walker at every temperature, `[ladders, temperatures]`."""
    born: Numbers
    """The round in which every ladder began, `[ladders]`."""
    kept: Grids
    """The grid that every ladder was cut from, `[ladders, MOVES]`."""
    kept_lengths: Numbers
    accept: npt.NDArray[np.uint32]
    """Chances of acceptance by temperature and loss, as 32-bit numbers, `[temperatures, LOSSES]`."""

    @classmethod
    def new(cls, settings: Settings) -> Replicas:
        walkers = settings.ladders * settings.temperatures
        chances = np.exp(-np.arange(LOSSES) / settings.heat[:, None]) * 2.0**32
        return cls(
            np.zeros((walkers, MOVES), np.uint16), np.zeros(walkers, np.int32), np.zeros((walkers, MOVES), np.uint16),
            np.zeros(walkers, np.int32), np.zeros(walkers, np.uint32),
            np.arange(walkers, dtype=np.int32).reshape(settings.ladders, settings.temperatures),
            np.zeros(settings.ladders, np.int32), np.zeros((settings.ladders, MOVES), np.uint16),
            np.zeros(settings.ladders, np.int32), np.minimum(chances, 2.0**32 - 1).astype(np.uint32),
        )  # fmt: skip

    @property
    def heat(self) -> Numbers:
        """The number of every walker's temperature, `[walkers]`."""
        heat = np.empty(self.at.size, np.int32)
        heat[self.at] = np.arange(self.at.shape[1])
        return heat


def exchange(
    replicas: Replicas, heat: npt.NDArray[np.float64], first: int, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Let neighbours in temperature change places, pair by pair from the `first` temperature on; says which did,
    `[ladders, pairs]`.

    With lengths n and temperatures T of a colder and a hotter grid the chance is min(1, exp((n' - n) (1/T - 1/T'))), so
    that the distribution of lengths at a temperature stays what it would be without exchanges.
    """
    cold, hot = replicas.at[:, first:-1:2], replicas.at[:, first + 1 :: 2]
    longer = replicas.lengths[hot] - replicas.lengths[cold]
    chance = np.exp(np.minimum(longer * (1 / heat[first:-1:2] - 1 / heat[first + 1 :: 2]), 0))
    moved = rng.random(chance.shape) < chance
    cold[:], hot[:] = np.where(moved, hot, cold), np.where(moved, cold, hot)
    return moved


@cache
def cells_of_moves() -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """The cells of every move's line, `[32768, 5]`, and the one of its new dot; a cell is its row * SIDE + column."""
    direction, x, y, position = _parts(np.arange(1 << 15))
    along = np.choose(direction, [SIDE * dy + dx for dx, dy in STEPS])
    cells = ((SIDE * y + x)[:, None] + np.arange(5) * along[:, None]) % SIDE**2
    return cells.astype(np.int16), cells[np.arange(1 << 15), np.minimum(position, 4)].astype(np.int16)


def fallen(grids: Grids, lengths: Numbers, taken: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The moves of every grid that fall when some are taken out, those included; both `[grids, MOVES]`."""
    of_line, of_dot = cells_of_moves()
    rows, missing = np.arange(len(grids)), np.zeros((len(grids), SIDE**2), bool)
    falls = taken & (np.arange(MOVES) < lengths[:, None])
    for move in range(int(lengths.max(initial=0))):  # what supports a move was played before it
        codes = grids[:, move]
        falls[:, move] |= missing[rows[:, None], of_line[codes]].any(1) & (move < lengths)
        missing[rows, of_dot[codes]] |= falls[:, move]
    return falls


def cut(grids: Grids, lengths: Numbers, least: int, most: int, rng: np.random.Generator) -> None:
    """Take a box, a strip, a quarter or a half of the plane out of every grid, turned at random. A grid for which eight
    drawings bring no hole with which `least` to `most` moves fall stays as it is."""
    of_line, of_dot = cells_of_moves()
    rows = np.flatnonzero(lengths > 0)
    for _ in range(8):
        shape = (len(rows), 1)
        dots, centre = of_dot[grids[rows]], of_line[grids[rows, rng.integers(0, lengths[rows])], :1]
        right, down = dots % SIDE - centre % SIDE, dots // SIDE - centre // SIDE
        diagonal = rng.random(shape) < 0.5
        u = np.where(diagonal, right + down, right) * rng.choice([-1, 1], shape)
        v = np.where(diagonal, right - down, down) * rng.choice([-1, 1], shape)
        swapped, size = rng.random(shape) < 0.5, rng.integers(0, 7, shape)
        u, v = np.where(swapped, v, u), np.where(swapped, u, v)
        box, strip = (abs(u) <= size) & (abs(v) <= size), (u >= 0) & (abs(v) <= size)
        holes = np.choose(rng.integers(0, 4, shape), [box, strip, (u >= 0) & (v >= 0), u >= 0])
        falls = fallen(grids[rows], lengths[rows], holes)
        fits = (falls.sum(1) >= least) & (falls.sum(1) <= most)
        for row, falling in zip(rows[fits], falls[fits], strict=True):
            stays = grids[row, : lengths[row]][~falling[: lengths[row]]]
            grids[row], lengths[row] = np.pad(stays, (0, MOVES - len(stays))), len(stays)
        rows = rows[~fits]


def align(grids: Grids, lengths: Numbers) -> None:
    """Turn every grid so that it shares as many lines as possible with the longest one."""
    reference = np.zeros(1 << 12, bool)
    longest = int(lengths.argmax())
    reference[grids[longest, : lengths[longest]] >> 3] = True
    played = np.arange(MOVES) < lengths[:, None]
    shared = np.zeros((8, len(grids)), np.int32)
    for symmetry, turned in enumerate(turned_moves()):
        moves = turned[grids]
        shared[symmetry] = (reference[moves >> 3] & (moves >= 0) & played).sum(1)
        shared[symmetry, ((moves < 0) & played).any(1)] = -1
    best = shared.argmax(0)
    for symmetry in range(1, 8):
        rows = np.flatnonzero(best == symmetry)
        grids[rows] = np.where(played[rows], turned_moves()[symmetry][grids[rows]], 0)


class ReplicaSearch(SavedSearch):
    """A search with replicas. With `path` it is saved at every better game and every 20 seconds; beside what other
    searches save lies a checkpoint, `.npz`."""

    kind = "morpion search with replicas"
    settings: Settings

    def __init__(
        self,
        settings: Settings,
        path: Path | str | None = None,
        resume: bool = False,
        starts: Sequence[Path] = (),
        device: Device | None = None,
    ) -> None:
        self.device = Device() if device is None else device
        if not settings.ladders:
            ladders = max(1, self.device.capacity() // settings.temperatures)
            settings = Settings(**asdict(settings) | {"ladders": ladders})
        self.starts = [str(start) for start in starts]
        self.rounds, self.lost = 0, 0
        self.curve: list[dict[str, Any]] = []
        """How the grids stand at every checkpoint."""
        heats = settings.temperatures
        self.tallies = np.zeros((heats, len(HOLES), 3), np.int64)
        self.exchanged = np.zeros((2, max(heats - 1, 1)), np.int64)
        """Exchanges tried and made between a temperature and the next."""
        self.replicas = Replicas.new(settings)
        self.longest = np.zeros(settings.ladders, np.int32)
        """The longest grid that every ladder has had."""
        super().__init__(settings, path, resume)
        if self.path is not None and self.path.suffix == ".npz":
            raise ValueError(f"the checkpoint is written beside {path}, which is to hold what was done: call it .json")
        if self.rounds == 0:
            self._begin(starts)

    @property
    def islands(self) -> list[npt.NDArray[np.int64]]:
        """The ladders of every island, as they are in this round."""
        settings = self.settings
        ladders = np.arange(round(settings.plain * settings.ladders), settings.ladders)
        if not len(ladders):
            return []
        merges = max(0, self.rounds - settings.settle) // settings.merge if settings.merge else 0
        return np.array_split(ladders, max(1, min(settings.islands, len(ladders) // 2) >> min(merges, 10)))

    def command(self, seed: int) -> str:
        plain = Settings(self.settings.variant, seed, self.settings.ladders)
        changed = " ".join(
            f"{field.name}={getattr(self.settings, field.name)}"
            for field in fields(self.settings)
            if getattr(self.settings, field.name) != getattr(plain, field.name)
        )
        return (
            f"rookery search morpion --variant {self.settings.variant} --device gpu --ladders {self.settings.ladders} "
            f"--seed {seed}"
            + (f" --settings {changed}" if changed else "")
            + (f" --start {' '.join(self.starts)}" if self.starts else "")
            + f", round {self.rounds}"
        )

    def go(self, seconds: float, tick: Callable[[], None] = lambda: None, rounds: int | None = None) -> None:
        """Do rounds for a number of seconds, at most the given number of them; `tick` is called after every round."""
        begin, before, saved = time.monotonic(), self.seconds, time.monotonic()
        last = None if rounds is None else self.rounds + rounds
        try:
            while (last is None or self.rounds < last) and time.monotonic() - begin < seconds:
                self._round()
                self.seconds = before + time.monotonic() - begin
                longest = int(self.replicas.best_lengths.argmax())
                if self.found is None or self.replicas.best_lengths[longest] > self.found.score:
                    self._offer_grid(longest)
                    super().save()
                if time.monotonic() - saved >= CHECKPOINT_SECONDS:
                    self._look()
                    self.save()
                    saved = time.monotonic()
                tick()
        finally:
            self.seconds = before + time.monotonic() - begin
            self._look()
            self.save()

    def _round(self) -> None:
        settings, replicas = self.settings, self.replicas
        to_mate, to_exchange, to_renew = (np.random.default_rng((settings.seed, self.rounds, i)) for i in range(3))
        partners, partner_lengths = self._partners(to_mate)
        done = self.device.walk(settings, replicas, partners, partner_lengths)
        self.playouts += len(replicas.lengths) * settings.trials
        self.rounds += 1
        self.lost += int(done.lost.sum())
        self.longest = np.maximum(self.longest, replicas.best_lengths[replicas.at].max(1))
        np.add.at(self.tallies, replicas.heat, done.tallies.astype(np.int64))
        first = self.rounds % 2 if settings.temperatures > 2 else 0
        moved = exchange(replicas, settings.heat, first, to_exchange)
        self.exchanged[0, first : first + 2 * moved.shape[1] : 2] += len(moved)
        self.exchanged[1, first : first + 2 * moved.shape[1] : 2] += moved.sum(0)
        since = self.rounds - settings.settle
        if since >= 0 and self.rounds % ALIGN_ROUNDS == 0:
            for island in self.islands:
                walkers = replicas.at[island].reshape(-1)
                grids = replicas.grids[walkers]
                align(grids, replicas.lengths[walkers])
                replicas.grids[walkers] = grids
        if settings.renew and since >= 0 and self.rounds % settings.renew == 0:
            for island in self.islands:
                self._renew(island, to_renew)
            replicas.best_lengths[:] = 0
        if settings.cut and self.rounds % settings.cut == 0:
            self._cut(to_renew)

    def _cut(self, rng: np.random.Generator) -> None:
        """Let every ladder choose the grid that it was cut from, or the best one of any of its walkers since, and give
        every walker a cut of it."""
        replicas, ladders = self.replicas, np.arange(self.settings.ladders)
        lengths = np.column_stack([replicas.kept_lengths, replicas.best_lengths[replicas.at]])
        heat = np.geomspace(*CHOOSING, len(ladders))[:, None]
        chosen = (lengths + heat * rng.gumbel(size=lengths.shape)).argmax(1)  # a draw with weights exp(length / heat)
        taken = np.flatnonzero(chosen)  # not the one it was cut from
        best = replicas.at[taken, chosen[taken] - 1]
        replicas.kept[taken], replicas.kept_lengths[taken] = replicas.best[best], replicas.best_lengths[best]
        replicas.grids[replicas.at] = replicas.kept[:, None]
        replicas.lengths[replicas.at] = replicas.kept_lengths[:, None]
        cut(replicas.grids, replicas.lengths, self.settings.least, self.settings.most, rng)
        replicas.best_lengths[:] = 0

    def _partners(self, rng: np.random.Generator) -> tuple[Grids, Numbers]:
        """For some walkers a grid of another ladder of their island that is not hotter; the others have one of length
        0."""
        at, walkers = self.replicas.at, np.arange(self.replicas.at.size)
        has = rng.random(len(walkers)) < self.settings.mating
        if self.rounds < self.settings.settle or not has.any():
            return np.zeros_like(self.replicas.grids), np.zeros_like(self.replicas.lengths)
        chosen = walkers.copy()
        has[at[: round(self.settings.plain * self.settings.ladders)]] = False
        for island in self.islands:
            further = rng.integers(1, max(len(island), 2), (len(island), at.shape[1]))
            others = island[(np.arange(len(island))[:, None] + further) % len(island)]
            chosen[at[island]] = at[others, rng.integers(0, np.arange(at.shape[1]) + 1, others.shape)]
        return self.replicas.grids[chosen], np.where(has, self.replicas.lengths[chosen], 0).astype(np.int32)

    def _renew(self, island: npt.NDArray[np.int64], rng: np.random.Generator) -> None:
        """Replace the ladders of an island that have done worst since the last renewal."""
        replicas, settings = self.replicas, self.settings
        score = replicas.best_lengths[replicas.at[island]].max(1) + replicas.lengths[replicas.at[island]].mean(1) / 1000
        ranked = island[np.argsort(-score, kind="stable")]
        old = ranked[self.rounds - replicas.born[ranked] >= settings.settle]
        best = ranked[: max(1, len(ranked) // 4)]
        for ladder in old[len(old) - int(settings.share * len(old)) :]:
            if ladder in best:
                continue
            if rng.random() < settings.fresh:
                replicas.lengths[replicas.at[ladder]] = 0  # the next round begins with random games
                replicas.born[ladder] = self.rounds
            else:
                source = replicas.at[rng.choice(best)]
                replicas.grids[replicas.at[ladder]] = replicas.grids[source]
                replicas.lengths[replicas.at[ladder]] = replicas.lengths[source]

    def _offer_grid(self, walker: int) -> None:
        """Offer the best grid of a walker. A line that the board of the GPU has no room for is added."""
        replicas = self.replicas
        moves = to_actions(self.game, replicas.best[walker, : replicas.best_lengths[walker]])
        state = MorpionState(self.game, moves)
        while state.legal_actions():
            state.apply(state.legal_actions()[0])
        self._offer(self.settings.seed, list(state.moves))

    # What is saved

    def _look(self) -> None:
        lengths = self.replicas.lengths[self.replicas.at]
        best = np.maximum(self.replicas.best_lengths[self.replicas.at], lengths).max(1)  # since the last renewal
        islands = [int(self.longest[island].max(initial=0)) for island in self.islands]
        quantiles = [int(q) for q in np.quantile(best, (0, 0.25, 0.5, 0.75, 0.9, 1), method="nearest")]
        self.curve.append(
            {"seconds": round(self.seconds, 1), "rounds": self.rounds, "score": self.found.score if self.found else 0,
             "means": [round(float(mean), 2) for mean in lengths.mean(0)], "islands": islands, "ladders": quantiles}
        )  # fmt: skip

    def statistics(self) -> dict[str, Any]:
        """What was counted, by temperature."""
        lengths = self.replicas.lengths[self.replicas.at]
        pairs = self.exchanged[1] / np.maximum(self.exchanged[0], 1)
        rows = []
        for i, temperature in enumerate(self.settings.heat):
            holes = {hole: [int(n) for n in self.tallies[i, k]] for k, hole in enumerate(HOLES)}
            rows.append(
                {"temperature": round(float(temperature), 4), "mean": round(float(lengths[:, i].mean()), 2),
                 "longest": int(lengths[:, i].max()), "trials": holes,
                 "exchanged": round(float(pairs[i]), 4) if i + 1 < len(lengths[0]) else None}
            )  # fmt: skip
        return {"rounds": self.rounds, "lost": self.lost, "temperatures": rows, "curve": self.curve}

    def data(self) -> dict[str, Any]:
        return super().data() | {"starts": self.starts, "statistics": self.statistics()}

    _SAVED = ("grids", "lengths", "best", "best_lengths", "counters", "at", "born", "kept", "kept_lengths")

    def save(self) -> None:
        super().save()
        if self.path is None:
            return
        info = {"kind": self.kind, "rounds": self.rounds, "playouts": self.playouts, "seconds": self.seconds,
                "lost": self.lost, "curve": self.curve}  # fmt: skip
        arrays = {name: getattr(self.replicas, name) for name in self._SAVED}
        save_arrays(
            self.path.with_suffix(".npz"),
            info,
            arrays | {"tallies": self.tallies, "exchanged": self.exchanged, "longest": self.longest},
        )

    def _load(self, path: Path) -> None:
        super()._load(path)
        self.starts = json.loads(path.read_text(encoding="utf-8"))["starts"]
        checkpoint = path.with_suffix(".npz")
        self.playouts, self.seconds = 0, 0.0
        if not checkpoint.exists():
            return
        info, arrays = load_arrays(checkpoint, self.kind)
        try:
            self.rounds, self.playouts, self.lost = info["rounds"], info["playouts"], info["lost"]
            self.seconds, self.curve = info["seconds"], info["curve"]
            self.tallies, self.exchanged, self.longest = (arrays[name] for name in ("tallies", "exchanged", "longest"))
            for name in self._SAVED:
                expected = getattr(self.replicas, name)
                if arrays[name].shape != expected.shape or arrays[name].dtype != expected.dtype:
                    raise ValueError(f"its {name} have another shape")
                setattr(self.replicas, name, arrays[name])
            _check(self.replicas.grids, self.replicas.lengths)
            _check(self.replicas.best, self.replicas.best_lengths)
            _check(self.replicas.kept, self.replicas.kept_lengths)
            if sorted(self.replicas.at.reshape(-1)) != list(range(self.replicas.at.size)):
                raise ValueError("its walkers are not at one temperature each")
        except (ValueError, KeyError) as error:
            raise ValueError(f"{checkpoint} is no checkpoint of this search, or is damaged: {error}") from None

    def _begin(self, starts: Sequence[Path]) -> None:
        """Put the grids of files into the ladders, in turn."""
        grids = [codes for file in starts for codes in read_grids(file, self.game)]
        for ladder in range(self.settings.ladders if grids else 0):
            for walker in self.replicas.at[ladder]:
                codes = grids[ladder % len(grids)]
                self.replicas.grids[walker, : len(codes)] = codes
                self.replicas.lengths[walker] = len(codes)
        self.replicas.kept = self.replicas.grids[self.replicas.at[:, 0]]
        self.replicas.kept_lengths = self.replicas.lengths[self.replicas.at[:, 0]]


def _check(grids: Grids, lengths: Numbers) -> None:
    if lengths.min() < 0 or lengths.max() > MOVES or grids.max() >= 1 << 15:
        raise ValueError("its grids are damaged")


def read_grids(file: Path, game: Morpion) -> list[Grids]:
    """The grid of a `.psol` or `.svg` file, or the coldest grids of a checkpoint; all must be legal."""
    if file.suffix != ".npz":
        return [to_codes(read(file.read_text(encoding="utf-8"), game.lines))]
    _, arrays = load_arrays(file, ReplicaSearch.kind)
    try:
        grids, lengths, at = arrays["grids"], arrays["lengths"], arrays["at"]
        _check(grids, lengths)
        found = [grids[walker, : lengths[walker]] for walker in at[:, 0] if lengths[walker]]  # new ones have none
        for codes in found:
            MorpionState(game, to_actions(game, codes))
    except (ValueError, KeyError, IndexError) as error:
        raise ValueError(f"{file} is no checkpoint of a search for {game.lines}, or is damaged: {error}") from None
    return found
