"""Q-learning of the endgames: native against a slow oracle, the rewards by hand, and what comes out of runs."""

from __future__ import annotations

import csv
import dataclasses
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery import _native
from rookery.games.endgames import q_learning as endgame_q
from rookery.games.endgames import training
from rookery.games.endgames.q_learning import (
    CHECKMATE,
    ENDINGS,
    POTENTIAL,
    POTENTIAL_VERSIONS,
    VERSIONS,
    Batch,
    LearnedTable,
    Settings,
    carried_forward,
    perfect_engine,
    train,
    train_batch,
)
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.study import start_positions
from rookery.games.endgames.tables import tables
from tests.games.endgames import oracle_q_learning as oracle

FENS = {
    "KQK": "8/8/1K6/8/3k4/7Q/8/8 w - - 0 1",
    "KRK": "8/8/8/2k5/8/4K3/8/7R w - - 0 1",
    "KBBK": "k7/8/1K6/8/2B5/4B3/8/8 w - - 0 1",
    "KPK": "8/8/8/8/1k6/8/1P6/1K6 w - - 0 1",
    "black": "8/8/8/2K5/8/4k3/8/7r b - - 0 1",
}


def game(material: str = "KRK") -> Endgames:
    return Endgames(material, fifty_move_rule=True)


def start(name: str) -> EndgamesState:
    return game().parse_state(FENS[name])


def perfect(material: str) -> endgame_q.Engine:
    return perfect_engine(tables(material).native)


def test_king_area_and_distance_agree_with_a_flood_fill_over_sets() -> None:
    rng = random.Random(1)
    for material in ("KQK", "KRK", "KBBK", "KBNK", "KPK", "KQRK"):
        for _ in range(150):
            state = Endgames(material).random_start(rng)
            board = oracle.board_of(state)
            assert endgame_q.king_area(state) == oracle.king_area(board), state
            assert endgame_q.king_distance(state) == oracle.king_distance(board)


def test_heuristic_reward_by_hand() -> None:
    # The king in the corner is shut in by the queen's file and rank: a8 alone, or b8 too.
    mated_soon = game("KQK").parse_state("k7/8/1K6/8/8/8/8/2Q5 b - - 0 1")
    assert endgame_q.king_area(mated_soon) == 2  # a8 and b8: a7, b7 belong to the king, the c-file to the queen
    assert endgame_q.heuristic_reward(mated_soon) == pytest.approx((70 - (2 + 2)) ** 2 / 10)


@pytest.mark.parametrize(
    ("mate", "score", "reward"),
    [
        (True, 20, 100.0),  # (10 * (1 + 0))^2
        (True, 10, 400.0),  # (10 * (1 + 1))^2
        (True, 0, 2500.0),  # (10 * (1 + 4))^2
        (True, 25, 100.0),
        (False, 6000, 9.0),  # (0.3 * 10)^2
        (False, -2000, -1.0),
    ],
)
def test_stockfish_reward_follows_the_prose_of_the_paper(mate: bool, score: int, reward: float) -> None:
    assert endgame_q.stockfish_reward(mate, score) == pytest.approx(reward)


def test_every_mate_is_worth_more_than_no_mate() -> None:
    assert endgame_q.stockfish_reward(True, 20) > endgame_q.stockfish_reward(False, 6000)


def crooked(state: EndgamesState) -> tuple[int, bool, int]:
    """An engine of our own: a move and a judgement that depend on the position in some odd, fixed way."""
    number = sum(state.key())
    actions = state.legal_actions()
    return actions[number % len(actions)], number % 3 > 0, number % 23


CASES = {
    "heuristic": (Settings("heuristic", epsilon=0.1), "strong", "KRK"),
    "decaying": (Settings("heuristic", epsilon=0.3, decay=1.1), "strong", "KQK"),
    "engine's reward": (Settings("stockfish", epsilon=0.1, alpha=0.3), "strong", "KBBK"),
    "potential": (dataclasses.replace(POTENTIAL, epsilon=0.1, steps_per_square=0.7), "strong", "KRK"),
    "settling": (dataclasses.replace(POTENTIAL, decay=1.0, epsilon=0.3, explored=0.5), "strong", "KQK"),
    "black strong": (Settings("heuristic", epsilon=0.1), "strong", "black"),
    "weak": (Settings("stockfish", epsilon=0.1, alpha=0.5), "weak", "KQK"),
    "both": (dataclasses.replace(POTENTIAL, epsilon=0.1, alpha=0.5), "both", "KRK"),
    "pawn": (Settings("heuristic", epsilon=0.2), "both", "KPK"),
}


@pytest.mark.parametrize("case", CASES)
def test_native_learning_agrees_with_the_oracle_on_the_same_random_numbers(case: str) -> None:
    settings, learners, name = CASES[case]
    begin = start(name)
    engine = _native.endgames.PyEngine(lambda fen: crooked(begin.game.parse_state(fen)))
    matches = 25
    [_, run] = train(begin, settings, engine, learners=learners, matches=matches, runs=2, seed=5)  # type: ignore[arg-type]

    def judged(state: EndgamesState) -> float:
        return oracle.by_engine(crooked(oracle.fresh(state)))

    def potential(state: EndgamesState) -> float:
        board = oracle.board_of(state)
        steps = settings.steps_per_square * (oracle.king_area(board) + oracle.king_distance(board))
        return settings.win * settings.gamma**steps

    sides = {"strong": [begin.strong], "weak": [1 - begin.strong], "both": [0, 1]}[learners]
    slow = {
        player: oracle.Learner(
            player == begin.strong,
            oracle.heuristic if settings.reward == "heuristic" else judged,
            settings.alpha,
            settings.gamma,
            settings.epsilon,
            settings.decay,
            potential if settings.shaping == "potential" else None,
        )
        for player in sides
    }
    rng = oracle.Random(5, 1)
    for i in range(matches):
        if i >= settings.explored * matches:
            for learner in slow.values():
                learner.epsilon = 0.0
        ending, moves = oracle.match(begin, slow, crooked, rng)
        assert (endgame_q.ENDINGS[run.endings[i]], run.moves[i]) == (ending, moves), f"match {i}"
    for player, learner in slow.items():
        table = run.tables["strong" if player == begin.strong else "weak"]
        assert len(table) == len(learner.learned) > 0
        for position in learner.learned:
            values = table.values(begin.game.parse_state(position))
            assert values is not None, position
            assert values == pytest.approx(learner.q[position], rel=1e-12, abs=1e-9)


def test_the_perfect_engine_plays_best_moves_and_knows_the_distance() -> None:
    rng = random.Random(2)
    for material in ("KQK", "KRK", "KBBK", "KPK"):
        table, engine = tables(material), perfect(material)
        for _ in range(100):
            state = Endgames(material).random_start(rng)
            action, mate, score = engine.ask(state)
            dtm = table.dtm(state)
            assert action in table.best_moves(state)
            assert mate == (dtm is not None)
            assert score == ((abs(dtm) + 1) // 2 if dtm is not None else 0)


def test_the_perfect_engine_sets_the_hardest_problem_in_a_drawn_position() -> None:
    # The pawn's advance e6 leaves the king in front of it one square of three that draws.
    table = tables("KPK")
    state = game("KPK").parse_state("4k3/8/3K4/4P3/8/8/8/8 w - - 0 1")
    if table.dtm(state) is not None:
        state = game("KPK").parse_state("8/4k3/8/3KP3/8/8/8/8 w - - 0 1")
    assert table.dtm(state) is None

    def hard(action: int) -> float:
        after = oracle.after(state, action)
        replies = table.moves(after) if after.ending is None else {}
        return sum(dtm is not None for dtm in replies.values()) / max(len(replies), 1)

    drawing = [action for action, dtm in table.moves(state).items() if dtm is None]
    chosen = perfect("KPK").ask(state)[0]
    assert hard(chosen) == max(map(hard, drawing)) > 0


def test_runs_do_not_depend_on_threads_or_on_how_many_there_are() -> None:
    begin, engine = start("KRK"), perfect("KRK")
    settings = VERSIONS["Heuristic Decaying"]
    together = train(begin, settings, engine, matches=300, runs=3, seed=9, threads=1)
    others = train(begin, settings, engine, matches=300, runs=3, seed=9, threads=2)
    [alone] = train(begin, settings, engine, matches=300, runs=1, first_run=2, seed=9)
    for a, b in [*zip(together, others, strict=True), (together[2], alone)]:
        assert a.moves.tolist() == b.moves.tolist()
        assert a.endings.tolist() == b.endings.tolist()
        assert a.tables["strong"].positions.tolist() == b.tables["strong"].positions.tolist()
    assert together[0].moves.tolist() != together[1].moves.tolist()


def test_the_paper_s_agent_solves_king_and_queen_and_no_run_beats_the_exact_distance() -> None:
    begin = start("KQK")
    exact = (tables("KQK").dtm(begin) or 0) // 2 + 1
    runs = train(begin, VERSIONS["Stockfish Decaying"], perfect("KQK"), matches=2000, runs=4, seed=1)
    for run in runs:
        assert run.solution is not None
        assert run.solution >= exact
        assert run.moves[run.won].min() >= exact
        assert run.won[-100:].mean() > 0.95
        assert run.win_percentage[-1] == pytest.approx(100 * run.won.mean())


def test_the_potential_solves_bishops_where_the_heuristic_reward_does_not() -> None:
    begin = game("KBBK").parse_state("8/8/8/3k4/8/8/8/2B2B1K w - - 0 1")
    engine = perfect("KBBK")
    ours = train(begin, POTENTIAL, engine, runs=4, seed=3)
    paper = train(begin, VERSIONS["Heuristic Decaying"], engine, runs=4, seed=3)
    assert sum(run.solution is not None for run in ours) == 4
    assert sum(run.solution is not None for run in paper) <= 1


def test_exploring_in_the_first_half_only_solves_bishops_from_every_start() -> None:
    """Ten starts and two runs each, of which constant exploration leaves some unsolved."""
    engine = perfect("KBBK")
    settled, constant = (
        [
            run.solution is not None
            for number, at in enumerate(start_positions("KBBK", 10, 1))
            for run in train(at.state, POTENTIAL_VERSIONS[name], engine, runs=2, seed=1000 + number)
        ]
        for name in ("Potential Settling", "Potential Static")
    )
    assert all(settled)
    assert not all(constant)


def test_a_lone_king_learns_to_resist() -> None:
    begin = start("KRK")
    exact = (tables("KRK").dtm(begin) or 0) // 2 + 1
    [run] = train(begin, POTENTIAL, perfect("KRK"), learners="weak", matches=3000, seed=1)
    assert set(run.endings.tolist()) == {endgame_q.CHECKMATE}
    assert run.moves.max() <= exact  # nobody resists perfect attack for longer
    assert run.moves[-200:].mean() > run.moves[:200].mean()


def test_an_engine_that_fails_stops_the_training_with_its_own_error() -> None:
    def broken(fen: str) -> tuple[int, bool, int]:
        raise OSError("the engine is gone")

    with pytest.raises(OSError, match="the engine is gone"):
        train(start("KRK"), VERSIONS["Stockfish Static"], _native.endgames.PyEngine(broken), matches=10)


def test_an_illegal_answer_of_an_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="not legal"):
        train(start("KRK"), Settings("heuristic"), _native.endgames.PyEngine(lambda fen: (0, False, 0)), matches=10)


def test_q_tables_survive_the_disk_and_bad_files_are_refused(tmp_path: Path) -> None:
    [run] = train(start("KQK"), VERSIONS["Stockfish Static"], perfect("KQK"), matches=50)
    table = run.tables["strong"]
    file = tmp_path / "q.npz"
    table.save(file)
    loaded = LearnedTable.load(file)
    assert loaded.positions.tolist() == table.positions.tolist()
    state = start("KQK")
    assert loaded.values(state) == pytest.approx(table.values(state), rel=1e-6)
    unknown = game("KQK").parse_state("8/8/8/8/8/1K6/7Q/k7 w - - 0 1")
    assert table.values(unknown) is None or loaded.values(unknown) is not None
    for content in (b"", b"nonsense", file.read_bytes()[:-40]):
        bad = tmp_path / "bad.npz"
        bad.write_bytes(content)
        with pytest.raises(ValueError, match="not a Q-table"):
            LearnedTable.load(bad)
    np.savez(tmp_path / "other.npz", format=np.array("something else"))
    with pytest.raises(ValueError, match="not a Q-table"):
        LearnedTable.load(tmp_path / "other.npz")


def test_q_tables_as_the_paper_writes_them(tmp_path: Path) -> None:
    """Figure 2.1: the key of the best move of 8/8/1K6/8/3k4/7Q/8/8 is True8/8/1K6/8/3k4/7Q/8/8h3f3."""
    figure = game("KQK").parse_state("8/8/1K6/8/3k4/7Q/8/8 w - - 0 1")
    best = figure.parse_action("h3f3")
    table = LearnedTable.of({figure: {action: float(action == best) for action in figure.legal_actions()}})
    written = json.loads(table.json())
    assert len(written) == len(figure.legal_actions())
    assert [key for key, value in written.items() if value] == ["True8/8/1K6/8/3k4/7Q/8/8h3f3"]
    assert LearnedTable.from_json('{"True8/8/1K6/8/3k4/7Q/8/8h3f3": 1}').values(figure) == table.values(figure)

    [run] = train(start("KRK"), VERSIONS["Stockfish Static"], perfect("KRK"), learners="both", matches=200)
    for learned in run.tables.values():
        again = LearnedTable.from_json(learned.json())
        assert again.positions.tolist() == learned.positions.tolist()
        assert all(again.values(state) == values for state, values in learned.items())
        assert all(set(values) == set(state.legal_actions()) for state, values in learned.items())
    for text in ("", "[]", '{"True8/8": 1}', '{"True8/8/1K6/8/3k4/7Q/8/8h3f3": "x"}', '{"True8/8/8/8/8/8/8/8a1a2": 1}'):
        file = tmp_path / "bad.json"
        file.write_text(text)
        with pytest.raises(ValueError, match="not a Q-table"):
            LearnedTable.load(file)
    with pytest.raises(ValueError, match="no position"):
        _native.endgames.fen(2**64 - 1)


def test_merged_tables_know_what_each_of_them_knew() -> None:
    a = game("KQK").parse_state("8/8/1K6/8/3k4/7Q/8/8 w - - 0 1")
    b = game("KQK").parse_state("8/8/2K5/8/3k4/7Q/8/8 w - - 0 1")
    x, y, *others = a.legal_actions()
    one = LearnedTable.of({a: {x: 4.0, y: 1.0} | dict.fromkeys(others, 0.0)})
    two = LearnedTable.of({a: {x: 2.0, y: 0.0} | dict.fromkeys(others, 0.0), b: dict.fromkeys(b.legal_actions(), 7.0)})
    both = LearnedTable.merged([one, two])
    assert both.values(a) == {x: 3.0, y: 1.0} | dict.fromkeys(others, 0.0)
    assert both.values(b) == two.values(b)
    # Agents from different starts, put together, mate from all of them.
    starts = [found.state for found in start_positions("KQK", 4, 1)]
    engine = perfect("KQK")
    runs = [train(state, VERSIONS["Stockfish Decaying"], engine, matches=600)[0] for state in starts]
    merged = LearnedTable.merged(run.tables["strong"] for run in runs)
    for state, run in zip(starts, runs, strict=True):
        assert run.solution is not None
        state = state.clone()
        while state.player() >= 0:
            values = merged.values(state) if state.player() == 0 else None
            state.apply(max(values, key=values.__getitem__) if values else engine.ask(state)[0])
        assert state.ending == "checkmate"


def test_a_batch_is_resumed_and_writes_the_paper_s_files(tmp_path: Path) -> None:
    calls = 0
    engine = perfect("KQK")

    def counted(fen: str) -> tuple[int, bool, int]:
        nonlocal calls
        calls += 1
        return tuple(engine.ask(game().parse_state(fen)))  # type: ignore[return-value]

    def batch(runs: int, seed: int = 4) -> Any:
        slow = _native.endgames.PyEngine(counted)
        settings = VERSIONS["Stockfish Static"]
        return train_batch(
            tmp_path, start("KQK"), settings, slow, opponent="ours", matches=40, runs=runs, seed=seed,
            one_by_one=True, every_run=True,
        )  # fmt: skip

    first = batch(2)
    asked = calls
    assert batch(2).moves.tolist() == first.moves.tolist()
    assert calls == asked, "what is on disk is not learned again"
    more = batch(3)
    assert more.moves[:2].tolist() == first.moves.tolist()
    together = train(start("KQK"), VERSIONS["Stockfish Static"], engine, matches=40, runs=3, seed=4)
    assert more.moves.tolist() == [run.moves.tolist() for run in together]
    for run in ("run-01", "run-02", "run-03"):
        files = {file.name for file in (tmp_path / run).iterdir()}
        assert files == {"results.csv", "log.txt", "q-table-strong.npz"}
    rows = (tmp_path / "run-01" / "results.csv").read_text().splitlines()
    assert rows[0] == "match,won,win_percentage,moves_to_win,moves"
    last = rows[-1].split(",")
    assert int(last[0]) == len(rows) - 1 == 40
    log = (tmp_path / "run-01" / "log.txt").read_text()
    numbers = [int(number) for number in re.findall(r"^match ([0-9]+): ", log, re.MULTILINE)]
    assert numbers == list(range(1, 41))
    assert int(last[1]) == int(first.won[0].sum())
    asked = calls
    assert batch(1, seed=5).moves.shape == (1, 40)
    assert calls > asked, "another seed is another batch"
    (tmp_path / "batch.npz").write_bytes(b"damaged")
    assert batch(2).moves.tolist() == first.moves.tolist()


def test_the_files_of_a_batch_are_as_the_paper_lists_them(tmp_path: Path) -> None:
    """Section 2.6: means over the runs, moves to win carried forward, and every win, alone and less Stockfish's."""
    about = {endgame_q.STOCKFISH_MOVES: 7, endgame_q.EXACT_MOVES: 5}
    batch = train_batch(
        tmp_path, start("KQK"), VERSIONS["Stockfish Static"], perfect("KQK"), opponent="ours", matches=120, runs=3,
        seed=1, every_run=True, about=about,
    )  # fmt: skip
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    last: list[int | None] = [None] * 3
    wins = [0] * 3
    unwon = 0
    for i, row in enumerate(rows):
        won = [int(batch.moves[run, i]) for run in range(3) if batch.won[run, i]]
        for run in range(3):
            wins[run] += int(batch.won[run, i])
            last[run] = int(batch.moves[run, i]) if batch.won[run, i] else last[run]
        known = [moves for moves in last if moves is not None]
        assert float(row["mean_games_won"]) == pytest.approx(sum(wins) / 3, abs=1e-3)
        assert float(row["win_percentage"]) == pytest.approx(100 * sum(wins) / 3 / (i + 1), abs=1e-3)
        assert float(row["mean_moves"]) == pytest.approx(batch.moves[:, i].mean(), abs=1e-3)
        for name, moves in (("mean_moves_to_win", won), ("mean_moves_to_win_carried_forward", known)):
            assert row[name] == (f"{sum(moves) / len(moves):.3f}" if moves else "")
        unwon += len(won) < len(known)
    assert unwon, "the test must see a match lost after one won"
    with (tmp_path / "moves-to-win.csv").open() as file:
        matches = list(csv.DictReader(file))
    assert len(matches) == batch.won.sum()
    for row in matches:
        needed = int(batch.moves[int(row["run"]) - 1, int(row["match"]) - 1])
        assert [int(row[name]) for name in ("moves_to_win", "less_stockfish", "less_exact")] == [
            needed,
            needed - 7,
            needed - 5,
        ]
    log = (tmp_path / "log.txt").read_text()
    for line in ("start: 8/8/1K6", "opponent: ours", "alpha: 0.05", "matches: 120", "runs: 3", "moves of Stockfish: 7"):
        assert line in log


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Settings(alpha=0.0), "alpha must be"),
        (Settings(gamma=1.5), "gamma must be"),
        (Settings(epsilon=-1.0), "epsilon must be"),
        (Settings(decay=0.5), "decay must be"),
        (Settings(win=float("nan")), "finite"),
        (Settings("luck"), "unknown reward"),  # type: ignore[arg-type]
        (Settings("stockfish", shaping="potential"), "heuristic reward"),
    ],
)
def test_bad_settings_are_refused(settings: Settings, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        train(start("KRK"), settings, perfect("KRK"), matches=1)


def test_moves_to_win_are_carried_forward_from_the_last_match_won() -> None:
    won, lost = CHECKMATE, (CHECKMATE + 1) % len(ENDINGS)
    batch = Batch(
        np.array([[7, 9, 5, 8], [3, 4, 6, 2]], np.int16),
        np.array([[won, lost, won, lost], [lost, lost, won, won]], np.uint8),
        np.array([7, -1], np.int16),
    )
    nan = float("nan")
    np.testing.assert_array_equal(carried_forward(batch), [[7, 7, 5, 5], [nan, nan, 6, 2]])
    np.testing.assert_allclose(batch.win_percentage, [[100, 50, 200 / 3, 50], [0, 0, 100 / 3, 50]])
    assert batch.solved.tolist() == [True, False]


def test_the_paper_s_values_are_the_defaults() -> None:
    """10 runs of 5000 matches, [0.05, 0.95, 0.003], Stockfish at depth 15, decay 1.1."""
    settings = training.Settings()
    assert (settings.matches, settings.runs, settings.depth, settings.decay) == (5000, 10, 15, 1.1)
    assert (settings.alpha, settings.gamma, settings.epsilon) == (0.05, 0.95, 0.003)
    for depth in (0, 101):
        with pytest.raises(ValueError, match="depth must be at"):
            training.Settings(depth=depth)
    assert training.Settings(depth=100).depth == 100
    assert set(training.PRESETS) == {
        "stockfish-static", "stockfish-decaying", "heuristic-static", "heuristic-decaying",
        *(name.lower().replace(" ", "-") for name in POTENTIAL_VERSIONS),
    }  # fmt: skip
    assert training.PRESETS["stockfish-static"].decay == 1


def test_a_table_that_knows_nothing_survives_the_disk(tmp_path: Path) -> None:
    nothing = LearnedTable(np.zeros(0, np.uint64), np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0))
    assert {name: len(array) for name, array in nothing.arrays().items()} == {
        "positions": 0, "counts": 0, "actions": 0, "values": 0,
    }  # fmt: skip
    nothing.save(tmp_path / "table.npz")
    assert len(LearnedTable.load(tmp_path / "table.npz")) == 0
    assert nothing.values(start("KRK")) is None


def test_the_three_files_of_a_run(tmp_path: Path) -> None:
    """A mate, a draw and a mate: the share that was won, match by match, in the table and the log."""
    mate, draw = endgame_q.CHECKMATE, next(i for i in range(len(endgame_q.ENDINGS)) if i != endgame_q.CHECKMATE)
    moves, endings = np.array([12, 50, 8], np.int32), np.array([mate, draw, mate], np.uint8)
    run = endgame_q.TrainedRun(moves, endings, 8, endgame_q.ENDINGS[mate], {})
    endgame_q.write_run(run, tmp_path / "new" / "run", {"endgame": "KQK", "seed": 4})
    rows = (tmp_path / "new" / "run" / "results.csv").read_text().splitlines()
    assert rows == [
        "match,won,win_percentage,moves_to_win,moves", "1,1,100.000,12,12", "2,1,50.000,-1,50", "3,2,66.667,8,8",
    ]  # fmt: skip
    assert (tmp_path / "new" / "run" / "log.txt").read_text().splitlines() == [
        "endgame: KQK",
        "seed: 4",
        "match 1: 12 moves, 100.00% won",
        f"  {endgame_q.ENDINGS[mate]}",
        "match 2: 50 moves, 50.00% won",
        f"  {endgame_q.ENDINGS[draw]}",
        "match 3: 8 moves, 66.67% won",
        f"  {endgame_q.ENDINGS[mate]}",
        f"without exploration: {endgame_q.ENDINGS[mate]}, 8 moves to mate",
    ]
    unsolved = endgame_q.TrainedRun(moves, endings, None, endgame_q.ENDINGS[draw], {})
    endgame_q.write_run(unsolved, tmp_path, {})
    assert (tmp_path / "log.txt").read_text().endswith(f"{endgame_q.ENDINGS[draw]}, - moves to mate\n")
