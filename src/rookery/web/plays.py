"""From a stored game to what the page shows, and every way a person changes it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rookery.game import CHANCE, TERMINAL, Game, Overlay, State
from rookery.games import records
from rookery.games.checkers.rules import parse_pdn
from rookery.games.morpion.rules import MorpionState
from rookery.registry import GAMES, agent_names, load
from rookery.web import words
from rookery.web.store import Play

PERSON = "person"
NAMED = 200
"""Moves before and after the one that is shown whose names are sent: a game of 1010! may have thousands."""
MAX_ACTIONS = 20_000
"""A game that lasts longer is not kept."""
_SETTING = re.compile(r"[a-z_]{1,20}=-?[0-9]{1,7}(\.[0-9]{1,6})?")


@lru_cache(maxsize=64)
def rules(game: str, variant: str | None) -> Game:
    """A game by name. Games never change, so one object each is enough."""
    return load(game, variant)


def check_agent(name: str, game: Game, trained: Collection[str] = ()) -> str:
    """The agent's name, if it is one that a run trained or has only numbers for settings: nothing from outside may
    name a file."""
    if name in trained:
        return name
    base, _, settings = name.partition(":")
    if base not in agent_names(game):
        raise ValueError(f"unknown agent {base[:40]!r} for {game.name}; known agents: {', '.join(agent_names(game))}")
    for part in settings.split(",") if settings else ():
        if not _SETTING.fullmatch(part) or part.startswith("path="):
            raise ValueError(f"settings of an agent are written name=number, not {part[:40]!r}")
    return name


def check_players(players: list[str], game: Game, trained: Collection[str] = ()) -> None:
    """One for each side, a person or an agent."""
    if len(players) != game.players:
        raise ValueError(f"{game.name} needs {game.players} player{'s' * (game.players > 1)}, not {len(players)}")
    for player in players:
        if player != PERSON:
            check_agent(player, game, trained)


PRESETS = {
    "minimax": ["minimax:depth=1", "minimax:depth=3", "minimax:depth=5", "minimax:depth=7"],
    "mcts": ["mcts:simulations=100", "mcts:simulations=1000", "mcts:simulations=10000", "mcts:simulations=100000"],
}
"""What the page offers for agents whose strength is a setting; others are offered as they are."""


def offered_agents(game: Game, trained: Collection[str] = ()) -> list[str]:
    """Agents to choose from in this variant, the strongest first where it is known, those that runs trained last."""
    known = agent_names(game, ready=True)
    own = [name for name in ("best", "oracle") if name in known]
    rest = [name for name in known if name not in own]
    # Alone, nobody's reply narrows a search down: minimax goes through everything, and deep ones never end.
    presets = PRESETS | ({"minimax": PRESETS["minimax"][:2]} if game.players == 1 else {})
    return own + [preset for name in reversed(rest) for preset in presets.get(name, [name])] + list(trained)


def describe_games(trained: Callable[[str], Collection[str]]) -> list[dict[str, Any]]:
    """Every game for the page to offer; `trained` knows the agents of a game that runs have made."""
    rows = []
    for name in GAMES:
        game = rules(name, None)
        rows.append(
            {
                "name": name,
                "title": words.title(game),
                "blurb": words.BLURBS.get(name, ""),
                "start": words.STARTS.get(name, "the usual start"),
                "variants": list(game.variants),
                "players": game.players,
                "sides": list(game.sides[: game.players]),
                "agents": offered_agents(game, trained(name)),
                "agents_of": {v: offered_agents(rules(name, v), trained(name)) for v in game.variants},
                "svg": _thumbnail(name),
            }
        )
    return rows


@lru_cache(maxsize=64)
def _thumbnail(name: str) -> str:
    return rules(name, None).random_start(random.Random(3)).svg()


@dataclass
class Replay:
    """A stored game played again."""

    state: State
    """At the cursor."""
    last: list[int]
    """Cells of the last action of a player before the cursor."""
    names: dict[int, str]
    """Of the actions near the cursor, by the ply they lead to."""
    movers: list[int]
    """Who acted at each ply, and after them who is to act at the end."""


def replay(play: Play) -> Replay:
    state = rules(play.game, play.variant).parse_state(play.start)
    shown, last = state.clone(), list[int]()
    names, movers = {}, []
    for ply, action in enumerate(play.actions, start=1):
        mover = state.player()
        movers.append(mover)
        if play.cursor - NAMED < ply <= play.cursor + NAMED and mover != CHANCE:
            names[ply] = state.action_name(action)
        if mover != CHANCE and ply <= play.cursor:
            last = state.action_cells(action)
        state.apply(action)
        if ply == play.cursor:
            shown = state.clone()
    return Replay(shown, last, names, [*movers, state.player()])


def new_play(
    game: Game, variant: str | None, players: list[str], position: str | None, about: dict[str, Any], seed: int,
    trained: Collection[str] = (),
) -> Play:  # fmt: skip
    """A game from a position, or from its start: for two the usual one, for one a start drawn with the seed."""
    check_players(players, game, trained)
    play = Play(game.name, variant, "", seed, players, about=about)
    if position:
        play.start, play.actions = read_position(game, position)
        play.cursor = len(play.actions)
    elif game.players == 2:
        play.start = str(game.initial_state())
    else:
        play.start = str(game.random_start(random.Random(f"{seed} start")))
    draw_chance(play, replay(play).state)
    return play


def read_position(game: Game, text: str) -> tuple[str, list[int]]:
    """A start and the actions after it, from a position or a whole game in the field's notation."""
    text = text.strip()
    if game.name == "checkers" and re.search(r"\d+\s*\.\s*\d", text):
        record = parse_pdn(text)[0]
        state = game.parse_state(record.start)
        for number, action in enumerate(record.actions, start=1):
            if state.player() == TERMINAL:
                raise ValueError(f"by the rules of this variant the game is over after {number - 1} plies")
            state.apply(action)
        return record.start, list(record.actions)
    state = game.parse_state(text)
    if isinstance(state, MorpionState):
        # Its text is the whole game, so that every move can be taken back.
        return str(game.initial_state()), list(state.moves)
    return str(state), []


def draw_chance(play: Play, state: State) -> None:
    """Draw for chance until a player is to move. Draws depend on the seed and the ply, so that a move taken back and
    played again meets the same ones."""
    while state.player() == CHANCE:
        outcomes, weights = zip(*state.chance_outcomes(), strict=True)
        outcome = random.Random(f"{play.seed} chance {play.cursor}").choices(outcomes, weights)[0]
        state.apply(outcome)
        play.actions.append(outcome)
        play.cursor += 1


def act(play: Play, action: int) -> None:
    """Play an action; a ValueError says why it cannot be."""
    now = replay(play)
    if now.state.player() == TERMINAL:
        raise ValueError("the game is over")
    if action not in now.state.legal_actions():
        raise ValueError(f"action {action} is not legal in {str(now.state)[:200]}")
    if play.actions[play.cursor : play.cursor + 1] == [action]:
        _show(play, now, play.cursor + 1)  # the same move again keeps what followed
        return
    if play.cursor >= MAX_ACTIONS:
        raise ValueError(f"a game of {MAX_ACTIONS:,} actions is not continued")
    now.state.apply(action)
    play.actions[play.cursor :] = [action]
    play.cursor += 1
    draw_chance(play, now.state)


def go_to(play: Play, ply: int) -> None:
    """Show another moment of the game."""
    if not 0 <= ply <= len(play.actions):
        raise ValueError(f"the game has plies 0 to {len(play.actions)}, not {ply}")
    _show(play, replay(play), ply)


def _show(play: Play, now: Replay, ply: int) -> None:
    """The first ply from the given one on at which chance is not to act."""
    while now.movers[ply] == CHANCE:
        ply += 1
    play.cursor = ply


def stops(play: Play, movers: list[int]) -> list[int]:
    """The plies that undo and redo stop at: where a person was to move, or any agent if nobody plays, and the ends."""
    watched = PERSON not in play.players
    found = [
        ply
        for ply, mover in enumerate(movers)
        if mover == TERMINAL or (mover != CHANCE and (watched or play.players[mover] == PERSON))
    ]
    return sorted({*found, len(play.actions)})


def view(play: Play, trained: Collection[str] = ()) -> dict[str, Any]:
    """Everything the page shows of a game."""
    game = rules(play.game, play.variant)
    now = replay(play)
    state, player = now.state, now.state.player()
    preview: Callable[[int], list[int]] | None = getattr(state, "preview_cells", None)
    legal = []
    for action in state.legal_actions():
        row: dict[str, Any] = {
            "action": action, "name": state.action_name(action), "cells": state.action_cells(action),
        }  # fmt: skip
        if preview:
            row["preview"] = preview(action)
        legal.append(row)
    known = stops(play, now.movers)
    history = [{"ply": ply, "name": name, "player": now.movers[ply - 1]} for ply, name in now.names.items()]
    return {
        "id": play.id,
        "game": play.game,
        "variant": play.variant,
        "title": words.title(game),
        "sides": list(game.sides[: game.players]),
        "players": play.players,
        "about": play.about,
        "position": str(state),
        "ply": play.cursor,
        "length": len(play.actions),
        "undo": max((ply for ply in known if ply < play.cursor), default=None),
        "redo": min((ply for ply in known if ply > play.cursor), default=None),
        "player": player,
        "turn": "over" if player == TERMINAL else "person" if play.players[player] == PERSON else "agent",
        "status": words.status(state),
        "returns": state.returns(),
        "legal": legal,
        "history": history,
        "svg": board(state, now.last),
        "agents": offered_agents(game, trained),
        "exact": "oracle" in agent_names(game, ready=True),
    }


def card(play: Play) -> dict[str, Any]:
    """What a list of games shows of one."""
    now = replay(play)
    return {
        "id": play.id,
        "variant": play.variant,
        "title": words.title(now.state.game),
        "players": play.players,
        "about": play.about,
        "status": words.status(now.state),
        "svg": board(now.state, now.last),
    }


def board(state: State, last: list[int]) -> str:
    """The drawing, with the last move marked in games that do not show it themselves."""
    if not last or hasattr(state, "preview_cells"):
        return state.svg()
    return state.svg(Overlay(highlights=dict.fromkeys((last[0], last[-1]), "last")))


def record(play: Play) -> tuple[str, str]:
    """The whole game as people of the field write it, and the name of the file to keep it in."""
    game = rules(play.game, play.variant)
    text, ending = records.record(game, play.start, play.actions[: play.cursor], play.players)
    return text, f"game.{ending}"
