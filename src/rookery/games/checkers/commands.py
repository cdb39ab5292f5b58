"""Commands for checkers: exact endgames, analysis of games, and merging Q-tables."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, many, print_table
from rookery.game import State
from rookery.games.checkers.agents import describe
from rookery.games.checkers.database import PIECES, Database, Outcome
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.q_learning import QTable
from rookery.games.checkers.rules import Checkers, CheckersState, parse_pdn
from rookery.registry import agent as load_agent
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
        pieces: The largest number of pieces to solve. The first time, 5 takes about a minute of CPU time and 60 MB on
            the disk, 6 about 25 minutes, 780 MB and 1.4 GB of memory.
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


def analyse(
    file: Annotated[Path, Positional, tyro.conf.arg(metavar="GAME.pdn")],
    *,
    game: int = 1,
    agent: str = "best",
    black_win: Literal["0-1", "1-0"] = "0-1",
    common: Options = DEFAULTS,
) -> Answer:
    """Analyse a game of checkers: what every move lost, the turning points, and the exact verdict in the endgame.

    Example: rookery analyse game.pdn --agent best:nodes=1000000

    Values are for the side that moves: 1 is won, -1 is lost, less a thousandth for every ply until the end; the loss of
    a move is what it is worth less than the best one. A turning point changes the outcome by the solved endgames, or
    loses 0.15 or more where they do not know it.

    Args:
        file: A PDN file; `-` reads standard input.
        game: Which game of the file, from 1.
        agent: The judge: best or net, with settings.
        black_win: How the file writes a win of Black.
    """
    from rookery.games.checkers.analysis import analyse as judged
    from rookery.games.checkers.analysis import load_judge

    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    games = parse_pdn(text, black_win)
    if not 1 <= game <= len(games):
        raise ValueError(f"the file has {len(games)} games, so there is no game {game}")
    chosen, judge = games[game - 1], load_judge(load_agent(agent, Checkers()))
    moves = list(judged(chosen, judge))
    turning = [move for move in moves if move.turning]
    losses = {side: [move.loss for move in moves if move.side == side] for side in Checkers.sides}
    means = {side: sum(found) / len(found) if found else 0.0 for side, found in losses.items()}
    data = {
        "headers": dict(chosen.headers),
        "result": chosen.result,
        "moves": [asdict(move) | {"loss": move.loss, "turning": move.turning} for move in moves],
        "turning_points": [index for index, move in enumerate(moves) if move.turning],
        "mean_loss": means,
    }

    def show(console: Console) -> None:
        rows = [
            (f"{m.number}{'.' if m.side == 'Black' else '...'}", m.name, f"{m.value:+.3f}", f"{m.loss:.3f}",
             m.best if m.loss > 0 else "", m.exact, "turning point" if m.turning else "")
            for m in moves
        ]  # fmt: skip
        print_table(console, ("", "move", "value", "loss", "better", "exact", ""), rows)
        for side, mean in means.items():
            console.print(f"{side} lost {mean:.3f} per move")
        for m in turning:
            exact = f", which {m.exact} where {m.best} {m.exact_best}" if m.exact else f"; {m.best} was better"
            console.print(f"{m.side}'s move {m.number}, {m.name}, lost {m.loss:.3f}{exact}", soft_wrap=True)

    return Answer(data, show)


def book(
    *,
    out: Path,
    plies: int = 6,
    margin: float = 0.05,
    agent: str = "best:nodes=200000,book=no",
    common: Options = DEFAULTS,
) -> Answer:
    """Make an opening book of checkers: the first moves that a long search finds about as good as the best.

    Example: rookery book checkers --out book.json

    Args:
        out: The file to write.
        plies: How many plies the book is deep.
        margin: A move belongs to the book if it is worth at most this much less than the best one.
        agent: The judge: best or net, with settings.
    """
    from rookery.games.checkers import book as books
    from rookery.games.checkers.analysis import load_judge

    if not 1 <= plies <= 20:
        raise ValueError(f"the book must be 1 to 20 plies deep, and is {plies}")
    judge = load_judge(load_agent(agent, Checkers()))
    made = dict(books.build(judge, plies, margin))
    moves = sum(map(len, made.values()))
    info = {
        "plies": plies,
        "margin": margin,
        "agent": agent,
        "command": f"rookery book checkers --plies {plies} --margin {margin:g} --agent {agent}",
    }
    books.save(out, made, info)
    data = {"positions": len(made), "moves": moves, "file": str(out)}
    return Answer(data, lambda console: console.print(f"{len(made):,} positions and {moves:,} moves in {out}"))


def hub(*, agent: str = "best", common: Options = DEFAULTS) -> Answer:
    """Be a checkers engine that speaks the Hub protocol, version 2, for other programs to start.

    Example: rookery hub --agent best

    Args:
        agent: Who chooses the moves; the other program can change it by a parameter.
    """
    from rookery.games.checkers.engine import HubServer

    HubServer(agent, common.seed).serve()
    return Answer({"agent": agent}, lambda console: None)


COMMANDS: Commands = {"analyse": analyse, "book": book, "hub": hub, "solve": solve, "merge": merge}
