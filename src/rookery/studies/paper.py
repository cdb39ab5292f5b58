"""What a paper shows, item by item, and where it is here.

`paper.py` in a game's folder holds a `PAPER`. Its table ends the game's part of the report and the study's page in the
documentation; `python -m rookery.studies.paper GAME` prints it as the page needs it.

>>> paper = Paper("A paper", "A. Author", 2020, (Item("Figure 1", "`rookery show`", "faithful"),))
>>> print(paper.markdown())
| in the paper | here | faithful, or how it differs and why |
|---|---|---|
| Figure 1 | `rookery show` | faithful |
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rookery.report.html import code, fold

COLUMNS = ("in the paper", "here", "faithful, or how it differs and why")


@dataclass(frozen=True)
class Item:
    """One algorithm, table, figure, output or interface of a paper."""

    name: str
    """As the paper calls it, such as "Figure 5" or "Table 3.2"."""
    here: str
    """The command, file or section that shows it."""
    faithful: str
    """"faithful", or how it differs and why."""


@dataclass(frozen=True)
class Paper:
    """A paper and everything in it that can be remade."""

    title: str
    authors: str
    year: int | None
    items: tuple[Item, ...]

    @property
    def citation(self) -> str:
        """The authors and the year, as a reference is cited."""
        return f"{self.authors}{f' ({self.year})' if self.year else ''}"

    def rows(self) -> list[tuple[str, str, str]]:
        return [(item.name, item.here, item.faithful) for item in self.items]

    def markdown(self) -> str:
        """The table of items; a bar inside a cell is written so that it does not end the cell."""
        cells = [[cell.replace("|", r"\|") for cell in row] for row in self.rows()]
        head, *body = [f"| {' | '.join(row)} |" for row in [COLUMNS, *cells]]
        return "\n".join([head, "|---|---|---|", *body])

    def html(self) -> str:
        """The table of items, folded away under the paper's name."""
        head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
        body = "".join(f"<tr>{''.join(f'<td>{code(cell)}</td>' for cell in row)}</tr>" for row in self.rows())
        table = f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        year = f" ({self.year})" if self.year else ""
        name = escape(f"{self.authors}: {self.title}{year}")
        return fold("paper", f"<h3>The paper, item by item</h3><span>{name}</span>", table)


def paper_of(package: str) -> Paper | None:
    """The paper of a game's package; None if it has none."""
    if not (Path(__file__).parent.parent / "games" / package / "paper.py").exists():
        return None
    paper: Paper = importlib.import_module(f"rookery.games.{package}.paper").PAPER
    return paper


if __name__ == "__main__":
    chosen = paper_of(sys.argv[1].replace("-", "_"))
    print(chosen.markdown() if chosen else f"{sys.argv[1]} has no paper.py")
