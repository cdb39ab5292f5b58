"""What every command shares.

A command is a function that returns an `Answer`: the JSON object, and how to show it to a person. It prints nothing on
standard output itself, so that `--json` gives one JSON object and nothing else; progress goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.game import Game, State
from rookery.progress import console
from rookery.report.text import table
from rookery.scale import Job, check_on, parse_shard

MAX_SEED = 2**62


@dataclass(frozen=True)
class Common:
    seed: int = 0
    """Every result can be remade from its seed."""
    json: bool = False
    """Print one JSON object on standard output and nothing else there."""

    def __post_init__(self) -> None:
        if not 0 <= self.seed < MAX_SEED:
            raise ValueError(f"the seed must be from 0 to 2^62 - 1, and is {self.seed}")


Options = Annotated[Common, tyro.conf.arg(name="")]
DEFAULTS = Common()


@dataclass(frozen=True)
class Place:
    """Where tasks run."""

    on: str = "processes"
    """Where to work: here, processes, processes:N, ray (a cluster on this machine) or ray:ADDRESS. Does not change the
    result."""
    shard: str | None = None
    """Do only part K of N, such as 3/8, and keep it in the folder; `rookery merge` puts the parts together."""
    timeout: float | None = None
    """Seconds after which a task counts as hanging, and is tried again, on processes and on Ray."""

    def __post_init__(self) -> None:
        check_on(self.on)
        parse_shard(self.shard)
        if self.timeout is not None and not 0 < self.timeout <= MAX_TIMEOUT:
            raise ValueError(
                f"the timeout must be above 0 and at most {MAX_TIMEOUT:,} seconds, and is {self.timeout:g}"
            )


MAX_TIMEOUT = 1_000_000
Where = Annotated[Place, tyro.conf.arg(name="")]
PROCESSES = Place()
HERE = Place("here")
GameName = Annotated[str, Positional, tyro.conf.arg(metavar="GAME")]


@dataclass(frozen=True)
class Answer:
    data: dict[str, Any] | Iterator[dict[str, Any]]
    """One JSON object, or many, one per line."""
    show: Callable[[Console], None] | None = None
    """How a person sees it; None prints the JSON."""
    exit_code: int = 0


Command = Callable[..., Answer]
Commands = dict[str, Command]
"""A game's own commands, by verb."""


def progress() -> Console:
    """The console for progress and remarks while a command works."""
    return console()


def print_table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table that stays readable in 80 columns."""
    console.print(table(columns, rows, console.width), soft_wrap=True)


def shard_answer(job: Job) -> Answer:
    """What a command says that has done one part of a job."""
    data = {"file": str(job.file), "done": len(job.rows), "of": len(job.tasks), "failed": job.failures}

    def show(console: Console) -> None:
        console.print(f"{len(job.rows)} of {len(job.tasks)} tasks of this part are done, in {job.file}")
        print_failures(console, job.failures)
        console.print("When all parts are done, `rookery merge` puts them together; the same command without --shard "
                      "and with --resume shows the result.")  # fmt: skip

    return Answer(data, show, exit_code=1 if job.failures else 0)


def print_failures(console: Console, failures: Mapping[str, str], most: int = 5) -> None:
    """Name the tasks that failed."""
    for key, error in list(failures.items())[:most]:
        console.print(f"failed: {key}: {error}", soft_wrap=True)
    if len(failures) > most:
        console.print(f"and {len(failures) - most} more that failed")


def many(game: Game, answer: Callable[[Any], dict[str, Any]], line: Callable[[dict[str, Any]], str]) -> Answer:
    """The answer to every position on standard input, one per line: as JSON, or in the words of `line`."""
    rows = ({"position": text} | answer(state) for text, state in positions_from_stdin(game))

    def show(console: Console) -> None:
        for row in rows:
            console.print(f"{row['position']}: {line(row)}", soft_wrap=True)

    return Answer(rows, show)


def positions_from_stdin(game: Game) -> Iterator[tuple[str, State]]:
    """One position per line; an error names the line."""
    for number, line in enumerate(sys.stdin, 1):
        text = line.strip()
        if not text:
            continue
        try:
            yield text, game.parse_state(text)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
