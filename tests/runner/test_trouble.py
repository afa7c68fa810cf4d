"""Workers meet trouble that passes: no run fails of it, none is computed twice."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sqlite3
import sys
import threading
import time

import psutil
import pytest
from launching import small_grid
from sqlalchemy import event
from waiting import wait_for

from mucore.runner import jobs as jobs_module
from mucore.runner.plan import launch, make_plan
from mucore.runner.spawn import start_worker
from mucore.runner.worker import work
from mucore.store import Store, claims, database, open_store, workers
from mucore.store.transient_errors import DISK, LOCK

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@pytest.fixture
def impatient(monkeypatch):
    """What takes minutes takes a moment."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(claims, "RETRY_SECONDS", 0.2)
    monkeypatch.setattr(jobs_module, "PATIENCE_SECONDS", 0.5)


@pytest.fixture
def store(tmp_path, impatient):
    with open_store(tmp_path / "home") as opened:
        yield opened


def planned(store: Store, *, epochs: int = 2, seeds: int = 2):
    made = make_plan(small_grid(epochs=epochs, seeds=seeds), store)
    launch(made, store, name="under fire")
    return made


@contextlib.contextmanager
def worker_thread(store: Store, made):
    events: list[tuple[str, int]] = []
    thread = threading.Thread(
        target=work,
        args=(store,),
        kwargs={
            "device": "cpu",
            "only": set(made.keys),
            "until_done": True,
            "on_event": lambda what, job: events.append((what, job.id)),
        },
    )
    thread.start()
    yield events
    thread.join(timeout=120)
    assert not thread.is_alive()


def all_done(store: Store, made) -> None:
    jobs = store.jobs()
    assert {job.state for job in jobs} == {"done"}, [(job.label, job.error) for job in jobs]
    assert len(jobs) == len(made.keys) and {job.deaths for job in jobs} == {0}
    assert store.known(made.keys) == set(made.keys)
    assert store.workers() == []


def test_a_lock_held_by_another_program_fails_no_run(store, caplog):
    made = planned(store)
    other = sqlite3.connect(store.home / "store.sqlite", isolation_level=None)
    with contextlib.closing(other), worker_thread(store, made) as events:
        wait_for(lambda: any(what == "done" for what, _ in events))
        other.execute("BEGIN IMMEDIATE")
        wait_for(lambda: any(LOCK in record.getMessage() for record in caplog.records))
        time.sleep(1.0)  # longer than a run waits in hand
        other.execute("ROLLBACK")
    all_done(store, made)
    done = [number for what, number in events if what == "done"]
    assert len(done) == len(set(done)) == len(made.keys)


@pytest.mark.slow
def test_a_full_disk_fails_no_run_and_is_told(store, monkeypatch):
    made = planned(store)
    full = threading.Event()
    write = store.artifacts.storage.write

    @event.listens_for(store._engine, "checkout")
    def limited(connection, *_):  # what SQLite may grow to, at least what it has
        connection.execute(f"PRAGMA max_page_count={1 if full.is_set() else 2**30}")

    def put(name, content):
        if full.is_set():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(name, content)

    monkeypatch.setattr(store.artifacts.storage, "write", put)
    full.set()
    with worker_thread(store, made):
        waiting = wait_for(lambda: next((job for job in store.jobs() if job.waits_for), None))
        assert (waiting.state, waiting.waits_for, waiting.deaths) == ("queued", DISK, 0)
        assert waiting.not_before is not None
        full.clear()
    all_done(store, made)


@posix
@pytest.mark.slow
def test_a_stopped_worker_is_lost_and_drops_its_work_when_it_wakes(store, monkeypatch):
    """As by SIGSTOP, a debugger, or a machine that swaps."""
    made = planned(store, epochs=30, seeds=1)
    process = start_worker(store, device="cpu", threads=1)
    job = wait_for(
        lambda: next((each for each in store.jobs(states=["running"]) if each.progress > 0), None)
    )

    def stopped() -> bool:
        """Where it holds no lock, which would keep others out as long as it sleeps."""
        os.kill(process.pid, signal.SIGSTOP)
        wait_for(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
        other = sqlite3.connect(store.home / "store.sqlite", timeout=0.1, isolation_level=None)
        with contextlib.closing(other):
            try:
                other.execute("BEGIN IMMEDIATE")
                return True
            except sqlite3.OperationalError:
                os.kill(process.pid, signal.SIGCONT)
                return False

    wait_for(stopped)
    assert store.reap() == [] and len(store.workers()) == 1
    monkeypatch.setattr(workers, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(workers, "RECHECK_SECONDS", 0.0)
    assert [each.id for each in store.reap()] == [job.id] and store.workers() == []
    monkeypatch.undo()
    work(store, device="cpu", only={job.key}, until_done=True)
    result = store.get_result(job.key)
    assert result is not None and store.job(job.id).state == "done"
    os.kill(process.pid, signal.SIGCONT)
    # it goes on with what else there is, and has stored nothing of what it had in hand
    wait_for(lambda: store.known(made.keys) == set(made.keys))
    assert store.get_result(job.key) == result
    log = (store.home / "logs" / f"job-{job.id}.log").read_text()
    assert log.count("took this job over") == 1
    process.terminate()
    assert process.wait(timeout=30) == 0
    assert {job.state for job in store.jobs()} == {"done"}
