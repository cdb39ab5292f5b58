"""The experiments of the page about 1010!, beside value iteration over sets of cells."""

from __future__ import annotations

import statistics
from functools import cache
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from rookery.games.tenten.boards import Boards
from rookery.games.tenten.exact import TablePolicy, solve
from rookery.games.tenten.rules import TenTen
from rookery.games.tenten.ties import most_lines, surest_next_piece
from rookery.studies.lesson import lesson
from tests.games.drawing import middle, size
from tests.games.tenten.oracle_values import Board, Mdp, Reward

REWARDS: dict[str, Reward] = {
    "r1": lambda lines, moves: lines**2 + moves, "r2": lambda lines, moves: lines**2, "r3": lambda lines, moves: moves,
}  # fmt: skip


def outcome(experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson("tenten").experiment(experiment)(settings)


@cache
def mdp() -> Mdp:
    game = TenTen(3, 3, "seven")
    return Mdp(3, 3, [list(shape) for shape in game.shapes], game.weights)


def cells(number: int) -> Board:
    return frozenset((cell // 3, cell % 3) for cell in range(9) if number >> cell & 1)


def rectangles(svg: str) -> list[dict[str, str]]:
    return [element.attrib for element in ElementTree.fromstring(svg) if element.tag.endswith("rect")][1:]


@pytest.mark.parametrize(("reward", "board"), [("r1", 0), ("r2", 8), ("r3", 0b011_000_101)])
def test_sweeps_are_those_of_slow_value_iteration(reward: str, board: int) -> None:
    sweeps, discount = 4, 0.7
    found = outcome("sweeps", reward=reward, discount=discount, sweeps=sweeps, board=board)
    values = [mdp().solve(REWARDS[reward], discount, number) for number in range(sweeps + 1)]
    ahead = [{board: mdp().expected(after, board) for board in mdp().boards} for after in values]
    truth = [after[cells(board)] for after in ahead]
    changes = [max(abs(b[at] - a[at]) for at in a) for a, b in pairwise(ahead)]
    everything, chosen, curve = found["panels"]
    assert curve["chart"]["lines"]["value"] == [(i, pytest.approx(truth[i])) for i in range(1, sweeps + 1)]
    assert chosen["notes"] == [f"Worth {value:.3f}." for value in truth[1:]]
    assert everything["notes"] == [
        f"In sweep {i} the greatest change was {change:.3g}." for i, change in enumerate(changes, 1)
    ]
    assert f"After 4 sweeps the chosen board is worth {truth[-1]:.3f};" in found["text"]
    assert found["text"].endswith(f"more than {changes[-1]:.2g}.")
    assert (found["steps"], found["step_name"]) == (4, "sweep")
    names = TenTen(3, 3, "seven").piece_names
    assert [name for name, _ in found["rows"]] == names
    for piece, (_, named) in enumerate(found["rows"]):
        places = mdp().edges[cells(board), piece]
        worth = [REWARDS[reward](lines, mdp().moves[after]) + discount * ahead[-2][after] for after, lines in places]
        if not worth:
            assert named == "does not fit: the end"
            continue
        placed = frozenset((int(cell[1]) - 1, int(cell[3]) - 1) for cell in named.split(", "))
        assert not placed & cells(board)
        lines = [{(r, c) for c in range(3)} for r in range(3)] + [{(r, c) for r in range(3)} for c in range(3)]
        full = [line for line in lines if line <= placed | cells(board)]
        after = (placed | cells(board)).difference(*full)
        best = REWARDS[reward](len(full), mdp().moves[after]) + discount * ahead[-2][after]
        assert best == pytest.approx(max(worth))
        assert len(placed) == len(TenTen(3, 3, "seven").shapes[piece])


def test_a_map_shows_every_board_once_and_darker_where_it_is_worth_more() -> None:
    board = 8
    found = outcome("sweeps", reward="r1", discount=0.8, sweeps=3, board=board)
    values = mdp().solve(REWARDS["r1"], 0.8, 3)
    worth = {board: mdp().expected(values, board) for board in mdp().boards}
    *_, last = found["panels"][0]["svgs"]
    shown = rectangles(last)
    order = sorted(range(512), key=lambda number: (bin(number).count("1"), number))
    squares = {int(square["data-cell"]): square for square in shown if "data-cell" in square}
    assert {cells(number) for number in squares} == set(worth)
    for place, number in enumerate(order):
        if number in squares:
            assert middle(squares[number]) == (round(place % 32 + 0.7, 6), round(place // 32 + 0.7, 6))
            assert 0.8 < float(squares[number]["width"]) == float(squares[number]["height"]) < 1
    by_worth = sorted(squares, key=lambda number: worth[cells(number)])
    reds = [int(squares[number]["fill"][1:3], 16) for number in by_worth]
    assert reds == sorted(reds, reverse=True)
    assert squares[by_worth[-1]]["fill"] == "#963c14"  # (150, 60, 20)
    most = worth[cells(by_worth[-1])]
    assert reds == pytest.approx([236 + (150 - 236) * worth[cells(number)] / most for number in by_worth], abs=0.5001)
    assert all(squares[n]["fill"] == "#ece5d5" for n in by_worth if worth[cells(n)] == 0)
    (ring,) = [square for square in shown if square["fill"] == "none"]
    assert middle(ring) == middle(squares[board])
    assert ring["width"] == squares[board]["width"]
    assert len(shown) == 512 + 1
    small = [square for square in shown if square["width"] == "0.3"]
    assert len(small) == 512 - len(worth)
    assert {square["fill"] for square in small} == {"#ece5d5"}
    middles = {middle(square) for square in small}
    closed = [place for place, number in enumerate(order) if number not in squares]
    assert middles == {(round(place % 32 + 0.7, 6), round(place // 32 + 0.7, 6)) for place in closed}
    assert size(last) == pytest.approx((32.4, 16.4))  # as much room on every side


def test_the_chosen_board_is_drawn_cell_by_cell() -> None:
    number = 0b010_001_101
    (svg,) = outcome("sweeps", sweeps=2, board=number)["panels"][1]["svgs"]
    squares = rectangles(svg)
    fills = {tuple(round(place - 0.7, 6) for place in middle(square)[::-1]): square["fill"] for square in squares}
    assert len(fills) == len(squares) == 9
    assert size(svg) == pytest.approx((3.4, 3.4))
    dark = {place for place, fill in fills.items() if fill != "#ece5d5"}
    assert dark == cells(number)
    with pytest.raises(ValueError, match="full line"):
        outcome("sweeps", board=7)


@pytest.mark.parametrize(
    ("rule", "games", "paper"),
    [
        ("most lines now", 10, 4221.3), ("surest next piece", 50, 321.5), ("surest next piece", 51, 321.5),
        ("one of both at random", 9, None),
    ],
)  # fmt: skip
def test_the_mean_of_games_stands_beside_the_exact_one(rule: str, games: int, paper: float | None) -> None:
    found = outcome("greedy", rule=rule, games=games, seed=3)
    boards = Boards(TenTen(3, 3, "three"))
    lines, chance = most_lines(boards), surest_next_piece(boards)
    tables = {10: [lines], 50: [chance], 51: [chance], 9: [lines, chance]}[games]
    policy = TablePolicy(boards.game, tables)
    rounds = [int(number) for number in policy.play(games, 3).rounds]
    exact = policy.evaluate().mean_rounds
    half = 1.96 * statistics.stdev(rounds) / games**0.5
    assert found["text"].startswith(
        f"{games} games: {statistics.fmean(rounds):,.1f} rounds on average, plus or minus {half:,.1f}, the shortest "
        f"{min(rounds):,} and the longest {max(rounds):,}. The exact mean is {exact:,.1f}; the paper says "
    )
    chart = found["panels"][0]["chart"]
    curve = chart["lines"]["mean of the games"]
    places = [int(place) for place, _ in curve]
    assert curve == [(n, pytest.approx(statistics.fmean(rounds[:n]))) for n in places]
    assert places == sorted(set(places))
    assert {1, 2, 3, 4, 5, games} <= set(places)
    assert chart["lines"]["exact mean"] == [(1, exact), (games, exact)]
    assert chart["points"] == ({} if paper is None else {"paper": [(10.0, paper)]})
    assert chart["log_x"] == (games > 50)


def test_the_figure_has_the_policies_of_the_paper_and_the_best_one() -> None:
    chart = outcome("figure")["panels"][0]["chart"]
    game = TenTen(4, 4, "seven")
    best = chart["lines"].pop("the best policy")
    mean = pytest.approx(solve(game, precision=1e-4).mean_rounds, rel=1e-3)
    assert best == [(0.6, mean), (1.0, mean)]
    assert chart["points"] == {"r1, paper": [(0.8, 1450.7)], "r2, paper": [(0.8, 115.5)], "r3, paper": [(0.8, 307.2)]}
    assert chart["log_y"]
    for reward, line in chart["lines"].items():
        assert [x for x, _ in line] == [0.6, 0.8, 0.9, 1.0]
        assert all(0 < y <= best[0][1] * 1.001 for _, y in line)
        _, low, high = solve(game, reward, 0.8, precision=1e-4, evaluate=False).policy.play(400, 1).mean_rounds
        assert low * 0.9 < line[1][1] < high * 1.1, "near the mean of games played"
