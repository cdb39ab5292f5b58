"""Programs that play over a protocol of lines, such as UCI and Hub: driving one, and being one.

`Engine` drives a program, `EngineAgent` plays what it says, and `Server` is the other end: a loop that lets another
program drive us. What a line means is up to the subclasses, in the folders of the games.
"""

from __future__ import annotations

import contextlib
import os
import queue
import random
import shlex
import shutil
import subprocess
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar

from rookery.agents import Agent
from rookery.game import TERMINAL, Game, State
from rookery.method import Method

ATTEMPTS = 3
"""How often an engine may fail over one position, started anew each time, before we give up."""
START_SECONDS = 20.0
"""The longest time that an engine gets to say that it is ready."""
MAX_LINE = 2**16
"""Bytes of one line; the rest of a longer one counts as another line."""
WON = 1000.0
"""What a game that is won is worth to an `EngineAgent`; a pawn or a man is worth 1."""


class EngineError(OSError):
    """The engine is missing, or fails again and again."""


@dataclass(frozen=True)
class Reply:
    """What an engine plays in a position, and what it thinks of it, from the view of the player to move."""

    action: int
    mate: int | None = None
    """Moves until the player to move wins, negative if it loses; None if the engine sees no end."""
    score: float | None = None
    """Else pawns or men, positive if the player to move is better; None if the engine said nothing."""

    @property
    def worth(self) -> float | None:
        if self.mate is not None:
            return WON - self.mate if self.mate > 0 else -WON - self.mate
        return self.score


def find_program(path: str) -> list[str]:
    """The command of an engine: a program, or a program and its arguments as a shell would split them.

    >>> find_program("/no/such/engine")
    Traceback (most recent call last):
    ...
    rookery.engines.EngineError: there is no program /no/such/engine
    """
    try:
        words = [path] if shutil.which(path) else shlex.split(path)
    except ValueError as error:  # quotes that are not closed
        raise EngineError(f"{path!r} is no command: {str(error).lower()}") from None
    found = shutil.which(os.path.expanduser(words[0])) if words else None  # noqa: PTH111, a name need not be a path
    if not found:
        raise EngineError(f"there is no program {path}")
    return [found, *words[1:]]


class Program:
    """A running program that is spoken to line by line. It is killed at the latest when this one ends."""

    def __init__(self, command: Sequence[str]) -> None:
        # Ctrl-C is for us, not for the engine. A session of our own has no terminal: who ends it, ends the engine too.
        group = None if os.getsid(0) == os.getpid() else 0
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=group
            )
        except OSError as error:
            raise EngineError(f"{error.strerror or error}") from None
        assert self._process.stdout
        lines: queue.Queue[str | None] = queue.Queue(10_000)
        reader = threading.Thread(target=_read, args=(self._process.stdout, lines), daemon=True)
        reader.start()
        self._lines = lines
        self.kill = weakref.finalize(self, _kill, self._process, reader, lines)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: str) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise EngineError("it ended") from None

    def lines(self, seconds: float) -> Iterator[str]:
        """The lines that the program writes within some seconds; EngineError at its end and when the time is over."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise EngineError(f"no answer within {seconds:g} seconds") from None
            if line is None:
                raise EngineError("it ended")
            yield line


def _read(stream: IO[bytes], lines: queue.Queue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError):  # closed
        while line := stream.readline(MAX_LINE):
            lines.put(line.decode(errors="replace").strip())
    lines.put(None)


def _kill(process: subprocess.Popen[bytes], reader: threading.Thread, lines: queue.Queue[str | None]) -> None:
    process.kill()
    process.wait()
    while reader.is_alive():  # it may wait for room; garbage may be collected in any thread, but not in the reader
        with contextlib.suppress(queue.Empty):
            lines.get(timeout=0.05)
    for stream in (process.stdin, process.stdout):
        assert stream
        with contextlib.suppress(OSError):
            stream.close()


class Engine:
    """An engine that answers positions. Subclasses write `_greet` and `_think`.

    It is started when first needed, and started anew when it dies, plays an illegal move or has not answered
    `timeout` seconds after it should have. Usable from one thread at a time; `with` closes it.
    """

    def __init__(self, path: str, depth: int, seconds: float = 0.0, timeout: float = 60.0) -> None:
        if not 1 <= depth <= 100:
            raise ValueError(f"the depth must be 1 to 100, not {depth}")
        if not 0 <= seconds <= 86_400:
            raise ValueError(f"the seconds per move must be 0 to 86400, not {seconds:g}")
        if not timeout > 0:
            raise ValueError(f"the timeout must be positive, not {timeout}")
        self.path, self.depth, self.seconds, self.timeout = path, depth, seconds, timeout
        self.title = Path(path).name
        """What errors call it: whoever reads them may not know this machine."""
        self.command = find_program(path)
        self.asked = 0
        """Positions that the engine has searched."""
        self.remark = ""
        """What is said after the sentence that the engine failed."""
        self._program: Program | None = None
        self._name = ""

    def _greet(self, program: Program, seconds: float) -> str:
        """Begin the conversation; returns the name of the engine."""
        raise NotImplementedError

    def _think(self, program: Program, state: State, seconds: float) -> Reply:
        """Ask for the engine's move, which must be legal; EngineError says what is wrong."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """The engine's name and version, as it says itself."""
        self._started()
        return self._name

    def reply(self, state: State) -> Reply:
        """The engine's move in a position that is not over, and its evaluation."""
        for attempt in range(1, ATTEMPTS + 1):
            program = self._started()
            try:
                answer = self._think(program, state, self.timeout + self.seconds)
            except EngineError as error:
                self.stop()
                if attempt == ATTEMPTS:
                    sentence = f"the engine {self.title} failed {ATTEMPTS} times in {str(state)!r} ({error})"
                    raise EngineError(sentence + self.remark) from None
                print(f"rookery: the engine failed ({error}) and is started anew", file=sys.stderr)
            except BaseException:  # Ctrl-C: what it says later must not be taken for the next answer
                self.stop()
                raise
            else:
                self.asked += 1
                return answer
        raise AssertionError

    def _started(self) -> Program:
        if self._program is None:
            try:
                program = Program(self.command)
                try:
                    self._name = self._greet(program, min(self.timeout, START_SECONDS)) or self.title
                except BaseException:
                    program.kill()
                    raise
            except EngineError as error:
                raise EngineError(f"the engine {self.title} does not start: {error}") from None
            self._program = program
        return self._program

    def stop(self) -> None:
        """End the program; the next question starts it anew."""
        if self._program is not None:
            self._program.kill()
            self._program = None

    def close(self) -> None:
        self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EngineAgent(Agent):
    """Plays what an engine answers."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        return self.engine.reply(state).action

    def values(self, state: State) -> dict[int, float]:
        """What the engine thinks of the position after each move, in pawns or men; a mate in n is worth 1000 less n.

        An engine that tells no evaluations gives 1 to its move and 0 to the others.
        """
        values = {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            if after.player() == TERMINAL:
                values[action] = WON * after.returns()[state.player()]
            elif (worth := self.engine.reply(after).worth) is not None:
                values[action] = worth if after.player() == state.player() else -worth
            else:
                return super().values(state)
        return values

    def in_words(self, state: State, value: float) -> str:
        """Pawns or men, or the moves to a win.

        >>> import rookery
        >>> state = rookery.load("endgames").initial_state()
        >>> [EngineAgent.in_words(None, state, value) for value in (0.5, 988, 1000, -997)]
        ['+0.50', 'wins in 12', 'wins', 'loses in 3']
        """
        if abs(value) < WON / 2:
            return f"{value:+.2f}"
        moves = round(WON - abs(value))
        return ("wins" if value > 0 else "loses") + (f" in {moves}" if moves else "")


class EngineMethod(Method):
    """A method whose agent is an engine, named by its program as `uci:PROGRAM` is."""

    kind = "search"
    engine: type[Engine]

    @dataclass(frozen=True)
    class Options:
        depth: int = 15
        """Depth of the engine's search."""
        seconds: float = 0.0
        """Seconds per move; 0 searches to the depth."""
        timeout: float = 60.0
        """Seconds after which an engine that has not answered is ended."""
        path: str | None = None
        """Program of the engine, with arguments if it needs some."""

    def unready(self, game: Game) -> str | None:
        return f"needs the program of an engine: {self.name}:PROGRAM"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        if options.path is None:
            raise ValueError(f"{self.name} {self.unready(game)}")
        return EngineAgent(self.engine(options.path, options.depth, options.seconds, options.timeout))


# Being an engine

Thought = TypeVar("Thought")


class Search(Generic[Thought]):
    """A search in a thread of its own, which ends with exactly one call of `done`.

    `thoughts` gives better and better answers, each told by `told`. The last one is `done` when there are no more of
    them, or as soon as `stop` is called and there is a first one. With `hold` it waits for `stop` or `release`.
    """

    def __init__(
        self,
        thoughts: Iterator[Thought],
        told: Callable[[Thought], None],
        done: Callable[[Thought | None, str], None],
        hold: bool = False,
        seconds: float | None = None,
        interrupt: Callable[[], None] = lambda: None,
        after: Search[Any] | None = None,
    ) -> None:
        """`done` gets None and a sentence if there is no answer; `interrupt` makes `thoughts` end early; the search
        begins when the one `after` which it comes has ended."""
        self._thoughts, self._told, self._done = thoughts, told, done
        self._hold, self._seconds, self._interrupt = hold, seconds, interrupt
        self._lock = threading.RLock()
        self._best: Thought | None = None
        self._stopped = self._exhausted = self.finished = False
        self._problem = ""
        self._after = after
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        if not self._hold:
            self._limit()

    def _limit(self) -> None:
        if self._seconds is not None:
            timer = threading.Timer(self._seconds, self.stop)
            timer.daemon = True
            timer.start()

    def _run(self) -> None:
        if self._after is not None:
            self._after.thread.join()
            self._after = None
        try:
            for thought in self._thoughts:
                with self._lock:
                    if self.finished:
                        return
                    self._best = thought
                    self._told(thought)
                    if self._stopped:
                        break
        except (ValueError, OSError) as error:
            self._problem = " ".join(str(error).split())
        except Exception as error:  # a defect: standard error has it whole
            traceback.print_exc()
            self._problem = f"the agent failed ({type(error).__name__})"
        with self._lock:
            self._exhausted = True
            if not self._hold or self._stopped:
                self._finish()

    def _finish(self) -> None:
        if not self.finished:
            self.finished = True
            self._done(self._best, self._problem or "there is nothing to play")

    def stop(self) -> None:
        """Answer now, or as soon as there is a first thought."""
        with self._lock:
            self._stopped = True
            if self._best is not None or self._exhausted:
                self._interrupt()
                self._finish()

    def release(self) -> None:
        """Do not wait for `stop` any more; the time begins to count."""
        with self._lock:
            if self._hold:
                self._hold = False
                self._limit()
                if self._exhausted:
                    self._finish()


class Server:
    """An engine that another program drives. Subclasses write `hear` and `complain`, and call `search`."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out or sys.stdout
        self._lock = threading.Lock()
        self._search: Search[Any] | None = None

    def hear(self, line: str) -> bool:
        """React to a line; False ends the conversation. A ValueError or OSError becomes a complaint."""
        raise NotImplementedError

    def complain(self, sentence: str) -> None:
        """Tell the other program what is wrong."""
        raise NotImplementedError

    def say(self, line: str) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):  # nobody listens any more
            self._out.write(f"{line}\n")
            self._out.flush()

    def serve(self) -> None:
        """Talk on standard input and output."""
        self.run(sys.stdin.buffer)
        if self._search is not None and self._search.thread.is_alive():
            # A thread in native code cannot be ended, and Python cannot end around it.
            self._out.flush()
            os._exit(0)

    def run(self, lines: Iterable[bytes]) -> None:
        """Talk until the other program quits or closes its end; then what can be answered is answered first."""
        for raw in lines:
            try:
                if not self.hear(raw.decode(errors="replace").strip()):
                    return
            except (ValueError, OSError) as error:
                self.complain(" ".join(str(error).split()))
        if self._search is not None:
            self._search.release()
            self._search.thread.join(2)
            self._search.stop()
            self._search.thread.join(2)

    def search(
        self,
        thoughts: Iterator[Thought],
        told: Callable[[Thought], None],
        done: Callable[[Thought | None, str], None],
        hold: bool = False,
        seconds: float | None = None,
        interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin a search; one that still goes on is stopped."""
        self.stop()
        self._search = Search(thoughts, told, done, hold, seconds, interrupt, self._search)
        self._search.start()

    def stop(self) -> None:
        if self._search is not None and not self._search.finished:
            self._search.stop()

    def release(self) -> None:
        if self._search is not None:
            self._search.release()


def allotted(remaining: float, increment: float = 0.0, moves: float = 30.0) -> float:
    """Seconds to spend on a move when some are left for the next moves.

    >>> allotted(60, increment=1)
    3.0
    """
    return max(0.0, min(remaining / max(1.0, moves) + increment, remaining * 0.8))
