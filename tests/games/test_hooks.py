"""What the games tell people about themselves: records that are read back, pieces, puzzles, practice and verdicts."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rookery
from rookery.game import TERMINAL, Game
from rookery.games.endgames.tables import solve
from rookery.games.solitaire_chess.exact import solve as solve_puzzle
from rookery.registry import agent as load_agent

VARIANTS = [(name, variant) for name in sorted(rookery.GAMES) for variant in rookery.GAMES[name].variants]


def random_play(game: Game, rng: random.Random, most: int) -> tuple[str, list[int], str]:
    state = game.random_start(rng)
    start, actions = str(state), []
    for _ in range(rng.randrange(most)):
        legal = state.legal_actions() or [outcome for outcome, _ in state.chance_outcomes()]
        if not legal:
            break
        actions.append(rng.choice(legal))
        state.apply(actions[-1])
    return start, actions, str(state)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_variants_named_by_a_size_have_it(name: str, variant: str) -> None:
    if size := re.search(r"([0-9]+)x([0-9]+)", variant.split("-no-")[0]):
        game = rookery.load(name, variant)
        assert (game.rows, game.columns) == tuple(map(int, size.groups()))


@pytest.mark.parametrize(
    ("game", "text", "piece", "last"),
    [
        (rookery.load("2048", rows=2, columns=3), ".,.,./.,.,2", "4", 5),
        (rookery.load("solitaire-chess", rows=2, columns=3), "R.B/.N.", "Q", 5),
        (rookery.load("tenten", rows=3, columns=4, hand=2, pieces="three"), "..../..../.... 1x1,?", "#", 13),
        (rookery.load("endgames"), "8/8/8/2k5/8/8/3R4/K7 w - - 0 1", ".", 63),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_pieces_are_put_on_cells_that_there_are(game: Game, text: str, piece: str, last: int) -> None:
    for cell in (-1, last + 1):
        with pytest.raises(ValueError, match=f"cells are 0 to {last}, not {cell}$"):
            game.with_piece(text, cell, piece)
    game.with_piece(text, 0, piece)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_what_record_writes_is_read_back(name: str, variant: str) -> None:
    game = rookery.load(name, variant)
    for seed in range(15):
        start, actions, end = random_play(game, random.Random(seed), 80)
        record = game.record(start, actions, ['A "quoted" \\ name', "B"][: game.players])
        assert game.parse_record(record.text) == (start, actions)
        again, played = game.parse_record(end)  # a position alone
        state = game.parse_state(again)
        for action in played:
            state.apply(action)
        assert str(state) == end


def test_only_games_of_one_file_each_say_so() -> None:
    found = {}
    for name in rookery.GAMES:
        game = rookery.load(name)
        record = game.record(str(game.initial_state()), [], ["a", "b"][: game.players])
        found[name] = record.extension, record.one_per_file
    expected = {
        "checkers": ("pdn", False), "endgames": ("pgn", False), "morpion": ("psol", True),
        "solitaire-chess": ("txt", False), "tenten": ("txt", False),
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected


def test_a_record_that_was_cut_is_refused() -> None:
    game = rookery.load("tenten", "3x3-three")
    start, actions, _ = random_play(game, random.Random(1), 30)
    lines = game.record(start, actions, ["me"]).text.splitlines()
    with pytest.raises(ValueError, match="the game leads to"):
        game.parse_record("\n".join([*lines[:-2], lines[-1]]))
    with pytest.raises(ValueError, match="is not a legal move"):
        game.parse_record("\n".join([*lines[:2], "9x9@r1c1", *lines[2:]]))


def test_pgn_as_others_write_it() -> None:
    game = rookery.load("endgames")
    text = """[Event "Study"]
    [SetUp "1"]
    [FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"]

    1. Rd2! {quiet; (not a variation)} (1. Rh1# $1 {mate}) 1... Kb1 ; the only move
    2. Rd1# 1-0

    [FEN "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"]
    1. Ra5+ *
    """
    start, actions = game.parse_record(text)
    state = game.parse_state(start)
    names = []
    for action in actions:
        names.append(state.action_name(action))
        state.apply(action)
    assert names == ["Rd2", "Kb1", "Rd1#"]
    assert state.player() == TERMINAL
    for bad, reason in (
        ("[Event 'x'] 1. e4", "not closed"),
        ('[Event "x"] 1. e4', "no tag FEN"),
        ('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] 1. Rh9', "expected a move"),
        ('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] 1. Kb1', "not a legal move"),
        ('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] 1. Rd2) *', "was not opened"),
        ('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] (' + 100_000 * "{", "not closed"),
        ('[FEN "8/8/8/8/8/1K6/7R/k7 w - - 0 1"] 1. Rd2 & Kb1', "expected a move or a result"),
    ):
        with pytest.raises(ValueError, match=reason):
            game.parse_record(bad)


@pytest.mark.parametrize("name", ["checkers", "endgames", "morpion", "solitaire-chess", "tenten"])
@settings(max_examples=150)
@given(text=st.text(max_size=60) | st.text('[]{}();."0123456789 -x*/#KQRBNPk:w\nFEN', max_size=80))
@example(text="{[}")
@example(text="[")
@example(text='[FEN ""]')
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    game = rookery.load(name)
    try:
        start, _ = game.parse_record(text)
    except ValueError:
        return
    assert game.parse_record(start) == (start, [])


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_piece_can_be_put_somewhere(name: str, variant: str) -> None:
    """Every change gives the text of a position or is refused by the parser; each piece fits on some cell."""
    game = rookery.load(name, variant)
    if not game.pieces():
        with pytest.raises(ValueError, match="can only be written"):
            game.with_piece(str(game.initial_state()), 0, "x")
        return
    text = str(game.initial_state())
    placed = set()
    for piece in game.pieces():
        for cell in range(130):
            try:
                after = str(game.parse_state(game.with_piece(text, cell, piece)))
            except ValueError:
                continue
            placed.add(piece)
            assert str(game.parse_state(game.with_piece(after, cell, piece))) == after  # twice is once
    crowded = {"Q", "R", "B", "N", "P", "q", "r", "b", "n", "p"} if name == "endgames" else set()
    assert placed | crowded == set(game.pieces())
    if game.players == 2:
        turned = game.parse_state(game.with_piece("B:W21:B1" if name == "checkers" else text, 0, "turn"))
        assert turned.player() == 1


def test_practice_starts() -> None:
    game = rookery.load("endgames", "KPK")
    for seed in range(10):
        state = load_agent("oracle", game).practice_start(game, random.Random(seed))
        assert state.player() == 0
        assert (solve(state).dtm or 0) > 1
    puzzles = rookery.load("solitaire-chess")
    for seed in range(10):
        board = load_agent("oracle", puzzles).practice_start(puzzles, random.Random(seed))
        assert solve_puzzle(board).solvable
    checkers = rookery.load("checkers")
    assert str(load_agent("random", checkers).practice_start(checkers, random.Random(1))) == str(
        checkers.initial_state()
    )


def test_puzzles_by_level() -> None:
    game = rookery.load("solitaire-chess")
    for level in game.puzzle_levels:
        made = game.puzzle(level, 3)
        assert made == game.puzzle(level, 3)
        assert solve_puzzle(rookery.load(game.name, made.variant).parse_state(made.position)).solvable
    with pytest.raises(ValueError, match="known levels: beginner"):
        game.puzzle("hard", 1)
    with pytest.raises(ValueError, match="has no puzzles"):
        rookery.load("tenten").puzzle("beginner", 1)


def test_stages_of_a_search_end_with_itself() -> None:
    game = rookery.load("checkers")
    for name, count in (("minimax:depth=4", 4), ("mcts:simulations=4000", 2), ("mcts:simulations=1000", 1)):
        agent = load_agent(name, game)
        assert len(agent.stages()) == count
        assert agent.stages()[-1] is agent


def test_the_text_board_of_morpion_has_every_dot_and_line() -> None:
    game = rookery.load("morpion")
    empty = game.initial_state().text_board().split("\n")
    assert sum("\u2800" < character <= "\u28ff" for line in empty for character in line) == 36
    state = game.parse_state("(28,28);(27,27) / 0")
    assert state.text_board() != "\n".join(empty)
    assert len(state.text_board().split("\n")) == 2 + 12  # the names of the columns, and a row more on both sides
    for action in game.initial_state().legal_actions():  # every dot that a move names has its coordinates on the board
        column, row = re.findall("[0-9]+", game.initial_state().action_name(action))[:2]
        assert any(line.startswith(row) for line in empty)
        assert column in ["".join(digits).strip() for digits in zip(*(line[4::2] for line in empty[:2]), strict=True)]
