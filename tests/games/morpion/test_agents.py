from __future__ import annotations

import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from rookery.games.morpion import zero  # noqa: E402
from rookery.games.morpion.agents import NetAgent  # noqa: E402
from rookery.games.morpion.rules import Morpion, MorpionState  # noqa: E402
from rookery.registry import agent as load_agent  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net that knows nothing, but is sure of it: its scores are far from equal."""
    torch.manual_seed(0)
    settings = zero.Settings(board=16, channels=8, blocks=1)
    net = zero.Net(settings)
    with torch.no_grad():
        net.policy.weight.mul_(20)
    path = tmp_path_factory.mktemp("zero") / "model.safetensors"
    zero.save_model(path, net, settings, {"threshold": 50})
    return path


def test_values_are_the_nets_probabilities_wherever_the_cross_lies(model: Path) -> None:
    small, unlimited = Morpion(board=16), Morpion()
    one, other = small.initial_state(), unlimited.initial_state()
    mine, theirs = load_agent(f"zero:{model}", small), load_agent(f"zero:{model}", unlimited)
    for _ in range(12):
        values, elsewhere = mine.values(one), theirs.values(other)
        names = {one.action_name(action): value for action, value in values.items()}
        assert names == {other.action_name(action): pytest.approx(value) for action, value in elsewhere.items()}
        assert set(values) == set(one.legal_actions())
        assert sum(values.values()) == pytest.approx(1)
        one.apply(max(values, key=lambda action: values[action]))
        other.apply(max(elsewhere, key=lambda action: elsewhere[action]))


def test_looking_ahead_shares_visits_and_explains_itself(model: Path) -> None:
    game = Morpion(board=16)
    agent = load_agent(f"zero:simulations=50,path={model}", game)
    state = game.initial_state()
    values = agent.values(state)
    assert sum(values.values()) == pytest.approx(1)
    # 49 simulations go through the moves, so shares are whole numbers of 49ths.
    assert all(round(value * 49, 6).is_integer() for value in values.values())
    explanation = agent.explain(state)
    assert explanation.action == max(values, key=lambda action: values[action])
    assert "of the visits" in explanation.reasons[0]


def test_games_with_trees_are_legal(model: Path) -> None:
    net, _, _ = zero.load_model(model)
    games = zero.Trees(net, net.game.initial_state(), 3, threshold=50).play(simulations=10)
    for moves in games:
        state = net.game.initial_state()
        for action in moves:
            state.apply(action)
        assert state.legal_actions() == []


def test_refusals(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="r2 does not fit morpion 5T: it plays 5D only"):
        load_agent("r2", Morpion(touching=True))
    with pytest.raises(ValueError, match="zero is not trained yet"):  # the method for any game, not Morpion's own
        load_agent("zero", Morpion(touching=True))
    with pytest.raises(ValueError, match="there is no model in"):
        load_agent(f"zero:{tmp_path / 'none'}", Morpion())
    torn = tmp_path / "torn.safetensors"
    torn.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is not a net written by Rookery, or is damaged"):
        load_agent(f"zero:{torn}", Morpion())


def test_the_net_that_ships_plays_longer_games_than_the_papers_best() -> None:
    game = Morpion()
    agent, state = load_agent("zero", game), game.initial_state()
    while state.legal_actions():
        values = agent.values(state)
        state.apply(max(values, key=lambda action: values[action]))
    assert len(state.moves) > 67


def test_moves_beyond_what_the_net_sees_have_no_probability() -> None:
    """A net that sees 12 rows and columns, one beyond the cross on each side."""

    class Even(NetAgent):
        def shares(self, state: MorpionState) -> dict[int, float]:
            return dict.fromkeys(state.legal_actions(), 1 / len(state.legal_actions()))

    game, board = Morpion(), Morpion(board=12)
    agent = Even(board)
    first = game.rules.corner - board.rules.corner

    def inside(action: int) -> bool:
        places = [divmod(cell, game.side) for cell in game.line_cells(action)]
        return all(first <= row < first + 12 and first <= column < first + 12 for row, column in places)

    beyond = refused = 0
    for seed in range(10):
        state, rng = game.initial_state(), random.Random(seed)
        while legal := state.legal_actions():
            if not all(map(inside, state.moves)):
                refused += 1
                with pytest.raises(ValueError, match="leaves the 12 rows and columns that the net sees"):
                    agent.values(state)
                break
            seen = [action for action in legal if inside(action)]
            beyond += len(legal) - len(seen)
            share = pytest.approx(1 / max(1, len(seen)))
            assert agent.values(state) == {action: share if action in seen else 0 for action in legal}
            state.apply(rng.choice(legal))
    assert beyond > 10
    assert refused > 0
