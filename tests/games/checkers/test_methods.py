"""The methods of checkers: what their options make of an agent, and how runs are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery
from rookery.games.checkers import agents, database, levels, q_learning
from rookery.games.checkers.methods import METHODS, Best, Net
from rookery.run import Run
from rookery.statistics import wilson_interval
from rookery.training import train

GAME = rookery.load("checkers")
BY_NAME = {method.name: method for method in METHODS}


def engine(name: str) -> agents.EngineAgent:
    agent = rookery.agent(name, GAME)
    assert isinstance(agent, agents.EngineAgent)
    return agent


def test_a_table_is_judged_by_games_against_random(tmp_path: Path) -> None:
    train(GAME, "q-learning", out=tmp_path, games=30, seed=4)
    found = BY_NAME["q-learning"].evaluate(GAME, Run.open(tmp_path))["against_random"]
    table = q_learning.QTable.load(tmp_path / BY_NAME["q-learning"].model)
    assert set(found) == {"random", "voting", "keep-training"}
    for fallback, games in zip(q_learning.FALLBACKS, (1000, 1000, 20), strict=True):
        match = q_learning.play_against_random(table, GAME, fallback, games, 4)
        assert found[fallback] == {
            "games": games, "wins": match.wins, "draws": match.draws,
            "interval": list(wilson_interval(match.wins, games)),
        }  # fmt: skip


def test_a_net_is_judged_by_games_against_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dqn = pytest.importorskip("rookery.games.checkers.dqn")
    train(GAME, "dqn", out=tmp_path, steps=2, games=4, width=8, batch=8, memory=200, seed=6)
    asked: list[tuple[int, int]] = []

    def play(net: object, game: object, games: int, seed: int) -> Any:
        asked.append((games, seed))
        return np.array([1, 1, 1, 0, 0, -1])

    monkeypatch.setattr(dqn, "play_against_random", play)
    found = BY_NAME["dqn"].evaluate(GAME, Run.open(tmp_path))["against_random"]
    assert asked == [(1000, 6)]
    assert found == {"games": 6, "wins": 3, "draws": 2, "interval": list(wilson_interval(3, 6))}


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ({}, (agents.NODES, 0.0, 0)), ({"nodes": 7}, (7, 0.0, 0)), ({"seconds": 0.5}, (0, 0.5, 0)),
        ({"depth": 4}, (0, 0.0, 4)), ({"nodes": 7, "depth": 4}, (7, 0.0, 4)),
    ],
)  # fmt: skip
def test_limits_of_the_engine(given: dict[str, Any], limits: tuple[int, float, int]) -> None:
    assert Net.Options(**given).limits == limits
    words = ",".join(f"{name}={value}" for name, value in given.items())
    agent = engine(f"net:{words}" if words else "net")
    assert tuple(agent.limits[name] for name in ("nodes", "seconds", "depth")) == limits


def test_levels_take_the_place_of_limits() -> None:
    for number, strength in enumerate(levels.LEVELS, 1):
        agent = engine(f"best:level={number}")
        # No time: a level is as strong on every machine.
        assert agent.limits == {"nodes": strength.nodes, "seconds": 0, "depth": strength.depth}
        assert agent.noise == strength.noise
        assert (agent.solved is not None) == strength.endgames
        assert bool(agent.book) == strength.endgames
    for level in (-1, len(levels.LEVELS) + 1):
        with pytest.raises(ValueError, match="the level must be 1 to 8, or 0 for none"):
            Best.Options(level=level)
    assert engine("best:book=no").book == {}
    assert engine("best").book


def test_votes_and_solved_endings_are_options() -> None:
    voting = rookery.agent("voting:symmetries=4", GAME)
    assert isinstance(voting, agents.QTableAgent)
    assert (voting.fallback, voting.symmetries) == ("voting", 4)
    plain = rookery.agent("q-learning", GAME)
    assert isinstance(plain, agents.QTableAgent)
    assert (plain.fallback, plain.symmetries) == ("random", 1)
    for name, depth in (("ladder", 3), ("ladder:depth=5", 5), ("td:depth=2", 2)):
        agent = rookery.agent(name, GAME)
        assert isinstance(agent, agents.SearchAgent)
        assert agent.depth == depth
    with pytest.raises(ValueError, match="depth must be at least 1"):
        rookery.agent("ladder:depth=0", GAME)


def test_the_oracle_refuses_more_pieces_than_it_knows() -> None:
    oracle = BY_NAME["oracle"]
    kings = ",".join(f"K{n}" for n in range(1, database.PIECES))
    few, many = (GAME.parse_state(f"B:W{kings}{more}:BK32") for more in ("", ",K28"))
    assert oracle.refuses(few) is None
    assert oracle.refuses(many) == f"knows positions of up to {database.PIECES} pieces"
    state = GAME.parse_state("B:WK1:BK32,K31")
    solution = oracle.solve(state)
    assert solution.text.startswith("Black wins")
    assert set(solution.values) == set(solution.notes) == set(state.legal_actions())
    assert 0 < solution.value <= 1
    assert solution.error == 0
