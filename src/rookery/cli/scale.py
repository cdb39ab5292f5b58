"""Commands for what training and work in parts have left: runs and shards."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, Answer, Options, print_failures, print_table
from rookery.files import write_text
from rookery.report import html as report_html
from rookery.report import runs as report
from rookery.report.study import Table
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


def runs(
    folders: Annotated[tuple[Path, ...], Positional, tyro.conf.arg(metavar="FOLDER")] = (Path("runs"),),
    *,
    metric: str = "",
    compare: bool = False,
    plot: bool = False,
    html: Path | None = None,
    csv: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """List training runs; compare their settings and figures, and plot their curves.

    Example: rookery runs runs/a runs/b --plot --html runs.html

    Args:
        folders: Folders of runs, or folders that contain some.
        metric: Figure to show and to plot; the first that the runs report if not given.
        compare: Show the settings in which the runs differ.
        plot: Plot the metric in the terminal.
        html: File for a page with the table and the curves of all runs in one chart.
        csv: File for the table.
    """
    found = report.found_runs(folders)
    columns, rows = report.table(found, metric, compare)
    chosen = report.common_metric(found, metric) if metric or plot or html else ""
    if html:
        page = report.result(found, chosen, shlex.join(["rookery", "runs", *map(str, folders)]))
        write_text(html, report_html.page("Runs", page.html()))
    if csv:
        write_text(csv, Table("", columns, rows, "").csv())
    data = {
        "runs": [
            {
                "run": str(run.folder), "state": run.state, "curve": report.curve(run, chosen) if chosen else None,
                **{name: run.info.get(name) for name in
                   ("game", "variant", "method", "seed", "seconds", "started", "settings", "figures", "error")},
            }
            for run in found
        ],
        "metric": chosen or None,
    }  # fmt: skip

    def show(console: Console) -> None:
        print_table(console, columns, rows)
        if plot:
            console.print("\n" + report.text_plot(found, chosen, max(20, console.width - 12)), soft_wrap=True)
        for file in filter(None, (html, csv)):
            console.print(f"written: {file}")

    return Answer(data, show)
