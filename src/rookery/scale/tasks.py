"""What a task is, and how a worker does one."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import os
import pickle
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from rookery import files, registry
from rookery.progress import THREADS

Row = Any
"""What a task returns: any JSON value, mostly a dictionary."""


@dataclass(frozen=True)
class Needs:
    """What a task needs while it runs. Native code in the task uses as many threads as it has cores."""

    cores: int = 1
    gpus: float = 0.0
    memory: int = 0
    """Bytes; 0 for no demand."""


@dataclass(frozen=True)
class Task:
    """A call of `function`, named as `package.module:function`, whose result is one row under `key`.

    The function is called with the object that its job shares, if there is one, and with the arguments as keywords;
    the argument "args" holds positional ones.
    """

    key: str
    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    needs: Needs = Needs()
    files: tuple[str, ...] = ()
    """Files and folders that it reads, such as the newest weights of a net; `rookery.files.located` finds them."""


class TaskQueue(Iterator[Task]):
    """Tasks for `carry_out` that are added while it runs: what it yields may lead to new ones.

    It ends when no task is left and none is under way, unless it is kept open.
    """

    def __init__(self, tasks: Iterable[Task] = (), open: bool = False) -> None:
        self._tasks = deque(tasks)
        self.open = open

    def put(self, task: Task) -> None:
        self._tasks.append(task)

    def __next__(self) -> Task:
        if not self._tasks:
            raise StopIteration
        return self._tasks.popleft()


class Message(NamedTuple):
    """What a worker says about a task: its row, the error it ended with, or a note from the middle of it."""

    kind: Literal["row", "error", "note"]
    key: str
    data: Any
    seconds: float = 0.0


@dataclass(frozen=True)
class Setup:
    """What a worker is told once, before its tasks."""

    shared: bytes
    user_code: Sequence[tuple[str, bool]]
    folder: str
    """The folder that relative paths start from."""
    timeout: float | None = None
    """Seconds after which a task is ended together with its worker."""
    luggage: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    """Files and folders for machines that do not have them: the contents by path inside of each."""

    name: str = field(default_factory=lambda: uuid4().hex)
    """Tells a worker whether it has entered this job before."""


def pickled(shared: Any) -> bytes:
    """The object that a job shares; ValueError if it cannot travel to another process."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer).dump(shared)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ValueError(f"an object cannot travel to another process ({error}); use on='here'") from None
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Refuses what another process cannot find."""

    def persistent_id(self, thing: Any) -> None:
        kind = thing if isinstance(thing, type) else type(thing)
        if kind.__module__ == "__main__" and getattr(sys.modules["__main__"], "__file__", None) is None:
            raise ValueError(f"{kind.__name__} is defined in a notebook; put it into a file, or use on='here'")


def travelling(paths: Sequence[Path | str]) -> dict[str, dict[str, bytes]]:
    """Files and folders as `Setup.luggage`; paths that do not exist are left out."""
    found: dict[str, dict[str, bytes]] = {}
    for given in paths:
        path = Path(given).expanduser().resolve()
        if path.is_file():
            found[str(path)] = {"": path.read_bytes()}
        elif path.is_dir():
            inside = (file for file in sorted(path.rglob("*")) if file.is_file())
            found[str(path)] = {str(file.relative_to(path)): file.read_bytes() for file in inside}
    return found


# Inside a worker

_entered = ""
_shared: Any = None
_note: Callable[[Any], None] | None = None


def enter(setup: Setup) -> None:
    """Load what the tasks of a job need, unless it was loaded before."""
    global _entered, _shared
    if _entered == setup.name:
        return
    files.MOVED.clear()
    files.MOVED_FROM[:] = [setup.folder]
    unpack(setup.luggage)
    registry.load_user_code(setup.user_code)
    _shared = pickle.loads(setup.shared)
    _entered = setup.name


def unpack(luggage: Mapping[str, Mapping[str, bytes]]) -> None:
    """Make files ready for tasks: those that this machine does not have, or has with other contents, lie elsewhere."""
    for original, contents in luggage.items():
        if any(not _same(Path(original, name), content) for name, content in contents.items()):
            place = files.MOVED.get(original)
            if place is None or any(not _same(Path(place, name), content) for name, content in contents.items()):
                files.MOVED[original] = _unpacked(original, contents)


def _same(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def _unpacked(original: str, contents: Mapping[str, bytes]) -> str:
    place = Path(tempfile.mkdtemp(prefix="rookery-")) / Path(original).name
    for name, content in contents.items():
        file = place / name if name else place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return str(place)


def note(data: Any) -> None:
    """Report something from the middle of a task to the process that runs the job, such as a better result.

    May be called by any thread of the task.
    """
    if _note is not None:
        _note(data)


def work(batch: Sequence[Task], setup: Setup, say: Callable[[Message], None]) -> None:
    """Do tasks in a worker that has entered a job. What a task raises is an error of that task."""
    for task in batch:
        say(do(task, _shared, say, setup.timeout))


def do(task: Task, shared: Any, say: Callable[[Message], None], timeout: float | None = None) -> Message:
    """Do one task."""
    global _note
    _note = lambda data: say(Message("note", task.key, data))  # noqa: E731
    begin = time.perf_counter()
    with _limited(task.needs), _watched(timeout):
        try:
            module, _, name = task.function.partition(":")
            arguments = dict(task.arguments)
            given = [*([] if shared is None else [shared]), *arguments.pop("args", ())]
            row = getattr(importlib.import_module(module), name)(*given, **arguments)
        except (Exception, SystemExit) as error:  # whatever a task raises is its result
            return Message("error", task.key, sentence(error), time.perf_counter() - begin)
        finally:
            _note = None
    return Message("row", task.key, row, time.perf_counter() - begin)


def sentence(error: BaseException) -> str:
    """An error on one line."""
    text = " ".join(str(error).split())[:500]
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


@contextlib.contextmanager
def _limited(needs: Needs) -> Iterator[None]:
    """Native code uses as many threads as the task has cores: results and speed are the same on every executor."""
    before = os.environ.get(THREADS)
    torch: Any = sys.modules.get("torch")
    os.environ[THREADS] = str(needs.cores)
    threads = torch.get_num_threads() if torch else 0
    if torch and threads != needs.cores:
        torch.set_num_threads(needs.cores)
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before
        if torch and threads != needs.cores:
            torch.set_num_threads(threads)


@contextlib.contextmanager
def _watched(timeout: float | None) -> Iterator[None]:
    """End the process if the body takes too long, even if native code never lets Python run again."""
    if timeout is None:
        yield
        return
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        faulthandler.dump_traceback_later(timeout, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
