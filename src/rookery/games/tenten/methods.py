"""The methods of 1010!."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from rookery.agents import Agent
from rookery.game import Game, State
from rookery.games.tenten import MODELS, exact, linear, lspi, ntuple, oracle
from rookery.games.tenten.agents import LinearAgent, LookAheadAgent, NTupleAgent, shipped
from rookery.games.tenten.greedy import GreedyAgent
from rookery.games.tenten.rules import TenTen, TenTenState
from rookery.method import Kind, Method, Solution, check_at_least
from rookery.search.agents import MctsAgent


class Greedy(Method):
    """The paper's greedy players."""

    name, kind, game = "greedy", "search", "tenten"

    @dataclass(frozen=True)
    class Options:
        algorithm: Literal[1, 2, 3] = 1
        """1 clears the most lines now, 2 makes it most likely that the next piece fits, 3 follows either at random."""

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return GreedyAgent(options.algorithm)


class _Learned(Method):
    kind: Kind = "learn"
    game, headline = "tenten", "mean_rounds"

    def unready(self, game: Game) -> str | None:
        assert isinstance(game, TenTen)
        if (file := shipped(self.trained_by or self.name, game)).exists():
            return None
        stem = f"{self.trained_by or self.name}-"
        known = ", ".join(sorted(f.stem.removeprefix(stem) for f in MODELS.glob(f"{stem}*.npz")))
        return f"ships no weights for {file.stem.removeprefix(stem)}, only for {known or 'nothing'}"

    def train(self, game: Game, settings: Any, run: Any) -> Any:
        assert isinstance(game, TenTen)
        if game.hand != 1:
            raise ValueError("train on a variant with one piece per round; the result plays hands of three as well")
        return super().train(game, settings, run)

    def weights(self, game: TenTen, model: Path | None) -> Path:
        return model or shipped(self.trained_by or self.name, game)


class LspiMethod(_Learned):
    """Least-squares policy iteration on the paper's 21 features."""

    name, module = "lspi", "rookery.games.tenten.lspi"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, TenTen)
        return LinearAgent(lspi.load(self.weights(game, model), game))


class LinearMethod(_Learned):
    """A linear evaluation tuned by the cross-entropy method."""

    name, module, headline = "linear", "rookery.games.tenten.linear", "elite_mean_rounds"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, TenTen)
        return LinearAgent(linear.load(self.weights(game, model), game))


class NTupleMethod(_Learned):
    """Temporal-difference learning of an n-tuple network."""

    name, module = "ntuple", "rookery.games.tenten.ntuple"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, TenTen)
        return NTupleAgent(ntuple.load(self.weights(game, model), game))


@lru_cache(maxsize=4)
def _solved(game: TenTen, objective: str, discount: float | None) -> exact.SolvedGame:
    return exact.solve(game, objective, discount)


class Oracle(Method):
    """Perfect play on small boards, by value iteration."""

    name, kind, game, model = "oracle", "exact", "tenten", ""

    @dataclass(frozen=True)
    class Options:
        objective: Literal["survival", "r1", "r2", "r3"] | None = None
        """What to aim at: survival, or a reward of the paper; survival if not given, r1 where that has no end."""
        discount: float | None = None
        """Worth of the next round beside this one."""
        path: str | None = None
        """A table that `rookery solve tenten --out` wrote, for larger boards."""

    def unready(self, game: Game) -> str | None:
        assert isinstance(game, TenTen)
        if oracle.solves(game):
            return None
        return (
            f"solves boards of up to {oracle.SOLVED_AT_ONCE} cells with one piece in the hand at once; this one has "
            f"{game.rows * game.columns} cells and a hand of {game.hand}; write a table with 'rookery solve tenten "
            "--size N --out FILE' and load it with 'oracle:FILE'"
        )

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, TenTen)
        if options.path is not None:
            return oracle.TableAgent(exact.load(Path(options.path), game))
        if reason := self.unready(game):
            raise ValueError(f"the oracle {reason}")
        objective, discount = options.objective, options.discount
        if objective is None:
            objective, discount = ("r1", discount or 0.99) if exact.endless(game) else ("survival", discount)
        return oracle.TableAgent(_solved(game, objective, discount))

    def solve(self, state: State) -> Solution:
        assert isinstance(state, TenTenState)
        agent = self.agent(state.game, self.Options())
        assert isinstance(agent, oracle.TableAgent)
        values, table = agent.values(state), agent.solution
        best = max(values.values(), default=0.0)
        unit = "rounds" if table.objective == "survival" else f"of {table.objective}"
        notes = {action: f"{value:,.1f} {unit} expected" for action, value in values.items()}
        return Solution(state, f"{best:,.1f} {unit} expected from here", best, values, notes, table.error_bound)


class Best(NTupleMethod):
    """The strongest: an oracle on small boards, else the n-tuple network with look-ahead, else search."""

    name, kind, module, trained_by = "best", "search", "", "ntuple"

    @dataclass(frozen=True)
    class Options:
        beam: int = 8
        """Width of the beam that plans hands of several pieces."""

        def __post_init__(self) -> None:
            check_at_least(self, 1, "beam")

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        assert isinstance(game, TenTen)
        if model is None:
            if oracle.solves(game):
                return Oracle().agent(game, Oracle.Options())
            if not shipped("ntuple", game).exists():
                return MctsAgent()
        return LookAheadAgent(ntuple.load(self.weights(game, model), game), options.beam)


METHODS = (Greedy(), Oracle(), LspiMethod(), LinearMethod(), NTupleMethod(), Best())
