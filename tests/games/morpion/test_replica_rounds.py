"""What happens between the rounds of a GPU: settings, partners, exchanges and counts, beside an idle device."""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rookery.games.morpion import replicas as module
from rookery.games.morpion.replicas import HOLES, LOSSES, MOVES, Replicas, ReplicaSearch, Round, Settings, to_codes
from rookery.games.morpion.search import shipped

SMALL = Settings(
    "5T", seed=7, ladders=6, temperatures=3, trials=40, islands=2, merge=0, plain=0.0, settle=4, renew=0, mating=0.5
)


class Idle:
    """Counts as many trials as it is asked for and leaves the grids alone."""

    def __init__(self, capacity: int = 0) -> None:
        self.space = capacity
        self.partners: list[Any] = []

    def capacity(self) -> int:
        return self.space

    def walk(self, settings: Settings, replicas: Replicas, partners: Any, partner_lengths: Any) -> Round:
        walkers = len(replicas.lengths)
        self.partners.append((partners.copy(), partner_lengths.copy()))
        tallies = np.zeros((walkers, len(HOLES), 3), np.uint32)
        tallies[:, 0] = settings.trials, 2, 1
        return Round(tallies, np.full(walkers, 3, np.uint32))


def search(settings: Settings = SMALL, lengths: Any = None) -> ReplicaSearch:
    found = ReplicaSearch(settings, device=Idle())  # type: ignore[arg-type]
    codes = to_codes(shipped("5T"))
    for walker in range(len(found.replicas.lengths)):
        length = 10 + walker if lengths is None else lengths[walker]
        for grids in (found.replicas.grids, found.replicas.best):
            grids[walker, :length] = codes[:length]
        found.replicas.lengths[walker] = found.replicas.best_lengths[walker] = length
    return found


# Settings


def test_the_defaults_of_a_variant_are_as_documented() -> None:
    source = inspect.getsource(Settings)
    told = re.findall(r'(\w+): [^\n]+\n    """[^"]*; ([0-9.]+) on 5T, ([0-9.]+) on 5D\."""', source)
    assert [name for name, _, _ in told] == ["coldest", "hottest", "radius"]
    for name, on_5t, on_5d in told:
        assert getattr(Settings("5T"), name) == float(on_5t)
        assert getattr(Settings("5D"), name) == float(on_5d)
    assert Settings("5D", coldest=0.4).coldest == 0.4


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("ladders", 0, 1_000_000), ("temperatures", 1, 64), ("trials", 1, 1_000_000), ("radius", 0, 31),
        ("strips", 0, 256), ("wedges", 0, 256), ("mated", 0, 256), ("weight", 1, 1_000_000), ("mating", 0, 1),
        ("share", 0, 1), ("fresh", 0, 1), ("plain", 0, 1), ("islands", 1, 1000), ("settle", 0, 1_000_000_000),
        ("renew", 0, 1_000_000_000), ("merge", 0, 1_000_000_000),
    ],
)  # fmt: skip
def test_limits_of_settings(name: str, low: int, high: int) -> None:
    """Shares are 0 to 1, parts of 256 are 0 to 256, and a board of 32 cells has no box of a radius above 31."""
    for value in (low, high):
        assert getattr(replace(SMALL, **{name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"{name} must be {low} to {high:,}, and is {value}"):
            replace(SMALL, **{name: value})


def test_limits_of_temperatures() -> None:
    assert replace(SMALL, coldest=0.01, hottest=100.0).heat.tolist() == pytest.approx([0.01, 50.005, 100])
    assert replace(SMALL, coldest=0.5, hottest=0.5).heat.tolist() == [0.5, 0.5, 0.5]
    for coldest, hottest in ((0.009, 1.0), (1.0, 100.1), (1.0, 0.9)):
        with pytest.raises(ValueError, match=r"must be 0\.01 to 100, coldest first"):
            replace(SMALL, coldest=coldest, hottest=hottest)


def test_chances_of_acceptance() -> None:
    """A trial that is n shorter is accepted at a temperature T with the chance exp(-n / T), in 32 bits."""
    settings = replace(SMALL, coldest=0.5, hottest=1.5)
    accept = Replicas.new(settings).accept
    assert accept.shape == (3, LOSSES)
    for heat, row in zip((0.5, 1.0, 1.5), accept, strict=True):
        assert row[0] == 2**32 - 1
        for loss in (1, 2, 7):
            assert row[loss] / 2**32 == pytest.approx(math.exp(-loss / heat), abs=1e-9)


def test_as_many_ladders_as_the_device_has_room_for() -> None:
    for room, ladders in ((30, 10), (32, 10), (2, 1)):
        found = ReplicaSearch(replace(SMALL, ladders=0), device=Idle(room))  # type: ignore[arg-type]
        assert found.settings.ladders == ladders
        assert found.replicas.at.tolist() == [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(ladders)]


# Rounds


def test_a_round_counts_what_was_tried() -> None:
    found = search()
    found._round()
    assert (found.rounds, found.playouts, found.lost) == (1, 18 * 40, 18 * 3)
    found._round()
    assert (found.rounds, found.playouts, found.lost) == (2, 2 * 18 * 40, 2 * 18 * 3)
    # Six grids at each temperature and two rounds.
    assert found.tallies[:, 0].tolist() == [[12 * 40, 12 * 2, 12]] * 3
    assert not found.tallies[:, 1:].any()
    # The first round tries the second pair of temperatures, the next one the first pair: six ladders each.
    assert found.exchanged[0].tolist() == [6, 6]
    assert (found.exchanged[1] <= found.exchanged[0]).all()
    # The longest grid of every ladder, which grow from 10 on.
    assert found.longest.tolist() == [12, 15, 18, 21, 24, 27]


APART = [10 + 40 * (walker % 3) + walker // 3 for walker in range(18)]


def test_longer_grids_go_to_the_cold_end() -> None:
    found = search(SMALL, APART)  # in every ladder the hottest grid is the longest, by far
    for _ in range(4):
        found._round()
    assert found.replicas.at.tolist() == [[3 * i + 2, 3 * i + 1, 3 * i] for i in range(6)]
    assert found.replicas.heat.tolist() == [2, 1, 0] * 6
    assert found.exchanged[1].sum() == 3 * 6  # three swaps turn three around


def test_partners_are_of_another_ladder_of_the_island_and_not_hotter() -> None:
    settings = replace(SMALL, ladders=8, plain=0.25, mating=1.0, settle=0)
    found = search(settings)
    at = found.replicas.at
    island = {int(ladder): i for i, ladders in enumerate(found.islands) for ladder in ladders}
    assert sorted(island) == [2, 3, 4, 5, 6, 7]  # the first two are plain
    owner = {int(walker): (ladder, heat) for ladder, row in enumerate(at) for heat, walker in enumerate(row)}
    of_length = {int(length): walker for walker, length in enumerate(found.replicas.lengths)}
    seen = set()
    for seed in range(40):
        grids, lengths = found._partners(np.random.default_rng(seed))
        for walker, length in enumerate(lengths):
            ladder, heat = owner[walker]
            if ladder < 2:
                assert length == 0
                continue
            other, other_heat = owner[of_length[int(length)]]
            assert other != ladder
            assert island[other] == island[ladder]
            assert other_heat <= heat
            assert np.array_equal(grids[walker], found.replicas.grids[of_length[int(length)]])
            seen.add((ladder, other, heat, other_heat))
    assert len({(a, b) for a, b, _, _ in seen}) == 12  # every other ladder of an island of three
    assert {(h, o) for _, _, h, o in seen} == {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)}


def test_no_mating_before_the_grids_have_settled() -> None:
    found = search(replace(SMALL, mating=1.0, settle=2))
    for rounds, mates in ((0, False), (1, False), (2, True)):
        found.rounds = rounds
        assert bool(found._partners(np.random.default_rng(1))[1].any()) is mates
    alone = search(replace(SMALL, mating=0.0, settle=0))
    assert not alone._partners(np.random.default_rng(1))[1].any()
    half = search(replace(SMALL, ladders=200, temperatures=3, mating=0.25, settle=0), [10] * 600)
    assert 100 < (half._partners(np.random.default_rng(1))[1] > 0).sum() < 200  # a quarter of 600


def test_only_ladders_that_had_their_time_are_replaced() -> None:
    settings = replace(SMALL, ladders=8, islands=1, settle=10, share=0.5, fresh=1.0)
    found = search(settings, [20 + walker // 3 for walker in range(24)])  # the first ladders are the worst
    found.rounds = 30
    found.replicas.born[:] = [25, 0, 20, 21, 0, 0, 0, 0]
    found._renew(np.arange(8), np.random.default_rng(1))
    # Ladders 0 and 3 are too young. Of the six others the worse half begins again: 1, 2 and 4.
    begun = [ladder for ladder in range(8) if not found.replicas.lengths[found.replicas.at[ladder]].any()]
    assert begun == [1, 2, 4]
    assert found.replicas.born.tolist() == [25, 30, 30, 21, 30, 0, 0, 0]


def test_copies_are_of_the_best_quarter() -> None:
    settings = replace(SMALL, ladders=8, islands=1, settle=0, share=1.0, fresh=0.0)
    sources = set()
    for seed in range(20):
        found = search(settings, [20 + walker // 3 for walker in range(24)])
        found.rounds = 5
        found._renew(np.arange(8), np.random.default_rng(seed))
        lengths = found.replicas.lengths[found.replicas.at][:, 0].tolist()
        assert lengths[6:] == [26, 27]  # the best two are kept
        sources |= set(lengths[:6])
        assert not found.replicas.born.any()
    assert sources == {26, 27}


def test_the_bests_are_forgotten_at_a_renewal_and_grids_are_turned_in_between() -> None:
    found = search(replace(SMALL, settle=2, renew=3, share=0.0))
    best = []
    for _ in range(6):
        found._round()
        best.append(bool(found.replicas.best_lengths.any()))
        if not best[-1]:
            found.replicas.best_lengths[:] = 5
    assert best == [True, True, False, True, True, False]
    turned: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "align", lambda grids, lengths: turned.append(len(grids)))
        patch.setattr(module, "ALIGN_ROUNDS", 2)
        other = search(replace(SMALL, settle=3))
        for _ in range(4):
            other._round()
    assert turned == [9, 9]  # in the fourth round, the nine grids of each of two islands


# What is told


def test_a_look_tells_how_ladders_and_islands_stand() -> None:
    found = search()
    found._round()
    found.replicas.lengths[found.replicas.at[5, 0]] = 40  # longer than its best one since the renewal
    found.seconds = 12.345
    found._look()
    (row,) = found.curve
    assert (row["seconds"], row["rounds"], row["score"]) == (12.3, 1, 0)
    lengths = found.replicas.lengths[found.replicas.at]
    assert row["means"] == [round(sum(column) / 6, 2) for column in lengths.T.tolist()]
    assert row["islands"] == [18, 27]  # the longest of the first three ladders, and of the others
    # Of 12, 15, 18, 21, 24 and 40: the least, the quartiles, nine tenths and the most, each a grid that is there.
    assert len(row["ladders"]) == 6
    assert [row["ladders"][i] for i in (0, 1, 3, 5)] == [12, 15, 24, 40]
    assert row["ladders"][2] in (18, 21)


def test_statistics_by_temperature() -> None:
    found = search(SMALL, APART)
    for _ in range(4):
        found._round()
    told = found.statistics()
    assert (told["rounds"], told["lost"], told["curve"]) == (4, 4 * 54, [])
    cold, middle, hot = told["temperatures"]
    assert [row["temperature"] for row in (cold, middle, hot)] == [0.5, 0.8, 1.1]  # evenly from coldest to hottest
    assert cold["trials"]["box"] == [24 * 40, 24 * 2, 24]
    assert cold["trials"]["mated"] == [0, 0, 0]
    # Ladders of 10, 50 and 90 to 15, 55 and 95, with the longest at the cold end by now.
    assert (cold["mean"], middle["mean"], hot["mean"]) == (92.5, 52.5, 12.5)
    assert (cold["longest"], middle["longest"], hot["longest"]) == (95, 55, 15)
    assert cold["exchanged"] == round(found.exchanged[1, 0] / found.exchanged[0, 0], 4)
    assert middle["exchanged"] == round(found.exchanged[1, 1] / found.exchanged[0, 1], 4)
    assert hot["exchanged"] is None


def test_grids_that_do_not_fit_are_refused() -> None:
    state = shipped("5T")
    game = state.game
    far = game.rules.corner - 10
    with pytest.raises(ValueError, match=f"at most {MOVES} moves that lie within 10 cells of the cross"):
        to_codes(_Moves(game, [game.action(module.Move(0, far - 1, game.rules.corner, 0))]))  # type: ignore[arg-type]
    inside = _Moves(game, [game.action(module.Move(0, far, game.rules.corner, 0))])
    assert len(to_codes(inside)) == 1  # type: ignore[arg-type]
    # The cross is 10 cells wide and high: the last cell that fits lies 10 beyond it, on every side.
    first, last = game.rules.corner - 10, game.rules.corner + 9 + 10
    middle = game.rules.corner + 4
    for fits, moves in (
        (True, [(0, last - 4, middle), (1, middle, last - 4), (1, middle, first), (3, last - 4, last - 4),
                (2, first, last)]),
        (False, [(0, last - 3, middle), (1, middle, last - 3), (1, middle, first - 1), (3, last - 3, middle),
                 (3, middle, last - 3), (2, middle, last + 1), (2, middle, first + 3)]),
    ):  # fmt: skip
        for move in moves:
            line = _Moves(game, [game.action(module.Move(*move, 0))])
            if fits:
                assert module.to_actions(game, to_codes(line)) == line.moves  # type: ignore[arg-type]
                continue
            with pytest.raises(ValueError, match="within 10 cells of the cross"):
                to_codes(line)  # type: ignore[arg-type]
    action = inside.moves[0]
    assert len(to_codes(_Moves(game, [action] * MOVES))) == MOVES  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"at most {MOVES} moves"):
        to_codes(_Moves(game, [action] * (MOVES + 1)))  # type: ignore[arg-type]


class _Moves:
    """A list of moves that need not be a game."""

    def __init__(self, game: Any, moves: list[int]) -> None:
        self.game, self.moves = game, moves
