from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import rookery
from rookery.game import TERMINAL, State
from rookery.search import nmcs, nrpa


def replay(state: State, actions: list[int]) -> State:
    state = state.clone()
    for action in actions:
        state.apply(action)
    return state


def test_nrpa_finds_the_optimum_of_4d() -> None:
    start = rookery.load("morpion", "4D").initial_state()
    runs = nrpa(start, level=2, runs=40, seed=2)
    best = max(runs, key=lambda run: run.score)
    assert best.score == 35  # proven optimal by Quist, 2008
    end = replay(start, best.actions)
    assert end.player() == TERMINAL
    assert end.returns() == [35]
    assert all(run.playouts == 10_000 for run in runs)


def test_nrpa_plays_far_better_than_chance() -> None:
    start = rookery.load("morpion", "5D").initial_state()
    runs = nrpa(start, level=2, runs=4, seed=1)
    # Uniform play averages 42.9; level 2 is known to average about 67.
    assert min(run.score for run in runs) >= 60


@pytest.mark.parametrize("beam", [1, 3])
def test_the_same_runs_on_any_number_of_threads(beam: int) -> None:
    start = rookery.load("morpion", "4T").initial_state()

    def found(threads: int) -> list[tuple[float, list[int]]]:
        runs = nrpa(start, level=2, iterations=15, beam=beam, runs=3, seed=9, threads=threads)
        return [(run.score, run.actions) for run in runs]

    assert found(1) == found(2)


def test_a_beam_makes_more_playouts() -> None:
    start = rookery.load("morpion", "4D").initial_state()
    [plain] = nrpa(start, level=2, iterations=10)
    [beam] = nrpa(start, level=2, iterations=10, beam=4)
    assert plain.playouts == 100
    assert 100 < beam.playouts <= 400


@pytest.mark.parametrize("variant", ["3x3-three", "4x4-seven"])
def test_games_with_chance(variant: str) -> None:
    start = rookery.load("tenten", variant).initial_state()
    for [run] in (nrpa(start, level=1, iterations=20, seed=4), nmcs(start, level=1, seed=4)):
        assert run.score > 0
        assert run.actions


def test_nmcs_solves_a_puzzle() -> None:
    start = rookery.load("solitaire-chess").initial_state()
    [run] = nmcs(start, level=3, seed=1)
    assert run.score == 1.0
    assert replay(start, run.actions).returns() == [1.0]


def test_a_stopped_search_gives_what_it_has() -> None:
    start = rookery.load("morpion", "5D").initial_state()
    control = rookery.Control()
    heard: list[float] = []
    threading.Timer(0.5, control.stop).start()
    begin = time.perf_counter()
    runs = nrpa(start, level=5, runs=50, threads=2, control=control, on_best=lambda i, score, a: heard.append(score))
    assert time.perf_counter() - begin < 10
    assert 1 <= len(runs) <= 2
    for run in runs:
        assert replay(start, run.actions).returns() == [run.score]
    assert max(heard) == max(run.score for run in runs)


def test_an_error_in_the_callback_reaches_the_caller() -> None:
    def fail(run: int, score: float, actions: list[int]) -> None:
        raise RuntimeError("no room for it")

    with pytest.raises(RuntimeError, match="no room"):
        nrpa(rookery.load("morpion").initial_state(), level=1, on_best=fail)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"level": 0}, "level"), ({"iterations": 0}, "iterations"), ({"beam": 0}, "beam"), ({"alpha": -1.0}, "alpha")],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nrpa(rookery.load("morpion").initial_state(), **settings)


def test_two_players_are_refused() -> None:
    with pytest.raises(ValueError, match="one player"):
        nrpa(rookery.load("checkers").initial_state())


@pytest.mark.slow
def test_nrpa_level_3_finds_the_optimum_of_4t() -> None:
    best = max(run.score for run in nrpa(rookery.load("morpion", "4T").initial_state(), level=3, runs=10, seed=0))
    assert best == 62  # proven optimal by Quist, 2008
