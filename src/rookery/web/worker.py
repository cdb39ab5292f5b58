"""A process in which agents think: `python -m rookery.web.worker USER_CODE`.

It reads one JSON request per line from standard input and answers each with one or more JSON lines, the last of which
has the key `done` or `error`. Whoever started it stops a search by killing it. USER_CODE is what
`registry.user_code_names` tells in the process that starts it, as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from rookery import registry
from rookery.agents import Agent, Hint
from rookery.game import TERMINAL, Overlay, State, play_chance
from rookery.studies.lesson import lesson, lessons
from rookery.web import forms
from rookery.web.plays import Replay, exact_agent, load_games, opponent, rules
from rookery.web.store import Play

Row = dict[str, Any]


@lru_cache(maxsize=32)
def _agent(name: str, game: str, variant: str | None, folder: str | None = None, seconds: float = 0) -> Agent:
    """An agent by name, or one of a run: `seconds` tells what it was before the run was resumed from what it is now."""
    return registry.agent(name, rules(game, variant), folder)


def _asked(request: Row) -> Agent:
    """The agent that a request names."""
    if trained := request.get("trained"):
        return _agent(trained["method"], request["game"], request["variant"], trained["folder"], trained["seconds"])
    return _agent(request["agent"], request["game"], request["variant"])


def _state(request: Row) -> State:
    actions = request["actions"]
    return Replay(Play(request["game"], request["variant"], request["start"], 0, [], actions, len(actions))).state


def _to_choose(request: Row) -> State:
    state = _state(request)
    if state.player() < 0:
        raise ValueError("there is nothing to choose in this position")
    return state


def explain(request: Row) -> Iterator[Row]:
    """What an agent thinks of every move, and why, in stages."""
    state = _to_choose(request)
    stages = _asked(request).stages()
    for agent in stages:
        why = agent.explain(state)
        values = {action: _finite(value) for action, value in why.values.items()}
        marks = Overlay(why.overlay.highlights, why.overlay.arrows, why.overlay.labels)
        yield {
            "agent": request["agent"],
            "final": agent is stages[-1],
            "action": why.action,
            "name": state.action_name(why.action),
            "values": [
                {"action": a, "name": state.action_label(a), "value": v, "words": agent.in_words(state, v)}
                for a, v in sorted(values.items(), key=lambda item: -item[1])
            ],
            "reasons": why.reasons,
            "values_svg": state.svg(Overlay(values=why.values, words=_few_words(agent, state, why.values))),
            "why_svg": state.svg(marks) if marks != Overlay() else None,
            "drawings": [{"title": drawing.title, "svg": drawing.svg} for drawing in why.drawings],
        }


def _few_words(agent: Agent, state: State, values: dict[int, float]) -> dict[int, str]:
    """What the values mean, where that is short enough for a board."""
    words = {action: agent.in_words(state, value) for action, value in values.items()}
    return {action: text for action, text in words.items() if len(text) <= 12}


def _finite(value: float) -> float:
    """JSON has no infinity."""
    return max(-1e300, min(1e300, value)) if value == value else 0.0


def choose(request: Row) -> Iterator[Row]:
    """The move an agent plays."""
    state = _to_choose(request)
    yield {"action": int(_asked(request).choose(state, random.Random(request["seed"])))}


def hint(request: Row) -> Iterator[Row]:
    """Help with a move in stages, and what to light up with them."""
    told = _hint(_to_choose(request), request["game"], request["variant"])
    yield {"stuck": told.stuck, "hints": told.sentences, "cells": told.cells}


def _hint(state: State, game: str, variant: str | None) -> Hint:
    """What the first of the strongest agents says that can answer here."""
    exact, best = exact_agent(state.game), opponent(state.game)
    for name in [exact, best] if exact else [best]:
        with contextlib.suppress(ValueError, OSError):
            return _agent(name, game, variant).hint(state)
    return _agent("mcts", game, variant).hint(state)


def judge(request: Row) -> Iterator[Row]:
    """What the last action was worth, by the exact answer."""
    *before, action = request["actions"]
    state = _to_choose(request | {"actions": before})
    exact = exact_agent(state.game)
    if exact is None:
        raise ValueError(f"nobody knows the exact values of {state.game.title}")
    told = _agent(exact, request["game"], request["variant"]).judge(state, action)
    yield {"verdict": told.kind, "text": told.text}


REVIEWED = 150
"""Positions of a game that are reviewed at most; of a longer game every second, third ... one."""


def review(request: Row) -> Iterator[Row]:
    """What every move of a game was worth beside the best one, and then a sentence about each of the worst ones of the
    players in `whose`. Values are those of player 0, by the exact answer or, where nobody knows it, by the strongest
    agent."""
    game = rules(request["game"], request["variant"])
    state, actions = game.parse_state(request["start"]), request["actions"]
    total = sum(1 for _ in _moves(state.clone(), actions))
    step = -(-total // REVIEWED)
    looked: list[tuple[float, int, State, int, Agent]] = []
    for number, (ply, before) in enumerate(_moves(state, actions)):
        if number % step:
            continue
        agent, values, exact = _judged(before, request)
        action, sign = actions[ply], -1 if before.player() == 1 else 1
        best = max(values, key=lambda a: values[a])
        loss = values[best] - values[action]
        looked.append((loss, ply, before.clone(), action, agent))
        yield {
            "ply": ply + 1, "player": before.player(), "name": before.action_label(action), "exact": exact,
            "value": sign * _finite(values[action]), "words": agent.in_words(before, values[action]),
            "best": before.action_label(best), "best_words": agent.in_words(before, values[best]),
            "loss": _finite(loss), "done_share": (number + 1) / total, "step": step,
        }  # fmt: skip
    least = 1e-6 * max((abs(loss) for loss, *_ in looked), default=0.0)
    mine = [row for row in looked if row[2].player() in request["whose"] and row[0] > least]
    worst = sorted(mine, key=lambda row: (-row[0], row[1]))[:3]
    found = [
        {"ply": ply + 1, "text": agent.judge(before, action).text, "kind": agent.judge(before, action).kind}
        for _, ply, before, action, agent in worst
    ]
    yield {"worst": found}


def _moves(state: State, actions: list[int]) -> Iterator[tuple[int, State]]:
    """The positions in which players chose, each with the place of its action; the state is played on in between."""
    for ply, action in enumerate(actions):
        if state.player() >= 0:
            yield ply, state
        state.apply(action)


def _judged(state: State, request: Row) -> tuple[Agent, dict[int, float], bool]:
    """Who can say what the moves are worth, what they are worth, and whether that is exact."""
    exact = exact_agent(state.game)
    if exact:
        with contextlib.suppress(ValueError, OSError):
            agent = _agent(exact, request["game"], request["variant"])
            return agent, agent.values(state), True
    agent = _agent(opponent(state.game), request["game"], request["variant"])
    return agent, agent.values(state), False


FRAMES = 8
"""Pictures of a film."""


def film(request: Row) -> Iterator[Row]:
    """A few pictures of a game that the strongest agent plays, for a list of games."""
    game = rules(request["game"], request["variant"])
    agent = _agent(opponent(game), request["game"], request["variant"])
    rng = random.Random(3)
    state = game.random_start(rng)
    states: list[State] = []
    end = time.monotonic() + 2
    while state.player() != TERMINAL and len(states) < 80 and time.monotonic() < end:
        states.append(state.clone())
        state.apply(agent.choose(state, rng))
        play_chance(state, rng)
    states.append(state)
    chosen = [states[i * (len(states) - 1) // (FRAMES - 1)] for i in range(FRAMES)]
    pictures = [
        re.sub(r'<rect [^>]*fill="none" data-cell[^>]*/>|<metadata>.*?</metadata>', "", s.svg()) for s in chosen
    ]
    yield {"frames": list(dict.fromkeys(pictures))}


def ready(request: Row) -> Iterator[Row]:
    """Nothing but the answer that the worker has started."""
    yield from ()


def puzzle(request: Row) -> Iterator[Row]:
    """A puzzle by level and seed."""
    made = rules(request["game"], None).puzzle(request["level"], request["seed"])
    yield {"variant": made.variant, "start": made.position}


def start(request: Row) -> Iterator[Row]:
    """A position for a person to play from, picked by the agent that knows the exact values."""
    game, agent = rules(request["game"], request["variant"]), _asked(request)
    picked = type(agent).practice_start is not Agent.practice_start
    yield {"start": str(agent.practice_start(game, random.Random(request["seed"]))), "picked": picked}


def list_forms(request: Row) -> Iterator[Row]:
    """What can be trained, with every setting that a request may give."""
    yield {"forms": forms.every_form()}


def plan(request: Row) -> Iterator[Row]:
    """A run that a request asks for, checked."""
    yield forms.plan(request["asked"])


def list_lessons(request: Row) -> Iterator[Row]:
    """The pages about papers."""
    yield {"lessons": [lesson(name).card() for name in lessons()]}


def show_lesson(request: Row) -> Iterator[Row]:
    """A page about a paper."""
    yield lesson(request["lesson"]).data()


def experiment(request: Row) -> Iterator[Row]:
    """An experiment of a page about a paper."""
    yield lesson(request["lesson"]).experiment(request["experiment"])(request["settings"])


TASKS: dict[str, Callable[[Row], Iterator[Row]]] = {
    "explain": explain, "choose": choose, "hint": hint, "judge": judge, "puzzle": puzzle, "start": start,
    "forms": list_forms, "plan": plan, "review": review, "film": film, "ready": ready, "lessons": list_lessons,
    "lesson": show_lesson, "experiment": experiment,
}  # fmt: skip


def answer(request: Row) -> Iterator[Row]:
    """The answer to a request, row by row; whatever goes wrong becomes one sentence."""
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


def when_orphaned(act: Callable[[], None]) -> None:
    """Call `act`, in a thread, when the process that started this one has ended: no work must outlive a server that was
    killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        act()

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    when_orphaned(lambda: os._exit(1))
    # What an agent prints must not get between the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    registry.load_user_code(json.loads(sys.argv[1]))
    load_games()
    for line in sys.stdin:
        for row in answer(json.loads(line)):
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
