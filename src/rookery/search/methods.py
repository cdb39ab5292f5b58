"""Searches for any game, as methods."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.agents import Agent
from rookery.game import Game
from rookery.method import Method, check_at_least
from rookery.search.agents import MctsAgent, MinimaxAgent, NestedAgent, RandomAgent
from rookery.search.backtracking import NODES, SECONDS, LineAgent, Order


class Random(Method):
    """Uniformly random moves: the floor under every other agent."""

    name, kind = "random", "search"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return RandomAgent()


class Minimax(Method):
    """Alpha-beta search to a fixed depth."""

    name, kind = "minimax", "search"

    @dataclass(frozen=True)
    class Options:
        depth: int = 3
        """Plies to look ahead."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "depth")

    def misfit(self, game: Game) -> str | None:
        return "needs a game without chance" if game.has_chance() else None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return MinimaxAgent(options.depth)


class Mcts(Method):
    """Monte Carlo tree search with random playouts."""

    name, kind = "mcts", "search"

    @dataclass(frozen=True)
    class Options:
        simulations: int = 1000
        """Playouts per move."""
        exploration: float = 1.0
        """Weight of the UCT exploration term."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "simulations")
            check_at_least(self, 0, "exploration")

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return MctsAgent(options.simulations, options.exploration)


class _Nested(Method):
    kind = "search"

    def misfit(self, game: Game) -> str | None:
        return "needs a game for one player" if game.players > 1 else None


class Nrpa(_Nested):
    """Nested Rollout Policy Adaptation."""

    name = "nrpa"

    @dataclass(frozen=True)
    class Options:
        level: int = 2
        """Nesting depth; a search makes `iterations` to the power of this many playouts."""
        iterations: int = 100
        """Calls that each level makes of the one below."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "level", "iterations")

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return NestedAgent("nrpa", options.level, options.iterations)


class Nmcs(_Nested):
    """Nested Monte Carlo Search."""

    name = "nmcs"

    @dataclass(frozen=True)
    class Options:
        level: int = 2
        """Nesting depth."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "level")

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return NestedAgent("nmcs", options.level)


class _Line(Method):
    kind = "search"
    name: Order

    @dataclass(frozen=True)
    class Options:
        ranker: Agent | None = None
        """Agent whose values rank the moves, by name; without one they are tried in the order of the rules."""
        nodes: int = NODES
        """Positions to enter at most."""
        seconds: float = SECONDS
        """Seconds to search at most; 0 means no limit."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "nodes")
            check_at_least(self, 0, "seconds")

    def misfit(self, game: Game) -> str | None:
        if game.players > 1:
            return "needs a game for one player"
        return "needs a game without chance" if game.has_chance() else None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return LineAgent(self.name, options.ranker, options.nodes, options.seconds)


class Backtracking(_Line):
    """Depth-first search with moves ranked by any agent."""

    name = "backtracking"


class BestFirst(_Line):
    """Best-first search with moves ranked by any agent."""

    name = "best-first"


METHODS = (Random(), Minimax(), Mcts(), Nrpa(), Nmcs(), Backtracking(), BestFirst())
