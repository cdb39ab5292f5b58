from __future__ import annotations

import random
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import rookery
from rookery.game import CHANCE, TERMINAL, play_chance
from rookery.games.tenten import lspi
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, method, strongest
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


def test_minimax_never_loses_tic_tac_toe() -> None:
    rng = random.Random(6)
    players = [load_agent("random", GAME), load_agent("minimax:depth=9", GAME)]
    for _ in range(6):
        state = GAME.initial_state()
        while state.player() != TERMINAL:
            state.apply(players[state.player()].choose(state, rng))
        assert state.returns()[1] >= 0


@pytest.mark.parametrize("name", ["random", "minimax:depth=2", "mcts:simulations=50"])
def test_agents_value_and_explain_every_legal_move(name: str) -> None:
    state = GAME.parse_state("x.o/.x./..o")
    agent = load_agent(name, GAME)
    explanation = agent.explain(state)
    assert set(agent.values(state)) == set(explanation.values) == set(state.legal_actions())
    assert explanation.action in state.legal_actions()
    assert explanation.reasons


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alphazero", "unknown agent 'alphazero' for tic-tac-toe; known agents: random, minimax, mcts"),
        ("minimax:width=3", "unknown setting 'width' of the agent 'minimax'"),
    ],
)
def test_bad_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_agent(name, GAME)


def test_minimax_is_not_offered_where_there_is_chance() -> None:
    assert "minimax" not in agent_names(rookery.load("tenten"))


DEEP = {("checkers", "dqn"), ("morpion", "zero")}  # need PyTorch
VARIANTS = [(game, variant) for game in rookery.GAMES for variant in rookery.load(game).variants]


@pytest.mark.parametrize(("game", "variant"), VARIANTS)
def test_every_agent_that_is_offered_for_a_variant_plays_it(game: str, variant: str) -> None:
    rules = rookery.load(game, variant)
    offered = agent_names(rules, ready=True)
    assert strongest(rules) in offered
    for name in offered:
        if (game, name) in DEEP and find_spec("torch") is None:
            continue
        rng = random.Random(1)
        # The oracle of checkers knows endings only.
        state = (
            rules.parse_state("B:WK30:BK1,K2") if (game, name) == ("checkers", "oracle") else rules.random_start(rng)
        )
        play_chance(state, rng)
        assert load_agent(name, rules).choose(state, rng) in state.legal_actions()


@pytest.mark.parametrize("variant", ["3x3-three", "4x4-seven", "5x5-full"])
def test_small_boards_of_1010_have_a_best_agent_near_the_optimum(variant: str) -> None:
    """Endless, 27,601 and 28.83 mean rounds are the greatest possible; random play lasts 48.5, 14.7 and 7.0."""
    rules = rookery.load("tenten", variant)
    agent, rng, rounds = load_agent("best", rules), random.Random(1), []
    for _ in range(1 if variant != "5x5-full" else 200):
        state = rules.initial_state()
        while state.player() != TERMINAL and state.rounds < 1000:
            play_chance(state, rng)
            if state.player() != TERMINAL:
                state.apply(agent.choose(state, rng))
        rounds.append(state.rounds)
    assert sum(rounds) / len(rounds) > (22 if variant == "5x5-full" else 900)


@pytest.mark.parametrize(
    ("game", "variant", "agent", "shipped"),
    [
        ("tenten", "10x10", "lspi", "tenten/models/lspi-10x10.npz"),
        ("solitaire-chess", "4x4", "dqn", "solitaire_chess/models/4x4-dqn.safetensors"),
        ("solitaire-chess", "solo-8x8", "dqn", "solitaire_chess/models/solo-8x8-dqn.safetensors"),
        ("morpion", "5D", "zero", "morpion/models/5D.safetensors"),
        ("checkers", None, "q-learning", "checkers/models/q-table.npz"),
        ("checkers", None, "td", "checkers/models/td.npz"),
        ("checkers", None, "dqn", "checkers/models/dqn.npz"),
    ],
)
def test_the_folder_of_a_run_is_as_good_as_its_file(
    tmp_path: Path, game: str, variant: str | None, agent: str, shipped: str
) -> None:
    if (game, agent) in DEEP:
        pytest.importorskip("torch")
    rules = rookery.load(game, variant)
    shutil.copy(Path(rookery.__file__).parent / "games" / shipped, tmp_path / method(agent, rules).model)
    state = rules.random_start(random.Random(1))
    while state.player() == CHANCE:
        state.apply(state.legal_actions()[0])
    assert load_agent(agent, rules, tmp_path).values(state) == load_agent(agent, rules).values(state)


def test_paths_are_given_as_text_or_as_paths(tmp_path: Path) -> None:
    game = rookery.load("tenten", "4x4-seven")
    run = rookery.train(game, "lspi", updates=1, out=str(tmp_path / "run"))
    assert run.folder == tmp_path / "run"
    model = tmp_path / "run" / "model.npz"
    assert (lspi.load(str(model), game).weights == lspi.load(model, game).weights).all()
    state = game.parse_state("###./..../..../.... 1x1")
    for path in (tmp_path / "run", model):
        assert load_agent("lspi", game, str(path)).values(state) == load_agent("lspi", game, path).values(state)
    played = rookery.tournament(game, ["random", "lspi"], games=1, out=str(tmp_path / "games"))
    assert all(file.exists() for file in played.export(str(tmp_path / "games")))
