"""Commands for work that is spread over processes and machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Options, print_failures
from rookery.scale import jobs


def merge(
    parts: Annotated[tuple[Path, ...], Positional, tyro.conf.arg(metavar="FOLDER|FILE")],
    *,
    out: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Put the parts together that `--shard` has made, and name what is missing.

    Refuses parts of different jobs. The exit code is 0 if nothing is missing and 1 if something is. Afterwards the same
    command that made the parts, without --shard and with --resume, shows the result and does what is missing.
    Example: rookery merge runs/arena

    Args:
        parts: Folders with parts, or the parts themselves: files NAME-K-of-N.jsonl.
        out: Folder for the merged file; that of the first part if not given.
    """
    if not parts:
        raise ValueError("name the folders or files to merge")
    merged = [
        jobs.merge(files, (out or files[0].parent) / f"{name}.jsonl") for name, files in jobs.find_parts(parts).items()
    ]
    data = {
        "merged": [
            {
                "file": str(one.file), "rows": one.rows, "missing_parts": one.missing_parts, "missing": one.missing,
                "failed": one.failures,
            }
            for one in merged
        ]
    }  # fmt: skip

    def show(console: Console) -> None:
        for one in merged:
            console.print(f"{one.rows} rows in {one.file}")
            if one.missing_parts:
                console.print(f"parts that are missing: {', '.join(map(str, one.missing_parts))}", soft_wrap=True)
            if one.missing:
                more = f" and {len(one.missing) - 10} more" if len(one.missing) > 10 else ""
                console.print(f"not done: {'; '.join(one.missing[:10])}{more}", soft_wrap=True)
            print_failures(console, one.failures)

    return Answer(data, show, exit_code=0 if all(one.complete for one in merged) else 1)
