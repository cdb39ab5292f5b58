from __future__ import annotations

import random
from pathlib import Path

import pytest
from examples.tic_tac_toe import TicTacToe

from rookery import arena
from rookery.agents import Agent
from rookery.cli import main
from rookery.game import CHANCE, TERMINAL, Game, State
from rookery.games.checkers.rules import parse_pdn
from rookery.games.solitaire_chess.puzzles import hints
from rookery.registry import agent as load_agent
from rookery.registry import agent_names, load, register
from rookery.search.agents import RandomAgent
from rookery.statistics import wilson_interval
from tests.commands import answer, check_refusal


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


def test_arena_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(capsys, "arena", "tenten", "mcts:simulations=50", "random", "--games", "4", "--variant", "3x3-three")
    assert data["games"] == 4
    assert set(data) >= {"wins", "draws", "losses", "games", "interval"}


def test_tournament_on_any_number_of_cores_and_after_a_stop(tmp_path: Path) -> None:
    names = ("minimax:depth=2", "random", "minimax:depth=1")
    alone = arena.Tournament("checkers", names, 4, seed=3)
    assert len(list(alone.play())) == 12
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


def test_round_robin_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = ["random", "minimax:depth=1", "minimax:depth=2"]
    arguments = ["arena", "checkers", *names, "--games", "2", "--out", str(tmp_path)]
    data = answer(capsys, *arguments)
    assert data["games"] == 4
    assert len(data["matches"]) == 3
    assert {row["agent"] for row in data["agents"]} == set(names)
    check_refusal(capsys, arguments, "already holds games.jsonl")
    assert answer(capsys, *arguments, "--resume") == data


def test_explain_command(capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(
        capsys, "explain", "tenten", "##./#.#/.## 1x1", "--variant", "3x3-three", "--agent", "mcts:simulations=50"
    )
    assert set(data["values"]) == {"1x1@r1c3", "1x1@r2c2", "1x1@r3c1"}
    assert data["action"] in data["values"]
    assert data["reasons"]


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


def test_play_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = iter(["hint", "moves", "1x1@r3c3", "undo", "undo", "nonsense", "1x1@r1", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    data = answer(
        capsys, "play", "tenten", "--variant", "3x3-three", "--agent", "random", "--position", "##./.../... 1x1"
    )
    assert data["moves"] == ["1x1@r1c3"]
    assert str(data["position"]).startswith(".../.../...")


def test_hints_in_the_terminal_tell_more_every_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = iter(["hint", "hint", "hint", "hint", "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    with pytest.raises(SystemExit):
        main(["play", "solitaire-chess", "--agent", "oracle", "--position", "R.../.B../..N./P..."])
    shown = [line.strip("> ") for line in capsys.readouterr().err.splitlines()]
    sentences = hints(load("solitaire-chess").parse_state("R.../.B../..N./P..."))
    assert [line for line in shown if line in sentences] == [*sentences, sentences[-1]]


def test_watch_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["checkers", "random", "minimax:depth=1"],
        ["tenten", "--variant", "3x3-three"],
        ["morpion", "random"],
    ):
        data = answer(capsys, "watch", *words, "--moves", "4", "--seed", "1")
        assert len(data["moves"]) == 4
    assert answer(capsys, "watch", "endgames", "--agent", "oracle", "--seed", "3")["moves"]
    with pytest.raises(SystemExit) as stop:
        main(["watch", "checkers", "random", "random", "random"])
    assert stop.value.code == 2


def test_explain_has_a_start_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    for game in ("checkers", "tenten", "solitaire-chess"):
        assert answer(capsys, "explain", game, "--agent", "mcts:simulations=20", "--seed", "2")["values"]


def test_the_terminal_shows_a_board_with_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: "quit")
    with pytest.raises(SystemExit):
        main(["play", "endgames", "--position", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"])
    shown = [line.strip() for line in capsys.readouterr().err.splitlines()]
    assert "You play White. Enter a move, or: hint, moves, undo, draw, resign, quit." in shown
    assert {"5  . . . . k . . .", "1  R . . . K . . .", "a b c d e f g h"} <= set(shown)


def test_play_against_an_agent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    register(TicTacToe)
    monkeypatch.setattr("builtins.input", lambda *_: "")
    game = TicTacToe()
    names = [game.initial_state().action_name(a) for a in game.initial_state().legal_actions()]
    words = iter([names[0], "quit"])
    monkeypatch.setattr("builtins.input", lambda *_: next(words))
    data = answer(capsys, "play", TicTacToe.name, "--agent", "minimax:depth=2")
    assert len(data["moves"]) == 2
