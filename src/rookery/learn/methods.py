"""Methods that learn any game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.agents import Agent
from rookery.game import Game
from rookery.learn import q_learning
from rookery.learn.voting import misfit as voting_misfit
from rookery.method import Kind, Method, check_at_least


class QLearning(Method):
    """Tabular Q-learning: a value for every position and move that training met."""

    name = "q-learning"
    kind: Kind = "learn"
    module, headline = "rookery.learn.q_learning", "mean_return"

    @dataclass(frozen=True)
    class Options:
        fallback: q_learning.Fallback = "random"
        """What to do in a position that training never met: a random move, Prior State Voting, or more training."""

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        if options.fallback == "voting" and (reason := voting_misfit(game)):
            raise ValueError(f"voting {reason}")
        return q_learning.QTableAgent(*q_learning.load(game, model), options.fallback)


class Voting(QLearning):
    """A Q-table in which known positions vote where it knows nothing: Prior State Voting."""

    name, kind, module, trained_by = "voting", "search", "", "q-learning"

    @dataclass(frozen=True)
    class Options:
        """No settings."""

    def misfit(self, game: Game) -> str | None:
        return voting_misfit(game)

    def unready(self, game: Game) -> str | None:
        return "is not trained yet"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return super().agent(game, QLearning.Options("voting"), model)


class Dqn(Method):
    """Deep Q-learning: a net that values every move."""

    name, kind = "dqn", "learn"
    module, extra, headline, model = "rookery.learn.dqn", "deep", "mean_return", "model.safetensors"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        agent: Agent = self.imported().load(game, model)
        return agent


class Zero(Method):
    """AlphaZero: a net for moves and values that learns from the searches it guides."""

    name, kind = "zero", "learn"
    module, extra, headline, model = "rookery.learn.zero", "deep", "policy_loss", "model.safetensors"

    @dataclass(frozen=True)
    class Options:
        simulations: int = 200
        """Simulations per move; 0 plays the net's most probable move."""

        def __post_init__(self) -> None:
            check_at_least(self, 0, "simulations")

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        agent: Agent = self.imported().load(game, model, options.simulations)
        return agent


class NTuple(Method):
    """An n-tuple network: weights for what is on small sets of cells, learned by temporal differences."""

    name: str = "ntuple"
    kind: Kind = "learn"
    module, headline = "rookery.learn.ntuple", "mean_return"

    @dataclass(frozen=True)
    class Options:
        depth: int = 0
        """Moves to look ahead, over every outcome of chance; 0 takes the network's word for the next position."""

        def __post_init__(self) -> None:
            check_at_least(self, 0, "depth")

    def misfit(self, game: Game) -> str | None:
        reason: str | None = self.imported().misfit(game)
        return reason

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        ntuple = self.imported()
        agent: Agent = ntuple.NTupleAgent(ntuple.load(game, model), options.depth)
        return agent


class Lspi(Method):
    """Least-squares policy iteration: moves valued by weighted features of where they lead."""

    name, kind = "lspi", "learn"
    module, headline = "rookery.learn.lspi", "mean_return"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert model is not None
        agent: Agent = self.imported().load(game, model)
        return agent


METHODS = (QLearning(), Voting(), Dqn(), Zero(), NTuple(), Lspi())
