"""Training: any method that learns, on any game it fits, into a run's folder.

>>> import rookery
>>> game = rookery.load("tenten", "4x4-seven")
>>> run = train(game, "lspi", updates=2, out="runs/mine")
>>> state = game.parse_state("###./..../..../.... 1x1")
>>> run.state, len(run.metrics), state.action_name(run.agent().choose(state))
('done', 2, '1x1@r1c4')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from rookery.agents import Agent
from rookery.game import Game
from rookery.method import Method, check_numbers, filled, suggestion
from rookery.progress import console
from rookery.registry import agent, learners, load, method
from rookery.run import Row, Run
from rookery.scale import Background, Task, check_on
from rookery.tracking import tracking


class TrainingRun(Run):
    """A run that training has just written."""

    game: Game
    """The game that was trained on."""

    def agent(self, **options: Any) -> Agent:
        """The agent that the run has trained."""
        settings = ",".join(f"{name}={value}" for name, value in options.items())
        name = self.info["method"] + (f":{settings}" if settings else "")
        return agent(name, self.game, self.folder)


def default_folder(game: Game, method: str) -> Path:
    """Where a run goes if nothing is said: `runs/GAME-METHOD-VARIANT`."""
    return Path("runs") / "-".join(filter(None, [game.name, method, game.variant]))


def learner(game: Game, name: str) -> Method:
    """A method that can be trained on a game."""
    found = method(name, game, "learner")
    if found.kind != "learn":
        raise ValueError(f"{name} does not learn{suggestion(name, learners(game), 'learners')}")
    return found


def option_words(name: str, value: Any) -> list[str]:
    """A setting as the command line takes it.

    >>> option_words("learning_rate", 0.1), option_words("mirror", False)
    (['--learning-rate', '0.1'], ['--no-mirror'])
    """
    word = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{word}" if value else f"--no-{word}"]
    return [f"--{word}", *(map(str, value) if isinstance(value, list) else [str(value)])]


def settings_for(game: Game, method: Method, given: dict[str, Any], preset: str | None = None) -> Any:
    """The settings of a method for a game: the defaults or a preset, with the given ones changed."""
    defaults = method.default_settings(game)
    if preset is not None:
        if preset not in method.presets:
            raise ValueError(
                f"unknown preset {preset!r} of {method.name}{suggestion(preset, method.presets, 'presets')}"
            )
        defaults = method.presets[preset]
    return filled(method.Settings, given, defaults, method.name)


def train(
    game: Game | str,
    method: str | Method,
    /,  # a setting may be called `method`
    *,
    out: Path | str | None = None,
    seed: int = 0,
    resume: bool = False,
    preset: str | None = None,
    settings: Any = None,
    command: str = "",
    on_row: Callable[[Row], None] | None = None,
    track: Sequence[str] = (),
    on: str = "here",
    **given: Any,
) -> TrainingRun:
    """Train a method on a game and return its run, with `run.metrics` and `run.agent()`.

    Keywords are the method's settings; `settings` is a whole instance of them instead. A progress bar is shown on a
    terminal unless `on_row` takes the rows of metrics. A run that was stopped is resumed with `resume=True`. `track`
    names trackers that get the metrics too: `tensorboard`, `wandb`, `mlflow`. `on` is where methods that use several
    processes have them, an executor of `rookery.scale`; with `here` they have as many on this machine as they want.
    """
    check_on(on)
    rules = load(game)
    chosen = learner(rules, method) if isinstance(method, str) else method
    settings = settings_for(rules, chosen, given, preset) if settings is None else settings
    check_numbers(settings)
    folder = Path(out) if out is not None else default_folder(rules, chosen.name)
    command = command or f"rookery.train({game!r}, {chosen.name!r}, seed={seed})"
    run = TrainingRun.create(folder, rules, chosen.name, settings, seed, resume=resume, command=command)
    run.game = rules
    run.hire = lambda shared, count: _Hired(f"processes:{count}" if on in ("here", "processes") else on, shared)
    try:
        with tracking(run, track) as tracked, _shown(chosen) if on_row is None else nullcontext(on_row) as show:
            for row in chosen.train(rules, settings, run):
                show(row)
                tracked(row)
    except KeyboardInterrupt:
        run.note("stopped")
        raise
    except BaseException as error:
        run.note("failed", f"{type(error).__name__}: {error}")
        raise
    run.note("done")
    return run


class _Hired:
    """Workers of `rookery.scale` for a run."""

    def __init__(self, on: str, shared: Any) -> None:
        self._background = Background(on, shared=shared)

    def put(self, key: str, function: str, arguments: Mapping[str, Any]) -> None:
        self._background.put(Task(key, function, arguments))

    def get(self) -> Any:
        return self._background.get()

    def close(self) -> None:
        self._background.close()


@contextmanager
def _shown(method: Method) -> Iterator[Callable[[Row], None]]:
    """A progress bar that shows the method's headline."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    terminal = console()
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as bar:
        task = bar.add_task(f"{method.name}: starting", total=1.0)

        def show(row: Row) -> None:
            bar.update(task, completed=row.get("progress", 0.0), description=f"{method.name}: {headline(method, row)}")

        yield show


def headline(method: Method, row: Row) -> str:
    """The first figure of a row, in words."""
    value = row.get(method.headline)
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else "-"
    return f"{method.headline.replace('_', ' ')} {number}"
