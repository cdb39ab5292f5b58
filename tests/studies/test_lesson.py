"""Pages about papers: what they hold, and what a request may ask of their experiments."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest

import rookery
from rookery.studies.lesson import Experiment, Finding, Lesson, Outcome, Panel, board, lesson, lessons, picked, slider
from rookery.studies.paper import Item, Paper, paper_of


@dataclass(frozen=True)
class Throws:
    count: int = slider(10, 1, 100, log=True)
    """Number of throws."""
    bias: float = slider(0.5, 0.0, 1.0, 0.1)
    """Share of heads."""
    start: str = board("...", "small")
    """A position."""
    cell: int = picked(3, 0, 8)
    """A cell."""
    open: int = 5
    """A number without bounds."""


def throw(settings: Throws) -> Outcome:
    return Outcome(f"{settings.count} throws of {settings.bias:g}", [Panel("A panel", ["<svg/>"])], 2)


COIN = Experiment("coin", "A coin", "Throw it.", throw, Throws)
PAPER = Paper("A <title>", "A. Author", 2020, (Item("Figure 1", "`rookery show a|b`", "faithful"),))
PAGE = Lesson("Coins", PAPER, "In short.", ["First.", "Then."], COIN, [replace(COIN, name="other")],
              [Finding("10", "9", "nearly")], "rookery reproduce coins", "checkers")  # fmt: skip


def test_a_form_has_the_bounds_of_its_settings() -> None:
    rows = {row["name"]: row for row in COIN.fields()}
    assert list(rows) == ["count", "bias", "start", "cell", "open"]
    count = rows["count"]
    assert (count["kind"], count["default"], count["low"], count["high"], count["step"], count["log"]) == (
        "whole", 10, 1, 100, 1, True,
    )  # fmt: skip
    assert (rows["bias"]["step"], rows["bias"]["log"], rows["bias"]["about"]) == (0.1, False, "Share of heads.")
    assert (rows["start"]["board"], rows["cell"]["picked"], rows["cell"]["high"]) == ("small", True, 8)
    assert "low" not in rows["open"]


def test_requests_are_bounded() -> None:
    for name, value in (("count", 1), ("count", 100), ("bias", 0), ("bias", 1.0), ("cell", 8), ("open", 10**6)):
        assert getattr(COIN.checked({name: value}), name) == value
    assert len(COIN.checked({"start": "x" * 200}).start) == 200
    for given, sentence in (
        ({"count": 0}, "count must be from 1 to 100, not 0"), ({"count": 101}, "count must be from 1 to 100, not 101"),
        ({"bias": 1.5}, "bias must be from 0 to 1, not 1.5"), ({"bias": -0.1}, "bias must be from 0 to 1, not -0.1"),
        ({"cell": 9}, "cell must be from 0 to 8, not 9"), ({"cell": -1}, "cell must be from 0 to 8"),
        ({"start": "x" * 201}, "start may have at most 200 characters"), ({"size": 1}, "unknown setting 'size'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            COIN(given)
    found = COIN({"count": 3})
    assert (found["text"], found["steps"], found["step_name"]) == ("3 throws of 0.5", 2, "step")
    assert found["panels"][0]["svgs"] == ["<svg/>"]


def test_a_page_as_json() -> None:
    card, data = PAGE.card(), PAGE.data()
    assert card == {
        "name": "checkers", "title": "Coins", "paper": "A. Author (2020)", "summary": "In short.",
        "svg": rookery.load("checkers").random_start(random.Random(3)).svg(),
    }  # fmt: skip
    assert card.items() <= data.items()
    assert [row["name"] for row in data["experiments"]] == ["coin", "other"], "the figure comes first"
    assert data["experiments"][0]["settings"] == COIN.fields()
    assert (data["story"], data["paper_title"], data["command"]) == (
        ["First.", "Then."], "A <title>", "rookery reproduce coins",
    )  # fmt: skip
    assert data["findings"] == [{"claimed": "10", "found": "9", "verdict": "nearly"}]
    assert PAGE.experiment("coin") is COIN
    assert PAGE.experiment("other").name == "other"
    with pytest.raises(ValueError, match="there is no experiment 'none' on this page"):
        PAGE.experiment("none")


def test_pages_are_found_by_their_games() -> None:
    names = lessons()
    assert set(names) <= set(rookery.GAMES)
    for name in names:
        assert lesson(name).game == name
    with pytest.raises(ValueError, match=f"there is no page about '{'x' * 40}'"):
        lesson("x" * 60)


def test_a_paper_item_by_item() -> None:
    assert PAPER.markdown().splitlines()[2:] == [r"| Figure 1 | `rookery show a\|b` | faithful |"]
    html = PAPER.html()
    assert "A. Author: A &lt;title&gt; (2020)" in html
    assert "<code>rookery show a|b</code>" in html
    assert html.count("<tr>") == 2
    undated = replace(PAPER, year=None)
    assert undated.citation == "A. Author"
    assert "(2020)" not in undated.html()
    assert paper_of("no_such_game") is None
    found = paper_of("checkers")
    assert found is not None
    assert found.citation.endswith(")")
