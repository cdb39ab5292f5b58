"""Boards as they are drawn: every cell, piece and mark in its place."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

import rookery
from rookery import draw
from rookery.game import TERMINAL, Overlay
from rookery.games._2048.rules import TwentyFortyEight
from rookery.games.checkers.rules import Checkers
from rookery.games.endgames.rules import Endgames
from rookery.games.morpion.rules import Morpion, MorpionState, _draw_numbered_dot
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.tenten.rules import TenTen
from tests.games.drawing import cells, middle, numbers, parts, pieces, places, size, texts, written

GRIDS = [
    pytest.param("endgames", {}, 8, 8, id="endgames"),
    pytest.param("solitaire-chess", {"rows": 3, "columns": 5}, 3, 5, id="solitaire-chess"),
    pytest.param("tenten", {"rows": 4, "columns": 6, "pieces": "three"}, 4, 6, id="tenten"),
    pytest.param("tenten", {"rows": 3, "columns": 3, "hand": 3, "pieces": "three"}, 3, 3, id="tenten-hand3"),
    pytest.param("2048", {"rows": 2, "columns": 4}, 2, 4, id="2048"),
]


@pytest.mark.parametrize(("name", "options", "rows", "columns"), GRIDS)
def test_cells_are_a_grid_in_the_middle_and_marks_lie_on_them(
    name: str, options: dict[str, int], rows: int, columns: int
) -> None:
    state = rookery.load(name, **options).random_start(random.Random(3))
    plain = state.svg()
    at, (width, height) = places(plain), size(plain)
    left, top = at[0]
    for cell in range(rows * columns):
        assert at[cell] == pytest.approx((left + cell % columns, top + cell // columns))
    assert left - 0.5 == pytest.approx(width - (left + columns - 0.5))  # as much room on the right
    assert left - 0.5 > 0.2
    assert 0.2 < top - 0.5 <= height - (top + rows - 0.5) + 1e-9
    assert len(set(at.values())) == len(at)
    for cell, place in at.items():
        marks = Counter(middle(part) for part in parts(state.svg(Overlay(highlights={cell: "focus"})), "rect")[1:])
        marks.subtract(middle(part) for part in parts(plain, "rect")[1:])
        ((x, y),) = +marks
        assert (x, y) == pytest.approx(place)


# Checkers


def test_checkers_pieces_stand_on_their_squares() -> None:
    svg = Checkers().parse_state("B:W18,K10:B1,K5").svg()
    at = places(svg)
    assert pieces(svg) == {at[17]: "M", at[9]: "K", at[0]: "m", at[4]: "k"}
    assert size(svg) == pytest.approx((8.6, 8.6))
    (board, *_, edge) = parts(svg, "rect")[1:]
    assert middle(board) == middle(edge) == pytest.approx((4.3, 4.3))
    for part in (board, edge):
        assert numbers(part, "width", "height") == (8, 8)
    dark = [part for part in parts(svg, "rect") if "data-cell" in part]
    assert {part["fill"] for part in dark} == {draw.DARK}
    for cell, part in cells(svg).items():  # every number stands in the upper left corner of its square
        x, y, width, height = numbers(part, "x", "y", "width", "height")
        assert (width, height) == (1, 1)
        text_x, text_y = texts(svg)[str(cell + 1)]
        assert x < text_x < x + 0.25
        assert y < text_y < y + 0.25


def test_checkers_men_and_kings_have_the_colours_of_their_sides() -> None:
    svg = Checkers().parse_state("B:W18,K10:B1,K5").svg()
    at = places(svg)
    discs = {numbers(part, "cx", "cy"): part for part in parts(svg, "circle") if part["fill"] != "none"}
    assert {place: part["fill"] for place, part in discs.items()} == {
        at[17]: "#fdfbf6", at[9]: "#fdfbf6", at[0]: draw.INK, at[4]: draw.INK,
    }  # fmt: skip
    rings = [part for part in parts(svg, "circle") if part["fill"] == "none"]
    for ring in rings:  # inside the disc, in the other colour
        disc = discs[numbers(ring, "cx", "cy")]
        assert float(ring["r"]) < float(disc["r"]) < 0.5
        assert ring["stroke"] != disc["fill"]
    crowns = parts(svg, "polygon")
    assert [crown["fill"] for crown in crowns] == ["#fdfbf6", draw.INK]  # of Black's king first
    for crown, cell in zip(crowns, (4, 9), strict=True):
        points = [tuple(map(float, point.split(","))) for point in crown["points"].split()]
        x, y = at[cell]
        assert all(abs(px - x) < 0.285 and abs(py - y) < 0.285 for px, py in points)
        assert sum(px - x for px, _ in points) == pytest.approx(0, abs=1e-6)  # the same left and right
        assert {round(px - x, 3) for px, _ in points} == {round(x - px, 3) for px, _ in points}


# Chess boards


def test_endgames_pieces_and_the_turn() -> None:
    svg = Endgames().parse_state("8/8/8/2k5/8/8/3R4/K7 w - - 0 1").svg()
    at = places(svg)
    # Cells go from a8 to h1, row by row: c5 is in the fourth row, d2 in the seventh, a1 in the last.
    assert pieces(svg) == {at[3 * 8 + 2]: "k", at[6 * 8 + 3]: "R", at[7 * 8]: "K"}
    (turn,) = parts(svg, "circle")
    x, y, r = numbers(turn, "cx", "cy", "r")
    width, _ = size(svg)
    right = at[63][0] + 0.5
    assert right < x - r
    assert x + r < width
    assert x == pytest.approx((right + width) / 2)
    assert (turn["fill"], y) == ("#fdfbf6", at[63][1])  # White is to move, from below
    (turn,) = parts(Endgames().parse_state("8/8/8/2k5/8/8/3R4/K7 b - - 0 1").svg(), "circle")
    assert (turn["fill"], float(turn["cy"])) == (draw.INK, at[0][1])


@pytest.mark.parametrize(
    ("fen", "cell"), [("8/8/8/2k5/8/8/2R5/K7 b - - 0 1", 26), ("8/8/8/8/8/k7/8/K6R w - - 0 1", None)]
)
def test_endgames_marks_the_king_in_check(fen: str, cell: int | None) -> None:
    svg = Endgames().parse_state(fen).svg()
    marks = [numbers(part, "cx", "cy") for part in parts(svg, "circle") if part["fill"] == draw.HIGHLIGHTS["bad"]]
    assert marks == ([] if cell is None else [places(svg)[cell]])


def test_solitaire_chess_pieces_and_captures_left() -> None:
    game = SolitaireChess(2, 3, max_captures=2)
    svg = game.parse_state("R2.B1/.N.").svg()
    at = places(svg)
    # A piece that may not capture any more is black; each shows how many captures it has left.
    assert pieces(svg) == {at[0]: "r", at[2]: "B", at[4]: "N"}
    for text, cell in (("0", 0), ("1", 2), ("2", 4)):
        x, y = at[cell]
        near = [place for what, place in written(svg) if what == text and math.dist(place, (x, y)) < 0.6]
        (badge,) = near
        assert x < badge[0] < x + 0.5
        assert y - 0.5 < badge[1] < y
        assert badge in [numbers(part, "cx", "cy") for part in parts(svg, "circle")]
    unlimited = SolitaireChess(2, 3).parse_state("R.B/.N.").svg()
    assert pieces(unlimited) == {at[0]: "R", at[2]: "B", at[4]: "N"}
    assert parts(unlimited, "circle") == []
    assert game.sketch("R2.B1/.N.") == svg


# 1010!


def test_tenten_blocks_and_the_hand() -> None:
    game = TenTen(5, 5, {"##./.##": 1, "1x1": 1, "5x1": 1}, hand=3)
    state = game.parse_state("#..../...../...../...../....# ##./.##,-,5x1")
    svg = state.svg()
    at = places(svg)
    filled = {cell for cell, part in cells(svg).items() if cell < 25 and part["fill"] != draw.LIGHT}
    assert filled == {0, 24}
    width, height = size(svg)
    slots = [at[25], at[26], at[27]]
    assert [x for x, _ in slots] == pytest.approx([width / 4, width / 2, 3 * width / 4])
    assert len({y for _, y in slots}) == 1
    for cell in (25, 26, 27):  # below the board, inside, and apart from each other
        y, w, h = numbers(cells(svg)[cell], "y", "width", "height")
        assert at[20][1] + 0.5 < y
        assert y + h < height
        assert w == h
        assert w <= width / 4
    blocks = [part for part in parts(svg, "rect")[1:] if "data-cell" not in part]
    assert len(blocks) == 4 + 5
    for slot, mine, rows, columns in ((0, blocks[:4], 2, 3), (2, blocks[4:], 5, 1)):
        left, top = (min(numbers(part, axis)[0] for part in mine) for axis in "xy")
        unit = (max(numbers(part, "y")[0] for part in mine) - top) / (rows - 1)
        shape = {(round((numbers(p, "y")[0] - top) / unit), round((numbers(p, "x")[0] - left) / unit)) for p in mine}
        assert shape == ({(0, 0), (0, 1), (1, 1), (1, 2)} if slot == 0 else {(row, 0) for row in range(5)})
        assert (left + columns * unit / 2, top + rows * unit / 2) == pytest.approx(slots[slot])  # in the middle
        edge = numbers(cells(svg)[25 + slot], "width")[0]
        assert max(rows, columns) * unit < edge
        assert all(0.8 * unit < numbers(part, "width")[0] < unit for part in mine)
        assert all(part["width"] == part["height"] for part in mine)


# 2048


def test_2048_tiles_and_arrows() -> None:
    state = TwentyFortyEight(3, 4).parse_state("2,.,.,./2048,.,.,./.,.,.,.")
    svg = state.svg()
    at = places(svg)
    shown = texts(svg)
    assert {text: shown[text] for text in ("2", "2048")} == {"2": at[0], "2048": at[4]}
    sizes = {part["text"]: float(part["font-size"]) for part in parts(svg, "text")}
    assert sizes["2048"] < sizes["2"] <= 0.5
    assert 0.6 * 4 * sizes["2048"] < 0.92  # its digits, each 0.6 of the size wide, fit into the tile
    width, height = size(svg)
    up, right, down, left = (at[cell] for cell in (12, 13, 14, 15))
    assert up[0] == down[0] == pytest.approx(width / 2)
    assert left[1] == right[1] == pytest.approx(height / 2)
    assert up[1] == pytest.approx(height - down[1])
    assert left[0] == pytest.approx(width - right[0])
    board = numbers(parts(svg, "rect")[1], "x", "y", "width", "height")
    assert 0 < up[1] < board[1]
    assert 0 < left[0] < board[0]
    assert board[0] < at[0][0] - 0.46
    assert board[1] < at[0][1] - 0.46
    assert board[0] + board[2] / 2 == pytest.approx(width / 2)
    assert board[1] + board[3] / 2 == pytest.approx(height / 2)
    beside = numbers(cells(svg)[13], "x")[0]
    assert at[3][0] + 0.46 < board[0] + board[2] < beside, "around the tiles, and not below the arrows"
    colours = [part["fill"] for part in parts(svg, "polygon")]
    legal = [state.is_legal(direction) for direction in range(4)]
    assert legal == [False, True, True, False]
    assert [colour == draw.ACCENT for colour in colours] == legal
    for direction, part in enumerate(parts(svg, "polygon")):
        x, y = at[12 + direction]
        assert part["transform"] == f"rotate({90 * direction} {x:g} {y:g})"
        tip, *base = (tuple(map(float, point.split(","))) for point in part["points"].split())
        assert tip[0] == pytest.approx(x)
        assert tip[1] < y < base[0][1] == base[1][1]  # it points upward before it is turned
        assert (base[0][0] + base[1][0]) / 2 == pytest.approx(x)


# Morpion Solitaire


def morpion_games() -> list[MorpionState]:
    """A game on the unlimited grid and one that goes to the border of its board."""
    states = []
    for options, seed in (({"length": 5}, 1), ({"length": 4, "touching": True, "board": 8}, 2)):
        state, rng = Morpion(**options).initial_state(), random.Random(seed)  # type: ignore[arg-type]
        while state.player() != TERMINAL:
            state.apply(rng.choice(state.legal_actions()))
        states.append(state)
    return states


@pytest.mark.parametrize("state", morpion_games(), ids=["5D", "4T on 8x8"])
def test_morpion_lines_and_dots_are_where_they_were_played(state: MorpionState) -> None:
    game, side, svg = state.game, state.game.side, state.svg()
    at, (width, height) = places(svg), size(svg)
    count = len(state.moves)
    grid, lines = parts(svg, "line")[:-count], parts(svg, "line")[-count:]
    circles = [numbers(part, "cx", "cy") for part in parts(svg, "circle")]
    # A cell of the board is as far from another one on the drawing as on the board.
    first = min(at)
    for cell, place in at.items():
        assert place == pytest.approx(
            (at[first][0] + cell % side - first % side, at[first][1] + cell // side - first // side)
        )
    assert at[first] == pytest.approx((0.5, 0.5))
    # One row and column more than the dots need on each side, but none outside the board.
    columns, rows = ({axis(cell) for cell in state.dots()} for axis in (lambda c: c % side, lambda c: c // side))
    for found, dots in (({c % side for c in at}, columns), ({c // side for c in at}, rows)):
        assert found == set(range(max(0, min(dots) - 1), min(side - 1, max(dots) + 1) + 1))
    assert (width, height) == (len({c % side for c in at}), len({c // side for c in at}))
    # The lines of the grid go through all cells.
    upright = [part for part in grid if part["x1"] == part["x2"]]
    level = [part for part in grid if part["y1"] == part["y2"]]
    assert [float(part["x1"]) for part in upright] == [i + 0.5 for i in range(int(width))]
    assert [float(part["y1"]) for part in level] == [i + 0.5 for i in range(int(height))]
    assert {numbers(part, "y1", "y2") for part in upright} == {(0, height)}
    assert {numbers(part, "x1", "x2") for part in level} == {(0, width)}
    # The cross, then the dots of the moves, with their numbers; the lines from end to end.
    assert circles == [at[cell] for cell in state.dots()]
    shown = texts(svg)
    colours: dict[str, set[int]] = {}
    for number, action in enumerate(state.moves, start=1):
        line_cells = game.line_cells(action)
        part = lines[number - 1]
        assert numbers(part, "x1", "y1", "x2", "y2") == (*at[line_cells[0]], *at[line_cells[-1]])
        assert shown[str(number)] == pytest.approx(at[state.dots()[len(game.cross) + number - 1]])
        if number < count:
            colours.setdefault(part["stroke"], set()).add(game.move(action).direction)
    assert sorted(colours.values(), key=min) == [{0}, {1}, {2}, {3}]  # a colour for each direction
    assert lines[-1]["stroke"] == draw.ACCENT
    assert float(lines[-1]["stroke-width"]) > float(lines[0]["stroke-width"])
    fills = [part["fill"] for part in parts(svg, "circle")]
    assert fills == [draw.INK] * len(game.cross) + [draw.PAPER] * (count - 1) + [draw.ACCENT]
    border = [part for part in parts(svg, "rect")[1:] if "data-cell" not in part]
    if game.board is None:
        assert border == []
    else:
        (edge,) = border
        assert numbers(edge, "width", "height") == (side, side)
        assert numbers(edge, "x", "y") == (at[first][0] - 0.5 - first % side, at[first][1] - 0.5 - first // side)


def test_morpion_numbers_of_three_digits_are_smaller() -> None:
    canvas = draw.Canvas(200, 1, "")
    for number in (9, 99, 100):
        _draw_numbered_dot(canvas, number, 0.5, number, False)
    sizes = {part["text"]: float(part["font-size"]) for part in parts(canvas.render(), "text")}
    assert sizes["9"] == sizes["99"] > sizes["100"]


def test_morpion_moves_appear_one_by_one() -> None:
    state = morpion_games()[0]
    svg = state.animation(0.5)
    (clock,) = parts(svg, "animate")
    # Every move takes half a second, and then the whole grid stays for a while.
    assert float(clock["dur"].removesuffix("s")) > 0.5 * (len(state.moves) + 1)
    ends = [part["end"] for part in parts(svg, "set")]
    waits = [f"round.begin+{0.5 * number:g}s" for number in range(1, len(state.moves) + 1)]
    assert ends == waits + waits  # the lines, then the dots above them
    assert parts(state.svg(), "set") == []
    assert texts(svg) == texts(state.svg())
