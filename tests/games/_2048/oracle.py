"""2048 written slowly: a board is a list of rows of numbers, 0 where there is no tile."""

from __future__ import annotations

from functools import cache

Board = list[list[int]]


def pushed(line: list[int], greatest: int) -> tuple[list[int], int]:
    """A line after its tiles were pushed to the front, and the points."""
    tiles, points = [tile for tile in line if tile], 0
    i = 0
    while i + 1 < len(tiles):
        if tiles[i] == tiles[i + 1] != greatest:
            tiles[i : i + 2] = [2 * tiles[i]]
            points += tiles[i]
        i += 1
    return tiles + [0] * (len(line) - len(tiles)), points


def columns(board: Board) -> Board:
    return [list(column) for column in zip(*board, strict=True)]


def move(board: Board, direction: str, greatest: int) -> tuple[Board, int]:
    """The board after a move, and the points; the same board if nothing moves."""
    if direction in ("up", "down"):
        after, points = move(columns(board), {"up": "left", "down": "right"}[direction], greatest)
        return columns(after), points
    if direction == "right":
        after, points = move([row[::-1] for row in board], "left", greatest)
        return [row[::-1] for row in after], points
    rows = [pushed(row, greatest) for row in board]
    return [row for row, _ in rows], sum(points for _, points in rows)


def new_tiles(board: Board) -> dict[tuple[int, int, int], float]:
    """Every tile that may come as (row, column, number), with its probability."""
    empty = [(r, c) for r, row in enumerate(board) for c, tile in enumerate(row) if tile == 0]
    return {(r, c, tile): chance / len(empty) for r, c in empty for tile, chance in ((2, 0.9), (4, 0.1))}


def with_tile(board: Board, r: int, c: int, tile: int) -> Board:
    after = [list(row) for row in board]
    after[r][c] = tile
    return after


Key = tuple[tuple[int, ...], ...]


@cache
def worth(board: Key) -> float:
    """What perfect play still earns where a move is due, on a board on which the greatest tile is never met twice."""
    found = [0.0]
    for direction in ("up", "right", "down", "left"):
        after, points = move([list(row) for row in board], direction, 0)
        if after != [list(row) for row in board]:
            found.append(points + worth_of_chance(after))
    return max(found)


def worth_of_chance(board: Board) -> float:
    """What perfect play still earns where a tile is due."""
    return sum(chance * worth(tuple(map(tuple, with_tile(board, *new)))) for new, chance in new_tiles(board).items())
