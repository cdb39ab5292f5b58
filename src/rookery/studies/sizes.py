"""How much work a run of a study may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """A study takes about a minute on two cores if it is quick, about twelve by default, and hours in full."""

    name: str

    @property
    def flag(self) -> str:
        """The command line's option for this size, with a space before it."""
        return "" if self.name == "default" else f" --{self.name}"


SIZES = {name: Size(name) for name in ("quick", "default", "full")}
