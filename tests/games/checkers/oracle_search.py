"""Plain minimax for checkers, and the patterns of the learned value, slow and from the definitions."""

from __future__ import annotations

from collections.abc import Callable

from tests.games.checkers.oracle import PLACE, SQUARE, Board, after, legal_moves

DECIDED = 100_000
WORTH = {"b": 100, "B": 130, "w": -100, "W": -130}


def material(board: Board, side: str) -> int:
    black = sum(WORTH[piece] for piece in board.values())
    return black if side == "b" else -black


def minimax(board: Board, side: str, depth: int, evaluate: Callable[[Board, str], int] = material) -> int:
    """The score for the side to move; captures are followed beyond the depth, because they must be made."""
    moves = legal_moves(board, side)
    if not moves:
        return -(DECIDED + depth)
    if depth == 0 and not moves[0][1]:
        return evaluate(board, side)
    other = "w" if side == "b" else "b"
    return max(-minimax(after(board, move), other, max(depth - 1, 0), evaluate) for move in moves)


def patterns(board: Board, side: str) -> list[int]:
    """The numbers of a position's patterns, seen by the side to move."""
    if side == "w":
        swap = {"b": "w", "B": "W", "w": "b", "W": "B"}
        board = {33 - square: swap[piece] for square, piece in board.items()}

    def squares(top: int, left: int, height: int, width: int) -> list[int]:
        inside = [(r, c) for r, c in PLACE.values() if top <= r < top + height and left <= c < left + width]
        return sorted(SQUARE[place] for place in inside)

    found = []
    for window in range(9):
        cells = squares(2 * (window // 3), 2 * (window % 3), 4, 4)
        digits = [{"b": 1, "w": 2}.get(board.get(square, ""), 0) for square in cells]
        found.append(6561 * window + sum(digit * 3**i for i, digit in enumerate(digits)))
    first = 9 * 6561
    if any(piece in "BW" for piece in board.values()):
        for window in range(21):
            cells = squares(window // 3, 2 * (window % 3), 2, 4)
            digits = [{"b": 1, "w": 2, "B": 3, "W": 4}.get(board.get(square, ""), 0) for square in cells]
            found.append(first + 625 * window + sum(digit * 5**i for i, digit in enumerate(digits)))
    first += 21 * 625
    count = {kind: sum(piece == kind for piece in board.values()) for kind in "bBwW"}
    found.append(first + ((count["b"] * 4 + min(count["B"], 3)) * 13 + count["w"]) * 4 + min(count["W"], 3))
    first += 13 * 4 * 13 * 4
    lead = count["b"] + count["B"] - count["w"] - count["W"]
    odd = sum(PLACE[square][0] % 2 for square in board) % 2
    found.append(first + (len(board) * 2 + odd) * 3 + (lead > 0) - (lead < 0) + 1)
    return found
