"""Fifty players at once."""

from __future__ import annotations

import pytest
from benchmarks.web_load import measure


@pytest.mark.slow
def test_fifty_players_meet_no_error() -> None:
    result = measure(players=50, seconds=20, pause=1.0)
    assert result["errors"] == []
    assert result["calls"]["move"]["calls"] > 300
    assert result["calls"]["move"]["median_ms"] < 100
    assert result["calls"]["new game"]["p95_ms"] < 200  # those of the first second, too
