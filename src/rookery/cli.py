"""The command line. One function a command; `COMMANDS` at the end lists them.

A command returns an `Answer`: the JSON object, and how to show it to a person. Nothing is printed on standard output
besides that, so that `--json` gives one JSON object and nothing else.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.table import Table
from tyro.conf import Positional

from rookery import GAMES, __version__, agents, load
from rookery.games import CHANCE, Game, State
from rookery.search import perft as count_sequences
from rookery.studies import overview


@dataclass(frozen=True)
class Common:
    seed: int = 0
    """Every result can be remade from its seed."""
    json: bool = False
    """Print one JSON object on standard output and nothing else there."""


Options = Annotated[Common, tyro.conf.arg(name="")]
DEFAULTS = Common()
GameName = Annotated[str, Positional, tyro.conf.arg(metavar="GAME")]


@dataclass(frozen=True)
class Answer:
    data: dict[str, Any] | Iterator[dict[str, Any]]
    show: Callable[[Console], None] | None = None
    """How a person sees it; None prints the JSON."""
    exit_code: int = 0


def games(*, common: Options = DEFAULTS) -> Answer:
    """List the games, their variants and the agents that play them."""
    rows: list[dict[str, Any]] = []
    for name in GAMES:
        game = load(name)
        rows.append({"name": name, "variants": list(game.variants), "methods": agents.names(game)})

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
        return Answer({"position": text} | count(state) for text, state in _positions_from_stdin(rules))
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


def verify(
    game: Annotated[Literal["morpion"], Positional],
    file: Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")],
    *,
    common: Options = DEFAULTS,
) -> Answer:
    """Check a Morpion Solitaire record: a Pentasol file, or a drawing of ours that carries one.

    The exit code is 0 if every move is legal and 1 if not.

    Args:
        game: The game; only morpion has records.
        file: A `.psol` or `.svg` file.
    """
    raise NotImplementedError


def reproduce(*, quick: bool = False, out: Path = Path("reports"), common: Options = DEFAULTS) -> Answer:
    """Remake the results: for each game a drawn position and a measured summary of random play.

    Writes a table to the terminal and a self-contained page with the boards.

    Args:
        quick: A tenth of the games.
        out: Folder for the page.
    """
    console = Console(stderr=True)
    summaries = overview.run(console, games=2_000 if quick else 20_000, seed=common.seed)
    page = overview.write_page(summaries, out)
    data = {"studies": [summary.data() for summary in summaries], "page": str(page)}

    def show(console: Console) -> None:
        console.print(overview.table(summaries))
        console.print(f"The boards are drawn in {page}")

    return Answer(data, show)


Command = Callable[..., Answer]
COMMANDS: dict[str, Command] = {
    "games": games,
    "show": show,
    "perft": perft,
    "verify": verify,
    "reproduce": reproduce,
}


def _positions_from_stdin(game: Game) -> Iterator[tuple[str, State]]:
    for number, line in enumerate(sys.stdin, 1):
        text = line.strip()
        if not text:
            continue
        try:
            yield text, game.parse_state(text)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0 when it went well, 2 with one sentence when the input was wrong."""
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help"):
        _help(Console())
        sys.exit(0)
    if words[0] == "--version":
        print(f"rookery {__version__}")
        sys.exit(0)
    if words[0] not in COMMANDS:
        _fail(f"unknown command {words[0]!r}; known commands: {', '.join(COMMANDS)}")
    as_json = "--json" in words
    try:
        answer = tyro.cli(COMMANDS[words[0]], prog=f"rookery {words[0]}", args=words[1:])
        _print(answer, as_json)
    except (ValueError, OSError) as error:
        _fail(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("rookery: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(answer.exit_code)


def _print(answer: Answer, as_json: bool) -> None:
    if not isinstance(answer.data, dict):
        for row in answer.data:
            print(json.dumps(row), flush=True)
    elif as_json or answer.show is None:
        print(json.dumps(answer.data))
    else:
        answer.show(Console())


def _fail(sentence: str) -> None:
    print(f"rookery: {sentence}", file=sys.stderr)
    sys.exit(2)


def _help(console: Console) -> None:
    console.print("Rookery: programs learn board games and puzzles, and you see how far from perfect they are.\n")
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, command in COMMANDS.items():
        table.add_row(f"  rookery {name}", (command.__doc__ or "").splitlines()[0])
    console.print(table)
    console.print("\nEvery command explains itself with --help, and prints one JSON object with --json.")
