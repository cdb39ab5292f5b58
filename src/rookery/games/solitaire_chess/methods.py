"""The methods of Solitaire Chess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rookery.agents import Agent
from rookery.game import Game, State
from rookery.games.solitaire_chess import ranker
from rookery.games.solitaire_chess.agents import RankerAgent, SolverAgent
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.method import Kind, Method, Solution


class _Ranker(Method):
    kind, game, extra, model = "learn", "solitaire-chess", "deep", "model.safetensors"
    look_ahead = True

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, SolitaireChess)
        return RankerAgent(ranker.load(model or ranker.shipped(game, self.name)), self.look_ahead)


class Dqn(_Ranker):
    """Deep Q-learning inside backtracking, from play alone."""

    name, module, headline = "dqn", "rookery.games.solitaire_chess.dqn", "solved"


class PaperDqn(_Ranker):
    """Deep Q-learning as the paper describes it: single games, one net, one-step targets."""

    name, module, headline = "paper-dqn", "rookery.games.solitaire_chess.paper_dqn", "solved"
    look_ahead = False

    def unready(self, game: Game) -> str | None:
        assert isinstance(game, SolitaireChess)
        return "ships no weights for boards with limited captures" if game.max_captures else None


class Taught(_Ranker):
    """The same ranking taught by exact answers."""

    name, module, headline = "taught", "rookery.games.solitaire_chess.taught", "right"

    def unready(self, game: Game) -> str | None:
        assert isinstance(game, SolitaireChess)
        return "ships no weights for boards with limited captures" if game.max_captures else None

    def train(self, game: Game, settings: Any, run: Any) -> Any:
        if game.variant != "4x4":
            raise ValueError("taught learns 4x4 only: the trees of larger boards are too large to mark")
        return super().train(game, settings, run)


class Oracle(Method):
    """Every capture tried to the end: certain which ones can still be solved."""

    name, game = "oracle", "solitaire-chess"
    kind: Kind = "exact"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return SolverAgent()

    def solve(self, state: State) -> Solution:
        assert isinstance(state, SolitaireChessState)
        solvable = solve(state).solvable
        values = SolverAgent().values(state)
        notes = {action: "keeps a solution" if value else "spoils the puzzle" for action, value in values.items()}
        return Solution(state, "can be solved" if solvable else "cannot be solved", float(solvable), values, notes)


class Best(Oracle):
    """The strongest: the oracle."""

    name, kind = "best", "search"


METHODS = (Dqn(), PaperDqn(), Taught(), Oracle(), Best())
