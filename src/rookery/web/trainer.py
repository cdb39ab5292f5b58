"""A process that trains: `python -m rookery.web.trainer RUN`, where RUN is a JSON object that the server has checked.

It writes the run's folder and nothing else. A stop by Ctrl-C, or the end of the server, leaves a run that can be
resumed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from rookery import registry
from rookery.registry import load
from rookery.run import settings_from
from rookery.training import learner, train
from rookery.web.worker import when_orphaned

STOP_SECONDS = 20.0
"""A run that does not end by itself this long after it was asked to is killed."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(STOP_SECONDS)
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started the server with it ignored
    when_orphaned(_stop)
    asked: dict[str, Any] = json.loads(sys.argv[1])
    registry.load_user_code(asked["user_code"])
    game = load(asked["game"], **asked["options"])
    method = learner(game, asked["method"])
    try:
        train(
            game, method, out=asked["folder"], seed=asked["seed"], resume=asked["resume"], command=asked["command"],
            settings=settings_from(method.Settings, asked["settings"]), on_row=lambda row: None,
        )  # fmt: skip
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
