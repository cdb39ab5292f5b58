"""Self-contained HTML pages: no external resources, readable on a phone, on paper, in light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from rookery.report.text import Exact

_STYLE = """
:root { color-scheme: light dark; --ink: #2c2a27; --paper: #faf8f3; --line: #d8d0bf; --soft: #675f52; --card: #fffdf8;
  --exact: #1f5f85; --good: #2d6a35; --part: #7d5a00; --bad: #a3341f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eae5da; --paper: #1e1d1b; --line: #45413a; --soft: #b3aa9a; --card: #262421;
    --exact: #8cc4e8; --good: #8fce96; --part: #e0b95a; --bad: #f0957f; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.2rem 1rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 1.6rem 0 .5rem; } h3 { font-size: 1rem; margin: 0; }
a { color: inherit; }
p.note, figcaption, footer { color: var(--soft); font-size: .9rem; max-width: 54rem; }
p.conclusion { font-size: 1.05rem; max-width: 54rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: left; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-size: .85rem; font-weight: 600; vertical-align: bottom; }
table.wide { font-size: .88rem; }
.exact { color: var(--exact); font-weight: 600; } .exact::before { content: "= "; }
.verdict { font-weight: 700; white-space: nowrap; }
.holds { color: var(--good); } .holds::before { content: "✓ "; }
.in-part { color: var(--part); } .in-part::before { content: "≈ "; }
.fails { color: var(--bad); } .fails::before { content: "✗ "; }
h1 + p { margin: 0 0 .6rem; } table.claims { font-size: .84rem; line-height: 1.35; }
.claims th, .claims td { padding-block: .22rem; }
.claims th:first-child { width: 20%; } .claims th:nth-child(2) { width: 26%; } .claims th:last-child { width: 23%; }
.claims cite { font-style: normal; font-weight: 600; display: block; }
.claims small { color: var(--soft); display: block; font-weight: 400; line-height: 1.35; }
nav ol { margin: 0; padding-left: 1.4rem; columns: 20rem; }
details { border-top: 1px solid var(--line); }
details.study { margin: .8rem 0; padding: 0 1rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
summary { cursor: pointer; padding: .5rem 0; } summary h2, summary h3 { display: inline; margin: 0; }
summary span { color: var(--soft); font-size: .9rem; margin-left: .6rem; }
summary:focus-visible, a:focus-visible { outline: 3px solid var(--exact); outline-offset: 2px; }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(16rem, 100%), 1fr)); gap: 1.2rem;
  margin: 1rem 0; }
figure { margin: 0; } figure.wide { grid-column: 1 / -1; max-width: 54rem; }
figure svg { width: 100%; height: auto; border-radius: 8px; } figure.wide svg { width: auto; max-width: 100%; }
code { font-size: .9em; overflow-wrap: anywhere; }
@media screen and (max-width: 44rem) {
  body { padding: 1rem .8rem 3rem; } details.study { padding: 0 .7rem; }
  figure.wide { overflow-x: auto; } figure.wide svg { max-width: none; min-width: 34rem; }
  table.wide, table.wide tbody { display: block; }
  table.wide thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.wide tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  table.wide td { display: grid; grid-template-columns: minmax(6rem, 2fr) 3fr; gap: .6rem; padding: .1rem 0;
    border: 0; overflow-wrap: anywhere; }
  table.wide td::before { content: attr(data-label); color: var(--soft); }
  table.wide td:first-child { display: block; font-weight: 600; } table.wide td:first-child::before { content: none; }
  table.wide td:empty { display: none; }
}
@media print {
  :root { --ink: #000; --paper: #fff; --card: #fff; --line: #bbb; --soft: #444; --exact: #1f5f85; }
  @page { margin: 14mm 12mm; }
  body { max-width: none; padding: 0; font-size: 9.5pt; line-height: 1.35; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  details.paper::details-content { display: none; }
  details.study { border: 0; padding: 0; break-before: page; }
  summary { list-style: none; } summary::marker { content: ""; }
  summary, h2, h3, thead { break-after: avoid; } figure, tr { break-inside: avoid; }
  .scroll { overflow: visible; } table { font-size: 8pt; } table.wide { font-size: 7pt; }
  th, td { padding: .15rem .4rem .15rem 0; overflow-wrap: break-word; } thead th { font-size: inherit; }
  p.note { font-size: 7.5pt; } p.conclusion { font-size: 10pt; } figcaption { font-size: 8pt; }
  .boards { grid-template-columns: repeat(4, 1fr); gap: .6rem; } figure.wide { max-width: 12.5cm; }
}
"""

WIDE = 4
"""Tables with more columns become one block per row on a narrow screen."""


def marked(text: str) -> str:
    """Text with the mark of what is exact."""
    return f"<span class='exact'>{escape(text)}</span>" if isinstance(text, Exact) and text else escape(text)


def _cell(text: str, label: str) -> str:
    return f"<td data-label='{escape(label)}'>{marked(text)}</td>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table; the cells are text, and those that are `Exact` carry its mark."""
    head = "".join(f"<th scope='col'>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row, columns))}</tr>" for row in rows)
    wide = " class='wide'" if len(columns) > WIDE else ""
    inner = f"<table{wide}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='scroll' tabindex='0'>{inner}</div>"


def code(text: str) -> str:
    """Text with `backticks` as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def figure(svg: str, caption: str, wide: bool = False) -> str:
    """A drawing with a caption; boards stand side by side, wide ones alone."""
    kind = " class='wide' tabindex='0'" if wide else ""  # a narrow screen scrolls it
    return f"<figure{kind}>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def fold(kind: str, head: str, body: str, opened: bool = False) -> str:
    """A part that is shown when its head is clicked, and on paper."""
    return f"<details class='{kind}'{' open' if opened else ''}><summary>{head}</summary>{body}</details>"


def page(title: str, body: str) -> str:
    """A whole page around the given HTML."""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )
