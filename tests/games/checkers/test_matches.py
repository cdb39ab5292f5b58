"""Rows of native matches summed up by hand, and positions drawn from solved endgames."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from rookery.games.checkers import search
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.rules import Checkers
from rookery.games.checkers.search import MatchResult, Player, play_match
from tests.games.checkers import oracle

GAME = Checkers()


def test_rows_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row: result, plies, and for both players moves, nodes, seconds, and whether the solved endgames called a
    position of theirs won."""
    rows = np.array(
        [
            # result, plies, moves, moves, nodes, nodes, seconds, seconds, won, won
            [1, 60, 30, 30, 3000, 600, 1.5, 0.25, 1, 0],
            [-1, 50, 20, 25, 1000, 500, 0.5, 0.50, 1, 1],
            [0, 80, 40, 40, 500, 400, 0.25, 0.25, 1, 1],
            [0, 20, 10, 5, 500, 0, 0.25, 0.00, 0, 0],
            [-1, 20, 0, 0, 0, 0, 0.0, 0.00, 0, 1],
            [1, 20, 0, 0, 0, 0, 0.0, 0.00, 0, 1],
        ]
    )
    asked: list[Any] = []

    def native(*given: Any) -> Any:
        asked.append(given)
        return rows

    monkeypatch.setattr(search._native.checkers, "play_match", native)
    found = play_match(Player(3), Player(nodes=100, contempt=5), 6, seed=4, threads=1, opening=3)
    assert (found.wins, found.draws, found.losses, found.games) == (2, 2, 2, 6)
    assert found.score == pytest.approx(0.5)
    assert found.nodes_per_move == pytest.approx((5000 / 100, 1500 / 100))
    assert found.seconds_per_move == pytest.approx((2.5 / 100, 1.0 / 100))
    # The first threw away the second and the third game; the second player the third and the last one.
    assert found.thrown == (2, 2)
    (given,) = asked
    assert str(given[0]) == str(GAME.initial_state())
    assert given[3:7] == (6, 4, 1, 3)


@pytest.mark.parametrize("games", [0, 1, 3, -2])
def test_games_come_in_pairs(games: int) -> None:
    with pytest.raises(ValueError, match=f"must be even, so that colours can be exchanged, and is {games}"):
        play_match(Player(), Player(), games)
    assert play_match(Player(), Player(), 2, threads=1).games == 2


def test_the_score_counts_a_draw_half() -> None:
    found = MatchResult(6, 3, 1, 0.0, (0.0, 0.0), (0.0, 0.0), (0, 0))
    assert found.games == 10
    assert found.score == 0.75
    low, high = found.interval
    assert low < 0.75 < high
    p, n, z = 0.75, 10, 1.96  # Wilson's interval
    middle, half = p + z**2 / (2 * n), z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    assert (low, high) == pytest.approx(((middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)), abs=1e-4)


def test_positions_are_drawn_from_all_of_their_number_of_pieces() -> None:
    solved, rng = load_database(), random.Random(2)
    sides, kinds = Counter[int](), Counter[tuple[int, int]]()
    squares: set[int] = set()
    for _ in range(3000):
        state = solved.random_position(GAME, 2, rng)
        assert len(state.black) == len(state.white) == 1
        sides[state.side] += 1
        kings = [len(set(side) & set(state.kings)) for side in (state.black, state.white)]
        kinds[kings[0], kings[1]] += 1
        squares |= {*state.black, *state.white}
        for king, side, home in ((kings[0], state.black, range(29, 33)), (kings[1], state.white, range(1, 5))):
            assert king or side[0] not in home  # a man on the last row would be a king
    assert squares == set(range(1, 33))
    assert 1350 < sides[0] < 1650
    # A king has 32 squares and a man 28; both cannot stand on one: 32 * 31 placements of two kings, 28 * 31 of a king
    # and a man each way, and of two men 28 * 28 less the 24 squares on which both may stand.
    placements = {(1, 1): 32 * 31, (1, 0): 28 * 31, (0, 1): 28 * 31, (0, 0): 28 * 28 - 24}
    total = sum(placements.values())
    for kind, count in placements.items():
        share = count / total
        assert abs(kinds[kind] / 3000 - share) < 4 * (share * (1 - share) / 3000) ** 0.5
    for pieces in (1, 5):
        with pytest.raises(ValueError, match=f"there are 2 to 4 pieces, not {pieces}"):
            solved.random_position(GAME, pieces, rng)


def test_the_number_of_pieces_is_kept_and_positions_are_legal() -> None:
    solved, rng = load_database(), random.Random(3)
    for pieces in (3, 4):
        for _ in range(50):
            state = solved.random_position(GAME, pieces, rng)
            assert len(state.black) + len(state.white) == pieces
            assert state.black
            assert state.white
            board = {**dict.fromkeys(state.black, "b"), **dict.fromkeys(state.white, "w")}
            board |= {square: board[square].upper() for square in state.kings}
            legal = oracle.legal_moves(board, "bw"[state.side])
            assert len(legal) == len(state.legal_actions())
