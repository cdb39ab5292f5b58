"""The paper's whole grid against Stockfish itself: every endgame, version of the agent and start.

It takes days at the paper's size and may be interrupted at any time: the next run continues from the same folder. The
quick size is a slice of it that takes less than three minutes.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from rookery.games.endgames.stockfish import Stockfish
from rookery.games.endgames.study import Plan, against_stockfish
from rookery.report.study import Result
from rookery.studies.sizes import Size


def run(size: Size, seed: int, folder: Path, console: Console) -> Result:
    """Learn against Stockfish and make the paper's table."""
    begin = time.perf_counter()
    plan, minutes = (Plan(1, 1, 20), 2.5) if size.name == "quick" else (Plan(), float("inf"))
    command = f"rookery reproduce endgames-stockfish{size.flag} --seed {seed}"
    with Stockfish() as stockfish, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        table = against_stockfish(folder, stockfish, plan, seed, minutes, command, bar)
    title = "Chess endgames: Q-learning against Stockfish"
    return Result("endgames-stockfish", title, seed, [table], seconds=time.perf_counter() - begin)
