"""The page about Q-learning of chess endgames: watch the least-best-move backup spread, and an agent learn to mate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rookery import _native
from rookery.game import Overlay
from rookery.games.endgames.paper import PAPER
from rookery.games.endgames.q_learning import POTENTIAL, VERSIONS, Engine, LearnedTable, perfect_engine, train
from rookery.games.endgames.rules import Endgames, EndgamesState
from rookery.games.endgames.study import ENDGAMES, PAPER_SOLVED, start_positions
from rookery.games.endgames.tables import tables
from rookery.studies.lesson import Chart, Experiment, Finding, Lesson, Outcome, Panel, board, picked, slider

SEED = 0
DISCOUNT = 0.95
MATERIALS = ("KQK", "KRK")
FIGURE_MATCHES = 5000
FIGURE_STARTS = 10


def figure(settings: object) -> Outcome:
    """Figure 3.5: the share of matches won so far, by agent, with the rook."""
    engine = perfect_engine(tables("KRK").native)
    starts = start_positions("KRK", FIGURE_STARTS, SEED)
    versions = {"engine's reward": VERSIONS["Stockfish Decaying"], "heuristic reward": VERSIONS["Heuristic Decaying"]}
    versions["potential (ours)"] = POTENTIAL
    lines = {}
    for name, version in versions.items():
        runs = [
            train(start.state, version, engine, matches=FIGURE_MATCHES, seed=SEED + i)[0]
            for i, start in enumerate(starts)
        ]
        lines[name] = _curve(np.mean([run.win_percentage for run in runs], axis=0))
    text = (
        f"Trained just now from {FIGURE_STARTS} starts with king and rook, against the perfect defender, where the "
        "paper has Stockfish. All agents learn from nothing but their reward."
    )
    chart = Chart("matches", "won so far, %", lines)
    return Outcome(text, [Panel("Figure 3.5: rewards compared, king and rook", chart=chart, wide=True)])


def _curve(percentages: np.ndarray) -> list[tuple[float, float]]:
    places = np.unique(np.geomspace(1, len(percentages), 150).astype(int))
    return [(float(place), float(percentages[place - 1])) for place in places]


@dataclass(frozen=True)
class Spread:
    position: str = board("8/8/8/4k3/8/2K5/8/3Q4 w - - 0 1", "KQK")
    """White's men: king and queen, or king and rook."""
    square: int = picked(-1, -1, 63)
    """The black king's square: click it on the board; -1 is where it stands in the position."""
    rounds: int = slider(24, 5, 40)
    """Rounds of learning. In each, as many positions are tried as there are."""


def spread(settings: Spread) -> Outcome:
    """What the learner knows after every round, for every square of the black king."""
    game = Endgames()
    text = settings.position if settings.square < 0 else game.with_piece(settings.position, settings.square, "k")
    state = game.parse_state(text)
    if state.material not in MATERIALS or state.strong != 0 or state.player() != 0:
        raise ValueError("set up White's king and queen, or king and rook, against a king, with White to move")
    table = tables(state.material)
    places: dict[int, EndgamesState] = {}
    for cell in range(64):
        try:
            places[cell] = game.parse_state(game.with_piece(text, cell, "k"))
        except ValueError:
            continue  # occupied, in check, or beside the other king
        if places[cell].material != state.material:
            del places[cell]  # the king took the place of a piece
    exact = {cell: table.dtm(at) for cell, at in places.items()}
    learner = _native.endgames.PerfectLearner(state.material[1:-1], DISCOUNT)
    svgs, notes, known_share, right_share = [], [], [], []
    for number in range(1, settings.rounds + 1):
        learner.round(learner.positions, SEED, 0)
        moves = {cell: _moves(learner, at) for cell, at in places.items()}
        known = {cell: found for cell, found in moves.items() if found is not None}
        right = {cell for cell, found in known.items() if exact[cell] == 2 * found - 1}
        marks = {cell: "good" if cell in right else "focus" for cell in known}
        svgs.append(state.svg(Overlay(highlights=marks, labels={cell: str(found) for cell, found in known.items()})))
        verdict = learner.judge(table.native, 0)
        notes.append(f"Of all {verdict.won:,} won positions, {verdict.exact / verdict.won:.1%} have their exact value.")
        known_share.append((float(number), 100 * len(known) / len(places)))
        right_share.append((float(number), 100 * verdict.exact / verdict.won))
    truth = table.dtm(state)
    mine = _moves(learner, state)
    learned = "no mate yet" if mine is None else f"mate in {mine}"
    text = (
        f"With the black king where it stands, the learner knows {learned} after {settings.rounds} rounds; exactly, it "
        f"is {'a draw' if truth is None else f'mate in {(truth + 1) // 2}'}."
    )
    chart = Chart("round", "%", {"squares here that know a mate": known_share, "all positions exact": right_share})
    panels = [
        Panel("Moves to mate by the black king's square, White to move; green is exact", svgs, notes),
        Panel("How far the news has spread", chart=chart),
    ]
    values = dict(learner.values(state))
    rows = [
        [state.action_name(action), _as_moves(values[action]), _as_exact(table.moves(state)[action])]
        for action in sorted(values, key=lambda action: -values[action])[:6]
    ]
    return Outcome(text, panels, settings.rounds, "round", ("move", "learned", "exact"), rows)


def _moves(learner: _native.endgames.PerfectLearner, state: EndgamesState) -> int | None:
    """Moves to mate by the learned value of a position; None if it knows no mate."""
    best = max((value for _, value in learner.values(state)), default=0.0)
    return None if best <= 0 else round(1 + math.log(best) / math.log(DISCOUNT))


def _as_moves(value: float) -> str:
    return "no mate known" if value <= 0 else f"mate in {round(1 + math.log(value) / math.log(DISCOUNT))}"


def _as_exact(plies: int | None) -> str:
    return "draw" if plies is None else f"mate in {(plies + 1) // 2}"


@dataclass(frozen=True)
class Mate:
    endgame: Literal["King and Queen", "King and Rook", "King and Bishops"] = "King and Rook"
    """The men of White."""
    reward: Literal["engine", "heuristic", "potential"] = "engine"
    """An engine's mate in n; the paper's simple features; or the same features as a potential."""
    matches: int = slider(2000, 50, 5000, log=True)
    """Matches of training; the paper plays 5,000."""
    start: int = slider(1, 1, 10)
    """Another start with every number."""


def mate(settings: Mate) -> Outcome:
    """Learn from one start, and play what was learned."""
    material = ENDGAMES[settings.endgame]
    table = tables(material)
    engine = perfect_engine(table.native)
    versions = {"engine": VERSIONS["Stockfish Decaying"], "heuristic": VERSIONS["Heuristic Decaying"]}
    start = start_positions(material, settings.start, SEED)[-1]
    run = train(
        start.state, versions.get(settings.reward, POTENTIAL), engine, matches=settings.matches, seed=settings.start
    )[0]
    svgs, notes = _game(start.state, run.tables["strong"], engine)
    chart = Chart("matches", "won so far, %", {settings.reward: _curve(run.win_percentage)})
    result = f"mates in {run.solution} moves" if run.solution is not None else f"does not mate ({run.solution_ending})"
    text = (
        f"After {settings.matches:,} matches the table, played without exploration, {result}; the exact distance is "
        f"{start.exact}. It has met {len(run.tables['strong'].positions):,} positions."
    )
    panels = [Panel("What it plays, against the perfect defender", svgs, notes), Panel("Learning", chart=chart)]
    return Outcome(text, panels, len(svgs), "ply")


def _game(start: EndgamesState, table: LearnedTable, engine: Engine) -> tuple[list[str], list[str]]:
    """The game that a table plays, up to 60 plies."""
    state = start.clone()
    svgs, notes = [state.svg()], [state.status()]
    while state.player() >= 0 and len(svgs) <= 60:
        if state.player() == 0:
            values = table.values(state)
            action = max(values, key=values.__getitem__) if values else state.legal_actions()[0]
        else:
            action = engine.ask(state)[0]
        name, cells = state.action_name(action), state.action_cells(action)
        state.apply(action)
        svgs.append(state.svg(Overlay(highlights=dict.fromkeys(cells, "last"))))
        notes.append(f"{name}. {state.status()}" if state.player() < 0 else name)
    return svgs, notes


LESSON = Lesson(
    title="Chess endgames: learn to mate",
    paper=PAPER,
    summary="Q-learning from nothing, on endgames whose exact answer is known for every position.",
    story=(
        "King and queen, king and rook, and king and two bishops win against a lone king; people learn how.",
        "The paper asks whether plain Q-learning, with a table and without a network, can learn it too.",
        "The agent plays White from one start, 5,000 matches of it, against Stockfish.",
        "After every move its value moves towards the reward and the discounted value of what follows.",
        "As the opponent replies in between, what follows is taken to be the worst: of all replies, the one after "
        "which White's best move is worth least. That is the least-best-move backup.",
        "One reward is what Stockfish's evaluation gains by a move, with large numbers for a mate in n.",
        "The other one knows only two things: the area in which the lone king can move, and the distance of the kings.",
        "Exploration is either static, a random move now and then, or decays with every win.",
        "It reports the share of runs that reach a solution, a table that mates without exploration: 100% with "
        "Stockfish's reward and decay in all three endgames.",
        f"With the simple reward it is {PAPER_SOLVED['Heuristic Decaying'][0]:g}%, "
        f"{PAPER_SOLVED['Heuristic Decaying'][1]:g}% and {PAPER_SOLVED['Heuristic Decaying'][2]:g}%.",
    ),
    figure=Experiment("figure", "The key figure", "How fast three rewards learn to win.", figure),
    experiments=(
        Experiment(
            "spread", "Watch the backup spread",
            "The same backup with a single reward, 1 for mate, from all positions at once. News of mates travels from "
            "square to square: the numbers are moves to mate as learned so far. Click a square to put the king there.",
            spread, Spread,
        ),
        Experiment(
            "mate", "Train an agent",
            "The paper's own experiment from one start. Step through the game that the table plays.",
            mate, Mate,
        ),
    ),
    findings=(
        Finding(
            "With an engine's reward, all runs mate with queen, rook and bishops.",
            "100% of 100 runs each, against the perfect defender; 94, 79 and 84% of the mates are as short as can be.",
            "It holds.",
        ),
        Finding(
            "With simple features hardly any run mates with two bishops: 7%.",
            "23% with that reward; 100% with the same two features as a potential.",
            "True of the reward, not of what it knows.",
        ),
        Finding(
            "The results are worse than Stockfish's, but comparable.",
            "Stockfish at depth 15 plays a best move in 66 to 73% of won positions; the agent mates the perfect "
            "defender faster than it from 57 to 80% of the starts.",
            "The yardstick was not exact. Beside the exact distance, the agent is the better one from its own start.",
        ),
        Finding(
            "A solution from one start.",
            "From all positions, with reward 1 for mate and learning rate 1, the same backup plays every won position "
            "perfectly.",
            "The method can do more than the paper asked of it.",
        ),
    ),
    command="rookery reproduce endgames --seed 0",
)  # fmt: skip
