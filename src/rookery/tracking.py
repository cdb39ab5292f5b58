"""Metrics of a run for other programs: TensorBoard, Weights & Biases and MLflow. `metrics.jsonl` stays the truth.

A tracker is called with every row of metrics that training reports. The packages are imported when they are asked for.
"""

from __future__ import annotations

import hashlib
import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from rookery.method import suggestion
from rookery.run import Row, Run, is_figure

Track = Callable[[int, dict[str, float]], None]
"""Called with the number of a row and its figures."""


def _package(name: str, title: str, install: str = "") -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ValueError(f"{title} is not installed: pip install {install or name}") from None


@contextmanager
def _tensorboard(run: Run) -> Iterator[Track]:
    writers = _package("tensorboard.summary.writer.event_file_writer", "TensorBoard", "tensorboard")
    event, summary = (importlib.import_module(f"tensorboard.compat.proto.{name}_pb2") for name in ("event", "summary"))
    writer = writers.EventFileWriter(str(run.folder / "tensorboard"))

    def track(step: int, row: dict[str, float]) -> None:
        values = [summary.Summary.Value(tag=name, simple_value=value) for name, value in row.items()]
        writer.add_event(event.Event(wall_time=time.time(), step=step, summary=summary.Summary(value=values)))

    yield track
    writer.close()


@contextmanager
def _wandb(run: Run) -> Iterator[Track]:
    wandb = _package("wandb", "Weights & Biases")
    name = hashlib.sha256(str(run.folder.resolve()).encode()).hexdigest()[:16]  # the same when it is resumed
    with wandb.init(
        project="rookery", id=name, name=run.folder.name, dir=run.folder, config=run.info, resume="allow"
    ) as tracked:  # fmt: skip
        yield lambda step, row: tracked.log(row, step=step)


@contextmanager
def _mlflow(run: Run) -> Iterator[Track]:
    mlflow = _package("mlflow", "MLflow")
    mlflow.set_experiment("rookery")
    with mlflow.start_run(run_name=run.folder.name):
        mlflow.log_params({"game": run.info["game"], "method": run.info["method"], "seed": run.seed, **run.settings})
        yield lambda step, row: mlflow.log_metrics(row, step=step)


TRACKERS = {"tensorboard": _tensorboard, "wandb": _wandb, "mlflow": _mlflow}


@contextmanager
def tracking(run: Run, names: Sequence[str]) -> Iterator[Callable[[Row], None]]:
    """Track the rows of a run by the named trackers; call what it gives with every row."""
    for name in names:
        if name not in TRACKERS:
            raise ValueError(f"unknown tracker {name!r}{suggestion(name, TRACKERS, 'trackers')}")
    with ExitStack() as stack:
        tracks = [stack.enter_context(TRACKERS[name](run)) for name in names]

        def hear(row: Row) -> None:
            figures = {name: float(value) for name, value in row.items() if is_figure(value)}
            for track in tracks:
                track(len(run.rows), figures)

        yield hear
