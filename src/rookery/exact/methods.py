"""The exact solution of any game that is small enough, as a method."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.agents import Agent, Explanation
from rookery.exact import solve as exact
from rookery.game import Game, Overlay, State
from rookery.method import Method, Solution

AT_ONCE = 300_000
"""Positions that are solved without being asked to, when an agent or an answer needs them."""


def in_words(worth: float, steps: int | None, players: int) -> str:
    """What a position is worth to the player to move."""
    end = "" if steps is None else f" in {steps} move{'' if steps == 1 else 's'}"
    if players == 1:
        return f"{worth:g} still to earn{end}"
    if worth == 0:
        return "a draw"
    return f"{'a win' if worth > 0 else 'a loss'}{end}" if abs(worth) == 1 else f"worth {worth:+.6g}"


class SolvedAgent(Agent):
    """Perfect play in every position that was solved."""

    def __init__(self, solved: exact.SolvedGame) -> None:
        self.solved = solved

    def values(self, state: State) -> dict[int, float]:
        """What every move is worth; equal moves differ by a trifle if they win sooner or lose later."""
        moves = self.solved.moves(state)
        best = set(self.solved.best_moves(state))
        trifle = 1e-9 * max(1.0, *(abs(worth) for worth, _ in moves.values()))
        return {action: worth + trifle * (action in best) for action, (worth, _) in moves.items()}

    def in_words(self, state: State, value: float) -> str:
        if state.game.players == 2 and abs(value) < 1e-6:
            return "draws"
        return super().in_words(state, value)

    def explain(self, state: State) -> Explanation:
        moves, players = self.solved.moves(state), state.game.players
        best = self.solved.best_moves(state)
        ranked = [*best, *sorted(set(moves) - set(best), key=lambda a: exact.preference(*moves[a]), reverse=True)]
        reasons = [f"{state.action_name(action)}: {in_words(*moves[action], players)}" for action in ranked]
        values = {action: worth for action, (worth, _) in moves.items()}
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))


class Oracle(Method):
    """Perfect play from the solution of the whole game, where its positions fit in memory."""

    name, kind = "oracle", "exact"
    form: type[exact.SolvedGame] = exact.SolvedGame
    """How the game is solved; a game's own oracle may name another form."""

    @dataclass(frozen=True)
    class Options:
        positions: int = AT_ONCE
        """Positions to solve at most, if the game has not been solved by `rookery solve` before."""

        def __post_init__(self) -> None:
            if self.positions < 1:
                raise ValueError(f"positions must be at least 1, and is {self.positions}")

    def unready(self, game: Game) -> str | None:
        return None if exact.is_kept(game) else "is not solved yet"

    def agent(self, game: Game, options: Any, model: Path | None = None) -> Agent:
        return SolvedAgent(exact.kept(game, self.form) or self._solved(game.initial_state(), options.positions))

    def solve(self, state: State) -> Solution:
        solved = exact.kept(state.game, self.form)
        if solved is None or state not in solved:
            solved = self._solved(state, AT_ONCE)
        moves, players = solved.moves(state), state.game.players
        worth = solved.value(state)
        return Solution(
            state,
            in_words(worth, solved.distance(state), players),
            worth,
            {action: value for action, (value, _) in moves.items()},
            {action: in_words(value, steps, players) for action, (value, steps) in moves.items()},
            solved.error,
        )

    def _solved(self, state: State, positions: int) -> exact.SolvedGame:
        try:
            return exact.solve_game(state, positions=positions, form=self.form)
        except ValueError as error:
            raise ValueError(f"{state.game.name} is not solved: {error}; `rookery solve` may take longer") from None


METHODS = (Oracle(),)
