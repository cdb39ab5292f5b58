"""Commands for 1010! alone."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress
from rookery.games.tenten import exact
from rookery.games.tenten.rules import PIECE_SETS, TenTen


def solve(
    *,
    size: str = "4",
    pieces: str = "seven",
    objective: Literal["survival", "r1", "r2", "r3"] = "survival",
    discount: float | None = None,
    out: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Solve 1010! on a small board: the best policy, its value and its mean number of rounds.

    Example: rookery solve tenten --size 4 --pieces seven --objective r1 --discount 0.8

    A table of one number per board is made: 2^25 of them for 5x5, a quarter of a gigabyte for survival, about a minute;
    2^30 for 5x6, four gigabytes.

    Args:
        size: Side of the board, or rows and columns such as 5x6.
        pieces: Piece set: three, seven, full or no-3x3.
        objective: survival for the most rounds; r1, r2 and r3 are the paper's rewards.
        discount: Worth of the next round beside this one; 1 for survival, 0.9 for the rewards if not given.
        out: File to keep the table in. It is written while the table is made, so a run that is stopped
            resumes; the agent oracle:FILE plays by it.
    """
    rows, columns = _parse_size(size)
    if pieces not in PIECE_SETS:
        raise ValueError(f"unknown piece set {pieces!r}; known sets: {', '.join(PIECE_SETS)}")
    game = TenTen(rows, columns, pieces)
    exact.check_feasible(game, objective)
    console = progress()
    with console.status("solving") as status:

        def report(sweep: int, low: float, high: float) -> None:
            status.update(f"sweep {sweep}: value of the empty board between {low:,.6g} and {high:,.6g}")

        solution = exact.solve(game, objective, discount, file=out, seed=common.seed, progress=report)
    low, high = solution.mean_rounds_interval
    simulated = objective != "survival" and rows * columns > exact.EXACT_EVALUATION_CELLS
    data: dict[str, Any] = {
        "rows": rows, "columns": columns, "pieces": pieces, "objective": objective, "discount": solution.discount,
        "value_empty": solution.value_empty, "error_bound": solution.error_bound,
        "mean_rounds": _finite(solution.mean_rounds), "mean_rounds_interval": [_finite(low), _finite(high)],
        "mean_rounds_simulated": simulated, "sweeps": solution.sweeps, "seconds": solution.seconds,
        "table_bytes": solution.values.nbytes,
    }  # fmt: skip

    def show(console: Console) -> None:
        meaning = exact.OBJECTIVES[objective].meaning
        console.print(f"1010! {rows}x{columns}, pieces {pieces}, {objective} ({meaning}), discount {solution.discount}")
        console.print(f"value of the empty board: {solution.value_empty:,.9g} ± {solution.error_bound:.2g}")
        how = "95% interval from games" if simulated else "bounds"
        console.print(f"mean rounds of the policy: {solution.mean_rounds:,.2f} ({how} {low:,.6g} to {high:,.6g})")
        console.print(f"{solution.sweeps} sweeps in {solution.seconds:.2f} s")
        if out:
            console.print(f"the table is in {out}")

    return Answer(data, show)


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,2})(?:x(\d{1,2}))?", text)
    if not match:
        raise ValueError(f"the size is a side such as 4 or rows and columns such as 5x6, not {text!r}")
    rows = int(match[1])
    return rows, int(match[2] or rows)


COMMANDS: Commands = {"solve": solve}
