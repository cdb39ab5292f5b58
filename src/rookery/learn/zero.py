"""AlphaZero for any game: a net that learns from the searches it guides. Needs PyTorch (`pip install 'rookery[deep]'`).

A net takes the observation of a position and gives a probability for every legal action and what the position is worth
to the player to move. An iteration has two parts. First many games are played side by side; before every move each game
grows a tree by PUCT (`native/search/puct.hpp`), whose new positions go to the net in one batch. Moves are drawn by
their visits for the first plies of a game and are the most visited ones later. Then the net learns from the positions
of the last games: the policy learns the visits, the value learns how the game ended.

A game for one player has a score and no opponent to beat, so its reward is ranked (Laterre and others, 2018; Wang and
others, 2020): +1 for a game above a high quantile of the last scores, -1 below it. At chance nodes a search draws the
outcome.

All random numbers of an iteration follow from the seed and its number, so that a run that was stopped goes on from its
checkpoint and ends with the same net, on the same machine. Read from top to bottom: settings, the net, searching,
playing, learning, training, the agent.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.agents import Agent, Explanation
from rookery.game import Game, State, native
from rookery.learn import nets
from rookery.method import check_at_least, check_shares
from rookery.progress import cores
from rookery.run import Row, Run, as_json, duration, settings_from

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
    """Games of an iteration, played side by side."""
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
    drawn_moves: int = 12
    """Actions of a game, of both players together, that are drawn by their visits."""
    window: int = 40_000
    """Positions to learn from: those of the last games."""
    reuse: float = 4.0
    """How often a position is learned from, on average."""
    batch: int = 256
    """Positions per gradient step."""
    learning_rate: float = 2e-3
    """Learning rate of AdamW."""
    ratio: float = 0.75
    """Games for one player: place of the threshold of the ranked reward among the last scores, from 0 to 1."""
    ranked: int = 256
    """Games for one player: how many of the last scores are ranked."""
    threads: int = duration(1)
    """Cores for the net and the searches; 0 means all. A small net is quickest on one."""
    device: str = duration("cpu")
    """Where the net is: "cpu", "cuda" and what else PyTorch knows."""
    iterations: int = duration(30)
    """Stop after N iterations; 0 means no limit."""
    minutes: float = duration(0.0)
    """Stop at the first iteration that ends after this many minutes; 0 means no limit."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "channels", "blocks", "games", "simulations", "walks", "window", "batch", "ranked")
        check_at_least(self, 0, "drawn_moves", "reuse", "threads", "iterations", "minutes")
        if self.iterations == 0 and self.minutes == 0:
            raise ValueError("name a number of iterations or of minutes")
        check_shares(self, "noise", "ratio")


class Net(nn.Module):
    """Planes to a score for every action, `[positions, num_actions]`, and a value, `[positions]`, from -1 to 1.

    An observation that is not planes over a board is seen as planes of one cell.
    """

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__()
        self.shape = planes_of(game)
        channels, cells = settings.channels, self.shape[1] * self.shape[2]
        self.start = nn.Conv2d(self.shape[0], channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.blocks = nn.ModuleList(nets.ResidualBlock(channels) for _ in range(settings.blocks))
        # If actions are planes over the board, the policy is; else every action looks at the whole board.
        if game.num_actions % cells == 0 and game.num_actions > 8 * cells:
            self.policy: nn.Module = nn.Sequential(nn.Conv2d(channels, game.num_actions // cells, 1), nn.Flatten())
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
        return self.policy(x), torch.tanh(self.value(x)).squeeze(1)


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
    """How the game ended for the player to move, -1 to 1."""

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


def evaluate(net: Net, planes: Array, offsets: Array, actions: Array) -> tuple[Array, Array]:
    """The net's probabilities of legal actions, one after the other, and its values of the positions."""
    device = next(net.parameters()).device
    rows, legal = nets.padded(offsets, actions)
    with torch.no_grad():
        scores, values = net(torch.from_numpy(planes).to(device))
        mask = torch.from_numpy(legal).to(device)
        mine = scores.float().gather(1, torch.from_numpy(rows).to(device)).masked_fill(~mask, -torch.inf)
        chances = mine.softmax(1).cpu().numpy()
    return np.ascontiguousarray(chances[legal]), values.float().cpu().numpy()


def grow(net: Net, trees: Any, simulations: int, walks: int, threads: int) -> None:
    """Search until every root that is not over has the given number of simulations."""
    net.eval()
    while True:
        planes, offsets, actions = trees.find_leaves(simulations, walks, threads)
        if len(planes):
            trees.expand(*evaluate(net, planes, offsets, actions))
            continue
        trees.expand(np.empty(0, np.float32), np.empty(0, np.float32))
        if all(trees.over(i) or trees.simulations(i) >= simulations for i in range(len(trees))):
            return


@dataclass
class Played:
    """The games of an iteration."""

    positions: Positions
    """With values that are still to be set, for one player."""
    owner: Array
    """The game of each position."""
    returns: Array
    """`[games, players]`."""

    @property
    def moves(self) -> int:
        return len(self.owner)


def play(net: Net, game: Game, start: Any, settings: Settings, threshold: float, seed: int) -> Played:
    """Games that the net plays with searches, side by side."""
    rng = np.random.default_rng(seed)
    trees = start.Puct(
        start, settings.games, settings.exploration, threshold, noise=settings.noise,
        noise_alpha=settings.noise_alpha, seed=int(rng.integers(2**62)),
    )  # fmt: skip
    parts: list[Positions] = []
    owners, movers, plies = [], [], 0
    while not all(trees.over(i) for i in range(len(trees))):
        grow(net, trees, settings.simulations, settings.walks, settings.threads or cores())
        numbers, players, planes, offsets, actions, visits = trees.roots(settings.threads or cores())
        counts = np.diff(offsets)
        totals = np.repeat(np.add.reduceat(visits, offsets[:-1]), counts)
        parts.append(Positions(planes, offsets, actions, (visits / totals).astype(np.float32), np.zeros(len(numbers))))
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
    owner, mover = np.concatenate(owners), np.concatenate(movers)
    positions = Positions.joined(parts, 10**9)
    if game.players == 2:
        positions.values = np.clip(returns[owner, mover], -1, 1)
    return Played(positions, owner, returns)


def learn(
    net: Net, optimizer: torch.optim.Optimizer, data: Positions, settings: Settings, steps: int, seed: int
) -> Any:
    """Gradient steps on positions drawn at random; returns the mean losses of policy and value."""
    rng = np.random.default_rng(seed)
    device = next(net.parameters()).device
    net.train()
    losses = np.zeros(2)
    for _ in range(steps):
        chosen = rng.integers(len(data), size=settings.batch)
        actions, legal, shares = (torch.from_numpy(array).to(device) for array in data.padded(chosen))
        scores, values = net(torch.from_numpy(data.planes[chosen]).to(device))
        chances = scores.gather(1, actions).masked_fill(~legal, -1e9).log_softmax(1)
        policy_loss = -(shares.float() * chances).sum(1).mean()
        value_loss = functional.mse_loss(values, torch.from_numpy(data.values[chosen]).float().to(device))
        optimizer.zero_grad()
        (policy_loss + value_loss).backward()
        optimizer.step()
        losses += [float(policy_loss.detach()), float(value_loss.detach())]
    return losses / max(steps, 1)


class Trainer:
    """The net, what it learns from, and the scores that are ranked."""

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        torch.set_num_threads(settings.threads or cores())
        torch.manual_seed(seed)
        self.game, self.settings, self.seed = game, settings, seed
        self.net = Net(game, settings).to(settings.device)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=settings.learning_rate, weight_decay=1e-4)
        self.data: Positions | None = None
        self.scores = np.zeros(0)
        self.iterations = 0
        self._start = native(game.initial_state())

    @property
    def threshold(self) -> float:
        """The score above which a game for one player is won."""
        return float(np.quantile(self.scores, self.settings.ratio)) if len(self.scores) else 0.0

    def iterate(self) -> Row:
        """Play and learn once."""
        s, begin = self.settings, time.perf_counter()
        seeds = np.random.default_rng((self.seed, self.iterations)).integers(2**62, size=2)
        torch.manual_seed(int(seeds[1]))
        played = play(self.net, self.game, self._start, s, self.threshold, int(seeds[0]))
        if self.game.players == 1:
            self._rank(played)
        parts = [part for part in (self.data, played.positions) if part is not None]
        self.data = Positions.joined(parts, s.window)
        playing = time.perf_counter() - begin
        steps = max(1, round(s.reuse * played.moves / s.batch))
        policy_loss, value_loss = learn(self.net, self.optimizer, self.data, s, steps, int(seeds[1]))
        self.iterations += 1
        first = played.returns[:, 0]
        row: Row = {
            "iteration": self.iterations, "games": len(first), "mean_return": float(first.mean()),
            "best_return": float(first.max()), "mean_moves": played.moves / len(first),
            "policy_loss": float(policy_loss), "value_loss": float(value_loss),
            "moves_per_second": round(played.moves / playing, 1),
            "share_learning": round(1 - playing / (time.perf_counter() - begin), 3),
        }  # fmt: skip
        if self.game.players == 2:
            del row["mean_return"], row["best_return"]
            row |= {"first_won": float(np.mean(first > 0)), "drawn": float(np.mean(first == 0))}
        else:
            row["threshold"] = self.threshold
        return row

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
        return {"net": self.net, "optimizer": self.optimizer}

    def arrays(self) -> dict[str, Array]:
        """What training resumes from."""
        assert self.data is not None
        return nets.arrays(**self._parts()) | {
            **{f"data.{name}": array for name, array in self.data.arrays().items()},
            "scores": self.scores, "iterations": np.array(self.iterations),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from what `arrays` gave."""
        nets.restore(saved, **self._parts())
        prefix = "data."
        self.data = Positions(**{n.removeprefix(prefix): array for n, array in saved.items() if n.startswith(prefix)})
        self.scores, self.iterations = saved["scores"], int(saved["iterations"])


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Iterate until the iterations or the minutes are over."""
    trainer = Trainer(game, settings, run.seed)
    if (saved := run.restore()) is not None:
        trainer.restore(saved)
    before = run.rows[-1]["minutes"] if run.rows else 0.0
    begin = time.monotonic()
    progress = 0.0
    while progress < 1:
        row = trainer.iterate()
        row["minutes"] = round(before + (time.monotonic() - begin) / 60, 3)
        done = trainer.iterations / settings.iterations if settings.iterations else 0.0
        progress = max(done, row["minutes"] / settings.minutes if settings.minutes else 0.0)
        row["progress"] = min(1.0, progress)
        run.save(row, trainer.arrays())
        nets.save_net(
            run.folder / MODEL, trainer.net, run.kind, settings=json.dumps(as_json(settings)),
            threshold=repr(trainer.threshold),
        )  # fmt: skip
        yield row


class ZeroAgent(Agent):
    """Plays the move that a search guided by the net visits most; without simulations the net's most probable move."""

    def __init__(self, net: Net, simulations: int, exploration: float, threshold: float) -> None:
        self.net, self.simulations = net.eval(), simulations
        self.exploration, self.threshold = exploration, threshold

    def moves(self, state: State, seed: int = 0) -> list[tuple[int, int, float, float]]:
        """Action, visits, value and probability of every legal move."""
        start = native(state)
        trees = start.Puct(start, 1, self.exploration, self.threshold, seed=seed)
        grow(self.net, trees, max(1, self.simulations), 1 if self.simulations < 200 else 4, 1)
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
