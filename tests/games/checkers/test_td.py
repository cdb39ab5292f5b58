from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rookery.games.checkers import td as checkers_td
from rookery.games.checkers.rules import Checkers
from rookery.games.checkers.search import Player, play_match
from rookery.games.checkers.td import Settings, load
from rookery.run import load_arrays, save_arrays
from tests.training import trained, training

GAME = Checkers()
SMALL = Settings(generations=3, games=60, batch=20, depth=2)


def weights(folder: Path) -> np.ndarray:
    with np.load(folder / "model.npz", allow_pickle=False) as file:
        return np.asarray(file["weights"])


def test_a_few_seconds_teach_what_pieces_are_worth(tmp_path: Path) -> None:
    """From nothing: all weights start at zero."""
    trained(GAME, "td", Settings(generations=2, games=1000, batch=100), tmp_path, seed=1)
    value = load(tmp_path / "model.npz")

    def lead(black: str) -> int:
        """What Black to move thinks, less what it thinks when the sides are even."""
        return int(value(GAME.parse_state(f"B:W21-28:B{black}"))) - int(value(GAME.parse_state("B:W21-28:B1-8")))

    assert lead("1-9") > 50, "a man more is good"
    assert lead("1-7") < -50, "a man less is bad"
    assert lead("1-7,K18") > 30, "a king is worth more than a man"
    assert play_match(Player(1, value), Player(0), games=400, seed=2).score > 0.97
    assert play_match(Player(3, value), Player(3), games=200, seed=2).score > 0.5


def test_the_seed_alone_decides(tmp_path: Path) -> None:
    for name, seed, threads in (("a", 1, 1), ("b", 1, 3), ("c", 2, 1)):
        rows = trained(GAME, "td", replace(SMALL, threads=threads), tmp_path / name, seed)
        assert [row["games"] for row in rows] == [60, 120, 180]
    assert weights(tmp_path / "a").any()
    assert np.array_equal(weights(tmp_path / "a"), weights(tmp_path / "b"))
    assert not np.array_equal(weights(tmp_path / "a"), weights(tmp_path / "c"))


def test_a_stopped_run_goes_on_to_the_same_result(tmp_path: Path) -> None:
    trained(GAME, "td", SMALL, tmp_path / "whole", seed=4)
    stopped = training(GAME, "td", SMALL, tmp_path / "stopped", seed=4)
    next(stopped)
    stopped.close()
    assert load(tmp_path / "stopped" / "model.npz")(GAME.initial_state()) is not None, "a stopped run plays"
    rest = trained(GAME, "td", SMALL, tmp_path / "stopped", seed=4, resume=True)
    assert [row["generation"] for row in rest] == [2, 3]
    assert np.array_equal(weights(tmp_path / "whole"), weights(tmp_path / "stopped"))
    whole, again = ((tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "stopped"))
    assert whole == again


# Ctrl-C between opening a file and the block that closes it leaves the file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_stops_at_once_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    settings = Settings(generations=1000, games=20, batch=20, depth=2)

    def interrupt() -> None:
        while not (tmp_path / "checkpoint.npz").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    def learn() -> None:
        trained(GAME, "td", settings, tmp_path)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        learn()
    thread.join()
    rest = training(GAME, "td", settings, tmp_path, resume=True)
    assert next(rest)["generation"] >= 2
    rest.close()


def test_bad_runs_and_files_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    trained(GAME, "td", Settings(generations=1, games=4, batch=4, depth=1), run)
    with pytest.raises(ValueError, match="already holds a run"):
        training(GAME, "td", SMALL, run)
    with pytest.raises(ValueError, match="was trained with games=4, not 60"):
        training(GAME, "td", SMALL, run, resume=True)
    with pytest.raises(ValueError, match="must be at least 1"):
        Settings(games=0)
    with pytest.raises(ValueError, match="lambda and exploration"):
        trained(GAME, "td", Settings(trace=1.5), tmp_path / "third")
    file = run / "model.npz"
    whole = file.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        file.write_bytes(content)
        with pytest.raises(ValueError, match="damaged"):
            load(file)
    with pytest.raises(ValueError, match="holds 'checkers td'"):
        load_arrays(run / "checkpoint.npz", "something else")
    save_arrays(file, {"kind": checkers_td.KIND}, {"weights": np.zeros(3)})
    with pytest.raises(ValueError, match="does not hold the"):
        load(file)
