"""Q-learning for chess endgames: the system of "Solving chess endgames using Q learning" (Boar, 2022).

The agent keeps a number Q(s, a) for every position s it has met and every move a there, all 0 at first. In each match,
always from the same start, it plays the move of greatest Q, or with probability epsilon a random one, and learns from
every move it made, once the opponent has answered:

    Q(s, a) += alpha * (reward + gamma * least best move - Q(s, a))

The *least best move* (equation 2.2) is the smallest, over all replies of the opponent, of the greatest Q among the
agent's next moves: the agent assumes the best reply, whatever the opponent really plays. The reward of a move is how
much it improved the position, measured by one of two functions of the position after it (`stockfish_reward`,
`heuristic_reward`); a mate after n moves is worth 10000/n and a draw -10000.

The loop itself is native (`native/games/endgames/q_learning.hpp`); here are the settings, what comes out of a run, and
the files.

What the paper leaves open, and what we do:

- Equation 2.3 and its prose disagree about "mate in n". We follow the prose, (10 (1 + ((20 - n)/10)^2))^2: it puts
  every forced mate above every position without one, which is what the prose says the 1 is for; the equation would
  value a mate in 20 at 1 and a mere advantage at up to 9. A mate in more than 20 counts as one in 20.
- "All rewards are relative to the previously given reward" cannot include the win: after "mate in 1" (2125) a mate on
  move 8 (1250) would be a punishment and nobody would learn to mate. So the rewards of positions are relative, the
  first to that of the start; win and draw are absolute.
- A draw that the opponent's reply brings (a piece is lost, a position repeated) is charged to the move before it, and
  as a possible reply it counts -10000 in the least best move.
- Matches also end as draws by the fifty-move rule, which bounds them. Ties between moves are broken at random.
- In the king's area the own square counts; pieces block lines as they stand.

`Settings(shaping="potential")` is ours. The paper's differences can be earned over and over by going back and forth,
and a draw by repetition blames one move for the whole match. Shaping by a potential cannot change which policy is best
(Ng, Harada and Russell, 1999), and it comes to the same as starting from Q-values that are the potential (Wiewiora,
2003; we use his look-ahead advice, a potential of position and move). So a move is worth at first what the paper's two
quantities promise after it, 10000 * gamma^(steps_per_square * (area + distance)), a guess at the discounted win; a win
is worth 10000 whenever it comes, since the discount alone asks for speed; and repetition and the fifty-move rule, which
belong to the match and not to the position, teach nothing: the backup goes on as if the game did.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery._native import Control
from rookery.files import replacing, write_text
from rookery.games.endgames.rules import Endgames, EndgamesState

ENDINGS = ("stopped", "checkmate", "insufficient material", "stalemate", "repetition", "fifty-move rule")
"""Why a match ended, by the number in `TrainedRun.endings`."""

CHECKMATE = ENDINGS.index("checkmate")

STOCKFISH_MOVES = "moves of Stockfish"
"""In logs: moves in which Stockfish mates itself from the start."""
EXACT_MOVES = "exact distance"
"""In logs: least number of moves to mate from the start."""

Engine = _native.endgames.Engine
"""Answers for positions: `native/games/endgames/q_learning.hpp`."""

king_area = _native.endgames.king_area
king_distance = _native.endgames.king_distance
heuristic_reward = _native.endgames.heuristic_reward
stockfish_reward = _native.endgames.stockfish_reward


@dataclass(frozen=True)
class Settings:
    """The paper's values are the defaults."""

    reward: Literal["stockfish", "heuristic"] = "stockfish"
    """Judge positions by an engine's evaluation (equation 2.3), or by the king's area and distance (2.4)."""
    decay: float = 1.0
    """Epsilon is divided by this to the power of the wins so far: 1 (static), 1.1 or 1.01 in the paper."""
    alpha: float = 0.05
    """Learning rate."""
    gamma: float = 0.95
    """Discount."""
    epsilon: float = 0.003
    """Probability of a random move."""
    win: float = 10_000.0
    """Reward of mate, divided by the number of moves it took."""
    draw: float = -10_000.0
    """Reward of any draw, for the side with the pieces."""
    shaping: Literal["relative", "potential"] = "relative"
    """The paper's relative rewards, or our potential."""
    steps_per_square: float = 5.0
    """How many moves nearer to mate the potential takes one square less of area or distance to be. Large values find
    some mate soon, small ones a shorter mate later."""
    explored: float = 1.0
    """Share of the matches, from the first, that explore; those after them only play and learn."""

    def native(self) -> _native.endgames.QSettings:
        if self.reward not in ("stockfish", "heuristic"):
            raise ValueError(f"unknown reward {self.reward!r}; known rewards: stockfish, heuristic")
        if self.shaping not in ("relative", "potential"):
            raise ValueError(f"unknown shaping {self.shaping!r}; known shapings: relative, potential")
        if self.shaping == "potential" and self.reward == "stockfish":
            raise ValueError("the potential is made of the king's area and distance; choose the heuristic reward")
        return _native.endgames.QSettings(
            alpha=self.alpha,
            gamma=self.gamma,
            epsilon=self.epsilon,
            decay=self.decay,
            win=self.win,
            draw=self.draw,
            engine_reward=self.reward == "stockfish",
            potential=self.shaping == "potential",
            steps_per_square=self.steps_per_square,
            explored=self.explored,
        )


def promise(before: EndgamesState, action: int, replies: int = 1) -> float:
    """What a learner with a potential knows of a move it never tried, for the side that makes it.

    With `replies` 0 that is the potential after it, or what it brings if it ends the game; with 1 the least best move
    that follows from it, and so on.
    """
    settings = POTENTIAL
    after = before.clone()
    after.apply(action)
    if replies and not after.ending:
        return settings.gamma * min(_best_promise(after, reply, replies) for reply in after.legal_actions())
    if after.ending:
        strong = settings.win if after.ending == "checkmate" else settings.draw
        return strong if before.player() == before.strong else -strong
    steps = settings.steps_per_square * (king_area(after) + king_distance(after))
    value = float(settings.win * settings.gamma**steps)
    return value if before.player() == before.strong else -value


def _best_promise(state: EndgamesState, reply: int, replies: int) -> float:
    after = state.clone()
    after.apply(reply)
    if after.ending:
        return -promise(state, reply, 0)
    return max(promise(after, action, replies - 1) for action in after.legal_actions())


VERSIONS = {
    "Stockfish Static": Settings("stockfish"),
    "Stockfish Decaying": Settings("stockfish", decay=1.1),
    "Heuristic Static": Settings("heuristic"),
    "Heuristic Decaying": Settings("heuristic", decay=1.1),
}
"""The paper's four versions of the agent."""

POTENTIAL = Settings("heuristic", decay=1.1, alpha=1.0, shaping="potential")
"""Our version. Nothing here is random but the exploration, so that there is nothing to average: alpha is 1."""

POTENTIAL_VERSIONS = {
    "Potential Static": dataclasses.replace(POTENTIAL, decay=1.0),
    "Potential Settling": dataclasses.replace(POTENTIAL, decay=1.0, explored=0.5),
    "Potential Decaying": POTENTIAL,
}
"""The same knowledge as the heuristic versions, better founded. With constant exploration a run may end just after an
explored move has opened a line that looks better and is not; the version that settles explores in the first half of its
matches only, and has the second half to find that out."""

Learners = Literal["strong", "weak", "both"]


_GAME = Endgames()
_KEY = re.compile(r"(True|False)([1-8KQRBNPkqrbnp/]+?)([a-h][1-8][a-h][1-8][qrbn]?)")


class LearnedTable:
    """What a learner knows: the Q-value of every move of the positions it has met."""

    def __init__(
        self,
        positions: npt.NDArray[np.uint64],
        counts: npt.NDArray[np.uint16],
        actions: npt.NDArray[np.uint16],
        values: npt.NDArray[np.floating[Any]],
    ) -> None:
        if not len(positions) == len(counts) or not len(actions) == len(values) == int(counts.sum()):
            raise ValueError("the arrays of a Q-table do not fit together")
        order = np.argsort(positions, kind="stable")
        self.positions = positions[order]
        """`State.key()` of each position as a little-endian number, ascending."""
        ends = np.cumsum(counts, dtype=np.int64)
        self._begins, self._counts = (ends - counts)[order], counts[order].astype(np.int64)
        self._actions, self._values = actions, values

    def __len__(self) -> int:
        return len(self.positions)

    def values(self, state: EndgamesState) -> dict[int, float] | None:
        """The Q-value of every move, or None in a position the learner never met."""
        code = np.uint64(int.from_bytes(state.key(), "little"))
        row = int(np.searchsorted(self.positions, code))
        if row == len(self) or self.positions[row] != code:
            return None
        entries = slice(self._begins[row], self._begins[row] + self._counts[row])
        return {
            int(action): float(value)
            for action, value in zip(self._actions[entries], self._values[entries], strict=True)
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Rows in the order of `positions`, as `save` writes them."""
        entries = np.concatenate(
            [np.arange(b, b + c) for b, c in zip(self._begins, self._counts, strict=True)] or [np.arange(0)]
        )
        return {
            "positions": self.positions,
            "counts": self._counts.astype(np.uint16),
            "actions": self._actions[entries],
            "values": self._values[entries].astype(np.float32),
        }

    def items(self) -> Iterator[tuple[EndgamesState, dict[int, float]]]:
        """Every position with the values of its moves; ValueError where the file names no legal position."""
        for position in self.positions.tolist():
            state = _GAME.parse_state(_native.endgames.fen(position))
            yield state, self.values(state) or {}

    def json(self) -> str:
        """The paper's form (Figure 2.1): an object whose keys are "True" or "False", for White or Black to move, then
        the board as in FEN, then the move as in UCI."""
        found: dict[str, float] = {}
        for state, values in self.items():
            board, side = str(state).split()[:2]
            found |= {f"{side == 'w'}{board}{state.uci(action)}": value for action, value in values.items()}
        return json.dumps(found, indent=0)

    @staticmethod
    def from_json(text: str) -> LearnedTable:
        """Read what `json` writes, or the paper's program. Moves that are missing are worth 0."""
        found: dict[str, dict[str, float]] = {}
        try:
            for key, value in json.loads(text).items():
                side, board, move = _KEY.fullmatch(key).groups()  # type: ignore[union-attr]
                found.setdefault(f"{board} {'w' if side == 'True' else 'b'} - - 0 1", {})[move] = float(value)
        except (ValueError, TypeError, AttributeError):
            raise ValueError("its keys must look like True8/8/1K6/8/3k4/7Q/8/8h3f3, its values be numbers") from None
        rows = {}
        for fen, values in found.items():
            state = _GAME.parse_state(fen)
            named = {state.parse_action(move): value for move, value in values.items()}
            rows[state] = {action: named.get(action, 0.0) for action in state.legal_actions()}
        return LearnedTable.of(rows)

    @staticmethod
    def of(rows: dict[EndgamesState, dict[int, float]]) -> LearnedTable:
        """A table of positions and the values of their moves."""
        return LearnedTable(
            np.array([int.from_bytes(state.key(), "little") for state in rows], np.uint64),
            np.array([len(values) for values in rows.values()], np.uint16),
            np.array([action for values in rows.values() for action in values], np.uint16),
            np.array([value for values in rows.values() for value in values.values()], np.float64),
        )

    @staticmethod
    def merged(tables: Iterable[LearnedTable]) -> LearnedTable:
        """What several learners know together. A move is worth the mean of its values in the tables that learned
        something about it, which are those where it is not 0."""
        sums: dict[EndgamesState, dict[int, tuple[float, int]]] = {}
        for table in tables:
            for state, values in table.items():
                row = sums.setdefault(state, {})
                for action, value in values.items():
                    total, count = row.get(action, (0.0, 0))
                    row[action] = total + value, count + (value != 0)
        return LearnedTable.of({
            state: {action: total / max(count, 1) for action, (total, count) in row.items()}
            for state, row in sums.items()
        })  # fmt: skip

    def save(self, path: Path | str) -> None:
        """Write a `.npz`, whole or not at all; values as 32-bit numbers."""
        with replacing(path) as file:
            np.savez_compressed(file, format=np.array("rookery endgame q-table 2"), **self.arrays())  # type: ignore[arg-type]

    @staticmethod
    def load(path: Path | str) -> LearnedTable:
        """Read what `save` wrote, or `json` in a file .json; ValueError if the file is anything else."""
        if Path(path).suffix == ".json":
            try:
                return LearnedTable.from_json(Path(path).read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{path} is not a Q-table: {error}") from None
        try:
            with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                if str(file["format"]) != "rookery endgame q-table 2":
                    raise ValueError("another format")
                return LearnedTable(file["positions"], file["counts"], file["actions"], file["values"])
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is not a Q-table of `rookery train endgames q-learning`: {error}") from None


@dataclass(frozen=True)
class TrainedRun:
    """One run: what happened in every match, and what was learned."""

    moves: npt.NDArray[np.int32]
    """Moves of the side with the pieces, `[matches]`."""
    endings: npt.NDArray[np.uint8]
    """Numbers of `ENDINGS`, `[matches]`."""
    solution: int | None
    """Moves to mate when both sides play what they know, without exploration; None if that does not mate."""
    solution_ending: str
    tables: dict[str, LearnedTable]
    """Of the learners: "strong", "weak"."""

    @property
    def won(self) -> npt.NDArray[np.bool_]:
        """Whether the side with the pieces won, by match."""
        return np.equal(self.endings, CHECKMATE)

    @property
    def win_percentage(self) -> npt.NDArray[np.float64]:
        """After each match, the percentage of matches won so far: the paper's curves."""
        return 100 * np.cumsum(self.won) / np.arange(1, len(self.won) + 1)


def train(
    start: EndgamesState,
    settings: Settings,
    engine: Engine,
    *,
    learners: Learners = "strong",
    matches: int = 5000,
    runs: int = 1,
    first_run: int = 0,
    seed: int = 0,
    threads: int = 0,
    control: Control | None = None,
) -> list[TrainedRun]:
    """Independent runs from one start. The engine plays the side that does not learn, and judges positions.

    The same seed gives the same runs whatever the number of threads, as long as the engine answers the same; run
    number n is the same whether it comes first or after others.
    `control.done` counts matches.
    """
    if learners not in ("strong", "weak", "both"):
        raise ValueError(f"unknown learners {learners!r}; known: strong, weak, both")
    strong, weak = learners != "weak", learners != "strong"
    found = _native.endgames.train(
        start, settings.native(), strong, weak, engine, matches, first_run, runs, seed, threads, control
    )
    sides = [name for name, learns in (("strong", strong), ("weak", weak)) if learns]
    results = []
    for run in found:
        ending, moves = run.validation
        tables = {side: LearnedTable(*run.table(side == "strong")) for side in sides}
        results.append(
            TrainedRun(run.moves, run.endings, moves if ending == CHECKMATE else None, ENDINGS[ending], tables)
        )
    return results


def write_run(run: TrainedRun, folder: Path, about: dict[str, Any]) -> None:
    """The paper's three files of a run: results as CSV, the Q-table, a log. `about` heads the log."""
    folder.mkdir(parents=True, exist_ok=True)
    for side, table in run.tables.items():
        table.save(folder / f"q-table-{side}.npz")
    rows = []
    lines = [f"{key}: {value}" for key, value in about.items()]
    wins = np.cumsum(run.won)
    for i, (moves, ending, percentage) in enumerate(
        zip(run.moves.tolist(), run.endings.tolist(), run.win_percentage.tolist(), strict=True)
    ):
        rows.append([i + 1, wins[i], f"{percentage:.3f}", moves if ending == CHECKMATE else -1, moves])
        lines += [f"match {i + 1}: {moves} moves, {percentage:.2f}% won", f"  {ENDINGS[ending]}"]
    lines.append(f"without exploration: {run.solution_ending}, {run.solution or '-'} moves to mate")
    write_text(folder / "results.csv", _csv(["match", "won", "win_percentage", "moves_to_win", "moves"], rows))
    write_text(folder / "log.txt", "\n".join(lines) + "\n")


def perfect_engine(table: _native.endgames.Table) -> Engine:
    """The exact tables as opponent and judge: `table` is the `native` of `rookery.games.endgames.tables.Table`.

    As defender it resists as long as it can, always by the same move. As judge it says "mate in n", n being exact: with
    it the Stockfish reward needs no engine.
    """
    return _native.endgames.PerfectEngine(table)


def play_out(start: EndgamesState, white: Engine, black: Engine) -> int | None:
    """White's moves to mate when two engines play each other; None if that ends in a draw."""
    state, moves = start.clone(), 0
    while state.player() >= 0:
        moves += state.player() == 0
        state.apply((white, black)[state.player()].ask(state)[0])
    return moves if state.ending == "checkmate" else None


@dataclass(frozen=True)
class Batch:
    """Some runs of one setup, as kept on disk."""

    moves: npt.NDArray[np.int16]
    """`[runs, matches]`"""
    endings: npt.NDArray[np.uint8]
    """`[runs, matches]`"""
    solutions: npt.NDArray[np.int16]
    """`[runs]`; -1 where the run found none."""

    @property
    def won(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.endings, CHECKMATE)

    @property
    def win_percentage(self) -> npt.NDArray[np.float64]:
        """`[runs, matches]`: see `TrainedRun.win_percentage`."""
        return 100 * np.cumsum(self.won, axis=1) / np.arange(1, self.won.shape[1] + 1)

    @property
    def solved(self) -> npt.NDArray[np.bool_]:
        return self.solutions >= 0


def train_batch(
    folder: Path,
    start: EndgamesState,
    settings: Settings,
    engine: Engine,
    *,
    opponent: str,
    learners: Learners = "strong",
    matches: int = 5000,
    runs: int = 10,
    seed: int = 0,
    one_by_one: bool = False,
    every_run: bool = False,
    about: dict[str, Any] | None = None,
    control: Control | None = None,
) -> Batch:
    """Runs that are kept in `folder` and not run again if they are there already.

    The folder gets `batch.npz` (every match of every run), `log.txt` (what was run) and `results.csv` (means over runs,
    as the paper compiles them). With `every_run` it also gets `moves-to-win.csv` (every match won), and a folder for
    each run with its three files. `one_by_one` saves after every run: for slow engines.
    """
    about = setup(start, settings, opponent=opponent, learners=learners, matches=matches, seed=seed) | (about or {})
    batch = load_batch(folder, about)
    while len(batch.solutions) < runs:
        first = len(batch.solutions)
        found = train(
            start, settings, engine, learners=learners, matches=matches, runs=1 if one_by_one else runs - first,
            first_run=first, seed=seed, control=control,
        )  # fmt: skip
        if control is not None and control.stopped:
            raise KeyboardInterrupt
        if every_run:
            for i, run in enumerate(found):
                write_run(run, folder / f"run-{first + i + 1:02}", about)
        batch = Batch(
            np.concatenate([batch.moves.reshape(-1, matches), [run.moves for run in found]]).astype(np.int16),
            np.concatenate([batch.endings.reshape(-1, matches), [run.endings for run in found]]).astype(np.uint8),
            np.concatenate([batch.solutions, [run.solution or -1 for run in found]]).astype(np.int16),
        )
        _save_batch(folder, batch, about)
        if every_run:
            write_text(folder / "moves-to-win.csv", _moves_to_win(batch, about))
    return Batch(batch.moves[:runs], batch.endings[:runs], batch.solutions[:runs])


def setup(
    start: EndgamesState, settings: Settings, *, opponent: str, learners: Learners = "strong", matches: int, seed: int
) -> dict[str, Any]:
    """What decides the matches of a batch: it heads the logs and tells batches apart."""
    return {
        "start": str(start), "opponent": opponent, "learners": learners, **dataclasses.asdict(settings),
        "matches": matches, "seed": seed,
    }  # fmt: skip


def load_batch(folder: Path, about: dict[str, Any]) -> Batch:
    """The runs kept in a folder, none if they are missing, damaged or of another setup."""
    try:
        with (folder / "batch.npz").open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if json.loads(str(file["about"])) == about:
                return Batch(file["moves"], file["endings"], file["solutions"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass
    return Batch(np.empty((0, 0), np.int16), np.empty((0, 0), np.uint8), np.empty(0, np.int16))


def _save_batch(folder: Path, batch: Batch, about: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    columns = {
        "match": [str(i + 1) for i in range(batch.won.shape[1])],
        "mean_games_won": _numbers(np.cumsum(batch.won, axis=1).mean(axis=0)),
        "win_percentage": _numbers(batch.win_percentage.mean(axis=0)),
        "win_percentage_of_solved_runs": _numbers(_mean(batch.win_percentage[batch.solved])),
        "mean_moves_to_win": _numbers(_mean(np.where(batch.won, batch.moves, np.nan))),
        "mean_moves_to_win_carried_forward": _numbers(_mean(carried_forward(batch))),
        "mean_moves": _numbers(batch.moves.mean(axis=0)),
    }
    write_text(folder / "results.csv", _csv(list(columns), zip(*columns.values(), strict=True)))
    lines = [f"{key}: {value}" for key, value in (about | {"runs": len(batch.solutions)}).items()]
    write_text(folder / "log.txt", "\n".join(lines) + "\n")
    with replacing(folder / "batch.npz") as file:
        np.savez_compressed(
            file, about=np.array(json.dumps(about)), moves=batch.moves, endings=batch.endings, solutions=batch.solutions
        )


def carried_forward(batch: Batch) -> npt.NDArray[np.float64]:
    """Moves to win by run and match, those of the last match won where a match was not; NaN before the first win."""
    last = np.where(batch.won, np.arange(batch.won.shape[1]), -1)
    last = np.maximum.accumulate(last, axis=1)
    moves = np.take_along_axis(batch.moves, np.maximum(last, 0), axis=1).astype(np.float64)
    return np.where(last >= 0, moves, np.nan)


def _mean(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each column over the rows that have a number there."""
    known = ~np.isnan(rows)
    counts = known.sum(axis=0)
    mean = np.full(rows.shape[1], np.nan)
    np.divide(np.where(known, rows, 0).sum(axis=0), counts, out=mean, where=counts > 0)
    return mean


def _numbers(values: npt.NDArray[np.float64]) -> list[str]:
    return ["" if np.isnan(value) else f"{value:.3f}" for value in values.tolist()]


def _csv(columns: list[str], rows: Iterable[Iterable[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([columns, *rows])
    return buffer.getvalue()


def _moves_to_win(batch: Batch, about: dict[str, Any]) -> str:
    """Every match won, the paper's concatenated lines: moves to win, and how many more than Stockfish and the exact
    distance, where these are known."""
    rows = []
    references = [about.get(name) for name in (STOCKFISH_MOVES, EXACT_MOVES)]
    for run, match in np.argwhere(batch.won).tolist():
        moves = int(batch.moves[run, match])
        rows.append([run + 1, match + 1, moves, *("" if other is None else moves - other for other in references)])
    return _csv(["run", "match", "moves_to_win", "less_stockfish", "less_exact"], rows)
