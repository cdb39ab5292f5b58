"""The experiments of the page about Solitaire Chess."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rookery import draw
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.puzzles import make_puzzles, pack
from rookery.games.solitaire_chess.rules import SolitaireChess
from rookery.games.solitaire_chess.search import search
from rookery.studies.lesson import lesson

GAME = SolitaireChess()


def outcome(experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson("solitaire-chess").experiment(experiment)(settings)


@pytest.mark.parametrize("ranking", ["paper-dqn", "taught"])
def test_both_trees_have_a_step_per_position(ranking: str) -> None:
    rows = ".RN./B.P./..../...."
    found = outcome("trees", position=rows, ranking=ranking)
    state = GAME.parse_state(rows)
    plain = search(state).states
    model = capture_ranker.load(capture_ranker.shipped(GAME, ranking))
    ranked = search(state, "dfs", model, look_ahead=ranking != "paper-dqn").states
    steps = [{int(step) for step in re.findall(r'<g data-step="(\d+)"', panel["svgs"][0])} for panel in found["panels"]]
    assert steps == [set(range(plain)), set(range(ranked))]
    verdict = "fewer than" if ranked < plain else "as many as" if ranked == plain else "more than"
    assert found["text"] == (
        f"Backtracking enters {plain} positions, the ranking {ranked}: {verdict} backtracking. "
        "The least possible is 4, one per piece."
    )
    assert found["steps"] == max(plain, ranked)
    assert [panel["title"] for panel in found["panels"]] == [
        "Backtracking in the paper's order", f"Captures ranked by {ranking}",
    ]  # fmt: skip
    assert {panel["wide"] for panel in found["panels"]} == {max(plain, ranked) > 14}
    assert f"<title>{plain - 1} captures tried</title>" in found["panels"][0]["svgs"][0]


def test_a_ranking_is_said_to_be_better_or_worse_or_neither() -> None:
    verdicts = set()
    for puzzle in pack()[40:60]:
        found = outcome("trees", position=puzzle.rows)
        plain, ranked, verdict = re.findall(
            r"enters ([\d,]+) positions, the ranking ([\d,]+): (.*) backtracking", found["text"]
        )[0]
        a, b = (int(number.replace(",", "")) for number in (ranked, plain))
        assert verdict == {-1: "fewer than", 0: "as many as", 1: "more than"}[(a > b) - (a < b)]
        verdicts.add(verdict)
        drawn = [len(re.findall(r'<g data-step="', panel["svgs"][0])) for panel in found["panels"]]
        assert drawn == [min(60, b), min(60, a)]
        assert found["steps"] == max(drawn)
        shown = "the first 59 drawn" in found["panels"][0]["svgs"][0]
        assert shown == (b > 60)
    assert {"fewer than", "more than"} <= verdicts


def test_puzzles_without_a_solution_and_without_a_capture() -> None:
    for rows, positions in (("R.../..B./..../....", 1), ("R..R/..../..../..B.", 3)):
        found = outcome("trees", position=rows)
        assert found["text"] == f"There is no solution: both searches enter all {positions} positions."
        assert all(draw.HIGHLIGHTS["good"] not in svg for panel in found["panels"] for svg in panel["svgs"])
    with pytest.raises(ValueError, match="a puzzle needs two pieces"):
        outcome("trees", position="R.../..../..../....")


def test_a_new_puzzle_is_solved_by_every_search() -> None:
    found = outcome("puzzle", level="intermediate", number=3)
    puzzle = make_puzzles("intermediate", 1, 3)[0]
    state = GAME.parse_state(puzzle.rows)
    rows = {name: int(count.replace(",", "")) for name, count in found["rows"]}
    assert list(rows) == [
        *("backtracking", "paper-dqn", "dqn", "taught"),
        *("backtracking with memory", "the same, pruned", "best first by dqn"),
    ]
    assert rows["backtracking"] == search(state).states
    assert rows["backtracking with memory"] == search(state, "dfs-tt").states
    assert rows["the same, pruned"] == search(state, "dfs-tt", prune=True).states
    assert min(rows.values()) >= state.pieces
    (panel,) = found["panels"]
    assert panel["notes"][0] == "The puzzle."
    assert found["steps"] == len(panel["svgs"]) == len(panel["notes"]) == state.pieces
    for name in panel["notes"][1:]:
        state.apply({state.action_name(action): action for action in state.legal_actions()}[name])
    assert state.pieces == 1
    assert f"{len(panel['notes'])} pieces, " in found["text"]
    assert found["text"].endswith(f"The least possible is {len(panel['notes'])} positions.")


def test_the_figure_counts_positions_on_every_puzzle_of_the_pack() -> None:
    found = outcome("figure")
    lines = found["panels"][0]["chart"]["lines"]
    assert set(lines) == {"backtracking", "the paper's ranking"}
    assert all([x for x, _ in line] == list(range(1, 81)) for line in lines.values())
    plain, ranked = ([y for _, y in lines[name]] for name in ("backtracking", "the paper's ranking"))
    model = capture_ranker.load(capture_ranker.shipped(GAME, "paper-dqn"))
    for number, puzzle in list(enumerate(pack()))[::8]:
        state = GAME.parse_state(puzzle.rows)
        assert plain[number] == search(state).states
        assert ranked[number] == search(state, "dfs", model, look_ahead=False).states
    worse = sum(a > b for a, b in zip(ranked, plain, strict=True))
    assert f"on {worse} of 80 puzzles the ranking enters more" in found["text"]
    assert f"the ranking enters {sum(ranked) / 80:.0f} positions on average" in found["text"]
    assert f"backtracking {sum(plain) / 80:.0f}." in found["text"]
    assert found["panels"][0]["chart"]["log_y"]
