"""Games written in Python: the native algorithms remember their positions, and give what plain Python gives."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from rookery import _native
from rookery.game import TERMINAL, Game, State, choices
from rookery.search import mcts, perft
from rookery.testing import check_game
from tests.tic_tac_toe import TicTacToe


class Ring(Game):
    """One player walks around a ring of five cells; the game ends when a cell is met for the third time."""

    name, players, num_actions, observation_shape = "ring", 1, 2, (1, 1, 5)
    history_matters: ClassVar[bool] = True

    def initial_state(self) -> RingState:
        return RingState(self, [0])

    def parse_state(self, text: str) -> RingState:
        return RingState(self, [int(text)])


class ForgetfulRing(Ring):
    """The same with a promise that it breaks."""

    history_matters = False


class RingState(State):
    def __init__(self, game: Ring, path: list[int]) -> None:
        self._game, self.path = game, path

    @property
    def game(self) -> Ring:
        return self._game

    def player(self) -> int:
        return TERMINAL if max(Counter(self.path).values()) == 3 else 0

    def legal_actions(self) -> list[int]:
        return [] if self.player() == TERMINAL else [0, 1]

    def apply(self, action: int) -> None:
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not possible")
        self.path.append((self.path[-1] + (1, -1)[action]) % 5)

    def clone(self) -> RingState:
        return RingState(self._game, [*self.path])

    def returns(self) -> list[float]:
        return [float(len(self.path)) if self.player() == TERMINAL else 0.0]

    def key(self) -> bytes:
        return bytes([self.path[-1]])

    def observation(self) -> npt.NDArray[np.float32]:
        return np.eye(5, dtype=np.float32)[self.path[-1]].reshape(1, 1, 5)

    def __str__(self) -> str:
        return str(self.path[-1])


class Coins(Game):
    """One player takes 1 or 2 of six coins per turn and earns the square; what was earned is no part of the key."""

    name, players, num_actions, observation_shape = "coins", 1, 2, (1, 1, 1)
    observation_range = (0.0, 6.0)

    def initial_state(self) -> CoinsState:
        return CoinsState(self, 6, 0, 0)

    def parse_state(self, text: str) -> CoinsState:
        return CoinsState(self, int(text), 0, 0)


class CoinsState(State):
    def __init__(self, game: Coins, left: int, earned: int, last: int) -> None:
        self._game, self.left, self.earned, self.last = game, left, earned, last

    @property
    def game(self) -> Coins:
        return self._game

    def player(self) -> int:
        return 0 if self.left else TERMINAL

    def legal_actions(self) -> list[int]:
        return [0, 1][: self.left]

    def apply(self, action: int) -> None:
        if action not in self.legal_actions():
            raise ValueError(f"{action} is not possible")
        self.last = (action + 1) ** 2
        self.left, self.earned = self.left - action - 1, self.earned + self.last

    def clone(self) -> CoinsState:
        return CoinsState(self._game, self.left, self.earned, self.last)

    def rewards(self) -> list[float]:
        return [float(self.last)]

    def returns(self) -> list[float]:
        return [0.0 if self.left else float(self.earned)]

    def key(self) -> bytes:
        return bytes([self.left])

    def observation(self) -> npt.NDArray[np.float32]:
        return np.full((1, 1, 1), self.left, np.float32)

    def __str__(self) -> str:
        return str(self.left)


def plain_perft(state: State, depth: int) -> int:
    if depth == 0:
        return 1
    total = 0
    for action in choices(state):
        after = state.clone()
        after.apply(action)
        total += plain_perft(after, depth - 1)
    return total


def test_positions_of_games_that_look_back_are_kept_apart() -> None:
    start = Ring().initial_state()
    expected = [plain_perft(start, depth) for depth in range(10)]
    assert expected[-1] not in (0, 2**9)  # some walks have ended, some have not
    assert [perft(start, depth) for depth in range(10)] == expected
    check_game(Ring())


def test_what_the_promise_is_for() -> None:
    assert perft(ForgetfulRing().initial_state(), 9) == 2**9  # no walk ends if every cell is met for the first time
    with pytest.raises(AssertionError, match="history_matters"):
        check_game(ForgetfulRing())


def test_scores_belong_to_the_way() -> None:
    check_game(Coins())
    results = Coins().random_games(500, seed=1).returns[:, 0]
    assert set(results) == {6.0, 8.0, 10.0, 12.0}  # none to three times two coins
    assert max(mcts(Coins().initial_state(), simulations=400), key=lambda move: move.visits).action == 1


@pytest.mark.parametrize("game", [TicTacToe(), Ring(), Coins()], ids=lambda game: game.name)
@pytest.mark.parametrize("remembered", [0, 1, 7, 100])
def test_forgetting_changes_nothing(game: Game, remembered: int) -> None:
    start = game.initial_state()
    few, many = _native.PyState(start, remembered), _native.PyState(start)
    assert [few.perft(depth) for depth in range(6)] == [many.perft(depth) for depth in range(6)]
    for threads in (1, 2):
        (lengths, returns), (other_lengths, other_returns) = (s.random_games(100, 3, threads) for s in (few, many))
        assert np.array_equal(lengths, other_lengths)
        assert np.array_equal(returns, other_returns)
    assert few.mcts(50, 1.0, 2) == many.mcts(50, 1.0, 2)
    few_games, many_games = (
        first.Vector([first], 5, 4, threads, False, False, 0, -1, False) for first, threads in ((few, 2), (many, 1))
    )
    for _ in range(30):
        actions = few_games.sample()
        assert np.array_equal(actions, many_games.sample())
        few_games.step(actions)
        many_games.step(actions)
        for name in ("observation", "mask", "reward", "done", "player"):
            assert np.array_equal(getattr(few_games, name), getattr(many_games, name)), name
