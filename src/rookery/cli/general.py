"""Commands for every game."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, GameName, Options, positions_from_stdin, progress
from rookery.game import CHANCE, State
from rookery.registry import GAMES, agent_names, load
from rookery.search import perft as count_sequences
from rookery.studies import SIZES, STUDIES
from rookery.studies.runner import run_studies


def games(*, common: Options = DEFAULTS) -> Answer:
    """List the games, their variants and the agents that play them."""
    rows: list[dict[str, Any]] = []
    for name in GAMES:
        game = load(name)
        rows.append({"name": name, "variants": list(game.variants), "methods": agent_names(game)})

    def show(console: Console) -> None:
        table = Table("game", "variants (the first is the default)", "agents")
        for row in rows:
            table.add_row(row["name"], ", ".join(row["variants"]), ", ".join(row["methods"]))
        console.print(table)

    return Answer({"games": rows}, show)


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
        position: Where to start, in the game's text form; the initial position if not given, `-` to read many, one a
            line, from standard input.
    """
    if depth < 0:
        raise ValueError(f"the depth must not be negative, and is {depth}")
    rules = load(game, variant)

    def count(state: State) -> dict[str, Any]:
        begin = time.perf_counter()
        nodes = count_sequences(state, depth)
        return {"nodes": nodes, "seconds": time.perf_counter() - begin}

    if position == "-":
        return Answer({"position": text} | count(state) for text, state in positions_from_stdin(rules))
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
        svg.write_text(state.svg(), encoding="utf-8")

    def human(console: Console) -> None:
        turn = {CHANCE: "chance is to draw", 0: "the first player is to move", 1: "the second player is to move"}
        console.print(data["position"], markup=False, highlight=False, soft_wrap=True)
        console.print(turn.get(state.player(), f"the game is over, returns {data['returns']}"))
        if actions:
            console.print(f"{len(actions)} moves: {' '.join(data['moves'])}", markup=False, highlight=False)
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
    if quick and full:
        raise ValueError("choose one of --quick and --full")
    unknown = [name for name in studies if name not in STUDIES]
    if unknown:
        raise ValueError(f"unknown study {unknown[0]!r}; known studies: {', '.join(STUDIES)}")
    size = SIZES["quick" if quick else "full" if full else "default"]
    console = progress()
    results = run_studies(studies or tuple(STUDIES), size, common.seed, out, console)
    failed = [result.name for result in results if result.error]
    page = out / "index.html"
    data = {"studies": [result.data() for result in results], "page": str(page)}

    def show(console: Console) -> None:
        for result in results:
            result.show(console)
        console.print(f"The whole report, with boards and figures: {page}")

    return Answer(data, show, exit_code=1 if failed else 0)


COMMANDS: Commands = {"games": games, "show": show, "perft": perft, "reproduce": reproduce}
