"""What a worker answers, asked in this process."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.agents import Agent, Drawing, Explanation, Hint
from rookery.game import Overlay, State
from rookery.registry import agent as load_agent
from rookery.registry import register
from rookery.web import plays, worker
from tests.tic_tac_toe import TicTacToe

NAME = "tic-tac-toe"
EMPTY = ".../.../..."


class Picky(Agent):
    """Likes the move with the greatest number best, in two stages."""

    def values(self, state: State) -> dict[int, float]:
        return {action: action / 10 for action in state.legal_actions()}

    def stages(self) -> list[Agent]:
        return [load_agent("random", state_game()), self]

    def explain(self, state: State) -> Explanation:
        values = self.values(state) | {0: float("nan"), 1: float("-inf"), 2: float("inf")}
        marks = Overlay(highlights={4: "good"})
        return Explanation(state, 8, values, ["because"], marks, [Drawing("A board", "<svg/>", "text")])

    def in_words(self, state: State, value: float) -> str:
        return "exactly twelve" if value < 0.3 else "twelve chars" if value < 0.6 else "good"


def state_game() -> Any:
    return plays.rules(NAME, None)


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    """The example game, with an agent of ours, for this test alone."""
    register(TicTacToe)
    register(Picky)
    plays._fitting.cache_clear()
    agents = worker._agent
    agents.cache_clear()
    yield
    plays._fitting.cache_clear()
    plays.rules.cache_clear()
    agents.cache_clear()


def ask(task: str, **given: Any) -> list[dict[str, Any]]:
    request = {"task": task, "game": NAME, "variant": None, "start": EMPTY, "actions": [], "seed": 1} | given
    *rows, last = worker.answer(request)
    assert last == {"done": True}, last
    return rows


def refused(task: str, **given: Any) -> str:
    request = {"task": task, "game": NAME, "variant": None, "start": EMPTY, "actions": [], "seed": 1} | given
    (only,) = worker.answer(request)
    return str(only["error"])


def test_an_explanation_comes_in_stages_with_every_value() -> None:
    first, last = ask("explain", agent="picky")
    assert (first["final"], last["final"]) == (False, True)
    assert (last["agent"], last["action"], last["name"], last["reasons"]) == ("picky", 8, "8", ["because"])
    values = {row["action"]: row["value"] for row in last["values"]}
    assert values == {2: 1e300, 8: 0.8, 7: 0.7, 6: 0.6, 5: 0.5, 4: 0.4, 3: 0.3, 0: 0.0, 1: -1e300}
    assert [row["value"] for row in last["values"]] == sorted(values.values(), reverse=True)
    assert {row["words"] for row in last["values"]} == {"good", "twelve chars", "exactly twelve"}
    assert last["drawings"] == [{"title": "A board", "svg": "<svg/>"}]
    assert last["why_svg"].startswith("<svg")
    assert first["why_svg"] is None
    json.dumps([first, last], allow_nan=False)


def test_only_short_words_are_written_on_a_board() -> None:
    state = state_game().initial_state()
    words = worker._few_words(Picky(), state, {0: 0.1, 1: 0.5, 2: 0.9})
    assert words == {1: "twelve chars", 2: "good"}


def test_a_move_is_chosen_by_the_seed() -> None:
    moves = [ask("choose", agent="random", seed=seed)[0]["action"] for seed in range(8)]
    assert len(set(moves)) > 2
    assert moves == [ask("choose", agent="random", seed=seed)[0]["action"] for seed in range(8)]
    assert ask("choose", agent="picky") == [{"action": 8}]
    assert ask("choose", agent="picky", actions=[8]) == [{"action": 7}]
    assert refused("choose", agent="picky", start="xxx/oo./...") == "there is nothing to choose in this position"


def test_a_hint_is_that_of_the_strongest_agent_that_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Knows(Agent):
        def __init__(self, word: str) -> None:
            self.word = word

        def hint(self, state: State) -> Hint:
            if self.word == "silent":
                raise ValueError("not here")
            return Hint([self.word], [[1]], self.word == "stuck")

    asked: list[str] = []
    said = {"exact": "silent", "best": "mine", "mcts": "last"}

    def made(name: str, game: str, variant: str | None) -> Agent:
        asked.append(name)
        return Knows(said[name])

    monkeypatch.setattr(worker, "_agent", made)
    monkeypatch.setattr(worker, "opponent", lambda game: "best")
    for exact, expected in (("exact", ["exact", "best"]), (None, ["best"])):
        asked.clear()
        monkeypatch.setattr(worker, "exact_agent", lambda game, exact=exact: exact)
        assert ask("hint") == [{"stuck": False, "hints": ["mine"], "cells": [[1]]}]
        assert asked == expected
    said["best"] = "silent"
    assert ask("hint")[0]["hints"] == ["last"]
    said["best"] = "stuck"
    assert ask("hint")[0]["stuck"] is True


def test_a_move_is_judged_by_who_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "exact_agent", lambda game: None)
    assert refused("judge", actions=[4]) == "nobody knows the exact values of Tic Tac Toe"
    monkeypatch.setattr(worker, "exact_agent", lambda game: "picky")
    assert ask("judge", actions=[0, 8])[0]["verdict"] == "good"
    (told,) = ask("judge", actions=[0, 3])
    assert (told["verdict"], told["text"]) == ("slower", "3: twelve chars. Better was 8: good.")


def test_a_review_is_told_for_the_first_player(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every move is worth its number over ten: the best is the greatest that is left."""
    monkeypatch.setattr(worker, "exact_agent", lambda game: None)
    monkeypatch.setattr(worker, "opponent", lambda game: "picky")
    actions = [4, 8, 0, 7]
    *rows, last = ask("review", actions=actions, whose=[0])
    assert [row["ply"] for row in rows] == [1, 2, 3, 4]
    assert [row["player"] for row in rows] == [0, 1, 0, 1]
    assert [row["name"] for row in rows] == ["4", "8", "0", "7"]
    assert [row["best"] for row in rows] == ["8", "8", "7", "7"]
    assert [row["value"] for row in rows] == pytest.approx([0.4, -0.8, 0.0, -0.7])
    assert [row["loss"] for row in rows] == pytest.approx([0.4, 0.0, 0.7, 0.0])
    assert [row["done_share"] for row in rows] == [0.25, 0.5, 0.75, 1.0]
    assert {(row["exact"], row["step"]) for row in rows} == {(False, 1)}
    assert [row["best_words"] for row in rows] == ["good", "good", "good", "good"]
    assert [row["words"] for row in rows] == ["twelve chars", "good", "exactly twelve", "good"]
    assert [row["ply"] for row in last["worst"]] == [3, 1], "the worst first"
    assert last["worst"][0]["text"].startswith("0: ")
    assert ask("review", actions=actions, whose=[1])[-1] == {"worst": []}, "nothing was lost"
    many = ask("review", actions=[0, 1, 4, 2, 3, 5, 7], whose=[0, 1])[-1]["worst"]
    losses = [0.8, 0.7, 0.4, 0.6, 0.5, 0.3, 0.1]
    assert [row["ply"] for row in many] == [1 + losses.index(loss) for loss in sorted(losses, reverse=True)[:3]]
    monkeypatch.setattr(worker, "exact_agent", lambda game: "picky")
    assert ask("review", actions=actions, whose=[0])[0]["exact"] is True


def test_of_moves_that_lost_as_much_the_earlier_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every move is worth its number: 4 instead of 8, and 3 instead of 7."""

    class Whole(Agent):
        def values(self, state: State) -> dict[int, float]:
            return {action: float(action) for action in state.legal_actions()}

    register(Whole)
    plays._fitting.cache_clear()
    monkeypatch.setattr(worker, "exact_agent", lambda game: None)
    monkeypatch.setattr(worker, "opponent", lambda game: "whole")
    worst = ask("review", actions=[4, 8, 3], whose=[0, 1])[-1]["worst"]
    assert [row["ply"] for row in worst] == [1, 3]


def test_of_a_long_game_every_second_move_is_reviewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "exact_agent", lambda game: None)
    monkeypatch.setattr(worker, "opponent", lambda game: "picky")
    monkeypatch.setattr(worker, "REVIEWED", 3)
    for count, plies, step in ((3, [1, 2, 3], 1), (4, [1, 3], 2), (6, [1, 3, 5], 2), (7, [1, 4, 7], 3)):
        *rows, _ = ask("review", actions=[0, 1, 4, 2, 3, 5, 7][:count], whose=[0])
        assert [row["ply"] for row in rows] == plies
        assert {row["step"] for row in rows} == {step}
        assert [row["done_share"] for row in rows] == [ply / count for ply in plies]


def test_chance_is_not_reviewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "exact_agent", lambda game: None)
    monkeypatch.setattr(worker, "opponent", lambda game: "random")
    game = rookery.load("tenten", "3x3-three")
    now = plays.new_play(game, "3x3-three", ["person"], str(game.initial_state()), [], 1, {})
    for _ in range(2):
        now.act(now.state.legal_actions()[0])
    given = {"game": "tenten", "variant": "3x3-three", "start": now.play.start, "actions": now.play.actions}
    *rows, _ = ask("review", **given, whose=[0])
    chance = [ply for ply, mover in enumerate(now.movers) if mover >= 0][:2]
    assert [row["ply"] - 1 for row in rows] == chance
    assert len(now.play.actions) > 3


def test_a_film_has_pictures_from_the_start_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "opponent", lambda game: "picky")
    ((film),) = ask("film")
    state = state_game().initial_state()
    seen = [state.svg()]
    while state.player() >= 0:
        state.apply(max(state.legal_actions()))
        seen.append(state.svg())
    frames = film["frames"]
    assert (frames[0], frames[-1]) == (seen[0], seen[-1])
    assert frames == [svg for svg in seen if svg in frames], "in order"
    assert len(frames) == min(worker.FRAMES, len(seen))


def test_starts_puzzles_and_lessons() -> None:
    (start,) = ask("start", agent="picky", seed=3)
    assert start == {"start": EMPTY, "picked": False}
    endgames = rookery.load("endgames")
    (picked,) = ask("start", game="endgames", agent="best", seed=3)
    best = load_agent("best", endgames)
    assert picked == {"start": str(best.practice_start(endgames, random.Random(3))), "picked": True}
    solitaire = rookery.load("solitaire-chess")
    level = solitaire.puzzle_levels[0]
    (puzzle,) = ask("puzzle", game="solitaire-chess", level=level, seed=5)
    made = solitaire.puzzle(level, 5)
    assert puzzle == {"variant": made.variant, "start": made.position}
    assert ask("ready") == []
    (cards,) = ask("lessons")
    name = cards["lessons"][0]["name"]
    (page,) = ask("lesson", lesson=name)
    assert page["name"] == name
    assert refused("lesson", lesson="nothing") == "there is no page about 'nothing'"
    assert refused("experiment", lesson=name, experiment="nothing", settings={}) == (
        "there is no experiment 'nothing' on this page"
    )


def test_what_goes_wrong_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for error, sentence in (
        (ValueError("two\n lines"), "two lines"), (ValueError("x" * 600), "x" * 500),
        (OSError("no engine"), "no engine"),
        (FileNotFoundError(2, "No such file", "/home/me"), "a file that the agent needs cannot be read"),
        (KeyError("x"), "the agent failed (KeyError)"),
    ):  # fmt: skip

        def fail(request: Any, error: Exception = error) -> Iterator[dict[str, Any]]:
            yield {"row": 1}
            raise error

        monkeypatch.setitem(worker.TASKS, "fail", fail)
        assert list(worker.answer({"task": "fail"})) == [{"row": 1}, {"error": sentence}]
    assert "KeyError: 'x'" in capsys.readouterr().err
    assert refused("choose", agent="nobody").startswith("unknown agent 'nobody' for tic-tac-toe")


def test_an_agent_of_a_run_is_loaded_from_its_folder(tmp_path: Path) -> None:
    game = rookery.load("tenten", "4x4-seven")
    run = rookery.train(game, "lspi", updates=1, out=tmp_path)
    start = "###./..../..../.... 1x1"
    trained = {"method": "lspi", "folder": str(tmp_path), "seconds": 1.0}
    (row,) = ask("explain", game="tenten", variant="4x4-seven", agent="run", start=start, trained=trained)
    values = run.agent().values(game.parse_state(start))
    assert {value["action"]: value["value"] for value in row["values"]} == values
    assert (row["agent"], row["final"]) == ("run", True)


def test_work_ends_when_its_parent_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 5, 5, 1])
    naps: list[float] = []
    ended = threading.Event()
    monkeypatch.setattr(worker.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(worker, "time", type("Time", (), {"sleep": naps.append, "monotonic": time.monotonic}))
    worker.when_orphaned(ended.set)
    assert ended.wait(10)
    assert naps == [1, 1]


def test_lines_are_answered_and_what_agents_print_stays_out_of_the_way(tmp_path: Path) -> None:
    file = tmp_path / "loud.py"
    file.write_text("print('chatter')\n\nclass Loud:\n    def choose(self, state):\n        return 0\n")
    done = subprocess.run(
        [sys.executable, "-m", "rookery.web.worker", json.dumps([[str(file), True]])], check=True, capture_output=True,
        text=True, input='{"task": "ready"}\n{"task": "nothing"}\n', timeout=120,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows == [{"done": True}, {"error": "the agent failed (KeyError)"}]
    assert "chatter" in done.stderr
