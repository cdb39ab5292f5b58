"""The experiments of the page about Prior State Voting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rookery import arena
from rookery.games.checkers.agents import QTableAgent
from rookery.games.checkers.q_learning import Fallback, QTable, Settings, play_against_random
from rookery.games.checkers.rules import Checkers
from rookery.games.checkers.study import PAPER_WINS
from rookery.registry import agent
from rookery.studies.lesson import lesson

GAME = Checkers()
POSITION = "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29"


def outcome(experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson("checkers").experiment(experiment)(settings)


def table_of(games: int, game: Checkers = GAME) -> QTable:
    table = QTable()
    table.train(game, replace(Settings(), games=games), 0)
    return table


@pytest.mark.parametrize("symmetries", [False, True])
def test_the_vote_is_that_of_the_trained_table(symmetries: bool) -> None:
    found = outcome("votes", games=60, symmetries=symmetries)
    state, table = GAME.parse_state(POSITION), table_of(60)
    votes = {state.action_name(a): (mean, n) for a, mean, n in table.voting(4 if symmetries else 1).scores(state)}
    rows = [(name, float(mean), int(count.replace(",", ""))) for name, mean, count in found["rows"]]
    assert {name: count for name, _, count in rows} == {name: count for name, (_, count) in votes.items()}
    means_of = {name: mean for name, (mean, _) in votes.items()}
    assert {name: mean for name, mean, _ in rows} == pytest.approx(means_of, abs=6e-5)
    means = [mean for _, mean, _ in rows]
    assert means == sorted(means, reverse=True)
    assert found["text"] == (
        f"The table knows {len(table):,} positions after 60 games; this one is not among them, "
        f"and {rows[0][0]} wins the vote."
    )
    titles = [panel["title"] for panel in found["panels"]]
    assert titles == [
        "The mean vote on every move", *[f"A vote for {rows[0][0]}"] * titles.count(f"A vote for {rows[0][0]}"),
        *[f"A vote against {rows[0][0]}"] * titles.count(f"A vote against {rows[0][0]}"),
    ]  # fmt: skip
    weights = [float(panel["notes"][0].split(":")[0]) for panel in found["panels"][1:]]
    assert 1 <= titles.count(f"A vote for {rows[0][0]}") <= 2
    assert all((weight > 0) == ("for" in title.split()) for weight, title in zip(weights, titles[1:], strict=True))
    for panel, weight in zip(found["panels"][1:], weights, strict=True):
        words = panel["notes"][0].split()
        value, cells = float(words[2]), int(words[words.index("times") + 1])
        assert weight == pytest.approx(value * cells / 64, abs=1e-4)


def test_a_known_position_and_one_that_is_over() -> None:
    start = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"
    assert (
        "this one is among them, so that its own values would decide"
        in outcome("votes", games=10, position=start)["text"]
    )
    with pytest.raises(ValueError, match="the game is over"):
        outcome("votes", games=10, position="B:W21:B")


def test_strength_is_the_share_of_points_in_a_match() -> None:
    found = outcome("strength", games=50, depth=1)
    table = table_of(50)
    shares = {}
    for row, player in zip(found["rows"], (QTableAgent(table, "voting"), QTableAgent(table)), strict=True):
        for cell, opponent in zip(row[1:], ("random", "minimax:depth=1"), strict=True):
            match = arena.match(GAME, player, agent(opponent, GAME), 40, 0)
            low, high = match.interval
            shares[row[0], opponent] = f"{100 * (match.wins + match.draws / 2) / 40:.0f}%"
            assert cell == f"{shares[row[0], opponent]} ({100 * low:.0f}-{100 * high:.0f})"
    assert [row[0] for row in found["rows"]] == ["votes", "random moves"]
    assert found["text"] == (
        f"The table with votes takes {shares['votes', 'random']} of the points from random, and "
        f"{shares['votes', 'minimax:depth=1']} from a program that looks 1 plies ahead and counts pieces."
    )


def test_the_figure_has_our_wins_and_those_of_the_paper() -> None:
    chart = outcome("figure")["panels"][0]["chart"]
    levels = [x for x, _ in chart["lines"]["votes, here"]]
    assert levels == [x for x, _ in chart["lines"]["random moves, here"]]
    assert max(levels) == 10_000
    game = Checkers(**Checkers.variants["no-draws"])
    ways: dict[str, Fallback] = {"votes": "voting", "random moves": "random"}
    for name, way in ways.items():
        match = play_against_random(table_of(int(levels[0]), game), game, way, 300, 0)
        assert chart["lines"][f"{name}, here"][0][1] == pytest.approx(match.wins / 3)
        theirs = [(level, wins) for level, wins in zip(levels, PAPER_WINS[way], strict=False) if wins is not None]
        assert chart["points"][f"{name}, paper"] == theirs
    assert chart["log_x"]
