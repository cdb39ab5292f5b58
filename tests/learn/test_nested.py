"""What goes into nested searches and comes out of them: priors, trust, ranks, rewards and examples, beside loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rookery
from rookery.game import native
from rookery.learn import nested, nets

GAME = rookery.load("solitaire-chess", rows=3, columns=3)
STATE = GAME.parse_state("RB./..N/P..")


def played(owner: list[int], actions: list[int], advantage: list[float], games: int = 3) -> nested.Play:
    return nested.Play(
        [[] for _ in range(games)], np.zeros(games), np.array(owner, np.int32), np.array(actions, np.int32),
        np.array(advantage, np.float32),
    )  # fmt: skip


@pytest.mark.parametrize("per", [1, 2])
def test_priors_are_the_mean_advantages_of_every_game(per: int) -> None:
    owner, actions = [0, 0, 0, 1, 2, 2, 2, 2], [7, 4, 7, 5, 0, 7, 6, 6]
    advantage = [-1.0, 0.0, -3.0, -0.5, 0.0, -2.0, -4.0, -1.0]
    play, chosen = played(owner, actions, advantage), [2, 0]
    found, means, starts = play.priors(np.array(chosen), per)
    assert starts[0] == 0
    assert starts[-1] == len(found) == len(means)
    for place, game in enumerate(chosen):
        expected: dict[int, list[float]] = {}
        for who, action, worth in zip(owner, actions, advantage, strict=True):
            if who == game:
                expected.setdefault(action - action % per, []).append(worth)
        mine = slice(starts[place], starts[place + 1])
        assert dict(zip(found[mine].tolist(), means[mine].tolist(), strict=True)) == pytest.approx(
            {action: float(np.mean(worths)) for action, worths in expected.items()}
        )


class Told:
    """Stands for a native state, and tells what a search was started with."""

    def __init__(self) -> None:
        self.given: tuple[Any, ...] = ()

    def nrpa_from(self, *given: Any) -> list[Any]:
        self.given = given
        starts = given[2]
        # Number, score, moves, playouts and CPU seconds of each search; the second was not begun in time.
        return [(i, 10.0 * i, [i], 100 + i, 0.5) for i in range(len(starts) - 1) if i != 1]


def test_searches_start_around_the_best_games_with_some_trust() -> None:
    games = 40
    seeds = nested.Play(
        [[g] for g in range(games)], np.arange(games) % 10 * 1.0, np.arange(games, dtype=np.int32),
        np.arange(games, dtype=np.int32), np.linspace(-20, 0, games).astype(np.float32),
    )  # fmt: skip
    told = Told()
    found = nested.search(told, seeds, 30, 3, 50, 6.0, -2.0, 5, 1)
    actions, weights, starts, unseen, level, iterations, _, seed, _, control = told.given
    assert (level, iterations, seed, control) == (3, 50, 5, None)
    best = sorted(range(games), key=lambda g: (-(g % 10), g))[:30]
    assert actions.tolist() == best  # one action per game, in the order of the scores
    assert starts.tolist() == list(range(31))
    trust = unseen / -2.0
    assert trust.min() == 0
    assert 4 < trust.max() <= 6.0
    # Uniform from -2 to 6, and 0 below 0: a quarter on average.
    assert 2 <= (trust == 0).sum() <= 14
    for place, game in enumerate(best):
        assert weights[place] == pytest.approx(trust[place] * max(-8.0, seeds.advantage[game]), abs=1e-5)
    assert found.games == [[i] for i in range(30) if i != 1]
    assert found.scores.tolist() == [10.0 * i for i in range(30) if i != 1]
    assert found.trust.tolist() == [trust[i] for i in range(30) if i != 1]
    assert found.playouts == sum(100 + i for i in range(30) if i != 1)
    assert found.cpu_seconds == pytest.approx(29 * 0.5)


def think(planes: Any, offsets: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Likes greater actions more."""
    rows, legal = nets.padded(offsets, actions)
    scores = torch.from_numpy(rows).float() / 10
    logs = scores.masked_fill(~torch.from_numpy(legal), -torch.inf).log_softmax(1)
    return logs, torch.from_numpy(rows), torch.from_numpy(legal)


def test_cold_games_take_the_most_probable_moves_and_warm_ones_draw() -> None:
    heat = np.array([0.0] * 4 + [1.0] * 200, np.float32)
    play = nested.play(think, native(STATE), heat, 3, 1)
    assert len(play.games) == len(play.scores) == 204
    state, greedy = STATE.clone(), []
    while state.player() >= 0:
        greedy.append(max(state.legal_actions()))
        state.apply(greedy[-1])
    assert play.games[:4] == [greedy] * 4
    for game, score in zip(play.games, play.scores, strict=True):
        state = STATE.clone()
        for action in game:
            state.apply(action)
        assert state.player() < 0
        assert state.returns() == [score]
    legal = np.array(STATE.legal_actions())
    chances = np.exp(legal / 10) / np.exp(legal / 10).sum()
    first = np.array([game[0] for game in play.games[4:]])
    for action, chance in zip(legal, chances, strict=True):
        assert abs((first == action).mean() - chance) < 4 * (chance * (1 - chance) / 200) ** 0.5
    # The advantage of a first move is its log-probability less the greatest.
    mine = (play.owner == 7).nonzero()[0][: len(legal)]
    assert play.actions[mine].tolist() == legal.tolist()
    assert play.advantage[mine].tolist() == pytest.approx(((legal - legal.max()) / 10).tolist(), abs=1e-5)


def ranking(scores: list[float], window: int = 200) -> nested.Ranking:
    found = nested.Ranking(GAME, window, symmetries=False)
    assert found.add([[*divmod(i, 80)] for i in range(len(scores))], scores) == len(scores)
    return found


@pytest.mark.parametrize(("ratio", "threshold"), [(0.0, 1.0), (0.49, 2.0), (0.5, 3.0), (0.75, 4.0), (1.0, 4.0)])
def test_the_threshold_is_a_quantile_of_the_scores(ratio: float, threshold: float) -> None:
    assert ranking([3.0, 1.0, 4.0, 2.0]).threshold(ratio) == threshold


def test_rewards_are_won_above_lost_below_and_either_on_the_threshold() -> None:
    found = ranking([1.0] * 50 + [2.0] * 100 + [3.0] * 50)
    z = found.rewards(0.5, np.random.default_rng(1))
    assert z[:50].tolist() == [-1] * 50
    assert z[150:].tolist() == [1] * 50
    assert set(z[50:150].tolist()) == {-1, 1}
    assert 25 < (z[50:150] == 1).sum() < 75


def test_the_list_has_the_last_games_each_once() -> None:
    found = ranking([1.0, 2.0, 3.0], window=3)
    assert found.add([[0, 0], [0, 7]], [1.0, 9.0]) == 1  # the first is known, and comes to the end; the second is new
    assert [moves.tolist() for moves in found.moves] == [[0, 2], [0, 0], [0, 7]]
    assert found.scores.tolist() == [3.0, 1.0, 9.0]
    ordered = nested.Ranking(GAME, 10)
    assert ordered.add([[1, 2], [2, 1]], [0.0, 0.0]) == 2  # the order of captures matters
    loose = nested.Ranking(rookery.load("morpion", "4D", board=9), 10, symmetries=False)
    assert loose.add([[1, 2], [2, 1]], [0.0, 0.0]) == 1  # and that of lines does not


def test_three_of_four_examples_are_of_won_games() -> None:
    lines = [[action] for action in STATE.legal_actions()]
    found = nested.Ranking(GAME, 100, symmetries=False)
    found.add(lines, [float(i) for i in range(len(lines))])
    z = np.array([-1] + [1] * (len(lines) - 1))
    rng = np.random.default_rng(2)
    planes, offsets, actions, wanted, won = nested.Examples(native(STATE), found, z).draw(40, rng, 1)
    assert len(planes) == len(offsets) - 1 == len(won) == 40
    assert won.sum() == 30
    for i in range(40):
        mine = slice(offsets[i], offsets[i + 1])
        assert actions[mine].tolist() == STATE.legal_actions()
        (action,) = actions[mine][wanted[mine] > 0]
        assert (z[[line[0] for line in lines].index(action)] > 0) == won[i]
    for only in (1, -1):
        drawn = nested.Examples(native(STATE), found, np.full(len(lines), only)).draw(8, rng, 1)
        assert drawn[4].tolist() == [only > 0] * 8


# Nets


def test_rows_of_actions_are_padded() -> None:
    rows, legal = nets.padded(np.array([0, 2, 2, 5]), np.array([4, 5, 6, 7, 8], np.int32))
    assert rows.tolist() == [[4, 5, 0], [0, 0, 0], [6, 7, 8]]
    assert legal.tolist() == [[True, True, False], [False] * 3, [True] * 3]
    rows, legal = nets.padded(np.array([0, 0]), np.zeros(0, np.int32))
    assert rows.tolist() == [[0]]
    assert legal.tolist() == [[False]]


def test_a_residual_block_adds_what_came_in() -> None:
    block = nets.ResidualBlock(3).eval()
    with torch.no_grad():
        block.conv2.weight.zero_()  # both convolutions give nothing: what comes in comes out
        x = torch.randn(2, 3, 4, 5)
        torch.testing.assert_close(block(x), x.clamp(min=0))
        block = nets.ResidualBlock(3).eval()
        inner = torch.relu(block.norm1(torch.nn.functional.conv2d(x, block.conv1.weight, padding=1)))
        outer = block.norm2(torch.nn.functional.conv2d(inner, block.conv2.weight, padding=1))
        torch.testing.assert_close(block(x), torch.relu(x + outer))
        torch.testing.assert_close(nets.folded(block)(x), block(x), rtol=1e-4, atol=1e-5)


def test_nets_and_optimizers_go_through_arrays() -> None:
    torch.manual_seed(1)

    def pair() -> tuple[torch.nn.Linear, torch.optim.Adam]:
        net = torch.nn.Linear(3, 2)
        return net, torch.optim.Adam(net.parameters(), lr=0.1)

    def step(net: torch.nn.Linear, optimizer: torch.optim.Adam, x: torch.Tensor) -> None:
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()

    data = torch.randn(3, 4, 3)
    net, optimizer = pair()
    for x in data[:2]:
        step(net, optimizer, x)
    saved = nets.arrays(net=net, optimizer=optimizer)
    assert {name.split(".")[0] for name in saved} == {"net", "optimizer"}
    other, others = pair()
    nets.restore(saved, net=other, optimizer=others)
    step(net, optimizer, data[2])
    step(other, others, data[2])
    torch.testing.assert_close(net.weight, other.weight, rtol=0, atol=0)


def test_files_of_nets_say_what_they_hold(tmp_path: Path) -> None:
    net, file = torch.nn.Linear(3, 2), tmp_path / "a.safetensors"
    nets.save_net(file, net, "some kind", size="3")
    tensors, metadata = nets.load_net(file, "some kind")
    assert metadata == {"kind": "some kind", "size": "3"}
    torch.testing.assert_close(tensors["weight"], net.weight.detach(), rtol=0, atol=0)
    assert nets.kind_of(file) == "some kind"
    with pytest.raises(ValueError, match="holds 'some kind', not 'another'"):
        nets.load_net(file, "another")
    file.write_bytes(b"no net")
    for read in (nets.kind_of, lambda path: nets.load_net(path, "some kind")):
        with pytest.raises(ValueError, match="not a net written by Rookery, or is damaged"):
            read(file)
    with pytest.raises(ValueError, match="there is no file"):
        nets.kind_of(tmp_path / "none")
