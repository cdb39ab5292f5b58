from __future__ import annotations

import random

import pytest

from rookery.game import TERMINAL
from rookery.games.checkers.agents import DatabaseAgent, SearchAgent
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.rules import Checkers
from rookery.games.checkers.search import Player, play_match
from rookery.registry import agent as load_agent

GAME = Checkers()


def search_agent(name: str) -> SearchAgent:
    agent = load_agent(name, GAME)
    assert isinstance(agent, SearchAgent)
    return agent


def test_the_learned_player_beats_random_and_every_rung() -> None:
    """A few games; `make slow` and the study play a thousand a rung."""
    value = search_agent("td").player.value
    assert play_match(Player(1, value), Player(0), games=400, seed=1).score > 0.98
    for depth, games in ((1, 200), (3, 200), (5, 100), (7, 40)):
        result = play_match(Player(depth, value), Player(depth), games, seed=1)
        assert result.interval[0] > 0.5, depth


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1, 3, 5, 7])
def test_a_thousand_games_a_rung(depth: int) -> None:
    """What an agent that learned from self-play alone has to reach: 99.5% against random, more than half against every
    rung of the ladder; here without the solved endgames, at the agent's own depth and at the rung's."""
    player = search_agent("td").player
    result = play_match(player, Player(depth), games=1000, seed=7)
    if depth == 0:
        assert result.score >= 0.995
    else:
        assert result.interval[0] > 0.5
        assert play_match(Player(depth, player.value), Player(depth), games=1000, seed=8).interval[0] > 0.5


def test_values_choice_and_explanation_agree() -> None:
    rng = random.Random(1)
    for name in ("td:depth=4", "ladder:depth=4", "td:depth=4,pieces=4"):
        agent = search_agent(name)
        for _ in range(4):
            state = GAME.initial_state()
            for _ in range(rng.randrange(40)):
                state.apply(rng.choice(state.legal_actions()))
            values = agent.values(state)
            assert set(values) == set(state.legal_actions())
            assert all(-1 <= value <= 1 for value in values.values())
            assert values[agent.choose(state, rng)] == max(values.values())
            explanation = agent.explain(state)
            assert explanation.values == values
            assert explanation.reasons[0].startswith(state.action_name(explanation.action))
            # The expected line can be played.
            line = explanation.reasons[1].removeprefix("expected line: ").split()
            for name_of_move in line:
                state.apply(state.parse_action(name_of_move))
            assert 1 <= len(line) <= 4


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_expected_line_is_a_best_move_for_every_ply_of_the_depth(depth: int) -> None:
    game = Checkers()
    agent = load_agent(f"ladder:depth={depth}", game)
    assert isinstance(agent, SearchAgent)
    state = game.initial_state()
    first, *replies = agent.line(state, state.legal_actions()[-1])
    assert first == state.action_name(state.legal_actions()[-1])
    assert len(replies) == depth - 1
    state.apply(state.legal_actions()[-1])
    for searched, name in zip(range(depth - 1, 0, -1), replies, strict=True):
        values = dict(agent.search.values(state, searched))
        action = next(action for action in state.legal_actions() if state.action_name(action) == name)
        assert values[action] == max(values.values())
        state.apply(action)


def test_the_same_seed_gives_the_same_move() -> None:
    state = GAME.initial_state()
    chosen = {load_agent("ladder:depth=1", GAME).choose(state, random.Random(seed)) for seed in range(60)}
    assert chosen == set(state.legal_actions()), "nothing can be won in one ply, so all moves are equal"
    again = [load_agent("ladder:depth=1", GAME).choose(state, random.Random(5)) for _ in range(3)]
    assert len(set(again)) == 1


def test_a_forced_win_is_seen_with_its_length() -> None:
    state = GAME.parse_state("W:W25,K26:B21")
    explanation = search_agent("td:depth=3").explain(state)
    assert explanation.reasons[0] == "26-30 wins in 1 ply"
    assert explanation.values[explanation.action] == pytest.approx(0.999)


@pytest.mark.parametrize("name", ["oracle", "best:depth=2"])
def test_perfect_play_takes_exactly_the_distance(name: str) -> None:
    solved, agent = load_database(), load_agent(name, GAME)
    oracle = load_agent("oracle", GAME)
    rng = random.Random(9)
    decided = 0
    for _ in range(60):
        state = solved.random_position(Checkers(repetition=0, quiet_limit=0), 4, rng)
        outcome = solved.outcome(state)
        if outcome.plies is None:
            continue
        players = [agent, oracle] if (state.side == 0) == (outcome.value == "win") else [oracle, agent]
        winner = state.side if outcome.value == "win" else 1 - state.side
        plies = 0
        while state.player() != TERMINAL:
            state.apply(players[state.player()].choose(state, rng))
            plies += 1
        assert plies == outcome.plies
        assert state.returns()[winner] == 1
        decided += 1
    assert decided > 30


def test_the_oracle_refuses_what_it_does_not_know() -> None:
    oracle = load_agent("oracle", GAME)
    assert isinstance(oracle, DatabaseAgent)
    with pytest.raises(ValueError, match="positions of up to 4 pieces are solved, and this one has 24"):
        oracle.choose(GAME.initial_state(), random.Random(0))
    state = GAME.parse_state("B:WK22,26:BK13,14")
    assert oracle.explain(state).reasons == [
        "14-17 draws",
        "13-9 draws",
        "14-18 loses in 26 plies",
        "13-17 loses in 6 plies",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("td:depth=0", "depth must be at least 1"),
        ("td:depth=61", "the depth must be 0 to 60"),
        ("ladder:width=3", "unknown setting 'width'"),
        ("oracle:pieces=7", "endgames of 2 to 6 pieces"),
    ],
)
def test_bad_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_agent(name, GAME)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ValueError, match="there is no model in nowhere"):
        load_agent("td:nowhere", GAME)


@pytest.mark.parametrize(
    ("position", "score", "takes"),
    [
        ("B:WK1,K2,K3,K4:BK29,K30,K31,K32", 0, True),  # eight pieces
        ("B:WK1,K2,K3,K4:BK29,K30,K31,K32,K28", 0, False),  # nine, and a young game
        ("B:WK1,K2,K3,K4:BK29,K30,K31,K32", -1000, False),  # the other side stands badly
    ],
)
def test_a_draw_is_taken_late_and_where_there_is_no_win(position: str, score: int, takes: bool) -> None:
    agent = load_agent("best:nodes=100", GAME)
    state = GAME.parse_state(position)
    agent.search = Answering(score)
    assert agent.accepts_draw(state) == takes
    long = GAME.initial_state()
    rng = random.Random(4)
    while len(long.actions) < 40:
        late = len(long.black) + len(long.white) <= 8
        assert agent.accepts_draw(long) == (late and score == 0)
        long.apply(rng.choice(long.legal_actions()))
    assert agent.accepts_draw(long) == (score == 0)


class Answering:
    """A search that always finds the same score."""

    def __init__(self, score: int) -> None:
        self.score = score

    def best(self, state: object, **limits: object) -> tuple[int, int, int]:
        return 0, self.score, 1
