"""An opening book of our own making: the first moves of checkers that a long search finds about as good as the best.

>>> first = load()[str(Checkers().initial_state())]
>>> max(first, key=first.get)
'11-15'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.files import write_text
from rookery.games.checkers import MODELS
from rookery.games.checkers.rules import Checkers

if TYPE_CHECKING:
    from rookery.games.checkers.agents import EngineAgent

SHIPPED = MODELS / "book.json"

Book = Mapping[str, Mapping[str, float]]
"""By position, as FEN: the moves to choose from, each with its value."""


def build(judge: EngineAgent, plies: int, margin: float) -> Iterator[tuple[str, dict[str, float]]]:
    """The positions of the book, breadth first: the start, and what the moves of the book lead to.

    A move belongs to it if it is worth at most `margin` less than the best one.
    """
    game = Checkers()
    layer = {str(game.initial_state())}
    for _ in range(plies):
        following = set()
        for fen in sorted(layer):
            state = game.parse_state(fen)
            values = judge.values(state)
            top = max(values.values())
            chosen = {state.action_name(a): round(v, 4) for a, v in values.items() if v >= top - margin}
            yield fen, chosen
            for name in chosen:
                after = state.clone()
                after.apply(after.parse_action(name))
                following.add(str(after))
        layer = following


def save(path: Path, book: Book, info: Mapping[str, Any]) -> None:
    """Write a book and how it was made."""
    lines = ",\n".join(f"  {json.dumps(fen)}: {json.dumps(moves)}" for fen, moves in book.items())
    write_text(path, f'{{\n "info": {json.dumps(info)},\n "moves": {{\n{lines}\n }}\n}}\n')


@cache
def load(path: Path = SHIPPED) -> Book:
    """A book from its file."""
    try:
        book: Book = json.loads(path.read_text(encoding="utf-8"))["moves"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a book: {error}") from None
    return book
