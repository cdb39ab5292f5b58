from __future__ import annotations

import math
import random

import pytest

from rookery.games.tenten.boards import Boards
from rookery.games.tenten.exact import TablePolicy
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.study import GREEDY
from rookery.games.tenten.ties import SCANS, SCORES, Rates, _ranks, most_lines, play, surest_next_piece
from tests.games.tenten import oracle

BOARDS = Boards(TenTen(3, 3, "three"))
RULES = {1: [most_lines(BOARDS)], 2: [surest_next_piece(BOARDS)], 3: [most_lines(BOARDS), surest_next_piece(BOARDS)]}
GAME, SQUARES = SCORES["5 r (r + 1)"], SCORES["10 r^2"]


@pytest.mark.parametrize("rule", RULES)
def test_the_linear_system_agrees_with_the_sweeps(rule: int) -> None:
    rates = play(BOARDS, RULES[rule], (0, 0, 0))
    exact = TablePolicy(BOARDS.game, RULES[rule]).evaluate()
    assert rates.rounds == pytest.approx(exact.mean_rounds, rel=1e-6)
    assert rates.points(GAME) == pytest.approx(exact.mean_score / exact.mean_rounds, rel=1e-6)


@pytest.mark.parametrize("rule", RULES)
def test_one_scan_for_all_pieces_is_as_good_as_any_other(rule: int) -> None:
    first = play(BOARDS, RULES[rule], (0, 0, 0))
    for scan in range(1, len(SCANS)):
        again = play(BOARDS, RULES[rule], (scan,) * 3)
        assert (again.rounds, *again.lines) == pytest.approx((first.rounds, *first.lines), rel=1e-6)


@pytest.mark.parametrize("random_ties", [False, True])
@pytest.mark.parametrize("rule", [1, 2])
def test_rates_agree_with_games_played_slowly(rule: int, random_ties: bool) -> None:
    shapes = [[(0, 0)], [(0, 0), (0, 1)], [(0, 0), (1, 0)]]
    equal: dict[tuple[frozenset[oracle.Cell], int], list[tuple[frozenset[oracle.Cell], int]]] = {}

    def best(board: frozenset[oracle.Cell], piece: int) -> list[tuple[frozenset[oracle.Cell], int]]:
        """The boards after the placements that the rule finds best, each with its points."""
        if (board, piece) not in equal:
            after = []
            for at in oracle.placements(set(board), 3, 3, shapes[piece]):
                filled, points = oracle.place(set(board), 3, 3, shapes[piece], at)
                fits = sum(bool(oracle.placements(filled, 3, 3, shape)) for shape in shapes)
                after.append((points - len(shapes[piece]) if rule == 1 else fits, (frozenset(filled), points)))
            greatest = max((value for value, _ in after), default=0)
            equal[board, piece] = [found for value, found in after if value == greatest]
        return equal[board, piece]

    rng, games, rounds, points = random.Random(5), 300, 0, 0
    for _ in range(games):
        board: frozenset[oracle.Cell] = frozenset()
        while choices := best(board, rng.randrange(3)):
            board, more = rng.choice(choices) if random_ties else choices[0]
            rounds, points = rounds + 1, points + more
    rates = play(BOARDS, RULES[rule], None if random_ties else (0, 0, 0))
    # Four standard errors: a game's length is about exponential, and a round's points spread by about 8.
    assert rounds / games == pytest.approx(rates.rounds, rel=4 / games**0.5)
    assert points / rounds == pytest.approx(rates.points(GAME), abs=4 * 8 / rounds**0.5)


def test_what_explains_the_papers_points_per_round() -> None:
    """Squares of lines explain the paper's single games of algorithm 1 and all it has of algorithm 2; no way explains
    the average of algorithm 1."""
    (_, rounds_1, scores_1), (_, rounds_2, scores_2), _ = GREEDY
    one, two = (play(BOARDS, RULES[rule], (0, 0, 0)) for rule in (1, 2))
    # Rounds spread by about 11 points. The paper's averages are taken for those of ten games.
    for rates, rounds, scores, games in [
        (one, rounds_1[1], scores_1[1], 1), (one, rounds_1[2], scores_1[2], 1), (two, rounds_2[0], scores_2[0], 10),
        (two, rounds_2[1], scores_2[1], 1), (two, rounds_2[2], scores_2[2], 1),
    ]:  # fmt: skip
        assert scores / rounds == pytest.approx(rates.points(SQUARES), abs=2 * 11 / (rounds * games) ** 0.5)
    # The game's own score does not explain them.
    assert scores_1[2] / rounds_1[2] - one.points(GAME) > 4 * 8 / rounds_1[2] ** 0.5
    assert scores_2[0] / rounds_2[0] - two.points(GAME) > 4 * 8 / (10 * rounds_2[0]) ** 0.5
    average = scores_1[0] / rounds_1[0]
    for ties in [(0, 0, 0), (0, 2, 5), (0, 4, 0), None]:
        rates = play(BOARDS, RULES[1], ties)
        assert all(abs(rates.points(score) - average) > 0.15 for score in SCORES.values())


def test_endless_play_has_no_mean() -> None:
    boards = Boards(TenTen(2, 2, {"1x1": 1}))
    assert play(boards, [most_lines(boards)], None).rounds == math.inf


def test_scans_go_through_the_lines_one_after_the_other() -> None:
    """A bar of two cells has six places on a board of 2x4: rows 0 and 1, columns 0 to 2. The scans are the loops that
    visit them; the first of all is reading order."""
    game = TenTen(2, 4, {"1x2": 1})
    reading = [(row, column) for row in range(2) for column in range(3)]
    loops = [
        [(row, column) for row in rows for column in columns]
        for rows in ((0, 1), (1, 0))
        for columns in ((0, 1, 2), (2, 1, 0))
    ]
    loops += [
        [(row, column) for column in columns for row in rows]
        for rows in ((0, 1), (1, 0))
        for columns in ((0, 1, 2), (2, 1, 0))
    ]
    found = []
    for scan in SCANS:
        ranks = _ranks(game, 0, scan)
        found.append(sorted(reading, key=lambda place, ranks=ranks: ranks[reading.index(place)]))  # type: ignore[misc]
    assert found == loops


def test_points_per_round_are_cells_and_what_lines_score() -> None:
    """2.5 cells; one line in a tenth of the rounds, two in a twentieth."""
    rates = Rates(100, 2.5, (0.1, 0.05))
    assert rates.points(SCORES["5 r (r + 1)"]) == pytest.approx(2.5 + 0.1 * 10 + 0.05 * 30)
    assert rates.points(SCORES["10 r^2"]) == pytest.approx(2.5 + 0.1 * 10 + 0.05 * 40)
    assert rates.points(SCORES["10 r"]) == pytest.approx(2.5 + 0.1 * 10 + 0.05 * 20)
