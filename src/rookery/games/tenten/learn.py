"""The page about value iteration on 1010!: sweep over all boards of 3x3, and see what patience is worth."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from rookery import draw
from rookery.games.tenten.boards import Boards
from rookery.games.tenten.exact import TablePolicy, solve
from rookery.games.tenten.paper import PAPER
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.study import GREEDY, REWARDS, VALUE_ITERATION
from rookery.games.tenten.ties import most_lines, surest_next_piece
from rookery.studies.lesson import Chart, Experiment, Finding, Lesson, Outcome, Panel, picked, slider

SEED = 0
DISCOUNTS = (0.6, 0.8, 0.9, 1.0)
PRECISION = 1e-4
SIDE = 3
STATES = 1 << (SIDE * SIDE)
MAP_COLUMNS = 32


def figure(settings: object) -> Outcome:
    """Figure 12: mean rounds on 4x4 by discount, exact."""
    game = TenTen(4, 4, "seven")
    lines = {
        reward: [
            (discount, solved.policy.evaluate(PRECISION).mean_rounds)
            for discount in DISCOUNTS
            for solved in [solve(game, reward, discount, precision=PRECISION, evaluate=False)]
        ]
        for reward in REWARDS
    }
    best = solve(game, precision=PRECISION).mean_rounds
    lines["the best policy"] = [(discount, best) for discount in (DISCOUNTS[0], DISCOUNTS[-1])]
    points = {f"{reward}, paper": [(0.8, rounds)] for reward, rounds in VALUE_ITERATION.items()}
    chart = Chart("discount", "mean rounds", lines, points, log_y=True)
    text = (
        "Every policy was solved and its mean rounds computed just now, to one part in 10,000; no game was played. "
        "The crosses are the paper's, of ten games each, at its discount of 0.8."
    )
    return Outcome(text, [Panel("Figure 12 and Table 2: 4x4, seven pieces", chart=chart, wide=True)])


@dataclass(frozen=True)
class Sweeps:
    reward: Literal["r1", "r2", "r3"] = "r1"
    """r2: lines cleared, squared. r3: places for the next piece. r1: both."""
    discount: float = slider(0.8, 0.1, 0.95, 0.05)
    """What a reward is worth one round later."""
    sweeps: int = slider(20, 2, 40)
    """Sweeps over all boards."""
    board: int = picked(8, 0, STATES - 1)
    """The board that is looked at: click one on the map."""


def sweeps(settings: Sweeps) -> Outcome:
    """Value iteration on 3x3, sweep by sweep."""
    game = TenTen(SIDE, SIDE, "seven")
    boards = Boards(game)
    if settings.board not in boards.open:
        raise ValueError("this board has a full line, which is cleared before a piece is drawn: pick another one")
    made = list(islice(boards.iterate(settings.reward, settings.discount), settings.sweeps + 1))
    # What arriving at a board is worth is what was earned there, as in the first sweep, and the discounted mean value.
    values = [(arriving - made[0][0]) / settings.discount for arriving, _ in made[1:]]
    top = max(float(values[-1][boards.open].max()), 1e-9)
    maps = [_map(boards, value, top, settings.board) for value in values]
    mine = [float(value[settings.board]) for value in values]
    shown = _board_svg(settings.board)
    chart = Chart("sweep", "value of the chosen board", {"value": [(i + 1, value) for i, value in enumerate(mine)]})
    change = [float(np.abs(b - a)[boards.open].max()) for a, b in zip([0 * values[0], *values], values, strict=False)]
    policy = made[-2][1][:, int(np.searchsorted(boards.open, settings.board))]
    rows = []
    for piece, name in enumerate(game.piece_names):
        place = int(policy[piece])
        cells = [i for i in range(SIDE * SIDE) if boards.masks[piece][place] >> i & 1] if place >= 0 else []
        rows.append([name, ", ".join(f"r{c // SIDE + 1}c{c % SIDE + 1}" for c in cells) or "does not fit: the end"])
    notes = [f"In sweep {i + 1} the greatest change was {x:.3g}." for i, x in enumerate(change)]
    text = (
        f"After {settings.sweeps} sweeps the chosen board is worth {mine[-1]:.3f}; the last sweep changed no value by "
        f"more than {change[-1]:.2g}."
    )
    panels = [
        Panel("All boards, from empty to full; darker is worth more", maps, notes, wide=True),
        Panel("The chosen board", [shown], [f"Worth {value:.3f}." for value in mine]),
        Panel("Its value", chart=chart),
    ]
    return Outcome(text, panels, settings.sweeps, "sweep", ("piece to come", "best placement, cells"), rows)


def _map(boards: Boards, values: Any, top: float, chosen: int) -> str:
    """Every board as a square, ordered by filled cells; those with a full line are left empty."""
    canvas = draw.Canvas(MAP_COLUMNS + 0.4, STATES / MAP_COLUMNS + 0.4, "The value of every board")
    is_open = np.zeros(STATES, bool)
    is_open[boards.open] = True
    order = sorted(range(STATES), key=lambda number: (number.bit_count(), number))
    for place, number in enumerate(order):
        x, y = 0.2 + place % MAP_COLUMNS, 0.2 + place // MAP_COLUMNS
        if not is_open[number]:
            canvas.rect(x + 0.35, y + 0.35, 0.3, 0.3, draw.LIGHT)
            continue
        share = float(values[number]) / top  # at most 1: sweeps from 0 only raise values
        canvas.rect(x + 0.04, y + 0.04, 0.92, 0.92, _shade(share), number)
        if number == chosen:
            extra = f'stroke="{draw.INK}" stroke-width="0.16" pointer-events="none"'
            canvas.rect(x + 0.04, y + 0.04, 0.92, 0.92, "none", extra=extra)
    return canvas.render(24)


def _shade(share: float) -> str:
    """From the colour of an empty cell to a deep orange."""
    low, high = (236, 229, 213), (150, 60, 20)
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(low, high, strict=True))


def _board_svg(number: int) -> str:
    canvas = draw.Canvas(SIDE + 0.4, SIDE + 0.4, "The chosen board")
    for cell in range(SIDE * SIDE):
        fill = _shade(0.8) if number >> cell & 1 else draw.LIGHT
        canvas.rect(0.24 + cell % SIDE, 0.24 + cell // SIDE, 0.92, 0.92, fill, extra='rx="0.12"')
    return canvas.render()


@dataclass(frozen=True)
class Greedy:
    rule: Literal["most lines now", "surest next piece", "one of both at random"] = "most lines now"
    """The paper's greedy rules 1, 2 and 3."""
    games: int = slider(10, 2, 2000, log=True)
    """Games to play; the paper's averages look like ten."""
    seed: int = slider(1, 1, 20)
    """Other games with every seed."""


def greedy(settings: Greedy) -> Outcome:
    """How far the mean of some games is from the exact mean."""
    boards = Boards(TenTen(3, 3, "three"))
    lines, chance = most_lines(boards), surest_next_piece(boards)
    tables = {"most lines now": [lines], "surest next piece": [chance]}.get(settings.rule, [lines, chance])
    number = next(row for row in GREEDY if settings.rule in row[0])
    policy = TablePolicy(boards.game, tables)
    exact = policy.evaluate().mean_rounds
    rounds = policy.play(settings.games, settings.seed).rounds
    means = np.cumsum(rounds) / np.arange(1, settings.games + 1)
    places = np.unique(np.geomspace(1, settings.games, 120).astype(int))
    curve = [(float(place), float(means[place - 1])) for place in places]
    half = 1.96 * float(rounds.std(ddof=1)) / settings.games**0.5
    chart = Chart(
        "games", "mean rounds so far",
        {"mean of the games": curve, "exact mean": [(1.0, exact), (float(settings.games), exact)]},
        {"paper": [(10.0, number[1][0])]} if settings.games >= 10 else {}, log_x=settings.games > 50,
    )  # fmt: skip
    text = (
        f"{settings.games:,} games: {means[-1]:,.1f} rounds on average, plus or minus {half:,.1f}, the shortest "
        f"{rounds.min():,} and the longest {rounds.max():,}. The exact mean is {exact:,.1f}; the paper says "
        f"{number[1][0]:,g}."
    )
    return Outcome(text, [Panel("Ten games say little", chart=chart, wide=True)])


LESSON = Lesson(
    title="1010!: solve it, and mind the discount",
    paper=PAPER,
    summary="Small boards are solved by value iteration. But what is it that is optimal?",
    story=(
        "1010! is a puzzle on a board of 10x10: place the pieces that come, and full rows and columns are cleared.",
        "The game ends when the next piece does not fit; there is no opponent but chance.",
        "The paper makes it a Markov decision process: a state is a board and a piece, an action a placement.",
        "On boards of 3x3 and 4x4 every state can be listed, and value iteration computes the best placement in each: "
        "sweep by sweep, a state is worth the best of reward and discounted mean value of what follows.",
        "It tries three rewards: lines cleared, squared (r2), the number of places for the next piece (r3), and the "
        "sum of both (r1), all with a discount of 0.8.",
        "Three greedy rules, which look one placement ahead, stand beside it.",
        "It counts states and edges, and concludes that 5x5 cannot be solved: 2^32.9 bytes would be needed.",
        "For the real game it learns: least-squares policy iteration (LSPI) fits 21 weights of features such as holes "
        "and corners to games of its own.",
        "It reports 1,450.7 rounds on 4x4 by value iteration with r1, and 204 rounds on 10x10 by LSPI.",
        "Most games on 10x10 are lost to one piece, the square of 3x3.",
    ),
    figure=Experiment("figure", "The key figure", "How long the paper's policies last, by discount.", figure),
    experiments=(
        Experiment(
            "sweeps", "Watch value iteration",
            "All 512 boards of 3x3. The first sweep knows what one placement earns, the next what two earn. Click a "
            "board to follow its value.",
            sweeps, Sweeps,
        ),
        Experiment(
            "greedy", "Are ten games enough?",
            "Play a greedy rule on 3x3 and watch the mean of the games approach the exact one.",
            greedy, Greedy,
        ),
    ),
    findings=(
        Finding(
            "Value iteration with r1 lasts 1,450.7 rounds on 4x4.",
            "Its policy lasts 1,020.8 rounds, exactly; the best policy 27,601.4.",
            "Far from optimal: with a discount of 0.8 what happens in ten rounds hardly counts. Without a discount "
            "the same reward lasts 27,581 rounds.",
        ),
        Finding(
            "r3 lasts 307.2 rounds, much less than r1.",
            "993.4 rounds: about as long as r1.",
            "Probably a copying slip: 307.2 is also its figure for LSPI with r1.",
        ),
        Finding(
            "5x5 cannot be solved.",
            "It is solved on two cores: 28.83 rounds with all pieces, 143,840,644 with seven.",
            "Wrong: the piece can be averaged out, and one number per board is 128 MiB.",
        ),
        Finding(
            "LSPI lasts 204 rounds on 10x10.",
            "345 rounds with the paper's features; 15,918 by a network of n-tuples that learns from play.",
            "The features are the limit, not learning.",
        ),
    ),
    command="rookery reproduce tenten --seed 0",
)  # fmt: skip
