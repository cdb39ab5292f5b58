"""Training runs and searches: commands of ours in processes of their own, followed, stopped and resumed.

A run has a folder under `runs/web`; what the command writes there (a curve, the best game) is what the page shows. Runs
started on the command line are found by the same files.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import hashlib
import json
import os
import pty
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rookery import agents
from rookery.files import write_text
from rookery.games.morpion import rules as morpion
from rookery.web.recipes import Recipe

MAX_ROWS = 2000
"""Points of a curve that are sent; of longer ones every so many is left out."""
MAX_FILE = 20 * 2**20
STOP_SECONDS = 20.0
"""A run that does not end by itself so long after it was asked to is killed."""
_CURVES = ("metrics.jsonl", "curve.csv", "search.json")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|[\x00-\x08\x0b-\x1f]")


@dataclass
class Run:
    """What is known of a run; kept as `run.json` in its folder."""

    recipe: str
    title: str
    command: list[str]
    """After `rookery`."""
    resumable: bool = False
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: str = "running"
    """running, done, stopped or failed."""
    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    """Of all its parts."""
    result: dict[str, Any] | None = None
    message: str = ""
    """The last line it said, or what went wrong."""
    process: int = 0
    """Its id while it runs."""


@dataclass(frozen=True)
class Trained:
    """What a run has made."""

    agent: str
    folder: Path
    seconds: float
    """How long the run has taken; another number is another agent, since a stopped run may go on."""


_AGENTS = {"zero": "net"}
"""Agents that are not called as the method that trains them."""


class Runs:
    """The runs of one folder."""

    def __init__(self, folder: Path, recipes: Mapping[str, Recipe], most: int) -> None:
        self.folder, self.recipes, self.most = folder, recipes, most
        self._own = folder / "web"
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._asked_to_stop: set[str] = set()
        self._runs = {run.id: run for run in self._read()}

    def _read(self) -> list[Run]:
        found = []
        for file in sorted(self._own.glob("*/run.json")):
            with contextlib.suppress(ValueError, TypeError, OSError):
                run = Run(**json.loads(file.read_text(encoding="utf-8")))
                _verb, _game, *_ = run.command  # at least, or it is none of ours
                if run.state == "running":  # the server was killed
                    run.state = "stopped"
                    _end_leftover(run)
                found.append(run)
        return found

    def _save(self, run: Run) -> None:
        write_text(self._own / run.id / "run.json", json.dumps(asdict(run), indent=1) + "\n")

    async def start(self, recipe_id: str, options: Mapping[str, Any]) -> Run:
        """Start a recipe; ValueError if it is unknown or too many run already."""
        recipe = self.recipes.get(recipe_id)
        if recipe is None:
            raise ValueError(f"unknown recipe {recipe_id[:60]!r}; known recipes: {', '.join(self.recipes)}")
        run = Run(recipe.id, recipe.title, recipe.words(options), recipe.resumable)
        folder = self._own / run.id
        run.command += ["--out", str(folder / recipe.file if recipe.file else folder)]
        self._launch(run, run.command)
        return run

    async def resume(self, run: Run) -> None:
        if run.state not in ("stopped", "failed"):
            raise ValueError(f"the run is {run.state}; only one that was stopped goes on")
        if not run.resumable:
            raise ValueError("this command cannot go on where it was; start it anew")
        # A run that was stopped before it saved anything begins anew.
        saved = any(file.name != "run.json" for file in (self._own / run.id).iterdir())
        self._launch(run, [*run.command, "--resume"] if saved else run.command)

    def _launch(self, run: Run, command: Sequence[str]) -> None:
        if len(self._tasks) >= self.most:
            raise ValueError(f"{len(self._tasks)} runs are under way already; stop one first")
        run.state, run.message = "running", ""
        self._asked_to_stop.discard(run.id)
        (self._own / run.id).mkdir(parents=True, exist_ok=True)
        self._runs[run.id] = run
        self._save(run)
        task = asyncio.get_running_loop().create_task(self._follow(run, command))
        self._tasks[run.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run.id, None))

    async def _follow(self, run: Run, command: Sequence[str]) -> None:
        """Run the command to its end. Its standard error is a terminal, so that it shows its progress."""
        begin = time.monotonic()
        ours, theirs = pty.openpty()
        environment = os.environ | {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "120", "LINES": "40"}
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "rookery", *command, "--json", stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=theirs, env=environment, start_new_session=True,
                limit=MAX_FILE,
            )  # fmt: skip
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._processes[run.id] = process
        run.process = process.pid
        self._save(run)
        loop = asyncio.get_running_loop()
        loop.add_reader(ours, self._listen, run, ours)
        try:
            assert process.stdout
            output = await process.stdout.read()
            code = await process.wait()
        finally:
            loop.remove_reader(ours)
            self._listen(run, ours)
            os.close(ours)
            self._processes.pop(run.id, None)
        run.seconds += time.monotonic() - begin
        with contextlib.suppress(ValueError):
            run.result = json.loads(output)
        if code and (run.id in self._asked_to_stop or code == 130):
            run.state = "stopped"
        else:
            # A command may say by its exit code that a goal was missed; it has its result all the same.
            run.state = "done" if code == 0 or run.result else "failed"
        if run.state == "done":
            run.message = ""
        self._save(run)

    @staticmethod
    def _listen(run: Run, terminal: int) -> None:
        """Keep the last line that was shown."""
        os.set_blocking(terminal, False)
        with contextlib.suppress(OSError):
            text = _CONTROL.sub("\n", os.read(terminal, 65536).decode("utf-8", "replace"))
            lines = [" ".join(line.split()) for line in text.splitlines()]
            last = next((line for line in reversed(lines) if line), None)
            if last:
                run.message = last[:300]

    async def stop(self, run: Run) -> None:
        """Ask the command to end, as Ctrl-C does: it saves what it has."""
        process = self._processes.get(run.id)
        if process is None:
            raise ValueError(f"the run is {run.state} already")
        self._asked_to_stop.add(run.id)
        _signal(process, signal.SIGINT)
        asyncio.get_running_loop().call_later(STOP_SECONDS, _signal, process, signal.SIGKILL)

    async def close(self) -> None:
        """Stop all runs; they can be resumed."""
        for run_id, process in self._processes.items():
            self._asked_to_stop.add(run_id)
            _signal(process, signal.SIGINT)
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=10)
        for process in list(self._processes.values()):
            _signal(process, signal.SIGKILL)
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=5)

    # What the page shows

    def list(self) -> list[dict[str, Any]]:
        """Runs started here, newest first, and then folders that commands wrote."""
        mine = sorted(self._runs.values(), key=lambda run: -run.started)
        return [self._row(run) for run in mine] + [
            {"id": key, "title": str(folder.relative_to(self.folder)), "state": "found", "resumable": False,
             "started": folder.stat().st_mtime, "seconds": None, "message": "", "command": None}
            for key, folder in self._found().items()
        ]  # fmt: skip

    def _row(self, run: Run) -> dict[str, Any]:
        return {key: value for key, value in asdict(run).items() if key not in ("result", "recipe", "process")} | {
            "command": shown_command(run.command),
            "game": run.command[1],
            "variant": next((b for a, b in pairwise(run.command) if a == "--variant"), None),
            "agent": f"{agent}@{run.id}" if (agent := self._agent(run)) else None,
        }

    def _found(self) -> dict[str, Path]:
        """Folders with a curve that were not started here. Their ids say nothing about where they are."""
        found = {}
        for name in _CURVES:
            for pattern in (f"*/{name}", f"*/*/{name}"):
                for file in sorted(self.folder.glob(pattern)):
                    if self._own not in file.parents:
                        digest = hashlib.sha256(str(file.parent.relative_to(self.folder)).encode()).hexdigest()
                        found[f"found-{digest[:12]}"] = file.parent
        return found

    def get(self, run_id: str) -> Run | None:
        return self._runs.get(run_id)

    def trained(self, game: str) -> dict[str, Trained]:
        """The agents for a game that runs started here have made, by their names on the page, `AGENT@RUN`. A run that
        is under way is left out: its files change."""
        found = {}
        for run in sorted(self._runs.values(), key=lambda run: -run.started):
            agent = self._agent(run)
            if agent and run.command[1] == game:
                found[f"{agent}@{run.id}"] = Trained(agent, self._own / run.id, run.seconds)
        return found

    def _agent(self, run: Run) -> str | None:
        """The name of the agent that a run has made, if any."""
        if run.state == "running" or run.command[0] != "train" or len(run.command) < 3:
            return None
        _, game, method = run.command[:3]
        name = _AGENTS.get(method, method)
        saved = any(file.name != "run.json" for file in (self._own / run.id).iterdir())
        return name if saved and name in agents.OF_GAME.get(game, {}) else None

    def show(self, run_id: str) -> dict[str, Any] | None:
        """A run with its curve, its best game and its result; None if there is none with this id."""
        run = self._runs.get(run_id)
        if run is not None:
            row, folder = self._row(run) | {"result": _small(run.result)}, self._own / run.id
        elif run_id in (found := self._found()):
            folder = found[run_id]
            row = next(row for row in self.list() if row["id"] == run_id) | {"result": None}
        else:
            return None
        return row | {"curve": read_curve(folder), "best": best_game(folder)}


def shown_command(command: Sequence[str]) -> str:
    """The command for people, without the folder."""
    end = command.index("--out") if "--out" in command else len(command)
    return " ".join(["rookery", *command[:end]])


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.returncode is None:
            os.killpg(process.pid, number)


def _end_leftover(run: Run) -> None:
    """End a process that went on after its server was killed, so that two do not write to one folder."""
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{run.process}/cmdline").read_bytes()
        if run.process and run.id.encode() in command:
            os.killpg(run.process, signal.SIGINT)


def _small(result: dict[str, Any] | None) -> dict[str, Any] | None:
    """The numbers and words of a result, without its long lists and our folders."""
    if result is None:
        return None
    flat = dict(result) | (result["metrics"] if isinstance(result.get("metrics"), dict) else {})
    return {
        key: value
        for key, value in flat.items()
        if isinstance(value, (int, float, str, bool)) and key not in ("run", "model", "file", "out")
    }


def read_curve(folder: Path) -> dict[str, Any] | None:
    """The numbers a run wrote so far: names of the columns and rows."""
    for name in _CURVES:
        file = folder / name
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if file.stat().st_size > MAX_FILE:
                continue
            rows = [row for row in _READERS[file.suffix](file.read_text(encoding="utf-8")) if row]
            if rows:
                step = -(-len(rows) // MAX_ROWS)
                columns = [key for key in rows[-1] if all(key in row for row in rows)]
                kept = rows[::step] if (len(rows) - 1) % step == 0 else [*rows[::step], rows[-1]]
                return {"columns": columns, "rows": [[row[key] for key in columns] for row in kept]}
    return None


Rows = list[dict[str, float]]


def _metrics(text: str) -> Rows:
    """One JSON object a line."""
    rows = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):  # the last line may be half written
            rows.append(_numbers(json.loads(line)))
    return rows


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    return {key: v for key, v in data.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}


def _table(text: str) -> Rows:
    """A CSV file with a line of names."""
    rows = []
    for line in csv.DictReader(text.splitlines()):
        found = {}
        for key, value in line.items():
            with contextlib.suppress(ValueError, TypeError):
                found[key] = float(value)
        rows.append(found)
    return rows


def _search(text: str) -> Rows:
    """What a search writes: when it found something better."""
    return [{"seconds": seconds, "score": score} for seconds, score in json.loads(text)["history"]]


_READERS: dict[str, Callable[[str], Rows]] = {".jsonl": _metrics, ".csv": _table, ".json": _search}


def best_game(folder: Path) -> dict[str, Any] | None:
    """The best game of a search, drawn, if it wrote one."""
    for file in sorted(folder.glob("*.psol")):
        with contextlib.suppress(OSError, ValueError):
            text = file.read_text(encoding="utf-8")[:1_000_000]
            for variant in morpion.Morpion.variants:
                with contextlib.suppress(ValueError):
                    state = morpion.Morpion(**morpion.Morpion.variants[variant]).parse_state(text)
                    return {"svg": state.svg(), "score": len(state.moves)}
    return None
