"""Commands that set agents to work: play against or with one, ask it why, let some compete."""

from __future__ import annotations

import random
import time
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from tyro.conf import Positional

from rookery.agents import Agent, Explanation
from rookery.arena import Tournament, tournament
from rookery.cli.base import (
    DEFAULTS,
    PROCESSES,
    Answer,
    GameName,
    Options,
    Where,
    many,
    print_failures,
    print_table,
    progress,
    shard_answer,
)
from rookery.clock import Clock
from rookery.engines import allotted
from rookery.files import write_text
from rookery.game import TERMINAL, State, play_chance
from rookery.registry import agent as load_agent
from rookery.registry import load, strongest


def play(
    game: GameName,
    *,
    variant: str | None = None,
    agent: str | None = None,
    position: str | None = None,
    side: Literal["first", "second", "random"] = "first",
    clock: str | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Play in the terminal, with hints; in a game for two, the agent is your opponent.

    Enter a move as players write it, or: hint, moves, undo, quit; in a game for two also draw, which offers one, and
    resign. A hint tells more every time.
    Examples: rookery play tenten --agent best; rookery play checkers --agent best:level=3 --side second

    Args:
        game: Name of a game.
        variant: Variant of the game.
        agent: Who gives hints and plays the other side; the strongest that is known if not given.
        position: Where to start, in the game's text form; drawn with `--seed` if not given, an endgame won for you.
        side: The side you play in a game for two; the first player moves first.
        clock: Minutes per side and seconds per move, such as 5+3, in a game for two; who runs out of time loses.
    """
    rules = load(game, variant)
    two = rules.players == 2
    watch = Clock.parse(clock) if clock is not None else None
    if watch and not two:
        raise ValueError(f"a clock is for games of two players, and {rules.title} has one")
    helper = load_agent(agent or strongest(rules), rules)
    rng = random.Random(common.seed)
    state = rules.parse_state(position) if position else helper.practice_start(rules, rng)
    console = progress()
    played: list[str] = []
    history: list[tuple[State, int]] = []  # before each move of the person
    person = rng.randrange(2) if side == "random" and two else int(side == "second" and two)
    words = "hint, moves, undo, draw, resign, quit" if two else "hint, moves, undo, quit"
    returns: list[float] | None = None  # of a game that was resigned or agreed drawn
    if not position:
        console.print(f"The game begins from {rules.usual_start}.")
    console.print(f"{f'You play {rules.sides[person]}. ' if two else ''}Enter a move, or: {words}.")
    hints = 0  # asked for in this position
    begun = time.monotonic()  # when the move at hand began

    def in_time(player: int) -> bool:
        nonlocal begun, returns
        spent, begun = time.monotonic() - begun, time.monotonic()
        if watch is None or watch.spend(player, spent):
            return True
        returns = [-1.0 if loser == player else 1.0 for loser in range(2)]
        console.print(f"{rules.sides[player]} is out of time: {rules.sides[1 - player]} wins")
        return False

    while True:
        play_chance(state, rng)
        if state.player() == TERMINAL:
            _print_board(console, state)
            console.print(state.status())
            break
        if two and state.player() != person:
            if watch:
                seconds = allotted(watch.left[1 - person], watch.increment)
                action = helper.choose_within(state, rng, seconds)
                if not in_time(1 - person):
                    break
            else:
                action = helper.choose(state, rng)
            played.append(state.action_name(action))
            console.print(f"the agent plays {played[-1]}")
            state.apply(action)
            continue
        _print_board(console, state)
        if watch:
            console.print(f"time left: {rules.sides[0]} and {rules.sides[1]} {watch}")
        word = _ask(console)
        if word in ("quit", "q"):
            break
        if watch and time.monotonic() - begun >= watch.left[person]:
            in_time(person)
            break
        if two and word == "resign":
            returns = [-1.0 if player == person else 1.0 for player in range(2)]
            console.print(f"You resign: {rules.sides[1 - person]} wins")
            break
        if two and word == "draw":
            if helper.accepts_draw(state):
                returns = [0.0, 0.0]
                console.print("the agent takes the draw")
                break
            console.print("the agent plays on")
            continue
        if word == "hint":
            sentences = _hints(helper, state)
            hints = min(hints + 1, len(sentences))
            console.print(f"  {sentences[hints - 1]}")
            if hints < len(sentences):
                console.print("  hint again tells more")
        elif word == "moves":
            console.print(" ".join(state.action_name(a) for a in state.legal_actions()))
        elif word == "undo":
            if watch:
                console.print("no move is taken back in a game with a clock")
            elif history:
                hints = 0
                state, length = history.pop()
                del played[length:]
            else:
                console.print("there is nothing to undo")
        else:
            try:
                action = _move(state, word)
            except ValueError as error:
                console.print(f"{error}; enter `moves` for the list, or one of {words}")
                continue
            if not in_time(person):
                break
            hints = 0
            history.append((state.clone(), len(played)))
            played.append(state.action_name(action))
            state.apply(action)
    data: dict[str, Any] = {"moves": played, "position": str(state), "returns": returns or state.returns()}
    if watch:
        data["seconds_left"] = watch.left
    return Answer(data, lambda console: console.print(f"{len(played)} moves played"))


def _hints(helper: Agent, state: State) -> list[str]:
    """Help with a move in stages. The first of an agent without hints of its own lights up a cell, which a terminal
    cannot do."""
    sentences = helper.hint(state).sentences
    return sentences[1:] if type(helper).hint is Agent.hint else sentences


def watch(
    game: GameName,
    agents: Annotated[tuple[str, ...], Positional, tyro.conf.arg(metavar="AGENT")] = (),
    *,
    variant: str | None = None,
    position: str | None = None,
    moves: int = 1000,
    delay: float = 0.0,
    common: Options = DEFAULTS,
) -> Answer:
    """Watch agents play a game in the terminal, move by move.

    Examples: rookery watch tenten --moves 20 --delay 0.5; rookery watch checkers best minimax:depth=3

    Args:
        game: Name of a game, or a file with one.
        agents: One agent per side, or one for all sides; the strongest that is known if not given.
        variant: Variant of the game.
        position: Where to start, in the game's text form; drawn with `--seed` if not given.
        moves: The largest number of moves.
        delay: Seconds to wait after every move.
    """
    if not 0 <= delay <= 60:
        raise ValueError(f"the delay must be from 0 to 60 seconds, and is {delay:g}")
    if moves < 0:
        raise ValueError(f"the number of moves must be at least 0, and is {moves}")
    rules = load(game, variant)
    names = agents or (strongest(rules),)
    if len(names) not in (1, rules.players):
        raise ValueError(
            f"{rules.name} has {rules.players} sides, so name one agent or {rules.players}, not {len(names)}"
        )
    players = [load_agent(name, rules) for name in names]
    rng = random.Random(common.seed)
    state = rules.parse_state(position) if position else players[0].practice_start(rules, rng)
    console = progress()
    played: list[str] = []
    while True:
        play_chance(state, rng)
        if not common.json:
            _print_board(console, state)
        if state.player() == TERMINAL or len(played) >= moves:
            break
        mover = state.player() % len(players)
        action = players[mover].choose(state, rng)
        played.append(state.action_name(action))
        if not common.json:
            console.print(f"\n{len(played)}. {names[mover]} plays {played[-1]}")
            time.sleep(delay)
        state.apply(action)
    data = {"moves": played, "position": str(state), "returns": state.returns()}
    return Answer(data, lambda console: console.print(f"{len(played)} moves played. {state.status()}"))


def _ask(console: Console) -> str:
    try:
        return console.input("> ").strip()
    except EOFError:
        return "quit"


def _move(state: State, word: str) -> int:
    """A move as players write it, or the beginning of its name where only one begins so."""
    begun = [action for action in state.legal_actions() if word and state.action_name(action).startswith(word)]
    return begun[0] if len(begun) == 1 else state.parse_action(word)


def _print_board(console: Console, state: State) -> None:
    lines = state.text_board().split("\n")
    if state.game.players == 2:
        lines += ["", str(state)]
    console.print("\n" + "\n".join(f"  {line}" for line in lines), soft_wrap=True)


def explain(
    game: GameName,
    position: Annotated[str, Positional, tyro.conf.arg(metavar="POSITION")] = "",
    *,
    agent: str,
    variant: str | None = None,
    svg: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """What an agent would play in a position, what it thinks of every move, and why.

    Example: rookery explain tenten "##./#.#/.## 1x1" --variant 3x3-three --agent mcts

    Args:
        game: Name of a game.
        position: In the game's text form; `-` reads many from standard input, one per line. If not given, a start is
            drawn with `--seed`.
        agent: Such as lspi, best, mcts:simulations=500; `rookery games` lists them.
        variant: Variant of the game.
        svg: Folder for drawings of the position and of what the reasons speak of.
    """
    rules = load(game, variant)
    asked = load_agent(agent, rules)

    def answer(state: State) -> tuple[dict[str, Any], Explanation]:
        if state.player() < 0:
            raise ValueError(f"there is nothing to choose in {state}")
        why = asked.explain(state)
        values = {state.action_name(action): value for action, value in why.values.items()}
        return {"action": state.action_name(why.action), "values": values, "reasons": why.reasons}, why

    if position == "-":
        if svg:
            raise ValueError("--svg draws one position; name it instead of -")
        return many(rules, lambda state: answer(state)[0], lambda data: data["action"])
    rng = random.Random(common.seed)
    asked_about = rules.parse_state(position) if position else asked.practice_start(rules, rng)
    if not position:
        play_chance(asked_about, rng)
    data, why = answer(asked_about)
    if svg:
        write_text(svg / "position.svg", asked_about.svg(why.overlay))
        for number, drawing in enumerate(why.drawings, 1):
            write_text(svg / f"{number}.svg", drawing.svg)

    def show(console: Console) -> None:
        if not position:
            _print_board(console, asked_about)
        console.print(f"{agent} plays {data['action']}")
        for reason in data["reasons"]:
            console.print(f"  {reason}")
        for drawing in why.drawings:
            console.print(f"\n{drawing.title}\n{drawing.text}")
        if svg:
            console.print(f"drawn in {svg}")

    return Answer(data, show)


def arena(
    game: GameName,
    competitors: Annotated[tuple[str, ...], Positional, tyro.conf.arg(metavar="AGENT")],
    *,
    games: int = 20,
    variant: str | None = None,
    out: Path | None = None,
    resume: bool = False,
    where: Where = PROCESSES,
    common: Options = DEFAULTS,
) -> Answer:
    """Let agents compete, every one against every other: with sides exchanged, or alone on the same draws.

    Examples: rookery arena tenten lspi random --games 10;
    rookery arena checkers random minimax:depth=3 voting best --games 20 --out runs/arena

    Args:
        game: Name of a game, or a file with one.
        competitors: Two agents or more: names, folders of runs, or files with agents; `rookery games` lists names.
        games: Games per match, or starts that every agent plays; even where sides are exchanged.
        variant: Variant of the game.
        out: Folder for every game as played (games.jsonl), results as CSV, and files in the notation of the field.
        resume: Continue with the games in the folder.
    """
    if resume and out is None:
        raise ValueError("--resume needs --out, the folder to continue in")
    played = tournament(
        load(game, variant), competitors, games, common.seed, where.on, out, resume, shard=where.shard,
        timeout=where.timeout,
    )  # fmt: skip
    if where.shard:
        return shard_answer(played.job)
    files = played.export(out) if out else []
    first, *_ = played.names
    data = played.overall(first)
    data["agents"] = played.standings()
    if played.failures:
        data["failed"] = played.failures
    two = played.game.players == 2
    if two:
        data["matches"] = [
            {"first": a, "second": b} | played.match(a, b).data() for a, b in combinations(played.names, 2)
        ]

    def show(console: Console) -> None:
        if two:
            rows = []
            for i, row in enumerate(data["agents"], 1):
                elo, low, high = row["elo"]
                points = f"{row['points']:g}/{row['games']}"
                rows.append([i, row["agent"], points, f"{elo:+.0f}", f"{low:+.0f} to {high:+.0f}"])
            print_table(console, ("", "agent", "points", "Elo", "95%"), rows)
            if len(rows) > 2:
                order = [row["agent"] for row in data["agents"]]
                heads = ["", *(f"against {i}" for i in range(1, len(order) + 1))]
                cross = [[i, *(_result(played, name, other) for other in order)] for i, name in enumerate(order, 1)]
                print_table(console, heads, cross)
        else:
            rows = []
            for row in data["agents"]:
                low, high = row["interval"]
                rows.append([row["agent"], row["mean"], f"{low:,.2f} to {high:,.2f}", row["best"]])
            print_table(console, ("agent", "mean return", "95%", "best"), rows)
        if len(played.names) == 2:
            console.print(played.match(*played.names).sentence())
        if files:
            console.print(f"{len(played.records)} games and {len(files)} files in {out}")
        print_failures(console, played.failures)

    return Answer(data, show, exit_code=1 if played.failures else 0)


def _result(tournament: Tournament, name: str, other: str) -> str:
    if name == other:
        return ""
    match = tournament.match(name, other)
    return f"+{match.wins} ={match.draws} -{match.losses}"
