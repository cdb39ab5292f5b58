"""What the Python tests do not notice: `python -m tests.mutate --count 200 --seed 1 --jobs 2 [--only PATH ...]`.

Changes one place of the Python code at a time, in copies of the tree in `build/mutate_python`, and runs the tests that
concern the changed module: those of its folder, those that import it, its doctests, and some that go through all games
and methods. A change is noticed if a test fails or takes too long. The others are listed, for somebody to judge: either
a test is missing, or the change has no meaning, as that of a default nobody relies on.

Numbers become one more, and large floats are doubled. A negative number loses its sign: as a mark of "none" -2 would be
as good as -1.

First the tests run without a change. Those that fail or are skipped, as some are where a package is missing, are left
out, and what functions each test calls is noted: those that call the changed function come first, the quickest of them
first of all. Then come those whose calls are not all known, because they start a process or make very many. For changes
outside functions those come first that call any function of the file. Then, and where no test calls the changed
function, all run that take less than a second. What is noted is remembered
in `build/mutate_python/before.json`, for as long as the test file, what it imports from other tests and the Python code
stay as they are.

Every run is a fork of one process that has imported the packages of others, so that a change costs little more than the
tests that notice it. Ctrl-C or SIGTERM ends the runs and counts those that are done.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/mutate_python"
PACKAGE = "src/rookery"
CORE = ("games", "exact", "search", "learn", "scale", "agents.py", "arena.py", "statistics.py")
"""What plays, learns, solves and measures; `--core` changes this, and `--rest` everything else."""
EVERYWHERE = ("test_agents", "test_conformance", "test_golden", "test_methods", "test_symmetry", "test_values")
"""Tests that go through all games or all methods: they concern every module."""
PACKAGES = ("numpy", "torch", "matplotlib.pyplot", "hypothesis", "safetensors.numpy", "tyro", "rich", "scipy.stats",
            "fastapi.testclient", "chess", "gymnasium", "pettingzoo")  # fmt: skip
"""What is imported once, where it is installed."""
LEFT_OUT = (".*", "build", "dist", "reports", "runs", "shared", "__pycache__", "node_modules", "*.egg-info")

QUICK_SECONDS = 1.0
"""Tests that may have nothing to do with the change run only if they take less than this, or start a process."""
FILE_SECONDS = 300
"""Before anything is changed, the tests of a file that have not ended after this are left out."""
WATCHED_CALLS = 2_000_000
"""Python 3.11 notes what a test calls for this many calls: it makes a test several times slower."""
BESIDE = 40
"""Number of the quickest tests of a module that run together before anything is changed."""
BROKEN = 70
"""The status of a process in which pytest did not start."""
COLLECT_SECONDS, TEST_SECONDS, SLOWER = 90, 20, 8
"""A test may take TEST_SECONDS and SLOWER times as long as before; all imports, COLLECT_SECONDS."""

COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
               ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot,
               ast.IsNot: ast.Is}  # fmt: skip
DOUBLED = 100.0
"""Floats from here on are doubled: one more would be lost in the rounding of what is shown."""
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
             ast.Mod: ast.Mult}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One place of one file, and the text of the file with the change."""

    file: str
    line: int
    kind: str
    old: str
    new: str
    text: str
    function: int
    """The first line of the function around it, or 0."""


def mutate(node: ast.AST) -> tuple[str, str, ast.AST] | None:
    """The kind of change a node allows, the field that changes and what the field becomes."""
    match node:
        case ast.Compare(ops=[first, *others]) if type(first) in COMPARISONS:
            return "comparison", "ops", [COMPARISONS[type(first)](), *others]  # type: ignore[return-value]
        case ast.BinOp(left=ast.JoinedStr() | ast.Constant(value=str())):
            return None  # what looks like a remainder may be the formatting of a text
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            return "operator", "op", OPERATORS[type(operator)]()
        case ast.BoolOp(op=operator):
            return "and/or", "op", ast.And() if isinstance(operator, ast.Or) else ast.Or()
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return "constant", "op", ast.UAdd()
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            double = isinstance(value, float) and value >= DOUBLED
            return "constant", "value", 2 * value if double else value + 1  # type: ignore[return-value]
        case ast.If(test=test):
            return "condition", "test", ast.UnaryOp(ast.Not(), test)
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            return "return", "value", ast.Constant(None)
    return None


def places(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a file that can be changed. The number behind a minus sign is none: the sign is."""
    nodes = list(ast.walk(tree))
    negated = {
        node.operand
        for node in nodes
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    }
    return [node for node in nodes if node not in negated and mutate(node)]


def change(file: str, text: str, number: int) -> Change | None:
    """The change of one of the places of a file; None for those inside formatted texts, which cannot be found there.
    Only the changed expression is written anew: lines and comments stay where they are."""
    tree, whole = ast.parse(text), text.encode()
    node = places(tree)[number]
    mutation = mutate(node)
    assert mutation is not None
    kind, name, value = mutation
    place: Any = getattr(node, name) if kind in ("condition", "return") else node
    starts = [0, *accumulate(len(line) for line in whole.splitlines(keepends=True))]
    begin = starts[place.lineno - 1] + place.col_offset
    end = starts[place.end_lineno - 1] + place.end_col_offset
    setattr(node, name, value)
    new = ast.unparse(value if kind in ("condition", "return") else node)
    changed = (whole[:begin] + f"({new})".encode() + whole[end:]).decode()
    try:
        if ast.dump(ast.parse(changed)) != ast.dump(tree):
            return None
    except SyntaxError:
        return None
    functions = [
        min([f.lineno, *(decorator.lineno for decorator in f.decorator_list)])
        for f in ast.walk(tree)
        if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef) and f.lineno <= place.lineno <= (f.end_lineno or 0)
    ]
    old = whole[begin:end].decode()
    return Change(file, place.lineno, kind, old, new, changed, max(functions, default=0))


# The tests without a change


@dataclass
class Facts:
    """What one test did before anything was changed."""

    seconds: float
    starts_process: bool
    calls: list[str]
    """Functions of the package it called, as `src/rookery/arena.py:12`."""
    cut: bool = False
    """Whether there were more calls than were noted."""
    shared: list[str] = field(default_factory=list)
    """Functions that imports and fixtures called."""


@dataclass
class Watcher:
    """A plugin of pytest that notes what every passed test of one file calls, and how long it takes."""

    tree: Path
    tests: dict[str, Facts] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    """Called by imports and fixtures: these may serve every test of the file."""
    calls: set[str] = field(default_factory=set)
    started: bool = False
    known: dict[types.CodeType, str] = field(default_factory=dict)
    seen: int = 0
    """Calls of the test so far, those of other packages included."""
    saved: float = 0.0

    def watch(self) -> None:
        sys.addaudithook(self.audit)
        if sys.version_info >= (3, 12):  # costs next to nothing
            sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "mutate")
            sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START)
            sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, sys.monitoring.events.PY_START, self.start)
        else:
            sys.settrace(self.trace)
            threading.settrace(self.trace)

    def audit(self, event: str, _: object) -> None:
        if event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec"):
            self.started = True

    def trace(self, frame: types.FrameType, event: str, _: object) -> None:
        self.start(frame.f_code, 0)
        self.seen += 1
        if self.seen > WATCHED_CALLS:
            sys.settrace(None)

    def start(self, code: types.CodeType, _: int) -> Any:
        if (name := self.known.get(code)) is None:
            path, prefix = code.co_filename, f"{self.tree}/"
            name = self.known[code] = (
                f"{path.removeprefix(prefix)}:{code.co_firstlineno}" if path.startswith(f"{prefix}{PACKAGE}/") else ""
            )
        if name:
            self.calls.add(name)
        return sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None  # until the next test

    def save(self) -> None:
        tests = {name: vars(test) for name, test in self.tests.items()}
        (self.tree / "result.json").write_text(json.dumps({"tests": tests, "shared": sorted(self.shared)}))
        self.saved = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        self.shared |= self.calls
        self.calls, self.started, self.seen = set(), False, 0
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()
        else:
            sys.settrace(self.trace)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "call":
            if call.excinfo is None:
                cut = self.seen > WATCHED_CALLS
                self.tests[item.nodeid] = Facts(call.duration, self.started, sorted(self.calls), cut)
            self.calls = set()
        elif call.excinfo is not None:
            self.tests.pop(item.nodeid, None)
        if call.when == "teardown" and time.monotonic() > self.saved + 2:
            self.save()


class Chosen:
    """A plugin of pytest that runs some tests in the order given, each for a limited time."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        order = {name: i for i, name in enumerate(self.tests)}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS + SLOWER * self.tests[item.nodeid])


# Runs of pytest in forks


def make_tree(number: int) -> Path:
    """A copy of the tree with the native modules beside the Python code."""
    tree = WORK / f"tree{number}"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
    installed = next(
        (place for path in sys.path for place in Path(path).glob("rookery") if list(place.glob("*.so"))), None
    )
    if installed is None:
        sys.exit("there is no native module: install the package first")
    for built in [*installed.glob("_native*"), *installed.glob("native")]:
        if built.is_dir():
            shutil.copytree(built, tree / PACKAGE / built.name, dirs_exist_ok=True)
        else:
            shutil.copy2(built, tree / PACKAGE / built.name)
    # A process that a test starts must not find the package where an editable install has it.
    (tree / "src/sitecustomize.py").write_text(
        "import sys\n"
        "sys.meta_path[:] = [finder for finder in sys.meta_path if 'rookery' not in type(finder).__module__]\n"
    )
    return tree


def fork(tree: Path, work: Callable[[], int], write_bytecode: bool = False) -> int:
    """Start a process of its own group that does the work in a copy of the tree; its number. Bytecode of changed files
    is never written: it could be taken for that of another change."""
    if child := os.fork():
        return child
    code = BROKEN
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.chdir(tree)
        with (tree / "output.txt").open("w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        os.environ |= {
            "PYTHONPATH": f"{tree}/src{os.pathsep}{tree}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "Agg",
        }
        sys.dont_write_bytecode = not write_bytecode
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "rookery", "conftest")]:
            del sys.modules[name]
        sys.modules["__main__"] = types.ModuleType("__main__")  # else new processes would run this file
        sys.meta_path[:] = [finder for finder in sys.meta_path if "rookery" not in type(finder).__module__]
        elsewhere = {str(ROOT), str(ROOT / "src"), ""}
        sys.path[:] = [str(tree / "src"), str(tree), *(path for path in sys.path if path not in elsewhere)]
        importlib.invalidate_caches()
        signal.setitimer(signal.ITIMER_REAL, COLLECT_SECONDS)
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run_pytest(tree: Path, files: Iterable[str], plugin: object, *options: str) -> int:
    arguments = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    arguments += ["--rootdir", str(tree), "-c", str(tree / "pyproject.toml")]
    arguments += [f"--basetemp={tree}-tmp", *options, *(str(tree / file) for file in files)]
    return int(pytest.main(arguments, plugins=[plugin]))


def run_all(trees: list[Path], jobs: Iterable[Callable[[Path], int]], done: Callable[[int, int, Path], None]) -> None:
    """Run all jobs, as many at a time as there are trees: a job starts a process; `done` gets its number in the list of
    jobs, how it ended, and the tree."""
    free, running, waiting = list(trees), dict[int, tuple[int, Path]](), enumerate(jobs)
    more = True
    try:
        while more or running:
            while more and free:
                if (following := next(waiting, None)) is None:
                    more = False
                else:
                    tree = free.pop()
                    running[following[1](tree)] = following[0], tree
            if running:
                child, status = os.waitpid(-1, 0)
                if child in running:
                    number, tree = running.pop(child)
                    if os.waitstatus_to_exitcode(status) == BROKEN:
                        sys.exit((tree / "output.txt").read_text())
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(child, signal.SIGKILL)  # what it had started
                    done(number, os.waitstatus_to_exitcode(status), tree)
                    free.append(tree)
    finally:
        for child in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)


def digest(paths: Iterable[Path]) -> str:
    found = hashlib.sha256(sys.version.encode())
    for path in sorted(paths):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def helpers(file: str) -> set[Path]:
    """What a file of tests imports from `tests`, directly or not, and the fixtures around it."""
    found: set[Path] = {
        place / "conftest.py" for place in Path(file).parents if (ROOT / place / "conftest.py").exists()
    }
    waiting = [Path(file), *found]
    while waiting:
        text = (ROOT / waiting.pop()).read_text(encoding="utf-8")
        for module, names in re.findall(
            r"^(?:from|import) (tests[\w.]*)(?: import (\([^)]*\)|.*))?", text, re.MULTILINE
        ):
            place = Path(*module.split("."))
            for path in (place, *(place / name for name in re.findall(r"\w+", names))):
                for there in (path.with_suffix(".py"), path / "__init__.py"):
                    if (ROOT / there).exists() and there not in found:
                        found.add(there)
                        waiting.append(there)
    return {ROOT / path for path in found}


def run_before(trees: list[Path], files: list[str]) -> dict[str, dict[str, Facts]]:
    """For every file of tests, the tests that pass; remembered from the last time if nothing has changed."""
    memory = WORK / "before.json"
    known = json.loads(memory.read_text()) if memory.exists() else {}
    code = digest((ROOT / PACKAGE).rglob("*.py"))
    key = {file: f"{file} {code} {digest([ROOT / file, *helpers(file)])}" for file in files}
    missing = [file for file in files if key[file] not in known]
    missing.sort(key=lambda file: -(ROOT / file).stat().st_size)  # the longest first: others run beside them

    def job(file: str) -> Callable[[Path], int]:
        def work(tree: Path) -> int:
            watcher = Watcher(tree)
            (tree / "result.json").unlink(missing_ok=True)
            signal.setitimer(signal.ITIMER_REAL, FILE_SECONDS)
            watcher.watch()
            code = run_pytest(tree, [file], watcher)
            watcher.save()
            return code

        return lambda tree: fork(tree, lambda: work(tree))

    def done(number: int, status: int, tree: Path) -> None:
        file, result = missing[number], tree / "result.json"
        found = json.loads(result.read_text()) if result.exists() else {"tests": {}, "shared": []}
        known[key[file]] = found
        seconds = sum(test["seconds"] for test in found["tests"].values())
        note = "" if status == 0 else f", and some are left out ({status})"
        print(f"before: {file}: {len(found['tests'])} tests, {seconds:.0f} s{note}", flush=True)
        current = set(key.values())
        memory.write_text(json.dumps({k: v for k, v in known.items() if k in current or k.split()[0] not in key}))

    run_all(trees, map(job, missing), done)
    before = {}
    for file in files:
        found = known[key[file]]
        before[file] = {name: Facts(**test) for name, test in found["tests"].items()}
        for test in before[file].values():
            test.shared = found["shared"]
    return before


# Which tests, and what they say


def concerned(file: str, tests: dict[str, str]) -> list[str]:
    """The files of tests that concern a module, and last the module itself, for its doctests: pytest would import it
    under the same name once more if it came first."""
    parts = Path(file).relative_to(PACKAGE).with_suffix("").parts
    module = ".".join(("rookery", *(part for part in parts if part != "__init__")))
    parent, _, last = module.rpartition(".")
    imports = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(parent)} import (\([^)]*|[^\n]*)\b{last}\b"
        if parent
        else r"\brookery\b"
    )
    folder = Path("tests", *parts[:-1])
    chosen = []
    for test, text in tests.items():
        path = Path(test)
        beside = path.parent == folder and (len(parts) > 1 or path.stem == f"test_{last}")
        if beside or path.stem in EVERYWHERE or imports.search(text):
            chosen.append(test)
    return [*chosen, file]


def choose(change: Change, before: dict[str, dict[str, Facts]], files: list[str]) -> dict[str, float]:
    """The tests to run and the seconds they take: those that call the changed function first, for changes outside
    functions those that call any of the file, and quick ones first."""
    name = f"{change.file}:{change.function or ''}"

    def may_notice(facts: Facts) -> bool:
        if change.function:
            return name in facts.calls or name in facts.shared
        return any(call.startswith(name) for call in facts.calls)

    everything = [item for test in files for item in before[test].items()]
    tests = [(may_notice(facts), facts.seconds, item, facts) for item, facts in everything]
    known = change.function > 0 and any(calls for calls, *_ in tests)
    ranked = [
        (not calls, seconds, item)
        for calls, seconds, item, facts in tests
        if calls or facts.starts_process or (seconds < QUICK_SECONDS and (facts.cut or not known))
    ]
    return {item: seconds for _, seconds, item in sorted(ranked)}


def failures(tree: Path) -> list[str]:
    """What pytest said had failed, with reasons: tests, or files of tests that could not be read."""
    return re.findall(r"^(?:FAILED|ERROR) (.*)", (tree / "output.txt").read_text(errors="replace"), re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--count", type=int, default=40, help="number of changes")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="number of changes at a time")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--only", nargs="+", metavar="PATH", help="files or folders to change, as src/rookery/arena.py")
    what.add_argument("--core", action="store_true", help=f"change only {', '.join(CORE)}")
    what.add_argument("--rest", action="store_true", help="change only the other files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="append one line per change to this file")
    options = parser.parse_args()
    os.nice(max(0, 10 - os.nice(0)))
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    for package in PACKAGES:
        with contextlib.suppress(ImportError):
            importlib.import_module(package)

    every = set((ROOT / PACKAGE).rglob("*.py"))
    core = {path for path in every if path.relative_to(ROOT / PACKAGE).parts[0] in CORE}
    pool = core if options.core else every - core if options.rest else every
    if options.only:
        wanted = [(ROOT / path).resolve() for path in options.only]
        pool = {path for path in every for place in wanted if path == place or place in path.parents}
    names = sorted(str(path.relative_to(ROOT)) for path in pool)
    texts = {file: (ROOT / file).read_text(encoding="utf-8") for file in names}
    pool_places = [(file, number) for file in names for number in range(len(places(ast.parse(texts[file]))))]
    random.Random(options.seed).shuffle(pool_places)
    print(f"{len(pool_places)} places in {len(names)} files", flush=True)
    drawn = (change(file, texts[file], number) for file, number in pool_places)
    sample = list(islice(filter(None, drawn), options.count))

    WORK.mkdir(parents=True, exist_ok=True)
    trees = [make_tree(number) for number in range(options.jobs)]
    tests = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    }
    files = {file: concerned(file, tests) for file in {change.file for change in sample}}
    before = run_before(trees, sorted({test for chosen in files.values() for test in chosen}))

    def chosen_files(file: str, tests: dict[str, float]) -> list[str]:
        return [test for test in files[file] if before[test].keys() & tests.keys()]

    # Tests that passed alone may fail beside others, for reasons that are not the change.
    unsure = sorted({str(Path(file).parent) for file in files})

    def unchanged_job(folder: str) -> Callable[[Path], int]:
        quick: dict[str, float] = {}
        for file in (file for file in files if str(Path(file).parent) == folder):
            quick |= list(choose(Change(file, 0, "", "", "", "", 0), before, files[file]).items())[:BESIDE]
        chosen = [test for test in before if before[test].keys() & quick.keys()]
        chosen.sort(key=lambda test: test.startswith(PACKAGE))  # doctests last, see `concerned`
        return lambda tree: fork(tree, lambda: run_pytest(tree, chosen, Chosen(quick)), write_bytecode=True)

    def unchanged_done(number: int, status: int, tree: Path) -> None:
        if status not in (0, 5):
            failed = failures(tree)
            print(f"left out for {unsure[number]}: {', '.join(failed) or f'all its tests ({status})'}", flush=True)
            named = {line.split(" - ")[0] for line in failed} | set(failed)
            for test in {test for file in files if str(Path(file).parent) == unsure[number] for test in files[file]}:
                kept = [name for name in before[test] if failed and not {name, test} & named]
                before[test] = {name: before[test][name] for name in kept}
            again.append(unsure[number])

    while unsure:
        again: list[str] = []
        run_all(trees, map(unchanged_job, unsure), unchanged_done)
        unsure = again

    def job(change: Change) -> Callable[[Path], int]:
        tests = choose(change, before, files[change.file])

        def start(tree: Path) -> int:
            (tree / change.file).write_text(change.text, encoding="utf-8")
            return fork(tree, lambda: run_pytest(tree, chosen_files(change.file, tests), Chosen(tests), "-x"))

        return start

    noticed = 0
    tested: list[int] = []
    begin = time.monotonic()

    def done(number: int, status: int, tree: Path) -> None:
        nonlocal noticed
        change = sample[number]
        shutil.copy2(ROOT / change.file, tree / change.file)
        survived = status in (0, 5)
        noticed += not survived
        tested.append(number)
        said = "hangs" if status == -signal.SIGALRM else "crashes" if status < 0 else "noticed"
        line = (ROOT / change.file).read_text(encoding="utf-8").splitlines()[change.line - 1].strip()
        if survived:
            print(
                f"NOT NOTICED: {change.file}:{change.line}: {change.kind}: {change.old} -> {change.new}\n    {line}",
                flush=True,
            )
        else:
            print(f"{said}: {change.file}:{change.line}: {change.kind}", flush=True)
        if options.json:
            facts = {
                "number": number,
                "file": change.file,
                "line": change.line,
                "kind": change.kind,
                "old": change.old,
                "new": change.new,
            }
            facts |= {"survived": survived, "said": "passed" if survived else said, "by": failures(tree), "text": line}
            with options.json.open("a") as out:
                out.write(json.dumps(facts) + "\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        run_all(trees, map(job, sample), done)
    for tree in trees:
        shutil.rmtree(tree, ignore_errors=True)
        shutil.rmtree(f"{tree}-tmp", ignore_errors=True)
    print(f"{time.monotonic() - begin:.0f} s")
    if len(tested) < len(sample):
        print(f"stopped: {len(sample) - len(tested)} of {len(sample)} changes were not tested")
    print(f"{noticed} of {len(tested)} changes noticed, {100 * noticed / max(1, len(tested)):.1f}%")


if __name__ == "__main__":
    main()
