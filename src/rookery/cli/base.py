"""What every command shares.

A command is a function that returns an `Answer`: the JSON object, and how to show it to a person. It prints nothing on
standard output itself, so that `--json` gives one JSON object and nothing else; progress goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.game import Game, State


@dataclass(frozen=True)
class Common:
    seed: int = 0
    """Every result can be remade from its seed."""
    json: bool = False
    """Print one JSON object on standard output and nothing else there."""


Options = Annotated[Common, tyro.conf.arg(name="")]
DEFAULTS = Common()
GameName = Annotated[str, Positional, tyro.conf.arg(metavar="GAME")]


@dataclass(frozen=True)
class Answer:
    data: dict[str, Any] | Iterator[dict[str, Any]]
    """One JSON object, or many, one a line."""
    show: Callable[[Console], None] | None = None
    """How a person sees it; None prints the JSON."""
    exit_code: int = 0


Command = Callable[..., Answer]
Commands = dict[str, "Command | dict[str, Command]"]
"""By name; a dictionary inside holds the command's forms, such as `solve tenten` and `solve endgames`."""


def progress() -> Console:
    """Where progress and remarks go while a command works."""
    return Console(stderr=True)


def positions_from_stdin(game: Game) -> Iterator[tuple[str, State]]:
    """One position a line; an error names the line."""
    for number, line in enumerate(sys.stdin, 1):
        text = line.strip()
        if not text:
            continue
        try:
            yield text, game.parse_state(text)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
