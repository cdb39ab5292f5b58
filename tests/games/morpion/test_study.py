from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from rookery.games.morpion import study
from rookery.games.morpion.rules import verify
from rookery.games.morpion.search import METHODS
from rookery.registry import load
from rookery.studies import SIZES


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> study.Plan:
    plan = study.Plan({1: 20, 2: 4}, (2, 3), 0.3)
    monkeypatch.setitem(study.PLANS, "quick", plan)
    monkeypatch.setattr(study, "LEVELS", dict.fromkeys(METHODS, 1))
    return plan


def test_the_example_of_moves_has_the_cases_of_figure_7_1() -> None:
    """Moves 1 to 4 are legal, the fourth crosses another line, and the fifth is legal for 5T but not for 5D."""
    touching, disjoint = load("morpion", "5T").initial_state(), load("morpion", "5D").initial_state()
    *four, fifth = study.EXAMPLE
    lines = []
    for text in four:
        action = disjoint.parse_action(text)
        lines.append((disjoint.game.move(action).direction, set(disjoint.preview_cells(action))))
        disjoint.apply(action)
        touching.apply(touching.parse_action(text))
    (direction, third), (other, fourth) = lines[2:]
    assert direction != other
    assert len(third & fourth) == 1, "they cross"
    with pytest.raises(ValueError, match="not legal"):
        disjoint.parse_action(fifth)
    assert touching.parse_action(fifth) in touching.legal_actions()


def test_the_study(tiny: study.Plan, tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    result = study.run(SIZES["quick"], 5, tmp_path, console)
    longest, levels, methods, _, full_size = result.tables
    assert full_size.rows[0][5] == "67"  # the paper's best
    assert [row[0] for row in full_size.rows[1:]] == ["22", "20", "16"]
    by_variant = {row[0]: row for row in longest.rows}
    assert list(by_variant) == ["5D", "5T", "4D", "4T"]
    assert by_variant["5D"][1] == "67"  # the paper's best
    assert [row[6] for row in longest.rows] == ["82", "178", "35", "62"]
    assert [row[7].split()[0] for row in longest.rows] == ["84", "485", "35", "62"]
    for variant, row in by_variant.items():
        here, nrpa, shipped, record = (int(row[i]) for i in (2, 3, 4, 6))
        assert 20 < nrpa <= here <= record
        assert nrpa <= shipped <= record, variant
    assert [row[:2] for row in levels.rows] == [
        ["random play", "20,000"],
        ["NRPA level 1", "20"],
        ["NRPA level 2", "4"],
    ]
    means = [float(row[2].split()[0]) for row in levels.rows]
    assert means == sorted(means)
    assert [(row[0], row[1].split(",")[0]) for row in methods.rows] == [(v, m) for v in ("5D", "5T") for m in METHODS]
    for figure in result.figures[1:3]:
        assert verify(figure.svg).terminal
    # A second run takes what the first has saved.
    again = study.run(SIZES["quick"], 5, tmp_path, console)
    assert again.tables == result.tables
    assert again.seconds < result.seconds
