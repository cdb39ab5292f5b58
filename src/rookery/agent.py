"""What an agent is."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Protocol

from rookery.game import Overlay, State


@dataclass(frozen=True)
class Drawing:
    """A picture that goes with an explanation: as SVG, and as text for the terminal."""

    title: str
    svg: str
    text: str


@dataclass(frozen=True)
class Explanation:
    """Why an agent would play a move, in data that can be printed and drawn."""

    action: int
    values: dict[int, float]
    """What it thinks of every legal move."""
    reasons: list[str]
    """Sentences for people."""
    overlay: Overlay = field(default_factory=Overlay)
    """What to draw on the position itself."""
    drawings: list[Drawing] = field(default_factory=list)
    """Other boards that belong to the reasons."""


class Agent(Protocol):
    """Whatever can play. `rng` is the only source of chance an agent may use."""

    def choose(self, state: State, rng: random.Random) -> int: ...

    def values(self, state: State) -> dict[int, float]: ...

    def explain(self, state: State) -> Explanation: ...


class ValueAgent:
    """An agent that plays a move of greatest value, ties broken at random. Subclasses write `values`."""

    def values(self, state: State) -> dict[int, float]:
        raise NotImplementedError

    def choose(self, state: State, rng: random.Random) -> int:
        values = self.values(state)
        best = max(values.values())
        return rng.choice([action for action, value in values.items() if value == best])

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(action)} is worth {values[action]:.4g}" for action in ranked[:5]]
        return Explanation(ranked[0], values, reasons, Overlay(values=values))
