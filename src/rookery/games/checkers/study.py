"""Prior State Voting (Benning, 2021): its experiment with confidence intervals, and what it leaves open.

The paper's rules have draws (the third repetition, 100 turns without a capture), but its Algorithm 1 plays on until one
colour wins. So the grid is run both ways. The program that the author published is not what the text says; it is run
beside the text's algorithms.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from rookery import arena
from rookery.agents import Agent
from rookery.files import write_text
from rookery.games.checkers.agents import DqnAgent, QTableAgent
from rookery.games.checkers.ladder import ladder
from rookery.games.checkers.q_learning import Fallback, QTable, RandomMatch, Settings, play_against_random
from rookery.games.checkers.rules import Checkers
from rookery.registry import agent as load_agent
from rookery.report import plots
from rookery.report.study import Claim, Figure, Result, Table
from rookery.report.text import counted, with_range
from rookery.statistics import wilson_interval
from rookery.studies.sizes import Size

LEVELS = (10, 100, 1000, 5000, 10_000, 20_000, 30_000, 40_000)
"""Games of training."""

PAPER_WINS: dict[Fallback, tuple[int | None, ...]] = {
    "voting": (45, 86, 85, 83, 91, 94, 91, 90),
    "random": (50, 53, 61, 48, 58, 57, 61, 50),
    "keep-training": (None, None, 55, 48, 54, 55, 56, 56),
}
"""Figure 4: wins in 100 games against random."""

PAPER_SECONDS: dict[Fallback, tuple[float, ...]] = {
    "voting": (0.68, 4.7, 39.0, 148.0, 318.0, 586.0, 799.0, 1018.0),
    "random": (0.002,) * 8,
    "keep-training": (1.5,) * 6,
}
"""Figure 5: seconds per game, for the last two as the text has them."""

PAPER_DEVIATION = (0.42, 4.6, 24.9, 74.0, 194.6, 383.8, 364.7, 535.1)
"""Standard deviation of PSV's seconds per game, as the author published it with his program."""

REWARDS = {
    "+1, -1; 0 for a draw": Settings(),
    "-1 for a draw": Settings(draw_reward=-1.0),
    "+0.1 per piece captured": Settings(capture_reward=0.1),
    "+0.5 per piece captured": Settings(capture_reward=0.5),
    "decayed by 0.98 per move": Settings(reward_decay=0.98),
    "decayed by 0.9 per move": Settings(reward_decay=0.9),
}
"""What Algorithm 1 leaves open about draws, and the rewards of the paper's further work."""
REWARD_LEVELS = (1000, 10_000)

RULES = {"with draws": Checkers(), "until one wins": Checkers(**Checkers.variants["no-draws"])}


@dataclass(frozen=True)
class Plan:
    """How much of it is run. The paper played 100 games per cell."""

    games: int = 1000
    """A cell of the grid."""
    keep_training_games: int = 1000
    trainings: int = 9
    """Further trainings, with other seeds."""
    dqn_seconds: tuple[float, ...] = ()
    """Training times at which PSV and deep Q-learning are compared."""
    strength_games: int = 200
    """A pair of agents."""


PLANS = {
    "quick": Plan(keep_training_games=20, trainings=1, dqn_seconds=(3.0,), strength_games=20),
    "default": Plan(dqn_seconds=(3.0, 30.0, 120.0)),
    "full": Plan(trainings=29, dqn_seconds=(3.0, 30.0, 120.0, 600.0), strength_games=1000),
}

MOST_TABLE_GAMES = 100_000
"""Where a Q-table stops in the comparison of training times: some 5 million positions, 250 MB."""


@dataclass(frozen=True)
class Cell:
    """One training, and its table against random with every fallback."""

    positions: int
    memory: int
    seconds: float
    """CPU time of training."""
    matches: dict[Fallback, RandomMatch]


@dataclass
class Study:
    plan: Plan
    seed: int
    command: str
    progress: Progress
    grid: dict[tuple[str, int], Cell] = field(default_factory=dict)
    """Cells by rules and level."""

    def run_grid(self) -> None:
        task = self.progress.add_task("training and playing random", total=len(RULES) * sum(LEVELS))
        for rules, game in RULES.items():
            for level in LEVELS:
                self.grid[rules, level] = self.cell(game, level)
                self.progress.advance(task, level)
        self.progress.remove_task(task)

    def cell(self, game: Checkers, level: int) -> Cell:
        table, seconds = train(game, level, self.seed)
        matches = {}
        for fallback, paper in PAPER_WINS.items():
            if paper[LEVELS.index(level)] is not None:
                games = self.plan.keep_training_games if fallback == "keep-training" else self.plan.games
                matches[fallback] = play_against_random(table, game, fallback, games, self.seed)
        return Cell(len(table), table.bytes, seconds, matches)

    def wins_table(self, rules: str) -> Table:
        """Figure 4 as a table."""
        rows = []
        for i, level in enumerate(LEVELS):
            cell = self.grid[rules, level]
            row = [f"{level:,}", f"{cell.positions:,}"]
            for fallback, paper in PAPER_WINS.items():
                match = cell.matches.get(fallback)
                row += ["-", "-"] if match is None else [f"{paper[i]}%", wins_and_draws(match)]
            rows.append(row)
        columns = ["games trained", "positions"]
        for name in ("PSV", "random", "keep-training"):
            columns += [f"{name} (paper)", f"{name} (ours)"]
        note = (
            f"Share of games won, the 95% interval, and the share drawn; {self.plan.games} games per cell, "
            f"keep-training {self.plan.keep_training_games}, half with each colour, one training per level. "
            "The paper: 100 games per cell. "
        )
        if rules == "with draws":
            note += (
                "Draws by the third repetition and by 100 plies without a capture, worth 0 in training. The paper's "
                "wins are those of its author's program, which differs from its text (see below). Its keep-training "
                "had the sign of its reward inverted when it played White, which explains how poor it is in the paper."
            )
        else:
            note += (
                "Games go on until one colour wins, in training and in play, as in Algorithm 1; only one that goes on "
                "for 100,000 plies without a capture is called drawn. The paper's wins are those of its author's "
                "program, which differs from its text (see below)."
            )
        return Table(f"Figure 4: wins against random, {rules}", columns, rows, self.command, note)

    def time_table(self) -> Table:
        """Figure 5, and the speed of training."""
        rows = []
        for i, level in enumerate(LEVELS):
            cell = self.grid["with draws", level]
            psv = cell.matches["voting"]
            unknown = psv.moves - psv.known
            times = {name: float(match.seconds.mean()) for name, match in cell.matches.items()}
            spread = {name: float(match.seconds.std(ddof=1)) for name, match in cell.matches.items()}
            rows.append([
                f"{level:,}",
                f"{PAPER_SECONDS['voting'][i]:g} ± {PAPER_DEVIATION[i]:g} s",
                f"{1e6 * times['voting']:.0f} ± {1e6 * spread['voting']:.0f} µs",
                f"{PAPER_SECONDS['voting'][i] / times['voting']:,.0f}",
                f"{1e6 * psv.seconds.sum() / max(unknown, 1):.2f} µs",
                f"{1e6 * times['random']:.0f} ± {1e6 * spread['random']:.0f} µs",
                f"{1e3 * times['keep-training']:.1f} ± {1e3 * spread['keep-training']:.1f} ms"
                if "keep-training" in times
                else "-",
                f"{level / cell.seconds:,.0f}",
                f"{cell.memory / max(cell.positions, 1):.0f}",
            ])  # fmt: skip
        columns = [
            "games trained", "PSV per game (paper)", "PSV per game (ours)", "times faster", "a PSV move, at most",
            "random per game", "keep-training per game", "training games/s", "bytes per position",
        ]  # fmt: skip
        note = (
            "Mean and standard deviation over the games, in CPU time of one core; the paper's are wall time. Its other "
            "two take 0.002 s and about 1.5 s per game; its program trained 204 games per second. Votes are "
            "summed up once, by pattern of action and by cell, so that a move costs the same whatever the size of the "
            "table. A PSV move is the time of whole games over the moves in unknown positions."
        )
        return Table("Figure 5: time per game", columns, rows, self.command, note)

    def spread_table(self) -> Table:
        """How much the chances of training matter, and what votes through symmetries bring."""
        columns = {
            "plain votes": ("with draws", 1),
            "and rotated": ("with draws", 2),
            "and mirrored": ("with draws", 4),
            "plain votes, until one wins": ("until one wins", 1),
        }
        task = self.progress.add_task("more trainings, votes through symmetries", total=sum(LEVELS))
        rows = []
        for level in LEVELS:
            wins: dict[str, list[RandomMatch]] = {name: [] for name in columns}
            for training in range(1, self.plan.trainings + 1):
                tables = {rules: train(game, level, self.seed + training)[0] for rules, game in RULES.items()}
                for name, (rules, symmetries) in columns.items():
                    games = self.plan.games
                    match = play_against_random(tables[rules], RULES[rules], "voting", games, self.seed, symmetries)
                    wins[name].append(match)
            rows.append([f"{level:,}", *(mean_and_range(matches) for matches in wins.values())])
            self.progress.advance(task, level)
        self.progress.remove_task(task)
        note = (
            f"PSV's wins against random, mean and range of {counted(self.plan.trainings, 'further training')} with "
            f"{self.plan.games} games each. Rotated: a learned position also votes turned by half a turn with colours "
            "exchanged; mirrored: with left and right exchanged as well, which the shift makes fit dark on dark."
        )
        title = "How much the training's chances matter, and votes through symmetries"
        return Table(title, ["games trained", *columns], rows, self.command, note)

    def program_table(self) -> Table:
        """The author's program beside the paper's text."""
        game = RULES["until one wins"]
        task = self.progress.add_task("the author's program", total=sum(LEVELS))
        rows = []
        for i, level in enumerate(LEVELS):
            trained = [
                train(game, level, self.seed + training, Settings(rule="program"))[0]
                for training in range(self.plan.trainings + 1)
            ]
            won = {
                fallback: [play_against_random(table, game, fallback, self.plan.games, self.seed) for table in trained]
                for fallback in ("voting", "random")
            }
            text = self.grid["until one wins", level].matches
            rows.append([
                f"{level:,}",
                f"{PAPER_WINS['voting'][i]}%",
                wins_and_draws(text["voting"]),
                wins_and_draws(won["voting"][0]),
                mean_and_range(won["voting"][1:]),
                f"{PAPER_WINS['random'][i]}%",
                wins_and_draws(text["random"]),
                mean_and_range(won["random"][1:]),
            ])  # fmt: skip
            self.progress.advance(task, level)
        self.progress.remove_task(task)
        columns = [
            "games trained", "PSV (paper)", "PSV, the paper's text", "PSV, the program", "PSV, the program again",
            "random (paper)", "random, the paper's text", "random, the program again",
        ]  # fmt: skip
        note = (
            "The paper's figures come from a program that differs from its Algorithms 1 and 2. It walks through a game "
            "forwards, takes the best value of the position before for that of the next one, never below 0, and "
            "carries it from Black's last move to White's first; it plays the first of equal moves; its discount in "
            "game i of n, counted from 0, is 0.1 + 0.9 (i + 1) / n, where ours is 0.1 + 0.9 i / (n - 1); and it shifts "
            "a board the wrong way when it counts matching cells. `--preset author` does all of this. Not remade: "
            "captures that it ends too early when a third jump does not branch, and the sign that keep-training gets "
            "wrong for White. Until one wins; "
            f'shares won of {self.plan.games} games with 95% intervals; "again" is the mean and range of '
            f"{counted(self.plan.trainings, 'further training')}."
        )
        return Table("The author's program", columns, rows, self.command, note)

    def rewards_table(self) -> Table:
        """What a draw earns, and the paper's ideas for further work."""
        game = RULES["with draws"]
        task = self.progress.add_task("other rewards", total=len(REWARDS) * sum(REWARD_LEVELS))
        rows = []
        for name, settings in REWARDS.items():
            row = [name]
            for level in REWARD_LEVELS:
                tables = [train(game, level, self.seed + i, settings)[0] for i in range(self.plan.trainings + 1)]
                for fallback in ("voting", "random"):
                    games = self.plan.games
                    row.append(
                        mean_and_range([play_against_random(t, game, fallback, games, self.seed) for t in tables])
                    )
                self.progress.advance(task, level)
            rows.append(row)
        self.progress.remove_task(task)
        columns = ["reward", *(f"{n}, {level:,} games" for level in REWARD_LEVELS for n in ("PSV", "random"))]
        note = (
            "Algorithm 1 gives -1 to whoever does not win, and plays until one wins; that a draw is worth 0 is our "
            f"choice. With draws; wins against random, mean and range of {self.plan.trainings + 1} trainings with "
            f"{self.plan.games} games each."
        )
        return Table("Other rewards", columns, rows, self.command, note)

    def claims(self) -> list[Claim]:
        """The paper's two findings, judged after the longest training."""
        drawn, won = (self.grid[rules, LEVELS[-1]].matches for rules in RULES)
        psv, chance, training = drawn["voting"], drawn["random"], drawn["keep-training"]
        return [
            Claim(
                f"Prior positions that vote win {PAPER_WINS['voting'][-1]}% against random, random moves instead "
                f"{PAPER_WINS['random'][-1]}%",
                f"{percent(psv)} and {percent(chance)}; {percent(won['voting'])} where no game is drawn",
                "unknown",
                "holds" if psv.interval[0] > chance.interval[1] else "fails",
                "But beating random is no evidence of strength: minimax of three plies beats both.",
            ),
            Claim(
                f"To keep training in unknown positions is regressive: {PAPER_WINS['keep-training'][-1]}%",
                percent(training),
                "unknown",
                "fails" if training.interval[0] > chance.interval[1] else "holds",
                "The author's program had the sign of White's reward inverted.",
            ),
        ]

    def conclusion(self) -> str:
        drawn, won = (self.grid[rules, LEVELS[-1]].matches for rules in RULES)
        return (
            f"After {LEVELS[-1]:,} games of self-play the table with votes wins {percent(drawn['voting'])} of its "
            f"games against random, {percent(won['voting'])} if they are played until one side wins; with random moves "
            f"in unknown positions it wins {percent(drawn['random'])}. So votes help, as the paper says. To train on "
            f"in unknown positions helps more, {percent(drawn['keep-training'])}, where the paper finds the contrary. "
            "Its times of minutes per game come from summing up the votes anew for every move; summed up once, a game "
            f"takes {1e6 * drawn['voting'].seconds.mean():.0f} µs."
        )

    def learners(self) -> dict[str, Agent]:
        """The paper's three players after the longest training."""
        table, _ = train(RULES["with draws"], LEVELS[-1], self.seed)
        return {
            "q-learning": QTableAgent(table),
            "voting": QTableAgent(table, "voting"),
            "keep-training": QTableAgent(table, "keep-training"),
        }

    def strength_table(self, learners: Mapping[str, Agent]) -> Table:
        """The same agents against players that look ahead."""
        game = RULES["with draws"]
        players: dict[str, Agent] = {
            "random": load_agent("random", game),
            **learners,
            "minimax, 1 ply": load_agent("minimax:depth=1", game),
        }
        opponents = {
            "random": load_agent("random", game),
            "minimax, 1 ply": load_agent("minimax:depth=1", game),
            "minimax, 3 plies": load_agent("minimax:depth=3", game),
        }
        task = self.progress.add_task("how strong is that really", total=len(players) * len(opponents))
        rows = []
        for name, player in players.items():
            row = [name]
            for opponent in opponents.values():
                match = arena.match(game, player, opponent, self.plan.strength_games, self.seed)
                row.append(points(match))
                self.progress.advance(task)
            rows.append(row)
        self.progress.remove_task(task)
        note = (
            f"Share of points, a draw counting half, with 95% intervals; {self.plan.strength_games} games from random "
            f"two-ply openings with colours exchanged; tables of {LEVELS[-1]:,} games. Minimax counts material and "
            "looks at no capture beyond its depth. Beating random is no evidence of strength: see what three plies of "
            "counting pieces do to random, and to the learners."
        )
        return Table("How strong is that really?", ["agent", *opponents], rows, self.command, note)

    def dqn_table(self) -> Table | None:
        """PSV and deep Q-learning with the same CPU time for training; None without PyTorch."""
        try:
            from rookery.games.checkers import dqn as checkers_dqn
        except ImportError:
            return None
        game = RULES["with draws"]
        task = self.progress.add_task("deep Q-learning", total=sum(self.plan.dqn_seconds))
        rows = []
        for seconds in self.plan.dqn_seconds:
            games = min(MOST_TABLE_GAMES, int(seconds / self.grid["with draws", LEVELS[-1]].seconds * LEVELS[-1]))
            table, spent = train(game, games, self.seed)
            psv = play_against_random(table, game, "voting", self.plan.games, self.seed)
            trainer = checkers_dqn.Trainer(game, checkers_dqn.Settings(), self.seed)
            *_, last = trainer.train(seconds=seconds)
            results = checkers_dqn.play_against_random(trainer.net, game, self.plan.games, self.seed)
            duel = arena.match(
                game, DqnAgent(trainer.net), QTableAgent(table, "voting"), self.plan.strength_games, self.seed
            )
            rows.append([
                f"{seconds:g} s",
                f"{games:,} ({spent:.1f} s)",
                wins_and_draws(psv),
                f"{last.games:,} ({last.seconds:.1f} s)",
                share(int((results > 0).sum()), len(results), int((results == 0).sum())),
                points(duel),
            ])  # fmt: skip
            self.progress.advance(task, seconds)
        self.progress.remove_task(task)
        columns = [
            "training time", "PSV: games trained", "PSV: wins against random", "DQN: games trained",
            "DQN: wins against random", "DQN's points against PSV",
        ]  # fmt: skip
        note = (
            f"CPU seconds of one core; {self.plan.games} games against random, {self.plan.strength_games} between the "
            "two. "
            f"A Q-table stops at {MOST_TABLE_GAMES:,} games, where it fills some 250 MB."
        )
        return Table("PSV and deep Q-learning on equal training time", columns, rows, self.command, note)

    def wins_figure(self) -> Figure:
        def paint(figure: Any) -> None:
            for axes, rules in zip(figure.subplots(1, 2, sharey=True), RULES, strict=True):
                for (fallback, paper), style in zip(PAPER_WINS.items(), plots.STYLES, strict=False):
                    colour, dashes, _ = style
                    levels = [level for level, wins in zip(LEVELS, paper, strict=True) if wins is not None]
                    found = [self.grid[rules, level].matches[fallback] for level in levels]
                    ours = np.array([100 * match.wins / match.games for match in found])
                    bounds = 100 * np.array([match.interval for match in found]).T
                    axes.errorbar(levels, ours, abs(bounds - ours), color=colour, linestyle=dashes, linewidth=1.4,
                                  capsize=2, label=f"{fallback}, ours")  # fmt: skip
                    published = [wins for wins in paper if wins is not None]
                    axes.plot(levels, published, "x", color=colour, label=f"{fallback}, paper")
                axes.set(xscale="log", xlabel="games trained", title=rules, ylim=(0, 102))
            figure.axes[0].set_ylabel("won against random, %")
            figure.axes[0].legend(fontsize=7, ncols=2, loc="lower right")

        caption = "Figure 4: wins against random by training. Lines are ours with 95% intervals, crosses the paper's."
        return Figure(plots.draw(paint, 9, 4), caption, wide=True)

    def time_figure(self) -> Figure:
        def paint(figure: Any) -> None:
            axes = figure.subplots()
            curves: dict[str, tuple[Sequence[float], Sequence[float]]] = {}
            for fallback, seconds in PAPER_SECONDS.items():
                curves[f"{fallback}, paper"] = (LEVELS[-len(seconds) :], seconds)
                levels = [level for level in LEVELS if fallback in self.grid["with draws", level].matches]
                times = [float(self.grid["with draws", level].matches[fallback].seconds.mean()) for level in levels]
                curves[f"{fallback}, ours"] = (levels, times)
            plots.lines(axes, curves, "games trained", "seconds per game", log_y=True)
            axes.set_xscale("log")

        caption = "Figure 5: time per game, on logarithmic scales. The paper's PSV grows with its table, ours does not."
        return Figure(plots.draw(paint, 7, 3.6), caption, wide=True)


def train(game: Checkers, games: int, seed: int, settings: Settings | None = None) -> tuple[QTable, float]:
    """A new table, and the CPU time it took."""
    settings = replace(settings or Settings(), games=games)
    table = QTable(rule=settings.rule)
    begin = time.process_time()
    table.train(game, settings, seed)
    return table, time.process_time() - begin


def share(wins: int, games: int, draws: int) -> str:
    """
    >>> share(820, 1000, 61)
    '82.0% (79.5-84.3), 6.1% drawn'
    """
    low, high = wilson_interval(wins, games)
    drawn = f", {100 * draws / games:.1f}% drawn" if draws else ""
    return f"{100 * wins / games:.1f}% ({100 * low:.1f}-{100 * high:.1f}){drawn}"


def wins_and_draws(match: RandomMatch) -> str:
    return share(match.wins, match.games, match.draws)


def percent(match: RandomMatch) -> str:
    return f"{100 * match.wins / match.games:.0f}%"


def mean_and_range(matches: Sequence[RandomMatch]) -> str:
    wins = [100 * match.wins / match.games for match in matches]
    return with_range(float(np.mean(wins)), min(wins), max(wins), unit="%")


def points(match: arena.Match) -> str:
    """Share of points, a draw counting half, with its interval."""
    low, high = match.interval
    return f"{50 + 50 * (match.wins - match.losses) / match.games:.1f}% ({100 * low:.1f}-{100 * high:.1f})"


def run(size: Size, seed: int, folder: Path, console: Console) -> Result:
    """All of it."""
    begin = time.perf_counter()
    plan = PLANS[size.name]
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        study = Study(plan, seed, f"rookery reproduce checkers{size.flag} --seed {seed}", progress)
        study.run_grid()
        tables = [*(study.wins_table(rules) for rules in RULES), study.time_table(), study.spread_table()]
        tables += [study.program_table(), study.rewards_table()]
        learners = study.learners()
        tables.append(study.strength_table(learners))
        if (compared := study.dqn_table()) is not None:
            tables.append(compared)
        else:
            console.print("no comparison with deep Q-learning: it needs PyTorch, pip install 'rookery[deep]'")
        figures = [study.wins_figure(), study.time_figure()]
    tables += ladder(size, seed, console, learners)
    for number, figure in zip((4, 5), figures, strict=True):
        write_text(folder / f"figure-{number}.svg", figure.svg)
    return Result(
        "checkers",
        "Checkers: a Q-table and Prior State Voting",
        seed,
        tables,
        figures,
        time.perf_counter() - begin,
        conclusion=study.conclusion(),
        claims=study.claims(),
        settings={"games": plan.games, "keep_training_games": plan.keep_training_games, "trainings": plan.trainings},
    )
