"""What limits two threads: steps of checkers per second on two threads and in two processes, beside one thread.

    python -m benchmarks.two_threads

Two processes of half the games each share nothing. Where they gain more than two threads, the cores are not the limit:
it is that threads wait for each other at every step.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier

import rookery

ROUNDS = 5


def steps_per_second(games: int, threads: int) -> float:
    """Random steps by the clock, with everything that `rookery.vector` gives."""
    envs = rookery.vector(rookery.load("checkers"), games, seed=1, threads=threads)
    steps = max(30, 600_000 // games)
    for _ in range(10):
        envs.step(envs.sample())
    begin = time.perf_counter()
    for _ in range(steps):
        envs.step(envs.sample())
    return steps * games / (time.perf_counter() - begin)


def _beside_another(found: Queue[float], ready: Barrier, games: int) -> None:
    ready.wait()
    found.put(steps_per_second(games, 1))


def two_processes(games: int) -> float:
    """Steps of two processes together, each with half the games."""
    context = multiprocessing.get_context("spawn")
    found, ready = context.Queue(), context.Barrier(2)
    workers = [context.Process(target=_beside_another, args=(found, ready, games // 2)) for _ in range(2)]
    for worker in workers:
        worker.start()
    total = sum(found.get() for _ in workers)
    for worker in workers:
        worker.join()
    return float(total)


def main() -> None:
    for games in (256, 1024, 4096, 16384):
        threads, processes = [], []
        for _ in range(ROUNDS):
            one = steps_per_second(games, 1)
            threads.append(steps_per_second(games, 2) / one)
            processes.append(two_processes(games) / one)
        print(
            f"{games:,} games: two threads {statistics.median(threads):.2f} times one "
            f"({min(threads):.2f} to {max(threads):.2f}), two processes {statistics.median(processes):.2f} "
            f"({min(processes):.2f} to {max(processes):.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
