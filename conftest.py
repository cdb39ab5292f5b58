from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


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
