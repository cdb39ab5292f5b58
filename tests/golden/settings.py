"""The defaults of every setting of every method, for every game, and its presets; how much each size of a study does;
and what the experiments of a page about a paper let people choose.

Figures in the documentation come from commands that leave most settings out: a default that changes makes them wrong.
So defaults are kept in `settings.json`, and a change of one shows up as a diff to review.
"""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from typing import Any

import rookery
from rookery.games.checkers import ladder as checkers_ladder
from rookery.games.checkers import study as checkers_study
from rookery.games.endgames import study as endgames_study
from rookery.games.endgames import study_stockfish
from rookery.games.morpion import learning_study as morpion_learning_study
from rookery.games.morpion import study as morpion_study
from rookery.studies.lesson import lesson, lessons
from tests.golden import FOLDER

FILE = FOLDER / "settings.json"

PLANS = {
    "checkers": checkers_study.PLANS,
    "checkers, games of the ladder": checkers_ladder.GAMES,
    "checkers, positions of the ladder": checkers_ladder.POSITIONS,
    "endgames": endgames_study.PLANS,
    "endgames-stockfish": {"quick": study_stockfish.QUICK},
    "morpion": morpion_study.PLANS,
    "morpion, minutes of learning": morpion_learning_study.MINUTES,
}
"""How much each size of a study does."""


SHOWN = ("default", "low", "high", "step", "log")
"""What is kept of the fields of a form."""


def defaults() -> str:
    """The text of `settings.json`, made anew. Settings for a game that are those for any game are left out."""
    found: dict[str, Any] = {}
    for name in sorted(rookery.GAMES):
        game = rookery.load(name)
        for method in rookery.methods(game).values():
            values = {f"agent {method.name}": method.Options()}
            if method.kind == "learn":
                values[f"train {method.name}"] = method.default_settings(game)
                values |= {f"train {method.name}, {preset}": of for preset, of in method.presets.items()}
            for what, value in values.items():
                general = what if method.game is None else f"{what} ({name})"
                if found.setdefault(general, asdict(value)) != asdict(value):
                    found[f"{what} ({name})"] = asdict(value)
    for study, sizes in PLANS.items():
        found[f"study {study}"] = {size: asdict(of) if is_dataclass(of) else of for size, of in sizes.items()}
    for page in lessons():
        for experiment in lesson(page).experiments:
            fields = {row["name"]: {key: row[key] for key in SHOWN if key in row} for row in experiment.fields()}
            found[f"page about {page}, {experiment.name}"] = fields
    return json.dumps({key: values for key, values in sorted(found.items()) if values}, indent=1) + "\n"
