"""What the C++ tests do not notice: `python -m tests.mutate_native --count 40 --seed 1 --jobs 2 [--only FILE ...]`.

Changes one place of the rules and kernels at a time, and builds and runs the C++ tests that include the changed header,
each job in a copy of the sources of its own (`build/mutate`). A change is noticed if a test fails, crashes or takes too
long. The others are listed, for somebody to judge: either a test is missing, or the change has no meaning, as that of a
hash or of the size of a table. One that does not compile is drawn again.

Places are drawn uniformly from the headers of the pool; comments, strings, preprocessor lines, template arguments,
static assertions and throw statements hold none. Nor do lines that multiply by a constant of 64 bits, which mix random
numbers and hashes, nor what is only about speed: capacities, alignment, prefetching.

Left out are n-tuple networks and the learners and heuristic players of single games: they are tested from Python,
beside slow oracles (`tests/learn`, `tests/games`), and the C++ tests mostly run them for the sanitizers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build/mutate"
MAIN = "native/tests/main.cpp"
COMPILER = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-w", "-pthread", "-Inative", "-D_GLIBCXX_ASSERTIONS"]
if platform.machine() == "x86_64":
    COMPILER.append("-march=x86-64-v3")

CPU_SECONDS, WALL_SECONDS = 40, 300
"""What one test program may take; unchanged, they take a few seconds."""

POOL = ("native/core/*.hpp", "native/search/*.hpp", "native/exact/*.hpp", "native/learn/*.hpp", "native/games/*/*.hpp")
LEFT_OUT = {
    "learn": "ntuple",
    "games/checkers": "engine matches net net_learner patterns q_table q_table_match search self_play td voting",
    "games/endgames": "perfect q_learning",
    "games/solitaire_chess": "backtracking capture_ranker lessons",
    "games/tenten": "features lookahead lspi ntuple policy td value",
}

# What holds no place. The code is formatted: an operator has spaces around it, and the `<` of a template has none.
HIDDEN = [
    r"(?ms:^#if[^\n]*CUDA.*?^#else|^#else.*?^#endif)",  # what is not built for the processor of today
    r"//[^\n]*",
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
    r"(?m:^[ \t]*#(?:[^\n]*\\\n)*[^\n]*)",
    r"\bstatic_assert\([^;]*;",
    r"\bthrow\b[^;]*;",
    r"(?m:^.*\* 0x[0-9a-f]{16}[uU].*$)",  # a hash: another multiplier, shift or seed is as good
    r"\b(?:reserve|alignas|\w*prefetch)\([^;{]*[;{]",
]
TEMPLATE = re.compile(r"(?<=[\w~])<[^<>;{}]*>|(?<=\btemplate )<[^<>;{}]*>")
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<",
}  # fmt: skip
PLACE = re.compile(
    r"(?<=\s)(?P<operator>" + "|".join(sorted(map(re.escape, OPERATORS), key=len, reverse=True)) + r")(?=\s)"
    r"|(?<![\w.'])(?P<number>\d{1,2})(?![\w.'])"
    r"|(?<=[\s(!])(?P<negation>!)(?=[\w(])"
    r"|(?<=\bif )(?P<condition>\()"
)


@dataclass(frozen=True)
class Change:
    """One place of one file, and what stands there instead."""

    file: str
    begin: int
    old: str
    new: str

    def applied(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.begin + len(self.old) :]


def closing(text: str, begin: int) -> int:
    """Where the bracket that opens at `begin` is closed."""
    depth = 0
    for i in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError("a bracket is not closed")


def changes(file: str, text: str) -> Iterator[Change]:
    """All changes of a file."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "~", match[0])

    code = re.sub("|".join(HIDDEN), blank, text)
    while (shorter := TEMPLATE.sub(blank, code)) != code:
        code = shorter
    for match in PLACE.finditer(code):
        old, new = match[0], ""
        if match["operator"]:
            new = OPERATORS[old]
        elif match["number"]:
            new = str(int(old) + 1)
        elif match["condition"]:
            old = text[match.start() : closing(code, match.start()) + 1]
            new = f"(!{old})"
        yield Change(file, match.start(), old, new)


def includes(test: Path) -> set[str]:
    """The headers of ours that a test includes, directly or not."""
    found, open_files = set[str](), [test]
    while open_files:
        here = open_files.pop()
        for name in re.findall(r'#include "([^"]+)"', here.read_text()):
            header = next(path for path in (here.parent / name, ROOT / "native" / name) if path.exists())
            if str(header.relative_to(ROOT)) not in found:
                found.add(str(header.relative_to(ROOT)))
                open_files.append(header)
    return found


def own_copy() -> None:
    """Each job works in a folder of its own, with a copy of the sources."""
    os.chdir(tempfile.mkdtemp(dir=COPIES))
    shutil.copytree(ROOT / "native", "native")
    subprocess.run([*COMPILER, "-c", MAIN, "-o", "main.o"], check=True)


def verdict(work: tuple[Change | None, list[str]]) -> str:
    """What some of the tests, each built as a program and run, say of a change: the first complaint, or "passed"."""
    change, tests = work
    if change:
        changed = Path(change.file)
        text = changed.read_text()
        changed.write_text(change.applied(text))
    try:
        return next((said for test in tests if (said := run(test))), "passed")
    finally:
        if change:
            changed.write_text(text)


def run(test: str) -> str:
    """The complaint of one test; empty if it passed."""
    if subprocess.run([*COMPILER, "main.o", test, "-o", "program"], capture_output=True).returncode:
        return "does not compile"
    try:
        done = subprocess.run(["./program"], capture_output=True, timeout=WALL_SECONDS, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return f"hangs in {test}"
    if not done.returncode:
        return ""
    how = {1: "fails", -signal.SIGKILL: "hangs", -signal.SIGXCPU: "hangs"}.get(done.returncode, "crashes")
    return f"{how} in {test}"


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--count", type=int, default=40, help="number of changes that compile")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="number of changes at a time")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="headers to change, as native/core/rng.hpp")
    options = parser.parse_args()
    tests = {str(path.relative_to(ROOT)): includes(path) for path in sorted(ROOT.glob("native/**/tests/*.cpp"))}
    del tests[MAIN]
    left_out = {ROOT / f"native/{folder}/{name}.hpp" for folder, names in LEFT_OUT.items() for name in names.split()}
    pool = {path for pattern in POOL for path in ROOT.glob(pattern)} - left_out
    texts = {file: (ROOT / file).read_text() for file in options.only or sorted(str(p.relative_to(ROOT)) for p in pool)}
    places = [change for file, text in texts.items() for change in changes(file, text)]
    random.Random(options.seed).shuffle(places)
    print(f"{len(places)} places in {len(texts)} files", flush=True)

    def concerned(change: Change) -> list[str]:
        """The tests of a change, those beside the header first."""
        found = [test for test, headers in tests.items() if change.file in headers]
        return sorted(found, key=lambda test: Path(test).parent.parent != Path(change.file).parent)

    os.nice(10)
    shutil.rmtree(COPIES, ignore_errors=True)
    COPIES.mkdir(parents=True)
    noticed = unnoticed = 0
    with multiprocessing.Pool(options.jobs, own_copy) as jobs:  # what is still under way at the end is dropped
        unchanged = [test for test, headers in tests.items() if headers & set(texts)]
        for said in jobs.imap(verdict, [(None, [test]) for test in unchanged]):
            if said != "passed":
                sys.exit(f"before anything is changed, it {said}")
        verdicts = jobs.imap(verdict, [(change, concerned(change)) for change in places])
        for change, said in zip(places, verdicts, strict=True):
            text = texts[change.file]
            noticed += said not in ("passed", "does not compile")
            unnoticed += said == "passed"
            line = text.count("\n", 0, change.begin) + 1
            print(f"{'NOT NOTICED' if said == 'passed' else said}: {change.file}:{line}: {change.old} -> {change.new}")
            print(f"    {text.splitlines()[line - 1].strip()}", flush=True)
            if noticed + unnoticed == options.count:
                break
    total = noticed + unnoticed
    print(f"{noticed} of {total} changes noticed, {100 * noticed / max(1, total):.1f}%")


if __name__ == "__main__":
    main()
