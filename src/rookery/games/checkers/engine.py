"""Rookery as a checkers engine that speaks the Hub protocol, version 2.

An agent that searches deepens its search ply by ply until it is stopped or reaches a limit; others think as they do
elsewhere.
"""

from __future__ import annotations

import copy
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import rookery
from rookery import registry
from rookery._native import Control
from rookery.engines import Server, allotted
from rookery.game import TERMINAL
from rookery.games.checkers.agents import DatabaseAgent, EngineAgent, SearchAgent
from rookery.games.checkers.hub import VARIANT, arguments, move_text, parse_move, parse_position, score_text
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.search import SCALE

DEEPEST = 60
"""The deepest search of the checkers engine."""
PV_PLIES = 12
"""The longest line that is told."""


@dataclass(frozen=True)
class Thought:
    """What an agent says: its move and the line after it, and the score if it has one in men or plies."""

    depth: int
    moves: list[int]
    score: str = ""
    nodes: int = 0


class HubServer(Server):
    """The engine's end of a conversation in Hub."""

    def __init__(self, agent: str = "best", seed: int = 0, out: IO[str] | None = None) -> None:
        super().__init__(out)
        self.game = Checkers()
        self.agent_name, self.agent = agent, registry.agent(agent, self.game)
        self.rng = random.Random(seed)
        self.state = self.game.initial_state()
        self.problem = ""
        self.level: dict[str, str] = {}

    def complain(self, sentence: str) -> None:
        self.say(f'error message="{sentence.replace(chr(34), chr(39))}"')

    def hear(self, line: str) -> bool:
        command, given = line.partition(" ")[0], arguments(line)
        if command == "hub":
            self._introduce()
        elif command == "init":
            self.say("ready")
        elif command == "ping":
            self.say("pong")
        elif command == "set-param":
            self._set(given.get("name", ""), given.get("value", ""))
        elif command == "pos":
            self.stop()
            self._set_position(given.get("pos", ""), given.get("moves", ""))
        elif command == "level":
            self.level = given
        elif command == "go":
            self._go(given)
        elif command in ("stop", "new-game"):
            self.stop()
        elif command == "ponder-hit":
            self.release()
        return command != "quit"

    def _introduce(self) -> None:
        version = rookery.__version__
        self.say(f'id name=Rookery version={version} author="the authors of Rookery" country=""')
        self.say(f"param name=variant value={VARIANT} type=enum values={VARIANT}")
        # The reader of some programs splits at every equals sign.
        names = dict.fromkeys([self.agent_name, *registry.agent_names(self.game, ready=True)])
        choices = " ".join(name for name in names if re.fullmatch(r"[\w-]+", name))
        value = self.agent_name if re.fullmatch(r"[\w-]+", self.agent_name) else f'"{self.agent_name}"'
        self.say(f'param name=agent value={value} type=enum values="{choices}"')
        self.say("wait")

    def _set(self, name: str, value: str) -> None:
        if name == "agent":
            self.agent, self.agent_name = registry.agent(value, self.game), value
        elif name == "variant" and value != VARIANT:
            raise ValueError(f"the only variant is {VARIANT}, not {value[:40]!r}")
        elif name != "variant":
            raise ValueError(f"there is no parameter {name[:40]!r}; known parameters: variant, agent")

    def _set_position(self, text: str, moves: str) -> None:
        self.problem = ""
        try:
            state = parse_position(self.game, text)
            for move in moves.split():
                if state.player() == TERMINAL and state.side in (0, 1):
                    state = self._bare(state)
                state.apply(parse_move(state, move))
            self.state = self._bare(state) if state.player() == TERMINAL else state
        except ValueError as error:
            self.problem = " ".join(str(error).split())
            raise

    def _bare(self, state: CheckersState) -> CheckersState:
        """The position without its past: a draw by the past is one that nobody has claimed."""
        return self.game.parse_state(str(state))

    def _go(self, given: dict[str, str]) -> None:
        level = {name: float(value) for name, value in self.level.items() if re.fullmatch(r"[0-9.]{1,15}", value)
                 and value.count(".") <= 1 and value != "."}  # fmt: skip
        seconds = level.get("move-time")
        if "time" in level and seconds is None:
            seconds = allotted(level["time"] + level.get("inc", 0), level.get("inc", 0), level.get("moves", 0) or 30)
        begin, control = time.monotonic(), Control()

        def tell(thought: Thought) -> None:
            spent = time.monotonic() - begin
            score = f" score={thought.score}" if thought.score else ""
            nodes = f" nodes={thought.nodes}" if thought.nodes else ""
            line = " ".join(map(move_text, thought.moves))
            self.say(f'info depth={thought.depth}{score}{nodes} time={spent:.3f} pv="{line}"')

        def answer(thought: Thought | None, sentence: str) -> None:
            if thought is None:
                self.complain(sentence)
                self.say("done move=0-0")
            else:
                ponder = f" ponder={move_text(thought.moves[1])}" if len(thought.moves) > 1 else ""
                self.say(f"done move={move_text(thought.moves[0])}{ponder}")

        endless = "infinite" in self.level
        depth = min(DEEPEST, int(level["depth"])) if level.get("depth") else None
        if depth is None and (endless or seconds is not None):
            depth = DEEPEST
        thoughts = self._thoughts(self.state, depth, control)
        self.search(thoughts, tell, answer, endless or "ponder" in given, seconds, control.stop)

    def _thoughts(self, state: CheckersState, depth: int | None, control: Control) -> Iterator[Thought]:
        if self.problem:
            raise ValueError(self.problem)
        if state.player() == TERMINAL:
            raise ValueError(f"there is no move to choose in {state}")
        if isinstance(self.agent, EngineAgent):
            yield from self._engine(self.agent, state, depth, control)
            return
        if isinstance(self.agent, SearchAgent):
            yield from self._deepening(self.agent, state, depth or self.agent.depth, control)
            return
        for number, agent in enumerate(self.agent.stages()[:depth], 1):
            action = agent.choose(state, self.rng)
            score = ""
            if isinstance(agent, DatabaseAgent):
                outcome = agent.outcomes(state)[action]
                score = score_text(outcome.preference, outcome.plies)
            yield Thought(number, [action], score)

    def _engine(
        self, agent: EngineAgent, state: CheckersState, depth: int | None, control: Control
    ) -> Iterator[Thought]:
        """Deepen ply by ply with one transposition table, up to the agent's own limits if `depth` is None."""
        spent = 0
        for plies in range(1, (depth or agent.limits["depth"] or DEEPEST) + 1):
            limits = {} if depth else {"nodes": agent.limits["nodes"]}
            line, score, reached = agent.search.best(state, depth=plies, keep=plies > 1, control=control, **limits)
            if control.stopped:
                return
            spent += agent.search.nodes
            yield Thought(plies, line[:PV_PLIES], score_text(score / SCALE, agent.plies(score)), spent)
            if depth is None and (spent >= agent.limits["nodes"] > 0 or reached < plies):
                return

    def _deepening(self, agent: SearchAgent, state: CheckersState, depth: int, control: Control) -> Iterator[Thought]:
        for plies in range(1, depth + 1):
            stage = copy.copy(agent)
            stage.depth = plies
            best = stage.search.best(state, plies, control)
            if control.stopped:
                return
            action, score = self.rng.choice(best)
            nodes = stage.search.nodes
            moves = _line(stage, state, action, control)
            yield Thought(plies, moves, score_text(score / SCALE, stage.plies(score)), nodes)


def _line(agent: SearchAgent, state: CheckersState, action: int, control: Control) -> list[int]:
    """A move and what both sides would play after it, as far as the search sees and is not stopped."""
    now, moves = state.clone(), [action]
    now.apply(action)
    for depth in range(agent.depth - 1, 0, -1):
        if not now.legal_actions() or len(moves) == PV_PLIES:
            break
        best = agent.search.best(now, depth, control)
        if control.stopped:
            break
        moves.append(best[0][0])
        now.apply(best[0][0])
    return moves
