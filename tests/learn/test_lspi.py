from __future__ import annotations

import random
from functools import cache
from itertools import combinations, pairwise, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rookery
from rookery.game import TERMINAL, Game, State, play_chance
from rookery.games.tenten import lspi as special
from rookery.learn import lspi
from rookery.learn.lspi import Features, LspiAgent, Settings, Trainer
from rookery.learn.methods import Lspi
from rookery.training import train
from tests.search.test_python_games import Coins
from tests.tic_tac_toe import TicTacToe, TicTacToeState
from tests.training import trained as trained_in

GAME = TicTacToe()
NIM = rookery.load("examples/nim.py", heaps=(1, 2, 3))


def test_a_feature_per_position_gives_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is approximated: every move of Nim has the value that plain recursion finds."""
    numbers: dict[bytes, int] = {}

    def one_per_position(self: Game, state: State) -> list[float]:
        number = numbers.setdefault(state.key(), len(numbers))
        return [float(i == number) for i in range(60)]

    monkeypatch.setattr(type(NIM), "features", one_per_position, raising=False)
    trainer = Trainer(NIM, Settings(epsilon=1.0, discount=0.9, keep=0.0, ridge=1e-9, games=32, steps=40), seed=1)
    for _ in range(6):
        trainer.iterate()
    agent = LspiAgent(trainer.features, trainer.weights)

    @cache
    def worth(text: str) -> dict[int, float]:
        state, values = NIM.parse_state(text), {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            over = after.player() == TERMINAL
            values[action] = after.returns()[state.player()] if over else -0.9 * max(worth(str(after)).values())
        for value, action in ((values[a], a) for a in values):
            assert agent.values(state)[action] == pytest.approx(value, abs=1e-4), (text, action)
        return values

    worth(str(NIM.initial_state()))
    assert worth.cache_info().currsize > 30


def test_patterns_are_counted() -> None:
    game = rookery.load("examples/connect_four.py", rows=4, columns=5)
    state, rng = game.initial_state(), random.Random(1)
    for _ in range(8):
        state.apply(rng.choice(state.legal_actions()))
    features = Features(game)
    [found] = features.of([state])
    planes = state.observation()
    contents = np.concatenate([planes, 1 - planes.max(axis=0, keepdims=True)])
    counts = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for a, b, c in np.ndindex(*[len(contents)] * 3):
            places = [
                [(row + i * down, column + i * right) for i in range(3)]
                for row, column in np.ndindex(*planes.shape[1:])
                if 0 <= row + 2 * down < planes.shape[1] and 0 <= column + 2 * right < planes.shape[2]
            ]
            counts.append(sum(contents[a][x] * contents[b][y] * contents[c][z] for x, y, z in places))
    cells = planes.size
    pairs = cells * (cells - 1) // 2 if features.pairs is not None else 0
    assert found[0] == 1
    assert np.array_equal(found[1 : 1 + cells], planes.ravel())
    assert np.array_equal(found[1 + cells + pairs :], counts)
    assert sum(counts) == 4 * 3 + 2 * 5 + 2 * 3 + 2 * 3  # places of three cells on 4x5


@pytest.mark.parametrize("name", ["checkers", "endgames", "morpion", "solitaire-chess", "tenten"])
def test_every_game_has_features(name: str) -> None:
    game = rookery.load(name)
    features = Features(game)
    assert 1 < features.size < 6000
    assert features.of([game.initial_state(), game.random_start(random.Random(1))]).shape == (2, features.size)


def test_tic_tac_toe_in_self_play(tmp_path: Path) -> None:
    run = train(GAME, "lspi", out=tmp_path / "run", iterations=4, steps=30, seed=1)
    played = rookery.match(GAME, run.agent(), "random", games=100, seed=1)
    assert played.wins > 80
    assert played.losses < 8  # random play loses 43 and wins as many
    assert [row["iteration"] for row in run.metrics] == [1, 2, 3, 4]


def play(agent: rookery.Agent, game: Game, games: int, most: int = 3000) -> list[int]:
    """Rounds of games of 1010!."""
    rng, rounds = random.Random(0), []
    for _ in range(games):
        state: Any = game.initial_state()
        while state.player() != TERMINAL and state.rounds < most:
            play_chance(state, rng)
            if state.player() != TERMINAL:
                state.apply(agent.choose(state, rng))
        rounds.append(state.rounds)
    return rounds


def trained(game: Game, seed: int, **settings: Any) -> LspiAgent:
    trainer = Trainer(game, Settings(**settings), seed)
    for _ in range(trainer.settings.iterations):
        trainer.iterate()
    return LspiAgent(trainer.features, trainer.weights)


def test_a_player_alone_with_chance() -> None:
    """1010! on 3x3: random play lasts 11 rounds, the special form 61, the best play 67."""
    game = rookery.load("tenten", "3x3-seven")
    agent = trained(game, 1, iterations=4)
    assert np.mean(play(agent, game, 40)) > 25


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["3x3-seven", "4x4-seven"])
def test_as_strong_as_the_special_form(variant: str, tmp_path: Path) -> None:
    game = rookery.load("tenten", variant)
    run = train(game, "lspi", out=tmp_path / "run", seed=1, updates=60)
    own = special.load(run.folder / "model.npz", game).play(400, seed=2026, max_rounds=3000).data()  # type: ignore[arg-type]
    rounds = play(trained(game, 1), game, 200)
    assert np.mean(rounds) + 1.96 * np.std(rounds) / np.sqrt(len(rounds)) > own["interval"][0]


def test_training_in_parts_is_training_at_once(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": 8, "steps": 10, "seed": 4}
    whole = train(NIM, "lspi", out=tmp_path / "whole", iterations=4, **settings)
    train(NIM, "lspi", out=tmp_path / "parts", iterations=2, **settings)
    resumed = train(NIM, "lspi", out=tmp_path / "parts", iterations=4, resume=True, **settings)
    one, other = (lspi.load(NIM, run.folder / "model.npz").weights for run in (whole, resumed))
    assert np.array_equal(one, other)


def test_it_stops_when_the_weights_settle(tmp_path: Path) -> None:
    run = train(NIM, "lspi", out=tmp_path / "run", games=16, steps=20, iterations=50, tolerance=0.2)
    assert len(run.metrics) < 50
    assert run.metrics[-1]["change"] < 0.2
    assert run.metrics[-1]["progress"] == 1


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ridge must be above 0"):
        Settings(ridge=0)
    run = train(NIM, "lspi", out=tmp_path / "run", games=2, steps=2, iterations=1)
    with pytest.raises(ValueError, match="weights for each player"):
        lspi.load(rookery.load("examples/nim.py", heaps=(1, 2)), run.folder / "model.npz")
    assert Lspi().misfit(GAME) is None


def test_patterns_are_counted_in_four_directions() -> None:
    """Beside loops over all cells: three contents (two planes, and nothing), so patterns have three cells."""
    features = lspi.Features(TicTacToe())
    assert features.length == 3
    rng = np.random.default_rng(3)
    states = []
    for _ in range(20):
        marks = rng.choice(list("xo."), 9)
        states.append(TicTacToeState(TicTacToe(), "".join(marks)))
    found = features.of(states)
    for state, row in zip(states, found, strict=True):
        board = np.array(["xo.".index(mark) for mark in state.cells]).reshape(3, 3)
        slow = [1.0, *(float(mark == "x") for mark in state.cells), *(float(mark == "o") for mark in state.cells)]
        slow += [a * b for a, b in combinations(slow[1:], 2)]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            counts = np.zeros((3, 3, 3))
            for r, c in product(range(3), repeat=2):
                places = [(r + i * down, c + i * right) for i in range(3)]
                if all(0 <= x < 3 and 0 <= y < 3 for x, y in places):
                    counts[tuple(board[place] for place in places)] += 1
            slow += counts.ravel().tolist()
        assert row.tolist() == slow
    assert features.size == len(slow)


def test_patterns_of_two_cells_and_boards_without_any() -> None:
    wide = lspi.Features(rookery.load("checkers"))
    planes = rookery.load("checkers").observation_shape[0]
    assert wide.length == (3 if 4 * (planes + 1) ** 3 <= lspi.MOST_PATTERNS else 2)
    coins = lspi.Features(Coins())
    assert coins.of([Coins().parse_state("5"), Coins().parse_state("2")]).tolist() == [[1, 5], [1, 2]]

    class Own(Coins):
        def features(self, state: Any) -> list[float]:
            return [state.left, state.left**2, 7.0]

    assert lspi.Features(Own()).of([Own().parse_state("3")]).tolist() == [[3, 9, 7]]


def test_the_equations_are_solved_and_features_never_met_weigh_nothing() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 4)) * [1, 100, 0.01, 3]
    truth = np.array([2.0, -0.5, 30.0, 1.0])
    a, b = x.T @ x, x.T @ (x @ truth)
    assert lspi.solve(a, b, 1e-12) == pytest.approx(truth, rel=1e-6)
    # With a ridge of 1 for features of size 1: every feature, scaled so, is drawn to 0.
    scale = np.sqrt(np.diag(a))
    scaled = np.linalg.solve(a / np.outer(scale, scale) + np.eye(4), b / scale)
    assert lspi.solve(a, b, 1.0) == pytest.approx(scaled / scale)
    wider = np.zeros((5, 5))
    wider[:4, :4] = a
    assert lspi.solve(wider, np.append(b, 0.0), 1e-12) == pytest.approx([*truth, 0.0], rel=1e-6)


def best_of_coins(left: int, weights: Any) -> int:
    """The move of greatest value by the weights of 1 and of the coins that are left."""
    worth = {action: (action + 1) ** 2 + weights @ [1, left - action - 1] * (left > action + 1) for action in (0, 1)}
    return max([0, 1][:left], key=worth.__getitem__)


@pytest.mark.parametrize("keep", [1.0, 0.5])
def test_the_equations_hold_every_step_with_the_best_move_after_it(keep: float) -> None:
    """Coins, worked out one by one: a move is worth its square, and the best move takes two coins if it can."""
    discount = 0.8
    settings = lspi.Settings(games=3, steps=7, discount=discount, keep=keep, epsilon=1.0)
    trainer = lspi.Trainer(Coins(), settings, 2)
    steps: list[tuple[list[int], list[int]]] = []
    step = trainer.envs.step

    def record(actions: Any) -> Any:
        steps.append(([trainer.envs.state(i).left for i in range(3)], list(actions)))
        return step(actions)

    trainer.envs.step = record  # type: ignore[method-assign]
    a, b = np.zeros((2, 2)), np.zeros(2)
    total = 0
    for part in range(2):
        steps.clear()
        weights = trainer.weights[0].copy()
        row = trainer.iterate()
        a, b, samples = a * keep, b * keep, 0

        for (before, actions), (after, _) in pairwise(steps):
            for left, action, next_left in zip(before, actions, after, strict=True):
                rest = left - action - 1
                if rest == 0:
                    continue
                assert next_left == rest
                then = best_of_coins(rest, weights)
                now = np.array([1.0, rest])
                reached = rest - then - 1
                follows = discount * np.array([1.0, reached]) if reached else np.zeros(2)
                a += np.outer(now, now - follows)
                b += now * discount * (then + 1) ** 2
                samples += 1
        assert trainer.a == pytest.approx(a)
        assert trainer.b == pytest.approx(b)
        assert trainer.weights[0] == pytest.approx(lspi.solve(a, b, settings.ridge))
        assert (row["iteration"], row["samples"]) == (part + 1, samples)
        change = np.linalg.norm(trainer.weights[0] - weights) / np.linalg.norm(trainer.weights[0])
        assert row["change"] == pytest.approx(change)
        assert row["progress"] == (1.0 if change < settings.tolerance else (part + 1) / settings.iterations)
        total += samples
    assert total > 15


def test_two_players_have_equations_of_their_own() -> None:
    game = TicTacToe()
    trainer = lspi.Trainer(game, lspi.Settings(games=2), 0)
    size = trainer.features.size
    rng = np.random.default_rng(5)
    rows = [(rng.normal(size=size), p, rng.normal(size=size), q, rng.normal()) for p, q in product((0, 1), (0, 1, 0))]
    a, b = np.zeros((2 * size, 2 * size)), np.zeros(2 * size)
    for now, p, follows, q, target in rows:
        wide, after = np.zeros(2 * size), np.zeros(2 * size)
        wide[p * size : (p + 1) * size], after[q * size : (q + 1) * size] = now, follows
        a += np.outer(wide, wide - after)
        b += wide * target
    batch = [tuple(np.array([value]) for value in row) for row in rows]
    assert trainer._add(batch) == len(rows)
    assert batch == []
    np.testing.assert_allclose(trainer.a, a, atol=1e-12)
    np.testing.assert_allclose(trainer.b, b, atol=1e-12)


def test_a_move_is_worth_what_it_earns_and_what_comes_after() -> None:
    """Position by position and move by move, for both players; nothing comes after an end."""
    rng = np.random.default_rng(3)
    for game, texts in (
        (TicTacToe(), ["xx./oo./...", "x../.../...", "xo./.x./o.."]),
        (rookery.load("solitaire-chess"), ["R..N/..../..../B...", "RN../..../..../...."]),
    ):
        features = lspi.Features(game)
        weights = rng.normal(size=(game.players, features.size))
        states = [game.parse_state(text) for text in texts]
        moves = lspi.Afterstates(features, states)
        expected = []
        for state in states:
            for action in state.legal_actions():
                after = state.clone()
                after.apply(action)
                over = after.player() == TERMINAL
                ahead = 0.0 if over else float(features.of([after])[0] @ weights[state.player()])
                expected.append(after.rewards()[state.player()] + ahead)
        assert moves.values(weights).tolist() == pytest.approx(expected)
        assert moves.first.tolist() == [sum(len(s.legal_actions()) for s in states[:i]) for i in range(len(states))]
        assert moves.over.any()
        assert not moves.over.all()


def test_a_row_tells_returns_samples_and_how_far_the_weights_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """All weights are new in the first row. Nim is over after at most six moves, won or lost by the first player: 24
    games of 30 moves are 120 games or more, of which as many returns are told."""
    solutions = iter([np.array([3.0, 4.0]), np.array([3.0, 4.5])] + 2 * [np.zeros(2)])

    def two(self: Game, state: State) -> list[float]:
        return [1.0]

    monkeypatch.setattr(type(NIM), "features", two, raising=False)
    monkeypatch.setattr(lspi, "solve", lambda a, b, ridge: next(solutions))
    trainer = Trainer(NIM, Settings(games=24, steps=30, iterations=8, tolerance=0.05), seed=1)
    rows = [trainer.iterate() for _ in range(3)]
    assert [row["change"] for row in rows] == pytest.approx([1, 0.5 / 29.25**0.5, 29.25**0.5 / 1e-12])
    assert [row["progress"] for row in rows] == [1 / 8, 2 / 8, 3 / 8]
    assert [row["iteration"] for row in rows] == [1, 2, 3]
    for row in rows:
        assert -1 < row["mean_return"] < 1
        # A sample is a move with the one after it: none for the last move of a game or of the part.
        assert 0.5 * 24 * 30 < row["samples"] < 24 * 29
    assert Trainer(NIM, Settings(games=1, steps=1), seed=1).iterate()["mean_return"] is None


def test_a_training_is_saved_now_and_then_and_at_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iteration takes 13 seconds, so that every third one is 30 seconds after the last checkpoint."""
    now, saved = [50.0], list[int]()
    changes = iter([1.0, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.004])

    def iterate(self: Trainer) -> dict[str, Any]:
        now[0] += 13
        self.iterations += 1
        change = next(changes)
        return {"iteration": self.iterations, "change": change, "progress": 1.0 if change < 0.01 else 0.5}

    monkeypatch.setattr(Trainer, "iterate", iterate)
    clock = SimpleNamespace(monotonic=lambda: now[0], process_time=lambda: now[0] / 10)
    monkeypatch.setattr(lspi, "time", clock)
    monkeypatch.setattr(lspi.runs, "save_model", lambda path, info, arrays: saved.append(info["iterations"]))
    rows = trained_in(NIM, "lspi", Settings(iterations=20, games=1, steps=1), tmp_path)
    assert saved == [3, 6, 8]
    assert len(rows) == 8, "the weights have settled"
    assert [row["seconds"] for row in rows[:3]] == [1.3, 2.6, 3.9]
