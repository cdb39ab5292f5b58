"""Progress for people: the console it goes to, and a bar for one native call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.progress import Progress, track

from rookery._native import Control

Item = TypeVar("Item")


def console(stderr: bool = True) -> Console:
    """A console that prints text as it is: square brackets in paths and names are no markup."""
    return Console(stderr=stderr, markup=False, highlight=False)


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def bar(label: str, total: int, done: int = 0, shown: bool = True) -> Iterator[Callable[[], None]]:
    """A progress bar on a terminal; call what it gives after each of `total` steps."""
    terminal = console()
    with Progress(console=terminal, transient=True, disable=not (shown and terminal.is_terminal)) as progress:
        task = progress.add_task(label, total=total, completed=done)
        yield lambda: progress.advance(task)


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
