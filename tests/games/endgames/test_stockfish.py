"""The engine over UCI: a fake one that obeys, dies, hangs or talks nonsense, and the real one where it is installed."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rookery.games.endgames.q_learning import Settings, train
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.stockfish import EngineError, Stockfish, find_engine
from rookery.games.endgames.tables import tables

pytest.importorskip("chess")


def position(fen: str = "8/8/8/4k3/8/8/8/R3K3 w - - 0 1") -> EndgamesState:
    return Endgames().parse_state(fen)


def asked(tmp_path: Path) -> int:
    return len((tmp_path / "asked").read_text().splitlines())


def test_an_answer_is_kept_on_disk(fake, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cache = tmp_path / "cache.sqlite"
    with Stockfish(path=fake("obeys"), cache=cache) as engine:
        assert engine.version == "Fake 1"
        first = engine.ask(position())
        assert (position().uci(first.action), first.mate, first.score) == ("a1a2", True, 3)
        again = engine.ask(position("8/8/8/4k3/8/8/8/R3K3 w - - 7 9"))  # counters do not matter
        assert again == first
    with Stockfish(path=fake("obeys"), cache=cache) as engine:
        assert engine.ask(position()) == first
        assert engine.asked == 0
    assert asked(tmp_path) == 1
    with Stockfish(depth=3, path=fake("obeys"), cache=cache) as engine:
        engine.ask(position())
    assert asked(tmp_path) == 2, "another depth is another question"
    rows = sqlite3.connect(cache).execute("SELECT engine, settings, position FROM answers ORDER BY settings").fetchall()
    assert rows == [("Fake 1", f"depth={depth}", "8/8/8/4k3/8/8/8/R3K3 w - -") for depth in (15, 3)]


def test_scores_are_for_the_side_with_the_pieces(fake, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with Stockfish(path=fake("obeys"), cache=tmp_path / "c") as engine:
        assert engine.ask(position("8/8/8/4k3/8/8/8/R3K3 b - - 0 1")).score == 3  # the lone king is mated in 3
        assert engine.ask(position("8/8/8/4K3/8/8/8/r3k3 b - - 0 1")).score == -3  # Black has the rook, and is mated


@pytest.mark.parametrize("behaviour", ["dies once", "hangs once"])
def test_an_engine_that_fails_once_is_started_anew(  # type: ignore[no-untyped-def]
    behaviour: str, fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stockfish(path=fake(behaviour), cache=tmp_path / "c", timeout=2.0) as engine:
        assert engine.ask(position()).mate
    assert asked(tmp_path) == 2
    assert len((tmp_path / "starts").read_text()) == 2
    assert "started anew" in capsys.readouterr().err


@pytest.mark.parametrize("behaviour", ["dies", "hangs", "nonsense"])
def test_an_engine_that_fails_again_and_again_is_given_up(  # type: ignore[no-untyped-def]
    behaviour: str, fake, tmp_path: Path
) -> None:
    begin = time.monotonic()
    with (
        Stockfish(path=fake(behaviour), cache=tmp_path / "c", timeout=1.0) as engine,
        pytest.raises(EngineError, match=r"failed 3 times in '8/8.*answers so far are kept"),
    ):
        engine.ask(position())
    assert time.monotonic() - begin < 15


def test_what_a_dying_engine_answered_before_is_not_lost(fake, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cache = tmp_path / "cache.sqlite"
    with Stockfish(path=fake("obeys"), cache=cache) as engine:
        engine.ask(position())
    with Stockfish(path=fake("dies"), cache=cache) as engine:
        assert engine.ask(position()).mate
        with pytest.raises(EngineError):
            train(position(), Settings("heuristic"), engine.native(), matches=5)


def test_engines_that_are_missing_or_mute_get_a_clear_message(  # type: ignore[no-untyped-def]
    fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EngineError, match="no program /no/such/engine"):
        Stockfish(path="/no/such/engine")
    monkeypatch.setattr(shutil, "which", lambda *arguments, **options: None)
    with pytest.raises(EngineError, match="not installed"):
        find_engine()
    monkeypatch.undo()
    with (
        Stockfish(path=fake("mute"), cache=tmp_path / "c", timeout=1.0) as engine,
        pytest.raises(EngineError, match="does not start"),
    ):
        engine.ask(position())
    (tmp_path / "broken").write_bytes(b"this is no database, whatever its name says" * 40)
    with pytest.raises(EngineError, match="cannot be used"):
        Stockfish(path=fake("obeys"), cache=tmp_path / "broken")


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="depth must be 1 to 100"):
        Stockfish(depth=0, path=sys.executable)
    with pytest.raises(ValueError, match="timeout must be positive"):
        Stockfish(timeout=0, path=sys.executable)


def test_real_stockfish_mates_in_one_and_learning_uses_it(tmp_path: Path) -> None:
    try:
        engine = Stockfish(depth=8, cache=tmp_path / "c")
    except EngineError as error:
        pytest.skip(str(error))
    with engine:
        state = Endgames("KQK").parse_state("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
        answer = engine.ask(state)
        assert (answer.mate, answer.score) == (True, 1)
        assert answer.action in tables("KQK").best_moves(state)
        near = Endgames("KQK", fifty_move_rule=True).parse_state("8/8/8/8/8/2K5/k6Q/8 b - - 0 1")
        [run] = train(near, Settings("stockfish"), engine.native(), matches=30)
        assert len(run.moves) == 30
        assert run.won.any()


def test_a_program_that_forgets_to_close_the_engine_ends(fake, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    script = (
        "import sys; from pathlib import Path; from rookery.games.endgames import Endgames;"
        "from rookery.games.endgames.stockfish import Stockfish;"
        "engine = Stockfish(path=sys.argv[1], cache=Path(sys.argv[2]));"
        "print(engine.ask(Endgames().initial_state()).action); print(engine._program.pid)"
    )
    command = [sys.executable, "-c", script, str(fake("obeys")), str(tmp_path / "c")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    assert not Path(f"/proc/{done.stdout.split()[1]}").exists()
