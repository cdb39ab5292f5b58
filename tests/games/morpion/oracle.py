"""Morpion Solitaire the slow and obvious way: sets of points, and every line looked at anew for every position."""

from __future__ import annotations

from dataclasses import dataclass, field

Point = tuple[int, int]
"""Column and row, from the upper left corner of the square around the cross."""

CROSSES = {
    5: """
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
""",
    4: """
..###..
..#.#..
###.###
#.....#
###.###
..#.#..
..###..
""",
}

STEPS = {"-": (1, 0), "|": (0, 1), "/": (1, -1), "\\": (1, 1)}


def cross(length: int) -> set[Point]:
    rows = CROSSES[length].split()
    return {(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark == "#"}


@dataclass(frozen=True)
class Move:
    direction: str
    points: tuple[Point, ...]
    """The whole line, from its first dot along the direction's step."""
    dot: Point
    """The new one."""

    def segments(self) -> set[tuple[Point, Point]]:
        return set(zip(self.points, self.points[1:], strict=False))


def move(length: int, direction: str, first: Point, position: int) -> Move:
    dx, dy = STEPS[direction]
    points = tuple((first[0] + i * dx, first[1] + i * dy) for i in range(length))
    return Move(direction, points, points[position])


@dataclass
class Position:
    length: int
    touching: bool
    board: int | None = None
    dots: set[Point] = field(default_factory=set)
    drawn: list[Move] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dots = self.dots or cross(self.length)

    def on_board(self, point: Point) -> bool:
        if self.board is None:
            return True
        frame = len(CROSSES[self.length].split())
        before = (self.board - frame) // 2  # rows above the cross and columns to its left
        return all(-before <= i < self.board - before for i in point)

    def overlaps(self, new: Move) -> bool:
        for old in self.drawn:
            if old.direction != new.direction:
                continue
            if self.touching and old.segments() & new.segments():
                return True
            if not self.touching and set(old.points) & set(new.points):
                return True
        return False

    def is_legal(self, new: Move) -> bool:
        return (
            new.dot not in self.dots
            and all(point in self.dots for point in new.points if point != new.dot)
            and all(self.on_board(point) for point in new.points)
            and not self.overlaps(new)
        )

    def legal_moves(self) -> set[Move]:
        moves = set()
        columns = [x for x, _ in self.dots]
        rows = [y for _, y in self.dots]
        for direction in STEPS:
            for x in range(min(columns) - self.length, max(columns) + self.length + 1):
                for y in range(min(rows) - self.length, max(rows) + self.length + 1):
                    line = move(self.length, direction, (x, y), 0).points
                    missing = [i for i, point in enumerate(line) if point not in self.dots]
                    if len(missing) == 1:
                        moves.add(move(self.length, direction, (x, y), missing[0]))
        return {candidate for candidate in moves if self.is_legal(candidate)}

    def play(self, new: Move) -> None:
        assert self.is_legal(new)
        self.dots.add(new.dot)
        self.drawn.append(new)

    def position(self) -> object:
        """The dots and the drawn segments: what is seen on the paper."""
        segments = {(line.direction, segment) for line in self.drawn for segment in line.segments()}
        return frozenset(self.dots), frozenset(segments)
