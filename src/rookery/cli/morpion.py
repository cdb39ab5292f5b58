"""Commands for Morpion Solitaire."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Commands, Options
from rookery.games import morpion

_MAX_BYTES = 1_000_000


def verify(
    file: Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")],
    *,
    variant: Literal["5D", "5T", "4D", "4T"] | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Check a record move by move: a Pentasol file, or a drawing of ours that carries one.

    The exit code is 0 if every move is legal, 1 if one is not; the answer names the first.

    Args:
        file: A `.psol` or `.svg` file.
        variant: Rules to check by; a drawing says its own, a plain file is 5D if not told otherwise.
    """
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{file} is larger than {_MAX_BYTES:,} bytes, which no record is")
    result = morpion.verify(file.read_text(encoding="utf-8", errors="replace"), variant)

    def show(console: Console) -> None:
        if result.legal:
            end = "no move is left" if result.terminal else "moves are left"
            console.print(f"legal: {result.score} moves, {end}")
        else:
            console.print(f"not legal after {result.score} moves: {result.first_illegal}", markup=False)

    return Answer(asdict(result), show, exit_code=0 if result.legal else 1)


COMMANDS: Commands = {"verify": {"morpion": verify}}
