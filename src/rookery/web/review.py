"""What happens after a game: giving up, looking at every move again, the days of the daily puzzle, and bests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from rookery.game import TERMINAL, Game
from rookery.web import plays
from rookery.web.plays import PERSON, Replay
from rookery.web.store import Store

Row = dict[str, Any]
ARCHIVE = 35
"""Days of the archive of daily puzzles."""


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def daily(game: Game, day: str) -> tuple[str, int]:
    """The level and the seed of the puzzle of a day: easy on Monday, hard on Sunday."""
    levels = game.puzzle_levels
    if not levels:
        raise ValueError(f"{game.title} has no puzzles made by level")
    try:
        when = date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"expected a day such as {today()}, not {day[:20]!r}") from None
    first = date.fromisoformat(today()) - timedelta(ARCHIVE - 1)
    if not first.isoformat() <= when.isoformat() <= today():
        raise ValueError(f"the daily puzzles of {first.isoformat()} to {today()} can be played, not that of {day[:20]}")
    return levels[when.weekday() * len(levels) // 7], int(when.isoformat().replace("-", ""))


def note_end(now: Replay, store: Store) -> None:
    """Write down what a person achieved with the move that ended the game: the time of a puzzle, the points."""
    play, result = now.play, now.result()
    if result is None or play.players != [PERSON] or now.state.player() != TERMINAL:
        return
    if result["solved"]:
        play.about.setdefault("seconds", max(1, round(time.time() - play.created)))
    if result["unit"]:
        play.about["best_before"] = store.best_score(play)
        play.about["score"] = result["score"]


def review_request(now: Replay) -> Row:
    """What a worker is asked for a review: the whole game, and whose worst moves are wanted."""
    play = now.play
    persons = [side for side, player in enumerate(play.players) if player == PERSON]
    return {
        "task": "review", "game": play.game, "variant": play.variant, "start": play.start, "actions": play.actions,
        "whose": persons or list(range(now.game.players)),
    }  # fmt: skip


def archive(store: Store, visitor: str) -> Row:
    """The daily puzzles of the last weeks, with what the visitor made of them, the latest first."""
    name = plays.daily_game()
    if name is None:
        return {"days": [], "streak": 0, "game": None, "today": today()}
    game = plays.rules(name, None)
    begun = store.daily(visitor, name)
    now = date.fromisoformat(today())
    days = []
    for back in range(ARCHIVE):
        day = (now - timedelta(back)).isoformat()
        days.append({"day": day, "level": daily(game, day)[0]} | begun.get(day, {}))
    solved = {day: True for day, row in begun.items() if row["seconds"] is not None}
    return {"days": days, "streak": streak(solved, now), "game": name, "title": game.title, "today": now.isoformat()}


def streak(solved: Mapping[str, bool], now: date) -> int:
    """The days in a row up to today on which the daily puzzle was solved; today may still be open.

    >>> streak({"2026-01-30": True, "2026-01-31": True}, date(2026, 2, 1))
    2
    """
    day = now if solved.get(now.isoformat()) else now - timedelta(1)
    count = 0
    while solved.get(day.isoformat()):
        count, day = count + 1, day - timedelta(1)
    return count
