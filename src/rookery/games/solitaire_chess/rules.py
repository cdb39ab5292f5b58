"""Solitaire Chess: every move captures, and one piece must be left.

>>> game = SolitaireChess()
>>> state = game.parse_state("R.../.B../..N./P...")
>>> [state.action_name(a) for a in state.legal_actions()]
['Ra4xa1', 'Bb3xa4', 'Bb3xc2', 'Nc2xa1']
>>> state.apply(state.legal_actions()[0])
>>> str(state), state.pieces
('..../.B../..N./R...', 3)

Text form: rows from the top, joined by `/`, of `K`, `Q`, `R`, `B`, `N`, `P` and `.`. Where captures are limited (Solo
Chess), a piece that has made some carries their number: `R1` has captured once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from rookery import _native, draw
from rookery.game import (
    TERMINAL,
    Level,
    NativeGame,
    Overlay,
    Puzzle,
    Randomness,
    find_action,
    fresh_seed,
    native_state,
)

KINDS = "KQRBNP"
"""The letter of each kind of piece, in the order of the native kinds 0 to 5."""

PIECE_SET = "KQRRBBNNPP"
"""The boxed set, from which random boards are drawn."""

_STARTS = {
    2: "NR/.R",
    4: ".P.R/R.../.KN./Q.B.",
    5: "P.Q../.K..R/RN.../..B../.P...",
    6: "B...../....RN/..B.../....../.KN.../PQ..R.",
}
"""Puzzles by size of the board, each with a single solution."""

_SOLO_START = "......../..R...../...P..../B..K..../..Q..N../.....R../.....P../....N..."


class SolitaireChess(NativeGame):
    """Solitaire Chess on a board of 2x2 to 8x8.

    `start` is the start position as text; without one, it is the largest puzzle of our own that fits the board.
    `max_captures` is the number of captures a piece may make, 1 to 15 (Solo Chess: 2), or 0 for any number. With
    `king_last`, the king is never captured, so that it is the last piece if there is one; without, it is a piece like
    any other.
    """

    name = "solitaire-chess"
    blurb = "Every move captures. Leave one piece."
    usual_start = "a random board that can be solved"
    best_return = 1.0
    puzzle_levels = ("beginner", "intermediate", "advanced", "expert", "solo")
    variants = MappingProxyType(
        {
            "4x4": {},
            "5x5": {"rows": 5, "columns": 5},
            "6x6": {"rows": 6, "columns": 6},
            "solo-8x8": {"rows": 8, "columns": 8, "max_captures": 2, "start": _SOLO_START},
        }
    )

    def __init__(
        self,
        rows: int = 4,
        columns: int = 4,
        start: str | None = None,
        max_captures: int = 0,
        king_last: bool = True,
    ) -> None:
        if not (2 <= rows <= 8 and 2 <= columns <= 8):
            raise ValueError(f"the board must have 2 to 8 rows and columns, not {rows} and {columns}")
        if not 0 <= max_captures <= 15:
            raise ValueError(f"max_captures must be 1 to 15, or 0 for no limit, not {max_captures}")
        self.rows, self.columns, self.max_captures, self.king_last = rows, columns, max_captures, king_last
        kinds, captures = self._read(_default_start(rows, columns) if start is None else start)
        super().__init__(_native.solitaire_chess.Rules(rows, columns, max_captures, king_last, kinds, captures))

    def initial_state(self) -> SolitaireChessState:
        return SolitaireChessState(self)

    def parse_state(self, text: str) -> SolitaireChessState:
        return SolitaireChessState(self, *self._read(text))

    def _read(self, text: str) -> tuple[list[int], list[int]]:
        """Kinds and captures of every cell, as the native constructors take them."""
        squares = [_SQUARE.findall(row) for row in text.strip().split("/")]
        drawn = "/".join("".join(kind + count for kind, count in row) for row in squares)
        if drawn != text.strip() or [len(row) for row in squares] != [self.columns] * self.rows:
            made = " (with the captures it has made, if any: R1)" if self.max_captures else ""
            shape = {"rows": len(squares), "columns": len(squares[0])}
            others = [name for name, options in self.variants.items() if shape.items() <= options.items()]
            variant = f"; boards of that size are the variant {' or '.join(others)}" if others else ""
            raise ValueError(
                f"expected {self.rows} rows of {self.columns} squares, each one of K, Q, R, B, N, P{made} or '.', "
                f"joined by '/', not {text[:200]!r}{variant}"
            )
        cells = [square for row in squares for square in row]
        captures = [int(count or 0) for _, count in cells]
        if max(captures) > self.max_captures:
            limit = f"at most {self.max_captures}" if self.max_captures else "no count, as captures are not limited"
            raise ValueError(f"expected {limit} after a piece, not {max(captures)} as in {text[:200]!r}")
        return [KINDS.find(kind) for kind, _ in cells], captures

    def random_start(
        self, rng: Randomness = None, pieces: int | None = None, solvable: bool = True
    ) -> SolitaireChessState:
        """A random board of pieces from the boxed set K, Q, 2R, 2B, 2N, 2P; 4 to 8 of them unless `pieces` is given.

        With `solvable`, boards are drawn until one can be solved.
        """
        limit = min(len(PIECE_SET), self.rows * self.columns)
        if pieces is not None and not 1 <= pieces <= limit:
            raise ValueError(f"expected 1 to {limit} pieces on this board, not {pieces}")
        least, most = (min(4, limit), min(8, limit)) if pieces is None else (pieces, pieces)
        try:
            return SolitaireChessState(self, _POOL, least, most, solvable, _MAX_DRAWS, fresh_seed(rng))
        except ValueError:
            raise ValueError(
                f"none of {_MAX_DRAWS} random boards could be solved; ask for another number of pieces"
            ) from None

    def cell_name(self, cell: int) -> str:
        """The square as players call it: files from a on the left, ranks from 1 at the bottom."""
        row, column = divmod(cell, self.columns)
        return f"{'abcdefgh'[column]}{self.rows - row}"

    def puzzle(self, level: str, seed: int) -> Puzzle:
        """A puzzle of a level on 4x4, or of 12 pieces of Solo Chess for the level "solo".

        >>> SolitaireChess().puzzle("beginner", 1).variant
        '4x4'
        """
        from rookery.games.solitaire_chess.puzzles import make_puzzles, make_solo_puzzles

        if level not in self.puzzle_levels:
            raise ValueError(f"unknown level {level[:40]!r}; known levels: {', '.join(self.puzzle_levels)}")
        if level == "solo":
            game = SolitaireChess(**self.variants["solo-8x8"])
            return Puzzle("solo-8x8", str(make_solo_puzzles(game, 12, 1, seed)[0]))
        return Puzzle("4x4", make_puzzles(level, 1, seed)[0].rows)

    def levels(self) -> Sequence[Level]:
        """Measured by `python -m benchmarks.levels` in the variant 4x4; of others nothing is told."""
        return _LEVELS if self.variant == "4x4" else [replace(level, about="") for level in _LEVELS]

    def pieces(self) -> dict[str, str]:
        return {"K": "King", "Q": "Queen", "R": "Rook", "B": "Bishop", "N": "Knight", "P": "Pawn", ".": "Nothing"}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """The rows after a piece is put on a cell.

        >>> SolitaireChess(2, 3, max_captures=2).with_piece("R2../.B.", 1, "Q")
        'R2Q./.B.'
        """
        squares = [kind + count for kind, count in _SQUARE.findall(text.replace("/", ""))]
        if not 0 <= cell < len(squares):
            raise ValueError(f"cells are 0 to {len(squares) - 1}, not {cell}")
        squares[cell] = piece
        return "/".join("".join(squares[i : i + self.columns]) for i in range(0, len(squares), self.columns))

    def sketch(self, text: str) -> str:
        """The board of the rows, whatever stands on it.

        >>> SolitaireChess().sketch("..../..../..../....").count("data-cell")
        16
        """
        squares = _SQUARE.findall(text.replace("/", ""))
        if "".join(kind + count for kind, count in squares) != text.replace("/", "").strip():
            raise ValueError(f"expected rows of pieces and dots such as {self.initial_state()}, not {text[:80]!r}")
        if len(squares) != self.rows * self.columns:
            raise ValueError(f"expected {self.rows} rows of {self.columns} squares, not {text[:80]!r}")
        board = [(_LETTERS.index(kind) if kind != "." else -1, int(count or 0)) for kind, count in squares]
        return self.drawn(f"Solitaire Chess {text}", board).render()

    def centre(self, cell: int) -> tuple[float, float]:
        """Where a cell is on the drawing."""
        return 0.5 + draw.MARGIN + cell % self.columns, 0.5 + draw.MARGIN + cell // self.columns

    def drawn(self, title: str, squares: Iterable[tuple[int, int]]) -> draw.Canvas:
        """The board with the kind of piece on each cell, -1 for none, and how often it has captured."""
        canvas = draw.Canvas(self.columns + 2 * draw.MARGIN, self.rows + 2 * draw.MARGIN, title)
        draw.checkerboard(canvas, self.rows, self.columns)
        for cell, (kind, captures) in enumerate(squares):
            if kind >= 0:
                left = self.max_captures - captures
                # As on Solo Chess boards, a piece that may not capture any more is black.
                draw.chess_piece(canvas, *self.centre(cell), KINDS[kind], white=not self.max_captures or left > 0)
                if self.max_captures:
                    _badge(canvas, *self.centre(cell), left)
        return canvas


_LEVELS = (
    Level("Guesser", "random", about="solves 27% of random boards"),
    Level("Student", "paper-dqn", about="solves 95% of random boards"),
    Level("Learner", "dqn", about="solves 99.7% of random boards"),
    Level("Solver", "best", about="solves every board"),
)

_LETTERS = KINDS + "."  # kind -1, the last letter, is an empty cell
_SQUARE = re.compile(r"([KQRBNP]|\.)((?<!\.)[1-9][0-9]?)?")
_MAX_DRAWS = 20_000
_POOL = [KINDS.index(letter) for letter in PIECE_SET]


def _default_start(rows: int, columns: int) -> str:
    # Only pieces are captured, so a puzzle stays what it is on a larger board.
    size = max(size for size in _STARTS if size <= min(rows, columns))
    puzzle = [row.ljust(columns, ".") for row in _STARTS[size].split("/")]
    return "/".join(puzzle + ["." * columns] * (rows - size))


@native_state
class SolitaireChessState(_native.solitaire_chess.State):
    """A board. `kinds`, `captures` and `pieces` say what stands on it."""

    game: SolitaireChess

    def action_name(self, action: int) -> str:
        start, end = self.action_cells(action)
        return f"{_LETTERS[self.kinds[start]]}{self.game.cell_name(start)}x{self.game.cell_name(end)}"

    def parse_action(self, text: str) -> int:
        """The legal capture that a text names: `Ra4xa1`, `a4xa1` or `a4a1`; case and spaces do not matter.

        >>> state = SolitaireChess().initial_state()
        >>> {state.action_name(state.parse_action(text)) for text in ("Rd4xb4", "d4xb4", "d4b4", "r D4 : B4")}
        {'Rd4xb4'}
        """
        squares = self.game.cell_name

        def forms(action: int) -> Iterator[str]:
            start, end = self.action_cells(action)
            for piece, sign in itertools.product((_LETTERS[self.kinds[start]], ""), ("x", "-", ":", "")):
                yield f"{piece}{squares(start)}{sign}{squares(end)}"

        return find_action(self, text, forms)

    def action_cells(self, action: int) -> list[int]:
        """The cells that a capture goes from and to."""
        if not 0 <= action < self.game.num_actions:
            raise ValueError(f"actions are 0 to {self.game.num_actions - 1}, not {action}")
        return list(divmod(action, self.game.rows * self.game.columns))

    def _cells(self) -> list[str]:
        """The letter of every piece, and how often it has captured where that is limited."""
        return [_LETTERS[kind] + (str(n) if n else "") for kind, n in zip(self.kinds, self.captures, strict=True)]

    def __str__(self) -> str:
        columns, cells = self.game.columns, self._cells()
        return "/".join("".join(cells[i : i + columns]) for i in range(0, len(cells), columns))

    def text_board(self) -> str:
        """The board for the terminal; a number behind a piece says how often it has captured, where that is limited."""
        ranks = [str(rank) for rank in range(self.game.rows, 0, -1)]
        return draw.labelled(self._cells(), ranks, "abcdefgh"[: self.game.columns])

    def svg(self, overlay: Overlay | None = None) -> str:
        canvas = self.game.drawn(f"Solitaire Chess {self}", zip(self.kinds, self.captures, strict=True))
        draw.draw_overlay(canvas, self, overlay, self.game.centre)
        return canvas.render()

    def status(self) -> str:
        """The number of pieces left, and whether the puzzle is solved."""
        if self.player() != TERMINAL:
            return f"{self.pieces} pieces left"
        return "Solved: one piece is left" if self.returns()[0] else f"Stuck with {self.pieces} pieces left"


def _badge(canvas: draw.Canvas, x: float, y: float, captures_left: int) -> None:
    untouchable = 'pointer-events="none"'
    canvas.circle(x + 0.34, y - 0.34, 0.13, draw.PAPER, extra=f'stroke="{draw.LINE}" stroke-width="0.02" {untouchable}')
    canvas.text(x + 0.34, y - 0.34, str(captures_left), 0.2, extra=f'font-weight="600" {untouchable}')
