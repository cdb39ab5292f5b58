"""The report: its first screen, its folds, its marks, on a phone and on paper."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rookery.registry import load
from rookery.report import plots, text
from rookery.report import runs as report_runs
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import Exact
from rookery.run import Run
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
    shown = page.read_text(encoding="utf-8")
    order = [
        "<h1>",
        "A. Author (2020)",
        "A &lt;title&gt;",
        "verdict fails",
        "aria-label='Contents'",
        "details class='study'",
    ]
    places = [shown.index(part) for part in order]
    assert places == sorted(places)
    first = shown[shown.index("<details class='study'") :]
    assert first.index("It is not optimal.") < first.index("&lt;greedy&gt; &amp; co")
    assert "<a href='#two'>" in shown
    assert "<div id='two'>" in shown  # inside the fold, so that a link opens it


def test_what_is_exact_is_marked_everywhere_and_plain_in_files(page: Path) -> None:
    result = study("one")
    assert "<span class='exact'>1,020.83</span>" in result.html()
    out = io.StringIO()
    result.show(Console(file=out, width=200))
    assert "= 1,020.83" in out.getvalue()
    assert "= 1,020.83" not in result.tables[0].csv()
    assert "1,020.83" in result.tables[0].csv()


def test_tables_fit_the_terminal_exactly_or_become_paragraphs() -> None:
    columns, rows = ("name", "count", "share"), [("alpha", 12, 0.5), ("be", 3456, 0.125)]
    whole = text.table(columns, rows, 21)
    assert whole == "name   count  share\nalpha     12    0.5\nbe     3,456  0.125"
    assert text.table(columns, rows, 19) == whole, "as wide as the widest line"
    assert text.table(columns, rows, 18) == (
        "name alpha\n  count: 12\n  share: 0.5\nname be\n  count: 3,456\n  share: 0.125"
    )
    narrow = text.table(("name", "a long heading"), [("x", "words that are long"), ("y", "")], 16)
    assert narrow == "name x\n  a long\n  heading:\n    words that\n    are long\nname y"
    assert text.table(("a", "b"), [("x", "1 s"), ("y", "-")], 40) == "a    b\nx  1 s\ny    -"
    assert text.table(("a", "b"), [("x", "12 of 3"), ("y", "-")], 40) == "a  b\nx  12 of 3\ny  -"
    assert text.table(("a", "bc"), [], 40) == "a  bc"
    assert [text.cell(value) for value in (True, False, None, 1234567, 1234.5678, "x", Exact(""))] == [
        "yes", "no", "", "1,234,567", "1,234.57", "x", "",
    ]  # fmt: skip
    assert text.with_range(1234.5, 1, 2.25, digits=2) == "1,234.50 (1.00-2.25)"
    assert (text.counted(0, "run"), text.counted(2, "run")) == ("0 runs", "2 runs")


def axes_of(paint: Any) -> Any:
    """The axes that something was drawn on."""
    kept: list[Any] = []

    def draw(figure: Any) -> None:
        kept.append(figure.subplots())
        paint(kept[0])

    plots.draw(draw, 4, 3)
    return kept[0]


def test_curves_have_styles_of_their_own() -> None:
    curves = {name: ([1, 2], [n, n + 1]) for n, name in enumerate("abc")}
    axes = axes_of(lambda axes: plots.lines(axes, curves, "across", "up", "title", log_y=True))
    assert [line.get_label() for line in axes.lines] == ["a", "b", "c"]
    assert [list(line.get_ydata()) for line in axes.lines] == [[0, 1], [1, 2], [2, 3]]
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 3
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(), axes.get_yscale()) == (
        "across",
        "up",
        "title",
        "log",
    )
    assert axes_of(lambda axes: plots.lines(axes, curves, "x", "y")).get_yscale() == "linear"


def test_a_histogram_counts_what_lies_outside_at_its_ends() -> None:
    samples = {"one": [0, 1, 1, 9], "two": [2, 2, 3, -4, 2]}
    axes = axes_of(lambda axes: plots.histogram(axes, samples, 0, 5, "moves", "share", label_every=2))
    one, two = axes.containers
    assert [bar.get_height() for bar in one] == [25, 50, 0, 0, 0, 25]
    assert [bar.get_height() for bar in two] == [20, 0, 60, 20, 0, 0]
    width = one[0].get_width()
    for n, (left, right) in enumerate(zip(one, two, strict=True)):
        assert left.get_x() + width == pytest.approx(n), "side by side, and together in the middle of their number"
        assert right.get_x() == pytest.approx(n)
    assert 0.35 < width < 0.5
    assert [label.get_text() for label in axes.get_xticklabels()] == ["≤0", "2", "4", "≥5"]
    inside = axes_of(lambda axes: plots.histogram(axes, {"one": [1, 2]}, 1, 3, "", ""))
    assert [label.get_text() for label in inside.get_xticklabels()] == ["1", "2", "3"]
    [bars] = inside.containers
    assert bars[0].get_x() + bars[0].get_width() / 2 == pytest.approx(1)
    empty = axes_of(lambda axes: plots.histogram(axes, {"x": np.empty(0, np.int16)}, 0, 1, "", ""))
    assert [bar.get_height() for bar in empty.containers[0]] == [0, 0]


def test_parallel_coordinates() -> None:
    columns = {"rate": [0.001, 0.1, 0.01], "net": ["conv", "mlp", "conv"], "on": [True, False, True], "same": [5, 5, 5]}
    axes = axes_of(lambda axes: plots.parallel(axes, columns, log=["rate"]))
    upright = [line for line in axes.lines if len(set(line.get_xdata())) == 1]
    rows = [line for line in axes.lines if len(set(line.get_xdata())) > 1]
    assert [line.get_xdata()[0] for line in upright] == [0, 1, 2, 3]
    # The best row is drawn last, above the others, and the darkest.
    assert [list(line.get_ydata()) for line in rows] == [
        pytest.approx([0.5, 0, 1, 0.5]), pytest.approx([1, 1, 0, 0.5]), pytest.approx([0, 0, 1, 0.5]),
    ]  # fmt: skip
    shades = [sum(line.get_color()[:3]) for line in rows]
    assert shades == sorted(shades, reverse=True)
    assert rows[-1].get_color() == pytest.approx((0.1, 0.1, 0.1))
    assert rows[0].get_color() == pytest.approx((0.85, 0.82, 0.78))
    assert rows[-1].get_linewidth() > rows[0].get_linewidth()
    words = {(note.get_text(), tuple(note.xy)) for note in axes.texts}
    assert words == {
        ("0.001", (0, 0.0)), ("0.1", (0, 1.0)), ("conv", (1, 0.0)), ("mlp", (1, 1.0)), ("False", (2, 0.0)),
        ("True", (2, 1.0)), ("5", (3, 0.5)),
    }  # fmt: skip
    assert [label.get_text() for label in axes.get_xticklabels()] == list(columns)
    (low, high), (left, right) = axes.get_ylim(), axes.get_xlim()
    assert low < 0 < 1 < high
    assert left < 0 < 3 < right


def test_a_heat_map_names_its_shares() -> None:
    values = np.array([[0.0, 0.5], [1.2, np.nan]])
    axes = axes_of(lambda axes: plots.heat_map(axes, ["r1", "r2"], ["c1", "c2"], values))
    assert {(t.get_text(), t.get_position()) for t in axes.texts} == {("0", (0, 0)), ("50", (1, 0)), ("120", (0, 1))}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["c1", "c2"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["r1", "r2"]
    [image] = axes.images
    shades = np.ma.filled(image.get_array().astype(float), np.nan)
    np.testing.assert_array_equal(shades, [[0, 0.5], [1, np.nan]])
    low, high = image.get_clim()
    assert (low, high > 1) == (0, True), "so that black letters can be read on the darkest"


def test_the_same_figure_gives_the_same_text() -> None:
    def paint(figure: Any) -> None:
        plots.lines(figure.subplots(), {"a": ([1, 2], [3, 4])}, "x", "y")

    one = plots.draw(paint, 5, 2)
    assert one == plots.draw(paint, 5, 2)
    assert 'width="360pt"' in one
    assert 'height="144pt"' in one


@dataclass(frozen=True)
class Settings:
    rate: float
    games: int = 5


def run_of(folder: Path, number: int, rows: list[dict[str, Any]], **info: Any) -> Run:
    game = load("tenten", "4x4-seven")
    run = Run.create(folder / f"run-{number}", game, "lspi", Settings(number / 10), number, command="command")
    run.rows = rows
    run.write_metrics()
    run.note("done")
    run.info |= info
    run._write_info()
    return Run.open(folder / f"run-{number}")


def test_runs_are_compared_by_what_differs(tmp_path: Path) -> None:
    rows = [{"games": 10, "score": 1.0, "progress": 0.5}, {"games": 20, "score": 3.0, "progress": 1}]
    one = run_of(tmp_path, 1, rows, started=100.0, seconds=7.25)
    two = run_of(tmp_path, 2, [{"games": 10, "score": 2.0, "progress": 1}, {"games": 30, "score": 1234.5}],
                 started=200.0, seconds=3723)  # fmt: skip
    assert report_runs.differing([one, two]) == ["rate"]
    assert report_runs.differing([one]) == []
    columns, cells = report_runs.table([one, two], "score", compare=True)
    assert columns == ["run", "game", "method", "seed", "state", "time", "figure", "rate"]
    assert cells == [
        [str(one.folder), "tenten 4x4-seven", "lspi", "1", "done", "7.2 s", "score 3", "0.1"],
        [str(two.folder), "tenten 4x4-seven", "lspi", "2", "done", "1:02:03", "score 1,234.5", "0.2"],
    ]
    assert report_runs.table([one])[1][0][6] == "games 20"
    assert report_runs.table([one], "nothing")[1][0][6] == "-"
    assert (report_runs.elapsed(59.94), report_runs.elapsed(60)) == ("59.9 s", "0:01:00")
    assert report_runs.curve(one, "score") == ([10.0, 20.0], [1.0, 3.0])
    assert report_runs.common_metric([one, two]) == "games"
    assert report_runs.common_metric([one, two], "score") == "score"
    with pytest.raises(ValueError, match="no run reports 'loss'; all report games, score"):
        report_runs.common_metric([one, two], "loss")
    flat = run_of(tmp_path, 3, [{"score": 2.0, "again": 1}, {"score": 1.0, "again": 1}, {"note": "x"}])
    assert report_runs.curve(flat, "score") == ([0.0, 1.0], [2.0, 1.0])
    with pytest.raises(ValueError, match="report no figure in common"):
        report_runs.common_metric([one, flat])
    assert [run.folder for run in report_runs.found_runs([tmp_path])] == [flat.folder, two.folder, one.folder]
    with pytest.raises(ValueError, match="there is no run in"):
        report_runs.found_runs([tmp_path / "nowhere"])
    result = report_runs.result([one, two], "score", "command")
    assert result.tables[0].note == "Settings are shown where they differ."
    assert result.figures[0].caption == "score of 2 runs"
    assert report_runs.result([one, two], "nothing", "command").figures == []
    many = [one] * (len(plots.STYLES) + 1)
    assert (
        f"The chart has the newest {len(plots.STYLES)} runs." in report_runs.result(many, "score", "x").tables[0].note
    )


def test_curves_in_plain_text(tmp_path: Path) -> None:
    one = run_of(tmp_path, 1, [{"step": x, "score": float(y)} for x, y in ((0, 0), (5, 5), (10, 10))])
    two = run_of(tmp_path, 2, [{"step": x, "score": float(y)} for x, y in ((0, 10), (5, 5), (10, 0))])
    lines = report_runs.text_plot([one, two], "score", 11, 5).split("\n")
    assert lines == [
        "score",
        "10 |b         a",
        "   |",
        "   |     *",
        "   |",
        " 0 |a         b",
        "   +-----------",
        "    0        10",
        f"  a: {one.folder}",
        f"  b: {two.folder}",
    ]
    assert report_runs.text_plot([one], "nothing") == "no run reports nothing"
    level = run_of(tmp_path, 3, [{"step": 1, "score": 2.0}])
    assert report_runs.text_plot([level], "score", 4, 3).split("\n")[1:4] == ["2 |", "  |", "2 |a"]


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


@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium")
@pytest.mark.xdist_group("browser")
def test_a_link_of_the_contents_opens_a_fold(browser: Any, page: Path) -> None:
    shown = browser.new_page()
    shown.goto(page.as_uri())
    assert not shown.locator("details.study").nth(1).evaluate("fold => fold.open")
    shown.get_by_role("navigation", name="Contents").get_by_role("link").nth(1).click()
    shown.wait_for_function("document.querySelectorAll('details.study')[1].open")
    shown.close()
