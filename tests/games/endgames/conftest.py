"""A chess engine that is none."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

FAKE = """#!{python}
import sys, time, pathlib
folder = pathlib.Path({folder!r})
behaviour = {behaviour!r}
board = None
NONSENSE = {{
    "nonsense": "bestmove a1a1", "resigns": "bestmove (none)", "is short": "bestmove", "lies": "bestmove e1e5",
    "is silly": "bestmove \\x00\\xff!",
}}
def say(text):
    print(text, flush=True)
with open(folder / "starts", "a") as file:
    file.write("x")
for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    if words[0] == "uci":
        if behaviour == "mute":
            time.sleep(60)
        say("id name Fake 1")
        say("uciok")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "position":
        import chess
        board = chess.Board(" ".join(words[2:8]))
        for move in words[9:]:
            board.push_uci(move)
    elif words[0] == "go":
        with open(folder / "asked", "a") as file:
            file.write(board.fen() + "\\n")
        count = len((folder / "asked").read_text().splitlines())
        if behaviour == "dies" or (behaviour == "dies once" and count == 1):
            sys.exit(1)
        if behaviour == "hangs" or (behaviour == "hangs once" and count == 1):
            time.sleep(60)
        if behaviour in NONSENSE:
            say(NONSENSE[behaviour])
            continue
        move = sorted(move.uci() for move in board.legal_moves)[0]
        say("info depth 15 score " + ("mate 3" if board.turn else "mate -3"))
        say("bestmove " + move)
    elif words[0] == "quit":
        break
"""


@pytest.fixture
def fake(tmp_path: Path):  # type: ignore[no-untyped-def]
    def make(behaviour: str) -> Path:
        file = tmp_path / "engine"
        file.write_text(FAKE.format(python=sys.executable, folder=str(tmp_path), behaviour=behaviour))
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    return make
