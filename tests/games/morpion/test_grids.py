"""The referee, symmetries, comparison, animation."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree

import pytest

from rookery.game import TERMINAL
from rookery.games.morpion.picture import picture
from rookery.games.morpion.referee import STEPS, Referee
from rookery.games.morpion.rules import SYMMETRIES, Morpion, MorpionState, compare, read, verify
from rookery.registry import load

VARIANTS = list(Morpion.variants)


def random_game(variant: str, seed: int, board: int | None = None) -> MorpionState:
    game = load("morpion", variant, board=board)
    assert isinstance(game, Morpion)
    state, rng = game.initial_state(), random.Random(seed)
    while state.player() != TERMINAL:
        state.apply(rng.choice(state.legal_actions()))
    return state


def psol_move(name: str) -> tuple[str, tuple[int, int], int]:
    """Reads '(27,27) / +1' without the code under test."""
    point, direction, offset = name.split(" ")
    column, row = point.strip("()").split(",")
    return direction, (int(column), int(row)), int(offset)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("board", [None, 11])
def test_the_referee_knows_the_same_legal_moves_as_the_native_rules(variant: str, board: int | None) -> None:
    game = load("morpion", variant, board=board)
    assert isinstance(game, Morpion)
    state, rng = game.initial_state(), random.Random(5)
    referee = Referee(game.length, game.touching, board)
    while True:
        native = {psol_move(state.action_name(action)) for action in state.legal_actions()}
        ways = [(direction, offset) for direction in STEPS for offset in range(-2, 3)]
        cells = [(x, y) for x in range(14, 46) for y in range(14, 46)]
        slow = {
            (direction, dot, offset)
            for dot in cells
            for direction, offset in ways
            if referee.why_illegal(direction, dot, offset) is None
        }
        assert native == slow
        assert referee.is_over() == (state.player() == TERMINAL)
        if state.player() == TERMINAL:
            break
        for _ in range(10):
            if state.player() != TERMINAL:
                action = rng.choice(state.legal_actions())
                referee.play(*psol_move(state.action_name(action)))
                state.apply(action)


def test_the_referee_refuses_to_play_what_is_not_legal() -> None:
    with pytest.raises(ValueError, match="there is no dot"):
        Referee(5, touching=False).play("-", (10, 10), 0)


def test_verify_sees_that_a_game_goes_on() -> None:
    state = random_game("5T", 1)
    shorter = MorpionState(state.game, state.moves[:-1])
    assert verify(state.record()).terminal
    result = verify(shorter.record())
    assert (result.legal, result.terminal, result.score) == (True, False, len(state.moves) - 1)


@pytest.mark.parametrize("cut", [1, 2, 30])
def test_a_cut_file_is_noticed(cut: int) -> None:
    lines = random_game("5D", 2).record("a remark").splitlines(keepends=True)
    with pytest.raises(ValueError, match=f"line {len(lines) - cut}: the record ends after .* its heading says"):
        read("".join(lines[:-cut]))
    with pytest.raises(ValueError, match=f"line {len(lines)}: expected a move"):
        read("".join(lines)[:-4])


@pytest.mark.parametrize("variant", VARIANTS)
def test_symmetric_games_are_legal_and_all_different(variant: str) -> None:
    state = random_game(variant, 4)
    images = [state.transformed(symmetry) for symmetry in range(len(SYMMETRIES))]
    assert all(verify(image.record()).terminal for image in images)
    assert len({image.key() for image in images}) == 8  # a random game has no symmetry of its own
    # A drawing turned right: what was at the top is at the right.
    width = 3 * state.game.length - 6
    corner = state.game.rules.corner

    def place(cell: int) -> tuple[int, int]:
        return cell % state.game.side - corner, cell // state.game.side - corner

    dots = {place(state.action_cells(action)[0]) for action in state.moves}
    right = {place(images[1].action_cells(action)[0]) for action in images[1].moves}
    mirrored = {place(images[4].action_cells(action)[0]) for action in images[4].moves}
    assert right == {(width - y, x) for x, y in dots}
    assert mirrored == {(width - x, y) for x, y in dots}


def test_comparison_sees_through_symmetry_and_order() -> None:
    state = random_game("5D", 3)
    game = state.game
    rng = random.Random(1)
    # The same lines, drawn in another order.
    shuffled, left = game.initial_state(), list(state.moves)
    while left:
        action = rng.choice([action for action in left if shuffled.is_legal(action)])
        shuffled.apply(action)
        left.remove(action)
    assert shuffled.moves != state.moves
    for symmetry in range(8):
        result = compare(shuffled.transformed(symmetry), state)
        assert result.same
        assert result.symmetry == SYMMETRIES[symmetry]
        assert (result.shared, result.only_first, result.only_second) == (len(state.moves), [], [])
    shorter = MorpionState(game, state.moves[:-2])
    result = compare(state, shorter)
    assert not result.same
    assert result.only_first == [state.action_name(action) for action in state.moves[-2:]]
    assert result.only_second == []
    with pytest.raises(ValueError, match="not 5D and 5T"):
        compare(state, random_game("5T", 3))


def test_an_animation_shows_a_move_after_the_other_and_carries_the_record() -> None:
    state = random_game("4D", 1)
    svg = state.animation(0.5)
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    ends = [element.get("end") for element in root.iter("{http://www.w3.org/2000/svg}set")]
    once = [f"round.begin+{number * 0.5:g}s" for number in range(1, len(state.moves) + 1)]
    assert ends == once + once  # of the lines, then of the dots
    assert read(svg).moves == state.moves


def test_the_referee_sees_a_last_move_on_every_side_of_the_grid() -> None:
    """One move is left, drawn in each of eight images: the game goes on, wherever its dot lies."""
    state = random_game("5D", 7)
    for symmetry in range(8):
        image = state.transformed(symmetry)
        referee = Referee(5, touching=False)
        for number, action in enumerate(image.moves, 1):
            referee.play(*psol_move(image.action_name(action)))
            assert referee.is_over() == (number == len(image.moves))


@pytest.mark.parametrize("variant", ["5D", "4T"])
def test_the_picture_has_the_cross_in_bold_and_the_last_line_in_red(variant: str) -> None:
    state = random_game(variant, 5)
    game, shown = state.game, picture(state)
    plain = state.text_board()
    assert shown.plain == plain + "\n"
    styled = {(span.start, span.end): str(span.style) for span in shown.spans}
    assert {end - start for start, end in styled} == {1}
    dots = state.dots()
    left = min(cell % game.side for cell in dots)

    def place(cell: int) -> int:
        """Where the character of a cell stands in the text: rows are numbered on the left, columns above."""
        lines = plain.split("\n")
        row = next(i for i, line in enumerate(lines) if line.startswith(f"{cell // game.side + game._shift:2}"))
        first = len(lines[row]) - len(lines[row][4:]) + 2 * (cell % game.side - left + 1)
        return sum(len(line) + 1 for line in lines[:row]) + first

    expected = {place(cell): "bold" for cell in game.cross}
    expected |= {place(cell): "bold red" for cell in game.line_cells(state.moves[-1])}
    assert {start: style for (start, _), style in styled.items()} == expected
    assert {str(span.style) for span in picture(game.initial_state()).spans} == {"bold"}
