"""Agents for Morpion Solitaire: the nets of its learners, alone or with a tree search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rookery import _native
from rookery.agents import Agent, Explanation
from rookery.game import Overlay, State
from rookery.games.morpion.rules import Morpion, MorpionState

if TYPE_CHECKING:
    from rookery.games.morpion import r2, zero


class NetAgent(Agent):
    """A net on a board with a border; values are its probabilities."""

    what = "probability"

    def __init__(self, game: Morpion) -> None:
        self.board = game
        """The game as the net sees it."""

    def shares(self, state: MorpionState) -> dict[int, float]:
        """The probability of every legal action of a position on the net's board."""
        raise NotImplementedError

    def values(self, state: State) -> dict[int, float]:
        """Moves off the part of the grid that the net sees have no probability."""
        assert isinstance(state, MorpionState)
        small, there = self._as_the_net_sees(state)
        found = self.shares(small) if small.legal_actions() else {}
        return dict.fromkeys(state.legal_actions(), 0.0) | {there[action]: share for action, share in found.items()}

    def explain(self, state: State) -> Explanation:
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(action)}: {values[action]:.1%} {self.what}" for action in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))

    def _as_the_net_sees(self, state: MorpionState) -> tuple[MorpionState, dict[int, int]]:
        """The position on the net's board, and the state's action for each legal one there."""
        small = self.board.initial_state()
        shift = state.game.rules.corner - self.board.rules.corner

        def smaller(action: int) -> int | None:
            move = state.game.move(action)
            try:
                return int(self.board.action(move._replace(column=move.column - shift, row=move.row - shift)))
            except ValueError:
                return None

        for action in state.moves:
            mine = smaller(action)
            if mine is None:
                raise ValueError(f"the position leaves the {self.board.side} rows and columns that the net sees")
            small.apply(mine)
        actions = {smaller(action): action for action in state.legal_actions()}
        return small, {mine: action for mine, action in actions.items() if mine is not None}


class ZeroAgent(NetAgent):
    """The net of `zero`. With `simulations` it looks ahead by PUCT, for games of more than `threshold` moves (by
    default those that rank high in its training); values are then shares of the visits."""

    def __init__(self, learner: Any, net: zero.Net, simulations: int, threshold: float) -> None:
        super().__init__(net.game)
        self.learner, self.net, self.simulations, self.threshold = learner, net, simulations, threshold
        self.what = "of the visits" if simulations else "probability"

    def shares(self, state: MorpionState) -> dict[int, float]:
        trees = self.learner.Trees(self.net, state, 1, self.threshold)
        trees.grow(max(1, self.simulations))
        found = trees.trees.moves(0)
        visits = sum(move[1] for move in found)
        return {action: count / visits if self.simulations > 1 else prior for action, count, _, prior in found}


class R2Agent(NetAgent):
    """The policy of `r2`: an action is the cell of the new dot, so of several lines through it only one has a share."""

    def __init__(self, player: r2.Player) -> None:
        super().__init__(player.game)
        self.player = player

    def shares(self, state: MorpionState) -> dict[int, float]:
        planes, offsets, actions = _native.morpion.State.Games(state, 1).observe(1)
        _, policies, action_for, _ = self.player.policies(planes, offsets, actions)
        cells = self.player.cell_of[actions]
        return {
            int(action): float(policies[0, cell]) if action_for[0, cell] == action else 0.0
            for action, cell in zip(actions, cells, strict=True)
        }
