"""Commands for Morpion Solitaire."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text
from tyro.conf import Positional

from rookery.cli.base import DEFAULTS, HERE, Answer, Commands, Options, Place, Where, progress, shard_answer
from rookery.files import write_text
from rookery.game import Overlay
from rookery.games.morpion import replicas
from rookery.games.morpion import rules as morpion
from rookery.games.morpion.picture import picture
from rookery.games.morpion.rules import RECORDS, UPPER_BOUNDS, Morpion, MorpionState
from rookery.games.morpion.search import Campaign, CampaignSettings, Method, SavedSearch, longest_from
from rookery.method import filled
from rookery.registry import method as find_method
from rookery.scale import parse_shard
from rookery.search import ALPHA

Variant = Literal["5D", "5T", "4D", "4T"]
File = Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")]

_MAX_BYTES = 10_000_000


def _text(file: Path) -> str:
    if file.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{file} is larger than {_MAX_BYTES:,} bytes, which no record or drawing is")
    return file.read_text(encoding="utf-8", errors="replace")


def verify(file: File, *, variant: Variant | None = None, common: Options = DEFAULTS) -> Answer:
    """Check a record move by move: a Pentasol file, or a drawing of ours that carries one.

    The referee's rules are written apart from those that searches use. The exit code is 0 if every move is legal, 1 if
    one is not (the answer names the first), 2 if the file is no record.

    Args:
        file: A `.psol` or `.svg` file.
        variant: Rules to check by; files of ours say their own, another one is 5D if not told otherwise.
    """
    result = morpion.verify(_text(file), variant)

    def show(console: Console) -> None:
        if result.legal:
            end = "no move is left" if result.terminal else "moves are left"
            console.print(f"legal: {result.score} moves, {end}")
        else:
            console.print(f"not legal after {result.score} moves: {result.first_illegal}")

    return Answer(asdict(result), show, exit_code=0 if result.legal else 1)


def search(
    *,
    variant: Variant = "5D",
    method: Method = "repair",
    level: int = 3,
    alpha: float = ALPHA,
    runs: int | None = None,
    time: float | None = None,
    threads: int = 0,
    device: Literal["cpu", "gpu"] = "cpu",
    ladders: int = 0,
    start: tuple[Path, ...] = (),
    settings: tuple[str, ...] = (),
    out: Path | None = None,
    resume: bool = False,
    where: Where = HERE,
    common: Options = DEFAULTS,
) -> Answer:
    """Search for a long game, run after run; shows the best grid while it grows.

    Run i has the seed of the command plus i. With `--out` everything is saved after every run and at every better
    grid: nothing that was found is lost by Ctrl-C or a kill, and `--resume` continues with the next seed. So a
    search can last for days: `rookery search morpion --time 1000000 --out days/5D.json --resume`.

    With `--device gpu`, thousands of grids of 5T or 5D are destroyed and repaired at different temperatures on an
    NVIDIA GPU; the program for it is compiled with nvcc when it is first needed. There are no runs then: the search
    lasts `--time` seconds, is saved every 20, and `--resume` continues it exactly.

    Example: rookery search morpion --variant 5T --time 600 --out 5T.json

    Args:
        variant: Rules to play by.
        method: `repair` destroys and repairs parts of many grids that compete, `exchange` of a few at different
            temperatures, best in long runs (level 4); `nrpa`, `beam-nrpa` and `nmcs` are nested searches.
        level: A run makes 100 to the power of this many playouts; NMCS nests this deep.
        alpha: How far one adaptation of NRPA goes.
        runs: Number of runs; one if there is no `--time` either.
        time: Seconds after which to stop.
        threads: Runs at a time in this process; 0 means one for every core.
        device: Where to search: cpu or gpu.
        ladders: GPU: groups of grids at different temperatures; 0 means as many as fit.
        start: GPU: `.psol` or `.svg` files with grids to begin with, or the `.npz` file of another search.
        settings: GPU: settings to change, such as radius=3 mating=0.
        out: JSON file for what was done; the best grid is written beside it as `.psol` and `.svg`.
        resume: Go on with the search that `--out` holds, if it is there.
    """
    for name, value in (("runs", runs), ("time", time), ("threads", threads), ("ladders", ladders)):
        if value is not None and value < 0:
            raise ValueError(f"the option --{name} must not be negative, and is {value:g}")
    if device == "gpu":
        return _search_on_gpu(variant, runs, time, ladders, start, settings, out, resume, where, common.seed)
    if ladders or start or settings:
        raise ValueError("the options --ladders, --start and --settings are for --device gpu")
    if runs is None and time is None:
        runs = 1
    campaign = Campaign(CampaignSettings(variant, method, level, common.seed, alpha), out, resume)
    if where.shard:
        if runs is None or time is not None:
            raise ValueError("a shard is a part of a number of runs: name --runs, and no --time")
        job = campaign.job(runs, parse_shard(where.shard))
        if resume:
            job.resume()
        deque(job.run(where.on, timeout=where.timeout, label=f"{variant} {method}", shown=True), maxlen=0)
        return shard_answer(job)
    return _searched(campaign, lambda tick: campaign.go(runs, time, threads, tick, where.on))


def _search_on_gpu(
    variant: str,
    runs: int | None,
    time: float | None,
    ladders: int,
    start: tuple[Path, ...],
    settings: tuple[str, ...],
    out: Path | None,
    resume: bool,
    where: Place,
    seed: int,
) -> Answer:
    if runs is not None or where != HERE:
        raise ValueError("a search on a GPU is one run on this machine: name --time, and none of --runs, --on, --shard")
    if time is None:
        raise ValueError("a search on a GPU has no end of its own: name --time")
    changes = dict(change.partition("=")[::2] for change in settings)
    if fixed := {"variant", "seed", "ladders"} & set(changes):
        raise ValueError(f"{min(fixed)} is an option of its own: --{min(fixed)}")
    chosen = filled(replicas.Settings, {"variant": variant, "seed": seed, "ladders": ladders} | changes)
    campaign = replicas.ReplicaSearch(chosen, out, resume, start)
    return _searched(campaign, lambda tick: campaign.go(time, tick))


def _searched(campaign: SavedSearch, go: Callable[[Callable[[], None]], None]) -> Answer:
    """Search, and show the best grid while it grows."""
    console = progress()
    interrupted = False
    with Live(console=console, refresh_per_second=4, transient=True, vertical_overflow="crop") as live:
        shown = _Shown(campaign)
        try:
            go(lambda: live.update(shown.now()))
        except KeyboardInterrupt:
            interrupted = True
    if campaign.found is None:
        failed = next(iter(campaign.failures.values()), "the time was too short for a single game")
        raise ValueError(failed)
    if campaign.verdict:
        console.print(Text(campaign.verdict, "bold"))
    state = campaign.state
    data = {
        "score": campaign.best.score,
        "moves": [state.action_name(action) for action in state.moves],
        "playouts": campaign.playouts,
        "seconds": round(campaign.seconds, 3),
        "best": asdict(campaign.best),
        "runs": [asdict(run) for run in campaign.runs],
        "record": RECORDS[campaign.settings.variant],
        "upper_bound": UPPER_BOUNDS[campaign.settings.variant],
        "interrupted": interrupted,
    }
    if campaign.failures:
        data["failed"] = campaign.failures

    def show(console: Console) -> None:
        console.print(picture(state))
        console.print(shown.line())
        if out := campaign.path:
            console.print(f"the grid: {out.with_suffix('.psol')} and {out.with_suffix('.svg')}")

    return Answer(data, show, exit_code=130 if interrupted else 0)


class _Shown:
    """What a person sees while a search runs."""

    def __init__(self, campaign: SavedSearch) -> None:
        self.campaign, self.begin, self.before = campaign, monotonic(), campaign.playouts
        self.drawn: tuple[int, Text] = 0, Text()

    def now(self) -> Group:
        if self.campaign.found and self.drawn[0] != self.campaign.found.score:
            self.drawn = self.campaign.found.score, picture(self.campaign.state)
        rate = (self.campaign.playouts - self.before) / max(monotonic() - self.begin, 1e-9)
        # The line comes first: where the terminal is too low, the picture is cut.
        line = Text(f"{self.line()}, {rate:,.0f} playouts/s\n")
        if self.campaign.verdict:
            line.append(self.campaign.verdict, "bold")
        return Group(line, self.drawn[1])

    def line(self) -> str:
        campaign, settings = self.campaign, self.campaign.settings
        best = f"best {campaign.found.score} (seed {campaign.found.seed})" if campaign.found else "no game yet"
        scores = [run.score for run in campaign.runs]
        mean = f", mean {sum(scores) / len(scores):.2f}" if scores else ""
        return (
            f"{settings.variant} {settings.method}: {best}, record {RECORDS[settings.variant]}; "
            f"{len(scores)} runs done{mean}, {campaign.seconds:.0f} s, {campaign.playouts:,} playouts"
        )


def replay(
    file: File,
    *,
    variant: Variant | None = None,
    pause: float | None = None,
    svg: Path | None = None,
    psol: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Step through a game in the terminal, or write it as an animated drawing or a plain Pentasol file.

    In the terminal: Enter for the next move, b for the one before, a number to go there, q to stop.
    Example: rookery replay morpion 5T.psol --svg 5T-animated.svg

    Args:
        file: A `.psol` or `.svg` file.
        variant: Rules to play by, if the file does not say.
        pause: Seconds between moves; the game then plays by itself.
        svg: File for the drawing; its moves appear one by one, without any script.
        psol: File for the record as other programs read it, without our heading and remarks.
    """
    if pause is not None and not 0 <= pause <= 60:
        raise ValueError(f"the pause must be 0 to 60 seconds, and is {pause:g}")
    state = morpion.read(_text(file), variant)
    moves = state.moves
    names = [state.action_name(action) for action in moves]
    data: dict[str, Any] = {"variant": state.game.lines, "score": len(moves), "moves": names}
    if svg:
        write_text(svg, state.animation(0.6 if pause is None else pause))
    if psol:
        write_text(psol, state.psol())

    def show(console: Console) -> None:
        if svg or psol:
            console.print(f"written: {', '.join(str(path) for path in (svg, psol) if path)}")
            return
        if pause is not None:
            with Live(console=console, auto_refresh=False) as live:
                for number in range(len(moves) + 1):
                    live.update(_at(state, number, names), refresh=True)
                    sleep(pause)
            return
        number = 0 if sys.stdin.isatty() else len(moves)
        while True:
            console.print(_at(state, number, names))
            if not sys.stdin.isatty():
                return
            word = console.input("Enter, b, a number or q: ").strip().lower()
            if word.startswith("q") or (not word and number == len(moves)):
                return
            wanted = int(word) if word.isdecimal() else number + (-1 if word.startswith("b") else 1)
            number = min(max(wanted, 0), len(moves))

    return Answer(data, show)


def _at(state: MorpionState, number: int, names: list[str]) -> Group:
    """The game after its first moves."""
    text = f"move {number} of {len(names)}: {names[number - 1]}" if number else f"the cross; {len(names)} moves follow"
    return Group(picture(MorpionState(state.game, state.moves[:number])), Text(text))


def compare(
    first: Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")],
    second: Annotated[Path, Positional, tyro.conf.arg(metavar="FILE")],
    *,
    variant: Variant | None = None,
    svg: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Compare two grids up to the eight symmetries of the cross and the order of the moves.

    The exit code is 0 if they are the same grid and 1 if not.
    Example: rookery compare morpion mine.psol yours.svg --svg difference.svg

    Args:
        first: A `.psol` or `.svg` file.
        second: Another one.
        variant: Rules of both, if the files do not say.
        svg: File for a drawing of the first grid, with the dots of moves that the second has not marked.
    """
    one, two = morpion.read(_text(first), variant), morpion.read(_text(second), variant)
    result = morpion.compare(one, two)
    data = {"scores": [len(one.moves), len(two.moves)], **asdict(result)}
    if svg:
        only = set(result.only_first)
        dots = [one.action_cells(action)[0] for action in one.moves if one.action_name(action) in only]
        write_text(svg, one.svg(Overlay(highlights=dict.fromkeys(dots, "focus"))))

    def show(console: Console) -> None:
        if result.same:
            order = "" if names_of(one) == names_of(two) else ", perhaps in another order"
            console.print(f"the same grid of {len(one.moves)} moves, {result.symmetry}{order}")
        else:
            console.print(
                f"{len(one.moves)} and {len(two.moves)} moves; {result.shared} lines shared "
                f"with the second one {result.symmetry}"
            )
        if svg:
            console.print(f"drawn in {svg}")

    def names_of(state: MorpionState) -> list[str]:
        return [state.action_name(action) for action in state.moves]

    return Answer(data, show, exit_code=0 if result.same else 1)


def hint(
    position: Annotated[str, Positional, tyro.conf.arg(metavar="FILE|POSITION")] = "(28,28)",
    *,
    variant: Variant | None = None,
    time: float = 5.0,
    svg: Path | None = None,
    common: Options = DEFAULTS,
) -> Answer:
    """Say how far a position can still be played, as far as a short search finds out, and with which moves.

    Example: rookery hint morpion mine.psol --time 10

    Args:
        position: A `.psol` or `.svg` file, or a record on one line such as "(28,28);(27,27) / 0".
        variant: Rules to play by, if the file does not say.
        time: Seconds to search for.
        svg: File for a drawing of the longest game found.
    """
    if not 0 < time <= 86_400:
        raise ValueError(f"the time must be above 0 and at most a day, and is {time:g} seconds")
    is_record = position.lstrip().startswith("(")
    state = morpion.read(position if is_record else _text(Path(position)), variant)
    found = longest_from(state, time, common.seed)
    end = state.clone()
    names = []
    for action in found:
        names.append(end.action_name(action))
        end.apply(action)
    if svg:
        write_text(svg, end.svg())
    data = {
        "score": len(state.moves), "reachable": len(end.moves), "legal": len(state.legal_actions()),
        "best_move": names[0] if names else None, "moves": names,
    }  # fmt: skip

    def show(console: Console) -> None:
        if not names:
            console.print(f"no move is left after {len(state.moves)}")
            return
        console.print(picture(end))
        console.print(f"after {len(state.moves)} moves, {len(end.moves)} can be reached: {', '.join(names)}")

    return Answer(data, show)


def evaluate(
    model: Annotated[Path, Positional, tyro.conf.arg(metavar="MODEL")],
    *,
    seconds: float = 60.0,
    threads: int = 0,
    games: int = 1024,
    level: int = 3,
    search_iterations: int = 100,
    simulations: int = 0,
    settings: tuple[str, ...] = (),
    common: Options = DEFAULTS,
) -> Answer:
    """What a trained net plays alone, and what NRPA finds from it, beside plain NRPA in the same time.

    Example: rookery evaluate morpion runs/morpion --seconds 60

    A net of `r2`, the paper's system, only plays: games with moves drawn as in its training, one of most probable
    moves, and with `simulations` one with tree search.

    Args:
        model: The folder of a run of `zero` or `r2`, or its model.safetensors.
        seconds: Time for each of the two searches.
        threads: Cores for the searches; 0 means all.
        games: Games the net plays alone.
        level: Level of NRPA.
        search_iterations: Calls each level of NRPA makes.
        simulations: Simulations per move of 64 further games with tree search; 0 for none.
        settings: Settings of the search to change, such as prior=0.5 coldest=0.2.
    """
    learn = find_method("zero", Morpion()).imported()
    if not seconds > 0:
        raise ValueError(f"the seconds must be more than 0, not {seconds}")
    if games < 1:
        raise ValueError(f"the number of games must be at least 1, not {games}")
    model = model / "model.safetensors" if model.is_dir() else model
    if learn.nets.kind_of(model) == "morpion r2":
        return _evaluate_r2(model, games, simulations, common.seed)
    net, trained, metrics = learn.load_model(model)
    chosen = replace(
        trained, games=games, searches=games, level=level, threads=threads, search_iterations=search_iterations
    )
    chosen = filled(learn.Settings, dict(change.partition("=")[::2] for change in settings), chosen, "zero")
    played, found = learn.search_with_net(net, chosen, seconds, common.seed)
    plain = learn.search_without_net(net.game, chosen, seconds, common.seed)

    data: dict[str, Any] = {
        "net_alone": _summary(played.scores),
        "net_and_search": _summary(found.scores, cpu_seconds=round(found.cpu_seconds, 1)),
        "search_alone": _summary(plain.scores, cpu_seconds=round(plain.cpu_seconds, 1)),
        "seconds": seconds,
        "record": learn.record(net.game, max([*played.games, *found.games], key=len)),
        "trained": metrics,
    }

    if simulations:
        threshold = float(np.quantile(played.scores, trained.ratio))
        trees = learn.Trees(net, net.game.initial_state(), 64, threshold)
        data["net_and_tree"] = _summary(np.array([len(game) for game in trees.play(simulations, threads)]))
    return _evaluation(data)


def _evaluate_r2(model: Path, games: int, simulations: int, seed: int) -> Answer:
    learn = find_method("r2", Morpion()).imported()
    player, settings = learn.load_model(model)

    def lengths(count: int, step_threshold: int) -> Any:
        chosen = replace(settings, episodes=count, step_threshold=step_threshold, self_play_simulations=0)
        return np.array(
            [len(episode.actions) for episode in learn.self_play(player, chosen, np.random.default_rng(seed))]
        )

    played = lengths(games, settings.step_threshold)
    data = {"net_alone": _summary(played), "most_probable_moves": _summary(lengths(1, 1))}
    if simulations:
        threshold = int(np.quantile(played, settings.ratio))
        game = learn.enhanced_game(player, replace(settings, simulations=simulations), threshold)
        data["net_and_tree"] = _summary(np.array([len(game)]))
    return _evaluation(data)


def _summary(scores: Any, **more: Any) -> dict[str, Any]:
    scores = scores[np.isfinite(scores)]  # the time may be up before a search has played a game
    if len(scores) == 0:
        return {"best": None, "count": 0, **more}
    middle = {"mean": round(float(scores.mean()), 2), "median": float(np.median(scores))}
    return {"best": int(scores.max()), **middle, "count": len(scores), **more}


def _evaluation(data: dict[str, Any]) -> Answer:
    def show(console: Console) -> None:
        for name in ("net_alone", "most_probable_moves", "net_and_search", "net_and_tree", "search_alone"):
            if name in data:
                console.print(f"{name.replace('_', ' ')}: {data[name]}")

    return Answer(data, show)


COMMANDS: Commands = {
    "verify": verify,
    "search": search,
    "replay": replay,
    "compare": compare,
    "hint": hint,
    "evaluate": evaluate,
}
