"""A bot that plays on the web page through its API, with nothing but the standard library.

Serve the page:       rookery serve
Play a new game:      python examples/web_bot.py --game checkers --against minimax:depth=3
Sit down at a game:   python examples/web_bot.py --join ID --side 1

`http://127.0.0.1:8080/api/openapi.json` describes every request and answer. To play with a person, begin a game with a
person on both sides; ID is the last part of its address. Replace `choose` with an idea of yours.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

View = dict[str, Any]


class Client:
    """The API of one server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def open(self, path: str, body: View | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api{path}", data, {"content-type": "application/json"})
        return urllib.request.urlopen(request, timeout=120)

    def call(self, path: str, body: View | None = None) -> Any:
        """The answer to a GET, or to a POST if there is a body."""
        with self.open(path, body) as response:
            return json.load(response)

    def events(self, path: str, body: View) -> Iterator[View]:
        """The server-sent events of an answer that may take long."""
        with self.open(path, body) as response:
            for line in response:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))


def choose(view: View, rng: random.Random) -> int:
    """The action to play. This bot has no idea what it is doing."""
    action: int = rng.choice(view["legal"])["action"]
    return action


def play(client: Client, view: View, side: int, rng: random.Random) -> View:
    """Play one side of a game to its end; agents and other people play the others."""
    path = f"/plays/{view['id']}"
    while view["turn"] != "over":
        if view["turn"] == "agent":
            for event in client.events(f"{path}/reply", {}):
                if event["event"] == "failed":
                    raise RuntimeError(event["error"])
                view = event.get("view", view)
        elif view["player"] == side:
            view = client.call(f"{path}/move", {"action": choose(view, rng), "ply": view["ply"]})
            print(view["history"][-1]["name"], end=" ", flush=True)
        else:
            time.sleep(0.5)
            view = client.call(path)
    return view


def main() -> None:
    parser = argparse.ArgumentParser(description="A bot that plays on the web page.")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="where the page is")
    parser.add_argument("--game", default="checkers", help="the game to begin")
    parser.add_argument("--against", default="random", help="the agent to meet, in a game for two")
    parser.add_argument("--join", help="the id of a game to sit down at instead")
    parser.add_argument("--side", type=int, default=0, help="the side to play: 0 moves first")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    client = Client(given.url)
    if given.join:
        view = client.call(f"/plays/{given.join}")
    else:
        game = next(game for game in client.call("/games")["games"] if game["name"] == given.game)
        players = [given.against] * game["players"]
        players[given.side] = "person"
        view = client.call("/plays", {"game": given.game, "players": players, "seed": given.seed})
    print(f"watch it at {given.url}/#/play/{view['id']}")
    print(f"\n{play(client, view, given.side, random.Random(given.seed))['status']}")


if __name__ == "__main__":
    main()
