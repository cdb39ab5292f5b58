from __future__ import annotations

import contextlib
import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.game import TERMINAL, Overlay
from rookery.games.morpion.rules import DIRECTIONS, Morpion, MorpionState, Move, verify
from rookery.registry import load
from tests.games.morpion import oracle

VARIANTS = list(Morpion.variants)
CHECKOUT = Path(__file__).parents[3]
SHARED = next((d for d in (CHECKOUT.parent / "shared", CHECKOUT.parent.parent / "shared") if d.is_dir()), None)


def morpion(variant: str = "5D", board: int | None = None) -> Morpion:
    game = load("morpion", variant, board=board)
    assert isinstance(game, Morpion)
    return game


def slow(game: Morpion) -> oracle.Position:
    return oracle.Position(game.length, game.touching, game.board)


def corner(game: Morpion) -> int:
    """Column and row of the square around the cross, which lies in the middle of the board."""
    return (game.side - {5: 10, 4: 7}[game.length]) // 2


def to_oracle(game: Morpion, action: int) -> oracle.Move:
    """Reads an action number as it is documented: ((direction * cells) + first cell) * length + position."""
    cells = game.side * game.side
    position = action % game.length
    first = action // game.length % cells
    direction = action // game.length // cells
    point = first % game.side - corner(game), first // game.side - corner(game)
    return oracle.move(game.length, "-|/\\"[direction], point, position)


def random_moves(state: MorpionState, rng: random.Random, moves: int = 1000) -> MorpionState:
    for _ in range(moves):
        if state.player() == TERMINAL:
            break
        state.apply(rng.choice(state.legal_actions()))
    return state


# Counts and means


@pytest.mark.parametrize(
    ("variant", "counts"),
    [
        ("5D", [28, 740, 18416, 430488]),
        ("5T", [28, 748, 18992, 456520]),
        ("4D", [40, 1480]),
        ("4T", [40, 1496]),
    ],
)
def test_sequences_from_the_start(variant: str, counts: list[int]) -> None:
    state = morpion(variant).initial_state()
    assert [state.perft(depth) for depth in range(1, len(counts) + 1)] == counts


@pytest.mark.parametrize(("variant", "mean"), [("5D", 42.90), ("5T", 53.62), ("4D", 24.06), ("4T", 37.19)])
def test_mean_length_of_uniform_play(variant: str, mean: float) -> None:
    games = morpion(variant).random_games(100_000, seed=20, threads=1)
    sigma = games.lengths.std() / np.sqrt(games.games)
    rounding = 0.005  # of the published mean
    assert abs(games.lengths.mean() - mean) < 5 * sigma + rounding
    assert np.array_equal(games.returns[:, 0], games.lengths)


def test_on_a_board_of_the_size_of_the_cross_8_of_the_28_first_moves_are_gone() -> None:
    # The rows and columns 3 and 6 of the cross end at its border: their 8 moves outward would leave the board.
    assert morpion(board=10).initial_state().perft(1) == 20


# Records


def records() -> list[Path]:
    return sorted((SHARED / "data/morpion").glob("*-*.*")) if SHARED else []


@pytest.mark.skipif(SHARED is None, reason="the folder of reference data is not there")
def test_the_record_grids_are_there() -> None:
    assert [path.stem for path in records()] == ["4D-35", "4T-62", "5D-82", "5T-170", "5T-178"]


@pytest.mark.parametrize("path", records(), ids=lambda path: path.stem)
def test_record_grids_are_legal_and_terminal(path: Path) -> None:
    variant, score = path.stem.split("-")
    game = morpion(variant)
    if path.suffix == ".psol":
        state = game.parse_state(path.read_text())
        assert state.psol().replace("+", "") == path.read_text().replace("+", "")
    else:
        state = game.initial_state()
        for move in json.loads(path.read_text())["moves"]:
            direction = ["H", "V", "DP", "DN"].index(move["dir"])
            dx, dy = [(1, 0), (0, 1), (1, -1), (1, 1)][direction]
            column, row = (corner(game) + move[axis] - move["pos"] * d for axis, d in (("x", dx), ("y", dy)))
            state.apply(game.action(Move(direction, column, row, move["pos"])))
    for record in (state.psol(), state.svg()):
        result = verify(record, variant)
        assert (result.legal, result.terminal, result.score, result.first_illegal) == (True, True, int(score), None)
    assert state.returns() == [float(score)]

    position = slow(game)
    for action in state.moves:
        position.play(to_oracle(game, action))  # asserts legality
    assert position.legal_moves() == set()


@pytest.mark.skipif(SHARED is None, reason="the folder of reference data is not there")
def test_a_touching_record_is_no_disjoint_one() -> None:
    assert SHARED is not None
    result = verify((SHARED / "data/morpion/5T-178.psol").read_text(), "5D")
    assert not result.legal
    assert not result.terminal
    assert result.first_illegal is not None
    assert "overlaps the line of move" in result.first_illegal


# Rules against the oracle


@pytest.mark.parametrize(
    ("variant", "board"),
    [(variant, board) for variant in VARIANTS for board in (None, 16, 20, 22)]
    + [("5D", 10), ("5T", 10), ("5T", 11), ("4D", 8), ("4T", 8), ("4T", 9), ("5T", 64)],
)
def test_legal_moves_agree_with_the_oracle(variant: str, board: int | None) -> None:
    game, rng = morpion(variant, board), random.Random(f"{variant} {board}")
    state, position = game.initial_state(), slow(game)
    while True:
        actions = state.legal_actions()
        assert actions == sorted(set(actions))
        assert {to_oracle(game, action) for action in actions} == position.legal_moves()
        assert state.perft(1) == len(actions)
        if not actions:
            break
        action = rng.choice(actions)
        state.apply(action)
        position.play(to_oracle(game, action))
    assert state.player() == TERMINAL
    assert state.returns() == [float(len(position.drawn))]


def test_the_border_of_a_small_board_stops_games() -> None:
    unlimited = morpion("4T").random_games(2000, seed=1, threads=1).lengths.mean()
    limited = morpion("4T", 8).random_games(2000, seed=1, threads=1).lengths.mean()
    assert limited < unlimited - 5


def test_touching_lines_may_share_an_end_dot_and_disjoint_ones_may_not() -> None:
    # Row 3 of the cross has dots 0-3 and 6-9. After the line 0-4, the line 4-8 shares the dot 4; 5-9 shares nothing.
    for variant, allowed in (("5T", True), ("5D", False)):
        game = morpion(variant, 10)
        state = game.initial_state()
        state.apply(game.action(Move(direction=0, column=0, row=3, position=4)))
        assert state.is_legal(game.action(Move(direction=0, column=4, row=3, position=1))) is allowed
        assert state.is_legal(game.action(Move(direction=0, column=5, row=3, position=0)))
        assert state.why_illegal(Move(0, 3, 3, 2)) == "it overlaps the line of move 1"


def test_a_dot_filled_by_one_line_completes_the_other_without_a_move() -> None:
    # After the line 0-4 of row 3, the lines 4-8 and 5-9 need the same new dot 5.
    game = morpion("5T", 10)
    state = game.initial_state()
    state.apply(game.action(Move(0, 0, 3, 4)))
    state.apply(game.action(Move(0, 5, 3, 0)))
    assert not state.is_legal(game.action(Move(0, 4, 3, 1)))
    assert state.why_illegal(Move(0, 4, 3, 1)) == "its dot is there already"


@pytest.mark.parametrize("variant", VARIANTS)
def test_key_tells_positions_apart_and_only_positions(variant: str) -> None:
    game = morpion(variant)
    seen: dict[bytes, object] = {}
    first = game.initial_state()
    for a in first.legal_actions():
        state = first.clone()
        state.apply(a)
        for b in state.legal_actions()[::3]:
            end = state.clone()
            end.apply(b)
            position = slow(game)
            for action in end.moves:
                position.play(to_oracle(game, action))
            assert seen.setdefault(end.key(), position.position()) == position.position()
    assert len(set(seen.values())) == len(seen)


@given(st.sampled_from(VARIANTS), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_key_and_legal_actions_do_not_depend_on_the_order_of_moves(variant: str, rng: random.Random) -> None:
    game = morpion(variant)
    state = random_moves(game.initial_state(), rng, 12)
    other, left = game.initial_state(), list(state.moves)
    while left:
        action = rng.choice([action for action in left if other.is_legal(action)])
        other.apply(action)
        left.remove(action)
    assert other.key() == state.key()
    assert other == state
    assert other.legal_actions() == state.legal_actions()
    assert np.array_equal(other.observation(), state.observation())
    other.apply(rng.choice(other.legal_actions()))  # no game is over after 12 moves
    assert other.key() != state.key()


def test_illegal_actions_are_refused() -> None:
    game = morpion(board=16)
    state = game.initial_state()
    legal = state.legal_actions()
    for action in [-1, game.num_actions, 2**31 - 1, -(2**31), legal[0] + 1, 0, game.num_actions - 1]:
        assert action not in legal
        assert not state.is_legal(action)
        with pytest.raises(ValueError, match="not legal"):
            state.apply(action)
        with pytest.raises(ValueError, match=r"move 1, action .* is not legal"):
            MorpionState(game, [action])
    assert state.moves == []
    state.apply(legal[0])
    with pytest.raises(ValueError, match="not legal"):
        state.apply(legal[0])
    with pytest.raises(ValueError, match="actions are 0 to 5119"):
        game.move(5120)
    with pytest.raises(ValueError, match="leaves the board of 16"):
        game.action(Move(0, 12, 0, 0))


@pytest.mark.parametrize(
    "options",
    [{"length": 3}, {"length": 6}, {"board": 0}, {"board": 9}, {"board": 65}, {"board": -1}, {"length": 4, "board": 7}],
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must have"):
        Morpion(**options)


def test_clones_are_independent() -> None:
    game, rng = morpion("5T"), random.Random(3)
    state = random_moves(game.initial_state(), rng, 20)
    before, actions = state.key(), state.legal_actions()
    clone = state.clone()
    random_moves(clone, rng)
    assert (state.key(), state.legal_actions()) == (before, actions)
    assert clone.moves[:20] == state.moves


def test_random_games_do_not_depend_on_the_number_of_threads() -> None:
    game = morpion("5T")
    one, two = (game.random_games(1000, seed=5, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert not np.array_equal(one.lengths, game.random_games(1000, seed=6, threads=1).lengths)


def test_random_games_start_from_the_given_state() -> None:
    game = morpion("5D")
    start = random_moves(game.initial_state(), random.Random(1), 10)
    games = game.random_games(100, seed=1, threads=1, start=start)
    assert np.array_equal(games.returns[:, 0], games.lengths + 10)


# Observation


def plane(*cells: tuple[int, int]) -> np.ndarray:
    """Cells by column and row."""
    board = np.zeros((10, 10), np.float32)
    for column, row in cells:
        board[row, column] = 1
    return board


def test_observation_after_a_diagonal_first_move() -> None:
    game = morpion("5D", 10)
    state = game.initial_state()
    state.apply(game.action(Move(direction=2, column=0, row=4, position=2)))
    planes = state.observation()
    assert planes.shape == game.observation_shape == (9, 10, 10)
    assert np.array_equal(planes[0], plane(*oracle.cross(5), (2, 2)))
    assert not planes[1].any()
    assert not planes[2].any()
    assert np.array_equal(planes[3], plane((0, 4), (1, 3), (2, 2), (3, 1)))
    assert not planes[4].any()
    across = [(2, 0), (7, 0), (4, 3), (5, 3), (4, 6), (5, 6), (2, 9), (7, 9)]
    assert np.array_equal(planes[5], plane(*across))
    assert np.array_equal(planes[6], plane(*[(row, column) for column, row in across]))
    assert np.array_equal(planes[7], plane((7, 7)))
    assert np.array_equal(planes[8], plane((7, 2), (2, 7)))


def test_observation_shows_segments_not_just_covered_dots() -> None:
    game = morpion("5T", 10)
    state = game.initial_state()
    state.apply(game.action(Move(0, 0, 3, 4)))
    assert np.array_equal(state.observation()[1], plane((0, 3), (1, 3), (2, 3), (3, 3)))
    state.apply(game.action(Move(0, 4, 3, 1)))  # touches the first line in (4, 3)
    assert np.array_equal(state.observation()[1], plane(*[(column, 3) for column in range(8)]))


# Notation and records


def test_reference_dot_and_names() -> None:
    # The reference dot (28,28) is the cross's dot (3,3), or (2,2) for lines of 4.
    for variant, first, name in [
        ("5D", (-1, 3), "(24,28) - +2"),
        ("5D", (0, 3), "(29,28) - -2"),
        ("4D", (-1, 2), "(25,28) - +2"),
        ("4D", (0, 2), "(29,28) - -1"),
    ]:
        game = morpion(variant)
        column, row = (corner(game) + i for i in first)
        position = 0 if first[0] < 0 else game.length - 1
        state = game.initial_state()
        action = game.action(Move(0, column, row, position))
        assert state.is_legal(action)
        assert state.action_name(action) == name
        assert game.parse_state(f"(28,28);{name}").moves == [action]


def test_the_middle_dot_has_offset_0() -> None:
    state = morpion().parse_state("(28,28);(27,27) / 0")
    move = state.game.move(state.moves[0])
    assert move.position == 2
    assert DIRECTIONS[move.direction] == "/"
    assert state.psol() == "(28,28)\n(27,27) / 0\n"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("board", [None, 16])
def test_text_round_trip(variant: str, board: int | None) -> None:
    game, rng = morpion(variant, board), random.Random(11)
    state = game.initial_state()
    assert str(state) == "(28,28)"
    while True:
        again = game.parse_state(str(state))
        assert again.key() == state.key()
        assert again.moves == state.moves
        assert game.parse_state(state.psol()) == state
        assert len({state.action_name(action) for action in state.legal_actions()}) == len(state.legal_actions())
        if state.player() == TERMINAL:
            break
        random_moves(state, rng, 5)


@pytest.mark.parametrize(
    "text",
    [
        "(28,28)\r\n(27,27) / 0\r\n\r\n(30,28) - 2\r\n",
        "(28,28)\n\n(27,27) / +0\n( 30 , 28 ) - +2",
        "# a comment\n(0,0)\n(-1,-1) / 0\n(2,0)-+2",
        "(7,-3)\n(6,-4) / 0\n(9,-3) - 2",
        "\ufeff(28,28);(27,27) / -0;(30,28) - 2;",
    ],
)
def test_lenient_reading(text: str) -> None:
    assert verify(text).first_illegal is None
    assert verify(text).score == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("(27,27) / 0", "its dot is there already"),
        ("(26,25) - +1", "there is no dot at (25,25)"),
        ("(30,28) - -1", "it overlaps the line of move 2"),
        ("(27,25) - -3", "the line's middle lies -3 steps from the new dot, outside the line"),
        ("(9999,25) - -2", "there is no dot at (9995,25)"),
    ],
)
def test_the_first_illegal_move_is_named(line: str, reason: str) -> None:
    # In row 28, columns 25-28 and 31-34 are dots; move 2 draws 25-29, so the line 27-31 overlaps it.
    text = f"(28,28)\n(27,27) / 0\n\n(29,28) - -2\n{line}\n(24,28) - 2\n"
    result = verify(text)
    assert (result.legal, result.terminal, result.score) == (False, False, 2)
    assert result.first_illegal == f"line 5: move 3, {line}, is not legal: {reason}"
    with pytest.raises(ValueError, match="line 5: move 3"):
        morpion().parse_state(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "reference dot"),
        ("# nothing", "reference dot"),
        ("(27,27) / 0", "line 1: expected the reference dot"),
        ("(28,28)\n(27,27) x 0", "line 2: expected a move such as"),
        ("(28,28)\n(27,27) / 10", "line 2: expected a move such as"),
        ("(28,28)\n(28,28)", "line 2: expected a move such as"),
        ("(28,28)" + " " * 1_000_000, "at most 1000000 characters"),
        ("<svg></svg>", "carries no record"),
        ("</metadata><metadata>", "carries no record"),
        ('<!DOCTYPE x [<!ENTITY a "(28,28)">]><svg><metadata>&a;</metadata></svg>', "expected the reference dot"),
    ],
)
def test_what_is_no_record_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verify(text)


def test_verify_refuses_unknown_variants() -> None:
    with pytest.raises(ValueError, match="known variants: 5D, 5T, 4D, 4T"):
        verify("(28,28)", "6D")


FUZZED_5D, FUZZED_4T = morpion("5D"), morpion("4T", 8)


@given(st.text() | st.text(alphabet="(28,7)-|/\\+0;\n# "))
@settings(max_examples=300)
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (FUZZED_5D.parse_state, FUZZED_4T.parse_state, verify):
        with contextlib.suppress(ValueError):
            read(text)


@given(st.randoms(use_true_random=False), st.data())
@settings(max_examples=100)
def test_mutated_records_are_read_or_refused(rng: random.Random, data: st.DataObject) -> None:
    variant = data.draw(st.sampled_from(VARIANTS))
    state = random_moves(morpion(variant).initial_state(), rng, 15)
    text = data.draw(st.sampled_from([state.psol(), str(state), state.svg()]))
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 5))
    insert = data.draw(st.text(alphabet="0123456789()+-|/\\;,<>& \n", max_size=4))
    mutated = text[:place] + insert + text[place + length :]
    try:
        result = verify(mutated, variant)
    except ValueError:
        return
    assert result.legal == (result.first_illegal is None)
    assert result.score <= 15 + insert.count(")")


# Drawing


def test_svg_is_well_formed_and_carries_the_record() -> None:
    for variant in VARIANTS:
        state = random_moves(morpion(variant).initial_state(), random.Random(2))
        actions = state.moves
        svg = state.svg()
        root = ElementTree.fromstring(svg)
        tags = [element.tag.split("}")[1] for element in root.iter()]
        assert tags.count("circle") == len(state.game.cross) + len(actions)
        numbers = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert numbers == [str(i + 1) for i in range(len(actions))]
        assert verify(svg).score == len(actions)  # reads the variant, too
        assert verify(svg).terminal
        assert state.game.parse_state(svg) == state


def test_svg_overlay_and_touchable_cells() -> None:
    state = random_moves(morpion("5D").initial_state(), random.Random(2), 15)
    actions = state.legal_actions()
    assert actions
    dot, end = state.action_cells(actions[0])
    overlay = Overlay({dot: "focus"}, [(dot, end)], {dot: "<A>"}, dict.fromkeys(actions, 0.5))
    root = ElementTree.fromstring(state.svg(overlay))
    touchable = {element.get("data-cell") for element in root.iter()}
    for action in actions:
        assert {str(cell) for cell in state.action_cells(action)} <= touchable
    assert "<A>" in [element.text for element in root.iter()]


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_touches_tell_every_line_apart(variant: str) -> None:
    game = morpion(variant, 16)
    state = game.initial_state()
    by_cells: dict[tuple[int, ...], int] = {}
    for direction in range(4):
        for position in range(game.length):
            dx, dy = [(1, 0), (0, 1), (1, -1), (1, 1)][direction]
            action = game.action(Move(direction, 8 - position * dx, 8 - position * dy, position))
            cells = tuple(state.action_cells(action))
            assert cells[0] == 8 * 16 + 8
            assert set(cells) <= set(game.line_cells(action))
            assert by_cells.setdefault(cells, action) == action
