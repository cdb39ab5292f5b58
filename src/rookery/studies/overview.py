"""The house at a glance: for each game a drawn position and a measured summary of random play."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from rookery.game import TERMINAL, Game, RandomGames, State, play_chance
from rookery.progress import steps
from rookery.registry import GAMES, load
from rookery.report.study import Figure, Result, Table
from rookery.studies.sizes import Size


@dataclass(frozen=True)
class Summary:
    """One game: a position from the middle of a random game, and what random play does from the start."""

    game: Game
    variant: str
    position: State
    play: RandomGames

    @property
    def mean_length(self) -> tuple[float, float]:
        """The mean and the half width of its 95% interval."""
        lengths = self.play.lengths
        return float(lengths.mean()), float(1.96 * lengths.std(ddof=1) / np.sqrt(len(lengths)))

    def row(self) -> list[str]:
        mean, half_width = self.mean_length
        shares = self.play.outcome_shares()
        two_players = self.game.players == 2
        as_share = "min" not in shares  # they are quartiles otherwise
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


def run(size: Size, seed: int, folder: Path, console: Console) -> Result:
    """Measure every registered game."""
    begin = time.perf_counter()
    games = 20_000 if size.name == "quick" else 200_000
    summaries = []
    for name in steps(list(GAMES), "random play", console):
        game = load(name)
        variant = next(iter(game.variants), "")
        play = game.random_games(games, seed)
        summaries.append(Summary(game, variant, _middle_of_a_game(game, play, seed), play))
    note = (
        "Every move drawn uniformly at random: the floor under every agent. Two-player outcomes are shares of games; "
        "the return of a puzzle is its result, with quartiles where there are many."
    )
    command = f"rookery reproduce overview{size.flag} --seed {seed}"
    return Result(
        "overview",
        "The games, played at random",
        seed,
        [Table("Random play", COLUMNS, [summary.row() for summary in summaries], command, note)],
        [Figure(s.position.svg(), f"{s.game.name} {s.variant}") for s in summaries],
        time.perf_counter() - begin,
    )


def _middle_of_a_game(game: Game, play: RandomGames, seed: int) -> State:
    rng = random.Random(seed)
    state = game.initial_state()
    for _ in range(int(play.lengths.mean() / 2)):
        play_chance(state, rng)
        if state.player() == TERMINAL:
            break
        state.apply(rng.choice(state.legal_actions()))
    play_chance(state, rng)
    return state
