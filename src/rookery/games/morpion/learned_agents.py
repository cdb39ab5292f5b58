"""The learned player of Morpion Solitaire, as shipped or from a run of your own."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from rookery.agent import Agent, Explanation
from rookery.game import Overlay, State
from rookery.games.morpion import MODELS
from rookery.games.morpion.rules import Morpion, MorpionState

SHIPPED = MODELS / "5D.safetensors"


def load(game: Morpion, path: str | None = None, simulations: int = 0, threshold: float = 0.0) -> Agent:
    """The net in `path`, or the one shipped for 5D. With `simulations` it looks ahead by PUCT, for games of more than
    `threshold` moves (by default those that rank high in its training)."""
    if game.variant != "5D":
        raise ValueError(f"the net plays 5D, not {game.variant}")
    file = Path(path) if path is not None else SHIPPED
    if file.is_dir():  # of a run
        file /= "model.safetensors"
    if not file.exists():
        raise ValueError(f"there is no net in {file}; train one with `rookery train morpion zero` and name it net:FILE")
    return NetAgent(file, simulations, threshold)


class NetAgent(Agent):
    """Values are the net's probabilities, or shares of visits when it looks ahead."""

    def __init__(self, path: Path, simulations: int = 0, threshold: float = 0.0) -> None:
        try:
            self.zero: Any = importlib.import_module("rookery.games.morpion.zero")
        except ModuleNotFoundError as error:
            raise ValueError(f"the net needs PyTorch: pip install 'rookery[deep]' ({error})") from None
        self.net, _, metrics = self.zero.load_model(path)
        self.simulations, self.threshold = simulations, threshold or float(metrics["threshold"])

    def values(self, state: State) -> dict[int, float]:
        return {action: share for action, (share, _) in self._moves(state).items()}

    def explain(self, state: State) -> Explanation:
        moves = self._moves(state)
        ranked = sorted(moves, key=lambda action: -moves[action][0])
        what = "of the visits" if self.simulations else "probability"
        reasons = [f"{state.action_name(action)}: {moves[action][0]:.1%} {what}" for action in ranked[:5]]
        values = {action: share for action, (share, _) in moves.items()}
        return Explanation(ranked[0], values, reasons, Overlay(values=values))

    def _moves(self, state: State) -> dict[int, tuple[float, float]]:
        """Share and value of every legal move. Moves off the part of the grid that the net sees have none."""
        assert isinstance(state, MorpionState)
        small, there = self._as_the_net_sees(state)
        moves = dict.fromkeys(state.legal_actions(), (0.0, 0.0))
        if small.legal_actions():
            trees = self.zero.Trees(self.net, small, 1, self.threshold)
            trees.grow(max(1, self.simulations))
            found = trees.trees.moves(0)
            visits = sum(move[1] for move in found)
            for action, count, value, prior in found:
                moves[there[action]] = (count / visits if self.simulations > 1 else prior, value)
        return moves

    def _as_the_net_sees(self, state: MorpionState) -> tuple[MorpionState, dict[int, int]]:
        """The position on the net's board, and the state's action for each legal one there."""
        small = self.net.game.initial_state()
        shift = state.game.rules.corner - self.net.game.rules.corner

        def smaller(action: int) -> int | None:
            move = state.game.move(action)
            try:
                return int(self.net.game.action(move._replace(column=move.column - shift, row=move.row - shift)))
            except ValueError:
                return None

        for action in state.moves:
            mine = smaller(action)
            if mine is None:
                raise ValueError(f"the position leaves the {self.net.game.side} rows and columns that the net sees")
            small.apply(mine)
        actions = {smaller(action): action for action in state.legal_actions()}
        return small, {mine: action for mine, action in actions.items() if mine is not None}
