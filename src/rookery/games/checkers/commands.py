"""Commands for checkers: exact endgames, and merging Q-tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, many, print_table
from rookery.game import State
from rookery.games.checkers.agents import describe
from rookery.games.checkers.database import PIECES, Database, Outcome
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.q_learning import QTable
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.registry import method, model_file


def solve(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FEN")],
    *,
    pieces: int = PIECES,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve a checkers position of few pieces exactly: who wins, in how many plies, and what every move does.

    Example: rookery solve checkers "W:WK18,K23:BK1"

    `value` is win, draw or loss for the side to move; `distance` counts plies until the loser cannot move (null for a
    draw). Draw rules that look at the past of a game do not count. The first question solves all positions of up to
    four pieces (seconds) and keeps them.

    Args:
        position: In draughts FEN; `-` reads many, one per line, from standard input.
        pieces: The largest number of pieces to solve; 5 takes about two minutes the first time.
    """
    game, solved = Checkers(), load_database(pieces)
    if position == "-":
        return many(
            game, lambda state: _solution(solved, state), lambda d: describe(Outcome(d["value"], d["distance"]))
        )
    state = game.parse_state(position)
    data = {"position": str(state)} | _solution(solved, state)

    def show(console: Console) -> None:
        outcome = Outcome(data["value"], data["distance"])
        console.print(f"{('Black', 'White')[state.side]} to move {describe(outcome)}")
        if data["moves"]:
            rows = [(row["move"], describe(Outcome(row["value"], row["distance"]))) for row in data["moves"]]
            print_table(console, ("move", "outcome"), rows)

    return Answer(data, show)


def _solution(solved: Database, state: State) -> dict[str, Any]:
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


def merge(
    tables: Annotated[tuple[Path, ...], Positional, tyro.conf.arg(metavar="TABLE")],
    *,
    out: Path,
    common: Options = DEFAULTS,
) -> Answer:
    """Merge Q-tables of checkers that were trained apart, with different seeds for one.

    Where two tables have learned the same action in the same position, the result has the mean of what was there before
    and the next table. Example: rookery merge checkers runs/a runs/b --out both.npz

    Args:
        tables: Files or folders of `rookery train checkers q-learning`.
        out: File to write.
    """
    if len(tables) < 2:
        raise ValueError("name at least two tables")
    game = Checkers()
    q_learning = method("q-learning", game)
    merged = QTable()
    sizes = []
    for path in tables:
        part = QTable.load(model_file(path, q_learning, game))
        sizes.append(len(part))
        merged.merge(part)
    merged.save(out, {"merged": [str(path) for path in tables]})
    data = {"tables": sizes, "positions": len(merged), "model": str(out)}
    text = f"{' + '.join(f'{size:,}' for size in sizes)} positions make {len(merged):,}, saved in {out}"
    return Answer(data, lambda console: console.print(text))


def hub(*, agent: str = "best", common: Options = DEFAULTS) -> Answer:
    """Be a checkers engine that speaks the Hub protocol, version 2, for other programs to start.

    Example: rookery hub --agent best

    Args:
        agent: Who chooses the moves; the other program can change it by a parameter.
    """
    from rookery.games.checkers.engine import HubServer

    HubServer(agent, common.seed).serve()
    return Answer({"agent": agent}, lambda console: None)


COMMANDS: Commands = {"hub": hub, "solve": solve, "merge": merge}
