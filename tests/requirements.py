"""What `pip install -e '.[dev]'` installs beside rookery, for pip: `python tests/requirements.py > requirements.txt`.

`make test` installs it while the extension module is being built; pip alone would do one after the other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


def packages(requirements: list[str]) -> Iterator[str]:
    """The packages of a list, those of the extras it names included."""
    for requirement in requirements:
        if requirement.startswith("rookery["):
            for extra in requirement.removeprefix("rookery[").removesuffix("]").split(","):
                yield from packages(PROJECT["optional-dependencies"][extra])
        else:
            yield requirement


if __name__ == "__main__":
    print(*sorted({*packages(PROJECT["dependencies"]), *packages(["rookery[dev]"])}), sep="\n")
