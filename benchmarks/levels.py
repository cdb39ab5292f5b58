"""How strong the levels are that people meet: python -m benchmarks.levels GAME [--variant V] [--games 100] [--most 300]

In a game for one, every level plays the given number of games from starts for a person; reported are the mean of the
return, or the share of games that reach the best one. A game that lasts longer than `--most` moves is stopped there and
counted as it stands. In a game for two, the exact agent plays the first side from positions that it wins; reported is
the mean number of moves until it has won.
"""

from __future__ import annotations

import argparse
import json
import random
from statistics import mean

from rookery import registry
from rookery.agents import Agent
from rookery.game import TERMINAL, Game, play_chance


def measure(game: Game, name: str, games: int, most: int) -> dict[str, float]:
    exact = registry.agent("oracle", game) if game.players == 2 else None
    agent = registry.agent(name, game)
    lengths, returns, ended = [], [], 0
    for seed in range(games):
        rng = random.Random(seed)
        state = (exact or Agent()).practice_start(game, rng)
        length = 0
        while state.player() != TERMINAL and length < most:
            mover = exact if exact and state.player() == 0 else agent
            state.apply(mover.choose(state, rng))
            play_chance(state, rng)
            length += 1
        ended += state.player() == TERMINAL
        lengths.append(length)
        score = getattr(state, "score", None)
        returns.append(float(state.returns()[0] if state.player() == TERMINAL or score is None else score))
    row = {"games": games, "ended": ended, "mean_plies": mean(lengths), "mean_return": mean(returns)}
    if game.best_return is not None:
        row["solved"] = mean(value >= game.best_return for value in returns)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("--variant")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--agents", nargs="*", help="other agents than the levels of the game")
    arguments = parser.parse_args()
    game = registry.load(arguments.game, arguments.variant or registry.GAMES[arguments.game].play_variant)
    for name in arguments.agents or [level.agent for level in game.levels()]:
        print(json.dumps({"agent": name} | measure(game, name, arguments.games, arguments.most)), flush=True)


if __name__ == "__main__":
    main()
