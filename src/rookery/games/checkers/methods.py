"""The methods of checkers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rookery.agents import Agent
from rookery.engines import EngineMethod
from rookery.game import Game, State
from rookery.games.checkers import MODELS, agents, book, database, levels, net, q_learning, td
from rookery.games.checkers.hub import HubEngine
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.method import Kind, Method, Solution, check_at_least
from rookery.run import Run
from rookery.statistics import wilson_interval


class QLearning(Method):
    """Tabular Q-learning by self-play, the system of Benning (2021)."""

    name, game = "q-learning", "checkers"
    kind: Kind = "learn"
    module, headline = "rookery.games.checkers.q_learning", "positions"
    fallback: q_learning.Fallback = "random"

    @dataclass(frozen=True)
    class Options:
        fallback: q_learning.Fallback = "random"
        """What to do in a position that training never met: a random move, Prior State Voting, or more training."""
        symmetries: Literal[1, 2, 4] = 1
        """Votes count through 1, 2 (rotation with colours exchanged) or 4 (mirror images as well) symmetries."""

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        table = agents.load_table(model or MODELS / "q-table.npz")
        return agents.QTableAgent(table, options.fallback, options.symmetries)

    def evaluate(self, game: Game, run: Run) -> dict[str, Any]:
        assert isinstance(game, Checkers)
        table = q_learning.QTable.load(run.folder / self.model)
        found = {}
        for fallback, games in zip(q_learning.FALLBACKS, (1000, 1000, 20), strict=True):
            match = q_learning.play_against_random(table, game, fallback, games, run.seed)
            found[fallback] = _against_random(match.wins, match.draws, match.games)
        return {"against_random": found}


class Voting(QLearning):
    """A Q-table in which known positions vote where it knows nothing: Prior State Voting (Benning, 2021)."""

    name, kind, module, trained_by = "voting", "search", "", "q-learning"

    @dataclass(frozen=True)
    class Options:
        symmetries: Literal[1, 2, 4] = 1
        """Votes count through 1, 2 (rotation with colours exchanged) or 4 (mirror images as well) symmetries."""

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return super().agent(game, QLearning.Options("voting", options.symmetries), model)


class Dqn(Method):
    """Deep Q-learning by self-play."""

    name, kind, game = "dqn", "learn", "checkers"
    module, extra, headline = "rookery.games.checkers.dqn", "deep", "loss"

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return agents.DqnAgent(self.imported().load(model or MODELS / "dqn.npz"))

    def evaluate(self, game: Game, run: Run) -> dict[str, Any]:
        dqn = self.imported()
        results = dqn.play_against_random(dqn.load(run.folder / self.model), game, 1000, run.seed)
        return {"against_random": _against_random(int((results > 0).sum()), int((results == 0).sum()), len(results))}


def _against_random(wins: int, draws: int, games: int) -> dict[str, Any]:
    return {"games": games, "wins": wins, "draws": draws, "interval": list(wilson_interval(wins, games))}


@dataclass(frozen=True)
class Depth:
    depth: int = agents.DEPTH
    """Plies to look ahead, captures followed to their end."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "depth")


class Td(Method):
    """Temporal differences on patterns, for a player that searches to a fixed depth."""

    name, kind, game = "td", "learn", "checkers"
    module, headline = "rookery.games.checkers.td", "error"

    @dataclass(frozen=True)
    class Options(Depth):
        pieces: int = 0
        """Solved endgames of up to N pieces are looked up; 0 for none."""

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return agents.SearchAgent(td.load(model or td.SHIPPED), options.depth, _solved(options.pieces))


def _solved(pieces: int) -> database.Database | None:
    return database.look_up(pieces) if pieces else None


class Ladder(Method):
    """A rung of the minimax ladder: alpha-beta that counts 100 per man and 130 per king."""

    name, kind, game = "ladder", "search", "checkers"

    @dataclass(frozen=True)
    class Options(Depth):
        depth: int = 3
        """Plies to look ahead, captures followed to their end."""

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return agents.SearchAgent(None, options.depth, None)


class Oracle(Method):
    """Perfect play in positions of few pieces, from the solved endgames."""

    name, kind, game = "oracle", "exact", "checkers"

    @dataclass(frozen=True)
    class Options:
        pieces: int = database.PIECES
        """The largest number of pieces of both sides together."""

    def refuses(self, state: State) -> str | None:
        assert isinstance(state, CheckersState)
        few = len(state.black) + len(state.white) <= database.PIECES
        return None if few else f"knows positions of up to {database.PIECES} pieces"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return agents.DatabaseAgent(options.pieces)

    def solve(self, state: State) -> Solution:
        assert isinstance(state, CheckersState)
        found = database.solve(state)
        side = ("Black", "White")[state.side]
        return Solution(
            state,
            f"{side} {agents.describe(found.outcome)}",
            found.outcome.preference / 1000,
            {action: outcome.preference / 1000 for action, outcome in found.moves.items()},
            {action: agents.describe(outcome) for action, outcome in found.moves.items()},
        )


class Hub(EngineMethod):
    """A checkers engine that speaks the Hub protocol, named by its program."""

    name, game, engine = "hub", "checkers", HubEngine


class Net(Method):
    """A small net that values positions, for the engine; learned from self-play."""

    name, game = "net", "checkers"
    kind: Kind = "learn"
    module, headline = "rookery.games.checkers.net", "error"

    @dataclass(frozen=True)
    class Options:
        nodes: int = 0
        """Positions to look at per move; 0 for 100,000, or for no limit if seconds or depth are limited."""
        seconds: float = 0.0
        """CPU seconds per move, of the first thread; 0 for no limit. Moves then depend on the machine."""
        depth: int = 0
        """Plies to look ahead, more where it matters; 0 for no limit."""
        pieces: int = 0
        """Solved endgames of up to N pieces are looked up; 0 for none."""
        contempt: int = agents.CONTEMPT
        """Hundredths of log-odds that a draw counts less than an even game, and 20 pieces count more."""
        threads: int = 1
        """Threads that search the same position; with more than 1, moves depend on the machine."""
        paced: bool = False
        """Whether nodes and seconds are roughly the average per move instead of limits: less in endgames and where the
        best move stays the same, up to four times as much elsewhere."""

        @property
        def limits(self) -> tuple[int, float, int]:
            """Nodes, seconds, depth."""
            nodes = self.nodes or (0 if self.seconds or self.depth else agents.NODES)
            return nodes, self.seconds, self.depth

    def unready(self, game: Game) -> str | None:
        return None

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        value, solved = net.load(model or net.SHIPPED), _solved(options.pieces)
        nodes, seconds, depth = options.limits
        return agents.EngineAgent(
            value,
            solved,
            nodes,
            seconds,
            depth,
            contempt=options.contempt,
            threads=options.threads,
            paced=options.paced,
        )


class Best(Net):
    """The engine with the learned net and the solved endgames: the strongest; or weaker, by level."""

    name, kind, module, trained_by = "best", "search", "", "net"

    @dataclass(frozen=True)
    class Options(Net.Options):
        pieces: int = database.PIECES
        """Solved endgames of up to N pieces are looked up; 0 for none."""
        book: bool = True
        """Whether the first moves come from the opening book."""
        level: int = 0
        """Strength from 1 (beginner) to 8 (master), in place of the limits; 0 for full strength within them."""

        def __post_init__(self) -> None:
            if not 0 <= self.level <= len(levels.LEVELS):
                raise ValueError(f"the level must be 1 to {len(levels.LEVELS)}, or 0 for none, and is {self.level}")

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        opening = book.load() if options.book else {}
        value = net.load(model or net.SHIPPED)
        if not options.level:
            solved = _solved(options.pieces)
            nodes, seconds, depth = options.limits
            free = not (options.nodes or seconds or depth)
            return agents.EngineAgent(
                value,
                solved,
                nodes,
                seconds,
                depth,
                book=opening,
                contempt=options.contempt,
                clocked=free,
                threads=options.threads,
                paced=options.paced,
            )
        strength = levels.LEVELS[options.level - 1]
        known = (_solved(options.pieces), opening) if strength.endgames else (None, {})
        return agents.EngineAgent(value, known[0], strength.nodes, 0.0, strength.depth, strength.noise, known[1])


METHODS = (QLearning(), Voting(), Dqn(), Ladder(), Td(), Net(), Oracle(), Hub(), Best())
