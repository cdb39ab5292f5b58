"""What a method is: a way to get an agent for a game, by exact solution, by search or by learning."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rookery.agents import Agent
from rookery.game import Game, State
from rookery.run import Row, Run

Kind = Literal["exact", "search", "learn"]


@dataclass(frozen=True)
class NoSettings:
    """No settings."""


@dataclass(frozen=True)
class Solution:
    """The exact truth about a position, for the player to move. A notebook shows it as a table."""

    state: State
    text: str
    """The truth in one sentence."""
    value: float
    """What the position is worth, in the unit that `text` names."""
    values: dict[int, float]
    """What every legal move is worth, in the same unit."""
    notes: dict[int, str]
    """What every legal move does, in words."""
    error: float = 0.0
    """A bound of the error of `value`; 0 if it is exact."""

    @property
    def best(self) -> list[int]:
        """The best moves."""
        top = max(self.values.values(), default=0.0)
        return [action for action, value in self.values.items() if value == top]

    def _repr_html_(self) -> str:
        names = sorted(self.values, key=lambda action: -self.values[action])
        rows = "".join(f"<tr><th>{self.state.action_name(a)}</th><td>{self.notes.get(a, '')}</td></tr>" for a in names)
        return f"<div>{self.state.svg()}<p>{self.text}</p><table>{rows}</table></div>"


class Method:
    """A way to get an agent. Subclass it, and `register` an instance.

    A method that learns names the `module` that has its `Settings` and `train(game, settings, run)`; it is imported
    when it is needed, so that what a method depends on need not be installed to list it.
    """

    name: str
    kind: Kind
    game: str | None = None
    """The only game it is for, by name; None for any game it fits."""
    module: str = ""
    """The module of a method that learns."""
    extra: str = ""
    """The extra of the package that the module needs, such as "deep"."""
    headline: str = ""
    """The metric that a curve of training shows first."""
    model: str = "model.npz"
    """The file of the model in a run's folder."""
    trained_by: str = ""
    """The method whose runs the agent loads, if it is not this one."""
    Options: type = NoSettings
    """Settings of the agent when it plays."""

    @property
    def about(self) -> str:
        """The method in one sentence."""
        return inspect.getdoc(type(self)).splitlines()[0] if type(self).__doc__ else self.name  # type: ignore[union-attr]

    @property
    def Settings(self) -> type:
        """Settings of training."""
        return self.imported().Settings if self.module else NoSettings

    def imported(self) -> Any:
        """The module of the method; ValueError if what it needs is not installed."""
        try:
            return importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            raise ValueError(
                f"{self.name} needs more packages: pip install 'rookery[{self.extra}]' ({error})"
            ) from None

    def misfit(self, game: Game) -> str | None:
        """Why the method cannot work on a game, as a clause such as "needs a game without chance"; None if it can."""
        return None if self.game in (None, game.name) else f"is for {self.game}"

    def unready(self, game: Game) -> str | None:
        """Why there is no agent without training first; None if there is one."""
        return "is not trained yet" if self.kind == "learn" else None

    def refuses(self, state: State) -> str | None:
        """Why the agent cannot play from a position, as a clause such as "knows positions of at most 4 pieces"; None if
        it can."""
        return None

    def default_settings(self, game: Game) -> Any:
        """The settings to train a game with, if nothing else is said."""
        module: Any = self.imported() if self.module else None
        return module.default_settings(game) if hasattr(module, "default_settings") else self.Settings()

    @property
    def presets(self) -> Mapping[str, Any]:
        """Settings by name, for methods that have some."""
        return getattr(self.imported(), "PRESETS", {}) if self.module else {}

    def train(self, game: Game, settings: Any, run: Run) -> Iterator[Row]:
        """Train, or resume from the run's checkpoint; yields a row of metrics after every part of the work."""
        if not self.module:
            raise ValueError(f"{self.name} does not learn: there is nothing to train")
        rows: Iterator[Row] = self.imported().train(game, settings, run)
        return rows

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        """The agent for a game; `model` is a file that training wrote, without it what ships is used."""
        raise NotImplementedError

    def evaluate(self, game: Game, run: Run) -> dict[str, Any]:
        """Further figures of a finished run, such as games against a random player."""
        return {}

    def solve(self, state: State) -> Solution:
        """The exact answer to a position; ValueError says why there is none."""
        raise ValueError(f"{self.name} does not solve positions")

    def __repr__(self) -> str:
        return f"<method {self.name}{f' of {self.game}' if self.game else ''}>"


# Settings from text, JSON and keywords


@cache
def descriptions(kind: type) -> dict[str, str]:
    """What the string below each field of a dataclass says."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if "__dataclass_fields__" not in vars(base):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        name = None
        for node in body.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            elif name and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                found[name] = inspect.cleandoc(str(node.value.value))
                name = None
            else:
                name = None
    return found


@dataclass(frozen=True)
class Setting:
    """One field of a settings class, for those who show and fill forms."""

    name: str
    kind: Literal["choice", "whole", "number", "switch", "text"]
    default: Any
    about: str
    choices: tuple[str, ...] = ()


def settings_of(kind: type, defaults: Any = None) -> list[Setting]:
    """The fields of a settings class; `defaults` is an instance."""
    hints = typing.get_type_hints(kind)
    about = descriptions(kind)
    found = []
    for f in fields(kind):
        default = getattr(defaults, f.name) if defaults is not None else None if f.default is MISSING else f.default
        word, choices = _form(hints[f.name])
        found.append(Setting(f.name, word, default, about.get(f.name, ""), choices))
    return found


def _form(hint: Any) -> tuple[Literal["choice", "whole", "number", "switch", "text"], tuple[str, ...]]:
    hint = _without_none(hint)
    if typing.get_origin(hint) is Literal:
        return "choice", tuple(map(str, typing.get_args(hint)))
    words: dict[Any, Literal["switch", "whole", "number"]] = {bool: "switch", int: "whole", float: "number"}
    return words.get(hint, "text"), ()


def _without_none(hint: Any) -> Any:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        return members[0] if len(members) == 1 else str
    return hint


def filled(kind: type, given: Mapping[str, Any], defaults: Any = None, what: str = "") -> Any:
    """An instance of a settings class from keywords, JSON or text such as {"depth": "3"}.

    Unknown names and values of the wrong type raise ValueError with a sentence.

    >>> from rookery.search.methods import Mcts
    >>> filled(Mcts.Options, {"simulations": "50"}).simulations
    50
    >>> filled(Mcts.Options, {"simulatons": 50})
    Traceback (most recent call last):
    ...
    ValueError: unknown setting 'simulatons'; did you mean 'simulations'?
    """
    hints = typing.get_type_hints(kind)
    names = [f.name for f in fields(kind)]
    values = {name: getattr(defaults, name) for name in names} if defaults is not None else {}
    for name, value in given.items():
        name = name.replace("-", "_")
        if name not in names:
            raise ValueError(f"unknown setting {name[:40]!r}{of(what)}{suggestion(name, names, 'settings')}")
        values[name] = _converted(hints[name], value, f"{name}{of(what)}")
    return kind(**values)


def of(what: str) -> str:
    return f" of {what}" if what else ""


def suggestion(name: str, known: typing.Iterable[str], what: str) -> str:
    """What to say after an unknown name: the near miss if there is one, else all that is known."""
    known = list(known)
    near = get_close_matches(name, known, 1, 0.65)
    return f"; did you mean {near[0]!r}?" if near else f"; known {what}: {', '.join(known) or 'none'}"


def _converted(hint: Any, value: Any, what: str) -> Any:
    """The value in the type that the hint names."""
    if value is None and type(None) in typing.get_args(hint):
        return None
    hint = _without_none(hint)
    if typing.get_origin(hint) is Literal:
        for choice in typing.get_args(hint):
            if value == choice or str(value) == str(choice):
                return choice
        raise ValueError(f"{what} must be one of {', '.join(map(str, typing.get_args(hint)))}, not {str(value)[:40]!r}")
    if hint is bool:
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise ValueError(f"{what} must be true or false, not {str(value)[:40]!r}")
    if hint in (int, float):
        return _number(hint, value, what)
    if typing.get_origin(hint) is tuple:
        if isinstance(value, str) or not isinstance(value, typing.Iterable):
            raise ValueError(f"{what} must be a sequence, not {str(value)[:40]!r}")
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if hint is str:
        return str(value)
    return value


def _number(kind: type, value: Any, what: str) -> int | float:
    word = "a whole number" if kind is int else "a number"
    try:
        number = float(value)
        if isinstance(value, bool) or not math.isfinite(number):
            raise ValueError
        if kind is float:
            return number
        whole = int(value)
        if whole != number and abs(number) < 2**53:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{what} must be {word}, not {str(value)[:40]!r}") from None
    if abs(whole) >= 2**63:
        raise ValueError(f"{what} must be below 2^63, not {str(value)[:40]}")
    return whole


def agent_setting(kind: type) -> str | None:
    """The field of a settings class that is an agent, if there is one: it is given by name."""
    hints = typing.get_type_hints(kind)
    return next((f.name for f in fields(kind) if _without_none(hints[f.name]) is Agent), None)


def check_numbers(settings: Any) -> None:
    """Raise ValueError if a whole number is beyond what any method can work with."""
    for f in fields(settings):
        value = getattr(settings, f.name)
        most = 4096 if f.name == "threads" else 10**15 if f.metadata.get("duration") else 10**9
        if isinstance(value, int) and abs(value) > most:
            raise ValueError(f"{f.name} must be at most {most:,}, and is {value}")


def check_at_least(settings: Any, low: float, *names: str) -> None:
    """Raise ValueError if a field is below a bound."""
    for name in names:
        if not getattr(settings, name) >= low:
            raise ValueError(f"{name} must be at least {low:g}, and is {getattr(settings, name)}")


def check_shares(settings: Any, *names: str) -> None:
    """Raise ValueError if a field is not from 0 to 1."""
    for name in names:
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name} must be from 0 to 1, and is {getattr(settings, name)}")
