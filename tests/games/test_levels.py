"""The levels that people meet: every one can play, and the strength that is told was measured."""

from __future__ import annotations

import random

import pytest

import rookery
from rookery import registry
from rookery.agents import Agent
from rookery.game import TERMINAL, play_chance
from rookery.registry import split_name

VARIANTS = [(name, variant) for name in sorted(rookery.GAMES) for variant in rookery.GAMES[name].variants]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_levels_name_agents_of_the_game(name: str, variant: str) -> None:
    game = rookery.load(name, variant)
    levels = game.levels()
    assert len({level.name for level in levels}) == len(levels)
    known = registry._known(game)
    assert all(split_name(level.agent)[0] in known for level in levels)


@pytest.mark.parametrize(
    ("name", "agent", "low", "high"),
    # What the levels tell, within what so few games may differ from it.
    [
        ("endgames", "random", 11, 15),
        ("endgames", "oracle", 16, 23),
        ("tenten", "random", 14, 28),
        ("morpion", "random", 36, 48),
    ],
)
def test_what_levels_tell_is_measured(name: str, agent: str, low: float, high: float) -> None:
    game = rookery.load(name, rookery.GAMES[name].play_variant)
    assert agent in [level.agent for level in game.levels()]
    exact = rookery.agent("oracle", game) if game.players == 2 else None
    player, plies = rookery.agent(agent, game), 0
    for seed in range(1000, 1030):
        rng = random.Random(seed)
        state = (exact or Agent()).practice_start(game, rng)
        while state.player() != TERMINAL:
            mover = exact if exact and state.player() == 0 else player
            state.apply(mover.choose(state, rng))
            play_chance(state, rng)
            plies += 1
    assert low < plies / 30 < high


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_strengths_are_told_of_the_variant_that_people_meet_first(name: str, variant: str) -> None:
    """Levels were measured there; those of checkers, in points of Elo, are told of all variants."""
    first = rookery.GAMES[name].play_variant or next(iter(rookery.GAMES[name].variants))
    told = {level.about != "" for level in rookery.load(name, variant).levels()}
    assert told == {variant == first or name == "checkers"}
