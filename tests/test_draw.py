"""Values on drawn boards."""

from __future__ import annotations

import random
import re
from itertools import combinations

import pytest

import rookery
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
