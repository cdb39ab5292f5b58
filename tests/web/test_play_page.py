"""What players expect of the page, in a real browser: dragging, motion, sounds, keys, results, review, puzzles."""
# ruff: noqa: F811

from __future__ import annotations

import re
from typing import Any

import pytest

import rookery
from rookery.games.morpion.search import shipped
from rookery.games.solitaire_chess.exact import solve
from tests.web.conftest import Server
from tests.web.test_browser import (
    CHROMIUM,
    OpenPage,
    Page,
    browser,  # noqa: F401
    choose,
    expect_played,
    open_page,  # noqa: F401
    open_play,
    playwright,
    touch,
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium"),
    pytest.mark.xdist_group("browser"),
]
ROOK = "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"


def middle(page: Page, cell: int) -> tuple[float, float]:
    box = page.locator(f'[data-cell="{cell}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    page.mouse.move(*end, steps=4)


def record_of(name: str, plies: int) -> str:
    state = rookery.load(name).initial_state()
    start, actions = str(state), []
    for _ in range(plies):
        actions.append(state.legal_actions()[0])
        state.apply(actions[-1])
    return state.game.record(start, actions, ["a", "b"]).text


def test_a_piece_is_dragged(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    start, end = view["legal"][0]["cells"]
    drag(page, middle(page, start), middle(page, end))
    playwright.expect(page.locator(".aim")).to_have_count(1)
    page.mouse.up()
    expect_played(page, 1)
    playwright.expect(page.locator(".history [aria-current]")).to_have_text(view["legal"][0]["name"])
    # What is dropped elsewhere goes back.
    drag(page, middle(page, 23), middle(page, 1))
    page.mouse.up()
    playwright.expect(page.locator(".touch.chosen")).to_have_count(0)
    expect_played(page, 1)


def test_a_piece_is_dragged_from_the_tray(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "tenten", "variant": "10x10-hand3", "players": ["person"]})
    move = next(row for row in view["legal"] if row["cells"][1] == 33)
    places = [middle(page, cell) for cell in move["preview"]]
    goal = sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)
    drag(page, middle(page, move["cells"][0]), goal)
    playwright.expect(page.locator(".ghost rect")).to_have_count(len(move["preview"]))
    playwright.expect(page.locator(".preview")).to_have_count(len(move["preview"]))
    page.mouse.up()
    expect_played(page, 1)
    playwright.expect(page.locator(".history [aria-current]")).to_have_text(move["label"])
    assert re.fullmatch(r"\S+ at row 4, column 4", move["label"])


def test_a_finger_drags(open_page: OpenPage, server: Server) -> None:
    body = {"game": "tenten", "variant": "10x10-hand3", "players": ["person"]}
    page, view = open_play(open_page, server, body, width=390, height=844, touch=True)
    move = next(row for row in view["legal"] if row["cells"][1] == 33)
    places = [middle(page, cell) for cell in move["preview"]]
    goal_x, goal_y = (sum(place[i] for place in places) / len(places) for i in (0, 1))
    step = middle(page, 11)[1] - middle(page, 1)[1]
    x, y = middle(page, move["cells"][0])
    fingers = page.context.new_cdp_session(page)

    def finger(kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    finger("touchStart", (x, y))
    for share in (0.3, 0.6, 1):  # the piece is carried above the finger
        finger("touchMove", (x + share * (goal_x - x), y + share * (goal_y + 1.6 * step - y)))
    playwright.expect(page.locator(".preview")).to_have_count(len(move["preview"]))
    finger("touchEnd")
    expect_played(page, 1)
    playwright.expect(page.locator(".history [aria-current]")).to_have_text(move["label"])


def test_moves_are_animated_unless_the_system_asks_for_less_motion(open_page: OpenPage, server: Server) -> None:
    counted = """() => new Promise((done) => {
        let most = 0;
        const look = (left) => {
            const moving = document.querySelectorAll(".board svg g");
            most = Math.max(most, ...[...moving].map((group) => group.getAnimations().length));
            if (left) requestAnimationFrame(() => look(left - 1)); else done(most);
        };
        document.querySelector(".board .touch.target").dispatchEvent(new MouseEvent("click", { detail: 0 }));
        look(40);
    })"""
    for calm, expected in ((False, 1), (True, 0)):
        body = {"game": "endgames", "players": ["person", "person"], "position": ROOK}
        page, view = open_play(open_page, server, body, calm=calm)
        touch(page, view["legal"][0]["cells"][:1])
        assert page.evaluate(counted) == expected
        expect_played(page, 1)


def test_sounds_can_be_switched_off(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    page.evaluate("""() => {
        window.heard = 0;
        const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (...when) { window.heard += 1; return start.apply(this, when); };
    }""")
    touch(page, view["legal"][0]["cells"])
    expect_played(page, 1)
    assert page.evaluate("window.heard") == 1
    button = page.get_by_role("button", name="Sounds")
    button.click()
    playwright.expect(button).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("ArrowLeft")
    expect_played(page, 0)
    page.keyboard.press("ArrowRight")
    expect_played(page, 1)
    assert page.evaluate("window.heard") == 1
    page.reload()
    playwright.expect(page.get_by_role("button", name="Sounds")).to_have_attribute("aria-pressed", "false")


def test_arrow_keys_go_through_a_game_and_nobody_answers(open_page: OpenPage, server: Server) -> None:
    body = {"game": "checkers", "players": ["person", "random"], "position": record_of("checkers", 10)}
    page, _ = open_play(open_page, server, body)
    expect_played(page, 10)
    for left in range(9, 6, -1):
        page.keyboard.press("ArrowLeft")
        expect_played(page, left)
    playwright.expect(page.locator(".history button")).to_have_count(10)  # what was played is still there
    playwright.expect(page.get_by_role("button", name="Let it move")).to_be_visible()
    page.keyboard.press("Home")
    expect_played(page, 0)
    page.keyboard.press("ArrowRight")
    expect_played(page, 1)
    page.keyboard.press("End")
    expect_played(page, 10)
    # After a click on the board, too: only who came there by the keyboard walks over it.
    page.locator("[data-touch]").first.click()
    page.keyboard.press("ArrowLeft")
    expect_played(page, 9)


def test_the_board_is_turned_towards_the_person(open_page: OpenPage, server: Server) -> None:
    for game, players, below in (
        ("checkers", ["person", "random"], "Black"), ("checkers", ["random", "person"], "White"),
        ("endgames", ["oracle", "person"], "Black"), ("endgames", ["person", "person"], "White"),
    ):  # fmt: skip
        page, view = open_play(open_page, server, {"game": game, "players": players})
        playwright.expect(page.locator(".bottom-bar label")).to_have_text(below)
        turned = page.locator(".board svg .turned").count() == 1
        side = view["sides"].index(below)
        assert turned == (side != view["bottom"])


def test_targets_are_dots_under_the_pieces(open_page: OpenPage, server: Server) -> None:
    body = {"game": "solitaire-chess", "players": ["person"], "position": "R.../.B../..N./P..."}
    page, view = open_play(open_page, server, body)
    bishop = [row for row in view["legal"] if row["name"].startswith("B")]
    touch(page, bishop[0]["cells"][:1])
    playwright.expect(page.locator(".ring")).to_have_count(len(bishop))  # every target is taken here
    assert page.locator(".dot").count() == 0
    # In one step, and with patience: the board may be drawn again, or a piece may still be fading, while we look.
    first = "document.querySelector('.board {}')"
    following = "Node.DOCUMENT_POSITION_FOLLOWING"
    page.wait_for_function(
        f"{first.format('.ring')}.compareDocumentPosition({first.format('[data-piece]')}) === {following}"
    )
    page, view = open_play(open_page, server, {"game": "endgames", "players": ["person", "person"], "position": ROOK})
    king = [row for row in view["legal"] if row["name"].startswith("K")]
    touch(page, king[0]["cells"][:1])
    playwright.expect(page.locator(".dot")).to_have_count(len(king))
    last = server.call(f"/plays/{view['id']}/move", {"action": king[0]["action"], "ply": 0})["svg"]
    assert last.index('fill-opacity="0.5"') < last.index("data-piece")  # the last move, too


def test_resigning_is_asked_twice_and_a_rematch_changes_sides(open_page: OpenPage, server: Server) -> None:
    page, _ = open_play(open_page, server, {"game": "checkers", "players": ["person", "random"]})
    page.get_by_role("button", name="Resign").click()
    playwright.expect(page.locator(".banner")).to_be_hidden()
    page.get_by_role("button", name="Really?").click()
    banner = page.locator(".banner")
    playwright.expect(banner.locator("h2")).to_have_text("You lost")
    playwright.expect(banner).to_contain_text("Black resigned: White wins")
    assert page.locator("[data-touch]").count() == 0
    page.reload()
    playwright.expect(banner.locator("h2")).to_have_text("You lost")
    page.get_by_role("button", name="Rematch").click()
    playwright.expect(page.locator(".bottom-bar label")).to_have_text("White")
    playwright.expect(page.locator(".bottom-bar select")).to_have_value("person")
    expect_played(page, 1)  # Black begins


def test_a_review_shows_the_graph_and_the_worst_moves(open_page: OpenPage, server: Server) -> None:
    body = {"game": "endgames", "players": ["person", "oracle"], "position": ROOK}
    page, view = open_play(open_page, server, body)
    touch(page, next(row["cells"] for row in view["legal"] if row["name"] == "Rd5+"))
    banner = page.locator(".banner")
    playwright.expect(banner.locator("h2")).to_have_text("A draw")
    banner.get_by_role("button", name="Review").click()
    worst = page.locator(".worst li")
    playwright.expect(worst).to_have_count(1)  # the reply was forced
    playwright.expect(worst).to_contain_text("Rd5+ threw the win away: it was mate in 12 moves")
    playwright.expect(page.locator(".graph-bad")).to_have_count(1)
    playwright.expect(page.locator("#panel-review")).to_contain_text("By the exact answer.")
    worst.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect_played(page, 1)
    playwright.expect(worst.get_by_role("button")).to_be_focused()
    playwright.expect(page.locator(".review-here")).to_contain_text("Rd5+: draw. Better: Ka2 (mate in 12)")


def test_opponents_are_levels_and_all_agents_are_behind_more(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "endgames", "players": ["person", "oracle"], "position": ROOK})
    options = page.locator("#seat-1 option")
    levels = [row["name"] for row in reversed(view["opponents"])]
    assert len(levels) >= 3
    playwright.expect(options).to_have_text(["You", *levels, "More agents …"])
    choose(page, "Black", "minimax:depth=3")
    playwright.expect(page.locator("#seat-1")).to_have_value("minimax:depth=3")
    # A game of a user's own has no levels.
    page, view = open_play(open_page, server, {"game": "tic-tac-toe", "players": ["person", "random"]})
    assert view["opponents"] == []
    assert set(page.locator("#seat-1 option").evaluate_all("all => all.map(one => one.value)")) >= {"person", "random"}


def test_values_are_told_in_words_on_hover(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "endgames", "players": ["person", "person"], "position": ROOK})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    playwright.expect(page.locator(".values tbody tr")).to_have_count(len(view["legal"]))
    assert page.locator('.board rect[fill-opacity="0.55"]').count() > 10  # colours
    assert page.locator('.board rect[fill-opacity="0.9"]').count() <= 3  # numbers
    move = next(row for row in view["legal"] if row["name"] == "Rd5+")
    touch(page, move["cells"][:1])
    page.locator(f'[data-touch="{move["cells"][1]}"]').hover()
    playwright.expect(page.locator(".tip")).to_have_text("Rd5+: draw")


def test_an_agent_is_on_the_board_where_nobody_knows_the_truth(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    playwright.expect(page.locator("#panel-what-it-thinks")).to_contain_text("No exact answer here")
    ends = {row["cells"][-1] for row in view["legal"]}
    playwright.expect(page.locator('.board rect[fill-opacity="0.55"]')).to_have_count(len(ends))


def solve_on_page(page: Page, rows: str, variant: str | None = None) -> None:
    state = rookery.load("solitaire-chess", variant).parse_state(rows)
    for action in solve(state).moves or ():
        touch(page, state.action_cells(action))
        state.apply(action)
        playwright.expect(page.locator("#notation")).to_have_value(str(state))


def test_a_daily_puzzle_is_timed_shared_and_kept_in_the_archive(open_page: OpenPage, server: Server) -> None:
    page = open_page("#/puzzles")
    days = page.locator(".days button")
    playwright.expect(days).to_have_count(35)
    for back in (0, 0):  # yesterday and the day before: each one begun becomes a link
        days.nth(1 + back).click()
        page.wait_for_selector(".play")
        assert not page.locator("#coach").is_checked()
        playwright.expect(page.locator(".bar-note")).to_have_text(re.compile(r"^\d+:\d\d$"))
        variant = re.search(r"Solitaire Chess (\S+)", page.locator("h1").inner_text())
        assert variant
        solve_on_page(page, page.locator("#notation").input_value(), variant[1])
        playwright.expect(page.locator(".banner h2")).to_have_text("Solved!")
        page.evaluate("document.getElementById('toast').textContent = ''")  # what the day before said
        page.get_by_role("button", name="Share").click()
        playwright.expect(page.locator("#toast")).to_have_text("Result copied")
        text = page.evaluate("navigator.clipboard.readText()")
        assert re.match(
            r"Rookery puzzle of \d{4}-\d\d-\d\d: Solitaire Chess, \w+\nSolved in \d+:\d\d, without a hint", text
        )
        page.goto(f"{server.url}/#/puzzles")
        page.wait_for_selector(".days")
    assert "2 days in a row" in text
    playwright.expect(page.locator(".days .solved")).to_have_count(2)
    playwright.expect(page.locator(".streak")).to_have_text("2 days in a row.")


def test_a_level_is_chosen_on_the_first_page(open_page: OpenPage) -> None:
    page = open_page()
    assert page.locator(".daily svg [data-piece]").count() >= 3  # the board itself
    page.get_by_label("Level").select_option("expert")
    page.get_by_role("button", name="Give me one").click()
    playwright.expect(page.locator("h1")).to_contain_text("expert puzzle")


def test_1010_has_a_hand_of_three(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_role("button", name="Play 1010!").click()
    playwright.expect(page.locator("h1")).to_contain_text("hand3")


def test_equalling_the_record_is_celebrated(open_page: OpenPage, server: Server) -> None:
    state = rookery.load("morpion", "4D").parse_state(str(shipped("4D")))
    *before, last = state.moves
    start = state.game.initial_state()
    for action in before:
        start.apply(action)
    body = {"game": "morpion", "variant": "4D", "players": ["person"], "position": str(start)}
    page, view = open_play(open_page, server, body)
    page.locator(".legal summary").click()
    name = next(row for row in view["legal"] if row["action"] == last)["label"]
    page.locator(".moves button").filter(has_text=re.compile(f"^{re.escape(name)}$")).first.click()
    playwright.expect(page.locator("#toast")).to_contain_text("35 moves equal the record of 4D. No game can be longer.")
    playwright.expect(page.locator(".banner h2")).to_have_text("35 moves")
    playwright.expect(page.locator(".banner")).to_contain_text("equal the record")


def test_arrow_keys_and_swipes_play_2048(open_page: OpenPage, server: Server) -> None:
    body = {"game": "2048", "players": ["person"], "position": "2,2,4,8/.,.,.,./.,.,.,./.,.,.,."}
    page, _ = open_play(open_page, server, body)
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator(".history [aria-current]")).to_have_text("right")
    drag(page, middle(page, 5), middle(page, 13))
    page.mouse.up()
    playwright.expect(page.locator(".history [aria-current]")).to_have_text("down")
    body = {"game": "2048", "players": ["person"], "position": "2,4,2,./4,2,4,./2,4,2,./4,2,4,."}
    page, view = open_play(open_page, server, body)
    assert [row["name"] for row in view["legal"]] == ["right"]
    page.keyboard.press("ArrowRight")
    expect_played(page, 1)
    while page.locator(".board .touch").count() == 4:  # until some direction is blocked
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowDown")
    before = page.locator(".history button").count()
    view = server.call(f"/plays/{view['id']}")
    blocked = next(
        name for name in ("left", "right", "up", "down") if name not in [row["name"] for row in view["legal"]]
    )
    page.keyboard.press(f"Arrow{blocked.title()}")
    page.wait_for_timeout(200)
    assert page.locator(".history button:not(.later)").count() == before


def test_a_small_board_is_zoomed(open_page: OpenPage, server: Server) -> None:
    page, view = open_play(open_page, server, {"game": "morpion", "players": ["person"]}, width=390, height=844)
    svg = page.locator(".board svg")
    width = float(svg.get_attribute("viewBox").split()[2])
    page.get_by_role("button", name="Zoom in").click()
    assert float(svg.get_attribute("viewBox").split()[2]) == pytest.approx(width / 1.4)
    page.get_by_role("button", name="Zoom out").click()
    assert float(svg.get_attribute("viewBox").split()[2]) == width
    cell = view["legal"][0]["cells"][0]
    page.locator(f'[data-touch="{cell}"]').hover()
    playwright.expect(page.locator(".preview-line")).to_have_count(
        sum(row["cells"][0] == cell for row in view["legal"])
    )


def test_no_card_is_alone_and_thumbnails_play(open_page: OpenPage) -> None:
    page = open_page(width=1280, height=900, calm=False)
    cards = page.locator("ul[aria-labelledby=games-title] > li")
    playwright.expect(cards.first).to_be_visible()
    for width in (1280, 1000, 760, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        tops = [box["y"] for box in (card.bounding_box() for card in cards.all())]
        row = tops.count(tops[-1])
        assert row > 1 or tops.count(tops[0]) == 1, width
    thumb = page.locator("ul[aria-labelledby=games-title] .thumb").first
    thumb.hover()
    seen: set[Any] = set()
    for _ in range(60):
        seen.add(thumb.locator("svg").last.inner_html())
        if len(seen) > 2:
            break
        page.wait_for_timeout(150)
    assert len(seen) > 2


def test_boards_are_dark_in_the_dark(open_page: OpenPage, server: Server) -> None:
    colours = []
    for theme in ("light", "dark"):
        page, _ = open_play(open_page, server, {"game": "checkers", "players": ["person", "person"]}, theme=theme)
        square = page.locator('[data-cell="16"]').evaluate("square => getComputedStyle(square).fill")
        piece = page.locator("[data-piece] circle").first.evaluate("piece => getComputedStyle(piece).fill")
        colours.append((sum(map(int, re.findall(r"\d+", square))), piece))
    assert colours[1][0] < 0.6 * colours[0][0]
    assert colours[0][1] == colours[1][1]  # the pieces stay what they are
