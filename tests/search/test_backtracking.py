"""Backtracking and best-first search with any agent as the ranker."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.agents import Agent
from rookery.exact.solve import solve_game
from rookery.game import TERMINAL, State
from rookery.games.morpion.search import shipped
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import pack
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.solitaire_chess.search import search
from rookery.registry import agent as load_agent
from rookery.search.backtracking import Found, LineAgent, backtracking, best_first, ranks
from rookery.training import train

CHESS = SolitaireChess()
LIGHTS = rookery.load("examples/lights_out.py", "3x3")
SEARCHES = [backtracking, best_first]


def end_of(state: State, actions: list[int] | None) -> State:
    state = state.clone()
    for action in actions or ():
        state.apply(action)
    assert state.player() == TERMINAL
    return state


@pytest.mark.parametrize("trained", ["dqn", "paper-dqn"])
def test_the_native_form_enters_the_same_positions(trained: str) -> None:
    ranker = load_agent(trained, CHESS)
    native = capture_ranker.load(capture_ranker.shipped(CHESS, trained))
    rng, taken_back = random.Random(2), 0
    states = [CHESS.parse_state(puzzle.rows) for puzzle in pack()[:60]]
    states += [CHESS.random_start(rng, 6, solvable=False) for _ in range(30)]
    for state in states:
        found = backtracking(state, ranker)
        other = search(state, "dfs-tt", native, look_ahead=trained == "dqn")
        assert found.states == other.states
        assert found.finished
        assert (found.actions if found.score else None) == other.moves
        if found.score:
            taken_back += found.backtracks
            assert found.backtracks == other.states - state.pieces
    assert taken_back > 60


@pytest.mark.parametrize("function", SEARCHES)
def test_what_can_be_solved_is_solved(function: type[backtracking]) -> None:  # type: ignore[valid-type]
    rng, solved = random.Random(3), 0
    for number in range(40):
        state = CHESS.random_start(rng, rng.randint(2, 7), solvable=False)
        found: Found = function(state, load_agent("dqn", CHESS) if number % 2 else None)  # type: ignore[misc]
        assert found.finished
        assert found.score == solve(state).solvable
        assert end_of(state, found.actions).returns() == [found.score]
        solved += found.score == 1
    assert 5 < solved < 35


def test_a_ranker_that_knows_takes_nothing_back() -> None:
    oracle = load_agent("oracle", CHESS)
    for puzzle in pack()[::10]:
        state = CHESS.parse_state(puzzle.rows)
        for function in SEARCHES:
            found = function(state, oracle)
            assert (found.states, found.backtracks) == (state.pieces, 0)


def test_best_first_forgives_a_ranker_that_is_wrong_once() -> None:
    """The truth ranks the moves, but for one dead move at the start that comes first."""
    start = CHESS.parse_state(next(p.rows for p in pack() if CHESS.parse_state(p.rows).pieces == 8))
    oracle = load_agent("oracle", CHESS)

    class WrongOnce(rookery.Agent):
        def values(self, state: State) -> dict[int, float]:
            truth = enumerate(oracle.values(state).items())
            values = {action: value - 0.01 * place for place, (action, value) in truth}
            if state == start:
                values[min(values, key=lambda action: abs(values[action]))] = 2.0
            return values

    first, second = best_first(start, WrongOnce()), backtracking(start, WrongOnce())
    assert first.score == second.score == 1
    assert 0 < 3 * first.backtracks < second.backtracks


@pytest.mark.parametrize("function", SEARCHES)
def test_everything_tried_is_the_exact_answer(function: type[backtracking]) -> None:  # type: ignore[valid-type]
    """Puzzles whose moves cost points or earn some, beside the exact solution."""
    lights = rookery.load("examples/lights_out.py", rows=2, columns=2)
    grid = shipped("4D").game.initial_state()
    for action in shipped("4D").moves[:24]:
        grid.apply(action)
    for state in (lights.initial_state(), lights.parse_state("#./.."), grid):
        found: Found = function(state, nodes=100_000)  # type: ignore[misc]
        assert found.finished
        end = end_of(state, found.actions)
        assert end.returns() == [found.score]
        so_far = 24.0 if state is grid else 0.0
        assert found.score == so_far + solve_game(state).value(state)


def test_best_first_alone_finds_the_cheapest_line() -> None:
    state = LIGHTS.initial_state()
    found = best_first(state)
    assert (found.score, found.finished, found.states) == (solve_game(state).value(state), True, 512)


def test_limits() -> None:
    state = rookery.load("morpion").initial_state()
    for function in SEARCHES:
        found = function(state, nodes=200)
        assert (found.states, found.finished) == (200, False)
        begin = time.monotonic()
        assert not function(state, nodes=10**9, seconds=0.1).finished
        assert time.monotonic() - begin < 2
        nothing = function(state, nodes=5)
        assert (nothing.actions, nothing.score, nothing.states) == (None, None, 5)


def test_agents_play_the_line_and_search_again_off_it() -> None:
    state = CHESS.parse_state(pack()[40].rows)
    agent = load_agent("backtracking:ranker=dqn", CHESS)
    assert isinstance(agent, LineAgent)
    agent.choose(state)
    found, at = agent.found, state.clone()
    while at.player() != TERMINAL:
        at.apply(agent.choose(at))
    assert agent.found is found
    assert at.returns() == [1.0]
    wrong = next(action for action in state.legal_actions() if action != (found.actions or [])[0])  # type: ignore[union-attr]
    state.apply(wrong)
    assert agent.choose(state) in state.legal_actions()
    assert agent.found is not found


@pytest.mark.parametrize("order", ["backtracking", "best-first"])
def test_a_move_is_chosen_with_all_nodes_and_its_rivals_share_them(order: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    state = rookery.load("morpion", "4D").initial_state()
    agent = LineAgent(order, nodes=120, seconds=30.0)
    whole = (backtracking if order == "backtracking" else best_first)(state, nodes=120, seconds=30.0)
    agent.choose(state)
    assert agent.found is not None
    assert (agent.found.states, agent.found.actions) == (whole.states, whole.actions)
    given: list[tuple[int, float]] = []

    def watched(state: State, ranker: Agent | None, nodes: int, seconds: float) -> Found:
        given.append((nodes, seconds))
        return backtracking(state, ranker, nodes, seconds)

    for name in ("backtracking", "best_first"):
        monkeypatch.setattr(f"rookery.search.backtracking.{name}", watched)
    agent = LineAgent(order, nodes=120, seconds=30.0)
    agent.values(state)
    count = len(state.legal_actions())
    assert given == [(120, 30.0), *[(120 // count, 30.0 / count)] * count]


def test_where_no_end_is_met_the_ranker_decides() -> None:
    state = rookery.load("morpion").initial_state()
    last = max(state.legal_actions())

    class Last:
        def choose(self, state: State) -> int:
            return max(state.legal_actions())

    agent = LineAgent("best-first", rookery.agent(Last()), nodes=3)
    assert agent.choose(state) == last
    assert set(agent.values(state).values()) == {0.0}
    assert "the move is the ranker's" in agent.explain(state).reasons[0]


@pytest.mark.parametrize("name", ["backtracking:ranker=dqn", "best-first:nodes=500"])
def test_moves_are_worth_what_is_found_after_them(name: str) -> None:
    state = CHESS.parse_state(pack()[10].rows)
    agent = load_agent(name, CHESS)
    values = agent.values(state)
    assert values == load_agent("oracle", CHESS).values(state)
    why = agent.explain(state)
    assert values[why.action] == 1
    assert "ends with 1, and nothing is better" in why.reasons[0]
    assert "positions entered" in why.reasons[1]


def test_names(tmp_path: Path) -> None:
    run = train(CHESS, "q-learning", out=tmp_path / "a,b=c", games=50)
    state = CHESS.initial_state()
    learned = load_agent("q-learning", CHESS, run.folder)
    for name in (f"backtracking:{run.folder}", f"backtracking:ranker=q-learning,path={run.folder}"):
        agent = load_agent(name, CHESS)
        assert isinstance(agent, LineAgent)
        assert agent.ranker is not None
        assert agent.ranker.values(state) == learned.values(state)
    agent = load_agent("best-first:ranker=mcts:simulations=7,nodes=9", CHESS)
    assert isinstance(agent, LineAgent)
    assert (agent.nodes, agent.ranker.simulations) == (9, 7)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="unknown agent 'minimx'"):
        load_agent("backtracking:ranker=minimx", CHESS)
    with pytest.raises(ValueError, match="nodes must be at least 1"):
        load_agent("backtracking:nodes=0", CHESS)
    with pytest.raises(ValueError, match="needs a game for one player"):
        load_agent("best-first", rookery.load("checkers"))
    with pytest.raises(ValueError, match="needs a game without chance"):
        load_agent("best-first", rookery.load("tenten"))
    with pytest.raises(ValueError, match="needs a game without chance"):
        backtracking(rookery.load("tenten", "3x3-three").initial_state())


def test_actions_of_equal_value_have_equal_ranks() -> None:
    class Fixed(Agent):
        def __init__(self, values: dict[int, float]) -> None:
            self.given = values

        def values(self, state: State) -> dict[int, float]:
            return self.given

    state = rookery.load("solitaire-chess").initial_state()
    assert ranks(state, Fixed({7: 1.0, 4: 3.0, 9: 3.0, 2: 2.0})) == [(0, 4), (0, 9), (2, 2), (3, 7)]
    assert ranks(state, Fixed({1: 0.5, 2: 0.5, 3: 0.5})) == [(0, 1), (0, 2), (0, 3)]
    assert ranks(state, Fixed({1: 5.0, 2: 4.0, 3: 4.0, 4: 4.0})) == [(0, 1), (1, 2), (1, 3), (1, 4)]
    assert ranks(state, None) == [(0, action) for action in state.legal_actions()]
