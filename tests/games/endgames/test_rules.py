"""Chess endgames against python-chess and against the oracle, a mailbox version of our own."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from xml.etree import ElementTree

import chess
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rookery
from rookery.games.endgames.rules import STARTS, Endgames, EndgamesState
from tests.games.endgames import oracle

MATERIALS = ["", *"QRBNP", *("".join(pair) for pair in itertools.combinations_with_replacement("QRBNP", 2))]
GAME = Endgames()


def random_placement(rng: random.Random) -> chess.Board:
    """Any material, either colour strong, anywhere: legal or not."""
    board = chess.Board(None)
    men = ["K", *rng.choice(MATERIALS), "k"]
    if rng.random() < 0.5:
        men = [letter.swapcase() for letter in men]
    for square, letter in zip(rng.sample(range(64), len(men)), men, strict=True):
        board.set_piece_at(square, chess.Piece.from_symbol(letter))
    board.turn = rng.random() < 0.5
    board.halfmove_clock, board.fullmove_number = rng.randrange(100), rng.randrange(1, 200)
    return board


def random_legal(rng: random.Random) -> chess.Board:
    while not (board := random_placement(rng)).is_valid():
        pass
    return board


def ending_by_chess(board: chess.Board) -> str | None:
    if board.is_checkmate():
        return "checkmate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.is_stalemate():
        return "stalemate"
    return None


def possible_moves() -> list[str]:
    """The moves of a queen and of a knight on an empty board in the notation of engines, then straight promotions."""
    squares = [(file, rank) for rank in range(8) for file in range(8)]
    moves = []
    for square in squares:
        reached = {end for kind in "QN" for end in oracle.attacked_squares({square: kind}, square)}
        moves += [oracle.name(square) + oracle.name(end) for end in squares if end in reached]
    for piece in "nbrq":
        moves += [f"{file}{start}{file}{end}{piece}" for start, end in ("21", "78") for file in "abcdefgh"]
    return moves


NUMBERS = {name: number for number, name in enumerate(possible_moves())}


def action_of(move: chess.Move) -> int:
    return NUMBERS[move.uci()]


def check_against_chess(board: chess.Board) -> str | None:
    """FEN, check, ending, returns, moves and their names in two notations, both ways. Answers the ending."""
    state = GAME.parse_state(board.fen())
    assert str(state) == board.fen()
    assert state.in_check == board.is_check()
    assert state.ending == ending_by_chess(board)
    result = board.outcome()
    if state.ending:
        assert state.player() == rookery.TERMINAL
        assert result is not None
        assert state.returns() == {"1-0": [1, -1], "0-1": [-1, 1], "1/2-1/2": [0, 0]}[result.result()]
        assert state.legal_actions() == []
        return state.ending
    assert state.player() == (0 if board.turn else 1)
    assert state.returns() == [0, 0]
    expected = {action_of(move): (board.san(move), move.uci()) for move in board.legal_moves}
    actions = state.legal_actions()
    assert len(actions) == len(set(actions))
    assert {action: (state.action_name(action), state.uci(action)) for action in actions} == expected
    for action, (san, uci) in expected.items():
        assert state.parse_action(san) == state.parse_action(uci) == action
    return None


def test_positions_agree_with_python_chess() -> None:
    rng = random.Random(1)
    endings = Counter(check_against_chess(random_legal(rng)) for _ in range(2000))
    assert set(endings) == {None, "checkmate", "stalemate", "insufficient material"}


@pytest.mark.slow
def test_many_positions_agree_with_python_chess() -> None:
    rng = random.Random(1000)
    for _ in range(100_000):
        check_against_chess(random_legal(rng))


def test_legality_agrees_with_python_chess() -> None:
    """`is_valid` of python-chess and our parser refuse the same placements; both answers must be common."""
    rng = random.Random(2)
    answers = Counter()
    for _ in range(20_000):
        board = random_placement(rng)
        valid = board.is_valid()
        answers[valid] += 1
        if valid:
            assert str(GAME.parse_state(board.fen())) == board.fen()
        else:
            with pytest.raises(ValueError, match="not a usable FEN"):
                GAME.parse_state(board.fen())
    assert min(answers.values()) > 2000


def test_impossible_double_checks() -> None:
    """A king between two attackers on one line; random placements seldom show this."""
    refused = "no move can have given both checks"
    men = {"Q": chess.QUEEN, "R": chess.ROOK, "B": chess.BISHOP}
    seen = Counter()
    for first, second in itertools.combinations_with_replacement(men, 2):
        for a, b in itertools.permutations([0, 4, 7, 27, 36, 39, 45, 54, 60, 63], 2):
            board = chess.Board(None)
            board.set_piece_at(chess.D4, chess.Piece(chess.KING, chess.BLACK))
            board.set_piece_at(chess.H2, chess.Piece(chess.KING, chess.WHITE))
            if chess.D4 in (a, b):
                continue
            board.set_piece_at(a, chess.Piece(men[first], chess.WHITE))
            board.set_piece_at(b, chess.Piece(men[second], chess.WHITE))
            board.turn = chess.BLACK
            seen[board.is_valid()] += 1
            if board.is_valid():
                check_against_chess(board)
            else:
                with pytest.raises(ValueError, match=refused):
                    GAME.parse_state(board.fen())
    assert min(seen.values()) > 5
    with pytest.raises(ValueError, match=refused):
        GAME.parse_state("8/8/8/8/R2k3R/8/8/K7 b - - 0 1")
    with pytest.raises(ValueError, match=refused):
        GAME.parse_state("8/8/8/4B3/3k4/2P5/8/K7 b - - 0 1")


def play_along(fen: str, rng: random.Random, repetition: int, fifty_move_rule: bool) -> str:
    """A random game on our state, python-chess and the oracle at once; its ending."""
    game = Endgames(repetition=repetition, fifty_move_rule=fifty_move_rule)
    state, board = game.parse_state(fen), chess.Board(fen)
    slow = oracle.Game.from_fen(fen, repetition, fifty_move_rule)
    while True:
        assert str(state) == board.fen() == slow.fen()
        ending = ending_by_chess(board)
        if ending is None and repetition and board.is_repetition(repetition):
            ending = "repetition"
        if ending is None and fifty_move_rule and board.is_fifty_moves():
            ending = "fifty-move rule"
        assert state.ending == slow.ending() == ending
        if ending:
            winner = {"w": [-1, 1], "b": [1, -1]}[slow.side] if ending == "checkmate" else [0, 0]
            assert state.returns() == winner
            return ending
        assert {state.uci(action) for action in state.legal_actions()} == set(slow.moves)
        uci = rng.choice(sorted(slow.moves))
        state.apply(state.parse_action(uci))
        board.push_uci(uci)
        slow.play(uci)


def test_games_agree_with_python_chess_and_the_oracle() -> None:
    rng = random.Random(3)
    endings = Counter()
    while endings.total() < 120:
        board = random_legal(rng)
        if ending_by_chess(board) is None:
            board.halfmove_clock = rng.randrange(101)
            endings[play_along(board.fen(), rng, rng.choice([0, 2, 3, 4]), rng.random() < 0.5)] += 1
    assert set(endings) >= {"insufficient material", "repetition", "fifty-move rule", "stalemate"}


def test_repetition() -> None:
    """Rook and king shuffle: the initial position comes back after 4 plies and again after 8."""
    shuffle = ["Rb1", "Kd5", "Ra1", "Ke5"]
    for repetition, plies in [(2, 4), (3, 8), (4, 12)]:
        state = Endgames(repetition=repetition).initial_state()
        for ply in range(plies):
            assert state.ending is None
            state.apply(state.parse_action(shuffle[ply % 4]))
        assert state.ending == "repetition"
        assert state.returns() == [0, 0]
    state = Endgames(repetition=0).initial_state()
    for ply in range(400):
        state.apply(state.parse_action(shuffle[ply % 4]))
    assert state.ending is None
    assert str(state) == "8/8/8/4k3/8/8/8/R3K3 w - - 400 201"


def test_repetition_counts_the_position_after_a_pawn_move() -> None:
    """The squares of the kings alone do not repeat a position; what follows the pawn's move is counted from there."""
    state = Endgames(repetition=2).parse_state("k7/8/8/8/8/8/4P3/K7 w - - 0 1")
    for san in ["Kb1", "Kb8", "e3", "Ka8", "Ka1", "Kb8"]:
        state.apply(state.parse_action(san))
        assert state.ending is None
    state.apply(state.parse_action("Kb1"))  # as after 2.e3
    assert state.ending == "repetition"


def test_fifty_move_rule() -> None:
    before = "8/8/8/8/8/1K6/7R/k7 w - - 99 80"
    game = Endgames(fifty_move_rule=True)
    state = game.parse_state(before)
    state.apply(state.parse_action("Rh3"))
    assert state.ending == "fifty-move rule"
    state = game.parse_state(before)
    state.apply(state.parse_action("Rh1#"))  # mate comes before the clock
    assert state.ending == "checkmate"
    assert state.returns() == [1, -1]
    state = game.parse_state("8/8/8/8/8/2K5/7P/k7 w - - 99 80")
    state.apply(state.parse_action("h4"))
    assert state.ending is None
    assert state.halfmove_clock == 0
    assert game.parse_state("8/8/8/4k3/8/8/8/R3K3 w - - 100 80").ending == "fifty-move rule"
    assert GAME.parse_state("8/8/8/4k3/8/8/8/R3K3 w - - 100 80").ending is None


def perft_by_chess(board: chess.Board, depth: int) -> int:
    if depth == 0:
        return 1
    if board.is_insufficient_material():
        return 0
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += perft_by_chess(board, depth - 1)
        board.pop()
    return total


@pytest.mark.parametrize(
    ("fen", "depth"),
    [
        *((fen, 3) for fen in STARTS.values()),
        ("8/2P1P3/8/8/8/2K5/8/5k2 w - - 0 1", 4),
        ("8/8/8/8/4k3/8/6pp/K7 b - - 0 1", 3),
        ("8/8/8/2q5/3k4/8/3q4/6K1 b - - 0 1", 3),
        ("7k/5N2/8/4K3/8/8/1P6/8 b - - 0 1", 4),
    ],
)
def test_perft_agrees_with_python_chess(fen: str, depth: int) -> None:
    board, state = chess.Board(fen), GAME.parse_state(fen)
    for plies in range(depth + 1):
        assert state.perft(plies) == perft_by_chess(board, plies)


def test_perft_by_hand() -> None:
    """Kc3 and Pb7 against Ka1: b8 four ways, the king to b3, c2, d2, d3, d4, c4, b4 (a1 guards only b1, b2, a2)."""
    state = GAME.parse_state("8/1P6/8/8/8/2K5/8/k7 w - - 0 1")
    assert state.perft(1) == 4 + 7
    assert {state.uci(action) for action in state.legal_actions() if action >= 1792} == {
        "b7b8n", "b7b8b", "b7b8r", "b7b8q",
    }  # fmt: skip


def test_action_numbers_are_the_possible_moves_each_once() -> None:
    assert len(NUMBERS) == GAME.num_actions == 1456 + 336 + 4 * 2 * 8
    state = GAME.parse_state("8/4P3/8/8/8/2K5/8/k7 w - - 0 1")
    assert [state.uci(action) for action in range(GAME.num_actions)] == list(NUMBERS)
    names = {state.action_name(action): action for action in state.legal_actions()}
    assert names["e8=Q"] == NUMBERS["e7e8q"]
    assert state.action_cells(names["e8=Q"]) == [12, 4]  # e7 is in the second row from above


def test_every_action_number_is_legal_somewhere() -> None:
    """A queen or one of two knights can make every move, a pawn of either colour every promotion; names read back."""
    rng = random.Random(3)
    for name, action in NUMBERS.items():
        start, end = chess.parse_square(name[:2]), chess.parse_square(name[2:4])
        leap = chess.square_file(start) != chess.square_file(end) and chess.square_knight_distance(start, end) == 1
        pieces = [chess.PAWN] if name[4:] else [chess.KNIGHT] * 2 if leap else [chess.QUEEN]
        colour = name[3] != "1" or not name[4:]
        board = chess.Board(None)
        while not board.is_valid() or chess.Move.from_uci(name) not in board.legal_moves:
            free = rng.sample([square for square in chess.SQUARES if square not in (start, end)], 3)
            board = chess.Board(None)
            board.turn = colour
            for square, piece in zip([start, free[2]], pieces, strict=False):
                board.set_piece_at(square, chess.Piece(piece, colour))
            board.set_piece_at(free[0], chess.Piece(chess.KING, colour))
            board.set_piece_at(free[1], chess.Piece(chess.KING, not colour))
        state = GAME.parse_state(board.fen())
        assert state.is_legal(action)
        assert state.parse_action(state.action_name(action)) == action


def test_illegal_actions_are_refused() -> None:
    rng = random.Random(4)
    for _ in range(30):
        board = random_legal(rng)
        state = GAME.parse_state(board.fen())
        legal = set() if state.ending else {action_of(move) for move in board.legal_moves}
        for action in [-1, -(2**31), 2**31 - 1, GAME.num_actions, *range(GAME.num_actions)]:
            assert state.is_legal(action) == (action in legal)
        before = str(state)
        for action in {rng.randrange(-10, GAME.num_actions + 10) for _ in range(50)} - legal:
            with pytest.raises(ValueError, match="not legal"):
                state.apply(action)
            with pytest.raises(ValueError, match="legal"):
                state.action_name(action)
        assert str(state) == before
    for action in (-1, GAME.num_actions):
        with pytest.raises(ValueError, match="actions are 0 to 1855"):
            GAME.initial_state().uci(action)


def test_keys_are_positions() -> None:
    """Equal keys exactly for equal board and side; the counters do not matter, the order of equal pieces neither."""
    rng = random.Random(5)
    by_key: dict[bytes, str] = {}
    by_position: dict[str, bytes] = {}
    game = Endgames("KRRK", repetition=0)
    for _ in range(40):
        state = game.random_start(rng)
        for _ in range(200):
            position = " ".join(str(state).split()[:2])
            assert by_key.setdefault(state.key(), position) == position
            assert by_position.setdefault(position, state.key()) == state.key()
            assert game.parse_state(position + " - - 7 9") == state
            if state.ending:
                break
            state.apply(rng.choice(state.legal_actions()))
    assert len(by_key) > 1000
    # The lone kings that are left carry no trace of who had the pieces.
    white = GAME.parse_state("8/8/8/8/8/8/1R1K4/k7 b - - 0 1")
    white.apply(white.parse_action("Kxb2"))
    black = GAME.parse_state("8/8/8/8/8/8/3r4/1k2K3 w - - 0 1")
    black.apply(black.parse_action("Kxd2"))
    assert white.key() == GAME.parse_state("8/8/8/8/8/8/1k1K4/8 w - - 0 1").key()
    assert black.key() == GAME.parse_state("8/8/8/8/8/8/3K4/1k6 b - - 0 1").key()


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        ("", "4 to 6 fields"),
        ("8/8/8/4k3/8/8/8/R3K3 w", "4 to 6 fields"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 0 1 0", "4 to 6 fields"),
        ("8/8/8/4k3/8/8/8/R3K3 x - - 0 1", "'w' or 'b'"),
        ("8/8/8/4k3/8/8/8/R3K3 w Q - 0 1", "castle"),
        ("8/8/8/4k3/4P3/8/8/4K3 b - e3 0 1", "en passant"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - -1 1", "halfmove clock must be a whole number"),
        ("8/8/8/4k3/8/8/8/R3K3 w - - 0 99999999999999999999", "fullmove number must be at most"),
        ("8/8/8/4k3/8/8/R3K3 w - - 0 1", "8 rows"),
        ("8/8/8/4k3/8/8/8/R3K4 w - - 0 1", "8 squares"),
        ("8/8/8/4k3/8/8/8/R3K2 w - - 0 1", "8 squares"),
        ("8/8/8/44/4k3/8/8/R3K3 w - - 0 1", "two numbers"),
        ("8/8/8/4k3/8/8/8/X3K3 w - - 0 1", "KQRBNP"),
        ("8/8/8/8/8/8/8/R3K3 w - - 0 1", "one king"),
        ("8/8/8/4k3/8/8/8/R7 w - - 0 1", "one king"),
        ("8/8/8/4k3/8/8/8/K3K3 w - - 0 1", "one king"),
        ("8/8/8/4k3/8/8/8/RRR1K3 w - - 0 1", "at most two pieces"),
        ("8/8/8/r3k3/8/8/8/1R2K3 w - - 0 1", "nothing but its king"),
        ("8/8/8/4k3/4K3/8/8/R7 w - - 0 1", "next to each other"),
        ("8/8/8/4k3/8/8/8/P3K3 w - - 0 1", "first or last rank"),
        ("p7/8/8/4k3/8/8/8/4K3 w - - 0 1", "first or last rank"),
        ("8/8/8/R3k3/8/8/8/4K3 w - - 0 1", "not to move is in check"),
    ],
)
def test_bad_fen_is_refused_with_the_reason(fen: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        GAME.parse_state(fen)


def parses_or_refuses(text: str) -> None:
    try:
        state = GAME.parse_state(text)
    except ValueError:
        return
    assert GAME.parse_state(str(state)) == state
    assert chess.Board(str(state)).is_valid()


@given(st.text())
def test_any_text_parses_or_raises_value_error(text: str) -> None:
    parses_or_refuses(text)


@settings(max_examples=500)
@given(
    st.sampled_from(sorted(STARTS.values())),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from("KQRBNPkqrbnp12345678/ wb-01x\0é")), max_size=4),
)
def test_mutated_fen_parses_or_raises_value_error(fen: str, edits: list[tuple[int, str]]) -> None:
    letters = list(fen)
    for place, letter in edits:
        letters[place % len(letters)] = letter
    parses_or_refuses("".join(letters))


@given(st.text(max_size=8) | st.from_regex(r"[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](=?[QRBNK])?[+#]?", fullmatch=True))
def test_parse_action_gives_a_legal_action_or_raises_value_error(text: str) -> None:
    state = GAME.parse_state("8/2P5/8/8/2R5/8/1K6/6k1 w - - 0 1")
    try:
        expected = chess.Board(str(state)).parse_san(text)
    except ValueError:
        expected = chess.Move.null()
    try:
        action = state.parse_action(text)
    except ValueError:
        assert not expected
    else:
        assert state.is_legal(action)
        assert not expected or action == action_of(expected)


def test_parse_action_refuses_what_is_ambiguous() -> None:
    state = GAME.parse_state("8/8/8/8/8/1k6/8/R3R2K w - - 0 1")
    with pytest.raises(ValueError, match="'Rc1' may mean Rac1 or Rec1"):
        state.parse_action("Rc1")
    assert state.action_name(state.parse_action("Rac1")) == "Rac1"
    with pytest.raises(ValueError, match=r"'Kh3' is not a legal move in .*; expected one of Kg1, Kg2, Kh2, "):
        state.parse_action("Kh3")


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("Rc1+", ["Rc1", "Rc1+", "Rc1#", "R4c1", "Rcc1", "Rc4-c1", "Rc4xc1", "c4c1", "rc1", " Rc1 + ", "Rc1!?"]),
        ("Kb3", ["Kb3", "kb3", "Kb2-b3", "b2b3", "b2-b3"]),
        ("c8=N", ["c8=N", "c8N", "c7c8n", "c7-c8=N", "c8=n", "c8(N)"]),
        ("c8=Q", ["c8=Q", "c8q", "c7c8q", "c7c8Q", "c7-c8=Q!!"]),
    ],
)
def test_parse_action_reads_what_players_write(name: str, forms: list[str]) -> None:
    state = GAME.parse_state("8/2P5/8/8/2R5/8/1K6/7k w - - 0 1")
    assert {state.action_name(state.parse_action(form)) for form in forms} == {name}


@pytest.mark.parametrize(
    "text", ["", "c4", "c8", "c7c8", "c7c8k", "Rc4c1c2", "Bc1", "b3", "Kb9", "O-O", "R c 9", "e2e4"]
)
def test_parse_action_refuses(text: str) -> None:
    state = GAME.parse_state("8/2P5/8/8/2R5/8/1K6/7k w - - 0 1")
    with pytest.raises(ValueError, match=r"expected|may mean"):
        state.parse_action(text)


@pytest.mark.parametrize("material", [f"K{pieces}K" for pieces in MATERIALS if pieces not in ("", "B", "N")])
def test_random_starts(material: str) -> None:
    game = Endgames(material)
    assert game.initial_state().material == game.material == material
    rng = random.Random(6)
    sides = Counter()
    for _ in range(200):
        state = game.random_start(rng)
        board = chess.Board(str(state))
        assert board.is_valid()
        assert not board.is_game_over()
        assert str(state) == board.fen()
        assert state.material == material
        assert board.occupied_co[chess.BLACK] == board.kings & board.occupied_co[chess.BLACK]
        sides[board.turn] += 1
        if material == "KBBK":
            assert chess.popcount(board.bishops & chess.BB_LIGHT_SQUARES) == 1
    assert min(sides.values()) > 60  # a fair coin, five deviations
    assert game.random_start(random.Random(7)) == game.random_start(random.Random(7))
    assert game.random_start(np.random.default_rng(7)) == game.random_start(np.random.default_rng(7))
    assert game.random_start(None).material == material


def test_random_starts_are_equally_likely() -> None:
    """The share of positions with White to move in which the kings stand on each pair of files."""
    draws, game, rng = 6000, Endgames("KRK"), random.Random(9)
    drawn = Counter()
    while drawn.total() < draws:
        state = game.random_start(rng)
        if state.player() == 0:
            letters = state.letters
            drawn[letters.index("K") % 8, letters.index("k") % 8] += 1
    every = Counter()
    for strong, rook, weak in itertools.permutations(range(64), 3):
        lines = chess.BB_RANK_ATTACKS[rook][chess.BB_RANK_MASKS[rook] & chess.BB_SQUARES[strong]]
        lines |= chess.BB_FILE_ATTACKS[rook][chess.BB_FILE_MASKS[rook] & chess.BB_SQUARES[strong]]
        if chess.square_distance(strong, weak) > 1 and not lines & chess.BB_SQUARES[weak]:
            every[strong % 8, weak % 8] += 1
    for pair, count in every.items():
        share = count / every.total()
        assert abs(drawn[pair] / draws - share) < 5 * (share * (1 - share) / draws) ** 0.5


@pytest.mark.parametrize("variant", STARTS)
def test_variants_start_from_sensible_positions(variant: str) -> None:
    game = rookery.load("endgames", variant)
    assert isinstance(game, Endgames)
    assert game.material == variant
    board = chess.Board(str(game.initial_state()))
    assert board.is_valid()
    men = list(board.piece_map())
    assert all(chess.square_distance(a, b) > 1 for a, b in itertools.combinations(men, 2))
    for move in board.legal_moves:
        board.push(move)
        assert not board.is_game_over()
        board.pop()


def test_options() -> None:
    fen = "8/8/8/8/8/2k5/1r6/7K w - - 3 9"
    game = rookery.load("endgames", start=fen)
    assert str(game.initial_state()) == fen
    assert Endgames("KNBK").material == "KBNK"
    with pytest.raises(ValueError, match="has the material KRK, not KQK"):
        rookery.load("endgames", "KQK", start=fen)
    with pytest.raises(ValueError, match="over already \\(stalemate\\)"):
        Endgames(start="8/8/8/8/8/2k5/1r6/K7 w - - 0 1")
    for material in ["", "K", "KRR", "krk", "KRRRK", "KXK", "KRKR"]:
        with pytest.raises(ValueError, match="unknown material"):
            Endgames(material)
    for material in ["KK", "KBK", "KNK"]:
        with pytest.raises(ValueError, match="every position is drawn"):
            Endgames(material)
    for repetition in [-1, 1, 101]:
        with pytest.raises(ValueError, match="repetition must be"):
            Endgames(repetition=repetition)


def test_random_games_do_not_depend_on_threads() -> None:
    for variant in STARTS:
        game = rookery.load("endgames", variant)
        one, two = (game.random_games(500, seed=8, threads=threads) for threads in (1, 2))
        assert np.array_equal(one.lengths, two.lengths)
        assert np.array_equal(one.returns, two.returns)
        assert not np.array_equal(one.lengths, game.random_games(500, seed=9, threads=1).lengths)
        assert set(one.returns[:, 0]) <= {-1, 0, 1}
        assert np.array_equal(one.returns[:, 0], -one.returns[:, 1])


def test_random_games_are_like_those_of_python_chess() -> None:
    """KQK by uniform moves: the mean lengths of two samples differ by less than five standard errors."""
    start = STARTS["KQK"]
    ours = rookery.load("endgames", "KQK").random_games(20_000, seed=10, threads=1).lengths
    rng = random.Random(11)
    lengths = []
    for _ in range(300):
        board = chess.Board(start)
        while not (ending_by_chess(board) or board.is_repetition(3)):
            board.push(rng.choice(list(board.legal_moves)))
        lengths.append(board.ply())
    error = np.sqrt(ours.var() / len(ours) + np.var(lengths) / len(lengths))
    assert abs(ours.mean() - np.mean(lengths)) < 5 * error


def test_minimax_finds_mate() -> None:
    state = GAME.parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    values = dict(state.minimax(1)[0])
    assert [state.action_name(action) for action, value in values.items() if value == 1] == ["Rh1#"]
    state = GAME.parse_state("8/8/8/8/8/1k6/7r/K7 b - - 0 1")
    values = dict(state.minimax(1)[0])
    assert [state.action_name(action) for action, value in values.items() if value == 1] == ["Rh1#"]


def test_observation_planes() -> None:
    """Rows are ranks from 8 down, columns are files from a."""
    state = GAME.parse_state("8/4P3/8/3Q4/8/2K5/8/k7 w - - 5 9")
    expected = np.zeros((13, 8, 8), np.float32)
    expected[0, 5, 2] = 1  # white king on c3
    expected[1, 3, 3] = 1  # white queen on d5
    expected[5, 1, 4] = 1  # white pawn on e7
    expected[6, 7, 0] = 1  # black king on a1
    assert np.array_equal(state.observation(), expected)
    state = GAME.parse_state("r7/8/8/n7/8/2k5/8/6K1 b - - 0 1")
    expected = np.zeros((13, 8, 8), np.float32)
    expected[0, 7, 6] = 1  # white king on g1
    expected[6, 5, 2] = 1  # black king on c3
    expected[8, 0, 0] = 1  # black rook on a8
    expected[10, 3, 0] = 1  # black knight on a5
    expected[12] = 1  # black to move
    assert np.array_equal(state.observation(), expected)
    assert GAME.observation_shape == (13, 8, 8)


def drawn_pieces(state: EndgamesState, overlay: rookery.Overlay | None = None) -> tuple[int, set[str]]:
    """Number of piece groups and the set of cells in the drawing, which must be well-formed."""
    root = ElementTree.fromstring(state.svg(overlay))
    groups = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if "scale" in group.get("transform", "")]
    return len(groups), {cell for element in root.iter() if (cell := element.get("data-cell"))}


def test_svg() -> None:
    state = GAME.parse_state("8/4P3/8/3Q4/8/2K5/8/k7 w - - 5 9")
    values = {action: i / 10 for i, action in enumerate(state.legal_actions())}
    overlay = rookery.Overlay({0: "last", 63: "focus"}, [(0, 63)], {5: "<1>"}, values)
    cells = {str(cell) for cell in range(64)}
    assert drawn_pieces(state) == (4, cells)
    assert drawn_pieces(state, overlay) == (4, cells)
    assert "&lt;1&gt;" in state.svg(overlay)
    assert state._repr_svg_() == state.svg()


def test_the_icon_of_a_promotion_has_the_colour_of_the_pawn() -> None:
    for fen, white in (("8/P6k/8/8/8/8/8/K7 w - - 0 1", True), ("k7/8/8/8/8/8/p6K/8 b - - 0 1", False)):
        state = rookery.load("endgames").parse_state(fen)
        promotions = {state.uci(action)[4:]: action for action in state.legal_actions() if len(state.uci(action)) == 5}
        assert set(promotions) == set("qrbn")
        for letter, action in promotions.items():
            assert state.action_icon(action) == rookery.draw.piece_icon(letter.upper(), white)
            assert state.action_icon(action) != rookery.draw.piece_icon(letter.upper(), not white)
        assert {state.action_icon(action) for action in set(state.legal_actions()) - set(promotions.values())} == {""}
