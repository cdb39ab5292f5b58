from __future__ import annotations

import csv
import math
import random
from pathlib import Path

import numpy as np
import pytest
from examples.tic_tac_toe import TicTacToe

from rookery import arena
from rookery.agents import Agent
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.games.checkers.rules import parse_pdn
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, load
from rookery.search.agents import RandomAgent
from rookery.statistics import wilson_interval


def test_the_better_agent_wins_with_sides_exchanged() -> None:
    game = TicTacToe()
    strong, weak = load_agent("minimax:depth=2", game), load_agent("random", game)
    match = arena.match(game, strong, weak, 10, seed=1)
    assert match.wins >= 8
    assert match.interval[0] > 0.5
    other_way = arena.match(game, weak, strong, 10, seed=1)
    assert other_way.losses >= 8
    assert arena.match(game, strong, weak, 10, seed=1) == match


def test_an_agent_draws_with_itself_on_the_same_pieces() -> None:
    game = load("tenten", "4x4-seven")

    class First(Agent):
        def values(self, state: State) -> dict[int, float]:
            return {action: -action for action in state.legal_actions()}

    match = arena.match(game, First(), First(), 10, seed=4)
    assert (match.wins, match.draws, match.losses) == (0, 10, 0)
    assert match.interval == (0, 0)
    assert match.means[0] == match.means[1] > 0


def test_chance_is_the_same_for_both() -> None:
    game = load("tenten", "3x3-three")
    seen: list[list[int]] = []

    class Watcher(RandomAgent):
        def choose(self, state: State, rng: random.Random | None = None) -> int:
            if not state.cells:  # type: ignore[attr-defined]
                seen.append([])
            seen[-1].append(state.hand[0])  # type: ignore[attr-defined]
            return super().choose(state, rng)

    arena.match(game, Watcher(), Watcher(), 1, seed=3)
    draws = [piece for game_draws in seen for piece in game_draws]
    half = [i for i, game_draws in enumerate(seen) if i and game_draws[0] == seen[0][0]]
    assert half, "the second player starts with the same piece"
    assert len(draws) > 4


def test_settings_are_checked() -> None:
    game = TicTacToe()
    agent = load_agent("random", game)
    with pytest.raises(ValueError, match="must be even"):
        arena.match(game, agent, agent, 3)
    with pytest.raises(ValueError, match="at least 1"):
        arena.match(game, agent, agent, 0)


def test_tournament_on_any_number_of_cores_and_after_a_stop(tmp_path: Path) -> None:
    names = ("minimax:depth=2", "random", "minimax:depth=1")
    alone = arena.Tournament("checkers", names, 4, seed=3)
    assert {record.key: record for record in alone.play()} == alone.records
    assert len(alone.records) == 12
    apart = arena.Tournament("checkers", names, 4, seed=3)
    list(apart.play("processes:2"))
    assert apart.records == alone.records
    file = tmp_path / "games.jsonl"
    stopped = arena.Tournament("checkers", names, 4, seed=3, out=tmp_path).play()
    for _ in range(5):
        next(stopped)
    file.write_text(file.read_text() + '{"players": ["cut off')
    again = arena.Tournament("checkers", names, 4, seed=3, out=tmp_path)
    assert again.resume() == 5
    assert len(list(again.play())) == 7
    assert again.records == alone.records
    assert arena.Tournament("checkers", names, 4, seed=3, out=tmp_path).resume() == 12
    elo = again.elo()
    assert elo["minimax:depth=2"][0] > elo["random"][0]
    assert sum(rating for rating, _, _ in elo.values()) == pytest.approx(0, abs=1e-6)
    written = {path.name: path.read_text() for path in again.export(tmp_path)}
    assert set(written) == {"results.csv", "games.pdn"}
    assert len(written["results.csv"].splitlines()) == 13
    in_order = sorted(again.records, key=lambda key: (key[1], key[0]))
    lengths = [len(again.records[key].actions) for key in in_order]
    assert [len(game.actions) for game in parse_pdn(written["games.pdn"])] == lengths
    with pytest.raises(ValueError, match="another job"):
        arena.Tournament("checkers", names, 4, seed=4, out=tmp_path).resume()
    file.write_text("nonsense")
    with pytest.raises(ValueError, match="damaged"):
        again.resume()


def test_elo_of_two() -> None:
    """75% of the points is 191 Elo; the added draw takes off a little."""
    seats = ("minimax:depth=1", "random")
    tournament = arena.Tournament("checkers", seats, 400)
    for number in range(400):
        returns = [1.0, -1.0] if number % 4 else [-1.0, 1.0]
        tournament.records[seats, number] = arena.GameRecord(seats, number, "", [], returns)
    elo = tournament.elo()
    assert elo["minimax:depth=1"][0] - elo["random"][0] == pytest.approx(190.8, abs=2)
    assert elo["minimax:depth=1"][1] > 60


def played(games: int, results: dict[tuple[str, str], tuple[int, int, int]], seed: int = 0) -> arena.Tournament:
    """A tournament of checkers with the given wins, draws and losses of the first of two agents, sides exchanged."""
    names = list(dict.fromkeys(name for pair in results for name in pair))
    tournament = arena.Tournament("checkers", names, games, seed)
    for (a, b), counts in results.items():
        returns = [value for value, count in zip((1.0, 0.0, -1.0), counts, strict=True) for _ in range(count)]
        for number, value in enumerate(returns):
            seats, given = ((b, a), [-value, value]) if number % 2 else ((a, b), [value, -value])
            tournament.records[seats, number] = arena.GameRecord(seats, number, "", [], given)
    return tournament


A, B, C = "random", "minimax:depth=1", "minimax:depth=2"


def test_ratings_have_the_greatest_likelihood() -> None:
    """Found again by a general optimiser, with half a win each way added for every two agents."""
    optimize = pytest.importorskip("scipy.optimize")
    results = {(A, B): (3, 2, 5), (B, C): (1, 4, 5), (A, C): (0, 1, 9)}
    names = (A, B, C)

    def unlikelihood(free: list[float]) -> float:
        rating = dict(zip(names, (*free, -sum(free)), strict=True))
        total = 0.0
        for (a, b), (wins, draws, losses) in results.items():
            chance = 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400))
            total -= (wins + draws / 2 + 0.5) * math.log(chance) + (losses + draws / 2 + 0.5) * math.log(1 - chance)
        return total

    best = optimize.minimize(unlikelihood, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12}).x
    elo = played(10, results).elo()
    assert [elo[name][0] for name in names] == pytest.approx([*best, -sum(best)], abs=0.01)


def test_the_interval_of_a_rating_is_that_of_many_games() -> None:
    """300 of 400 points: the difference has a standard error of 400 / ln 10 / sqrt(400 * 3/16) = 20.06, and each of two
    ratings with mean 0 half of it."""
    elo = played(400, {(A, B): (300, 0, 100)}).elo()
    middle, low, high = elo[A]
    assert low < middle < high
    assert high - low == pytest.approx(2 * 1.96 * 20.06 / 2, rel=0.2)
    assert elo[B] == pytest.approx((-middle, -high, -low), abs=1e-6)
    assert elo == played(400, {(A, B): (300, 0, 100)}).elo()
    assert elo != played(400, {(A, B): (300, 0, 100)}, seed=1).elo()


def test_a_rating_of_games_that_are_all_won_has_an_interval() -> None:
    """Six wins by one weight each, drawn from the exponential distribution, and half a point each of a draw that has
    another: the weights of the wins add up to a gamma distribution."""
    middle, low, high = played(6, {(A, B): (6, 0, 0)}).elo()[A]
    rng = np.random.default_rng(1)
    wins, draw = rng.gamma(6, size=100_000), rng.exponential(size=100_000)
    ratings = 400 * np.log10((wins + draw / 2) / (draw / 2)) / 2
    assert middle == pytest.approx(200 * math.log10(13), abs=0.01)
    assert [low, high] == pytest.approx(np.percentile(ratings, [2.5, 97.5]), rel=0.2)
    assert low < middle - 50 < middle + 50 < high


def test_a_match_for_one_player_is_told_by_the_lead_and_one_for_two_by_points() -> None:
    lead = np.array([3.0, -1.0, 0.0, 5.0])
    returns = np.stack([10 + lead, np.full(4, 10.0)], axis=1)
    match = arena.Match.of(returns, False, 7, ("a<b", "c"))
    assert (match.wins, match.draws, match.losses, match.games, match.score) == (2, 1, 1, 4, 0.625)
    assert match.means == (11.75, 10.0)
    low, high = match.interval
    assert -1 <= low < lead.mean() < high <= 5
    assert match.elo == pytest.approx(
        [400 * math.log10(share / (1 - share)) for share in (0.625, *wilson_interval(2.5, 4))]
    )
    assert match.sentence() == f"a<b: 2 wins, 1 draws, 1 losses; {low:,.1f} to {high:,.1f} ahead (95%)"
    assert match._repr_html_().startswith("<p>a&lt;b against c</p><p>a&lt;b: 2 wins,")
    other = arena.Match.of(np.array([[1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]), True)
    assert other.interval == wilson_interval(2.5, 3)
    low, high = other.interval
    assert other.sentence() == f"first: 2 wins, 1 draws, 0 losses; {low:.1%} to {high:.1%} of the points (95%)"
    assert other.data() == {
        "wins": 2, "draws": 1, "losses": 0, "games": 3, "interval": [low, high], "means": [2 / 3, -2 / 3],
    }  # fmt: skip
    assert arena.Match.of(np.array([[1.0, -1.0]]), True).elo[0] == math.inf
    assert arena.Match.of(np.array([[-1.0, 1.0]]), True).elo[0] == -math.inf


def test_a_match_of_one_player_games_counts_the_starts_that_both_have_played() -> None:
    tournament = arena.Tournament(load("tenten", "3x3-three"), [A, "mcts:simulations=5"], 4, seed=2)
    for name, numbers in ((A, {0: 1.0, 1: 7.0, 3: 2.0}), ("mcts:simulations=5", {1: 5.0, 2: 9.0, 3: 3.0, 0: 1.0})):
        for number, value in numbers.items():
            tournament.records[(name,), number] = arena.GameRecord((name,), number, "", [], [value])
    match = tournament.match("mcts:simulations=5", A)
    assert (match.wins, match.draws, match.losses) == (1, 1, 1)
    assert match.means == pytest.approx((3.0, 10 / 3))
    assert not match.two_players
    assert match.names == ("mcts:simulations=5", A)
    assert tournament.overall(A)["means"] == [pytest.approx(10 / 3), 3.0]


def test_points_against_all_others() -> None:
    tournament = played(4, {(A, B): (3, 1, 0), (B, C): (0, 2, 2), (A, C): (1, 0, 3)})
    assert tournament.overall(A) == {
        "wins": 4, "draws": 1, "losses": 3, "games": 8, "interval": list(wilson_interval(4.5, 8)),
    }  # fmt: skip
    rows = {row["agent"]: (row["points"], row["games"]) for row in tournament.standings()}
    assert rows == {A: (4.5, 8), B: (1.5, 8), C: (6.0, 8)}
    assert next(iter(rows)) == C
    assert played(4, {(A, B): (3, 1, 0)}).overall(B) == tournament.match(B, A).data()


def test_a_tournament_in_words() -> None:
    empty = arena.Tournament("checkers", [A, B, C, "minimax:depth=3"], 2)
    assert (empty.title, arena.Tournament("checkers", [A, B, C], 2).title) == ("4 agents", f"{A} and {B} and {C}")
    assert repr(empty) == f"<Tournament of {A}, {B}, {C}, minimax:depth=3 at checkers: 0 games>"
    assert empty._repr_html_().endswith(" at checkers: 0 games</p><table><tr></tr></table>")
    tournament = played(2, {(A, B): (2, 0, 0)})
    (low, high), elo = tournament.elo()[A][1:], tournament.elo()[A][0]
    row = f"<tr><td>{A}</td><td>{elo:+.0f} ({low:+.0f} to {high:+.0f})</td><td>2</td><td>2</td></tr>"
    assert f"<tr><th>agent</th><th>elo</th><th>points</th><th>games</th></tr>{row}" in tournament._repr_html_()
    alone = arena.Tournament(load("tenten", "3x3-three"), [A, "mcts:simulations=5"], 1)
    for name, value in ((A, 1234567.0), ("mcts:simulations=5", 2.5)):
        alone.records[(name,), 0] = arena.GameRecord((name,), 0, "", [], [value])
    million = "1.23457e+06"
    assert (
        f"<tr><td>{A}</td><td>{million}</td><td>{million} to {million}</td><td>{million}</td></tr>"
        in alone._repr_html_()
    )


def test_agents_are_named_after_their_classes() -> None:
    class Own(RandomAgent):
        pass

    tournament = arena.Tournament("checkers", [Own(), Own, A, Own()], 2)
    assert tournament.names == ("Own", "Own 2", A, "Own 3")
    for agents, sentence in (
        ([A], "at least two agents"),
        ([A, A], "is named twice"),
        ([A, Path(A)], "is named twice"),
    ):
        with pytest.raises(ValueError, match=sentence):
            arena.Tournament("checkers", agents, 2)
    with pytest.raises(ValueError, match="at most 1,000,000, and is 1000002"):
        arena.Tournament("checkers", [A, B], 1_000_002)


def test_every_two_agents_must_have_met(tmp_path: Path) -> None:
    tournament = played(2, {(A, B): (1, 0, 1), (B, C): (1, 0, 1)})
    tournament.check()  # nothing failed
    tournament.job.failures["0: x - y"] = "it broke"
    with pytest.raises(ValueError, match="1 games failed; game 0: x - y: it broke"):
        tournament.check()
    all_met = played(2, {(A, B): (1, 0, 1), (B, C): (1, 0, 1), (A, C): (2, 0, 0)})
    all_met.job.failures["0: x - y"] = "it broke"
    all_met.check()
    part = arena.Tournament("checkers", [A, B, C], 2, out=tmp_path, shard="1/2")
    part.job.failures["0: x - y"] = "it broke"
    part.check()


def test_results_as_a_table(tmp_path: Path) -> None:
    game = TicTacToe()
    tournament = arena.tournament(game, [RandomAgent(), RandomAgent()], 2, seed=4)
    file, *records = tournament.export(tmp_path)
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["players"] for row in rows] == ["RandomAgent - RandomAgent 2", "RandomAgent 2 - RandomAgent"]
    for row in rows:
        record = tournament.records[tuple(row["players"].split(" - ")), int(row["number"])]
        assert row["start"] == record.start
        assert int(row["actions"]) == len(record.actions)
        assert [float(value) for value in row["returns"].split()] == record.returns
    assert len(records) == 1


def test_files_that_agents_need_travel_and_programs_do_not(tmp_path: Path) -> None:
    model, program = tmp_path / "model.npz", tmp_path / "engine"
    model.write_text("weights")
    program.write_text("#!/bin/sh")
    program.chmod(0o755)
    assert list(arena._paths(f"ntuple:{model}")) == [str(model)]
    assert list(arena._paths(f"uci:depth=3,path={program}")) == []
    assert list(arena._paths(f"ntuple:{tmp_path}")) == [str(tmp_path)]
    assert list(arena._paths("random")) == []
    assert list(arena._paths(str(tmp_path))) == [str(tmp_path)]


def test_both_games_of_a_pair_share_a_start() -> None:
    tournament = arena.Tournament("checkers", ["random", "minimax:depth=1", "minimax:depth=2"], 8, seed=5)
    list(tournament.play())
    starts = [{record.start for record in tournament.records.values() if record.number // 2 == n} for n in range(4)]
    assert [len(same) for same in starts] == [1, 1, 1, 1]
    assert len(set.union(*starts)) > 1


class Coin(State):
    """A coin is tossed eight times; then each player answers."""

    def __init__(self, game: Game, actions: list[int]) -> None:
        self._game, self.actions = game, actions

    @property
    def game(self) -> Game:
        return self._game

    def player(self) -> int:
        return CHANCE if len(self.actions) < 8 else (0, 1, TERMINAL)[len(self.actions) - 8]

    def legal_actions(self) -> list[int]:
        return [0, 1] if self.player() >= 0 else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)] if self.player() == CHANCE else []

    def apply(self, action: int) -> None:
        self.actions.append(action)

    def clone(self) -> State:
        return Coin(self._game, self.actions[:])

    def returns(self) -> list[float]:
        return [0.0, 0.0]

    def key(self) -> bytes:
        return bytes(self.actions)

    def __str__(self) -> str:
        return "".join(map(str, self.actions))


class Coins(Game):
    name, players, num_actions, observation_shape = "coins", 2, 2, (1,)

    def initial_state(self) -> State:
        return Coin(self, [])


def test_both_games_of_a_pair_have_the_same_draws_and_players_have_their_own() -> None:
    drawn: list[float] = []

    class Drawing(Agent):
        def choose(self, state: State, rng: random.Random | None = None) -> int:
            assert rng is not None
            drawn.append(rng.random())
            return 0

    tournament = arena.Tournament(Coins(), [Drawing(), Drawing()], 6, seed=1)
    list(tournament.play())
    tosses = [record.actions[:8] for record in sorted(tournament.records.values(), key=lambda record: record.number)]
    assert tosses[0::2] == tosses[1::2]
    assert len({tuple(toss) for toss in tosses}) == 3
    assert len(set(drawn)) == 12


def test_standings_and_points() -> None:
    """A beats B once and draws once, B and C draw twice, A and C draw twice."""
    names = ("random", "minimax:depth=1", "minimax:depth=2")
    tournament = arena.Tournament("checkers", names[::-1], 2)
    a, b, c = names
    for number, seats, returns in (
        (0, (a, b), [1.0, -1.0]), (1, (b, a), [0.0, 0.0]), (0, (b, c), [0.0, 0.0]), (1, (c, b), [0.0, 0.0]),
        (0, (a, c), [0.0, 0.0]), (1, (c, a), [0.0, 0.0]),
    ):  # fmt: skip
        tournament.records[seats, number] = arena.GameRecord(seats, number, "", [], returns)
    standings = tournament.standings()
    assert [(row["agent"], row["points"], row["games"]) for row in standings] == [(a, 2.5, 4), (c, 2.0, 4), (b, 1.5, 4)]
    overall = tournament.overall(a)
    assert (overall["wins"], overall["draws"], overall["losses"]) == (1, 3, 0)
    assert overall["interval"] == pytest.approx(wilson_interval(2.5, 4))
    match = tournament.match(b, a)
    assert (match.wins, match.draws, match.losses, match.score) == (0, 1, 1, 0.25)
    assert match.elo[0] == pytest.approx(-190.85, abs=0.01)


def test_standings_of_one_player_games() -> None:
    tournament = arena.Tournament(load("tenten", "3x3-three"), ["random", "mcts:simulations=5"], 2)
    for name, returns in (("random", (3.0, 5.0)), ("mcts:simulations=5", (10.0, 20.0))):
        for number, value in enumerate(returns):
            tournament.records[(name,), number] = arena.GameRecord((name,), number, "", [], [value])
    rows = tournament.standings()
    assert [(row["agent"], row["mean"], row["best"]) for row in rows] == [
        ("mcts:simulations=5", 15.0, 20.0), ("random", 4.0, 5.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("game", "variant", "names", "ending"),
    [
        ("morpion", "4D", ("random", "nrpa:level=1"), "psol"),
        ("tenten", "3x3-three", ("random", "mcts:simulations=5"), "txt"),
        ("endgames", None, ("random", "oracle"), "pgn"),
    ],
)
def test_every_field_has_its_notation(
    game: str, variant: str | None, names: tuple[str, str], ending: str, tmp_path: Path
) -> None:
    tournament = arena.Tournament(load(game, variant), names, 2)
    list(tournament.play())
    assert {path.suffix for path in tournament.export(tmp_path)} == {".csv", f".{ending}"}


QUICK = {"minimax": "minimax:depth=2", "mcts": "mcts:simulations=50", "nrpa": "nrpa:level=1", "nmcs": "nmcs:level=1"}


@pytest.mark.parametrize(
    "game", ["tenten 3x3-seven", "morpion 4D", "solitaire-chess 4x4", "endgames KRK", "checkers standard"]
)
def test_a_game_does_not_depend_on_games_before_it(game: str) -> None:
    """Else results would depend on the number of cores, and games would not be independent."""
    rules = load(*game.split())
    for name in agent_names(rules, ready=True):
        if name in ("stockfish", "dqn") or (rules.name, name) == ("checkers", "oracle"):
            continue  # a program outside, PyTorch, and a player of endings

        def play(agent: Agent, number: int, rules: Game = rules) -> arena.GameRecord:
            players = {"it": agent, "random": load_agent("random", rules)}
            return arena.play_numbered(rules, players, ("it", "random")[: rules.players], number, 5)

        quick = QUICK.get(name, name)
        used = load_agent(quick, rules)
        play(used, 0)
        assert play(used, 2) == play(load_agent(quick, rules), 2), name
