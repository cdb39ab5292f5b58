"""Settings at the edge of what is allowed, and one step beyond."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from rookery.games.checkers import dqn as checkers_dqn
from rookery.games.checkers import net as checkers_net
from rookery.games.checkers import q_learning as checkers_q_learning
from rookery.games.checkers import td as checkers_td
from rookery.games.endgames import training as endgames_training
from rookery.games.morpion import methods as morpion_methods
from rookery.games.morpion import r2, search
from rookery.games.morpion import zero as morpion_zero
from rookery.games.solitaire_chess import dqn as solitaire_dqn
from rookery.games.solitaire_chess import paper_dqn, taught
from rookery.games.tenten import linear, lspi, ntuple

# Numbers of games, steps, layers and the like are at least 1; what may be left out is at least 0.
LEAST: list[tuple[Any, int, str]] = [
    (checkers_dqn.Settings, 1, "width games batch memory target_every steps"),
    (checkers_td.Settings, 1, "generations games batch half_step"),
    (checkers_q_learning.Settings, 1, "games"),
    (checkers_net.Settings, 1, "generations games nodes window epochs batch"),
    (solitaire_dqn.Settings, 1, "width heads layers nets steps batch games memory threads"),
    (paper_dqn.Settings, 1, "width heads layers steps batch games memory threads"),
    (paper_dqn.Settings, 3, "max_pieces"),
    (taught.Settings, 1, "width heads layers puzzles steps batch report threads"),
    (lspi.Settings, 1, "turns updates max_rounds"),
    (lspi.Settings, 0, "discount tolerance"),
    (linear.Settings, 1, "generations population elite rounds"),
    (ntuple.Settings, 1, "steps lanes games batch"),
    (morpion_zero.Settings, 1, "channels blocks games searches window steps batch"),
    (morpion_zero.Settings, 0, "threads"),
    (r2.Settings, 1, "iterations episodes simulations epochs batch channels hidden"),
    (r2.Settings, 0, "minutes self_play_simulations"),
    (endgames_training.Settings, 1, "matches runs depth"),
    (search.Settings, 0, "threads"),
]
CASES = [(settings, least, name) for settings, least, names in LEAST for name in names.split()]
TOGETHER: dict[str, dict[str, Any]] = {"population": {"elite": 1}, "width": {"heads": 1}}
"""What else has to change, since one is a part of the other."""


@pytest.mark.parametrize(
    ("settings", "least", "name"), CASES, ids=[f"{settings.__module__}-{name}" for settings, _, name in CASES]
)
def test_the_least_that_is_allowed(settings: Any, least: int, name: str) -> None:
    others = {key: value for key, value in TOGETHER.get(name, {}).items() if key in settings.__dataclass_fields__}
    assert getattr(settings(**{name: least}, **others), name) == least
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, and is {least - 1}"):
        settings(**{name: least - 1}, **others)


def test_limits_of_morpions_agents() -> None:
    for method in morpion_methods.METHODS:
        options: Any = getattr(method, "Options", None)
        for name in ("simulations", "threshold"):
            if options is not None and name in getattr(options, "__dataclass_fields__", {}):
                assert getattr(options(**{name: 0}), name) == 0
                with pytest.raises(ValueError, match=f"{name} must be at least 0"):
                    options(**{name: -1})


@pytest.mark.parametrize("tie", [-1.0, 1.0])
def test_a_tie_of_ranked_reward_is_a_value(tie: float) -> None:
    assert r2.Settings(tie=tie).tie == tie
    with pytest.raises(ValueError, match="the tie must be -1 to 1"):
        r2.Settings(tie=1.01 * tie)
