"""Values that the documentation of learners states are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rookery
from rookery.learn import ntuple, q_learning

DOCS = Path(__file__).parents[2] / "docs" / "methods"
WORDS = {"five": 5.0}


def stated(page: str, pattern: str) -> list[float]:
    """The numbers in the one sentence of a page that matches."""
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    (found,) = set(re.findall(pattern, text))
    return [WORDS.get(number) or float(number) for number in ([found] if isinstance(found, str) else found)]


def test_first_values_of_ntuple_networks() -> None:
    """The best return of 200 random games times five, for one player."""
    (games, times) = stated("ntuple.md", r"the best return of ([0-9]+) random games times (\w+)")
    game = rookery.load("2048", "2x2")
    best = game.random_games(int(games), threads=1).returns.max()
    assert ntuple.default_settings(game).first_value == times * best
    assert times == ntuple.HOPE
    assert ntuple.default_settings(rookery.load("checkers")).first_value == 0.0


@pytest.mark.parametrize(("name", "chance"), [("2048", True), ("morpion", False), ("checkers", False)])
def test_random_moves_are_for_games_without_chance(name: str, chance: bool) -> None:
    settings = ntuple.default_settings(rookery.load(name))
    if chance:
        assert (settings.epsilon, settings.last_epsilon) == (0.0, 0.0)
    else:
        assert settings.epsilon > settings.last_epsilon > 0


def test_tables_of_ntuple_networks() -> None:
    (bits,) = stated("ntuple.md", r"table of 2\^`table_bits` weights can hold it \(2\^([0-9]+) if nothing is said\)")
    assert ntuple.Settings().table_bits == bits
    (millions,) = stated("ntuple.md", r"as large as ([0-9]+) million weights allow")
    assert millions * 1e6 == ntuple.WEIGHTS
    (contents,) = stated("ntuple.md", r"on grids of up to 2\^([0-9]+) contents the whole grid beside them")
    assert contents == ntuple.WHOLE_BITS


@pytest.mark.parametrize(("bits", "whole"), [(4, True), (5, False)])
def test_a_grid_has_a_tuple_of_all_cells_up_to_40_bits(bits: int, whole: bool) -> None:
    """Ten cells of 4 bits are 40 bits, too many for a table and not for a hash."""
    game = type("Grid", (), {"observation_shape": (1, 2, 5), "players": 1})()
    found = ntuple.default_tuples(game, bits, [list(range(10))])
    assert (tuple(range(10)) in found) is whole
    assert found == tuple(sorted(found, key=lambda cells: (cells == tuple(range(10)), -len(cells), cells)))


def test_exploration_of_q_learning() -> None:
    settings = q_learning.Settings()
    first, last = stated("q-learning.md", r"falling from ([0-9.]+) to ([0-9.]+) \(the default\)")
    assert (first, last) == (settings.epsilon, settings.last_epsilon)
