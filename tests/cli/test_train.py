"""`rookery train` and `rookery sweep` as a person sees them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rookery.cli import main
from rookery.cli import train as command
from rookery.game import Game
from rookery.method import Method
from rookery.registry import learners, load, register
from rookery.run import Row, Run, duration
from tests.commands import answer, check_refusal

GAME = ["tenten", "--variant", "3x3-three"]


@dataclass(frozen=True)
class Settings:
    rows: int = duration(2)
    """Rows."""
    rate: float = 0.5
    """A rate."""
    fast: bool = False
    """A switch."""


PRESETS = {"long": Settings(rows=4, rate=0.75)}


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    for number in range(settings.rows):
        if settings.rate == 9:
            raise RuntimeError("nine is too much")
        if settings.rate == 8:
            raise KeyboardInterrupt
        run.save({"mean_size": number * settings.rate + run.seed, "progress": 1.0}, {})
        yield run.rows[-1]


class Small(Method):
    """Reports a few rows."""

    name, kind, module, headline = "small", "learn", __name__, "mean_size"

    def evaluate(self, game: Game, run: Run) -> dict[str, Any]:
        return {"against": {"random": {"score": 0.75, "word": "good", "list": [1]}}, "nothing": None}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The method is known, and no path is too long for a line of the terminal."""
    register(Small)
    monkeypatch.setenv("COLUMNS", "400")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    output = capsys.readouterr()
    assert stop.value.code == code, output.err
    return output.out.splitlines()


def test_a_run_is_told_by_its_figures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = str(tmp_path / "my run")
    lines = shown(
        capsys, "train", "tenten", "small", "--variant", "3x3-three", "--rows", "3", "--seed", "2", "--out", out
    )
    assert [line.split() for line in lines[:4]] == [
        ["figure", "value"], ["mean", "size", "3"], ["against", "random", "score", "0.75"],
        ["against", "random", "word", "good"],
    ]  # fmt: skip
    assert lines[4:] == [
        f"The run is in {out}. Play with it: rookery play tenten --variant 3x3-three --agent '{out}'",
    ]  # fmt: skip
    info = json.loads((Path(out) / "run.json").read_text())
    assert (info["seed"], info["settings"]["rows"], info["variant"]) == (2, 3, "3x3-three")
    words = ["tenten", "small", "--variant", "3x3-three", "--rows", "3", "--seed", "2", "--out", out]
    assert info["command"] == f"rookery train {shlex.join(words)}"
    check_refusal(capsys, ["train", *words], "already holds a run")
    data = answer(capsys, "train", *words[:4], "--rows", "5", *words[6:], "--resume")
    assert data["metrics"]["mean_size"] == 4.0
    assert (data["run"], data["method"], data["model"]) == (out, "small", str(Path(out) / "model.npz"))
    assert data["settings"]["rows"] == 5


def test_a_preset_gives_the_defaults(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words, expected in (
        (["--preset", "long"], (4, 0.75)), (["--preset=long", "--rows", "3"], (3, 0.75)), ([], (2, 0.5)),
    ):  # fmt: skip
        out = str(tmp_path / str(len(list(tmp_path.iterdir()))))
        settings = answer(capsys, "train", "tenten", "small", *words, "--out", out)["settings"]
        assert (settings["rows"], settings["rate"]) == expected
    check_refusal(capsys, ["train", "tenten", "small", "--preset", "log"], "unknown preset 'log' of small")
    check_refusal(capsys, ["train", "tenten", "small", "--shard", "1/2"], "--shard divides several runs")
    assert "--preset" not in "\n".join(shown(capsys, "train", "tenten", "lspi", "--help"))
    assert "--preset" in "\n".join(shown(capsys, "train", "tenten", "small", "--help"))


def test_a_stopped_run_says_how_to_go_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["train", "tenten", "small", "--rate", "8", "--out", str(tmp_path)])
    assert stop.value.code == 130
    said = "".join(capsys.readouterr().err.split())
    assert "".join(f"stopped; the same command with --resume continues the run in {tmp_path}".split()) in said


def test_where_runs_go_if_nothing_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert answer(capsys, "train", "tenten", "small", "--variant=3x3-three")["run"] == "runs/tenten-small-3x3-three"
    seeds = answer(capsys, "train", "tenten", "small", "--seeds", "2", "--seed", "5", "--on", "here")
    assert seeds["page"] == "runs/tenten-small-seeds-10x10/index.html"
    assert seeds["trials"][0]["values"] == {"0": 5.5, "1": 6.5}
    assert seeds["command"] == "rookery train tenten small --seed 5"
    assert answer(capsys, "sweep", "tenten", "small", "--over", "rate=1", "--on", "here")["page"].startswith(
        "runs/sweep-"
    )


def test_a_sweep_is_a_table_with_the_best_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["sweep", *GAME[:1], "small", *GAME[1:], "--fast", "--over", "rate=1,9,2", "--on", "here"]
    lines = shown(capsys, *words, "--out", str(tmp_path), code=1)
    assert [line.split()[:3] for line in lines[:4]] == [
        ["trial", "rate", "mean_size"], ["2", "2", "2"], ["0", "1", "1"], ["1", "9", "-"],
    ]  # fmt: skip
    assert lines[4] == "failed: 1: RuntimeError: nine is too much"
    assert lines[-1] == "Train the best: rookery train tenten small --variant 3x3-three --fast --rate 2.0 --seed 0"
    assert (tmp_path / "index.html").exists()
    more = ["--over", "rate=1,2", "--on", "here", "--out", str(tmp_path / "b")]
    data = answer(capsys, *words[:-4], *more, "--preset", "long", "--minimize", "True")
    assert data["best"] == {"rate": 1.0}
    assert "--preset long --fast" in data["command"]
    assert [trial["median"] for trial in data["trials"]] == [3.0, 6.0]
    for over in (["rate"], ["rate="], ["rate=1", "--over", "rate=2"]):
        check_refusal(capsys, ["sweep", "tenten", "small", "--over", *over], "--over takes NAME=VALUES, each name once")


def test_parts_of_a_sweep(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["sweep", "tenten", "small", "--over", "rate=1,2,3", "--on", "here", "--out", str(tmp_path)]
    for part, count in (("1/2", 2), ("2/2", 1)):
        data = answer(capsys, *words, "--shard", part)
        assert (data["done"], data["of"]) == (count, count)
    again = answer(capsys, *words, "--shard", "1/2", "--resume")
    assert again["done"] == 2
    check_refusal(capsys, [*words, "--shard", "1/2"], "already holds trials-1-of-2.jsonl")


@pytest.mark.parametrize("verb", ["train", "sweep"])
def test_help_before_there_is_a_method(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    usage = shown(capsys, verb, "--help")
    assert usage[0] == f"usage: rookery {verb} GAME METHOD [settings]"
    assert shown(capsys, verb, "-h") == shown(capsys, verb, code=2) == usage
    lines = shown(capsys, verb, "tenten", "--help")
    assert lines[0] == "Methods that learn 1010!:"
    assert [line.split()[3] for line in lines[1:]] == list(learners(load("tenten")))
    assert shown(capsys, verb, "tenten", code=2) == lines
    few = shown(capsys, verb, "endgames", "-h", "--variant", "KPK")
    assert [line.split()[3] for line in few[1:]] == list(learners(load("endgames", "KPK")))
    check_refusal(capsys, [verb, "tenten", "smal"], "unknown learner 'smal' for tenten; did you mean 'small'?")


def test_options_that_decide_about_others() -> None:
    assert command._option(["a", "--variant", "x"], "--variant") == "x"
    assert command._option(["a", "--variant=x=y"], "--variant") == "x=y"
    assert command._option(["a", "--variant"], "--variant") is None
    assert command._option(["a", "--variants", "x"], "--variant") is None
