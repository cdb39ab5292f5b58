"""Commands for Solitaire Chess."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, many
from rookery.files import write_text
from rookery.game import play_out
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import capture_tree
from rookery.games.solitaire_chess.puzzles import STUCK, hints, make_puzzles, make_solo_puzzles
from rookery.games.solitaire_chess.rules import KINDS, SolitaireChess, SolitaireChessState
from rookery.games.solitaire_chess.search import Method, Order, search
from rookery.games.solitaire_chess.search_tree import search_tree_svg
from rookery.registry import load

Rows = Annotated[str, Positional, tyro.conf.arg(metavar="ROWS")]


def _game(variant: str | None) -> SolitaireChess:
    game = load("solitaire-chess", variant)
    assert isinstance(game, SolitaireChess)
    return game


def solve(
    rows: Rows,
    *,
    order: Literal["seed", "centre", "ranked"] = "seed",
    search_method: Annotated[Method, tyro.conf.arg(name="search")] = "dfs",
    prune: bool = False,
    look_ahead: bool = True,
    variant: str | None = None,
    weights: str | None = None,
    max_states: int = 10_000_000,
    tree: bool = False,
    svg: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve a Solitaire Chess puzzle and count the positions that it took.

    Example: rookery solve solitaire-chess ".RN./B.P./..../...." --order ranked --search best-first

    Args:
        rows: Rows from the top, joined by `/`; `-` reads many from standard input, one per line.
        order: Which captures to try first: `seed` as the paper's backtracking does, `centre` those towards the centre,
            `ranked` as the learned ranker says.
        search_method: Depth first, depth first that enters no position twice, or best first.
        prune: Do not enter positions that are plainly dead.
        look_ahead: Also ask the ranker about the position after each capture. `looked_at` counts these positions; they
            are not entered.
        variant: Variant of the game; `solo-8x8` for Solo Chess.
        weights: The ranker's weights: dqn, taught or paper-dqn as shipped, a file, or the folder of a run; the best for
            the board if not given.
        max_states: Give up after N positions; then `solvable` is null.
        tree: Also walk the whole tree: `nodes`, `distinct_states`, `solutions` and `finals`.
        svg: File for a drawing of the search, up to its first 150 positions.
    """
    if weights is not None and order != "ranked":
        raise ValueError("--weights is for --order ranked")
    if not 1 <= max_states < 2**62:
        raise ValueError(f"--max-states must be from 1 to 2^62 - 1, and is {max_states}")
    game = _game(variant)
    ranking: Order
    if order == "ranked":
        shipped = weights is None or weights in capture_ranker.METHODS
        given = Path(weights or "")
        file = given / "model.safetensors" if given.is_dir() else given
        ranking = capture_ranker.load(capture_ranker.shipped(game, weights) if shipped else file)
    else:
        ranking = "paper" if order == "seed" else "centre"

    def answer(state: SolitaireChessState) -> dict[str, Any]:
        begin = time.perf_counter()
        found = search(state, search_method, ranking, prune, max_states, 150 if svg else 0, look_ahead=look_ahead)
        seconds = time.perf_counter() - begin
        at, moves = play_out(state, found.moves or [])
        data: dict[str, Any] = {
            "solvable": found.moves is not None if found.finished else None,
            "final": _final(at) if found.moves is not None else None,
            "moves": moves,
            "states": found.states,
            "looked_at": found.looked_at,
            "seconds": seconds,
        }
        if tree:
            walked = capture_tree(state)
            data |= dataclasses.asdict(walked) | {"saturated": walked.saturated}
        if svg:
            title = f"{found.states} positions, {search_method}, order {order}"
            solved = found.moves is not None and found.states == len(found.tree)
            write_text(svg, search_tree_svg(state, found.tree, solved, title))
        return data

    if rows == "-":
        return many(game, answer, _found)
    data = answer(game.parse_state(rows))

    def show(console: Console) -> None:
        console.print(_found(data))
        if tree:
            least = "at least " if data["saturated"] else ""
            console.print(
                f"the whole tree: {least}{data['nodes']:,} nodes, {data['distinct_states']:,} different positions, "
                f"{data['solutions']:,} solutions, finals {' '.join(data['finals']) or 'none'}"
            )

    return Answer(data, show)


def _found(data: dict[str, Any]) -> str:
    """What a search found, in words."""
    looked_at = f", {data['looked_at']:,} more looked at" if data["looked_at"] else ""
    if data["solvable"] is None:
        return f"not known after {data['states']:,} positions{looked_at}"
    if not data["solvable"]:
        return f"cannot be solved ({data['states']:,} positions entered{looked_at})"
    return f"{' '.join(data['moves'])} leaves {data['final']} ({data['states']:,} positions entered{looked_at})"


def _final(state: SolitaireChessState) -> str:
    cell, kind = next((cell, kind) for cell, kind in enumerate(state.kinds) if kind >= 0)
    return KINDS[kind] + state.game.cell_name(cell)


def hint(
    rows: Rows,
    *,
    stage: Literal[1, 2, 3] = 1,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Help with a puzzle, no more than asked for: who moves first, what it takes, who is last.

    Says that you are stuck as soon as the position cannot be solved.
    Example: rookery hint solitaire-chess "R.../.B../..N./P..." --stage 2

    Args:
        rows: Rows from the top, joined by `/`; `-` reads many from standard input, one per line.
        stage: How much to tell.
        variant: Variant of the game.
    """
    game = _game(variant)

    def answer(state: SolitaireChessState) -> dict[str, Any]:
        told = hints(state)
        return {"stuck": told == (STUCK,), "hints": list(told[:stage])}

    if rows == "-":
        return many(game, answer, lambda data: " ".join(data["hints"]))
    data = answer(game.parse_state(rows))
    return Answer(data, lambda console: console.print("\n".join(data["hints"])))


def generate(
    *,
    count: int = 10,
    level: Literal["beginner", "intermediate", "advanced", "expert", "solo"] = "beginner",
    pieces: int | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Make puzzles of a level, each with one possible last piece and square; `solo` makes 8x8 Solo Chess boards.

    Example: rookery generate solitaire-chess --count 5 --level expert --seed 1

    Args:
        count: How many.
        level: How hard.
        pieces: Number of pieces of a `solo` board; 14 if not given.
    """
    begin = time.perf_counter()
    if pieces is not None and level != "solo":
        raise ValueError("--pieces is for --level solo; the other levels choose the number of pieces themselves")
    if level == "solo":
        pieces = 14 if pieces is None else pieces
        if not 0 <= count <= 100_000:
            raise ValueError(f"the number of puzzles must be 0 to 100000, not {count}")
        boards = make_solo_puzzles(_game("solo-8x8"), pieces, count, common.seed, threads=0)
        rows = [{"rows": str(state), "level": level, "pieces": pieces} for state in boards]
    else:
        rows = [dataclasses.asdict(p) for p in make_puzzles(level, count, common.seed, threads=0)]
    data = {"puzzles": rows, "seconds": time.perf_counter() - begin}

    def show(console: Console) -> None:
        for puzzle in rows:
            rest = f"  rating {puzzle['rating']}, leaves {puzzle['final']}" if "rating" in puzzle else ""
            console.print(f"{puzzle['rows']}{rest}", soft_wrap=True)

    return Answer(data, show)


COMMANDS: Commands = {"solve": solve, "hint": hint, "generate": generate}
