"""The exact solution of any game, against theory, other solvers and slow searches."""

from __future__ import annotations

import io
import itertools
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery
from rookery.exact import solve as exact
from rookery.exact.solve import solve_game
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.games.endgames.tables import tables
from rookery.registry import agent, solve, strongest
from tests.commands import answer, check_refusal

ROOT = Path(__file__).parent.parent.parent
TIC_TAC_TOE = str(ROOT / "examples" / "tic_tac_toe.py")
NIM = str(ROOT / "examples" / "nim.py")
LIGHTS_OUT = str(ROOT / "examples" / "lights_out.py")
CONNECT_FOUR = str(ROOT / "examples" / "connect_four.py")


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(exact, "_KEPT", {})


def walk(start: State) -> dict[bytes, State]:
    """Every position that can be reached, in plain Python."""
    found, todo = {start.key(): start}, [start]
    while todo:
        state = todo.pop()
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            if after.key() not in found:
                found[after.key()] = after
                todo.append(after)
    return found


def slow_values(start: State) -> dict[bytes, tuple[float, int]]:
    """Value for the first player and steps to the end, by plain recursion: the winner hurries, the loser delays."""
    found: dict[bytes, tuple[float, int]] = {}

    def look(state: State) -> tuple[float, int]:
        if state.key() not in found:
            if state.player() == TERMINAL:
                found[state.key()] = state.returns()[0], 0
            else:
                options = []
                for action in state.legal_actions():
                    after = state.clone()
                    after.apply(action)
                    value, steps = look(after)
                    options.append((value, steps + 1))
                sign = 1 if state.player() == 0 else -1
                best = max(sign * value for value, _ in options)
                equal = [steps for value, steps in options if sign * value == best]
                found[state.key()] = sign * best, max(equal) if best < 0 else min(equal)
        return found[state.key()]

    look(start)
    return found


@pytest.mark.parametrize(("name", "options", "positions"), [
    (TIC_TAC_TOE, {}, 5478),
    (CONNECT_FOUR, {"rows": 3, "columns": 4}, None),
    (NIM, {"heaps": (2, 3, 4)}, None),
])  # fmt: skip
def test_games_without_return_agree_with_a_slow_search(
    name: str, options: dict[str, Any], positions: int | None
) -> None:
    start = rookery.load(name, **options).initial_state()
    solved, slow, states = solve_game(start), slow_values(start), walk(start)
    assert len(solved) == len(slow) == len(states) == (positions or len(slow))
    for key, state in states.items():
        value, steps = slow[key]
        if state.player() == TERMINAL:
            continue
        assert solved.value(state) == (value if state.player() == 0 else -value)
        if value:
            assert solved.distance(state) == steps


def test_tic_tac_toe_has_765_positions_up_to_symmetry() -> None:
    game = rookery.load(TIC_TAC_TOE)
    turns = [
        np.rot90(board, k).ravel()
        for board in (np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3).T)
        for k in range(4)
    ]
    solved = solve_game(game.initial_state())
    classes = set()
    for state in walk(game.initial_state()).values():
        assert state in solved
        text = str(state).replace("/", "")
        classes.add(min("".join(text[i] for i in turn) for turn in turns))
    assert len(solved) == 5478
    assert len(classes) == 765


def test_tic_tac_toe_is_never_lost_by_the_oracle() -> None:
    """Against every line of play, from both sides."""
    game = rookery.load(TIC_TAC_TOE)
    player = agent("oracle", game)

    @cache
    def worst(state: State, own: int) -> float:
        if state.player() == TERMINAL:
            return state.returns()[own]
        actions = [player.choose(state)] if state.player() == own else state.legal_actions()
        results = []
        for action in actions:
            after = state.clone()
            after.apply(action)
            results.append(worst(after, own))
        return min(results)

    assert worst(game.initial_state(), 0) == worst(game.initial_state(), 1) == 0


def test_nim_is_won_unless_the_nim_sum_is_0() -> None:
    game = rookery.load(NIM, "1-3-5-7")
    solved = solve_game(game.initial_state())
    states = walk(game.initial_state()).values()
    assert len(solved) == len(states)
    for state in states:
        if state.player() == TERMINAL:
            continue
        nim_sum = 0
        for stones in state.heaps:  # type: ignore[attr-defined]
            nim_sum ^= stones
        assert solved.value(state) == (1 if nim_sum else -1), state


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (4, 4), (2, 5), (3, 4)])
def test_lights_out_agrees_with_linear_algebra(rows: int, columns: int) -> None:
    """Presses commute and undo themselves, so a position is the sum over GF(2) of the presses that solve it, and there
    are 2 to the rank of them."""
    game = rookery.load(LIGHTS_OUT, rows=rows, columns=columns)
    basis: list[int] = []
    for switched in game.switches:  # type: ignore[attr-defined]
        for vector in basis:
            switched = min(switched, switched ^ vector)
        if switched:
            basis.append(switched)
    fewest: dict[int, int] = {0: 0}
    for count in range(1, rows * columns + 1):
        for presses in itertools.combinations(game.switches, count):  # type: ignore[attr-defined]
            lamps = 0
            for switched in presses:
                lamps ^= switched
            fewest.setdefault(lamps, count)
        if len(fewest) == 2 ** len(basis):
            break
    solved = solve_game(game.initial_state())
    assert len(solved) == len(fewest) == 2 ** len(basis)
    for state in walk(game.initial_state()).values():
        if state.player() != TERMINAL:
            lamps = state.lamps  # type: ignore[attr-defined]
            assert solved.value(state) == -fewest[lamps]
            assert solved.distance(state) == fewest[lamps]


def test_king_and_queen_agree_with_the_tables() -> None:
    game = rookery.load("endgames", None, material="KQK")
    solved = solve_game(game.initial_state())
    table = tables("KQK")
    rng = random.Random(4)
    for _ in range(500):
        state = game.random_start(rng)
        dtm = table.dtm(state)
        if state not in solved:
            continue
        assert solved.value(state) == (0 if dtm is None else 1 if dtm > 0 else -1), state
        assert solved.distance(state) == (None if dtm is None else abs(dtm)), state
        if dtm is not None:
            assert sorted(solved.best_moves(state)) == sorted(table.best_moves(state))
    statistics = solved.statistics()
    assert statistics.longest == 19, "mate in ten at most"


def test_statistics_of_a_game_that_nobody_wins() -> None:
    """Two cells are empty, and whoever takes which of them, no line is made."""
    game = rookery.load(str(Path(__file__).parents[2] / "examples" / "tic_tac_toe.py"))
    statistics = solve_game(game.parse_state("xxo/oox/x..")).statistics()
    assert (statistics.positions, statistics.ends, statistics.moves) == (5, 2, 4)
    assert (statistics.won, statistics.drawn, statistics.lost, statistics.longest) == (0, 3, 0, None)


class Machine(Game):
    """A slot machine that breaks with probability 1/10 at each pull, and pays a point each time it does not."""

    name = "machine"
    players = 1
    num_actions = 2
    observation_shape = (1, 1, 1)

    def __init__(self, pays: float = 1.0, breaks: float = 0.1, players: int = 1) -> None:
        self.pays, self.breaks, self.players = pays, breaks, players

    def initial_state(self) -> MachineState:
        return MachineState(self, "ready", 0)


class MachineState(State):
    """With two players these pull in turn, and who breaks the machine has won."""

    def __init__(self, game: Machine, at: str, side: int, gained: float = 0.0) -> None:
        self._game, self.at, self.side, self.gained = game, at, side, gained

    @property
    def game(self) -> Machine:
        return self._game

    def player(self) -> int:
        return {"ready": self.side, "pulled": CHANCE, "broken": TERMINAL}[self.at]

    def legal_actions(self) -> list[int]:
        return [0] if self.at == "ready" else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, self._game.breaks), (1, 1 - self._game.breaks)] if self.at == "pulled" else []

    def apply(self, action: int) -> None:
        self.gained = 0.0
        if self.at == "ready":
            self.at = "pulled"
        elif action == 0:
            self.at = "broken"
        else:
            self.at, self.gained = "ready", self._game.pays
            self.side = (self.side + 1) % self._game.players

    def clone(self) -> MachineState:
        return MachineState(self._game, self.at, self.side, self.gained)

    def rewards(self) -> list[float]:
        if self._game.players == 1:
            return [self.gained]
        won = [1.0, -1.0] if self.side == 0 else [-1.0, 1.0]
        return won if self.at == "broken" else [0.0, 0.0]

    def returns(self) -> list[float]:
        return self.rewards()

    def key(self) -> bytes:
        return f"{self.at}{self.side}".encode()


def test_chance_with_return_is_bounded_from_both_sides() -> None:
    start = Machine().initial_state()
    solved = solve_game(start, precision=1e-8)
    assert solved.table.low[0] <= 9 <= solved.table.high[0]  # 0.9 / 0.1
    assert 0 < solved.error < 1e-6
    # The first to break it wins: p / (1 - (1 - p)^2) of the games.
    start = Machine(players=2, breaks=0.25).initial_state()
    wins = 0.25 / (1 - 0.75**2)
    solved = solve_game(start, precision=1e-9)
    assert solved.table.low[0] <= 2 * wins - 1 <= solved.table.high[0]
    assert solved.error < 1e-8


def test_a_discount_counts_the_moves_of_players() -> None:
    # Every pull is worth 0.9, the next one 0.9 times the discount of that, and so on.
    solved = solve_game(Machine().initial_state(), discount=0.5, precision=1e-10)
    # V = d * W, W = 0.9 * (1 + V), as the discount applies to what comes after a move.
    expected = 0.5 * 0.9 / (1 - 0.5 * 0.9)
    assert solved.table.low[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("game", "sentence"), [
    (Machine(breaks=1e-12), "no bound"),
    (Machine(pays=-1.0), "give a discount"),
])  # fmt: skip
def test_what_cannot_be_solved_is_refused(game: Game, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        solve_game(game.initial_state())


def test_limits_are_kept_and_bad_settings_refused() -> None:
    start = rookery.load("checkers").initial_state()
    with pytest.raises(ValueError, match="more than 1000 positions can be reached"):
        solve_game(start, positions=1000)
    with pytest.raises(ValueError, match="more than 2 MB of memory"):
        solve_game(start, most_bytes=2_000_000)
    for settings in ({"precision": 0.0}, {"discount": 1.5}, {"positions": 0}):
        with pytest.raises(ValueError, match="must be"):
            solve_game(start, **settings)  # type: ignore[arg-type]


def test_late_positions_of_a_large_game() -> None:
    """A position is solved from where it is, whatever the size of the whole game."""
    state = rookery.load("morpion", "5D", board=12).initial_state()
    rng = random.Random(1)
    while len(state.legal_actions()) > 4:
        state.apply(rng.choice(state.legal_actions()))
    found = solve(state)
    assert found.value == max(found.values.values())
    best = 0

    def longest(position: State, length: int) -> None:
        nonlocal best
        best = max(best, length)
        for action in position.legal_actions():
            after = position.clone()
            after.apply(action)
            longest(after, length + 1)

    longest(state, 0)
    assert found.value == best


def test_solutions_are_kept_until_the_game_changes(tmp_path: Path) -> None:
    file = tmp_path / "game.py"
    file.write_text(Path(NIM).read_text())
    game = rookery.load(str(file))
    assert exact.kept(game) is None
    assert strongest(game) == "mcts"
    exact.keep(game, solve_game(game.initial_state()))
    exact._KEPT.clear()
    found = exact.kept(game)
    assert found is not None
    assert found.statistics().won == solve_game(game.initial_state()).statistics().won
    assert strongest(game) == "oracle"
    exact._KEPT.clear()
    file.write_text(file.read_text() + "\n# changed\n")
    assert exact.kept(game) is None
    with pytest.raises(ValueError, match="no solved game"):
        exact.read(io.BytesIO(b"nonsense"))
    whole = io.BytesIO()
    found.save(whole)
    with pytest.raises(ValueError, match="no solved game"):
        exact.read(io.BytesIO(whole.getvalue()[: len(whole.getvalue()) // 2]))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "solve", NIM, "--variant", "1-3-5-7")
    assert data["value"] == -1, "the nim-sum of 1, 3, 5 and 7 is 0"
    assert data["positions"] == data["won"] + data["drawn"] + data["lost"] + data["ends"]
    assert answer(capsys, "solve", TIC_TAC_TOE, "xx./oo./...")["best"] == ["2"]
    check_refusal(capsys, ["solve", CONNECT_FOUR, "--positions", "1000"], "more than 1000 positions")


def test_quick_wins_and_slow_losses_are_preferred() -> None:
    wins = [exact.preference(1.0, steps) for steps in (1, 2, 7)]
    losses = [exact.preference(-1.0, steps) for steps in (1, 2, 7)]
    draws = [exact.preference(0.0, None), exact.preference(0.0, 0)]
    assert sorted([*wins, *losses, *draws]) == [*losses, *draws, *reversed(wins)]
    assert draws[0] == draws[1], "a draw takes no number of moves"
