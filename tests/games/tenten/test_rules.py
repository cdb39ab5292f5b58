from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.game import CHANCE, TERMINAL
from rookery.games.tenten.rules import PIECE_SETS, SHAPES, TenTen
from tests.games.tenten import oracle


def cells_of(state: Any) -> set[tuple[int, int]]:
    return {divmod(cell, state.game.columns) for cell in state.cells}


def test_piece_sets_match_the_paper() -> None:
    assert sum(PIECE_SETS["full"].values()) == 42
    assert len(PIECE_SETS["full"]) == len(SHAPES) == 19
    assert sorted(PIECE_SETS["full"].values()) == [1] * 4 + [2] * 10 + [3] * 4 + [6]
    probabilities = TenTen(3, 3, "seven").parse_state(".../.../...").chance_outcomes()
    assert [p for _, p in probabilities] == pytest.approx([0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])
    # A corner-L of 2x2 misses the cell opposite its corner.
    assert set(SHAPES["L2-nw"]) == {(0, 0), (0, 1), (1, 0)}
    assert set(SHAPES["L3-se"]) == {(2, 0), (2, 1), (2, 2), (0, 2), (1, 2)}


@pytest.mark.parametrize(("side", "expected"), [(3, 3317), (4, 892064)])
def test_counting_boards_pieces_and_placements(side: int, expected: int) -> None:
    game = TenTen(side, side, "seven")
    if side == 3:
        full = [{(i, c) for c in range(3)} for i in range(3)] + [{(r, i) for r in range(3)} for i in range(3)]
        squares = list(itertools.product(range(3), range(3)))
        total = 0
        for filled in itertools.product([0, 1], repeat=9):
            board = {square for square, bit in zip(squares, filled, strict=True) if bit}
            if any(line <= board for line in full):
                continue
            total += sum(len(oracle.placements(board, 3, 3, list(shape))) for shape in game.shapes)
        assert total == expected
    assert count_placements(game) == expected


def count_placements(game: TenTen) -> int:
    """The same count natively, over every board without a full line."""
    lines = [set(range(r * game.columns, (r + 1) * game.columns)) for r in range(game.rows)]
    lines += [set(range(c, game.rows * game.columns, game.columns)) for c in range(game.columns)]
    masks = [sum(1 << cell for cell in line) for line in lines]
    total = 0
    for board in range(1 << (game.rows * game.columns)):
        if any(board & mask == mask for mask in masks):
            continue
        total += sum(len(game.rules.placements(board, piece)) for piece in range(len(game.shapes)))
    return total


@given(
    rows=st.integers(1, 10),
    columns=st.integers(1, 10),
    pieces=st.sampled_from(sorted(PIECE_SETS)),
    hand=st.integers(1, 3),
    seed=st.integers(0, 2**32),
)
def test_agrees_with_the_slow_rules(rows: int, columns: int, pieces: str, hand: int, seed: int) -> None:
    rng = random.Random(seed)
    game = TenTen(rows, columns, pieces, hand)
    state = game.initial_state()
    score = rounds = 0
    for _ in range(60):
        if state.player() == CHANCE:
            state.apply(rng.randrange(len(game.shapes)))
            continue
        expected = {
            slot * rows * columns + r * columns + c
            for slot, piece in enumerate(state.hand)
            if piece >= 0
            for r, c in oracle.placements(cells_of(state), rows, columns, list(game.shapes[piece]))
        }
        assert set(state.legal_actions()) == expected
        if state.player() == TERMINAL:
            assert not expected
            assert state.returns() == [score]
            break
        action = rng.choice(sorted(expected))
        slot, cell = divmod(action, rows * columns)
        shape = list(game.shapes[state.hand[slot]])
        board, points = oracle.place(cells_of(state), rows, columns, shape, divmod(cell, columns))
        score, rounds = score + points, rounds + 1
        state.apply(action)
        assert (cells_of(state), state.score, state.rounds) == (board, score, rounds)


def test_two_lines_at_once() -> None:
    game = TenTen(3, 3, "three")
    state = game.parse_state("##./..#/..# 1x1")
    state.apply(2)  # completes the top row and the right column: 1 + 5 * 2 * 3
    assert (str(state), state.score) == (".../.../... ?", 31)


def test_random_play_lasts_as_long_as_known() -> None:
    lengths = TenTen().random_games(200_000, seed=11).lengths
    # Known to one decimal; the standard error here is 0.02.
    assert lengths.mean() == pytest.approx(20.5, abs=0.15)


def test_batch_play_draws_pieces_by_weight() -> None:
    # On a board of one cell, a game is over at the first piece that is not 1x1; each 1x1 clears the board.
    lengths = TenTen(1, 1, {"1x1": 3, "1x2": 1}).random_games(50_000, seed=3).lengths
    assert lengths.mean() == pytest.approx(3.0, abs=0.1)  # geometric: 0.75 / 0.25


def test_threads_do_not_matter() -> None:
    one, two = (TenTen(hand=3).random_games(500, seed=9, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert np.array_equal(one.returns, two.returns)


def test_observation() -> None:
    state = TenTen(2, 3, "three").parse_state("#.#/... 2x1")
    assert state.observation().tolist() == [[[1, 0, 1], [0, 0, 0]], [[1, 0, 0], [1, 0, 0]]]


def test_a_piece_of_your_own() -> None:
    game = TenTen(2, 3, {"##./.##": 1})
    state = game.initial_state()
    state.apply(0)
    assert [state.action_name(a) for a in state.legal_actions()] == ["##./.##@r1c1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 11}, "1 to 10 rows"),
        ({"pieces": "nine"}, "unknown piece set 'nine'; known sets: full"),
        ({"pieces": {"zigzag": 1}}, "unknown piece 'zigzag'"),
        ({"pieces": {"1x1": 0}}, "whole numbers from 1"),
        ({"pieces": {}}, "1 to 64 pieces"),
        ({"hand": 4}, "1 to 3 pieces"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TenTen(**options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected board rows and a hand"),
        ("##/.. 1x1", "expected 3 rows of 3"),
        ("###/.../... 1x1", "full line"),
        (".../.../... 3x3", "unknown piece '3x3'"),
        (".../.../... 1x1,1x1", "expected 1 pieces in the hand"),
        (".../.../... -", "at least one piece"),
    ],
)
def test_bad_positions_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TenTen(3, 3, "three").parse_state(text)


@given(st.text(alphabet="#./ -?,1x2L", max_size=40) | st.text(max_size=20))
def test_garbage_is_refused_or_read(text: str) -> None:
    game = TenTen(2, 2, "seven", hand=2)
    try:
        state = game.parse_state(text)
    except ValueError:
        return
    assert game.parse_state(str(state)).key() == state.key()
