"""Setting up a position by hand: what can be put on a board, and the text after it is put there.

Cells are those of the drawing. The new text may be no position of the game; its parser says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rookery.game import Game
from rookery.games.checkers.rules import Checkers
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.tenten.rules import TenTen

EMPTY = "."
TURN = "turn"
"""Asked for like a piece: the other side is to move."""

_NAMES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}


@dataclass(frozen=True)
class Editor:
    pieces: dict[str, str]
    """What can be put on a cell, with what people call it."""
    place: Callable[[str, int, str], str]
    """The text after a piece is put on a cell."""


def editor(game: Game) -> Editor | None:
    """How positions of a game are set up by hand; None if they can only be written."""
    if isinstance(game, SolitaireChess):
        pieces = {letter: name.capitalize() for letter, name in _NAMES.items()}
        return Editor({**pieces, EMPTY: "Nothing"}, lambda text, cell, piece: _place_in_rows(text, cell, piece))
    if isinstance(game, TenTen):
        hand = {name: f"In the hand: {name}" for name in game.piece_names}
        return Editor({"#": "A block", EMPTY: "Nothing", **hand}, lambda *what: _place_in_tenten(game, *what))
    if isinstance(game, Checkers):
        names = {"B": "Black man", "KB": "Black king", "W": "White man", "KW": "White king"}
        return Editor({**names, EMPTY: "Nothing"}, _place_in_checkers)
    if game.name == "endgames":
        white = {letter: f"White {name}" for letter, name in _NAMES.items()}
        black = {letter.lower(): f"Black {name}" for letter, name in _NAMES.items()}
        return Editor({**white, **black, EMPTY: "Nothing"}, _place_in_fen)
    return None


def _place_in_rows(text: str, cell: int, piece: str) -> str:
    """Rows of letters joined by `/`; a letter may be followed by a number.

    >>> _place_in_rows("R2../.B", 1, "Q")
    'R2Q./.B'
    """
    found = 0
    squares = []
    for square in re.findall(r"/|[^/0-9][0-9]*", text):
        squares.append(piece if square != "/" and found == cell else square)
        found += square != "/"
    return "".join(squares)


def _place_in_tenten(game: TenTen, text: str, cell: int, piece: str) -> str:
    board, _, hand = text.partition(" ")
    size = game.rows * game.columns
    if piece in game.piece_names:
        slots = hand.split(",") if hand else ["?"] * game.hand
        slots[max(0, cell - size)] = piece
        # What comes before a drawn piece is drawn or placed.
        slots = ["-" if slot == "?" and piece in slots[i:] else slot for i, slot in enumerate(slots)]
        return f"{board} {','.join(slots)}"
    return f"{_place_in_rows(board, cell, piece)} {hand}".strip() if cell < size else text


def _place_in_checkers(text: str, cell: int, piece: str) -> str:
    """Draughts FEN.

    >>> _place_in_checkers("B:W21,K30:B1", 0, "KW")
    'B:WK1,21,K30:B'
    >>> _place_in_checkers("B:W21,K30:B1", 0, "turn")
    'W:W21,K30:B1'
    """
    side, *parts = text.split(":")
    if piece == TURN:
        return ":".join(["W" if side == "B" else "B", *parts])
    squares = {part[0]: [square for square in part[1:].split(",") if square] for part in parts}
    for colour in squares:
        squares[colour] = [square for square in squares[colour] if square.lstrip("K") != str(cell + 1)]
    if piece != EMPTY:
        squares[piece[-1]].append(f"{'K' * (len(piece) > 1)}{cell + 1}")
    written = {c: ",".join(sorted(found, key=lambda s: int(s.lstrip("K")))) for c, found in squares.items()}
    return f"{side}:W{written['W']}:B{written['B']}"


def _place_in_fen(text: str, cell: int, piece: str) -> str:
    """FEN. A side has one king, so putting it somewhere moves it.

    >>> _place_in_fen("8/8/8/4k3/8/8/8/R3K3 w - - 7 9", 59, "K")
    '8/8/8/4k3/8/8/8/R2K4 w - - 0 1'
    """
    board, side = text.split()[:2]
    squares = re.sub(r"[1-8]", lambda match: EMPTY * int(match[0]), board).split("/")
    letters = list("".join(squares))
    if piece == TURN:
        side = "b" if side == "w" else "w"
    else:
        if piece in "Kk":
            letters = [EMPTY if letter == piece else letter for letter in letters]
        letters[cell] = piece
    rows = ["".join(letters[i : i + 8]) for i in range(0, 64, 8)]
    short = [re.sub(r"\.+", lambda match: str(len(match[0])), row) for row in rows]
    return f"{'/'.join(short)} {side} - - 0 1"


def edit(game: Game, text: str, cell: int, piece: str) -> str:
    """The position after one change, as text; ValueError if there is no such change or no such position."""
    how = editor(game)
    if how is None or (piece not in how.pieces and not (piece == TURN and game.players == 2)):
        raise ValueError(f"{piece[:20]!r} cannot be put on a board of {game.name}")
    state = game.parse_state(text)
    if not 0 <= cell < 200:
        raise ValueError(f"there is no cell {cell}")
    try:
        return str(game.parse_state(how.place(str(state), cell, piece)))
    except IndexError:
        raise ValueError(f"there is no cell {cell}") from None
