"""Jobs: tasks whose rows are kept in a file, resumed, divided into shards and merged again."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.files import write_text
from rookery.progress import bar
from rookery.scale.executors import RETRIES, carry_out
from rookery.scale.tasks import Message, Row, Task

Header = dict[str, Any]
Shard = tuple[int, int]
"""Part K of N, counted from 1."""

_PART = re.compile(r"(.+)-([1-9]\d*)-of-([1-9]\d*)\.jsonl")


def parse_shard(text: str | None) -> Shard | None:
    """Part and number of parts from text.

    >>> parse_shard("3/8")
    (3, 8)
    >>> parse_shard("9/8")
    Traceback (most recent call last):
    ...
    ValueError: the shard must be K/N with 1 <= K <= N <= 100,000, such as 3/8, and is '9/8'
    """
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    if not match or not int(match[1]) <= int(match[2]) <= 100_000:
        raise ValueError(f"the shard must be K/N with 1 <= K <= N <= 100,000, such as 3/8, and is {text[:40]!r}")
    return int(match[1]), int(match[2])


class Job:
    """Tasks, the rows they have given so far, and the file that keeps them.

    The file has one JSON object per line: first the header, which says what the job is, then `key` and `row` or `error`
    of every task as it ends. With a shard, every N-th task belongs to the job, and the file's name says so.
    """

    def __init__(
        self, header: Header, tasks: Sequence[Task], *, file: Path | str | None = None, shard: Shard | None = None,
        shared: Any = None, files: Sequence[Path | str] = (),
    ) -> None:  # fmt: skip
        self.tasks = tasks if shard is None else tasks[shard[0] - 1 :: shard[1]]
        self.header = header = json.loads(json.dumps(header))  # as a reader of the file gets it
        self.file = None if file is None else Path(file)
        if shard is not None:
            if self.file is None:
                raise ValueError("a shard needs a folder to keep its part in")
            self.file = self.file.with_name(f"{self.file.stem}-{shard[0]}-of-{shard[1]}.jsonl")
            self.header = header | {"shard": list(shard), "keys": [task.key for task in self.tasks]}
        self.shared, self.files = shared, files
        self._resumed = False
        self.rows: dict[str, Row] = {}
        """What is done."""
        self.failures: dict[str, str] = {}
        """Tasks that were given up, with their errors; `run` tries them again."""

    def resume(self) -> int:
        """Read the rows that an earlier run of the same job left in the file; returns their number."""
        if self.file is None or not self.file.exists():
            return 0
        self._resumed = True
        header, self.rows, self.failures = read(self.file)
        if header != self.header:
            shown = {name: value for name, value in header.items() if name != "keys"}
            raise ValueError(f"{self.file} holds another job: {json.dumps(shown)[:300]}")
        return len(self.rows)

    def run(
        self, on: str = "here", *, retries: int = RETRIES, timeout: float | None = None, label: str = "",
        shown: bool = False, until: float = math.inf,
    ) -> Iterator[tuple[str, Row]]:  # fmt: skip
        """Do the tasks that are still missing and yield each key and row.

        A task that raises, that takes longer than `timeout` seconds or whose worker is lost is tried again, and then
        named in `failures`. Ctrl-C ends all workers and is raised; what is done is kept. `until` is when to stop, as
        `time.monotonic` counts.
        """
        todo = [task for task in self.tasks if task.key not in self.rows]
        self.open()
        messages = carry_out(
            todo, on, shared=self.shared, files=self.files, retries=retries, timeout=timeout, count=len(todo)
        )
        for message in self.carry(messages, len(self.tasks), label, shown, until):
            if message.kind == "row":
                yield message.key, self.rows[message.key]

    def carry(
        self, messages: Iterator[Message | None], total: int, label: str = "", shown: bool = False,
        until: float = math.inf,
    ) -> Iterator[Message]:  # fmt: skip
        """Keep the rows and errors among messages as they come, and yield them."""
        with bar(label, total, len(self.rows), shown) as advance, contextlib.closing(messages):  # type: ignore[type-var]
            for message in messages:
                if time.monotonic() >= until:
                    return
                if message is None:
                    continue
                line = self._append(message.key, message.kind, message.data)
                self.failures.pop(message.key, None)
                if message.kind == "row":
                    # The same value that a reader of the file gets: tuples become lists on every executor.
                    self.rows[message.key] = json.loads(line)["row"]
                else:
                    self.failures[message.key] = message.data
                advance()
                yield message

    def open(self) -> None:
        """Make the file ready for lines: write a new one, or cut off what a kill left half written."""
        if self.file is None:
            return
        if self.file.exists():
            if not self._resumed:
                raise ValueError(
                    f"{self.file.parent} already holds {self.file.name}; resume it, or choose another folder"
                )
            with self.file.open("rb+") as file:
                end = file.seek(0, os.SEEK_END)
                while end > 0:
                    file.seek(end - 1)
                    if file.read(1) == b"\n":
                        break
                    end -= 1
                file.truncate(end)
            return
        write_text(self.file, json.dumps(self.header) + "\n")
        self._resumed = True

    def _append(self, key: str, kind: str, data: Any) -> str:
        try:
            line = json.dumps({"key": key, kind: data})
        except (TypeError, ValueError) as error:
            raise ValueError(f"the result of task {key!r} is not JSON: {error}") from None
        if self.file is not None:
            try:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            except OSError as error:
                raise ValueError(f"{self.file} cannot be written: {error.strerror}; what it holds is kept") from None
        return line


def read(file: Path) -> tuple[Header, dict[str, Row], dict[str, str]]:
    """The header, the rows and the failures in a job's file. A last line that a kill cut off is left out."""
    rows: dict[str, Row] = {}
    failures: dict[str, str] = {}
    lines = file.read_text(encoding="utf-8").split("\n")
    try:
        header = json.loads(lines[0])
        if not isinstance(header, dict):
            raise ValueError("its first line is no header")
        for line in lines[1:-1]:
            data = json.loads(line)
            key = data["key"]
            if "row" in data:
                rows[key] = data["row"]
                failures.pop(key, None)
            elif key not in rows:
                failures[key] = data["error"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} is not the file of a job, or is damaged: {error}") from None
    return header, rows, failures


@dataclass(frozen=True)
class Merged:
    """Shards put together."""

    file: Path
    rows: int
    missing_parts: list[int]
    """Numbers of parts that were not there."""
    missing: list[str]
    """Keys that the parts should have and have not."""
    failures: dict[str, str]

    @property
    def complete(self) -> bool:
        return not (self.missing_parts or self.missing)


def find_parts(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """The shards among files and in folders, by the name of the job's file."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            match = _PART.fullmatch(file.name)
            if match:
                found.setdefault(match[1], []).append(file)
            elif not path.is_dir():
                raise ValueError(f"{file} is not a shard: those are called NAME-K-of-N.jsonl")
    if not found:
        raise ValueError(f"there are no shards in {', '.join(map(str, paths))}: files NAME-K-of-N.jsonl")
    return found


def merge(parts: Sequence[Path], out: Path) -> Merged:
    """Write the rows of shards into one job's file, which the job resumes; ValueError if they do not fit together."""
    rows: dict[str, Row] = {}
    failures: dict[str, str] = {}
    keys: dict[str, Path] = {}
    seen: dict[int, Path] = {}
    first: Header = {}
    for part in parts:
        header, its_rows, its_failures = read(part)
        if "shard" not in header or "keys" not in header:
            raise ValueError(f"{part} is not a shard")
        (number, count), its_keys = header.pop("shard"), header.pop("keys")
        header["parts"] = count
        if first and header != first:
            name = next(name for name in {**first, **header} if first.get(name) != header.get(name))
            raise ValueError(
                f"{part} does not fit {parts[0]}: its {name} is {json.dumps(header.get(name))[:100]}, "
                f"not {json.dumps(first.get(name))[:100]}"
            )
        first = first or header
        if number in seen:
            raise ValueError(f"{part} and {seen[number]} are both part {number} of {count}")
        seen[number] = part
        keys |= dict.fromkeys(its_keys, part)
        rows |= its_rows
        failures |= its_failures
    count = first.pop("parts")
    if out.exists():
        raise ValueError(f"{out} is there already; move it away to merge again")
    lines = [{"key": key, "row": row} for key, row in rows.items()]
    lines += [{"key": key, "error": error} for key, error in failures.items()]
    write_text(out, "".join(json.dumps(line) + "\n" for line in [first, *lines]))
    missing = [key for key in keys if key not in rows]
    return Merged(out, len(rows), [n for n in range(1, count + 1) if n not in seen], missing, failures)
