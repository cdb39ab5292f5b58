"""What the agents of Solitaire Chess say of captures."""

from __future__ import annotations

import math

import pytest

from rookery import _native
from rookery.games.solitaire_chess.agents import RankerAgent, SolverAgent
from rookery.games.solitaire_chess.puzzles import STUCK
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.registry import agent as load_agent

GAME = SolitaireChess()
# The rook a4 can take the bishop a1 or the knight d4. Taking the bishop leaves it on a1, where nothing attacks the
# knight any more; the knight d4 attacks neither; the bishop a1 takes d4, and the rook then takes the bishop.
FORKED = GAME.parse_state("R..N/..../..../B...")


def test_the_solver_knows_which_captures_can_be_followed() -> None:
    agent = SolverAgent()
    values = {FORKED.action_name(action): value for action, value in agent.values(FORKED).items()}
    # After Ra4xd4 the bishop takes the rook; after Ra4xa1 the rook cannot reach d4; after Ba1xd4 the rook takes.
    assert values == {"Ra4xd4": 1.0, "Ra4xa1": 0.0, "Ba1xd4": 1.0}
    why = agent.explain(FORKED)
    assert why.reasons == ["a solution can begin with Ra4xd4, Ba1xd4"]
    assert values[FORKED.action_name(why.action)] == 1.0
    assert [agent.in_words(FORKED, value) for value in (1.0, 0.0)] == ["solvable", "stuck"]


def test_the_solver_judges_captures() -> None:
    agent = SolverAgent()

    def judged(move: str, text: str = "R..N/..../..../B...") -> tuple[str, str]:
        state = GAME.parse_state(text)
        verdict = agent.judge(state, state.parse_action(move))
        return verdict.kind, verdict.text

    assert judged("Ra4xd4") == ("good", "Still solvable.")
    assert judged("Ra4xa1") == ("bad", f"Ra4xa1 spoils the puzzle. {STUCK}")
    assert judged("Ra4xa1", "R.../..../..../B...") == ("good", "Solved.")
    hopeless = "RP../..../..../...P"  # the pawn d1 is attacked by nothing and attacks nothing
    assert judged("Ra4xb4", hopeless) == ("bad", STUCK)
    state = GAME.parse_state(hopeless)
    assert agent.explain(state).reasons == ["no capture leads to a solution"]
    assert agent.hint(state).stuck
    assert agent.hint(state).cells == [[]]


def test_hints_light_up_more_and_more() -> None:
    hint = SolverAgent().hint(FORKED)
    assert not hint.stuck
    assert len(hint.sentences) == len(hint.cells) == 3
    first, second, third = hint.cells
    assert len(first) == 1
    assert second == third
    assert second[0] == first[0]
    assert (
        GAME.num_actions
        > second[0] * 16 + second[1]
        in [action for action, value in SolverAgent().values(FORKED).items() if value]
    )


@pytest.mark.parametrize("look_ahead", [True, False])
def test_beliefs_are_those_of_the_net(look_ahead: bool) -> None:
    agent = load_agent("dqn", GAME)
    assert isinstance(agent, RankerAgent)
    agent = RankerAgent(agent.ranker, look_ahead)
    scores = dict(_native.solitaire_chess.ranked_moves(agent.ranker, FORKED, look_ahead))
    values = agent.values(FORKED)
    assert values == {action: pytest.approx(math.exp(s) / (1 + math.exp(s))) for action, s in scores.items()}
    why = agent.explain(FORKED)
    assert values[why.action] == max(values.values())
    assert len(why.reasons) == 3
    name = FORKED.action_name(why.action)
    assert why.reasons[0] == f"after {name} the net gives a solution {values[why.action]:.1%}"
    assert agent.in_words(FORKED, 0.756) == "76% solvable"


def test_five_captures_are_named_at_most() -> None:
    agent = load_agent("dqn", GAME)
    state = GAME.parse_state("QRBN/PKRB/..../....")
    assert len(state.legal_actions()) > 5
    assert len(agent.explain(state).reasons) == 5
