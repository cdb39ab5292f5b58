"""Methods, settings, names and runs: what everything people touch is derived from."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import rookery as rk
from rookery import registry
from rookery.method import check_numbers, descriptions, filled, settings_of
from rookery.registry import agent_names, learners, methods, register, split_name
from rookery.run import METRICS, Run, duration, find_runs, load_arrays, read_metrics, save_arrays
from rookery.training import learner, settings_for
from tests.search.test_python_games import Coins, CoinsState
from tests.tic_tac_toe import TicTacToe

VARIANTS = [(name, variant) for name in rk.GAMES for variant in rk.load(name).variants]


@dataclass(frozen=True)
class Settings:
    games: int = duration(10)
    """Games to play."""
    rate: float = 0.5
    """Learning rate."""
    kind: Literal["a", "b", 3] = "a"
    """What to do."""
    fast: bool = False
    """Whether to hurry."""
    name: str | None = None
    """A name."""


class Counting(rk.Method):
    """Counts games."""

    name, kind, headline = "counting", "learn", "games"
    Settings = Settings

    def train(self, game: rk.Game, settings: Any, run: Run):  # type: ignore[no-untyped-def]
        saved = run.restore()
        done = 0 if saved is None else int(saved["done"])
        while done < settings.games:
            done += 1
            row = {"games": done, "progress": done / settings.games}
            run.save(row, {"done": np.array(done)})
            (run.folder / self.model).write_text(str(done))
            yield row

    def agent(self, game: rk.Game, options: object, model: Path | None = None) -> rk.Agent:
        assert model is not None
        return rk.agent("random", game)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setattr(registry, "_METHODS", {})
    return register(Counting())


# Settings


def test_settings_describe_themselves() -> None:
    rows = {
        row.name: (row.kind, row.default, row.about, row.choices) for row in settings_of(Settings, Settings(rate=2))
    }
    assert rows == {
        "games": ("whole", 10, "Games to play.", ()), "rate": ("number", 2, "Learning rate.", ()),
        "kind": ("choice", "a", "What to do.", ("a", "b", "3")), "fast": ("switch", False, "Whether to hurry.", ()),
        "name": ("text", None, "A name.", ()),
    }  # fmt: skip


def test_settings_are_filled_from_words() -> None:
    given = {"games": "7", "rate": "1e-3", "kind": "3", "fast": "yes", "name": "x"}
    assert filled(Settings, given) == Settings(7, 0.001, 3, True, "x")
    assert filled(Settings, {"name": None}, Settings(games=3)) == Settings(games=3)
    assert filled(Settings, {"games": 5.0}).games == 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"games": "1.5"}, "games of it must be a whole number, not '1.5'"),
        ({"games": True}, "games of it must be a whole number"),
        ({"games": "9" * 30}, "games of it must be below 2"),
        ({"rate": "nan"}, "rate of it must be a number, not 'nan'"),
        ({"rate": []}, "rate of it must be a number"),
        ({"kind": "c"}, "kind of it must be one of a, b, 3, not 'c'"),
        ({"fast": "perhaps"}, "fast of it must be true or false"),
        ({"gamse": 1}, "unknown setting 'gamse' of it; did you mean 'games'?"),
        ({"zzz": 1}, "unknown setting 'zzz' of it; known settings: games, rate, kind, fast, name"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace("?", r"\?")):
        filled(Settings, given, what="it")


def test_numbers_beyond_reason_are_refused() -> None:
    check_numbers(Settings(games=10**15))
    with pytest.raises(ValueError, match="games must be at most"):
        check_numbers(Settings(games=10**15 + 1))


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_setting_of_every_method_is_described(name: str, variant: str) -> None:
    game = rk.load(name, variant)
    for method in methods(game).values():
        assert method.about.endswith("."), method
        for kind in (method.Options, method.Settings) if method.kind == "learn" else (method.Options,):
            about = descriptions(kind)
            for field in fields(kind):
                assert about.get(field.name, "").endswith("."), f"{method} {field.name}"
        if method.kind == "learn":
            assert method.headline, method
            settings = method.default_settings(game)
            assert type(settings) is method.Settings
            for preset in method.presets:
                assert type(settings_for(game, method, {}, preset)) is method.Settings


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("td", ("td", {})),
        ("td:depth=5", ("td", {"depth": "5"})),
        ("td:runs/mine", ("td", {"path": "runs/mine"})),
        ("td:depth=5,path=a,b=c:d", ("td", {"depth": "5", "path": "a,b=c:d"})),
        ("td:path=x=1,depth=2", ("td", {"path": "x=1,depth=2"})),
        ("td:path=", ("td", {"path": ""})),
        ("td:/a b/[c], d", ("td", {"path": "/a b/[c], d"})),
        ("td:depth=5,runs/mine", ("td", {"depth": "5", "path": "runs/mine"})),
    ],
)
def test_names_of_agents(name: str, expected: tuple[str, dict[str, str]]) -> None:
    assert split_name(name) == expected


def test_odd_paths_lead_to_their_models(tmp_path: Path) -> None:
    game = rk.load("tenten", "4x4-seven")
    state = game.parse_state("###./..../..../.... 1x1")
    for name in ("a,b=c", "path=x", "[bold]", "with space", "c:d", "lspi"):
        rk.train(game, "lspi", updates=1, out=tmp_path / name)
        for spec in (f"lspi:path={tmp_path / name}", f"lspi:{tmp_path / name}", str(tmp_path / name)):
            assert rk.agent(spec, game).values(state), spec


def test_a_misfit_says_why() -> None:
    with pytest.raises(ValueError, match="minimax does not fit tenten 10x10: it needs a game without chance"):
        rk.agent("minimax", rk.load("tenten"))
    with pytest.raises(ValueError, match="nrpa does not fit tic-tac-toe: it needs a game for one player"):
        rk.agent("nrpa", TicTacToe())
    with pytest.raises(
        ValueError, match="mcts does not learn; known learners: q-learning, dqn, zero, ntuple, lspi, td"
    ):
        learner(rk.load("checkers"), "mcts")
    with pytest.raises(ValueError, match="unknown preset 'tiny'"):
        rk.train("endgames", "q-learning", preset="tiny")


def test_what_is_registered_is_offered(counting: Counting) -> None:
    game = TicTacToe()
    assert learners(game)["counting"] is counting
    assert "counting" in learners(rk.load("checkers"))
    assert "counting" in agent_names(game)
    assert "counting" not in agent_names(game, ready=True)
    with pytest.raises(ValueError, match="counting is not trained yet; train it with `rookery train tic-tac"):
        rk.agent("counting", game)
    with pytest.raises(ValueError, match="can be registered, not 3"):
        register(3)


def test_entry_points_add_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name = "counting"

        def load(self) -> type[Counting]:
            return Counting

    monkeypatch.setattr(registry, "_METHODS", {})
    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()] if group == "rookery.methods" else [])
    registry._installed.cache_clear()
    try:
        assert "counting" in methods(TicTacToe())
    finally:
        registry._installed.cache_clear()


# Runs


def test_a_run_is_a_folder_that_resumes_and_plays(counting: Counting, tmp_path: Path) -> None:
    game, rows = TicTacToe(), []
    run = rk.train(game, counting, games=3, out=tmp_path, seed=4, on_row=rows.append)
    assert [row["games"] for row in rows] == [1, 2, 3]
    assert run.metrics == rows == read_metrics(tmp_path)
    info = json.loads((tmp_path / "run.json").read_text())
    assert {
        "game": "tic-tac-toe", "variant": None, "options": {}, "method": "counting", "seed": 4, "state": "done",
        "settings": {"games": 3, "rate": 0.5, "kind": "a", "fast": False, "name": None},
        "figures": {"games": 3, "progress": 1.0},
    }.items() <= info.items()  # fmt: skip
    assert info["version"]
    assert info["command"]
    again = rk.train(game, counting, games=3, out=tmp_path, seed=4, resume=True, on_row=rows.append)
    assert again.metrics == run.metrics, "a finished run keeps its metrics"
    assert len(rows) == 3
    longer = rk.train(game, counting, games=5, out=tmp_path, seed=4, resume=True, on_row=rows.append)
    assert [row["games"] for row in longer.metrics] == [1, 2, 3, 4, 5]
    assert run.agent().choose(game.initial_state()) in range(9)
    with pytest.raises(ValueError, match="already holds a run; resume it"):
        rk.train(game, counting, out=tmp_path, seed=4)
    with pytest.raises(ValueError, match="was trained with seed 4, not 5"):
        rk.train(game, counting, out=tmp_path, seed=5, resume=True)
    with pytest.raises(ValueError, match=r"was trained with rate=0\.5, not 0\.1"):
        rk.train(game, counting, out=tmp_path, seed=4, rate=0.1, resume=True)
    with pytest.raises(ValueError, match="was trained with game 'tic-tac-toe', not 'checkers'"):
        rk.train("checkers", counting, out=tmp_path, seed=4, resume=True)


def test_what_goes_wrong_is_written_down(counting: Counting, tmp_path: Path) -> None:
    def fail(row: dict[str, object]) -> None:
        raise RuntimeError("out of luck") if row["games"] == 2 else KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rk.train(TicTacToe(), counting, out=tmp_path, on_row=fail)
    assert Run.open(tmp_path).state == "stopped"
    with pytest.raises(RuntimeError):
        rk.train(TicTacToe(), counting, out=tmp_path, resume=True, on_row=fail)
    failed = Run.open(tmp_path)
    assert (failed.state, failed.info["error"]) == ("failed", "RuntimeError: out of luck")
    assert tmp_path in find_runs(tmp_path.parent)


def test_a_run_whose_process_is_gone_was_stopped(tmp_path: Path) -> None:
    run = Run.create(tmp_path, TicTacToe(), "counting", Settings(), 0)
    assert run.state == "running"
    assert Run.open(tmp_path).state == "running"
    with pytest.raises(ValueError, match="already holds a run"):
        Run.create(tmp_path, TicTacToe(), "counting", Settings(), 0)
    info = json.loads((tmp_path / "run.json").read_text())
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    (tmp_path / "run.json").write_text(json.dumps(info | {"process": child}))
    assert Run.open(tmp_path).state == "stopped"
    Run.create(tmp_path, TicTacToe(), "counting", Settings(), 0)  # nothing was learned, so nothing is lost


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"game": 1}', "nonsense", '"x"'])
def test_damaged_descriptions_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match="is not the description of a run, or is damaged"):
        Run.open(tmp_path)
    with pytest.raises(ValueError, match="there is no run in"):
        Run.open(tmp_path / "none")


def test_half_a_line_of_metrics_is_left_out(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_text('{"games": 1}\n{"games": 2}\n{"gam')
    assert read_metrics(tmp_path) == [{"games": 1}, {"games": 2}]
    assert read_metrics(tmp_path / "none") == []


def test_arrays_come_back_and_damage_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    save_arrays(file, {"kind": "x", "n": 3}, {"a": np.arange(1000)})
    info, arrays = load_arrays(file, "x")
    assert info == {"kind": "x", "n": 3}
    assert np.array_equal(arrays["a"], np.arange(1000))
    with pytest.raises(ValueError, match="holds 'x', not 'y'"):
        load_arrays(file, "y")
    whole = file.read_bytes()
    for content in (b"", b"PK", whole[:-30], whole[:100] + b"\0" * 20 + whole[120:]):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="is not a file written by Rookery, or is damaged"):
            load_arrays(file, "x")
    np.savez(file, info=np.array([{"kind": "x"}], dtype=object))
    with pytest.raises(ValueError, match="damaged"):
        load_arrays(file, "x")


def test_methods_of_one_game_fit_no_other() -> None:
    for name in rk.GAMES:
        own = [method for method in methods(rk.load(name)).values() if method.game]
        for method in own:
            for other in set(rk.GAMES) - {name}:
                assert isinstance(method.misfit(rk.load(other)), str), (method, other)


def test_the_learner_of_perfect_endgames_fits_what_it_can_learn() -> None:
    fits = {variant: methods(rk.load("endgames", variant)).get("perfect") for variant in rk.load("endgames").variants}
    perfect = next(method for method in fits.values() if method)
    for variant in fits:
        game = rk.load("endgames", variant)
        reason = perfect.misfit(game)
        assert (reason is None) == (game.material in ("KQK", "KRK", "KBBK", "KBNK")), variant
        assert reason is None or reason == "learns KQK, KRK, KBBK, KBNK"


def test_the_time_of_a_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("rookery.run.time.monotonic", lambda: now[0])
    game = TicTacToe()
    run = Run.create(tmp_path, game, "counting", Settings(), 1)
    run.add({"games": 1})
    run.write_metrics()
    now[0] = 107.5
    run.note("stopped")
    assert Run.open(tmp_path).info["seconds"] == 7.5
    again = Run.create(tmp_path, game, "counting", Settings(), 1, resume=True)
    now[0] = 110.0
    again.note("done")
    assert Run.open(tmp_path).info["seconds"] == 10.0
    assert "error" not in again.info
    again.note("failed", "it broke")
    assert Run.open(tmp_path).info["error"] == "it broke"


@pytest.mark.parametrize("name", rk.GAMES)
def test_every_agent_that_is_ready_can_be_made(name: str) -> None:
    game = rk.load(name)
    for ready in agent_names(game, ready=True):
        if ready != "stockfish":  # a program outside
            agent = rk.agent(ready, game)
            assert isinstance(agent, rk.Agent), ready
            assert type(agent).choose is not rk.Agent.choose or type(agent).values is not rk.Agent.values, ready


def test_a_table_votes_only_where_moves_have_cells(tmp_path: Path) -> None:
    class Flat(Coins):
        observation_shape = (1,)  # type: ignore[assignment]

        def initial_state(self) -> Any:
            return FlatState(self, 6, 0, 0)

    class FlatState(CoinsState):
        def observation(self) -> Any:
            return np.full(1, self.left, np.float32)

        def clone(self) -> Any:
            return FlatState(self._game, self.left, self.earned, self.last)

    flat = rk.train(Flat(), "q-learning", out=tmp_path / "flat", games=20)
    assert flat.agent().choose(Flat().initial_state()) in (0, 1)
    with pytest.raises(ValueError, match="voting needs a board of rows and columns"):
        flat.agent(fallback="voting")
    board = rk.train(TicTacToe(), "q-learning", out=tmp_path / "board", games=20)
    state = TicTacToe().initial_state()
    for fallback in ("random", "voting"):
        assert board.agent(fallback=fallback).choose(state) in state.legal_actions()
