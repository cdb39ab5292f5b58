from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery.cli import COMMANDS, main


def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rookery", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--json"])
    assert stop.value.code == 0
    return dict(json.loads(capsys.readouterr().out))


def test_games_lists_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "games")
    names = [game["name"] for game in data["games"]]
    assert names == ["solitaire-chess", "checkers", "morpion", "endgames", "tenten"]
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
        stdin=".../.../... 1x1\n\n##./.../... 1x2\n",
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["nodes"] for row in rows] == [9, 4]


def test_show_draws(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "board.svg"
    data = answer(capsys, "show", "solitaire-chess", "R.../..../..../P...", "--svg", str(file))
    assert len(data["moves"]) == 1
    assert file.read_text().startswith("<svg")


def test_reproduce_writes_a_page_with_every_board(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = answer(capsys, "reproduce", "--quick", "--out", str(tmp_path))
    assert len(data["studies"]) == 5
    page = (tmp_path / "index.html").read_text()
    assert page.count("<figure>") == 5
    for part in ("src=", "href=", "url(", "@import"):
        assert part not in page, "the page must not load anything"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fly"], "unknown command 'fly'; known commands: games"),
        (["perft", "chess", "3"], "unknown game 'chess'; known games: solitaire-chess"),
        (["perft", "tenten", "3", "--variant", "9x9"], "unknown variant '9x9' of tenten; known variants: 10x10"),
        (["perft", "tenten", "-1"], "the depth must not be negative"),
        (["show", "tenten", "nonsense"], "expected 10 rows"),
        (["verify", "morpion", "no-such-file"], "No such file"),
    ],
)
def test_bad_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "--json" in capsys.readouterr().out


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "--version"):
        with pytest.raises(SystemExit) as stop:
            main([flag])
        assert stop.value.code == 0
    assert "rookery 0" in capsys.readouterr().out


def test_ctrl_c_stops_a_long_native_call_within_a_second() -> None:
    process = subprocess.Popen([sys.executable, "-m", "rookery", "perft", "checkers", "20"], stderr=subprocess.PIPE)
    time.sleep(2)
    begin = time.perf_counter()
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert time.perf_counter() - begin < 1.5
    assert process.returncode == 130
    assert errors == b"rookery: interrupted\n"
