from __future__ import annotations

import json
from pathlib import Path

import pytest

from rookery.cli import main
from tests.commands import answer, check_refusal, run


def test_solve(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "endgames", "8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    assert (data["dtm_plies"], data["best_move"], data["best_move_uci"]) == (1, "Rh1#", "h2h1")
    moves = {row["move"]: row["dtm_plies"] for row in data["moves"]}
    assert moves["Rb2"] is None
    mated = answer(capsys, "solve", "endgames", "8/8/8/8/8/1k6/8/K1r5 w - - 0 1")
    assert (mated["dtm_plies"], mated["best_move"], mated["moves"]) == (0, None, [])
    drawn = answer(capsys, "solve", "endgames", "8/8/8/8/8/8/1B1k4/K7 w - -")
    assert (drawn["dtm_plies"], drawn["best_move"]) == (None, None)


def test_solve_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["solve", "endgames", "8/8/8/8/8/2K5/7R/1k6 b - - 0 1"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Black to move: White mates in 2 moves (4 plies)" in text
    assert "Kc1 is mated in 1 move; the best reply is Rh1#" in text


def test_solve_reads_positions_from_standard_input() -> None:
    fens = ["8/8/8/8/8/1K6/7Q/k7 w - - 0 1", "8/8/8/8/8/1K6/2Q5/k7 b - - 0 1"]
    done = run("solve", "endgames", "-", stdin="\n".join(fens))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["position"], row["dtm_plies"]) for row in rows] == [(fens[0], 1), (fens[1], None)]
    bad = run("solve", "endgames", "-", stdin=f"{fens[0]}\nnonsense\n")
    assert bad.returncode == 2
    assert bad.stderr.startswith("rookery: line 2: not a usable FEN")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "endgames", "8/8/8/4k3/8/8/8/R3K2R w K - 0 1"], "nobody can castle"),
        (["solve", "endgames", "8/8/8/r3k3/8/8/8/R3K3 w - - 0 1"], "one side must have nothing but its king"),
        (["solve", "endgames", "8/8/8/8/8/2K5/8/R1k5 w - - 0 1"], "the side that is not to move is in check"),
        (["train", "endgames", "perfect", "--material", "KPK"], "unknown material 'KPK'; this method learns KQK"),
    ],
)
def test_bad_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


def test_train_perfect(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("train", "endgames", "perfect", "--material", "KQK", "--out", str(tmp_path))
    data = answer(capsys, *arguments)
    assert data["run"] == str(tmp_path)
    metrics = data["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["perfect"]
    assert metrics["optimal"] == 1.0
    assert {path.name for path in tmp_path.iterdir()} == {"q.npz", "curve.csv", "settings.json"}
    assert answer(capsys, *arguments, "--resume") == data, "there is nothing left to learn"
