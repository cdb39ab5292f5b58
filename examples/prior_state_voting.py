"""Prior State Voting for any game for two on a grid: known positions vote on unknown ones, without code for the game.

A Q-table learns from a few games only; in positions it never met, it moves at random or lets those it knows vote.

Run it: python examples/prior_state_voting.py
        python examples/prior_state_voting.py endgames KQK
"""

from __future__ import annotations

import random
import sys

import rookery
from rookery.game import Game, State
from rookery.learn.voting import PriorStateVoting
from rookery.statistics import wilson_interval

QTable = dict[bytes, dict[int, float]]


def learn(
    game: Game, games: int, seed: int, alpha: float = 0.5, epsilon: float = 0.5
) -> tuple[QTable, PriorStateVoting]:
    """Q-learning by self-play: after a game, walk back through each player's moves. Returns the table and its votes."""
    rng = random.Random(seed)
    table: QTable = {}
    states: dict[bytes, State] = {}
    for _ in range(games):
        state, history = game.random_start(rng), list[tuple[State, int]]()
        while state.player() >= 0:
            known = table.get(state.key())
            greedy = known is not None and rng.random() >= epsilon
            action = best(known, rng) if known is not None and greedy else rng.choice(state.legal_actions())
            history.append((state.clone(), action))
            state.apply(action)
        for player, reward in enumerate(state.returns()):
            max_next = 0.0
            for position, action in reversed([step for step in history if step[0].player() == player]):
                values = table.setdefault(position.key(), dict.fromkeys(position.legal_actions(), 0.0))
                values[action] += alpha * (reward + max_next - values[action])
                max_next = max(values.values())
                states[position.key()] = position
    voting = PriorStateVoting()
    for key, values in table.items():
        for action, q in values.items():
            voting.learn(states[key], action, q)
    return table, voting


def best(values: dict[int, float], rng: random.Random) -> int:
    most = max(values.values())
    return rng.choice([action for action, value in values.items() if value == most])


def points_against_random(
    game: Game, table: QTable, voting: PriorStateVoting | None, games: int, seed: int, sides: tuple[int, ...] = (0, 1)
) -> tuple[float, float]:
    """Points won from positions of `random_start`, and the share of moves in known positions. Without votes, unknown
    positions are played at random."""
    rng = random.Random(seed)
    points, moves, known = 0.0, 0, 0
    for number in range(games):
        state, own = game.random_start(rng), sides[number % len(sides)]
        while state.player() >= 0:
            values = dict.fromkeys(state.legal_actions(), 0.0)
            if state.player() == own:
                moves, known = moves + 1, known + (state.key() in table)
                values = table.get(state.key()) or (voting.values(state) if voting else values)
            state.apply(best(values, rng))
        points += (1 + state.returns()[own]) / 2
    return points, known / moves


def main(name: str = "examples/tic_tac_toe.py", material: str = "") -> None:
    game = rookery.load(name, material=material) if material else rookery.load(name)
    sides, levels, games = ((0,), (300, 1000), 100) if material else ((0, 1), (5, 20, 80), 1000)
    for trained in levels:
        table, voting = learn(game, trained, seed=1)
        print(f"{trained} games, {len(table)} positions learned; share of points against random with 95% intervals:")
        for fallback, votes in (("random", None), ("voting", voting)):
            points, known = points_against_random(game, table, votes, games, 2, sides)
            low, high = wilson_interval(points, games)
            print(f"  {fallback}: {points / games:.1%} ({low:.1%} to {high:.1%}), {known:.1%} of the positions known")


if __name__ == "__main__":
    main(*sys.argv[1:])
