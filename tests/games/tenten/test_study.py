from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rookery.games.tenten.boards import Boards
from rookery.games.tenten.exact import solve
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.study import Study
from rookery.studies import SIZES


def study(tmp_path: Path) -> Study:
    return Study(SIZES["quick"], 1, tmp_path, Console(stderr=True, quiet=True))


def numbers(text: str) -> tuple[float, float]:
    mean, half = text.replace(",", "").split(" ± ")
    return float(mean), float(half)


@pytest.mark.parametrize(("side", "reward"), [(3, "r1"), (3, "r2"), (4, "r3")])
def test_the_papers_iteration_comes_to_the_same_values(side: int, reward: str) -> None:
    game = TenTen(side, side, "seven")
    steps = Boards(game).iterate(reward, 0.7)
    values = [next(steps)[0] for _ in range(60)][-1]
    np.testing.assert_allclose(values, solve(game, reward, 0.7, evaluate=False).values, rtol=1e-7, atol=1e-7)


def test_greedy_play_and_its_exact_mean(tmp_path: Path) -> None:
    table = study(tmp_path).greedy()
    exact = [float(row[4].replace(",", "")) for row in table.rows]
    assert exact[0] == pytest.approx(4700, rel=0.01)
    assert exact[1] == pytest.approx(310, rel=0.05)
    for row in table.rows:
        for played, truth in [(row[3], row[4]), (row[5], row[6])]:
            mean, half = numbers(played)
            assert abs(mean - float(truth.replace(",", ""))) < 2 * half


def test_edges_of_the_paper(tmp_path: Path) -> None:
    rows = study(tmp_path).graph_sizes().rows
    assert [row[2] for row in rows] == [row[1] for row in rows]
    assert [row[4] for row in rows] == ["3,317", "892,064"]
