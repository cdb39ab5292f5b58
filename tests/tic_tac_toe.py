"""The example game, for tests that need a small two-player game."""

from pathlib import Path

from rookery import user_code

_EXAMPLE = user_code.load_file(Path(__file__).parents[1] / "examples" / "tic_tac_toe.py")
TicTacToe = _EXAMPLE.TicTacToe
TicTacToeState = _EXAMPLE.TicTacToeState
