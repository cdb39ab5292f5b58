"""Games, methods and agents by name.

A game is named by its registered name, as `FILE.py`, `FILE.py:Class` or `package.module:Class`, or as
`open_spiel:NAME`. An agent is named

- `METHOD` or `METHOD:SETTINGS`, such as `mcts:simulations=500` or `td:depth=5`;
- `METHOD:PATH`, the folder of a run or a model file, short for `METHOD:path=PATH`; with settings before it,
  `METHOD:depth=5,path=PATH`: everything after `path=` is the path, whatever it contains;
- `METHOD:ranker=AGENT` where an agent uses another one, such as `backtracking:ranker=mcts:simulations=100`; a path is
  the other one's, `backtracking:ranker=dqn,path=PATH` or just `backtracking:RUN`;
- `uci:PROGRAM` or `hub:PROGRAM`, an engine that is another program;
- by the folder of a run alone, such as `runs/mine`;
- `FILE.py`, `FILE.py:Class` or `package.module:Class` for a class of your own; `FILE.py:Class:depth=3` has settings.

Games in folders of `rookery.games` are found by themselves. `register` adds your own, and installed packages add theirs
through the entry points `rookery.games`, `rookery.methods` and `rookery.agents`.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator, MutableMapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from rookery import games, user_code
from rookery.adapters import open_spiel
from rookery.agents import Agent, as_agent
from rookery.files import located
from rookery.game import Game, State
from rookery.method import Method, Solution, agent_setting, filled, suggestion
from rookery.run import INFO, Run

# Games


class _Games(MutableMapping[str, type[Game]]):
    """Games by name. One that ships or comes with another package is imported when it is first asked for."""

    def __init__(self) -> None:
        folders = [module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg]
        self._found: dict[str, type[Game] | str] = {
            games.game_name(folder): f"{games.__name__}.{folder}" for folder in folders
        }
        self._complete = False

    def __getitem__(self, name: str) -> type[Game]:
        if name not in self._found:
            self._add_installed()
        found = self._found[name]
        if isinstance(found, str):
            found = self._found[name] = importlib.import_module(found).GAME
        return found

    def _add_installed(self) -> None:
        if not self._complete:
            self._complete = True
            for entry in entry_points(group="rookery.games"):
                self._found.setdefault(entry.name, entry.load())

    def __iter__(self) -> Iterator[str]:
        self._add_installed()
        return iter(self._found)

    def __len__(self) -> int:
        self._add_installed()
        return len(self._found)

    def __setitem__(self, name: str, game: type[Game]) -> None:
        self._found[name] = game

    def __delitem__(self, name: str) -> None:
        del self._found[name]


GAMES = _Games()
"""Every game by name. Add your own with `register`."""


def _is_game(kind: type) -> bool:
    return issubclass(kind, Game)


def load(name: str | Game, variant: str | None = None, **options: Any) -> Game:
    """A game by name, with a variant's options and then yours.

    >>> load("tenten", "3x3-three").num_actions
    9
    >>> load("chess")
    Traceback (most recent call last):
    ...
    ValueError: unknown game 'chess'; known games: ...
    """
    if isinstance(name, Game):
        return name
    if name.startswith(open_spiel.PREFIX):
        kind: type[Game] = open_spiel.game_class(name)
    elif user_code.is_user_code(name):
        kind = user_code.load_class(name, "game", _is_game)
    elif name in GAMES:
        kind = GAMES[name]
    else:
        raise ValueError(f"unknown game {name!r}{suggestion(name, GAMES, 'games')}")
    return kind(**(kind.variant_options(variant) | options))


# Methods

_METHODS: dict[str | None, dict[str, Method]] = {}
"""Registered methods, by the game they are for (None: any) and their name."""


@cache
def _shipped(package: str) -> dict[str, Method]:
    """The methods in the module `methods` of a package."""
    name = f"{package}.methods"
    if importlib.util.find_spec(name) is None:
        return {}
    return {method.name: method for method in importlib.import_module(name).METHODS}


@cache
def _installed() -> None:
    for group in ("rookery.methods", "rookery.agents"):
        for entry in entry_points(group=group):
            register(entry.load())


def _known(game: Game) -> dict[str, Method]:
    """Every method that may fit a game. A game's own method takes the place of a generic one of the same name, for the
    variants that it fits."""
    _installed()
    package = type(game).__module__.rpartition(".")[0]
    own = _shipped(package) if package.startswith(f"{games.__name__}.") else {}
    generic = _shipped("rookery.search") | _shipped("rookery.learn") | _shipped("rookery.exact")
    own = {name: method for name, method in own.items() if name not in generic or method.misfit(game) is None}
    return generic | _METHODS.get(None, {}) | own | _METHODS.get(game.name, {})


def methods(game: Game) -> dict[str, Method]:
    """The methods that fit a game, by name."""
    return {name: method for name, method in _known(game).items() if method.misfit(game) is None}


def method(name: str, game: Game, kind: str = "method") -> Method:
    """A method by name; ValueError if it is unknown or does not fit the game. `kind` is what the error calls it."""
    known = _known(game)
    if name not in known:
        fitting = learners(game) if kind == "learner" else methods(game)
        raise ValueError(f"unknown {kind} {name!r} for {game.name}{suggestion(name, fitting, f'{kind}s')}")
    if reason := known[name].misfit(game):
        where = f"{game.name} {game.variant}" if game.variant else game.name
        raise ValueError(f"{name} does not fit {where}: it {reason}")
    return known[name]


def learners(game: Game) -> dict[str, Method]:
    """The methods that can be trained on a game."""
    return {name: method for name, method in methods(game).items() if method.kind == "learn"}


class _AgentMethod(Method):
    """A user's class of agents, registered under a name."""

    kind = "search"

    def __init__(self, player: type) -> None:
        self.player = player
        self.name = getattr(player, "name", None) or re.sub(r"(?<!^)(?=[A-Z])", "-", player.__name__).lower()
        self.game = getattr(player, "game", None)

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return as_agent(user_code.new(self.player, game=game))


Thing = TypeVar("Thing")


def register(thing: Thing) -> Thing:
    """Make a game, a method or an agent known by its name to everything that takes names.

    Usable as a class decorator on a `Game`, on a `Method`, and on any class with a method `choose`, which is named by
    its attribute `name` or after the class.
    """
    if isinstance(thing, type) and issubclass(thing, Game):
        GAMES[thing.name] = thing
        return thing
    if isinstance(thing, type) and issubclass(thing, Method):
        found: Method = thing()
    elif isinstance(thing, Method):
        found = thing
    elif isinstance(thing, type) and callable(getattr(thing, "choose", None)):
        found = _AgentMethod(thing)
    else:
        raise ValueError(f"a game, a method or a class with a method choose can be registered, not {thing!r}")
    _METHODS.setdefault(found.game, {})[found.name] = found
    return thing


_FILES: list[str] = []
"""Files whose contents were registered."""
_NAMES: list[str] = []
"""Other names that `register_name` was given."""


def register_file(file: Path | str) -> list[str]:
    """Register every game, method and agent that a file defines; returns their names."""
    module = user_code.load_file(Path(file))
    found = user_code.classes_in(module, _can_register)
    if not found:
        raise ValueError(f"{file} defines no game, agent or method; see docs/adding-a-game.md")
    _FILES.append(str(Path(file).resolve()))
    for kind in found:
        if not (issubclass(kind, Game) and kind.name in GAMES):
            register(kind)
    return [kind.__name__ for kind in found]


def register_name(name: Path | str) -> list[str]:
    """Register what a name means: everything in `FILE.py`, a game of OpenSpiel, or an agent such as `uci:PROGRAM`.

    Returns what it is called then. An agent gets a short name without its path, such as `uci-stockfish`, for those who
    may play with it but may not name programs and files themselves.
    """
    name = str(name)
    if name.endswith(".py"):
        return register_file(name)
    if name.startswith(open_spiel.PREFIX):
        found = [register(open_spiel.game_class(name)).name]
    else:
        found = [_register_agent(name)]
    _NAMES.append(name)
    return found


class _NamedAgent(Method):
    """An agent with settings under a name of its own."""

    kind = "search"

    def __init__(self, name: str, full: str, game: str) -> None:
        self.name, self.game, self.full = name, game, full

    def misfit(self, game: Game) -> str | None:
        return super().misfit(game) or method(split_name(self.full)[0], game, "agent").misfit(game)

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return agent(self.full, game)


def _register_agent(full: str) -> str:
    base, settings = split_name(full)
    fitting = [game for game in map(load, GAMES) if base in methods(game)]
    if not fitting:
        raise ValueError(f"{full[:80]!r} is not a file FILE.py, not a game, and not an agent of any game")
    for known in methods(fitting[0]).values():
        if isinstance(known, _NamedAgent) and known.full == full:
            return known.name
    given = [Path(settings.pop("path", "")).stem, *(f"{key}-{value}" for key, value in settings.items())]
    name = re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, [base, *given])).lower())
    taken = {other for game in fitting for other in _known(game)}
    name = next(one for one in (name, *(f"{name}-{i}" for i in range(2, 1000))) if one not in taken)
    for game in fitting:
        agent(full, game)  # says what is wrong with it
        register(_NamedAgent(name, full, game.name))
    return name


def user_code_names() -> list[tuple[str, bool]]:
    """What this process has loaded: users' files, each with whether its contents are registered, and other names."""
    return [(file, file in _FILES) for file in user_code.loaded_files()] + [(name, True) for name in _NAMES]


def load_user_code(names: Iterable[tuple[str, bool]]) -> None:
    """Load what `user_code_names` told in another process."""
    for name, registered in names:
        register_name(name) if registered else user_code.load_file(Path(name))


def _can_register(kind: type) -> bool:
    return issubclass(kind, (Game, Method)) or (callable(getattr(kind, "choose", None)) and kind is not Agent)


# Agents


def agent_names(game: Game, ready: bool = False) -> list[str]:
    """The agents that can play a game, by name; with `ready` only those that need no training first.

    >>> "oracle" in agent_names(load("tenten"), ready=True)
    False
    >>> "oracle" in agent_names(load("tenten", "4x4-seven"), ready=True)
    True
    """
    return [name for name, method in methods(game).items() if not ready or method.unready(game) is None]


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """The method and the settings in an agent's name.

    >>> split_name("td:depth=5,path=runs/a,b=c")
    ('td', {'depth': '5', 'path': 'runs/a,b=c'})
    >>> split_name("td:C:/odd, path")
    ('td', {'path': 'C:/odd, path'})
    """
    base, _, rest = name.partition(":")
    settings: dict[str, str] = {}
    while rest:
        match = re.match(r"([a-z_]+)=", rest)
        if match is None:
            settings["path"] = rest
            break
        if match[1] == "path":
            settings["path"] = rest[5:]
            break
        value, _, rest = rest[match.end() :].partition(",")
        settings[match[1]] = value
    return base, settings


def agent(name: Any, game: Game | str | None = None, path: Path | str | None = None) -> Agent:
    """An agent by name, from the folder of a run, or around an object of yours that can `choose`.

    The name's forms are described at the top of this module. `path` is a run's folder or a model file.

    >>> game = load("tenten", "3x3-three")
    >>> state = game.parse_state("##./#.#/.## 1x1")
    >>> state.action_name(agent("mcts:simulations=200", game).choose(state)) in {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
    True
    """
    if isinstance(name, Run):
        name, game = str(name.folder), game or _game_of(name)
    if isinstance(game, str):
        game = load(game)
    if not isinstance(name, (str, Path)):
        return as_agent(user_code.new(name, game=game) if isinstance(name, type) else name)
    name = str(name)
    if game is not None:
        base, settings = split_name(name)
        if base in _known(game):
            return _from_method(method(base, game, "agent"), game, settings, path)
    if (located(name) / INFO).is_file():
        run = Run.open(located(name))
        game = game or _game_of(run)
        return _from_method(method(run.info["method"], game), game, {}, name)
    spec, _, rest = name.rpartition(":") if re.search(r":[a-z_]+=", name) else (name, "", "")
    if user_code.is_user_code(spec):
        kind = user_code.load_class(spec, "agent", lambda kind: callable(getattr(kind, "choose", None)))
        given = {key: _plain(value) for key, value in split_name(f"x:{rest}")[1].items()}
        try:
            return as_agent(user_code.new(kind, game=game, **given))
        except TypeError as error:
            raise ValueError(f"{spec} cannot be made with the settings {rest!r}: {error}") from None
    if game is None:
        raise ValueError(f"the agent {name!r} needs a game")
    raise ValueError(f"unknown agent {base!r} for {game.name}{suggestion(base, agent_names(game), 'agents')}")


def _from_method(method: Method, game: Game, named: dict[str, str], path: Path | str | None) -> Agent:
    settings: dict[str, Any] = dict(named)
    given = settings.pop("path", path)
    if given == "":
        raise ValueError(f"the path of the agent {method.name!r} is empty")
    if given is not None and "path" in (field for field in getattr(method.Options, "__dataclass_fields__", {})):
        settings["path"] = str(given)
        given = None
    inner = agent_setting(method.Options)
    if inner and (inner in settings or given is not None):
        settings[inner] = agent(settings[inner], game, given) if inner in settings else agent(given, game)
        given = None
    options = filled(method.Options, settings, what=f"the agent {method.name!r}")
    if given is not None and method.kind != "learn" and not method.trained_by:
        raise ValueError(f"the agent {method.name!r} is not trained, and takes no path: {str(given)[:80]!r}")
    teacher = method.trained_by or (method.name if method.kind == "learn" else "")
    if given is None and teacher and (reason := method.unready(game)):
        raise ValueError(
            f"{method.name} {reason}; train it with `rookery train {game.name} {teacher}` and name the folder as "
            f"{method.name}:FOLDER"
        )
    return method.agent(game, options, None if given is None else model_file(given, method, game))


def model_file(path: Path | str, method: Method, game: Game) -> Path:
    """The model in a run's folder, or the file itself."""
    path = located(path)
    if (path / INFO).is_file():
        run = Run.open(path)
        trainer = method.trained_by or method.name
        if run.info["game"] != game.name or run.info["method"] != trainer:
            raise ValueError(f"{path} holds {run.info['method']} of {run.info['game']}, not {trainer} of {game.name}")
    found = path / method.model if path.is_dir() else path
    if not found.exists():
        raise ValueError(
            f"there is no model in {path}; `rookery train {game.name} {method.trained_by or method.name}` writes one"
        )
    return found


def _plain(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _game_of(run: Run) -> Game:
    return load(run.info["game"], **run.info["options"])


def strongest(game: Game, among: Collection[str] | None = None) -> str:
    """The agent to meet if nothing is chosen: the game's own best, else a general search. `among` names the agents that
    are ready, if that is known already."""
    known = agent_names(game, ready=True) if among is None else among
    return next(name for name in ("best", "oracle", "mcts", "random") if name in known)


# Exact answers


def solvers(game: Game) -> Iterable[Method]:
    """The methods that solve positions of a game exactly."""
    return [method for method in methods(game).values() if method.kind == "exact"]


def solve(state: State) -> Solution:
    """The exact value of a position, what every move is worth, and the best moves; ValueError says why there is none.

    >>> state = load("endgames").parse_state("8/8/8/8/8/1K6/7R/k7 w - - 0 1")
    >>> answer = solve(state)
    >>> answer.text, [state.action_name(action) for action in answer.best]
    ('White mates in 1 move', ['Rh1#'])
    """
    known = list(solvers(state.game))
    if not known:
        raise ValueError(f"no method solves {state.game.name} exactly")
    reasons = []
    for method in known:
        try:
            return method.solve(state)
        except ValueError as error:
            reasons.append(str(error))
    raise ValueError("; ".join(reasons))
