"""What a person sees of searches and comparisons."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rookery import draw
from rookery.cli import main
from rookery.games.morpion import commands
from rookery.games.morpion.rules import MorpionState
from rookery.games.morpion.search import shipped
from tests.commands import answer, check_refusal
from tests.games.drawing import middle, parts, places


def campaign(**changed: Any) -> Any:
    known: dict[str, Any] = {
        "settings": SimpleNamespace(variant="5D", method="repair"), "found": None, "runs": [], "seconds": 0.0,
        "playouts": 0, "verdict": "", "state": shipped("4D"),
    }  # fmt: skip
    return SimpleNamespace(**known | changed)


def test_a_line_about_a_search() -> None:
    assert commands._Shown(campaign()).line() == "5D repair: no game yet, record 82; 0 runs done, 0 s, 0 playouts"
    runs = [SimpleNamespace(score=60), SimpleNamespace(score=71), SimpleNamespace(score=71)]
    busy = campaign(found=SimpleNamespace(score=71, seed=3), runs=runs, seconds=12.4, playouts=12345)
    assert commands._Shown(busy).line() == (
        "5D repair: best 71 (seed 3), record 82; 3 runs done, mean 67.33, 12 s, 12,345 playouts"
    )


def test_what_is_shown_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(commands, "monotonic", lambda: now[0])
    growing = campaign(playouts=1000)  # of an earlier sitting
    shown = commands._Shown(growing)
    now[0], growing.playouts, growing.verdict = 104.0, 5000, "a record"
    growing.found = SimpleNamespace(score=35, seed=0)
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(shown.now())
    text = console.export_text()
    assert "5,000 playouts, 1,000 playouts/s" in text  # 4,000 in 4 seconds
    assert "a record" in text
    assert text.index("a record") < text.index("⠔")  # the line comes first
    assert shown.drawn[0] == 35


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return int(str(stop.value.code or 0)), " ".join(capsys.readouterr().out.split())


def test_comparisons_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    state = shipped("4D")
    one, turned, shorter = (tmp_path / name for name in ("one.psol", "turned.psol", "shorter.psol"))
    one.write_text(state.record())
    turned.write_text(state.transformed(2).record())
    shorter.write_text(MorpionState(state.game, state.moves[:-1]).record())
    assert said(capsys, "compare", "morpion", str(one), str(one)) == (0, "the same grid of 35 moves, as it is")
    code, text = said(capsys, "compare", "morpion", str(one), str(turned))
    assert (code, text) == (0, "the same grid of 35 moves, turned upside down, perhaps in another order")
    svg = tmp_path / "difference.svg"
    code, text = said(capsys, "compare", "morpion", str(one), str(shorter), "--svg", str(svg))
    assert code == 1
    assert text.startswith("35 and 34 moves; 34 lines shared with the second one as it is drawn in")
    marks = [middle(part) for part in parts(svg.read_text(), "rect") if part["fill"] == draw.HIGHLIGHTS["focus"]]
    assert marks == [places(svg.read_text())[state.action_cells(state.moves[-1])[0]]]
    data = answer_of_difference(capsys, one, shorter)
    assert data["scores"] == [35, 34]
    assert data["only_first"] == [state.action_name(state.moves[-1])]
    assert data["only_second"] == []


def answer_of_difference(capsys: pytest.CaptureFixture[str], one: Path, other: Path) -> dict[str, Any]:
    with pytest.raises(SystemExit) as stop:
        main(["compare", "morpion", str(one), str(other), "--json"])
    assert stop.value.code == 1
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("option", ["runs", "time", "threads", "ladders"])
def test_options_of_a_search_are_not_negative(capsys: pytest.CaptureFixture[str], option: str) -> None:
    words = ["search", "morpion", "--variant", "4D", f"--{option}=-1"]
    check_refusal(capsys, words, f"the option --{option} must not be negative, and is -1")


def test_one_run_if_nothing_else_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["search", "morpion", "--variant", "4D", "--method", "nrpa", "--level", "1"]
    assert [run["seed"] for run in answer(capsys, *words, "--seed", "5", "--threads", "1")["runs"]] == [5]
    check_refusal(capsys, [*words, "--shard", "1/2", "--time", "5"], "name --runs, and no --time")
    check_refusal(capsys, [*words, "--time", "0"], "the time was too short for a single game")


def test_an_animation_takes_as_long_as_its_pauses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    grid, svg = tmp_path / "grid.psol", tmp_path / "grid.svg"
    grid.write_text(shipped("4D").record())
    for words, pause in (([], 0.6), (["--pause", "2"], 2.0)):
        answer(capsys, "replay", "morpion", str(grid), "--svg", str(svg), *words)
        assert svg.read_text() == shipped("4D").animation(pause)


def test_hints_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    state = shipped("4D")
    grid = tmp_path / "grid.psol"
    grid.write_text(state.record())
    assert said(capsys, "hint", "morpion", str(grid), "--time", "0.1") == (0, "no move is left after 35")
    grid.write_text(MorpionState(state.game, state.moves[:-1]).record())
    code, text = said(capsys, "hint", "morpion", str(grid), "--time", "0.1")
    assert code == 0
    assert f"after 34 moves, 35 can be reached: {state.action_name(state.moves[-1])}" in text
    data = answer(capsys, "hint", "morpion", str(grid), "--time", "0.1")
    assert (data["score"], data["reachable"], data["legal"]) == (34, 35, 1)
    for time in ("0", "-1", "86401"):
        check_refusal(capsys, ["hint", "morpion", str(grid), f"--time={time}"], "above 0 and at most a day, and is")


def test_summaries_of_scores() -> None:
    scores = np.array([60.0, 70.0, -np.inf, 65.0, 66.0])  # one search had no time for a game
    assert commands._summary(scores, cpu_seconds=1.5) == {
        "best": 70, "mean": 65.25, "median": 65.5, "count": 4, "cpu_seconds": 1.5,
    }  # fmt: skip
    assert commands._summary(np.array([-np.inf])) == {"best": None, "count": 0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--seconds", "0"], "the seconds must be more than 0"),
        (["--games", "0"], "the number of games must be at least 1, not 0"),
    ],
)
def test_evaluations_that_are_refused(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    pytest.importorskip("torch")
    check_refusal(capsys, ["evaluate", "morpion", "nowhere", *words], sentence)
