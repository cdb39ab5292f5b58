"""The requests and answers of the web API as types: what is checked, and what the OpenAPI document describes.

Requests are strict: a number is not text, and a field that is not known is refused. Answers are checked as well, so
that the document cannot differ from what is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.json_schema import models_json_schema

Line = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
"""A line of text."""
Number = int | float
Seed = Annotated[int, Field(ge=0, le=2**53)]
Ply = Annotated[int, Field(ge=0, le=10**6)]
Players = Annotated[list[Line], Field(max_length=2, description='One per side: "person" or the name of an agent.')]


class Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


# Requests


class Start(Model):
    """Where a game begins: at its usual start, from a position, or from a puzzle."""

    game: Line
    variant: Line | None = None
    position: Annotated[str, StringConstraints(max_length=200_000)] | None = Field(
        None, description="A position, or a whole game, in the notation of the field."
    )
    puzzle: Line | None = Field(None, description='The level of a puzzle, or "daily".')
    day: Line | None = Field(None, description="The day of a daily puzzle, such as 2026-01-31; today without one.")
    seed: Seed | None = Field(None, description="The seed of chance and of the agents; random without one.")


class NewPlay(Start):
    """A game to begin."""

    players: Players


class Edit(Start):
    """A game as it would begin, after a change by hand if one is given."""

    piece: Line | None = Field(
        None, description='A piece to put on the cell, "turn" to change sides, or "clear" for an empty board.'
    )
    cell: Annotated[int, Field(ge=0, le=10_000)] = 0


class Move(Model):
    """A move of a person."""

    action: Annotated[int, Field(ge=0, le=2**31 - 1)]
    ply: Ply | None = Field(None, description="The ply it is meant for; 409 if the game has moved on.")


class Goto(Model):
    """The ply to show."""

    ply: Ply


class Seats(Model):
    """Who plays from now on."""

    players: Players


class Think(Model):
    """The agent to ask."""

    agent: Line


class AskHint(Model):
    """How much to tell, from 1 to 3."""

    stage: Annotated[int, Field(ge=1, le=3)]


class AskVerdict(Model):
    """The ply that the move in question led to."""

    ply: Annotated[int, Field(ge=1, le=10**6)]


class NewRun(Model):
    """A run to start."""

    game: Line
    variant: Line | None = None
    method: Line
    preset: Line | None = None
    settings: dict[str, bool | int | float | str | None] = Field(
        {}, description="Values by the name of the setting; null is the default."
    )
    seed: Seed = 0


class Trial(Model):
    """The settings of an experiment by name; those left out have their defaults."""

    settings: dict[Line, bool | int | float | Line] = {}


# Answers


class Error(Model):
    """Why a request was refused, in one sentence."""

    error: str


class Opponent(Model):
    """An agent of a stated strength."""

    name: str
    agent: str
    elo: int | None
    about: str = ""


class Game(Model):
    """A game to play."""

    name: str
    title: str
    blurb: str
    start: str
    levels: list[str]
    """The levels of its puzzles."""
    variants: list[str]
    variant: str | None
    """The variant to play if nothing is chosen; null for the first one."""
    players: int
    sides: list[str]
    opponent: str
    meets: str
    opponents: list[Opponent]
    agents: list[str]
    agents_of: dict[str, list[str]]
    svg: str


class Games(Model):
    """Every game, and that of the puzzle of the day."""

    games: list[Game]
    today: str
    daily: str | None


class Card(Model):
    """A game in progress, for a list."""

    id: str
    variant: str | None
    title: str
    players: list[str]
    opponents: list[Opponent]
    about: dict[str, Any]
    over: bool
    status: str
    svg: str


class Cards(Model):
    """The games of a visitor, the one touched last first."""

    plays: list[Card]


class Legal(Model):
    """A legal action, with the cells to touch and to light up."""

    action: int
    name: str
    label: str | None = None
    cells: list[int]
    preview: list[int] | None = None
    line: Sequence[int] | None = None
    dot: int | None = None
    icon: str | None = None
    key: str | None = None


class Ancestor(Model):
    """A move that was played, with the ply it led to and the number of its turn."""

    ply: int
    player: int
    turn: int
    name: str
    label: str | None = None
    preview: list[int] | None = None
    line: Sequence[int] | None = None
    dot: int | None = None


class Ending(Model):
    """How a game ended: the winner, null in a draw, or for one player what was achieved."""

    text: str
    winner: int | None = None
    solved: bool | None = None
    score: float | None = None
    unit: str | None = None


class View(Model):
    """A game in progress, at one ply of it."""

    id: str
    game: str
    variant: str | None
    title: str
    sides: list[str]
    players: list[str]
    about: dict[str, Any]
    created: float
    start: str
    usual: bool
    position: str
    ply: int
    length: int
    undo: int | None
    redo: int | None
    player: int = Field(description="Who is to move; -2 when the game is over.")
    turn: Literal["person", "agent", "over"]
    status: str
    result: Ending | None
    feats: list[str]
    bottom: int
    unit: str
    path: list[int]
    legal: list[Legal]
    history: list[Ancestor]
    svg: str
    agents: list[str]
    opponents: list[Opponent]
    exact: str | None = Field(description="The agent that knows the exact values here.")
    puzzles: list[str]


class Preview(Model):
    """A game as it would begin; `problem` says why it cannot."""

    pieces: dict[str, str]
    problem: str | None = None
    position: str | None = None
    svg: str | None = None
    moves: int | None = None
    agents: list[str] | None = None
    opponents: list[Opponent] | None = None


class Waiting(Model):
    """An event while an agent thinks, with the seconds so far."""

    event: Literal["waiting"]
    seconds: float


class Failed(Model):
    """The last event of an agent that has no answer."""

    event: Literal["failed"]
    error: str


class Played(Model):
    """The event after an agent has moved."""

    event: Literal["view"]
    view: View


class MoveValue(Model):
    """A legal action and what the agent thinks it is worth."""

    action: int
    name: str
    value: float
    words: str


class Drawing(Model):
    """A further drawing of an agent."""

    title: str
    svg: str


class Thought(Model):
    """An event with what an agent thinks of every move, and why; the last one is final."""

    event: Literal["thought"]
    ply: int
    agent: str
    final: bool
    action: int
    name: str
    values: list[MoveValue]
    reasons: list[str]
    values_svg: str
    why_svg: str | None
    drawings: list[Drawing]


class WorstMove(Model):
    """One of the worst moves of a game, in words."""

    ply: int
    text: str
    kind: Literal["good", "slower", "bad"]


class Reviewed(Model):
    """An event of a review: what a move was worth beside the best one, or at the end the worst moves. Values are those
    of player 0."""

    event: Literal["review"]
    ply: int | None = None
    player: int | None = None
    name: str | None = None
    exact: bool | None = None
    value: float | None = None
    words: str | None = None
    best: str | None = None
    best_words: str | None = None
    loss: float | None = None
    done_share: float | None = None
    step: int | None = None
    worst: list[WorstMove] | None = None


def stream(event: type[Model]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The description of a stream of server-sent events in an OpenAPI document, and the schemas that it refers to.
    Every stream has the events `waiting` and `failed` as well."""
    names, found = models_json_schema(
        [(event, "serialization"), (Waiting, "serialization"), (Failed, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": {"anyOf": list(names.values())}}
    item = {"type": "object", "required": ["data"], "properties": {"data": data}}
    return {"text/event-stream": {"itemSchema": item}}, found["$defs"]


class Record(Model):
    """A game in the notation of the field, and the name of a file for it."""

    text: str
    file: str


class Hint(Model):
    """Sentences, each telling more, and the cells to light up with the last."""

    stuck: bool
    hints: list[str]
    cells: list[int]


class Verdict(Model):
    """What a move was worth by the exact answer; null if nobody knows."""

    verdict: Literal["good", "slower", "bad"] | None
    text: str


class Film(Model):
    """Pictures of a game that is being played."""

    frames: list[str]


class Day(Model):
    """A daily puzzle, with the visitor's game and the seconds in which it was solved."""

    day: str
    level: str
    id: str | None = None
    seconds: float | None = None


class Archive(Model):
    """The daily puzzles of the last weeks, the latest first."""

    days: list[Day]
    streak: int
    game: str | None
    title: str | None = None
    today: str


class Deleted(Model):
    deleted: bool


class Setting(Model):
    """A setting of a method."""

    name: str
    kind: Literal["choice", "whole", "number", "switch"]
    about: str
    choices: list[str]


class Form(Model):
    """A method that can be trained on a game, with its settings by preset and by variant."""

    game: str
    title: str
    method: str
    about: str
    settings: list[Setting]
    presets: dict[str, dict[str, Any]]
    defaults: dict[str, dict[str, Any]]


class Run(Model):
    """A training run."""

    id: str
    title: str
    folder: str
    state: Literal["running", "done", "stopped", "failed"]
    stoppable: bool
    resumable: bool
    started: float
    seconds: float | None
    error: str
    command: str
    game: str
    variant: str | None
    agent: str | None = Field(description="The name of the agent that it trained.")


class Runs(Model):
    """All runs, the newest first, and what can be trained."""

    runs: list[Run]
    forms: list[Form]


class Curve(Model):
    """Rows of metrics; the first column only grows."""

    columns: list[str]
    rows: list[list[Number]]


class BestGame(Model):
    svg: str
    status: str


class RunDetails(Run):
    """A training run with its metrics so far."""

    progress: float
    curve: Curve | None
    figures: dict[str, Number]
    best: BestGame | None


class Started(Model):
    id: str


class Stopping(Model):
    stopping: bool


class Resumed(Model):
    resumed: bool


class LessonCard(Model):
    """A page about a paper, for a list."""

    name: str
    title: str
    paper: str
    summary: str
    svg: str


class Lessons(Model):
    """The pages about papers."""

    lessons: list[LessonCard]


class ExperimentSetting(Model):
    """A setting of an experiment: a bounded number, a choice, a switch, a position to set up, or a cell to pick."""

    name: str
    about: str
    choices: list[str]
    kind: Literal["choice", "whole", "number", "switch", "text"]
    default: bool | int | float | str
    low: Number | None = None
    high: Number | None = None
    step: Number | None = None
    log: bool = False
    board: str | None = Field(None, description="The variant of the position, or nothing.")
    picked: bool = False


class Experiment(Model):
    """An experiment of a page."""

    name: str
    title: str
    about: str
    settings: list[ExperimentSetting]


class Finding(Model):
    """What the paper claimed, what was found, and the verdict."""

    claimed: str
    found: str
    verdict: str


class Lesson(LessonCard):
    """A page about a paper; the first experiment remakes its key figure."""

    paper_title: str
    story: list[str]
    experiments: list[Experiment]
    findings: list[Finding]
    command: str


class Chart(Model):
    """Lines and points by name."""

    x: str
    y: str
    lines: dict[str, list[list[Number]]]
    points: dict[str, list[list[Number]]]
    log_x: bool
    log_y: bool


class Panel(Model):
    """A part of an outcome: a drawing, or one per step, or a chart."""

    title: str
    svgs: list[str]
    notes: list[str]
    chart: Chart | None
    wide: bool


class Outcome(Model):
    """What an experiment found."""

    text: str
    panels: list[Panel]
    steps: int
    step_name: str
    columns: list[str]
    rows: list[list[str]]


class Report(Model):
    id: str
    name: str
    updated: float


class Reports(Model):
    """The reports that were written, the newest first."""

    reports: list[Report]


class Address(Model):
    """What a link needs so that others can open it."""

    query: str
