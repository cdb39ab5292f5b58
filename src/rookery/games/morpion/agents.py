"""Agents for Morpion Solitaire: `best` plays the grid that ships, and searches where it has left that."""

from __future__ import annotations

from rookery.game import Game
from rookery.games.morpion.rules import Morpion
from rookery.games.morpion.search import shipped
from rookery.search.agents import NestedAgent, plan_of


def best(game: Game) -> NestedAgent:
    """NRPA that knows our longest game of the variant from the start.

    >>> import random
    >>> game = Morpion(length=4)
    >>> state, agent = game.initial_state(), best(game)
    >>> while state.legal_actions():
    ...     state.apply(agent.choose(state, random.Random(0)))
    >>> state.returns()
    [35.0]
    """
    assert isinstance(game, Morpion)
    if game.board is not None:
        return NestedAgent("nrpa")
    grid = shipped(game.variant)
    return NestedAgent("nrpa", known=plan_of(game.initial_state(), grid.moves, len(grid.moves)))
