"""Jobs on a Ray cluster of two nodes, one of which is killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rookery import arena
from rookery.games.morpion.search import Campaign, CampaignSettings
from rookery.scale import Job, Needs, Task, TaskQueue, carry_out
from rookery.scale.sweep import sweep
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
