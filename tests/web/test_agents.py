"""Agents on the server: what they think, hints, verdicts, puzzles; slow ones, and ones that fail."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

import rookery
from rookery.games.endgames.tables import tables
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import STUCK
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, methods
from rookery.web import plays
from rookery.web.pool import Pool, TooLong
from tests.web.conftest import Server, events
from tests.web.test_plays import create, post

pytestmark = pytest.mark.xdist_group("agents")  # one server for all


def think(client: TestClient, view: dict[str, Any], agent: str) -> list[dict[str, Any]]:
    response = client.post(f"/api/plays/{view['id']}/think", json={"agent": agent})
    return [event for event in events(response.text) if event["event"] != "waiting"]


def test_values_are_the_agents_own(client: TestClient) -> None:
    position = "R.../.B../..N./P..."
    view = create(client, "solitaire-chess", position=position)
    [thought] = think(client, view, "oracle")
    game = rookery.load("solitaire-chess")
    state = game.parse_state(position)
    expected = load_agent("oracle", game).explain(state)
    assert {row["action"]: row["value"] for row in thought["values"]} == expected.values
    assert thought["reasons"] == expected.reasons
    assert thought["name"] == state.action_name(expected.action)
    values = [row["value"] for row in thought["values"]]
    assert values == sorted(values, reverse=True)
    assert "data-cell" in thought["values_svg"]


def test_drawings_of_an_explanation_are_sent(client: TestClient) -> None:
    view = create(client, "tenten", seed=1)
    [thought] = think(client, view, "lspi")
    [drawing] = thought["drawings"]
    assert "feature" in drawing["title"]
    assert "largest blank rectangle" in drawing["svg"]


def test_a_search_shows_what_it_has_so_far(client: TestClient) -> None:
    view = create(client, "checkers")
    thoughts = think(client, view, "minimax:depth=4")
    assert [thought["final"] for thought in thoughts] == [False, False, False, True]
    game = rookery.load("checkers")
    for depth, thought in enumerate(thoughts, start=1):
        values = load_agent(f"minimax:depth={depth}", game).values(game.initial_state())
        assert {row["action"]: row["value"] for row in thought["values"]} == values
    [known] = think(client, view, "minimax:depth=4")  # from memory: nothing is shown before
    assert known == thoughts[-1]


def test_an_agent_that_cannot_answer_says_why(client: TestClient) -> None:
    view = create(client, "tenten")
    [failed] = think(client, view, "oracle")
    assert failed["event"] == "failed"
    assert "16 cells" in failed["error"]


HOSTILE = [
    "nobody", "", "x.py", "x.py:Agent", "os:system", "rookery.search.agents:RandomAgent", "../", "runs/mine",
    "ntuple:/etc/passwd", "ntuple:path=1", "oracle:path=/etc/passwd", "mcts:path=/etc/passwd", "mcts:simulations=x",
    "mcts:simulations=1e9", "mcts:simulations=-1", "mcts:simulations=nan", "mcts:nodes=1", "best:a=1,b",
    "linear@../../etc", "ntuple@", "@",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_agents_never_name_files(client: TestClient, name: str) -> None:
    view = create(client, "tenten")
    response = client.post(f"/api/plays/{view['id']}/think", json={"agent": name})
    assert response.status_code == 400
    assert set(response.json()) == {"error"}
    seated = client.post(f"/api/plays/{view['id']}/players", json={"players": [name]})
    assert seated.status_code == 400
    created = client.post("/api/plays", json={"game": "tenten", "players": [name]})
    assert created.status_code == 400


@pytest.mark.parametrize("game", ["x.py", "os:path", "examples/tic_tac_toe.py", "../tenten", "", "TENTEN"])
def test_names_of_games_never_name_files(client: TestClient, game: str) -> None:
    for path, body in (("plays", {"players": ["person"]}), ("preview", {}), ("runs", {"method": "lspi"})):
        response = client.post(f"/api/{path}", json={"game": game} | body)
        assert response.status_code == 400
        assert "unknown game" in response.json()["error"]


def test_three_hints_then_stuck(client: TestClient) -> None:
    view = create(client, "solitaire-chess", position="R.../.B../..N./P...")
    told = [post(client, f"{view['id']}/hint", {"stage": stage}) for stage in (1, 2, 3)]
    assert [len(hint["hints"]) for hint in told] == [1, 2, 3]
    assert told[2]["hints"][0] == "The rook on a4 moves first."
    assert (told[0]["cells"], told[1]["cells"]) == ([0], [0, 12])
    spoiled = next(
        row["action"] for row in view["legal"] if not solve(_after(view["position"], row["action"])).solvable
    )
    view = post(client, f"{view['id']}/move", {"action": spoiled})
    assert post(client, f"{view['id']}/hint", {"stage": 1}) == {"stuck": True, "hints": [STUCK], "cells": []}
    verdict = post(client, f"{view['id']}/judge", {"ply": 1})
    assert verdict["verdict"] == "bad"
    assert STUCK in verdict["text"]


def _after(rows: str, action: int) -> Any:
    state = rookery.load("solitaire-chess").parse_state(rows)
    state.apply(action)
    return state


@pytest.mark.parametrize(
    ("fen", "move", "verdict", "words"),
    [
        ("8/8/8/2k5/8/8/3R4/K7 w - - 0 1", "Rd5+", "bad", "threw the win away"),  # the king takes the rook
        ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "Rh1#", "good", "mates"),
        ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "Rd2", "slower", "still wins"),
        ("8/8/8/8/8/8/1kR5/7K b - - 0 1", "Kxc2", "good", "holds the draw"),
    ],
)
def test_the_trainer_sees_what_a_move_is_worth(
    client: TestClient, fen: str, move: str, verdict: str, words: str
) -> None:
    view = create(client, "endgames", position=fen)
    names = {row["name"]: row["action"] for row in view["legal"]}
    post(client, f"{view['id']}/move", {"action": names[move]})
    told = post(client, f"{view['id']}/judge", {"ply": 1})
    assert told["verdict"] == verdict
    assert words in told["text"]


def test_where_nobody_knows_the_trainer_says_so(client: TestClient) -> None:
    for game, words in (("checkers", "positions of up to 4 pieces"), ("morpion", "nobody knows the exact values")):
        view = create(client, game)
        post(client, f"{view['id']}/move", {"action": view["legal"][0]["action"]})
        told = post(client, f"{view['id']}/judge", {"ply": 1})
        assert told["verdict"] is None
        assert words in told["text"]
    assert client.post(f"/api/plays/{view['id']}/judge", json={"ply": 2}).status_code == 400


@pytest.mark.parametrize("variant", ["KRK", "KPK"])
def test_an_endgame_begins_where_white_wins(client: TestClient, variant: str) -> None:
    """Not with Black to take the rook: then the game would be over before the person has moved."""
    starts = [create(client, "endgames", variant=variant, seed=seed)["position"] for seed in range(25)]
    assert len(set(starts)) > 20
    assert create(client, "endgames", variant=variant, seed=3)["position"] == starts[3]
    for fen in starts:
        state = rookery.load("endgames", variant).parse_state(fen)
        assert state.player() == 0
        assert (tables(variant).dtm(state) or 0) > 1


def test_hints_for_the_other_games(client: TestClient) -> None:
    for game in ("tenten", "checkers"):
        view = create(client, game, seed=4)
        told = post(client, f"{view['id']}/hint", {"stage": 2})
        name = told["hints"][1].removeprefix("Play ").removesuffix(".")
        assert name in {row["name"] for row in view["legal"]}
        assert told["cells"]


def test_the_puzzle_of_the_day_is_one_for_all(client: TestClient) -> None:
    first, second = (create(client, "solitaire-chess", puzzle="daily") for _ in range(2))
    assert first["position"] == second["position"]
    assert first["about"]["day"] == datetime.now(UTC).date().isoformat()
    state = rookery.load("solitaire-chess", first["variant"]).parse_state(first["position"])
    assert solve(state).solvable
    assert first["about"]["puzzle"] in state.game.puzzle_levels
    assert client.get("/api/games").json()["daily"] == "solitaire-chess"
    no_puzzles = client.post("/api/plays", json={"game": "tenten", "players": ["person"], "puzzle": "daily"})
    assert (no_puzzles.status_code, no_puzzles.json()) == (400, {"error": "1010! has no puzzles made by level"})


@pytest.mark.parametrize("level", ["beginner", "expert", "solo"])
def test_puzzles_of_a_level_can_be_solved(client: TestClient, level: str) -> None:
    view = create(client, "solitaire-chess", puzzle=level)
    assert solve(rookery.load("solitaire-chess", view["variant"]).parse_state(view["position"])).solvable
    bad = client.post("/api/plays", json={"game": "solitaire-chess", "players": ["person"], "puzzle": "hard"})
    assert bad.status_code == 400
    assert "known levels" in bad.json()["error"]


CHECKERS = {
    "game": "checkers", "variant": None, "start": str(rookery.load("checkers").initial_state()), "actions": [],
}  # fmt: skip
ENDLESS = {"task": "explain", "agent": "minimax:depth=60"} | CHECKERS
QUICK = {"task": "choose", "agent": "random", "seed": "1"} | CHECKERS


def test_a_worker_that_takes_too_long_is_replaced() -> None:
    async def scenario() -> None:
        pool = Pool(1)
        try:
            await pool.one(QUICK, 30)
            rows = pool.ask(ENDLESS, 1.0)
            assert "values" in await anext(rows)  # shallow depths come before the limit
            with pytest.raises(TooLong):
                await _drain(rows)
            assert "action" in await pool.one(QUICK, 30)
        finally:
            await pool.close()

    asyncio.run(scenario())


async def _drain(rows: AsyncIterator[Any]) -> None:
    async for _ in rows:
        pass


def test_a_worker_that_nobody_listens_to_is_ended() -> None:
    async def scenario() -> None:
        pool = Pool(1)
        try:
            async with aclosing(pool.ask(ENDLESS, 60)) as rows:
                await anext(rows)
            begin = time.monotonic()
            assert "action" in await pool.one(QUICK, 30)
            assert time.monotonic() - begin < 15
        finally:
            await pool.close()

    asyncio.run(scenario())


def test_visitors_take_turns() -> None:
    async def scenario() -> None:
        pool = Pool(1)
        answered = []

        async def ask(visitor: str) -> None:
            await pool.one(QUICK, 60, visitor)
            answered.append(visitor)

        try:
            await asyncio.gather(*map(ask, ["heavy"] * 12 + ["light"] * 2 + ["other"]))
            assert answered[:6].count("light") == 2
            assert "other" in answered[:4]
        finally:
            await pool.close()

    asyncio.run(scenario())


def test_a_worker_that_dies_is_a_sentence() -> None:
    async def scenario() -> None:
        pool = Pool(1)
        try:
            rows = pool.ask(ENDLESS, 60)
            await anext(rows)
            [worker] = pool._workers
            worker.process.kill()
            answers = [row async for row in rows]
            assert "ended unexpectedly" in answers[-1]["error"]
            assert "action" in await pool.one(QUICK, 30)
        finally:
            await pool.close()

    asyncio.run(scenario())


def test_a_slow_agent_freezes_nothing_and_can_be_cancelled(server: Server) -> None:
    """More endless searches than workers; the page stays quick, and closing them frees the workers."""
    view = server.call("/plays", {"game": "checkers", "players": ["person", "random"]})
    slow = []
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        body = json.dumps({"agent": "minimax:depth=60"})
        connection.request("POST", f"/api/plays/{view['id']}/think", body, {"content-type": "application/json"})
        response = connection.getresponse()
        slow.append((connection, response))
    assert b"data:" in slow[0][1].readline()
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        server.call(f"/plays/{view['id']}")
        times.append(time.perf_counter() - begin)
    assert sorted(times)[2] < 2  # a busy machine is slow; behind an endless search it would be a minute
    for connection, response in slow:
        response.close()
        connection.close()
    begin = time.monotonic()
    moved = server.call(f"/plays/{view['id']}/move", {"action": view["legal"][0]["action"]})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", f"/api/plays/{moved['id']}/reply", "{}", {"content-type": "application/json"})
    last = events(connection.getresponse().read().decode())[-1]
    connection.close()
    assert last["event"] == "view"
    assert time.monotonic() - begin < 20  # an endless search would have held both workers for a minute


def test_every_offered_agent_is_known() -> None:
    for name in rookery.GAMES:
        game = rookery.load(name)
        offered = plays.offered_agents(game.initial_state())
        for agent in offered:
            assert plays.check_agent(agent, game) == agent
        able = {name for name in agent_names(game, ready=True) if not methods(game)[name].refuses(game.initial_state())}
        assert {agent.split(":")[0] for agent in offered} == able


def test_an_agent_is_offered_where_it_can_play(client: TestClient) -> None:
    """The solved endgames of checkers do not reach to the start: whoever took them as opponent would wait for ever."""
    view = create(client, "checkers")
    assert "oracle" not in view["agents"]
    body = {"game": "checkers", "players": ["person", "oracle"]}
    refused = client.post("/api/plays", json=body)
    assert refused.status_code == 400
    assert refused.json()["error"] == "oracle cannot play this position: it knows positions of up to 4 pieces"
    assert client.post(f"/api/plays/{view['id']}/players", json=body).status_code == 400
    few = client.post("/api/plays", json=body | {"position": "B:W30,K31:B1,K2"})
    assert few.status_code == 201
    assert "oracle" in few.json()["agents"]


def test_a_solved_puzzle_is_called_solved(client: TestClient) -> None:
    view = create(client, "solitaire-chess", position="R.../.B../..N./P...")
    moves = solve(rookery.load("solitaire-chess").parse_state(view["position"])).moves
    assert moves
    verdicts = []
    for ply, action in enumerate(moves, start=1):
        post(client, f"{view['id']}/move", {"action": action})
        verdicts.append(post(client, f"{view['id']}/judge", {"ply": ply})["text"])
    assert verdicts == ["Still solvable.", "Still solvable.", "Solved."]
    [card] = [play for play in client.get("/api/plays").json()["plays"] if play["id"] == view["id"]]
    assert card["over"]
