"""The Q-table and prior state voting as players, and how they explain themselves."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rookery.arena import match
from rookery.games.checkers import MODELS
from rookery.games.checkers.agents import QTableAgent, draw_vote
from rookery.games.checkers.q_learning import QTable, Vote
from rookery.games.checkers.rules import Checkers, CheckersState, encode_action
from rookery.registry import agent as load_agent

GAME = Checkers()
UNKNOWN = GAME.parse_state("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29")


@pytest.mark.parametrize("name", ["q-learning", "voting", "voting:symmetries=4", "q-learning:fallback=keep-training"])
@pytest.mark.parametrize("state", [GAME.initial_state(), UNKNOWN])
def test_agents_value_and_explain_every_legal_move(name: str, state: CheckersState) -> None:
    agent = load_agent(name, GAME)
    why = agent.explain(state)
    assert set(why.values) == set(agent.values(state)) == set(state.legal_actions())
    assert why.values[why.action] == max(why.values.values())
    assert agent.choose(state, random.Random(1)) in why.values
    met = QTable.load(MODELS / "q-table.npz").values(state) is not None
    assert why.reasons[0].startswith("met in training" if met else "never met in training")


def test_the_shipped_table_plays_its_values() -> None:
    state = GAME.initial_state()
    values = QTable.load(MODELS / "q-table.npz").values(state)
    assert values is not None
    assert all(values.values()), "every first move was tried"
    for name in ("q-learning", "voting"):
        assert load_agent(name, GAME).values(state) == values


def test_psv_beats_random_and_the_plain_table_does_not() -> None:
    psv = match(GAME, "voting", "random", 120, 1)
    plain = match(GAME, "q-learning", "random", 120, 1)
    assert psv.wins > 80
    assert plain.interval[0] < 0.55 < plain.interval[1] + 0.1
    assert psv.wins > plain.wins


def test_psv_names_those_who_voted() -> None:
    why = load_agent("voting", GAME).explain(UNKNOWN)
    name = UNKNOWN.action_name(why.action)
    titles = [drawing.title for drawing in why.drawings]
    assert [title.split(":")[0] for title in titles] == [f"for {name}"] * 2 + [f"against {name}"] * 2
    assert all(title in why.reasons for title in titles)
    assert all(drawing.svg.startswith("<svg") for drawing in why.drawings)
    assert all(len(drawing.text.splitlines()) == 8 for drawing in why.drawings)


def test_the_drawing_of_a_vote_marks_the_overlap() -> None:
    """Figure 2 of the paper with one square that differs: row 7 of the prior board, column 4."""
    new = GAME.parse_state("B:W6:B1")
    prior = GAME.parse_state("B:W16:B11,K31")
    vote = Vote(0.1, 0.5, 23, prior, encode_action([11, 20]), 0)
    drawing = draw_vote(new, encode_action([1, 10]), vote, "for")
    rows = drawing.text.splitlines()
    assert rows[0] == "    .     .     .     ."
    assert rows[2] == "    .     .    [b]   [.]"
    assert rows[3] == " .     .    [.]   [w]"
    assert rows[7] == " .     .    !B!   [.]"
    assert drawing.svg.count("#c0503f") == 1, "one square marked bad"
    assert drawing.title == "for 1x10: +0.1000 = Q +0.5000 x 23/64 equal cells, 11x20 in B:W16:B11,K31"


def test_the_drawing_of_a_rotated_vote_lies_on_the_prior_board_as_it_was() -> None:
    new = GAME.parse_state("B:W6:B1")
    rotated = GAME.parse_state("W:W22:B17")  # Black's 11x20 over 16, seen by White
    vote = Vote(0.1, 0.5, 24, rotated, rotated.parse_action("22x13"), 1)
    rows = draw_vote(new, encode_action([1, 10]), vote, "for").text.splitlines()
    assert "[w]" in rows[5]
    assert "[b]" in rows[4]
    assert not any("!" in row for row in rows)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("voting:nowhere.npz", "there is no model in nowhere.npz; `rookery train checkers q-learning` writes one"),
        ("voting:symmetries=3", "symmetries of the agent 'voting' must be one of 1, 2, 4, not '3'"),
        ("q-learning:fallback=luck", "must be one of random, voting, keep-training, not 'luck'"),
        ("voting:depth=3", "unknown setting 'depth' of the agent 'voting'"),
        ("dqn:nowhere", "there is no model in nowhere; `rookery train checkers dqn` writes one"),
    ],
)
def test_bad_names_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        load_agent(name, GAME)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.npz").write_bytes(b"not a table")
    with pytest.raises(ValueError, match="not a file written by Rookery, or is damaged"):
        load_agent(f"voting:{tmp_path / 't.npz'}", GAME)


def test_keep_training_depends_on_the_rng_only() -> None:
    agent = QTableAgent(QTable(), "keep-training")
    choices = [[agent.choose(UNKNOWN, random.Random(seed)) for seed in range(6)] for _ in range(2)]
    assert choices[0] == choices[1]
