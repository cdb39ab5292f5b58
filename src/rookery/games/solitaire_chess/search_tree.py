"""A drawing of how a search went through a Solitaire Chess puzzle, in the manner of the paper's Figures 1 and 3."""

from __future__ import annotations

from collections.abc import Sequence

from rookery import draw
from rookery.games.solitaire_chess.rules import SolitaireChessState

_WIDTH, _HEIGHT = 1.9, 2.7  # what a position takes, with the space around it
_BOARD = 1.5


def search_tree_svg(state: SolitaireChessState, tree: Sequence[tuple[int, int]], solved: bool, title: str) -> str:
    """Positions from left to right and from top to bottom, numbered in the order in which they were entered; the root
    has no number. Dead ends are red, the solution is green. `tree` is that of `search.Found`;
    `solved` says that its last position is the solution. Every position carries its number as `data-step`."""
    states = [state]
    children: list[list[int]] = [[] for _ in tree]
    for number, (parent, action) in enumerate(tree[1:], 1):
        after = states[parent].clone()
        after.apply(action)
        states.append(after)
        children[parent].append(number)
    places: dict[int, tuple[float, float]] = {}
    leaves = 0.0
    # A parent has a lower number than its children, so going backwards settles these first; but leaves must be counted
    # from left to right, which is the order of the tree.
    order: list[tuple[int, int]] = []
    stack = [(0, 0)]
    while stack:
        number, depth = stack.pop()
        order.append((number, depth))
        stack += [(child, depth + 1) for child in reversed(children[number])]
    for number, depth in order:
        if not children[number]:
            places[number] = (leaves, depth)
            leaves += 1
    for number, depth in reversed(order):
        if children[number]:
            across = [places[child][0] for child in children[number]]
            places[number] = ((across[0] + across[-1]) / 2, depth)
    on_path = set()
    at = len(tree) - 1 if solved else -1
    while at >= 0:
        on_path.add(at)
        at = tree[at][0]

    deepest = max(depth for _, depth in order)
    canvas = draw.Canvas(max(leaves * _WIDTH, 6) + 0.4, (deepest + 1) * _HEIGHT + 0.9, title)
    canvas.text(canvas.width / 2, 0.4, title, 0.36, extra='font-weight="600"')

    def corner(number: int) -> tuple[float, float]:
        across, down = places[number]
        return 0.2 + across * _WIDTH + (_WIDTH - _BOARD) / 2, 0.9 + down * _HEIGHT

    for number in range(1, len(tree)):
        (x1, y1), (x2, y2) = corner(tree[number][0]), corner(number)
        colour = draw.HIGHLIGHTS["good"] if number in on_path else draw.LINE
        canvas.line(x1 + _BOARD / 2, y1 + _BOARD, x2 + _BOARD / 2, y2 - 0.34, colour, 0.05, f'data-step="{number}"')
    for number in range(len(tree)):
        x, y = corner(number)
        dead = not children[number] and number not in on_path
        canvas.add(f'<g data-step="{number}">')
        _small_board(canvas, states[number], x, y, "good" if number in on_path else "bad" if dead else None)
        if number:
            name = states[tree[number][0]].action_name(tree[number][1])
            canvas.text(x + _BOARD / 2, y - 0.17, f"{number}. {name}", 0.24)
        canvas.add("</g>")
    return canvas.render()


def _small_board(canvas: draw.Canvas, state: SolitaireChessState, x: float, y: float, kind: str | None) -> None:
    game = state.game
    size = _BOARD / max(game.rows, game.columns)
    for cell, letter in enumerate(state.kinds):
        row, column = divmod(cell, game.columns)
        fill = draw.DARK if (row + column) % 2 else draw.LIGHT
        canvas.rect(x + column * size, y + row * size, size, size, fill)
        if letter >= 0:
            piece = "KQRBNP"[letter]
            draw.chess_piece(canvas, x + (column + 0.5) * size, y + (row + 0.5) * size, piece, size=size * 0.96)
    stroke = draw.HIGHLIGHTS[kind] if kind else draw.LINE
    edge = f'stroke="{stroke}" stroke-width="{0.07 if kind else 0.03}"'
    canvas.rect(x, y, size * game.columns, size * game.rows, "none", extra=edge)
