"""Commands for chess endgames."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from tyro.conf import Positional

from rookery.agents.endgames import describe
from rookery.cli.base import DEFAULTS, Answer, Commands, Options, positions_from_stdin, progress
from rookery.exact import endgames as exact
from rookery.games.endgames import Endgames, EndgamesState
from rookery.learn import perfect_endgames


def solve(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FEN")],
    *,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve an endgame exactly: how many plies to mate, and the distance of every move.

    Example: rookery solve endgames "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"

    King and one or two pieces against king. `dtm_plies` is signed for the side to move: 5 means that it mates with its
    third move, -4 that it is mated by the opponent's second, 0 that it is mated now, and null is a draw. The first
    question about an endgame makes its table (seconds) and keeps it.

    Args:
        position: In Forsyth-Edwards notation; `-` reads many, one a line, from standard input.
    """
    game = Endgames()
    if position == "-":
        return Answer({"position": text} | _solution(state) for text, state in positions_from_stdin(game))
    state = game.parse_state(position)
    data = {"position": str(state)} | _solution(state)

    def show(console: Console) -> None:
        console.print(_verdict(state, data["dtm_plies"]))
        if not data["moves"]:
            return
        table = Table("plies to mate", "move")
        for row in data["moves"]:
            plies = "draw" if row["dtm_plies"] is None else str(row["dtm_plies"])
            action = state.parse_action(row["uci"])
            table.add_row(plies, describe(state, action, row["dtm_plies"]))
        console.print(table)

    return Answer(data, show)


def _solution(state: Any) -> dict[str, Any]:
    assert isinstance(state, EndgamesState)
    solution = exact.solve(state)
    # Where the material alone makes a draw the game is over, and the tables' moves are not played any more.
    moves = {action: solution.moves[action] for action in state.legal_actions()}
    best = [action for action in solution.best_moves if action in moves]
    ranked = best + sorted(set(moves) - set(best), key=lambda action: (-exact.preference(moves[action]), action))
    return {
        "dtm_plies": solution.dtm,
        "best_move": state.action_name(best[0]) if best else None,
        "best_move_uci": state.uci(best[0]) if best else None,
        "moves": [
            {"move": state.action_name(action), "uci": state.uci(action), "dtm_plies": moves[action]}
            for action in ranked
        ],
    }


def _verdict(state: EndgamesState, dtm: int | None) -> str:
    mover, other = ("White", "Black") if str(state).split()[1] == "w" else ("Black", "White")
    if dtm is None:
        return f"{mover} to move: a draw" + (f" ({state.ending})" if state.ending else "")
    if dtm == 0:
        return f"{mover} is mated"
    winner, moves = (mover, (dtm + 1) // 2) if dtm > 0 else (other, -dtm // 2)
    return f"{mover} to move: {winner} mates in {moves} move{'s' if moves > 1 else ''} ({abs(dtm)} plies)"


def train(
    method: Annotated[Literal["perfect"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    material: str = "KRK",
    out: Path | None = None,
    resume: bool = False,
    common: Options = DEFAULTS,
) -> Answer:
    """Learn to play endgames.

    Method `perfect`: Q-learning with random starts and the least-best-move backup, until every position has its exact
    value. On two cores KQK and KRK take a second, KBBK some ten seconds and KBNK a few minutes.

    Example: rookery train endgames perfect --material KRK

    Args:
        method: perfect.
        material: KQK, KRK, KBBK or KBNK.
        out: Folder for the values, the curve and the settings; `runs/endgames-perfect-MATERIAL` if not given.
        resume: Go on from what is in the folder.
    """
    settings = perfect_endgames.Settings(material, seed=common.seed)
    truth = exact.tables(material).native
    folder = out or Path("runs") / f"endgames-{method}-{material}"
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn(),
        console=progress(), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task(f"Learning {material}", total=1.0, state="0 starts")

        def report(point: perfect_endgames.Point) -> None:
            text = f"{point.optimal:.3%} played optimally after {point.starts:,} starts"
            bar.update(task, completed=point.exact, state=text)

        result = perfect_endgames.train(settings, truth, folder, resume, report=report)
    last = result.curve[-1]
    data = {
        "run": str(folder),
        "metrics": asdict(last) | {"material": material, "curve": [asdict(point) for point in result.curve]},
    }

    def show(console: Console) -> None:
        table = Table("starts", "backups", "played optimally", "exact values", "seconds")
        step = max(1, len(result.curve) // 12)
        for point in [*result.curve[:-1][::step], last]:
            table.add_row(
                f"{point.starts:,}", f"{point.backups:,}", f"{point.optimal:.5%}", f"{point.exact:.5%}",
                f"{point.seconds:.1f}",
            )  # fmt: skip
        console.print(table)
        console.print(f"{'Perfect' if last.perfect else 'Not perfect yet'}; saved in {folder}")

    return Answer(data, show, exit_code=0 if last.perfect else 1)


COMMANDS: Commands = {"solve": {"endgames": solve}, "train": {"endgames": train}}
