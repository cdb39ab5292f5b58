"""Q-table learning of checkers and Prior State Voting against plain versions of the paper's algorithms."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery import run as runs
from rookery._native import checkers as native
from rookery.games.checkers import q_learning as q_table
from rookery.games.checkers.agents import QTableAgent
from rookery.games.checkers.q_learning import FALLBACKS, QTable, Settings, play_against_random
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action, encode_action
from rookery.games.checkers.voting import SYMMETRIES, mirror, rotation, view_of
from rookery.learn.voting import PriorStateVoting, compare, matching_fraction
from tests.games.checkers import oracle as rules
from tests.games.checkers import oracle_q_learning as oracle
from tests.training import trained, training

GAME = Checkers()


def to_state(board: rules.Board, side: str) -> CheckersState:
    pieces = {colour: [n for n, piece in board.items() if piece.lower() == colour] for colour in "bw"}
    kings = [n for n, piece in board.items() if piece.isupper()]
    return CheckersState(GAME, pieces["b"], pieces["w"], kings, "bw".index(side))


def to_move(action: int) -> rules.Move:
    path, captured = decode_action(action)
    return tuple(path), tuple(captured)


def random_board(rng: random.Random) -> rules.Board:
    """Few or many pieces anywhere, men not on their king rows."""
    squares = rng.sample(range(1, 33), rng.randint(2, 20))
    board: rules.Board = {}
    for i, square in enumerate(squares):
        piece = "bw"[i % 2] if rng.random() < 0.6 else "BW"[i % 2]
        crowned = (piece == "b" and square > 28) or (piece == "w" and square < 5)
        board[square] = piece.upper() if crowned else piece
    return board


def random_table(rng: random.Random, positions: int) -> tuple[QTable, oracle.Table]:
    """The same table twice. It has zeros, and positions full of captures."""
    known: oracle.Table = {}
    while len(known) < positions:
        board, side = random_board(rng), rng.choice("bw")
        moves = rules.legal_moves(board, side)
        if moves:
            values = [float(np.float32(rng.uniform(-2, 2))) if rng.random() < 0.7 else 0.0 for _ in moves]
            known[oracle.key(board, side)] = dict(zip(moves, values, strict=True))
    return to_table(known), known


def to_table(known: oracle.Table) -> QTable:
    rows: dict[str, list[int]] = {name: [] for name in ("black", "white", "kings", "side")}
    bits: list[bool] = []
    values: list[float] = []
    for (pieces, side), actions in known.items():
        board = dict(pieces)
        for name, letters in (("black", "bB"), ("white", "wW"), ("kings", "BW")):
            rows[name].append(sum(1 << n - 1 for n, piece in board.items() if piece in letters))
        rows["side"].append("bw".index(side))
        for action in to_state(board, side).legal_actions():
            bits.append(actions[to_move(action)] != 0)
            values += [actions[to_move(action)]] * bits[-1]
    arrays = {name: np.array(column, np.uint8 if name == "side" else np.uint32) for name, column in rows.items()}
    learned = {"learned": np.packbits(bits, bitorder="little"), "values": np.array(values, np.float32)}
    return QTable.from_arrays(arrays | learned, Path("a test"))


def check_equal(table: QTable, known: oracle.Table) -> None:
    assert len(table) == len(known)
    for (pieces, side), actions in known.items():
        values = table.values(to_state(dict(pieces), side))
        assert values is not None
        assert {to_move(action): q for action, q in values.items()} == actions


@pytest.mark.parametrize("rewards", [{}, {"draw": -1.0, "capture": 0.25, "decay": 0.75}])
def test_the_walk_back_is_that_of_algorithm_1(rewards: dict[str, float]) -> None:
    rng = random.Random(4)
    table, known = QTable(), oracle.Table()
    endings = set()
    for number in range(12):
        state, game = GAME.initial_state(), rules.Game(3, 100, False)
        actions = []
        while state.player() >= 0:
            # Often the same opening moves, so that positions are met again.
            action = rng.choice(state.legal_actions()[: 1 if len(actions) < 10 and number % 2 else None])
            actions.append(action)
            game.play(to_move(action))
            state.apply(action)
        alpha, discount = rng.uniform(0.05, 1.0), rng.uniform(0.0, 1.0)
        more = rewards if number % 3 else {}
        settings = Settings(
            alpha=alpha, draw_reward=more.get("draw", 0.0), capture_reward=more.get("capture", 0.0),
            reward_decay=more.get("decay", 1.0),
        )  # fmt: skip
        table.learn(GAME.initial_state(), actions, settings, discount)
        oracle.learn(known, game, alpha, discount, **more)
        endings.add(game.result())
    check_equal(table, known)
    assert {"b", "w"} <= endings


def test_a_draw_rewards_nobody() -> None:
    state = GAME.parse_state("B:WK32:BK1")
    actions = [encode_action(path) for path in ([1, 6], [32, 27], [6, 1], [27, 32]) * 2]
    table = QTable()
    table.learn(state, actions, Settings(alpha=0.5))
    assert len(table) == 4
    assert table.values(state) == {encode_action([1, 5]): 0.0, encode_action([1, 6]): 0.0}
    table = QTable()
    table.learn(state, actions[:8], Settings(alpha=0.5, draw_reward=-1.0), discount=0.0)
    # Each player moved there twice: -0.5, then halfway on to -1.
    assert table.values(state) == {encode_action([1, 5]): 0.0, encode_action([1, 6]): -0.75}


def order(board: rules.Board, side: str) -> list[rules.Move]:
    return [to_move(action) for action in to_state(board, side).legal_actions()]


def test_training_by_the_rule_of_the_program() -> None:
    games, seed = 30, 6
    table = QTable(rule="program")
    settings = Settings(games=games, epsilon=0.2, alpha=0.3, rule="program")
    played = table.train_part(GAME, settings, seed, 0, games)
    known, endings = oracle.train_as_the_program(games, 0.2, 0.3, seed, order)
    assert played.results == [endings.count(result) for result in ("b", "draw", "w")]
    check_equal(table, known)


def test_the_program_lists_moves_square_by_square() -> None:
    rng = random.Random(8)
    captures = 0
    for _ in range(200):
        moves = order(random_board(rng), rng.choice("bw"))
        if moves:
            first = oracle.listed_by_the_program(moves)[0]
            assert native.program_first([encode_action(move[0]) for move in moves]) == encode_action(first[0])
            captures += len(moves) > 1 and len(first[1]) > 1
    assert captures
    with pytest.raises(ValueError, match="no actions"):
        native.program_first([])


def test_the_program_shifts_boards_the_wrong_way(tmp_path: Path) -> None:
    rng = random.Random(7)
    table, known = random_table(rng, 60)
    table.rule = "program"
    table.save(tmp_path / "t.npz", {})
    table = QTable.load(tmp_path / "t.npz")
    voting, right_way = table.voting(), native.PriorStateVoting(table.native)
    differ = 0
    for _ in range(8):
        board, side = random_board(rng), rng.choice("bw")
        state = to_state(board, side)
        assert [row[2] for row in voting.scores(state)] == [row[2] for row in right_way.scores(state)]
        differ += voting.scores(state) != right_way.scores(state)
        for action, score, votes in voting.scores(state):
            assert (score, votes) == pytest.approx(oracle.vote(known, board, side, to_move(action), wrong_way=True))
            strongest = table.strongest_votes(state, action, 1000)
            assert sum(vote.weight for vote in (*strongest[0], *strongest[1])) == pytest.approx(score * votes)
    assert differ


def test_votes_of_an_agent_count_through_no_symmetry_unless_told_so() -> None:
    rng = random.Random(11)
    table, _ = random_table(rng, 60)
    state = GAME.initial_state()
    for symmetries in (1, 2, 4):
        scores = {action: mean for action, mean, _ in table.voting(symmetries).scores(state)}
        assert QTableAgent(table, "voting", symmetries).values(state) == scores
        told = QTableAgent(table, "voting").values(state)
        assert told == scores if symmetries == 1 else told != scores


def test_an_agent_of_the_program_plays_the_first_of_equal_moves() -> None:
    table = QTable(rule="program")
    state = GAME.initial_state()
    assert {QTableAgent(table, "voting").choose(state, random.Random(seed)) for seed in range(9)} == {
        encode_action([9, 14])
    }
    assert len({QTableAgent(table).choose(state, random.Random(seed)) for seed in range(9)}) > 1, "unknown: at random"


def test_training_is_algorithm_1() -> None:
    games, seed = 30, 5
    table = QTable()
    played = table.train_part(GAME, Settings(games=games, epsilon=0.2, alpha=0.3), seed, 0, games)
    known, endings = oracle.train(games, 0.2, 0.3, seed, order)
    assert played.games == games
    assert played.results == [endings.count(result) for result in ("b", "draw", "w")]
    check_equal(table, known)


def test_training_in_parts_and_after_a_stop_gives_the_same_table(tmp_path: Path) -> None:
    settings = Settings(games=2500)
    whole = QTable()
    whole.train(GAME, settings, 3)
    rows = training(GAME, "q-learning", settings, tmp_path, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(q_table, "CHECKPOINT_SECONDS", -1.0)  # after every part
        assert next(rows)["games"] == 1000
        rows.close()
        with pytest.raises(ValueError, match="already holds a run; resume it"):
            training(GAME, "q-learning", settings, tmp_path, 3)
        with pytest.raises(ValueError, match=r"was trained with alpha=0\.1, not 0\.2"):
            training(GAME, "q-learning", Settings(games=2500, alpha=0.2), tmp_path, 3, resume=True)
        assert [row["games"] for row in trained(GAME, "q-learning", settings, tmp_path, 3, resume=True)] == [2000, 2500]
    loaded = QTable.load(tmp_path / "model.npz")
    assert all((a == b).all() for a, b in zip(whole.native.arrays(), loaded.native.arrays(), strict=True))


def test_figure_2() -> None:
    new = view_of(GAME.parse_state("B:W6:B1"), encode_action([1, 10]))
    prior = view_of(GAME.parse_state("B:W16:B11"), encode_action([11, 20]))
    assert matching_fraction(prior, new) == 0.375
    overlap = compare(prior, new)
    assert (overlap[2:8, 4:8] == 1).all(), "rows 2 to 7 and columns 4 to 7 of the prior board"
    assert (overlap == 1).sum() == 24
    table = QTable()
    table.learn(GAME.parse_state("B:W16:B11"), [encode_action([11, 20])], Settings(alpha=1.0))
    voting = native.PriorStateVoting(table.native)
    assert voting.scores(GAME.parse_state("B:W6:B1")) == [(encode_action([1, 10]), 0.375, 1)]


@pytest.mark.parametrize("seed", range(4))
def test_voting_is_algorithm_2(seed: int) -> None:
    rng = random.Random(seed)
    table, known = random_table(rng, 60)
    voting = native.PriorStateVoting(table.native)
    seen = set()
    for _ in range(12):
        board, side = random_board(rng), rng.choice("bw")
        for action, score, votes in voting.scores(to_state(board, side)):
            expected, n = oracle.vote(known, board, side, to_move(action))
            assert votes == n
            assert score == pytest.approx(expected, abs=1e-12)
            seen.add((n > 0, action >= 128))
    assert {(True, False), (True, True)} <= seen, "steps and captures had votes"


@pytest.mark.parametrize("symmetries", [1, 2, 4])
def test_native_votes_are_those_of_the_generic_method(symmetries: int) -> None:
    rng = random.Random(10 + symmetries)
    table, known = random_table(rng, 80)
    generic = PriorStateVoting(view_of, SYMMETRIES[1:symmetries])
    for (pieces, side), actions in known.items():
        for move, q in actions.items():
            generic.learn(to_state(dict(pieces), side), encode_action(move[0]), q)
    voting = native.PriorStateVoting(table.native, symmetries)
    for _ in range(12):
        state = to_state(random_board(rng), rng.choice("bw"))
        for action, score, votes in voting.scores(state):
            expected = generic.score(state, action)
            assert votes == expected.votes
            assert score == pytest.approx(expected.mean, abs=1e-12)
            in_favour, against = table.strongest_votes(state, action, 1000, symmetries, threads=2)
            assert len(in_favour) + len(against) == votes
            new = view_of(state, action)
            for sign, group in ((1, in_favour), (-1, against)):
                weights = [sign * vote.weight for vote in group]
                assert all(weight >= 0 for weight in weights)
                assert weights == sorted(weights, reverse=True)
                for vote in group:
                    prior = SYMMETRIES[vote.symmetry](view_of(vote.state, vote.action))
                    assert prior.pattern == new.pattern
                    assert vote.matching / 64 == matching_fraction(prior, new)
                    assert vote.weight == pytest.approx(vote.q * vote.matching / 64)
            few = table.strongest_votes(state, action, 2, symmetries, threads=1)
            assert few == (in_favour[:2], against[:2])
            total = sum(vote.weight for vote in (*in_favour, *against))
            assert total / max(votes, 1) == pytest.approx(score, abs=1e-12)


def test_symmetries_undo_themselves_and_keep_the_rules() -> None:
    rng = random.Random(2)
    for _ in range(20):
        state = to_state(random_board(rng), rng.choice("bw"))
        for action in state.legal_actions():
            view = view_of(state, action)
            for symmetry in (rotation, mirror):
                there = symmetry(view)
                back = symmetry(there)
                assert (back.cells == view.cells).all()
                assert (back.anchor, back.pattern) == (view.anchor, view.pattern)
                assert there.cells[there.anchor] > 0, "a piece stands where the action starts"


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    table = QTable()
    table.train(GAME, Settings(games=300), 1)
    state = GAME.parse_state("W:W22,23,24,K5:B1,9,10,18,K32")
    votings = [native.PriorStateVoting(table.native, 4, threads).scores(state) for threads in (1, 2, 3)]
    assert votings[0] == votings[1] == votings[2]
    for fallback in FALLBACKS:
        games = 10 if fallback == "keep-training" else 60
        one, three = (play_against_random(table, GAME, fallback, games, 2, threads=threads) for threads in (1, 3))
        assert (one.results == three.results).all()
        assert (one.plies == three.plies).all()
        other = play_against_random(table, GAME, fallback, games, 3)
        assert (one.plies != other.plies).any()


def test_fallbacks_against_random() -> None:
    """Wide bounds around what thousands of games gave: random 50%, voting above 70%, keep-training above 85%."""
    table = QTable()
    table.train(GAME, Settings(games=1000), 1)
    assert 0.38 < play_against_random(table, GAME, "random", 300, 1).wins / 300 < 0.62
    assert play_against_random(table, GAME, "voting", 300, 1).wins / 300 > 0.62
    assert play_against_random(table, GAME, "keep-training", 40, 1).wins / 40 > 0.75


@pytest.mark.parametrize("fen", ["B:BK15,K14:W24", "W:WK18,K19:B9"])
def test_keep_training_wants_to_win_with_either_colour(fen: str) -> None:
    """Two kings against a man, and the same seen by the other colour: a king may be given away, or the man caught."""
    state = GAME.parse_state(fen)
    values = QTable().keep_training(state, Settings(games=1000), seed=1)
    [lost] = [action for action in values if any(decode_action(reply)[1] for reply in _replies(state, action))]
    best = max(values, key=values.__getitem__)
    assert values[best] > 1.0 > values[lost]
    assert best != lost


def _replies(state: CheckersState, action: int) -> list[int]:
    after = state.clone()
    after.apply(action)
    return after.legal_actions()


def test_keep_training_does_not_change_the_table() -> None:
    table = QTable()
    table.train(GAME, Settings(games=20), 1)
    before = [array.copy() for array in table.native.arrays()]
    table.keep_training(GAME.initial_state(), Settings(games=50), seed=1)
    play_against_random(table, GAME, "keep-training", 2, 1)
    assert all((a == b).all() for a, b in zip(before, table.native.arrays(), strict=True))


def test_a_table_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    table, known = random_table(random.Random(1), 200)
    table.save(tmp_path / "t.npz", {"seed": 1})
    check_equal(QTable.load(tmp_path / "t.npz"), known)
    assert not [file for file in tmp_path.iterdir() if file.suffix == ".part"]


def test_merged_tables_know_what_each_knew() -> None:
    rng = random.Random(3)
    (one, known_one), (two, known_two) = random_table(rng, 50), random_table(rng, 50)
    shared = next(iter(known_one))
    both = dict(known_two)
    both[shared] = {move: q + 1.0 if q else 0.25 for move, q in known_one[shared].items()}
    two.merge(to_table(both))  # what two has already merges with itself to the same values
    one.merge(two)
    expected = known_one | known_two
    expected[shared] = {move: q + 0.5 if q else 0.25 for move, q in known_one[shared].items()}
    assert len(one) == len(expected)
    for (pieces, side), actions in expected.items():
        values = one.values(to_state(dict(pieces), side))
        assert values is not None
        for action, q in values.items():
            assert q == pytest.approx(actions[to_move(action)], abs=1e-6)


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    table, _ = random_table(random.Random(1), 30)
    path = tmp_path / "t.npz"
    table.save(path, {})
    whole = path.read_bytes()
    rng = random.Random(5)
    for _ in range(300):
        damaged = bytearray(whole)
        place = rng.randrange(len(damaged))
        damaged[place] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            same = QTable.load(path)
        except ValueError:
            continue
        # Some bytes of a zip file mean nothing; then the table is the one that was saved.
        assert all((a == b).all() for a, b in zip(table.native.arrays(), same.native.arrays(), strict=True))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="not a file written by Rookery, or is damaged"):
        QTable.load(path)
    runs.save_arrays(path, {"kind": "something else"}, table.arrays())
    with pytest.raises(ValueError, match="holds 'something else', not 'checkers q-table'"):
        QTable.load(path)
    with pytest.raises(ValueError, match="there is no file"):
        QTable.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("black", lambda a: a[:-1], "different lengths"),
        ("black", lambda a: a | np.uint32(0xF0000000), "a square holds at most one piece|men|man cannot stand"),
        ("kings", lambda a: np.full_like(a, 0xFFFFFFFF), "a king stands on a square without a piece"),
        ("side", lambda a: a + np.uint8(2), "the side to move is 0"),
        ("values", lambda a: a[:-1], "the values do not belong to the positions"),
        ("values", lambda a: np.append(a, np.float32(1)), "the values do not belong to the positions"),
        ("values", lambda a: a * np.float32(np.inf), "not a finite number"),
        ("learned", lambda a: a[:-1], "the values do not belong to the positions"),
        ("values", lambda a: a.astype(np.float64), "wrong type"),
    ],
)
def test_tables_that_cannot_be_are_refused(name: str, change: Any, sentence: str, tmp_path: Path) -> None:
    table, _ = random_table(random.Random(1), 30)
    arrays = table.arrays()
    arrays[name] = change(arrays[name])
    runs.save_arrays(tmp_path / "t.npz", {"kind": q_table.KIND}, arrays)
    with pytest.raises(ValueError, match=f"does not hold a Q-table of checkers: .*({sentence})"):
        QTable.load(tmp_path / "t.npz")


def test_a_position_must_not_be_there_twice(tmp_path: Path) -> None:
    table, _ = random_table(random.Random(1), 1)
    arrays = {name: np.concatenate([array, array]) for name, array in table.arrays().items()}
    with pytest.raises(ValueError, match="twice"):
        QTable.from_arrays(arrays, tmp_path)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"games": 0}, "games must be at least 1"),
        ({"alpha": 0.0}, "alpha must be above 0"),
        ({"epsilon": 1.5}, "epsilon must be from 0 to 1"),
        ({"first_discount": -0.1}, "first discount"),
        ({"last_discount": float("nan")}, "last discount"),
        ({"draw_reward": -2.0}, "draw reward must be from -1 to 1"),
        ({"capture_reward": float("inf")}, "capture reward"),
        ({"reward_decay": 1.5}, "reward decay must be from 0 to 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Settings(**settings)


def test_other_nonsense_is_refused() -> None:
    over = GAME.parse_state("B:WK1:B")
    with pytest.raises(ValueError, match="the game is over"):
        QTable().keep_training(over, Settings(games=1))
    with pytest.raises(ValueError, match="not legal"):
        QTable().strongest_votes(GAME.initial_state(), 0)
    with pytest.raises(ValueError, match="symmetries is 1"):
        native.PriorStateVoting(native.QTable(), 3)
    with pytest.raises(ValueError, match="illegal action"):
        QTable().learn(GAME.initial_state(), [0])
    with pytest.raises(ValueError, match="the game is not over"):
        QTable().learn(GAME.initial_state(), GAME.initial_state().legal_actions()[:1])
    with pytest.raises(ValueError, match="unknown fallback 'best'; known fallbacks: random, voting, keep-training"):
        play_against_random(QTable(), GAME, "best", 2)  # type: ignore[arg-type]
