"""The learners of the Prior State Voting paper as players: a Q-table, and what it does where it knows nothing.

>>> import rookery
>>> game = rookery.load("checkers")
>>> agent = rookery.agent("voting", game)
>>> state = game.parse_state("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29")
>>> agent.table.values(state) is None  # never met in training
True
>>> agent.explain(state).reasons[0]
'never met in training: known positions vote'
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rookery._native import Control
from rookery._native import checkers as native
from rookery.agents import Agent, Drawing, Explanation
from rookery.game import Overlay, State
from rookery.games.checkers.database import Database, Outcome, look_up
from rookery.games.checkers.q_learning import FALLBACKS, KEEP_TRAINING, QTable, Rule, Settings, Vote
from rookery.games.checkers.rules import CheckersState
from rookery.games.checkers.search import DECIDED, LEAST_WIN, SCALE, WIN, Player
from rookery.games.checkers.voting import SYMMETRIES, view_of
from rookery.learn.voting import Cells, compare

if TYPE_CHECKING:
    from rookery.games.checkers.dqn import Net


@lru_cache(maxsize=2)
def load_table(path: Path | str) -> QTable:
    """A Q-table from its file, kept: it is large."""
    return QTable.load(path)


class QTableAgent(Agent):
    """Plays the best action of the Q-table; in positions it does not know, what the fallback says: `random`,
    `voting`, or `keep-training` (100 training games from the position, forgotten after the move).

    `symmetries` lets votes count through rotation with colours exchanged (2), and mirror images as well (4).
    """

    def __init__(self, table: QTable, fallback: str = "random", symmetries: int = 1) -> None:
        if fallback not in FALLBACKS:
            raise ValueError(f"unknown fallback {fallback!r}; known fallbacks: {', '.join(FALLBACKS)}")
        self.table, self.fallback, self.symmetries = table, fallback, symmetries
        self.voting = table.voting(symmetries) if fallback == "voting" else None

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        assert isinstance(state, CheckersState)
        values = self._values(state, rng.getrandbits(63))
        best = max(values.values())
        ties = [action for action, value in values.items() if value == best]
        blind = self.fallback == "random" and self.table.values(state) is None
        return native.program_first(ties) if self.table.rule == "program" and not blind else rng.choice(ties)

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
            return self.table.keep_training(state, Settings(KEEP_TRAINING, rule=self.table.rule), seed)
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
                    drawing = draw_vote(state, ranked[0], vote, title, self.table.rule)
                    reasons.append(drawing.title)
                    drawings.append(drawing)
        elif self.fallback == "keep-training":
            reasons = [f"never met in training: values after {KEEP_TRAINING} training games from here"]
            reasons += [f"{state.action_name(a)} has Q {values[a]:+.4f}" for a in ranked]
        else:
            reasons = ["never met in training: any move, at random"]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values), drawings)

    def _votes(self, state: CheckersState, action: int) -> tuple[list[Vote], list[Vote]]:
        return self.table.strongest_votes(state, action, 2, self.symmetries)


_LOOKS = ("", ", rotated with colours exchanged", ", mirrored", ", rotated with colours exchanged and mirrored")


def draw_vote(state: CheckersState, action: int, vote: Vote, title: str, rule: Rule = "paper") -> Drawing:
    """The prior position that voted, with the overlap: equal squares marked good, different ones bad."""
    prior, new = SYMMETRIES[vote.symmetry](view_of(vote.state, vote.action)), view_of(state, action)
    if rule == "program":  # it shifts the board the other way
        prior, new = replace(prior, anchor=new.anchor), replace(new, anchor=prior.anchor)
    marks = compare(prior, new)
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


# Players that search

DEPTH = 9
"""Plies that `td` looks ahead."""
NODES = 100_000
"""Positions that `best` looks at per move."""
CONTEMPT = 50
"""Hundredths of log-odds that a draw counts less than an even game when `best` chooses a move."""


def worth(score: int, plies: int | None) -> float:
    """What a score says of the game: 1 or -1 for a decided one, less a thousandth for every ply until its end, and
    between -0.7 and 0.7 for all others."""
    return 0.7 * math.tanh(score / SCALE / 2) if plies is None else math.copysign(1 - plies / 1000, score)


def verdict(score: int, plies: int | None, exact: bool) -> str:
    """The same in words. `exact`: whether solved endgames were looked up."""
    if plies is not None:
        return f"{'wins' if score > 0 else 'loses'} in {plies} {'ply' if plies == 1 else 'plies'}"
    if exact and score == 0:
        return "is even, or a proven draw"
    return f"is worth {worth(score, plies):+.3f}"


class EngineAgent(Agent):
    """The engine: a selective search with limits of nodes, CPU seconds or depth (0: no limit), and solved endgames.

    A move is worth what the search expects of the game: 1 or -1 for a decided one, less a thousandth for every ply
    until its end, and between -0.7 and 0.7 for all others, so that nothing undecided looks better than a win. With
    `noise` the scores of all moves are found and normal errors of that standard deviation, in hundredths of
    log-odds, are added before the best is chosen: a weaker player. A move of the `book`, by position and name, is
    played at once; one of several at random. When it chooses a move a draw counts as `contempt` hundredths of
    log-odds less than an even game, and every piece on the board as a twentieth of that more, so that it avoids draws
    and simple positions against weaker players. If it is `clocked`, the time of a game's clock takes the place of its
    limits. Several `threads` search the same position with a common table; what they find is not the same every time.
    If it is `paced`, its nodes and seconds are roughly the average per move, with less for endgames; when it plays by
    a clock, and when it explains a move, they are limits.

    >>> import rookery
    >>> game = rookery.load("checkers")
    >>> state = game.parse_state("W:W25,K26:B21")
    >>> rookery.agent("best:nodes=1000", game).explain(state).reasons[:2]
    ['26-30 wins in 1 ply', 'expected line: 26-30']
    """

    def __init__(
        self,
        value: Any,
        solved: Database | None,
        nodes: int = NODES,
        seconds: float = 0.0,
        depth: int = 0,
        noise: float = 0.0,
        book: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
        contempt: int = 0,
        clocked: bool = False,
        threads: int = 1,
        paced: bool = False,
    ) -> None:
        self.value, self.solved, self.noise, self.book = value, solved, noise, book
        self.contempt, self.clocked, self.paced = contempt, clocked, paced
        self.limits: dict[str, Any] = {"nodes": nodes, "seconds": seconds, "depth": depth}
        if not any(self.limits.values()):
            raise ValueError("the search needs a limit: nodes, seconds or depth")
        native.Player(0, value, None, nodes, seconds, contempt)  # refuses bad limits
        if not 0 <= depth <= 99:
            raise ValueError(f"the depth must be 1 to 99, or 0 for no limit, and is {depth}")
        self.search: Any = native.Engine(value, solved.native if solved else None, threads=threads)

    @property
    def player(self) -> Player:
        """The same player for native matches, without noise and limits of depth, and with one thread."""
        endgames = self.solved.native if self.solved else None
        return Player(0, self.value, endgames, self.limits["nodes"], self.limits["seconds"], self.contempt, self.paced)

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        return self._choose(state, rng or random.Random(), self.limits, paced=self.paced)

    def choose_within(self, state: State, rng: random.Random, seconds: float) -> int:
        limits = {"nodes": 0, "depth": 0} if self.clocked else self.limits
        control = Control()
        timer = threading.Timer(seconds, control.stop)  # clocks run on while other programs have the processor
        timer.start()
        try:
            return self._choose(state, rng, limits | {"seconds": max(0.001, seconds)}, control)
        finally:
            timer.cancel()

    def _choose(
        self,
        state: State,
        rng: random.Random,
        limits: dict[str, Any],
        control: Control | None = None,
        paced: bool = False,
    ) -> int:
        actions = list(state.legal_actions())
        if len(actions) == 1:
            return actions[0]
        if known := self.book.get(str(state)):
            return state.parse_action(rng.choice(sorted(known)))
        if self.noise:
            scores, _, _ = self.search.values(state, **limits)
            return int(max(scores, key=lambda row: row[1] + rng.gauss(0, self.noise))[0])
        rng.shuffle(actions)  # of moves with equal scores the first is played
        # What depends on time depends on the machine anyway, so the table may stay from move to move.
        line, _, _ = self.search.best(
            state,
            order=actions,
            keep=limits["seconds"] > 0,
            contempt=self.contempt,
            paced=paced,
            control=control,
            **limits,
        )
        return int(line[0])

    def values(self, state: State) -> dict[int, float]:
        scores, _, _ = self.search.values(state, **self.limits)
        return {action: worth(score, self.plies(score)) for action, score in scores}

    def accepts_draw(self, state: State) -> bool:
        """It does if it does not expect to win, the other side's best move being worth -0.05 or more, and the game is
        not young: 40 plies were played, or at most eight pieces are left."""
        assert isinstance(state, CheckersState)
        if len(state.actions) < 40 and len(state.black) + len(state.white) > 8:
            return False
        _, score, _ = self.search.best(state, **self.limits)
        return worth(score, self.plies(score)) >= -0.05

    @staticmethod
    def plies(score: int) -> int | None:
        """How far ahead the game is decided, if the search saw that."""
        return WIN - abs(score) if abs(score) > LEAST_WIN else None

    def in_words(self, state: State, value: float) -> str:
        return in_words(value) or super().in_words(state, value)

    def explain(self, state: State) -> Explanation:
        rows, line, depth = self.search.values(state, **self.limits)
        scores, nodes = dict(rows), self.search.nodes
        ranked = sorted(scores, key=lambda action: (action != line[0], -scores[action]))
        values = {action: worth(score, self.plies(score)) for action, score in scores.items()}
        exact = self.solved is not None
        reasons = [
            f"{state.action_name(action)} {verdict(scores[action], self.plies(scores[action]), exact)}"
            for action in ranked[:5]
        ]
        names, now = [], state.clone()
        for action in line:
            names.append(now.action_name(action))
            now.apply(action)
        reasons.insert(1, f"expected line: {' '.join(names)}")
        reasons.append(f"searched {depth} plies and more where it mattered: {nodes:,} positions")
        arrows = list(pairwise(state.action_cells(ranked[0])))
        return Explanation(state, ranked[0], values, reasons, Overlay(arrows=arrows, values=values))


class SearchAgent(Agent):
    """Alpha-beta to a fixed depth, captures followed to their end, ties broken at random.

    A move is worth what the search expects of the game: 1 or -1 for a decided one, less a thousandth for every ply
    until its end, and between -0.7 and 0.7 for all others, so that nothing undecided looks better than a win.

    >>> import rookery
    >>> game = rookery.load("checkers")
    >>> state = game.parse_state("W:W25,K26:B21")
    >>> rookery.agent("ladder:depth=5", game).explain(state).reasons[:2]
    ['26-30 wins in 1 ply', 'expected line: 26-30']
    """

    def __init__(self, value: Any, depth: int, solved: Database | None) -> None:
        """`value` None is the ladder's evaluation, `solved` None a search that knows no endgames."""
        self.player = Player(depth, value, solved.native if solved else None)
        self.player.native()  # refuses a bad depth
        if depth < 1:
            raise ValueError(f"the depth must be at least 1, and is {depth}")
        self.depth, self.solved = depth, solved
        self.search: Any = native.Search(value, self.player.endgames)

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        rng = rng or random.Random()
        actions = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        return int(rng.choice(self.search.best(state, self.depth))[0])

    def values(self, state: State) -> dict[int, float]:
        return {action: self.worth(score) for action, score in self.search.values(state, self.depth)}

    def plies(self, score: int) -> int | None:
        """How far ahead the game is decided, if the search saw that."""
        ahead = DECIDED + self.depth - abs(score)
        return ahead if abs(score) > DECIDED / 2 and ahead >= 0 else None

    def worth(self, score: int) -> float:
        return worth(score, self.plies(score))

    def in_words(self, state: State, value: float) -> str:
        return in_words(value) or super().in_words(state, value)

    def line(self, state: State, action: int) -> list[str]:
        """The principal line: the moves that both sides would play after this one, as far as the search sees."""
        state, names = state.clone(), []
        for depth in range(self.depth, 0, -1):
            names.append(state.action_name(action))
            state.apply(action)
            if depth == 1 or not state.legal_actions():
                break
            action = self.search.best(state, depth - 1)[0][0]
        return names

    def explain(self, state: State) -> Explanation:
        scores = dict(self.search.values(state, self.depth))
        nodes = self.search.nodes
        ranked = sorted(scores, key=lambda action: -scores[action])
        values, exact = {action: self.worth(score) for action, score in scores.items()}, self.solved is not None
        reasons = [
            f"{state.action_name(action)} {verdict(scores[action], self.plies(scores[action]), exact)}"
            for action in ranked[:5]
        ]
        reasons.insert(1, f"expected line: {' '.join(self.line(state, ranked[0]))}")
        reasons.append(f"searched {self.depth} plies and captures: {nodes:,} positions")
        cells = state.action_cells(ranked[0])
        arrows = list(pairwise(cells))
        return Explanation(state, ranked[0], values, reasons, Overlay(arrows=arrows, values=values))


class DatabaseAgent(Agent):
    """Perfect play in positions of few pieces: the fastest win, else a draw, else the slowest loss.

    A move is worth 1 less a thousandth for every ply to the win, 0 if it draws, -1 plus a thousandth for every ply if
    it loses. Positions with more pieces are refused.
    """

    def __init__(self, pieces: int) -> None:
        self.solved = look_up(pieces)

    def outcomes(self, state: State) -> dict[int, Outcome]:
        assert isinstance(state, CheckersState)
        return self.solved.solve(state).moves

    def values(self, state: State) -> dict[int, float]:
        return {action: outcome.preference / 1000 for action, outcome in self.outcomes(state).items()}

    def in_words(self, state: State, value: float) -> str:
        return in_words(value) or "draws"

    def explain(self, state: State) -> Explanation:
        outcomes, values = self.outcomes(state), self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(action)} {describe(outcomes[action])}" for action in ranked]
        cells = state.action_cells(ranked[0])
        arrows = list(pairwise(cells))
        return Explanation(state, ranked[0], values, reasons, Overlay(arrows=arrows, values=values))


def describe(outcome: Outcome) -> str:
    if outcome.plies is None:
        return "draws"
    return (
        f"{'wins' if outcome.value == 'win' else 'loses'} in {outcome.plies} {'ply' if outcome.plies == 1 else 'plies'}"
    )


def in_words(worth: float) -> str:
    """A decided game in moves of the winner; nothing for an undecided one.

    >>> in_words(0.997), in_words(-0.9), in_words(0.3)
    ('wins in 2', 'loses in 50', '')
    """
    if abs(worth) <= 0.7:
        return ""
    moves = (round(1000 - 1000 * abs(worth)) + 1) // 2
    return f"{'wins' if worth > 0 else 'loses'} in {max(1, moves)}"
