"""The page about Prior State Voting: train a table, and see which known positions vote on a new one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rookery import arena
from rookery.game import Overlay
from rookery.games.checkers.agents import QTableAgent, draw_vote
from rookery.games.checkers.paper import PAPER
from rookery.games.checkers.q_learning import Fallback, QTable, Settings, play_against_random
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.study import LEVELS, PAPER_WINS
from rookery.registry import agent
from rookery.studies.lesson import Chart, Experiment, Finding, Lesson, Outcome, Panel, board, slider

GAME = Checkers()
SEED = 0
SHOWN = LEVELS[:5]
"""Levels of training that take a moment."""
FIGURE_GAMES = 300
STRENGTH_GAMES = 40


def trained(games: int, game: Checkers = GAME) -> QTable:
    table = QTable()
    table.train(game, replace(Settings(), games=games), SEED)
    return table


def figure(settings: object) -> Outcome:
    """Figure 4, up to 10,000 games."""
    ways: tuple[Fallback, ...] = ("voting", "random")
    game = Checkers(**Checkers.variants["no-draws"])
    ours: dict[Fallback, list[tuple[float, float]]] = {way: [] for way in ways}
    for level in SHOWN:
        table = trained(level, game)
        for way in ways:
            match = play_against_random(table, game, way, FIGURE_GAMES, SEED)
            ours[way].append((level, 100 * match.wins / match.games))
    names: dict[Fallback, str] = {"voting": "votes", "random": "random moves"}
    paper = {
        way: [(level, float(wins)) for level, wins in zip(SHOWN, PAPER_WINS[way], strict=False) if wins is not None]
        for way in ways
    }
    chart = Chart(
        "games of training", "won against random, %", {f"{names[way]}, here": ours[way] for way in ways},
        {f"{names[way]}, paper": paper[way] for way in ways}, log_x=True,
    )  # fmt: skip
    text = (
        f"Trained and played just now, {FIGURE_GAMES} games per point, until one side wins; the paper played 100. In "
        "positions that the table does not know, votes or random moves decide."
    )
    return Outcome(text, [Panel("Figure 4: what votes are worth", chart=chart, wide=True)])


@dataclass(frozen=True)
class Votes:
    games: int = slider(500, 10, 10_000, log=True)
    """Games of self-play before the vote."""
    position: str = board("B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29")
    """The position that is voted on."""
    symmetries: bool = False
    """Let positions vote through rotation and mirror images, too."""


def votes(settings: Votes) -> Outcome:
    """Train a table and let it vote."""
    state = GAME.parse_state(settings.position)
    assert isinstance(state, CheckersState)
    if state.player() < 0:
        raise ValueError("the game is over in this position: there is nothing to vote on")
    table = trained(settings.games)
    symmetries = 4 if settings.symmetries else 1
    scores = {action: (mean, count) for action, mean, count in table.voting(symmetries).scores(state)}
    ranked = sorted(scores, key=lambda action: -scores[action][0])
    best = ranked[0]
    drawn = Panel("The mean vote on every move", [state.svg(Overlay(values={a: scores[a][0] for a in ranked}))])
    panels = [drawn]
    for title, group in zip(("for", "against"), table.strongest_votes(state, best, 2, symmetries), strict=True):
        for vote in group:
            drawing = draw_vote(state, best, vote, title)
            note = (
                f"{vote.weight:+.4f}: value {vote.q:+.4f} of {vote.state.action_name(vote.action)}, times "
                f"{vote.matching} of 64 cells that agree (green)"
            )
            panels.append(Panel(f"A vote {title} {state.action_name(best)}", [drawing.svg], [note]))
    known = table.values(state)
    text = f"The table knows {len(table):,} positions after {settings.games:,} games; this one is " + (
        f"not among them, and {state.action_name(best)} wins the vote."
        if known is None
        else f"among them, so that its own values would decide. If it voted, {state.action_name(best)} would win."
    )
    rows = [[state.action_name(action), f"{scores[action][0]:+.4f}", f"{scores[action][1]:,}"] for action in ranked]
    return Outcome(text, panels, columns=("move", "mean vote", "votes"), rows=rows)


@dataclass(frozen=True)
class Strength:
    games: int = slider(2000, 10, 20_000, log=True)
    """Games of self-play."""
    depth: int = slider(3, 1, 4)
    """Plies that the opponent looks ahead; it counts pieces and has learned nothing."""


def strength(settings: Strength) -> Outcome:
    """A trained table against random and against minimax."""
    table = trained(settings.games)
    players = {"votes": QTableAgent(table, "voting"), "random moves": QTableAgent(table)}
    opponents = {"random": agent("random", GAME), "minimax": agent(f"minimax:depth={settings.depth}", GAME)}
    rows, scores = [], {}
    for name, player in players.items():
        row = [name]
        for opponent, other in opponents.items():
            match = arena.match(GAME, player, other, STRENGTH_GAMES, SEED)
            low, high = match.interval
            scores[name, opponent] = 50 + 50 * (match.wins - match.losses) / match.games
            row.append(f"{scores[name, opponent]:.0f}% ({100 * low:.0f}-{100 * high:.0f})")
        rows.append(row)
    text = (
        f"The table with votes takes {scores['votes', 'random']:.0f}% of the points from random, and "
        f"{scores['votes', 'minimax']:.0f}% from a program that looks {settings.depth} plies ahead and counts pieces."
    )
    columns = ("in unknown positions", "against random", f"against minimax, depth {settings.depth}")
    return Outcome(text, columns=columns, rows=rows)


LESSON = Lesson(
    title="Checkers: let known positions vote",
    paper=PAPER,
    summary="A table of values is tiny beside the game. What if the positions in it vote on those that are not?",
    story=(
        "Checkers has some 5 x 10^20 positions: no table can hold a value for every move in each of them.",
        "The program of the paper plays against itself and keeps values of the moves in the positions that it meets: "
        "Q-learning with a table.",
        "After every game the values of the winner's moves are raised and those of the loser's lowered, from the last "
        "move back to the first.",
        "Even after 40,000 games, a new game soon leaves the table.",
        "The idea is Prior State Voting: where a position is unknown, the known ones vote on its moves.",
        "A known move votes on a new one of the same form: the same displacement, capturing the same kinds of pieces.",
        "The two boards are laid onto each other so that the moves coincide, and the vote is the value of the known "
        "move times the share of the 64 cells that agree.",
        "The move with the greatest mean vote is played.",
        "The paper measures wins against a player of random moves, beside two other ways out of an unknown position: a "
        "random move, and further training from there.",
        "After 40,000 games it reports 90% with votes, 50% with random moves and 56% with further training, and "
        "seventeen minutes per game for the votes.",
    ),
    figure=Experiment("figure", "The key figure", "Wins against random by games of training.", figure),
    experiments=(
        Experiment(
            "votes", "Who votes?",
            "Train a table, set up a position, and see the strongest votes for and against the winner. Green cells "
            "agree with the new position, red ones differ.",
            votes, Votes,
        ),
        Experiment(
            "strength", "Is that strong?",
            "Winning against random sounds good. Let the same table meet a program that looks a few plies ahead.",
            strength, Strength,
        ),
    ),
    findings=(
        Finding(
            "With votes the table wins 83 to 94% of games against random from 1,000 games of training on, with random "
            "moves 48 to 61%.",
            "80 to 89% until one side wins, 77 to 83% where games can be drawn; with random moves 51 to 61%.",
            "The finding stands. The paper's figures are those of its author's program, which differs from its text.",
        ),
        Finding(
            "To keep training in unknown positions is regressive: 48 to 56%.",
            "91 to 93%: the best of the three.",
            "Wrong: the author's program had the sign of the reward inverted when it played White.",
        ),
        Finding(
            "A game takes 1,018 s after 40,000 games of training, as every vote is counted anew.",
            "19 µs: votes can be summed up by form of move and cell before they are asked for.",
            "No need of the method.",
        ),
        Finding(
            "Winning against random shows what was learned.",
            "Minimax of three plies, which has learned nothing, takes 90% of the points from the table with votes.",
            "Random is too weak a yardstick.",
        ),
    ),
    command="rookery reproduce checkers --seed 0",
)  # fmt: skip
