"""The experiments of the page about endgames, beside the exact tables."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from rookery.games.endgames import learn
from rookery.games.endgames.q_learning import POTENTIAL, VERSIONS, LearnedTable, perfect_engine, train
from rookery.games.endgames.rules import Endgames
from rookery.games.endgames.study import start_positions
from rookery.games.endgames.tables import tables
from rookery.studies.lesson import lesson

QUEEN = "8/8/8/4k3/8/2K5/8/3Q4 w - - 0 1"
ROOK = "8/8/8/8/5k2/8/8/K2R4 w - - 0 1"


def outcome(experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson("endgames").experiment(experiment)(settings)


def black_kings(fen: str) -> dict[int, int]:
    """The squares on which the black king can stand with White to move, and the moves to mate from there."""
    game, found = Endgames(), {}
    rows = [
        re.sub(r"\d", lambda digit: "." * int(digit[0]), row.replace("k", "1")) for row in fen.split()[0].split("/")
    ]
    cells = "".join(rows)
    for cell in range(64):
        if cells[cell] != ".":
            continue
        board = cells[:cell] + "k" + cells[cell + 1 :]
        text = "/".join(board[i : i + 8] for i in range(0, 64, 8))
        try:
            state = game.parse_state(re.sub(r"\.+", lambda run: str(len(run[0])), text) + " w - - 0 1")
        except ValueError:
            continue
        distance = tables(state.material).dtm(state)
        assert distance is not None
        found[cell] = (distance + 1) // 2
    return found


@pytest.mark.parametrize("fen", [QUEEN, ROOK])
def test_the_backup_ends_at_the_exact_distances(fen: str) -> None:
    found = outcome("spread", position=fen, rounds=40)
    state = Endgames().parse_state(fen)
    exact = tables(state.material)
    moves = exact.moves(state)
    assert len(found["rows"]) == 6
    for name, learned, truth in found["rows"]:
        (action,) = [action for action in state.legal_actions() if state.action_name(action) == name]
        plies = moves[action]
        assert learned == truth == ("draw" if plies is None else f"mate in {(plies + 1) // 2}")
    distances = [int(truth.split()[-1]) for _, _, truth in found["rows"]]
    assert distances == sorted(distances)
    distance = exact.dtm(state)
    assert distance is not None
    words = f"mate in {(distance + 1) // 2}"
    assert found["text"].endswith(f"the learner knows {words} after 40 rounds; exactly, it is {words}.")
    board, spread = found["panels"]
    known, right = (spread["chart"]["lines"][name] for name in ("squares here that know a mate", "all positions exact"))
    assert [x for x, _ in known] == [x for x, _ in right] == list(range(1, 41))
    assert known[-1][1] == right[-1][1] == 100.0
    assert [y for _, y in right] == sorted(y for _, y in right)
    assert right[0][1] < 50
    assert board["notes"][-1].endswith("100.0% have their exact value.")
    truth = black_kings(fen)
    labels = re.findall(r">(\d+)</text>", board["svgs"][-1])
    ranks = [str(rank) for rank in range(1, 9)]
    assert sorted(labels) == sorted([*ranks, *map(str, truth.values())])
    assert len(board["svgs"]) == len(board["notes"]) == found["steps"] == 40


def test_a_square_that_knows_a_mate_is_marked_green_once_it_is_exact() -> None:
    found = outcome("spread", position=QUEEN, rounds=5)
    squares = len(black_kings(QUEEN))
    for number, svg in enumerate(found["panels"][0]["svgs"]):
        known = found["panels"][1]["chart"]["lines"]["squares here that know a mate"][number][1]
        assert (svg.count("#3f8f5f") + svg.count("#e3b341")) / squares * 100 == pytest.approx(known)
    assert "knows no mate yet" in outcome("spread", position=ROOK, rounds=5)["text"]


def test_another_square_of_the_black_king_and_positions_that_are_refused() -> None:
    moved = outcome("spread", position=QUEEN, square=0, rounds=5)
    there = outcome("spread", position="k7/8/8/8/8/2K5/8/3Q4 w - - 0 1", rounds=5)
    assert moved == there
    for wrong in (
        "8/8/8/4k3/8/2K5/8/3N4 w - - 0 1", "8/8/8/4k3/8/2K5/8/3Q4 b - - 0 1", "8/8/8/4K3/8/2k5/8/3q4 b - - 0 1",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="set up White's king"):
            outcome("spread", position=wrong)


@pytest.mark.parametrize(
    ("reward", "version"),
    [
        ("engine", VERSIONS["Stockfish Decaying"]),
        ("heuristic", VERSIONS["Heuristic Decaying"]),
        ("potential", POTENTIAL),
    ],
)
def test_the_game_that_is_shown_is_that_of_the_trained_table(reward: str, version: Any) -> None:
    matches = 300
    found = outcome("mate", endgame="King and Queen", reward=reward, matches=matches, start=2)
    start = start_positions("KQK", 2, 0)[1]
    engine = perfect_engine(tables("KQK").native)
    (run,) = train(start.state, version, engine, matches=matches, seed=2)
    known = f"It has met {len(run.tables['strong'].positions):,} positions."
    assert found["text"].startswith(f"After {matches} matches the table, played without exploration, ")
    assert f"the exact distance is {start.exact}. {known}" in found["text"]
    chart = found["panels"][1]["chart"]
    assert list(chart["lines"]) == [reward]
    for place, share in chart["lines"][reward]:
        assert share == pytest.approx(100 * np.mean(run.won[: int(place)]))
    assert chart["lines"][reward][-1][0] == matches
    notes = found["panels"][0]["notes"]
    assert len(notes) == len(found["panels"][0]["svgs"]) == found["steps"] <= 61
    state = start.state.clone()
    for name in notes[1:]:
        legal = {state.action_name(action): action for action in state.legal_actions()}
        state.apply(legal[name.split(". ")[0]])
    if run.solution is None:
        assert "does not mate" in found["text"]
    else:
        assert f"mates in {run.solution} moves" in found["text"]
        assert len(notes) == 2 * run.solution
        assert state.ending == "checkmate"


def test_a_game_of_a_table_that_knows_nothing_is_shown_to_its_end() -> None:
    """A table that knows nothing plays the first move it has."""
    engine = perfect_engine(tables("KBBK").native)
    nothing = LearnedTable(np.zeros(0, np.uint64), np.zeros(0, np.uint16), np.zeros(0, np.uint16), np.zeros(0))
    lengths = []
    for start in start_positions("KBBK", 5, 0):
        state, plies = start.state.clone(), 0
        while state.player() >= 0 and plies < 60:
            state.apply(state.legal_actions()[0] if state.player() == 0 else engine.ask(state)[0])
            plies += 1
        svgs, notes = learn._game(start.state, nothing, engine)
        assert len(svgs) == len(notes) == plies + 1
        assert svgs[0] == start.state.svg()
        assert (state.status() in notes[-1]) == (state.player() < 0)
        lengths.append(plies)
    assert 1 < min(lengths) < max(lengths) < 60


def test_a_curve_has_its_ends_and_is_dense_at_first() -> None:
    shares = np.linspace(0, 99, 1000)
    curve = learn._curve(shares)
    assert curve[0] == (1.0, 0.0)
    assert curve[-1] == (1000.0, 99.0)
    assert all(shares[int(place) - 1] == share for place, share in curve)
    assert 100 < len(curve) <= 150
    assert [place for place, _ in curve[:10]] == list(range(1, 11))


def test_the_figure_of_rewards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three agents that learn from the same starts, each curve the mean over them."""
    monkeypatch.setattr(learn, "FIGURE_MATCHES", 40)
    monkeypatch.setattr(learn, "FIGURE_STARTS", 2)
    outcome = learn.figure(None)
    (panel,) = outcome.panels
    assert panel.chart is not None
    engine, starts = perfect_engine(tables("KRK").native), start_positions("KRK", 2, 0)
    settings = [VERSIONS["Stockfish Decaying"], VERSIONS["Heuristic Decaying"], POTENTIAL]
    for points, version in zip(panel.chart.lines.values(), settings, strict=True):
        won = [train(start.state, version, engine, matches=40, seed=i)[0].won for i, start in enumerate(starts)]
        for match, percentage in ((int(place), percentage) for place, percentage in points):
            expected = 100 * sum(int(run[:match].sum()) for run in won) / (2 * match)
            assert percentage == pytest.approx(expected, abs=0.06)
    assert "from 2 starts" in outcome.text


def test_no_more_than_60_plies_are_shown() -> None:
    """Of a table that plays at random, but neither mates nor loses its rook."""
    rng, exact = random.Random(1), tables("KRK")

    class Idle:
        def values(self, state: Any) -> dict[int, float]:
            far = [action for action, plies in exact.moves(state).items() if plies is not None and plies > 12]
            return {action: rng.random() for action in far}

    start = start_positions("KRK", 1, 0)[0].state
    svgs, notes = learn._game(start, Idle(), perfect_engine(exact.native))  # type: ignore[arg-type]
    assert len(svgs) == len(notes) == 61, "the start, and 60 plies"
