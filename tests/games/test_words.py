"""What positions and moves are called: statuses, labels, feats, and boards of text."""

from __future__ import annotations

import random
import re

import pytest

import rookery
from rookery.game import TERMINAL
from rookery.games._2048.rules import TwentyFortyEight
from rookery.games.checkers.rules import Checkers
from rookery.games.endgames.rules import Endgames
from rookery.games.morpion.rules import RECORDS, UPPER_BOUNDS, Morpion, MorpionState, Move
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.tenten.rules import TenTen
from tests.games.morpion import oracle as morpion_oracle


def played(state: rookery.State, *moves: str) -> rookery.State:
    for move in moves:
        state.apply(state.parse_action(move))
    return state


# Statuses


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (Checkers().parse_state("B:W21:B1"), "Black to move"),
        (Checkers().parse_state("W:W21:B1"), "White to move"),
        (Endgames().parse_state("8/8/8/2k5/8/8/2R5/K7 b - - 0 1"), "Black to move, in check"),
        (Endgames().parse_state("8/8/8/2k5/8/8/3R4/K7 w - - 0 1"), "White to move"),
        (Endgames().parse_state("k6R/8/1K6/8/8/8/8/8 b - - 0 1"), "White wins (checkmate)"),
        (SolitaireChess().parse_state("RN../..../..../...."), "2 pieces left"),
        (SolitaireChess().parse_state("R.../..../..../...."), "Solved: one piece is left"),
        (SolitaireChess().parse_state("P..P/..../..../...."), "Stuck with 2 pieces left"),
        (Morpion().initial_state(), "0 moves"),
        (Morpion().parse_state("(28,28);(27,27) / 0"), "1 move"),
        (Morpion().parse_state("(28,28);(27,27) / 0;(31,35) | -2"), "2 moves"),
        (TenTen(3, 3, "three").parse_state("##./.../... 1x2"), "0 points"),
        (TwentyFortyEight(2, 2).parse_state("2,2/.,."), "0 points"),
        (TwentyFortyEight(2, 2).parse_state("2,4/8,16"), "Nothing moves any more: 0 points, greatest tile 16"),
    ],
    ids=str,
)
def test_statuses(state: rookery.State, status: str) -> None:
    assert state.status() == status


def test_statuses_after_moves() -> None:
    # One block and a full row, which counts 10; the draw is no move.
    state = TenTen(3, 3, "three").parse_state("##./.../... 1x1")
    assert played(state, "r1c3").status() == "11 points"
    # A single block counts one point, and there is no room for a piece of two.
    state = TenTen(3, 3, "three").parse_state("#.#/.#./#.. 1x1")
    assert played(state, "r1c2", "1x2").status() == "11 points"  # the row was full
    state = TenTen(3, 3, "three").parse_state("#../.../... 1x1")
    assert played(state, "r3c3").status() == "1 point"
    state = TenTen(3, 3, "three").parse_state("#.#/.#./#.. 1x1")
    assert played(state, "r3c3", "1x2").status() == "No piece fits any more: 1 point in 1 round"
    assert played(TwentyFortyEight(2, 2).parse_state("2,2/.,."), "left").status() == "4 points"


def test_the_end_of_a_game_of_morpion_is_said_with_its_length() -> None:
    state, rng = Morpion().initial_state(), random.Random(4)
    while state.player() != TERMINAL:
        state.apply(rng.choice(state.legal_actions()))
    assert state.status() == f"No line is left: {len(state.moves)} moves"


# Feats


class Longer(MorpionState):
    """A game said to be of another length than it is."""

    length = 0

    @property
    def moves(self) -> list[int]:
        return [0] * self.length


@pytest.mark.parametrize(
    ("variant", "length", "feats"),
    [
        ("5D", 81, []),
        ("5D", 82, ["82 moves equal the record of 5D."]),
        ("5D", 83, ["A new record of 5D: 83 moves. The longest game known had 82."]),
        ("5T", 178, ["178 moves equal the record of 5T."]),
        ("4D", 34, []),
        ("4D", 35, ["35 moves equal the record of 4D. No game can be longer."]),
        ("4T", 62, ["62 moves equal the record of 4T. No game can be longer."]),
    ],
)
def test_records_of_morpion_are_celebrated(variant: str, length: int, feats: list[str]) -> None:
    for board in (None, 64):
        state = Longer(Morpion(**Morpion.variants[variant], board=board))
        state.length = length
        assert state.feats() == (feats if board is None else [])  # on a small board there are no records


def test_no_record_is_above_its_bound() -> None:
    assert RECORDS.keys() == UPPER_BOUNDS.keys() == Morpion.variants.keys()
    assert all(RECORDS[variant] <= UPPER_BOUNDS[variant] for variant in RECORDS)


@pytest.mark.parametrize(
    ("tile", "feats"),
    [(1024, []), (2048, ["You made the 2048 tile."]), (4096, ["You made the 2048 tile.", "You made the 4096 tile."])],
)
def test_feats_of_2048(tile: int, feats: list[str]) -> None:
    assert TwentyFortyEight().parse_state(f"{tile},2,.,./.,.,.,./.,.,.,./.,.,.,.").feats() == feats


# Names and labels of moves


def test_labels_of_morpion_say_where_the_new_dot_is_in_its_line() -> None:
    game = Morpion()
    state = game.initial_state()
    corner = 27  # the cross, 10 wide, lies in the middle of 64 columns; its reference dot (28,28) is its dot (3,3)
    for direction, way in enumerate(("across", "down", "rising", "falling")):
        for position, where in enumerate(("from", "through", "through", "through", "to")):
            action = game.action(Move(direction, corner + 1, corner + 5, position))
            dx, dy = ((1, 0), (0, 1), (1, -1), (1, 1))[direction]
            column, row = 28 - 3 + 1 + position * dx, 28 - 3 + 5 + position * dy
            assert state.action_label(action) == f"{way} {where} ({column},{row})"
            sign = ("-", "|", "/", "\\")[direction]
            assert state.action_name(action) == f"({column},{row}) {sign} {('+2', '+1', '0', '-1', '-2')[position]}"
            cells = game.line_cells(action)
            assert state.action_line(action) == (cells[0], cells[4])
            # The line's farther end; of its middle dot, that along the direction.
            assert state.action_cells(action) == [cells[position], cells[4] if position <= 2 else cells[0]]


def test_names_and_labels_of_tenten() -> None:
    game = TenTen(3, 4, "three", hand=2)
    state = game.parse_state("..../..../.... 1x2,2x1")
    action = state.parse_action("2:2x1@r2c3")
    assert action == 12 + 1 * 4 + 2  # the second slot, the second row, the third column
    assert state.action_name(action) == "2:2x1@r2c3"
    assert state.action_label(action) == "2x1 at row 2, column 3"
    assert state.action_cells(action) == [13, 6]
    assert state.preview_cells(action) == [6, 10]
    assert state.action_name(6) == "1:1x2@r2c3"
    assert state.preview_cells(6) == [6, 7]
    drawing = game.parse_state("..../..../.... 1x2,?")
    assert [drawing.action_name(action) for action, _ in drawing.chance_outcomes()] == ["1x1", "1x2", "2x1"]
    assert drawing.action_label(2) == "2x1 is drawn"
    one = TenTen(3, 4, "three").parse_state("..../..../.... 2x1")
    assert one.action_name(6) == "2x1@r2c3"
    assert one.action_cells(6) == [6]


def test_names_and_keys_of_2048() -> None:
    game = TwentyFortyEight(2, 3)
    state = game.parse_state("2,.,./.,.,2")
    assert [state.action_name(action) for action in range(4)] == ["up", "right", "down", "left"]
    assert [state.action_key(action) for action in range(4)] == ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"]
    assert [state.action_cells(action) for action in range(4)] == [[6], [7], [8], [9]]
    played(state, "left")
    assert {state.action_name(outcome): state.action_cells(outcome) for outcome, _ in state.chance_outcomes()} == {
        f"{tile}@r{row + 1}c{column + 1}": [3 * row + column]
        for tile in (2, 4) for row in (0, 1) for column in (1, 2)
    }  # fmt: skip
    assert [state.action_key(outcome) for outcome, _ in state.chance_outcomes()] == [""] * 8


# Boards of text


def test_text_boards_of_chess_men() -> None:
    state = Endgames().parse_state("8/8/8/2k5/8/8/3R4/K7 w - - 0 1")
    rows = ["8" + 8 * " .", "7" + 8 * " .", "6" + 8 * " .", "5 . . k . . . . .", "4" + 8 * " .", "3" + 8 * " .",
            "2 . . . R . . . .", "1 K . . . . . . .", "  a b c d e f g h"]  # fmt: skip
    assert state.text_board() == "\n".join(f"{row[0]} {row[1:]}" for row in rows)
    board = SolitaireChess(2, 3, max_captures=2).parse_state("R2.B/.N1.").text_board()
    assert board == "2  R2 .  B\n1  .  N1 .\n   a  b  c"


def test_the_text_board_of_tenten_shows_the_hand() -> None:
    game = TenTen(2, 3, {"##./.##": 1, "1x1": 1, "3x1": 1}, hand=3)
    board = game.parse_state("#../..# 3x1,-,##./.##").text_board()
    assert board.splitlines() == [
        "r1  #  .  .", "r2  .  .  #", "    c1 c2 c3", "",
        "3x1       ##./.##", "#         # #", "#           # #", "#",
    ]  # fmt: skip
    assert game.parse_state("#../..# ?,?,?").text_board().splitlines()[3:] == [""]


BRAILLE = {1: (0, 0), 2: (0, 1), 3: (0, 2), 4: (1, 0), 5: (1, 1), 6: (1, 2), 7: (0, 3), 8: (1, 3)}
"""Column and row of the dots of braille as they are numbered; dot n is bit n - 1 of the character."""


@pytest.mark.parametrize(("variant", "seed"), [("5D", 1), ("4T", 2)])
def test_the_text_board_of_morpion_is_the_grid_in_braille(variant: str, seed: int) -> None:
    """The dots of all characters, painted as pixels, are those of the slow rules: 4 from one place to the next."""
    game, rng = Morpion(**Morpion.variants[variant]), random.Random(seed)
    state = game.initial_state()
    position = morpion_oracle.Position(game.length, game.touching)
    corner = {5: 25, 4: 26}[game.length]  # of the cross in the notation of moves: (28,28) is its dot (3,3) or (2,2)
    for _ in range(12):
        action = rng.choice(state.legal_actions())
        column, row, direction, offset = re.sub("[(),]", " ", state.action_name(action)).split()
        at = game.length // 2 - int(offset)
        dx, dy = morpion_oracle.STEPS[direction]
        first = int(column) - corner - at * dx, int(row) - corner - at * dy
        position.play(morpion_oracle.move(game.length, direction, first, at))
        state.apply(action)
    expected = {(4 * x, 4 * y) for x, y in position.dots}
    for drawn in position.drawn:
        (x, y), (dx, dy) = drawn.points[0], morpion_oracle.STEPS[drawn.direction]
        expected |= {(4 * x + i * dx, 4 * y + i * dy) for i in range(4 * (game.length - 1) + 1)}

    head, units, *lines = state.text_board().splitlines()
    columns = [int(head[4 + i] + units[4 + i]) for i in range(0, len(head) - 4, 2)]
    xs, ys = ([point[i] + corner for point in position.dots] for i in (0, 1))
    assert columns == list(range(min(xs) - 1, max(xs) + 2))
    assert [int(line[:4]) for line in lines] == list(range(min(ys) - 1, max(ys) + 2))
    found = set()
    for line in lines:
        for i, character in enumerate(line[4:]):
            assert character == " " or "\u2800" < character <= "\u28ff"
            for dot, (x, y) in BRAILLE.items():
                if character != " " and ord(character) - 0x2800 & 1 << dot - 1:
                    found.add((4 * (columns[0] - corner) + 2 * i + x, 4 * (int(line[:4]) - corner) + y))
    # A line that leaves the right or lower edge of the last place is cut there, and none does.
    assert found == expected
