"""Wild values for every option of every command: an answer, or exit code 2 and one sentence; never a traceback."""

from __future__ import annotations

import functools
import inspect
import signal
import typing
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import tyro

from rookery.cli import GENERIC, game_commands, main
from rookery.registry import GAMES, learners, load
from tests.commands import function_of

pytest.importorskip("torch", reason="half imported, it cannot be interrupted")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""What is interrupted in the middle of opening a file leaves that to Python."""

WILD = [
    "-1", "0", "1.5", "nan", "inf", "-inf", "1e308", "9" * 30, "-" + "9" * 30, "18446744073709551615",
    "4611686018427387903", "2147483648", "x", "",
]  # fmt: skip
TEXTS = ["", "[/bold]", "[red]x", "a:b=c", "x" * 2000, "\u00e9\u4e16", "../..", "-", "a\nb", "%s{0}", "path=", "=,=,:"]

SKIPPED = {"common", "open", "load", "host"}
POSITIONS = {
    "checkers": "W:W25,K26:B21", "endgames": "8/8/8/8/8/1K6/7R/k7 w - - 0 1", "morpion": "(28,28)",
    "solitaire-chess": ".RN./B.P./..../....", "tenten": "########../" + "........../" * 8 + ".......... 1x1",
}  # fmt: skip


def minimal(verb: str, game: str) -> list[str]:
    """Arguments of a call that is quick and goes well."""
    position = POSITIONS[game]
    return {
        "games": [], "perft": [game, "1"], "show": [game, position], "reproduce": ["overview", "--quick"],
        "play": [game], "explain": [game, position, "--agent", "random"],
        "arena": [game, "random", "minimax:depth=1", "--games", "2", "--on", "here"],
        "serve": ["--port", "-1"], "merge": [game, "a", "b", "--out", "c"],
        "watch": [game, position if game == "endgames" else "random"],
        "verify": [game, "no-such-file"], "replay": [game, "no-such-file"], "compare": [game, "none", "none"],
        "evaluate": [game, "none"], "search": [game, "--level", "1"], "generate": [game, "--count", "1"],
        "solve": [game] if game == "tenten" else [game, position],
    }.get(verb, [game, position])  # fmt: skip


def options(function: Any) -> list[str]:
    """The options of a command, `--seed` and those of nested settings included."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in (
            "common",
            "open",
            "load",
            "host",
        ):
            if parameter.name == "where":
                found += ["--on", "--shard", "--timeout"]
                continue
            name = "search" if parameter.name == "search_method" else parameter.name
            switch = typing.get_type_hints(function).get(parameter.name) is bool
            found += [] if switch else [f"--{name.replace('_', '-')}"]
    return [*found, "--seed"]


CALLS = [
    *((minimal(verb, "checkers"), verb) for verb in GENERIC if verb not in ("train", "sweep", "solve")),
    *((minimal(verb, game), verb) for verb, forms in game_commands().items() for game in forms),
]


def _main(arguments: list[str]) -> None:
    """`main`, once more after a defect of CPython 3.11: an interrupt or another thread confuses `ast.parse`."""
    try:
        main(arguments)
    except SystemError as error:
        if "recursion depth mismatch" not in str(error):
            raise
        main(arguments)


def call(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command for at most a moment. What is still at work by then was accepted."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def parse(command: Any, prog: str, args: list[str]) -> Any:
        @functools.wraps(command)
        def timed(*given: Any, **named: Any) -> Any:
            signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)  # again and again: one may be lost in a callback
            return command(*given, **named)

        return parse_and_call(timed, prog=prog, args=args)

    parse_and_call = tyro.cli
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(tyro, "cli", parse)
            with pytest.raises(SystemExit) as stop:
                _main(arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    output = capsys.readouterr()
    assert stop.value.code in (0, 1, 2, 130), arguments
    if stop.value.code == 2:
        assert len(output.err.splitlines()) == 1, (arguments, output.err)
        assert output.err.startswith("rookery: ")
        assert "int()" not in output.err


@pytest.mark.parametrize(("arguments", "verb"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_options(
    arguments: list[str], verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    function = function_of(verb, arguments[0] if arguments else "")
    for option in options(function):
        for value in [*WILD, *TEXTS]:
            call([verb, *arguments, f"{option}={value}"], monkeypatch, capsys)


@pytest.mark.parametrize("verb", ["show", "perft", "explain", "arena", "play"])
def test_texts(verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    for text in [*TEXTS, *WILD]:
        for place in range(len(minimal(verb, "checkers"))):
            arguments = minimal(verb, "checkers")
            if text == "-" or arguments[place].startswith("--"):
                continue
            arguments[place] = text
            call([verb, *arguments], monkeypatch, capsys)


TRAINING = {type(found): (game, method) for game in GAMES for method, found in learners(load(game)).items()}
"""Every learner once: a generic one reads its settings in the same way on all games."""


@pytest.mark.parametrize(("game", "method"), TRAINING.values(), ids=str)
def test_settings_of_training(
    game: str, method: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    learner = learners(load(game))[method]
    if learner.extra:  # what uses PyTorch is slow to stop; its settings are checked before it begins
        monkeypatch.setattr(type(learner), "train", lambda *_: iter(()))
    for number, field in enumerate([*(f.name for f in fields(learner.Settings)), "seed", "variant", "preset"]):
        for value in ("-1", "nan", "9" * 30, "4611686018427387903", "2147483648", "x", "1.5"):
            option = f"--{field.replace('_', '-')}={value}"
            call(["train", game, method, option, f"--out=run-{number}-{value[:3]}"], monkeypatch, capsys)


NAMES = [
    "minimax:depth=x", "mcts:simulations=1.5", "mcts:exploration=nan", "mcts:exploration=inf", "mcts:simulations=-1",
    "mcts:simulations=" + "9" * 30, "minimax:depth=" + "9" * 30, "minimax:depth=0", "mcts:", "mcts:=", "mcts:,", ":",
    "mcts:depth=3", "mcts:simulations=1,simulations", "mcts:path=x", "voting:path=", "td:depth=1,path=/dev/null",
    "oracle:pieces=0", "oracle:pieces=99", "dqn:/etc/passwd", "nobody.py", "nobody.py:Agent", "os:system", "no.such:It",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_agents(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["explain", "checkers", POSITIONS["checkers"], "--agent", name])
    assert stop.value.code == (0 if name == "mcts:" else 2), capsys.readouterr()
    assert len(capsys.readouterr().err.splitlines()) <= 1
