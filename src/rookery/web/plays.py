"""From a stored game to what the page shows, and every way a person changes it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from rookery.game import CHANCE, TERMINAL, Game, Overlay, State
from rookery.method import Method, filled, settings_of, suggestion
from rookery.registry import GAMES, load, methods, split_name, strongest
from rookery.web.store import Play

PERSON = "person"
NAMED = 200
"""Moves before and after the one that is shown whose names are sent: a game may have thousands."""
MAX_ACTIONS = 20_000
"""A game that lasts longer is not kept."""
MAX_SETTING = 10_000_000
"""The greatest number that an agent's setting may have."""


@lru_cache(maxsize=64)
def rules(game: str, variant: str | None) -> Game:
    """A registered game by name. Games never change, so one object each is enough."""
    if game not in GAMES:
        raise ValueError(f"unknown game {game[:40]!r}{suggestion(game, GAMES, 'games')}")
    return load(game, variant)


def load_games() -> None:
    """Import every game now, and look at its methods, so that nobody waits for it later."""
    _fitting.cache_clear()  # others may have been registered since
    for name, game in GAMES.items():
        for variant in {None, game.play_variant}:
            ready(rules(name, variant))


# Agents

REMEMBERED = 10
"""Seconds for which the agents of a game are remembered: a table may have been solved meanwhile."""


def fitting(game: Game) -> dict[str, Method]:
    """The methods that fit a game, by name."""
    return _fitting(game, int(time.monotonic() / REMEMBERED))[0]


def ready(game: Game) -> dict[str, Method]:
    """Those of them that need no training first."""
    return _fitting(game, int(time.monotonic() / REMEMBERED))[1]


@lru_cache(maxsize=256)
def _fitting(game: Game, moment: int) -> tuple[dict[str, Method], dict[str, Method]]:
    known = methods(game)
    return known, {name: method for name, method in known.items() if method.unready(game) is None}


PRESETS = {
    "minimax": ["minimax:depth=1", "minimax:depth=3", "minimax:depth=5", "minimax:depth=7"],
    "mcts": ["mcts:simulations=100", "mcts:simulations=1000", "mcts:simulations=10000", "mcts:simulations=100000"],
}
"""What the page offers for agents whose strength is a setting; others are offered as they are."""


def check_agent(name: str, game: Game, trained: Collection[str] = ()) -> str:
    """The agent's name, if a run trained it or if it is registered and its settings are numbers, switches or choices.

    Nothing in a request may name a file, a program or a module; what the owner of the server named has a short name.
    Nor may it ask for `threads`: visitors share the cores.
    """
    if name in trained:
        return name
    base, settings = split_name(name)
    known = fitting(game)
    if base not in known:
        raise ValueError(f"unknown agent {base[:40]!r} for {game.name}{suggestion(base, known, 'agents')}")
    allowed = {
        setting.name: setting
        for setting in settings_of(known[base].Options)
        if setting.kind != "text" and setting.name != "threads"
    }
    for key, value in settings.items():
        if key not in allowed:
            raise ValueError(f"unknown setting {key[:40]!r} of the agent{suggestion(key, allowed, 'settings')}")
        if allowed[key].kind in ("whole", "number") and not abs(_number(value)) <= MAX_SETTING:
            raise ValueError(f"{key} of the agent must be a number of at most {MAX_SETTING:,}, not {value[:40]!r}")
    filled(known[base].Options, settings, what=f"the agent {base!r}")
    return name


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def check_players(players: list[str], game: Game, state: State, trained: Collection[str] = ()) -> None:
    """One player for each side, a person or an agent that can play from the position; ValueError otherwise."""
    if len(players) != game.players:
        raise ValueError(f"{game.name} needs {game.players} player{'s' * (game.players > 1)}, not {len(players)}")
    for player in players:
        if player != PERSON:
            check_agent(player, game, trained)
            method = None if player in trained else fitting(game)[split_name(player)[0]]
            if method and (reason := method.unready(game) or method.refuses(state)):
                raise ValueError(f"{player} cannot play this position: it {reason}")


def offered_agents(state: State, trained: Collection[str] = ()) -> list[str]:
    """Agents that can play from a position, the strongest first where it is known, those that runs trained last."""
    game = state.game
    known = [name for name, method in ready(game).items() if method.refuses(state) is None]
    own = [name for name in ("best", "oracle") if name in known]
    rest = [name for name in known if name not in own]
    # Alone, nobody's reply narrows a search down: minimax goes through everything, and deep ones never end.
    presets = PRESETS | ({"minimax": PRESETS["minimax"][:2]} if game.players == 1 else {})
    return own + [preset for name in reversed(rest) for preset in presets.get(name, [name])] + list(trained)


def opponent(game: Game) -> str:
    """The agent to meet if nothing is chosen."""
    name = strongest(game, ready(game))
    return PRESETS[name][1] if name in PRESETS else name


def opponents(state: State) -> list[dict[str, Any]]:
    """The game's levels that can play from a position, from the weakest to the strongest."""
    known, found = ready(state.game), []
    for level in state.game.levels():
        method = known.get(split_name(level.agent)[0])
        if method is not None and method.refuses(state) is None:
            found.append({"name": level.name, "agent": level.agent, "elo": level.elo, "about": level.about})
    return found


def usual_opponent(game: Game) -> str:
    """Whom a person meets if nothing is chosen: the level in the middle, else the strongest agent."""
    known = opponents(game.initial_state())
    return str(known[(len(known) - 1) // 2]["agent"]) if known else opponent(game)


def exact_agent(game: Game) -> str | None:
    """The agent that knows the exact values of moves in this variant, if there is one."""
    known = [name for name, method in ready(game).items() if method.kind == "exact"]
    return "oracle" if "oracle" in known else known[0] if known else None


# Games


def describe_games(trained: Callable[[Game], Collection[str]]) -> list[dict[str, Any]]:
    """Every game for the page to offer; `trained` knows the agents that runs have made for a variant."""
    rows = []
    for name in GAMES:
        game = rules(name, None)
        variants = {variant: rules(name, variant) for variant in game.variants}
        rows.append(
            {
                "name": name,
                "title": game.title,
                "blurb": game.blurb,
                "start": game.usual_start,
                "levels": list(game.puzzle_levels),
                "variants": list(variants),
                "variant": game.play_variant,
                "players": game.players,
                "sides": list(game.sides[: game.players]),
                "opponent": opponent(game),
                "meets": usual_opponent(game),
                "opponents": opponents(game.initial_state()),
                "agents": offered_agents(game.initial_state(), trained(game)),
                "agents_of": {
                    variant: offered_agents(of.initial_state(), trained(of)) for variant, of in variants.items()
                },
                "svg": _thumbnail(name),
            }
        )
    return rows


@lru_cache(maxsize=64)
def _thumbnail(name: str) -> str:
    return rules(name, None).random_start(random.Random(3)).svg()


def daily_game() -> str | None:
    """The game of the puzzle of the day: the first that has puzzles."""
    return next((name for name, game in GAMES.items() if game.puzzle_levels), None)


def read_position(game: Game, text: str) -> tuple[str, list[int], State]:
    """A start, the actions after it and where they lead, from a position or a whole game in the field's notation."""
    start, actions = game.parse_record(text)
    state = game.parse_state(start)
    for action in actions:
        state.apply(action)
    return start, actions, state


def with_piece(game: Game, text: str, cell: int, piece: str) -> str:
    """The text of a board after one change by hand; it may be no position yet. "clear" empties the board. ValueError if
    there is no such change or the text is no board."""
    pieces = game.pieces()
    if piece not in pieces and not (piece == "turn" and game.players == 2 and pieces) and not _clears(game, piece):
        raise ValueError(f"{piece[:20]!r} cannot be put on a board of {game.title}")
    try:
        *_, state = read_position(game, text)
        text = str(state)
    except ValueError:
        text = text.strip()
        game.sketch(text)  # a board that is not a position yet, or a sentence about what is wrong
    if not _clears(game, piece):
        return game.with_piece(text, cell, piece)
    for empty in map(int, re.findall(r'data-cell="([0-9]+)"', game.sketch(text))):
        text = game.with_piece(text, empty, ".")
    return text


def _clears(game: Game, piece: str) -> bool:
    return piece == "clear" and "." in game.pieces()


class Replay:
    """A stored game played again: made once per request, then changed and shown.

    `state` is the position at the play's cursor.
    """

    def __init__(self, play: Play, ply: int | None = None) -> None:
        """Show the play at its cursor, or move the cursor to `ply`: the first one from there on at which chance is not
        to act."""
        wanted = play.cursor if ply is None else ply
        if not 0 <= wanted <= len(play.actions):
            raise ValueError(f"the game has plies 0 to {len(play.actions)}, not {wanted}")
        self.play = play
        self.game = rules(play.game, play.variant)
        self.named: dict[int, dict[str, Any]] = {}
        """Players' actions near the cursor, by the ply they lead to."""
        self.last: list[int] = []
        """Cells of the last action of a player before the cursor."""
        self.path: list[int] = []
        """Cells to touch for that action."""
        state = self.game.parse_state(play.start)
        self.movers = [state.player()]
        """Who is to act at each ply."""
        shown: State | None = None
        for number, action in enumerate(play.actions):
            mover = self.movers[-1]
            if shown is None and number >= wanted and mover != CHANCE:
                shown, play.cursor = state.clone(), number
            if mover != CHANCE and abs(number - wanted) < NAMED:
                self.named[number + 1] = _described(state, action)
                if shown is None:
                    self.last, self.path = state.preview_cells(action), state.action_cells(action)
            state.apply(action)
            self.movers.append(state.player())
        if shown is None:
            shown, play.cursor = state, len(play.actions)
        self.state = shown

    def act(self, action: int) -> None:
        """Play an action, and what chance draws after it; a ValueError says why it cannot be."""
        play = self.play
        if self.state.player() == TERMINAL:
            raise ValueError("the game is over")
        if action not in self.state.legal_actions():
            raise ValueError(f"action {action} is not legal in {str(self.state)[:200]}")
        if play.actions[play.cursor : play.cursor + 1] == [action]:  # the same move again keeps what followed
            self._step()
            while self.movers[play.cursor] == CHANCE:
                self._step()
            return
        if play.cursor >= MAX_ACTIONS:
            raise ValueError(f"a game of {MAX_ACTIONS:,} actions is not continued")
        play.actions[play.cursor :] = [action]
        del self.movers[play.cursor + 1 :]
        self.named = {ply: row for ply, row in self.named.items() if ply <= play.cursor}
        play.about.pop("resigned", None)
        self._step()
        self.draw_chance()

    def draw_chance(self) -> None:
        """Draw for chance until a player is to move. Draws depend on the seed and the ply, so that a move taken back
        and played again meets the same ones."""
        play = self.play
        while self.state.player() == CHANCE:
            outcomes, weights = zip(*self.state.chance_outcomes(), strict=True)
            play.actions.append(random.Random(f"{play.seed} chance {play.cursor}").choices(outcomes, weights)[0])
            self._step()

    def _step(self) -> None:
        """Apply the next action of the play."""
        play = self.play
        action = play.actions[play.cursor]
        if self.state.player() != CHANCE:
            self.named[play.cursor + 1] = _described(self.state, action)
            self.last, self.path = self.state.preview_cells(action), self.state.action_cells(action)
        self.state.apply(action)
        play.cursor += 1
        if play.cursor == len(self.movers):
            self.movers.append(self.state.player())

    def stops(self) -> list[int]:
        """The plies that undo and redo stop at: where a person was to move, or any agent if nobody plays, and the
        ends."""
        watched = PERSON not in self.play.players
        found = [
            ply
            for ply, mover in enumerate(self.movers)
            if mover == TERMINAL or (mover != CHANCE and (watched or self.play.players[mover] == PERSON))
        ]
        return sorted({*found, len(self.play.actions)})

    def resigned(self) -> int | None:
        """The player who gave up at the position that is shown."""
        given_up: dict[str, int] = self.play.about.get("resigned", {})
        return given_up["player"] if given_up.get("ply") == self.play.cursor else None

    def resign(self) -> None:
        """Give up for the person to move, or for the only person there is."""
        play = self.play
        persons = [side for side, player in enumerate(play.players) if player == PERSON]
        if self.game.players != 2 or not persons:
            raise ValueError("only a person who plays against somebody can resign")
        if self.state.player() == TERMINAL or self.resigned() is not None:
            raise ValueError("the game is over")
        mover = self.state.player()
        del play.actions[play.cursor :], self.movers[play.cursor + 1 :]
        self.named = {ply: row for ply, row in self.named.items() if ply <= play.cursor}
        play.about["resigned"] = {"ply": play.cursor, "player": mover if mover in persons else persons[0]}

    def result(self) -> dict[str, Any] | None:
        """How the game ended; None if it did not. `winner` is missing in a draw, `solved` where it cannot be told."""
        game, returns = self.game, self.state.returns()
        given_up = self.resigned()
        if given_up is not None:
            sides = game.sides
            return {"winner": 1 - given_up, "text": f"{sides[given_up]} resigned: {sides[1 - given_up]} wins"}
        if self.state.player() != TERMINAL:
            return None
        if game.players == 2:
            winner = None if returns[0] == 0 else int(returns[0] < 0)
            return {"winner": winner, "text": self.state.status()}
        solved = None if game.best_return is None else returns[0] >= game.best_return
        return {"solved": solved, "score": returns[0], "unit": game.unit, "text": self.state.status()}

    def turns(self) -> list[int]:
        """The number of the turn at each ply, as people number the moves of a game."""
        numbers, number, before = [], 0, CHANCE
        for mover in self.movers:
            if mover >= 0:
                number += not before < mover or number == 0
                before = mover
            numbers.append(number)
        return numbers

    def view(self, trained: Collection[str] = ()) -> dict[str, Any]:
        """Everything the page shows of a game."""
        play, game, state, player = self.play, self.game, self.state, self.state.player()
        stops, turns, result = self.stops(), self.turns(), self.result()
        history = [
            {"ply": ply, "player": self.movers[ply - 1], "turn": turns[ply - 1]} | row
            for ply, row in self.named.items()
        ]
        return {
            "id": play.id,
            "game": play.game,
            "variant": play.variant,
            "title": game.title,
            "sides": list(game.sides[: game.players]),
            "players": play.players,
            "about": play.about,
            "created": play.created,
            "start": play.start,
            "usual": play.start == str(game.initial_state()),
            "position": str(state),
            "ply": play.cursor,
            "length": len(play.actions),
            "undo": max((ply for ply in stops if ply < play.cursor), default=None),
            "redo": min((ply for ply in stops if ply > play.cursor), default=None),
            "player": player,
            "turn": "over" if result else "person" if play.players[player] == PERSON else "agent",
            "status": result["text"] if result else state.status(),
            "result": result,
            "feats": state.feats(),
            "bottom": game.bottom,
            "unit": game.unit,
            "path": self.path,
            "legal": [] if result else _legal(state),
            "history": history,
            "svg": self.svg(),
            "agents": offered_agents(state, trained),
            "opponents": opponents(state),
            "exact": exact_agent(game),
            "puzzles": list(game.puzzle_levels),
        }

    def card(self) -> dict[str, Any]:
        """What a list of games shows of one."""
        play, result = self.play, self.result()
        return {
            "id": play.id,
            "variant": play.variant,
            "title": self.game.title,
            "players": play.players,
            "opponents": [{"agent": level.agent, "name": level.name, "elo": level.elo} for level in self.game.levels()],
            "about": play.about,
            "over": bool(result),
            "status": result["text"] if result else self.state.status(),
            "svg": self.svg(),
        }

    def svg(self) -> str:
        """The drawing, with the last move marked in games that do not mark it themselves."""
        if not self.last or self.game.draws_last_move:
            return self.state.svg()
        return self.state.svg(Overlay(highlights=dict.fromkeys(self.last, "last")))


def _described(state: State, action: int) -> dict[str, Any]:
    """An action as the page tells it: its name and, where the game has them, words, and the cells it fills or joins."""
    row: dict[str, Any] = {"name": state.action_name(action)}
    if (label := state.action_label(action)) != row["name"]:
        row["label"] = label
    if type(state).preview_cells is not State.preview_cells:
        row["preview"] = state.preview_cells(action)
    if line := state.action_line(action):
        row |= {"line": line, "dot": state.action_cells(action)[0]}
    return row


def _legal(state: State) -> list[dict[str, Any]]:
    """The legal actions with the cells to touch and what else the game says about them."""
    rows = []
    for action in state.listed_actions():
        row = {"action": action, "cells": state.action_cells(action)} | _described(state, action)
        icon, key = state.action_icon(action), state.action_key(action)
        rows.append(row | ({"icon": icon} if icon else {}) | ({"key": key} if key else {}))
    return rows


def new_play(
    game: Game, variant: str | None, players: list[str], start: str, actions: list[int], seed: int,
    about: dict[str, Any],
) -> Replay:  # fmt: skip
    """A game from a start and the actions after it."""
    now = Replay(Play(game.name, variant, start, seed, players, actions, len(actions), about))
    now.draw_chance()
    return now
