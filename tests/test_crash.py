"""A small share of `python -m tests.crash`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rookery import cli
from rookery.run import Run
from tests.crash import OUT, TRAINING, Case

QUICK = [case for case in TRAINING if any(words in case.words for words in ("2048", "checkers q", "checkers td"))]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_the_model_is_written_before_the_checkpoint(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed after its last checkpoint has nothing left to do when it is resumed."""
    models: list[bytes] = []
    save = Run.save

    def look_and_save(run: Run, *arguments: Any) -> None:
        models.append(b"".join(file.read_bytes() for file in sorted(run.folder.glob("model*"))))
        save(run, *arguments)

    monkeypatch.setattr(Run, "save", look_and_save)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.main(case.words.split())
    assert stop.value.code in (0, None)
    assert models[-1] == b"".join(file.read_bytes() for file in sorted(Path(OUT).glob("model*"))) != b""


def test_kills_and_faults() -> None:
    """In a process of its own, which forks the commands."""
    words = [sys.executable, "-m", "tests.crash", "--kills", "4", "--only", "checkers td", "search morpion"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kills, faults = map(int, re.findall(r"^([0-9]+) kills, ([0-9]+) faults, 0 failures", done.stdout, re.M)[0])
    assert kills >= 4
    assert faults == 10
