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
from rookery.games.checkers import q_learning as q_table
from rookery.games.checkers.q_learning import QTable
from rookery.games.checkers.rules import Checkers
from tests.commands import answer, check_refusal, run

UNKNOWN = "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29"


def test_train_resume_merge_and_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    trained = answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", one)
    assert trained["run"] == one
    assert trained["metrics"]["games"] == 200
    assert set(trained["metrics"]["against_random"]) == {"random", "voting", "keep-training"}
    assert trained["metrics"]["against_random"]["voting"]["games"] == 1000
    answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", two, "--seed", "1")
    merged = answer(capsys, "merge", "checkers", one, two, "--out", str(tmp_path / "both.npz"))
    assert max(merged["tables"]) < merged["positions"] < sum(merged["tables"])
    assert len(QTable.load(tmp_path / "both.npz")) == merged["positions"]
    match = answer(capsys, "arena", "checkers", f"voting:{tmp_path / 'both.npz'}", "random", "--games", "10")
    assert match["games"] == 10
    again = answer(capsys, "train", "checkers", "q-learning", "--games", "200", "--out", one, "--resume")
    assert again["metrics"]["against_random"] == trained["metrics"]["against_random"]


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
            "the number of games must be at least 1",
        ),
        (["train", "checkers", "q-learning", "--epsilon", "2", "--out", "{tmp}/b"], "epsilon must be from 0 to 1"),
        (["train", "checkers", "dqn", "--steps", "0", "--out", "{tmp}/c"], "the number of steps must be at least 1"),
        (["merge", "checkers", "{tmp}/a", "--out", "{tmp}/x.npz"], "name at least two tables"),
        (["merge", "checkers", "{tmp}/no", "{tmp}/none", "--out", "{tmp}/x.npz"], "there is no Q-table in"),
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
    settings = q_table.Settings(games=100_000_000)
    part = QTable()
    part.train_part(Checkers(), settings, 0, 0, row["games"])
    assert len(part) == row["positions"]
    _, arrays = runs.load_arrays(folder / "checkpoint.npz", q_table.KIND)
    assert all((a == arrays[name]).all() for name, a in part.arrays().items())


def test_a_killed_training_leaves_whole_files(tmp_path: Path) -> None:
    """Killed at any moment, a run leaves a table that can be read and gone on with, or none."""
    script = (
        "import sys; from pathlib import Path; from rookery.games.checkers import Checkers;"
        "from rookery.learn import q_table; q_table.CHECKPOINT_SECONDS = 0.0;"
        "[print(row, flush=True) for row in q_table.train(Checkers(), q_table.Settings(games=6000), Path(sys.argv[1]),"
        " resume=True)]"
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
    settings = q_table.Settings(games=6000)
    for _ in q_table.train(Checkers(), settings, tmp_path, resume=True):
        pass
    whole = QTable()
    whole.train(Checkers(), settings)
    finished = QTable.load(tmp_path)
    assert all((a == b).all() for a, b in zip(whole.native.arrays(), finished.native.arrays(), strict=True))
