"""Streams of events, the pool of workers behind them, the process that trains, and the reports: without a server."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from rookery.run import Run
from rookery.web import models, reports, trainer
from rookery.web.events import EventStream, with_signs_of_life
from rookery.web.pool import Pool, TooLong, Worker

Row = dict[str, Any]


def run(task: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(task, 30))


# Events


async def listed(rows: AsyncGenerator[Row, None]) -> list[Row]:
    return [row async for row in rows]


def test_rows_become_events_and_the_end_is_told() -> None:
    async def all_rows() -> AsyncGenerator[Row, None]:
        yield {"a": 1}
        yield {"b": "é\n"}

    sent: list[Any] = []
    ended: list[bool] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.sleep(60)

    run(EventStream(all_rows(), lambda: ended.append(True))({}, receive, send))
    assert sent[0]["status"] == 200
    heads = dict(sent[0]["headers"])
    assert b"content-length" not in heads
    assert heads[b"content-type"].startswith(b"text/event-stream")
    bodies = [message["body"] for message in sent[1:]]
    assert b"".join(bodies) == b'data: {"a": 1}\n\ndata: {"b": "\\u00e9\\n"}\n\n'
    assert [message["more_body"] for message in sent[1:]] == [True, True, False]
    assert ended == [True]


def test_a_reader_that_goes_away_ends_the_work() -> None:
    closed: list[bool] = []
    ended: list[bool] = []

    async def endless() -> AsyncGenerator[Row, None]:
        try:
            while True:
                yield {}
                await asyncio.sleep(0.01)
        finally:
            closed.append(True)

    said = iter([{"type": "http.request"}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        await asyncio.sleep(0.03)
        return next(said)

    async def send(message: Any) -> None:
        pass

    run(EventStream(endless(), lambda: ended.append(True))({}, receive, send))
    assert closed == ended == [True]


def test_a_defect_in_a_stream_is_raised() -> None:
    async def broken() -> AsyncGenerator[Row, None]:
        yield {}
        raise RuntimeError("broken")

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        pass

    ended: list[bool] = []
    with pytest.raises(RuntimeError, match="broken"):
        run(EventStream(broken(), lambda: ended.append(True))({}, receive, send))
    assert ended == [True]


def test_signs_of_life_come_while_nothing_else_does() -> None:
    async def slow() -> AsyncGenerator[Row, None]:
        yield {"row": 1}
        await asyncio.sleep(0.35)
        yield {"row": 2}

    rows = run(listed(with_signs_of_life(slow(), 0.1)))
    assert rows[0] == {"row": 1}
    assert rows[-1] == {"row": 2}
    waited = [row["waiting"] for row in rows[1:-1]]
    assert 1 <= len(waited) <= 4
    assert waited == sorted(waited)
    assert 0.1 <= waited[0] < 5
    closed: list[bool] = []

    async def endless() -> AsyncGenerator[Row, None]:
        try:
            await asyncio.sleep(60)
            yield {}
        finally:
            closed.append(True)

    async def leave() -> None:
        stream = with_signs_of_life(endless(), 0.01)
        assert "waiting" in await anext(stream)
        await stream.aclose()

    run(leave())
    assert closed == [True]


# The pool


class Puppet(Worker):
    """A worker that answers by the request: rows after some seconds, nothing at all, or its end."""

    def __init__(self, number: int) -> None:
        self.number, self.killed = number, False
        self.process: Any = SimpleNamespace(returncode=None, pid=-1)
        self.answers: list[Row | None] = []

    async def send(self, request: Row) -> None:
        self.answers = list(request["answers"])

    async def receive(self) -> Row:
        if not self.answers:
            await asyncio.sleep(60)
        row = self.answers.pop(0)
        if row is None:
            raise ConnectionError("the worker ended")
        if "sleep" in row:
            await asyncio.sleep(row["sleep"])
        return row | {"worker": self.number}

    async def kill(self) -> None:
        self.killed = True
        self.process.returncode = -9


@pytest.fixture
def puppets(monkeypatch: pytest.MonkeyPatch) -> list[Puppet]:
    made: list[Puppet] = []

    async def start(user_code: Any) -> Worker:
        made.append(Puppet(len(made)))
        return made[-1]

    monkeypatch.setattr(Worker, "start", staticmethod(start))
    return made


def test_one_answer(puppets: list[Puppet]) -> None:
    async def scene() -> None:
        pool = Pool(1)
        request = {"answers": [{"value": 7}, {"done": True}]}
        assert await pool.one(request, 5) == {"value": 7, "worker": 0}
        assert await pool.one(request, 5) == {"value": 7, "worker": 0}, "the same worker again"
        with pytest.raises(ValueError, match="it is Monday"):
            await pool.one({"answers": [{"error": "it is Monday"}]}, 5)
        assert (len(puppets), puppets[0].killed) == (1, False)
        rows = await listed(pool.ask({"answers": [{"a": 1}, None]}, 5))
        assert rows[-1] == {"error": "the process that was thinking ended unexpectedly; ask again"}
        assert puppets[0].killed
        assert await pool.one(request, 5) == {"value": 7, "worker": 1}
        puppets[1].process.returncode = 1  # it ended while nobody looked
        assert await pool.one(request, 5) == {"value": 7, "worker": 2}
        await pool.close()
        assert puppets[2].killed

    run(scene())


def test_time_is_counted_from_the_beginning_of_the_work(puppets: list[Puppet]) -> None:
    async def scene() -> None:
        pool = Pool(1)
        with pytest.raises(TooLong, match=r"no answer within 0\.1 seconds"):
            await pool.one({"answers": []}, 0.1)
        assert puppets[0].killed
        slow = {"answers": [{"sleep": 0.6}, {"done": True}]}
        both = await asyncio.gather(pool.one(slow, 1.1), pool.one(slow, 1.1))
        assert [row["worker"] for row in both] == [1, 1], "who waited for others has as long to think"
        first = asyncio.ensure_future(pool.one({"answers": [{"sleep": 0.5}, {"done": True}]}, 5))
        await asyncio.sleep(0)
        with pytest.raises(TooLong, match=r"every agent is busy, and none was free within 0\.1 seconds"):
            await pool.one(slow, 0.1)
        assert (await first)["worker"] == 1

    run(scene())


def test_visitors_take_turns_and_who_gave_up_is_passed_over(puppets: list[Puppet]) -> None:
    async def scene() -> None:
        pool, order = Pool(1), list[str]()

        async def ask(visitor: str, name: str) -> None:
            await pool.one({"answers": [{"sleep": 0.05}, {"done": True}]}, 20, visitor)
            order.append(name)

        names = ["a1", "a2", "a3", "b1", "b2", "c1"]
        tasks = {name: asyncio.ensure_future(ask(name[0], name)) for name in names}
        await asyncio.sleep(0.01)
        tasks["b2"].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert order == ["a1", "a2", "b1", "c1", "a3"]
        assert len(puppets) == 1
        assert len(pool._idle) == 1

    run(scene())


def test_a_worker_that_comes_as_its_reader_leaves_is_not_lost(puppets: list[Puppet]) -> None:
    async def scene() -> None:
        pool = Pool(1)
        taken = await pool._take("a")
        waiting = asyncio.ensure_future(pool._take("b"))
        await asyncio.sleep(0)
        pool._release(taken)
        waiting.cancel()  # in the same moment
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert pool._idle == [taken]

    run(scene())


def test_all_workers_are_started_before_they_are_needed(puppets: list[Puppet]) -> None:
    async def ready(worker: Worker) -> None:
        asked.append(worker)

    asked: list[Worker] = []

    async def scene() -> None:
        pool = Pool(3)
        pool._ready = ready  # type: ignore[method-assign]
        await pool.warm()
        assert (len(puppets), asked, len(pool._idle)) == (3, puppets, 3)
        await pool.warm()
        assert len(puppets) == 3
        with_two = await listed(pool.ask({"answers": [{"done": True}]}, 5))
        assert len(with_two) == 1

    run(scene())


def test_closing_a_stream_early_ends_the_search(puppets: list[Puppet]) -> None:
    async def scene() -> None:
        pool = Pool(1)
        rows = pool.ask({"answers": [{"a": 1}, {"a": 2}]}, 5)
        assert (await anext(rows))["a"] == 1
        await rows.aclose()
        assert puppets[0].killed
        assert pool._workers == set()
        assert pool._idle == [None]

    run(scene())


# The process that trains


def asked(folder: Path, **given: Any) -> list[str]:
    settings = {"updates": 1, "turns": 2, "max_rounds": 200}
    whole = {"user_code": [], "game": "tenten", "options": {"rows": 3, "columns": 3}, "method": "lspi", "seed": 3,
             "folder": str(folder), "resume": False, "command": "rookery train", "settings": settings}  # fmt: skip
    return ["trainer", json.dumps(whole | given)]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "when_orphaned", lambda act: None)


def test_a_run_is_trained_as_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: None) -> None:
    monkeypatch.setattr(sys, "argv", asked(tmp_path))
    trainer.main()
    made = Run.open(tmp_path)
    assert (made.state, made.seed, made.info["command"], made.info["options"]) == (
        "done", 3, "rookery train", {"rows": 3, "columns": 3},
    )  # fmt: skip
    assert made.settings["turns"] == 2


def test_how_training_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for error, code, said in (
        (KeyboardInterrupt(), 130, ""), (RuntimeError("broke"), 1, "RuntimeError: broke\n"),
    ):  # fmt: skip

        def fail(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(trainer, "train", fail)
        monkeypatch.setattr(sys, "argv", asked(tmp_path))
        with pytest.raises(SystemExit) as stop:
            trainer.main()
        assert stop.value.code == code
        assert capsys.readouterr().err == said


def test_training_that_does_not_end_by_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(trainer.os, "kill", lambda *given: done.append(given))
    monkeypatch.setattr(trainer, "time", SimpleNamespace(sleep=done.append))
    monkeypatch.setattr(trainer.os, "_exit", lambda code: done.append(f"exit {code}"))
    trainer._stop()
    assert done == [(os.getpid(), signal.SIGINT), trainer.STOP_SECONDS, "exit 1"]


# Reports and what requests may hold


def test_reports_are_found_by_ids_that_tell_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    for name, when in (("", 100), ("a", 300), ("b", 200), ("deep/er", 400)):
        page = folder / name / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<p>{name}")
        os.utime(page, (when, when))
    rows = reports.found(folder)
    assert [row["name"] for row in rows] == ["reports/a", "reports/b", "reports"]
    assert [row["updated"] for row in rows] == [300, 200, 100]
    assert rows[0]["id"] == hashlib.sha256(b"a/index.html").hexdigest()[:16]
    assert reports.page(folder, str(rows[0]["id"])) == b"<p>a"
    for name in ("nothing", "a", "../index.html"):
        assert reports.page(folder, name) is None
    assert reports.found(tmp_path / "none") == []


def test_bounds_of_requests() -> None:
    def fits(kind: Any, **given: Any) -> bool:
        try:
            kind(**given)
        except ValidationError:
            return False
        return True

    new = {"game": "checkers", "players": ["person", "random"]}
    for change, good in (
        ({}, True), ({"seed": 0}, True), ({"seed": 2**53}, True), ({"seed": -1}, False), ({"seed": 2**53 + 1}, False),
        ({"players": ["a", "b", "c"]}, False), ({"players": ["x" * 200]}, True), ({"players": ["x" * 201]}, False),
        ({"players": ["a\nb"]}, False), ({"game": "x\x7f"}, False), ({"seed": "1"}, False), ({"other": 1}, False),
        ({"position": "x" * 200_000}, True), ({"position": "x" * 200_001}, False), ({"seed": True}, False),
    ):  # fmt: skip
        assert fits(models.NewPlay, **new | change) == good, str(change)[:60]
    for cell, good in ((0, True), (10_000, True), (10_001, False), (-1, False)):
        assert fits(models.Edit, game="checkers", cell=cell) == good
    for ply, good in ((0, True), (10**6, True), (10**6 + 1, False), (-1, False)):
        assert fits(models.Move, action=1, ply=ply) == good
        assert fits(models.Goto, ply=ply) == good
    for action, good in ((0, True), (2**31 - 1, True), (2**31, False), (-1, False)):
        assert fits(models.Move, action=action) == good
    for stage, good in ((0, False), (1, True), (3, True), (4, False)):
        assert fits(models.AskHint, stage=stage) == good
    for ply, good in ((0, False), (1, True), (10**6, True), (10**6 + 1, False)):
        assert fits(models.AskVerdict, ply=ply) == good
