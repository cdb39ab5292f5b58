"""Jobs on a Ray cluster of two nodes, one of which is killed; and on a stand-in for Ray, which takes no time."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rookery import __version__, arena, files
from rookery.games.morpion.search import Campaign, CampaignSettings
from rookery.scale import Job, Needs, Task, TaskQueue, carry_out, note, on_ray
from rookery.scale.on_ray import RayPool
from rookery.scale.simulate import ON_RAY
from rookery.scale.sweep import sweep
from rookery.scale.tasks import Message, Setup, pickled, travelling
from rookery.training import train
from tests.commands import check_refusal
from tests.tic_tac_toe import TicTacToe

pytestmark = pytest.mark.filterwarnings("ignore")
ME = __name__


def test_ray_is_asked_for_in_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    words = ["arena", "checkers", "random", "minimax:depth=1", "--on", "ray"]
    check_refusal(capsys, words, "Ray is not installed: pip install 'rookery[scale]'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:9", "there is no Ray cluster at 127.0.0.1:9: "),
        ("nonsense", "the address of a Ray cluster is HOST:PORT"),
        ("no-such-host.invalid:6379", "there is no Ray cluster at no-such-host.invalid:6379: "),
    ],
)
def test_wrong_addresses(address: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    check_refusal(capsys, ["arena", "checkers", "random", "minimax:depth=1", "--on", f"ray:{address}"], sentence)


class Cluster:
    """A head and a second node, each with one core, on this machine."""

    def __init__(self) -> None:
        import ray
        from ray.cluster_utils import Cluster as Nodes

        self.ray = ray
        self.nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1})
        self.second = self.nodes.add_node(num_cpus=1)
        self.on = f"ray:{self.nodes.address}"
        self.killed = False

    def kill(self) -> None:
        """The second node vanishes, as if its plug were pulled."""
        if self.killed:
            return
        self.killed = True
        for process in self.second.all_processes["raylet"]:
            os.kill(process.process.pid, signal.SIGKILL)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    pytest.importorskip("ray")
    made = Cluster()
    yield made
    made.ray.shutdown()
    made.nodes.shutdown()


def node_and_nap(seconds: float) -> str:
    import ray

    time.sleep(seconds)
    return str(ray.get_runtime_context().get_node_id())


def misbehave(how: str) -> int:
    if how == "raise":
        raise RuntimeError("no")
    if how == "die":
        os._exit(3)
    if how == "hang":
        time.sleep(100)
    return 1


@pytest.mark.slow
def test_a_tournament_survives_a_node(cluster: Cluster) -> None:
    names = ("minimax:depth=5", "random", "minimax:depth=4")
    alone = arena.Tournament("checkers", names, 30, seed=3)
    assert len(list(alone.play())) == 90
    spread = arena.Tournament("checkers", names, 30, seed=3)
    for i, _ in enumerate(spread.play(cluster.on)):
        if i == 5:
            cluster.kill()
    assert spread.failures == {}
    assert spread.records == alone.records


@pytest.mark.slow
def test_a_campaign_survives_a_node(cluster: Cluster) -> None:
    settings = CampaignSettings("5D", "nrpa", level=2, seed=3)
    alone = Campaign(settings)
    alone.go(runs=12, threads=1)
    spread = Campaign(settings)
    spread.go(runs=12, on=cluster.on, tick=lambda: cluster.kill() if len(spread.runs) in (3, 4) else None)
    assert cluster.killed
    assert [(run.seed, run.score, run.playouts) for run in spread.runs] == [
        (run.seed, run.score, run.playouts) for run in alone.runs
    ]
    assert spread.best.score == alone.best.score
    assert spread.failures == {}


@pytest.mark.slow
def test_a_sweep_survives_a_node(cluster: Cluster, tmp_path: Path) -> None:
    given: dict[str, Any] = {"variant": "4x4-seven", "updates": 20, "seeds": 4}
    over = {"discount": [0.5, 0.8], "reward": [1, 2]}
    alone = sweep("tenten", "lspi", over, out=tmp_path / "alone", **given)

    def kill() -> None:
        file = tmp_path / "spread" / "trials.jsonl"
        while not file.exists() or len(file.read_text().splitlines()) < 4:
            time.sleep(0.05)
        cluster.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    spread = sweep("tenten", "lspi", over, out=tmp_path / "spread", on=cluster.on, **given)
    killer.join()
    assert spread.trials == alone.trials


@pytest.mark.slow
def test_self_play_survives_a_node(cluster: Cluster, tmp_path: Path) -> None:
    """Actors on both nodes and one learner, whose weights travel with the tasks and change every round."""
    weights = tmp_path / "weights"
    weights.write_text("1.0")
    queue, rounds = TaskQueue(), list[list[float]]()

    def begin_round(number: int) -> None:
        rounds.append([])
        for game in range(8):
            arguments = {"weights": str(weights), "game": game}
            queue.put(Task(f"{number}/{game}", "tests.test_scale:play_with", arguments, files=(str(weights),)))

    begin_round(0)
    for message in carry_out(queue, cluster.on):
        if message is None:
            continue
        rounds[-1].append(message.data["weights"])
        if len(rounds) == 2 and len(rounds[-1]) == 3:
            cluster.kill()
        if len(rounds[-1]) == 8 and len(rounds) < 4:
            weights.write_text(str(sum(rounds[-1])))
            begin_round(len(rounds))
    assert rounds == [[8.0**n] * 8 for n in range(4)]


@pytest.mark.slow
def test_zero_learns_the_same_on_a_cluster_that_loses_a_node(cluster: Cluster, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "channels": 8,
        "blocks": 1,
        "games": 40,
        "group": 4,
        "simulations": 16,
        "batch": 16,
        "iterations": 4,
    }
    alone = train(TicTacToe(), "zero", out=tmp_path / "alone", **settings, actors=1)
    spread = train(
        TicTacToe(), "zero", out=tmp_path / "spread", **settings, actors=2, on=cluster.on,
        on_row=lambda row: cluster.kill() if row["iteration"] == 2 else None,
    )  # fmt: skip
    assert cluster.killed
    timed = {"moves_per_second", "share_learning", "minutes"}
    for one, other in zip(alone.metrics, spread.metrics, strict=True):
        assert {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}
    state = TicTacToe().initial_state()
    assert alone.agent(simulations=1).values(state) == spread.agent(simulations=1).values(state)


@pytest.mark.slow
def test_both_nodes_work_and_what_goes_wrong_is_named(cluster: Cluster) -> None:
    job = Job({}, [Task(f"{n}", f"{ME}:node_and_nap", {"seconds": 0.5}) for n in range(12)])
    assert len(set(dict(job.run(cluster.on)).values())) == 2
    ways = ("raise", "die", "hang", "well")
    job = Job({}, [Task(how, f"{ME}:misbehave", {"how": how}) for how in ways])
    assert dict(job.run(cluster.on, retries=1, timeout=2)) == {"well": 1}
    assert job.failures["raise"] == "RuntimeError: no"
    assert job.failures["hang"] == "no answer within 2 seconds"
    assert "was lost" in job.failures["die"]
    many = Job({}, [Task("x", f"{ME}:misbehave", {"how": "well"}, Needs(cores=64, gpus=8))])
    with pytest.raises(ValueError, match="no node of the Ray cluster has what a task needs: 64 cores, 8 GPUs"):
        list(many.run(cluster.on))


class RayError(Exception):
    """As Ray's: a worker or a node was lost."""


class RayTaskError(RayError):
    """As Ray's: a task raised."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__("a long trace")
        self.cause = cause


class Placed:
    """Something on the cluster: Ray hands tasks the thing itself."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


class Stream:
    """What a task on the cluster has yielded."""

    def __init__(self, reports: Iterator[Any]) -> None:
        self.reports = reports
        self.ready = True

    def __next__(self) -> Placed:
        return Placed(next(self.reports))


class FakeRay:
    """The part of Ray that is used here, in this process; tasks run when they are asked."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, running: bool = False, resources: dict[str, float] | None = None) -> None:
        self.running = running
        self.all_nodes: list[dict[str, Any]] = [
            {"Alive": True, "Resources": {"CPU": 2.0, "memory": 1000.0} | (resources or {})}
        ]
        self.started: list[dict[str, Any]] = []
        self.asked_for: list[dict[str, Any]] = []
        self.batches: list[list[str]] = []
        self.placed: list[Any] = []
        self.cancelled: list[Stream] = []
        self.times_counted = 0
        self.instead: Callable[..., Iterator[Any]] | None = None

    def is_initialized(self) -> bool:
        return self.running

    def init(self, **given: Any) -> None:
        self.started.append(given)
        self.running = True

    def shutdown(self) -> None:
        self.running = False

    def put(self, thing: Any) -> Placed:
        self.placed.append(thing)
        return Placed(thing)

    def get(self, placed: Placed) -> Any:
        return placed.thing

    def remote(self, **given: Any) -> Any:
        assert given == {"num_returns": "streaming", "max_retries": 0}, "tasks are tried again by us"

        def with_options(function: Any) -> Any:
            def options(**wanted: Any) -> Any:
                def begin(*arguments: Any) -> Stream:
                    self.asked_for.append(wanted)
                    self.batches.append([task.key for task in arguments[1]])
                    given = [a.thing if isinstance(a, Placed) else a for a in arguments]
                    return Stream((self.instead or function)(*given))

                return SimpleNamespace(remote=begin)

            return SimpleNamespace(options=options)

        return with_options

    def wait(self, streams: list[Stream], num_returns: int, timeout: float) -> tuple[list[Stream], list[Stream]]:
        assert 1 <= num_returns <= len(streams)
        ready = [stream for stream in streams if stream.ready][:num_returns]
        return ready, [stream for stream in streams if stream not in ready]

    def nodes(self) -> list[dict[str, Any]]:
        return self.all_nodes

    def cluster_resources(self) -> dict[str, float]:
        self.times_counted += 1
        return dict(self.all_nodes[0]["Resources"])

    def cancel(self, stream: Stream, force: bool) -> None:
        assert force
        self.cancelled.append(stream)
        raise RayError("its node is gone")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRay]:
    made = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", made)
    monkeypatch.setattr(on_ray, "PAUSE", 0.01)
    yield made
    files.MOVED.clear()
    files.MOVED_FROM.clear()


ONE_CORE = Needs()


def tell(number: int) -> int:
    note(number / 2)
    return number * number


def tells(count: int, needs: Needs = ONE_CORE) -> list[Task]:
    return [Task(f"{n}", f"{ME}:tell", {"number": n}, needs) for n in range(count)]


def empty_setup(timeout: float | None = None) -> Setup:
    return Setup(pickled(None), [], str(Path.cwd()), timeout)


def test_rows_and_notes_of_a_cluster_that_is_started_and_ended_with_the_job(fake: FakeRay) -> None:
    notes: list[tuple[str, float]] = []
    said = [m for m in carry_out(tells(30), "ray", count=30, on_note=lambda *given: notes.append(given)) if m]
    assert {(message.kind, message.key): message.data for message in said} == {
        ("row", f"{n}"): n * n for n in range(30)
    }
    assert sorted(notes) == sorted((f"{n}", n / 2) for n in range(30))
    assert fake.started == [
        {"address": "local", "log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
    ]
    assert not fake.running
    assert fake.asked_for[0] == {"num_cpus": 1, "num_gpus": 0.0}
    assert sorted(key for batch in fake.batches for key in batch) == sorted(f"{n}" for n in range(30))
    assert max(map(len, fake.batches)) > 1, "quick tasks travel together"


def test_a_cluster_that_is_connected_already_stays(fake: FakeRay) -> None:
    fake.running = True
    assert dict(Job({}, tells(2)).run("ray")) == {"0": 0, "1": 1}
    assert fake.started == []
    assert fake.running


def test_a_task_is_placed_where_its_needs_are_met(fake: FakeRay) -> None:
    fake.all_nodes[0]["Resources"] |= {"GPU": 1.0}
    enough = Needs(cores=2, gpus=1.0, memory=1000)
    assert dict(Job({}, tells(1, enough)).run("ray")) == {"0": 0}
    assert fake.asked_for == [{"num_cpus": 2, "num_gpus": 1.0, "memory": 1000}]
    for needs in (Needs(cores=3), Needs(gpus=1.5), Needs(memory=1001)):
        with pytest.raises(ValueError, match=f"has what a task needs: {needs.cores} cores, {needs.gpus:g} GPUs"):
            list(Job({}, tells(1, needs)).run("ray"))
    fake.all_nodes.append({"Alive": True, "Resources": {"CPU": 64.0}})
    assert dict(Job({}, tells(1, Needs(cores=3))).run("ray")) == {"0": 0}
    fake.all_nodes[0]["Alive"] = fake.all_nodes[1]["Alive"] = False
    with pytest.raises(ValueError, match="no node of the Ray cluster"):
        list(Job({}, tells(1)).run("ray"))
    fake.all_nodes[:] = [{"Alive": True, "Resources": {}}]  # a head that takes no tasks
    for needs in (Needs(cores=1), Needs(cores=0, gpus=0.5), Needs(cores=0, memory=1)):
        with pytest.raises(ValueError, match="no node of the Ray cluster"):
            list(Job({}, tells(1, needs)).run("ray"))


def test_cores_are_counted_once_per_second_and_are_never_none(fake: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 50.0
    pool = RayPool("", empty_setup(), {})
    monkeypatch.setattr(on_ray, "time", SimpleNamespace(monotonic=lambda: now))
    assert pool.cores() == 2
    fake.all_nodes[0]["Resources"]["CPU"] = 7.0
    now = 51.0
    assert pool.cores() == 2
    now = 51.5
    assert pool.cores() == 7
    assert fake.times_counted == 2
    del fake.all_nodes[0]["Resources"]["CPU"]
    now = 60.0
    assert pool.cores() == 1
    assert (pool.batch_seconds, pool.hand_over) == (ON_RAY.batch_seconds, ON_RAY.batch)


def test_files_of_tasks_are_sent_once_for_as_long_as_they_do_not_change(fake: FakeRay, tmp_path: Path) -> None:
    weights, folder = tmp_path / "weights", tmp_path / "folder"
    weights.write_bytes(b"one")
    folder.mkdir()
    (folder / "inside").write_bytes(b"two")
    pool = RayPool("", empty_setup(), {})
    given: list[Any] = []
    fake.instead = lambda *arguments: iter(given.append(arguments) or [])  # type: ignore[func-returns-value]
    tasks = [Task(key, f"{ME}:tell", files=(str(weights), str(folder))) for key in "ab"]
    assert [pool.submit(tasks), pool.submit(tasks[:1])] == [1, 2]
    sent = fake.placed[1:]  # after the setup
    assert sent == [travelling([weights]), travelling([folder])]
    assert all(list(one[3:]) == sent for one in given)
    assert given[0][2] == __version__
    (folder / "inside").write_bytes(b"three")
    os.utime(folder / "inside", (1, 1))
    assert pool.submit(tasks) == 3
    assert fake.placed[3:] == [travelling([folder])]
    assert list(given[2][3:]) == [travelling([weights]), travelling([folder])]
    pool.close()
    assert len(fake.cancelled) == 3, "a batch that is lost already does not keep the others from being ended"


def test_what_a_batch_says_and_how_it_ends(fake: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(on_ray, "time", SimpleNamespace(monotonic=lambda: now))
    row = Message("row", "0", 1)

    def pool_of(timeout: float | None, *reports: list[Message] | Exception) -> RayPool:
        def said(*_: Any) -> Iterator[list[Message]]:
            for report in reports:
                if isinstance(report, Exception):
                    raise report
                yield report

        fake.instead = said
        made = RayPool("", empty_setup(timeout), {})
        made.submit(tells(1))
        return made

    pool = pool_of(None, [], [row, row])
    assert [pool.poll(0), pool.poll(0), pool.poll(0)] == [[], [(1, row), (1, row)], [(1, None)]]
    busy = pool_of(None, [row])
    assert busy.submit(tells(1)) == 2
    next(iter(busy._batches)).ready = False
    assert busy.poll(0) == [(2, row)]
    for stream in busy._batches:
        stream.ready = False
    assert busy.poll(0) == []
    for since, sentence in ((2.0, "no answer within 2 seconds"), (1.9, "its worker or node was lost (RayError: gone)")):
        late = pool_of(2, [], RayError("gone\nmore"))
        assert late.poll(0) == []
        now += since
        assert late.poll(0) == [(1, sentence)]
        assert late._batches == late._begins == {}
    now += 1000
    assert pool_of(2, RayError("x" * 500)).poll(0) == [(1, f"its worker or node was lost (RayError: {'x' * 120})")]
    endless = pool_of(None, [], RayError("  gone"))
    endless.poll(0)
    now += 1000
    assert endless.poll(0) == [(1, "its worker or node was lost (RayError: gone)")]
    with pytest.raises(ValueError, match="a worker could not start: wrong version"):
        pool_of(None, RayTaskError(ValueError("wrong version"))).poll(0)


def test_addresses_of_clusters(fake: FakeRay) -> None:
    for address in ("nonsense", "host:port", "http://host:80", "host:123456", "a" * 70):
        with pytest.raises(ValueError, match="HOST:PORT, ray://HOST:PORT or auto, not") as refused:
            list(carry_out(tells(1), f"ray:{address}"))
        assert str(refused.value).endswith(f"not {address[:60]!r}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "auto", "local"):
            assert dict(Job({}, tells(1)).run(f"ray:{address}")) == {"0": 0}
            assert (fake.started[-1]["address"], fake.started[-1]["include_dashboard"]) == (address, None)
    begun = len(fake.started)
    for address in (f"127.0.0.1:{port}", "127.0.0.1:99999"):
        with pytest.raises(ValueError, match=f"there is no Ray cluster at {address}: "):
            list(carry_out(tells(1), f"ray:{address}"))
    assert len(fake.started) == begun

    def refuse(**_: Any) -> None:
        raise ConnectionError("nobody home")

    fake.init = refuse  # type: ignore[method-assign]
    for on, where in (("ray", "this machine"), ("ray:auto", "auto")):
        with pytest.raises(ValueError, match=f"there is no Ray cluster at {where}: nobody home"):
            list(carry_out(tells(1), on))


def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_a_node_reports_a_few_times_per_second(fake: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reports(*seconds: float) -> list[list[float]]:
        batch = [Task(f"{n}", f"{ME}:nap", {"seconds": s}) for n, s in enumerate(seconds)]
        return [[m.data for m in report] for report in on_ray._stream(empty_setup(), batch, __version__)]

    monkeypatch.setattr(on_ray, "PAUSE", 0.4)
    assert reports(0.0, 0.1, 0.1) == [[], [0.0, 0.1, 0.1]], "the first says that the batch has begun"
    monkeypatch.setattr(on_ray, "PAUSE", 0.1)
    assert reports(0.0, 0.5, 0.0) == [[], [0.0], [0.5, 0.0]]
    with pytest.raises(ValueError, match=f"a node has Rookery {__version__}, and this machine 0.0.0"):
        next(on_ray._stream(empty_setup(), [], "0.0.0"))
    lost = tmp_path / "weights"
    lost.write_text("3.5")
    luggage = travelling([lost])
    lost.unlink()
    task = Task("x", "tests.test_scale:play_with", {"weights": str(lost), "game": 1})
    assert list(on_ray._stream(empty_setup(), [task], __version__, luggage))[1][0].data == {"game": 1, "weights": 3.5}
