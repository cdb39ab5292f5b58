"""What an agent is: it picks a move, values every move, and explains itself."""

from __future__ import annotations

import inspect
import random
import time
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from rookery import draw
from rookery.game import Game, Overlay, State
from rookery.game import Level as Level


@dataclass(frozen=True)
class Drawing:
    """A picture that goes with an explanation: as SVG, and as text for the terminal."""

    title: str
    svg: str
    text: str


@dataclass(frozen=True)
class Explanation:
    """Why an agent would play a move, in data that can be printed and drawn. A notebook draws it."""

    state: State = field(compare=False)
    """The position that is explained."""
    action: int
    values: dict[int, float]
    """The agent's value of every legal move."""
    reasons: list[str]
    """Sentences for people."""
    overlay: Overlay = field(default_factory=Overlay)
    """What to draw on the position itself."""
    drawings: list[Drawing] = field(default_factory=list)
    """Other boards that belong to the reasons."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", self.state.clone())  # the caller may play on

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons)
        others = "".join(f"<figure>{d.svg}<figcaption>{escape(d.title)}</figcaption></figure>" for d in self.drawings)
        return f"<div>{self.state.svg(self.overlay)}<ul>{reasons}</ul>{others}</div>"


@dataclass(frozen=True)
class Hint:
    """Help with a move in stages, each telling more than the one before."""

    sentences: list[str]
    cells: list[list[int]]
    """The cells to light up with each sentence."""
    stuck: bool = False
    """Whether no move helps any more."""


@dataclass(frozen=True)
class Verdict:
    """What a move was worth beside the best one."""

    kind: Literal["good", "slower", "bad"]
    text: str


class Agent:
    """Whatever can play. Subclasses write `values`, or `choose`, or both.

    `rng` is the only source of chance an agent may use; without one, `choose` draws from a fresh source. By default an
    agent plays a move of greatest value, ties broken at random.
    """

    def values(self, state: State) -> dict[int, float]:
        """The agent's value of every legal move. The default gives 1 to the chosen one and 0 to the others."""
        if type(self).choose is Agent.choose:
            raise NotImplementedError(f"{type(self).__name__} must write `values` or `choose`")
        chosen = self.choose(state, random.Random(0))
        return {action: float(action == chosen) for action in state.legal_actions()}

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        """The move the agent plays."""
        values = self.values(state)
        best = max(values.values())
        return (rng or random).choice([action for action, value in values.items() if value == best])

    def choose_within(self, state: State, rng: random.Random, seconds: float) -> int:
        """The move the agent plays if it has the given number of seconds for it.

        The default goes through its stages, and begins none after a fourth of the time.
        """
        end = time.monotonic() + seconds / 4
        for stage in self.stages():
            action = stage.choose(state, rng)
            if time.monotonic() > end:
                break
        return action

    def explain(self, state: State) -> Explanation:
        """What the agent would play, its value of every move, and why."""
        values = self.values(state)
        ranked = sorted(values, key=lambda action: -values[action])
        reasons = [f"{state.action_name(action)}: {self.in_words(state, values[action])}" for action in ranked[:5]]
        return Explanation(state, ranked[0], values, reasons, Overlay(values=values))

    def _repr_html_(self) -> str:
        about = (inspect.getdoc(type(self)) or "").partition("\n")[0]
        return f"<p><b>{escape(type(self).__name__)}</b> {escape(about)}</p>"

    def stages(self) -> list[Agent]:
        """Agents to ask one after the other, so that a slow search can show what it has so far; the last is itself."""
        return [self]

    def hint(self, state: State) -> Hint:
        """Help for a person in three stages: where the move begins, the move, and why."""
        why = self.explain(state)
        touched, lit = state.action_cells(why.action), state.preview_cells(why.action)
        first = "The move begins on the lit square." if touched else "There is a move worth a look."
        sentences = [first, f"Play {state.action_name(why.action)}.", "; ".join(why.reasons[:3]) + "."]
        return Hint(sentences, [touched[:1], lit, lit])

    def judge(self, before: State, action: int) -> Verdict:
        """What a move was worth, by this agent's values."""
        values = self.values(before)
        best, got, name = max(values.values()), values[action], before.action_label(action)
        if got == best:
            return Verdict("good", f"{name} is a best move: {self.in_words(before, got)}.")
        top = before.action_label(max(values, key=lambda a: values[a]))
        kind: Literal["slower", "bad"] = "bad" if best > 0 >= got else "slower"
        return Verdict(kind, f"{name}: {self.in_words(before, got)}. Better was {top}: {self.in_words(before, best)}.")

    def in_words(self, state: State, value: float) -> str:
        """What a value of a move means to a person, in few words: "mate in 14", "41 more rounds".

        The default takes values as expected returns. Those of a game for two are the share of the points that the mover
        can expect, if they lie between a loss, -1, and a win, 1.

        >>> import rookery
        >>> state = rookery.load("checkers").initial_state()
        >>> [Agent().in_words(state, value) for value in (1, 0.5, 0, -1)]
        ['wins', '75%', 'even', 'loses']
        """
        if state.game.players == 2 and abs(value) <= 1:
            known = {1.0: "wins", 0.0: "even", -1.0: "loses"}
            return known.get(round(value, 6), f"{50 + 50 * value:.0f}%")
        return f"{draw.short(value)} {state.game.unit}".rstrip()

    def accepts_draw(self, state: State) -> bool:
        """Whether the agent takes the draw that the side to move offers it. By default it plays on."""
        return False

    def practice_start(self, game: Game, rng: random.Random) -> State:
        """A position for a person to play from. An agent that knows the truth may pick one that the person can win."""
        return game.initial_state() if game.players == 2 else game.random_start(rng)


class _Wrapped(Agent):
    """An object of a user's that can `choose`; what else it has is used, the rest is the default."""

    def __init__(self, player: Any) -> None:
        self.player = player
        self._takes_rng = len(inspect.signature(player.choose).parameters) > 1

    def choose(self, state: State, rng: random.Random | None = None) -> int:
        return int(self.player.choose(state, rng or random.Random()) if self._takes_rng else self.player.choose(state))

    def values(self, state: State) -> dict[int, float]:
        return dict(self.player.values(state)) if hasattr(self.player, "values") else super().values(state)

    def explain(self, state: State) -> Explanation:
        return self.player.explain(state) if hasattr(self.player, "explain") else super().explain(state)


def as_agent(player: Any) -> Agent:
    """An agent from any object with a method `choose(state)` or `choose(state, rng)`."""
    if isinstance(player, Agent):
        return player
    if not callable(getattr(player, "choose", None)):
        raise ValueError(f"an agent has a method choose(state), and {type(player).__name__} has none")
    return _Wrapped(player)
