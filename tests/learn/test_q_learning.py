from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import rookery
from rookery import _native
from rookery.exact.solve import solve_game
from rookery.game import TERMINAL, Game, State
from rookery.learn import q_learning
from rookery.learn.q_learning import QTable, QTableAgent, Settings
from rookery.learn.voting import PriorStateVoting
from rookery.run import load_arrays
from rookery.training import train
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()


def after(state: State, action: int) -> State:
    copy = state.clone()
    copy.apply(action)
    return copy


@cache
def plain_value(text: str, discount: float, per_ply: bool) -> dict[int, float]:
    """What every move is worth to its player, by plain recursion: discounted with every ply, or with every own move."""
    state = GAME.parse_state(text)
    values = {}
    for action in state.legal_actions():
        next_state = after(state, action)
        if next_state.player() == TERMINAL:
            values[action] = next_state.returns()[state.player()]
        elif per_ply:
            values[action] = -discount * max(plain_value(str(next_state), discount, True).values())
        else:
            worths = []
            for reply in next_state.legal_actions():
                answer = after(next_state, reply)
                over = answer.player() == TERMINAL
                best = answer.returns()[state.player()] if over else None
                worths.append(
                    discount * max(plain_value(str(answer), discount, False).values()) if best is None else best
                )
            values[action] = min(worths)
    return values


@pytest.mark.parametrize("backup", ["self-play", "least-best-move"])
def test_every_value_becomes_exact(backup: q_learning.Backup) -> None:
    settings = Settings(games=150_000, alpha=1.0, epsilon=1.0, last_epsilon=1.0, discount=0.9, backup=backup)
    table = QTable(GAME)
    played = table.learn(settings, 0, settings.games, seed=3)
    assert played.games == settings.games == sum(played.results)
    assert len(table) == 4520  # of the 5,478 positions 958 are ends
    wrong = 0
    for row in range(len(table)):
        state = table.state(row)
        exact = plain_value(str(state), 0.9, backup == "self-play")
        learned = table.values(state)
        assert learned is not None
        wrong += any(abs(learned[action] - exact[action]) > 1e-6 for action in exact)
    assert wrong <= 5  # positions that these games met once or twice


@pytest.mark.parametrize("backup", ["self-play", "least-best-move"])
def test_replay_makes_every_value_exact(backup: q_learning.Backup) -> None:
    """Few games, and yet every position is known and every value right."""
    table = QTable(GAME)
    table.learn(Settings(games=400, alpha=1.0, discount=0.9, backup=backup, replay=100), 0, 400, seed=3)
    assert len(table) == 4520
    for row in range(0, len(table), 7):
        state = table.state(row)
        assert table.values(state) == pytest.approx(plain_value(str(state), 0.9, backup == "self-play"))


@pytest.mark.slow
def test_replay_mates_as_soon_as_possible() -> None:
    """In every won position of KQK every move of greatest value is a best move."""
    from rookery.games.endgames.rules import Endgames, EndgamesState
    from rookery.games.endgames.tables import tables

    game, truth = Endgames("KQK"), tables("KQK")
    table = QTable(game)
    settings = Settings(games=18_000, alpha=1.0, backup="least-best-move", starts="random", replay=200)
    table.learn(settings, 0, settings.games, seed=1)
    won = 0
    for row in range(len(table)):
        state = table.state(row)
        assert isinstance(state, EndgamesState)
        if state.player() == 0 and (truth.dtm(state) or 0) > 0:
            values = dict(zip(state.legal_actions(), table.native.row(row), strict=True))
            best = [action for action, value in values.items() if value == max(values.values())]
            assert set(best) <= set(truth.best_moves(state)), str(state)
            won += 1
    assert won == truth.statistics()[0].decided == 144_508


def never_loses(game: Game, agent: rookery.Agent, side: int) -> bool:
    """Whether no line of play beats the agent, whichever of its equally good moves it plays."""

    @cache
    def safe(text: str) -> bool:
        state = game.parse_state(text)
        if state.player() == TERMINAL:
            return state.returns()[side] >= 0
        moves = state.legal_actions()
        if state.player() == side:
            values = agent.values(state)
            moves = [action for action in moves if values[action] == max(values.values())]
        return all(safe(str(after(state, action))) for action in moves)

    return safe(str(game.initial_state()))


@pytest.mark.parametrize("backup", ["self-play", "least-best-move"])
def test_tic_tac_toe_is_never_lost(backup: str, tmp_path: Path) -> None:
    run = train(GAME, "q-learning", out=tmp_path / "run", backup=backup)
    agent = run.agent()
    assert never_loses(GAME, agent, 0)
    assert never_loses(GAME, agent, 1)
    assert not never_loses(GAME, rookery.agent("random", GAME), 1)
    assert run.metrics[-1]["games"] == 50_000
    assert run.metrics[-1]["drawn"] > 100  # of 500: good play on both sides is a draw


def test_checkers_has_the_same_values_in_its_own_form() -> None:
    """The special form rewards every move of a game; without that it is the backup `max`."""
    from rookery.games.checkers import q_learning as special
    from rookery.games.checkers.rules import Checkers

    game = Checkers()
    own = special.QTable()
    own.train(
        game,
        special.Settings(games=300, alpha=0.3, epsilon=0.4, first_discount=0.8, last_discount=0.8, reward_decay=0.0),
        seed=5,
    )
    table = QTable(game)
    settings = Settings(games=300, alpha=0.3, epsilon=0.4, last_epsilon=0.4, discount=0.8, backup="max")
    table.learn(settings, 0, 300, seed=5)
    assert len(table) == len(own) > 10_000
    different_from_0 = 0
    for row in range(0, len(table), 7):
        state = table.state(row)
        values = own.values(state)  # type: ignore[arg-type]
        assert table.values(state) == values
        different_from_0 += any(values.values())  # type: ignore[union-attr]
    assert different_from_0 > 100


def test_a_player_alone_with_chance() -> None:
    """1010! on 3x3, beside its exact solution."""
    game = rookery.load("tenten", "3x3-seven")
    table = QTable(game)
    table.learn(Settings(games=300_000, alpha=0.05, discount=1.0), 0, 300_000, seed=1)
    still = Settings(games=4000, alpha=0.0, epsilon=0.0, last_epsilon=0.0)
    played = table.learn(still, 0, 4000, seed=9)
    best = solve_game(game.initial_state()).value(game.initial_state())
    assert played.returns / played.games > 0.95 * best
    assert played.returns / played.games < 1.1 * best


@pytest.mark.parametrize(
    ("name", "variant", "starts"),
    [("tenten", "3x3-three", "initial"), ("endgames", "KQK", "random"), ("solitaire-chess", None, "random")],
)
def test_every_position_knows_its_way(name: str, variant: str | None, starts: str) -> None:
    game = rookery.load(name, variant)
    table = QTable(game)
    settings = Settings(games=20, starts=starts)  # type: ignore[arg-type]
    table.learn(settings, 0, 10, seed=2)
    table.learn(settings, 10, 20, seed=2)
    text, ends, *_ = table.native.arrays()
    keys = [text[begin:end].tobytes() for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    assert len(table) > 20
    for row, key in enumerate(keys):
        state = table.state(row)
        assert state.key() == key
        assert len(table.native.row(row)) == len(state.legal_actions())


def test_training_in_parts_is_training_at_once(tmp_path: Path) -> None:
    whole = train(GAME, "q-learning", out=tmp_path / "whole", games=2000, seed=4)
    stop = iter([False] * 30 + [True])

    def interrupt(row: object) -> None:
        if next(stop):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(GAME, "q-learning", out=tmp_path / "parts", games=2000, seed=4, on_row=interrupt)
    resumed = train(GAME, "q-learning", out=tmp_path / "parts", games=2000, seed=4, resume=True)
    one, other = (q_learning.load(GAME, run.folder / "model.npz")[0].arrays() for run in (whole, resumed))
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


def test_fallbacks() -> None:
    settings = Settings(games=30, alpha=1.0)
    table = QTable(GAME)
    table.learn(settings, 0, 30, seed=1)
    unknown = next(
        state
        for state in (GAME.parse_state(text) for text in ("x.x/oo./...", "xx./o.o/...", "o.o/xx./...", "x.o/x.o/..."))
        if table.values(state) is None
    )
    assert set(QTableAgent(table, settings).values(unknown).values()) == {0.0}

    trained = QTableAgent(table, settings, "keep-training")
    best = {a for a, value in plain_value(str(unknown), settings.discount, True).items() if value == 1}
    assert trained.choose(unknown) in best
    assert table.values(unknown) is None  # what it learned is not kept

    voting = PriorStateVoting()
    for row in range(len(table)):
        state = table.state(row)
        for action, q in (table.values(state) or {}).items():
            voting.learn(state, action, q)
    votes = QTableAgent(table, settings, "voting")
    assert votes.values(unknown) == voting.values(unknown)
    assert any(votes.values(unknown).values())
    for agent, word in ((trained, "games of training"), (votes, "voted"), (QTableAgent(table, settings), "any other")):
        assert word in agent.explain(unknown).reasons[0]
        assert "never met" not in agent.explain(GAME.initial_state()).reasons[0]


def test_votes_are_those_of_the_paper() -> None:
    """Stacked boards vote as one board after the other does."""
    from rookery.learn.voting import grid_view, matching_fraction

    table = QTable(GAME)
    table.learn(Settings(games=40), 0, 40, seed=6)
    learned = [(table.state(row), table.native.row(row)) for row in range(len(table))]
    voting = PriorStateVoting()
    for state, values in learned:
        for action, q in zip(state.legal_actions(), values, strict=True):
            voting.learn(state, action, q)
    for state, _ in learned[::9]:
        for action in state.legal_actions():
            new = grid_view(state, action)
            votes = [
                q * matching_fraction(grid_view(prior, other), new)
                for prior, values in learned
                for other, q in zip(prior.legal_actions(), values, strict=True)
                if q != 0 and grid_view(prior, other).pattern == new.pattern
            ]
            score = voting.score(state, action)
            assert score.votes == len(votes)
            assert score.mean == pytest.approx(sum(votes) / len(votes) if votes else 0.0)


def test_what_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="alpha must be from 0 to 1"):
        Settings(alpha=2)
    pig = rookery.load("open_spiel:pig") if pytest.importorskip("pyspiel") else None
    assert pig is not None
    with pytest.raises(ValueError, match="without chance"):
        QTable(pig).learn(Settings(backup="least-best-move"), 0, 1, 0)


def test_damaged_tables_are_refused(tmp_path: Path) -> None:
    table = QTable(GAME)
    table.learn(Settings(games=20), 0, 20, seed=1)
    good = table.arrays()
    assert len(QTable.from_arrays(GAME, good, "file")) == len(table)
    bad = {
        "first": good["first"][:-1],
        "ends": good["ends"][::-1].copy(),
        "where": np.full_like(good["where"], 10**6),
        "before": np.arange(len(good["before"]), dtype=np.uint32),
        "values": good["values"].astype(np.float64),
    }
    for name, array in bad.items():
        with pytest.raises(ValueError, match="does not hold a Q-table"):
            QTable.from_arrays(GAME, {**good, name: array}, "file")
    action = np.where(good["before"] == 2**32 - 1, 5, good["action"]).astype(np.int32)
    with pytest.raises(ValueError, match="begins nowhere"):
        QTable.from_arrays(GAME, {**good, "action": action}, "file")
    with pytest.raises(ValueError, match="there is no file"):
        q_learning.load(GAME, tmp_path / "nothing.npz")


def test_the_native_table_is_bounded() -> None:
    table = _native.QTable()
    assert len(table) == 0
    assert table.find(b"nothing") is None
    for read in (table.way, table.row):
        with pytest.raises(IndexError):
            read(0)


def test_the_table_of_the_last_game_is_saved(tmp_path: Path) -> None:
    run = train(TicTacToe(), "q-learning", out=tmp_path, games=500)
    info, _ = load_arrays(tmp_path / "model.npz", "tic-tac-toe q-learning")
    assert info["games"] == 500 == run.metrics[-1]["games"]
    checkpoint, _ = load_arrays(tmp_path / "checkpoint.npz", "tic-tac-toe q-learning")
    assert checkpoint["rows"] == run.metrics
    assert run.metrics[-1]["progress"] == 1.0
