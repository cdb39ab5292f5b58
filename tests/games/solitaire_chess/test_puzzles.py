from __future__ import annotations

import random

import numpy as np
import pytest

from rookery import _native
from rookery.games.solitaire_chess.exact import capture_tree, solve
from rookery.games.solitaire_chess.puzzles import (
    LEVELS,
    MAX_SOLUTIONS,
    PACK,
    STUCK,
    canonical,
    hints,
    level_of,
    make_pack,
    make_puzzles,
    make_solo_puzzles,
    pack,
    rating,
)
from rookery.games.solitaire_chess.rules import SolitaireChess
from tests.games.solitaire_chess import oracle
from tests.games.solitaire_chess.published import published_puzzles

GAME = SolitaireChess()


@pytest.mark.parametrize("level", LEVELS)
def test_puzzles_have_one_final(level: str) -> None:
    puzzles = make_puzzles(level, 12, seed=4)
    assert len({canonical(puzzle.rows) for puzzle in puzzles}) == 12
    for puzzle in puzzles[:4]:
        position = oracle.parse(puzzle.rows)
        finals = {f"{letter}{'abcd'[file - 1]}{rank}" for letter, (file, rank) in oracle.finals(position)}
        assert finals == {puzzle.final}
        assert len(position) == puzzle.pieces in LEVELS[level].pieces
        assert 1 <= puzzle.solutions <= MAX_SOLUTIONS
        assert level_of(puzzle.rating) == level
        assert level != "expert" or "K" not in puzzle.rows


def test_same_seed_same_puzzles() -> None:
    assert make_puzzles("advanced", 8, seed=2) == make_puzzles("advanced", 8, seed=2, threads=2)
    assert make_puzzles("advanced", 8, seed=2) != make_puzzles("advanced", 8, seed=3)


def test_bad_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown level 'easy'; known levels: beginner"):
        make_puzzles("easy", 1)
    with pytest.raises(ValueError, match="0 to 100000"):
        make_puzzles("beginner", -1)
    with pytest.raises(ValueError, match="at least 2 pieces"):
        make_solo_puzzles(SolitaireChess(8, 8, max_captures=2), 40, 1)
    with pytest.raises(ValueError, match="one king at most"):
        _native.solitaire_chess.make_puzzles(GAME.rules, 1, 3, [0, 0, 1, 2], None, 1, 0, 1)


def test_canonical_names_mirror_images_alike() -> None:
    assert canonical("R.../..../..../PN..") == canonical("...R/..../..../..NP")
    assert canonical("R.../..../..../....") != canonical("..../R.../..../....")


def test_the_pack_is_as_it_was_made() -> None:
    assert PACK.read_text(encoding="utf-8") == make_pack(0)
    puzzles = pack()
    assert len({canonical(puzzle.rows) for puzzle in puzzles}) == len(puzzles) == 80
    for puzzle in puzzles:
        tree = capture_tree(GAME.parse_state(puzzle.rows))
        assert (tree.finals, tree.solutions) == ((puzzle.final,), puzzle.solutions)
        assert puzzle.rating == round(rating(puzzle.pieces, tree.distinct_states), 2)


def test_the_solutions_in_the_pack_solve_its_puzzles() -> None:
    for puzzle in pack():
        position = oracle.parse(puzzle.rows)
        assert len(puzzle.moves) == puzzle.pieces - 1
        for name in puzzle.moves:
            start, end = (("abcd".index(square[0]) + 1, int(square[1])) for square in name[1:].split("x"))
            assert position[start][0] == name[0]
            assert oracle.may_capture(position, start, end), (puzzle.rows, name)
            position = oracle.capture(position, start, end)
        [((file, rank), (letter, _))] = position.items()
        assert f"{letter}{'abcd'[file - 1]}{rank}" == puzzle.final


def test_solo_puzzles_can_be_solved_and_have_a_king() -> None:
    game = SolitaireChess(8, 8, max_captures=2)
    states = make_solo_puzzles(game, 10, 20, seed=1)
    assert len({str(state) for state in states}) == 20
    for state in states:
        assert (state.pieces, str(state).count("K")) == (10, 1)
        assert solve(state).solvable


def test_hints() -> None:
    assert hints(GAME.parse_state("R.../..../..../P...")) == (
        "The rook on a4 moves first.", "It takes the pawn on a1.", "The last piece is the rook, on a1.",
    )  # fmt: skip
    assert hints(GAME.parse_state("K.../..../..../P...")) == (STUCK,)
    assert hints(GAME.parse_state("K.../..../..../....")) == ("One piece is left: the puzzle is solved.",)


def test_stuck_as_soon_as_there_is_no_solution() -> None:
    rng = random.Random(3)
    for _ in range(30):
        state = GAME.random_start(rng, 4, solvable=False)
        assert (hints(state) == (STUCK,)) == (not oracle.finals(oracle.parse(str(state))))


def ranks(values: list[float]) -> np.ndarray:
    """Ranks with ties shared, by counting."""
    array = np.array(values)
    return np.array([(array < value).sum() + (array == value).sum() / 2 for value in values])


def test_ratings_order_published_puzzles_as_their_makers_did() -> None:
    rows = published_puzzles()
    measured = [
        rating(state.pieces, capture_tree(state).distinct_states)
        for state in (GAME.parse_state(row["rows"]) for row in rows)
    ]
    given = [float(["Beginner", "Intermediate", "Advanced", "Expert"].index(row["level"])) for row in rows]
    assert np.corrcoef(ranks(measured), ranks(given))[0, 1] >= 0.92
    published = {canonical(row["rows"]) for row in rows}
    assert not published & {canonical(puzzle.rows) for puzzle in pack()}


@pytest.mark.parametrize("level", ["beginner", "intermediate", "advanced"])
def test_kings_are_as_rare_as_in_published_puzzles(level: str) -> None:
    """Of 36 published puzzles 5 have a king; left to chance, nearly all of the harder ones would."""
    share = np.mean(["K" in puzzle.rows for puzzle in make_puzzles(level, 100, seed=3, threads=2)])
    assert 0.05 < share < 0.25
    assert make_puzzles(level, 3, seed=2**62 - 1)


def test_one_puzzle_of_seven_has_a_king() -> None:
    count = 3000
    kings = sum("K" in puzzle.rows for puzzle in make_puzzles("beginner", count, seed=8))
    assert abs(kings - count / 7) < 4 * (count / 7 * 6 / 7) ** 0.5


def test_a_tree_too_large_to_count_says_so() -> None:
    assert capture_tree(GAME.parse_state("QQQQ/QQQQ/QQQQ/QQQQ")).saturated
    assert not capture_tree(GAME.parse_state("R.../.B../..N./P...")).saturated
