from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from rookery import _native  # noqa: E402
from rookery.games.morpion import r2  # noqa: E402
from rookery.games.morpion.rules import Morpion  # noqa: E402
from tests.commands import answer  # noqa: E402
from tests.training import trained  # noqa: E402

TINY = replace(r2.SMALL, episodes=3, simulations=8, epochs=1, channels=4, hidden=8, enhanced_every=2, leaves=4)


def player(seed: int = 0) -> r2.Player:
    torch.manual_seed(seed)
    return r2.Player(TINY, torch.device("cpu"))


def test_the_defaults_are_those_of_table_7_1() -> None:
    s = r2.Settings()
    assert (s.iterations, s.episodes, s.step_threshold, s.simulations, s.exploration) == (100, 50, 41, 20000, 1.0)
    assert (s.retrain, s.epochs, s.batch, s.learning_rate, s.dropout) == (10, 5, 64, 0.005, 0.3)
    assert (s.rewards, s.ratio, s.enhanced_every) == (200, 0.75, 10)


def test_ranked_rewards() -> None:
    recent = [50, 40, 60, 45, 55, 52, 41, 48]  # ranked: 40 41 45 48 50 52 55 60, and 8 * 0.75 is place 6
    rng = np.random.default_rng(0)
    assert r2.ranked_reward(60, recent, TINY, rng) == 1
    assert r2.ranked_reward(56, recent, TINY, rng) == 1
    assert r2.ranked_reward(54, recent, TINY, rng) == -1
    assert {r2.ranked_reward(55, recent, TINY, rng) for _ in range(30)} == {1, -1}
    assert {r2.ranked_reward(50, [50], TINY, rng) for _ in range(30)} == {1, -1}
    top = replace(TINY, ratio=1.0)  # the best one
    assert r2.ranked_reward(55, recent, top, rng) == -1
    assert {r2.ranked_reward(60, recent, top, rng) for _ in range(30)} == {1, -1}


def test_actions_are_dots_and_the_first_line_is_drawn() -> None:
    mine = player()
    state = mine.game.initial_state()
    for action in (*state.legal_actions(), 3, 1402):
        move = mine.game.move(action)
        try:
            mine.game.action(move)
        except ValueError:
            continue
        assert mine.cell_of[action] == mine.game.line_cells(action)[move.position]
    shared = 0
    for _ in range(30):
        if not state.legal_actions():
            break
        legal = state.legal_actions()
        dots, policies, action_for, value = mine.policies(
            state.observation()[np.newaxis], np.array([0, len(legal)]), np.array(legal, np.int32)
        )
        np.testing.assert_array_equal(dots[0, 0], state.observation()[0])
        assert policies[0].sum() == pytest.approx(1)
        assert -1 <= value[0] <= 1
        by_cell: dict[int, list[int]] = {}
        for action in legal:
            by_cell.setdefault(state.action_cells(action)[0], []).append(action)
        assert set(np.flatnonzero(policies[0])) == set(by_cell)
        assert all(action_for[0, cell] == min(actions) for cell, actions in by_cell.items())
        shared += any(len(actions) > 1 for actions in by_cell.values())
        state.apply(int(action_for[0, policies[0].argmax()]))
    assert shared > 0


def test_self_play_is_greedy_after_the_step_threshold() -> None:
    mine = player(1)
    episodes = r2.self_play(mine, replace(TINY, step_threshold=5), np.random.default_rng(2))
    assert len({tuple(episode.actions[:4]) for episode in episodes}) > 1
    for episode in episodes:
        state = mine.game.initial_state()
        for step, action in enumerate(episode.actions):
            if step >= 4:
                assert mine.cell_of[action] == episode.policies[step].argmax()
            np.testing.assert_array_equal(episode.dots[step, 0], state.observation()[0])
            state.apply(action)
        assert state.legal_actions() == []


def test_one_move_less_than_the_step_threshold_is_drawn() -> None:
    """Moves are drawn "before T'", so with T' = 2 the first one alone."""
    mine = player(3)
    episodes = r2.self_play(mine, replace(TINY, step_threshold=2, episodes=40), np.random.default_rng(1))
    first = {episode.actions[0] for episode in episodes}
    assert len(first) > 1
    assert {len({tuple(e.actions) for e in episodes if e.actions[0] == action}) for action in first} == {1}
    greedy = r2.self_play(mine, replace(TINY, step_threshold=1, episodes=5), np.random.default_rng(1))
    assert len({tuple(episode.actions) for episode in greedy}) == 1


def test_self_play_with_a_tree_learns_shares_of_visits() -> None:
    mine = player(4)
    settings = replace(TINY, self_play_simulations=20, step_threshold=1)
    for episode in r2.self_play(mine, settings, np.random.default_rng(0), threshold=40):
        state = mine.game.initial_state()
        for dots, policy, action in zip(episode.dots, episode.policies, episode.actions, strict=True):
            cells = {state.action_cells(legal)[0] for legal in state.legal_actions()}
            assert set(np.flatnonzero(policy)) <= cells
            assert policy.sum() == pytest.approx(1)
            assert np.allclose(policy * 19, np.round(policy * 19), atol=1e-4)  # 19 of 20 simulations go below the root
            assert mine.cell_of[action] == policy.argmax()
            np.testing.assert_array_equal(dots[0], state.observation()[0])
            state.apply(action)
        assert not state.legal_actions()


def test_symmetric_examples_are_the_board_turned_and_mirrored() -> None:
    mine = player()
    episode = r2.self_play(mine, replace(TINY, episodes=1), np.random.default_rng(3))[0]
    examples = r2.Examples(episode.dots[5:6], episode.policies[5:6], np.ones(1, np.float32))
    found = examples.symmetric()
    side = mine.game.side
    assert len(found.dots) == len(found.policies) == len(found.rewards) == 8
    assert (
        len({dots.tobytes() + policy.tobytes() for dots, policy in zip(found.dots, found.policies, strict=True)}) == 8
    )
    rules = mine.game.rules
    expected = []
    for symmetry in range(8):  # the game's own symmetries, which know nothing of arrays
        state = mine.game.initial_state()
        for action in episode.actions[:5]:
            state.apply(rules.transform(action, symmetry))
        policy = np.zeros(side * side, np.float32)
        state_before = mine.game.initial_state()
        for action in episode.actions[:5]:
            state_before.apply(action)
        for action in state_before.legal_actions():
            policy[mine.cell_of[rules.transform(action, symmetry)]] = episode.policies[5][mine.cell_of[action]]
        expected.append((state.observation()[0].astype(np.uint8).tobytes(), policy.tobytes()))
    assert {(d.tobytes(), p.tobytes()) for d, p in zip(found.dots, found.policies, strict=True)} == set(expected)


def test_batches_are_drawn_from_all_examples() -> None:
    """Four examples, told apart by their reward, with a net that always says the same: an example's loss is known, and
    that of a batch is the mean of them. Every example is drawn about as often."""
    rewards = np.array([1.0, -1.0, 0.5, 0.0], np.float32)
    policies = np.eye(4, dtype=np.float32)
    dots = np.arange(4, dtype=np.uint8).reshape(4, 1, 1, 1)
    scores = torch.tensor([0.0, 1.0, 2.0, 3.0])
    batches = []

    def evaluate(seen: Any) -> Any:
        batches.append(seen.reshape(-1).int().tolist())
        return scores.expand(len(seen), 4) + parameter * 0, (parameter * 0 + 0.25).expand(len(seen))

    parameter = torch.nn.Parameter(torch.zeros(1))
    net = SimpleNamespace(parameters=lambda: [parameter], train=lambda: None)
    still = SimpleNamespace(net=net, evaluate=evaluate, device=torch.device("cpu"))
    settings = replace(TINY, epochs=2, batch=300, learning_rate=0.1, symmetries=False)
    kept = [r2.Examples(dots[part], policies[part], rewards[part]) for part in (slice(0, 1), slice(1, 4))]
    found = r2.retrain(still, kept, settings, 1)  # type: ignore[arg-type]
    assert [len(batch) for batch in batches] == [300, 300], "at least one batch per epoch"
    assert all(abs(batch.count(i) - 75) < 4 * 7.5 for batch in batches for i in range(4))
    norm = np.log(np.exp(np.arange(4)).sum())
    losses = [norm - i + (rewards[i] - 0.25) ** 2 for i in range(4)]
    assert found == pytest.approx(np.mean([losses[i] for batch in batches for i in batch]), rel=1e-5)
    batches.clear()
    r2.retrain(still, kept, replace(settings, batch=2, epochs=3), 1)  # type: ignore[arg-type]
    assert [len(batch) for batch in batches] == [2] * 6, "as many batches per epoch as fill up the examples"


def test_the_game_with_tree_search_is_a_legal_game_of_dots() -> None:
    mine = player(2)
    game = r2.enhanced_game(mine, TINY, threshold=50)
    state = mine.game.initial_state()
    for action in game:
        cell = state.action_cells(action)[0]
        assert action == min(other for other in state.legal_actions() if state.action_cells(other)[0] == cell)
        state.apply(action)
    assert state.legal_actions() == []


def test_the_tree_of_another_game() -> None:
    """PUCT is every game's: draughts hands out its own planes and actions."""
    import rookery

    state = rookery.load("checkers").initial_state()
    tree = _native.checkers.State.Puct(state, 2, 1.0)
    planes, offsets, actions = tree.find_leaves(5, 1, 1)
    assert planes.shape == (2, *state.game.observation_shape)
    assert actions[: offsets[1]].tolist() == state.legal_actions()
    tree.expand(np.full(len(actions), 1 / 7, np.float32), np.zeros(2, np.float32))
    assert [move[0] for move in tree.moves(1)] == state.legal_actions()


def test_the_enhanced_game_has_its_own_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Morpion()
    short = [game.initial_state().legal_actions()[0]]
    monkeypatch.setattr(r2, "enhanced_game", lambda *_: short)
    _, row = trained(game, "r2", replace(TINY, iterations=2), tmp_path / "run", 1)
    assert row["enhanced"] == 1
    assert row["best"] >= row["played_best"] > 1


def test_a_stopped_run_ends_as_one_that_was_not(tmp_path: Path) -> None:
    game, settings = Morpion(), replace(TINY, iterations=3)
    whole = trained(game, "r2", settings, tmp_path / "whole", 1)
    trained(game, "r2", replace(TINY, iterations=2), tmp_path / "parts", 1)
    parts = trained(game, "r2", settings, tmp_path / "parts", 1, resume=True)
    assert [row["enhanced"] is not None for row in whole] == [False, True, False]
    assert {**whole[2], "seconds": 0} == {**parts[0], "seconds": 0}


def test_seconds_go_on_when_a_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which every look takes a second: one when a training begins, and one per iteration."""
    clock = itertools.count()
    monkeypatch.setattr(r2, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    first = trained(Morpion(), "r2", replace(TINY, iterations=2), tmp_path, 1)
    (last,) = trained(Morpion(), "r2", replace(TINY, iterations=3), tmp_path, 1, resume=True)
    assert [row["seconds"] for row in (*first, last)] == [1, 2, 3]


def test_a_model_is_evaluated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    r2.save_model(tmp_path / r2.MODEL, player().net, TINY)
    words = ["evaluate", "morpion", str(tmp_path / r2.MODEL), "--games", "5", "--seed", "3"]
    data = answer(capsys, *words, "--simulations", "8")
    model, settings = r2.load_model(tmp_path / r2.MODEL)

    def lengths(games: int, drawn: int) -> list[int]:
        chosen = replace(settings, episodes=games, step_threshold=drawn, self_play_simulations=0)
        return [len(game.actions) for game in r2.self_play(model, chosen, np.random.default_rng(3))]

    played = lengths(5, settings.step_threshold)
    assert data["net_alone"] == {
        "best": max(played), "mean": round(sum(played) / 5, 2), "median": sorted(played)[2], "count": 5,
    }  # fmt: skip
    (greedy,) = lengths(1, 1)
    assert data["most_probable_moves"] == {"best": greedy, "mean": greedy, "median": greedy, "count": 1}
    assert data["net_and_tree"]["count"] == 1
    assert data["net_and_tree"]["best"] > 10
    assert "net_and_tree" not in answer(capsys, *words, "--simulations", "0")
