"""Where tasks run: in this process, in processes of this machine, or on a Ray cluster.

All but the first are pools. `carry_out` hands a pool batches of tasks, small enough that all workers end together and
large enough that handing over costs little, and tries tasks again whose worker was lost.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import re
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from rookery import registry
from rookery.progress import THREADS, cores
from rookery.scale.tasks import Message, Needs, Setup, Task, TaskQueue, do, enter, pickled, sentence, travelling, work

OnNote = Callable[[str, Any], None]
RETRIES = 2
"""How often a task is tried again after an error or after its worker was lost."""
_ON = re.compile(r"here|processes(:[1-9]\d{0,3})?|ray(:.+)?")


def check_on(on: str) -> str:
    """The name of an executor; ValueError if it is none."""
    if not _ON.fullmatch(on):
        raise ValueError(f"unknown executor {on[:60]!r}; known are here, processes, processes:N, ray and ray:ADDRESS")
    return on


class Pool(Protocol):
    """Workers that take batches of tasks."""

    batch_seconds: float
    """How long a batch should take, so that handing it over costs little."""
    hand_over: float
    """Seconds that handing over a batch takes of this process, which bounds the number of batches."""

    def cores(self) -> int:
        """The number of cores that tasks may occupy now."""

    def submit(self, batch: Sequence[Task]) -> int:
        """Begin a batch; returns its number."""

    def poll(self, seconds: float) -> list[tuple[int, Message | str | None]]:
        """What batches have said, waiting a while for it: messages, None at a batch's end, or how it was lost."""

    def close(self) -> None:
        """End all workers at once."""


def batch_size(left: int, cores: int, seconds: float, batch_seconds: float, hand_over: float) -> int:
    """How many of the tasks that are left to hand over at once, if each takes the given number of seconds.

    A batch takes `batch_seconds`, less towards the end, so that all workers end together; but with many workers it
    takes at least as long as handing one over to each of them.

    >>> batch_size(10_000, 2, 0.01, 0.1, 0.0002), batch_size(20, 2, 0.01, 0.1, 0.0002), batch_size(20, 2, 9, 0.1, 0)
    (10, 5, 1)
    >>> batch_size(1_000_000, 1000, 0.01, 1.0, 0.005)
    500
    """
    seconds = max(seconds, 1e-7)
    least = cores * hand_over / seconds
    return int(max(1, min(max(batch_seconds / seconds, least), max(left / (2 * cores), least), left)))


@dataclass
class _Batch:
    tasks: dict[str, Task]
    """Those that are not finished."""
    needs: Needs


def carry_out(
    tasks: Iterable[Task], on: str = "here", *, shared: Any = None, files: Sequence[Any] = (),
    retries: int = RETRIES, timeout: float | None = None, count: int | None = None,
    on_note: OnNote = lambda key, data: None,
) -> Iterator[Message | None]:  # fmt: skip
    """Do tasks and yield the row or the error of each; None several times per second, so that the caller can stop.

    `on_note` is called with the key of a task and what it notes. `files` are paths that tasks read. `count` is the
    number of tasks, if it is known: `processes` starts no more workers than are useful. Closing the iterator ends all
    workers.
    """
    check_on(on)
    kind, _, rest = on.partition(":")
    number = int(rest) if kind == "processes" and rest else cores()
    if kind == "processes" and not rest and count is not None:
        number = min(number, count // 2)
    if kind == "here" or number < 1:
        yield from _here(tasks, shared, retries, on_note)
        return
    setup = Setup(pickled(shared), registry.user_code_names(), os.getcwd(), timeout)  # noqa: PTH109
    pool: Pool
    if kind == "ray":
        from rookery.scale.on_ray import RayPool

        user_files = [name for name, _ in setup.user_code if name.endswith(".py")]
        pool = RayPool(rest, setup, travelling([*user_files, *files]))
    else:
        pool = Processes(number, setup)
    try:
        yield from _in_pool(iter(tasks), pool, retries, count, on_note)
    finally:
        pool.close()


def _here(tasks: Iterable[Task], shared: Any, retries: int, on_note: OnNote) -> Iterator[Message | None]:
    for task in tasks:
        for _ in range(1 + retries):
            message = do(task, shared, lambda said: on_note(said.key, said.data))
            if message.kind == "row":
                break
        yield message


def _in_pool(
    tasks: Iterator[Task], pool: Pool, retries: int, count: int | None, on_note: OnNote
) -> Iterator[Message | None]:
    again: deque[Task] = deque()  # tasks to be done alone, since they or a neighbour in their batch were lost
    held: list[Task] = []  # a batch that needs more cores than are free
    tries: Counter[str] = Counter()
    under_way: dict[int, _Batch] = {}
    finished, seconds = 0, 0.0
    room, given = pool.cores(), tasks

    def next_batch() -> list[Task]:
        nonlocal tasks, held
        if held:
            batch, held = held, []
            return batch
        if again:
            return [again.popleft()]
        size = 1
        if finished and count is not None:
            left = max(0, count - finished - sum(len(batch.tasks) for batch in under_way.values()))
            size = batch_size(left, room, seconds / finished, pool.batch_seconds, pool.hand_over)
        batch = list(islice(tasks, 1))
        for task in islice(tasks, size - 1) if batch else ():
            if task.needs != batch[0].needs:
                tasks = chain([task], tasks)
                break
            batch.append(task)
        return batch

    def failed(task: Task, error: str) -> Message | None:
        """What is to be said of a task that went wrong: nothing if it is tried again."""
        tries[task.key] += 1
        if tries[task.key] <= retries:
            again.append(task)
            return None
        return Message("error", task.key, error)

    while True:
        room = pool.cores()
        while room > (used := sum(batch.needs.cores for batch in under_way.values())) and (batch := next_batch()):
            if under_way and used + batch[0].needs.cores > room:
                held = batch
                break
            number = pool.submit(batch)
            under_way[number] = _Batch({task.key: task for task in batch}, batch[0].needs)
        if not under_way:
            if not (isinstance(given, TaskQueue) and given.open):
                return
            time.sleep(0.01)
            yield None
            continue
        for number, said in pool.poll(0.1):
            batch_under_way = under_way[number]
            if isinstance(said, Message):
                if said.kind == "note":
                    on_note(said.key, said.data)
                    continue
                task = batch_under_way.tasks.pop(said.key)
                finished, seconds = finished + 1, seconds + said.seconds
                if said.kind == "row":
                    yield said
                elif message := failed(task, said.data):
                    yield message
                continue
            del under_way[number]
            left = list(batch_under_way.tasks.values())
            if len(left) == 1:
                if message := failed(left[0], said or "its worker stopped in the middle of it"):
                    yield message
            else:
                again.extend(left)  # who is to blame is found by doing them one by one
        yield None


class Background:
    """Workers that do tasks while this process does something else, such as learning from what came before.

    For `processes` and `ray`; results need not be JSON.
    """

    def __init__(self, on: str, *, shared: Any = None, timeout: float | None = None) -> None:
        if check_on(on) == "here":
            raise ValueError("in the background, tasks run on processes or on Ray, not here")
        self._tasks, self._said = TaskQueue(open=True), queue.SimpleQueue[Message | Exception]()
        self._messages = carry_out(self._tasks, on, shared=shared, timeout=timeout)
        self._closed = False
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        try:
            for message in self._messages:
                if message is not None:
                    self._said.put(message)
                if self._closed:
                    return
        except Exception as error:
            self._said.put(error)
        finally:
            self._messages.close()  # type: ignore[attr-defined]

    def put(self, task: Task) -> None:
        """Do a task as soon as a worker is free."""
        self._tasks.put(task)

    def get(self) -> Any:
        """Wait for the next task that ends and return its result; RuntimeError if it failed for good."""
        said = self._said.get()
        if isinstance(said, Exception):
            raise said
        if said.kind == "error":
            raise RuntimeError(f"{said.key}: {said.data}")
        return said.data

    def close(self) -> None:
        """End all workers."""
        self._closed = True
        self._thread.join()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Processes


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    ready: bool = False
    batch: int | None = None
    begin: float = 0.0
    """When it began what it is doing."""


class Processes:
    """Worker processes of this machine, each with one core. They are started when they are needed."""

    batch_seconds, hand_over = 0.1, 0.0002

    def __init__(self, count: int, setup: Setup) -> None:
        self._count, self._setup = count, setup
        self._workers: list[_Worker] = []
        self._numbers = 0
        self._stillborn = 0

    def cores(self) -> int:
        return self._count

    def submit(self, batch: Sequence[Task]) -> int:
        worker = next((worker for worker in self._workers if worker.batch is None), None) or self._start()
        self._numbers += 1
        worker.batch, worker.begin = self._numbers, time.monotonic()
        with contextlib.suppress(OSError):  # a worker that is gone is noticed by `poll`
            worker.connection.send(list(batch))
        return self._numbers

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._setup), daemon=False)
        with _environment():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def poll(self, seconds: float) -> list[tuple[int, Message | str | None]]:
        said: list[tuple[int, Message | str | None]] = []
        for connection in wait([worker.connection for worker in self._workers], seconds):
            worker = next(worker for worker in self._workers if worker.connection is connection)
            number = worker.batch
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                self._end(worker)
                if not worker.ready:
                    self._stillborn += 1
                    if self._stillborn > 2:
                        raise ValueError(
                            "worker processes end as soon as they start; a script must be a file that does its work "
                            "below `if __name__ == '__main__':`"
                        ) from None
                if number is not None:
                    said.append((number, self._how_it_ended(worker)))
                continue
            worker.begin = time.monotonic()
            if message == "ready":
                worker.ready = True
            elif isinstance(message, str):
                raise ValueError(message)
            elif number is not None:
                if message is None:
                    worker.batch = None
                said.append((number, message))
        return said

    def _end(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        if worker.process.pid is not None:
            with contextlib.suppress(OSError):
                os.killpg(worker.process.pid, signal.SIGKILL)  # with the engines it may have started
            with contextlib.suppress(OSError):
                os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.join()
        worker.connection.close()

    def _how_it_ended(self, worker: _Worker) -> str:
        code, timeout = worker.process.exitcode, self._setup.timeout
        if code == 1 and timeout is not None and time.monotonic() - worker.begin >= timeout:
            return f"no answer within {timeout:g} seconds"
        if code is not None and code < 0:
            return f"the worker process was ended by {signal.Signals(-code).name}"
        return f"the worker process ended with code {code}"

    def close(self) -> None:
        for worker in list(self._workers):
            self._end(worker)


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Libraries that read their number of threads when they are loaded use one in a worker."""
    names = (THREADS, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    added = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _serve(connection: Connection, setup: Setup) -> None:
    """The life of a worker process: batches until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that runs the job
    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        enter(setup)
    except Exception as error:
        connection.send(sentence(error))
        return
    lock = threading.Lock()

    def say(message: Message | str | None) -> None:
        with lock:
            connection.send(message)

    say("ready")
    while True:
        try:
            batch = connection.recv()
        except EOFError:
            return
        work(batch, setup, say)
        say(None)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os.killpg(0, signal.SIGKILL)
