"""What a study hands over: tables beside the paper's numbers, and figures."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

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

    def html(self, opened: bool = True) -> str:
        note = f"<p class='note'>{html.code(self.note)}</p>" if self.note else ""
        remake = f"<p class='note'><code>{escape(self.command)}</code></p>"
        body = f"{html.table(self.columns, self.rows)}{note}{remake}"
        return html.fold("table", f"<h3>{escape(self.title)}</h3>", body, opened)

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


Verdict = Literal["holds", "in part", "fails"]


@dataclass(frozen=True)
class Claim:
    """What a paper claims, beside what was found here and the exact answer."""

    claim: str
    """The paper's claim with its figure."""
    ours: str
    exact: str
    """`Exact` where the answer is known, and otherwise what is known about it."""
    verdict: Verdict
    why: str
    """The verdict in one sentence."""

    def html(self, paper: str = "") -> str:
        """A row of the report's first table; `paper` is the cell before it, if it has one."""
        verdict = f"<span class='verdict {self.verdict.replace(' ', '-')}'>{self.verdict}</span>"
        cells = {
            "its claim": escape(self.claim),
            "ours": html.marked(self.ours),
            "exact answer": html.marked(self.exact),
            "verdict": f"<div>{verdict}<small>{html.code(self.why)}</small></div>",
        }
        row = "".join(f"<td data-label='{name}'>{cell}</td>" for name, cell in cells.items())
        return f"<tr>{paper}{row}</tr>"


CLAIM_COLUMNS = ("paper", "its claim", "ours", "exact answer", "verdict")


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
    conclusion: str = ""
    """What was found, in a few sentences."""
    claims: Sequence[Claim] = ()
    """The paper's claims for the first page of the report."""
    citation: tuple[str, str] = ("", "")
    """The paper's authors with its year, and its title."""
    paper: str = ""
    """HTML that says, item by item, how the study differs from its paper."""

    def data(self) -> dict[str, Any]:
        """The result as JSON values, every table as columns and rows."""
        tables = [
            {"title": t.title, "columns": list(t.columns), "rows": [list(r) for r in t.rows]} for t in self.tables
        ]
        return {
            "name": self.name, "seed": self.seed, "seconds": round(self.seconds, 3), "settings": self.settings,
            "tables": tables, "error": self.error, "conclusion": self.conclusion,
            "claims": [asdict(claim) for claim in self.claims],
        }  # fmt: skip

    def body(self) -> str:
        """What was found, the figures, and every table as a fold, the first one open."""
        failure = f"<p><strong>This study failed: {escape(self.error)}</strong></p>" if self.error else ""
        conclusion = f"<p class='conclusion'>{html.code(self.conclusion)}</p>" if self.conclusion else ""
        figures = "".join(html.figure(figure.svg, figure.caption, figure.wide) for figure in self.figures)
        boards = f"<div class='boards'>{figures}</div>" if figures else ""
        tables = "".join(table.html(opened=number == 0) for number, table in enumerate(self.tables))
        footer = f"<p class='note'>Seed {self.seed}, {self.seconds:.1f} s.</p>"
        return f"{failure}{conclusion}{tables}{boards}{self.paper}{footer}"

    def claims_html(self) -> str:
        """The rows of the report's first table, below each other beside the name of the paper."""
        authors, title = map(escape, self.citation)
        name = f"<cite><a href='#{escape(self.name)}'>{authors}</a></cite><small>{title}</small>"
        paper = f"<td rowspan='{len(self.claims)}' data-label='paper'>{name}</td>"
        return "".join(claim.html("" if number else paper) for number, claim in enumerate(self.claims))

    def html(self) -> str:
        return f"<section id='{escape(self.name)}'><h2>{escape(self.title)}</h2>{self.body()}</section>"

    def fold(self) -> str:
        """The study as a part of a report that opens when it is clicked; a link to its name opens it as well."""
        parts = text.counted(len(self.tables), "table"), text.counted(len(self.figures), "figure")
        head = f"<h2>{escape(self.title)}</h2><span>{', '.join(parts)}</span>"
        return html.fold("study", head, f"<div id='{escape(self.name)}'>{self.body()}</div>", opened=bool(self.error))

    def show(self, console: Console) -> None:
        """Print every table with its note as a paragraph below it."""
        for line in textwrap.wrap(self.conclusion, console.width):
            console.print(Text(line))
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
