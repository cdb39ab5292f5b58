"""Commands for Morpion Solitaire."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from tyro.conf import Positional

from rookery._native import Control
from rookery.cli.base import DEFAULTS, Answer, Commands, Options, progress
from rookery.cli.morpion_picture import picture
from rookery.games import morpion
from rookery.games.morpion import RECORDS, UPPER_BOUNDS
from rookery.search.morpion import Campaign, Method, Settings

Variant = Literal["5D", "5T", "4D", "4T"]
File = Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")]

_MAX_BYTES = 10_000_000


def _text(file: Path) -> str:
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{file} is larger than {_MAX_BYTES:,} bytes, which no record or drawing is")
    return file.read_text(encoding="utf-8", errors="replace")


def verify(file: File, *, variant: Variant | None = None, common: Options = DEFAULTS) -> Answer:
    """Check a record move by move: a Pentasol file, or a drawing of ours that carries one.

    The referee's rules are written apart from those that searches use. The exit code is 0 if every move is legal, 1 if
    one is not (the answer names the first), 2 if the file is no record.

    Args:
        file: A `.psol` or `.svg` file.
        variant: Rules to check by; files of ours say their own, another one is 5D if not told otherwise.
    """
    result = morpion.verify(_text(file), variant)

    def show(console: Console) -> None:
        if result.legal:
            end = "no move is left" if result.terminal else "moves are left"
            console.print(f"legal: {result.score} moves, {end}")
        else:
            console.print(f"not legal after {result.score} moves: {result.first_illegal}", markup=False)

    return Answer(asdict(result), show, exit_code=0 if result.legal else 1)


def search(
    *,
    variant: Variant = "5D",
    method: Method = "repair",
    level: int = 3,
    runs: int | None = None,
    time: float | None = None,
    threads: int = 0,
    out: Path | None = None,
    resume: bool = False,
    common: Options = DEFAULTS,
) -> Answer:
    """Search for a long game, run after run; shows the best grid while it grows.

    Run i has the seed of the command plus i. With `--out` everything is saved after every run and at every better
    grid: nothing that was found is lost by Ctrl-C or a kill, and `--resume` goes on with the next seed. So a search can
    last for days: `rookery search morpion --time 1000000 --out days/5D.json --resume`.

    Example: rookery search morpion --variant 5T --time 600 --out 5T.json

    Args:
        variant: Rules to play by.
        method: `repair` destroys and repairs parts of a grid; `nrpa`, `beam-nrpa` and `nmcs` are nested searches.
        level: A run makes 100 to the power of this many playouts; NMCS nests this deep.
        runs: Number of runs; one if there is no `--time` either.
        time: Seconds after which to stop.
        threads: Runs at a time; 0 means one for every core.
        out: JSON file for what was done; the best grid is written beside it as `.psol` and `.svg`.
        resume: Go on with the search that `--out` holds, if it is there.
    """
    for name, value in (("runs", runs), ("time", time), ("threads", threads)):
        if value is not None and value < 0:
            raise ValueError(f"the option --{name} must not be negative, and is {value:g}")
    if runs is None and time is None:
        runs = 1
    campaign = Campaign(Settings(variant, method, level, common.seed), out, resume)
    console = progress()
    interrupted = False
    with Live(console=console, refresh_per_second=4, transient=True, vertical_overflow="crop") as live:
        shown = _Shown(campaign)
        try:
            campaign.go(runs, time, threads, lambda control: live.update(shown.now(control)))
        except KeyboardInterrupt:
            interrupted = True
    if campaign.found is None:
        raise ValueError("the time was too short for a single game")
    if campaign.verdict:
        console.print(f"[bold]{campaign.verdict}[/bold]")
    state = campaign.state
    data = {
        "score": campaign.best.score,
        "moves": [state.action_name(action) for action in state.moves],
        "playouts": campaign.playouts,
        "seconds": round(campaign.seconds, 3),
        "best": asdict(campaign.best),
        "runs": [asdict(run) for run in campaign.runs],
        "record": RECORDS[variant],
        "upper_bound": UPPER_BOUNDS[variant],
        "interrupted": interrupted,
    }

    def show(console: Console) -> None:
        console.print(picture(state))
        console.print(shown.line())
        if out:
            console.print(f"the grid: {out.with_suffix('.psol')} and {out.with_suffix('.svg')}")

    return Answer(data, show, exit_code=130 if interrupted else 0)


class _Shown:
    """What a person sees while a search goes on."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign, self.begin = campaign, time.monotonic()
        self.drawn: tuple[int, Text] = 0, Text()

    def now(self, control: Control) -> Group:
        if self.campaign.found and self.drawn[0] != self.campaign.found.score:
            self.drawn = self.campaign.found.score, picture(self.campaign.state)
        rate = control.done / max(time.monotonic() - self.begin, 1e-9)
        return Group(self.drawn[1], Text(f"{self.line()}, {rate:,.0f} playouts/s"))

    def line(self) -> str:
        campaign = self.campaign
        variant = campaign.settings.variant
        best = f"best {campaign.found.score} (seed {campaign.found.seed})" if campaign.found else "no game yet"
        mean = f", mean {sum(run.score for run in campaign.runs) / len(campaign.runs):.2f}" if campaign.runs else ""
        return (
            f"{variant} {campaign.settings.method}: {best}, record {RECORDS[variant]}; {len(campaign.runs)} runs done{mean}, "
            f"{campaign.seconds:.0f} s, {campaign.playouts:,} playouts"
        )


COMMANDS: Commands = {"verify": {"morpion": verify}, "search": {"morpion": search}}
