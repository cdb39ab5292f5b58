"""Values on drawn boards."""

from __future__ import annotations

import math
import random
import re
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

import rookery
from rookery import draw
from rookery.draw import SCALE, WRITTEN
from rookery.game import Overlay, play_chance


@pytest.mark.parametrize("name", rookery.GAMES)
def test_values_are_inside_and_cover_no_other(name: str) -> None:
    rng = random.Random(1)
    game = rookery.load(name)
    for _ in range(3):
        state = game.random_start(rng)
        for _ in range(6):
            play_chance(state, rng)
            if state.player() < 0:
                break
            legal = state.legal_actions()
            values = {action: rng.uniform(-1, 1) * 10 ** rng.uniform(-8, 6) for action in legal}
            svg = state.svg(Overlay(values=values))
            _, _, width, height = map(float, re.findall(r'viewBox="([^"]*)"', svg)[0].split())
            number = r'="(-?[0-9.]+)"'
            found = re.findall(f'<rect x{number} y{number} width{number} height{number} [^>]*fill-opacity="0.9"', svg)
            labels = [tuple(map(float, label)) for label in found]
            if any(state.action_cells(action) for action in legal) and "data-cell" in svg:
                assert labels
            for x, y, w, h in labels:
                assert -1e-6 <= x <= width - w + 1e-6
                assert -1e-6 <= y <= height - h + 1e-6
            for (x, y, w, h), (x2, y2, w2, h2) in combinations(labels, 2):
                assert x + w <= x2 + 1e-5 or x2 + w2 <= x + 1e-5 or y + h <= y2 + 1e-5 or y2 + h2 <= y + 1e-5
            assert not re.search(r">[^<]*[0-9]e[-+][0-9]", svg)
            state.apply(rng.choice(legal))


def test_every_end_has_the_colour_of_its_best_action_and_few_values_are_written() -> None:
    state = rookery.load("endgames").parse_state("8/8/8/2k5/8/8/3R4/K7 w - - 0 1")
    legal = state.legal_actions()
    values = {action: float(place) for place, action in enumerate(legal)}
    svg = state.svg(Overlay(values=values))
    colours = re.findall(r'fill="(#[0-9a-f]{6})" fill-opacity="0.55"', svg)
    ends = {state.action_cells(action)[-1] for action in legal}
    assert len(colours) == len(ends)
    assert set(colours) == set(SCALE)
    assert svg.count('fill-opacity="0.9"') == WRITTEN
    assert svg.index('fill-opacity="0.55"') < svg.index("data-piece")  # under the pieces
    words = {max(values, key=lambda action: values[action]): "mate in 12"}
    assert ">mate in 12<" in state.svg(Overlay(values=values, words=words))


def test_lines_have_colours_of_their_own() -> None:
    state = rookery.load("morpion").initial_state()
    values = {action: float(place) for place, action in enumerate(state.legal_actions())}
    svg = state.svg(Overlay(values=values))
    assert len(re.findall(r'stroke="#[0-9a-f]{6}" stroke-width="0.16"', svg)) == len(values)
    assert 'fill-opacity="0.55"' not in svg


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


def parts(svg: str, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [element for element in root.iter() if element.tag.endswith(f"}}{kind}")]


def boxes(svg: str) -> list[tuple[Box, str]]:
    """Rectangles with their colours, the ground left out."""
    found = [part.attrib for part in parts(svg, "rect")][1:]
    return [(Box(*(float(part[name]) for name in ("x", "y", "width", "height"))), part["fill"]) for part in found]


def size(svg: str) -> tuple[float, float]:
    _, _, width, height = map(float, ElementTree.fromstring(svg).attrib["viewBox"].split())
    return width, height


def inside(svg: str, box: Box) -> bool:
    width, height = size(svg)
    return box.x >= 0 and box.y >= 0 and box.x + box.width <= width + 1e-9 and box.y + box.height <= height + 1e-9


def test_bars_are_as_long_as_their_numbers() -> None:
    rows = [("first", 2.0), ("second, " + 50 * "x", -4.0), ("third", 0.0), ("fourth", 1.0)]
    svg = draw.bars("A & B", rows)
    (line,) = (part.attrib for part in parts(svg, "line"))
    zero = float(line["x1"])
    assert line["x2"] == line["x1"]
    found = boxes(svg)
    assert [fill for _, fill in found] == [draw.HIGHLIGHTS[k] for k in ("good", "bad", "bad", "good")]
    longest = found[1][0].width
    for (box, _), (_, value) in zip(found, rows, strict=True):
        assert inside(svg, box)
        assert box.width == pytest.approx(longest * abs(value) / 4)
        assert (box.x + box.width if value < 0 else box.x) == pytest.approx(zero)
    width, height = size(svg)
    assert longest > width / 8
    assert all(a.y + a.height < b.y for (a, _), (b, _) in pairwise(found))
    assert 0 < float(line["y1"]) < found[0][0].y
    assert found[-1][0].y + found[-1][0].height < float(line["y2"]) < height
    texts = parts(svg, "text")
    labels = [text for text in texts if text.attrib["text-anchor"] == "end"]
    numbers = [text for text in texts if text.attrib["text-anchor"] == "middle"]
    assert [text.text for text in labels] == [label[:40] for label, _ in rows]
    assert [text.text for text in numbers] == ["+2", "-4", "+0", "+1"]
    for label, number, (box, _), (_, value) in zip(labels, numbers, found, rows, strict=True):
        assert float(label.attrib["x"]) < zero - longest
        assert (float(number.attrib["x"]) > zero) == (value < 0)  # on the side that the bar leaves free
        for text in (label, number):  # the line of text has its middle where the bar has
            assert float(text.attrib["y"]) - 0.35 * float(text.attrib["font-size"]) == pytest.approx(
                box.middle[1], abs=0.01
            )
    assert height - (found[-1][0].y + found[-1][0].height) < 1, "no empty space below"
    turned = draw.bars("turned", [(label, -value) for label, value in rows])
    assert all(inside(turned, box) for box, _ in boxes(turned))
    assert boxes(turned)[1][0].width == pytest.approx(longest)
    assert boxes(draw.bars("nothing", [("a", 0.0)]))[0][0].width == 0
    assert parts(draw.bars("none", []), "line")


@pytest.mark.parametrize("first_dark", [False, True])
def test_squares_of_a_board_alternate_and_are_named(first_dark: bool) -> None:
    canvas = draw.Canvas(5 + 2 * draw.MARGIN, 3 + 2 * draw.MARGIN, "board")
    draw.checkerboard(canvas, 3, 5, first_dark=first_dark)
    svg = canvas.render(10)
    *squares, (edge, none) = boxes(svg)
    assert none == "none"
    assert edge == pytest.approx((draw.MARGIN, draw.MARGIN, 5, 3))
    for cell, (box, fill) in enumerate(squares):
        row, column = divmod(cell, 5)
        assert box == pytest.approx((draw.MARGIN + column, draw.MARGIN + row, 1, 1), abs=1e-6)
        # The last row begins with a light square, as a1 of a board with an even number of rows is dark.
        assert (fill == draw.DARK) == ((row + column + 3 + first_dark) % 2 == 1)
    assert [part.attrib.get("data-cell") for part in parts(svg, "rect")[1:-1]] == [str(cell) for cell in range(15)]
    middles = {
        part.text: (float(part.attrib["x"]), float(part.attrib["y"]) - 0.35 * float(part.attrib["font-size"]))
        for part in parts(svg, "text")
    }
    margin = draw.MARGIN
    for rank in (1, 2, 3):
        assert middles[str(rank)] == pytest.approx((margin / 2, margin + 3 - rank + 0.5), abs=1e-3)
    for number, letter in enumerate("abcde"):
        assert middles[letter] == pytest.approx((margin + number + 0.5, margin * 1.5 + 3), abs=1e-3)
    root = ElementTree.fromstring(svg).attrib
    assert (float(root["width"]), float(root["height"])) == pytest.approx((10 * canvas.width, 10 * canvas.height))


def test_highlights_arrows_and_labels_lie_on_their_cells() -> None:
    game = rookery.load("endgames")
    state = game.parse_state("8/8/8/2k5/8/8/3R4/K7 w - - 0 1")
    plain = set(boxes(state.svg()))
    svg = state.svg(Overlay(highlights={0: "good", 63: "last"}, arrows=[(56, 63), (9, 9)], labels={10: "7", 20: "128"}))
    marks = {fill: box for box, fill in boxes(svg) if (box, fill) not in plain}
    cells = {int(part.attrib["data-cell"]): part.attrib for part in parts(svg, "rect") if "data-cell" in part.attrib}

    def middle(cell: int) -> tuple[float, float]:
        return float(cells[cell]["x"]) + 0.5, float(cells[cell]["y"]) + 0.5

    assert {fill: box.middle for fill, box in marks.items()} == {
        draw.HIGHLIGHTS["good"]: pytest.approx(middle(0)), draw.HIGHLIGHTS["last"]: pytest.approx(middle(63)),
    }  # fmt: skip
    assert {(box.width, box.height) for box in marks.values()} == {(1, 1)}
    texts = {part.text: part.attrib for part in parts(svg, "text")}
    for word, cell in (("7", 10), ("128", 20)):
        at = texts[word]
        assert (float(at["x"]), float(at["y"]) - 0.35 * float(at["font-size"])) == pytest.approx(middle(cell), abs=1e-3)
    assert float(texts["128"]["font-size"]) < float(texts["7"]["font-size"]) < 0.5
    (head,) = parts(svg, "polygon")
    (shaft,) = [part.attrib for part in parts(svg, "line") if part.attrib["stroke"] == draw.ACCENT]
    tip, left, right = (tuple(map(float, point.split(","))) for point in head.attrib["points"].split())
    (x0, y), (x1, _) = middle(56), middle(63)
    assert tip[1] == pytest.approx(y)
    assert x1 - 0.2 < tip[0] < x1, "just before the middle of the last cell"
    assert left[0] == right[0] == pytest.approx(float(shaft["x2"]), abs=1e-3)
    assert left[0] < tip[0]
    assert left[1] - y == pytest.approx(y - right[1])
    assert 0.2 < left[1] - right[1] < 0.5
    assert x0 < float(shaft["x1"]) < x0 + 0.4, "just behind the middle of the first cell"
    assert float(shaft["y1"]) == float(shaft["y2"]) == pytest.approx(y)


@pytest.mark.parametrize("end", [(3.0, 1.0), (1.0, 5.0), (-2.0, -3.0)])
def test_an_arrow_points_from_its_start_to_its_end(end: tuple[float, float]) -> None:
    canvas = draw.Canvas(9, 9, "arrow")
    draw.arrow(canvas, (1.0, 1.0), end, 0.35)
    svg = canvas.render()
    length = math.dist((1, 1), end)
    dx, dy = (end[0] - 1) / length, (end[1] - 1) / length
    (head,) = parts(svg, "polygon")
    points = [tuple(map(float, point.split(","))) for point in head.attrib["points"].split()]
    (line,) = (part.attrib for part in parts(svg, "line"))
    points += [(float(line["x1"]), float(line["y1"])), (float(line["x2"]), float(line["y2"]))]
    along = [(x - 1) * dx + (y - 1) * dy for x, y in points]
    across = [(y - 1) * dx - (x - 1) * dy for x, y in points]
    tip, left, right, start, base = along
    assert across == pytest.approx([0, across[1], -across[1], 0, 0], abs=2e-3)
    assert 0.1 < abs(across[1]) < 0.25
    assert 0 < start < base < tip < length
    assert length - tip < 0.2
    assert left == pytest.approx(right, abs=2e-3) == pytest.approx(base, abs=2e-3)
    assert 0.15 < tip - base < 0.45
    assert ' opacity="0.35"' in svg


def test_an_arrow_to_where_it_starts_is_not_drawn() -> None:
    canvas = draw.Canvas(9, 9, "arrow")
    draw.arrow(canvas, (1.0, 1.0), (1.0, 1.0))
    assert len(canvas.parts) == 1


@pytest.mark.parametrize("piece", "KQRBNP")
@pytest.mark.parametrize("white", [True, False])
def test_a_chess_piece_stands_in_the_middle_of_its_cell(piece: str, white: bool) -> None:
    canvas = draw.Canvas(8, 8, "piece")
    draw.chess_piece(canvas, 2.5, 3.5, piece, white)
    svg = canvas.render()
    (group,) = parts(svg, "g")
    assert group.attrib["data-piece"] == (piece if white else piece.lower())
    assert group.attrib["data-upright"] == "2.5 3.5"
    x, y, scale = map(float, re.findall(r"translate\((\S+) (\S+)\) scale\((\S+)\)", group.attrib["transform"])[0])
    numbers = [
        (float(a), float(b))
        for path in parts(svg, "path")
        for a, b in re.findall(r"[MLQ ](\d+(?:\.\d+)?) (\d+(?:\.\d+)?)(?= ?[A-Z]|$)", path.attrib["d"])
    ]
    assert len(numbers) > 10
    for a, b in numbers:
        assert 2 < x + scale * a < 3
        assert 3 < y + scale * b < 4
    assert x + 50 * scale == pytest.approx(2.5)
    assert y + 50 * scale == pytest.approx(3.5)
    light = "#fdfbf6"
    assert group.attrib["fill"] == (light if white else draw.INK)
    icon = draw.piece_icon(piece, white)
    assert size(icon) == (1, 1)
    assert parts(icon, "g")[0].attrib["data-upright"] == "0.5 0.5"
    assert not parts(icon, "rect")


def test_a_board_of_text_has_room_for_every_line() -> None:
    svg = draw.text_board("first line, the longest\nsecond\nthird")
    width, height = size(svg)
    texts = parts(svg, "text")
    assert [text.text for text in texts] == ["first line, the longest", "second", "third"]
    assert {float(text.attrib["x"]) for text in texts} == {width / 2}
    rows = [float(text.attrib["y"]) for text in texts]
    font = float(texts[0].attrib["font-size"])
    assert all(b - a == pytest.approx(rows[1] - rows[0]) for a, b in pairwise(rows))
    assert font < rows[1] - rows[0] < 2 * font
    assert font < rows[0]
    assert rows[-1] + 0.3 * font < height < rows[-1] + 3 * font
    assert width > 23 * 0.6 * font, "letters of a monospaced font are about 0.6 of its size wide"
    assert size(draw.text_board("x"))[0] == 4


def test_values_in_few_characters() -> None:
    values = {
        0.0004: "0", -0.0004: "0", 0.0005001: "0.001", 0.9996: "1", 1.005: "1", 9.996: "10", 99.96: "100", 100.4: "100",
        -1234.5: "-1234", 9999.4: "9999", 10_000: "10k", -12_345: "-12.3k", 999_000: "999k", 1e6: "1M", 1.5e9: "1.5G",
        9.99e11: "999G", 1e12: "∞", -1e12: "-∞", 0.25: "0.25", 20.0: "20", 1.5: "1.5", 15.25: "15.2",
    }  # fmt: skip
    assert {value: draw.short(value) for value in values} == values


def test_colours_divide_the_range_evenly() -> None:
    values = [0.0, 10.0]
    assert [draw.colour_of(x, values) for x in (0, 1.9, 2, 3.9, 4, 5.9, 6, 7.9, 8, 10)] == [
        colour for colour in SCALE for _ in range(2)
    ]
    assert draw.colour_of(3.0, [3.0, 3.0]) == SCALE[-1]


def test_values_of_moves_to_one_cell_stand_before_it_and_have_arrows() -> None:
    """Both rooks can take on d4: the value of the second stands on its way."""
    game = rookery.load("solitaire-chess")
    position = game.parse_state("R..P/..../..../...R")
    values = {action: 1.0 + place for place, action in enumerate(position.legal_actions())}
    svg = position.svg(Overlay(values=values))
    ends = [position.action_cells(action)[-1] for action in values]
    assert len(set(ends)) < len(ends)
    labels = [box for box, _ in boxes(svg) if box.height == 0.32]
    assert 1 <= len(labels) <= WRITTEN
    assert len(parts(svg, "polygon")) >= 2


class Moves:
    """A position on a board of eight by eight whose actions are pairs of cells; some are lines, some fill cells."""

    def __init__(self, moves: dict[int, tuple[int, int]], lines: bool = False, fills: bool = False) -> None:
        self.moves, self.lines, self.fills = moves, lines, fills

    def action_cells(self, action: int) -> list[int]:
        return list(self.moves[action])

    def preview_cells(self, action: int) -> list[int]:
        return [*self.moves[action], 63] if self.fills else self.action_cells(action)

    def action_line(self, action: int) -> tuple[int, int] | None:
        return self.moves[action] if self.lines else None


def centre_of(cell: int) -> tuple[float, float]:
    return cell % 8 + 0.5, cell // 8 + 0.5


def valued(values: dict[int, float], position: Moves) -> tuple[dict[str, tuple[float, float]], list[float], str]:
    """Where each number is written, the opacity of every arrow, and the drawing."""
    canvas = draw.Canvas(8, 8, "moves")
    draw.draw_overlay(canvas, position, Overlay(values=values), centre_of)  # type: ignore[arg-type]
    svg = canvas.render()
    written = {
        str(part.text): (float(part.attrib["x"]), float(part.attrib["y"]) - 0.35 * float(part.attrib["font-size"]))
        for part in parts(svg, "text")
    }
    arrows = [float(part.attrib["opacity"]) for part in parts(svg, "g") if "opacity" in part.attrib]
    return written, arrows, svg


def test_the_best_values_stand_at_the_lower_edges_of_their_cells() -> None:
    position = Moves({0: (0, 18), 1: (4, 28), 2: (8, 40), 3: (16, 50)})
    written, arrows, svg = valued({0: 1.0, 1: 0.5, 2: -1.0, 3: -2.0}, position)
    for text, cell in (("1", 18), ("0.5", 28), ("-1", 40)):
        x, y = centre_of(cell)
        assert written[text] == pytest.approx((x, y + 0.33), abs=1e-3)
    assert "-2" not in written, "only the best few are written"
    assert arrows == [0.9], "the best has an arrow"
    fills = {part.text: part.attrib["fill"] for part in parts(svg, "text")}
    assert fills == {"1": draw.HIGHLIGHTS["good"], "0.5": draw.INK, "-1": draw.INK}
    for box, _ in (row for row in boxes(svg) if row[0].height == 0.32):
        text = min(written, key=lambda word: math.dist(written[word], box.middle))
        assert box.middle == pytest.approx(written[text], abs=1e-3)
        assert box.width == pytest.approx(0.14 * len(text) + 0.14), "as wide as its text"
    assert valued({0: 1.0}, Moves({0: (0, 0)}))[1] == [], "no arrow where nothing moves"
    assert valued({0: 1.0}, Moves({0: (0, 9)}, fills=True))[1] == []
    assert valued({}, Moves({}))[0] == {}


def test_values_of_moves_to_the_same_cell_stand_on_their_ways() -> None:
    position = Moves({0: (24, 28), 1: (4, 28)})  # from the left and from above
    written, arrows, _ = valued({0: 2.0, 1: 1.0}, position)
    assert sorted(arrows) == [0.35, 0.9], "the best is drawn stronger"
    (x, y), end = written["2"], centre_of(28)
    assert y == pytest.approx(end[1])
    assert x == pytest.approx(end[0] - 0.4)
    x, y = written["1"]
    assert x == pytest.approx(end[0])
    assert end[1] - 0.75 < y <= end[1] - 0.4
    assert y == pytest.approx(end[1] - 0.4), "it does not touch the other one"


def test_the_value_of_a_line_stands_at_its_new_dot() -> None:
    written, arrows, svg = valued({0: 1.0, 1: 0.5}, Moves({0: (9, 12), 1: (32, 60)}, lines=True))
    x, y = centre_of(9)
    assert written["1"] == pytest.approx((x, y + 0.33), abs=1e-3)
    assert arrows == [0.9]
    ends = [(float(part.attrib["x1"]), float(part.attrib["y1"]), float(part.attrib["x2"]), float(part.attrib["y2"]))
            for part in parts(svg, "line") if part.attrib["stroke-width"] == "0.16"]  # fmt: skip
    assert ends == [(*centre_of(32), *centre_of(60)), (*centre_of(9), *centre_of(12))], "the best above the others"


def test_values_at_the_edge_stay_on_the_board_and_crowded_ones_move() -> None:
    words = {0: "a long word"}
    canvas = draw.Canvas(8, 8, "moves")
    position = Moves({0: (9, 56), 1: (10, 57)})
    draw.draw_overlay(canvas, position, Overlay(values={0: 1.0, 1: 0.5}, words=words), centre_of)  # type: ignore[arg-type]
    found = {part.text: part.attrib for part in parts(canvas.render(), "text")}
    assert float(found["a long word"]["x"]) == pytest.approx((0.14 * 11 + 0.14) / 2), "half of its width from the edge"
    first, second = (float(found[word]["y"]) - 0.35 * 0.22 for word in ("a long word", "0.5"))
    assert first == pytest.approx(7.83, abs=0.01)
    assert second == pytest.approx(7.17, abs=0.01), "the upper edge, since the lower one is taken"
