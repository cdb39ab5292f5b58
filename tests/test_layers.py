"""Imports point downward only, and no generic code knows a game, as docs/architecture.md says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "rookery"
GAMES = {path.name for path in (PACKAGE / "games").iterdir() if (path / "__init__.py").exists()}

LAYERS = [
    {"_native", "files", "gpu", "statistics", "progress", "clock", "user_code", "symmetry"},
    {"draw", "game", "raster"},
    {"agents", "run"},
    {"method", "engines", "environments", "exam"},
    {"tracking"},
    {"search", "exact", "learn", "games"},
    {"registry", "adapters.open_spiel"},
    {"scale"},
    {"training", "testing", "arena", "report", "adapters"},
    {"studies", "scale.sweep"},
    {"cli.base"},
    {"web"},
    {"cli"},
    {"__main__"},
]
"""The generic code, from the bottom up."""
INSIDE = {"rules": 0, "referee": 0, "agents": 2, "methods": 3, "ladder": 3, "analysis": 3, "learning_study": 3,
          "study": 4, "study_stockfish": 5, "commands": 5, "engine": 4, "learn": 5}  # fmt: skip
"""Inside a game's folder; what is not named here (its exact solvers, searches and learners) is 1."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports(source: str, whenever: bool = True) -> set[str]:
    """Modules inside the package, without `rookery.`; what `import_module` is called with counts as well.

    Without `whenever`, only what is imported when the module is.
    """
    found = set()
    tree = ast.parse(source)
    for node in ast.walk(tree) if whenever else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("rookery."):
            found.add(node.value)
    return {name.removeprefix("rookery.") for name in found if name.startswith("rookery.")}


def game_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "games" and parts[1] in GAMES else None


def level_of(module: str) -> int | None:
    parts = module.split(".")
    for length in (2, 1):
        if ".".join(parts[:length]) in LEVEL:
            return LEVEL[".".join(parts[:length])]
    return None  # a name that `rookery` itself offers


def offences(module: str, source: str) -> list[str]:
    own, found = game_of(module), []
    at_once = imports(source, whenever=False)
    for other in sorted(imports(source)):
        theirs = game_of(other)
        if theirs and not own:
            found.append(f"{other} is about one game")
        elif theirs and theirs != own:
            found.append(f"{other} is another game")
        elif theirs:
            mine, its = (INSIDE.get(name.split(".")[2], 1) if name.count(".") > 1 else 0 for name in (module, other))
            if its > mine and other in at_once:  # a hook may import what it needs when it is called
                found.append(f"{other} is above {module}")
        elif not own and (level := level_of(other)) is not None and level > (level_of(module) or 0):
            found.append(f"{other} is above {module}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    module = module_name(path)
    assert game_of(module) or level_of(module) is not None, f"{module} has no layer; give it one here and in the docs"
    found = offences(module, path.read_text(encoding="utf-8"))
    assert found == []


def test_the_check_sees_what_is_not_allowed() -> None:
    assert offences("games.tenten.rules", "from rookery.games.checkers.rules import Checkers")
    assert offences("games.tenten.rules", "from rookery.games.tenten.agents import load")
    assert offences("games.tenten.rules", "def hook():\n    import rookery.games.checkers.rules")
    assert offences("games.tenten.rules", "def hook():\n    import rookery.games.tenten.agents") == []
    assert offences("games.tenten.agents", "from rookery.games.tenten.rules import TenTen") == []
    assert offences("search", "from rookery import web")
    assert offences("search", "from rookery.games.tenten import TenTen")
    assert offences("arena", 'import_module("rookery.games.tenten")')
    assert offences("web.app", "from rookery.search import mcts") == []
