from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

from rookery import _native
from rookery._native import Control
from rookery.game import TERMINAL
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.search import DECIDED, Player, play_match
from rookery.games.checkers.td import PatternValue
from tests.games.checkers import oracle as rules
from tests.games.checkers.oracle_search import minimax, patterns

GAME = Checkers()


def to_board(state: CheckersState) -> rules.Board:
    board = dict.fromkeys(state.black, "b") | dict.fromkeys(state.white, "w")
    return {n: kind.upper() if n in state.kings else kind for n, kind in board.items()}


def random_state(rng: random.Random, plies: int) -> CheckersState:
    """As a game may stand after so many random plies, without its past."""
    while True:
        state = GAME.initial_state()
        for _ in range(plies):
            if state.player() == TERMINAL:
                break
            state.apply(rng.choice(state.legal_actions()))
        if state.player() != TERMINAL:
            return GAME.parse_state(str(state))


def random_value(seed: int) -> PatternValue:
    return PatternValue(np.random.default_rng(seed).normal(0, 0.3, PatternValue.size).astype(np.float32))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_scores_are_those_of_plain_minimax(depth: int) -> None:
    rng = random.Random(depth)
    search = _native.checkers.Search()
    for _ in range(60 // depth**2 + 4):
        state = random_state(rng, rng.randrange(70))
        board, side = to_board(state), "bw"[state.side]
        slow = {}
        for move in rules.legal_moves(board, side):
            action = state.parse_action(("x" if move[1] else "-").join(map(str, move[0])))
            slow[action] = -minimax(rules.after(board, move), "wb"[state.side], depth - 1)
        assert dict(search.values(state, depth)) == slow, str(state)
        top = max(slow.values())
        assert search.best(state, depth) == sorted((a, s) for a, s in slow.items() if s == top), str(state)


def test_the_table_and_deeper_searches_change_nothing() -> None:
    """A search that has seen many positions answers as a fresh one does, ties included."""
    rng = random.Random(3)
    used = _native.checkers.Search(random_value(1))
    for _ in range(25):
        state, depth = random_state(rng, rng.randrange(60)), rng.randrange(1, 8)
        fresh = _native.checkers.Search(random_value(1))
        assert used.best(state, depth) == fresh.best(state, depth)
        values = dict(used.values(state, depth))
        top = max(values.values())
        assert fresh.best(state, depth) == sorted((a, s) for a, s in values.items() if s == top)


def test_patterns_and_their_sum() -> None:
    rng = random.Random(4)
    weights = np.random.default_rng(0).normal(0, 0.3, PatternValue.size).astype(np.float32)
    value = PatternValue(weights)
    for _ in range(300):
        state = random_state(rng, rng.randrange(90))
        board = to_board(state)
        active = patterns(board, "bw"[state.side])
        assert sorted(_native.checkers.patterns(state)) == sorted(active), str(state)
        full, bare = (sum(float(weights[2 * i + k]) for i in active) for k in (0, 1))
        share = len(board) / 24
        assert value(state) == pytest.approx(100 * (share * full + (1 - share) * bare), abs=0.6)


def test_the_position_after_a_repetition_counts_as_a_draw() -> None:
    state = GAME.parse_state("B:WK32,K31:BK1,K2,K3")
    for move in ("2-6", "31-27", "6-2", "27-31"):
        state.apply(state.parse_action(move))
    scores = dict(_native.checkers.Search().values(state, 1))
    back = state.parse_action("2-6")
    assert scores.pop(back) == 0
    assert set(scores.values()) == {130}


def test_endgames_are_looked_up() -> None:
    solved, rng = load_database(), random.Random(6)
    search = _native.checkers.Search(None, solved.native)
    for _ in range(200):
        state = solved.random_position(GAME, 4, rng)
        if not state.legal_actions():
            continue
        solution = solved.solve(state)
        best = search.best(state, 3)
        assert sorted(action for action, _ in best) == sorted(solution.best_moves)
        plies = solution.outcome.plies
        score = 0 if plies is None else DECIDED + 3 - plies
        assert {s for _, s in best} == {score if solution.outcome.value == "win" else -score}


def test_a_rung_against_random() -> None:
    """One ply with quiescence wins 99.7% of its games against random."""
    result = play_match(Player(1), Player(0), games=1000, seed=3)
    assert result.wins >= 985
    assert result.games == 1000
    assert result.interval[0] < result.score < result.interval[1]
    assert play_match(Player(0), Player(1), games=200, seed=3).score < 0.03


def test_matches_depend_on_the_seed_alone() -> None:
    players = Player(3, random_value(2)), Player(2)
    start = GAME.initial_state()

    def rows(seed: int, threads: int, games: int = 40) -> np.ndarray:
        native = [player.native() for player in players]
        return np.asarray(_native.checkers.play_match(start, native[0], native[1], games, seed, threads))

    one = rows(5, 1)
    assert np.array_equal(one[:, :4], rows(5, 3)[:, :4])
    assert np.array_equal(one[:20, :4], rows(5, 2, games=20)[:, :4])
    assert not np.array_equal(one[:, :4], rows(6, 1)[:, :4])


def test_equal_players_score_alike_with_both_colours() -> None:
    """Games 2i and 2i + 1 have one opening with colours exchanged, so that neither player has the better side."""
    result = play_match(Player(2), Player(2), games=1000, seed=1)
    assert abs(result.score - 0.5) < 0.06


def test_games_follow_the_rules_of_their_variant() -> None:
    short = Checkers(quiet_limit=2)
    assert play_match(Player(1), Player(1), games=20, seed=1, game=short).draws == 20


def test_a_match_can_be_stopped() -> None:
    control = Control()
    threading.Timer(0.2, control.stop).start()
    begin = time.perf_counter()
    start, deep = GAME.initial_state(), Player(9).native()
    rows = _native.checkers.play_match(start, deep, deep, 10_000, 0, 2, control=control)
    assert time.perf_counter() - begin < 5
    assert (rows[:, 1] == -1).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: play_match(Player(1), Player(1), games=3), "must be even"),
        (lambda: play_match(Player(-1), Player(1), games=2), "the depth must be 0 to 60"),
        (lambda: play_match(Player(1), Player(1), games=2, threads=-1), "threads must not be negative"),
        (lambda: _native.checkers.Search().best(GAME.initial_state(), 0), "the depth must be 1 to 60"),
        (lambda: _native.checkers.Search().best(GAME.parse_state("W:W:B1"), 1), "a player is to move"),
        (lambda: PatternValue(np.zeros(5, np.float32)), "another number of weights"),
        (lambda: PatternValue(np.full(PatternValue.size, np.nan, np.float32)), "not a finite number"),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
