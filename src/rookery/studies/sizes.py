"""How much work a run of a study may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """`minutes` is what one study may take on two cores."""

    name: str
    minutes: float

    @property
    def flag(self) -> str:
        """The command line's option for this size, with a space before it."""
        return "" if self.name == "default" else f" --{self.name}"


SIZES = {size.name: size for size in (Size("quick", 1.0), Size("default", 12.0), Size("full", 600.0))}
