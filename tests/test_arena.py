from __future__ import annotations

import json
import random

import numpy as np
import pytest
from examples.tic_tac_toe import TicTacToe

from rookery import agents, arena, load
from rookery.cli import main
from rookery.games import State
from rookery.statistics import Survival, bootstrap_interval, poisson_interval, wilson_interval


def test_the_better_agent_wins_with_sides_exchanged() -> None:
    game = TicTacToe()
    strong, weak = agents.load("minimax:depth=2", game), agents.load("random", game)
    match = arena.play_match(game, strong, weak, 10, seed=1)
    assert match.wins >= 8
    assert match.interval[0] > 0.5
    other_way = arena.play_match(game, weak, strong, 10, seed=1)
    assert other_way.losses >= 8
    assert arena.play_match(game, strong, weak, 10, seed=1) == match


def test_an_agent_draws_with_itself_on_the_same_pieces() -> None:
    game = load("tenten", "4x4-seven")

    class First(agents.ValueAgent):
        def values(self, state: State) -> dict[int, float]:
            return {action: -action for action in state.legal_actions()}

    match = arena.play_match(game, First(), First(), 10, seed=4)
    assert (match.wins, match.draws, match.losses) == (0, 10, 0)
    assert match.interval == (0, 0)
    assert match.means[0] == match.means[1] > 0


def test_chance_is_the_same_for_both() -> None:
    game = load("tenten", "3x3-three")
    seen: list[list[int]] = []

    class Watcher(agents.RandomAgent):
        def choose(self, state: State, rng: random.Random) -> int:
            if not state.cells:  # type: ignore[attr-defined]
                seen.append([])
            seen[-1].append(state.hand[0])  # type: ignore[attr-defined]
            return super().choose(state, rng)

    arena.play_match(game, Watcher(), Watcher(), 1, seed=3)
    draws = [piece for game_draws in seen for piece in game_draws]
    half = [i for i, game_draws in enumerate(seen) if i and game_draws[0] == seen[0][0]]
    assert half, "the second player starts with the same piece"
    assert len(draws) > 4


def test_settings_are_checked() -> None:
    game = TicTacToe()
    agent = agents.load("random", game)
    with pytest.raises(ValueError, match="must be even"):
        arena.play_match(game, agent, agent, 3)
    with pytest.raises(ValueError, match="at least 1"):
        arena.play_match(game, agent, agent, 0)


def test_intervals() -> None:
    # Textbook values: Wilson 8/10, Garwood for 5 events.
    assert wilson_interval(8, 10) == pytest.approx((0.490, 0.943), abs=1e-3)
    assert wilson_interval(0, 0) == (0, 1)
    assert poisson_interval(5) == pytest.approx((1.623, 11.668), abs=1e-3)
    assert poisson_interval(1000) == pytest.approx((938.97, 1063.95), abs=0.1)
    low, high = bootstrap_interval(np.random.default_rng(1).normal(5, 1, 400))
    assert low < 5 < high
    assert high - low == pytest.approx(2 * 1.96 / 20, rel=0.25)


def test_survival_counts_stopped_games_without_a_death() -> None:
    lengths = np.array([10, 20, 30, 40])
    whole = Survival(lengths, np.array([True] * 4), lengths)
    assert whole.mean == 25
    half = Survival(lengths, np.array([True, True, False, False]), lengths)
    assert half.mean == 50
    assert half.interval[0] == pytest.approx(100 / 7.2247, rel=1e-3)
    assert half.data()["deaths_per_million"] == 20_000


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--json"])
    assert stop.value.code == 0
    return dict(json.loads(capsys.readouterr().out))


def test_arena_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "arena", "tenten", "mcts:simulations=50", "random", "--games", "4", "--variant", "3x3-three")
    assert data["games"] == 4
    assert set(data) >= {"wins", "draws", "losses", "games", "interval"}


def test_explain_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(
        capsys, "explain", "tenten", "##./#.#/.## 1x1", "--variant", "3x3-three", "--agent", "mcts:simulations=50"
    )
    assert set(data["values"]) == {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
    assert data["action"] in data["values"]
    assert data["reasons"]


def test_play_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(["hint", "moves", "1x1@r3c3", "undo", "undo", "nonsense", "1x1@r1", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    data = answer(
        capsys, "play", "tenten", "--variant", "3x3-three", "--agent", "random", "--position", "##./.../... 1x1"
    )
    assert data["moves"] == ["1x1@r1c3"]
    assert str(data["position"]).startswith(".../.../...")


def test_play_against_an_agent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from rookery.games import GAMES, register

    register(TicTacToe)
    try:
        monkeypatch.setattr("builtins.input", lambda *_: "")
        game = TicTacToe()
        names = [game.initial_state().action_name(a) for a in game.initial_state().legal_actions()]
        words = iter([names[0], "quit"])
        monkeypatch.setattr("builtins.input", lambda *_: next(words))
        data = answer(capsys, "play", TicTacToe.name, "--agent", "minimax:depth=2")
        assert len(data["moves"]) == 2
    finally:
        del GAMES[TicTacToe.name]
