"""Commands of checkers."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery import run as runs
from rookery.cli import main
from rookery.games.checkers import q_learning
from rookery.games.checkers.q_learning import QTable
from rookery.games.checkers.rules import Checkers
from tests.commands import answer, check_refusal, run
from tests.training import trained

UNKNOWN = "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29"


def test_train_resume_merge_and_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    first = answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", one)
    assert first["run"] == one
    assert first["metrics"]["games"] == 200
    assert set(first["metrics"]["against_random"]) == {"random", "voting", "keep-training"}
    assert first["metrics"]["against_random"]["voting"]["games"] == 1000
    answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", two, "--seed", "1")
    merged = answer(capsys, "merge", "checkers", one, two, "--out", str(tmp_path / "both.npz"))
    assert max(merged["tables"]) < merged["positions"] < sum(merged["tables"])
    assert len(QTable.load(tmp_path / "both.npz")) == merged["positions"]
    match = answer(capsys, "arena", "checkers", f"voting:{tmp_path / 'both.npz'}", "random", "--games", "10")
    assert match["games"] == 10
    again = answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", one, "--resume")
    assert again["metrics"]["against_random"] == first["metrics"]["against_random"]


def test_explain_shows_and_draws_the_voters(tmp_path: Path) -> None:
    shown = run("explain", "checkers", UNKNOWN, "--agent", "voting", "--svg", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    assert "known positions vote" in shown.stdout
    assert "[B]" in shown.stdout
    assert {file.name for file in tmp_path.iterdir()} == {"position.svg", "1.svg", "2.svg", "3.svg", "4.svg"}


def test_explain_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "explain", "checkers", UNKNOWN, "--agent", "voting")
    assert set(data) == {"action", "values", "reasons"}
    assert data["action"] in data["values"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["train", "checkers", "q-learning", "--games", "0", "--out", "{tmp}/a"],
            "games must be at least 1",
        ),
        (["train", "checkers", "q-learning", "--epsilon", "2", "--out", "{tmp}/b"], "epsilon must be from 0 to 1"),
        (["train", "checkers", "dqn", "--steps", "0", "--out", "{tmp}/c"], "steps must be at least 1"),
        (["merge", "checkers", "{tmp}/a", "--out", "{tmp}/x.npz"], "name at least two tables"),
        (["merge", "checkers", "{tmp}/no", "{tmp}/none", "--out", "{tmp}/x.npz"], "there is no model in"),
        (["explain", "checkers", "B:W1:B5", "--agent", "voting"], "a man cannot stand on its king row"),
        (["explain", "checkers", "B:W22:B", "--agent", "voting"], "there is nothing to choose"),
        (["explain", "checkers", "-", "--agent", "voting", "--svg", "{tmp}"], "--svg draws one position"),
    ],
)
def test_bad_input_gets_one_clear_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refusal(capsys, [argument.format(tmp=tmp_path) for argument in arguments], sentence)


def test_ctrl_c_keeps_what_was_learned(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rookery", "train", "checkers", "q-learning", "--games", "100000000"]
    folder = tmp_path / "run"
    child = subprocess.Popen([*command, "--out", str(folder)], stderr=subprocess.PIPE, text=True)
    while not folder.exists() and child.poll() is None:
        time.sleep(0.05)
    time.sleep(0.7)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130, errors
    row = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    settings = q_learning.Settings(games=100_000_000)
    part = QTable()
    part.train_part(Checkers(), settings, 0, 0, row["games"])
    assert len(part) == row["positions"]
    _, arrays = runs.load_arrays(folder / "checkpoint.npz", "checkers q-learning")
    assert all((a == arrays[name]).all() for name, a in part.arrays().items())


def test_a_killed_training_leaves_whole_files(tmp_path: Path) -> None:
    """Killed at any moment, a run leaves a table that can be read and gone on with, or none."""
    script = (
        "import sys; import rookery; from rookery.games.checkers import q_learning;"
        "q_learning.CHECKPOINT_SECONDS = 0.0;"
        "rookery.train('checkers', 'q-learning', games=6000, out=sys.argv[1], resume=True,"
        " on_row=lambda row: print(row, flush=True))"
    )
    for _ in range(2):
        child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout
        child.stdout.readline()
        time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
        assert rows[-1]["games"] >= 1000
    settings = q_learning.Settings(games=6000)
    trained(Checkers(), "q-learning", settings, tmp_path, resume=True)
    whole = QTable()
    whole.train(Checkers(), settings)
    finished = QTable.load(tmp_path / "model.npz")
    assert all((a == b).all() for a, b in zip(whole.native.arrays(), finished.native.arrays(), strict=True))


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
    done = run("solve", "checkers", "-", "--json", stdin="\n".join(fens))
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
        (["solve", "checkers", "B:WK1:BK2", "--pieces", "7"], "endgames of 2 to 6 pieces can be solved, not of 7"),
        (["explain", "checkers", "B:W21-32:B1-12", "--agent", "oracle"], "positions of up to 4 pieces are solved"),
        (["train", "checkers", "td", "--generations", "0"], "must be at least 1"),
    ],
)
def test_bad_positions_are_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


def test_train_td_and_play(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("train", "checkers", "td", "--generations", "1", "--games", "30", "--out", str(tmp_path))
    data = answer(capsys, *arguments)
    assert data["run"] == str(tmp_path)
    assert data["metrics"]["games"] == 30
    assert answer(capsys, *arguments, "--resume")["metrics"] == data["metrics"], "there is nothing left to learn"
    check_refusal(capsys, list(arguments), "already holds a run; resume it")
    played = answer(capsys, "arena", "checkers", f"td:depth=1,path={tmp_path}", str(tmp_path), "--games", "2")
    assert played["games"] == 2
