from __future__ import annotations

import random

import numpy as np
import pytest

import rookery
from rookery import _native
from rookery.games.solitaire_chess import ranker as capture_ranker
from rookery.games.solitaire_chess.exact import solve
from rookery.games.solitaire_chess.puzzles import make_solo_puzzles, pack
from rookery.games.solitaire_chess.rules import SolitaireChess, SolitaireChessState
from rookery.games.solitaire_chess.search import Method, Order, plainly_dead, search
from rookery.games.solitaire_chess.study import random_boards
from tests.games.solitaire_chess import oracle
from tests.games.solitaire_chess.published import published_puzzles

GAME = SolitaireChess()
SOLO = SolitaireChess(8, 8, max_captures=2)


def paper_backtracking(position: oracle.Position) -> tuple[int, oracle.Position | None]:
    """Positions entered and the final one: pieces from the bottom row up and from right to left; the moves of each are
    listed from the top row down and from left to right, a queen's straight ones first, and taken from the end."""
    if len(position) == 1:
        return 1, position
    entered = 1
    for start in sorted(position, key=lambda square: (square[1], -square[0])):
        moves = [end for a, end in oracle.captures(position) if a == start]
        straight = {end for end in moves if end[0] == start[0] or end[1] == start[1]}
        queen = position[start][0] == "Q"
        moves.sort(key=lambda end: (queen and end not in straight, -end[1], end[0]))
        for end in reversed(moves):
            below, final = paper_backtracking(oracle.capture(position, start, end))
            entered += below
            if final:
                return entered, final
    return entered, None


def random_state(rng: random.Random, pieces: int) -> SolitaireChessState:
    return GAME.random_start(rng, pieces, solvable=False)


def test_the_papers_puzzle() -> None:
    state = GAME.parse_state(".RN./B.P./..../....")
    found = search(state, max_tree=100)
    assert (found.states, found.finished, len(found.tree)) == (12, True, 12)
    for move in found.moves or []:
        state.apply(move)
    assert str(state) == "..../R.../..../...."


@pytest.mark.parametrize("pieces", [2, 4, 6])
def test_backtracking_agrees_with_the_oracle(pieces: int) -> None:
    rng = random.Random(pieces)
    for _ in range(40):
        state = random_state(rng, pieces)
        entered, final = paper_backtracking(oracle.parse(str(state)))
        found = search(state)
        assert (found.states, found.moves is not None) == (entered, final is not None), str(state)


@pytest.fixture(scope="module")
def orders() -> list[Order]:
    return ["paper", "centre", capture_ranker.load(capture_ranker.shipped(GAME))]


@pytest.mark.parametrize("method", ["dfs", "dfs-tt", "best-first"])
@pytest.mark.parametrize("prune", [False, True])
def test_every_search_tells_the_truth(method: Method, prune: bool, orders: list[Order]) -> None:
    rng = random.Random(5)
    for _ in range(25):
        state = random_state(rng, rng.randint(1, 7))
        solvable = solve(state).solvable
        for order in orders:
            found = search(state, method, order, prune)
            assert found.finished
            assert (found.moves is not None) == solvable, str(state)
            if found.moves is not None:
                at = state.clone()
                for move in found.moves:
                    at.apply(move)
                assert at.pieces == 1
                assert found.states >= state.pieces


@pytest.mark.parametrize("game", [GAME, SolitaireChess(5, 5, max_captures=2), SolitaireChess(4, 4, king_last=False)])
def test_pruning_is_sound_and_does_something(game: SolitaireChess) -> None:
    rng = random.Random(1)
    dead = 0
    for _ in range(1500):
        state = game.random_start(rng, rng.randint(1, 6), solvable=False)
        if plainly_dead(state):
            dead += 1
            assert not solve(state).solvable, str(state)
    assert dead > 100


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("K.../..../..../...P", True),  # nobody reaches anybody
        ("PP../..../..../....", True),  # two squares that nothing can leave
        ("RP../..../..../....", False),
        ("K.K./.R../..../....", True),  # two kings
    ],
)
def test_plainly_dead_by_hand(text: str, dead: bool) -> None:
    assert plainly_dead(GAME.parse_state(text)) is dead


def test_memory_enters_no_position_twice() -> None:
    # Unsolvable, so that the whole graph is seen: distinct positions with memory, all sequences without.
    state = next(
        state
        for state in (random_state(random.Random(seed), 7) for seed in range(1000))
        if not solve(state).solvable and search(state).states > 200
    )
    from rookery.games.solitaire_chess.exact import capture_tree

    tree = capture_tree(state)
    assert search(state).states == tree.nodes
    assert search(state, "dfs-tt").states == search(state, "best-first").states == tree.distinct_states


def test_positions_looked_at_are_counted_beside_those_entered(orders: list[Order]) -> None:
    """For a search that goes straight on: every capture of every position entered, the last one having none."""
    ranker = orders[2]
    straight = 0
    for puzzle in pack()[:30]:
        state = GAME.parse_state(puzzle.rows)
        found = search(state, "dfs", ranker)
        without = search(state, "dfs", ranker, look_ahead=False)
        assert without.looked_at == search(state).looked_at == 0
        if found.states == state.pieces:
            position, looked_at = oracle.parse(puzzle.rows), 0
            for move in found.moves or []:
                looked_at += len(oracle.captures(position))
                start, end = ((1 + cell % 4, 4 - cell // 4) for cell in divmod(move, 16))
                position = oracle.capture(position, start, end)
            assert found.looked_at == looked_at
            straight += 1
    assert straight > 20


def test_ranking_without_look_ahead_is_what_the_net_says(orders: list[Order]) -> None:
    ranker = orders[2]
    assert isinstance(ranker, _native.solitaire_chess.CaptureRanker)
    state = GAME.parse_state(pack()[50].rows)
    here = sorted(ranker.rank(state), key=lambda move: -move[1])
    assert _native.solitaire_chess.ranked_moves(ranker, state, False) == here
    assert _native.solitaire_chess.ranked_moves(ranker, state) != here


@pytest.mark.parametrize("trained", ["dqn", "taught"])
def test_best_first_stays_on_a_line_that_the_net_believes_in(trained: str) -> None:
    """On boards that nobody made hard it enters hardly more positions than there are pieces, which is the least."""
    ranker = capture_ranker.load(capture_ranker.shipped(GAME, trained))
    states = random_boards(GAME, 200, seed=11)
    least = sum(str(state).count(letter) for state in states for letter in "KQRBNP")
    assert sum(search(state, "best-first", ranker).states for state in states) <= 1.02 * least


def test_looking_ahead_is_certain_about_the_last_two_pieces() -> None:
    """A capture that leaves two pieces is good if one of them can take the other, as the oracle's rules say. The score
    is the mean of 100 or -100 and of what the net says about the capture, which is never as sure as 50 log-odds."""
    ranker = capture_ranker.load(capture_ranker.shipped(GAME))
    rng = random.Random(2)
    seen = set()
    for _ in range(200):
        state = random_state(rng, 3)
        for move, score in _native.solitaire_chess.ranked_moves(ranker, state):
            after = state.clone()
            after.apply(move)
            solvable = bool(oracle.captures(oracle.parse(str(after))))
            assert (score > 25) if solvable else (score < -25), (str(state), state.action_name(move), score)
            seen.add(solvable)
    assert seen == {False, True}


def test_limits() -> None:
    state = make_solo_puzzles(SOLO, 18, 1, seed=1)[0]
    found = search(state, "dfs", "paper", max_states=50, max_tree=10)
    assert (found.moves, found.states, found.finished, len(found.tree)) == (None, 50, False, 10)
    with pytest.raises(ValueError, match="unknown search"):
        search(state, "a-star")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_states"):
        search(state, max_states=0)


def test_solo_chess_searches_agree() -> None:
    ranker = capture_ranker.load(capture_ranker.shipped(SOLO))
    for state in make_solo_puzzles(SOLO, 9, 10, seed=3):
        for order in ("centre", ranker):
            assert search(state, "dfs-tt", order, True, 200_000).moves is not None
        assert search(state, "best-first", ranker, True, 200_000).moves is not None


def test_large_solo_chess_takes_a_tenth_of_the_positions() -> None:
    """The aim of the study, on other boards than the study's."""
    ranker = capture_ranker.load(capture_ranker.shipped(SOLO))
    states = [state for pieces in range(14, 21) for state in make_solo_puzzles(SOLO, pieces, 2, seed=5)]
    learned = [search(state, "best-first", ranker, True, 20_000) for state in states]
    by_hand = [search(state, "dfs-tt", "centre", True, 200_000) for state in states]
    assert all(found.moves is not None for found in learned)
    assert sum(found.states for found in learned) <= 0.1 * sum(found.states for found in by_hand)


@pytest.fixture(scope="module")
def published() -> list[dict[str, str]]:
    return published_puzzles()


@pytest.mark.parametrize("trained", ["dqn", "taught"])
def test_published_puzzles(published: list[dict[str, str]], trained: str) -> None:
    """The paper's backtracking as another program of ours counts it, and the shipped weights meet the study's aims."""
    game = rookery.load("solitaire-chess")
    assert isinstance(game, SolitaireChess)
    states = [game.parse_state(puzzle["rows"]) for puzzle in published]
    base = [search(state).states for state in states]
    assert base == [int(puzzle["seedDFS_calls_to_first"]) for puzzle in published]
    ranker = capture_ranker.load(capture_ranker.shipped(game, trained))

    def ratio(method: Method) -> float:
        return float(np.sum([search(state, method, ranker).states for state in states]) / np.sum(base))

    straight = np.mean([search(s, "dfs", ranker).states == s.pieces for s in states])
    assert ratio("dfs") <= 0.40
    assert ratio("dfs-tt") <= 0.12
    assert ratio("best-first") <= 0.02
    assert straight >= 0.80


def test_published_puzzles_are_forbidden(published: list[dict[str, str]]) -> None:
    rows = [puzzle["rows"] for puzzle in published]
    mirrored = ["/".join(row[::-1] for row in text.split("/")) for text in rows]
    cells = [["KQRBNP".find(c) + 1 for c in text.replace("/", "")] for text in rows + mirrored]
    assert not capture_ranker.may_learn_from(np.array(cells, np.uint8)).any()
    rng = np.random.default_rng(0)
    others = rng.integers(0, 7, (1000, 16)).astype(np.uint8)
    assert capture_ranker.may_learn_from(others).all()
