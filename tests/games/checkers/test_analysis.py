"""`rookery analyse`: losses, turning points, and the exact verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.games.checkers.analysis import analyse, load_judge
from rookery.games.checkers.database import solve
from rookery.games.checkers.rules import Checkers, parse_pdn
from rookery.registry import agent as load_agent

GAME = Checkers()
JUDGE = "best:nodes=2000"
DRAWN = """[FEN "B:WK22,26:BK13,14"]\n1. 14-18 22x15 *"""
"""By the solved endgames 14-17 and 13-9 draw, and 14-18 loses in 26 plies."""


def judge(name: str = JUDGE) -> object:
    return load_judge(load_agent(name, GAME))


def test_the_exact_verdict_of_an_endgame() -> None:
    [game] = parse_pdn(DRAWN)
    first, second = analyse(game, judge())  # type: ignore[arg-type]
    assert (first.name, first.exact, first.exact_best) == ("14-18", "loses in 26 plies", "draws")
    assert first.turning
    assert first.loss == pytest.approx(0.974)
    assert first.best in ("14-17", "13-9")
    assert (second.side, second.loss, second.turning) == ("White", 0, False)
    assert second.exact == "wins in 25 plies"
    after = GAME.parse_state(first.position)
    after.apply(after.parse_action("14-18"))
    assert solve(after).outcome.plies == 25


def test_a_man_given_away_is_a_turning_point() -> None:
    """Black cannot take back on 16, because White stands on 20."""
    [game] = parse_pdn("1. 12-16 24-20 2. 16-19 23x16 *")
    moves = list(analyse(game, judge("best:nodes=20000")))  # type: ignore[arg-type]
    assert [move.turning for move in moves] == [False, False, True, False]
    assert moves[2].best != "16-19"
    assert all(move.loss >= 0 for move in moves)
    assert all(move.loss == 0 for move in moves if move.best == move.name)
    assert [move.number for move in moves] == [n // 2 + 1 for n in range(len(moves))]
    assert {move.exact for move in moves} == {""}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rookery", "analyse", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_the_command(tmp_path: Path) -> None:
    file = tmp_path / "game.pdn"
    file.write_text(DRAWN)
    done = run(str(file), "--agent", JUDGE, "--json")
    data = json.loads(done.stdout)
    assert data["turning_points"] == [0]
    assert [move["name"] for move in data["moves"]] == ["14-18", "22x15"]
    assert data["mean_loss"]["White"] == 0
    shown = run("checkers", str(file), "--agent", JUDGE).stdout
    assert "Black's move 1, 14-18, lost 0.974" in shown
    for arguments, sentence in (
        (["nowhere.pdn"], "No such file"),
        ([str(file), "--game", "2"], "the file has 1 games"),
        ([str(file), "--agent", "random"], "the judge must be best or net"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert sentence in done.stderr
