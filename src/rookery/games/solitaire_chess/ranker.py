"""The learned ranking of captures in Solitaire Chess: loading, saving and using it. Needs no PyTorch.

>>> import rookery
>>> game = rookery.load("solitaire-chess")
>>> state = game.parse_state("R.../.B../..N./P...")
>>> ranker = load(shipped(game))
>>> best, score = max(ranker.rank(state), key=lambda move: move[1])
>>> state.action_name(best), score > 0
('Ra4xa1', True)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from rookery._native.solitaire_chess import CaptureRanker
from rookery.files import replacing
from rookery.games.solitaire_chess import MODELS
from rookery.games.solitaire_chess.rules import SolitaireChess

METHODS = ("paper-dqn", "dqn", "taught")
"""How the shipped weights were trained: from play alone as the paper describes it or as we improved it, or from exact
answers."""


def shipped(game: SolitaireChess, method: str | None = None) -> Path:
    """The shipped weights for a game, the best ones if no method is asked for. Those for limited captures were trained
    on 8x8 Solo Chess, from play alone; the others on 4x4."""
    if game.max_captures:
        if method not in (None, "dqn"):
            raise ValueError(f"there are no {method} weights for boards with limited captures, only dqn")
        return MODELS / "solo-8x8-dqn.safetensors"
    return MODELS / f"4x4-{method or 'taught'}.safetensors"


def load(path: Path | str) -> CaptureRanker:
    """The ranker in a file that `save` wrote; ValueError if it is not one."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            shape = json.loads((file.metadata() or {}).get("shape", "{}"))
            weights = {name: file.get_tensor(name).astype(np.float32).ravel() for name in file.keys()}  # noqa: SIM118
        return CaptureRanker(shape["width"], shape["heads"], shape["layers"], _nets(weights))
    except (safetensors.SafetensorError, KeyError, TypeError, json.JSONDecodeError, ValueError) as error:
        raise ValueError(f"{path} does not hold the weights of a ranker of captures: {error}") from None


def _nets(weights: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Weights by net: where there are several, names begin with the number of the net."""
    found: dict[str, dict[str, Any]] = {}
    for name, numbers in weights.items():
        number, _, rest = name.partition(".")
        net, inside = (number, rest) if number.isdigit() else ("", name)
        found.setdefault(net, {})[inside] = numbers
    return list(found.values())


def save(path: Path | str, weights: Mapping[str, npt.NDArray[Any]], width: int, heads: int, layers: int) -> None:
    """Write the weights, whole or not at all."""
    shape = json.dumps({"width": width, "heads": heads, "layers": layers})
    with replacing(path) as file:
        file.write(safetensors.numpy.save(dict(weights), {"shape": shape}))


_FACTORS = np.cumprod(np.full(16, 0x9E3779B97F4A7C15, np.uint64))


def board_hashes(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A number for each 4x4 board, `[boards, 16]`, the same for its mirror image."""

    def numbers(cells: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
        return np.asarray((cells * _FACTORS).sum(axis=1, dtype=np.uint64))

    return np.minimum(numbers(boards), numbers(boards.reshape(-1, 4, 4)[:, :, ::-1].reshape(-1, 16)))


def _kept_for_measuring() -> npt.NDArray[np.uint64]:
    """Published puzzles, of which only hashes ship, and the pack of the study."""
    lines = (MODELS / "forbidden.txt").read_text().split("\n")
    published = np.array([int(line, 16) for line in lines if line and line[0] != "#"], np.uint64)
    rows = [puzzle["rows"].replace("/", "") for puzzle in json.loads((MODELS / "puzzles.json").read_text())["puzzles"]]
    pack = np.array([[".KQRBNP".index(letter) for letter in cells] for cells in rows], np.uint8)
    return np.concatenate([published, board_hashes(pack)])


_FORBIDDEN = _kept_for_measuring()


def may_learn_from(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which boards are not among the puzzles kept for measuring, nor mirror images of them."""
    if boards.shape[1] != 16:
        return np.ones(len(boards), np.bool_)
    return ~np.isin(board_hashes(boards), _FORBIDDEN)
