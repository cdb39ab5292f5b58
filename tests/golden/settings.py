"""The defaults of every setting of every method, for every game, and its presets.

Figures in the documentation come from commands that leave most settings out: a default that changes makes them wrong.
So defaults are kept in `settings.json`, and a change of one shows up as a diff to review.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import rookery
from tests.golden import FOLDER

FILE = FOLDER / "settings.json"


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
    return json.dumps({key: values for key, values in sorted(found.items()) if values}, indent=1) + "\n"
