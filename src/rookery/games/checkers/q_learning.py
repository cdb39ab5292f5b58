"""Tabular Q-learning of checkers by self-play, and what to do in positions the table does not know (Benning, 2021).

One table serves both colours. Training plays whole games of the table against itself: where the position is known, the
best action with probability 1 - epsilon, otherwise a random one. After a game every player's own moves are walked
through from the last to the first (the paper's Algorithm 1):

    q += alpha * (reward + discount * best value of the player's next position - q)

with reward +1 at each move of the winner, -1 at each of the loser, and 0 in a drawn game, which Algorithm 1 does not
know. A position enters the table with zeros for all its actions. The loop is `native/games/checkers/q_table.hpp`.

The program that the author published differs from his text; `Settings(rule="program")` learns as it does.

A position met in play that is not in the table is left to a fallback: `random`; `voting`, Prior State Voting; or
`keep-training`, which plays training games from that very position.

>>> table = QTable()
>>> table.train(Checkers(), Settings(games=50), seed=1)
>>> state = Checkers().initial_state()
>>> len(table) > 2000, len(table.values(state))
(True, 7)
>>> match = play_against_random(table, Checkers(), "random", games=20, seed=1)
>>> match.wins + match.draws + match.losses
20
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import run as runs
from rookery._native import Control
from rookery._native import checkers as native
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.method import check_at_least
from rookery.run import Row, Run
from rookery.statistics import wilson_interval

KIND = "checkers q-table"
MODEL = "model.npz"
Rule = Literal["paper", "program"]
Fallback = Literal["random", "voting", "keep-training"]
FALLBACKS: tuple[Fallback, ...] = ("random", "voting", "keep-training")


@dataclass(frozen=True)
class Settings:
    """The paper's text names no values: alpha, epsilon and the discounts are those of its author's program.

    Captures and decay are the paper's further work.
    """

    games: int = 40_000
    """Games of self-play."""
    alpha: float = 0.1
    """Learning rate."""
    epsilon: float = 0.5
    """Share of random moves in training."""
    first_discount: float = 0.1
    """Discount in the first game; it rises evenly to `last_discount`."""
    last_discount: float = 1.0
    """Discount in the last game."""
    draw_reward: float = 0.0
    """Reward of both players in a drawn game; Algorithm 1 gives -1 to whoever does not win."""
    capture_reward: float = 0.0
    """Added to the reward of a move for each piece it captures."""
    reward_decay: float = 1.0
    """The result counts this many times as much at a move as at the player's next one."""
    rule: Rule = "paper"
    """Learn by Algorithm 1, or as the author's program does, which learns nothing from draws."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "games")
        self.native()

    def native(self) -> Any:
        return native.QSettings(
            alpha=self.alpha, epsilon=self.epsilon, first_discount=self.first_discount,
            last_discount=self.last_discount, draw_reward=self.draw_reward, capture_reward=self.capture_reward,
            reward_decay=self.reward_decay, program=self.rule == "program",
        )  # fmt: skip


PRESETS = {"author": Settings(rule="program")}
"""The author's published program where it differs from the paper's text. It knows no draws: the variant `no-draws`."""


@dataclass(frozen=True)
class Part:
    """What happened in a part of the training."""

    games: int
    plies: int
    results: Sequence[int]
    """Games that Black won, drawn games, games that White won."""


@dataclass(frozen=True)
class Vote:
    """What one learned action says about an equivalent one."""

    weight: float
    """`q` times the matching fraction."""
    q: float
    matching: int
    """Cells of 64 that are equal in the overlap."""
    state: CheckersState
    action: int
    symmetry: int
    """How the prior position is looked at: an index of `voting.SYMMETRIES`."""


class QTable:
    """Values of actions by position. One of the rule "program" plays and votes as the author's program does."""

    def __init__(self, table: Any = None, rule: Rule = "paper") -> None:
        self.native = native.QTable() if table is None else table
        self.rule: Rule = rule

    def __len__(self) -> int:
        return len(self.native)

    @property
    def bytes(self) -> int:
        """Memory in use."""
        return int(self.native.bytes)

    def values(self, state: CheckersState) -> dict[int, float] | None:
        """The value of every legal action, or None if the table does not know the position."""
        pairs = self.native.values(state)
        return None if pairs is None else dict(pairs)

    def train(self, game: Checkers, settings: Settings, seed: int = 0) -> None:
        """All games of the training."""
        if self.train_part(game, settings, seed, 0, settings.games).games < settings.games:
            raise KeyboardInterrupt

    def train_part(self, game: Checkers, settings: Settings, seed: int, first: int, end: int) -> Part:
        """Games `first` to `end` of the training, fewer after Ctrl-C. In parts or at once, the table is the same."""
        return Part(*self.native.train(game.initial_state(), settings.native(), first, end, settings.games, seed))

    def learn(
        self, start: CheckersState, actions: Sequence[int], settings: Settings | None = None, discount: float = 1.0
    ) -> None:
        """Learn from one finished game, whoever played it."""
        self.native.learn(start, list(actions), (settings or Settings()).native(), discount)

    def voting(self, symmetries: int = 1, threads: int = 0) -> Any:
        """The native votes of the table as it is now."""
        return native.PriorStateVoting(self.native, symmetries, threads, self.rule == "program")

    def keep_training(self, state: CheckersState, settings: Settings, seed: int = 0) -> dict[int, float]:
        """Values after `settings.games` training games from a position, which the table does not keep."""
        return dict(self.native.keep_training(state, settings.native(), settings.games, seed))

    def merge(self, other: QTable) -> None:
        """Take in what another table has learned. An action that both have learned gets the mean of the two values."""
        self.native.merge(other.native)

    def strongest_votes(
        self, state: CheckersState, action: int, most: int = 3, symmetries: int = 1, threads: int = 0
    ) -> tuple[list[Vote], list[Vote]]:
        """The votes that weigh most for an action, and those against it."""

        def read(rows: Sequence[Any]) -> list[Vote]:
            return [
                Vote(
                    weight, q, matching,
                    CheckersState(state.game, _squares(black), _squares(white), _squares(kings), side), prior, symmetry,
                )
                for weight, q, matching, black, white, kings, side, prior, symmetry in rows
            ]  # fmt: skip

        in_favour, against = self.native.strongest_votes(
            state, action, most, symmetries, threads, self.rule == "program"
        )
        return read(in_favour), read(against)

    def save(self, path: Path | str, info: dict[str, Any]) -> None:
        """Write the table and what it is; whole or not at all."""
        runs.save_model(path, {"kind": KIND, "positions": len(self), "rule": self.rule, **info}, self.arrays())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return dict(zip(_ARRAYS, self.native.arrays(), strict=True))

    @staticmethod
    def from_arrays(arrays: runs.Arrays, path: Path | str, rule: Rule = "paper") -> QTable:
        try:
            chosen = [np.ascontiguousarray(arrays[name], dtype) for name, dtype in _ARRAYS.items()]
            if any(arrays[name].dtype != dtype or arrays[name].ndim != 1 for name, dtype in _ARRAYS.items()):
                raise ValueError("its arrays have the wrong type")
            return QTable(native.QTable.from_arrays(*chosen), rule)
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path} does not hold a Q-table of checkers: {error}") from None

    @staticmethod
    def load(path: Path | str) -> QTable:
        """Read a file of `save`. Damaged and foreign files raise ValueError."""
        info, arrays = runs.load_arrays(path, KIND)
        return QTable.from_arrays(arrays, path, "program" if info.get("rule") == "program" else "paper")


_ARRAYS = {
    "black": np.uint32, "white": np.uint32, "kings": np.uint32, "side": np.uint8, "learned": np.uint8,
    "values": np.float32,
}  # fmt: skip
"""Pieces and side to move of every position; one bit per legal action, set if its value is not 0; and those values."""


def _squares(bits: int) -> list[int]:
    return [square for square in range(1, 33) if bits >> (square - 1) & 1]


CHECKPOINT_SECONDS = 30.0


def train(game: Checkers, settings: Settings, run: Run) -> Iterator[Row]:
    """Train in parts. A stopped training resumes from its last checkpoint and ends with the same table."""
    saved = run.restore()
    table = (
        QTable(rule=settings.rule) if saved is None else QTable.from_arrays(saved, run.checkpoint_path, settings.rule)
    )
    done = run.rows[-1]["games"] if run.rows else 0
    part = max(1000, settings.games // 100)
    last_save = time.monotonic()
    while done < settings.games:
        begin = time.perf_counter()
        end = min(settings.games, done + part)
        played = table.train_part(game, settings, run.seed, done, end)
        done += played.games
        row = {
            "games": done, "positions": len(table), "black_won": played.results[0], "drawn": played.results[1],
            "white_won": played.results[2], "mean_plies": played.plies / max(played.games, 1),
            "games_per_second": round(played.games / (time.perf_counter() - begin)),
            "progress": done / settings.games,
        }  # fmt: skip
        interrupted = done < end
        if interrupted or done == settings.games or time.monotonic() - last_save > CHECKPOINT_SECONDS:
            table.save(run.folder / MODEL, {"settings": asdict(settings), "seed": run.seed, "games": done})
            run.save(row, table.arrays())
            last_save = time.monotonic()
        else:
            run.add(row)
        if interrupted:
            raise KeyboardInterrupt
        yield row


@dataclass(frozen=True)
class RandomMatch:
    """Games of a table against a random player, half of them with each colour."""

    results: npt.NDArray[np.int8]
    """Results of the table: 1, 0, -1. It plays Black in the even games."""
    plies: npt.NDArray[np.int32]
    moves: int
    """Moves that the table made."""
    known: int
    """Moves that it made in positions it knew."""
    seconds: npt.NDArray[np.float64] = field(repr=False)
    """CPU time of each game."""

    @property
    def games(self) -> int:
        return len(self.results)

    @property
    def wins(self) -> int:
        return int((self.results > 0).sum())

    @property
    def draws(self) -> int:
        return int((self.results == 0).sum())

    @property
    def losses(self) -> int:
        return int((self.results < 0).sum())

    @property
    def interval(self) -> tuple[float, float]:
        """95%, of the share of wins."""
        return wilson_interval(self.wins, self.games)


KEEP_TRAINING = 100
"""The paper's repetitions from the unknown position; the discount rises over them as it does in training."""


def play_against_random(
    table: QTable,
    game: Checkers,
    fallback: Fallback,
    games: int,
    seed: int = 0,
    symmetries: int = 1,
    keep_training: int = KEEP_TRAINING,
    threads: int = 0,
    control: Control | None = None,
) -> RandomMatch:
    """Play from the initial position; the same seed gives the same games on any number of threads. What keep-training
    learns is kept to the end of a game."""
    if fallback not in FALLBACKS:
        raise ValueError(f"unknown fallback {fallback!r}; known fallbacks: {', '.join(FALLBACKS)}")
    voting = table.voting(symmetries, threads) if fallback == "voting" else None
    rows = native.play_against_random(
        table.native, fallback, voting, Settings(rule=table.rule).native(), keep_training, game.initial_state(), games,
        seed, threads, control,
    )  # fmt: skip
    rows = rows[rows[:, 1] >= 0]
    moves, known = int(rows[:, 2].sum()), int(rows[:, 3].sum())
    return RandomMatch(rows[:, 0].astype(np.int8), rows[:, 1].astype(np.int32), moves, known, rows[:, 4])
