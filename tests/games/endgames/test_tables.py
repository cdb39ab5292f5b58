"""Endgame tables against published counts, Gaviota's and Syzygy's tables, and slow rules of our own."""

from __future__ import annotations

import random
import subprocess
import sys
import tarfile
from pathlib import Path

import chess
import chess.gaviota
import chess.syzygy
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery._native import Control
from rookery.files import cache_folder
from rookery.games.endgames import tables as exact
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.tables import DRAW, ILLEGAL, DistanceTable, generate, solve, tables
from tests.games.endgames import oracle_mates as oracle
from tests.games.endgames.oracle import Game as OracleGame
from tests.games.endgames.oracle import Men

GAME = Endgames()
GAVIOTA = Path("/usr/share/gaviotatb/gtb4")
LETTERS = "?NBRQP"


def state_of(fen: str) -> EndgamesState:
    return GAME.parse_state(fen)


def random_states(material: str, count: int, seed: int = 0) -> list[EndgamesState]:
    """Positions of one material, of both colours."""
    rng = random.Random(seed)
    states = []
    for i in range(count):
        state = Endgames(material).random_start(rng)
        states.append(mirrored_colours(state) if i % 2 else state)
    return states


def mirrored_colours(state: EndgamesState) -> EndgamesState:
    return state_of(chess.Board(str(state)).mirror().fen())


# Maximum in moves, legal positions with White and Black to move, mean distance with White to move; all published.
FACTS = {
    "KQK": (10, 144_508, 223_944, 5.617),
    "KRK": (16, 175_168, 223_944, 9.865),
    "KBBK": (19, 2_504_128, 3_469_344, 12.482),
    "KBNK": (33, 10_875_504, 13_660_584, 24.679),
}


@pytest.mark.parametrize("material", FACTS)
def test_counts_maxima_and_means(material: str) -> None:
    longest, white, black, mean = FACTS[material]
    strong, weak = tables(material).statistics()
    assert (strong.longest + 1) // 2 == longest
    assert (strong.positions, weak.positions) == (white, black)
    assert round(strong.mean_moves, 3) == mean


def test_mates_and_draws() -> None:
    _, weak = tables("KQK").statistics()
    assert (weak.mated, weak.drawn) == (364, 23_048)
    strong, _ = tables("KPK").statistics()
    assert (strong.longest + 1) // 2 == 28


@pytest.mark.parametrize("material", ["KRK", "KPK", "KBBK"])
def test_the_number_of_threads_does_not_matter(material: str) -> None:
    others = [tables(other) for other in exact.leads_to(material)]
    one, two = (generate(material, others, threads) for threads in (1, 2))
    for side in (0, 1):
        assert np.array_equal(one.plies(side), two.plies(side))


def every_key(kind: str) -> npt.NDArray[np.uint8]:
    """Eight bytes, as `key` has them, for every placement of White's king and piece and Black's king, legal or not."""
    strong, weak, square, turn = (grid.ravel() for grid in np.mgrid[0:64, 0:64, 0:64, 0:2])
    keys = np.zeros((len(strong), 8), np.uint8)
    keys[:, 0], keys[:, 1], keys[:, 4], keys[:, 7] = strong, weak, square, turn
    keys[:, 2], keys[:, 5] = LETTERS.index(kind), 64
    return keys


def board_of(key: npt.NDArray[np.uint8]) -> chess.Board:
    board = chess.Board(None)
    for colour, square in ((chess.WHITE, key[0]), (chess.BLACK, key[1])):
        board.set_piece_at(int(square), chess.Piece(chess.KING, colour))
    for kind, square in ((key[2], key[4]), (key[3], key[5])):
        if kind:
            board.set_piece_at(int(square), chess.Piece.from_symbol(LETTERS[kind]))
    board.turn = bool(key[7] == 0)
    return board


def test_keys_are_those_of_states() -> None:
    keys = every_key("R")
    for key in keys[tables("KRK").dtm_many(keys) != ILLEGAL][::5000]:
        assert state_of(board_of(key).fen()).key() == key.tobytes()


def compare_with_gaviota(material: str, step: int) -> None:
    if not GAVIOTA.is_dir():
        pytest.skip("Debian's gaviotatb is not installed")
    keys = every_key(material[1])
    found = tables(material).dtm_many(keys)
    legal = found != ILLEGAL
    keys, found = keys[legal][::step], found[legal][::step]
    with chess.gaviota.open_tablebase(str(GAVIOTA)) as gaviota:
        for key, ours in zip(keys, found.tolist(), strict=True):
            board = board_of(key)
            theirs = gaviota.probe_dtm(board)
            if ours == 0:
                assert board.is_checkmate(), board.fen()
            elif theirs == 0:
                assert ours == DRAW, board.fen()
            assert theirs == (0 if ours == DRAW else ours), board.fen()


@pytest.mark.parametrize("material", ["KQK", "KRK", "KPK"])
def test_a_sample_is_that_of_gaviota(material: str) -> None:
    compare_with_gaviota(material, step=97)


@pytest.mark.slow
@pytest.mark.parametrize("material", ["KQK", "KRK", "KPK"])
def test_every_position_is_that_of_gaviota(material: str) -> None:
    compare_with_gaviota(material, step=1)


@pytest.fixture(scope="session")
def syzygy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Syzygy files that come with the source of python-chess."""
    folder = tmp_path_factory.mktemp("syzygy")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-binary", ":all:", "--no-deps", "chess==1.11.2"]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300).returncode:
        pytest.skip("the source of python-chess cannot be had here")
    with tarfile.open(next(folder.glob("chess-*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    files = next(folder.glob("*/data/syzygy/regular"), None)
    if files is None:
        pytest.skip("the source of python-chess has no Syzygy files")
    return files


@pytest.mark.slow
@pytest.mark.parametrize("material", ["KBBK", "KBNK"])
def test_distances_are_syzygys(material: str, syzygy: Path) -> None:
    """In these endgames every capture draws, so that the winner's distance to zeroing is its distance to mate. The
    files keep it in moves, not plies, which rounds it."""
    table = tables(material)
    rng = np.random.default_rng(1)
    checked = 0
    with chess.syzygy.open_tablebase(str(syzygy)) as files:
        for side, plies in enumerate((table.strong_to_move, table.weak_to_move)):
            for number in rng.choice(np.flatnonzero(plies != 255), 5000, replace=False).tolist():
                fen = table.fen(number, side == 0)
                assert fen is not None
                board = chess.Board(fen)
                wdl, ours = files.probe_wdl(board), table.dtm(state_of(fen))
                if ours is None:
                    assert wdl == 0, fen
                    continue
                assert wdl == (2 if ours > 0 else -2), fen
                if ours != 0:
                    dtz = files.probe_dtz(board)
                    assert abs(abs(dtz) - abs(ours)) <= 1, (fen, dtz, ours)
                    assert (abs(dtz) + 1) // 2 in (abs(ours) // 2, (abs(ours) + 1) // 2), (fen, dtz, ours)
                checked += 1
    assert checked > 5000


@pytest.mark.slow
@pytest.mark.parametrize("material", ["KQQK", "KQRK", "KRNK", "KNNK", "KBPK", "KPPK"])
def test_wins_and_draws_are_syzygys(material: str, syzygy: Path) -> None:
    """Endgames with every kind of capture and promotion: who wins, if not how fast."""
    with chess.syzygy.open_tablebase(str(syzygy)) as files:
        for state in random_states(material, 3000):
            ours = solve(state).dtm
            assert files.probe_wdl(chess.Board(str(state))) == (0 if ours is None else 2 if ours > 0 else -2), state


def men_of(state: EndgamesState) -> tuple[Men, str]:
    game = OracleGame.from_fen(str(state))
    return game.men, game.side


def distance(men: Men, side: str) -> int | None:
    return solve(state_of(OracleGame(men, side).fen())).dtm


@pytest.mark.parametrize("material", ["KQK", "KRK", "KPK", "KBBK", "KBNK", "KQRK", "KNNK"])
def test_every_distance_follows_from_those_after_the_moves(material: str) -> None:
    for state in random_states(material, 40):
        assert solve(state).dtm == oracle.distance_by_moves(*men_of(state), distance), state


@pytest.mark.parametrize("material", ["KQK", "KRK"])
def test_short_mates_are_found_by_trying_everything(material: str) -> None:
    seen = set()
    for state in random_states(material, 700, seed=3):
        dtm = solve(state).dtm
        if dtm not in (1, 3, 5, -2) or (dtm in seen and len(seen) == 4):
            continue
        seen.add(dtm)
        if dtm < 0:
            assert oracle.is_mated_within(*men_of(state), -dtm)
            assert not oracle.is_mated_within(*men_of(state), -dtm - 2)
        else:
            assert oracle.mates_within(*men_of(state), 3) == (dtm <= 3)
            assert oracle.mates_within(*men_of(state), 1) == (dtm == 1)
    assert {1, 3} <= seen


SOME_MATERIALS = ["KQK", "KRK", "KPK", "KBBK", "KBNK", "KQRK"]


@pytest.mark.parametrize("material", SOME_MATERIALS)
def test_moves_lead_to_what_they_say(material: str) -> None:
    for state in random_states(material, 50, seed=1):
        solution = solve(state)
        assert set(solution.moves) == set(state.legal_actions())
        for action, dtm in solution.moves.items():
            after = state.clone()
            after.apply(action)
            reply = solve(after).dtm
            assert dtm == (None if reply is None else 1 - reply if reply <= 0 else -1 - reply)
        values = [exact.preference(dtm) for dtm in solution.moves.values()]
        assert max(values) == exact.preference(solution.dtm)
        assert {solution.moves[action] for action in solution.best_moves} == {solution.dtm}


@pytest.mark.parametrize("material", SOME_MATERIALS)
def test_positions_that_are_alike_have_one_number(material: str) -> None:
    table = tables(material)
    for state in random_states(material, 50, seed=2):
        board = chess.Board(str(state))
        flips = [chess.flip_horizontal]
        if "P" not in material:
            flips += [chess.flip_vertical, chess.flip_diagonal, chess.flip_anti_diagonal]
        images = [state_of(board.transform(flip).fen()) for flip in flips] + [mirrored_colours(state)]
        assert {table.index(image) for image in images} == {table.index(state)}
        assert {table.dtm(image) for image in images} == {table.dtm(state)}


@pytest.mark.parametrize("material", SOME_MATERIALS)
def test_numbers_and_positions_belong_together(material: str) -> None:
    table = tables(material)
    rng = random.Random(5)
    for white, plies in ((True, table.strong_to_move), (False, table.weak_to_move)):
        for number in rng.sample(range(table.size), 300):
            fen = table.fen(number, white)
            assert (fen is None) == (plies[number] == 255)
            if fen is not None:
                state = state_of(fen)
                assert table.index(state) == number
                dtm = table.dtm(state)
                assert plies[number] == (254 if dtm is None else abs(dtm))


def test_draws() -> None:
    bare = solve(state_of("8/8/8/4k3/8/8/8/4K3 w - - 0 1"))
    assert bare.dtm is None
    takes = state_of("8/8/8/8/8/8/1kR5/7K b - - 0 1")
    assert [takes.action_name(action) for action in solve(takes).best_moves] == ["Kxc2"]
    same_colour = state_of("k7/8/8/8/8/8/8/B1B4K w - - 0 1")
    assert solve(same_colour).dtm is None
    assert set(solve(same_colour).moves.values()) <= {None}
    stalemate = state_of("7k/8/6Q1/8/8/8/8/7K b - - 0 1")
    assert (solve(stalemate).dtm, solve(stalemate).best_moves) == (None, [])


def test_underpromotion_is_seen() -> None:
    # A queen stalemates, a knight or bishop cannot win; after c8=R Ka6 comes Ra8 mate.
    state = state_of("8/k1P5/2K5/8/8/8/8/8 w - - 0 1")
    moves = {state.action_name(action): dtm for action, dtm in solve(state).moves.items()}
    assert moves["c8=R"] == solve(state).dtm == 3
    assert moves["c8=Q"] is moves["c8=B"] is moves["c8=N+"] is None
    assert [state.action_name(action) for action in solve(state).best_moves] == ["c8=R"]


def test_other_material_is_refused() -> None:
    queen = state_of("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
    with pytest.raises(ValueError, match="does not cover this material"):
        tables("KRK").dtm(queen)
    with pytest.raises(ValueError, match="other material"):
        tables("KRK").index(queen)
    with pytest.raises(ValueError, match="every position is drawn"):
        tables("KBK")
    with pytest.raises(ValueError, match="unknown material"):
        tables("KXK")
    assert tables("KPK").dtm(queen) == 1, "a table knows the endgames that it leads to"
    assert tables("KNBK") is tables("KBNK")


@given(st.binary(min_size=8, max_size=8))
@settings(max_examples=300)
def test_any_eight_bytes_are_answered(content: bytes) -> None:
    (found,) = tables("KPK").dtm_many(np.frombuffer(content, np.uint8).reshape(1, 8)).tolist()
    assert found in (ILLEGAL, DRAW) or abs(found) < 60


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(IndexError):
        tables("KRK").fen(tables("KRK").size)
    with pytest.raises(TypeError):
        tables("KRK").fen(-1)


def test_a_stopped_table_is_not_handed_out() -> None:
    control = Control()
    control.stop()
    with pytest.raises(RuntimeError, match="stopped"):
        exact._native.endgames.Table.generate("BN", [], 1, control)


def fresh(material: str) -> DistanceTable:
    """Load or make the table as a new process would."""
    exact._tables.cache_clear()
    return tables(material)


def damage(content: bytes, how: str) -> bytes:
    middle = len(content) // 2
    return {
        "empty": b"",
        "cut": content[:middle],
        "cut header": content[:10],
        "longer": content + b"x",
        "bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "checksum": content[:40] + bytes([content[40] ^ 1]) + content[41:],
        "text": b"hello world" * 100,
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut", "cut header", "longer", "bit", "checksum", "text", "other"])
def test_damaged_files_are_made_again(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    good = fresh("KRK").strong_to_move.copy()
    file = tmp_path / "endgames" / "KRK.bin"
    content = file.read_bytes()
    fresh("KQK")
    file.write_bytes((tmp_path / "endgames" / "KQK.bin").read_bytes() if how == "other" else damage(content, how))
    capsys.readouterr()
    assert np.array_equal(fresh("KRK").strong_to_move, good)
    assert "is damaged" in capsys.readouterr().err
    assert file.read_bytes() == content
    assert sorted(path.name for path in file.parent.iterdir()) == ["KQK.bin", "KRK.bin"]


def test_a_good_file_is_loaded_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    made = fresh("KPK").weak_to_move.copy()
    monkeypatch.setattr(exact, "generate", None)
    assert np.array_equal(fresh("KPK").weak_to_move, made)


def test_without_a_place_to_keep_it_a_table_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path / "file"))
    assert fresh("KQK").dtm(state_of("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")) == 1
    assert "could not be kept" in capsys.readouterr().err


def test_where_tables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", "/a")
    assert cache_folder() == Path("/a")
    monkeypatch.delenv("ROOKERY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert cache_folder() == Path("/b/rookery")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache/rookery"
