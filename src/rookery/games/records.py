"""A whole game as people of the field write it down: PGN, PDN, Pentasol, or plain text.

>>> import rookery
>>> game = rookery.load("checkers")
>>> text, ending = record(game, str(game.initial_state()), [], ["me", "you"])
>>> ending, "[Black" in text
('pdn', True)
"""

from __future__ import annotations

from collections.abc import Sequence

from rookery.game import TERMINAL, Game
from rookery.games.checkers.rules import Checkers, PdnGame, format_pdn
from rookery.games.endgames.rules import EndgamesState, to_pgn
from rookery.games.morpion.rules import MorpionState


def record(game: Game, start: str, actions: Sequence[int], players: Sequence[str]) -> tuple[str, str]:
    """The text, and the usual ending of a file's name. `actions` are all that were applied, chance outcomes too."""
    first, state = game.parse_state(start), game.parse_state(start)
    names = []
    for action in actions:
        names.append(state.action_name(action))
        state.apply(action)
    if isinstance(first, EndgamesState):
        return to_pgn(first, actions, (players[0], players[1])), "pgn"
    if isinstance(game, Checkers):
        result = state.returns()[0] if state.player() == TERMINAL else None
        headers = {"Event": "Rookery", "Black": players[0], "White": players[1]}
        return format_pdn([PdnGame(actions, result, headers, start)]), "pdn"
    if isinstance(state, MorpionState):
        return state.psol(), "psol"
    return "\n".join([f"# {game.name}: {', '.join(players)}", start, *names, str(state)]) + "\n", "txt"
