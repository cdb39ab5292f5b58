"""What UCI and Hub share: programs that are driven, searches that are stopped, and a server that hears garbage."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rookery import engines
from rookery.engines import (
    Engine,
    EngineAgent,
    EngineError,
    EngineMethod,
    Program,
    Reply,
    Search,
    Server,
    allotted,
    find_program,
)
from rookery.game import State
from tests.tic_tac_toe import TicTacToe


def test_a_program_is_found_by_its_name_its_path_and_with_arguments(tmp_path: Path) -> None:
    odd = tmp_path / "my engine, v=2"
    odd.write_text("#!/bin/sh\n")
    odd.chmod(0o755)
    assert find_program(str(odd)) == [str(odd)]
    assert find_program(f"{sys.executable} -m rookery 'a b'") == [sys.executable, "-m", "rookery", "a b"]
    assert find_program("sh -c true")[1:] == ["-c", "true"]
    odd.chmod(0o644)
    for hopeless in (str(odd), "", "no-such-program --x", "'", str(tmp_path)):
        with pytest.raises(EngineError):
            find_program(hopeless)


def test_a_program_talks_line_by_line() -> None:
    program = Program(["cat"])
    program.send("one")
    program.send("two \u00e9")
    lines = program.lines(10)
    assert [next(lines), next(lines)] == ["one", "two \u00e9"]
    begin = time.monotonic()
    with pytest.raises(EngineError, match=r"no answer within 0\.2 seconds"):
        next(program.lines(0.2))
    assert time.monotonic() - begin < 5
    program.kill()
    assert not Path(f"/proc/{program.pid}").exists()


def test_a_program_that_ends_or_floods_is_no_problem() -> None:
    program = Program(["true"])
    with pytest.raises(EngineError, match="it ended"):
        list(program.lines(10))
    program._process.wait()
    with pytest.raises(EngineError, match="it ended"):
        program.send("x")
    program.kill()
    flood = Program(["yes"])
    assert next(flood.lines(10)) == "y"
    time.sleep(0.5)  # more lines than are kept
    begin = time.monotonic()
    flood.kill()
    assert time.monotonic() - begin < 10
    assert not Path(f"/proc/{flood.pid}").exists()


def test_a_forgotten_program_is_killed() -> None:
    program = Program(["cat"])
    pid = program.pid
    del program
    assert not Path(f"/proc/{pid}").exists()


def test_an_engine_in_a_session_of_its_own_ends_with_it() -> None:
    """As the page's workers are ended: a killed group takes an engine with it that does not notice by itself."""
    script = (
        "import time; from rookery.engines import Program;"
        "program = Program(['sleep', '60']); print(program.pid, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        os.killpg(process.pid, 9)
    for _ in range(50):
        if not Path(f"/proc/{pid}").exists() or ") Z" in Path(f"/proc/{pid}/stat").read_text():
            return
        time.sleep(0.1)
    raise AssertionError("the engine lives on")


@pytest.mark.parametrize(
    ("reply", "worth"),
    [(Reply(0, 3), 997), (Reply(0, -3), -997), (Reply(0, score=-1.5), -1.5), (Reply(0), None)],
)
def test_worth(reply: Reply, worth: float | None) -> None:
    assert reply.worth == worth


class Stub(Engine):
    """An engine that plays the first legal move and thinks what it is told to."""

    def __init__(self, score: float | None) -> None:
        super().__init__("true", 1)
        self.score = score

    def reply(self, state: State) -> Reply:
        return Reply(state.legal_actions()[0], score=self.score)


def test_values_are_those_of_the_positions_after_the_moves() -> None:
    game = TicTacToe()
    state = game.parse_state("xx./oo./...")  # the first move wins
    first, *others = state.legal_actions()
    assert EngineAgent(Stub(0.5)).values(state) == {first: 1000.0} | dict.fromkeys(others, -0.5)
    quiet = game.initial_state()
    values = EngineAgent(Stub(None)).values(quiet)
    assert values == {action: float(action == quiet.legal_actions()[0]) for action in quiet.legal_actions()}


class Watched:
    """A search whose thoughts come when they are let through."""

    def __init__(self, count: int, hold: bool = False, seconds: float | None = None) -> None:
        self.gates = [threading.Event() for _ in range(count)]
        self.told: list[int] = []
        self.done: list[tuple[int | None, str]] = []
        self.interrupted = threading.Event()
        told, done = self.told.append, lambda *answer: self.done.append(answer)
        self.search = Search(self.thoughts(), told, done, hold, seconds, self.interrupted.set)
        self.search.start()

    def thoughts(self) -> Iterator[int]:
        for number, gate in enumerate(self.gates, 1):
            while not gate.wait(0.01):
                if self.interrupted.is_set():
                    return
            yield number

    def wait(self) -> None:
        self.search.thread.join(10)
        assert not self.search.thread.is_alive()


def until(condition: object) -> None:
    assert callable(condition)
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def test_a_search_answers_when_it_has_thought_everything() -> None:
    watched = Watched(2)
    for gate in watched.gates:
        gate.set()
    watched.wait()
    assert (watched.told, watched.done) == ([1, 2], [(2, "there is nothing to play")])
    watched.search.stop()
    assert len(watched.done) == 1


def test_a_stopped_search_answers_at_once_with_what_it_has() -> None:
    watched = Watched(3)
    watched.gates[0].set()
    until(lambda: watched.told == [1])
    watched.search.stop()
    assert [answer for answer, _ in watched.done] == [1]
    watched.wait()
    assert len(watched.done) == 1


def test_a_search_stopped_too_early_answers_with_its_first_thought() -> None:
    watched = Watched(3)
    watched.search.stop()
    assert watched.done == []
    watched.gates[0].set()
    watched.wait()
    assert [answer for answer, _ in watched.done] == [1]


def test_a_search_that_holds_waits_to_be_stopped_or_released() -> None:
    for end in ("stop", "release"):
        watched = Watched(1, hold=True)
        watched.gates[0].set()
        watched.wait()
        assert (watched.told, watched.done) == ([1], [])
        getattr(watched.search, end)()
        assert [answer for answer, _ in watched.done] == [1]


def test_time_ends_a_search_once_it_counts() -> None:
    watched = Watched(2, seconds=0.05)
    watched.gates[0].set()
    until(lambda: watched.done)
    assert watched.done[0][0] == 1
    held = Watched(2, hold=True, seconds=0.05)
    held.gates[0].set()
    time.sleep(0.2)
    assert held.done == []
    held.search.release()
    until(lambda: held.done)


def test_a_search_that_fails_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(error: Exception) -> Iterator[int]:
        raise error
        yield 1

    for error, sentence in ((ValueError("no\nidea"), "no idea"), (KeyError("x"), "the agent failed (KeyError)")):
        done: list[tuple[int | None, str]] = []
        search = Search(fails(error), print, lambda *answer, done=done: done.append(answer))
        search.start()
        search.thread.join(10)
        assert done == [(None, sentence)]
    assert "KeyError: 'x'" in capsys.readouterr().err


class Echo(Server):
    def hear(self, line: str) -> bool:
        if line == "bad":
            raise ValueError("that is\nbad")
        self.say(line)
        return line != "quit"

    def complain(self, sentence: str) -> None:
        self.say(f"? {sentence}")


def test_a_server_survives_what_it_cannot_read() -> None:
    out = io.StringIO()
    Echo(out).run([b"hello\r\n", b"\xff\xfe\x00\n", b"bad\n", b"", b"quit\n", b"more\n"])
    assert out.getvalue() == "hello\n\ufffd\ufffd\x00\n? that is bad\n\nquit\n"


def test_a_server_whose_listener_is_gone_is_silent() -> None:
    out = io.StringIO()
    out.close()
    Echo(out).run([b"hello\n"])


def test_time_is_allotted() -> None:
    assert allotted(0) == 0
    assert allotted(1, increment=10) == 0.8  # never all of it
    assert allotted(60, moves=0) == 48


def test_more_time_is_allotted_where_there_is_more() -> None:
    assert allotted(300) == 10.0
    assert allotted(300, moves=10) == 30.0
    assert allotted(300, increment=2) == 12.0
    assert allotted(-5) == 0.0


class Parrot(Engine):
    """Drives `cat`, which says what it is told: every question is answered by the next of some replies."""

    def __init__(self, *replies: str, **given: float) -> None:
        super().__init__("cat", 3, **given)
        self.replies = list(replies)
        self.pids: list[int] = []
        self.limits: list[float] = []

    def _greet(self, program: Program, seconds: float) -> str:
        self.pids.append(program.pid)
        self.limits.append(seconds)
        program.send("Parrot 1")
        return next(program.lines(10))

    def _think(self, program: Program, state: State, seconds: float) -> Reply:
        self.limits.append(seconds)
        program.send(self.replies.pop(0))
        line = next(program.lines(10))
        if line == "interrupt":
            raise KeyboardInterrupt
        if not line.isdecimal():
            raise EngineError(line)
        return Reply(int(line))


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_an_engine_that_fails_is_started_anew_and_given_up_after_three_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = TicTacToe().initial_state()
    with Parrot("4", "nonsense", "rubbish", "7", "a", "b", "c") as engine:
        assert engine.version == "Parrot 1"
        assert (engine.reply(state).action, engine.asked, len(engine.pids)) == (4, 1, 1)
        assert engine.reply(state).action == 7
        assert (engine.asked, len(engine.pids)) == (2, 3)
        said = capsys.readouterr().err.splitlines()
        assert said == [f"rookery: the engine failed ({word}) and is started anew" for word in ("nonsense", "rubbish")]
        assert [gone(pid) for pid in engine.pids] == [True, True, False]
        engine.remark = "; see the manual"
        with pytest.raises(EngineError, match=r"the engine cat failed 3 times in '.*' \(c\); see the manual"):
            engine.reply(state)
        assert (engine.asked, len(engine.pids), len(capsys.readouterr().err.splitlines())) == (2, 5, 2)
    assert all(gone(pid) for pid in engine.pids)


def test_an_engine_that_is_interrupted_is_ended() -> None:
    """What it says later must not be taken for the next answer."""
    engine = Parrot("interrupt", "5")
    with pytest.raises(KeyboardInterrupt):
        engine.reply(TicTacToe().initial_state())
    assert gone(engine.pids[0])
    assert engine.reply(TicTacToe().initial_state()).action == 5
    engine.close()
    engine.close()
    assert gone(engine.pids[1])


def test_the_time_that_an_engine_gets() -> None:
    state = TicTacToe().initial_state()
    with Parrot("1", timeout=7.0, seconds=2.0) as engine:
        engine.reply(state)
        assert engine.limits == [7.0, 9.0]
    with Parrot("1", timeout=100.0) as engine:
        engine.reply(state)
        assert engine.limits == [engines.START_SECONDS, 100.0]


def test_an_engine_that_does_not_start(tmp_path: Path) -> None:
    class Mute(Parrot):
        def _greet(self, program: Program, seconds: float) -> str:
            super()._greet(program, seconds)
            raise EngineError("no answer")

    engine = Mute()
    with pytest.raises(EngineError, match="the engine cat does not start: no answer"):
        engine.reply(TicTacToe().initial_state())
    assert gone(engine.pids[0])

    class Nameless(Parrot):
        def _greet(self, program: Program, seconds: float) -> str:
            return ""

    with Nameless() as nameless:
        assert nameless.version == "cat"
    broken = tmp_path / "engine"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    engine.command = [str(broken)]
    with pytest.raises(EngineError, match="the engine cat does not start: No such file or directory"):
        _ = engine.version


@pytest.mark.parametrize(
    ("depth", "given", "sentence"),
    [
        (0, {}, "the depth must be 1 to 100, not 0"), (101, {}, "the depth must be 1 to 100, not 101"),
        (1, {"seconds": -1}, "the seconds per move must be 0 to 86400, not -1"),
        (1, {"seconds": 86_401}, "the seconds per move must be 0 to 86400, not 86401"),
        (1, {"timeout": 0}, "the timeout must be positive, not 0"),
    ],
)  # fmt: skip
def test_bounds_of_an_engine(depth: int, given: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Engine("cat", depth, **given)
    for good in (1, 100):
        assert Engine("cat", good, seconds=86_400).title == "cat"


def test_the_method_of_an_engine_needs_its_program() -> None:
    class Parrots(EngineMethod):
        name = "parrots"
        engine = Engine

    game, method = TicTacToe(), Parrots()
    assert method.unready(game) == "needs the program of an engine: parrots:PROGRAM"
    with pytest.raises(ValueError, match="parrots needs the program of an engine: parrots:PROGRAM"):
        method.agent(game, method.Options())
    made = method.agent(game, method.Options(depth=4, seconds=2.0, timeout=3.0, path="cat"))
    assert isinstance(made, EngineAgent)
    assert (made.engine.depth, made.engine.seconds, made.engine.timeout) == (4, 2.0, 3.0)


def test_an_engine_moves_twice_in_a_row() -> None:
    """Where the same player is to move after a move, what is good for it then is good for it now."""
    game = TicTacToe()
    state = game.initial_state()

    class Again(type(state)):  # type: ignore[misc]
        def player(self) -> int:
            return 0

        def clone(self) -> Again:
            return Again(self._game, self.cells)

    assert set(EngineAgent(Stub(0.5)).values(Again(game, "." * 9)).values()) == {0.5}


def test_a_server_answers_before_it_ends_and_stops_for_a_new_search() -> None:
    answers: list[int | None] = []

    class Thinker(Server):
        def hear(self, line: str) -> bool:
            if line == "go":
                self.search(iter([1, 2]), lambda _: None, lambda best, _: answers.append(best), hold=True)
            elif line == "stop":
                self.stop()
            elif line == "release":
                self.release()
            return line != "quit"

    Thinker(io.StringIO()).run([b"stop\n", b"release\n", b"go\n"])
    assert answers == [2], "the other end has closed: it need not wait any more"
    server = Thinker(io.StringIO())
    server.run([b"go\n", b"go\n"])
    assert len(answers) == 3, "a new search ends the one before it"
    assert answers[1] in (1, 2)
    assert answers[2] == 2
    answers.clear()
    server = Thinker(io.StringIO())
    server.run([b"go\n", b"release\n", b"quit\n"])
    until(lambda: answers == [2])
