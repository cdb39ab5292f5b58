"""How sure a measured number is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def wilson_interval(successes: float, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share. Half successes (draws) are allowed.

    >>> [round(x, 3) for x in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def _at_most(k: int, mean: float) -> float:
    """P(Poisson(mean) <= k)."""
    if mean == 0:
        return 1.0
    return math.fsum(math.exp(i * math.log(mean) - mean - math.lgamma(i + 1)) for i in range(k + 1))


def poisson_interval(count: int, error: float = 0.05) -> tuple[float, float]:
    """The exact (Garwood) interval for the mean of a Poisson variable seen once.

    >>> [round(x, 2) for x in poisson_interval(10)]
    [4.8, 18.39]
    >>> [round(x, 2) for x in poisson_interval(0)]
    [0.0, 3.69]
    """

    def solve(k: int, chance: float) -> float:
        low, high = 0.0, 2.0 * k + 20
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if _at_most(k, middle) > chance else (low, middle)
        return low

    lower = 0.0 if count == 0 else solve(count - 1, 1 - error / 2)
    return lower, solve(count, error / 2)


def median_interval(samples: Sequence[float], error: float = 0.05) -> tuple[float, float]:
    """The interval of a median between two order statistics: the narrowest that covers it with probability 95%.

    Fewer than six samples do not suffice for that, and give their range.

    >>> median_interval([3, 1, 2])
    (1, 3)
    >>> median_interval(range(1, 11))
    (2, 9)
    """
    ordered, count = sorted(samples), len(samples)
    below = 0
    while 2 * sum(math.comb(count, k) for k in range(below + 2)) / 2**count <= error:
        below += 1
    return ordered[below], ordered[count - 1 - below]


def bootstrap_interval(
    samples: npt.NDArray[np.float64], seed: int = 0, resamples: int = 2000, error: float = 0.05
) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean."""
    rng = np.random.default_rng(seed)
    means = [samples[rng.integers(len(samples), size=len(samples))].mean() for _ in range(resamples)]
    low, high = np.quantile(means, [error / 2, 1 - error / 2])
    return float(low), float(high)
