"""A process in which agents think: `python -m rookery.web.worker [FILE.py ...]`.

It reads one JSON request a line from standard input and answers each with one or more JSON lines, the last of which has
the key `done` or `error`. Whoever started it stops a search by killing it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from rookery.agents import Agent, Explanation
from rookery.game import Overlay, State
from rookery.games.endgames import tables as exact_endgames
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import LEVELS, STUCK, hints, make_puzzles, make_solo_puzzles
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.registry import agent as load_agent
from rookery.registry import agent_names
from rookery.web.own_games import load_games
from rookery.web.plays import replay, rules
from rookery.web.store import Play

Row = dict[str, Any]


@lru_cache(maxsize=32)
def _agent(name: str, game: str, variant: str | None, folder: str | None = None, seconds: float = 0) -> Agent:
    """An agent by name, or one of a run: `seconds` tells what it was before the run went on from what it is now."""
    return load_agent(name, rules(game, variant), Path(folder) if folder else None)


def _asked(name: str, request: Row) -> Agent:
    """The agent of a request, or another one with the same game."""
    if trained := request.get("trained"):
        return _agent(trained["agent"], request["game"], request["variant"], trained["folder"], trained["seconds"])
    return _agent(name, request["game"], request["variant"])


def _state(request: Row) -> State:
    play = Play(request["game"], request["variant"], request["start"], 0, [], request["actions"])
    play.cursor = len(play.actions)
    return replay(play).state


def stages(name: str) -> list[str]:
    """The agents to ask one after the other, so that a slow search shows what it has so far.

    >>> stages("minimax:depth=3"), stages("mcts:simulations=4000")
    (['minimax:depth=1', 'minimax:depth=2', 'minimax:depth=3'], ['mcts:simulations=400', 'mcts:simulations=4000'])
    """
    base, _, setting = name.partition(":")
    key, _, number = setting.partition("=")
    if base == "minimax" and key == "depth":
        return [f"{base}:{key}={depth}" for depth in range(1, int(number) + 1)]
    if base == "mcts" and key == "simulations" and int(number) > 1000:
        return [f"{base}:{key}={int(number) // 10}", name]
    return [name]


def explain(request: Row) -> Iterator[Row]:
    """What an agent thinks of every move, and why."""
    state = _state(request)
    if state.player() < 0:
        raise ValueError("there is nothing to choose in this position")
    for name in stages(request["agent"]):
        why = _asked(name, request).explain(state)
        values = {action: _finite(value) for action, value in why.values.items()}
        ranked = sorted(values, key=lambda action: -values[action])
        marks = Overlay(why.overlay.highlights, why.overlay.arrows, why.overlay.labels)
        drawings = [{"title": drawing.title, "svg": drawing.svg} for drawing in why.drawings]
        yield {
            "agent": name,
            "action": why.action,
            "name": state.action_name(why.action),
            "values": [{"action": a, "name": state.action_name(a), "value": values[a]} for a in ranked],
            "reasons": why.reasons,
            "values_svg": state.svg(Overlay(values=why.values)),
            "why_svg": state.svg(marks) if marks != Overlay() else None,
            "drawings": drawings,
        }


def _finite(value: float) -> float:
    """JSON has no infinity."""
    return max(-1e300, min(1e300, value)) if value == value else 0.0


def choose(request: Row) -> Iterator[Row]:
    """The move an agent plays."""
    state = _state(request)
    agent = _asked(request["agent"], request)
    yield {"action": int(agent.choose(state, random.Random(request["seed"])))}


def hint(request: Row) -> Iterator[Row]:
    """Three sentences, each telling more than the one before, and what to light up with them."""
    state = _state(request)
    if isinstance(state, SolitaireChessState):
        told = hints(state)
        stuck = told == (STUCK,)
        cells = [] if len(told) < 3 else state.action_cells(_first_move(state))
        yield {"stuck": stuck, "hints": list(told), "cells": [cells[:1], cells, cells] if cells else [[]]}
        return
    if state.player() < 0:
        raise ValueError("the game is over")
    why = _helper(request, state)
    cells = state.action_cells(why.action)
    preview = getattr(state, "preview_cells", None)
    where = preview(why.action) if preview else cells
    first = "The move begins on the lit square." if cells else "There is a move worth a look."
    yield {
        "stuck": False,
        "hints": [first, f"Play {state.action_name(why.action)}.", "; ".join(why.reasons[:3]) + "."],
        "cells": [cells[:1], where, where],
    }


def _helper(request: Row, state: State) -> Explanation:
    """What the first of the strongest agents says that can answer here."""
    known = agent_names(state.game)
    for name in ("oracle", "best"):
        if name in known:
            with contextlib.suppress(ValueError, OSError):
                return _agent(name, request["game"], request["variant"]).explain(state)
    return _agent("mcts:simulations=1000", request["game"], request["variant"]).explain(state)


def _first_move(state: SolitaireChessState) -> int:
    moves = solve(state).moves
    assert moves
    return int(moves[0])


def judge(request: Row) -> Iterator[Row]:
    """What the last action was worth, by the exact answer: `verdict` is good, slower or bad."""
    action = request["actions"][-1]
    before = _state(request | {"actions": request["actions"][:-1]})
    if before.player() < 0:
        raise ValueError("that was chance, not a move")
    if isinstance(before, EndgamesState):
        yield _judge_endgame(before, action)
        return
    values = _agent("oracle", request["game"], request["variant"]).values(before)
    best, got = max(values.values()), values[action]
    name = before.action_name(action)
    if isinstance(before, SolitaireChessState):
        if best == 0:
            yield {"verdict": "bad", "text": STUCK}
        elif got == 0:
            yield {"verdict": "bad", "text": f"{name} spoils the puzzle. {STUCK}"}
        else:
            yield {"verdict": "good", "text": "Still solvable."}
        return
    if got == best:
        yield {"verdict": "good", "text": f"{name} is a best move ({got:.4g})."}
    else:
        top = before.action_name(max(values, key=lambda a: values[a]))
        verdict = "bad" if best > 0 >= got else "slower"
        yield {"verdict": verdict, "text": f"{name} is worth {got:.4g}; the best was {top}, {best:.4g}."}


def _judge_endgame(before: EndgamesState, action: int) -> Row:
    solution = exact_endgames.solve(before)
    was, got = solution.dtm, solution.moves[action]
    name, best = before.action_name(action), before.action_name(solution.best_moves[0])

    def moves(plies: int) -> str:
        count = (abs(plies) + 1) // 2
        return f"{count} move{'s' if count > 1 else ''}"

    if was is not None and was > 0:
        if got is None or got < 0:
            now = "a draw" if got is None else "lost"
            return {
                "verdict": "bad",
                "text": f"{name} threw the win away: it was mate in {moves(was)} with {best}, now it is {now}.",
            }
        if got > was:
            return {"verdict": "slower", "text": f"{name} still wins, in {moves(got)}; {best} mates in {moves(was)}."}
        return {"verdict": "good", "text": f"{name} is best: mate in {moves(got)}." if got > 1 else f"{name} mates."}
    if was is None:
        if got is None:
            return {"verdict": "good", "text": f"{name} holds the draw."}
        return {"verdict": "bad", "text": f"{name} loses, in {moves(got)}; {best} was a draw."}
    if got is not None and got > was:
        return {"verdict": "slower", "text": f"{name} is mated in {moves(got)}; {best} lasts {moves(was)}."}
    return {"verdict": "good", "text": f"{name} lasts as long as possible: {moves(was)}."}


def puzzle(request: Row) -> Iterator[Row]:
    """A Solitaire Chess puzzle by level and seed."""
    level, seed = request["level"], request["seed"]
    if level == "solo":
        game = rules("solitaire-chess", "solo-8x8")
        assert isinstance(game, SolitaireChess)
        yield {"variant": "solo-8x8", "start": str(make_solo_puzzles(game, 12, 1, seed)[0])}
    elif level in LEVELS:
        made = make_puzzles(level, 1, seed)[0]
        yield {"variant": "4x4", "start": made.rows, "rating": made.rating, "final": made.final}
    else:
        raise ValueError(f"unknown level {level!r}; known levels: {', '.join(LEVELS)}, solo")


def endgame(request: Row) -> Iterator[Row]:
    """An endgame to win, by seed."""
    game = rules("endgames", request["variant"])
    assert isinstance(game, Endgames)
    yield {"start": str(exact_endgames.start_to_practise(game, random.Random(request["seed"])))}


TASKS: dict[str, Callable[[Row], Iterator[Row]]] = {
    "explain": explain, "choose": choose, "hint": hint, "judge": judge, "puzzle": puzzle, "endgame": endgame,
}  # fmt: skip


def answer(request: Row) -> Iterator[Row]:
    try:
        yield from TASKS[request["task"]](request)
        yield {"done": True}
    except (ValueError, OSError) as error:
        # The system's own errors name files of this machine; ours are sentences.
        system = isinstance(error, OSError) and error.errno is not None
        sentence = "a file that the agent needs cannot be read" if system else " ".join(str(error).split())[:500]
        yield {"error": sentence}
    except Exception as error:  # a defect: the log has it whole, the page one sentence
        sys.excepthook(type(error), error, error.__traceback__)
        yield {"error": f"the agent failed ({type(error).__name__})"}


def _end_with(parent: int) -> None:
    """A search must not outlive a server that was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # What an agent prints must not get between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    load_games([Path(name) for name in sys.argv[1:]])
    for line in sys.stdin:
        for row in answer(json.loads(line)):
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
