"""A progress bar for one native call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.progress import Progress

from rookery._native import Control


class _Watch(Progress):
    """A progress bar that reads how far a native call is whenever it is drawn."""

    control: Control

    def get_renderables(self) -> Iterator[RenderableType]:
        for task in self.tasks:
            task.completed = self.control.done
        yield from super().get_renderables()


@contextmanager
def watching(label: str, control: Control, total: int) -> Iterator[None]:
    """Show `control.done` of `total` on a terminal while the body runs."""
    with _Watch(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as watch:
        watch.control = control
        watch.add_task(label, total=total)
        yield
