"""Chess engines that speak UCI, the Universal Chess Interface."""

from __future__ import annotations

import re

from rookery.engines import Engine, EngineError, Program, Reply
from rookery.game import State
from rookery.games.endgames.rules import EndgamesState

_SCORE = re.compile(r"info .*?\bscore (mate|cp) (-?[0-9]{1,9})\b")
_LINE = re.compile(r"\bmultipv ([0-9]+)\b")


def position(state: EndgamesState) -> str:
    """A position with its history, as engines are told it.

    >>> import rookery
    >>> state = rookery.load("endgames").initial_state()
    >>> state.apply(state.parse_action("Kf2"))
    >>> position(state)
    'position fen 8/8/8/4k3/8/8/8/R3K3 w - - 0 1 moves e1f2'
    """
    now: EndgamesState = state.start  # type: ignore[assignment]
    words = []
    for action in state.actions:
        words.append(now.uci(action))
        now.apply(action)
    return f"position fen {state.start}" + (f" moves {' '.join(words)}" if words else "")


class UciEngine(Engine):
    """A chess engine. It forgets between questions: an answer depends on the position and its history alone."""

    def _greet(self, program: Program, seconds: float) -> str:
        program.send("uci")
        name = ""
        for line in program.lines(seconds):
            if line.startswith("id name "):
                name = line.removeprefix("id name ")
            if line == "uciok":
                break
        return name

    def _think(self, program: Program, state: State, seconds: float) -> Reply:
        assert isinstance(state, EndgamesState)
        program.send("ucinewgame")
        program.send("isready")
        for line in program.lines(seconds):
            if line == "readyok":
                break
        program.send(position(state))
        program.send(f"go movetime {round(1000 * self.seconds)}" if self.seconds else f"go depth {self.depth}")
        mate, score = None, None
        for line in program.lines(seconds):
            found = _SCORE.match(line)
            other = _LINE.search(line)
            if found and (other is None or other[1] == "1"):
                value = int(found[2])
                mate, score = (value, None) if found[1] == "mate" else (None, value / 100)
            if line.startswith("bestmove"):
                break
        word = "".join(line.split()[1:2]).lower()
        for action in state.legal_actions():
            if state.uci(action) == word:
                return Reply(action, mate, score)
        raise EngineError(f"it plays {word[:20]!r}, which is not a legal move" if word else "it names no move")
