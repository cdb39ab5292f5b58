from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rookery
from rookery.exact import solve as exact
from rookery.exact.solve import SolvedGame, solve_game
from rookery.game import TERMINAL, State, choices, play_chance
from rookery.games._2048.exact import SolvedBoard
from rookery.games._2048.rules import TwentyFortyEight, TwentyFortyEightState
from tests.commands import answer, check_refusal
from tests.games._2048 import oracle
from tests.games._2048.test_rules import board_of


def reachable(start: State) -> Iterator[State]:
    """Every position that can be reached."""
    seen, open_ = {start}, [start]
    while open_:
        state = open_.pop()
        yield state
        for action in choices(state):
            after = state.clone()
            after.apply(action)
            if after not in seen:
                seen.add(after)
                open_.append(after)


def test_every_position_of_2x2_is_worth_what_a_plain_search_says() -> None:
    game = TwentyFortyEight(2, 2)
    solved, greatest = solve_game(game.initial_state(), form=SolvedBoard), 0
    for state in reachable(game.initial_state()):
        assert isinstance(state, TwentyFortyEightState)
        board = board_of(state)
        if state.due == 2:
            tiles = oracle.new_tiles(board).items()
            expected = sum(chance * oracle.worth_of_chance(oracle.with_tile(board, *new)) for new, chance in tiles)
        else:
            expected = oracle.worth_of_chance(board) if state.due else oracle.worth(tuple(map(tuple, board)))
        assert solved.value(state) == pytest.approx(expected, rel=1e-12)
        greatest = max(greatest, *map(max, board))
    assert greatest == game.tiles[-1]


def test_layers_agree_with_the_solver_for_any_game() -> None:
    game, rng = TwentyFortyEight(2, 3), random.Random(1)
    start = game.initial_state()
    layers, any_game = solve_game(start, form=SolvedBoard), solve_game(start)
    assert layers.value(start) == pytest.approx(any_game.value(start), rel=1e-12)
    assert layers.statistics().positions == len(layers) == 21_752
    for _ in range(200):
        state = game.initial_state()
        while state.player() != TERMINAL:
            assert layers.value(state) == pytest.approx(any_game.value(state), rel=1e-12)
            state.apply(rng.choice(choices(state)))
        assert layers.value(state) == any_game.value(state) == 0


@pytest.mark.parametrize(
    "text",
    ["2,4,8/16,32,64/128,2,2", "256,4,8/16,32,64/128,2,. +1", "1024,256,512/16,64,32/8,2,2", "2,4,2/8,16,8/32,64,32"],
)
def test_late_positions_of_3x3_agree_with_the_solver_for_any_game(text: str) -> None:
    start = TwentyFortyEight(3, 3).parse_state(text)
    layers, any_game = solve_game(start, form=SolvedBoard, positions=10**6), solve_game(start, positions=10**6)
    for number, state in enumerate(reachable(start)):
        assert layers.value(state) == pytest.approx(any_game.value(state), rel=1e-12)
        if number == 2000:
            break
    with pytest.raises(ValueError, match="cannot be reached from the start that was solved"):
        layers.value(start.game.initial_state())


def test_perfect_play_earns_what_is_promised() -> None:
    """The mean over games, within four standard errors; and the value of a position is that of its best move."""
    game, rng = TwentyFortyEight(2, 2), random.Random(3)
    agent, scores = rookery.agent("oracle", game), []
    for _ in range(600):
        state = game.initial_state()
        while state.player() != TERMINAL:
            play_chance(state, rng)
            if state.player() != TERMINAL:
                state.apply(agent.choose(state, rng))
        scores.append(state.score)
    promised = rookery.solve(game.initial_state()).value
    assert np.mean(scores) == pytest.approx(promised, abs=4 * np.std(scores) / len(scores) ** 0.5)


def test_the_oracle_values_every_move() -> None:
    game = TwentyFortyEight(2, 3)
    state = game.parse_state("2,4,8/2,4,8")
    values = rookery.agent("oracle", game).values(state)
    assert sorted(values) == state.legal_actions() == [0, 2]
    solution = rookery.solve(state)
    assert solution.value == pytest.approx(max(values.values()))
    assert "still to earn" in solution.text


def test_a_solution_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    game = TwentyFortyEight(2, 4)
    monkeypatch.setattr(exact, "_KEPT", {})
    assert rookery.agent_names(game, ready=True) == [name for name in rookery.agent_names(game) if name in READY]
    start = game.parse_state("16,256,32,128/64,8,2,2")
    solved = solve_game(start, form=SolvedBoard)
    exact.keep(game, solved)
    exact._KEPT.clear()
    found = exact.kept(game, SolvedBoard)
    assert found is not None
    assert found.statistics() == solved.statistics()
    assert found.moves(start) == solved.moves(start)
    file = io.BytesIO()
    solved.save(file)
    for damaged in (b"", file.getvalue()[:-1000], _changed(solved, "keys"), _changed(solved, "first")):
        with pytest.raises(ValueError, match="no solved game"):
            exact.read(io.BytesIO(damaged), SolvedBoard)


READY = {"random", "mcts", "nrpa", "nmcs"}


def _changed(solved: SolvedGame, name: str) -> bytes:
    """The file of a solution with one array turned round."""
    file, changed = io.BytesIO(), io.BytesIO()
    solved.save(file)
    file.seek(0)
    arrays = dict(np.load(file))
    np.savez(changed, **arrays | {name: arrays[name][::-1]})
    return changed.getvalue()


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", "2048", "--variant", "2x2")
    assert data["value"] == pytest.approx(66.96414945710056, rel=1e-12)
    assert (data["positions"], data["ends"]) == (110, 36)
    assert answer(capsys, "solve", "2048", "2,./2,4", "--variant", "2x2")["best"] == ["up", "down"]
    check_refusal(capsys, ["solve", "2048"], "a 4x4 board has too many positions; boards of up to 9 cells")
    check_refusal(capsys, ["solve", "2048", "--variant", "3x3", "--positions", "1000"], "more than 1000 positions")
    check_refusal(capsys, ["solve", "2048", "--variant", "3x3", "--memory", "0.001"], "need more than 1 MB of memory")


def test_a_discount_is_for_the_solver_for_any_game() -> None:
    start = TwentyFortyEight(2, 2).initial_state()
    own, any_game = (solve_game(start, discount=0.5, form=form) for form in (SolvedBoard, SolvedGame))
    assert own.value(start) == any_game.value(start) < 40


def test_a_late_position_of_a_large_board_is_solved() -> None:
    start = rookery.load("2048").parse_state("2,4,8,16/32,64,128,256/512,1024,2048,4096/8192,16384,2,4")
    assert start.player() == TERMINAL
    assert rookery.solve(start).value == 0
    start = rookery.load("2048").parse_state("2,4,8,16/32,64,128,256/512,1024,2048,4096/8192,16384,2,2")
    assert rookery.solve(start).value > 4


@pytest.mark.slow
def test_3x3() -> None:
    """Yamashita, Kaneko and Nakayashiki counted the same positions, and earned about 5,470."""
    game = TwentyFortyEight(3, 3)
    start = game.initial_state()
    solved = solve_game(start, form=SolvedBoard)
    assert (len(solved), solved.statistics().ends) == (48_713_519, 7_388_502)
    assert solved.value(start) == pytest.approx(5468.486797410303, rel=1e-10)
    rng, scores = random.Random(1), []
    for _ in range(500):
        state = game.random_start(rng)
        while state.player() != TERMINAL:
            moves = solved.moves(state)
            state.apply(max(moves, key=lambda action: moves[action][0]))
            play_chance(state, rng)
        scores.append(state.score)
    assert np.mean(scores) == pytest.approx(solved.value(start), abs=4 * np.std(scores) / len(scores) ** 0.5)
