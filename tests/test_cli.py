from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rookery import studies
from rookery.cli import GENERIC, game_commands, main
from rookery.registry import GAMES, learners, load
from rookery.report.study import Result
from tests.commands import answer, check_refusal, run


def test_games_lists_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "games")
    names = [game["name"] for game in data["games"]]
    assert set(names) >= {"checkers", "endgames", "morpion", "solitaire-chess", "tenten"}
    assert all(game["variants"] and "random" in game["methods"] for game in data["games"])


def test_perft(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "perft", "checkers", "5")
    assert data["nodes"] == 7361
    assert data["seconds"] >= 0
    position = "W:WK14,K23:B9,10,18,19,26,27"
    assert answer(capsys, "perft", "checkers", "3", "--position", position)["nodes"] == 58


def test_perft_reads_positions_from_standard_input() -> None:
    done = run(
        "perft",
        "tenten",
        "1",
        "--variant",
        "3x3-three",
        "--position",
        "-",
        "--json",
        stdin=".../.../... 1x1\n\n##./.../... 1x2\n",
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["nodes"] for row in rows] == [9, 4]


def test_explain_reads_positions_from_standard_input() -> None:
    text = ".../.../... 1x1\n\n##./.../... 1x2\n"
    arguments = ["explain", "tenten", "-", "--variant", "3x3-three", "--agent", "greedy"]
    rows = [json.loads(line) for line in run(*arguments, "--json", stdin=text).stdout.splitlines()]
    assert [row["position"] for row in rows] == [".../.../... 1x1", "##./.../... 1x2"]
    assert all(row["action"] in row["values"] for row in rows)
    said = run(*arguments, stdin=text).stdout.splitlines()
    assert [line.partition(": ")[0] for line in said] == [row["position"] for row in rows]


def test_show_draws(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "board.svg"
    data = answer(capsys, "show", "solitaire-chess", "R.../..../..../P...", "--svg", str(file))
    assert len(data["moves"]) == 1
    assert file.read_text().startswith("<svg")


def test_reproduce_writes_a_page_with_every_board(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = answer(capsys, "reproduce", "overview", "--quick", "--out", str(tmp_path))
    [study] = data["studies"]
    assert [row[0].split()[0] for row in study["tables"][0]["rows"]] == list(GAMES)
    assert json.loads((tmp_path / "report.json").read_text())["studies"] == [study]
    assert (tmp_path / "overview-1.csv").read_text().count("\n") == 1 + len(GAMES)
    page = (tmp_path / "index.html").read_text()
    assert page.count("<figure>") == len(GAMES)
    for part in ("src=", "href=", "url(", "@import"):
        assert part not in page.replace("href='#", ""), "the page must not load anything"


def test_a_failed_study_does_not_take_the_others_down(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_study(name: str, *arguments: Any) -> Result:
        if name == "broken":
            raise RuntimeError("out of luck")
        return studies.run_study(name, *arguments)

    monkeypatch.setattr("rookery.studies.runner.run_study", run_study)
    monkeypatch.setattr("rookery.studies.studies", lambda: ["broken", "overview"])
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "--quick", "--out", str(tmp_path)])
    assert stop.value.code == 1
    assert "out of luck" in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text()
    assert "This study failed: RuntimeError: out of luck" in page
    assert page.count("<figure>") == len(GAMES)
    assert "Traceback" in (tmp_path / "broken-error.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fly"], "unknown command 'fly'; known commands: games"),
        (["bset"], "unknown command 'bset'; known commands: games"),
        (["sovle", "checkers"], "unknown command 'sovle'; did you mean 'solve'?"),
        (["perft", "chess", "3"], "unknown game 'chess'"),
        (["perft", "checker", "3"], "unknown game 'checker'; did you mean 'checkers'?"),
        (
            ["explain", "checkers", "B:W32:B1", "--agent", "bset"],
            "did you mean 'best'?",
        ),
        (["solve", "morpio", "-"], "unknown game 'morpio'; did you mean 'morpion'?"),
        (["perft", "tenten", "3", "--variant", "9x9"], "unknown variant '9x9' of tenten; known variants: 10x10"),
        (["perft", "tenten", "-1"], "the depth must be from 0 to 1000"),
        (["show", "tenten", "nonsense"], "expected 10 rows"),
        (["perft", "tenten", "x"], "error parsing DEPTH: expected a whole number, not 'x'; see rookery perft --help"),
        (["perft", "tenten"], "missing from rookery perft: DEPTH"),
        (
            ["train", "checkers", "td", "--alpha", "1"],
            "unrecognized options: --alpha, 1; see rookery",
        ),
        (["solve", "tenten", "--objective", "luck"], "invalid choice 'luck' for argument '--objective'"),
        (["verify", "morpion", "no-such-file"], "No such file"),
        (["verify", "checkers", "record"], "there is no 'verify' for 'checkers'; known games: morpion"),
        (["reproduce", "astrology"], "unknown study 'astrology'; known studies: overview"),
    ],
)
def test_bad_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


ALL_COMMANDS = [
    *([name] for name in GENERIC if name not in game_commands() and name not in ("train", "sweep")),
    *([verb, game] for verb, forms in game_commands().items() for game in forms),
    ["solve", "examples/tic_tac_toe.py"],
    *(["train", game, method] for game in GAMES for method in learners(load(game))),
    ["sweep", "tenten", "lspi"],
]


@pytest.mark.parametrize("command", ALL_COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_training_lists_the_methods_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    for game, expected in (
        ("checkers", "rookery train checkers td"),
        ("examples.tic_tac_toe:TicTacToe", "TicTacToe q-learning"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(["train", game, "--help"])
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "--version"):
        with pytest.raises(SystemExit) as stop:
            main([flag])
        assert stop.value.code == 0
    assert "rookery 0" in capsys.readouterr().out


@pytest.mark.parametrize(("psol", "code"), [("(28,28)\n(27,32) \\ 0\n", 0), ("(28,28)\n(27,32) \\ 1\n", 1)])
def test_verify(capsys: pytest.CaptureFixture[str], tmp_path: Path, psol: str, code: int) -> None:
    file = tmp_path / "record.psol"
    file.write_text(psol)
    with pytest.raises(SystemExit) as stop:
        main(["verify", "morpion", str(file), "--json"])
    assert stop.value.code == code
    data = json.loads(capsys.readouterr().out)
    assert data["legal"] == (code == 0)
    assert (data["first_illegal"] is None) == (code == 0)


def cpu_seconds(pid: int) -> float:
    """What a running process has used, from the system's own table."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_stops_a_long_native_call_at_once() -> None:
    process = subprocess.Popen([sys.executable, "-m", "rookery", "perft", "checkers", "20"], stderr=subprocess.PIPE)
    while process.poll() is None and cpu_seconds(process.pid) < 1.5:  # by then it counts: the start takes less
        time.sleep(0.1)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)  # children that have ended
    before = cpu_seconds(process.pid)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime + ended.ru_stime - others.ru_utime - others.ru_stime - before < 1.5
    assert process.returncode == 130
    assert errors == b"rookery: interrupted\n"
