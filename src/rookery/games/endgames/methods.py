"""The methods of chess endgames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.agents import Agent
from rookery.engines import EngineAgent, EngineError, EngineMethod
from rookery.game import Game, State
from rookery.games.endgames import perfect, tables
from rookery.games.endgames.agents import (
    PerfectAgent,
    QLearningAgent,
    TablesAgent,
    describe,
)
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.stockfish import Stockfish, find_engine
from rookery.games.endgames.uci import UciEngine
from rookery.method import Kind, Method, Solution


class Oracle(Method):
    """Perfect play from the exact tables."""

    name, game = "oracle", "endgames"
    kind: Kind = "exact"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return TablesAgent()

    def solve(self, state: State) -> Solution:
        assert isinstance(state, EndgamesState)
        found = tables.solve(state)
        # Where the material alone makes a draw the game is over, and the tables' moves are not played any more.
        moves = {action: found.moves[action] for action in state.legal_actions()}
        return Solution(
            state,
            verdict(state, found.dtm),
            tables.preference(found.dtm) / 1000,
            {action: tables.preference(dtm) / 1000 for action, dtm in moves.items()},
            {action: describe(state, action, dtm) for action, dtm in moves.items()},
        )


def verdict(state: EndgamesState, dtm: int | None) -> str:
    """The exact result of a position in words."""
    mover, other = ("White", "Black") if str(state).split()[1] == "w" else ("Black", "White")
    if dtm is None:
        return "a draw" + (f" ({state.ending})" if state.ending else "")
    if dtm == 0:
        return f"{mover} is mated"
    winner, moves = (mover, (dtm + 1) // 2) if dtm > 0 else (other, -dtm // 2)
    return f"{winner} mates in {moves} move{'s' if moves > 1 else ''}"


class QLearning(Method):
    """Q-learning from one start, the system of Boar (2022); as shipped, of every position of KQK, KRK and KBBK."""

    name, kind, game, model = "q-learning", "learn", "endgames", ""
    module, headline = "rookery.games.endgames.training", "won_last_100"

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return QLearningAgent(model)


class Perfect(Method):
    """Q-learning with random starts and the least-best-move backup, until every position has its exact value."""

    name, kind, game = "perfect", "learn", "endgames"
    module, headline = "rookery.games.endgames.perfect", "optimal"

    def misfit(self, game: Game) -> str | None:
        if reason := super().misfit(game):
            return reason
        assert isinstance(game, Endgames)
        return None if game.material in perfect.MATERIALS else f"learns {', '.join(perfect.MATERIALS)}"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        return PerfectAgent(*perfect.load(model))


class Uci(EngineMethod):
    """A chess engine that speaks UCI, named by its program."""

    name, game, engine = "uci", "endgames", UciEngine


class StockfishMethod(Method):
    """Stockfish, or another engine that speaks UCI, at a fixed depth, with every answer kept on disk."""

    name, kind, game = "stockfish", "search", "endgames"

    @dataclass(frozen=True)
    class Options:
        depth: int = 15
        """Depth of the engine's search."""
        path: str | None = None
        """Program of the engine, if Stockfish is not found by itself."""

    def unready(self, game: Game) -> str | None:
        try:
            find_engine()
        except EngineError as error:
            return f"is not ready: {error}"
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return EngineAgent(Stockfish(options.depth, options.path))


class Best(Oracle):
    """The strongest: the oracle."""

    name, kind = "best", "search"


METHODS = (Oracle(), QLearning(), Perfect(), StockfishMethod(), Uci(), Best())
