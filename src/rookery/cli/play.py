"""Commands that set agents to work: play against or with one, ask it why, let some compete."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tyro.conf import Positional

from rookery import arena
from rookery.agents import Explanation
from rookery.cli.base import DEFAULTS, Answer, Commands, GameName, Options, positions_from_stdin, progress
from rookery.files import write_text
from rookery.game import TERMINAL, Game, State, play_chance
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.tables import start_to_practise
from rookery.games.morpion.picture import picture
from rookery.games.morpion.rules import MorpionState
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, load
from rookery.statistics import bootstrap_interval, wilson_interval


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
        position: Where to start, in the game's text form; drawn with `--seed` if not given, an endgame won for you.
    """
    rules = load(game, variant)
    helper = load_agent(agent or _strongest(rules), rules)
    rng = random.Random(common.seed)
    state = rules.parse_state(position) if position else _start(rules, rng)
    console = progress()
    played: list[str] = []
    history: list[tuple[State, int]] = []  # before each move of the person
    side = f"You play {rules.sides[0]}. " if rules.players == 2 else ""
    console.print(f"{side}Enter a move, or: hint, moves, undo, quit.")
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


def _start(game: Game, rng: random.Random) -> State:
    """An endgame begins where White wins; other games begin anywhere."""
    return start_to_practise(game, rng) if isinstance(game, Endgames) else game.random_start(rng)


def _strongest(game: Game) -> str:
    return "best" if "best" in agent_names(game) else "mcts"


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
    """As the game draws it for the terminal, else its text form."""
    console.print()
    if isinstance(state, MorpionState):
        console.print(picture(state))
        return
    if hasattr(state, "text_board"):
        lines = state.text_board().split("\n")
        if state.game.players == 2:
            lines += ["", str(state)]
    else:  # rows on lines of their own
        lines = str(state).replace(" ", "/").split("/")
    for line in lines:
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def explain(
    game: GameName,
    position: Annotated[str, Positional, tyro.conf.arg(metavar="POSITION")],
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
        position: In the game's text form; `-` reads many from standard input, one a line.
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
        return Answer({"position": text} | answer(state)[0] for text, state in positions_from_stdin(rules))
    asked_about = rules.parse_state(position)
    data, why = answer(asked_about)
    if svg:
        write_text(svg / "position.svg", asked_about.svg(why.overlay))
        for number, drawing in enumerate(why.drawings, 1):
            write_text(svg / f"{number}.svg", drawing.svg)

    def show(console: Console) -> None:
        console.print(f"{agent} plays {data['action']}", markup=False)
        for reason in data["reasons"]:
            console.print(f"  {reason}", markup=False, highlight=False)
        for drawing in why.drawings:
            console.print(f"\n{drawing.title}\n{drawing.text}", markup=False, highlight=False)
        if svg:
            console.print(f"drawn in {svg}")

    return Answer(data, show)


def arena_match(
    game: GameName,
    competitors: Annotated[tuple[str, ...], Positional, tyro.conf.arg(metavar="AGENT")],
    *,
    games: int = 20,
    variant: str | None = None,
    jobs: int = 0,
    out: Path | None = None,
    resume: bool = False,
    common: Options = DEFAULTS,
) -> Answer:
    """Let agents compete, everybody against everybody: with sides exchanged, or alone on the same draws.

    Examples: rookery arena tenten lspi random --games 10;
    rookery arena checkers random minimax:depth=3 psv best --games 20 --out runs/arena

    Args:
        game: Name of a game.
        competitors: Two agents or more; `rookery games` lists them.
        games: Games of each match, or starts that everybody plays; even where sides are exchanged.
        variant: Variant of the game.
        jobs: Cores to play on; 0 means all. Does not change the result.
        out: Folder for every game as played (games.jsonl), results as CSV, and PGN, PDN or Pentasol files.
        resume: Go on with the games in the folder.
    """
    file = out / "games.jsonl" if out else None
    if resume and file is None:
        raise ValueError("--resume needs --out, the folder to go on in")
    if file and file.exists() and not resume:
        raise ValueError(f"{out} already holds games; use --resume to go on, or another folder")
    tournament = arena.Tournament(game, variant, competitors, games, common.seed, file)
    done = tournament.resume()
    with Progress(console=progress()) as bar:
        task = bar.add_task(" and ".join(competitors), total=len(tournament.tasks()), completed=done)
        for _ in tournament.play(jobs):
            bar.advance(task)
    files = tournament.export(out) if out else []
    first = competitors[0]
    data = _overall(tournament, first)
    data["agents"] = _standings(tournament)
    if tournament.game.players == 2:
        data["matches"] = [
            {"first": a, "second": b} | tournament.match(a, b).data() for a, b in combinations(competitors, 2)
        ]

    def show(console: Console) -> None:
        two = tournament.game.players == 2
        if two:
            table = Table("agent", "points", "Elo (95%)", *(f"v {name}" for name in competitors))
            for row in data["agents"]:
                name, (elo, low, high) = row["agent"], row["elo"]
                results = [_result(tournament, name, other) for other in competitors]
                rating = f"{elo:+.0f} ({low:+.0f} to {high:+.0f})"
                table.add_row(name, f"{row['points']:g}/{row['games']}", rating, *results)
        else:
            table = Table("agent", "mean return", "95%", "best")
            for row in data["agents"]:
                low, high = row["interval"]
                table.add_row(row["agent"], f"{row['mean']:,.2f}", f"{low:,.2f} to {high:,.2f}", f"{row['best']:,g}")
        console.print(table)
        if len(competitors) == 2:
            low, high = data["interval"]
            what = f"{low:.1%} and {high:.1%} of the points" if two else f"{low:,.1f} and {high:,.1f} in mean lead"
            console.print(
                f"{first}: {data['wins']} wins, {data['draws']} draws, {data['losses']} losses; between {what} (95%)",
                markup=False,
            )
        if files:
            console.print(f"{len(tournament.records)} games and {len(files)} files in {out}", markup=False)

    return Answer(data, show)


def _result(tournament: arena.Tournament, name: str, other: str) -> str:
    if name == other:
        return ""
    match = tournament.match(name, other)
    return f"+{match.wins} ={match.draws} -{match.losses}"


def _overall(tournament: arena.Tournament, name: str) -> dict[str, Any]:
    """The first agent's result against all others together; against one other, their match."""
    matches = [tournament.match(name, other) for other in tournament.names if other != name]
    if len(matches) == 1:
        return matches[0].data()
    wins, draws, losses = (sum(getattr(match, kind) for match in matches) for kind in ("wins", "draws", "losses"))
    total = wins + draws + losses
    return {
        "wins": wins, "draws": draws, "losses": losses, "games": total,
        "interval": list(wilson_interval(wins + draws / 2, total)),
    }  # fmt: skip


def _standings(tournament: arena.Tournament) -> list[dict[str, Any]]:
    """The agents, best first."""
    rows: list[dict[str, Any]] = []
    if tournament.game.players == 2:
        elo = tournament.elo()
        for name in tournament.names:
            overall = _overall(tournament, name)
            points = overall["wins"] + overall["draws"] / 2
            rows.append({"agent": name, "elo": list(elo[name]), "points": points, "games": overall["games"]})
        return sorted(rows, key=lambda row: -row["elo"][0])
    for name in tournament.names:
        returns = [record.returns[0] for record in tournament.records.values() if record.players == (name,)]
        low, high = bootstrap_interval(np.array(returns), tournament.seed)
        rows.append({"agent": name, "mean": float(np.mean(returns)), "interval": [low, high], "best": max(returns)})
    return sorted(rows, key=lambda row: -row["mean"])


COMMANDS: Commands = {"play": play, "explain": explain, "arena": arena_match}
