from __future__ import annotations

from pathlib import Path

import pytest

from rookery.cli import main
from rookery.games.morpion.rules import MorpionState, read, verify
from rookery.games.morpion.search import shipped
from tests.commands import answer, check_refusal, run


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "4D.psol"
    path.write_text(shipped("4D").record())
    return path


def test_search_answers_and_saves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "found" / "4T.json"
    words = ["search", "morpion", "--variant", "4T", "--method", "nrpa", "--level", "1", "--out", str(out)]
    data = answer(capsys, *words, "--runs", "3", "--seed", "7")
    assert data["score"] == len(data["moves"]) == max(run["score"] for run in data["runs"])
    assert sorted(run["seed"] for run in data["runs"]) == [7, 8, 9]
    assert data["playouts"] == 300
    assert (data["record"], data["upper_bound"], data["interrupted"]) == (62, 62, False)
    assert verify(out.with_suffix(".psol").read_text()).score == data["score"]
    more = answer(capsys, *words, "--runs", "2", "--seed", "7", "--resume")
    assert len(more["runs"]) == 5
    assert more["playouts"] == 500
    check_refusal(capsys, [*words, "--seed", "7"], "already holds a search; use --resume")


def test_search_stops_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "search", "morpion", "--level", "4", "--time", "0.5", "--threads", "1")
    assert 0.5 <= data["seconds"] < 10
    assert data["runs"] == []
    assert data["score"] > 50


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--level", "6"], "the level must be 1 to 5, and is 6"),
        (["--time", "-1"], "must not be negative"),
        (["--seed", "-1"], "the seed must be"),
    ],
)
def test_search_refuses(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    check_refusal(capsys, ["search", "morpion", *words], sentence)


def test_a_person_sees_the_grid_and_the_record() -> None:
    done = run("search", "morpion", "--variant", "4D", "--method", "nrpa", "--level", "1", "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert "⠔" in done.stdout
    assert "record 35" in done.stdout


def test_verify_exit_codes(grid: Path, tmp_path: Path) -> None:
    assert run("verify", "morpion", str(grid)).returncode == 0
    lines = grid.read_text().splitlines()
    lines[-1] = lines[2]
    (tmp_path / "twice.psol").write_text("\n".join(lines))
    wrong = run("verify", "morpion", str(tmp_path / "twice.psol"))
    assert wrong.returncode == 1
    assert "is not legal: its dot is there already" in " ".join(wrong.stdout.split())
    (tmp_path / "cut.psol").write_text("\n".join(lines[:20]))
    cut = run("verify", "morpion", str(tmp_path / "cut.psol"))
    assert cut.returncode == 2
    assert "line 20: the record ends after 18 moves; its heading says 35" in cut.stderr
    (tmp_path / "foreign.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    foreign = run("verify", "morpion", str(tmp_path / "foreign.png"))
    assert foreign.returncode == 2
    assert "line 1: expected the reference dot" in foreign.stderr


def test_replay(capsys: pytest.CaptureFixture[str], grid: Path, tmp_path: Path) -> None:
    drawing = tmp_path / "animated.svg"
    plain = tmp_path / "plain.psol"
    data = answer(capsys, "replay", "morpion", str(grid), "--svg", str(drawing), "--psol", str(plain))
    assert plain.read_text() == shipped("4D").psol()
    assert (data["variant"], data["score"], len(data["moves"])) == ("4D", 35, 35)
    assert read(drawing.read_text()).moves == shipped("4D").moves
    by_itself = run("replay", "morpion", str(drawing), "--pause", "0")
    assert "move 35 of 35" in by_itself.stdout
    assert "move 35 of 35" in run("replay", "morpion", str(grid), stdin="").stdout
    check_refusal(capsys, ["replay", "morpion", str(grid), "--pause", "-1"], "the pause must be 0 to 60 seconds")


def test_step_by_step(capsys: pytest.CaptureFixture[str], grid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(["", "", "b", "30", "q"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("rich.console.Console.input", lambda self, prompt: next(words))
    with pytest.raises(SystemExit) as stop:
        main(["replay", "morpion", str(grid)])
    assert stop.value.code == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("the cross", "move"))]
    assert [line.split(":")[0] for line in shown] == [
        "the cross; 35 moves follow", "move 1 of 35", "move 2 of 35", "move 1 of 35", "move 30 of 35",
    ]  # fmt: skip


def test_compare(capsys: pytest.CaptureFixture[str], grid: Path, tmp_path: Path) -> None:
    state = shipped("4D")
    other = tmp_path / "other.svg"
    other.write_text(state.transformed(5).svg())
    data = answer(capsys, "compare", "morpion", str(other), str(grid), "--svg", str(tmp_path / "difference.svg"))
    assert data["same"]
    assert data["symmetry"] == "mirrored at the rising diagonal"
    assert read((tmp_path / "difference.svg").read_text()).game.variant == "4D"
    other.write_text(MorpionState(state.game, state.moves[:-1]).svg())
    done = run("compare", "morpion", str(grid), str(other))
    assert done.returncode == 1
    assert "35 and 34 moves; 34 lines shared" in done.stdout


def test_hint(capsys: pytest.CaptureFixture[str], grid: Path, tmp_path: Path) -> None:
    state = shipped("4D")
    text = str(MorpionState(state.game, state.moves[:28]))
    data = answer(capsys, "hint", "morpion", text, "--variant", "4D", "--time", "0.5")
    assert data["score"] == 28
    assert data["reachable"] == 35  # optimal
    assert data["best_move"] == data["moves"][0]
    drawing = tmp_path / "end.svg"
    over = answer(capsys, "hint", "morpion", str(grid), "--time", "1", "--svg", str(drawing))
    assert (over["reachable"], over["best_move"], over["moves"]) == (35, None, [])
    assert verify(drawing.read_text()).terminal
    check_refusal(capsys, ["hint", "morpion", str(grid), "--time", "0"], "the time must be above 0")
    check_refusal(capsys, ["hint", "morpion", "(28,28);(1,1) - 0"], "line 2: move 1, (1,1) - 0, is not legal")


def test_a_game_is_gone_through_step_by_step(
    grid: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["", "", "b", "20", "", "b", "99", "b", "0", "b", "q"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    with pytest.raises(SystemExit) as stop:
        main(["replay", "morpion", str(grid)])
    assert not stop.value.code
    output = capsys.readouterr()
    shown = [line for line in (output.out + output.err).splitlines() if line.startswith(("move ", "the cross"))]
    state = shipped("4D")
    names = [state.action_name(action) for action in state.moves]
    places = [0, 1, 2, 1, 20, 21, 20, 35, 34, 0, 0]
    assert shown == [f"move {n} of 35: {names[n - 1]}" if n else "the cross; 35 moves follow" for n in places]


def test_a_game_ends_with_its_last_move(
    grid: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["34", "", ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    with pytest.raises(SystemExit):
        main(["replay", "morpion", str(grid)])
    assert "move 35 of 35" in "".join(capsys.readouterr())
    assert next(words, None) is None
    for pause in ("-0.1", "61"):
        check_refusal(capsys, ["replay", "morpion", str(grid), f"--pause={pause}"], "the pause must be 0 to 60 seconds")
    monkeypatch.setattr("rookery.games.morpion.commands.sleep", slept.append)
    slept.clear()
    with pytest.raises(SystemExit):
        main(["replay", "morpion", str(grid), "--pause", "0.5"])
    assert slept == [0.5] * 36


slept: list[float] = []
