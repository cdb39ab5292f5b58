from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from rich.console import Console

from rookery import _native
from rookery.games.tenten import MODELS
from rookery.games.tenten import study as study_module
from rookery.games.tenten.boards import Boards
from rookery.games.tenten.exact import Played, TablePolicy, endless, solve
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.study import (
    DISCOUNTS,
    GAMES,
    GREEDY,
    LEARNED,
    LSPI,
    VALUE_ITERATION,
    WEIGHTS,
    Point,
    Study,
    _extremes,
    _finished,
    _rounds,
)
from rookery.games.tenten.survival import Survival
from rookery.registry import load as load_game
from rookery.report.study import Table
from rookery.studies import SIZES
from tests.games.tenten.oracle_values import Mdp


def study(tmp_path: Path) -> Study:
    return Study(SIZES["quick"], 1, tmp_path, Console(stderr=True, quiet=True))


def numbers(text: str) -> tuple[float, float]:
    mean, half = text.replace(",", "").split(" ± ")
    return float(mean), float(half)


@pytest.mark.parametrize(("side", "reward"), [(3, "r1"), (3, "r2"), (4, "r3")])
def test_the_papers_iteration_comes_to_the_same_values(side: int, reward: str) -> None:
    game = TenTen(side, side, "seven")
    steps = Boards(game).iterate(reward, 0.7)
    values = [next(steps)[0] for _ in range(60)][-1]
    np.testing.assert_allclose(values, solve(game, reward, 0.7, evaluate=False).values, rtol=1e-7, atol=1e-7)


def test_greedy_play_and_its_exact_mean(tmp_path: Path) -> None:
    table = study(tmp_path).greedy()
    assert [row[1] for row in table.rows] == ["4,221.3", "32,052.2", "321.5", "2,919.9", "648.42", "5,269.4"]
    for name, paper, extremes, played, exact, of_ten, of_all in table.rows:
        mean, half = numbers(played)
        truth = float(exact.replace(",", ""))
        assert abs(mean - truth) < 2 * half
        # The paper's average, taken for that of ten games, which are about exponential: two standard errors.
        if name.startswith(("1", "2")):
            assert float(paper.replace(",", "")) == pytest.approx(truth, rel=2 / 10**0.5)
        shortest, longest = (float(number) for number in of_ten.replace(",", "").split(" to "))
        # Of ten exponential numbers the least is a tenth of the mean on average, the greatest 2.93 times it.
        assert shortest == pytest.approx(truth / 10, rel=0.3)
        assert longest == pytest.approx(2.93 * truth, rel=0.15)
        least, greatest = (float(number) for number in of_all.replace(",", "").split(" to "))
        assert least < shortest < longest < greatest
        assert " to " in extremes


@pytest.mark.parametrize(
    ("variant", "states"), [("3x3-three", 1536), ("3x3-seven", 3584), ("4x4-three", 196_608), ("4x4-seven", 458_752)]
)
def test_the_papers_four_games_are_variants(variant: str, states: int) -> None:
    game = load_game("tenten", variant)
    assert isinstance(game, TenTen)
    assert 2 ** (game.rows * game.columns) * len(game.weights) == states
    assert endless(game) == (len(game.weights) == 3), "games with three pieces can be survived for ever"


def test_edges_of_the_paper(tmp_path: Path) -> None:
    rows = study(tmp_path).graph_sizes().rows
    assert [row[2] for row in rows] == [row[1] for row in rows]
    assert [row[4] for row in rows] == ["3,317", "892,064"]
    assert [abs(float(row[5]) - float(row[6])) < 0.001 for row in rows] == [True, True]


def test_points_per_round_stand_beside_the_papers(tmp_path: Path) -> None:
    table = study(tmp_path).greedy_points()
    assert table.rows[0] == ["paper: average", "4,221.3", "7.59", "321.5", "9.08", "648.42", "8.13"]
    first = {row[0]: row[1:] for row in table.rows}["first, 10 r^2"]
    assert first[::2] == ["4,697.1", "320.0", "753.2"]


@pytest.mark.parametrize("reward", ["r1", "r2", "r3"])
def test_the_last_change_of_a_policy_counted_slowly(reward: str) -> None:
    game = TenTen(3, 3, "seven")
    mdp = Mdp(3, 3, [list(shape) for shape in game.shapes], game.weights)
    earned = {"r1": lambda lines, moves: lines**2 + moves, "r2": lambda lines, moves: lines**2,
              "r3": lambda lines, moves: moves}[reward]  # fmt: skip
    values, before, last = dict.fromkeys(mdp.edges, 0.0), None, 0
    for number in range(1, 61):
        policy, fresh = {}, {}
        ahead = {board: mdp.expected(values, board) for board in mdp.boards}
        for state, after in mdp.edges.items():
            worth = [earned(lines, mdp.moves[b]) + 0.8 * ahead[b] for b, lines in after]
            policy[state] = next((i for i, x in enumerate(worth) if x > max(worth) * (1 - 1e-9) - 1e-12), None)
            fresh[state] = max(worth, default=0.0)
        if before not in (None, policy):
            last = number
        before, values = policy, fresh
    assert Boards(game).iterations_to_converge(reward, 0.8)[0] == last


def test_game_4_with_r2_still_changes_after_four_quiet_iterations() -> None:
    """The best policy by the exact solver is reached at the iteration that is counted, and not before."""
    game = TenTen(4, 4, "seven")
    boards = Boards(game)
    last, made = boards.iterations_to_converge("r2", 0.8)
    policies = [policy for _, (_, policy) in zip(range(last), boards.iterate("r2", 0.8), strict=False)]
    values = solve(game, "r2", 0.8, precision=1e-12, evaluate=False).values
    best = _native.tenten.successors(game.rules, [values], 1e-9, None).reshape(-1, 7)[boards.open]

    def agrees(policy: npt.NDArray[np.int16]) -> bool:
        masks = [np.array([*masks, 0]) for masks in boards.masks]  # the last one where a piece does not fit
        return all((boards.open | masks[piece][policy[piece]] == best[:, piece]).all() for piece in range(7))

    assert agrees(policies[-1])
    assert not agrees(policies[-2])
    assert all((policies[number] == policies[38]).all() for number in range(38, 42)), "four quiet iterations"
    assert last == 43
    assert made > 70


def test_extremes_of_groups() -> None:
    assert _extremes(np.array([5, 1, 9, 2, 8, 8, 100]), 3) == ((1 + 2) / 2, (9 + 8) / 2)


def test_the_piece_that_did_not_fit_is_counted(tmp_path: Path) -> None:
    square = TenTen().piece_names.index("3x3")
    line = TenTen(pieces="no-3x3").piece_names.index("1x5")
    ended = np.array([True, True, True, True, False])

    def games(piece: int) -> Survival:
        return Survival(np.arange(1, 6), ended, np.arange(5), np.array([piece, piece, piece, 0, -1], np.int32))

    everything = {(m, v): games(line if "no-3x3" in v else square) for m, v, _ in LEARNED}
    table = study(tmp_path).fatal_pieces(everything)
    assert table.columns[2:4] == ["lspi, 10x10", "linear, 10x10"]
    assert table.rows == [
        ["3x3", "4.8%", *["3 (75%)"] * 3, "0 (0%)", "0 (0%)"],
        ["1x1", "4.8%", *["1 (25%)"] * 5],
        ["1x5", "4.8%", *["0 (0%)"] * 3, "3 (75%)", "3 (75%)"],
    ]


def test_lspi_is_trained_for_every_reward(tmp_path: Path) -> None:
    rows = study(tmp_path).lspi_rewards().rows
    assert [row[:2] for row in rows] == [["r1", "307.2"], ["r2", "276.05"], ["r3", "302.2"]]
    # The optimum is 27,601 and random play lasts 13 rounds; as in the paper the reward hardly matters.
    means = [float(row[2].replace(",", "")) for row in rows]
    assert 250 < min(means) <= max(means) < 900
    assert all("not converged" in row[6] for row in rows), "a quick run stops after 50 updates and says so"
    settings = [json.loads((tmp_path / f"lspi-r{n}-1" / "run.json").read_text())["settings"] for n in (1, 2, 3)]
    assert [(s["reward"], s["discount"]) for s in settings] == [(1, 0.8), (2, 0.8), (3, 0.8)]


def test_the_papers_numbers_are_in_the_paper() -> None:
    found = sorted((Path(__file__).parents[4] / "shared" / "papers").glob("004_*.txt"))
    if not found:
        pytest.skip("the papers are not part of the project")
    text = found[0].read_text()
    numbers = set(re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", "")))
    for _, rounds, scores in GREEDY:
        assert {f"{number:.10g}" for number in (*rounds, *scores)} <= numbers
    for weight in WEIGHTS:
        assert any(float(number) == weight for number in numbers), weight
    for reward, number in ("r_1", "r1"), ("r_2", "r2"), ("r_3", "r3"):
        assert f"{reward}\t{VALUE_ITERATION[number]:g}\t{LSPI[number]:g}" in text
    for side in ("3 x 3 with 7 pieces\t3,584\t3,317\t0.925", "4 x 4 with 7 pieces\t458,752\t892,062\t1.944"):
        assert side in text


def test_the_mis_added_value_of_figure_7() -> None:
    terms = {"V1": (472.39, 472.39, 475.18), "V2": (472.39, 469.97, 459.72), "V3": (472.39, 469.97, 458.04)}
    sums = {name: 0.8 * sum(values) / 3 for name, values in terms.items()}
    assert sums == pytest.approx({"V1": 378.656, "V2": 373.888, "V3": 373.440})


TABLE_4 = """
45.232 -0.37348 39.333 1.7828 2.1548 4.6361 -3.6278 -3.1456 -1.88584 0.43437 0.46786 -0.161435 1.3728 -0.37325 -6.5215
0.12630 -0.45505 -0.16362 0.18772 1285.25 -1669.6
"""


def test_the_papers_tables_are_as_printed(tmp_path: Path) -> None:
    """Figure 5, the iterations to converge, Table 2 and Table 4."""
    assert [(side, pieces, iterations) for _, side, pieces, iterations in GAMES] == [
        (3, "three", 20), (3, "seven", 18), (4, "three", 16), (4, "seven", 16),
    ]  # fmt: skip
    assert [rounds for _, rounds, _ in GREEDY] == [(4221.3, 1471, 10315), (321.5, 136, 642), (648.42, 434, 5714)]
    assert [s for *_, s in GREEDY] == [(32052.2, 12587, 87422), (2919.9, 1200, 5795), (5269.4, 3396, 46214)]
    assert VALUE_ITERATION == {"r1": 1450.7, "r2": 115.5, "r3": 307.2}
    assert LSPI == {"r1": 307.2, "r2": 276.05, "r3": 302.2}
    assert tuple(map(float, TABLE_4.split())) == WEIGHTS
    table = study(tmp_path).lspi_weights()
    assert [row[0] for row in table.rows] == [str(number) for number in range(1, 22)]
    assert [float(row[2].replace(",", "")) for row in table.rows] == pytest.approx(WEIGHTS, rel=1e-5)
    for column, variant in ((3, "10x10"), (4, "10x10-no-3x3")):
        shipped = json.loads((MODELS / f"lspi-{variant}.json").read_text(encoding="utf-8"))["weights"]
        shown = {row[1]: float(row[column].replace(",", "")) for row in table.rows}
        assert shown == {name: pytest.approx(weight, abs=0.01, rel=1e-3) for name, weight in shipped.items()}


def lengths_of(lengths: list[int], limit: int) -> Survival:
    numbers = np.array(lengths)
    return Survival(numbers, numbers < limit, 8 * numbers, np.full(len(lengths), -1, np.int32))


def curves() -> dict[tuple[int, str, float], Point]:
    """Rounds are 1000 times the side and 10 times the discount; a round scores the number of the reward."""
    return {
        (side, reward, discount): Point(None, 1000 * side + 10 * discount, (1000 * side + 10 * discount) * number)  # type: ignore[arg-type]
        for side in (3, 4) for number, reward in enumerate(("r1", "r2", "r3"), 1) for discount in DISCOUNTS
    }  # fmt: skip


def test_tables_of_curves(tmp_path: Path) -> None:
    table = study(tmp_path).curve_table(curves(), 4)
    assert table.title == "Figures 11 and 12: 4x4, seven pieces, by discount"
    assert study(tmp_path).curve_table(curves(), 3).title.startswith("Figures 9 and 10: 3x3")
    assert table.columns == ["policy", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]
    assert table.rows[3] == ["r2: rounds", *(f"{4000 + 10 * d:,.1f}" for d in DISCOUNTS)]
    assert table.rows[4] == ["r2: score", *(f"{2 * (4000 + 10 * d):,.0f}" for d in DISCOUNTS)]
    assert table.rows[5] == ["r2: score per round", *["2.00"] * 10]


def test_games_of_fixed_length_name_the_survivors(tmp_path: Path) -> None:
    scores = np.array([80, 100, 120, 100])
    whole = Played(np.full(4, 10_000), scores, 10_000)
    some = Played(np.array([10_000, 10, 10_000, 20]), scores, 10_000)
    half = 1.96 * statistics.stdev([80, 100, 120, 100]) / 2
    three = {
        (side, reward, discount): some if (side, reward, discount) == (4, "r2", 0.3) else whole
        for side in (3, 4) for reward in ("r1", "r2") for discount in DISCOUNTS
    }  # fmt: skip
    table = study(tmp_path).fixed_length(three)
    cell = f"100 ± {half:,.0f}"
    assert table.rows[0] == ["3x3, r1", *[cell] * 10]
    assert [row[0] for row in table.rows] == ["3x3, r1", "3x3, r2", "4x4, r1", "4x4, r2"]
    assert table.rows[3][3] == f"{cell} (2 of 4 alive)"
    assert "Mean score of 4 games of at most 10,000 rounds" in table.note


def test_learned_players_stand_beside_the_paper(tmp_path: Path) -> None:
    games = {(method, variant): lengths_of([100 * n for n in range(1, 41)], 10**6) for method, variant, _ in LEARNED}
    games["ntuple", "10x10"] = lengths_of([100_000] * 40, 100_000)
    rows = {row[0]: row[1:] for row in study(tmp_path).learned(games).rows}
    lspi = rows["lspi, 10x10"]
    half = 1.96 * statistics.stdev([100 * n for n in range(1, 41)]) / 40**0.5
    assert lspi[:3] == ["204.473, longest 517", "2,050", f"{2050 - half:,.0f} to {2050 + half:,.0f}"]
    assert lspi[3:5] == ["3,000", "4,000"]  # the longest of 20 is 2,000 and 4,000
    assert lspi[5].startswith(f"{1e6 * 40 / 82_000:,.1f} (")
    endless = rows["ntuple, 10x10"]
    assert endless[2].startswith("more than 1,08"), "40 games of 100,000 rounds and no death: 4,000,000 / 3.689"
    assert endless[5].startswith("0.0 (0.0 to 0.9")
    assert rows["lspi, 4x4-seven"][6] == f"{solve(TenTen(4, 4, 'seven')).mean_rounds:,.0f}"
    assert lspi[6] == ""


def test_claims_and_conclusion_name_what_was_found(tmp_path: Path) -> None:
    games = {(method, variant): lengths_of([300, 500], 10**6) for method, variant, _ in LEARNED}
    games["ntuple", "10x10"] = lengths_of([20_000, 10_000], 10**6)
    best = f"{solve(TenTen(4, 4, 'seven')).mean_rounds:,.1f}"
    table = Table("", ["game", "mean rounds"], [["5x5, full", "28.83"]], "")
    value, size, lspi = study(tmp_path).claims(curves(), games, table)  # type: ignore[arg-type]
    assert (value.ours, value.exact) == ("4,008.0 rounds by its policy", f"{best} rounds by the best")
    assert "comes to 4,010." in value.why
    assert size.exact == "28.83 rounds by the best, 19 pieces"
    assert (lspi.ours, lspi.verdict) == ("400 rounds", "holds")
    assert "comes to 15,000." in lspi.why
    games["lspi", "10x10"] = lengths_of([100, 307], 10**6)
    _, size, lspi = study(tmp_path).claims(curves(), games, Table("", [], [], ""))  # type: ignore[arg-type]
    assert lspi.verdict == "in part", "203.5 rounds"
    assert size.exact == "not computed in this size"
    words = study(tmp_path).conclusion(curves(), games)
    assert f"lasts 4,008.0 rounds (it says 1,450.7, from ten games), where {best} are possible" in words
    assert words.endswith("a network of n-tuples 15,000.")


def test_the_policies_of_three_pieces(tmp_path: Path) -> None:
    game = TenTen(3, 3, "three")
    steps = Boards(game).iterate("r2", 1.0)
    values = [next(steps)[0] for _ in range(20)][-1]  # the paper stops after about twenty iterations
    endless_policy = study(tmp_path).three_piece_policy(game, "r2", 1.0)
    assert np.array_equal(endless_policy.tables[0], values)
    discounted = study(tmp_path).three_piece_policy(game, "r2", 0.5)
    np.testing.assert_allclose(
        discounted.tables[0], solve(game, "r2", 0.5, precision=1e-8, evaluate=False).values, rtol=1e-6
    )


def test_figures_have_a_curve_per_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[tuple[str, str], tuple[Any, bool]] = {}
    lines = study_module.plots.lines

    def watched(axes: Any, found: Any, across: str, up: str, title: str = "", log_y: bool = False) -> None:
        assert across == "discount"
        drawn[title, up] = found, log_y
        lines(axes, found, across, up, title, log_y=log_y)

    monkeypatch.setattr(study_module.plots, "lines", watched)
    whole = Played(np.full(4, 10_000), np.array([80, 100, 120, 100]), 10_000)
    three = {(side, reward, d): whole for side in (3, 4) for reward in ("r1", "r2") for d in DISCOUNTS}
    eight, nine, eleven = study(tmp_path).figures(three, curves())
    assert [figure.caption.split(":")[0] for figure in (eight, nine, eleven)] == [
        "Figure 8", "Figures 9 and 10", "Figures 11 and 12",
    ]  # fmt: skip
    for words in ("3x3, r1", "4x4, r2", "mean score in 10,000 rounds"):
        assert words in eight.svg
    assert "3x3: score" in nine.svg
    assert "4x4: rounds" in eleven.svg
    names = [f"{side}x{side}, {reward}" for side in (3, 4) for reward in ("r1", "r2")]
    assert drawn.pop(("", "mean score in 10,000 rounds")) == (
        {name: (DISCOUNTS, [100.0] * 10) for name in names},
        False,
    )
    rounds = {side: [1000 * side + 10 * discount for discount in DISCOUNTS] for side in (3, 4)}
    assert drawn == {
        (f"{side}x{side}: {what}", f"mean {what}"): (
            {
                reward: (DISCOUNTS, [(number if what == "score" else 1) * mean for mean in rounds[side]])
                for number, reward in enumerate(("r1", "r2", "r3"), 1)
            },
            side == 4,  # on 4x4 the rewards differ by orders of magnitude
        )
        for side in (3, 4) for what in ("score", "rounds")
    }  # fmt: skip


def test_finished_tables_are_not_made_again(tmp_path: Path) -> None:
    file = tmp_path / "x.table"
    assert not _finished(file)
    solve(TenTen(3, 3, "seven"), file=file)
    assert _finished(file)
    file.write_bytes(file.read_bytes()[:100])
    assert not _finished(file)


def test_the_policies_of_table_2_are_played_and_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def play(self: TablePolicy, games: int, seed: int = 0) -> Played:
        asked.append(games)
        return Played(np.array([10, 20, 30]), np.array([1, 2, 3]), 10**9)

    solution = solve(TenTen(3, 3, "seven"), "r1", 0.8, precision=1e-4, evaluate=False)
    solved = {(side, reward, 0.8): Point(solution, side, 1.0) for side in (3, 4) for reward in ("r1", "r2", "r3")}
    monkeypatch.setattr(TablePolicy, "play", play)
    table = study(tmp_path).policies(solved)
    assert asked == [1000] * 7 + [100]
    assert [row[0] for row in table.rows] == [
        *("3x3, r1", "3x3, r2", "3x3, r3", "3x3, survival"),
        *("4x4, r1", "4x4, r2", "4x4, r3", "4x4, survival"),
    ]
    assert [row[1] for row in table.rows] == ["", "", "", "", "1,450.7", "115.5", "307.2", ""]
    assert [row[3] for row in table.rows[:3]] == ["3.00"] * 3
    best = [solve(TenTen(side, side, "seven")).mean_rounds for side in (3, 4)]
    assert [table.rows[3][3], table.rows[7][3]] == [f"{rounds:,.2f}" for rounds in best]
    assert "1,000 games each (100 for survival on 4x4)" in table.note
    assert {row[2] for row in table.rows} == {_rounds(play(None, 1))}  # type: ignore[arg-type]


def test_the_table_of_the_longest_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 3x3: the known mean, bounds around it, and games that agree with it."""
    offered: list[list[tuple[int, str]]] = []

    def first(todo: list[tuple[int, str]], *_: object) -> list[tuple[int, str]]:
        offered.append(todo)
        return todo[:1]

    monkeypatch.setattr("rookery.games.tenten.study.steps", first)
    table = study(tmp_path).survival()
    Study(SIZES["default"], 1, tmp_path, Console(stderr=True, quiet=True)).survival()
    assert offered[0] == [(3, "seven"), (4, "seven"), (4, "full")]
    assert offered[1] == [*offered[0], (5, "full"), (5, "seven")]
    row = table.rows[0]
    assert len(table.rows) == 3
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert row[:2] == ["3x3, seven", "69.83"]
    mean = solve(TenTen(3, 3, "seven")).mean_rounds
    low, high = (float(bound) for bound in row[2].split(" to "))
    assert low <= mean <= high
    assert high - low < 1e-5
    assert float(row[3]) == pytest.approx(1e6 / (mean + 1), rel=1e-5)  # every game ends with one more draw
    played, games = row[4].split(", ", 1)
    assert games == f"{int(1e6 / mean):,} games"  # about a million rounds
    average, half = numbers(played)
    assert abs(average - mean) < 2 * half
    assert int(row[5]) > 10


def test_only_large_tables_are_kept_and_long_games_are_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Players that last 999,999 or a million rounds: the first play enough games for 20 million rounds, at least
    20, the second 16 games of at most 2 million rounds."""
    mean = 0.0
    solved: list[tuple[int, Path | None]] = []
    played: list[tuple[int, ...]] = []

    class Solution:
        mean_rounds_interval = (1.0, 2.0)
        sweeps, seconds = 7, 1.25

        def __init__(self) -> None:
            self.mean_rounds, self.policy = mean, self

        def play(self, *given: int) -> Played:
            played.append(given)
            return Played(np.array([5, 2_000_000]), np.array([1, 1]), 2_000_000)

    def solve(game: TenTen, file: Path | None = None) -> Solution:
        solved.append((game.rows, file))
        return Solution()

    monkeypatch.setattr(study_module, "solve", solve)
    whole = Study(SIZES["default"], 9, tmp_path, Console(stderr=True, quiet=True))
    for mean, given in ((1e6 - 1, (20, 9)), (1e6, (16, 9, 2_000_000)), (1e5, (200, 9)), (10.0, (20_000, 9))):
        played.clear()
        table = whole.survival()
        assert played == [given] * 5
        assert {row[4] for row in table.rows[:5]} == (
            {"1 deaths in 2,000,005 rounds"} if mean == 1e6 else {f"2,000,005.0 ± {_half():,.1f}, {given[0]:,} games"}
        )
        assert [row[5:] for row in table.rows[:5]] == [["7", "1.2"]] * 5
    kept = [tmp_path / f"survival-5x5-{pieces}.table" for pieces in ("full", "seven")]
    assert solved[:5] == [(3, None), (4, None), (4, None), *((5, file) for file in kept)]


def _half() -> float:
    """Half of the interval of rounds per death, with one death in 2,000,005 rounds."""
    _, low, high = Played(np.array([5, 2_000_000]), np.array([1, 1]), 2_000_000).mean_rounds
    return (high - low) / 2


def test_games_and_points_for_every_discount(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is to be done, of which a few on 3x3 are."""
    offered = []

    def some(todo: list[tuple[int, str, float]], *_: object) -> list[tuple[int, str, float]]:
        offered.append(todo)
        return [(side, reward, discount) for side, reward, discount in todo if side == 3 and discount == 0.8]

    monkeypatch.setattr("rookery.games.tenten.study.steps", some)
    quick, default = study(tmp_path), Study(SIZES["default"], 1, tmp_path, Console(stderr=True, quiet=True))
    for one, games in ((quick, 20), (default, 200)):
        three = one.three_pieces()
        assert set(three) == {(3, "r1", 0.8), (3, "r2", 0.8)}
        for (side, reward, discount), played in three.items():
            policy = solve(TenTen(side, side, "three"), reward, discount, evaluate=False).policy
            assert played.rounds.tolist() == policy.play(games, 1, 10_000).rounds.tolist()
            assert played.max_rounds == 10_000
    seven = quick.seven_pieces()
    # The paper's discount: 52.6, 20.3 and 52.6 rounds.
    rounds = {reward: point.rounds for (_, reward, _), point in seven.items()}
    assert rounds == pytest.approx({"r1": 52.6, "r2": 20.3, "r3": 52.6}, abs=0.05)
    for (_, reward, _), point in seven.items():
        played = solve(TenTen(3, 3, "seven"), reward, 0.8).policy.play(20_000, seed=2)
        assert point.score == pytest.approx(played.scores.mean(), rel=0.05)
    tenths = [n / 10 for n in range(1, 11)]
    assert offered[0] == [(side, reward, d) for side in (3, 4) for reward in ("r1", "r2") for d in tenths]
    assert offered[2] == [(side, reward, d) for side in (3, 4) for reward in ("r1", "r2", "r3") for d in tenths]


def test_a_row_of_iterations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.games.tenten.study.steps", lambda games, *_: games[:1])
    table = study(tmp_path).iterations()
    boards = Boards(TenTen(3, 3, "three"))
    found = [boards.iterations_to_converge(reward, 0.8) for reward in ("r1", "r2", "r3")]
    assert table.rows == [["Game 1: 3x3, three", "20", *(f"{last} of {made}" for last, made in found)]]
    assert f"{min(made for _, made in found)} to {max(made for _, made in found)} of them" in table.note


def test_every_learned_player_has_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def play(method: str, variant: str, games: int, seed: int, limit: int) -> dict[str, list[int]]:
        asked.append((method, variant))
        return {"lengths": [games, limit], "ended": [1, 0], "scores": [seed, 7], "fatal": [2, -1]}

    monkeypatch.setattr(study_module, "play_learned", play)
    found = study(tmp_path).learned_games()
    assert list(found) == asked == [(method, variant) for method, variant, _ in LEARNED]
    for survival in found.values():
        assert survival.lengths.tolist() == [40, 100_000]
        assert survival.scores.tolist() == [1, 7]
        assert survival.fatal.tolist() == [2, -1]

    def fail(**settings: Any) -> None:
        raise ValueError("no weights")

    monkeypatch.setattr(study_module, "play_learned", fail)
    with pytest.raises(ValueError, match=r"games of lspi 4x4-seven failed: .*no weights"):
        study(tmp_path).learned_games()


def test_a_learned_player_plays_as_many_games_as_asked_for() -> None:
    found = study_module.play_learned("lspi", "4x4-seven", 5, 2, 30)
    assert set(found) == {"lengths", "ended", "scores", "fatal"}
    assert all(len(values) == 5 for values in found.values())
    assert max(found["lengths"]) <= 30
    assert all(ended for length, ended in zip(found["lengths"], found["ended"], strict=True) if length < 30)


def test_scores_have_an_interval() -> None:
    """Scores of 10, 20 and 60: a mean of 30, and a standard error of the square root of 700 / 3."""
    played = Played(np.array([3, 4, 5]), np.array([10, 20, 60]), 100)
    assert study_module._score(played) == f"30 ± {1.96 * (700 / 3) ** 0.5:,.0f}"
