"""The command that solves small boards: sizes, figures and words."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.games.tenten import commands, exact
from rookery.games.tenten.rules import TenTen
from tests.commands import answer


@pytest.mark.parametrize(("text", "size"), [("4", (4, 4)), ("5x6", (5, 6)), ("10", (10, 10)), ("1x10", (1, 10))])
def test_sizes(text: str, size: tuple[int, int]) -> None:
    assert commands._parse_size(text) == size


@pytest.mark.parametrize("text", ["", "x", "4x", "x4", "100", "4x100", "-4", "4 x 4", "four"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="the size is a side such as 4 or rows and columns such as 5x6"):
        commands._parse_size(text)


def test_json_has_no_infinity() -> None:
    assert commands._finite(2.5) == 2.5
    assert commands._finite(math.inf) is commands._finite(math.nan) is None


def test_figures_of_a_solution(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "tenten", "--size", "2x3", "--pieces", "seven", "--objective", "r2")
    solved = exact.solve(TenTen(2, 3, "seven"), "r2", 0.9)
    assert (data["rows"], data["columns"], data["pieces"], data["objective"]) == (2, 3, "seven", "r2")
    assert (data["discount"], data["value_empty"], data["mean_rounds"]) == (0.9, solved.value_empty, solved.mean_rounds)
    assert data["mean_rounds_interval"] == list(solved.mean_rounds_interval)
    assert data["table_bytes"] == 8 << 6  # a double per board of six cells
    assert data["mean_rounds_simulated"] is False
    endless = answer(capsys, "solve", "tenten", "--size", "3", "--pieces", "three", "--objective", "r2")
    assert (endless["mean_rounds"] is None) == math.isinf(exact.solve(TenTen(3, 3, "three"), "r2").mean_rounds)


def test_a_solution_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "t.table"
    with pytest.raises(SystemExit):
        main(["solve", "tenten", "--size", "3", "--pieces", "seven", "--out", str(file)])
    first, second, third, fourth, *last = capsys.readouterr().out.splitlines()
    assert first == "1010! 3x3, pieces seven, survival (expected number of rounds), discount 1.0"
    assert second.startswith("value of the empty board: 69.83")
    assert third.startswith("mean rounds of the policy: 69.83 (bounds 69.83")
    assert fourth.split()[1] == "sweeps"
    assert " ".join(last).startswith("the table is in ")
    assert exact.load(file).sweeps == int(fourth.split()[0])


@pytest.mark.parametrize(
    ("objective", "cells", "simulated"), [("r2", 6, False), ("r2", 5, True), ("survival", 5, False)]
)
def test_rounds_of_larger_boards_are_those_of_games(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, objective: str, cells: int, simulated: bool
) -> None:
    """A board of six cells, where five are the most whose mean rounds are computed; survival has them anyway."""
    monkeypatch.setattr(exact, "EXACT_EVALUATION_CELLS", cells)
    words = ["solve", "tenten", "--size", "2x3", "--pieces", "seven", "--objective", objective]
    data = answer(capsys, *words)
    assert data["mean_rounds_simulated"] is simulated
    low, high = data["mean_rounds_interval"]
    assert low <= data["mean_rounds"] <= high
    assert (high - low > 1e-3) is simulated
    with pytest.raises(SystemExit):
        main(words)
    assert ("(95% interval from games" in capsys.readouterr().out) is simulated
