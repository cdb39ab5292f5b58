"""1010! solved: value iteration over every board of a small size.

A value belongs to a raw board: what lies there just after a placement, full lines included. The piece to come is
averaged out, so a table has 2^(rows * columns) entries and nothing else. `docs/exact/tenten.md` derives the method and
its error bounds.

>>> game = TenTen(3, 3, "seven")
>>> solution = solve(game)  # the policy that survives longest
>>> round(solution.mean_rounds, 2)
69.83
>>> state = game.parse_state("##./.../... 1x1")
>>> {state.action_name(a): round(v, 2) for a, v in solution.placement_values(state).items() if v > 70.6}
{'1x1@r1c3': 70.83, '1x1@r2c1': 70.87, '1x1@r3c3': 71.84}

Filling the row at once is not the best: the corner opposite keeps it for later.
"""

from __future__ import annotations

import json
import math
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery._native import Control
from rookery._native import tenten as native
from rookery.files import replacing
from rookery.games.tenten.rules import TenTen, TenTenState
from rookery.progress import available_memory
from rookery.statistics import poisson_interval

Values = npt.NDArray[Any]
"""A value a raw board, float32 or float64: `[2 ** (rows * columns)]`."""

MAX_LINES = 20


@dataclass(frozen=True)
class Objective:
    """What a placement earns; `lines[n]` is for n lines cleared at once."""

    meaning: str
    constant: float = 0.0
    """Reward for every piece drawn."""
    moves: float = 0.0
    """Times the expected number of placements of the next piece."""
    lines: tuple[float, ...] = (0.0,) * (MAX_LINES + 1)


_SQUARES = tuple(float(n * n) for n in range(MAX_LINES + 1))
OBJECTIVES: Mapping[str, Objective] = MappingProxyType(
    {
        "survival": Objective("expected number of rounds", constant=1.0),
        "r1": Objective("lines cleared, squared, plus the expected number of next placements", moves=1, lines=_SQUARES),
        "r2": Objective("lines cleared, squared", lines=_SQUARES),
        "r3": Objective("expected number of next placements", moves=1),
    }
)
"""`survival` is the true aim of the game; r1, r2 and r3 are the paper's rewards."""

_LINE_SCORES = tuple(float(5 * n * (n + 1)) for n in range(MAX_LINES + 1))
_DRAWS_PER_SWEEP = 4.0
"""About how many pieces fall between two cleared lines; only the speed of convergence depends on it."""
_MAX_SWEEPS = 5000
MAX_CELLS = 32
EXACT_EVALUATION_CELLS = 20
"""Up to here the mean rounds of a policy are computed, beyond they are simulated."""

Progress = Callable[[int, float, float], None]
"""Called after every sweep with its number and the bounds so far."""


def table_bytes(game: TenTen, objective: str = "survival") -> int:
    """The memory that the table of a solution takes."""
    return (1 << (game.rows * game.columns)) * np.dtype(_dtype(game, objective)).itemsize


def _dtype(game: TenTen, objective: str) -> type[np.float32] | type[np.float64]:
    """Double precision where it is cheap, and for survival on boards where deaths are rare, while memory allows."""
    return np.float64 if game.rows * game.columns <= (25 if objective == "survival" else 20) else np.float32


def check_feasible(game: TenTen, objective: str = "survival", available: int | None = None) -> None:
    """Raise ValueError if a table for the game cannot be held; `available` bytes, by default what the machine has."""
    cells = game.rows * game.columns
    need = table_bytes(game, objective)
    board = f"a {game.rows}x{game.columns} board"
    if game.hand != 1:
        raise ValueError("only games with one piece in the hand can be solved")
    if cells < 3:
        raise ValueError(f"{board} is too small for a table; at least 3 cells are needed")
    if cells > MAX_CELLS:
        raise ValueError(f"{board} needs a table of {need} bytes; boards of up to {MAX_CELLS} cells can be solved here")
    if available is None:
        available = available_memory()
    if need > available:
        raise ValueError(f"{board} needs a table of {need} bytes, and {available} bytes of memory are available")


@dataclass(frozen=True)
class Played:
    """Games of a policy. A game that reached the limit of rounds did not end."""

    rounds: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int64]
    max_rounds: int

    @property
    def deaths(self) -> int:
        return int((self.rounds < self.max_rounds).sum())

    @property
    def mean_rounds(self) -> tuple[float, float, float]:
        """Rounds a death, with a 95% interval; exact counts of deaths as a Poisson variable."""
        total, deaths = float(self.rounds.sum()), self.deaths
        if deaths >= 100 and deaths == len(self.rounds):
            half = 1.96 * float(self.rounds.std(ddof=1)) / math.sqrt(deaths)
            return total / deaths, total / deaths - half, total / deaths + half
        low, high = poisson_interval(deaths)
        return total / deaths if deaths else math.inf, total / high, total / low if low else math.inf


@dataclass(frozen=True)
class Evaluation:
    """The exact worth of a policy, with rigorous bounds; infinite where it survives every sequence of pieces."""

    mean_rounds: float
    lower: float
    upper: float
    mean_score: float
    sweeps: int


@dataclass(frozen=True)
class TablePolicy:
    """Places a piece where a table of values is greatest; the first such place among values within `tolerance` of it.

    Given several tables it follows one of them, drawn anew for every piece.
    """

    game: TenTen
    tables: Sequence[Values]
    tolerance: float = 1e-12

    def play(
        self, games: int, seed: int = 0, max_rounds: int = 10**9, threads: int = 0, control: Control | None = None
    ) -> Played:
        """Play games from the empty board, natively; the same seed gives the same games whatever the threads."""
        rounds, scores = native.play_policy(
            self.game.rules, list(self.tables), self.tolerance, games, seed, max_rounds, threads, control
        )
        return Played(rounds, scores, max_rounds)

    def play_until(self, deaths: int, rounds: int, seed: int = 0, threads: int = 0) -> Played:
        """Play until enough games have ended or enough pieces are placed, whichever comes first."""
        played: list[Played] = []
        games, done, ended, cap = 8, 0, 0, max(1, rounds // 16)
        while done < rounds and ended < deaths:
            played.append(self.play(games, seed + len(played), cap, threads))
            done += int(played[-1].rounds.sum())
            ended += played[-1].deaths
            games = min(games * 2, 100_000)
        return Played(
            np.concatenate([p.rounds for p in played]), np.concatenate([p.scores for p in played]), played[0].max_rounds
        )

    def evaluate(self, precision: float = 1e-9, threads: int = 0, control: Control | None = None) -> Evaluation:
        """Expected rounds and score from the empty board, by solving the policy's linear system."""
        successors = native.successors(self.game.rules, list(self.tables), self.tolerance, control)
        if native.endless(self.game.rules, successors, threads, control):
            return Evaluation(math.inf, math.inf, math.inf, math.inf, 0)

        def sweep(values: Values, constant: float, cells: float, lines: Sequence[float], scale: float) -> _Change:
            low, high = native.evaluation_sweep(
                self.game.rules, successors, values, constant, cells, list(lines), scale, threads, control
            )
            _raise_if_stopped(control)
            return low, high

        size = 1 << (self.game.rows * self.game.columns)
        no_lines = OBJECTIVES["survival"].lines
        draws = _Undiscounted(np.ones(size), len(self.game.weights))
        draws.run(lambda values, gain: sweep(values, 1.0, 0.0, no_lines, gain), precision)
        # Score = rate * draws + relative, where relative collects what a draw scores beyond the rate.
        relative, rate, sweeps = np.zeros(size), 10.0, 0
        change = (-math.inf, math.inf)
        while max(map(abs, change)) > 100 * precision and sweeps < _MAX_SWEEPS:
            change = sweep(relative, -rate, 1.0, _LINE_SCORES, 1.0)
            if sweeps:
                rate += 0.5 * sum(change) / _DRAWS_PER_SWEEP
            else:
                change = (-math.inf, math.inf)
            sweeps += 1
        low, high = draws.bounds
        score = rate * (low + high) / 2 + float(relative[0])
        return Evaluation((low + high) / 2 - 1, low - 1, high - 1, score, draws.sweeps + sweeps)


_Change = tuple[float, float]
_Sweep = Callable[[Values, float], _Change]


class _Undiscounted:
    """Expected totals until death, by sweeps over values that are scaled so that they stay near 1.

    With draws counted, D = 1 + E[best D], and y = D * gain solves y = gain + E[best y]. A sweep with any gain leaves a
    y that misses this equation by at most the change of the values behind cleared lines, which the next sweep measures:
    `gain - highest <= y - E[best y] <= gain - lowest`, and D lies between y / (gain - lowest) and y / (gain - highest).
    """

    def __init__(
        self, values: Values, pieces: int, reward: float = 1.0, lines: bool = False, gain: float = 0.01, sweeps: int = 0
    ) -> None:
        self.values, self.gain, self.sweeps, self.reward, self.lines = values, gain, sweeps, reward, lines
        self.bounds = (0.0, math.inf)
        self.value = math.inf
        """The estimate for the empty board."""
        self.residual = math.inf
        self.before: tuple[float, float] | None = None
        """The gain and the first value of the sweep before, if the next one can measure its error."""
        # Every sum of weight * value is rounded once a piece and a few times more.
        self.unit = (pieces + 3) * float(np.finfo(values.dtype).eps)

    def step(self, sweep: _Sweep) -> None:
        low, high = sweep(self.values, self.gain)
        self.sweeps += 1
        before, self.before = self.before, (self.gain, float(self.values[0]))
        if before is None:
            return
        gain, first = before
        rounding = self.unit * (abs(first) + 1)
        least, most = gain - max(0.0, high) - rounding, gain - min(0.0, low) + rounding
        self.bounds = (first / most, first / least if least > 0 else math.inf)
        self.value = first / gain
        self.residual = max(abs(low), abs(high)) + rounding
        # A gain that is too high by d raises all values by about d * reward * draws a sweep. It may at most double or
        # halve: values and gain would both vanish with a gain of 0.
        gain = self.gain - 0.5 * (low + high) / (_DRAWS_PER_SWEEP * self.reward)
        self.gain = min(max(gain, self.gain / 2), self.gain * 2)
        if self.lines:
            # Rewards for lines are stored with the copies, so the next changes would show the new gain as well.
            self.before = None

    def converged(self, precision: float) -> bool:
        rounding = 2 * self.unit * (abs(float(self.values[0])) + 1)
        return self.residual <= max(precision * self.gain * self.reward, rounding)

    def run(self, sweep: _Sweep, precision: float, after: Callable[[], None] | None = None) -> None:
        while self.sweeps < _MAX_SWEEPS and not self.converged(precision):
            self.step(sweep)
            if after:
                after()


def _raise_if_stopped(control: Control | None) -> None:
    if control is not None and control.stopped:
        raise InterruptedError("stopped; a table kept in a file is resumed from there")


@dataclass(frozen=True)
class SolvedGame:
    """A table of values and what it says. For `survival` the values are divided by `scale` to give rounds."""

    game: TenTen
    objective: str
    discount: float
    values: Values
    scale: float
    value_empty: float
    """Expected (discounted) reward from the empty board, before the first piece is drawn."""
    error_bound: float
    """`value_empty` is off by no more than this; rounding errors are counted in."""
    sweeps: int
    seconds: float
    mean_rounds: float
    """Rounds of the policy from the empty board."""
    mean_rounds_interval: tuple[float, float]
    """Rigorous bounds where they were computed, a 95% interval where games were played."""

    @property
    def policy(self) -> TablePolicy:
        return TablePolicy(self.game, (self.values,), _tolerance(self.values))

    def placement_values(self, state: TenTenState) -> dict[int, float]:
        """What every legal placement is worth: for `survival` the expected rounds from here on, this one included;
        else its reward and the discounted values after it."""
        board = sum(1 << cell for cell in state.cells)
        values = {}
        for action in state.legal_actions():
            cells = self.game.shapes[state.hand[0]]
            at = sum(1 << (action + r * self.game.columns + c) for r, c in cells)
            values[action] = float(self.values[board | at]) / self.scale
        return values

    def save(self, path: Path | str) -> None:
        """Write the table with a checked header, whole or not at all."""
        with replacing(path) as file:
            file.write(_pack_header(self._header()))
            file.write(self.values.data)

    def _header(self) -> dict[str, Any]:
        low, high = self.mean_rounds_interval
        return _identity(self.game, self.objective, self.discount) | {
            "finished": True, "scale": self.scale, "value_empty": self.value_empty, "error_bound": self.error_bound,
            "sweeps": self.sweeps, "seconds": self.seconds, "mean_rounds": self.mean_rounds, "low": low, "high": high,
            "crc": zlib.crc32(self.values.data),
        }  # fmt: skip


def _tolerance(values: Values) -> float:
    """Below this relative difference values count as equal: the noise of a converged table."""
    return 1e-13 if values.dtype == np.float64 else 1e-6


def endless(game: TenTen, threads: int = 0, control: Control | None = None) -> bool:
    """Can the board be survived for ever, whatever pieces come?

    >>> endless(TenTen(3, 3, "three")), endless(TenTen(3, 3, "seven"))
    (True, False)
    """
    return bool(native.endless(game.rules, np.empty(0, np.uint32), threads, control))


def solve(
    game: TenTen,
    objective: str = "survival",
    discount: float | None = None,
    *,
    precision: float | None = None,
    threads: int = 0,
    file: Path | str | None = None,
    seed: int = 0,
    evaluate: bool = True,
    progress: Progress | None = None,
    control: Control | None = None,
) -> SolvedGame:
    """The best policy for an objective, with error bounds.

    `discount` is 1 for `survival` and 0.9 for the rewards unless given. `precision` is relative. With a `file` the
    table lives there, memory-mapped: a run that is killed resumes. For objectives other than survival the
    mean rounds are extra work, left out without `evaluate`; on boards of more than 20 cells games are played for them,
    with `seed`.
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"unknown objective {objective!r}; known: {', '.join(OBJECTIVES)}")
    if discount is None:
        discount = 1.0 if objective == "survival" else 0.9
    if not 0 < discount <= 1:
        raise ValueError(f"the discount must be more than 0 and at most 1, and is {discount}")
    if objective == "survival" and discount != 1:
        raise ValueError("survival counts every round the same: its discount is 1")
    check_feasible(game, objective)
    begin = time.perf_counter()
    store = _Store(game, objective, discount, None if file is None else Path(file))
    if precision is None:
        precision = 1e-9 if store.values.dtype == np.float64 else 1e-5
    if discount == 1:
        if endless(game, threads, control):
            raise ValueError("the best play on this board survives for ever, so totals without discount are infinite")
        value, bound, scale = _solve_undiscounted(game, objective, store, precision, threads, progress, control)
    else:
        value, bound = _solve_discounted(game, objective, discount, store, precision, threads, progress, control)
        scale = 1.0
    seconds = store.seconds_before + time.perf_counter() - begin
    if objective == "survival":
        rounds, interval = value, (value - bound, value + bound)
    elif not evaluate:
        rounds, interval = math.nan, (math.nan, math.nan)
    else:
        rounds, interval = _rounds_of(TablePolicy(game, (store.values,), _tolerance(store.values)), threads, seed)
    solution = SolvedGame(
        game, objective, discount, store.values, scale, value, bound, store.sweeps, seconds, rounds, interval
    )
    store.finish(solution._header())
    return solution


def _rounds_of(policy: TablePolicy, threads: int, seed: int) -> tuple[float, tuple[float, float]]:
    if policy.game.rows * policy.game.columns <= EXACT_EVALUATION_CELLS:
        exact = policy.evaluate(threads=threads)
        return exact.mean_rounds, (exact.lower, exact.upper)
    mean, low, high = policy.play_until(deaths=2000, rounds=20_000_000, seed=seed, threads=threads).mean_rounds
    return mean, (low, high)


def _value_sweep(
    game: TenTen, objective: str, discount: float, threads: int, control: Control | None
) -> Callable[[Values, float], tuple[float, float]]:
    rewards = OBJECTIVES[objective]

    def one(values: Values, scale: float) -> tuple[float, float]:
        low, high = native.sweep(
            game.rules, values, rewards.constant, rewards.moves, list(rewards.lines), discount, scale, threads, control
        )
        _raise_if_stopped(control)
        return low, high

    return one


def expected_moves(game: TenTen, board: int = 0) -> float:
    """The expected number of placements of the next piece on a board, as the paper's rewards count them."""
    counts = [len(game.rules.placements(board, piece)) for piece in range(len(game.weights))]
    return float(np.dot(counts, game.weights)) / sum(game.weights)


def _solve_undiscounted(
    game: TenTen, objective: str, store: _Store, precision: float, threads: int, progress: Progress | None,
    control: Control | None,
) -> tuple[float, float, float]:  # fmt: skip
    rewards = OBJECTIVES[objective]
    sweep = _value_sweep(game, objective, 1.0, threads, control)
    typical = rewards.constant + rewards.moves * expected_moves(game) + rewards.lines[1]
    run = _Undiscounted(store.values, len(game.weights), typical, rewards.lines[1] > 0, store.gain, store.sweeps)

    def after() -> None:
        store.note(run.sweeps, run.gain)
        if progress:
            progress(run.sweeps, *run.bounds)

    run.run(sweep, precision, after)
    store.sweeps = run.sweeps
    if objective == "survival":
        low, high = run.bounds
        # Rounds are draws less the fatal one.
        return (low + high) / 2 - 1, (high - low) / 2, run.gain
    # Each of the draws still to come may add the residual; survival bounds their number.
    longest = solve(game, "survival", threads=threads, control=control)
    draws = float(longest.values.max()) / longest.scale * (1 + longest.error_bound / longest.value_empty)
    first = rewards.moves * expected_moves(game)
    return run.value - first, run.residual / run.gain * draws, run.gain


def _solve_discounted(
    game: TenTen, objective: str, discount: float, store: _Store, precision: float, threads: int,
    progress: Progress | None, control: Control | None,
) -> tuple[float, float]:  # fmt: skip
    values = store.values
    sweep = _value_sweep(game, objective, discount, threads, control)
    unit = (len(game.weights) + 3) * float(np.finfo(values.dtype).eps)
    least, most = -math.inf, math.inf
    first: float | None = None
    while True:
        low, high = sweep(values, 1.0)
        store.note(store.sweeps + 1, 1.0)
        if first is not None:
            # The changes say what the values of the sweep before missed.
            rounding = unit * (abs(first) + 1)
            least = first + (discount * min(0.0, low) - rounding) / (1 - discount)
            most = first + (discount * max(0.0, high) + rounding) / (1 - discount)
            if max(high, -low) * discount <= max((1 - discount) * precision * abs(first), rounding):
                break
        if progress:
            progress(store.sweeps, least, most)
        if store.sweeps >= _MAX_SWEEPS:
            break
        first = float(values[0])
    reward = OBJECTIVES[objective].moves * expected_moves(game)
    middle = (least + most) / 2
    return (middle - reward) / discount, (most - least) / 2 / discount


# The file of a table: a page of header, then the values.

_MAGIC = b"RKTENTEN"
_HEADER_SIZE = 4096


def _identity(game: TenTen, objective: str, discount: float) -> dict[str, Any]:
    return {
        "version": 1, "rows": game.rows, "columns": game.columns,
        "pieces": dict(zip(game.piece_names, game.weights, strict=True)), "objective": objective, "discount": discount,
        "dtype": np.dtype(_dtype(game, objective)).name,
    }  # fmt: skip


def _pack_header(header: dict[str, Any]) -> bytes:
    text = json.dumps(header).encode()
    packed = _MAGIC + struct.pack("<II", len(text), zlib.crc32(text)) + text
    if len(packed) > _HEADER_SIZE:
        raise ValueError("the piece set is too large for the header of a table")
    return packed.ljust(_HEADER_SIZE, b"\0")


def _read_header(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        packed = file.read(_HEADER_SIZE)
    if packed[:8] != _MAGIC or len(packed) < _HEADER_SIZE:
        raise ValueError(f"{path} is not a table of 1010! values")
    size, crc = struct.unpack_from("<II", packed, 8)
    text = packed[16 : 16 + size]
    if zlib.crc32(text) != crc:
        raise ValueError(f"the header of {path} is damaged")
    header: dict[str, Any] = json.loads(text)
    if header.get("version") != 1:
        raise ValueError(f"{path} was written by another version: {header.get('version')}")
    return header


class _Store:
    """Where a solver keeps its values: in memory, or mapped from a file that survives the process.

    Values in the middle of a sweep are as good a start as any, so the file needs no protection against a kill.
    """

    def __init__(self, game: TenTen, objective: str, discount: float, file: Path | None) -> None:
        self.file = file
        self.identity = _identity(game, objective, discount)
        self.sweeps, self.gain, self.seconds_before = 0, 0.01, 0.0
        self.begin = time.perf_counter()
        shape, dtype = (1 << (game.rows * game.columns),), _dtype(game, objective)
        start = 1.0 if discount == 1 else 0.0
        self.values: Values
        if file is None:
            self.values = np.full(shape, start, dtype)
            return
        if file.exists():
            header = _read_header(file)
            wrong = [key for key, value in self.identity.items() if header.get(key) != value]
            if wrong or file.stat().st_size != _HEADER_SIZE + shape[0] * np.dtype(dtype).itemsize:
                raise ValueError(f"{file} holds another table: it differs in {', '.join(wrong) or 'size'}")
            self.sweeps, self.gain, self.seconds_before = header["sweeps"], header["scale"], header["seconds"]
            self.values = np.memmap(file, dtype, "r+", _HEADER_SIZE, shape)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(file.name + ".part")
        values = np.memmap(part, dtype, "w+", _HEADER_SIZE, shape)
        values[:] = start
        part.replace(file)
        self.values = values
        self._write(self._unfinished())

    def _unfinished(self) -> dict[str, Any]:
        seconds = self.seconds_before + time.perf_counter() - self.begin
        return self.identity | {
            "finished": False, "scale": self.gain, "sweeps": self.sweeps, "seconds": seconds
        }  # fmt: skip

    def note(self, sweeps: int, gain: float) -> None:
        """A sweep is done."""
        self.sweeps, self.gain = sweeps, gain
        self._write(self._unfinished())

    def finish(self, header: dict[str, Any]) -> None:
        if isinstance(self.values, np.memmap):
            self.values.flush()
        self._write(header)

    def _write(self, header: dict[str, Any]) -> None:
        if self.file is not None:
            with self.file.open("r+b") as file:
                file.write(_pack_header(header))


def load(path: Path | str, game: TenTen | None = None) -> SolvedGame:
    """Read a solution back, checked; the table is mapped, not copied. With a `game`, it must be the one solved."""
    path = Path(path)
    header = _read_header(path)
    if not header["finished"]:
        raise ValueError(
            f"{path} is not finished after {header['sweeps']} sweeps; solve with the same file to finish it"
        )
    solved = TenTen(header["rows"], header["columns"], header["pieces"])
    if game is not None:
        _check_same(path, solved, game)
    dtype = np.dtype(header["dtype"])
    shape = (1 << (solved.rows * solved.columns),)
    if path.stat().st_size != _HEADER_SIZE + shape[0] * dtype.itemsize:
        raise ValueError(f"{path} has the wrong size")
    values = np.memmap(path, dtype, "r", _HEADER_SIZE, shape)
    if zlib.crc32(values.data) != header["crc"]:
        raise ValueError(f"the values in {path} are damaged: their checksum differs")
    return SolvedGame(
        game or solved, header["objective"], header["discount"], values, header["scale"], header["value_empty"],
        header["error_bound"], header["sweeps"], header["seconds"], header["mean_rounds"],
        (header["low"], header["high"]),
    )  # fmt: skip


def _check_same(path: Path, solved: TenTen, game: TenTen) -> None:
    def key(g: TenTen) -> tuple[Any, ...]:
        return g.rows, g.columns, g.hand, dict(zip(g.piece_names, g.weights, strict=True))

    if key(solved) != key(game):
        raise ValueError(
            f"{path} solves the {solved.rows}x{solved.columns} board with {len(solved.weights)} pieces, which is not "
            f"the game asked for: {game.rows}x{game.columns} with {len(game.weights)} pieces"
        )
