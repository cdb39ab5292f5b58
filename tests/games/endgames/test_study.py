"""The study of the endgames, small."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress, TaskID

from rookery.games.endgames import study as endgames
from rookery.games.endgames.perfect import Point
from rookery.games.endgames.q_learning import CHECKMATE, POTENTIAL_VERSIONS, VERSIONS, Batch, perfect_engine
from rookery.games.endgames.tables import tables
from rookery.studies.sizes import SIZES


def test_start_positions_are_the_paper_s_kind() -> None:
    for material in endgames.ENDGAMES.values():
        starts = endgames.start_positions(material, 10, seed=3)
        assert len({str(start.state) for start in starts}) == 10
        for start in starts:
            men = [(i % 8, i // 8) for i, letter in enumerate(start.state.letters) if letter != "."]
            gaps = [max(abs(a - c), abs(b - d)) for i, (a, b) in enumerate(men) for c, d in men[:i]]
            assert min(gaps) > 1
            assert start.state.player() == 0
            dtm = tables(material).dtm(start.state)
            assert dtm is not None
            assert start.exact == (dtm + 1) // 2
        assert [str(s.state) for s in starts] == [str(s.state) for s in endgames.start_positions(material, 10, seed=3)]


def test_perfect_play_out_takes_the_exact_distance() -> None:
    for material in endgames.ENDGAMES.values():
        engine = perfect_engine(tables(material).native)
        for start in endgames.start_positions(material, 5, seed=1):
            assert endgames.play_out(start.state, engine, engine) == start.exact


def test_wins_and_extra_moves_of_a_batch(tmp_path: Path) -> None:
    with Progress(disable=True) as progress:
        grid = endgames.Grid(tmp_path, endgames.Plan(starts=2, runs=2, matches=300), 1, progress)
        grid.run({"Stockfish Decaying": VERSIONS["Stockfish Decaying"]})
        batches = list(grid.batches(["Stockfish Decaying"], ["King and Queen"]))
        assert len(batches) == 2
        curve = endgames.win_curve(batches)
        assert curve[-1] == pytest.approx(100 * sum(batch.won.sum() for _, batch in batches) / (4 * 300))
        assert min(endgames.extra_moves(batches)) >= 0, "nobody mates the perfect defender faster than the tables"
        assert grid.solved("Stockfish Decaying", "King and Queen") == (4, 4)
        again = endgames.Grid(tmp_path, endgames.Plan(starts=2, runs=2, matches=300), 1, progress)
        again.run({"Stockfish Decaying": VERSIONS["Stockfish Decaying"]})
        assert endgames.win_curve(again.batches(["Stockfish Decaying"], ["King and Queen"])).tolist() == curve.tolist()


class Bars(Progress):
    """Notes what every bar had come to when it was taken away."""

    ends: ClassVar[dict[str, tuple[float, float | None]]] = {}

    def remove_task(self, task_id: TaskID) -> None:
        (task,) = (task for task in self.tasks if task.id == task_id)
        self.ends[task.description] = task.completed, task.total
        super().remove_task(task_id)


def test_the_whole_study_hands_over_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(endgames.PLANS, "quick", endgames.Plan(starts=2, runs=1, matches=60))
    monkeypatch.setattr(endgames, "Progress", Bars)
    result = endgames.run(SIZES["quick"], 0, tmp_path, Console(quiet=True))
    assert len(Bars.ends) >= 4
    assert all(completed == total for completed, total in Bars.ends.values()), Bars.ends
    assert [table.title[:9] for table in result.tables[:1]] == ["Table 3.2"]
    solved = result.tables[0]
    assert [row[1] for row in solved.rows[:4]] == ["100.0%", "100.0%", "99.0%", "100.0%"], "the paper's first column"
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)
    assert len(result.figures) == 9
    perfection = result.tables[-1]
    assert [row[0] for row in perfection.rows] == ["KQK", "KRK"]
    assert all(row[5:7] == ["100.000%", "100.000%"] for row in perfection.rows)
    assert all(figure.svg.startswith("<svg") for figure in result.figures)
    assert (tmp_path / "figure-3.4.svg").exists()
    run = tmp_path / "runs" / "heuristic-static" / "KBBK" / "start-01"
    assert {file.name for file in (run / "run-01").iterdir()} == {"results.csv", "log.txt", "q-table-strong.npz"}


@pytest.mark.slow
def test_every_decaying_cell_of_table_3_2_is_solved_with_the_heuristic_s_knowledge(tmp_path: Path) -> None:
    with Progress(disable=True) as progress:
        grid = endgames.Grid(tmp_path, endgames.Plan(), 0, progress)
        grid.run({"Potential Decaying": endgames.POTENTIAL, "Heuristic Decaying": VERSIONS["Heuristic Decaying"]})
    for endgame in endgames.ENDGAMES:
        assert grid.solved("Potential Decaying", endgame) == (100, 100)
    assert grid.solved("Heuristic Decaying", "King and Bishops")[0] < 40


def test_cells_in_processes_are_those_made_here(tmp_path: Path) -> None:
    versions = dict(list(VERSIONS.items())[:2])
    grids = []
    for on in ("here", "processes:2"):
        with Progress(disable=True) as progress:
            grid = endgames.Grid(tmp_path / on, endgames.Plan(starts=1, runs=2, matches=5), 1, progress)
            grid.run(versions, on)
            grids.append(grid)
    here, apart = (
        {cell: [batch.moves.tolist() for _, batch in runs] for cell, runs in grid.cells.items()} for grid in grids
    )
    assert here == apart


TABLE_3_1 = """
Stockfish Static A - 21 - 26 24 19 20 - 22 20 27
Stockfish Decaying A - 25 27 27 23 15 23 23 21 20 22
Heuristic Static A - - - - - - - - - - -
Heuristic Decaying A - - - - - - - - - - -
Stockfish Static B 49 22 20 22 19 - 18 20 27 19 21
Stockfish Decaying B 49 20 22 21 24 13 19 16 23 24 20
Heuristic Static B 49 - - - - - - - - - -
Heuristic Decaying B 49 - - - - - 18 - - 28 -
"""
TABLE_3_2 = """
Stockfish Static 100.0 93.0 82.0
Stockfish Decaying 100.0 100.0 100.0
Heuristic Static 99.0 47.5 5.0
Heuristic Decaying 100.0 58.0 7.0
"""


def test_the_papers_tables_are_as_printed() -> None:
    cases = {}
    for line in TABLE_3_1.split("\n")[1:-1]:
        words = line.split()
        cases[words[2], " ".join(words[:2])] = " ".join(words[4:])  # after the moves of Stockfish itself
    assert cases == endgames.PAPER_CASES
    rows = [line.split() for line in TABLE_3_2.split("\n")[1:-1]]
    assert {" ".join(row[:2]): tuple(map(float, row[2:])) for row in rows} == endgames.PAPER_SOLVED
    assert endgames.PARAMETER_SETS[:2] == ((0.05, 0.95, 0.003), (0.05, 0.9, 0.003))
    assert (endgames.Plan().starts, endgames.Plan().runs, endgames.Plan().matches) == (10, 10, 5000)
    assert endgames.DEEP == 25


WON, LOST = CHECKMATE, 0
BATCHES = {
    # Two runs of four matches: moves, endings, and the solutions.
    "good": Batch(np.array([[9, 8, 7, 6], [9, 9, 5, 5]], np.int16),
                  np.array([[LOST, WON, WON, WON], [WON, WON, WON, WON]], np.uint8), np.array([6, 5], np.int16)),
    "bad": Batch(np.array([[9, 9, 9, 9], [9, 9, 9, 7]], np.int16),
                 np.array([[LOST, LOST, LOST, LOST], [LOST, LOST, LOST, WON]], np.uint8), np.array([-1, 7], np.int16)),
}  # fmt: skip


@pytest.fixture
def grid(tmp_path: Path) -> endgames.Grid:
    """Two starts with an exact distance of 5 and 7 moves; every agent is good with the queen and bad with bishops."""
    with Progress(disable=True) as progress:
        made = endgames.Grid(tmp_path, endgames.Plan(starts=2, runs=2, matches=4), 0, progress)
    for endgame, starts in made.starts.items():
        made.starts[endgame] = [endgames.Start(start.state, n, n + 1) for start, n in zip(starts, (5, 7), strict=True)]
        kinds = {
            "King and Queen": ("good", "good"),
            "King and Rook": ("good", "bad"),
            "King and Bishops": ("bad", "bad"),
        }
        for version in (*VERSIONS, *POTENTIAL_VERSIONS):
            pairs = zip(made.starts[endgame], kinds[endgame], strict=True)
            made.cells[version, endgame] = [(start, BATCHES[kind]) for start, kind in pairs]
    return made


def test_curves_and_moves_of_several_runs(grid: endgames.Grid) -> None:
    queen = grid.batches(["Heuristic Static"], ["King and Queen"])
    mixed = grid.batches(["Heuristic Static"], ["King and Rook"])
    good, bad = [50, 75, 250 / 3, 87.5], [0, 0, 0, 12.5]
    assert endgames.win_curve(queen) == pytest.approx(good)
    assert endgames.win_curve(mixed) == pytest.approx([(a + b) / 2 for a, b in zip(good, bad, strict=True)])
    # The runs that were solved: both good ones, and the second bad one, which won the last match of four.
    assert endgames.win_curve(mixed, solved_only=True) == pytest.approx([100 / 3, 50, 500 / 9, (75 + 100 + 25) / 3])
    hopeless = Batch(BATCHES["bad"].moves[:1], BATCHES["bad"].endings[:1], BATCHES["bad"].solutions[:1])
    nothing = endgames.win_curve([(grid.starts["King and Rook"][0], hopeless)], solved_only=True)
    assert np.isnan(nothing).all()
    assert nothing.shape == (4,)
    won = [8, 7, 6, 9, 9, 5, 5]
    assert endgames.extra_moves(queen).tolist() == [*(n - 5 for n in won), *(n - 7 for n in won)]
    assert endgames.extra_moves(queen, "stockfish").tolist() == [*(n - 6 for n in won), *(n - 8 for n in won)]
    unknown = [(endgames.Start(start.state, 5), batch) for start, batch in queen]
    assert endgames.extra_moves(unknown, "stockfish").tolist() == []
    assert len(endgames.together(grid.cells, VERSIONS, ["King and Queen", "King and Rook"])) == 4 * 2 * 2


def test_tables_of_solved_runs_and_of_their_quality(grid: endgames.Grid) -> None:
    assert [grid.solved("Heuristic Static", endgame) for endgame in endgames.ENDGAMES] == [(4, 4), (3, 4), (2, 4)]
    assert endgames.solved_shares(grid, "Heuristic Static") == "100%, 75%, 50%"
    assert endgames._optimal(grid, "Heuristic Static") == "44%"  # 4 of 9
    solved = endgames.solved_table(grid, "command")
    assert [row[0] for row in solved.rows] == [*VERSIONS, *POTENTIAL_VERSIONS]
    assert solved.rows[2] == [
        "Heuristic Static", "99.0%", endgames.percent(4, 4), "47.5%", endgames.percent(3, 4), "5.0%",
        endgames.percent(2, 4),
    ]  # fmt: skip
    assert solved.rows[-1][1::2] == ["-", "-", "-"]
    quality = {tuple(row[:2]): row[2:] for row in endgames.quality_table(grid, "command").rows}
    # With the queen 7 of 8 matches are won; the solutions need 6 - 5, 5 - 5, 6 - 7 and 5 - 7 moves more.
    assert quality["Heuristic Static", "King and Queen"] == ["87.5%", "87.5%", "-0.50", endgames.percent(1, 4)]
    assert quality["Heuristic Static", "King and Bishops"] == ["12.5%", "12.5%", "1.00", endgames.percent(1, 2)]


def test_special_cases_are_the_two_longest(grid: endgames.Grid) -> None:
    with Progress(disable=True) as progress:
        table = endgames.cases_table(grid, None, "command", progress)
    first, second = (str(start.state) for start in grid.starts["King and Bishops"])
    assert f"A is {second}, B is {first}." in table.note, "mate in 7 comes before mate in 5"
    assert [row[0] for row in table.rows[:2]] == ["Stockfish Static A", "Stockfish Decaying A"]
    assert table.rows[0][1:] == ["7", "- 7", endgames.PAPER_CASES["A", "Stockfish Static"]]
    half = len(VERSIONS) + len(POTENTIAL_VERSIONS)
    assert table.rows[half + 3][:3] == ["Heuristic Decaying B", "5", "- 7"]
    assert table.rows[half + 3][3] == endgames.PAPER_CASES["B", "Heuristic Decaying"]
    assert table.rows[-1][3] == ""
    assert len(table.rows) == 2 * half


def test_claims_follow_from_the_runs(grid: endgames.Grid) -> None:
    engine, simple = endgames.claims(grid)
    assert engine.verdict == "in part"
    assert engine.ours == "100%, 75%, 50%; 44% of the mates are shortest"
    assert engine.exact == "mate in 6.0, 6.0, 6.0 moves"
    assert simple.verdict == "holds"
    assert simple.ours == "50%; as a potential 50%"
    assert "7% of runs with bishops" in simple.claim
    good = [(start, BATCHES["good"]) for start in grid.starts["King and Bishops"]]
    for version in ("Stockfish Decaying", "Potential Decaying"):
        for endgame in endgames.ENDGAMES:
            grid.cells[version, endgame] = good
    engine, simple = endgames.claims(grid)
    assert (engine.verdict, simple.verdict) == ("holds", "in part")
    assert simple.ours == "50%; as a potential 100%"


def test_the_table_of_perfection_names_the_backups_of_each_share(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = ((1_000_000, 0.5), (2_500_000, 0.95), (4_000_000, 1.0))
    points = [Point(0, n, n / 1e6, share, share / 2, False) for n, share in shares]
    table = endgames.perfection_table({"KQK": points, "KRK": points[:1]}, "command")
    assert table.rows == [
        ["KQK", "1.0 M", "2.5 M", "4.0 M", "4.0 M", "100.000%", "50.000%", "4.0"],
        ["KRK", "1.0 M", "-", "-", "-", "50.000%", "25.000%", "1.0"],
    ]
    drawn: list[Any] = []
    lines = endgames.plots.lines

    def watched(axes: Any, curves: Any, *words: Any, **options: Any) -> None:
        drawn.append(curves)
        lines(axes, curves, *words, **options)

    monkeypatch.setattr(endgames.plots, "lines", watched)
    svg = endgames.perfection_figure({"KQK": points, "KRK": points[:1]}).svg
    assert "played optimally (%)" in svg
    # Light and dark show the same: every curve ends at the whole of its backups.
    assert drawn
    assert all(curves == {"KQK": ([0.25, 0.625, 1.0], [50, 95, 100]), "KRK": ([1.0], [50])} for curves in drawn)


def test_positions_on_which_an_engine_is_checked_are_won_and_leave_a_choice() -> None:
    for player in (0, 1):
        found = list(endgames.won_positions("KRK", player, 6, 2))
        assert len({str(state) for state in found}) == 6
        for state in found:
            assert state.player() == player
            assert len(state.legal_actions()) > 1
            assert tables("KRK").dtm(state) is not None


def test_curves_are_thinned_to_what_the_eye_can_see() -> None:
    xs, ys = endgames._matches(np.arange(5000.0))
    assert (xs[0], ys[0], xs[-1], ys[-1]) == (1, 0, 5000, 4999)
    assert len(xs) == 250
    assert all(x == y + 1 for x, y in zip(xs, ys, strict=True))
    assert endgames._matches(np.array([5.0, 6.0])) == ([1, 2], [5.0, 6.0])


def test_a_defence_holds_if_it_is_not_mated() -> None:
    """With bare kings and a rook the perfect attacker mates whoever knows nothing; a drawn pawn ending it does not
    always win."""
    start = endgames.start_positions("KRK", 1, 0)[0].state
    nothing = endgames.LearnedTable(np.zeros(0, np.uint64), np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0))
    assert not endgames.holds(start, nothing, perfect_engine(tables("KRK").native))


def test_best_moves_of_a_defence_are_counted_along_its_game() -> None:
    start = endgames.start_positions("KRK", 1, 4)[0].state
    table = tables("KRK")
    nothing = endgames.LearnedTable(np.zeros(0, np.uint64), np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0))
    good = total = 0
    state = start.clone()
    while state.player() >= 0:
        best = table.best_moves(state)
        action = best[0] if state.player() == 0 else state.legal_actions()[0]
        if state.player() == 1:
            good, total = good + (action in best), total + 1
        state.apply(action)
    assert total > 1
    assert endgames.best_move_share(start, nothing, table) == (good, total)


def test_black_learns_and_pawns_are_won_or_held(tmp_path: Path) -> None:
    plan = endgames.Plan(starts=2, runs=2, matches=120)
    with Progress(disable=True) as progress:
        grid = endgames.Grid(tmp_path, plan, 0, progress)
        beyond = endgames.beyond_table(grid, "command", progress)
        pawns = endgames.pawn_table(plan, 0, "command", progress)
    assert [row[0] for row in beyond.rows] == [name for name in endgames.ENDGAMES for _ in range(2)]
    assert [row[1][:5] for row in beyond.rows] == ["Black", "both,"] * 3
    for endgame, row in zip([name for name in endgames.ENDGAMES for _ in range(2)], beyond.rows, strict=True):
        assert row[4] == f"{np.mean([start.exact for start in grid.starts[endgame]]):.1f}"
        if row[1].startswith("Black"):
            assert row[6] == "-"
            assert float(row[2]) >= 1
        else:
            assert row[6] in {endgames.percent(won, 4) for won in range(5)}
    assert [row[1] for row in pawns.rows] == [
        "Stockfish Decaying", "Heuristic Decaying", "Potential Decaying", "Potential Decaying",
    ]  # fmt: skip
    assert all(row[2] in {endgames.percent(able, 4) for able in range(5)} for row in pawns.rows)
    assert all(0 <= float(row[3].rstrip("%")) <= 100 for row in pawns.rows)


class Knowing:
    """An engine that knows the tables: it plays the best or the worst move, and announces mates later than they are."""

    version, depth = "an engine", 7

    def __init__(self, best: bool, late: int, announces: bool = True) -> None:
        self.best, self.late, self.announces = best, late, announces

    def native(self) -> Knowing:
        return self

    def ask(self, state: Any) -> tuple[int, bool, int]:
        table = tables(state.game.material)
        good = table.best_moves(state)
        others = [action for action in state.legal_actions() if action not in good]
        action = good[0] if self.best or not others else others[0]
        plies = abs(table.dtm(state) or 0)
        return action, self.announces, plies // 2 + plies % 2 + self.late


@pytest.mark.parametrize(
    ("engine", "shares"),
    [
        (Knowing(True, 0), ["100.0%", "100.0%", "100.0%", "0.0%"]),
        (Knowing(True, 1), ["100.0%", "100.0%", "100.0%", "100.0%"]),
        (Knowing(True, -1), ["100.0%", "100.0%", "100.0%", "0.0%"]),
        (Knowing(True, 1, announces=False), ["100.0%", "100.0%", "0.0%", "0.0%"]),
    ],
)
def test_an_engine_beside_the_exact_tables(engine: Knowing, shares: list[str]) -> None:
    plan = endgames.Plan(sample=6)
    Bars.ends.clear()
    with Bars(disable=True) as bars:
        table = endgames.optimality_table(plan, engine, 1, "command", bars)
    assert [row[0] for row in table.rows] == list(endgames.ENDGAMES)
    assert set(Bars.ends.values()) == {(12, 12)}
    for row in table.rows:
        assert [cell.split(" (")[0] for cell in row[1:5]] == shares
        assert row[5] == ("12" if engine.late < 0 else "0")
        assert row[1] == endgames.percent(6, 6)
        assert row[3] == endgames.percent(12 * engine.announces, 12)
    assert "an engine at depth 7 on 6 random won positions" in table.note


def test_moves_that_are_not_the_best_are_counted() -> None:
    with Progress(disable=True) as progress:
        table = endgames.optimality_table(endgames.Plan(sample=20), Knowing(False, 0), 1, "command", progress)
    for row in table.rows:
        assert float(row[1].split("%")[0]) < 50, "White has a choice of moves, and few of them are the best"


def test_means_and_draws_in_words() -> None:
    assert endgames.mean_or_draws([3, 4, 4]) == "3.7"
    assert endgames.mean_or_draws([3, None, 5, None]) == "4.0 and 2 drawn"
    assert endgames.mean_or_draws([None]) == "- and 1 drawn"


def distances(grid: endgames.Grid, endgame: str) -> list[int]:
    """White's moves to mate from the starts of an endgame, by the tables."""
    table = tables(endgames.ENDGAMES[endgame])
    return [((table.dtm(start.state) or 0) + 1) // 2 for start in grid.starts[endgame]]


def test_an_engine_from_the_same_starts(grid: endgames.Grid) -> None:
    """One that plays perfectly needs the exact distance, against itself and against the perfect defender."""
    Bars.ends.clear()
    with Bars(disable=True) as bars:
        assert endgames.stockfish_moves(grid.starts["King and Rook"], Knowing(True, 0), bars) == distances(
            grid, "King and Rook"
        )
        table = endgames.reference_table(grid, Knowing(True, 0), "command", bars)
    assert set(Bars.ends.values()) == {(2, 2)}
    solutions = {"King and Queen": ([6, 5], [6, 5]), "King and Rook": ([6, 5], [7]), "King and Bishops": ([7], [7])}
    optimal = {"King and Queen": 1, "King and Rook": 2, "King and Bishops": 1}  # beside 5 and 7 moves
    for row in table.rows:
        needed = distances(grid, row[0])
        mean = f"{sum(needed) / 2:.1f}"
        assert row[1:4] == ["6.0", mean, mean]
        ours = [(moves, least) for runs, least in zip(solutions[row[0]], needed, strict=True) for moves in runs]
        assert row[4] == endgames.percent(sum(moves < least for moves, least in ours), len(ours))
        assert row[5] == endgames.percent(optimal[row[0]], len(ours))
    assert [row[0] for row in table.rows] == list(endgames.ENDGAMES)


def test_any_solution_is_better_than_that_of_an_engine_that_never_mates(
    grid: endgames.Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endgames, "play_out", lambda *_: None)
    with Progress(disable=True) as progress:
        table = endgames.reference_table(grid, Knowing(True, 0), "command", progress)
    assert [row[2:5] for row in table.rows] == [
        ["- and 2 drawn", "- and 2 drawn", endgames.percent(count, count)] for count in (4, 3, 2)
    ]


def test_special_cases_are_those_that_trouble_an_engine_most(
    grid: endgames.Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second start is drawn, which is worse than 9 moves where 5 suffice; deeper, they take 14 and 18."""
    asked: list[Any] = []

    class Deep:
        def __init__(self, depth: int, path: str, cache: str) -> None:
            asked.append((depth, path, cache))

        def __enter__(self) -> Deep:
            return self

        def __exit__(self, *_: object) -> None:
            asked.append("closed")

    def moves(starts: Any, stockfish: Any, progress: Any) -> list[int | None]:
        if isinstance(stockfish, Deep):
            assert starts == [grid.starts["King and Bishops"][i] for i in (1, 0)]
            return [14, 18]
        return [9, None]

    monkeypatch.setattr(endgames, "Stockfish", Deep)
    monkeypatch.setattr(endgames, "stockfish_moves", moves)
    engine: Any = Knowing(True, 0)
    engine.path, engine.cache = "a path", "a cache"
    with Progress(disable=True) as progress:
        table = endgames.cases_table(grid, engine, "command", progress)
    assert asked == [(25, "a path", "a cache"), "closed"]
    first, second = (str(start.state) for start in grid.starts["King and Bishops"])
    assert f"A is {second}, B is {first}." in table.note
    assert table.rows[0][:5] == ["Stockfish Static A", "7", "-", "14", "- 7"]
    assert table.rows[len(VERSIONS) + len(POTENTIAL_VERSIONS)][:5] == ["Stockfish Static B", "5", "9", "18", "- 7"]
    assert table.columns[2:4] == ["Stockfish", "at depth 25"]
    monkeypatch.setattr(endgames, "stockfish_moves", lambda starts, *_: [8, 8])
    with Progress(disable=True) as progress:
        again = endgames.cases_table(grid, engine, "command", progress)
    assert f"A is {first}, B is {second}." in again.note, "3 moves too many are worse than 1"


def test_the_conclusion_names_what_is_played_perfectly(grid: endgames.Grid) -> None:
    def curve(*shares: float) -> list[Point]:
        return [Point(0, 0, 0, share, share, False) for share in shares]

    words = endgames.conclusion(grid, {"KQK": curve(0.5, 1), "KRK": curve(1, 0.9), "KBBK": curve(1)})
    assert words.endswith("plays every won position of KQK and KBBK perfectly.")
    assert words.count("100%, 75%, 50%") == 3
    assert " 44% of the mates" in words
    captions = [figure.caption for figure in endgames.examples_figures(grid)]
    assert captions == [f"Figure 3.3: {name}, mate in 5: {starts[0].state}" for name, starts in grid.starts.items()]


def test_late_announcements_are_a_share_of_those_made() -> None:
    """An engine that announces mates, too late, where White is to move only: of two positions, one."""

    class OnlyWhite(Knowing):
        def ask(self, state: Any) -> tuple[int, bool, int]:
            action, _, moves = super().ask(state)
            return action, state.player() == 0, moves

    with Progress(disable=True) as progress:
        table = endgames.optimality_table(endgames.Plan(sample=1), OnlyWhite(True, 1), 1, "command", progress)
    for row in table.rows:
        assert row[3:5] == [endgames.percent(1, 2), endgames.percent(1, 1)]
