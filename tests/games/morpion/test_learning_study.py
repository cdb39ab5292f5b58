from __future__ import annotations

import io
import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rookery.games.morpion import MODELS
from rookery.games.morpion import learning_study as study
from rookery.games.morpion.search import Campaign, CampaignSettings

CONSOLE = Console(file=io.StringIO())


@pytest.fixture(scope="module")
def nrpa(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    campaign = Campaign(CampaignSettings("5D", "nrpa", 1, 3), tmp_path_factory.mktemp("nrpa") / "runs.json")
    campaign.go(runs=5)
    return campaign


def test_the_table_has_the_paper_the_run_nrpa_and_the_record(nrpa: Campaign, tmp_path: Path) -> None:
    table, figure = study.parts("quick", 1, tmp_path, CONSOLE, nrpa, "rookery reproduce morpion --quick")
    best = {row[0]: row[4] for row in table.rows}
    assert best["the paper's system"] == "67"
    assert best["record"] == "82"
    assert best["NRPA level 1 alone"] == str(max(run.score for run in nrpa.runs))
    assert list(tmp_path.iterdir()) == []  # the quick size trains nothing
    for name in ("the net alone, mean", "the record", "improved system, mean", "system, mean"):
        assert name in figure.svg


def test_what_is_said_of_the_net_that_ships_hangs_together() -> None:
    pytest.importorskip("torch")
    from rookery.games.morpion import zero as morpion_zero

    said = json.loads((MODELS / "5D.json").read_text())
    _, settings, metrics = morpion_zero.load_model(MODELS / "5D.safetensors")
    assert said["settings"] == {**said["settings"], "board": settings.board, "channels": settings.channels}
    training, curve = said["figures"]["training"], said["curve"]
    assert (metrics["iteration"], metrics["best"]) == (training["iterations"], training["best"])
    assert (curve["seconds"][-1], curve["best"][-1]) == (training["seconds"], training["best"])
    assert {len(values) for values in curve.values()} == {training["iterations"]}


@pytest.mark.parametrize("system", ["zero", "r2"])
def test_a_fresh_run_is_kept(system: study.System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    from rookery.games.morpion import r2 as morpion_r2
    from rookery.games.morpion import zero as morpion_zero

    tiny = replace(morpion_zero.SMALL, channels=4, blocks=1, games=4, searches=2, level=2, steps=2, batch=8)
    monkeypatch.setitem(morpion_zero.PRESETS, "small", tiny)
    small = replace(morpion_r2.SMALL, iterations=2, episodes=3, channels=4, epochs=1)
    monkeypatch.setitem(morpion_r2.PRESETS, "small", small)
    curve = study.train_anew(system, 1e-6, 1, tmp_path / "run", CONSOLE)
    assert len(curve.seconds) == len(curve.best) == len(curve.played_mean) == 1  # one iteration at least
    assert 20 < curve.played_mean[-1] <= curve.best[-1] <= 82
    assert study.train_anew(system, 1e-6, 1, tmp_path / "run", CONSOLE) == curve


def test_the_rows_of_the_full_size_are_those_of_the_curves_that_ship() -> None:
    data = json.loads((MODELS / "r2.json").read_text())
    table, figure = study.full_size("command")
    assert table.rows[0] == ["22", "the paper", "100 of 100", "about a week", "-", "67", "-"]
    for row, (board, curve) in zip(table.rows[1:], data["boards"].items(), strict=True):
        searched = " ".join(str(length) for length in curve["enhanced"] if length is not None)
        assert row == [
            board, data["machine"], f"{len(curve['best'])} of 100", f"{curve['seconds'][-1]:.0f} s",
            f"{statistics.fmean(curve['played_mean'][-5:]):.1f}", str(curve["best"][-1]), searched or "-",
        ]  # fmt: skip
        assert curve["best"] == sorted(curve["best"])
    assert study.full_size_best() == max(curve["best"][-1] for curve in data["boards"].values())
    for words in ("board 16", "the paper's best", "Mean of self-play"):
        assert words in figure.svg


def test_figures_of_the_net_that_ships_are_told_in_the_table(nrpa: Campaign) -> None:
    shipped = json.loads((MODELS / "5D.json").read_text())
    fresh: dict[study.System, study.Curve] = {"zero": study.Curve([10.0, 20.4], [60, 66], [50.0, 55.25])}
    table = study._table(shipped, fresh, 7, nrpa, "command").rows
    rows = {row[0]: row[1:] for row in table if "this run" not in row[1]}
    alone = shipped["figures"]["net_alone"]
    assert rows["its net alone"][1:] == [f"{alone['count']:,}", f"{alone['mean']:.2f}", str(alone["best"]), "-"]
    searched = shipped["figures"]["net_and_search"]
    assert rows["its net with NRPA level 3"][-1] == f"60 s, {searched['cpu_seconds']:.0f} CPU s"
    [anew] = [row for row in table if row[1] == "this run, seed 7"]
    assert anew[0] == "improved system, small preset"
    assert anew[2:] == [str(study._games("zero")), "55.25", "66", "20 s, 2 iterations"]
    scores = [run.score for run in nrpa.runs]
    cpu = sum(run.cpu_seconds for run in nrpa.runs)
    assert study._nrpa(nrpa) == [
        "NRPA level 1 alone", "this run", "5", f"{statistics.fmean(scores):.2f}", str(max(scores)), f"{cpu:.0f} CPU s",
    ]  # fmt: skip
