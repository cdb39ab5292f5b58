"""Games of a checkers agent against the npm package `rapid-draughts`, an alpha-beta player that is not ours.

    python -m benchmarks.rapid_draughts --agent best:book=no --depth 9 --games 40

Every opening of three random plies is played twice, with colours exchanged. The package is installed into
`build/rapid-draughts`, which needs Node.js and npm. It takes about 0.6 seconds of CPU time per move at depth 9.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from pathlib import Path

import rookery
from rookery.game import TERMINAL, State
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action
from rookery.statistics import wilson_interval

PACKAGE = "rapid-draughts@1.0.6"
FOLDER = Path("build/rapid-draughts")
PROGRAM = """
import { createInterface } from 'node:readline';
import { EnglishDraughts, EnglishDraughtsComputerFactory } from 'rapid-draughts/english';

const player = EnglishDraughtsComputerFactory.alphaBeta({ maxDepth: Number(process.argv[2]) });
const text = (move) => JSON.stringify([move.origin, move.destination, [...move.captures].sort((a, b) => a - b)]);
for await (const line of createInterface({ input: process.stdin })) {
  const game = EnglishDraughts.setup();
  for (const played of JSON.parse(line)) game.move(game.moves.find((move) => text(move) === JSON.stringify(played)));
  const move = game.status === 'playing' ? await player(game) : undefined;
  console.log(move ? text(move) : 'null');
}
"""
Move = list[object]
"""Where a piece comes from, where it ends, and the squares of the captured pieces, ascending; squares from 0."""


class RapidDraughts:
    """The package in a Node.js process."""

    def __init__(self, depth: int) -> None:
        if not (FOLDER / "node_modules").exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            subprocess.run(["npm", "install", "--prefix", FOLDER, "--silent", "--no-audit", "--no-fund", PACKAGE],
                           check=True)  # fmt: skip
        program = FOLDER / "player.mjs"
        program.write_text(PROGRAM, encoding="utf-8")
        self.process = subprocess.Popen(
            ["node", program, str(depth)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def choose(self, moves: list[Move]) -> Move | None:
        """The move after these from the initial position; None where its rules end the game, as a draw."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(moves), file=self.process.stdin, flush=True)
        chosen: Move | None = json.loads(self.process.stdout.readline())
        return chosen

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def as_move(state: CheckersState, action: int) -> Move:
    """An action as the package writes it."""
    path, captured = decode_action(action)
    return [path[0] - 1, path[-1] - 1, sorted(square - 1 for square in captured)]


def play(agent: rookery.Agent, opponent: RapidDraughts, start: list[int], side: int, rng: random.Random) -> float:
    """The result of one game for the agent, which has the given side: 1 won, 0 drawn, -1 lost."""
    state: State = Checkers().initial_state()
    moves: list[Move] = []
    openings = iter(start)
    while state.player() != TERMINAL:
        assert isinstance(state, CheckersState)
        written = {action: as_move(state, action) for action in state.legal_actions()}
        if (action := next(openings, None)) is None:
            if state.player() == side:
                action = agent.choose(state, rng)
            elif (chosen := opponent.choose(moves)) is None:
                return 0.0
            else:
                action = next(action for action, move in written.items() if move == chosen)
        moves.append(written[action])
        state.apply(action)
    return state.returns()[side]


def opening(rng: random.Random) -> list[int]:
    """Three random plies."""
    state = Checkers().initial_state()
    actions: list[int] = []
    for _ in range(3):
        actions.append(rng.choice(state.legal_actions()))
        state.apply(actions[-1])
    return actions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="best:book=no")
    parser.add_argument("--depth", type=int, default=9)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    agent = rookery.agent(given.agent, rookery.load("checkers"))
    opponent = RapidDraughts(given.depth)
    results = []
    try:
        for number in range(given.games):
            rng = random.Random(f"{given.seed}/{number // 2}")
            results.append(play(agent, opponent, opening(rng), number % 2, rng))
            won, drawn = results.count(1), results.count(0)
            low, high = wilson_interval(won + drawn / 2, len(results))
            print(f"{len(results)} games: {won} won, {drawn} drawn, {len(results) - won - drawn} lost; "
                  f"{(won + drawn / 2) / len(results):.1%} [{low:.1%}, {high:.1%}]", flush=True)  # fmt: skip
    finally:
        opponent.close()


if __name__ == "__main__":
    main()
