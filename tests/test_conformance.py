"""Every registered game keeps the promises of the interface, in every variant; so does the example."""

from __future__ import annotations

import numpy as np
import pytest

import rookery
from rookery.game import Game, State
from rookery.testing import check_game
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
    ],
)
def test_broken_games_are_caught(methods: dict[str, object], complaint: str) -> None:
    with pytest.raises(Exception, match=complaint):
        check_game(broken(**methods))
