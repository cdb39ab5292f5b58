"""Q-learning of chess endgames that ends in perfection.

The backup is that of the paper (its equation 2.2): a move is worth what the least best reply leaves. Four changes make
it exact: the only reward is 1 for mate, the learning rate is 1, games start from all positions alike, and from each
start every move is tried once. Nothing but the rules goes in; the exact tables are asked only how good the result is.

>>> from rookery.games.endgames.tables import tables
>>> truth = tables("KQK").native
>>> train(Settings("KQK", passes=1), truth).perfect
False
>>> result = train(Settings("KQK"), truth)
>>> result.perfect, result.curve[-1].optimal
(True, 1.0)
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rookery import _native
from rookery.files import replacing, write_text

MATERIALS = ("KQK", "KRK", "KBBK", "KBNK")
"""Endgames in which a capture is always a draw, so that they can be learned on their own."""


@dataclass(frozen=True)
class Settings:
    material: str = "KRK"
    """One of `MATERIALS`."""
    discount: float = 0.95
    """What a mate loses in value for every move it is put off."""
    seed: int = 0
    passes: int = 200
    """Stop after so many starts a position, perfect or not."""
    rounds_a_pass: int = 8
    """A round uses the values as they were when it began; more rounds spread news sooner."""

    def __post_init__(self) -> None:
        if self.material not in MATERIALS:
            raise ValueError(f"unknown material {self.material!r}; this method learns {', '.join(MATERIALS)}")
        if not 0 < self.discount < 1:
            raise ValueError(f"the discount must be between 0 and 1, and is {self.discount}")
        if self.passes < 1 or not 1 <= self.rounds_a_pass <= 1000:
            raise ValueError("there must be at least one pass, of 1 to 1000 rounds")


@dataclass(frozen=True)
class Point:
    """How far the learner is. Shares are of all won positions on the board with the learner to move."""

    starts: int
    backups: int
    """Moves tried: on average, as many a start as a position has moves."""
    seconds: float
    optimal: float
    """Share in which every move of greatest value mates as fast as possible."""
    exact: float
    """Share whose value is exactly `discount ** (moves to mate - 1)`."""
    perfect: bool
    """All won positions are exact, and all drawn ones are worth 0. Then all are played optimally, too: a learned value
    is never above the true one, so that a move that reaches the true maximum is a best move."""


@dataclass(frozen=True)
class Result:
    settings: Settings
    curve: list[Point]

    @property
    def perfect(self) -> bool:
        return self.curve[-1].perfect


def train(
    settings: Settings,
    truth: _native.endgames.Table,
    folder: Path | None = None,
    resume: bool = False,
    threads: int = 0,
    report: Callable[[Point], None] = lambda point: None,
    save_seconds: float = 60,
) -> Result:
    """Learn until perfect, judged by the exact table of the endgame.

    The result does not depend on the number of threads (0: all cores).

    With a `folder`, the values (`q.npz`), the curve (`curve.csv`) and the settings are saved there every
    `save_seconds`, at the end and on Ctrl-C; `resume` goes on from them, to the same result as without a break.
    """
    learner = _native.endgames.PerfectLearner(settings.material[1:-1], settings.discount)
    curve: list[Point] = []
    if resume:
        if folder is None:
            raise ValueError("to resume, name the folder of the run")
        curve = _load(folder, settings, learner)
    starts_a_round = -(-learner.positions // settings.rounds_a_pass)
    backups_a_start = learner.pairs / learner.positions
    begin = time.perf_counter() - (curve[-1].seconds if curve else 0.0)
    saved = time.perf_counter()
    try:
        while not (curve and curve[-1].perfect) and len(curve) < settings.passes:
            if learner.rounds // settings.rounds_a_pass == len(curve):
                learner.round(starts_a_round, settings.seed, threads)
                continue
            verdict = learner.judge(truth, threads)
            starts = learner.rounds * starts_a_round
            point = Point(
                starts=starts,
                backups=round(starts * backups_a_start),
                seconds=time.perf_counter() - begin,
                optimal=verdict.optimal / verdict.won,
                exact=verdict.exact / verdict.won,
                perfect=verdict.exact == verdict.won and verdict.drawn_exact == verdict.drawn,
            )
            curve.append(point)
            report(point)
            if folder and time.perf_counter() - saved > save_seconds:
                _save(folder, settings, learner, curve)
                saved = time.perf_counter()
    finally:
        if folder:
            _save(folder, settings, learner, curve)
    return Result(settings, curve)


def _save(folder: Path, settings: Settings, learner: Any, curve: list[Point]) -> None:
    points = [asdict(point) for point in curve]
    about = json.dumps({"settings": asdict(settings), "rounds": learner.rounds, "curve": points})

    with replacing(folder / "q.npz") as file:
        np.savez_compressed(file, q=learner.q, best=learner.best, about=np.frombuffer(about.encode(), np.uint8))
    lines = [[field.name for field in fields(Point)], *(list(point.values()) for point in points)]
    write_text(folder / "curve.csv", "".join(",".join(map(str, line)) + "\n" for line in lines))
    write_text(folder / "settings.json", json.dumps(asdict(settings), indent=2) + "\n")


def _load(folder: Path, settings: Settings, learner: Any) -> list[Point]:
    """Bring the learner to where the run in the folder was; the curve so far."""
    path = folder / "q.npz"
    if not path.exists():
        raise ValueError(f"there is no run to resume in {folder}")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            about = json.loads(saved["about"].tobytes())
            was = Settings(**about["settings"])
            curve = [Point(**point) for point in about["curve"]]
            arrays = saved["q"], saved["best"]
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a file of this method, or is damaged ({error})") from None
    if asdict(was) | {"passes": settings.passes} != asdict(settings):
        raise ValueError(f"{path} was made with other settings: {was}")
    learner.restore(*arrays, about["rounds"])
    return curve
