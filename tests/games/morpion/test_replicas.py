"""Replica exchange as on a GPU, here lane by lane on the CPU; the last test needs a GPU."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery import gpu
from rookery.game import TERMINAL
from rookery.games.morpion.replicas import (
    CORNER,
    MOVES,
    SIDE,
    Device,
    Replicas,
    ReplicaSearch,
    Settings,
    align,
    cells_of_moves,
    cut,
    exchange,
    fallen,
    read_grids,
    to_actions,
    to_codes,
    turned_moves,
)
from rookery.games.morpion.rules import STEPS, Morpion, MorpionState, verify
from rookery.games.morpion.search import shipped
from rookery.run import load_arrays, save_arrays
from tests.commands import answer, check_refusal

SMALL = Settings(
    "5T",
    seed=7,
    ladders=6,
    temperatures=3,
    trials=40,
    islands=2,
    merge=0,
    plain=0.0,
    settle=4,
    renew=3,
    share=0.5,
    mating=0.5,
)


@pytest.fixture(scope="module")
def device() -> Device:
    if shutil.which("c++") is None and shutil.which("g++") is None:
        pytest.skip("there is no C++ compiler")
    return Device(on_cpu=True)


def same(one: ReplicaSearch, two: ReplicaSearch) -> None:
    for name in ReplicaSearch._SAVED:
        assert np.array_equal(getattr(one.replicas, name), getattr(two.replicas, name)), name
    assert (one.rounds, one.playouts) == (two.rounds, two.playouts)
    assert one.state.moves == two.state.moves
    assert one.statistics()["temperatures"] == two.statistics()["temperatures"]


@pytest.mark.parametrize("variant", ["5T", "5D"])
def test_what_is_found_is_legal_and_over(device: Device, variant: str, tmp_path: Path) -> None:
    search = ReplicaSearch(replace(SMALL, variant=variant), tmp_path / "a.json", device=device)
    begin = time.monotonic()
    search.go(1000, rounds=15)
    assert 0 < search.seconds <= time.monotonic() - begin
    assert search.rounds == 15
    assert search.playouts == 15 * 18 * 40
    judged = verify((tmp_path / "a.psol").read_text())
    assert judged.terminal
    assert judged.score == search.best.score == search.history[-1][1] > 45
    for codes in read_grids(tmp_path / "a.npz", search.game):
        state = MorpionState(search.game, to_actions(search.game, codes))
        assert state.player() == TERMINAL
    rows = search.statistics()["temperatures"]
    tried = sum(row["trials"][hole][0] for row in rows for hole in row["trials"])
    assert tried == search.playouts
    assert all(0 < row["trials"]["mated"][0] < row["trials"]["box"][0] for row in rows)
    assert search.lost == 0
    tried, made = search.exchanged
    assert (tried > 0).all(), "every two neighbours had their turn"
    assert (made > 0).all()
    assert (made <= tried).all()
    assert not np.array_equal(search.replicas.at, Replicas.new(search.settings).at), "grids have changed places"


@pytest.mark.parametrize("settings", [SMALL, replace(SMALL, plain=1.0, cut=2, least=5)])
def test_a_resumed_search_is_the_same_as_one_in_one_go(device: Device, tmp_path: Path, settings: Settings) -> None:
    whole = ReplicaSearch(settings, tmp_path / "whole.json", device=device)
    whole.go(1000, rounds=12)
    for rounds in (5, 4, 3):
        ReplicaSearch(settings, tmp_path / "parts.json", resume=True, device=device).go(1000, rounds=rounds)
    same(whole, ReplicaSearch(settings, tmp_path / "parts.json", resume=True, device=device))


def test_other_seeds_find_other_games(device: Device, tmp_path: Path) -> None:
    whole = ReplicaSearch(SMALL, tmp_path / "whole.json", device=device)
    whole.go(1000, rounds=12)
    other = ReplicaSearch(replace(SMALL, seed=8), device=device)
    other.go(1000, rounds=12)
    assert other.state.moves != whole.state.moves
    with pytest.raises(ValueError, match="was searched with"):
        ReplicaSearch(replace(SMALL, seed=8), tmp_path / "whole.json", resume=True, device=device)
    with pytest.raises(ValueError, match="already holds a search"):
        ReplicaSearch(SMALL, tmp_path / "whole.json", device=device)


def test_damaged_checkpoints_are_refused(device: Device, tmp_path: Path) -> None:
    search = ReplicaSearch(SMALL, tmp_path / "a.json", device=device)
    search.go(1000, rounds=2)
    checkpoint = tmp_path / "a.npz"
    info, good = load_arrays(checkpoint, ReplicaSearch.kind)
    too_high = good["grids"].copy()
    too_high[0, 0] = 1 << 15
    twice = np.zeros_like(good["at"])
    damages: list[dict[str, Any]] = [
        {"grids": too_high}, {"grids": good["grids"][:3]}, {"lengths": good["lengths"] + MOVES}, {"at": twice}
    ]  # fmt: skip
    for damage in damages:
        save_arrays(checkpoint, info, good | damage)
        with pytest.raises(ValueError, match="no checkpoint of this search, or is damaged"):
            ReplicaSearch(SMALL, tmp_path / "a.json", resume=True, device=device)
    checkpoint.write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(ValueError, match="damaged"):
        ReplicaSearch(SMALL, tmp_path / "a.json", resume=True, device=device)
    with pytest.raises(ValueError, match="damaged"):
        read_grids(checkpoint, search.game)
    save_arrays(checkpoint, info, good | {"grids": np.roll(good["grids"], 1, axis=1)})
    with pytest.raises(ValueError, match="not legal"):
        read_grids(checkpoint, search.game)


def test_a_search_from_grids_keeps_them(device: Device, tmp_path: Path) -> None:
    record = shipped("5T")
    (tmp_path / "start.psol").write_text(record.record())
    cold = replace(SMALL, coldest=0.05, hottest=0.06, mating=0.0, renew=0)
    search = ReplicaSearch(cold, starts=[tmp_path / "start.psol"], device=device)
    search.go(1000, rounds=2)
    assert search.best.score >= len(record.moves)
    assert (search.replicas.lengths > len(record.moves) - 10).all()
    assert "--start" in search.best.how
    assert "coldest=0.05 hottest=0.06 mating=0.0" not in search.best.how  # in the order of the settings
    assert "--settings temperatures=3 coldest=0.05 hottest=0.06 trials=40" in search.best.how


def test_moves_go_to_the_gpu_and_back() -> None:
    state = shipped("5T")
    codes = to_codes(state)
    assert to_actions(state.game, codes) == list(state.moves)
    for symmetry in range(8):
        expected = [state.game.rules.transform(action, symmetry) for action in state.moves]
        assert to_actions(state.game, turned_moves()[symmetry][codes]) == expected
    far = Morpion(touching=True).initial_state()
    assert len(to_codes(far)) == 0


def test_aligned_grids_share_their_lines() -> None:
    codes = to_codes(shipped("5T"))
    grids = np.zeros((9, MOVES), np.uint16)
    lengths = np.full(9, len(codes), np.int32)
    for symmetry in range(8):
        grids[symmetry, : len(codes)] = turned_moves()[symmetry][codes]
    lengths[8] = 100  # a part of another image of it
    grids[8, :100] = turned_moves()[5][codes[:100]]
    grids[[0, 3]] = grids[[3, 0]]
    align(grids, lengths)
    for row in grids[:8]:
        assert np.array_equal(row, grids[0])
    assert np.array_equal(grids[8, :100], grids[0, :100])


def as_rows(codes: Any) -> tuple[Any, Any]:
    """One grid three times."""
    grids = np.zeros((3, MOVES), np.uint16)
    grids[:, : len(codes)] = codes
    return grids, np.full(3, len(codes), np.int32)


def test_what_falls_is_what_a_replay_loses() -> None:
    game, rng = shipped("5T").game, np.random.default_rng(5)
    grids, lengths = as_rows(to_codes(shipped("5T")))
    lengths[2] = 100
    for share in (0.005, 0.02, 0.1):
        taken = rng.random(grids.shape) < share
        falls = fallen(grids, lengths, taken)
        assert falls[:2].any()
        for row in range(len(grids)):
            state = MorpionState(game, [])
            for i, action in enumerate(to_actions(game, grids[row, : lengths[row]])):
                stays = not taken[row, i] and action in state.legal_actions()
                assert falls[row, i] != stays
                if stays:
                    state.apply(action)
            assert not falls[row, lengths[row] :].any()


def test_the_cells_of_moves() -> None:
    game = shipped("5T").game
    shift = game.rules.corner - CORNER
    lines, dots = (table[to_codes(shipped("5T"))] for table in cells_of_moves())
    for action, line, dot in zip(shipped("5T").moves, lines, dots, strict=True):
        move = game.move(action)
        dx, dy = STEPS[move.direction]
        cells = [SIDE * (move.row + i * dy - shift) + move.column + i * dx - shift for i in range(5)]
        assert (list(line), dot) == (cells, cells[move.position])


def test_cuts_are_legal_and_take_out_as_much_as_they_should() -> None:
    game, rng = shipped("5T").game, np.random.default_rng(6)
    codes = to_codes(shipped("5T"))
    taken = []
    for _ in range(20):
        grids, lengths = as_rows(codes)
        cut(grids, lengths, 20, 60, rng)
        for grid, length in zip(grids, lengths, strict=True):
            MorpionState(game, to_actions(game, grid[:length]))
            assert not grid[length:].any()
            taken.append(len(codes) - length)
    assert all(lost == 0 or 20 <= lost <= 60 for lost in taken)
    assert len(set(taken)) > 10
    grids, lengths = as_rows(codes)
    cut(grids, lengths, 190, 200, rng)  # more than there are
    assert (lengths == len(codes)).all()


def test_ladders_go_on_from_cuts_of_their_best_grids(device: Device, tmp_path: Path) -> None:
    record = shipped("5T")
    (tmp_path / "start.psol").write_text(record.record())
    settings = replace(SMALL, plain=1.0, trials=300, coldest=0.3, hottest=0.4, cut=3, least=10, most=60)
    search = ReplicaSearch(settings, starts=[tmp_path / "start.psol"], device=device)
    search.go(1000, rounds=2)
    assert (search.replicas.best_lengths == len(record.moves)).all()
    search.go(1000, rounds=1)
    replicas = search.replicas
    assert (replicas.lengths < replicas.kept_lengths.max()).mean() > 0.5
    assert (replicas.best_lengths == 0).all(), "what counts is what comes of the cuts"
    cold = replicas.kept_lengths[:3]
    search.go(1000, rounds=3)
    assert (replicas.kept_lengths[:3] >= cold - 2).all(), "the first ladders hardly ever choose a shorter grid"
    assert replicas.kept_lengths.min() > 100


def test_neighbours_change_places() -> None:
    settings = Settings("5T", ladders=20_000, temperatures=4, coldest=0.5, hottest=2.0)
    heat = settings.heat
    for first, pairs in ((0, [(0, 1), (2, 3)]), (1, [(1, 2)])):
        replicas = Replicas.new(settings)
        lengths = np.array([100, 98, 99, 100], np.int32)  # 0 is longer than 1, 2 shorter than 3
        replicas.lengths[:] = np.tile(lengths, settings.ladders)
        before = replicas.at.copy()
        moved = exchange(replicas, heat, first, np.random.default_rng(1))
        assert moved.shape == (settings.ladders, len(pairs))
        for k, (cold, hot) in enumerate(pairs):
            chance = min(1.0, np.exp((lengths[hot] - lengths[cold]) * (1 / heat[cold] - 1 / heat[hot])))
            assert abs(moved[:, k].mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / len(moved)) + 1e-12
            assert np.array_equal(replicas.at[moved[:, k]][:, [hot, cold]], before[moved[:, k]][:, [cold, hot]])
            assert np.array_equal(replicas.at[~moved[:, k]][:, [cold, hot]], before[~moved[:, k]][:, [cold, hot]])
        still = [i for i in range(4) if all(i not in pair for pair in pairs)]
        assert np.array_equal(replicas.at[:, still], before[:, still])
        assert np.array_equal(replicas.at[:, 0][replicas.heat[replicas.at[:, 0]] == 0], replicas.at[:, 0])


def test_the_worst_ladders_become_copies_of_the_best_or_begin_again(device: Device) -> None:
    for fresh in (0.0, 1.0):
        settings = replace(SMALL, ladders=8, islands=1, settle=0, renew=1, share=0.25, fresh=fresh, mating=0.0)
        search = ReplicaSearch(settings, device=device)
        search.device.walk(settings, search.replicas, search.replicas.grids.copy(), search.replicas.lengths.copy())
        replicas = search.replicas
        before = replicas.lengths[replicas.at]
        ranked = np.argsort(-replicas.best_lengths[replicas.at].max(1) - before.mean(1) / 1000)
        search.rounds = 5
        search._renew(np.arange(8), np.random.default_rng(1))
        after = replicas.lengths[replicas.at]
        assert np.array_equal(after[ranked[:-2]], before[ranked[:-2]])
        for ladder in ranked[-2:]:
            if fresh:
                assert not after[ladder].any()
                assert replicas.born[ladder] == 5
            else:
                sources = [np.array_equal(replicas.grids[replicas.at[ladder]], replicas.grids[replicas.at[other]])
                           for other in ranked[:2]]  # fmt: skip
                assert any(sources)


def test_plain_ladders_neither_mate_nor_renew(device: Device) -> None:
    search = ReplicaSearch(replace(SMALL, plain=0.5, islands=1, mating=1.0), device=device)
    search.go(1000, rounds=6)
    plain, other = search.replicas.at[:3], search.replicas.at[3:]
    assert [list(island) for island in search.islands] == [[3, 4, 5]]
    _, lengths = search._partners(np.random.default_rng(1))
    assert not lengths[plain].any()
    assert lengths[other].all()
    alone = ReplicaSearch(replace(SMALL, mating=0.0, renew=0), device=device)
    alone.go(1000, rounds=6)
    assert np.array_equal(search.replicas.grids[plain], alone.replicas.grids[alone.replicas.at[:3]])
    assert not np.array_equal(search.replicas.grids, alone.replicas.grids)


@pytest.mark.parametrize("plain", [0.0, 0.5, 1.0])
def test_grids_stay_legal_when_they_are_turned(device: Device, monkeypatch: pytest.MonkeyPatch, plain: float) -> None:
    monkeypatch.setattr("rookery.games.morpion.replicas.ALIGN_ROUNDS", 1)
    search = ReplicaSearch(replace(SMALL, plain=plain, merge=2), device=device)
    search.go(1000, rounds=10)
    grids = zip(search.replicas.grids, search.replicas.lengths, strict=True)
    for state in (
        MorpionState(search.game, to_actions(search.game, grid[:length])) for grid, length in grids if length
    ):
        assert state.player() == TERMINAL


def test_islands_merge_in_pairs(device: Device) -> None:
    search = ReplicaSearch(replace(SMALL, ladders=20, plain=0.2, islands=8, settle=10, merge=5), device=device)
    sizes = []
    for search.rounds in (0, 14, 15, 20, 25, 1000):
        assert [ladder for island in search.islands for ladder in island] == list(range(4, 20))
        sizes.append([len(island) for island in search.islands])
    assert sizes == [[2] * 8, [2] * 8, [4] * 4, [8] * 2, [16], [16]]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"variant": "4D"}, "the GPU searches 5T and 5D, not 4D"),
        ({"temperatures": 0}, "temperatures must be 1 to 64"),
        ({"coldest": 2.0}, "coldest first"),
        ({"mated": 257}, "mated must be 0 to 256"),
        ({"share": 1.5}, "share must be 0 to 1"),
        ({"ladders": -1}, "ladders must be"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Settings(**changes)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--device", "gpu"], "name --time"),
        (["--device", "gpu", "--time", "1", "--runs", "2"], "none of --runs"),
        (["--device", "gpu", "--time", "1", "--settings", "radus=3"], "did you mean 'radius'"),
        (["--device", "gpu", "--time", "1", "--settings", "seed=3"], "option of its own"),
        (["--device", "gpu", "--time", "1", "--variant", "4T"], "5T and 5D"),
        (["--device", "gpu", "--time", "1"], "nvcc"),
        (["--ladders", "3"], "for --device gpu"),
    ],
)
def test_refusals(
    capsys: Any, monkeypatch: pytest.MonkeyPatch, words: list[str], sentence: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no nvcc there
    check_refusal(capsys, ["search", "morpion", *words], sentence)


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("nvcc", "nvidia-smi"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 9\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="no NVIDIA GPU was found"):
        gpu.architecture()


def test_the_command_on_a_cpu(device: Device, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("rookery.games.morpion.replicas.Device", lambda: device)
    words = [
        "search",
        "morpion",
        "--variant",
        "5D",
        "--device",
        "gpu",
        "--ladders",
        "2",
        "--out",
        str(tmp_path / "a.json"),
    ]
    words += ["--settings", "trials=50", "temperatures=2", "--time"]
    first = answer(capsys, *words, "0.3")
    again = answer(capsys, *words, "0.3", "--resume")
    assert again["playouts"] > first["playouts"] > 0
    assert again["score"] >= first["score"] == len(first["moves"])
    assert (again["record"], again["upper_bound"], again["runs"]) == (82, 84, [])
    assert "--device gpu --ladders 2 --seed 0 --settings temperatures=2 trials=50, round" in again["best"]["how"]


def test_the_gpu_does_the_same_as_the_cpu(device: Device) -> None:
    try:
        gpu.architecture()
    except ValueError as error:
        pytest.skip(str(error))
    for variant in ("5T", "5D"):
        one, two = (ReplicaSearch(replace(SMALL, variant=variant), device=d) for d in (device, Device()))
        for search in (one, two):
            search.go(1000, rounds=15)
        same(one, two)


def test_a_cut_may_take_out_the_least_and_the_most() -> None:
    rng, codes = np.random.default_rng(7), to_codes(shipped("5T"))
    taken = set()
    for exactly in (25, 30, 35):
        grids = np.zeros((300, MOVES), np.uint16)
        grids[:, : len(codes)] = codes
        lengths = np.full(300, len(codes), np.int32)
        cut(grids, lengths, exactly, exactly, rng)
        found = set((len(codes) - lengths).tolist())
        assert found <= {0, exactly}
        taken |= found
    assert taken & {25, 30, 35}
    grids, lengths = as_rows(codes)
    lengths[1] = 0
    cut(grids, lengths, 0, MOVES, rng)  # whatever falls is right
    assert lengths[1] == 0
    assert lengths[0] < len(codes) > lengths[2]
