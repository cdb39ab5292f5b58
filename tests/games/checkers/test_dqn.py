"""Deep Q-learning of checkers: what the net sees, what its outputs mean, and that it learns."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs PyTorch")

from rookery import run as runs
from rookery.games.checkers import dqn
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action, encode_action
from rookery.registry import agent as load_agent
from tests.games.checkers import oracle as rules
from tests.training import trained, training

GAME = Checkers()


def turned(state_text: str) -> str:
    """The position with sides exchanged and the board turned round."""
    side, white, black = state_text.split(":")

    def turn(squares: str) -> str:
        named = [s for s in squares.split(",") if s]
        return ",".join(f"{'K' * s.startswith('K')}{33 - int(s.removeprefix('K'))}" for s in named)

    return f"{'W' if side == 'B' else 'B'}:W{turn(black[1:])}:B{turn(white[1:])}"


def random_states(count: int, seed: int) -> list[CheckersState]:
    rng = random.Random(seed)
    states = []
    while len(states) < count:
        state = GAME.initial_state()
        for _ in range(rng.randrange(60)):
            if state.player() < 0:
                break
            state.apply(rng.choice(state.legal_actions()))
        if state.player() >= 0:
            states.append(state)
    return states


def test_features_are_the_pieces_of_the_side_to_move() -> None:
    black = GAME.parse_state("B:W22,K30:B1,K5")
    planes = dqn.features(black.key())[0]
    assert [list(np.flatnonzero(plane)) for plane in planes] == [[0], [4], [21], [29]]
    white = GAME.parse_state(turned("B:W22,K30:B1,K5"))
    assert (dqn.features(white.key())[0] == planes).all()


def test_both_sides_see_the_same_moves() -> None:
    for state in random_states(40, 1):
        other = GAME.parse_state(turned(str(state)))
        assert (dqn.features(state.key()) == dqn.features(other.key())).all()
        assert (dqn.legal_moves(state.key()) == dqn.legal_moves(other.key())).all()
        numbers = {dqn.move_number(action, state.side) for action in state.legal_actions()}
        assert numbers == {dqn.move_number(action, other.side) for action in other.legal_actions()}
        assert numbers == set(np.flatnonzero(dqn.legal_moves(state.key())))


def test_move_numbers_are_square_and_first_direction() -> None:
    for state in random_states(40, 2):
        for action in state.legal_actions():
            path, _ = decode_action(action)
            (row, column), (next_row, next_column) = rules.PLACE[path[0]], rules.PLACE[path[1]]
            square = path[0] - 1
            down, right = next_row > row, next_column > column
            if state.side == 1:
                square, down, right = 31 - square, not down, not right
            assert dqn.move_number(action, state.side) == 32 * (2 * (not down) + right) + square


def test_a_step_learns_the_result_and_the_opponent_s_best_reply() -> None:
    """With a memory of one finished and one unfinished move, values move to +1 and to minus the best reply."""
    settings = dqn.Settings(width=32, batch=64, learning_rate=5e-3, discount=0.5)
    dqn.torch.set_num_threads(1)
    dqn.torch.manual_seed(1)
    net, target = dqn.Net(32), dqn.Net(32)
    memory = dqn.Memory(10)
    last = GAME.parse_state("B:W22:B18")
    capture = last.legal_actions()[0]
    before, number = last.key(), dqn.move_number(capture, 0)
    last.apply(capture)
    memory.add(before, number, last.key(), last.returns()[0])
    first = GAME.initial_state()
    step = encode_action([11, 15])
    first_key = first.key()
    first.apply(step)
    memory.add(first_key, dqn.move_number(step, 0), first.key(), None)
    optimizer = dqn.torch.optim.Adam(net.parameters(), lr=settings.learning_rate)
    rng = np.random.default_rng(1)
    for _ in range(200):
        dqn.learn(net, target, optimizer, memory, settings, rng)
    best_reply = max(dqn.values(target, first).values())
    assert dqn.values(net, GAME.parse_state("B:W22:B18"))[capture] == pytest.approx(1.0, abs=0.02)
    assert dqn.values(net, GAME.initial_state())[step] == pytest.approx(-0.5 * best_reply, abs=0.02)


def test_training_can_be_saved_and_repeated(tmp_path: Path) -> None:
    settings = dqn.Settings(width=16, games=8, batch=16, memory=2000)
    nets = []
    for _ in range(2):
        trainer = dqn.Trainer(GAME, settings, seed=3)
        while len(trainer.memory) < 400:
            trainer.play()
        for _ in range(5):
            dqn.learn(trainer.net, trainer.target_net, trainer.optimizer, trainer.memory, settings, trainer.rng)
        nets.append(trainer.net)
    state = GAME.initial_state()
    assert dqn.values(nets[0], state) == dqn.values(nets[1], state)
    rows = trained(GAME, "dqn", replace(settings, steps=130), tmp_path, seed=3)
    assert [row["steps"] for row in rows] == [100, 130]
    *_, last = dqn.Trainer(GAME, settings, seed=3).train(seconds=0.1)
    assert last.seconds >= 0.1
    loaded = dqn.load(tmp_path / "model.npz")
    assert len(dqn.values(loaded, state)) == 7
    results = dqn.play_against_random(loaded, GAME, 20, 1)
    assert (results == dqn.play_against_random(loaded, GAME, 20, 1)).all()
    assert set(results) <= {-1, 0, 1}


def test_a_stopped_training_goes_on_to_the_same_net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dqn, "CHECKPOINT_EVERY", 100)
    settings = dqn.Settings(width=16, games=8, batch=16, memory=2000, steps=400)
    whole = trained(GAME, "dqn", settings, tmp_path / "whole", seed=4)
    stopped = training(GAME, "dqn", settings, tmp_path / "stopped", seed=4)
    for row in stopped:
        if row["steps"] == 200:
            break
    stopped.close()
    rest = trained(GAME, "dqn", settings, tmp_path / "stopped", seed=4, resume=True)
    kept = [[(row["steps"], row["games"], row["loss"]) for row in rows] for rows in (rest, whole[2:])]
    assert kept[0] == kept[1]
    nets = [dqn.load(tmp_path / name / "model.npz").state_dict() for name in ("whole", "stopped")]
    assert all(dqn.torch.equal(nets[0][key], nets[1][key]) for key in nets[0])
    metrics = (tmp_path / "stopped" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["steps"] for line in metrics] == [100, 200, 300, 400]
    with pytest.raises(ValueError, match="already holds a run"):
        training(GAME, "dqn", settings, tmp_path / "stopped", seed=4)
    with pytest.raises(ValueError, match="seed 4, not 5"):
        training(GAME, "dqn", settings, tmp_path / "stopped", seed=5, resume=True)
    assert trained(GAME, "dqn", settings, tmp_path / "stopped", seed=4, resume=True) == [], "there is nothing left"


def test_files_that_are_no_nets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        dqn.load(tmp_path / "model.npz")
    runs.save_arrays(tmp_path / "model.npz", {"kind": dqn.KIND, "settings": {"width": 8}}, {"weights": np.zeros(3)})
    with pytest.raises(ValueError, match="does not hold a net for checkers"):
        dqn.load(tmp_path / "model.npz")


def test_an_output_is_the_square_and_the_first_direction() -> None:
    """Squares have rows of four, the first of even rows on column 1: the direction is told by rows and columns."""

    def place(square: int) -> tuple[int, int]:
        row = (square - 1) // 4
        return row, 2 * ((square - 1) % 4) + (row % 2 == 0)

    directions = {(1, -1): 0, (1, 1): 1, (-1, -1): 2, (-1, 1): 3}
    seen = set()
    for action in range(GAME.num_actions):
        path, *_ = decode_action(action)
        (r0, c0), (r1, c1) = place(path[0]), place(path[1])
        assert abs(r1 - r0) == abs(c1 - c0)
        number = 32 * directions[(r1 > r0) * 2 - 1, (c1 > c0) * 2 - 1] + path[0] - 1
        assert dqn.move_number(action, 0) == number
        assert dqn.move_number(action, 1) == 127 - number
        seen.add(number)
    assert len(seen) == 98, "every step that stays on the board: 7 rows of 7, in four directions by colour"


def test_the_target_net_is_renewed_at_the_given_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that adds 1 to every weight and has its number as the loss."""
    apart: list[float] = []

    def learn(net: dqn.Net, target: dqn.Net, *_: object) -> float:
        mine, his = (next(parts.parameters()) for parts in (net, target))
        apart.append(round(float((mine - his).detach().mean()), 3))
        with dqn.torch.no_grad():
            for weights in net.parameters():
                weights.add_(1.0)
        return float(len(apart))

    monkeypatch.setattr(dqn, "learn", learn)
    settings = dqn.Settings(width=4, games=2, batch=2, memory=200, target_every=4, epsilon=1.0)
    trainer = dqn.Trainer(GAME, settings, 5)
    told = list(trainer.train(110))
    assert apart[:9] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert len(trainer.memory) == 200
    # After every hundred steps and at the end: the mean of the last hundred losses.
    assert [(row.steps, row.loss) for row in told] == [(100, 50.5), (110, 60.5)]
    assert trainer.finished == told[-1].games > 0
    assert [row.steps for row in trainer.train(111)] == [111]
    assert list(trainer.train(111)) == []
    assert list(trainer.train(seconds=0.0)) == []
    played = [len(actions) for actions in trainer.played]
    assert played == [len(state.actions) for state in trainer.states]


def test_the_net_plays_every_second_game_with_either_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """A good player in place of the net wins nearly all games, with Black and with White."""
    player, sides = load_agent("ladder:depth=3", GAME), []

    def choose(net: object, states: list[CheckersState], epsilon: float, rng: object) -> list[int]:
        assert epsilon == 0
        sides.append({state.side for state in states})
        return [player.choose(state, random.Random(1)) for state in states]

    monkeypatch.setattr(dqn, "choose", choose)
    results = dqn.play_against_random(dqn.Net(4), GAME, 12, 3)
    assert sides[:4] == [{0}, {1}, {0}, {1}]
    assert results[::2].sum() >= 5
    assert results[1::2].sum() >= 5
