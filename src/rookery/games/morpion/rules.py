r"""Morpion Solitaire: add a dot, draw a line through it and the dots beside it, and go on as long as you can.

>>> game = Morpion()  # 5D: lines of 5 dots, disjoint
>>> state = game.initial_state()
>>> len(state.legal_actions())
28
>>> state = game.parse_state(r"(28,28);(27,27) / 0;(31,35) | -2")
>>> [state.action_name(action) for action in state.moves]
['(27,27) / 0', '(31,35) | -2']
>>> verify(state.psol())
Verification(legal=True, terminal=False, score=2, first_illegal=None)
>>> verify("(28,28)\n(27,27) / 0\n(26,26) / 0").first_illegal
'line 3: move 2, (26,26) / 0, is not legal: there is no dot at (24,28)'

Notation is that of Pentasol: a move is `(column,row) direction offset`: the new dot, the line's direction (`-`, `|`,
`/` or `\`, with steps right, down, right and up, right and down) and how many steps the line's middle dot lies from
the new one. `(28,28)` is the reference dot, the upper left inner corner of the cross. A line of 4 dots has no middle
dot: there its third one counts. The text form of a position is its `.psol` record on one line, `;` between the moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import unescape
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rookery import _native, draw
from rookery.game import TERMINAL, Level, NativeGame, Overlay, Record, native_state
from rookery.games.morpion.referee import Referee

DIRECTIONS = "-|/\\"
STEPS = ((1, 0), (0, 1), (1, -1), (1, 1))
"""Columns and rows from one dot of a line to the next, by direction."""

RECORDS = MappingProxyType({"5D": 82, "5T": 178, "4D": 35, "4T": 62})
"""The longest games known to anybody."""
UPPER_BOUNDS = MappingProxyType({"5D": 84, "5T": 485, "4D": 35, "4T": 62})
"""No game is longer: proven. So the records of 4D and 4T stand for ever."""

_REFERENCE = 28
_MAX_TEXT = 1_000_000


class Move(NamedTuple):
    """A line and its new dot, with columns and rows of the board."""

    direction: int
    column: int
    row: int
    """Column and row are those of the first dot of the line."""
    position: int
    """Place of the new dot in the line, from 0."""


@dataclass(frozen=True)
class Verification:
    """What `verify` found."""

    legal: bool
    """Every move is legal."""
    terminal: bool
    """Every move is legal and no further one is possible."""
    score: int
    """Number of moves up to the first illegal one."""
    first_illegal: str | None
    """The first illegal move and why it is illegal; None if all are legal."""


class Morpion(NativeGame):
    """Morpion Solitaire from the Greek cross, with lines of `length` 5 (36 dots) or 4 (24 dots).

    Lines of one direction may share an end dot if `touching` (5T, 4T) and no dot otherwise (5D, 4D). With `board` the
    game is played on that many rows and columns, and lines that would leave them are not legal. Without it the grid is
    unlimited; 64 rows and columns of it are kept, and a game that came within 4 cells of their border would raise
    ValueError (the cross starts 27 cells from it, and the best known games go out 9).
    """

    name = "morpion"
    title = "Morpion Solitaire"
    blurb = "Add a dot, draw a line, and continue as long as you can."
    any_order = True
    draws_last_move = True
    unit = "moves"
    variants = MappingProxyType(
        {
            "5D": {"length": 5, "touching": False},
            "5T": {"length": 5, "touching": True},
            "4D": {"length": 4, "touching": False},
            "4T": {"length": 4, "touching": True},
        }
    )

    def __init__(self, length: int = 5, touching: bool = False, board: int | None = None) -> None:
        if board == 0:
            raise ValueError("the board must have 8 to 64 rows and columns, or be None for the unlimited grid")
        super().__init__(_native.morpion.Rules(length, touching, board or 0))
        self.length, self.touching, self.board = length, touching, board
        self.side: int = self.rules.side
        self.cross: list[int] = self.rules.cross
        # The cross is 3 * length - 5 dots wide.
        self._twice_centre: int = 2 * self.rules.corner + 3 * length - 6
        # The reference dot is where the arms of the cross meet, length - 2 cells from its left and top.
        self._shift: int = _REFERENCE - self.rules.corner - (length - 2)

    @property
    def lines(self) -> str:
        """What players call the rules for lines: 5D, 5T, 4D or 4T."""
        return f"{self.length}{'T' if self.touching else 'D'}"

    def initial_state(self) -> MorpionState:
        return MorpionState(self)

    def parse_state(self, text: str) -> MorpionState:
        """Read a `.psol` record, on one line or many, or a drawing that carries one; the moves are played and the first
        illegal one is an error."""
        state = self.initial_state()
        for written in _parse_record(_record_in(text)).moves:
            try:
                action = self._find(state, written.direction, written.dot, written.offset)
            except ValueError as error:
                raise ValueError(written.refusal(len(state.moves) + 1, str(error))) from None
            state.apply(action)
        return state

    def action_symmetries(self) -> list[list[int]]:
        """The seven ways to turn and mirror the cross, where it lies in the centre of the board.

        Planes of the observation show the steps of lines, not their dots, so that they are not simply turned.
        """
        if not self.rules.centred:
            return []
        actions = range(self.num_actions)
        return [[self.rules.transform(action, symmetry) for action in actions] for symmetry in range(1, 8)]

    def action_places(self) -> list[int]:
        """A plane for each direction and place of the new dot, over the first cell of the line."""
        cells = self.side * self.side
        lines, positions = np.divmod(np.arange(self.num_actions), self.length)
        directions, first = np.divmod(lines, cells)
        places: list[int] = ((directions * self.length + positions) * cells + first).tolist()
        return places

    def move(self, action: int) -> Move:
        """What an action number means.

        >>> Morpion(board=16).move(1402)
        Move(direction=1, column=8, row=1, position=2)
        """
        if not 0 <= action < self.num_actions:
            raise ValueError(f"actions are 0 to {self.num_actions - 1}, not {action}")
        line, position = divmod(action, self.length)
        direction, cell = divmod(line, self.side * self.side)
        row, column = divmod(cell, self.side)
        return Move(direction, column, row, position)

    def action(self, move: Move) -> int:
        """The number of a move, legal or not; its dots must lie on the board."""
        if not (0 <= move.direction < 4 and 0 <= move.position < self.length):
            raise ValueError(f"a direction is 0 to 3 and a position 0 to {self.length - 1}, not {move}")
        for column, row in self._dots(move):
            if not (0 <= column < self.side and 0 <= row < self.side):
                raise ValueError(f"the line leaves the board of {self.side} rows and columns")
        cell = move.row * self.side + move.column
        return (move.direction * self.side * self.side + cell) * self.length + move.position

    def line_cells(self, action: int) -> list[int]:
        """The cells of an action's line, from its first dot along its direction."""
        return [row * self.side + column for column, row in self._dots(self.move(action))]

    def _dots(self, move: Move) -> list[tuple[int, int]]:
        dx, dy = STEPS[move.direction]
        return [(move.column + i * dx, move.row + i * dy) for i in range(self.length)]

    def _point(self, column: int, row: int) -> str:
        return f"({column + self._shift},{row + self._shift})"

    def _move_text(self, move: Move) -> str:
        dot = self._point(*self._dots(move)[move.position])
        offset = self.length // 2 - move.position
        return f"{dot} {DIRECTIONS[move.direction]} {f'{offset:+}' if offset else '0'}"

    def _find(self, state: MorpionState, direction: str, dot: tuple[int, int], offset: int) -> int:
        """The legal action of a written move, its dot relative to the reference dot; ValueError says why not."""
        position = self.length // 2 - offset
        if not 0 <= position < self.length:
            raise ValueError(f"the line's middle lies {offset} steps from the new dot, outside the line")
        dx, dy = STEPS[DIRECTIONS.index(direction)]
        column, row = (i - self._shift - position * d for i, d in zip(dot, (dx, dy), strict=True))
        move = Move(DIRECTIONS.index(direction), column, row, position)
        problem = state.why_illegal(move)
        if problem is not None:
            raise ValueError(problem)
        return self.action(move)

    def levels(self) -> Sequence[Level]:
        """Measured by `python -m benchmarks.levels` in the variant 5D; of others nothing is told."""
        return _LEVELS if self.variant == "5D" else [replace(level, about="") for level in _LEVELS]

    def record(self, start: str, actions: Sequence[int], players: Sequence[str], date: str = "") -> Record:
        """A whole game as a Pentasol file."""
        state = self.parse_state(start)
        for action in actions:
            state.apply(action)
        return Record(state.psol(), "psol", one_per_file=True)

    def parse_record(self, text: str) -> tuple[str, list[int]]:
        """The empty cross and the actions of a record, since the text of a position is the whole game.

        >>> Morpion().parse_record("(28,28);(27,27) / 0")[0]
        '(28,28)'
        """
        return str(self.initial_state()), list(self.parse_state(text).moves)


_LEVELS = (
    Level("Guesser", "random", about="42 moves per game"),
    Level("Searcher", "mcts:simulations=100", about="61 moves per game"),
    Level("Nested search", "nmcs", about="67 moves per game"),
    Level("Adapted search", "nrpa", about="69 moves per game"),
    Level("Best known", "best", about="plays the game of 82 moves"),
)

_POINT = r"\(\s*(-?[0-9]{1,4})\s*,\s*(-?[0-9]{1,4})\s*\)"
_MOVE = re.compile(_POINT + r"\s*([-|/\\])\s*([+-]?[0-9])")
_HEADING = re.compile(r"#\s*Morpion Solitaire ([45][DT])(?:, ([0-9]{1,4}) moves)?")


class _WrittenMove(NamedTuple):
    """A move as it stands in a record, with its dot relative to the reference dot (28,28)."""

    line: int
    text: str
    direction: str
    dot: tuple[int, int]
    offset: int

    def refusal(self, number: int, problem: str) -> str:
        return f"line {self.line}: move {number}, {self.text}, is not legal: {problem}"


class _Record(NamedTuple):
    variant: str | None
    """What the heading says, if there is one."""
    moves: list[_WrittenMove]


def _parse_record(text: str) -> _Record:
    """The moves of a `.psol` record; what is none is refused with the line where that shows."""
    if len(text) > _MAX_TEXT:
        raise ValueError(f"a record has at most {_MAX_TEXT} characters, not {len(text)}")
    variant, promised = None, None
    reference: tuple[int, int] | None = None
    moves = []
    lines = [line.strip() for line in text.removeprefix("\ufeff").replace(";", "\n").splitlines()]
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            if heading := _HEADING.fullmatch(line):
                variant, promised = heading[1], heading[2] and int(heading[2])
        elif line and reference is None:
            point = re.fullmatch(_POINT, line)
            if not point:
                raise ValueError(f"line {number}: expected the reference dot, such as '(28,28)', not {line[:80]!r}")
            reference = int(point[1]), int(point[2])
        elif line:
            assert reference is not None
            match = _MOVE.fullmatch(line)
            if not match:
                raise ValueError(f"line {number}: expected a move such as '(27,27) / +1', not {line[:80]!r}")
            dot = int(match[1]) - reference[0] + _REFERENCE, int(match[2]) - reference[1] + _REFERENCE
            moves.append(_WrittenMove(number, line, match[3], dot, int(match[4])))
    if reference is None:
        raise ValueError(f"expected a record that starts with the reference dot, such as '(28,28)', not {text[:80]!r}")
    if promised is not None and promised != len(moves):
        raise ValueError(f"line {len(lines)}: the record ends after {len(moves)} moves; its heading says {promised}")
    return _Record(variant, moves)


def _embedded_record(svg: str) -> str:
    """The record in the metadata of one of our drawings. The text is searched, not parsed as XML: nothing in it is
    ever expanded or fetched."""
    if len(svg) > 10 * _MAX_TEXT:
        raise ValueError(f"a drawing has at most {10 * _MAX_TEXT} characters, not {len(svg)}")
    start, end = svg.find("<metadata>"), svg.find("</metadata>")
    if not 0 <= start < end:
        raise ValueError("the drawing carries no record: expected an SVG written by Rookery, with <metadata>")
    return unescape(svg[start + len("<metadata>") : end])


def _record_in(text: str) -> str:
    return _embedded_record(text) if text.lstrip("\ufeff \t\r\n").startswith("<") else text


def _open(text: str, variant: str | None, board: int | None) -> tuple[Morpion, str]:
    """The game that a file is about, and the record in it."""
    text = _record_in(text)
    if variant is None:
        variant = _parse_record(text).variant or "5D"
    if variant not in Morpion.variants:
        raise ValueError(f"unknown variant {variant!r} of morpion; known variants: {', '.join(Morpion.variants)}")
    return Morpion(**Morpion.variants[variant], board=board), text


def read(text: str, variant: str | None = None, board: int | None = None) -> MorpionState:
    """The position of a `.psol` file or of a drawing made by `MorpionState.svg`; the first illegal move is an error.

    Without `variant` the one that the file names counts, and 5D where none is named.
    """
    game, record = _open(text, variant, board)
    return game.parse_state(record)


def verify(text: str, variant: str | None = None, board: int | None = None) -> Verification:
    """Say whether every move of a record is legal and the game is over, by the slow rules of the referee.

    The arguments are those of `read`. A text that is no record raises ValueError.
    """
    game, record = _open(text, variant, board)
    referee = Referee(game.length, game.touching, game.board)
    moves = _parse_record(record).moves
    for number, written in enumerate(moves, start=1):
        move = written.direction, written.dot, written.offset
        problem = referee.why_illegal(*move)
        if problem is not None:
            return Verification(False, False, number - 1, written.refusal(number, problem))
        referee.play(*move)
    return Verification(True, referee.is_over(), len(moves), None)


@native_state
class MorpionState(_native.morpion.State):
    """A position and how it came about: `moves` lists the actions played. Positions with the same lines are equal."""

    game: Morpion

    def action_name(self, action: int) -> str:
        return self.game._move_text(self.game.move(action))

    def parse_action(self, text: str) -> int:
        """The legal move that a text names in the notation of Pentasol; spaces and a plus sign may be left out.

        >>> state = Morpion().initial_state()
        >>> {state.action_name(state.parse_action(text)) for text in ("(30,28) - +2", "(30,28)-2", " ( 30 , 28 ) - 2")}
        {'(30,28) - +2'}
        """
        match = _MOVE.fullmatch(text.strip())
        if not match:
            raise ValueError(f"expected a move such as '(27,27) / +1', not {text[:80]!r}")
        try:
            return self.game._find(self, match[3], (int(match[1]), int(match[2])), int(match[4]))
        except ValueError as error:
            raise ValueError(f"{text.strip()} is not legal: {error}") from None

    def action_cells(self, action: int) -> list[int]:
        """The new dot and the end of the line farther from it (for the middle dot the end along the direction): these
        two tell the line. Cell = row * side + column."""
        cells = self.game.line_cells(action)
        position = action % self.game.length
        return [cells[position], cells[-1] if 2 * position < self.game.length else cells[0]]

    def preview_cells(self, action: int) -> list[int]:
        """The dots of the line, shown while the move is considered."""
        return self.game.line_cells(action)

    def action_line(self, action: int) -> tuple[int, int]:
        """The ends of the line."""
        cells = self.game.line_cells(action)
        return cells[0], cells[-1]

    def action_label(self, action: int) -> str:
        """The move in words.

        >>> state = Morpion().initial_state()
        >>> state.action_label(state.parse_action("(30,28) - +2"))
        'across from (30,28)'
        """
        move = self.game.move(action)
        column, row = self.game._dots(move)[move.position]
        way = ("across", "down", "rising", "falling")[move.direction]
        side = {0: "from", self.game.length - 1: "to"}.get(move.position, "through")
        return f"{way} {side} {self.game._point(column, row)}"

    def feats(self) -> list[str]:
        """Whether the game is as long as the longest known one, or longer.

        >>> Morpion().initial_state().feats()
        []
        """
        lines, count = self.game.lines, len(self.moves)
        if self.game.board is not None or count < RECORDS[lines]:
            return []
        if count > RECORDS[lines]:
            return [f"A new record of {lines}: {count} moves. The longest game known had {RECORDS[lines]}."]
        proven = " No game can be longer." if count == UPPER_BOUNDS[lines] else ""
        return [f"{count} moves equal the record of {lines}.{proven}"]

    def why_illegal(self, move: Move) -> str | None:
        """What stands against a move, in words; None if it is legal.

        >>> state = Morpion().initial_state()
        >>> state.why_illegal(Move(direction=0, column=31, row=27, position=4))
        'there is no dot at (32,25)'
        """
        game = self.game
        try:
            action = game.action(move)
        except ValueError as error:
            return str(error)
        if self.is_legal(action):
            return None
        cells = game.line_cells(action)
        dots = {*game.cross, *(self.action_cells(played)[0] for played in self.moves)}
        if cells[move.position] in dots:
            return "its dot is there already"
        for cell, point in zip(cells, game._dots(move), strict=True):
            if cell not in dots and cell != cells[move.position]:
                return f"there is no dot at {game._point(*point)}"
        for number, played in enumerate(self.moves, start=1):
            shared = set(cells) & set(game.line_cells(played))
            if game.move(played).direction == move.direction and len(shared) > game.touching:
                return f"it overlaps the line of move {number}"
        raise AssertionError("an illegal move must have a reason")

    def psol(self) -> str:
        """The game as the text of a Pentasol file: the reference dot, then one move per line."""
        moves = (self.action_name(action) for action in self.moves)
        return "\n".join((f"({_REFERENCE},{_REFERENCE})", *moves)) + "\n"

    def record(self, *remarks: str) -> str:
        """`psol` under remarks and a heading: the variant, and the number of moves, by which a cut file is noticed."""
        heading = f"Morpion Solitaire {self.game.lines}, {len(self.moves)} moves"
        return "".join(f"# {line}\n" for line in (heading, *remarks)) + self.psol()

    def __str__(self) -> str:
        return self.psol().strip().replace("\n", ";")

    def transformed(self, symmetry: int) -> MorpionState:
        """The same game seen in one of the `SYMMETRIES` of the cross.

        >>> game = Morpion()
        >>> str(game.parse_state("(28,28);(27,27) / 0").transformed(1))
        '(28,28);(32,27) \\\\ 0'
        """
        game = self.game
        other = game.initial_state()
        for action in self.moves:
            move = game.move(action)
            dots = [_turn(dot, symmetry, game._twice_centre) for dot in game._dots(move)]
            new, first, second = dots[move.position], min(dots), sorted(dots)[1]
            if first[0] == second[0]:  # a column: dots in the order of rows
                first, second = sorted(dots, key=lambda dot: dot[1])[:2]
            direction = STEPS.index((second[0] - first[0], second[1] - first[1]))
            position = max(abs(new[0] - first[0]), abs(new[1] - first[1]))
            other.apply(game.action(Move(direction, *first, position)))
        return other

    def svg(self, overlay: Overlay | None = None, remarks: Sequence[str] = ()) -> str:
        """The used part of the grid: the cross in black, moves as numbered dots, the last one marked. The drawing
        carries the game's record with the remarks, which `verify` reads."""
        return self._drawing(overlay, None, remarks)

    def animation(self, pause: float = 0.6) -> str:
        """The drawing with the moves appearing one by one, `pause` seconds apart, for ever. It has no script; what does
        not animate shows the whole grid."""
        return self._drawing(None, pause)

    def _drawing(self, overlay: Overlay | None, pause: float | None, remarks: Sequence[str] = ()) -> str:
        game, side = self.game, self.game.side
        numbers = {self.action_cells(action)[0]: i for i, action in enumerate(self.moves, start=1)}
        dots = [*game.cross, *numbers]
        left, right = _with_margin([cell % side for cell in dots], side)
        top, bottom = _with_margin([cell // side for cell in dots], side)
        title = f"Morpion Solitaire {game.lines}, {len(self.moves)} moves"
        canvas = draw.Canvas(right - left + 1, bottom - top + 1, title)

        def centre(cell: int) -> tuple[float, float]:
            return cell % side - left + 0.5, cell // side - top + 0.5

        for i in range(right - left + 1):
            canvas.line(i + 0.5, 0, i + 0.5, canvas.height, draw.LIGHT, 0.03)
        for i in range(bottom - top + 1):
            canvas.line(0, i + 0.5, canvas.width, i + 0.5, draw.LIGHT, 0.03)
        if game.board is not None:
            edge = f'stroke="{draw.LINE}" stroke-width="0.12"'
            canvas.rect(-left, -top, side, side, "none", extra=edge)
        if pause is not None:
            seconds = pause * (len(self.moves) + 8)  # the whole grid stays for a while
            canvas.add('<rect width="0" height="0"><animate id="round" attributeName="x" from="0" to="0" '
                       f'dur="{seconds:g}s" begin="0s;round.end"/></rect>')  # fmt: skip
        for number, action in enumerate(self.moves, start=1):
            last = number == len(numbers)
            cells = game.line_cells(action)
            colour = draw.ACCENT if last else _LINE_COLOURS[game.move(action).direction]
            round_ends = 'stroke-linecap="round"'
            with _hidden_before(canvas, number, pause):
                canvas.line(*centre(cells[0]), *centre(cells[-1]), colour, 0.14 if last else 0.09, round_ends)
        for cell in game.cross:
            canvas.circle(*centre(cell), 0.2, draw.INK)
        for cell, number in numbers.items():
            with _hidden_before(canvas, number, pause):
                _draw_numbered_dot(canvas, *centre(cell), number, number == len(numbers))
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                x, y = column - left, row - top
                canvas.rect(x, y, 1, 1, "none", row * side + column, 'pointer-events="all"')
        draw.draw_overlay(canvas, self, overlay, centre)
        return canvas.render(32, metadata=self.record(*remarks))

    def status(self) -> str:
        """The number of moves."""
        count = f"{len(self.moves)} move{'s' * (len(self.moves) != 1)}"
        return f"No line is left: {count}" if self.player() == TERMINAL else count

    def dots(self) -> list[int]:
        """The cells of all dots, those of the cross first."""
        return [*self.game.cross, *(self.action_cells(action)[0] for action in self.moves)]

    def text_board(self) -> str:
        """The used part of the grid in braille dots, with the coordinates of moves: those of columns above, one digit
        below the other, those of rows on the left. A cell is one row high and two characters wide.

        >>> print("\\n".join(Morpion(length=4).initial_state().text_board().splitlines()[:4]))
            2 2 2 2 2 3 3 3 3
            5 6 7 8 9 0 1 2 3
        25
        26        ⠁ ⠁ ⠁
        """
        game, side = self.game, self.game.side
        pixels = {(cell % side * _PIXELS, cell // side * _PIXELS) for cell in self.dots()}
        for action in self.moves:
            move = game.move(action)
            dx, dy = STEPS[move.direction]
            x, y = move.column * _PIXELS, move.row * _PIXELS
            pixels |= {(x + i * dx, y + i * dy) for i in range(_PIXELS * (game.length - 1) + 1)}
        rows, columns = [cell // side for cell in self.dots()], [cell % side for cell in self.dots()]

        def braille(row: int, column: int) -> str:
            bits = sum(_BITS[i][j] for i in range(4) for j in range(2) if (2 * column + j, _PIXELS * row + i) in pixels)
            return chr(0x2800 + bits) if bits else " "

        # One more row and column on every side: there, too, a dot may go.
        across, down = range(min(columns) - 1, max(columns) + 2), range(min(rows) - 1, max(rows) + 2)
        names = [f"{column + game._shift:2}" for column in across]
        head = [" " * LEFT + " ".join(name[digit] for name in names) for digit in (0, 1)]
        lines = [
            f"{row + game._shift:2}".ljust(LEFT)
            + "".join(braille(row, i) for i in range(2 * across[0], 2 * across[-1]))
            for row in down
        ]
        return "\n".join(line.rstrip() for line in head + lines)


LEFT, ABOVE = 4, 2
"""Characters before and lines above the first cell of the text board."""
_PIXELS = 4
"""Pixels from one cell to the next; a braille character is 2 pixels wide and 4 high."""
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille character, by row and column of the pixel."""


SYMMETRIES = (
    "as it is", "turned right", "turned upside down", "turned left",
    "mirrored left to right", "mirrored at the rising diagonal", "mirrored top to bottom",
    "mirrored at the falling diagonal",
)  # fmt: skip
"""The eight ways to lay the cross onto itself: four turns, and the same after mirroring left to right."""


def _turn(dot: tuple[int, int], symmetry: int, twice_centre: int) -> tuple[int, int]:
    """The place (column, row) of a dot after a symmetry; `twice_centre` is the sum of the first and the last column."""
    column, row = dot
    if symmetry >= 4:
        column = twice_centre - column
    for _ in range(symmetry % 4):
        column, row = twice_centre - row, column
    return column, row


@dataclass(frozen=True)
class Comparison:
    """Two grids, laid onto each other so that they share as many lines as possible."""

    same: bool
    """The same lines: at most the order of the moves differs."""
    symmetry: str
    """How the second one is laid onto the first."""
    shared: int
    """Lines that both have."""
    only_first: list[str]
    """Moves whose lines the second has not, in the notation of the first."""
    only_second: list[str]
    """The other way round, after the symmetry."""


def compare(first: MorpionState, second: MorpionState) -> Comparison:
    """Compare two grids of one variant up to the eight symmetries of the cross."""
    if first.game.lines != second.game.lines:
        raise ValueError(f"grids of one variant can be compared, not {first.game.lines} and {second.game.lines}")
    length = first.game.length
    # A line tells its dots, whichever of them was new.
    lines = {action // length for action in first.moves}
    laid = [second.transformed(symmetry) for symmetry in range(8)]
    shared = [len(lines & {action // length for action in state.moves}) for state in laid]
    best = shared.index(max(shared))
    others = {action // length for action in laid[best].moves}
    return Comparison(
        same=lines == others,
        symmetry=SYMMETRIES[best],
        shared=shared[best],
        only_first=[first.action_name(action) for action in first.moves if action // length not in others],
        only_second=[laid[best].action_name(action) for action in laid[best].moves if action // length not in lines],
    )


_LINE_COLOURS = ("#5b86ad", "#5b9a76", "#c99a3d", "#9a6a9c")


def _with_margin(positions: list[int], side: int) -> tuple[int, int]:
    return max(0, min(positions) - 1), min(side - 1, max(positions) + 1)


@contextmanager
def _hidden_before(canvas: draw.Canvas, number: int, pause: float | None) -> Iterator[None]:
    """Around what belongs to a move: in an animation it appears in its turn."""
    if pause is None:
        yield
        return
    until = f"round.begin+{number * pause:g}s"
    canvas.add(f'<g><set attributeName="visibility" to="hidden" begin="round.begin" end="{until}"/>')
    yield
    canvas.add("</g>")


def _draw_numbered_dot(canvas: draw.Canvas, x: float, y: float, number: int, last: bool) -> None:
    edge = f'stroke="{draw.ACCENT if last else draw.INK}" stroke-width="0.035"'
    canvas.circle(x, y, 0.34, draw.ACCENT if last else draw.PAPER, extra=edge)
    size = 0.36 if number < 100 else 0.29
    canvas.text(x, y, str(number), size, draw.PAPER if last else draw.INK, 'font-weight="600"')
