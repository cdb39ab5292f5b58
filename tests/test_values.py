"""Games and states compare by value, remember their history, and travel to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
from concurrent.futures import ProcessPoolExecutor

import pytest

from rookery.game import Game, State, choices
from rookery.games.checkers.rules import Checkers
from rookery.games.endgames.rules import Endgames
from rookery.games.morpion.rules import Morpion
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.tenten.rules import TenTen
from tests.tic_tac_toe import TicTacToe

GAMES = [
    Checkers(), Checkers(repetition=2), Endgames("KQK"), Endgames(start="8/8/8/8/8/2k5/1r6/7K w - - 0 1"),
    Morpion(length=4, touching=True), Morpion(board=16), SolitaireChess(), SolitaireChess(5, 5, max_captures=2),
    TenTen(hand=3), TenTen(3, 3, {"1x1": 1, "##./.##": 2}), TicTacToe(),
]  # fmt: skip


def played(game: Game, steps: int, seed: int = 0) -> State:
    rng, state = random.Random(seed), game.initial_state()
    for _ in range(steps):
        if actions := choices(state):
            state.apply(rng.choice(actions))
    return state


def test_games_are_equal_by_class_and_options() -> None:
    assert Checkers() == Checkers(3) == Checkers(repetition=3, quiet_limit=100) != Checkers(2)
    assert len({Checkers(), Checkers(3), Checkers(2)}) == 2
    assert Checkers() != Morpion()
    assert Checkers() != object()
    # The numbers of the pieces follow the order in which they are given.
    assert TenTen(pieces={"1x1": 1, "1x2": 1}) == TenTen(pieces={"1x1": 1, "1x2": 1})
    assert TenTen(pieces={"1x1": 1, "1x2": 1}) != TenTen(pieces={"1x2": 1, "1x1": 1})
    assert len({*GAMES, *copy.deepcopy(GAMES), *pickle.loads(pickle.dumps(GAMES))}) == len(GAMES)


@pytest.mark.parametrize(
    ("game", "options", "variant", "text"),
    [
        (Checkers(), {}, "standard", "Checkers()"),
        (Checkers(3, 0, True), {"quiet_limit": 0, "forty_move_rule": True}, "wcdf",
         "Checkers(quiet_limit=0, forty_move_rule=True)"),
        (Checkers(2), {"repetition": 2}, None, "Checkers(repetition=2)"),
        (Morpion(), {}, "5D", "Morpion()"),
        (Morpion(4), {"length": 4}, "4D", "Morpion(length=4)"),
        (Morpion(board=16), {"board": 16}, None, "Morpion(board=16)"),
        (TicTacToe(), {}, None, "TicTacToe()"),
    ],
)  # fmt: skip
def test_options_and_variants(game: Game, options: dict[str, object], variant: str | None, text: str) -> None:
    assert game.options == options
    assert game.variant == variant
    assert repr(game) == text


def test_a_game_without_options_takes_none() -> None:
    with pytest.raises(TypeError, match="argument"):
        TicTacToe(3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'width'"):
        Checkers(width=3)  # type: ignore[call-arg]


def test_repr_of_states() -> None:
    fen = "B:W21,22:B1,2"
    assert repr(Checkers().parse_state(fen)) == f"<checkers: {fen}>"
    assert repr(Checkers(quiet_limit=0, forty_move_rule=True).parse_state(fen)) == f"<checkers wcdf: {fen}>"
    assert repr(Checkers(repetition=2).parse_state(fen)) == f"<checkers repetition=2: {fen}>"
    assert repr(TicTacToe().initial_state()) == "<tic-tac-toe: .../.../...>"


def test_states_are_equal_by_game_and_position() -> None:
    one, two = Checkers().initial_state(), Checkers().initial_state()
    assert one == two
    for state, moves in ((one, ["9-13", "24-20", "10-15"]), (two, ["10-15", "24-20", "9-13"])):
        for move in moves:
            state.apply(state.parse_action(move))
    assert one == two, "the order of the moves does not matter"
    assert hash(one) == hash(two)
    assert one.actions != two.actions
    assert one != Checkers(2).parse_state(str(one))
    assert one != Checkers().initial_state()
    assert one != str(one)
    cross = TicTacToe().parse_state("x../.../...")
    assert cross == TicTacToe().parse_state("x../.../...")
    assert cross != TicTacToe().initial_state()
    assert len({cross, TicTacToe().parse_state("x../.../...")}) == 1


def test_a_state_remembers_its_start_and_the_actions_since() -> None:
    for game in GAMES:
        if isinstance(game, TicTacToe):
            continue
        state = played(game, 5)
        assert state.start == game.initial_state()
        again = state.start
        for action in state.actions:
            again.apply(action)
        assert str(again) == str(state)
        assert (again.actions, str(again.start)) == (state.actions, str(state.start))
    state = Checkers().parse_state("W:W22:B1")
    assert (state.actions, str(state.start)) == ([], "W:W22:B1")
    with pytest.raises(ValueError, match="not legal"):
        state.apply(0)
    assert state.actions == []


def test_the_history_of_a_clone_is_its_own() -> None:
    state = played(Checkers(), 3)
    clone, before = state.clone(), list(state.actions)
    assert clone.actions == before
    clone.apply(clone.legal_actions()[0])
    assert len(clone.actions) == 4
    assert state.actions == before
    state.start.apply(state.start.legal_actions()[0])
    assert str(state.start) == str(clone.start) == str(Checkers().initial_state())


def test_what_is_no_part_of_the_position_travels_too() -> None:
    state = Checkers().parse_state("B:W32:BK1,K2,K3")
    for move in ("1-6", "32-28", "6-1", "28-24"):
        state.apply(state.parse_action(move))
    quiet = played(TenTen(), 30)
    for original in (state, quiet):
        other = pickle.loads(pickle.dumps(original))
        for name in ("actions", "quiet_plies", "reversible_plies", "occurrences", "score", "rounds"):
            if hasattr(original, name):
                assert getattr(other, name) == getattr(original, name)


def test_states_and_games_of_files_travel_to_other_processes() -> None:
    assert type(TicTacToe()).__module__.startswith("rookery_user_"), "the example comes from a file"
    states = [played(game, 4) for game in GAMES]
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(str, states)) == [str(state) for state in states]
        assert list(pool.map(copy.copy, states)) == states
        assert list(pool.map(repr, GAMES)) == list(map(repr, GAMES))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_rewards_add_up_to_returns(game: Game) -> None:
    for seed in range(5):
        rng, state = random.Random(seed), game.initial_state()
        total = [0.0] * game.players
        assert state.rewards() == total
        while actions := choices(state):
            state.apply(rng.choice(actions))
            total = [a + b for a, b in zip(total, state.rewards(), strict=True)]
            assert state.clone().rewards() == state.rewards()
        assert total == state.returns()


def test_dense_rewards() -> None:
    line = played(Morpion(), 1)
    assert line.rewards() == [1.0]
    state = TenTen(3, 3, "three").parse_state("##./.../... 1x1")
    state.apply(state.parse_action("r1c3"))
    assert state.rewards() == [11.0], "a cell and a line"
    state.apply(state.parse_action("1x1"))
    assert state.rewards() == [0.0], "a draw is worth nothing"
