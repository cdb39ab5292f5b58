"""How a job would scale: a small simulation of one driver that hands tasks to many workers.

The driver hands over and takes back one batch after the other, which costs it a little each; workers do batches, whose
tasks take times drawn from measured ones. A job ends when its last task does. Some jobs come in rounds, of which each
needs the one before: then every round waits for its slowest task, and a part of each round is done by one process.

Without any costs, a thousand tasks of one second scale as they should, and as Amdahl's law says they should not:

>>> free = Costs(start=0, batch=0, task=0)
>>> simulate(SimulatedJob("games", 1000, (1.0,)), 100, free).speedup
100.0
>>> slow = simulate(SimulatedJob("rounds", 1000, (1.0,), rounds=10, alone=5.0), 100, free)
>>> slow.speedup, slow.bottleneck
(17.5, 'the part that is done alone')

`python -m rookery.scale.simulate` prints the table of the documentation.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.scale.executors import batch_size

CORES = (64, 512, 4096)


@dataclass(frozen=True)
class Costs:
    """Measured costs of an executor, in seconds."""

    start: float = 6.0
    """Until the first task begins."""
    batch: float = 0.003
    """What the driver spends on handing over a batch and taking back its rows."""
    task: float = 60e-6
    """What the driver spends on every task: its row is read, written and counted."""
    batch_seconds: float = 1.0
    """How long a batch should take."""


ON_RAY = Costs()
"""The costs that were measured with Ray."""


@dataclass(frozen=True)
class SimulatedJob:
    """A job as the simulation sees it."""

    name: str
    tasks: int
    seconds: Sequence[float]
    """Times that tasks were measured to take."""
    rounds: int = 1
    """Parts of the job that wait for each other."""
    alone: float = 0.0
    """Seconds of each round that one process spends while the others wait."""


@dataclass(frozen=True)
class Simulated:
    """What came of it."""

    seconds: float
    speedup: float
    """Against one core without any executor."""
    busy: float
    """Share of the workers' time that is spent on tasks."""
    bottleneck: str


def simulate(job: SimulatedJob, cores: int, costs: Costs = ON_RAY, seed: int = 0) -> Simulated:
    """Run a job on a number of cores, on paper."""
    rng = random.Random(seed)
    now, work, driver, waiting = costs.start, 0.0, 0.0, 0.0
    for part in range(job.rounds):
        count = job.tasks // job.rounds + (part < job.tasks % job.rounds)
        times = [rng.choice(job.seconds) for _ in range(count)]
        work += sum(times) + job.alone
        mean = sum(times) / max(1, count)
        free = [now] * min(cores, max(1, count))  # when each worker is free; later ones would have nothing to do
        heapq.heapify(free)
        ready, ends, done = now, [now], 0  # when the driver is ready to hand over the next batch
        while done < count:
            left = count - done
            size = batch_size(left, cores, mean, costs.batch_seconds, costs.batch)
            begin = max(heapq.heappop(free), ready)
            cost = costs.batch + size * costs.task
            ready = max(ready, begin) + cost
            driver += cost
            end = ready + sum(times[done : done + size])
            heapq.heappush(free, end)
            ends.append(end)
            done += size
        last = max(ends)
        if len(ends) > 1:
            in_order = sorted(ends)
            waiting += last - in_order[max(0, len(in_order) - min(cores, count))]  # from the first idle worker on
        now = last + job.alone
    seconds = now
    shares = {
        "the driver": driver / seconds,
        "the part that is done alone": job.rounds * job.alone / seconds,
        "the last tasks": waiting / seconds,
        "the start": costs.start / seconds,
    }
    worst = max(shares, key=lambda name: shares[name])
    busy = work / (seconds * cores)
    bottleneck = "nothing" if busy > 0.9 and shares["the driver"] < 0.5 else worst
    return Simulated(seconds, work / seconds, busy, bottleneck)


JOBS = (
    SimulatedJob("tournament: 100,000 games of 61 ms", 100_000, (0.041, 0.051, 0.061, 0.071, 0.081)),
    SimulatedJob("search: 100,000 runs of 9.5 s", 100_000, (9.25, 9.67)),
    SimulatedJob("sweep: 40 trials of 3 seeds, 10 minutes each", 120, (420.0, 490.0, 600.0, 930.0)),
    SimulatedJob("self-play: 100 rounds of 5,000 games of 8 s, 60 s of learning", 500_000, (5.0, 8.0, 11.0), 100, 60.0),
)
"""The four jobs of the documentation."""


def main() -> None:
    print("| job | one core | " + " | ".join(f"{cores:,} cores" for cores in CORES) + " |")
    print("|---|---|" + "---|" * len(CORES))
    for job in JOBS:
        cells = []
        for cores in CORES:
            found = simulate(job, cores)
            cells.append(f"{found.speedup:,.0f} ({found.busy:.0%} busy; {found.bottleneck})")
        mean = sum(job.seconds) / len(job.seconds)
        print(f"| {job.name} | {(job.tasks * mean + job.rounds * job.alone) / 3600:,.0f} h | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
