"""Self-contained HTML pages: no external resources, readable on a phone, on paper, in light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #2c2a27; --paper: #faf8f3; --line: #d8d0bf; --soft: #6f675a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eae5da; --paper: #1e1d1b; --line: #45413a; --soft: #a89f8f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .5rem; }
p.note, figcaption, footer { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: left; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 1.2rem; }
figure { margin: 0; } figure.wide { grid-column: 1 / -1; max-width: 54rem; }
figure svg { width: 100%; height: auto; border-radius: 8px; } figure.wide svg { width: auto; max-width: 100%; }
code { font-size: .9em; overflow-wrap: anywhere; }
@media print { body { max-width: none; } figure, table { break-inside: avoid; } }
"""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table; the cells are text."""
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def figure(svg: str, caption: str, wide: bool = False) -> str:
    """A drawing with a caption; boards stand side by side, wide ones alone."""
    kind = " class='wide'" if wide else ""
    return f"<figure{kind}>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def page(title: str, body: str) -> str:
    """A whole page around the given HTML."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )
