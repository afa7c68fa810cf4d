"""Workers on a Ray cluster of machines that share nothing but Postgres and an S3 server: every run
is computed once, to the bit as one worker would, whatever dies meanwhile.
"""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from launching import essence, small_grid
from machines import Machines
from pages import button, open_page
from postgres import Server, running_server
from s3 import running_s3
from waiting import wait_for

from dashboard import data
from mucore.runner.plan import Grid, launch, make_plan, parse_grid
from mucore.runner.worker import work
from mucore.spec import RunSpec
from mucore.store import Store, open_store
from mucore.store.rows import Job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PASSWORD = "sesame-open"
STOPPED_SECONDS = 20.0  # how long the database is away
UP = ("--gpus-per-worker", "0", "--cpus-per-worker", "1")
EPOCHS = 160  # of a training that takes long enough to be hit twice
LONG = 400.0  # seconds that something on a busy machine may take; waiting ends once it is there


@contextlib.contextmanager
def services(folder: Path) -> Generator[tuple[dict[str, str], Store, Server]]:
    """The variables of everyone who uses the store, the store as opened here, and its server."""
    pytest.importorskip("ray.cluster_utils")
    with running_server() as server, running_s3(folder) as s3:
        # the server asks for no password; what is given is a secret all the same
        url = server.url.replace("tester@", f"tester:{PASSWORD}@")
        shared = {"MUCORE_STORE_URL": url, "MUCORE_ARTIFACTS": "s3://bucket/mucore"}
        with open_store(folder / "driver", url=url, artifacts=shared["MUCORE_ARTIFACTS"]) as store:
            yield {**s3, **shared}, store, server


def alone(folder: Path, grid: Grid, *more: RunSpec) -> dict[str, dict]:
    """What one worker on one machine makes of a comparison, and of other runs."""
    with open_store(folder / "alone") as store:
        made = make_plan(grid, store)
        launch(made, store, name="alone")
        store.enqueue(more)
        keys = [*made.keys, *(spec.key for spec in more)]
        work(store, device="cpu", only=keys, until_done=True)
        return {key: essence(store.get_result(key)) for key in keys}


def up_by_a_driver_that_is_killed(cluster: Machines, workers: int) -> None:
    """`cluster up`, killed while workers start, or, where it was faster, ended."""
    driver = cluster.popen("up", *UP, "--workers", str(workers))
    wait_for(lambda: cluster.processes() or None, LONG)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    assert all(one["state"] for one in cluster.status())  # as a new process finds them


@contextlib.contextmanager
def two_machines(folder: Path, shared: dict[str, str], home: Path) -> Generator[Machines]:
    """A cluster with a worker on each of two machines, which share a home."""
    with Machines(folder, shared, home=home) as cluster:
        for _ in range(2):
            cluster.add()
        done = cluster.cluster("up", *UP, "--workers", "2")
        assert done.returncode == 0, done.stderr
        yield cluster


def down(cluster: Machines, *arguments: str) -> None:
    done = cluster.cluster("down", *arguments)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not cluster.processes())
    assert cluster.status() == []


def all_done(store: Store, keys: tuple[str, ...]) -> None:
    wait_for(lambda: store.known(keys) == set(keys), 2 * LONG)
    wait_for(lambda: not store.jobs(states=["queued", "running"]), LONG)
    jobs = store.jobs()
    assert {job.state for job in jobs} == {"done"}, [(job.label, job.error) for job in jobs]
    assert sorted(job.key for job in jobs) == sorted(keys)  # one job each


def machine_of(job: Job) -> str:
    return (job.worker or "").partition(".")[0]


def in_hand(store: Store, *, not_on: str = "", further: float = 0.0) -> Job | None:
    """A run that has come some way: further than `further`, in 0..1."""
    return next(
        (
            job
            for job in store.jobs(states=["running"])
            if job.progress > further and machine_of(job) != not_on
        ),
        None,
    )


def command_lines() -> str:
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines += process.cmdline()
    return "\n".join(lines)


def test_two_machines_compute_a_comparison_once_and_as_one_would(tmp_path):
    """And the program that started the workers was killed."""
    grid = small_grid(methods=("finetune", "ssd"), seeds=2)
    expected = alone(tmp_path, grid)
    with services(tmp_path) as (shared, store, _), Machines(tmp_path, shared) as cluster:
        cluster.add()
        cluster.add()
        up_by_a_driver_that_is_killed(cluster, 3)
        wait_for(lambda: len(store.workers()) == 2, LONG)
        first, second, third = cluster.status()
        # each machine has one CPU, so the third worker waits, and is said to
        assert {first["report"]["host"], second["report"]["host"]} == {"machine-1", "machine-2"}
        assert all(one["report"]["protected"] for one in (first, second))
        assert third["report"] is None and third["problem"] == ""
        assert cluster.cluster("up", *UP, "--workers", "1").returncode == 2  # they are there
        made = make_plan(grid, store)
        launch(made, store, name="on two machines")
        all_done(store, made.keys)
        assert {key: essence(store.get_result(key)) for key in made.keys} == expected
        assert {job.attempts for job in store.jobs()} == {0}
        assert {machine_of(job) for job in store.jobs()} == {"machine-1", "machine-2"}
        # the end of a log is read here, though its file lies there
        job = store.jobs()[0]
        said = cluster.mucore("jobs", "--log", str(job.id))
        assert job.label in said.stdout and not list((store.home / "logs").glob("job-*"))
        done = cluster.cluster("scale", "1")
        assert done.returncode == 0 and [one["worker"] for one in cluster.status()] == [0]
        assert PASSWORD not in command_lines()
        down(cluster)
        assert store.workers() == []
        written = [*cluster.logs(), *tmp_path.glob("machine-*/logs/*"), tmp_path / "ray.log"]
        assert len(written) > 10
        assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]
        assert PASSWORD not in said.stdout + said.stderr + done.stdout + done.stderr


def test_a_comparison_launched_from_the_page_survives_all_that_dies(tmp_path, monkeypatch):
    """Two of three machines, the program that started the workers, and for a while the database."""
    chosen = {"dataset": "digits", "model": "mlp", "preset": "quick"}
    with services(tmp_path) as (shared, store, server), Machines(tmp_path, shared) as cluster:
        for name, value in shared.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MUCORE_HOME", str(store.home))
        for _ in range(3):
            cluster.add()
        up_by_a_driver_that_is_killed(cluster, 3)
        page = open_page("launch", **chosen, methods=["finetune", "ssd"], training_seeds="0-3")
        button(page, "Start 20 runs").click().run()
        assert not page.exception
        (comparison,) = store.comparisons()
        first = machine_of(wait_for(lambda: in_hand(store), LONG))
        cluster.remove(first)
        wait_for(lambda: in_hand(store, not_on=first), LONG)
        server.stop()
        threading.Event().wait(STOPPED_SECONDS)
        server.start()
        second = machine_of(wait_for(lambda: in_hand(store, not_on=first), LONG))
        cluster.remove(second)
        all_done(store, comparison.keys)
        queue = open_page("queue", comparison=str(comparison.id))
        assert not queue.exception
        down(cluster)
        data._open.clear()
        monkeypatch.delenv("MUCORE_STORE_URL")
        monkeypatch.delenv("MUCORE_ARTIFACTS")
        expected = alone(tmp_path, parse_grid(comparison.grid))
        assert {key: essence(store.get_result(key)) for key in comparison.keys} == expected


def test_a_training_outlives_its_machine_and_then_the_whole_cluster(tmp_path):
    """Each time it goes on from its checkpoint, which lies in a home that all machines share."""
    grid = small_grid(methods=("finetune", "ssd"))
    with services(tmp_path) as (shared, store, _):
        made = make_plan(grid, store)
        training = make_plan(small_grid(epochs=EPOCHS), store).specs[0].original()
        expected = alone(tmp_path, grid, training)
        with two_machines(tmp_path / "first", shared, tmp_path / "shared") as cluster:
            (job,) = store.enqueue([training])
            first = wait_for(lambda: in_hand(store, further=0.2), LONG)
            cluster.remove(machine_of(first))
            again = wait_for(lambda: in_hand(store, not_on=machine_of(first)), LONG)
            assert (again.id, again.attempts) == (job.id, 1)
            # one that began anew would be at its first epochs
            begun = first.progress - 1 / EPOCHS  # a checkpoint is of whole epochs
            assert again.progress >= begun
            cluster.remove("head")
            for process in cluster.processes():
                process.kill()
        assert not store.known([training.key])
        launch(made, store, name="while nobody computes")
        with two_machines(tmp_path / "second", shared, tmp_path / "shared") as cluster:
            keys = (*made.keys, training.key)
            all_done(store, keys)
            assert store.job(job.id).attempts == 2
            down(cluster)
        result = store.get_result(training.key)
        assert result is not None
        notes = " ".join(result.notes)
        (epoch,) = re.findall(r"after epoch (\d+) of", notes)
        assert int(epoch) >= EPOCHS * begun
        assert {key: essence(store.get_result(key)) for key in keys} == expected
