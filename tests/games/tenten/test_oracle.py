"""The perfect player of small boards, and which player a board gets."""

from __future__ import annotations

import pytest

from rookery.games.tenten import exact, methods
from rookery.games.tenten.agents import LookAheadAgent
from rookery.games.tenten.greedy import GreedyAgent
from rookery.games.tenten.oracle import TableAgent, solves
from rookery.games.tenten.rules import TenTen
from rookery.registry import agent as load_agent
from rookery.search.agents import MctsAgent

GAME = TenTen(2, 3, "seven")
STATE = GAME.parse_state(".../... 1x1")


@pytest.mark.parametrize(
    ("rows", "columns", "hand", "solved"), [(4, 4, 1, True), (2, 8, 1, True), (3, 6, 1, False), (3, 3, 2, False)]
)
def test_boards_of_16_cells_and_one_piece_are_solved_at_once(rows: int, columns: int, hand: int, solved: bool) -> None:
    game = TenTen(rows, columns, "seven", hand)
    assert solves(game) is solved
    reason = methods.Oracle().unready(game)
    assert (reason is None) is solved
    if reason:
        assert (
            f"boards of up to 16 cells with one piece in the hand at once; this one has {rows * columns} cells"
            in reason
        )
        assert f"a hand of {hand}" in reason
        with pytest.raises(ValueError, match="the oracle solves boards of up to 16 cells"):
            methods.Oracle().agent(game, methods.Oracle.Options())


def test_values_in_words() -> None:
    rounds, rewards = TableAgent(exact.solve(GAME)), TableAgent(exact.solve(GAME, "r2"))
    said = [rounds.in_words(STATE, value) for value in (0.6, 1.4, 1.6, 12345.6)]
    assert said == ["1 more round", "1 more round", "2 more rounds", "12,346 more rounds"]
    assert "round" not in rewards.in_words(STATE, 2.0)


@pytest.mark.parametrize("objective", ["survival", "r2"])
def test_explanations_name_the_five_best(objective: str) -> None:
    agent = TableAgent(exact.solve(GAME, objective))
    why = agent.explain(STATE)
    values = agent.values(STATE)
    assert len(values) == 6
    assert why.values == values
    assert values[why.action] == max(values.values())
    named = [STATE.parse_action(reason.split(":")[0]) for reason in why.reasons]
    assert len(named) == len(set(named)) == 5
    assert [values[action] for action in named] == sorted(values.values(), reverse=True)[:5]
    unit = "rounds to be expected from here, this one included" if objective == "survival" else "in r2"
    assert why.reasons[0] == f"{STATE.action_name(why.action)}: {max(values.values()):,.1f} {unit}"


def test_the_aim_is_survival_where_that_has_an_end() -> None:
    mortal, endless = TenTen(3, 3, "seven"), TenTen(3, 3, "three")
    for game, objective, discount in ((mortal, "survival", 1.0), (endless, "r1", 0.99)):
        agent = load_agent("oracle", game)
        assert isinstance(agent, TableAgent)
        assert (agent.solution.objective, agent.solution.discount) == (objective, discount)
    agent = load_agent("oracle:discount=0.5", endless)
    assert isinstance(agent, TableAgent)
    assert (agent.solution.objective, agent.solution.discount) == ("r1", 0.5)
    agent = load_agent("oracle:objective=r3,discount=0.5", mortal)
    assert isinstance(agent, TableAgent)
    assert (agent.solution.objective, agent.solution.discount) == ("r3", 0.5)


def test_the_solution_of_a_position() -> None:
    game = TenTen(3, 3, "seven")
    state = game.parse_state("##./.../... 1x1")
    found = methods.Oracle().solve(state)
    values = exact.solve(game).placement_values(state)
    best = max(values.values())  # 71.84, see the page of the method
    assert best == pytest.approx(71.84, abs=0.005)
    assert (found.value, found.values) == (best, values)
    assert found.text == "71.8 rounds expected from here"
    assert found.notes[state.parse_action("1x1@r3c3")] == "71.8 rounds expected"
    assert found.error == exact.solve(game).error_bound
    over = game.parse_state("#.#/.#./#.# 1x2")
    assert methods.Oracle().solve(over).value == 0.0
    other = methods.Oracle().solve(TenTen(3, 3, "three").parse_state(".../.../... 1x1"))
    assert other.text.endswith(" of r1 expected from here")


def test_the_best_player_is_the_strongest_there_is() -> None:
    assert isinstance(load_agent("best", TenTen(3, 3, "seven")), TableAgent)
    assert isinstance(load_agent("best", TenTen()), LookAheadAgent)
    assert isinstance(load_agent("best", TenTen(6, 6, "seven")), MctsAgent)  # too large, and no weights ship
    wide = load_agent("best:beam=3", TenTen())
    assert isinstance(wide, LookAheadAgent)
    assert wide.beam == 3
    with pytest.raises(ValueError, match="beam must be at least 1"):
        load_agent("best:beam=0", TenTen())
    assert methods.Best().unready(TenTen(6, 6, "seven")) is None


def test_greedy_players_by_number() -> None:
    for algorithm in (1, 2, 3):
        agent = load_agent(f"greedy:algorithm={algorithm}", GAME)
        assert isinstance(agent, GreedyAgent)
        assert agent.algorithm == algorithm
    with pytest.raises(ValueError, match="one of 1, 2, 3"):
        load_agent("greedy:algorithm=4", GAME)


def test_weights_ship_for_some_boards_only() -> None:
    for name in ("lspi", "linear", "ntuple"):
        (method,) = (method for method in methods.METHODS if method.name == name)
        assert method.unready(TenTen()) is None
        reason = method.unready(TenTen(6, 6, "seven"))
        assert reason is not None
        assert reason.startswith("ships no weights for ")
        assert "10x10" in reason.split("only for ")[1]
        with pytest.raises(ValueError, match="train on a variant with one piece per round"):
            method.train(TenTen(hand=3), None, None)
