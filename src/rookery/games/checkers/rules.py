"""Checkers (English draughts): Black, player 0, moves first; captures are compulsory; who cannot move has lost.

>>> game = Checkers()
>>> state = game.initial_state()
>>> [state.action_name(a) for a in state.legal_actions()]
['9-13', '10-14', '11-15', '12-16', '9-14', '10-15', '11-16']
>>> for move in "11-15 22-18 15x22 25x18".split():
...     state.apply(state.parse_action(move))
>>> str(state)
'B:W18,21,23,24,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,12'

Squares have the standard numbers 1 to 32, which is the index of the Q-learning paper plus one: Black starts on 1 to 12,
drawn on top, White on 21 to 32. In overlays and `action_cells` a square's cell is its number less one. The text form is
draughts FEN, the notation of moves and games is PDN.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from rookery import _native, draw
from rookery.game import TERMINAL, Level, NativeGame, Overlay, Randomness, Record, native_state, no_such_action, uniform

INITIAL_FEN = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12"


class Checkers(NativeGame):
    """Checkers with a choice of what draws a game; 0 and False turn a rule off.

    `repetition`: occurrences of one position with the same side to move. `quiet_limit`: plies without a capture.
    `forty_move_rule`: 40 moves by each side without a capture or a move of a man, as the World Checkers
    Draughts Federation has it. Whatever the rules, 100,000 plies without a capture are a draw, so that every game ends.
    `start`: the position that games begin in, such as an ending.
    """

    name = "checkers"
    blurb = "English draughts: captures are compulsory."
    history_matters = True
    sides = ("Black", "White")
    bottom = 1
    variants = MappingProxyType(
        {
            "standard": {},  # the draws of the Q-learning paper
            "wcdf": {"quiet_limit": 0, "forty_move_rule": True},
            "no-draws": {"repetition": 0, "quiet_limit": 0},
            "two-kings": {"start": "B:WK1:BK31,K32"},  # two kings win against one
        }
    )

    def __init__(
        self, repetition: int = 3, quiet_limit: int = 100, forty_move_rule: bool = False, start: str = INITIAL_FEN
    ) -> None:
        self.repetition, self.quiet_limit, self.forty_move_rule = repetition, quiet_limit, forty_move_rule
        super().__init__(_native.checkers.Rules(repetition, quiet_limit, forty_move_rule))
        self.start = str(self.parse_state(start))

    def initial_state(self) -> CheckersState:
        return CheckersState(self) if self.start == INITIAL_FEN else self.parse_state(self.start)

    def parse_state(self, text: str) -> CheckersState:
        """Read draughts FEN: the side to move, then the squares of each side, kings marked K.

        Ranges, either order of the sides, spaces, small letters and a dot at the end are accepted.

        >>> str(Checkers().parse_state("w:b k5, 1-3 : w 21-23,K30 ."))
        'W:W21,22,23,K30:B1,2,3,K5'
        """
        parts = [part.strip() for part in text.strip().removesuffix(".").upper().split(":")]
        if len(parts) != 3 or parts[0] not in ("B", "W") or sorted(part[:1] for part in parts[1:]) != ["B", "W"]:
            raise ValueError(f"expected draughts FEN such as 'B:W21,22,K30:B1,2,K5', not {text[:80]!r}")
        squares: dict[str, list[int]] = {}
        kings: list[int] = []
        for part in parts[1:]:
            squares[part[0]] = []
            for square, king in _fen_squares(part[1:].strip()):
                squares[part[0]].append(square)
                if king:
                    kings.append(square)
        return CheckersState(self, squares["B"], squares["W"], kings, "BW".index(parts[0]))

    def random_start(self, rng: Randomness = None) -> CheckersState:
        """The position after two random plies; where games start from an ending, its pieces on random squares.

        >>> state = Checkers(start="B:WK1:BK31,K32").random_start()
        >>> len(state.black), len(state.white), len(state.kings)
        (2, 1, 3)
        """
        state = self.initial_state()
        if self.start != INITIAL_FEN:
            kings = [square in state.kings for square in (*state.black, *state.white)]
            while True:
                squares = sorted(range(1, 33), key=lambda _: uniform(rng))[: len(kings)]
                black, white = squares[: len(state.black)], squares[len(state.black) :]
                crowned = [square for square, king in zip(squares, kings, strict=True) if king]
                with contextlib.suppress(ValueError):  # a man cannot stand where it would be crowned
                    found = CheckersState(self, black, white, crowned, state.side)
                    if found.player() != TERMINAL:
                        return found
        for _ in range(2):
            actions = state.legal_actions()
            state.apply(actions[int(uniform(rng) * len(actions))])
        return state

    def levels(self) -> Sequence[Level]:
        """Opponents from a beginner to a master: `best:level=1` to `best:level=8`."""
        from rookery.games.checkers.levels import LEVELS

        return [Level(s.name, f"best:level={n}", s.elo, s.about) for n, s in enumerate(LEVELS, 1)]

    def record(self, start: str, actions: Sequence[int], players: Sequence[str], date: str = "") -> Record:
        """A whole game in PDN."""
        state = self.parse_state(start)
        for action in actions:
            state.apply(action)
        result = state.returns()[0] if state.player() == TERMINAL else None
        headers = {"Event": "Rookery", "Date": date.replace("-", "."), "Black": players[0], "White": players[1]}
        headers = {name: value for name, value in headers.items() if value}
        return Record(format_pdn([PdnGame(actions, result, headers, start)]), "pdn")

    def parse_record(self, text: str) -> tuple[str, list[int]]:
        """A start and the actions after it, from draughts FEN or from the first game of a PDN file.

        >>> Checkers().parse_record("B:W21,K30:B1")
        ('B:W21,K30:B1', [])
        >>> start, actions = Checkers().parse_record("1. 11-15 22-18 *")
        >>> start == INITIAL_FEN, [decode_action(action)[0] for action in actions]
        (True, [[11, 15], [22, 18]])
        """
        if "[" not in text and not re.search(r"[0-9]\s*\.+\s*[0-9]", text):
            return str(self.parse_state(text)), []
        games = parse_pdn(text)
        if not games:
            raise ValueError("the text holds no game")
        state = self.parse_state(games[0].start)
        for number, action in enumerate(games[0].actions):
            if state.player() == TERMINAL:
                raise ValueError(f"by the rules of this variant the game is over after {number} plies")
            state.apply(action)
        return games[0].start, list(games[0].actions)

    def pieces(self) -> dict[str, str]:
        return {"B": "Black man", "KB": "Black king", "W": "White man", "KW": "White king", ".": "Nothing"}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """Draughts FEN after a piece is put on a cell, or the turn is given to the other side.

        >>> Checkers().with_piece("B:W21,K30:B1", 0, "KW")
        'B:WK1,21,K30:B'
        >>> Checkers().with_piece("B:W21,K30:B1", 0, "turn")
        'W:W21,K30:B1'
        """
        side, *parts = text.split(":")
        if piece == "turn":
            return ":".join(["W" if side == "B" else "B", *parts])
        squares = {part[0]: [square for square in part[1:].split(",") if square] for part in parts}
        for colour, others in squares.items():
            squares[colour] = [square for square in others if square.lstrip("K") != str(cell + 1)]
        if piece != ".":
            squares[piece[-1]].append(f"{'K' * (len(piece) > 1)}{cell + 1}")
        written = {c: ",".join(sorted(found, key=lambda s: int(s.lstrip("K")))) for c, found in squares.items()}
        return f"{side}:W{written['W']}:B{written['B']}"

    def sketch(self, text: str) -> str:
        """The board of a draughts FEN, whatever stands on it.

        >>> Checkers().sketch("B:W:B").count("data-cell")
        32
        """
        match = re.fullmatch(r"([BW]):W([0-9K,]*):B([0-9K,]*)", text.strip())
        if not match:
            raise ValueError(f"expected a position such as B:W21,K30:B1, not {text[:80]!r}")
        white, black = (list(_fen_squares(part)) for part in (match[2], match[3]))
        kings = {square for square, king in white + black if king}
        pieces = [[square for square, _ in side] for side in (black, white)]
        return _draw_board(f"Checkers {text}", pieces[0], pieces[1], kings).render(48)


def _fen_squares(text: str) -> Iterator[tuple[int, bool]]:
    """The squares of one side in FEN, each with whether a king stands on it."""
    seen = set()
    for item in text.split(",") if text else ():
        match = re.fullmatch(r"\s*(K?)\s*([0-9]{1,2})(?:\s*-\s*([0-9]{1,2}))?\s*", item)
        if not match:
            raise ValueError(f"expected a square, K and a square, or a range such as 21-32, not {item[:80]!r}")
        first = int(match[2])
        last = int(match[3] or first)
        if not 1 <= first <= last <= 32:
            raise ValueError(f"squares are 1 to 32 and ranges go up, not {item.strip()}")
        for square in range(first, last + 1):
            if square in seen:
                raise ValueError(f"square {square} is named twice")
            seen.add(square)
            yield square, bool(match[1])


def decode_action(action: int) -> tuple[list[int], list[int]]:
    """The squares a move visits, first to last, and the squares it captures on.

    >>> decode_action(encode_action([22, 15, 8]))
    ([22, 15, 8], [18, 11])
    """
    path, captured = _native.checkers.decode(action)
    return path, captured


def encode_action(path: Sequence[int]) -> int:
    """The action that visits these squares: two neighbours for a step, else the start and every landing of a capture.

    >>> encode_action([11, 15]), encode_action([22, 15])
    (9, 162)
    """
    action: int = _native.checkers.encode(list(path))
    return action


_MOVE = re.compile(r"[0-9]{1,2}(?: ?[-xX: ] ?[0-9]{1,2}){1,9} ?[!?]*")


def _name(path: Sequence[int], capture: bool) -> str:
    return ("x" if capture else "-").join(map(str, path))


@native_state
class CheckersState(_native.checkers.State):
    """A position and how the game came near a draw: `black`, `white`, `kings` (squares), `side`, `quiet_plies`,
    `reversible_plies`, `occurrences`."""

    game: Checkers

    def action_name(self, action: int) -> str:
        """The move in PDN, captures with their full path: 11-15, 22x15, 22x15x8."""
        path, captured = decode_action(action)
        return _name(path, bool(captured))

    def parse_action(self, text: str) -> int:
        """The legal move that a text names: every square of its path, or start and end where they leave no doubt.

        `-`, `x`, `:` or a space stands between the squares, whether or not the move captures.

        >>> state = Checkers().parse_state("W:W22,K31:B11,18,27")
        >>> [state.action_name(a) for a in state.legal_actions()]
        ['22x15x8', '31x24']
        >>> {state.action_name(state.parse_action(text)) for text in ("22x15x8", "22-15-8", "22 x 8", "22-8")}
        {'22x15x8'}
        """
        if not _MOVE.fullmatch(" ".join(text.split())):
            raise ValueError(f"expected a move such as 11-15, 22x15 or 22x15x8, not {text[:80]!r}")
        squares = [int(square) for square in re.findall("[0-9]+", text)]
        paths = {action: decode_action(action) for action in self.legal_actions()}
        exact: list[int] = [action for action, (path, _) in paths.items() if path == squares]
        ends: list[int] = [action for action, (path, _) in paths.items() if [path[0], path[-1]] == squares]
        # Paths that capture the same pieces are one move in all but name.
        if not exact and len({frozenset(paths[action][1]) for action in ends}) != 1:
            raise no_such_action(self, text, ends)
        return (exact or ends)[0]

    def action_cells(self, action: int) -> list[int]:
        """The cells the piece visits; a cell is the number of its square less one."""
        return [square - 1 for square in decode_action(action)[0]]

    def __str__(self) -> str:
        kings = set(self.kings)

        def pieces(squares: list[int]) -> str:
            men = [str(square) for square in squares if square not in kings]
            return ",".join(men + [f"K{square}" for square in squares if square in kings])

        return f"{'BW'[self.side]}:W{pieces(self.white)}:B{pieces(self.black)}"

    def text_board(self) -> str:
        """The board for the terminal: every dark square with its number and what stands on it.

        >>> print(Checkers().parse_state("B:W18,K10:B1,K5,11").text_board())
               1b    2.    3.    4.
            5B    6.    7.    8.
               9.   10W   11b   12.
           13.   14.   15.   16.
              17.   18w   19.   20.
           21.   22.   23.   24.
              25.   26.   27.   28.
           29.   30.   31.   32.
        """
        kings = set(self.kings)
        letters = dict.fromkeys(range(1, 33), ".")
        for letter, squares in (("b", self.black), ("w", self.white)):
            letters |= {square: letter.upper() if square in kings else letter for square in squares}
        rows = ["".join(f"{square:5}{letters[square]}" for square in range(4 * r + 1, 4 * r + 5)) for r in range(8)]
        return "\n".join(("   " if row % 2 == 0 else "") + text for row, text in enumerate(rows))

    def svg(self, overlay: Overlay | None = None) -> str:
        canvas = _draw_board(f"Checkers {self}", self.black, self.white, set(self.kings))
        draw.draw_overlay(canvas, self, overlay, _centre)
        return canvas.render(48)


_MARGIN = 0.3


def _centre(cell: int) -> tuple[float, float]:
    row, place = divmod(cell, 4)
    return _MARGIN + 2 * place + (row % 2 == 0) + 0.5, _MARGIN + row + 0.5


def _draw_board(title: str, black: Iterable[int], white: Iterable[int], kings: set[int]) -> draw.Canvas:
    canvas = draw.Canvas(8 + 2 * _MARGIN, 8 + 2 * _MARGIN, title)
    canvas.rect(_MARGIN, _MARGIN, 8, 8, draw.LIGHT)
    for cell in range(32):
        x, y = _centre(cell)
        canvas.rect(x - 0.5, y - 0.5, 1, 1, draw.DARK, cell)
        canvas.text(x - 0.37, y - 0.4, str(cell + 1), 0.16, draw.INK, 'fill-opacity="0.55" pointer-events="none"')
    canvas.pieces()
    for is_white, squares in enumerate((black, white)):
        for square in squares:
            _draw_piece(canvas, *_centre(square - 1), bool(is_white), square in kings)
    edge = f'stroke="{draw.LINE}" stroke-width="0.04" pointer-events="none"'
    canvas.rect(_MARGIN, _MARGIN, 8, 8, "none", extra=edge)
    return canvas


_CROWN = ((-0.19, 0.15), (-0.23, -0.13), (-0.1, -0.01), (0, -0.19), (0.1, -0.01), (0.23, -0.13), (0.19, 0.15))


def _draw_piece(canvas: draw.Canvas, x: float, y: float, white: bool, king: bool) -> None:
    fill, detail = ("#fdfbf6", draw.INK) if white else (draw.INK, "#fdfbf6")
    kind = "mMkK"[white + 2 * king]
    canvas.add(f'<g pointer-events="none" data-upright="{x:g} {y:g}" data-piece="{kind}">')
    canvas.circle(x, y, 0.36, fill, extra=f'stroke="{draw.INK}" stroke-width="0.045"')
    canvas.circle(x, y, 0.285, "none", extra=f'stroke="{detail}" stroke-width="0.02" stroke-opacity="0.75"')
    if king:
        points = " ".join(f"{x + dx:.3f},{y + dy:.3f}" for dx, dy in _CROWN)
        canvas.add(f'<polygon points="{points}" fill="{detail}" stroke="{detail}" stroke-width="0.03" '
                   'stroke-linejoin="round"/>')  # fmt: skip
    canvas.add("</g>")


@dataclass(frozen=True)
class PdnGame:
    """One game of a PDN file."""

    actions: Sequence[int] = ()
    result: float | None = None
    """1.0 if Black won, -1.0 if White won, 0.0 for a draw, None if unknown."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The tags, without Result, FEN and SetUp: those are the other fields."""
    start: str = INITIAL_FEN


_RULES_OF_PDN = Checkers(**Checkers.variants["no-draws"])  # players may go on where a draw could be claimed

_TOKEN = re.compile(
    r"""
      (?P<skip>\s+ | \{[^}]*\} | ;[^\n]* | \$[0-9]+ | [0-9]+\.+)   # comments, annotations and move numbers
    | \[\s*(?P<tag>[A-Za-z0-9_]+)\s*"(?P<value>(?:[^"\\]|\\.)*)"\s*\]
    | (?P<result>1-0|0-1|1/2-1/2|\*)(?=[\s{;(\[]|\Z)
    | (?P<move>[0-9]{1,2}(?:[-x:][0-9]{1,2})+)[!?*]*(?=[\s{};()\[$]|\Z)
    | (?P<parenthesis>[()])
    | (?P<word>[^\s(){};\[]+ | .)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_pdn(text: str, black_win: str = "0-1") -> list[PdnGame]:
    """The games of a PDN file; comments and variations are left out.

    `black_win` says how the file writes that Black won: some collections write 0-1, others 1-0, because Black moves
    first. A move that is not legal raises ValueError and names the game and the move.

    >>> [game] = parse_pdn('[Event "Example"] 1. 11-15 {Old Faithful} 23-19 2. 8-11 22-17 *')
    >>> game.headers, len(game.actions), game.result
    ({'Event': 'Example'}, 4, None)
    """
    results = _results(black_win)
    text = text.removeprefix("\ufeff")  # the byte order mark of some files
    games: list[PdnGame] = []
    reader = _GameReader(1)
    variations = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "skip":
            continue
        if kind == "parenthesis":
            variations += 1 if token[0] == "(" else -1
            if variations < 0:
                raise ValueError(f"{reader.place()}: a variation is closed that was not opened")
        elif token[0] in "{[":
            raise ValueError(f"{reader.place()}: a comment or tag is not closed: {text[token.start() :][:40]!r}")
        elif variations:
            continue
        elif kind == "value":
            if reader.moving:
                games.append(reader.finish(results, None))
                reader = _GameReader(len(games) + 1)
            reader.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"], flags=re.DOTALL)
        elif kind == "move":
            reader.move(token["move"])
        elif kind == "result":
            games.append(reader.finish(results, token["result"]))
            reader = _GameReader(len(games) + 1)
        else:
            raise ValueError(f"{reader.place()}: expected a move or a result, not {token[0][:40]!r}")
    if variations:
        raise ValueError(f"{reader.place()}: a variation is not closed")
    if reader.tags or reader.moving:
        games.append(reader.finish(results, None))
    return games


class _GameReader:
    """The game being read: its tags, and once the moves have begun the position reached."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.tags: dict[str, str] = {}
        self.actions: list[int] = []
        self.moving = False

    def place(self) -> str:
        if not self.moving:
            return f"game {self.number}"
        number = (len(self.actions) + self.first_side) // 2 + 1
        return f"game {self.number}, move {number} of {('Black', 'White')[self.state.side]}"

    def begin(self) -> None:
        game_type = self.tags.get("GameType", "21").split(",")[0].strip()
        if game_type != "21":
            raise ValueError(f"{self.place()}: its type is {game_type[:20]}, not English draughts, which is 21")
        fen = self.tags.pop("FEN", None)
        if self.tags.pop("SetUp", "1").strip() == "0":
            fen = None
        self.state, self.start = _RULES_OF_PDN.initial_state(), INITIAL_FEN
        if fen is not None:
            try:
                self.state = _RULES_OF_PDN.parse_state(fen)
            except ValueError as error:
                raise ValueError(f"{self.place()}: {error}") from None
            self.start = str(self.state)
        self.first_side = self.state.side
        self.moving = True

    def move(self, text: str) -> None:
        if not self.moving:
            self.begin()
        try:
            action = self.state.parse_action(text)
        except ValueError as error:
            raise ValueError(f"{self.place()}: {error}") from None
        self.state.apply(action)
        self.actions.append(action)

    def finish(self, results: Mapping[str, float | None], result: str | None) -> PdnGame:
        if not self.moving:
            self.begin()
        from_tag = self.tags.pop("Result", "*").strip()
        result = result or from_tag
        if result not in results:
            raise ValueError(f"game {self.number}: unknown result {result[:20]!r}; known: {', '.join(results)}")
        return PdnGame(self.actions, results[result], self.tags, self.start)


def format_pdn(games: Iterable[PdnGame], black_win: str = "0-1") -> str:
    """The games as PDN, which `parse_pdn` with the same `black_win` reads back.

    >>> print(format_pdn([PdnGame([encode_action([11, 15]), encode_action([22, 18])], 0.0, {"Event": "Example"})]))
    [Event "Example"]
    [Result "1/2-1/2"]
    <BLANKLINE>
    1. 11-15 22-18 1/2-1/2
    <BLANKLINE>
    """
    names = {value: name for name, value in _results(black_win).items()}
    return "\n".join(_format_game(game, names) for game in games)


def _format_game(game: PdnGame, names: Mapping[float | None, str]) -> str:
    if game.result not in names:
        raise ValueError(f"a result is 1.0 (Black won), -1.0, 0.0 or None, not {game.result!r}")
    state = _RULES_OF_PDN.parse_state(game.start)
    tags = {**game.headers, "Result": names[game.result]}
    if str(state) != INITIAL_FEN:
        tags |= {"SetUp": "1", "FEN": str(state)}
    words: list[str] = []
    for ply, action in enumerate(game.actions, start=state.side):
        if ply % 2 == 0 or not words:
            words.append(f"{ply // 2 + 1}." if ply % 2 == 0 else "1...")
        state.apply(action)
        words.append(state.action_name(action))
    lines = []
    for name, value in tags.items():
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            raise ValueError(f"the name of a tag has letters, digits and underscores only, not {name[:40]!r}")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name} "{escaped}"]')
    return "\n".join([*lines, "", *_wrap([*words, names[game.result]], 79), ""])


def _wrap(words: Iterable[str], width: int) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _results(black_win: str) -> dict[str, float | None]:
    if black_win not in ("1-0", "0-1"):
        raise ValueError(f"black_win is '1-0' or '0-1', not {black_win!r}")
    return {black_win: 1.0, "1-0" if black_win == "0-1" else "0-1": -1.0, "1/2-1/2": 0.0, "*": None}
