"""Golden playthroughs: games written down with everything that people and programs see of their positions.

Every `.txt` file beside this one is a game. Its head names the game, the variant, the start, a seed and the number of
positions to describe at the beginning; its moves are replayed. `python -m tests.golden` writes the files anew, so that
a change of rules, notation, observations or drawings shows up as a diff to review. To add a game, write the head alone:
the moves are then drawn at random. To choose moves, add lines such as `move: 11-15`.
"""

from __future__ import annotations

import hashlib
import random
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rookery import load
from rookery.game import CHANCE, TERMINAL, Game, State, choices

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.txt"))

_WIDTH = 120
_LISTED = 30


def rewritten(text: str) -> str:
    """The text of a playthrough, made anew from its head and its moves."""
    lines = [line.split(": ", 1) for line in text.splitlines() if ": " in line]
    head = dict(lines[: [key for key, _ in lines].index("describe") + 1])
    game = load(head["game"], head.get("variant"))
    state = game.parse_state(head["start"]) if "start" in head else game.initial_state()
    recorded = [name for key, value in lines if key in ("move", "moves") for name in value.split("; ")]
    actions = _actions(state, recorded, random.Random(int(head["seed"])))
    written = [f"{key}: {value}" for key, value in head.items()]
    written += [f"players: {game.players}", f"actions: {game.num_actions}"]
    return "\n".join([*written, *_positions(game, state, actions, int(head["describe"]))]) + "\n"


def _actions(start: State, names: Sequence[str], rng: random.Random) -> list[int]:
    """The actions of a whole game: the recorded ones as far as they are legal, and random ones up to the end."""
    state, actions = start.clone(), []
    while state.player() != TERMINAL:
        by_name = {state.action_name(action): action for action in choices(state)}
        name = names[len(actions)] if len(actions) < len(names) else None
        if name is not None and name not in by_name:
            names = ()
        actions.append(by_name[name] if name in by_name else rng.choice(list(by_name.values())))
        state.apply(actions[-1])
    return actions


def _positions(game: Game, start: State, actions: Sequence[int], described: int) -> Iterator[str]:
    state = start.clone()
    skipped: list[str] = []
    seen = False
    for ply in range(len(actions) + 1):
        if ply < described or ply >= len(actions) - 1:
            if skipped:
                yield ""
                moves = textwrap.wrap("; ".join(name.replace(" ", "\0") for name in skipped), _WIDTH - 7)
                yield from ("moves: " + line.rstrip(";").replace("\0", " ") for line in moves)
                skipped = []
            yield ""
            yield f"--- {ply} ---"
            yield from _description(state, drawn=ply % 10 == 0 or ply == len(actions))
            if state.player() != CHANCE and not seen:
                seen = True
                yield from _planes(state.observation())
            if ply < len(actions):
                yield f"move: {state.action_name(actions[ply])}"
        else:
            skipped.append(state.action_name(actions[ply]))
        if ply < len(actions):
            state.apply(actions[ply])


def _description(state: State, drawn: bool) -> Iterator[str]:
    player = state.player()
    yield f"state: {state}"
    yield f"player: { {CHANCE: 'chance', TERMINAL: 'nobody, the game is over'}.get(player, player) }"
    yield f"status: {state.status()}"
    if player == CHANCE:
        names = [f"{state.action_name(outcome)} {chance:.6g}" for outcome, chance in state.chance_outcomes()]
        yield from _listed("outcomes", names)
    elif player != TERMINAL:
        yield from _listed("legal", [f"{state.action_name(action)}={action}" for action in state.legal_actions()])
    key = state.key()
    yield f"key: {key.hex() if len(key) <= 20 else _digest(key)}"
    yield f"rewards: {_numbers(state.rewards())}   returns: {_numbers(state.returns())}"
    observation = state.observation()
    shape = "x".join(map(str, observation.shape))
    line = f"observation: {shape} {_digest(np.ascontiguousarray(observation, '<f4').tobytes())}"
    yield line + (f"   svg: {_digest(state.svg().encode())}" if drawn else "")
    if drawn:
        yield from (f"  {line}".rstrip() for line in state.text_board().splitlines())


def _listed(title: str, names: Sequence[str]) -> Iterator[str]:
    """The first names and their number, on lines of their own."""
    more = "; ..." if len(names) > _LISTED else ""
    text = f"{title} ({len(names)}): " + "; ".join(name.replace(" ", "\0") for name in names[:_LISTED]) + more
    for line in textwrap.wrap(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False):
        yield line.replace("\0", " ")


def _planes(observation: np.ndarray) -> Iterator[str]:
    """The planes of an observation side by side, cut to where something is."""
    planes = observation.reshape(-1, *observation.shape[-2:]) if observation.ndim > 1 else observation[None, None]
    flat = {number: plane for number, plane in enumerate(planes) if (plane == plane[0, 0]).all()}
    for value in sorted({float(plane[0, 0]) for plane in flat.values()}):
        numbers = ", ".join(str(number) for number, plane in flat.items() if plane[0, 0] == value)
        yield f"  planes that are {value:g} everywhere: {numbers}"
    shown = [number for number in range(len(planes)) if number not in flat]
    if not shown:
        return
    somewhere = np.any([planes[number] != 0 for number in shown], axis=0)
    rows, columns = (np.flatnonzero(somewhere.any(axis=axis)) for axis in (1, 0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    if bottom - top < planes.shape[1] or right - left < planes.shape[2]:
        yield f"  rows {top} to {bottom - 1} and columns {left} to {right - 1}; zeros around"
    blocks = [_block(number, planes[number][top:bottom, left:right]) for number in shown]
    each = max(1, _WIDTH // (max(len(block[0]) for block in blocks) + 3))
    for begin in range(0, len(blocks), each):
        for parts in zip(*blocks[begin : begin + each], strict=True):
            yield ("  " + "   ".join(parts)).rstrip()


def _block(number: int, plane: np.ndarray) -> list[str]:
    rows = [[f"{value:.3g}" if value else "." for value in row] for row in plane]
    width = max(len(text) for row in rows for text in row)
    lines = [" ".join(text.rjust(width) for text in row) for row in rows]
    title = f"[{number}]"
    return [line.ljust(max(len(title), len(lines[0]))) for line in (title, *lines)]


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=6).hexdigest()


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value + 0.0:g}" for value in values)
