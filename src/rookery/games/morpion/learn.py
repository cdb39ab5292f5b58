"""The page about ranked rewards on Morpion Solitaire: watch the threshold climb, and what a search does in a second."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rookery._native import Control
from rookery.games.morpion import MODELS
from rookery.games.morpion.learning_study import PAPER_BEST
from rookery.games.morpion.paper import PAPER
from rookery.games.morpion.rules import RECORDS, UPPER_BOUNDS, Morpion, MorpionState
from rookery.games.morpion.search import CampaignSettings, search_once, shipped
from rookery.games.morpion.study import HUMAN
from rookery.registry import load
from rookery.studies.lesson import Chart, Experiment, Finding, Lesson, Outcome, Panel, slider

FRAMES = 40
PENALTY = 0.1
"""A move of a game with reward -1 changes by this share of what one with reward 1 does."""


def figure(settings: object) -> Outcome:
    """The learning curves of the paper's system at full size, which ship, and the length of its best game."""
    data = json.loads((MODELS / "r2.json").read_text(encoding="utf-8"))
    lines: dict[str, list[tuple[float, float]]] = {
        f"board {board}": [(i + 1.0, float(best)) for i, best in enumerate(curve["best"])]
        for board, curve in data["boards"].items()
    }
    ends = 1.0, float(max(len(curve["best"]) for curve in data["boards"].values()))
    lines["the paper's best game"] = [(x, float(PAPER_BEST)) for x in ends]
    lines["the record"] = [(x, float(RECORDS["5D"])) for x in ends]
    chart = Chart("iteration (the paper: 100)", "longest game so far, moves", lines)
    grid = shipped("5D")
    text = (
        f"The paper draws a game of {PAPER_BEST} moves; ours has {len(grid.moves)}, which a search found in seconds. "
        "The curves are those of the paper's system on three sizes of board, trained on one GPU until the time was up."
    )
    return Outcome(
        text, [Panel("What its system learns", chart=chart, wide=True), Panel("Figure 7.2, longer", [grid.svg()])]
    )


@dataclass(frozen=True)
class Ranked:
    variant: Literal["5D", "4D"] = "5D"
    """Lines of five dots, or of four."""
    reward: Literal["ranked", "fixed goal"] = "ranked"
    """1 for a game that is longer than most of the recent ones; or for one that reaches the paper's best length."""
    ratio: float = slider(0.75, 0.5, 0.95, 0.05)
    """The share of recent games that a good game must beat; 0.75 in the paper."""
    memory: int = slider(100, 20, 400, 20)
    """Recent games that are ranked; 200 in the paper."""
    games: int = slider(1000, 100, 3000, log=True)
    """Games of self-play."""
    rate: float = slider(0.5, 0.1, 1.0, 0.1)
    """Learning rate."""


def ranked(settings: Ranked) -> Outcome:
    """A policy with one weight per move learns from ranked rewards, game by game."""
    game = load("morpion", settings.variant)
    assert isinstance(game, Morpion)
    goal = PAPER_BEST if settings.variant == "5D" else RECORDS["4D"]
    rng = np.random.default_rng(0)
    weights = np.zeros(game.num_actions)
    scores: list[int] = []
    thresholds: list[int] = []
    wins = 0
    longest = game.initial_state()
    for _ in range(settings.games):
        state, choices = _self_play(game, weights, rng)
        score = len(choices)
        scores.append(score)
        recent = sorted(scores[-settings.memory :])
        threshold = recent[min(len(recent) - 1, int(len(recent) * settings.ratio))]
        thresholds.append(threshold if settings.reward == "ranked" else goal)
        z = int(np.sign(score - thresholds[-1])) or (int(rng.choice([-1, 1])) if settings.reward == "ranked" else 1)
        wins += z > 0
        change = settings.rate * (1.0 if z > 0 else -PENALTY)
        for legal, chances, chosen in choices:
            weights[legal] -= change * chances
            weights[legal[chosen]] += change
        if score > len(longest.moves):
            longest = state
    window = max(10, settings.games // 30)
    means = np.convolve(scores, np.ones(window) / window, "valid")
    places = np.unique(np.linspace(0, len(means) - 1, 200).astype(int))
    lines = {
        f"length, mean of {window} games": [(float(i + window), float(means[i])) for i in places],
        "threshold" if settings.reward == "ranked" else "goal": [
            (float(i + 1), float(thresholds[i]))
            for i in np.unique(np.linspace(settings.memory // 2, settings.games - 1, 200).astype(int))
        ],
    }
    chart = Chart("games", "moves", lines)
    first = means[0]
    text = (
        f"The first {window} games last {first:.1f} moves on average, the last {means[-1]:.1f}; the longest has "
        f"{len(longest.moves)}. {100 * wins / settings.games:.0f}% of the games earned +1."
    )
    panels = [
        Panel("The threshold climbs with the player" if settings.reward == "ranked" else "A goal out of reach",
              chart=chart, wide=True),
        Panel(f"The longest game: {len(longest.moves)} moves", [longest.svg()]),
    ]  # fmt: skip
    return Outcome(text, panels, FRAMES, "frame")


def _self_play(
    game: Morpion, weights: Any, rng: np.random.Generator
) -> tuple[MorpionState, list[tuple[Any, Any, int]]]:
    """One game by the softmax of the weights: the last position, and for every move the legal ones with their chances
    and which was played."""
    state = game.initial_state()
    choices = []
    while actions := state.legal_actions():
        legal = np.array(actions)
        chances = np.exp(weights[legal] - weights[legal].max())
        chances /= chances.sum()
        chosen = min(int(np.searchsorted(np.cumsum(chances), rng.random())), len(actions) - 1)
        choices.append((legal, chances, chosen))
        state.apply(actions[chosen])
    return state, choices


@dataclass(frozen=True)
class Nested:
    variant: Literal["5D", "5T", "4D", "4T"] = "5D"
    """Lines of five or four dots; in T they may touch at their ends."""
    level: int = slider(2, 1, 2)
    """Level of nesting; one of level 2 makes 10,000 games."""
    seed: int = slider(1, 1, 50)
    """Another run with every seed."""


def nested(settings: Nested) -> Outcome:
    """One run of nested rollout policy adaptation."""
    game = load("morpion", settings.variant)
    assert isinstance(game, Morpion)
    campaign = CampaignSettings(settings.variant, "nrpa", settings.level, settings.seed)
    found = search_once(game.initial_state(), campaign, settings.seed, Control(), lambda *best: None)
    assert found is not None
    state = game.initial_state()
    svgs, notes = [], []
    step = max(1, len(found.actions) // 20)
    for number, action in enumerate(found.actions, 1):
        state.apply(action)
        if number % step == 0 or number == len(found.actions):
            svgs.append(state.svg())
            notes.append(f"{number} moves")
    known = f"the record is {RECORDS[settings.variant]}, and more than {UPPER_BOUNDS[settings.variant]} are impossible"
    paper = f"the paper's best game has {PAPER_BEST}, " if settings.variant == "5D" else ""
    text = f"{len(found.actions)} moves, found by {100**settings.level:,} games of a search just now; {paper}{known}."
    return Outcome(text, [Panel("The game it found", svgs, notes)], len(svgs), "part")


LESSON = Lesson(
    title="Morpion Solitaire: be better than yourself",
    paper=PAPER,
    summary="Self-play needs an opponent. Ranked rewards make one out of the player's own recent games.",
    story=(
        "Morpion Solitaire is played with paper and pencil: add a dot, draw a line through five, go on as long as you "
        "can.",
        "There is no opponent, so that self-play as in AlphaZero, where one side wins, does not apply as it is.",
        "Ranked reward makes a contest of it: a game earns +1 if it is longer than most of the recent games, and -1 if "
        "it is shorter.",
        "The threshold is the length at three quarters of the ranked list of the last 200 games; on a tie a coin "
        "decides.",
        "As the player gets better, the threshold climbs with it: the goal is always just out of reach.",
        "A network learns a policy and a value from positions, policies and these rewards.",
        "Moves come from the network; every tenth iteration a game is played with a tree search of 20,000 simulations "
        "per move.",
        "The paper trains on boards of 16, 20 and 22 for 100 iterations of 50 games, about a week on eight GPUs.",
        f"Its best game on the variant 5D has {PAPER_BEST} moves.",
        f"The best that people found by hand has {HUMAN['5D']}, and the record of a search is {RECORDS['5D']}.",
    ),
    figure=Experiment("figure", "The key figure", "Learning curves, and a long game.", figure),
    experiments=(
        Experiment(
            "ranked", "Watch the threshold climb",
            "A small policy, one weight per move, learns by ranked rewards from its own games. Then give it a fixed "
            "goal instead: no game reaches it, and there is nothing to learn from.",
            ranked, Ranked,
        ),
        Experiment(
            "nested", "What a search does in a moment",
            "Nested rollout policy adaptation forgets all it learned at the end of a run. See how often it passes the "
            "paper's best game.",
            nested, Nested,
        ),
    ),
    findings=(
        Finding(
            f"{PAPER_BEST} moves on 5D, close to the best by hand.",
            "Four of five runs of NRPA of level 2 are at least as good, at less than 0.1 CPU seconds each; level 3 "
            f"finds the record of {RECORDS['5D']} in seconds.",
            "The length stands, but it is no sign of learning: a search without memory does better.",
        ),
        Finding(
            "Self-play with ranked rewards improves the player.",
            "In 27 to 63 of its 100 iterations the games of our runs did not get longer: 41 to 44 moves, as "
            "random play.",
            "Its policy is trained on the policy that it played, so that only the value learns anything. The reward "
            "is not to blame: a policy of one weight per move learns by it, as you can see above.",
        ),
        Finding(
            "An upper bound of 121 moves.",
            f"{UPPER_BOUNDS['5D']} has been proven since.",
            "Out of date.",
        ),
    ),
    command="rookery reproduce morpion --seed 0",
)  # fmt: skip
