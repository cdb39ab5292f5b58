from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rookery
from rookery.game import CHANCE, TERMINAL
from rookery.games._2048.rules import DIRECTIONS, TwentyFortyEight, TwentyFortyEightState
from rookery.testing import check_game
from tests.games._2048 import oracle

SIZES = list(product((2, 3, 4), repeat=2))


def board_of(state: TwentyFortyEightState) -> oracle.Board:
    cells, columns = state.cells, state.game.columns
    tiles = [2**exponent if exponent else 0 for exponent in cells]
    return [tiles[i : i + columns] for i in range(0, len(tiles), columns)]


def check_moves(state: TwentyFortyEightState) -> None:
    """Every move, legal or not, against the slow rules."""
    board, greatest = board_of(state), state.game.tiles[-1]
    legal = []
    for action, name in enumerate(DIRECTIONS):
        expected, points = oracle.move(board, name, greatest)
        if expected == board:
            continue
        legal.append(action)
        after = state.clone()
        after.apply(action)
        assert (board_of(after), after.rewards(), after.score - state.score) == (expected, [points], points)
        assert after.player() == CHANCE
    assert state.legal_actions() == legal
    assert state.player() == (0 if legal else TERMINAL)


def check_chances(state: TwentyFortyEightState) -> None:
    """Every tile that may come, and its probability, against the slow rules."""
    board, found = board_of(state), {}
    for outcome, probability in state.chance_outcomes():
        after = state.clone()
        after.apply(outcome)
        [new] = [
            (r, c, tile) for r, row in enumerate(board_of(after)) for c, tile in enumerate(row) if tile != board[r][c]
        ]
        assert board_of(after) == oracle.with_tile(board, *new)
        assert (after.rewards(), after.due) == ([0], state.due - 1)
        found[new] = probability
    assert found == pytest.approx(oracle.new_tiles(board))


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_games_agree_with_the_slow_rules(rows: int, columns: int) -> None:
    rng, game = random.Random(rows * 10 + columns), TwentyFortyEight(rows, columns)
    positions = 0
    while positions < 1000:
        state, score = game.initial_state(), 0.0
        while state.player() != TERMINAL:
            if state.player() == CHANCE:
                check_chances(state)
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply(rng.choices(outcomes, weights)[0])
            else:
                check_moves(state)
                positions += 1
                state.apply(rng.choice(state.legal_actions()))
            score += state.rewards()[0]
        check_moves(state)
        assert state.returns() == [score] == [state.score]


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_any_board_agrees_with_the_slow_rules(rows: int, columns: int) -> None:
    """Boards such as no game leads to, many of them full and with the greatest tiles."""
    rng, game = random.Random(rows * 10 + columns), TwentyFortyEight(rows, columns)
    most = len(game.tiles)
    for number in range(1000):
        low = rng.choice([0, 0, most - 2])
        cells = [rng.randint(low, min(most, low + 1 + number % 4)) for _ in range(rows * columns)]
        check_moves(TwentyFortyEightState(game, [*cells[1:], cells[0] or 1], 0))


def test_two_tiles_of_32768_do_not_merge() -> None:
    state = TwentyFortyEight().parse_state("32768,32768,16384,16384/.,.,.,./.,.,.,./.,.,.,.")
    state.apply(state.parse_action("left"))
    assert (str(state), state.score) == ("32768,32768,32768,./.,.,.,./.,.,.,./.,.,.,. +1", 32768)
    full = "/".join([",".join(["32768"] * 4)] * 4)
    assert TwentyFortyEight().parse_state(full).player() == TERMINAL


@pytest.mark.parametrize("variant", TwentyFortyEight.variants)
def test_the_greatest_tile_is_the_greatest_that_can_be(variant: str) -> None:
    """Beside all its halves down to 4 it fills the board; a tile twice as large has no room to be made."""
    game = rookery.load("2048", variant)
    assert isinstance(game, TwentyFortyEight)
    cells = game.rows * game.columns
    assert game.tiles[-1] == min(2 ** (cells + 1), 32768)
    assert game.observation_shape == (len(game.tiles) + 1, game.rows, game.columns)


def test_new_tiles_come_as_often_as_they_should() -> None:
    """The first two tiles of many games, natively drawn."""
    envs = rookery.vector(TwentyFortyEight(2, 2), 20_000, seed=1)
    tiles = envs.observation.reshape(20_000, 6, 4).argmax(axis=1)
    assert ((tiles > 0).sum(axis=1) == 2).all()
    assert np.isclose((tiles == 2).sum() / 40_000, 0.1, atol=0.006)
    pairs = np.unique(np.packbits(tiles > 0, axis=1), return_counts=True)[1]
    assert len(pairs) == 6
    assert np.allclose(pairs / 20_000, 1 / 6, atol=0.012)


def test_random_play_scores_as_known() -> None:
    """The slow rules scored 1,098.8 on average over 20,000 games, with a standard error of 3.8."""
    played = TwentyFortyEight().random_games(100_000, seed=11)
    assert played.returns.mean() == pytest.approx(1098.8, abs=16)


def test_threads_do_not_matter() -> None:
    one, two = (TwentyFortyEight().random_games(500, seed=9, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert np.array_equal(one.returns, two.returns)


def test_observation() -> None:
    state = TwentyFortyEight(2, 2).parse_state("2,./8,2")
    planes = state.observation()
    assert planes[0].tolist() == [[0, 1], [0, 0]]
    assert planes[1].tolist() == [[1, 0], [0, 1]]
    assert planes[3].tolist() == [[0, 0], [1, 0]]
    assert planes.sum() == 4


def test_a_quarter_turn_turns_the_directions() -> None:
    game = TwentyFortyEight(3, 3)
    turns = {tuple(symmetry.cells): symmetry.actions[:4] for symmetry in game.symmetries()}
    assert len(turns) == 7
    assert turns[2, 5, 8, 1, 4, 7, 0, 3, 6] == [1, 2, 3, 0]  # clockwise: up becomes right


@pytest.mark.parametrize("size", [(2, 4), (4, 2)])
def test_boards_that_are_no_variant_conform(size: tuple[int, int]) -> None:
    check_game(TwentyFortyEight(*size), games=2, max_length=60)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 2 rows of 2 cells such as '2,./2,.', not ''"),
        ("2,2/2", "expected 2 rows of 2 cells"),
        ("2,2/2,3", "unknown tile '3'; a cell is . or one of 2, 4, 8, 16, 32"),
        ("2,2/2,64", "unknown tile '64'"),
        (".,./.,.", "two tiles are due on an empty board"),
        (".,./.,. +1", "two tiles are due on an empty board"),
        ("2,./.,. +2", "else one or none"),
        ("2,4/8,2 +1", "no room for another tile"),
        ("2,4/8,2 +3", "expected 2 rows"),
    ],
)
def test_bad_positions_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TwentyFortyEight(2, 2).parse_state(text)


def test_bad_sizes_are_refused() -> None:
    for size in ((1, 4), (4, 5), (0, 0), (-1, 3)):
        with pytest.raises(ValueError, match="2 to 4 rows and columns"):
            TwentyFortyEight(*size)


@given(st.text(alphabet="248163.,/ +", max_size=20) | st.text(max_size=20))
def test_garbage_is_refused_or_read(text: str) -> None:
    game = TwentyFortyEight(2, 2)
    try:
        state = game.parse_state(text)
    except ValueError:
        return
    assert game.parse_state(str(state)).key() == state.key()
