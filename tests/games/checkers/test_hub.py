"""The agent `hub`: an engine that obeys, dies, hangs or lies, and ourselves; the notation beside pydraughts."""

from __future__ import annotations

import random
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import draughts
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rookery as rk
from rookery.engines import EngineError
from rookery.games.checkers.hub import HubEngine, arguments, move_text, parse_move, parse_position, position_text
from rookery.games.checkers.rules import Checkers, CheckersState

GAME = rk.load("checkers")
US = f"{sys.executable} -m rookery hub"

FAKE = """#!{python}
import sys, time
behaviour = {behaviour!r}
moves = {{"obeys": "done move=11-15 ponder=22-18", "lies": "done move=11-19", "is short": "done",
          "silent": "done move=11-15", "complains": 'error message="too many pieces"\\ndone move=0-0'}}
for line in sys.stdin:
    word = line.split()[:1]
    with open({log!r}, "a") as file:
        file.write(line)
    if word == ["hub"]:
        print('id name=Fake version=2 author="A B"')
        if behaviour != "silent":
            values = "normal killer" if behaviour == "other game" else "normal english"
            print(f'param name=variant value=normal type=enum values="{{values}}"')
        print("wait")
    elif word == ["init"]:
        print("loading")
        print("ready")
    elif word == ["go"]:
        if behaviour == "dies":
            sys.exit(1)
        if behaviour == "hangs":
            time.sleep(60)
        if behaviour != "silent":
            print('info depth=3 score=99.95 pv="11-15 22-18"' if behaviour == "obeys" else "info score=nonsense")
        print(moves[behaviour])
    sys.stdout.flush()
"""


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], Path]:
    def make(behaviour: str) -> Path:
        file = tmp_path / "engine"
        file.write_text(FAKE.format(python=sys.executable, behaviour=behaviour, log=str(tmp_path / "heard")))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    return make


def random_states(count: int, seed: int) -> list[CheckersState]:
    """Positions of random games, with and without captures, kings among them."""
    rng = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        state = GAME.initial_state()
        while state.legal_actions() and len(found) < count:
            if rng.random() < 0.2:
                found.append(state.clone())
            state.apply(rng.choice(state.legal_actions()))
    return found


def normal(text: str) -> tuple[str, ...]:
    """A move in Hub's form with its captured squares in order: any order is allowed."""
    if "x" not in text:
        return (text,)
    first, last, *captured = text.split("x")
    return first, last, *sorted(captured)


def test_the_notation_is_that_of_pydraughts() -> None:
    """The client of pydraughts names the moves of every position as we do."""
    captures = 0
    for state in random_states(200, 1):
        board = draughts.Board(variant="english", fen=str(state))
        ours = {move_text(action) for action in state.legal_actions()}
        assert {normal(text) for text in ours} == {normal(move.hub_move) for move in board.legal_moves()}
        captures += any(text.count("x") > 2 for text in ours)
        for action in state.legal_actions():
            same = parse_move(state, move_text(action))
            one, two = state.clone(), state.clone()
            one.apply(action)
            two.apply(same)
            assert one == two
    assert captures > 5


def test_positions_are_written_and_read() -> None:
    for state in random_states(100, 2):
        assert parse_position(Checkers(), position_text(state)) == state
    start = GAME.initial_state()
    assert position_text(start) == "B" + "b" * 12 + "e" * 8 + "w" * 12
    for wrong in ("", "B", "X" + "e" * 32, "B" + "e" * 31 + "x", "B" + "e" * 50, "b" + "e" * 32):
        with pytest.raises(ValueError, match="a position is B or W and 32"):
            parse_position(Checkers(), wrong)


@pytest.mark.parametrize("text", ["", "11", "11-", "-", "x", "11x15", "22-8-11-18", "11-15-", "11-15x"])
def test_other_moves_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a legal move"):
        parse_move(GAME.initial_state(), text)


@given(st.text())
def test_any_line_has_arguments(line: str) -> None:
    assert all(isinstance(value, str) for value in arguments(line).values())


def test_the_agent_plays_what_the_engine_says(fake: Callable[[str], Path], tmp_path: Path) -> None:
    agent = rk.agent(f"hub:depth=5,path={fake('obeys')}", GAME)
    state = GAME.initial_state()
    assert state.action_name(agent.choose(state)) == "11-15"
    reply = agent.engine.reply(state)
    assert (reply.mate, reply.score) == (3, None)  # five plies
    assert agent.engine.version == "Fake 2"
    heard = (tmp_path / "heard").read_text().splitlines()
    assert heard[:3] == ["hub", "set-param name=variant value=english", "init"]
    assert heard[3:7] == ["new-game", f"pos pos={position_text(state)}", "level depth=5", "go think"]
    agent.engine.close()


def test_the_history_is_told(fake: Callable[[str], Path], tmp_path: Path) -> None:
    state = GAME.initial_state()
    for move in ("9-14", "22-18", "14-17", "21x14", "10x17"):
        state.apply(state.parse_action(move))
    with HubEngine(str(fake("silent")), depth=1, seconds=0.5) as engine, pytest.raises(EngineError):
        engine.reply(state)  # 11-15 is White's move here, and not legal
    heard = (tmp_path / "heard").read_text()
    assert f'pos pos={position_text(GAME.initial_state())} moves="9-14 22-18 14-17 21x14x17 10x17x14"' in heard
    assert "level move-time=0.5" in heard
    assert "set-param" not in heard


def test_an_engine_may_tell_no_evaluation(fake: Callable[[str], Path]) -> None:
    with HubEngine(str(fake("silent")), depth=1) as engine:
        assert engine.reply(GAME.initial_state()).worth is None


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("dies", "it ended"), ("hangs", "no answer within 1 seconds"), ("is short", "it plays ''"),
        ("lies", "it plays '11-19', which is not a legal move"), ("complains", "it says 'too many pieces'"),
    ],
)  # fmt: skip
def test_an_engine_that_fails_is_one_sentence(behaviour: str, reason: str, fake: Callable[[str], Path]) -> None:
    agent = rk.agent(f"hub:timeout=1,path={fake(behaviour)}", GAME)
    with pytest.raises(EngineError, match=rf"failed 3 times in 'B:W.*{re.escape(reason)}") as error:
        agent.choose(GAME.initial_state())
    assert "\n" not in str(error.value)


def test_an_engine_of_another_game_is_one_sentence(fake: Callable[[str], Path]) -> None:
    with pytest.raises(EngineError, match="does not start: it does not play english checkers; its variants: norma"):
        rk.agent(f"hub:{fake('other game')}", GAME).choose(GAME.initial_state())
    with pytest.raises(ValueError, match="hub needs the program of an engine: hub:PROGRAM"):
        rk.agent("hub", GAME)
    with pytest.raises(EngineError, match="does not start: it ended"):
        rk.agent("hub:true", GAME).choose(GAME.initial_state())
    assert "hub" not in rk.agent_names(GAME, ready=True)


def test_our_own_engine_in_the_arena() -> None:
    """`rookery hub` drives the oracle: it wins a won ending, and tells in how many plies."""
    state = GAME.parse_state("W:WK18,K23:BK1")
    assert rk.solve(state).text == "White wins in 19 plies"
    with HubEngine(f"{US} --agent oracle", depth=1) as engine:
        reply = engine.reply(state)
        assert reply.mate == 10
        assert reply.action in rk.solve(state).best
    result = rk.match(GAME, f"hub:depth=2,path={US}", "random", games=2)
    assert result.games == 2
