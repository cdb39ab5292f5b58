"""Names of games, methods and agents, settings from words, and what a run says about itself."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import rookery as rk
from rookery import registry
from rookery.agents import Agent
from rookery.game import Game, State
from rookery.method import (
    Method,
    Solution,
    check_at_least,
    check_numbers,
    check_shares,
    descriptions,
    filled,
    settings_of,
    suggestion,
)
from rookery.registry import agent, register, register_file, register_name, solve, strongest
from rookery.run import Row, Run, duration, find_runs, is_figure, settings_from
from rookery.training import default_folder, headline, learner, option_words, settings_for, train
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


# Settings


@dataclass(frozen=True)
class Base:
    first: int = 1
    """The first one,
    on two lines."""
    silent: int = 2


@dataclass(frozen=True)
class Everything(Base):
    second: float = 0.5
    """The second one."""
    threads: int = 1
    """Threads."""
    games: int = duration(10)
    """Games."""
    pairs: tuple[tuple[int, int], ...] = ((1, 2),)
    """Pairs."""
    mixed: int | str | None = None
    """A word."""
    other: Literal["a", "b"] | None = None
    """A choice."""
    friend: Agent | None = None
    """An agent."""


def test_a_class_of_settings_inherits_what_it_says() -> None:
    about = descriptions(Everything)
    assert about["first"] == "The first one,\non two lines."
    assert about["second"] == "The second one."
    assert "silent" not in about
    found = {setting.name: setting for setting in settings_of(Everything)}
    assert (found["mixed"].kind, found["other"].kind, found["pairs"].kind) == ("text", "choice", "text")
    assert (found["other"].choices, found["silent"].about, found["first"].default) == (("a", "b"), "", 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"first": "-3"}, {"first": -3}),
        ({"first": 2**63 - 1}, {"first": 2**63 - 1}),
        ({"first": str(2**53 + 1)}, {"first": 2**53 + 1}),
        ({"second": 3}, {"second": 3.0}),
        ({"pairs": [[1, 2], [3, 4]]}, {"pairs": ((1, 2), (3, 4))}),
        ({"mixed": 7}, {"mixed": "7"}),
        ({"mixed": None, "other": "b"}, {"mixed": None, "other": "b"}),
        ({"other": None}, {"other": None}),
    ],
)
def test_values_are_converted_to_what_the_field_takes(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert filled(Everything, given) == Everything(**expected)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"first": 2**63}, "first must be below 2\\^63, not 9223372036854775808"),
        ({"first": -(2**63)}, "first must be below 2\\^63"),
        ({"first": None}, "first must be a whole number, not 'None'"),
        ({"first": 1e400}, "first must be a whole number, not 'inf'"),
        ({"second": False}, "second must be a number, not 'False'"),
        ({"second": "x" * 50}, f"second must be a number, not '{'x' * 40}'"),
        ({"pairs": "1,2"}, "pairs must be a sequence, not '1,2'"),
        ({"pairs": 7}, "pairs must be a sequence, not '7'"),
        ({"other": "c"}, "other must be one of a, b, not 'c'"),
        ({"x" * 50: 1}, f"unknown setting '{'x' * 40}'; known settings: first"),
    ],
)
def test_what_a_field_does_not_take(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        filled(Everything, given)


def test_bounds_of_settings() -> None:
    check_numbers(Everything(first=10**9, games=10**15, threads=4096, second=1e300))
    for wrong, most in (({"first": 10**9 + 1}, "1,000,000,000"), ({"first": -(10**9) - 1}, "1,000,000,000"),
                        ({"threads": 4097}, "4,096")):  # fmt: skip
        with pytest.raises(ValueError, match=f"must be at most {most}, and is"):
            check_numbers(Everything(**wrong))
    check_at_least(Everything(first=3), 3, "first")
    with pytest.raises(ValueError, match="first must be at least 3, and is 2"):
        check_at_least(Everything(first=2), 3, "first")
    with pytest.raises(ValueError, match="second must be at least 0, and is nan"):
        check_at_least(Everything(second=float("nan")), 0, "first", "second")
    for share in (0.0, 1.0):
        check_shares(Everything(second=share), "second")
    for share in (-0.01, 1.01, float("nan")):
        with pytest.raises(ValueError, match=f"second must be from 0 to 1, and is {share}"):
            check_shares(Everything(second=share), "second")


def test_what_is_said_after_an_unknown_name() -> None:
    assert suggestion("simulatons", ["simulations", "depth"], "settings") == "; did you mean 'simulations'?"
    assert suggestion("zzz", ["simulations", "depth"], "settings") == "; known settings: simulations, depth"
    assert suggestion("zzz", [], "settings") == "; known settings: none"


def test_settings_from_their_json() -> None:
    read = settings_from(Everything, {"first": 3, "pairs": [[1, 2], [3, 4]], "unknown": 5, "mixed": [1]})
    assert read == Everything(first=3, pairs=((1, 2), (3, 4)), mixed=[1])  # type: ignore[arg-type]
    assert [is_figure(value) for value in (1, 0.5, True, "1", None)] == [True, True, False, False, False]


# Methods


def test_the_best_moves_of_a_solution() -> None:
    state = GAME.initial_state()
    found = Solution(state, "Drawn", 0.0, {0: -1.0, 4: 1.0, 8: 1.0}, {4: "wins"})
    assert found.best == [4, 8]
    assert Solution(state, "", 0.0, {}, {}).best == []
    table = "<tr><th>4</th><td>wins</td></tr><tr><th>8</th><td></td></tr><tr><th>0</th><td></td></tr>"
    assert found._repr_html_() == f"<div>{state.svg()}<p>Drawn</p><table>{table}</table></div>"


class Plain(Method):
    """A method in one line.

    And more."""

    name, kind = "plain", "exact"


def test_a_method_that_says_little() -> None:
    method = Plain()
    assert method.about == "A method in one line."
    assert (method.misfit(GAME), method.unready(GAME), method.refuses(GAME.initial_state())) == (None, None, None)
    assert (repr(method), method.presets, method.default_settings(GAME)) == ("<method plain>", {}, method.Settings())
    method.game = "checkers"
    assert method.misfit(GAME) == "is for checkers"
    assert method.misfit(rk.load("checkers")) is None
    assert repr(method) == "<method plain of checkers>"
    method.kind = "learn"  # type: ignore[assignment]
    assert method.unready(GAME) == "is not trained yet"
    with pytest.raises(ValueError, match="plain does not learn: there is nothing to train"):
        method.train(GAME, None, None)
    with pytest.raises(ValueError, match="plain does not solve positions"):
        method.solve(GAME.initial_state())
    method.module, method.extra = "no_such_module_at_all", "deep"
    with pytest.raises(ValueError, match=r"plain needs more packages: pip install 'rookery\[deep\]' \(No module"):
        method.imported()

    class Silent(Method):
        name, kind = "silent", "search"

    assert Silent().about == "silent"


# Names


class Corner:
    """Plays in a corner."""

    def __init__(self, corner: int = 0, speed: float = 1.0, word: str = "") -> None:
        self.corner, self.speed, self.word = corner, speed, word

    def choose(self, state: State) -> int:
        return self.corner


def test_classes_of_agents_are_named_after_themselves() -> None:
    class TopLeftHTMLCorner(Corner):
        pass

    class Named(Corner):
        name, game = "my-own", "tic-tac-toe"

    assert register(TopLeftHTMLCorner) is TopLeftHTMLCorner
    register(Named)
    assert {"top-left-h-t-m-l-corner", "my-own"} <= set(registry.agent_names(GAME, ready=True))
    assert "my-own" not in registry.agent_names(rk.load("checkers"))
    assert agent("my-own", GAME).choose(GAME.initial_state()) == 0
    for wrong in (3, "text", Corner(), dict):
        with pytest.raises(ValueError, match="a game, a method or a class with a method choose can be registered, not"):
            register(wrong)


USER = """
from rookery import Agent, Game

class Mine(Game):
    name, players, num_actions, observation_shape = "my-game-of-a-file", 1, 1, (1,)

class Edge:
    def __init__(self, cell=1, speed=0.5, word="x"):
        self.settings = cell, speed, word
    def choose(self, state):
        return self.settings[0]
"""


def test_what_a_file_defines(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(USER)
    assert sorted(register_file(file)) == ["Edge", "Mine"]
    assert rk.load("my-game-of-a-file").title == "My Game Of A File"
    assert agent("edge", GAME).choose(GAME.initial_state()) == 1
    assert (str(file.resolve()), True) in registry.user_code_names()
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1")
    with pytest.raises(ValueError, match=r"empty.py defines no game, agent or method; see docs/adding-a-game.md"):
        register_file(empty)
    made: Any = agent(f"{file}:Edge:cell=7,speed=1e-3,word=blue", GAME)
    assert made.player.settings == (7, 0.001, "blue")
    assert agent(f"{file}:Edge", GAME).choose(GAME.initial_state()) == 1
    with pytest.raises(ValueError, match="cannot be made with the settings 'colour=red'"):
        agent(f"{file}:Edge:colour=red", GAME)


def test_files_are_told_to_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[tuple[str, bool]] = []
    monkeypatch.setattr(registry, "register_name", lambda name: names.append((name, True)))
    monkeypatch.setattr(registry.user_code, "load_file", lambda file: names.append((str(file), False)))
    registry.load_user_code([("a.py", True), ("b.py", False)])
    assert names == [("a.py", True), ("b.py", False)]


def test_short_names_of_agents_with_settings() -> None:
    """For people who may play with them but may not name programs and files."""
    (short,) = register_name("mcts:simulations=20")
    assert short == "mcts-simulations-20"
    assert register_name("mcts:simulations=20") == [short], "the same name means the same agent"
    (other,) = register_name("mcts:simulations=20,exploration=1.5")
    assert other == "mcts-simulations-20-exploration-1-5"
    checkers = rk.load("checkers")
    assert short in registry.agent_names(checkers, ready=True)
    state = checkers.initial_state()
    mine, theirs = agent(short, checkers), agent("mcts:simulations=20", checkers)
    assert mine.choose(state, random.Random(1)) == theirs.choose(state, random.Random(1))
    for name in ("nothing", "nothing:x=1"):
        with pytest.raises(
            ValueError, match=f"{name!r} is not a file FILE.py, not a game, and not an agent of any game"
        ):
            register_name(name)
    (depth,) = register_name("minimax:depth=2")
    assert depth == "minimax-depth-2"
    assert depth not in registry.agent_names(rk.load("tenten")), "it fits no game of chance"
    (same,) = register_name("minimax:depth=2 ")
    assert same == "minimax-depth-2-"
    assert [name for name, _ in registry.user_code_names()][-2:] == ["minimax:depth=2", "minimax:depth=2 "]


def test_what_is_wrong_with_the_name_of_an_agent(tmp_path: Path) -> None:
    for name, sentence in (
        ("mct", "unknown agent 'mct' for tic-tac-toe; did you mean 'mcts'"),
        ("mcts:path=", "the path of the agent 'mcts' is empty"),
        (f"mcts:{tmp_path}", "the agent 'mcts' is not trained, and takes no path"),
        ("q-learning", "q-learning is not trained yet; train it with `rookery train tic-tac-toe q-learning`"),
        (f"q-learning:{tmp_path}", "there is no model in"),
        (f"q-learning:{tmp_path / 'none'}", "`rookery train tic-tac-toe q-learning` writes one"),
    ):
        with pytest.raises(ValueError, match=sentence):
            agent(name, GAME)
    with pytest.raises(ValueError, match="the agent 'mcts' needs a game"):
        agent("mcts")
    with pytest.raises(ValueError, match="unknown learner 'q-lerning' for tic-tac-toe; did you mean 'q-learning'"):
        learner(GAME, "q-lerning")
    with pytest.raises(ValueError, match="unknown learner 'xyz' for tic-tac-toe; known learners: ") as refused:
        learner(GAME, "xyz")
    assert "mcts" not in str(refused.value)
    with pytest.raises(ValueError, match="unknown game 'chekers'; did you mean 'checkers'"):
        rk.load("chekers")
    assert rk.load(GAME) is GAME
    assert rk.load("checkers", None, repetition=2).options == {"repetition": 2}


def test_classes_objects_and_runs_are_agents(tmp_path: Path) -> None:
    state = GAME.initial_state()
    assert agent(Corner, GAME).choose(state) == 0
    assert agent(Corner(4)).choose(state) == 4
    game = rk.load("tenten", "4x4-seven")
    run = train(game, "lspi", updates=1, out=tmp_path / "run")
    position = game.parse_state("###./..../..../.... 1x1")
    values = run.agent().values(position)
    for name in (run, Run.open(tmp_path / "run"), tmp_path / "run", f"lspi:{tmp_path / 'run'}"):
        for given in (game, None) if not str(name).startswith("lspi") else (game,):
            assert agent(name, given).values(position) == values
    with pytest.raises(ValueError, match="holds lspi of tenten, not q-learning of tic-tac-toe"):
        agent(f"q-learning:{tmp_path / 'run'}", GAME)
    with pytest.raises(ValueError, match="holds lspi of tenten, not ntuple of tenten"):
        agent("ntuple", game, tmp_path / "run")


def test_a_search_with_another_agent_inside(tmp_path: Path) -> None:
    game = rk.load("solitaire-chess", "4x4")
    inner: Any = agent("backtracking:ranker=mcts:simulations=7", game)
    field = next(name for name in vars(inner) if "rank" in name)
    assert type(getattr(inner, field)) is type(agent("mcts", game))
    with pytest.raises(ValueError, match="unknown agent 'nobody' for solitaire-chess"):
        agent("backtracking:ranker=nobody", game)
    with pytest.raises(ValueError, match=r"unknown agent '.*' for solitaire-chess"):
        agent(f"backtracking:{tmp_path}", game)


def test_the_strongest_agent_that_is_ready() -> None:
    known = registry.agent_names(GAME, ready=True)  # another test may have solved it
    assert strongest(GAME) == ("oracle" if "oracle" in known else "mcts")
    assert strongest(GAME, ["random", "oracle", "mcts"]) == "oracle"
    assert strongest(GAME, ["random", "best", "oracle"]) == "best"
    assert strongest(GAME, ["minimax", "random"]) == "random"


def test_why_a_position_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    class One(Plain):
        def solve(self, state: State) -> Solution:
            raise ValueError("it is Monday")

    class Other(Plain):
        name = "other"

        def solve(self, state: State) -> Solution:
            return Solution(state, "Solved", 1.0, {}, {})

    class Late(One):
        name = "late"

    state = GAME.initial_state()
    found: dict[str, Method] = {"plain": One(), "late": Late()}
    monkeypatch.setattr(registry, "methods", lambda game: found)
    with pytest.raises(ValueError, match=r"^it is Monday; it is Monday$"):
        solve(state)
    found["other"] = Other()
    assert solve(state).text == "Solved"
    found.clear()
    with pytest.raises(ValueError, match="no method solves tic-tac-toe exactly"):
        solve(state)
    learns = One()
    learns.kind = "learn"  # type: ignore[assignment]
    found["plain"] = learns
    with pytest.raises(ValueError, match="no method solves tic-tac-toe exactly"):
        solve(state)


# Runs


@dataclass(frozen=True)
class Few:
    rows: int = duration(2)
    """Rows."""
    rate: float = 0.5
    """A rate."""


class Short(Method):
    """Reports some rows."""

    name, kind, headline = "short", "learn", "size_now"
    Settings = Few

    @property
    def presets(self) -> dict[str, Any]:  # type: ignore[override]
        return {"long": Few(rows=3)}

    def train(self, game: Game, settings: Any, run: Run) -> Iterator[Row]:
        for number in range(settings.rows):
            run.save({"size_now": number, "word": "x", "flag": True, "progress": 1.0}, {})
            yield run.rows[-1]


def test_what_a_run_says_about_itself(tmp_path: Path) -> None:
    run = train(GAME, Short(), out=tmp_path / "a" / "b" / "run", seed=3)
    assert repr(run) == f"<Run {run.folder}: short on tic-tac-toe, done>"
    assert run.info["figures"] == {"size_now": 1, "progress": 1.0}
    assert "<tr><th>size_now</th><td>1</td></tr>" in run._repr_html_()
    assert (run.kind, run.seed, run.settings["rate"]) == ("tic-tac-toe short", 3, 0.5)
    assert run.info["command"] == "rookery.train(TicTacToe(), 'short', seed=3)"
    assert list(find_runs(tmp_path)) == [run.folder]
    assert list(find_runs(tmp_path, depth=2)) == []
    assert list(find_runs(run.folder)) == []
    assert list(find_runs(tmp_path / "a" / "b", depth=1)) == [run.folder]
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "run.json").write_text("{}")
    assert list(find_runs(tmp_path)) == [tmp_path / "1", run.folder]
    kept = Run.create(run.folder, GAME, "short", Few(rows=9), 3, resume=True)
    assert (kept.info["command"], kept.info["figures"]) == (run.info["command"], run.info["figures"])
    with pytest.raises(ValueError, match="was trained with method 'short', not 'long'"):
        Run.create(run.folder, GAME, "long", Few(), 3, resume=True)


@pytest.mark.parametrize(("process", "state"), [(0, "stopped"), (-1, "stopped"), (2**70, "stopped"), (1, "running")])
def test_whether_a_process_is_there(process: int, state: str, tmp_path: Path) -> None:
    Run.create(tmp_path, GAME, "short", Few(), 0)
    info = json.loads((tmp_path / "run.json").read_text())
    assert info["process"] == os.getpid()
    (tmp_path / "run.json").write_text(json.dumps(info | {"process": process}))
    assert Run.open(tmp_path).state == state


def test_words_of_training(tmp_path: Path) -> None:
    assert option_words("sizes", [1, 2]) == ["--sizes", "1", "2"]
    assert option_words("fast_one", True) == ["--fast-one"]
    assert default_folder(GAME, "short") == Path("runs/tic-tac-toe-short")
    assert default_folder(rk.load("checkers"), "td") == Path("runs/checkers-td-standard")
    for value, words in ((1234567, "1,234,567"), (0.123456, "0.1235"), ("x", "-"), (None, "-")):
        assert headline(Short(), {"size_now": value}) == f"size now {words}"
    assert headline(Short(), {}) == "size now -"
    assert settings_for(GAME, Short(), {"rate": 0.25}, "long") == Few(3, 0.25)
    assert settings_for(GAME, Short(), {}) == Few()
    with pytest.raises(ValueError, match="unknown preset 'lon' of short; did you mean 'long'"):
        settings_for(GAME, Short(), {}, "lon")
    with pytest.raises(ValueError, match="unknown executor 'there'"):
        train(GAME, Short(), out=tmp_path, on="there")
    with pytest.raises(ValueError, match="rows must be at most"):
        train(GAME, Short(), out=tmp_path, rows=10**15 + 1)
    assert not (tmp_path / "run.json").exists()


def double(shared: int, number: int) -> int:
    return shared * number


def test_workers_of_a_run(tmp_path: Path) -> None:
    hired: list[int] = []

    class Hiring(Short):
        def train(self, game: Game, settings: Any, run: Run) -> Iterator[Row]:
            assert run.hire is not None
            workers = run.hire(7, 1)
            for number in range(2):
                workers.put(f"{number}", f"{__name__}:double", {"number": number})
            hired.extend(sorted(workers.get() for _ in range(2)))
            workers.close()
            run.save({"progress": 1.0}, {})
            yield run.rows[-1]

    train(GAME, Hiring(), out=tmp_path)
    assert hired == [0, 7]
