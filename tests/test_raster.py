"""Drawings as pixels: geometry that can be computed otherwise, and Chromium's pictures of the same drawings."""

from __future__ import annotations

import io
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
