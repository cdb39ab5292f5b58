"""The house at a glance: for each game a drawn position and a measured summary of random play."""

from __future__ import annotations

import random
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from rookery import GAMES, __version__, load
from rookery.games import TERMINAL, Game, RandomGames, State, play_chance
from rookery.report import html


@dataclass(frozen=True)
class Summary:
    """One game: a position from the middle of a random game, and what random play does from the start."""

    game: Game
    variant: str
    position: State
    play: RandomGames
    seed: int

    @property
    def mean_length(self) -> tuple[float, float]:
        """The mean and the half width of its 95% interval."""
        lengths = self.play.lengths
        return float(lengths.mean()), float(1.96 * lengths.std(ddof=1) / np.sqrt(len(lengths)))

    def data(self) -> dict[str, Any]:
        mean, half_width = self.mean_length
        return {
            "game": self.game.name,
            "variant": self.variant,
            "position": str(self.position),
            "games": self.play.games,
            "seed": self.seed,
            "games_per_second": self.play.games_per_second,
            "mean_length": mean,
            "mean_length_interval": [mean - half_width, mean + half_width],
            "outcomes": self.play.outcome_shares(),
        }

    def row(self) -> list[str]:
        mean, half_width = self.mean_length
        shares = self.play.outcome_shares()
        two_players = self.game.players == 2
        as_share = two_players or max(self.play.returns.max(), 1) == 1
        outcomes = ", ".join(
            f"{name} {share:.1%}" if as_share else f"{name} {share:g}" for name, share in shares.items()
        )
        return [
            f"{self.game.name} {self.variant}",
            f"{self.play.games:,}",
            f"{self.play.games_per_second:,.0f}",
            f"{mean:.2f} ± {half_width:.2f}",
            outcomes if two_players else f"return: {outcomes}",
        ]


COLUMNS = ["game", "games", "games/s", "mean length (95%)", "outcomes"]


def run(console: Console, games: int, seed: int) -> list[Summary]:
    """Measure every registered game."""
    summaries = []
    for name in track(list(GAMES), "random play", console=console, transient=True):
        game = load(name)
        variant = next(iter(game.variants), "")
        play = game.random_games(games, seed)
        summaries.append(Summary(game, variant, _middle_of_a_game(game, play, seed), play, seed))
    return summaries


def _middle_of_a_game(game: Game, play: RandomGames, seed: int) -> State:
    rng = random.Random(seed)
    state = game.initial_state()
    for _ in range(int(play.lengths.mean() / 2)):
        play_chance(state, rng)
        if state.player() == TERMINAL:
            return game.initial_state()
        state.apply(rng.choice(state.legal_actions()))
    play_chance(state, rng)
    return state


def table(summaries: list[Summary]) -> Table:
    rich_table = Table(*COLUMNS, title="Random play")
    for summary in summaries:
        rich_table.add_row(*summary.row())
    return rich_table


def write_page(summaries: list[Summary], folder: Path) -> Path:
    """Write the page with the boards; returns its path."""
    boards = "".join(
        html.figure(summary.position.svg(), f"{summary.game.name} {summary.variant}") for summary in summaries
    )
    body = (
        "<h1>Rookery</h1><p>Five games, and what happens in them when every move is drawn at random: the floor under "
        "every agent.</p>"
        f"<div class='boards'>{boards}</div><h2>Random play</h2>"
        + html.table(COLUMNS, [summary.row() for summary in summaries])
        + f"<p class='note'>Made with <code>rookery reproduce --seed {summaries[0].seed}</code>, "
        f"{summaries[0].play.games:,} games each, rookery {escape(__version__)}. Two-player outcomes are shares of "
        "games; the return of a puzzle is its result, with quartiles where there are many.</p>"
    )
    path = folder / "index.html"
    html.write(path, html.page("Rookery: five games", body))
    return path
