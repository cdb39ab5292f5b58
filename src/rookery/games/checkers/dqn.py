"""Deep Q-learning of checkers by self-play, which the Prior State Voting paper proposes to compare with. Needs PyTorch
(`pip install 'rookery[deep]'`).

A net takes a position as the side to move sees it and gives a value for every first step or jump: 32 squares times four
directions. Many games are played at once, epsilon-greedily; positions go to a memory; the value of a move is learned to
be what it brings, +1 for a win and -1 for a loss, or less the discounted best value that the opponent has after it.
Read from top to bottom: settings, positions as arrays, the net, the memory, playing, learning, training, files.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from rookery import run as runs
from rookery._native import checkers as native
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action
from rookery.learn import nets
from rookery.method import check_at_least
from rookery.run import Row, Run, duration

KIND = "checkers dqn"
MODEL = "model.npz"
CHECKPOINT_EVERY = 1000
"""Steps; about ten seconds."""
Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Settings:
    """All that decides what is learned, with the seed and the number of steps."""

    width: int = 256
    """Units of each of the two hidden layers."""
    games: int = 64
    """Games played at once; each makes one move before every step of learning."""
    epsilon: float = 0.1
    """Share of random moves."""
    batch: int = 256
    """Moves per gradient step."""
    learning_rate: float = 1e-3
    """Learning rate of the optimizer."""
    discount: float = 0.99
    """Discount."""
    memory: int = 200_000
    """Moves remembered; new ones take the place of the oldest."""
    target_every: int = 200
    """Steps after which the target net becomes a copy of the net."""
    steps: int = duration(10_000)
    """Gradient steps; 10,000 take about two minutes."""

    def __post_init__(self) -> None:
        check_at_least(self, 1, "width", "games", "batch", "memory", "target_every", "steps")


# Positions as arrays. A position is seen by the side to move: White's is turned round, so that own men go down.

_KEY = np.dtype([("black", "<u4"), ("white", "<u4"), ("kings", "<u4"), ("side", "u1")])


def features(keys: bytes) -> Bits:
    """Own men, own kings, the other's men and kings: `[positions, 4, 32]` of 0 and 1."""
    rows = np.frombuffer(keys, _KEY)
    black, white, kings = (_unpack(np.ascontiguousarray(rows[name])) for name in ("black", "white", "kings"))
    planes = np.stack([black & ~kings & 1, black & kings, white & ~kings & 1, white & kings], axis=1)
    turned = planes[:, (2, 3, 0, 1), ::-1]
    return np.where(rows["side"][:, None, None] == 0, planes, turned)


def legal_moves(keys: bytes) -> npt.NDArray[np.bool_]:
    """Whether a legal move starts in a direction from a square: `[positions, 4, 32]`."""
    rows = np.frombuffer(keys, _KEY)
    columns = [np.ascontiguousarray(rows[name]) for name in ("black", "white", "kings", "side")]
    starts = _unpack(native.first_moves(*columns))
    return np.where(rows["side"][:, None, None] == 0, starts, starts[:, ::-1, ::-1]).astype(np.bool_)


def _unpack(words: npt.NDArray[np.uint32]) -> Bits:
    """The 32 bits of every word, lowest first, on an axis of their own."""
    return np.unpackbits(words.view(np.uint8).reshape(*words.shape, 4), axis=-1, bitorder="little")


_DIRECTIONS = {(1, -1): 0, (1, 1): 1, (-1, -1): 2, (-1, 1): 3}


def move_number(action: int, side: int) -> int:
    """Which of the net's 128 outputs an action is: 32 * direction + square, turned round for White. Captures that begin
    with the same jump share one."""
    number = _outputs()[action]
    return number if side == 0 else 127 - number


@cache
def _outputs() -> list[int]:
    """The output of every action as Black plays it."""
    paths = [decode_action(action)[0] for action in range(Checkers().num_actions)]
    return [32 * _first_direction(path[0] - 1, path[1] - 1) + path[0] - 1 for path in paths]


def _first_direction(here: int, there: int) -> int:
    def column(cell: int) -> int:
        return 2 * (cell % 4) + (cell // 4 % 2 == 0)

    return _DIRECTIONS[(there // 4 > here // 4) * 2 - 1, (column(there) > column(here)) * 2 - 1]


class Net(nn.Module):
    """Values of the 128 moves, `[positions, 128]`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(128, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 128)
        )

    def forward(self, planes: Bits) -> torch.Tensor:
        values: torch.Tensor = self.layers(torch.from_numpy(planes.reshape(len(planes), 128)).float())
        return values


class Memory:
    """The moves made last: position, move, and either the position after it or the mover's result."""

    def __init__(self, size: int) -> None:
        self.before, self.after = np.zeros((size, 13), np.uint8), np.zeros((size, 13), np.uint8)
        self.move = np.zeros(size, np.int64)
        self.result = np.zeros(size, np.float32)
        self.over = np.zeros(size, np.bool_)
        self.seen = 0

    def add(self, before: bytes, move: int, after: bytes, result: float | None) -> None:
        i = self.seen % len(self.move)
        self.before[i], self.after[i] = np.frombuffer(before, np.uint8), np.frombuffer(after, np.uint8)
        self.move[i], self.result[i], self.over[i] = move, result or 0.0, result is not None
        self.seen += 1

    def __len__(self) -> int:
        return min(self.seen, len(self.move))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "before": self.before, "after": self.after, "move": self.move, "result": self.result, "over": self.over,
        }  # fmt: skip


@torch.no_grad()
def choose(net: Net, states: Sequence[CheckersState], epsilon: float, rng: np.random.Generator) -> list[int]:
    """An action for every state: the best, or with probability epsilon a random one."""
    keys = b"".join(state.key() for state in states)
    values = net(features(keys)).numpy()
    at_random = rng.random(len(states)) < epsilon
    chosen = []
    for state, row, random in zip(states, values, at_random, strict=True):
        actions = state.legal_actions()
        if random:
            chosen.append(actions[rng.integers(len(actions))])
        else:
            chosen.append(max(actions, key=lambda action: row[move_number(action, state.side)]))
    return chosen


def learn(
    net: Net, target_net: Net, optimizer: torch.optim.Optimizer, memory: Memory, s: Settings, rng: np.random.Generator
) -> float:
    """One step; returns the loss."""
    picked = rng.integers(len(memory), size=s.batch)
    after = memory.after[picked].tobytes()
    with torch.no_grad():
        replies = target_net(features(after))
        replies[torch.from_numpy(~legal_moves(after).reshape(-1, 128))] = -torch.inf
        best_reply = replies.amax(dim=1)
        over = torch.from_numpy(memory.over[picked])
        targets = torch.where(over, torch.from_numpy(memory.result[picked]), -s.discount * best_reply)
    values = net(features(memory.before[picked].tobytes()))
    values = values.gather(1, torch.from_numpy(memory.move[picked])[:, None]).squeeze(1)
    loss = functional.smooth_l1_loss(values, targets)
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return float(loss.detach())


@dataclass(frozen=True)
class Progress:
    steps: int
    games: int
    """Finished."""
    seconds: float
    """CPU time of training so far."""
    loss: float
    """Mean of the last 100 steps."""


class Trainer:
    """The same seed and number of steps give the same net on the same machine, stopped and resumed or not."""

    def __init__(self, game: Checkers, settings: Settings, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.game, self.settings = game, settings
        self.rng = np.random.default_rng(seed)
        self.net, self.target_net = Net(settings.width), Net(settings.width)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=settings.learning_rate)
        self.memory = Memory(settings.memory)
        self.states = [game.initial_state() for _ in range(settings.games)]
        self.played: list[list[int]] = [[] for _ in self.states]
        """The actions that led to each state."""
        self.losses: list[float] = []
        """Losses of the last steps."""
        self.steps = self.finished = 0
        self.seconds = 0.0

    def play(self) -> None:
        """One move in every game; a finished one begins again."""
        for i, action in enumerate(choose(self.net, self.states, self.settings.epsilon, self.rng)):
            state = self.states[i]
            before, side = state.key(), state.side
            state.apply(action)
            self.played[i].append(action)
            over = state.player() < 0
            result = state.returns()[side] if over else None
            self.memory.add(before, move_number(action, side), state.key(), result)
            if over:
                self.states[i], self.played[i] = self.game.initial_state(), []
                self.finished += 1

    def train(self, steps: float = math.inf, seconds: float = math.inf) -> Iterator[Progress]:
        """Learn for a number of steps or seconds of CPU time; yields after every 100 steps and at the end."""
        s, begin = self.settings, time.process_time() - self.seconds
        while len(self.memory) < 20 * s.batch:
            self.play()
        while self.steps < steps and self.seconds < seconds:
            if self.steps % s.target_every == 0:
                self.target_net.load_state_dict(self.net.state_dict())
            self.play()
            loss = learn(self.net, self.target_net, self.optimizer, self.memory, s, self.rng)
            self.losses = [*self.losses[-99:], loss]
            self.steps += 1
            self.seconds = time.process_time() - begin
            if self.steps % 100 == 0 or self.steps >= steps or self.seconds >= seconds:
                yield Progress(self.steps, self.finished, self.seconds, float(np.mean(self.losses)))

    def _parts(self) -> dict[str, nets.Part]:
        return {"net": self.net, "target": self.target_net, "optimizer": self.optimizer}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What training resumes from, beside the last row of metrics."""
        random = json.dumps(self.rng.bit_generator.state).encode()
        return nets.arrays(**self._parts()) | {
            **{f"memory.{name}": array[: len(self.memory)] for name, array in self.memory.arrays().items()},
            "seen": np.array(self.memory.seen),
            "played": np.concatenate([np.array(actions, np.int64) for actions in self.played]),
            "lengths": np.array([len(actions) for actions in self.played]),
            "losses": np.array(self.losses),
            "rng": np.frombuffer(random, np.uint8),
        }

    def restore(self, saved: Mapping[str, npt.NDArray[Any]], last: Progress) -> None:
        """Go on from what `arrays` gave after the given row."""
        nets.restore(saved, **self._parts())
        self.steps, self.finished, self.seconds = last.steps, last.games, last.seconds
        self.losses, self.memory.seen = saved["losses"].tolist(), int(saved["seen"])
        for name, array in self.memory.arrays().items():
            array[: len(self.memory)] = saved[f"memory.{name}"]
        self.rng.bit_generator.state = json.loads(saved["rng"].tobytes())
        ends = np.cumsum(saved["lengths"])[:-1]
        self.played = [actions.tolist() for actions in np.split(saved["played"], ends)]
        for state, actions in zip(self.states, self.played, strict=True):
            for action in actions:
                state.apply(action)


def play_against_random(net: Net, game: Checkers, games: int, seed: int) -> npt.NDArray[np.int8]:
    """The net's results, 1, 0 or -1: all games at once, half of them with each colour. The net plays without chance."""
    rng = np.random.default_rng(seed)
    states = [game.initial_state() for _ in range(games)]
    results = np.zeros(games, np.int8)
    while running := [i for i in range(games) if states[i].player() >= 0]:
        ours = [i for i in running if states[i].side == i % 2]
        for i, action in zip(ours, choose(net, [states[i] for i in ours], 0.0, rng) if ours else (), strict=True):
            states[i].apply(action)
        for i in set(running) - set(ours):
            actions = states[i].legal_actions()
            states[i].apply(actions[rng.integers(len(actions))])
    for i, state in enumerate(states):
        results[i] = int(state.returns()[i % 2])
    return results


@torch.no_grad()
def values(net: Net, state: CheckersState) -> dict[int, float]:
    """What the net thinks of every legal action."""
    row = net(features(state.key())).numpy()[0]
    return {action: float(row[move_number(action, state.side)]) for action in state.legal_actions()}


def save(net: Net, path: Path | str, info: dict[str, Any]) -> None:
    arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    runs.save_model(path, {"kind": KIND, **info}, arrays)


def load(path: Path | str) -> Net:
    """Read a file of `save`."""
    info, arrays = runs.load_arrays(path, KIND)
    try:
        net = Net(Settings(**info["settings"]).width)
        net.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    except (KeyError, TypeError, RuntimeError) as error:
        raise ValueError(f"{path} does not hold a net for checkers: {' '.join(str(error).split())}") from None
    return net


def train(game: Checkers, settings: Settings, run: Run) -> Iterator[Row]:
    """Learn for `settings.steps` gradient steps."""
    trainer = Trainer(game, settings, run.seed)
    if (saved := run.restore()) is not None:
        trainer.restore(saved, Progress(**{name: run.rows[-1][name] for name in ("steps", "games", "loss", "seconds")}))
    for point in trainer.train(settings.steps):
        row = asdict(point) | {"progress": point.steps / settings.steps}
        if point.steps % CHECKPOINT_EVERY == 0 or point.steps >= settings.steps:
            info = {"settings": asdict(settings), "seed": run.seed, "steps": trainer.steps}
            save(trainer.net, run.folder / MODEL, info)
            run.save(row, trainer.arrays())
        yield row
