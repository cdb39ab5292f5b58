"""Commands for every game."""

from __future__ import annotations

import random
import textwrap
import time
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, GameName, Options, many, print_table, progress
from rookery.files import write_text
from rookery.game import CHANCE, State
from rookery.method import suggestion
from rookery.registry import GAMES, load, methods
from rookery.registry import solve as exact
from rookery.search import perft as count_sequences


def games(*, common: Options = DEFAULTS) -> Answer:
    """List the games, their variants and the methods that play, solve and learn them."""
    rows: list[dict[str, Any]] = []
    for name in GAMES:
        game = load(name)
        found = methods(game)
        kinds = {kind: [n for n, m in found.items() if m.kind == kind] for kind in ("exact", "search", "learn")}
        rows.append(
            {"name": name, "title": game.title, "variants": list(game.variants), "methods": list(found)} | kinds
        )

    def show(console: Console) -> None:
        for row in rows:
            console.print(f"{row['name']}: {GAMES[row['name']].blurb or row['title']}")
            words = {"variants": "variants", "exact": "solved by", "search": "played by", "learn": "learned by"}
            for key, text in words.items():
                if row[key]:
                    wrapped = textwrap.wrap(", ".join(row[key]), max(40, console.width - 16))
                    console.print("\n".join(f"  {text if not i else '':<12}{line}" for i, line in enumerate(wrapped)))
        console.print("The first variant is the default. `rookery train GAME METHOD --help` shows a method's settings.")

    return Answer({"games": rows}, show)


def solve(
    game: GameName,
    position: Annotated[str, Positional, tyro.conf.arg(metavar="POSITION")],
    *,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve a position exactly: its value, the best moves, and what every move is worth.

    Example: rookery solve my_game.py "X.O/.../..."

    Args:
        game: Name of a game, or a file with one.
        position: In the game's text form; `-` reads many from standard input, one per line.
        variant: Variant of the game.
    """
    rules = load(game, variant)

    def answer(state: State) -> dict[str, Any]:
        found = exact(state)
        ranked = sorted(found.values, key=lambda action: -found.values[action])
        moves = [
            {"move": state.action_name(action), "value": found.values[action], "note": found.notes.get(action, "")}
            for action in ranked
        ]
        best = [state.action_name(action) for action in found.best]
        return {"text": found.text, "value": found.value, "error_bound": found.error, "best": best, "moves": moves}

    if position == "-":
        return many(rules, answer, lambda data: data["text"])
    data = answer(rules.parse_state(position))

    def show(console: Console) -> None:
        console.print(data["text"])
        print_table(console, ("move", "worth", ""), [list(row.values()) for row in data["moves"]])

    return Answer(data, show)


def perft(
    game: GameName,
    depth: Annotated[int, Positional, tyro.conf.arg(metavar="DEPTH")],
    *,
    variant: str | None = None,
    position: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Count the action sequences of a given length: the standard check of a rules engine.

    Example: rookery perft checkers 8

    Args:
        game: Name of a game; `rookery games` lists them.
        depth: Length of the sequences.
        variant: Variant of the game; its first one if not given.
        position: Where to start, in the game's text form; the initial position if not given, `-` to read many, one per
            line, from standard input.
    """
    if not 0 <= depth <= 1000:
        raise ValueError(f"the depth must be from 0 to 1000, and is {depth}")
    rules = load(game, variant)

    def count(state: State) -> dict[str, Any]:
        begin = time.perf_counter()
        nodes = count_sequences(state, depth)
        return {"nodes": nodes, "seconds": time.perf_counter() - begin}

    if position == "-":
        return many(rules, count, lambda data: f"{data['nodes']:,}")
    data = count(rules.parse_state(position) if position else rules.initial_state())

    def show(console: Console) -> None:
        rate = data["nodes"] / max(data["seconds"], 1e-9)
        console.print(f"{data['nodes']:,} sequences of {depth} actions in {data['seconds']:.3f} s ({rate:,.0f}/s)")

    return Answer(data, show)


def show(
    game: GameName,
    position: Annotated[str | None, Positional, tyro.conf.arg(metavar="POSITION")] = None,
    *,
    variant: str | None = None,
    svg: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Show a position: its text, whose turn it is and the legal moves; `--svg FILE` draws it.

    Example: rookery show solitaire-chess "R.../.B../..N./P..." --svg board.svg

    Args:
        game: Name of a game.
        position: In the game's text form; a start position drawn with `--seed` if not given.
        variant: Variant of the game.
        svg: File to write the drawing to.
    """
    rules = load(game, variant)
    state = rules.parse_state(position) if position else rules.random_start(random.Random(common.seed))
    actions = state.legal_actions()
    data: dict[str, Any] = {
        "position": str(state),
        "player": state.player(),
        "moves": [state.action_name(action) for action in actions],
        "returns": state.returns(),
    }
    if svg:
        write_text(svg, state.svg())

    def human(console: Console) -> None:
        turn = {CHANCE: "chance is to draw", 0: "the first player is to move", 1: "the second player is to move"}
        console.print(data["position"], soft_wrap=True)
        console.print(turn.get(state.player(), f"the game is over, returns {data['returns']}"))
        if actions:
            console.print(f"{len(actions)} moves: {' '.join(data['moves'])}")
        if svg:
            console.print(f"drawn in {svg}")

    return Answer(data, human)


def reproduce(
    studies: Annotated[tuple[str, ...], Positional, tyro.conf.arg(metavar="STUDY")] = (),
    *,
    quick: bool = False,
    full: bool = False,
    out: Path = Path("reports"),
    common: Options = DEFAULTS,
) -> Answer:
    """Remake the papers' tables and figures beside ours; without a name, all studies.

    Writes a summary to the terminal, and a self-contained page with CSV and JSON beside it.

    Args:
        studies: Names of studies; all of them if not given.
        quick: Small runs: minutes in all.
        full: The papers' own sizes.
        out: Folder for the page.
    """
    from rookery.studies import all_studies
    from rookery.studies import studies as default_studies
    from rookery.studies.runner import run_studies
    from rookery.studies.sizes import SIZES

    if quick and full:
        raise ValueError("choose one of --quick and --full")
    for name in studies:
        if name not in all_studies():
            raise ValueError(f"unknown study {name!r}{suggestion(name, all_studies(), 'studies')}")
    size = SIZES["quick" if quick else "full" if full else "default"]
    results = run_studies(studies or default_studies(), size, common.seed, out, progress())
    failed = [result.name for result in results if result.error]
    page = out / "index.html"
    data = {"studies": [result.data() for result in results], "page": str(page)}

    def show(console: Console) -> None:
        for result in results:
            result.show(console)
        console.print(f"The whole report, with boards and figures: {page}")

    return Answer(data, show, exit_code=1 if failed else 0)
