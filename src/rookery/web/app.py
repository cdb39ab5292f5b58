"""The addresses of the web page and what they answer.

Everything under `/api` speaks JSON, described by the OpenAPI document at `/api/openapi.json`; an error is
`{"error": "one sentence"}` with a code of 400 or more. What may take long is a stream of server-sent events, and ends
when its reader goes away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import secrets
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from rookery import registry
from rookery.agents import Agent
from rookery.game import Game
from rookery.web import models, plays, reports, review
from rookery.web.events import EventStream, with_signs_of_life
from rookery.web.guard import LOOPBACK, Guard, cookies
from rookery.web.plays import Replay
from rookery.web.pool import Pool, TooLong
from rookery.web.runs import NoRun, Runs
from rookery.web.store import Play, Store

VERSION = "1.0.0"
"""The version of the API: the first number grows when what worked before may fail, the second with additions."""
EXPERIMENT_SECONDS = 10.0
"""The longest that an experiment of a page about a paper may take."""
STATIC = Path(__file__).parent / "static"
VISITOR = "rookery_visitor"
"""The cookie that tells browsers apart: each has a list of games of its own. Whoever knows the address of a game can
enter it, so that a link shares it."""
Row = dict[str, Any]
Endpoint = Callable[..., Awaitable[Any]]


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
        self.lessons: OrderedDict[str, Row] = OrderedDict()
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

    def play(self, play_id: str) -> Play:
        play = self.store.load(play_id)
        if play is None:
            raise Refused(404, "there is no game with this id")
        return play

    def view(self, now: Replay) -> Row:
        return now.view(self.runs.trained(now.game))

    # Games

    async def games(self) -> Row:
        """Every game, with the agents that play it."""
        runs = self.runs.found()
        games = plays.describe_games(lambda game: self.runs.trained(game, runs))
        return {"games": games, "today": review.today(), "daily": plays.daily_game()}

    async def recent(self, request: Request) -> Row:
        """The visitor's games in progress."""
        rows = []
        for play in self.store.recent(_visitor(request), 24):
            try:
                rows.append(Replay(play).card())
            except ValueError:
                continue  # of a game that is not loaded this time
        return {"plays": rows}

    async def create(self, request: Request, response: Response, body: models.NewPlay) -> Row:
        """Begin a game."""
        now = await self._begin(request, body, body.players)
        trained = self.runs.trained(now.game)
        plays.check_players(body.players, now.game, now.state, trained)
        visitor = _visitor(request) or secrets.token_urlsafe(18)
        now.play.owner = visitor
        self.store.add(now.play)
        response.set_cookie(VISITOR, visitor, httponly=True, samesite="strict", max_age=365 * 86400)
        return now.view(trained)

    async def _begin(self, request: Request, body: models.Start, players: list[str]) -> Replay:
        """The game that a request describes: from a puzzle, from a position, or from a start for a person."""
        game, variant, position = plays.rules(body.game, body.variant), body.variant, body.position
        seed = secrets.randbelow(2**53) if body.seed is None else body.seed
        about: Row = {}
        if body.puzzle is not None:
            level = body.puzzle
            if level == "daily":
                about["day"] = review.today() if body.day is None else body.day
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

    async def show(self, play_id: str) -> Row:
        """A game in progress."""
        return self.view(Replay(self.play(play_id)))

    async def delete(self, request: Request, play_id: str) -> Row:
        """Delete a game that the visitor has begun."""
        if self.play(play_id).owner != _visitor(request):
            raise Refused(403, "only who began a game can delete it")
        self.store.delete(play_id)
        return {"deleted": True}

    async def move(self, play_id: str, body: models.Move) -> Row:
        """Play a move of a person, and what chance draws after it."""
        play = self.play(play_id)
        if body.ply not in (None, play.cursor):
            raise Refused(409, "the game has moved on since; reload it")
        now = Replay(play)
        player = now.state.player()
        if player >= 0 and play.players[player] != plays.PERSON:
            raise Refused(409, "it is the agent's turn")
        if now.resigned() is not None:
            raise Refused(409, "the game is over")
        now.act(body.action)
        review.note_end(now, self.store)
        self.store.save(play)
        return self.view(now)

    async def resign(self, play_id: str) -> Row:
        """Give up a game for two."""
        now = Replay(self.play(play_id))
        now.resign()
        self.store.save(now.play)
        return self.view(now)

    async def review(self, request: Request, play_id: str) -> Response:
        """What every move of a game was worth: an event `review` per move, and a last one with the worst moves."""
        now = Replay(self.play(play_id))
        if not now.named:
            raise Refused(409, "nothing was played yet")
        return self.stream(request, review.review_request(now), lambda row: {"event": "review"} | row)

    async def puzzles(self, request: Request) -> Row:
        """The archive of the daily puzzles, and how many were solved in a row."""
        return review.archive(self.store, _visitor(request))

    async def film(self, request: Request, game: str) -> Row:
        """Pictures of a game that is being played, for a list of games."""
        rules = plays.rules(game, None)
        if game not in self.films or (self.films[game].done() and self.films[game].exception()):
            self.films[game] = asyncio.create_task(self._make_film(rules))
        return {"frames": await asyncio.shield(self.films[game])}

    async def _make_film(self, game: Game) -> list[str]:
        """Made once for all visitors, and one after the other, so that an agent is left for those who play."""
        async with self.filming:
            asked = {"task": "film", "game": game.name, "variant": game.play_variant}
            frames: list[str] = (await self.thinkers.one(asked, 30))["frames"]
            return frames

    async def goto(self, play_id: str, body: models.Goto) -> Row:
        """Show another moment of the game."""
        play = self.play(play_id)
        now = Replay(play, body.ply)
        self.store.save(play)
        return self.view(now)

    async def seat(self, play_id: str, body: models.Seats) -> Row:
        """Change who plays."""
        play = self.play(play_id)
        game = plays.rules(play.game, play.variant)
        plays.check_players(body.players, game, Replay(play).state, self.runs.trained(game))
        play.players = body.players
        self.store.save(play)
        return self.view(Replay(play))

    async def record(self, play_id: str) -> Row:
        """The game up to where it is shown, as people of the field write it down."""
        play = self.play(play_id)
        game = plays.rules(play.game, play.variant)
        date = datetime.fromtimestamp(play.created, UTC).date().isoformat()
        players = ["Person" if player == plays.PERSON else player for player in play.players]
        record = game.record(play.start, play.actions[: play.cursor], players, date)
        return {"text": record.text, "file": f"game.{record.extension}"}

    async def preview(self, request: Request, body: models.Edit) -> Row:
        """The game that `create` would begin, drawn, after a change by hand if one is asked for. Where the text is no
        position, `problem` says why; if it is a board, it is drawn all the same."""
        game = plays.rules(body.game, body.variant)
        shown: Row = {"pieces": game.pieces()}
        try:
            if body.piece is not None:
                text = body.position or str(game.initial_state())
                body.position = await asyncio.to_thread(plays.with_piece, game, text, body.cell, body.piece)
            state = (await self._begin(request, body, [])).state
        except ValueError as error:  # nothing wrong with the request: the position is still being made
            shown["problem"] = " ".join(str(error).split())[:500]
            with contextlib.suppress(ValueError):
                text = (body.position or "").strip()
                shown |= {"svg": game.sketch(text), "position": text}
            return shown
        agents = plays.offered_agents(state, self.runs.trained(state.game))
        return shown | {
            "position": str(state), "svg": state.svg(), "moves": len(state.legal_actions()), "agents": agents,
            "opponents": plays.opponents(state),
        }  # fmt: skip

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

    async def reply(self, request: Request, play_id: str) -> Response:
        """The agent whose turn it is thinks and plays: events `waiting` with the seconds so far, then `view` with the
        game, or `failed` with the error."""
        play = self.play(play_id)
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

    async def think(self, request: Request, play_id: str, body: models.Think) -> Response:
        """What an agent thinks of every move, and why: events `waiting` with the seconds so far, `thought` with what it
        has found, the last of them final, or `failed` with the error."""
        play = self.play(play_id)
        asked = {"task": "explain"} | self._agent(body.agent, play) | _position(play)
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

    async def hint(self, request: Request, play_id: str, body: models.AskHint) -> Row:
        """Help with the next move."""
        play = self.play(play_id)
        told = await self.helpers.one({"task": "hint"} | _position(play), 20, _asker(request))
        now = self.store.load(play.id)  # a move may have been made meanwhile
        if now and "puzzle" in now.about:
            now.about["hints"] = now.about.get("hints", 0) + 1
            self.store.save(now)
        shown = min(body.stage, len(told["hints"]))
        return {"stuck": told["stuck"], "hints": told["hints"][:shown], "cells": told["cells"][shown - 1]}

    async def judge(self, request: Request, play_id: str, body: models.AskVerdict) -> Row:
        """What the exact answer says about the action that led to a ply."""
        play = self.play(play_id)
        if body.ply > len(play.actions):
            raise Refused(400, f"the game has {len(play.actions)} actions only")
        asked = {"task": "judge"} | _position(play) | {"actions": play.actions[: body.ply]}
        try:
            return await self.helpers.one(asked, self.settings.think_seconds, _asker(request))
        except ValueError as error:  # nothing wrong with the request: nobody knows
            return {"verdict": None, "text": str(error)}

    # Runs and reports

    async def list_runs(self) -> Row:
        """All training runs, and what can be trained."""
        if self.forms is None:
            self.forms = (await self.helpers.one({"task": "forms"}, 60))["forms"]
        return {"runs": self.runs.rows(), "forms": self.forms}

    async def start_run(self, body: models.NewRun) -> Row:
        """Start a training run."""
        plays.rules(body.game, body.variant)
        plan = await self.helpers.one({"task": "plan", "asked": body.model_dump()}, 60)
        return {"id": self.runs.start(plan)}

    async def show_run(self, run_id: str) -> Row:
        """A training run with its metrics so far."""
        return self.runs.show(run_id)

    async def stop_run(self, run_id: str) -> Row:
        """Ask a run to end, keeping what it has."""
        await self.runs.stop(run_id)
        return {"stopping": True}

    async def resume_run(self, run_id: str) -> Row:
        """Resume a run that was stopped or has failed."""
        self.runs.resume(run_id)
        return {"resumed": True}

    # Pages about papers

    async def list_lessons(self) -> Row:
        """The pages about papers."""
        return await self._lesson({"task": "lessons"}, "")

    async def show_lesson(self, request: Request, lesson: str) -> Row:
        """A page about a paper: its story, what was found, and experiments with their settings. The first of them
        remakes the key figure."""
        return await self._lesson({"task": "lesson", "lesson": await self._known(lesson)}, _asker(request))

    async def experiment(self, request: Request, lesson: str, experiment: str, body: models.Trial) -> Row:
        """Run an experiment, which takes seconds; what was run before is remembered."""
        asked = {"task": "experiment", "lesson": await self._known(lesson), "experiment": experiment}
        return await self._lesson(asked | {"settings": body.settings}, _asker(request))

    async def _known(self, lesson: str) -> str:
        if lesson not in (row["name"] for row in (await self.list_lessons())["lessons"]):
            raise Refused(404, "there is no page about such a paper")
        return lesson

    async def _lesson(self, asked: Row, asker: str) -> Row:
        """The answer of a worker, remembered."""
        key = json.dumps(asked, sort_keys=True)
        if key not in self.lessons:
            self.lessons[key] = await self.thinkers.one(asked, EXPERIMENT_SECONDS, asker)
            while len(self.lessons) > 100:
                self.lessons.popitem(last=False)
        self.lessons.move_to_end(key)
        return self.lessons[key]

    async def list_reports(self) -> Row:
        """The reports that `rookery reproduce` wrote."""
        return {"reports": reports.found(self.settings.reports)}

    async def address(self) -> Row:
        """What a link needs so that others can open it: the token, where there is one. Who asks has it already."""
        return {"query": f"?token={self.settings.token}" if self.settings.token else ""}

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


async def _page(request: Request) -> Response:
    return Response((STATIC / "index.html").read_bytes(), media_type="text/html; charset=utf-8")


def _sentence(code: int) -> Callable[[Request, Exception], Coroutine[Any, Any, Response]]:
    async def handler(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": " ".join(str(error).split())[:500] or "refused"}, getattr(error, "code", code))

    return handler


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {404: "there is nothing at this address", 405: "this address does not take that method"}
    sentence = sentences.get(error.status_code, error.detail)
    return JSONResponse({"error": sentence}, error.status_code, error.headers)


async def _wrong_body(request: Request, error: Exception) -> Response:
    """The first thing that is wrong with a body, as a sentence."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    names = [str(part) for part in first["loc"][1:]]
    if first["type"] == "json_invalid":
        sentence = "the body is not JSON"
    elif not names:
        sentence = "the body must be a JSON object"
    else:
        known = {"missing": "is missing", "extra_forbidden": "is not a field of this request"}
        wrong = re.sub("^[A-Z][a-z]+ should ", "must ", first["msg"])
        sentence = f"{'.'.join(names)[:80]!r} {known.get(first['type'], wrong)}"
    return JSONResponse({"error": sentence}, 400)


async def _no_run(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no run with this id"}, 404)


async def _defect(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "something went wrong here; the server's log says what"}, 500)


def create_app(settings: Settings) -> FastAPI:
    """The whole application."""
    for name in settings.load:
        registry.register_name(name)
    plays.load_games()
    site = Site(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await site.warm()
        yield
        await site.close()

    app = FastAPI(
        title="Rookery",
        description="The web page's own API: play games, ask agents, train them.",
        version=VERSION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        middleware=[Middleware(Guard, token=settings.token, hosts=settings.hosts)],
        exception_handlers={
            Refused: _sentence(400), ValueError: _sentence(400), TooLong: _sentence(504), NoRun: _no_run,
            RequestValidationError: _wrong_body, HTTPException: _http_error, Exception: _defect,
        },
    )  # fmt: skip
    refusals: dict[int | str, Row] = {
        "4XX": {"model": models.Error, "description": "Refused"},
        "5XX": {"model": models.Error, "description": "Busy, too slow, or a defect"},
    }
    streams: list[tuple[str, type[models.Model]]] = []

    def api(path: str, endpoint: Endpoint, method: str = "GET", answer: type | None = None, code: int = 200) -> None:
        """Add an address; `answer` is the type of what it answers."""
        app.add_api_route(
            f"/api{path}", endpoint, methods=[method], response_model=answer, status_code=code, responses=refusals,
            response_class=JSONResponse, response_model_exclude_unset=True, operation_id=endpoint.__name__,
        )  # fmt: skip

    def stream(path: str, endpoint: Endpoint, event: type[models.Model]) -> None:
        """Add an address that answers with a stream of events, this kind and those of every stream."""
        api(path, endpoint, "POST")
        streams.append((f"/api{path}", event))

    api("/games", site.games, "GET", models.Games)
    api("/games/{game}/film", site.film, "GET", models.Film)
    api("/puzzles", site.puzzles, "GET", models.Archive)
    api("/plays", site.recent, "GET", models.Cards)
    api("/plays", site.create, "POST", models.View, 201)
    api("/plays/{play_id}", site.show, "GET", models.View)
    api("/plays/{play_id}", site.delete, "DELETE", models.Deleted)
    api("/plays/{play_id}/move", site.move, "POST", models.View)
    api("/plays/{play_id}/goto", site.goto, "POST", models.View)
    api("/plays/{play_id}/players", site.seat, "POST", models.View)
    stream("/plays/{play_id}/reply", site.reply, models.Played)
    stream("/plays/{play_id}/think", site.think, models.Thought)
    api("/plays/{play_id}/hint", site.hint, "POST", models.Hint)
    api("/plays/{play_id}/judge", site.judge, "POST", models.Verdict)
    api("/plays/{play_id}/resign", site.resign, "POST", models.View)
    stream("/plays/{play_id}/review", site.review, models.Reviewed)
    api("/plays/{play_id}/record", site.record, "GET", models.Record)
    api("/preview", site.preview, "POST", models.Preview)
    api("/runs", site.list_runs, "GET", models.Runs)
    api("/runs", site.start_run, "POST", models.Started, 201)
    api("/runs/{run_id}", site.show_run, "GET", models.RunDetails)
    api("/runs/{run_id}/stop", site.stop_run, "POST", models.Stopping)
    api("/runs/{run_id}/resume", site.resume_run, "POST", models.Resumed)
    api("/learn", site.list_lessons, "GET", models.Lessons)
    api("/learn/{lesson}", site.show_lesson, "GET", models.Lesson)
    api("/learn/{lesson}/{experiment}", site.experiment, "POST", models.Outcome)
    api("/reports", site.list_reports, "GET", models.Reports)
    api("/address", site.address, "GET", models.Address)
    app.add_route("/", _page)
    app.add_route("/reports/{id}", site.show_report)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.state.site = site
    document = app.openapi()
    for path, event in streams:
        content, schemas = models.stream(event)
        document["paths"][path]["post"]["responses"]["200"]["content"] = content
        document["components"]["schemas"] |= schemas
    return app
