from __future__ import annotations

import re
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from rookery.games.checkers import ladder as checkers_ladder
from rookery.games.checkers.rules import Checkers
from rookery.registry import agent as load_agent
from rookery.studies.sizes import SIZES


def share(cell: str) -> float:
    found = re.match(r"([0-9.]+)%", cell)
    assert found
    return float(found[1]) / 100


def test_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers_ladder, "RUNGS", (1, 3))
    monkeypatch.setitem(checkers_ladder.GAMES, "quick", 4)
    monkeypatch.setitem(checkers_ladder.POSITIONS, "quick", 60)
    bars: list[Progress] = []

    def bar(**settings: Any) -> Progress:
        bars.append(Progress(**settings))
        return bars[-1]

    monkeypatch.setattr(checkers_ladder, "Progress", bar)
    others = {"mine": load_agent("random", Checkers())}
    scores, kept = checkers_ladder.ladder(SIZES["quick"], 3, Console(stderr=True), others)
    assert [row[0] for row in scores.rows] == ["random", *(f"minimax, depth {depth}" for depth in (1, 3))]
    for row in scores.rows:
        for cell in row[1:]:
            counts = re.search(r"\(\+(\d+) =(\d+) -(\d+)\)$", cell)
            assert counts
            wins, draws, losses = map(int, counts.groups())
            assert wins + draws + losses == 4
            assert share(cell) == pytest.approx((wins + draws / 2) / 4, abs=0.001)
    by_name = {row[0]: [share(cell) for cell in row[1:]] for row in kept.rows}
    assert by_name["oracle"] == by_name["best"] == [1, 1]
    assert max(by_name["random"]) < 0.9
    assert by_name["td"][0] > by_name["random"][0]
    assert by_name["mine"] != by_name["best"]
    assert "no evidence of strength" in scores.note
    assert [task.completed for task in bars[0].tasks] == [task.total for task in bars[0].tasks]
