from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rookery
from rookery import _native
from rookery.exact.solve import solve_game
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.games.tenten.exact import Evaluation, TablePolicy
from rookery.games.tenten.rules import TenTen
from rookery.learn import ntuple
from rookery.learn.methods import NTuple
from rookery.learn.ntuple import Network, Settings, cell_numbers, default_tuples, parse_tuples
from rookery.symmetry import Symmetry, of_grid
from rookery.training import learner, train
from tests.learn.test_q_learning import after, never_loses
from tests.tic_tac_toe import TicTacToe
from tests.training import trained

EXAMPLES = Path(__file__).parents[2] / "examples"


class Fill(Game):
    """Put a stone on an empty cell: it earns the number of its neighbours. Then chance takes another cell."""

    name = "fill"
    players = 1

    def __init__(self, rows: int = 2, columns: int = 3) -> None:
        self.rows, self.columns = rows, columns
        self.num_actions = rows * columns
        self.observation_shape = (3, rows, columns)

    def initial_state(self) -> FillState:
        return FillState(self, [0] * self.num_actions, CHANCE, 0.0)

    def symmetries(self) -> list[Symmetry]:
        return [Symmetry(cells, cells) for cells in of_grid(self.rows, self.columns)]


class FillState(State):
    def __init__(self, game: Fill, cells: list[int], player: int, reward: float, total: float = 0.0) -> None:
        self._game, self.board, self.turn, self.reward, self.total = game, cells, player, reward, total

    @property
    def game(self) -> Fill:
        return self._game

    def player(self) -> int:
        return self.turn if 0 in self.board else TERMINAL

    def legal_actions(self) -> list[int]:
        return [cell for cell, what in enumerate(self.board) if what == 0] if self.player() == 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        empty = [cell for cell, what in enumerate(self.board) if what == 0]
        return [(cell, 1 / len(empty)) for cell in empty] if self.player() == CHANCE else []

    def apply(self, action: int) -> None:
        row, column = divmod(action, self._game.columns)
        self.reward = 0.0
        if self.turn == 0:
            for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if 0 <= r < self._game.rows and 0 <= c < self._game.columns:
                    self.reward += self.board[r * self._game.columns + c] == 1
        self.board = [*self.board[:action], 1 if self.turn == 0 else 2, *self.board[action + 1 :]]
        self.turn = CHANCE if self.turn == 0 else 0
        self.total += self.reward

    def clone(self) -> FillState:
        return FillState(self._game, self.board, self.turn, self.reward, self.total)

    def returns(self) -> list[float]:
        return [self.total if self.player() == TERMINAL else 0.0]

    def rewards(self) -> list[float]:
        return [self.reward]

    def key(self) -> bytes:
        return bytes([*self.board, self.turn == 0])

    def observation(self) -> npt.NDArray[np.float32]:
        board = np.array(self.board).reshape(self._game.rows, self._game.columns)
        return np.stack([board == 1, board == 2, np.full_like(board, self.turn == 0)]).astype(np.float32)

    def __str__(self) -> str:
        return f"{self.board} {self.turn}"


class PlainRng:
    """The random numbers of native/core/rng.hpp."""

    def __init__(self, seed: int, stream: int) -> None:
        self.words: list[int] = []
        x, z = self._splitmix(seed)
        x = z ^ (stream * 0xD1342543DE82EF95 % 2**64)
        for _ in range(4):
            x, z = self._splitmix(x)
            self.words.append(z)

    @staticmethod
    def _splitmix(x: int) -> tuple[int, int]:
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        z = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return x, z ^ z >> 31

    def next(self) -> int:
        def rotl(x: int, n: int) -> int:
            return (x << n | x >> (64 - n)) % 2**64

        w = self.words
        result = rotl(w[1] * 5 % 2**64, 7) * 9 % 2**64
        t = w[1] << 17 & (2**64 - 1)
        w[2] ^= w[0]
        w[3] ^= w[1]
        w[1] ^= w[2]
        w[0] ^= w[3]
        w[2] ^= t
        w[3] = rotl(w[3], 45)
        return result

    def below(self, n: int) -> int:
        while True:
            product = (self.next() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def uniform(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def place(network: Network, side: int, tuple_: tuple[int, ...], contents: tuple[int, ...]) -> int:
    """Where a weight is: tables one after the other, the number on the first cell in the lowest bits."""
    bits = network.numbers.bits
    sizes = [2 ** (bits * len(t)) for t in network.tuples]
    first: int = sum(sizes) * side + sum(sizes[: network.tuples.index(tuple_)])
    return first + sum(number << (bits * i) for i, number in enumerate(contents))


def weights_of(network: Network) -> npt.NDArray[np.float32]:
    """All weights, the new ones too."""
    arrays = network.arrays(everything=False)
    weights = np.zeros(network.native.weights, np.float32)
    weights[np.unpackbits(arrays["known"], bitorder="little")[: len(weights)].astype(bool)] = arrays["weights"]
    return weights


class PlainLearner:
    """The method once more, slowly, beginning with the weights of a network."""

    def __init__(self, network: Network) -> None:
        self.network, self.game, self.s, self.numbers = network, network.game, network.settings, network.numbers
        self.images = [list(range(int(np.prod(self.game.observation_shape[1:]))))]
        if self.s.symmetries:
            self.images += [list(symmetry.cells) for symmetry in self.game.symmetries()]
        self.weights = weights_of(network)
        self.errors, self.sizes = np.zeros_like(self.weights), np.zeros_like(self.weights)

    def cells(self, state: State) -> list[int]:
        planes = state.observation().reshape(self.game.observation_shape[0], -1)
        found = []
        for cell in range(planes.shape[1]):
            pattern = sum(int(planes[p, cell] != 0) << i for i, p in enumerate(self.numbers.planes))
            known = pattern in self.numbers.patterns
            code = self.numbers.patterns.index(pattern) + 1 if known else self.numbers.most
            found.append(0 if pattern == 0 else min(code, self.numbers.most))
        return found

    def active(self, state: State, side: int) -> list[int]:
        """One weight for each tuple and each way it is laid on the grid."""
        cells = self.cells(state)
        ways = {(t, tuple(image[cell] for cell in t)): None for image in self.images for t in self.network.tuples}
        return [place(self.network, side, t, tuple(cells[c] for c in at)) for t, at in ways]

    def value(self, active: list[int]) -> float:
        return self.s.first_value + float(sum(self.weights[i] for i in active))

    def learn(self, active: list[int], error: float) -> None:
        for i in set(active):
            rate = abs(self.errors[i]) / self.sizes[i] if self.s.coherence and self.sizes[i] > 0 else 1.0
            self.weights[i] += self.s.alpha / len(active) * rate * error
            self.errors[i] += error
            self.sizes[i] += abs(error)

    def expected(self, state: State, player: int) -> float:
        """What a position is worth to its last player, over all outcomes of chance."""
        total = 0.0
        for outcome, probability in state.chance_outcomes():
            next_ = after(state, outcome)
            total += probability * next_.rewards()[player]
            if next_.player() == player:
                total += probability * self.s.discount * max(self.worths(next_)[1])
        return total

    def worths(self, state: State) -> tuple[list[Any], list[float]]:
        """The positions after the moves, and what the moves are worth."""
        player = state.player()
        nexts: list[Any] = [after(state, action) for action in state.legal_actions()]
        values = [0.0 if s.player() == TERMINAL else self.value(self.active(s, player)) for s in nexts]
        return nexts, [s.rewards()[player] + value for s, value in zip(nexts, values, strict=True)]

    def play(self, epsilon: float, rng: PlainRng) -> None:
        state: Any = self.game.initial_state()
        trace: list[tuple[list[Any], int]] = []

        def chance() -> list[float]:
            earned = [0.0] * self.game.players
            while state.player() == CHANCE:
                point = rng.uniform()
                for outcome, probability in state.chance_outcomes():  # noqa: B007, the one that was drawn
                    point -= probability
                    if point < 0:
                        break
                state.apply(outcome)
                earned = [a + b for a, b in zip(earned, state.rewards(), strict=True)]
            return earned

        def teach(target: float) -> None:
            error = target - self.value(trace[-1][0])
            for active, side in reversed(trace[-self.s.trace_length if self.s.trace else -1 :]):
                self.learn(active, error if side == trace[-1][1] else -error)
                error *= self.s.discount * self.s.trace

        earned, last = chance(), None
        while state.player() != TERMINAL:
            player = state.player()
            nexts, worth = self.worths(state)
            best, ties = 0, 1
            for i in range(1, len(worth)):
                if worth[i] > worth[best]:
                    best, ties = i, 1
                elif worth[i] == worth[best]:
                    ties += 1
                    if rng.below(ties) == 0:
                        best = i
            if last is not None:
                teach(earned[last] + self.s.discount * (worth[best] if player == last else -worth[best]))
            chosen = best
            if epsilon > 0 and rng.uniform() < epsilon:
                chosen = rng.below(len(worth))
                if worth[chosen] < worth[best]:
                    trace.clear()
            state, last = nexts[chosen], player
            if state.player() == TERMINAL:
                return
            trace.append((self.active(state, player), player))
            if self.s.every_outcome and state.player() == CHANCE:
                teach(self.expected(state, player))
                last = None
            earned = chance()
        if last is not None:
            teach(earned[last])


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        (Fill(), Settings(games=20, tuples="0,1; 0,1,3,4", alpha=0.5, coherence=False, discount=0.9)),
        (Fill(), Settings(games=30, tuples="0,1,2,3,4,5; 1", trace=0.6, trace_length=2, first_value=3.0, epsilon=0.3)),
        (Fill(), Settings(games=20, tuples="0,2; 1,3,4", every_outcome=True, alpha=0.5)),
        (Fill(2, 4), Settings(games=8, tuples="0,1,5; 3,7; 1,2", trace=0.5)),
        (TicTacToe(), Settings(games=40, tuples="0,1,2,3,4; 4,8", epsilon=0.5, trace=0.7, discount=0.95, alpha=0.8)),
        (TicTacToe(), Settings(games=40, tuples="0,1,2; 3,4,5; 6,7,8", epsilon=1.0, coherence=False, alpha=0.3)),
        (Fill(1, 18), Settings(games=3, tuples="0,1,2; 5,17,3", epsilon=0.2)),  # too wide for packed cells
    ],
)
def test_native_learning_is_the_plain_one(game: Game, settings: Settings) -> None:
    """Weights are random at first, so that no two moves are worth the same; so symmetric positions must be rare."""
    if game != Fill(2, 4):
        settings = replace(settings, symmetries=False)
    network = Network(game, settings)
    first = np.random.default_rng(3).normal(size=network.native.weights).astype(np.float32)
    network.restore({"known": np.packbits(first != 0, bitorder="little"), "weights": first})
    plain = PlainLearner(network)
    network.learn(0, settings.games // 2, seed=5)
    network.learn(settings.games // 2, settings.games, seed=5)
    for number in range(settings.games):
        share = number / (settings.games - 1)
        epsilon = settings.epsilon + (settings.last_epsilon - settings.epsilon) * share
        plain.play(epsilon, PlainRng(5, number))
    learned = weights_of(network)
    assert np.sum(learned != first) >= 8
    assert np.allclose(learned, plain.weights, rtol=1e-4, atol=1e-5)


def test_without_settings_games_are_greedy_and_an_error_reaches_one_position() -> None:
    learned = []
    plain = Settings(games=20, tuples="0,1; 0,1,3,4")
    for settings in (plain, replace(plain, epsilon=0.0, last_epsilon=0.0, trace=0.0, discount=1.0, alpha=1.0)):
        network = Network(Fill(), settings)
        network.learn(0, settings.games, seed=5)
        learned.append(weights_of(network))
    assert learned[0].any()
    assert np.array_equal(learned[0], learned[1])


def test_one_step_by_hand() -> None:
    """Two moves on 2x2, without symmetries: the first position after a move is drawn towards what comes next."""
    game = Fill(2, 2)
    settings = Settings(games=1, tuples="0,1; 2,3", symmetries=False, alpha=0.5, coherence=False)
    network = Network(game, settings)
    start = game.initial_state()
    start.board, start.turn = [1, 2, 0, 0], 0  # any move; chance takes the last cell; the game is over
    type(network._first).ntuple_learn(
        [_native.PyState(start)], network.native, network._view, settings.native(), 0, 1, 1, 0, 1, 0.0
    )
    # The position after the move was worth 0 and chance earns nothing: nothing is learned.
    assert not network.arrays()["weights"].any()

    start.board, start.turn = [0, 0, 0, 0], 0
    type(network._first).ntuple_learn(
        [_native.PyState(start)], network.native, network._view, settings.native(), 0, 1, 1, 0, 1, 0.0
    )
    # A move on an empty board earns nothing. Chance takes a cell; two are left. If one of them is a neighbour of the
    # first stone the best move earns 1, and so it always does: the two weights of the position get half of it together.
    weights = network.arrays()["weights"]
    assert weights.tolist() == pytest.approx([0.25, 0.25])


def test_the_step_goes_down_the_gradient() -> None:
    """The change of every weight is alpha / weights times the error times the derivative of the value."""
    game = Fill(2, 2)
    settings = Settings(games=200, tuples="0,1; 0,2; 1,2,3", alpha=0.2)
    network = Network(game, settings)
    network.learn(0, 200, seed=1)
    state = game.initial_state()
    state.apply(0)
    cells = network.cells(state).ravel()
    active = network.native.find(cells, 0)
    value = network.native.value(cells, 0)
    assert len(active) == network.native.lookups == 8 + 8 + 8  # every tuple is laid on the grid in eight ways
    weights = weights_of(network)
    assert value == pytest.approx(weights[active].sum(), abs=1e-5)
    step = 1e-2
    for place in set(active):
        moved = weights.copy()
        moved[place] += step
        arrays = {"known": np.packbits(moved != 0, bitorder="little"), "weights": moved[moved != 0]}
        network.restore(arrays)
        slope = (network.native.value(cells, 0) - value) / step
        assert slope == pytest.approx(active.count(place), abs=1e-2)


def test_numbers_on_cells() -> None:
    numbers = cell_numbers(Fill())
    assert (numbers.planes, numbers.patterns) == ((0, 1), (1, 2))  # whose turn it is does not tell cells apart
    state = Fill().initial_state()
    state.apply(4)
    state.apply(0)
    assert Network(Fill(), Settings()).cells(state).tolist() == [[1, 0, 0], [0, 2, 0]]
    game = rookery.load("tenten", "4x4-seven")
    board = game.parse_state("##../..../..../...# 1x1")
    assert Network(game, Settings(most_cell=1)).cells(board).sum() == 3
    checkers = cell_numbers(rookery.load("checkers"))
    assert 4 <= checkers.most <= 7


def test_default_tuples() -> None:
    identity: list[Sequence[int]] = [range(16)]
    game = Fill(4, 4)
    square = [*identity, *of_grid(4, 4)]
    assert default_tuples(game, 1, identity) == (tuple(range(16)),)
    assert default_tuples(game, 4, square) == (
        (0, 1, 2, 4, 5, 6), (1, 2, 5, 6, 9, 10), (0, 1, 2, 3), (0, 5, 10, 15), (1, 5, 9, 13)
    )  # fmt: skip
    many = default_tuples(game, 4, identity)
    assert {len(cells) for cells in many} <= {3, 4, 5}
    assert sum(16 ** len(cells) for cells in many) <= ntuple.WEIGHTS
    assert set(range(16)) == {cell for cells in many for cell in cells}


def test_tuples_as_text() -> None:
    assert parse_tuples("0,1;3 , 2", 2, 2) == ((0, 1), (2, 3))
    assert [len(cells) for cells in parse_tuples("8x6", 4, 4)] == [6] * 8
    for text, rows, words in (
        ("4x6", 3, "for a grid of 4x4"), ("a", 4, "not 'a'"), ("0,16", 4, "from 0 to 15"), ("0;;1", 4, "not '0;;1'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            Network(Fill(rows, 4), Settings(tuples=text))


def test_what_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="alpha must be from 0 to 1"):
        Settings(alpha=2)
    everything = ",".join(map(str, range(16)))
    with pytest.raises(ValueError, match=r"4,294,967,296 weights, which take 51.5 GB, and .* GB are free"):
        Network(Fill(4, 4), Settings(tuples=everything, table_bits=32))
    with pytest.raises(ValueError, match="table_bits must be at most 32"):
        Settings(table_bits=33)
    flat = Fill(1, 4)
    flat.observation_shape = (4,)
    with pytest.raises(ValueError, match="ntuple does not fit fill: it needs a board of rows and columns"):
        learner(flat, "ntuple")


def test_images_are_worth_the_same() -> None:
    game = Fill(3, 4)
    network = Network(game, Settings(games=200, tuples="0,1,2; 0,1,4,5; 5,6"))
    network.learn(0, 200, seed=2)
    cells = np.random.default_rng(0).integers(0, 3, 12).astype(np.uint8)
    for image in of_grid(3, 4):
        turned = np.empty_like(cells)
        turned[list(image)] = cells
        assert network.native.value(turned, 0) == pytest.approx(network.native.value(cells, 0), rel=1e-4)
    alone = Network(game, Settings(tuples="0,1,2", symmetries=False))
    assert (alone.native.lookups, network.native.lookups) == (1, 4 + 4 + 2)  # half a turn changes nothing on 5,6


def test_looking_ahead_is_what_it_says() -> None:
    game = Fill()
    network = Network(game, Settings(games=300, tuples="0,1,2; 0,1,3,4", discount=0.9))
    network.learn(0, 300, seed=3)

    def best(state: State, depth: int) -> dict[int, float]:
        if depth == 0:
            return network.values(state)
        values = {}
        for action in state.legal_actions():
            next_ = after(state, action)
            values[action] = next_.rewards()[0]
            for outcome, probability in next_.chance_outcomes():
                then = after(next_, outcome)
                if then.player() != TERMINAL:
                    values[action] += 0.9 * probability * max(best(then, depth - 1).values())
        return values

    state = after(game.initial_state(), 2)
    for depth in (0, 1, 2):
        assert network.values(state, depth) == pytest.approx(best(state, depth), rel=1e-4)


def test_tic_tac_toe_is_never_lost(tmp_path: Path) -> None:
    game = TicTacToe()
    run = train(game, "ntuple", out=tmp_path / "run", games=30_000, threads=2)
    agent = run.agent()
    assert never_loses(game, agent, 0)
    assert never_loses(game, agent, 1)
    ends = [sum(row[name] for name in ("first_won", "drawn", "second_won")) for row in run.metrics]
    assert run.metrics[-1]["games"] == 30_000 == sum(ends)
    assert run.agent(depth=2).values(game.initial_state())


def test_nim_is_won_where_it_can_be() -> None:
    game = rookery.load(str(EXAMPLES / "nim.py"))
    network = Network(game, Settings(games=60_000, epsilon=1.0, last_epsilon=0.1))
    network.learn(0, 60_000, seed=1)
    kept = total = 0
    for heaps in np.ndindex(4, 5, 6):
        for side in ("first", "second"):
            state = game.parse_state(" ".join(map(str, [*heaps, side])))
            if state.player() == TERMINAL or not np.bitwise_xor.reduce(heaps):
                continue
            values = network.values(state)
            best = after(state, max(values, key=lambda action: values[action]))
            total += 1
            kept += np.bitwise_xor.reduce([int(heap) for heap in str(best).split()[:3]]) == 0
    assert total > 150
    assert kept == total


def positions(game: Game, count: int) -> Iterator[State]:
    rng = random.Random(7)
    while count:
        state: Any = game.initial_state()
        for _ in range(rng.randrange(8)):
            if state.player() != TERMINAL:
                state.apply(rng.choice(state.legal_actions()))
        if state.player() != TERMINAL:
            count -= 1
            yield state


def test_connect_four_keeps_the_value() -> None:
    game = rookery.load(str(EXAMPLES / "connect_four.py"), rows=3, columns=4)
    network = Network(game, Settings(games=20_000, epsilon=1.0, last_epsilon=0.1))
    network.learn(0, 20_000, seed=1)
    solved = solve_game(game.initial_state())
    kept = 0
    for state in positions(game, 300):
        values = network.values(state)
        best = after(state, max(values, key=lambda action: values[action]))
        worth = best.returns()[state.player()] if best.player() == TERMINAL else -solved.value(best)
        kept += worth == solved.value(state)
    assert kept >= 285


def test_a_player_alone_with_chance() -> None:
    """1010! on 3x3, beside its exact solution."""
    game = rookery.load("tenten", "3x3-seven")
    network = Network(game, replace(ntuple.default_settings(game), games=10_000, every_outcome=True))
    network.learn(0, 10_000, seed=1)
    played = network.play(4000, seed=9)
    best = solve_game(game.initial_state()).value(game.initial_state())
    assert played.mean == pytest.approx(best, abs=4 * played.error)


def exact_policy(game: TenTen, network: Network) -> Evaluation:
    """What greedy play by a network for 1010! with one piece per round is worth, exactly."""
    size = game.rows * game.columns
    values: dict[int, float] = {}
    table = np.empty(1 << size)
    lines = [sum(1 << (row * game.columns + column) for column in range(game.columns)) for row in range(game.rows)]
    lines += [sum(1 << (row * game.columns + column) for row in range(game.rows)) for column in range(game.columns)]
    for raw in range(1 << size):
        full = [line for line in lines if raw & line == line]
        board = raw
        for line in full:
            board &= ~line
        if board not in values:
            cells = np.array([board >> i & 1 for i in range(size)], np.uint8)
            values[board] = network.native.value(cells, 0)
        table[raw] = values[board] + 5 * len(full) * (len(full) + 1)
    return TablePolicy(game, [table]).evaluate()


def learned(game: TenTen, moves: int, first_value: float) -> Evaluation:
    """Greedy play after some moves of training."""
    settings = Settings(
        games=10**9, every_outcome=True, coherence=False, first_value=first_value, epsilon=0.3, last_epsilon=0.3
    )
    network = Network(game, settings)
    done = games = 0
    while done < moves:
        played = network.learn(games, games + 20, seed=1)
        games, done = games + played.games, done + played.moves
    return exact_policy(game, network)


def test_small_boards_are_played_perfectly() -> None:
    game = TenTen(3, 3, "seven")
    best = solve_game(game.initial_state()).value(game.initial_state())
    assert learned(game, 100_000, 1000.0).mean_score == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize(("variant", "games"), [("2x2", 2000), ("2x3", 40_000)])
def test_sliding_tiles_beside_the_exact_solution(variant: str, games: int) -> None:
    game = rookery.load("2048", variant)
    network = Network(game, replace(ntuple.default_settings(game), games=games, every_outcome=True, coherence=False))
    assert network.numbers.planes == ()  # the game itself says what is on its cells
    network.learn(0, games, seed=1)
    played = network.play(4000, seed=9)
    best = solve_game(game.initial_state()).value(game.initial_state())
    assert 0.98 * best - 3 * played.error < played.mean < best + 4 * played.error


@pytest.mark.slow
def test_4x4_is_played_almost_perfectly() -> None:
    """27,601 rounds are the most that are possible."""
    assert learned(TenTen(4, 4, "seven"), 12_000_000, 250_000.0).mean_rounds > 0.99 * 27_601


def test_training_in_parts_is_training_at_once(tmp_path: Path) -> None:
    game = TicTacToe()
    whole = train(game, "ntuple", out=tmp_path / "whole", games=2000, seed=4)
    stop = iter([False] * 30 + [True])

    def interrupt(row: object) -> None:
        if next(stop):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ntuple, "CHECKPOINT_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            train(game, "ntuple", out=tmp_path / "parts", games=2000, seed=4, on_row=interrupt)
    assert (tmp_path / "parts" / "checkpoint.npz").exists()
    resumed = train(game, "ntuple", out=tmp_path / "parts", games=2000, seed=4, resume=True)
    assert resumed.metrics[-1]["games"] == 2000
    again = train(game, "ntuple", out=tmp_path / "parts", games=2000, seed=4, resume=True)
    assert again.metrics == resumed.metrics  # there was nothing left to do
    one, other = (ntuple.load(game, run.folder / "model.npz").arrays() for run in (whole, resumed))
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


def test_minutes_end_a_training(tmp_path: Path) -> None:
    run = train(Fill(), "ntuple", out=tmp_path / "run", games=10**9, minutes=0.002)
    last = run.metrics[-1]
    assert last["progress"] == 1
    assert 0 < last["games"] < 10**6
    assert last["megabytes"] < 1


def test_a_game_may_have_a_special_form(tmp_path: Path) -> None:
    """1010! has its own ntuple; the generic one is trained by naming the method itself."""
    game = rookery.load("tenten", "3x3-seven")
    run = train(game, NTuple(), out=tmp_path / "run", settings=Settings(games=500))
    agent = NTuple().agent(game, NTuple.Options(), run.folder / "model.npz")
    state = game.random_start(random.Random(1))
    assert set(agent.values(state)) == set(state.legal_actions())
    with pytest.raises(ValueError, match="tenten ntuple"):
        run.agent()


def test_damaged_networks_are_refused(tmp_path: Path) -> None:
    game = TicTacToe()
    network = Network(game, Settings(tuples="0,1,2"))
    network.learn(0, 20, seed=1)
    path = tmp_path / "model.npz"
    network.save(path, "tic-tac-toe ntuple")
    assert ntuple.load(game, path).arrays()["weights"].size > 3
    good = network.arrays(everything=False)
    for bad in (
        {"known": good["known"][:-1], "weights": good["weights"]},
        {"known": good["known"], "weights": good["weights"][:-1]},
        {"known": np.full_like(good["known"], 255), "weights": good["weights"]},
    ):
        with pytest.raises(ValueError, match="another network"):
            network.restore(bad)
    with pytest.raises(ValueError, match="not 'fill ntuple'"):
        ntuple.load(Fill(), path)
    with pytest.raises(ValueError, match="there is no file"):
        ntuple.load(game, tmp_path / "nothing.npz")


def swept(game: Game, **settings: Any) -> Network:
    network = Network(game, Settings(games=1, **settings))
    for _ in network.sweep(seed=3):
        pass
    return network


def test_sweeps_end_in_the_exact_values() -> None:
    """From values that are above all that is possible, as the network has learned nothing."""
    game = rookery.load("2048", "2x2")
    network = swept(game, first_value=300.0, optimism=0.0, sweeps=60, sweep_games=100)
    oracle = rookery.agent("oracle", game)
    rng = random.Random(1)
    seen = 0
    for _ in range(20):  # games of perfect play, which meet only positions that matter
        state: Any = game.initial_state()
        while state.player() != TERMINAL:
            if state.player() == CHANCE:
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply(rng.choices(outcomes, chances)[0])
                continue
            exact, found = oracle.values(state), network.values(state)
            assert exact is not None
            assert max(found.values()) == pytest.approx(max(exact.values()), abs=1e-3)
            assert max(found, key=lambda move: found[move]) in [
                move for move, value in exact.items() if value == pytest.approx(max(exact.values()), abs=1e-3)
            ]
            state.apply(max(exact, key=lambda move: exact[move]))
            seen += 1
    assert seen > 100
    assert network.play(4000, seed=5).mean == pytest.approx(66.964149, rel=0.02)


def test_sweeps_of_a_python_game_by_hand() -> None:
    """On one row of three cells the second stone earns 1 beside the first, if chance leaves a cell beside it."""
    game = Fill(1, 3)
    network = swept(game, first_value=9.0, optimism=0.0, sweeps=12, sweep_games=20, symmetries=False)
    state: Any = game.initial_state()
    state.apply(0)  # chance takes the left cell: the other two are for the player and for chance
    assert network.values(state) == {1: pytest.approx(0.0), 2: pytest.approx(0.0)}
    assert network.native.remembered > 0


def test_what_is_not_remembered_looks_better_by_a_share() -> None:
    game = rookery.load("2048", "2x2")
    network = Network(game, Settings(first_value=100.0))
    state = game.parse_state("2,2/.,.")
    plain = network.values(state)
    network.native.remember(np.array([12345], dtype=np.uint64), np.array([0.0], dtype=np.float32))
    network.native.set_optimism(0.25)
    assert network.values(state) == {move: pytest.approx(value + 25.0) for move, value in plain.items()}


def test_images_are_remembered_as_one_position() -> None:
    game = rookery.load("2048", "2x3")
    network = swept(game, first_value=600.0, sweeps=3, sweep_games=20)
    keys, values = network.native.positions()
    assert len(set(np.asarray(keys).tolist())) == len(keys) == len(values) == network.native.remembered
    by_itself = swept(game, first_value=600.0, sweeps=3, sweep_games=20, symmetries=False)
    assert by_itself.native.remembered > network.native.remembered
    for text, image in (("2,4,./.,.,8", "8,.,./.,4,2"), ("2,4,16/.,.,8", ".,.,8/2,4,16")):
        position, turned = network.values(game.parse_state(text)), network.values(game.parse_state(image))
        assert sorted(position.values()) == pytest.approx(sorted(turned.values()))


def test_sweeps_do_not_depend_on_threads() -> None:
    game = rookery.load("2048", "2x3")
    one, two = (swept(game, first_value=600.0, sweeps=4, sweep_games=30, threads=threads) for threads in (1, 2))
    for mine, other in zip(one.native.positions(), two.native.positions(), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_no_more_positions_than_wanted() -> None:
    network = swept(rookery.load("2048", "2x3"), first_value=600.0, sweeps=3, sweep_games=20, positions=50)
    assert network.native.remembered == 50


def test_a_training_stopped_in_its_sweeps_ends_as_one_that_was_not(tmp_path: Path) -> None:
    game = rookery.load("2048", "2x2")
    given: Any = {"games": 200, "sweeps": 4, "sweep_games": 20, "seed": 1}
    whole = train(game, NTuple(), out=tmp_path / "whole", **given)
    assert [row["sweeps"] for row in whole.metrics if "sweeps" in row] == [1, 2, 3, 4]
    assert whole.metrics[-1]["progress"] == 1

    def stop(row: dict[str, Any]) -> None:
        if row.get("sweeps") == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(game, NTuple(), out=tmp_path / "stopped", on_row=stop, **given)
    again = train(game, NTuple(), out=tmp_path / "stopped", resume=True, **given)
    assert len(again.metrics) == len(whole.metrics)
    state = game.parse_state("2,4/.,.")
    values = [run.agent().values(state) for run in (whole, again)]
    assert values[0] == values[1]
    loaded = ntuple.load(game, tmp_path / "whole" / ntuple.MODEL)
    assert loaded.native.remembered == whole.metrics[-1]["positions"]


def test_sweeps_are_for_one_player() -> None:
    with pytest.raises(ValueError, match="sweeps are for one player, and tic-tac-toe has 2"):
        Network(TicTacToe(), Settings(sweeps=1))


@pytest.mark.slow
def test_2048_on_3x3_within_two_percent(tmp_path: Path) -> None:
    game = rookery.load("2048", "3x3")
    given: Any = {"games": 400_000, "first_value": 0.0, "sweeps": 120, "sweep_games": 4000, "optimism": 0.2}
    train(game, NTuple(), out=tmp_path / "run", seed=1, **given)
    played = ntuple.load(game, tmp_path / "run" / ntuple.MODEL).play(20_000, seed=7)
    assert played.mean - 2 * played.error > 0.98 * 5468.486797


# Where tuples lie, what networks take, and how a training goes


def test_rectangles_and_diagonals_lie_on_every_place() -> None:
    """Beside all sets of cells of a board of 3x4: those of 2x3 that are next to each other, and of three diagonal."""
    rectangles = [
        (0, 1, 2, 4, 5, 6), (1, 2, 3, 5, 6, 7),
        (4, 5, 6, 8, 9, 10), (5, 6, 7, 9, 10, 11),
    ]  # fmt: skip
    assert list(ntuple._places(3, 4, 2, 3)) == rectangles
    assert list(ntuple._places(3, 4, 3, 1)) == [(0, 4, 8), (1, 5, 9), (2, 6, 10), (3, 7, 11)]
    assert len(list(ntuple._places(3, 4, 1, 1))) == 12
    assert set(ntuple._diagonals(3, 4, 3)) == {(0, 5, 10), (1, 6, 11), (2, 5, 8), (3, 6, 9)}
    assert len(list(ntuple._diagonals(3, 4, 2))) == 2 * 2 * 3


@pytest.mark.parametrize(("rows", "columns", "bits"), [(3, 5, 5), (5, 4, 6), (8, 8, 3), (2, 7, 4)])
def test_default_tuples_are_lines_and_rectangles_as_large_as_a_table(rows: int, columns: int, bits: int) -> None:
    """A table of 12 bits: no tuple has more cells than fit into it, and every line that long is one of them."""
    cells = 12 // bits
    game = Fill(rows, columns)
    found = default_tuples(game, bits, [range(rows * columns)], table_bits=12)
    whole = tuple(range(rows * columns))
    assert (whole in found) == (bits * len(whole) <= 40), "small grids have one of all cells"
    parts = [part for part in found if part != whole]
    assert max(map(len, parts)) == cells
    places = {part: {divmod(cell, columns) for cell in part} for part in parts}
    for row, column in np.ndindex(rows, columns):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = {(row + i * down, column + i * right) for i in range(cells)}
            if all(0 <= r < rows and 0 <= c < columns for r, c in line):
                assert line in places.values()
    assert parts == sorted(parts, key=lambda part: (-len(part), part)), "the longest first"


def test_a_network_takes_four_bytes_a_weight_and_twelve_while_steps_have_sizes() -> None:
    """Two tuples of two and three cells of two bits, and a table of 5 bits: 2^4 and 2^5 weights."""
    settings = Settings(tuples="0,1; 2,3,4", table_bits=5)
    assert Network(Fill(), settings).numbers.bits == 2
    assert Network(Fill(), settings).bytes == (16 + 32) * 12
    assert Network(Fill(), settings, learns=False).bytes == (16 + 32) * 4
    assert Network(Fill(), replace(settings, coherence=False)).bytes == (16 + 32) * 4
    two = Network(TicTacToe(), replace(settings, coherence=False))
    assert two.bytes == 2 * (16 + 32) * 4, "every side has its own"


def test_the_mean_of_games_and_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Returns of 1, 2, 3 and 4: they spread by 5/4 around 2.5."""
    asked = []

    def play(self: Network, starts: Any, settings: Settings, first: int, end: int, *rest: Any) -> Any:
        asked.append((settings.alpha, settings.epsilon, settings.last_epsilon, settings.threads, first, end))
        return SimpleNamespace(returns=10.0, squares=30.0, games=4, best=4.0, moves=24)

    monkeypatch.setattr(Network, "_play", play)
    played = Network(Fill(), Settings(epsilon=0.5, last_epsilon=0.2, tuples="0,1")).play(4, seed=1, threads=2)
    assert (played.games, played.mean, played.best, played.moves) == (4, 2.5, 4, 24)
    assert played.error == pytest.approx((5 / 4 / 4) ** 0.5)
    assert asked == [(0, 0, 0, 2, 0, 4)], "it plays the best it knows, and learns nothing"


class Clocked:
    """Training whose games take a tenth of a second each, on a clock that nothing else moves; at most 25 games in a
    part are played to the end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.asked, self.saved = 100.0, list[tuple[int, int, float]](), list[int]()
        clock = SimpleNamespace(monotonic=lambda: self.now, perf_counter=lambda: self.now)
        monkeypatch.setattr(ntuple, "time", clock)
        monkeypatch.setattr(Network, "learn", lambda network, *given: self.learn(*given))
        monkeypatch.setattr(Network, "save", lambda network, path, kind, games, seed: self.saved.append(games))

    def learn(self, first: int, end: int, seed: int, seconds: float, control: Any) -> Any:
        self.asked.append((first, end, round(seconds, 6)))
        games = min(end - first, 25)
        self.now += games / 10
        return SimpleNamespace(games=games, returns=3.0 * games, best=7.0, moves=5 * games, results=[0.5, 0.25, 0.25])


def test_a_short_training_has_a_row_per_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked = Clocked(monkeypatch)
    rows = trained(Fill(), "ntuple", Settings(games=3, tuples="0,1"), tmp_path)
    assert [(first, end) for first, end, _ in clocked.asked] == [(0, 1), (1, 2), (2, 3)]
    assert [row["games"] for row in rows] == [1, 2, 3]


def test_a_training_goes_in_a_hundred_parts_or_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked = Clocked(monkeypatch)
    rows = trained(Fill(), "ntuple", Settings(games=4000, tuples="0,1"), tmp_path)
    # A part has 40 games; 25 of them are played, and then the others.
    assert clocked.asked[:4] == [(0, 40, 15), (25, 40, 15), (40, 80, 15), (65, 80, 15)]
    assert [row["games"] for row in rows[:4]] == [25, 40, 65, 80]
    assert len(rows) == 200
    first = rows[0]
    assert (first["mean_return"], first["best_return"], first["mean_moves"]) == (3, 7, 5)
    assert first["moves_per_second"] == 50
    assert first["minutes"] == pytest.approx(2.5 / 60)
    assert first["megabytes"] == 0.0
    assert [row["progress"] for row in rows[:2]] == [25 / 4000, 40 / 4000]
    assert rows[-1]["progress"] == 1
    # 10 games a second: a checkpoint when more than a minute is over, and at the end.
    assert clocked.saved[0] == 625
    assert clocked.saved[-1] == 4000
    assert all(600 <= later - earlier <= 640 for earlier, later in itertools.pairwise(clocked.saved[:-1]))


def test_a_training_ends_with_its_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clocked = Clocked(monkeypatch)
    rows = trained(TicTacToe(), "ntuple", Settings(games=10_000, minutes=0.05, tuples="0,1"), tmp_path)
    # Three seconds: 2.5 are over after the first 25 games.
    assert clocked.asked == [(0, 100, 3), (25, 100, 0.5)]
    assert [row["progress"] for row in rows] == [pytest.approx(2.5 / 3), 1]
    assert [rows[0][name] for name in ("first_won", "drawn", "second_won")] == [0.5, 0.25, 0.25]
    assert "best_return" not in rows[0]
    assert clocked.saved == [50]
