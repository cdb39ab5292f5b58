"""What a study hands over: tables beside the paper's numbers, and figures."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from rookery.files import write_text
from rookery.report import html, text


@dataclass(frozen=True)
class Table:
    """Rows of text under named columns; `command` remakes it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    command: str
    note: str = ""
    """What a reader must know: numbers of games, seeds, where the paper is wrong."""

    def html(self) -> str:
        note = f"<p class='note'>{escape(self.note)}</p>" if self.note else ""
        remake = f"<p class='note'><code>{escape(self.command)}</code></p>"
        return f"<h3>{escape(self.title)}</h3>{html.table(self.columns, self.rows)}{note}{remake}"

    def csv(self) -> str:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([self.columns, *self.rows])
        return buffer.getvalue()


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG."""

    svg: str
    caption: str
    wide: bool = False
    """A chart that needs the width of the page."""


@dataclass(frozen=True)
class Result:
    """One study's outcome; `error` says why it failed, if it did."""

    name: str
    title: str
    seed: int
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    seconds: float = 0.0
    error: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    paper: str = ""
    """HTML that says, item by item, how the study differs from its paper."""

    def data(self) -> dict[str, Any]:
        """The result as JSON values, every table as columns and rows."""
        tables = [
            {"title": t.title, "columns": list(t.columns), "rows": [list(r) for r in t.rows]} for t in self.tables
        ]
        return {
            "name": self.name, "seed": self.seed, "seconds": round(self.seconds, 3), "settings": self.settings,
            "tables": tables, "error": self.error,
        }  # fmt: skip

    def html(self) -> str:
        failure = f"<p><strong>This study failed: {escape(self.error)}</strong></p>" if self.error else ""
        figures = "".join(html.figure(figure.svg, figure.caption, figure.wide) for figure in self.figures)
        boards = f"<div class='boards'>{figures}</div>" if figures else ""
        tables = "".join(table.html() for table in self.tables)
        footer = f"<p class='note'>Seed {self.seed}, {self.seconds:.1f} s.</p>"
        head = f"<h2>{escape(self.title)}</h2>{failure}"
        return f"<section id='{escape(self.name)}'>{head}{tables}{boards}{self.paper}{footer}</section>"

    def show(self, console: Console) -> None:
        """Print every table with its note as a paragraph below it."""
        for table in self.tables:
            console.print(Text(f"\n{table.title}", "bold"))
            console.print(text.table(table.columns, table.rows, console.width), soft_wrap=True)
            for line in textwrap.wrap(table.note, console.width):
                console.print(Text(line, "dim"))
        if self.error:
            console.print(f"The study {self.name} failed: {self.error}")

    def _repr_html_(self) -> str:
        return self.html()

    def write_csv(self, folder: Path) -> None:
        for number, table in enumerate(self.tables, 1):
            write_text(folder / f"{self.name}-{number}.csv", table.csv())
