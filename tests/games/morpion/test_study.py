from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rookery.games.morpion import study
from rookery.games.morpion.rules import Morpion, verify
from rookery.games.morpion.search import METHODS, Campaign, CampaignSettings, DoneRun, shipped
from rookery.registry import load
from rookery.statistics import wilson_interval
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


def campaign(variant: str, level: int, scores: list[int], seconds: float = 0.5) -> Campaign:
    """A campaign whose runs are given; its best game is the one that ships."""
    made = Campaign(CampaignSettings(variant, "nrpa", level))
    made.runs = [DoneRun(seed, score, 100**level, seconds) for seed, score in enumerate(scores)]
    made.seconds, made.playouts = 9.0, 100**level * len(scores)
    made._offer(1, list(shipped(variant).moves))
    return made


def test_claims_and_levels_by_hand() -> None:
    levels = [campaign("5D", 1, [50, 60, 67, 70], 0.01), campaign("5D", 2, [66, 67, 68, 80], 0.25)]
    assert study._as_good(levels[1]) == (0.75, 0.25)
    claim = study._claim(levels, 80)
    assert claim.why == "75% of runs of NRPA, a search that learns nothing lasting, do as well in 0.25 s."
    assert claim.ours.endswith("; 80 by search in this run")
    assert claim.exact == "record 82, at most 84"
    table = study._levels(levels, 3, "command")
    lengths = Morpion().random_games(20_000, 3).lengths
    assert table.rows[0][2].startswith(f"{lengths.mean():.2f} (")
    assert table.rows[0][3] == str(lengths.max())
    one, two = table.rows[1:]
    low, high = wilson_interval(2, 4)
    assert one[:2] == ["NRPA level 1", "4"]
    assert one[2].startswith("61.75 (")
    assert one[3:6] == ["70", f"50% ({low:.0%} to {high:.0%})", "0.010 s"]
    assert one[6:] == ["10,000", "-"]  # 100 playouts in 0.01 s
    assert two[6:] == ["40,000", "68.4 in 0.08 s"]
    same = study._levels([campaign("5D", 3, [70, 70])], 3, "command").rows[1]
    assert same[2] == "70.00"
    words = study._conclusion(levels, {"5T": [campaign("5T", 1, [100])]}, 80)
    assert "NRPA of level 2 does as well in 75% of its runs, at 0.25 CPU seconds each." in words
    ours = len(shipped("5T").moves)
    assert f"have 80 moves on 5D, where the record is 82, and {ours} on 5T, where it is 178" in words


def test_tables_of_campaigns() -> None:
    timed = {"5D": [campaign("5D", 3, [70, 75])], "5T": [campaign("5T", 3, [])]}
    small = {"4D": campaign("4D", 3, [35]), "4T": campaign("4T", 3, [60])}
    rows = {row[0]: row[1:] for row in study._longest_games([campaign("5D", 1, [60])], small, timed, "command").rows}
    assert rows["5D"] == ["67", "82", "82", "82", "68", "82", "84"]
    assert rows["4D"] == ["-", "35", "35", "35", "-", "35", "35"]
    assert rows["5T"][4:] == ["170", "178", "485"]
    methods = study._methods(timed, 65.0, "command").rows
    assert methods[0] == ["5D", "nrpa, level 3", "82", "9 s", "2", "72.5", "2,000,000"]
    assert methods[1][4:6] == ["0", "-"]
    figure = study._progress_curves(timed)
    assert "seconds, all cores" in figure.svg
    captions = [drawn.caption for drawn in study._grids(timed, [campaign("5D", 1, [60])])]
    assert captions[0].startswith("The longest 5D game of this run: 82 moves, found by rookery")
    assert captions[-1] == f"Our longest 5T game: {len(shipped('5T').moves)} moves."


def test_random_games_as_long_as_the_papers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = Morpion().random_games(20_000, 3).lengths.tolist()
    for long, count in Counter(lengths).most_common(2):
        assert count > 400, "more than 2% have just this length"
        monkeypatch.setattr(study, "PAPER_BEST", long)
        share = sum(length >= long for length in lengths) / 20_000
        assert study._levels([], 3, "command").rows[0][4] == f"{share:.0%}"


def test_curves_are_staircases_that_last_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}
    lines = study.plots.lines

    def watched(axes: Any, curves: Any, across: str, up: str, title: str) -> None:
        drawn[title] = curves
        lines(axes, curves, across, up, title)

    monkeypatch.setattr(study.plots, "lines", watched)
    timed = {"5D": [campaign("5D", 3, [70])], "5T": [campaign("5T", 3, [90])]}
    timed["5D"][0].history = [(1.0, 60), (4.0, 72)]
    timed["5T"][0].history = [(2.0, 100)]
    timed["5T"][0].seconds = 12.0
    study._progress_curves(timed)
    assert drawn["5D"] == {
        "nrpa": ([1.0, 4.0, 4.0, 9.0], [60.0, 60.0, 72.0, 72.0]),
        "the record": ([0.1, 9.0], [82.0, 82.0]),
    }
    assert drawn["5T"] == {"nrpa": ([2.0, 12.0], [100.0, 100.0]), "the record": ([0.1, 12.0], [178.0, 178.0])}
