"""A small share of `python -m tests.crash`."""

from __future__ import annotations

import re
import subprocess
import sys


def test_kills_and_faults() -> None:
    """In a process of its own, which forks the commands."""
    words = [sys.executable, "-m", "tests.crash", "--kills", "4", "--only", "checkers td", "search morpion"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    kills, faults = map(int, re.findall(r"^([0-9]+) kills, ([0-9]+) faults, 0 failures", done.stdout, re.M)[0])
    assert kills >= 4
    assert faults == 10
