"""`rookery serve` up to the moment at which it listens."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path
from typing import Any

import pytest

from rookery.cli import main
from rookery.cli import serve as command
from tests.commands import check_refusal

uvicorn = pytest.importorskip("uvicorn")


class Served:
    """What the server was started with."""

    config: Any
    address: Any
    settings: Any


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    found = Served()

    class Server:
        def __init__(self, config: Any) -> None:
            found.config = config

        def run(self, sockets: list[socket.socket]) -> None:
            found.address = sockets[0].getsockname()
            for one in sockets:
                one.close()

    def create_app(settings: Any) -> Any:
        found.settings = settings
        return lambda: None

    monkeypatch.setattr(uvicorn, "Server", Server)
    monkeypatch.setattr("rookery.web.app.create_app", create_app)
    monkeypatch.setattr(command.socket, "gethostname", lambda: "My-Machine")
    monkeypatch.setenv("COLUMNS", "300")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_this_machine_needs_no_token(served: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(SystemExit) as stop:
        main(["serve", "--port", str(port), "--runs", str(tmp_path), "--load", "a.py", "--load", "b.py"])
    assert not stop.value.code
    output = capsys.readouterr()
    assert output.err == f"Rookery is at http://127.0.0.1:{port}/\nCtrl-C stops it.\n"
    assert output.out == "stopped\n"
    assert served.address == ("127.0.0.1", port)
    assert (served.settings.token, served.settings.load, served.settings.runs) == (None, ("a.py", "b.py"), tmp_path)
    assert {"my-machine", "localhost", "127.0.0.1"} <= set(served.settings.hosts)
    assert (served.config.log_level, served.config.server_header) == ("warning", False)


def test_other_machines_need_one(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    with pytest.raises(SystemExit):
        main(["serve", "--port", str(port), "--host", "0.0.0.0"])
    token = served.settings.token
    assert len(token) >= 24
    assert f"Rookery is at http://My-Machine:{port}/?token={token}\n" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", "--port", str(port), "--host", "0.0.0.0"])
    assert served.settings.token != token, "every start has a token of its own"


def test_addresses_of_version_six(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    try:
        socket.create_server(("::1", port), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("needs IPv6")
    with pytest.raises(SystemExit):
        main(["serve", "--port", str(port), "--host", "::1"])
    assert f"Rookery is at http://[::1]:{port}/" in capsys.readouterr().err


def test_a_browser_is_opened_if_asked(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[tuple[float, Any, list[str]]] = []

    class Timer:
        def __init__(self, seconds: float, function: Any, arguments: list[str]) -> None:
            timers.append((seconds, function, arguments))

        def start(self) -> None:
            timers.append(timers[-1])

    monkeypatch.setattr(command, "Timer", Timer)
    port = free_port()
    with pytest.raises(SystemExit):
        main(["serve", "--port", str(port)])
    assert timers == []
    with pytest.raises(SystemExit):
        main(["serve", "--port", str(port), "--open"])
    assert len(timers) == 2
    assert timers[0][1:] == (webbrowser.open, [f"http://127.0.0.1:{port}/"])


def test_ports(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    for port in ("0", "65536"):
        check_refusal(capsys, ["serve", "--port", port], f"a port is 1 to 65535, not {port}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        check_refusal(
            capsys, ["serve", "--port", port], f"cannot listen on 127.0.0.1, port {port}: Address already in use"
        )
