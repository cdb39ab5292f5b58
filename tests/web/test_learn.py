"""The pages about papers, as the server gives them and in a browser; what experiments find is tested with each game."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest
import requests

from rookery.studies.lesson import Experiment, lesson, lessons
from tests.web.conftest import Server
from tests.web.test_browser import AXE, CHROMIUM, OpenPage, Page, axe, browser, open_page, playwright
from tests.web.test_guard import error

__all__ = ["browser", "open_page"]  # fixtures
EXPERIMENTS = [(name, e.name) for name in lessons() for e in (lesson(name).figure, *lesson(name).experiments)]


@pytest.mark.parametrize(("name", "experiment"), EXPERIMENTS)
def test_every_experiment_runs_and_is_as_documented(server: Server, name: str, experiment: str) -> None:
    outcome = server.call(f"/learn/{name}/{experiment}", {})  # the server checks its answers against their types
    assert outcome["panels"] or outcome["rows"]
    for panel in outcome["panels"]:
        assert panel["chart"] or panel["svgs"]
        assert len(panel["svgs"]) in (0, 1, outcome["steps"])


@pytest.mark.parametrize("name", lessons())
def test_a_page_has_a_story_of_ten_sentences_and_bounded_settings(server: Server, name: str) -> None:
    page = server.call(f"/learn/{name}")
    assert len(page["story"]) == 10
    assert len(page["findings"]) >= 3
    assert len(page["experiments"]) >= 3
    for row in page["experiments"]:
        for setting in row["settings"]:
            assert setting["kind"] in ("choice", "switch") or "low" in setting or "board" in setting, setting
            assert setting["about"]


def bounded() -> list[tuple[str, str, str, float]]:
    found = []
    for name in lessons():
        for experiment in lesson(name).experiments:
            for field in fields(experiment.Settings):
                if "low" in field.metadata:
                    found.append((name, experiment.name, field.name, field.metadata["low"] - 1))
                    found.append((name, experiment.name, field.name, field.metadata["high"] + 1))
    return found


@pytest.mark.parametrize(("name", "experiment", "field", "value"), bounded())
def test_numbers_beyond_their_bounds_are_refused(name: str, experiment: str, field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{field} must be from"):
        lesson(name).experiment(experiment).checked({field: value})


def test_nonsense_is_a_sentence(server: Server) -> None:
    def post(path: str, body: Any) -> tuple[int, str]:
        return error(requests.post(f"{server.url}/api/learn/{path}", json=body, timeout=30))

    for settings in (
        {"games": "x"}, {"games": 2**70}, {"nonsense": 1}, {"position": "B:W1:B1"}, {"position": "x" * 200},
        {"position": "../../etc/passwd"}, {"symmetries": 7}, {"games": 1.5},
    ):  # fmt: skip
        assert post("checkers/votes", {"settings": settings})[0] == 400
    assert post("checkers/votes", {"settings": {"position": "x" * 201}})[0] == 400
    assert post("checkers/votes", {"games": 5})[0] == 400
    assert post("checkers/nothing", {})[0] == 400
    for unknown in ("nothing", "rookery.games.checkers.learn", "%2e%2e"):
        assert post(f"{unknown}/figure", {})[0] in (404, 405)


def test_an_experiment_of_ones_own() -> None:
    bare = Experiment("x", "X", "Nothing to set.", lesson("checkers").figure.run)
    assert bare.fields() == []
    with pytest.raises(ValueError, match="unknown setting"):
        bare({"a": 1})


# In a browser

in_browser = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium"),
    pytest.mark.xdist_group("browser"),
]


def settled(page: Page) -> None:
    """Scroll through the page, so that every experiment runs, and wait for all of them."""
    for experiment in page.locator(".lesson-experiment").all():
        experiment.scroll_into_view_if_needed()
        playwright.expect(experiment.locator(".lesson-result")).not_to_have_text("…")
        playwright.expect(experiment).not_to_have_attribute("aria-busy", "true")


@pytest.mark.parametrize("name", lessons())
class TestInBrowser:
    pytestmark = in_browser

    def test_a_page_fits_a_narrow_screen_and_has_no_barriers(self, open_page: OpenPage, name: str) -> None:
        page = open_page(f"#/learn/{name}", width=360, theme="dark" if name < "m" else "light")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        if AXE.exists() and name in ("checkers", "tenten"):  # `make axe` installs it; the others have the same parts
            assert axe(page, None) == []


class TestTouch:
    pytestmark = in_browser

    def test_pages_are_found_from_the_navigation(self, open_page: OpenPage) -> None:
        page = open_page()
        page.get_by_role("link", name="Learn").click()
        playwright.expect(page.locator(".lesson-card")).to_have_count(len(lessons()))
        page.locator(".lesson-card").first.click()
        playwright.expect(page.get_by_role("heading", name="What the paper did")).to_be_visible()

    def test_a_slider_and_a_position_change_the_vote(self, open_page: OpenPage) -> None:
        page = open_page("#/learn/checkers")
        votes = page.locator(".lesson-experiment").nth(1)
        votes.scroll_into_view_if_needed()
        playwright.expect(votes.locator(".lesson-result")).to_contain_text("after 500 games")
        votes.get_by_label("games").focus()
        page.keyboard.press("End")
        playwright.expect(votes.locator(".lesson-result")).to_contain_text("after 10,000 games")
        before = votes.locator("textarea").input_value()
        votes.get_by_label("Touch the board to put there").select_option("B")
        votes.locator(".lesson-board [data-cell='0']").click()
        playwright.expect(votes.locator("textarea")).not_to_have_value(before)
        playwright.expect(votes.locator("textarea")).to_have_value(re.compile(r":B1,"))

    def test_a_state_is_picked_by_a_click_and_steps_are_gone_through(self, open_page: OpenPage, server: Server) -> None:
        page = open_page("#/learn/tenten")
        sweeps = page.locator(".lesson-experiment").nth(1)
        sweeps.scroll_into_view_if_needed()
        playwright.expect(sweeps.locator(".lesson-steps output")).to_contain_text("of 20")
        value = sweeps.locator(".lesson-result").text_content()
        sweeps.locator("[data-cell='0']").click()
        playwright.expect(sweeps.locator(".lesson-result")).not_to_have_text(value)
        sweeps.get_by_label("Which sweep to show").fill("19")
        playwright.expect(sweeps.locator(".lesson-steps output")).to_have_text("sweep 20 of 20")
        sweeps.get_by_role("button", name="Back").click()
        playwright.expect(sweeps.locator(".lesson-steps output")).to_have_text("sweep 19 of 20")

    def test_trees_grow(self, open_page: OpenPage) -> None:
        page = open_page("#/learn/solitaire-chess")
        trees = page.locator(".lesson-experiment").nth(1)
        trees.scroll_into_view_if_needed()
        slider = trees.get_by_label("Which position to show")
        slider.fill("0")
        playwright.expect(trees.locator("g[data-step]:not(.lesson-later)")).to_have_count(2)  # the root of each
        slider.fill("3")
        playwright.expect(trees.locator("g[data-step]:not(.lesson-later)")).to_have_count(8)
