"""The learners of the Prior State Voting paper as players: a Q-table, and what it does where it knows nothing.

>>> import rookery
>>> game = rookery.load("checkers")
>>> agent = load_table("psv")
>>> state = game.parse_state("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29")
>>> agent.table.values(state) is None  # never met in training
True
>>> agent.explain(state).reasons[0]
'never met in training: known positions vote'
"""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery._native import checkers as native
from rookery.agent import Agent, Drawing, Explanation
from rookery.game import Overlay, State
from rookery.games.checkers import MODELS
from rookery.games.checkers.q_learning import FALLBACKS, KEEP_TRAINING, QTable, Vote
from rookery.games.checkers.rules import CheckersState
from rookery.games.checkers.voting import SYMMETRIES, view_of
from rookery.learn.voting import Cells, compare

if TYPE_CHECKING:
    from rookery.games.checkers.dqn import Net


@lru_cache(maxsize=2)
def _load(path: Path) -> QTable:
    return QTable.load(path)


class QTableAgent(Agent):
    """Plays the best action of the Q-table; in positions it does not know, what the fallback says: `random`, `psv`, or
    `keep-training` (100 training games from the position, forgotten after the move).

    `symmetries` lets votes count through rotation with colours exchanged (2), and mirror images as well (4).
    """

    def __init__(self, table: QTable, fallback: str = "random", symmetries: int = 1) -> None:
        if fallback not in FALLBACKS:
            raise ValueError(f"unknown fallback {fallback!r}; known fallbacks: {', '.join(FALLBACKS)}")
        self.table, self.fallback, self.symmetries = table, fallback, symmetries
        self.voting = native.PriorStateVoting(table.native, symmetries) if fallback == "psv" else None

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        values = self._values(state, rng.getrandbits(63))
        best = max(values.values())
        return rng.choice([action for action, value in values.items() if value == best])

    def values(self, state: State) -> dict[int, float]:
        return self._values(state, 0)

    def _values(self, state: State, seed: int) -> dict[int, float]:
        assert isinstance(state, CheckersState)
        known = self.table.values(state)
        if known is not None:
            return known
        if self.voting is not None:
            return {action: mean for action, mean, _ in self.voting.scores(state)}
        if self.fallback == "keep-training":
            return self.table.keep_training(state, KEEP_TRAINING, seed)
        return dict.fromkeys(state.legal_actions(), 0.0)

    def explain(self, state: State) -> Explanation:
        assert isinstance(state, CheckersState)
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        drawings: list[Drawing] = []
        if self.table.values(state) is not None:
            reasons = ["met in training: the learned values"]
            reasons += [f"{state.action_name(a)} has Q {values[a]:+.4f}" for a in ranked]
        elif self.voting is not None:
            votes = {action: n for action, _, n in self.voting.scores(state)}
            reasons = ["never met in training: known positions vote"]
            for action in ranked:
                name, score = state.action_name(action), values[action]
                reasons.append(f"{name} scores {score:+.4f}, the mean of {votes[action]:,} votes")
            for title, group in zip(("for", "against"), self._votes(state, ranked[0]), strict=True):
                for vote in group:
                    drawing = draw_vote(state, ranked[0], vote, title)
                    reasons.append(drawing.title)
                    drawings.append(drawing)
        elif self.fallback == "keep-training":
            reasons = [f"never met in training: values after {KEEP_TRAINING.games} training games from here"]
            reasons += [f"{state.action_name(a)} has Q {values[a]:+.4f}" for a in ranked]
        else:
            reasons = ["never met in training: any move, at random"]
        return Explanation(ranked[0], values, reasons, Overlay(values=values), drawings)

    def _votes(self, state: CheckersState, action: int) -> tuple[list[Vote], list[Vote]]:
        return self.table.strongest_votes(state, action, 2, self.symmetries)


_LOOKS = ("", ", rotated with colours exchanged", ", mirrored", ", rotated with colours exchanged and mirrored")


def draw_vote(state: CheckersState, action: int, vote: Vote, title: str) -> Drawing:
    """The prior position that voted, with the overlap: equal squares marked good, different ones bad."""
    prior = SYMMETRIES[vote.symmetry](view_of(vote.state, vote.action))
    marks = compare(prior, view_of(state, action))
    if vote.symmetry & 2:
        marks = marks[:, ::-1]
    if vote.symmetry & 1:
        marks = marks[::-1, ::-1]
    cells = vote.state.action_cells(vote.action)
    squares = [(row, column) for row in range(8) for column in range(8) if _dark(row, column)]
    highlights = {cell: "good" if marks[place] > 0 else "bad" for cell, place in enumerate(squares) if marks[place]}
    overlay = Overlay(highlights=highlights, arrows=list(pairwise(cells)))
    text = (
        f"{title} {state.action_name(action)}: {vote.weight:+.4f} = Q {vote.q:+.4f} x {vote.matching}/64 equal cells, "
        f"{vote.state.action_name(vote.action)} in {vote.state}{_LOOKS[vote.symmetry]}"
    )
    return Drawing(text, vote.state.svg(overlay), _text_board(vote.state, marks))


def _dark(row: int, column: int) -> bool:
    return (row + column) % 2 == 1


def _text_board(state: CheckersState, marks: Cells) -> str:
    """Black on top; in the overlap `[b]` is equal and `!b!` different."""
    contents = ["."] * 32
    kings = set(state.kings)
    for letter, squares in (("b", state.black), ("w", state.white)):
        for square in squares:
            contents[square - 1] = letter.upper() if square in kings else letter
    around = {1: "[%s]", -1: "!%s!", 0: " %s "}

    def cell(row: int, column: int) -> str:
        if not _dark(row, column):
            return "   "
        return around[int(marks[row, column])] % contents[4 * row + column // 2]

    return "\n".join("".join(cell(row, column) for column in range(8)).rstrip() for row in range(8))


class DqnAgent(Agent):
    """Plays the move of greatest value of a net of `rookery train checkers dqn`. Needs PyTorch."""

    def __init__(self, net: Net) -> None:
        self.net = net

    def values(self, state: State) -> dict[int, float]:
        from rookery.games.checkers.dqn import values

        assert isinstance(state, CheckersState)
        return values(self.net, state)


def load_table(default: str, /, path: str | None = None, **settings: Any) -> QTableAgent:
    """With the fallback `default` unless the settings name another. `path` is a file or folder of `rookery train
    checkers q-table`; without it the shipped table is used."""
    return QTableAgent(
        _load(MODELS / "q-table.npz" if path is None else Path(path)), **{"fallback": default} | settings
    )


def load_dqn(path: str | None = None) -> DqnAgent:
    """With the net in a file or folder of `rookery train checkers dqn`; without it the shipped one."""
    try:
        from rookery.games.checkers import dqn as checkers_dqn
    except ImportError as error:
        raise ValueError(f"the agent 'dqn' needs PyTorch: pip install 'rookery[deep]' ({error})") from None
    return DqnAgent(checkers_dqn.load(MODELS / "dqn.npz" if path is None else Path(path)))
