"""The program for the GPU, compiled as C++: its bounds, boards and games against the exact solver."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.games.tenten.exact import solve
from rookery.games.tenten.rules import TenTen
from rookery.gpu import source_path

COMPILER = shutil.which("c++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert COMPILER is not None
    made = tmp_path_factory.mktemp("survival") / "tenten_survival"
    source = source_path("games/tenten/survival.cu")
    subprocess.run([COMPILER, "-O2", "-std=c++17", "-x", "c++", str(source), "-o", str(made)], check=True, timeout=120)
    return made


def run(program: Path, *arguments: str) -> list[dict[str, Any]]:
    done = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("rows", "columns", "pieces", "width"),
    [
        (4, 4, "full", 1e-4), (4, 4, "seven", 1e-2), (3, 4, "seven", 1e-3), (5, 3, "full", 1e-4),
        (3, 5, "no-3x3", 1e-4),
    ],
)  # fmt: skip
def test_the_bounds_hold_the_exact_value(program: Path, rows: int, columns: int, pieces: str, width: float) -> None:
    exact = solve(TenTen(rows, columns, pieces)).mean_rounds
    *sweeps, result = run(program, str(rows), str(columns), pieces, "20")
    assert all(sweep["rounds_low"] <= exact for sweep in sweeps)
    assert all(sweep["rounds_high"] == -1 or sweep["rounds_high"] >= exact for sweep in sweeps)
    assert result["mean_rounds_low"] <= exact <= result["mean_rounds_high"]
    assert result["mean_rounds_high"] - result["mean_rounds_low"] < width * exact
    if result["games_cut"] == 0:
        assert result["games_mean_rounds"] == pytest.approx(exact, abs=2 * result["games_half_width_95"])


@pytest.mark.parametrize(
    ("rows", "columns", "board"),
    [(4, 4, "##../#.../..../...#"), (4, 4, ".#../..#./#..#/.##."), (3, 4, "##../#.../...#")],
)
def test_boards_asked_about(program: Path, rows: int, columns: int, board: str) -> None:
    """Mean rounds left, and the best placement of every piece with what is left after it."""
    game = TenTen(rows, columns, "seven")
    solution = solve(game)
    told = run(program, str(rows), str(columns), "seven", "20", board)[-1]
    assert told["board"] == board
    left = 0.0
    for piece, (name, best) in enumerate(zip(game.piece_names, told["best"], strict=True)):
        assert best["piece"] == piece
        state = game.parse_state(f"{board} {name}")
        values = solution.placement_values(state)
        if not values:
            assert (best["cells"], best["mean_rounds_left"]) == ([], 0)
            continue
        assert best["mean_rounds_left"] == pytest.approx(max(values.values()) - 1, rel=1e-4)
        before = {cell for cell, mark in enumerate(board.replace("/", "")) if mark == "#"}
        best_cells = []
        for action, value in values.items():
            if value > max(values.values()) * (1 - 1e-5):
                covered = {r * columns + c for r, c in game.shapes[piece]}
                best_cells.append(sorted(action + cell for cell in covered))
        assert best["cells"] in best_cells
        assert not before & set(best["cells"])
        left += game.weights[piece] / sum(game.weights) * (best["mean_rounds_left"] + 1)
    assert told["mean_rounds_left"] == pytest.approx(left, rel=1e-4)


def test_a_mirrored_board_is_worth_the_same(program: Path) -> None:
    board = ["##..", "#..#", "....", ".##."]
    mirrored = ["".join(row[i] for row in board) for i in range(4)]
    assert mirrored != board
    *_, one, other = run(program, "4", "4", "full", "5", "/".join(board), "/".join(mirrored))
    assert one["mean_rounds_left"] == other["mean_rounds_left"] > 0


@pytest.mark.parametrize("arguments", [["4", "4"], ["4", "4", "eight"], ["7", "5", "full"], ["3", "3", "seven"]])
def test_what_is_refused(program: Path, arguments: list[str]) -> None:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "usage" in done.stderr
