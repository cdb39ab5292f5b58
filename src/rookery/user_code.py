"""Games, agents and methods in a user's own files and modules.

`FILE.py:Class` and `package.module:Class` name a class; `FILE.py` alone is enough where the file defines one class of
the kind that is asked for. A file is run once per process.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from rookery.files import MOVED_FROM, located

_PREFIX = "rookery_user_"
_SPEC = re.compile(r"(?P<file>.+\.py)(?::(?P<class>[A-Za-z_]\w*))?|(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)")


def is_user_code(spec: str) -> bool:
    """Whether a name has the form of a file or of a class in a module.

    >>> [is_user_code(spec) for spec in ("my_game.py", "my_game.py:Hex", "package.module:Hex", "mcts", "td:depth=3")]
    [True, True, True, False, False]
    """
    return _SPEC.fullmatch(spec) is not None


def load_class(spec: str, what: str, fits: Callable[[type], bool]) -> type:
    """The class that a name means; `what` and `fits` say what kind of class is wanted, such as "game"."""
    match = _SPEC.fullmatch(spec)
    assert match
    name = match["class"] or match["name"]
    module = load_file(Path(match["file"])) if match["file"] else load_module(match["module"])
    if name:
        found = getattr(module, name, None)
        if not isinstance(found, type) or not fits(found):
            raise ValueError(f"{spec!r} is not the class of {_article(what)}")
        return found
    classes = classes_in(module, fits)
    if not classes:
        raise ValueError(f"{spec} defines no {what}")
    if len(classes) > 1:
        names = ", ".join(f"{match['file']}:{found.__name__}" for found in classes)
        raise ValueError(f"{spec} defines {len(classes)} classes of {_article(what)}; name one: {names}")
    return classes[0]


def _article(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def classes_in(module: ModuleType, fits: Callable[[type], bool]) -> list[type]:
    """The public classes of a kind that a module itself defines."""
    return [
        item
        for name, item in vars(module).items()
        if isinstance(item, type) and item.__module__ == module.__name__ and not name.startswith("_") and fits(item)
    ]


def load_file(file: Path | str) -> ModuleType:
    """Run a Python file as a module; what goes wrong in it becomes one sentence with its line."""
    path = Path(*MOVED_FROM, Path(file).expanduser()).resolve()
    name = f"{_PREFIX}{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}"
    if name in sys.modules:
        return sys.modules[name]
    path = located(path)
    if not path.is_file():
        raise ValueError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception):
            raise ValueError(_what_went_wrong(path, file, error)) from error
        raise
    return module


def load_module(name: str) -> ModuleType:
    """Import a module by its dotted name; one sentence if it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ValueError(f"cannot import {name}: {error}") from None
    except Exception as error:
        raise ValueError(f"importing {name} fails with {type(error).__name__}: {error}") from error


def _what_went_wrong(path: Path, file: Path | str, error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{file}, line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f"{file}, line {lines[-1]}" if lines else str(file)
    return f"{where}: {type(error).__name__}: {error}"


def loaded_files() -> list[str]:
    """The files that this process has run as modules. Another process that runs them too can unpickle their objects."""
    return [str(module.__file__) for name, module in list(sys.modules.items()) if name.startswith(_PREFIX)]


def spec_of(kind: type) -> str | None:
    """How to name a class of a user's file so that another process finds it; None for other classes."""
    if not kind.__module__.startswith(_PREFIX):
        return None
    return f"{sys.modules[kind.__module__].__file__}:{kind.__qualname__}"


def new(kind: type, game: Any, **settings: Any) -> Any:
    """An instance of a user's class with its settings, and with the game if its constructor takes one."""
    given = {"game": game} if "game" in inspect.signature(kind).parameters else {}
    return kind(**given, **settings)
