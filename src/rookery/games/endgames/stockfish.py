"""Stockfish, or any chess engine that speaks UCI, with every answer kept on disk.

An engine is slow and learning asks it the same things over and over, so answers are kept in an SQLite file by position,
engine version and settings: a study waits for the engine only once. For that an answer must depend on the position
alone. The engine is told to forget what it searched before, and gets the position without its history.

Needs the extra `chess` (python-chess drives the engine) and an engine: Debian's package is called `stockfish`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
import threading
import weakref
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rookery import _native
from rookery.files import cache_folder
from rookery.games.endgames.rules import Endgames, EndgamesState

if TYPE_CHECKING:
    import chess.engine

ATTEMPTS = 3
"""How often an engine may fail over one position, started anew each time, before we give up."""


class EngineError(OSError):
    """The engine is missing, or fails again and again."""


@dataclass(frozen=True)
class EngineAnswer:
    """What the engine plays in a position, and what it thinks of it."""

    action: int
    mate: bool
    """Is `score` a number of moves until the lone king is mated? The engine's number is an upper bound only."""
    score: int
    """Else hundredths of a pawn, positive for the side with the pieces."""


def find_engine(path: str | Path | None = None) -> Path:
    """The engine's program: the given one, `$ROOKERY_STOCKFISH`, or `stockfish` on the path or among Debian's games."""
    given = path or os.environ.get("ROOKERY_STOCKFISH")
    if given:
        found = shutil.which(given)
        if not found:
            raise EngineError(f"there is no program {given}")
        return Path(found)
    found = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games:/usr/local/bin")
    if not found:
        raise EngineError(
            "Stockfish is not installed; install it (Debian: apt install stockfish), or name a UCI engine"
        )
    return Path(found)


class Stockfish:
    """An engine that answers positions of the endgames, each searched to the same depth, from the cache where it can.

    It is started when first needed, and started anew when it dies or has not answered after `timeout` seconds. Usable
    from one thread at a time; `with` closes it.
    """

    def __init__(
        self, depth: int = 15, path: str | Path | None = None, cache: Path | None = None, timeout: float = 60.0
    ) -> None:
        if not 1 <= depth <= 100:
            raise ValueError(f"the depth must be 1 to 100, not {depth}")
        if not timeout > 0:
            raise ValueError(f"the timeout must be positive, not {timeout}")
        self.depth, self.timeout = depth, timeout
        self.path = find_engine(path)
        self.asked = 0
        """Positions the engine itself had to search."""
        self._process: _Process | None = None
        self._version: str | None = None
        self._game = Endgames()
        self._lock = threading.Lock()
        self.cache = cache or cache_file()
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        self._answers = _open_cache(self.cache)

    @property
    def version(self) -> str:
        """The engine's name and version, as it says itself."""
        if self._version is None:
            self._version = self._started().name or self.path.name
        return self._version

    def ask(self, state: EndgamesState) -> EngineAnswer:
        """The engine's move and evaluation in a position that is not over."""
        with self._lock:
            position = " ".join(str(state).split()[:4])
            key = (self.version, f"depth={self.depth}", position)
            row = self._answers.execute(
                "SELECT move, mate, score FROM answers WHERE engine = ? AND settings = ? AND position = ?", key
            ).fetchone()
            if row is None:
                row = self._search(position)
                with self._answers:
                    self._answers.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*key, *row))
            move, mate, score = row
            return EngineAnswer(state.parse_action(move), bool(mate), score)

    def native(self) -> _native.endgames.PyEngine:
        """The engine as native learners call it."""

        def ask(fen: str) -> tuple[int, bool, int]:
            answer = self.ask(self._game.parse_state(fen))
            return answer.action, answer.mate, answer.score

        return _native.endgames.PyEngine(ask)

    def close(self) -> None:
        self._stop()
        self._answers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _search(self, position: str) -> tuple[str, int, int]:
        import chess
        import chess.engine

        board = chess.Board(f"{position} 0 1")
        strong = bool(board.occupied_co[chess.WHITE] & ~board.kings)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                result = self._started().play(board, self.depth, self.timeout)
                if result.move is None or "score" not in result.info:
                    raise chess.engine.EngineError("it gave no move or no evaluation")
                break
            except (chess.engine.EngineError, TimeoutError, OSError) as error:
                self._stop()
                reason = str(error) or f"no answer within {self.timeout:g} seconds"
                if attempt == ATTEMPTS:
                    raise EngineError(
                        f"the engine {self.path} failed {ATTEMPTS} times in {position!r} ({reason}); "
                        f"the answers so far are kept in {self.cache}"
                    ) from None
                print(f"rookery: the engine failed ({reason}) and is started anew", file=sys.stderr)
        self.asked += 1
        score = result.info["score"].pov(strong)
        mate = score.mate()
        assert result.move is not None
        return result.move.uci(), mate is not None, mate if mate is not None else score.score(mate_score=0)

    def _started(self) -> _Process:
        if self._process is None:
            try:
                import chess.engine
            except ImportError:
                raise EngineError("driving an engine needs python-chess: pip install 'rookery[chess]'") from None
            try:
                self._process = _Process(self.path, min(self.timeout, 20.0))
            except (chess.engine.EngineError, TimeoutError, OSError) as error:
                reason = str(error) or "it did not say that it is ready"
                raise EngineError(f"the engine {self.path} does not start: {reason}") from None
            self._end = weakref.finalize(self, self._process.close)  # at the latest when the program ends
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._end()
            self._process = None


class _Process:
    """A running engine. Unlike python-chess's own, its thread does not keep a program alive that forgot to close it."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._ready: Future[tuple[chess.engine.UciProtocol, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, args=(path, timeout), name=f"engine {path}", daemon=True)
        self._thread.start()
        self._protocol, self._end = self._ready.result()

    def _run(self, path: Path, timeout: float) -> None:
        try:
            asyncio.run(self._live(path, timeout))
        except Exception as error:
            self._ready.set_exception(error)

    async def _live(self, path: Path, timeout: float) -> None:
        import chess.engine

        # A process group of its own: Ctrl-C is for us, not for the engine.
        transport, protocol = await chess.engine.UciProtocol.popen(str(path), setpgrp=True)
        try:
            await asyncio.wait_for(protocol.initialize(), timeout)
            end = asyncio.Event()
            self._ready.set_result((protocol, end))
            await end.wait()
        finally:
            transport.close()  # kills it
            await asyncio.wait([protocol.returncode])  # until it is gone

    @property
    def name(self) -> str:
        return self._protocol.id.get("name", "")

    def play(self, board: chess.Board, depth: int, timeout: float) -> chess.engine.PlayResult:
        """The engine's move, or a TimeoutError."""
        import chess.engine

        limit = chess.engine.Limit(depth=depth)
        searching = self._protocol.play(board, limit, game=object(), info=chess.engine.INFO_SCORE)
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(searching, timeout), self._protocol.loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self) -> None:
        self._protocol.loop.call_soon_threadsafe(self._end.set)
        if threading.current_thread() is not self._thread:  # garbage may be collected anywhere
            self._thread.join()


def cache_file() -> Path:
    """The file that keeps answers."""
    return cache_folder() / "engine.sqlite"


def _open_cache(file: Path) -> sqlite3.Connection:
    try:
        answers = sqlite3.connect(file, timeout=60, check_same_thread=False)
        answers.execute("PRAGMA journal_mode = WAL")
        answers.execute("PRAGMA synchronous = NORMAL")
        answers.execute(
            "CREATE TABLE IF NOT EXISTS answers (engine TEXT, settings TEXT, position TEXT, "
            "move TEXT NOT NULL, mate INTEGER NOT NULL, score INTEGER NOT NULL, "
            "PRIMARY KEY (engine, settings, position)) WITHOUT ROWID"
        )
    except sqlite3.DatabaseError as error:
        raise EngineError(f"{file} cannot be used to keep the engine's answers: {error}") from None
    return answers
