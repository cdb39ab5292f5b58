"""The command line: one file a game for what only that game has, `general` for the rest, `base` for what all share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import NoReturn

import tyro
from rich.console import Console
from rich.table import Table

from rookery import __version__
from rookery.cli import general, play, serve
from rookery.cli.base import Answer, Command, Commands
from rookery.games.checkers import commands as checkers
from rookery.games.checkers import strong_commands as checkers_strong
from rookery.games.endgames import commands as endgames
from rookery.games.morpion import commands as morpion
from rookery.games.morpion import train_commands as morpion_train
from rookery.games.solitaire_chess import commands as solitaire_chess
from rookery.games.tenten import commands as tenten
from rookery.games.tenten import train_commands as tenten_train

COMMANDS: Commands = {}
for _file in (
    general,
    play,
    serve,
    solitaire_chess,
    checkers,
    checkers_strong,
    endgames,
    morpion,
    morpion_train,
    tenten,
    tenten_train,
):
    for _name, _command in _file.COMMANDS.items():
        if isinstance(_command, dict):
            _forms = COMMANDS.setdefault(_name, {})
            assert isinstance(_forms, dict)
            _forms.update(_command)
        else:
            COMMANDS[_name] = _command


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 when it went well, 2 with one sentence when the input was wrong."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        _help(Console())
        sys.exit(0)
    if words[0] == "--version":
        print(f"rookery {__version__}")
        sys.exit(0)
    name, command, rest = _find(words)
    try:
        answer = tyro.cli(command, prog=f"rookery {name}", args=rest)
        _print(answer, "--json" in rest)
    except (ValueError, OSError) as error:
        _fail(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("rookery: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(answer.exit_code)


def _find(words: list[str]) -> tuple[str, Command, list[str]]:
    """The command's full name, its function, and the arguments."""
    name, rest = words[0], words[1:]
    if name not in COMMANDS:
        _fail(f"unknown command {name!r}; known commands: {', '.join(COMMANDS)}")
    command = COMMANDS[name]
    if not isinstance(command, dict):
        return name, command, rest
    if not rest or rest[0] in ("-h", "--help"):
        _help(Console(), name)
        sys.exit(0 if rest else 2)
    if rest[0] not in command:
        _fail(f"unknown form {rest[0]!r} of {name!r}; known forms: {', '.join(command)}")
    return f"{name} {rest[0]}", command[rest[0]], rest[1:]


def _print(answer: Answer, as_json: bool) -> None:
    if not isinstance(answer.data, dict):
        for row in answer.data:
            print(json.dumps(row), flush=True)
    elif as_json or answer.show is None:
        print(json.dumps(answer.data))
    else:
        answer.show(Console())


def _fail(sentence: str) -> NoReturn:
    print(f"rookery: {sentence}", file=sys.stderr)
    sys.exit(2)


def _help(console: Console, only: str | None = None) -> None:
    console.print("Rookery: programs learn board games and puzzles, and you see how far from perfect they are.\n")
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, command in COMMANDS.items():
        forms = {f"{name} {form}": f for form, f in command.items()} if isinstance(command, dict) else {name: command}
        for full_name, function in forms.items():
            if only in (None, name):
                table.add_row(f"  rookery {full_name}", (function.__doc__ or "").splitlines()[0])
    console.print(table)
    console.print("\nEvery command explains itself with --help, and prints one JSON object with --json.")
