"""Games of a checkers agent against engines that are not ours, from package registries.

    python -m benchmarks.checkers_packages rapid-draughts --depth 9 --agent best:book=no --games 40
    python -m benchmarks.checkers_packages samuel --depth 12 --agent best:book=no,seconds=0.005 --games 400

`rapid-draughts` is an alpha-beta player in TypeScript from npm; depth 9 takes about 0.6 seconds of CPU time per move.
`samuel` is a C++ engine from PyPI, that of Gui Checkers 1.05, with endgame databases of up to four pieces; it plays
without its opening book. They are installed into `build`, which needs Node.js and npm for the one and a C++ compiler
for the other, and run in processes of their own.

Every opening of three random plies is played twice, with colours exchanged.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import rookery
from rookery.game import TERMINAL, State
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action
from rookery.statistics import wilson_interval

FOLDER = Path("build/checkers-packages")

RAPID_DRAUGHTS = "rapid-draughts@1.0.6"
RAPID_DRAUGHTS_PLAYER = """
import { createInterface } from 'node:readline';
import { EnglishDraughts, EnglishDraughtsComputerFactory } from 'rapid-draughts/english';

const player = EnglishDraughtsComputerFactory.alphaBeta({ maxDepth: Number(process.argv[2]) });
const sorted = (squares) => [...squares].sort((a, b) => a - b);
const text = (from, to, captured) => JSON.stringify([from, to, sorted(captured)]);
const textOf = (move) => text(move.origin + 1, move.destination + 1, move.captures.map((square) => square + 1));
for await (const line of createInterface({ input: process.stdin })) {
  const game = EnglishDraughts.setup();
  const [played, legal] = JSON.parse(line);
  const written = ([path, captured]) => text(path[0], path.at(-1), captured);
  for (const move of played) game.move(game.moves.find((other) => textOf(other) === written(move)));
  const before = process.cpuUsage();
  const move = game.status === 'playing' ? textOf(await player(game)) : undefined;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify([legal.findIndex((other) => written(other) === move), (user + system) / 1e6]));
}
"""

SAMUEL = "samuel==0.1.9"
SAMUEL_PLAYER = """
import json, os, sys, time

folder, depth = sys.argv[1:]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the engine prints
from samuel import engine

data = folder + "/share/samuel/data/"
engine.init("", data + "2pc.cdb", data + "3pc.cdb", data + "4pc.cdb")
engine.setlevel(3, int(depth), 3600)
first = [5, 10, 14, 19, 23, 28, 32, 37]
places = [row + 3 - i for row in first for i in range(4)]  # of squares 1 to 32

def board(squares):
    return [squares[place] for place in places]

for line in sys.stdin:
    played, legal = json.loads(line)
    before = board(engine.newgame())
    for path, _ in played:
        for step in zip(path, path[1:]):
            before = board(engine.hmove(places[step[0] - 1], places[step[1] - 1]))
    start, mover = time.process_time(), 1 + len(played) % 2
    after = board(engine.cmove(str(mover)))
    seconds = time.process_time() - start
    left = {square for square in range(1, 33) if before[square - 1] and not after[square - 1]}
    reached = {square for square in range(1, 33) if after[square - 1] and not before[square - 1]}
    moves = [({path[0], *captured} - {path[-1]}, {path[-1]} - {path[0]}) for path, captured in legal]
    print(json.dumps([moves.index((left, reached)), seconds]), file=answers, flush=True)
"""

Move = tuple[Sequence[int], Sequence[int]]
"""The squares of a piece, from its first to its last, and those of the pieces that it captures."""


class Opponent:
    """An engine in a process of its own. It reads the moves so far and the legal ones, and answers with the number of
    the one it plays, or -1 where its rules end the game, and the CPU seconds that it took."""

    def __init__(self, name: str, depth: int) -> None:
        folder = FOLDER / name
        command = self.rapid_draughts(folder) if name == "rapid-draughts" else self.samuel(folder)
        self.process = subprocess.Popen(
            [*command, str(depth)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    @staticmethod
    def rapid_draughts(folder: Path) -> list[str]:
        if not (folder / "node_modules").exists():
            folder.mkdir(parents=True, exist_ok=True)
            options = ["--silent", "--no-audit", "--no-fund"]
            subprocess.run(["npm", "install", "--prefix", folder, *options, RAPID_DRAUGHTS], check=True)
        program = folder / "player.mjs"
        program.write_text(RAPID_DRAUGHTS_PLAYER, encoding="utf-8")
        return ["node", str(program)]

    @staticmethod
    def samuel(folder: Path) -> list[str]:
        if not folder.exists():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
            subprocess.run([*pip, SAMUEL], check=True)
        program = folder / "player.py"
        program.write_text(SAMUEL_PLAYER, encoding="utf-8")
        return [sys.executable, str(program), str(folder)]

    def choose(self, played: list[Move], legal: list[Move]) -> tuple[int, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([played, legal]), file=self.process.stdin, flush=True)
        number, seconds = json.loads(self.process.stdout.readline())
        return number, seconds

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Times:
    """Mean CPU time per move of one side."""

    def __init__(self) -> None:
        self.seconds, self.moves = 0.0, 0

    def add(self, seconds: float) -> None:
        self.seconds += seconds
        self.moves += 1

    def __str__(self) -> str:
        return f"{1000 * self.seconds / max(1, self.moves):.1f} ms"


def play(
    agent: rookery.Agent, opponent: Opponent, start: list[int], side: int, rng: random.Random, times: list[Times]
) -> float:
    """The result of one game for the agent, which has the given side: 1 won, 0 drawn, -1 lost."""
    state: State = Checkers().initial_state()
    played: list[Move] = []
    openings = iter(start)
    while state.player() != TERMINAL:
        assert isinstance(state, CheckersState)
        if (action := next(openings, None)) is None:
            if state.player() == side:
                before = time.process_time()
                action = agent.choose(state, rng)
                times[0].add(time.process_time() - before)
            else:
                actions = state.legal_actions()
                number, seconds = opponent.choose(played, [decode_action(action) for action in actions])
                times[1].add(seconds)
                if number < 0:
                    return 0.0
                action = actions[number]
        played.append(decode_action(action))
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
    parser.add_argument("opponent", choices=["rapid-draughts", "samuel"])
    parser.add_argument("--depth", type=int, default=9, help="plies that the opponent looks ahead")
    parser.add_argument("--agent", default="best:book=no")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    agent = rookery.agent(given.agent, rookery.load("checkers"))
    opponent = Opponent(given.opponent, given.depth)
    results: list[float] = []
    times = [Times(), Times()]
    try:
        for number in range(given.games):
            rng = random.Random(f"{given.seed}/{number // 2}")
            results.append(play(agent, opponent, opening(rng), number % 2, rng, times))
            won, drawn = results.count(1), results.count(0)
            low, high = wilson_interval(won + drawn / 2, len(results))
            print(f"{len(results)} games: {won} won, {drawn} drawn, {len(results) - won - drawn} lost; "
                  f"{(won + drawn / 2) / len(results):.1%} [{low:.1%}, {high:.1%}]; {times[0]} and {times[1]} "
                  "per move", flush=True)  # fmt: skip
    finally:
        opponent.close()


if __name__ == "__main__":
    main()
