"""Nets and optimizers as plain arrays for checkpoints, and nets in safetensors files. Needs PyTorch.

>>> import torch
>>> layer, copy = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
>>> restore(arrays(net=layer), net=copy)
>>> bool((layer.weight == copy.weight).all())
True
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_eval

from rookery.files import replacing

Part = nn.Module | torch.optim.Optimizer


class ResidualBlock(nn.Module):
    """Two convolutions over a board, added to what came in."""

    folds = (("conv1", "norm1"), ("conv2", "norm2"))

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norm1(self.conv1(x)))
        return functional.relu(x + self.norm2(self.conv2(y)))


Net = TypeVar("Net", bound=nn.Module)


def folded(net: Net) -> Net:
    """A copy for use, not for training, with its norms folded into the convolutions before them.

    A module says in `folds` which of its convolutions and norms belong together.
    """
    copied = copy.deepcopy(net).eval()
    for module in copied.modules():
        for conv, norm in getattr(module, "folds", ()):
            setattr(module, conv, fuse_conv_bn_eval(getattr(module, conv), getattr(module, norm)))
            setattr(module, norm, nn.Identity())
    return copied


def padded(
    offsets: npt.NDArray[np.int64], actions: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The legal actions of each position in a row `[positions, most]`, zeros after them, and which of them count."""
    counts = np.diff(offsets)
    legal = np.arange(max(1, int(counts.max(initial=1)))) < counts[:, np.newaxis]
    rows = np.zeros(legal.shape, np.int64)
    rows[legal] = actions
    return rows, legal


def check_device(device: str) -> None:
    """Refuse what is no name of a device.

    >>> check_device("cpu")
    >>> check_device("the fast one")
    Traceback (most recent call last):
    ...
    ValueError: PyTorch knows no device 'the fast one'; expected cpu, cuda or another of its names
    """
    try:
        torch.device(device)
    except RuntimeError:
        message = f"PyTorch knows no device {device!r}; expected cpu, cuda or another of its names"
        raise ValueError(message) from None


def arrays(**parts: Part) -> dict[str, npt.NDArray[Any]]:
    """Everything in nets and optimizers, under names that begin with the part's own."""
    found: dict[str, torch.Tensor] = {}
    for part, thing in parts.items():
        if isinstance(thing, nn.Module):
            found |= {f"{part}.{name}": tensor for name, tensor in thing.state_dict().items()}
        else:
            for number, state in thing.state_dict()["state"].items():
                found |= {f"{part}.{number}.{name}": tensor for name, tensor in state.items()}
    return {name: tensor.detach().cpu().numpy() for name, tensor in found.items()}


def restore(saved: Mapping[str, npt.NDArray[Any]], **parts: Part) -> None:
    """Put back what `arrays` gave."""

    def under(prefix: str) -> dict[str, torch.Tensor]:
        found = {name.removeprefix(prefix): array for name, array in saved.items() if name.startswith(prefix)}
        return {name: torch.from_numpy(array.copy()) for name, array in found.items()}

    for part, thing in parts.items():
        if isinstance(thing, nn.Module):
            thing.load_state_dict(under(f"{part}."))
        else:
            state = thing.state_dict()
            count = sum(len(group["params"]) for group in state["param_groups"])
            state["state"] = {number: found for number in range(count) if (found := under(f"{part}.{number}."))}
            thing.load_state_dict(state)


def save_net(path: Path | str, net: nn.Module, kind: str, **metadata: str) -> None:
    """Write a net with its kind and what else it takes to build it."""
    tensors = {name: tensor.cpu().contiguous() for name, tensor in net.state_dict().items()}
    with replacing(path) as file:
        file.write(safetensors.torch.save(tensors, {"kind": kind, **metadata}))


def kind_of(path: Path | str) -> str:
    """The kind of net that `save_net` wrote into a file; ValueError if there is none."""
    try:
        with safetensors.safe_open(path, "pt") as file:
            return str((file.metadata() or {}).get("kind", ""))
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (safetensors.SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a net written by Rookery, or is damaged: {error}") from None


def load_net(path: Path | str, kind: str) -> tuple[dict[str, torch.Tensor], dict[str, str]]:
    """The tensors and the metadata that `save_net` wrote; a foreign or damaged file raises ValueError."""
    try:
        with safetensors.safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a net written by Rookery, or is damaged: {error}") from None
    if metadata.get("kind") != kind:
        raise ValueError(f"{path} holds {metadata.get('kind')!r}, not {kind!r}")
    return tensors, metadata
