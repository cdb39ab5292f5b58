"""`rookery serve`: the web page."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

import tyro

from rookery.cli.base import DEFAULTS, Answer, Options, progress


def serve(
    *,
    port: int = 8080,
    host: str = "127.0.0.1",
    open: bool = False,
    load: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = (),
    runs: Path = Path("runs"),
    reports: Path = Path("reports"),
    common: Options = DEFAULTS,
) -> Answer:
    """Open the web page: play, watch, ask agents why, train. Needs the extra `web`.

    Example: rookery serve --open

    Only this machine can reach it. With another --host others can, and then the page needs the token in the address
    that is printed.

    Args:
        port: Port to listen on.
        host: Address to listen on; 0.0.0.0 means all of this machine.
        open: Open a browser.
        load: A Python file with games, agents or methods of your own, a game such as open_spiel:hex, or an agent such
            as uci:PROGRAM, which visitors can then choose but not change; may be given several times.
        runs: Folder of training runs; games in progress are kept there as well.
        reports: Folder of `rookery reproduce`.
    """
    try:
        import uvicorn

        from rookery.web.app import Settings, create_app
        from rookery.web.guard import LOOPBACK
    except ImportError as error:
        raise ValueError(f"the web page needs more packages: pip install 'rookery[web]' ({error})") from None
    if not 1 <= port <= 65535:
        raise ValueError(f"a port is 1 to 65535, not {port}")
    token = None if host in LOOPBACK else secrets.token_urlsafe(18)
    hosts = LOOPBACK | {socket.gethostname().lower()}
    app = create_app(Settings(runs, reports, load, token, hosts))
    everywhere = host in ("0.0.0.0", "::")
    name = socket.gethostname() if everywhere else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/" + (f"?token={token}" if token else "")
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror}; choose others") from None
    progress().print(f"Rookery is at {address}\nCtrl-C stops it.", soft_wrap=True)
    if open:
        Timer(1.0, webbrowser.open, [address]).start()
    # Without a logging configuration of its own: that one closes the log handlers of every other library.
    config = uvicorn.Config(app, log_config=None, log_level="warning", server_header=False, timeout_graceful_shutdown=3)
    uvicorn.Server(config).run([listener])
    return Answer({"address": address}, lambda console: console.print("stopped"))
