"""Rookery as a UCI engine: driven by python-chess, by hand, and with garbage."""

from __future__ import annotations

import io
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import IO

import chess
import chess.engine
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.agents import Agent
from rookery.game import State
from rookery.games.endgames.engine import UciServer
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.tables import solve

COMMAND = [sys.executable, "-m", "rookery", "uci"]
KRK = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
MATE_IN_1 = "8/8/8/8/8/1K6/7R/k7 w - - 0 1"


def talk(*lines: str, agent: str = "oracle", seconds: float = 10) -> list[str]:
    """What the engine says to some lines, the last of which it gets when it has answered the others."""
    out = io.StringIO()
    server = UciServer(agent, out=out)
    server.run(line.encode() + b"\n" for line in lines)
    for _ in range(int(seconds * 100)):
        if server._search is None or server._search.finished:
            break
        time.sleep(0.01)
    return out.getvalue().splitlines()


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=60) as engine:
        yield engine


@pytest.mark.parametrize("material", ["KRK", "KQK", "KPK", "KBNK"])
def test_python_chess_gets_exact_scores_and_lines(engine: chess.engine.SimpleEngine, material: str) -> None:
    game, rng = Endgames(material), random.Random(1)
    for _ in range(8):
        state = game.random_start(rng)
        truth = solve(state).dtm
        board = chess.Board(str(state))
        result = engine.play(board, chess.engine.Limit(depth=3), info=chess.engine.INFO_ALL)
        assert result.move
        assert result.move in board.legal_moves
        score = result.info["score"].relative
        if truth is None:
            assert score == chess.engine.Cp(0)
            continue
        assert score.mate() == ((truth + 1) // 2 if truth > 0 else truth // 2)
        line = result.info["pv"]
        assert line[0] == result.move
        assert len(line) == abs(truth)
        for move in line:
            assert move in board.legal_moves
            board.push(move)
        assert board.is_checkmate()


def test_python_chess_analyses_with_several_lines(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board(MATE_IN_1)
    lines = engine.analyse(board, chess.engine.Limit(time=0.2), multipv=3)
    assert [line["score"].relative.mate() for line in lines] == [1, 2, 2]
    assert lines[0]["pv"] == [chess.Move.from_uci("h2h1")]
    with engine.analysis(board) as endless:  # go infinite, then stop
        first = endless.get()
        assert first["score"].relative.mate() == 1
        time.sleep(0.2)
        endless.stop()
        assert endless.wait().move == chess.Move.from_uci("h2h1")


def test_lines_have_numbers_where_there_are_several() -> None:
    for lines in (1, 2, 3):
        said = talk(f"setoption name MultiPV value {lines}", f"position fen {MATE_IN_1}", "go depth 1")
        found = [re.search("multipv ([0-9]+)", line) for line in said if line.startswith("info depth")]
        numbers = [match and int(match[1]) for match in found]
        assert numbers[-lines:] == ([None] if lines == 1 else list(range(1, lines + 1)))


def test_python_chess_may_choose_the_moves_and_the_agent(engine: chess.engine.SimpleEngine) -> None:
    board = chess.Board(MATE_IN_1)
    only = [chess.Move.from_uci("h2g2"), chess.Move.from_uci("h2f2")]
    result = engine.play(board, chess.engine.Limit(depth=1), root_moves=only, info=chess.engine.INFO_SCORE)
    assert result.move in only
    assert set(engine.options) == {"Agent", "MultiPV"}
    assert "q-learning" in (engine.options["Agent"].var or [])
    engine.configure({"Agent": "random"})
    played = {engine.play(board, chess.engine.Limit(depth=1)).move for _ in range(20)}
    assert len(played) > 3
    engine.configure({"Agent": "oracle"})


def test_python_chess_gets_a_polite_answer_outside_the_material(engine: chess.engine.SimpleEngine) -> None:
    for board in (chess.Board(), chess.Board("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1"), chess.Board(f"{'8/' * 7}K1k5")):
        result = engine.play(board, chess.engine.Limit(depth=1), info=chess.engine.INFO_ALL)
        assert result.move is None
        assert result.info["string"]
    assert engine.play(chess.Board(MATE_IN_1), chess.engine.Limit(time=5)).move == chess.Move.from_uci("h2h1")


def test_a_whole_game_against_stockfish_in_the_tools_of_python_chess(engine: chess.engine.SimpleEngine) -> None:
    try:
        stockfish = chess.engine.SimpleEngine.popen_uci("/usr/games/stockfish")
    except FileNotFoundError:
        pytest.skip("Stockfish is not installed")
    with stockfish:
        board = chess.Board(KRK)
        while not board.is_game_over(claim_draw=True):
            player = engine if board.turn else stockfish
            result = player.play(board, chess.engine.Limit(depth=8))
            assert result.move
            board.push(result.move)
    assert board.is_checkmate()
    assert len(board.move_stack) <= 27  # White mates in 14 moves at the latest


def test_mates_stalemates_and_draws_have_no_move() -> None:
    assert talk("position fen 8/8/8/8/8/1K6/8/k6R b - - 0 1", "go") == [
        "info depth 0 score mate 0", "info string there is no move to choose: checkmate", "bestmove (none)",
    ]  # fmt: skip
    assert talk("position fen 8/8/8/8/8/1k6/p7/K7 w - - 0 1", "go infinite")[0] == "info depth 0 score cp 0"


def test_go_infinite_and_ponder_wait() -> None:
    out = io.StringIO()
    server = UciServer(out=out)
    for begin, end in (("go infinite", "stop"), ("go ponder wtime 100 btime 100", "ponderhit"), ("go ponder", "stop")):
        server.hear(f"position fen {MATE_IN_1}")
        server.hear(begin)
        assert server._search
        server._search.thread.join(10)
        assert out.getvalue().startswith("info depth 1")
        assert "bestmove" not in out.getvalue()
        server.hear(end)
        assert out.getvalue().splitlines()[-1] == "bestmove h2h1"
        out.seek(0)
        out.truncate()


class Slow(Agent):
    """Its second stage takes for ever."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        time.sleep(self.seconds)
        return state.legal_actions()[0]

    def stages(self) -> list[Agent]:
        return [Slow(), Slow(3)]


@pytest.mark.parametrize("limit", ["movetime 100", "wtime 3000 btime 3", "wtime 9000 winc 10 movestogo 90", "infinite"])
def test_time_and_stop_end_a_slow_agent(limit: str) -> None:
    out = io.StringIO()
    server = UciServer(out=out)
    server.agent = Slow()
    server.hear(f"position fen {KRK}")
    begin = time.monotonic()
    server.hear(f"go {limit}")
    if limit == "infinite":
        time.sleep(0.1)
        server.hear("stop")
    while "bestmove" not in out.getvalue():
        time.sleep(0.01)
        assert time.monotonic() - begin < 2
    spent = 1000 * (time.monotonic() - begin)
    server.hear("go depth 1")  # waits for the one before, and is not mixed up with it
    assert server._search
    server._search.thread.join(10)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["info", "bestmove"] * 2
    words = lines[0].split()
    assert 0 <= int(words[words.index("time") + 1]) <= spent, "milliseconds"


def test_history_counts_and_ends_nothing() -> None:
    shuffle = "a1a2 e5d5 a2a1 d5e5"
    said = talk(f"position fen {KRK} moves {' '.join([shuffle] * 3)}", "go")  # a draw that nobody claimed
    assert "score mate" in said[0]
    assert said[-1].startswith("bestmove a1")
    assert "bestmove" in talk("position fen 8/8/8/4k3/8/8/8/R3K3 w - - 150 200 moves a1a2", "go")[-1]


def test_an_agent_that_cannot_answer_says_why() -> None:
    class Fails(Agent):
        def choose(self, state: State, rng: random.Random | None = None) -> int:
            raise ValueError("I do not know\nthis")

    out = io.StringIO()
    server = UciServer(out=out)
    server.agent = Fails()
    server.run([f"position fen {KRK}\n".encode(), b"go\n"])
    assert out.getvalue() == "info string I do not know this\nbestmove (none)\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", []), ("xyzzy", []), ("joho isready", ["readyok"]), ("debug on", []), ("stop", []), ("ponderhit", []),
        ("setoption name Agent value nobody", ["info string unknown agent 'nobody' for endgames"]),
        ("setoption name MultiPV value 99", ["info string MultiPV must be 1 to 16, not '99'"]),
        ("setoption name Hash value 16", ["info string there is no option 'hash'"]),
        ("setoption", ["info string there is no option ''"]),
    ],
)  # fmt: skip
def test_other_lines(line: str, said: list[str]) -> None:
    found = talk(line)
    assert len(found) == len(said)
    assert all(have.startswith(want) for have, want in zip(found, said, strict=True))


@pytest.mark.parametrize(
    "line",
    [
        "position", "position fen", "position fen x moves y", f"position fen {KRK} moves a1a9", "position moves",
        "position startpos moves e2e4", f"position fen {'9' * 70_000}",
    ],
)  # fmt: skip
def test_hopeless_positions_are_answered(line: str) -> None:
    said = talk(line, "go")
    assert said[0].startswith("info string ")
    assert said[1:] == ["bestmove (none)"]


WORDS = st.sampled_from(
    ["uci", "isready", "go", "stop", "position", "fen", "moves", KRK, MATE_IN_1, "startpos", "a1a2", "infinite",
     "depth", "movetime", "-1", "99999999999999999999", "1", "ponder", "ponderhit", "setoption", "name", "value",
     "MultiPV", "3", "searchmoves", "ucinewgame", "wtime", "\x00", "\u00e9", "mate", "register"]
)  # fmt: skip
LINES = st.one_of(st.binary(max_size=60), st.lists(WORDS, max_size=8).map(lambda words: " ".join(words).encode()))


@settings(max_examples=150)
@given(st.lists(LINES.filter(lambda line: b"quit" not in line), max_size=12))
def test_garbage_never_ends_the_conversation(lines: list[bytes]) -> None:
    out = io.StringIO()
    server = UciServer(out=out)
    last = ["stop", f"position fen {MATE_IN_1}", "setoption name MultiPV value 1", "go depth 1"]
    server.run(line.replace(b"\n", b" ") for line in [*lines, *map(str.encode, last)])
    said = out.getvalue().splitlines()
    assert said[-1] == "bestmove h2h1"
    known = ("id ", "option ", "info ", "bestmove ", "uciok", "readyok")
    assert all(line.startswith(known) for line in said)
    goes = sum(line.startswith("bestmove") for line in said)
    assert goes <= 1 + sum(b"go" in line.split() for line in lines)


def test_the_command_ends_with_its_input_and_prints_nothing_else() -> None:
    def run(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(COMMAND, input=text, capture_output=True, text=True, timeout=60, check=False)

    done = run("isready\nquit\nisready\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "readyok\n", "")
    done = run(f"position fen {MATE_IN_1}\ngo infinite\n")
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "bestmove h2h1", "")
    bad = subprocess.run([*COMMAND, "--agent", "nobody"], capture_output=True, text=True, timeout=60, check=False)
    assert bad.returncode == 2
    assert "unknown agent 'nobody'" in bad.stderr
    help_text = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "--agent" in help_text


def test_quit_ends_a_search_that_goes_on() -> None:
    command, pipe = [*COMMAND, "--agent", "mcts:simulations=10000000"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        _say(process.stdin, f"position fen {KRK}", "go infinite")
        time.sleep(1)
        _say(process.stdin, "quit")
        assert process.wait(20) == 0


def _say(stream: IO[str], *lines: str) -> None:
    stream.write("".join(f"{line}\n" for line in lines))
    stream.flush()
