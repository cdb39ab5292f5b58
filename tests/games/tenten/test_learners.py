from __future__ import annotations

import dataclasses
import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rookery import _native
from rookery.games.tenten import linear, lspi, ntuple
from rookery.games.tenten.rules import TenTen
from rookery.registry import load
from tests.games.tenten import oracle
from tests.games.tenten import oracle_features as slow
from tests.training import trained, training

SIZES = [(10, 10), (4, 4), (5, 5), (3, 7), (6, 2)]


def drawn_board(rng: random.Random, rows: int, columns: int) -> set[oracle.Cell]:
    """A board without full lines, as full as it happens."""
    density = rng.random()
    board = {cell for cell in slow.rectangle(rows, columns) if rng.random() < density}
    return oracle.place(board, rows, columns, [], (0, 0))[0]


def halves(board: set[oracle.Cell], columns: int) -> tuple[int, int]:
    bits = sum(1 << (r * columns + c) for r, c in board)
    return bits & (1 << 64) - 1, bits >> 64


def boards_array(boards: list[set[oracle.Cell]], columns: int) -> npt.NDArray[np.uint64]:
    return np.array([halves(board, columns) for board in boards], dtype=np.uint64)


def death_chance(game: TenTen, board: set[oracle.Cell]) -> float:
    stuck = [not oracle.placements(board, game.rows, game.columns, list(shape)) for shape in game.shapes]
    return sum(w for w, s in zip(game.weights, stuck, strict=True) if s) / sum(game.weights)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("reward", [1, 2, 3])
def test_paper_features(size: tuple[int, int], reward: int) -> None:
    rows, columns = size
    game = TenTen(rows, columns)
    native = _native.tenten.PaperFeatures(game.rules, reward)
    rng = random.Random(reward)
    checked = 0
    for _ in range(60):
        board = drawn_board(rng, rows, columns)
        piece = rng.randrange(len(game.shapes))
        shape = list(game.shapes[piece])
        places = oracle.placements(board, rows, columns, shape)
        if not places:
            continue
        at = rng.choice(places)
        after, points = oracle.place(board, rows, columns, shape, at)
        lines = {0: 0, 10: 1, 30: 2, 60: 3, 100: 4, 150: 5, 210: 6}[points - len(shape)]
        moves = sum(
            w * len(oracle.placements(after, rows, columns, list(s))) / sum(game.weights)
            for w, s in zip(game.weights, game.shapes, strict=True)
        )
        value = {1: lines**2 + moves, 2: lines**2, 3: moves}[reward]
        expected = slow.paper_features(after, rows, columns, shape, at, value, 1 - death_chance(game, after))
        found = native.of_placement(halves(board, columns), piece, at[0] * columns + at[1])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        checked += 1
    assert checked > 10


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_hand_features(size: tuple[int, int]) -> None:
    rows, columns = size
    game = TenTen(rows, columns)
    rng = random.Random(5)
    boards = [drawn_board(rng, rows, columns) for _ in range(60)] + [set()]
    found = _native.tenten.HandFeatures(game.rules).of_boards(boards_array(boards, columns))
    expected = [slow.hand_features(board, rows, columns, death_chance(game, board)) for board in boards]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def random_network(game: TenTen, tuples: tuple[tuple[int, int], ...], seed: int = 0) -> ntuple.NTuple:
    network = ntuple.NTuple(game, ntuple.Settings(tuples=tuples))
    network.weights[:] = np.random.default_rng(seed).normal(size=network.weights.size)
    return network


@pytest.mark.parametrize("pieces", ["full", "no-3x3", "seven"])
def test_symmetric_boards_have_the_same_value(pieces: str) -> None:
    network = random_network(TenTen(10, 10, pieces), ((3, 3), (1, 10), (2, 4)))
    rng = random.Random(2)
    values = []
    for _ in range(20):
        board = drawn_board(rng, 10, 10)
        images = []
        for _ in range(4):
            board = {(c, 9 - r) for r, c in board}
            images += [board, {(c, r) for r, c in board}]
        found = network.values(boards_array(images, 10))
        np.testing.assert_allclose(found, found[0], rtol=1e-4, atol=1e-4)
        values.append(float(found[0]))
    assert len({round(value, 3) for value in values}) > 15, "different boards should differ"


def test_an_unsymmetric_piece_set_is_not_folded() -> None:
    one_way = TenTen(4, 4, {"1x3": 1, "1x1": 1})
    both_ways = TenTen(4, 4, {"1x3": 1, "3x1": 1, "1x1": 1})
    board = [{(0, 1), (1, 1), (2, 1)}, {(1, 0), (1, 1), (1, 2)}]
    first, second = random_network(one_way, ((2, 2), (1, 4), (4, 1))).values(boards_array(board, 4))
    assert first != second
    first, second = random_network(both_ways, ((2, 2), (1, 4))).values(boards_array(board, 4))
    assert first == pytest.approx(second, rel=1e-5)


@pytest.mark.parametrize("variant", ["10x10", "10x10-no-3x3", "5x5"])
def test_placements_are_valued_as_their_boards(variant: str) -> None:
    game = {"10x10": TenTen(), "10x10-no-3x3": TenTen(pieces="no-3x3"), "5x5": TenTen(5, 5)}[variant]
    tuples = ((3, 3), (2, 5), (1, game.columns))
    network = random_network(game, tuples)
    rng = random.Random(3)
    for _ in range(40):
        board = drawn_board(rng, game.rows, game.columns)
        piece = rng.randrange(len(game.shapes))
        shape = list(game.shapes[piece])
        expected = {
            r * game.columns + c: oracle.place(board, game.rows, game.columns, shape, (r, c))[0]
            for r, c in oracle.placements(board, game.rows, game.columns, shape)
        }
        cells, _, boards, values = network.features.placements(
            network.weights, 0.97, halves(board, game.columns), piece, 0
        )
        assert sorted(cells) == sorted(expected)
        assert list(values) == sorted(values, reverse=True)
        for cell, pair, value in zip(cells, boards, values, strict=True):
            assert tuple(pair) == halves(expected[cell], game.columns)
            again = network.values(boards_array([expected[cell]], game.columns))[0]
            assert value == pytest.approx(again, abs=1e-3)


def test_look_ahead_averages_over_the_next_piece() -> None:
    game = TenTen(5, 5, "seven")
    network = random_network(game, ((2, 3),))
    discount = network.settings.discount
    board = drawn_board(random.Random(8), 5, 5)

    def survival(after: set[oracle.Cell]) -> float:
        total = 0.0
        for weight, shape in zip(game.weights, game.shapes, strict=True):
            places = oracle.placements(after, 5, 5, list(shape))
            nexts = [oracle.place(after, 5, 5, list(shape), at)[0] for at in places]
            if nexts:
                best = max(network.values(boards_array(nexts, 5)))
                total += weight / sum(game.weights) * (1 - discount / (1 + math.exp(best)))
        return total

    piece = game.piece_names.index("1x2")
    cells, _, _, values = network.features.placements(network.weights, discount, halves(board, 5), piece, 1000)
    assert len(cells) > 3
    for cell, value in zip(cells, values, strict=True):
        after = oracle.place(board, 5, 5, list(game.shapes[piece]), divmod(int(cell), 5))[0]
        assert value == pytest.approx(survival(after), abs=1e-5)


@pytest.mark.parametrize("size", [(6, 7), (10, 10), (3, 8), (2, 5)], ids=str)
@pytest.mark.parametrize("look_ahead", [0, 3])
def test_whole_games_follow_the_values_of_single_placements(size: tuple[int, int], look_ahead: int) -> None:
    # One piece, so that nothing is drawn, and weights whose sums are exact, so that their order does not matter.
    rows, columns = size
    game = TenTen(rows, columns, {"###/##.": 1})
    lengths = set()
    for seed in range(6):
        network = random_network(game, ((2, 2), (min(rows, 3), 3), (1, columns)))
        network.weights[:] = np.random.default_rng(seed).integers(-8, 9, network.weights.size) / 4
        board, rounds, score = (0, 0), 0, 0
        while rounds < 60:
            cells, lines, boards, _ = network.features.placements(
                network.weights, network.settings.discount, board, 0, look_ahead
            )
            if not len(cells):
                break
            board = (int(boards[0][0]), int(boards[0][1]))
            rounds += 1
            score += 5 + 5 * int(lines[0]) * (int(lines[0]) + 1)
        played = network.play(1, seed=1, max_rounds=60, look_ahead=look_ahead, margin=math.inf)
        assert (played.lengths[0], played.scores[0]) == (rounds, score)
        lengths.add(rounds)
    assert len(lengths) > 1 or rows < 6


def test_unsafe_placements_are_compared_by_two_pieces() -> None:
    game = TenTen(4, 4, "three")
    network = random_network(game, ((2, 3),))
    discount = network.settings.discount
    board = drawn_board(random.Random(8), 4, 4)

    def after(board: set[oracle.Cell], piece: int) -> list[set[oracle.Cell]]:
        """Boards after a placement, the best first."""
        shape = list(game.shapes[piece])
        boards = [oracle.place(board, 4, 4, shape, at)[0] for at in oracle.placements(board, 4, 4, shape)]
        values = network.values(boards_array(boards, 4)) if boards else []
        return [boards[i] for i in sorted(range(len(boards)), key=lambda i: -values[i])]

    def survival(board: set[oracle.Cell], width: int) -> float:
        total = 0.0
        for piece in range(3):
            boards = after(board, piece)
            if width:
                total += max((survival(b, 0) for b in boards[:width]), default=0.0) / 3
            elif boards:
                total += (1 - discount / (1 + math.exp(network.values(boards_array(boards[:1], 4))[0]))) / 3
        return total

    piece = game.piece_names.index("1x2")
    arguments = (network.weights, discount, halves(board, 4), piece, 1000)
    first = network.features.placements(*arguments)[0][:4]
    cells, _, _, values = network.features.placements(*arguments, safe=1.1)
    assert set(cells[:4]) == set(first)
    assert list(values[:4]) == sorted(values[:4], reverse=True)
    for cell, value in zip(cells[:4], values[:4], strict=True):
        board_after = oracle.place(board, 4, 4, list(game.shapes[piece]), divmod(int(cell), 4))[0]
        assert value == pytest.approx(survival(board_after, 3), abs=1e-5)
    assert list(network.features.placements(*arguments, safe=-1)[0][:4]) == list(first)


def test_the_plan_after_which_the_next_hands_fit_is_chosen() -> None:
    # Two single cells: the second belongs where a 3x3 still fits, whatever the weights say.
    game = TenTen(4, 4, {"1x1": 1, "3x3": 1}, hand=2)
    network = random_network(game, ((2, 2),))
    single, square = game.piece_names.index("1x1"), game.piece_names.index("3x3")
    rng, better = random.Random(5), 0
    for _ in range(20):
        board = {(r, c) for r, c in ((0, 3), (1, 3), (3, 0), (3, 1)) if rng.random() < 0.7}

        def fits(moves: list[tuple[int, int]], board: set[oracle.Cell] = board) -> bool:
            for _, cell in moves:
                board = oracle.place(board, 4, 4, [(0, 0)], divmod(cell, 4))[0]
            return bool(oracle.placements(board, 4, 4, list(game.shapes[square])))

        hand = [single, single]
        usual, value = network.features.plan(network.weights, halves(board, 4), hand, 0)
        safe, safe_value = network.features.plan(network.weights, halves(board, 4), hand, 0, [[square, single]])
        assert safe_value <= value
        better += fits(safe) > fits(usual)
        assert fits(safe) >= fits(usual)
    assert better > 0


def test_a_hand_is_planned_as_by_trying_everything() -> None:
    game = TenTen(4, 4, "seven", hand=3)
    network = random_network(game, ((2, 2), (1, 4)))
    rng = random.Random(4)
    plans = 0
    for _ in range(15):
        board = drawn_board(rng, 4, 4)
        hand = [rng.randrange(7) for _ in range(3)]
        finals: list[set[oracle.Cell]] = []
        most = 0
        for order in itertools.permutations(hand):
            level = [board]
            for depth, piece in enumerate(order, 1):
                shape = list(game.shapes[piece])
                level = [oracle.place(b, 4, 4, shape, at)[0] for b in level for at in oracle.placements(b, 4, 4, shape)]
                level = [set(b) for b in {frozenset(b) for b in level}]
                if level and depth > most:
                    most, finals = depth, []
                if level and depth == most:
                    finals += level
        moves, value = network.features.plan(network.weights, halves(board, 4), hand, 0)
        assert len(moves) == most
        if finals:
            assert value == pytest.approx(max(network.values(boards_array(finals, 4))), abs=1e-3)
            plans += 1
        assert len({slot for slot, _ in moves}) == len(moves)
    assert plans > 8


@pytest.mark.parametrize("every_piece", [False, True])
def test_td_learns_towards_the_exact_chance_of_death(every_piece: bool) -> None:
    # One piece always fits and clears the board, the other never does: the game ends with probability q in every round,
    # and the risk is known: q / (1 - discount (1 - q)).
    game = TenTen(2, 2, {"2x2": 3, "1x3": 1})
    learner = _native.tenten.TdLearner(game.rules, [(2, 2)], 2, 4, 3.0, 0.9, every_piece)
    for batch in range(20):
        learner.train(5000, 0.1, 1, batch)
    network = ntuple.NTuple(game, ntuple.Settings(tuples=((2, 2),)), learner.state()[0])
    value = float(network.values(np.zeros((1, 2), np.uint64))[0])
    assert 1 / (1 + math.exp(value)) == pytest.approx(0.25 / (1 - 0.9 * 0.75), rel=0.01)
    assert learner.deaths / learner.rounds == pytest.approx(0.25, abs=0.01)


def test_ntuple_learns_on_a_small_board(tmp_path: Path) -> None:
    game = TenTen(4, 4, "seven")
    settings = ntuple.Settings(steps=1_000_000, batch=100_000)
    rows = trained(game, "ntuple", settings, tmp_path / "run", seed=3)
    network = ntuple.load(tmp_path / "run" / "model.npz", game)
    learned, fresh = network.play(100, 5), ntuple.NTuple(game, settings).play(100, 5)
    assert fresh.mean < 300
    assert learned.mean > 1500, "a million steps give about 3,000 rounds"
    assert [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()] == rows


def test_ntuple_reaches_the_optimum_of_3x3(tmp_path: Path) -> None:
    """The exact optimum is 69.83 rounds."""
    game = TenTen(3, 3, "seven")
    settings = dataclasses.replace(ntuple.default_settings(game), steps=200_000, batch=100_000)
    trained(game, "ntuple", settings, tmp_path / "run", seed=1)
    played = ntuple.load(tmp_path / "run" / "model.npz", game).play(20_000, 7)
    assert played.mean == pytest.approx(69.83, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("side", "pieces", "optimum"), [(4, "seven", 27_601.37), (5, "full", 28.8329)])
def test_ntuple_comes_close_to_the_optimum(side: int, pieces: str, optimum: float, tmp_path: Path) -> None:
    """The optima are those of `rookery solve tenten`."""
    game = TenTen(side, side, pieces)
    trained(game, "ntuple", ntuple.default_settings(game), tmp_path / "run", seed=1)
    games = 4_000 if side == 4 else 100_000
    played = ntuple.load(tmp_path / "run" / "model.npz", game).play(games, 7)
    assert played.mean - 2 * played.lengths.std() / games**0.5 > 0.95 * optimum


def test_ntuple_resumes_as_if_never_stopped(tmp_path: Path) -> None:
    game = TenTen(5, 5)
    settings = ntuple.Settings(steps=60_000, batch=20_000, tuples=((2, 3),))
    trained(game, "ntuple", dataclasses.replace(settings, threads=1), tmp_path / "whole", seed=1)
    stopped = training(game, "ntuple", dataclasses.replace(settings, threads=2), tmp_path / "stopped", seed=1)
    next(stopped)
    stopped.close()
    with pytest.raises(ValueError, match="already holds a run"):
        training(game, "ntuple", settings, tmp_path / "stopped", seed=1)
    with pytest.raises(ValueError, match="seed 1, not 2"):
        training(game, "ntuple", settings, tmp_path / "stopped", seed=2, resume=True)
    assert len(trained(game, "ntuple", settings, tmp_path / "stopped", seed=1, resume=True)) == 2
    one, other = (ntuple.load(tmp_path / name / "model.npz", game).weights for name in ("whole", "stopped"))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(("method", "settings"), [
    (lspi, lspi.Settings(updates=4, turns=5)),
    (linear, linear.Settings(generations=4, population=8, elite=3, rounds=200)),
])  # fmt: skip
def test_the_other_learners_resume_too(method: Any, settings: Any, tmp_path: Path) -> None:
    game, name = TenTen(4, 4, "seven"), method.__name__.rpartition(".")[2]
    trained(game, name, dataclasses.replace(settings, threads=1), tmp_path / "whole", seed=1)
    begun = training(game, name, settings, tmp_path / "stopped", seed=1)
    next(begun)
    next(begun)
    begun.close()
    assert len(trained(game, name, settings, tmp_path / "stopped", seed=1, resume=True)) == 2
    whole, stopped = (method.load(tmp_path / name / "model.npz", game).weights for name in ("whole", "stopped"))
    assert np.array_equal(whole, stopped)
    assert np.isfinite(whole).all()


def test_lspi_sums_the_normal_equations_of_a_game() -> None:
    game = TenTen(4, 4, "seven")
    features = _native.tenten.PaperFeatures(game.rules, 2)
    weights = np.linspace(-1, 1, 21)
    a, b, rounds = features.sample(weights, 0.7, -1000.0, 1, 11, 3, 1000)
    again_a, again_b, _ = features.sample(weights, 0.7, -1000.0, 5, 11, 0, 1000, 2)
    single = [features.sample(weights, 0.7, -1000.0, 1, 11, i, 1000) for i in range(5)]
    np.testing.assert_allclose(again_a, sum(s[0] for s in single), rtol=1e-12)
    np.testing.assert_allclose(again_b, sum(s[1] for s in single), rtol=1e-12)
    # The bias entry of A: each placement adds 1 - discount, the last one 1. That of b: the rewards and the penalty.
    assert a[20, 20] == pytest.approx((rounds[0] - 1) * 0.3 + 1)
    assert b[20] >= -1000
    # Filled and blank cells are 16 together, always: a column that is a multiple of the bias.
    np.testing.assert_allclose(a[:, 4] + a[:, 5], 16 * a[:, 20], atol=1e-9)
    assert np.linalg.matrix_rank(a) < 21


def test_lspi_solves_singular_equations() -> None:
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(500, 5))
    phi = np.column_stack([phi, phi[:, 0] + phi[:, 1], np.zeros(500)])
    truth = np.array([1.0, 2, 3, 4, 5, 0, 0])
    weights = lspi.solve(phi.T @ phi, phi.T @ (phi @ truth))
    np.testing.assert_allclose(phi @ weights, phi @ truth, rtol=1e-6)
    assert weights[6] == 0


def test_lspi_learns(tmp_path: Path) -> None:
    game = TenTen(4, 4, "seven")
    trained(game, "lspi", lspi.Settings(updates=10), tmp_path, seed=1)
    learned = lspi.load(tmp_path / "model.npz", game).play(100, 7)
    assert learned.mean > 150, "the paper has 307, random play 13"
    assert learned.deaths == 100


def test_lspi_stops_when_the_weights_have_converged(tmp_path: Path) -> None:
    game = TenTen(4, 4, "seven")
    settings = lspi.Settings(reward=1, discount=0.8, tolerance=0.2, updates=60, turns=5)
    weights, rows = [np.zeros(21)], []
    for row in training(game, "lspi", settings, tmp_path / "run", seed=3):
        weights.append(lspi.load(tmp_path / "run" / "model.npz", game).weights)
        rows.append(row)
    for update, row in enumerate(rows, 1):
        # In the second half of the run, how far is any weight vector from the last one?
        distances = [math.dist(old, weights[update]) for old in weights[update // 2 : update + 1]]
        assert row["drift"] == pytest.approx(max(distances) / math.hypot(*weights[update]))
    assert 1 < len(rows) < 60
    assert rows[-1]["drift"] < 0.2 <= min(row["drift"] for row in rows[:-1])
    assert rows[-1]["progress"] == 1
    assert trained(game, "lspi", settings, tmp_path / "run", seed=3, resume=True) == []
    closer = dataclasses.replace(settings, tolerance=0.0, updates=len(rows) + 2)
    assert len(trained(game, "lspi", closer, tmp_path / "run", seed=3, resume=True)) == 2
    for name, value in [("discount", 1.1), ("discount", -0.1), ("tolerance", -1.0)]:
        with pytest.raises(ValueError, match=f"{name} must be at"):
            lspi.Settings(**{name: value})


def test_the_piece_that_ends_a_game() -> None:
    # The square always fits and clears the board; the lines never fit, one of them comes three times as often.
    game = TenTen(2, 2, {"2x2": 6, "1x3": 1, "3x1": 3})
    network = ntuple.NTuple(game, ntuple.Settings())
    played = network.play(4000, seed=9, max_rounds=5)
    assert set(played.fatal[played.ended]) == {1, 2}
    assert set(played.fatal[~played.ended]) == {-1}
    fatal = played.fatal[played.ended]
    assert (fatal == 2).mean() == pytest.approx(3 / 4, abs=4 * (3 / 16 / len(fatal)) ** 0.5)
    other = lspi.Lspi(game, lspi.Settings()).play(50, seed=9)
    assert set(other.fatal) <= {1, 2}
    hands = ntuple.NTuple(TenTen(2, 2, {"2x2": 9, "1x3": 1}, hand=3), ntuple.Settings()).play(20, seed=9)
    assert set(hands.fatal) == {-1}


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    game = TenTen(4, 4, "seven")
    path = tmp_path / "model.npz"
    ntuple.NTuple(game, ntuple.Settings()).save(path)
    assert ntuple.load(path, game).weights.size > 1000
    with pytest.raises(ValueError, match="holds 'tenten-ntuple', not 'tenten-lspi'"):
        lspi.load(path, game)
    with pytest.raises(ValueError, match="weights on this board"):
        ntuple.load(path, TenTen(5, 4, "seven"))
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], b"", data[:200] + bytes([data[200] ^ 255]) + data[201:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged"):
            ntuple.load(path, game)


def test_playing_does_not_depend_on_threads() -> None:
    game = TenTen(5, 5)
    network = random_network(game, ((2, 3),))
    one, two = (network.play(20, seed=4, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert np.array_equal(one.scores, two.scores)
    stopped = network.play(20, seed=4, max_rounds=3)
    assert stopped.lengths.max() <= 3
    assert stopped.deaths < 20


def test_native_games_are_those_of_the_rules() -> None:
    # One piece, one place: every round scores 4 cells and 4 lines at once, and the 1x3 ends the game.
    game = TenTen(2, 2, {"2x2": 9, "1x3": 1})
    played = ntuple.NTuple(game, ntuple.Settings()).play(2000, seed=9)
    assert (played.scores == played.lengths * (4 + 100)).all()
    assert played.lengths.mean() == pytest.approx(9, abs=1)
    hands = ntuple.NTuple(TenTen(2, 2, {"2x2": 9, "1x3": 1}, hand=3), ntuple.Settings()).play(2000, seed=9)
    assert hands.lengths.mean() == pytest.approx(0.729 / 0.271, abs=0.3)


@pytest.mark.parametrize("variant", ["4x4-seven", "10x10"])
def test_every_board_is_worth_the_first_value_before_learning(variant: str) -> None:
    game = load("tenten", variant)
    network = ntuple.NTuple(game, ntuple.Settings(first_value=5.5))
    boards = np.array([[0, 0], [0b1011, 0], [0xF0F, 0]], np.uint64)
    assert network.values(boards) == pytest.approx([5.5] * 3, rel=1e-5)
    with pytest.raises(ValueError, match=f"has {len(network.weights)} weights on this board, not 3"):
        ntuple.NTuple(game, ntuple.Settings(), np.zeros(3, np.float32))


def test_windows_and_settings_follow_the_size_of_the_board() -> None:
    assert ntuple.default_tuples(4, 5) == ((4, 5),)
    assert ntuple.default_tuples(5, 5) == ((4, 5),)
    assert ntuple.default_tuples(3, 7) == ((2, 7),)
    assert ntuple.default_tuples(5, 6) == ((3, 3), (1, 6), (5, 1))
    small, large = (ntuple.default_settings(TenTen(5, n, "full")) for n in (5, 6))
    assert (small.every_piece, large.every_piece) == (True, False)
    assert large == ntuple.Settings()


def test_a_generation_keeps_the_best_and_widens_by_noise(tmp_path: Path) -> None:
    """Cross-entropy by hand: the elite's mean and spread, as directions, with noise that falls to nothing."""
    game = TenTen(4, 4, "seven")
    settings = linear.Settings(generations=2, population=8, elite=3, rounds=50, noise=0.4, threads=1)
    rows = trained(game, "linear", settings, tmp_path)
    scale = linear._typical_size(game)
    features = _native.tenten.HandFeatures(game.rules)
    mean, spread = np.zeros(len(linear.FEATURES)), np.ones(len(linear.FEATURES))
    for generation, noise in enumerate((0.4, 0.2)):
        rng = np.random.default_rng([0, generation])
        drawn = mean + spread * rng.standard_normal((8, len(linear.FEATURES)))
        rates = features.death_rates((drawn / scale).astype(np.float32), 50, int(rng.integers(1 << 62)), 1)
        elite = sorted(range(8), key=lambda i: (rates[i], i))[:3]
        chosen = np.array([drawn[i] for i in elite])
        middle = sum(chosen) / 3
        length = math.sqrt(sum(middle**2))
        mean, spread = middle / length, (np.sqrt(((chosen - middle) ** 2).sum(axis=0) / 3) + noise) / length
        assert rows[generation]["spread"] == pytest.approx(spread.mean())
        assert rows[generation]["elite_mean_rounds"] == pytest.approx(1 / max(float(np.mean(rates[elite])), 1e-9))
        assert rows[generation]["progress"] == (generation + 1) / 2
        assert rows[generation]["generation"] == generation + 1
    model = linear.load(tmp_path / "model.npz", game)
    assert model.weights == pytest.approx((mean / scale).astype(np.float32), rel=1e-4)


def test_small_features_count_and_those_never_met_weigh_nothing() -> None:
    a = np.array([[0.25, 0.1, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    weights = lspi.solve(a, np.array([0.45, 1.0, 0.0]))
    assert weights == pytest.approx([1.0, 2.0, 0.0])
