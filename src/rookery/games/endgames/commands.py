"""Commands for chess endgames."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, many, print_table
from rookery.files import write_text
from rookery.games.endgames import tables as exact
from rookery.games.endgames.agents import describe, q_tables
from rookery.games.endgames.methods import verdict
from rookery.games.endgames.q_learning import LearnedTable
from rookery.games.endgames.rules import Endgames, EndgamesState, to_pgn
from rookery.progress import console as make_console
from rookery.registry import agent as load_agent


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
        position: In Forsyth-Edwards notation; `-` reads many, one per line, from standard input.
    """
    game = Endgames()
    if position == "-":
        return many(game, _solution, lambda data: _verdict(game.parse_state(data["position"]), data["dtm_plies"]))
    state = game.parse_state(position)
    data = {"position": str(state)} | _solution(state)

    def show(console: Console) -> None:
        console.print(_verdict(state, data["dtm_plies"]))
        if not data["moves"]:
            return
        rows = []
        for row in data["moves"]:
            plies = row["dtm_plies"]
            rows.append(("-" if plies is None else plies, describe(state, state.parse_action(row["uci"]), plies)))
        print_table(console, ("plies to mate", "move"), rows)

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
    if dtm == 0:
        return verdict(state, dtm)
    mover = "White" if str(state).split()[1] == "w" else "Black"
    plies = f" ({abs(dtm)} {'plies' if abs(dtm) > 1 else 'ply'})" if dtm else ""
    return f"{mover} to move: {verdict(state, dtm)}{plies}"


def watch(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FEN")] = "",
    *,
    agent: str = "q-learning",
    opponent: str = "oracle",
    pgn: Path | None = None,
    delay: float = 0.0,
    common: Options = DEFAULTS,
) -> Answer:
    """Watch an agent mate, step by step, with the exact distance after every move.

    Example: rookery watch endgames "8/8/8/4k3/8/8/8/R3K3 w - - 0 1" --delay 0.5

    Args:
        position: Start, in Forsyth-Edwards notation; drawn with `--seed` from those that White wins if not given.
        agent: Who has the pieces: q-learning (as shipped), q-learning:FOLDER, oracle, stockfish:depth=15 ..
        opponent: Who has the lone king.
        pgn: File to write the game to.
        delay: Seconds to wait after every move.
    """
    if not 0 <= delay <= 60:
        raise ValueError(f"the delay must be from 0 to 60 seconds, and is {delay:g}")
    rng = random.Random(common.seed)
    position = position or str(exact.start_to_practise(Endgames(), rng))
    start = Endgames(start=position, fifty_move_rule=True).initial_state()
    players = {start.strong: load_agent(agent, start.game), 1 - start.strong: load_agent(opponent, start.game)}
    names = (agent, opponent) if start.strong == 0 else (opponent, agent)
    console = make_console(stderr=False)
    steps = not common.json
    state, actions, rows = start.clone(), list[int](), list[dict[str, Any]]()
    if steps:
        console.print(_board(state))
        console.print(_verdict(state, exact.solve(state).dtm))
    while state.player() >= 0:
        action = players[state.player()].choose(state, rng)
        mover, name, number = state.player(), state.action_name(action), state.fullmove_number
        actions.append(action)
        state.apply(action)
        rows.append({"move": name, "position": str(state), "dtm_plies": exact.solve(state).dtm})
        if steps:
            console.print(f"\n{number}.{'..' * mover} {name}  ({names[mover]})")
            console.print(_board(state))
            console.print(_verdict(state, rows[-1]["dtm_plies"]))
            time.sleep(delay)
    text = to_pgn(start, actions, names)
    if pgn:
        write_text(pgn, text)
    data = {"moves": rows, "ending": state.ending, "pgn": text}

    def show(console: Console) -> None:
        console.print(f"\n{text}")
        if pgn:
            console.print(f"written to {pgn}")

    return Answer(data, show)


_FIGURES = dict(zip("KQRBNPkqrbnp.", "♔♕♖♗♘♙♚♛♜♝♞♟·", strict=True))


def q_table(
    tables: Annotated[tuple[Path, ...], Positional, tyro.conf.arg(metavar="TABLE ...")],
    *,
    out: Path,
    common: Options = DEFAULTS,
) -> Answer:
    """Export Q-tables as JSON, read them back, and merge several into one.

    Example: rookery q-table endgames runs/kqk --out kqk.json
    Example: rookery q-table endgames runs/a runs/b other.json --out both.npz

    In JSON a key is "True" or "False" (White or Black to move), the board as in FEN and the move as in UCI, such as
    True8/8/1K6/8/3k4/7Q/8/8h3f3: the form of Boar (2022). In a merged table a move is worth the mean of its values in
    the tables that learned something about it. `rookery play endgames --agent q-learning:both.npz` plays by it.

    Args:
        tables: Files .npz or .json, or folders of `rookery train endgames q-learning`.
        out: File to write, .json or .npz.
    """
    if out.suffix not in (".json", ".npz"):
        raise ValueError(f"the name of the file to write must end in .json or .npz, not {out.name!r}")
    files = [file for path in tables for file in q_tables(path)]
    loaded = [LearnedTable.load(file) for file in files]
    table = loaded[0] if len(loaded) == 1 else LearnedTable.merged(loaded)
    if out.suffix == ".json":
        write_text(out, table.json() + "\n")
    else:
        table.save(out)
    data = {"tables": [str(file) for file in files], "positions": len(table), "out": str(out)}
    many_tables = f" of {len(files)} tables" if len(files) > 1 else ""
    return Answer(data, lambda console: console.print(f"{len(table):,} positions{many_tables} are in {out}"))


def _board(state: EndgamesState) -> str:
    rows = [f"{rank + 1} {' '.join(_FIGURES[c] for c in state.letters[8 * rank : 8 * rank + 8])}" for rank in range(8)]
    return "\n".join([*reversed(rows), "  a b c d e f g h"])


def uci(*, agent: str = "oracle", common: Options = DEFAULTS) -> Answer:
    """Be a chess engine that speaks UCI, for endgames of few pieces and for other programs to start.

    Example: rookery uci --agent oracle

    Args:
        agent: Who chooses the moves; the other program can change it by an option.
    """
    from rookery.games.endgames.engine import UciServer

    UciServer(agent, common.seed).serve()
    return Answer({"agent": agent}, lambda console: None)


COMMANDS: Commands = {"uci": uci, "solve": solve, "watch": watch, "q-table": q_table}
