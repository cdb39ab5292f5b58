"""What README and docs name exists: files, commands and options; the code of the entry pages runs."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from rookery.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "src").rglob("README.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


COMMANDS = sorted(
    {
        line.removeprefix("$ ").partition(" #")[0].replace("[", "").replace("]", "").strip()
        for page in PAGES
        for block in blocks(page, "")
        for line in block.splitlines()
        if line.removeprefix("$ ").startswith("rookery ")
    }
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src/rookery|native|tests|docs|examples|benchmarks)/[\w./-]+)`", text):
        assert (ROOT / name).exists() or "NAME" in name, name
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_exist(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "200")
    words = shlex.split(line)[1:]
    options = [word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)]
    first = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    decisive = [part for i, word in enumerate(words) if word in ("--variant", "--preset") for part in words[i : i + 2]]
    if words[0] == "reproduce":
        decisive = []
    kept = words[:first] if words[0] in ("train", "sweep") else words[: min(first, 2)]
    with pytest.raises(SystemExit) as stop:
        main([*kept, *(decisive if words[0] in ("train", "sweep") else []), "--help"])
    text = capsys.readouterr().out
    assert stop.value.code == 0, text
    for option in options:
        assert option in text, option


SLOW = {"ntuple.md"}
"""Pages whose code plays for minutes."""


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: str(page.name))
def test_the_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        if block.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), 0)
            assert doctest.DocTestRunner().run(test).failed == 0
        elif page.name in SLOW:
            compile(block, page.name, "exec")
        else:
            exec(compile(block, page.name, "exec"), {})
