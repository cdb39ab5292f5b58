"""Every generic method on every game that has exams: the methods of five papers crossed with their games.

A cell is a method, an exam of a game (`rookery.exam`) and a seed: the method trains for a number of CPU seconds, the
same for all, with the settings it has for any game, and is then examined. Beside it stand random play, the strongest
agent that ships, and perfect play where it is known. Cells are tasks of `rookery.scale`: they are kept as they come,
and a study that was stopped goes on with the next.
"""

from __future__ import annotations

import contextlib
import importlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from rookery.agents import Agent
from rookery.exam import Exam, examine
from rookery.game import Game
from rookery.learn.methods import METHODS as LEARNERS
from rookery.method import Method
from rookery.registry import GAMES, agent, load
from rookery.report import plots
from rookery.report.study import Figure, Result, Table
from rookery.report.text import Exact
from rookery.run import Row, as_json
from rookery.scale import Job, Task
from rookery.search.methods import METHODS as SEARCHES
from rookery.statistics import bootstrap_interval
from rookery.studies.sizes import Size
from rookery.training import option_words, train

REFERENCES = ("random", "strongest", "exact")
"""Players that every exam is also given to."""
METHODS: dict[str, Method] = {
    method.name: method
    for method in (*LEARNERS, *SEARCHES)
    if method.kind == "learn" or method.trained_by or method.name in ("mcts", "backtracking", "best-first")
}
SMALLER: dict[str, dict[str, Any]] = {
    "zero": {"channels": 16, "blocks": 2, "games": 16, "simulations": 24, "actors": 1, "iterations": 0, "minutes": 1e6},
}
"""Settings that suit budgets of seconds, where a method's own are for minutes."""
OPTIONS: dict[str, dict[str, Any]] = {"zero": {"simulations": 32}, "mcts": {"simulations": 100}}
"""Options of agents, so that no move takes long."""
LENGTHS = ("games", "steps", "updates", "iterations")
"""Names of settings that say how long to train."""


def run(size: Size, seed: int, folder: Path, console: Console, on: str = "processes") -> Result:
    """Fill the table."""
    begin = time.perf_counter()
    plan = Plan.of(size)
    header = {"job": "cross", "size": size.name, "seed": seed, "budget": plan.budget}
    job = Job(header, list(plan.tasks(seed)), file=folder / "cells.jsonl")
    job.resume()
    for _ in job.run(on, label="cells", shown=True, retries=0):
        pass
    cells = Cells(plan, job.rows, job.failures, f"rookery reproduce cross{size.flag} --seed {seed}")
    return Result(
        "cross",
        "Every method on every game",
        seed,
        [cells.table(), cells.best()],
        [cells.heat_map()],
        time.perf_counter() - begin,
        settings={"budget": plan.budget, "seeds": plan.seeds},
    )


def all_exams() -> list[tuple[str, int, Exam]]:
    """Every exam: the game's name, its number, and the exam; small ones first."""
    found = []
    for name in GAMES:
        module = GAMES[name].__module__.rpartition(".")[0]
        try:
            exams: Sequence[Exam] = importlib.import_module(f"{module}.exams").EXAMS
        except ModuleNotFoundError:
            continue
        found += [(name, number, exam) for number, exam in enumerate(exams)]
    return sorted(found, key=lambda row: not row[2].small)


class Plan:
    """Which cells there are, and how long each may take."""

    def __init__(self, budget: float, seeds: int, share: float, exams: list[tuple[str, int, Exam]]) -> None:
        self.budget, self.seeds, self.share, self.exams = budget, seeds, share, exams

    @staticmethod
    def of(size: Size) -> Plan:
        exams = all_exams()
        if size.name == "quick":
            return Plan(1.0, 1, 0.2, [row for row in exams if row[2].small])
        return Plan(15.0, 2, 0.25, exams) if size.name == "default" else Plan(600.0, 3, 1.0, exams)

    def tasks(self, seed: int) -> Iterator[Task]:
        for game, number, exam in self.exams:
            for player in (*REFERENCES, *METHODS):
                trains = player in METHODS and _learner(METHODS[player]) is not None
                for one in range(self.seeds if trains else 1):
                    arguments = {"game": game, "number": number, "player": player, "seed": seed + one}
                    games = exam.games if player in REFERENCES else max(2, round(self.share * exam.games))
                    arguments |= {"budget": self.budget, "games": games}
                    yield Task(f"{game} {exam.variant} {player} {seed + one}", f"{__name__}:cell", arguments)


def cell(game: str, number: int, player: str, seed: int, budget: float, games: int) -> Row:
    """Train a player if it learns, and examine it. The row has its scores, or why there are none."""
    exam = next(exam for name, place, exam in all_exams() if (name, place) == (game, number))
    rules = load(game, exam.variant, **exam.options)
    row: Row = {"trained": 0.0}
    if player in REFERENCES:
        name = {"random": "random", "strongest": exam.strongest, "exact": exam.exact}[player]
        if not name:
            return {"misfit": "is not known"}
        candidate: Agent = agent(name, rules)
    else:
        method = METHODS[player]
        if reason := method.misfit(rules):
            return {"misfit": reason}
        options = method.Options(**OPTIONS.get(player, {}))
        if learner := _learner(method):
            with tempfile.TemporaryDirectory() as folder:
                given = _settings(learner, rules, exam)
                file, settings, row["trained"] = trained(rules, learner, given, budget, seed, Path(folder))
                changed = {k: v for k, v in as_json(settings).items() if v != as_json(given)[k]}
                words = [word for k, v in changed.items() for word in option_words(k, v)]
                row["command"] = " ".join([game, exam.variant, learner.name, *words])
                candidate = method.agent(rules, options, file)
        else:
            candidate = method.agent(rules, options)
    opponent = agent(exam.opponent, rules) if exam.opponent else None
    begin = time.process_time()
    scores = examine(rules, exam, candidate, opponent, games, seed)
    return row | {"scores": [round(score, 4) for score in scores], "examined": round(time.process_time() - begin, 2)}


def _learner(method: Method) -> Method | None:
    """The method that trains the model which a method plays with; None if it needs none."""
    return METHODS[method.trained_by] if method.trained_by else method if method.kind == "learn" else None


def _settings(method: Method, game: Game, exam: Exam) -> Any:
    """What a method has for any game, beginning where the exam does."""
    settings = replace(method.default_settings(game), **SMALLER.get(method.name, {}))
    names = {field.name for field in fields(settings)}
    return replace(settings, starts=exam.starts) if "starts" in names else settings


class _EnoughError(Exception):
    """The budget is spent."""


def trained(
    game: Game, method: Method, settings: Any, budget: float, seed: int, folder: Path
) -> tuple[Path, Any, float]:
    """Train for about `budget` CPU seconds; returns the model, the settings with the length that was used, and the
    CPU seconds that training took.

    Schedules run over the length of training, so it must be known before: a short run tells the speed. What then takes
    longer than it should is stopped after the next row of metrics.
    """
    method.imported()  # what it takes to load a library is not training
    begin = time.process_time()
    length = next((name for name in LENGTHS if getattr(settings, name, 0) and _is_length(settings, name)), None)
    if length is not None:
        first = max(1, getattr(settings, length) // 500)
        train(
            game, method, out=folder / "first", seed=seed, settings=replace(settings, **{length: first}), on_row=_quiet
        )
        spent = time.process_time() - begin
        settings = replace(settings, **{length: max(first, int(first * budget / max(spent, 1e-3)))})
        begin = time.process_time()
    out = folder / "run"

    def watch(row: Row) -> None:
        if time.process_time() - begin > 1.2 * budget and (out / method.model).exists():
            raise _EnoughError

    with contextlib.suppress(_EnoughError):
        train(game, method, out=out, seed=seed, settings=settings, on_row=watch)
    return out / method.model, settings, round(time.process_time() - begin, 2)


def _quiet(row: Row) -> None:
    """No progress bar."""


def _is_length(settings: Any, name: str) -> bool:
    return any(field.name == name and field.metadata.get("duration") for field in fields(settings))


class Cells:
    """The rows of all cells, as a table and as a picture."""

    def __init__(self, plan: Plan, rows: dict[str, Row], failures: dict[str, str], command: str) -> None:
        self.plan, self.rows, self.failures, self.command = plan, rows, failures, command

    def found(self, game: str, exam: Exam, player: str) -> tuple[np.ndarray[Any, Any], str]:
        """The scores of a player over all seeds, and if there are none, why."""
        prefix = f"{game} {exam.variant} {player} "
        for key, error in self.failures.items():
            if key.startswith(prefix):
                return np.empty(0), error
        mine = [row for key, row in self.rows.items() if key.startswith(prefix)]
        if mine and "misfit" in mine[0]:
            return np.empty(0), mine[0]["misfit"]
        return np.array([score for row in mine for score in row["scores"]], dtype=float), ""

    def best_known(self, game: str, exam: Exam) -> float | None:
        """The score of perfect play, or of the strongest agent where that is not known."""
        if exam.optimum is not None:
            return exam.optimum
        for player in ("exact", "strongest"):
            scores, _ = self.found(game, exam, player)
            if len(scores):
                return float(scores.mean())
        return None

    def share(self, game: str, exam: Exam, player: str) -> float:
        """Where a player stands between random play, 0, and the best known, 1; NaN if it has no scores."""
        scores, _ = self.found(game, exam, player)
        nothing, _ = self.found(game, exam, "random")
        best = self.best_known(game, exam)
        if not len(scores) or not len(nothing) or best is None or best == nothing.mean():
            return float("nan")
        return float((scores.mean() - nothing.mean()) / (best - nothing.mean()))

    def table(self) -> Table:
        columns = ["game", "variant", "score", "perfect", *("random", "strongest"), *METHODS]
        rows = []
        for game, _, exam in self.plan.exams:
            exact, _ = self.found(game, exam, "exact")
            perfect = (
                Exact(f"{exam.optimum:g}") if exam.optimum is not None else _mean(exact) if len(exact) else "unknown"
            )
            row = [game, exam.variant, exam.unit, perfect]
            for player in ("random", "strongest", *METHODS):
                scores, reason = self.found(game, exam, player)
                row.append(_mean(scores) if len(scores) else reason)
            rows.append(row)
        note = (
            f"Means with 95% bootstrap intervals, number of seeds: {self.plan.seeds}. A method trains for "
            f"{self.plan.budget:g} CPU seconds with the settings that it has for any game, and is then examined. "
            + " ".join(
                f"{game} {exam.variant}: {max(2, round(self.plan.share * exam.games))} games per seed, {exam.games} of "
                "those it is compared with."
                for game, _, exam in self.plan.exams
            )
        )
        return Table("Every method on every game", columns, rows, self.command, note)

    def best(self) -> Table:
        """The best method of each game."""
        rows = []
        for game, _, exam in self.plan.exams:
            shares = {name: self.share(game, exam, name) for name in METHODS}
            ranked = sorted((name for name in shares if not np.isnan(shares[name])), key=lambda n: -shares[n])
            words = [f"{name} {shares[name]:.0%}" for name in ranked]
            rows.append([game, exam.variant, words[0] if words else "none", ", ".join(words[1:])])
        note = "0% is random play; 100% is perfect play, or the strongest agent that ships where that is not known."
        return Table(
            "Whose method is best on whose game", ["game", "variant", "best", "then"], rows, self.command, note
        )

    def heat_map(self) -> Figure:
        names = [f"{game} {exam.variant}" for game, _, exam in self.plan.exams]
        values = [[self.share(game, exam, player) for player in METHODS] for game, _, exam in self.plan.exams]
        svg = plots.draw(
            lambda figure: plots.heat_map(figure.subplots(), names, list(METHODS), np.array(values)),
            1.9 + 0.85 * len(METHODS), 1.2 + 0.42 * len(names),
        )  # fmt: skip
        caption = "From random play (0) to the best known (100); empty where a method does not fit the game."
        return Figure(svg, caption, wide=True)


def _mean(scores: np.ndarray[Any, Any]) -> str:
    low, high = bootstrap_interval(scores)
    digits = 2 if abs(scores.mean()) < 10 else 1 if abs(scores.mean()) < 1000 else 0
    if low == high:
        return f"{scores.mean():,.{digits}f}"
    return f"{scores.mean():,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
