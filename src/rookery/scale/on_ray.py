"""Tasks on a Ray cluster: an existing one by its address, or one on this machine.

Every node needs the same version of Rookery. What else tasks need, users' files, models and agents, travels with them.
"""

from __future__ import annotations

import contextlib
import queue
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rookery import __version__
from rookery.scale.tasks import Message, Needs, Setup, Task, enter, travelling, unpack, work

PAUSE = 0.2
"""Seconds between two reports of a batch."""


def _ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise ValueError("Ray is not installed: pip install 'rookery[scale]'") from None
    return ray


class RayPool:
    """Batches as tasks of Ray, which places them where their needs are met."""

    batch_seconds, hand_over = 1.0, 0.003

    def __init__(self, address: str, setup: Setup, luggage: Mapping[str, Mapping[str, bytes]]) -> None:
        self._ray = ray = _ray()
        self._own = not ray.is_initialized()
        if self._own:
            _connect(ray, address)
        self._setup = replace(setup, luggage=luggage)
        self._setup_on_cluster = ray.put(self._setup)
        self._stream = ray.remote(num_returns="streaming", max_retries=0)(_stream)
        self._batches: dict[Any, int] = {}
        """The stream of every batch under way, and its number."""
        self._begins: dict[int, float] = {}
        self._files: dict[str, tuple[Any, Any]] = {}
        """What lies on the cluster of tasks' own files: what it was made from, and where."""
        self._numbers = 0
        self._asked, self._cores = -1.0, 1

    def cores(self) -> int:
        if time.monotonic() - self._asked > 1:
            self._asked, self._cores = time.monotonic(), int(self._ray.cluster_resources().get("CPU", 0))
        return max(1, self._cores)

    def submit(self, batch: Sequence[Task]) -> int:
        needs = batch[0].needs
        self._check(needs)
        options: dict[str, Any] = {"num_cpus": needs.cores, "num_gpus": needs.gpus}
        if needs.memory:
            options["memory"] = needs.memory
        self._numbers += 1
        luggage = [self._put(path) for path in {path: None for task in batch for path in task.files}]
        stream = self._stream.options(**options).remote(self._setup_on_cluster, list(batch), __version__, *luggage)
        self._batches[stream] = self._numbers
        return self._numbers

    def _put(self, path: str) -> Any:
        """A file or folder on the cluster; it is sent once as long as it does not change."""
        inside = [path, *map(str, Path(path).rglob("*"))]
        state = tuple((name, Path(name).stat().st_mtime_ns) for name in inside)
        if self._files.get(path, (None, None))[0] != state:
            self._files[path] = state, self._ray.put(travelling([path]))
        return self._files[path][1]

    def _check(self, needs: Needs) -> None:
        for node in self._ray.nodes():
            has = node["Resources"]
            enough = has.get("CPU", 0) >= needs.cores and has.get("GPU", 0) >= needs.gpus
            if node["Alive"] and enough and has.get("memory", 0) >= needs.memory:
                return
        raise ValueError(
            f"no node of the Ray cluster has what a task needs: {needs.cores} cores, {needs.gpus:g} GPUs, "
            f"{needs.memory:,} bytes of memory"
        )

    def poll(self, seconds: float) -> list[tuple[int, Message | str | None]]:
        said: list[tuple[int, Message | str | None]] = []
        streams = list(self._batches)
        if not self._ray.wait(streams, num_returns=1, timeout=seconds)[0]:
            return said
        for stream in self._ray.wait(streams, num_returns=len(streams), timeout=0)[0]:
            number = self._batches[stream]
            try:
                said += [(number, message) for message in self._ray.get(next(stream))]
                self._begins[number] = time.monotonic()
                continue
            except StopIteration:
                said.append((number, None))
            except self._ray.exceptions.RayTaskError as error:
                raise ValueError(f"a worker could not start: {error.cause}") from None
            except self._ray.exceptions.RayError as error:
                timeout, since = self._setup.timeout, time.monotonic() - self._begins.get(number, time.monotonic())
                hanging = timeout is not None and since >= timeout
                said.append((number, f"no answer within {timeout:g} seconds" if hanging else _lost(error)))
            del self._batches[stream]
            self._begins.pop(number, None)
        return said

    def close(self) -> None:
        for stream in self._batches:
            with contextlib.suppress(Exception):  # the batch, its node or the whole cluster may be gone
                self._ray.cancel(stream, force=True)
        if self._own:
            self._ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster; ValueError if there is none at the address."""
    if address and address not in ("auto", "local"):
        match = re.fullmatch(r"(?:ray://)?([^:/]+):(\d{1,5})", address)
        if not match:
            raise ValueError(
                f"the address of a Ray cluster is HOST:PORT, ray://HOST:PORT or auto, not {address[:60]!r}"
            )
        try:
            socket.create_connection((match[1], int(match[2])), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise ValueError(f"there is no Ray cluster at {address}: {error}") from None
    try:
        ray.init(
            address=address or "local", log_to_driver=False, logging_level="ERROR", include_dashboard=False
            if not address else None,
        )  # fmt: skip
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ValueError(f"there is no Ray cluster at {address or 'this machine'}: {error}") from None


def _lost(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"its worker or node was lost ({type(error).__name__}: {first[:120]})"


def _stream(
    setup: Setup, batch: Sequence[Task], version: str, *luggage: Mapping[str, Mapping[str, bytes]]
) -> Iterator[list[Message]]:
    """Do a batch on a node and report several times per second. The first report is empty: the batch has begun."""
    if version != __version__:
        raise ValueError(f"a node has Rookery {__version__}, and this machine {version}")
    enter(setup)
    for one in luggage:
        unpack(one)
    yield []
    said: queue.SimpleQueue[Message | None] = queue.SimpleQueue()

    def do_all() -> None:
        try:
            work(batch, setup, said.put)
        finally:
            said.put(None)

    threading.Thread(target=do_all, daemon=True).start()
    while (message := said.get()) is not None:
        report = [message]
        end = time.monotonic() + PAUSE
        with contextlib.suppress(queue.Empty):
            while (more := said.get(timeout=max(0.0, end - time.monotonic()))) is not None:
                report.append(more)
            yield report
            return
        yield report
