"""Commands for every game."""

from __future__ import annotations

import random
import textwrap
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery._native import Control
from rookery.cli.base import DEFAULTS, Answer, GameName, Options, many, print_table, progress
from rookery.exact.methods import Oracle, in_words
from rookery.exact.solve import POSITIONS, PRECISION, SolvedGame, keep, preference, solve_game
from rookery.files import write_text
from rookery.game import CHANCE, Game, State
from rookery.method import suggestion
from rookery.progress import watching
from rookery.registry import GAMES, load, methods, solvers
from rookery.registry import solve as exact
from rookery.scale import check_on
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
    position: Annotated[str | None, Positional, tyro.conf.arg(metavar="POSITION")] = None,
    *,
    variant: str | None = None,
    positions: int = POSITIONS,
    memory: float = 0.0,
    precision: float = PRECISION,
    discount: float = 1.0,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve a game, or a position of it, exactly: its value, the best moves, and what every move is worth.

    Example: rookery solve my_game.py
    Example: rookery solve my_game.py "X.O/.../..."

    Without a position the whole game is solved, if the positions that can be reached fit in memory, and kept: then the
    agent `oracle` plays it perfectly.

    Args:
        game: Name of a game, or a file with one.
        position: In the game's text form; `-` reads many from standard input, one per line.
        variant: Variant of the game.
        positions: Positions of the whole game at most.
        memory: Memory for the whole game in GB; 0 means half of what is free.
        precision: How far bounds may lie apart where there is chance, relative to values above 1.
        discount: Discount of what comes after a move; only 1 gives an oracle.
    """
    rules = load(game, variant)
    if position is None:
        return _solve_game(rules, positions, int(memory * 1e9) or None, precision, discount)

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


def _solve_game(rules: Game, positions: int, most_bytes: int | None, precision: float, discount: float) -> Answer:
    start = rules.initial_state()
    begin = time.perf_counter()
    control = Control()
    form = next((method.form for method in solvers(rules) if isinstance(method, Oracle)), SolvedGame)
    with watching(f"Listing the positions of {rules.title}", control, None):
        solved = solve_game(
            start, positions=positions, most_bytes=most_bytes, precision=precision, discount=discount, control=control,
            form=form,
        )  # fmt: skip
    seconds = time.perf_counter() - begin
    if discount == 1:
        keep(rules, solved)
    statistics = solved.statistics()
    moves = solved.moves(start)
    rows = [
        {"move": start.action_name(action), "value": worth, "steps": steps}
        for action, (worth, steps) in sorted(moves.items(), key=lambda move: preference(*move[1]), reverse=True)
    ]
    data = asdict(statistics) | {
        "game": rules.name, "variant": rules.variant, "value": solved.value(start), "steps": solved.distance(start),
        "seconds": seconds, "moves_at_the_start": rows,
    }  # fmt: skip

    def show(console: Console) -> None:
        s = statistics
        console.print(f"{rules.title} from the start: {in_words(data['value'], data['steps'], rules.players)}")
        console.print(
            f"{s.positions:,} positions ({s.ends:,} ends) with {s.moves:,} moves, solved in {seconds:.1f} s and "
            f"{s.bytes / 1e6:,.0f} MB"
        )
        if s.won is not None and s.drawn is not None and s.lost is not None:
            total = max(1, s.won + s.drawn + s.lost)
            shares = [f"{name} {count:,} ({count / total:.1%})" for name, count in
                      (("won", s.won), ("drawn", s.drawn), ("lost", s.lost))]  # fmt: skip
            console.print(f"for the player to move: {', '.join(shares)}")
        if s.longest is not None:
            console.print(f"the longest win takes {s.longest} moves")
        if s.error:
            console.print(f"values lie between bounds at most {s.error:.3g} apart")
        if rows:
            print_table(console, ("move", "worth", "moves to the end"), [list(row.values()) for row in rows])

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
    on: str = "processes",
    common: Options = DEFAULTS,
) -> Answer:
    """Remake the papers' tables and figures beside ours; without a name, all studies.

    Writes a summary to the terminal, and a self-contained page with CSV and JSON beside it.

    Args:
        studies: Names of studies; all of them if not given.
        quick: Small runs: minutes in all.
        full: The papers' own sizes.
        out: Folder for the page.
        on: Where cells of studies run: here, processes, processes:N, ray or ray:ADDRESS.
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
    results = run_studies(studies or default_studies(), size, common.seed, out, progress(), check_on(on))
    failed = [result.name for result in results if result.error]
    page = out / "index.html"
    data = {"studies": [result.data() for result in results], "page": str(page)}

    def show(console: Console) -> None:
        for result in results:
            result.show(console)
        console.print(f"The whole report, with boards and figures: {page}")

    return Answer(data, show, exit_code=1 if failed else 0)
