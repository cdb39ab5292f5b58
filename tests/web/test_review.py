"""What happens after a game: giving up, review, daily puzzles by day, bests, and films."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

import rookery
from rookery.games.endgames.tables import solve
from rookery.games.solitaire_chess.exact import solve as solve_puzzle
from rookery.web import plays, review
from rookery.web.review import streak
from tests.web.conftest import events

pytestmark = pytest.mark.xdist_group("review")  # one server for all

ROOK = "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"


def create(client: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    response = client.post("/api/plays", json={"seed": 1} | body)
    assert response.status_code == 201, response.text
    view: dict[str, Any] = response.json()
    return view


def move(client: TestClient, view: dict[str, Any], name: str) -> dict[str, Any]:
    action = next(row["action"] for row in view["legal"] if row["name"] == name)
    response = client.post(f"/api/plays/{view['id']}/move", json={"action": action, "ply": view["ply"]})
    assert response.status_code == 200, response.text
    after: dict[str, Any] = response.json()
    return after


def test_resigning_ends_a_game_until_it_is_played_on(client: TestClient) -> None:
    view = create(client, {"game": "checkers", "players": ["person", "person"]})
    view = move(client, view, view["legal"][0]["name"])
    after = client.post(f"/api/plays/{view['id']}/resign", json={}).json()
    assert (after["turn"], after["legal"]) == ("over", [])
    assert after["result"] == {"winner": 0, "text": "White resigned: Black wins"}
    assert after["status"] == "White resigned: Black wins"
    for path in ("resign", "reply"):
        assert client.post(f"/api/plays/{view['id']}/{path}", json={}).status_code in (400, 409)
    refused = client.post(f"/api/plays/{view['id']}/move", json={"action": view["legal"][0]["action"]})
    assert refused.status_code == 409
    back = client.post(f"/api/plays/{view['id']}/goto", json={"ply": 0}).json()
    assert back["turn"] == "person"
    again = move(client, back, back["legal"][1]["name"])
    assert (again["turn"], again["result"]) == ("person", None)
    forth = client.post(f"/api/plays/{view['id']}/goto", json={"ply": 1}).json()
    assert forth["result"] is None


@pytest.mark.parametrize(
    "body", [{"game": "morpion", "players": ["person"]}, {"game": "checkers", "players": ["random", "random"]}]
)
def test_only_a_person_against_somebody_resigns(client: TestClient, body: dict[str, Any]) -> None:
    view = create(client, body)
    answer = client.post(f"/api/plays/{view['id']}/resign", json={})
    assert answer.status_code == 400
    assert "only a person who plays against somebody" in answer.json()["error"]


def test_a_review_says_what_the_tables_say(client: TestClient) -> None:
    """Every value beside the tables, walked through here."""
    view = create(client, {"game": "endgames", "players": ["person", "person"], "position": ROOK})
    state = rookery.load("endgames").parse_state(ROOK)
    distances = []
    for name in ("Rd8", "Kc6", "Rd1", "Kb5", "Rb1+", "Kc4", "Rb8"):
        action = state.parse_action(name)
        distances.append(solve(state).moves[action])
        state.apply(action)
        view = move(client, view, name)
    rows = events(client.post(f"/api/plays/{view['id']}/review", json={}).text)
    *moves, last = [row for row in rows if row["event"] == "review"]
    assert [row["ply"] for row in moves] == list(range(1, 8))
    for row, dtm in zip(moves, distances, strict=True):
        assert row["exact"]
        assert dtm is not None
        expected = (1 if dtm > 0 else -1) * (1 - abs(dtm) / 1000)
        assert row["value"] == pytest.approx(expected * (-1 if row["player"] else 1))
        assert str((abs(dtm) + (dtm > 0)) // 2) in row["words"]
    losses = {row["ply"]: row["loss"] for row in moves}
    assert [row["ply"] for row in last["worst"]] == sorted((p for p in losses if losses[p]), key=lambda p: -losses[p])[
        :3
    ]


def test_a_review_estimates_where_nobody_knows(client: TestClient) -> None:
    view = create(client, {"game": "morpion", "players": ["person"]})
    for _ in range(3):
        view = move(client, view, view["legal"][0]["name"])
    rows = events(client.post(f"/api/plays/{view['id']}/review", json={}).text)
    moves = [row for row in rows if "value" in row]
    assert [row["exact"] for row in moves] == [False] * 3
    assert all(row["words"].endswith("moves") and row["loss"] >= 0 for row in moves)


def test_nothing_played_cannot_be_reviewed(client: TestClient) -> None:
    view = create(client, {"game": "checkers", "players": ["person", "person"]})
    assert client.post(f"/api/plays/{view['id']}/review", json={}).status_code == 409


def test_daily_puzzles_by_day(client: TestClient) -> None:
    today = datetime.now(UTC).date()
    archive = client.get("/api/puzzles").json()
    assert [row["day"] for row in archive["days"][:2]] == [today.isoformat(), (today - timedelta(1)).isoformat()]
    by_day = {date.fromisoformat(row["day"]).strftime("%a"): row["level"] for row in archive["days"]}
    assert (by_day["Mon"], by_day["Sun"]) == ("beginner", "solo")
    monday = next(row["day"] for row in archive["days"] if date.fromisoformat(row["day"]).weekday() == 0)
    body = {"game": "solitaire-chess", "players": ["person"], "puzzle": "daily", "day": monday}
    view = create(client, body)
    assert view["about"] == {"day": monday, "puzzle": "beginner"}
    assert create(client, body)["position"] == view["position"]  # the same for everybody
    state = rookery.load("solitaire-chess").parse_state(view["position"])
    for action in solve_puzzle(state).moves or ():
        view = move(client, view, state.action_name(action))
        state.apply(action)
    assert view["result"]["solved"]
    assert view["about"]["seconds"] >= 1
    row = next(row for row in client.get("/api/puzzles").json()["days"] if row["day"] == monday)
    assert (row["id"], row["seconds"]) == (view["id"], view["about"]["seconds"])


@pytest.mark.parametrize("day", ["2020-01-01", "2999-01-01", "yesterday", "2026-13-01"])
def test_other_days_are_refused(client: TestClient, day: str) -> None:
    body = {"game": "solitaire-chess", "players": ["person"], "puzzle": "daily", "day": day}
    answer = client.post("/api/plays", json=body)
    assert answer.status_code == 400
    assert "day" in answer.json()["error"] or "daily" in answer.json()["error"]


def test_days_in_a_row() -> None:
    now = date(2026, 3, 2)
    assert streak({}, now) == 0
    assert streak({"2026-03-02": True}, now) == 1
    assert streak({"2026-03-02": True, "2026-02-28": True}, now) == 1
    assert streak({"2026-03-02": True, "2026-03-01": True, "2026-02-28": True}, now) == 3
    assert streak({"2026-03-01": True, "2026-02-28": True}, now) == 2  # today is still open
    assert streak({"2026-02-28": True}, now) == 0


def test_the_best_of_a_visitor_is_remembered(client: TestClient) -> None:
    scores = []
    for seed in range(4):
        view = create(client, {"game": "tenten", "variant": "3x3-seven", "players": ["person"], "seed": seed})
        while view["turn"] != "over":
            view = move(client, view, view["legal"][seed % len(view["legal"])]["name"])
        assert view["about"]["score"] == view["result"]["score"] == view["result"]["score"]
        assert view["about"]["best_before"] == (max(scores) if scores else None)
        scores.append(view["result"]["score"])
    assert len(set(scores)) > 1


def test_hints_of_a_puzzle_are_counted(client: TestClient) -> None:
    view = create(client, {"game": "solitaire-chess", "players": ["person"], "puzzle": "beginner"})
    for stage in (1, 2):
        client.post(f"/api/plays/{view['id']}/hint", json={"stage": stage})
    assert client.get(f"/api/plays/{view['id']}").json()["about"]["hints"] == 2


def test_a_move_made_while_a_hint_is_sought_stays(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    view = create(client, {"game": "solitaire-chess", "players": ["person"], "puzzle": "beginner"})
    site: Any = client.app.state.site  # type: ignore[attr-defined]

    async def slow(*asked: Any) -> dict[str, Any]:
        play = site.store.load(view["id"])
        play.actions, play.cursor = [view["legal"][0]["action"]], 1
        site.store.save(play)
        return {"stuck": False, "hints": ["a", "b"], "cells": [[], []]}

    monkeypatch.setattr(site.helpers, "one", slow)
    client.post(f"/api/plays/{view['id']}/hint", json={"stage": 1})
    after = client.get(f"/api/plays/{view['id']}").json()
    assert (after["ply"], after["about"]["hints"]) == (1, 1)


def test_moves_are_numbered_as_people_do(client: TestClient) -> None:
    state = rookery.load("endgames").parse_state("8/8/8/2k5/8/8/3R4/K7 b - - 0 1")
    view = create(client, {"game": "endgames", "players": ["person", "person"], "position": str(state)})
    for name in ("Kb4", "Kb1", "Kc3"):
        view = move(client, view, name)
    assert [(row["turn"], row["player"]) for row in view["history"]] == [(1, 1), (2, 0), (2, 1)]
    view = create(client, {"game": "tenten", "variant": "3x3-three", "players": ["person"]})
    for _ in range(3):
        view = move(client, view, view["legal"][0]["name"])
    assert [row["turn"] for row in view["history"]] == [1, 2, 3]  # what chance draws is no turn


def test_a_film_shows_a_game(client: TestClient) -> None:
    frames = client.get("/api/games/solitaire-chess/film").json()["frames"]
    pieces = [frame.count("data-piece") for frame in frames]
    assert len(pieces) > 2
    assert pieces == sorted(pieces, reverse=True)
    assert pieces[-1] == 1
    assert client.get("/api/games/nothing/film").status_code == 400


# Without a server


@pytest.fixture
def monday(monkeypatch: pytest.MonkeyPatch) -> str:
    """Today is a Monday."""
    monkeypatch.setattr(review, "today", lambda: "2026-03-02")
    return "2026-03-02"


def test_the_puzzles_of_a_week_become_harder(monday: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = rookery.load("solitaire-chess")
    levels = game.puzzle_levels
    week = [review.daily(game, (date(2026, 2, 23) + timedelta(day)).isoformat()) for day in range(7)]
    places = [levels.index(level) for level, _ in week]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(levels) - 1)
    assert [seed for _, seed in week] == [*range(20260223, 20260229), 20260301]
    assert review.daily(game, monday) == (levels[0], 20260302)
    first = date(2026, 3, 2) - timedelta(review.ARCHIVE - 1)
    review.daily(game, first.isoformat())
    for day in ((first - timedelta(1)).isoformat(), "2026-03-03"):
        with pytest.raises(
            ValueError, match=f"the daily puzzles of {first} to 2026-03-02 can be played, not that of {day}"
        ):
            review.daily(game, day)
    with pytest.raises(ValueError, match="expected a day such as 2026-03-02, not 'yesterday'"):
        review.daily(game, "yesterday")
    with pytest.raises(ValueError, match="Checkers has no puzzles made by level"):
        review.daily(rookery.load("checkers"), monday)


def test_today_is_that_of_universal_time() -> None:
    assert review.today() in {(datetime.now(UTC) + timedelta(seconds=s)).date().isoformat() for s in (-5, 0)}


def test_the_archive_has_the_latest_days_first(monday: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = {"2026-03-01": {"seconds": 7, "id": "x"}, "2026-02-28": {"seconds": None, "id": "y"}}

    class Kept:
        def daily(self, visitor: str, game: str) -> dict[str, Any]:
            assert (visitor, game) == ("me", plays.daily_game())
            return begun

    kept: Any = Kept()
    found = review.archive(kept, "me")
    assert (len(found["days"]), found["days"][0]["day"], found["days"][1]["seconds"]) == (review.ARCHIVE, monday, 7)
    assert (found["streak"], found["today"]) == (1, monday)
    assert found["days"][-1]["day"] == (date(2026, 3, 2) - timedelta(review.ARCHIVE - 1)).isoformat()
    assert all("level" in row for row in found["days"])
    monkeypatch.setattr(plays, "daily_game", lambda: None)
    assert review.archive(kept, "me") == {"days": [], "streak": 0, "game": None, "today": monday}


def test_what_is_written_down_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kept:
        def best_score(self, play: Any) -> float:
            return 3.0

    kept: Any = Kept()

    def ended(game: str, position: str, players: list[str], variant: str | None = None) -> dict[str, Any]:
        now = plays.new_play(rookery.load(game, variant), variant, players, position, [], 1, {})
        now.play.created = 1000.0
        review.note_end(now, kept)
        about: dict[str, Any] = now.play.about
        return about

    monkeypatch.setattr(review, "time", SimpleNamespace(time=lambda: 1007.6))
    assert ended("solitaire-chess", "R.../..../..../....", ["person"])["seconds"] == 8
    assert "seconds" not in ended("solitaire-chess", "R.../..K./..../....", ["person"])
    assert ended("solitaire-chess", "R.../..../..../....", ["oracle"]) == {}
    assert ended("solitaire-chess", "R.../.B../..N./P...", ["person"]) == {}
    assert ended("checkers", "W:W:B1", ["person", "random"]) == {}
    points = ended("tenten", "#.#/.#./#.# 1x2", ["person"], "3x3-three")
    assert points == {"best_before": 3.0, "score": 0.0}
    monkeypatch.setattr(review, "time", SimpleNamespace(time=lambda: 1000.1))
    assert ended("solitaire-chess", "R.../..../..../....", ["person"])["seconds"] == 1, "at least one"


def test_whose_moves_are_reviewed() -> None:
    for players, whose in ((["person", "random"], [0]), (["random", "person"], [1]), (["random", "random"], [0, 1])):
        game = rookery.load("checkers")
        now = plays.new_play(game, None, players, str(game.initial_state()), [], 1, {})
        assert review.review_request(now)["whose"] == whose
