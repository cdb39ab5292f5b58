from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rookery import _native
from rookery.games.endgames import MODELS
from rookery.games.endgames.perfect import Settings, learn, load, to_moves, to_values
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.tables import tables
from rookery.registry import agent as load_agent
from rookery.run import Run
from tests.games.endgames.oracle import Game, in_check, legal_moves
from tests.training import trained, training


def learner(material: str) -> _native.endgames.PerfectLearner:
    return _native.endgames.PerfectLearner(material[1:-1], 0.95)


@pytest.mark.parametrize("material", ["KQK", "KRK"])
def test_it_ends_in_perfection(material: str) -> None:
    curve = learn(Endgames(material), Settings())
    assert curve[-1].perfect
    assert curve[0].optimal < 0.1
    assert curve[-1].optimal == 1.0
    assert curve[-1].seconds < 20


@pytest.mark.slow
def test_bishops_end_in_perfection_within_five_minutes() -> None:
    curve = learn(Endgames("KBBK"), Settings())
    assert curve[-1].perfect
    assert curve[-1].seconds < 300


def test_every_value_is_that_of_the_table() -> None:
    table, learned = tables("KRK"), learner("KRK")
    for _ in range(40 * 8):
        learned.round(learned.positions // 8, 3, 2)
    plies = table.strong_to_move.astype(np.int64)
    won = plies < 254
    assert won.sum() == learned.positions
    np.testing.assert_allclose(learned.best[won], 0.95 ** ((plies[won] - 1) // 2), rtol=1e-5)
    assert not learned.best[~won].any()


def test_one_round_finds_the_mates_and_nothing_else() -> None:
    """By slow rules: after one round from zero, a position that was drawn is worth 1 if it has a mate in one."""
    table, learned = tables("KQK"), learner("KQK")
    learned.round(20 * learned.positions, 1, 2)
    for number in np.flatnonzero(table.strong_to_move != 255)[::149].tolist():
        fen = table.fen(number)
        assert fen is not None
        game = Game.from_fen(fen)
        mates = any(in_check(men, "b") and not legal_moves(men, "b") for men in legal_moves(game.men, "w").values())
        assert learned.best[number] == float(mates), fen


def test_two_rounds_are_the_least_best_move_backup() -> None:
    """By slow rules, with the values after the first round."""
    table, learned = tables("KQK"), learner("KQK")
    rules = Endgames()
    learned.round(20 * learned.positions, 1, 2)
    first = learned.best.copy()
    learned.round(20 * learned.positions, 1, 2)

    def worth(men: dict[tuple[int, int], str]) -> float:
        replies = legal_moves(men, "b").values()
        if not replies:
            return float(in_check(men, "b"))
        if any("Q" not in reply.values() for reply in replies):
            return 0.0
        states = [rules.parse_state(Game(reply, "w").fen()) for reply in replies]
        return 0.95 * min(float(first[table.index(state)]) for state in states)

    values = set()
    for number in np.flatnonzero(table.strong_to_move != 255)[::397].tolist():
        fen = table.fen(number)
        assert fen is not None
        expected = max(worth(men) for men in legal_moves(Game.from_fen(fen).men, "w").values())
        assert learned.best[number] == pytest.approx(expected), fen
        values.add(round(expected, 3))
    assert values == {0.0, 0.95, 1.0}


def test_the_number_of_threads_does_not_matter() -> None:
    one, two = learner("KRK"), learner("KRK")
    for _ in range(20):
        one.round(5000, 9, 1)
        two.round(5000, 9, 2)
    assert one.best.any()
    assert np.array_equal(one.q, two.q)


# Ctrl-C between opening a file and the block that closes it leaves the file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupted_run_ends_with_the_same_result(tmp_path: Path) -> None:
    game, settings = Endgames("KRK"), Settings()
    whole = learn(game, settings)

    def interrupt() -> None:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    def train_again_and_again() -> None:
        for number in itertools.count():
            trained(game, "perfect", settings, tmp_path / "run", resume=number > 0)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        train_again_and_again()
    thread.join()
    trained(game, "perfect", settings, tmp_path / "run", resume=True)
    rows = Run.open(tmp_path / "run").rows
    assert [(row["starts"], row["optimal"], row["exact"]) for row in rows] == [
        (point.starts, point.optimal, point.exact) for point in whole
    ]


@pytest.mark.parametrize("passes", [1, 2])
def test_a_run_ends_with_its_passes_though_not_all_is_perfect(passes: int, tmp_path: Path) -> None:
    rows = trained(Endgames("KRK"), "perfect", Settings(passes=passes), tmp_path)
    assert [row["perfect"] for row in rows] == [False] * passes
    assert load(tmp_path / "model.npz") is not None
    assert trained(Endgames("KRK"), "perfect", Settings(passes=passes), tmp_path, resume=True) == []
    assert len(Run.open(tmp_path).rows) == passes


def test_every_run_is_an_agent(tmp_path: Path) -> None:
    """The learned values are those of the table, so that the agent mates as fast as possible."""
    game = Endgames("KQK")
    trained(game, "perfect", Settings(), tmp_path)
    agent = load_agent(str(tmp_path), game)
    table, state, moves = tables("KQK"), game.initial_state(), 0
    plies = table.dtm(state)
    while state.player() >= 0:
        state.apply(agent.choose(state) if state.player() == 0 else table.best_moves(state)[0])
        moves += 1
    assert moves == plies


@pytest.mark.parametrize(
    ("material", "every"),
    [("KQK", 3), ("KRK", 3), ("KBBK", 200)]
    + [pytest.param(material, 1, marks=pytest.mark.slow) for material in ("KQK", "KRK", "KBBK")],
)
def test_the_shipped_agent_plays_every_position_perfectly(material: str, every: int) -> None:
    """Every shipped value of a position is that of the exact table, and so is play: of the positions of both sides one
    in `every`, in which all moves of greatest value must be best moves."""
    game, table, agent = Endgames(material), tables(material), load_agent("q-learning", Endgames(material))
    _, shipped = load(MODELS / f"q-learning-{material}.npz")
    plies = table.strong_to_move.astype(np.int64)
    legal = plies != 255
    won = legal & (plies < 254)
    np.testing.assert_allclose(shipped.best[won], 0.95 ** ((plies[won] - 1) // 2), rtol=1e-5)
    assert not shipped.best[legal & ~won].any()
    results = set()
    for strong_to_move, distances in ((True, table.strong_to_move), (False, table.weak_to_move)):
        for number in np.flatnonzero(distances != 255)[::every].tolist():
            fen = table.fen(number, strong_to_move)
            state = game.parse_state(fen or "")
            if state.ending:
                continue
            values, moves = agent.values(state), table.moves(state)
            chosen = [action for action in values if values[action] == max(values.values())]
            exact = table.dtm(state)
            assert {moves[action] for action in chosen} == {exact}, fen
            results.add((strong_to_move, exact is None))
    assert {(True, False), (False, False), (False, True)} <= results


def test_the_shipped_agent_knows_positions_turned_around_and_with_colours_exchanged() -> None:
    agent = load_agent("q-learning", Endgames("KRK"))
    for fen in ("8/8/8/8/8/1K6/7R/k7 w - - 0 1", "7k/R7/6K1/8/8/8/8/8 w - - 0 1", "K7/7r/1k6/8/8/8/8/8 b - - 0 1"):
        state = Endgames("KRK").parse_state(fen)
        explanation = agent.explain(state)
        assert state.action_name(explanation.action).endswith("#"), fen
        assert "never met" not in " ".join(explanation.reasons)


def test_values_survive_as_bytes() -> None:
    learned = learner("KQK")
    for _ in range(30):
        learned.round(learned.positions // 4, 7, 1)
    assert len(set(learned.best.tolist())) > 6
    assert np.array_equal(to_values(to_moves(learned.best, 0.95), 0.95), learned.best)


def test_bad_runs_are_refused(tmp_path: Path) -> None:
    game = Endgames("KQK")
    trained(game, "perfect", Settings(passes=1), tmp_path)
    with pytest.raises(ValueError, match="seed 0, not 1"):
        training(game, "perfect", Settings(passes=1), tmp_path, seed=1, resume=True)
    with pytest.raises(ValueError, match=r"discount=0\.95, not 0\.9"):
        training(game, "perfect", Settings(passes=1, discount=0.9), tmp_path, resume=True)
    for name in ("checkpoint.npz", "model.npz"):
        file = tmp_path / name
        for content in (b"", b"hello", file.read_bytes()[: file.stat().st_size // 2]):
            file.write_bytes(content)
            with pytest.raises(ValueError, match="damaged"):
                load(file) if name == "model.npz" else trained(
                    game, "perfect", Settings(passes=2), tmp_path, resume=True
                )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"discount": 1.5}, "the discount must be between 0 and 1"),
        ({"passes": 0}, "at least one pass"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**settings)  # type: ignore[arg-type]


def test_pawns_are_not_learned(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="perfect does not fit endgames KPK: it learns KQK, KRK, KBBK, KBNK"):
        training(Endgames("KPK"), "perfect", Settings(), tmp_path)


def test_the_truth_must_be_of_the_same_endgame() -> None:
    with pytest.raises(ValueError, match="another endgame"):
        learner("KQK").judge(tables("KRK").native, 1)
