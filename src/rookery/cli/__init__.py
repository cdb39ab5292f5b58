"""The command line. A command's module is imported only when the command is asked for.

Commands for every game are in this package; what only one game has is in the `commands` module of its folder, as a
dictionary `COMMANDS` from verbs to the game's own form of them.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import io
import itertools
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rookery.games import game_name

if TYPE_CHECKING:
    from rookery.cli.base import Answer, Command

GROUPS = {
    "Start here": ("games", "play", "watch", "serve", "show", "explain"),
    "Solve": ("solve", "analyse", "hint", "search", "generate", "verify"),
    "Learn and compare": ("train", "sweep", "runs", "arena", "evaluate", "reproduce"),
    "For other programs": ("uci", "hub"),
}
"""The commands as the help shows them; those not named here come last."""
WITHOUT_GAME = (*GROUPS["For other programs"], "analyse")
"""Commands of one game each, whose name may be left out: protocols, because programs start them and many cannot pass
arguments, and what takes a file that only one game has."""

GENERIC = {
    "games": ("general", "games"), "show": ("general", "show"), "perft": ("general", "perft"),
    "reproduce": ("general", "reproduce"), "solve": ("general", "solve"), "play": ("play", "play"),
    "watch": ("play", "watch"), "explain": ("play", "explain"), "arena": ("play", "arena"), "serve": ("serve", "serve"),
    "train": ("train", "train"), "sweep": ("train", "sweep"), "merge": ("scale", "merge"),
    "runs": ("scale", "runs"),
}  # fmt: skip
"""The commands for every game: their module in this package and their function."""

_HERE = Path(__file__).parent
_GAMES = _HERE.parent / "games"


@cache
def _source(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _sentence(file: Path, function: str) -> str:
    """The first line of a function's docstring, read without importing anything."""
    for node in _source(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return ""


@cache
def game_commands() -> dict[str, dict[str, tuple[str, str]]]:
    """The games' own forms of commands by verb and game: their modules and their first sentences."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for file in sorted(_GAMES.glob("*/commands.py")):
        folder = file.parent.name
        for node in _source(file).body:
            names = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            if not any(isinstance(name, ast.Name) and name.id == "COMMANDS" for name in names):
                continue
            assert isinstance(node, (ast.Assign, ast.AnnAssign))
            assert isinstance(node.value, ast.Dict)
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                assert isinstance(key, ast.Constant)
                assert isinstance(value, ast.Name)
                module = f"rookery.games.{folder}.commands"
                found.setdefault(str(key.value), {})[game_name(folder)] = module, _sentence(file, value.id)
    return found


def names() -> list[str]:
    """Every command, in the order of the help."""
    known = [*GENERIC, *(verb for verb in game_commands() if verb not in GENERIC)]
    grouped = [name for group in GROUPS.values() for name in group if name in known]
    return grouped + [name for name in known if name not in grouped]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit: 0 when it went well, 2 with one sentence when the input was wrong."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help"):
        print(help_text())
        sys.exit(0)
    if words[0] == "--version":
        from rookery import __version__

        print(f"rookery {__version__}")
        sys.exit(0)
    try:
        answer = run(words)
    except (ValueError, OSError) as error:
        _fail(" ".join(str(error).split()))
    except RecursionError:
        _fail("the position is nested too deeply")
    except (MemoryError, RuntimeError) as error:  # PyTorch has no kind of its own for it
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        _fail("there is not enough memory for that; choose smaller numbers")
    except KeyboardInterrupt:
        print("rookery: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(answer.exit_code)


def parsed(words: list[str]) -> tuple[Command, tuple[Any, ...], dict[str, Any]]:
    """The function of a command and what it is to be called with; what is wrong with the words becomes one sentence."""
    for word in words:
        digits = word.rpartition("=")[2].lstrip("-")
        if digits.isdecimal() and int(digits[:30]) >= 2**62:
            raise ValueError(f"numbers must be below 2^62, unlike {digits[:40]}")
    name, command, rest = _find(words)
    return command, *_arguments(name, command, rest)


def run(words: list[str]) -> Answer:
    """Run a command and print its answer."""
    command, given, named = parsed(words)
    answer = command(*given, **named)
    _print(answer, "--json" in words)
    return answer


def _arguments(name: str, command: Command, rest: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What the command is to be called with."""
    import tyro

    @functools.wraps(command)
    def collect(*given: Any, **named: Any) -> Any:
        return given, named

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            collected: tuple[tuple[Any, ...], dict[str, Any]] = tyro.cli(collect, prog=f"rookery {name}", args=rest)
    except SystemExit as stop:
        if not stop.code:
            raise
        # A title, the error and help, with lines between them: in a box, or in ASCII.
        lines = [line.strip("│╭╮╰╯─ ") for line in said.getvalue().splitlines()]
        groups = itertools.groupby(lines, key=lambda line: bool(line.strip("-")))
        title, *others = [" ".join(group) for words, group in groups if words]
        boxed = "╭" in said.getvalue()  # then the title stands in the line above the error
        error = title.removeprefix(lines[0]).strip() if boxed else others[0]
        error = re.sub(r"invalid literal for int\(\) with base 10:", "expected a whole number, not", error)
        error = error.replace("could not convert string to float:", "expected a number, not").replace(" (required)", "")
        _fail(f"{error[:1].lower()}{error[1:].rstrip('.')}; see rookery {name} --help")
    return collected


def _find(words: list[str]) -> tuple[str, Command, list[str]]:
    """The command's full name, its function, and the arguments."""
    verb, rest = words[0], words[1:]
    if verb not in names():
        from rookery.method import suggestion

        _fail(f"unknown command {verb!r}{suggestion(verb, names(), 'commands')}")
    forms = game_commands().get(verb, {})
    if verb in WITHOUT_GAME and not (rest and rest[0] in forms):
        rest = [*forms, *rest]
    asks_help = not rest or rest[0] in ("-h", "--help")
    if verb in ("train", "sweep"):
        from rookery.cli import train

        return train.find(verb, rest)
    if forms and asks_help:
        print(_forms_text(verb))
        sys.exit(0 if rest else 2)
    if forms and rest[0] in forms:
        command = importlib.import_module(forms[rest[0]][0]).COMMANDS[verb]
        return f"{verb} {rest[0]}", command, rest[1:]
    if verb not in GENERIC:
        from rookery.method import suggestion

        _fail(f"there is no {verb!r} for {rest[0]!r}{suggestion(rest[0], forms, 'games')}")
    module, function = GENERIC[verb]
    return verb, getattr(importlib.import_module(f"rookery.cli.{module}"), function), rest


def _print(answer: Answer, as_json: bool) -> None:
    if as_json or answer.show is None:
        rows = [answer.data] if isinstance(answer.data, dict) else answer.data
        for row in rows:
            print(json.dumps(row), flush=True)
    else:
        from rookery.progress import console

        answer.show(console(stderr=False))


def _fail(sentence: str) -> NoReturn:
    print(f"rookery: {sentence}", file=sys.stderr)
    sys.exit(2)


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    """Names and sentences in two columns that fit the terminal."""
    width = max(40, shutil.get_terminal_size().columns)
    left = max(len(name) for name, _ in rows) + 4
    lines = []
    for name, sentence in rows:
        wrapped = textwrap.wrap(sentence, width - left) or [""]
        lines += [f"  {name:<{left - 2}}{wrapped[0]}", *(" " * left + more for more in wrapped[1:])]
    return "\n".join(lines)


def help_text() -> str:
    """What `rookery --help` prints."""
    everything = names()
    grouped = [name for group in GROUPS.values() for name in group]
    groups: dict[str, Any] = GROUPS | {"More": [name for name in everything if name not in grouped]}
    parts = ["Rookery: programs learn board games and puzzles, and you see how far from perfect they are."]
    for title, group in groups.items():
        rows = [(name, _about(name)) for name in group if name in everything]
        parts.append(f"{title}\n{_rows(rows)}")
    parts.append("Every command explains itself with --help, takes --seed, and prints one JSON object with --json.")
    return "\n\n".join(parts)


def _about(name: str) -> str:
    if name in GENERIC:
        module, function = GENERIC[name]
        return _sentence(_HERE / f"{module}.py", function)
    forms = game_commands()[name]
    [(_, sentence), *_] = forms.values()
    return f"{sentence} ({', '.join(forms)})"


def _forms_text(verb: str) -> str:
    rows = [(f"rookery {verb} {game}", sentence) for game, (_, sentence) in game_commands()[verb].items()]
    if verb in GENERIC:
        rows.append((f"rookery {verb} GAME", _about(verb)))
    return f"{_rows(rows)}\n\nEvery form explains itself with --help."
