"""Every item of every paper stands in the table that ends its study's page and its part of the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rookery.studies.paper import Item, Paper, paper_of

ROOT = Path(__file__).parent.parent

ITEMS = {
    "solitaire_chess": [f"Figure {n}" for n in range(1, 6)],
    "checkers": [
        *(f"Figure {n}" for n in range(1, 6)), *(f"Table {n}" for n in range(1, 5)), "Algorithm 1", "Algorithm 2",
    ],
    "morpion": ["Algorithm 7", "Equation 7.1", "Figure 7.1", "Figure 7.2", "Table 7.1"],
    "endgames": [
        *(f"Equation 2.{n}" for n in range(1, 5)), "Algorithm 2.1", "Figure 2.1",
        *(f"Figure 3.{n}" for n in range(1, 6)), "Table 3.1", "Table 3.2",
    ],
    "tenten": [
        *(f"Algorithm {n}" for n in range(1, 4)), *(f"Figure {n}" for n in range(1, 18)),
        *(f"Table {n}" for n in range(1, 5)),
    ],
}  # fmt: skip
"""What each paper numbers, read off the papers."""

PAPERS = {"solitaire_chess": "000", "checkers": "001", "morpion": "002", "endgames": "003", "tenten": "004"}


@pytest.mark.parametrize("game", ITEMS)
def test_every_numbered_item_has_a_row(game: str) -> None:
    paper = paper_of(game)
    assert paper, f"src/rookery/games/{game}/paper.py is missing"
    assert numbered(", ".join(item.name for item in paper.items)) >= set(ITEMS[game])
    assert all(item.here and item.faithful for item in paper.items)


@pytest.mark.parametrize("game", ITEMS)
def test_the_page_ends_with_the_table(game: str) -> None:
    paper = paper_of(game)
    page = (ROOT / "docs" / "studies" / f"{game}.md").read_text()
    assert paper
    assert page.endswith(f"\n## The paper, item by item\n\n{paper.markdown()}\n"), (
        f"paste what `python -m rookery.studies.paper {game}` prints at the end of docs/studies/{game}.md"
    )


@pytest.mark.parametrize("game", ITEMS)
def test_files_and_settings_named_in_the_table_exist(game: str) -> None:
    paper = paper_of(game)
    assert paper
    for name in re.findall(r"`((?:src|native|tests|docs|examples)/[\w./-]+)`", paper.markdown()):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("game", ITEMS)
def test_the_list_of_items_is_the_papers_own(game: str) -> None:
    found = sorted((ROOT.parent / "shared" / "papers").glob(f"{PAPERS[game]}_*.txt"))
    if not found:
        pytest.skip("the papers are not part of the project")
    assert numbered(found[0].read_text()) <= set(ITEMS[game])


def numbered(text: str) -> set[str]:
    """The numbered items that a text names."""
    names = {"fig": "Figure", "figure": "Figure", "table": "Table", "algorithm": "Algorithm", "equation": "Equation"}
    found = re.findall(r"\b(fig|figure|table|algorithm|equation)\b\.?[ \t]+(\d+(?:\.\d+)?)", text, re.IGNORECASE)
    return {f"{names[kind.lower()]} {number}" for kind, number in found}


def test_cells_cannot_break_the_table_or_the_page() -> None:
    paper = Paper("<b>", "A & B", 2020, (Item("Table 1", "`a | b`", "<script>"),))
    assert paper.markdown().splitlines()[-1] == r"| Table 1 | `a \| b` | <script> |"
    assert "<script>" not in paper.html()
    assert "<code>a | b</code>" in paper.html()
    assert "&lt;b&gt;" in paper.html()


def test_a_package_without_a_paper() -> None:
    assert paper_of("no_such_game") is None


@pytest.mark.parametrize("game", ITEMS)
def test_the_paper_can_be_cited(game: str) -> None:
    paper = paper_of(game)
    assert paper
    citation = " ".join((ROOT / "CITATION.cff").read_text(encoding="utf-8").split())
    title = paper.title.partition(" (chapter")[0]
    assert title in citation
    assert f"Remade by the study {game.replace('_', '-')}." in citation
    for author in re.split(r",| and ", paper.authors):
        assert f"family-names: {author.split()[-1]}" in citation
