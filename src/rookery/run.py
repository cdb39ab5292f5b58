"""A run: the folder that training writes, from which it resumes and an agent loads.

A folder holds

- `run.json`: the game and its variant, the method and its settings, the seed, the version, the command, the state
  (running, done, stopped or failed) and the last figures;
- `metrics.jsonl`: one JSON object per line, as training goes;
- `checkpoint.npz`: everything that training resumes from;
- the model, under the name that the method gives it.

All files are written whole or not at all, so a run that is killed loses only what came after its last checkpoint.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, field, fields, is_dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from rookery.files import replacing, write_text
from rookery.game import Game

Arrays = Mapping[str, npt.NDArray[Any]]
Info = dict[str, Any]
Row = dict[str, Any]
"""What training reports: JSON values, `progress` (0 to 1) among them."""

INFO = "run.json"
METRICS = "metrics.jsonl"
CHECKPOINT = "checkpoint.npz"


def duration(default: Any) -> Any:
    """A field of a settings class that says how long or on how many cores to train, and not what is learned from: it
    may change when a run is resumed."""
    return field(default=default, metadata={"duration": True})


def save_arrays(path: Path | str, info: Info, arrays: Arrays) -> None:
    """Write arrays and what they are, `info`, into one `.npz` file."""
    everything: dict[str, Any] = {"info": np.frombuffer(json.dumps(info).encode(), dtype=np.uint8), **arrays}
    with replacing(path) as file:
        np.savez_compressed(file, **everything)


def load_arrays(path: Path | str, kind: str) -> tuple[Info, dict[str, npt.NDArray[Any]]]:
    """Read what `save_arrays` wrote; `info["kind"]` must be the given one. A damaged file raises ValueError."""
    try:
        data = Path(path).read_bytes()  # given a path, numpy leaves a damaged file open
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        info: Info = json.loads(arrays.pop("info").tobytes())
    except Exception as error:  # numpy, zipfile and what they unpack with raise a dozen kinds for damaged data
        raise ValueError(f"{path} is not a file written by Rookery, or is damaged: {error}") from None
    if info.get("kind") != kind:
        raise ValueError(f"{path} holds {info.get('kind')!r}, not {kind!r}")
    return info, arrays


def save_model(path: Path | str, info: Info, arrays: Arrays) -> None:
    """`save_arrays`, and the info once more as JSON beside it for people to read."""
    save_arrays(path, info, arrays)
    write_text(Path(path).with_suffix(".json"), json.dumps(info, indent=1) + "\n")


def as_json(settings: Any) -> Info:
    """The fields of a settings dataclass as JSON values."""
    data: Info = json.loads(json.dumps(asdict(settings)))
    return data


class Workers(Protocol):
    """Processes, here or elsewhere, that do tasks while training goes on."""

    def put(self, key: str, function: str, arguments: Mapping[str, Any]) -> None:
        """Call `package.module:function` with what the workers share and the arguments, as soon as one is free."""

    def get(self) -> Any:
        """Wait for the next result."""

    def close(self) -> None:
        """End all workers."""


Hire = Callable[[Any, int], Workers]
"""Gets workers: what they share, and how many there should be if nothing else was asked for."""


class Run:
    """The folder of one training run.

    Training calls `restore` once and `save` after every part of the work; everything else is for those who start it
    and look at it.
    """

    def __init__(self, folder: Path | str, info: Info) -> None:
        self.folder = Path(folder)
        self.info = info
        """What `run.json` holds."""
        self.rows: list[Row] = []
        """The metrics so far."""
        self.hire: Hire | None = None
        """Workers for methods that can use some."""
        self._began = time.monotonic()
        self._seconds_before: float = info.get("seconds", 0.0)

    @classmethod
    def create(
        cls, folder: Path | str, game: Game, method: str, settings: Any, seed: int, *, resume: bool = False,
        command: str = "",
    ) -> Self:  # fmt: skip
        """A new run, or with `resume` the one in the folder, whose settings must be the same but for durations."""
        folder = Path(folder)
        options = json.loads(json.dumps(game.options))  # as `run.json` gives them back
        info: Info = {
            "game": game.name, "variant": game.variant, "options": options, "method": method,
            "settings": as_json(settings), "seed": seed, "version": version("rookery"), "command": command,
            "state": "running", "figures": {}, "started": time.time(), "seconds": 0.0, "process": os.getpid(),
        }  # fmt: skip
        before = cls.open(folder) if (folder / INFO).exists() else None
        if before is not None and (before.rows or before.checkpoint_path.exists() or before.state == "running"):
            if not resume:
                raise ValueError(f"{folder} already holds a run; resume it, or choose another folder")
            was = before.info
            free = {f.name for f in fields(settings) if f.metadata.get("duration")}
            for name in ("game", "options", "method", "seed"):
                if was[name] != info[name]:
                    raise ValueError(f"{folder} was trained with {name} {was[name]!r}, not {info[name]!r}")
            for name, value in info["settings"].items():
                if name not in free and was["settings"].get(name) != value:
                    raise ValueError(f"{folder} was trained with {name}={was['settings'].get(name)!r}, not {value!r}")
            kept = {name: was[name] for name in ("started", "seconds", "figures")}
            info |= kept | {"command": command or was["command"]}
        run = cls(folder, info)
        run._write_info()
        return run

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """The run in a folder, to look at and to load an agent from."""
        folder = Path(folder)
        try:
            info = json.loads((folder / INFO).read_text(encoding="utf-8"))
            if not {"game", "options", "method", "settings", "seed", "state"} <= info.keys():
                raise ValueError("something is missing in it")
        except FileNotFoundError:
            raise ValueError(f"there is no run in {folder}") from None
        except (ValueError, AttributeError) as error:
            raise ValueError(f"{folder / INFO} is not the description of a run, or is damaged: {error}") from None
        run = cls(folder, info)
        run.rows = read_metrics(folder)
        return run

    @property
    def seed(self) -> int:
        return int(self.info["seed"])

    @property
    def kind(self) -> str:
        """What checkpoints and models of this run are called inside their files."""
        return f"{self.info['game']} {self.info['method']}"

    @property
    def state(self) -> Literal["running", "done", "stopped", "failed"]:
        """A run whose process is gone without a word was stopped."""
        state: Literal["running", "done", "stopped", "failed"] = self.info["state"]
        return "stopped" if state == "running" and not _alive(self.info.get("process", 0)) else state

    @property
    def metrics(self) -> list[Row]:
        """The rows that training reported."""
        return self.rows

    @property
    def settings(self) -> Info:
        settings: Info = self.info["settings"]
        return settings

    @property
    def checkpoint_path(self) -> Path:
        return self.folder / CHECKPOINT

    def restore(self) -> dict[str, npt.NDArray[Any]] | None:
        """The arrays of the last checkpoint, and `rows` as they were then; None in a new run."""
        if not self.checkpoint_path.exists():
            return None
        info, arrays = load_arrays(self.checkpoint_path, self.kind)
        self.rows = info["rows"]
        self.write_metrics()  # what stopped the run may have come in between
        return arrays

    def save(self, row: Row, arrays: Arrays) -> None:
        """Add a row of metrics and write the checkpoint. Write the model first: a run that has its last checkpoint is
        complete."""
        self.add(row)
        save_arrays(self.checkpoint_path, {"kind": self.kind, "rows": self.rows}, arrays)
        self.write_metrics()

    def add(self, row: Row) -> None:
        """Add a row of metrics without a checkpoint."""
        self.rows.append(row)

    def write_metrics(self) -> None:
        write_text(self.folder / METRICS, "".join(json.dumps(row) + "\n" for row in self.rows))

    def note(self, state: str, error: str = "") -> None:
        """Write down how far the run is."""
        figures = {name: value for name, value in (self.rows[-1] if self.rows else {}).items() if is_figure(value)}
        seconds = self._seconds_before + time.monotonic() - self._began
        self.info |= {"state": state, "figures": figures, "seconds": round(seconds, 3)}
        self.info.pop("error", None)
        if error:
            self.info["error"] = error
        self._write_info()

    def _write_info(self) -> None:
        write_text(self.folder / INFO, json.dumps(self.info, indent=1) + "\n")

    def __repr__(self) -> str:
        return f"<Run {self.folder}: {self.info['method']} on {self.info['game']}, {self.state}>"

    def _repr_html_(self) -> str:
        figures = self.info.get("figures", {})
        rows = "".join(f"<tr><th>{escape(str(n))}</th><td>{escape(f'{v:,}')}</td></tr>" for n, v in figures.items())
        return f"<p>{escape(repr(self)[1:-1])}</p><table>{rows}</table>"


def read_metrics(folder: Path | str) -> list[Row]:
    """The rows in a run's folder. A line that is half written is left out."""
    rows = []
    with contextlib.suppress(OSError):
        for line in (Path(folder) / METRICS).read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                rows.append(json.loads(line))
    return rows


def find_runs(folder: Path | str, depth: int = 3) -> Iterator[Path]:
    """The folders of runs below a folder."""
    for level in range(1, depth + 1):
        for file in sorted(Path(folder).glob("/".join(["*"] * level + [INFO]))):
            yield file.parent


def settings_from(kind: type, data: Info) -> Any:
    """An instance of a settings dataclass from its JSON fields; lists become tuples where the default is one."""
    assert is_dataclass(kind)

    def value(name: str, default: Any) -> Any:
        return _tuples(data[name]) if isinstance(default, tuple) else data[name]

    known = {f.name: None if f.default is MISSING else f.default for f in fields(kind)}
    return kind(**{name: value(name, default) for name, default in known.items() if name in data})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def is_figure(value: Any) -> bool:
    """Whether a value of a row is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process > 0
