"""Intervals, compared with those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.statistics import bootstrap_interval, median_interval, poisson_interval, wilson_interval

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("trials", [1, 2, 7, 100, 10_000])
def test_wilson(trials: int) -> None:
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        theirs = stats.binomtest(successes, trials).proportion_ci(0.95, "wilson")
        ours = wilson_interval(successes, trials, stats.norm.ppf(0.975))
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert wilson_interval(successes, trials) == pytest.approx(ours, abs=1e-4)
    assert wilson_interval(0, 0) == (0, 1)


def test_wilson_with_draws() -> None:
    """Where half a success counts, the limits are those shares whose own score test just keeps the observed share."""
    for successes, trials in ((0.5, 1), (3.5, 10), (99.5, 100)):
        for limit in wilson_interval(successes, trials, 2.5):
            assert abs(successes / trials - limit) == pytest.approx(2.5 * (limit * (1 - limit) / trials) ** 0.5)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 100, 1000])
@pytest.mark.parametrize("error", [0.05, 0.2, 0.001])
def test_poisson(count: int, error: float) -> None:
    """Garwood's limits are quantiles of chi-squared distributions."""
    low = stats.chi2.ppf(error / 2, 2 * count) / 2 if count else 0
    high = stats.chi2.ppf(1 - error / 2, 2 * count + 2) / 2
    assert poisson_interval(count, error) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("count", [1, 5, 6, 8, 9, 10, 11, 50, 101])
@pytest.mark.parametrize("error", [0.05, 0.3])
def test_median(count: int, error: float) -> None:
    """The sample of a quantile test: the narrowest symmetric pair of order statistics that covers the median."""
    samples = np.random.default_rng(count).permutation(count).tolist()  # in order, the k-th is k
    below = int(median_interval(samples, error)[0])
    assert median_interval(samples, error) == (below, count - 1 - below)
    outside = 2 * stats.binom.cdf(below, count, 0.5)
    assert outside <= error or below == 0
    assert 2 * stats.binom.cdf(below + 1, count, 0.5) > error, "a narrower pair would do"


def test_bootstrap() -> None:
    samples = np.random.default_rng(1).exponential(3, 60)
    theirs = stats.bootstrap((samples,), np.mean, n_resamples=20_000, method="percentile", rng=2).confidence_interval
    assert bootstrap_interval(samples, seed=3, resamples=20_000) == pytest.approx((theirs.low, theirs.high), rel=0.02)
    narrow = stats.bootstrap(
        (samples,), np.mean, n_resamples=20_000, method="percentile", confidence_level=0.5, rng=2
    ).confidence_interval
    found = bootstrap_interval(samples, seed=3, resamples=20_000, error=0.5)
    assert found == pytest.approx((narrow.low, narrow.high), rel=0.02)
    assert bootstrap_interval(samples, seed=3) == bootstrap_interval(samples, seed=3)
    assert bootstrap_interval(samples, seed=3) != bootstrap_interval(samples, seed=4)
