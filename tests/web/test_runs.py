"""Runs from the page: offered, started, followed, stopped, resumed, found."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

import pytest
from starlette.testclient import TestClient

import rookery
from rookery.cli import COMMANDS
from rookery.registry import agent as load_agent
from rookery.web import recipes
from rookery.web.app import create_app
from rookery.web.runs import read_curve, shown_command
from tests.web import conftest


def wait(client: TestClient, run: str, *states: str, seconds: float = 60) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        row: dict[str, Any] = client.get(f"/api/runs/{run}").json()
        if row["state"] in states:
            return row
        time.sleep(0.1)
    raise AssertionError(f"the run is {row['state']}: {row['message']}")


def start(client: TestClient, recipe: str, **options: Any) -> str:
    response = client.post("/api/runs", json={"recipe": recipe, "options": options})
    assert response.status_code == 201, response.text
    run: str = response.json()["id"]
    return run


def test_a_run_ends_with_curve_and_result(client: TestClient) -> None:
    run = start(client, "train-endgames-perfect", material="KQK")
    row = wait(client, run, "done", "failed")
    assert row["state"] == "done", row["message"]
    columns, last = row["curve"]["columns"], row["curve"]["rows"][-1]
    assert columns[:2] == ["starts", "backups"]
    assert last[columns.index("exact")] == 1.0
    assert row["result"]["perfect"] is True
    assert row["command"] == "rookery train endgames perfect --material KQK"
    assert client.get("/api/runs").json()["runs"][0]["id"] == run


def test_a_run_is_stopped_and_goes_on(client: TestClient) -> None:
    run = start(client, "train-tenten-ntuple", variant="4x4-seven", length=500_000_000)
    end = time.monotonic() + 60
    while (curve := client.get(f"/api/runs/{run}").json()["curve"]) is None and time.monotonic() < end:
        time.sleep(0.1)
    assert curve is not None
    assert client.post(f"/api/runs/{run}/stop", json={}).status_code == 200
    stopped = wait(client, run, "stopped", "failed", "done")
    assert stopped["state"] == "stopped"
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


def test_what_a_run_trained_can_be_played_with(client: TestClient, folder: Path) -> None:
    run = start(client, "train-tenten-linear", variant="3x3-three", length=2)
    row = wait(client, run, "done", "failed")
    assert row["state"] == "done", row["message"]
    assert (row["agent"], row["game"], row["variant"]) == (f"linear@{run}", "tenten", "3x3-three")
    [tenten] = [game for game in client.get("/api/games").json()["games"] if game["name"] == "tenten"]
    assert row["agent"] in tenten["agents"]

    body = {"game": "tenten", "variant": "3x3-three", "position": "##./#.#/.## 1x1", "players": [row["agent"]]}
    view = client.post("/api/plays", json=body).json()
    answer = client.post(f"/api/plays/{view['id']}/think", json={"agent": row["agent"]}).text
    *_, thought = conftest.events(answer)  # after signs of life on a slow machine
    game = rookery.load("tenten", "3x3-three")
    mine = load_agent("linear", game, folder / "runs" / "web" / run)
    state = game.parse_state("##./#.#/.## 1x1")
    assert {move["action"]: move["value"] for move in thought["values"]} == pytest.approx(mine.values(state))
    *_, reply = conftest.events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
    assert reply["view"]["history"][0]["name"] == state.action_name(thought["action"])

    # Of another game, of no run, of a file: refused.
    for agent in (f"linear@{run}x", f"linear:{folder}", f"ntuple@{run}", f"linear@../web/{run}"):
        assert client.post(f"/api/plays/{view['id']}/think", json={"agent": agent}).status_code == 400
    other = {"game": "checkers", "players": ["person", row["agent"]]}
    assert client.post("/api/plays", json=other).status_code == 400


def test_runs_are_bounded_and_end_with_the_server(folder: Path) -> None:
    site = conftest.settings(folder / "bounded", max_runs=1)
    with TestClient(create_app(site), base_url="http://localhost") as client:
        run = start(client, "train-tenten-ntuple", variant="4x4-seven", length=500_000_000)
        second = client.post("/api/runs", json={"recipe": "train-tenten-lspi", "options": {}})
        assert second.status_code == 400
        assert "under way" in second.json()["error"]
    with TestClient(create_app(site), base_url="http://localhost") as client:
        row = client.get(f"/api/runs/{run}").json()
        assert row["state"] == "stopped"
        assert row["resumable"]


@pytest.mark.parametrize(
    "body",
    [
        {"recipe": "rm"},
        {"recipe": "train-tenten-lspi", "options": {"out": "/tmp/x"}},
        {"recipe": "train-tenten-lspi", "options": {"variant": "--out=/tmp/x"}},
        {"recipe": "train-tenten-lspi", "options": {"length": "5"}},
        {"recipe": "train-tenten-lspi", "options": {"length": -1}},
        {"recipe": "train-tenten-lspi", "options": ["x"]},
        {"recipe": "train-endgames-q-learning", "options": {"engine": "/bin/sh"}},
    ],
)
def test_only_known_settings_reach_a_command(client: TestClient, body: dict[str, Any]) -> None:
    response = client.post("/api/runs", json=body)
    assert response.status_code == 400
    assert set(response.json()) == {"error"}


def test_recipes_are_read_off_the_commands() -> None:
    def search(
        method: Literal["nrpa", "nmcs"] = "nrpa",
        *,
        variant: Literal["5D", "5T"] = "5D",
        level: int = 3,
        time: float | None = None,
        wide: bool = False,
        engine: str | None = None,
        out: Path | None = None,
    ) -> None:
        """Look for long games.

        More words.
        """

    found = recipes.find({"search": {"morpion": search}, "games": search})
    assert list(found) == ["search-morpion-nrpa", "search-morpion-nmcs"]
    recipe = found["search-morpion-nrpa"]
    assert recipe.about == "Look for long games."
    assert [(option.name, option.kind) for option in recipe.options] == [
        ("variant", "choice"), ("level", "whole"), ("time", "number"), ("wide", "switch"),
    ]  # fmt: skip
    words = recipe.words({"variant": "5T", "level": 2, "time": 1.5, "wide": True})
    assert words == ["search", "morpion", "nrpa", "--variant", "5T", "--level", "2", "--time", "1.5", "--wide"]


def test_every_training_command_is_offered() -> None:
    offered = recipes.find(COMMANDS)
    forms = COMMANDS["train"]
    assert isinstance(forms, dict)
    assert {recipe.command[1] for recipe in offered.values() if recipe.command[0] == "train"} == set(forms)


def test_runs_of_the_command_line_are_found(client: TestClient, folder: Path) -> None:
    own = folder / "runs" / "mine"
    own.mkdir(parents=True)
    (own / "curve.csv").write_text("starts,optimal,perfect\n1,0.5,False\n2,0.75,False\n", encoding="utf-8")
    row = next(row for row in client.get("/api/runs").json()["runs"] if row["title"] == "mine")
    shown = client.get(f"/api/runs/{row['id']}").json()
    assert shown["curve"] == {"columns": ["starts", "optimal"], "rows": [[1, 0.5], [2, 0.75]]}


def test_a_long_curve_is_thinned_and_a_broken_line_left_out(tmp_path: Path) -> None:
    lines = [f'{{"step": {i}, "score": {i / 10}}}' for i in range(5001)] + ['{"step": 5001, "sc']
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines), encoding="utf-8")
    curve = read_curve(tmp_path)
    assert curve is not None
    assert curve["rows"][0] == [0, 0.0]
    assert curve["rows"][-1] == [5000, 500.0]
    assert len(curve["rows"]) <= 2001
    assert read_curve(tmp_path / "nothing") is None


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
    assert shown_command(["train", "tenten", "lspi", "--out", "/x/y"]) == "rookery train tenten lspi"
