from __future__ import annotations

import dataclasses
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery import _native
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import make_puzzles
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.games.solitaire_chess.search import search
from rookery.registry import agent as load_agent
from tests.training import trained, training

torch = pytest.importorskip("torch")
load_file = pytest.importorskip("safetensors.torch").load_file
dqn = pytest.importorskip("rookery.games.solitaire_chess.dqn")
taught = pytest.importorskip("rookery.games.solitaire_chess.taught")
paper_dqn = pytest.importorskip("rookery.games.solitaire_chess.paper_dqn")

GAME = SolitaireChess()
SMALL = dataclasses.replace(dqn.Settings(), width=8, heads=2, layers=2, steps=30, batch=32, games=8, max_pieces=5)


def as_bytes(state: SolitaireChessState) -> np.ndarray:
    rows = zip(state.kinds, state.captures, strict=True)
    return np.array([[1 + kind + 8 * made if kind >= 0 else 0 for kind, made in rows]], np.uint8)


def as_rows(board: np.ndarray) -> str:
    return "/".join("".join(".KQRBNP"[piece] for piece in row) for row in board.reshape(4, 4))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("game", [GAME, SolitaireChess(8, 8, max_captures=2), SolitaireChess(3, 6, king_last=False)])
def test_native_ranker_is_the_twin_of_the_nets(game: SolitaireChess, count: int, tmp_path: Path) -> None:
    torch.manual_seed(1)
    nets = torch.nn.ModuleList(dqn.Net(SMALL) for _ in range(count))
    path = tmp_path / "net.safetensors"
    weights = {name: tensor.numpy() for name, tensor in (nets if count > 1 else nets[0]).state_dict().items()}
    capture_ranker.save(path, weights, SMALL.width, SMALL.heads, SMALL.layers)
    ranker = capture_ranker.load(path)
    rng = random.Random(2)
    for _ in range(30):
        state = game.random_start(rng, rng.randint(2, 8), solvable=False)
        for _ in range(rng.randint(0, 3)):
            if state.legal_actions():
                state.apply(rng.choice(state.legal_actions()))
        ranked = ranker.rank(state)
        assert [action for action, _ in ranked] == state.legal_actions()
        with torch.no_grad():
            scores = np.mean([net(dqn.Graphs(game, as_bytes(state))).numpy() for net in nets], axis=0)
        np.testing.assert_allclose([score for _, score in ranked], scores, rtol=1e-3, atol=1e-4)


def test_graph_by_hand() -> None:
    """Rook a2, bishop b2, pawn a1 on 2x2: beside, beside, diagonal."""
    nodes, edges = _native.solitaire_chess.piece_graphs(SolitaireChess(2, 2).rules, np.array([[3, 4, 6, 0]], np.uint8))
    unlimited = 12
    assert nodes.tolist() == [[unlimited + 2, unlimited + 3, unlimited + 5]]
    beside, above, below, both, first, second, itself = 4, 8, 12, 3, 2, 1, 44
    assert edges.tolist() == [
        [
            [itself, beside + first, beside + first],
            [beside + second, itself, below + both],
            [beside + second, above + both, itself],
        ]
    ]


TAUGHT = taught.Settings(width=8, heads=2, layers=2, steps=30, batch=32, puzzles=100, report=10)


PAPER = paper_dqn.Settings(width=8, heads=2, layers=2, steps=30, batch=32, games=8, max_pieces=5)


@pytest.mark.parametrize(("method", "settings"), [("dqn", SMALL), ("taught", TAUGHT), ("paper-dqn", PAPER)])
def test_same_seed_same_weights_stopped_or_not(
    method: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dqn, "CHECKPOINT", 10)
    monkeypatch.setattr(paper_dqn, "CHECKPOINT", 10)

    def weights(folder: str, seed: int, resume: bool = False, rows: int = 3) -> dict[str, Any]:
        run = training(GAME, method, settings, tmp_path / folder, seed, resume)
        for _ in range(rows):
            next(run)
        found: dict[str, Any] = load_file(tmp_path / folder / "model.safetensors")
        return found

    one = weights("one", 1)
    weights("stopped", 1, rows=1)
    stopped = weights("stopped", 1, resume=True, rows=2)
    assert all(torch.equal(one[name], stopped[name]) for name in one)
    other = weights("other", 2)
    assert not all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(ValueError, match="already holds a run"):
        weights("one", 1)


def boards_of(*rows: str) -> np.ndarray:
    return np.concatenate([as_bytes(GAME.parse_state(text)) for text in rows])


def test_the_papers_agent_plays_single_captures_to_the_end() -> None:
    """Rook, pawn and bishop in a row, and a board where nothing can be taken; with epsilon 1 every way comes up."""
    net = paper_dqn.Net(PAPER)
    boards = boards_of("RPB./..../..../....", "P.P./..../...P/....")
    met, shares = set(), set()
    for seed in range(20):
        steps, share = paper_dqn.play(GAME, net, boards, 1.0, np.random.default_rng(seed))
        assert all(len(positions) == len(places) == 1 for positions, places in steps), "one puzzle is stuck at once"
        met |= {as_rows(positions[0]) for positions, _ in steps}
        shares.add(share)
    # The rook takes the pawn and then the bishop; the bishop and the pawns can take nothing.
    assert met == {"RPB./..../..../....", ".RB./..../..../...."}
    assert shares == {0.5}


def test_the_papers_agent_is_greedy_without_epsilon() -> None:
    torch.manual_seed(3)
    net = paper_dqn.Net(PAPER)
    boards = boards_of(*(["Q.R./.N../P.B./...."] * 3))
    steps, _ = paper_dqn.play(GAME, net, boards, 0.0, np.random.default_rng(1))
    with torch.no_grad():
        scores = net(dqn.Graphs(GAME, boards[:1])).numpy()
    assert steps[0][1].tolist() == [int(np.argmax(scores))] * 3


def test_one_step_targets_by_hand() -> None:
    torch.manual_seed(4)
    net = paper_dqn.Net(PAPER)
    settings = dataclasses.replace(PAPER, discount=0.5)
    won = boards_of("R.../..../..../....")
    assert paper_dqn.targets_of(GAME, net, won, settings).tolist() == [1.0]
    after = boards_of("RN../..../..../....", "K.../..../..../N...")
    with torch.no_grad():
        best = float(torch.sigmoid(net(dqn.Graphs(GAME, after[:1]))).max())
    assert paper_dqn.targets_of(GAME, net, after, settings).tolist() == [pytest.approx(0.5 * best), 0.0]


def test_the_papers_method_learns() -> None:
    """Few steps on small puzzles are enough to solve more of them than a net that has learned nothing."""
    settings = dataclasses.replace(PAPER, width=32, heads=4, steps=600, batch=128, games=16)
    shares = []
    for steps in (1, 600):
        with tempfile.TemporaryDirectory() as folder:
            trained(GAME, "paper-dqn", dataclasses.replace(settings, steps=steps), Path(folder))
            ranker = capture_ranker.load(Path(folder) / "model.safetensors")
            puzzles = [GAME.parse_state(p.rows) for p in make_puzzles("beginner", 200, seed=9)]
            straight = [search(s, "dfs", ranker, look_ahead=False).states == s.pieces for s in puzzles]
            shares.append(np.mean(straight))
    assert shares[1] > shares[0] + 0.04, shares


@pytest.mark.parametrize("bad", [{"epsilon": 1.5}, {"reward_win": 0.0}, {"max_pieces": 2}])
def test_settings_of_the_papers_method_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        dataclasses.replace(PAPER, **bad)


def test_values_are_chances(tmp_path: Path) -> None:
    """All that can be won lies between 0 and 1, on the large board too."""
    with pytest.raises(ValueError, match="at most 1 together"):
        trained(GAME, "dqn", dataclasses.replace(SMALL, max_pieces=14), tmp_path)
    solo = dqn.SOLO_8X8
    assert 0.5 < solo.reward_win + solo.reward_capture * (solo.max_pieces - 1) < 1


def test_lessons_tell_the_truth() -> None:
    """Every mark against the solver, and every solvable position of the tree is there."""
    pool = [2, 2, 3, 3, 4, 4, 5, 5]
    puzzles = _native.solitaire_chess.make_puzzles(GAME.rules, 10, 6, pool, None, 4, 5, 1)
    boards, good = _native.solitaire_chess.lessons(GAME.rules, puzzles, 1, 2)
    states = [GAME.parse_state(as_rows(board)) for board in boards]
    marked = 0
    for state, marks in zip(states, good, strict=True):
        for i, action in enumerate(state.legal_actions()):
            after = state.clone()
            after.apply(action)
            assert isinstance(after, SolitaireChessState)
            assert bool(marks >> i & 1) == solve(after).solvable
            marked += 1
    assert marked > 100
    assert 0.3 < np.mean(good > 0) < 0.9
    expected = set()

    def walk(state: SolitaireChessState) -> None:
        if state.pieces >= 3 and solve(state).solvable:
            expected.add(str(state))
            for action in state.legal_actions():
                after = state.clone()
                after.apply(action)
                walk(after)

    for puzzle in puzzles:
        walk(GAME.parse_state(as_rows(puzzle)))
    assert {str(state) for state, marks in zip(states, good, strict=True) if marks} == expected


def test_a_pupil_learns(tmp_path: Path) -> None:
    settings = dataclasses.replace(TAUGHT, steps=300, puzzles=2000, shares=(0.5, 0.5), max_solutions=1, width=16)
    rows = trained(GAME, "taught", settings, tmp_path)
    assert rows[-1]["right"] > rows[0]["right"] + 0.1


def test_it_learns(tmp_path: Path) -> None:
    """Two pieces left: a capture wins whoever makes it. Few steps must be enough to see what leads to a dead end."""
    settings = dataclasses.replace(SMALL, steps=300, max_pieces=3, width=16, learning_rate=5e-3)
    trained(GAME, "dqn", settings, tmp_path)
    pool = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    puzzles = _native.solitaire_chess.make_puzzles(GAME.rules, 400, 3, pool, None, 1, 99, 1)
    ranker = capture_ranker.load(tmp_path / "model.safetensors")
    learned, at_random = (dqn.play(GAME, ranker, puzzles, np.full(400, e), settings, 0).straight.mean() for e in (0, 1))
    assert learned > at_random + 0.12


def test_forbidden_boards_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    puzzles = _native.solitaire_chess.make_puzzles(GAME.rules, 20, 4, pool, None, 8, 1, 1)
    monkeypatch.setattr(capture_ranker, "_FORBIDDEN", capture_ranker.board_hashes(puzzles[:5]))
    ranker = dqn.ranker_of([dqn.Net(SMALL)], SMALL)
    played = dqn.play(GAME, ranker, puzzles, np.full(20, 0.3), SMALL, 0)
    assert np.count_nonzero(np.count_nonzero(played.boards, axis=1) == 4) == 15


@pytest.mark.parametrize("patience", [200, 9])
def test_what_backtracking_finds_out_is_true(patience: int) -> None:
    """Every mark against the solver; with much patience every puzzle is solved, with little some are given up."""
    pool = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    puzzles = _native.solitaire_chess.make_puzzles(GAME.rules, 30, 6, pool, None, 8, 4, 1)
    torch.manual_seed(0)
    ranker = dqn.ranker_of([dqn.Net(SMALL)], SMALL)
    epsilons = [0.0, 0.5] * 15
    boards, good, tried, solved, positions = _native.solitaire_chess.play_with_backtracking(
        GAME.rules, puzzles, ranker, epsilons, patience, 3, 2
    )
    counts = {(False, False): 0, (False, True): 0, (True, True): 0}
    for board, right, known in zip(boards, good, tried, strict=True):
        state = GAME.parse_state(as_rows(board))
        for i, action in enumerate(state.legal_actions()):
            marks = bool(int(right) >> i & 1), bool(int(known) >> i & 1)
            counts[marks] += 1
            if marks[1]:
                after = state.clone()
                after.apply(action)
                assert isinstance(after, SolitaireChessState)
                assert marks[0] == solve(after).solvable
    assert min(counts.values()) > 10
    assert (positions <= patience).all()
    assert solved.all() == (patience == 200)
    assert (positions[solved == 0] == patience).all()
    again = _native.solitaire_chess.play_with_backtracking(GAME.rules, puzzles, ranker, epsilons, patience, 3, 1)
    assert all(np.array_equal(a, b) for a, b in zip((boards, good, tried, solved, positions), again, strict=True))


def test_memory_keeps_the_last_of_each_size() -> None:
    memory = dqn.Memory(3, 16)
    boards = np.zeros((5, 16), np.uint8)
    boards[:, :3] = 3
    boards[:, 4] = np.arange(1, 6)
    marks = np.arange(5, dtype=np.uint64)
    memory.add(boards, marks, marks + np.uint64(10))
    assert memory.seen == {4: 5}
    copy = dqn.Memory(3, 16)
    copy.restore(memory.arrays(), {"4": 5})
    for kept in (memory, copy):
        found, good, tried = kept.sample(200, np.random.default_rng(1))
        assert set(good.tolist()) == {2, 3, 4}
        assert (found[:, 4] == good + 1).all()
        assert (tried == good + 10).all()


def test_shipped_weights() -> None:
    solo = SolitaireChess(8, 8, max_captures=2)
    with pytest.raises(ValueError, match="no taught weights"):
        capture_ranker.shipped(solo, "taught")
    for game, method in ((GAME, "dqn"), (GAME, "taught"), (solo, "dqn")):
        path = capture_ranker.shipped(game, method)
        assert path.stat().st_size < 1_000_000
        assert {"command", "settings"} <= set(json.loads(path.with_suffix(".json").read_text()))
        capture_ranker.load(path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x08\0\0\0\0\0\0\0{}      "])
def test_bad_weights_are_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.safetensors"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="does not hold the weights"):
        capture_ranker.load(file)


@pytest.mark.parametrize("name", ["dqn", "taught", "oracle", "best"])
def test_agents(name: str) -> None:
    state = GAME.parse_state("R.../.B../..N./P...")
    agent = load_agent(name, GAME)
    explanation = agent.explain(state)
    assert set(explanation.values) == set(state.legal_actions())
    assert state.action_name(explanation.action) == "Ra4xa1"
    assert state.action_name(agent.choose(state, random.Random(1))) == "Ra4xa1"
    assert explanation.reasons


def test_the_oracle_knows_what_can_be_solved() -> None:
    state = GAME.parse_state("R.../.B../..N./P...")
    values = load_agent("oracle", GAME).values(state)
    assert {state.action_name(a): v for a, v in values.items()} == {
        "Ra4xa1": 1.0, "Bb3xa4": 0.0, "Bb3xc2": 0.0, "Nc2xa1": 0.0,
    }  # fmt: skip


POOL = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def puzzles_of(pieces: int, count: int = 24) -> np.ndarray:
    return _native.solitaire_chess.make_puzzles(GAME.rules, count, pieces, POOL, None, 8, 7, 1)


def scores_of(net: Any, board: np.ndarray) -> list[float]:
    """The log-odds of each capture of one board."""
    with torch.no_grad():
        return [float(score) for score in net(dqn.Graphs(GAME, board[None]))]


def after_of(board: np.ndarray) -> list[np.ndarray]:
    """The boards behind each capture of one board."""
    return list(_native.solitaire_chess.captures(GAME.rules, board[None])[3])


def cross_entropy(score: float, target: float) -> float:
    chance = 1 / (1 + np.exp(-score))
    return float(-(target * np.log(chance) + (1 - target) * np.log(1 - chance)))


@pytest.mark.parametrize("guessed", [0.0, 1.0])
def test_targets_of_captures_are_what_was_found_out_or_the_best_after_them(guessed: float) -> None:
    settings = dataclasses.replace(SMALL, guessed=guessed, reward_win=0.7, reward_capture=0.02, reward_dead_end=0.005)
    torch.manual_seed(3)
    learner = dqn.Learner(settings)
    with torch.no_grad():
        for parameter in learner.target_net.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape))
    boards = puzzles_of(4)
    rng = np.random.default_rng(2)
    tried = rng.integers(0, 2**8, len(boards)).astype(np.uint64)
    good = tried & rng.integers(0, 2**8, len(boards)).astype(np.uint64)
    losses = []
    for board, known, right in zip(boards, tried, good, strict=True):
        for place, (score, after) in enumerate(zip(scores_of(learner.net, board), after_of(board), strict=True)):
            if int(known) >> place & 1:
                target = 0.7 + 0.02 * 3 if int(right) >> place & 1 else 0.02 + 0.005
            elif guessed == 0:
                continue
            else:
                best = [1 / (1 + np.exp(-value)) for value in scores_of(learner.target_net, after)]
                target = 0.02 + max(best, default=0.005)
            losses.append(cross_entropy(score, target))
    before = [parameter.clone() for parameter in learner.target_net.parameters()]
    loss = dqn.learn(GAME, learner, boards, good, tried, settings, np.random.default_rng(1))
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)
    for old, target, mine in zip(before, learner.target_net.parameters(), learner.net.parameters(), strict=True):
        torch.testing.assert_close(target.detach(), old + settings.target_rate * (mine.detach() - old))


def test_nothing_is_learned_where_no_capture_is_chosen() -> None:
    settings = dataclasses.replace(SMALL, guessed=0.0)
    boards, none = puzzles_of(3, 4), np.zeros(4, np.uint64)
    assert dqn.learn(GAME, dqn.Learner(settings), boards, none, none, settings, np.random.default_rng(1)) == 0.0


def test_the_loss_of_lessons_counts_beliefs_and_wrong_choices() -> None:
    torch.manual_seed(5)
    net = dqn.Net(SMALL)
    boards = puzzles_of(5)
    most = [len(after_of(board)) for board in boards]
    good = np.random.default_rng(4).integers(0, 2 ** np.minimum(most, 2)).astype(np.uint32)
    beliefs, wrong, hits = [], [], []
    for board, marks in zip(boards, good, strict=True):
        scores = scores_of(net, board)
        right = [bool(int(marks) >> place & 1) for place in range(len(scores))]
        beliefs += [cross_entropy(score, float(mark)) for score, mark in zip(scores, right, strict=True)]
        if any(right):
            weights = np.exp(scores)
            wrong.append(-np.log(sum(w for w, mark in zip(weights, right, strict=True) if mark) / weights.sum()))
            hits.append(right[int(np.argmax(scores))])
    deck = taught.Deck(GAME, taught.Lessons(boards, good), "cpu")
    loss, share = taught.loss_and_hits(net, taught.Drawn(deck, torch.arange(len(boards))))
    assert float(loss.detach()) == pytest.approx(np.mean(beliefs) + np.mean(wrong), rel=1e-4)
    assert float(share) == pytest.approx(np.mean(hits))


def test_lessons_drawn_are_those_of_the_deck() -> None:
    boards = puzzles_of(6, 30)
    good = np.arange(30).astype(np.uint32)
    drawn = taught.Drawn(taught.Deck(GAME, taught.Lessons(boards, good), "cpu"), torch.tensor([7, 3, 3, 29]))
    graphs = dqn.Graphs(GAME, boards[[7, 3, 3, 29]])
    for name in ("nodes", "edges", "board", "mover", "taken"):
        assert torch.equal(getattr(drawn, name), getattr(graphs, name)), name
    marks = [7, 3, 3, 29]
    expected = [
        bool(marks[board] >> int(place) & 1) for board, place in zip(graphs.board.tolist(), graphs.place, strict=True)
    ]
    assert drawn.right.tolist() == expected
    assert drawn.boards == 4


def test_lessons_have_the_shares_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int, int]] = []
    make = _native.solitaire_chess.make_puzzles

    def record(rules: Any, count: int, pieces: int, kinds: Any, king: Any, most: int, seed: int, threads: int) -> Any:
        made.append((count, pieces, seed))
        return make(rules, count, pieces, kinds, king, most, seed, threads)

    monkeypatch.setattr(taught._native.solitaire_chess, "make_puzzles", record)
    settings = dataclasses.replace(taught.Settings(), puzzles=80, shares=(0.5, 0.25), pools=("KQRRBBNNPP", "RRBBNNPP"))
    lessons = taught.make_lessons(GAME, settings, 3)
    assert [(count, pieces) for count, pieces, _ in made] == [(20, 3), (20, 3), (10, 4), (10, 4)]
    assert len({seed for *_, seed in made}) == 4
    pieces, counts = np.unique(np.count_nonzero(lessons.boards, axis=1), return_counts=True)
    decks = taught.decks(GAME, lessons, "cpu")
    assert {number: len(deck) for number, deck in decks.items()} == dict(zip(pieces, counts, strict=True))
    assert all((deck.nodes.shape[1], deck.edges.shape[1:]) == (n, (n, n)) for n, deck in decks.items())


def test_the_papers_targets_and_play() -> None:
    settings = paper_dqn.Settings(width=8, heads=2, layers=2, discount=0.9, reward_win=0.8)
    torch.manual_seed(1)
    net = dqn.Net(SMALL)
    last, more = puzzles_of(3), puzzles_of(4)
    won = np.array([after_of(after)[0] for board in last for after in after_of(board)[:1] if after_of(after)])
    assert paper_dqn.targets_of(GAME, net, won, settings).tolist() == pytest.approx([0.8] * len(won))
    behind = np.array([after_of(board)[0] for board in more])
    expected = [0.9 * max((1 / (1 + np.exp(-s)) for s in scores_of(net, board)), default=0.0) for board in behind]
    assert paper_dqn.targets_of(GAME, net, behind, settings).tolist() == pytest.approx(expected, rel=1e-5)
    steps, share = paper_dqn.play(GAME, net, more, 0.0, np.random.default_rng(1))
    solved = 0
    for board in more:
        at = board
        while (following := after_of(at)) and np.count_nonzero(at) > 1:
            at = following[int(np.argmax(scores_of(net, at)))]
        solved += np.count_nonzero(at) == 1
    assert share == solved / len(more)
    assert steps[0][0].tolist() == more.tolist()
    for boards, places in steps:
        for board, place in zip(boards, places, strict=True):
            assert place == int(np.argmax(scores_of(net, board)))
    at_random = {
        int(p) for _, places in paper_dqn.play(GAME, net, more, 1.0, np.random.default_rng(2))[0] for p in places
    }
    assert len(at_random) > 1


def test_puzzles_that_were_not_solved_come_again() -> None:
    settings = dataclasses.replace(SMALL, games=8, retried=0.5)
    puzzles = dqn.Puzzles(GAME, settings)
    rng = np.random.default_rng(0)
    first = puzzles.draw(4, rng)
    assert len(first) == 8
    puzzles.put_back(first[:6])
    second = puzzles.draw(4, rng)
    assert len(second) == 8, "old and new ones together"
    again = [board.tolist() for board in second if board.tolist() in first[:6].tolist()]
    assert len(again) >= 4, "half of the games, drawn without replacement"
    assert len({tuple(board) for board in again}) == len(again)
    assert len(puzzles.unsolved[4]) == 2
    puzzles.put_back(np.empty((0, 16), np.uint8))
    many = np.repeat(first, 300, axis=0)
    puzzles.put_back(many)
    assert len(puzzles.unsolved[4]) == 2000
    copy = dqn.Puzzles(GAME, settings)
    copy.restore(puzzles.arrays())
    assert copy.unsolved[4].tolist() == puzzles.unsolved[4].tolist()


def test_sizes_are_drawn_in_proportion_to_themselves() -> None:
    memory = dqn.Memory(10, 16)
    for pieces in (3, 6):
        boards = np.zeros((4, 16), np.uint8)
        boards[:, :pieces] = 1
        memory.add(boards, np.zeros(4, np.uint64), np.zeros(4, np.uint64))
    rng = np.random.default_rng(1)
    large = sum(int(np.count_nonzero(memory.sample(1, rng)[0])) == 6 for _ in range(900))
    assert abs(large / 900 - 6 / 9) < 4 * (2 / 9 / 900) ** 0.5


def test_learning_rates_rise_at_first_and_fall_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []

    def learn(game: Any, learner: Any, *others: Any) -> float:
        rates.append(learner.optimizer.param_groups[0]["lr"])
        return 0.0

    monkeypatch.setattr(dqn, "learn", learn)
    trained(GAME, "dqn", dataclasses.replace(SMALL, steps=200, nets=1, games=2, learning_rate=0.01), tmp_path / "dqn")
    assert len(rates) == 200
    assert [rates[step] for step in (0, 49, 99, 150, 199)] == pytest.approx(
        [0.01 * 0.01, 0.005 * (1 - 49 / 200), 0.01 * (1 - 99 / 200), 0.01 * 0.25, 0.01 / 200]
    )
    rates.clear()

    class Recording(torch.optim.AdamW):  # type: ignore[misc, name-defined]
        def step(self, *given: Any) -> None:
            rates.append(self.param_groups[0]["lr"])

    monkeypatch.setattr(taught.torch.optim, "AdamW", Recording)
    settings = dataclasses.replace(
        TAUGHT, steps=300, batch=1, puzzles=40, shares=(1.0,), max_solutions=4, learning_rate=0.01, report=300
    )
    trained(GAME, "taught", settings, tmp_path / "taught")
    assert [rates[step] for step in (0, 99, 199, 250, 299)] == pytest.approx(
        [0.01 / 200, 0.005 * (1 - 99 / 300), 0.01 * (1 - 199 / 300), 0.01 / 6, 0.01 / 300]
    )


@pytest.mark.parametrize("method", ["dqn", "paper-dqn", "taught"])
def test_a_row_has_the_means_since_the_last_one(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps with the losses 1 to 10, and a row every four of them and at the end."""
    made: list[int] = []

    def learn(*_: object) -> float:
        made.append(1)
        return float(len(made))

    def loss_and_hits(net: Any, _: object) -> tuple[Any, Any]:
        loss = learn() + 0 * sum(weights.sum() for weights in net.parameters())
        return loss, torch.tensor(len(made) / 100)

    for module in (dqn, paper_dqn):
        monkeypatch.setattr(module, "learn", learn)
        monkeypatch.setattr(module, "CHECKPOINT", 4)
    monkeypatch.setattr(taught, "loss_and_hits", loss_and_hits)
    settings = {
        "dqn": dataclasses.replace(SMALL, steps=10, nets=1, games=2),
        "paper-dqn": dataclasses.replace(PAPER, steps=10, games=2),
        "taught": dataclasses.replace(TAUGHT, steps=10, batch=2, report=4),
    }[method]
    rows = trained(GAME, method, settings, tmp_path)
    assert [(row["step"], row["loss"], row["progress"]) for row in rows] == [
        (4, 2.5, 0.4),
        (8, 6.5, 0.8),
        (10, 9.5, 1.0),
    ]
    if method == "taught":
        assert [row["right"] for row in rows] == pytest.approx([0.025, 0.065, 0.095], abs=1e-4)
        assert rows[0]["lessons"] == rows[2]["lessons"] > 10
    else:
        assert all(0 <= row["solved"] <= 1 for row in rows)
        seen = [sum(row["seen"].values()) for row in rows]
        assert 0 < seen[0] < seen[1] < seen[2]
    assert trained(GAME, method, settings, tmp_path, resume=True) == [], "there is nothing left"


def test_every_step_draws_its_puzzles_once_and_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a stream that belongs to the seed and the step; the largest size grows over the first third of the steps."""
    steps: list[int] = []
    sizes: list[int] = []
    draw = dqn.Puzzles.draw

    def recorded(self: Any, pieces: int, rng: np.random.Generator) -> Any:
        seed, step = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
        assert seed == 7
        steps.append(step)
        sizes.append(pieces)
        return draw(self, pieces, rng)

    explored: list[list[float]] = []
    play = dqn.play

    def played(game: Any, ranker: Any, puzzles: Any, epsilons: Any, *others: Any) -> Any:
        explored.append(epsilons.tolist())
        return play(game, ranker, puzzles, epsilons, *others)

    monkeypatch.setattr(dqn.Puzzles, "draw", recorded)
    monkeypatch.setattr(dqn, "play", played)
    monkeypatch.setattr(dqn, "learn", lambda *_: 0.0)
    settings = dataclasses.replace(SMALL, steps=45, nets=2, games=5, max_pieces=6, epsilon=0.3, explore_every=2)
    trained(GAME, "dqn", settings, tmp_path, seed=7)
    assert explored == [[0.0, 0.3, 0.0, 0.3, 0.0]] * 45, "every second puzzle has random captures"
    assert steps == list(range(45))
    assert set(sizes[:5]) == {3}, "a third of the way to larger ones has not been gone"
    assert set(sizes[:10]) <= {3, 4}
    assert set(sizes[10:15]) <= {3, 4, 5}
    assert set(sizes) == {3, 4, 5, 6}


def test_settings_of_the_papers_method_are_bounded() -> None:
    for name in ("epsilon", "discount", "reward_win"):
        assert getattr(paper_dqn.Settings(**{name: 1.0}), name) == 1
        for value in (-0.1, 1.5):
            with pytest.raises(ValueError, match="must be from 0 to 1, and so must the reward"):
                paper_dqn.Settings(**{name: value})
    with pytest.raises(ValueError, match="which must not be 0"):
        paper_dqn.Settings(reward_win=0.0)
    with pytest.raises(ValueError, match="max_pieces must be at least 3"):
        paper_dqn.Settings(max_pieces=2)
