"""The learned players of 1010!, as shipped or from a file of your own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rookery import draw
from rookery.agents import Agent, Drawing, Explanation
from rookery.game import Overlay, State
from rookery.games.tenten import MODELS, ntuple
from rookery.games.tenten.linear import Linear
from rookery.games.tenten.lspi import Lspi
from rookery.games.tenten.rules import PIECE_SETS, TenTen, TenTenState

Halves = tuple[int, int]


def shipped(method: str, game: TenTen) -> Path:
    """The file of the weights that ship for this board and these pieces, if there are any."""
    pieces = dict(zip(game.piece_names, game.weights, strict=True))
    names = [name for name, known in PIECE_SETS.items() if dict(known) == pieces]
    variant = f"{game.rows}x{game.columns}" + ("" if names == ["full"] else f"-{names[0]}" if names else "-own")
    return MODELS / f"{method}-{variant}.npz"


def board_halves(state: TenTenState) -> Halves:
    """The board as the native code takes it: cells 0 to 63, and the rest."""
    board = sum(1 << cell for cell in state.cells)
    return board & (1 << 64) - 1, board >> 64


def _slots(state: State) -> tuple[TenTenState, Halves, list[tuple[int, int]]]:
    """The state, its board, and (slot, piece) of what is in the hand."""
    assert isinstance(state, TenTenState)
    return state, board_halves(state), [(slot, piece) for slot, piece in enumerate(state.hand) if piece >= 0]


class LinearAgent(Agent):
    """A weighted sum of features: explains itself by what each contributes.

    The model is that of LSPI, with the features of the paper, or that of the cross-entropy method, with our own.
    """

    def __init__(self, model: Lspi | Linear) -> None:
        self.model, self.weights, self.names = model, model.weights, model.names

    def placements(self, board: Halves, piece: int) -> tuple[Any, Any, Any, Any]:
        """Cells, lines cleared, boards after, values."""
        features: Any = self.model.features  # each model's features take its own kind of weights
        found: tuple[Any, Any, Any, Any] = features.placements(self.weights, board, piece)
        return found

    def values(self, state: State) -> dict[int, float]:
        state, board, slots = _slots(state)
        size = state.game.rows * state.game.columns
        values: dict[int, float] = {}
        for slot, piece in slots:
            cells, _, _, numbers = self.placements(board, piece)
            values |= {slot * size + int(c): float(v) for c, v in zip(cells, numbers, strict=True)}
        return dict(sorted(values.items()))

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        state, board, _ = _slots(state)
        action = max(values, key=lambda a: values[a])
        slot, cell = divmod(action, state.game.rows * state.game.columns)
        cells, _, boards, _ = self.placements(board, state.hand[slot])
        vectors = self.model.feature_vectors(board, state.hand[slot], cells, boards)
        chosen = vectors[list(cells).index(cell)]
        lead = (chosen - vectors.mean(axis=0)) * self.weights
        reasons = [f"{state.action_name(action)} is worth {values[action]:.4g}, the most of {len(values)} placements"]
        for i in np.argsort(-np.abs(lead), kind="stable")[:6]:
            reasons.append(
                f"{self.names[i]}: {chosen[i]:.4g} x {self.weights[i]:.4g} = {chosen[i] * self.weights[i]:.4g} "
                f"({lead[i]:+.3g} against the mean placement)"
            )
        return Explanation(state, action, values, reasons, Overlay(values=values), [self._leads(lead)])

    def _leads(self, lead: npt.NDArray[np.float64]) -> Drawing:
        """What every feature adds, the greatest first."""
        title = "What each feature adds, against the mean placement"
        rows = [(self.names[i], float(lead[i])) for i in np.argsort(-np.abs(lead), kind="stable") if lead[i]]
        text = "\n".join(f"{value:+10.3g}  {name}" for name, value in rows)
        return Drawing(title, draw.bars(title, rows), text)


class NTupleAgent(Agent):
    """The n-tuple network without looking ahead: values are log-odds of staying alive."""

    def __init__(self, model: ntuple.NTuple) -> None:
        self.model = model

    def values(self, state: State) -> dict[int, float]:
        return self._values(state, look_ahead=0)

    def in_words(self, state: State, value: float) -> str:
        """The risk of losing soon, from the log-odds of staying alive."""
        return _risk(1 / (1 + math.exp(min(value, 700))))

    def _values(self, state: State, look_ahead: int) -> dict[int, float]:
        state, board, slots = _slots(state)
        model, size = self.model, state.game.rows * state.game.columns
        values: dict[int, float] = {}
        for slot, piece in slots:
            cells, _, _, numbers = model.features.placements(
                model.weights, model.settings.discount, board, piece, look_ahead
            )
            values |= {slot * size + int(c): float(v) for c, v in zip(cells, numbers, strict=True)}
        return dict(sorted(values.items()))

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(a)}: risk {1 / (1 + math.exp(values[a])):.3g}" for a in ranked[:5]]
        reasons.append(
            f"risk is the chance to lose soon: a loss n rounds ahead counts {self.model.settings.discount:g} ** n"
        )
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))


class LookAheadAgent(NTupleAgent):
    """The n-tuple network with every next piece looked at; with several pieces in hand, all of them are planned."""

    def __init__(self, model: ntuple.NTuple, beam: int = 8) -> None:
        super().__init__(model)
        self.beam = beam

    def values(self, state: State) -> dict[int, float]:
        state, _, slots = _slots(state)
        if len(slots) == 1:
            return self._values(state, look_ahead=1 << 20)
        values: dict[int, float] = {}
        for action in state.legal_actions():
            after = state.clone()
            after.apply(action)
            rest = [piece for _, piece in _slots(after)[2]]
            moves, value = self.model.features.plan(self.model.weights, board_halves(after), rest, self.beam)
            # A plan that leaves a piece over ends the game.
            values[action] = float(value) if len(moves) == len(rest) else -1000.0 + len(moves)
        return values

    def in_words(self, state: State, value: float) -> str:
        if len(_slots(state)[2]) == 1:
            return _risk(1 - value)
        return "no room" if value < -500 else super().in_words(state, value)

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        one = len(_slots(state)[2]) == 1
        kind = (
            "expected chance to stay alive, over every next piece"
            if one
            else "log-odds of staying alive after the hand"
        )
        reasons = [f"{state.action_name(a)}: {values[a]:.6g} ({kind})" for a in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))


def _risk(chance: float) -> str:
    """A chance to lose in words.

    >>> [_risk(chance) for chance in (0.5, 0.012, 0.00004, 0.0)]
    ['50% risk', '1.2% risk', '0.004% risk', '0% risk']
    """
    percent = 100 * chance
    digits = 0 if percent >= 10 or percent < 1e-4 else 1 if percent >= 1 else 2 if percent >= 0.01 else 3
    return f"{percent:.{digits}f}% risk"
