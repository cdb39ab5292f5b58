"""Morpion Solitaire learned from nothing: a net, ranked reward, and searches that start from what the net knows.

Needs PyTorch (`pip install 'rookery[deep]'`). Read from top to bottom: the settings, the net, playing, searching,
ranking, learning, training.

An iteration has four parts. The net plays many games side by side, drawing each move from its policy. The best of them
seed short NRPA searches on the processor's cores, whose playouts start from the net's own probabilities. Meanwhile the
net learns: of the last games, those above the threshold of the ranked reward have z = +1, those below z = -1; the
policy learns the moves of games with z = +1, the value learns z. Then what the searches found joins the games to rank.

Two things are special to this game. The moves of a finished game can be played in many orders with the same score, so
the policy learns all moves of a game that are legal now, in positions reached in a random order. And games that are the
same up to order and the eight symmetries count once, so the list to rank cannot fill up with copies of one game.

All random numbers of an iteration follow from the seed and the number of the iteration. So a run that was stopped goes
on from its checkpoint and ends with the same net, bit for bit, on the same machine.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import _native
from rookery.files import replacing
from rookery.games.morpion.rules import Morpion, MorpionState
from rookery.learn import nested, nets
from rookery.method import check_at_least
from rookery.progress import cores
from rookery.run import Info, Row, Run, duration, settings_from

KIND = "morpion-zero"
LENGTH = 5


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed. The defaults are for a GPU and 16 cores."""

    board: int = 20
    """Rows and columns. Good games of 5D stay within 18; a line that would leave the board is not legal."""
    channels: int = 64
    """Channels of the residual net."""
    blocks: int = 8
    """Blocks of the residual net."""
    games: int = 128
    """Games that the net plays in an iteration, side by side."""
    coldest: float = 0.1
    """Each game is played at a temperature of its own, from this one to 1."""
    searches: int = 28
    """NRPA searches in an iteration, each seeded by one of the best games the net played."""
    level: int = 3
    """Level of the searches."""
    search_iterations: int = 100
    """Calls that each level of a search makes of the one below."""
    prior: float = 5.0
    """How much of the net's log-probabilities goes, at most, into the weights a search starts from."""
    unseen: float = -1.0
    """What a search is told of a move that was never legal in the game that seeds it, in place of a log-probability."""
    window: int = 4096
    """Length of the list B: the last games, all different, whose scores are ranked."""
    ratio: float = 0.9
    """Place of the threshold in the ranked list, from 0 to 1. The paper has 0.75, and ranks no games of searches."""
    steps: int = 400
    """Gradient steps in an iteration."""
    batch: int = 1024
    """Positions in a step."""
    learning_rate: float = 1e-3
    """Learning rate of AdamW."""
    averaging: float = 0.99
    """The net that plays is the running mean of the net that learns; this share of it stays at every step."""
    threads: int = duration(0)
    """Cores for the searches; 0 means all. Does not change what is found."""
    iterations: int = duration(0)
    """Stop after N iterations; 0 means no limit."""
    minutes: float = duration(0.0)
    """Stop at the first iteration that ends after this many minutes; 0 means no limit."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "channels", "blocks", "games", "searches", "window", "steps", "batch")
        check_at_least(self, 0, "threads", "iterations", "minutes")


SMALL = Settings(
    board=16, channels=24, blocks=4, games=32, searches=12, search_iterations=50, window=512, steps=240, batch=64,
    learning_rate=2e-3, threads=1,
)  # fmt: skip
"""Settings for two cores and half an hour: one core searches while the other learns."""

PRESETS = {"full": Settings(), "small": SMALL}


class Net(nn.Module):
    """Planes `[B, 9, side, side]` to a score for every action `[B, num_actions]` and the log-odds of z = +1 `[B]`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.game = Morpion(board=settings.board)
        channels, planes = settings.channels, self.game.observation_shape[0]
        self.start = nn.Conv2d(planes, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.blocks = nn.ModuleList(nets.ResidualBlock(channels) for _ in range(settings.blocks))
        # One plane for each direction and place of the new dot, over the first cell of the line.
        self.policy = nn.Conv2d(channels, 4 * self.game.length, 1)
        self.value = nn.Linear(channels, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = functional.relu(self.norm(self.start(planes)))
        for block in self.blocks:
            x = block(x)
        scores = self.policy(x).unflatten(1, (4, self.game.length)).flatten(3)  # [B, direction, place, cell]
        return scores.transpose(2, 3).flatten(1), self.value(x.mean((2, 3))).squeeze(1)


@dataclass(frozen=True)
class Positions:
    """Positions as the net takes them. The legal actions of each stand in a row `[B, most]`, filled up with zeros."""

    planes: torch.Tensor
    actions: torch.Tensor
    legal: torch.Tensor

    @classmethod
    def of(
        cls,
        planes: npt.NDArray[np.float32],
        offsets: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int32],
        device: torch.device,
    ) -> Positions:
        arrays = (planes, *nets.padded(offsets, actions))
        to = [torch.from_numpy(array).to(device, non_blocking=True) for array in arrays]
        return cls(to[0].contiguous(memory_format=torch.channels_last), to[1], to[2])

    def evaluate(self, net: Net) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the legal actions `[B, most]` and the log-odds of z = +1, in mixed precision where the
        machine is quicker with it."""
        mixed = self.planes.is_cuda or torch.ops.mkldnn._is_mkldnn_bf16_supported()
        with torch.autocast(self.planes.device.type, torch.bfloat16, enabled=mixed):
            scores, value = net(self.planes)
        mine = scores.float().gather(1, self.actions).masked_fill(~self.legal, -torch.inf)
        return mine.log_softmax(1), value.float()


def thinking(net: Net) -> nested.Think:
    """The net's word on positions, for `nested.play`."""
    net.eval()
    device = next(net.parameters()).device

    def think(planes: Any, offsets: Any, actions: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        positions = Positions.of(planes, offsets, actions, device)
        return positions.evaluate(net)[0], positions.actions, positions.legal

    return think


# Searching


def play(net: Net, heat: npt.NDArray[np.float32], seed: int, threads: int) -> nested.Play:
    """Games that the net plays side by side, one for each temperature."""
    return nested.play(thinking(net), net.game.initial_state(), heat, seed, threads)


def search(
    game: Morpion, seeds: nested.Play, settings: Settings, seed: int, control: _native.Control | None = None
) -> nested.Found:
    """NRPA from the net's policy around each of the best games. It does not ask which dot of a line is the new one."""
    return nested.search(
        game.initial_state(), seeds, settings.searches, settings.level, settings.search_iterations, settings.prior,
        settings.unseen, seed, settings.threads, control, per=LENGTH,
    )  # fmt: skip


class Trees:
    """PUCT with the net on many games at once, or on one position. A game is worth +1 above the threshold, -1 below."""

    def __init__(self, net: Net, start: MorpionState, games: int, threshold: float, exploration: float = 1.5) -> None:
        self.net, self.games = net.eval(), games
        self.trees = _native.morpion.State.Puct(start, games, exploration, threshold)

    @torch.no_grad()
    def grow(self, simulations: int, walks: int = 8, threads: int = 1) -> None:
        """Play on until every root has the given number of simulations."""
        device = next(self.net.parameters()).device
        while any(self.trees.simulations(i) < simulations and not self.trees.over(i) for i in range(self.games)):
            planes, offsets, actions = self.trees.find_leaves(simulations, walks, threads)
            if len(planes) == 0:  # all walks came to ends of games
                self.trees.expand(np.empty(0, np.float32), np.empty(0, np.float32))
                continue
            positions = Positions.of(planes, offsets, actions, device)
            chances, value = positions.evaluate(self.net)
            priors = chances.exp()[positions.legal].cpu().numpy()
            self.trees.expand(priors, torch.tanh(value / 2).cpu().numpy())  # log-odds of z = +1 to the mean of z

    def play(self, simulations: int, threads: int = 1) -> list[list[int]]:
        """Play all games to their ends by the most visited move, keeping the tree below it. Of each tree, the best game
        it met, which may be a better one than was played."""
        while live := [i for i in range(self.games) if not self.trees.over(i)]:
            self.grow(simulations, threads=threads)
            for i in live:
                self.trees.apply(i, max(self.trees.moves(i), key=lambda move: (move[1], move[3]))[0])
        return [max(self.trees.best(i), self.trees.history(i), key=len) for i in range(self.games)]


@contextmanager
def deadline(seconds: float) -> Iterator[_native.Control]:
    """A control that stops its call when the time is up."""
    control = _native.Control()
    if seconds <= 0:
        control.stop()
    timer = threading.Timer(seconds, control.stop)
    timer.start()
    try:
        yield control
    finally:
        timer.cancel()


def temperatures(settings: Settings, seed: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(settings.coldest, 1, settings.games).astype(np.float32)


def search_with_net(net: Net, settings: Settings, seconds: float, seed: int) -> tuple[nested.Play, nested.Found]:
    """The net plays `settings.games` games, then NRPA searches from the best of them until the time is up."""
    begin = time.monotonic()
    played = play(net, temperatures(settings, seed), seed, settings.threads)
    with deadline(seconds - (time.monotonic() - begin)) as control:
        return played, search(net.game, played, settings, seed, control)


def search_without_net(game: Morpion, settings: Settings, seconds: float, seed: int) -> nested.Found:
    """The same searches from a policy that knows nothing, for as long."""
    count = 10**6  # more than there is time for
    with deadline(seconds) as control:
        runs = game.initial_state().nrpa(
            settings.level, settings.search_iterations, 1.0, 1, count, seed, settings.threads, control
        )
    return nested.Found.of(runs, np.zeros(count, np.float32))


# Learning


class Learner:
    """The net that learns, its optimizer, and the running mean of it that plays."""

    def __init__(self, settings: Settings, seed: int, device: torch.device) -> None:
        torch.manual_seed(seed)
        self.settings, self.device = settings, device
        self.net = Net(settings).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.mean = Net(settings).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.mean.load_state_dict(self.net.state_dict())
        self.optimizer = torch.optim.AdamW(self.net.parameters(), settings.learning_rate, weight_decay=1e-4)

    def learn(self, ranking: nested.Ranking, iteration_seed: int) -> dict[str, float]:
        """Gradient steps on positions of the ranked games; three of four from games with z = +1."""
        s, z = self.settings, ranking.rewards(self.settings.ratio, np.random.default_rng(iteration_seed))
        ranked = nested.Examples(self.net.game.initial_state(), ranking, z)

        def examples(step: int) -> tuple[Positions, torch.Tensor, torch.Tensor]:
            rng = np.random.default_rng((iteration_seed, step))
            planes, offsets, actions, wanted, won = ranked.draw(
                s.batch, rng, max(1, min(4, (s.threads or cores()) // 2))
            )
            positions = Positions.of(planes, offsets, actions, self.device)
            goal = torch.zeros(positions.legal.shape, device=self.device)
            goal[positions.legal] = torch.from_numpy(wanted).to(self.device).float()
            return positions, goal, torch.from_numpy(won.astype(np.float32)).to(self.device)

        self.net.train()
        policy_losses, value_losses = [], []
        with ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(examples, 0)
            for step in range(s.steps):
                positions, goal, is_won = coming.result()
                if step + 1 < s.steps:
                    coming = ahead.submit(examples, step + 1)
                chances, value = positions.evaluate(self.net)
                # The moves the game goes on with share the target; a lost game has none.
                share = goal / goal.sum(1, keepdim=True) * is_won[:, None]
                policy_loss = -(share * chances.masked_fill(~positions.legal, 0)).sum() / is_won.sum().clamp(min=1)
                value_loss = functional.binary_cross_entropy_with_logits(value, is_won)
                self.optimizer.zero_grad(set_to_none=True)
                (policy_loss + 0.5 * value_loss).backward()  # type: ignore[no-untyped-call]
                self.optimizer.step()
                self._average()
                policy_losses.append(policy_loss.detach())
                value_losses.append(value_loss.detach())
        return {
            "policy_loss": float(torch.stack(policy_losses).mean()),
            "value_loss": float(torch.stack(value_losses).mean()),
        }

    @torch.no_grad()
    def _average(self) -> None:
        mean, now = (
            [tensor for tensor in net.state_dict().values() if tensor.is_floating_point()]
            for net in (self.mean, self.net)
        )
        torch._foreach_lerp_(mean, now, 1 - self.settings.averaging)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything to resume from."""
        return nets.arrays(net=self.net, mean=self.mean, adam=self.optimizer)

    def load(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        nets.restore(arrays, net=self.net, mean=self.mean, adam=self.optimizer)


# Training


def train(game: Morpion, settings: Settings, run: Run) -> Iterator[Row]:
    """Train until `iterations` are done or, after one at least, the time is up; a row of metrics for each. Whatever
    ends it, the folder holds the last iteration's checkpoint, `model.safetensors` and the best game as `best.psol`."""
    seed, folder = run.seed, run.folder
    iterations, minutes = settings.iterations or 10**9, settings.minutes or math.inf
    begin = time.monotonic()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.deterministic = True
    torch.set_num_threads(1)  # without a GPU one core learns; the others search
    learner = Learner(settings, seed, device)
    game = learner.net.game
    ranking = nested.Ranking(game, settings.window)
    best: list[int] = []
    if arrays := run.restore():
        ends = arrays.pop("games.ends")
        games = [moves.tolist() for moves in np.split(arrays.pop("games.moves"), ends[:-1])]
        ranking.add(games, [float(len(moves)) for moves in games])
        best = arrays.pop("best").tolist()
        learner.load(arrays)
    writer = _tensorboard(folder)
    seconds_before = run.rows[-1]["seconds"] if run.rows else 0.0
    with ThreadPoolExecutor(1) as pool:
        for iteration in range(len(run.rows), iterations):
            start = time.monotonic()
            if run.rows and start - begin >= 60 * minutes:
                break
            play_seed, search_seed, learn_seed = (
                int(number) for number in np.random.SeedSequence((seed, iteration)).generate_state(3, np.uint32)
            )
            heat = temperatures(settings, play_seed)
            played = play(learner.mean, heat, play_seed, settings.threads)
            new = ranking.add(played.games, played.scores.tolist())
            played_at = time.monotonic()
            control = _native.Control()
            searching = pool.submit(search, game, played, settings, search_seed, control)
            try:
                losses = learner.learn(ranking, learn_seed)
                learned_at = time.monotonic()
                found = searching.result()
            except BaseException:
                control.stop()
                raise
            new_found = ranking.add(found.games, found.scores.tolist())
            best = max([best, *played.games, *found.games], key=len)
            now = time.monotonic()
            row: Row = {
                "iteration": iteration + 1,
                "progress": progress(iteration + 1, iterations, (time.monotonic() - begin) / 60, minutes),
                "seconds": round(seconds_before + now - begin, 2),
                "best": len(best),
                "threshold": int(ranking.threshold(settings.ratio)),
                "played_mean": float(played.scores.mean()),
                "played_best": int(played.scores.max()),
                "played_mean_by_heat": _means_by_third(
                    played.scores, (heat - settings.coldest) / (1 - settings.coldest)
                ),
                "played_new": new,
                "searched_mean": float(found.scores.mean()),
                "searched_best": int(found.scores.max()),
                "searched_mean_by_trust": _means_by_third(found.scores, found.trust / settings.prior),
                "searched_new": new_found,
                **losses,
                "playouts": found.playouts,
                "search_cpu_seconds": round(found.cpu_seconds, 2),
                "play_seconds": round(played_at - start, 2),
                "learn_seconds": round(learned_at - played_at, 2),
                "wait_seconds": round(now - learned_at, 2),
            }
            games = ranking.moves
            save_model(folder / "model.safetensors", learner.mean, settings, row)
            with replacing(folder / "best.psol") as file:
                file.write(record(game, best).encode())
            run.save(row, {
                **learner.arrays(),
                "games.moves": np.concatenate(games),
                "games.ends": np.cumsum([len(moves) for moves in games]),
                "best": np.array(best, np.int32),
            })  # fmt: skip
            if writer is not None:
                for name, value in row.items():
                    if not isinstance(value, list):
                        writer.add_scalar(name, value, iteration + 1)
            yield row


def progress(iteration: int, iterations: int, minutes: float, limit: float) -> float:
    """How far a run is that ends after a number of iterations or minutes, whichever comes first."""
    return min(1.0, max(iteration / iterations, minutes / limit))


def _means_by_third(scores: npt.NDArray[np.float64], share: npt.NDArray[np.float32]) -> list[float]:
    """The mean score of those with a share below a third, of the middle ones, and of the rest."""
    thirds = [scores[(share >= i / 3) & (share < (i + 1) / 3)] for i in range(3)]
    return [round(float(third.mean()), 2) if len(third) else 0.0 for third in thirds]


def _tensorboard(folder: Path) -> Any:
    """A writer of TensorBoard logs where that is installed, else None."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))


def record(game: Morpion, moves: list[int]) -> str:
    state = game.initial_state()
    for move in moves:
        state.apply(move)
    return state.psol()


def save_model(path: Path | str, net: Net, settings: Settings, row: Info) -> None:
    """Write the net that plays with what it takes to build and judge it."""
    nets.save_net(path, net, KIND, settings=json.dumps(asdict(settings)), metrics=json.dumps(row))


def load_model(path: Path | str, device: torch.device | None = None) -> tuple[Net, Settings, Info]:
    """Read what `save_model` wrote; a foreign or damaged file raises ValueError."""
    tensors, metadata = nets.load_net(path, KIND)
    settings: Settings = settings_from(Settings, json.loads(metadata["settings"]))
    net = Net(settings)
    net.load_state_dict(tensors)
    device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return net.to(device).eval(), settings, json.loads(metadata["metrics"])
