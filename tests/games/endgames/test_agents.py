from __future__ import annotations

import random

import pytest

from rookery.game import TERMINAL
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.tables import solve
from rookery.registry import agent as load_agent

GAME = Endgames()


def play(state: EndgamesState, names: tuple[str, str], seed: int) -> int:
    """Plies until the end."""
    rng = random.Random(seed)
    players = [load_agent(name, GAME) for name in names]
    plies = 0
    while state.player() != TERMINAL:
        state.apply(players[state.player()].choose(state, rng))
        plies += 1
    return plies


@pytest.mark.parametrize("material", ["KQK", "KRK", "KBBK", "KPK"])
def test_perfect_players_need_exactly_the_distance(material: str) -> None:
    game = Endgames(material)
    for seed in range(12):
        state = game.random_start(random.Random(seed))
        dtm = solve(state).dtm
        plies = play(state, ("oracle", "oracle"), seed)
        if dtm is None:
            assert state.returns() == [0.0, 0.0]
        else:
            assert (plies, state.ending) == (abs(dtm), "checkmate")


def test_against_a_random_defender_it_is_never_slower() -> None:
    for seed in range(10):
        state = Endgames("KRK", repetition=0).random_start(random.Random(seed))
        dtm = solve(state).dtm
        if dtm is not None and dtm > 0:
            assert play(state, ("oracle", "random"), seed) <= dtm
            assert state.returns() == [1.0, -1.0]


def test_the_defender_takes_a_free_piece() -> None:
    state = GAME.parse_state("7K/8/8/8/8/kP6/8/8 b - - 0 1")
    assert solve(state).moves[state.parse_action("Kb4")] is None, "a quiet move draws as well"
    agent = load_agent("oracle", GAME)
    assert {state.action_name(agent.choose(state, random.Random(seed))) for seed in range(20)} == {"Kxb3"}


def test_the_defender_takes_a_draw_by_repetition() -> None:
    game = Endgames("KRK", repetition=2)
    state = game.parse_state("8/8/8/4k3/8/8/8/R3K3 w - - 0 1")
    for move in ("Ra2", "Kd4", "Ra1"):
        state.apply(state.parse_action(move))
    assert state.action_name(load_agent("oracle", game).choose(state, random.Random(0))) == "Ke5"


def test_explanations_name_every_move_its_distance_and_the_reply() -> None:
    state = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    explanation = load_agent("oracle", GAME).explain(state)
    assert state.action_name(explanation.action) == "Rh1#"
    assert len(explanation.reasons) == len(explanation.values) == len(state.legal_actions())
    assert explanation.values[explanation.action] == max(explanation.values.values()) == pytest.approx(0.999)
    assert "Rb2 draws by stalemate" in explanation.reasons
    lost = GAME.parse_state("8/8/8/8/8/2K5/7R/1k6 b - - 0 1")
    reasons = load_agent("oracle", GAME).explain(lost).reasons
    assert reasons[0] == "Ka1 is mated in 2 moves; the best reply is Kb3"
    assert reasons[1] == "Kc1 is mated in 1 move; the best reply is Rh1#"


def test_it_takes_no_settings() -> None:
    with pytest.raises(ValueError, match="unknown setting 'depth'"):
        load_agent("oracle:depth=3", GAME)
