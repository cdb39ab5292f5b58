"""What a game is.

A `Game` holds the rules of one variant and never changes; a `State` is a position in it. The states of the games that
ship are native; a game of your own is two plain Python classes (see `examples/tic_tac_toe.py`) and works everywhere
they do.
"""

from __future__ import annotations

import inspect
import itertools
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from typing import Any, ClassVar, Self, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from rookery import _native, draw, user_code
from rookery.symmetry import Symmetry

CHANCE: int = _native.CHANCE
"""What `State.player` answers where the next step is drawn by chance."""

TERMINAL: int = _native.TERMINAL
"""What `State.player` answers when the game is over."""


@dataclass(frozen=True)
class Overlay:
    """What to draw on top of a position. Cells are the numbers that `State.action_cells` uses."""

    highlights: Mapping[int, str] = field(default_factory=dict)
    """Cell to kind: one of "focus", "good", "bad", "last"."""
    arrows: Sequence[tuple[int, int]] = ()
    """Pairs of cells."""
    labels: Mapping[int, str] = field(default_factory=dict)
    """Cell to a short text: a move number, for one."""
    values: Mapping[int, float] = field(default_factory=dict)
    """Action to value, drawn as a colour where the action ends, with a number for the best few."""
    words: Mapping[int, str] = field(default_factory=dict)
    """Action to a few characters that are written instead of its value."""


StateT = TypeVar("StateT", bound="State")


class State:
    """A position. Subclass it for a game in Python: the methods that raise here are yours to write."""

    @property
    def game(self) -> Game:
        """The game this position belongs to."""
        raise NotImplementedError

    def player(self) -> int:
        """Who is to move: 0, 1, `CHANCE` or `TERMINAL`."""
        raise NotImplementedError

    def legal_actions(self) -> list[int]:
        """The legal actions of the player to move; empty at chance nodes and at the end."""
        raise NotImplementedError

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every outcome of a chance node with its probability; empty elsewhere."""
        return []

    def apply(self, action: int) -> None:
        """Play a legal action, or a possible chance outcome; anything else raises ValueError."""
        raise NotImplementedError

    def clone(self) -> State:
        """An independent copy."""
        raise NotImplementedError

    def returns(self) -> list[float]:
        """One number per player once the game is over, zeros before. Two players' returns add up to zero."""
        raise NotImplementedError

    def rewards(self) -> list[float]:
        """The reward of the last step, one number per player. Over a game the rewards add up to the returns.

        The default is for games that are decided at their end: zeros until then, and the returns there.
        """
        return self.returns()

    def legal_mask(self) -> npt.NDArray[np.bool_]:
        """Whether each action is legal for the player to move, `[num_actions]`."""
        mask = np.zeros(self.game.num_actions, np.bool_)
        mask[self.legal_actions()] = True
        return mask

    def key(self) -> bytes:
        """Equal keys mean equal positions, and the other way round. How the position came about (score, move counters,
        repetitions) is not part of it."""
        raise NotImplementedError

    def observation(self) -> npt.NDArray[np.float32]:
        """The position as planes, `[planes, rows, columns]`."""
        raise NotImplementedError

    def action_name(self, action: int) -> str:
        """The action in the notation players use."""
        return str(action)

    def parse_action(self, text: str) -> int:
        """The legal action, or possible chance outcome, that a text names; ValueError says what is accepted.

        The default reads what `action_name` writes; case and spaces do not matter where that leaves no doubt.
        """
        return find_action(self, text, lambda action: [self.action_name(action)])

    def action_cells(self, action: int) -> list[int]:
        """The cells to touch, in order, to make this action on the drawn board."""
        return []

    def preview_cells(self, action: int) -> list[int]:
        """The cells to light up while this action is considered; the default is those to touch."""
        return self.action_cells(action)

    def action_label(self, action: int) -> str:
        """The action in words for people who do not know the notation; the default is `action_name`."""
        return self.action_name(action)

    def action_line(self, action: int) -> tuple[int, int] | None:
        """The two cells between which an action draws a line, in games of lines."""
        return None

    def action_icon(self, action: int) -> str:
        """A small drawing that tells an action from others with the same cells, such as a new piece; or nothing."""
        return ""

    def action_key(self, action: int) -> str:
        """The key that plays an action, as browsers name it ("ArrowUp"); or nothing."""
        return ""

    def listed_actions(self) -> list[int]:
        """The legal actions in the order in which people expect them; the default is that of `legal_actions`."""
        return self.legal_actions()

    def feats(self) -> list[str]:
        """Sentences about what was achieved that is worth a celebration, such as a record."""
        return []

    def __str__(self) -> str:
        """The position on one line; `Game.parse_state` reads it back."""
        raise NotImplementedError

    def text_board(self) -> str:
        """The position for a terminal, on several lines; the default splits the text at spaces and slashes."""
        return str(self).replace(" ", "/").replace("/", "\n")

    def status(self) -> str:
        """One sentence about where the game stands, for people."""
        return default_status(self)

    def svg(self, overlay: Overlay | None = None) -> str:
        """A drawing; the default writes the text board."""
        return draw.text_board(self.text_board())

    def _repr_svg_(self) -> str:
        return self.svg()

    def __eq__(self, other: object) -> bool:
        """Whether both are the same position of equal games; how they came about does not matter."""
        if not isinstance(other, State):
            return NotImplemented
        return self.game == other.game and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return describe(self)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        spec = user_code.spec_of(type(self))
        return super().__reduce_ex__(protocol) if spec is None else (_blank_state, (spec,), self.__getstate__())


def _blank_state(spec: str) -> State:
    """A state of a user's file, without its attributes, which unpickling adds."""
    blank: State = object.__new__(user_code.load_class(spec, "state", lambda found: issubclass(found, State)))
    return blank


def describe(state: State) -> str:
    """A state for programmers: the game, its variant or options unless they are the default, and the position."""
    game = state.game
    variant = game.variant
    if variant is not None and variant == next(iter(game.variants)):
        variant = None
    elif variant is None and game.options:
        variant = ", ".join(f"{name}={value!r}" for name, value in game.options.items())
    return f"<{' '.join(filter(None, (game.name, variant)))}: {state}>"


def replay(game: Game, start: str, actions: Sequence[int]) -> State:
    """The state of a game after some actions from a start, both as written down when a state is pickled."""
    state = game.parse_state(start)
    for action in actions:
        state.apply(action)
    return state


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply(action)
    return after


def play_out(state: StateT, actions: Iterable[int]) -> tuple[StateT, list[str]]:
    """The state after some actions, and their names."""
    after: Any = state.clone()
    names = []
    for action in actions:
        names.append(after.action_name(action))
        after.apply(action)
    return after, names


def choices(state: State) -> list[int]:
    """What can be applied next: the legal actions, or the possible chance outcomes."""
    return state.legal_actions() or [outcome for outcome, _ in state.chance_outcomes()]


def find_action(state: State, text: str, forms: Callable[[int], Iterable[str]]) -> int:
    """The one choice that a text names: by its `action_name`, or by a form of it, whatever the case and spaces."""
    actions = choices(state)
    for action in actions:
        if text == state.action_name(action):
            return action
    wanted = _squeezed(text)
    found = [action for action in actions if wanted in map(_squeezed, forms(action))]
    if len(found) != 1:
        raise no_such_action(state, text, found)
    return found[0]


def _squeezed(text: str) -> str:
    return "".join(text.split()).lower()


def no_such_action(state: State, text: str, meant: Sequence[int] = ()) -> ValueError:
    """The error for a text that names no choice, or that may mean any of several."""
    if meant:
        names = " or ".join(state.action_name(action) for action in meant)
        return ValueError(f"{text[:80]!r} may mean {names}: write it in full")
    actions = choices(state)
    if not actions:
        return ValueError(f"{text[:80]!r} is not possible: the game is over")
    names = ", ".join(state.action_name(action) for action in itertools.islice(actions, 5))
    more = f" and {len(actions) - 5} more" if len(actions) > 5 else ""
    kind = "a possible outcome" if state.player() == CHANCE else "a legal move"
    return ValueError(f"{text[:80]!r} is not {kind} in {str(state)[:200]}; expected one of {names}{more}")


StateClass = TypeVar("StateClass", bound=type)

Randomness = random.Random | np.random.Generator | None
"""Where random numbers come from: a generator of the standard library or of NumPy; None for the interpreter's own."""


def native_state(cls: StateClass) -> StateClass:
    """A class decorator that gives a class of native states the defaults of `State`, which it cannot inherit from."""
    for name, default in vars(State).items():
        if not hasattr(cls, name):
            setattr(cls, name, default)
    return cls


def default_status(state: State) -> str:
    """Who is to move, or how the game ended."""
    game, returns = state.game, state.returns()
    if state.player() != TERMINAL:
        return f"{game.sides[state.player()]} to move" if game.players == 2 else "Your move"
    if game.players == 1:
        return f"Over: {returns[0]:g}"
    return "Drawn" if returns[0] == 0 else f"{game.sides[0 if returns[0] > 0 else 1]} wins"


@dataclass(frozen=True)
class Record:
    """A game as people of the field write it down."""

    text: str
    extension: str
    """The usual ending of the file's name, such as "pgn"."""
    one_per_file: bool = False
    """Whether programs of the field read only one game per file."""


@dataclass(frozen=True)
class Puzzle:
    """A position that was made to be solved."""

    variant: str | None
    position: str


@dataclass(frozen=True)
class Level:
    """An opponent of a stated strength."""

    name: str
    agent: str
    """The agent, in the grammar of agent names."""
    elo: int | None = None
    """Its measured rating, on a scale of the game's own; None if it was not measured."""
    about: str = ""
    """The level in one line."""


@dataclass(frozen=True)
class RandomGames:
    """What happened in a batch of uniformly random games."""

    lengths: npt.NDArray[np.int32]
    """Players' actions in each game, `[games]`."""
    returns: npt.NDArray[np.float64]
    """`[games, players]`."""
    seconds: float
    """Wall time of the batch."""

    @property
    def games(self) -> int:
        return len(self.lengths)

    @property
    def games_per_second(self) -> float:
        return self.games / self.seconds

    def outcome_shares(self) -> dict[str, float]:
        """Share of games by outcome for two players; for one, the share of each return, or quartiles if there are more
        than four different ones."""
        first = self.returns[:, 0]
        if self.returns.shape[1] == 2:
            return {
                "first wins": float(np.mean(first > 0)),
                "second wins": float(np.mean(first < 0)),
                "drawn": float(np.mean(first == 0)),
            }
        values, counts = np.unique(first, return_counts=True)
        if len(values) <= 4:
            return {f"{v:g}": float(c / len(first)) for v, c in zip(values, counts, strict=True)}
        quartiles = np.percentile(first, [0, 25, 50, 75, 100])
        return dict(zip(("min", "25%", "50%", "75%", "max"), map(float, quartiles), strict=True))


class Game:
    """The rules of one variant. A game in Python sets the four attributes and writes the first two methods.

    A game is a value: games of one class with the same options are equal, and a game travels to other processes as its
    class and its options.
    """

    name: str
    players: int
    num_actions: int
    """Action ids are 0 to num_actions - 1."""
    observation_shape: tuple[int, ...]
    observation_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """The least and the greatest number that an observation may hold, for libraries that ask for it."""
    options: dict[str, Any]
    """The arguments of the constructor that are not its defaults."""
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named sets of constructor options; the first is the default."""
    sides: ClassVar[tuple[str, str]] = ("First player", "Second player")
    """What people call the players of a game for two."""
    title: ClassVar[str] = ""
    """What people call the game; made from `name` if empty."""
    blurb: ClassVar[str] = ""
    """The game in one sentence."""
    usual_start: ClassVar[str] = "the usual start"
    """What a person plays from if nothing is chosen, in words."""
    any_order: ClassVar[bool] = False
    """For one player: the moves of a finished game may be made in every order in which they are legal, with the same
    result."""
    bottom: ClassVar[int] = 0
    """The player whose side is at the bottom of the drawing."""
    play_variant: ClassVar[str | None] = None
    """The variant that a person plays if nothing is chosen; None for the first one."""
    unit: ClassVar[str] = ""
    """What the return of a game for one counts, such as "points"."""
    draws_last_move: ClassVar[bool] = False
    """Whether the drawing of a position marks the last move by itself."""
    history_matters: ClassVar[bool] = False
    """Whether the rules look back (repetitions, a move counter), so that positions with equal keys may go on
    differently."""
    best_return: float | None = None
    """The greatest return that the player of a game for one can ever get, if that is known: a search stops there."""
    puzzle_levels: ClassVar[tuple[str, ...]] = ()
    """Levels that `puzzle` knows, from easy to hard."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        game = super().__new__(cls)
        object.__setattr__(game, "options", _given_options(cls, args, kwargs))  # a game may be a frozen dataclass
        return game

    def __init__(self) -> None:
        """A game has no options unless its class takes some."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.title and "name" in vars(cls):
            cls.title = cls.name.replace("-", " ").title()

    @classmethod
    def variant_options(cls, variant: str | None) -> dict[str, Any]:
        """The constructor options of a variant, the first one if None; ValueError if it is unknown."""
        if variant is None:
            return dict(next(iter(cls.variants.values()), {}))
        if variant not in cls.variants:
            known = ", ".join(cls.variants) or "none"
            raise ValueError(f"unknown variant {variant!r} of {cls.name}; known variants: {known}")
        return dict(cls.variants[variant])

    @cached_property
    def variant(self) -> str | None:
        """The name of the variant that has the options of this game, if there is one."""
        for name, options in self.variants.items():
            if _given_options(type(self), (), options) == self.options:
                return name
        return None

    def _value(self) -> tuple[object, ...]:
        return (type(self), *((name, _hashable(value)) for name, value in sorted(self.options.items())))

    def __eq__(self, other: object) -> bool:
        return self._value() == other._value() if isinstance(other, Game) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def _repr_html_(self) -> str:
        words = " ".join(filter(None, [self.title, self.variant]))
        return f"<div><p>{escape(words)}. {escape(self.blurb)}</p>{self.initial_state().svg()}</div>"

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (user_code.spec_of(type(self)) or type(self), self.options)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def initial_state(self) -> State:
        """The position every game of this variant starts from."""
        raise NotImplementedError

    def parse_state(self, text: str) -> State:
        """Read `str(state)`; anything else raises ValueError saying what was wrong and what is accepted."""
        raise NotImplementedError

    def random_start(self, rng: Randomness = None) -> State:
        """A position to start from, drawn at random where the game has many."""
        return self.initial_state()

    def has_chance(self) -> bool:
        """Whether chance acts in the game; the default looks before and after the first move."""
        state = self.initial_state()
        return state.player() == CHANCE or any(_after(state, a).player() == CHANCE for a in state.legal_actions())

    def symmetries(self) -> Sequence[Symmetry]:
        """Ways to turn or mirror every position under which the game stays the same, for methods that learn from them.

        `rookery.symmetry.of_grid` lists those of a grid.
        """
        return ()

    def action_symmetries(self) -> Sequence[Sequence[int]]:
        """What every action becomes under each symmetry of the game, for methods that learn from whole games."""
        return [symmetry.actions for symmetry in self.symmetries()]

    def action_places(self) -> Sequence[int] | None:
        """For games whose actions lie on the cells of the observation's planes: the place of every action among planes
        of scores over the board, `plane * cells + cell`. None where a net's policy need not be a board.
        """
        return None

    def array_rules(self) -> Any | None:
        """The rules on arrays of positions, as `rookery.exact.layers` has them, to solve large games; or None."""
        return None

    def puzzle(self, level: str, seed: int) -> Puzzle:
        """A puzzle of one of the `puzzle_levels`."""
        raise ValueError(f"{self.title} has no puzzles made by level")

    def levels(self) -> Sequence[Level]:
        """Opponents for people, from the weakest to the strongest; none by default."""
        return ()

    def record(self, start: str, actions: Sequence[int], players: Sequence[str], date: str = "") -> Record:
        """A whole game as people write it down. `actions` are all that were applied, chance outcomes too. `date`, such
        as "2026-01-31", is written where the notation has a place for it."""
        state, names = play_out(self.parse_state(start), actions)
        return Record("\n".join([f"# {self.name}: {', '.join(players)}", start, *names, str(state)]) + "\n", "txt")

    def parse_record(self, text: str) -> tuple[str, list[int]]:
        """A start and the actions after it, from a position or from a whole game as people write it down.

        The default reads a position, and what the default `record` writes.
        """
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(f"# {self.name}:")]
        if len(lines) < 2:
            return str(self.parse_state(text.strip())), []
        state = self.parse_state(lines[0])
        start, actions = str(state), []
        for line in lines[1:-1]:
            actions.append(state.parse_action(line))
            state.apply(actions[-1])
        if lines[-1] != str(state):
            raise ValueError(f"the game leads to {state}, and its last line says {lines[-1][:80]!r}")
        return start, actions

    def pieces(self) -> dict[str, str]:
        """What can be put on a cell when a position is set up by hand, with what people call it; empty if positions
        can only be written."""
        return {}

    def with_piece(self, text: str, cell: int, piece: str) -> str:
        """The text of a position after a piece is put on a cell.

        "turn" gives the move to the other side in a game for two. The new text may be no position of the game;
        `parse_state` says so.
        """
        raise ValueError(f"positions of {self.title} can only be written")

    def sketch(self, text: str) -> str:
        """The drawing of a board that is being set up and may be no position yet; ValueError if it is no board.

        The default draws positions only, so that every step of setting one up must be a position.
        """
        return self.parse_state(text).svg()

    def random_games(self, games: int, seed: int = 0, threads: int = 0, start: State | None = None) -> RandomGames:
        """Play uniformly random games, natively, from `start` or the initial state.

        The same seed gives the same games whatever the number of threads (0: all cores).
        """
        begin = time.perf_counter()
        lengths, returns = native(start or self.initial_state()).random_games(games, seed, threads)
        return RandomGames(lengths, returns, time.perf_counter() - begin)


@cache
def _signature(init: Callable[..., None]) -> inspect.Signature:
    return inspect.signature(init)


def _given_options(cls: type[Game], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a game's constructor by name, without those that are its defaults."""
    signature = _signature(cls.__init__)
    options = signature.bind(None, *args, **kwargs).arguments
    del options[next(iter(signature.parameters))]  # self
    for name, parameter in signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            options |= options.pop(name, {})
        elif name in options and _hashable(options[name]) == _hashable(parameter.default):
            del options[name]
    # A view of a mapping cannot be pickled.
    return {name: dict(value) if isinstance(value, Mapping) else value for name, value in options.items()}


def _hashable(value: Any) -> Any:
    """A hashable stand-in for an option, equal for equal options; the order of a mapping counts."""
    if isinstance(value, Mapping):
        return tuple((key, _hashable(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return value


def rebuild(kind: type[Game] | str, options: Mapping[str, Any]) -> Game:
    """A game from its class, or where a user's file has it, and its options: how games are pickled."""
    if isinstance(kind, str):
        kind = user_code.load_class(kind, "game", lambda found: issubclass(found, Game))
    return kind(**options)


class NativeGame(Game):
    """A game whose rules and states are C++. `rules` is the native object the states point to."""

    observation_range = (0.0, 1.0)

    def __init__(self, rules: Any) -> None:
        self.rules = rules
        self.players = rules.players
        self.num_actions = rules.num_actions
        self.observation_shape = rules.observation_shape


def native(state: State, like: Any = None) -> Any:
    """The state as the native algorithms take it: itself, or an adapter around a state written in Python.

    Adapters remember positions; `like` is one of the same game to share them with.
    """
    if hasattr(state, "random_games"):
        return state
    return _native.PyState(state) if like is None else like.with_state(state)


def uniform(rng: Randomness) -> float:
    """A random number of at least 0 and below 1."""
    return random.random() if rng is None else rng.random()


def fresh_seed(rng: Randomness) -> int:
    """A seed for one native call."""
    return int(uniform(rng) * 2**53)


def play_chance(state: State, rng: Randomness = None) -> list[int]:
    """Draw chance outcomes until a player is to move or the game is over; returns the outcomes."""
    drawn = []
    while state.player() == CHANCE:
        point = uniform(rng)
        for outcome, probability in state.chance_outcomes():  # noqa: B007, after the loop it is the one that was drawn
            point -= probability
            if point < 0:
                break
        state.apply(outcome)
        drawn.append(outcome)
    return drawn
