"""Values that the documentation states are those of the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rookery.games.checkers import agents, net, q_learning
from rookery.games.checkers.levels import LEVELS
from rookery.games.checkers.methods import METHODS
from rookery.games.morpion.rules import RECORDS, UPPER_BOUNDS

DOCS = Path(__file__).parents[2] / "docs"
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "ten": 10}


def stated(page: str, pattern: str) -> list[float]:
    """The numbers in the one sentence of a page that matches."""
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    (found,) = set(re.findall(pattern, text))
    numbers = [found] if isinstance(found, str) else found
    return [float(WORDS.get(number, number.replace(",", ""))) for number in numbers]


def options(name: str) -> Any:
    (method,) = (method for method in METHODS if method.name == name)
    return method.Options()  # type: ignore[attr-defined]


def test_checkers_engine() -> None:
    page = "methods/checkers-engine.md"
    assert stated(page, r"how far it looks; ([0-9,]+) positions by default") == [agents.NODES]
    assert stated(page, r"in hundredths of log-odds; ([0-9]+) \|") == [agents.CONTEMPT]
    settings = net.Settings()
    assert stated(page, r"its defaults, (\w+) generations of ([0-9,]+) games") == [settings.generations, settings.games]
    assert stated("methods/td-checkers.md", r"plies that the agent looks ahead, ([0-9]+) by default") == [agents.DEPTH]
    assert options("td").depth == agents.DEPTH


def test_levels_of_checkers() -> None:
    text = (DOCS / "methods/checkers-engine.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([1-8]) \| ([\w ]+) \| ([0-9]+) \| ([^|]+) \|$", text, re.MULTILINE)
    assert len(rows) == len(LEVELS) == 8
    for number, ((place, name, elo, about), level) in enumerate(zip(rows, LEVELS, strict=True), 1):
        assert (int(place), name, int(elo), about.strip()) == (number, level.name, level.elo, level.about)
        if limit := re.search(r"looks (\w+) (?:move|plies) ahead", about):
            assert (level.depth, level.nodes) == (WORDS[limit[1]], 0)
        if limit := re.search(r"looks at ([0-9,]+) positions", about):
            assert (level.depth, level.nodes) == (0, int(limit[1].replace(",", "")))
        assert level.endgames == ("knows openings and endgames" in about)
    noise = [level.noise for level in LEVELS]
    assert noise == sorted(noise, reverse=True)
    assert all((level.noise > 0) for level in LEVELS if "err" in level.about)
    limits = [level.depth for level in LEVELS[:5]]
    assert limits == sorted(set(limits))
    assert LEVELS[-1].nodes == agents.NODES


def test_prior_state_voting() -> None:
    page, settings = "methods/prior-state-voting.md", q_learning.Settings()
    assert stated(page, r"author's program: alpha ([0-9.]+), epsilon ([0-9.]+), and") == [
        settings.alpha,
        settings.epsilon,
    ]
    first, last = stated(page, r"rises evenly from ([0-9.]+) in the first game to ([0-9.]+) in the last")
    assert (first, last) == (settings.first_discount, settings.last_discount)
    assert stated(page, r"what a draw is worth; ([0-9.]+) here") == [settings.draw_reward]
    assert (settings.capture_reward, settings.reward_decay) == (0.0, 1.0)  # "off by default"


def test_records_of_morpion() -> None:
    page = "games/morpion.md"
    most, touching = stated(page, r"4D ends after (\d+) moves at most and 4T after (\d+), which are proven and reached")
    assert (RECORDS["4D"], UPPER_BOUNDS["4D"]) == (most, most)
    assert (RECORDS["4T"], UPPER_BOUNDS["4T"]) == (touching, touching)
    bound, record = stated(page, r"5D has at most (\d+) moves, and the record is (\d+)")
    assert (RECORDS["5D"], UPPER_BOUNDS["5D"]) == (record, bound)
    bound, record = stated(page, r"5T at most (\d+), and the record is (\d+)")
    assert (RECORDS["5T"], UPPER_BOUNDS["5T"]) == (record, bound)
