"""A ranker for Solitaire Chess that is taught instead of finding out. Needs PyTorch (`pip install 'rookery[deep]'`).

The same net as in `dqn`, but a teacher who knows every answer (`native/games/solitaire_chess/lessons.hpp` walks whole
trees of captures) marks each capture right or wrong. What a net of this size can know about the game, this one shows;
the distance to `dqn` is the price of learning from play alone. Read from top to bottom: settings, lessons, the loss,
training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from rookery import _native
from rookery.games.solitaire_chess import dqn as solitaire_dqn
from rookery.games.solitaire_chess.dqn import MODEL, Boards, Graphs, Net, bit, save_net
from rookery.games.solitaire_chess.ranker import may_learn_from
from rookery.games.solitaire_chess.rules import KINDS, SolitaireChess
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run


@dataclass(frozen=True)
class Settings:
    width: int = 64
    """Width of the net."""
    heads: int = 8
    """Attention heads."""
    layers: int = 4
    """Layers of the net."""
    puzzles: int = 100_000
    """Puzzles whose trees the lessons are taken from."""
    shares: tuple[float, ...] = (0.0, 0.04, 0.08, 0.18, 0.3, 0.4)
    """Shares of the puzzles with 3, 4, 5, ... pieces."""
    pools: tuple[str, ...] = ("KQRRBBNNPP", "QRRBBNNPP", "RRBBNNPP", "RRBBNNPP")
    """Sets of pieces that equally many puzzles are made of."""
    max_solutions: int = 10
    """Puzzles have one possible last piece and square, and at most N solutions: those are the hard ones."""
    steps: int = 12_000
    """Gradient steps."""
    batch: int = 256
    """Positions per gradient step, all with the same number of pieces."""
    learning_rate: float = 3e-3
    """The highest learning rate; it rises over the first 200 steps and falls to nothing at the end."""
    report: int = 500
    """Steps between two checkpoints."""
    threads: int = 1
    """Threads of PyTorch. More are quicker on an idle machine, and lead to other weights."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "width", "heads", "layers", "puzzles", "steps", "batch", "report", "threads")


@dataclass(frozen=True)
class Lessons:
    """Positions `[n, cells]`, and for each a number whose bit i says whether its i-th capture is right."""

    boards: Boards
    good: npt.NDArray[np.uint32]

    def by_pieces(self) -> dict[int, npt.NDArray[np.int64]]:
        """The places of the positions with each number of pieces."""
        pieces = np.count_nonzero(self.boards, axis=1)
        return {int(n): np.flatnonzero(pieces == n) for n in np.unique(pieces)}


def make_lessons(game: SolitaireChess, settings: Settings, seed: int) -> Lessons:
    """All solvable positions in the trees of random puzzles, and as many that are not. Both cores work."""
    puzzles = []
    for pieces, share in enumerate(settings.shares, 3):
        for number, pool in enumerate(settings.pools):
            count = int(settings.puzzles * share / len(settings.pools))
            kinds = [KINDS.index(letter) for letter in pool]
            own_seed = (seed * 100 + pieces) * 10 + number
            made = _native.solitaire_chess.make_puzzles(
                game.rules, count, pieces, kinds, None, settings.max_solutions, own_seed, 0
            )
            puzzles.append(made)
    boards, good = _native.solitaire_chess.lessons(game.rules, np.concatenate(puzzles), seed, 0)
    allowed = may_learn_from(boards)
    return Lessons(boards[allowed], good[allowed])


def loss_and_hits(
    net: Net, game: SolitaireChess, boards: Boards, good: npt.NDArray[np.uint32]
) -> tuple[torch.Tensor, float]:
    """Two losses in one: how far each capture's belief is from the truth, and, where there is a right capture, how much
    of the net's choice (a softmax over the captures) falls on wrong ones. Also the share of positions in which the
    capture most believed in is right."""
    graphs = Graphs(game, boards)
    right = torch.from_numpy(bit(good[graphs.board.numpy()].astype(np.uint64), graphs.place))
    scores = net(graphs)
    belief = functional.binary_cross_entropy_with_logits(scores, right.float())
    possible = torch.from_numpy(good > 0)
    wrong_choice = _log_sum(graphs, scores) - _log_sum(graphs, torch.where(right, scores, -30.0))
    with torch.no_grad():
        hit = graphs.best(scores, without=0.0) == graphs.best(torch.where(right, scores, -torch.inf), without=0.0)
    count = possible.sum().clamp_min(1)
    return belief + (wrong_choice * possible).sum() / count, float((hit & possible).sum() / count)


def _log_sum(graphs: Graphs, scores: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exp(score) over each board's captures."""
    most = graphs.best(scores.detach(), without=0.0)
    sums = torch.zeros(graphs.boards).scatter_add(0, graphs.board, torch.exp(scores - most[graphs.board]))
    return most + sums.clamp_min(1e-12).log()


def train(game: SolitaireChess, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn from lessons; yields a row of metrics every `report` steps. The same seed gives the same net on the same
    machine, whether the run was stopped on the way or not.

    A row has the mean loss, and the share of solvable positions in which the capture most believed in was right.
    """
    seed = run.seed
    torch.set_num_threads(settings.threads)
    torch.manual_seed(seed)
    net = Net(solitaire_dqn.Settings(width=settings.width, heads=settings.heads, layers=settings.layers))
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    if (saved := run.restore()) is not None:
        nets.restore(saved, net=net, optimizer=optimizer)
    lessons = make_lessons(game, settings, seed)
    places = lessons.by_pieces()
    chances = np.array(list(places), float)
    losses, hits = [], []
    for step in range(run.rows[-1]["step"] if run.rows else 0, settings.steps):
        rng = np.random.default_rng([seed, step])  # a stream for every step: nothing to remember when a run stops
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / 200) * (1 - step / settings.steps)
        same = places[int(rng.choice(list(places), p=chances / chances.sum()))]
        chosen = same[rng.integers(0, len(same), settings.batch)]
        loss, hit = loss_and_hits(net, game, lessons.boards[chosen], lessons.good[chosen])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
        hits.append(hit)
        if (step + 1) % settings.report == 0 or step + 1 == settings.steps:
            row = {
                "step": step + 1, "loss": round(float(np.mean(losses)), 4), "right": round(float(np.mean(hits)), 4),
                "lessons": len(lessons.boards), "progress": (step + 1) / settings.steps,
            }  # fmt: skip
            save_net(run.folder / MODEL, net, settings)
            run.save(row, nets.arrays(net=net, optimizer=optimizer))
            losses, hits = [], []
            yield row
