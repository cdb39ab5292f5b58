"""The addresses of the web page and what they answer.

Everything under `/api` speaks JSON; an error is `{"error": "one sentence"}` with a code of 400 or more. What may take
long is a stream of server-sent events, and ends when its reader goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import secrets
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from rookery import registry
from rookery.agents import Agent
from rookery.game import Game
from rookery.web import plays, reports, review
from rookery.web.events import EventStream, with_signs_of_life
from rookery.web.guard import BODY_SECONDS, LOOPBACK, Guard, TooLarge, TooSlow, cookies
from rookery.web.plays import Replay
from rookery.web.pool import Pool, TooLong
from rookery.web.runs import NoRun, Runs
from rookery.web.store import Play, Store

STATIC = Path(__file__).parent / "static"
VISITOR = "rookery_visitor"
"""The cookie that tells browsers apart: each has a list of games of its own. Whoever knows the address of a game can
enter it, so that a link shares it."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How to serve."""

    runs: Path = Path("runs")
    """Folder of training runs; the games are kept in it as `web.sqlite`."""
    reports: Path = Path("reports")
    """Folder that `rookery reproduce` writes to."""
    load: tuple[Path | str, ...] = ()
    """Python files with games, agents and methods of your own, and names of games and agents to offer."""
    token: str | None = None
    hosts: frozenset[str] = LOOPBACK
    think_seconds: float = 60.0
    """The longest an agent may think."""
    workers: int = 2
    """Agents that think at the same time."""
    max_streams: int = 64
    """Answers of agents that are under way at the same time; one visitor may have a quarter of them."""
    max_runs: int = 2
    """Runs at the same time."""


class Refused(Exception):
    """An answer with a code and a sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Fields:
    """The JSON object of a request, with every field checked when it is asked for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    @staticmethod
    async def of(request: Request) -> Fields:
        try:
            data = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(data, dict):
            raise Refused(400, "the body must be a JSON object")
        return Fields(data)

    def text(self, name: str, most: int = 200) -> str:
        value = self._data.get(name)
        if not isinstance(value, str) or len(value) > most or not value.isprintable():
            raise Refused(400, f"{name!r} must be a line of text of at most {most} characters")
        return value

    def lines(self, name: str, most: int = 200_000) -> str | None:
        """Longer text, or None."""
        value = self._data.get(name)
        if value is not None and (not isinstance(value, str) or len(value) > most):
            raise Refused(400, f"{name!r} must be text of at most {most} characters")
        return value

    def number(self, name: str, low: int, high: int, default: int | None = None) -> int:
        value = self._data.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise Refused(400, f"{name!r} must be a whole number from {low} to {high}")
        return value

    def texts(self, name: str, most: int) -> list[str]:
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) > most or not all(isinstance(v, str) for v in value):
            raise Refused(400, f"{name!r} must be a list of at most {most} texts")
        return value

    def table(self, name: str) -> dict[str, Any]:
        value = self._data.get(name, {})
        if not isinstance(value, dict):
            raise Refused(400, f"{name!r} must be an object")
        return value

    def changed(self, **values: Any) -> Fields:
        return Fields({**self._data, **values})

    def __contains__(self, name: str) -> bool:
        return self._data.get(name) is not None


class Site:
    """What the endpoints share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.runs / "web.sqlite")
        user_code = registry.user_code_names()
        self.thinkers = Pool(settings.workers, user_code)
        # Hints, verdicts and puzzles do not wait behind a search.
        self.helpers = Pool(1, user_code)
        self.runs = Runs(settings.runs, settings.max_runs)
        self.forms: list[Row] | None = None
        self.streams: Counter[str] = Counter()
        """Answers under way, by visitor."""
        self.thoughts: OrderedDict[str, Row] = OrderedDict()
        self.films: dict[str, asyncio.Task[list[str]]] = {}
        self.filming = asyncio.Semaphore(1)
        self.pick_nothing: set[tuple[str, str]] = set()
        """Games with their exact agents that take any start, so that they need not be asked."""

    async def close(self) -> None:
        for film in self.films.values():
            film.cancel()
        await self.runs.close()
        await self.thinkers.close()
        await self.helpers.close()
        self.store.close()

    def play(self, request: Request) -> Play:
        play = self.store.load(request.path_params["id"])
        if play is None:
            raise Refused(404, "there is no game with this id")
        return play

    def view(self, now: Replay) -> Row:
        return now.view(self.runs.trained(now.game))

    # Games

    async def games(self, request: Request) -> Response:
        runs = self.runs.found()
        games = plays.describe_games(lambda game: self.runs.trained(game, runs))
        return JSONResponse({"games": games, "today": review.today(), "daily": plays.daily_game()})

    async def recent(self, request: Request) -> Response:
        rows = []
        for play in self.store.recent(_visitor(request), 24):
            try:
                rows.append(Replay(play).card())
            except ValueError:
                continue  # of a game that is not loaded this time
        return JSONResponse({"plays": rows})

    async def create(self, request: Request) -> Response:
        fields = await Fields.of(request)
        players = fields.texts("players", 2)
        now = await self._begin(request, fields, players)
        trained = self.runs.trained(now.game)
        plays.check_players(players, now.game, now.state, trained)
        visitor = _visitor(request) or secrets.token_urlsafe(18)
        now.play.owner = visitor
        self.store.add(now.play)
        response = JSONResponse(now.view(trained), 201)
        response.set_cookie(VISITOR, visitor, httponly=True, samesite="strict", max_age=365 * 86400)
        return response

    async def _begin(self, request: Request, fields: Fields, players: list[str]) -> Replay:
        """The game that a request describes: from a puzzle, from a position, or from a start for a person."""
        game, variant = self._rules(fields)
        position = fields.lines("position")
        seed = fields.number("seed", 0, 2**53) if "seed" in fields else secrets.randbelow(2**53)
        about: Row = {}
        if "puzzle" in fields:
            level = fields.text("puzzle")
            if level == "daily":
                about["day"] = fields.text("day") if "day" in fields else review.today()
                level, seed = review.daily(game, about["day"])
            about["puzzle"] = level
            asked = {"task": "puzzle", "game": game.name, "level": level, "seed": seed % 2**31}
            made = await self.helpers.one(asked, 30, _asker(request))
            position, variant = made["start"], made["variant"]
            game = plays.rules(game.name, variant)
        if position:
            start, actions, _ = await asyncio.to_thread(plays.read_position, game, position)
        else:
            start, actions = await self._usual_start(game, variant, seed, _asker(request)), []
        return plays.new_play(game, variant, players, start, actions, seed, about)

    async def _usual_start(self, game: Game, variant: str | None, seed: int, asker: str) -> str:
        """A start for a person, picked by the agent that knows the exact values where there is one that does so."""
        exact = plays.exact_agent(game)
        if exact is None or (game.name, exact) in self.pick_nothing:
            start = await asyncio.to_thread(Agent().practice_start, game, random.Random(seed))
            return str(start)
        asked = {"task": "start", "agent": exact, "game": game.name, "variant": variant, "seed": seed}
        told = await self.helpers.one(asked, 30, asker)
        if not told["picked"]:
            self.pick_nothing.add((game.name, exact))
        return str(told["start"])

    async def warm(self) -> None:
        """Get ready, so that the first visitors wait no longer than others."""
        await asyncio.gather(self.helpers.warm(), self.thinkers.warm())
        for name, game in registry.GAMES.items():
            with contextlib.suppress(ValueError, TooLong):  # who asks for it is told
                await self._usual_start(plays.rules(name, game.play_variant), game.play_variant, 0, "")

    def _rules(self, fields: Fields) -> tuple[Game, str | None]:
        name = fields.text("game")
        variant = fields.text("variant") if "variant" in fields else None
        return plays.rules(name, variant), variant

    async def show(self, request: Request) -> Response:
        return JSONResponse(self.view(Replay(self.play(request))))

    async def delete(self, request: Request) -> Response:
        if self.play(request).owner != _visitor(request):
            raise Refused(403, "only who began a game can delete it")
        self.store.delete(request.path_params["id"])
        return JSONResponse({"deleted": True})

    async def move(self, request: Request) -> Response:
        fields = await Fields.of(request)
        play = self.play(request)
        self._check_ply(play, fields)
        now = Replay(play)
        player = now.state.player()
        if player >= 0 and play.players[player] != plays.PERSON:
            raise Refused(409, "it is the agent's turn")
        if now.resigned() is not None:
            raise Refused(409, "the game is over")
        now.act(fields.number("action", 0, 2**31 - 1))
        review.note_end(now, self.store)
        self.store.save(play)
        return JSONResponse(self.view(now))

    async def resign(self, request: Request) -> Response:
        now = Replay(self.play(request))
        now.resign()
        self.store.save(now.play)
        return JSONResponse(self.view(now))

    async def review(self, request: Request) -> Response:
        """What every move of a game was worth, move by move, and the worst ones."""
        now = Replay(self.play(request))
        if not now.named:
            raise Refused(409, "nothing was played yet")
        return self.stream(request, review.review_request(now), lambda row: {"event": "review"} | row)

    async def puzzles(self, request: Request) -> Response:
        """The archive of the daily puzzles, and how many were solved in a row."""
        return JSONResponse(review.archive(self.store, _visitor(request)))

    async def film(self, request: Request) -> Response:
        """Pictures of a game that is being played, for a list of games."""
        name = request.path_params["name"]
        game = plays.rules(name, None)
        if name not in self.films or (self.films[name].done() and self.films[name].exception()):
            self.films[name] = asyncio.create_task(self._make_film(game))
        return JSONResponse({"frames": await asyncio.shield(self.films[name])})

    async def _make_film(self, game: Game) -> list[str]:
        """Made once for all visitors, and one after the other, so that an agent is left for those who play."""
        async with self.filming:
            asked = {"task": "film", "game": game.name, "variant": game.play_variant}
            frames: list[str] = (await self.thinkers.one(asked, 30))["frames"]
            return frames

    async def goto(self, request: Request) -> Response:
        """Show another moment of the game."""
        fields = await Fields.of(request)
        play = self.play(request)
        now = Replay(play, fields.number("ply", 0, 10**6))
        self.store.save(play)
        return JSONResponse(self.view(now))

    async def seat(self, request: Request) -> Response:
        """Change who plays."""
        fields = await Fields.of(request)
        play = self.play(request)
        game = plays.rules(play.game, play.variant)
        players = fields.texts("players", 2)
        plays.check_players(players, game, Replay(play).state, self.runs.trained(game))
        play.players = players
        self.store.save(play)
        return JSONResponse(self.view(Replay(play)))

    async def record(self, request: Request) -> Response:
        """The game up to where it is shown, as people of the field write it down."""
        play = self.play(request)
        game = plays.rules(play.game, play.variant)
        date = datetime.fromtimestamp(play.created, UTC).date().isoformat()
        players = ["Person" if player == plays.PERSON else player for player in play.players]
        record = game.record(play.start, play.actions[: play.cursor], players, date)
        return JSONResponse({"text": record.text, "file": f"game.{record.extension}"})

    async def preview(self, request: Request) -> Response:
        """The game that `create` would begin, drawn, after a change by hand if one is asked for. Where the text is no
        position, `problem` says why; if it is a board, it is drawn all the same."""
        fields = await Fields.of(request)
        game, _ = self._rules(fields)
        shown: Row = {"pieces": game.pieces()}
        try:
            if "piece" in fields:
                text = fields.lines("position") or str(game.initial_state())
                cell, piece = fields.number("cell", 0, 10_000), fields.text("piece")
                text = await asyncio.to_thread(plays.with_piece, game, text, cell, piece)
                fields = fields.changed(position=text)
            state = (await self._begin(request, fields, [])).state
        except ValueError as error:  # nothing wrong with the request: the position is still being made
            shown["problem"] = " ".join(str(error).split())[:500]
            with contextlib.suppress(ValueError):
                text = (fields.lines("position") or "").strip()
                shown |= {"svg": game.sketch(text), "position": text}
            return JSONResponse(shown)
        agents = plays.offered_agents(state, self.runs.trained(state.game))
        shown |= {"position": str(state), "svg": state.svg(), "moves": len(state.legal_actions()), "agents": agents}
        shown["opponents"] = plays.opponents(state)
        return JSONResponse(shown)

    def _check_ply(self, play: Play, fields: Fields) -> None:
        if fields.number("ply", 0, 10**6, play.cursor) != play.cursor:
            raise Refused(409, "the game has moved on since; reload it")

    # Agents

    def _agent(self, name: str, play: Play) -> Row:
        """The agent as a worker is asked for it. The folder of a run comes from here, never from a request."""
        game = plays.rules(play.game, play.variant)
        trained = self.runs.trained(game)
        plays.check_agent(name, game, trained)
        if name not in trained:
            return {"agent": name}
        made = trained[name]
        return {
            "agent": name, "trained": {"method": made.method, "folder": str(made.folder), "seconds": made.seconds},
        }  # fmt: skip

    async def reply(self, request: Request) -> Response:
        """The agent whose turn it is thinks and plays."""
        play = self.play(request)
        now = Replay(play)
        if now.result() is not None:
            raise Refused(409, "the game is over")
        agent = play.players[now.state.player()]
        if agent == plays.PERSON:
            raise Refused(409, "it is the person's turn")
        asked = {"task": "choose", "seed": f"{play.seed} {play.cursor}"} | self._agent(agent, play) | _position(play)

        def finish(row: Row) -> Row:
            stored = self.store.load(play.id)
            if stored is None or (stored.actions, stored.cursor) != (play.actions, play.cursor):
                raise Refused(409, "the game has moved on since")
            play.players = stored.players
            now.act(row["action"])
            self.store.save(play)
            return {"event": "view", "view": self.view(now)}

        return self.stream(request, asked, finish)

    async def think(self, request: Request) -> Response:
        """What an agent thinks of every move, and why."""
        fields = await Fields.of(request)
        play = self.play(request)
        agent = fields.text("agent")
        asked = {"task": "explain"} | self._agent(agent, play) | _position(play)
        key = json.dumps(asked)
        known = self.thoughts.get(key)
        if known is not None:
            self.thoughts.move_to_end(key)

        def finish(row: Row) -> Row:
            if row["final"]:
                self.thoughts[key] = row
                while len(self.thoughts) > 500:
                    self.thoughts.popitem(last=False)
            return {"event": "thought", "ply": play.cursor} | row

        return self.stream(request, asked, finish, known)

    async def hint(self, request: Request) -> Response:
        fields = await Fields.of(request)
        stage = fields.number("stage", 1, 3)
        play = self.play(request)
        told = await self.helpers.one({"task": "hint"} | _position(play), 20, _asker(request))
        now = self.store.load(play.id)  # a move may have been made meanwhile
        if now and "puzzle" in now.about:
            now.about["hints"] = now.about.get("hints", 0) + 1
            self.store.save(now)
        shown = min(stage, len(told["hints"]))
        return JSONResponse({"stuck": told["stuck"], "hints": told["hints"][:shown], "cells": told["cells"][shown - 1]})

    async def judge(self, request: Request) -> Response:
        """What the exact answer says about the action that led to a ply."""
        fields = await Fields.of(request)
        play = self.play(request)
        ply = fields.number("ply", 1, 10**6)
        if ply > len(play.actions):
            raise Refused(400, f"the game has {len(play.actions)} actions only")
        asked = {"task": "judge"} | _position(play) | {"actions": play.actions[:ply]}
        try:
            return JSONResponse(await self.helpers.one(asked, self.settings.think_seconds, _asker(request)))
        except ValueError as error:  # nothing wrong with the request: nobody knows
            return JSONResponse({"verdict": None, "text": str(error)})

    # Runs and reports

    async def list_runs(self, request: Request) -> Response:
        if self.forms is None:
            self.forms = (await self.helpers.one({"task": "forms"}, 60))["forms"]
        return JSONResponse({"runs": self.runs.rows(), "forms": self.forms})

    async def start_run(self, request: Request) -> Response:
        fields = await Fields.of(request)
        game, variant = self._rules(fields)
        asked = {
            "game": game.name,
            "variant": variant,
            "method": fields.text("method"),
            "preset": fields.text("preset") if "preset" in fields else None,
            "settings": fields.table("settings"),
            "seed": fields.number("seed", 0, 2**53, 0),
        }
        plan = await self.helpers.one({"task": "plan", "asked": asked}, 60)
        return JSONResponse({"id": self.runs.start(plan)}, 201)

    async def show_run(self, request: Request) -> Response:
        return JSONResponse(self.runs.show(request.path_params["id"]))

    async def stop_run(self, request: Request) -> Response:
        await self.runs.stop(request.path_params["id"])
        return JSONResponse({"stopping": True})

    async def resume_run(self, request: Request) -> Response:
        self.runs.resume(request.path_params["id"])
        return JSONResponse({"resumed": True})

    async def list_reports(self, request: Request) -> Response:
        return JSONResponse({"reports": reports.found(self.settings.reports)})

    async def address(self, request: Request) -> Response:
        """What a link needs so that others can open it: the token, where there is one. Who asks has it already."""
        return JSONResponse({"query": f"?token={self.settings.token}" if self.settings.token else ""})

    async def show_report(self, request: Request) -> Response:
        page = reports.page(self.settings.reports, request.path_params["id"])
        if page is None:
            raise Refused(404, "there is no report with this id")
        headers = {"content-security-policy": reports.POLICY}
        return Response(page, media_type="text/html; charset=utf-8", headers=headers)

    def stream(self, request: Request, asked: Row, finish: Callable[[Row], Row], known: Row | None = None) -> Response:
        """The answer of a worker as server-sent events, with a sign of life twice a second."""
        visitor = _asker(request)
        most = self.settings.max_streams
        if self.streams.total() >= most:
            raise Refused(503, f"{most} agents are asked already; try again in a moment")
        if self.streams[visitor] >= max(1, most // 4):
            raise Refused(429, f"you have asked {self.streams[visitor]} agents already; wait until some have answered")

        async def rows() -> AsyncGenerator[Row, None]:
            try:
                if known is not None:
                    yield finish(known)
                    return
                answer = with_signs_of_life(self.thinkers.ask(asked, self.settings.think_seconds, visitor))
                async with contextlib.aclosing(answer):
                    async for row in answer:
                        if "error" in row:
                            yield {"event": "failed", "error": row["error"]}
                        elif "waiting" in row:
                            yield {"event": "waiting", "seconds": row["waiting"]}
                        elif "done" not in row:
                            yield finish(row)
            except (Refused, ValueError) as error:
                yield {"event": "failed", "error": str(error)}
            except TooLong as error:
                yield {"event": "failed", "error": f"stopped: {error}"}

        def ended() -> None:
            self.streams[visitor] -= 1
            if not self.streams[visitor]:
                del self.streams[visitor]

        self.streams[visitor] += 1  # now, and not when the answer begins: many may be asked at once
        return EventStream(rows(), ended)


def _position(play: Play) -> Row:
    return {
        "game": play.game, "variant": play.variant, "start": play.start, "actions": play.actions[: play.cursor],
    }  # fmt: skip


def _visitor(request: Request) -> str:
    """The id that the browser was given with its first game; nothing if it has none."""
    return next((value for value in cookies(request.headers, VISITOR) if 16 <= len(value) <= 64), "")


def _asker(request: Request) -> str:
    """Who shares the agents with others: the visitor, or the machine a request came from."""
    return _visitor(request) or (request.client.host if request.client else "")


Endpoint = Callable[[Request], Awaitable[Response]]


async def _page(request: Request) -> Response:
    return Response((STATIC / "index.html").read_bytes(), media_type="text/html; charset=utf-8")


def _sentence(code: int) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": " ".join(str(error).split())[:500] or "refused"}, getattr(error, "code", code))

    return handler


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return JSONResponse({"error": sentences.get(error.status_code, error.detail)}, error.status_code)


async def _no_run(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no run with this id"}, 404)


async def _too_large(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the body is too large"}, 413)


async def _too_slow(request: Request, error: Exception) -> Response:
    sentence = f"the body did not come within {BODY_SECONDS:g} seconds"
    return JSONResponse({"error": sentence}, 408, {"connection": "close"})


async def _defect(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "something went wrong here; the server's log says what"}, 500)


def create_app(settings: Settings) -> Starlette:
    """The whole application."""
    for name in settings.load:
        registry.register_name(name)
    plays.load_games()
    site = Site(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await site.warm()
        yield
        await site.close()

    def api(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
        return Route(f"/api{path}", endpoint, methods=[method])

    routes = [
        Route("/", _page),
        api("/games", site.games),
        api("/games/{name}/film", site.film),
        api("/puzzles", site.puzzles),
        api("/plays", site.recent),
        api("/plays", site.create, "POST"),
        api("/plays/{id}", site.show),
        api("/plays/{id}", site.delete, "DELETE"),
        api("/plays/{id}/move", site.move, "POST"),
        api("/plays/{id}/goto", site.goto, "POST"),
        api("/plays/{id}/players", site.seat, "POST"),
        api("/plays/{id}/reply", site.reply, "POST"),
        api("/plays/{id}/think", site.think, "POST"),
        api("/plays/{id}/hint", site.hint, "POST"),
        api("/plays/{id}/judge", site.judge, "POST"),
        api("/plays/{id}/resign", site.resign, "POST"),
        api("/plays/{id}/review", site.review, "POST"),
        api("/plays/{id}/record", site.record),
        api("/preview", site.preview, "POST"),
        api("/runs", site.list_runs),
        api("/runs", site.start_run, "POST"),
        api("/runs/{id}", site.show_run),
        api("/runs/{id}/stop", site.stop_run, "POST"),
        api("/runs/{id}/resume", site.resume_run, "POST"),
        api("/reports", site.list_reports),
        api("/address", site.address),
        Route("/reports/{id}", site.show_report),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, token=settings.token, hosts=settings.hosts)],
        exception_handlers={
            Refused: _sentence(400), ValueError: _sentence(400), TooLong: _sentence(504), TooLarge: _too_large,
            TooSlow: _too_slow, NoRun: _no_run,
            HTTPException: _http_error, Exception: _defect,
        },
    )  # fmt: skip
    app.state.site = site
    return app
