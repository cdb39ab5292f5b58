"""The reports that `rookery reproduce` wrote."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; sandbox allow-same-origin"
"""A report carries its own style and drawings, and nothing in it runs."""


def _files(folder: Path) -> dict[str, Path]:
    """Pages by an id that says nothing about where they are: names from outside are only looked up here."""
    files = [*sorted(folder.glob("index.html")), *sorted(folder.glob("*/index.html"))]
    return {hashlib.sha256(str(file.relative_to(folder)).encode()).hexdigest()[:16]: file for file in files}


def found(folder: Path) -> list[dict[str, Any]]:
    """Every report, the newest first."""
    rows = [
        {"id": key, "name": str(file.parent.relative_to(folder.parent)), "updated": file.stat().st_mtime}
        for key, file in _files(folder).items()
    ]
    return sorted(rows, key=lambda row: -float(row["updated"]))


def page(folder: Path, report_id: str) -> bytes | None:
    file = _files(folder).get(report_id)
    return file.read_bytes() if file else None
