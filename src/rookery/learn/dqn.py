"""Deep Q-learning of any game. Needs PyTorch (`pip install 'rookery[deep]'`).

A net takes the observation of a position and gives a value for every action, of which only the legal ones count. Many
games are played at once, by the net against itself or alone; their moves go to a memory. A move is learned to be worth
what it earns and, discounted, the best value of the position after it: for the player if he moves there again, against
him if his opponent does. The best action is picked by the net that learns and valued by a copy that follows it (double
Q-learning). Read from top to bottom: settings, the net, the memory, playing and learning, training, the agent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from rookery.agents import Agent
from rookery.environments import Vector, vector
from rookery.game import Game, State
from rookery.learn import nets
from rookery.method import check_at_least, check_shares
from rookery.run import Row, Run, as_json, duration, settings_from

MODEL = "model.safetensors"
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed."""

    steps: int = duration(10_000)
    """Gradient steps."""
    games: int = 64
    """Games played at once; each makes one move before every step of learning."""
    net: Literal["mlp", "conv"] = "mlp"
    """Hidden layers that see everything, or convolutions over the board."""
    width: int = 256
    """Units, or channels, of every layer."""
    layers: int = 2
    """Hidden layers."""
    epsilon: float = 1.0
    """Share of random moves at the start."""
    last_epsilon: float = 0.3
    """Share of random moves in the second half of the training; in the first it changes evenly."""
    batch: int = 256
    """Moves per gradient step."""
    learning_rate: float = 1e-3
    """Learning rate at the start; in the second half of the training it falls to a tenth."""
    discount: float = 0.99
    """Discount."""
    memory: int = 100_000
    """Moves remembered; new ones take the place of the oldest."""
    target_every: int = 200
    """Steps after which the target net becomes a copy of the net."""
    starts: Literal["initial", "random"] = "initial"
    """Where games begin: in the initial position, or in a random start of the game."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "steps", "games", "width", "layers", "batch", "memory", "target_every")
        check_shares(self, "epsilon", "last_epsilon", "discount")


class Net(nn.Module):
    """Values of all actions, `[positions, num_actions]`."""

    def __init__(self, game: Game, settings: Settings) -> None:
        super().__init__()
        shape, width = game.observation_shape, settings.width
        size = int(np.prod(shape))
        layers: list[nn.Module] = []
        if settings.net == "conv":
            if len(shape) != 3:
                raise ValueError(f"convolutions need a board of rows and columns, and {game.name} has none")
            for i in range(settings.layers):
                layers += [nn.Conv2d(width if i else shape[0], width, 3, padding=1), nn.ReLU()]
            layers += [nn.Flatten(), nn.Linear(width * shape[1] * shape[2], width), nn.ReLU()]
        else:
            layers.append(nn.Flatten())
            for i in range(settings.layers):
                layers += [nn.Linear(width if i else size, width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(width, game.num_actions))

    def forward(self, seen: Tensor) -> Tensor:
        values: Tensor = self.layers(seen.float())
        return values


def best_legal(values: Tensor, mask: Tensor) -> Tensor:
    """The legal action of greatest value in every row."""
    return values.masked_fill(~mask, -torch.inf).argmax(dim=1)


class Memory:
    """The moves made last."""

    def __init__(self, size: int, seen: Array, mask: Array) -> None:
        self.before = np.zeros((size, *seen.shape[1:]), seen.dtype)
        self.after = np.zeros_like(self.before)
        self.legal = np.zeros((size, (mask.shape[1] + 7) // 8), np.uint8)
        """After the move, as bits."""
        self.action = np.zeros(size, np.int64)
        self.reward = np.zeros(size, np.float32)
        """Of who made the move."""
        self.follows = np.zeros(size, np.float32)
        """1 if he moves again, -1 if his opponent does, 0 if the game is over."""
        self.seen = 0

    def __len__(self) -> int:
        return min(self.seen, len(self.action))

    def arrays(self) -> dict[str, Array]:
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    def add(self, **rows: Array) -> None:
        """A move of every game."""
        at = (self.seen + np.arange(len(rows["action"]))) % len(self.action)
        for name, values in rows.items():
            getattr(self, name)[at] = values
        self.seen += len(at)


class Trainer:
    """The same seed and settings give the same net on the same machine, stopped and resumed or not."""

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        torch.set_num_threads(1)  # the nets are small
        torch.manual_seed(seed)
        self.game, self.settings = game, settings
        self.rng = np.random.default_rng(seed)
        self.scale = reward_scale(game, seed)
        self.envs = side_by_side(game, settings.games, seed, settings.starts)
        self.net, self.target_net = Net(game, settings), Net(game, settings)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.learning_rate)
        self.memory = Memory(max(settings.memory, settings.games), self.envs.observation, self.envs.mask)
        self.gained = np.zeros(settings.games)
        """What player 0 has earned in the current games."""
        self.steps, self.losses, self.returns = 0, list[float](), list[float]()

    def schedule(self) -> tuple[float, float]:
        """The share of random moves, and the learning rate."""
        s, done = self.settings, self.steps / self.settings.steps
        explored, tuned = min(1.0, 2 * done), max(0.0, 2 * done - 1)
        return s.epsilon + (s.last_epsilon - s.epsilon) * explored, s.learning_rate * (1 - 0.9 * tuned)

    def play(self, epsilon: float) -> None:
        """One move in every game."""
        envs = self.envs
        before, player = envs.observation.copy(), envs.player.copy()
        with torch.no_grad():
            chosen = best_legal(self.net(torch.from_numpy(before)), torch.from_numpy(envs.mask)).numpy()
        at_random = self.rng.random(len(envs)) < epsilon
        actions = np.where(at_random, envs.sample(), chosen)
        envs.step(actions)
        reward = envs.reward[np.arange(len(envs)), player] * self.scale
        follows = np.where(envs.done, 0, np.where(envs.player == player, 1, -1))
        self.memory.add(
            before=before, after=envs.observation, legal=np.packbits(envs.mask, axis=1), action=actions,
            reward=reward, follows=follows,
        )  # fmt: skip
        self.gained += envs.reward[:, 0]
        self.returns = [*self.returns, *self.gained[envs.done]][-200:]
        self.gained[envs.done] = 0

    def learn(self, learning_rate: float) -> float:
        """One gradient step; returns the loss."""
        memory, s = self.memory, self.settings
        self.optimizer.param_groups[0]["lr"] = learning_rate
        picked = self.rng.integers(len(memory), size=s.batch)
        after = torch.from_numpy(memory.after[picked])
        legal = np.unpackbits(memory.legal[picked], axis=1, count=self.game.num_actions).astype(np.bool_)
        with torch.no_grad():
            best = best_legal(self.net(after), torch.from_numpy(legal))
            then = self.target_net(after).gather(1, best[:, None]).squeeze(1)
            follows = torch.from_numpy(memory.follows[picked])
            targets = torch.from_numpy(memory.reward[picked]) + s.discount * follows * then
        values = self.net(torch.from_numpy(memory.before[picked]))
        values = values.gather(1, torch.from_numpy(memory.action[picked])[:, None]).squeeze(1)
        loss = functional.smooth_l1_loss(values, targets)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return float(loss.detach())

    def step(self) -> None:
        """Play one move in every game and learn one step."""
        epsilon, learning_rate = self.schedule()
        while len(self.memory) < min(20 * self.settings.batch, self.settings.memory):
            self.play(1.0)
        if self.steps % self.settings.target_every == 0:
            self.target_net.load_state_dict(self.net.state_dict())
        self.play(epsilon)
        self.losses = [*self.losses[-99:], self.learn(learning_rate)]
        self.steps += 1

    def _parts(self) -> dict[str, nets.Part]:
        return {"net": self.net, "target": self.target_net, "optimizer": self.optimizer}

    def arrays(self) -> dict[str, Array]:
        """What training resumes from."""
        return nets.arrays(**self._parts()) | {
            **{f"memory.{name}": array[: len(self.memory)] for name, array in self.memory.arrays().items()},
            **{f"games.{name}": array for name, array in self.envs.save().items()},
            "counts": np.array([self.steps, self.memory.seen]),
            "losses": np.array(self.losses), "returns": np.array(self.returns), "gained": self.gained,
            "rng": np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, Array]) -> None:
        """Go on from what `arrays` gave."""
        nets.restore(saved, **self._parts())
        self.steps, self.memory.seen = map(int, saved["counts"])
        self.losses, self.returns = saved["losses"].tolist(), saved["returns"].tolist()
        self.gained = saved["gained"].copy()
        for name, array in self.memory.arrays().items():
            array[: len(self.memory)] = saved[f"memory.{name}"]
        prefix = "games."
        self.envs.restore({n.removeprefix(prefix): array for n, array in saved.items() if n.startswith(prefix)})
        self.rng.bit_generator.state = json.loads(saved["rng"].tobytes())


def side_by_side(game: Game, games: int, seed: int, starts: str) -> Vector:
    """Environments that show positions as bytes if the game can be shown so."""
    try:
        return vector(game, games, seed, threads=1, starts=starts, dtype="uint8")
    except ValueError:
        return vector(game, games, seed, threads=1, starts=starts)


def reward_scale(game: Game, seed: int) -> float:
    """A factor that makes the largest return of random games one."""
    largest = float(np.abs(game.random_games(200, seed).returns).max())
    return 1 / largest if largest > 0 else 1.0


ROW_EVERY = 100
CHECKPOINT_SECONDS = 60.0


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn for `settings.steps` gradient steps."""
    trainer = Trainer(game, settings, run.seed)
    if (saved := run.restore()) is not None:
        trainer.restore(saved)
    begin, before = time.process_time(), run.rows[-1]["seconds"] if run.rows else 0.0
    last_save = time.monotonic()
    while trainer.steps < settings.steps:
        trainer.step()
        if trainer.steps % ROW_EVERY and trainer.steps < settings.steps:
            continue
        row: Row = {
            "steps": trainer.steps, "loss": float(np.mean(trainer.losses)),
            "mean_return": float(np.mean(trainer.returns)) if trainer.returns else None,
            "seconds": round(before + time.process_time() - begin, 2), "progress": trainer.steps / settings.steps,
        }  # fmt: skip
        if trainer.steps >= settings.steps or time.monotonic() - last_save > CHECKPOINT_SECONDS:
            save(trainer, run.folder / MODEL, run.kind)
            run.save(row, trainer.arrays())
            last_save = time.monotonic()
        else:
            run.add(row)
        yield row


def save(trainer: Trainer, path: Path | str, kind: str) -> None:
    settings = json.dumps(as_json(trainer.settings))
    nets.save_net(path, trainer.net, kind, settings=settings, scale=repr(trainer.scale))


class DqnAgent(Agent):
    """Plays the action that the net values most."""

    def __init__(self, net: Net, scale: float) -> None:
        self.net, self.scale = net.eval(), scale

    @torch.no_grad()
    def values(self, state: State) -> dict[int, float]:
        """What the player to move still earns after every action, discounted."""
        row = self.net(torch.from_numpy(state.observation()[None]))[0] / self.scale
        return {action: float(row[action]) for action in state.legal_actions()}


def load(game: Game, path: Path | str) -> DqnAgent:
    """The agent of a file that training wrote."""
    tensors, metadata = nets.load_net(path, f"{game.name} dqn")
    try:
        net = Net(game, settings_from(Settings, json.loads(metadata["settings"])))
        net.load_state_dict(tensors)
        return DqnAgent(net, float(metadata["scale"]))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} does not hold a net for {game.name}: {' '.join(str(error).split())}") from None
