"""Wild values for every option of every command: an answer, or exit code 2 and one sentence; never a traceback. And a
small share of `python -m tests.fuzz`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.registry import GAMES, learners, load
from tests.commands import function_of
from tests.fuzz import CALLS, POSITIONS, TEXTS, WILD, Fuzzer, call, fuzz, minimal, options

pytest.importorskip("torch", reason="half imported, it cannot be interrupted")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""What is interrupted in the middle of opening a file leaves that to Python."""


@pytest.mark.parametrize(("arguments", "verb"), CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_options(arguments: list[str], verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    function = function_of(verb, arguments[0] if arguments else "")
    for number, option in enumerate(options(function)):
        for value in [*WILD, *TEXTS][number % 3 :: 3]:  # the fuzzer tries all
            call([verb, *arguments, f"{option}={value}"])


@pytest.mark.parametrize("verb", ["show", "perft", "explain", "arena", "play"])
def test_texts(verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    for text in [*TEXTS, *WILD]:
        for place in range(len(minimal(verb, "checkers"))):
            arguments = minimal(verb, "checkers")
            if text == "-" or arguments[place].startswith("--"):
                continue
            arguments[place] = text
            call([verb, *arguments])


TRAINING = {type(found): (game, method) for game in GAMES for method, found in learners(load(game)).items()}
"""Every learner once: a generic one reads its settings in the same way on all games."""


@pytest.mark.parametrize(("game", "method"), TRAINING.values(), ids=str)
def test_settings_of_training(game: str, method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    learner = learners(load(game))[method]
    if learner.extra:  # what uses PyTorch is slow to stop; its settings are checked before it begins
        monkeypatch.setattr(type(learner), "train", lambda *_: iter(()))
    for number, field in enumerate([*(f.name for f in fields(learner.Settings)), "seed", "variant", "preset"]):
        for value in ("-1", "nan", "9" * 30, "2147483648", "x", "0")[number % 3 :: 3]:  # the fuzzer tries all
            option = f"--{field.replace('_', '-')}={value}"
            call(["train", game, method, option, f"--out=run-{number}-{value[:3]}"])


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


SHARES = {
    "position": 500, "move": 500, "record": 100, "setting up": 100, "settings": 200, "agent name": 50, "words": 100,
    "protocol": 300, "file": 10, "command": 10,
}  # fmt: skip
"""All targets but the API, which `tests/web/test_api.py` fuzzes."""


def test_a_share_of_the_fuzzer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    fuzzer = Fuzzer(tmp_path)
    assert set(SHARES) == set(fuzzer.targets) - {"API"}
    with fuzzer.closing:
        for target, count in SHARES.items():
            report = fuzz(fuzzer, count, seed=1, only=[target])
            assert not report.failures, report.failures[0]


def test_failures_are_told(tmp_path: Path) -> None:
    fuzzer = Fuzzer(tmp_path)
    fuzzer.targets = {"broken": (1, lambda rng: print(1 // rng.choice((0, 1))))}
    report = fuzz(fuzzer, 50, seed=1)
    numbers = [number for number, _, _ in report.failures]
    assert 10 < len(numbers) < 40
    assert "ZeroDivisionError" in report.failures[0][2]
    [(number, target, _)] = fuzz(fuzzer, 1, seed=1, first=numbers[3]).failures
    assert (number, target) == (numbers[3], "broken")
