"""1010! written slowly: a board is a set of (row, column)."""

from __future__ import annotations

Cell = tuple[int, int]


def placements(board: set[Cell], rows: int, columns: int, shape: list[Cell]) -> list[Cell]:
    """Every (row, column) for the top left corner of the shape."""
    found = []
    for row in range(rows):
        for column in range(columns):
            cells = [(row + r, column + c) for r, c in shape]
            if all(r < rows and c < columns and (r, c) not in board for r, c in cells):
                found.append((row, column))
    return found


def place(board: set[Cell], rows: int, columns: int, shape: list[Cell], at: Cell) -> tuple[set[Cell], int]:
    """The board after placing and clearing, and the points."""
    board = board | {(at[0] + r, at[1] + c) for r, c in shape}
    full_rows = [r for r in range(rows) if all((r, c) in board for c in range(columns))]
    full_columns = [c for c in range(columns) if all((r, c) in board for r in range(rows))]
    cleared = {(r, c) for r, c in board if r in full_rows or c in full_columns}
    lines = len(full_rows) + len(full_columns)
    return board - cleared, len(shape) + sum(10 * i for i in range(1, lines + 1))
