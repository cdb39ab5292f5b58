"""Ranked-reward self-play for Morpion Solitaire as the paper has it (Algorithm 7, Table 7.1).

Needs PyTorch (`pip install 'rookery[deep]'`). Read from top to bottom: the settings, the net, self-play, ranking,
retraining, the game with tree search, training.

The paper leaves the net's input and actions open. Here they are what is known of the authors' program: the net sees
the dots but no lines, and an action is the cell of the new dot, so of several lines through one new dot only the first
can be drawn. As in the paper, self-play takes its moves from the net's policy without a tree, and the net is trained on
(s, pi, z) with that very policy pi, so only the value carries news; `self_play_simulations` is the other choice of line
6, a tree in self-play. `zero` is the system that mends all this.

Where it differs from the authors' program: a tree looks at up to `leaves` positions at once, theirs at one; a GPU works
in mixed precision; and theirs trains on all eight symmetries of every example, which Algorithm 7 does not say and which
takes eight times as long (`symmetries`).

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
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery.files import write_text
from rookery.games.morpion.rules import STEPS, Morpion, MorpionState
from rookery.games.morpion.zero import progress
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run, duration, settings_from

KIND = "morpion r2"
MODEL = "model.safetensors"
Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Settings:
    """Table 7.1 (the letter there stands first), and what the net and the board are."""

    iterations: int = duration(100)
    """Number of iterations, I in the paper."""
    episodes: int = 50
    """Games of self-play per iteration, E."""
    step_threshold: int = 41
    """Moves before this one, counted from 1, are drawn from the policy, T'; from it on the most probable is played."""
    simulations: int = 20000
    """Simulations of the tree search per move of the enhanced game, m."""
    self_play_simulations: int = 0
    """Simulations per move of self-play, 100 in the paper if it used any; 0 takes the policy from the net."""
    exploration: float = 1.0
    """Weight of exploration in the tree search, c."""
    untried: Literal["zero", "mean"] = "zero"
    """Value in the tree of a move not tried yet: 0 as in the authors' program, or the mean over the moves tried."""
    tie: float = 1.0
    """Value in the tree of a score on the threshold, from -1 to 1; the authors' program has 1."""
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
    symmetries: bool = False
    """Train on every example in all eight symmetries, as the authors' program does."""
    leaves: int = 64
    """Positions of one tree that the net looks at together. The paper's program looked at one at a time."""
    minutes: float = duration(0.0)
    """Stop at the first iteration that ends after this many minutes; 0 means no limit."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "iterations", "episodes", "simulations", "epochs", "batch", "channels", "hidden")
        check_at_least(self, 0, "minutes", "self_play_simulations")
        if self.untried not in ("zero", "mean"):
            raise ValueError(f"untried must be zero or mean, not {self.untried!r}")
        if not -1 <= self.tie <= 1:
            raise ValueError(f"the tie must be -1 to 1, not {self.tie:g}")


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
        if device.type == "cuda":
            self.net = self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.device = device
        side, length = settings.board, self.game.length
        action = np.arange(self.game.num_actions)
        direction, cell = np.divmod(action // length, side * side)
        steps = np.array(STEPS)[direction]
        # Of actions whose line leaves the board the cell may be a wrong one; they are never legal.
        self.cell_of = ((cell // side + action % length * steps[:, 1]) * side
                        + cell % side + action % length * steps[:, 0])  # fmt: skip

    def evaluate(self, dots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The net's scores and values, in mixed precision on a GPU."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores, value = self.net(dots)
        return scores.float(), value.float()

    @torch.no_grad()
    def policies(
        self, planes: Floats, offsets: npt.NDArray[np.int64], actions: npt.NDArray[np.int32]
    ) -> tuple[Floats, Floats, npt.NDArray[np.int32], Floats]:
        """Of each position: dots `[B, 1, side, side]`, policy over the cells of legal dots `[B, cells]`, the action for
        each cell (the first line through it) and the value `[B]`."""
        self.net.eval()
        dots = planes[:, :1].copy()
        scores, value = self.evaluate(torch.from_numpy(dots).to(self.device))
        owner = np.repeat(np.arange(len(planes)), np.diff(offsets))
        action_for = np.full((len(planes), scores.shape[1]), -1, np.int32)
        # Written from the last to the first, so that the first stays.
        action_for[owner[::-1], self.cell_of[actions[::-1]]] = actions[::-1]
        legal = torch.from_numpy(action_for >= 0).to(self.device)
        policy = scores.masked_fill(~legal, -torch.inf).softmax(1)
        return dots, policy.cpu().numpy(), action_for, value.cpu().numpy()

    def trees(self, start: MorpionState, games: int, settings: Settings, threshold: int) -> _native.morpion.State.Puct:
        """Trees from one position; a game counts as won by more moves than the threshold."""
        return _native.morpion.State.Puct(
            start, games, settings.exploration, float(threshold), settings.tie, settings.untried == "mean"
        )

    def grow(self, trees: _native.morpion.State.Puct, simulations: int, leaves: int) -> None:
        """Search until every root has the given number of simulations."""
        threads = 0 if len(trees) > 1 else 1
        while True:
            planes, offsets, actions = trees.find_leaves(simulations, leaves, threads)
            if len(planes) == 0:  # all walks came to ends of games, or the work is done
                trees.expand(np.empty(0, np.float32), np.empty(0, np.float32))
                if all(trees.over(i) or trees.simulations(i) >= simulations for i in range(len(trees))):
                    return
                continue
            _, policies, action_for, values = self.policies(planes, offsets, actions)
            owner = np.repeat(np.arange(len(planes)), np.diff(offsets))
            cells = self.cell_of[actions]
            # A second line through the same dot is no action of this player.
            priors = np.where(action_for[owner, cells] == actions, policies[owner, cells], np.float32(-1))
            trees.expand(priors.astype(np.float32), values)


# Self-play (stage 1)


@dataclass(frozen=True)
class Episode:
    dots: Bytes
    """`[T, 1, side, side]`"""
    policies: Floats
    """`[T, cells]`"""
    actions: list[int]


def self_play(player: Player, settings: Settings, rng: np.random.Generator, threshold: int = 0) -> list[Episode]:
    """E games side by side: moves are drawn from the policy before T', the most probable one from there on."""
    policy = _TreePolicy if settings.self_play_simulations else _NetPolicy
    play = policy(player, settings, threshold)
    seen: list[tuple[list[Bytes], list[Floats]]] = [([], []) for _ in range(settings.episodes)]
    step = 0
    while len(live := play.games.live()):
        step += 1
        dots, policies, action_for = play.policies()
        if step < settings.step_threshold:
            sums = policies.cumsum(1)
            cells = (sums <= rng.random((len(live), 1)) * sums[:, -1:]).sum(1)
            cells = np.where(policies[np.arange(len(live)), cells] > 0, cells, policies.argmax(1))
        else:
            cells = policies.argmax(1)
        for i, number in enumerate(live):
            seen[number][0].append(dots[i].astype(np.uint8))
            seen[number][1].append(policies[i])
        play.apply(action_for[np.arange(len(live)), cells])
    return [Episode(np.stack(dots), np.stack(policies), actions)
            for (dots, policies), actions in zip(seen, play.games.histories, strict=True)]  # fmt: skip


class _NetPolicy:
    """Games whose policy is the net's own (line 6: "directly get policy")."""

    def __init__(self, player: Player, settings: Settings, threshold: int) -> None:
        self.player, self.settings = player, settings
        self.games = _native.morpion.State.Games(player.game.initial_state(), settings.episodes)

    def policies(self) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
        """For each live game: dots, policy over cells, and the action for each cell."""
        return self.player.policies(*self.games.observe(1))[:3]

    def apply(self, actions: npt.NDArray[np.int32]) -> None:
        self.games.apply(actions)


class _TreePolicy(_NetPolicy):
    """Games whose policy is the share of visits in a tree (line 6: "perform MCTS"). The tree below a move is kept."""

    def __init__(self, player: Player, settings: Settings, threshold: int) -> None:
        super().__init__(player, settings, threshold)
        self.trees = player.trees(player.game.initial_state(), settings.episodes, settings, threshold)

    def policies(self) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
        self.player.grow(self.trees, self.settings.self_play_simulations, self.settings.leaves)
        dots, _, action_for = super().policies()
        visits = np.zeros(action_for.shape, np.float32)
        for row, number in enumerate(self.games.live()):
            for action, count, _, _ in self.trees.moves(int(number)):
                visits[row, self.player.cell_of[action]] = count
        return dots, visits / visits.sum(1, keepdims=True), action_for

    def apply(self, actions: npt.NDArray[np.int32]) -> None:
        for number, action in zip(self.games.live(), actions, strict=True):
            self.trees.apply(int(number), int(action))
        super().apply(actions)


# Ranking


def ranked_reward(score: int, recent: list[int], settings: Settings, rng: np.random.Generator) -> int:
    """z of a game (equation 7.1), once its score stands in the list B: the threshold is the score at L * tau of the
    ranked list, where L is how long the list is."""
    threshold = _threshold(recent, settings)
    if score == threshold:
        return int(rng.choice([-1, 1]))
    return 1 if score > threshold else -1


def _threshold(recent: list[int], settings: Settings) -> int:
    return sorted(recent)[min(len(recent) - 1, int(len(recent) * settings.ratio))]


# Retraining (stage 2)


@dataclass(frozen=True)
class Examples:
    dots: Bytes
    """`[N, 1, side, side]`"""
    policies: Floats
    """`[N, cells]`"""
    rewards: Floats

    def symmetric(self) -> Examples:
        """Every example in all eight symmetries of the board."""
        side = self.dots.shape[-1]
        boards = self.policies.reshape(self.dots.shape)

        def turned(planes: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
            return [np.rot90(p, k, (2, 3)) for p in (planes, planes[..., ::-1]) for k in range(4)]

        return Examples(
            np.ascontiguousarray(np.concatenate(turned(self.dots))),
            np.concatenate(turned(boards)).reshape(-1, side * side),
            np.tile(self.rewards, 8),
        )


def retrain(player: Player, kept: list[Examples], settings: Settings, seed: int) -> float:
    """`epochs` passes over the kept examples in random batches. Returns the mean loss."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    if settings.symmetries:
        kept = [examples.symmetric() for examples in kept]
    dots, policies, rewards = (
        torch.from_numpy(np.concatenate([getattr(examples, part) for examples in kept])).to(player.device)
        for part in ("dots", "policies", "rewards")
    )
    optimizer = torch.optim.Adam(player.net.parameters(), settings.learning_rate)
    player.net.train()
    losses = []
    for _ in range(settings.epochs * max(1, len(dots) // settings.batch)):
        chosen = torch.from_numpy(rng.integers(0, len(dots), settings.batch)).to(player.device)
        scores, value = player.evaluate(dots[chosen].float())
        loss = -(policies[chosen] * scores.log_softmax(1)).sum(1).mean() + functional.mse_loss(value, rewards[chosen])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.detach())
    return float(torch.stack(losses).mean())


# The game with tree search (stage 3)


def enhanced_game(player: Player, settings: Settings, threshold: int) -> list[int]:
    """One game in which every move is the one most visited by a tree search from scratch."""
    state = player.game.initial_state()
    while state.legal_actions():
        tree = player.trees(state, 1, settings, threshold)
        player.grow(tree, settings.simulations, settings.leaves)
        state.apply(max(tree.moves(0), key=lambda move: (move[1], move[3]))[0])
    return list(state.moves)


# Training


def train(game: Morpion, settings: Settings, run: Run) -> Iterator[Row]:
    """Algorithm 7, a row of metrics for each iteration. The net of the paper's size takes 700 MB, so a checkpoint is
    written once a minute and at the end."""
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
        nets.restore(arrays, net=player.net)
        kept = [
            Examples(*(arrays[f"examples.{i}.{part}"] for part in ("dots", "policies", "rewards")))
            for i in range(int(arrays["kept"]))
        ]
    seconds_before = run.rows[-1]["seconds"] if run.rows else 0.0
    saved = begin
    for iteration in range(len(run.rows), settings.iterations):
        rng = np.random.default_rng((seed, iteration))
        episodes = self_play(player, settings, rng, _threshold(recent, settings) if recent else 0)
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
        enhanced = None
        if (iteration + 1) % settings.enhanced_every == 0:
            games.append(enhanced_game(player, settings, _threshold(recent, settings)))
            enhanced = len(games[-1])
        best = max([best, *games], key=len)
        now = time.monotonic()
        row: Row = {
            "iteration": iteration + 1,
            "progress": progress(iteration + 1, settings.iterations, (now - begin) / 60, minutes),
            "seconds": round(seconds_before + now - begin, 2),
            "best": len(best),
            "threshold": _threshold(recent, settings),
            "played_mean": float(np.mean(scores)),
            "played_best": max(scores),
            "enhanced": enhanced,
            "loss": loss,
        }
        last = iteration + 1 == settings.iterations or now - begin >= 60 * minutes
        if last or now - saved >= 60:
            saved = now
            arrays_now = nets.arrays(net=player.net)
            for i, group in enumerate(kept):
                arrays_now |= {f"examples.{i}.{part}": array for part, array in vars(group).items()}
            arrays_now |= {"recent": np.array(recent), "best": np.array(best, np.int32), "kept": np.array(len(kept))}
            save_model(folder / MODEL, player.net, settings)
            run.save(row, arrays_now)
        else:
            run.add(row)
            run.write_metrics()
        state = player.game.initial_state()
        for move in best:
            state.apply(move)
        write_text(folder / "best.psol", state.psol())
        yield row
        if last:
            return


# Files


def save_model(path: Path | str, net: Net, settings: Settings) -> None:
    """Write the net with what it takes to build it."""
    nets.save_net(path, net, KIND, settings=json.dumps(asdict(settings)))


def load_model(path: Path | str) -> tuple[Player, Settings]:
    """Read what `save_model` wrote; a foreign or damaged file raises ValueError."""
    tensors, metadata = nets.load_net(path, KIND)
    settings = settings_from(Settings, json.loads(metadata["settings"]))
    player = Player(settings, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    player.net.load_state_dict(tensors)
    return player, settings
