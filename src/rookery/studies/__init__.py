"""The studies: one file a paper, its experiments beside the paper's numbers.

A study is a module with a function `run(size, seed, folder, console) -> report.study.Result`. It keeps what it can
resume under `folder`, and shows its progress on `console`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from rookery.games.checkers import study as checkers
from rookery.games.endgames import study as endgames
from rookery.games.morpion import study as morpion
from rookery.games.solitaire_chess import study as solitaire_chess
from rookery.games.tenten import study as tenten
from rookery.report.study import Result
from rookery.studies import overview
from rookery.studies.sizes import SIZES, Size

Study = Callable[[Size, int, Path, Console], Result]

STUDIES: dict[str, Study] = {
    "overview": overview.run,
    "solitaire-chess": solitaire_chess.run,
    "checkers": checkers.run,
    "morpion": morpion.run,
    "endgames": endgames.run,
    "tenten": tenten.run,
}
"""Every study by name, in the order of the report."""

__all__ = ["SIZES", "STUDIES", "Size", "Study"]
