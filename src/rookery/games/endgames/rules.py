"""Chess endgames: king and up to two pieces against a lone king.

>>> game = Endgames("KQK")
>>> state = game.parse_state("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
>>> state.apply(state.parse_action("Qb2#"))
>>> str(state), state.ending, state.returns()
('8/8/8/8/8/1K6/1Q6/k7 b - - 1 1', 'checkmate', [1.0, -1.0])

Text form: FEN. The 1,856 actions are the moves of a queen and of a knight on an empty board, ordered by square and
target (a1, b1 .. h8), then the promotions, ordered by the new piece (N, B, R, Q) and then by square; `decode_action`
reads them. Their names are standard algebraic notation.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from rookery import _native, draw
from rookery.game import (
    Level,
    NativeGame,
    Overlay,
    Randomness,
    Record,
    default_status,
    fresh_seed,
    native_state,
    no_such_action,
)

STARTS = MappingProxyType(
    {
        "KRK": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
        "KQK": "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1",
        "KBBK": "8/8/8/3k4/8/8/8/2B2B1K w - - 0 1",
        "KBNK": "8/8/8/3k4/8/8/8/1N3B1K w - - 0 1",
        "KPK": "4k3/8/8/8/4K3/8/4P3/8 w - - 0 1",
    }
)
"""Initial positions by material; White wins all of them."""

_PIECES = "QRBNP"
_PROMOTIONS = ("", "n", "b", "r", "q")
_DRAWN = ("KK", "KBK", "KNK")
# A small b is the file.
_MOVE = re.compile(r"([KQRBNkqrn]?)([a-h]?)([1-8]?)[-x:]?([a-h][1-8])(?:=?\(?([QRBNqrbn])\)?)?[+#]*[!?]*")


class Endgames(NativeGame):
    """King and up to two pieces against a lone king. Player 0 is White, 1 is Black.

    `material` names the men of the strong side and the weak side's king, such as "KRK" or "KQPK"; it chooses the
    initial position and those of `random_start`. `start` is an initial position of your own, as FEN. A position that
    occurs for the `repetition`th time is a draw (0: never); with `fifty_move_rule` so is a position after 100 plies
    without capture or pawn move, unless it is mate.

    Any legal position with a lone king can be parsed, whatever the material of the game.

    >>> Endgames(start="8/8/8/8/8/2k5/1r6/7K w - - 0 1").material
    'KRK'
    """

    name = "endgames"
    title = "Chess endgames"
    blurb = "King and pieces against a lone king."
    history_matters = True
    usual_start = "a random position that White wins"
    sides = ("White", "Black")
    variants = MappingProxyType(
        {"KRK": {}, **{material: {"material": material} for material in STARTS if material != "KRK"}}
    )

    def __init__(
        self,
        material: str | None = None,
        start: str | None = None,
        repetition: int = 3,
        fifty_move_rule: bool = False,
    ) -> None:
        given = None if material is None else _check_material(material)
        if start is None:
            given = given or next(iter(STARTS))
            start = STARTS.get(given) or _native.endgames.random_fen(given[1:-1], 0)
        else:
            _check_ascii(start)
        super().__init__(_native.endgames.Rules(start, repetition, fifty_move_rule))
        initial = self.initial_state()
        self.material: str = initial.material
        self.repetition, self.fifty_move_rule = repetition, fifty_move_rule
        if given not in (None, self.material):
            raise ValueError(f"the start {start!r} has the material {self.material}, not {given}; leave one out")
        if initial.ending:
            raise ValueError(f"in the start {start!r} the game is over already ({initial.ending})")

    def initial_state(self) -> EndgamesState:
        return EndgamesState(self)

    def parse_state(self, text: str) -> EndgamesState:
        """Read a FEN; the two counters at its end may be left out.

        >>> Endgames().parse_state("8/8/8/8/8/2K5/8/R1k5 b - -")
        <endgames: 8/8/8/8/8/2K5/8/R1k5 b - - 0 1>
        >>> Endgames().parse_state("8/8/8/8/8/2K5/8/R1k5 w - -")
        Traceback (most recent call last):
        ...
        ValueError: not a usable FEN: the side that is not to move is in check
        """
        _check_ascii(text)
        return EndgamesState(self, text)

    def random_start(self, rng: Randomness = None) -> EndgamesState:
        """A random position of the game's material that is not over yet.

        White is the strong side, a fair coin says who is to move, and then every legal placement is equally likely
        (of two bishops on different colours).
        """
        return EndgamesState(self, self.material[1:-1], fresh_seed(rng))

    def record(self, start: str, actions: Sequence[int], players: Sequence[str], date: str = "") -> Record:
        """A whole game in Portable Game Notation."""
        return Record(to_pgn(self.parse_state(start), actions, (players[0], players[1]), date), "pgn")

    def parse_record(self, text: str) -> tuple[str, list[int]]:
        """A start and the actions after it, from a FEN or from the first game of a PGN file.

        >>> start, actions = Endgames().parse_record('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] 1. Rd2 {slow} Kb1 *')
        >>> start, len(actions)
        ('8/8/8/8/8/1K6/7R/k7 w - - 0 1', 2)
        """
        if "[" not in text:
            return str(self.parse_state(text)), []
        return from_pgn(self, text)

    def levels(self) -> Sequence[Level]:
        """Measured by `python -m benchmarks.levels` in the variant KRK; of others nothing is told."""
        return _LEVELS if self.variant == "KRK" else [replace(level, about="") for level in _LEVELS]

    def pieces(self) -> dict[str, str]:
        names = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}
        white = {letter: f"White {name}" for letter, name in names.items()}
        black = {letter.lower(): f"Black {name}" for letter, name in names.items()}
        return {**white, **black, ".": "Nothing"}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """FEN after a piece is put on a cell, or the turn is given to the other side. A king that is put somewhere
        leaves its old cell, because a side has one.

        >>> Endgames().with_piece("8/8/8/4k3/8/8/8/R3K3 w - - 7 9", 59, "K")
        '8/8/8/4k3/8/8/8/R2K4 w - - 0 1'
        """
        board, side = text.split()[:2]
        letters = list(re.sub(r"[1-8]", lambda match: "." * int(match[0]), board).replace("/", ""))
        if piece == "turn":
            side = "b" if side == "w" else "w"
        elif not 0 <= cell < len(letters):
            raise ValueError(f"cells are 0 to {len(letters) - 1}, not {cell}")
        else:
            if piece in "Kk":
                letters = ["." if letter == piece else letter for letter in letters]
            letters[cell] = piece
        rows = ["".join(letters[i : i + 8]) for i in range(0, 64, 8)]
        short = [re.sub(r"\.+", lambda match: str(len(match[0])), row) for row in rows]
        return f"{'/'.join(short)} {side} - - 0 1"

    def sketch(self, text: str) -> str:
        """The board of a FEN, whatever stands on it.

        >>> Endgames().sketch("8/8/8/8/8/8/8/8 w - - 0 1").count("data-cell")
        64
        """
        board, _, side = " ".join(text.split()[:2]).partition(" ")
        rows = [re.sub(r"[1-8]", lambda match: "." * int(match[0]), row) for row in board.split("/")]
        known = re.fullmatch("[KQRBNPkqrbnp.]{64}", "".join(rows)) and side in ("w", "b")
        if not known or {len(row) for row in rows} != {8}:
            raise ValueError(f"expected a FEN such as {self.initial_state()}, not {text[:80]!r}")
        return _draw_board(f"Chess endgame {text}", "".join(rows), side == "b").render()


_LEVELS = (
    Level("Beginner", "random", about="lasts 7 moves against perfect play"),
    Level("Student", "mcts:simulations=100", about="lasts 7.7 moves against perfect play"),
    Level("Searcher", "mcts:simulations=1000", about="lasts 8 moves against perfect play"),
    Level("Perfect", "oracle", about="lasts 10 moves against perfect play"),
)


def _check_material(material: str) -> str:
    """The material with its pieces in the usual order."""
    if not re.fullmatch(r"K[QRBNP]{0,2}K", material):
        raise ValueError(
            f"unknown material {material!r}; write the strong side's king, one or two of QRBNP, and the lone king, "
            f"such as {', '.join(STARTS)}"
        )
    usual = f"K{''.join(sorted(material[1:-1], key=_PIECES.index))}K"
    if usual in _DRAWN:
        raise ValueError(f"with {usual} every position is drawn; the strong side needs more")
    return usual


def _check_ascii(text: str) -> None:
    if not text.isascii():
        raise ValueError(f"a FEN has no characters such as those in {text[:80]!r}")


def decode_action(action: int) -> tuple[int, int, str]:
    """The squares a move leaves and reaches, a1 = 0, b1 = 1 .. h8 = 63, and what a pawn becomes: "", n, b, r or q."""
    start, end, promotion = _native.endgames.decode(action)
    return start, end, _PROMOTIONS[promotion]


@native_state
class EndgamesState(_native.endgames.State):
    """A chess position. `ending`, `in_check`, `halfmove_clock` and `fullmove_number` say how it stands."""

    game: Endgames

    @property
    def material(self) -> str:
        """The strong side's men and the weak side's king: "KRK" with the rook of either colour."""
        pieces = [letter.upper() for letter in self.letters if letter.upper() in _PIECES]
        return f"K{''.join(sorted(pieces, key=_PIECES.index))}K"

    @property
    def strong(self) -> int:
        """The player who has the pieces; 0 if nobody has any."""
        return int(any(letter in "qrbnp" for letter in self.letters))

    def action_name(self, action: int) -> str:
        """A legal action in standard algebraic notation, such as `Qd5+`, `Kxe4` or `e8=Q#`."""
        name: str = self.san(action)
        return name

    def uci(self, action: int) -> str:
        """The action as chess engines write it.

        >>> state = Endgames().initial_state()
        >>> state.uci(state.parse_action("Kf2"))
        'e1f2'
        """
        start, end, promotion = decode_action(action)
        return _square_name(start) + _square_name(end) + promotion

    def parse_action(self, text: str) -> int:
        """The legal action that the text names, in algebraic or engine notation.

        As people write it: marks and the `x` may be missing, and more of the origin may be given than needed.

        >>> state = Endgames().initial_state()
        >>> {state.action_name(state.parse_action(text)) for text in ("Ra5+", "Ra5!?", "R1a5", "Ra1-a5", "a1a5")}
        {'Ra5+'}
        """
        match = _MOVE.fullmatch("".join(text.split()))
        if not match:
            raise ValueError(f"expected a move such as 'Kd4', 'Kd3-d4', 'e8=Q' or 'e7e8q', not {text[:80]!r}")
        piece, file, rank, end, promotion = match.groups()
        pattern = re.compile(f"{file or '.'}{rank or '.'}{end}{(promotion or '').lower()}")
        # With the whole origin, the piece need not be named.
        pieces = piece.upper() or ("KQRBNP" if file and rank else "P")
        letters = self.letters
        found: list[int] = [
            action
            for action in self.legal_actions()
            if letters[decode_action(action)[0]].upper() in pieces and pattern.fullmatch(self.uci(action))
        ]
        if len(found) != 1:
            raise no_such_action(self, text, found)
        return found[0]

    def action_cells(self, action: int) -> list[int]:
        """Cells are numbered row by row from a8, the top left one. The four promotions of a pawn touch the same."""
        start, end, _ = decode_action(action)
        return [_cell(start), _cell(end)]

    def action_icon(self, action: int) -> str:
        """The piece that a pawn becomes."""
        promotion = decode_action(action)[2]
        return draw.piece_icon(promotion.upper(), self.player() == 0) if promotion else ""

    def listed_actions(self) -> list[int]:
        """The legal actions, of promotions that to a queen first.

        >>> state = Endgames("KPK").parse_state("8/4P3/8/8/8/4K3/8/k7 w - - 0 1")
        >>> [state.action_name(action) for action in state.listed_actions()][-4:]
        ['e8=Q', 'e8=R', 'e8=B', 'e8=N']
        """
        actions: list[int] = self.legal_actions()
        places = {decode_action(action)[:2]: place for place, action in reversed(list(enumerate(actions)))}

        def order(action: int) -> tuple[int, int]:
            start, end, promotion = decode_action(action)
            return places[start, end], -_PROMOTIONS.index(promotion)

        return sorted(actions, key=order)

    def __str__(self) -> str:
        fen: str = self.fen()
        return fen

    def text_board(self) -> str:
        """The board for the terminal: White's men in capitals."""
        cells = [self.letters[8 * row + column] for row in reversed(range(8)) for column in range(8)]
        return draw.labelled(cells, "87654321", "abcdefgh")

    def svg(self, overlay: Overlay | None = None) -> str:
        by_cell = "".join(self.letters[_cell(cell)] for cell in range(64))  # `_cell` is its own inverse
        canvas = _draw_board(f"Chess endgame {self}", by_cell, str(self).split()[1] == "b", self.in_check)
        draw.draw_overlay(canvas, self, overlay, _centre)
        return canvas.render()

    def status(self) -> str:
        """Who is to move, with a check, or how the game ended, with the reason."""
        if self.ending:
            return f"{default_status(self)} ({self.ending})"
        return default_status(self) + (", in check" if self.in_check else "")


def _centre(cell: int) -> tuple[float, float]:
    return cell % 8 + 0.5 + draw.MARGIN, cell // 8 + 0.5 + draw.MARGIN


def _draw_board(title: str, letters: str, black_to_move: bool, in_check: bool = False) -> draw.Canvas:
    """The board with one letter per cell, from the top left one on."""
    canvas = draw.Canvas(8 + 2 * draw.MARGIN, 8 + 2 * draw.MARGIN, title)
    draw.checkerboard(canvas, 8, 8)
    # A small disc beside the board, at the mover's side, in the mover's colour.
    fill, y = (draw.INK, _centre(0)[1]) if black_to_move else ("#fdfbf6", _centre(63)[1])
    canvas.circle(8 + 1.5 * draw.MARGIN, y, 0.1, fill, extra=f'stroke="{draw.INK}" stroke-width="0.03"')
    canvas.pieces()
    for cell, letter in enumerate(letters):
        if letter == ".":
            continue
        x, y = _centre(cell)
        if in_check and letter == ("k" if black_to_move else "K"):
            canvas.circle(x, y, 0.47, draw.HIGHLIGHTS["bad"], extra='fill-opacity="0.6" pointer-events="none"')
        draw.chess_piece(canvas, x, y, letter.upper(), white=letter.isupper())
    return canvas


def to_pgn(start: EndgamesState, actions: Sequence[int], players: tuple[str, str] = ("?", "?"), date: str = "") -> str:
    """A game in Portable Game Notation, as chess programs read it.

    >>> state = Endgames("KQK").parse_state("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
    >>> print(to_pgn(state, [state.parse_action("Qb2#")], ("Rookery", "nobody")).splitlines()[-1])
    1. Qb2# 1-0
    """
    state, words = start.clone(), []
    for i, action in enumerate(actions):
        if state.player() == 0:
            words.append(f"{state.fullmove_number}.")
        elif i == 0:
            words.append(f"{state.fullmove_number}...")
        words.append(state.action_name(action))
        state.apply(action)
    white = state.returns()[0]
    result = "*" if state.ending is None else "1-0" if white > 0 else "0-1" if white < 0 else "1/2-1/2"
    tags = {
        "Event": "Rookery", "Site": "?", "Date": date.replace("-", ".") or "????.??.??", "Round": "?",
        "White": players[0], "Black": players[1], "Result": result, "SetUp": "1", "FEN": str(start),
    }  # fmt: skip
    head = "\n".join(f'[{name} "{_quoted(value)}"]' for name, value in tags.items())
    return f"{head}\n\n{textwrap.fill(' '.join([*words, result]), 79)}\n"


_PGN_TOKEN = re.compile(
    r"""
      (?P<skip>\s+ | \{[^}]*\} | ;[^\n]* | \$[0-9]+ | [0-9]+\.+)   # comments, annotations and move numbers
    | \[\s*(?P<tag>\w+)\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*\]
    | (?P<result>1-0|0-1|1/2-1/2|\*)(?=\s|\Z)
    | (?P<parenthesis>[()])
    | (?P<move>[A-Za-z][^\s(){};$]*)
    | (?P<other>.)
    """,
    re.VERBOSE,
)


def from_pgn(game: Endgames, text: str) -> tuple[str, list[int]]:
    """The start and the actions of the first game of a PGN file; comments and variations are left out."""
    start: str | None = None
    state: EndgamesState | None = None
    actions: list[int] = []
    variations = 0
    for token in _PGN_TOKEN.finditer(text.removeprefix("\ufeff")):
        kind = token.lastgroup
        if token[0] in ("{", "["):
            raise ValueError(f"a comment or tag is not closed: {text[token.start() :][:40]!r}")
        if kind == "parenthesis":
            variations += 1 if token[0] == "(" else -1
            if variations < 0:
                raise ValueError("a variation is closed that was not opened")
        elif kind == "skip" or variations:
            continue
        elif kind == "value":
            if state is not None:
                break  # the next game begins
            if token["tag"] == "FEN":
                start = str(game.parse_state(token["value"]))
        elif kind == "result":
            break
        elif kind == "move":
            if start is None:
                raise ValueError("the game has no tag FEN: it does not start from an endgame")
            state = state or game.parse_state(start)
            action = state.parse_action(token["move"].rstrip("!?"))
            state.apply(action)
            actions.append(action)
        else:
            raise ValueError(f"expected a move or a result, not {text[token.start() :][:40]!r}")
    if start is None:
        raise ValueError("the game has no tag FEN: it does not start from an endgame")
    return start, actions


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _cell(square: int) -> int:
    return square ^ 56  # the ranks are numbered from below, the rows from above


def _square_name(square: int) -> str:
    return "abcdefgh"[square % 8] + str(square // 8 + 1)
