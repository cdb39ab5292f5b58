"""How much faster the four long jobs are on N cores than on one: a tournament, a search, a sweep, and self-play.

    python -m benchmarks.scaling [N]

Each is measured as tasks per second: on one core with few tasks, on N processes with N times as many, so that both take
about as long. Starting the processes is left out: the clock starts when the first results are in.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rookery
from rookery import arena
from rookery.games.morpion.search import CampaignSettings, run_task
from rookery.progress import cores
from rookery.scale import Job, sweep
from rookery.training import train


def tournament(tasks: int, on: str) -> Iterator[Any]:
    """Games of checkers."""
    return iter(arena.Tournament("checkers", ("minimax:depth=6", "minimax:depth=5"), 4 * tasks, seed=1).play(on))


def search(tasks: int, on: str) -> Iterator[Any]:
    """Runs of nested search on Morpion Solitaire."""
    settings = CampaignSettings(variant="5D", method="nrpa", level=2)
    return Job({"job": "search"}, [run_task(settings, seed) for seed in range(tasks)]).run(on)


def trials(tasks: int, on: str) -> Iterator[Any]:
    """Trials of a sweep: LSPI on a small board of 1010!."""
    values = [0.5 + 0.4 * number / tasks for number in range(tasks)]
    with tempfile.TemporaryDirectory() as folder:
        planned = sweep.plan("tenten", "lspi", {"discount": values}, variant="4x4-seven", updates=6, out=folder)
        yield from sweep.grid_job(planned).run(on)


def per_second(job: Callable[[int, str], Iterator[Any]], tasks: int, on: str, workers: int) -> float:
    """Tasks per second from the time when every worker had a first result."""
    times = []
    for _ in job(tasks, on):
        times.append(time.perf_counter())
    skipped = min(len(times) - 2, workers)
    return (len(times) - 1 - skipped) / (times[-1] - times[skipped])


def self_play(actors: int) -> float:
    """Moves of self-play per second; the learner has a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        run = train(
            "checkers", "zero", out=Path(folder) / "run", actors=actors, games=16 * actors, group=8, simulations=32,
            channels=16, blocks=2, reuse=0.1, iterations=4, on_row=lambda row: None,
        )  # fmt: skip
    return max(float(row["moves_per_second"]) for row in run.metrics[1:])


def main(words: list[str]) -> None:
    count = int(words[0]) if words else cores()
    rookery.load("checkers")
    for name, job, tasks in (("tournament", tournament, 24), ("search", search, 24), ("sweep", trials, 12)):
        alone = per_second(job, tasks, "processes:1", 1)
        many = per_second(job, tasks * count, f"processes:{count}", count)
        print(
            f"{name}: {many / alone:.2f} times as fast on {count} cores ({many:.2f} tasks/s, {alone:.2f})", flush=True
        )
    alone, many = self_play(2) / 2, self_play(count)
    print(f"self-play: {many / alone:.2f} times as fast on {count} cores ({many:.0f} moves/s, {alone:.0f})", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
