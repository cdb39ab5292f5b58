"""Checkers engines that speak the Hub protocol, version 2.

A position is a letter for the side to move and one for each of the squares 1 to 32; a capture is named by its first and
last square and those of the captured pieces. Squares have their standard numbers, and Black starts.
"""

from __future__ import annotations

import re

from rookery.engines import Engine, EngineError, Program, Reply
from rookery.game import State
from rookery.games.checkers.rules import Checkers, CheckersState, decode_action

VARIANT = "english"
"""What the parameter `variant` calls this game."""

_ARGUMENT = re.compile(r'([A-Za-z][\w-]*)(?:=(?:"([^"]*)"|([^\s"]*)))?')
_WON = 90.0
"""Scores beyond this tell a number of plies to the end: 100 less a hundredth for each."""


def arguments(line: str) -> dict[str, str]:
    """The arguments of a line, without its command.

    >>> arguments('done move=32-28 ponder="17-22 x" fast')
    {'move': '32-28', 'ponder': '17-22 x', 'fast': ''}
    """
    text = line.partition(" ")[2]
    return {match[1]: match[2] or match[3] or "" for match in _ARGUMENT.finditer(text)}


def position_text(state: CheckersState) -> str:
    """A position in Hub's form.

    >>> position_text(Checkers().parse_state("B:W21,K30:B1"))
    'BbeeeeeeeeeeeeeeeeeeeweeeeeeeeWee'
    """
    kings = set(state.kings)
    letters = ["e"] * 32
    for letter, squares in (("b", state.black), ("w", state.white)):
        for square in squares:
            letters[square - 1] = letter.upper() if square in kings else letter
    return "BW"[state.side] + "".join(letters)


def parse_position(game: Checkers, text: str) -> CheckersState:
    """The position that a text in Hub's form means.

    >>> str(parse_position(Checkers(), "BbeeeeeeeeeeeeeeeeeeeweeeeeeeeWee"))
    'B:W21,K30:B1'
    """
    if not re.fullmatch("[BW][bwBWe]{32}", text):
        raise ValueError(f"a position is B or W and 32 of the letters b, w, B, W and e, not {text[:60]!r}")
    squares = list(enumerate(text[1:], 1))
    black, white = ([n for n, letter in squares if letter.lower() == side] for side in "bw")
    kings = [n for n, letter in squares if letter.isupper()]
    fen = {side: ",".join(f"{'K' * (n in kings)}{n}" for n in found) for side, found in (("W", white), ("B", black))}
    return game.parse_state(f"{text[0]}:W{fen['W']}:B{fen['B']}")


def move_text(action: int) -> str:
    """A move in Hub's form.

    >>> from rookery.games.checkers.rules import encode_action
    >>> move_text(encode_action([11, 15])), move_text(encode_action([22, 15, 8]))
    ('11-15', '22x8x11x18')
    """
    path, captured = decode_action(action)
    return "x".join(map(str, [path[0], path[-1], *sorted(captured)])) if captured else f"{path[0]}-{path[-1]}"


def parse_move(state: CheckersState, text: str) -> int:
    """The legal move that a text in Hub's form means; paths that capture the same pieces lead to the same position.

    >>> state = Checkers().parse_state("W:W22,K31:B11,18,27")
    >>> state.action_name(parse_move(state, "22x8x18x11"))
    '22x15x8'
    """
    wanted = _normal(text)
    for action in state.legal_actions():
        if _normal(move_text(action)) == wanted:
            return action
    raise ValueError(f"{text[:40]!r} is not a legal move in {state}")


def _normal(text: str) -> tuple[str, ...]:
    first, last, *captured = [*text.replace("-", "x").split("x"), ""]
    return "-" * ("-" in text), first, last, *sorted(captured)


def score_text(value: float, plies: int | None) -> str:
    """A score: men, or how many plies the end of the game is away, from the view of the side to move."""
    if plies is None:
        return f"{value:.2f}"
    return f"{(100 - plies / 100) * (1 if value > 0 else -1):.2f}"


class HubEngine(Engine):
    """A checkers engine. It forgets between questions: an answer depends on the position and its history alone."""

    def _greet(self, program: Program, seconds: float) -> str:
        program.send("hub")
        name, variants = "", None
        for line in program.lines(seconds):
            given = arguments(line)
            if line.startswith("id "):
                name = " ".join(given[key] for key in ("name", "version") if key in given)
            elif line.startswith("param ") and given.get("name") == "variant":
                variants = given.get("values", "").split()
            elif line == "wait":
                break
        if variants is not None:
            if VARIANT not in variants:
                raise EngineError(f"it does not play {VARIANT} checkers; its variants: {', '.join(variants)}")
            program.send(f"set-param name=variant value={VARIANT}")
        program.send("init")
        for line in program.lines(seconds):
            if line == "ready":
                break
        return name

    def _think(self, program: Program, state: State, seconds: float) -> Reply:
        assert isinstance(state, CheckersState)
        program.send("new-game")
        moves = " ".join(map(move_text, state.actions))
        start: CheckersState = state.start  # type: ignore[assignment]
        program.send(f"pos pos={position_text(start)}" + (f' moves="{moves}"' if moves else ""))
        program.send(f"level move-time={self.seconds:g}" if self.seconds else f"level depth={self.depth}")
        program.send("go think")
        mate, score, problem = None, None, ""
        for line in program.lines(seconds):
            given = arguments(line)
            if line.startswith("info ") and re.fullmatch(r"[-+]?[0-9]{1,6}(\.[0-9]*)?", given.get("score", "")):
                mate, score = _evaluation(float(given["score"]))
            elif line.startswith("error"):
                problem = given.get("message", "")
            elif line.startswith("done"):
                break
        try:
            return Reply(parse_move(state, given.get("move", "")), mate, score)
        except ValueError:
            said = f"; it says {problem[:200]!r}" if problem else ""
            raise EngineError(f"it plays {given.get('move', '')[:20]!r}, which is not a legal move{said}") from None


def _evaluation(score: float) -> tuple[int | None, float | None]:
    """The moves to the end of the game, or men."""
    plies = round(100 * (100 - abs(score)))
    if abs(score) <= _WON or plies < 0:
        return None, score
    moves = max(1, (plies + 1) // 2)
    return (moves if score > 0 else -moves), None
