"""Files that are written whole or not at all, and where caches are kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` at the end, and leaves no trace if anything goes wrong.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a" / "b.txt") as file:
    ...     _ = file.write(b"whole")
    >>> (folder / "a" / "b.txt").read_text(), len(list((folder / "a").iterdir()))
    ('whole', 1)
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write text whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def cache_folder() -> Path:
    """Where what can be made again is kept: `$ROOKERY_CACHE`, else `rookery` in `$XDG_CACHE_HOME` or `~/.cache`."""
    if own := os.environ.get("ROOKERY_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rookery"
