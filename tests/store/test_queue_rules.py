"""What the queue promises while workers die, hang, come back and meet what may pass, on every
database.
"""

from __future__ import annotations

import threading
from datetime import timedelta

import psutil
import pytest
import sqlalchemy as sa
from builders import make_model, make_result, make_spec_row

from mucore.errors import MucoreError
from mucore.store import LostJob, Store, open_store, workers
from mucore.store import schema as tables
from mucore.store.claims import RETRY_SECONDS
from mucore.store.records import Job
from mucore.store.transient_errors import DISK, awaited
from mucore.store.workers import GRACE_SECONDS, MOST_DEATHS, process_id, process_lives

SPEC = make_spec_row()
ORIGINAL, RETRAIN = SPEC.original(), SPEC.retrained()
OTHER = make_spec_row(training_seed=1).original()
ELSEWHERE = "another-machine.abcdef-12-3.50"


def change(store: Store, job_id: int, **values: object) -> None:
    with store.write() as connection:
        connection.execute(sa.update(tables.job).where(tables.job.c.id == job_id).values(**values))


def beaten(store: Store, job_id: int, seconds: float) -> None:
    """The last heartbeat lies so many seconds in the past of the database's clock."""
    with store.read() as connection:
        time = store.time(connection)
    change(store, job_id, heartbeat=time - timedelta(seconds=seconds))


def claimed(store: Store, worker: str) -> Job:
    job = store.claim(worker)
    assert job is not None
    return job


def die(store: Store, job: Job, *, checkpoint: bool = False) -> Job:
    """A worker of another machine takes the job and dies; the job as `reap` leaves it."""
    assert claimed(store, ELSEWHERE).id == job.id
    store.beat(job.id, ELSEWHERE, step="measuring", checkpoint=checkpoint)
    beaten(store, job.id, GRACE_SECONDS + 1)
    (found,) = store.reap()
    return found


# -- who is dead


@pytest.mark.parametrize("worker", ["here", ELSEWHERE])
def test_a_heartbeat_that_has_run_out_costs_the_job(store: Store, worker: str) -> None:
    """Also that of a process of this machine that lives: it was stopped, or hangs."""
    worker = process_id() if worker == "here" else worker
    (job,) = store.enqueue([ORIGINAL])
    claimed(store, worker)
    beaten(store, job.id, GRACE_SECONDS - 5)
    assert store.reap() == []
    beaten(store, job.id, GRACE_SECONDS + 5)
    store.beat(job.id, worker)
    assert store.reap() == []
    beaten(store, job.id, GRACE_SECONDS + 5)
    assert [(each.id, each.state, each.deaths) for each in store.reap()] == [(job.id, "queued", 1)]


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_an_old_heartbeat_is_looked_at_twice(store: Store, monkeypatch, seconds: int) -> None:
    """After a machine slept, a server was down or its clock was set, all are until they beat."""
    monkeypatch.setattr(workers, "RECHECK_SECONDS", 10.0)
    now = [100.0]
    monkeypatch.setattr(workers.time, "monotonic", lambda: now[0])
    (job,) = store.enqueue([ORIGINAL])
    claimed(store, ELSEWHERE)
    beaten(store, job.id, seconds)
    assert store.reap() == []
    now[0] += 9.0
    assert store.reap() == []
    now[0] += 1.0
    assert [each.id for each in store.reap()] == [job.id]


def test_a_clock_that_is_set_kills_no_worker(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, began = store.register_worker("cpu", 1).id, psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: began(process) + 3600)
    assert [process_lives(each) for each in (worker, f"{worker}0")] == [True, False]
    assert [each.id for each in store.workers()] == [worker]


# -- what a late worker may still do


def test_a_worker_that_lost_its_job_stores_nothing(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.claim(ELSEWHERE)
    model = make_model(ORIGINAL.model_key)
    beaten(store, job.id, GRACE_SECONDS + 1)
    store.reap()
    taken = store.claim("another worker")
    assert taken is not None and taken.id == job.id
    with store.working_on(job.id, ELSEWHERE):
        for late in (
            lambda: store.put_result(make_result(ORIGINAL, status="diverged")),
            lambda: store.put_model(model),
            lambda: store.beat(job.id, ELSEWHERE, progress=0.9),
            lambda: store.release(job.id, worker_id=ELSEWHERE),
            lambda: store.finish_job(job.id, "failed", worker_id=ELSEWHERE),
        ):
            with pytest.raises(LostJob):
                late()
    assert store.known([ORIGINAL.key]) == set() and store.get_model(ORIGINAL.model_key) is None
    with store.working_on(job.id, "another worker"):
        store.put_result(make_result(ORIGINAL))
        store.put_model(model)
    store.finish_job(job.id, "done", worker_id="another worker")
    stored = store.get_result(ORIGINAL.key)
    assert stored is not None and stored.status == "ok"


def test_only_the_thread_and_the_store_that_work_for_a_job_are_held_to_it(
    store: Store, tmp_path
) -> None:
    with store.working_on(12345, "nobody"), open_store(tmp_path / "other") as other:
        other.put_result(make_result())
        thread = threading.Thread(target=store.put_result, args=(make_result(),))
        thread.start()
        thread.join()
        with pytest.raises(LostJob):
            store.put_result(make_result(training_seed=5))
    assert len(store.results()) == len(store.results(keys=[SPEC.key])) == 1


# -- jobs that kill their workers


def test_a_job_is_lost_after_three_deaths_without_a_new_checkpoint(store: Store) -> None:
    job, retrain = store.enqueue([ORIGINAL, RETRAIN])
    for number in range(3 * MOST_DEATHS):
        found = die(store, job, checkpoint=True)
        assert (found.state, found.deaths) == ("queued", 1), number
    assert [die(store, job).deaths for _ in range(MOST_DEATHS - 2)] == [2]
    lost = die(store, job)
    assert (lost.state, lost.deaths) == ("lost", MOST_DEATHS) and lost.error is not None
    assert "died 3 times" in lost.error and "measuring" in lost.error
    assert store.job(retrain.id).state == "failed"
    assert store.retry(job.id).deaths == 0


def test_a_job_whose_result_is_stored_is_done_however_often_it_died(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    change(store, job.id, deaths=MOST_DEATHS)
    store.claim(ELSEWHERE)
    store.put_result(make_result(ORIGINAL))
    beaten(store, job.id, GRACE_SECONDS + 1)
    assert [(each.state, each.progress) for each in store.reap()] == [("done", 1.0)]


def test_an_error_that_is_no_text_ends_its_job_alone(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    claimed(store, "w")
    store.beat(job.id, "w", step="\udc80")
    store.finish_job(job.id, "failed", error="bad \udcff\0", worker_id="w")
    assert (store.job(job.id).state, store.job(job.id).error) == ("failed", "bad ?")


# -- what may pass


def test_words_of_an_own_methods_error_are_not_taken_for_a_full_disk() -> None:
    assert awaited(MucoreError("It raised RuntimeError: the disk is full of errors")) is None
    assert awaited(RuntimeError("write: No space left on device")) == DISK


def test_a_released_job_waits_and_others_go_first(store: Store) -> None:
    job, other = store.enqueue([ORIGINAL, OTHER])
    assert claimed(store, "w").id == job.id
    store.release(job.id, waits_for="free space on the disk", worker_id="w")
    waiting = store.job(job.id)
    assert (waiting.state, waiting.deaths) == ("queued", 0)
    assert waiting.waits_for == "free space on the disk" and waiting.not_before is not None
    assert claimed(store, "w").id == other.id and store.claim("w") is None
    change(store, job.id, not_before=waiting.not_before - timedelta(seconds=RETRY_SECONDS + 1))
    taken = claimed(store, "w")
    assert (taken.id, taken.waits_for, taken.not_before) == (job.id, None, None)
    store.cancel(job.id)
    store.release(job.id, waits_for="free space on the disk", worker_id="w")
    assert store.job(job.id).state == "cancelled"
