"""The experiments of the page about Morpion Solitaire."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rookery.games.morpion import learn
from rookery.games.morpion.rules import Morpion
from rookery.studies.lesson import lesson


def outcome(experiment: str, **settings: Any) -> dict[str, Any]:
    return lesson("morpion").experiment(experiment)(settings)


def test_ranked_rewards_teach_and_a_goal_out_of_reach_does_not() -> None:
    def lengths(**settings: Any) -> list[float]:
        lines = outcome("ranked", games=400, **settings)["panels"][0]["chart"]["lines"]
        return [y for _, y in next(iter(lines.values()))]

    ranked, fixed = lengths(), lengths(reward="fixed goal")
    assert ranked[-1] > ranked[0] + 4
    assert fixed[-1] < ranked[-1] - 4


class Recorded:
    """Games as they are played, each with the weights that it was played with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.games: list[tuple[Any, list[tuple[Any, Any, int]]]] = []
        self.weights: list[Any] = []
        play = learn._self_play

        def record(game: Morpion, weights: Any, rng: np.random.Generator) -> Any:
            self.weights.append(weights.copy())
            self.games.append(play(game, weights, rng))
            return self.games[-1]

        monkeypatch.setattr(learn, "_self_play", record)

    @property
    def lengths(self) -> list[int]:
        return [len(choices) for _, choices in self.games]


@pytest.mark.parametrize(("ratio", "memory"), [(0.75, 40), (0.5, 20)])
def test_the_threshold_is_a_rank_among_the_recent_games(
    ratio: float, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(monkeypatch)
    found = outcome("ranked", games=120, ratio=ratio, memory=memory, variant="4D")
    lengths = recorded.lengths
    assert len(lengths) == 120
    thresholds = []
    for number in range(1, 121):
        recent = sorted(lengths[max(0, number - memory) : number])
        place = sum(share / len(recent) <= ratio for share in range(1, len(recent)))
        thresholds.append(recent[place])
    chart = found["panels"][0]["chart"]["lines"]
    assert list(chart) == ["length, mean of 10 games", "threshold"]
    assert all(y == thresholds[int(x) - 1] for x, y in chart["threshold"])
    assert [x for x, _ in chart["threshold"]] == list(range(memory // 2 + 1, 121))
    means = chart["length, mean of 10 games"]
    assert means == [(n, pytest.approx(sum(lengths[n - 10 : n]) / 10)) for n in range(10, 121)]
    earned = [after - before for before, after in zip(recorded.weights, recorded.weights[1:], strict=False)]
    wins = 0
    for change, (_, choices), length, threshold in zip(earned, recorded.games, lengths, thresholds, strict=False):
        expected = np.zeros_like(change)
        for legal, chances, chosen in choices:
            expected[legal] -= chances
            expected[legal[chosen]] += 1
        won = float(change @ expected) > 0
        np.testing.assert_allclose(change, (0.5 if won else -0.05) * expected, atol=1e-12)
        if length != threshold:
            assert won == (length > threshold)
        wins += won
    share = int(re.findall(r"(\d+)% of the games earned", found["text"])[0])
    assert abs(share - 100 * wins / 119) < 1.5
    longest = max(lengths)
    assert f"the longest has {longest}." in found["text"]
    assert found["panels"][1]["title"] == f"The longest game: {longest} moves"
    first, last = np.mean(lengths[:10]), np.mean(lengths[-10:])
    assert f"The first 10 games last {first:.1f} moves on average, the last {last:.1f};" in found["text"]
    best = next(state for state, choices in recorded.games if len(choices) == longest)
    assert found["panels"][1]["svgs"] == [best.svg()]
    assert (
        f"The first 10 games last {np.mean(lengths[:10]):.1f} moves on average, the last {np.mean(lengths[-10:]):.1f};"
        in found["text"]
    )


def test_a_fixed_goal_is_the_best_length_of_the_paper_or_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    for variant, goal in (("5D", 67), ("4D", 35)):
        recorded = Recorded(monkeypatch)
        found = outcome("ranked", games=100, reward="fixed goal", variant=variant)
        chart = found["panels"][0]["chart"]["lines"]
        assert {y for _, y in chart["goal"]} == {goal}
        assert max(recorded.lengths) < goal
        assert found["text"].endswith(" 0% of the games earned +1.")


def test_a_move_is_drawn_by_the_softmax_of_its_weight() -> None:
    game = Morpion(**Morpion.variants["4D"])
    first = game.initial_state().legal_actions()
    weights = np.zeros(game.num_actions)
    weights[first[2]] = np.log(5)
    counts = np.zeros(len(first))
    rng = np.random.default_rng(1)
    for _ in range(400):
        state, choices = learn._self_play(game, weights, rng)
        legal, chances, chosen = choices[0]
        assert legal.tolist() == first
        assert chances == pytest.approx([(5 if i == 2 else 1) / (len(first) + 4) for i in range(len(first))])
        counts[chosen] += 1
        assert len(state.moves) == len(choices)
        assert not state.legal_actions()
    share = 5 / (len(first) + 4)
    assert abs(counts[2] / 400 - share) < 4 * (share * (1 - share) / 400) ** 0.5
    assert counts.min() > 0


def test_a_search_finds_a_legal_game() -> None:
    found = outcome("nested", variant="4D", level=1)
    moves = int(found["text"].split()[0])
    assert 20 < moves <= 35  # 35 is proven to be the longest
    (panel,) = found["panels"]
    shown = [int(note.split()[0]) for note in panel["notes"]]
    step = moves // 20
    assert shown == sorted({*range(step, moves + 1, step), moves})
    assert found["steps"] == len(panel["svgs"]) == len(shown)
    assert (
        f"{moves} moves, found by 100 games of a search just now; the record is 35, and more than 35 are"
        in found["text"]
    )
    again = outcome("nested", variant="5D", level=1, seed=3)
    assert "found by 100 games of a search just now; the paper's best game has 67, the record is 82" in again["text"]


def test_the_figure_has_the_curves_of_every_board() -> None:
    found = outcome("figure")
    lines = found["panels"][0]["chart"]["lines"]
    boards = {name: line for name, line in lines.items() if name.startswith("board ")}
    assert set(boards) == {"board 16", "board 20", "board 22"}
    assert all([x for x, _ in line] == list(range(1, len(line) + 1)) for line in boards.values())
    last = max(len(line) for line in boards.values())
    assert lines["the paper's best game"] == [(1, 67), (last, 67)]
    assert lines["the record"] == [(1, 82), (last, 82)]
    assert "ours has 82" in found["text"]
