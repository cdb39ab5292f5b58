"""Runs studies one after the other and writes their report."""

from __future__ import annotations

import json
import platform
import traceback
from collections.abc import Sequence
from datetime import date
from html import escape
from pathlib import Path

import numpy as np
from rich.console import Console

from rookery import __version__
from rookery.files import write_text
from rookery.progress import cores
from rookery.report import html
from rookery.report.study import CLAIM_COLUMNS, Result
from rookery.studies import run_study
from rookery.studies.sizes import Size


def run_studies(
    names: Sequence[str], size: Size, seed: int, folder: Path, console: Console, on: str = "here"
) -> list[Result]:
    """Run the named studies and write `index.html`, `report.json` and the tables as CSV into `folder`.

    A study that fails does not take the others down: its result says why, and the traceback lies in `NAME-error.txt`.
    """
    results = []
    for name in names:
        try:
            result = run_study(name, size, seed, folder / name, console, on)
        except Exception as error:  # whatever a study raises belongs into the report
            write_text(folder / f"{name}-error.txt", traceback.format_exc())
            result = Result(name, name, seed, error=f"{type(error).__name__}: {error}")
        result.write_csv(folder)
        results.append(result)
        _write_report(results, size, folder)
    return results


def _write_report(results: Sequence[Result], size: Size, folder: Path) -> None:
    made = f"{_versions()}; size {size.name}, {sum(result.seconds for result in results):.0f} s in all, {date.today()}."
    body = (
        "<h1>Rookery: published claims, measured again</h1>"
        "<p>Programs learn to play finite board games and puzzles; here is how far from perfect they still are.</p>"
        f"{_claims(results)}{_contents(results)}{''.join(result.fold() for result in results)}"
        f"<footer><p>{escape(made)}</p></footer>"
    )
    write_text(folder / "index.html", html.page("Rookery: report", body))
    data = {"versions": _versions(), "size": size.name, "studies": [result.data() for result in results]}
    write_text(folder / "report.json", json.dumps(data, indent=1))


def _claims(results: Sequence[Result]) -> str:
    """The first screen: what the papers claim, and what became of it."""
    rows = "".join(result.claims_html() for result in results)
    if not rows:
        return ""
    head = "".join(f"<th scope='col'>{name}</th>" for name in CLAIM_COLUMNS)
    table = f"<table class='wide claims'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    note = (
        "<span class='exact'>marks</span> what is exact, here and in every table: computed over all positions or "
        "proven, not sampled. Numbers in parentheses are 95% intervals unless a note says otherwise."
    )
    return f"<div class='scroll'>{table}</div><p class='note'>{note}</p>"


def _contents(results: Sequence[Result]) -> str:
    links = "".join(f"<li><a href='#{escape(r.name)}'>{escape(r.title)}</a></li>" for r in results)
    return f"<nav aria-label='Contents'><h2>Contents</h2><ol>{links}</ol></nav>"


def _versions() -> str:
    machine = f"{cores()} cores, {platform.system()} {platform.machine()}"
    return f"rookery {__version__}, Python {platform.python_version()}, numpy {np.__version__}, {machine}"
