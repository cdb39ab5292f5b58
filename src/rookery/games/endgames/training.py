"""`rookery train endgames q-learning`: runs of the system of Boar (2022) from one start, kept in a folder."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rookery._native import Control
from rookery.files import write_text
from rookery.games.endgames import q_learning
from rookery.games.endgames.q_learning import Learners
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.stockfish import Stockfish
from rookery.games.endgames.tables import solve, tables
from rookery.method import check_at_least
from rookery.progress import cores
from rookery.run import Row, Run, duration, read_metrics


@dataclass(frozen=True)
class Settings(q_learning.Settings):
    """The paper's values are the defaults."""

    decay: float = 1.1
    """Epsilon is divided by this to the power of the wins so far: 1 (static), 1.1 or 1.01 in the paper."""
    position: str | None = None
    """Start of every match, as FEN; the initial position of the game if not given."""
    learners: Learners = "strong"
    """Who learns: the side with the pieces, the lone king, or both against each other."""
    opponent: Literal["perfect", "stockfish"] = "perfect"
    """Who plays the other side and judges positions: the exact tables, or Stockfish."""
    depth: int = 15
    """Depth of Stockfish's searches; the paper's default is 15."""
    engine: str | None = None
    """Program of a UCI engine, if Stockfish is not found by itself."""
    matches: int = 5000
    """Matches per run."""
    runs: int = duration(10)
    """Independent runs."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "matches", "runs", "depth")
        if self.depth > 100:
            raise ValueError(f"depth must be at most 100, and is {self.depth}")
        if self.position is not None:
            Endgames(start=self.position)
        self.native()


def _preset(settings: q_learning.Settings) -> Settings:
    return Settings(**dataclasses.asdict(settings))


PRESETS = {
    name.lower().replace(" ", "-"): _preset(settings)
    for name, settings in (q_learning.VERSIONS | q_learning.POTENTIAL_VERSIONS).items()
}
"""The paper's four versions of the agent, and ours."""


def train(game: Endgames, settings: Settings, run: Run) -> Iterator[Row]:
    """Independent runs from the game's initial position; yields a row of metrics whenever some are done.

    Every run writes its results as CSV, its Q-table and a log.
    """
    start = Endgames(start=settings.position or str(game.initial_state()), fifty_move_rule=True).initial_state()
    run.rows = read_metrics(run.folder)
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(q_learning.Settings)}
    learner = q_learning.Settings(**values)
    with contextlib.ExitStack() as stack:
        if settings.opponent == "perfect":
            engine, opponent = q_learning.perfect_engine(tables(start.game.material).native), "perfect defender"
        else:
            stockfish = stack.enter_context(Stockfish(settings.depth, settings.engine))
            engine, opponent = stockfish.native(), stockfish.label
        distance = solve(start).dtm
        about = {q_learning.EXACT_MOVES: None if distance is None else (abs(distance) + 1) // 2}
        if settings.opponent == "stockfish":
            about[q_learning.STOCKFISH_MOVES] = q_learning.play_out(start, engine, engine)
        write_text(run.folder / "start.fen", f"{start}\n")
        # Runs side by side are as many as there are cores; an engine answers one at a time.
        together = 1 if settings.opponent == "stockfish" else cores()
        done = run.rows[-1]["runs"] if run.rows else 0
        while done < settings.runs:
            done = min(settings.runs, done + together)
            batch = q_learning.train_batch(
                run.folder, start, learner, engine, opponent=opponent, learners=settings.learners,
                matches=settings.matches, runs=done, seed=run.seed, one_by_one=settings.opponent == "stockfish",
                every_run=True, about=about, control=Control(),
            )  # fmt: skip
            row = {
                "runs": done,
                "won": float(batch.won.mean()),
                "won_last_100": float(batch.won[:, -100:].mean()),
                "solved": float(batch.solved.mean()),
                "solutions": [int(moves) if moves >= 0 else None for moves in batch.solutions],
                "exact_plies": distance,
                "progress": done / settings.runs,
            }
            run.add(row)
            run.write_metrics()
            yield row
