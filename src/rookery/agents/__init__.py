"""Agents: every method, as something that picks a move, values all moves and says why.

>>> import random, rookery
>>> game = rookery.load("tenten", "3x3-three")
>>> state = game.parse_state("##./#.#/.## 1x1")
>>> agent = load("mcts:simulations=200", game)
>>> state.action_name(agent.choose(state, random.Random(1))) in {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rookery.agent import Agent, Drawing, Explanation
from rookery.game import CHANCE, Game
from rookery.games.checkers import agents as checkers
from rookery.games.checkers import strong_agents as checkers_strong
from rookery.games.endgames import agents as endgames
from rookery.games.morpion import agents as morpion
from rookery.games.morpion import learned_agents as morpion_learned
from rookery.games.solitaire_chess import agents as solitaire_chess
from rookery.games.tenten import agents as tenten_learned
from rookery.games.tenten import greedy as tenten_greedy
from rookery.games.tenten import oracle as tenten_oracle
from rookery.search.agents import MctsAgent, MinimaxAgent, NestedAgent, RandomAgent

Factory = Callable[..., Agent]

GENERIC: dict[str, Factory] = {
    "random": lambda game: RandomAgent(),
    "minimax": lambda game, **settings: MinimaxAgent(**settings),
    "mcts": lambda game, **settings: MctsAgent(**settings),
    "nrpa": lambda game, **settings: NestedAgent("nrpa", **settings),
    "nmcs": lambda game, **settings: NestedAgent("nmcs", **settings),
}
"""Agents for any game, by name. A factory takes the game and the settings of the name."""

OF_GAME: dict[str, dict[str, Factory]] = {
    "checkers": {
        "q-table": lambda game, **settings: checkers.load_table("random", **settings),
        "psv": lambda game, **settings: checkers.load_table("psv", **settings),
        "dqn": lambda game, **settings: checkers.load_dqn(**settings),
        "ladder": checkers_strong.load_ladder,
        "td": checkers_strong.load_td,
        "oracle": checkers_strong.load_oracle,
        "best": checkers_strong.load_best,
    },
    "endgames": {
        "oracle": lambda game, **settings: endgames.OracleAgent(**settings),
        "q-learning": lambda game, **settings: endgames.QLearningAgent(**settings),
        "stockfish": lambda game, **settings: endgames.StockfishAgent(**settings),
        "best": lambda game: endgames.OracleAgent(),
    },
    "morpion": {"best": morpion.best, "net": morpion_learned.load},
    "solitaire-chess": {name: partial(solitaire_chess.load, name) for name in ("dqn", "taught", "oracle", "best")},
    "tenten": {
        "greedy": lambda game, **settings: tenten_greedy.GreedyAgent(**settings),
        "oracle": tenten_oracle.load,
        **{name: partial(tenten_learned.load, name) for name in ("lspi", "linear", "ntuple")},
        "best": tenten_learned.load_best,
    },
}
"""Agents for one game only, by the game's name and then their own."""

NEEDS: dict[tuple[str, str], Callable[[Any], bool]] = {
    ("morpion", "net"): lambda game: game.variant == "5D",
    ("solitaire-chess", "taught"): lambda game: not game.max_captures,
    ("tenten", "oracle"): tenten_oracle.solves,
    **{("tenten", name): partial(tenten_learned.ships, name) for name in ("lspi", "linear", "ntuple")},
}
"""Agents, by game and name, that come ready for some of the game's variants only."""


def names(game: Game) -> list[str]:
    """The agents that can play a game: minimax needs one without chance, nested search one for a single player."""
    unfit = {"nrpa", "nmcs"} if game.players > 1 else set()
    if game.initial_state().player() == CHANCE:
        unfit.add("minimax")
    return [name for name in GENERIC if name not in unfit] + list(OF_GAME.get(game.name, {}))


def ready(game: Game) -> list[str]:
    """The agents that play this variant of the game as they come; others of `names` need a file of yours.

    >>> import rookery
    >>> "oracle" in ready(rookery.load("tenten")), "oracle" in ready(rookery.load("tenten", "4x4-seven"))
    (False, True)
    """
    return [name for name in names(game) if (need := NEEDS.get((game.name, name))) is None or need(game)]


def load(name: str, game: Game, path: Path | None = None) -> Agent:
    """An agent by name: `random`, `minimax:depth=3`, `mcts:simulations=500`; `NAME:PATH` loads a trained one from its
    file or the folder of its run, as `path` does."""
    base, _, rest = name.partition(":")
    factories: Mapping[str, Factory] = GENERIC | OF_GAME.get(game.name, {})
    if base not in names(game):
        raise ValueError(f"unknown agent {base!r} for {game.name}; known agents: {', '.join(names(game))}")
    settings: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = "path", part
        settings[key] = _number(value)
    if path is not None:
        settings["path"] = str(path)
    try:
        return factories[base](game, **settings)
    except TypeError as error:
        raise ValueError(f"the agent {base!r} does not take the settings {rest!r}: {error}") from None


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


__all__ = ["GENERIC", "OF_GAME", "Agent", "Drawing", "Explanation", "load", "names", "ready"]
