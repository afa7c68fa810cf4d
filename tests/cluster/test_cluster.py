"""Workers on a Ray cluster of machines that share nothing but Postgres and an S3 server: every run
is computed once, to the bit as one worker would, whatever dies meanwhile.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest
from launching import essence
from machines import Machines
from pages import button, open_page
from postgres import Server, running_server
from s3 import running_s3
from waiting import wait_for

from dashboard import data
from mucore.runner.grid import Grid, parse_grid
from mucore.runner.plan import launch, make_plan
from mucore.runner.worker import work
from mucore.store import Store, open_store
from mucore.store.records import Job

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PASSWORD = "sesame-open"
STOPPED_SECONDS = 8.0  # how long the database is away
UP = ("--gpus-per-worker", "0", "--cpus-per-worker", "1")
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


def alone(folder: Path, grid: Grid) -> dict[str, dict]:
    """What one worker on one machine makes of a comparison."""
    with open_store(folder / "alone") as store:
        made = make_plan(grid, store)
        launch(made, store, name="alone")
        work(store, device="cpu", only=made.keys, until_done=True)
        return {key: essence(store.get_result(key)) for key in made.keys}


def up_by_a_driver_that_is_killed(cluster: Machines, workers: int) -> None:
    """`cluster up`, killed while workers start, or, where it was faster, ended."""
    driver = cluster.popen("up", *UP, "--workers", str(workers))
    wait_for(lambda: cluster.processes() or None, LONG)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    assert all(one["state"] for one in cluster.status())  # as a new process finds them


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


def in_hand(store: Store, *, not_on: str = "") -> Job | None:
    """A run that has come some way."""
    return next(
        (
            job
            for job in store.jobs(states=["running"])
            if job.progress > 0 and machine_of(job) != not_on
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
    """The program that started the workers, one of two machines, and for a while the database;
    no run is computed twice, and nobody writes the database's password down.
    """
    chosen = {"dataset": "digits", "model": "mlp", "preset": "quick"}
    with services(tmp_path) as (shared, store, server), Machines(tmp_path, shared) as cluster:
        for name, value in shared.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MUCORE_HOME", str(store.home))
        for _ in range(2):
            cluster.add()
        up_by_a_driver_that_is_killed(cluster, 3)
        wait_for(lambda: len(store.workers()) == 2, LONG)
        *working, last = cluster.status()
        # each machine has one CPU, so the last worker waits, and is said to
        hosts = {one["report"]["host"] for one in working}
        assert hosts == {"machine-1", "machine-2"}
        assert all(one["report"]["protected"] for one in working)
        assert last["report"] is None and last["problem"] == ""
        assert cluster.cluster("up", *UP, "--workers", "1").returncode == 2  # they are there
        page = open_page("launch", **chosen, methods=["finetune", "ssd"], training_seeds="0-1")
        button(page, "Start 10 runs").click().run()
        assert not page.exception
        (comparison,) = store.comparisons()
        first = machine_of(wait_for(lambda: in_hand(store), LONG))
        cluster.remove(first)
        wait_for(lambda: in_hand(store, not_on=first), LONG)
        server.stop()
        threading.Event().wait(STOPPED_SECONDS)
        server.start()
        all_done(store, comparison.keys)
        # the end of a log is read here, though its file lies there
        job = next(job for job in store.jobs() if machine_of(job) != first)
        said = cluster.mucore("jobs", "--log", str(job.id))
        assert job.label in said.stdout and not list((store.home / "logs").glob("job-*"))
        done = cluster.cluster("scale", "1")
        assert done.returncode == 0 and len(cluster.status()) == 1
        assert PASSWORD not in command_lines()
        down(cluster)
        wait_for(lambda: not store.workers(), LONG)  # a killed one's beat is looked at twice
        written = [*cluster.logs(), *tmp_path.glob("machine-*/logs/*"), tmp_path / "ray.log"]
        assert len(written) > 10
        assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]
        assert PASSWORD not in said.stdout + said.stderr + done.stdout + done.stderr
        data._open.clear()
        monkeypatch.delenv("MUCORE_STORE_URL")
        monkeypatch.delenv("MUCORE_ARTIFACTS")
        expected = alone(tmp_path, parse_grid(comparison.grid))
        assert {key: essence(store.get_result(key)) for key in comparison.keys} == expected
