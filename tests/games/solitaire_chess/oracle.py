"""Solitaire Chess, slow and obvious: for every pair of pieces, ask whether the one may capture the other.

A position is a dict from (file, rank), both counted from 1 at the bottom left, to (letter, captures made).
"""

from __future__ import annotations

Square = tuple[int, int]
Position = dict[Square, tuple[str, int]]


def parse(text: str) -> Position:
    position: Position = {}
    rows = text.split("/")
    for rank, row in zip(range(len(rows), 0, -1), rows, strict=True):
        file = 0
        for mark in row:
            if mark.isdigit():
                letter, captures = position[file, rank]
                position[file, rank] = (letter, 10 * captures + int(mark))
                continue
            file += 1
            if mark != ".":
                position[file, rank] = (mark, 0)
    return position


def squares_between(start: Square, end: Square) -> list[Square]:
    """The squares strictly between two that share a rank, file or diagonal."""
    (x, y), (to_x, to_y) = start, end
    path = []
    while True:
        x += (to_x > x) - (to_x < x)
        y += (to_y > y) - (to_y < y)
        if (x, y) == end:
            return path
        path.append((x, y))


def may_capture(position: Position, start: Square, end: Square, max_captures: int = 0, king_last: bool = True) -> bool:
    letter, captures = position[start]
    if start == end or (king_last and position[end][0] == "K") or (max_captures and captures >= max_captures):
        return False
    right, up = end[0] - start[0], end[1] - start[1]
    if letter == "K":
        return max(abs(right), abs(up)) == 1
    if letter == "N":
        return {abs(right), abs(up)} == {1, 2}
    if letter == "P":
        return up == 1 and abs(right) == 1
    straight, diagonal = right == 0 or up == 0, abs(right) == abs(up)
    in_line = {"R": straight, "B": diagonal, "Q": straight or diagonal}[letter]
    return in_line and not any(square in position for square in squares_between(start, end))


def captures(position: Position, max_captures: int = 0, king_last: bool = True) -> set[tuple[Square, Square]]:
    return {(a, b) for a in position for b in position if may_capture(position, a, b, max_captures, king_last)}


def capture(position: Position, start: Square, end: Square) -> Position:
    letter, made = position[start]
    after = {square: piece for square, piece in position.items() if square != start}
    after[end] = (letter, made + 1)
    return after


def sequences(position: Position, max_captures: int = 0, king_last: bool = True) -> list[list[Position]]:
    """Every line of play from the position to its end, as the positions it passes through. Nothing is shared."""
    lines = [
        [position, *line]
        for start, end in captures(position, max_captures, king_last)
        for line in sequences(capture(position, start, end), max_captures, king_last)
    ]
    return lines or [[position]]


def finals(position: Position, max_captures: int = 0, king_last: bool = True) -> set[tuple[str, Square]]:
    """The pieces that can be the only one left, each with its square."""
    return {
        (letter, square)
        for line in sequences(position, max_captures, king_last)
        if len(line[-1]) == 1
        for square, (letter, _) in line[-1].items()
    }
