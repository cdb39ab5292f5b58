"""Commands for chess endgames."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from tyro.conf import Positional

from rookery._native import Control
from rookery.cli.base import DEFAULTS, Answer, Commands, Options, positions_from_stdin, progress
from rookery.files import write_text
from rookery.games.endgames import perfect as perfect_endgames
from rookery.games.endgames import q_learning as endgame_q
from rookery.games.endgames import study
from rookery.games.endgames import tables as exact
from rookery.games.endgames.agents import describe
from rookery.games.endgames.rules import Endgames, EndgamesState, to_pgn
from rookery.games.endgames.stockfish import Stockfish
from rookery.registry import agent as load_agent
from rookery.report.study import Result


@contextmanager
def watching(control: Control, label: str, total: int, console: Console) -> Iterator[None]:
    """A progress bar for a native call: `control.done` of `total`."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        stop = threading.Event()

        def follow() -> None:
            while not stop.wait(0.2):
                bar.update(task, completed=control.done)

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


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


AGENTS = {
    name.lower().replace(" ", "-"): settings
    for name, settings in (endgame_q.VERSIONS | endgame_q.POTENTIAL_VERSIONS).items()
}
"""Versions of the Q-learning agent by their names on the command line."""


@dataclass(frozen=True)
class QLearning:
    """Options of the method q-learning."""

    position: str | None = None
    """q-learning: the start of every match, as FEN; the material's initial position if not given."""
    agent: str = "stockfish-decaying"
    """q-learning: stockfish-static, stockfish-decaying, heuristic-static, heuristic-decaying (the paper's four),
    potential-static or potential-decaying."""
    learners: Literal["strong", "weak", "both"] = "strong"
    """q-learning: who learns, the side with the pieces, the lone king, or both against each other."""
    opponent: Literal["perfect", "stockfish"] = "perfect"
    """q-learning: who plays the other side and judges positions, the exact tables or Stockfish at depth 15."""
    engine: str | None = None
    """q-learning: program of a UCI engine, if Stockfish is not found by itself."""
    matches: int = 5000
    """q-learning: matches a run."""
    runs: int = 10
    """q-learning: independent runs."""
    grid: bool = False
    """q-learning: all of the paper's endgames, agents and starts against Stockfish; may be interrupted at any time."""
    quick: bool = False
    """q-learning: of the grid only a slice of less than three minutes."""


def train(
    method: Annotated[Literal["perfect", "q-learning"], Positional, tyro.conf.arg(metavar="METHOD")],
    *,
    material: str = "KRK",
    out: Path | None = None,
    resume: bool = False,
    q: Annotated[QLearning, tyro.conf.arg(name="")] = QLearning(),  # noqa: B008
    common: Options = DEFAULTS,
) -> Answer:
    """Learn to play endgames.

    Method `perfect`: Q-learning with random starts and the least-best-move backup, until every position has its exact
    value. On two cores KQK and KRK take a second, KBBK some ten seconds and KBNK a few minutes.

    Method `q-learning`: the system of Boar (2022), from one start position, with the paper's settings. Every run writes
    its results as CSV, its Q-table and a log.

    Examples: rookery train endgames perfect --material KRK;
    rookery train endgames q-learning --material KBBK --agent potential-decaying;
    rookery train endgames q-learning --opponent stockfish --grid --quick

    Args:
        method: perfect or q-learning.
        material: KQK, KRK, KBBK or KBNK; q-learning takes any.
        out: Folder for what is learned; `runs/endgames-METHOD-MATERIAL` if not given.
        resume: Go on from what is in the folder.
    """
    if method == "q-learning":
        return _train_q(material, out, resume, q, common.seed)
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


def _train_q(material: str, out: Path | None, resume: bool, q: QLearning, seed: int) -> Answer:
    if q.agent not in AGENTS:
        raise ValueError(f"unknown agent {q.agent!r}; known agents: {', '.join(AGENTS)}")
    if q.grid:
        return _train_grid(out or Path("runs") / "endgames-against-stockfish", q, seed)
    game = Endgames(None if q.position else material, q.position, fifty_move_rule=True)
    start = game.initial_state()
    folder = out or Path("runs") / f"endgames-q-learning-{game.material}"
    if q.opponent == "perfect":
        return _train_runs(folder, start, resume, q, seed, endgame_q.perfect_engine(exact.tables(game.material).native))
    with Stockfish(path=q.engine) as stockfish:
        return _train_runs(folder, start, resume, q, seed, stockfish.native(), stockfish.version)


def _train_runs(
    folder: Path, start: EndgamesState, resume: bool, q: QLearning, seed: int, engine: endgame_q.Engine,
    opponent: str = "perfect defender",
) -> Answer:  # fmt: skip
    if not resume:
        (folder / "batch.npz").unlink(missing_ok=True)
    dtm = exact.solve(start).dtm
    control = Control()
    with watching(control, "learning", q.runs * q.matches, progress()):
        batch = endgame_q.train_batch(
            folder, start, AGENTS[q.agent], engine, opponent=opponent, learners=q.learners, matches=q.matches,
            runs=q.runs, seed=seed, one_by_one=q.opponent == "stockfish", every_run=True,
            about={"agent": q.agent, "exact distance in plies": dtm}, control=control,
        )  # fmt: skip
    solutions = [int(moves) if moves >= 0 else None for moves in batch.solutions]
    metrics = {
        "won": float(batch.won.mean()),
        "won_last_100": float(batch.won[:, -100:].mean()),
        "solved": float(batch.solved.mean()),
        "solutions": solutions,
        "exact_plies": dtm,
    }
    data = {"run": str(folder), "position": str(start), "agent": q.agent, "opponent": opponent, "metrics": metrics}

    def show(console: Console) -> None:
        table = Table("run", "won, all matches", "won, last 100", "moves to mate")
        for i, solution in enumerate(solutions):
            shares = [f"{part.mean():.1%}" for part in (batch.won[i], batch.won[i, -100:])]
            table.add_row(str(i + 1), *shares, "-" if solution is None else str(solution))
        console.print(table)
        console.print(f"{_verdict(start, dtm)}, by the exact tables; moves to mate are without exploration")
        console.print(f"saved in {folder}")

    return Answer(data, show)


def _train_grid(folder: Path, q: QLearning, seed: int) -> Answer:
    if q.opponent != "stockfish":
        raise ValueError("--grid is for --opponent stockfish; `rookery reproduce endgames` has it against perfection")
    plan, minutes = (study.Plan(1, 1, 20), 2.5) if q.quick else (study.Plan(), float("inf"))
    command = f"rookery train endgames q-learning --opponent stockfish --grid{' --quick' * q.quick} --seed {seed}"
    with Stockfish(path=q.engine) as stockfish, Progress(console=progress(), transient=True) as bar:
        table = study.against_stockfish(folder, stockfish, plan, seed, minutes, command, bar)
    result = Result("endgames", "Against Stockfish", seed, [table])
    data = {"run": str(folder), "metrics": {"columns": list(table.columns), "rows": [list(row) for row in table.rows]}}
    return Answer(data, result.show)


def watch(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FEN")],
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
        position: Start, in Forsyth-Edwards notation.
        agent: Who has the pieces: q-learning (as shipped), q-learning:FOLDER, oracle, stockfish:depth=15 ..
        opponent: Who has the lone king.
        pgn: File to write the game to.
        delay: Seconds to wait after every move.
    """
    start = Endgames(start=position, fifty_move_rule=True).initial_state()
    players = {start.strong: load_agent(agent, start.game), 1 - start.strong: load_agent(opponent, start.game)}
    names = (agent, opponent) if start.strong == 0 else (opponent, agent)
    rng = random.Random(common.seed)
    console = Console()
    steps = not common.json
    state, actions, rows = start.clone(), list[int](), list[dict[str, Any]]()
    if steps:
        console.print(_board(state), markup=False, highlight=False)
        console.print(_verdict(state, exact.solve(state).dtm))
    while state.player() >= 0:
        action = players[state.player()].choose(state, rng)
        mover, name, number = state.player(), state.action_name(action), state.fullmove_number
        actions.append(action)
        state.apply(action)
        rows.append({"move": name, "position": str(state), "dtm_plies": exact.solve(state).dtm})
        if steps:
            console.print(f"\n{number}.{'..' * mover} {name}  ({names[mover]})", markup=False, highlight=False)
            console.print(_board(state), markup=False, highlight=False)
            console.print(_verdict(state, rows[-1]["dtm_plies"]))
            time.sleep(delay)
    text = to_pgn(start, actions, names)
    if pgn:
        write_text(pgn, text)
    data = {"moves": rows, "ending": state.ending, "pgn": text}

    def show(console: Console) -> None:
        console.print(f"\n{text}", markup=False, highlight=False)
        if pgn:
            console.print(f"written to {pgn}")

    return Answer(data, show)


_FIGURES = dict(zip("KQRBNPkqrbnp.", "♔♕♖♗♘♙♚♛♜♝♞♟·", strict=True))


def _board(state: EndgamesState) -> str:
    rows = [f"{rank + 1} {' '.join(_FIGURES[c] for c in state.letters[8 * rank : 8 * rank + 8])}" for rank in range(8)]
    return "\n".join([*reversed(rows), "  a b c d e f g h"])


COMMANDS: Commands = {"solve": {"endgames": solve}, "train": {"endgames": train}, "watch": {"endgames": watch}}
