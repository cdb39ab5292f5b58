"""The studies: the experiments of one paper each, beside the paper's numbers.

A study is a module with a function `run(size, seed, folder, console) -> report.study.Result`. It keeps what it can
resume under `folder`, and shows its progress on `console`. One whose function also takes `on` does its cells on that
executor of `rookery.scale`. The study of a game is `study.py` in the game's folder; a
file `study_NAME.py` there is another one, called `GAME-NAME`, that runs only when it is named.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rookery.games import game_name
from rookery.method import suggestion
from rookery.progress import console as progress_console
from rookery.report.study import Result
from rookery.scale import check_on
from rookery.studies.sizes import SIZES, Size

_GAMES = Path(__file__).parent.parent / "games"


def studies() -> list[str]:
    """The studies that run if none is named, in the order of the report."""
    return ["overview", *(_name(file) for file in sorted(_GAMES.glob("*/study.py")))]


def all_studies() -> list[str]:
    """Every study by name."""
    return [*studies(), "cross", *(_name(file) for file in sorted(_GAMES.glob("*/study_*.py")))]


def _name(file: Path) -> str:
    return game_name(file.parent.name + file.stem.removeprefix("study"))


def run_study(name: str, size: Size, seed: int, folder: Path, console: Console, on: str = "here") -> Result:
    """Run one study; ValueError if it is unknown."""
    if name not in all_studies():
        raise ValueError(f"unknown study {name!r}{suggestion(name, all_studies(), 'studies')}")
    from rookery.studies.paper import paper_of  # here, so that `python -m rookery.studies.paper` works

    module, paper = f"rookery.studies.{name}", None
    for file in _GAMES.glob("*/study*.py"):
        if _name(file) == name:
            module = f"rookery.games.{file.parent.name}.{file.stem}"
            paper = paper_of(file.parent.name)
    run = importlib.import_module(module).run
    spread = {"on": check_on(on)} if "on" in inspect.signature(run).parameters else {}
    result: Result = run(size, seed, folder, console, **spread)
    return replace(result, paper=paper.html(), citation=(paper.citation, paper.title)) if paper else result


def study(name: str, size: str = "default", seed: int = 0, out: Path | str = "reports", on: str = "here") -> Result:
    """Run a study and return its tables and figures; a notebook shows them.

    `size` is "quick", "default" or "full"; what can be resumed is kept in a folder below `out`. `on` is the executor
    for cells of studies that have some.
    """
    if size not in SIZES:
        raise ValueError(f"unknown size {size!r}{suggestion(size, SIZES, 'sizes')}")
    return run_study(name, SIZES[size], seed, Path(out) / name, progress_console(), on)
