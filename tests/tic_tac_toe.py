"""The example game, for tests that need a small two-player game."""

import runpy
from pathlib import Path

_EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "tic_tac_toe.py"))
TicTacToe = _EXAMPLE["TicTacToe"]
TicTacToeState = _EXAMPLE["TicTacToeState"]
