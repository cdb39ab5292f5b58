"""How strong is a player of checkers really? Random play, a ladder of minimax depths, and exact endgames.

`ladder` makes the tables of the checkers study that measure strength: the score of the learned players against a random
player and against every rung, and how often players keep what a solved endgame is worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from rich.console import Console
from rich.progress import Progress

from rookery.agents import Agent
from rookery.games.checkers.agents import DEPTH, NODES, EngineAgent, SearchAgent
from rookery.games.checkers.database import PIECES, value_kept
from rookery.games.checkers.rules import Checkers
from rookery.games.checkers.search import MatchResult, Player, play_match
from rookery.registry import agent as load_agent
from rookery.report.study import Table
from rookery.studies.sizes import Size

RUNGS = (1, 3, 5, 7)
GAMES = {"quick": 10, "default": 100, "full": 1000}
"""Games per rung."""
POSITIONS = {"quick": 100, "default": 1000, "full": 3000}
"""Endgame positions per player and value."""
NOTHING: Mapping[str, Agent] = MappingProxyType({})


def ladder(size: Size, seed: int, console: Console, others: Mapping[str, Agent] = NOTHING) -> list[Table]:
    """The tables. `others`: more players, by name, for the table of solved endgames."""
    game = Checkers()
    command = f"rookery reproduce checkers{size.flag} --seed {seed}"
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        return [
            _scores(GAMES[size.name], seed, command, bar),
            _kept(game, others, POSITIONS[size.name], seed, command, bar),
        ]


def _scores(games: int, seed: int, command: str, bar: Progress) -> Table:
    game = Checkers()
    td, best = load_agent("td", game), load_agent("best", game)
    assert isinstance(td, SearchAgent)
    assert isinstance(best, EngineAgent)
    task = bar.add_task("ladder", total=3 * (1 + len(RUNGS)))
    rows = []
    for depth in (0, *RUNGS):
        row = [f"minimax, depth {depth}" if depth else "random"]
        equal = Player(max(depth, 1), td.player.value)
        for player in (equal, td.player, best.player):
            row.append(_cell(play_match(player, Player(depth), games, seed)))
            bar.advance(task)
        rows.append(row)
    reference = play_match(Player(1), Player(0), 10 * games, seed)
    note = (
        f"{games:,} games per cell from random two-ply openings, each played twice with colours exchanged. Score: wins "
        "and half the draws, with 95% interval (Wilson). The ladder is minimax with 100 per man and 130 per king, "
        "captures followed to their end, ties broken at random. td and best learned from self-play alone; best also "
        f"looks up the solved endgames of up to {PIECES} pieces. Beating random is no evidence of strength: the lowest "
        f"rung, which learned nothing and looks one ply ahead, scores {_cell(reference)} against it."
    )
    columns = [
        "opponent",
        "td at the opponent's own depth (1 against random)",
        f"td, depth {DEPTH}",
        f"best, {NODES:,} nodes",
    ]
    return Table("The learned players on the minimax ladder", columns, rows, command, note)


def _cell(result: MatchResult) -> str:
    low, high = result.interval
    return f"{result.score:.1%} [{low:.1%}, {high:.1%}] (+{result.wins} ={result.draws} -{result.losses})"


def _kept(game: Checkers, others: Mapping[str, Agent], positions: int, seed: int, command: str, bar: Progress) -> Table:
    names = ["random", *(f"ladder:depth={depth}" for depth in RUNGS), "td:depth=1", "td", "best", "oracle"]
    players = {name: load_agent(name, game) for name in names} | dict(others)
    values: tuple[Literal["win", "draw"], ...] = ("win", "draw")
    task = bar.add_task("solved endgames", total=len(players) * len(values))
    rows = []
    for name, agent in players.items():
        row = [name]
        for value in values:
            kept = value_kept(agent.choose, value, positions, PIECES, seed)
            low, high = kept.interval
            row.append(f"{kept.share:.1%} [{low:.1%}, {high:.1%}]")
            bar.advance(task)
        rows.append(row)
    note = (
        f"{positions:,} random positions of {PIECES} pieces per cell, the same for every player: won (or drawn) ones "
        "in which some move gives the win (or the draw) away. Kept: the move played leaves the same value. 95% "
        "intervals."
    )
    columns = ["player", "keeps a win", "keeps a draw"]
    return Table("How often the theoretical value is kept", columns, rows, command, note)
