"""Deep Q-learning of Solitaire Chess as the paper describes it (Stephens). Needs PyTorch (`rookery[deep]`).

The agent plays a puzzle to its end, each capture the best by its net or, with probability epsilon, a random one, and
takes nothing back. What it did is remembered, and the net learns from random samples of that memory with one-step
targets:

    Q(s, a) -> reward + discount * max over a' of Q(s', a')

One net, no target network, nothing learned from what backtracking finds out; `dqn` is the improved one. The paper gives
no net and no numbers: the net is that of `dqn.py`, so that its weights run in the native searches, and Q is the sigmoid
of what it says. The paper does not say on which puzzles it trained; this one learns from generated ones, never from
those that are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from rookery import _native
from rookery.games.solitaire_chess import dqn
from rookery.games.solitaire_chess.dqn import MODEL, Boards, Graphs, Memory, Net, bit, save_net
from rookery.games.solitaire_chess.ranker import may_learn_from
from rookery.games.solitaire_chess.rules import KINDS, SolitaireChess
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run

CHECKPOINT = 250
"""Steps between two checkpoints."""


@dataclass(frozen=True)
class Settings:
    """The paper names no values; these are ours."""

    width: int = 64
    """Width of the net."""
    heads: int = 8
    """Attention heads."""
    layers: int = 4
    """Layers of the net."""
    steps: int = 4000
    """Gradient steps."""
    batch: int = 256
    """Remembered captures per gradient step, from positions with equally many pieces."""
    learning_rate: float = 1e-3
    """Learning rate of Adam."""
    games: int = 16
    """Puzzles played before every step."""
    max_pieces: int = 8
    """Puzzles have 3 to this many pieces, each number as often."""
    epsilon: float = 0.3
    """Probability of a random capture in play."""
    discount: float = 0.95
    """Discount of what comes after a capture."""
    reward_win: float = 1.0
    """Reward of leaving one piece; all else brings nothing."""
    memory: int = 100_000
    """Captures remembered for each number of pieces; new ones take the place of the oldest."""
    pool: str = "KQRRBBNNPP"
    """The set that puzzles take their pieces from."""
    max_solutions: int = 10
    """Puzzles have only one possible last piece and square, and at most N solutions."""
    threads: int = 1
    """Threads of PyTorch. More are quicker on an idle machine, and lead to other weights."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "width", "heads", "layers", "steps", "batch", "games", "memory", "threads")
        check_at_least(self, 3, "max_pieces")
        if not (0 <= self.epsilon <= 1 and 0 <= self.discount <= 1 and 0 < self.reward_win <= 1):
            raise ValueError("epsilon and discount must be from 0 to 1, and so must the reward, which must not be 0")


def play(
    game: SolitaireChess, net: Net, boards: Boards, epsilon: float, rng: np.random.Generator
) -> tuple[list[tuple[Boards, npt.NDArray[np.int64]]], float]:
    """Play puzzles with equally many pieces to their ends, epsilon-greedily.

    Returns the positions met with the place of the chosen capture among those of each, and the share of puzzles solved.
    """
    steps, puzzles, solved = [], len(boards), 0
    while len(boards) and np.count_nonzero(boards[0]) > 1:
        graphs = Graphs(game, boards)
        with torch.no_grad():
            scores = net(graphs).numpy()
        counts = np.bincount(graphs.board.numpy(), minlength=len(boards))
        firsts = np.cumsum(counts) - counts
        places = np.array([
            rng.integers(count) if rng.random() < epsilon else np.argmax(scores[first : first + count])
            for first, count in zip(firsts, counts, strict=True)
            if count
        ], np.int64)  # fmt: skip
        alive = counts > 0
        steps.append((boards[alive], places))
        boards = graphs.after[firsts[alive] + places]
        solved += len(boards) if len(boards) and np.count_nonzero(boards[0]) == 1 else 0
    return steps, solved / puzzles


def learn(
    game: SolitaireChess, net: Net, optimizer: torch.optim.Optimizer, memory: Memory, settings: Settings,
    rng: np.random.Generator,
) -> float:  # fmt: skip
    """One step of experience replay; returns the loss."""
    boards, _, chosen = memory.sample(settings.batch, rng)
    graphs = Graphs(game, boards, lambda board, place: bit(chosen[board], place))
    targets = targets_of(game, net, graphs.after, settings)
    loss = functional.binary_cross_entropy_with_logits(net(graphs), targets)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach())


def targets_of(game: SolitaireChess, net: Net, after: Boards, settings: Settings) -> torch.Tensor:
    """Reward and the discounted best value after, for captures that lead to these boards; a dead end is worth 0."""
    if np.count_nonzero(after[0]) == 1:
        return torch.full((len(after),), settings.reward_win)
    graphs = Graphs(game, after)
    with torch.no_grad():
        best: torch.Tensor = graphs.best(torch.sigmoid(net(graphs)), without=0.0)
    return settings.discount * best


def train(game: SolitaireChess, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn from nothing; yields a row of metrics every `CHECKPOINT` steps. The same seed gives the same net on the
    same machine, whether the run was stopped on the way or not.

    `solved` is the share of puzzles that were solved in play, random captures included.
    """
    torch.set_num_threads(settings.threads)
    torch.manual_seed(run.seed)
    net = Net(dqn.Settings(width=settings.width, heads=settings.heads, layers=settings.layers))
    optimizer = torch.optim.Adam(net.parameters(), lr=settings.learning_rate)
    memory = Memory(settings.memory, game.rows * game.columns)
    if (saved := run.restore()) is not None:
        nets.restore(saved, net=net, optimizer=optimizer)
        memory.restore(saved, run.rows[-1]["seen"])
    losses, shares = [], []
    for step in range(run.rows[-1]["step"] if run.rows else 0, settings.steps):
        rng = np.random.default_rng([run.seed, step])  # a stream for every step: nothing to remember when a run stops
        puzzles = _native.solitaire_chess.make_puzzles(
            game.rules, settings.games, int(rng.integers(3, settings.max_pieces + 1)),
            [KINDS.index(letter) for letter in settings.pool], None, settings.max_solutions,
            int(rng.integers(1 << 62)), settings.threads,
        )  # fmt: skip
        met, share = play(game, net, puzzles, settings.epsilon, rng)
        for boards, places in met:
            allowed = may_learn_from(boards)
            marks = np.uint64(1) << places[allowed].astype(np.uint64)
            memory.add(boards[allowed], np.zeros_like(marks), marks)
        losses.append(learn(game, net, optimizer, memory, settings, rng))
        shares.append(share)
        if (step + 1) % CHECKPOINT == 0 or step + 1 == settings.steps:
            row = {
                "step": step + 1, "loss": round(float(np.mean(losses)), 4), "solved": round(float(np.mean(shares)), 4),
                "seen": {str(pieces): seen for pieces, seen in memory.seen.items()},
                "progress": (step + 1) / settings.steps,
            }  # fmt: skip
            save_net(run.folder / MODEL, net, settings)
            run.save(row, nets.arrays(net=net, optimizer=optimizer) | memory.arrays())
            losses, shares = [], []
            yield row
