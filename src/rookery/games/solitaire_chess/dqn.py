"""Deep Q-learning for Solitaire Chess, from play alone. Needs PyTorch (`pip install 'rookery[deep]'`).

The agent plays puzzles in the order of its own ranking and takes captures back until one is solved, as it will do when
it has learned. So it finds out where the captures it tried lead, and remembers the positions with that. What a capture
is worth is learned from there: all that was won behind it, or nothing if everything behind it failed; and if it was not
tried, the reward it brings and what the best capture after it is worth, by the target network. No solver tells it
anything. Two nets learn from one memory, each from positions it draws itself, and take turns to play; in the end the
mean of what they say ranks, for they seldom err together. Read from top to bottom: the settings, the net, the memory,
playing, learning, training.

A position is a graph of pieces (`native/games/solitaire_chess/piece_graph.hpp`), so the same file trains a ranker for
a board of any size; the weights go to `rookery.games.solitaire_chess.ranker`, which needs no PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery._native.solitaire_chess import CaptureRanker
from rookery.games.solitaire_chess import ranker
from rookery.games.solitaire_chess.ranker import may_learn_from
from rookery.games.solitaire_chess.rules import KINDS, SolitaireChess
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run

MODEL = "model.safetensors"

Boards = npt.NDArray[np.uint8]
"""A byte per cell as the native games keep it, `[boards, cells]`."""
Marks = npt.NDArray[np.uint64]
"""One number per board, with a bit for each of its captures."""


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed."""

    width: int = 64
    """Width of the net."""
    heads: int = 8
    """Attention heads."""
    layers: int = 4
    """Layers of the net."""
    nets: int = 2
    """Nets that learn side by side, a thread each; their mean ranks."""
    steps: int = 7000
    """Gradient steps."""
    batch: int = 256
    """Positions per gradient step, all with the same number of pieces."""
    learning_rate: float = 3e-3
    """The highest learning rate; it rises over the first 100 steps and falls to nothing at the end."""
    max_pieces: int = 8
    """Puzzles have 3 pieces at first and up to this many after a third of the steps."""
    size_power: float = 3.0
    """Puzzles with n pieces are drawn with chances in proportion to n to this power; small positions come up anyway, on
    the way through large ones."""
    games: int = 32
    """Puzzles played before every step."""
    retried: float = 0.5
    """Share of them that were played before and took something to be taken back; the others are new."""
    max_solutions: int = 10
    """Puzzles have only one possible last piece and square, and at most N solutions; 0 takes any that can be
    solved."""
    epsilon: float = 0.3
    """Share of positions, in puzzles that explore, whose captures are tried in a random order."""
    explore_every: int = 2
    """1 if every puzzle explores, 2 if every second one does, and so on."""
    patience: int = 150
    """Positions entered in a puzzle before it is given up."""
    guessed: float = 0.25
    """Share of the captures to learn about, when a position is remembered, of those whose worth was not found out."""
    memory: int = 100_000
    """Positions remembered for each number of pieces; new ones take the place of the oldest."""
    target_rate: float = 0.01
    """Share of the way that the target network follows in a step."""
    reward_capture: float = 0.01
    """Reward of a capture."""
    reward_win: float = 0.9
    """Reward of leaving one piece."""
    reward_dead_end: float = 0.0
    """Reward of a position with no capture left."""
    pools: tuple[str, ...] = ("KQRRBBNNPP", "QRRBBNNPP", "RRBBNNPP", "RRBBNNPP")
    """Sets of pieces that puzzles are made of, drawn with equal chances. Hard puzzles have neither king nor queen."""
    king: bool | None = None
    """Whether puzzles have a king; None leaves it to chance."""
    threads: int = 1
    """Threads of PyTorch. More are quicker on an idle machine, and lead to other weights."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "width", "heads", "layers", "nets", "steps", "batch", "games", "memory", "threads")


SOLO_8X8 = Settings(
    width=48, heads=6, nets=1, steps=11_000, batch=128, learning_rate=2e-3, max_pieces=14, size_power=1.0, games=12,
    max_solutions=0, retried=0.0, epsilon=0.25, explore_every=1, patience=50, memory=40_000,
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
    """Position to the value of each of its captures, as log-odds.

    `native/games/solitaire_chess/capture_ranker.hpp` computes the same.
    """

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
    that `choose` picks, given the board of each and its place among the board's captures."""

    def __init__(self, game: SolitaireChess, boards: Boards, choose: Choice | None = None) -> None:
        nodes, edges = _native.solitaire_chess.piece_graphs(game.rules, boards)
        board, mover, taken, after = _native.solitaire_chess.captures(game.rules, boards)
        place = (np.arange(len(board)) - np.searchsorted(board, np.arange(len(boards)))[board]).astype(np.uint64)
        if choose is not None:
            chosen = choose(board, place)
            board, mover, taken = board[chosen], mover[chosen], taken[chosen]
            after, place = after[chosen], place[chosen]
        self.boards, self.after, self.place = len(boards), after, place
        self.nodes, self.edges = torch.from_numpy(nodes).long(), torch.from_numpy(edges).long()
        self.board, self.mover, self.taken = map(torch.from_numpy, (board, mover, taken))

    def best(self, values: torch.Tensor, without: float) -> torch.Tensor:
        """The greatest value of each board's captures, `[boards]`; `without` where there are none."""
        least = torch.full((self.boards,), without, device=values.device)
        return least.scatter_reduce(0, self.board, values, "amax", include_self=False)


Choice = Callable[[npt.NDArray[np.int64], Marks], npt.NDArray[np.bool_]]


class Memory:
    """The positions met last, by their number of pieces. With each goes what became of its captures: a number whose
    bit i says whether the i-th leads to a solution, and one whose bit i says whether that is known."""

    def __init__(self, size: int, cells: int) -> None:
        self.size, self.cells = size, cells
        self.boards: dict[int, Boards] = {}
        self.marks: dict[int, Marks] = {}
        self.seen: dict[int, int] = {}

    def add(self, boards: Boards, good: Marks, tried: Marks) -> None:
        pieces = np.count_nonzero(boards, axis=1)
        for n in np.unique(pieces):
            mine = pieces == n
            kept = self.boards.setdefault(int(n), np.zeros((self.size, self.cells), np.uint8))
            marks = self.marks.setdefault(int(n), np.zeros((2, self.size), np.uint64))
            start = self.seen.get(int(n), 0)
            places = (start + np.arange(mine.sum())) % self.size
            kept[places], marks[:, places] = boards[mine], (good[mine], tried[mine])
            self.seen[int(n)] = start + int(mine.sum())

    def sample(self, count: int, rng: np.random.Generator) -> tuple[Boards, Marks, Marks]:
        """Boards with a number of pieces that is drawn with chances in proportion to itself."""
        sizes = [pieces for pieces, seen in self.seen.items() if seen]
        pieces = int(rng.choice(sizes, p=np.array(sizes) / sum(sizes)))
        chosen = rng.integers(0, min(self.size, self.seen[pieces]), count)
        good, tried = self.marks[pieces][:, chosen]
        return self.boards[pieces][chosen], good, tried

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays: dict[str, npt.NDArray[Any]] = {}
        for n, seen in self.seen.items():
            arrays[f"memory.{n}"] = self.boards[n][: min(self.size, seen)]
            arrays[f"marks.{n}"] = self.marks[n][:, : min(self.size, seen)]
        return arrays

    def restore(self, saved: Mapping[str, npt.NDArray[Any]], seen: Mapping[str, int]) -> None:
        for n, total in seen.items():
            boards = self.boards[int(n)] = np.zeros((self.size, self.cells), np.uint8)
            marks = self.marks[int(n)] = np.zeros((2, self.size), np.uint64)
            boards[: min(self.size, total)] = saved[f"memory.{n}"]
            marks[:, : min(self.size, total)] = saved[f"marks.{n}"]
            self.seen[int(n)] = total


def ranker_of(nets: Iterable[nn.Module], settings: Settings) -> CaptureRanker:
    """The mean of nets as the native searches take it."""
    weights = [{name: tensor.numpy().ravel() for name, tensor in net.state_dict().items()} for net in nets]
    return CaptureRanker(settings.width, settings.heads, settings.layers, weights)


@dataclass(frozen=True)
class Played:
    """Puzzles that were played, which of them were solved with nothing taken back, and the positions to remember."""

    puzzles: Boards
    straight: npt.NDArray[np.bool_]
    boards: Boards
    good: Marks
    tried: Marks


def play(
    game: SolitaireChess,
    ranker: CaptureRanker,
    puzzles: Boards,
    epsilons: npt.NDArray[np.float64],
    settings: Settings,
    seed: int,
) -> Played:
    """Play every puzzle, taking captures back until it is solved or patience is at its end."""
    boards, good, tried, solved, positions = _native.solitaire_chess.play_with_backtracking(
        game.rules, puzzles, ranker, epsilons.tolist(), settings.patience, seed, settings.threads
    )
    allowed = may_learn_from(boards)
    straight = (solved > 0) & (positions == np.count_nonzero(puzzles, axis=1) - 1)
    return Played(puzzles, straight, boards[allowed], good[allowed], tried[allowed])


class Learner:
    """A net, the target network that follows it, and what moves it."""

    def __init__(self, settings: Settings) -> None:
        self.net, self.target_net = Net(settings), Net(settings)
        self.target_net.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=settings.learning_rate, weight_decay=0.01)


def learn(
    game: SolitaireChess,
    learner: Learner,
    boards: Boards,
    good: Marks,
    tried: Marks,
    settings: Settings,
    rng: np.random.Generator,
) -> float:
    """One step: move the values of captures towards their targets: all there is to win if a capture led to a solution,
    next to nothing if it led nowhere, and where that was not found out the reward and the best that can come after, as
    far as the target network knows. Returns the loss."""
    pieces = int(np.count_nonzero(boards[0]))

    def choose(board: npt.NDArray[np.int64], place: Marks) -> npt.NDArray[np.bool_]:
        chosen: npt.NDArray[np.bool_] = bit(tried[board], place) | (rng.random(len(board)) < settings.guessed)
        return chosen

    graphs = Graphs(game, boards, choose)
    if len(graphs.after) == 0:
        return 0.0
    board = graphs.board.numpy()
    known, won = bit(tried[board], graphs.place), bit(good[board], graphs.place)
    win = settings.reward_win + settings.reward_capture * (pieces - 1)
    targets = torch.from_numpy(np.where(won, win, settings.reward_capture + settings.reward_dead_end)).float()
    if not known.all():
        after = Graphs(game, graphs.after[~known])
        with torch.no_grad():
            best = after.best(torch.sigmoid(learner.target_net(after)), without=settings.reward_dead_end)
        targets[torch.from_numpy(~known)] = settings.reward_capture + best
    loss = functional.binary_cross_entropy_with_logits(learner.net(graphs), targets)
    learner.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    learner.optimizer.step()
    with torch.no_grad():
        for mine, yours in zip(learner.target_net.parameters(), learner.net.parameters(), strict=True):
            mine.lerp_(yours, settings.target_rate)
    return float(loss.detach())


def save_net(path: Path | str, net: nn.Module, settings: Any) -> None:
    """Write what ranks, for `ranker.load`; `settings` has the shape of the net."""
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()}
    ranker.save(path, weights, settings.width, settings.heads, settings.layers)


def default_settings(game: SolitaireChess) -> Settings:
    """The settings that the shipped weights were trained with."""
    return SOLO_8X8 if game.max_captures else Settings()


def bit(numbers: Marks, place: Marks) -> npt.NDArray[np.bool_]:
    """Whether the bit at a place is set, for each number."""
    found: npt.NDArray[np.bool_] = (numbers >> place & np.uint64(1)) > 0
    return found


class Puzzles:
    """New puzzles, and those that were not solved straight away when they were played last."""

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


RENEWED = 10
"""Steps after which the net that plays is replaced by the net that learns."""
CHECKPOINT = 500
"""Steps between two checkpoints."""


def train(game: SolitaireChess, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn from nothing; yields a row of metrics every `CHECKPOINT` steps. The same seed gives the same nets on the
    same machine, whether the run was stopped on the way or not.

    A row has the mean loss, and the share of the puzzles that were solved with nothing taken back, although some
    captures were random.
    """
    if settings.reward_win + settings.reward_capture * (settings.max_pieces - 1) > 1:
        raise ValueError("a win and all its captures may bring at most 1 together: values are chances")
    seed = run.seed
    torch.set_num_threads(settings.threads)
    torch.manual_seed(seed)
    learners = [Learner(settings) for _ in range(settings.nets)]
    parts: dict[str, nets.Part] = {}
    for number, learner in enumerate(learners):
        named: dict[str, nets.Part] = {"net": learner.net, "target": learner.target_net, "optimizer": learner.optimizer}
        parts |= {f"{name}{number}": part for name, part in named.items()}
    memory, puzzles = Memory(settings.memory, game.rows * game.columns), Puzzles(game, settings)
    if (saved := run.restore()) is not None:
        nets.restore(saved, **parts)
        memory.restore(saved, run.rows[-1]["seen"])
        puzzles.restore(saved)

    def play_before(step: int) -> tuple[Played, np.random.Generator]:
        rng = np.random.default_rng([seed, step])  # a stream for every step: nothing to remember when a run stops
        most = 3 + int(min(1.0, 3 * step / settings.steps) * (settings.max_pieces - 3))
        sizes = np.arange(3, most + 1)
        chances = sizes**settings.size_power
        boards = puzzles.draw(int(rng.choice(sizes, p=chances / chances.sum())), rng)
        explores = np.arange(len(boards)) % settings.explore_every == settings.explore_every - 1
        return play(
            game, playing_ranker, boards, settings.epsilon * explores, settings, int(rng.integers(1 << 62))
        ), rng

    def learn_in(step: int, learner: Learner, rng: np.random.Generator) -> float:
        for group in learner.optimizer.param_groups:
            group["lr"] = settings.learning_rate * min(1.0, (step + 1) / 100) * (1 - step / settings.steps)
        return learn(game, learner, *memory.sample(settings.batch, rng), settings, rng)

    losses, shares = [], []
    with ThreadPoolExecutor(settings.nets + 1) as threads:
        for step in range(run.rows[-1]["step"] if run.rows else 0, settings.steps):
            if step % RENEWED == 0:
                playing_ranker = ranker_of([learners[step // RENEWED % settings.nets].net], settings)
                playing = threads.submit(play_before, step)
            played, rng = playing.result()
            memory.add(played.boards, played.good, played.tried)
            puzzles.put_back(played.puzzles[~played.straight])
            shares.append(float(played.straight.mean()))
            rngs = [rng, *(np.random.default_rng([seed, step, number]) for number in range(1, settings.nets))]
            learning = [threads.submit(learn_in, step, *pair) for pair in zip(learners, rngs, strict=True)]
            if (step + 1) % RENEWED and step + 1 < settings.steps:
                playing = threads.submit(play_before, step + 1)  # while these learn
            losses += [learned.result() for learned in learning]
            if (step + 1) % CHECKPOINT == 0 or step + 1 == settings.steps:
                row = {
                    "step": step + 1, "loss": round(float(np.mean(losses)), 4),
                    "solved": round(float(np.mean(shares)), 4),
                    "seen": {str(pieces): seen for pieces, seen in memory.seen.items()},
                    "progress": (step + 1) / settings.steps,
                }  # fmt: skip
                save_net(run.folder / MODEL, nn.ModuleList(learner.net for learner in learners), settings)
                run.save(row, nets.arrays(**parts) | memory.arrays() | puzzles.arrays())
                losses, shares = [], []
                yield row
