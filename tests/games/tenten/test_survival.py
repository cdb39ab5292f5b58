"""How long games last."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from rookery.games.tenten.exact import Played
from rookery.games.tenten.survival import Survival

CHI_SQUARED = {2: (0.2422, 7.2247), 0: (0.0, 3.6889)}
"""Exact 95% limits of the mean of a Poisson variable that was seen to be 2 or 0, from printed tables."""


def test_survival_counts_stopped_games_without_a_death() -> None:
    lengths, fatal = np.array([10, 20, 30, 40]), np.full(4, -1)
    whole = Survival(lengths, np.array([True] * 4), lengths, fatal)
    assert whole.mean == 25
    half = Survival(lengths, np.array([True, True, False, False]), lengths, fatal)
    assert half.mean == 50
    assert half.interval[0] == pytest.approx(100 / 7.2247, rel=1e-3)
    assert half.data()["deaths_per_million"] == 20_000


def test_intervals_of_mean_lengths() -> None:
    lengths = np.array([10, 20, 30, 40])
    whole = Survival(lengths, np.array([True] * 4), 3 * lengths, np.full(4, -1))
    half = 1.96 * statistics.stdev([10, 20, 30, 40]) / 2
    assert whole.interval == pytest.approx((25 - half, 25 + half))
    low, high = CHI_SQUARED[2]
    some = Survival(lengths, np.array([True, False, True, False]), 3 * lengths, np.full(4, -1))
    assert some.interval == pytest.approx((100 / high, 100 / low), rel=1e-3)
    assert some.data() == {
        "games": 4, "rounds": 100, "deaths": 2, "mean_rounds": 50.0,
        "interval": pytest.approx([100 / high, 100 / low], rel=1e-3), "deaths_per_million": 20_000.0,
        "deaths_per_million_interval": pytest.approx([1e4 * low, 1e4 * high], rel=1e-3), "max_rounds": 40,
        "mean_score": 75.0,
    }  # fmt: skip
    endless = Survival(lengths, np.array([False] * 4), lengths, np.full(4, -1))
    assert endless.mean == 100
    assert endless.interval == pytest.approx((100 / CHI_SQUARED[0][1], math.inf), rel=1e-3)
    assert endless.data()["interval"][1] is None
    one = Survival(lengths[:1], np.array([True]), lengths, np.full(1, 3))
    assert one.interval[0] == pytest.approx(10 / 5.5716, rel=1e-3)


def test_rounds_per_death_of_a_policy() -> None:
    """By the spread of the games where at least a hundred ended and none was stopped, else by the number of deaths."""
    numbers = list(range(1, 101))
    mean, half = statistics.fmean(numbers), 1.96 * statistics.stdev(numbers) / 10
    every = Played(np.array(numbers), np.array(numbers), 1000)
    assert every.deaths == 100
    assert every.mean_rounds == pytest.approx((mean, mean - half, mean + half))
    stopped = Played(np.array([*numbers, 1000]), np.array([*numbers, 0]), 1000)
    assert stopped.deaths == 100
    # Garwood's limits for 100, as printed: 81.36 and 121.63.
    assert stopped.mean_rounds == pytest.approx((60.5, 6050 / 121.63, 6050 / 81.36), rel=1e-3)
    low, high = CHI_SQUARED[2]
    few = Played(np.array([10, 20, 50]), np.zeros(3, np.int64), 50)
    assert few.mean_rounds == pytest.approx((40, 80 / high, 80 / low), rel=1e-3)
    none = Played(np.array([50, 50]), np.zeros(2, np.int64), 50)
    assert none.mean_rounds == pytest.approx((math.inf, 100 / CHI_SQUARED[0][1], math.inf), rel=1e-3)
    ninety_nine = Played(np.array(numbers[:99]), np.array(numbers[:99]), 1000)
    assert ninety_nine.mean_rounds[0] == 50
    assert ninety_nine.mean_rounds[1] == pytest.approx(4950 / 120.53, rel=1e-3)
