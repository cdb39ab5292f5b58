"""Metrics for other programs, and runs side by side."""

from __future__ import annotations

import csv
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rookery as rk
from rookery import tracking
from rookery.report import runs as report
from rookery.run import Run
from tests.commands import answer, check_refusal
from tests.commands import run as run_command

QUICK: dict[str, Any] = {"turns": 2, "max_rounds": 200}


def trained(folder: Path, **given: Any) -> Run:
    return rk.train(rk.load("tenten", "3x3-three"), "lspi", out=folder, **{"updates": 3, **QUICK, **given})


def test_every_row_reaches_the_trackers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages of the same shape stand for Weights & Biases and MLflow."""
    said: list[Any] = []

    class Tracked:
        def __enter__(self) -> Tracked:
            return self

        def __exit__(self, *_: object) -> None:
            said.append("end")

        def log(self, row: dict[str, float], step: int) -> None:
            said.append((step, row))

    wandb: Any = types.ModuleType("wandb")
    wandb.init = lambda **given: said.append(given["config"]["method"]) or Tracked()  # type: ignore[func-returns-value]
    mlflow: Any = types.ModuleType("mlflow")
    mlflow.set_experiment = said.append
    mlflow.start_run = lambda run_name: Tracked()
    mlflow.log_params = lambda given: said.append(given["updates"])
    mlflow.log_metrics = lambda row, step: said.append((step, row))
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    run = trained(tmp_path / "a", track=["wandb"])
    steps = [(i, {name: float(value) for name, value in row.items()}) for i, row in enumerate(run.metrics, 1)]
    assert said == ["lspi", *steps, "end"]
    said.clear()
    run = trained(tmp_path / "b", track=["mlflow"])
    steps = [(i, {name: float(value) for name, value in row.items()}) for i, row in enumerate(run.metrics, 1)]
    assert said == ["rookery", 3, *steps, "end"]


def test_runs_of_a_sweep_are_tracked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    @contextmanager
    def tracker(run: Run) -> Iterator[Callable[[int, dict[str, float]], None]]:
        yield lambda step, row: seen.append(run.folder.name)

    monkeypatch.setitem(tracking.TRACKERS, "mine", tracker)
    given = {"variant": "3x3-three", "updates": 2, "out": tmp_path, "track": ["mine"], **QUICK}
    rk.sweep("tenten", "lspi", {"discount": [0.5, 0.9]}, **given)
    assert seen == ["0-0", "0-0", "1-0", "1-0"]


@pytest.mark.filterwarnings("ignore")
def test_tensorboard(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = trained(tmp_path, track=["tensorboard"])
    events = reading.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    read = [(event.step, event.value) for event in events.Scalars("mean_rounds")]
    assert read == [(i, pytest.approx(row["mean_rounds"])) for i, row in enumerate(run.metrics, 1)]


def test_what_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    words = ["train", "tenten", "lspi", "--out", str(tmp_path / "x"), "--track"]
    check_refusal(capsys, [*words, "wandb"], "Weights & Biases is not installed: pip install wandb")
    check_refusal(capsys, [*words, "wanb"], "unknown tracker 'wanb'; did you mean 'wandb'?")


def test_runs_are_listed_compared_and_plotted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = trained(tmp_path / "runs" / "one"), trained(tmp_path / "runs" / "two", discount=0.5, seed=1)
    data = answer(capsys, "runs", str(tmp_path / "runs"), "--metric", "mean_rounds")
    assert [Path(row["run"]).name for row in data["runs"]] == ["two", "one"]
    assert data["runs"][1]["curve"][1] == [row["mean_rounds"] for row in one.metrics]
    columns, rows = report.table([one, two], "mean_rounds", compare=True)
    assert columns[-1] == "discount"
    assert [row[-1] for row in rows] == ["0.99", "0.5"]
    page, table = tmp_path / "runs.html", tmp_path / "runs.csv"
    done = run_command("runs", str(one.folder), str(two.folder), "--plot", "--html", str(page), "--csv", str(table))
    assert done.returncode == 0
    assert "  a: " in done.stdout
    assert page.read_text().count("<svg") == 1
    assert len(list(csv.reader(table.read_text().splitlines()))) == 3
    check_refusal(capsys, ["runs", str(tmp_path / "nowhere")], "there is no run in")
    check_refusal(capsys, ["runs", str(tmp_path), "--metric", "charm"], "no run reports 'charm'")


def test_a_plot_in_plain_text(tmp_path: Path) -> None:
    run = Run(tmp_path, {"settings": {}})
    run.rows = [{"games": i, "score": i * i} for i in range(5)]
    lines = report.text_plot([run], "score", 9, 5).splitlines()
    assert lines[:7] == [
        "score",
        "16 |        a",
        "   |",
        "   |      a",  # 9 of 16 lies nearest to the middle line
        "   |    a",
        " 0 |a a",
        "   +---------",
    ]
