from __future__ import annotations

import random

import pytest

from rookery import arena
from rookery.games.tenten.greedy import GreedyAgent
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


def test_values_are_lines_now_or_the_chance_that_the_next_piece_fits() -> None:
    """With 1x1, 1x2 and 2x1, all as likely, on 2x2."""
    game = TenTen(2, 2, "three")
    state = game.parse_state("#./.. 1x1")
    assert GreedyAgent(1).values(state) == {1: 1.0, 2: 1.0, 3: 0.0}
    assert GreedyAgent(3).values(state) == GreedyAgent(1).values(state)
    # A filled row or column leaves the empty board; two corners leave no room for 1x2 and 2x1.
    assert GreedyAgent(2).values(state) == pytest.approx({1: 1.0, 2: 1.0, 3: 1 / 3})
    for algorithm, words in ((1, "lines cleared now 1"), (2, "chance that the next piece fits 1")):
        why = GreedyAgent(algorithm).explain(state)
        assert why.action == 1
        assert [reason.split(": ")[0] for reason in why.reasons] == [state.action_name(a) for a in (1, 2, 3)]
        assert why.reasons[0].endswith(words)
        assert why.values == GreedyAgent(algorithm).values(state)
    many = GreedyAgent(1).explain(TenTen(3, 3, "three").parse_state(".../.../... 1x1"))
    assert len(many.reasons) == 5
    chosen = {GreedyAgent(3).choose(game.parse_state("../.. 1x1"), random.Random(seed)) for seed in range(9)}
    assert chosen == {0}, "all four corners are worth the same, and the first is taken"
