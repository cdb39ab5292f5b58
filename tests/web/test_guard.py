"""Who may call, and what nobody gets."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.testclient import TestClient

from rookery.web import guard
from rookery.web.app import STATIC, Refused, create_app
from rookery.web.guard import MAX_BODY
from tests.web import conftest
from tests.web.test_plays import create

pytestmark = pytest.mark.xdist_group("guard")  # one server for all


def error(response: Any) -> tuple[int, str]:
    data = response.json()
    assert set(data) == {"error"}
    assert "Traceback" not in data["error"]
    return response.status_code, data["error"]


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "localhost@evil.example", "["]
)
def test_a_foreign_host_is_refused(client: TestClient, host: str) -> None:
    assert error(client.get("/api/games", headers={"host": host}))[0] == 421


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
def test_loopback_is_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/plays", headers={"host": host}).status_code == 200


def test_another_site_is_refused(client: TestClient) -> None:
    body = {"game": "checkers", "players": ["person", "person"]}
    for headers in (
        {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://localhost:9"},
        {"sec-fetch-site": "cross-site"}, {"origin": "http://[::1"}, {"origin": "http://localhost@evil.example"},
        {"origin": ""},
    ):  # fmt: skip
        assert error(client.post("/api/plays", json=body, headers=headers))[0] == 403
    assert client.post("/api/plays", json=body, headers={"origin": "http://localhost"}).status_code == 201


def test_what_changes_something_must_be_json(client: TestClient) -> None:
    assert error(client.post("/api/plays", content="{}", headers={"content-type": "text/plain"}))[0] == 415
    json_type = {"content-type": "application/json"}
    assert error(client.post("/api/plays", content="{", headers=json_type)) == (400, "the body is not JSON")
    assert error(client.post("/api/plays", content="[1]", headers=json_type))[0] == 400
    assert error(client.post("/api/plays", content="[" * 100_000, headers=json_type))[0] == 400


def test_large_bodies_are_refused(client: TestClient) -> None:
    assert error(client.post("/api/plays", json={"game": "x" * MAX_BODY}))[0] == 413

    def pieces() -> Iterator[bytes]:  # without a length
        for _ in range(MAX_BODY // 1000 + 2):
            yield b" " * 1000

    response = client.post("/api/plays", content=pieces(), headers={"content-type": "application/json"})
    assert error(response)[0] == 413


def test_unknown_things_are_404(client: TestClient) -> None:
    view = create(client, "checkers")
    for path in ("/api/plays/nope", "/api/runs/nope", "/api/nothing", "/static/nothing.js", "/reports/nope", "/x"):
        assert error(client.get(path))[0] == 404
    assert error(client.post("/api/plays/nope/move", json={"action": 1}))[0] == 404
    assert error(client.put(f"/api/plays/{view['id']}", json={}))[0] == 405


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/reports/..%2f..%2fx"]
)
def test_no_file_outside_is_served(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert b"Starlette" not in response.content


def test_illegal_moves_and_wrong_numbers(client: TestClient) -> None:
    view = create(client, "checkers")
    for body in ({}, {"action": "1"}, {"action": True}, {"action": 1.5}, {"action": -1}, {"action": 2**40}):
        assert error(client.post(f"/api/plays/{view['id']}/move", json=body))[0] == 400
    code, sentence = error(client.post(f"/api/plays/{view['id']}/move", json={"action": 3}))
    assert code == 400
    assert "is not legal in B:W21,22,23" in sentence
    first = view["legal"][0]["action"]
    assert error(client.post(f"/api/plays/{view['id']}/move", json={"action": first, "ply": 9}))[0] == 409
    assert error(client.post(f"/api/plays/{view['id']}/goto", json={"ply": 99}))[0] == 400


def test_headers_on_every_answer(client: TestClient) -> None:
    for path in ("/", "/api/games", "/static/main.js", "/nope"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_a_defect_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("secret details")

    monkeypatch.setattr("rookery.web.plays.daily_game", broken)
    app = create_app(conftest.settings(folder / "defect"))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        code, sentence = error(client.get("/api/games"))
        assert code == 500
        assert "secret" not in sentence


def test_a_token_is_asked_for(folder: Path) -> None:
    app = create_app(conftest.settings(folder / "token", token="s3cret"))
    with TestClient(app, base_url="http://192.168.1.5:8080", follow_redirects=False) as client:
        for path in ("/", "/api/games", "/static/main.js", "/?token=wrong", "/?token="):
            assert error(client.get(path))[0] == 401
        assert error(client.get("/api/games", headers={"cookie": "rookery_token=wrong"}))[0] == 401
        assert error(client.get("/", headers={"host": "evil.example"}))[0] == 421  # a name could point anywhere
        signed_in = client.get("/?token=s3cret")
        assert signed_in.status_code == 303
        assert signed_in.headers["location"] == "/"  # the token does not stay in the address
        assert "HttpOnly" in signed_in.headers["set-cookie"]
        assert "SameSite=strict" in signed_in.headers["set-cookie"]
        assert client.get("/api/games").status_code == 200


def test_cookies_of_other_programs_do_no_harm(folder: Path) -> None:
    app = create_app(conftest.settings(folder / "cookies", token="s3cret"))
    with TestClient(app, base_url="http://192.168.1.5:8080") as client:
        for odd in ("[]=1", 'a="', "{", "x=é".encode("latin-1"), "=", ";;", "rookery_token=of-another-server"):
            raw = odd if isinstance(odd, bytes) else odd.encode()
            for header in (raw + b"; rookery_token=s3cret", b"rookery_token=s3cret; " + raw):
                assert client.get("/api/plays", headers={b"cookie": header}).status_code == 200
        assert client.get("/api/address", headers={"cookie": "rookery_token=s3cret"}).json() == {
            "query": "?token=s3cret"
        }


def test_a_body_that_does_not_come_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.web.guard.BODY_SECONDS", 0.1)
    app = create_app(conftest.settings(folder / "slow"))
    pieces = iter([b'{"game": ', b'"check'])
    sent: list[Any] = []

    async def receive() -> Any:
        piece = next(pieces, None)
        if piece is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": piece, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"100")]
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": "/api/preview", "raw_path": b"/api/preview",
        "query_string": b"", "root_path": "", "headers": headers, "client": ("127.0.0.1", 1), "server": ("x", 80),
        "scheme": "http",
    }  # fmt: skip
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 10))
    assert sent[0]["status"] == 408
    assert b"did not come" in sent[1]["body"]


def test_streams_are_counted_when_they_are_asked_for(folder: Path) -> None:
    """A burst of requests must not pass before the first of them has begun to answer."""
    site = create_app(conftest.settings(folder / "burst", max_streams=8)).state.site

    def ask(visitor: str) -> Any:
        cookie = f"rookery_visitor={visitor * 16}".encode()
        request = Request({"type": "http", "headers": [(b"cookie", cookie)], "client": ("127.0.0.1", 1)})
        return site.stream(request, {}, lambda row: row, {"event": "known"})

    async def answered(response: Any) -> None:
        async def receive() -> Any:
            await asyncio.sleep(60)

        async def send(message: Any) -> None:
            pass

        await response({}, receive, send)

    responses = [ask("a"), ask("a")]
    with pytest.raises(Refused, match="you have asked 2 agents already"):
        ask("a")
    responses += [ask(visitor) for visitor in "bbccdd"]
    with pytest.raises(Refused, match="8 agents are asked already"):
        ask("e")
    asyncio.run(answered(responses[0]))
    ask("a")


def test_open_streams_are_bounded(folder: Path) -> None:
    app = create_app(conftest.settings(folder / "streams", max_streams=0))
    with TestClient(app, base_url="http://localhost") as client:
        view = create(client, "checkers")
        assert error(client.post(f"/api/plays/{view['id']}/think", json={"agent": "random"}))[0] == 503


def test_the_page_asks_nobody_else() -> None:
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.|@import", text), file.name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "game",
        "variant",
        "players",
        "position",
        "puzzle",
        "seed",
        "action",
        "ply",
        "agent",
        "stage",
        "method",
        "settings",
        "preset",
        "piece",
        "cell",
    ]
)
VALUES = JSON | st.sampled_from(
    ["checkers", "tenten", "endgames", "morpion", "solitaire-chess", "4x4", "random", "person", ["person"],
     ["person", "person"], "beginner", "(28,28)", "B:W21:B1", "../../etc/passwd", 0, 1, 2**63, "lspi", "#", "turn"]
)  # fmt: skip
PATHS = st.sampled_from(
    ["/api/plays", "/api/preview", "/api/runs", *(f"/api/plays/ID/{verb}" for verb in
     ("move", "goto", "players", "think", "hint", "judge", "reply")), "/api/runs/ID/stop", "/api/runs/ID/resume"]
)  # fmt: skip


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS, body=st.dictionaries(FIELDS, VALUES, max_size=5) | JSON, real=st.booleans())
def test_nonsense_is_a_sentence(client: TestClient, path: str, body: Any, real: bool) -> None:
    """No body gets a 500, and every refusal is an object with one sentence."""
    if path == "/api/runs" and isinstance(body, dict):
        body = body | {"settings": {"nonsense": 1}}  # nothing is to be trained here
    play = create(client, "solitaire-chess", position="R.../.B../..N./P...") if real else {"id": "%00../x"}
    response = client.post(path.replace("ID", play["id"]), json=body)
    assert response.status_code < 500
    if response.status_code >= 400:
        assert len(error(response)[1]) < 600


def test_names_of_hosts_are_read_strictly() -> None:
    names = {
        "localhost": "localhost", "localhost:8000": "localhost", "[::1]:80": "::1", "LOCALHOST": "localhost",
        "localhost/x": None, "localhost?x": None, "me@localhost": None, ":secret@localhost": None, "localhost:x": None,
        "[::1": None,
    }  # fmt: skip
    assert {host: guard._host_name(host) for host in names} == names
    assert [guard._is_address(name) for name in ("127.0.0.1", "::1", "localhost", "127.0.0.1.evil.example")] == [
        True, True, False, False,
    ]  # fmt: skip
