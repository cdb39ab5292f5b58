from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from rookery.web.app import Settings, create_app

TIC_TAC_TOE = Path(__file__).parents[2] / "examples" / "tic_tac_toe.py"


def settings(folder: Path, **changes: Any) -> Settings:
    return Settings(**{"runs": folder / "runs", "reports": folder / "reports"} | changes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(create_app(settings(folder)), base_url="http://localhost") as client:
        yield client


def events(text: str) -> list[dict[str, Any]]:
    """The server-sent events of an answer."""
    return [json.loads(part.removeprefix("data: ")) for part in text.split("\n\n") if part]


@dataclass
class Server:
    """`rookery serve` in a process of its own."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api{path}", data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)


def start_server(folder: Path, *arguments: str) -> Server:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            sys.executable, "-m", "rookery", "serve", "--port", str(port), "--runs", str(folder / "runs"),
            "--reports", str(folder / "reports"), "--load", str(TIC_TAC_TOE), *arguments,
        ],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    server = Server(port, process)
    for _ in range(300):
        try:
            urllib.request.urlopen(server.url, timeout=5).close()
        except urllib.error.HTTPError as error:
            error.close()
            return server
        except OSError:
            assert process.poll() is None, "the server ended at once"
            time.sleep(0.1)
        else:
            return server
    raise AssertionError("the server did not start")


def stop_server(server: Server) -> None:
    server.process.terminate()
    server.process.wait(30)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all that look at it from outside."""
    server = start_server(tmp_path_factory.mktemp("server"))
    yield server
    stop_server(server)
