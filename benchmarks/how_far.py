"""How far agents are from perfect play: python -m benchmarks.how_far [--game NAME] [--positions 400] [--seconds 4]

Every agent that needs no training is asked for a move in the same positions, and its move is compared with the exact
answer (`rookery.solve`). Positions come from random play, in checkers, endgames and Solitaire Chess from random starts,
and count only where a move can be wrong. Then it plays whole games (`rookery.exam`). An agent that takes longer than
the given CPU seconds for either is judged by what it has done so far. Prints a row of JSON per agent; with `--page`
writes the tables in docs/how-far.md anew.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean
from typing import Any

import rookery as rk
from benchmarks.page import put
from rookery.exam import Exam, examine
from rookery.game import TERMINAL, Game, State, play_chance
from rookery.statistics import wilson_interval

_ENDGAME = Exam("KRK", True, "score, a draw is 1/2", "best", opponent="oracle", sides=(0,), starts="random", moves=100)
EXAMS = {
    "checkers": replace(_ENDGAME, variant="two-kings"),
    "endgames": _ENDGAME,
    "solitaire-chess": Exam("4x4", True, "solved", "best", starts="random", moves=20),
    "tenten": Exam("4x4-seven", True, "points in 300 moves", "best", moves=300),
    "2048": Exam("2x3", True, "points", "oracle"),
    "morpion": Exam("4D", True, "moves, at most 35", "best"),
}
"""Variants with exact answers within seconds, and their whole games: against perfect defence in a game for two. Of
Morpion only the longest game is known."""
OTHERS = ("stockfish", "uci", "hub")
"""Agents that other programs play."""


def questions(game: Game, count: int, seed: int) -> Iterator[tuple[State, rk.Solution]]:
    """Positions in which a move can be wrong, with their exact answers."""
    found = 0
    for number in range(100 * count):
        rng = random.Random(f"{seed}/{number}")
        state = game.random_start(rng)
        play_chance(state, rng)
        for _ in range(rng.randrange(30) if game.has_chance() else 0):
            if state.player() == TERMINAL:
                break
            state.apply(rng.choice(state.legal_actions()))
            play_chance(state, rng)
        if state.player() == TERMINAL:
            continue
        answer = rk.solve(state)
        if len(set(answer.values.values())) > 1:
            yield state, answer
            found += 1
        if found == count:
            return


def near(one: float, other: float) -> bool:
    """Whether two values are the same but for rounding."""
    return abs(one - other) <= 1e-9 * max(1.0, abs(one))


def judge(game: Game, agent: rk.Agent, asked: list[tuple[State, rk.Solution]], seconds: float) -> dict[str, Any]:
    """The share of best moves of an agent, and of moves that keep the result of a game for two."""
    rng = random.Random(0)
    best, kept = [], []
    begin = time.process_time()
    for state, answer in asked:
        if time.process_time() - begin > seconds:
            break
        value = answer.values[agent.choose(state.clone(), rng)]
        best.append(near(answer.value, value))
        kept.append(round(value) == round(answer.value))
    spent = time.process_time() - begin
    row = {"positions": len(best), "best": mean(best), "interval": wilson_interval(sum(best), len(best))}
    return row | ({"kept": mean(kept)} if game.players == 2 else {}) | {"milliseconds": 1000 * spent / len(best)}


def whole_games(game: Game, exam: Exam, agent: rk.Agent, seconds: float) -> dict[str, Any]:
    """The mean score of an agent in whole games."""
    opponent = rk.agent(exam.opponent, game) if exam.opponent else None
    begin = time.process_time()
    scores = examine(game, exam, agent, opponent, 2, 0)
    each = (time.process_time() - begin) / 2
    if (games := min(exam.games, int(seconds / max(each, 1e-6)))) > 2:
        scores = examine(game, exam, agent, opponent, games, 0)
    return {"games": len(scores), "score": mean(scores)}


def rows(name: str, positions: int, seconds: float, seed: int) -> list[dict[str, Any]]:
    """The rows of a game, best agents first."""
    exam = EXAMS[name]
    game = rk.load(name, exam.variant, **exam.options)
    asked = list(questions(game, positions, seed)) if name != "morpion" else []
    found = []
    for one in rk.agent_names(game, ready=True):
        if one in OTHERS:
            continue
        agent = rk.agent(one, game)
        if asked:
            agent.choose(asked[0][0].clone(), random.Random(0))  # it loads what it needs
        row: dict[str, Any] = {"game": name, "variant": exam.variant, "agent": one}
        row |= judge(game, agent, asked, seconds) if asked else {}
        found.append(row | whole_games(game, exam, agent, seconds))
        print(json.dumps(found[-1]), flush=True)
    return sorted(found, key=lambda row: (-float(row.get("kept", 0)), -float(row.get("best", 0)), -row["score"]))


def table(found: list[dict[str, Any]]) -> str:
    """The tables of all games as Markdown."""
    lines: list[str] = []
    last = ""
    for row in found:
        exam = EXAMS[row["game"]]
        if row["game"] != last:
            last = row["game"]
            kept = "moves that keep the result | " if "kept" in row else ""
            best = "best moves (95% interval) | " if "best" in row else ""
            lines += ["", f"**{rk.GAMES[last].title}, `{exam.variant}`**", ""]
            lines += [f"| agent | {kept}{best}{exam.unit} (whole games) |{' CPU per move |' if best else ''}"]
            lines += ["|---|" + "---|" * (1 + bool(kept) + 2 * bool(best))]
        cells = [f"`{row['agent']}`"]
        cells += [f"{row['kept']:.1%}"] if "kept" in row else []
        if "best" in row:
            low, high = row["interval"]
            cells.append(f"{row['best']:.1%} ({100 * low:.1f} to {100 * high:.1f})")
        share = exam.unit.startswith(("score", "solved"))
        cells.append((f"{row['score']:.1%}" if share else f"{row['score']:,.1f}") + f" ({row['games']})")
        cells += [f"{row['milliseconds']:.2g} ms"] if "best" in row else []
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=list(EXAMS), nargs="*", default=list(EXAMS))
    parser.add_argument("--positions", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    found = []
    for name in arguments.game:
        found += rows(name, arguments.positions, arguments.seconds, arguments.seed)
    if arguments.page:
        put("how-far.md", "python -m benchmarks.how_far --page", table(found))


if __name__ == "__main__":
    main()
