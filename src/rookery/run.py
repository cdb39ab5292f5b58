"""What training runs share: a folder from which they go on after a stop, and files written whole or not at all.

A folder holds `checkpoint.npz` (all that training goes on from), `metrics.jsonl` (one JSON object a line) and, once the
run is complete, `model.npz` with `model.json` beside it for people.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery.files import replacing, write_text

Arrays = Mapping[str, npt.NDArray[Any]]
Info = dict[str, Any]


def save_arrays(path: Path, info: Info, arrays: Arrays) -> None:
    """Write arrays and what they are, `info`, into one `.npz` file."""
    everything: dict[str, Any] = {"info": np.frombuffer(json.dumps(info).encode(), dtype=np.uint8), **arrays}
    with replacing(path) as file:
        np.savez_compressed(file, **everything)


def load_arrays(path: Path, kind: str) -> tuple[Info, dict[str, npt.NDArray[Any]]]:
    """Read what `save_arrays` wrote; `info["kind"]` must be the given one. A damaged file raises ValueError."""
    data = path.read_bytes()  # given a path, numpy leaves a damaged file open
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        info: Info = json.loads(arrays.pop("info").tobytes())
    except Exception as error:  # numpy, zipfile and what they unpack with raise a dozen kinds for damaged data
        raise ValueError(f"{path} is not a file written by Rookery, or is damaged: {error}") from None
    if info.get("kind") != kind:
        raise ValueError(f"{path} holds {info.get('kind')!r}, not {kind!r}")
    return info, arrays


def save_model(path: Path, info: Info, arrays: Arrays) -> None:
    """`save_arrays`, and the info once more as JSON beside it for people to read."""
    save_arrays(path, info, arrays)
    write_text(path.with_suffix(".json"), json.dumps(info, indent=1) + "\n")


class Run:
    """The folder of one training run."""

    def __init__(self, folder: Path, kind: str, settings: Info, resume: bool) -> None:
        self.folder, self.kind, self.settings = folder, kind, settings
        self.checkpoint_path = folder / "checkpoint.npz"
        self.metrics_path = folder / "metrics.jsonl"
        self.model_path = folder / "model.npz"
        if self.checkpoint_path.exists() and not resume:
            raise ValueError(f"{folder} already holds a run; use --resume to go on, or another folder")
        folder.mkdir(parents=True, exist_ok=True)
        self.rows: list[Info] = []

    def load(self) -> dict[str, npt.NDArray[Any]] | None:
        """The arrays of the last checkpoint, and `rows` as they were then; None in a new folder."""
        if not self.checkpoint_path.exists():
            return None
        info, arrays = load_arrays(self.checkpoint_path, self.kind)
        # How long a run lasts may change; what it learns from may not.
        for name, value in self.settings.items():
            if name not in ("steps", "updates", "generations") and info["settings"].get(name) != value:
                raise ValueError(f"{self.folder} was trained with {name}={info['settings'].get(name)!r}, not {value!r}")
        self.rows = info["rows"]
        return arrays

    def save(self, row: Info, arrays: Arrays) -> None:
        """Add a row of metrics and write the checkpoint."""
        self.rows.append(row)
        info = {"kind": self.kind, "settings": self.settings, "rows": self.rows}
        save_arrays(self.checkpoint_path, info, arrays)
        write_text(self.metrics_path, "".join(json.dumps(r) + "\n" for r in self.rows))
