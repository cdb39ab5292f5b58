"""AlphaZero for any game: a net that learns from the searches it guides. Needs PyTorch (`pip install 'rookery[deep]'`).

A net takes the observation of a position and gives a probability for every legal action and what the position is worth
to the player to move. An iteration has two parts, which go on at the same time. Many games are played side by side;
before every move each game grows a tree by PUCT (`native/search/puct.hpp`), whose new positions go to the net in one
batch. Moves are drawn by their visits for the first plies of a game and are the most visited ones later. And the net
learns from the positions of the last games: the policy learns the visits, the value learns how the game ended and what
the search thought. The net that plays follows the one that learns, an iteration behind it.

A game for one player has a score and no opponent to beat, so its reward is ranked (Laterre and others, 2018; Wang and
others, 2020): +1 for a game above a high quantile of the last scores, -1 below it. At chance nodes a search draws the
outcome. Where only the best game counts, nested searches can take the place of PUCT (`searches`, `learn/nested.py`).

The games of an iteration are played in groups, by as many processes as there are cores, or by other machines; on a GPU
by one process that searches on all cores while the net thinks about another group. All random numbers of a group follow
from the seed, the iteration and its number, so that the result does not depend on who plays, and a run that was stopped
resumes from its checkpoint and ends with the same net, on the same machine. Read from top to bottom: settings, the net,
searching, playing, actors, learning, training, nested searches, the agent.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery import _native
from rookery.agents import Agent, Explanation
from rookery.files import write_text
from rookery.game import Game, State, native
from rookery.learn import nested, nets
from rookery.method import check_at_least, check_shares
from rookery.progress import cores
from rookery.run import Hire, Row, Run, Workers, as_json, duration, settings_from
from rookery.symmetry import Symmetry

MODEL = "model.safetensors"
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed."""

    channels: int = 32
    """Channels of the residual net."""
    blocks: int = 3
    """Blocks of the residual net."""
    games: int = 64
    """Games of an iteration."""
    group: int = 64
    """Games that are played side by side; each core takes a group at a time."""
    simulations: int = 48
    """Simulations per move."""
    walks: int = 4
    """Walks down each tree before the net is asked; more make larger batches and a slightly worse search."""
    exploration: float = 1.5
    """Weight of the net's probabilities in the search."""
    noise: float = 0.25
    """Share of noise in the probabilities at the root."""
    noise_alpha: float = 0.5
    """Parameter of the noise's Dirichlet distribution."""
    prove: bool = True
    """Games for two: keep bounds on values in the search, and stop searching what is proven."""
    starts: Literal["initial", "random"] = "initial"
    """Where games begin: in the initial position, or in a random start of the game."""
    drawn_moves: int = 12
    """Actions of a game, of both players together, that are drawn by their visits."""
    window: int = 40_000
    """Positions to learn from, at most: the last ones, and never more than the newer half of all that were played."""
    reuse: float = 4.0
    """How often a position is learned from, on average."""
    batch: int = 256
    """Positions per gradient step."""
    learning_rate: float = 2e-3
    """Learning rate of AdamW."""
    decay: float = 0.0
    """The last share of the training, in which the learning rate falls to a tenth."""
    own_value: float = 0.5
    """Games for two: the share of the search's own value in what the value learns; the rest is how the game ended."""
    symmetries: bool = True
    """Learn from turned and mirrored positions too, where the game names its symmetries."""
    inertia: float = 0.5
    """Share of its old weights that the playing net keeps in an iteration; the rest comes from the learning one."""
    ratio: float = 0.75
    """Games for one player: place of the threshold of the ranked reward among the last scores, from 0 to 1."""
    ranked: int = 256
    """Games for one player: how many of the last scores are ranked."""
    searches: int = 0
    """Games for one player, without chance: nested searches per iteration, seeded by the best games that the net plays,
    in place of PUCT; 0 for none."""
    level: int = 3
    """Level of the nested searches."""
    search_iterations: int = 50
    """Calls that each level of a nested search makes of the one below."""
    trust: float = 5.0
    """How much of the net's log-probabilities goes, at most, into the weights a nested search starts from."""
    actors: int = duration(0)
    """Processes that play; 0 means one per core as soon as an iteration takes longer than some seconds, and on a GPU
    one process with a thread per core."""
    device: str = duration("cpu")
    """Where the net is: "cpu", "cuda" and what else PyTorch knows."""
    iterations: int = duration(30)
    """Stop after N iterations; 0 means no limit."""
    minutes: float = duration(0.0)
    """Stop at the first iteration that ends after this many minutes; 0 means no limit."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "channels", "blocks", "games", "group", "simulations", "walks", "window")
        check_at_least(self, 1, "batch", "ranked")
        check_at_least(self, 0, "drawn_moves", "reuse", "searches", "trust", "actors", "iterations", "minutes")
        check_at_least(self, 1, "level", "search_iterations")
        if self.iterations == 0 and self.minutes == 0:
            raise ValueError("name a number of iterations or of minutes")
        check_shares(self, "noise", "ratio", "own_value", "inertia", "decay")
        nets.check_device(self.device)


class Net(nn.Module):
    """Planes to a score for every action, `[positions, num_actions]`, and a value, `[positions]`, from -1 to 1.

    An observation that is not planes over a board is seen as planes of one cell.
    """

    folds = (("start", "norm"),)

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__()
        self.shape = planes_of(game)
        channels, cells = settings.channels, self.shape[1] * self.shape[2]
        self.start = nn.Conv2d(self.shape[0], channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.blocks = nn.ModuleList(nets.ResidualBlock(channels) for _ in range(settings.blocks))
        # If actions are planes over the board, the policy is; else every action looks at the whole board.
        places = game.action_places()
        self.places: Tensor | None
        self.register_buffer("places", None if places is None else torch.tensor(places), persistent=False)
        if places is not None:
            planes = max(places) // cells + 1
            self.policy: nn.Module = nn.Sequential(nn.Conv2d(channels, planes, 1), nn.Flatten())
        elif game.num_actions % cells == 0 and game.num_actions > 8 * cells:
            self.policy = nn.Sequential(nn.Conv2d(channels, game.num_actions // cells, 1), nn.Flatten())
        else:
            self.policy = nn.Sequential(
                nn.Conv2d(channels, 8, 1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * cells, game.num_actions)
            )
        self.value = nn.Sequential(
            nn.Conv2d(channels, 4, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * cells, channels), nn.ReLU(),
            nn.Linear(channels, 1),
        )  # fmt: skip

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = functional.relu(self.norm(self.start(planes.view(-1, *self.shape))))
        for block in self.blocks:
            x = block(x)
        scores = self.policy(x)
        return scores if self.places is None else scores[:, self.places], torch.tanh(self.value(x)).squeeze(1)


def planes_of(game: Game) -> tuple[int, int, int]:
    """The shape of the observation as planes over a board."""
    shape = game.observation_shape
    return (shape[0], shape[1], shape[2]) if len(shape) == 3 else (int(np.prod(shape)), 1, 1)


@dataclass
class Positions:
    """Positions, their legal actions row by row, and what is known of these."""

    planes: Array
    offsets: Array
    actions: Array
    shares: Array
    """Of the visits, for every action."""
    values: Array
    """What each position is worth to the player to move, -1 to 1."""

    def __len__(self) -> int:
        return len(self.values)

    def padded(self, chosen: Array) -> tuple[Array, Array, Array]:
        """The legal actions of some positions in rows `[positions, most]`, which of them count, and their shares."""
        counts = (self.offsets[1:] - self.offsets[:-1])[chosen]
        legal = np.arange(max(1, int(counts.max(initial=1)))) < counts[:, None]
        index = np.minimum(self.offsets[:-1][chosen][:, None] + np.arange(legal.shape[1]), len(self.actions) - 1)
        return self.actions[index].astype(np.int64), legal, np.where(legal, self.shares[index], 0.0)

    @staticmethod
    def joined(parts: Sequence[Positions], most: int) -> Positions:
        """The last `most` positions of several parts."""
        planes = np.concatenate([part.planes for part in parts])
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        actions = np.concatenate([part.actions for part in parts])
        shares = np.concatenate([part.shares for part in parts])
        values = np.concatenate([part.values for part in parts])
        offsets = np.concatenate([[0], np.cumsum(counts)])
        first = max(0, len(values) - most)
        begin = int(offsets[first])
        return Positions(planes[first:], offsets[first:] - begin, actions[begin:], shares[begin:], values[first:])

    def arrays(self) -> dict[str, Array]:
        return dict(vars(self))


Question = tuple[Array, Array, Array]
"""Planes of positions, offsets of their legal actions, actions."""
Answer = tuple[Array, Array]
"""A probability for every legal action, and a value for every position."""


def ask(net: Net, planes: Array, offsets: Array, actions: Array) -> Callable[[], Answer]:
    """Show positions to the net; the function returned waits for its answer. A GPU works on it meanwhile."""
    weights = next(net.parameters())
    device, gpu = weights.device, weights.is_cuda
    rows, legal = nets.padded(offsets, actions)

    def sent(array: Array) -> Tensor:
        tensor = torch.from_numpy(array)
        return tensor.pin_memory().to(device, non_blocking=True) if gpu else tensor

    with torch.inference_mode():
        scores, values = net(sent(planes).to(weights.dtype))
        chances = scores.float().gather(1, sent(rows)).masked_fill(~sent(legal), -torch.inf).softmax(1)
        answer = [chances, values.float()]
        if not gpu:
            return lambda: (np.ascontiguousarray(answer[0].numpy()[legal]), answer[1].numpy())
        back = [torch.empty(t.shape, pin_memory=True).copy_(t, non_blocking=True) for t in answer]
        done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        done.record()

    def wait() -> Answer:
        done.synchronize()
        return np.ascontiguousarray(back[0].numpy()[legal]), back[1].numpy().copy()

    return wait


def together(net: Net, *searches: Generator[Question, Answer, Any]) -> list[Any]:
    """Run searches that yield questions to the net and take its answers; returns their results. One thinks on the
    processor while the net has the questions of another."""
    results: list[Any] = [None] * len(searches)
    waiting: list[tuple[int, Callable[[], Answer] | None]] = [(number, None) for number in range(len(searches))]
    while waiting:
        number, answer = waiting.pop(0)
        try:
            question = next(searches[number]) if answer is None else searches[number].send(answer())
        except StopIteration as end:
            results[number] = end.value
        else:
            waiting.append((number, ask(net, *question)))
    return results


def grow(trees: Any, simulations: int, walks: int, threads: int = 1) -> Generator[Question, Answer, None]:
    """Search until every root that is not over or proven has the given number of simulations."""
    while True:
        question = trees.find_leaves(simulations, walks, threads)
        if len(question[0]):
            trees.expand(*(yield question), threads)
            continue
        trees.expand(np.empty(0, np.float32), np.empty(0, np.float32))
        if trees.searched(simulations):
            return


@dataclass
class Played:
    """Games that were played."""

    positions: Positions
    """With the values that the searches found."""
    owner: Array
    """The game of each position."""
    mover: Array
    """The player to move in each position."""
    returns: Array
    """`[games, players]`."""

    @property
    def moves(self) -> int:
        return len(self.owner)

    @staticmethod
    def joined(parts: Sequence[Played]) -> Played:
        games = np.cumsum([0, *(len(part.returns) for part in parts)])
        return Played(
            Positions.joined([part.positions for part in parts], 10**9),
            np.concatenate([part.owner + first for part, first in zip(parts, games, strict=False)]),
            np.concatenate([part.mover for part in parts]),
            np.concatenate([part.returns for part in parts]),
        )


def play(
    game: Game, start: Any, settings: Settings, games: int, threshold: float, seed: int, threads: int = 1
) -> Generator[Question, Answer, Played]:
    """Games that a net plays with searches, side by side. `start` is the initial position as a native state."""
    rng = np.random.default_rng(seed)
    trees = start.Puct(
        start, games, settings.exploration, threshold, noise=settings.noise, noise_alpha=settings.noise_alpha,
        prove=settings.prove, seed=int(rng.integers(2**62)),
    )  # fmt: skip
    if settings.starts == "random":
        for number in range(games):
            trees.restart(number, native(game.random_start(rng), start))
    parts: list[Positions] = []
    owners, movers, plies = [], [], 0
    while not all(trees.over(i) for i in range(len(trees))):
        yield from grow(trees, settings.simulations, settings.walks, threads)
        numbers, players, planes, offsets, actions, visits, values = trees.roots(threads)
        counts = np.diff(offsets)
        totals = np.add.reduceat(visits, offsets[:-1])
        shares = (visits / np.repeat(totals, counts)).astype(np.float32)
        parts.append(
            Positions(_small(planes), offsets, actions, shares, np.add.reduceat(shares * values, offsets[:-1]))
        )
        owners.append(numbers)
        movers.append(players)
        for i, number in enumerate(numbers):
            mine = visits[offsets[i] : offsets[i + 1]]
            if plies < settings.drawn_moves:
                pick = int(np.searchsorted(np.cumsum(mine), rng.integers(mine.sum()), side="right"))
            else:
                pick = int(mine.argmax())
            trees.apply(int(number), int(actions[offsets[i] + pick]))
        plies += 1
    returns = np.array([trees.returns(i) for i in range(len(trees))])
    return Played(Positions.joined(parts, 10**9), np.concatenate(owners), np.concatenate(movers), returns)


def _small(planes: Array) -> Array:
    """The same numbers in bytes, if they fit."""
    small = planes.astype(np.uint8)
    return small if np.array_equal(small, planes) else planes


class Actor:
    """Plays with the weights it is given."""

    def __init__(self, game: Game, settings: Settings, threads: int = 1) -> None:
        state: Any = game.initial_state()
        self.game, self.settings, self.start = game, settings, native(state)
        self.threads = threads if self.start is state else 1  # threads would wait for each other in Python
        self.device = torch.device(settings.device)
        self.net = Net(game, settings).to(self.device).eval()

    def play(self, weights: Mapping[str, Array], threshold: float, groups: Sequence[tuple[int, int]]) -> Played:
        """Groups of games, each with its size and its seed."""
        self.net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        net = nets.folded(self.net)
        gpu = self.device.type == "cuda"
        if gpu:
            net = net.half().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        at_once = 2 if gpu else 1
        played: list[Played] = []
        for first in range(0, len(groups), at_once):
            played += together(net, *(
                play(self.game, self.start, self.settings, games, threshold, seed, self.threads)
                for games, seed in groups[first : first + at_once]
            ))  # fmt: skip
        return Played.joined(played)


_actor: tuple[tuple[Game, Settings], Actor] | None = None
"""In a process that plays: what it was told, and the actor."""


def act(
    told: tuple[Game, Settings], number: int, weights: Mapping[str, Array], threshold: float, group: tuple[int, int]
) -> tuple[int, Played]:
    """A task of a worker: a group of games, with its number."""
    global _actor
    if _actor is None or _actor[0] is not told:
        _actor = told, Actor(*told)
    return number, _actor[1].play(weights, threshold, [group])


class Actors:
    """Play the games of an iteration: in workers of the run, or here where that is quick enough."""

    patience = 5.0
    """Seconds of an iteration that are played here if the number of actors is not given."""

    def __init__(self, game: Game, settings: Settings, hire: Hire | None = None) -> None:
        self.game, self.settings, self._hire = game, settings, hire
        self._here: Actor | None = None
        self._workers: Workers | None = None
        self._asked: tuple[Mapping[str, Array], float, list[tuple[int, int]]] | None = None
        self._one_process = torch.device(settings.device).type == "cuda"
        if settings.actors > 1:
            self._open()

    def _open(self) -> None:
        count = self.settings.actors or cores()
        # Another process could not find a class of a notebook.
        if self._hire and count > 1 and self.settings.games > self.settings.group and not _in_notebook(self.game):
            self._workers = self._hire((self.game, self.settings), count)

    def begin(self, weights: Mapping[str, Array], threshold: float, seed: int) -> None:
        """Ask for the games of an iteration."""
        sizes = [self.settings.group] * (self.settings.games // self.settings.group)
        if rest := self.settings.games - sum(sizes):
            sizes.append(rest)
        seeds = np.random.default_rng(seed).integers(2**62, size=len(sizes))
        groups = list(zip(sizes, seeds.tolist(), strict=True))
        self._asked = weights, threshold, groups
        if self._workers is not None:
            for number, group in enumerate(groups):
                task = {"number": number, "weights": weights, "threshold": threshold, "group": group}
                self._workers.put(f"{seed}/{number}", f"{__name__}:act", task)

    def end(self) -> Played:
        """The games that were asked for."""
        assert self._asked is not None
        if self._workers is not None:
            found: dict[int, Played] = dict(self._workers.get() for _ in self._asked[2])
            return Played.joined([found[number] for number in sorted(found)])
        begin = time.perf_counter()
        self._here = self._here or Actor(self.game, self.settings, cores() if self._one_process else 1)
        played = self._here.play(*self._asked)
        if time.perf_counter() - begin > self.patience and not self._one_process:
            self._open()
        return played

    def close(self) -> None:
        """End the workers."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None


def _in_notebook(game: Game) -> bool:
    return type(game).__module__ == "__main__"


def learn(
    net: Net, optimizer: torch.optim.Optimizer, data: Positions, symmetries: Sequence[Symmetry], settings: Settings,
    steps: int, seed: int,
) -> Any:  # fmt: skip
    """Gradient steps on positions drawn at random; returns the mean losses of policy and value."""
    rng = np.random.default_rng(seed)
    device = next(net.parameters()).device
    net.train()
    losses = np.zeros(2)
    for _ in range(steps):
        chosen = rng.integers(len(data), size=settings.batch)
        planes, (rows, legal, shares) = data.planes[chosen], data.padded(chosen)
        if symmetries:
            which = rng.integers(len(symmetries) + 1, size=settings.batch)
            for number, symmetry in enumerate(symmetries):
                mine = which == number
                planes[mine] = symmetry.observations(planes[mine].reshape(-1, *net.shape)).reshape(planes[mine].shape)
                rows[mine] = np.asarray(symmetry.actions)[rows[mine]]
        scores, values = net(torch.from_numpy(planes).to(device).float())
        actions, mask, wanted = (torch.from_numpy(array).to(device) for array in (rows, legal, shares))
        chances = scores.gather(1, actions).masked_fill(~mask, -1e9).log_softmax(1)
        policy_loss = -(wanted.float() * chances).sum(1).mean()
        value_loss = functional.mse_loss(values, torch.from_numpy(data.values[chosen]).to(device).float())
        optimizer.zero_grad()
        (policy_loss + value_loss).backward()
        optimizer.step()
        losses += [float(policy_loss.detach()), float(value_loss.detach())]
    return losses / max(steps, 1)


class Trainer:
    """The nets, what they learn from, and the scores that are ranked."""

    def __init__(self, game: Game, settings: Settings, seed: int, hire: Hire | None = None) -> None:
        torch.manual_seed(seed)
        self.game, self.settings, self.seed = game, settings, seed
        self.net = Net(game, settings).to(settings.device)
        self.player = copy.deepcopy(self.net)
        """The net that plays."""
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=settings.learning_rate, weight_decay=1e-4)
        self.data: Positions | None = None
        self.new = 0
        """Positions that the last iteration added."""
        self.positions = 0
        """Positions that all iterations added."""
        self.scores = np.zeros(0)
        self.iterations = 0
        self.actors = Actors(game, settings, hire)

    @property
    def threshold(self) -> float:
        """The score above which a game for one player is won."""
        return float(np.quantile(self.scores, self.settings.ratio)) if len(self.scores) else 0.0

    def iterate(self) -> Row:
        """Play, and meanwhile learn from what was played before."""
        begin = time.perf_counter()
        seeds = np.random.default_rng((self.seed, self.iterations)).integers(2**62, size=2)
        weights = {name: tensor.cpu().numpy().copy() for name, tensor in self.player.state_dict().items()}
        self.actors.begin(weights, self.threshold, int(seeds[0]))
        if self.data is None:
            played = self._played()
            losses, learning = self._learn(int(seeds[1]))
        else:
            losses, learning = self._learn(int(seeds[1]))
            played = self._played()
        self.iterations += 1
        taken = time.perf_counter() - begin
        first = played.returns[:, 0]
        row: Row = {
            "iteration": self.iterations, "games": len(first), "mean_return": float(first.mean()),
            "best_return": float(first.max()), "mean_moves": played.moves / len(first),
            "policy_loss": float(losses[0]), "value_loss": float(losses[1]),
            "moves_per_second": round(played.moves / taken, 1), "share_learning": round(learning / taken, 3),
        }  # fmt: skip
        if self.game.players == 2:
            del row["mean_return"], row["best_return"]
            row |= {"first_won": float(np.mean(first > 0)), "drawn": float(np.mean(first == 0))}
        else:
            row["threshold"] = self.threshold
        return row

    def _played(self) -> Played:
        """The games of this iteration, added to what is learned from."""
        played = self.actors.end()
        if self.game.players == 1:
            self._rank(played)
        else:
            result = np.clip(played.returns[played.owner, played.mover], -1, 1)
            share = self.settings.own_value
            played.positions.values = (share * played.positions.values + (1 - share) * result).astype(np.float32)
        parts = [part for part in (self.data, played.positions) if part is not None]
        self.new, self.positions = played.moves, self.positions + played.moves
        newer = max(self.new, self.positions // 2)  # what an early net played would teach its mistakes
        self.data = Positions.joined(parts, min(self.settings.window, newer))
        return played

    def _learn(self, seed: int) -> tuple[Any, float]:
        """Losses, and the seconds it took."""
        s, begin = self.settings, time.perf_counter()
        assert self.data is not None
        torch.manual_seed(seed)
        symmetries = self.game.symmetries() if s.symmetries else ()
        steps = max(1, round(s.reuse * self.new / s.batch))
        losses = learn(self.net, self.optimizer, self.data, symmetries, s, steps, seed)
        self._follow()
        return losses, time.perf_counter() - begin

    def set_rate(self, rate: float) -> None:
        """Change the learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def _follow(self) -> None:
        """Let the net that plays follow the one that learns."""
        for mine, learned in zip(self.player.state_dict().values(), self.net.state_dict().values(), strict=True):
            if mine.is_floating_point():
                mine.lerp_(learned, 1 - self.settings.inertia)

    def save_best(self, folder: Path) -> None:
        """Write down the best game, where it is known."""

    def _rank(self, played: Played) -> None:
        """Games above the threshold are won, games below it lost, games on it either."""
        scores = played.returns[:, 0]
        self.scores = np.concatenate([self.scores, scores])[-self.settings.ranked :]
        threshold = self.threshold
        result = np.sign(scores - threshold)
        coin = np.random.default_rng((self.seed, self.iterations, 1)).choice([-1.0, 1.0], len(result))
        result = np.where(result == 0, np.where(threshold == self.scores.max(), 1.0, coin), result)
        played.positions.values = result[played.owner]

    def _parts(self) -> dict[str, nets.Part]:
        return {"net": self.net, "player": self.player, "optimizer": self.optimizer}

    def arrays(self) -> dict[str, Array]:
        """What training resumes from."""
        assert self.data is not None
        return nets.arrays(**self._parts()) | {
            **{f"data.{name}": array for name, array in self.data.arrays().items()},
            "scores": self.scores, "iterations": np.array(self.iterations), "new": np.array(self.new),
            "positions": np.array(self.positions),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from what `arrays` gave."""
        nets.restore(saved, **self._parts())
        prefix = "data."
        self.data = Positions(**{n.removeprefix(prefix): array for n, array in saved.items() if n.startswith(prefix)})
        self.scores, self.iterations, self.new = saved["scores"], int(saved["iterations"]), int(saved["new"])
        self.positions = int(saved["positions"])


def learning_rate(settings: Settings, done: float) -> float:
    """The learning rate after a share of the training.

    >>> [learning_rate(Settings(learning_rate=0.01, decay=0.5), done) for done in (0, 0.5, 0.75, 1)]
    [0.01, 0.01, 0.0031622776601683794, 0.001]
    """
    fallen = max(0.0, 1 - (1 - done) / settings.decay) if settings.decay else 0.0
    return float(settings.learning_rate * 10**-fallen)


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Iterate until the iterations or the minutes are over."""
    trainer = (NestedTrainer if settings.searches else Trainer)(game, settings, run.seed, run.hire)
    if (saved := run.restore()) is not None:
        trainer.restore(saved)
    minutes = before = run.rows[-1]["minutes"] if run.rows else 0.0
    begin, rest, threads = time.monotonic(), 0.0, torch.get_num_threads()

    def share() -> float:
        """How much of the training is done, 0 to 1."""
        done = trainer.iterations / settings.iterations if settings.iterations else 0.0
        return min(1.0, max(done, minutes / settings.minutes if settings.minutes else 0.0))

    torch.set_num_threads(1)  # the other cores play
    try:
        progress = share()
        while progress < 1:
            trainer.set_rate(learning_rate(settings, share()))
            row = trainer.iterate()
            minutes = row["minutes"] = round(before + (time.monotonic() - begin) / 60, 3)
            progress = row["progress"] = share()
            saving = time.monotonic()
            if progress < 1 and saving < rest:
                run.add(row)
                run.write_metrics()
            else:
                nets.save_net(
                    run.folder / MODEL, trainer.player, run.kind, settings=json.dumps(as_json(settings)),
                    threshold=repr(trainer.threshold),
                )  # fmt: skip
                trainer.save_best(run.folder)
                run.save(row, trainer.arrays())
                now = time.monotonic()
                rest = now + 20 * (now - saving)  # a large checkpoint is written less often
            yield row
    finally:
        trainer.actors.close()
        torch.set_num_threads(threads)


class NestedTrainer(Trainer):
    """The nets, and the different games they learn from: those the net played and those that searches found."""

    def __init__(self, game: Game, settings: Settings, seed: int, hire: Hire | None = None) -> None:
        if game.players != 1 or game.has_chance():
            raise ValueError(f"nested searches need a game of one player without chance, and {game.title} is none")
        super().__init__(game, settings, seed, hire)
        self.ranking = nested.Ranking(game, settings.ranked, settings.symmetries)
        self.start = native(game.initial_state())
        self.best: tuple[list[int], float] = [], -np.inf

    @property
    def threshold(self) -> float:
        return self.ranking.threshold(self.settings.ratio) if self.ranking.games else 0.0

    def iterate(self) -> Row:
        """The net plays; then it learns from the ranked games, while searches start from the best it played."""
        s, begin = self.settings, time.perf_counter()
        seeds = [int(n) for n in np.random.default_rng((self.seed, self.iterations)).integers(2**62, size=3)]
        heat = np.random.default_rng(seeds[0]).uniform(0.1, 1, s.games).astype(np.float32)
        played = nested.play(self._thinking(), self.start, heat, seeds[0], 0)
        new = self.ranking.add(played.games, played.scores.tolist())
        control = _native.Control()
        with ThreadPoolExecutor(1) as pool:
            searching = pool.submit(
                nested.search, self.start, played, s.searches, s.level, s.search_iterations, s.trust, -1.0, seeds[1],
                max(1, cores() - 1), control,
            )  # fmt: skip
            try:
                steps = max(1, round(s.reuse * (self.new or sum(map(len, played.games))) / s.batch))
                losses, learning = self._learn_ranked(seeds[2], steps)
                found = searching.result()
            except BaseException:
                control.stop()
                raise
        self.new = sum(map(len, played.games)) + sum(map(len, found.games))
        new += self.ranking.add(found.games, found.scores.tolist())
        for games, scores in ((played.games, played.scores), (found.games, found.scores)):
            place = int(np.argmax(scores))
            if scores[place] > self.best[1]:
                self.best = games[place], float(scores[place])
        self.iterations += 1
        taken = time.perf_counter() - begin
        return {
            "iteration": self.iterations, "games": len(played.games), "new_games": new,
            "mean_return": float(played.scores.mean()), "found_mean": float(found.scores.mean()),
            "best_return": self.best[1], "threshold": self.threshold, "policy_loss": float(losses[0]),
            "value_loss": float(losses[1]), "playouts": found.playouts, "share_learning": round(learning / taken, 3),
        }  # fmt: skip

    def _thinking(self) -> nested.Think:
        net = nets.folded(self.player)
        device = next(net.parameters()).device

        def think(planes: Array, offsets: Array, actions: Array) -> tuple[Tensor, Tensor, Tensor]:
            rows, legal = (torch.from_numpy(array).to(device) for array in nets.padded(offsets, actions))
            scores, _ = net(torch.from_numpy(planes).to(device))
            return scores.gather(1, rows).masked_fill(~legal, -torch.inf).log_softmax(1), rows, legal

        return think

    def _learn_ranked(self, seed: int, steps: int) -> tuple[Any, float]:
        """Gradient steps: the policy learns the moves of games that are won, the value learns which are."""
        s, begin = self.settings, time.perf_counter()
        rng = np.random.default_rng(seed)
        examples = nested.Examples(self.start, self.ranking, self.ranking.rewards(s.ratio, rng))
        device = next(self.net.parameters()).device
        self.net.train()
        losses = np.zeros(2)
        for _ in range(steps):
            planes, offsets, actions, wanted, won = examples.draw(s.batch, rng, 1)
            rows, legal = nets.padded(offsets, actions)
            shares = np.zeros(legal.shape, np.float32)
            shares[legal] = wanted
            shares *= (won / np.maximum(shares.sum(1), 1))[:, np.newaxis]
            scores, values = self.net(torch.from_numpy(planes).to(device))
            tensors = (torch.from_numpy(array).to(device) for array in (rows, legal, shares, won))
            row_actions, mask, goal, is_won = tensors
            chances = scores.gather(1, row_actions).masked_fill(~mask, -1e9).log_softmax(1)
            policy_loss = -(goal * chances).sum() / is_won.sum().clamp(min=1)
            value_loss = functional.mse_loss(values, is_won.float() * 2 - 1)
            self.optimizer.zero_grad()
            (policy_loss + 0.5 * value_loss).backward()
            self.optimizer.step()
            losses += [float(policy_loss.detach()), float(value_loss.detach())]
        self._follow()
        return losses / steps, time.perf_counter() - begin

    def save_best(self, folder: Path) -> None:
        """Write the best game down."""
        start = self.game.initial_state()
        record = self.game.record(str(start), self.best[0], ["zero"])
        write_text(folder / f"best.{record.extension}", record.text)

    def arrays(self) -> dict[str, Array]:
        games = self.ranking.moves
        return nets.arrays(**self._parts()) | {
            "games.moves": np.concatenate(games), "games.ends": np.cumsum([len(moves) for moves in games]),
            "games.scores": self.ranking.scores, "best.moves": np.array(self.best[0], np.int32),
            "best.score": np.array(self.best[1]), "iterations": np.array(self.iterations), "new": np.array(self.new),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Array]) -> None:
        nets.restore(saved, **self._parts())
        games = np.split(saved["games.moves"], saved["games.ends"][:-1])
        self.ranking.add([moves.tolist() for moves in games], saved["games.scores"].tolist())
        self.best = saved["best.moves"].tolist(), float(saved["best.score"])
        self.iterations, self.new = int(saved["iterations"]), int(saved["new"])


class ZeroAgent(Agent):
    """Plays the move that a search guided by the net visits most; without simulations the net's most probable move."""

    def __init__(self, net: Net, simulations: int, exploration: float, threshold: float) -> None:
        self.net, self.simulations = nets.folded(net), simulations
        self.exploration, self.threshold = exploration, threshold

    def moves(self, state: State, seed: int = 0) -> list[tuple[int, int, float, float]]:
        """Action, visits, value and probability of every legal move."""
        start = native(state)
        trees = start.Puct(start, 1, self.exploration, self.threshold, prove=self.simulations > 1, seed=seed)
        together(self.net, grow(trees, max(1, self.simulations), 1 if self.simulations < 200 else 4))
        found: list[tuple[int, int, float, float]] = trees.moves(0)
        return found

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        moves = self.moves(state, (rng or random).getrandbits(62))
        return max(moves, key=lambda move: (move[1], move[3]))[0]

    def values(self, state: State) -> dict[int, float]:
        """What the search thinks of every move, -1 to 1; the net's probabilities without a search."""
        moves = self.moves(state)
        if self.simulations < 2:
            return {action: prior for action, _, _, prior in moves}
        floor = min((value for _, visits, value, _ in moves if visits), default=0.0)
        return {action: value if visits else floor - 1e-3 for action, visits, value, _ in moves}

    def explain(self, state: State) -> Explanation:
        moves = sorted(self.moves(state), key=lambda move: (move[1], move[3]), reverse=True)
        reasons = [
            f"{state.action_name(action)}: {visits} of the simulations, worth {value:+.2f}, {prior:.1%} at first sight"
            for action, visits, value, prior in moves[:5]
        ]
        return Explanation(state, moves[0][0], self.values(state), reasons)


def load(game: Game, path: Path | str, simulations: int) -> ZeroAgent:
    """The agent of a file that training wrote."""
    tensors, metadata = nets.load_net(path, f"{game.name} zero")
    try:
        settings = settings_from(Settings, json.loads(metadata["settings"]))
        net = Net(game, settings)
        net.load_state_dict(tensors)
        return ZeroAgent(net, simulations, settings.exploration, float(metadata["threshold"]))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} does not hold a net for {game.name}: {' '.join(str(error).split())}") from None
