"""The command `rookery serve`."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.commands import check_refusal
from tests.web.conftest import start_server, stop_server


def test_clear_refusals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = ["--runs", str(tmp_path)]
    check_refusal(capsys, ["serve", "--port", "0", *folder], "a port is 1 to 65535")
    check_refusal(capsys, ["serve", "--load", str(tmp_path / "no.py"), *folder], "there is no file")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    check_refusal(capsys, ["serve", "--load", str(tmp_path / "empty.py"), *folder], "defines no game, agent or method")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        check_refusal(capsys, ["serve", "--port", str(taken.getsockname()[1]), *folder], "cannot listen on 127.0.0.1")


def test_a_missing_extra_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    check_refusal(capsys, ["serve"], "pip install 'rookery[web]'")


def test_other_addresses_need_the_token(tmp_path: Path) -> None:
    server = start_server(tmp_path, "--host", "0.0.0.0")
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(server.url, timeout=10)
        assert refused.value.code == 401
        refused.value.close()
    finally:
        stop_server(server)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_killed_server_leaves_no_search_and_no_run_behind(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    view = server.call("/plays", {"game": "checkers", "players": ["person", "random"]})
    run = server.call("/runs", {"game": "tenten", "variant": "4x4-seven", "method": "ntuple"})["id"]
    end = time.monotonic() + 60
    while not server.call(f"/runs/{run}")["curve"] and time.monotonic() < end:
        time.sleep(0.1)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    body = json.dumps({"agent": "minimax:depth=60"})
    connection.request("POST", f"/api/plays/{view['id']}/think", body, {"content-type": "application/json"})
    connection.getresponse().readline()
    children = (
        Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text(encoding="ascii").split()
    )
    assert len(children) == 4  # the helper, two that think, one of them now, and the run
    server.process.kill()
    server.process.wait(10)
    connection.close()
    server = start_server(tmp_path)
    try:
        assert server.call(f"/plays/{view['id']}")["position"] == view["position"]
        end = time.monotonic() + 20
        while (left := [pid for pid in children if _alive(pid)]) and time.monotonic() < end:
            time.sleep(0.2)
        assert left == []
        row = server.call(f"/runs/{run}")
        assert (row["state"], row["resumable"]) == ("stopped", True)
    finally:
        stop_server(server)


def _alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_ends_it_and_its_workers(tmp_path: Path) -> None:
    server = start_server(tmp_path)
    view = server.call("/plays", {"game": "checkers", "players": ["person", "random"]})
    server.call(f"/plays/{view['id']}/hint", {"stage": 1})  # a worker is running now
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    workers = children.read_text(encoding="ascii").split() if children.exists() else []
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) in (0, 130, -signal.SIGINT)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
