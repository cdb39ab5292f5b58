"""Deep Q-learning for Solitaire Chess, from play alone. Needs PyTorch (`pip install 'rookery[deep]'`).

The agent plays puzzles, remembers the positions it saw, and learns from them what each capture is worth: the reward it
brings and what the best capture after it is worth. No solver tells it anything. Read from top to bottom: the settings,
the net, the memory, playing, learning, training.

A position is a graph of pieces (`native/learn/piece_graph.hpp`), so the same file trains a ranker for a board of any
size; the weights go to `rookery.learn.capture_ranker`, which needs no PyTorch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery.games.solitaire_chess import SolitaireChess
from rookery.learn.capture_ranker import without_forbidden

Boards = npt.NDArray[np.uint8]
"""A byte a cell as the native games keep it, `[boards, cells]`."""


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed."""

    width: int = 48
    heads: int = 6
    layers: int = 4
    steps: int = 4000
    """Gradient steps."""
    batch: int = 512
    """Positions a step, all with the same number of pieces."""
    learning_rate: float = 2e-3
    """The highest; it rises over the first 100 steps and falls to nothing at the end."""
    max_pieces: int = 8
    """Puzzles have 3 pieces at first and up to this many after a third of the steps."""
    games: int = 128
    """Puzzles played before every step."""
    attempts: int = 30
    """How often to try to make a puzzle with a single possible final before taking any that can be solved."""
    epsilon: float = 0.25
    """Share of captures played at random."""
    memory: int = 100_000
    """Positions remembered for each number of pieces; new ones take the place of the oldest."""
    target_rate: float = 0.01
    """How fast the target network follows, a step."""
    reward_capture: float = 0.01
    reward_win: float = 0.9
    reward_dead_end: float = 0.0
    pool: tuple[int, ...] = field(default=(0, 1, 2, 2, 3, 3, 4, 4, 5, 5))
    """Kinds of pieces that puzzles are made of."""
    threads: int = 2


class Block(nn.Module):
    """Attention between pieces, to which how they stand to each other adds a bias of its own, and a hidden layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.edge = nn.Embedding(_native.solitaire_chess.EDGES, heads)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        boards, pieces, width = x.shape
        split = self.query_key_value(self.norm1(x)).view(boards, pieces, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        weights = query @ key.transpose(2, 3) * (width // self.heads) ** -0.5 + self.edge(edges).permute(0, 3, 1, 2)
        mixed = (torch.softmax(weights, dim=3) @ value).transpose(1, 2).reshape(boards, pieces, width)
        x = x + self.out(mixed)
        return x + self.down(functional.relu(self.up(self.norm2(x))))


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
        return self.score(functional.relu(hidden)).squeeze(1)


class Graphs:
    """Boards with equally many pieces as the net takes them, with all their captures in one list."""

    def __init__(self, game: SolitaireChess, boards: Boards) -> None:
        nodes, edges = _native.solitaire_chess.piece_graphs(game.rules, boards)
        board, mover, taken, self.after = _native.solitaire_chess.captures(game.rules, boards)
        self.boards = len(boards)
        self.nodes, self.edges = torch.from_numpy(nodes).long(), torch.from_numpy(edges).long()
        self.board, self.mover, self.taken = map(torch.from_numpy, (board, mover, taken))

    def best(self, values: torch.Tensor, without: float) -> torch.Tensor:
        """The greatest value of each board's captures, `[boards]`; `without` where there are none."""
        return torch.full((self.boards,), without).scatter_reduce(0, self.board, values, "amax", include_self=False)


class Memory:
    """The positions seen last, by their number of pieces."""

    def __init__(self, size: int, cells: int) -> None:
        self.size, self.cells = size, cells
        self.boards: dict[int, Boards] = {}
        self.seen: dict[int, int] = {}

    def add(self, pieces: int, boards: Boards) -> None:
        kept = self.boards.setdefault(pieces, np.zeros((self.size, self.cells), np.uint8))
        start = self.seen.get(pieces, 0)
        kept[(start + np.arange(len(boards))) % self.size] = boards
        self.seen[pieces] = start + len(boards)

    def sample(self, pieces: int, count: int, rng: np.random.Generator) -> Boards:
        return self.boards[pieces][rng.integers(0, min(self.size, self.seen[pieces]), count)]


@torch.no_grad()
def play(
    game: SolitaireChess, net: Net, boards: Boards, epsilon: float, memory: Memory, rng: np.random.Generator
) -> float:
    """Play every board to its end, all of them one capture at a time, and remember the positions. Returns the share
    that was solved."""
    games = len(boards)
    pieces = int(np.count_nonzero(boards[0]))
    while pieces > 1 and len(boards):
        memory.add(pieces, without_forbidden(boards))
        graphs = Graphs(game, boards)
        values = net(graphs).numpy()
        at_random = rng.random(len(boards)) < epsilon
        values = np.where(at_random[graphs.board], rng.random(len(values)), values)
        order = np.lexsort((values, graphs.board))
        last_of_board = np.append(np.diff(graphs.board.numpy()[order]) > 0, True) if len(order) else np.empty(0, bool)
        boards = graphs.after[order[last_of_board]]
        pieces -= 1
    return len(boards) / games


@torch.no_grad()
def targets(game: SolitaireChess, target_net: Net, graphs: Graphs, pieces: int, settings: Settings) -> torch.Tensor:
    """What each capture is worth as far as the target network knows: its reward and the best that can come after."""
    if pieces == 2:
        return torch.full((len(graphs.after),), settings.reward_capture + settings.reward_win)
    after = Graphs(game, graphs.after)
    best = after.best(torch.sigmoid(target_net(after)), without=settings.reward_dead_end)
    return settings.reward_capture + best


def learn(
    game: SolitaireChess, net: Net, target_net: Net, optimizer: torch.optim.Optimizer, boards: Boards, settings: Settings
) -> float:
    """One step: move the value of every capture of these boards towards its target. Returns the loss."""
    graphs = Graphs(game, boards)
    if len(graphs.after) == 0:
        return 0.0
    goal = targets(game, target_net, graphs, int(np.count_nonzero(boards[0])), settings)
    loss = functional.binary_cross_entropy_with_logits(net(graphs), goal)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    with torch.no_grad():
        for mine, yours in zip(target_net.parameters(), net.parameters(), strict=True):
            mine.lerp_(yours, settings.target_rate)
    return float(loss.detach())


@dataclass(frozen=True)
class Progress:
    step: int
    loss: float
    """Mean of the last steps."""
    solved: float
    """Share of the last puzzles that were solved although some captures were random."""


def train(
    game: SolitaireChess, settings: Settings, seed: int, report: Callable[[Progress], None] = lambda _: None
) -> Net:
    """Learn from nothing. The same seed gives the same net on the same machine."""
    torch.set_num_threads(settings.threads)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net, target_net = Net(settings), Net(settings)
    target_net.load_state_dict(net.state_dict())
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    memory = Memory(settings.memory, game.rows * game.columns)
    losses, shares = [], []
    for step in range(settings.steps):
        done = step / settings.steps
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / 100) * (1 - done)
        most = 3 + int(min(1.0, 3 * done) * (settings.max_pieces - 3))
        pieces = int(rng.integers(3, most + 1))
        puzzles, _ = _native.solitaire_chess.make_puzzles(
            game.rules, settings.games, pieces, list(settings.pool), None, settings.attempts,
            int(rng.integers(1 << 62)), settings.threads,
        )  # fmt: skip
        shares.append(play(game, net, puzzles, settings.epsilon, memory, rng))
        sizes = list(memory.seen)
        size = int(rng.choice(sizes, p=np.array(sizes) / sum(sizes)))
        losses.append(learn(game, net, target_net, optimizer, memory.sample(size, settings.batch, rng), settings))
        if (step + 1) % 100 == 0:
            report(Progress(step + 1, float(np.mean(losses[-100:])), float(np.mean(shares[-100:]))))
    return net
