"""Commands for the strong players of checkers and its solved endgames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, positions_from_stdin, progress
from rookery.game import State
from rookery.games.checkers import database as exact
from rookery.games.checkers import td as checkers_td
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.strong_agents import describe


def solve(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FEN")],
    *,
    pieces: int = exact.PIECES,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve a checkers position of few pieces exactly: who wins, in how many plies, and what every move does.

    Example: rookery solve checkers "W:WK18,K23:BK1"

    `value` is win, draw or loss for the side to move; `distance` counts plies until the loser cannot move (null for a
    draw). Draw rules that look at the past of a game do not count. The first question solves all positions of up to
    four pieces (seconds) and keeps them.

    Args:
        position: In draughts FEN; `-` reads many, one a line, from standard input.
        pieces: Solve positions of up to so many pieces; 5 takes about two minutes the first time.
    """
    game, solved = Checkers(), exact.endgames(pieces)
    if position == "-":
        return Answer({"position": text} | _solution(solved, state) for text, state in positions_from_stdin(game))
    state = game.parse_state(position)
    data = {"position": str(state)} | _solution(solved, state)

    def show(console: Console) -> None:
        outcome = exact.Outcome(data["value"], data["distance"])
        console.print(f"{('Black', 'White')[state.side]} to move {describe(outcome)}")
        if data["moves"]:
            table = Table("move", "outcome")
            for row in data["moves"]:
                table.add_row(row["move"], describe(exact.Outcome(row["value"], row["distance"])))
            console.print(table)

    return Answer(data, show)


def _solution(solved: exact.Endgames, state: State) -> dict[str, Any]:
    assert isinstance(state, CheckersState)
    solution = solved.solve(state)
    ranked = sorted(solution.moves, key=lambda action: -solution.moves[action].preference)
    return {
        "value": solution.outcome.value,
        "distance": solution.outcome.plies,
        "best_move": state.action_name(ranked[0]) if ranked else None,
        "moves": [
            {
                "move": state.action_name(action),
                "value": solution.moves[action].value,
                "distance": solution.moves[action].plies,
            }
            for action in ranked
        ],
    }


def train_td(generations: int, folder: Path, resume: bool, seed: int) -> Answer:
    """`rookery train checkers td`."""
    if generations < 1:
        raise ValueError(f"the number of generations must be at least 1, and is {generations}")
    settings = checkers_td.Settings(generations=generations)
    rows: list[dict[str, Any]] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = progress()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("td: starting", total=settings.generations)
        for row in checkers_td.train(settings, folder, seed, resume):
            rows.append(row)
            text = f"td: {row['games']:,} games, error {row['error']:.3f}"
            bar.update(task, completed=row["generation"], description=text)
    data = {"run": str(folder), "model": str(folder / "model.npz"), "metrics": rows[-1] if rows else {}}

    def show(console: Console) -> None:
        console.print(f"The model lies in {data['model']}; its metrics in {folder / 'metrics.jsonl'}.")

    return Answer(data, show)


COMMANDS: Commands = {"solve": {"checkers": solve}}
