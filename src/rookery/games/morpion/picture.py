"""A Morpion grid in the terminal, drawn with braille dots: a cell is one row high and two characters wide.

>>> from rookery.games.morpion.rules import Morpion
>>> print(picture(Morpion(length=4).initial_state()).plain.splitlines()[1])
    ⠁   ⠁
"""

from __future__ import annotations

from rich.text import Text

from rookery.games.morpion.rules import STEPS, MorpionState

_PIXELS = 4
"""Pixels from one cell to the next; a braille character is 2 pixels wide and 4 high."""
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille character, by row and column of the pixel."""


def picture(state: MorpionState) -> Text:
    """The used part of the grid: the cross bold, the last move in colour."""
    game = state.game
    side = game.side
    last = state.moves[-1] if state.moves else None
    styles = dict.fromkeys(game.cross, "bold")
    pixels: set[tuple[int, int]] = {_pixel(cell, side) for cell in game.cross}
    for action in state.moves:
        cells = game.line_cells(action)
        dx, dy = STEPS[game.move(action).direction]
        x, y = _pixel(cells[0], side)
        pixels |= {(x + i * dx, y + i * dy) for i in range(_PIXELS * (game.length - 1) + 1)}
        if action == last:
            styles |= dict.fromkeys(cells, "bold red")
    dots = [*game.cross, *(state.action_cells(action)[0] for action in state.moves)]
    left, right = min(cell % side for cell in dots), max(cell % side for cell in dots)
    top, bottom = min(cell // side for cell in dots), max(cell // side for cell in dots)
    text = Text()
    for row in range(top, bottom + 1):
        for column in range(2 * left, 2 * right + 1):
            bits = sum(_BITS[i][j] for i in range(4) for j in range(2) if (2 * column + j, _PIXELS * row + i) in pixels)
            style = styles.get(row * side + column // 2) if column % 2 == 0 else None
            text.append(chr(0x2800 + bits) if bits else " ", style)
        text.rstrip()
        text.append("\n")
    return text


def _pixel(cell: int, side: int) -> tuple[int, int]:
    return cell % side * _PIXELS, cell // side * _PIXELS
