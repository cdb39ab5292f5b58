"""Checkers endgames solved slowly: positions as dictionaries, all looked at again and again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, count, product

from tests.games.checkers.oracle import Board, after, legal_moves

Key = tuple[tuple[tuple[int, str], ...], str]


def key(board: Board, side: str) -> Key:
    return tuple(sorted(board.items())), side


def other(side: str) -> str:
    return "w" if side == "b" else "b"


def boards(pieces: int) -> Iterator[Board]:
    """Every placement of so many pieces with both colours on the board."""
    for squares in combinations(range(1, 33), pieces):
        for kinds in product("bBwW", repeat=pieces):
            men = list(zip(squares, kinds, strict=True))
            if any((kind == "b" and square > 28) or (kind == "w" and square < 5) for square, kind in men):
                continue
            if len({kind.lower() for kind in kinds}) == 2:
                yield dict(men)


def solve(most_pieces: int) -> dict[Key, int | None]:
    """Plies until the loser cannot move, for all positions of 2 to `most_pieces` pieces and what captures lead to: odd
    for a side to move that wins, even for one that loses, None for a draw."""
    numbers: dict[Key, int] = {}
    follow: dict[int, list[int]] = {}

    def number(board: Board, side: str) -> int:
        return numbers.setdefault(key(board, side), len(numbers))

    for pieces in range(2, most_pieces + 1):
        for board in boards(pieces):
            for side in "bw":
                nexts = [after(board, move) for move in legal_moves(board, side)]
                follow[number(board, side)] = [number(n, other(side)) for n in nexts]
    # Positions without a move: pieces are blocked, or the last one was captured.
    values = {position: 0 for position in range(len(numbers)) if not follow.get(position)}
    for level in count():
        # Values of this level and below are known: what they decide is decided one ply earlier.
        found = {}
        for position, after_moves in follow.items():
            if position not in values:
                seen = [values.get(n) for n in after_moves]
                won = any(v is not None and v % 2 == 0 for v in seen)
                lost = all(v is not None and v % 2 == 1 for v in seen)
                if won or lost:
                    found[position] = level + 1
        values |= found
        if not found:
            break
    return {position: values.get(i) for position, i in numbers.items()}
