"""Runs from the page: offered, started, followed, stopped, resumed, found."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

import rookery
from rookery.method import settings_of
from rookery.registry import agent as load_agent
from rookery.registry import learners
from rookery.run import Run
from rookery.training import train
from rookery.web import forms
from rookery.web import runs as web_runs
from rookery.web.app import create_app
from rookery.web.runs import NoRun, Runs, curve, plain, shown_command
from tests.web import conftest

pytestmark = pytest.mark.xdist_group("runs")  # one server for all


def wait(client: TestClient, run: str, *states: str, seconds: float = 60) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        row: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if row["state"] in states and not row["stoppable"]:
            return row
        time.sleep(0.1)
    raise AssertionError(f"the run is {row['state']}: {row['error']}")


def start(client: TestClient, game: str, method: str, variant: str | None = None, /, **settings: Any) -> str:
    body = {"game": game, "variant": variant, "method": method, "settings": settings, "seed": 5}
    response = client.post("/api/runs", json=body)
    assert response.status_code == 201, response.text
    run: str = response.json()["id"]
    return run


def test_a_run_ends_with_curve_and_figures(client: TestClient) -> None:
    run = start(client, "endgames", "perfect", "KQK")
    row = wait(client, run, "done", "failed")
    assert row["state"] == "done", row["error"]
    columns, last = row["curve"]["columns"], row["curve"]["rows"][-1]
    assert columns[:2] == ["starts", "optimal"]  # what only grows, and then the headline
    assert last[columns.index("exact")] == 1.0
    assert row["figures"]["optimal"] == 1.0
    assert row["progress"] == 1.0
    assert row["command"] == "rookery train endgames perfect --variant KQK --seed 5"
    assert client.get("/api/runs").json()["runs"][0]["id"] == run


def test_a_run_is_stopped_and_resumed(client: TestClient) -> None:
    run = start(client, "tenten", "ntuple", "4x4-seven", steps=500_000_000)
    end = time.monotonic() + 60
    while (row := client.get(f"/api/runs/{run}").json())["curve"] is None and time.monotonic() < end:
        time.sleep(0.1)
    assert row["curve"] is not None
    assert 0 < row["progress"] < 1
    assert row["agent"] is None  # its files change
    assert client.post(f"/api/runs/{run}/resume", json={}).status_code == 400
    assert client.post(f"/api/runs/{run}/stop", json={}).status_code == 200
    stopped = wait(client, run, "stopped", "failed", "done")
    assert stopped["state"] == "stopped"
    assert stopped["resumable"]
    assert client.post(f"/api/runs/{run}/stop", json={}).status_code == 400
    assert client.post(f"/api/runs/{run}/resume", json={}).status_code == 200
    before = len(stopped["curve"]["rows"])
    while len(client.get(f"/api/runs/{run}").json()["curve"]["rows"]) <= before and time.monotonic() < end:
        time.sleep(0.1)
    row = client.get(f"/api/runs/{run}").json()
    assert row["curve"]["rows"][:before] == stopped["curve"]["rows"]
    assert len(row["curve"]["rows"]) > before
    client.post(f"/api/runs/{run}/stop", json={})
    wait(client, run, "stopped")


def test_a_run_is_stopped_at_once(client: TestClient) -> None:
    """Before its process has written anything; then it must not be taken for one that is under way."""
    run = start(client, "tenten", "ntuple", "4x4-seven", steps=500_000_000)
    while client.post(f"/api/runs/{run}/stop", json={}).status_code != 200:
        time.sleep(0.001)
    row = wait(client, run, "stopped", "failed")
    assert row["resumable"] or row["error"] == "stopped before it began"


def test_what_a_run_trained_can_be_played_with(client: TestClient, folder: Path) -> None:
    run = start(client, "tenten", "linear", "3x3-three", generations=2)
    row = wait(client, run, "done", "failed")
    assert row["state"] == "done", row["error"]
    assert (row["agent"], row["game"], row["variant"]) == (f"linear@{run}", "tenten", "3x3-three")
    [tenten] = [game for game in client.get("/api/games").json()["games"] if game["name"] == "tenten"]
    assert row["agent"] in tenten["agents_of"]["3x3-three"]
    assert row["agent"] not in tenten["agents"]  # of another board

    body = {"game": "tenten", "variant": "3x3-three", "position": "##./#.#/.## 1x1", "players": [row["agent"]]}
    view = client.post("/api/plays", json=body).json()
    answer = client.post(f"/api/plays/{view['id']}/think", json={"agent": row["agent"]}).text
    *_, thought = conftest.events(answer)  # after signs of life on a slow machine
    game = rookery.load("tenten", "3x3-three")
    mine = load_agent("linear", game, folder / "runs" / row["folder"])
    state = game.parse_state("##./#.#/.## 1x1")
    assert {move["action"]: move["value"] for move in thought["values"]} == pytest.approx(mine.values(state))
    *_, reply = conftest.events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
    assert reply["view"]["history"][0]["name"] == state.action_name(thought["action"])

    # Of another game, of no run, of a file: refused.
    for agent in (f"linear@{run}x", f"linear:{folder}", f"ntuple@{run}", f"linear@../runs/{run}", row["folder"]):
        assert client.post(f"/api/plays/{view['id']}/think", json={"agent": agent}).status_code == 400
    other = {"game": "checkers", "players": ["person", row["agent"]]}
    assert client.post("/api/plays", json=other).status_code == 400


def test_a_run_is_played_by_every_method_that_loads_it(client: TestClient, folder: Path) -> None:
    train(
        "checkers", "net", out=folder / "runs" / "quick-net", generations=1, games=8, nodes=50, epochs=1, batch=64,
        on_row=lambda row: None,
    )  # fmt: skip
    [row] = [row for row in client.get("/api/runs").json()["runs"] if row["folder"] == "quick-net"]
    [checkers] = [game for game in client.get("/api/games").json()["games"] if game["name"] == "checkers"]
    assert [agent for agent in checkers["agents"] if agent.endswith(f"@{row['id']}")] == [
        f"net@{row['id']}", f"best@{row['id']}"
    ]  # fmt: skip
    assert row["agent"] == f"net@{row['id']}"


def test_runs_are_bounded_and_end_with_the_server(folder: Path) -> None:
    site = conftest.settings(folder / "bounded", max_runs=1)
    with TestClient(create_app(site), base_url="http://localhost") as client:
        run = start(client, "tenten", "ntuple", "4x4-seven", steps=500_000_000)
        second = client.post("/api/runs", json={"game": "tenten", "method": "lspi"})
        assert second.status_code == 400
        assert "under way" in second.json()["error"]
        end = time.monotonic() + 60
        while client.get(f"/api/runs/{run}").json()["curve"] is None and time.monotonic() < end:
            time.sleep(0.1)
    with TestClient(create_app(site), base_url="http://localhost") as client:
        row = client.get(f"/api/runs/{run}").json()
        assert row["state"] == "stopped"
        assert row["resumable"]


LSPI = {"game": "tenten", "method": "lspi"}


@pytest.mark.parametrize(
    "body",
    [
        {"game": "rm", "method": "lspi"},
        {"game": "tenten", "method": "rm"},
        {"game": "tenten", "method": "x.py:Method"},
        {"game": "tenten", "method": "random"},
        LSPI | {"settings": {"out": "/tmp/x"}},
        LSPI | {"variant": "--out=/tmp/x"},
        LSPI | {"preset": "nonsense"},
        LSPI | {"seed": -1},
        LSPI | {"settings": {"updates": "5"}},
        LSPI | {"settings": {"updates": -1}},
        LSPI | {"settings": {"updates": 1.5}},
        LSPI | {"settings": {"updates": True}},
        LSPI | {"settings": {"updates": 10**13}},
        LSPI | {"settings": {"reward": "4"}},
        LSPI | {"settings": ["x"]},
        {"game": "endgames", "method": "q-learning", "settings": {"engine": "/bin/sh"}},
        {"game": "tenten", "method": "ntuple", "settings": {"tuples": [[2, 2]]}},
        {"game": "tenten", "method": "ntuple", "settings": {"every_piece": 1}},
    ],
)
def test_only_known_settings_reach_a_run(client: TestClient, folder: Path, body: dict[str, Any]) -> None:
    response = client.post("/api/runs", json=body)
    assert response.status_code == 400
    assert set(response.json()) == {"error"}


def test_every_learner_of_every_game_has_a_form(client: TestClient) -> None:
    offered = client.get("/api/runs").json()["forms"]
    found = {(form["game"], form["method"], variant): form for form in offered for variant in form["defaults"]}
    for name in rookery.GAMES:
        for variant in rookery.GAMES[name].variants or [""]:
            game = rookery.load(name, variant or None)
            for method in learners(game).values():
                form = found.pop((name, method.name, variant))
                settings = settings_of(method.Settings, method.default_settings(game))
                shown = [setting.name for setting in settings if setting.kind != "text"]
                assert [row["name"] for row in form["settings"]] == shown
                assert list(form["defaults"][variant]) == shown
                assert all(row["about"] for row in form["settings"])
                assert set(form["presets"]) == set(method.presets)
    assert not found


def test_a_plan_has_every_setting_and_the_command() -> None:
    asked = {
        "game": "endgames", "variant": "KQK", "method": "q-learning", "preset": "version-1", "seed": 7,
        "settings": {"matches": 50, "learners": "strong", "decay": None},
    }  # fmt: skip
    plan = forms.plan(asked | {"preset": None})
    assert plan["settings"]["matches"] == 50
    assert plan["settings"]["engine"] is None
    assert plan["command"] == "rookery train endgames q-learning --variant KQK --matches 50 --seed 7"
    preset = next(iter(learners(rookery.load("endgames"))["q-learning"].presets))
    named = forms.plan(asked | {"preset": preset})
    assert f"--preset {preset} --matches 50" in named["command"]


OWN = """
from dataclasses import dataclass

from examples.tic_tac_toe import TicTacToe
from rookery.method import Method
from rookery.search.agents import MinimaxAgent


@dataclass(frozen=True)
class Settings:
    parts: int = 3
    \"\"\"Parts of the work.\"\"\"
    broken: bool = False
    \"\"\"Whether to fail.\"\"\"


class Mine(Method):
    \"\"\"Learns nothing.\"\"\"

    name, kind, game, headline, model = "mine", "learn", "tic-tac-toe", "skill", "model.txt"
    Settings = Settings

    def train(self, game, settings, run):
        for part in range(settings.parts):
            row = {"part": part, "skill": part / 2, "progress": (part + 1) / settings.parts}
            run.save(row, {})
            (run.folder / self.model).write_text(str(part), encoding="utf-8")
            if settings.broken:
                raise RuntimeError("on purpose")
            yield row

    def agent(self, game, options, model=None):
        return MinimaxAgent(int(model.read_text(encoding="utf-8")))


class Noughts(TicTacToe):
    name = "tic-tac-toe"
"""


def test_a_method_of_ones_own_is_trained_and_played_with(folder: Path) -> None:
    file = folder / "mine.py"
    file.write_text(OWN, encoding="utf-8")
    site = conftest.settings(folder / "mine", load=(file,))
    with TestClient(create_app(site), base_url="http://localhost") as client:
        [form] = [form for form in client.get("/api/runs").json()["forms"] if form["method"] == "mine"]
        assert (form["title"], form["about"]) == ("Tic Tac Toe", "Learns nothing.")
        assert form["defaults"] == {"": {"parts": 3, "broken": False}}
        run = start(client, "tic-tac-toe", "mine")
        row = wait(client, run, "done", "failed")
        assert (row["state"], row["error"]) == ("done", "")
        assert row["curve"] == {"columns": ["part", "skill"], "rows": [[0, 0.0], [1, 0.5], [2, 1.0]]}
        assert row["command"] == "rookery train mine.py mine --seed 5"
        view = client.post("/api/plays", json={"game": "tic-tac-toe", "players": ["person", row["agent"]]}).json()
        client.post(f"/api/plays/{view['id']}/move", json={"action": 0})
        *_, reply = conftest.events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
        assert reply["view"]["ply"] == 2

        broken = wait(client, start(client, "tic-tac-toe", "mine", broken=True), "done", "failed")
        assert (broken["state"], broken["error"]) == ("failed", "RuntimeError: on purpose")
        assert broken["resumable"]


def test_runs_of_the_command_line_are_found_and_resumed(client: TestClient, folder: Path) -> None:
    out = folder / "runs" / "mine"
    run = train("tenten", "lspi", out=out, updates=2, turns=2, on_row=lambda row: None)
    info = json.loads((out / "run.json").read_text(encoding="utf-8"))
    info |= {"state": "stopped", "command": f"rookery train tenten lspi --updates 2 --out {out}"}
    (out / "run.json").write_text(json.dumps(info), encoding="utf-8")
    row = next(row for row in client.get("/api/runs").json()["runs"] if row["folder"] == "mine")
    assert (row["title"], row["command"]) == ("1010!: lspi 10x10", "rookery train tenten lspi --updates 2")
    shown = client.get(f"/api/runs/{row['id']}").json()
    assert len(shown["curve"]["rows"]) == len(run.metrics) == 2
    assert shown["curve"]["columns"][1] == "mean_rounds"
    assert client.post(f"/api/runs/{row['id']}/resume", json={}).status_code == 200
    assert wait(client, row["id"], "done", "failed")["state"] == "done"


def test_what_another_program_wrote_is_no_run(client: TestClient, folder: Path) -> None:
    info = {"game": ["x"], "method": {}, "options": [], "settings": 1, "seed": "x", "state": "done"}
    for name, text in {
        "odd": json.dumps(info),
        "half": '{"game"',
        "list": "[]",
        "more": json.dumps({"state": 1}),
    }.items():
        (folder / "runs" / name).mkdir(parents=True)
        (folder / "runs" / name / "run.json").write_text(text, encoding="utf-8")
    unknown = info | {"game": "os.py:x", "method": "x", "options": {}, "settings": {}, "seed": 1, "state": "stopped"}
    (folder / "runs" / "foreign").mkdir()
    (folder / "runs" / "foreign" / "run.json").write_text(json.dumps(unknown), encoding="utf-8")
    rows = {row["folder"]: row for row in client.get("/api/runs").json()["runs"]}
    assert not {"odd", "half", "list", "more"} & rows.keys()
    foreign = rows["foreign"]  # of a game that was not loaded: shown, but neither resumed nor played with
    assert (foreign["resumable"], foreign["agent"]) == (False, None)
    assert client.post(f"/api/runs/{foreign['id']}/resume", json={}).status_code == 400
    assert client.get(f"/api/runs/{foreign['id']}").json()["curve"] is None
    for name in ("odd", "half", "list", "more", "foreign"):
        shutil.rmtree(folder / "runs" / name)


def test_the_best_game_of_a_search_is_drawn(client: TestClient, folder: Path) -> None:
    run = start(client, "morpion", "search", "4D", method="nrpa", level=1, runs=2)
    row = wait(client, run, "done", "failed")
    assert row["state"] == "done", row["error"]
    assert row["best"]["svg"].startswith("<svg")
    assert row["best"]["status"] == f"No line is left: {row['figures']['score']} moves"


def test_a_long_curve_is_thinned() -> None:
    found = curve(
        [{"step": i, "loss": 1 / (i + 1), "score": i / 10, "progress": i / 5000} for i in range(5001)], "score"
    )
    assert found is not None
    assert found["columns"] == ["step", "score", "loss"]
    assert found["rows"][0] == [0, 0.0, 1.0]
    assert found["rows"][-1] == [5000, 500.0, 1 / 5001]
    assert len(found["rows"]) <= 2001
    assert curve([], "score") is None
    assert curve([{"score": 1.0}, {"score": 2.0}], "score") is None
    two = curve([{"step": 1, "score": 2.0}, {"step": 2, "score": 3.0}], "score")
    assert two == {"columns": ["step", "score"], "rows": [[1, 2.0], [2, 3.0]]}


def test_a_curve_without_a_growing_count_is_drawn_over_progress() -> None:
    rows = [{"score": 3, "loss": 2.0, "progress": 0.1}, {"score": 2, "loss": 2.0, "progress": 0.2}]
    found = curve(rows, "score")
    assert found == {"columns": ["progress", "score", "loss"], "rows": [[0.1, 3, 2.0], [0.2, 2, 2.0]]}


def test_reports_are_shown_and_nothing_in_them_runs(client: TestClient, folder: Path) -> None:
    assert client.get("/api/reports").json() == {"reports": []}
    (folder / "reports").mkdir()
    (folder / "reports" / "index.html").write_text("<h1>Figures</h1><script>alert(1)</script>", encoding="utf-8")
    [row] = client.get("/api/reports").json()["reports"]
    page = client.get(f"/reports/{row['id']}")
    assert "Figures" in page.text
    policy = page.headers["content-security-policy"]
    assert "script" not in policy
    assert "sandbox" in policy
    assert "default-src 'none'" in policy


def test_the_command_is_shown_without_folders() -> None:
    assert shown_command("rookery train tenten lspi --out /x/y") == "rookery train tenten lspi"
    assert shown_command("rookery train /home/me/my_game.py td --out=/x") == "rookery train my_game.py td"
    for engine in ("--engine /home/me/stockfish", "--engine=/home/me/stockfish"):
        shown = shown_command(f"rookery train endgames q-learning {engine} --epsilon=0.5 --no-x")
        assert shown == f"rookery train endgames q-learning {engine.replace('/home/me/', '')} --epsilon=0.5 --no-x"


# Without a server


def small_run(folder: Path, name: str, **info: Any) -> Path:
    """The folder of a run that some training has left."""
    game = rookery.load("tenten", "4x4-seven")
    settings = game_settings(game)
    run = Run.create(folder / name, game, "lspi", settings, 3)
    run.add({"update": 1, "mean_rounds": 2.5, "word": "x", "progress": 0.5})
    run.write_metrics()
    run.note("stopped")
    run.info |= info
    run._write_info()
    return run.folder


def game_settings(game: Any) -> Any:
    return learners(game)["lspi"].default_settings(game)


def test_runs_are_found_by_ids_the_newest_first(tmp_path: Path) -> None:
    for name, started in (("a", 100.0), ("b/c", 300.0), ("d", 200.0)):
        small_run(tmp_path, name, started=started)
    small_run(tmp_path, "odd", seconds="long")
    runs = Runs(tmp_path, 2)
    assert [str(run.folder.relative_to(tmp_path)) for run in runs.found().values()] == ["b/c", "d", "a"]
    assert all(len(run_id) == 12 for run_id in runs.found())
    assert [row["folder"] for row in runs.rows()] == ["b/c", "d", "a"]
    newest = next(iter(runs.found()))
    row = runs.show(newest)
    assert (row["state"], row["stoppable"], row["resumable"], row["started"]) == ("stopped", False, True, 300.0)
    assert (row["title"], row["game"], row["variant"]) == ("1010!: lspi 4x4-seven", "tenten", "4x4-seven")
    assert (row["progress"], row["figures"]) == (0.5, {"update": 1, "mean_rounds": 2.5})
    assert row["curve"] == {"columns": ["update", "mean_rounds"], "rows": [[1, 2.5]]}
    assert row["agent"] is None, "there is no model yet"
    with pytest.raises(NoRun):
        runs.show("nothing")


def test_a_run_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    folder = small_run(tmp_path, "a")
    runs = Runs(tmp_path, 2)
    (run,) = runs.found().values()
    assert next(iter(runs.found().values())) is run
    info = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(info | {"state": "failed", "error": "\x1b[31mit broke\x1b[0m"}))
    os.utime(folder / "run.json", ns=(1, 1))
    (row,) = runs.rows()
    assert (row["state"], row["error"], row["resumable"]) == ("failed", "it broke", True)


def test_agents_of_runs_need_a_model_and_the_same_variant(tmp_path: Path) -> None:
    folder = small_run(tmp_path, "a", seconds=7.5)
    runs = Runs(tmp_path, 2)
    game, other = rookery.load("tenten", "4x4-seven"), rookery.load("tenten", "3x3-three")
    assert runs.trained(game) == {}
    (folder / "model.npz").write_bytes(b"")
    (run_id,) = runs.found()
    made = runs.trained(game)
    assert next(iter(made)) == f"lspi@{run_id}"
    assert (made[f"lspi@{run_id}"].folder, made[f"lspi@{run_id}"].seconds) == (folder, 7.5)
    assert runs.trained(other) == {}
    assert runs.trained(game, {}) == {}
    assert runs.show(run_id)["agent"] == f"lspi@{run_id}"
    runs._tasks[run_id] = SimpleNamespace()  # type: ignore[assignment]
    assert runs.trained(game) == {}, "the files of a run under way change"
    assert runs.show(run_id)["state"] == "running"


def test_what_cannot_be_stopped_or_resumed(tmp_path: Path) -> None:
    small_run(tmp_path, "a", state="done")
    runs = Runs(tmp_path, 1)
    (run_id,) = runs.found()
    with pytest.raises(ValueError, match="the run is done; only one that was stopped or failed is resumed"):
        runs.resume(run_id)
    with pytest.raises(ValueError, match="the run is done; only one that was started here and is under way"):
        asyncio.run(runs.stop(run_id))
    runs._tasks["x"] = SimpleNamespace()  # type: ignore[assignment]
    with pytest.raises(ValueError, match="1 runs are under way already; stop one first"):
        runs._launch(tmp_path / "b", {})


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("import sys; print('\\x1b[1mone\\ntwo\\x1b[0m', file=sys.stderr); sys.exit(3)", "two"),
        ("import sys; sys.exit(3)", "the process ended with code 3"),
        ("import sys; print('x' * 3000, file=sys.stderr); sys.exit(1)", "x" * 300),
        ("", "stopped before it began"),
        ("import sys; sys.exit(130)", "stopped before it began"),
    ],
)
def test_a_process_that_leaves_no_run_behind_says_why(
    script: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = asyncio.create_subprocess_exec

    async def other(*words: str, **given: Any) -> Any:
        assert words[1:3] == ("-m", "rookery.web.trainer")
        asked = json.loads(words[3])
        assert (asked["game"], asked["options"], asked["resume"]) == ("tenten", plan_options, False)
        return await begin(sys.executable, "-S", "-c", script, **given)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", other)
    plan_options = json.loads(json.dumps(rookery.load("tenten", "4x4-seven").options))
    plan = {"game": "tenten", "method": "lspi", "variant": "4x4-seven", "seed": 1, "settings": {}, "command": "rookery"}

    async def scene() -> dict[str, Any]:
        runs = Runs(tmp_path, 2)
        run_id = runs.start(plan)
        (under_way,) = runs.rows()
        assert (under_way["state"], under_way["stoppable"], under_way["id"]) == ("running", True, run_id)
        assert under_way["folder"].startswith("tenten-lspi-4x4-seven-")
        await asyncio.wait_for(next(iter(runs._tasks.values())), 30)
        await asyncio.sleep(0)
        assert runs._tasks == {}
        return runs.show(run_id)

    row = asyncio.run(scene())
    assert (row["state"], row["error"], row["progress"], row["curve"]) == ("failed", error, 0, None)


def test_files_that_are_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_run(tmp_path, "a")
    size = (folder / "metrics.jsonl").stat().st_size
    monkeypatch.setattr(web_runs, "MAX_FILE", size)
    assert web_runs._metrics(folder) == [{"update": 1, "mean_rounds": 2.5, "progress": 0.5}]
    monkeypatch.setattr(web_runs, "MAX_FILE", size - 1)
    assert web_runs._metrics(folder) == []
    assert web_runs._metrics(tmp_path) == []
    game = rookery.load("checkers")
    record = game.record(str(game.initial_state()), [], ["a", "b"])
    (folder / f"a.{record.extension}").write_text("nonsense")
    (folder / f"b.{record.extension}").write_text(record.text)
    best = web_runs.best_game(folder, game)
    assert best == {"svg": game.initial_state().svg(), "status": "Black to move"}
    monkeypatch.setattr(web_runs, "MAX_RECORD", len(record.text) - 1)
    assert web_runs.best_game(folder, game) is None
    assert web_runs.best_game(tmp_path, game) is None


def test_texts_for_a_terminal_are_made_plain() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\n\n  two\x07 \n━━ 5%\n") == "red\ntwo"
    assert shown_command("rookery.train(...) /x/y") == "rookery.train(...) /x/y"
    assert shown_command("rookery train 'a") == ""
    assert shown_command("rookery train x y --out") == "rookery train x y"


def test_settings_of_a_request_are_checked() -> None:
    game = rookery.load("tenten", "4x4-seven")
    method = learners(game)["lspi"]
    known = {setting.name: setting for setting in forms.offered(method, game)}
    whole = next(name for name, setting in known.items() if setting.kind == "whole")
    check = lambda **given: forms._checked(given, list(known.values()))  # noqa: E731
    assert check(**{whole: 10**12}) == {whole: 10**12}
    assert check(**{whole: -(10**12)}) == {whole: -(10**12)}
    assert check(**{whole: None}) == {}
    for value in (10**12 + 1, -(10**12) - 1, "3", True):
        with pytest.raises(ValueError, match=f"{whole} must be a number from -1000000000000 to 1000000000000"):
            check(**{whole: value})
    with pytest.raises(ValueError, match="unknown setting 'nothing'"):
        check(nothing=1)
    switch = forms.Setting("fast", "switch", False, "")
    choice = forms.Setting("kind", "choice", "a", "", ("a", "b"))
    assert forms._checked({"fast": True, "kind": "b"}, [switch, choice]) == {"fast": True, "kind": "b"}
    with pytest.raises(ValueError, match="fast must be true or false"):
        forms._checked({"fast": 1}, [switch])
    with pytest.raises(ValueError, match="kind must be one of a, b"):
        forms._checked({"kind": "c"}, [choice])


def test_only_finite_numbers_are_drawn() -> None:
    values: list[Any] = [1, 0.5, -3, float("inf"), float("-inf"), float("nan"), True, "1", None]
    assert [web_runs._is_number(value) for value in values] == [True] * 3 + [False] * 6


def test_a_users_game_is_named_by_its_file() -> None:
    assert forms._name(rookery.load("checkers")) == "checkers"
    assert forms._name(rookery.load(str(conftest.TIC_TAC_TOE))) == "tic_tac_toe.py"
