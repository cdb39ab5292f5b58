"""Q-learning of chess endgames that ends in perfection.

The backup is that of the paper (its equation 2.2): a move is worth what the least best reply leaves. Four changes make
it exact: the only reward is 1 for mate, the learning rate is 1, games start from all positions alike, and from each
start every move is tried once. Nothing but the rules goes in; the exact tables are asked only how good the result is.

A model holds one byte per position (up to the symmetries of the board), from which the values of all moves follow. The
agent `q-learning` ships with those of KQK, KRK and KBBK.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.tables import tables
from rookery.run import Row, Run, duration, load_arrays, save_model

KIND = "endgames perfect"
MATERIALS = ("KQK", "KRK", "KBBK", "KBNK")
"""Endgames in which a capture is always a draw, so that they can be learned on their own."""


@dataclass(frozen=True)
class Settings:
    discount: float = 0.95
    """What a mate loses in value for every move it is put off."""
    passes: int = duration(200)
    """Stop after N starts per position, perfect or not."""
    rounds_per_pass: int = 8
    """A round uses the values as they were when it began; more rounds spread news sooner."""

    threads: int = duration(0)
    """Cores to learn on; 0 means all. Does not change the result."""

    def __post_init__(self) -> None:
        if not 0 < self.discount < 1:
            raise ValueError(f"the discount must be between 0 and 1, and is {self.discount}")
        if self.passes < 1 or not 1 <= self.rounds_per_pass <= 1000:
            raise ValueError("there must be at least one pass, of 1 to 1000 rounds")


@dataclass(frozen=True)
class Point:
    """How far the learner is. Shares are of all won positions on the board with the learner to move."""

    starts: int
    backups: int
    """Moves tried: on average, as many per start as a position has moves."""
    seconds: float
    optimal: float
    """Share in which every move of greatest value mates as fast as possible."""
    exact: float
    """Share whose value is exactly `discount ** (moves to mate - 1)`."""
    perfect: bool
    """All won positions are exact, and all drawn ones are worth 0. Then all are played optimally, too: a learned value
    is never above the true one, so that a move that reaches the true maximum is a best move."""


SAVE_SECONDS = 60.0


def train(game: Endgames, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn until perfect, judged by the exact table of the endgame; yields a row of metrics after every pass."""
    if game.material not in MATERIALS:
        raise ValueError(f"this method learns {', '.join(MATERIALS)}, not {game.material}")
    truth = tables(game.material).native
    learner = _native.endgames.PerfectLearner(game.material[1:-1], settings.discount)
    if (saved := run.restore()) is not None:
        learner.restore(saved["q"], saved["best"], int(saved["rounds"]))
    begin = time.perf_counter() - (run.rows[-1]["seconds"] if run.rows else 0.0)
    last_save = time.perf_counter()

    def save(row: Row) -> None:
        info = {
            "kind": KIND, "material": game.material, "command": run.info["command"], "seed": run.seed,
            "settings": run.settings, "figures": {"positions": learner.positions} | row,
        }  # fmt: skip
        save_model(run.folder / "model.npz", info, {"moves": to_moves(learner.best, settings.discount)})
        run.save(row, {"q": learner.q, "best": learner.best, "rounds": np.array(learner.rounds)})

    while not (run.rows and run.rows[-1]["perfect"]) and len(run.rows) < settings.passes:
        try:
            point = one_pass(learner, truth, settings, run.seed, len(run.rows) + 1, time.perf_counter() - begin)
        except KeyboardInterrupt:
            if run.rows:
                save(run.rows.pop())
            raise
        row = asdict(point) | {"progress": 1.0 if point.perfect else point.exact}
        if point.perfect or len(run.rows) + 1 == settings.passes or time.perf_counter() - last_save > SAVE_SECONDS:
            save(row)
            last_save = time.perf_counter()
        else:
            run.add(row)
        yield row


def one_pass(learner: Any, truth: Any, settings: Settings, seed: int, number: int, seconds: float) -> Point:
    """Pass `number`, counted from 1: as many starts as there are positions, in rounds. Returns how far it is then."""
    per_round = -(-learner.positions // settings.rounds_per_pass)
    begin = time.perf_counter()
    while learner.rounds < number * settings.rounds_per_pass:  # fewer in a pass that was interrupted before
        learner.round(per_round, seed, settings.threads)
    verdict = learner.judge(truth, settings.threads)
    starts = learner.rounds * per_round
    return Point(
        starts=starts,
        backups=round(starts * learner.pairs / learner.positions),
        seconds=seconds + time.perf_counter() - begin,
        optimal=verdict.optimal / verdict.won,
        exact=verdict.exact / verdict.won,
        perfect=verdict.exact == verdict.won and verdict.drawn_exact == verdict.drawn,
    )


def learn(game: Endgames, settings: Settings, seed: int = 0) -> list[Point]:
    """Learn until perfect without keeping anything on disk: the curve.

    >>> learn(Endgames("KQK"), Settings(passes=1))[-1].perfect
    False
    >>> curve = learn(Endgames("KQK"), Settings())
    >>> curve[-1].perfect, curve[-1].optimal
    (True, 1.0)
    """
    learner = _native.endgames.PerfectLearner(game.material[1:-1], settings.discount)
    truth = tables(game.material).native
    curve: list[Point] = []
    while not (curve and curve[-1].perfect) and len(curve) < settings.passes:
        seconds = curve[-1].seconds if curve else 0.0
        curve.append(one_pass(learner, truth, settings, seed, len(curve) + 1, seconds))
    return curve


Moves = npt.NDArray[np.uint8]
"""Moves to mate that a learned value stands for, by the number of the position; 0 where no mate is known."""


def to_moves(best: npt.NDArray[np.float32], discount: float) -> Moves:
    """Learned values as bytes. Every value is 0 or a power of the discount, so that nothing is lost; a mate in more
    than 255 moves counts as one in 255.

    >>> to_moves(np.array([0, 1, 0.95, 0.9025], np.float32), 0.95).tolist()
    [0, 1, 2, 3]
    """
    steps = np.log(best, out=np.zeros(len(best)), where=best > 0) / np.log(discount)
    return np.where(best > 0, np.minimum(np.rint(steps) + 1, 255), 0).astype(np.uint8)


def to_values(moves: Moves, discount: float) -> npt.NDArray[np.float32]:
    """The values that `to_moves` was given, to the last bit."""
    powers = np.zeros(256, np.float32)
    powers[1] = 1
    for i in range(2, 256):  # as the backups multiply
        powers[i] = np.float32(discount) * powers[i - 1]
    return powers[moves]


def load(path: Path | str) -> tuple[str, Any]:
    """The material and the values in a file that `train` wrote."""
    info, arrays = load_arrays(path, KIND)
    try:
        material, discount = info["material"], info["settings"]["discount"]
        values = _native.endgames.PositionValues(material[1:-1], discount, to_values(arrays["moves"], discount))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} does not hold the values of an endgame: {error}") from None
    return material, values
