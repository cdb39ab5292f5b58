"""Commands for every game as a person sees them, and what the command line does with words."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from rookery import cli
from rookery.cli import base, main
from rookery.cli.base import Common, Place, print_failures, shard_answer
from rookery.game import TERMINAL
from rookery.registry import GAMES, load, methods
from rookery.run import Run
from rookery.scale import Job, Task
from tests.commands import answer, check_refusal
from tests.tic_tac_toe import TicTacToe

EXAMPLE = "examples/tic_tac_toe.py"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal in which no path is too long for a line."""
    monkeypatch.setenv("COLUMNS", "400")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    """The lines on standard output of a command."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    output = capsys.readouterr()
    assert stop.value.code == code, output.err
    return output.out.splitlines()


def standard_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def rows(key: bytes) -> str:
    """A position of the example as it is written."""
    return "/".join(key.decode()[i : i + 3] for i in (0, 3, 6))


def test_a_whole_game_is_counted_and_solved(capsys: pytest.CaptureFixture[str]) -> None:
    """Counted again by visiting every position, and valued again by plain minimax."""
    values: dict[bytes, int] = {}
    moves = 0

    def value(state: Any) -> int:
        nonlocal moves
        if state.key() not in values:
            legal = state.legal_actions()
            moves += len(legal)
            results = []
            for action in legal:
                after = state.clone()
                after.apply(action)
                results.append(-value(after))
            over = int(state.returns()[0])
            mover = 1 if state.cells.count("x") == state.cells.count("o") else -1
            values[state.key()] = max(results) if legal else over * mover
        return values[state.key()]

    game = TicTacToe()
    assert value(game.initial_state()) == 0
    inner = {key: v for key, v in values.items() if game.parse_state(rows(key)).player() != TERMINAL}
    ends = len(values) - len(inner)
    lines = shown(capsys, "solve", EXAMPLE)
    assert lines[0] == "Tic Tac Toe from the start: a draw"
    assert lines[1].startswith(f"{len(values):,} positions ({ends:,} ends) with {moves:,} moves, solved in ")
    counts = [list(inner.values()).count(v) for v in (1, 0, -1)]
    shares = [f"{n} {c:,} ({c / len(inner):.1%})" for n, c in zip(("won", "drawn", "lost"), counts, strict=True)]
    assert lines[2] == f"for the player to move: {', '.join(shares)}"
    assert lines[3] == "the longest win takes 5 moves"
    assert [line.split() for line in lines[5:]] == [[str(cell), "0", "9"] for cell in range(9)]
    data = answer(capsys, "solve", EXAMPLE)
    assert (data["value"], data["steps"], data["variant"], data["longest"]) == (0.0, 9, None, 5)
    check_refusal(capsys, ["solve", EXAMPLE, "--positions", "100"], "100")


def test_a_position_is_solved_in_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(capsys, "solve", EXAMPLE, "xx./oo./...")
    assert lines[0] == "a win in 1 move"
    assert lines[2].split()[:2] == ["2", "1"]
    data = answer(capsys, "solve", EXAMPLE, "xx./oo./...")
    assert (data["value"], data["best"], data["error_bound"]) == (1.0, ["2"], 0.0)
    values = [row["value"] for row in data["moves"]]
    assert values == sorted(values, reverse=True)
    standard_input(monkeypatch, "xx./oo./...\n\n  xxo/oox/x..  \n")
    assert shown(capsys, "solve", EXAMPLE, "-") == ["xx./oo./...: a win in 1 move", "xxo/oox/x..: a draw"]
    standard_input(monkeypatch, "xx./oo./...\n\nnonsense\n")
    with pytest.raises(SystemExit) as stop:
        main(["solve", EXAMPLE, "-", "--json"])
    output = capsys.readouterr()
    assert stop.value.code == 2
    assert json.loads(output.out.splitlines()[0])["value"] == 1.0
    assert output.err.startswith("rookery: line 3: expected three rows")


def test_sequences_are_counted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine, eight and seven places."""
    (line,) = shown(capsys, "perft", EXAMPLE, "3")
    assert re.fullmatch(r"504 sequences of 3 actions in \d+\.\d{3} s \([\d,]+/s\)", line)
    assert answer(capsys, "perft", EXAMPLE, "0")["nodes"] == 1
    standard_input(monkeypatch, ".../.../...\nxox/oxo/...\n")
    assert shown(capsys, "perft", EXAMPLE, "4", "--position", "-") == [".../.../...: 3,024", "xox/oxo/...: 0"]
    for depth in ("-1", "1001"):
        check_refusal(capsys, ["perft", EXAMPLE, depth], f"the depth must be from 0 to 1000, and is {depth}")


@pytest.mark.parametrize(
    ("game", "position", "words"),
    [
        (EXAMPLE, ".../.../...", "the first player is to move"),
        (EXAMPLE, "x../.../...", "the second player is to move"),
        (EXAMPLE, "xxx/oo./...", "the game is over, returns [1.0, -1.0]"),
        ("tenten", str(load("tenten").initial_state()), "chance is to draw"),
    ],
)
def test_a_position_is_shown(game: str, position: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    state = load(game).parse_state(position)
    lines = shown(capsys, "show", game, position)
    names = [state.action_name(action) for action in state.legal_actions()]
    moves = [f"{len(names)} moves: {' '.join(names)}"] if names else []
    assert lines == [str(state), words, *moves]


def test_a_start_is_drawn_with_the_seed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one, same, other = (answer(capsys, "show", "solitaire-chess", "--seed", seed) for seed in ("3", "3", "4"))
    assert one == same != other
    file = tmp_path / "board.svg"
    assert shown(capsys, "show", EXAMPLE, "--svg", str(file))[-1] == f"drawn in {file}"


def test_games_and_their_methods(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(capsys, "games")
    for name in GAMES:
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{name}: "))
        kinds = {m.kind for m in methods(load(name)).values()}
        below = " ".join(lines[at + 1 : at + 12])
        assert ("solved by" in below.split("learned by")[0]) == ("exact" in kinds)
    rows = {row["name"]: row for row in answer(capsys, "games")["games"]}
    for name, row in rows.items():
        assert sorted(row["exact"] + row["search"] + row["learn"]) == sorted(row["methods"]), name
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, shown(capsys, "games")[1:5])) <= 60


# What commands share


def test_seeds_places_and_timeouts_have_bounds() -> None:
    assert Common(seed=2**62 - 1).seed == 2**62 - 1
    for seed in (-1, 2**62):
        with pytest.raises(ValueError, match=f"the seed must be from 0 to 2\\^62 - 1, and is {seed}"):
            Common(seed=seed)
    assert Place(timeout=1e6).timeout == 1e6
    for timeout in (0.0, -1.0, 1_000_001.0):
        with pytest.raises(ValueError, match="the timeout must be above 0 and at most 1,000,000 seconds, and is"):
            Place(timeout=timeout)
    with pytest.raises(ValueError, match="the shard must be K/N"):
        Place(shard="0/2")
    assert (Place().on, base.HERE.on) == ("processes", "here")


def printed(show: Any) -> list[str]:
    out = io.StringIO()
    show(Console(file=out, width=80))
    return out.getvalue().splitlines()


def test_a_few_failures_are_named_and_the_others_counted() -> None:
    failures = {f"{n}": "broke" for n in range(7)}
    lines = printed(lambda console: print_failures(console, failures))
    assert lines == [*(f"failed: {n}: broke" for n in range(5)), "and 2 more that failed"]
    assert len(printed(lambda console: print_failures(console, dict(list(failures.items())[:5])))) == 5


def test_a_part_of_a_job_says_how_much_is_done(tmp_path: Path) -> None:
    tasks = [Task(f"{n}", "builtins:divmod", {"args": [1, n]}) for n in range(4)]
    for shard, code in ((1, 1), (2, 0)):
        job = Job({}, tasks, file=tmp_path / "rows.jsonl", shard=(shard, 2))
        list(job.run(retries=0))
        told = shard_answer(job)
        assert told.exit_code == code
        assert told.data == {"file": str(job.file), "done": 2 - code, "of": 2, "failed": job.failures}
        text = " ".join(printed(told.show))
        assert f"{2 - code} of 2 tasks of this part are done" in text
        assert ("failed: 0: " in text) == bool(code)


def test_merging_names_what_is_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tasks = [Task(f"{n}", "builtins:abs", {"args": [n]}) for n in range(36)]
    for shard in (1, 3):
        list(Job({}, tasks, file=tmp_path / "rows.jsonl", shard=(shard, 3)).run())
    part = tmp_path / "rows-1-of-3.jsonl"
    lines = part.read_text().splitlines()
    part.write_text("\n".join(lines[:2]) + "\n")
    text = shown(capsys, "merge", str(tmp_path), code=1)
    missing = [f"{n}" for n in range(3, 36, 3)]
    assert text == [
        f"13 rows in {tmp_path / 'rows.jsonl'}", "parts that are missing: 2",
        f"not done: {'; '.join(missing[:10])} and 1 more",
    ]  # fmt: skip
    out = tmp_path / "elsewhere"
    part.write_text("\n".join(lines[:3]) + "\n")
    text = shown(capsys, "merge", str(part), "--out", str(out), code=1)
    assert text[0] == f"2 rows in {out / 'rows.jsonl'}"
    assert text[-1] == f"not done: {'; '.join(missing[1:])}"


def test_runs_are_listed_plotted_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Settings:
        rate: float = 0.5

    for number, rate in enumerate((0.25, 0.75)):
        run = Run.create(tmp_path / f"{number}", TicTacToe(), "mine", Settings(rate), number)
        for step in range(3):
            run.add({"step": step, "loss": rate * step, "progress": 1.0})
        run.write_metrics()
        run.note("done")
    data = answer(capsys, "runs", str(tmp_path))
    assert (data["metric"], {row["curve"] for row in data["runs"]}) == (None, {None})
    data = answer(capsys, "runs", str(tmp_path), "--metric", "loss")
    curves = {row["seed"]: row["curve"] for row in data["runs"]}
    assert curves == {0: [[0.0, 1.0, 2.0], [0.0, 0.25, 0.5]], 1: [[0.0, 1.0, 2.0], [0.0, 0.75, 1.5]]}
    page, table = tmp_path / "runs.html", tmp_path / "runs.csv"
    words = ["--plot", "--compare", "--metric", "loss", "--html", str(page), "--csv", str(table)]
    lines = shown(capsys, "runs", str(tmp_path), *words)
    assert lines[-2:] == [f"written: {page}", f"written: {table}"]
    assert any(line.strip() == "loss" for line in lines)
    assert page.read_text().startswith("<!")
    assert table.read_text().splitlines()[0].endswith("rate")
    assert not any("written" in line for line in shown(capsys, "runs", str(tmp_path)))
    check_refusal(capsys, ["runs", str(tmp_path), "--metric", "nothing"], "no run reports 'nothing'")


# The command line


def test_help_is_in_groups_and_fits_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = "\n".join(shown(capsys, "--help"))
    assert "\n".join(shown(capsys)) == text
    for title in (*cli.GROUPS, "More"):
        assert f"\n\n{title}\n" in text
    for name in cli.names():
        assert re.search(rf"^  {name} ", text, re.M), name
    assert max(len(line) for line in text.splitlines() if line.startswith("  ")) <= 60
    order = [cli.names().index(name) for group in cli.GROUPS.values() for name in group]
    assert order == sorted(order)
    rows = cli._rows([("ab", "one two three four five six seven"), ("c", "")])
    monkeypatch.setenv("COLUMNS", "10")
    assert cli._rows([("ab", "x " * 30)]).count("\n") == 1, "at least 40 columns are used"
    assert rows.splitlines()[0] == "  ab  one two three four five six seven"
    assert rows.splitlines()[1] == "  c   "


def test_a_verb_with_several_forms_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    verb = next(verb for verb, forms in cli.game_commands().items() if verb in cli.GENERIC and verb != "train")
    lines = shown(capsys, verb, "--help")
    for game in cli.game_commands()[verb]:
        assert any(line.startswith(f"  rookery {verb} {game} ") for line in lines)
    assert any(line.startswith(f"  rookery {verb} GAME ") for line in lines)
    assert lines[-1] == "Every form explains itself with --help."
    assert shown(capsys, verb, code=2) == lines
    other = next(verb for verb in cli.game_commands() if verb not in (*cli.GENERIC, *cli.WITHOUT_GAME))
    assert not any(" GAME " in line for line in shown(capsys, other, "-h"))


def test_numbers_beyond_native_code_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for word in (str(2**62), f"--seed={2**62}", f"-{2**62}", "9" * 500):
        check_refusal(capsys, ["perft", EXAMPLE, word], "numbers must be below 2^62, unlike")
    answer(capsys, "perft", EXAMPLE, "0", "--seed", str(2**62 - 1))


def test_what_goes_wrong_becomes_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(error: BaseException) -> None:
        def fail(words: list[str]) -> None:
            raise error

        monkeypatch.setattr(cli, "run", fail)

    for error, sentence in (
        (ValueError("two\n  lines"), "two lines"), (RecursionError(), "the position is nested too deeply"),
        (MemoryError(), "there is not enough memory for that; choose smaller numbers"),
        (RuntimeError("CUDA out of memory"), "there is not enough memory for that; choose smaller numbers"),
        (FileNotFoundError(2, "No such file", "x"), "[Errno 2] No such file: 'x'"),
    ):  # fmt: skip
        raising(error)
        with pytest.raises(SystemExit) as stop:
            main(["games"])
        assert stop.value.code == 2
        assert capsys.readouterr().err == f"rookery: {sentence}\n"
    raising(RuntimeError("a defect"))
    with pytest.raises(RuntimeError, match="a defect"):
        main(["games"])
    raising(KeyboardInterrupt())
    with pytest.raises(SystemExit) as stop:
        main(["games"])
    assert stop.value.code == 130
    assert capsys.readouterr().err == "rookery: interrupted\n"
