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
from rookery.scale.executors import carry_out
from rookery.scale.jobs import find_parts, merge, parse_shard
from rookery.scale.simulate import Costs, Simulated, SimulatedJob, simulate
from rookery.scale.tasks import Setup, enter, pickled, travelling
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
    for text in ("0/3", "4/3", "1", "a/b", "1/1000000", "-1/2"):
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
