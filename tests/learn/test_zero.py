from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery.game import TERMINAL, native
from rookery.learn import nets, zero
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
