"""The drawing of a search, read back from its SVG."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

from rookery import draw
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.solitaire_chess.search import search
from rookery.games.solitaire_chess.search_tree import search_tree_svg
from tests.games.solitaire_chess import oracle

STATE = SolitaireChess().parse_state(".RN./B.P./..../....")
TREE = search(STATE, max_tree=100).tree


@dataclass
class Board:
    left: float
    top: float
    size: float
    frame: str
    pieces: dict[tuple[int, int], str]
    words: list[str]
    middles: list[tuple[float, float]]
    """Of the words."""


def read(svg: str) -> tuple[list[Board], dict[int, dict[str, str]], tuple[float, float]]:
    """The boards by number, the lines by the number of the board they lead to, and the size of the drawing."""
    root = ElementTree.fromstring(svg)
    boards: list[Board] = []
    lines = {}
    for element in root:
        kind = element.tag.rsplit("}")[-1]
        if kind == "line":
            lines[int(element.attrib["data-step"])] = element.attrib
        if kind != "g":
            continue
        assert int(element.attrib["data-step"]) == len(boards)
        frame = [part.attrib for part in element if part.attrib.get("fill") == "none"][-1]
        left, top, size = (float(frame[name]) for name in ("x", "y", "width"))
        assert float(frame["height"]) == size, "as all boards here, of 4x4"
        pieces = {}
        for part in element:
            if "data-piece" in part.attrib:
                x, y = map(float, part.attrib["data-upright"].split())
                pieces[int((y - top) / size * 4), int((x - left) / size * 4)] = part.attrib["data-piece"]
        words = [part.text or "" for part in element if part.tag.endswith("text")]
        texts = [part.attrib for part in element if part.tag.endswith("text")]
        middles = [(float(text["x"]), float(text["y"]) - 0.35 * float(text["font-size"])) for text in texts]
        boards.append(Board(left, top, size, frame["stroke"], pieces, words, middles))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    return boards, lines, (width, height)


def test_every_position_is_drawn_under_the_one_before() -> None:
    boards, lines, (width, height) = read(search_tree_svg(STATE, TREE, True, "title"))
    assert len(boards) == len(TREE) == 12
    assert sorted(lines) == list(range(1, 12))
    states = [STATE]
    for number, (parent, action) in enumerate(TREE[1:], 1):
        states.append(states[parent].clone())
        states[-1].apply(action)
        assert boards[number].words == [f"{number}. {states[parent].action_name(action)}"]
        (across, down) = boards[number].middles[0]
        assert across == pytest.approx(boards[number].left + boards[number].size / 2)
        above, line = boards[parent], {name: float(lines[number][name]) for name in ("x1", "y1", "x2", "y2")}
        assert (line["x1"], line["y1"]) == pytest.approx((above.left + above.size / 2, above.top + above.size))
        assert line["x2"] == pytest.approx(boards[number].left + boards[number].size / 2)
        assert above.top + above.size < line["y2"] < down < boards[number].top
    for board, state in zip(boards, states, strict=True):
        expected = oracle.parse(str(state))
        assert sorted(board.pieces.values()) == sorted(str(state).replace(".", "").replace("/", ""))
        assert len(expected) == len(board.pieces)
        rows = str(state).split("/")
        assert all(rows[row][column] == piece for (row, column), piece in board.pieces.items())
        assert 0 <= board.left <= board.left + board.size <= width
        assert 0 <= board.top <= board.top + board.size <= height


def test_siblings_are_side_by_side_and_their_parent_above_their_middle() -> None:
    boards, _, _ = read(search_tree_svg(STATE, TREE, True, "title"))
    depths = [0]
    for parent, _ in TREE[1:]:
        depths.append(depths[parent] + 1)
    tops = sorted({board.top for board in boards})
    assert [board.top for board in boards] == [tops[depth] for depth in depths]
    for number, board in enumerate(boards):
        children = [child for child, (parent, _) in enumerate(TREE) if parent == number and child]
        if children:
            assert board.left == pytest.approx((boards[children[0]].left + boards[children[-1]].left) / 2)
        # The tree was entered from left to right, so boards of one row stand in the order of their numbers.
        right = [other for other in range(number + 1, 12) if depths[other] == depths[number]]
        assert all(board.left + board.size < boards[other].left for other in right)


@pytest.mark.parametrize("solved", [True, False])
def test_colours(solved: bool) -> None:
    boards, lines, _ = read(search_tree_svg(STATE, TREE, solved, "title"))
    path = {0, 9, 10, 11} if solved else set()  # the last three captures solve the puzzle
    parents = {parent for parent, _ in TREE}
    for number, board in enumerate(boards):
        dead = number not in parents and number not in path
        expected = draw.HIGHLIGHTS["good"] if number in path else draw.HIGHLIGHTS["bad"] if dead else draw.LINE
        assert board.frame == expected
        if number:
            assert lines[number]["stroke"] == (draw.HIGHLIGHTS["good"] if number in path else draw.LINE)


def test_every_piece() -> None:
    state = SolitaireChess().parse_state("KQR./BNP./..../....")
    [board], _, _ = read(search_tree_svg(state, [(-1, 0)], False, "title"))
    assert board.pieces == {(0, 0): "K", (0, 1): "Q", (0, 2): "R", (1, 0): "B", (1, 1): "N", (1, 2): "P"}
