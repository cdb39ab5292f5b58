"""`rookery train GAME METHOD` and `rookery sweep GAME METHOD`: they take exactly the settings of that method."""

from __future__ import annotations

import shlex
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console

from rookery.cli.base import (
    PROCESSES,
    Answer,
    Command,
    Common,
    Where,
    print_failures,
    print_table,
    progress,
    shard_answer,
)
from rookery.game import Game
from rookery.method import Method
from rookery.registry import learners, load
from rookery.run import as_json
from rookery.training import default_folder, learner, option_words, settings_for
from rookery.training import train as run_training


def train() -> None:
    """Train an agent: any method that learns, on any game it fits."""


def sweep() -> None:
    """Train a method with many settings and seeds, and name the best settings."""


def find(verb: str, words: list[str]) -> tuple[str, Command, list[str]]:
    """The command for the game and the method that the words begin with."""
    if not words or words[0] in ("-h", "--help"):
        print(_help(verb))
        sys.exit(0 if words else 2)
    variant = _option(words, "--variant")
    game = load(words[0], variant)
    if len(words) < 2 or words[1] in ("-h", "--help"):
        print(_methods(verb, game, words[0]))
        sys.exit(0 if len(words) > 1 else 2)
    method = learner(game, words[1])
    make = _command if verb == "train" else _sweep_command
    return f"{verb} {words[0]} {words[1]}", make(words, game, method), words[2:]


def _option(words: list[str], name: str) -> str | None:
    """The value of an option that decides about the others."""
    for word, value in zip(words, [*words[1:], None], strict=True):
        if word == name:
            return value
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def _help(verb: str) -> str:
    about = {
        "train": "Train an agent and keep the run in a folder: settings, metrics, a checkpoint and the model.",
        "sweep": "Train a method with many settings and seeds, such as --over discount=0.5..0.99 --seeds 3, and name\n"
        "the best settings.",
    }[verb]
    return (
        f"usage: rookery {verb} GAME METHOD [settings]\n\n{about}\n"
        f"`rookery games` lists the games, `rookery {verb} GAME --help` the methods that learn it, and\n"
        f"`rookery {verb} GAME METHOD --help` the settings of one."
    )


def _methods(verb: str, game: Game, name: str) -> str:
    rows = [f"  rookery {verb} {name} {method.name:<12} {method.about}" for method in learners(game).values()]
    return "\n".join([f"Methods that learn {game.title}:", *rows])


def arg(kind: Any, text: str) -> Any:
    """An option with its help."""
    return Annotated[kind, tyro.conf.arg(help=text)]


def _settings(words: list[str], game: Game, method: Method) -> list[Any]:
    """The options that training and sweeping share."""
    defaults = settings_for(game, method, {}, _option(words, "--preset"))
    fields: list[Any] = [
        ("settings", Annotated[method.Settings, tyro.conf.arg(name="")], field(default=defaults)),
        ("variant", arg(str | None, "Variant of the game."), None),
        ("common", Annotated[Common, tyro.conf.arg(name="")], field(default=Common())),
    ]
    if method.presets:
        names = Literal[tuple(method.presets)]  # type: ignore[valid-type]
        fields.append(("preset", arg(names | None, "Settings by name; others given here change it."), None))
    return fields


def _made(fields: list[Any], about: str, run: Callable[[Any], Answer]) -> Command:
    """A command with the given fields as options."""
    options = make_dataclass("Options", fields)

    def command(given: Any) -> Answer:
        return run(given)

    command.__annotations__ = {"given": Annotated[options, tyro.conf.arg(name="")], "return": Answer}
    command.__doc__ = about
    return command


def _command(words: list[str], game: Game, method: Method) -> Command:
    fields = [
        *_settings(words, game, method),
        ("out", arg(Path | None, f"Folder of the run; {default_folder(game, method.name)} if not given."), None),
        ("resume", arg(bool, "Resume the run in the folder."), False),
        ("seeds", arg(int, "Train this many times, with the seed and those after it, and show medians."), 1),
        (
            "track",
            arg(
                tyro.conf.UseAppendAction[tuple[str, ...]],
                "Also write the metrics for: tensorboard, wandb or mlflow; repeatable.",
            ),
            (),
        ),
        ("where", Where, field(default=PROCESSES)),
    ]
    about = f"{method.about}\n\nThe run keeps a checkpoint: resume a stopped run with --resume."
    command = f"rookery train {shlex.join(words)}"
    return _made(fields, about, lambda given: _train(words[0], game, method, given, command))


def _sweep_command(words: list[str], game: Game, method: Method) -> Command:
    from rookery.scale.sweep import Sampler

    texts = tyro.conf.UseAppendAction[tuple[str, ...]]
    metric = f"Figure that trials are judged by; {method.headline} if not given. A dot leads into nested ones."
    fields = [
        *_settings(words, game, method),
        ("over", arg(texts, "Setting to sweep: NAME=LOW..HIGH, NAME=LOW..HIGH:log or NAME=A,B,C; repeatable."), ()),
        ("trials", arg(int | None, "Number of trials; all combinations of a grid, else 20 if not given."), None),
        ("track", arg(texts, "Also write the metrics of every run for tensorboard, wandb or mlflow; repeatable."), ()),
        ("seeds", arg(int, "Runs per trial, each with another seed."), 1),
        ("sampler", arg(Sampler | None, "How settings are chosen; tpe, cmaes and gp are those of Optuna."), None),
        ("prune", arg(bool, "Stop trials early that do worse than others did (Optuna)."), False),
        ("metric", arg(str | None, metric), None),
        ("minimize", arg(bool | None, "Whether less is better; known for losses and errors."), None),
        ("against", arg(str, "Judge trials by games against this agent instead."), ""),
        ("match_games", arg(int, "Number of games against that agent."), 100),
        ("out", arg(Path | None, "Folder of the sweep; runs/sweep-GAME-METHOD if not given."), None),
        ("resume", arg(bool, "Resume the sweep in the folder."), False),
        ("where", Where, field(default=PROCESSES)),
    ]  # fmt: skip
    about = f"Sweep settings of {method.name}: {method.about}"
    return _made(fields, about, lambda given: _sweep(words, game, method, given))


def _base_command(words: list[str], game: Game, method: Method, given: Any) -> str:
    """The command that trains with the settings of a sweep that are not swept."""
    chosen = [words[0], words[1]]
    chosen += ["--variant", given.variant] if given.variant else []
    chosen += ["--preset", given.preset] if getattr(given, "preset", None) else []
    defaults = settings_for(game, method, {}, getattr(given, "preset", None))
    for name, value in as_json(given.settings).items():
        if value != as_json(defaults)[name]:
            chosen += option_words(name, value)
    return f"rookery train {shlex.join(chosen)}"


def _planned(words: list[str], game: Game, method: Method, given: Any, **more: Any) -> dict[str, Any]:
    return {
        "game": game, "method": method, "settings": given.settings, "seed": given.common.seed, "seeds": given.seeds,
        "out": given.out, "resume": given.resume, "on": given.where.on, "timeout": given.where.timeout,
        "track": given.track, "base_command": _base_command(words, game, method, given), **more,
    }  # fmt: skip


def _sweep(words: list[str], game: Game, method: Method, given: Any) -> Answer:
    from rookery.scale import sweep as sweeping

    over = dict(text.partition("=")[::2] for text in given.over)
    if len(over) < len(given.over) or not all(over.values()):
        raise ValueError(f"--over takes NAME=VALUES, each name once, unlike {' '.join(given.over)[:80]!r}")
    plan = _planned(
        words, game, method, given, over=over, trials=given.trials, sampler=given.sampler, prune=given.prune,
        metric=given.metric, minimize=given.minimize, against=given.against, match_games=given.match_games,
    )  # fmt: skip
    if given.where.shard:
        where = {name: plan.pop(name) for name in ("on", "timeout", "resume")}
        job = sweeping.grid_job(sweeping.plan(**plan), given.where.shard)
        if where["resume"]:
            job.resume()
        deque(job.run(where["on"], timeout=where["timeout"], label=method.name, shown=True), maxlen=0)
        return shard_answer(job)
    return _swept(sweeping.sweep(**plan), given)


def _swept(found: Any, given: Any) -> Answer:
    data = found.data()
    page = found.write()
    failed = {str(trial.number): trial.error for trial in found.trials if trial.error}

    def show(console: Console) -> None:
        print_table(console, found.columns, found.rows())
        print_failures(console, failed)
        console.print(f"The figure and the table: {page}")
        console.print(f"Train the best: {data['command']}", soft_wrap=True)

    return Answer(data | {"page": str(page)}, show, exit_code=1 if failed else 0)


def _train(name: str, game: Game, method: Method, given: Any, command: str) -> Answer:
    if given.seeds != 1:
        from rookery.scale.sweep import sweep as run_sweep

        folder = given.out or default_folder(game, f"{method.name}-seeds")
        plan = _planned([name, method.name], game, method, given, over={}) | {"out": folder}
        return _swept(run_sweep(**plan), given)
    if given.where.shard:
        raise ValueError("--shard divides several runs: name --seeds, or use rookery sweep")
    folder = given.out or default_folder(game, method.name)
    try:
        run = run_training(
            game, method, out=folder, seed=given.common.seed, resume=given.resume, settings=given.settings,
            command=command, track=given.track, on=given.where.on,
        )  # fmt: skip
    except KeyboardInterrupt:
        progress().print(f"stopped; the same command with --resume continues the run in {folder}")
        raise
    last = run.rows[-1] if run.rows else {}
    metrics = last | method.evaluate(game, run)
    data = {
        "run": str(run.folder), "model": str(run.folder / method.model), "method": method.name,
        "settings": run.settings, "metrics": metrics,
    }  # fmt: skip

    def show(console: Console) -> None:
        rows = [(name.replace("_", " "), value) for name, value in _flat(metrics) if name != "progress"]
        print_table(console, ("figure", "value"), rows)
        variant = ["--variant", given.variant] if given.variant else []
        play = shlex.join(["rookery", "play", name, *variant, "--agent", str(run.folder)])
        console.print(f"The run is in {run.folder}. Play with it: {play}", soft_wrap=True)

    return Answer(data, show)


def _flat(data: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Numbers and words, those of nested dictionaries with their path."""
    found: list[tuple[str, Any]] = []
    for name, value in data.items():
        if isinstance(value, dict):
            found += _flat(value, f"{prefix}{name} ")
        elif isinstance(value, (int, float, str)):
            found.append((prefix + name, value))
    return found
