"""What agents that search ask of their searches, and what may be asked of them."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery import search
from rookery.search import SearchedMove, SearchRun, agents, methods
from rookery.search.agents import MctsAgent, MinimaxAgent, NestedAgent, RandomAgent, plan_of
from rookery.search.backtracking import LineAgent

GAME = rookery.load(str(Path(__file__).parents[2] / "examples" / "tic_tac_toe.py"))
MORPION = rookery.load("morpion", "4D")


def test_the_move_with_most_visits_is_played_and_of_these_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def mcts(state: object, *given: Any) -> list[SearchedMove]:
        asked.append(given)
        return [SearchedMove(0, 0.9, 10), SearchedMove(1, 0.1, 50), SearchedMove(2, 0.2, 50), SearchedMove(3, 0.15, 50)]

    monkeypatch.setattr(agents, "mcts", mcts)
    agent = MctsAgent(123, 0.7)
    state = GAME.initial_state()
    assert agent.choose(state, random.Random(1)) == 2
    assert agent.values(state) == {0: 0.9, 1: 0.1, 2: 0.2, 3: 0.15}
    (simulations, exploration, seed), plain = asked
    assert (simulations, exploration) == plain == (123, 0.7)
    agent.choose(state, random.Random(1))
    agent.choose(state, random.Random(2))
    assert asked[2][2] == seed != asked[3][2]


def test_stages_think_a_tenth_as_long_first() -> None:
    short, whole = MctsAgent(4000, 0.5).stages()
    assert isinstance(short, MctsAgent)
    assert (short.simulations, short.exploration) == (400, 0.5)
    assert isinstance(whole, MctsAgent)
    assert whole.simulations == 4000
    assert len(MctsAgent(1000).stages()) == 1
    assert len(MctsAgent(1001).stages()) == 2
    depths = [stage.depth for stage in MinimaxAgent(4).stages() if isinstance(stage, MinimaxAgent)]
    assert depths == [1, 2, 3, 4]


def test_random_agents_like_all_moves_the_same() -> None:
    state = GAME.parse_state("x.o/.../...")
    assert RandomAgent().values(state) == dict.fromkeys([1, 3, 4, 5, 6, 7, 8], 0.0)
    chosen = {RandomAgent().choose(state, random.Random(seed)) for seed in range(100)}
    assert chosen == {1, 3, 4, 5, 6, 7, 8}


@pytest.mark.parametrize("method", ["nrpa", "nmcs"])
def test_nested_agents_run_their_own_search(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[Any, ...], int]] = []

    def found(name: str) -> Any:
        def search(state: Any, *given: Any, seed: int, control: Any) -> list[SearchRun]:
            asked.append((name, given, seed))
            return [SearchRun(0, 1.0, [state.legal_actions()[-1]], 1, 0.0)]

        return search

    for name in ("nrpa", "nmcs"):
        monkeypatch.setattr(agents, name, found(name))
    state = MORPION.initial_state()
    agent = NestedAgent(method, 3, 17)
    assert agent.choose(state, random.Random(1)) == state.legal_actions()[-1]
    ((name, given, _),) = asked
    assert name == method
    assert given == ((3, 17) if method == "nrpa" else (3,))


def test_a_plan_ends_where_its_moves_are_not_legal_any_more() -> None:
    state = GAME.initial_state()
    plan = plan_of(state, [4, 0, 4, 8], 0.5)
    assert list(plan.values()) == [(4, 0.5), (0, 0.5)]
    assert next(iter(plan)) == state.key()
    assert str(state) == str(GAME.initial_state())  # it is not played


@pytest.mark.parametrize(
    ("method", "name", "least"),
    [
        ("minimax", "depth", 1), ("mcts", "simulations", 1), ("mcts", "exploration", 0), ("nrpa", "level", 1),
        ("nrpa", "iterations", 1), ("nmcs", "level", 1), ("backtracking", "nodes", 1), ("backtracking", "seconds", 0),
        ("best-first", "nodes", 1),
    ],
)  # fmt: skip
def test_limits_of_options(method: str, name: str, least: int) -> None:
    (found,) = (known for known in methods.METHODS if known.name == method)
    options: Any = found.Options
    assert getattr(options(**{name: least}), name) == least
    with pytest.raises(ValueError, match=f"{name} must be at least {least}"):
        options(**{name: least - 1})


def test_options_reach_the_agents() -> None:
    built = {method.name: method for method in methods.METHODS}

    def agent(name: str, **options: Any) -> Any:
        return built[name].agent(MORPION, built[name].Options(**options))  # type: ignore[attr-defined]

    assert agent("minimax", depth=7).depth == 7
    mcts = agent("mcts", simulations=9, exploration=0.25)
    assert (mcts.simulations, mcts.exploration) == (9, 0.25)
    nrpa = agent("nrpa", level=4, iterations=6)
    assert (nrpa.method, nrpa.level, nrpa.iterations) == ("nrpa", 4, 6)
    nmcs = agent("nmcs", level=4)
    assert (nmcs.method, nmcs.level) == ("nmcs", 4)
    line = agent("best-first", nodes=12, seconds=3.0)
    assert (line.order, line.nodes, line.seconds) == ("best-first", 12, 3.0)


def test_games_that_do_not_fit() -> None:
    tenten, checkers = rookery.load("tenten", "3x3-three"), rookery.load("checkers")
    reasons = {method.name: [method.misfit(game) for game in (MORPION, tenten, checkers)] for method in methods.METHODS}
    chance, alone = "needs a game without chance", "needs a game for one player"
    assert reasons == {
        "random": [None, None, None], "minimax": [None, chance, None], "mcts": [None, None, None],
        "nrpa": [None, None, alone], "nmcs": [None, None, alone], "backtracking": [None, chance, alone],
        "best-first": [None, chance, alone],
    }  # fmt: skip


def test_agents_made_by_hand_are_those_made_by_name() -> None:
    """Defaults stand in functions, in agents and in their options: all are the same."""
    minimax, mcts = methods.Minimax.Options(), methods.Mcts.Options()
    assert MinimaxAgent().depth == minimax.depth
    assert (MctsAgent().simulations, MctsAgent().exploration) == (mcts.simulations, mcts.exploration)
    given = inspect.signature(search.mcts).parameters
    assert (given["simulations"].default, given["exploration"].default) == (mcts.simulations, mcts.exploration)
    nrpa, nmcs = methods.Nrpa.Options(), methods.Nmcs.Options()
    by_hand = NestedAgent("nrpa")
    assert (by_hand.level, by_hand.iterations) == (nrpa.level, nrpa.iterations)
    assert NestedAgent("nmcs").level == nmcs.level
    assert inspect.signature(search.nrpa).parameters["iterations"].default == nrpa.iterations
    line = LineAgent("backtracking")
    options = methods.Backtracking.Options()
    assert (line.nodes, line.seconds) == (options.nodes, options.seconds)


def test_moves_are_valued_the_same_each_time() -> None:
    state = MORPION.initial_state()
    agent = NestedAgent("nrpa", 1, 5)
    assert agent.values(state) == agent.values(state)
