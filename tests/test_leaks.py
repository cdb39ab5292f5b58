"""Generic code does not know the games: their names stand in examples only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "rookery"
FOLDERS = [path.name for path in (PACKAGE / "games").iterdir() if (path / "__init__.py").exists()]
NAMES = re.compile(
    rf"(?<![a-z0-9])({'|'.join({*FOLDERS, *(name.replace('_', '-') for name in FOLDERS)})}|solitaire|1010)(?![a-z0-9])",
    re.IGNORECASE,
)
COMMAND = re.compile(rf"rookery [a-z]+ {NAMES.pattern}")
FILES = sorted(
    path
    for path in PACKAGE.rglob("*")
    if path.suffix in (".py", ".js", ".css", ".html", ".svg") and PACKAGE / "games" not in path.parents
)


def docstring_lines(source: str) -> set[int]:
    """The lines of all docstrings, from 1."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def leaks(source: str, python: bool = True) -> list[str]:
    """The lines that name a game. In docstrings, doctests and commands such as `rookery show GAME` may do so."""
    documented = docstring_lines(source) if python else set()
    found = []
    for number, line in enumerate(source.splitlines(), start=1):
        text = line
        if number in documented:
            text = "" if line.lstrip().startswith((">>>", "...")) else COMMAND.sub("", line)
        if NAMES.search(text):
            found.append(f"line {number}: {line.strip()}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_generic_file_names_a_game(path: Path) -> None:
    assert leaks(path.read_text(encoding="utf-8"), path.suffix == ".py") == []


def test_the_check_sees_leaks_and_passes_examples() -> None:
    assert {"checkers", "endgames", "morpion", "solitaire_chess", "tenten"} <= set(FOLDERS)
    assert leaks('if game.name == "checkers":\n    pass')
    assert leaks('TITLE = "1010!"')
    assert leaks('"""About Solitaire Chess."""')
    assert leaks('game === "solitaire-chess" ? 1 : 2', python=False)
    assert leaks("import rookery.games.tenten.rules")
    assert leaks('command = "rookery show tenten"')
    assert leaks('"""\n>>> load("tenten")\n\nExample: rookery show morpion\n"""') == []
    assert leaks("# checkerboard, endgame, listen") == []
