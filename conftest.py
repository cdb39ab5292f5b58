from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says nothing on a busy machine.
settings.register_profile("rookery", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rookery")

# A shell starts what runs in its background with Ctrl-C ignored, and children inherit that. Tests press Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
