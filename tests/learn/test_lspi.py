from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rookery
from rookery.game import TERMINAL, Game, State, play_chance
from rookery.games.tenten import lspi as special
from rookery.learn import lspi
from rookery.learn.lspi import Features, LspiAgent, Settings, Trainer
from rookery.learn.methods import Lspi
from rookery.training import train
from tests.tic_tac_toe import TicTacToe

GAME = TicTacToe()
NIM = rookery.load("examples/nim.py", heaps=(1, 2, 3))


def test_a_feature_per_position_gives_exact_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is approximated: every move of Nim has the value that plain recursion finds."""
    numbers: dict[bytes, int] = {}

    def one_per_position(self: Game, state: State) -> list[float]:
        number = numbers.setdefault(state.key(), len(numbers))
        return [float(i == number) for i in range(60)]

    monkeypatch.setattr(type(NIM), "features", one_per_position, raising=False)
    trainer = Trainer(NIM, Settings(epsilon=1.0, discount=0.9, keep=0.0, ridge=1e-9, games=32, steps=40), seed=1)
    for _ in range(6):
        trainer.iterate()
    agent = LspiAgent(trainer.features, trainer.weights)

    @cache
    def worth(text: str) -> dict[int, float]:
        state, values = NIM.parse_state(text), {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            over = after.player() == TERMINAL
            values[action] = after.returns()[state.player()] if over else -0.9 * max(worth(str(after)).values())
        for value, action in ((values[a], a) for a in values):
            assert agent.values(state)[action] == pytest.approx(value, abs=1e-4), (text, action)
        return values

    worth(str(NIM.initial_state()))
    assert worth.cache_info().currsize > 30


def test_patterns_are_counted() -> None:
    game = rookery.load("examples/connect_four.py", rows=4, columns=5)
    state, rng = game.initial_state(), random.Random(1)
    for _ in range(8):
        state.apply(rng.choice(state.legal_actions()))
    features = Features(game)
    [found] = features.of([state])
    planes = state.observation()
    contents = np.concatenate([planes, 1 - planes.max(axis=0, keepdims=True)])
    counts = []
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for a, b, c in np.ndindex(*[len(contents)] * 3):
            places = [
                [(row + i * down, column + i * right) for i in range(3)]
                for row, column in np.ndindex(*planes.shape[1:])
                if 0 <= row + 2 * down < planes.shape[1] and 0 <= column + 2 * right < planes.shape[2]
            ]
            counts.append(sum(contents[a][x] * contents[b][y] * contents[c][z] for x, y, z in places))
    cells = planes.size
    pairs = cells * (cells - 1) // 2 if features.pairs is not None else 0
    assert found[0] == 1
    assert np.array_equal(found[1 : 1 + cells], planes.ravel())
    assert np.array_equal(found[1 + cells + pairs :], counts)
    assert sum(counts) == 4 * 3 + 2 * 5 + 2 * 3 + 2 * 3  # places of three cells on 4x5


@pytest.mark.parametrize("name", ["checkers", "endgames", "morpion", "solitaire-chess", "tenten"])
def test_every_game_has_features(name: str) -> None:
    game = rookery.load(name)
    features = Features(game)
    assert 1 < features.size < 6000
    assert features.of([game.initial_state(), game.random_start(random.Random(1))]).shape == (2, features.size)


def test_tic_tac_toe_in_self_play(tmp_path: Path) -> None:
    run = train(GAME, "lspi", out=tmp_path / "run", iterations=4, steps=30, seed=1)
    played = rookery.match(GAME, run.agent(), "random", games=100, seed=1)
    assert played.wins > 80
    assert played.losses < 8  # random play loses 43 and wins as many
    assert [row["iteration"] for row in run.metrics] == [1, 2, 3, 4]


def play(agent: rookery.Agent, game: Game, games: int, most: int = 3000) -> list[int]:
    """Rounds of games of 1010!."""
    rng, rounds = random.Random(0), []
    for _ in range(games):
        state: Any = game.initial_state()
        while state.player() != TERMINAL and state.rounds < most:
            play_chance(state, rng)
            if state.player() != TERMINAL:
                state.apply(agent.choose(state, rng))
        rounds.append(state.rounds)
    return rounds


def trained(game: Game, seed: int, **settings: Any) -> LspiAgent:
    trainer = Trainer(game, Settings(**settings), seed)
    for _ in range(trainer.settings.iterations):
        trainer.iterate()
    return LspiAgent(trainer.features, trainer.weights)


def test_a_player_alone_with_chance() -> None:
    """1010! on 3x3: random play lasts 11 rounds, the special form 61, the best play 67."""
    game = rookery.load("tenten", "3x3-seven")
    agent = trained(game, 1, iterations=4)
    assert np.mean(play(agent, game, 40)) > 25


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["3x3-seven", "4x4-seven"])
def test_as_strong_as_the_special_form(variant: str, tmp_path: Path) -> None:
    game = rookery.load("tenten", variant)
    run = train(game, "lspi", out=tmp_path / "run", seed=1, updates=60)
    own = special.load(run.folder / "model.npz", game).play(400, seed=2026, max_rounds=3000).data()  # type: ignore[arg-type]
    rounds = play(trained(game, 1), game, 200)
    assert np.mean(rounds) + 1.96 * np.std(rounds) / np.sqrt(len(rounds)) > own["interval"][0]


def test_training_in_parts_is_training_at_once(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": 8, "steps": 10, "seed": 4}
    whole = train(NIM, "lspi", out=tmp_path / "whole", iterations=4, **settings)
    train(NIM, "lspi", out=tmp_path / "parts", iterations=2, **settings)
    resumed = train(NIM, "lspi", out=tmp_path / "parts", iterations=4, resume=True, **settings)
    one, other = (lspi.load(NIM, run.folder / "model.npz").weights for run in (whole, resumed))
    assert np.array_equal(one, other)


def test_it_stops_when_the_weights_settle(tmp_path: Path) -> None:
    run = train(NIM, "lspi", out=tmp_path / "run", games=16, steps=20, iterations=50, tolerance=0.2)
    assert len(run.metrics) < 50
    assert run.metrics[-1]["change"] < 0.2
    assert run.metrics[-1]["progress"] == 1


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ridge must be above 0"):
        Settings(ridge=0)
    run = train(NIM, "lspi", out=tmp_path / "run", games=2, steps=2, iterations=1)
    with pytest.raises(ValueError, match="weights for each player"):
        lspi.load(rookery.load("examples/nim.py", heaps=(1, 2)), run.folder / "model.npz")
    assert Lspi().misfit(GAME) is None
