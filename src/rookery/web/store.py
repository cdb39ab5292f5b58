"""Games in progress, in SQLite: a reload or a restart loses nothing."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEPT = 5000
"""Games kept; beyond, those touched longest ago are forgotten."""

_FORMAT = 2
"""Raised when stored games can no longer be read, such as when action ids change; others are dropped."""


@dataclass
class Play:
    """A game as it is kept: where it began, what was done, and up to where it is shown."""

    game: str
    variant: str | None
    start: str
    seed: int
    """The seed of chance and of the agents."""
    players: list[str]
    """The player of each side: `person` or the name of an agent."""
    actions: list[int] = field(default_factory=list)
    """Actions of players and of chance. Those after `cursor` can be redone."""
    cursor: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    """What the page wants to remember, such as the level of a puzzle."""
    owner: str = ""
    """The visitor in whose list it is."""
    id: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    created: float = field(default_factory=time.time)
    updated: float = field(default_factory=time.time)


class Store:
    """Used from one thread, the one of the event loop: every statement takes well under a millisecond."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(file, timeout=10, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            if self._db.execute("PRAGMA user_version").fetchone() != (_FORMAT,):
                self._db.execute("DROP TABLE IF EXISTS plays")
                self._db.execute(f"PRAGMA user_version = {_FORMAT}")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS plays (id TEXT PRIMARY KEY, game TEXT NOT NULL, variant TEXT, "
                "start TEXT NOT NULL, seed INTEGER NOT NULL, players TEXT NOT NULL, actions TEXT NOT NULL, "
                "cursor INTEGER NOT NULL, about TEXT NOT NULL, owner TEXT NOT NULL, created REAL NOT NULL, "
                "updated REAL NOT NULL)"
            )
            self._db.execute("CREATE INDEX IF NOT EXISTS by_time ON plays (updated)")
            self._db.execute("CREATE INDEX IF NOT EXISTS by_owner ON plays (owner, updated)")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{file} cannot be used to keep games: {error}") from None

    def save(self, play: Play) -> None:
        play.updated = time.time()
        self._db.execute(
            "INSERT OR REPLACE INTO plays VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                play.id, play.game, play.variant, play.start, play.seed, json.dumps(play.players),
                json.dumps(play.actions), play.cursor, json.dumps(play.about), play.owner, play.created, play.updated,
            ),
        )  # fmt: skip

    def add(self, play: Play) -> None:
        self.save(play)
        self._db.execute(
            "DELETE FROM plays WHERE id IN (SELECT id FROM plays ORDER BY updated DESC LIMIT -1 OFFSET ?)", (KEPT,)
        )

    def load(self, play_id: str) -> Play | None:
        row = self._db.execute(f"SELECT {_COLUMNS} FROM plays WHERE id = ?", (play_id,)).fetchone()
        return _play(row) if row else None

    def recent(self, owner: str, count: int) -> list[Play]:
        """The games of a visitor, the one touched last first."""
        query = f"SELECT {_COLUMNS} FROM plays WHERE owner = ? ORDER BY updated DESC LIMIT ?"
        rows = self._db.execute(query, (owner, count))
        return [_play(row) for row in rows]

    def best_score(self, play: Play) -> float | None:
        """The best score of the same visitor in other finished games of this kind."""
        query = (
            "SELECT MAX(json_extract(about, '$.score')) FROM plays "
            "WHERE owner = ? AND game = ? AND variant IS ? AND id != ?"
        )
        found: float | None = self._db.execute(query, (play.owner, play.game, play.variant, play.id)).fetchone()[0]
        return found

    def daily(self, owner: str, game: str) -> dict[str, dict[str, Any]]:
        """The daily puzzles that a visitor has begun, by day: the id of the game, and the seconds if it was solved."""
        query = (
            "SELECT json_extract(about, '$.day'), id, json_extract(about, '$.seconds') FROM plays "
            "WHERE owner = ? AND game = ? AND json_extract(about, '$.day') IS NOT NULL ORDER BY updated"
        )
        found: dict[str, dict[str, Any]] = {}
        for day, play_id, seconds in self._db.execute(query, (owner, game)):
            if found.get(day, {}).get("seconds") is None:  # a puzzle that was solved once stays solved
                found[day] = {"id": play_id, "seconds": seconds}
        return found

    def delete(self, play_id: str) -> bool:
        return self._db.execute("DELETE FROM plays WHERE id = ?", (play_id,)).rowcount > 0

    def close(self) -> None:
        self._db.close()


_COLUMNS = "id, game, variant, start, seed, players, actions, cursor, about, owner, created, updated"


def _play(row: tuple[Any, ...]) -> Play:
    play_id, game, variant, start, seed, players, actions, cursor, about, owner, created, updated = row
    return Play(
        game, variant, start, seed, json.loads(players), json.loads(actions), cursor, json.loads(about), owner, play_id,
        created, updated,
    )  # fmt: skip
