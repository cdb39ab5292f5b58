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
    device: str = "cpu"
    """Device of PyTorch: cpu or cuda. On a GPU sums are added in any order, so that no two runs are quite the same."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "width", "heads", "layers", "puzzles", "steps", "batch", "report", "threads")
        nets.check_device(self.device)


@dataclass(frozen=True)
class Lessons:
    """Positions `[n, cells]`, and for each a number whose bit i says whether its i-th capture is right."""

    boards: Boards
    good: npt.NDArray[np.uint32]


class Deck:
    """Lessons with equally many pieces as the net takes them, made once and kept on the device."""

    def __init__(self, game: SolitaireChess, lessons: Lessons, device: str) -> None:
        parts = []
        for start in range(0, len(lessons.boards), 1 << 16):
            boards, good = lessons.boards[start : start + (1 << 16)], lessons.good[start : start + (1 << 16)]
            graphs = Graphs(game, boards)
            right = torch.from_numpy(bit(good[graphs.board.numpy()].astype(np.uint64), graphs.place))
            counts = torch.bincount(graphs.board, minlength=len(boards))
            bytes_ = (tensor.to(torch.uint8) for tensor in (graphs.nodes, graphs.edges, graphs.mover, graphs.taken))
            parts.append((*bytes_, right, counts))
        columns = [torch.cat(column).to(device) for column in zip(*parts, strict=True)]
        self.nodes, self.edges, self.mover, self.taken, self.right, self.counts = columns
        self.first = self.counts.cumsum(0) - self.counts
        """The place of the first capture of every position in the lists of captures."""

    def __len__(self) -> int:
        return len(self.nodes)


class Drawn(Graphs):
    """Lessons drawn from a deck, with their captures in one list."""

    def __init__(self, deck: Deck, chosen: torch.Tensor) -> None:
        counts = deck.counts[chosen]
        self.boards, self.nodes, self.edges = len(chosen), deck.nodes[chosen].long(), deck.edges[chosen].long()
        self.board = torch.arange(len(chosen), device=chosen.device).repeat_interleave(counts)
        places = torch.arange(len(self.board), device=chosen.device)
        captures = places + (deck.first[chosen] - counts.cumsum(0) + counts)[self.board]
        self.mover, self.taken = deck.mover[captures].long(), deck.taken[captures].long()
        self.right = deck.right[captures]
        """Whether each capture is right."""


def decks(game: SolitaireChess, lessons: Lessons, device: str) -> dict[int, Deck]:
    """Lessons by their number of pieces."""
    pieces = np.count_nonzero(lessons.boards, axis=1)
    return {
        int(n): Deck(game, Lessons(lessons.boards[pieces == n], lessons.good[pieces == n]), device)
        for n in np.unique(pieces)
    }


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


def loss_and_hits(net: Net, lessons: Drawn) -> tuple[torch.Tensor, torch.Tensor]:
    """Two losses in one: how far each capture's belief is from the truth, and, where there is a right capture, how much
    of the net's choice (a softmax over the captures) falls on wrong ones. Also the share of positions in which the
    capture most believed in is right."""
    right, scores = lessons.right, net(lessons)
    belief = functional.binary_cross_entropy_with_logits(scores, right.float())
    possible = lessons.best(right.float(), without=0.0) > 0
    wrong_choice = _log_sum(lessons, scores) - _log_sum(lessons, torch.where(right, scores, -30.0))
    with torch.no_grad():
        hit = lessons.best(scores, without=0.0) == lessons.best(torch.where(right, scores, -torch.inf), without=0.0)
    count = possible.sum().clamp_min(1)
    return belief + (wrong_choice * possible).sum() / count, (hit & possible).sum() / count


def _log_sum(graphs: Graphs, scores: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of exp(score) over each board's captures."""
    most = graphs.best(scores.detach(), without=0.0)
    sums = torch.zeros(graphs.boards, device=scores.device).scatter_add(
        0, graphs.board, torch.exp(scores - most[graphs.board])
    )
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
    net.to(settings.device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    if (saved := run.restore()) is not None:
        nets.restore(saved, net=net, optimizer=optimizer)
    lessons = make_lessons(game, settings, seed)
    by_pieces = decks(game, lessons, settings.device)
    chances = np.array(list(by_pieces), float)
    losses, hits = [], []
    for step in range(run.rows[-1]["step"] if run.rows else 0, settings.steps):
        rng = np.random.default_rng([seed, step])  # a stream for every step: nothing to remember when a run stops
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / 200) * (1 - step / settings.steps)
        deck = by_pieces[int(rng.choice(list(by_pieces), p=chances / chances.sum()))]
        chosen = torch.from_numpy(rng.integers(0, len(deck), settings.batch)).to(settings.device)
        loss, hit = loss_and_hits(net, Drawn(deck, chosen))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.detach())
        hits.append(hit)
        if (step + 1) % settings.report == 0 or step + 1 == settings.steps:
            row = {
                "step": step + 1, "loss": round(_mean(losses), 4), "right": round(_mean(hits), 4),
                "lessons": len(lessons.boards), "progress": (step + 1) / settings.steps,
            }  # fmt: skip
            save_net(run.folder / MODEL, net, settings)
            run.save(row, nets.arrays(net=net, optimizer=optimizer))
            losses, hits = [], []
            yield row


def _mean(values: list[torch.Tensor]) -> float:
    return float(torch.stack(values).mean())
