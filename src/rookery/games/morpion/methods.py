"""The methods of Morpion Solitaire."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.agents import Agent
from rookery.game import Game
from rookery.games.morpion import MODELS
from rookery.games.morpion.agents import R2Agent, ZeroAgent
from rookery.games.morpion.rules import Morpion, read
from rookery.games.morpion.search import shipped
from rookery.method import Method, check_at_least
from rookery.search.agents import NestedAgent, plan_of


class _Net(Method):
    kind, game, extra, model, headline = "learn", "morpion", "deep", "model.safetensors", "played_mean"

    def misfit(self, game: Game) -> str | None:
        if reason := super().misfit(game):
            return reason
        assert isinstance(game, Morpion)
        return None if game.lines == "5D" else "plays 5D only"


class Zero(_Net):
    """Ranked-reward self-play with searches that start from what the net knows."""

    name, module = "zero", "rookery.games.morpion.zero"

    @dataclass(frozen=True)
    class Options:
        simulations: int = 0
        """Simulations of PUCT per move; 0 plays by the net alone."""
        threshold: float = 0.0
        """Length of a game that counts as a win in the tree; 0 takes that of its training."""

        def __post_init__(self) -> None:
            check_at_least(self, 0, "simulations", "threshold")

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        learner = self.imported()
        net, _, metrics = learner.load_model(model or MODELS / "5D.safetensors")
        return ZeroAgent(learner, net, options.simulations, options.threshold or float(metrics["threshold"]))


class R2(_Net):
    """Ranked-reward self-play as the paper has it."""

    name, module = "r2", "rookery.games.morpion.r2"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        return R2Agent(self.imported().load_model(model)[0])


class Search(Method):
    """A search for a long game, run after run; its agent plays the longest game found."""

    name, kind, game, headline = "search", "learn", "morpion", "score"
    module, model = "rookery.games.morpion.search", "best.psol"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, Morpion)
        assert model is not None
        return _player(game, list(read(model.read_text(encoding="utf-8"), game.lines).moves))


class Best(Method):
    """The longest game that ships, and nested search where it has been left."""

    name, kind, game = "best", "search", "morpion"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        """NRPA that knows our longest game of the variant from the start.

        >>> import rookery
        >>> state = rookery.load("morpion", "4D").initial_state()
        >>> agent = rookery.agent("best", state.game)
        >>> while state.legal_actions():
        ...     state.apply(agent.choose(state))
        >>> state.returns()
        [35.0]
        """
        assert isinstance(game, Morpion)
        return NestedAgent("nrpa") if game.board is not None else _player(game, list(shipped(game.lines).moves))


def _player(game: Morpion, moves: list[int]) -> NestedAgent:
    return NestedAgent("nrpa", known=plan_of(game.initial_state(), moves, len(moves)))


METHODS = (Best(), Zero(), R2(), Search())
