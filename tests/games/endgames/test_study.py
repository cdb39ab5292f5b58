"""The study of the endgames, small."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from rookery.games.endgames import study as endgames
from rookery.games.endgames.q_learning import VERSIONS, perfect_engine
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


def test_the_whole_study_hands_over_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(endgames.PLANS, "quick", endgames.Plan(starts=2, runs=1, matches=60))
    result = endgames.run(SIZES["quick"], 0, tmp_path, Console(quiet=True))
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
