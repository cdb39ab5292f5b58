"""Every game looks as it did when its golden playthrough was reviewed, and so do all defaults; see `tests/golden`."""

from __future__ import annotations

from pathlib import Path

import pytest

from rookery import GAMES
from tests.golden import FILES, FOLDER, rewritten, settings

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


def test_defaults_of_settings() -> None:
    pytest.importorskip("torch")
    kept = settings.FILE.read_text(encoding="utf-8")
    assert settings.defaults().splitlines() == kept.splitlines(), (
        "if this is meant: python -m tests.golden, and review it"
    )
