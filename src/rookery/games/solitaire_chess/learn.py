"""The page about a learned ranking inside backtracking: two search trees that grow side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from rookery._native.solitaire_chess import CaptureRanker
from rookery.game import Overlay
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import capture_tree, solve
from rookery.games.solitaire_chess.paper import PAPER
from rookery.games.solitaire_chess.puzzles import make_puzzles, pack
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.games.solitaire_chess.search import Found, Order, search
from rookery.games.solitaire_chess.search_tree import search_tree_svg
from rookery.games.solitaire_chess.study import PAPER_PUZZLE
from rookery.report.text import counted
from rookery.studies.lesson import Chart, Experiment, Finding, Lesson, Outcome, Panel, board, slider

GAME = SolitaireChess()
MOST_DRAWN = 60
"""Positions of a tree that are drawn."""
MOST_STATES = 50_000


@cache
def ranker(name: str) -> CaptureRanker:
    return capture_ranker.load(capture_ranker.shipped(GAME, name))


def searched(state: SolitaireChessState, name: str, max_tree: int = 0) -> Found:
    """Depth-first search in the paper's order, or in that of a ranking; the paper's own ranking does not look ahead."""
    order: Order = "paper" if name == "backtracking" else ranker(name)
    return search(state, "dfs", order, max_states=MOST_STATES, max_tree=max_tree, look_ahead=name not in ("paper-dqn",))


def figure(settings: object) -> Outcome:
    """Figure 4: positions entered per puzzle."""
    states = [GAME.parse_state(puzzle.rows) for puzzle in pack()]
    names = {"backtracking": "backtracking", "paper-dqn": "the paper's ranking"}
    counts = {name: [searched(state, name).states for state in states] for name in names}
    lines = {names[name]: [(i + 1.0, float(n)) for i, n in enumerate(counts[name])] for name in names}
    worse = sum(a > b for a, b in zip(counts["paper-dqn"], counts["backtracking"], strict=True))
    text = (
        f"Searched just now: the ranking enters {np.mean(counts['paper-dqn']):.0f} positions on average, plain "
        f"backtracking {np.mean(counts['backtracking']):.0f}. But on {worse} of {len(states)} puzzles the ranking "
        "enters more, which the paper says cannot happen."
    )
    chart = Chart("puzzle, in the order of difficulty", "positions entered", lines, log_y=True)
    return Outcome(text, [Panel("Figure 4: positions entered on each of 80 puzzles", chart=chart, wide=True)])


@dataclass(frozen=True)
class Trees:
    position: str = board(PAPER_PUZZLE)
    """The puzzle: the paper's number 2, or yours."""
    ranking: Literal["paper-dqn", "dqn", "taught"] = "paper-dqn"
    """Learned as in the paper; by our deep Q-learning; or taught by exact answers."""


def trees(settings: Trees) -> Outcome:
    """Both search trees."""
    state = GAME.parse_state(settings.position)
    assert isinstance(state, SolitaireChessState)
    if state.pieces < 2:
        raise ValueError("a puzzle needs two pieces at least")
    found = {name: searched(state, name, MOST_DRAWN) for name in ("backtracking", settings.ranking)}
    plain, ranked = found["backtracking"], found[settings.ranking]
    panels = []
    for name, result in found.items():
        whole = result.states <= MOST_DRAWN
        title = f"{result.states - 1:,} captures tried" + ("" if whole else f", the first {MOST_DRAWN - 1} drawn")
        svg = search_tree_svg(state, result.tree, whole and result.moves is not None, title)
        heading = "Backtracking in the paper's order" if name == "backtracking" else f"Captures ranked by {name}"
        panels.append(Panel(heading, [svg], wide=max(plain.states, ranked.states) > 14))
    if plain.moves is None:
        text = f"There is no solution: both searches enter all {plain.states:,} positions."
        if not plain.finished:
            text = f"Both searches gave up after {MOST_STATES:,} positions."
    else:
        verdict = (
            "fewer than"
            if ranked.states < plain.states
            else "as many as"
            if ranked.states == plain.states
            else ("more than")
        )
        text = (
            f"Backtracking enters {plain.states:,} positions, the ranking {ranked.states:,}: {verdict} backtracking. "
            f"The least possible is {state.pieces}, one per piece."
        )
    steps = min(MOST_DRAWN, max(result.states for result in found.values()))
    return Outcome(text, panels, steps, "position")


@dataclass(frozen=True)
class Puzzle:
    level: Literal["beginner", "intermediate", "advanced", "expert"] = "expert"
    """How hard the puzzle shall be."""
    number: int = slider(1, 1, 50)
    """Another puzzle with every number."""


def new_puzzle(settings: Puzzle) -> Outcome:
    """A new puzzle, its solution, and what every search takes."""
    puzzle = make_puzzles(settings.level, 1, settings.number)[0]
    state = GAME.parse_state(puzzle.rows)
    assert isinstance(state, SolitaireChessState)
    rows = [[name, f"{searched(state, name).states:,}"] for name in ("backtracking", "paper-dqn", "dqn", "taught")]
    rows.append(["backtracking with memory", f"{search(state, 'dfs-tt').states:,}"])
    rows.append(["the same, pruned", f"{search(state, 'dfs-tt', prune=True).states:,}"])
    rows.append(["best first by dqn", f"{search(state, 'best-first', ranker('dqn')).states:,}"])
    moves = solve(state).moves or []
    svgs, notes = _played(state, moves)
    tree = capture_tree(state)
    text = (
        f"{state.pieces} pieces, {counted(tree.solutions, 'solution')}, one possible last piece: {puzzle.final}. The "
        f"least possible is {state.pieces} positions."
    )
    panel = Panel("A solution", svgs, notes)
    return Outcome(text, [panel], len(svgs), "capture", ("search", "positions entered"), rows)


def _played(state: SolitaireChessState, moves: Sequence[int]) -> tuple[list[str], list[str]]:
    svgs, notes = [state.svg()], ["The puzzle."]
    at = state.clone()
    for move in moves:
        name, cells = at.action_name(move), at.action_cells(move)
        at.apply(move)
        svgs.append(at.svg(Overlay(highlights=dict.fromkeys(cells, "last"))))
        notes.append(name)
    return svgs, notes


LESSON = Lesson(
    title="Solitaire Chess: rank the captures before you try them",
    paper=PAPER,
    summary="Backtracking solves every puzzle. Can a network make it take fewer wrong turns?",
    story=(
        "In Solitaire Chess every move is a capture, and the puzzle is solved when one piece is left.",
        "Backtracking solves every puzzle: try a capture, go on from there, and take it back if nothing works.",
        "The order in which captures are tried decides how many positions are entered before the solution is found.",
        "The paper's baseline takes the pieces from the bottom row to the top, and their captures from the end of a "
        "list.",
        "Its idea is to let a deep Q-network learn what every capture is worth, and to try the best one first.",
        "The network learns from games in which it captures by its own values, and now and then at random; positions "
        "are kept in a memory from which it is trained.",
        "Values of a capture are the reward and the discounted value of the best capture after it.",
        "The search around it stays complete, so that every puzzle is solved: it reports an accuracy of 100%.",
        "It counts the paths explored on 80 puzzles of four levels, for which the game's author gives solutions.",
        "It says that the ranking explores fewer, and is bounded above by the baseline: never worse.",
    ),
    figure=Experiment("figure", "The key figure", "Positions entered by backtracking and by the ranking.", figure),
    experiments=(
        Experiment(
            "trees", "Two trees",
            "Set up a puzzle and watch both searches enter positions, numbered in that order. Red boards are dead "
            "ends, green ones lead to the solution.",
            trees, Trees,
        ),
        Experiment(
            "puzzle", "Make a puzzle",
            "New puzzles in a moment, and what seven searches take to solve them. Three of them have learned nothing.",
            new_puzzle, Puzzle,
        ),
    ),
    findings=(
        Finding(
            "The ranking explores fewer positions than backtracking.",
            "0.69 of them on our 80 puzzles, learned as the paper describes it.",
            "It holds. A memory of positions and a test for dead ends, which learn nothing, come to 0.06.",
        ),
        Finding(
            "It is bounded above by the baseline.",
            "It enters more positions than backtracking on 17 of 80 puzzles.",
            "Wrong: a ranking that errs early costs more than none.",
        ),
        Finding(
            "An accuracy of 100%.",
            "The same for every search here, learned or not.",
            "True of any complete search. 59% of the puzzles are solved without a step back, and that says more.",
        ),
        Finding(
            "Deep Q-learning from single games.",
            "Learning from what backtracking takes back comes to 0.02 of the positions in best-first search, where "
            "0.02 is the least possible.",
            "The idea is good; its learner left much on the table.",
        ),
    ),
    command="rookery reproduce solitaire-chess --quick --seed 0",
)  # fmt: skip
