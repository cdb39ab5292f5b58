"""Commands for Solitaire Chess."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import Progress
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, positions_from_stdin, progress
from rookery.files import write_text
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
        rows: Rows from the top, joined by `/`; `-` reads many from standard input, one a line.
        order: Which captures to try first: `seed` as the paper's backtracking does, `centre` those towards the centre,
            `ranked` as the learned ranker says.
        search_method: Depth first, depth first that enters no position twice, or best first.
        prune: Do not enter positions that are plainly dead.
        variant: Variant of the game; `solo-8x8` for Solo Chess.
        weights: The ranker's weights: dqn or taught as shipped, or a file; the best for the board if not given.
        max_states: Give up after so many positions; then `solvable` is null.
        tree: Also walk the whole tree: `nodes`, `distinct_states`, `solutions` and `finals`.
        svg: File for a drawing of the search, up to its first 150 positions.
    """
    game = _game(variant)
    ranking: Order
    if order == "ranked":
        shipped = weights is None or weights in capture_ranker.METHODS
        ranking = capture_ranker.load(capture_ranker.shipped(game, weights) if shipped else str(weights))
    else:
        ranking = "paper" if order == "seed" else "centre"

    def answer(state: SolitaireChessState) -> dict[str, Any]:
        begin = time.perf_counter()
        found = search(state, search_method, ranking, prune, max_states, 150 if svg else 0)
        seconds = time.perf_counter() - begin
        at = state.clone()
        moves = []
        for move in found.moves or []:
            moves.append(at.action_name(move))
            at.apply(move)
        data: dict[str, Any] = {
            "solvable": found.moves is not None if found.finished else None,
            "final": _final(at) if found.moves is not None else None,
            "moves": moves,
            "states": found.states,
            "seconds": seconds,
        }
        if tree:
            data |= dataclasses.asdict(capture_tree(state))
        if svg:
            title = f"{found.states} positions, {search_method}, order {order}"
            solved = found.moves is not None and found.states == len(found.tree)
            write_text(svg, search_tree_svg(state, found.tree, solved, title))
        return data

    if rows == "-":
        return Answer({"position": text} | answer(game.parse_state(text)) for text, _ in positions_from_stdin(game))
    data = answer(game.parse_state(rows))

    def show(console: Console) -> None:
        if data["solvable"] is None:
            console.print(f"not known after {data['states']:,} positions")
        elif not data["solvable"]:
            console.print(f"cannot be solved ({data['states']:,} positions entered)")
        else:
            console.print(f"{' '.join(data['moves'])}  leaves {data['final']}", markup=False, highlight=False)
            console.print(f"{data['states']:,} positions entered")
        if tree:
            console.print(
                f"the whole tree: {data['nodes']:,} nodes, {data['distinct_states']:,} different positions, "
                f"{data['solutions']:,} solutions, finals {' '.join(data['finals']) or 'none'}"
            )

    return Answer(data, show)


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
        rows: Rows from the top, joined by `/`; `-` reads many from standard input, one a line.
        stage: How much to tell.
        variant: Variant of the game.
    """
    game = _game(variant)

    def answer(state: SolitaireChessState) -> dict[str, Any]:
        told = hints(state)
        return {"stuck": told == (STUCK,), "hints": list(told[:stage])}

    if rows == "-":
        return Answer({"position": text} | answer(game.parse_state(text)) for text, _ in positions_from_stdin(game))
    data = answer(game.parse_state(rows))
    return Answer(data, lambda console: console.print("\n".join(data["hints"])))


def generate(
    *,
    count: int = 10,
    level: Literal["beginner", "intermediate", "advanced", "expert", "solo"] = "beginner",
    pieces: int = 14,
    common: Options = DEFAULTS,
) -> Answer:
    """Make puzzles of a level, each with one possible last piece and square; `solo` makes 8x8 Solo Chess boards.

    Example: rookery generate solitaire-chess --count 5 --level expert --seed 1

    Args:
        count: How many.
        level: How hard.
        pieces: Number of pieces of a `solo` board.
    """
    begin = time.perf_counter()
    if level == "solo":
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
            console.print(f"{puzzle['rows']}{rest}", markup=False, highlight=False, soft_wrap=True)

    return Answer(data, show)


def train(
    method: Annotated[Literal["dqn", "taught"], Positional, tyro.conf.arg(metavar="METHOD")] = "dqn",
    *,
    variant: Literal["4x4", "solo-8x8"] = "4x4",
    steps: int | None = None,
    out: Path | None = None,
    resume: bool = False,
    common: Options = DEFAULTS,
) -> Answer:
    """Train the ranker from nothing: dqn learns from play alone, taught from exact answers. Needs the extra `deep`.

    Takes about 15 minutes on two free cores. A stopped run goes on with --resume and ends as it would have.
    Use it with `rookery solve solitaire-chess ROWS --order ranked --weights FILE`.
    Example: rookery train solitaire-chess dqn --out runs/mine

    Args:
        method: dqn or taught.
        variant: 4x4; dqn also learns solo-8x8, Solo Chess.
        steps: Gradient steps, if not as many as for the weights that ship.
        out: Folder of the run; runs/solitaire-chess-METHOD-VARIANT if not given.
        resume: Go on with the run in the folder.
    """
    try:
        from rookery.games.solitaire_chess import dqn as solitaire_dqn
        from rookery.games.solitaire_chess import taught as solitaire_taught
    except ImportError as error:
        raise ValueError(f"training needs PyTorch: pip install 'rookery[deep]' ({error})") from None
    if method == "taught" and variant != "4x4":
        raise ValueError("taught learns 4x4 only: the trees of larger boards are too large to mark")
    if steps is not None and steps < 1:
        raise ValueError(f"the number of steps must be at least 1, and is {steps}")
    game, folder = _game(variant), out or Path("runs") / f"solitaire-chess-{method}-{variant}"
    settings: solitaire_dqn.Settings | solitaire_taught.Settings
    rows: Iterator[tuple[dict[str, Any], Any]]
    if method == "dqn":
        usual = solitaire_dqn.SOLO_8X8 if variant == "solo-8x8" else solitaire_dqn.Settings()
        settings = dataclasses.replace(usual, steps=steps or usual.steps)
        rows = solitaire_dqn.train(game, settings, folder, common.seed, resume)
    else:
        settings = solitaire_taught.Settings(steps=steps or solitaire_taught.Settings.steps)
        rows = solitaire_taught.train(game, settings, folder, common.seed, resume)
    begin, curve = time.process_time(), []
    path = folder / f"{variant}.safetensors"
    with Progress(console=progress()) as bar:
        task = bar.add_task(f"{method} {variant}", total=settings.steps)
        for row, net in rows:
            curve.append({name: value for name, value in row.items() if name != "seen"})
            bar.update(task, completed=row["step"], description=f"{method} {variant}: loss {row['loss']:.3f}")
            weights = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
            capture_ranker.save(path, weights, settings.width, settings.heads, settings.layers)
    command = f"rookery train solitaire-chess {method} --variant {variant} --seed {common.seed}"
    metrics = {
        "command": command + (f" --steps {steps}" if steps is not None else ""),
        "processor_seconds": round(time.process_time() - begin, 1),
        "settings": dataclasses.asdict(settings),
        "curve": curve,
    }
    write_text(path.with_suffix(".json"), json.dumps(metrics, indent=1))
    data = {"run": str(path), "metrics": metrics}
    said = f"weights in {path}, after {metrics['processor_seconds']} s of work"
    return Answer(data, lambda console: console.print(said))


COMMANDS: Commands = {
    "solve": {"solitaire-chess": solve},
    "hint": {"solitaire-chess": hint},
    "generate": {"solitaire-chess": generate},
    "train": {"solitaire-chess": train},
}
