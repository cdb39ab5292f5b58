"""What scores mean: their worth, their words, and the draws that are taken."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from rookery.games.checkers.agents import (
    DatabaseAgent,
    EngineAgent,
    QTableAgent,
    SearchAgent,
    describe,
    in_words,
    verdict,
    worth,
)
from rookery.games.checkers.database import Outcome, look_up
from rookery.games.checkers.q_learning import QTable
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.search import DECIDED, LEAST_WIN, SCALE, WIN
from rookery.registry import agent as load_agent

GAME = Checkers()
WON = GAME.parse_state("W:W25,K26:B21")
"""White wins at once by 26-30, which leaves Black's man without a move."""


@pytest.mark.parametrize("odds", [-3.0, -0.5, 0.0, 0.1, 2.0])
def test_an_undecided_game_is_worth_its_chance_of_a_win(odds: float) -> None:
    """A chance p of a win against 1 - p, with log-odds log(p / (1 - p)), is worth 0.7 (2 p - 1)."""
    chance = math.exp(odds) / (1 + math.exp(odds))
    assert worth(round(odds * SCALE), None) == pytest.approx(0.7 * (2 * chance - 1))


def test_a_decided_game_is_worth_one_less_a_thousandth_per_ply() -> None:
    assert worth(WIN - 3, 3) == pytest.approx(0.997)
    assert worth(-(WIN - 40), 40) == pytest.approx(-0.96)
    assert EngineAgent.plies(WIN - 3) == 3
    assert EngineAgent.plies(-(WIN - 40)) == 40
    assert EngineAgent.plies(LEAST_WIN) is EngineAgent.plies(-LEAST_WIN) is EngineAgent.plies(0) is None
    assert EngineAgent.plies(LEAST_WIN + 1) == WIN - LEAST_WIN - 1


def test_the_plies_of_a_search_of_fixed_depth() -> None:
    agent = SearchAgent(None, 5, None)
    # Decided n plies ahead, found by a search of d plies: DECIDED - n + d.
    for n in (0, 1, 5):
        assert agent.plies(DECIDED - n + 5) == n
        assert agent.plies(-(DECIDED - n + 5)) == n
    assert agent.plies(300) is None
    assert agent.plies(DECIDED + 6) is None  # such a score comes from solved endgames, without a number of plies
    assert agent.worth(DECIDED + 2) == pytest.approx(0.997)
    assert agent.worth(-300) == pytest.approx(worth(-300, None))


@pytest.mark.parametrize(
    ("score", "plies", "exact", "words"),
    [
        (WIN - 1, 1, False, "wins in 1 ply"),
        (WIN - 2, 2, True, "wins in 2 plies"),
        (2 - WIN, 2, False, "loses in 2 plies"),
        (0, None, True, "is even, or a proven draw"),
        (0, None, False, "is worth +0.000"),
        (round(-2 * SCALE), None, True, "is worth -0.533"),  # 0.7 * tanh(1) = 0.7 * 0.7616
    ],
)
def test_verdicts(score: int, plies: int | None, exact: bool, words: str) -> None:
    assert verdict(score, plies, exact) == words


def test_outcomes_of_solved_endgames() -> None:
    assert describe(Outcome("draw", None)) == "draws"
    assert describe(Outcome("win", 1)) == "wins in 1 ply"
    assert describe(Outcome("loss", 2)) == "loses in 2 plies"


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.7, ""), (-0.7, ""), (0.0, ""), (0.999, "wins in 1"), (0.998, "wins in 1"), (0.997, "wins in 2"),
     (1.0, "wins in 1"), (-0.998, "loses in 1"), (-0.996, "loses in 2"), (0.701, "wins in 150")],
)  # fmt: skip
def test_words_count_the_moves_of_one_side(value: float, words: str) -> None:
    assert in_words(value) == words
    for agent in (load_agent("best:nodes=10", GAME), load_agent("ladder:depth=1", GAME)):
        assert (agent.in_words(WON, value) == words) is (words != "")
    assert load_agent("oracle", GAME).in_words(WON, value) == (words or "draws")


class Scores:
    """A search that finds what it is told, and remembers how it was asked."""

    nodes = 1234

    def __init__(self, score: int = 0) -> None:
        self.score = score
        self.asked: list[dict[str, Any]] = []

    def best(self, state: CheckersState, **limits: Any) -> tuple[list[int], int, int]:
        self.asked.append(limits)
        return [limits.get("order", state.legal_actions())[0]], self.score, 7

    def values(self, state: CheckersState, **limits: Any) -> tuple[list[tuple[int, int]], list[int], int]:
        self.asked.append(limits)
        actions = state.legal_actions()
        return [(action, 10 * i) for i, action in enumerate(actions)], [actions[-1]], 7


def engine(search: Scores, **options: Any) -> EngineAgent:
    agent = EngineAgent(None, None, **options)
    agent.search = search
    return agent


def after(plies: int) -> CheckersState:
    state = GAME.initial_state()
    rng = random.Random(0)
    while len(state.actions) < plies:
        quiet = [a for a in state.legal_actions() if "x" not in state.action_name(a)]
        state.apply(rng.choice(quiet or state.legal_actions()))
    return state


@pytest.mark.parametrize(
    ("position", "odds", "accepted"),
    [
        (GAME.parse_state("B:WK29,K30,K31,K32:BK1,K2,K3,K4"), 0.0, True),
        (GAME.parse_state("B:WK28,K29,K30,K31,K32:BK1,K2,K3,K4"), 0.0, False),  # nine pieces, and the game is young
        (GAME.initial_state(), 0.0, False),
        (after(39), 0.0, False),
        (after(40), 0.0, True),
        (after(40), -0.14, True),  # 0.7 * tanh(-0.07) = -0.0489
        (after(40), -0.15, False),  # 0.7 * tanh(-0.075) = -0.0524
    ],
    ids=["8 pieces", "9 pieces", "start", "39 plies", "40 plies", "a little better", "better"],
)
def test_draws_that_are_taken(position: CheckersState, odds: float, accepted: bool) -> None:
    assert len(position.black) + len(position.white) in (8, 9) or len(position.black) + len(position.white) > 8
    assert engine(Scores(round(odds * SCALE))).accepts_draw(position) is accepted


def test_limits_are_handed_to_the_search() -> None:
    state, search = GAME.initial_state(), Scores()
    engine(search, nodes=500, contempt=20).choose(state, random.Random(1))
    engine(search, nodes=0, seconds=0.5).choose(state, random.Random(1))
    first, second = search.asked
    assert (first["nodes"], first["seconds"], first["contempt"], first["keep"]) == (500, 0.0, 20, False)
    assert (second["nodes"], second["seconds"], second["contempt"], second["keep"]) == (0, 0.5, 0, True)
    assert sorted(first["order"]) == sorted(state.legal_actions())
    search.asked.clear()
    engine(search, nodes=500, clocked=True).choose_within(state, random.Random(1), 0.25)
    engine(search, nodes=500, depth=3).choose_within(state, random.Random(1), -2.0)
    first, second = search.asked
    assert (first["nodes"], first["depth"], first["seconds"], first["keep"]) == (0, 0, 0.25, True)
    assert (second["nodes"], second["depth"], second["seconds"]) == (500, 3, 0.001)


def test_a_forced_move_and_the_book_need_no_search() -> None:
    search = Scores()
    forced = GAME.parse_state("W:W22:B18,K1")
    assert [forced.legal_actions()[0]] == forced.legal_actions()
    assert engine(search).choose(forced, random.Random(1)) == forced.legal_actions()[0]
    start = GAME.initial_state()
    agent = engine(search, book={str(start): {"11-15": 0.1, "9-13": 0.0}})
    chosen = {start.action_name(agent.choose(start, random.Random(seed))) for seed in range(20)}
    assert chosen == {"11-15", "9-13"}
    assert search.asked == []


def test_noise_changes_the_choice_as_often_as_normal_errors_do() -> None:
    """Seven moves scored 0, 10, ..., 60: with a deviation of 1 the last is always best, with one of 1000 each is about
    as often as the others."""
    state = GAME.initial_state()
    assert len(state.legal_actions()) == 7
    rng = random.Random(3)
    sure = {engine(Scores(), noise=1.0).choose(state, rng) for _ in range(50)}
    assert sure == {state.legal_actions()[-1]}
    wild = [engine(Scores(), noise=1000.0).choose(state, rng) for _ in range(700)]
    for action in state.legal_actions():
        assert 60 < wild.count(action) < 150


def test_an_explanation_names_five_moves_and_the_line() -> None:
    state = GAME.initial_state()
    why = engine(Scores()).explain(state)
    legal = state.legal_actions()
    assert why.action == legal[-1]
    names = [reason.split()[0] for reason in why.reasons]
    assert names[0] == state.action_name(legal[-1])
    assert why.reasons[1] == f"expected line: {state.action_name(legal[-1])}"
    assert names[2:6] == [state.action_name(action) for action in legal[-2:-6:-1]]
    assert why.reasons[6:] == ["searched 7 plies and more where it mattered: 1,234 positions"]
    assert why.values == {action: pytest.approx(worth(10 * i, None)) for i, action in enumerate(legal)}
    assert why.overlay.arrows == [tuple(state.action_cells(legal[-1]))]


@pytest.mark.parametrize("options", [{"nodes": 0}, {"nodes": 0, "depth": 100}, {"depth": -1}])
def test_a_search_without_limits_or_beyond_them_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"limit|depth"):
        EngineAgent(None, None, **options)
    with pytest.raises(ValueError, match="depth"):
        SearchAgent(None, 0, None)


def test_solved_endgames_are_explained_from_the_best_move_on() -> None:
    agent = load_agent("oracle", GAME)
    assert isinstance(agent, DatabaseAgent)
    why = agent.explain(WON)
    assert why.reasons[0] == "26-30 wins in 1 ply"
    assert list(why.values) == list(agent.outcomes(WON))
    ordered = [WON.parse_action(reason.split()[0]) for reason in why.reasons]
    assert [why.values[action] for action in ordered] == sorted(why.values.values(), reverse=True)
    for action, outcome in agent.outcomes(WON).items():
        sign = {"win": 1, "draw": 0, "loss": -1}[outcome.value]
        assert why.values[action] == pytest.approx(sign * (1 - (outcome.plies or 0) / 1000))
    assert why.overlay.arrows == [(25, 29)]


def test_only_who_looks_endgames_up_calls_an_even_position_a_draw_perhaps() -> None:
    even = GAME.parse_state("B:WK32:BK1")
    for solved, words in ((None, "is worth +0.000"), (look_up(2), "is even, or a proven draw")):
        for agent in (SearchAgent(None, 1, solved), EngineAgent(None, solved, nodes=0, depth=1)):
            assert agent.explain(even).reasons[0].endswith(words)


def test_an_empty_table_says_what_it_does() -> None:
    state = GAME.initial_state()
    legal = state.legal_actions()
    blind = QTableAgent(QTable(), "random")
    assert blind.values(state) == dict.fromkeys(legal, 0.0)
    assert blind.explain(state).reasons == ["never met in training: any move, at random"]
    assert {blind.choose(state, random.Random(seed)) for seed in range(60)} == set(legal)
    trained = QTableAgent(QTable(), "keep-training").explain(state)
    assert trained.reasons[0] == "never met in training: values after 100 training games from here"
    assert len(trained.reasons) == 1 + len(legal)
    best = max(trained.values.values())
    assert trained.reasons[1] == f"{state.action_name(trained.action)} has Q {best:+.4f}"
    with pytest.raises(ValueError, match="known fallbacks: random, voting, keep-training"):
        QTableAgent(QTable(), "luck")
