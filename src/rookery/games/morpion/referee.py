"""Morpion Solitaire, slow and plain: the referee that a record has to convince.

It shares nothing with the native rules that searches play by. Points are (column, row) as in Pentasol files, where
(28, 28) is the upper left inner corner of the cross.

>>> referee = Referee(5, touching=False)
>>> referee.why_illegal("/", (27, 27), 0) is None
True
>>> referee.play("/", (27, 27), 0)
>>> referee.why_illegal("/", (27, 27), 0)
'its dot is there already'
"""

from __future__ import annotations

Point = tuple[int, int]

STEPS = {"-": (1, 0), "|": (0, 1), "/": (1, -1), "\\": (1, 1)}

_CROSS_OF_36 = """
...####...
...#..#...
...#..#...
####..####
#........#
#........#
####..####
...#..#...
...#..#...
...####...
"""
_CROSS_OF_24 = """
..###..
..#.#..
###.###
#.....#
###.###
..#.#..
..###..
"""


class Referee:
    """A game under way. A line is told by its direction, its new dot and the steps from that to its middle."""

    def __init__(self, length: int, touching: bool, board: int | None = None) -> None:
        self.length, self.touching = length, touching
        picture = (_CROSS_OF_36 if length == 5 else _CROSS_OF_24).split()
        corner = 28 - (length - 2)
        self.dots = {
            (corner + x, corner + y) for y, row in enumerate(picture) for x, mark in enumerate(row) if mark == "#"
        }
        self.lines: list[tuple[str, list[Point]]] = []
        self.board: range | None = None
        """Columns, and rows, of a board with a border."""
        if board is not None:
            first = corner - (board - len(picture)) // 2
            self.board = range(first, first + board)

    def line(self, direction: str, dot: Point, offset: int) -> list[Point]:
        """The points of a line, in the order of its direction's step."""
        dx, dy = STEPS[direction]
        first = offset - self.length // 2
        return [(dot[0] + (first + i) * dx, dot[1] + (first + i) * dy) for i in range(self.length)]

    def why_illegal(self, direction: str, dot: Point, offset: int) -> str | None:
        """What stands against a move, in words; None if it is legal."""
        points = self.line(direction, dot, offset)
        if dot not in points:
            return f"the line's middle lies {offset} steps from the new dot, outside the line"
        if dot in self.dots:
            return "its dot is there already"
        for x, y in points:
            if self.board is not None and not (x in self.board and y in self.board):
                return f"the line leaves the board of {len(self.board)} rows and columns"
            if (x, y) not in self.dots and (x, y) != dot:
                return f"there is no dot at ({x},{y})"
        for number, (drawn, others) in enumerate(self.lines, start=1):
            # Two lines of one direction that share n dots share n - 1 segments.
            if drawn == direction and len(set(points) & set(others)) > (1 if self.touching else 0):
                return f"it overlaps the line of move {number}"
        return None

    def play(self, direction: str, dot: Point, offset: int) -> None:
        """Make a move that must be legal."""
        problem = self.why_illegal(direction, dot, offset)
        if problem is not None:
            raise ValueError(f"{dot} {direction} {offset} is not legal: {problem}")
        self.dots.add(dot)
        self.lines.append((direction, self.line(direction, dot, offset)))

    def is_over(self) -> bool:
        """No move is left: every place next to a dot is tried with every line."""
        near = {(x + dx, y + dy) for x, y in self.dots for dx in (-1, 0, 1) for dy in (-1, 0, 1)} - self.dots
        offsets = range(-(self.length // 2), self.length // 2 + 1)
        return all(
            self.why_illegal(direction, dot, offset) is not None
            for dot in near
            for direction in STEPS
            for offset in offsets
        )
