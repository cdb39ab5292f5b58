"""The games at a glance."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rookery.game import CHANCE, RandomGames
from rookery.registry import load
from rookery.studies import overview
from rookery.studies.sizes import SIZES


def summary(name: str, lengths: list[int], returns: list[list[float]]) -> overview.Summary:
    game = load(name)
    play = RandomGames(np.array(lengths, np.int32), np.array(returns), 0.5)
    return overview.Summary(game, "v", game.initial_state(), play)


def test_a_row_has_the_mean_length_and_the_outcomes() -> None:
    lengths = [10, 12, 20, 30]
    two = summary("checkers", lengths, [[1, -1], [1, -1], [0, 0], [-1, 1]])
    half = 1.96 * statistics.stdev(lengths) / 2
    assert two.mean_length == pytest.approx((18.0, half))
    name, games, speed, mean, outcomes = two.row()
    assert (name, games, speed) == ("checkers v", "4", "8")
    assert mean == f"18.00 ± {half:.2f}"
    assert sorted(share.split()[-1] for share in outcomes.split(", ")) == ["25.0%", "25.0%", "50.0%"]
    solved = summary("solitaire-chess", lengths, [[1.0], [0.0], [0.0], [1.0]])
    assert solved.row()[4].startswith("return: ")
    assert "50.0%" in solved.row()[4]
    few = summary("tenten", lengths, [[10.0], [250.0], [10.0], [10.0]])
    assert few.row()[4] == "return: 10 75.0%, 250 25.0%"
    many = summary("tenten", [*lengths, 8], [[10.0], [250.0], [30.0], [1.0], [70.0]])
    assert many.row()[4] == "return: min 1, 25% 10, 50% 30, 75% 70, max 250"


def test_every_game_is_measured_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def few(self: object, games: int, seed: int) -> RandomGames:
        asked.append(games)
        return play(self, 40, seed)

    play = type(load("checkers")).random_games
    monkeypatch.setattr(overview, "GAMES", dict.fromkeys(("checkers", "tenten", "2048")))
    for name in ("checkers", "tenten", "2048"):
        monkeypatch.setattr(type(load(name)), "random_games", few)
    result = overview.run(SIZES["quick"], 3, tmp_path, Console(quiet=True))
    [table] = result.tables
    assert [row[0].split()[0] for row in table.rows] == ["checkers", "tenten", "2048"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert [figure.caption.split()[0] for figure in result.figures] == ["checkers", "tenten", "2048"]
    overview.run(SIZES["full"], 3, tmp_path, Console(quiet=True))
    assert asked == [20_000] * 3 + [200_000] * 3


@pytest.mark.parametrize("name", ["checkers", "tenten", "solitaire-chess"])
def test_the_drawn_position_is_from_the_middle_of_a_game(name: str) -> None:
    game = load(name)
    play = game.random_games(50, 1)
    state = overview._middle_of_a_game(game, play, 5)
    assert str(state) == str(overview._middle_of_a_game(game, play, 5))
    assert str(state) != str(overview._middle_of_a_game(game, play, 6))
    assert state.player() != CHANCE
    if name == "checkers":
        assert len(state.actions) == int(play.lengths.mean() / 2)
