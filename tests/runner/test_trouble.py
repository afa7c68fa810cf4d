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

from mucore import catalog
from mucore.runner import jobs as jobs_module
from mucore.runner.executors import start_worker
from mucore.runner.plan import launch, make_plan
from mucore.runner.worker import work
from mucore.store import Store, engine, open_store, taking
from mucore.store.liveness import GRACE_SECONDS
from mucore.store.trouble import DISK, LOCK

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


@pytest.fixture
def impatient(monkeypatch):
    """What takes minutes takes a moment."""
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.1)
    monkeypatch.setattr(taking, "FIRST_DELAY", 0.2)
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
    assert len(jobs) == len(made.keys) and {job.attempts for job in jobs} == {0}
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
    write = store.artifacts.place.write

    @event.listens_for(store._engine, "checkout")
    def limited(connection, *_):  # what SQLite may grow to, at least what it has
        connection.execute(f"PRAGMA max_page_count={1 if full.is_set() else 2**30}")

    def put(name, content):
        if full.is_set():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(name, content)

    monkeypatch.setattr(store.artifacts.place, "write", put)
    full.set()
    with worker_thread(store, made):
        waiting = wait_for(lambda: next((job for job in store.jobs() if job.waits_for), None))
        assert (waiting.state, waiting.waits_for, waiting.attempts) == ("queued", DISK, 0)
        assert waiting.not_before is not None
        full.clear()
    all_done(store, made)


@posix
@pytest.mark.slow
def test_a_stopped_worker_is_lost_and_drops_its_work_when_it_wakes(store):
    """As by SIGSTOP, a debugger, or a machine that swaps."""
    now = [0.0]
    store.lookout.clock = lambda: now[0]
    made = planned(store, epochs=30, seeds=1)
    process = start_worker(store, device="cpu", threads=1)
    job = wait_for(
        lambda: next((each for each in store.jobs(states=["running"]) if each.progress > 0), None)
    )
    os.kill(process.pid, signal.SIGSTOP)
    wait_for(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
    assert store.reap() == [] and len(store.workers()) == 1
    now[0] = GRACE_SECONDS
    assert [each.id for each in store.reap()] == [job.id] and store.workers() == []
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


@posix
@pytest.mark.slow
def test_what_killed_workers_compute_is_what_an_undisturbed_one_does(store, tmp_path):
    with open_store(tmp_path / "undisturbed") as other:
        work(other, device="cpu", only=set(planned(other, epochs=20).keys), until_done=True)
        undisturbed = {each.key: each for each in other.results()}
    with store.write() as connection:  # who writes or removes a result is noted
        connection.exec_driver_sql("CREATE TABLE noted (key TEXT, change INTEGER)")
        for event_, row, change in (("INSERT", "NEW", 1), ("DELETE", "OLD", -1)):
            connection.exec_driver_sql(
                f"CREATE TRIGGER noted_{event_} AFTER {event_} ON result BEGIN "
                f"INSERT INTO noted VALUES ({row}.key, {change}); END"
            )
    made = planned(store, epochs=20)
    for pause in (0.0, 0.5):
        process = start_worker(store, device="cpu", threads=1)
        wait_for(lambda: store.jobs(states=["running"]))
        time.sleep(pause)
        process.kill()
        process.wait()
        assert len(store.reap()) <= 1  # one run is lost at most, and is taken up again
    work(store, device="cpu", only=set(made.keys), until_done=True)
    assert {job.state for job in store.jobs()} == {"done"} and store.workers() == []
    with store.read() as connection:
        noted = connection.exec_driver_sql("SELECT key, change FROM noted").all()
    assert sorted(map(tuple, noted)) == sorted((key, 1) for key in made.keys)
    for result in store.results(keys=list(made.keys)):
        alone = undisturbed[result.key]
        assert (result.weights, result.outputs) == (alone.weights, alone.outputs)
        for name, each in result.metrics.items():
            if catalog.metric(name).group != "cost":
                assert (each.value, each.gap) == (
                    alone.metrics[name].value,
                    alone.metrics[name].gap,
                )
