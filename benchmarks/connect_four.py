"""How strong a trained Connect Four agent is: games against MCTS, and moves beside exact values.

    python -m benchmarks.connect_four runs/c4 --games 200 --positions 1000

`connect_four_solver.cpp` beside this file gives the exact values; it is compiled on first use with the C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import rookery
from rookery.agents import Agent
from rookery.game import State
from rookery.statistics import wilson_interval

SOLVER = Path(__file__).with_name("connect_four_solver.cpp")
GAME = rookery.load(str(Path(__file__).parents[1] / "examples" / "connect_four.py"))


def random_positions(count: int, least: int, most: int, seed: int) -> list[list[int]]:
    """The moves to different positions of random games that are not over, with a drawn number of discs."""
    rng = random.Random(seed)
    found: dict[bytes, list[int]] = {}
    while len(found) < count:
        state, moves, discs = GAME.initial_state(), list[int](), rng.randint(least, most)
        while state.player() >= 0 and len(moves) < discs:
            moves.append(rng.choice(state.legal_actions()))
            state.apply(moves[-1])
        if state.player() >= 0:
            found[state.key()] = moves
    return list(found.values())


def exact_values(positions: list[list[int]]) -> list[dict[int, int]]:
    """The value of every legal move for the side to move: 1 won, 0 drawn, -1 lost."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "solver"
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-O3", "-march=native", "-std=c++20", SOLVER, "-o", program], check=True)
        text = "".join("".join(str(move + 1) for move in moves) + "\n" for moves in positions)
        lines = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    return [{move: int(word) for move, word in enumerate(line.split()) if word != "."} for line in lines]


def position(moves: list[int]) -> State:
    state = GAME.initial_state()
    for move in moves:
        state.apply(move)
    return state


def values_kept(agent: Agent, positions: list[list[int]], values: list[dict[int, int]]) -> list[bool]:
    """Whether the agent's move keeps the value, position by position."""
    rng = random.Random(0)
    chosen = (agent.choose(position(moves), rng) for moves in positions)
    return [known[move] == max(known.values()) for move, known in zip(chosen, values, strict=True)]


def share(kept: list[bool]) -> str:
    low, high = wilson_interval(sum(kept), len(kept))
    return f"{sum(kept) / len(kept):.1%} of {len(kept)} ({low:.1%} to {high:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="an agent by name, or the folder of a run")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--opponent", default="mcts:simulations=1000")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--discs", type=int, nargs=2, default=(14, 30), metavar=("LEAST", "MOST"))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    agent = rookery.agent(args.agent, GAME)
    if args.positions:
        least, most = args.discs
        positions = random_positions(args.positions, least, most, args.seed)
        begin = time.process_time()
        values = exact_values(positions)
        print(f"{args.positions} positions with {least} to {most} discs, values of all moves known")
        kept = values_kept(agent, positions, values)
        seconds = time.process_time() - begin
        matters = [len(set(known.values())) > 1 for known in values]
        print(f"keeps the value in {share(kept)}; {1000 * seconds / len(kept):.0f} ms per move")
        print(f"where a move can lose it: {share([k for k, m in zip(kept, matters, strict=True) if m])}")
    if args.games:
        print(rookery.match(GAME, agent, args.opponent, games=args.games, seed=args.seed))


if __name__ == "__main__":
    main()
