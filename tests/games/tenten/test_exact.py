from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from rookery import Control
from rookery._native import tenten as native
from rookery.cli import main
from rookery.games.tenten import exact
from rookery.games.tenten.rules import PIECE_SETS, TenTen
from rookery.registry import agent as load_agent
from tests.commands import answer
from tests.games.tenten.oracle_values import Mdp

REWARDS = {
    "survival": lambda lines, moves: 1.0,
    "r1": lambda lines, moves: lines**2 + moves,
    "r2": lambda lines, moves: float(lines**2),
    "r3": lambda lines, moves: moves,
}


def oracle(game: TenTen) -> Mdp:
    return Mdp(game.rows, game.columns, [list(shape) for shape in game.shapes], game.weights)


@pytest.mark.parametrize("objective", ["r1", "r2", "r3"])
@pytest.mark.parametrize(("rows", "columns", "pieces"), [(2, 2, "seven"), (2, 3, "full"), (3, 3, "three")])
def test_values_match_the_papers_iteration(rows: int, columns: int, pieces: str, objective: str) -> None:
    game = TenTen(rows, columns, pieces)
    mdp = oracle(game)
    values = mdp.solve(REWARDS[objective], 0.7, 80)
    solution = exact.solve(game, objective, 0.7)
    assert solution.value_empty == pytest.approx(mdp.expected(values, frozenset()), abs=1e-6)
    for board in mdp.boards[:: max(1, len(mdp.boards) // 25)]:
        for piece, name in enumerate(game.piece_names):
            marks = "".join("#" if cell in board else "." for cell in itertools.product(range(rows), range(columns)))
            text = "/".join(marks[r * columns : (r + 1) * columns] for r in range(rows))
            placed = solution.placement_values(game.parse_state(f"{text} {name}"))
            assert max(placed.values(), default=0.0) == pytest.approx(values[board, piece], abs=1e-6)


@pytest.mark.parametrize(("rows", "columns", "pieces"), [(2, 2, "seven"), (2, 3, "full"), (2, 3, "seven")])
def test_survival_matches_the_papers_iteration(rows: int, columns: int, pieces: str) -> None:
    game = TenTen(rows, columns, pieces)
    mdp = oracle(game)
    rounds = mdp.expected(mdp.solve(REWARDS["survival"], 1.0, 800), frozenset())
    solution = exact.solve(game)
    assert solution.mean_rounds == pytest.approx(rounds, rel=1e-6)
    assert solution.policy.evaluate().mean_rounds == pytest.approx(rounds, rel=1e-6)


def test_known_optima_and_policies() -> None:
    three, four = TenTen(3, 3, "seven"), TenTen(4, 4, "seven")
    assert exact.solve(three).mean_rounds == pytest.approx(69.83, abs=0.005)
    assert exact.solve(four).mean_rounds == pytest.approx(27_601, abs=0.5)
    rounds = [exact.solve(three, reward, 0.8).mean_rounds for reward in ("r1", "r2", "r3")]
    assert rounds == pytest.approx([52.6, 20.3, 52.6], abs=0.05)
    assert exact.solve(four, "r2", 0.8).mean_rounds == pytest.approx(83, abs=1.5)
    assert exact.solve(four, "r1", 0.8).mean_rounds == pytest.approx(1000, rel=0.05)


@pytest.mark.parametrize(("objective", "discount"), [("survival", 1.0), ("r1", 0.9), ("r3", 0.5)])
def test_bounds_hold_after_every_sweep(objective: str, discount: float) -> None:
    seen: list[tuple[float, float]] = []
    game = TenTen(3, 3, "seven")
    solution = exact.solve(game, objective, discount, progress=lambda n, low, high: seen.append((low, high)))
    if objective == "survival":
        truth = solution.value_empty + 1  # draws, the fatal one included
    else:
        truth = solution.value_empty * discount + exact.OBJECTIVES[objective].moves * exact.expected_moves(game)
    assert len(seen) > 10
    assert all(low <= truth * (1 + 1e-9) and high >= truth * (1 - 1e-9) for low, high in seen)
    widths = [high - low for low, high in seen]
    assert widths[-1] < 1e-3 * truth
    assert solution.error_bound < 1e-5 * truth


@pytest.mark.parametrize("objective", ["r1", "r2", "r3"])
def test_rewards_without_discount(objective: str) -> None:
    game = TenTen(2, 3, "seven")
    mdp = oracle(game)
    truth = mdp.expected(mdp.solve(REWARDS[objective], 1.0, 1200), frozenset())
    solution = exact.solve(game, objective, 1.0)
    assert abs(solution.value_empty - truth) <= max(solution.error_bound, 1e-9)
    assert solution.error_bound < 1e-4


def test_the_number_of_threads_and_the_address_do_not_matter() -> None:
    game = TenTen(3, 7, "full")
    lines = [float(n * n) for n in range(21)]
    size = 1 << 21
    for dtype in (np.float32, np.float64):
        results = []
        for threads, shift in [(1, 0), (3, 1)]:
            values = np.zeros(size + 1, dtype)[shift : size + shift]
            changes = [native.sweep(game.rules, values, 0.0, 1.0, lines, 0.9, 1.0, threads) for _ in range(2)]
            results.append((values, changes))
        np.testing.assert_array_equal(results[0][0], results[1][0])
        assert results[0][1] == results[1][1]


def test_single_and_double_precision_agree() -> None:
    game = TenTen(4, 4, "full")
    lines = [float(n * n) for n in range(21)]
    single, double = np.zeros(1 << 16, np.float32), np.zeros(1 << 16, np.float64)
    for _ in range(30):
        for values in (single, double):
            native.sweep(game.rules, values, 0.0, 1.0, lines, 0.9, 1.0, 1)
    np.testing.assert_allclose(single, double, rtol=2e-6)


@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (3, 1), (1, 7), (2, 5), (5, 2)])
def test_narrow_boards(rows: int, columns: int) -> None:
    game, turned = TenTen(rows, columns, "seven"), TenTen(columns, rows, "seven")
    value = exact.solve(game, "r1", 0.9).value_empty
    assert value == pytest.approx(exact.solve(turned, "r1", 0.9).value_empty, rel=1e-7)
    mdp = oracle(game)
    assert value == pytest.approx(mdp.expected(mdp.solve(REWARDS["r1"], 0.9, 250), frozenset()), rel=1e-6)


@pytest.mark.parametrize("objective", ["survival", "r2"])
def test_games_agree_with_the_evaluation(objective: str) -> None:
    solution = exact.solve(TenTen(3, 3, "seven"), objective, None if objective == "survival" else 0.8)
    evaluation = solution.policy.evaluate()
    assert evaluation.lower <= evaluation.mean_rounds <= evaluation.upper
    played = solution.policy.play(40_000, seed=3)
    for sample, truth in [(played.rounds, evaluation.mean_rounds), (played.scores, evaluation.mean_score)]:
        assert abs(sample.mean() - truth) < 4 * sample.std() / math.sqrt(len(sample))
    again = solution.policy.play(40_000, seed=3, threads=1)
    np.testing.assert_array_equal(played.rounds, again.rounds)
    assert not np.array_equal(played.rounds, solution.policy.play(40_000, seed=4).rounds)


def test_games_of_the_policy_follow_the_rules() -> None:
    """The oracle plays in the game itself as long as the native loop says."""
    game = TenTen(3, 3, "seven")
    agent, rng = load_agent("oracle", game), random.Random(5)
    lengths = []
    for _ in range(60):
        state = game.random_start(rng)
        while state.player() == 0:
            state.apply(agent.choose(state, rng))
            state.apply(rng.choices(range(7), game.weights)[0])
        lengths.append(state.rounds)
    mean, error = np.mean(lengths), np.std(lengths) / math.sqrt(len(lengths))
    assert abs(mean - 69.83) < 4 * error


def test_endless_games() -> None:
    game = TenTen(3, 3, "three")
    with pytest.raises(ValueError, match="survives for ever"):
        exact.solve(game)
    with pytest.raises(ValueError, match="survives for ever"):
        exact.solve(game, "r1", 1.0)
    solution = exact.solve(game, "r2", 0.9)
    played = solution.policy.play(20, max_rounds=20_000)
    assert math.isinf(solution.mean_rounds) == (played.deaths == 0)
    assert exact.solve(game, "r2", 0.7).mean_rounds < math.inf  # and this one dies: the check can say no


def test_tables_are_saved_checked_and_loaded(tmp_path: Path) -> None:
    game = TenTen(3, 3, "seven")
    solution = exact.solve(game, "r1", 0.8)
    file = tmp_path / "deep" / "r1.table"
    solution.save(file)
    loaded = exact.load(file, game)
    np.testing.assert_array_equal(loaded.values, solution.values)
    assert (loaded.value_empty, loaded.mean_rounds, loaded.objective) == (
        solution.value_empty, solution.mean_rounds, "r1",
    )  # fmt: skip
    state = game.parse_state("##./.../... 1x1")
    assert loaded.placement_values(state) == solution.placement_values(state)
    values = load_agent(f"oracle:{file}", game).values(state)
    assert values == solution.placement_values(state)

    with pytest.raises(ValueError, match="not the game asked for"):
        exact.load(file, TenTen(3, 3, "three"))
    data = bytearray(file.read_bytes())
    for position, sentence in [(3, "not a table"), (40, "header"), (5000, "checksum")]:
        damaged = bytearray(data)
        damaged[position] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=sentence):
            exact.load(file)
    file.write_bytes(data[:-8])
    with pytest.raises(ValueError, match="wrong size"):
        exact.load(file)


@pytest.mark.parametrize(("objective", "discount"), [("survival", None), ("r1", 0.9)])
def test_a_stopped_run_goes_on_from_its_file(tmp_path: Path, objective: str, discount: float | None) -> None:
    game = TenTen(4, 4, "full")
    file = tmp_path / "values.table"
    control = Control()

    def stop_at_eight(sweep: int, low: float, high: float) -> None:
        if sweep == 8:
            control.stop()

    with pytest.raises(InterruptedError):
        exact.solve(game, objective, discount, file=file, progress=stop_at_eight, control=control)
    with pytest.raises(ValueError, match="not finished after 8 sweeps"):
        exact.load(file)
    with pytest.raises(ValueError, match="holds another table"):
        exact.solve(game, "r3", 0.3, file=file)
    first: list[int] = []
    resumed = exact.solve(game, objective, discount, file=file, progress=lambda n, low, high: first.append(n))
    assert first[0] == 9
    straight = exact.solve(game, objective, discount)
    assert resumed.value_empty == pytest.approx(straight.value_empty, rel=1e-8)
    assert exact.load(file, game).value_empty == resumed.value_empty


def test_what_cannot_be_held_is_refused_beforehand() -> None:
    with pytest.raises(ValueError, match="274877906944 bytes"):
        exact.check_feasible(TenTen(6, 6))
    with pytest.raises(ValueError, match=r"4294967296 bytes, and 1000000 bytes"):
        exact.check_feasible(TenTen(5, 6), "r1", available=1_000_000)
    exact.check_feasible(TenTen(5, 6), "r1", available=5 << 30)
    with pytest.raises(ValueError, match="at least 3 cells"):
        exact.check_feasible(TenTen(1, 2))
    with pytest.raises(ValueError, match="one piece in the hand"):
        exact.check_feasible(TenTen(3, 3, hand=2))
    assert exact.table_bytes(TenTen(5, 5), "r1") == 1 << 27


@pytest.mark.parametrize("discount", [0.0, -1.0, 1.5, math.nan])
def test_bad_settings(discount: float) -> None:
    game = TenTen(2, 2, "three")
    with pytest.raises(ValueError, match="discount"):
        exact.solve(game, "r1", discount)
    with pytest.raises(ValueError, match="its discount is 1"):
        exact.solve(game, "survival", 0.5)
    with pytest.raises(ValueError, match="unknown objective"):
        exact.solve(game, "r4")


def test_native_calls_check_their_arrays() -> None:
    rules = TenTen(3, 3, "seven").rules
    with pytest.raises(ValueError, match="one value for each"):
        native.sweep(rules, np.zeros(511), 1.0, 0.0, [0.0] * 21, 1.0, 1.0, 1)
    with pytest.raises(TypeError):
        native.sweep(rules, np.zeros(512, np.int32), 1.0, 0.0, [0.0] * 21, 1.0, 1.0, 1)
    with pytest.raises(ValueError, match="other rules"):
        native.endless(rules, np.zeros(5, np.uint32), 1)
    with pytest.raises(ValueError, match="3 to 32 cells"):
        native.sweep(TenTen(6, 6).rules, np.zeros(512), 1.0, 0.0, [0.0] * 21, 1.0, 1.0, 1)


def test_oracle_explains_and_refuses() -> None:
    game = TenTen(4, 4, "seven")
    state = game.parse_state("###./..../..../.... 1x1")
    explanation = load_agent("oracle", game).explain(state)
    # Clearing the row leaves the empty board: its mean rounds, and this one.
    assert explanation.values[3] == pytest.approx(27_602.37, abs=0.01)
    assert explanation.values[explanation.action] == max(explanation.values.values())
    assert explanation.reasons[0].startswith(state.action_name(explanation.action))
    assert "rounds" in explanation.reasons[0]
    with pytest.raises(ValueError, match="up to 16 cells"):
        load_agent("oracle", TenTen())


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = answer(capsys, "solve", "tenten", "--size", "3", "--pieces", "seven")
    assert data["mean_rounds"] == pytest.approx(69.83, abs=0.005)
    assert {"value_empty", "mean_rounds", "sweeps", "seconds"} <= set(data)
    file = tmp_path / "t.table"
    data = answer(
        capsys,
        "solve",
        "tenten",
        "--size",
        "2x3",
        "--pieces",
        "full",
        "--objective",
        "r1",
        "--discount",
        "0.5",
        "--out",
        str(file),
    )
    assert exact.load(file).value_empty == data["value_empty"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--size", "6", "--pieces", "full"], "274877906944 bytes"),
        (["--size", "4", "--pieces", "nine"], "known sets: " + ", ".join(PIECE_SETS)),
        (["--size", "0"], "1 to 10 rows"),
        (["--size", "four"], "not 'four'"),
        (["--size", "3", "--pieces", "three"], "survives for ever"),
    ],
)
def test_command_refuses(capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["solve", "tenten", *arguments])
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("pieces", ["seven", "full"])
def test_5x5_within_the_bar(pieces: str) -> None:
    solution = exact.solve(TenTen(5, 5, pieces), "r1", 0.9, evaluate=False)
    assert solution.error_bound < 0.01
    assert solution.values.nbytes == 1 << 27
    assert solution.seconds < 120


def test_games_are_played_until_enough_have_ended() -> None:
    policy = exact.solve(TenTen(3, 3, "seven")).policy
    enough = policy.play_until(30, 10**9, seed=5)
    assert enough.deaths >= 30
    assert len(enough.rounds) == len(enough.scores) == 8 + 16 + 32
    first = policy.play(8, 5, 10**9 // 16)
    assert enough.rounds[:8].tolist() == first.rounds.tolist()
    assert enough.rounds[8:24].tolist() == policy.play(16, 6, 10**9 // 16).rounds.tolist()
    assert enough.max_rounds == 10**9 // 16
    short = policy.play_until(10**9, 320, seed=5)
    assert short.max_rounds == 20
    assert short.rounds.sum() >= 320
    assert short.rounds[:-16].sum() < 320 or len(short.rounds) == 8
    assert policy.play_until(1, 3).max_rounds == 1


def test_placements_are_worth_the_rounds_after_them() -> None:
    """The best of all placements, over all pieces by their chances, is what the board is worth: survival counts the
    draw that ends the game as well."""
    game = TenTen(3, 3, "seven")
    solution = exact.solve(game)
    for board in (".../.../...", "##./.../..#", "#.#/.#./..."):
        total = 0.0
        for name, weight in zip(game.piece_names, game.weights, strict=True):
            try:
                state = game.parse_state(f"{board} {name}")
            except ValueError:
                continue
            found = solution.placement_values(state)
            assert set(found) == set(state.legal_actions())
            total += weight / sum(game.weights) * max(found.values(), default=0.0)
            for action, value in found.items():
                after = state.clone()
                after.apply(action)
                ahead = 0.0
                for outcome, chance in after.chance_outcomes():
                    drawn = after.clone()
                    drawn.apply(outcome)
                    if drawn.player() >= 0:
                        ahead += chance * max(solution.placement_values(drawn).values())
                assert value == pytest.approx(1 + ahead, rel=1e-6)
        assert total > 0
    assert solution.mean_rounds == pytest.approx(
        sum(
            weight * max(solution.placement_values(game.parse_state(f".../.../... {name}")).values())
            for name, weight in zip(game.piece_names, game.weights, strict=True)
        )
        / sum(game.weights),
        rel=1e-6,
    )


@pytest.mark.parametrize("precision", [1e-2, 1e-4])
def test_error_bounds_are_as_wide_as_the_precision_asked_for(precision: float) -> None:
    game = TenTen(3, 3, "seven")
    seen: list[tuple[float, float]] = []
    loose = exact.solve(game, precision=precision, progress=lambda n, low, high: seen.append((low, high)))
    low, high = seen[-1]
    assert loose.error_bound == pytest.approx((high - low) / 2)
    assert loose.value_empty == pytest.approx((low + high) / 2 - 1)
    assert loose.mean_rounds_interval == pytest.approx((low - 1, high - 1))
    assert abs(loose.value_empty - exact.solve(game).value_empty) <= loose.error_bound
    for objective, discount in (("r1", 0.8), ("r3", 0.5)):
        tight = exact.solve(game, objective, discount, precision=1e-12, evaluate=False).value_empty
        found = exact.solve(game, objective, discount, precision=precision, evaluate=False)
        assert abs(found.value_empty - tight) <= found.error_bound
        # The value of arriving at the empty board has the reward of that in it, and is known to the precision.
        arriving = tight * discount + exact.OBJECTIVES[objective].moves * exact.expected_moves(game)
        assert 0 < found.error_bound <= 1.01 * precision * arriving / discount
        few = exact.solve(game, objective, discount, precision=100 * precision, evaluate=False)
        assert few.sweeps < found.sweeps


def test_rewards_are_discounted_by_nine_tenths_unless_told_otherwise() -> None:
    game = TenTen(2, 3, "seven")
    for objective, discount in (("r1", 0.9), ("r2", 0.9), ("survival", 1.0)):
        plain = exact.solve(game, objective, evaluate=False)
        assert plain.discount == discount
        assert plain.value_empty == exact.solve(game, objective, discount, evaluate=False).value_empty


@pytest.mark.parametrize("ended", [1, 7, 99])
def test_few_deaths_are_counted_as_a_poisson_variable(ended: int) -> None:
    """Games of 50 rounds that ended among games that reached the limit of 100: Garwood's interval of the deaths."""
    chi2 = pytest.importorskip("scipy.stats").chi2
    rounds = np.array([50] * ended + [100] * 20, np.int64)
    played = exact.Played(rounds, 3 * rounds, 100)
    assert played.deaths == ended
    total = 50 * ended + 2000
    mean, low, high = played.mean_rounds
    assert mean == pytest.approx(total / ended)
    assert low == pytest.approx(total / (chi2.ppf(0.975, 2 * ended + 2) / 2), rel=1e-6)
    assert high == pytest.approx(total / (chi2.ppf(0.025, 2 * ended) / 2), rel=1e-6)


def test_without_a_death_there_is_only_a_lower_bound() -> None:
    played = exact.Played(np.full(20, 100, np.int64), np.zeros(20, np.int64), 100)
    assert played.deaths == 0
    mean, low, high = played.mean_rounds
    assert math.isinf(mean)
    assert math.isinf(high)
    assert low == pytest.approx(2000 / -math.log(0.025), rel=1e-6)  # the mean that gives no death once in 40 times


def test_many_games_that_all_ended_have_a_normal_interval() -> None:
    rounds = np.arange(1, 101)
    mean, low, high = exact.Played(rounds, rounds, 1000).mean_rounds
    half = 1.96 * math.sqrt(sum((n - 50.5) ** 2 for n in range(1, 101)) / 99 / 100)
    assert (mean, low, high) == pytest.approx((50.5, 50.5 - half, 50.5 + half))
    few = exact.Played(rounds[:99], rounds[:99], 1000).mean_rounds  # one less counts as a Poisson variable
    assert few[2] - few[0] != pytest.approx(few[0] - few[1], rel=1e-3)


def test_tables_are_of_double_precision_where_that_is_cheap() -> None:
    """Up to 20 cells, and for survival up to 25."""
    assert exact.table_bytes(TenTen(4, 5), "r1") == 8 << 20
    assert exact.table_bytes(TenTen(3, 7), "r1") == 4 << 21
    assert exact.table_bytes(TenTen(5, 5), "survival") == 8 << 25
    assert exact.table_bytes(TenTen(3, 9), "survival") == 4 << 27


@pytest.mark.parametrize(("rows", "columns", "fits"), [(4, 8, True), (3, 10, True), (6, 6, False), (1, 3, True)])
def test_boards_of_3_to_32_cells_can_be_held(rows: int, columns: int, fits: bool) -> None:
    game = TenTen(rows, columns)
    if fits:
        exact.check_feasible(game, available=1 << 60)
        need = exact.table_bytes(game)
        exact.check_feasible(game, available=need)
        with pytest.raises(ValueError, match=f"needs a table of {need} bytes, and {need - 1} bytes"):
            exact.check_feasible(game, available=need - 1)
    else:
        with pytest.raises(ValueError, match="boards of up to 32 cells can be solved here"):
            exact.check_feasible(game, available=1 << 60)


def test_expected_moves_are_counted() -> None:
    """On the empty board of 2 by 3: six places of 1x1, four of 1x2 and three of 2x1, all as likely."""
    assert exact.expected_moves(TenTen(2, 3, "three")) == pytest.approx((6 + 4 + 3) / 3)
    # With the first cell filled: five, three and two.
    assert exact.expected_moves(TenTen(2, 3, "three"), 1) == pytest.approx((5 + 3 + 2) / 3)
    # The seven: the first three count twice, and two of each corner fit.
    assert exact.expected_moves(TenTen(2, 3, "seven")) == pytest.approx((2 * 6 + 2 * 4 + 2 * 3 + 4 * 2) / 10)


def test_the_sweeps_of_an_evaluation_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those for the rounds and those for the score together; a policy that lives for ever needs none."""
    made = []
    sweep = native.evaluation_sweep

    def counted(*arguments: object) -> tuple[float, float]:
        made.append(arguments)
        return sweep(*arguments)

    monkeypatch.setattr(exact.native, "evaluation_sweep", counted)
    game = TenTen(2, 3, "seven")
    solution = exact.solve(game, evaluate=False)
    policy = exact.TablePolicy(game, [solution.values])
    found = policy.evaluate()
    assert found.sweeps == len(made) > 2
    assert found.lower <= found.mean_rounds <= found.upper
    made.clear()
    rough = policy.evaluate(precision=1e-3)
    assert rough.sweeps == len(made) < found.sweeps
    assert rough.lower <= found.mean_rounds <= rough.upper
    made.clear()
    single = TenTen(2, 2, {"1x1": 1})
    endless = exact.TablePolicy(single, [exact.solve(single, "r2", evaluate=False).values]).evaluate()
    assert (endless.sweeps, endless.mean_rounds, made) == (0, math.inf, [])


def test_a_sweep_bounds_the_totals_and_corrects_the_gain() -> None:
    """By hand, from y = gain + E[best y]: values that miss it by -0.002 to 0.001 have a gain of 0.009 to 0.012."""
    run = exact._Undiscounted(np.ones(2), 5, reward=2.0)
    changes = iter([(5.0, 9.0), (-0.002, 0.001), (0.0, 0.0), (1.0, 3.0), (-3.0, -1.0)])

    def sweep(values: exact.Values, gain: float) -> tuple[float, float]:
        values[0] += 2
        return next(changes)

    run.step(sweep)  # nothing is known of the values before the first sweep
    assert (run.sweeps, run.gain, run.bounds, run.value, run.residual) == (1, 0.01, (0, math.inf), math.inf, math.inf)
    assert not run.converged(1e9)
    run.step(sweep)  # the values after the first sweep began with 3
    assert run.sweeps == 2
    assert run.bounds == pytest.approx((3 / 0.012, 3 / 0.009))
    assert run.value == pytest.approx(3 / 0.01)
    assert run.residual == pytest.approx(0.002)
    # The changes are -0.0005 in the middle: by four draws of 2 each, the gain was too low by 0.0000625.
    assert run.gain == pytest.approx(0.0100625)
    assert run.converged(0.1)  # 0.002 is at most a tenth of the gain times 2
    assert not run.converged(0.0993)
    run.step(sweep)  # the sweep before was still made with a gain of 0.01
    assert run.bounds == pytest.approx((5 / 0.01,) * 2)
    assert run.converged(0.0)  # but for rounding
    run.step(sweep)  # changes above the gain: there is no upper bound
    assert run.bounds == pytest.approx((7 / 0.0100625, math.inf))
    assert run.gain == pytest.approx(0.0100625 / 2)
    run.step(sweep)
    assert run.gain == pytest.approx(0.0100625)


def test_with_rewards_for_lines_every_second_sweep_is_measured() -> None:
    run = exact._Undiscounted(np.ones(2), 5, lines=True)
    known = []
    for _ in range(6):
        run.residual = math.inf
        run.step(lambda values, gain: (0.0, 0.0))
        known.append(math.isfinite(run.residual))
    assert known == [False, True] * 3


def test_sweeps_go_on_from_a_file_and_end_with_the_most_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_MAX_SWEEPS", 7)
    run = exact._Undiscounted(np.ones(2), 5, sweeps=4)
    after = []
    run.run(lambda values, gain: (-1.0, 1.0), 1e-9, lambda: after.append(run.sweeps))
    assert after == [5, 6, 7]
    settled = exact._Undiscounted(np.ones(2), 5)
    settled.run(lambda values, gain: (0.0, 0.0), 1e-9)
    assert settled.sweeps == 2


def test_a_table_takes_eight_bytes_a_board_or_four() -> None:
    assert exact.table_bytes(TenTen(3, 3)) == 2**9 * 8
    assert exact.table_bytes(TenTen(5, 5)) == 2**25 * 8
    assert exact.table_bytes(TenTen(5, 5), "r1") == 2**25 * 4
    assert exact.table_bytes(TenTen(3, 9)) == 2**27 * 4
