from __future__ import annotations

import random
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rookery
from rookery import Control, Overlay
from rookery.game import TERMINAL
from rookery.games.solitaire_chess.exact import (
    SEVERAL_FINALS,
    UNSOLVABLE,
    Answer,
    Enumeration,
    capture_tree,
    enumerate_boards,
    solve,
)
from rookery.games.solitaire_chess.rules import KINDS, PIECE_SET, SolitaireChess, SolitaireChessState
from rookery.search import perft
from tests.games.solitaire_chess import oracle
from tests.games.solitaire_chess.published import published_puzzles


def square_name(square: oracle.Square) -> str:
    return f"{chr(ord('a') + square[0] - 1)}{square[1]}"


def oracle_moves(position: oracle.Position, game: SolitaireChess) -> set[str]:
    return {
        f"{position[a][0]}{square_name(a)}x{square_name(b)}"
        for a, b in oracle.captures(position, game.max_captures, game.king_last)
    }


def oracle_finals(text: str, game: SolitaireChess) -> set[str]:
    finals = oracle.finals(oracle.parse(text), game.max_captures, game.king_last)
    return {letter + square_name(square) for letter, square in finals}


@st.composite
def games_and_texts(draw: st.DrawFn, max_pieces: int = 12, max_side: int = 8) -> tuple[SolitaireChess, str]:
    rows, columns = draw(st.integers(2, max_side)), draw(st.integers(2, max_side))
    max_captures = draw(st.sampled_from([0, 1, 2, 15]))
    squares = draw(st.lists(st.integers(0, rows * columns - 1), min_size=1, max_size=max_pieces, unique=True))
    cells = ["."] * (rows * columns)
    for square in squares:
        made = draw(st.integers(0, max_captures))
        cells[square] = draw(st.sampled_from(KINDS)) + (str(made) if made else "")
    text = "/".join("".join(cells[r * columns : (r + 1) * columns]) for r in range(rows))
    return SolitaireChess(rows, columns, max_captures=max_captures, king_last=draw(st.booleans())), text


# --- Rules -----------------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(games_and_texts(), st.randoms(use_true_random=False))
def test_play_agrees_with_the_oracle(game_and_text: tuple[SolitaireChess, str], rng: random.Random) -> None:
    game, text = game_and_text
    state, position = game.parse_state(text), oracle.parse(text)
    while True:
        assert state.pieces == len(position)
        names = [state.action_name(action) for action in state.legal_actions()]
        assert len(names) == len(set(names))
        assert set(names) == oracle_moves(position, game)
        assert perft(state, 1) == len(names)
        assert (state.player() == TERMINAL) == (not names)
        if not names:
            assert state.returns() == [1.0 if len(position) == 1 else 0.0]
            return
        assert state.returns() == [0.0]
        action = rng.choice(state.legal_actions())
        start, end = (
            (cell % game.columns + 1, game.rows - cell // game.columns) for cell in state.action_cells(action)
        )
        state.apply(action)
        position = oracle.capture(position, start, end)
        if game.max_captures:
            assert oracle.parse(str(state)) == position
        else:
            assert oracle.parse(str(state)) == {square: (letter, 0) for square, (letter, _) in position.items()}


@settings(max_examples=60)
@given(games_and_texts(max_pieces=6, max_side=5))
def test_solver_agrees_with_brute_force(game_and_text: tuple[SolitaireChess, str]) -> None:
    game, text = game_and_text
    state = game.parse_state(text)
    lines = oracle.sequences(oracle.parse(text), game.max_captures, game.king_last)
    finals = oracle_finals(text, game)
    tree = capture_tree(state)
    assert set(tree.finals) == finals
    assert len(tree.finals) == len(finals)
    assert tree.solutions == sum(len(line[-1]) == 1 for line in lines)
    moves = solve(state).moves
    assert (moves is not None) == bool(finals) == solve(state).solvable
    if moves is not None:
        for move in moves:
            state.apply(move)
        assert state.pieces == 1
        assert state.returns() == [1.0]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("..../.N../P.Q./....", {"Pa2xb3", "Qc2xb3", "Qc2xa2"}),  # pawns capture upwards only
        ("P.../.N../..../....", set()),  # on the top row too, and they do not promote
        ("RN.B/..../..../....", {"Ra4xb4"}),  # the knight stands between rook and bishop
        ("K.../R.../..../....", {"Ka4xa3"}),  # the king is not captured
    ],
)
def test_captures_by_hand(text: str, moves: set[str]) -> None:
    state = SolitaireChess().parse_state(text)
    assert {state.action_name(action) for action in state.legal_actions()} == moves


def test_a_king_that_is_a_piece_like_any_other_may_be_captured() -> None:
    state = SolitaireChess(king_last=False).parse_state("K.../R.../..../....")
    assert {state.action_name(action) for action in state.legal_actions()} == {"Ka4xa3", "Ra3xa4"}


def test_solo_chess_counts_travel_with_the_piece() -> None:
    game = SolitaireChess(2, 4, max_captures=2)
    state = game.parse_state("RNNN/....")
    state.apply(0 * 8 + 1)
    assert str(state) == ".R1NN/...."
    state.apply(1 * 8 + 2)
    assert str(state) == "..R2N/...."
    assert state.player() == TERMINAL
    assert state.returns() == [0.0]
    assert not solve(game.parse_state("RNNN/....")).solvable
    assert solve(SolitaireChess(2, 4, max_captures=3).parse_state("RNNN/....")).solvable


def test_perft_by_hand() -> None:
    # Three rooks in a row: 4 captures, and then the two left capture each other.
    state = SolitaireChess(2, 3).parse_state("RRR/...")
    assert [perft(state, depth) for depth in range(4)] == [1, 4, 8, 0]


@pytest.mark.parametrize("variant", SolitaireChess.variants)
def test_perft_counts_the_nodes_of_the_tree(variant: str) -> None:
    state = rookery.load("solitaire-chess", variant).initial_state()
    counts = [perft(state, depth) for depth in range(state.pieces)]
    assert sum(counts) == capture_tree(state).nodes


def test_random_games_win_as_often_as_uniform_play_must() -> None:
    def chance_of_winning(position: oracle.Position) -> float:
        moves = oracle.captures(position)
        if not moves:
            return float(len(position) == 1)
        return sum(chance_of_winning(oracle.capture(position, *move)) for move in moves) / len(moves)

    text = "R.../Q..B/.P../.N.."
    expected = chance_of_winning(oracle.parse(text))
    assert 0.05 < expected < 0.95
    played = SolitaireChess(start=text).random_games(200_000, seed=3)
    five_sigma = 5 * (expected * (1 - expected) / played.games) ** 0.5
    assert played.returns.mean() == pytest.approx(expected, abs=five_sigma)


@pytest.mark.parametrize("variant", SolitaireChess.variants)
def test_random_games_do_not_depend_on_threads(variant: str) -> None:
    game = rookery.load("solitaire-chess", variant)
    one, two = (game.random_games(500, seed=11, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert np.array_equal(one.returns, two.returns)
    other = game.random_games(500, seed=12, threads=1)
    assert not np.array_equal(one.lengths, other.lengths)


# --- Positions as text, keys, planes and drawings --------------------------------------------------------------------


@given(games_and_texts())
def test_text_comes_back(game_and_text: tuple[SolitaireChess, str]) -> None:
    game, text = game_and_text
    assert str(game.parse_state(text)) == text
    assert str(game.parse_state(f" {text}\n")) == text
    assert str(SolitaireChess(game.rows, game.columns, text, game.max_captures).initial_state()) == text


def test_keys_are_positions() -> None:
    game = SolitaireChess(2, 2, max_captures=2)
    squares = ["."] + [kind + made for kind in KINDS for made in ("", "1", "2")]
    texts = [f"{a}{b}/{c}." for a in squares for b in squares for c in squares if (a, b, c) != (".", ".", ".")]
    keys = {game.parse_state(text).key() for text in texts}
    assert len(keys) == len(texts) == 19**3 - 1
    state = game.parse_state("RN/N.")
    state.apply(0 * 4 + 1)
    assert state.key() == game.parse_state(".R1/N.").key() != game.parse_state(".R/N.").key()


def test_keys_do_not_tell_the_order_of_moves() -> None:
    game = SolitaireChess(max_captures=2)
    one, other = (game.parse_state("RN../..../..../NR..") for _ in range(2))
    assert one == other
    for state, moves in ((one, (1, 13 * 16 + 12)), (other, (13 * 16 + 12, 1))):  # Ra4xb4 and Rb1xa1
        for move in moves:
            state.apply(move)
    assert one == other == game.parse_state(".R1../..../..../R1...")
    assert one.key() == other.key()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "....",
        "..../..../..../....",  # no piece
        "R.../..../....",
        "R.../..../..../..../....",
        "R..../..../..../....",
        "r.../..../..../....",
        "R1../..../..../....",  # a count, and a row that is too short
        "R1.../..../..../....",  # captures are not limited here
        "R.../..../. ../....",
        "R.../..../..../....x",
        "♖.../..../..../....",
    ],
)
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|at least one piece"):
        SolitaireChess().parse_state(text)
    with pytest.raises(ValueError, match=r"expected|at least one piece"):
        SolitaireChess(start=text)


@pytest.mark.parametrize("text", ["R3/..", "R0/..", "R01/..", ".1R/..", "1R/..", "R12/..", "R²./..", "R-1/.."])
def test_bad_counts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        SolitaireChess(2, 2, max_captures=2).parse_state(text.replace("/", "./", 1))


@given(st.one_of(st.text(), st.text(alphabet="KQRBNP./0123456789 \n")))
def test_fuzzed_text(text: str) -> None:
    game = SolitaireChess(2, 2, max_captures=15)
    try:
        state = game.parse_state(text)
    except ValueError:
        return
    assert str(state) == text.strip()


@given(games_and_texts(), st.data())
def test_mutated_text(game_and_text: tuple[SolitaireChess, str], data: st.DataObject) -> None:
    game, text = game_and_text
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 2))
    mutated = text[:at] + data.draw(st.text(alphabet="KRP./019x", max_size=3)) + text[at + cut :]
    try:
        state = game.parse_state(mutated)
    except ValueError:
        return
    assert str(state) == mutated


@pytest.mark.parametrize(
    "options",
    [{"rows": 1}, {"columns": 9}, {"rows": -3}, {"max_captures": -1}, {"max_captures": 16}, {"start": "RR/.."}],
)
def test_bad_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|expected"):
        SolitaireChess(**options)  # type: ignore[arg-type]


@given(games_and_texts())
def test_illegal_actions_are_refused(game_and_text: tuple[SolitaireChess, str]) -> None:
    game, text = game_and_text
    state = game.parse_state(text)
    legal = set(state.legal_actions())
    step = max(1, game.num_actions // 50)
    for action in [-1, game.num_actions, 2**31 - 1, -(2**31), *range(0, game.num_actions, step)]:
        if action not in legal:
            assert not state.is_legal(action)
            with pytest.raises(ValueError, match="not legal"):
                state.apply(action)
    assert str(state) == text


def test_names_of_impossible_actions_are_refused() -> None:
    state = SolitaireChess().initial_state()
    for action in (-1, 256):
        with pytest.raises(ValueError, match="actions are 0 to 255"):
            state.action_name(action)


def test_observation_by_hand() -> None:
    planes = SolitaireChess(2, 3).parse_state("KQR/BNP").observation()
    assert planes.shape == (6, 2, 3)
    expected = np.zeros((6, 2, 3), np.float32)
    for plane, cell in enumerate([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]):
        expected[plane][cell] = 1
    assert np.array_equal(planes, expected)

    planes = SolitaireChess(2, 2, max_captures=2).parse_state("RR1/.P2").observation()
    empty = [[0, 0], [0, 0]]
    rooks, pawns, left = [[1, 1], [0, 0]], [[0, 0], [0, 1]], [[1, 0.5], [0, 0]]
    assert planes.tolist() == [empty, empty, rooks, empty, empty, pawns, left]


@settings(max_examples=30)
@given(games_and_texts())
def test_drawing_is_well_formed(game_and_text: tuple[SolitaireChess, str]) -> None:
    game, text = game_and_text
    state = game.parse_state(text)
    actions = state.legal_actions()
    last = game.rows * game.columns - 1
    overlay = Overlay(
        highlights={0: "focus", last: "bad"}, arrows=[(0, last)], labels={last: "<1>"},
        values=dict.fromkeys(actions[:3], 0.5),
    )  # fmt: skip
    for drawing in (state.svg(), state.svg(overlay)):
        cells = {element.get("data-cell") for element in ElementTree.fromstring(drawing).iter()} - {None}
        assert cells == {str(cell) for cell in range(last + 1)}
    assert "&lt;1&gt;" in state.svg(overlay)


# --- Start positions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", SolitaireChess.variants)
def test_the_start_has_one_solution(variant: str) -> None:
    tree = capture_tree(rookery.load("solitaire-chess", variant).initial_state())
    assert tree.solutions == 1
    assert len(tree.finals) == 1


def test_the_default_start_by_brute_force() -> None:
    game = SolitaireChess()
    assert oracle_finals(str(game.initial_state()), game) == {"Kc1"}


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 8), (8, 2), (3, 3), (4, 7), (8, 8), (5, 6)])
def test_every_size_has_a_start(rows: int, columns: int) -> None:
    tree = capture_tree(SolitaireChess(rows, columns).initial_state())
    assert tree.solutions == 1


def test_random_starts() -> None:
    rng = random.Random(5)
    for options in ({}, {"rows": 2, "columns": 2}, {"rows": 8, "columns": 8, "max_captures": 2}):
        game = SolitaireChess(**options)  # type: ignore[arg-type]
        for _ in range(20):
            state = game.random_start(rng)
            letters = [KINDS[kind] for kind in state.kinds if kind >= 0]
            assert all(letters.count(letter) <= PIECE_SET.count(letter) for letter in KINDS)
            assert solve(state).solvable
    assert SolitaireChess().random_start(rng, pieces=10, solvable=False).pieces == 10
    drawn = [solve(SolitaireChess().random_start(rng, pieces=3, solvable=False)).solvable for _ in range(300)]
    assert 0.25 < np.mean(drawn) < 0.55  # 40.1% of all boards
    for pieces in (0, 11):
        with pytest.raises(ValueError, match="expected 1 to 10 pieces"):
            SolitaireChess().random_start(rng, pieces=pieces)
    assert SolitaireChess(2, 2).random_start(rng, pieces=1).pieces == 1


def test_random_start_gives_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.games.solitaire_chess.rules._MAX_DRAWS", 1)
    rng, refused = random.Random(1), 0
    for _ in range(200):
        try:
            SolitaireChess().random_start(rng, pieces=3)
        except ValueError as error:
            assert "none of 1 random boards could be solved" in str(error)  # noqa: PT017
            refused += 1
    assert 80 < refused < 160  # 59.9% of all boards


def slow_random_start(game: SolitaireChess, rng: random.Random) -> SolitaireChessState:
    """A number of pieces, cells and pieces for them, all drawn anew until the oracle can solve the board."""
    while True:
        count = rng.randint(4, 8)
        cells = ["."] * (game.rows * game.columns)
        for cell, letter in zip(rng.sample(range(len(cells)), count), rng.sample(PIECE_SET, count), strict=True):
            cells[cell] = letter
        rows = ["".join(cells[i : i + game.columns]) for i in range(0, len(cells), game.columns)]
        state = game.parse_state("/".join(rows))
        if solve(state).solvable:
            return state


@pytest.mark.parametrize("size", [4, 5])
def test_random_starts_have_the_shares_of_the_slow_way(size: int) -> None:
    """Numbers of pieces, kinds of pieces and filled cells, each compared within five standard deviations."""
    game, draws = SolitaireChess(size, size), 1500
    slow, numpy = random.Random(8), np.random.default_rng(8)
    samples = [
        [slow_random_start(game, slow) for _ in range(draws)],
        [game.random_start(slow) for _ in range(draws)],
        [game.random_start(numpy) for _ in range(draws)],
        [game.random_start() for _ in range(draws)],
    ]
    for measure in (
        lambda state: [state.pieces == n for n in range(4, 9)],
        lambda state: [kind in state.kinds for kind in range(6)],
        lambda state: [kind >= 0 for kind in state.kinds],
    ):
        expected, *found = (np.mean([measure(state) for state in sample], axis=0) for sample in samples)
        deviation = np.sqrt(expected * (1 - expected) * 2 / draws)
        for shares in found:
            assert np.all(abs(shares - expected) < 5 * deviation + 1e-9)


def test_random_starts_repeat() -> None:
    for game in (SolitaireChess(), SolitaireChess(8, 8, max_captures=2)):
        assert game.random_start(random.Random(7)) == game.random_start(random.Random(7))
        assert game.random_start(np.random.default_rng(7)) == game.random_start(np.random.default_rng(7))
        assert game.random_start(random.Random(7)) != game.random_start(random.Random(8))


# --- Exact answers ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def enumeration() -> Enumeration:
    return enumerate_boards(6)


@pytest.mark.xdist_group("enumeration")  # it is made once
@pytest.mark.parametrize(
    ("pieces", "boards", "solvable", "unique"),
    [
        (2, 4_080, 44.9, 37.8),
        (3, 100_800, 40.1, 20.1),
        (4, 1_594_320, 47.7, 15.5),
        (5, 16_773_120, 59.9, 13.5),
        (6, 118_198_080, 73.8, 12.1),
    ],
)
def test_shares_of_all_boards(
    enumeration: Enumeration, pieces: int, boards: int, solvable: float, unique: float
) -> None:
    layer = enumeration.layer(pieces)
    assert layer.pieces == pieces
    assert layer.boards == len(layer.values) == boards
    assert round(100 * layer.solvable / layer.boards, 1) == solvable
    assert round(100 * layer.unique / layer.boards, 1) == unique
    assert layer.solvable == np.count_nonzero(layer.values)
    assert layer.unique == layer.solvable - np.count_nonzero(layer.values == SEVERAL_FINALS)


def expected_answer(finals: set[str]) -> Answer:
    return Answer(bool(finals), next(iter(finals)) if len(finals) == 1 else None)


@pytest.mark.xdist_group("enumeration")  # it is made once
@pytest.mark.parametrize(("pieces", "sample"), [(1, 96), (2, 4080), (3, 1000), (4, 300), (5, 100), (6, 30)])
def test_enumeration_agrees_with_brute_force(enumeration: Enumeration, pieces: int, sample: int) -> None:
    game = SolitaireChess()
    layer = enumeration.layer(pieces)
    rng = random.Random(pieces)
    for index in rng.sample(range(layer.boards), sample):
        kinds = layer.board(index)
        assert layer.index(kinds) == index
        state = SolitaireChessState(game, kinds, [0] * 16)
        assert enumeration.lookup(state) == expected_answer(oracle_finals(str(state), game)), str(state)


@pytest.mark.xdist_group("enumeration")  # it is made once
def test_boards_are_all_different(enumeration: Enumeration) -> None:
    layer = enumeration.layer(3)
    boards = {tuple(layer.board(index)) for index in range(layer.boards)}
    assert len(boards) == layer.boards
    for board in random.Random(1).sample(sorted(boards), 2000):
        letters = [KINDS[kind] for kind in board if kind >= 0]
        assert len(letters) == 3
        assert all(letters.count(letter) <= PIECE_SET.count(letter) for letter in KINDS)


def test_enumeration_does_not_depend_on_threads() -> None:
    one, two = (enumerate_boards(4, threads=threads) for threads in (1, 2))
    for a, b in zip(one.layers, two.layers, strict=True):
        assert np.array_equal(a.values, b.values)
        assert (a.solvable, a.unique) == (b.solvable, b.unique)


def test_lookup_refuses_what_was_not_enumerated() -> None:
    small = enumerate_boards(2)
    assert small.lookup(SolitaireChess().parse_state("R.../..../..../....")) == Answer(True, "Ra4")
    for game, text, complaint in [
        (SolitaireChess(), "RRN./..../..../....", "1 to 2 pieces"),
        (SolitaireChess(), "KK../..../..../....", "more pieces"),
        (SolitaireChess(4, 5), "RN.../...../...../.....", "4x4"),
        (SolitaireChess(max_captures=2), "RN../..../..../....", "4x4"),
        (SolitaireChess(king_last=False), "RN../..../..../....", "4x4"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            small.lookup(game.parse_state(text))
    layer = small.layer(2)
    for kinds in ([], [0] * 17, [7] + [-1] * 15, [0] + [-1] * 15, [-2] * 16):
        with pytest.raises(ValueError, match=r"kind|pieces"):
            layer.index(kinds)
    for index in (-1, layer.boards):
        with pytest.raises(ValueError, match="no board"):
            layer.board(index)
    for pieces in (0, 11):
        with pytest.raises(ValueError, match="1 to 10 pieces"):
            enumerate_boards(pieces)
    with pytest.raises(ValueError, match="read-only"):
        layer.values[0] = UNSOLVABLE


def test_long_calls_can_be_stopped_and_watched() -> None:
    control = Control()
    enumerate_boards(3, control=control)
    assert control.done == 4_080 + 100_800
    control.stop()
    assert len(enumerate_boards(3, control=control).layers) == 1
    state = SolitaireChess().initial_state()
    for search in (solve, capture_tree):
        with pytest.raises(RuntimeError, match="stopped"):
            search(state, control=control)
    positions = capture_tree(state).distinct_states
    assert capture_tree(state, max_states=positions).distinct_states == positions
    with pytest.raises(RuntimeError, match="more than"):
        capture_tree(state, max_states=positions - 1)


def test_distinct_positions_are_counted_once() -> None:
    # Three rooks in a row: the start, three pairs, three single rooks; 1 + 4 + 8 nodes.
    tree = capture_tree(SolitaireChess(2, 3).parse_state("RRR/..."))
    assert (tree.distinct_states, tree.nodes, tree.solutions) == (7, 13, 8)
    assert set(tree.finals) == {"Ra2", "Rb2", "Rc2"}


@pytest.mark.slow
def test_boards_with_seven_pieces() -> None:
    large = enumerate_boards(7)
    game, layer = SolitaireChess(), large.layer(7)
    for index in random.Random(7).sample(range(layer.boards), 30):
        state = SolitaireChessState(game, layer.board(index), [0] * 16)
        assert large.lookup(state) == expected_answer(oracle_finals(str(state), game)), str(state)


# --- Published puzzles, where they are at hand -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def puzzles() -> list[dict[str, str]]:
    return published_puzzles()


def test_published_puzzles(puzzles: list[dict[str, str]]) -> None:
    game = SolitaireChess()
    for puzzle in puzzles:
        state = game.parse_state(puzzle["rows"])
        assert state.pieces == int(puzzle["pieces"])
        tree = capture_tree(state)
        assert tree.finals == (puzzle["final"],), puzzle["number"]
        assert tree.solutions == int(puzzle["n_solutions"]), puzzle["number"]
        assert tree.nodes == int(puzzle["full_tree_nodes"]), puzzle["number"]
        assert tree.distinct_states == int(puzzle["distinct_states"]), puzzle["number"]
        assert solve(state).solvable


def test_our_starts_are_not_among_them(puzzles: list[dict[str, str]]) -> None:
    published = {frozenset(oracle.parse(puzzle["rows"]).items()) for puzzle in puzzles}
    for variant in SolitaireChess.variants:
        position = oracle.parse(str(rookery.load("solitaire-chess", variant).initial_state()))
        for side in (1, -1):  # as it is, and its mirror image; anywhere on the board
            left = min(side * file for file, _ in position)
            bottom = min(rank for _, rank in position)
            for right in range(4):
                for up in range(4):
                    moved = {(side * f - left + 1 + right, r - bottom + 1 + up): p for (f, r), p in position.items()}
                    assert frozenset(moved.items()) not in published
