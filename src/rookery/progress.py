"""Progress for people: the console it goes to, and a bar for one native call."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
    track,
)
from rich.text import Text

from rookery._native import Control

Item = TypeVar("Item")


def console(stderr: bool = True) -> Console:
    """A console that prints text as it is: square brackets in paths and names are no markup."""
    return Console(stderr=stderr, markup=False, highlight=False)


THREADS = "ROOKERY_THREADS"
"""The environment variable with the number of threads that "all cores" means."""


def cores() -> int:
    """The number of cores that this process may use: `$ROOKERY_THREADS`, or those that its affinity and the limits of
    its container leave it."""
    if os.environ.get(THREADS, "").isdecimal():
        return max(1, int(os.environ[THREADS]))
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(found, *_quotas())))


def _quotas(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> list[float]:
    """The cores that control groups (version 2 or 1) leave this process; infinity if there is no limit."""
    found = [math.inf]
    try:
        groups = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return found
    for _, controllers, path in groups:
        folder = root / ("cpu" if controllers else "") / path.lstrip("/")
        for group in (folder, *folder.parents):
            if not group.is_relative_to(root):
                break
            try:
                if not controllers:
                    quota, period = (group / "cpu.max").read_text().split()
                elif "cpu" in controllers.split(","):
                    quota, period = ((group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
                else:
                    break
            except (OSError, ValueError):
                continue
            if quota.isdecimal():  # else "max" or -1
                found.append(int(quota) / int(period))
    return found


def available_memory() -> int:
    """Bytes of memory that are free, or of all memory where the system does not tell."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@contextmanager
def bar(label: str, total: int, done: int = 0, shown: bool = True) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal; call what it gives after each of `total` steps."""
    terminal = console()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn()
    hidden = not (shown and terminal.is_terminal)
    with Progress(*columns, console=terminal, transient=True, disable=hidden) as progress:
        task = progress.add_task(label, total=total, completed=done)
        yield lambda: progress.advance(task)


class _Rate(ProgressColumn):
    """Steps per second, or per minute where they are slow."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if speed is None:
            return Text("")
        return Text(f"{speed:,.1f}/s" if speed >= 1 else f"{60 * speed:,.1f}/min")


def steps(items: Iterable[Item], label: str, terminal: Console) -> Iterable[Item]:
    """The items one by one, with a progress bar if the console is a terminal."""
    return track(items, label, console=terminal, transient=True, disable=not terminal.is_terminal)


class _Watch(Progress):
    """A progress bar that reads how far a native call is whenever it is drawn."""

    control: Control

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            task.completed = self.control.done
        yield from super().get_renderables()


@contextmanager
def watching(label: str, control: Control, total: int | None) -> Iterator[None]:
    """Show `control.done` of `total`, which may be unknown, on a terminal while the body runs."""
    terminal = console()
    with _Watch(console=terminal, transient=True, disable=not terminal.is_terminal) as watch:
        watch.control = control
        watch.add_task(label, total=total)
        yield
