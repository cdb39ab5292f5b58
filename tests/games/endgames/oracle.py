"""Chess without castling and en passant, the slow and obvious way: a dict of squares, every move tried out.

A position is `(men, side)`: men maps (file, rank), both from 0, to a letter (upper case White), side is "w" or "b".
Nothing here knows that one side has a lone king.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

Square = tuple[int, int]
Men = dict[Square, str]

STRAIGHT = [(0, 1), (1, 0), (0, -1), (-1, 0)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
LEAPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
SLIDES = {"R": STRAIGHT, "B": DIAGONAL, "Q": STRAIGHT + DIAGONAL}


def name(square: Square) -> str:
    return "abcdefgh"[square[0]] + str(square[1] + 1)


def side_of(letter: str) -> str:
    return "w" if letter.isupper() else "b"


def other(side: str) -> str:
    return "b" if side == "w" else "w"


def on_board(square: Square) -> bool:
    return 0 <= square[0] <= 7 and 0 <= square[1] <= 7


def attacked_squares(men: Men, start: Square) -> list[Square]:
    """The squares that the man on `start` attacks, with or without something on them."""
    kind = men[start].upper()
    file, rank = start
    if kind in SLIDES:
        squares = []
        for df, dr in SLIDES[kind]:
            square = (file + df, rank + dr)
            while on_board(square):
                squares.append(square)
                if square in men:
                    break
                square = (square[0] + df, square[1] + dr)
        return squares
    if kind == "P":
        up = 1 if men[start] == "P" else -1
        steps = [(-1, up), (1, up)]
    else:
        steps = LEAPS if kind == "N" else STRAIGHT + DIAGONAL
    return [(file + df, rank + dr) for df, dr in steps if on_board((file + df, rank + dr))]


def in_check(men: Men, side: str) -> bool:
    (king,) = [square for square, letter in men.items() if letter == ("K" if side == "w" else "k")]
    return any(king in attacked_squares(men, s) for s, letter in men.items() if side_of(letter) != side)


def moved(men: Men, start: Square, end: Square, promotion: str = "") -> Men:
    after = dict(men)
    letter = after.pop(start)
    if promotion:
        letter = promotion.upper() if letter.isupper() else promotion
    after[end] = letter
    return after


def legal_moves(men: Men, side: str) -> dict[str, Men]:
    """Every legal move in UCI notation with the men after it."""
    moves = {}
    for start, letter in men.items():
        if side_of(letter) != side:
            continue
        ends = [s for s in attacked_squares(men, start) if s not in men or side_of(men[s]) != side]
        if letter.upper() == "P":
            ends = [s for s in ends if s in men]
            up, home = (1, 1) if side == "w" else (-1, 6)
            one, two = (start[0], start[1] + up), (start[0], start[1] + 2 * up)
            if one not in men:
                ends.append(one)
                if start[1] == home and two not in men:
                    ends.append(two)
        for end in ends:
            last_rank = letter.upper() == "P" and end[1] in (0, 7)
            for promotion in "nbrq" if last_rank else [""]:
                after = moved(men, start, end, promotion)
                if not in_check(after, side):
                    moves[name(start) + name(end) + promotion] = after
    return moves


def cannot_mate(men: Men) -> bool:
    """Insufficient material: kings alone, one minor piece, or bishops that all stand on one colour."""
    pieces = [(letter.upper(), square) for square, letter in men.items() if letter.upper() != "K"]
    if all(kind == "B" for kind, _ in pieces):
        return len({(file + rank) % 2 for _, (file, rank) in pieces}) <= 1
    return len(pieces) == 1 and pieces[0][0] == "N"


@dataclass
class Game:
    """A game in progress."""

    men: Men
    side: str
    clock: int = 0
    number: int = 1
    repetition: int = 3
    fifty_move_rule: bool = False
    seen: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.arrive()

    def arrive(self) -> None:
        self.seen[self.board()] += 1
        self.moves = legal_moves(self.men, self.side)

    @classmethod
    def from_fen(cls, fen: str, repetition: int = 3, fifty_move_rule: bool = False) -> Game:
        board, side, _, _, clock, number = fen.split()
        men = {}
        for row, text in enumerate(board.split("/")):
            expanded = "".join("." * int(c) if c.isdigit() else c for c in text)
            men |= {(file, 7 - row): c for file, c in enumerate(expanded) if c != "."}
        return cls(men, side, int(clock), int(number), repetition, fifty_move_rule)

    def board(self) -> str:
        rows = []
        for rank in range(7, -1, -1):
            row = "".join(self.men.get((file, rank), " ") for file in range(8))
            for run in range(8, 0, -1):
                row = row.replace(" " * run, str(run))
            rows.append(row)
        return f"{'/'.join(rows)} {self.side}"

    def fen(self) -> str:
        return f"{self.board()} - - {self.clock} {self.number}"

    def play(self, uci: str) -> None:
        after = self.moves[uci]
        start = ("abcdefgh".index(uci[0]), int(uci[1]) - 1)
        quiet = len(after) == len(self.men) and self.men[start].upper() != "P"
        self.clock = self.clock + 1 if quiet else 0
        self.number += self.side == "b"
        self.men, self.side = after, other(self.side)
        self.arrive()

    def ending(self) -> str | None:
        stuck = not self.moves
        if stuck and in_check(self.men, self.side):
            return "checkmate"
        if cannot_mate(self.men):
            return "insufficient material"
        if stuck:
            return "stalemate"
        if self.repetition and self.seen[self.board()] >= self.repetition:
            return "repetition"
        if self.fifty_move_rule and self.clock >= 100:
            return "fifty-move rule"
        return None
