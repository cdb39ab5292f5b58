"""The checkers engine against the fixed-depth search that it took the place of, at a given CPU time per move.

    python -m benchmarks.checkers_engine --games 400 --seconds 0.005 --depth 9

Games start from random three-ply openings, each played twice with colours exchanged. The depth of the other search is
fixed: 9 takes about 5 ms per move, 11 about 50 ms. It knows solved endgames of four pieces. With `--nodes` the result
is the same on every machine. With `--paced --depth 0` the paced engine plays against itself with fixed limits.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from rookery.games.checkers import database, net, td
from rookery.games.checkers.agents import CONTEMPT
from rookery.games.checkers.search import Player, play_match


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=0.005, help="CPU time of the engine per move")
    parser.add_argument("--nodes", type=int, default=0, help="positions of the engine per move, instead of time")
    parser.add_argument("--depth", type=int, default=9, help="of the other search; 0: the engine, not paced")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pieces", type=int, default=database.PIECES, help="solved endgames that the engine looks up")
    parser.add_argument("--paced", action="store_true", help="time or positions are roughly the average per move")
    parser.add_argument("--threads", type=int, default=0, help="games at a time; 0 for all cores")
    given = parser.parse_args()
    seconds = 0.0 if given.nodes else given.seconds
    solved = database.load(given.pieces).native
    engine = Player(0, net.load(), solved, given.nodes, seconds, CONTEMPT, paced=given.paced)
    former = Player(given.depth, td.load(), database.load().native) if given.depth else replace(engine, paced=False)
    result = play_match(engine, former, given.games, given.seed, given.threads, opening=3)
    low, high = result.interval
    ours, theirs = (
        f"{1000 * seconds:.2f} ms ({nodes:,.0f} positions)"
        for seconds, nodes in zip(result.seconds_per_move, result.nodes_per_move, strict=True)
    )
    print(f"engine: {result.score:.1%} [{low:.1%}, {high:.1%}] (+{result.wins} ={result.draws} -{result.losses})")
    print(f"CPU time per move: engine {ours}, the other {theirs}")
    print(f"solved endgames won and not scored as wins: engine {result.thrown[0]}, the other {result.thrown[1]}")


if __name__ == "__main__":
    main()
