"""Games, agents and methods in a user's own files: in commands, in worker processes, from Python and on the page."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import rookery as rk
from rookery import user_code
from rookery.cli import main
from tests.commands import answer, check_refusal

GAME = '''
import numpy as np
import rookery as rk
from rookery import user_code


class Nim(rk.Game):
    """Take one to three of the last stones; who takes the last one wins."""

    name, players, num_actions, observation_shape = "nim", 2, 3, (1, 1, 1)

    def __init__(self, stones: int = 7) -> None:
        self.stones = stones

    def initial_state(self):
        return Heap(self, self.stones, 0)

    def parse_state(self, text):
        stones, _, player = text.partition(" ")
        if not (stones.isdecimal() and player in ("0", "1")):
            raise ValueError(f"expected stones and the player to move, such as '7 0', not {text!r}")
        return Heap(self, int(stones), int(player))


class Heap(rk.State):
    def __init__(self, game, stones, mover):
        self._game, self.stones, self.mover = game, stones, mover

    @property
    def game(self):
        return self._game

    def player(self):
        return self.mover if self.stones else rk.TERMINAL

    def legal_actions(self):
        return list(range(min(3, self.stones)))

    def apply(self, action):
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in {self}")
        self.stones, self.mover = self.stones - action - 1, 1 - self.mover

    def clone(self):
        return Heap(self._game, self.stones, self.mover)

    def returns(self):
        return [0.0, 0.0] if self.stones else [-1.0, 1.0] if self.mover == 0 else [1.0, -1.0]

    def key(self):
        return bytes([self.stones, self.mover])

    def observation(self):
        return np.full((1, 1, 1), self.stones, np.float32)

    def action_name(self, action):
        return f"take {action + 1}"

    def __str__(self):
        return f"{self.stones} {self.mover}"
'''

AGENT = '''
import rookery as rk
from rookery import user_code


class Perfect(rk.Agent):
    """Leaves a multiple of four."""

    def __init__(self, modulus: int = 4) -> None:
        self.modulus = modulus

    def values(self, state):
        return {a: float((state.stones - a - 1) % self.modulus == 0) for a in state.legal_actions()}
'''

METHOD = '''
from dataclasses import dataclass
import numpy as np
import rookery as rk
from rookery import user_code
from rookery.run import duration, load_arrays, save_model


@dataclass(frozen=True)
class Settings:
    sweeps: int = duration(10)
    """Sweeps over all heaps."""


@rk.register
class Sweeping(rk.Method):
    """Value iteration over heaps."""

    name, kind, game, headline = "sweeping", "learn", "nim", "known"
    Settings = Settings

    def default_settings(self, game):
        return Settings()

    def train(self, game, settings, run):
        saved = run.restore()
        values = np.zeros(game.stones + 1) if saved is None else saved["values"]
        for sweep in range(len(run.rows), settings.sweeps):
            for n in range(1, len(values)):
                values[n] = max(-values[n - k] if n > k else 1.0 for k in (1, 2, 3) if n >= k)
            row = {"sweep": sweep + 1, "known": int((values != 0).sum()), "progress": (sweep + 1) / settings.sweeps}
            run.save(row, {"values": values})
            save_model(run.folder / "model.npz", {"kind": "nim"}, {"values": values})
            yield row

    def agent(self, game, options, model=None):
        return Learned(load_arrays(model, "nim")[1]["values"])


class Learned(rk.Agent):
    def __init__(self, table):
        self.table = table

    def values(self, state):
        left = {a: state.stones - a - 1 for a in state.legal_actions()}
        return {a: 1.0 if n == 0 else -float(self.table[n]) for a, n in left.items()}
'''


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("nim.py", GAME), ("perfect.py", AGENT), ("sweeping.py", GAME + METHOD)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show_explain_and_play(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(capsys, "show", "nim.py", "2 0")["moves"] == ["take 1", "take 2"]
    why = answer(capsys, "explain", "nim.py:Nim", "7 0", "--agent", "perfect.py:Perfect")
    assert why["action"] == "take 3"
    other = answer(capsys, "explain", "nim.py:Nim", "7 0", "--agent", "perfect.py:Perfect:modulus=6")
    assert other["action"] == "take 1"
    words = iter(["take 2", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    played = answer(capsys, "play", "nim.py", "--agent", "perfect.py")
    assert played["moves"] == ["take 2", "take 1"]


def test_arena_in_worker_processes(files: Path) -> None:
    """In a process of its own, as a person would start it."""
    command = ["arena", "nim.py", "perfect.py", "random", "--games", "20", "--json", "--on"]
    results = []
    for on in ("here", "processes:2"):
        done = subprocess.run(
            [sys.executable, "-m", "rookery", *command, on], capture_output=True, text=True, check=True, timeout=60
        )
        results.append(json.loads(done.stdout))
    assert results[0] == results[1]
    assert results[0]["wins"] > results[0]["losses"]


def test_objects_in_worker_processes(files: Path) -> None:
    game, agent = rk.load("nim.py", stones=9), rk.agent("perfect.py", "nim.py")
    assert rk.match(game, agent, "random", games=8, on="processes:2") == rk.match(game, agent, "random", games=8)


def test_train(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "train", "sweeping.py", "sweeping", "--sweeps", "3", "--out", "run")
    assert data["metrics"]["known"] == 7
    assert (
        answer(capsys, "train", "sweeping.py", "sweeping", "--sweeps", "5", "--out", "run", "--resume")["metrics"][
            "sweep"
        ]
        == 5
    )
    assert answer(capsys, "explain", "sweeping.py", "7 0", "--agent", "run")["action"] == "take 3"
    check_refusal(capsys, ["train", "nim.py", "td"], "unknown learner 'td' for nim")


def test_a_notebook(files: Path) -> None:
    """What the public interface offers, on classes of `__main__` in a process without a file."""
    script = (
        GAME
        + AGENT
        + (
            "game = Nim()\n"
            "rk.check(game)\n"
            "assert rk.match(game, Perfect(), 'random', games=10).wins > 5\n"
            "rk.register(Nim); rk.register(Perfect)\n"
            "assert rk.agent('perfect', rk.load('nim')).choose(game.initial_state()) == 2\n"
            "try:\n    rk.match(game, Perfect(), 'random', games=10, on='processes:2')\n"
            "except ValueError as error:\n    assert 'file' in str(error)\n"
            "else:\n    raise AssertionError\n"
        )
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_values(files: Path) -> None:
    game = rk.load("nim.py", stones=9)
    assert rk.load("nim.py", stones=9) == game != rk.load("nim.py")
    assert game.options == {"stones": 9}
    state = game.initial_state()
    state.apply(1)
    for same in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state.clone()):
        assert same == state
        assert hash(same) == hash(state)
        assert str(same) == str(state)
    assert state != game.initial_state()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class Broken(:\n", "broken.py, line 1: invalid syntax"),
        ("import numpy\n\nimport no_such_module\n", "broken.py, line 3: ModuleNotFoundError: No module named 'no_such"),
        ("x = 1\ny = x / 0\n", "broken.py, line 2: ZeroDivisionError: division by zero"),
        ("x = 1\n", "broken.py defines no game"),
    ],
)
def test_a_broken_file_gets_one_sentence(
    text: str, sentence: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "broken.py").write_text(text)
    check_refusal(capsys, ["show", "broken.py"], sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "none.py"], "there is no file none.py"),
        (["show", "nim.py:Heap"], "'nim.py:Heap' is not the class of a game"),
        (["show", "no.such.module:Game"], "cannot import no.such.module"),
        (["explain", "nim.py", "7 0", "--agent", "perfect.py:Nobody"], "is not the class of an agent"),
        (["explain", "nim.py", "7 0", "--agent", "perfect.py:Perfect:colour=1"], "cannot be made with the settings"),
        (["arena", "nim.py", "perfect.py", "perfect.py"], "the agent 'perfect.py' is named twice"),
    ],
)
def test_bad_names(arguments: list[str], sentence: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(capsys, arguments, sentence)


def test_modules_are_named_with_dots(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["show", "examples.tic_tac_toe:TicTacToe"])
    assert stop.value.code == 0, capsys.readouterr()


def test_classes_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "odd name-1.py"
    file.write_text(
        "from collections import Counter\ncount = 0\n\nclass One:\n    pass\n\nclass Two:\n"
        "    def __init__(self, game, size=1):\n        self.game, self.size = game, size\n\n"
        "class _Hidden(One):\n    pass\n"
    )
    module = user_code.load_file(file)
    assert user_code.load_file(str(file)) is module, "a file is run once"
    assert [kind.__name__ for kind in user_code.classes_in(module, lambda kind: True)] == ["One", "Two"]
    assert [kind.__name__ for kind in user_code.classes_in(module, lambda kind: kind is module.Two)] == ["Two"]
    assert str(file) in user_code.loaded_files()
    assert user_code.spec_of(module.Two) == f"{file}:Two"
    assert user_code.load_class(f"{file}:Two", "game", lambda kind: True) is module.Two
    assert user_code.spec_of(dict) is None
    with pytest.raises(ValueError, match=r"defines 2 classes of an agent; name one: .*1\.py:One, .*1\.py:Two"):
        user_code.load_class(str(file), "agent", lambda kind: True)
    with pytest.raises(ValueError, match=r"odd name-1\.py defines no game"):
        user_code.load_class(str(file), "game", lambda kind: False)
    for name in ("Nothing", "count"):
        with pytest.raises(ValueError, match=f":{name}' is not the class of a game"):
            user_code.load_class(f"{file}:{name}", "game", lambda kind: True)
    made = user_code.new(module.Two, game="chess", size=3)
    assert (made.game, made.size) == ("chess", 3)
    assert isinstance(user_code.new(module.One, game="chess"), module.One)
    monkeypatch.chdir(tmp_path)
    assert user_code.load_file("odd name-1.py") is module


def test_what_goes_wrong_in_a_file_or_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helper_of_mine.py").write_text("def fail():\n    raise KeyError('deep')\n")
    (tmp_path / "mine.py").write_text("import helper_of_mine\n\n\nhelper_of_mine.fail()\n")
    with pytest.raises(ValueError, match=r"mine\.py, line 4: KeyError: 'deep'"):
        user_code.load_file(tmp_path / "mine.py")
    assert not any("mine" in Path(file).name for file in user_code.loaded_files()), "it may be loaded again"
    (tmp_path / "stops.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(SystemExit):
        user_code.load_file(tmp_path / "stops.py")
    (tmp_path / "uses.py").write_text("compile('x =', 'other', 'exec')\n")
    with pytest.raises(ValueError, match=r"uses\.py, line 1: SyntaxError: invalid syntax"):
        user_code.load_file(tmp_path / "uses.py")
    (tmp_path / "broken_module_of_mine.py").write_text("1 / 0\n")
    with pytest.raises(
        ValueError, match="importing broken_module_of_mine fails with ZeroDivisionError: division by zero"
    ):
        user_code.load_module("broken_module_of_mine")
    with pytest.raises(ValueError, match="cannot import no_such_module_of_mine: No module named"):
        user_code.load_module("no_such_module_of_mine")
    with pytest.raises(ValueError, match=r"there is no file .*none\.py"):
        user_code.load_file(tmp_path / "none.py")
