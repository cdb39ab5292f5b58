"""Stockfish, or any chess engine that speaks UCI, with every answer kept on disk.

An engine is slow and learning asks it the same things over and over, so answers are kept in an SQLite file by position,
engine version and settings: a study waits for the engine only once. For that an answer must depend on the position
alone, so the engine gets it without its history.

Needs an engine: Debian's package is called `stockfish`.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from rookery import _native
from rookery.engines import EngineError, Reply
from rookery.files import cache_folder
from rookery.game import State
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.uci import UciEngine

__all__ = ["EngineAnswer", "EngineError", "Stockfish", "find_engine"]


@dataclass(frozen=True)
class EngineAnswer:
    """What the engine plays in a position, and what it thinks of it."""

    action: int
    mate: bool
    """Is `score` a number of moves until the lone king is mated? The engine's number is an upper bound only."""
    score: int
    """Else hundredths of a pawn, positive for the side with the pieces."""


def find_engine(path: str | Path | None = None) -> str:
    """The engine's program: the given one, `$ROOKERY_STOCKFISH`, or `stockfish` on the path or among Debian's games."""
    given = path or os.environ.get("ROOKERY_STOCKFISH")
    found = given or shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games:/usr/local/bin")
    if not found:
        raise EngineError(
            "Stockfish is not installed; install it (Debian: apt install stockfish), or name a UCI engine"
        )
    return str(found)


class Stockfish(UciEngine):
    """An engine that answers positions of the endgames, each searched to the same depth, from the cache where it can.

    It may be shared by threads, which then wait for each other.
    """

    def __init__(
        self, depth: int = 15, path: str | Path | None = None, cache: Path | None = None, timeout: float = 60.0
    ) -> None:
        super().__init__(find_engine(path), depth, timeout=timeout)
        self._game = Endgames()
        self._lock = threading.Lock()
        self.cache = cache or cache_file()
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        self._answers = _open_cache(self.cache)
        self.remark = f"; the answers so far are kept in {self.cache}"

    @property
    def label(self) -> str:
        """What results and logs call it."""
        return f"{self.version} depth {self.depth}"

    def ask(self, state: EndgamesState) -> EngineAnswer:
        """The engine's move and evaluation in a position that is not over."""
        with self._lock:
            position = " ".join(str(state).split()[:4])
            key = (self.version, f"depth={self.depth}", position)
            row = self._answers.execute(
                "SELECT move, mate, score FROM answers WHERE engine = ? AND settings = ? AND position = ?", key
            ).fetchone()
            if row is None:
                row = self._search(self._game.parse_state(position))
                with self._answers:
                    self._answers.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*key, *row))
            move, mate, score = row
            return EngineAnswer(state.parse_action(move), bool(mate), score)

    def reply(self, state: State) -> Reply:
        assert isinstance(state, EndgamesState)
        answer = self.ask(state)
        score = answer.score if state.player() == state.strong else -answer.score
        return Reply(answer.action, score) if answer.mate else Reply(answer.action, score=score / 100)

    def native(self) -> _native.endgames.PyEngine:
        """The engine as native learners call it."""

        def ask(fen: str) -> tuple[int, bool, int]:
            answer = self.ask(self._game.parse_state(fen))
            return answer.action, answer.mate, answer.score

        return _native.endgames.PyEngine(ask)

    def close(self) -> None:
        super().close()
        self._answers.close()

    def _search(self, state: EndgamesState) -> tuple[str, bool, int]:
        """What is kept of the engine's answer: its move, and its score for the side with the pieces."""
        reply = super().reply(state)
        sign = 1 if state.player() == state.strong else -1
        if reply.mate is not None:
            return state.uci(reply.action), True, sign * reply.mate
        if reply.score is None:
            raise EngineError(f"the engine {self.title} gave no evaluation of {state}")
        return state.uci(reply.action), False, sign * round(100 * reply.score)


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
