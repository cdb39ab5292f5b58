"""Long commands are killed at random moments and resumed, and meet full disks, folders that cannot be written, clocks
that jump and damaged files: `python -m tests.crash --kills 200 --seed 0`.

The end of a command that was killed and resumed must equal that of an undisturbed one. What cannot go on must say so in
one sentence with exit code 2, and lose nothing: afterwards the command is resumed and must reach the same end.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from rookery import cli
from rookery.registry import load, method

OUT = "out"


@dataclass(frozen=True)
class Case:
    """A command that is run in a folder of its own."""

    words: str
    resume: str = "--resume"
    compared: str = "*"
    """Files that must be equal at the end."""
    only_names: bool = False
    """Whether the files hold measured speeds, so that only their names can be equal."""
    first_runs: int = 0
    """How many runs of a search are compared: one that is resumed makes more."""

    @property
    def name(self) -> str:
        return " ".join(self.words.split()[:3])

    @property
    def arguments(self) -> list[str]:
        return [*self.words.split(), "--json", *self.resume.split()]


def train(words: str, compared: str = "*", first_runs: int = 0) -> Case:
    return Case(f"train {words} --seed 3 --out {OUT}", compared=compared, first_runs=first_runs)


TRAINING = [
    train("2048 q-learning --variant 2x2 --games 8000"),
    train("2048 dqn --variant 2x2 --steps 60 --width 16 --layers 1 --games 8 --batch 32 --memory 1000"),
    train("2048 zero --variant 2x2 --channels 4 --blocks 1 --games 4 --group 4 --simulations 4 --iterations 5 "
          "--window 200 --batch 16"),
    train("2048 ntuple --variant 2x2 --games 20000 --table-bits 10", "model.npz"),  # rows follow the clock
    train("2048 lspi --variant 2x2 --iterations 6 --tolerance 0 --games 8 --steps 20"),
    train("checkers q-learning --games 5000"),
    train("checkers dqn --width 8 --games 4 --batch 16 --memory 1000 --steps 60"),
    train("checkers td --generations 8 --games 32 --batch 32 --depth 2 --half-step 2 --threads 1"),
    train("checkers net --generations 4 --games 60 --nodes 20 --epochs 1 --batch 64 --window 2 --threads 1"),
    train("endgames q-learning --reward heuristic --matches 100 --runs 2"),
    train("endgames perfect --passes 4 --rounds-per-pass 1 --threads 1"),
    train("morpion zero --board 14 --channels 4 --blocks 1 --games 4 --searches 1 --level 1 --search-iterations 4 "
          "--window 32 --steps 4 --batch 16 --iterations 4 --threads 1"),
    train("morpion r2 --iterations 4 --episodes 2 --simulations 10 --channels 4 --hidden 8 --epochs 1 --board 16"),
    # Playouts of runs that were cut short count in all.
    train("morpion search --variant 4D --method nrpa --level 1 --runs 40 --threads 1", "best.json", first_runs=40),
    train("solitaire-chess dqn --width 8 --heads 1 --layers 1 --nets 1 --steps 40 --batch 8 --games 4 --max-pieces 4"),
    train("solitaire-chess paper-dqn --width 8 --heads 1 --layers 1 --steps 40 --batch 8 --games 4 --max-pieces 4"),
    train("solitaire-chess taught --width 8 --heads 1 --layers 1 --puzzles 300 --steps 40 --batch 16 --report 5"),
    train("tenten ntuple --variant 3x3-three --steps 40000 --games 4 --batch 4000 --threads 1"),
    train("tenten lspi --variant 3x3-three --turns 5 --tolerance 0 --updates 500 --max-rounds 1000 --threads 1"),
    train("tenten linear --variant 3x3-three --generations 8 --population 8 --elite 2 --rounds 200 --threads 1"),
]  # fmt: skip
OTHERS = [
    Case(f"search morpion --variant 4T --method nrpa --level 1 --runs 60 --threads 1 --out {OUT}/search.json",
         compared="search.json", first_runs=60),
    Case(f"arena checkers random minimax:depth=2 minimax:depth=1 --games 12 --on here --out {OUT}"),
    Case(f"arena tenten random mcts:simulations=5 --variant 3x3-three --games 20 --on processes:2 --out {OUT}"),
    Case(f"sweep tenten lspi --variant 3x3-three --over discount=0.5,0.9 --seeds 1 --turns 2 --updates 200 "
         f"--max-rounds 500 --threads 1 --on here --out {OUT}"),
    Case(f"reproduce overview --quick --on here --out {OUT}", resume="", only_names=True),
]  # fmt: skip
CASES = [*TRAINING, *OTHERS]


# Running


def start(case: Case, folder: Path, before: Callable[[], None] = lambda: None) -> int:
    """Run a command in a fork, which has everything imported; returns the process."""
    process = os.fork()
    if process:
        return process
    code: Any = 70
    try:
        os.chdir(folder)
        for stream, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), stream)
        sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
        for name, module in list(sys.modules.items()):
            if name.startswith("rookery"):
                for limit in ("CHECKPOINT_SECONDS", "SAVE_SECONDS", "ROW_SECONDS"):
                    if hasattr(module, limit):
                        setattr(module, limit, 0.0)
        before()
        try:
            cli.main(case.arguments)
        except SystemExit as stop:
            code = stop.code
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def finish(process: int) -> int:
    """The exit code of a process, negative if a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def preload(cases: Sequence[Case]) -> None:
    """Import what commands need, once for all forks."""
    import rookery.arena
    import rookery.scale.sweep
    import rookery.studies.runner  # noqa: F401

    for case in cases:
        verb, game, name, *_ = case.words.split()
        if verb in ("train", "sweep"):
            method(name, load(game)).imported()
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            cli.main([*case.words.split()[: 3 if verb in ("train", "sweep") else 2], "--help"])


# What is compared

TIMES = ("second", "minute", "share_learning")
NAMES = {"started", "process", "command", "time", "page", "out", "folder", "run", "history", "date", "playouts"}
"""What a killed search had done counts among its playouts."""


def cleaned(value: Any) -> Any:
    """JSON without what differs from run to run."""
    if isinstance(value, dict):
        kept = [name for name in value if name not in NAMES and not any(word in name for word in TIMES)]
        return {name: cleaned(value[name]) for name in kept}
    return [cleaned(item) for item in value] if isinstance(value, list) else value


def joined(info: Any, arrays: Mapping[str, np.ndarray]) -> bytes:
    parts = [f"{name} {array.dtype} {array.shape}".encode() + array.tobytes() for name, array in sorted(arrays.items())]
    return json.dumps(cleaned(info), sort_keys=True).encode() + b"".join(parts)


def fingerprint(case: Case, folder: Path) -> dict[str, str]:
    """What a command left, file by file."""
    found = {}
    for file in sorted((folder / OUT).rglob("*")):
        if not file.is_file() or file.suffix in (".part", ".html", ".png", ".svg") or not file.match(case.compared):
            continue
        if case.only_names:
            data = b""
        elif case.first_runs:
            runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
            data = json.dumps(cleaned(runs[: case.first_runs])).encode()
        elif file.suffix == ".npz":
            with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as arrays:
                parts = {name: arrays[name] for name in arrays.files}
            info = json.loads(parts.pop("info").tobytes()) if "info" in parts else None
            data = joined(info, parts)
        elif file.suffix == ".safetensors":
            data = joined(None, safetensors.numpy.load_file(file))
        elif file.suffix == ".json":
            data = json.dumps(cleaned(json.loads(file.read_text(encoding="utf-8"))), sort_keys=True).encode()
        elif file.suffix == ".jsonl":
            rows = [cleaned(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
            lines = [
                json.dumps(row, sort_keys=True) for row in rows if "error" not in row
            ]  # what failed was done again
            is_job = bool(rows) and all("key" in row for row in rows[1:])
            data = "\n".join([lines[0], *sorted(lines[1:])] if is_job else lines).encode()
        else:
            data = b"\n".join(line for line in file.read_bytes().splitlines() if not line.startswith(b"#"))
        found[str(file.relative_to(folder / OUT))] = hashlib.blake2b(data, digest_size=8).hexdigest()
    return found


@dataclass
class Undisturbed:
    """A command's end, and how long it takes."""

    files: dict[str, str]
    seconds: float


def undisturbed(case: Case, folder: Path) -> Undisturbed:
    begin = time.monotonic()
    code = finish(start(case, folder))
    assert code == 0, f"{' '.join(case.arguments)}: exit code {code}\n{said(folder)}"
    return Undisturbed(fingerprint(case, folder), time.monotonic() - begin)


def said(folder: Path) -> str:
    return (folder / "stderr").read_text(encoding="utf-8", errors="replace")[-3000:]


def check_end(case: Case, folder: Path, whole: Undisturbed, what: str, but: Path | None = None) -> None:
    """Run the command to its end, which must be the undisturbed one; `but` is a file that need not be."""
    code = finish(start(case, folder))
    assert code == 0, f"{what}: exit code {code}\n{said(folder)}"
    if but:
        but.unlink()
    files = fingerprint(case, folder)
    names = {name for name in files.keys() | whole.files.keys() if files.get(name) != whole.files.get(name)}
    different = sorted(name for name in names if folder / OUT / name != but)
    assert not different, f"{what}: {', '.join(different)} differ from an undisturbed run"


def check_refusal(folder: Path, code: int, what: str) -> None:
    """It must have ended with one sentence."""
    error = said(folder)
    assert code == 2, f"{what}: exit code {code}\n{error}"
    assert "Traceback" not in error, f"{what}: a traceback\n{error}"
    assert sum(line.startswith("rookery: ") for line in error.splitlines()) == 1, f"{what}: no sentence\n{error}"


# What happens to commands


def kills(case: Case, folder: Path, whole: Undisturbed, rng: random.Random, count: int) -> int:
    """Kill and resume a command, then let it end; returns how many kills have hit it."""
    hit = 0
    for _ in range(count):
        process = start(case, folder)
        time.sleep(rng.uniform(0, whole.seconds))
        os.kill(process, signal.SIGKILL)
        code = finish(process)
        hit += code == -signal.SIGKILL
        assert code in (0, -signal.SIGKILL), f"resumed after a kill: exit code {code}\n{said(folder)}"
    check_end(case, folder, whole, f"after {hit} kills")
    return hit


def full_disk(case: Case, folder: Path, whole: Undisturbed, rng: random.Random) -> None:
    """No file may grow beyond a limit, which stands for it."""
    most = rng.choice((100, 300, 600))
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    code = finish(start(case, folder, limit))
    if code:  # what writes little may go well
        check_refusal(folder, code, "on a full disk")
    check_end(case, folder, whole, "resumed after a run on a full disk")


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[bool]:
    """A file system of its own for a folder; says whether it may be mounted."""
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield done
    finally:
        if done:
            subprocess.run(["umount", str(folder)], check=True)


def full_filesystem(case: Case, folder: Path, whole: Undisturbed, rng: random.Random) -> None:
    """The folder is a file system of two pages, of which one is taken; where that may be mounted."""
    out, kept = folder / OUT, folder / "kept"
    out.mkdir()
    with mounted(out, "size=8k") as done:
        if not done:
            return
        (out / "ballast").write_bytes(b"x" * 4096)
        code = finish(start(case, folder))
        if code:
            check_refusal(folder, code, "on a full file system")
        shutil.copytree(out, kept)
    out.rmdir()
    (kept / "ballast").unlink()
    kept.rename(out)
    check_end(case, folder, whole, "resumed after a run on a full file system")


def read_only(case: Case, folder: Path, whole: Undisturbed, rng: random.Random) -> None:
    """The folder cannot be written."""
    out = folder / OUT
    out.mkdir()
    out.chmod(0o555)
    with mounted(out, "ro") as done:
        if done or os.geteuid():  # root may write everywhere else
            check_refusal(folder, finish(start(case, folder)), "in a read-only folder")
    out.chmod(0o755)
    check_end(case, folder, whole, "resumed after a run in a read-only folder")


def jumping_clock(case: Case, folder: Path, whole: Undisturbed, rng: random.Random) -> None:
    """The wall clock jumps by up to three years, back and forth."""
    real = time.time

    def jump() -> None:
        time.time = lambda: real() + rng.uniform(-1e8, 1e8)

    process = start(case, folder, jump)
    time.sleep(rng.uniform(0, whole.seconds))
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    finish(process)
    check_end(case, folder, whole, "after a clock that jumped")


def damaged_file(case: Case, folder: Path, whole: Undisturbed, rng: random.Random) -> None:
    """A file of a killed command is cut off or overwritten."""
    process = start(case, folder)
    time.sleep(rng.uniform(0.5, 1) * whole.seconds)
    os.kill(process, signal.SIGKILL)
    finish(process)
    files = [file for file in sorted((folder / OUT).rglob("*")) if file.is_file() and file.suffix != ".part"]
    if not files:
        return
    file = rng.choice(files)
    data = file.read_bytes()
    cut = data[: rng.randrange(len(data) + 1)]
    damage = cut if rng.random() < 0.5 else cut + rng.randbytes(len(data) - len(cut))
    file.write_bytes(damage)
    what = f"{file.name} was damaged"
    code = finish(start(case, folder))
    if code == 0:  # a finished run leaves its model as it is
        check_end(case, folder, whole, what, file if file.read_bytes() == damage else None)
        return
    check_refusal(folder, code, what)
    assert file.read_bytes() == damage, f"{what}: a refused file was changed"
    file.write_bytes(data)
    check_end(case, folder, whole, f"{what} and mended")


FAULTS = [full_disk, full_filesystem, read_only, jumping_clock, damaged_file]


# The server


def serve_kills(folder: Path, rng: random.Random, count: int) -> int:
    """Kill a server while games are played on it: what it has acknowledged is there after a restart."""
    from tests.web.conftest import start_server

    hit = 0
    known: dict[str, tuple[int, str]] = {}
    for _ in range(count):
        server = start_server(folder)
        try:
            for play, (plies, position) in known.items():
                view = server.call(f"/plays/{play}")
                assert (view["ply"], view["position"]) == (plies, position), f"the game {play} has changed"
            end = time.monotonic() + rng.uniform(0, 1)
            while time.monotonic() < end:
                view = server.call("/plays", {"game": "checkers", "players": ["person", "person"]})
                for _ in range(rng.randrange(6)):
                    view = server.call(f"/plays/{view['id']}/move", {"action": view["legal"][0]["action"]})
                known[view["id"]] = view["ply"], view["position"]
        finally:
            server.process.kill()
            server.process.wait(30)
        hit += 1
    server = start_server(folder)
    try:
        for play, (plies, position) in known.items():
            view = server.call(f"/plays/{play}")
            assert (view["ply"], view["position"]) == (plies, position), f"the game {play} has changed"
    finally:
        server.process.terminate()
        server.process.wait(30)
    return hit


# All of it


@dataclass
class Report:
    kills: int = 0
    faults: int = 0
    failures: list[str] = field(default_factory=list)


@contextlib.contextmanager
def fresh() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


def crash(count: int, seed: int, cases: list[Case], serve: bool, faults: bool, told: Callable[[str], None]) -> Report:
    """Kill commands at a number of random moments altogether, and let every fault happen to every one."""
    report, wholes = Report(), {}

    def attempt(case: Case, what: str, act: Callable[[Path, Undisturbed, random.Random], int | None]) -> int:
        rng = random.Random(f"{seed} {case.words} {what}")
        try:
            if case not in wholes:
                with fresh() as folder:
                    wholes[case] = undisturbed(case, folder)
            with fresh() as folder:
                return act(folder, wholes[case], rng) or 0
        except Exception as error:
            sentence = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
            report.failures.append(f"rookery {' '.join(case.arguments)}\n  {what}: {sentence}")
            told(report.failures[-1])
            return 0

    begin, rounds = time.monotonic(), 0
    while report.kills < count and rounds < 10 * count:
        for case in cases:
            if report.kills >= count:
                break
            wanted = random.Random(f"{seed} {rounds}").randint(1, 3)
            report.kills += attempt(case, f"kills, round {rounds}", partial(kills, case, count=wanted))
            told(
                f"{case.name}: {report.kills} kills, {time.monotonic() - begin:.0f} s, {len(report.failures)} failures"
            )
        if serve and report.kills < count:
            with fresh() as folder:
                try:
                    report.kills += serve_kills(folder, random.Random(f"{seed} serve {rounds}"), 3)
                except Exception:
                    report.failures.append(f"rookery serve\n  kills, round {rounds}: {traceback.format_exc()}")
        rounds += 1
    for case in cases if faults else ():
        for fault in FAULTS:
            attempt(case, fault.__name__, lambda *given, case=case, fault=fault: fault(case, *given))
            report.faults += 1
        told(f"{case.name}: faults, {time.monotonic() - begin:.0f} s, {len(report.failures)} failures")
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="number of kills altogether")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", nargs="*", default=(), help='commands that have these words, such as "train checkers"'
    )
    parser.add_argument("--no-faults", action="store_true", help="leave out full disks and the like")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    cases = [case for case in CASES if not given.only or any(words in case.words for words in given.only)]
    preload(cases)
    report = crash(
        given.kills, given.seed, cases, not given.only or "serve" in given.only, not given.no_faults,
        lambda line: print(line, file=sys.stderr, flush=True),
    )  # fmt: skip
    for failure in report.failures:
        print(f"failure: {failure}\n")
    print(f"{report.kills} kills, {report.faults} faults, {len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
