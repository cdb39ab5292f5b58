"""A paper as a page one can touch: its story, its key figure, and small experiments that run in seconds.

`learn.py` in a game's folder holds a `LESSON`. The web page shows it without knowing the game: sliders and buttons come
from the settings of an experiment, and what an experiment returns is drawings, charts and a table. Settings are a
frozen dataclass whose numbers are made by `slider`, so that every request is bounded.

>>> @dataclass(frozen=True)
... class Throws:
...     count: int = slider(10, 1, 100)
...     '''Number of throws.'''
>>> experiment = Experiment("coin", "A coin", "Throw it.", lambda throws: Outcome(f"{throws.count} throws"), Throws)
>>> experiment({"count": 7})["text"]
'7 throws'
>>> experiment({"count": 700})
Traceback (most recent call last):
...
ValueError: count must be from 1 to 100, not 700
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rookery.games import game_name
from rookery.method import NoSettings, filled, settings_of
from rookery.registry import load
from rookery.studies.paper import Paper

Row = dict[str, Any]
Points = Sequence[tuple[float, float]]
_GAMES = Path(__file__).parent.parent / "games"
MAX_TEXT = 200
"""Characters of a position."""


def slider(default: Any, low: float, high: float, step: float = 1, log: bool = False) -> Any:
    """A number from `low` to `high`; `log` for a scale on which every place is as many times the one before."""
    return field(default=default, metadata={"low": low, "high": high, "step": step, "log": log})


def board(default: str, variant: str | None = None) -> Any:
    """A position of the lesson's game, which the page lets people set up."""
    return field(default=default, metadata={"board": variant or ""})


def picked(default: int, low: int, high: int) -> Any:
    """A cell of a drawing, which people pick by a click on it."""
    return field(default=default, metadata={"low": low, "high": high, "picked": True})


@dataclass(frozen=True)
class Chart:
    """Lines, and points without lines, by name."""

    x: str
    y: str
    lines: Mapping[str, Points]
    points: Mapping[str, Points] = field(default_factory=dict)
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Panel:
    """A part of what an experiment shows. If it changes with the step, there is a drawing per step, or one whose
    elements have the attribute `data-step` and appear at that step."""

    title: str
    svgs: Sequence[str] = ()
    notes: Sequence[str] = ()
    """A sentence, or one per step."""
    chart: Chart | None = None
    """It grows with the steps, if there are any."""
    wide: bool = False


@dataclass(frozen=True)
class Outcome:
    """What an experiment found."""

    text: str
    """The result in one or two sentences."""
    panels: Sequence[Panel] = ()
    steps: int = 1
    """The number of steps that the page goes through."""
    step_name: str = "step"
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    """A table."""


@dataclass(frozen=True)
class Experiment:
    """Something to try."""

    name: str
    title: str
    about: str
    run: Callable[[Any], Outcome]
    Settings: type = NoSettings

    def fields(self) -> list[Row]:
        """The settings for a form."""
        metadata = {f.name: dict(f.metadata) for f in fields(self.Settings)}
        return [asdict(setting) | {"choices": list(setting.choices)} | metadata[setting.name]
                for setting in settings_of(self.Settings)]  # fmt: skip

    def checked(self, given: Mapping[str, Any]) -> Any:
        """The settings that a request gives; ValueError says what is wrong with them."""
        settings = filled(self.Settings, given, self.Settings())
        for f in fields(settings):
            value, low, high = getattr(settings, f.name), f.metadata.get("low"), f.metadata.get("high")
            if low is not None and high is not None and not low <= value <= high:
                raise ValueError(f"{f.name} must be from {low:g} to {high:g}, not {value:g}")
            if isinstance(value, str) and len(value) > MAX_TEXT:
                raise ValueError(f"{f.name} may have at most {MAX_TEXT} characters")
        return settings

    def __call__(self, given: Mapping[str, Any]) -> Row:
        """Run it and return the outcome as JSON values."""
        return asdict(self.run(self.checked(given)))


@dataclass(frozen=True)
class Finding:
    """What a paper claimed, what was found here, and where that leaves the claim."""

    claimed: str
    found: str
    verdict: str


@dataclass(frozen=True)
class Lesson:
    """The page of one paper."""

    title: str
    paper: Paper
    summary: str
    """One sentence for a list of pages."""
    story: Sequence[str]
    """What the paper did, a sentence each."""
    figure: Experiment
    """Its key figure remade."""
    experiments: Sequence[Experiment]
    findings: Sequence[Finding]
    command: str
    """The command that remakes the figures in the findings."""
    game: str = ""
    """Filled in when the lesson is found."""

    def card(self) -> Row:
        """What a list of pages shows of this one."""
        svg = load(self.game).random_start(random.Random(3)).svg()
        return {
            "name": self.game, "title": self.title, "paper": self.paper.citation, "summary": self.summary, "svg": svg,
        }  # fmt: skip

    def data(self) -> Row:
        """The page as JSON values."""
        experiments = [
            {"name": e.name, "title": e.title, "about": e.about, "settings": e.fields()}
            for e in (self.figure, *self.experiments)
        ]
        return self.card() | {
            "paper_title": self.paper.title, "story": list(self.story), "experiments": experiments,
            "findings": [asdict(finding) for finding in self.findings], "command": self.command,
        }  # fmt: skip

    def experiment(self, name: str) -> Experiment:
        """An experiment by name, the figure included; ValueError if there is none."""
        for experiment in (self.figure, *self.experiments):
            if experiment.name == name:
                return experiment
        raise ValueError(f"there is no experiment {name[:40]!r} on this page")


def lessons() -> list[str]:
    """The games whose folders have a lesson."""
    return [game_name(file.parent.name) for file in sorted(_GAMES.glob("*/learn.py"))]


def lesson(name: str) -> Lesson:
    """The lesson of a game; ValueError if there is none."""
    for file in _GAMES.glob("*/learn.py"):
        if game_name(file.parent.name) == name:
            found: Lesson = importlib.import_module(f"rookery.games.{file.parent.name}.learn").LESSON
            return replace(found, game=name)
    raise ValueError(f"there is no page about {name[:40]!r}")
