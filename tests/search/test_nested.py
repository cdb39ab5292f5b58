"""NRPA and NMCS as agents, and Morpion's `best`."""

from __future__ import annotations

import os
import random
import signal
import threading

import pytest

import rookery
from rookery.game import TERMINAL, Game, State, play_chance
from rookery.games.morpion.search import shipped
from rookery.registry import agent as load_agent
from rookery.search.agents import NestedAgent


def play(game: Game, name: str, seed: int) -> State:
    agent, rng = load_agent(name, game), random.Random(seed)
    state = game.initial_state()
    play_chance(state, rng)
    while state.player() != TERMINAL:
        state.apply(agent.choose(state, rng))
        play_chance(state, rng)
    return state


@pytest.mark.parametrize(("name", "least"), [("nrpa:level=1", 28), ("nmcs:level=1", 26)])
def test_nested_agents_play_long_games(name: str, least: int) -> None:
    game = rookery.load("morpion", "4D")
    scores = [play(game, name, seed).returns()[0] for seed in range(5)]
    assert sum(scores) / 5 > least  # random play averages 24.06
    assert play(game, name, 3).key() == play(game, name, 3).key()


def test_a_search_is_followed_to_its_end() -> None:
    game = rookery.load("morpion", "4T")
    agent = load_agent("nrpa:level=1", game)
    state, rng = game.initial_state(), random.Random(1)
    agent.choose(state, rng)
    foreseen = agent.plan[state.key()][1]  # type: ignore[attr-defined]
    while state.player() != TERMINAL:
        state.apply(agent.choose(state, rng))
    assert state.returns() == [foreseen]


def test_another_game_is_searched_anew() -> None:
    """Else all games of a match would be the first one again."""
    game = rookery.load("morpion", "4D")
    agent = load_agent("nrpa:level=1", game)
    states = []
    for seed in (1, 2, 1):
        state, rng = game.initial_state(), random.Random(seed)
        while state.player() != TERMINAL:
            state.apply(agent.choose(state, rng))
        states.append(state.key())
    assert states[0] != states[1]
    assert states[0] == states[2]


@pytest.mark.parametrize("variant", ["5D", "5T", "4D", "4T"])
def test_the_best_agent_plays_the_grid_that_ships(variant: str) -> None:
    game = rookery.load("morpion", variant)
    assert play(game, "best", 0).key() == shipped(variant).key()


def test_the_best_agent_searches_where_it_knows_nothing() -> None:
    game = rookery.load("morpion", "4D", board=10)
    assert play(game, "best", 0).returns()[0] > 24
    state = rookery.load("morpion", "4D").initial_state()
    agent = load_agent("best", state.game)
    known = agent.choose(state, random.Random(0))
    other = next(action for action in state.legal_actions() if action != known)
    state.apply(other)
    assert agent.choose(state, random.Random(0)) in state.legal_actions()


def test_values_are_the_best_returns_found_after_each_move() -> None:
    state = shipped("4D").game.initial_state()
    for action in shipped("4D").moves[:32]:
        state.apply(action)
    agent = load_agent("nrpa:level=2", state.game)
    values = agent.values(state)
    assert set(values) == set(state.legal_actions())
    assert max(values.values()) == 35  # optimal
    why = agent.explain(state)
    assert values[why.action] == 35


@pytest.mark.parametrize("game", [rookery.load("tenten", "3x3-three"), rookery.load("solitaire-chess")])
def test_other_games_of_one_player(game: Game) -> None:
    state = play(game, "nrpa:level=1,iterations=20", 2)
    assert state.player() == TERMINAL


def test_not_for_two_players() -> None:
    with pytest.raises(ValueError, match="nrpa does not fit checkers standard: it needs a game for one player"):
        load_agent("nrpa", rookery.load("checkers"))


def test_ctrl_c_is_not_swallowed() -> None:
    state = rookery.load("morpion").initial_state()
    agent = load_agent("nrpa:level=5", state.game)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agent.choose(state, random.Random(0))


def test_moves_are_valued_by_searches_of_one_level_less(monkeypatch: pytest.MonkeyPatch) -> None:
    game = rookery.load("morpion", "4D")
    state = game.initial_state()
    for level, below in ((1, 1), (2, 1), (3, 2), (4, 3)):
        asked: list[int] = []
        agent = NestedAgent("nrpa", level=level)

        def search(state: object, level: int, seed: int, asked: list[int] = asked) -> tuple[list[int], float]:
            asked.append(level)
            return [], float(len(asked))

        monkeypatch.setattr(agent, "_search", search)
        values = agent.values(state)
        assert asked == [below] * len(state.legal_actions())
        assert list(values.values()) == [float(n) for n in range(1, len(values) + 1)]
        first = state.legal_actions()[0]
        agent.plan = {state.key(): (first, 99.0)}
        assert agent.values(state)[first] == 99.0
