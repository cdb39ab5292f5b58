"""Clocks: their text, what a move costs, and games that are played with one."""

from __future__ import annotations

import json
import random
import time

import pytest

from rookery.agents import Agent
from rookery.cli import main
from rookery.clock import Clock
from rookery.game import State
from rookery.registry import agent, load


def test_time_and_increment() -> None:
    clock = Clock.parse("1.5+2")
    assert clock.left == [90, 90]
    assert clock.spend(0, 89)
    assert clock.left == [3, 90]
    assert clock.spend(1, 0.5)
    assert clock.left == [3, 91.5]
    assert not clock.spend(0, 3), "the increment comes too late"
    assert str(clock) == "0:00 and 1:31"
    assert Clock.parse("10").increment == 0


@pytest.mark.parametrize("text", ["", "0", "0+5", "-1", "5+", "+3", "5+3+1", "five", "1e3", "nan", "٣+1x"])
def test_bad_clocks_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a clock is minutes per side"):
        Clock.parse(text)


def played(capsys: pytest.CaptureFixture[str], words: list[str], *options: str, code: int = 0) -> tuple[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        entered = iter(words)

        def slow(*_: object) -> str:
            word = next(entered)
            time.sleep(0.2 if word.startswith("slow ") else 0)
            return word.removeprefix("slow ")

        patch.setattr("builtins.input", slow)
        with pytest.raises(SystemExit) as stop:
            main(["play", *options, "--json"])
    assert stop.value.code == code
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_a_game_with_a_clock(capsys: pytest.CaptureFixture[str]) -> None:
    out, said = played(capsys, ["9-13", "undo", "quit"], "checkers", "--agent", "best", "--clock", "0.1+0")
    data = json.loads(out)
    assert len(data["moves"]) == 2
    assert 5 < data["seconds_left"][0] < 6
    assert 5 < data["seconds_left"][1] < 6
    assert "time left: Black and White 0:06 and 0:06" in said
    assert "no move is taken back" in said


def test_who_is_out_of_time_loses(capsys: pytest.CaptureFixture[str]) -> None:
    out, said = played(capsys, ["slow 9-13"], "checkers", "--agent", "random", "--clock", "0.001")
    data = json.loads(out)
    assert data["returns"] == [-1.0, 1.0]
    assert data["moves"] == []
    assert "Black is out of time: White wins" in said


def test_a_clock_needs_two_players(capsys: pytest.CaptureFixture[str]) -> None:
    _, said = played(capsys, [], "tenten", "--clock", "5+3", code=2)
    assert "a clock is for games of two players" in said
    _, said = played(capsys, [], "checkers", "--clock", "soon", code=2)
    assert "a clock is minutes per side" in said


def test_an_agent_uses_the_time_it_has() -> None:
    game = load("checkers")
    state, best = game.initial_state(), agent("best:book=no", game)
    for seconds in (0.02, 0.2):
        begin = time.monotonic()
        assert best.choose_within(state, random.Random(1), seconds) in state.legal_actions()
        assert seconds / 2 < time.monotonic() - begin < seconds + 2


def test_stages_end_with_the_time() -> None:
    class Staged(Agent):
        def __init__(self, number: int) -> None:
            self.number = number

        def choose(self, state: State, rng: random.Random | None = None) -> int:
            time.sleep(0.02)
            return self.number

        def stages(self) -> list[Agent]:
            return [Staged(number) for number in range(10)]

    state = load("checkers").initial_state()
    assert Staged(9).choose_within(state, random.Random(1), 0.04) == 0
    assert Staged(9).choose_within(state, random.Random(1), 60) == 9
