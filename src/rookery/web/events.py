"""Server-sent events that end with their reader."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Row = dict[str, Any]


class EventStream(Response):
    """Sends every row as an event. When the reader goes away the generator is closed, and with it what it waits for.
    `ended` is called in any case, even if the generator was never begun."""

    media_type = "text/event-stream"

    def __init__(self, rows: AsyncGenerator[Row, None], ended: Callable[[], None]) -> None:
        super().__init__()
        self._rows, self._ended = rows, ended
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_disconnect(receive))
        sending = asyncio.ensure_future(self._send(send))
        try:
            await asyncio.wait({gone, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)
            self._ended()
        if not sending.cancelled() and (error := sending.exception()):
            raise error

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with contextlib.aclosing(self._rows) as rows:
            async for row in rows:
                body = f"data: {json.dumps(row)}\n\n".encode()
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def with_signs_of_life(rows: AsyncGenerator[Row, None], seconds: float = 0.5) -> AsyncGenerator[Row, None]:
    """The rows, and `{"waiting": seconds so far}` whenever none came for a while."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    task: asyncio.Future[Row] | None = None
    try:
        while True:
            task = task or asyncio.ensure_future(anext(rows))
            done, _ = await asyncio.wait({task}, timeout=seconds)
            if not done:
                yield {"waiting": round(loop.time() - begin, 1)}
                continue
            try:
                row = task.result()
            except StopAsyncIteration:
                return
            finally:
                task = None
            yield row
    finally:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        await rows.aclose()
