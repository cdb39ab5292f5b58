from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from rookery.cli import main
from rookery.games.solitaire_chess import MODELS, study
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.solitaire_chess.search import search
from tests.commands import answer, check_refusal


def test_solve(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    svg = tmp_path / "tree.svg"
    data = answer(capsys, "solve", "solitaire-chess", ".RN./B.P./..../....", "--tree", "--svg", str(svg))
    assert (data["solvable"], data["final"], data["states"], data["nodes"]) == (True, "Ra3", 12, 12)
    assert data["moves"] == ["Rb4xc4", "Rc4xc3", "Rc3xa3"]
    texts = [element.text or "" for element in ElementTree.fromstring(svg.read_text()).iter() if "text" in element.tag]
    assert sum(". " in text for text in texts) == 11
    for method in ("dfs", "dfs-tt", "best-first"):
        ranking = ("--order", "ranked", "--search", method)
        ranked = answer(capsys, "solve", "solitaire-chess", ".RN./B.P./..../....", *ranking)
        assert ranked["states"] == 4
        assert ranked["looked_at"] > 0 == data["looked_at"]


def test_weights_of_a_run_and_of_the_paper(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shutil.copy(MODELS / "4x4-paper-dqn.safetensors", tmp_path / "model.safetensors")
    for weights in ("paper-dqn", str(tmp_path)):
        options = ("--order", "ranked", "--no-look-ahead", "--weights", weights)
        data = answer(capsys, "solve", "solitaire-chess", ".RN./B.P./..../....", *options)
        assert (data["states"], data["looked_at"]) == (4, 0)


def test_published_puzzles_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("rows,final\n.RN./B.P./..../....,Ra3\n")
    game, console = SolitaireChess(), Console(quiet=True)
    table = study._published(file, game, {}, "command", console)
    # 12 positions, all of the tree, or 11 without entering one twice; one final, which is right.
    assert [row[1] for row in table.rows[:2]] == ["12.0", "11.0"]
    assert {row[-1] for row in table.rows} == {"1/1"}
    file.write_text("board\n")
    with pytest.raises(ValueError, match="without puzzles"):
        study._published(file, game, {}, "command", console)
    file.write_text("board\n.RN.\n")
    with pytest.raises(ValueError, match="must name a CSV file with columns rows and final"):
        study._published(file, game, {}, "command", console)


def test_the_puzzle_of_figure_5() -> None:
    """The nine boards of the paper's figure that are not the start, by hand, are the captures that we try."""
    boards = {
        "N.../R..N/..../....", "N.../...R/..../....", "R.../...N/..../....",
        "B.../R..N/..../....", "B.../...R/..../....",
        "B.../R.../.N../....", "N.../R.../..../....", "R.../..../..../....",
    }  # fmt: skip
    state = SolitaireChess().parse_state(study.TIED_PUZZLE)
    found = search(state, max_tree=100)
    states = [state]
    for parent, action in found.tree[1:]:
        after = states[parent].clone()
        after.apply(action)
        states.append(after)
    assert len(states) == 10, "one board comes twice: the rook has the bishop's square, or the knight's"
    assert {str(after) for after in states[1:]} == boards


def test_what_cannot_be_solved_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "solitaire-chess", "K.../..../..../...P")
    assert (data["solvable"], data["final"], data["moves"]) == (False, None, [])


def test_giving_up_is_not_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "solitaire-chess", ".RN./B.P./..../....", "--max-states", "3")
    assert (data["solvable"], data["states"]) == (None, 3)


@pytest.mark.parametrize("command", ["solve", "hint"])
def test_many_from_standard_input(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(".RN./B.P./..../....\n\nK.../..../..../...P\n"))
    with pytest.raises(SystemExit):
        main([command, "solitaire-chess", "-", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["position"] for row in rows] == [".RN./B.P./..../....", "K.../..../..../...P"]
    assert [row.get("stuck", not row.get("solvable")) for row in rows] == [False, True]


def test_hint_and_generate(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "hint", "solitaire-chess", "R.../.B../..N./P...", "--stage", "2")
    assert data == {"stuck": False, "hints": ["The rook on a4 moves first.", "It takes the pawn on a1."]}
    data = answer(capsys, "generate", "solitaire-chess", "--count", "3", "--level", "advanced", "--seed", "5")
    puzzles = data["puzzles"]
    assert isinstance(puzzles, list)
    assert len(puzzles) == 3
    for puzzle in puzzles:
        solved = answer(capsys, "solve", "solitaire-chess", puzzle["rows"])
        assert solved["final"] == puzzle["final"]
    solo = answer(capsys, "generate", "solitaire-chess", "--count", "1", "--level", "solo", "--pieces", "8")["puzzles"]
    assert isinstance(solo, list)
    rows = solo[0]["rows"]
    assert answer(capsys, "solve", "solitaire-chess", rows, "--variant", "solo-8x8", "--search", "dfs-tt")["solvable"]


def test_new_puzzles_are_printed_with_what_is_known_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    for level, rest in (("beginner", r"  rating [\d.]+, leaves \w\w\d"), ("solo", "")):
        with pytest.raises(SystemExit) as stop:
            main(["generate", "solitaire-chess", "--level", level, "--count", "2"])
        assert not stop.value.code
        for line in capsys.readouterr().out.splitlines():
            assert re.fullmatch(rf"[KQRBNP./]+{rest}", line)


def test_train(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data = answer(capsys, "train", "solitaire-chess", "dqn", "--steps", "3", "--out", str(tmp_path))
    found = answer(
        capsys, "solve", "solitaire-chess", ".RN./B.P./..../....", "--order", "ranked", "--weights", str(data["model"])
    )
    assert found["solvable"]
    why = answer(capsys, "explain", "solitaire-chess", ".RN./B.P./..../....", "--agent", str(tmp_path))
    assert why["action"] in why["values"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "solitaire-chess", "nonsense"], "expected 4 rows of 4 squares"),
        (["hint", "solitaire-chess", "R1.../..../..../...."], "captures are not limited"),
        (["generate", "solitaire-chess", "--count", "-1"], "0 to 100000"),
        (["train", "solitaire-chess", "dqn", "--steps", "0"], "at least 1"),
        (["solve", "solitaire-chess", ".RN./B.P./..../....", "--order", "ranked", "--weights", "none"], "none"),
    ],
)
def test_nonsense_is_an_error(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["solve", "solitaire-chess", "R1.../..../..../...P"], "expected no count, as captures are not limited"),
        (["solve", "solitaire-chess", "R../..../..../...P"], "each one of K, Q, R, B, N, P or '.'"),
        (["show", "solitaire-chess", "/".join(["....."] * 5)], "boards of that size are the variant 5x5"),
        (["solve", "solitaire-chess", ".RN./B.P./..../....", "--weights", "dqn"], "--weights is for --order ranked"),
        (["generate", "solitaire-chess", "--level", "expert", "--pieces", "8"], "--pieces is for --level solo"),
        (["generate", "solitaire-chess", "--seed", "-1"], "the seed must be from 0 to 2^62 - 1"),
    ],
)
def test_what_is_refused_says_why(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


def test_positions_from_standard_input_are_answered_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(".RN./B.P./..../....\nK.../..../..../...P\n"))
    with pytest.raises(SystemExit):
        main(["solve", "solitaire-chess", "-"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(".RN./B.P./..../....: ")
    assert "leaves" in first
    assert second.startswith("K.../..../..../...P: cannot be solved")


def test_a_hint_tells_least_if_nothing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    puzzle = "R.../.B../..N./P..."
    told = [answer(capsys, "hint", "solitaire-chess", puzzle, "--stage", str(stage)) for stage in (1, 2, 3)]
    assert answer(capsys, "hint", "solitaire-chess", puzzle) == told[0]
    assert told[0] != told[1] != told[2]


def test_numbers_of_new_puzzles_are_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    generate = ["generate", "solitaire-chess", "--level", "solo"]
    assert answer(capsys, *generate, "--count", "0")["puzzles"] == []
    assert answer(capsys, *generate[:2], "--level", "beginner", "--count", "0")["puzzles"] == []
    for count in ("-1", "100001"):
        check_refusal(capsys, [*generate, f"--count={count}"], "the number of puzzles must be 0 to 100000")
    [puzzle] = answer(capsys, *generate, "--count", "1")["puzzles"]
    assert puzzle["pieces"] == 14 == sum(letter.isalpha() for letter in puzzle["rows"])
    check_refusal(capsys, ["generate", "solitaire-chess", "--pieces", "5"], "--pieces is for --level solo")
