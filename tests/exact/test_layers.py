"""Rules on arrays and rules on states say the same, and so do their solutions."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest
from examples.connect_four import ConnectFour, ConnectFourState

from rookery._native import Control
from rookery.exact import layers, solve
from rookery.game import TERMINAL, native


def states(game: ConnectFour, count: int) -> list[ConnectFourState]:
    """Positions of random games, ends too."""
    rng, found = random.Random(3), []
    while len(found) < count:
        state = game.initial_state()
        found.append(state.clone())
        while state.player() != TERMINAL:
            state.apply(rng.choice(state.legal_actions()))
            found.append(state.clone())
    return found


@pytest.mark.parametrize("size", [(4, 4), (6, 7), (7, 7), (3, 8)])
def test_rules_on_arrays_are_the_rules(size: tuple[int, int]) -> None:
    game = ConnectFour(*size)
    rules = game.array_rules()
    assert rules is not None
    found = states(game, 500)
    numbers = np.array([rules.number(state) for state in found], np.uint64)
    assert len(set(numbers.tolist())) == len({state.key() for state in found})
    after, legal = rules.moves(numbers)
    for i, state in enumerate(found):
        assert np.flatnonzero(legal[i]).tolist() == state.legal_actions()
        for action in state.legal_actions():
            child = state.clone()
            child.apply(action)
            assert int(after[i, action]) == rules.number(child)
    over = np.array([state.player() == TERMINAL for state in found])
    assert rules.returns(numbers[over]).tolist() == [s.returns()[0] for s in found if s.player() == TERMINAL]


def test_a_board_that_does_not_fit_has_none() -> None:
    assert ConnectFour(8, 8).array_rules() is None


@pytest.mark.parametrize("size", [(4, 3), (3, 4)])
def test_layers_agree_with_the_solver_of_any_game(size: tuple[int, int], tmp_path: Path) -> None:
    game = ConnectFour(*size)
    start = game.initial_state()
    solved = solve.solve_game(start)
    assert isinstance(solved.table, layers.Layers)
    other = solve.SolvedGame(native(start).solve_reachable(10**6, 1 << 30, 1e-6, 1.0, None))
    mine, his = solved.statistics(), other.statistics()
    assert (mine.positions, mine.ends, mine.moves) == (his.positions, his.ends, his.moves)
    assert (mine.won, mine.drawn, mine.lost, mine.longest) == (his.won, his.drawn, his.lost, his.longest)
    with (tmp_path / "solved.npz").open("wb") as file:
        solved.save(file)
    again = solve.read(tmp_path / "solved.npz")
    for state in states(game, 1000):
        for table in (solved, again):
            assert state in table
            assert table.value(state) == other.value(state)
            assert table.distance(state) == other.distance(state)
            assert table.best_moves(state) == other.best_moves(state)


def test_what_is_too_large_or_stopped_is_refused() -> None:
    start = ConnectFour(4, 4).initial_state()
    with pytest.raises(ValueError, match="more than 1000 positions"):
        solve.solve_game(start, positions=1000)
    with pytest.raises(ValueError, match="bytes, and 100,000 are allowed"):
        solve.solve_game(start, most_bytes=100_000)
    control = Control()
    assert solve.solve_game(start, control=control)
    assert control.done == 161_029  # positions of the board of 4 by 4, found by others too
    control.stop()
    with pytest.raises(KeyboardInterrupt):
        solve.solve_game(start, control=control)


def test_as_many_bytes_as_are_needed_are_enough() -> None:
    """Whoever allows what a refusal asks for comes farther, and in the end to the solution."""
    start = ConnectFour(3, 3).initial_state()
    allowed, asked = 0, [0]
    while True:
        try:
            solved = solve.solve_game(start, most_bytes=allowed)
        except ValueError as error:
            (said,) = re.findall(r"need ([\d,]+) bytes, and", str(error))
            allowed = int(said.replace(",", ""))
            assert allowed > asked[-1]
            asked.append(allowed)
        else:
            break
    assert len(asked) > 2
    # The positions so far, and 8 bytes four times for those of the next ply.
    assert isinstance(solved.table, layers.Layers)
    plies = np.diff(solved.table.starts)
    assert allowed == max(layers.BYTES * plies.cumsum() + 4 * 8 * np.append(plies[1:], 0))
    with pytest.raises(ValueError, match=f"and {allowed - 1:,} are allowed"):
        solve.solve_game(start, most_bytes=allowed - 1)


def test_positions_from_elsewhere_are_not_in_it() -> None:
    game = ConnectFour(4, 4)
    solved = solve.solve_game(game.parse_state("..../..../..../x..."))
    assert game.initial_state() not in solved
    with pytest.raises(ValueError, match="cannot be reached"):
        solved.value(game.initial_state())


def test_positions_take_as_many_bytes_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    start = ConnectFour(3, 4).initial_state()
    whole = solve.solve_game(start).table
    assert isinstance(whole, layers.Layers)
    arrays = (whole.numbers, whole.low, whole.distance)
    assert sum(array.itemsize for array in arrays) == layers.BYTES
    widest = int(np.diff(whole.starts).max())
    assert whole.memory == sum(array.nbytes for array in arrays) + 4 * 8 * widest
    monkeypatch.setattr(layers, "CHUNK", 7)
    parts = solve.solve_game(start).table
    assert isinstance(parts, layers.Layers)
    for name, array in whole.arrays().items():
        assert np.array_equal(array, parts.arrays()[name]), name
    assert np.array_equal(whole.player, parts.player)
    ended = next(state for state in states(ConnectFour(3, 4), 30) if state.player() == TERMINAL)
    with pytest.raises(ValueError, match="rules on arrays are for two players"):
        layers.solve_layers(ended, ended.game.array_rules(), 10, 10**6)


def test_movers_take_turns_and_ends_have_none() -> None:
    game = ConnectFour(3, 4)
    table = solve.solve_game(game.initial_state()).table
    assert isinstance(table, layers.Layers)
    mover = table.player
    for state in states(game, 300):
        assert mover[table.find(state)] == state.player()


def test_as_many_positions_as_are_allowed() -> None:
    start = ConnectFour(3, 4).initial_state()
    count = len(solve.solve_game(start).table)
    assert len(solve.solve_game(start, positions=count).table) == count
    with pytest.raises(ValueError, match=f"more than {count - 1} positions"):
        solve.solve_game(start, positions=count - 1)
