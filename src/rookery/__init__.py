"""Rookery: programs learn to play finite board games and puzzles, and you see how far from perfect they still are.

>>> import rookery as rk
>>> game = rk.load("checkers")                     # or "my_game.py"
>>> state = game.initial_state()
>>> state.apply(state.parse_action("11-15"))
>>> agent = rk.agent("best", game)                 # or "my_agent.py:Greedy", "runs/mine", an object of yours
>>> agent.choose(state) in agent.values(state)
True
>>> agent.explain(state).reasons[0]                # a notebook draws the whole explanation
'...'
>>> rk.match(game, "ladder:depth=1", "random", games=4).games
4
>>> run = rk.train(game, "q-learning", games=200, out="runs/mine")
>>> run.state, run.metrics[-1]["games"], run.agent().choose(state) in state.legal_actions()
('done', 200, True)
>>> rk.solve(game.parse_state("W:WK18,K23:BK1")).text
'White wins in 19 plies'
>>> envs = rk.vector(game, 1024, seed=0)
>>> envs.step(envs.sample())
>>> len(rk.study("overview", size="quick").tables)
1

What is offered here is imported when it is first used, so that `import rookery` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery._native import Control
    from rookery.agents import Agent, Explanation
    from rookery.arena import Match, match, tournament
    from rookery.environments import Vector, vector
    from rookery.game import CHANCE, TERMINAL, Game, Overlay, State
    from rookery.method import Method, Solution
    from rookery.registry import GAMES, agent, agent_names, load, methods, register, solve
    from rookery.scale.sweep import Sweep, sweep
    from rookery.studies import study
    from rookery.testing import check_game as check
    from rookery.training import TrainingRun as Run
    from rookery.training import train

_WHERE = {
    "Control": "_native", "Agent": "agents", "Explanation": "agents", "Match": "arena", "match": "arena",
    "tournament": "arena", "CHANCE": "game", "TERMINAL": "game", "Game": "game", "Overlay": "game", "State": "game",
    "Method": "method", "Solution": "method", "GAMES": "registry", "agent": "registry", "agent_names": "registry",
    "load": "registry", "methods": "registry", "register": "registry", "solve": "registry", "study": "studies",
    "check": "testing:check_game", "Run": "training:TrainingRun", "train": "training",
    "Vector": "environments", "vector": "environments", "Sweep": "scale.sweep", "sweep": "scale.sweep",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("rookery")
    if name not in _WHERE:
        raise AttributeError(f"module 'rookery' has no attribute {name!r}")
    module, _, other = _WHERE[name].partition(":")
    found = getattr(importlib.import_module(f"rookery.{module}"), other or name)
    globals()[name] = found  # over a submodule of the same name, too
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE, "__version__"])


__all__ = [
    "CHANCE", "GAMES", "TERMINAL", "Agent", "Control", "Explanation", "Game", "Match", "Method", "Overlay", "Run",
    "Solution", "State", "Sweep", "Vector", "agent", "agent_names", "check", "load", "match", "methods", "register",
    "solve", "study", "sweep", "tournament", "train", "vector",
]  # fmt: skip
