"""What is seen on a 1010! board, counted slowly: a board is a set of (row, column)."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.games.tenten.oracle import Cell, placements


def runs(cells: set[Cell], rows: int, columns: int, across: bool) -> list[int]:
    """Lengths of the maximal runs of cells in every row, or column."""
    lengths = []
    lines = [[(r, c) for c in range(columns)] for r in range(rows)]
    if not across:
        lines = [[(r, c) for r in range(rows)] for c in range(columns)]
    for line in lines:
        length = 0
        for cell in [*line, None]:
            if cell in cells:
                length += 1
            elif length:
                lengths.append(length)
                length = 0
    return lengths


def neighbours(cell: Cell) -> list[Cell]:
    r, c = cell
    return [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]


def regions(cells: set[Cell]) -> list[int]:
    """Sizes of the connected regions."""
    left, sizes = set(cells), []
    while left:
        stack, size = [left.pop()], 0
        while stack:
            size += 1
            for near in neighbours(stack.pop()):
                if near in left:
                    left.remove(near)
                    stack.append(near)
        sizes.append(size)
    return sizes


def rectangle(rows: int, columns: int) -> list[Cell]:
    return [(r, c) for r in range(rows) for c in range(columns)]


def largest_rectangle(cells: set[Cell], rows: int, columns: int, allowed: Callable[[int, int], bool]) -> int:
    best = 0
    for height in range(1, rows + 1):
        for width in range(1, columns + 1):
            blocked = set(rectangle(rows, columns)) - cells
            if allowed(height, width) and placements(blocked, rows, columns, rectangle(height, width)):
                best = max(best, height * width)
    return best


def paper_features(
    after: set[Cell], rows: int, columns: int, shape: list[Cell], at: Cell, reward: float, survival: float
) -> list[float]:
    """The 21 rows of the paper's Table 1."""
    blank = set(rectangle(rows, columns)) - after
    across, down = runs(blank, rows, columns, True), runs(blank, rows, columns, False)
    cells = [(at[0] + r, at[1] + c) for r, c in shape]
    edge = min(min(r, c, rows - 1 - r, columns - 1 - c) for r, c in cells)
    return [
        sum(across) / len(across) if across else 0,
        max(across, default=0),
        sum(down) / len(down) if down else 0,
        max(down, default=0),
        len(after),
        len(blank),
        len(placements(after, rows, columns, rectangle(5, 1))),
        len(placements(after, rows, columns, rectangle(1, 5))),
        len(placements(after, rows, columns, rectangle(3, 3))),
        largest_rectangle(blank, rows, columns, lambda h, w: h == w),
        largest_rectangle(blank, rows, columns, lambda h, w: True),
        edge,
        sum(all((r, c) in blank for c in range(columns)) for r in range(rows)),
        sum(all((r, c) in blank for r in range(rows)) for c in range(columns)),
        len(regions(blank)),
        len(regions(after)),
        max(regions(blank), default=0),
        max(regions(after), default=0),
        reward,
        survival,
        1,
    ]


def hand_features(board: set[Cell], rows: int, columns: int, death: float) -> list[float]:
    """Our own 16."""
    everything = set(rectangle(rows, columns))
    free = everything - board
    edges = sum(near in free for cell in board for near in neighbours(cell))

    def free_neighbours(cell: Cell) -> int:
        return sum(near in free for near in neighbours(cell))

    blocks = [
        [(r, c) in free, (r, c + 1) in free, (r + 1, c) in free, (r + 1, c + 1) in free]
        for r in range(rows - 1)
        for c in range(columns - 1)
    ]

    def logs(shape: list[Cell]) -> float:
        return math.log2(1 + len(placements(board, rows, columns, shape)))

    square = rectangle(3, 3)
    corners = [[(r, c) for r, c in square if r == row or c == column] for row in (0, 2) for column in (0, 2)]
    fill = sum(sum((r, c) in board for c in range(columns)) ** 2 for r in range(rows))
    fill += sum(sum((r, c) in board for r in range(rows)) ** 2 for c in range(columns))
    apart: list[Cell] = []
    for r, c in placements(board, rows, columns, square):
        if len(apart) < 4 and all(abs(r - other_r) > 2 or abs(c - other_c) > 2 for other_r, other_c in apart):
            apart.append((r, c))
    return [
        len(board),
        edges,
        sum(free_neighbours(cell) == 0 for cell in free),
        sum(free_neighbours(cell) == 1 for cell in free),
        sum(all(near not in board for near in neighbours(cell)) for cell in board),
        sum(sum(block) == 1 for block in blocks),
        sum(sum(block) == 3 for block in blocks),
        sum(block in ([True, False, False, True], [False, True, True, False]) for block in blocks),
        logs(square),
        logs(rectangle(1, 5)) + logs(rectangle(5, 1)),
        sum(logs(corner) for corner in corners),
        logs(rectangle(2, 2)),
        death,
        fill / columns,
        len(apart),
        len(regions(free)),
    ]
