"""The agent `uci`: an engine that obeys, dies, hangs or lies, Stockfish where it is installed, and ourselves."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import chess
import pytest

import rookery as rk
from rookery.engines import EngineAgent, EngineError
from rookery.games.endgames.stockfish import find_engine
from rookery.games.endgames.tables import tables
from rookery.games.endgames.uci import UciEngine, position

GAME = rk.load("endgames")
US = f"{sys.executable} -m rookery uci"


def test_the_agent_plays_what_the_engine_says(fake, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    agent = rk.agent(f"uci:depth=3,path={fake('obeys')}", GAME)
    state = GAME.initial_state()
    assert state.uci(agent.choose(state)) == "a1a2"
    state.apply(state.parse_action("Kf2"))
    state.apply(state.parse_action("Ke4"))
    agent.choose(state)
    assert (tmp_path / "asked").read_text().splitlines()[-1] == str(state)  # it got the moves, too
    values = agent.values(GAME.initial_state())
    assert set(values) == set(GAME.initial_state().legal_actions())
    assert set(values.values()) == {997.0}  # after each the engine sees the lone king mated in 3
    agent.engine.close()


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("dies", "it ended"), ("hangs", "no answer within 1 seconds"), ("nonsense", "it plays 'a1a1', which is not"),
        ("lies", "it plays 'e1e5', which is not a legal move"), ("resigns", "it plays '(none)', which is not"),
        ("is short", "it names no move"), ("is silly", "which is not a legal move"),
    ],
)  # fmt: skip
def test_an_engine_that_fails_is_one_sentence(  # type: ignore[no-untyped-def]
    behaviour: str, reason: str, fake, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = rk.agent(f"uci:timeout=1,path={fake(behaviour)}", GAME)
    with pytest.raises(
        EngineError, match=rf"^the engine \S+ failed 3 times in '8/8.*' \(.*{re.escape(reason)}"
    ) as error:
        agent.choose(GAME.initial_state())
    assert "\n" not in str(error.value)
    assert capsys.readouterr().err.count("is started anew") == 2


def test_an_engine_that_is_none_is_one_sentence(fake) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="uci needs the program of an engine: uci:PROGRAM"):
        rk.agent("uci", GAME)
    with pytest.raises(EngineError, match="there is no program /no/such"):
        rk.agent("uci:/no/such", GAME)
    for program in ("true", "cat", str(fake("mute"))):
        with pytest.raises(EngineError, match="does not start"):
            rk.agent(f"uci:timeout=0.5,path={program}", GAME).choose(GAME.initial_state())
    for wrong in ("depth=0", "depth=101", "seconds=-1", "seconds=1e9", "timeout=0"):
        with pytest.raises(ValueError, match="must be"):
            rk.agent(f"uci:{wrong},path=cat", GAME)
    assert "uci" not in rk.agent_names(GAME, ready=True)


def test_the_position_is_told_with_its_history() -> None:
    rng = random.Random(3)
    for _ in range(20):
        state = GAME.random_start(rng)
        for _ in range(rng.randrange(8)):
            if state.legal_actions():
                state.apply(rng.choice(state.legal_actions()))
        found = re.fullmatch(r"position fen (.*?)(?: moves (.*))?", position(state))
        assert found
        board = chess.Board(found[1])
        for move in (found[2] or "").split():
            board.push_uci(move)
        assert board.fen(en_passant="fen") == str(state)


def test_stockfish_is_a_uci_engine() -> None:
    try:
        program = find_engine()
    except EngineError as error:
        pytest.skip(str(error))
    state = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    with UciEngine(program, depth=8) as engine:
        assert engine.version.startswith("Stockfish")
        reply = engine.reply(state)
        assert (state.action_name(reply.action), reply.mate) == ("Rh1#", 1)
    with UciEngine(program, depth=100, seconds=0.05) as engine:
        assert engine.reply(state).mate == 1


def test_our_own_engine_plays_perfectly_through_the_protocol() -> None:
    """The agent drives `rookery uci`, and the game lasts exactly as long as the tables say."""
    with UciEngine(US, depth=1) as engine:
        agent = EngineAgent(engine)
        state = GAME.initial_state()
        plies = tables("KRK").dtm(state)
        played = 0
        while not state.ending:
            reply = engine.reply(state)
            dtm = tables("KRK").dtm(state)
            assert dtm is not None
            assert reply.mate == ((dtm + 1) // 2 if dtm > 0 else dtm // 2)
            state.apply(reply.action)
            played += 1
        assert (state.ending, played) == ("checkmate", plies)
        near = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
        values = agent.values(near)
        assert max(values, key=lambda action: values[action]) == near.parse_action("Rh1#")


def test_the_arena_takes_engines_by_name() -> None:
    result = rk.match(GAME, f"uci:{US}", "random", games=2)
    assert result.games == 2
