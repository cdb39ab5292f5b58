from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from rookery.games.morpion import zero  # noqa: E402
from rookery.games.morpion.rules import Morpion  # noqa: E402
from rookery.learn import nested  # noqa: E402
from tests.commands import answer, check_refusal  # noqa: E402
from tests.training import trained, training  # noqa: E402

GAME = Morpion(board=16)
TINY = replace(
    zero.SMALL,
    board=16,
    channels=4,
    blocks=1,
    games=4,
    searches=3,
    level=2,
    search_iterations=3,
    window=16,
    steps=2,
    batch=8,
)


def random_games(count: int, seed: int = 1) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(count):
        state = GAME.initial_state()
        while legal := state.legal_actions():
            state.apply(int(rng.choice(legal)))
        games.append(list(state.moves))
    return games


def turned(action: int, symmetry: int) -> set[int]:
    """The cells of the line under the symmetry, by coordinates."""
    side, cells = GAME.side, set()
    for cell in GAME.line_cells(action):
        y, x = divmod(cell, side)
        x = side - 1 - x if symmetry & 1 else x
        y = side - 1 - y if symmetry & 2 else y
        x, y = (y, x) if symmetry & 4 else (x, y)
        cells.add(y * side + x)
    return cells


def test_symmetries_turn_lines_and_dots() -> None:
    for game in random_games(3):
        for symmetry in range(8):
            state = GAME.initial_state()
            for action in game:
                image = GAME.rules.transform(action, symmetry)
                assert set(GAME.line_cells(image)) == turned(action, symmetry)
                state.apply(image)  # legal, so the new dot is the right one
            assert state.legal_actions() == []
    with pytest.raises(ValueError, match="cross in its centre"):
        Morpion(board=17).rules.transform(0, 1)


def test_examples_lie_on_the_way_to_their_games() -> None:
    games = random_games(6)
    starts = np.cumsum([0, *map(len, games)])
    rng = np.random.default_rng(2)
    number = rng.integers(0, len(games), 60).astype(np.int32)
    played = np.array([rng.integers(0, len(games[g])) for g in number], np.int32)
    start = GAME.initial_state()
    arguments = (np.concatenate(games).astype(np.int32), starts, number, played, True, 5)
    planes, offsets, actions, wanted = start.examples(*arguments, 1)
    for again, here in zip(start.examples(*arguments, 3), (planes, offsets, actions, wanted), strict=True):
        np.testing.assert_array_equal(again, here)
    for i in range(60):
        dots = set(np.flatnonzero(planes[i, 0])) - set(GAME.cross)
        moves = games[number[i]]
        made = [action for action in moves if GAME.line_cells(action)[action % 5] in dots]
        assert len(made) == len(dots) == played[i]
        state = GAME.initial_state()
        for action in made:  # in the order of the game, which is legal too
            state.apply(action)
        np.testing.assert_array_equal(planes[i], state.observation())
        legal = actions[offsets[i] : offsets[i + 1]].tolist()
        assert legal == state.legal_actions()
        left = set(moves) - set(made)
        assert wanted[offsets[i] : offsets[i + 1]].tolist() == [action in left for action in legal]
    orders = {planes[i].tobytes() for i in range(60)}
    assert len(orders) > 40
    # In their own order, the move to learn is the next one.
    planes, offsets, actions, wanted = start.examples(*arguments[:4], False, 5, 1)
    for i in range(60):
        state = GAME.initial_state()
        for action in games[number[i]][: played[i]]:
            state.apply(action)
        np.testing.assert_array_equal(planes[i], state.observation())
        mine = slice(offsets[i], offsets[i + 1])
        assert actions[mine][wanted[mine] > 0].tolist() == [games[number[i]][played[i]]]


def test_examples_refuse_what_is_no_game() -> None:
    game = random_games(1)[0]
    moves = np.array(game, np.int32)
    one, starts, examples = np.zeros(1, np.int32), np.array([0, len(game)]), GAME.initial_state().examples
    with pytest.raises(ValueError, match="before the end"):
        examples(moves, starts, one, one + len(game), True, 0, 1)
    with pytest.raises(ValueError, match="no game 1"):
        examples(moves, starts, one + 1, one, True, 0, 1)
    torn, starts = moves[1:].copy(), np.array([0, len(game) - 1])  # later moves need the first one's dot
    for any_order in (True, False):
        with pytest.raises(ValueError, match="not a legal game"):
            examples(torn, starts, one, one + len(game) - 2, any_order, 0, 1)


def test_a_search_starts_from_the_weights_it_is_given() -> None:
    game = random_games(1, seed=4)[0]
    actions, starts = np.array(game, np.int32), np.array([0, len(game)])
    state = GAME.initial_state()
    ((_, score, found, playouts, _),) = state.nrpa_from(
        actions, np.full(len(game), 20, np.float32), starts, np.full(1, -20, np.float32), 1, 1, 1.0, 0, 1
    )
    assert (score, set(found), playouts) == (len(game), set(game), 1)
    with pytest.raises(ValueError, match="as many others as runs"):
        state.nrpa_from(actions, np.zeros(3, np.float32), starts, np.zeros(1, np.float32), 1, 1, 1.0, 0, 1)


def test_the_net_plays_legal_games_and_says_what_it_thinks_of_each_move() -> None:
    torch.manual_seed(3)
    net = zero.Net(TINY)
    heat = np.full(5, 1, np.float32)
    played = zero.play(net, heat, seed=7, threads=1)
    assert zero.play(net, heat, seed=7, threads=2).games == played.games
    assert zero.play(net, heat, seed=8, threads=1).games != played.games
    expected: dict[int, dict[int, list[float]]] = {}
    for number, game in enumerate(played.games):
        state = net.game.initial_state()
        means: dict[int, list[float]] = {}
        for action in game:
            legal = state.legal_actions()
            with torch.no_grad():
                scores = zero.Positions.of(
                    state.observation()[np.newaxis], np.array([0, len(legal)]), np.array(legal, np.int32),
                    torch.device("cpu"),
                ).evaluate(net)[0][0].numpy()  # fmt: skip
            for other, score in zip(legal, scores, strict=True):
                line = other - other % 5  # whichever dot of it is the new one
                means.setdefault(line, []).append(float(score - scores.max()))
            state.apply(action)
        assert state.legal_actions() == []
        expected[number] = means
    chosen = np.array([3, 0])
    actions, means_found, starts = played.priors(chosen, per=5)
    for i, number in enumerate(chosen):
        mine = slice(starts[i], starts[i + 1])
        assert set(actions[mine]) == set(expected[number])
        for action, mean in zip(actions[mine], means_found[mine], strict=True):
            assert mean == pytest.approx(np.mean(expected[number][action]), abs=0.02)  # mixed precision


def test_a_cold_player_takes_the_most_probable_move() -> None:
    torch.manual_seed(3)
    net = zero.Net(TINY)
    cold = zero.play(net, np.zeros(3, np.float32), seed=1, threads=1)
    assert cold.games[0] == cold.games[1] == cold.games[2]
    first = cold.actions[: len(net.game.initial_state().legal_actions())]
    assert cold.games[0][0] == first[cold.advantage[: len(first)].argmax()]
    # Warm players draw the first move as often as the net says: a test of 5 standard deviations.
    count = 600
    warm = [game[0] for game in zero.play(net, np.ones(count, np.float32), seed=1, threads=1).games]
    chances = np.exp(cold.advantage[: len(first)])
    chances /= chances.sum()
    for action, chance in zip(first, chances, strict=True):
        assert abs(warm.count(int(action)) / count - chance) < 5 * np.sqrt(chance * (1 - chance) / count)


def test_the_policy_numbers_its_planes_as_the_game_numbers_actions() -> None:
    net = zero.Net(TINY)
    with torch.no_grad():
        net.policy.weight.zero_()
        assert net.policy.bias is not None
        net.policy.bias.copy_(torch.arange(20.0))
        scores, _ = net.eval()(torch.zeros(1, 9, 16, 16))
    for action in (0, 1, 4, 5, 1402, GAME.num_actions - 1):
        move = GAME.move(action)
        assert scores[0, action] == 5 * move.direction + move.position


def add(ranking: nested.Ranking, games: list[list[int]]) -> int:
    return ranking.add(games, [len(game) for game in games])


def test_ranking_counts_games_once_and_rewards_the_best() -> None:
    games = sorted(random_games(30, seed=9), key=len)
    ranking = nested.Ranking(GAME, 20)
    assert add(ranking, games[:20]) == 20
    rng = np.random.default_rng(0)
    state, shuffled = GAME.initial_state(), list(games[5])
    while shuffled:
        action = int(rng.choice([action for action in shuffled if state.is_legal(action)]))
        state.apply(action)
        shuffled.remove(action)
    twin = [GAME.rules.transform(action, 5) for action in state.moves]
    assert add(ranking, [twin]) == 0
    scores = sorted(len(game) for game in games[:20])
    threshold = scores[15]
    assert ranking.threshold(0.75) == threshold
    z = np.array([ranking.rewards(0.75, np.random.default_rng(i)) for i in range(50)])
    for rewards, score in zip(z.T, ranking.scores, strict=True):
        assert set(rewards) == ({1} if score > threshold else {-1} if score < threshold else {1, -1})
    assert add(ranking, games[20:]) == 10
    assert len(ranking.games) == 20
    # The ten oldest are gone; the twin, added late, is not.
    kept = {tuple(game) for game in ranking.moves}
    assert tuple(games[0]) not in kept
    assert {tuple(twin), tuple(games[25])} <= kept


def test_a_stopped_run_ends_bit_for_bit_as_one_that_was_not(tmp_path: Path) -> None:
    settings = replace(TINY, iterations=3)
    whole = trained(Morpion(), "zero", settings, tmp_path / "whole", 3)
    trained(Morpion(), "zero", replace(TINY, iterations=1), tmp_path / "parts", 3)
    parts = trained(Morpion(), "zero", replace(settings, threads=2), tmp_path / "parts", 3, resume=True)
    assert [row["iteration"] for row in whole] == [1, 2, 3]
    assert [row["iteration"] for row in parts] == [2, 3]
    for name in ("played_mean", "searched_mean", "policy_loss", "value_loss", "best", "threshold"):
        assert [row[name] for row in whole][1:] == [row[name] for row in parts]
    nets = [zero.load_model(tmp_path / folder / "model.safetensors")[0].state_dict() for folder in ("whole", "parts")]
    assert all(torch.equal(nets[0][name], nets[1][name]) for name in nets[0])
    lines = (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2, 3]
    assert (tmp_path / "whole" / "best.psol").read_text() == (tmp_path / "parts" / "best.psol").read_text()
    with pytest.raises(ValueError, match="already holds a run"):
        training(Morpion(), "zero", settings, tmp_path / "parts", 3)
    with pytest.raises(ValueError, match="was trained with channels=4, not 8"):
        training(Morpion(), "zero", replace(settings, channels=8), tmp_path / "parts", 3, resume=True)


def test_the_mean_moves_towards_the_net() -> None:
    learner = zero.Learner(replace(TINY, averaging=0.75), 0, torch.device("cpu"))
    with torch.no_grad():
        for mean, net in zip(learner.mean.parameters(), learner.net.parameters(), strict=True):
            mean.fill_(2.0)
            net.fill_(6.0)
    learner._average()
    assert all((mean == 3.0).all() for mean in learner.mean.parameters())
    assert all((net == 6.0).all() for net in learner.net.parameters())


def test_learning_raises_the_chances_of_the_best_games() -> None:
    settings = replace(TINY, channels=16, blocks=2, steps=60, batch=64, learning_rate=3e-3, averaging=0.9, ratio=0.75)
    learner = zero.Learner(settings, 0, torch.device("cpu"))
    ranking = nested.Ranking(GAME, 100)
    add(ranking, random_games(8, seed=5))
    first = learner.learn(ranking, 1)
    second = learner.learn(ranking, 1)
    assert second["policy_loss"] < first["policy_loss"] - 0.1
    assert second["value_loss"] < first["value_loss"]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny = [
        "--channels", "4", "--blocks", "1", "--games", "4", "--searches", "3", "--level", "2", "--steps", "2",
        "--search-iterations", "3", "--batch", "8",
    ]  # fmt: skip
    folder = tmp_path / "run"
    data = answer(
        capsys, "train", "morpion", "zero", "--preset", "small", "--iterations", "1", "--out", str(folder),
        *tiny,
    )  # fmt: skip
    assert data["metrics"]["iteration"] == 1
    data = answer(
        capsys, "evaluate", "morpion", str(folder / "model.safetensors"), "--seconds", "4", "--games", "4", "--level",
        "2", "--threads", "1",
    )  # fmt: skip
    assert data["net_alone"]["count"] == 4
    assert data["net_and_search"]["best"] > 0
    state = Morpion().parse_state(data["record"])
    assert len(state.moves) == max(data["net_alone"]["best"], data["net_and_search"]["best"])
    data = answer(capsys, "evaluate", "morpion", str(folder / "model.safetensors"), "--seconds", "1e-9", "--games", "4")
    assert data["net_and_search"]["count"] == 0  # playing took all the time
    foreign = tmp_path / "foreign.safetensors"
    foreign.write_bytes(b"not a net")
    check_refusal(capsys, ["evaluate", "morpion", str(foreign)], "is not a net written by Rookery")
    arguments = ["evaluate", "morpion", str(folder / "model.safetensors"), "--settings"]
    check_refusal(capsys, [*arguments, "gamez=3"], "unknown setting 'gamez' of zero; did you mean 'games'?")
    check_refusal(capsys, [*arguments, "games=many"], "games of zero must be a whole number, not 'many'")


@pytest.mark.slow
def test_half_an_hour_on_two_cores(tmp_path: Path) -> None:
    rows = trained(Morpion(), "zero", replace(zero.SMALL, minutes=30.0), tmp_path / "run")
    assert rows[-1]["best"] >= 70
    assert np.mean([row["played_mean"] for row in rows[-3:]]) >= 60


def test_seconds_go_on_when_a_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which every look takes a second."""
    clock = itertools.count()
    monkeypatch.setattr(zero, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    whole = trained(Morpion(), "zero", replace(TINY, iterations=3), tmp_path / "whole", 3)
    assert {row["play_seconds"] for row in whole} == {row["learn_seconds"] for row in whole} == {1}
    seconds = [row["seconds"] for row in whole]
    assert seconds[0] == 4  # when it begins to play, has played, has learned, and now
    assert seconds[2] - seconds[1] == seconds[1] - seconds[0] == 5  # one more look for the progress
    trained(Morpion(), "zero", replace(TINY, iterations=2), tmp_path / "parts", 3)
    (last,) = trained(Morpion(), "zero", replace(TINY, iterations=3), tmp_path / "parts", 3, resume=True)
    assert last["seconds"] == seconds[1] + 4
