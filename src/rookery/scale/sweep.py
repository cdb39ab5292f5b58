"""Sweeps: a method trained with many settings and seeds, and which settings are best.

Each trial is one choice of settings, trained once per seed. `grid` tries all combinations, `random` draws them; `tpe`,
`cmaes` and `gp` are samplers of Optuna, which learn from the trials before. With `prune`, Optuna stops trials early
that do worse than others did after as many rows of metrics.

>>> quick = {"variant": "3x3-three", "updates": 2, "turns": 2, "max_rounds": 200}
>>> found = sweep("tenten", "lspi", {"discount": [0.5, 0.9]}, seeds=2, out="runs/sweep", **quick)
>>> [(trial.settings, len(trial.values)) for trial in found.trials]
[({'discount': 0.5}, 2), ({'discount': 0.9}, 2)]
>>> found.best.settings in ({"discount": 0.5}, {"discount": 0.9})
True
"""

from __future__ import annotations

import itertools
import math
import random
import shlex
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rookery import arena
from rookery.files import write_text
from rookery.game import Game
from rookery.method import Method, filled, suggestion
from rookery.registry import agent as load_agent
from rookery.registry import load
from rookery.report import html, plots
from rookery.report.study import Figure, Result, Table
from rookery.report.text import cell
from rookery.run import Row, Run, as_json, settings_from
from rookery.scale.executors import carry_out
from rookery.scale.jobs import Job, parse_shard
from rookery.scale.tasks import Needs, Task
from rookery.statistics import median_interval
from rookery.training import TrainingRun, learner, option_words, settings_for, train

Sampler = Literal["grid", "random", "tpe", "cmaes", "gp"]
SAMPLERS: tuple[Sampler, ...] = typing.get_args(Sampler)
Value = int | float | str | bool
MAX_TRIALS = 100_000


@dataclass(frozen=True)
class Dimension:
    """One setting that is swept: a list of values, or a range."""

    name: str
    values: tuple[Value, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    whole: bool = False
    """Whether values of the range are whole numbers."""

    def draw(self, rng: random.Random) -> Value:
        """A value at random, uniform in the range or in its logarithm."""
        if self.values:
            return rng.choice(self.values)
        if self.log:
            value = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        else:
            value = rng.uniform(self.low, self.high)
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def suggest(self, trial: Any) -> Value:
        """The value that Optuna chooses for a trial."""
        value: Value
        if self.values:
            value = trial.suggest_categorical(self.name, list(self.values))
        elif self.whole:
            value = trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log)
        else:
            value = trial.suggest_float(self.name, self.low, self.high, log=self.log)
        return value


def dimension(name: str, given: Any, method: Method, defaults: Any) -> Dimension:
    """A dimension from `LOW..HIGH`, `LOW..HIGH:log`, `A,B,C` or a list of values; ValueError says what is wrong.

    >>> from rookery.registry import method
    >>> lspi = method("lspi", load("tenten"))
    >>> dimension("discount", "0.5..0.9", lspi, lspi.Settings()).high
    0.9
    >>> dimension("discont", "0.5", lspi, lspi.Settings())
    Traceback (most recent call last):
    ...
    ValueError: unknown setting 'discont' of lspi; did you mean 'discount'?
    """
    name = name.replace("-", "_")
    names = [f.name for f in fields(method.Settings)]
    if name not in names:
        raise ValueError(f"unknown setting {name[:40]!r} of {method.name}{suggestion(name, names, 'settings')}")

    def converted(value: Any) -> Any:
        return getattr(filled(method.Settings, {name: value}, defaults, method.name), name)

    if isinstance(given, str) and ".." in given:
        ends, _, scale = given.partition(":")
        low, high = (converted(end) for end in ends.split("..", 1))
        if isinstance(low, bool) or not isinstance(low, (int, float)):
            raise ValueError(f"{name} is not a number, and has no range; name its values, such as {name}=a,b")
        if scale not in ("", "log"):
            raise ValueError(f"a range is LOW..HIGH or LOW..HIGH:log, not {given[:60]!r}")
        if not low < high or (scale and low <= 0):
            above = " and above 0" if scale else ""
            raise ValueError(f"the range of {name} must rise{above}, unlike {given[:60]!r}")
        return Dimension(name, low=low, high=high, log=bool(scale), whole=isinstance(low, int))
    listed = given.split(",") if isinstance(given, str) else list(given)
    values = tuple(converted(value) for value in listed)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"the values of {name} must be different from each other, unlike {str(given)[:60]!r}")
    return Dimension(name, values)


@dataclass(frozen=True)
class Trial:
    """One choice of settings, and what came of it."""

    number: int
    settings: dict[str, Value]
    values: dict[int, float] = field(default_factory=dict)
    """What the metric was at the end, by seed."""
    error: str = ""
    """What went wrong, if something did."""
    pruned: bool = False

    @property
    def median(self) -> float | None:
        return float(np.median(list(self.values.values()))) if self.values else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the median over seeds; with less than six seeds, their range."""
        return median_interval(list(self.values.values())) if self.values else None


@dataclass
class Sweep:
    """What a sweep does, and its trials. A notebook shows it as a table."""

    game: Game
    method: Method
    over: list[Dimension]
    settings: Any
    """Settings of the method that are not swept."""
    count: int
    seeds: int
    sampler: Sampler
    metric: str
    minimize: bool
    against: str
    games: int
    seed: int
    folder: Path
    prune: bool = False
    track: Sequence[str] = ()
    """Trackers of every run."""
    base_command: str = ""
    """The command line that trains the method, without what is swept."""
    trials: list[Trial] = field(default_factory=list)

    @property
    def best(self) -> Trial:
        """The trial with the best median."""
        done = [trial for trial in self.trials if trial.median is not None and not trial.pruned]
        if not done:
            errors = [trial.error for trial in self.trials if trial.error]
            raise ValueError(f"no trial has finished{f'; the first one that failed: {errors[0]}' if errors else ''}")
        return (min if self.minimize else max)(done, key=lambda trial: typing.cast(float, trial.median))

    @property
    def ranking(self) -> list[Trial]:
        """The trials, best first; those without a result last."""
        sign = 1 if self.minimize else -1
        return sorted(self.trials, key=lambda t: (t.median is None, t.pruned, sign * (t.median or 0.0), t.number))

    def command(self, trial: Trial) -> str:
        """The command that trains with the settings of a trial."""
        chosen = [word for name, value in trial.settings.items() for word in option_words(name, value)]
        return f"{self.base_command or self._base()} {shlex.join([*chosen, '--seed', str(self.seed)])}"

    def _base(self) -> str:
        """The command that trains with the settings that are not swept, for a sweep that no command began."""
        words = [self.game.name, self.method.name, *(["--variant", self.game.variant] if self.game.variant else [])]
        defaults, swept = as_json(settings_for(self.game, self.method, {}, None)), {dim.name for dim in self.over}
        for name, value in as_json(self.settings).items():
            if value != defaults[name] and name not in swept:
                words += option_words(name, value)
        return f"rookery train {shlex.join(words)}"

    def header(self) -> dict[str, Any]:
        return {
            "job": "sweep", "game": self.game.name, "options": self.game.options, "method": self.method.name,
            "settings": as_json(self.settings), "over": [asdict(dim) for dim in self.over], "trials": self.count,
            "seeds": self.seeds, "sampler": self.sampler, "metric": self.metric, "minimize": self.minimize,
            "against": self.against, "games": self.games, "seed": self.seed, "prune": self.prune,
        }  # fmt: skip

    def rows(self) -> list[list[str]]:
        """The trials as text, best first: settings, median, interval, seeds, error."""
        found = []
        for trial in self.ranking:
            low, high = trial.interval or (0.0, 0.0)
            figures = [cell(trial.median), f"{low:.4g} to {high:.4g}"] if trial.values else ["-", "-"]
            remark = "stopped early" if trial.pruned else trial.error
            shown = [cell(trial.settings.get(dim.name)) for dim in self.over]
            found.append([str(trial.number), *shown, *figures, str(len(trial.values)), remark])
        return found

    @property
    def columns(self) -> list[str]:
        return ["trial", *(dim.name for dim in self.over), self.metric, "95%", "seeds", "remark"]

    def result(self) -> Result:
        """The table and the figure as a report shows them."""
        note = (
            f"Medians over {self.seeds} seeds of {self.metric}, {'least' if self.minimize else 'greatest'} first. "
            "Intervals are order statistics; with fewer than six seeds they are the range, which covers the median "
            f"with probability {1 - 2 * 0.5**self.seeds:.1%}."
        )
        title = f"{self.method.name} on {self.game.name}: {len(self.trials)} trials by {self.sampler}"
        table = Table(title, self.columns, self.rows(), self.command(self.best), note)
        return Result("sweep", title, self.seed, [table], self.figures())

    def figures(self) -> list[Figure]:
        done = [trial for trial in self.ranking if trial.median is not None]
        if len(done) < 2:
            return []
        axes: dict[str, list[Any]] = {dim.name: [trial.settings[dim.name] for trial in done] for dim in self.over}
        axes[self.metric] = [trial.median for trial in done]
        logs = {dim.name for dim in self.over if dim.log}
        drawn = plots.draw(lambda figure: plots.parallel(figure.subplots(), axes, logs), 8.0, 3.6)
        return [Figure(drawn, f"Every line is a trial; the darker, the better its {self.metric}.", True)]

    def write(self) -> Path:
        """Write the table, the figure and the page into the folder; returns the page."""
        result = self.result()
        result.write_csv(self.folder)
        for figure in result.figures:
            write_text(self.folder / "sweep.svg", figure.svg)
        page = self.folder / "index.html"
        write_text(page, html.page(result.title, result.html()))
        return page

    def data(self) -> dict[str, Any]:
        best = self.best
        return {
            "trials": [
                {
                    "trial": trial.number, "settings": trial.settings, "median": trial.median,
                    "interval": trial.interval, "values": trial.values, "error": trial.error, "pruned": trial.pruned,
                }
                for trial in self.ranking
            ],
            "best": best.settings, "metric": self.metric, "command": self.command(best),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<Sweep of {self.method.name} on {self.game.name}: {len(self.trials)} trials>"

    def _repr_html_(self) -> str:
        return self.result().html()

    # Trials and tasks

    def draw(self) -> list[dict[str, Value]]:
        """The settings of every trial of `grid` and `random`."""
        if self.sampler == "grid":
            names = [dim.name for dim in self.over]
            combinations = itertools.product(*(dim.values for dim in self.over))
            return [dict(zip(names, values, strict=True)) for values in combinations]
        draws = (random.Random(f"{self.seed} trial {number}") for number in range(self.count))
        return [{dim.name: dim.draw(rng) for dim in self.over} for rng in draws]

    def task(self, number: int, chosen: dict[str, Value], seed: int) -> Task:
        """The training of one trial with one seed."""
        arguments = {
            "settings": as_json(self.settings) | chosen, "method": self.method.name, "seed": self.seed + seed,
            "folder": str(self.folder / "runs" / f"{number}-{seed}"), "metric": self.metric, "against": self.against,
            "games": self.games, "track": list(self.track),
        }  # fmt: skip
        return Task(f"{number}/{seed}", f"{__name__}:run_trial", arguments, self.needs)

    @property
    def needs(self) -> Needs:
        return Needs(cores=max(1, getattr(self.settings, "threads", 0)))

    def collect(self, chosen: Sequence[dict[str, Value]], job: Job) -> None:
        """Take the trials from the rows of a job."""
        self.trials = []
        for number, settings in enumerate(chosen):
            keys = {seed: f"{number}/{seed}" for seed in range(self.seeds)}
            values = {seed: job.rows[key]["value"] for seed, key in keys.items() if key in job.rows}
            errors = [job.failures[key] for key in keys.values() if key in job.failures]
            if values or errors:
                self.trials.append(Trial(number, settings, values, errors[0] if errors else ""))


def plan(
    game: Game | str, method: str | Method, over: Mapping[str, Any], *, variant: str | None = None,
    trials: int | None = None, seeds: int = 1, sampler: Sampler | None = None, prune: bool = False,
    metric: str | None = None, minimize: bool | None = None, against: str = "", match_games: int = 100, seed: int = 0,
    out: Path | str | None = None, preset: str | None = None, settings: Any = None,
    track: Sequence[str] = (), base_command: str = "", **given: Any,
) -> Sweep:  # fmt: skip
    """A sweep that has not run yet; ValueError says what is wrong with it."""
    rules = load(game, variant) if isinstance(game, str) else game
    chosen = learner(rules, method) if isinstance(method, str) else method
    settings = settings_for(rules, chosen, given, preset) if settings is None else settings
    dimensions = [dimension(name, value, chosen, settings) for name, value in over.items()]
    if not dimensions and seeds == 1:
        raise ValueError("name at least one setting to sweep, such as learning_rate=1e-4..1e-2:log")
    combinations = math.prod(len(dim.values) for dim in dimensions)  # 0 if there is a range
    if sampler is None:
        sampler = "tpe" if prune else "grid" if combinations and trials in (None, combinations) else "random"
    if sampler not in SAMPLERS:
        raise ValueError(f"unknown sampler {sampler!r}{suggestion(sampler, SAMPLERS, 'samplers')}")
    if sampler == "grid" and not combinations:
        raise ValueError("a grid needs lists of values, and one of the settings has a range")
    if prune and sampler in ("grid", "random"):
        raise ValueError("only the samplers of Optuna prune: tpe, cmaes and gp")
    count = combinations if sampler == "grid" else 20 if trials is None else trials
    for name, number, most in (
        ("trials", count, MAX_TRIALS),
        ("seeds", seeds, 1000),
        ("games", match_games, 1_000_000),
    ):
        if not 1 <= number <= most:
            raise ValueError(f"the number of {name} must be from 1 to {most:,}, and is {number}")
    if against:
        load_agent(against, rules)  # says what is wrong with it
        metric = "score" if rules.players == 2 else "mean_return"
    metric = metric or chosen.headline
    if minimize is None:
        minimize = metric in ("loss", "error", "drift")
    folder = Path(out) if out is not None else Path("runs") / "-".join(
        filter(None, ["sweep", rules.name, chosen.name, rules.variant])
    )  # fmt: skip
    return Sweep(
        rules, chosen, dimensions, settings, count, seeds, sampler, metric, minimize, against, match_games, seed,
        folder, prune, track, base_command,
    )  # fmt: skip


def sweep(
    game: Game | str, method: str | Method, over: Mapping[str, Any], *, on: str = "here", shard: str | None = None,
    timeout: float | None = None, resume: bool = False, shown: bool = True, **given: Any,
) -> Sweep:  # fmt: skip
    """Train a method with many settings and return the sweep, with `trials`, `best` and `command(trial)`.

    `over` maps settings to lists of values or to ranges such as "1e-4..1e-2:log". Further keywords are `variant`,
    `trials`, `seeds`, `sampler`, `prune`, `metric`, `minimize`, `against`, `match_games`, `seed`, `out`, `preset`,
    `track`, and fixed settings of the method. The value of a trial is the last `metric` of training, or with `against`
    the result of `match_games` games against that agent. A trial that fails is kept with its error.
    """
    planned = plan(game, method, over, **given)
    if planned.sampler in ("grid", "random"):
        job = grid_job(planned, shard)
        if resume:
            job.resume()
        for _ in job.run(on, timeout=timeout, label=planned.method.name, shown=shown):
            pass
        planned.collect(planned.draw(), job)
    else:
        if shard:
            raise ValueError("only grid and random can be divided into shards; several processes of Optuna share a log")
        run_optuna(planned, on, resume, timeout, shown)
    return planned


def grid_job(planned: Sweep, shard: str | None = None) -> Job:
    """The trials of `grid` and `random` as a job."""
    chosen = planned.draw()
    tasks = [planned.task(n, settings, seed) for seed in range(planned.seeds) for n, settings in enumerate(chosen)]
    file = planned.folder / "trials.jsonl"
    return Job(planned.header(), tasks, file=file, shard=parse_shard(shard), shared=planned.game)


def run_trial(
    game: Game, settings: dict[str, Any], method: str, seed: int, folder: str, metric: str, against: str, games: int,
    track: Sequence[str] = (), on_row: Any = None,
) -> dict[str, Any]:  # fmt: skip
    """Train once, as a task. A run that an interruption left in the folder is resumed."""
    chosen = learner(game, method)
    options = settings_from(chosen.Settings, settings)
    if getattr(options, "threads", None) == 0:  # native code would take all cores
        options = replace(options, threads=1)
    run = train(
        game,
        chosen,
        out=folder,
        seed=seed,
        resume=True,
        settings=options,
        on_row=on_row or (lambda row: None),
        track=track,
    )
    value = measured(game, chosen, run, metric, against, games)
    return {"value": value, "run": folder, "seconds": run.info["seconds"], "metrics": run.rows[-1] if run.rows else {}}


def measured(game: Game, method: Method, run: TrainingRun, metric: str, against: str, games: int) -> float:
    """The number that a trial is judged by."""
    if against:
        played = arena.match(game, run.agent(), against, games + games % 2, run.seed, on_game=lambda: None)
        return played.score if game.players == 2 else played.means[0]
    last: Row = run.rows[-1] if run.rows else {}
    for evaluated in (False, True):
        value: Any = method.evaluate(game, run) if evaluated else last
        for part in metric.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    known = [name for name, value in last.items() if isinstance(value, (int, float)) and name != "progress"]
    raise ValueError(f"{method.name} reports no number {metric!r}{suggestion(metric, known, 'metrics')}")


# Optuna


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError:
        raise ValueError("Optuna is not installed: pip install 'rookery[sweep]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _study(file: str, **more: Any) -> Any:
    """The study in a journal, which survives a kill and which several processes may write."""
    optuna = _optuna()
    backend = optuna.storages.journal.JournalFileBackend(file)
    return optuna.create_study(
        study_name="sweep", storage=optuna.storages.JournalStorage(backend), load_if_exists=True, **more
    )


def run_optuna(planned: Sweep, on: str, resume: bool, timeout: float | None, shown: bool) -> None:
    """Do the trials of a sampler that learns from the trials before."""
    optuna = _optuna()
    samplers = {"tpe": "TPESampler", "cmaes": "CmaEsSampler", "gp": "GPSampler"}
    sampler = getattr(optuna.samplers, samplers[planned.sampler])(seed=planned.seed)
    journal = planned.folder / "optuna.log"
    planned.folder.mkdir(parents=True, exist_ok=True)
    job = Job(planned.header(), [], file=planned.folder / "trials.jsonl", shared=planned.game)
    if resume:
        job.resume()
    job.open()
    study = _study(str(journal), sampler=sampler, direction="minimize" if planned.minimize else "maximize")
    for trial in study.get_trials(deepcopy=False):
        if not trial.state.is_finished():  # a kill left it
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    chosen: dict[str, Any] = {}

    def tasks() -> Iterator[Task]:
        while len(job.rows) + len(job.failures) + len(chosen) < planned.count:
            trial = study.ask()
            settings = {dim.name: dim.suggest(trial) for dim in planned.over}
            chosen[str(trial.number)] = settings
            first = planned.task(trial.number, settings, 0)
            arguments = {
                "each": [planned.task(trial.number, settings, seed).arguments for seed in range(planned.seeds)],
                "chosen": settings, "journal": str(journal.resolve()) if planned.prune else "",
                "trial": trial._trial_id, "metric": planned.metric,
            }  # fmt: skip
            yield Task(str(trial.number), f"{__name__}:run_optuna_trial", arguments, first.needs)

    left = planned.count - len(job.rows)
    for message in job.carry(
        carry_out(tasks(), on, shared=planned.game, timeout=timeout, count=left), planned.count, "trials", shown
    ):
        number = int(message.key)
        del chosen[message.key]
        if message.kind == "error":
            study.tell(number, state=optuna.trial.TrialState.FAIL)
        elif message.data["pruned"]:
            study.tell(number, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(number, float(np.median([row["value"] for row in message.data["rows"]])))
    planned.trials = [
        Trial(int(key), row["chosen"], dict(enumerate(r["value"] for r in row["rows"])), pruned=row["pruned"])
        for key, row in job.rows.items()
    ]
    known = {trial.number: trial.params for trial in study.get_trials(deepcopy=False)}
    planned.trials += [Trial(int(key), known.get(int(key), {}), error=text) for key, text in job.failures.items()]
    planned.trials.sort(key=lambda trial: trial.number)


class _Pruned(Exception):
    """Optuna has stopped the trial."""


def run_optuna_trial(
    game: Game, each: list[dict[str, Any]], chosen: dict[str, Value], journal: str, trial: int, metric: str
) -> dict[str, Any]:
    """All seeds of one trial, as a task. The first seed's rows decide whether it is stopped early."""
    rows: list[Row] = []
    reporting: Any = None
    if journal:
        reporting = _optuna().trial.Trial(_study(journal), trial)
    steps = itertools.count()

    def report(row: Row) -> None:
        value = row.get(metric)
        if reporting is not None and not rows and isinstance(value, (int, float)):
            reporting.report(float(value), next(steps))
            if reporting.should_prune():
                raise _Pruned

    try:
        for arguments in each:
            rows.append(run_trial(game, **arguments, on_row=report))
    except _Pruned:
        Run.open(each[0]["folder"]).note("stopped")
        return {"chosen": chosen, "rows": [], "pruned": True}
    return {"chosen": chosen, "rows": rows, "pruned": False}
