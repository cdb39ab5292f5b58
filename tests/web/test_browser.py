"""The page in a real browser: every game played, overlays, hints, keyboard, a narrow screen, and a clean console."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.games.solitaire_chess.exact import solve
from tests.web.conftest import Server

playwright = pytest.importorskip("playwright.sync_api")
playwright.expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
AXE = Path(__file__).parents[2] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium"),
    pytest.mark.xdist_group("browser"),
]
ARGUMENTS = [
    "--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync",
]  # fmt: skip

Page = Any
OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any, server: Server) -> Iterator[OpenPage]:
    """Opens pages, and in the end checks that nothing went wrong in them."""
    problems: list[str] = []
    contexts = []

    def open_page(
        path: str = "",
        width: int = 1200,
        height: int = 800,
        theme: str = "light",
        touch: bool = False,
        calm: bool = True,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, has_touch=touch,
            permissions=["clipboard-read", "clipboard-write"], reduced_motion="reduce" if calm else "no-preference",
        )  # fmt: skip
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: problems.extend([message.text] * (message.type in ("error", "warning"))))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.route("**/api/plays", with_seed)
        page.goto(f"{server.url}/{path}")
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def with_seed(route: Any) -> None:
    """A new game is the same one in every run of the tests."""
    if route.request.method == "POST":
        route.continue_(post_data={"seed": 1} | route.request.post_data_json)
    else:
        route.continue_()


def open_play(open_page: OpenPage, server: Server, body: dict[str, Any], **options: Any) -> tuple[Page, dict[str, Any]]:
    view = server.call("/plays", {"seed": 1} | body)
    page = open_page(f"#/play/{view['id']}", **options)
    return page, view


def played(page: Page) -> int:
    count: int = page.locator(".history button:not(.later)").count()
    return count


def expect_played(page: Page, count: int) -> None:
    playwright.expect(page.locator(".history button:not(.later)")).to_have_count(count)


def touch(page: Page, cells: list[int]) -> None:
    for cell in cells:
        page.locator(f'[data-touch="{cell}"]').click()


def choose(page: Page, label: str, agent: str) -> None:
    """Take an agent from a list, behind "More agents" where it is not among the first."""
    select = page.get_by_label(label, exact=True)
    if not select.locator(f'option[value="{agent}"]').count():
        select.select_option("more")
    select.select_option(agent)


def legal_list(page: Page) -> Any:
    """The buttons of the list of legal moves, opened."""
    if not page.locator(".legal[open]").count():
        page.locator(".legal summary").click()
    return page.locator(".moves button")


@pytest.mark.parametrize(
    ("title", "moves_each_turn"),
    [("Solitaire Chess", 1), ("Checkers", 2), ("Morpion Solitaire", 1), ("Chess endgames", 2), ("1010!", 1)],
)
def test_every_game_is_played_with_the_mouse(open_page: OpenPage, title: str, moves_each_turn: int) -> None:
    page = open_page()
    page.get_by_role("button", name=f"Play {title}").click()
    page.wait_for_selector(".board svg")
    page.wait_for_selector("[data-touch]")
    before = played(page)
    for turn in (1, 2):
        page.wait_for_selector("[data-touch]")
        page.locator("[data-touch]").first.click()
        if page.locator(".touch.target").count():
            page.locator(".touch.target").first.click()
        if page.locator(".picker button").count():
            page.locator(".picker button").first.click()
        expect_played(page, before + turn * moves_each_turn)
        if page.locator(".moves button").count() == 0:
            break  # the first move at hand may end an endgame
    count = played(page)
    page.reload()
    expect_played(page, count)


def test_a_game_without_a_drawing_is_played_from_the_list(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="Play Tic Tac Toe").click()
    page.locator(".moves button", has_text="4").click()
    expect_played(page, 2)
    assert page.locator(".board svg text").count() > 0


def test_a_puzzle_is_solved_and_undone(open_page: OpenPage, server: Server) -> None:
    rows = "R.../.B../..N./P..."
    page, _ = open_play(open_page, server, {"game": "solitaire-chess", "players": ["person"], "position": rows})
    state = rookery.load("solitaire-chess").parse_state(rows)
    moves = solve(state).moves
    assert moves
    for action in moves:
        touch(page, state.action_cells(action))
        state.apply(action)
        playwright.expect(page.locator("#notation")).to_have_value(str(state))
    playwright.expect(page.locator(".status")).to_have_text("Solved: one piece is left")
    for _ in moves:
        page.get_by_role("button", name="Undo").click()
    playwright.expect(page.locator("#notation")).to_have_value(rows)
    playwright.expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_role("button", name="Redo").click()
    expect_played(page, 1)


def test_the_puzzle_of_the_day_is_continued(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="Solve it").click()
    playwright.expect(page.locator("h1")).to_contain_text("Puzzle of")
    address = page.url
    page.goto(address.split("#")[0])
    page.get_by_role("link", name="Continue", exact=True).click()
    playwright.expect(page.locator("h1")).to_contain_text("Puzzle of")
    assert page.url == address


def test_a_solved_puzzle_is_not_offered_again(open_page: OpenPage, server: Server) -> None:
    rows = "R.../.B../..N./P..."
    page = open_page(f"#/new/solitaire-chess?position={rows}")
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector(".play .board")
    page.goto(f"{server.url}/#/")
    playwright.expect(page.get_by_role("heading", name="Continue")).to_be_visible()
    page.get_by_role("link", name="Solitaire Chess", exact=True).click()
    state = rookery.load("solitaire-chess").parse_state(rows)
    for action in solve(state).moves or ():
        touch(page, state.action_cells(action))
        state.apply(action)
        playwright.expect(page.locator("#notation")).to_have_value(str(state))
    playwright.expect(page.locator(".banner h2")).to_have_text("Solved!")
    playwright.expect(page.locator(".verdict")).to_be_hidden()  # the coach is off
    page.goto(f"{server.url}/#/")
    playwright.expect(page.get_by_role("heading", name="Finished")).to_be_visible()
    playwright.expect(page.get_by_role("heading", name="Continue")).to_have_count(0)


def test_hints_come_in_three_stages(open_page: OpenPage, server: Server) -> None:
    body = {"game": "solitaire-chess", "players": ["person"], "position": "R.../.B../..N./P..."}
    page, _ = open_play(open_page, server, body)
    for stage in (1, 2, 3):
        page.get_by_role("button", name="Hint").click()
        playwright.expect(page.locator(".hint p")).to_have_count(stage)
    assert page.locator(".lit").count() == 2


def test_the_trainer_says_when_the_win_is_gone(open_page: OpenPage, server: Server) -> None:
    body = {"game": "endgames", "players": ["person", "oracle"], "position": "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"}
    page, view = open_play(open_page, server, body)
    bad = next(row for row in view["legal"] if row["name"] == "Rd5+")
    touch(page, bad["cells"])
    playwright.expect(page.locator(".verdict.bad")).to_contain_text("threw the win away")
    playwright.expect(page.locator(".status")).to_contain_text("Drawn")


def test_what_it_thinks_beside_the_exact_answer(open_page: OpenPage, server: Server) -> None:
    body = {"game": "endgames", "players": ["person", "person"], "position": "8/8/8/8/8/1K6/7R/k7 w - - 0 1"}
    page, view = open_play(open_page, server, body)
    plain = page.locator(".board svg text").count()
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    choose(page, "Agent", "q-learning")
    playwright.expect(page.locator(".values tbody tr")).to_have_count(len(view["legal"]))
    playwright.expect(page.locator(".values thead th")).to_have_count(3)  # move, agent, exact
    playwright.expect(page.locator(".values td.right").last).to_have_text("mate")
    playwright.expect(page.locator(".boards figure")).to_have_count(2)
    assert page.locator(".board svg text").count() > plain
    assert page.locator(".why li").count() > 0
    page.get_by_label("On the board").select_option("none")
    playwright.expect(page.locator(".board svg text")).to_have_count(plain)


def test_the_trainer_is_silent_where_nobody_knows(open_page: OpenPage, server: Server) -> None:
    """Of the start of checkers no exact answer is known: that is said only to who asks for it."""
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    assert page.get_by_label("Tell me when a move goes wrong").is_checked()
    with page.expect_response("**/judge"):
        touch(page, view["legal"][0]["cells"])
    playwright.expect(page.get_by_label("Tell me when a move goes wrong")).not_to_be_checked()
    playwright.expect(page.locator(".verdict")).to_be_hidden()
    page.get_by_label("Tell me when a move goes wrong").check()
    legal_list(page).first.click()
    playwright.expect(page.locator(".verdict")).to_contain_text("No exact answer")


def test_a_run_is_started_followed_and_met(open_page: OpenPage) -> None:
    page = open_page("#/runs")
    page.get_by_label("Game", exact=True).select_option("tenten")
    page.get_by_label("Method", exact=True).select_option("linear")
    page.get_by_label("Variant").select_option("3x3-three")
    page.get_by_label("Generations", exact=False).fill("4")
    page.get_by_label("Seed").fill("7")
    page.get_by_role("button", name="Start").click()
    playwright.expect(page.locator("h1")).to_have_text("1010!: linear 3x3-three")
    playwright.expect(page.locator("code")).to_have_text(
        "rookery train tenten linear --variant 3x3-three --generations 4 --seed 7"
    )
    playwright.expect(page.locator(".badge")).to_have_text("Done")
    playwright.expect(page.locator(".chart")).to_be_visible()
    playwright.expect(page.get_by_label("Show")).to_have_value("elite_mean_rounds")
    page.get_by_role("link", name="Play with it").click()
    seat = page.get_by_label("Who plays")
    playwright.expect(seat).to_have_value(re.compile(r"^linear@[0-9a-f]{12}$"))
    assert page.get_by_label("Variant").input_value() == "3x3-three"
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Step").click()
    expect_played(page, 1)


def test_the_form_shows_presets(open_page: OpenPage) -> None:
    page = open_page("#/runs")
    page.get_by_label("Game", exact=True).select_option("endgames")
    page.get_by_label("Method", exact=True).select_option("q-learning")
    presets = page.get_by_label("Preset").locator("option")
    assert presets.count() > 3
    before = page.get_by_label("Shaping", exact=False).input_value()
    page.get_by_label("Preset").select_option(index=presets.count() - 1)
    assert before == "relative"
    assert page.get_by_label("Shaping", exact=False).input_value() == "potential"


def test_a_slow_agent_is_stopped_and_the_page_stays_alive(open_page: OpenPage, server: Server) -> None:
    body = {"game": "checkers", "players": ["person", "minimax:depth=60"]}
    page, view = open_play(open_page, server, body)
    touch(page, view["legal"][0]["cells"])
    page.get_by_role("button", name="Stop", exact=True).click()
    playwright.expect(page.get_by_role("button", name="Let it move")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect_played(page, 0)
    choose(page, "White", "random")
    touch(page, view["legal"][0]["cells"])
    expect_played(page, 2)


def test_a_touched_piece_stays_touched_when_the_page_is_drawn_again(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "best"]})
    start, target = view["legal"][0]["cells"]
    touch(page, [start])
    with page.expect_response("**/players"):
        choose(page, "White", "random")
    page.get_by_role("button", name="Hint").click()
    playwright.expect(page.locator(".hint p")).to_have_count(1)
    playwright.expect(page.locator(".touch.chosen")).to_have_attribute("data-touch", str(start))
    touch(page, [target])
    expect_played(page, 2)


def test_agents_are_watched_with_steps_back(open_page: OpenPage, server: Server) -> None:
    body = {"game": "solitaire-chess", "players": ["best"], "position": "R.../.B../..N./P..."}
    page, _ = open_play(open_page, server, body)
    page.get_by_label("Speed").fill("6")
    page.get_by_role("button", name="Run").click()
    playwright.expect(page.locator(".status")).to_have_text("Solved: one piece is left")
    page.get_by_role("button", name="Back").click()
    expect_played(page, 2)
    page.get_by_role("button", name="Start").click()
    expect_played(page, 0)
    page.get_by_role("button", name="Step").click()
    expect_played(page, 1)


def test_watching_continues_after_steps_back(open_page: OpenPage, server: Server) -> None:
    body = {"game": "endgames", "players": ["random", "random"], "position": "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"}
    page, _ = open_play(open_page, server, body)
    page.get_by_label("Speed").fill("6")
    for count in range(1, 5):
        page.get_by_role("button", name="Step").click()
        expect_played(page, count)
    for count in (3, 2, 1):
        page.get_by_role("button", name="Back").click()
        expect_played(page, count)
    page.get_by_role("button", name="Run").click()
    playwright.expect(page.locator(".history button:not(.later)").nth(7)).to_be_attached()


def test_the_list_of_moves_follows_the_game(open_page: OpenPage, server: Server) -> None:
    state = rookery.load("checkers").initial_state()
    start, actions = str(state), []
    while len(actions) < 60 and state.player() >= 0:
        actions.append(state.legal_actions()[0])
        state.apply(actions[-1])
    record = state.game.record(start, actions, ["a", "b"]).text
    body = {"game": "checkers", "players": ["person", "person"], "position": record}
    page, _ = open_play(open_page, server, body)
    in_sight = """() => {
        const [list, move] = [".history", ".history [aria-current]"].map(
            (place) => document.querySelector(place).getBoundingClientRect());
        return move.top >= list.top && move.bottom <= list.bottom;
    }"""
    assert page.locator(".history").evaluate("list => list.scrollHeight > list.clientHeight")
    page.wait_for_function(in_sight)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1366, 768), (390, 844), (844, 390)])
def test_everything_needed_to_play_fits(open_page: OpenPage, server: Server, width: int, height: int) -> None:
    """Board, tools and verdict are in sight, and the verdict leaves the tools where they were."""
    body = {"game": "endgames", "players": ["person", "oracle"], "position": "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"}
    page, view = open_play(open_page, server, body, width=width, height=height)
    undo = page.get_by_role("button", name="Undo")
    before = undo.bounding_box()
    touch(page, next(row["cells"] for row in view["legal"] if row["name"] == "Rd5+"))
    page.wait_for_selector(".verdict.bad")
    new_game = page.get_by_role("button", name="New game")
    for place in (page.locator(".board"), page.locator(".status"), page.locator(".verdict"), undo, new_game):
        box = place.bounding_box()
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
    assert page.locator(".board").bounding_box()["height"] > 300
    assert abs(undo.bounding_box()["y"] - before["y"]) < 30  # the status may take a second line on a telephone


def test_a_picker_asks_where_several_lines_end_at_one_dot(open_page: OpenPage, server: Server) -> None:
    state = rookery.load("morpion").initial_state()
    while True:  # some position soon has a dot with two lines
        actions = state.legal_actions()
        dots = [state.action_cells(action)[0] for action in actions]
        double = next((dot for dot in dots if dots.count(dot) > 1), None)
        if double is not None:
            break
        state.apply(actions[0])
    page, view = open_play(open_page, server, {"game": "morpion", "players": ["person"], "position": str(state)})
    page.locator(f'[data-touch="{double}"]').click()
    expected = [row["label"] for row in view["legal"] if row["cells"][0] == double]
    buttons = page.locator(".picker button")
    playwright.expect(buttons).to_have_text([*expected, "✕"])
    assert page.locator(".preview-line").count() == 1  # of the one that has the focus
    buttons.nth(1).click()
    playwright.expect(page.locator(".history [aria-current]")).to_have_text(expected[1])


def test_a_promotion_is_picked(open_page: OpenPage, server: Server) -> None:
    body = {"game": "endgames", "variant": "KPK", "players": ["person", "person"]}
    page, view = open_play(open_page, server, body | {"position": "8/4P3/8/8/8/4K3/8/k7 w - - 0 1"})
    touch(page, next(row["cells"] for row in view["legal"] if row["name"].startswith("e8=Q")))
    names = page.locator(".picker button").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert names == ["e8=Q", "e8=R", "e8=B", "e8=N", "Cancel"]
    page.get_by_role("button", name="e8=R", exact=True).click()
    playwright.expect(page.locator("#notation")).to_have_value(re.compile(r"^4R3/8/"))


def test_everything_by_keyboard(open_page: OpenPage, server: Server) -> None:
    """A move on the board with arrows and Enter, one from the list, and undo by a letter."""
    page, _ = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    page.locator('[data-touch][tabindex="0"]').focus()
    first = page.evaluate("document.activeElement.dataset.touch")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.touch") != first
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect_played(page, 1)
    legal_list(page).first.focus()
    page.keyboard.press("Enter")
    expect_played(page, 2)
    page.locator('[data-touch][tabindex="0"]').focus()
    page.keyboard.press("u")
    expect_played(page, 1)


def test_tab_reaches_board_and_lists(open_page: OpenPage, server: Server) -> None:
    page, _ = open_play(open_page, server, {"game": "tenten", "players": ["person"]})
    legal_list(page)
    page.locator("h1").click()
    seen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        kind = page.evaluate(
            "(e => e.dataset?.touch !== undefined ? 'cell' : e.closest('.moves') ? 'move' : e.tagName)"
            "(document.activeElement)"
        )
        seen.add(kind)
    assert {"cell", "move", "SELECT", "BUTTON"} <= seen


def test_the_board_is_turned_round(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    cell = view["legal"][0]["cells"][0]

    def place() -> tuple[float, float]:
        board = page.locator(".board svg").bounding_box()
        square = page.locator(f'[data-touch="{cell}"]').bounding_box()
        from_left = square["x"] + square["width"] / 2 - board["x"]
        from_top = square["y"] + square["height"] / 2 - board["y"]
        return from_left / board["width"], from_top / board["height"]

    before = place()
    page.get_by_role("button", name="Flip").click()
    assert place() == pytest.approx((1 - before[0], 1 - before[1]), abs=0.01)
    touch(page, view["legal"][0]["cells"])
    expect_played(page, 1)


def test_a_finger_looks_before_it_places(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(
        open_page, server, {"game": "tenten", "players": ["person"], "seed": 1}, width=360, touch=True
    )
    cell = page.locator(f'[data-touch="{view["legal"][0]["cells"][0]}"]')
    cell.tap()
    playwright.expect(page.locator(".preview")).to_have_count(len(view["legal"][0]["preview"]))
    expect_played(page, 0)
    cell.tap()
    expect_played(page, 1)


def test_a_position_is_shared_by_link(open_page: OpenPage, server: Server) -> None:
    fen = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
    page, _ = open_play(open_page, server, {"game": "endgames", "players": ["person", "oracle"], "position": fen})
    page.get_by_role("tab", name="Position").click()
    page.get_by_role("button", name="Copy position").click()
    assert page.evaluate("navigator.clipboard.readText()") == fen
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    other = open_page(link.removeprefix(f"{server.url}/"))
    playwright.expect(other.get_by_label("Position, in the notation")).to_have_value(fen)
    other.get_by_role("button", name="Start").click()
    playwright.expect(other.locator("#notation")).to_have_value(fen)


def test_a_position_is_set_up_by_touch(open_page: OpenPage) -> None:
    page = open_page("#/new/endgames")
    page.get_by_label("Black", exact=True).select_option("person")  # an agent would move as soon as the game starts
    text = page.get_by_label("Position, in the notation")
    page.get_by_role("button", name="Clear the board").click()
    playwright.expect(text).to_have_value("8/8/8/8/8/8/8/8 w - - 0 1")
    playwright.expect(page.get_by_role("button", name="Start")).to_be_disabled()
    for piece, cell in (("k", 28), ("R", 56), ("K", 59)):  # e5, a1, d1
        page.get_by_label("Touch the board to put there").select_option(piece)
        touch(page, [cell])
    playwright.expect(text).to_have_value("8/8/8/4k3/8/8/8/R2K4 w - - 0 1")
    page.get_by_role("button", name="Other side to move").click()
    playwright.expect(text).to_have_value("8/8/8/4k3/8/8/8/R2K4 b - - 0 1")
    touch(page, [29])  # beside the black king
    playwright.expect(page.locator("#position-note.wrong")).to_be_visible()
    playwright.expect(text).to_have_value("8/8/8/4kK2/8/8/8/R7 b - - 0 1")
    playwright.expect(page.get_by_role("button", name="Start")).to_be_disabled()
    touch(page, [59])
    playwright.expect(text).to_have_value("8/8/8/4k3/8/8/8/R2K4 b - - 0 1")
    page.get_by_role("button", name="Start").click()
    playwright.expect(page.locator("#notation")).to_have_value("8/8/8/4k3/8/8/8/R2K4 b - - 0 1")


def test_only_agents_that_play_a_variant_are_offered_for_it(open_page: OpenPage) -> None:
    page = open_page("#/new/tenten")
    seat = page.get_by_label("Who plays")
    choose(page, "Who plays", "linear")
    assert seat.locator("option[value=oracle]").count() == 0
    seat.select_option("best")
    page.get_by_label("Variant").select_option("4x4-seven")
    playwright.expect(seat.locator("option[value=linear]")).to_have_count(0)
    assert seat.input_value() == "best"
    choose(page, "Who plays", "oracle")
    seat.select_option("best")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Step").click()
    expect_played(page, 1)


def test_a_wrong_position_says_what_is_wrong(open_page: OpenPage) -> None:
    page = open_page("#/new/tenten")
    page.get_by_label("Position, in the notation").fill("###")
    playwright.expect(page.locator("#position-note.wrong")).to_contain_text("expected 10 rows")
    playwright.expect(page.get_by_role("button", name="Start")).to_be_disabled()


PAGES = ["", "#/new/checkers", "#/runs", "#/puzzles"]


def test_nothing_sticks_out_of_a_narrow_screen(open_page: OpenPage, server: Server) -> None:
    page = open_page(width=360)
    paths = list(PAGES)
    for name in rookery.GAMES:
        body = {"game": name, "players": ["person"] * rookery.load(name).players}
        paths.append(f"#/play/{server.call('/plays', body)['id']}")
    for path in paths:
        page.goto(f"{server.url}/{path}")
        page.wait_for_selector("main h1")
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_light_and_dark(open_page: OpenPage) -> None:
    page = open_page(theme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_role("button", name="Change between light and dark").click()
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate(background) == light


@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: make axe")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_page: OpenPage, server: Server, theme: str) -> None:
    body = {"game": "endgames", "players": ["person", "oracle"], "position": "8/8/8/8/8/1K6/7R/k7 w - - 0 1"}
    page, _ = open_play(open_page, server, body, theme=theme)
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    page.wait_for_selector(".values table")
    rules = None if theme == "light" else ["color-contrast"]  # the rest is the same in the dark
    found = axe(page, rules)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Really?").click()
    page.wait_for_selector(".banner h2")
    found += axe(page, rules)
    view = server.call("/plays", {"game": "morpion", "players": ["person"], "seed": 1})
    view = server.call(f"/plays/{view['id']}/move", {"action": view["legal"][0]["action"], "ply": 0})
    page.goto(f"{server.url}/#/play/{view['id']}")
    page.wait_for_selector(".history button")
    page.get_by_role("tab", name="Review").click()
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_selector(".worst li")
    found += axe(page, rules)
    view = server.call("/plays", {"game": "solitaire-chess", "players": ["person"], "puzzle": "solo", "seed": 1})
    page.goto(f"{server.url}/#/play/{view['id']}")
    page.wait_for_selector(".history")
    page.locator(".legal summary").click()
    found += axe(page, rules)
    for path in PAGES:
        page.goto(f"{server.url}/{path}")
        page.wait_for_selector("main h1")
        page.wait_for_timeout(200)
        found += axe(page, rules)
    assert found == []


def axe(page: Page, rules: list[str] | None) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    result = page.evaluate("rules => axe.run(rules ? { runOnly: rules } : {})", rules)
    return [
        f"{page.url} {issue['id']}: {node['html'][:150]}"
        for issue in result["violations"]
        if issue["impact"] in ("serious", "critical")
        for node in issue["nodes"]
    ]
