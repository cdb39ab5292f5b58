"""Fifty players at once on the web page, on loopback: no errors, and how long they wait.

Run it: python -m benchmarks.web_load [--players 50] [--seconds 20]

Starts `rookery serve` and plays all five games against agents: moves, replies of the agents, undo and hints, each
player after a short pause to think. Reported are percentiles of the time until the answer is there.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from typing import Any

GAMES = {
    "checkers": ["person", "minimax:depth=3"], "endgames": ["person", "oracle"], "tenten": ["person"],
    "morpion": ["person"], "solitaire-chess": ["person"],
}  # fmt: skip


class Player(threading.Thread):
    """One visitor with a connection of their own."""

    def __init__(self, number: int, port: int, end: float, pause: float) -> None:
        super().__init__()
        self.number, self.port, self.end, self.pause = number, port, end, pause
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    def call(self, kind: str, method: str, path: str, body: Any = None) -> str:
        begin = time.perf_counter()
        data = None if body is None else json.dumps(body)
        headers = {"content-type": "application/json", "cookie": f"rookery_visitor=player-{self.number:016}"}
        self.connection.request(method, f"/api{path}", data, headers)
        response = self.connection.getresponse()
        text = response.read().decode()
        self.times[kind].append(time.perf_counter() - begin)
        if response.status >= 400 or '"event": "failed"' in text:
            self.errors.append(f"{kind}: {response.status} {text[-200:]}")
        return text

    def run(self) -> None:
        rng = random.Random(self.number)
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            while time.time() < self.end:
                self.play(rng)
        except Exception as error:  # a player that is cut off is an error of the server
            self.errors.append(f"{type(error).__name__}: {error}")
        self.connection.close()

    def play(self, rng: random.Random) -> None:
        game = list(GAMES)[self.number % len(GAMES)]
        view = json.loads(self.call("new game", "POST", "/plays", {"game": game, "players": GAMES[game]}))
        while view["turn"] != "over" and time.time() < self.end:
            time.sleep(rng.uniform(0.5, 1.5) * self.pause)
            path = f"/plays/{view['id']}"
            if view["turn"] == "agent":
                events = self.call("agent's move", "POST", f"{path}/reply", {}).strip().split("\n\n")
                view = json.loads(events[-1].removeprefix("data: "))["view"]
            elif rng.random() < 0.05 and view["undo"] is not None:
                view = json.loads(self.call("undo", "POST", f"{path}/goto", {"ply": view["undo"]}))
            elif rng.random() < 0.05:
                self.call("hint", "POST", f"{path}/hint", {"stage": 2})
            else:
                action = rng.choice(view["legal"])["action"]
                view = json.loads(self.call("move", "POST", f"{path}/move", {"action": action, "ply": view["ply"]}))


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def measure(players: int, seconds: float, pause: float) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "rookery", "serve", "--port", str(port), "--runs", folder]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            _wait(port)
            end = time.time() + seconds
            visitors = [Player(number, port, end, pause) for number in range(players)]
            for visitor in visitors:
                visitor.start()
            for visitor in visitors:
                visitor.join()
        finally:
            server.terminate()
            server.wait(30)
    times: dict[str, list[float]] = defaultdict(list)
    for visitor in visitors:
        for kind, some in visitor.times.items():
            times[kind] += some
    errors = [error for visitor in visitors for error in visitor.errors]
    rows = {
        kind: {
            "calls": len(some),
            "median_ms": round(1000 * percentile(some, 0.5), 1),
            "p95_ms": round(1000 * percentile(some, 0.95), 1),
            "p99_ms": round(1000 * percentile(some, 0.99), 1),
        }
        for kind, some in times.items()
    }
    return {"players": players, "seconds": seconds, "errors": errors, "calls": rows}


def _wait(port: int) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds that a player thinks")
    arguments = parser.parse_args()
    result = measure(arguments.players, arguments.seconds, arguments.pause)
    print(json.dumps(result, indent=1))
    sys.exit(1 if result["errors"] else 0)


if __name__ == "__main__":
    main()
