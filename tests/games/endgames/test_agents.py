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
    agent = load_agent("oracle", game)
    assert state.action_name(agent.choose(state, random.Random(0))) == "Ke5"
    values = {state.action_name(action): value for action, value in agent.values(state).items()}
    assert values.pop("Ke5") == 0
    assert all(value < 0 for value in values.values())


def test_explanations_name_every_move_its_distance_and_the_reply() -> None:
    state = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    explanation = load_agent("oracle", GAME).explain(state)
    assert state.action_name(explanation.action) == "Rh1#"
    assert len(explanation.reasons) == len(explanation.values) == len(state.legal_actions())
    assert explanation.values[explanation.action] == max(explanation.values.values()) == pytest.approx(0.999)
    assert explanation.reasons[-1] == "Rb2 draws by stalemate", "the worst comes last"
    lost = GAME.parse_state("8/8/8/8/8/2K5/7R/1k6 b - - 0 1")
    reasons = load_agent("oracle", GAME).explain(lost).reasons
    assert reasons[0] == "Ka1 is mated in 2 moves; the best reply is Kb3"
    assert reasons[1] == "Kc1 is mated in 1 move; the best reply is Rh1#"


def test_values_have_the_sign_of_the_result() -> None:
    won = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    values = {won.action_name(action): value for action, value in load_agent("oracle", GAME).values(won).items()}
    assert [values["Rh1#"], values["Rb2"]] == pytest.approx([0.999, 0])
    assert all(0 < value < 0.999 for name, value in values.items() if name not in ("Rh1#", "Rb2"))
    lost = GAME.parse_state("8/8/8/8/8/2K5/7R/1k6 b - - 0 1")
    values = {lost.action_name(action): value for action, value in load_agent("oracle", GAME).values(lost).items()}
    assert values == {"Ka1": pytest.approx(-0.996), "Kc1": pytest.approx(-0.998)}


@pytest.mark.parametrize(
    ("position", "move", "kind", "words"),
    [
        ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "Rh1#", "good", "mates."),
        ("8/8/8/8/8/2K5/7R/1k6 w - - 0 1", "Rh1+", "good", "is best: mate in 3 moves."),
        ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "Rh3", "slower", "still wins, in 2 moves; Rh1# mates in 1 move."),
        ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "Rb2", "bad", "threw the win away: it was mate in 1 move with Rh1#"),
        ("8/8/8/8/8/2K5/7R/1k6 b - - 0 1", "Ka1", "good", "lasts as long as possible: 2 moves."),
        ("8/8/8/8/8/2K5/7R/1k6 b - - 0 1", "Kc1", "slower", "is mated in 1 move; Ka1 lasts 2 moves."),
        ("7K/8/8/8/8/kP6/8/8 b - - 0 1", "Kxb3", "good", "holds the draw."),
        ("7K/8/8/8/8/kP6/8/8 b - - 0 1", "Kb2", "bad", "Kxb3 was a draw."),
    ],
)
def test_verdicts(position: str, move: str, kind: str, words: str) -> None:
    state = GAME.parse_state(position)
    verdict = load_agent("oracle", GAME).judge(state, state.parse_action(move))
    assert (verdict.kind, words in verdict.text) == (kind, True), verdict


def test_q_learning_looks_ahead_where_nothing_was_learned() -> None:
    """With bishop and knight, of which no table ships: it mates if it can, and takes what is free."""
    game = Endgames("KBNK")
    agent = load_agent("q-learning", game)
    for position, mate in (("k7/8/NK2B3/8/8/8/8/8 w - - 0 1", "Bd5#"), ("8/8/8/8/8/3b2kn/8/7K b - - 0 1", "Be4#")):
        state = game.parse_state(position)
        explanation = agent.explain(state)
        assert explanation.reasons[0].startswith("never met in training")
        assert state.action_name(explanation.action) == mate
        shown = [float(reason.split()[1].rstrip(":")) for reason in explanation.reasons[1:]]
        assert shown == sorted(shown, reverse=True)
        assert shown[0] > shown[1] >= 0
    state = game.parse_state("8/8/8/8/3B4/2k5/8/K6N b - - 0 1")
    assert state.action_name(agent.explain(state).action) == "Kxd4"
    state = game.parse_state("8/8/8/8/3k4/8/8/K1B4N w - - 0 1")
    values = {state.action_name(action): value for action, value in agent.values(state).items()}
    assert values["Be3+"] < 0 < values["Ng3"], "it sees that a bishop can be taken"


def test_it_takes_no_settings() -> None:
    with pytest.raises(ValueError, match="unknown setting 'depth'"):
        load_agent("oracle:depth=3", GAME)
