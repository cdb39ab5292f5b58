"""Forced mates by trying everything, on top of the slow rules in `endgames`."""

from __future__ import annotations

from collections.abc import Callable

from tests.games.endgames.oracle import Men, in_check, legal_moves, other


def mates_within(men: Men, side: str, plies: int) -> bool:
    """Can the side to move force mate in at most so many plies?"""
    return any(is_mated_within(after, other(side), plies - 1) for after in legal_moves(men, side).values())


def is_mated_within(men: Men, side: str, plies: int) -> bool:
    """Is the side to move mated in at most so many plies, whatever it does?"""
    moves = legal_moves(men, side)
    if not moves:
        return in_check(men, side)
    return plies >= 2 and all(mates_within(after, other(side), plies - 1) for after in moves.values())


def distance_by_moves(men: Men, side: str, distance: Callable[[Men, str], int | None]) -> int | None:
    """The distance to mate of a position as its moves give it; `distance` knows that of the positions after them."""
    moves = legal_moves(men, side)
    if not moves:
        return 0 if in_check(men, side) else None
    replies = [distance(after, other(side)) for after in moves.values()]
    if wins := [1 - reply for reply in replies if reply is not None and reply <= 0]:
        return min(wins)
    if any(reply is None for reply in replies):
        return None
    return min(-1 - reply for reply in replies if reply is not None)
