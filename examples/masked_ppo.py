"""Masked PPO in one file, on many games side by side: `rookery.vector` plays, PyTorch learns.

    python examples/masked_ppo.py --game tenten --variant 4x4-seven --steps 400000
    python examples/masked_ppo.py --game solitaire-chess --starts random --reward-scale 1 --steps 200000
    python examples/masked_ppo.py --game checkers --opponent random --reward-scale 1

The net sees the arrays of the environments themselves: `torch.from_numpy` copies nothing, and every step writes into
the same memory. What is kept for learning is copied once, into the storage of the rollout.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from torch import Tensor, nn

import rookery as rk


@dataclass(frozen=True)
class Settings:
    game: str = "tenten"
    """A game by name, or a file of yours."""
    variant: str | None = None
    """A variant of the game."""
    opponent: str | None = None
    """The agent on the other side of a game for two."""
    starts: str = "initial"
    """Where games begin: "initial" or "random"."""
    steps: int = 400_000
    """Actions in all games together."""
    games: int = 256
    """Games side by side."""
    rollout: int = 32
    """Steps per game between two updates."""
    epochs: int = 4
    """Passes over a rollout."""
    minibatch: int = 1024
    """Positions per gradient step."""
    learning_rate: float = 1e-3
    """Learning rate at the start; it falls to zero."""
    discount: float = 0.99
    """Discount of future rewards."""
    trace: float = 0.95
    """Lambda of the generalised advantage estimate."""
    clip: float = 0.2
    """How far the probability of an action may change per update."""
    entropy: float = 0.01
    """Weight of the entropy."""
    reward_scale: float = 0.02
    """Factor on the rewards, so that returns are of the order of one to ten."""
    width: int = 128
    """Neurons per layer."""
    seed: int = 0
    """Random seed."""


class Net(nn.Module):
    """A policy and a value from one body."""

    def __init__(self, game: rk.Game, width: int) -> None:
        super().__init__()
        numbers = int(np.prod(game.observation_shape))
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(numbers, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.policy, self.value = nn.Linear(width, game.num_actions), nn.Linear(width, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)

    def forward(self, observation: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The log probabilities of the actions, `[batch, actions]`, and the values, `[batch]`."""
        body = self.body(observation)
        logits = self.policy(body).masked_fill(~mask, -1e9)
        return torch.log_softmax(logits, 1), self.value(body).squeeze(1)


def train(settings: Settings, show: bool = True) -> Net:
    """Train a net; with `show`, print a line every few updates."""
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)  # the net is small
    game = rk.load(settings.game, settings.variant)
    envs = rk.vector(game, settings.games, settings.seed, starts=settings.starts, opponent=settings.opponent)
    if envs.reward.shape[1] > 1:
        raise ValueError(f"{game.name} has two players: name an opponent, such as --opponent random")
    seen, mask = torch.from_numpy(envs.observation), torch.from_numpy(envs.mask)
    reward, done = torch.from_numpy(envs.reward)[:, 0], torch.from_numpy(envs.done)

    net = Net(game, settings.width)
    optimizer = torch.optim.Adam(net.parameters(), settings.learning_rate, eps=1e-5)
    size = (settings.rollout, settings.games)
    kept_seen, kept_mask = torch.empty(*size, *seen.shape[1:]), torch.empty(*size, mask.shape[1], dtype=torch.bool)
    actions, logs, values = torch.empty(size, dtype=torch.int64), torch.empty(size), torch.empty(size)
    rewards, ends = torch.empty(size), torch.empty(size)
    finished, returns, gained = 0, 0.0, torch.zeros(settings.games)
    updates = max(1, settings.steps // (settings.rollout * settings.games))
    begin = time.perf_counter()

    for update in range(updates):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - update / updates)

        for t in range(settings.rollout):
            with torch.no_grad():
                log, values[t] = net(seen, mask)
            actions[t] = torch.multinomial(log.exp(), 1).squeeze(1)
            logs[t] = log.gather(1, actions[t, :, None]).squeeze(1)
            kept_seen[t], kept_mask[t] = seen, mask
            envs.step(actions[t].numpy())
            rewards[t], ends[t] = reward * settings.reward_scale, done
            gained += reward
            finished, returns = finished + int(done.sum()), returns + float(gained[done].sum())
            gained[done] = 0

        # A game that ended has begun again, so its last value is that of another game: `ends` cuts it off.
        advantages, advantage = torch.empty(size), torch.zeros(settings.games)
        with torch.no_grad():
            following = net(seen, mask)[1]
        for t in reversed(range(settings.rollout)):
            goes_on = 1 - ends[t]
            error = rewards[t] + settings.discount * following * goes_on - values[t]
            advantage = error + settings.discount * settings.trace * goes_on * advantage
            advantages[t], following = advantage, values[t]
        targets = advantages + values

        flat = [x.flatten(0, 1) for x in (kept_seen, kept_mask, actions, logs, advantages, targets)]
        for _ in range(settings.epochs):
            for rows in torch.split(torch.randperm(len(flat[0])), settings.minibatch):
                some_seen, some_mask, action, old_log, advantage_of, target = (x[rows] for x in flat)
                log, value = net(some_seen, some_mask)
                ratio = (log.gather(1, action[:, None]).squeeze(1) - old_log).exp()
                better = (advantage_of - advantage_of.mean()) / (advantage_of.std() + 1e-8)
                clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
                policy_loss = -torch.minimum(ratio * better, clipped * better).mean()
                value_loss = 0.5 * (value - target).square().mean()
                entropy = -(log.exp() * log).sum(1).mean()
                optimizer.zero_grad()
                (policy_loss + 0.5 * value_loss - settings.entropy * entropy).backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()

        if show and (update % 10 == 9 or update == updates - 1):
            steps, seconds = (update + 1) * settings.rollout * settings.games, time.perf_counter() - begin
            mean = f"mean return {returns / finished:.2f} of {finished} games" if finished else "no game ended"
            print(f"{steps:>9,} steps  {seconds:6.1f} s  {mean}")
            finished, returns = 0, 0.0
    return net


@torch.no_grad()
def play(net: Net | None, settings: Settings, games: int = 1000, most: int = 5000) -> tuple[float, float]:
    """The mean length and the mean return of one game in each of the environments, with the likeliest actions.

    Without a net they are played at random. Games that have not ended after `most` steps count as they stand.
    """
    game = rk.load(settings.game, settings.variant)
    envs = rk.vector(game, games, settings.seed + 1, starts=settings.starts, opponent=settings.opponent)
    seen, mask = torch.from_numpy(envs.observation), torch.from_numpy(envs.mask)
    lengths, returns, going = np.zeros(games), np.zeros(games), np.ones(games, bool)
    while going.any() and lengths.max() < most:
        envs.step(envs.sample() if net is None else net(seen, mask)[0].argmax(1).numpy())
        lengths += going
        returns += going * envs.reward[:, 0]
        going &= ~envs.done
    return float(lengths.mean()), float(returns.mean())


def main(settings: Settings) -> None:
    print("random: mean length {:.1f}, mean return {:.2f}".format(*play(None, settings)))
    net = train(settings)
    print("trained: mean length {:.1f}, mean return {:.2f}".format(*play(net, settings)))


if __name__ == "__main__":
    main(tyro.cli(Settings))
