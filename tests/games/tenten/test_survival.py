"""How long games last."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.games.tenten.survival import Survival


def test_survival_counts_stopped_games_without_a_death() -> None:
    lengths, fatal = np.array([10, 20, 30, 40]), np.full(4, -1)
    whole = Survival(lengths, np.array([True] * 4), lengths, fatal)
    assert whole.mean == 25
    half = Survival(lengths, np.array([True, True, False, False]), lengths, fatal)
    assert half.mean == 50
    assert half.interval[0] == pytest.approx(100 / 7.2247, rel=1e-3)
    assert half.data()["deaths_per_million"] == 20_000
