"""Commands that set agents to work: play against or with one, ask it why, let two compete."""

from __future__ import annotations

import random
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import Progress
from tyro.conf import Positional

from rookery import agents, arena, load
from rookery.cli.base import DEFAULTS, Answer, Commands, GameName, Options, positions_from_stdin, progress
from rookery.cli.morpion_picture import picture
from rookery.games import TERMINAL, Game, State, play_chance
from rookery.games.morpion import MorpionState

AgentName = Annotated[str, Positional, tyro.conf.arg(metavar="AGENT")]


def play(
    game: GameName,
    *,
    variant: str | None = None,
    agent: str | None = None,
    position: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Play in the terminal, with hints; in a game for two, the agent is your opponent.

    Enter a move by its name or the start of it, or: hint, moves, undo, quit.
    Example: rookery play tenten --agent best

    Args:
        game: Name of a game.
        variant: Variant of the game.
        agent: Who gives hints and plays the other side; the strongest that is known if not given.
        position: Where to start, in the game's text form; a start position drawn with `--seed` if not given.
    """
    rules = load(game, variant)
    helper = agents.load(agent or _strongest(rules), rules)
    rng = random.Random(common.seed)
    state = rules.parse_state(position) if position else rules.random_start(rng)
    console = progress()
    played: list[str] = []
    history: list[tuple[State, int]] = []  # before each move of the person
    while True:
        play_chance(state, rng)
        if state.player() == TERMINAL:
            _print_board(console, state)
            console.print(f"The game is over: {', '.join(f'{value:g}' for value in state.returns())}")
            break
        if state.player() == 1:
            action = helper.choose(state, rng)
            played.append(state.action_name(action))
            console.print(f"the agent plays {played[-1]}", markup=False)
            state.apply(action)
            continue
        _print_board(console, state)
        word = _ask(console)
        if word in ("quit", "q"):
            break
        if word == "hint":
            for reason in helper.explain(state).reasons:
                console.print(f"  {reason}", markup=False, highlight=False)
        elif word == "moves":
            console.print(" ".join(state.action_name(a) for a in state.legal_actions()), markup=False, highlight=False)
        elif word == "undo":
            if history:
                state, length = history.pop()
                del played[length:]
            else:
                console.print("there is nothing to undo")
        else:
            found = _moves_named(state, word)
            if len(found) == 1:
                history.append((state.clone(), len(played)))
                played.append(state.action_name(found[0]))
                state.apply(found[0])
            else:
                what = "is no move" if not found else f"may mean {len(found)} moves"
                console.print(f"{word!r} {what} here; enter `moves` for the list, or hint, undo, quit", markup=False)
    data = {"moves": played, "position": str(state), "returns": state.returns()}
    return Answer(data, lambda console: console.print(f"{len(played)} moves played"))


def _strongest(game: Game) -> str:
    return "best" if "best" in agents.names(game) else "mcts"


def _ask(console: Console) -> str:
    try:
        return console.input("> ").strip()
    except EOFError:
        return "quit"


def _moves_named(state: State, word: str) -> list[int]:
    names = {action: state.action_name(action) for action in state.legal_actions()}
    exact = [action for action, name in names.items() if name == word]
    return exact or [action for action, name in names.items() if word and name.startswith(word)]


def _print_board(console: Console, state: State) -> None:
    """Rows on lines of their own where the text form joins them by `/`; Morpion has a drawing."""
    console.print()
    if isinstance(state, MorpionState):
        console.print(picture(state))
        return
    board, _, rest = str(state).partition(" ")
    for row in board.split("/"):
        console.print(f"  {row}", markup=False, highlight=False)
    if rest:
        console.print(f"  {rest}", markup=False, highlight=False)


def explain(
    game: GameName,
    position: Annotated[str, Positional, tyro.conf.arg(metavar="POSITION")],
    *,
    agent: str,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """What an agent would play in a position, what it thinks of every move, and why.

    Example: rookery explain tenten "##./#.#/.## 1x1" --variant 3x3-three --agent mcts

    Args:
        game: Name of a game.
        position: In the game's text form; `-` reads many from standard input, one a line.
        agent: Such as lspi, best, mcts:simulations=500; `rookery games` lists them.
        variant: Variant of the game.
    """
    rules = load(game, variant)
    asked = agents.load(agent, rules)

    def answer(state: State) -> dict[str, Any]:
        if state.player() < 0:
            raise ValueError(f"there is nothing to choose in {state}")
        why = asked.explain(state)
        values = {state.action_name(action): value for action, value in why.values.items()}
        return {"action": state.action_name(why.action), "values": values, "reasons": why.reasons}

    if position == "-":
        return Answer({"position": text} | answer(state) for text, state in positions_from_stdin(rules))
    data = answer(rules.parse_state(position))

    def show(console: Console) -> None:
        console.print(f"{agent} plays {data['action']}", markup=False)
        for reason in data["reasons"]:
            console.print(f"  {reason}", markup=False, highlight=False)

    return Answer(data, show)


def arena_match(
    game: GameName,
    first: AgentName,
    second: AgentName,
    *,
    games: int = 20,
    variant: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Let two agents compete: with sides exchanged, or on the same draws in a game for one player.

    Example: rookery arena tenten lspi random --games 10

    Args:
        game: Name of a game.
        first: The agent whose wins are counted.
        second: The other one.
        games: Number of games; even where sides are exchanged.
        variant: Variant of the game.
    """
    rules = load(game, variant)
    one, two = agents.load(first, rules), agents.load(second, rules)
    with Progress(console=progress()) as bar:
        task = bar.add_task(f"{first} and {second}", total=games)
        match = arena.play_match(rules, one, two, games, common.seed, lambda: bar.advance(task))

    def show(console: Console) -> None:
        low, high = match.interval
        console.print(f"{first}: {match.wins} wins, {match.draws} draws, {match.losses} losses", markup=False)
        if rules.players == 2:
            console.print(f"share of points between {low:.1%} and {high:.1%} (95%)")
        else:
            console.print(f"mean returns {match.means[0]:,.1f} and {match.means[1]:,.1f}")
            console.print(f"lead between {low:,.1f} and {high:,.1f} (95%, paired games)")

    return Answer(match.data(), show)


COMMANDS: Commands = {"play": play, "explain": explain, "arena": arena_match}
