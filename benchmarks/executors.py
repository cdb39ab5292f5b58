"""What executors of `rookery.scale` cost and gain on this machine: start-up, overhead per task, throughput, memory.

    python benchmarks/executors.py [processes:2 ray ...]

Throughput is that of games of checkers, each executor beside `here` in turn. Other work on the machine disturbs the
clock, so the processor time per game is measured as well, start-up included: what an executor adds to it is its cost.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rookery import arena
from rookery.scale import executors
from rookery.scale.tasks import Task

AGENTS = ("minimax:depth=6", "minimax:depth=5")
ROUNDS = 4


def games_per_second(on: str, games: int) -> tuple[float, float]:
    """Games per second once all workers are at work, and seconds until the first game was done."""
    played = arena.Tournament("checkers", AGENTS, games, seed=1)
    begin, times = time.perf_counter(), []
    for _ in played.play(on):
        times.append(time.perf_counter())
    skipped = games // 4
    return (games - skipped) / (times[-1] - times[skipped - 1]), times[0] - begin


def processor_seconds(on: str, games: int) -> float:
    """Processor time per game of this process and its children, start-up included."""
    before = _processor()
    for _ in arena.Tournament("checkers", AGENTS, games, seed=1).play(on):
        pass
    return (_processor() - before) / games


def _processor() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def seconds_per_task(on: str, count: int, batched: bool) -> float:
    """Seconds that a task that does nothing takes of a worker, after the first tenth of the tasks."""
    tasks = [Task(str(n), "operator:neg", {"args": [n]}) for n in range(count)]
    times = []
    for message in executors.carry_out(tasks, on, count=count if batched else None):
        if message is not None:
            times.append(time.perf_counter())
    skipped = count // 10
    return (times[-1] - times[skipped]) / (count - skipped)


def memory() -> float:
    """Bytes of all processes of this session that this process has started, shared pages divided (PSS)."""
    total, mine = 0, {str(Path("/proc/self").resolve().name)}
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[folder.name] = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    grown = True
    while grown:
        new = {child for child, parent in parents.items() if parent in mine} - mine
        grown, mine = bool(new), mine | new
    for process in mine:
        try:
            text = Path("/proc", process, "smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
    return total


def memory_at_work(on: str) -> float:
    """Bytes while tasks run, less those of this process alone."""
    before = memory()
    tasks = [Task(str(n), "time:sleep", {"args": [3]}) for n in range(2)]
    begin = time.perf_counter()
    most = 0.0
    for _ in executors.carry_out(tasks, on, count=2):
        if time.perf_counter() - begin > 1:
            most = max(most, memory())
    return most - before


def main(names: Sequence[str]) -> None:
    for on in names:
        ratios, starts = [], []
        for _ in range(ROUNDS):
            here, _ = games_per_second("here", 60)
            there, start = games_per_second(on, 160)
            ratios.append(there / here)
            starts.append(start)
        print(f"{on}: {statistics.median(ratios):.2f} times as many games per second as here (all: "
              f"{', '.join(f'{ratio:.2f}' for ratio in ratios)}); first game after {min(starts):.2f} s")  # fmt: skip
        if not on.startswith("ray"):
            alone, spread = (min(processor_seconds(where, 400) for _ in range(2)) for where in ("here", on))
            print(f"{on}: {1e3 * spread:.2f} ms of processor time per game, {1e3 * alone:.2f} ms here")
        count = 3000
        each = [min(seconds_per_task(on, count, batched) for _ in range(2)) for batched in (False, True)]
        print(f"{on}: a task that does nothing takes {1e6 * each[0]:,.0f} µs alone, {1e6 * each[1]:,.0f} µs in batches")
        print(f"{on}: {memory_at_work(on) / 2**20:,.0f} MiB for two workers")


if __name__ == "__main__":
    main(sys.argv[1:] or ["processes:2"])
