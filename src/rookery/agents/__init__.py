"""Agents: every method, as something that picks a move, values all moves and says why.

>>> import random, rookery
>>> game = rookery.load("tenten", "3x3-three")
>>> state = game.parse_state("##./#.#/.## 1x1")
>>> agent = load("mcts:simulations=200", game)
>>> state.action_name(agent.choose(state, random.Random(1))) in {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
True
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from rookery.games import CHANCE, Game, Overlay, State
from rookery.search import mcts, minimax


@dataclass(frozen=True)
class Explanation:
    """Why an agent would play a move, in data that can be printed and drawn."""

    action: int
    values: dict[int, float]
    """What it thinks of every legal move."""
    reasons: list[str]
    """Sentences for people."""
    overlay: Overlay = field(default_factory=Overlay)


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


class RandomAgent(ValueAgent):
    """Plays a uniformly random legal move: the floor under every other agent."""

    def values(self, state: State) -> dict[int, float]:
        return dict.fromkeys(state.legal_actions(), 0.0)


class MinimaxAgent(ValueAgent):
    """Alpha-beta to a fixed depth, for games without chance."""

    def __init__(self, depth: int = 3) -> None:
        self.depth = depth

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in minimax(state, self.depth)}


class MctsAgent(ValueAgent):
    """Monte Carlo tree search with random playouts."""

    def __init__(self, simulations: int = 1000, exploration: float = 1.0) -> None:
        self.simulations, self.exploration = simulations, exploration

    def choose(self, state: State, rng: random.Random) -> int:
        moves = mcts(state, self.simulations, self.exploration, rng.getrandbits(63))
        return max(moves, key=lambda move: (move.visits, move.value)).action

    def values(self, state: State) -> dict[int, float]:
        return {move.action: move.value for move in mcts(state, self.simulations, self.exploration)}


Factory = Callable[..., Agent]

GENERIC: dict[str, Factory] = {
    "random": lambda game: RandomAgent(),
    "minimax": lambda game, **settings: MinimaxAgent(**settings),
    "mcts": lambda game, **settings: MctsAgent(**settings),
}
"""Agents for any game, by name. A factory takes the game and the settings of the name."""


def _solitaire_chess(name: str) -> Factory:
    def make(game: Game, **settings: Any) -> Agent:
        # Imported here because the file imports this one.
        from rookery.agents import solitaire_chess

        return solitaire_chess.load(name, game, **settings)

    return make


OF_GAME: dict[str, dict[str, Factory]] = {
    "solitaire-chess": {name: _solitaire_chess(name) for name in ("dqn", "oracle", "best")},
}
"""Agents for one game only, by the game's name and then their own."""


def names(game: Game) -> list[str]:
    """The agents that can play a game. Looking ahead by minimax needs a game without chance."""
    generic = [name for name in GENERIC if name != "minimax" or game.initial_state().player() != CHANCE]
    return generic + list(OF_GAME.get(game.name, {}))


def load(name: str, game: Game) -> Agent:
    """An agent by name: `random`, `minimax:depth=3`, `mcts:simulations=500`; `NAME:PATH` loads a trained one."""
    base, _, rest = name.partition(":")
    factories: Mapping[str, Factory] = GENERIC | OF_GAME.get(game.name, {})
    if base not in names(game):
        raise ValueError(f"unknown agent {base!r} for {game.name}; known agents: {', '.join(names(game))}")
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = "path", part
        settings[key] = _number(value)
    try:
        return factories[base](game, **settings)
    except TypeError as error:
        raise ValueError(f"the agent {base!r} does not take the settings {rest!r}: {error}") from None


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
