"""Games of an agent trained by `zero` against another agent, side by side: the net sees all of them in one batch.

    python -m benchmarks.zero_match checkers runs/zero ladder:depth=3 --games 200 --simulations 200

Every start is played twice, with sides exchanged. It is what `rookery arena` plays, several times as fast.
"""

from __future__ import annotations

import argparse
import random

import torch

import rookery
from rookery.game import TERMINAL, native
from rookery.learn import zero
from rookery.run import Run
from rookery.statistics import wilson_interval


def play(game: rookery.Game, agent: zero.ZeroAgent, opponent: rookery.Agent, games: int, seed: int) -> list[float]:
    """The results of the agent's games: 1 won, 0 drawn, -1 lost."""
    rngs = [random.Random(f"{seed}/{number}") for number in range(games)]
    states = [game.random_start(random.Random(f"{seed}/{number // 2}")) for number in range(games)]
    like = native(game.initial_state())
    while live := [number for number, state in enumerate(states) if state.player() != TERMINAL]:
        mine = [number for number in live if states[number].player() == number % 2]
        if mine:
            trees = like.Puct(like, len(mine), agent.exploration, agent.threshold, prove=True, seed=seed)
            for tree, number in enumerate(mine):
                trees.restart(tree, native(states[number], like))
            zero.together(agent.net, zero.grow(trees, agent.simulations, 1 if agent.simulations < 200 else 4))
            for tree, number in enumerate(mine):
                states[number].apply(max(trees.moves(tree), key=lambda move: (move[1], move[3]))[0])
        for number in live:
            if number not in mine:
                states[number].apply(opponent.choose(states[number], rngs[number]))
    return [state.returns()[number % 2] for number, state in enumerate(states)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("run")
    parser.add_argument("opponent")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)  # batches are small: threads would wait for each other
    game = rookery.load(given.game)
    agent = zero.load(game, Run.open(given.run).folder / zero.MODEL, given.simulations)
    results = play(game, agent, rookery.agent(given.opponent, game), given.games, given.seed)
    won, drawn = results.count(1), results.count(0)
    low, high = wilson_interval(won + drawn / 2, len(results))
    share = (won + drawn / 2) / len(results)
    print(f"{won} won, {drawn} drawn, {len(results) - won - drawn} lost: {share:.1%} ({low:.1%} to {high:.1%})")


if __name__ == "__main__":
    main()
