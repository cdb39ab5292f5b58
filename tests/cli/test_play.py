"""Playing, watching, explaining and competing in the terminal."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from examples.tic_tac_toe import TicTacToe

from rookery import arena
from rookery.agents import Agent
from rookery.cli import main
from rookery.game import State
from rookery.games.solitaire_chess.puzzles import hints
from rookery.registry import load, register
from tests.commands import answer, check_refusal


def screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: Iterable[str], *arguments: str
) -> list[str]:
    """The lines that a person sees who enters the words and then leaves."""
    entered = iter([*words, "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(entered))
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert not stop.value.code
    output = capsys.readouterr()
    return [line.strip("> ") for line in (output.err + output.out).splitlines()]


def test_arena_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "arena", "tenten", "mcts:simulations=50", "random", "--games", "4", "--variant", "3x3-three")
    assert data["games"] == 4
    assert set(data) >= {"wins", "draws", "losses", "games", "interval"}


def test_round_robin_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = ["random", "minimax:depth=1", "minimax:depth=2"]
    arguments = ["arena", "checkers", *names, "--games", "2", "--out", str(tmp_path)]
    data = answer(capsys, *arguments)
    assert data["games"] == 4
    assert len(data["matches"]) == 3
    assert {row["agent"] for row in data["agents"]} == set(names)
    check_refusal(capsys, arguments, "already holds games.jsonl")
    assert answer(capsys, *arguments, "--resume") == data


def test_explain_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(
        capsys, "explain", "tenten", "##./#.#/.## 1x1", "--variant", "3x3-three", "--agent", "mcts:simulations=50"
    )
    assert set(data["values"]) == {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
    assert data["action"] in data["values"]
    assert data["reasons"]


def test_play_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(["hint", "moves", "1x1@r3c3", "undo", "undo", "nonsense", "1x1@r1", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    data = answer(
        capsys, "play", "tenten", "--variant", "3x3-three", "--agent", "random", "--position", "##./.../... 1x1"
    )
    assert data["moves"] == ["1x1@r1c3"]
    assert str(data["position"]).startswith(".../.../...")


def test_hints_in_the_terminal_tell_more_every_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["hint", "hint", "hint", "hint", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    with pytest.raises(SystemExit):
        main(["play", "solitaire-chess", "--agent", "oracle", "--position", "R.../.B../..N./P..."])
    shown = [line.strip("> ") for line in capsys.readouterr().err.splitlines()]
    sentences = hints(load("solitaire-chess").parse_state("R.../.B../..N./P..."))
    assert [line for line in shown if line in sentences] == [*sentences, sentences[-1]]


def test_watch_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["checkers", "random", "minimax:depth=1"],
        ["tenten", "--variant", "3x3-three"],
        ["morpion", "random"],
    ):
        data = answer(capsys, "watch", *words, "--moves", "4", "--seed", "1")
        assert len(data["moves"]) == 4
    assert answer(capsys, "watch", "endgames", "--agent", "oracle", "--seed", "3")["moves"]
    with pytest.raises(SystemExit) as stop:
        main(["watch", "checkers", "random", "random", "random"])
    assert stop.value.code == 2


def test_explain_has_a_start_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for game in ("checkers", "tenten", "solitaire-chess"):
        assert answer(capsys, "explain", game, "--agent", "mcts:simulations=20", "--seed", "2")["values"]


def test_the_terminal_shows_a_board_with_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    with pytest.raises(SystemExit):
        main(["play", "endgames", "--position", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"])
    shown = [line.strip() for line in capsys.readouterr().err.splitlines()]
    assert "You play White. Enter a move, or: hint, moves, undo, draw, resign, quit." in shown
    assert {"5  . . . . k . . .", "1  R . . . K . . .", "a b c d e f g h"} <= set(shown)


def test_play_against_an_agent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    register(TicTacToe)
    monkeypatch.setattr("builtins.input", lambda *_: "")
    game = TicTacToe()
    names = [game.initial_state().action_name(a) for a in game.initial_state().legal_actions()]
    words = iter([names[0], "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    data = answer(capsys, "play", TicTacToe.name, "--agent", "minimax:depth=2")
    assert len(data["moves"]) == 2


BOARD = "##./.../... 1x1"


def test_moves_are_taken_back_one_by_one_and_no_further(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["play", "tenten", "--variant", "3x3-three", "--agent", "random", "--position", BOARD]
    shown = screen(capsys, monkeypatch, ["undo", "1x1@r3c3", "undo", "undo", "1x1@r1", "moves"], *arguments)
    assert shown.count("there is nothing to undo") == 2
    board = load("tenten", "3x3-three").parse_state(BOARD).text_board().split("\n")[0].strip()
    assert shown.count(board) == 5, "at first, after a move elsewhere, and whenever something was to be undone"
    assert shown[-1] == "1 moves played"
    words = "one of hint, moves, undo, quit"
    wrong = " ".join(screen(capsys, monkeypatch, ["nonsense", "resign", "draw"], *arguments))
    assert wrong.count(f"enter `moves` for the list, or {words}") == 3


def test_resigning_loses_and_a_draw_must_be_agreed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Polite(Agent):
        agrees = True

        def choose(self, state: State, rng: random.Random | None = None) -> int:
            return state.legal_actions()[-1]

        def accepts_draw(self, state: State) -> bool:
            return self.agrees

    monkeypatch.setattr("rookery.cli.play.load_agent", lambda name, game: Polite())
    for side, returns, sides in (("first", [-1.0, 1.0], "White wins"), ("second", [1.0, -1.0], "Black wins")):
        monkeypatch.setattr("builtins.input", lambda *_: "resign")
        with pytest.raises(SystemExit):
            main(["play", "checkers", "--agent", "random", "--side", side])
        assert f"You resign: {sides}" in capsys.readouterr().err
        monkeypatch.setattr("builtins.input", lambda *_: "resign")
        data = answer(capsys, "play", "checkers", "--agent", "random", "--side", side)
        assert data["returns"] == returns
        assert len(data["moves"]) == (side == "second")
    monkeypatch.setattr("builtins.input", lambda *_: "draw")
    assert answer(capsys, "play", "checkers", "--agent", "random")["returns"] == [0.0, 0.0]
    Polite.agrees = False
    shown = screen(capsys, monkeypatch, ["draw"], "play", "checkers", "--agent", "random")
    assert "the agent plays on" in shown


def test_a_game_is_played_to_its_end(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "1x1@r1c3")
    shown = screen(capsys, monkeypatch, [], "play", "tenten", "--variant", "3x3-three", "--agent", "random")
    assert shown[0] == f"The game begins from {load('tenten', '3x3-three').usual_start}."
    entered = iter(["R", "Ra4xa1", "Ra1xc1"])
    monkeypatch.setattr("builtins.input", lambda *_: next(entered, "quit"))
    data = answer(capsys, "play", "solitaire-chess", "--agent", "oracle", "--position", "R.../..../..../P.B.")
    assert data["moves"] == ["Ra4xa1", "Ra1xc1"]
    assert data["returns"] == load("solitaire-chess").parse_state(data["position"]).returns()


def test_refusals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments, sentence in (
        (["play", "tenten", "--clock", "5+3"], "a clock is for games of two players"),
        (["watch", "tenten", "--delay", "61"], "the delay must be from 0 to 60 seconds, and is 61"),
        (["watch", "tenten", "--delay", "-1"], "the delay must be from 0 to 60"),
        (["watch", "tenten", "--moves", "-1"], "the number of moves must be at least 0, and is -1"),
        (["watch", "checkers", "random", "random", "random"], "has 2 sides, so name one agent or 2, not 3"),
        (["arena", "checkers", "random", "minimax:depth=1", "--resume"], "--resume needs --out"),
        (["explain", "tenten", "-", "--agent", "random", "--svg", str(tmp_path)], "--svg draws one position"),
        (
            ["explain", "endgames", "7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "--agent", "random"],
            "there is nothing to choose in",
        ),
    ):
        check_refusal(capsys, arguments, sentence)


def test_what_is_watched(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["watch", "checkers", "random", "minimax:depth=1", "--moves", "3", "--seed", "1"])
    output = capsys.readouterr()
    lines = [line.strip() for line in output.err.splitlines()]
    moves = [line for line in lines if " plays " in line]
    assert [line.split(" plays ")[0] for line in moves] == ["1. random", "2. minimax:depth=1", "3. random"]
    data = answer(capsys, "watch", "checkers", "random", "minimax:depth=1", "--moves", "3", "--seed", "1")
    assert [line.split(" plays ")[1] for line in moves] == data["moves"]
    assert data["position"] in lines
    assert output.out.startswith("3 moves played. ")
    assert answer(capsys, "watch", "checkers", "random", "--moves", "0")["moves"] == []
    state = load("checkers").initial_state()
    for name in data["moves"]:
        state.apply(state.parse_action(name))
    assert str(state) == data["position"]


def test_an_explanation_is_drawn_and_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    position = "B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29"
    with pytest.raises(SystemExit):
        main(["explain", "checkers", position, "--agent", "voting", "--svg", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    data = answer(capsys, "explain", "checkers", position, "--agent", "voting")
    assert lines[0] == f"voting plays {data['action']}"
    assert [line.strip() for line in lines[1 : 1 + len(data["reasons"])]] == [r.strip() for r in data["reasons"]]
    assert f"drawn in {tmp_path}" in "".join(lines)
    files = sorted(file.name for file in tmp_path.iterdir())
    assert files == sorted([*(f"{n}.svg" for n in range(1, len(files))), "position.svg"])
    assert len(files) > 1
    with pytest.raises(SystemExit):
        main(["explain", "checkers", "--agent", "random"])
    assert "B:W21,22" in capsys.readouterr().out, "the start that was drawn"


def test_tables_of_a_competition(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def shown(*arguments: str) -> list[list[str]]:
        with pytest.raises(SystemExit) as stop:
            main(["arena", *arguments, "--on", "here"])
        assert not stop.value.code
        return [line.split() for line in capsys.readouterr().out.splitlines()]

    names = ["random", "minimax:depth=1", "minimax:depth=2"]
    rows = shown("checkers", *names, "--games", "2", "--out", str(tmp_path))
    played = arena.Tournament("checkers", names, 2, out=tmp_path)
    played.resume()
    standings = played.standings()
    assert rows[0] == ["agent", "points", "Elo", "95%"]
    for number, (row, found) in enumerate(zip(rows[1:4], standings, strict=True), 1):
        elo, low, high = found["elo"]
        assert row == [
            str(number), found["agent"], f"{found['points']:g}/4", f"{elo:+.0f}", f"{low:+.0f}", "to", f"{high:+.0f}",
        ]  # fmt: skip
    assert rows[4] == ["against", "1", "against", "2", "against", "3"]
    order = [found["agent"] for found in standings]
    for number, (row, name) in enumerate(zip(rows[5:8], order, strict=True), 1):
        results = []
        for other in order:
            if other != name:
                match = played.match(name, other)
                results += [f"+{match.wins}", f"={match.draws}", f"-{match.losses}"]
        assert row == [str(number), *results]
    assert rows[8][:6] == ["6", "games", "and", str(len(list(tmp_path.iterdir())) - 1), "files", "in"]
    pair = shown("checkers", *names[:2], "--games", "2")
    assert len(pair) == 4
    assert pair[-1][0] == "random:"
    few = ["tenten", "random", "mcts:simulations=5", "--variant", "3x3-three", "--games", "3"]
    alone = shown(*few)
    assert alone[0] == ["agent", "mean", "return", "95%", "best"]
    assert {row[0] for row in alone[1:3]} == {"random", "mcts:simulations=5"}
    data: dict[str, Any] = answer(capsys, "arena", *few, "--on", "here")
    assert [row["agent"] for row in data["agents"]] == [row[0] for row in alone[1:3]]
    assert "matches" not in data


def test_a_failed_game_is_told_by_the_exit_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "player.py"
    file.write_text(
        "import random\nfrom rookery.agents import Agent\n\nclass Moody(Agent):\n"
        "    def choose(self, state, rng=None):\n"
        "        if rng.random() < 0.02:\n            raise RuntimeError('not today')\n"
        "        return state.legal_actions()[0]\n"
    )
    with pytest.raises(SystemExit) as stop:
        main(["arena", "checkers", f"{file}", "random", "--games", "8", "--on", "here", "--json"])
    assert stop.value.code == 1
    assert "not today" in capsys.readouterr().out
