from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import rookery
from rookery import agents
from rookery.games import CHANCE, TERMINAL
from tests.oracles.tic_tac_toe import TicTacToe

GAME = TicTacToe()


def test_minimax_never_loses_tic_tac_toe() -> None:
    rng = random.Random(6)
    players = [agents.load("random", GAME), agents.load("minimax:depth=9", GAME)]
    for _ in range(6):
        state = GAME.initial_state()
        while state.player() != TERMINAL:
            state.apply(players[state.player()].choose(state, rng))
        assert state.returns()[1] >= 0


@pytest.mark.parametrize("name", ["random", "minimax:depth=2", "mcts:simulations=50"])
def test_agents_value_and_explain_every_legal_move(name: str) -> None:
    state = GAME.parse_state("x.o/.x./..o")
    agent = agents.load(name, GAME)
    explanation = agent.explain(state)
    assert set(agent.values(state)) == set(explanation.values) == set(state.legal_actions())
    assert explanation.action in state.legal_actions()
    assert explanation.reasons


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alphazero", "unknown agent 'alphazero' for tic-tac-toe; known agents: random, minimax, mcts"),
        ("minimax:width=3", "does not take the settings 'width=3'"),
    ],
)
def test_bad_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        agents.load(name, GAME)


def test_minimax_is_not_offered_where_there_is_chance() -> None:
    assert "minimax" not in agents.names(rookery.load("tenten"))


@pytest.mark.parametrize(
    ("game", "variant", "agent", "shipped", "name"),
    [
        ("tenten", "10x10", "lspi", "tenten/lspi-10x10.npz", "model.npz"),
        ("solitaire-chess", "4x4", "dqn", "solitaire_chess/4x4-dqn.safetensors", "4x4.safetensors"),
        ("solitaire-chess", "solo-8x8", "dqn", "solitaire_chess/solo-8x8-dqn.safetensors", "solo-8x8.safetensors"),
        ("morpion", "5D", "net", "morpion/5D.safetensors", "model.safetensors"),
        ("checkers", None, "q-table", "checkers/q-table.npz", "model.npz"),
        ("checkers", None, "td", "checkers/td.npz", "model.npz"),
    ],
)
def test_the_folder_of_a_run_is_as_good_as_its_file(
    tmp_path: Path, game: str, variant: str | None, agent: str, shipped: str, name: str
) -> None:
    if game == "morpion":
        pytest.importorskip("torch")
    shutil.copy(Path(rookery.__file__).parent / "models" / shipped, tmp_path / name)
    rules = rookery.load(game, variant)
    state = rules.random_start(random.Random(1))
    while state.player() == CHANCE:
        state.apply(state.legal_actions()[0])
    assert agents.load(agent, rules, tmp_path).values(state) == agents.load(agent, rules).values(state)
