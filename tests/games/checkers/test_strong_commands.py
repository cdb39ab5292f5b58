from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.games.checkers import td as checkers_td
from tests.commands import answer, check_refusal, run


def test_solve(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "checkers", "W:W25,K26:B21")
    assert (data["value"], data["distance"], data["best_move"]) == ("win", 1, "26-30")
    moves = {row["move"]: (row["value"], row["distance"]) for row in data["moves"]}
    assert moves["26-30"] == ("win", 1)
    assert set(moves) == {"25-22", "26-22", "26-23", "26-30", "26-31"}
    lost = answer(capsys, "solve", "checkers", "B:W25,30:B21")
    assert (lost["value"], lost["distance"], lost["best_move"], lost["moves"]) == ("loss", 0, None, [])
    drawn = answer(capsys, "solve", "checkers", "W:WK18:BK1")
    assert (drawn["value"], drawn["distance"]) == ("draw", None)


def test_solve_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["solve", "checkers", "W:W25,K26:B21"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "White to move wins in 1 ply" in text
    assert "26-30" in text


def test_solve_reads_positions_from_standard_input() -> None:
    fens = ["W:W25,K26:B21", "W:WK18:BK1"]
    done = run("solve", "checkers", "-", stdin="\n".join(fens))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["position"], row["value"]) for row in rows] == [(fens[0], "win"), (fens[1], "draw")]
    bad = run("solve", "checkers", "-", stdin=f"{fens[0]}\nnonsense\n")
    assert bad.returncode == 2
    assert bad.stderr.startswith("rookery: line 2: expected draughts FEN")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "checkers", "hello"], "expected draughts FEN"),
        (["solve", "checkers", "B:W21-32:B1-12"], "positions of up to 4 pieces are solved, and this one has 24"),
        (["solve", "checkers", "B:WK1:BK2", "--pieces", "6"], "endgames of 2 to 5 pieces can be solved, not of 6"),
        (["explain", "checkers", "B:W21-32:B1-12", "--agent", "oracle"], "positions of up to 4 pieces are solved"),
        (["train", "checkers", "td", "--generations", "0"], "must be at least 1"),
    ],
)
def test_bad_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


def test_train_and_play(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkers_td, "Settings", partial(checkers_td.Settings, games=30))
    arguments = ("train", "checkers", "td", "--generations", "1", "--out", str(tmp_path))
    data = answer(capsys, *arguments)
    assert data["run"] == str(tmp_path)
    assert data["metrics"]["games"] == 30
    assert answer(capsys, *arguments, "--resume")["metrics"] == {}, "there is nothing left to learn"
    check_refusal(capsys, list(arguments), "already holds a run; use --resume")
    played = answer(capsys, "arena", "checkers", f"td:{tmp_path},depth=1", "random", "--games", "2")
    assert played["games"] == 2
