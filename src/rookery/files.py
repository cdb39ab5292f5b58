"""Files that are written whole or not at all, and the cache of what can be made again."""

from __future__ import annotations

import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path | str) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` at the end, and leaves no trace if anything goes wrong.

    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "a" / "b.txt") as file:
    ...     _ = file.write(b"whole")
    >>> (folder / "a" / "b.txt").read_text(), len(list((folder / "a").iterdir()))
    ('whole', 1)
    """
    path = Path(path)
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


def write_text(path: Path | str, text: str) -> None:
    """Write text whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


MOVED: dict[str, str] = {}
"""Where files and folders lie that came to this machine with a task, by the path they have where the task was made."""
MOVED_FROM: list[str] = []
"""The folder that relative paths of tasks start from, if this process works for another machine."""


def located(path: Path | str) -> Path:
    """The path of a file on this machine: another one if it came with a task.

    >>> MOVED["/far/runs/mine"] = "/tmp/mine"
    >>> str(located("/far/runs/mine/model.npz")), str(located("here.py"))
    ('/tmp/mine/model.npz', 'here.py')
    >>> MOVED.clear()
    """
    if not MOVED:
        return Path(path)
    whole = Path(os.path.normpath(Path(*MOVED_FROM, path)))
    for known in (whole, *whole.parents):
        if str(known) in MOVED:
            return Path(MOVED[str(known)]) / whole.relative_to(known)
    return Path(path)


def cache_folder() -> Path:
    """The folder of the cache: `$ROOKERY_CACHE`, else `rookery` in `$XDG_CACHE_HOME` or `~/.cache`."""
    if own := os.environ.get("ROOKERY_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rookery"


_HEADER = struct.Struct("<8s24sQI")  # magic, tag, size and checksum of the bytes
_MAGIC = b"rookery1"


def write_cache(name: str, tag: str, data: bytes) -> None:
    """Keep bytes in the cache, compressed, under a name such as "tables/small.bin".

    What cannot be written is made again next time.
    """
    header = _HEADER.pack(_MAGIC, tag.encode(), len(data), zlib.crc32(data))
    try:
        with replacing(cache_folder() / name) as file:
            file.write(header + zlib.compress(data, 1))
    except OSError as error:
        print(f"rookery: {name} could not be kept in the cache: {error}", file=sys.stderr)


def read_cache(name: str, tag: str, size: int) -> bytes | None:
    """The bytes that `write_cache` kept, or None if they are missing or damaged and must be made again."""
    path = cache_folder() / name
    try:
        content = path.read_bytes()
    except OSError:
        return None
    try:
        magic, found, length, checksum = _HEADER.unpack_from(content)
        if (magic, found.rstrip(b"\0"), length) != (_MAGIC, tag.encode(), size):
            raise ValueError("it holds something else")
        reader = zlib.decompressobj()
        data = reader.decompress(content[_HEADER.size :], size)
        if len(data) != size or not reader.eof or reader.unused_data or zlib.crc32(data) != checksum:
            raise ValueError("its checksum is wrong")
    except (ValueError, struct.error, zlib.error) as error:
        print(f"rookery: {path} is damaged ({error}) and will be made again", file=sys.stderr)
        return None
    return data
