"""Rookery as a chess engine that speaks UCI, for the endgames it knows.

Every position it accepts is solved, so the score it tells is exact whatever the agent: that of the move which the agent
plays, with perfect play after it.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO

import rookery
from rookery import registry
from rookery.engines import Server, allotted
from rookery.games.endgames import tables
from rookery.games.endgames.rules import Endgames, EndgamesState

MAX_LINES = 16
"""The most lines of the option MultiPV."""
DRAWN_LINE = 8
"""Plies of a line that leads to a draw; others are told to the mate."""

_LIMITS = ("depth", "movetime", "wtime", "btime", "winc", "binc", "movestogo", "nodes", "mate", "multipv")
_COMMANDS = ("uci", "debug", "isready", "setoption", "register", "ucinewgame", "position", "go", "stop", "ponderhit",
             "quit")  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One move with its exact score and the line after it, in the words of UCI."""

    score: str
    moves: list[str]


@dataclass(frozen=True)
class Thought:
    """What an agent says: lines, the one that it plays first."""

    depth: int
    lines: list[Line]


class UciServer(Server):
    """The engine's end of a conversation in UCI."""

    def __init__(self, agent: str = "oracle", seed: int = 0, out: IO[str] | None = None) -> None:
        super().__init__(out)
        self.game = Endgames(fifty_move_rule=True)
        self.agent_name, self.agent = agent, registry.agent(agent, self.game)
        self.lines = 1
        self.rng = random.Random(seed)
        self.state: EndgamesState | None = None
        self.problem = _OUTSIDE

    def complain(self, sentence: str) -> None:
        self.say(f"info string {sentence}")

    def hear(self, line: str) -> bool:
        words = line.split()
        while words and words[0] not in _COMMANDS:  # UCI: what is unknown is left out
            words.pop(0)
        if not words:
            return True
        command, words = words[0], words[1:]
        if command == "uci":
            self._introduce()
        elif command == "isready":
            self.say("readyok")
        elif command == "setoption":
            self._set_option(" ".join(words))
        elif command == "position":
            self.stop()
            self._set_position(words)
        elif command == "go":
            self._go(words)
        elif command in ("stop", "ucinewgame"):
            self.stop()
        elif command == "ponderhit":
            self.release()
        return command != "quit"

    def _introduce(self) -> None:
        self.say(f"id name Rookery {rookery.__version__} {self.agent_name}")
        self.say("id author the authors of Rookery")
        names = dict.fromkeys([self.agent_name, *registry.agent_names(self.game, ready=True)])
        choices = "".join(f" var {name}" for name in names)
        self.say(f"option name Agent type combo default {self.agent_name}{choices}")
        self.say(f"option name MultiPV type spin default 1 min 1 max {MAX_LINES}")
        self.say("uciok")

    def _set_option(self, text: str) -> None:
        found = re.fullmatch(r"name (.+?)(?: value (.*))?", text)
        name, value = (found[1].lower(), (found[2] or "").strip()) if found else ("", "")
        if name == "agent":
            self.agent_name, self.agent = value, registry.agent(value, self.game)
        elif name == "multipv":
            if not re.fullmatch("[0-9]{1,4}", value) or not 1 <= int(value) <= MAX_LINES:
                raise ValueError(f"MultiPV must be 1 to {MAX_LINES}, not {value[:40]!r}")
            self.lines = int(value)
        else:
            raise ValueError(f"there is no option {name[:40]!r}; known options: Agent, MultiPV")

    def _set_position(self, words: Sequence[str]) -> None:
        end = words.index("moves") if "moves" in words else len(words)
        self.state, self.problem = None, _OUTSIDE
        if words[:1] == ["fen"]:
            try:
                self.state = self._follow(" ".join(words[1:end]), words[end + 1 :])
            except ValueError as error:
                self.problem = " ".join(str(error).split())

    def _follow(self, fen: str, moves: Sequence[str]) -> EndgamesState:
        state = self.game.parse_state(fen)
        for move in moves:
            found = [action for action in state.legal_actions() if state.uci(action) == move.lower()]
            if not found:
                raise ValueError(f"{move[:20]!r} is not a legal move in {state}")
            state.apply(found[0])
            if state.ending in ("repetition", "fifty-move rule"):  # a draw that nobody has claimed
                state = self.game.parse_state(f"{' '.join(str(state).split()[:4])} 0 1")
        return state

    def _go(self, words: Sequence[str]) -> None:
        limits = dict.fromkeys(_LIMITS, 0)
        for name, value in pairwise(words):
            if name in limits and re.fullmatch("-?[0-9]{1,12}", value):
                limits[name] = max(0, int(value))
        only = [word.lower() for word in words[words.index("searchmoves") + 1 :]] if "searchmoves" in words else []
        seconds = limits["movetime"] / 1000 if "movetime" in words else None
        side = "b" if self.state is not None and self.state.player() == 1 else "w"
        if f"{side}time" in words and seconds is None:
            seconds = allotted(limits[f"{side}time"] / 1000, limits[f"{side}inc"] / 1000, limits["movestogo"] or 30)
        begin = time.monotonic()

        def tell(thought: Thought) -> None:
            spent = round(1000 * (time.monotonic() - begin))
            for number, line in enumerate(thought.lines, 1):
                which = f"multipv {number} " if self.lines > 1 else ""
                words = f"depth {thought.depth} seldepth {len(line.moves)} {which}score {line.score}"
                self.say(f"info {words} time {spent} pv {' '.join(line.moves)}")

        def answer(thought: Thought | None, sentence: str) -> None:
            if thought is None:
                self.complain(sentence)
                self.say("bestmove (none)")
            else:
                moves = thought.lines[0].moves
                self.say(f"bestmove {moves[0]}" + (f" ponder {moves[1]}" if len(moves) > 1 else ""))

        hold = "infinite" in words or "ponder" in words
        self.search(self._thoughts(limits["depth"], only), tell, answer, hold, seconds)

    def _thoughts(self, depth: int, only: Sequence[str]) -> Iterator[Thought]:
        """What the agent says, stage by stage; `only` are the moves to choose from, if there are any."""
        state, wanted = self.state, self.lines
        if state is None:
            raise ValueError(self.problem)
        exact = tables.solve(state).moves
        legal = [action for action in state.legal_actions() if not only or state.uci(action) in only]
        if not legal:
            score = "mate 0" if state.ending == "checkmate" else "cp 0"
            self.say(f"info depth 0 score {score}")
            raise ValueError(f"there is no move to choose: {state.ending or 'none of those named is legal'}")
        for number, agent in enumerate(self.agent.stages()[: depth or None], 1):
            if wanted == 1 and not only:
                ranked = [agent.choose(state, self.rng)]
            else:
                values = agent.values(state)
                ranked = sorted(legal, key=lambda action: -values[action])[:wanted]
            yield Thought(number, [line(state, action, exact[action]) for action in ranked])


_OUTSIDE = "only endgames of at most two pieces against a lone king are known, set up with position fen"


def line(state: EndgamesState, action: int, dtm: int | None) -> Line:
    """A move with its exact score, and perfect play after it.

    >>> state = Endgames().parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    >>> line(state, state.parse_action("Rd2"), 3)
    Line(score='mate 2', moves=['h2d2', 'a1b1', 'd2d1'])
    """
    score = "cp 0" if dtm is None else f"mate {(dtm + 1) // 2 if dtm > 0 else -(-dtm // 2)}"
    now = Endgames(repetition=0).parse_state(str(state))  # the past of the game does not end the line
    moves = []
    while True:
        moves.append(now.uci(action))
        now.apply(action)
        if now.ending or (dtm is None and len(moves) >= DRAWN_LINE):
            return Line(score, moves)
        action = tables.solve(now).best_moves[0]
