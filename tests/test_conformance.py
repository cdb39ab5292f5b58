"""Every registered game keeps the promises of the interface, in every variant; so does the example."""

from __future__ import annotations

import numpy as np
import pytest

import rookery
from rookery.game import CHANCE, Game, State
from rookery.testing import check_game
from tests.test_arena import Coin as CoinState
from tests.test_arena import Coins
from tests.tic_tac_toe import TicTacToe, TicTacToeState

VARIANTS = [(name, variant) for name, game in rookery.GAMES.items() for variant in game.variants]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_game_and_variant(name: str, variant: str) -> None:
    check_game(rookery.load(name, variant), games=4, max_length=80)


def test_the_example_game() -> None:
    check_game(TicTacToe())


def broken(**methods: object) -> Game:
    """The example with some methods of its state replaced."""
    state_class = type("Broken", (TicTacToeState,), methods)

    class BrokenGame(TicTacToe):  # type: ignore[misc]
        def initial_state(self) -> State:
            return state_class(self, "." * 9)

        def parse_state(self, text: str) -> State:
            return state_class(self, super().parse_state(text).cells)

    if "clone" not in methods:
        state_class.clone = lambda self: state_class(self.game, self.cells)
    return BrokenGame()


@pytest.mark.parametrize(
    ("methods", "complaint"),
    [
        ({"key": lambda self: b"same"}, "equal keys, unequal positions"),
        ({"returns": lambda self: [1.0, 1.0]}, "zeros before the end"),
        ({"apply": lambda self, action: None}, "illegal action .* was accepted"),
        ({"action_name": lambda self, action: "move"}, "one name"),
        ({"__str__": lambda self: "x../.../..."}, "another position"),
        ({"svg": lambda self, overlay=None: "<svg>"}, "no element found"),
        ({"legal_mask": lambda self: np.ones(9, np.bool_)}, "mark the legal actions"),
        ({"rewards": lambda self: [0.0, 0.0]}, "add up to the returns"),
        ({"parse_action": lambda self, text: 0}, "read what action_name writes"),
        ({"__repr__": object.__repr__}, "which game or position"),
        ({"__eq__": lambda self, other: self is other, "__hash__": object.__hash__}, "a copy must equal"),
        ({"__hash__": object.__hash__}, "equal hashes"),
        ({"player": lambda self: 5}, "unknown player 5"),
        ({"chance_outcomes": lambda self: [(0, 1.0)]}, "only chance nodes have chance outcomes"),
        ({"legal_actions": lambda self: []}, "a player to move has actions"),
        ({"legal_actions": lambda self: [i for i in range(9) if self.cells[i] == "."]}, "and nobody else"),
        ({"legal_actions": lambda self: 2 * TicTacToeState.legal_actions(self)}, "an action is listed twice"),
        ({"legal_actions": lambda self: [9] if self.player() >= 0 else []}, "an action id is out of range"),
        ({"legal_mask": lambda self: np.zeros(10, np.bool_)}, "one entry per action"),
        ({"legal_mask": lambda self: np.zeros(9, np.int8)}, "an array of bools"),
        ({"rewards": lambda self: [0.0]}, "rewards.. gives one number per player"),
        ({"action_cells": lambda self, action: [-1]}, "cells are numbered from 0"),
        ({"returns": lambda self: [0.0], "rewards": lambda self: [0.0] * 2}, "returns.. gives one number per player"),
        ({"returns": lambda self: [0.5, 0.0] if self.player() < 0 else [0.0, 0.0]}, "add up to zero"),
        ({"returns": lambda self: [1e-6, 0.0] if self.player() < 0 else [0.0, 0.0]}, "add up to zero"),
        ({"observation": lambda self: np.zeros((2, 9), np.float32)}, "another shape than promised"),
        ({"observation": lambda self: np.zeros((2, 3, 3))}, "observations are float32"),
        ({"observation": lambda self: np.full((2, 3, 3), 2, np.float32)}, "holds 2.0, and observation_range is to 1"),
        ({"observation": lambda self: np.full((2, 3, 3), -1, np.float32)}, "holds -1.0, and observation_range is from"),
        ({"clone": lambda self: self}, "a copy must be another object|must not touch the original"),
        ({"__eq__": lambda self, other: True, "__hash__": lambda self: 1}, "a state equals other states only"),
    ],
)
def test_broken_games_are_caught(methods: dict[str, object], complaint: str) -> None:
    with pytest.raises(Exception, match=complaint):
        check_game(broken(**methods))


def test_broken_attributes_are_caught() -> None:
    for name, value, complaint in (
        ("name", "", "needs a name"), ("players", 3, "1 or 2 players"), ("num_actions", 0, "must be positive"),
        ("observation_shape", [2, 3, 3], "must be a tuple"), ("best_return", 0.5, "1.0 is above best_return"),
    ):  # fmt: skip
        game = type("Odd", (TicTacToe,), {name: value})()
        with pytest.raises(AssertionError, match=complaint):
            check_game(game)


def test_a_start_that_changes_is_caught() -> None:
    class Moving(TicTacToe):  # type: ignore[misc]
        made = 0

        def initial_state(self) -> State:
            self.made += 1
            return self.parse_state("x../.../..." if self.made % 2 else ".../.../...")

    with pytest.raises(AssertionError, match="always give the same position"):
        check_game(Moving())


@pytest.mark.parametrize(
    ("outcomes", "complaint"),
    [([(0, 0.5), (1, 0.49)], "add up to 1"), ([(0, 0.5), (2, 0.5)], "chance outcomes are action ids too")],
)
def test_broken_chance_is_caught(outcomes: list[tuple[int, float]], complaint: str) -> None:
    class Toss(CoinState):
        def chance_outcomes(self) -> list[tuple[int, float]]:
            return outcomes if self.player() == CHANCE else []

    class Tossed(Coins):
        def initial_state(self) -> State:
            return Toss(self, [])

    with pytest.raises(AssertionError, match=complaint):
        check_game(Tossed())


def test_a_refused_action_must_change_nothing() -> None:
    def apply(self: TicTacToeState, action: int) -> None:
        legal = action in self.legal_actions()
        first = self.cells.index(".") if "." in self.cells else 0
        if not legal:
            self.cells = self.cells[:first] + "x" + self.cells[first + 1 :]
            raise ValueError("no")
        self.cells = self.cells[:action] + "xo"[self.player()] + self.cells[action + 1 :]

    with pytest.raises(AssertionError, match="a refused action must change nothing"):
        check_game(broken(apply=apply))
