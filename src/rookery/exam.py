"""How players of a game are measured, so that they can be compared: the exams of a game.

A game's folder has them in `exams.py`, as `EXAMS`: one on a small variant with an exact answer, one on the full game.
The study `cross` takes every method through every exam.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rookery.agents import Agent
from rookery.game import TERMINAL, Game, play_chance


@dataclass(frozen=True)
class Exam:
    """Games of a variant, and what their scores are to be compared with."""

    variant: str
    small: bool
    unit: str
    """What the score counts, such as "points per game"."""
    strongest: str
    """The strongest agent that ships."""
    exact: str = ""
    """An agent that plays perfectly, if there is one."""
    optimum: float | None = None
    """The best score there is, where it is known but no agent reaches it."""
    opponent: str = ""
    """Games for two: who sits on the other side. A win counts 1 and a draw 1/2."""
    sides: tuple[int, ...] = (0, 1)
    """Games for two: the sides that are examined, in turns."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the game beside those of the variant."""
    starts: Literal["initial", "random"] = "initial"
    games: int = 100
    moves: int = 1000
    """Moves after which a game is ended: it counts as drawn, or as what it has earned."""


def examine(game: Game, exam: Exam, agent: Agent, opponent: Agent | None, games: int, seed: int) -> list[float]:
    """The scores of an agent. Every player meets the same starts and the same chance, as far as moves allow."""
    scores = []
    for number in range(games):
        rng = random.Random(f"{seed}/{number}")
        state = game.random_start(rng) if exam.starts == "random" else game.initial_state()
        play_chance(state, rng)
        side = 0 if game.players == 1 else exam.sides[number % len(exam.sides)]
        earned = 0.0
        for _ in range(exam.moves):
            if state.player() == TERMINAL:
                break
            mover = agent if opponent is None or state.player() == side else opponent
            state.apply(mover.choose(state, rng))
            earned += state.rewards()[side]
            play_chance(state, rng)
        if state.player() == TERMINAL:
            earned = state.returns()[side]
        scores.append(earned if game.players == 1 else (state.returns()[side] + 1) / 2)
    return scores
