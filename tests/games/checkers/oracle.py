"""English draughts, slow and plain: a dictionary from square numbers to pieces, moves as tuples of squares."""

from __future__ import annotations

from dataclasses import dataclass, field

# The dark squares of the printed diagram, Black on top: 1 to 4 on columns 1, 3, 5, 7 of the first row, 5 to 8 on
# columns 0, 2, 4, 6 of the second, and so on.
PLACE = {}
for _row in range(8):
    for _column in range(8):
        if (_row + _column) % 2 == 1:
            PLACE[len(PLACE) + 1] = (_row, _column)
SQUARE = {place: number for number, place in PLACE.items()}

Board = dict[int, str]  # square to "b", "B", "w" or "W"; capitals are kings
Move = tuple[tuple[int, ...], tuple[int, ...]]  # squares visited, squares captured on


def start() -> Board:
    return dict.fromkeys(range(1, 13), "b") | dict.fromkeys(range(21, 33), "w")


def relative(square: int, down: int, right: int) -> int | None:
    row, column = PLACE[square]
    return SQUARE.get((row + down, column + right))


def ways(piece: str) -> list[tuple[int, int]]:
    forward = {"b": [1], "w": [-1]}.get(piece, [1, -1])
    return [(down, right) for down in forward for right in (-1, 1)]


def jumps(board: Board, piece: str, path: tuple[int, ...], captured: tuple[int, ...]) -> list[Move]:
    """Every completed capture that begins with this path. The moving piece is off the board, the captured are not."""
    found: list[Move] = []
    for down, right in ways(piece):
        over, land = relative(path[-1], down, right), relative(path[-1], 2 * down, 2 * right)
        if over is None or land is None or over in captured or land in board:
            continue
        if over in board and board[over].lower() != piece.lower():
            found += jumps(board, piece, (*path, land), (*captured, over))
    if not found and captured:
        return [(path, captured)]
    return found


def legal_moves(board: Board, side: str) -> list[Move]:
    captures: list[Move] = []
    steps: list[Move] = []
    for square, piece in board.items():
        if piece.lower() != side:
            continue
        others = {n: p for n, p in board.items() if n != square}
        captures += jumps(others, piece, (square,), ())
        for down, right in ways(piece):
            target = relative(square, down, right)
            if target is not None and target not in board:
                steps.append(((square, target), ()))
    return captures or steps


def after(board: Board, move: Move) -> Board:
    path, captured = move
    piece = board[path[0]]
    board = {n: p for n, p in board.items() if n != path[0] and n not in captured}
    if (piece == "b" and path[-1] > 28) or (piece == "w" and path[-1] < 5):
        piece = piece.upper()
    board[path[-1]] = piece
    return board


def perft(board: Board, side: str, depth: int) -> int:
    if depth == 0:
        return 1
    other = "w" if side == "b" else "b"
    return sum(perft(after(board, move), other, depth - 1) for move in legal_moves(board, side))


def planes(board: Board, side: str) -> list[list[list[float]]]:
    grid = [[[0.0] * 8 for _ in range(8)] for _ in range(5)]
    for square, piece in board.items():
        row, column = PLACE[square]
        grid["bBwW".index(piece)][row][column] = 1.0
    if side == "w":
        grid[4] = [[1.0] * 8 for _ in range(8)]
    return grid


@dataclass
class Game:
    """A game with its whole past, and the draw rules read off it."""

    repetition: int
    quiet_limit: int
    forty_move_rule: bool
    board: Board = field(default_factory=start)
    side: str = "b"
    past: list[tuple[Board, str]] = field(default_factory=list)  # the positions before each move
    moves: list[Move] = field(default_factory=list)

    def play(self, move: Move) -> None:
        self.past.append((self.board, self.side))
        self.moves.append(move)
        self.board = after(self.board, move)
        self.side = "w" if self.side == "b" else "b"

    def result(self) -> str | None:
        """The winner's colour, "draw", or None while the game goes on."""
        if not legal_moves(self.board, self.side):
            return "w" if self.side == "b" else "b"
        times = 1 + self.past.count((self.board, self.side))
        if self.repetition and times >= self.repetition:
            return "draw"
        if self.quiet_limit and self.plies_since(lambda board, move: bool(move[1])) >= self.quiet_limit:
            return "draw"
        changes = self.plies_since(lambda board, move: bool(move[1]) or board[move[0][0]].islower())
        if self.forty_move_rule and changes >= 2 * 40:
            return "draw"
        return None

    def plies_since(self, event) -> int:  # type: ignore[no-untyped-def]
        n = 0
        for (board, _), move in zip(reversed(self.past), reversed(self.moves), strict=True):
            if event(board, move):
                break
            n += 1
        return n
