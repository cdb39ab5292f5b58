"""Nim in one file: take any number of stones from one heap; whoever takes the last stone wins.

Solve it: rookery solve examples/nim.py
Play it:  rookery play examples/nim.py --agent oracle
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rookery.draw import Canvas
from rookery.game import TERMINAL, Game, Overlay, State


class Nim(Game):
    """Action `heap * most + stones - 1` takes that many stones from a heap; `most` is the size of the largest heap."""

    name = "nim"
    players = 2
    observation_range = (0.0, 1.0)
    blurb = "Take stones from one heap; the last stone wins."
    variants = {"3-4-5": {"heaps": (3, 4, 5)}, "1-3-5-7": {"heaps": (1, 3, 5, 7)}}  # noqa: RUF012

    def __init__(self, heaps: tuple[int, ...] = (3, 4, 5)) -> None:
        if not heaps or min(heaps) < 1 or max(heaps) > 100 or len(heaps) > 20:
            raise ValueError("nim has 1 to 20 heaps of 1 to 100 stones")
        self.heaps, self.most = tuple(heaps), max(heaps)
        self.num_actions = len(heaps) * self.most
        self.observation_shape = (1, len(heaps), self.most)

    def initial_state(self) -> NimState:
        return NimState(self, self.heaps, 0)

    def parse_state(self, text: str) -> NimState:
        """The heaps and who is to move, such as `3 4 5 first`."""
        *heaps, side = text.split()
        if len(heaps) != len(self.heaps) or not all(h.isdecimal() for h in heaps) or side not in ("first", "second"):
            raise ValueError(f"expected {len(self.heaps)} heaps and first or second, such as '{self.initial_state()}'")
        if any(int(stones) > most for stones, most in zip(heaps, self.heaps, strict=True)):
            raise ValueError(f"the heaps must not be larger than at the start: {self.initial_state()}")
        return NimState(self, tuple(map(int, heaps)), ("first", "second").index(side))


class NimState(State):
    def __init__(self, game: Nim, heaps: tuple[int, ...], side: int) -> None:
        self._game, self.heaps, self.side = game, heaps, side

    @property
    def game(self) -> Nim:
        return self._game

    def player(self) -> int:
        return self.side if any(self.heaps) else TERMINAL

    def legal_actions(self) -> list[int]:
        most = self._game.most
        return [heap * most + taken for heap, stones in enumerate(self.heaps) for taken in range(stones)]

    def apply(self, action: int) -> None:
        heap, taken = divmod(action, self._game.most)
        if action < 0 or heap >= len(self.heaps) or taken >= self.heaps[heap]:
            raise ValueError(f"action {action} is not possible in {self}")
        heaps = list(self.heaps)
        heaps[heap] -= taken + 1
        self.heaps, self.side = tuple(heaps), 1 - self.side

    def clone(self) -> NimState:
        return NimState(self._game, self.heaps, self.side)

    def returns(self) -> list[float]:
        if any(self.heaps):
            return [0.0, 0.0]
        return [-1.0, 1.0] if self.side == 0 else [1.0, -1.0]  # who is to move did not take the last stone

    def key(self) -> bytes:
        return bytes([*self.heaps, self.side])

    def observation(self) -> npt.NDArray[np.float32]:
        columns = np.arange(self._game.most)
        return np.array([[columns < stones for stones in self.heaps]], np.float32)

    def action_name(self, action: int) -> str:
        heap, taken = divmod(action, self._game.most)
        return f"{taken + 1} from {heap + 1}"

    def action_cells(self, action: int) -> list[int]:
        """The leftmost of the stones that are taken, which are those at the right end of a heap."""
        heap, taken = divmod(action, self._game.most)
        return [heap * self._game.most + self.heaps[heap] - taken - 1]

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.heaps))} {('first', 'second')[self.side]}"

    def svg(self, overlay: Overlay | None = None) -> str:
        canvas = Canvas(self._game.most, len(self.heaps), str(self))
        for heap, stones in enumerate(self.heaps):
            for i in range(stones):
                canvas.circle(i + 0.5, heap + 0.5, 0.38, "#55606b", heap * self._game.most + i)
        return canvas.render()
