"""Sweeps over the settings of a method."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rookery import arena, registry
from rookery.cli import parsed
from rookery.game import Game
from rookery.method import Method
from rookery.registry import load, method
from rookery.run import Row, Run
from rookery.scale import sweep as sweeping
from rookery.scale.sweep import dimension, measured, sweep
from rookery.statistics import median_interval
from tests.commands import answer, check_refusal
from tests.tic_tac_toe import TicTacToe

QUICK: dict[str, Any] = {"variant": "3x3-three", "updates": 2, "turns": 2, "max_rounds": 200}
WORDS = ["tenten", "lspi", "--variant", "3x3-three", "--updates", "2", "--turns", "2", "--max-rounds", "200"]


def test_a_grid_with_seeds_is_the_same_everywhere_and_resumes(tmp_path: Path) -> None:
    over = {"discount": [0.5, 0.9], "reward": "1,2"}
    here = sweep("tenten", "lspi", over, seeds=2, out=tmp_path / "here", **QUICK)
    assert [trial.settings for trial in here.trials] == [
        {"discount": discount, "reward": reward} for discount in (0.5, 0.9) for reward in (1, 2)
    ]
    assert all(len(trial.values) == 2 for trial in here.trials)
    best = max(here.trials, key=lambda trial: trial.median or 0)
    assert here.best.median == best.median
    apart = sweep("tenten", "lspi", over, seeds=2, out=tmp_path / "apart", on="processes:2", **QUICK)
    assert apart.trials == here.trials
    rows = (tmp_path / "apart" / "trials.jsonl").read_text().splitlines()
    (tmp_path / "apart" / "trials.jsonl").write_text("\n".join(rows[:4]) + "\n")
    again = sweep("tenten", "lspi", over, seeds=2, out=tmp_path / "apart", resume=True, **QUICK)
    assert again.trials == here.trials
    assert "<svg" in here._repr_html_()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "sweep")
    words = [
        "sweep",
        *WORDS,
        "--over",
        "discount=0.5..0.99:log",
        "--over",
        "reward=1,2",
        "--trials",
        "3",
        "--on",
        "here",
    ]
    data = answer(capsys, *words, "--out", out)
    assert len(data["trials"]) == 3
    assert all(0.5 <= trial["settings"]["discount"] <= 0.99 for trial in data["trials"])
    assert {"index.html", "sweep.svg", "sweep-1.csv", "trials.jsonl"} <= {path.name for path in Path(out).iterdir()}
    train = [*shlex.split(data["command"])[1:], "--out", str(tmp_path / "best")]
    trained = answer(capsys, *train)
    assert trained["settings"]["discount"] == data["best"]["discount"]
    assert trained["metrics"]["mean_rounds"] == data["trials"][0]["median"]
    check_refusal(capsys, [*words, "--out", out], "already holds trials.jsonl")
    for part in ("1/2", "2/2"):
        answer(capsys, *words, "--out", str(tmp_path / "parts"), "--shard", part)
    answer(capsys, "merge", str(tmp_path / "parts"))
    merged = answer(capsys, *words, "--out", str(tmp_path / "parts"), "--resume")
    assert merged["trials"] == data["trials"]


def test_seeds_of_train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = answer(
        capsys, "train", *WORDS, "--seeds", "3", "--seed", "4", "--on", "here", "--out", str(tmp_path / "runs")
    )
    (trial,) = data["trials"]
    assert len(trial["values"]) == 3
    alone = answer(capsys, "train", *WORDS, "--seed", "5", "--out", str(tmp_path / "alone"))
    assert trial["values"]["1"] == alone["metrics"]["mean_rounds"]


@dataclass(frozen=True)
class Settings:
    size: int = 1
    """Two is one too many."""


def train(game: Game, settings: Settings, run: Run) -> Iterator[Row]:
    if settings.size == 2:
        raise RuntimeError("two is too many")
    run.add({"size": settings.size, "progress": 1.0})
    yield run.rows[-1]


class Flaky(Method):
    """Fails with some settings."""

    name, kind, module, headline = "flaky", "learn", __name__, "size"


def test_a_broken_trial_is_a_row_with_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_METHODS", {})
    registry.register(Flaky)
    found = sweep("tenten", "flaky", {"size": "1,2,3"}, out=tmp_path)
    assert [trial.median for trial in found.trials] == [1, None, 3]
    assert found.trials[1].error == "RuntimeError: two is too many"
    assert found.best.settings == {"size": 3}
    assert found.rows()[-1][-1] == "RuntimeError: two is too many"


def test_judged_by_games_and_by_nested_figures(tmp_path: Path) -> None:
    found = sweep(
        "checkers", "q-learning", {"games": [50]}, against="random", match_games=4, out=tmp_path / "a", on="here"
    )
    assert found.metric == "score"
    assert 0 <= (found.best.median or -1) <= 1
    with pytest.raises(ValueError, match="reports no number 'nonsense'"):
        _ = sweep("tenten", "lspi", {"discount": [0.5]}, metric="nonsense", out=tmp_path / "b", **QUICK).best


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--over", "discount=0.9..0.5"], "must rise"),
        (["--over", "discount=0..0.5:log"], "must rise and above 0"),
        (["--over", "discount=0.5..0.9:cubic"], "LOW..HIGH:log"),
        (["--over", "discount=a,b"], "must be a number"),
        (["--over", "discount=0.5,0.5"], "different from each other"),
        (["--over", "discount"], "NAME=VALUES"),
        (["--over", "discount=0.5", "--over", "discount=0.6"], "each name once"),
        ([], "at least one setting"),
        (["--over", "discount=0.5..0.9", "--sampler", "grid"], "a grid needs lists"),
        (["--over", "discount=0.5..0.9", "--trials", "0"], "the number of trials must be from 1"),
        (["--over", "discount=0.5", "--prune", "--sampler", "random"], "only the samplers of Optuna prune"),
        (["--over", "discount=0.5", "--against", "nobody"], "unknown agent 'nobody'"),
    ],
)
def test_bad_sweeps(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_refusal(capsys, ["sweep", *WORDS, *words, "--on", "here"], sentence)


def test_ranges() -> None:
    lspi = method("lspi", load("tenten"))
    whole = dimension("turns", "1..1000:log", lspi, lspi.Settings())
    drawn: list[Any] = [whole.draw(random.Random(seed)) for seed in range(300)]
    assert all(isinstance(value, int) and 1 <= value <= 1000 for value in drawn)
    assert 80 < sum(value < 32 for value in drawn) < 220  # half of the logarithm
    assert median_interval([5.0]) == (5.0, 5.0)
    assert median_interval(list(range(6))) == (0, 5)  # covers with 1 - 2/64 = 96.9%
    assert median_interval(list(range(9))) == (1, 7)  # 1 - 2 * 10 / 512 = 96.1%


def test_optuna_is_asked_for_in_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    words = ["sweep", *WORDS, "--over", "discount=0.5..0.9", "--sampler", "tpe"]
    check_refusal(capsys, words, "Optuna is not installed: pip install 'rookery[sweep]'")


@pytest.mark.filterwarnings("ignore")
def test_optuna_samples_prunes_and_survives_a_kill(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    given: dict[str, Any] = {**QUICK, "sampler": "tpe", "prune": True, "seeds": 2, "out": tmp_path, "updates": 4}
    over = {"discount": "0.5..0.99", "reward": "1,2"}
    found = sweep("tenten", "lspi", over, trials=6, **given)
    assert len(found.trials) == 6
    assert all(trial.pruned or len(trial.values) == 2 for trial in found.trials)
    study = sweeping._study(str(tmp_path / "optuna.log"))
    assert [trial.params["discount"] for trial in study.trials] == [t.settings["discount"] for t in found.trials]
    study.ask()  # a trial that a kill left behind
    rows = (tmp_path / "trials.jsonl").read_text().splitlines()
    (tmp_path / "trials.jsonl").write_text("\n".join(rows[:-2]) + "\n")
    again = sweep("tenten", "lspi", over, trials=6, resume=True, on="processes:2", **given)
    assert len(again.trials) == 6
    assert [trial.state.name for trial in sweeping._study(str(tmp_path / "optuna.log")).trials].count("FAIL") == 1
    assert json.loads(rows[0])["sampler"] == "tpe"


def test_a_sweep_in_python_knows_the_command_that_trains_its_best(tmp_path: Path) -> None:
    game = load("tenten", "3x3-three")
    found = sweep(game, "lspi", {"discount": [0.5]}, seeds=2, updates=2, max_rounds=200, out=tmp_path, seed=7)
    _, given, named = parsed(shlex.split(found.command(found.best))[1:])
    (given,) = *given, *named.values()
    assert (given.variant, given.common.seed) == ("3x3-three", 7)
    assert (given.settings.updates, given.settings.max_rounds, given.settings.discount) == (2, 200, 0.5)


def planned(tmp_path: Path, **given: Any) -> sweeping.Sweep:
    return sweeping.plan("tenten", "lspi", {"discount": [0.5, 0.9]}, out=tmp_path, **QUICK | given)


def test_trials_are_ranked_by_their_medians(tmp_path: Path) -> None:
    found = planned(tmp_path, seeds=3)
    found.trials = [
        sweeping.Trial(0, {"discount": 0.5}, {0: 1.0, 1: 9.0, 2: 2.0}),
        sweeping.Trial(1, {"discount": 0.6}, error="broke"),
        sweeping.Trial(2, {"discount": 0.9}, {0: 3.0, 1: 5.0}),
        sweeping.Trial(3, {"discount": 0.7}, {0: 8.0}, pruned=True),
        sweeping.Trial(4, {"discount": 0.8}, {0: 4.0}),
    ]
    assert [trial.median for trial in found.trials] == [2.0, None, 4.0, 8.0, 4.0]
    assert [trial.number for trial in found.ranking] == [2, 4, 0, 3, 1]
    assert found.best.number == 2
    found.minimize = True
    assert [trial.number for trial in found.ranking] == [0, 2, 4, 3, 1]
    assert found.best.number == 0
    assert found.rows()[0] == ["0", "0.5", "2", "1 to 9", "3", ""]
    assert found.rows()[3:] == [["3", "0.7", "8", "8 to 8", "1", "stopped early"], ["1", "0.6", "-", "-", "0", "broke"]]
    assert found.columns == ["trial", "discount", found.metric, "95%", "seeds", "remark"]
    result = found.result()
    assert "with probability 75.0%" in result.tables[0].note  # all three medians on one side: 2 / 8
    assert f"{found.metric}, least first" in result.tables[0].note
    assert len(result.figures) == 1
    data = found.data()
    assert data["best"] == {"discount": 0.5}
    assert data["command"].endswith("--discount 0.5 --seed 0")
    assert [row["trial"] for row in data["trials"]] == [0, 2, 4, 3, 1]
    assert repr(found) == "<Sweep of lspi on tenten: 5 trials>"
    found.trials = found.trials[1:2]
    with pytest.raises(ValueError, match="no trial has finished; the first one that failed: broke"):
        _ = found.best
    assert found.figures() == []
    found.trials = []
    with pytest.raises(ValueError, match=r"no trial has finished$"):
        _ = found.best


def test_a_task_takes_the_cores_of_its_training(tmp_path: Path) -> None:
    assert planned(tmp_path, threads=3).needs.cores == 3
    assert planned(tmp_path, threads=0).needs.cores == 1
    made = planned(tmp_path, seed=7, seeds=2)
    task = made.task(4, {"discount": 0.6}, 1)
    assert task.key == "4/1"
    assert (task.arguments["seed"], task.arguments["settings"]["discount"]) == (8, 0.6)
    assert task.arguments["folder"] == str(tmp_path / "runs" / "4-1")


def test_numbers_of_a_sweep_are_bounded(tmp_path: Path) -> None:
    for given, sentence in (
        ({"seeds": 0}, "the number of seeds must be from 1 to 1,000, and is 0"), ({"seeds": 1001}, "of seeds must be"),
        ({"match_games": 0}, "of games must be from 1 to 1,000,000"), ({"match_games": 1_000_001}, "of games"),
        ({"trials": 0, "sampler": "random"}, "the number of trials must be from 1 to"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            planned(tmp_path, **given)
    assert planned(tmp_path, seeds=1000, match_games=1_000_000).count == 2
    ranged = sweeping.plan("tenten", "lspi", {"discount": "0.5..0.9"}, out=tmp_path, **QUICK)
    assert (ranged.sampler, ranged.count) == ("random", 20)
    assert (planned(tmp_path).sampler, planned(tmp_path).seeds, planned(tmp_path).seed) == ("grid", 1, 0)
    assert planned(tmp_path, trials=1).sampler == "random"
    assert planned(tmp_path, metric="loss").minimize
    assert not planned(tmp_path).minimize


def test_draws_stay_in_their_ranges_and_follow_the_seed(tmp_path: Path) -> None:
    over = {"discount": "0.01..1:log", "turns": "3..9"}
    quick = {name: value for name, value in QUICK.items() if name != "turns"}
    one, same, other = (
        sweeping.plan("tenten", "lspi", over, trials=300, seed=seed, out=tmp_path, **quick).draw() for seed in (1, 1, 2)
    )
    assert one == same != other
    discounts, turns = [trial["discount"] for trial in one], [trial["turns"] for trial in one]
    assert all(0.01 <= float(value) <= 1 for value in discounts)
    assert set(turns) == set(range(3, 10))
    below = sum(float(value) < 0.1 for value in discounts)
    assert abs(below - 150) < 4 * 300**0.5 / 2, "half of them lie below the middle of a logarithmic scale"


class Judged(Method):
    """Reports some figures in its rows, and others when it is asked."""

    name, kind, module, headline = "judged", "learn", __name__, "size"

    def evaluate(self, game: Game, run: Run) -> dict[str, Any]:
        return {"exact": {"share": 0.25, "none": None}, "size": 7}


def test_the_number_that_a_trial_is_judged_by() -> None:
    """The last row's, or else what the method finds when it is asked; never a truth value, and nothing infinite."""
    row = {"size": 3, "done": True, "loss": float("nan"), "progress": 1.0, "by": {"side": {"first": 0.5}}}
    run: Any = SimpleNamespace(rows=[{"size": 2}, row])
    game: Any = None

    def value(metric: str, of: Any = run) -> float:
        return measured(game, Judged(), of, metric, "", 10)

    assert [value("size"), value("by.side.first"), value("exact.share")] == [3.0, 0.5, 0.25]
    assert value("size", SimpleNamespace(rows=[])) == 7.0
    for metric in ("done", "loss", "by", "exact", "exact.none", "size.more", "sise"):
        with pytest.raises(ValueError, match=f"judged reports no number '{metric}'"):
            value(metric)
    with pytest.raises(ValueError, match="did you mean 'size'"):
        value("sise")
    with pytest.raises(ValueError, match="reports no number 'progres'") as refused:
        value("progres")
    assert "did you mean" not in str(refused.value)


def test_a_trial_is_judged_by_a_match_of_an_even_number_of_games() -> None:
    game, alone = TicTacToe(), load("tenten", "3x3-three")
    for rules, games, played in ((game, 3, 4), (game, 4, 4), (alone, 4, 4)):
        best = registry.agent("mcts:simulations=30", rules)
        run: Any = SimpleNamespace(agent=lambda best=best: best, seed=5, rows=[])
        match = arena.match(rules, best, "random", played, seed=5)
        expected = match.score if rules.players == 2 else match.means[0]
        assert measured(rules, Judged(), run, "x", "random", games) == expected


def test_what_is_asked_of_optuna() -> None:
    lspi = method("lspi", load("tenten"))
    asked: list[tuple[Any, ...]] = []

    class Asked:
        def __getattr__(self, name: str) -> Any:
            return lambda *given, **more: asked.append((name, *given, more))

    for name, text in (("reward", "1,2"), ("turns", "3..9"), ("turns", "1..9:log"), ("discount", "0.5..0.75")):
        dimension(name, text, lspi, lspi.Settings()).suggest(Asked())
    assert asked == [
        ("suggest_categorical", "reward", [1, 2], {}),
        ("suggest_int", "turns", 3, 9, {"log": False}),
        ("suggest_int", "turns", 1, 9, {"log": True}),
        ("suggest_float", "discount", 0.5, 0.75, {"log": False}),
    ]


def test_a_range_needs_numbers() -> None:
    lspi = method("lspi", load("tenten"))
    flags = [f for f, value in vars(lspi.Settings()).items() if isinstance(value, bool)]
    for name in flags:
        with pytest.raises(ValueError, match=f"{name} is not a number, and has no range; name its values"):
            dimension(name, "no..yes", lspi, lspi.Settings())
    with pytest.raises(ValueError, match="must rise, unlike"):
        dimension("discount", "0.5..0.5", lspi, lspi.Settings())
    with pytest.raises(ValueError, match="must rise and above 0, unlike"):
        dimension("discount", "0..0.5:log", lspi, lspi.Settings())
    assert dimension("discount", "0..0.5", lspi, lspi.Settings()).low == 0
    with pytest.raises(ValueError, match="must be different from each other"):
        dimension("discount", [], lspi, lspi.Settings())


@dataclass(frozen=True)
class StepSettings:
    steps: int = 4
    """Number of rows."""
    threads: int = 0
    """Number of threads."""


class Steps(Method):
    """Counts."""

    name, kind, module, headline = "steps", "learn", "tests.test_sweep", "step"
    Settings = StepSettings

    def train(self, game: Game, settings: Any, run: Run) -> Iterator[Row]:
        for step in range(settings.steps):
            run.save({"step": step, "threads": settings.threads, "progress": 1.0}, {})
            yield run.rows[-1]


def test_optuna_is_told_the_rows_of_the_first_seed_and_stops_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_METHODS", {})
    registry.register(Steps)
    told: list[tuple[float, int]] = []
    stop = 100

    class Reporter:
        def __init__(self, study: Any, trial: int) -> None:
            assert trial == 5

        def report(self, value: float, step: int) -> None:
            told.append((value, step))

        def should_prune(self) -> bool:
            return len(told) == stop

    monkeypatch.setattr(sweeping, "_optuna", lambda: SimpleNamespace(trial=SimpleNamespace(Trial=Reporter)))
    monkeypatch.setattr(sweeping, "_study", lambda journal: None)
    found = sweeping.plan("tenten", "steps", {"steps": [4]}, seeds=2, out=tmp_path, seed=3)

    def run(journal: str, number: int) -> dict[str, Any]:
        each: Any = [found.task(number, {"steps": 4}, seed).arguments for seed in range(2)]
        return sweeping.run_optuna_trial(found.game, each, {"steps": 4}, journal, 5, "step")

    whole = run("journal", 0)
    assert told == [(0.0, 0), (1.0, 1), (2.0, 2), (3.0, 3)]
    assert [row["value"] for row in whole["rows"]] == [3.0, 3.0]
    assert [row["metrics"]["threads"] for row in whole["rows"]] == [1, 1], "a task has one core unless it asks for more"
    assert (whole["chosen"], whole["pruned"]) == ({"steps": 4}, False)
    told.clear()
    assert [row["value"] for row in run("", 1)["rows"]] == [3.0, 3.0]
    assert told == []
    stop = 2
    assert run("journal", 2) == {"chosen": {"steps": 4}, "rows": [], "pruned": True}
    assert told == [(0.0, 0), (1.0, 1)]
    stopped = Run.open(tmp_path / "runs" / "2-0")
    assert (stopped.state, len(stopped.rows), stopped.info.get("error")) == ("stopped", 2, None)
    assert not (tmp_path / "runs" / "2-1").exists()


def test_where_a_sweep_goes_and_what_it_cannot_divide(tmp_path: Path) -> None:
    assert sweeping.plan("tenten", "lspi", {"discount": [0.5]}).folder == Path("runs/sweep-tenten-lspi-10x10")
    assert planned(tmp_path).folder == tmp_path
    assert (planned(tmp_path, prune=True).sampler, planned(tmp_path, prune=True).prune) == ("tpe", True)
    with pytest.raises(ValueError, match="only grid and random can be divided into shards"):
        sweep("tenten", "lspi", {"discount": [0.5]}, sampler="tpe", shard="1/2", out=tmp_path)
    with pytest.raises(ValueError, match="unknown sampler 'rando'; did you mean 'random'"):
        planned(tmp_path, sampler="rando")
    twice = planned(tmp_path, trials=2)
    assert twice.sampler == "grid", "as many trials as there are combinations"
    assert [task.key for task in sweeping.grid_job(planned(tmp_path, seeds=2)).tasks] == ["0/0", "1/0", "0/1", "1/1"]
    alone = sweeping.plan("tenten", "lspi", {}, seeds=2, out=tmp_path)
    assert (alone.count, alone.draw()) == (1, [{}])
