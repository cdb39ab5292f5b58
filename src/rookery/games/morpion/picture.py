"""A Morpion grid in the terminal, in colour.

>>> from rookery.games.morpion.rules import Morpion
>>> print(picture(Morpion(length=4).initial_state()).plain.splitlines()[3])
26        ⠁ ⠁ ⠁
"""

from __future__ import annotations

from rich.text import Text

from rookery.games.morpion.rules import ABOVE, LEFT, MorpionState


def picture(state: MorpionState) -> Text:
    """The text board of a position: the cross bold, the last move in colour."""
    game, side, dots = state.game, state.game.side, state.dots()
    styles = dict.fromkeys(game.cross, "bold")
    if state.moves:
        styles |= dict.fromkeys(game.line_cells(state.moves[-1]), "bold red")
    left, top = min(cell % side for cell in dots) - 1, min(cell // side for cell in dots) - 1
    lines = [Text(line) for line in state.text_board().split("\n")]
    for cell, style in styles.items():
        column = LEFT + 2 * (cell % side - left)
        lines[ABOVE + cell // side - top].stylize(style, column, column + 1)
    return Text("\n").join(lines).append("\n")
