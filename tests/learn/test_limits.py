"""Settings at the edge of what is allowed, and one step beyond."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from rookery.learn import dqn, lspi, methods, ntuple, q_learning

LEAST: list[tuple[Any, int, str]] = [
    (dqn.Settings, 1, "steps games width layers batch memory target_every"),
    (q_learning.Settings, 1, "games"),
    (q_learning.Settings, 0, "replay"),
    (lspi.Settings, 1, "iterations games steps"),
    (lspi.Settings, 0, "tolerance"),
    (ntuple.Settings, 1, "games trace_length table_bits"),
    (ntuple.Settings, 0, "minutes most_cell threads"),
]
SHARES: list[tuple[Any, str]] = [
    (dqn.Settings, "epsilon last_epsilon discount"),
    (q_learning.Settings, "alpha epsilon last_epsilon discount"),
    (lspi.Settings, "epsilon discount keep"),
    (ntuple.Settings, "alpha discount trace epsilon last_epsilon"),
]


CASES = [(settings, least, name) for settings, least, names in LEAST for name in names.split()]


@pytest.mark.parametrize(("settings", "least", "name"), CASES)
def test_the_least_that_is_allowed(settings: Any, least: int, name: str) -> None:
    assert getattr(settings(**{name: least}), name) == least
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, and is {least - 1}"):
        settings(**{name: least - 1})


@pytest.mark.parametrize(
    ("settings", "name"), [(settings, name) for settings, names in SHARES for name in names.split()]
)
def test_shares_are_from_0_to_1(settings: Any, name: str) -> None:
    for value in (0.0, 1.0):
        assert getattr(settings(**{name: value}), name) == value
    for value in (-0.01, 1.01):
        with pytest.raises(ValueError, match=f"{name} must be from 0 to 1"):
            settings(**{name: value})


def test_a_table_has_at_most_32_bits() -> None:
    assert ntuple.Settings(table_bits=32).table_bits == 32
    with pytest.raises(ValueError, match="table_bits must be at most 32, and is 33"):
        ntuple.Settings(table_bits=33)


def test_the_ridge_is_above_0() -> None:
    assert lspi.Settings(ridge=1e-300).ridge == 1e-300
    with pytest.raises(ValueError, match="ridge must be above 0"):
        lspi.Settings(ridge=0.0)


def test_agents_look_ahead_or_do_not() -> None:
    for method in methods.METHODS:
        options: Any = getattr(method, "Options", None)
        for name in ("simulations", "depth"):
            if name in getattr(options, "__dataclass_fields__", {}):
                assert getattr(options(**{name: 0}), name) == 0
                with pytest.raises(ValueError, match=f"{name} must be at least 0"):
                    options(**{name: -1})
