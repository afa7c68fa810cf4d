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
STOPPED_SECONDS = 8.0  # how long the database is away
UP = ("--gpus-per-worker", "0", "--cpus-per-worker", "1")
EPOCHS = 80  # of a training that takes long enough to be hit
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


def alone(folder: Path, what: Grid | RunSpec) -> dict[str, dict]:
    """What one worker on one machine makes of a comparison or a run."""
    with open_store(folder / "alone") as store:
        if isinstance(what, Grid):
            made = make_plan(what, store)
            launch(made, store, name="alone")
            keys = [*made.keys]
        else:
            store.enqueue([what])
            keys = [what.key]
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
def one_machine(folder: Path, shared: dict[str, str], home: Path) -> Generator[Machines]:
    """A cluster with a worker on one machine, whose home others share."""
    with Machines(folder, shared, home=home) as cluster:
        cluster.add()
        done = cluster.cluster("up", *UP, "--workers", "1")
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


def test_a_comparison_launched_from_the_page_survives_all_that_dies(tmp_path, monkeypatch):
    """The program that started the workers, one of three machines, and for a while the database;
    no run is computed twice, and nobody writes the database's password down.
    """
    chosen = {"dataset": "digits", "model": "mlp", "preset": "quick"}
    with services(tmp_path) as (shared, store, server), Machines(tmp_path, shared) as cluster:
        for name, value in shared.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MUCORE_HOME", str(store.home))
        for _ in range(3):
            cluster.add()
        up_by_a_driver_that_is_killed(cluster, 4)
        wait_for(lambda: len(store.workers()) == 3, LONG)
        *working, last = cluster.status()
        # each machine has one CPU, so the last worker waits, and is said to
        hosts = {one["report"]["host"] for one in working}
        assert hosts == {"machine-1", "machine-2", "machine-3"}
        assert all(one["report"]["protected"] for one in working)
        assert last["report"] is None and last["problem"] == ""
        assert cluster.cluster("up", *UP, "--workers", "1").returncode == 2  # they are there
        page = open_page("launch", **chosen, methods=["finetune", "ssd"], training_seeds="0-2")
        button(page, "Start 15 runs").click().run()
        assert not page.exception
        (comparison,) = store.comparisons()
        first = machine_of(wait_for(lambda: in_hand(store), LONG))
        cluster.remove(first)
        wait_for(lambda: in_hand(store, not_on=first), LONG)
        server.stop()
        threading.Event().wait(STOPPED_SECONDS)
        server.start()
        all_done(store, comparison.keys)
        assert len({machine_of(job) for job in store.jobs()}) > 1
        # the end of a log is read here, though its file lies there
        job = next(job for job in store.jobs() if machine_of(job) != first)
        said = cluster.mucore("jobs", "--log", str(job.id))
        assert job.label in said.stdout and not list((store.home / "logs").glob("job-*"))
        done = cluster.cluster("scale", "1")
        assert done.returncode == 0 and len(cluster.status()) == 1
        assert PASSWORD not in command_lines()
        down(cluster)
        assert store.workers() == []
        written = [*cluster.logs(), *tmp_path.glob("machine-*/logs/*"), tmp_path / "ray.log"]
        assert len(written) > 10
        assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]
        assert PASSWORD not in said.stdout + said.stderr + done.stdout + done.stderr
        data._open.clear()
        monkeypatch.delenv("MUCORE_STORE_URL")
        monkeypatch.delenv("MUCORE_ARTIFACTS")
        expected = alone(tmp_path, parse_grid(comparison.grid))
        assert {key: essence(store.get_result(key)) for key in comparison.keys} == expected


def test_a_training_outlives_the_whole_cluster(tmp_path):
    """It goes on from its checkpoint, which lies in a home that all machines share."""
    with services(tmp_path) as (shared, store, _):
        training = make_plan(small_grid(epochs=EPOCHS), store).specs[0].original()
        expected = alone(tmp_path, training)
        with one_machine(tmp_path / "first", shared, tmp_path / "shared") as cluster:
            (job,) = store.enqueue([training])
            first = wait_for(lambda: in_hand(store, further=0.2), LONG)
            cluster.remove("head")
            for process in cluster.processes():
                process.kill()
        assert not store.known([training.key])
        with one_machine(tmp_path / "second", shared, tmp_path / "shared") as cluster:
            all_done(store, (training.key,))
            assert store.job(job.id).attempts == 1
            down(cluster)
        result = store.get_result(training.key)
        assert result is not None
        (epoch,) = re.findall(r"after epoch (\d+) of", " ".join(result.notes))
        assert int(epoch) >= EPOCHS * first.progress - 1  # a checkpoint is of whole epochs
        assert {training.key: essence(result)} == expected
