"""What can be trained from the page: every method that learns, on every game it fits, with its settings.

Only settings with a known range are offered: a choice of words, a number, a switch. Text is not, because it may name
files and programs. Methods are imported here, so this runs in a worker and not in the server.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery import user_code
from rookery.game import Game
from rookery.method import Method, Setting, settings_of, suggestion
from rookery.registry import GAMES, learners
from rookery.run import as_json
from rookery.training import learner, settings_for
from rookery.web.plays import rules

Row = dict[str, Any]
MOST = 10**12
"""The greatest number that a setting may have, and the least with a minus sign."""


def offered(method: Method, game: Game) -> list[Setting]:
    """The settings that a request may give."""
    every = settings_of(method.Settings, method.default_settings(game))
    return [setting for setting in every if setting.kind != "text"]


def every_form() -> list[Row]:
    """One form per game and method, or more where variants have methods of their own of that name. `defaults` has the
    values by variant ("" where a game has none), and so says which variants the form is for; methods whose packages are
    not installed are left out."""
    forms: dict[tuple[str, Method], Row] = {}
    for name, kind in GAMES.items():
        for variant in kind.variants or ("",):
            game = rules(name, variant or None)
            for method in learners(game).values():
                try:
                    settings = offered(method, game)
                except ValueError:
                    continue
                form = forms.setdefault((name, method), _form(game, method, settings))
                form["defaults"][variant] = {setting.name: setting.default for setting in settings}
    return list(forms.values())


def _form(game: Game, method: Method, settings: list[Setting]) -> Row:
    names = [setting.name for setting in settings]
    presets = {name: as_json(preset) for name, preset in method.presets.items()}
    return {
        "game": game.name,
        "title": game.title,
        "method": method.name,
        "about": method.about,
        "settings": [{"name": s.name, "kind": s.kind, "about": s.about, "choices": list(s.choices)} for s in settings],
        "presets": {name: {key: values[key] for key in names} for name, values in presets.items()},
        "defaults": {},
    }


def plan(asked: Row) -> Row:
    """The run that a request asks for, with all its settings and the command for people; ValueError says what is wrong
    with the request."""
    game = rules(asked["game"], asked["variant"])
    method = learner(game, asked["method"])
    given = _checked(asked["settings"], offered(method, game))
    settings = settings_for(game, method, given, asked["preset"])
    words = ["rookery", "train", _name(game), method.name]
    if asked["variant"]:
        words += ["--variant", asked["variant"]]
    if asked["preset"]:
        words += ["--preset", asked["preset"]]
    usual = settings_for(game, method, {}, asked["preset"])
    for name, value in as_json(settings).items():
        flag = name.replace("_", "-")
        if value != as_json(usual)[name]:
            words += [f"--{'' if value else 'no-'}{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
    command = shlex.join([*words, "--seed", str(asked["seed"])])
    return asked | {"settings": as_json(settings), "command": command}


def _checked(given: Mapping[str, Any], settings: list[Setting]) -> Row:
    """The given settings without those left empty; the types must be right, not just convertible."""
    known = {setting.name: setting for setting in settings}
    checked = {}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"unknown setting {name[:40]!r}{suggestion(name, known, 'settings')}")
        if value is None:
            continue
        kind = known[name].kind
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if kind == "switch" and not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false")
        if kind == "choice" and value not in known[name].choices:
            raise ValueError(f"{name} must be one of {', '.join(known[name].choices)}")
        if kind in ("whole", "number") and not (number and abs(value) <= MOST):
            raise ValueError(f"{name} must be a number from -{MOST} to {MOST}")
        checked[name] = value
    return checked


def _name(game: Game) -> str:
    """The game as a command names it: its file, if it is a user's."""
    spec = user_code.spec_of(type(game))
    return game.name if spec is None else Path(spec.rpartition(":")[0]).name
