"""The API as its OpenAPI document describes it, over HTTP."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

import rookery
from rookery.web.app import VERSION, create_app
from tests.web import conftest

pytestmark = pytest.mark.xdist_group("api")  # one server for all

BOT = Path(__file__).parents[2] / "examples" / "web_bot.py"
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.negative_data_rejection,
]
RUNS = [("POST", ""), ("GET", "/{run_id}"), ("POST", "/{run_id}/stop"), ("POST", "/{run_id}/resume")]
LIMITS = settings(
    max_examples=3, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


@dataclass
class Site:
    url: str
    schema: Any
    play: str
    """The id of a game in which one move was played."""
    action: int
    """That move."""


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    """A server that starts no run."""
    app = create_app(conftest.settings(folder / "api", max_runs=0))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        body = {"game": "solitaire-chess", "players": ["person"], "position": "R.../.B../..N./P..."}
        view = requests.post(f"{url}/api/plays", json=body, timeout=30).json()
        action = view["legal"][0]["action"]
        requests.post(f"{url}/api/plays/{view['id']}/move", json={"action": action}, timeout=30)
        yield Site(url, schemathesis.openapi.from_url(f"{url}/api/openapi.json"), view["id"], action)
    finally:
        server.should_exit = True
        thread.join(20)


def test_every_answer_is_as_documented(site: Site) -> None:
    """Whatever is sent, valid or not, is answered as the document says."""
    reached = set()

    def check(case: Any) -> None:
        response = case.call_and_validate(checks=CHECKS, headers={"content-type": "application/json"}, timeout=60)
        if response.status_code < 300:
            reached.add(case.operation.label)

    def check_real(case: Any, game: str) -> None:
        """With names that exist, so that more than refusals is seen."""
        real = {"game": game, "players": ["person"] * rookery.load(game).players, "agent": "best", "ply": 0}
        real |= {"position": None, "puzzle": None, "variant": None, "piece": None}
        if "play_id" in (case.path_parameters or {}):
            case.path_parameters["play_id"] = site.play
            real |= {"players": ["best"], "ply": 1 if case.path.endswith("judge") else 0, "action": site.action}
            requests.post(f"{site.url}/api/plays/{site.play}/goto", json={"ply": 0}, timeout=30)
            seats = {"players": ["best" if case.path.endswith("reply") else "person"]}
            requests.post(f"{site.url}/api/plays/{site.play}/players", json=seats, timeout=30)
        if "game" in (case.path_parameters or {}):
            case.path_parameters["game"] = game
        if "lesson" in (case.path_parameters or {}):
            case.path_parameters |= {"lesson": "checkers"}
            case.path_parameters |= {"experiment": "votes"} if "experiment" in case.path_parameters else {}
            real["settings"] = {"games": 10}
        if isinstance(case.body, dict):
            case.body |= {name: value for name, value in real.items() if name in case.body}
        check(case)

    operations = [result.ok() for result in site.schema.get_all_operations()]
    for operation in operations:
        good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
        LIMITS(given(case=good | bad)(check))()
        LIMITS(given(case=good, game=st.sampled_from(sorted(rookery.GAMES)))(check_real))()
    # No run starts here, only who began a game can delete it, and nobody resigns a puzzle.
    refused = {f"{verb} /api/runs{path}" for verb, path in RUNS}
    refused |= {"DELETE /api/plays/{play_id}", "POST /api/plays/{play_id}/resign"}
    assert {operation.label for operation in operations} - reached == refused


def test_the_document_names_its_version_and_every_field(site: Site) -> None:
    document = site.schema.raw_schema
    assert document["info"]["version"] == VERSION
    view = document["components"]["schemas"]["View"]
    assert set(view["properties"]) == set(requests.get(f"{site.url}/api/plays/{site.play}", timeout=30).json())


@pytest.mark.parametrize("game", ["checkers", "tenten"])
def test_the_example_bot_plays(site: Site, game: str) -> None:
    arguments = ["--url", site.url, "--game", game, "--seed", "3"]
    run = subprocess.run([sys.executable, str(BOT), *arguments], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    (play,) = re.findall(r"#/play/(\S+)", run.stdout)
    view = requests.get(f"{site.url}/api/plays/{play}", timeout=30).json()
    assert view["turn"] == "over"
    assert run.stdout.endswith(f"\n{view['status']}\n")


def test_the_example_bot_sits_down_at_a_game(site: Site) -> None:
    body = {"game": "checkers", "players": ["person", "person"], "position": "B:W14:B10", "seed": 1}
    view = requests.post(f"{site.url}/api/plays", json=body, timeout=30).json()
    run = [sys.executable, str(BOT), "--url", site.url, "--join", view["id"]]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "10x17" in done.stdout) == (0, True), done
