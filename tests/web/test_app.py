"""What the addresses answer, with agents that are played by the test."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.testclient import TestClient

import rookery
from rookery.web import app as web_app
from rookery.web import plays, review
from rookery.web.app import Site, create_app
from rookery.web.pool import TooLong
from tests.web import conftest
from tests.web.conftest import events

pytestmark = pytest.mark.xdist_group("app")  # one server for all

Row = dict[str, Any]


class Puppets:
    """Workers that answer what they are told to, by the name of the task."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.asked: list[tuple[Row, float, str]] = []

    async def ask(self, request: Row, seconds: float, visitor: str = "") -> AsyncGenerator[Row, None]:
        self.asked.append((request, seconds, visitor))
        for row in self.answers[request["task"]]:
            if isinstance(row, Exception):
                raise row
            yield row
        yield {"done": True}

    async def one(self, request: Row, seconds: float, visitor: str = "") -> Row:
        answer: Row = {}
        async for row in self.ask(request, seconds, visitor):
            if "error" in row:
                raise ValueError(row["error"])
            answer = answer if "done" in row else row
        return answer


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    made = create_app(conftest.settings(tmp_path_factory.mktemp("site"), max_streams=8))
    yield made
    made.state.site.store.close()


@pytest.fixture
def puppets(app: FastAPI) -> Puppets:
    site = app.state.site
    for memory in (site.streams, site.thoughts, site.lessons, site.pick_nothing):
        memory.clear()
    site.forms = None
    site.thinkers = site.helpers = made = Puppets()
    return made


@pytest.fixture
def client(app: FastAPI, puppets: Puppets) -> TestClient:
    return TestClient(app, base_url="http://localhost")  # without its beginning, which would start workers


def begin(client: TestClient, game: str = "checkers", players: list[str] | None = None, **body: Any) -> Row:
    players = players or ["person"] * rookery.load(game).players
    response = client.post("/api/plays", json={"game": game, "players": players, "seed": 1} | body)
    assert response.status_code == 201, response.text
    view: Row = response.json()
    return view


def refused(client: TestClient, path: str, body: Any, code: int) -> str:
    response = client.post(f"/api{path}", json=body)
    assert response.status_code == code, response.text
    return str(response.json()["error"])


def action(view: Row, name: str) -> int:
    return next(int(row["action"]) for row in view["legal"] if row["name"] == name)


FEN = "B:W21,22,30:B1,2,K3"


def test_a_game_begins_and_belongs_to_its_visitor(client: TestClient) -> None:
    view = begin(client, position=FEN)
    assert (view["position"], view["usual"], view["turn"]) == (FEN, False, "person")
    owner = client.cookies[web_app.VISITOR]
    assert len(owner) >= 16
    begin(client, position=FEN)
    assert client.cookies[web_app.VISITOR] == owner
    assert len(client.get("/api/plays").json()["plays"]) == 2
    client.cookies.clear()
    assert client.get("/api/plays").json() == {"plays": []}
    gone = client.request("DELETE", f"/api/plays/{view['id']}", json={})
    assert (gone.status_code, gone.json()) == (403, {"error": "only who began a game can delete it"})
    for value, known in (("x" * 15, False), ("x" * 65, False), ("x" * 16, True), ("x" * 64, True)):
        asked = SimpleNamespace(headers=Headers({"cookie": f"{web_app.VISITOR}={value}"}), client=None)
        assert web_app._visitor(asked) == web_app._asker(asked) == (value if known else "")  # type: ignore[arg-type]
    assert refused(client, "/plays/nothing/goto", {"ply": 0}, 404) == "there is no game with this id"


def test_starts_are_asked_of_who_knows_and_remembered(client: TestClient, puppets: Puppets) -> None:
    start = "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"
    puppets.answers["start"] = [{"start": start, "picked": True}]
    assert begin(client, "endgames")["position"] == start
    (asked, seconds, _) = puppets.asked[-1]
    assert (asked["agent"], asked["seed"], asked["variant"], seconds) == ("oracle", 1, None, 30)
    begin(client, "endgames")
    assert len(puppets.asked) == 2
    puppets.answers["start"] = [{"start": start, "picked": False}]
    begin(client, "endgames")
    before = len(puppets.asked)
    begin(client, "endgames")
    assert len(puppets.asked) == before, "it takes any start, and need not be asked again"


def test_puzzles_by_level_and_by_day(client: TestClient, puppets: Puppets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review, "today", lambda: "2026-03-02")
    game = rookery.load("solitaire-chess")
    puppets.answers["puzzle"] = [{"start": "R.../.B../..N./P...", "variant": "4x4"}]
    view = begin(client, "solitaire-chess", puzzle=game.puzzle_levels[1], seed=2**31 + 5)
    assert view["about"] == {"puzzle": game.puzzle_levels[1]}
    assert puppets.asked[-1][0] == {
        "task": "puzzle",
        "game": "solitaire-chess",
        "level": game.puzzle_levels[1],
        "seed": 5,
    }
    for body, day, seed in (({}, "2026-03-02", 20260302), ({"day": "2026-03-01"}, "2026-03-01", 20260301)):
        view = begin(client, "solitaire-chess", puzzle="daily", **body)
        assert (view["about"]["day"], puppets.asked[-1][0]["seed"]) == (day, seed)
        assert view["about"]["puzzle"] == review.daily(game, day)[0]
    assert (view["variant"], view["position"]) == ("4x4", "R.../.B../..N./P...")
    puppets.answers["hint"] = [{"stuck": False, "hints": ["a", "b"], "cells": [[1], [2]]}]
    for stage, hints, cells in ((1, ["a"], [1]), (2, ["a", "b"], [2]), (3, ["a", "b"], [2])):
        told = client.post(f"/api/plays/{view['id']}/hint", json={"stage": stage}).json()
        assert (told["hints"], told["cells"], told["stuck"]) == (hints, cells, False)
    assert client.get(f"/api/plays/{view['id']}").json()["about"]["hints"] == 3
    plain = begin(client, position=FEN)
    client.post(f"/api/plays/{plain['id']}/hint", json={"stage": 1})
    assert client.get(f"/api/plays/{plain['id']}").json()["about"] == {}


def test_who_may_move_and_when(client: TestClient) -> None:
    view = begin(client, players=["person", "random"], position=FEN)
    move = {"action": view["legal"][0]["action"]}
    path = f"/plays/{view['id']}/move"
    assert refused(client, path, move | {"ply": 1}, 409) == "the game has moved on since; reload it"
    assert client.post(f"/api{path}", json=move | {"ply": 0}).json()["ply"] == 1
    assert refused(client, path, move, 409) == "it is the agent's turn"
    both = begin(client, position=FEN)
    client.post(f"/api/plays/{both['id']}/resign", json={})
    assert refused(client, f"/plays/{both['id']}/move", move, 409) == "the game is over"
    assert refused(client, f"/plays/{both['id']}/reply", {}, 409) == "the game is over"
    assert refused(client, f"/plays/{begin(client, position=FEN)['id']}/reply", {}, 409) == "it is the person's turn"
    assert refused(client, f"/plays/{begin(client, position=FEN)['id']}/review", {}, 409) == "nothing was played yet"
    seats = client.post(f"/api/plays/{view['id']}/players", json={"players": ["random", "person"]}).json()
    assert (seats["players"], seats["turn"]) == (["random", "person"], "person")
    assert "needs 2 players" in refused(client, f"/plays/{view['id']}/players", {"players": ["person"]}, 400)


def test_an_agent_replies_unless_the_game_has_moved_on(client: TestClient, puppets: Puppets) -> None:
    view = begin(client, players=["random", "person"], position=FEN)
    chosen = view["legal"][0]["action"]
    puppets.answers["choose"] = [{"waiting": 0.5}, {"action": chosen}]
    told = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
    assert [row["event"] for row in told] == ["waiting", "view"]
    assert told[0]["seconds"] == 0.5
    assert (told[1]["view"]["ply"], told[1]["view"]["turn"]) == (1, "person")
    asked = puppets.asked[-1][0]
    assert (asked["seed"], asked["agent"], asked["start"], asked["actions"]) == ("1 0", "random", FEN, [])
    back = client.post(f"/api/plays/{view['id']}/goto", json={"ply": 0}).json()
    assert back["ply"] == 0
    site: Site = client.app.state.site  # type: ignore[attr-defined]

    async def meanwhile(request: Row, seconds: float, visitor: str = "") -> AsyncGenerator[Row, None]:
        play = site.play(view["id"])
        play.cursor = 1
        site.store.save(play)
        yield {"action": chosen}

    site.thinkers.ask = meanwhile  # type: ignore[method-assign]
    (failed,) = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
    assert failed == {"event": "failed", "error": "the game has moved on since"}


def test_what_an_agent_cannot_answer_is_an_event(client: TestClient, puppets: Puppets) -> None:
    view = begin(client, players=["random", "person"], position=FEN)
    for answer, sentence in (
        ({"error": "no idea"}, "no idea"), (TooLong("no answer within 5 s"), "stopped: no answer within 5 s"),
        ({"action": 9999}, f"action 9999 is not legal in {FEN}"),
    ):  # fmt: skip
        puppets.answers["choose"] = [answer]
        told = events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)
        assert told == [{"event": "failed", "error": sentence}]


def test_thoughts_are_remembered_once_they_are_final(client: TestClient, puppets: Puppets) -> None:
    view = begin(client, position=FEN)
    thought = {"agent": "random", "final": False, "action": 1, "name": "x", "values": [], "reasons": [],
               "values_svg": "", "why_svg": None, "drawings": []}  # fmt: skip

    def think(agent: str = "random") -> list[Row]:
        return events(client.post(f"/api/plays/{view['id']}/think", json={"agent": agent}).text)

    puppets.answers["explain"] = [thought]
    assert [row["final"] for row in think()] == [False]
    puppets.answers["explain"] = [thought, thought | {"final": True, "action": 2}]
    assert [row["action"] for row in think()] == [1, 2]
    asked = len(puppets.asked)
    (last,) = think()
    assert (last["action"], last["event"], last["ply"], len(puppets.asked)) == (2, "thought", 0, asked)
    assert puppets.asked[-1][1] == 60.0
    think("minimax:depth=1")
    assert len(puppets.asked) == asked + 1
    site: Site = client.app.state.site  # type: ignore[attr-defined]
    oldest = next(iter(site.thoughts))
    think()
    assert next(iter(site.thoughts)) != oldest, "what was asked last is forgotten last"
    site.thoughts.update({f"{n}": {} for n in range(498)})
    think("minimax:depth=2")
    assert len(site.thoughts) == 500
    assert "unknown agent" in refused(client, f"/plays/{view['id']}/think", {"agent": "nobody"}, 400)


def test_verdicts(client: TestClient, puppets: Puppets) -> None:
    view = begin(client, position=FEN)
    client.post(f"/api/plays/{view['id']}/move", json={"action": view["legal"][0]["action"]})
    path = f"/plays/{view['id']}/judge"
    puppets.answers["judge"] = [{"verdict": "good", "text": "fine"}]
    assert client.post(f"/api{path}", json={"ply": 1}).json() == {"verdict": "good", "text": "fine"}
    assert puppets.asked[-1][0]["actions"] == [view["legal"][0]["action"]]
    puppets.answers["judge"] = [{"error": "nobody knows"}]
    assert client.post(f"/api{path}", json={"ply": 1}).json() == {"verdict": None, "text": "nobody knows"}
    assert refused(client, path, {"ply": 2}, 400) == "the game has 1 actions only"


def test_only_so_many_agents_are_asked_at_once(client: TestClient, puppets: Puppets) -> None:
    view = begin(client, players=["random", "person"], position=FEN)
    site: Site = client.app.state.site  # type: ignore[attr-defined]
    me = client.cookies[web_app.VISITOR]
    puppets.answers["choose"] = [{"error": "x"}]
    path = f"/plays/{view['id']}/reply"
    site.streams.update({me: 2})
    assert refused(client, path, {}, 429) == "you have asked 2 agents already; wait until some have answered"
    site.streams.clear()
    site.streams.update({me: 1, "others": 6})
    assert client.post(f"/api{path}", json={}).status_code == 200
    assert dict(site.streams) == {me: 1, "others": 6}, "an answer that has ended is not counted"
    site.streams.update({"others": 1})
    assert refused(client, path, {}, 503) == "8 agents are asked already; try again in a moment"
    site.streams.clear()
    assert client.post(f"/api{path}", json={}).status_code == 200
    assert not site.streams


def test_a_record_has_names_and_a_date(client: TestClient) -> None:
    start = str(rookery.load("checkers").initial_state())
    view = begin(client, players=["person", "random"], position=start)
    view = client.post(f"/api/plays/{view['id']}/move", json={"action": action(view, "11-15")}).json()
    record = client.get(f"/api/plays/{view['id']}/record").json()
    day = datetime.fromtimestamp(view["created"], UTC).date().isoformat()
    game = rookery.load("checkers")
    played = [game.initial_state().parse_action("11-15")]
    assert record["text"] == game.record(view["start"], played, ["Person", "random"], day).text
    client.post(f"/api/plays/{view['id']}/goto", json={"ply": 0})
    assert "11-15" not in client.get(f"/api/plays/{view['id']}/record").json()["text"]


def test_a_position_is_previewed(client: TestClient) -> None:
    def preview(**body: Any) -> Row:
        response = client.post("/api/preview", json={"game": "checkers", "seed": 1} | body)
        assert response.status_code == 200
        row: Row = response.json()
        return row

    state = rookery.load("checkers").parse_state(FEN)
    seen = preview(position=FEN)
    assert (seen["position"], seen["moves"], seen["svg"]) == (FEN, len(state.legal_actions()), state.svg())
    assert seen["agents"] == plays.offered_agents(state)
    assert "problem" not in seen
    broken = preview(position="B:W1:B2")
    assert (broken["position"], broken["svg"].startswith("<svg"), "agents" in broken) == ("B:W1:B2", True, False)
    assert broken["problem"]
    nonsense = preview(position="nonsense")
    assert set(nonsense) == {"pieces", "problem"}
    start = str(rookery.load("checkers").initial_state())
    assert preview(piece="turn")["position"] == "W" + start[1:]


def test_lessons_are_remembered(client: TestClient, puppets: Puppets, monkeypatch: pytest.MonkeyPatch) -> None:
    puppets.answers["lessons"] = [{"lessons": []}]
    assert client.get("/api/learn").json() == {"lessons": []}
    assert client.get("/api/learn/nothing").json() == {"error": "there is no page about such a paper"}
    assert client.get("/api/learn/nothing").status_code == 404
    assert len(puppets.asked) == 1
    assert puppets.asked[0][1] == web_app.EXPERIMENT_SECONDS == 10.0
    site: Site = client.app.state.site  # type: ignore[attr-defined]
    site.lessons.update({f"{n}": {} for n in range(120)})
    site.lessons.move_to_end(json.dumps({"task": "lessons"}))
    puppets.answers["lesson"] = [{"error": "broken"}]
    client.get("/api/learn")
    assert next(iter(site.lessons)) == "0"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"{", "the body is not JSON"), (b"[]", "the body must be a JSON object"),
        (b"{}", "'action' is missing"), (b'{"action": 1, "x": 2}', "'x' is not a field of this request"),
        (b'{"action": "1"}', "'action' must be a valid integer"),
        (b'{"action": -1}', "'action' must be greater than or equal to 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_body_is_said(client: TestClient, body: bytes, sentence: str) -> None:
    response = client.post("/api/plays/x/move", content=body, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()) == (400, {"error": sentence})


def test_a_link_carries_the_token(tmp_path: Path) -> None:
    for token, query in ((None, ""), ("secret-token", "?token=secret-token")):
        app = create_app(conftest.settings(tmp_path / str(token), token=token))
        client = TestClient(app, base_url="http://localhost", cookies={"rookery_token": token} if token else {})
        assert client.get("/api/address").json() == {"query": query}
        app.state.site.store.close()


def test_a_run_is_planned_before_it_is_started(
    client: TestClient, puppets: Puppets, monkeypatch: pytest.MonkeyPatch
) -> None:
    site: Site = client.app.state.site  # type: ignore[attr-defined]
    started: list[Row] = []
    monkeypatch.setattr(site.runs, "start", lambda plan: started.append(plan) or "id")  # type: ignore[func-returns-value]
    puppets.answers["plan"] = [{"planned": True}]
    puppets.answers["forms"] = [{"forms": []}]
    body = {"game": "tenten", "variant": "4x4-seven", "method": "lspi"}
    response = client.post("/api/runs", json=body)
    assert (response.status_code, response.json(), started) == (201, {"id": "id"}, [{"planned": True}])
    asked = puppets.asked[-1][0]["asked"]
    assert asked == body | {"preset": None, "settings": {}, "seed": 0}
    for _ in range(2):
        assert client.get("/api/runs").json() == {"runs": [], "forms": []}
    assert [request["task"] for request, *_ in puppets.asked].count("forms") == 1
    puppets.answers["plan"] = [{"error": "no such method"}]
    assert refused(client, "/runs", body, 400) == "no such method"
