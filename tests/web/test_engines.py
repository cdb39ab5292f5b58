"""Programs on the page: no request can name one; those that the owner of the server named have short names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from rookery import registry
from rookery.web.app import create_app
from tests.commands import check_refusal
from tests.web.conftest import events, settings
from tests.web.test_plays import create

pytestmark = pytest.mark.xdist_group("engines")  # one server for all

PROGRAM = "#!/bin/sh\ntouch '{mark}'\nexec {python} -m rookery {protocol}\n"


def program(folder: Path, name: str, protocol: str) -> Path:
    """An engine that leaves a mark when it is started."""
    file = folder / name
    file.write_text(PROGRAM.format(mark=folder / f"{name} was started", python=sys.executable, protocol=protocol))
    file.chmod(0o755)
    return file


@pytest.fixture
def unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_METHODS", {game: dict(found) for game, found in registry._METHODS.items()})
    monkeypatch.setattr(registry, "_NAMES", list(registry._NAMES))
    monkeypatch.setattr(registry.GAMES, "_found", dict(registry.GAMES._found))


@pytest.fixture
def owner(tmp_path: Path, unchanged: None) -> Iterator[TestClient]:
    """A server whose owner named an engine for chess, one for checkers, and a game of OpenSpiel."""
    pytest.importorskip("pyspiel")
    named = (
        f"uci:{program(tmp_path, 'Deep Rook', 'uci')}",
        f"hub:depth=3,path={program(tmp_path, 'draughts', 'hub')}",
        "open_spiel:tic_tac_toe",
    )
    with TestClient(create_app(settings(tmp_path, load=named)), base_url="http://localhost") as client:
        yield client


def reply(client: TestClient, view: dict[str, object]) -> dict[str, object]:
    return events(client.post(f"/api/plays/{view['id']}/reply", json={}).text)[-1]


def hostile(protocol: str, file: Path) -> list[str]:
    return [
        f"{protocol}:{file}", f"{protocol}:path={file}", f"{protocol}:depth=1,path={file}", f"{protocol}:{file} --x",
        f"{protocol}:depth=1,{file}", f"stockfish:{file}", f"stockfish:path={file}", f"stockfish:depth=1,path={file}",
        f"{protocol}:sh -c 'touch {file}'", f"{protocol}: {file}", f"{file}", f"{protocol}-{file}", f"oracle:{file}",
    ]  # fmt: skip


@pytest.mark.parametrize(("game", "protocol"), [("endgames", "uci"), ("checkers", "hub")])
def test_no_request_can_name_a_program(client: TestClient, tmp_path: Path, game: str, protocol: str) -> None:
    file = program(tmp_path, "engine", protocol)
    view = create(client, game)
    for name in hostile(protocol, file):
        asked = {
            f"/api/plays/{view['id']}/think": {"agent": name},
            f"/api/plays/{view['id']}/players": {"players": ["person", name]},
            "/api/plays": {"game": game, "players": [name, "person"]},
        }
        for path, body in asked.items():
            response = client.post(path, json=body)
            assert response.status_code == 400, (name, path)
            assert set(response.json()) == {"error"}
    assert [path.name for path in tmp_path.iterdir()] == ["engine"], "an engine was started"


@pytest.mark.parametrize(("game", "protocol"), [("endgames", "uci"), ("checkers", "hub")])
def test_a_protocol_without_a_program_is_a_sentence(client: TestClient, game: str, protocol: str) -> None:
    listed = {row["name"]: row for row in client.get("/api/games").json()["games"]}
    assert not [name for name in listed[game]["agents"] if name.startswith(protocol)]
    view = create(client, game)
    [*_, failed] = events(client.post(f"/api/plays/{view['id']}/think", json={"agent": protocol}).text)
    assert failed["event"] == "failed"
    assert "needs the program of an engine" in failed["error"]


def test_what_the_owner_named_plays_under_a_short_name(owner: TestClient, tmp_path: Path) -> None:
    listed = {row["name"]: row for row in owner.get("/api/games").json()["games"]}
    assert "uci-deep-rook" in listed["endgames"]["agents"]
    assert "hub-draughts-depth-3" in listed["checkers"]["agents"]
    assert not any(str(tmp_path) in str(row) for row in listed.values()), "a visitor learns where the program is"
    start = "8/8/8/8/8/1K6/7R/k7 w - - 0 1"
    view = create(owner, "endgames", ["uci-deep-rook", "person"], position=start)
    answer = reply(owner, view)
    assert answer["event"] == "view"
    assert "White wins (checkmate)" in str(answer["view"])
    assert (tmp_path / "Deep Rook was started").exists()
    view = create(owner, "checkers", ["hub-draughts-depth-3", "person"])
    assert reply(owner, view)["event"] == "view"


def test_an_owner_does_not_open_the_door_to_other_programs(owner: TestClient, tmp_path: Path) -> None:
    file = program(tmp_path, "other", "uci")
    view = create(owner, "endgames")
    for name in [*hostile("uci", file), f"uci-deep-rook:{file}", f"uci-deep-rook:path={file}", "uci-deep-rook:depth=3",
                 f"uci:{tmp_path / 'Deep Rook'}"]:  # fmt: skip
        response = owner.post(f"/api/plays/{view['id']}/think", json={"agent": name})
        assert response.status_code == 400, name
    assert not (tmp_path / "other was started").exists()


def test_a_game_of_open_spiel_is_played_on_the_page(owner: TestClient) -> None:
    view = create(owner, "open_spiel:tic_tac_toe", ["person", "minimax:depth=3"])
    assert len(view["legal"]) == 9
    moved = owner.post(f"/api/plays/{view['id']}/move", json={"action": 4}).json()
    answer = reply(owner, moved)
    assert answer["event"] == "view"
    for game in ("open_spiel:hex", "open_spiel:tic_tac_toe(rows=4)", "open_spiel:"):
        assert owner.post("/api/plays", json={"game": game, "players": ["person"] * 2}).status_code == 400


def test_what_cannot_be_loaded_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, unchanged: None) -> None:
    folder = ["--runs", str(tmp_path)]
    for name, sentence in (
        ("uci:/no/such/engine", "there is no program /no/such/engine"),
        ("nobody:x", "is not a file FILE.py, not a game, and not an agent of any game"),
        ("uci:depth=0,path=cat", "the depth must be 1 to 100"),
    ):
        check_refusal(capsys, ["serve", "--load", name, *folder], sentence)


def test_the_same_agent_is_registered_once(unchanged: None) -> None:
    assert registry.register_name("mcts:simulations=7") == ["mcts-simulations-7"]
    assert registry.register_name("mcts:simulations=7") == ["mcts-simulations-7"]
    assert registry.register_name("uci:cat") == ["uci-cat"]
    assert registry.register_name("uci:/bin/cat") == ["uci-cat-2"]
