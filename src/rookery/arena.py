"""Agents against each other, or side by side where a game has one player.

`play_match` takes two agents as objects. `Tournament` takes any number of them by name, plays on several cores, keeps
every game in a file and goes on from there.

>>> import rookery
>>> from rookery.registry import agent as load_agent
>>> game = rookery.load("tenten", "3x3-three")
>>> result = play_match(game, load_agent("mcts:simulations=20", game), load_agent("random", game), games=6)
>>> result.wins + result.draws + result.losses
6
>>> tournament = Tournament("checkers", None, ("minimax:depth=2", "random"), games=2)
>>> records = list(tournament.play())
>>> [record.players for record in records]
[('minimax:depth=2', 'random'), ('random', 'minimax:depth=2')]
"""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery.agents import Agent
from rookery.files import write_text
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.games.records import record as written_record
from rookery.registry import agent as load_agent
from rookery.registry import load
from rookery.statistics import bootstrap_interval, wilson_interval


@dataclass(frozen=True)
class Match:
    """What came out, seen from the first agent."""

    wins: int
    draws: int
    losses: int
    interval: tuple[float, float]
    """95%. Two players: of the share of points, a draw counting half. One player: of the mean lead in returns."""
    means: tuple[float, float]
    """Mean return of each agent."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @classmethod
    def of(cls, returns: npt.NDArray[np.float64], two_players: bool, seed: int = 0) -> Match:
        """From the returns of both, `[games, 2]`."""
        lead = returns[:, 0] - returns[:, 1]
        wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
        draws = len(returns) - wins - losses
        interval = wilson_interval(wins + draws / 2, len(returns)) if two_players else bootstrap_interval(lead, seed)
        means = returns.mean(axis=0)
        return cls(wins, draws, losses, interval, (float(means[0]), float(means[1])))

    def data(self) -> dict[str, Any]:
        return {
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "games": self.games,
            "interval": list(self.interval), "means": list(self.means),
        }  # fmt: skip


@dataclass(frozen=True)
class Record:
    """One game: who sat where, which of the tournament's starts it was, and all that happened."""

    players: tuple[str, ...]
    number: int
    start: str
    actions: list[int]
    """Chance outcomes too."""
    returns: list[float]

    @property
    def key(self) -> tuple[tuple[str, ...], int]:
        return self.players, self.number


def play_game(
    start: State, players: Sequence[Agent], chance: random.Random, rngs: Sequence[random.Random]
) -> tuple[State, list[int]]:
    """Play to the end: the last position, and all actions. Chance has a random source of its own, so that two players
    can meet the same draws."""
    state, actions = start.clone(), []
    while (player := state.player()) != TERMINAL:
        if player == CHANCE:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            action = chance.choices(outcomes, weights)[0]
        else:
            action = players[player].choose(state, rngs[player])
        state.apply(action)
        actions.append(action)
    return state, actions


def play_numbered(game: Game, players: Mapping[str, Agent], seats: tuple[str, ...], number: int, seed: int) -> Record:
    """One game. Two players: numbers 2n and 2n + 1 have the same start. The same number has the same draws of chance
    whoever plays."""
    pair = number // 2 if game.players == 2 else number
    start = game.random_start(random.Random(f"{seed} start {pair}"))
    rngs = [random.Random(f"{seed} player {number} {p}") for p in range(2)]
    chance = random.Random(f"{seed} chance {pair}")
    state, actions = play_game(start, [players[name] for name in seats], chance, rngs)
    return Record(seats, number, str(start), actions, state.returns())


def check_games(game: Game, games: int) -> None:
    if games < 1:
        raise ValueError(f"the number of games must be at least 1, and is {games}")
    if game.players == 2 and games % 2:
        raise ValueError(f"the number of games must be even, so that sides can be exchanged, and is {games}")


def seats_of(game: Game, first: str, second: str, number: int) -> list[tuple[str, ...]]:
    """Who plays in game `number` of a match. Two players: sides are exchanged in every second game. One player: each
    plays for itself."""
    if game.players == 1:
        return [(first,), (second,)]
    return [(second, first) if number % 2 else (first, second)]


def play_match(
    game: Game, first: Agent, second: Agent, games: int, seed: int = 0, on_game: Callable[[], None] = lambda: None
) -> Match:
    """Two players: every start is played twice, with sides exchanged. One player: both agents play every start with the
    same draws of chance, and the greater return wins."""
    check_games(game, games)
    players = {"first": first, "second": second}
    records = []
    for number in range(games):
        for seats in seats_of(game, "first", "second", number):
            records.append(play_numbered(game, players, seats, number, seed))
        on_game()
    return match_of(game, records, "first", "second", seed)


def match_of(game: Game, records: Iterable[Record], first: str, second: str, seed: int = 0) -> Match:
    """What two agents scored against each other in these games."""
    if game.players == 2:
        rows = [
            record.returns if record.players == (first, second) else record.returns[::-1]
            for record in sorted(records, key=lambda record: record.number)
            if record.players in ((first, second), (second, first))
        ]
        return Match.of(np.array(rows), True)
    by_number: dict[str, dict[int, float]] = {first: {}, second: {}}
    for record in records:
        if record.players[0] in by_number:
            by_number[record.players[0]][record.number] = record.returns[0]
    both = sorted(by_number[first].keys() & by_number[second].keys())
    return Match.of(np.array([[by_number[name][number] for name in (first, second)] for number in both]), False, seed)


class Tournament:
    """Everybody against everybody, by name, `games` games a match; in a game for one player everybody on the same
    starts and draws. The result depends on the seed, not on the number of cores or on stops."""

    def __init__(
        self, game: str, variant: str | None, names: Sequence[str], games: int, seed: int = 0, file: Path | None = None
    ) -> None:
        self.game, self.names, self.games, self.seed = load(game, variant), tuple(names), games, seed
        self.file = file
        if len(self.names) < 2 or len(set(self.names)) < len(self.names):
            raise ValueError("a tournament needs at least two agents, with different names")
        check_games(self.game, games)
        self.players = {name: load_agent(name, self.game) for name in self.names}  # fails early if one is unknown
        self._where = (game, variant)
        self.records: dict[tuple[tuple[str, ...], int], Record] = {}

    def tasks(self) -> list[tuple[tuple[str, ...], int]]:
        """Every game to be played, by who sits where and its number."""
        if self.game.players == 1:
            return [((name,), number) for number in range(self.games) for name in self.names]
        return [
            (seats_of(self.game, first, second, number)[0], number)
            for number in range(self.games)
            for first, second in combinations(self.names, 2)
        ]

    def resume(self) -> int:
        """Read what an earlier run of the same tournament left in the file; returns how many games that were. A last
        line that a kill cut off is dropped."""
        if self.file is None or not self.file.exists():
            return 0
        lines = self.file.read_text(encoding="utf-8").split("\n")
        try:
            if json.loads(lines[0]) != self._header():
                raise ValueError(f"{self.file} holds another tournament: {lines[0]}")
            for line in lines[1:-1]:  # after the last newline there is nothing, or a line without an end
                row = json.loads(line)
                record = Record(tuple(row["players"]), row["number"], row["start"], row["actions"], row["returns"])
                self.records[record.key] = record
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(f"{self.file} is not a tournament of Rookery, or is damaged: {error}") from None
        return len(self.records)

    def play(self, jobs: int = 1) -> Iterator[Record]:
        """Play all games that are not there yet, on so many cores (0: all), and yield them as they end."""
        if self.file is not None:
            rows = [json.dumps(self._header()), *(_line(record) for record in self.records.values())]
            write_text(self.file, "\n".join(rows) + "\n")
        todo = [task for task in self.tasks() if task not in self.records]
        jobs = min(jobs or os.cpu_count() or 1, max(1, len(todo) // 2))
        for record in self._play_here(todo) if jobs == 1 else self._play_apart(todo, jobs):
            self.records[record.key] = record
            if self.file is not None:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(_line(record) + "\n")
            yield record

    def _play_here(self, todo: Sequence[tuple[tuple[str, ...], int]]) -> Iterator[Record]:
        for seats, number in todo:
            yield play_numbered(self.game, self.players, seats, number, self.seed)

    def _play_apart(self, todo: Sequence[tuple[tuple[str, ...], int]], jobs: int) -> Iterator[Record]:
        start = (*self._where, self.names, self.seed)
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _enter, start) as pool:
            futures = [pool.submit(_play_one, seats, number) for seats, number in todo]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def match(self, first: str, second: str) -> Match:
        return match_of(self.game, self.records.values(), first, second, self.seed)

    def elo(self) -> dict[str, tuple[float, float, float]]:
        """For two players: each agent's rating with its 95% interval, from resampled games. The mean is 0; a draw
        between each two is added, which keeps ratings finite."""
        index = {name: i for i, name in enumerate(self.names)}
        # Who sat first, who second, and the points of the first: 1, 0.5 or 0.
        games = np.array(
            [
                (index[r.players[0]], index[r.players[1]], (1 + np.sign(r.returns[0] - r.returns[1])) / 2)
                for _, r in sorted(self.records.items())
            ]
        )
        rng = np.random.default_rng(self.seed)
        middle = _ratings(games, len(self.names))
        resampled = (games[rng.integers(0, len(games), len(games))] for _ in range(200))
        ratings = np.array([_ratings(sample, len(self.names)) for sample in resampled])
        low, high = np.percentile(ratings, [2.5, 97.5], axis=0)
        return {name: (float(middle[i]), float(low[i]), float(high[i])) for name, i in index.items()}

    def export(self, folder: Path) -> list[Path]:
        """Write the results as CSV, and every game in the notation of its field, one file a format."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["number", "players", "start", "actions", "returns"])
        texts: dict[str, list[str]] = {}
        for _, r in sorted(self.records.items(), key=lambda item: (item[0][1], item[0][0])):
            joined = " ".join(f"{value:g}" for value in r.returns)
            writer.writerow([r.number, " - ".join(r.players), r.start, len(r.actions), joined])
            text, ending = written_record(self.game, r.start, r.actions, r.players)
            texts.setdefault(ending, []).append(text)
        written = {folder / "results.csv": buffer.getvalue()}
        for ending, parts in texts.items():
            if ending == "psol":  # one game a file, as programs of the field read them
                written |= {folder / f"game-{number}.psol": text for number, text in enumerate(parts)}
            else:
                written[folder / f"games.{ending}"] = "\n".join(parts)
        for path, text in written.items():
            write_text(path, text)
        return list(written)

    def _header(self) -> dict[str, Any]:
        game, variant = self._where
        return {"tournament": game, "variant": variant, "agents": list(self.names), "seed": self.seed}


def _line(record: Record) -> str:
    return json.dumps(
        {"players": record.players, "number": record.number, "start": record.start, "actions": record.actions,
         "returns": record.returns}
    )  # fmt: skip


def _ratings(games: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    """Elo ratings of greatest likelihood (Bradley and Terry, by minorisation), with mean 0."""
    first, second = games[:, 0].astype(int), games[:, 1].astype(int)
    points, met = np.zeros((count, count)), np.zeros((count, count))
    np.add.at(points, (first, second), games[:, 2])
    np.add.at(points, (second, first), 1 - games[:, 2])
    np.add.at(met, (first, second), 1)
    met = met + met.T
    others = 1 - np.eye(count)
    points, met = points + 0.5 * others, met + others
    strength = np.ones(count)
    for _ in range(1000):
        new = points.sum(axis=1) / np.maximum((met / (strength[:, None] + strength[None, :])).sum(axis=1), 1e-300)
        new /= np.exp(np.log(new).mean())
        if np.abs(np.log(new / strength)).max() < 1e-9:
            break
        strength = new
    return np.asarray(400 * np.log10(strength))


# A process of its own for each core; what it needs is loaded once.
_here: dict[str, Any] = {}


def _enter(game: str, variant: str | None, names: Sequence[str], seed: int) -> None:
    rules = load(game, variant)
    _here.update(game=rules, players={name: load_agent(name, rules) for name in names}, seed=seed)


def _play_one(seats: tuple[str, ...], number: int) -> Record:
    return play_numbered(_here["game"], _here["players"], seats, number, _here["seed"])
