"""Tables for a terminal that stay readable in 80 columns.

>>> print(table(("move", "value"), [("11-15", 0.25), ("9-14", 1200)], 80))
move   value
11-15   0.25
9-14   1,200

A table that is too wide becomes one paragraph per row:

>>> print(table(("move", "what it does"), [("11-15", "gives away a man")], 20))
move 11-15
  what it does:
    gives away a man
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

_NUMBER = re.compile(r"(= )?[-+<>~]?[\d,.]+(e[-+]?\d+)?( ?(%|s|ms|µs|M))?|-|")


class Exact(str):
    """A figure that was computed or proven and not sampled. It is marked by "=" wherever it is shown.

    >>> print(table(("rounds", "exact"), [("27,580 ± 31", Exact("27,601.4"))], 80))
    rounds            exact
    27,580 ± 31  = 27,601.4
    """


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def with_range(mean: float, low: float, high: float, digits: int = 1, unit: str = "") -> str:
    """A mean with its range or interval, which is left out where there is only one number.

    >>> with_range(51.6, 48.2, 55.0, unit="%"), with_range(51.6, 51.6, 51.6, unit="%")
    ('51.6% (48.2-55.0)', '51.6%')
    """
    shown = f"{mean:,.{digits}f}{unit}"
    return shown if low == high else f"{shown} ({low:,.{digits}f}-{high:,.{digits}f})"


def cell(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, Exact):
        return f"= {value}" if value else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return "" if value is None else str(value)


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> str:
    """Rows under named columns, numbers aligned on the right."""
    texts = [[cell(value) for value in row] for row in rows]
    widths = [max(len(name), *(len(row[i]) for row in texts), 0) for i, name in enumerate(columns)]
    if sum(widths) + 2 * (len(widths) - 1) > width:
        return "\n".join(_paragraph(columns, row, width) for row in texts)
    numeric = [bool(texts) and all(_NUMBER.fullmatch(row[i]) for row in texts) for i in range(len(columns))]

    def line(words: Sequence[str]) -> str:
        places = zip(words, widths, numeric, strict=True)
        return "  ".join(word.rjust(n) if right else word.ljust(n) for word, n, right in places).rstrip()

    return "\n".join([line(columns), *(line(row) for row in texts)])


def _paragraph(columns: Sequence[str], row: Sequence[str], width: int) -> str:
    """One row: its first value, and below it the others with the names of their columns."""
    lines = textwrap.wrap(f"{columns[0]} {row[0]}".strip(), width)
    for name, value in zip(columns[1:], row[1:], strict=True):
        if not value:
            continue
        if len(name) + len(value) + 4 <= width:
            lines.append(f"  {name}: {value}")
        else:
            lines += textwrap.wrap(f"{name}:", width, initial_indent="  ", subsequent_indent="  ")
            lines += textwrap.wrap(value, width, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)
