"""Random and damaged input for every parser, file, command and API endpoint: `python -m tests.fuzz --count 1000000`.

An answer or one sentence is right; a traceback, a crash or a hang is not. Every input has a number, and depends on the
seed and that number alone: `python -m tests.fuzz --seed S --first N --count 1` makes one again. The number of the input
at work stands in a file, for crashes.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import faulthandler
import functools
import inspect
import io
import json
import math
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from urllib.parse import quote

from rookery import GAMES, cli
from rookery.engines import Server
from rookery.game import TERMINAL, Game, State, choices
from rookery.games.checkers.engine import HubServer
from rookery.games.checkers.rules import parse_pdn
from rookery.games.endgames.engine import UciServer
from rookery.games.morpion.rules import verify
from rookery.method import filled
from rookery.registry import agent, load, method, methods, split_name
from rookery.run import Run, load_arrays
from rookery.scale import check_on, jobs, parse_shard
from rookery.scale.sweep import dimension
from rookery.web.plays import with_piece
from tests.commands import function_of

WILD = [
    "-1", "0", "1.5", "nan", "inf", "-inf", "1e308", "9" * 30, "-" + "9" * 30, "18446744073709551615",
    "4611686018427387903", "2147483648", "x", "",
]  # fmt: skip
TEXTS = ["", "[/bold]", "[red]x", "a:b=c", "x" * 2000, "\u00e9\u4e16", "../..", "-", "a\nb", "%s{0}", "path=", "=,=,:"]
CHARACTERS = "0123456789abcdefghKQRBNPkqrbnpxwWB.:;,/-+#=@?*()[]{}<>\"'\\| \t\n\0\u00e9\u4e16\u202e"

SLOW = 10.0
"""Seconds after which an input other than a command counts as hanging."""
HANG = 120
"""Seconds after which the process is ended, with the stacks of all threads."""


def mutated(text: str, rng: random.Random) -> str:
    """A text with a few small damages."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        begin = rng.randrange(len(text) + 1)
        end = min(len(text), begin + rng.choice((0, 1, 1, 2, 5, 20)))
        match rng.randrange(7):
            case 0:
                text = text[:begin] + text[end:]
            case 1:
                text = text[:begin] + rng.choice(CHARACTERS) + text[end:]
            case 2:
                text = text[:end] + text[begin:]
            case 3:
                text = text[:begin] + rng.choice(WILD + TEXTS) + text[end:]
            case 4:
                text = text[:begin]
            case 5:
                text = text[:begin] + text[begin:end].swapcase() + text[end:]
            case 6:
                text = text[:begin] + text[begin:end][::-1] + text[end:]
    return text


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file with a few bytes changed, missing or added."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        begin = rng.randrange(len(found) + 1)
        match rng.randrange(4):
            case 0:
                del found[begin : begin + rng.choice((1, 4, 100))]
            case 1:
                found[begin:begin] = rng.randbytes(rng.choice((1, 4, 100)))
            case 2:
                found[begin : begin + 1] = rng.randbytes(1)
            case 3:
                del found[begin:]
    return bytes(found)


# Commands


def _inside(frame: FrameType | None, code: CodeType) -> bool:
    """Whether a frame was called from a function, and not from where Python reports what it cannot raise."""
    found = False
    while frame is not None:
        if "unraisable" in frame.f_code.co_filename or frame.f_code.co_name in ("__del__", "unraisablehook"):
            return False
        found |= frame.f_code is code
        frame = frame.f_back
    return found


@contextlib.contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """Press Ctrl-C in every command that works for longer. What is still at work by then was accepted.

    The alarm comes again and again, as one may be lost in a callback, and counts only while the command works.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _inside(frame, cli.run.__code__):
            raise KeyboardInterrupt

    def arguments(*given: Any) -> Any:
        collected = parse(*given)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        return collected

    parse, before = cli._arguments, signal.signal(signal.SIGALRM, interrupt)
    vars(cli)["_arguments"] = arguments
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        cli._arguments = parse


def _main(arguments: list[str]) -> None:
    """`main`, once more after a defect of CPython 3.11: an interrupt or another thread confuses `ast.parse`."""
    try:
        cli.main(arguments)
    except SystemError as error:
        if "recursion depth mismatch" not in str(error):
            raise
        cli.main(arguments)


def call(arguments: list[str], seconds: float = 0.2) -> int:
    """Run a command for at most a moment. It must exit with a known code, and with one sentence if that is 2."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with interrupted(seconds), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            _main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert code in (0, 1, 2, 130), (arguments, code)
    said = err.getvalue()
    if code == 2 and "usage" not in out.getvalue().lower():
        assert len(said.splitlines()) == 1, (arguments, said)
        assert said.startswith("rookery: "), (arguments, said)
        assert "int()" not in said, (arguments, said)
    assert "Traceback" not in said, (arguments, said)
    return int(code)


def options(function: Any) -> list[str]:
    """The options of a command, `--seed` and those of nested settings included."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in SKIPPED:
            if parameter.name == "where":
                found += ["--on", "--shard", "--timeout"]
                continue
            name = "search" if parameter.name == "search_method" else parameter.name
            switch = typing.get_type_hints(function).get(parameter.name) is bool
            found += [] if switch else [f"--{name.replace('_', '-')}"]
    return [*found, "--seed"]


SKIPPED = {"common", "open", "load", "host"}
POSITIONS = {
    "checkers": "W:W25,K26:B21", "endgames": "8/8/8/8/8/1K6/7R/k7 w - - 0 1", "morpion": "(28,28)",
    "solitaire-chess": ".RN./B.P./..../....", "tenten": "########../" + "........../" * 8 + ".......... 1x1",
}  # fmt: skip


def minimal(verb: str, game: str) -> list[str]:
    """Arguments of a call that is quick and goes well."""
    position = POSITIONS[game]
    return {
        "games": [], "perft": [game, "1"], "show": [game, position], "reproduce": ["overview", "--quick"],
        "play": [game], "explain": [game, position, "--agent", "random"],
        "arena": [game, "random", "minimax:depth=1", "--games", "2", "--on", "here"],
        "serve": ["--port", "-1"], "merge": [game, "a", "b", "--out", "c"],
        "watch": [game, position if game == "endgames" else "random"],
        "verify": [game, "no-such-file"], "replay": [game, "no-such-file"], "compare": [game, "none", "none"],
        "evaluate": [game, "none"], "search": [game, "--level", "1"], "generate": [game, "--count", "1"],
        "solve": [game] if game == "tenten" else [game, position],
    }.get(verb, [game, position])  # fmt: skip


CALLS = [
    *((minimal(verb, "checkers"), verb) for verb in cli.GENERIC if verb not in ("train", "sweep", "solve")),
    *((minimal(verb, game), verb) for verb, forms in cli.game_commands().items() for game in forms),
]


# What is fuzzed


@dataclass
class Sample:
    """A game with positions, actions and records to begin from."""

    game: Game
    states: list[State]
    records: list[str]

    @classmethod
    def of(cls, game: Game) -> Sample:
        states, records = [], []
        for seed in range(3):
            rng, actions = random.Random(seed), []
            state = game.random_start(rng)
            start = str(state)
            while state.player() != TERMINAL and len(actions) < 30:
                states.append(state.clone())
                actions.append(rng.choice(choices(state)))
                state.apply(actions[-1])
            states.append(state)
            records.append(game.record(start, actions, ["one", "two"][: game.players], "2026-01-31").text)
        return cls(game, states, records)


class Fuzzer:
    """All targets. `targets` has how often each is chosen and what makes and tries an input of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.closing = contextlib.ExitStack()
        examples = ["connect_four", "lights_out", "nim", "tic_tac_toe"]
        self.root = Path(__file__).parent.parent
        names = [(name, variant) for name, kind in GAMES.items() for variant in kind.variants]
        games = [load(name, variant) for name, variant in names]
        games += [load(str(self.root / "examples" / f"{name}.py")) for name in examples]
        self.samples = [Sample.of(game) for game in games]
        self.settings = [
            (found, kind)
            for sample in self.samples
            if sample.game.variant in (None, next(iter(sample.game.variants), None))
            for found in methods(sample.game).values()
            for kind in {found.Settings, getattr(found, "Options", None)} - {None}
            if dataclasses.is_dataclass(kind)
        ]
        self.targets: dict[str, tuple[float, Callable[[random.Random], None]]] = {
            "position": (30, self.position),
            "move": (30, self.move),
            "record": (10, self.record),
            "setting up": (5, self.setting_up),
            "settings": (8, self.fill),
            "agent name": (4, self.agent_name),
            "words": (4, self.words),
            "protocol": (3, self.protocol),
            "file": (2, self.file),
            "API": (1, self.api),
            "command": (1, self.command),
        }

    def sample(self, rng: random.Random) -> Sample:
        return rng.choice(self.samples)

    def position(self, rng: random.Random) -> None:
        sample = self.sample(rng)
        text = mutated(str(rng.choice(sample.states)), rng)
        with contextlib.suppress(ValueError):
            self.use(sample.game.parse_state(text), rng)

    def use(self, state: State, rng: random.Random) -> None:
        """Whatever was accepted can be used."""
        again = state.game.parse_state(str(state))
        assert (again.key(), str(again)) == (state.key(), str(state)), f"{state} is read back as {again}"
        assert state.status()
        for action in rng.choices(choices(state) or [-1], k=2):
            if action >= 0:
                after = state.clone()
                after.apply(action)
                assert str(after)
        if rng.random() < 0.02:
            state.observation()
            assert state.svg().startswith("<svg")

    def move(self, rng: random.Random) -> None:
        state = rng.choice(self.sample(rng).states)
        possible = choices(state)
        name = state.action_name(rng.choice(possible)) if possible else "a1"
        with contextlib.suppress(ValueError):
            assert state.parse_action(mutated(name, rng)) in possible

    def record(self, rng: random.Random) -> None:
        sample = self.sample(rng)
        text = mutated(rng.choice(sample.records), rng)
        if sample.game.name == "morpion":
            with contextlib.suppress(ValueError):
                verify(text)
        if sample.game.name == "checkers":
            with contextlib.suppress(ValueError):
                parse_pdn(text)
        with contextlib.suppress(ValueError):
            start, actions = sample.game.parse_record(text)
            state = sample.game.parse_state(start)
            for action in actions:
                state.apply(action)

    def setting_up(self, rng: random.Random) -> None:
        sample = self.sample(rng)
        text = str(rng.choice(sample.states))
        text = mutated(text, rng) if rng.random() < 0.5 else text
        piece = rng.choice([*sample.game.pieces(), "turn", *TEXTS])
        with contextlib.suppress(ValueError):
            text = with_piece(sample.game, text, rng.choice((-1, 0, 3, 15, 40, 63, 99, 2**40)), piece)
        with contextlib.suppress(ValueError):
            assert sample.game.sketch(text).startswith("<svg")

    def fill(self, rng: random.Random) -> None:
        found, kind = rng.choice(self.settings)
        names = [one.name for one in dataclasses.fields(kind)]
        values = [*WILD, *TEXTS, None, True, -1, 0, 10**30, 1e308, math.nan, [], [1, 2], {}, "1", "0.5", "true"]
        given = {
            rng.choice(names) if names and rng.random() < 0.9 else mutated("depth", rng): rng.choice(values)
            for _ in range(rng.choice((1, 1, 2)))
        }
        with contextlib.suppress(ValueError):
            filled(kind, given, what=found.name)

    def agent_name(self, rng: random.Random) -> None:
        game = self.sample(rng).game
        name = rng.choice(("random", "minimax:depth=2", "mcts:simulations=50,exploration=1.5", "nrpa:level=2"))
        name = mutated(name, rng)
        split_name(name)
        if not name.startswith(("uci", "hub", "/")):  # those would start programs
            with contextlib.suppress(ValueError, OSError):
                agent(name, game)

    def words(self, rng: random.Random) -> None:
        with contextlib.suppress(ValueError):
            parse_shard(mutated("3/8", rng))
        with contextlib.suppress(ValueError):
            check_on(mutated(rng.choice(("here", "processes:2")), rng))
        lspi = method("lspi", load("tenten"))
        with contextlib.suppress(ValueError):
            text = mutated(rng.choice(("0.5..0.9", "1..1000:log", "0.5,0.9")), rng)
            dimension(rng.choice(("discount", "turns", mutated("turns", rng))), text, lspi, lspi.Settings())
        with contextlib.suppress(ValueError):
            load(mutated(rng.choice(list(GAMES)), rng), rng.choice((None, "standard", "10x10", mutated("4x4", rng))))

    @functools.cached_property
    def servers(self) -> list[tuple[Server, list[str]]]:
        checkers = ["hub", "init", "ping", "set-param name=variant value=normal", "new-game", "stop", "level depth=3",
                    "level moves=30 time=60.0 inc=1.0", "pos pos=Bbbbbbbbbbbbbeeeeeeeewwwwwwwwwwww",
                    'pos pos=B moves="11-15 23-19"']  # fmt: skip
        chess = ["uci", "isready", "ucinewgame", "debug on", "setoption name MultiPV value 3", "stop", "ponderhit",
                 "position fen 8/8/8/4k3/8/8/8/R3K3 w - - 0 1 moves a1a5", "position startpos"]  # fmt: skip
        return [(HubServer("ladder:depth=1", out=io.StringIO()), checkers), (UciServer(out=io.StringIO()), chess)]

    def protocol(self, rng: random.Random) -> None:
        server, lines = rng.choice(self.servers)
        line = mutated(rng.choice(lines), rng)
        if not line.strip().startswith("go"):  # thinking is no parsing
            server.run([line.encode(errors="replace")])

    @functools.cached_property
    def files(self) -> dict[str, tuple[bytes, Callable[[Path], Any]]]:
        """Small files of every kind, and what reads them."""
        from rookery import arena, train

        nim = self.samples[-2].game
        folder = self.folder / "made"
        run = train(nim, "q-learning", games=200, out=folder / "run", on_row=lambda row: None)
        arena.tournament(nim, ["random", "minimax:depth=1"], 2, out=folder / "games")
        kind = run.kind

        def read_run(path: Path) -> None:
            whole = run.folder / path.name
            kept = whole.read_bytes()
            shutil.copy(path, whole)
            try:
                opened = Run.open(run.folder)
                assert repr(opened) + opened._repr_html_()
                agent(str(run.folder), nim)
            finally:
                whole.write_bytes(kept)

        found: dict[str, tuple[bytes, Callable[[Path], Any]]] = {
            "games.jsonl": ((folder / "games" / "games.jsonl").read_bytes(), jobs.read),
            "checkpoint.npz": ((run.folder / "checkpoint.npz").read_bytes(), lambda path: load_arrays(path, kind)),
        }
        for name in ("run.json", "metrics.jsonl", "model.npz"):
            found[name] = ((run.folder / name).read_bytes(), read_run)
        return found

    def file(self, rng: random.Random) -> None:
        name, (data, read) = rng.choice(list(self.files.items()))
        path = self.folder / name
        path.write_bytes(damaged(data, rng))
        with contextlib.suppress(ValueError, OSError):
            read(path)

    def command(self, rng: random.Random) -> None:
        arguments, verb = rng.choice(CALLS)
        function = function_of(verb, arguments[0] if arguments else "")
        words = [verb, *arguments]
        if rng.random() < 0.7:
            value = rng.choice([*WILD, *TEXTS, mutated("12", rng)])
            words.append(f"{rng.choice(options(function))}={value}")
        if rng.random() < 0.5:
            place = rng.randrange(len(words))
            if not words[place].startswith("--"):
                words[place] = mutated(words[place], rng)
        words = [word.replace("\0", "") for word in words]  # no program can be given one
        if any(word.startswith("/") or "=/" in word or word in ("-", "uci", "hub") for word in words):
            return  # nothing outside the folder is written, and nobody types
        call(words)

    @functools.cached_property
    def client(self) -> Any:
        from starlette.testclient import TestClient

        from rookery.web.app import Settings, create_app

        app = create_app(Settings(runs=self.folder / "runs", reports=self.folder / "reports", max_runs=0))
        return self.closing.enter_context(TestClient(app, base_url="http://localhost"))

    @functools.cached_property
    def operations(self) -> list[tuple[str, str, list[str]]]:
        """Verb, path and fields of the body. What streams an answer of an agent is left to other tests."""
        document = self.client.get("/api/openapi.json").json()
        found = []
        for path, verbs in document["paths"].items():
            for verb, operation in verbs.items():
                body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                kind = document["components"]["schemas"].get(body.get("$ref", "").rsplit("/")[-1], {})
                found.append((verb, path, list(kind.get("properties", {}))))
        return found

    def api(self, rng: random.Random) -> None:
        verb, path, names = rng.choice(self.operations)
        sample = rng.choice(self.samples[: -len(POSITIONS)])
        game = sample.game
        real = {
            "game": game.name, "variant": game.variant, "players": ["person"] * game.players, "seed": 1, "ply": 0,
            "action": rng.choice(choices(sample.states[0]) or [0]), "position": str(rng.choice(sample.states)),
            "agent": "random", "method": "lspi", "settings": {"games": 10}, "stage": 1, "cell": 3, "piece": "K",
        }  # fmt: skip
        if "{play_id}" in path:
            made = self.client.post(
                "/api/plays", json={name: real[name] for name in ("game", "variant", "players", "position")}
            )
            assert made.status_code < 500, (real, made.text)
            real["play_id"] = made.json().get("id", "none") if made.status_code == 201 else "none"
        real |= {"lesson": game.name, "experiment": rng.choice(("votes", "none")), "run_id": "none"}
        wild = [*WILD, *TEXTS, None, True, -1, 0, 10**30, 1e308, [], [[]], {}, {"a": 1}, ["person"], ["random"] * 2]
        for name in re.findall(r"{(\w+)}", path):
            value = str(real.get(name)) if rng.random() < 0.8 else mutated(str(real.get(name)), rng)
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        body: Any = {}
        for name in names:
            chance = rng.random()
            if chance < 0.6 and name in real:
                body[name] = real[name]
            elif chance < 0.9:
                body[name] = mutated(str(real.get(name)), rng) if chance < 0.7 else rng.choice(wild)
        content = json.dumps(body)
        if rng.random() < 0.1:
            content = mutated(content, rng)
        answer = self.client.request(
            verb, path, content=content.encode(errors="replace"), headers={"content-type": "application/json"}
        )
        assert answer.status_code < 500 or answer.status_code == 503, (verb, path, content, answer.text)
        if answer.status_code >= 400 and path.startswith("/api"):
            assert answer.json()["error"], (verb, path, content, answer.text)


@dataclass
class Report:
    """What happened, by target."""

    inputs: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    """Number of the input, target, and what went wrong."""


def fuzz(
    fuzzer: Fuzzer, count: int, seed: int, first: int = 0, only: Sequence[str] = (), seconds: float = math.inf
) -> Report:
    """Try some inputs, for at most some seconds."""
    report = Report()
    names = [name for name in fuzzer.targets if not only or name in only]
    weights = [fuzzer.targets[name][0] for name in names]
    mark = os.open(fuzzer.folder / "input", os.O_CREAT | os.O_WRONLY)
    begin = armed = 0.0
    try:
        for number in range(first, first + count):
            now = time.monotonic()
            begin = begin or now
            if now - begin > seconds:
                break
            if now - armed > 1:
                faulthandler.dump_traceback_later(HANG, exit=True)
                armed = now
                print(f"\rinput {number:,}, {len(report.failures)} failures", end="", file=sys.stderr)
            os.pwrite(mark, f"{number:<20}".encode(), 0)
            rng = random.Random(f"{seed} {number}")
            [name] = rng.choices(names, weights)
            try:
                fuzzer.targets[name][1](rng)
                if time.monotonic() - now > SLOW:
                    report.failures.append((number, name, f"it took {time.monotonic() - now:.1f} s"))
            except Exception:
                report.failures.append((number, name, traceback.format_exc(limit=-6)))
            report.inputs[name] = report.inputs.get(name, 0) + 1
            report.seconds[name] = report.seconds.get(name, 0.0) + time.monotonic() - now
    finally:
        faulthandler.cancel_dump_traceback_later()
        os.close(mark)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000, help="number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after that time")
    parser.add_argument("--only", nargs="*", default=(), help="names of targets, such as position or API")
    given = parser.parse_args()
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        deep = Path(folder, "a", "b", "c", "d")
        deep.mkdir(parents=True)
        os.chdir(deep)
        print(f"the number of the input at work: {folder}/input", file=sys.stderr)
        sys.stdin = io.StringIO()
        fuzzer = Fuzzer(Path(folder))
        with fuzzer.closing:
            report = fuzz(fuzzer, given.count, given.seed, given.first, given.only, given.seconds)
        os.chdir("/")
    print(file=sys.stderr)
    for name, inputs in report.inputs.items():
        print(f"{name:12} {inputs:9,} inputs {report.seconds[name]:8.1f} s {inputs / report.seconds[name]:10,.0f} /s")
    total, seconds = sum(report.inputs.values()), sum(report.seconds.values())
    print(f"{'together':12} {total:9,} inputs {seconds:8.1f} s {total / seconds:10,.0f} /s")
    for number, name, what in report.failures:
        print(f"\nfailure: python -m tests.fuzz --seed {given.seed} --first {number} --count 1   ({name})\n{what}")
    print(f"{len(report.failures)} failures")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
