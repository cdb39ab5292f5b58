"""Drawings as pixels: geometry that can be computed otherwise, and Chromium's pictures of the same drawings."""

from __future__ import annotations

import io
import itertools
import math
import shutil

import numpy as np
import pytest

import rookery as rk
from rookery.draw import Canvas, arrow
from rookery.game import Overlay
from rookery.raster import pixels

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def drawn(content: str, size: int = 100) -> np.ndarray:
    return pixels(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="{size}" height="{size}">'
                  f'<rect width="10" height="10" fill="white"/>{content}</svg>')  # fmt: skip


def ink(image: np.ndarray) -> float:
    """The black part of the drawing, in units of its own."""
    return float((255 - image[..., 0].astype(float)).sum() / 255 / (image.shape[0] / 10) ** 2)


def test_shapes_have_the_right_areas() -> None:
    assert ink(drawn('<rect x="2" y="3" width="4" height="2"/>')) == pytest.approx(8, rel=0.01)
    assert ink(drawn('<circle cx="5" cy="5" r="3"/>')) == pytest.approx(9 * np.pi, rel=0.01)
    assert ink(drawn('<ellipse cx="5" cy="5" rx="4" ry="2"/>')) == pytest.approx(8 * np.pi, rel=0.01)
    assert ink(drawn('<polygon points="1,1 9,1 1,9"/>')) == pytest.approx(32, rel=0.01)
    assert ink(drawn('<line x1="1" y1="5" x2="9" y2="5" stroke="black" stroke-width="0.5"/>')) == pytest.approx(
        4, rel=0.02
    )
    round_ends = '<line x1="2" y1="5" x2="8" y2="5" stroke="black" stroke-width="2" stroke-linecap="round"/>'
    assert ink(drawn(round_ends)) == pytest.approx(12 + np.pi, rel=0.01)
    assert ink(drawn('<rect x="1" y="1" width="8" height="8" rx="2"/>')) == pytest.approx(
        64 - (4 - np.pi) * 4, rel=0.01
    )
    # Below a parabola with its top at half the height of the control point: two thirds of the box.
    assert ink(drawn('<path d="M1 9 Q5 1 9 9 Z"/>')) == pytest.approx(2 / 3 * 8 * 4, rel=0.01)
    assert ink(drawn('<path d="M1 1 H9 V9 H1 Z"/>')) == pytest.approx(64, rel=0.01)


@pytest.mark.parametrize(("large", "clockwise", "area"), [(0, 1, 0.25), (1, 1, 0.75), (0, 0, 0.25), (1, 0, 0.75)])
def test_arcs_go_the_right_way_round(large: int, clockwise: int, area: float) -> None:
    """From the right end of a circle to its lower one, and back to the middle of that circle: a sector."""
    x, y = (4, 4) if clockwise != large else (6, 6)
    image = drawn(f'<path d="M6 4 A2 2 0 {large} {clockwise} 4 6 L{x} {y} Z"/>')
    assert ink(image) == pytest.approx(4 * np.pi * area, rel=0.02)


def middle(image: np.ndarray) -> tuple[float, float]:
    """The centre of gravity of the black part, x and y in units of the drawing."""
    weight = 255 - image[..., 0].astype(float)
    rows, columns = np.indices(weight.shape) + 0.5
    unit = image.shape[0] / 10
    return float((weight * columns).sum() / weight.sum() / unit), float((weight * rows).sum() / weight.sum() / unit)


@pytest.mark.parametrize(
    ("turned", "large", "clockwise"), [(t, a, c) for t, a, c in itertools.product((0, 30, 90), (0, 1), (0, 1))]
)
def test_arcs_of_ellipses(turned: int, large: int, clockwise: int) -> None:
    """The segment between an arc and its chord: its area is that of a circle's, stretched; going clockwise, it lies on
    the left hand."""
    (x1, y1), (x2, y2), (rx, ry) = (4.0, 5.5), (6.0, 4.5), (3.0, 1.5)
    cos, sin = math.cos(math.radians(turned)), math.sin(math.radians(turned))
    dx, dy = x2 - x1, y2 - y1
    angle = 2 * math.asin(math.hypot((dx * cos + dy * sin) / rx, (dy * cos - dx * sin) / ry) / 2)
    angle = 2 * math.pi - angle if large else angle
    image = drawn(f'<path d="M{x1} {y1} A{rx} {ry} {turned} {large} {clockwise} {x2} {y2} Z"/>', 200)
    assert ink(image) == pytest.approx(rx * ry * (angle - math.sin(angle)) / 2, rel=0.03, abs=0.02)
    x, y = middle(image)
    left = (x - 5) * dy - (y - 5) * dx  # y grows downwards
    assert (left > 0) == bool(clockwise)


def test_an_arc_whose_radius_is_too_small_is_half_an_ellipse() -> None:
    assert ink(drawn('<path d="M2 5 A1 1 0 0 1 8 5 Z"/>')) == pytest.approx(4.5 * np.pi, rel=0.01)
    assert ink(drawn('<path d="M2 5 A2 1 0 0 1 8 5 Z"/>')) == pytest.approx(2.25 * np.pi, rel=0.01)
    assert middle(drawn('<path d="M2 5 A1 1 0 0 1 8 5 Z"/>'))[1] == pytest.approx(5 - 4 / np.pi, abs=0.05)


def test_paths_of_several_parts() -> None:
    triangle = ink(drawn('<polygon points="1,1 9,1 9,9"/>'))
    for path in ("M1 1 9 1 9 9 Z", "M1 1 L9 1 9 9", "M1,1H9V9Z", "M0 0 M1 1 L 9.0 1 L9 .9e1Z", "M1 1 H5 9 V4 9 Z"):
        assert ink(drawn(f'<path d="{path}"/>')) == pytest.approx(triangle, rel=1e-3), path
    two = drawn('<path d="M1 1 H4 V4 H1 Z M6 6 H9 V9 H6 Z"/>')
    assert ink(two) == pytest.approx(18, rel=0.01)
    assert two[55, 55].min() == 255
    # A cubic curve is a sum of its four points with the weights of Bernstein.
    ends = np.array([(1, 9), (1, 1), (9, 1), (9, 9)], float)
    t = np.linspace(0, 1, 1001)[:, None]
    curve = sum(math.comb(3, k) * t**k * (1 - t) ** (3 - k) * ends[k] for k in range(4))
    area = abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in itertools.pairwise([*curve, curve[0]]))) / 2
    assert ink(drawn('<path d="M1 9 C1 1 9 1 9 9 Z"/>')) == pytest.approx(area, rel=0.01)
    twice = '<path d="M1 5 Q3 1 5 5 7 9 9 5" fill="none" stroke="black" stroke-width="0.4"/>'
    assert middle(drawn(twice)) == pytest.approx((5, 5), abs=0.05)
    assert ink(drawn('<path d="M1 9 Q5 1 9 9 Z M1 1"/>')) == pytest.approx(2 / 3 * 8 * 4, rel=0.01)


@pytest.mark.parametrize(
    ("style", "corner", "ends"),
    [
        ("", 1.0, 0.0),
        ('stroke-linejoin="bevel" stroke-linecap="butt"', 0.5, 0.0),
        ('stroke-linejoin="round" stroke-linecap="round"', np.pi / 4, np.pi),
        ('stroke-linecap="square"', 1.0, 4.0),
    ],
)
def test_lines_have_their_corners_and_ends(style: str, corner: float, ends: float) -> None:
    """Two rectangles of 2 by 5 that share a quarter of the joint, what fills the joint, and two ends."""
    image = drawn(f'<polyline points="3,8 3,3 8,3" fill="none" stroke="black" stroke-width="2" {style}/>')
    assert ink(image) == pytest.approx(10 + 10 - 1 + corner + ends, rel=0.01)


def test_a_line_has_no_inside_and_a_stroke_grows_with_its_group() -> None:
    line = '<line x1="1" y1="1" x2="4" y2="1" stroke="black" stroke-width="0.5" fill="black"/>'
    assert ink(drawn(line)) == pytest.approx(1.5, rel=0.02)
    assert ink(drawn(f'<g transform="scale(2)">{line}</g>')) == pytest.approx(6, rel=0.02)
    assert ink(drawn(f'<g transform="scale(2 1)">{line}</g>')) == pytest.approx(3 * 2**0.5, rel=0.05)
    assert ink(drawn('<rect x="2" y="2" width="4" height="4" fill="none"/>')) == 0
    assert ink(drawn('<rect x="2" y="2" width="4" height="4" fill="none" stroke="black"/>')) == pytest.approx(
        16, rel=0.01
    )
    assert ink(drawn('<rect x="2" y="1" width="2" height="8" rx="5"/>')) == pytest.approx(16 - (4 - np.pi), rel=0.01)
    assert ink(drawn('<rect x="1" y="2" width="8" height="2" rx="5"/>')) == pytest.approx(16 - (4 - np.pi), rel=0.01)


@pytest.mark.parametrize(
    ("transform", "where"),
    [
        ("translate(3)", (5, 1.5)), ("translate(3 4)", (5, 5.5)), ("scale(2)", (4, 3)), ("scale(2 3)", (4, 4.5)),
        ("translate(8 2) rotate(90)", (6.5, 4)), ("rotate(-90) translate(-9 3)", (4.5, 7)),
        ("rotate(180 4 4)", (6, 6.5)), ("", (2, 1.5)),
    ],
)  # fmt: skip
def test_transforms(transform: str, where: tuple[float, float]) -> None:
    """Where the middle (2, 1.5) of a rectangle comes to lie."""
    image = drawn(f'<g transform="{transform}"><rect x="1" y="1" width="2" height="1"/></g>')
    assert middle(image) == pytest.approx(where, abs=0.02)


def test_the_size_of_a_picture() -> None:
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{}"{}>{}</svg>'
    mark = '<rect x="6" y="7" width="2" height="1"/>'
    image = pixels(head.format("5 5 10 8", ' width="100" height="80"', mark))
    assert image.shape == (80, 100, 3)
    assert image[20:30, 10:30].max() == 0
    assert ink(image[:, :, :]) * (80 / 100) ** 2 == pytest.approx(2, rel=0.01)
    assert pixels(head.format("0 0 12 7", "", "")).shape == (7, 12, 3)
    assert pixels(head.format("0 0 10 10", ' width="20.2" height="30.7"', "")).shape == (31, 21, 3)
    assert pixels(head.format("0 0 4 4", "", "")).min() == 255, "paper is white"
    low = pixels(head.format("0 0 10 10", ' width="10.5" height="10.5"', '<rect width="10" height="5"/>'))
    assert low[0, :10].max() == 0
    assert low[-1].min() == 255


def test_styles_are_inherited_and_opacities_multiplied() -> None:
    image = drawn('<g fill="#00ff00" opacity="0.5"><rect width="5" height="10" opacity="0.5"/>'
                  '<rect x="5" width="5" height="10" fill="#000000" fill-opacity="0.2"/></g>')  # fmt: skip
    assert np.abs(image[50, 25].astype(int) - [191, 255, 191]).max() <= 1
    assert np.abs(image[50, 75].astype(int) - [230, 230, 230]).max() <= 1
    lines = drawn('<g stroke="#ff0000" stroke-width="4"><line x1="0" y1="3" x2="10" y2="3"/>'
                  '<line x1="0" y1="8" x2="10" y2="8" stroke-opacity="0.5"/></g><title>not drawn</title>')  # fmt: skip
    assert lines[30, 50].tolist() == [255, 0, 0]
    assert np.abs(lines[80, 50].astype(int) - [255, 127, 127]).max() <= 1
    assert lines[55, 50].tolist() == [255, 255, 255]


def test_fonts() -> None:
    def letters(text: str, style: str = "", x: float = 1) -> np.ndarray:
        return drawn(f'<g font-size="2" {style}><text x="{x}" y="5">{text}</text></g>', 200)

    assert ink(letters("H", 'font-weight="600"')) > 1.2 * ink(letters("H"))
    assert ink(letters("H", 'font-weight="700"')) == ink(letters("H", 'font-weight="bold"'))
    assert ink(letters("H", 'font-weight="500"')) == ink(letters("H"))

    def right(image: np.ndarray) -> int:
        return int(np.argwhere(image[..., 0] < 128)[:, 1].max())

    mono = 'font-family="ui-monospace, monospace"'
    assert abs(right(letters("iiiM", mono)) - right(letters("MMMM", mono))) <= 2
    assert right(letters("iiiM")) < right(letters("MMMM")) - 40
    tall = [np.ptp(np.argwhere(drawn(f'<text x="1" y="9" {size}>H</text>', 300)[..., 0] < 128)[:, 0]) for size in
            ('font-size="2"', 'font-size="4"')]  # fmt: skip
    assert tall[1] == pytest.approx(2 * tall[0], rel=0.05)
    assert 0.6 < tall[0] / 60 < 0.85, "a capital is about 0.73 of the size of its font"
    start, centre, end = (middle(letters("oo", f'text-anchor="{a}"', 5))[0] for a in ("start", "middle", "end"))
    assert centre == pytest.approx(5, abs=0.1)
    assert start - centre == pytest.approx(centre - end, abs=0.05)
    assert start > centre + 0.5


def test_what_is_on_top_and_transparent() -> None:
    image = drawn('<g transform="translate(2 2) scale(2)" fill="#ff0000"><rect width="2" height="2"/>'
                  '<g opacity="0.5"><rect width="1" height="1" fill="#0000ff"/></g></g>')  # fmt: skip
    assert image[50, 50].tolist() == [255, 0, 0]
    assert np.abs(image[30, 30].astype(int) - [127, 0, 127]).max() <= 1
    assert image[10, 10].tolist() == [255, 255, 255]
    turned = drawn('<rect x="6" y="4" width="3" height="2" transform="rotate(90 5 5)"/>')
    assert turned[75, 50].max() == 0
    assert turned[50, 75].min() == 255


def test_text_stands_on_its_point() -> None:
    canvas = Canvas(10, 10, "")
    canvas.text(5, 5, "H", 4, "black")
    dark = np.argwhere(pixels(canvas.render(20))[..., 0] < 128)
    assert np.abs(dark.mean(axis=0) - 100).max() < 4
    left, right = (drawn(f'<text x="5" y="5" font-size="2" text-anchor="{end}">ab</text>') for end in ("end", "start"))
    assert ink(left) == pytest.approx(ink(right), rel=0.02)
    assert ink(left[:, 52:]) == pytest.approx(0, abs=0.01)
    assert ink(drawn('<text x="5" y="5" font-size="2"> </text>')) == 0


def test_what_cannot_be_painted_is_named() -> None:
    with pytest.raises(ValueError, match="<image> cannot be made into pixels"):
        drawn('<image href="x.png"/>')
    with pytest.raises(ValueError, match="the transform skewX cannot"):
        drawn('<g transform="skewX(30)"><rect width="1" height="1"/></g>')
    with pytest.raises(ValueError, match="the commands are M, L"):
        drawn('<path d="M1 1 l2 2"/>')


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
@pytest.mark.parametrize(
    ("game", "variant", "text"),
    [
        ("checkers", None, "W:WK18,K23,32:BK1,4,12,K9"),
        ("endgames", None, "8/3k4/8/2B5/3N4/1K6/8/8 w - - 0 1"),
        ("solitaire-chess", None, "PR../.B../..N./Q..K"),
        ("tenten", "10x10-hand3", None),
        ("morpion", None, "(28,28);(27,27) / 0"),
    ],
)
def test_a_browser_paints_the_same(game: str, variant: str | None, text: str | None) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    rules = rk.load(game, variant)
    svg = (rules.parse_state(text) if text else rules.random_start()).svg()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 700, "height": 700})
        page.set_content(f"<body style='margin:0;background:white'>{svg}</body>")
        theirs = np.array(Image.open(io.BytesIO(page.locator("svg").screenshot())).convert("RGB")).astype(int)
        browser.close()
    ours = pixels(svg).astype(int)
    height, width = (min(ours.shape[i], theirs.shape[i]) for i in (0, 1))
    apart = np.abs(ours[:height, :width] - theirs[:height, :width]).max(axis=2)
    assert apart.mean() < 1
    assert (apart > 40).mean() < 0.01


def test_overlays_are_painted() -> None:
    state = rk.load("checkers").initial_state()
    plain = pixels(state.svg())
    action = state.legal_actions()[0]
    assert (pixels(state.svg(Overlay(values={action: 0.5}))) != plain).any(axis=2).mean() > 0.002
    canvas = Canvas(4, 4, "")
    arrow(canvas, (0.5, 0.5), (3.5, 3.5))
    assert pixels(canvas.render())[96, 96].tolist() != [250, 248, 243]
