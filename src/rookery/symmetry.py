"""Symmetries of a board: ways to turn and mirror it under which a game stays the same.

>>> of_grid(1, 3)
[(2, 1, 0)]
>>> len(of_grid(3, 3)), len(of_grid(6, 7))
(7, 3)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Symmetry:
    """Where cells and actions go. A position and its image are worth the same.

    Cells are numbered row by row, as in the planes of an observation `[planes, rows, columns]`.
    """

    cells: Sequence[int]
    """Cell i goes to `cells[i]`."""
    actions: Sequence[int]
    """Action a becomes `actions[a]`."""
    planes: Sequence[int] | None = None
    """Plane i of the observation becomes plane `planes[i]`; None where each plane stays itself."""

    def observations(self, planes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The images of observations `[positions, planes, rows, columns]`."""
        flat = planes.reshape(*planes.shape[:2], len(self.cells))
        image = np.empty_like(flat)
        image[:, :, np.asarray(self.cells)] = flat
        if self.planes is not None:
            image[:, np.asarray(self.planes)] = image.copy()
        return image.reshape(planes.shape)


def of_grid(rows: int, columns: int) -> list[tuple[int, ...]]:
    """The ways to turn and mirror a grid, as `Symmetry.cells`, without the one that changes nothing.

    There are seven for a square, three for a rectangle and one for a line.
    """
    numbers = np.arange(rows * columns).reshape(rows, columns)
    images = [numbers, numbers[::-1], numbers[:, ::-1], numbers[::-1, ::-1]]
    if rows == columns:
        images += [image.T for image in images]
    found = dict.fromkeys(tuple(np.argsort(image.ravel()).tolist()) for image in images)
    return [cells for cells in found if cells != tuple(range(rows * columns))]
