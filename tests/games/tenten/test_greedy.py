from __future__ import annotations

import random

import pytest

from rookery import arena
from rookery.games.tenten.rules import TenTen, TenTenState
from rookery.registry import agent as load_agent


@pytest.mark.parametrize(("algorithm", "mean"), [(1, 4744), (2, 312), (3, 690)])
def test_greedy_agents_last_as_long_as_the_paper_says(algorithm: int, mean: float) -> None:
    """Mean rounds of Figure 5's three algorithms; the agents are a second form of the study's tables."""
    game = TenTen(3, 3, "three")
    agent = load_agent(f"greedy:algorithm={algorithm}", game)
    games, rounds = (8, 0) if algorithm == 1 else (40, 0)
    for number in range(games):
        rng = random.Random(number)
        state, _ = arena.play_game(game.initial_state(), [agent], rng, [rng])
        assert isinstance(state, TenTenState)
        rounds += state.rounds
    # The length of a game is about exponential: four standard errors.
    assert rounds / games == pytest.approx(mean, rel=4 / games**0.5)


def test_the_papers_value_iteration_is_an_agent() -> None:
    game = TenTen(3, 3, "seven")
    state = game.parse_state("##./.../... 1x1")
    values = load_agent("oracle:objective=r1,discount=0.5", game).values(state)
    assert state.action_name(max(values, key=lambda action: values[action])) == "1x1@r1c3"
    with pytest.raises(ValueError, match="must be one of 1, 2, 3, not '4'"):
        load_agent("greedy:algorithm=4", game)
