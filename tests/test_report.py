"""The report: its first screen, its folds, its marks, on a phone and on paper."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rookery.report import plots
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import Exact
from rookery.studies import runner
from rookery.studies.sizes import SIZES
from tests.web.test_browser import AXE, CHROMIUM, axe, browser

__all__ = ["browser"]  # a fixture


def study(name: str) -> Result:
    def paint(figure: Any) -> None:
        plots.histogram(figure.subplots(), {f"way {i}": [1, 2, 2, 3] for i in range(4)}, 0, 5, "moves", "share (%)")

    columns = ["policy", "paper", "mean", "exact", "longest", "a column with a long name", "and another one of them"]
    row = ["<greedy> & co", "1,450.7", "1,020 ± 31", Exact("1,020.83"), "10,315", "1,234.5 to 5,678.9", ""]
    claim = Claim(
        "It is optimal: 1,450.7 rounds", "1,020 rounds", Exact("27,601.4 rounds"), "fails", "Use `--discount`."
    )
    return Result(
        name, f"The study of {name}", 0,
        [Table("First", columns, [row] * 5, "rookery reproduce", "See `this`."), Table("Second", columns, [row], "x")],
        [Figure(plots.draw(paint, 7, 3), "A figure", wide=True)], 1.0,
        conclusion="It is not optimal.", claims=[claim, claim], citation=("A. Author (2020)", "A <title>"),
    )  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Path:
    runner._write_report([study("one"), study("two")], SIZES["quick"], tmp_path)
    return tmp_path / "index.html"


def test_the_first_screen_names_papers_and_verdicts_before_the_contents_and_the_folds(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    order = [
        "<h1>",
        "A. Author (2020)",
        "A &lt;title&gt;",
        "verdict fails",
        "aria-label='Contents'",
        "details class='study'",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    first = text[text.index("<details class='study'") :]
    assert first.index("It is not optimal.") < first.index("&lt;greedy&gt; &amp; co")
    assert "<a href='#two'>" in text
    assert "<div id='two'>" in text  # inside the fold, so that a link opens it


def test_what_is_exact_is_marked_everywhere_and_plain_in_files(page: Path) -> None:
    result = study("one")
    assert "<span class='exact'>1,020.83</span>" in result.html()
    out = io.StringIO()
    result.show(Console(file=out, width=200))
    assert "= 1,020.83" in out.getvalue()
    assert "= 1,020.83" not in result.tables[0].csv()
    assert "1,020.83" in result.tables[0].csv()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
@pytest.mark.xdist_group("browser")
def test_it_is_readable_on_a_phone_and_on_paper(browser: Any, page: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 700}, reduced_motion="reduce")
    shown = context.new_page()
    shown.goto(page.as_uri())
    shown.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
    cell = shown.locator("details.study table.wide td:nth-child(4)").first
    assert cell.evaluate("cell => getComputedStyle(cell, '::before').content") == '"exact"'  # cards name their columns
    if AXE.exists():
        assert axe(shown, None) == []
    shown.goto("about:blank")
    shown.goto(page.as_uri())  # closed folds: paper shows what is in them
    printed = shown.pdf(format="A4")
    assert printed.count(b"/Subtype /Image") == 0  # hatched bars once made a report of 7 MB
    shown.emulate_media(media="print")
    assert shown.get_by_text("It is not optimal.").first.is_visible()
    context.close()


def test_a_link_of_the_contents_opens_a_fold(browser: Any, page: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("needs Debian's chromium")
    shown = browser.new_page()
    shown.goto(page.as_uri())
    assert not shown.locator("details.study").nth(1).evaluate("fold => fold.open")
    shown.get_by_role("navigation", name="Contents").get_by_role("link").nth(1).click()
    shown.wait_for_function("document.querySelectorAll('details.study')[1].open")
    shown.close()
