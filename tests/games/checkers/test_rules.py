from __future__ import annotations

import contextlib
import random
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rookery
from rookery.game import Overlay
from rookery.games.checkers.rules import (
    INITIAL_FEN,
    Checkers,
    CheckersState,
    PdnGame,
    decode_action,
    encode_action,
    format_pdn,
    parse_pdn,
)
from rookery.search import minimax, perft
from tests.games.checkers import oracle

GAME = Checkers()
NO_DRAWS = Checkers(repetition=0, quiet_limit=0)
NINE = "6,7,8,14,15,16,22,23,24"  # all that a king on 1 can jump over


def to_state(board: oracle.Board, side: str, game: Checkers = GAME) -> CheckersState:
    black = [n for n, piece in board.items() if piece in "bB"]
    white = [n for n, piece in board.items() if piece in "wW"]
    return CheckersState(game, black, white, [n for n, p in board.items() if p.isupper()], "bw".index(side))


def moves_of(state: CheckersState) -> list[oracle.Move]:
    return sorted((tuple(path), tuple(captured)) for path, captured in map(decode_action, state.legal_actions()))


def names(state: CheckersState) -> set[str]:
    return {state.action_name(action) for action in state.legal_actions()}


def play(state: CheckersState, *moves: str) -> CheckersState:
    for move in moves:
        state.apply(state.parse_action(move))
    return state


def random_board(rng: random.Random) -> oracle.Board:
    """Up to 12 pieces a side anywhere, many kings: rich in long captures."""
    squares = rng.sample(range(1, 33), 32)
    board = {}
    for colour, king_row in (("b", range(29, 33)), ("w", range(1, 5))):
        for _ in range(rng.randint(1, rng.choice([3, 6, 12]))):
            square = squares.pop()
            board[square] = colour.upper() if square in king_row or rng.random() < 0.4 else colour
    return board


def capture_board(rng: random.Random) -> oracle.Board:
    """A few kings and men among pieces that stand where they can be jumped in long chains."""
    targets = [int(n) for n in NINE.split(",")]
    if rng.random() < 0.5:
        targets = [33 - n for n in targets]
    own, other = rng.sample("bw", 2)
    board = dict.fromkeys(rng.sample(targets, rng.randint(4, 9)), other)
    for square in rng.sample([n for n in range(1, 33) if n not in board], rng.randint(1, 3)):
        crowned = rng.random() < 0.7 or square in (range(29, 33) if own == "b" else range(1, 5))
        board[square] = own.upper() if crowned else own
    return board


# Counts


@pytest.mark.parametrize(
    ("fen", "counts"),
    [
        (INITIAL_FEN, [7, 49, 302, 1469, 7361, 36768, 179740, 845931, 3963680, 18391564]),
        ("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29", [5, 38, 178, 1378, 5836, 40745, 197933, 1377007]),
        ("W:WK14,K23:B9,10,18,19,26,27", [5, 19, 58, 420, 2165, 13809, 66927, 424754]),
    ],
)
def test_perft(fen: str, counts: list[int]) -> None:
    state = GAME.parse_state(fen)
    assert [perft(state, depth) for depth in range(len(counts) + 1)] == [1, *counts]


@pytest.mark.slow
def test_deep_perft() -> None:
    state = GAME.initial_state()
    assert [perft(state, depth) for depth in (11, 12)] == [85242128, 388623673]


def test_perft_of_random_positions() -> None:
    rng = random.Random(5)
    for _ in range(60):
        board, side = random_board(rng), rng.choice("bw")
        assert perft(to_state(board, side), 2) == oracle.perft(board, side, 2)


def test_random_games_of_the_paper() -> None:
    """419,192 games gave Black 47.1%, White 48.8%, drawn 4.1%, mean length 69.5: all rounded, all with noise."""
    games = 419_192
    played = GAME.random_games(games, seed=3, threads=1)
    for name, share in {"first wins": 0.471, "second wins": 0.488, "drawn": 0.041}.items():
        noise = 2**0.5 * (share * (1 - share) / games) ** 0.5  # of the difference of two samples
        assert abs(played.outcome_shares()[name] - share) < 0.0005 + 4 * noise
    noise = 2**0.5 * played.lengths.std() / games**0.5
    assert abs(played.lengths.mean() - 69.5) < 0.05 + 4 * noise


def test_mean_branching_of_random_games() -> None:
    rng = random.Random(4)
    batches = []
    for _ in range(20):
        choices = plies = 0
        for _ in range(300):
            state = GAME.initial_state()
            while actions := state.legal_actions():
                choices += len(actions)
                plies += 1
                state.apply(rng.choice(actions))
        batches.append(choices / plies)
    assert abs(np.mean(batches) - 5.21) < 0.005 + 4 * np.std(batches) / len(batches) ** 0.5


def test_number_of_actions() -> None:
    assert GAME.num_actions == 98 + 1328


# Rules, against the oracle and another package


def test_random_games_agree_with_the_oracle() -> None:
    rng = random.Random(1)
    rules = [(3, 100, False), (3, 0, True), (2, 0, False), (0, 12, False), (4, 30, True), (0, 100, False)]
    endings = set()
    for number in range(120):
        settings_ = rules[number % len(rules)]
        game = Checkers(*settings_)
        past = oracle.Game(*settings_)
        if number % 2:  # sparse positions have the long quiet play that draws come from
            past.board = dict(list(random_board(rng).items())[:6])
        state = to_state(past.board, past.side, game)
        while (result := past.result()) is None:
            moves = sorted(oracle.legal_moves(past.board, past.side))
            assert moves_of(state) == moves
            assert state.player() == "bw".index(past.side)
            assert state.returns() == [0, 0]
            assert np.array_equal(state.observation(), oracle.planes(past.board, past.side))
            move = rng.choice(moves)
            state.apply(encode_action(move[0]))
            past.play(move)
            assert state == to_state(past.board, past.side, game)
        assert state.player() == rookery.TERMINAL
        assert state.legal_actions() == []
        assert state.returns() == {"b": [1, -1], "w": [-1, 1], "draw": [0, 0]}[result]
        endings.add((result, settings_))
    assert len({ending for ending in endings if ending[0] == "draw"}) >= 5


def test_random_positions_agree_with_the_oracle() -> None:
    rng = random.Random(2)
    longest = 0
    for number in range(3000):
        board, side = (random_board, capture_board)[number % 2](rng), rng.choice("bw")
        state = to_state(board, side)
        moves = sorted(oracle.legal_moves(board, side))
        assert moves_of(state) == moves
        assert len(set(state.legal_actions())) == len(moves)
        for path, captured in moves:
            longest = max(longest, len(captured))
            child = state.clone()
            child.apply(encode_action(path))
            assert child.key() == to_state(oracle.after(board, (path, captured)), "wb"["bw".index(side)]).key()
    assert longest == 9


def test_random_positions_agree_with_pydraughts() -> None:
    draughts = pytest.importorskip("draughts")
    rng = random.Random(3)
    for number in range(400):
        state = to_state((random_board, capture_board)[number % 2](rng), rng.choice("bw"))
        board = draughts.Board(variant="english", fen=str(state))
        theirs = {tuple(move.steps_move) for move in board.legal_moves()}
        assert {path for path, _ in moves_of(state)} == theirs, str(state)


def test_captures_are_compulsory_and_completed() -> None:
    assert names(GAME.parse_state("W:W22,29:B18,11")) == {"22x15x8"}
    assert names(GAME.parse_state("W:W22,29:B18,10,11")) == {"22x15x8", "22x15x6"}
    assert names(GAME.parse_state("W:W22,29:B18,15")) == {"22-17", "29-25"}


def test_a_man_stops_on_the_king_row() -> None:
    state = GAME.parse_state("W:W10:B7,8")
    assert names(state) == {"10x3"}
    assert names(GAME.parse_state("W:WK10:B7,8")) == {"10x3x12"}
    play(state, "10x3")
    assert (state.white, state.kings, state.black) == ([3], [3], [8])


def test_a_king_may_return_to_its_start() -> None:
    state = GAME.parse_state("W:WK23:B10,11,18,19")
    assert names(state) == {"23x14x7x16x23", "23x16x7x14x23"}
    play(state, "23x23")  # both ways take the same four
    assert (state.black, state.white, state.returns()) == ([], [23], [-1, 1])


def test_nine_captures_in_one_move() -> None:
    """The nine pieces are the edges of a graph on the landings in which only 1 and 28 have an odd number of edges:
    every walk over all of them leads from the one to the other."""
    state = GAME.parse_state(f"W:WK1:B{NINE}")
    complete = [(path, captured) for path, captured in moves_of(state) if len(captured) == 9]
    assert complete
    assert {path[-1] for path, _ in complete} == {28}
    assert moves_of(state) == sorted(oracle.legal_moves({1: "W"} | {int(n): "b" for n in NINE.split(",")}, "w"))
    play(state, "x".join(map(str, complete[0][0])))
    assert (state.black, state.white, state.returns()) == ([], [28], [-1, 1])


@pytest.mark.parametrize(("fen", "returns"), [("W:W5:B1", [1, -1]), ("W:W:B7", [1, -1]), ("B:W9:B", [-1, 1])])
def test_who_cannot_move_has_lost(fen: str, returns: list[float]) -> None:
    state = GAME.parse_state(fen)
    assert (state.player(), state.legal_actions(), state.returns()) == (rookery.TERMINAL, [], returns)


# Draws

SHUFFLE = ("1-5", "32-28", "5-1", "28-32")
TWO_KINGS = "B:WK32:BK1"


def test_threefold_repetition() -> None:
    state = play(GAME.parse_state(TWO_KINGS), *SHUFFLE, *SHUFFLE[:3])
    assert (state.player(), state.occurrences) == (1, 2)
    play(state, SHUFFLE[3])
    assert (state.player(), state.occurrences, state.returns()) == (rookery.TERMINAL, 3, [0, 0])
    assert play(Checkers(repetition=0).parse_state(TWO_KINGS), *SHUFFLE, *SHUFFLE).player() == 0


def test_plies_without_a_capture() -> None:
    state = play(Checkers(quiet_limit=4).initial_state(), "11-15", "23-19", "8-11")
    assert (state.player(), state.quiet_plies) == (1, 3)
    play(state, "22-17")
    assert (state.player(), state.quiet_plies, state.returns()) == (rookery.TERMINAL, 4, [0, 0])
    state = play(Checkers(quiet_limit=4).initial_state(), "11-15", "22-18", "15x22")
    assert state.quiet_plies == 0


def test_forty_move_rule() -> None:
    game = Checkers(repetition=0, quiet_limit=0, forty_move_rule=True)
    state = play(game.parse_state("B:WK32:BK1,9"), "9-13", "32-28", "1-5", "28-32", "5-1")
    assert (state.quiet_plies, state.reversible_plies) == (5, 4)  # the move of the man does not count
    state = play(game.parse_state(TWO_KINGS), *SHUFFLE * 19, *SHUFFLE[:3])
    assert (state.player(), state.reversible_plies) == (1, 79)
    play(state, SHUFFLE[3])
    assert (state.player(), state.returns()) == (rookery.TERMINAL, [0, 0])


def test_a_loss_goes_before_a_draw() -> None:
    assert play(Checkers(quiet_limit=1).parse_state("B:W5:BK6"), "6-1").returns() == [1, -1]


def test_variants() -> None:
    assert vars(rookery.load("checkers"))["quiet_limit"] == 100
    wcdf = rookery.load("checkers", "wcdf")
    assert isinstance(wcdf, Checkers)
    assert (wcdf.repetition, wcdf.quiet_limit, wcdf.forty_move_rule) == (3, 0, True)
    free = rookery.load("checkers", "no-draws")
    assert isinstance(free, Checkers)
    assert (free.repetition, free.quiet_limit, free.forty_move_rule) == (0, 0, False)


def test_without_draw_rules_a_game_still_ends() -> None:
    state = NO_DRAWS.parse_state(TWO_KINGS)
    shuffle = [encode_action([int(n) for n in move.split("-")]) for move in SHUFFLE]
    for ply in range(100_000):
        assert state.player() == ply % 2
        state.apply(shuffle[ply % 4])
    assert (state.player(), state.returns()) == (rookery.TERMINAL, [0, 0])


@pytest.mark.parametrize("options", [{"repetition": 1}, {"repetition": -1}, {"quiet_limit": -1}, {"repetition": 101}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"0 for no such rule"):
        Checkers(**options)


# Actions and positions


def king_paths(path: tuple[int, ...], captured: tuple[int, ...]) -> Iterator[tuple[list[int], list[int]]]:
    """Every capture that begins with this path and takes no piece twice, each with the squares it captures on."""
    for down, right in oracle.ways("B"):
        over, land = oracle.relative(path[-1], down, right), oracle.relative(path[-1], 2 * down, 2 * right)
        if over is not None and land is not None and over not in captured:
            yield [*path, land], [*captured, over]
            yield from king_paths((*path, land), (*captured, over))


def test_action_numbers_are_the_possible_moves_each_once() -> None:
    squares = range(1, 33)
    steps = [([n, to], []) for n in squares for way in oracle.ways("B") if (to := oracle.relative(n, *way))]
    captures = [move for n in squares for move in king_paths((n,), ())]
    assert (len(steps), len(captures)) == (98, 1328)
    numbers = {encode_action(path): (path, captured) for path, captured in steps + captures}
    assert sorted(numbers) == list(range(GAME.num_actions))
    assert all(decode_action(action) == move for action, move in numbers.items())
    assert all(bool(captured) == (action >= 98) for action, (_, captured) in numbers.items())
    for action, (path, captured) in numbers.items():
        state = GAME.parse_state(f"W:WK{path[0]}:B{','.join(map(str, captured))}")
        assert state.is_legal(action)
        assert state.parse_action(state.action_name(action)) == action


@pytest.mark.parametrize("path", [[], [1], [1, 1], [1, 2], [0, 5], [1, 33], [1, 6, 10], [1, 10, 14], [1, 10] * 6])
def test_no_such_move(path: list[int]) -> None:
    with pytest.raises(ValueError, match=r"squares|diagonal|twice"):
        encode_action(path)


def test_illegal_actions() -> None:
    for fen in (INITIAL_FEN, "W:WK23:B10,11,18,19", "W:W22,29:B11,18"):
        state = GAME.parse_state(fen)
        legal = set(state.legal_actions())
        for action in range(-5, GAME.num_actions + 5):
            assert state.is_legal(action) == (action in legal)
            if action not in legal:
                with pytest.raises(ValueError, match=r"not legal"):
                    state.apply(action)
        assert str(state) == fen
    for action in (-1, GAME.num_actions, 2**31 - 1):
        with pytest.raises(ValueError, match=r"actions are 0 to"):
            decode_action(action)


def test_keys_are_positions() -> None:
    rng = random.Random(7)
    by_key: dict[bytes, str] = {}
    for _ in range(150):
        state = GAME.initial_state()
        while actions := state.legal_actions():
            state.apply(rng.choice(actions))
            assert by_key.setdefault(state.key(), str(state)) == str(state)
    assert len(set(by_key.values())) == len(by_key) > 5000
    moved = play(GAME.parse_state(TWO_KINGS), *SHUFFLE)
    assert (moved.quiet_plies, moved.key()) == (4, GAME.parse_state(TWO_KINGS).key())


def test_a_clone_is_independent() -> None:
    state = play(GAME.parse_state(TWO_KINGS), *SHUFFLE)
    copy = state.clone()
    assert type(copy) is CheckersState
    play(copy, *SHUFFLE)
    assert (copy.occurrences, state.occurrences) == (3, 2)
    assert (copy.player(), state.player()) == (rookery.TERMINAL, 0)


def test_observation() -> None:
    men = np.zeros((8, 8))
    men[0, 1::2] = men[1, ::2] = men[2, 1::2] = 1
    expected = np.zeros((5, 8, 8))
    expected[0], expected[2] = men, men[::-1, ::-1]
    assert GAME.observation_shape == expected.shape
    assert np.array_equal(GAME.initial_state().observation(), expected)
    expected = np.zeros((5, 8, 8))
    expected[3, 3, 2] = expected[0, 2, 1] = expected[1, 7, 0] = expected[2, 6, 7] = 1  # 14, 9, 29, 28
    expected[4] = 1
    assert np.array_equal(GAME.parse_state("W:W28,K14:B9,K29").observation(), expected)


def test_same_seed_same_games() -> None:
    one, two = (GAME.random_games(3000, seed=8, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.lengths, two.lengths)
    assert np.array_equal(one.returns, two.returns)
    assert not np.array_equal(one.lengths, GAME.random_games(3000, seed=9, threads=1).lengths)


def test_random_start() -> None:
    starts = {str(GAME.random_start(random.Random(seed))) for seed in range(300)}
    everything = set()
    for first in (root := GAME.initial_state()).legal_actions():
        child = root.clone()
        child.apply(first)
        for second in child.legal_actions():
            grandchild = child.clone()
            grandchild.apply(second)
            everything.add(str(grandchild))
    assert starts <= everything
    assert len(starts) > 30


def test_material_at_the_horizon() -> None:
    # Two kings count 3 each, the man 2: (6 - 2) / 8 of what a win is short of.
    assert {round(move.value, 9) for move in minimax(GAME.parse_state("B:W32:BK1,K2"), 1)} == {0.495}
    assert [move.value for move in minimax(GAME.parse_state("B:W6:B1"), 3)] == [1.0]


# FEN


@pytest.mark.parametrize(
    "text",
    [
        "B:W21,22,K30:B1,2,K5",
        "B:B1,2,K5:W21,22,K30",
        "B:W21-22,K30:BK5,1-2.",
        "  b : w K30 , 22, 21 : b 2,1,k5 . ",
        "B:W21,22,K30-30:B01,02,K05",
    ],
)
def test_ways_to_write_fen(text: str) -> None:
    assert str(GAME.parse_state(text)) == "B:W21,22,K30:B1,2,K5"


def test_initial_position() -> None:
    assert str(GAME.initial_state()) == INITIAL_FEN
    assert GAME.parse_state("B:W21-32:B1-12") == GAME.initial_state()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "draughts FEN"),
        ("B:W21", "draughts FEN"),
        ("X:W21:B1", "draughts FEN"),
        ("B:W21:W22", "draughts FEN"),
        ("B:W21:B1:H0", "draughts FEN"),
        ("B:W:B", "at least one piece"),
        ("B:W21,:B1", "expected a square"),
        ("B:W2 1:B1", "expected a square"),
        ("B:W٢:B1", "expected a square"),
        ("B:W0:B1", "1 to 32"),
        ("B:W33:B1", "1 to 32"),
        ("B:W24-21:B1", "ranges go up"),
        ("B:W21,K21:B1", "named twice"),
        ("B:W21:B21", "at most one piece"),
        ("B:W5-20:B1", "at most 12"),
        ("B:W4:B5", "king row"),
        ("B:W6:B29", "king row"),
    ],
)
def test_bad_fen(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GAME.parse_state(text)


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(["", *'BWK:,-.x0123456789 ([{;*"\\\n$']) + text[at + rng.randint(0, 2) :]
    return text


@given(st.one_of(st.text(), st.text("BWKbwk:,-.0123456789 ")))
def test_fuzzed_fen(text: str) -> None:
    try:
        state = GAME.parse_state(text)
    except ValueError:
        return
    assert GAME.parse_state(str(state)) == state


def test_fen_round_trip_and_mutations() -> None:
    rng = random.Random(10)
    for _ in range(2000):
        state = to_state(random_board(rng), rng.choice("bw"))
        assert GAME.parse_state(str(state)) == state
        try:
            read = GAME.parse_state(mutate(str(state), rng))
        except ValueError:
            continue
        assert GAME.parse_state(str(read)) == read


# Moves and PDN


def test_parse_action() -> None:
    rng = random.Random(11)
    for _ in range(300):
        state = to_state(random_board(rng), rng.choice("bw"))
        for action in state.legal_actions():
            name = state.action_name(action)
            assert state.parse_action(name) == state.parse_action(name.replace("x", "-")) == action
            assert state.action_cells(action) == [square - 1 for square in decode_action(action)[0]]


def test_short_names_of_captures() -> None:
    state = GAME.parse_state("W:W31:B18,19,26,27")  # two ways to 15, over different men
    assert names(state) == {"31x22x15", "31x24x15"}
    with pytest.raises(ValueError, match=r"'31x15' may mean 31x22x15 or 31x24x15: write it in full"):
        state.parse_action("31x15")
    state = GAME.parse_state("W:W31:B18,26")
    for text in ("31x22x15", "31x15", "31-15", " 31 - 22 - 15 ", "31:15", "31 15", "31X15!?"):
        assert state.parse_action(text) == encode_action([31, 22, 15])
    for text in ("31x22", "15x31", "31", "31xx15", "31x15x", "", "31x22x15x8", "31_15", "٣١x15"):
        with pytest.raises(ValueError, match=r"legal|expected a move"):
            state.parse_action(text)


@given(st.one_of(st.text(), st.text("0123456789-x:")))
def test_fuzzed_moves(text: str) -> None:
    state = GAME.initial_state()
    try:
        action = state.parse_action(text)
    except ValueError:
        return
    assert state.is_legal(action)


FILE = """\ufeff[Event "A \\"test\\" \\\\ here"]
[Black "One"]
[White "Two"]
[Result "1-0"]

1. 11-15 {a comment; with ( signs} 23-19 ; 99-99 to the end of the line
2. 8-11! 22-17?! $14 (2... 22-18 {no)} 15x22 (nested) 25x18) 3. 11-16 24x20
"""


def test_pdn() -> None:
    text = FILE.replace("3. 11-16 24x20", "3.11-16 1-0")
    [game] = parse_pdn(text)
    assert game.headers == {"Event": 'A "test" \\ here', "Black": "One", "White": "Two"}
    assert list(game.actions) == [encode_action(path) for path in ([11, 15], [23, 19], [8, 11], [22, 17], [11, 16])]
    assert game.result == -1.0
    assert parse_pdn(text, black_win="1-0")[0].result == 1.0


def test_pdn_of_many_games() -> None:
    games = parse_pdn(
        """
        [Event "1"] 1. 11-15 1/2-1/2
        [Event "2"] [Result "0-1"] 1. 9-13
        [Event "3"] [SetUp "1"] [FEN "W:W22,29:B18,11"] 1... 22x8 *
        [Event "4"] [GameType "21,B,8,8,N1,0"] 0-1
        1. 12-16 1-0
        [Event "6"]
        """
    )
    assert [game.headers.get("Event") for game in games] == ["1", "2", "3", "4", None, "6"]
    assert [game.result for game in games] == [0.0, 1.0, None, 1.0, -1.0, None]
    assert [len(game.actions) for game in games] == [1, 1, 1, 0, 1, 0]
    assert games[2].start == "W:W22,29:B11,18"
    assert games[2].actions == [encode_action([22, 15, 8])]
    assert parse_pdn("") == parse_pdn(" {only a comment} ") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. 11-15 22-18 2. 15-19 *", r"game 1, move 2 of Black: '15-19' is not a legal move .* 15x22"),
        ("1. 11-15 * 1. 11-15 22-17 2. 8-11 17-18 *", r"game 2, move 2 of White: '17-18'"),
        ('[FEN "W:W22:B1"] 1... 22-21 *', r"game 1, move 1 of White: '22-21'"),
        ('[FEN "W:W22:B1"] 1... 22-17 2. 1-2 *', r"game 1, move 2 of Black: '1-2'"),
        ('[FEN "nonsense"] *', r"game 1: expected draughts FEN"),
        ('[GameType "20"] *', r"game 1: its type is 20"),
        ('[Result "2-0"] 1. 11-15', r"game 1: unknown result '2-0'"),
        ("1. 11-15 hello *", r"expected a move or a result, not 'hello'"),
        ("1. 11-15 {open *", r"comment or tag is not closed"),
        ('1. 11-15 [Event "open *', r"comment or tag is not closed"),
        ("1. 11-15 (1. 12-16 *", r"variation is not closed"),
        ("1. 11-15 ) *", r"closed that was not opened"),
        ("1. 11-15 } *", r"expected a move or a result"),
    ],
)
def test_bad_pdn(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_pdn(text)
    with pytest.raises(ValueError, match=r"black_win is"):
        parse_pdn("", black_win="2-0")


def random_game(rng: random.Random) -> PdnGame:
    state = to_state(random_board(rng), rng.choice("bw"), NO_DRAWS) if rng.random() < 0.5 else NO_DRAWS.initial_state()
    start, actions = str(state), []
    for _ in range(rng.randint(0, 60)):
        if not (legal := state.legal_actions()):
            break
        actions.append(rng.choice(legal))
        state.apply(actions[-1])
    return PdnGame(actions, rng.choice([1.0, -1.0, 0.0, None]), {"Event": f'{rng.random()} "x" \\ y'}, start)


def test_pdn_round_trip() -> None:
    rng = random.Random(12)
    for black_win in ("1-0", "0-1"):
        games = [random_game(rng) for _ in range(60)]
        text = format_pdn(games, black_win)
        assert parse_pdn(text, black_win) == games
        assert max(len(line) for line in text.splitlines()) <= 120  # FEN may be long, lines of moves are not
    assert "1... " in format_pdn([PdnGame(parse_pdn('[FEN "W:W22:B1"] 1... 22-17')[0].actions, start="W:W22:B1")])


def test_pdn_numbers_every_move_of_the_first_side() -> None:
    moves = parse_pdn("1. 11-15 23-19 2. 8-11 22-17 3. 4-8 *")[0].actions
    assert "1. 11-15 23-19 2. 8-11 22-17 3. 4-8 *" in format_pdn([PdnGame(moves)])
    state = Checkers().initial_state()
    state.apply(moves[0])
    assert "\n1... 23-19 2. 8-11 22-17 3. 4-8 *" in format_pdn([PdnGame(moves[1:], start=str(state))])


def test_pdn_that_cannot_be_written() -> None:
    for game in (PdnGame([128]), PdnGame(result=0.5), PdnGame(headers={"a b": ""}), PdnGame(start="x")):
        with pytest.raises(ValueError, match=r"legal|result|tag|FEN"):
            format_pdn([game])


@settings(max_examples=300)
@given(st.one_of(st.text(), st.text('[]{}();"\\*!?$ \n.0123456789-x/aB')))
def test_fuzzed_pdn(text: str) -> None:
    try:
        games = parse_pdn(text)
    except ValueError:
        return
    assert parse_pdn(format_pdn(games)) == games


def test_mutated_pdn() -> None:
    rng = random.Random(13)
    valid = [format_pdn([random_game(rng)]) for _ in range(30)] + [FILE]
    read = 0
    for _ in range(1500):
        try:
            parse_pdn(mutate(rng.choice(valid), rng))
            read += 1
        except ValueError:
            pass
    assert 0 < read < 1500


@pytest.mark.parametrize(
    "unit", ["(", "{", "[", '[a "', "1", "1-", "1.", "(1-0 ", "({})", '([a "\\', "$", "* ", " ", ";", "1x2", '[a ""]']
)
def test_pdn_takes_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    begin = time.process_time()
    with contextlib.suppress(ValueError):
        parse_pdn(text)
    assert time.process_time() - begin < 3  # a quadratic reader would take minutes


# Drawing


def test_svg() -> None:
    rng = random.Random(14)
    for _ in range(20):
        board = random_board(rng)
        state = to_state(board, "b")
        overlay = Overlay(
            highlights={0: "focus", 31: "bad"},
            arrows=[(0, 9)],
            labels={4: "<&"},
            values=dict.fromkeys(state.legal_actions(), 0.5),
        )
        root = ElementTree.fromstring(state.svg())
        cells = [int(element.attrib["data-cell"]) for element in root.iter() if "data-cell" in element.attrib]
        assert sorted(cells) == list(range(32))
        fills = [
            e.attrib["fill"] for e in root.iter("{http://www.w3.org/2000/svg}circle") if e.attrib["fill"] != "none"
        ]
        assert len(fills) == len(board)
        assert len(set(fills)) == len({piece.lower() for piece in board.values()})
        crowns = len(list(root.iter("{http://www.w3.org/2000/svg}polygon")))
        assert crowns == sum(piece.isupper() for piece in board.values())
        drawn = ElementTree.fromstring(state.svg(overlay))
        assert len(list(drawn.iter())) > len(list(root.iter()))
        assert "<&" in "".join(drawn.itertext())


def test_the_drawing_has_square_1_on_top() -> None:
    root = ElementTree.fromstring(GAME.initial_state().svg())
    place = {
        int(element.attrib["data-cell"]): (float(element.attrib["y"]), float(element.attrib["x"]))
        for element in root.iter()
        if "data-cell" in element.attrib
    }
    left, top = min(x for _, x in place.values()), min(y for y, _ in place.values())
    for square, (row, column) in oracle.PLACE.items():
        assert place[square - 1] == pytest.approx((top + row, left + column))
