"""Agents against each other, or side by side where a game has one player.

>>> import rookery
>>> match(rookery.load("tenten", "3x3-three"), "mcts:simulations=20", "random", games=6).games
6
>>> games = tournament("checkers", ["minimax:depth=2", "random"], games=2)
>>> [record.players for record in games.records.values()]
[('minimax:depth=2', 'random'), ('random', 'minimax:depth=2')]
"""

from __future__ import annotations

import csv
import io
import math
import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import registry
from rookery.agents import Agent
from rookery.files import write_text
from rookery.game import CHANCE, TERMINAL, Game, State, play_chance
from rookery.scale import Job, Task, parse_shard
from rookery.statistics import bootstrap_interval, wilson_interval

Key = tuple[tuple[str, ...], int]
"""A game to be played: who sits where, and its number."""


@dataclass(frozen=True)
class Match:
    """The result of a match, seen from the first agent."""

    wins: int
    draws: int
    losses: int
    interval: tuple[float, float]
    """95%. Two players: of the share of points, a draw counting half. One player: of the mean lead in returns."""
    means: tuple[float, float]
    """Mean return of each agent."""
    names: tuple[str, str] = ("first", "second")
    two_players: bool = True

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points, a draw counting half."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def elo(self) -> tuple[float, float, float]:
        """The difference in Elo rating that the score and the ends of its interval mean, in games for two players."""
        low, high = self.interval if self.two_players else wilson_interval(self.score * self.games, self.games)
        return _elo(self.score), _elo(low), _elo(high)

    @classmethod
    def of(
        cls, returns: npt.NDArray[np.float64], two_players: bool, seed: int = 0,
        names: tuple[str, str] = ("first", "second"),
    ) -> Match:  # fmt: skip
        """The result from the returns of both agents, `[games, 2]`."""
        lead = returns[:, 0] - returns[:, 1]
        wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
        draws = len(returns) - wins - losses
        interval = wilson_interval(wins + draws / 2, len(returns)) if two_players else bootstrap_interval(lead, seed)
        means = returns.mean(axis=0)
        return cls(wins, draws, losses, interval, (float(means[0]), float(means[1])), names, two_players)

    def data(self) -> dict[str, Any]:
        return {
            "wins": self.wins, "draws": self.draws, "losses": self.losses, "games": self.games,
            "interval": list(self.interval), "means": list(self.means),
        }  # fmt: skip

    def sentence(self) -> str:
        """The result in words."""
        low, high = self.interval
        what = f"{low:.1%} to {high:.1%} of the points" if self.two_players else f"{low:,.1f} to {high:,.1f} ahead"
        return f"{self.names[0]}: {self.wins} wins, {self.draws} draws, {self.losses} losses; {what} (95%)"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.names[0])} against {escape(self.names[1])}</p><p>{escape(self.sentence())}</p>"


def _elo(share: float) -> float:
    return math.copysign(math.inf, share - 0.5) if share in (0, 1) else 400 * math.log10(share / (1 - share))


@dataclass(frozen=True)
class GameRecord:
    """One game: who sat where, its number in the tournament, and every action."""

    players: tuple[str, ...]
    number: int
    start: str
    actions: list[int]
    """All actions, chance outcomes included."""
    returns: list[float]

    @property
    def key(self) -> Key:
        return self.players, self.number


def play_game(
    start: State, players: Sequence[Agent], chance: random.Random, rngs: Sequence[random.Random]
) -> tuple[State, list[int]]:
    """Play to the end: the last position, and all actions.

    Chance has a random source of its own, so that two players can meet the same draws.
    """
    state, actions = start.clone(), []
    while (player := state.player()) != TERMINAL:
        if player == CHANCE:
            actions += play_chance(state, chance)
            continue
        action = players[player].choose(state, rngs[player])
        state.apply(action)
        actions.append(action)
    return state, actions


def play_numbered(
    game: Game, players: Mapping[str, Agent], seats: tuple[str, ...], number: int, seed: int
) -> GameRecord:
    """Play one game of a match.

    Two players: numbers 2n and 2n + 1 have the same start. The same number has the same draws of chance whoever plays.
    """
    pair = number // 2 if game.players == 2 else number
    start = game.random_start(random.Random(f"{seed} start {pair}"))
    rngs = [random.Random(f"{seed} player {number} {p}") for p in range(2)]
    chance = random.Random(f"{seed} chance {pair}")
    state, actions = play_game(start, [players[name] for name in seats], chance, rngs)
    return GameRecord(seats, number, str(start), actions, state.returns())


def match(
    game: Game | str, first: Any, second: Any, games: int = 20, seed: int = 0, on: str = "here",
    on_game: Callable[[], None] | None = None,
) -> Match:  # fmt: skip
    """Play two agents against each other and return the result, seen from the first.

    Agents are names or objects with a method `choose`. In games for two players every start is played twice, with
    sides exchanged; in games for one player both agents play every start with the same draws of chance, and the greater
    return wins. `on` says where games are played: `here`, `processes`, `processes:N`, `ray` or `ray:ADDRESS`; it does
    not change the result.
    """
    played = tournament(game, [first, second], games, seed, on, on_game=on_game)
    return played.match(*played.names)


def tournament(
    game: Game | str, agents: Sequence[Any], games: int = 20, seed: int = 0, on: str = "here",
    out: Path | str | None = None, resume: bool = False, on_game: Callable[[], None] | None = None, *,
    shard: str | None = None, timeout: float | None = None,
) -> Tournament:  # fmt: skip
    """Play every agent against every other one, `games` games per match, and return the tournament.

    Agents are names or objects with a method `choose`. In a game for one player every agent plays the same starts with
    the same draws of chance. With `out`, every game is kept in that folder, and `resume` continues there; with `shard`,
    such as "3/8", only that part of the games is played. `on` and `timeout` are explained in `rookery.scale`. Games
    that failed are named in `failures`; ValueError if two agents have no finished game.
    """
    played = Tournament(game, agents, games, seed, out, shard)
    if resume:
        played.resume()
    for _ in played.play(on, timeout, shown=on_game is None):
        if on_game:
            on_game()
    played.check()
    return played


class Tournament:
    """Every agent against every other one. The result depends on the seed, not on the number of cores or on stops."""

    def __init__(
        self, game: Game | str, agents: Sequence[Any], games: int, seed: int = 0, out: Path | str | None = None,
        shard: str | None = None,
    ) -> None:  # fmt: skip
        self.game = registry.load(game)
        self.games, self.seed = games, seed
        self.folder = None if out is None else Path(out)
        given = _named(agents)
        self.names = tuple(given)
        if len(self.names) < 2:
            raise ValueError("a tournament needs at least two agents")
        if not 1 <= games <= 1_000_000:
            raise ValueError(f"the number of games must be at least 1 and at most 1,000,000, and is {games}")
        if self.game.players == 2 and games % 2:
            raise ValueError(f"the number of games must be even, so that sides can be exchanged, and is {games}")
        table = _Table(self.game, given, seed)
        self.players = table.players
        self.records: dict[Key, GameRecord] = {}
        tasks = [_task(*key) for key in self.keys()]
        file = None if self.folder is None else self.folder / "games.jsonl"
        paths = [path for name in given.values() if isinstance(name, (str, Path)) for path in _paths(str(name))]
        self.shard = parse_shard(shard)
        self.job = Job(self._header(), tasks, file=file, shard=self.shard, shared=table, files=paths)

    @property
    def title(self) -> str:
        return " and ".join(self.names) if len(self.names) < 4 else f"{len(self.names)} agents"

    @property
    def failures(self) -> dict[str, str]:
        """Games that could not be played, with what went wrong."""
        return self.job.failures

    def keys(self) -> list[Key]:
        """Every game to be played. In games for two players, sides are exchanged in every second game."""
        if self.game.players == 1:
            return [((name,), number) for number in range(self.games) for name in self.names]
        pairs = list(combinations(self.names, 2))
        return [((b, a) if number % 2 else (a, b), number) for number in range(self.games) for a, b in pairs]

    def resume(self) -> int:
        """Read the games that an earlier run of the same tournament left in the folder; returns their number."""
        self.job.resume()
        try:
            for row in self.job.rows.values():
                self._add(row)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{self.job.file} is not a tournament, or is damaged: {error}") from None
        return len(self.records)

    def _add(self, row: dict[str, Any]) -> GameRecord:
        record = GameRecord(tuple(row["players"]), row["number"], row["start"], row["actions"], row["returns"])
        self.records[record.key] = record
        return record

    def play(self, on: str = "here", timeout: float | None = None, shown: bool = False) -> Iterator[GameRecord]:
        """Play the games that are still missing; yields each one."""
        for _, row in self.job.run(on, timeout=timeout, label=self.title, shown=shown):
            yield self._add(row)

    def check(self) -> None:
        """Raise ValueError if agents have no finished game because of failures."""
        if not self.failures or self.shard:
            return
        met = {frozenset(record.players) for record in self.records.values()}
        pairs = map(frozenset, combinations(self.names, self.game.players))
        if not met.issuperset(pairs):
            name, error = next(iter(self.failures.items()))
            raise ValueError(f"{len(self.failures)} games failed; game {name}: {error}")

    def match(self, first: str, second: str) -> Match:
        """The result of two agents against each other."""
        if self.game.players == 2:
            rows = [
                record.returns if record.players == (first, second) else record.returns[::-1]
                for record in sorted(self.records.values(), key=lambda record: record.number)
                if set(record.players) == {first, second}
            ]
            return Match.of(np.array(rows), True, names=(first, second))
        returns = [
            {r.number: r.returns[0] for r in self.records.values() if r.players == (name,)} for name in (first, second)
        ]
        both = sorted(returns[0].keys() & returns[1].keys())
        rows = [[returns[0][number], returns[1][number]] for number in both]
        return Match.of(np.array(rows), False, self.seed, (first, second))

    def overall(self, name: str) -> dict[str, Any]:
        """An agent's result against all others together; against a single other one, their match."""
        matches = [self.match(name, other) for other in self.names if other != name]
        if len(matches) == 1:
            return matches[0].data()
        wins, draws, losses = (sum(getattr(match, kind) for match in matches) for kind in ("wins", "draws", "losses"))
        total = wins + draws + losses
        interval = list(wilson_interval(wins + draws / 2, total))
        return {"wins": wins, "draws": draws, "losses": losses, "games": total, "interval": interval}

    def standings(self) -> list[dict[str, Any]]:
        """The agents, best first: Elo and points in games for two players, mean return in games for one."""
        rows: list[dict[str, Any]] = []
        if self.game.players == 2:
            elo = self.elo()
            for name in self.names:
                overall = self.overall(name)
                points = overall["wins"] + overall["draws"] / 2
                rows.append({"agent": name, "elo": list(elo[name]), "points": points, "games": overall["games"]})
            return sorted(rows, key=lambda row: -row["elo"][0])
        for name in self.names:
            returns = [record.returns[0] for record in self.records.values() if record.players == (name,)]
            low, high = bootstrap_interval(np.array(returns), self.seed)
            rows.append({"agent": name, "mean": float(np.mean(returns)), "interval": [low, high], "best": max(returns)})
        return sorted(rows, key=lambda row: -row["mean"])

    def elo(self) -> dict[str, tuple[float, float, float]]:
        """Each agent's rating with its 95% interval, for two players.

        The mean is 0; a draw between each two agents is added, which keeps ratings finite. Intervals come from the
        Bayesian bootstrap: games, and the draws that are added, count by weights drawn from the exponential
        distribution. So games that all end in the same way leave an interval too.
        """
        index = {name: i for i, name in enumerate(self.names)}
        # Who sat first, who second, and the points of the first: 1, 0.5 or 0.
        games = np.array(
            [
                (index[r.players[0]], index[r.players[1]], (1 + np.sign(r.returns[0] - r.returns[1])) / 2)
                for _, r in sorted(self.records.items())
            ]
        )
        rng = np.random.default_rng(self.seed)
        count = len(self.names)
        middle = _ratings(games, np.ones(len(games)), np.ones((count, count)))
        drawn = ((rng.exponential(size=len(games)), rng.exponential(size=(count, count))) for _ in range(200))
        ratings = np.array([_ratings(games, weights, draws) for weights, draws in drawn])
        low, high = np.percentile(ratings, [2.5, 97.5], axis=0)
        return {name: (float(middle[i]), float(low[i]), float(high[i])) for name, i in index.items()}

    def export(self, folder: Path | str) -> list[Path]:
        """Write the results as CSV, and every game in the notation of its field."""
        folder, buffer = Path(folder), io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["number", "players", "start", "actions", "returns"])
        written: dict[Path, list[str]] = {}
        for _, r in sorted(self.records.items(), key=lambda item: (item[0][1], item[0][0])):
            joined = " ".join(f"{value:g}" for value in r.returns)
            writer.writerow([r.number, " - ".join(r.players), r.start, len(r.actions), joined])
            record = self.game.record(r.start, r.actions, r.players)
            name = f"game-{len(written)}" if record.one_per_file else "games"
            written.setdefault(folder / f"{name}.{record.extension}", []).append(record.text)
        for path, text in {folder / "results.csv": [buffer.getvalue()], **written}.items():
            write_text(path, "\n".join(text))
        return [folder / "results.csv", *written]

    def _header(self) -> dict[str, Any]:
        return {
            "tournament": self.game.name, "options": self.game.options, "agents": list(self.names), "seed": self.seed,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<Tournament of {', '.join(self.names)} at {self.game.name}: {len(self.records)} games>"

    def _repr_html_(self) -> str:
        rows = self.standings() if self.records else []
        heads = "".join(f"<th>{escape(name)}</th>" for name in (rows[0] if rows else ()))
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
        return f"<p>{escape(repr(self)[1:-1])}</p><table><tr>{heads}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return (
            " to ".join(map(_cell, value))
            if len(value) == 2
            else f"{value[0]:+.0f} ({value[1]:+.0f} to {value[2]:+.0f})"
        )
    return f"{value:,.6g}" if isinstance(value, (int, float)) else escape(str(value))


def _named(agents: Iterable[Any]) -> dict[str, Any]:
    """Agents by name; objects are named after their class."""
    found: dict[str, Any] = {}
    for given in agents:
        if isinstance(given, (str, Path)):
            if str(given) in found:
                raise ValueError(f"the agent {str(given)!r} is named twice")
            found[str(given)] = given
            continue
        base = given.__name__ if isinstance(given, type) else type(given).__name__
        name, number = base, 2
        while name in found:
            name, number = f"{base} {number}", number + 1
        found[name] = given
    return found


def _ratings(
    games: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], draws: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Elo ratings of greatest likelihood (Bradley and Terry, by minorisation), with mean 0. `games` count by their
    weights; above the diagonal of `draws` `[agents, agents]` is the weight of a draw that is added."""
    count = len(draws)
    first, second = games[:, 0].astype(int), games[:, 1].astype(int)
    points = np.zeros((count, count))
    np.add.at(points, (first, second), weights * games[:, 2])
    np.add.at(points, (second, first), weights * (1 - games[:, 2]))
    added = np.triu(draws, 1)
    points += (added + added.T) / 2
    met = points + points.T
    strength = np.ones(count)
    for _ in range(1000):
        new = points.sum(axis=1) / np.maximum((met / (strength[:, None] + strength[None, :])).sum(axis=1), 1e-300)
        new /= np.exp(np.log(new).mean())
        if np.abs(np.log(new / strength)).max() < 1e-9:
            break
        strength = new
    return np.asarray(400 * np.log10(strength))


# Games as tasks


class _Table:
    """What all games of a tournament share. In a worker the agents are made once, when they are first needed."""

    def __init__(self, game: Game, given: dict[str, Any], seed: int) -> None:
        self.game, self.given, self.seed = game, given, seed

    @cached_property
    def players(self) -> dict[str, Agent]:
        return {name: registry.agent(given, self.game) for name, given in self.given.items()}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "players"}


def _task(seats: tuple[str, ...], number: int) -> Task:
    return Task(f"{number}: {' - '.join(seats)}", f"{__name__}:play_task", {"seats": list(seats), "number": number})


def play_task(table: _Table, seats: list[str], number: int) -> dict[str, Any]:
    """Play one game of a tournament as a task."""
    return vars(play_numbered(table.game, table.players, tuple(seats), number, table.seed))


def _paths(name: str) -> Iterator[str]:
    """Models and runs in an agent's name; programs are not among them."""
    for path in (name, registry.split_name(name)[1].get("path")):
        if path and Path(path).exists() and not (Path(path).is_file() and os.access(path, os.X_OK)):
            yield path
