"""The engine behind `best`: its search, its limits, and its levels."""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from rookery import _native
from rookery._native import Control
from rookery.cli import main
from rookery.game import TERMINAL
from rookery.games.checkers import book, net
from rookery.games.checkers.agents import EngineAgent
from rookery.games.checkers.database import load as load_database
from rookery.games.checkers.levels import LEVELS
from rookery.games.checkers.rules import Checkers, CheckersState
from rookery.games.checkers.search import LEAST_WIN, WIN, Player, play_match
from rookery.registry import agent as load_agent
from tests.games.checkers import oracle as rules
from tests.games.checkers.oracle_search import DECIDED, minimax
from tests.games.checkers.test_search import random_state, random_value, to_board

GAME = Checkers()
REPEATS = "B:W29,30,32,K8,K11:B1,2,6,21,23,K10,K24"
"""After the moves below White can go back to a position that occurred."""
MOVES = ["24-27", "11-16", "27-24", "16-11", "24-19", "8-3"]


def best_agent(name: str) -> EngineAgent:
    agent = load_agent(name, GAME)
    assert isinstance(agent, EngineAgent)
    return agent


def after(fen: str, moves: list[str]) -> CheckersState:
    state = GAME.parse_state(fen)
    for move in moves:
        state.apply(state.parse_action(move))
    return state


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_without_reductions_scores_are_those_of_plain_minimax(depth: int) -> None:
    """To depth 3 no position of the tree can repeat."""
    rng = random.Random(depth)
    engine = _native.checkers.Engine(selective=False)
    for _ in range(60 // depth):
        state = random_state(rng, rng.randrange(70))
        slow = minimax(to_board(state), "bw"[state.side], depth)
        ahead = DECIDED + depth - abs(slow)
        line, score, reached = engine.best(state, depth=depth)
        if abs(slow) < DECIDED / 2:
            assert score == slow, str(state)
        elif ahead < depth:
            assert score == (WIN - ahead) * (1 if slow > 0 else -1), str(state)
        else:  # beyond the depth minimax does not count plies
            assert abs(score) > LEAST_WIN
            assert score * slow > 0, str(state)
        assert reached == depth or abs(score) > LEAST_WIN
        # The move is one of those that minimax likes best.
        board = {state.action_name(line[0])}
        moves = {}
        for move in rules.legal_moves(to_board(state), "bw"[state.side]):
            name = ("x" if move[1] else "-").join(map(str, move[0]))
            moves[name] = -minimax(rules.after(to_board(state), move), "wb"[state.side], depth - 1)
        assert board <= {name for name, value in moves.items() if value == max(moves.values())}


def test_reductions_save_nodes() -> None:
    value, rng = net.load(), random.Random(5)
    nodes = []
    states = [random_state(rng, 10) for _ in range(8)]
    for selective in (True, False):
        engine = _native.checkers.Engine(value, None, selective)
        nodes.append(sum(engine.best(state, depth=11) and engine.nodes for state in states))
    assert nodes[0] < nodes[1] / 2


def test_a_repetition_in_the_tree_is_a_draw() -> None:
    """Black is two pieces up; 19-24 lets White repeat by 3-8."""
    state = after(REPEATS, MOVES)
    agent = best_agent("best:nodes=5000")
    assert state.action_name(agent.choose(state, random.Random(1))) != "19-24"
    values = agent.values(state)
    assert values[state.parse_action("19-24")] <= 0 < 0.2 < max(values.values())
    # Without the past of the game the move is as good as others.
    bare = GAME.parse_state(str(state))
    assert agent.values(bare)[state.parse_action("19-24")] > 0.1


def test_counters_of_the_rules_are_seen() -> None:
    """One king against two, won, but the game ends as a draw after two more plies without a capture."""
    short = Checkers(quiet_limit=2)
    state = short.parse_state("W:WK18,K23:BK1")
    line, score, _ = _native.checkers.Engine().best(state, depth=5)
    assert score == 0
    assert len(line) <= 2


@pytest.mark.parametrize("nodes", [500, 20_000])
def test_the_same_limits_give_the_same_line(nodes: int) -> None:
    rng = random.Random(nodes)
    states = [random_state(rng, rng.randrange(100)) for _ in range(12)]
    used, value = _native.checkers.Engine(random_value(2)), random_value(2)
    for state in states:
        fresh = _native.checkers.Engine(value)
        assert used.best(state, nodes=nodes) == fresh.best(state, nodes=nodes)
        assert used.nodes == fresh.nodes <= nodes


def test_limits_of_time_and_a_stop() -> None:
    engine, state = _native.checkers.Engine(random_value(3)), GAME.initial_state()
    begin = time.process_time()
    engine.best(state, seconds=0.05)
    assert 0.04 < time.process_time() - begin < 0.3
    control = Control()
    threading.Timer(0.2, control.stop).start()
    begin = time.perf_counter()
    line, _, depth = engine.best(state, depth=99, control=control)
    assert time.perf_counter() - begin < 5
    assert line[0] in state.legal_actions()
    assert 1 < depth < 99


def test_a_paced_search_stops_early_where_its_move_stays_the_same() -> None:
    """The searches of growing depth without it say where it has to stop: 1.2 times its share of the nodes, less 0.18
    times it for each of up to four searches since the move changed. With many pieces the share is larger."""
    value, rng, limit = net.load(), random.Random(9), 1100
    engine, stopped = _native.checkers.Engine(value), 0
    spent: tuple[list[float], list[float]] = [], []  # shares of what is to be taken, with few pieces and with many
    for _ in range(60):
        state = random_state(rng, rng.randrange(100))
        nodes = int(limit * (1.9 if len(to_board(state)) > 8 else 0.3))
        paced = engine.best(state, nodes=limit, paced=True)
        used = engine.nodes
        assert used <= 2 * nodes
        if len(state.legal_actions()) == 1 or abs(paced[1]) > LEAST_WIN:
            continue
        spent[nodes > limit].append(used / nodes)
        move, same = -1, 0
        for depth in range(1, 99):
            found = engine.best(state, depth=depth, nodes=2000)  # with a table of the same size
            if engine.nodes >= min(2000, 2 * nodes):
                assert used >= min(2000, 2 * nodes)
                break
            same = same + 1 if found[0][0] == move else 0
            move = found[0][0]
            if engine.nodes > nodes * (1.2 - 0.18 * min(same, 4)):
                assert (paced, used) == (found, engine.nodes), str(state)
                stopped += 1
                break
    assert stopped > 10
    for shares in spent:
        assert len(shares) > 5
        assert min(shares) < 0.7
    assert max(spent[1]) > 1.3


def test_seconds_may_be_paced() -> None:
    value, rng, seconds = net.load(), random.Random(4), 0.02
    engine = _native.checkers.Engine(value)
    spent: list[float] = []
    for _ in range(20):
        state = random_state(rng, 10)
        begin = time.process_time()
        engine.best(state, seconds=seconds, paced=True)
        spent.append(time.process_time() - begin)
    assert max(spent) < 5 * seconds
    assert min(spent) < 1.7 * seconds
    assert sum(spent) > 0.75 * len(spent) * seconds


def test_contempt_likes_many_pieces() -> None:
    """Nothing can be captured for two plies, so all leaves have three pieces, each worth a twentieth of contempt."""
    state, engine = GAME.parse_state("B:WK29:BK1,K4"), _native.checkers.Engine(random_value(6), None, False)
    for depth in (1, 2):
        scores = [engine.best(state, depth=depth, contempt=contempt)[1] for contempt in (0, 200, -100)]
        assert (scores[1] - scores[0], scores[2] - scores[0]) == (30, -15)


def test_the_agent_and_matches_can_be_paced() -> None:
    state = GAME.initial_state()
    spent: list[tuple[int, float]] = []
    for paced in ("no", "yes"):
        agent = best_agent(f"best:nodes=3000,book=no,paced={paced}")
        agent.choose(state, random.Random(1))
        assert agent.player.paced is (paced == "yes")
        result = play_match(agent.player, Player(1), games=4, seed=1)
        spent.append((agent.search.nodes, result.nodes_per_move[0]))
    assert spent[0][0] == 3000 != spent[1][0]
    assert spent[0][1] != spent[1][1]
    assert load_agent("net:nodes=3000,paced=yes", GAME).player.paced  # type: ignore[attr-defined]


def test_won_endings_are_won() -> None:
    """Under the draw rules, from random positions of four pieces that the solved endgames call won, against perfect
    defence."""
    solved, oracle, agent = load_database(), load_agent("oracle", GAME), best_agent("best:nodes=1000")
    rng, won = random.Random(3), 0
    while won < 20:
        state = solved.random_position(GAME, 4, rng)
        if solved.outcome(state).value != "win":
            continue
        winner = state.side
        while state.player() != TERMINAL:
            state.apply((agent if state.player() == winner else oracle).choose(state, rng))
        assert state.returns()[winner] == 1
        won += 1


@pytest.mark.parametrize("fen", ["B:WK25,K32,K29:BK1,K2,K3,K4", "W:WK29,K30,K31,K32,K28:BK1,K2,K3"])
def test_more_kings_win(fen: str) -> None:
    """Four kings against three and five against three, against the search with the solved endgames."""
    state, agent, other = GAME.parse_state(fen), best_agent("best:nodes=20000"), load_agent("td:pieces=4,depth=7", GAME)
    winner, rng = state.side, random.Random(1)
    while state.player() != TERMINAL:
        state.apply((agent if state.player() == winner else other).choose(state, rng))
    assert state.returns()[winner] == 1


def test_matches_of_the_engine() -> None:
    best, former = best_agent("best").player, load_agent("td:depth=1,pieces=4", GAME).player  # type: ignore[attr-defined]
    quick = Player(0, best.value, best.endgames, nodes=1000)
    result = play_match(quick, former, games=40, seed=1, opening=3)
    assert result.score > 0.6
    assert result.thrown[0] == 0
    assert 100 < result.nodes_per_move[0] <= 1000
    assert all(0 < seconds < 0.1 for seconds in result.seconds_per_move)
    again = play_match(quick, former, games=40, seed=1, opening=3, threads=1)
    assert (again.wins, again.draws, again.losses) == (result.wins, result.draws, result.losses)


def test_levels() -> None:
    levels = GAME.levels()
    assert [level.agent for level in levels] == [f"best:level={n}" for n in range(1, len(LEVELS) + 1)]
    assert all(level.about for level in levels)
    ratings = [level.elo for level in levels]
    assert None not in ratings
    assert ratings == sorted(ratings)  # type: ignore[type-var]
    state, rng = GAME.initial_state(), random.Random(1)
    for level in levels[:-1]:
        assert load_agent(level.agent, GAME).choose(state, rng) in state.legal_actions()
    assert len({load_agent("best:level=1", GAME).choose(state, rng) for _ in range(30)}) > 2, "a beginner errs"


def test_contempt_is_what_a_draw_costs() -> None:
    solved = load_database()
    search = _native.checkers.Engine(None, solved.native)
    for fen in ("B:WK32:BK1", "W:WK32:BK1"):
        state = GAME.parse_state(fen)
        assert solved.outcome(state).value == "draw"
        for contempt in (0, 50, -20):
            for keep in (False, True):  # a kept table knows what its scores were made with
                assert search.best(state, depth=5, contempt=contempt, keep=keep)[1] == -contempt
    won = GAME.parse_state("W:WK18,K23:BK1")
    assert search.best(won, depth=5, contempt=50)[1] == WIN - 19


def test_threads_share_the_positions_and_the_table() -> None:
    rng = random.Random(11)
    one, two = (best_agent(f"best:threads={threads},nodes=20000,book=no") for threads in (1, 2))
    for _ in range(20):
        state = random_state(rng, rng.randrange(40))
        if state.player() == TERMINAL or len(state.legal_actions()) < 2:
            continue
        assert two.choose(state, rng) in state.legal_actions()
        assert two.search.nodes <= 20000
        assert sorted(two.values(state)) == sorted(state.legal_actions())
        found = [one.search.best(state, nodes=20000) for _ in range(2)]
        assert found[0] == found[1]
    won = GAME.parse_state("W:WK18,K23:BK1")
    assert two.search.best(won, depth=5)[1] == WIN - 19


def test_threads_stop_at_the_limits_and_when_they_are_told() -> None:
    search, start = best_agent("best:threads=2").search, GAME.initial_state()
    begin = time.monotonic()
    assert search.best(start, seconds=0.05)[2] > 3
    control = Control()
    timer = threading.Timer(0.1, control.stop)
    timer.start()
    search.best(start, depth=99, control=control)
    timer.join()
    assert time.monotonic() - begin < 3, "the machine may be busy"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("best:level=9", "the level must be 1 to 8"),
        ("best:level=-1", "the level must be 1 to 8"),
        ("best:contempt=2000", "contempt is -1000 to 1000"),
        ("best:nodes=-5", "the number of nodes must be positive"),
        ("best:depth=100", "the depth must be 1 to 99"),
        ("best:pieces=9", "endgames of 2 to 6"),
        ("best:threads=0", "the engine has 1 to 64 threads"),
        ("net:threads=65", "the engine has 1 to 64 threads"),
        ("net:seconds=-1", "the seconds must be positive"),
    ],
)
def test_bad_settings_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_agent(name, GAME)


def played(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], *options: str) -> Any:
    entered = iter(words)
    monkeypatch.setattr("builtins.input", lambda *_: next(entered))
    with pytest.raises(SystemExit) as stop:
        main(["play", "checkers", "--agent", "best:nodes=2000", "--json", *options])
    assert stop.value.code == 0
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def test_a_person_may_choose_a_side_offer_a_draw_and_resign(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, said = played(capsys, monkeypatch, ["draw", "resign"], "--side", "second")
    assert len(data["moves"]) == 1
    assert data["returns"] == [1.0, -1.0]
    assert "You play White" in said
    assert "the agent plays on" in said, "the game is young"
    data, said = played(capsys, monkeypatch, ["draw"], "--position", "B:WK32:BK1")
    assert data["returns"] == [0.0, 0.0]
    assert "takes the draw" in said
    data, said = played(capsys, monkeypatch, ["draw", "quit"], "--position", "B:WK18,K23:BK1")
    assert "the agent plays on" in said, "it is winning"


def test_the_book(tmp_path: Path) -> None:
    shipped = book.load()
    reached = {str(GAME.initial_state())}
    for fen, moves in shipped.items():
        assert fen in reached, "the book begins at the start and has no holes"
        state = GAME.parse_state(fen)
        for name in moves:
            now = state.clone()
            now.apply(now.parse_action(name))
            reached.add(str(now))
    start, rng = GAME.initial_state(), random.Random(2)
    first = {start.action_name(best_agent("best").choose(start, rng)) for _ in range(20)}
    assert first == set(shipped[str(start)])
    judge = best_agent("best:depth=2,book=no")
    made = dict(book.build(judge, 2, 0.02))
    values = judge.values(start)
    near = {start.action_name(a) for a, value in values.items() if value >= max(values.values()) - 0.02}
    assert set(made[str(start)]) == near
    book.save(tmp_path / "book.json", made, {})
    assert book.load(tmp_path / "book.json") == made
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(ValueError, match="is not a book"):
        book.load(tmp_path / "bad.json")
