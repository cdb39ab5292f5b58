from __future__ import annotations

import numpy as np
import pytest
from examples.connect_four import ConnectFour
from examples.tic_tac_toe import TicTacToe

from rookery.symmetry import Symmetry, of_grid
from rookery.testing import check_game


def test_the_turns_of_a_square_move_its_corners_and_edges_as_by_hand() -> None:
    a_quarter = (2, 5, 8, 1, 4, 7, 0, 3, 6)  # clockwise: the corner 0 goes to 2
    assert a_quarter in of_grid(3, 3)
    assert len(set(of_grid(3, 3))) == 7
    assert of_grid(2, 3) == [(3, 4, 5, 0, 1, 2), (2, 1, 0, 5, 4, 3), (5, 4, 3, 2, 1, 0)]


def test_an_image_has_each_cell_and_plane_where_the_symmetry_says() -> None:
    observation = np.arange(8, dtype=np.float32).reshape(1, 2, 1, 4)
    image = Symmetry((1, 2, 3, 0), (0,), planes=(1, 0)).observations(observation)
    assert image.tolist() == [[[[7, 4, 5, 6]], [[3, 0, 1, 2]]]]


@pytest.mark.parametrize(
    "wrong",
    [
        Symmetry((2, 1, 0, 5, 4, 3, 8, 7, 6), tuple(range(9))),  # cells without actions
        Symmetry(tuple(range(9)), (2, 1, 0, 5, 4, 3, 8, 7, 6)),
        Symmetry((1, 2, 0, 4, 5, 3, 7, 8, 6), (1, 2, 0, 4, 5, 3, 7, 8, 6)),  # columns in a circle: lines break
        Symmetry(tuple(range(9)), (0,) * 9),
    ],
)
def test_a_wrong_symmetry_is_found(wrong: Symmetry) -> None:
    class Wrong(TicTacToe):
        def symmetries(self) -> list[Symmetry]:
            return [wrong]

    with pytest.raises(AssertionError, match=r"symmetry|image"):
        check_game(Wrong(), games=30)


def test_connect_four_is_mirrored() -> None:
    [mirror] = ConnectFour().symmetries()
    assert mirror.actions == [6, 5, 4, 3, 2, 1, 0]
