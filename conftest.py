from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from rookery import registry, user_code

# Tests run side by side, one per core: PyTorch must not take all cores in each.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes says nothing on a busy machine.
settings.register_profile("rookery", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rookery")

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that. Tests press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The modules that tests import stay to the end. Looking for garbage among them takes 0.4 s each time: it is put off
# until all are imported, and leaves them out later.
gc.disable()


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests make their own tables: those in the user's cache may come from other code."""
    before = os.environ.get("ROOKERY_CACHE")
    os.environ["ROOKERY_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["ROOKERY_CACHE"]
    else:
        os.environ["ROOKERY_CACHE"] = before


@pytest.fixture(autouse=True)
def _folder_for_doctests(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Doctests write into a folder of their own."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """What a test registers, and the files it runs as modules, are unknown to the next test."""
    len(registry.GAMES)  # games of other packages are found now
    games, methods = dict(registry.GAMES._found), {game: dict(found) for game, found in registry._METHODS.items()}
    files, names, ran = list(registry._FILES), list(registry._NAMES), user_code.loaded_files()
    yield
    registry.GAMES._found, registry._METHODS = games, methods
    registry._FILES[:], registry._NAMES[:] = files, names
    for name, module in list(sys.modules.items()):
        if name.startswith(user_code._PREFIX) and str(module.__file__) not in ran:
            del sys.modules[name]
