"""A search as a job: queued once, worked on by a process of its own, cancelled, taken up again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import small_grid
from waiting import wait_for

from mucore.runner import job_process
from mucore.runner.heartbeat import Heartbeat
from mucore.runner.worker import work
from mucore.store import Store, open_store
from mucore.store.workers import process_id
from mucore.tuning import jobs
from mucore.tuning.plan import FOLDER, wish_of
from mucore.tuning.study import studies_in

GRID = small_grid(epochs=3, scenarios=["class_wise"], methods=["finetune", "ssd"])
WISH, _ = wish_of(GRID, trials=3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "home") as store:
        yield store
    for process in job_process.STARTED:
        process.wait(60)


def test_a_search_is_queued_once_and_taken_by_no_worker(store):
    job = jobs.enqueue(store, GRID, WISH)
    assert (job.kind, job.state) == ("search", "queued")
    assert jobs.enqueue(store, GRID, WISH) == job
    more, _ = wish_of(GRID, trials=4)
    assert jobs.enqueue(store, GRID, more).key != job.key
    work(store, device="cpu", until_done=True)  # it does not wait for searches either
    assert store.job(job.id).state == "queued" and not list(store.home.rglob("*.json"))


@pytest.mark.slow
def test_a_cancelled_one_keeps_its_trials_and_goes_on_from_there(store, monkeypatch):
    job = jobs.enqueue(store, GRID, WISH)
    share, compute = jobs.share, jobs.compute
    heartbeats: list[Heartbeat] = []

    def computed(job, store, heartbeat, **named):
        heartbeats.append(heartbeat)
        compute(job, store, heartbeat, **named)

    def cancelled(store, wish):
        if (part := share(store, wish)) > 0:
            store.cancel(job.id)
            wait_for(heartbeats[0].cancelled)
        return part

    monkeypatch.setattr(jobs, "compute", computed)
    monkeypatch.setattr(jobs, "share", cancelled)
    assert jobs.work_on(store, job, device="cpu").state == "cancelled"
    monkeypatch.undo()
    before = [study.trials for study in studies_in(store.home / FOLDER)]
    assert before and before[0]
    assert jobs.work_on(store, store.retry(job.id), device="cpu").state == "done"
    after = [study.trials for study in studies_in(store.home / FOLDER)]
    assert after[0][: len(before[0])] == before[0]


@pytest.mark.slow
def test_a_process_of_its_own_searches_and_another_goes_on_when_it_was_killed(store):
    job = jobs.start(store, GRID, WISH)
    wait_for(lambda: any((store.home / FOLDER).glob("*/finetune.json")), 120)
    worker = store.job(job.id).worker
    assert worker is not None and worker != process_id()
    os.kill(job_process.STARTED[-1].pid, signal.SIGKILL)
    job_process.STARTED[-1].wait()
    wait_for(lambda: store.reap() or None)
    assert store.job(job.id).state == "queued"
    assert jobs.work_on(store, store.job(job.id), device="cpu").state == "done"
    assert all(study.finished(3) for study in studies_in(store.home / FOLDER))
