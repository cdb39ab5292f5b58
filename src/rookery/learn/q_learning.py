"""Tabular Q-learning of any game: one value per position and action, all 0 at first.

Training plays whole games, by the table against itself or alone: where the position is known the action of greatest
value, with probability epsilon and where it is unknown a random one. After a game its moves are walked through from the
last to the first, and each is drawn towards what it earned and the best that can come after it:

    Q(s, a) += alpha * (earned + discount * best after it - Q(s, a))

With `replay`, known positions are visited again after every game, in turn, and every move is tried and learned from
there (as in Dyna, Sutton 1990, with the rules for a model). Play alone learns good moves where it passes by often; with
replay every value of a game without chance becomes exact, and so does the play, as soon as the known positions are all
that there are.

What is best after a move is the `backup`. `max` is Watkins' Q-learning, in which the opponent is part of the world: the
greatest value where the player moved next in this game. `self-play` takes the next position at once, whoever moves
there: what is best for the opponent counts against the player. `least-best-move` assumes the best reply whatever was
played: the least, over all replies, of the player's greatest value after it (Boar, 2022).

A position that training never met is left to a fallback: a `random` move; `keep-training`, games of training from that
very position; or `voting`, in which known positions vote (Benning, 2021; `rookery.learn.voting`).

The loop is `native/learn/q_learning.hpp`.

>>> import rookery
>>> game = rookery.load("solitaire-chess")
>>> table = QTable(game)
>>> _ = table.learn(Settings(games=50, backup="max"), 0, 50, seed=1)
>>> len(table) > 0
True
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rookery import _native
from rookery import run as runs
from rookery.agents import Agent, Explanation
from rookery.game import Game, State, fresh_seed, native, replay
from rookery.learn.voting import PriorStateVoting
from rookery.method import check_at_least, check_shares
from rookery.run import Row, Run, duration

MODEL = "model.npz"
Backup = Literal["max", "self-play", "least-best-move"]
Fallback = Literal["random", "voting", "keep-training"]


@dataclass(frozen=True)
class Settings:
    games: int = duration(50_000)
    """Games to train for."""
    alpha: float = 0.5
    """Learning rate. Without chance nothing has to be averaged, and 1 is best."""
    epsilon: float = 1.0
    """Share of random moves in the first game."""
    last_epsilon: float = 0.2
    """Share of random moves in the last game; in between it changes evenly. Static exploration: equal to `epsilon`."""
    discount: float = 0.99
    """What a move later counts less; below 1, quick wins are worth more."""
    backup: Backup = "self-play"
    """What is best after a move; a game for one player always takes `max`."""
    starts: Literal["initial", "random"] = "initial"
    """Where games begin: in the initial position, or in a random start of the game."""
    replay: int = 0
    """Known positions in which every move is tried after every game. Positions that these moves lead to become known,
    too."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "games")
        check_at_least(self, 0, "replay")
        check_shares(self, "alpha", "epsilon", "last_epsilon", "discount")

    def native(self, players: int) -> _native.QSettings:
        backup = "max" if players == 1 else self.backup
        return _native.QSettings(self.alpha, self.discount, self.epsilon, self.last_epsilon, backup, self.replay)


def default_settings(game: Game) -> Settings:
    return Settings(alpha=0.05) if game.has_chance() else Settings(alpha=1.0)


def misfit(game: Game, settings: Settings) -> str | None:
    """Why settings cannot work on a game."""
    if settings.backup == "least-best-move" and game.players == 2 and game.has_chance():
        return f"the least best move needs a game without chance, and {game.name} has it"
    if settings.replay and settings.backup == "max" and game.players == 2:
        return "a replay has no opponent whose moves the backup max could follow; choose self-play or least-best-move"
    return None


class QTable:
    """What training knows: values of actions by position, and how each position was met first."""

    def __init__(self, game: Game, table: _native.QTable | None = None, starts: list[str] | None = None) -> None:
        self.game = game
        self.native = _native.QTable() if table is None else table
        self.starts = [] if starts is None else starts
        """Where games began that met something new, as texts."""
        self._known_roots: list[Any] = []

    @cached_property
    def _first(self) -> Any:
        return native(self.game.initial_state())

    def __len__(self) -> int:
        return len(self.native)

    def values(self, state: State) -> dict[int, float] | None:
        """The value of every legal action, or None if the table does not know the position."""
        found = self.native.find(state.key())
        return None if found is None else dict(zip(state.legal_actions(), found, strict=True))

    def state(self, row: int) -> State:
        """The position of a row."""
        start, *way = self.native.way(row)
        return replay(self.game, self.starts[start], way)

    def learn(self, settings: Settings, first: int, end: int, seed: int) -> _native.QTraining:
        """Play games `first` to `end` - 1 of `settings.games` and learn from them; Ctrl-C stops after a game."""
        if reason := misfit(self.game, settings):
            raise ValueError(reason)
        if settings.starts == "random":
            states = [self.game.random_start(random.Random(seed << 64 | game)) for game in range(first, end)]
            numbers = [-1] * len(states)
        else:
            states = [self.game.initial_state()]
            numbers = [self.starts.index(str(states[0])) if str(states[0]) in self.starts else -1]
        played: _native.QTraining = type(self._first).q_learn(
            [native(state, self._first) for state in states], numbers, self._roots() if settings.replay else [],
            len(self.starts), self.native, settings.native(self.game.players), first, end, settings.games, seed,
        )  # fmt: skip
        self.starts += [str(states[number]) for number in played.new_starts]
        return played

    def _roots(self) -> list[Any]:
        """The starts as native states."""
        for text in self.starts[len(self._known_roots) :]:
            self._known_roots.append(native(self.game.parse_state(text), self._first))
        return self._known_roots

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        starts = np.frombuffer("\n".join(self.starts).encode(), np.uint8)
        arrays: Any = self.native.arrays()
        return dict(zip(_ARRAYS, arrays, strict=True)) | {"starts": starts}

    @staticmethod
    def from_arrays(game: Game, arrays: runs.Arrays, path: Path | str) -> QTable:
        """Read `arrays`; ValueError if they are anything else."""
        try:
            chosen = [arrays[name] for name in _ARRAYS]
            if any(array.dtype != dtype for array, dtype in zip(chosen, _ARRAYS.values(), strict=True)):
                raise ValueError("its arrays have the wrong type")
            starts = arrays["starts"].tobytes().decode().split("\n") if len(arrays["starts"]) else []
            table = QTable(game, _native.QTable.from_arrays(*chosen), starts)
            roots = chosen[5][chosen[4] == _NONE]
            if len(roots) and not 0 <= roots.min() <= roots.max() < len(starts):
                raise ValueError("a way begins nowhere")
            return table
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(f"{path} does not hold a Q-table: {error}") from None

    def save(self, path: Path | str, kind: str, info: dict[str, Any]) -> None:
        """Write the table and what it is; whole or not at all."""
        runs.save_model(path, {"kind": kind, "positions": len(self), **info}, self.arrays())


_ARRAYS = {
    "text": np.uint8, "ends": np.uint64, "first": np.uint64, "values": np.float32, "before": np.uint32,
    "action": np.int32, "where": np.uint32,
}  # fmt: skip
_NONE = 2**32 - 1

CHECKPOINT_SECONDS = 30.0
PARTS = 100
"""Rows of metrics in a whole training."""


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Train in parts. A stopped training resumes from its last checkpoint and ends with the same table."""
    if reason := misfit(game, settings):
        raise ValueError(reason)
    saved = run.restore()
    table = QTable(game) if saved is None else QTable.from_arrays(game, saved, run.checkpoint_path)
    done = run.rows[-1]["games"] if run.rows else 0
    part = max(1, settings.games // PARTS)
    last_save = time.monotonic()
    while done < settings.games:
        begin = time.perf_counter()
        end = min(settings.games, done - done % part + part)
        played = table.learn(settings, done, end, run.seed)
        done += played.games
        row: Row = {"games": done, "positions": len(table), "mean_return": played.returns / max(played.games, 1)}
        if game.players == 2:
            row |= dict(zip(("first_won", "drawn", "second_won"), played.results, strict=True))
        row |= {
            "mean_moves": played.moves / max(played.games, 1),
            "moves_per_second": round(played.moves / (time.perf_counter() - begin)),
            "progress": done / settings.games,
        }
        interrupted = done < end
        if interrupted or done == settings.games or time.monotonic() - last_save > CHECKPOINT_SECONDS:
            table.save(run.folder / MODEL, run.kind, {"settings": asdict(settings), "seed": run.seed, "games": done})
            run.save(row, table.arrays())
            last_save = time.monotonic()
        else:
            run.add(row)
        if interrupted:
            raise KeyboardInterrupt
        yield row


def load(game: Game, path: Path | str) -> tuple[QTable, Settings]:
    """A table that training wrote, and its settings."""
    info, arrays = runs.load_arrays(path, f"{game.name} q-learning")
    return QTable.from_arrays(game, arrays, path), runs.settings_from(Settings, info.get("settings", {}))


KEEP_TRAINING = 100
"""Games of training from an unknown position."""
VOTERS = 20_000
"""Positions that vote at most: those met first."""


class QTableAgent(Agent):
    """Plays by a Q-table, and by a fallback where it knows nothing."""

    def __init__(self, table: QTable, settings: Settings, fallback: Fallback = "random") -> None:
        self.table, self.settings, self.fallback = table, settings, fallback

    @cached_property
    def voting(self) -> PriorStateVoting:
        """What votes in unknown positions."""
        voting = PriorStateVoting()
        for row in range(min(len(self.table), VOTERS)):
            state = self.table.state(row)
            for action, q in zip(state.legal_actions(), self.table.native.row(row), strict=True):
                voting.learn(state, action, q)
        return voting

    def values(self, state: State, rng: random.Random | None = None) -> dict[int, float]:
        known = self.table.values(state)
        if known is not None:
            return known
        if self.fallback == "voting":
            return self.voting.values(state)
        if self.fallback == "keep-training":
            found = native(state).q_keep_training(
                self.table.native,
                self.settings.native(state.game.players),
                KEEP_TRAINING,
                fresh_seed(rng) if rng else 0,
            )
            return dict(zip(state.legal_actions(), found, strict=True))
        return dict.fromkeys(state.legal_actions(), 0.0)

    def explain(self, state: State) -> Explanation:
        why = super().explain(state)
        if self.table.values(state) is not None:
            return why
        how = {
            "random": "so that every move is as good as any other",
            "voting": "so that known positions in which a move looked alike have voted",
            "keep-training": f"so that it has played {KEEP_TRAINING} games of training from here",
        }[self.fallback]
        why.reasons.insert(0, f"training never met this position, {how}")
        return why
