"""Deep Q-learning for Solitaire Chess, from play alone. Needs PyTorch (`pip install 'rookery[deep]'`).

The agent plays puzzles, remembers the positions it saw, and learns from them what each capture is worth: the reward it
brings and what the best capture after it is worth. No solver tells it anything. Read from top to bottom: the settings,
the net, the memory, playing, learning, training.

A position is a graph of pieces (`native/learn/piece_graph.hpp`), so the same file trains a ranker for a board of any
size; the weights go to `rookery.learn.capture_ranker`, which needs no PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery.games.solitaire_chess import KINDS, SolitaireChess
from rookery.learn import nets, runs
from rookery.learn.capture_ranker import may_learn_from

KIND = "solitaire-chess-dqn"

Boards = npt.NDArray[np.uint8]
"""A byte a cell as the native games keep it, `[boards, cells]`."""


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed."""

    width: int = 64
    heads: int = 8
    layers: int = 4
    steps: int = 8000
    """Gradient steps."""
    batch: int = 256
    """Positions a step, all with the same number of pieces."""
    learning_rate: float = 3e-3
    """The highest; it rises over the first 100 steps and falls to nothing at the end."""
    max_pieces: int = 8
    """Puzzles have 3 pieces at first and up to this many after a third of the steps."""
    games: int = 48
    """Puzzles played before every step."""
    retried: float = 0.5
    """Share of them that were not solved before; the others are new."""
    max_solutions: int = 1_000_000
    """Puzzles have only one possible last piece and square, and so many solutions at most; 0 takes any that can be
    solved."""
    epsilon: float = 0.3
    """Share of captures played at random in games that explore; in the others the best is played as far as known."""
    explore_every: int = 2
    """1 if every game explores, 2 if every second one does, and so on."""
    tried: float = 0.5
    """Share of a position's captures to learn about when it is remembered."""
    memory: int = 100_000
    """Positions remembered for each number of pieces; new ones take the place of the oldest."""
    target_rate: float = 0.01
    """How fast the target network follows, a step."""
    reward_capture: float = 0.01
    reward_win: float = 0.9
    reward_dead_end: float = 0.0
    pools: tuple[str, ...] = ("KQRRBBNNPP", "QRRBBNNPP", "RRBBNNPP", "RRBBNNPP")
    """Sets of pieces that puzzles are made of, drawn with equal chances. Hard puzzles have neither king nor queen."""
    king: bool | None = None
    """Whether puzzles have a king; None leaves it to chance."""
    threads: int = 1
    """More are quicker on a machine with nothing else to do, and lead to other weights."""


SOLO_8X8 = Settings(
    width=48, heads=6, steps=11_000, batch=128, learning_rate=2e-3, max_pieces=14, games=32, max_solutions=0,
    retried=0.0, epsilon=0.25, explore_every=1, tried=0.4, memory=40_000,
    reward_win=0.8, pools=("K" + 2 * "Q" + 4 * "RBN" + 6 * "P",), king=True,
)  # fmt: skip
"""Settings for Solo Chess on 8x8."""


class Block(nn.Module):
    """Every piece gathers what the others have to say, weighted by how they stand to it; then a hidden layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.edge = nn.Embedding(_native.solitaire_chess.EDGES, heads)
        nn.init.normal_(self.edge.weight, std=0.4)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        boards, pieces, width = x.shape
        values = self.value(self.norm1(x)).view(boards, pieces, self.heads, -1).transpose(1, 2)
        mixed = self.edge(edges).permute(0, 3, 1, 2) @ values
        x = x + self.out(mixed.transpose(1, 2).reshape(boards, pieces, width))
        result: torch.Tensor = x + self.down(functional.relu(self.up(self.norm2(x))))
        return result


class Net(nn.Module):
    """Position to the value of each of its captures, as log-odds. `native/learn/capture_ranker.hpp` is its twin."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        width = settings.width
        self.node = nn.Embedding(_native.solitaire_chess.NODES, width)
        self.blocks = nn.ModuleList(Block(width, settings.heads) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(width)
        self.mover, self.taken = nn.Linear(width, width), nn.Linear(width, width)
        self.edge = nn.Embedding(_native.solitaire_chess.EDGES, width)
        self.score = nn.Linear(width, 1)

    def forward(self, graphs: Graphs) -> torch.Tensor:
        x = self.node(graphs.nodes)
        for block in self.blocks:
            x = block(x, graphs.edges)
        x = self.norm(x).flatten(0, 1)
        pieces = graphs.nodes.shape[1]
        movers, taken = graphs.board * pieces + graphs.mover, graphs.board * pieces + graphs.taken
        edges = graphs.edges.flatten(1)[graphs.board, graphs.mover * pieces + graphs.taken]
        hidden = self.mover(x)[movers] + self.taken(x)[taken] + self.edge(edges)
        scores: torch.Tensor = self.score(functional.relu(hidden)).squeeze(1)
        return scores


class Graphs:
    """Boards with equally many pieces as the net takes them, with their captures in one list: all of them, or those
    that `choose` picks, given the board of each and the board after it."""

    def __init__(self, game: SolitaireChess, boards: Boards, choose: Choice | None = None) -> None:
        nodes, edges = _native.solitaire_chess.piece_graphs(game.rules, boards)
        board, mover, taken, after = _native.solitaire_chess.captures(game.rules, boards)
        if choose is not None:
            chosen = choose(board, after)
            board, mover, taken, after = board[chosen], mover[chosen], taken[chosen], after[chosen]
        self.boards, self.after = len(boards), after
        self.nodes, self.edges = torch.from_numpy(nodes).long(), torch.from_numpy(edges).long()
        self.board, self.mover, self.taken = map(torch.from_numpy, (board, mover, taken))

    def best(self, values: torch.Tensor, without: float) -> torch.Tensor:
        """The greatest value of each board's captures, `[boards]`; `without` where there are none."""
        return torch.full((self.boards,), without).scatter_reduce(0, self.board, values, "amax", include_self=False)


Choice = Callable[[npt.NDArray[np.int64], Boards], npt.NDArray[np.bool_]]


class Memory:
    """The positions seen last, by their number of pieces. With each goes the position after it in the game in which it
    was seen if that game was won, since a win once seen is certain, and an empty board if not."""

    def __init__(self, size: int, cells: int) -> None:
        self.size, self.cells = size, cells
        self.boards: dict[int, Boards] = {}
        self.seen: dict[int, int] = {}

    def add(self, pieces: int, boards: Boards, won_by: Boards) -> None:
        kept = self.boards.setdefault(pieces, np.zeros((2, self.size, self.cells), np.uint8))
        start = self.seen.get(pieces, 0)
        kept[:, (start + np.arange(len(boards))) % self.size] = boards, won_by
        self.seen[pieces] = start + len(boards)

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Boards, Boards]:
        """Boards with a number of pieces that is drawn with chances in proportion to itself."""
        sizes = [pieces for pieces, seen in self.seen.items() if seen]
        pieces = int(rng.choice(sizes, p=np.array(sizes) / sum(sizes)))
        boards, won_by = self.boards[pieces][:, rng.integers(0, min(self.size, self.seen[pieces]), count)]
        return boards, won_by

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {f"memory.{n}": kept[:, : min(self.size, self.seen[n])] for n, kept in self.boards.items()}

    def restore(self, saved: Mapping[str, npt.NDArray[Any]], seen: Mapping[str, int]) -> None:
        for n, total in seen.items():
            kept = self.boards[int(n)] = np.zeros((2, self.size, self.cells), np.uint8)
            kept[:, : min(self.size, total)] = saved[f"memory.{n}"]
            self.seen[int(n)] = total


@torch.no_grad()
def play(
    game: SolitaireChess,
    net: Net,
    puzzles: Boards,
    epsilon: float | npt.NDArray[np.float64],
    memory: Memory,
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
    """Play every puzzle to its end, all of them one capture at a time, and remember the positions. Returns which were
    solved. All puzzles have the same number of pieces; `epsilon` is one for all, or one for each."""
    boards, numbers = puzzles, np.arange(len(puzzles))
    pieces = int(np.count_nonzero(boards[0]))
    history = []
    while pieces > 1 and len(boards):
        graphs = Graphs(game, boards)
        values, board = net(graphs).numpy(), graphs.board.numpy()
        at_random = rng.random(len(boards)) < np.broadcast_to(epsilon, len(puzzles))[numbers]
        values = np.where(at_random[board], rng.random(len(values)), values)
        order = np.lexsort((values, board))
        best = order[np.append(np.diff(board[order]) > 0, True)] if len(order) else order
        after = np.zeros_like(boards)
        after[board[best]] = graphs.after[best]
        history.append((pieces, numbers, boards, after))
        boards, numbers = graphs.after[best], numbers[board[best]]
        pieces -= 1
    solved = np.zeros(len(puzzles), np.bool_)
    solved[numbers] = True
    for pieces, numbers, boards, after in history:
        allowed = may_learn_from(boards)
        memory.add(pieces, boards[allowed], (after * solved[numbers, np.newaxis])[allowed])
    return solved


def learn(
    game: SolitaireChess,
    net: Net,
    target_net: Net,
    optimizer: torch.optim.Optimizer,
    boards: Boards,
    won_by: Boards,
    settings: Settings,
    rng: np.random.Generator,
) -> float:
    """One step: move the values of captures towards their targets, which are the reward and the best that can come
    after as far as the target network knows, or all there is to win where that has been seen. Returns the loss."""
    pieces = int(np.count_nonzero(boards[0]))

    def choose(board: npt.NDArray[np.int64], after: Boards) -> npt.NDArray[np.bool_]:
        won: npt.NDArray[np.bool_] = (after == won_by[board]).all(axis=1)
        return won | (rng.random(len(board)) < settings.tried)

    graphs = Graphs(game, boards, choose)
    if len(graphs.after) == 0:
        return 0.0
    unsure = ~(graphs.after == won_by[graphs.board]).all(axis=1)
    targets = torch.full((len(unsure),), settings.reward_win + settings.reward_capture * (pieces - 1))
    if pieces > 2 and unsure.any():
        after = Graphs(game, graphs.after[unsure])
        with torch.no_grad():
            best = after.best(torch.sigmoid(target_net(after)), without=settings.reward_dead_end)
        targets[torch.from_numpy(unsure)] = settings.reward_capture + best
    loss = functional.binary_cross_entropy_with_logits(net(graphs), targets)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    with torch.no_grad():
        for mine, yours in zip(target_net.parameters(), net.parameters(), strict=True):
            mine.lerp_(yours, settings.target_rate)
    return float(loss.detach())


class Puzzles:
    """New puzzles, and those that were not solved when they were played last."""

    def __init__(self, game: SolitaireChess, settings: Settings) -> None:
        self.game, self.settings = game, settings
        self.unsolved: dict[int, Boards] = {}

    def draw(self, pieces: int, rng: np.random.Generator) -> Boards:
        s = self.settings
        kept = self.unsolved.get(pieces, np.empty((0, self.game.rows * self.game.columns), np.uint8))
        again = min(int(s.games * s.retried), len(kept))
        order = rng.permutation(len(kept))
        self.unsolved[pieces] = kept[order[again:]]
        pool = s.pools[int(rng.integers(len(s.pools)))]
        new = _native.solitaire_chess.make_puzzles(
            self.game.rules, s.games - again, pieces, [KINDS.index(letter) for letter in pool], s.king, s.max_solutions,
            int(rng.integers(1 << 62)), s.threads,
        )  # fmt: skip
        return np.concatenate([new, kept[order[:again]]])

    def put_back(self, boards: Boards) -> None:
        pieces = int(np.count_nonzero(boards[0])) if len(boards) else 0
        if pieces:
            self.unsolved[pieces] = np.concatenate([self.unsolved[pieces], boards])[-2000:]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {f"unsolved.{pieces}": boards for pieces, boards in self.unsolved.items()}

    def restore(self, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        for name, boards in saved.items():
            if name.startswith("unsolved."):
                self.unsolved[int(name.removeprefix("unsolved."))] = boards


CHECKPOINT = 500
"""Steps between two rows of metrics, after which a stopped run can go on."""


def train(
    game: SolitaireChess, settings: Settings, folder: Path, seed: int = 0, resume: bool = False
) -> Iterator[tuple[dict[str, Any], Net]]:
    """Learn from nothing; yields a row of metrics and the net every `CHECKPOINT` steps. The same seed gives the same
    net on the same machine, whether the run was stopped on the way or not.

    A row has the mean loss, and the share of the puzzles that were solved although some captures were random.
    """
    if settings.reward_win + settings.reward_capture * (settings.max_pieces - 1) > 1:
        raise ValueError("a win and all its captures may bring at most 1 together: values are chances")
    described = {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(settings).items()}
    run = runs.Run(folder, KIND, described | {"seed": seed, "game": str(game.initial_state())}, resume)
    torch.set_num_threads(settings.threads)
    torch.manual_seed(seed)
    net, target_net = Net(settings), Net(settings)
    target_net.load_state_dict(net.state_dict())
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    memory, puzzles = Memory(settings.memory, game.rows * game.columns), Puzzles(game, settings)
    if (saved := run.load()) is not None:
        nets.restore(saved, net=net, target=target_net, optimizer=optimizer)
        memory.restore(saved, run.rows[-1]["seen"])
        puzzles.restore(saved)
    losses, shares = [], []
    for step in range(run.rows[-1]["step"] if run.rows else 0, settings.steps):
        rng = np.random.default_rng([seed, step])  # a stream for every step: nothing to remember when a run stops
        done = step / settings.steps
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / 100) * (1 - done)
        most = 3 + int(min(1.0, 3 * done) * (settings.max_pieces - 3))
        boards = puzzles.draw(int(rng.integers(3, most + 1)), rng)
        explores = np.arange(len(boards)) % settings.explore_every == settings.explore_every - 1
        solved = play(game, net, boards, settings.epsilon * explores, memory, rng)
        puzzles.put_back(boards[~solved])
        shares.append(float(solved.mean()))
        losses.append(learn(game, net, target_net, optimizer, *memory.sample(settings.batch, rng), settings, rng))
        if (step + 1) % CHECKPOINT == 0 or step + 1 == settings.steps:
            row = {
                "step": step + 1, "loss": round(float(np.mean(losses)), 4), "solved": round(float(np.mean(shares)), 4),
                "seen": {str(pieces): seen for pieces, seen in memory.seen.items()},
            }  # fmt: skip
            arrays = nets.arrays(net=net, target=target_net, optimizer=optimizer)
            run.save(row, arrays | memory.arrays() | puzzles.arrays())
            losses, shares = [], []
            yield row, net
