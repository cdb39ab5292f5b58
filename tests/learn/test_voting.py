"""Prior State Voting for a game of one's own: the example, and small cases worked out by hand."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery
from rookery.learn.voting import PriorStateVoting, View, compare, grid_view, matching_fraction

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("prior_state_voting")


def test_overlap_of_two_small_boards() -> None:
    prior = View(np.array([[1, 2, 0], [0, 0, 1]], np.int8), (0, 1), "move")
    new = View(np.array([[1, 1, 2], [2, 0, 0]], np.int8), (0, 2), "move")
    # The new board lies one to the left: its columns 1 and 2 come upon columns 0 and 1.
    assert compare(prior, new).tolist() == [[1, 1, 0], [1, 1, 0]]
    assert compare(new, prior).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert matching_fraction(prior, new) == 4 / 6
    other = View(np.array([[1, 1, 1], [2, 0, 2]], np.int8), (0, 2), "move")
    assert compare(prior, other).tolist() == [[1, -1, 0], [1, -1, 0]]


def test_votes_for_tic_tac_toe_by_hand() -> None:
    game = rookery.load(str(EXAMPLES / "tic_tac_toe.py"))
    voting = PriorStateVoting()
    voting.learn(game.parse_state("xo./.../..."), 3, 1.0)  # x below x
    voting.learn(game.parse_state("xo./.../..."), 8, -0.5)
    voting.learn(game.parse_state("xo./.../..."), 5, 0.0)  # nothing learned
    voting.learn(game.parse_state("x../.../..."), 1, 9.0)  # the other side
    state = game.parse_state(".xo/.../...")
    # Cell 4 upon cell 3: two columns in common, all six cells equal. Upon cell 8: the lower right of the old board,
    # four empty cells, comes upon the upper left of the new one, which has one x.
    score = voting.score(state, 4)
    assert score.votes == 2
    assert score.mean == pytest.approx((1.0 * 6 / 9 - 0.5 * 3 / 9) / 2)
    assert set(voting.values(state)) == set(state.legal_actions())


def test_the_example_plays_better_with_votes(example: Any) -> None:
    game = rookery.load(str(EXAMPLES / "tic_tac_toe.py"))
    gains = []
    for seed in range(5):
        table, voting = example.learn(game, 10, seed)
        with_votes, at_random = (example.points_against_random(game, table, v, 60, seed)[0] for v in (voting, None))
        gains.append(with_votes - at_random)
    assert np.mean(gains) > 0.0


def test_the_view_of_any_grid_game_on_a_chess_board() -> None:
    game = rookery.load("endgames", material="KRK")
    seen = []
    for fen, move in (("8/8/8/8/3k4/8/1K6/R7 w - - 0 1", "Ra4+"), ("8/8/8/8/8/8/2k5/K6R w - - 0 1", "Rh4"),
                      ("8/8/8/8/8/1k6/8/6KR b - - 0 1", "Ka2"), ("8/8/8/8/8/8/1k6/R6K b - - 0 1", "Kxa1")):  # fmt: skip
        state = game.parse_state(fen)
        seen.append(grid_view(state, state.parse_action(move)))
    assert seen[0].pattern == seen[1].pattern, "a rook goes up three ranks, here with check and there without"
    assert seen[2].pattern != seen[3].pattern, "the same step, and the second captures"
    assert (seen[0].anchor, seen[1].anchor) == ((7, 0), (7, 7))
    # The two boards meet in one file, that of the rook, which is empty but for the rook.
    assert (compare(seen[0], seen[1]) != 0).sum() == 8
    assert matching_fraction(seen[0], seen[1]) == 8 / 64


def test_games_that_do_not_say_where_actions_are_get_no_votes() -> None:
    game = rookery.load(str(EXAMPLES / "tic_tac_toe.py"))
    game.num_actions = 10  # so that an action is no cell
    with pytest.raises(ValueError, match="voting does not know on which cells of tic-tac-toe 4 is"):
        grid_view(game.initial_state(), 4)


def test_without_a_table_it_says_what_to_train() -> None:
    with pytest.raises(ValueError, match="voting is not trained yet; train it with `rookery train tenten q-learning`"):
        rookery.agent("voting", rookery.load("tenten"))
