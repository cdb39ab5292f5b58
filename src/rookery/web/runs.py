"""Training runs: started in processes of their own, followed, stopped and resumed.

Every run's folder below the folder of runs is shown, whoever started it. Requests name runs by ids that say nothing
about where the folders are.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import secrets
import shlex
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rookery import registry
from rookery.game import Game
from rookery.method import Method
from rookery.registry import GAMES, load, methods
from rookery.run import METRICS, Run, find_runs, read_metrics
from rookery.web.plays import read_position, rules
from rookery.web.trainer import INTERRUPTED, STOP_SECONDS

Row = dict[str, Any]
MAX_ROWS = 2000
"""Points of a curve that are sent; longer curves are thinned."""
MAX_FILE = 20 * 2**20
"""Files of metrics that are larger are not read."""
MAX_RECORD = 1_000_000
"""Records of games that are larger are not drawn."""


class NoRun(Exception):
    """There is no run with the id that was asked for."""


@dataclass(frozen=True)
class Trained:
    """An agent that a run has made."""

    method: str
    folder: Path
    seconds: float
    """How long the run has taken; another number is another agent, since a stopped run may be resumed."""


@dataclass
class Started:
    """A run that this server has started and that has not ended yet, or has failed."""

    folder: Path
    asked: Row
    process: asyncio.subprocess.Process | None = None
    error: str = ""
    stopping: bool = False
    """Whether it was asked to end; then it may end in any way."""


class Runs:
    """The runs of one folder."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self._started: dict[str, Started] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._opened: dict[Path, tuple[int, Run]] = {}

    # Processes

    def start(self, plan: Row) -> str:
        """Start a run that `forms.plan` has checked; returns its id. ValueError if too many are under way."""
        words = [plan["game"], plan["method"], plan["variant"] or "", secrets.token_hex(3)]
        folder = self.folder / "-".join(re.sub(r"[^A-Za-z0-9]+", "-", word) for word in words if word)
        options = rules(plan["game"], plan["variant"]).options
        return self._launch(folder, plan | {"options": options, "resume": False})

    def resume(self, run_id: str) -> None:
        """Resume a run that was stopped or has failed."""
        run = self._run(run_id)
        if not self._resumable(run_id, run):
            raise ValueError(f"the run is {self._state(run_id, run)}; only one that was stopped or failed is resumed")
        asked = {name: run.info[name] for name in ("game", "options", "method", "settings", "seed")}
        self._launch(run.folder, asked | {"command": run.info.get("command", ""), "resume": True})

    def _launch(self, folder: Path, asked: Row) -> str:
        if len(self._tasks) >= self.most:
            raise ValueError(f"{len(self._tasks)} runs are under way already; stop one first")
        run_id = self._id(folder)
        started = self._started[run_id] = Started(folder, asked)
        task = self._tasks[run_id] = asyncio.get_running_loop().create_task(self._follow(run_id, started))
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))
        return run_id

    async def _follow(self, run_id: str, started: Started) -> None:
        """Train to the end. What the process says matters only if it fails before there is a run."""
        given = started.asked | {"folder": str(started.folder), "user_code": registry.user_code_names()}
        process = started.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rookery.web.trainer", json.dumps(given), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert process.stderr
        last = b""
        while line := await process.stderr.read(65536):
            last = (last + line)[-2000:]
        code = await process.wait()
        lines = plain(last.decode("utf-8", "replace")).splitlines()
        if code not in (0, INTERRUPTED) and not started.stopping:
            started.error = lines[-1][:300] if lines else f"the process ended with code {code}"
        elif self._open(started.folder) is None:
            started.error = "stopped before it began"
        else:
            del self._started[run_id]

    async def stop(self, run_id: str) -> None:
        """Ask a run to end, as Ctrl-C does: it keeps what it has."""
        started = self._started.get(run_id)
        if started is None or started.process is None or started.process.returncode is not None:
            state = self._state(run_id, self._run(run_id))
            raise ValueError(f"the run is {state}; only one that was started here and is under way can be stopped")
        started.stopping = True
        _signal(started.process, signal.SIGINT)
        asyncio.get_running_loop().call_later(STOP_SECONDS, _signal, started.process, signal.SIGKILL)

    async def close(self) -> None:
        """Stop all runs; they can be resumed."""
        processes = [started.process for started in self._started.values() if started.process]
        for number, seconds in ((signal.SIGINT, 10), (signal.SIGKILL, 5)):
            for process in processes:
                _signal(process, number)
            if self._tasks:
                await asyncio.wait(set(self._tasks.values()), timeout=seconds)

    # Folders

    def _id(self, folder: Path) -> str:
        return hashlib.sha256(str(folder.relative_to(self.folder)).encode()).hexdigest()[:12]

    def _open(self, folder: Path) -> Run | None:
        """The run in a folder without its metrics, read again only if it has changed; None if there is none."""
        try:
            changed = (folder / "run.json").stat().st_mtime_ns
            if self._opened.get(folder, (0, None))[0] != changed:
                run = Run.open(folder)
                run.rows = []
                _check_info(run.info)
                self._opened[folder] = changed, run
        except (OSError, ValueError):
            return None
        return self._opened[folder][1]

    def found(self) -> dict[str, Run]:
        """All runs by id, the newest first."""
        opened = [(folder, self._open(folder)) for folder in find_runs(self.folder)]
        runs = [(self._id(folder), run) for folder, run in opened if run is not None]
        return dict(sorted(runs, key=lambda item: -float(item[1].info.get("started", 0))))

    def _run(self, run_id: str) -> Run:
        run = self.found().get(run_id)
        if run is None:
            raise NoRun
        return run

    def _state(self, run_id: str, run: Run) -> str:
        return "running" if run_id in self._tasks else run.state

    def _resumable(self, run_id: str, run: Run) -> bool:
        return self._state(run_id, run) in ("stopped", "failed") and _method(run) is not None

    # Agents

    def trained(self, game: Game, runs: Mapping[str, Run] | None = None) -> dict[str, Trained]:
        """The agents that runs of this variant have made, by their names on the page, `METHOD@RUN`. A run that is under
        way is left out: its files change. `runs` is what `found` has given, if it is asked more than once."""
        options = _options(game)
        made = {}
        for run_id, run in (self.found() if runs is None else runs).items():
            if run.info["game"] == game.name and run.info["options"] == options:
                for method in self._agents(run_id, run, game):
                    seconds = float(run.info.get("seconds", 0))
                    made[f"{method}@{run_id}"] = Trained(method, run.folder, seconds)
        return made

    def _agents(self, run_id: str, run: Run, game: Game) -> list[str]:
        """The methods whose agents a run has made, the one that was trained first."""
        if self._state(run_id, run) == "running":
            return []
        found = [
            method.name
            for method in methods(game).values()
            if (method.trained_by or method.name) == run.info["method"] and _has_model(run.folder, method)
        ]
        return sorted(found, key=lambda name: name != run.info["method"])

    # What the page shows

    def rows(self) -> list[Row]:
        """All runs, the newest first."""
        found = self.found()
        new = {run_id: started for run_id, started in self._started.items() if run_id not in found}
        return [self._row_of_started(run_id, started) for run_id, started in new.items()] + [
            self._row(run_id, run) for run_id, run in found.items()
        ]

    def _row(self, run_id: str, run: Run) -> Row:
        info, game = run.info, _game(run)
        agents = self._agents(run_id, run, game) if game and _is_offered(game) else []
        return {
            "id": run_id,
            "title": _title(info),
            "folder": str(run.folder.relative_to(self.folder)),
            "state": self._state(run_id, run),
            "stoppable": run_id in self._tasks,
            "resumable": self._resumable(run_id, run),
            "started": info.get("started", 0),
            "seconds": info.get("seconds"),
            "error": self._error(run_id, run),
            "command": shown_command(str(info.get("command", ""))),
            "game": info["game"],
            "variant": info.get("variant"),
            "agent": f"{agents[0]}@{run_id}" if agents else None,
        }

    def _error(self, run_id: str, run: Run) -> str:
        state = self._state(run_id, run)
        if state == "failed":
            return plain(str(run.info.get("error", "")))[:300]
        return self._started[run_id].error if state == "stopped" and run_id in self._started else ""

    def _row_of_started(self, run_id: str, started: Started) -> Row:
        """A run that has not written anything yet."""
        asked = started.asked
        return {
            "id": run_id, "title": _title(asked), "folder": started.folder.name,
            "state": "failed" if started.error else "running", "stoppable": run_id in self._tasks, "resumable": False,
            "started": 0, "seconds": None, "error": started.error, "command": shown_command(asked["command"]),
            "game": asked["game"], "variant": asked.get("variant"), "agent": None,
        }  # fmt: skip

    def show(self, run_id: str) -> Row:
        """A run with its progress, its curve, its figures and its best game; NoRun if there is none with this id."""
        started = self._started.get(run_id)
        if started is not None and self._open(started.folder) is None:
            return self._row_of_started(run_id, started) | {"progress": 0, "curve": None, "figures": {}, "best": None}
        run = self._run(run_id)
        rows = _metrics(run.folder)
        method, game = _method(run), _game(run)
        figures = {name: value for name, value in (rows[-1] if rows else {}).items() if name != "progress"}
        return self._row(run_id, run) | {
            "progress": rows[-1].get("progress", 0) if rows else 0,
            "curve": curve(rows, method.headline if method else ""),
            "figures": figures,
            "best": best_game(run.folder, game) if game else None,
        }


def plain(text: str) -> str:
    """What was written for a terminal without colours, movements of the cursor and progress bars.

    >>> plain("\\x1b[2K\\r\\x1b[1mtraining ━━━╸━━ 50%\\r\\x1b[?25h\\x1b[31mthe file is gone\\x1b[0m\\n")
    'the file is gone'
    """
    lines = re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9])", "", text).replace("\r", "\n").splitlines()
    kept = (
        "".join(c for c in line if c.isprintable()).strip() for line in lines if not re.search("[━╸╺█▏▎▍▌▋▊▉]", line)
    )
    return "\n".join(filter(None, kept))


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process.returncode is None:
            os.killpg(process.pid, number)


def _check_info(info: Mapping[str, Any]) -> None:
    """Raise ValueError for a description that another program has written."""
    kinds = {"game": str, "method": str, "options": dict, "settings": dict, "seed": int}
    numbers = all(isinstance(info.get(name, 0), (int, float)) for name in ("started", "seconds"))
    if not numbers or not all(isinstance(info[name], kind) for name, kind in kinds.items()):
        raise ValueError("not the description of a run")


def _game(run: Run) -> Game | None:
    """The game of a run; None if it is not registered here."""
    with contextlib.suppress(ValueError, TypeError):
        return load(run.info["game"], **run.info["options"]) if run.info["game"] in GAMES else None
    return None


def _options(game: Game) -> Any:
    """The options of a game as a run's description has them."""
    return json.loads(json.dumps(game.options, default=str))


def _is_offered(game: Game) -> bool:
    """Whether the page offers a variant with these very options."""
    return any(_options(rules(game.name, variant)) == _options(game) for variant in game.variants or (None,))


def _method(run: Run) -> Method | None:
    """The method of a run; None if it is not registered here."""
    game = _game(run)
    return methods(game).get(run.info["method"]) if game else None


def _title(info: Mapping[str, Any]) -> str:
    game = GAMES[info["game"]].title if info["game"] in GAMES else info["game"]
    return " ".join(filter(None, [f"{game}: {info['method']}", info.get("variant")]))


def _has_model(folder: Path, method: Method) -> bool:
    if method.model:
        return (folder / method.model).is_file()
    return (folder / METRICS).is_file()  # the model is the folder itself


def shown_command(command: str) -> str:
    """The command for people, without folders and other paths.

    >>> shown_command("rookery train GAME METHOD --games 5 --out /home/me/runs/x --resume")
    'rookery train GAME METHOD --games 5'
    """
    words, shown = iter(_words(command)), []
    for word in words:
        if word == "--out":
            next(words, None)
        elif word != "--resume" and not word.startswith("--out="):
            option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
            shown.append(f"{option}{equals}{Path(value).name if '/' in value else value}")
    return shlex.join(shown) if command.startswith("rookery train") else command


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _metrics(folder: Path) -> list[dict[str, float]]:
    """The numbers in a run's rows of metrics."""
    file = folder / METRICS
    if not file.is_file() or file.stat().st_size > MAX_FILE:
        return []
    rows = [row for row in read_metrics(folder) if isinstance(row, dict)]
    return [{name: value for name, value in row.items() if _is_number(value)} for row in rows]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def curve(rows: list[dict[str, float]], headline: str) -> Row | None:
    """The points of a curve: `x` is the first column that only grows, as counted by the method, and the others follow
    with the headline first. None without numbers."""
    columns = [name for name in (rows[-1] if rows else {}) if all(name in row for row in rows)]
    columns = [name for name in columns if name != "progress"] + [name for name in columns if name == "progress"]
    if len(columns) < 2:
        return None
    growing = [name for name in columns if name != headline and all(a[name] < b[name] for a, b in pairwise(rows))]
    x = growing[0] if growing else columns[-1]
    others = sorted((name for name in columns if name not in (x, "progress")), key=lambda name: name != headline)
    step = -(-len(rows) // MAX_ROWS)
    kept = rows[::step] if (len(rows) - 1) % step == 0 else [*rows[::step], rows[-1]]
    return {"columns": [x, *others], "rows": [[row[name] for name in (x, *others)] for row in kept]}


def best_game(folder: Path, game: Game) -> Row | None:
    """The game that a run keeps in the notation of its field, drawn; None if it keeps none."""
    extension = game.record(str(game.initial_state()), [], [""] * game.players).extension
    for file in sorted(folder.glob(f"*.{extension}")):
        with contextlib.suppress(OSError, ValueError):
            if file.stat().st_size <= MAX_RECORD:
                *_, state = read_position(game, file.read_text(encoding="utf-8"))
                return {"svg": state.svg(), "status": state.status()}
    return None
