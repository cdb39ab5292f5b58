"""Imports point downward only, as docs/architecture.md draws it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "rookery"

LAYERS = [
    {"_native", "files", "statistics"},
    {"games"},
    {"learn", "search", "exact"},
    {"agents"},
    {"arena", "report", "adapters", "scale", "testing"},
    {"cli", "web", "studies", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# `rookery` itself re-exports the games.
LEVEL["rookery"] = LEVEL["games"]
# What people touch may use each other in this order only.
ALLOWED_ASIDE = {("__main__", "cli"), ("cli", "studies"), ("cli", "web"), ("web", "studies")}

FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def part(module: str) -> str:
    """`rookery.games.tenten` -> `games`."""
    return module.split(".")[1] if "." in module else "rookery"


def imported_parts(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "rookery":
                modules = [f"rookery.{a.name}" if a.name in LEVEL else "rookery" for a in node.names]
            else:
                modules = [node.module]
        else:
            continue
        found |= {part(module) for module in modules if module.split(".")[0] == "rookery"}
    return found


def offences(own: str, source: str) -> list[str]:
    return [
        other
        for other in imported_parts(source)
        if other != own
        and (LEVEL[other] > LEVEL[own] or (LEVEL[other] == LEVEL[own] and other != "rookery"))
        and (own, other) not in ALLOWED_ASIDE
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in LEVEL, f"{own} has no layer; give it one here and in docs/architecture.md"
    assert offences(own, path.read_text(encoding="utf-8")) == []


def test_the_check_sees_an_upward_import() -> None:
    assert offences("games", "from rookery.agents import load") == ["agents"]
    assert offences("search", "from rookery import exact") == ["exact"]
    assert offences("studies", "import rookery.cli") == ["cli"]
    assert offences("agents", "from rookery.search import mcts") == []
