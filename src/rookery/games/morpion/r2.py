"""Ranked-reward self-play for Morpion Solitaire as the paper has it (Algorithm 7, Table 7.1).

Needs PyTorch (`pip install 'rookery[deep]'`). Read from top to bottom: the settings, the net, self-play, ranking,
retraining, the game with tree search, training.

The paper leaves the net's input and actions open. Here they are what is known of the authors' program: the net sees
the dots but no lines, and an action is the cell of the new dot, so of several lines through one new dot only the first
can be drawn. As in the paper, self-play takes its moves from the net's policy without a tree, and the net is trained on
(s, pi, z) with that very policy pi, so only the value carries news. `zero` is the system that mends all this.

All random numbers of an iteration follow from the seed and the number of the iteration, so a run that was stopped goes
on and ends as it would have on the same machine.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery.files import write_text
from rookery.games.morpion.rules import STEPS, Morpion
from rookery.games.morpion.zero import progress
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run, duration, settings_from

KIND = "morpion r2"
MODEL = "model.safetensors"
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """Table 7.1 (the letter there stands first), and what the net and the board are."""

    iterations: int = duration(100)
    """Number of iterations, I in the paper."""
    episodes: int = 50
    """Games of self-play per iteration, E."""
    step_threshold: int = 41
    """Moves drawn from the policy at the start of a game, T'; then the most probable one is played."""
    simulations: int = 20000
    """Simulations of the tree search per move of the enhanced game, m."""
    exploration: float = 1.0
    """Weight of exploration in the tree search, c."""
    retrain: int = 10
    """Iterations whose examples are trained on, rs."""
    epochs: int = 5
    """Passes over the examples, ep."""
    batch: int = 64
    """Positions per gradient step, bs."""
    learning_rate: float = 0.005
    """Learning rate, lr."""
    dropout: float = 0.3
    """Dropout rate, d."""
    rewards: int = 200
    """Length of the reward list B, L."""
    ratio: float = 0.75
    """Place of the threshold in the ranked list, from 0 to 1, tau."""
    enhanced_every: int = 10
    """Iterations from one game with tree search to the next (section 7.5)."""
    board: int = 22
    """Rows and columns: 16, 20 and 22 in the paper."""
    channels: int = 512
    """Channels of the four convolutions, as in the framework the authors built on; the paper does not say."""
    hidden: int = 1024
    """Units of the first of the two hidden layers; the second has half as many."""
    leaves: int = 64
    """Positions of one tree that the net looks at together. The paper's program looked at one at a time."""
    minutes: float = duration(0.0)
    """Stop at the first iteration that ends after this many minutes; 0 means no limit."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations", "episodes", "simulations", "epochs", "batch", "channels", "hidden")
        check_at_least(self, 0, "minutes")


SMALL = Settings(
    iterations=30, episodes=20, simulations=100, epochs=2, board=16, channels=16, hidden=128, learning_rate=0.002
)
"""Settings for two cores and a few minutes."""

PRESETS = {"full": Settings(), "small": SMALL}


class Net(nn.Module):
    """Dots `[B, 1, side, side]` to a score for every cell `[B, side * side]` and a value `[B]` in -1 .. 1."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        side, channels, hidden = settings.board, settings.channels, settings.hidden

        def convolution(inputs: int, padding: int) -> list[nn.Module]:
            layer = nn.Conv2d(inputs, channels, 3, padding=padding, bias=False)
            return [layer, nn.BatchNorm2d(channels), nn.ReLU()]

        def dense(inputs: int, outputs: int) -> list[nn.Module]:
            return [nn.Linear(inputs, outputs, bias=False), nn.BatchNorm1d(outputs), nn.ReLU(),
                    nn.Dropout(settings.dropout)]  # fmt: skip

        self.body = nn.Sequential(
            *convolution(1, 1), *convolution(channels, 1), *convolution(channels, 0), *convolution(channels, 0),
            nn.Flatten(), *dense(channels * (side - 4) ** 2, hidden), *dense(hidden, hidden // 2),
        )  # fmt: skip
        self.policy = nn.Linear(hidden // 2, side * side)
        self.value = nn.Linear(hidden // 2, 1)

    def forward(self, dots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = self.body(dots)
        return self.policy(x), torch.tanh(self.value(x)).squeeze(1)


class Player:
    """A net and the game it plays: cells to actions and back."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.game = Morpion(board=settings.board)
        self.net = Net(settings).to(device)
        self.device = device
        side, length = settings.board, self.game.length
        action = np.arange(self.game.num_actions)
        direction, cell = np.divmod(action // length, side * side)
        steps = np.array(STEPS)[direction]
        # Of actions whose line leaves the board the cell may be a wrong one; they are never legal.
        self.cell_of = ((cell // side + action % length * steps[:, 1]) * side
                        + cell % side + action % length * steps[:, 0])  # fmt: skip

    @torch.no_grad()
    def policies(
        self, planes: Floats, offsets: npt.NDArray[np.int64], actions: npt.NDArray[np.int32]
    ) -> tuple[Floats, Floats, npt.NDArray[np.int32], Floats]:
        """Of each position: dots `[B, 1, side, side]`, policy over the cells of legal dots `[B, cells]`, the action for
        each cell (the first line through it) and the value `[B]`."""
        self.net.eval()
        dots = planes[:, :1].copy()
        scores, value = self.net(torch.from_numpy(dots).to(self.device))
        owner = np.repeat(np.arange(len(planes)), np.diff(offsets))
        action_for = np.full((len(planes), scores.shape[1]), -1, np.int32)
        # Written from the last to the first, so that the first stays.
        action_for[owner[::-1], self.cell_of[actions[::-1]]] = actions[::-1]
        legal = torch.from_numpy(action_for >= 0).to(self.device)
        policy = scores.float().masked_fill(~legal, -torch.inf).softmax(1)
        return dots, policy.cpu().numpy(), action_for, value.float().cpu().numpy()


# Self-play (stage 1)


@dataclass(frozen=True)
class Episode:
    dots: Floats
    """`[T, 1, side, side]`"""
    policies: Floats
    """`[T, cells]`"""
    actions: list[int]


def self_play(player: Player, settings: Settings, rng: np.random.Generator) -> list[Episode]:
    """E games side by side: moves are drawn from the policy before T', the most probable one after."""
    games = _native.morpion.Games(player.game.initial_state(), settings.episodes)
    seen: list[tuple[list[Floats], list[Floats]]] = [([], []) for _ in range(settings.episodes)]
    step = 0
    while len(live := games.live()):
        dots, policies, action_for, _ = player.policies(*games.observe(1))
        if step < settings.step_threshold:
            sums = policies.cumsum(1)
            cells = (sums <= rng.random((len(live), 1)) * sums[:, -1:]).sum(1)
            cells = np.where(policies[np.arange(len(live)), cells] > 0, cells, policies.argmax(1))
        else:
            cells = policies.argmax(1)
        for i, number in enumerate(live):
            seen[number][0].append(dots[i])
            seen[number][1].append(policies[i])
        games.apply(action_for[np.arange(len(live)), cells])
        step += 1
    return [Episode(np.stack(dots), np.stack(policies), actions)
            for (dots, policies), actions in zip(seen, games.histories, strict=True)]  # fmt: skip


# Ranking


def ranked_reward(score: int, recent: list[int], settings: Settings, rng: np.random.Generator) -> int:
    """z of a game (equation 7.1), once its score stands in the list B: the threshold is the score at L * tau of the
    ranked list, where L is how long the list is."""
    threshold = sorted(recent)[min(len(recent) - 1, int(len(recent) * settings.ratio))]
    if score == threshold:
        return int(rng.choice([-1, 1]))
    return 1 if score > threshold else -1


# Retraining (stage 2)


@dataclass(frozen=True)
class Examples:
    dots: Floats
    policies: Floats
    rewards: Floats


def retrain(player: Player, kept: list[Examples], settings: Settings, seed: int) -> float:
    """`epochs` passes over the kept examples in random batches. Returns the mean loss."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    dots = np.concatenate([examples.dots for examples in kept])
    policies = np.concatenate([examples.policies for examples in kept])
    rewards = np.concatenate([examples.rewards for examples in kept])
    optimizer = torch.optim.Adam(player.net.parameters(), settings.learning_rate)
    player.net.train()
    losses = []
    for _ in range(settings.epochs * max(1, len(dots) // settings.batch)):
        chosen = rng.integers(0, len(dots), settings.batch)
        x, pi, z = (torch.from_numpy(array[chosen]).to(player.device) for array in (dots, policies, rewards))
        scores, value = player.net(x)
        loss = -(pi * scores.log_softmax(1)).sum(1).mean() + functional.mse_loss(value, z)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return float(torch.stack(losses).mean())


# The game with tree search (stage 3)


def enhanced_game(player: Player, settings: Settings, threshold: int) -> list[int]:
    """One game in which every move is the one most visited by a tree search from scratch."""
    state = player.game.initial_state()
    while state.legal_actions():
        tree = _native.morpion.Puct(state, 1, settings.exploration, float(threshold))
        while True:
            planes, offsets, actions = tree.find_leaves(settings.simulations, settings.leaves, 1)
            if len(planes) == 0:
                if tree.simulations(0) >= settings.simulations:
                    break
                tree.expand(np.empty(0, np.float32), np.empty(0, np.float32))
                continue
            _, policies, action_for, values = player.policies(planes, offsets, actions)
            owner = np.repeat(np.arange(len(planes)), np.diff(offsets))
            cells = player.cell_of[actions]
            # A second line through the same dot is no action of this player.
            priors = np.where(action_for[owner, cells] == actions, policies[owner, cells], np.float32(-1))
            tree.expand(priors.astype(np.float32), values)
        state.apply(max(tree.moves(0), key=lambda move: (move[1], move[3]))[0])
    return list(state.moves)


# Training


def train(game: Morpion, settings: Settings, run: Run) -> Iterator[Row]:
    """Algorithm 7, a row of metrics for each iteration. The folder keeps a checkpoint of the last one."""
    seed, folder, minutes = run.seed, run.folder, settings.minutes or math.inf
    begin = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.deterministic = True
    torch.manual_seed(seed)
    player = Player(settings, device)
    recent: list[int] = []
    kept: list[Examples] = []
    best: list[int] = []
    if arrays := run.restore():
        recent, best = arrays["recent"].tolist(), arrays["best"].tolist()
        names = player.net.state_dict()
        player.net.load_state_dict({name: torch.from_numpy(arrays[f"net.{name}"]) for name in names})
        kept = [
            Examples(*(arrays[f"examples.{i}.{part}"] for part in ("dots", "policies", "rewards")))
            for i in range(int(arrays["kept"]))
        ]
    seconds_before = run.rows[-1]["seconds"] if run.rows else 0.0
    for iteration in range(len(run.rows), settings.iterations):
        if run.rows and time.monotonic() - begin >= 60 * minutes:
            break
        rng = np.random.default_rng((seed, iteration))
        episodes = self_play(player, settings, rng)
        rewards = []
        for episode in episodes:
            recent = [*recent, len(episode.actions)][-settings.rewards :]
            z = ranked_reward(len(episode.actions), recent, settings, rng)
            rewards.append(np.full(len(episode.actions), z, np.float32))
        examples = Examples(
            np.concatenate([episode.dots for episode in episodes]),
            np.concatenate([episode.policies for episode in episodes]),
            np.concatenate(rewards),
        )
        kept = [*kept, examples][-settings.retrain :]
        loss = retrain(player, kept, settings, int(rng.integers(1 << 62)))
        scores = [len(episode.actions) for episode in episodes]
        games = [episode.actions for episode in episodes]
        threshold = sorted(recent)[min(len(recent) - 1, int(len(recent) * settings.ratio))]
        enhanced = None
        if (iteration + 1) % settings.enhanced_every == 0:
            games.append(enhanced_game(player, settings, threshold))
            enhanced = len(games[-1])
        best = max([best, *games], key=len)
        row: Row = {
            "iteration": iteration + 1,
            "progress": progress(iteration + 1, settings.iterations, (time.monotonic() - begin) / 60, minutes),
            "seconds": round(seconds_before + time.monotonic() - begin, 2),
            "best": len(best),
            "threshold": threshold,
            "played_mean": float(np.mean(scores)),
            "played_best": max(scores),
            "enhanced": enhanced,
            "loss": loss,
        }
        arrays_now: dict[str, npt.NDArray[Any]] = {
            f"net.{name}": tensor.cpu().numpy() for name, tensor in player.net.state_dict().items()
        }
        for i, group in enumerate(kept):
            for part, array in asdict(group).items():
                arrays_now[f"examples.{i}.{part}"] = array
        arrays_now |= {"recent": np.array(recent), "best": np.array(best, np.int32), "kept": np.array(len(kept))}
        run.save(row, arrays_now)
        state = player.game.initial_state()
        for move in best:
            state.apply(move)
        write_text(folder / "best.psol", state.psol())
        save_model(folder / MODEL, player.net, settings)
        yield row


# Files


def save_model(path: Path | str, net: Net, settings: Settings) -> None:
    """Write the net with what it takes to build it."""
    nets.save_net(path, net, KIND, settings=json.dumps(asdict(settings)))


def load_model(path: Path | str) -> Player:
    """Read what `save_model` wrote; a foreign or damaged file raises ValueError."""
    tensors, metadata = nets.load_net(path, KIND)
    player = Player(settings_from(Settings, json.loads(metadata["settings"])), torch.device("cpu"))
    player.net.load_state_dict(tensors)
    return player
