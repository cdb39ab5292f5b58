"""Rookery as a Hub engine: driven by pydraughts, by hand, and with garbage."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import draughts
import pytest
from draughts.engine import HubEngine as Client
from hypothesis import given, settings
from hypothesis import strategies as st

import rookery as rk
from rookery import Control
from rookery.games.checkers.agents import SearchAgent
from rookery.games.checkers.engine import HubServer, _line
from rookery.games.checkers.hub import position_text

COMMAND = [sys.executable, "-m", "rookery", "hub"]
GAME = rk.load("checkers")
START = position_text(GAME.initial_state())
OPENINGS = {"9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"}
WON = position_text(GAME.parse_state("W:WK18,K23:BK1"))


def talk(*lines: str, agent: str = "best") -> list[str]:
    out = io.StringIO()
    HubServer(agent, out=out).run(line.encode() + b"\n" for line in lines)
    return out.getvalue().splitlines()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    program = tmp_path_factory.mktemp("hub") / "rookery"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m rookery hub\n")
    program.chmod(0o755)
    client = Client([str(program)])
    client.init()
    yield client
    client.quit()
    client.p.communicate(timeout=20)


def test_pydraughts_reads_the_introduction(client: Client) -> None:
    assert client.id["name"] == "Rookery"
    assert client.options == {"variant", "agent"}
    assert client.variants == {"english"}
    client.ping()


def test_pydraughts_plays_a_whole_game(client: Client) -> None:
    """Our engine against itself, every move checked and made by pydraughts.

    Its `play` sends positions of English checkers rotated and with colours exchanged, but moves as they are, which no
    engine can follow; so `go`, with the position as it is.
    """
    board = draughts.Board(variant="english")
    while not board.is_over() and len(board.move_stack) < 60:
        moves = " ".join(move.hub_move for move in board.move_stack)
        best, expected = client.go(START, moves=moves, depth=5)
        move = draughts.Move(board, hub_move=best)
        assert move.hub_move in {legal.hub_move for legal in board.legal_moves()}
        assert client.info["depth"] == 5 or len(board.legal_moves()) == 1
        assert client.info["pv"].strip('"').split()[0] == best
        board.push(move)
        if expected:
            assert draughts.Move(board, hub_move=expected).hub_move in {legal.hub_move for legal in board.legal_moves()}
    assert len(board.move_stack) > 40


def test_pydraughts_reads_the_moves_to_a_win(client: Client) -> None:
    client.go(WON, depth=9)
    assert client.info["score"] == {"win": 10}  # 19 plies, as the solved endgames say
    client.go(WON, movetime=0.1)
    assert client.info["score"] == {"win": 10}


@pytest.mark.parametrize("level", [{"my_time": 3, "inc": 1}, {"my_time": 6, "moves_left": 30}, {"movetime": 0.2}, {}])
def test_pydraughts_sets_clocks(client: Client, level: dict[str, float]) -> None:
    begin = time.monotonic()
    best, _ = client.go(START, **level)
    assert time.monotonic() - begin < 5
    assert best in OPENINGS
    assert client.info["depth"] >= 9


def test_a_search_deepens_until_it_is_stopped() -> None:
    out = io.StringIO()
    server = HubServer(out=out)
    for line in (f"pos pos={START}", "level infinite", "go analyze"):
        server.hear(line)
    time.sleep(0.7)
    assert "done" not in out.getvalue()
    begin = time.monotonic()
    server.hear("stop")
    assert time.monotonic() - begin < 1
    said = out.getvalue().splitlines()
    assert said[-1].startswith("done move=")
    depths = [int(line.split()[1].removeprefix("depth=")) for line in said[:-1]]
    assert depths == list(range(1, len(depths) + 1))
    assert len(depths) > 9
    assert server._search
    server._search.thread.join(5)
    assert not server._search.thread.is_alive()  # the search is interrupted, not left alone


def test_ponder_waits() -> None:
    out = io.StringIO()
    server = HubServer(out=out)
    for line in (f"pos pos={START}", "level depth=2", "go ponder", "ping"):
        server.hear(line)
    assert server._search
    server._search.thread.join(10)
    assert "pong" in out.getvalue()
    assert "done" not in out.getvalue()
    server.hear("ponder-hit")
    assert "done" in out.getvalue()


def test_every_agent_can_be_the_engine() -> None:
    for agent in ("random", "mcts:simulations=50", "voting", "minimax:depth=2", "ladder", "td:depth=3"):
        said = talk("hub", f"pos pos={START}", "go think", agent=agent)
        assert said[-1].split()[1].removeprefix("move=") in OPENINGS
        assert said[3] == "wait"
    said = talk("set-param name=agent value=oracle", "init", f"pos pos={WON}", "go think")
    assert said[0] == "ready"
    assert "score=99.81 " in said[1]


def test_positions_that_are_lost_drawn_or_over() -> None:
    lost = position_text(GAME.parse_state("B:WK18,K23:BK1"))
    assert "score=-99." in talk(f"pos pos={lost}", "level depth=5", "go think")[-2]
    over = position_text(GAME.parse_state("B:WK18:B"))
    assert talk(f"pos pos={over}", "go think") == [
        'error message="there is no move to choose in B:WK18:B"', "done move=0-0",
    ]  # fmt: skip


@pytest.mark.parametrize(("mover", "moves"), [("B", "1-6 32-27 6-1 27-32"), ("W", "32-27 1-6 27-32 6-1")])
def test_a_draw_by_repetition_that_nobody_has_claimed_goes_on(mover: str, moves: str) -> None:
    kings = position_text(GAME.parse_state(f"{mover}:WK32:BK1"))
    said = talk(f'pos pos={kings} moves="{" ".join([moves] * 4)}"', "level depth=2", "go think")
    assert said[-1].startswith(f"done move={moves.split('-')[0]}-")


def test_an_agent_that_cannot_answer_says_why() -> None:
    said = talk(f"pos pos={START}", "go think", agent="oracle")
    assert "pieces" in said[0]
    assert said[1:] == ["done move=0-0"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", []), ("xyzzy a=b", []), ("stop", []), ("ponder-hit", []), ("ping", ["pong"]), ("level", []),
        ("set-param name=agent value=nobody", ["error message=\"unknown agent 'nobody'"]),
        ("set-param name=variant value=killer", ['error message="the only variant is english']),
        ("set-param name=book value=true", ["error message=\"there is no parameter 'book'"]),
        ("pos", ['error message="a position is B or W']),
        (f'pos pos={START} moves="11-19"', ["error message=\"'11-19' is not a legal move"]),
    ],
)  # fmt: skip
def test_other_lines(line: str, said: list[str]) -> None:
    found = talk(line)
    assert len(found) == len(said)
    assert all(have.startswith(want) for have, want in zip(found, said, strict=True))


WORDS = st.sampled_from(
    ["hub", "init", "go", "think", "ponder", "analyze", "stop", "pos", f"pos={START}", f"pos={WON}", "level",
     "infinite", 'moves="11-15 22-18"', "moves=", "depth=3", "depth=-1", "move-time=0.01", "time=.", "time=1e9",
     "inc=9", "ping", "new-game", "ponder-hit", "set-param", "name=agent", "value=ladder", 'value="',
     "\x00", "\u00e9", "="]
)  # fmt: skip
LINES = st.one_of(st.binary(max_size=60), st.lists(WORDS, max_size=6).map(lambda words: " ".join(words).encode()))


@settings(max_examples=100)
@given(st.lists(LINES.filter(lambda line: b"quit" not in line), max_size=12))
def test_garbage_never_ends_the_conversation(lines: list[bytes]) -> None:
    out = io.StringIO()
    server = HubServer("ladder:depth=2", out=out)
    last = ["stop", f"pos pos={WON}", "set-param name=agent value=ladder", "level depth=1", "go think"]
    server.run(line.replace(b"\n", b" ") for line in [*lines, *map(str.encode, last)])
    said = out.getvalue().splitlines()
    assert said[-1].startswith("done move=")
    assert said[-1] != "done move=0-0"
    known = ("id ", "param ", "wait", "ready", "pong", "info ", "done ", "error ")
    assert all(line.startswith(known) for line in said)
    assert sum(line.startswith("done") for line in said) <= 1 + sum(b"go" in line for line in lines)


def test_the_command_ends_with_its_input(tmp_path: Path) -> None:
    def run(text: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *options]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)

    assert run("ping\nquit\nping\n").stdout == "pong\n"
    done = run(f"pos pos={START}\nlevel infinite\ngo analyze\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("done move=")
    assert run("", "--agent", "nobody").returncode == 2


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_line_of_a_search_is_as_long_as_it_looks_ahead(depth: int) -> None:
    agent = rk.agent(f"td:depth={depth}", GAME)
    assert isinstance(agent, SearchAgent)
    state = GAME.initial_state()
    best = agent.search.best(state, depth, Control())
    line = _line(agent, state, best[0][0], Control())
    assert len(line) == depth
    now = state.clone()
    for plies, action in enumerate(line):
        choices = agent.search.best(now, depth - plies, Control())
        assert action in [move for move, _ in choices]
        now.apply(action)
    over = GAME.parse_state("W:WK18,K23:BK15")  # a capture that ends the game
    winning = over.legal_actions()[0]
    assert _line(agent, over, winning, Control()) == [winning]
