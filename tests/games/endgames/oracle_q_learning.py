"""Q-learning for chess endgames, slowly: dictionaries, python-chess for attacks, our random numbers written again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import chess

from rookery.games.endgames.rules import EndgamesState

MASK = (1 << 64) - 1


class Random:
    """xoshiro256** seeded through splitmix64, as published by Blackman and Vigna."""

    def __init__(self, seed: int, stream: int) -> None:
        x, first = self._splitmix(seed)
        x = first ^ (stream * 0xD1342543DE82EF95 & MASK)
        self.words = []
        for _ in range(4):
            x, word = self._splitmix(x)
            self.words.append(word)

    @staticmethod
    def _splitmix(x: int) -> tuple[int, int]:
        x = (x + 0x9E3779B97F4A7C15) & MASK
        z = x
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return x, z ^ (z >> 31)

    def next(self) -> int:
        def rotate(x: int, k: int) -> int:
            return (x << k | x >> (64 - k)) & MASK

        w = self.words
        result = rotate(w[1] * 5 & MASK, 7) * 9 & MASK
        t = w[1] << 17 & MASK
        w[2] ^= w[0]
        w[3] ^= w[1]
        w[1] ^= w[2]
        w[0] ^= w[3]
        w[2] ^= t
        w[3] = rotate(w[3], 45)
        return result

    def below(self, n: int) -> int:
        product = (self.next() >> 32) * n
        while product % 2**32 < 2**32 % n:
            product = (self.next() >> 32) * n
        return product >> 32

    def uniform(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def board_of(state: EndgamesState) -> chess.Board:
    return chess.Board(str(state))


def strong_colour(board: chess.Board) -> chess.Color:
    return any(board.pieces(kind, chess.WHITE) for kind in range(chess.PAWN, chess.KING))


def king_area(board: chess.Board) -> int:
    """Squares the lone king can walk to over squares that are neither attacked nor occupied."""
    strong = strong_colour(board)
    start = board.king(not strong)
    assert start is not None
    found, todo = {start}, [start]
    while todo:
        for square in chess.SquareSet(chess.BB_KING_ATTACKS[todo.pop()]):
            free = board.piece_at(square) is None and not board.is_attacked_by(strong, square)
            if free and square not in found:
                found.add(square)
                todo.append(square)
    return len(found)


def king_distance(board: chess.Board) -> int:
    white, black = board.king(chess.WHITE), board.king(chess.BLACK)
    assert white is not None
    assert black is not None
    return chess.square_distance(white, black)


def heuristic(state: EndgamesState) -> float:
    board = board_of(state)
    return ((7 + 63) - (king_distance(board) + king_area(board))) ** 2 / 10


def by_engine(answer: tuple[int, bool, int]) -> float:
    _, mate, score = answer
    if mate:
        return ((((20 - min(score, 20)) / 10) ** 2 + 1) * 10) ** 2
    return math.copysign((score / 20000 * 10) ** 2, score)


Engine = Callable[[EndgamesState], tuple[int, bool, int]]


@dataclass
class Learner:
    """One side that learns. `q[position][action]`."""

    strong: bool
    reward: Callable[[EndgamesState], float]
    alpha: float
    gamma: float
    epsilon: float
    decay: float
    potential: Callable[[EndgamesState], float] | None = None
    q: dict[str, dict[int, float]] = field(default_factory=dict)
    learned: set[str] = field(default_factory=set)
    wins: int = 0

    def row(self, state: EndgamesState) -> dict[int, float]:
        key = " ".join(str(state).split()[:4])
        if key not in self.q:
            self.q[key] = {action: self.first_value(state, action) for action in state.legal_actions()}
        return self.q[key]

    def first_value(self, state: EndgamesState, action: int) -> float:
        if self.potential is None:
            return 0.0
        return self.potential(after(state, action)) * (1 if self.strong else -1)

    def signed_reward(self, state: EndgamesState) -> float:
        return self.reward(state) * (1 if self.strong else -1)

    def outcome(self, ending: str, moves: int) -> float:
        share = 1 if self.potential else moves
        if self.strong:
            return 10_000 / share if ending == "checkmate" else -10_000
        return -10_000 / share if ending == "checkmate" else 10_000 / share

    def choose(self, state: EndgamesState, rng: Random) -> int:
        row = self.row(state)
        if rng.uniform() < self.epsilon / self.decay**self.wins:
            return list(row)[rng.below(len(row))]
        best = [action for action in row if row[action] == max(row.values())]
        return best[rng.below(len(best))] if len(best) > 1 else best[0]

    def learn(self, state: EndgamesState, action: int, target: float) -> None:
        row = self.row(state)
        row[action] += self.alpha * (target - row[action])
        self.learned.add(" ".join(str(state).split()[:4]))

    def least_best(self, state: EndgamesState, moves: int) -> float:
        values = []
        for reply in fresh(state).legal_actions():
            following = after(fresh(state), reply)
            if following.ending:
                values.append(self.outcome(following.ending, moves))
            else:
                values.append(max(self.row(following).values()))
        return min(values)


def fresh(state: EndgamesState) -> EndgamesState:
    """The position without its history and counters."""
    return state.game.parse_state(" ".join(str(state).split()[:4]))


def after(state: EndgamesState, action: int) -> EndgamesState:
    following = fresh(state)
    following.apply(action)
    return following


def match(start: EndgamesState, learners: dict[int, Learner], engine: Engine, rng: Random) -> tuple[str, int]:
    """One match from `start`; returns how it ended and the moves of the side with the pieces."""
    strong = start.strong
    previous = {player: learner.signed_reward(start) for player, learner in learners.items()}
    pending: dict[int, tuple[EndgamesState, int, EndgamesState, int]] = {}
    state, moves = start.clone(), 0

    def go_on(player: int) -> None:
        if player not in pending:
            return
        learner = learners[player]
        before, action, position, number = pending.pop(player)
        target = learner.gamma * learner.least_best(position, number)
        if learner.potential is None:
            now = learner.signed_reward(position)
            target += now - previous[player]
            previous[player] = now
        learner.learn(before, action, target)

    while state.ending is None:
        player = state.player()
        moves += player == strong
        if player in learners:
            go_on(player)
            action = learners[player].choose(state, rng)
            pending[player] = (fresh(state), action, after(state, action), max(moves, 1))
        else:
            action = engine(fresh(state))[0]
        state.apply(action)
    for player, learner in learners.items():
        by_history = state.ending in ("repetition", "fifty-move rule")
        if learner.potential is not None and by_history:
            go_on(player)
        elif player in pending:
            before, action, _, number = pending[player]
            learner.learn(before, action, learner.outcome(state.ending, number))
        learner.wins += (state.ending == "checkmate") == learner.strong
    return state.ending, moves
