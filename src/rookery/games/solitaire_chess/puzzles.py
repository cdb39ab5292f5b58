"""Puzzles of Solitaire Chess: made, graded, and explained a little at a time.

>>> puzzle = make_puzzles("expert", count=1, seed=1)[0]
>>> puzzle.level, puzzle.pieces in (7, 8), "K" in puzzle.rows
('expert', True, False)
>>> import rookery
>>> hints(rookery.load("solitaire-chess").parse_state("R.../.B../..N./P..."))
('The rook on a4 moves first.', 'It takes the pawn on a1.', 'The last piece is the knight, on b3.')
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, dataclass

from rookery import _native
from rookery._native import Control
from rookery.game import play_out
from rookery.games.solitaire_chess import MODELS
from rookery.games.solitaire_chess.exact import capture_tree, solve
from rookery.games.solitaire_chess.rules import KINDS, SolitaireChess, SolitaireChessState

PACK = MODELS / "puzzles.json"
"""80 puzzles of our own, 20 per level: the study's data set."""

SOLO_POOL = "K" + 2 * "Q" + 4 * "RBN" + 6 * "P"
"""What Solo Chess puzzles are made of."""

MAX_SOLUTIONS = 8
"""Sequences of captures that solve a puzzle; those of puzzles with more are found by chance."""

KINGS = 1 / 7
"""The share of puzzles with a king, as in published ones."""

NAMES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}


@dataclass(frozen=True)
class Level:
    pieces: tuple[int, ...]
    pool: str
    lowest: float
    """Rating from which a puzzle is of this level, up to that of the next."""
    highest: float


LEVELS = {
    "beginner": Level((4, 5), "KQRRBBNNPP", 0.0, 11.0),
    "intermediate": Level((6,), "KQRRBBNNPP", 11.0, 13.2),
    "advanced": Level((7,), "KQRRBBNNPP", 13.2, 15.2),
    "expert": Level((7, 8), "QRRBBNNPP", 15.2, math.inf),
}


@dataclass(frozen=True)
class GradedPuzzle:
    """A 4x4 puzzle with a single possible last piece and square."""

    rows: str
    level: str
    pieces: int
    rating: float
    final: str
    solutions: int
    distinct_states: int
    moves: tuple[str, ...]
    """The captures of one solution, by name."""


def rating(pieces: int, distinct_states: int) -> float:
    """How hard a puzzle is: each piece counts 1, and so does each doubling of the positions one can get into."""
    return pieces + math.log2(distinct_states)


def level_of(rating: float) -> str:
    """The level of a rating."""
    return next(name for name, level in LEVELS.items() if rating < level.highest)


def canonical(rows: str) -> str:
    """One name for a board and its mirror image."""
    return min(rows, "/".join(row[::-1] for row in rows.split("/")))


def make_puzzles(
    level: str, count: int, seed: int = 0, threads: int = 1, control: Control | None = None, kings: float | None = KINGS
) -> list[GradedPuzzle]:
    """Different puzzles of a level, none the mirror image of another.

    `kings` is the share that has a king; None leaves it to chance, which favours kings. `control.done` counts
    candidates.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}; known levels: {', '.join(LEVELS)}")
    if not 0 <= count <= 100_000:
        raise ValueError(f"the number of puzzles must be 0 to 100000, not {count}")
    if kings is None or "K" not in LEVELS[level].pool:
        return _make(level, count, seed, threads, control, None if "K" in LEVELS[level].pool else False)
    draw = random.Random(seed)
    crowned = [draw.random() < kings for _ in range(count)]
    kinds = {king: iter(_make(level, crowned.count(king), seed, threads, control, king)) for king in (False, True)}
    return [next(kinds[king]) for king in crowned]


def _make(
    level: str, count: int, seed: int, threads: int, control: Control | None, king: bool | None
) -> list[GradedPuzzle]:
    """Puzzles that all have a king, that all have none, or either."""
    wish = LEVELS[level]
    game = SolitaireChess()
    pool = [KINDS.index(letter) for letter in wish.pool]
    puzzles: dict[str, GradedPuzzle] = {}
    batch = 0
    while len(puzzles) < count:
        pieces = wish.pieces[batch % len(wish.pieces)]
        mixed = (seed * 1_000_003 + batch) % 2**63
        boards = _native.solitaire_chess.make_puzzles(
            game.rules, min(count, 16), pieces, pool, king, MAX_SOLUTIONS, mixed, threads, control
        )
        batch += 1
        for board in boards:
            state = SolitaireChessState(game, [int(piece) - 1 for piece in board], [0] * len(board))
            tree = capture_tree(state)
            measured = rating(pieces, tree.distinct_states)
            name = canonical(str(state))
            if wish.lowest <= measured < wish.highest and name not in puzzles and len(puzzles) < count:
                puzzles[name] = GradedPuzzle(
                    str(state), level, pieces, round(measured, 2), tree.finals[0], tree.solutions,
                    tree.distinct_states, tuple(play_out(state, solve(state).moves or [])[1]),
                )  # fmt: skip
    return list(puzzles.values())


def make_solo_puzzles(
    game: SolitaireChess, pieces: int, count: int, seed: int = 0, threads: int = 1
) -> list[SolitaireChessState]:
    """Solvable boards with a king for a game of limited captures, made by playing backwards."""
    if not 2 <= pieces <= len(SOLO_POOL):
        raise ValueError(f"a board has at least 2 pieces and at most {len(SOLO_POOL)}, not {pieces}")
    pool = [KINDS.index(letter) for letter in SOLO_POOL]
    boards = _native.solitaire_chess.make_puzzles(game.rules, count, pieces, pool, True, 0, seed, threads)
    return [SolitaireChessState(game, [int(piece) - 1 for piece in board], [0] * len(board)) for board in boards]


def pack() -> list[GradedPuzzle]:
    """The 80 puzzles that ship.

    >>> from collections import Counter
    >>> sorted(Counter(puzzle.level for puzzle in pack()).items())
    [('advanced', 20), ('beginner', 20), ('expert', 20), ('intermediate', 20)]
    """
    puzzles = json.loads(PACK.read_text(encoding="utf-8"))["puzzles"]
    return [GradedPuzzle(**(fields | {"moves": tuple(fields["moves"])})) for fields in puzzles]


def make_pack(seed: int = 0) -> str:
    """The text of the file `PACK`."""
    puzzles = [asdict(puzzle) for level in LEVELS for puzzle in make_puzzles(level, 20, seed, kings=None)]
    puzzles.sort(key=lambda puzzle: float(puzzle["rating"]))
    rows = ",\n".join(json.dumps(puzzle) for puzzle in puzzles)
    return f'{{"command": "make_pack(seed={seed})", "puzzles": [\n{rows}\n]}}\n'


STUCK = "You are stuck: no captures from here leave a single piece. Take a move back."


def hints(state: SolitaireChessState) -> tuple[str, ...]:
    """What puzzle books tell, each more than the one before: who moves first, what it takes, who is last. One sentence
    if the puzzle is solved already or cannot be solved any more."""
    game = state.game
    moves = solve(state).moves
    if moves is None:
        return (STUCK,)
    if not moves:
        return ("One piece is left: the puzzle is solved.",)

    def name(at: SolitaireChessState, cell: int) -> str:
        return f"the {NAMES[KINDS[at.kinds[cell]]]} on {game.cell_name(cell)}"

    start, end = state.action_cells(moves[0])
    final = state.clone()
    for move in moves:
        final.apply(move)
    last = next(cell for cell, kind in enumerate(final.kinds) if kind >= 0)
    return (
        f"{name(state, start).capitalize()} moves first.",
        f"It takes {name(state, end)}.",
        f"The last piece is the {NAMES[KINDS[final.kinds[last]]]}, on {game.cell_name(last)}.",
    )
