"""Worker processes: a search that takes too long, or that nobody waits for any more, is ended with its process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Sequence
from typing import Any

Row = dict[str, Any]
MAX_LINE = 16 * 2**20


class TooLong(Exception):
    """The time limit is over."""


class Worker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @staticmethod
    async def start(user_code: Sequence[tuple[str, bool]]) -> Worker:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rookery.web.worker", json.dumps(user_code), stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, limit=MAX_LINE, start_new_session=True,
        )  # fmt: skip
        return Worker(process)

    async def send(self, request: Row) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        await self.process.stdin.drain()

    async def receive(self) -> Row:
        assert self.process.stdout
        line = await self.process.stdout.readline()
        if not line:
            raise ConnectionError("the worker ended")
        row: Row = json.loads(line)
        return row

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with the engine it may have started
        await self.process.wait()


class Pool:
    """A fixed number of workers, each started when first needed, or all at once before that by `warm`."""

    def __init__(self, size: int, user_code: Sequence[tuple[str, bool]] = ()) -> None:
        self._user_code = user_code
        self._idle: list[Worker | None] = [None] * size
        self._workers: set[Worker] = set()
        self._waiting: OrderedDict[str, deque[asyncio.Future[Worker | None]]] = OrderedDict()
        """Who waits for a worker, by visitor; the visitor whose turn it is next comes first."""

    async def warm(self) -> None:
        """Start the workers and wait until they have imported the games, so that nobody else waits for that."""
        idle, self._idle = self._idle, []
        workers = [worker or await self._start() for worker in idle]
        await asyncio.gather(*map(self._ready, workers))
        for worker in workers:
            self._release(worker)

    async def _ready(self, worker: Worker) -> None:
        with contextlib.suppress(ConnectionError):  # one that ends is replaced when it is needed
            await worker.send({"task": "ready"})
            await worker.receive()

    async def _take(self, visitor: str) -> Worker | None:
        """A worker, or None where one is to be started. Visitors take turns, however much each of them asks."""
        if self._idle:
            return self._idle.pop()
        mine: asyncio.Future[Worker | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(visitor, deque()).append(mine)
        try:
            return await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._release(mine.result())  # it came in the same moment
            raise

    def _release(self, worker: Worker | None) -> None:
        """Give a worker to whoever is next."""
        while self._waiting:
            visitor, waiting = self._waiting.popitem(last=False)
            while waiting:
                future = waiting.popleft()
                if not future.done():  # it may have given up
                    future.set_result(worker)
                    if waiting:
                        self._waiting[visitor] = waiting  # behind all others
                    return
        self._idle.append(worker)

    async def _start(self) -> Worker:
        worker = await Worker.start(self._user_code)
        self._workers.add(worker)
        return worker

    async def ask(self, request: Row, seconds: float, visitor: str = "") -> AsyncGenerator[Row, None]:
        """The rows of the answer as they come. Closing the iterator early ends the search."""
        end = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(end):
                worker = await self._take(visitor)
        except TimeoutError:
            raise TooLong(f"every agent is busy, and none was free within {seconds:g} seconds") from None
        end = asyncio.get_running_loop().time() + seconds  # who waited for others has as long to think
        finished = False
        try:
            if worker is None or worker.process.returncode is not None:
                worker = await self._start()
            await worker.send(request)
            while not finished:
                async with asyncio.timeout_at(end):  # anew for each row: it must not stay open across a yield
                    row = await worker.receive()
                finished = "done" in row or "error" in row
                yield row
        except TimeoutError:
            raise TooLong(f"no answer within {seconds:g} seconds") from None
        except ConnectionError:
            yield {"error": "the process that was thinking ended unexpectedly; ask again"}
        finally:
            if not finished and worker is not None:
                self._workers.discard(worker)
                try:
                    await asyncio.shield(worker.kill())
                finally:
                    self._release(None)
            else:
                self._release(worker)

    async def one(self, request: Row, seconds: float, visitor: str = "") -> Row:
        """The answer of a task that gives one row; an error raises ValueError with its sentence."""
        answer: Row = {}
        async with contextlib.aclosing(self.ask(request, seconds, visitor)) as rows:
            async for row in rows:
                if "error" in row:
                    raise ValueError(row["error"])
                if "done" not in row:
                    answer = row
        return answer

    async def close(self) -> None:
        for worker in list(self._workers):
            await worker.kill()
