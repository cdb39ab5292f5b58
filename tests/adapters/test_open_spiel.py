"""OpenSpiel's games here, and ours there, each judged by the other side's own tests."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import rookery as rk
from rookery.game import CHANCE, TERMINAL, State
from rookery.registry import methods
from rookery.search import perft
from rookery.testing import check_game

pyspiel = pytest.importorskip("pyspiel")

from rookery.adapters.open_spiel import register_all, to_open_spiel  # noqa: E402

GAMES = ["connect_four", "breakthrough", "othello", "pig", "2048", "tic_tac_toe"]
MORE = ["backgammon", "catch", "cliff_walking", "dots_and_boxes", "hex(board_size=4)", "nim", "oware", "twixt"]


def load(name: str) -> rk.Game:
    return rk.load(f"open_spiel:{name}")


# Theirs, here


@pytest.mark.parametrize("name", GAMES)
def test_their_games_pass_our_conformance_test(name: str) -> None:
    check_game(load(name), games=4)


@pytest.mark.parametrize("name", MORE)
def test_other_games_pass_it_as_well(name: str) -> None:
    check_game(load(name), games=2, max_length=40)


def test_the_rules_are_theirs() -> None:
    """Sequences of moves from the start, as known for these games."""
    assert [perft(load("connect_four").initial_state(), depth) for depth in (1, 2, 3, 4)] == [7, 49, 343, 2401]
    assert [perft(load("tic_tac_toe").initial_state(), depth) for depth in (1, 2, 5)] == [9, 72, 15_120]
    assert [perft(load("othello").initial_state(), depth) for depth in (1, 2, 3, 4)] == [4, 12, 56, 244]
    assert [perft(load("chess").initial_state(), depth) for depth in (1, 2, 3)] == [20, 400, 8902]


def test_exact_search_knows_tic_tac_toe() -> None:
    game = load("tic_tac_toe")
    agent = rk.agent("minimax:depth=6", game)
    state = game.parse_state("start 0 3 1 4")  # x has two in the top row, o two in the middle one
    assert agent.choose(state) == 2
    corner = game.parse_state("start 0 4 8")  # o must take a side: a corner loses to two threats at once
    assert {action for action, value in agent.values(corner).items() if value == 0} == {1, 3, 5, 7}
    assert rk.match(game, "minimax:depth=2", "random", games=20).wins >= 12
    assert rk.solve(game.initial_state()).text == "a draw"


@pytest.mark.parametrize("name", ["connect_four", "2048", "pig"])
def test_every_method_that_needs_no_training_plays(name: str) -> None:
    game, rng = load(name), random.Random(1)
    quick = {"minimax": "minimax:depth=2", "mcts": "mcts:simulations=20", "nrpa": "nrpa:level=1,iterations=3",
             "nmcs": "nmcs:level=1"}  # fmt: skip
    state = game.initial_state()
    while state.player() == CHANCE:
        state.apply(state.chance_outcomes()[0][0])
    played = set()
    for method in methods(game).values():
        if method.unready(game) is None and method.kind == "search":
            agent = rk.agent(quick.get(method.name, method.name), game)
            assert agent.choose(state, rng) in state.legal_actions()
            played.add(method.name)
    assert {"random", "mcts"} <= played
    assert ("minimax" in played) == (name == "connect_four")


def test_rewards_come_when_they_are_earned() -> None:
    state, rng = load("2048").initial_state(), random.Random(4)
    early = 0.0
    while state.player() != TERMINAL:
        state.apply(rng.choice([a for a, _ in state.chance_outcomes()] or state.legal_actions()))
        early += state.rewards()[0] if state.player() != TERMINAL else 0.0
    assert early > 100
    assert state.returns()[0] >= early


def test_names_texts_and_values() -> None:
    game = load("connect_four")
    assert (game.name, game.title, repr(game)) == (
        "open_spiel:connect_four",
        "Connect Four",
        "OpenSpiel('connect_four')",
    )
    assert game == load("connect_four()")
    assert game != load("connect_four(rows=5)")
    assert load("connect_four(rows=5)").observation_shape == (3, 5, 7)
    state = game.parse_state("start 3 3 2")
    assert state.text_board().split() == ["......."] * 4 + ["...o...", "..xx..."]
    assert state.action_name(0) == "o0"
    assert state.parse_action("O0") == 0
    other = game.parse_state("start 2 3 3")
    assert state != other
    assert game.parse_state("start 0 1 2 3") == game.parse_state("start 2 1 0 3")  # another order, the same position
    for copied in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert copied == state
        copied.apply(0)
        assert copied != state


@pytest.mark.parametrize("text", ["", "start 9", "start x", "3 3", "start -1", f"start {'9' * 40}", "start" + " 3" * 7])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected the word start|is not legal"):
        load("connect_four").parse_state(text)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("chess960", "OpenSpiel has no game 'chess960'; it has .*connect_four"), ("", "OpenSpiel has no game ''"),
        ("kuhn_poker", "its players do not know everything"), ("matrix_rps", "do not move one after the other"),
        ("goofspiel", "do not move one after the other"), ("stones_and_gems", "its chances are not known"),
        ("morpion_solitaire", "does not give its positions as numbers"), ("pig(players=3)", "it has 3 players"),
        ("hex(size=5)", "OpenSpiel cannot load"), ("hex(", "OpenSpiel cannot load"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as error:
        load(name)
    assert "\n" not in str(error.value)


def test_a_missing_extra_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(ValueError, match=r"OpenSpiel is not installed: pip install 'rookery\[spiel\]'"):
        load("hex")
    assert rk.load("tenten").name == "tenten"


def test_commands_and_processes_take_their_games() -> None:
    result = rk.match("open_spiel:tic_tac_toe", "mcts:simulations=50", "random", games=4, on="processes:2")
    assert result.games == 4
    command = [sys.executable, "-m", "rookery", "show", "open_spiel:tic_tac_toe", "start 4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "8 moves: o(0,0)" in done.stdout


# Ours, there


@pytest.fixture(scope="module")
def registered() -> list[str]:
    return register_all()


OURS = ["rookery_checkers", "rookery_checkers(variant=wcdf)", "rookery_endgames(variant=KQK)",
        "rookery_morpion(variant=4D)", "rookery_solitaire_chess", "rookery_tenten(variant=4x4-seven)"]  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_our_games_pass_their_simulation_test(registered: list[str], name: str) -> None:
    """OpenSpiel plays random games and checks clones, serialization and the consistency of everything."""
    game = pyspiel.load_game(name)
    pyspiel.random_sim_test(game, 3, True, False)


@pytest.mark.parametrize("name", OURS)
def test_our_states_say_the_same_there(registered: list[str], name: str) -> None:
    game, rng = pyspiel.load_game(name), random.Random(2)
    theirs = game.new_initial_state()
    ours: State = game.rookery.initial_state()
    for _ in range(60):
        assert theirs.is_terminal() == (ours.player() == TERMINAL)
        assert theirs.is_chance_node() == (ours.player() == CHANCE)
        assert theirs.returns() == ours.returns()
        if theirs.is_terminal():
            break
        choices = sorted(ours.legal_actions() or [a for a, _ in ours.chance_outcomes()])
        assert theirs.legal_actions() == choices
        if ours.player() >= 0:
            assert theirs.current_player() == ours.player()
            assert theirs.observation_tensor(ours.player()) == ours.observation().ravel().tolist()
        action = rng.choice(choices)
        assert theirs.action_to_string(action) == ours.action_name(action)
        clone = theirs.clone()
        theirs.apply_action(action)
        assert str(clone) == str(ours)
        ours.apply(action)
    assert theirs.history() == list(ours.actions)


def bot(game: object, simulations: int, seed: int) -> Callable[[object], int]:
    from open_spiel.python.algorithms import mcts

    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(seed))
    found = mcts.MCTSBot(game, 1.4, simulations, evaluator, solve=True, random_state=np.random.RandomState(seed))
    step: Callable[[object], int] = found.step
    return step


def test_their_mcts_bot_plays_our_checkers() -> None:
    game = to_open_spiel("checkers")
    step, rng, wins = bot(game, 20, 1), random.Random(1), 0
    for number in range(4):
        state = game.new_initial_state()
        while not state.is_terminal():
            mine = state.current_player() == number % 2
            state.apply_action(step(state) if mine else rng.choice(state.legal_actions()))
        wins += state.returns()[number % 2] > 0
    assert wins >= 3


def test_their_mcts_bot_mates_in_one() -> None:
    game = to_open_spiel(rk.load("endgames", start="8/8/8/8/8/1K6/7R/k7 w - - 0 1"))
    state = game.new_initial_state()
    assert state.action_to_string(bot(game, 300, 1)(state)) == "Rh1#"


def test_their_environments_and_serialization_take_our_games(registered: list[str]) -> None:
    from open_spiel.python import rl_environment

    environment = rl_environment.Environment(pyspiel.load_game("rookery_tenten(variant=4x4-seven)"), seed=1)
    step, rng = environment.reset(), random.Random(1)
    while not step.last():
        step = environment.step([rng.choice(step.observations["legal_actions"][0])])
    assert step.rewards[0] > 0
    game = pyspiel.load_game("rookery_checkers(variant=wcdf)")
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[3])
    again, same = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert (str(again), str(same)) == (str(game), str(state))


def test_our_games_are_not_taken_twice(registered: list[str]) -> None:
    assert register_all() == registered
    assert "rookery_checkers" in registered
    with pytest.raises(ValueError, match="is a game of ours"):
        rk.load("open_spiel:rookery_checkers")


def test_a_program_that_used_them_ends_well() -> None:
    script = (
        "import pyspiel; from rookery.adapters.open_spiel import register_all; register_all();"
        "state = pyspiel.load_game('rookery_checkers').new_initial_state(); state.apply_action(9); print(state)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("W:W21")


def test_what_they_are_told_about_our_games() -> None:
    checkers, tenten = (to_open_spiel(name) for name in ("checkers", "tenten"))
    types = pyspiel.GameType
    for theirs, name in ((checkers, "checkers"), (tenten, "tenten")):
        ours, kind = rk.load(name), theirs.get_type()
        assert (theirs.num_players(), theirs.num_distinct_actions()) == (ours.players, ours.num_actions)
        assert (kind.short_name, kind.long_name) == (f"rookery_{name}", f"{ours.title} of Rookery")
        assert (kind.chance_mode == types.ChanceMode.DETERMINISTIC) == (not ours.has_chance())
        assert kind.reward_model == types.RewardModel.TERMINAL
        assert theirs.get_parameters() == {"variant": ours.variant}
    assert (checkers.min_utility(), checkers.max_utility(), checkers.utility_sum()) == (-1.0, 1.0, 0.0)
    assert checkers.get_type().utility == types.Utility.ZERO_SUM
    assert tenten.get_type().utility == types.Utility.GENERAL_SUM
    assert (tenten.utility_sum(), tenten.max_utility() > 1e6, tenten.min_utility() < -1e6) == (None, True, True)
    assert (checkers.max_chance_outcomes(), tenten.max_chance_outcomes()) == (0, rk.load("tenten").num_actions)
    small = to_open_spiel("tenten", "3x3-three")
    assert small.get_parameters() == {"variant": "3x3-three"}
    assert small.num_distinct_actions() == rk.load("tenten", "3x3-three").num_actions


def test_shapes_of_their_observations_have_three_numbers() -> None:
    """Whatever OpenSpiel gives: planes, a board, or a list of numbers."""
    for name in ("connect_four", "tic_tac_toe", "breakthrough", "nim", "pig"):
        theirs, ours = pyspiel.load_game(name), rk.load(f"open_spiel:{name}")
        assert len(ours.observation_shape) == 3
        assert np.prod(ours.observation_shape) == np.prod(theirs.observation_tensor_shape())
        if len(theirs.observation_tensor_shape()) == 1:
            assert ours.observation_shape[1:] == (1, 1)
        else:
            assert list(ours.observation_shape[-2:]) == list(theirs.observation_tensor_shape())[-2:]
    assert (rk.load("open_spiel:pig").has_chance(), rk.load("open_spiel:nim").has_chance()) == (True, False)
