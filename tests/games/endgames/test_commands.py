from __future__ import annotations

import io
import json
import random
from pathlib import Path

import chess
import pytest

from rookery.cli import main
from rookery.games.endgames import commands
from rookery.games.endgames.q_learning import LearnedTable
from rookery.games.endgames.rules import Endgames, to_pgn
from rookery.games.endgames.tables import tables
from rookery.registry import agent as load_agent
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
    done = run("solve", "endgames", "-", "--json", stdin="\n".join(fens))
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
        (["train", "endgames", "perfect", "--variant", "KPK"], "perfect does not fit endgames KPK: it learns KQK"),
    ],
)
def test_bad_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    check_refusal(capsys, arguments, sentence)


def test_train_perfect(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("train", "endgames", "perfect", "--variant", "KQK", "--out", str(tmp_path))
    data = answer(capsys, *arguments)
    assert data["run"] == str(tmp_path)
    metrics = data["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["perfect"]
    assert metrics["optimal"] == 1.0
    assert {path.name for path in tmp_path.iterdir()} == {
        "run.json", "metrics.jsonl", "checkpoint.npz", "model.npz", "model.json",
    }  # fmt: skip
    assert answer(capsys, *arguments, "--resume") == data, "there is nothing left to learn"


def test_train_writes_runs_and_the_agent_plays_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fen = "8/8/1K6/8/3k4/7Q/8/8 w - - 0 1"
    arguments = ["train", "endgames", "q-learning", "--position", fen, "--runs", "2", "--matches", "800"]
    data = answer(capsys, *arguments, "--out", str(tmp_path))
    assert data["run"] == str(tmp_path)
    assert len(data["metrics"]["solutions"]) == 2
    assert all(moves >= (data["metrics"]["exact_plies"] + 1) // 2 for moves in data["metrics"]["solutions"])
    assert (tmp_path / "run-02" / "log.txt").read_text().startswith("start: " + fen)
    again = answer(capsys, *arguments, "--out", str(tmp_path), "--resume")
    assert again["metrics"] == data["metrics"]

    game = Endgames(start=fen)
    state = game.initial_state()
    run = tmp_path / "run-01"
    agent = load_agent(f"q-learning:{run}", game)
    values = LearnedTable.load(run / "q-table-strong.npz").values(state)
    assert values is not None
    assert agent.values(state) == values
    explanation = agent.explain(state)
    assert values[explanation.action] == max(values.values())
    best = state.action_name(explanation.action)
    assert explanation.reasons[0].startswith(f"Q {max(values.values()):.6g}: {best} mates in ")
    assert "the best reply is" in explanation.reasons[0]
    assert len(explanation.reasons) == len(state.legal_actions())


def test_watch_shows_a_mate_and_writes_pgn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    chess_pgn = pytest.importorskip("chess.pgn")
    fen = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"
    file = tmp_path / "game.pgn"
    data = answer(capsys, "watch", "endgames", fen, "--agent", "oracle", "--pgn", str(file))
    assert data["ending"] == "checkmate"
    dtm = tables("KRK").dtm(Endgames().parse_state(fen))
    assert len(data["moves"]) == dtm
    assert [abs(row["dtm_plies"]) for row in data["moves"]] == list(range(dtm - 1, -1, -1))
    game = chess_pgn.read_game(io.StringIO(file.read_text()))
    assert game.headers["Result"] == "1-0"
    assert game.errors == []
    board = game.end().board()
    assert board.is_checkmate()
    assert board.fen() == data["moves"][-1]["position"]


def test_the_board_that_watch_prints_is_that_of_python_chess() -> None:
    for fen in ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "7k/P7/8/8/8/8/8/K6N w - - 0 1", "7K/8/8/8/3b4/8/6p1/k7 w - - 0 1"):
        want = chess.Board(fen).unicode(empty_square="·").split("\n")
        rows = [f"{8 - row} {line}" for row, line in enumerate(want)]
        state = Endgames(start=fen).initial_state()
        assert commands._board(state).split("\n") == [*rows, "  a b c d e f g h"]


def test_watch_draws_boards(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["watch", "endgames", "8/8/8/8/8/1K6/7Q/k7 w - - 0 1", "--agent", "oracle"])
    assert stop.value.code == 0
    output = capsys.readouterr().out
    assert "White mates in 1 move" in output
    assert "Black is mated" in output
    assert "3 · ♔ · · · · · ·" in output


def test_pgn_of_a_game_that_black_begins() -> None:
    chess_pgn = pytest.importorskip("chess.pgn")
    state = Endgames().parse_state("8/8/8/4K3/8/8/8/r3k3 b - - 3 12")
    rng = random.Random(1)
    walk, actions = state.clone(), []
    for _ in range(9):
        actions.append(rng.choice(walk.legal_actions()))
        walk.apply(actions[-1])
    text = to_pgn(state, actions, ('the "rook"', "nobody"))
    assert '[White "the \\"rook\\""]' in text
    game = chess_pgn.read_game(io.StringIO(text))
    assert game.errors == []
    assert game.end().board().fen() == str(walk)


def test_a_position_never_met_is_judged_by_looking_one_move_ahead() -> None:
    game = Endgames("KPK")
    agent = load_agent("q-learning", game)
    state = game.parse_state("k7/2P5/1K6/8/8/8/8/8 w - - 0 1")
    explanation = agent.explain(state)
    assert "never met" in explanation.reasons[0]
    assert state.action_name(explanation.action).endswith("#")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["train", "endgames", "q-learning", "--preset", "alpha"],
            "unknown preset 'alpha' of q-learning",
        ),
        (["train", "endgames", "q-learning", "--position", "8/8 w - -"], "8 rows"),
        (
            [
                "train",
                "endgames",
                "q-learning",
                "--opponent",
                "stockfish",
                "--engine",
                "/no/such/program",
                "--out",
                "{tmp}",
            ],
            "there is no program /no/such/program",
        ),
        (["watch", "endgames", "8/8/8/8/8/8/8/8 w - -"], "each side must have one king"),
        (
            ["watch", "endgames", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1", "--agent", "q-learning:/none"],
            "there is no model in /none",
        ),
    ],
)
def test_more_bad_input_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    check_refusal(capsys, [argument.format(tmp=tmp_path) for argument in arguments], sentence)


def test_several_tables_become_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A move is worth the mean of what the tables learned about it; one table stays as it is."""
    game = Endgames("KQK")
    a, b = (game.parse_state(f"8/8/{row}/8/3k4/7Q/8/8 w - - 0 1") for row in ("1K6", "2K5"))
    x, y, *others = a.legal_actions()
    nothing = dict.fromkeys(others, 0.0)
    one = LearnedTable.of({a: {x: 4.0, y: 1.0} | nothing})
    two = LearnedTable.of({a: {x: 2.0, y: 0.0} | nothing, b: dict.fromkeys(b.legal_actions(), 7.0)})
    for name, table in (("one", one), ("two", two)):
        table.save(tmp_path / f"{name}.npz")
    names = [str(tmp_path / f"{name}.npz") for name in ("one", "two")]
    for tables_, positions, expected in ((names[:1], 1, 4.0), (names, 2, 3.0), (names[::-1], 2, 3.0)):
        for end in ("json", "npz"):
            out = tmp_path / f"out.{end}"
            data = answer(capsys, "q-table", "endgames", *tables_, "--out", str(out))
            assert data == {"tables": tables_, "positions": positions, "out": str(out)}
            found = LearnedTable.load(out)
            assert len(found) == positions
            assert found.values(a) == {x: expected, y: 1.0} | nothing
            assert (found.values(b) is None) == (positions == 1)
    with pytest.raises(SystemExit) as stop:
        main(["q-table", "endgames", *names, "--out", str(tmp_path / "both.npz")])
    assert stop.value.code == 0
    assert "2 positions of 2 tables are in" in " ".join(capsys.readouterr().out.split())
    check_refusal(
        capsys, ["q-table", "endgames", *names, "--out", str(tmp_path / "both.csv")], "must end in .json or .npz"
    )
