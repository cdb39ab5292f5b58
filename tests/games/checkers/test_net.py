"""The net of `best`: its value and its learning, against slow arithmetic from the definitions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rookery
from rookery._native import checkers as native
from rookery.games.checkers import database, net
from rookery.games.checkers.net import NetValue
from rookery.games.checkers.rules import Checkers
from tests.games.checkers.oracle import PLACE, Board
from tests.games.checkers.test_search import random_state, to_board

GAME = Checkers()
SHAPES: tuple[tuple[int, ...], ...] = ((121, 128), (128,), *((32, 128), (32,), (32,), (1,)) * 4)
Array = npt.NDArray[np.float64]


def inputs(board: Board, side: str) -> Array:
    """What the side to move sees, men going down: own men, other men, own kings, other kings, the opposition."""
    if side == "w":
        swap = {"b": "w", "B": "W", "w": "b", "W": "B"}
        board = {33 - square: swap[piece] for square, piece in board.items()}
    first = {"b": -1, "w": 28 - 5, "B": 56 - 1, "W": 88 - 1}
    found = np.zeros(121)
    for square, piece in board.items():
        found[first[piece] + square] = 1
    found[120] = sum(PLACE[square][0] % 2 for square in board) % 2
    return found


def parts_of(weights: Array) -> list[Array]:
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES])
    return [part.reshape(shape) for part, shape in zip(np.split(weights, ends[:-1]), SHAPES, strict=True)]


def log_odds(weights: Array, x: Array) -> float:
    first, first_bias, *stages = parts_of(weights)
    pieces = x[:120].sum()
    stage = 4 * sum(pieces > most for most in (8, 12, 17))
    second, second_bias, output, bias = stages[stage : stage + 4]
    wide = np.clip(x @ first + first_bias, 0, 1)
    return float(np.clip(second @ wide + second_bias, 0, 1) @ output + bias[0])


def random_weights(seed: int) -> npt.NDArray[np.float32]:
    """On the grid of 1/256 that native code rounds to, with units on both sides of their clips."""
    rng = np.random.default_rng(seed)
    return (np.round(256 * rng.normal(0, 0.15, NetValue.size)) / 256).astype(np.float32)


def boards_of(states: list[object]) -> npt.NDArray[np.uint32]:
    """Bits of own pieces, other pieces and kings, seen by the side to move."""
    rows = []
    for state in states:
        own, other, kings = state.black, state.white, state.kings  # type: ignore[attr-defined]
        if state.side == 1:  # type: ignore[attr-defined]
            own, other, kings = ([33 - n for n in squares] for squares in (other, own, kings))
        rows.append([sum(1 << (n - 1) for n in squares) for squares in (own, other, kings)])
    return np.array(rows, np.uint32)


def test_the_value_is_that_of_the_definition() -> None:
    rng = random.Random(1)
    weights = random_weights(1)
    value, spread = NetValue(weights), set()
    for _ in range(200):
        state = random_state(rng, rng.randrange(90))
        slow = 100 * log_odds(weights.astype(float), inputs(to_board(state), "bw"[state.side]))
        assert value(state) == pytest.approx(slow, abs=0.6), str(state)
        spread.add(value(state))
    assert len(spread) > 20


def test_the_gradient_is_that_of_the_cross_entropy() -> None:
    rng = random.Random(2)
    states = [random_state(rng, rng.randrange(80)) for _ in range(12)]
    targets = np.array([rng.random() for _ in states], np.float32)
    learner = native.NetLearner(3)
    weights = learner.weights().astype(float)
    found = learner.gradient(boards_of(list(states)), targets)
    xs = [inputs(to_board(state), "bw"[state.side]) for state in states]

    def loss(w: Array) -> float:
        chances = [1 / (1 + np.exp(-log_odds(w, x))) for x in xs]
        return -float(sum(t * np.log(c) + (1 - t) * np.log(1 - c) for c, t in zip(chances, targets, strict=True)))

    seen = 0
    ends = np.cumsum([int(np.prod(shape)) for shape in SHAPES])
    places = [rng.randrange(int(first), int(end)) for first, end in zip([0, *ends[:-1]], ends, strict=True)] * 2
    places += [rng.randrange(len(weights)) for _ in range(60)]
    for place in places:
        step = np.zeros_like(weights)
        step[place] = 1e-5
        slope = (loss(weights + step) - loss(weights - step)) / 2e-5
        assert found[place] == pytest.approx(slope, abs=2e-3)
        seen += abs(slope) > 0.01
    assert seen > 10


def test_it_learns_what_a_man_is_worth() -> None:
    rng = random.Random(4)
    states = [random_state(rng, rng.randrange(60)) for _ in range(1500)]
    boards = boards_of(list(states))
    lead = np.array([bin(own).count("1") - bin(other).count("1") for own, other, _ in boards.tolist()])
    targets = (1 / (1 + np.exp(-lead))).astype(np.float32)
    learner = native.NetLearner(1)
    first = learner.learn(boards, targets, 1, 100, 0.002, 1)
    last = learner.learn(boards, targets, 30, 100, 0.002, 2)
    assert last < first / 3
    one, two = native.NetLearner(1), native.NetLearner(1)
    assert one.learn(boards, targets, 2, 64, 0.01, 5, threads=1) == two.learn(
        boards, targets, 2, 64, 0.01, 5, threads=3
    )
    assert np.array_equal(one.weights(), two.weights())


def test_examples_come_from_whole_games() -> None:
    solved = database.load()

    def play(threads: int, leaves: int = 2) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
        return native.play_examples(
            GAME.initial_state(), None, solved.native, 200, 0.9, 0.1, 6, leaves, 0, 16, 7, threads
        )

    boards, targets = play(1)
    again = play(3)
    assert np.array_equal(boards, again[0])
    assert np.array_equal(targets, again[1])
    without, _ = play(1, leaves=0)
    assert len(without) > 16 * 15
    assert 2 * len(without) < len(boards) <= 5 * len(without), "two leaves per move, but for captures"
    assert {tuple(row) for row in without.tolist()} <= {tuple(row) for row in boards.tolist()}, "the same games"
    assert ((targets >= 0) & (targets <= 1)).all()
    own, other, kings = boards.T
    assert not (own & other).any()
    assert not (kings & ~(own | other)).any()
    pieces = [bin(n).count("1") for n in (own | other).tolist()]
    assert min(pieces) > 4, "games end where the solved endgames begin"
    lead = np.array([bin(a).count("1") - bin(b).count("1") for a, b in zip(own.tolist(), other.tolist(), strict=True)])
    assert targets[lead > 1].mean() > 0.7 > 0.3 > targets[lead < -1].mean()


def test_training_and_resuming(tmp_path: Path) -> None:
    small: dict[str, Any] = {"games": 30, "nodes": 100, "epochs": 2, "batch": 64}
    whole = rookery.train(GAME, "net", out=tmp_path / "whole", seed=3, generations=3, **small)
    rookery.train(GAME, "net", out=tmp_path / "parts", seed=3, generations=1, **small)
    parts = rookery.train(GAME, "net", out=tmp_path / "parts", seed=3, generations=3, resume=True, **small)
    assert [row["error"] for row in whole.metrics] == [row["error"] for row in parts.metrics]
    for run in (whole, parts):
        assert [(row["generation"], row["games"]) for row in run.metrics] == [(1, 30), (2, 60), (3, 90)]
        assert all(row["positions"] > 30 for row in run.metrics)
    assert [row["progress"] for row in whole.metrics] == pytest.approx([1 / 3, 2 / 3, 1])
    state = GAME.initial_state()
    values = [net.load(run.folder / "model.npz")(state) for run in (whole, parts)]
    assert values[0] == values[1]
    assert rookery.agent(f"best:nodes=500,path={tmp_path / 'whole'}", GAME).choose(state) in state.legal_actions()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NetValue(np.zeros(5, np.float32)), "another number of weights"),
        (lambda: NetValue(np.full(NetValue.size, np.nan, np.float32)), "not a finite number"),
        (lambda: native.NetLearner(1).restore(np.zeros(3, np.float32)), "another number of weights"),
        (lambda: native.NetLearner(1).learn(np.zeros((0, 3), np.uint32), np.zeros(0, np.float32), 1, 1, 0.1, 0),
         "nothing to learn from"),
        (lambda: native.NetLearner(1).gradient(np.full((1, 3), 2**32 - 1, np.uint32), np.zeros(1, np.float32)),
         "at most one piece"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
