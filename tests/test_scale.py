"""Jobs on executors: the same rows everywhere, whatever goes wrong."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rookery import arena, files, progress
from rookery.scale import Background, Job, Needs, Task, TaskQueue, note
from rookery.scale import simulate as simulation
from rookery.scale.executors import Processes, _in_pool, batch_size, carry_out, check_on
from rookery.scale.jobs import find_parts, merge, parse_shard, read
from rookery.scale.simulate import Costs, Simulated, SimulatedJob, simulate
from rookery.scale.tasks import Message, Setup, do, enter, pickled, sentence, travelling, unpack
from tests.commands import answer, check_refusal

ME = __name__


def square(number: int) -> dict[str, int]:
    return {"square": number * number}


def tell(number: int) -> dict[str, Any]:
    note({"half": number / 2})
    return {"process": os.getpid(), "threads": progress.cores()}


def misbehave(how: str, folder: str) -> str:
    """Goes wrong in the given way, `fails` times if the way says so."""
    with (Path(folder) / how).open("a") as file:
        file.write("x")
    tries = len((Path(folder) / how).read_text())
    if how == "raise" or (how == "raise once" and tries == 1):
        raise RuntimeError("two\nlines")
    if how == "die" or (how == "die once" and tries == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "hang":
        time.sleep(60)
    return f"try {tries}"


def squares(count: int) -> list[Task]:
    return [Task(f"{n}", f"{ME}:square", {"number": n}) for n in range(count)]


def test_the_same_rows_on_every_executor() -> None:
    expected = {f"{n}": {"square": n * n} for n in range(200)}
    for on in ("here", "processes:2"):
        assert dict(Job({}, squares(200)).run(on)) == expected


def test_notes_threads_and_processes() -> None:
    notes: list[tuple[str, Any]] = []
    tasks = [Task(f"{n}", f"{ME}:tell", {"number": n}, Needs(cores=1 + n % 2)) for n in range(4)]
    said = [m for m in carry_out(tasks, "processes:2", on_note=lambda key, data: notes.append((key, data))) if m]
    assert sorted(notes) == [(f"{n}", {"half": n / 2}) for n in range(4)]
    rows = {message.key: message.data for message in said}
    assert [rows[f"{n}"]["threads"] for n in range(4)] == [1, 2, 1, 2]
    assert os.getpid() not in {row["process"] for row in rows.values()}
    here = [m.data for m in carry_out(tasks[:2], "here") if m]
    assert here == [{"process": os.getpid(), "threads": 1}, {"process": os.getpid(), "threads": 2}]
    assert progress.THREADS not in os.environ


def play_with(weights: str, game: int) -> dict[str, float]:
    """A game of an actor: the newest weights decide it."""
    return {"game": game, "weights": float(files.located(weights).read_text())}


@pytest.mark.parametrize("on", ["here", "processes:2"])
def test_actors_and_a_learner(on: str, tmp_path: Path) -> None:
    """Self-play: games of a round come back, the learner writes new weights, and the same workers play the next."""
    weights = tmp_path / "weights"
    weights.write_text("1.0")
    queue, rounds = TaskQueue(), list[list[float]]()

    def begin_round(number: int) -> None:
        rounds.append([])
        for game in range(6):
            arguments = {"weights": str(weights), "game": game}
            queue.put(Task(f"{number}/{game}", f"{ME}:play_with", arguments, files=(str(weights),)))

    begin_round(0)
    for message in carry_out(queue, on):
        if message is None:
            continue
        rounds[-1].append(message.data["weights"])
        if len(rounds[-1]) == 6 and len(rounds) < 3:
            weights.write_text(str(sum(rounds[-1])))
            begin_round(len(rounds))
    assert rounds == [[1.0] * 6, [6.0] * 6, [36.0] * 6]


def shifted(weights: Any, game: int) -> Any:
    if game < 0:
        raise RuntimeError("no such game")
    return weights + game  # an array, which is not JSON


def test_tasks_in_the_background() -> None:
    """Actors play while the learner learns; between two rounds the workers wait."""
    with Background("processes:2", shared=np.arange(3)) as actors:
        for start in (0, 10):
            for game in range(start, start + 4):
                actors.put(Task(f"{game}", f"{ME}:shifted", {"game": game}))
            found = sorted(actors.get().tolist() for _ in range(4))
            assert found == [[game, game + 1, game + 2] for game in range(start, start + 4)]
            time.sleep(0.3)
        actors.put(Task("-1", f"{ME}:shifted", {"game": -1}))
        with pytest.raises(RuntimeError, match="-1: RuntimeError: no such game"):
            actors.get()
    assert not actors._thread.is_alive()
    with Background("processes:1", shared=lambda: 1) as broken, pytest.raises(ValueError, match="cannot travel"):
        broken.get()


def test_what_goes_wrong_is_tried_again_and_then_named(tmp_path: Path) -> None:
    ways = ["raise", "raise once", "die", "die once", "hang"]
    tasks = [Task(how, f"{ME}:misbehave", {"how": how, "folder": str(tmp_path)}) for how in ways]
    job = Job({}, [*tasks, *squares(20)], file=tmp_path / "rows.jsonl")
    rows = dict(job.run("processes:2", retries=1, timeout=1))
    assert len(rows) == 22
    assert rows["raise once"] == rows["die once"] == "try 2"
    assert job.failures == {
        "raise": "RuntimeError: two lines", "die": "the worker process was ended by SIGKILL",
        "hang": "no answer within 1 seconds",
    }  # fmt: skip
    again = Job({}, job.tasks, file=tmp_path / "rows.jsonl")
    assert again.resume() == 22
    assert again.failures == job.failures
    (tmp_path / "raise").write_text("")
    retried = Job({}, [task for task in job.tasks if task.key == "raise"], file=tmp_path / "rows.jsonl")
    retried.resume()
    assert list(retried.run("here", retries=2)) == []
    assert (tmp_path / "raise").read_text() == "xxx"


def test_resuming_after_a_cut(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    job = Job({"job": "squares"}, squares(6), file=file)
    assert len(list(itertools.islice(job.run(), 3))) == 3
    with file.open("a") as opened:
        opened.write('{"key": "5", "ro')
    again = Job({"job": "squares"}, squares(6), file=file)
    assert again.resume() == 3
    assert len(dict(again.run())) == 3
    assert len(file.read_text().splitlines()) == 7
    assert all(json.loads(line) for line in file.read_text().splitlines())
    with pytest.raises(ValueError, match=r"already holds rows\.jsonl"):
        list(Job({"job": "squares"}, squares(6), file=file).run())
    with pytest.raises(ValueError, match="another job"):
        Job({"job": "cubes"}, squares(6), file=file).resume()
    file.write_text("nonsense")
    with pytest.raises(ValueError, match="damaged"):
        again.resume()


def test_shards_are_merged_and_what_is_missing_is_named(tmp_path: Path) -> None:
    tasks = squares(10)
    for number in (1, 2, 3):
        job = Job({"job": "squares"}, tasks, file=tmp_path / "rows.jsonl", shard=(number, 3))
        list(job.run())
    parts = find_parts([tmp_path])["rows"]
    merged = merge(parts, tmp_path / "all" / "rows.jsonl")
    assert merged.complete
    whole = Job({"job": "squares"}, tasks, file=tmp_path / "all" / "rows.jsonl")
    assert whole.resume() == 10
    assert list(whole.run()) == []
    text = parts[0].read_text().splitlines()
    parts[0].write_text("\n".join(text[:-1]) + "\n")
    parts[1].unlink()
    short = merge([parts[0], parts[2]], tmp_path / "short.jsonl")
    assert (short.missing_parts, short.missing, short.rows) == ([2], [json.loads(text[-1])["key"]], 6)
    with pytest.raises(ValueError, match="both part 1 of 3"):
        merge([parts[0], parts[0]], tmp_path / "twice.jsonl")
    other = Job({"job": "cubes"}, tasks, file=tmp_path / "rows.jsonl", shard=(2, 3))
    list(other.run())
    with pytest.raises(ValueError, match='its job is "cubes", not "squares"'):
        merge([parts[0], parts[1]], tmp_path / "mixed.jsonl")


def test_shards_of_a_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["arena", "checkers", "minimax:depth=1", "random", "--games", "6", "--on", "here"]
    alone = answer(capsys, *words)
    folder = str(tmp_path / "parts")
    for number in (1, 2):
        data = answer(capsys, *words, "--shard", f"{number}/2", "--out", folder)
        assert (data["done"], data["of"]) == (3, 3)
    assert answer(capsys, "merge", folder)["merged"][0]["rows"] == 6
    assert answer(capsys, *words, "--out", folder, "--resume") == alone
    check_refusal(capsys, ["merge", folder], "is there already")
    check_refusal(capsys, ["merge", str(tmp_path)], "there are no shards in")
    check_refusal(capsys, [*words, "--shard", "3/2"], "the shard must be K/N")
    check_refusal(capsys, [*words, "--shard", "1/2"], "a shard needs a folder")
    check_refusal(capsys, [*words[:-1], "cloud"], "unknown executor 'cloud'")


class Broken:
    """Fails in every game but the first two."""

    def choose(self, state: Any) -> int:
        raise ZeroDivisionError("no idea")


def test_games_that_fail_are_named() -> None:
    with pytest.raises(ValueError, match=r"4 games failed; game 0: random - Broken: ZeroDivisionError: no idea"):
        arena.tournament("checkers", ["random", Broken()], 4)


def test_unpicklable_things_and_results() -> None:
    with pytest.raises(ValueError, match="cannot travel to another process"):
        list(Job({}, squares(4), shared=lambda: 1).run("processes:2"))
    with pytest.raises(ValueError, match="the result of task 'x' is not JSON"):
        list(Job({}, [Task("x", "builtins:set")]).run())


def test_a_full_disk(tmp_path: Path) -> None:
    """A limit on the size of files stands for it."""
    job = Job({}, squares(1000), file=tmp_path / "rows.jsonl")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        with pytest.raises(ValueError, match=r"rows.jsonl cannot be written: File too large"):
            list(job.run())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    again = Job({}, squares(1000), file=tmp_path / "rows.jsonl")
    assert again.resume() > 10
    list(again.run())
    assert len(again.rows) == 1000


SCRIPT = """
import sys
from rookery.scale import Job, Task
if __name__ == "__main__":
    tasks = [Task(str(n), "time:sleep", {"args": [0.1 if n < 6 else 600]}) for n in range(20)]
    job = Job({}, tasks, file=sys.argv[1])
    for key, row in job.run("processes:2"):
        print(key, flush=True)
"""


def test_ctrl_c_ends_all_workers_and_keeps_what_is_done(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    rows = tmp_path / "rows.jsonl"
    process = subprocess.Popen(
        [sys.executable, "script.py", str(rows)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout
    for _ in range(6):
        process.stdout.readline()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert time.monotonic() - begin < 2
    assert b"KeyboardInterrupt" in error
    assert len(children) >= 2
    while any(_running(int(child)) for child in children):  # multiprocessing's own helper ends after the others
        assert time.monotonic() - begin < 2
        time.sleep(0.02)
    again = Job({}, [], file=rows)
    assert again.resume() == 6


def _running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_script_without_a_guard_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace('if __name__ == "__main__":', "if True:"))
    done = subprocess.run(
        [sys.executable, "script.py", str(tmp_path / "rows.jsonl")], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, check=False, timeout=60,
    )  # fmt: skip
    assert "ValueError: worker processes end as soon as they start" in done.stderr


def test_containers_limit_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.THREADS, raising=False)
    group = tmp_path / "root" / "a" / "b"
    group.mkdir(parents=True)
    (tmp_path / "two").write_text("0::/a/b\n")
    assert min(progress._quotas(tmp_path / "root", tmp_path / "two")) == float("inf")
    (group / "cpu.max").write_text("max 100000\n")
    (group.parent / "cpu.max").write_text("150000 100000\n")
    assert min(progress._quotas(tmp_path / "root", tmp_path / "two")) == 1.5
    (tmp_path / "one").write_text("4:memory:/c\n3:cpu,cpuacct:/c\n")
    old = tmp_path / "root" / "cpu" / "c"
    old.mkdir(parents=True)
    (old / "cpu.cfs_quota_us").write_text("50000\n")
    (old / "cpu.cfs_period_us").write_text("100000\n")
    assert min(progress._quotas(tmp_path / "root", tmp_path / "one")) == 0.5
    monkeypatch.setenv(progress.THREADS, "3")
    assert progress.cores() == 3


def test_files_travel_with_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that does not have them they lie elsewhere, and are found under their old names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.npz").write_bytes(b"weights")
    (tmp_path / "one.txt").write_text("text")
    luggage = travelling(["run", tmp_path / "one.txt", "missing"])
    assert sorted(map(os.path.basename, luggage)) == ["one.txt", "run"]
    (tmp_path / "run" / "model.npz").unlink()
    enter(Setup(pickled(None), [], str(tmp_path), luggage=luggage))
    try:
        assert files.located("run/model.npz").read_bytes() == b"weights"
        assert files.located("one.txt") == Path("one.txt")  # it is still there
    finally:
        files.MOVED.clear()
        files.MOVED_FROM.clear()


def test_user_files_travel_with_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process that works in another folder, and after the file is gone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine:\n    def choose(self, state): return 7\n")
    script = (
        "import os, pickle, sys\nfrom pathlib import Path\nimport rookery as rk\nfrom rookery import registry\n"
        "from rookery.scale.tasks import Setup, enter, pickled, travelling\nimport rookery.scale.tasks as tasks\n"
        "if sys.argv[1] == 'pack':\n"
        "    agent = rk.agent('mine.py', 'checkers')\n"
        "    setup = Setup(pickled(agent), registry.user_code_names(), os.getcwd(), luggage=travelling(['mine.py']))\n"
        "    Path('setup').write_bytes(pickle.dumps(setup))\n"
        "else:\n"
        "    enter(pickle.loads(Path('setup').read_bytes()))\n"
        "    os.chdir('/')\n"
        "    print(tasks._shared.choose(None), rk.agent('mine.py', 'checkers').choose(None))\n"
    )
    for step in ("pack", "unpack"):
        done = subprocess.run(
            [sys.executable, "-c", script, step], capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (tmp_path / "mine.py").unlink(missing_ok=True)
    assert done.stdout == "7 7\n"


def test_shards_are_parsed() -> None:
    assert parse_shard(None) is None
    assert [parse_shard(text) for text in ("1/1", "3/3", "100000/100000")] == [(1, 1), (3, 3), (100_000, 100_000)]
    for text in ("0/3", "4/3", "1", "a/b", "1/1000000", "1/100001", "-1/2", "1/2/3"):
        with pytest.raises(ValueError, match="the shard must be"):
            parse_shard(text)


def test_a_simulated_job_by_hand() -> None:
    """Two tasks of 10 s on two cores: the driver needs 0.75 s for each, one after the other."""
    costs = Costs(start=6.0, batch=0.5, task=0.25)
    found = simulate(SimulatedJob("two", 2, (10.0,)), 2, costs)
    assert found == Simulated(17.5, 20 / 17.5, 20 / 35, "the start")
    rounds = simulate(SimulatedJob("rounds", 5, (10.0,), rounds=2, alone=30.0), 3, Costs(0, 0, 0))
    assert rounds == Simulated(80.0, 110 / 80, 110 / 240, "the part that is done alone")
    # Of three tasks on two cores the last is alone for as long as it takes.
    uneven = simulate(SimulatedJob("uneven", 3, (8.0,)), 2, Costs(0, 0, 0))
    assert uneven == Simulated(16.0, 24 / 16, 24 / 32, "the last tasks")
    handed = simulate(SimulatedJob("quick", 1000, (0.001,)), 10, Costs(0, 0, 0.01))
    assert handed.seconds == pytest.approx(10.0, rel=0.02)
    assert handed.bottleneck == "the driver"
    even = simulate(SimulatedJob("even", 100, (5.0,)), 10, Costs(0, 0, 0))
    assert even == Simulated(50.0, 10.0, 1.0, "nothing")


def test_the_table_of_the_documentation_is_what_the_simulation_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[1] / "docs" / "scaling.md").read_text(encoding="utf-8")
    written = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and "busy; " in line]
    head = next(line for line in page.splitlines() if line.startswith("| job | one core | "))
    assert head == "| job | one core | " + " | ".join(f"{cores:,} cores" for cores in simulation.CORES) + " |"
    sweep = next(job for job in simulation.JOBS if job.name.startswith("sweep"))
    row = next(line for line in written if line[0].startswith("| sweep"))
    assert [cell.split(" (")[0] for cell in row[2:]] == [f"{simulate(sweep, n).speedup:.0f}" for n in simulation.CORES]
    few = simulate(simulation.JOBS[0], 64)
    assert written[0][2] == f"{few.speedup:.0f} ({few.busy:.0%} busy; {few.bottleneck})"
    monkeypatch.setattr(simulation, "CORES", simulation.CORES[-1:])  # the others take seconds
    simulation.main()
    printed = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert printed == [[name, alone, most] for name, alone, *_, most in written]


@pytest.mark.parametrize("missing", ["shard", "keys"])
def test_a_part_without_its_heading_is_no_shard(missing: str, tmp_path: Path) -> None:
    heading = {"job": "x", "shard": [1, 2], "keys": ["a"]}
    del heading[missing]
    part = tmp_path / "x-1-of-2.jsonl"
    part.write_text(json.dumps(heading) + "\n")
    with pytest.raises(ValueError, match="is not a shard"):
        merge([part], tmp_path / "x.jsonl")


@pytest.mark.parametrize("handler", ["SIG_IGN", "default_int_handler"])
def test_native_code_of_a_worker_needs_no_second_thread(handler: str) -> None:
    """Where Ctrl-C is ignored, nobody has to listen for it while native code runs."""
    code = (
        "import signal, time, rookery.search\n"
        f"signal.signal(signal.SIGINT, signal.{handler})\n"
        "state = rookery.load('checkers').initial_state()\n"
        "mine, all_ = time.thread_time(), time.process_time()\n"
        "rookery.search.mcts(state, 100_000)\n"
        "print((time.thread_time() - mine) / (time.process_time() - all_))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    share = float(done.stdout)
    assert share > 0.9 if handler == "SIG_IGN" else share < 0.5


class Script:
    """A pool that does what it is told: what batches say in every poll, with everything that was submitted."""

    batch_seconds, hand_over = 1.0, 0.0

    def __init__(self, cores: int, seconds: float = 0.0, lost: set[str] | None = None) -> None:
        self._cores, self._seconds, self._lost = cores, seconds, lost or set()
        self.batches: list[list[str]] = []
        self.most_cores = 0
        self._under_way: dict[int, list[Task]] = {}

    def cores(self) -> int:
        return self._cores

    def submit(self, batch: Any) -> int:
        self.batches.append([task.key for task in batch])
        assert len({task.needs for task in batch}) == 1
        self._under_way[len(self.batches)] = list(batch)
        self.most_cores = max(self.most_cores, sum(tasks[0].needs.cores for tasks in self._under_way.values()))
        return len(self.batches)

    def poll(self, seconds: float) -> list[tuple[int, Message | str | None]]:
        """The oldest batch ends: a task called "raises" is an error, one that is to be lost takes the batch with it."""
        number = min(self._under_way)
        said: list[tuple[int, Message | str | None]] = []
        for task in self._under_way.pop(number):
            if task.key in self._lost:
                return [*said, (number, f"lost with {task.key}")]
            kind: Any = "error" if task.key == "raises" else "row"
            said.append((number, Message(kind, task.key, task.key, self._seconds)))
        return [*said, (number, None)]

    def close(self) -> None:
        raise AssertionError("closed by whoever made it")


def in_pool(pool: Script, tasks: list[Task], retries: int = 1, count: int | None = None) -> list[Message]:
    return [said for said in _in_pool(iter(tasks), pool, retries, count, lambda *_: None) if said]


def keyed(keys: str, needs: Needs | None = None) -> list[Task]:
    return [Task(key, f"{ME}:square", {}, needs or Needs()) for key in keys.split()]


def test_a_lost_batch_is_done_again_task_by_task() -> None:
    """The first batch measures how long a task takes; then five tasks fit into a batch of a second."""
    pool = Script(1, seconds=0.2, lost={"d"})
    said = in_pool(pool, keyed("a b c d e f g h i j k"), count=11)
    assert pool.batches[:6] == [["a"], ["b", "c", "d", "e", "f"], ["d"], ["e"], ["f"], ["d"]]
    assert list(itertools.chain(*pool.batches[6:])) == list("ghijk")
    assert sorted(message.key for message in said if message.kind == "row") == list("abcefghijk")
    assert [message for message in said if message.kind == "error"] == [Message("error", "d", "lost with d")]


def test_a_task_that_raises_is_tried_again_as_often_as_asked() -> None:
    for retries in (0, 2):
        pool = Script(1)
        said = in_pool(pool, keyed("a raises b"), retries)
        assert [message for message in said if message.kind == "error"] == [Message("error", "raises", "raises")]
        assert pool.batches.count(["raises"]) == 1 + retries
        assert sorted(message.key for message in said) == ["a", "b", "raises"]


def test_a_batch_that_ends_without_a_word_about_its_task_is_an_error_of_it() -> None:
    class Forgets(Script):
        def poll(self, seconds: float) -> list[tuple[int, Message | str | None]]:
            return super().poll(seconds)[-1:]

    said = in_pool(Forgets(1), keyed("a"), retries=0)
    assert said == [Message("error", "a", "its worker stopped in the middle of it")]


def test_tasks_take_no_more_cores_than_there_are_and_batches_have_one_need() -> None:
    two = Needs(cores=2)
    pool = Script(4, seconds=0.01)
    tasks = [*keyed("a b c"), *keyed("d e", two), *keyed("f g h i")]
    assert sorted(message.key for message in in_pool(pool, tasks, count=9)) == list("abcdefghi")
    assert list(itertools.chain(*pool.batches)) == list("abcdefghi"), "in order"
    assert pool.most_cores == 4
    assert ["d"] in pool.batches
    wide = Script(2)
    in_pool(wide, keyed("a b c", Needs(cores=3)))
    assert wide.most_cores == 3, "a task for which there is too little room runs alone"
    assert in_pool(Script(3), []) == []


def test_sizes_of_batches() -> None:
    """Long enough to be worth handing over, short enough that everybody ends at the same time, and never empty."""
    assert batch_size(1000, 1, 0.25, 1.0, 0.0) == 4
    assert batch_size(8, 2, 0.001, 1.0, 0.0) == 2, "two batches per core are left"
    assert batch_size(3, 1, 0.0, 1.0, 0.0) == 1
    assert batch_size(2, 8, 0.01, 1.0, 0.1) == 2, "no more than there are"
    assert batch_size(0, 8, 0.01, 1.0, 0.1) == 1
    assert batch_size(100, 4, 1.0, 1.0, 2.0) == 8, "four cores wait for as long as it takes to hand over four batches"


def test_names_of_executors() -> None:
    for on in ("here", "processes", "processes:1", "processes:9999", "ray", "ray:auto"):
        assert check_on(on) == on
    for on in ("", "Here", "here:1", "processes:0", "processes:10000", "processes:", "processes:-1", "ray:", "rays"):
        with pytest.raises(ValueError, match=r"unknown executor .*; known are here, processes, processes:N"):
            check_on(on)
    with pytest.raises(ValueError, match=f"unknown executor '{'x' * 60}'; known"):
        check_on("x" * 100)
    with pytest.raises(ValueError, match="tasks run on processes or on Ray, not here"):
        Background("here")


def test_no_more_processes_than_are_useful(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single task is done here: starting a process takes longer than most tasks."""
    started: list[int] = []

    class Counted(Processes):
        def __init__(self, count: int, setup: Setup) -> None:
            started.append(count)
            raise ValueError("that will do")

    monkeypatch.setattr("rookery.scale.executors.Processes", Counted)
    monkeypatch.setenv(progress.THREADS, "3")
    (row,) = [said.data for said in carry_out([Task("0", "os:getpid")], "processes", count=1) if said]
    assert row == os.getpid()
    for on, count in (("processes", 2), ("processes", 5), ("processes", 100), ("processes", None), ("processes:7", 1)):
        with pytest.raises(ValueError, match="that will do"):
            list(carry_out(squares(1), on, count=count))
    assert started == [1, 2, 3, 3, 7]


def leave(code: int) -> None:
    os._exit(code)


def threads_of_libraries() -> list[str]:
    return [os.environ.get(name, "") for name in (progress.THREADS, "OMP_NUM_THREADS", "MKL_NUM_THREADS")]


def test_a_worker_that_leaves_and_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", progress.THREADS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    tasks = [Task("leaves", f"{ME}:leave", {"code": 3}), Task("tells", f"{ME}:threads_of_libraries")]
    job = Job({}, tasks)
    assert dict(job.run("processes:1", retries=0)) == {"tells": ["1", "1", "5"]}
    assert job.failures == {"leaves": "the worker process ended with code 3"}
    assert threads_of_libraries() == ["", "", "5"]


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace("0.1 if n < 6 else 600", "0 if n < 2 else 600"))
    process = subprocess.Popen(
        [sys.executable, "script.py", str(tmp_path / "rows.jsonl")], cwd=tmp_path, stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert process.stdout
    assert {process.stdout.readline(), process.stdout.readline()} == {b"0\n", b"1\n"}
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.communicate(timeout=30)
    end = time.monotonic() + 20
    while any(_running(int(child)) for child in children):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_errors_on_one_line() -> None:
    assert sentence(ValueError("two\n  lines")) == "two lines"
    assert sentence(ValueError()) == "ValueError: "
    assert sentence(KeyError("x")) == "KeyError: 'x'"
    assert sentence(ValueError("x" * 600)) == "x" * 500
    said = do(Task("k", "sys:exit", {"args": ["gone"]}), None, lambda _: None)
    assert said[:3] == ("error", "k", "SystemExit: gone")
    said = do(Task("k", "builtins:divmod", {"args": [7]}), 23, lambda _: None)
    assert said[:3] == ("row", "k", (3, 2)), "what the job shares comes first"
    assert do(Task("k", "time:sleep", {"args": [0.02]}), None, lambda _: None).seconds == pytest.approx(0.02, abs=0.5)


def test_classes_of_a_notebook_cannot_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        pass

    Mine.__module__ = "__main__"
    main = type(sys)("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    for thing in (Mine(), [Mine]):
        with pytest.raises(ValueError, match="Mine is defined in a notebook; put it into a file, or use on='here'"):
            pickled(thing)
    main.__file__ = "script.py"
    main.Mine = Mine  # type: ignore[attr-defined]
    Mine.__qualname__ = "Mine"
    assert pickled(Mine())


def test_luggage_is_unpacked_where_this_machine_has_something_else(tmp_path: Path) -> None:
    file, folder = tmp_path / "file", tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    for path in (file, folder / "a", folder / "deep" / "b"):
        path.write_text(path.name)
    luggage = travelling([file, folder])
    assert luggage == {
        str(file): {"": b"file"},
        str(folder): {"a": b"a", os.path.join("deep", "b"): b"b"},  # noqa: PTH118
    }
    try:
        unpack(luggage)
        assert files.MOVED == {}, "all is there already"
        file.write_text("changed")
        (folder / "deep" / "b").unlink()
        unpack(luggage)
        places = dict(files.MOVED)
        assert files.located(file).read_text() == "file"
        assert (files.located(folder) / "deep" / "b").read_text() == "b"
        unpack(luggage)
        assert places == files.MOVED, "it is unpacked once"
        newer = {str(file): {"": b"newer"}}
        unpack(newer)
        assert files.located(file).read_text() == "newer"
        assert file.read_text() == "changed"
    finally:
        files.MOVED.clear()


def test_a_job_stops_at_its_time() -> None:
    job = Job({}, squares(5))
    assert list(job.run(until=time.monotonic() - 1)) == []
    assert job.rows == {}
    assert len(list(job.run(until=time.monotonic() + 600))) == 5
    assert list(job.run()) == [], "all is done"


def test_the_lines_of_a_job(tmp_path: Path) -> None:
    """A row is kept whatever comes after it, and takes back an error before it."""
    file = tmp_path / "rows.jsonl"
    lines = [{"job": "x"}, {"key": "a", "error": "no"}, {"key": "a", "row": 1}, {"key": "b", "row": 2}]
    lines += [{"key": "b", "error": "late"}, {"key": "c", "error": "never"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"key": "d", "row": 4}')
    assert read(file) == ({"job": "x"}, {"a": 1, "b": 2}, {"c": "never"})
    for text in ("[1]\n", '"text"\n'):
        file.write_text(text)
        with pytest.raises(ValueError, match="its first line is no header"):
            read(file)
    file.write_text('{"job": "x"}\n{"kee": 1}\n')
    with pytest.raises(ValueError, match="is not the file of a job, or is damaged: 'key'"):
        read(file)


def test_rows_are_what_a_reader_of_the_file_gets_and_failures_are_done_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    tasks = [Task("pair", "builtins:divmod", {"args": [7, 2]}), Task("none", "builtins:divmod", {"args": [7, 0]})]
    job = Job({"of": (1, 2)}, tasks, file=file)
    assert list(job.run(retries=0)) == [("pair", [3, 1])]
    assert job.header == {"of": [1, 2]}
    assert list(job.failures) == ["none"]
    assert "ZeroDivisionError" in job.failures["none"]
    mended = Job({"of": [1, 2]}, [tasks[0], Task("none", "builtins:divmod", {"args": [7, 7]})], file=file)
    assert mended.resume() == 1
    assert list(mended.run()) == [("none", [1, 0])]
    assert mended.failures == {}
    assert read(file)[1:] == ({"pair": [3, 1], "none": [1, 0]}, {})
    assert Job({}, [], file=tmp_path / "other.jsonl").resume() == 0


def test_another_job_is_named_without_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    list(Job({"job": "squares"}, squares(4), file=file, shard=(1, 2)).run())
    with pytest.raises(ValueError, match="holds another job") as refused:
        Job({"job": "cubes"}, squares(4), file=file, shard=(1, 2)).resume()
    assert str(refused.value).endswith('holds another job: {"job": "squares", "shard": [1, 2]}')


def test_parts_are_found_by_their_names(tmp_path: Path) -> None:
    for name in ("a-1-of-2.jsonl", "a-2-of-2.jsonl", "b-1-of-1.jsonl", "a.jsonl", "a-0-of-2.jsonl"):
        (tmp_path / name).write_text("")
    found = find_parts([tmp_path])
    assert {name: [part.name for part in parts] for name, parts in found.items()} == {
        "a": ["a-1-of-2.jsonl", "a-2-of-2.jsonl"], "b": ["b-1-of-1.jsonl"],
    }  # fmt: skip
    assert find_parts([tmp_path / "b-1-of-1.jsonl"]) == {"b": [tmp_path / "b-1-of-1.jsonl"]}
    with pytest.raises(ValueError, match=r"a\.jsonl is not a shard: those are called NAME-K-of-N\.jsonl"):
        find_parts([tmp_path / "a.jsonl"])


def test_failures_of_shards_are_merged_too(tmp_path: Path) -> None:
    tasks = [Task(f"{n}", "builtins:divmod", {"args": [6, n]}) for n in range(4)]
    for number in (1, 2):
        list(Job({"job": "x"}, tasks, file=tmp_path / "rows.jsonl", shard=(number, 2)).run(retries=0))
    merged = merge(find_parts([tmp_path])["rows"], tmp_path / "rows.jsonl")
    assert (merged.rows, merged.missing_parts, merged.missing, list(merged.failures)) == (3, [], ["0"], ["0"])
    assert not merged.complete
    whole = Job({"job": "x"}, tasks, file=tmp_path / "rows.jsonl")
    assert whole.resume() == 3
    assert whole.failures == merged.failures
