"""The pages about papers: what their experiments find beside slow and obvious computations, and in a browser."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import combinations
from typing import Any

import pytest
import requests

import rookery
from rookery.games.solitaire_chess.search import search
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


# Beside slow and obvious computations


def outcome(name: str, experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson(name).experiment(experiment)(settings)


def slow_value_iteration(sweeps: int, discount: float) -> dict[frozenset[int], float]:
    """Boards of 3x3 with the seven pieces and the reward of squared lines, as sets of cells."""
    game = rookery.load("tenten", "3x3-seven")
    lines = [frozenset(range(r * 3, r * 3 + 3)) for r in range(3)] + [frozenset(range(c, 9, 3)) for c in range(3)]
    boards = [frozenset(cells) for count in range(10) for cells in combinations(range(9), count)]
    boards = [board for board in boards if not any(line <= board for line in lines)]
    total = sum(game.weights)
    values = dict.fromkeys(boards, 0.0)
    for _ in range(sweeps):
        fresh = {}
        for board in boards:
            mean = 0.0
            for shape, weight in zip(game.shapes, game.weights, strict=True):
                best = 0.0
                for row in range(3):
                    for column in range(3):
                        cells = [(row + r, column + c) for r, c in shape]
                        placed = {3 * r + c for r, c in cells}
                        if any(r > 2 or c > 2 for r, c in cells) or placed & board:
                            continue
                        full = [line for line in lines if line <= board | placed]
                        after = (board | placed).difference(*full)
                        best = max(best, len(full) ** 2 + discount * values[frozenset(after)])
                mean += weight / total * best
            fresh[board] = mean
        values = fresh
    return values


def test_the_sweeps_are_those_of_slow_value_iteration() -> None:
    truth = slow_value_iteration(4, 0.7)
    for board in (0, 8, 0b011_000_101):
        found = outcome("tenten", "sweeps", reward="r2", discount=0.7, sweeps=4, board=board)
        cells = frozenset(cell for cell in range(9) if board >> cell & 1)
        assert found["panels"][2]["chart"]["lines"]["value"][-1] == (4, pytest.approx(truth[cells]))
    with pytest.raises(ValueError, match="full line"):
        outcome("tenten", "sweeps", board=7)


def test_the_backup_ends_at_the_exact_distances() -> None:
    for fen in ("8/8/8/4k3/8/2K5/8/3Q4 w - - 0 1", "8/8/8/8/5k2/8/8/K2R4 w - - 0 1"):
        found = outcome("endgames", "spread", position=fen, rounds=40)
        assert found["rows"]
        assert all(learned == exact for _, learned, exact in found["rows"])
        assert found["panels"][1]["chart"]["lines"]["all positions exact"][-1][1] == 100.0
    moved = outcome("endgames", "spread", position="8/8/8/4k3/8/2K5/8/3Q4 w - - 0 1", square=0, rounds=5)
    assert moved["text"] != found["text"]
    for wrong in ("8/8/8/4k3/8/2K5/8/3N4 w - - 0 1", "8/8/8/4k3/8/2K5/8/3Q4 b - - 0 1"):
        with pytest.raises(ValueError, match="set up White's king"):
            outcome("endgames", "spread", position=wrong)


def test_both_trees_have_a_step_per_position() -> None:
    rows = ".RN./B.P./..../...."
    found = outcome("solitaire-chess", "trees", position=rows)
    state = rookery.load("solitaire-chess").parse_state(rows)
    plain = search(state).states
    steps = [{int(step) for step in re.findall(r'<g data-step="(\d+)"', panel["svgs"][0])} for panel in found["panels"]]
    assert steps[0] == set(range(plain))
    assert f"enters {plain} positions, the ranking {len(steps[1])}:" in found["text"]
    assert found["steps"] == plain


def test_ranked_rewards_teach_and_a_goal_out_of_reach_does_not() -> None:
    def lengths(**settings: Any) -> list[float]:
        lines = outcome("morpion", "ranked", games=400, **settings)["panels"][0]["chart"]["lines"]
        return [y for _, y in next(iter(lines.values()))]

    ranked, fixed = lengths(), lengths(reward="fixed goal")
    assert ranked[-1] > ranked[0] + 4
    assert fixed[-1] < ranked[-1] - 4


def test_a_search_finds_a_legal_game() -> None:
    found = outcome("morpion", "nested", variant="4D", level=1)
    moves = int(found["text"].split()[0])
    assert 20 < moves <= 35  # 35 is proven to be the longest
    assert found["panels"][0]["notes"][-1] == f"{moves} moves"


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
