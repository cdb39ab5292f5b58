"""What the players of 1010! say of placements: contributions, risks and plans."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from rookery.games.tenten import MODELS, ntuple
from rookery.games.tenten.agents import LinearAgent, LookAheadAgent, NTupleAgent, _risk, board_halves, shipped
from rookery.games.tenten.rules import TenTen
from rookery.registry import agent as load_agent

GAME = TenTen()
EMPTY = "/".join(["." * 10] * 10)
STATE = GAME.parse_state(EMPTY.replace("..........", "########..", 1) + " 1x2")


def test_boards_in_two_halves() -> None:
    """Cells 0 to 63 are bits of the first number, cells 64 to 99 those of the second."""
    rows = [list("." * 10) for _ in range(10)]
    for cell in (0, 63, 64, 99):
        rows[cell // 10][cell % 10] = "#"
    state = GAME.parse_state("/".join(map("".join, rows)) + " 1x1")
    assert board_halves(state) == (1 | 1 << 63, 1 | 1 << 35)


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (TenTen(), "10x10"), (TenTen(pieces="no-3x3"), "10x10-no-3x3"), (TenTen(4, 5, "seven"), "4x5-seven"),
        (TenTen(4, 4, {"1x1": 1}), "4x4-own"), (TenTen(hand=3), "10x10"),
    ],
)  # fmt: skip
def test_weights_are_named_by_board_and_pieces(game: TenTen, name: str) -> None:
    assert shipped("lspi", game) == MODELS / f"lspi-{name}.npz"


@pytest.mark.parametrize(
    ("chance", "words"),
    [
        (0.5, "50% risk"), (0.1, "10% risk"), (0.0994, "9.9% risk"), (0.01, "1.0% risk"), (0.00994, "0.99% risk"),
        (0.0001, "0.01% risk"), (0.000099, "0.010% risk"), (0.00001, "0.001% risk"), (0.0000001, "0% risk"),
    ],
)  # fmt: skip
def test_risks_in_words(chance: float, words: str) -> None:
    assert _risk(chance) == words


def test_log_odds_in_words() -> None:
    agent = load_agent("ntuple", GAME)
    assert agent.in_words(STATE, 0.0) == "50% risk"
    assert agent.in_words(STATE, math.log(99)) == "1.0% risk"
    assert agent.in_words(STATE, 5000.0) == "0% risk"
    ahead = load_agent("best", GAME)
    assert ahead.in_words(STATE, 0.99) == "1.0% risk"  # with one piece values are chances to stay alive
    hand = TenTen(hand=3).parse_state(f"{EMPTY} 1x1,1x2,1x3")
    assert ahead.in_words(hand, math.log(99)) == "1.0% risk"
    assert ahead.in_words(hand, -999.0) == "no room"


@pytest.mark.parametrize("name", ["lspi", "linear"])
def test_linear_players_show_what_each_feature_adds(name: str) -> None:
    agent = load_agent(name, GAME)
    assert isinstance(agent, LinearAgent)
    why = agent.explain(STATE)
    values = agent.values(STATE)
    assert values[why.action] == max(values.values())
    head, *reasons = why.reasons
    assert head.startswith(f"{STATE.action_name(why.action)} is worth ")
    assert head.endswith(f", the most of {len(STATE.legal_actions())} placements")
    assert len(reasons) == 6
    # The features of all placements; what the chosen one adds to the mean.
    cells, _, boards, numbers = agent.placements(board_halves(STATE), STATE.hand[0])
    vectors = np.asarray(agent.model.feature_vectors(board_halves(STATE), STATE.hand[0], cells, boards))
    assert len(vectors) == len(values)
    np.testing.assert_allclose(vectors @ agent.weights, numbers, rtol=1e-4, atol=1e-3)
    chosen = vectors[list(cells).index(why.action)]
    leads = {n: (chosen[i] - vectors[:, i].mean()) * agent.weights[i] for i, n in enumerate(agent.names)}
    told = []
    for reason in reasons:
        feature, value, weight, product, lead = re.fullmatch(
            r"(.+): (\S+) x (\S+) = (\S+) \((\S+) against the mean placement\)", reason
        ).groups()  # type: ignore[union-attr]
        place = list(agent.names).index(feature)
        assert float(value) == pytest.approx(chosen[place], rel=1e-3)
        assert float(weight) == pytest.approx(agent.weights[place], rel=1e-3)
        assert float(product) == pytest.approx(chosen[place] * agent.weights[place], rel=1e-2)
        assert float(lead) == pytest.approx(leads[feature], rel=1e-2)
        told.append(abs(leads[feature]))
    assert told == sorted((abs(lead) for lead in leads.values()), reverse=True)[:6]
    (drawing,) = why.drawings
    lines = [line.split(maxsplit=1) for line in drawing.text.splitlines()]
    assert [name for _, name in lines] == sorted(
        (name for name, lead in leads.items() if lead), key=lambda name: -abs(leads[name])
    )
    assert all(float(value) == pytest.approx(leads[name], rel=1e-2) for value, name in lines)


def test_networks_name_the_five_least_risks() -> None:
    agent = load_agent("ntuple", GAME)
    assert isinstance(agent, NTupleAgent)
    values = agent.values(STATE)
    why = agent.explain(STATE)
    *reasons, last = why.reasons
    assert last.endswith(f"counts {agent.model.settings.discount:g} ** n")
    best = sorted(values.values(), reverse=True)[:5]
    assert len(reasons) == 5
    for reason, value in zip(reasons, best, strict=True):
        assert values[STATE.parse_action(reason.split(":")[0])] == value
        assert float(reason.split("risk ")[1]) == pytest.approx(1 / (1 + math.exp(value)), rel=1e-2)


def test_looking_ahead_says_what_its_values_are() -> None:
    agent = load_agent("best", GAME)
    assert isinstance(agent, LookAheadAgent)
    why = agent.explain(STATE)
    assert len(why.reasons) == 5
    assert all(reason.endswith("(expected chance to stay alive, over every next piece)") for reason in why.reasons)
    assert all(0 < value <= 1 for value in why.values.values())
    small = TenTen(4, 4, {"1x1": 1, "1x2": 1}, hand=2)
    hand = small.parse_state("####/...#/..../.... 1x1,1x2".replace("####", "###."))
    planner = LookAheadAgent(ntuple.NTuple(small, ntuple.Settings()))
    why = planner.explain(hand)
    assert why.reasons[0].endswith("(log-odds of staying alive after the hand)")
    assert why.values.keys() == set(hand.legal_actions())


def test_plans_that_leave_a_piece_over_are_worse_the_more_they_leave() -> None:
    """Nine free cells take a square of three by three; a single cell among them leaves it over."""
    two, three = (TenTen(4, 4, {"1x1": 1, "3x3": 1}, hand=hand) for hand in (2, 3))
    for game, hand, worth in ((two, "1x1,3x3", -1000.0), (three, "1x1,1x1,3x3", -999.0)):
        state = game.parse_state(f"...#/...#/..../##.# {hand}")
        values = LookAheadAgent(ntuple.NTuple(game, ntuple.Settings())).values(state)
        names = {state.action_name(action): value for action, value in values.items()}
        assert names["1:1x1@r1c1"] == worth  # none, or one more, of the rest can be placed
        assert max(names.values()) > -500
