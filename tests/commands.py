"""How tests call the command line."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from typing import Any

import pytest

from rookery.cli import GENERIC, game_commands, main


def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    command = [sys.executable, "-m", "rookery", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=60)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The one JSON object of a command that must go well."""
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--json"])
    output = capsys.readouterr()
    assert stop.value.code == 0, output.err
    data = json.loads(output.out)
    assert isinstance(data, dict)
    return data


def check_refusal(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    """The command must exit with 2, print nothing, and say one sentence with the given words on standard error."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1


def function_of(verb: str, game: str) -> Any:
    """The function behind a command."""
    if game in game_commands().get(verb, {}):
        return importlib.import_module(game_commands()[verb][game][0]).COMMANDS[verb]
    module, function = GENERIC[verb]
    return getattr(importlib.import_module(f"rookery.cli.{module}"), function)
