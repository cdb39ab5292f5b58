"""Q-table learning and Prior State Voting, slow and plain: the paper's Algorithms 1 and 2 on dictionaries.

Rules come from `tests.games.checkers.oracle`; a position is its pieces and the side to move, a move its squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from tests.games.checkers.oracle import PLACE, Board, Game, Move, legal_moves

Key = tuple[frozenset[tuple[int, str]], str]
Table = dict[Key, dict[Move, float]]


def key(board: Board, side: str) -> Key:
    return frozenset(board.items()), side


class Xoshiro:
    """xoshiro256** seeded through splitmix64, with the draws of `native/core/rng.hpp`."""

    def __init__(self, seed: int, stream: int) -> None:
        self.mixed = seed
        self.mixed = self.splitmix() ^ stream * 0xD1342543DE82EF95 % 2**64
        self.words = [self.splitmix() for _ in range(4)]

    def splitmix(self) -> int:
        self.mixed = (self.mixed + 0x9E3779B97F4A7C15) % 2**64
        z = (self.mixed ^ self.mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    @staticmethod
    def rotate(x: int, by: int) -> int:
        return (x << by | x >> 64 - by) % 2**64

    def next(self) -> int:
        w = self.words
        result = self.rotate(w[1] * 5 % 2**64, 7) * 9 % 2**64
        t = w[1] << 17 & 2**64 - 1
        w[2] ^= w[0]
        w[3] ^= w[1]
        w[1] ^= w[2]
        w[0] ^= w[3]
        w[2] ^= t
        w[3] = self.rotate(w[3], 45)
        return result

    def below(self, n: int) -> int:
        while True:
            product = (self.next() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def uniform(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def greatest(values: Sequence[float], rng: Xoshiro) -> int:
    """Ties are broken evenly as they are met."""
    best, ties = 0, 1
    for i, value in enumerate(values):
        if i == 0:
            continue
        if value > values[best]:
            best, ties = i, 1
        elif value == values[best]:
            ties += 1
            if rng.below(ties) == 0:
                best = i
    return best


def learn(
    table: Table, game: Game, alpha: float, discount: float, draw: float = 0.0, capture: float = 0.0, decay: float = 1.0
) -> None:
    """The second half of Algorithm 1, once for each side and its own moves; draws, captures and decay are ours."""
    winner = game.result()
    for side in "bw":
        result = draw if winner == "draw" else 1.0 if winner == side else -1.0
        max_next, later = 0.0, 0
        for (board, mover), move in reversed(list(zip(game.past, game.moves, strict=True))):
            if mover != side:
                continue
            actions = table.setdefault(key(board, side), dict.fromkeys(legal_moves(board, side), 0.0))
            q = actions[move]
            reward = result * decay**later + capture * len(move[1])
            actions[move] = float(np.float32(q + alpha * (reward + discount * max_next - q)))  # kept as 32 bits
            max_next = max(actions.values())
            later += 1


def learn_as_the_program(table: Table, game: Game, alpha: float, discount: float) -> None:
    """What the author's program does after a game: both paths from their start to their end, the best value so far of
    the position before standing in for that of the one after, never below 0 and not reset between the paths."""
    winner = game.result()
    if winner == "draw":
        return
    paths: dict[str, list[tuple[Key, Move]]] = {"b": [], "w": []}
    for (board, mover), move in zip(game.past, game.moves, strict=True):
        paths[mover].append((key(board, mover), move))
    max_next = 0.0
    for side, path in paths.items():
        for position, move in path:
            q = table[position][move]
            reward = 1.0 if winner == side else -1.0
            table[position][move] = float(np.float32(q + alpha * (reward + discount * max_next - q)))
            max_next = max([0.0, *table[position].values()])


def listed_by_the_program(moves: Sequence[Move]) -> list[Move]:
    """Square by square from 1 on; Black's left (on our board the right) before the right, forwards before backwards."""

    def place(move: Move) -> object:
        turns = []
        for here, there in pairwise([PLACE[square] for square in move[0]]):
            turns.append((there[0] < here[0], there[1] < here[1]))
        return move[0][0], turns

    return sorted(moves, key=place)  # type: ignore[arg-type]


def train(
    games: int, epsilon: float, alpha: float, seed: int, order: Callable[[Board, str], list[Move]]
) -> tuple[Table, list[str | None]]:
    """All of Algorithm 1, with the discount rising from 0.1 to 1. `order` lists the legal moves in the order in which
    the native code numbers them, which decides what a random number means."""
    table: Table = {}
    results = []
    for number in range(games):
        rng = Xoshiro(seed, number)
        game = Game(3, 100, False)
        while game.result() is None:
            moves = order(game.board, game.side)
            assert set(moves) == set(legal_moves(game.board, game.side))
            known = table.get(key(game.board, game.side))
            if rng.uniform() < epsilon or known is None:
                chosen = moves[rng.below(len(moves)) if len(moves) > 1 else 0]
            else:
                chosen = moves[greatest([known[move] for move in moves], rng)]
            game.play(chosen)
        learn(table, game, alpha, 0.1 + 0.9 * number / (games - 1))
        results.append(game.result())
    return table, results


def train_as_the_program(
    games: int, epsilon: float, alpha: float, seed: int, order: Callable[[Board, str], list[Move]]
) -> tuple[Table, list[str | None]]:
    """The author's program: positions are known once they were met, the first of the best moves is played, and the
    discount of game i of n is 0.1 + 0.9 (i + 1) / n."""
    table: Table = {}
    results = []
    for number in range(games):
        rng = Xoshiro(seed, number)
        game = Game(3, 100, False)
        while game.result() is None:
            moves, position = order(game.board, game.side), key(game.board, game.side)
            if rng.uniform() < epsilon or position not in table:
                chosen = moves[rng.below(len(moves)) if len(moves) > 1 else 0]
            else:
                values = table[position]
                chosen = next(m for m in listed_by_the_program(moves) if values[m] == max(values.values()))
            table.setdefault(position, dict.fromkeys(moves, 0.0))
            game.play(chosen)
        learn_as_the_program(table, game, alpha, 0.1 + 0.9 * (number + 1) / games)
        results.append(game.result())
    return table, results


def equivalent(board: Board, move: Move, prior: Board, other: Move) -> bool:
    """The same displacements, and the same kinds of pieces captured in the same order."""

    def shape(board: Board, move: Move) -> object:
        places = [PLACE[square] for square in move[0]]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places)]
        return steps, [board[square] for square in move[1]]

    return shape(board, move) == shape(prior, other)


def matching_fraction(board: Board, move: Move, prior: Board, other: Move, wrong_way: bool = False) -> float:
    """Cell by cell over the whole 8x8 board, light squares too. The author's program shifts the board the wrong way."""

    def content(cells: Board, row: int, column: int) -> str:
        return next((piece for square, piece in cells.items() if PLACE[square] == (row, column)), ".")

    here, there = PLACE[move[0][0]], PLACE[other[0][0]]
    equal = 0
    for row in range(8):
        for column in range(8):
            down, right = there[0] - here[0], there[1] - here[1]
            if wrong_way:
                down, right = -down, -right
            prior_row, prior_column = row + down, column + right
            inside = 0 <= prior_row < 8 and 0 <= prior_column < 8
            equal += inside and content(board, row, column) == content(prior, prior_row, prior_column)
    return equal / 64


def vote(table: Table, board: Board, side: str, move: Move, wrong_way: bool = False) -> tuple[float, int]:
    """Algorithm 2: the score of a move and the number of votes."""
    total, n = 0.0, 0
    for (pieces, prior_side), actions in table.items():
        prior = dict(pieces)
        for other, q in actions.items():
            if prior_side == side and q != 0 and equivalent(board, move, prior, other):
                total += matching_fraction(board, move, prior, other, wrong_way) * q
                n += 1
    return (total / n if n else 0.0), n
