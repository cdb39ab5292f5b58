"""Tables in the pages of the documentation that a command makes anew."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def put(page: str, command: str, text: str) -> None:
    """Put a text into a page of docs/, between the marks of the command that makes it."""
    begin, end = f"<!-- made by `{command}` -->\n", "<!-- end -->\n"
    file = DOCS / page
    before, found, rest = file.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise ValueError(f"{file} has no part for `{command}`")
    file.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")
