"""What can be started from the page: every form of `rookery train` and `rookery search`, read off the commands
themselves, so that a new one appears without a change here.

Only settings with a known range are offered: a choice of words, a number, a switch. Text is not, because some options
name files and programs.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rookery.registry import GAMES
from rookery.web import words

Command = Callable[..., Any]
MOST = 10**12


@dataclass(frozen=True)
class Option:
    name: str
    kind: Literal["choice", "whole", "number", "switch"]
    choices: tuple[str, ...] = ()
    default: Any = None

    def words(self, value: Any) -> list[str]:
        """The option on the command line; a value that is not allowed raises ValueError."""
        flag = f"--{self.name.replace('_', '-')}"
        if self.kind == "switch":
            if not isinstance(value, bool):
                raise ValueError(f"{self.name} is on or off: true or false")
            return [flag] if value else []
        if self.kind == "choice":
            if value not in self.choices:
                raise ValueError(f"{self.name} is one of {', '.join(self.choices)}")
            return [flag, value]
        kinds = int if self.kind == "whole" else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 <= value <= MOST:
            raise ValueError(f"{self.name} is a {'whole ' * (self.kind == 'whole')}number from 0 to {MOST}")
        return [flag, str(value)]


@dataclass(frozen=True)
class Recipe:
    """One thing to start."""

    command: tuple[str, ...]
    """After `rookery`."""
    game: str
    title: str
    about: str
    options: tuple[Option, ...] = field(default=())
    resumable: bool = False
    file: str | None = None
    """Name of the file to write, for commands that write one; others get a folder."""

    @property
    def id(self) -> str:
        return "-".join(self.command)

    def data(self) -> dict[str, Any]:
        rows = [
            {"name": o.name, "kind": o.kind, "choices": list(o.choices), "default": o.default} for o in self.options
        ]
        return {"id": self.id, "game": self.game, "title": self.title, "about": self.about, "options": rows}

    def words(self, given: Mapping[str, Any]) -> list[str]:
        """The command with the given options."""
        known = {option.name: option for option in self.options}
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"unknown option {str(unknown[0])[:40]!r}; known options: {', '.join(known) or 'none'}")
        result = list(self.command)
        for name, value in given.items():
            if value is not None:
                result += known[name].words(value)
        return result


def find(commands: Mapping[str, Any]) -> dict[str, Recipe]:
    """The recipes in a table of commands such as `rookery.cli.COMMANDS`, by id."""
    found = {}
    for verb in ("train", "search"):
        forms = commands.get(verb, {})
        for game, function in forms.items() if isinstance(forms, Mapping) else ():
            for recipe in _of_command(verb, game, function):
                found[recipe.id] = recipe
    return found


def _of_command(verb: str, game: str, function: Command) -> Iterable[Recipe]:
    hints = typing.get_type_hints(function)
    methods: tuple[str, ...] = ()
    options = []
    variants = tuple(GAMES[game].variants) if game in GAMES else ()
    resumable = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            methods = typing.get_args(hints[name])
        elif name == "resume":
            resumable = True
        elif name not in ("out", "common"):
            option = _option(name, hints[name], parameter.default, variants)
            options += [option] if option else []
    title = words.TITLES.get(game, game)
    about = (function.__doc__ or "").strip().splitlines()[0]
    file = "search.json" if verb == "search" else None
    for method in methods or ("",):
        command = (verb, game, method) if method else (verb, game)
        yield Recipe(command, game, f"{title}: {method or verb}", about, tuple(options), resumable, file)


def _option(name: str, hint: Any, default: Any, variants: tuple[str, ...]) -> Option | None:
    if isinstance(hint, types.UnionType):  # X | None
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        hint = members[0] if len(members) == 1 else None
    if typing.get_origin(hint) is Literal:
        choices = tuple(map(str, typing.get_args(hint)))
        return Option(name, "choice", choices, default if default in choices else choices[0])
    if hint is str and variants and (name == "variant" or default in variants):
        return Option(name, "choice", variants, default if default in variants else variants[0])
    kinds: dict[Any, Literal["switch", "whole", "number"]] = {bool: "switch", int: "whole", float: "number"}
    return Option(name, kinds[hint], (), default) if hint in kinds else None
