"""OpenSpiel, both ways: its games here, and ours there. Needs the extra `spiel`.

>>> import rookery as rk
>>> game = rk.load("open_spiel:connect_four")
>>> game
OpenSpiel('connect_four')
>>> state = game.initial_state()
>>> [state.action_name(action) for action in state.legal_actions()][:3]
['x0', 'x1', 'x2']
>>> rk.agent("mcts", game).choose(state) in state.legal_actions()
True

>>> checkers = to_open_spiel("checkers")
>>> state = checkers.new_initial_state()
>>> state.apply_action(state.legal_actions()[0])
>>> state.current_player(), len(state.legal_actions())
(1, 7)
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rookery.game import CHANCE, TERMINAL, Game, State

PREFIX = "open_spiel:"
"""What names of OpenSpiel's games begin with."""
START = "start"
"""What the text of a position begins with."""
OURS = "rookery_"
"""What the names of our games begin with in OpenSpiel."""
MAX_LENGTH = 100_000
"""What we tell OpenSpiel about the length of our games."""
MAX_SCORE = 1e9
"""What we tell OpenSpiel about the scores of our games for one player."""

_CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x09\x0b-\x1f]")
"""Colours for a terminal, and what cannot be drawn."""


def spiel() -> Any:
    """The module of OpenSpiel; ValueError if it is not installed."""
    try:
        import pyspiel
    except ImportError as error:
        raise ValueError(f"OpenSpiel is not installed: pip install 'rookery[spiel]' ({error})") from None
    return pyspiel


# Games of OpenSpiel, here


def game_class(name: str) -> type[OpenSpiel]:
    """The class of a game of OpenSpiel, named as `open_spiel:hex` or `open_spiel:hex(board_size=5)`.

    >>> game_class("open_spiel:chess960")
    Traceback (most recent call last):
    ...
    ValueError: OpenSpiel has no game 'chess960'; it has ...
    """
    pyspiel = spiel()
    text = name.removeprefix(PREFIX)
    short = text.partition("(")[0].strip()
    known = [kind.short_name for kind in pyspiel.registered_games() if _misfit(kind) is None]
    if short not in pyspiel.registered_names():
        raise ValueError(f"OpenSpiel has no game {short[:40]!r}; it has {', '.join(sorted(known))}")
    try:
        found = pyspiel.load_game(text)
    except pyspiel.SpielError as error:
        raise ValueError(f"OpenSpiel cannot load {text[:80]!r}: {error}") from None
    if short.startswith(OURS):
        raise ValueError(f"{short} is a game of ours; load it by its own name")
    if reason := _misfit(found.get_type()) or _misfit_of_players(found):
        raise ValueError(f"{short} of OpenSpiel does not fit: {reason}")
    return _class(str(found).removesuffix("()"))


def _misfit(kind: Any) -> str | None:
    """Why games of a type cannot be played here; None if they can."""
    types = spiel().GameType
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        return "its players do not move one after the other"
    if kind.information != types.Information.PERFECT_INFORMATION:
        return "its players do not know everything"
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        return "its chances are not known"
    if not kind.provides_observation_tensor:
        return "it does not give its positions as numbers"
    return None


def _misfit_of_players(game: Any) -> str | None:
    players = game.num_players()
    if players > 2:
        return f"it has {players} players, and one or two are possible"
    if players == 2 and game.get_type().utility != spiel().GameType.Utility.ZERO_SUM:
        return "what one player gains the other does not lose"
    return None


@cache
def _class(spec: str) -> type[OpenSpiel]:
    kind = spiel().load_game(spec).get_type()
    name = f"{PREFIX}{spec}"
    return type("OpenSpiel", (OpenSpiel,), {"name": name, "title": kind.long_name, "spec": spec, "__doc__": name})


def _new(spec: str) -> OpenSpiel:
    """A game from what its class is named after: how games are pickled."""
    return _class(spec)()


class OpenSpiel(Game):
    """A game of OpenSpiel; each one has a class of its own, made by `game_class`.

    OpenSpiel cannot read positions, so the text of one is the word `start` and the numbers of all actions since then,
    chance outcomes included. Equal positions are those that OpenSpiel writes alike with the same player to move.
    """

    name = "open_spiel"
    blurb = "A game of OpenSpiel."
    history_matters = True  # in some of them
    spec: ClassVar[str]

    def __init__(self) -> None:
        self.spiel = spiel().load_game(self.spec)
        kind = self.spiel.get_type()
        self.players = self.spiel.num_players()
        self.num_actions = max(self.spiel.num_distinct_actions(), self.spiel.max_chance_outcomes())
        self.gives_rewards = kind.reward_model == spiel().GameType.RewardModel.REWARDS
        shape = tuple(self.spiel.observation_tensor_shape())
        shape = (*shape, 1, 1) if len(shape) == 1 else shape
        self.observation_shape = (int(np.prod(shape[:-2], dtype=int)), *shape[-2:])  # three, whatever OpenSpiel has

    def __repr__(self) -> str:
        return f"OpenSpiel({self.spec!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _new, (self.spec,)

    def has_chance(self) -> bool:
        return bool(self.spiel.get_type().chance_mode != spiel().GameType.ChanceMode.DETERMINISTIC)

    def initial_state(self) -> OpenSpielState:
        return OpenSpielState(self, self.spiel.new_initial_state())

    def parse_state(self, text: str) -> OpenSpielState:
        """Play the actions in a text such as `start 3 3 2`."""
        words = text.split()
        if words[:1] != [START] or not all(re.fullmatch("[0-9]{1,9}", word) for word in words[1:]):
            raise ValueError(f"expected the word {START} and the numbers of actions after it, not {text[:80]!r}")
        state = self.initial_state()
        for word in words[1:]:
            state.apply(int(word))
        return state


class OpenSpielState(State):
    """A position of a game of OpenSpiel."""

    def __init__(self, game: OpenSpiel, spiel_state: Any, last: tuple[float, ...] | None = None) -> None:
        self._game, self.spiel = game, spiel_state
        self._last = last or (0.0,) * game.players
        """The rewards of the last step, in games that have some before the end."""
        self._names: dict[int, str] | None = None

    @property
    def game(self) -> OpenSpiel:
        return self._game

    def player(self) -> int:
        if self.spiel.is_terminal():
            return TERMINAL
        return CHANCE if self.spiel.is_chance_node() else int(self.spiel.current_player())

    def legal_actions(self) -> list[int]:
        return list(self.spiel.legal_actions()) if self.player() >= 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(self.spiel.chance_outcomes()) if self.player() == CHANCE else []

    def apply(self, action: int) -> None:
        if action not in self.spiel.legal_actions():  # of chance, too
            raise ValueError(f"action {action} is not legal in {str(self)[:200]}")
        before = self.spiel.returns() if self.game.gives_rewards else ()
        self.spiel.apply_action(action)
        if self.game.gives_rewards:
            self._last = tuple(now - then for now, then in zip(self.spiel.returns(), before, strict=True))
        self._names = None

    def clone(self) -> OpenSpielState:
        return OpenSpielState(self._game, self.spiel.clone(), self._last)

    __copy__ = clone

    def __deepcopy__(self, memo: object) -> OpenSpielState:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._game.parse_state, (str(self),)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return self.__reduce__()

    def returns(self) -> list[float]:
        return list(self.spiel.returns()) if self.spiel.is_terminal() else [0.0] * self._game.players

    def rewards(self) -> list[float]:
        return list(self._last) if self.game.gives_rewards else self.returns()

    def key(self) -> bytes:
        return f"{self.player()} {self.spiel}".encode()

    def observation(self) -> npt.NDArray[np.float32]:
        tensor = np.array(self.spiel.observation_tensor(max(0, self.player())), np.float32)
        return tensor.reshape(self._game.observation_shape)

    def action_name(self, action: int) -> str:
        """What OpenSpiel calls the action, with its number where another is called the same."""
        if self._names is None:
            names = {one: " ".join(self.spiel.action_to_string(one).split()) for one in self.spiel.legal_actions()}
            counts = Counter(names.values())
            self._names = {one: name if counts[name] == 1 else f"{name} #{one}" for one, name in names.items()}
        return self._names.get(action, str(action))

    def __str__(self) -> str:
        return " ".join([START, *map(str, self.spiel.history())])

    def text_board(self) -> str:
        return _CONTROL.sub("", str(self.spiel))


# Our games, there


def to_open_spiel(game: Game | str, variant: str | None = None) -> Any:
    """A game of ours as a game of OpenSpiel, for its bots and algorithms.

    The returns come at the end, as OpenSpiel's searches want it, and no rewards before. Its states have ours as
    `state.rookery`.
    """
    from rookery.registry import load

    return _spiel_class(load(game, variant))()


def register_all() -> list[str]:
    """Make every game known to OpenSpiel, under names such as `rookery_NAME(variant=VARIANT)`; returns the names.

    >>> import pyspiel
    >>> "rookery_tenten" in register_all()
    True
    >>> pyspiel.load_game("rookery_tenten(variant=4x4-seven)").num_distinct_actions()
    16
    """
    from rookery.registry import GAMES, load

    pyspiel, names = spiel(), []
    for name in GAMES:
        if name.startswith(PREFIX):
            continue
        kind = _game_type(load(name))
        if kind.short_name not in pyspiel.registered_names():
            pyspiel.register_game(kind, _spiel_class(load(name)))
        names.append(kind.short_name)
    return names


def _game_type(game: Game) -> Any:
    types = spiel().GameType
    return types(
        short_name=OURS + re.sub(r"\W+", "_", game.name),
        long_name=f"{game.title} of Rookery",
        dynamics=types.Dynamics.SEQUENTIAL,
        chance_mode=types.ChanceMode.EXPLICIT_STOCHASTIC if game.has_chance() else types.ChanceMode.DETERMINISTIC,
        information=types.Information.PERFECT_INFORMATION,
        utility=types.Utility.ZERO_SUM if game.players == 2 else types.Utility.GENERAL_SUM,
        reward_model=types.RewardModel.TERMINAL,
        max_num_players=game.players,
        min_num_players=game.players,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"variant": next(iter(game.variants))} if game.variants else {},
    )


def _game_info(game: Game) -> Any:
    two = game.players == 2
    return spiel().GameInfo(
        num_distinct_actions=game.num_actions,
        max_chance_outcomes=game.num_actions if game.has_chance() else 0,
        num_players=game.players,
        min_utility=-1.0 if two else -MAX_SCORE,
        max_utility=1.0 if two else MAX_SCORE,
        utility_sum=0.0 if two else None,
        max_game_length=MAX_LENGTH,
    )


@cache
def _spiel_class(default: Game) -> Any:
    """The class of a game of ours in OpenSpiel; its parameter `variant` names a variant other than that of `default`.

    OpenSpiel gets a class and no function: it keeps what it is given for longer than Python lives, and only classes
    survive that.
    """
    from rookery.registry import load

    pyspiel, kind = spiel(), _game_type(default)
    given = {"variant": default.variant} if default.variant else {}

    class RookeryGame(pyspiel.Game):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any = None) -> None:
            params = dict(params or given)
            variant = params.get("variant")
            game = default if variant in (None, default.variant) else load(default.name, variant)
            super().__init__(kind, _game_info(game), params)
            self.rookery = game

        def new_initial_state(self, state: Any = None) -> Any:
            return RookeryState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:
            return _Observer(self.rookery)

    class RookeryState(pyspiel.State):  # type: ignore[misc, name-defined]
        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.rookery = game.rookery.initial_state()

        def current_player(self) -> int:
            player = self.rookery.player()
            special = {CHANCE: pyspiel.PlayerId.CHANCE, TERMINAL: pyspiel.PlayerId.TERMINAL}
            return int(special.get(player, player))

        def is_terminal(self) -> bool:
            return bool(self.rookery.player() == TERMINAL)

        def _legal_actions(self, player: int) -> list[int]:
            return sorted(self.rookery.legal_actions())

        def chance_outcomes(self) -> list[tuple[int, float]]:
            return list(self.rookery.chance_outcomes())

        def _apply_action(self, action: int) -> None:
            self.rookery.apply(action)

        def _action_to_string(self, player: int, action: int) -> str:
            return str(self.rookery.action_name(action))

        def returns(self) -> list[float]:
            return list(self.rookery.returns())

        def __str__(self) -> str:
            return str(self.rookery)

    return RookeryGame


class _Observer:
    """The observation of a position of ours, as OpenSpiel asks for it."""

    def __init__(self, game: Game) -> None:
        self.tensor = np.zeros(int(np.prod(game.observation_shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(game.observation_shape)}

    def set_from(self, state: Any, player: int) -> None:
        self.dict["observation"][:] = state.rookery.observation()

    def string_from(self, state: Any, player: int) -> str:
        return str(state.rookery)
