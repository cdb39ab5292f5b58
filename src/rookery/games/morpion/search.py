"""Long searches for good games of Morpion Solitaire: run after run over a list of seeds, saved as they go.

Run i of a campaign with seed s has the seed s + i and nothing else to do with the others, so any run can be made again
alone, and a campaign that was stopped resumes with the seeds it has not done.

>>> campaign = Campaign(CampaignSettings("4D", "nrpa", level=1, seed=3))
>>> campaign.go(runs=2, threads=1)
>>> [run.seed for run in campaign.runs], campaign.playouts, campaign.best.score > 24
([3, 4], 200, True)
"""

from __future__ import annotations

import json
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, get_args

from rookery import __version__
from rookery._native import Control
from rookery.files import write_text
from rookery.game import TERMINAL
from rookery.games.morpion import MODELS
from rookery.games.morpion.rules import RECORDS, Morpion, MorpionState, read, verify
from rookery.method import check_at_least
from rookery.progress import cores
from rookery.registry import load
from rookery.run import Row, Run, duration, read_metrics
from rookery.scale import Job, Task, check_on, note
from rookery.scale.executors import carry_out
from rookery.scale.jobs import Shard
from rookery.search import ALPHA, OnBest, SearchRun, nmcs, nrpa

Method = Literal["repair", "exchange", "nrpa", "beam-nrpa", "nmcs"]
METHODS: tuple[Method, ...] = get_args(Method)


TEMPERATURES = {"5D": (0.4,), "5T": (1.0,), "4D": (0.3,), "4T": (0.6,)}
"""Temperatures at which `repair` anneals, by variant."""

EXCHANGED = {
    "5D": (0.3, 0.37, 0.44, 0.51), "5T": (0.6, 0.75, 0.9, 1.05, 1.2), "4D": (0.2, 0.3, 0.4), "4T": (0.4, 0.6, 0.8),
}  # fmt: skip
"""Those of the grids that change places in `exchange`."""

BEAM = 4
"""Policies that `beam-nrpa` keeps at every level above the first."""


def repair(
    state: MorpionState,
    trials: int = 1_000_000,
    temperatures: Sequence[float] | None = None,
    runs: int = 1,
    seed: int = 0,
    threads: int = 0,
    control: Control | None = None,
    on_best: OnBest | None = None,
) -> list[SearchRun]:
    """Destroy and repair: take a region out of the grid, play again what is still legal, end the game at random.

    A grid that is `d` moves shorter is kept with probability exp(-d / temperature). With one temperature, that of
    `TEMPERATURES` if none is given, many grids compete (successive halving); with several, cold to hot, there is a grid
    at each, and neighbours change places (replica exchange).

    >>> state = Morpion(length=4).initial_state()
    >>> [found] = repair(state, trials=2000, seed=1)
    >>> found.playouts, found.score > 28
    (2000, True)
    """
    temperatures = TEMPERATURES[state.game.lines] if temperatures is None else temperatures
    rows = state.repair(trials, list(temperatures), runs, seed, threads, control, on_best)
    return [SearchRun(*row) for row in rows]


def longest_from(state: MorpionState, seconds: float, seed: int = 0) -> list[int]:
    """The moves of the longest game from a position on that runs of NRPA find in the given number of seconds."""
    best: list[int] = []
    if state.player() == TERMINAL:
        return best
    control = Control()
    clock = threading.Timer(seconds, control.stop)
    clock.start()
    try:
        # Short runs first, so that there is an answer however little time there is.
        for level, runs in ((1, 2), (2, 4), (3, 10_000)):
            for run in nrpa(state, level, runs=runs, seed=seed, control=control):
                best = max(best, run.actions, key=len)
    finally:
        clock.cancel()
    return best


def shipped(variant: str) -> MorpionState:
    """The longest game of a variant that Rookery found itself and brings along."""
    return read((MODELS / f"{variant}.psol").read_text(encoding="utf-8"), variant)


@dataclass(frozen=True)
class CampaignSettings:
    """What a campaign does. A run of level n makes 100**n playouts (NMCS: as many as it takes)."""

    variant: str = "5D"
    method: Method = "repair"
    level: int = 3
    seed: int = 0
    """Seed of the first run."""
    alpha: float = ALPHA
    """How far one adaptation of NRPA goes."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; known methods: {', '.join(METHODS)}")
        if not 1 <= self.level <= 5:
            raise ValueError(f"the level must be 1 to 5, and is {self.level}")
        if not 0 <= self.seed < 2**62:
            raise ValueError(f"the seed must be 0 to 2^62, and is {self.seed}")
        if not 0 < self.alpha <= 10:
            raise ValueError(f"alpha must be more than 0 and at most 10, and is {self.alpha:g}")


def search_once(
    state: MorpionState, settings: CampaignSettings, seed: int, control: Control, on_best: OnBest
) -> SearchRun | None:
    """One run of a campaign; None if it was stopped before it began."""
    level = settings.level
    if settings.method in ("repair", "exchange"):
        heat = (TEMPERATURES if settings.method == "repair" else EXCHANGED)[settings.variant]
        runs = repair(state, 100**level, heat, seed=seed, threads=1, control=control, on_best=on_best)
    elif settings.method == "nmcs":
        runs = nmcs(state, level, seed=seed, threads=1, control=control, on_best=on_best)
    else:
        beam = BEAM if settings.method == "beam-nrpa" else 1
        alpha = settings.alpha
        runs = nrpa(state, level, alpha=alpha, beam=beam, seed=seed, threads=1, control=control, on_best=on_best)
    return runs[0] if runs else None


def run_task(settings: CampaignSettings, seed: int, seconds: float | None = None) -> Task:
    """One run of a campaign as a task, which is cut short after a number of seconds."""
    arguments = {"settings": asdict(settings), "seed": seed, "seconds": seconds}
    return Task(str(seed), f"{__name__}:do_run", arguments)


def do_run(settings: dict[str, Any], seed: int, seconds: float | None) -> dict[str, Any]:
    """Do a task of a campaign; notes every better game."""
    control, best = Control(), list[int]()

    def better(_: int, score: float, actions: list[int]) -> None:
        nonlocal best
        best = list(actions)
        note({"actions": best, "playouts": control.done})

    chosen = CampaignSettings(**settings)
    clock = threading.Timer(threading.TIMEOUT_MAX if seconds is None else max(0.0, seconds), control.stop)
    clock.daemon = True
    clock.start()
    try:
        run = search_once(load("morpion", chosen.variant).initial_state(), chosen, seed, control, better)  # type: ignore[arg-type]
    finally:
        clock.cancel()
    cut = run is None or control.stopped
    figures = {"score": len(best), "playouts": control.done, "cpu_seconds": 0.0}
    if run is not None and not cut:
        figures = {"score": int(run.score), "playouts": run.playouts, "cpu_seconds": round(run.cpu_seconds, 6)}
    return {"seed": seed, "cut": cut, "actions": best, **figures}


@dataclass(frozen=True)
class DoneRun:
    """A run that came to its end."""

    seed: int
    score: int
    playouts: int
    cpu_seconds: float


@dataclass(frozen=True)
class Best:
    """The longest game found, approved by the referee."""

    score: int
    seed: int
    """Seed of the run that found it."""
    seconds: float
    """Wall time of the campaign up to then."""
    how: str
    """Version, command and date."""
    record: str
    """The game and how it was found, as a `.psol` text."""


class Described(Protocol):
    """The settings of a search: a dataclass that says at least this."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def variant(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def seed(self) -> int: ...


class SavedSearch:
    """The best game that a search has found, and how. With `path` everything is saved: `path` itself holds what was
    done, and beside it lie the best grid as `.psol` and as `.svg`."""

    kind = "morpion search"

    def __init__(self, settings: Described, path: Path | str | None = None, resume: bool = False) -> None:
        path = None if path is None else Path(path)
        self.settings, self.path = settings, path
        game = load("morpion", settings.variant)
        assert isinstance(game, Morpion)
        self.game = game
        self.runs: list[DoneRun] = []
        self.found: Best | None = None
        self.history: list[tuple[float, int]] = []
        """Seconds of the search and score, at every better game."""
        self.playouts, self.seconds = 0, 0.0
        self.failures: dict[str, str] = {}
        """Seeds of runs that failed, with their errors."""
        if path is None:
            return
        if path.suffix in (".psol", ".svg"):
            raise ValueError(f"the grids are written beside {path}, which is to hold what was done: call it .json")
        if path.exists():
            if not resume:
                raise ValueError(f"{path} already holds a search; use --resume to continue it, or another file")
            self._load(path)

    @property
    def best(self) -> Best:
        if self.found is None:
            raise ValueError("no game has been found yet")
        return self.found

    @property
    def state(self) -> MorpionState:
        """The end of the best game."""
        return self.game.parse_state(self.best.record)

    def command(self, seed: int) -> str:
        """The command that finds what the run with this seed has found."""
        raise NotImplementedError

    def _offer(self, seed: int, actions: list[int]) -> None:
        """Take a game for the best one if it is, and if the referee agrees with every move."""
        if self.found is not None and len(actions) <= self.found.score:
            return
        state = self.game.initial_state()
        for action in actions:
            state.apply(action)
        date = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        how = f"found by rookery {__version__}: {self.command(seed)}, {date}"
        record = state.record(how)
        judged = verify(record)
        if not (judged.legal and judged.terminal and judged.score == len(actions)):
            raise AssertionError(f"the referee rejects a game that the search found: {judged}\n{record}")
        self.found = Best(len(actions), seed, round(self.seconds, 3), how, record)
        self.history.append((self.found.seconds, self.found.score))

    @property
    def verdict(self) -> str | None:
        """How the best game stands to the best one known to anybody; None if it is shorter."""
        record = RECORDS[self.settings.variant]
        if self.found is None or self.found.score < record:
            return None
        relation = "equals" if self.found.score == record else "BEATS"
        name = self.settings.variant
        return f"{self.found.score} moves {relation} the record of {record} for {name}; the referee agrees"

    def data(self) -> dict[str, Any]:
        """All that is known, for JSON."""
        return {
            "kind": self.kind, "version": __version__, "settings": asdict(self.settings),
            "playouts": self.playouts, "seconds": round(self.seconds, 3),
            "runs": [asdict(run) for run in self.runs],
            "best": asdict(self.found) if self.found else None, "history": self.history,
        }  # fmt: skip

    def save(self) -> None:
        """Write what was done, if there is a file for it; the grids only where they have changed."""
        if self.path is None:
            return
        write_text(self.path, json.dumps(self.data()) + "\n")
        psol = self.path.with_suffix(".psol")
        if self.found and not (psol.exists() and psol.read_text(encoding="utf-8") == self.found.record):
            write_text(psol, self.found.record)
            write_text(self.path.with_suffix(".svg"), self.state.svg(remarks=[self.found.how]))

    def _load(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["kind"] != self.kind:
                raise ValueError(f"it holds {data['kind']!r}")
            settings = type(self.settings)(**data["settings"])
            self.runs = [DoneRun(**row) for row in data["runs"]]
            self.found = Best(**data["best"]) if data["best"] else None
            self.history = [(float(seconds), int(score)) for seconds, score in data["history"]]
            self.playouts, self.seconds = int(data["playouts"]), float(data["seconds"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is no saved search of morpion, or is damaged: {error}") from None
        if settings != self.settings:
            raise ValueError(f"{path} was searched with {_words(settings)}; not {_words(self.settings)}")
        if self.found:
            judged = verify(self.found.record, settings.variant)
            if not judged.legal or judged.score != self.found.score:
                raise ValueError(f"{path} is damaged: its best game is not legal or not of {self.found.score} moves")


class Campaign(SavedSearch):
    """Runs one after the other, on several threads, saved at every better game and after every run, or every second
    where runs are very short."""

    settings: CampaignSettings

    def __init__(self, settings: CampaignSettings, path: Path | str | None = None, resume: bool = False) -> None:
        super().__init__(settings, path, resume)
        if resume and self.path is not None and self.path.with_suffix(".jsonl").exists():
            self._absorb(self.job(0))

    def command(self, seed: int) -> str:
        alpha = f" --alpha {self.settings.alpha:g}" if self.settings.method.endswith("nrpa") else ""
        return (
            f"rookery search morpion --variant {self.settings.variant} --method {self.settings.method} "
            f"--level {self.settings.level} --seed {seed}{alpha}"
        )

    def go(
        self,
        runs: int | None = None,
        seconds: float | None = None,
        threads: int = 0,
        tick: Callable[[], None] = lambda: None,
        on: str = "here",
    ) -> None:
        """Do a number of further runs, or as many as fit into a number of seconds; the first limit that is met counts.

        `tick` is called about ten times per second. Ctrl-C ends the search, saves, and is raised again. A run cut short
        is not a done one: it will be made again from its start. `here` means `threads` runs at a time in this process;
        on another executor of `rookery.scale` every run is a task.
        """
        if check_on(on) != "here":
            self._go_elsewhere(on, runs, seconds, tick)
            return
        threads = threads or cores()
        control, start = Control(), self.game.initial_state()
        begin, before, playouts_before = time.monotonic(), self.seconds, self.playouts
        news: queue.SimpleQueue[tuple[int, list[int]]] = queue.SimpleQueue()
        done = {run.seed for run in self.runs}
        seeds = (seed for seed in range(self.settings.seed, 2**63) if seed not in done)
        left, saved = runs, begin

        def one_run(seed: int) -> DoneRun | None:
            """None if it was cut short."""
            run = search_once(start, self.settings, seed, control, lambda i, score, actions: news.put((seed, actions)))
            if run is None or control.stopped:
                return None
            return DoneRun(seed, int(run.score), run.playouts, round(run.cpu_seconds, 6))

        def look() -> None:
            self.seconds = before + time.monotonic() - begin
            self.playouts = playouts_before + control.done
            if not news.empty():
                while not news.empty():
                    self._offer(*news.get())
                self.save()
            tick()

        with ThreadPoolExecutor(threads) as pool:
            under_way: set[Future[DoneRun | None]] = set()
            try:
                while True:
                    if seconds is not None and time.monotonic() - begin >= seconds:
                        control.stop()
                    while len(under_way) < threads and left != 0 and not control.stopped:
                        under_way.add(pool.submit(one_run, next(seeds)))
                        left = None if left is None else left - 1
                    if not under_way:
                        break
                    finished, under_way = wait(under_way, timeout=0.1, return_when=FIRST_COMPLETED)
                    look()
                    self.runs += [run for future in finished if (run := future.result())]
                    self.runs.sort(key=lambda run: run.seed)
                    if finished and time.monotonic() - saved > 1:  # very short runs do not wait for the disk
                        self.save()
                        saved = time.monotonic()
            finally:
                control.stop()
                wait(under_way)
                look()
                self.save()

    def _go_elsewhere(self, on: str, runs: int | None, seconds: float | None, tick: Callable[[], None]) -> None:
        begin, before = time.monotonic(), self.seconds
        done = {run.seed for run in self.runs}
        seeds = (seed for seed in range(self.settings.seed, 2**63) if seed not in done)
        playouts, under_way = self.playouts, dict[str, int]()  # those of runs that are not at their end
        saved = begin

        def tasks() -> Iterator[Task]:
            for seed in seeds if runs is None else islice(seeds, runs):
                left = None if seconds is None else seconds - (time.monotonic() - begin)
                if left is not None and left <= 0:
                    return
                yield run_task(self.settings, seed, left)

        def look(better: bool = False) -> None:
            nonlocal saved
            self.seconds = before + time.monotonic() - begin
            self.playouts = playouts + sum(under_way.values())
            if better or time.monotonic() - saved > 1:
                self.save()
                saved = time.monotonic()
            tick()

        def hear(key: str, said: dict[str, Any]) -> None:
            under_way[key] = said["playouts"]
            if better := self.found is None or len(said["actions"]) > self.found.score:
                self._offer(int(key), said["actions"])
            look(better)

        try:
            for message in carry_out(tasks(), on, count=runs, on_note=hear):
                if message and message.kind == "row":
                    hear(message.key, message.data)
                    playouts += under_way.pop(message.key)
                    self._add(message.data)
                elif message:
                    self.failures[message.key] = message.data
                look()
        finally:
            look(better=True)

    def job(self, runs: int, shard: Shard | None = None) -> Job:
        """The first runs of the campaign as a job, whose rows lie beside `path`; `resume` takes them from there."""
        file = None if self.path is None else self.path.with_suffix(".jsonl")
        tasks = [run_task(self.settings, self.settings.seed + i) for i in range(runs)]
        return Job({"job": "morpion search", **asdict(self.settings)}, tasks, file=file, shard=shard)

    def _absorb(self, job: Job) -> None:
        """Take over the runs of a job that was done in shards."""
        job.resume()
        done = {run.seed for run in self.runs}
        for row in job.rows.values():
            if row["seed"] not in done:
                self._add(row)
                self.playouts += row["playouts"]
                self._offer(row["seed"], row["actions"])

    def _add(self, row: dict[str, Any]) -> None:
        if not row["cut"]:
            self.runs.append(DoneRun(row["seed"], row["score"], row["playouts"], row["cpu_seconds"]))
            self.runs.sort(key=lambda run: run.seed)


def _words(settings: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in asdict(settings).items())


# As a method


@dataclass(frozen=True)
class Settings:
    """What a search does. A run of level n makes 100**n playouts (NMCS: as many as it takes)."""

    method: Method = "repair"
    """Destroy and repair, the same with replica exchange, or a nested search."""
    level: int = 3
    """A run makes 100 to the power of this many playouts; NMCS nests this deep."""
    alpha: float = ALPHA
    """Step size of one adaptation of NRPA."""
    runs: int = duration(0)
    """Stop after N runs; 0 means no limit, and a single run if there is no limit of minutes either."""
    minutes: float = duration(0.0)
    """Stop after this many minutes; 0 means no limit."""
    threads: int = duration(0)
    """Runs at a time; 0 means one per core."""

    def __post_init__(self) -> None:
        check_at_least(self, 0, "runs", "minutes", "threads")


def train(game: Morpion, settings: Settings, run: Run) -> Iterator[Row]:
    """Search until the runs or the minutes are up; yields a row of metrics several times per minute."""
    chosen = CampaignSettings(game.lines, settings.method, settings.level, run.seed, settings.alpha)
    campaign = Campaign(chosen, run.folder / "best.json", resume=True)
    run.rows = read_metrics(run.folder)
    runs = settings.runs or (0 if settings.minutes else 1)
    limit = 60 * settings.minutes or math.inf
    part = min(10.0, max(1.0, limit / 20))
    while (not runs or len(campaign.runs) < runs) and campaign.seconds < limit:
        left = runs - len(campaign.runs) if runs else None
        # A run cut short begins anew, so where runs are counted each comes to its end.
        campaign.go(min(left, settings.threads or cores()) if left else None,
                    None if left else min(part, limit - campaign.seconds), settings.threads)  # fmt: skip
        scores = [done.score for done in campaign.runs]
        row = {
            "seconds": round(campaign.seconds, 3), "runs": len(scores), "playouts": campaign.playouts,
            "score": campaign.best.score if campaign.found else 0,
            "mean": sum(scores) / len(scores) if scores else None,
            "progress": min(1.0, len(scores) / runs if runs else campaign.seconds / limit),
        }  # fmt: skip
        run.add(row)
        run.write_metrics()
        yield row
