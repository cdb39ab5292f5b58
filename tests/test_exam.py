"""Exams of players: the same starts and the same chance for all, and what a game counts."""

from __future__ import annotations

import random

import pytest

import rookery
from rookery.agents import Agent
from rookery.exam import Exam, examine
from rookery.game import TERMINAL, State, play_chance
from rookery.registry import agent as load_agent
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


class First(Agent):
    """Plays the first legal move."""

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        return state.legal_actions()[0]


class Last(First):
    """Plays the last legal move, and remembers where it was asked."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        self.seen.append(str(state))
        return state.legal_actions()[-1]


def exam(**given: object) -> Exam:
    return Exam("", True, "points per game", "random", **given)  # type: ignore[arg-type]


def test_a_win_counts_one_and_sides_take_turns() -> None:
    """The first player fills a row from the left: 0, 1, 2 against 8, 7; the second gets there first only if it begins
    with a fork of its own, which it does not."""
    assert examine(GAME, exam(), First(), Last(), 4, seed=1) == [1.0, 0.0, 1.0, 0.0]
    assert examine(GAME, exam(sides=(1,)), First(), Last(), 2, seed=1) == [0.0, 0.0]
    assert examine(GAME, exam(sides=(0, 0, 1)), First(), Last(), 6, seed=1) == [1.0, 1.0, 0.0, 1.0, 1.0, 0.0]


def test_a_game_that_takes_too_long_is_drawn() -> None:
    assert examine(GAME, exam(moves=4), First(), Last(), 2, seed=1) == [0.5, 0.5]
    assert examine(GAME, exam(moves=5), First(), Last(), 2, seed=1) == [1.0, 0.0], "the fifth move wins"


def test_who_is_asked() -> None:
    agent, opponent = Last(), Last()
    examine(GAME, exam(), agent, opponent, 2, seed=1)
    moved, others = ([9 - text.count(".") for text in player.seen] for player in (agent, opponent))
    assert moved == [0, 2, 4, 6, 1, 3, 5], "8, 6, 4 and 2 win: seven moves per game"
    assert others == [1, 3, 5, 0, 2, 4, 6]


@pytest.mark.parametrize("moves", [1, 3, 1000])
def test_one_player_counts_what_it_has_earned(moves: int) -> None:
    """Played again by hand, with the same random numbers."""
    game = rookery.load("tenten", "3x3-three")
    agent = load_agent("random", game)
    expected = []
    for number in range(3):
        rng = random.Random(f"7/{number}")
        state, earned = game.initial_state(), 0.0
        for _ in range(moves):
            play_chance(state, rng)
            if state.player() == TERMINAL:
                break
            state.apply(agent.choose(state, rng))
            earned += state.rewards()[0]
        expected.append(earned)
    assert examine(game, exam(moves=moves), agent, None, 3, seed=7) == expected
    assert examine(game, exam(moves=1000), agent, None, 3, seed=7) != examine(game, exam(), agent, None, 3, seed=8)


def test_starts_are_drawn_if_asked() -> None:
    game = rookery.load("solitaire-chess", "4x4")
    seen = Last()
    examine(game, exam(starts="random"), seen, None, 5, seed=2)
    assert seen.seen[0] == str(game.random_start(random.Random("2/0")))
    assert len(set(seen.seen)) > 5
