from __future__ import annotations

import math
import random
import threading
import time
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import rookery
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.search import mcts, minimax, perft
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


def test_perft_of_tic_tac_toe() -> None:
    state = GAME.initial_state()
    assert [perft(state, depth) for depth in range(6)] == [1, 9, 72, 504, 3024, 15120]
    assert perft(state, 6) == 54720  # 1,440 of the 15,120 are won after five moves, and go no further


@cache
def exact_value(text: str) -> float:
    """For x, by plain recursion."""
    state = GAME.parse_state(text)
    if state.player() == TERMINAL:
        return float(state.returns()[0])
    pick = max if state.player() == 0 else min
    return pick(exact_value(str(child(state, action))) for action in state.legal_actions())


def child(state: State, action: int) -> State:
    copy = state.clone()
    copy.apply(action)
    return copy


def test_minimax_values_every_root_move_exactly() -> None:
    rng = random.Random(4)
    for _ in range(60):
        state = GAME.initial_state()
        for _ in range(rng.randrange(2, 7)):
            if state.player() != TERMINAL:
                state.apply(rng.choice(state.legal_actions()))
        if state.player() == TERMINAL:
            continue
        sign = 1 if state.player() == 0 else -1
        expected = {action: sign * exact_value(str(child(state, action))) for action in state.legal_actions()}
        assert {move.action: move.value for move in minimax(state, 9)} == expected


def test_mcts_finds_the_only_saving_move() -> None:
    state = GAME.parse_state("x.o/.x./..o")  # x must stop the right column
    moves = mcts(state, simulations=2000, seed=3)
    assert sum(move.visits for move in moves) == 2000
    assert max(moves, key=lambda move: move.visits).action == 5
    assert moves == mcts(state, simulations=2000, seed=3)
    assert moves != mcts(state, simulations=2000, seed=4)


class Lottery(Game):
    """Take 0.4 for sure (action 0), or a ticket (action 1) that pays 1 with probability 0.7."""

    name, players, num_actions, observation_shape = "lottery", 1, 2, (1,)

    def initial_state(self) -> LotteryState:
        return LotteryState(self, "?")

    def parse_state(self, text: str) -> LotteryState:
        return LotteryState(self, text)


class LotteryState(State):
    def __init__(self, game: Lottery, text: str) -> None:
        self._game, self.text = game, text

    @property
    def game(self) -> Lottery:
        return self._game

    def player(self) -> int:
        return {"?": 0, "ticket": CHANCE}.get(self.text, TERMINAL)

    def legal_actions(self) -> list[int]:
        return [0, 1] if self.text == "?" else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.3), (1, 0.7)] if self.text == "ticket" else []

    def apply(self, action: int) -> None:
        if action not in (0, 1):
            raise ValueError("actions are 0 and 1")
        self.text = {"?": ["sure", "ticket"], "ticket": ["lost", "won"]}[self.text][action]

    def clone(self) -> LotteryState:
        return LotteryState(self._game, self.text)

    def returns(self) -> list[float]:
        return [{"sure": 0.4, "won": 1.0}.get(self.text, 0.0)]

    def key(self) -> bytes:
        return self.text.encode()

    def observation(self) -> npt.NDArray[np.float32]:
        return np.zeros(1, np.float32)

    def __str__(self) -> str:
        return self.text


def test_chance_is_sampled_by_its_probabilities() -> None:
    lottery = Lottery()
    results = lottery.random_games(4000, seed=2).returns[:, 0]
    # Half the games take the ticket and win it in 70%.
    assert np.mean(results == 1.0) == pytest.approx(0.35, abs=4 * math.sqrt(0.35 * 0.65 / 4000))
    values = {move.action: move.value for move in mcts(lottery.initial_state(), simulations=3000, seed=1)}
    assert values[0] == pytest.approx(0.4)
    assert values[1] == pytest.approx(0.7, abs=0.05)


def test_minimax_refuses_chance() -> None:
    with pytest.raises(ValueError, match="without chance"):
        minimax(Lottery().initial_state(), 3)


def test_searches_refuse_finished_games_and_bad_settings() -> None:
    over = GAME.parse_state("xxx/oo./...")
    for search in (lambda: mcts(over), lambda: minimax(over, 2)):
        with pytest.raises(ValueError, match="a player is to move"):
            search()
    start = GAME.initial_state()
    with pytest.raises(ValueError, match="simulations"):
        mcts(start, simulations=0)
    with pytest.raises(ValueError, match="depth"):
        minimax(start, 0)
    with pytest.raises(ValueError, match="depth"):
        perft(start, -1)
    with pytest.raises(ValueError, match="games"):
        GAME.random_games(-1)


def test_an_error_in_a_python_game_reaches_the_caller() -> None:
    class Faulty(LotteryState):
        def returns(self) -> list[float]:
            raise RuntimeError("no returns today")

        def clone(self) -> Faulty:
            return Faulty(self._game, self.text)

    with pytest.raises(RuntimeError, match="no returns today"):
        mcts(Faulty(Lottery(), "?"), simulations=10)


def test_a_control_stops_a_search_and_counts() -> None:
    control = rookery.Control()
    threading.Timer(0.3, control.stop).start()
    begin = time.perf_counter()
    moves = mcts(rookery.load("checkers").initial_state(), simulations=10**9, control=control)
    assert time.perf_counter() - begin < 5
    assert control.stopped
    assert sum(move.visits for move in moves) == control.done > 0


def test_the_same_games_on_any_number_of_threads() -> None:
    one, three = (GAME.random_games(300, seed=8, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.lengths, three.lengths)
    # Known shares of uniformly random tic-tac-toe: 58.5% x, 28.8% o, 12.7% drawn.
    shares = GAME.random_games(3000, seed=8).outcome_shares()
    assert shares["first wins"] == pytest.approx(0.585, abs=0.04)
    assert shares["drawn"] == pytest.approx(0.127, abs=0.03)
