from __future__ import annotations

import random
import re
import time
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery.game import TERMINAL, native
from rookery.learn import nets, zero
from rookery.run import load_arrays
from rookery.training import train
from tests.learn.test_q_learning import after, never_loses, plain_value
from tests.search.test_python_games import Coins
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()
SMALL: dict[str, Any] = {"channels": 8, "blocks": 1, "games": 8, "simulations": 8, "batch": 16, "iterations": 3}


def test_positions_are_joined_and_padded() -> None:
    def part(first: int, counts: list[int]) -> zero.Positions:
        total = sum(counts)
        return zero.Positions(
            np.arange(first, first + len(counts)).reshape(-1, 1, 1, 1), np.cumsum([0, *counts]),
            np.arange(first * 10, first * 10 + total), np.full(total, 0.5), np.arange(len(counts)) * 1.0,
        )  # fmt: skip

    joined = zero.Positions.joined([part(1, [2, 3]), part(5, [1, 2])], 3)
    assert joined.planes.ravel().tolist() == [2, 5, 6]
    assert joined.offsets.tolist() == [0, 3, 4, 6]
    assert joined.actions.tolist() == [12, 13, 14, 50, 51, 52]
    actions, legal, shares = joined.padded(np.array([2, 0]))
    assert actions[legal].tolist() == [51, 52, 12, 13, 14]
    assert legal.sum(axis=1).tolist() == [2, 3]
    assert shares.sum(axis=1).tolist() == [1.0, 1.5]


def test_what_is_learned_from_is_what_was_played() -> None:
    """Legal actions, shares of visits and results belong to the positions."""
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL, own_value=0.25), 1)
    weights = {name: tensor.numpy() for name, tensor in trainer.player.state_dict().items()}
    trainer.actors.begin(weights, 0.0, 5)
    thought = trainer.actors.end().positions.values
    trainer.actors.begin(weights, 0.0, 5)
    played = trainer._played()
    data = played.positions
    assert data.planes.dtype == np.uint8
    assert len(data) == played.moves == len(played.owner)
    assert (data.planes[:8] == 0).all()  # all games begin with the empty board
    for i in range(len(data)):
        x, o = data.planes[i].reshape(2, 9)
        cells = "".join("x" if a else "o" if b else "." for a, b in zip(x, o, strict=True))
        state = GAME.parse_state("/".join(cells[k : k + 3] for k in (0, 3, 6)))
        begin, end = data.offsets[i], data.offsets[i + 1]
        assert data.actions[begin:end].tolist() == state.legal_actions()
        assert data.shares[begin:end].sum() == pytest.approx(1, abs=1e-5)
        result = played.returns[played.owner[i], state.player()]
        assert -1 <= thought[i] <= 1
        assert data.values[i] == pytest.approx(0.25 * thought[i] + 0.75 * result, abs=1e-6)
        if wins := [a for a in state.legal_actions() if after(state, a).player() == TERMINAL and abs(result) > 0]:
            chosen = {a for a, share in zip(data.actions[begin:end], data.shares[begin:end], strict=True) if share > 0}
            if thought[i] == 1:  # proven: nothing but wins was visited
                assert all(_best(str(state)) >= {a} for a in chosen), wins


@pytest.mark.parametrize("starts", ["initial", "random"])
def test_where_games_begin(starts: str) -> None:
    game = rookery.load("endgames", "KQK")
    trainer = zero.Trainer(game, zero.Settings(**SMALL, starts=starts), 1)  # type: ignore[arg-type]
    trainer.actors.begin({name: tensor.numpy() for name, tensor in trainer.player.state_dict().items()}, 0.0, 5)
    first = trainer.actors.end().positions.planes[:8]
    same = [np.array_equal(planes, game.initial_state().observation()) for planes in first]
    assert same == [starts == "initial"] * 8
    assert len(np.unique(first, axis=0)) == (1 if starts == "initial" else 8)


def test_other_processes_play_the_same_games(tmp_path: Path) -> None:
    settings = SMALL | {"games": 10, "group": 4, "iterations": 2}
    here = train(GAME, "zero", out=tmp_path / "here", **settings, actors=1)
    there = train(GAME, "zero", out=tmp_path / "there", **settings, actors=2)
    drop = {"moves_per_second", "share_learning", "minutes"}
    for one, other in zip(here.metrics, there.metrics, strict=True):
        assert {k: v for k, v in one.items() if k not in drop} == {k: v for k, v in other.items() if k not in drop}
    state = GAME.initial_state()
    assert here.agent(simulations=1).values(state) == there.agent(simulations=1).values(state)


def test_processes_start_when_an_iteration_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    hired: list[int] = []

    def hire(shared: object, count: int) -> Any:
        hired.append(count)
        raise KeyboardInterrupt

    settings = zero.Settings(**SMALL | {"games": 10, "group": 4})
    trainer = zero.Trainer(GAME, settings, 1, hire)
    trainer.iterate()
    assert not hired
    monkeypatch.setattr(trainer.actors, "patience", 0.0)
    monkeypatch.setattr(zero, "cores", lambda: 3)
    with pytest.raises(KeyboardInterrupt):
        trainer.iterate()
    assert hired == [3]


def test_symmetries_show_a_position_from_all_sides() -> None:
    """A net that learns one corner with symmetries knows all four; without them, one."""
    for symmetric in (True, False):
        settings = zero.Settings(**SMALL, symmetries=symmetric, learning_rate=0.02)
        trainer = zero.Trainer(GAME, settings, 1)
        state = GAME.parse_state("x../.../...")
        planes = state.observation()[np.newaxis]
        actions = np.array(state.legal_actions())
        shares = (actions == 1).astype(np.float32)
        data = zero.Positions(planes, np.array([0, 8]), actions, shares, np.ones(1, np.float32))
        symmetries = GAME.symmetries() if symmetric else ()
        zero.learn(trainer.net, trainer.optimizer, data, symmetries, settings, 150, 0)
        agent = zero.ZeroAgent(trainer.net, 1, 1.5, 0.0)
        beside = {corner: agent.choose(GAME.parse_state(text)) for corner, text in CORNERS.items()}
        right = {corner: {0: {1, 3}, 2: {1, 5}, 6: {3, 7}, 8: {5, 7}}[corner] for corner in beside}
        assert beside[0] in right[0]
        assert all(beside[corner] in right[corner] for corner in beside) == symmetric


def test_what_is_folded_gives_the_same() -> None:
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL), 1)
    trainer.iterate()
    planes = np.stack([GAME.parse_state(text).observation() for text in CORNERS.values()])
    net = trainer.net.eval()
    folded = nets.folded(net)
    assert not any(isinstance(part, torch.nn.BatchNorm2d) for part in folded.modules())
    with torch.no_grad():
        for one, other in zip(net(torch.from_numpy(planes)), folded(torch.from_numpy(planes)), strict=True):
            assert torch.allclose(one, other, atol=1e-5)


CORNERS = {0: "x../.../...", 2: "..x/.../...", 6: ".../.../x..", 8: ".../.../..x"}


@cache
def _best(text: str) -> set[int]:
    values = plain_value(text, 1.0, True)
    return {action for action, value in values.items() if value == max(values.values())}


def test_a_search_with_an_untrained_net_finds_wins() -> None:
    net = zero.Trainer(GAME, zero.Settings(**SMALL), 0).net
    agent = zero.ZeroAgent(net, 400, 1.5, 0.0)
    for text in ("xx./oo./...", "x.o/xo./...", "xo./.x./o.."):
        assert agent.choose(GAME.parse_state(text), random.Random(1)) in _best(text)
    assert "of the simulations" in agent.explain(GAME.initial_state()).reasons[0]


def test_ranked_reward() -> None:
    trainer = zero.Trainer(Coins(), zero.Settings(**SMALL, ratio=0.5), 0)
    positions = zero.Positions(np.zeros((4, 1, 1, 1)), np.arange(5), np.zeros(4), np.ones(4), np.zeros(4))
    mover = np.zeros(4, np.int8)
    played = zero.Played(positions, np.array([0, 1, 2, 3]), mover, np.array([[6.0], [12.0], [8.0], [9.0]]))
    trainer._rank(played)
    assert trainer.threshold == 8.5
    assert positions.values.tolist() == [-1, 1, -1, 1]
    again = zero.Played(positions, np.array([0, 1, 2, 3]), mover, np.full((4, 1), 12.0))
    trainer._rank(again)  # half of the scores are 12 now, and none is better
    assert trainer.threshold == 12
    assert positions.values.tolist() == [1, 1, 1, 1]


def test_one_player_and_chance(tmp_path: Path) -> None:
    run = train(Coins(), "zero", out=tmp_path / "coins", **SMALL | {"games": 32, "iterations": 25})
    agent = run.agent(simulations=0)
    assert [agent.choose(Coins().parse_state(str(n))) for n in (6, 4, 2)] == [1, 1, 1]
    game = rookery.load("tenten", "3x3-seven")
    run = train(game, "zero", out=tmp_path / "tenten", **SMALL)
    assert len(run.metrics) == 3
    state = game.parse_state(".../.../... 1x1")
    assert run.agent(simulations=20).choose(state) in state.legal_actions()


def test_chance_in_a_search_has_its_shares() -> None:
    """A tree on 1010!, 3x3: the piece after a placement is drawn by its probability."""
    game = rookery.load("tenten", "3x3-seven")
    state = game.parse_state(".../.../... 1x1")
    trees = state.Puct(state, 1, 1.0, seed=3)
    for _ in range(3000):
        planes, offsets, _ = trees.find_leaves(3000, 1, 1)
        counts = np.diff(offsets)
        trees.expand(np.repeat(1 / np.maximum(counts, 1), counts).astype(np.float32), np.zeros(len(planes), np.float32))
    assert trees.simulations(0) == 3000
    move = state.legal_actions()[0]
    drawn = []
    for seed in range(1000):
        other = state.Puct(state, 1, 1.0, seed=seed)
        other.apply(0, move)
        assert len(other.history(0)) == 2  # the move, and the piece that was drawn after it
        drawn.append(other.history(0)[1])
    for piece, probability in after(state, move).chance_outcomes():
        spread = (probability * (1 - probability) / 1000) ** 0.5
        assert drawn.count(piece) / 1000 == pytest.approx(probability, abs=4 * spread)


def test_noise_changes_the_probabilities_at_the_root_only() -> None:
    state = GAME.initial_state()
    start = native(state)
    priors = {}
    for noise in (0.0, 0.25, 1.0):
        trees = start.Puct(start, 300, 1.0, noise=noise, noise_alpha=0.5, seed=1)
        planes, _, actions = trees.find_leaves(1, 1, 1)
        trees.expand(np.full(len(actions), 1 / 9, np.float32), np.zeros(len(planes), np.float32))
        priors[noise] = np.array([[move[3] for move in trees.moves(i)] for i in range(300)])
    assert np.allclose(priors[0.0], 1 / 9)
    assert np.allclose(priors[1.0].sum(axis=1), 1, atol=1e-5)
    assert np.allclose(priors[1.0].mean(axis=0), 1 / 9, atol=0.03)
    # The variance of a Dirichlet distribution with nine equal parameters a is (1/9)(8/9) / (9a + 1).
    assert priors[1.0].var(axis=0).mean() == pytest.approx((1 / 9) * (8 / 9) / (9 * 0.5 + 1), rel=0.15)
    assert np.allclose(priors[0.25], 0.75 / 9 + 0.25 * priors[1.0], atol=1e-6)


def test_a_stopped_training_ends_with_the_same_net(tmp_path: Path) -> None:
    whole = train(GAME, "zero", out=tmp_path / "whole", **SMALL)

    def interrupt(row: dict[str, float]) -> None:
        if row["iteration"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(GAME, "zero", out=tmp_path / "parts", on_row=interrupt, **SMALL)
    parts = train(GAME, "zero", out=tmp_path / "parts", resume=True, **SMALL)
    state = GAME.initial_state()
    assert parts.agent(simulations=1).values(state) == whole.agent(simulations=1).values(state)
    again = train(GAME, "zero", out=tmp_path / "parts", resume=True, **SMALL)
    assert again.metrics == parts.metrics  # there was nothing left to do


def test_the_net_learns_from_the_newer_half_of_what_was_played() -> None:
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL), seed=3)
    played = []
    for _ in range(4):
        trainer.iterate()
        played.append(trainer.new)
        assert trainer.data is not None
        assert len(trainer.data) == max(played[-1], sum(played) // 2)
    small = zero.Trainer(GAME, zero.Settings(**SMALL | {"window": 10}), seed=3)
    small.iterate()
    assert small.data is not None
    assert len(small.data) == 10
    assert small.positions == small.new > 10


def test_the_learning_rate_falls_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = []
    step = zero.Trainer.iterate

    def iterate(self: zero.Trainer) -> dict[str, float]:
        rates.append(self.optimizer.param_groups[0]["lr"])
        return step(self)

    monkeypatch.setattr(zero.Trainer, "iterate", iterate)
    train(GAME, "zero", out=tmp_path, **SMALL | {"iterations": 4, "decay": 0.5, "learning_rate": 1e-3})
    assert rates == pytest.approx([1e-3, 1e-3, 1e-3, 1e-3 * 10**-0.5])


def test_bad_settings(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name a number of iterations or of minutes"):
        zero.Settings(iterations=0)
    with pytest.raises(ValueError, match="ratio must be from 0 to 1"):
        zero.Settings(ratio=2)
    with pytest.raises(ValueError, match="PyTorch knows no device 'gpu'"):
        zero.Settings(device="gpu")
    start = native(GAME.initial_state())
    with pytest.raises(ValueError, match="noise must be"):
        start.Puct(start, 1, 1.0, noise=3.0)


@pytest.mark.slow
def test_tic_tac_toe_is_never_lost(tmp_path: Path) -> None:
    settings = {"channels": 16, "blocks": 2, "games": 128, "simulations": 32, "drawn_moves": 6, "iterations": 60}
    run = train(GAME, "zero", out=tmp_path / "run", **settings)
    net = run.agent(simulations=1)
    assert never_loses(GAME, net, 0)
    assert never_loses(GAME, net, 1)
    search = run.agent(simulations=100)
    rng = random.Random(1)
    for game in range(200):
        state = GAME.initial_state()
        while state.player() != TERMINAL:
            mine = state.player() == game % 2
            state = after(state, search.choose(state, rng) if mine else rng.choice(state.legal_actions()))
        assert state.returns()[game % 2] >= 0


NESTED = {"games": 6, "searches": 4, "level": 2, "search_iterations": 4, "ranked": 12, "channels": 4, "blocks": 1}


def test_nested_searches_resume_and_write_the_best_game_down(tmp_path: Path) -> None:
    game = rookery.load("morpion", "4D", board=15)
    settings = {**NESTED, "batch": 8, "reuse": 0.2, "seed": 4}
    whole = train(game, "zero", out=tmp_path / "whole", **settings, iterations=3)
    train(game, "zero", out=tmp_path / "parts", **settings, iterations=1)
    parts = train(game, "zero", out=tmp_path / "parts", **settings, iterations=3, resume=True)
    drop = {"share_learning", "minutes", "progress"}
    for one, other in zip(whole.metrics, parts.metrics, strict=True):
        assert {k: v for k, v in one.items() if k not in drop} == {k: v for k, v in other.items() if k not in drop}
    best = [row["best_return"] for row in whole.metrics]
    assert best == sorted(best)
    assert best[-1] >= max(row["found_mean"] for row in whole.metrics)
    start, actions = game.parse_record((tmp_path / "whole" / "best.psol").read_text())
    state = game.parse_state(start)
    for action in actions:
        state.apply(action)
    assert state.player() == TERMINAL
    assert state.returns() == [best[-1]]
    assert parts.agent(simulations=4).choose(game.initial_state()) in game.initial_state().legal_actions()


def test_nested_searches_learn_the_moves_of_the_best_games() -> None:
    """In a game whose order counts, the policy comes to play a game that is known to be the best."""
    game = rookery.load("solitaire-chess")
    state = game.parse_state("R.../.B../..N./P...")
    solution = next(line for line in _lines(state) if len(line) == 3)
    other = next(line for line in _lines(state) if line[0] != solution[0])
    settings = zero.Settings(**NESTED | {"channels": 16}, batch=16, learning_rate=5e-3)
    trainer = zero.NestedTrainer(game, settings, 0)
    trainer.start = native(state)
    trainer.ranking.add([solution, other], [3.0, 1.0])
    trainer._learn_ranked(0, 60)
    trainer.player.load_state_dict(trainer.net.state_dict())
    trainer.player.eval()
    played = zero.nested.play(trainer._thinking(), trainer.start, np.zeros(2, np.float32), 1, 1)
    assert played.games == [list(solution), list(solution)]
    assert played.scores.tolist() == [trainer_score(state, solution)] * 2


def trainer_score(state: Any, line: tuple[int, ...]) -> float:
    state = state.clone()
    for action in line:
        state.apply(action)
    return float(state.returns()[0])


def _lines(state: Any) -> list[tuple[int, ...]]:
    """Every line of play to the end."""
    if state.player() == TERMINAL:
        return [()]
    return [(action, *line) for action in state.legal_actions() for line in _lines(after(state, action))]


def test_nested_searches_are_for_one_player_without_chance() -> None:
    for name in ("checkers", "2048"):
        with pytest.raises(ValueError, match="nested searches need a game of one player without chance"):
            zero.NestedTrainer(rookery.load(name), zero.Settings(**NESTED), 0)


def test_actions_lie_in_planes_where_the_game_says_so() -> None:
    game = rookery.load("morpion", "5D", board=16)
    net = zero.Net(game, zero.Settings(**NESTED)).eval()
    with torch.no_grad():
        net.policy[0].weight.zero_()  # type: ignore[index]
        net.policy[0].bias.copy_(torch.arange(20.0))  # type: ignore[index]
        scores, _ = net(torch.zeros(1, 9, 16, 16))
    for action in (0, 1, 4, 5, 1402, game.num_actions - 1):
        move = game.move(action)  # type: ignore[attr-defined]
        assert scores[0, action] == 5 * move.direction + move.position


def test_searches_that_take_turns_find_what_they_find_alone() -> None:
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL), 1)
    net, start = nets.folded(trainer.net), native(GAME.initial_state())

    def games(seed: int) -> Any:
        return zero.play(GAME, start, trainer.settings, 3, 0.0, seed, threads=seed % 2 + 1)

    alone = [zero.together(net, games(seed))[0] for seed in (1, 2, 3)]
    for one, other in zip(alone, zero.together(net, *map(games, (1, 2, 3))), strict=True):
        assert np.array_equal(one.positions.planes, other.positions.planes)
        assert np.array_equal(one.positions.shares, other.positions.shares)
        assert np.array_equal(one.returns, other.returns)


def test_nets_have_the_layers_that_are_asked_for() -> None:
    """The policy is a plane per action where there are many actions per cell, and else sees the whole board."""
    settings = zero.Settings(**SMALL | {"channels": 6, "blocks": 2})
    small = zero.Net(GAME, settings)
    shapes = {name: tuple(tensor.shape) for name, tensor in small.named_parameters()}
    assert shapes["start.weight"] == (6, 2, 3, 3)
    assert len(small.blocks) == 2
    assert {shapes[f"blocks.{i}.conv{n}.weight"] for i in (0, 1) for n in (1, 2)} == {(6, 6, 3, 3)}
    assert [shapes[f"policy.{i}.weight"] for i in (0, 3)] == [(8, 6, 1, 1), (9, 72)]
    assert [shapes[f"value.{i}.weight"] for i in (0, 3, 5)] == [(4, 6, 1, 1), (6, 36), (1, 6)]
    for actions, policy in ((90, [(10, 6, 1, 1)]), (91, [(8, 6, 1, 1), (91, 72)]), (72, [(8, 6, 1, 1), (72, 72)])):
        game = type("Many", (TicTacToe,), {"num_actions": actions})()
        parts = dict(zero.Net(game, settings).named_parameters())
        assert [tuple(p.shape) for name, p in parts.items() if re.match(r"policy\.\d\.weight", name)] == policy
    assert zero.planes_of(Coins()) == (1, 1, 1)

    class Row(TicTacToe):  # type: ignore[misc]
        observation_shape = (18,)

    assert zero.planes_of(Row()) == (18, 1, 1)
    scores, values = small.eval()(torch.rand(5, 2, 3, 3))
    assert scores.shape == (5, 9)
    assert values.shape == (5,)
    assert float(values.detach().abs().max()) < 1


def test_answers_of_the_net_are_probabilities_of_legal_actions() -> None:
    net = zero.Trainer(GAME, zero.Settings(**SMALL), 2).net.eval()
    states = [GAME.parse_state(text) for text in (".../.../...", "xo./.../...", "xox/oxo/ox.")]
    planes = np.stack([state.observation() for state in states])
    legal = [state.legal_actions() for state in states]
    offsets = np.cumsum([0, *map(len, legal)])
    chances, values = zero.ask(net, planes, offsets, np.concatenate(legal).astype(np.int32))()
    with torch.no_grad():
        scores, expected = net(torch.from_numpy(planes))
    assert values == pytest.approx(expected.numpy())
    for i, actions in enumerate(legal):
        weights = np.exp(scores[i].numpy()[actions])
        assert chances[offsets[i] : offsets[i + 1]] == pytest.approx(weights / weights.sum(), rel=1e-5)


def test_a_step_of_learning_is_that_of_its_losses() -> None:
    """Cross-entropy of the policy and squared error of the value, computed position by position."""
    settings = zero.Settings(**SMALL | {"batch": 12}, symmetries=False)
    trainer, copy = zero.Trainer(GAME, settings, 3), zero.Trainer(GAME, settings, 3)
    trainer.actors.begin({n: t.numpy() for n, t in trainer.player.state_dict().items()}, 0.0, 5)
    data = trainer.actors.end().positions
    chosen = np.random.default_rng(7).integers(len(data), size=12)
    copy.net.train()
    scores, values = copy.net(torch.from_numpy(data.planes[chosen]).float())
    policy, value = [], []
    for row, i in enumerate(chosen):
        begin, end = data.offsets[i], data.offsets[i + 1]
        logits = scores[row][torch.from_numpy(data.actions[begin:end].astype(np.int64))]
        logs = logits - logits.logsumexp(0)
        policy.append(-(torch.from_numpy(data.shares[begin:end]) * logs).sum())
        value.append((values[row] - float(data.values[i])) ** 2)
    losses = torch.stack(policy).mean(), torch.stack(value).mean()
    sum(losses).backward()  # type: ignore[union-attr]
    copy.optimizer.step()
    found = zero.learn(trainer.net, trainer.optimizer, data, (), settings, 1, 7)
    assert found == pytest.approx([float(loss.detach()) for loss in losses], rel=1e-4)
    for ours, theirs in zip(trainer.net.parameters(), copy.net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)
    assert zero.learn(trainer.net, trainer.optimizer, data, (), settings, 0, 7).tolist() == [0, 0]


def test_the_net_that_plays_follows_the_one_that_learns() -> None:
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL, inertia=0.75), 1)
    before = {name: tensor.clone() for name, tensor in trainer.player.state_dict().items()}
    with torch.no_grad():
        for parameter in trainer.net.parameters():
            parameter.add_(1.0)
    trainer._follow()
    for name, parameter in trainer.player.named_parameters():
        torch.testing.assert_close(parameter.detach(), before[name] + 0.25)


def test_a_position_is_learned_from_as_often_as_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def learn(*given: Any) -> Any:
        steps.append(given[5])
        return np.zeros(2)

    monkeypatch.setattr(zero, "learn", learn)
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL, reuse=3.0), 1)
    moves = 8 * trainer.iterate()["mean_moves"]
    trainer.iterate()  # learns while it plays, from what was played before
    assert steps == [round(3.0 * moves / 16)] * 2
    few = zero.Trainer(GAME, zero.Settings(**SMALL, reuse=0.0), 1)
    few.iterate()
    assert steps[-1] == 1


def test_a_row_tells_how_the_games_went(monkeypatch: pytest.MonkeyPatch) -> None:
    def played(returns: list[list[float]], moves: int) -> zero.Played:
        positions = zero.Positions(
            np.zeros((moves, 2, 3, 3), np.uint8), np.arange(moves + 1), np.zeros(moves, np.int32),
            np.ones(moves, np.float32), np.zeros(moves, np.float32),
        )  # fmt: skip
        owner = np.arange(moves) % len(returns)
        return zero.Played(positions, owner, np.zeros(moves, np.int8), np.array(returns))

    trainer = zero.Trainer(GAME, zero.Settings(**SMALL), 1)
    games = played([[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0], [1.0, -1.0]], 10)
    monkeypatch.setattr(trainer.actors, "begin", lambda *args: None)
    monkeypatch.setattr(trainer.actors, "end", lambda: games)
    row = trainer.iterate()
    assert {key: row[key] for key in ("iteration", "games", "mean_moves", "first_won", "drawn")} == {
        "iteration": 1, "games": 4, "mean_moves": 2.5, "first_won": 0.5, "drawn": 0.25,
    }  # fmt: skip
    assert "mean_return" not in row
    assert trainer.data is not None
    assert trainer.data.values[:4].tolist() == [0.5, 0.0, -0.5, 0.5]  # half of the result, half of what was thought
    alone = zero.Trainer(Coins(), zero.Settings(**SMALL, ratio=0.5), 1)
    positions = zero.Positions(
        np.zeros((6, 1, 1, 1), np.uint8), np.arange(7), np.zeros(6, np.int32), np.ones(6, np.float32), np.zeros(6)
    )
    scores = zero.Played(positions, np.arange(6) % 3, np.zeros(6, np.int8), np.array([[6.0], [12.0], [9.0]]))
    monkeypatch.setattr(alone.actors, "begin", lambda *args: None)
    monkeypatch.setattr(alone.actors, "end", lambda: scores)
    row = alone.iterate()
    assert (row["mean_return"], row["best_return"], row["threshold"], row["mean_moves"]) == (9.0, 12.0, 9.0, 2.0)
    assert "first_won" not in row


def test_only_the_last_scores_are_ranked() -> None:
    trainer = zero.Trainer(Coins(), zero.Settings(**SMALL, ranked=3, ratio=1.0), 0)
    assert trainer.threshold == 0.0
    positions = zero.Positions(np.zeros((4, 1, 1, 1)), np.arange(5), np.zeros(4), np.ones(4), np.zeros(4))
    scores = np.array([[99.0], [6.0], [8.0], [7.0]])
    trainer._rank(zero.Played(positions, np.arange(4), np.zeros(4, np.int8), scores))
    assert trainer.scores.tolist() == [6, 8, 7]
    assert trainer.threshold == 8
    assert positions.values.tolist() == [1, -1, 1, -1]


def test_a_coin_decides_on_the_threshold() -> None:
    """Three quarters of the scores are 8, and one is better: games of 8 are won or lost by chance."""
    trainer = zero.Trainer(Coins(), zero.Settings(**SMALL, ranked=400, ratio=0.5), 0)
    count = 400
    positions = zero.Positions(
        np.zeros((count, 1, 1, 1)), np.arange(count + 1), np.zeros(count), np.ones(count), np.zeros(count)
    )
    scores = np.array([[8.0]] * 300 + [[12.0]] * 100)
    trainer._rank(zero.Played(positions, np.arange(count), np.zeros(count, np.int8), scores))
    assert set(positions.values[300:].tolist()) == {1.0}
    coins = positions.values[:300]
    assert set(coins.tolist()) == {-1.0, 1.0}
    assert abs(coins.mean()) < 4 / 300**0.5


def test_the_games_of_an_iteration_are_divided_into_groups() -> None:
    trainer = zero.Trainer(GAME, zero.Settings(**SMALL | {"games": 10, "group": 4}), 1)
    trainer.actors.begin({}, 0.5, 3)
    assert trainer.actors._asked is not None
    _, threshold, groups = trainer.actors._asked
    assert [size for size, _ in groups] == [4, 4, 2]
    assert threshold == 0.5
    assert len({seed for _, seed in groups}) == 3
    even = zero.Trainer(GAME, zero.Settings(**SMALL | {"games": 8, "group": 4}), 1)
    even.actors.begin({}, 0.5, 3)
    assert even.actors._asked is not None
    assert [size for size, _ in even.actors._asked[2]] == [4, 4]


@pytest.mark.parametrize("drawn", [0, 3, 9])
def test_moves_are_drawn_at_first_and_the_most_visited_afterwards(drawn: int) -> None:
    settings = zero.Settings(**SMALL | {"simulations": 16}, drawn_moves=drawn, prove=False)
    trainer = zero.Trainer(GAME, settings, 4)
    net, start = nets.folded(trainer.net), native(GAME.initial_state())
    [played] = zero.together(net, zero.play(GAME, start, settings, 24, 0.0, 6))
    data, others = played.positions, dict.fromkeys(range(9), 0)
    for game in range(24):
        mine = np.flatnonzero(played.owner == game)
        for ply, (i, j) in enumerate(pairwise(mine)):
            before, later = data.planes[i], data.planes[j]
            [action] = np.flatnonzero((before != later).any(axis=0).ravel())
            shares = data.shares[data.offsets[i] : data.offsets[i + 1]]
            place = data.actions[data.offsets[i] : data.offsets[i + 1]].tolist().index(action)
            assert shares[place] > 0
            others[ply] += shares[place] < shares.max()
    assert all((others[ply] > 0) <= (ply < drawn) for ply in others)
    assert sum(others.values()) > 0 or drawn == 0


def test_values_and_choices_of_an_agent() -> None:
    net = zero.Trainer(GAME, zero.Settings(**SMALL), 0).net
    state = GAME.parse_state("x.o/.x./...")
    bare, searching = zero.ZeroAgent(net, 0, 1.5, 0.0), zero.ZeroAgent(net, 12, 1.5, 0.0)
    priors = {action: prior for action, _, _, prior in bare.moves(state)}
    assert bare.values(state) == priors
    assert sum(priors.values()) == pytest.approx(1, abs=1e-5)
    assert bare.choose(state, random.Random(1)) == max(priors, key=priors.__getitem__)
    moves = {action: (visits, value) for action, visits, value, _ in searching.moves(state)}
    values = searching.values(state)
    worst = min(value for visits, value in moves.values() if visits)
    for action, (visits, value) in moves.items():
        assert values[action] == (value if visits else pytest.approx(worst - 1e-3))
    assert any(not visits for visits, _ in moves.values()) or len(moves) <= 12
    why = searching.explain(state)
    assert moves[why.action][0] == max(visits for visits, _ in moves.values())
    assert len(why.reasons) == min(5, len(moves))
    visited = [int(reason.split(": ")[1].split()[0]) for reason in why.reasons]
    assert visited == sorted(visited, reverse=True)
    assert visited[0] == moves[why.action][0]


def test_limits_of_settings() -> None:
    for name, low in (
        ("channels", 1), ("blocks", 1), ("games", 1), ("group", 1), ("simulations", 1), ("walks", 1), ("window", 1),
        ("batch", 1), ("ranked", 1), ("drawn_moves", 0), ("reuse", 0), ("searches", 0), ("trust", 0), ("actors", 0),
        ("level", 1), ("search_iterations", 1),
    ):  # fmt: skip
        assert getattr(zero.Settings(**{name: low}), name) == low
        with pytest.raises(ValueError, match=f"{name} must be at least {low}"):
            zero.Settings(**{name: low - 1})
    assert zero.Settings(iterations=0, minutes=0.5).minutes == 0.5


def test_training_ends_with_the_minutes(tmp_path: Path) -> None:
    run = train(GAME, "zero", out=tmp_path, **SMALL | {"iterations": 0, "minutes": 1e-4})
    assert len(run.metrics) == 1
    assert run.metrics[0]["progress"] == 1.0
    both = train(GAME, "zero", out=tmp_path / "both", **SMALL | {"iterations": 2, "minutes": 60.0})
    assert [row["progress"] for row in both.metrics] == [0.5, 1.0]


def test_the_last_iteration_is_saved_however_long_saving_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = nets.save_net
    saved: list[int] = []

    def slowly(*given: Any, **named: Any) -> None:
        saved.append(1)
        time.sleep(0.2)  # so that the next checkpoint is due four seconds later
        save(*given, **named)

    monkeypatch.setattr(nets, "save_net", slowly)
    run = train(GAME, "zero", out=tmp_path, **SMALL | {"iterations": 4, "games": 4, "simulations": 2})
    assert len(run.metrics) == 4
    _, arrays = load_arrays(tmp_path / "checkpoint.npz", "tic-tac-toe zero")
    assert int(arrays["iterations"]) == 4
    assert len(saved) >= 2, "the first and the last at least"


def test_nested_searches_reuse_the_positions_of_the_last_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first iteration has only what the net played just before; later ones have what searches found, too."""
    game = rookery.load("morpion", "4D", board=15)
    trainer = zero.NestedTrainer(game, zero.Settings(**NESTED, batch=4, reuse=3.0), 1)
    steps: list[int] = []
    lengths: list[int] = []

    def learn(seed: int, count: int) -> tuple[Any, float]:
        steps.append(count)
        return np.zeros(2), 0.0

    def counted(work: Any) -> Any:
        def done(*given: Any) -> Any:
            found = work(*given)
            lengths.append(sum(len(moves) for moves in found.games))
            return found

        return done

    monkeypatch.setattr(trainer, "_learn_ranked", learn)
    monkeypatch.setattr(zero.nested, "play", counted(zero.nested.play))
    monkeypatch.setattr(zero.nested, "search", counted(zero.nested.search))
    trainer.iterate()
    trainer.iterate()
    assert steps == [round(3.0 * lengths[0] / 4), round(3.0 * (lengths[0] + lengths[1]) / 4)]
    assert trainer.new == lengths[2] + lengths[3]


def test_a_worker_keeps_its_actor_as_long_as_it_is_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Actor:
        def __init__(self, game: Any, settings: Any) -> None:
            made.append((game, settings))

        def play(self, *given: Any) -> Any:
            return len(made), given

    monkeypatch.setattr(zero, "Actor", Actor)
    monkeypatch.setattr(zero, "_actor", None)
    one, other = (GAME, zero.Settings()), (GAME, zero.Settings())
    act: Any = zero.act
    assert act(one, 3, {}, 0.5, (4, 7)) == (3, (1, ({}, 0.5, [(4, 7)])))
    assert act(one, 4, {}, 0.5, (4, 8)) == (4, (1, ({}, 0.5, [(4, 8)])))
    assert act(other, 5, {}, 0.0, (4, 9)) == (5, (2, ({}, 0.0, [(4, 9)])))
    assert made == [one, other]
