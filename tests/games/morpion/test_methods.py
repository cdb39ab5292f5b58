"""The methods of Morpion Solitaire: what they train plays."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path
from typing import Any

import pytest

from rookery.games.morpion.rules import Morpion
from rookery.training import train

pytest.importorskip("torch")

TINY: dict[str, dict[str, Any]] = {
    "zero": {
        "iterations": 1, "channels": 4, "blocks": 1, "games": 4, "searches": 2, "level": 2, "steps": 2, "batch": 8,
    },
    "r2": {"iterations": 1, "episodes": 2, "channels": 4, "epochs": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", TINY)
def test_what_was_trained_plays_legal_moves_and_explains_them(name: str, tmp_path: Path) -> None:
    small = importlib.import_module(f"rookery.games.morpion.{name}").SMALL
    run = train(Morpion(), name, out=tmp_path, settings=dataclasses.replace(small, **TINY[name]))
    agent, state = run.agent(), Morpion().initial_state()
    values = agent.values(state)
    assert set(values) == set(state.legal_actions())
    assert sum(values.values()) == pytest.approx(1, abs=1e-4)
    why = agent.explain(state)
    assert values[why.action] == max(values.values())
    assert len(why.reasons) == 5
