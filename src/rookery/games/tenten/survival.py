"""How long games of 1010! last."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery.statistics import poisson_interval


@dataclass(frozen=True)
class Survival:
    """The lengths of games. A game stopped at a limit counts with its rounds and without a death."""

    lengths: npt.NDArray[np.int64]
    """Rounds (or hands) of every game, `[games]`."""
    ended: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.int64]
    fatal: npt.NDArray[np.int32]
    """The piece that did not fit, `[games]`; -1 for a game stopped at a limit, or with several pieces in the hand."""

    @property
    def deaths(self) -> int:
        return int(self.ended.sum())

    @property
    def mean(self) -> float:
        """Rounds per death: the mean length where every game came to its end."""
        return float(self.lengths.sum() / max(self.deaths, 1))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the mean: by the spread of the games where all ended, else by the number of deaths."""
        if self.ended.all() and len(self.lengths) > 1:
            half = 1.96 * float(self.lengths.std(ddof=1)) / math.sqrt(len(self.lengths))
            return self.mean - half, self.mean + half
        low, high = poisson_interval(self.deaths)
        total = float(self.lengths.sum())
        return total / high, total / low if low else math.inf

    def data(self) -> dict[str, Any]:
        total = int(self.lengths.sum())
        low, high = poisson_interval(self.deaths)
        return {
            "games": len(self.lengths),
            "rounds": total,
            "deaths": self.deaths,
            "mean_rounds": self.mean,
            "interval": [x if math.isfinite(x) else None for x in self.interval],
            "deaths_per_million": 1e6 * self.deaths / total,
            "deaths_per_million_interval": [1e6 * low / total, 1e6 * high / total],
            "max_rounds": int(self.lengths.max()),
            "mean_score": float(self.scores.mean()),
        }
