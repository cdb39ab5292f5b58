"""Weights that ship are those that the command beside them makes: it gives the settings that are recorded."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.cli import parsed
from rookery.games.tenten.ntuple import default_tuples
from rookery.run import as_json

GAMES = Path(rookery.__file__).parent / "games"

MODELS = {
    "checkers/models/dqn.json": "rookery.games.checkers.dqn",
    "checkers/models/td.json": "rookery.games.checkers.td",
    "endgames/models/q-learning-KBBK.json": "rookery.games.endgames.perfect",
    "endgames/models/q-learning-KQK.json": "rookery.games.endgames.perfect",
    "endgames/models/q-learning-KRK.json": "rookery.games.endgames.perfect",
    "morpion/models/5D.json": "rookery.games.morpion.zero",
    "solitaire_chess/models/4x4-dqn.json": "rookery.games.solitaire_chess.dqn",
    "solitaire_chess/models/4x4-paper-dqn.json": "rookery.games.solitaire_chess.paper_dqn",
    "solitaire_chess/models/4x4-taught.json": "rookery.games.solitaire_chess.taught",
    "solitaire_chess/models/solo-8x8-dqn.json": "rookery.games.solitaire_chess.dqn",
    "tenten/models/linear-10x10.json": "rookery.games.tenten.linear",
    "tenten/models/lspi-10x10-no-3x3.json": "rookery.games.tenten.lspi",
    "tenten/models/lspi-10x10.json": "rookery.games.tenten.lspi",
    "tenten/models/lspi-4x4-seven.json": "rookery.games.tenten.lspi",
    "tenten/models/ntuple-10x10-no-3x3.json": "rookery.games.tenten.ntuple",
    "tenten/models/ntuple-10x10.json": "rookery.games.tenten.ntuple",
    "tenten/models/ntuple-4x4-seven.json": "rookery.games.tenten.ntuple",
    "tenten/models/ntuple-5x5.json": "rookery.games.tenten.ntuple",
}
"""Files about weights that one command of training made, and the module of its method."""
BESIDE = {"seed", "tuples"}
"""Recorded among the settings, and an option of every command, or chosen by the size of the board."""


def command_of(about: dict[str, Any]) -> str:
    return str(about["command"] if "command" in about else about["made_by"][0])


def test_every_file_with_a_command_of_training_is_checked() -> None:
    found = {str(file.relative_to(GAMES)) for file in GAMES.glob("*/models/*.json")}
    assert set(MODELS) <= found
    for name in found - set(MODELS):
        about = json.loads((GAMES / name).read_text(encoding="utf-8"))
        trained = "settings" in about and command_of(about | {"command": about.get("command", "")})
        assert not str(trained).startswith("rookery train"), name


@pytest.mark.parametrize("name", MODELS)
def test_the_command_gives_the_settings_that_are_recorded(name: str) -> None:
    about = json.loads((GAMES / name).read_text(encoding="utf-8"))
    _, unnamed, named = parsed(shlex.split(command_of(about))[1:])
    (given,) = (*unnamed, *named.values())
    assert type(given.settings).__module__ == MODELS[name]
    recorded = {key: value for key, value in about["settings"].items() if key not in BESIDE}
    assert len(recorded) >= 4
    settings = as_json(given.settings)
    assert {key: settings[key] for key in recorded} == recorded
    assert given.common.seed == about.get("seed", about["settings"].get("seed"))


@pytest.mark.parametrize("name", [name for name in MODELS if "ntuple" in name])
def test_windows_of_a_network_are_those_chosen_for_its_board(name: str) -> None:
    about = json.loads((GAMES / name).read_text(encoding="utf-8"))
    game = rookery.load("tenten", about["variant"])
    assert [list(shape) for shape in default_tuples(game.rows, game.columns)] == about["settings"]["tuples"]
