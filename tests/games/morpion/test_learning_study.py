from __future__ import annotations

import io
import json
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
