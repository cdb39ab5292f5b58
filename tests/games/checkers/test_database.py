from __future__ import annotations

import random
from collections import Counter
from math import comb
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rookery
from rookery._native import Control
from rookery.games.checkers import database as exact
from rookery.games.checkers.rules import Checkers, CheckersState
from tests.games.checkers import oracle as rules
from tests.games.checkers.oracle_database import Key, key, other, solve

GAME = Checkers()
SIDES = {"b": 0, "w": 1}


def to_state(position: Key) -> CheckersState:
    pieces, side = position
    squares = {colour: [n for n, kind in pieces if kind.lower() == colour] for colour in "bw"}
    return CheckersState(GAME, squares["b"], squares["w"], [n for n, kind in pieces if kind in "BW"], SIDES[side])


def to_board(state: CheckersState) -> rules.Board:
    board = dict.fromkeys(state.black, "b") | dict.fromkeys(state.white, "w")
    return {n: kind.upper() if n in state.kings else kind for n, kind in board.items()}


def check_against_slow_solver(pieces: int) -> None:
    solved = exact.load()
    for position, plies in solve(pieces).items():
        outcome = solved.outcome(to_state(position))
        value = "draw" if plies is None else "win" if plies % 2 else "loss"
        assert (outcome.value, outcome.plies) == (value, plies), position


def test_all_positions_of_two_pieces() -> None:
    check_against_slow_solver(2)


@pytest.mark.slow
def test_all_positions_of_three_pieces() -> None:
    check_against_slow_solver(3)


def test_random_positions_are_uniform() -> None:
    """By hand: a man may stand on 28 squares, a king on 32; nobody shares a square."""
    solved, rng = exact.load(), random.Random(6)
    places = {(0, 0): 28 * 28 - 24, (0, 1): 28 * 31, (1, 0): 28 * 31, (1, 1): 32 * 31}  # kings of each side
    draws = 4000
    seen = Counter()
    for _ in range(draws):
        state = solved.random_position(GAME, 2, rng)
        assert (len(state.black), len(state.white)) == (1, 1)
        seen[state.black[0] in state.kings, state.white[0] in state.kings, state.side] += 1
    for (black, white), count in places.items():
        for side in (0, 1):
            chance = count / sum(places.values()) / 2
            spread = (draws * chance * (1 - chance)) ** 0.5
            assert abs(seen[black, white, side] - draws * chance) < 5 * spread, (black, white, side)
    sizes = Counter((len(s.black), len(s.white)) for s in (solved.random_position(GAME, 4, rng) for _ in range(500)))
    assert set(sizes) == {(1, 3), (2, 2), (3, 1)}


def check_values_follow(solved: exact.Database, pieces: tuple[int, ...], positions: int) -> None:
    """By slow rules, on random positions. Holding everywhere this proves the table: wins and losses by induction over
    their distances, and a draw because nobody has to leave the drawn positions."""
    rng = random.Random(5)
    seen = set()
    for _ in range(positions):
        state = solved.random_position(GAME, rng.choice(pieces), rng)
        side = "bw"[state.side]
        nexts = [rules.after(to_board(state), move) for move in rules.legal_moves(to_board(state), side)]
        outcomes = [solved.outcome(to_state(key(board, other(side)))) for board in nexts]
        losses = [o.plies for o in outcomes if o.value == "loss"]
        if losses:
            expected: tuple[str, int | None] = ("win", 1 + min(p for p in losses if p is not None))
        elif any(o.value == "draw" for o in outcomes):
            expected = ("draw", None)
        else:
            expected = ("loss", max((1 + o.plies for o in outcomes if o.plies is not None), default=0))
        outcome = solved.outcome(state)
        assert (outcome.value, outcome.plies) == expected, str(state)
        seen.add(outcome.value)
    assert seen == {"win", "draw", "loss"}


def test_values_follow_from_the_moves() -> None:
    check_values_follow(exact.load(), (3, 4, 4), 3000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    return tmp_path / "checkers"


def test_endgames_in_files(folder: Path) -> None:
    """The code of five and six pieces, with three in files."""
    packed, whole = exact.load_packed(3, 2), exact.load()
    assert packed.counts() == {name: row for name, row in whole.counts().items() if pieces_in(name) < 4}
    assert len(packed.native.table) < 5000
    check_values_follow(packed, (3,), 1000)
    rng = random.Random(8)
    for _ in range(1000):
        state = whole.random_position(GAME, 3, rng)
        assert packed.solve(state) == whole.solve(state)
    table = packed.native.unpacked(4).table
    assert np.array_equal(table, whole.native.table[: table.size])
    assert len(list((folder / "3-pieces").iterdir())) == 12


def test_only_missing_groups_are_solved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exact.load_packed(3, 2, threads=1)
    before = {file.name: file.read_bytes() for file in (folder / "3-pieces").iterdir()}
    assert set(before) >= {"1K1-1K0.bin", "1K0-1K1.bin", "0K2-0K1.bin"}
    times = {name: (folder / "3-pieces" / name).stat().st_mtime_ns for name in before}
    (folder / "3-pieces" / "1K1-1K0.bin").unlink()
    damaged = folder / "3-pieces" / "0K2-0K1.bin"
    damaged.write_bytes(before[damaged.name][:-1])
    exact.load_packed(3, 2, threads=2)
    assert f"{damaged} is damaged (its size is wrong) and will be made again" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in (folder / "3-pieces").iterdir()} == before
    made = {name for name, time in times.items() if (folder / "3-pieces" / name).stat().st_mtime_ns != time}
    assert made == {"1K1-1K0.bin", "1K0-1K1.bin", "0K2-0K1.bin", "0K1-0K2.bin"}


def test_a_damaged_block_is_refused_when_it_is_needed(folder: Path) -> None:
    exact.load_packed(3, 2)
    rng, whole, refused = random.Random(4), exact.load(), 0
    for file in (folder / "3-pieces").iterdir():
        content = bytearray(file.read_bytes())
        begin, end = 5000, len(content.rstrip(b"\0"))  # blocks follow the codes
        for i in range(begin + (end - begin) // 3, end, 1000):
            content[i] ^= 16
        file.unlink()  # the content that is mapped stays
        file.write_bytes(content)
    packed = exact.load_packed(3, 2)
    for _ in range(300):
        state = whole.random_position(GAME, 3, rng)
        try:
            assert packed.outcome(state) == whole.outcome(state)
        except ValueError:
            with pytest.raises(ValueError, match=r"/\dK\d-\dK\d.bin is damaged: remove it, and it will be made again$"):
                packed.outcome(state)
            refused += 1
    assert refused > 50


def test_files_of_other_materials_are_refused(folder: Path) -> None:
    native = exact.load_packed(3, 2).native
    place = next(i for i, row in enumerate(native.materials) if tuple(row[:4]) == (0, 2, 0, 1))
    for name, sentence in [("0K2-0K1", "holds something else"), ("absent", "cannot be read"), ("", "cannot be read")]:
        with pytest.raises(ValueError, match=sentence):
            native.attach(place, str(folder / "3-pieces" / f"{name}.bin"))
    table = folder / "2-pieces.bin"
    with pytest.raises(ValueError, match="holds something else"):
        native.attach(place, str(table))


def test_a_machine_without_room_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "available_memory", lambda: 1000)
    with pytest.raises(OSError, match=r"with 3 pieces needs 0 MB of memory, and there are 0 MB"):
        exact.load_packed(3, 2)
    monkeypatch.undo()
    monkeypatch.setenv("ROOKERY_CACHE", str(folder))
    monkeypatch.setattr(exact.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match=r"needs 0 MB of disk space in .*, and there are 0 MB"):
        exact.load_packed(3, 2)


def pieces_in(material: str) -> int:
    return sum(int(part.removesuffix("K")) for part in material.replace(" v ", "+").split("+"))


@pytest.mark.parametrize(("pieces", "known"), [(2, 6_972), (3, 261_224), (4, 7_092_774)])
def test_numbers_of_positions(pieces: int, known: int) -> None:
    """The published numbers count every placement, also of one colour alone; colours exchanged are counted apart."""
    one_colour = sum(comb(28, men) * comb(32 - men, pieces - men) for men in range(pieces + 1))
    ours = sum(
        wins + draws + losses
        for name, (wins, draws, losses, _) in exact.load().counts().items()
        if pieces_in(name) == pieces
    )
    assert ours + 2 * one_colour == known


def test_king_against_king_as_published() -> None:
    """Wins, draws and losses of the side to move and the longest win, as E. Trice reports them of his own database."""
    assert exact.load().counts()["1K v 1K"] == (230, 654, 108, 11)


@pytest.mark.slow
@pytest.mark.parametrize(("pieces", "known"), [(5, 148_688_232), (6, 2_503_611_964)])
def test_five_and_six_pieces_as_published(pieces: int, known: int) -> None:
    """Placements by Schaeffer et al. Six pieces take 25 minutes of CPU time and 1.4 GB of memory."""
    solved = exact.load(pieces)
    one_colour = sum(comb(28, men) * comb(32 - men, pieces - men) for men in range(pieces + 1))
    rows = [row for name, row in solved.counts().items() if pieces_in(name) == pieces]
    assert sum(sum(row[:3]) for row in rows) + 2 * one_colour == known
    check_values_follow(solved, (pieces,), 20_000)
    for place, material in enumerate(solved.native.materials):
        if sum(material[:4]) == pieces:
            solved.native.verify(place)  # every block


def test_facts_that_can_be_counted_by_hand() -> None:
    table = exact.load().native.table
    [(first, size)] = [row[4:] for row in exact.load().native.materials if tuple(row[:4]) == (0, 1, 0, 1)]
    # In each of four directions a king on 18 squares of the 6x6 cells in the middle can be jumped.
    assert (table[first : first + size] == 1).sum() == 4 * 18
    # Two kings drive one out of the double corner; one king does not.
    assert exact.solve(GAME.parse_state("W:WK18,K23:BK1")).outcome.value == "win"
    assert exact.solve(GAME.parse_state("W:WK18:BK1")).outcome.value == "draw"


def test_single_positions() -> None:
    assert exact.solve(GAME.parse_state("B:W25,30:B21")).outcome == exact.Outcome("loss", 0)
    state = GAME.parse_state("W:W25,K26:B21")
    solution = exact.solve(state)
    assert solution.outcome == exact.Outcome("win", 1)
    assert [state.action_name(action) for action in solution.best_moves] == ["26-30"]
    assert exact.solve(GAME.parse_state("W:WK1:BK6")).outcome == exact.Outcome("win", 1)
    alone = GAME.parse_state("B:W:B1")
    assert exact.solve(alone).outcome == exact.Outcome("win", 1)
    nothing = exact.solve(GAME.parse_state("W:W:B1"))
    assert (nothing.outcome, nothing.moves, nothing.best_moves) == (exact.Outcome("loss", 0), {}, [])


def test_colours_do_not_matter() -> None:
    solved, rng = exact.load(), random.Random(2)
    for _ in range(300):
        state = solved.random_position(GAME, 4, rng)
        black, white, kings = ([33 - n for n in squares] for squares in (state.white, state.black, state.kings))
        assert solved.outcome(CheckersState(GAME, black, white, kings, 1 - state.side)) == solved.outcome(state)


def test_the_number_of_threads_does_not_matter() -> None:
    one, three = exact.generate(3, threads=1), exact.generate(3, threads=3)
    assert np.array_equal(one.table, three.table)
    assert np.array_equal(one.table, exact.load().native.table[: one.table.size])


def test_a_damaged_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROOKERY_CACHE", str(tmp_path))
    load = exact.load.__wrapped__
    expected = load(2).native.table.tobytes()
    [file] = (tmp_path / "checkers").iterdir()
    whole = file.read_bytes()
    for content in (b"", b"hello", whole[:-3], whole[:-1] + bytes([whole[-1] ^ 1]), whole[:9] + b"\1" + whole[10:]):
        file.write_bytes(content)
        assert load(2).native.table.tobytes() == expected
        assert "is damaged" in capsys.readouterr().err
        assert file.read_bytes() == whole
    assert load(2).native.table.tobytes() == expected
    assert capsys.readouterr().err == ""


def test_too_many_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="positions of up to 4 pieces are solved, and this one has 24"):
        exact.solve(GAME.initial_state())
    with pytest.raises(ValueError, match="endgames of 2 to 6 pieces"):
        exact.load(7)
    with pytest.raises(ValueError, match="there are 2 to 4 pieces, not 5"):
        exact.load().random_position(GAME, 5, random.Random(0))


@pytest.mark.parametrize("name", ["best:pieces={}", "oracle:pieces={}", "td:pieces={}"])
def test_agents_do_not_solve_for_minutes(folder: Path, name: str) -> None:
    for pieces in (5, 6):
        with pytest.raises(ValueError, match=r"endgames of 5 pieces are not solved yet: `rookery solve checkers"):
            rookery.agent(name.format(pieces), GAME)
    assert not folder.exists()


def test_agents_look_up_what_is_solved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2 pieces in memory and 3 in files, of which one is missing at first."""
    solved = exact.load_packed(3, 2)
    monkeypatch.setattr(exact, "PIECES", 2)
    monkeypatch.setattr(exact, "load", lambda pieces: solved)
    files = sorted(folder.rglob("3-pieces/*.bin"))
    assert len(files) == sum(sum(material[:4]) == 3 for material in solved.native.materials)
    assert exact.look_up(3) is solved
    files[-1].unlink()
    with pytest.raises(ValueError, match="endgames of 3 pieces are not solved yet"):
        exact.look_up(3)
    assert exact.look_up(2) is solved


def test_a_stopped_solution_is_no_solution() -> None:
    control, native = Control(), exact.load().native
    control.stop()
    for call in (type(native).solve, native.solve_group, native.unpacked):
        with pytest.raises(RuntimeError, match="stopped before they were complete"):
            call(3, 1, control)


def test_value_kept() -> None:
    solved = exact.load()

    def perfect(state: object, rng: random.Random) -> int:
        assert isinstance(state, CheckersState)
        return solved.solve(state).best_moves[0]

    def worst(state: object, rng: random.Random) -> int:
        assert isinstance(state, CheckersState)
        moves = solved.solve(state).moves
        return min(moves, key=lambda action: moves[action].preference)

    for value in ("win", "draw"):
        assert exact.value_kept(perfect, value, 100).share == 1  # type: ignore[arg-type]
        assert exact.value_kept(worst, value, 100).share == 0  # type: ignore[arg-type]
        random_play = exact.value_kept(lambda state, rng: rng.choice(state.legal_actions()), value, 300)  # type: ignore[arg-type]
        assert 0.2 < random_play.share < 0.8
        low, high = random_play.interval
        assert low < random_play.share < high
