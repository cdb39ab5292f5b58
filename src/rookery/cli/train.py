"""`rookery train GAME METHOD`: takes exactly the settings of that method."""

from __future__ import annotations

import shlex
import sys
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console

from rookery.cli.base import Answer, Command, Common, print_table, progress
from rookery.game import Game
from rookery.method import Method
from rookery.registry import learners, load
from rookery.training import default_folder, learner, settings_for
from rookery.training import train as run_training


def train() -> None:
    """Train an agent: any method that learns, on any game it fits."""


def find(words: list[str]) -> tuple[str, Command, list[str]]:
    """The command for the game and the method that the words begin with."""
    if not words or words[0] in ("-h", "--help"):
        print(_help())
        sys.exit(0 if words else 2)
    variant = _option(words, "--variant")
    game = load(words[0], variant)
    if len(words) < 2 or words[1] in ("-h", "--help"):
        print(_methods(game, words[0]))
        sys.exit(0 if len(words) > 1 else 2)
    method = learner(game, words[1])
    return f"train {words[0]} {words[1]}", _command(words, game, method), words[2:]


def _option(words: list[str], name: str) -> str | None:
    """The value of an option that decides about the others."""
    for word, value in zip(words, [*words[1:], None], strict=True):
        if word == name:
            return value
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _help() -> str:
    return (
        "usage: rookery train GAME METHOD [settings]\n\n"
        "Train an agent and keep the run in a folder: settings, metrics, a checkpoint and the model.\n"
        "`rookery games` lists the games, `rookery train GAME --help` the methods that learn it, and\n"
        "`rookery train GAME METHOD --help` the settings of one."
    )


def _methods(game: Game, name: str) -> str:
    rows = [f"  rookery train {name} {method.name:<12} {method.about}" for method in learners(game).values()]
    return "\n".join([f"Methods that learn {game.title}:", *rows])


def _command(words: list[str], game: Game, method: Method) -> Command:
    presets = method.presets
    defaults = settings_for(game, method, {}, _option(words, "--preset"))

    def arg(kind: Any, text: str) -> Any:
        return Annotated[kind, tyro.conf.arg(help=text)]

    fields: list[Any] = [
        ("settings", Annotated[method.Settings, tyro.conf.arg(name="")], field(default=defaults)),
        ("variant", arg(str | None, "Variant of the game."), None),
        ("out", arg(Path | None, f"Folder of the run; {default_folder(game, method.name)} if not given."), None),
        ("resume", arg(bool, "Resume the run in the folder."), False),
        ("common", Annotated[Common, tyro.conf.arg(name="")], field(default=Common())),
    ]
    if presets:
        names = Literal[tuple(presets)]  # type: ignore[valid-type]
        fields.append(("preset", arg(names | None, "Settings by name; others given here change it."), None))
    options = make_dataclass("Options", fields)
    command = f"rookery train {shlex.join(words)}"

    def run(given: Any) -> Answer:
        return _train(words[0], game, method, given, command)

    run.__annotations__ = {"given": Annotated[options, tyro.conf.arg(name="")], "return": Answer}
    run.__doc__ = f"{method.about}\n\nThe run keeps a checkpoint: resume a stopped run with --resume."
    return run


def _train(name: str, game: Game, method: Method, given: Any, command: str) -> Answer:
    folder = given.out or default_folder(game, method.name)
    try:
        run = run_training(
            game, method, out=folder, seed=given.common.seed, resume=given.resume, settings=given.settings,
            command=command,
        )  # fmt: skip
    except KeyboardInterrupt:
        progress().print(f"stopped; the same command with --resume continues the run in {folder}")
        raise
    last = run.rows[-1] if run.rows else {}
    metrics = last | method.evaluate(game, run)
    data = {
        "run": str(run.folder), "model": str(run.folder / method.model), "method": method.name,
        "settings": run.settings, "metrics": metrics,
    }  # fmt: skip

    def show(console: Console) -> None:
        rows = [(name.replace("_", " "), value) for name, value in _flat(metrics) if name != "progress"]
        print_table(console, ("figure", "value"), rows)
        variant = ["--variant", given.variant] if given.variant else []
        play = shlex.join(["rookery", "play", name, *variant, "--agent", str(run.folder)])
        console.print(f"The run is in {run.folder}. Play with it: {play}", soft_wrap=True)

    return Answer(data, show)


def _flat(data: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Numbers and words, those of nested dictionaries with their path."""
    found: list[tuple[str, Any]] = []
    for name, value in data.items():
        if isinstance(value, dict):
            found += _flat(value, f"{prefix}{name} ")
        elif isinstance(value, (int, float, str)):
            found.append((prefix + name, value))
    return found
