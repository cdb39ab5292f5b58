"""Progress bars: the rate they tell, and where they are shown."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from rookery import Control, progress


@pytest.mark.parametrize(
    ("finished", "speed", "text"),
    [
        (None, None, ""),
        (None, 2.25, "2.2/s"),
        (None, 1.0, "1.0/s"),
        (None, 0.5, "30.0/min"),
        (1500.0, 3.0, "1,500.0/s"),
    ],
)
def test_rates_are_told_per_second_or_per_minute(finished: float | None, speed: float | None, text: str) -> None:
    task: Any = SimpleNamespace(finished_speed=finished, speed=speed)
    assert progress._Rate().render(task).plain == text


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only(shown: bool, terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(progress, "console", lambda: Console(file=out, force_terminal=terminal, width=100))
    with progress.bar("games", 10, done=4, shown=shown) as step:
        for _ in range(6):
            step()
    assert ("games" in out.getvalue()) == (shown and terminal)
    assert ("10/10" in out.getvalue()) == (shown and terminal)


def test_what_a_native_call_has_done_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(progress, "console", lambda: Console(file=out, force_terminal=True, width=100))
    control = Control()
    with progress.watching("playing", control, 8):
        control.add(8)
    assert "playing" in out.getvalue()
    assert "100%" in out.getvalue()


def test_items_come_one_by_one() -> None:
    assert list(progress.steps([3, 1, 2], "items", Console(file=io.StringIO()))) == [3, 1, 2]


def test_memory_is_known_where_the_system_does_not_tell_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = [line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal:")]
    free, total = progress.available_memory(), 1024 * int(line.split()[1])

    def absent(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", absent)
    assert total == pytest.approx(progress.available_memory(), rel=0.01)
    assert 1 << 20 < free <= total
