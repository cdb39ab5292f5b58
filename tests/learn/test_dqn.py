from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery.game import TERMINAL, Game, RandomGames
from rookery.learn import dqn
from rookery.learn.methods import Dqn
from rookery.training import train
from tests.learn.test_q_learning import after, never_loses
from tests.search.test_python_games import Coins
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()
SMALL: dict[str, Any] = {"steps": 60, "games": 8, "width": 16, "batch": 16, "memory": 500}


def test_memory_keeps_the_last_moves() -> None:
    memory = dqn.Memory(5, np.zeros((2, 1, 1, 1), np.uint8), np.zeros((2, 9), np.bool_))
    for i in range(0, 8, 2):
        rows = np.array([i, i + 1])
        memory.add(
            before=rows.reshape(2, 1, 1, 1), after=rows.reshape(2, 1, 1, 1), legal=np.zeros((2, 2), np.uint8),
            action=rows, reward=rows, follows=rows,
        )  # fmt: skip
    assert len(memory) == 5
    assert memory.action.tolist() == [5, 6, 7, 3, 4]


@pytest.mark.parametrize("game", [GAME, rookery.load("tenten", "3x3-seven")], ids=["two players", "chance"])
def test_what_is_remembered_is_what_happened(game: Game) -> None:
    """Every move in the memory leads from its position to the next, for the right player."""
    trainer = dqn.Trainer(game, dqn.Settings(**SMALL), 3)
    for _ in range(40):
        trainer.play(1.0)
    memory, names = trainer.memory, 8
    ended = 0
    for i in range(names, len(memory)):
        if memory.follows[i - names] != 0:  # the game went on
            assert np.array_equal(memory.after[i - names], memory.before[i])
        else:
            ended += 1
            assert memory.reward[i - names] != 0 or game.players == 2
        assert abs(memory.follows[i]) <= 1
    assert ended > 5
    if game.players == 2:
        assert set(memory.follows[: len(memory)].tolist()) == {0.0, -1.0}
        assert set(memory.reward[: len(memory)].tolist()) == {0.0, 1.0}  # who moves last does not lose
        for i in range(100):
            board = memory.before[i].reshape(2, 9)
            state = GAME.parse_state(rows_of("".join("x" if x else "o" if o else "." for x, o in board.T)))
            next_state = after(state, int(memory.action[i]))
            if next_state.player() == TERMINAL:
                assert memory.reward[i] == next_state.returns()[state.player()]
            else:
                legal = np.unpackbits(memory.legal[i], count=9)
                assert np.flatnonzero(legal).tolist() == next_state.legal_actions()


def rows_of(cells: str) -> str:
    return "/".join(cells[i : i + 3] for i in (0, 3, 6))


def test_rewards_are_scaled_by_the_largest_return() -> None:
    assert dqn.reward_scale(GAME, 0) == 1.0
    assert dqn.reward_scale(Coins(), 0) == 1 / 12

    class Hopeless(Coins):
        def random_games(self, *args: object, **kwargs: object) -> RandomGames:
            return RandomGames(np.ones(200, np.int32), np.zeros((200, 1)), 1.0)

    assert dqn.reward_scale(Hopeless(), 0) == 1.0


def test_nets_have_the_layers_that_are_asked_for() -> None:
    board = rookery.load("tenten", "4x4-seven")
    planes, rows, columns = board.observation_shape
    seen, actions = planes * rows * columns, board.num_actions
    dense = dqn.Net(board, dqn.Settings(width=5, layers=3))
    assert [tuple(p.shape) for p in dense.parameters()] == [
        (5, seen), (5,), (5, 5), (5,), (5, 5), (5,), (actions, 5), (actions,),
    ]  # fmt: skip
    conv = dqn.Net(board, dqn.Settings(net="conv", width=5, layers=2))
    assert [tuple(p.shape) for p in conv.parameters()] == [
        (5, planes, 3, 3), (5,), (5, 5, 3, 3), (5,), (5, 5 * rows * columns), (5,), (actions, 5), (actions,),
    ]  # fmt: skip
    for net in (dense, conv):
        assert net(torch.zeros((2, *board.observation_shape), dtype=torch.uint8)).shape == (2, actions)
    assert len(dqn.Net(Coins(), dqn.Settings(width=5, layers=1)).layers) == 4

    class Row(Coins):
        observation_shape = (6,)  # type: ignore[assignment]

    with pytest.raises(ValueError, match="convolutions need a board of rows and columns, and coins has none"):
        dqn.Net(Row(), dqn.Settings(net="conv"))


def test_a_step_moves_the_values_towards_targets_computed_one_by_one() -> None:
    settings = dqn.Settings(**SMALL | {"batch": 32, "discount": 0.9, "learning_rate": 0.01})
    trainer = dqn.Trainer(GAME, settings, 5)
    for _ in range(30):
        trainer.play(1.0)
    memory, copy = trainer.memory, dqn.Trainer(GAME, settings, 5)
    with torch.no_grad():
        for parameter in trainer.target_net.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    copy.net.load_state_dict(trainer.net.state_dict())
    copy.rng.bit_generator.state = trainer.rng.bit_generator.state
    picked = copy.rng.integers(len(memory), size=32).tolist()
    targets = []
    for i in picked:
        after = torch.from_numpy(memory.after[i][None])
        mine, theirs = trainer.net(after)[0].tolist(), trainer.target_net(after)[0].tolist()
        legal = [a for a in range(9) if memory.legal[i][a // 8] >> (7 - a % 8) & 1]
        chosen = max(legal, key=mine.__getitem__) if legal else 0
        targets.append(float(memory.reward[i]) + 0.9 * float(memory.follows[i]) * theirs[chosen])
    assert {0.0, -1.0} == {float(memory.follows[i]) for i in picked}
    values = copy.net(torch.from_numpy(memory.before[picked]))[range(32), memory.action[picked].tolist()]
    apart = (values - torch.tensor(targets)).abs()
    loss = torch.where(apart < 1, apart**2 / 2, apart - 0.5).mean()
    copy.optimizer.param_groups[0]["lr"] = 0.004
    loss.backward()
    copy.optimizer.step()
    assert trainer.learn(0.004) == pytest.approx(float(loss.detach()), rel=1e-5)
    for ours, theirs in zip(trainer.net.parameters(), copy.net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_exploration_falls_in_the_first_half_and_the_learning_rate_in_the_second() -> None:
    settings = dqn.Settings(**SMALL | {"steps": 400, "epsilon": 0.9, "last_epsilon": 0.1, "learning_rate": 0.01})
    trainer = dqn.Trainer(GAME, settings, 0)
    expected = {0: (0.9, 0.01), 100: (0.5, 0.01), 200: (0.1, 0.01), 300: (0.1, 0.0055), 400: (0.1, 0.001)}
    for steps, values in expected.items():
        trainer.steps = steps
        assert trainer.schedule() == pytest.approx(values)


@pytest.mark.parametrize(("memory", "filled"), [(1000, 320), (100, 100)])
def test_learning_begins_with_a_memory_of_random_moves(memory: int, filled: int) -> None:
    """Twenty batches of 16, or a full memory; then a step adds one move of each of 8 games."""
    trainer = dqn.Trainer(GAME, dqn.Settings(**SMALL | {"memory": memory, "target_every": 3, "layers": 1}), 0)
    before = [p.clone() for p in trainer.net.parameters()]
    trainer.step()
    assert trainer.memory.seen == -(-filled // 8) * 8 + 8
    copies = []
    for _ in range(6):
        copies.append([p.clone() for p in trainer.target_net.parameters()])
        trainer.step()
    same = [all(torch.equal(a, b) for a, b in zip(one, two, strict=True)) for one, two in pairwise(copies)]
    assert all(torch.equal(a, b) for a, b in zip(before, copies[0], strict=True))
    assert same == [True, True, False, True, True]
    assert (trainer.steps, len(trainer.losses)) == (7, 7)
    assert trainer.memory.seen == -(-filled // 8) * 8 + 7 * 8


def test_moves_are_the_best_by_the_net_or_random_and_returns_are_summed_up() -> None:
    game = Coins()
    trainer = dqn.Trainer(game, dqn.Settings(**SMALL), 1)
    with torch.no_grad():
        for parameter in trainer.net.parameters():
            parameter.zero_()
        *_, bias = trainer.net.parameters()
        bias.copy_(torch.tensor([1.0, 2.0]))  # always two coins: three turns, 4 points each
    for _ in range(9):
        trainer.play(0.0)
    assert set(trainer.memory.action[:72].tolist()) == {1}
    assert trainer.returns == [12.0] * 24
    assert trainer.memory.reward[:72].tolist() == pytest.approx([4 / 12] * 72)
    assert trainer.memory.follows[:24].tolist() == [1.0] * 16 + [0.0] * 8
    for _ in range(90):
        trainer.play(0.5)
    assert len(trainer.returns) == 200
    share = float(np.mean(trainer.memory.action[:500] == 0))
    assert 0.1 < share < 0.4  # half of the moves are random, and somewhat less than half of these take one coin


def test_it_learns_what_coins_are_worth(tmp_path: Path) -> None:
    """Six coins, one or two per turn for their square: always two, and every value is known."""
    run = train(Coins(), "dqn", out=tmp_path / "run", steps=1500, games=16, width=32, batch=64, discount=1.0)
    agent = run.agent()
    for left in range(2, 7):
        values = agent.values(Coins().parse_state(str(left)))
        best = {n: 4 * (n // 2) + n % 2 for n in range(7)}
        assert values[0] == pytest.approx(1 + best[left - 1], abs=0.7)
        assert values[1] == pytest.approx(4 + best[left - 2], abs=0.7)
    assert run.metrics[-1]["mean_return"] > 6.0


def test_a_stopped_training_ends_with_the_same_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dqn, "ROW_EVERY", 20)
    monkeypatch.setattr(dqn, "CHECKPOINT_SECONDS", 0.0)
    whole = train(GAME, "dqn", out=tmp_path / "whole", **SMALL)

    def interrupt(row: dict[str, float]) -> None:
        if row["steps"] == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(GAME, "dqn", out=tmp_path / "parts", on_row=interrupt, **SMALL)
    parts = train(GAME, "dqn", out=tmp_path / "parts", resume=True, **SMALL)
    state = GAME.initial_state()
    assert parts.agent().values(state) == whole.agent().values(state)
    assert [row["loss"] for row in parts.metrics] == [row["loss"] for row in whole.metrics]


def test_convolutions_and_bad_settings(tmp_path: Path) -> None:
    game = rookery.load("tenten", "4x4-seven")
    run = train(game, "dqn", out=tmp_path / "run", net="conv", **SMALL)
    state = game.parse_state("###./..../..../.... 1x1")
    assert set(run.agent().values(state)) == set(state.legal_actions())
    # Special forms of the game take its place; the method itself fits any game.
    own = train("solitaire-chess", Dqn(), out=tmp_path / "own", starts="random", **SMALL)
    assert own.metrics[-1]["steps"] == 60
    with pytest.raises(ValueError, match="epsilon must be from 0 to 1"):
        dqn.Settings(epsilon=-1)
    with pytest.raises(ValueError, match="holds 'tenten dqn', not 'tic-tac-toe dqn'"):
        dqn.load(GAME, run.folder / "model.safetensors")


@pytest.mark.slow
def test_tic_tac_toe_is_never_lost(tmp_path: Path) -> None:
    agent = train(GAME, "dqn", out=tmp_path / "run", steps=6000).agent()
    assert never_loses(GAME, agent, 0)
    assert never_loses(GAME, agent, 1)
