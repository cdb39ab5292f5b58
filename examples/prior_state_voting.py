"""Prior State Voting for a game of your own: tell it what an action looks like on the board, and it votes.

A Q-table of tic-tac-toe learns from a few games only; in positions it never met, it moves at random or lets those
it knows vote. Run it: python examples/prior_state_voting.py
"""

from __future__ import annotations

import random

import numpy as np
from tic_tac_toe import TicTacToe, TicTacToeState

from rookery.game import State
from rookery.learn.voting import PriorStateVoting, View

GAME = TicTacToe()
QTable = dict[bytes, dict[int, float]]


def view(state: State, action: int) -> View:
    """To place a mark is the same action everywhere; it is laid upon another one by its cell."""
    assert isinstance(state, TicTacToeState)
    cells = np.array([".xo".index(mark) for mark in state.cells], np.int8).reshape(3, 3)
    return View(cells, divmod(action, 3), state.player())


def learn(games: int, seed: int, alpha: float = 0.5, epsilon: float = 0.5) -> tuple[QTable, PriorStateVoting]:
    """Q-learning by self-play: after a game, walk back through each player's moves. Returns the table and its votes."""
    rng = random.Random(seed)
    table: QTable = {}
    states: dict[bytes, State] = {}
    for _ in range(games):
        state, history = GAME.initial_state(), list[tuple[State, int]]()
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
    voting = PriorStateVoting(view)
    for key, values in table.items():
        for action, q in values.items():
            voting.learn(states[key], action, q)
    return table, voting


def best(values: dict[int, float], rng: random.Random) -> int:
    most = max(values.values())
    return rng.choice([action for action, value in values.items() if value == most])


def points_against_random(table: QTable, voting: PriorStateVoting | None, games: int, seed: int) -> float:
    """Share of points, half of the games with each mark. Without votes, unknown positions are played at random."""
    rng = random.Random(seed)
    points = 0.0
    for game in range(games):
        state, own = GAME.initial_state(), game % 2
        while state.player() >= 0:
            actions = state.legal_actions()
            values = dict.fromkeys(actions, 0.0)
            if state.player() == own:
                values = table.get(state.key()) or (voting.values(state) if voting else values)
            state.apply(best(values, rng))
        points += (1 + state.returns()[own]) / 2
    return points / games


if __name__ == "__main__":
    for games in (5, 20, 80):
        table, voting = learn(games, seed=1)
        at_random, with_votes = (points_against_random(table, v, 1000, seed=2) for v in (None, voting))
        print(f"{games} games, {len(table)} positions: {at_random:.1%} of the points, {with_votes:.1%} with votes")
