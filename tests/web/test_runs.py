"""Runs from the page: offered, started, followed, stopped, resumed, found."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import rookery
from rookery.method import settings_of
from rookery.registry import agent as load_agent
from rookery.registry import learners
from rookery.training import train
from rookery.web import forms
from rookery.web.app import create_app
from rookery.web.runs import curve, shown_command
from tests.web import conftest


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
