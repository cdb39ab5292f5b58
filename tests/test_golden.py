"""Every game looks as it did when its golden playthrough was reviewed; see `tests/golden`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rookery import GAMES
from tests.golden import FILES, FOLDER, rewritten

ROOT = FOLDER.parent.parent


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_playthroughs(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)  # examples are named by their files
    text = file.read_text(encoding="utf-8")
    assert rewritten(text).splitlines() == text.splitlines(), "if this is meant: python -m tests.golden, and review it"


def test_every_game_has_one() -> None:
    games = {file.read_text(encoding="utf-8").splitlines()[0].removeprefix("game: ") for file in FILES}
    examples = [file for file in (ROOT / "examples").glob("*.py") if "(Game)" in file.read_text(encoding="utf-8")]
    assert {*GAMES, *(f"examples/{file.name}" for file in examples)} - games == set()
