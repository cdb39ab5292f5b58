"""Screenshots of the page: python -m tests.web.screenshots [--out FOLDER] [--only NAME ...] [--docs]

Starts the page and takes every screen in four sizes, light and dark. With `--docs`, only those that the documentation
shows, small, light and dark, into `docs/images`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import rookery
from rookery.games.solitaire_chess.exact import solve
from tests.web.conftest import Server, start_server, stop_server
from tests.web.test_browser import ARGUMENTS, CHROMIUM

SIZES = [(1280, 720), (1920, 1080), (390, 844), (844, 390)]
THEMES = ["light", "dark"]
Page = Any


def moves_of(game: str, count: int, variant: str | None = None) -> str:
    """The record of a game in which the first player always takes a middle move of the list."""
    state = rookery.load(game, variant).initial_state()
    start, actions = str(state), []
    while len(actions) < count and state.player() >= 0:
        legal = state.legal_actions()
        actions.append(legal[len(actions) * 7 % len(legal)])
        state.apply(actions[-1])
    return state.game.record(start, actions, ["a", "b"]).text


def play(server: Server, page: Page, body: dict[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = server.call("/plays", {"seed": 1} | body)
    page.goto(f"{server.url}/#/play/{view['id']}")
    page.wait_for_selector(".board svg")
    return view


def touch(page: Page, cell: int) -> None:
    page.locator(f'[data-touch="{cell}"]').click()


def home(server: Server, page: Page) -> None:
    page.goto(server.url)
    page.wait_for_selector(".cards")
    page.wait_for_timeout(2500)


def checkers(server: Server, page: Page) -> None:
    view = play(server, page, {"game": "checkers", "players": ["person", "best"], "position": moves_of("checkers", 14)})
    touch(page, view["legal"][0]["cells"][0])


def endgame(server: Server, page: Page) -> None:
    fen = "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"
    view = play(server, page, {"game": "endgames", "players": ["person", "oracle"], "position": fen})
    for cell in next(row["cells"] for row in view["legal"] if row["name"] == "Rd5+"):
        touch(page, cell)
    page.wait_for_selector(".verdict.bad")


def promotion(server: Server, page: Page) -> None:
    body = {"game": "endgames", "variant": "KPK", "players": ["person", "person"]}
    view = play(server, page, body | {"position": "8/4P3/8/8/8/4K3/8/k7 w - - 0 1"})
    for cell in next(row["cells"] for row in view["legal"] if row["name"].startswith("e8=Q")):
        touch(page, cell)


def thinking(server: Server, page: Page) -> None:
    play(server, page, {"game": "checkers", "players": ["person", "best"], "position": moves_of("checkers", 14)})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    page.wait_for_selector(".values tbody tr")
    page.wait_for_timeout(600)


def comparing(server: Server, page: Page) -> None:
    fen = "8/8/8/2k5/8/8/3R4/K7 w - - 0 1"
    play(server, page, {"game": "endgames", "players": ["person", "oracle"], "position": fen})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    page.wait_for_selector(".boards figure", timeout=60_000)


def reviewing(server: Server, page: Page) -> None:
    text = moves_of("checkers", 60)
    play(server, page, {"game": "checkers", "players": ["person", "person"], "position": text})
    page.get_by_role("tab", name="Review").click()
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_selector(".worst li", timeout=60_000)
    page.locator(".worst button").first.click()


def tenten(server: Server, page: Page) -> None:
    view = play(server, page, {"game": "tenten", "variant": "10x10-hand3", "players": ["person"]})
    for _ in range(7):
        move = view["legal"][len(view["legal"]) // 2]["action"]
        view = server.call(f"/plays/{view['id']}/move", {"action": move, "ply": view["ply"]})
    page.reload()
    page.wait_for_selector("[data-touch]")


def morpion(server: Server, page: Page) -> None:
    play(server, page, {"game": "morpion", "players": ["person"], "position": moves_of("morpion", 14)})
    page.locator("[data-touch]").first.hover()


def morpion_thinking(server: Server, page: Page) -> None:
    play(server, page, {"game": "morpion", "players": ["person"], "position": moves_of("morpion", 10)})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    page.wait_for_selector(".values tbody tr", timeout=60_000)
    page.wait_for_timeout(600)


def puzzle(server: Server, page: Page) -> None:
    rows = "R.../.B../..N./P..."
    play(server, page, {"game": "solitaire-chess", "players": ["person"], "position": rows})


def watching(server: Server, page: Page) -> None:
    body = {"game": "endgames", "players": ["oracle", "oracle"], "position": "8/8/8/8/8/1K6/7R/k7 w - - 0 1"}
    play(server, page, body)
    page.get_by_label("Speed").fill("6")
    page.get_by_role("button", name="Run").click()
    page.wait_for_selector(".banner h2")


def solved(server: Server, page: Page) -> None:
    rows = "R.../.B../..N./P..."
    play(server, page, {"game": "solitaire-chess", "players": ["person"], "position": rows})
    state = rookery.load("solitaire-chess").parse_state(rows)
    for action in solve(state).moves or ():
        for cell in state.action_cells(action):
            touch(page, cell)
        state.apply(action)
        page.wait_for_timeout(300)
    page.wait_for_selector(".banner h2")


def tenten_thinking(server: Server, page: Page) -> None:
    play(server, page, {"game": "tenten", "variant": "10x10-hand3", "players": ["person"]})
    page.get_by_role("tab", name="What it thinks").click()
    page.get_by_label("Show what it thinks").check()
    page.wait_for_selector(".values tbody tr", timeout=60_000)
    page.wait_for_timeout(600)


def numbers(server: Server, page: Page) -> None:
    position = "2,4,8,2/16,64,4,./128,32,2,./1024,256,16,2"
    play(server, page, {"game": "2048", "players": ["person"], "position": position})


def setting_up(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/#/new/checkers")
    page.wait_for_selector(".board svg")


def puzzles(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/#/puzzles")
    page.wait_for_selector(".days")


SCREENS: dict[str, Callable[[Server, Page], None]] = {
    "home": home, "checkers": checkers, "endgame": endgame, "promotion": promotion, "thinking": thinking,
    "comparing": comparing, "reviewing": reviewing, "tenten": tenten, "morpion": morpion,
    "morpion-thinking": morpion_thinking, "puzzle": puzzle, "watching": watching, "solved": solved,
    "tenten-thinking": tenten_thinking, "2048": numbers, "set-up": setting_up, "puzzles": puzzles,
}  # fmt: skip
DOCS = ["home", "comparing", "endgame", "thinking", "reviewing", "tenten"]
"""What the documentation shows."""
IMAGES = Path(__file__).parents[2] / "docs" / "images"


def take(out: Path, names: list[str], sizes: list[tuple[int, int]], themes: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        server = start_server(Path(folder))
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            for width, height in sizes:
                for theme in themes:
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=theme, has_touch=width < 900
                    )
                    for name in names:
                        page = context.new_page()
                        page.on("pageerror", lambda error: print("page error:", error))
                        page.on("console", lambda line: print("console:", line.text) if line.type == "error" else None)
                        SCREENS[name](server, page)
                        page.wait_for_timeout(300)
                        page.screenshot(path=str(out / f"{name}-{width}x{height}-{theme}.png"))
                        page.close()
                    context.close()
        finally:
            browser.close()
            stop_server(server)


def take_for_docs() -> None:
    """The few of the documentation, at half their size and in few colours."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        take(Path(folder), DOCS, SIZES[:1], THEMES)
        for name in DOCS:
            for theme, ending in (("light", ""), ("dark", "-dark")):
                with Image.open(Path(folder) / f"{name}-1280x720-{theme}.png") as image:
                    small = image.convert("RGB").resize((800, 450), Image.Resampling.LANCZOS)
                    few = small.quantize(256, Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE)
                    few.save(IMAGES / f"web-{name}{ending}.png", optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/screenshots"))
    parser.add_argument("--only", nargs="*", choices=list(SCREENS), default=list(SCREENS))
    parser.add_argument("--size", nargs="*", default=[f"{w}x{h}" for w, h in SIZES])
    parser.add_argument("--theme", nargs="*", choices=THEMES, default=THEMES)
    parser.add_argument("--docs", action="store_true")
    arguments = parser.parse_args()
    if arguments.docs:
        take_for_docs()
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    sizes = [(int(size.split("x")[0]), int(size.split("x")[1])) for size in arguments.size]
    take(arguments.out, arguments.only, sizes, arguments.theme)


if __name__ == "__main__":
    main()
