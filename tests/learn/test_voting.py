"""Prior State Voting for a game of one's own: the example, and small cases worked out by hand."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery.learn.voting import PriorStateVoting, View, compare, matching_fraction


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
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


def test_votes_for_tic_tac_toe_by_hand(example: Any) -> None:
    game, view = example.GAME, example.view
    voting = PriorStateVoting(view)
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
    gains = []
    for seed in range(5):
        table, voting = example.learn(10, seed)
        gains.append(
            example.points_against_random(table, voting, 60, seed)
            - example.points_against_random(table, None, 60, seed)
        )
    assert np.mean(gains) > 0.0
