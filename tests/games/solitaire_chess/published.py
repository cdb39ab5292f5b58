"""Published puzzles, which are not part of the project."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

PUZZLES = Path("shared/data/solitaire-chess/app40.csv")


def published_puzzles() -> list[dict[str, str]]:
    """The rows of the file that ROOKERY_PUBLISHED_PUZZLES names, or that lies beside the checkout; else the test is
    skipped. Counts of positions in it were made by us, not by the paper."""
    above = Path(__file__).parents[3].parents
    given = os.environ.get("ROOKERY_PUBLISHED_PUZZLES")
    files = [Path(given)] if given else [above[0] / PUZZLES, above[1] / PUZZLES]
    for file in files:
        if file.is_file():
            return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    pytest.skip("the published puzzles are not here; ROOKERY_PUBLISHED_PUZZLES may name a CSV file of them")
