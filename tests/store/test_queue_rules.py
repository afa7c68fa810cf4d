"""What the queue promises while workers die, hang, come back, meet trouble that passes, or have
other code, on every database.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from builders import make_model, make_result, make_spec_row

from mucore.store import LostJob, Store, open_store, planned, poison
from mucore.store import schema as tables
from mucore.store.liveness import GRACE_SECONDS, Lookout, Moment, process_id
from mucore.store.rows import Job
from mucore.store.schema import now
from mucore.store.taking import FIRST_DELAY, LONGEST_DELAY

SPEC = make_spec_row()
ORIGINAL, RETRAIN = SPEC.original(), SPEC.retrained()
OTHER = make_spec_row(training_seed=1).original()
ELSEWHERE = "another-machine.abcdef-12-3.50"


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Clock:
    """The database's clock, which a test sets: far from that of this machine, and it stands still
    in between.
    """

    def __init__(self, store: Store) -> None:
        self.now = datetime(2020, 2, 29, 12, tzinfo=UTC)
        store.clock = lambda: sa.literal(self.now, tables.Time())
        store.moment = lambda connection: Moment(self.now)


@pytest.fixture
def clock(store: Store) -> Clock:
    return Clock(store)


@pytest.fixture
def hands(store: Store) -> Hands:
    hands = Hands()
    store.lookout.clock = hands
    return hands


def change(store: Store, job_id: int, **values: object) -> None:
    with store.write() as connection:
        connection.execute(sa.update(tables.job).where(tables.job.c.id == job_id).values(**values))


def database_now(store: Store):
    with store.read() as connection:
        return store.moment(connection).now


def beaten(store: Store, job_id: int, seconds: float) -> None:
    """The last heartbeat lies so many seconds in the past of the database's clock."""
    change(store, job_id, heartbeat=database_now(store) - timedelta(seconds=seconds))


def claimed(store: Store, worker: str) -> Job:
    job = store.claim(worker)
    assert job is not None
    return job


def die(store: Store, job: Job, *, step: str, progress: float, **values: Any) -> Job:
    """A worker of another machine takes the job and dies in `step`; the job as `reap` leaves it."""
    change(store, job.id, not_before=None)
    assert claimed(store, ELSEWHERE).id == job.id
    store.beat(job.id, step=step, progress=progress, **values)
    beaten(store, job.id, GRACE_SECONDS + 1)
    (found,) = store.reap()
    return found


# -- who is dead


def test_the_age_of_a_heartbeat_is_told_by_the_databases_clock(store: Store, clock: Clock) -> None:
    (job,) = store.enqueue([ORIGINAL])
    assert claimed(store, ELSEWHERE).heartbeat == clock.now
    clock.now += timedelta(seconds=GRACE_SECONDS - 1)
    assert store.reap() == []
    store.beat(job.id)  # the writer's clock has no part in it
    assert store.job(job.id).heartbeat == clock.now
    clock.now += timedelta(seconds=GRACE_SECONDS - 1)
    assert store.reap() == []
    clock.now += timedelta(seconds=1)
    assert [each.state for each in store.reap()] == ["queued"]


def test_a_heartbeat_from_the_future_is_found_dead_once_it_stands_still(
    store: Store, hands: Hands
) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.claim(ELSEWHERE)
    beaten(store, job.id, -3600)
    assert store.reap() == []
    hands.now = GRACE_SECONDS - 1
    assert store.reap() == []
    hands.now = GRACE_SECONDS
    assert [(each.id, each.state) for each in store.reap()] == [(job.id, "queued")]


def test_a_living_process_is_lost_when_its_heartbeat_stands_still(
    store: Store, hands: Hands
) -> None:
    """As one is that was stopped (SIGSTOP) or hangs."""
    store.register_worker("cpu", 1)
    (job,) = store.enqueue([ORIGINAL])
    store.claim(process_id())
    beaten(store, job.id, 3600)  # however old: a machine that slept is given its time
    assert store.reap() == [] and len(store.workers()) == 1
    hands.now = GRACE_SECONDS / 2
    store.beat(job.id)
    assert store.reap() == []
    hands.now = GRACE_SECONDS * 1.2
    assert store.reap() == []
    hands.now = GRACE_SECONDS * 1.6
    assert [each.id for each in store.reap()] == [job.id]
    assert store.workers() == []


def test_a_server_that_was_down_gives_everyone_time_to_beat_again() -> None:
    began = now()
    late, lookout = began + timedelta(seconds=GRACE_SECONDS - 1), Lookout()
    assert not lookout.lives("job 1", ELSEWHERE, began - timedelta(hours=1), Moment(late))
    assert lookout.lives("job 1", ELSEWHERE, began - timedelta(hours=1), Moment(late, began))
    assert not lookout.lives("job 1", ELSEWHERE, None, Moment(late, began))


def test_who_could_not_write_is_not_dead(store: Store, hands: Hands) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.claim(process_id())
    assert store.reap() == []
    hands.now = GRACE_SECONDS * 2
    store.lookout.forget()  # as after every error of the database
    assert store.reap() == [] and store.job(job.id).state == "running"


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
            lambda: store.beat(job.id, progress=0.9, worker_id=ELSEWHERE),
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


# -- unlucky jobs and jobs that kill


def test_deaths_at_new_places_count_for_nothing(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    for number in range(3 * poison.MOST):
        step = f"training: epoch {number // 3 + 1} of 30"
        found = die(store, job, step=step, progress=number % 3 / 3)
        assert (found.state, found.attempts, found.not_before) == ("queued", number + 1, None)


@pytest.mark.parametrize(("guilty", "deaths"), [(False, poison.MOST), (True, 4)])
def test_a_job_that_dies_at_one_place_again_and_again_is_lost(
    store: Store, guilty: bool, deaths: int
) -> None:
    job, retrain = store.enqueue([ORIGINAL, RETRAIN])
    pauses = []
    for number in range(1, deaths):
        found = die(store, job, step="measuring", progress=0.52, short_of_memory=guilty)
        assert (found.state, found.attempts) == ("queued", number)
        pauses.append(found.not_before)
    assert pauses[-1] is not None and (guilty or pauses[0] is None)
    lost = die(store, job, step="measuring", progress=0.57, short_of_memory=guilty)
    assert lost.state == "lost" and lost.attempts == deaths and lost.error is not None
    assert f"died {deaths} times" in lost.error and "measuring, 50 %" in lost.error
    assert store.job(retrain.id).state == "failed"
    again = store.retry(job.id)
    assert (again.attempts, again.deaths) == (0, {})


def test_getting_further_once_counts_anew(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    for _ in range(poison.MOST - 1):
        assert die(store, job, step="starting", progress=0.0).state == "queued"
    assert die(store, job, step="training: epoch 2 of 3", progress=0.4).state == "queued"
    for _ in range(poison.MOST - 1):
        assert die(store, job, step="starting", progress=0.0).state == "queued"
    assert die(store, job, step="starting", progress=0.0).state == "lost"


def test_the_stack_of_a_crash_in_its_log_speaks_against_a_job(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    log = store.home / "logs" / f"job-{job.id}.log"
    log.parent.mkdir()
    states = []
    for number in range(4):
        with log.open("a") as file:
            file.write(f"train {poison.ATTEMPT}{number})\n{poison.CRASH}: Segmentation fault\n")
        states.append(die(store, job, step="training", progress=0.1).state)
    assert states == ["queued"] * 3 + ["lost"]
    with log.open("a") as file:
        file.write(f"train {poison.ATTEMPT}5)\n")
    assert not poison.crashed(log)  # the last attempt was only killed


def test_a_job_whose_result_is_stored_is_done_however_often_it_died(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    change(store, job.id, attempts=poison.MOST_DEATHS)
    store.claim(ELSEWHERE)
    store.put_result(make_result(ORIGINAL))
    beaten(store, job.id, GRACE_SECONDS + 1)
    assert [(each.state, each.progress) for each in store.reap()] == [("done", 1.0)]


# -- trouble that passes


def test_a_released_job_waits_longer_each_time_and_others_go_first(
    store: Store, clock: Clock
) -> None:
    job, other = store.enqueue([ORIGINAL, OTHER])
    pauses = []
    for _ in range(12):
        taken = claimed(store, "w")
        assert (taken.id, taken.waits_for, taken.not_before) == (job.id, None, None)
        store.release(job.id, waits_for="free space on the disk")
        waiting = store.job(job.id)
        assert (waiting.state, waiting.attempts) == ("queued", 0)
        assert waiting.waits_for == "free space on the disk" and waiting.not_before is not None
        if not pauses:
            assert claimed(store, "w").id == other.id
        pauses.append((waiting.not_before - clock.now).total_seconds())
        clock.now = waiting.not_before - timedelta(milliseconds=1)
        assert store.claim("w") is None
        clock.now = waiting.not_before
    assert pauses == [min(FIRST_DELAY * 2**n, LONGEST_DELAY) for n in range(12)]
    claimed(store, "w")
    store.cancel(job.id)
    store.release(job.id, waits_for="free space on the disk")
    assert store.job(job.id).state == "cancelled"


# -- code


def test_a_run_is_left_to_workers_whose_code_gives_it_its_key(store: Store, monkeypatch) -> None:
    mine, other = store.enqueue([ORIGINAL, OTHER])
    analysis = store.enqueue_analysis("f" * 32, {}, "a map")
    monkeypatch.setattr(planned, "gives", lambda spec, key: key == OTHER.key and spec == other.spec)
    taken = [store.claim("w") for _ in range(3)]
    assert [job and job.id for job in taken] == [analysis.id, other.id, None]
    assert store.left_to_others() == 1 and store.job(mine.id).state == "queued"


def test_the_key_of_another_revision_is_not_given(monkeypatch) -> None:
    content, key = SPEC.model_dump(mode="json"), SPEC.key
    assert planned.gives(content, key)
    assert not planned.gives(content, ORIGINAL.key)
    assert not planned.gives({**content, "method": "a method of tomorrow"}, key)
    assert not planned.gives({**content, "field of tomorrow": 1}, key)
    monkeypatch.setattr("mucore.spec.run.ENGINE_REVISION", 99)
    assert not planned.gives(content, key)


@pytest.mark.parametrize("again", ["enqueue", "retry"])
def test_what_newer_code_planned_is_taken_once_this_code_is_asked_for_it(
    store: Store, monkeypatch, again: str
) -> None:
    def code(metrics: str) -> None:
        monkeypatch.setattr(planned, "revisions", lambda: {"methods": "m", "metrics": metrics})

    code("old")
    store.enqueue([OTHER])
    assert claimed(store, "old worker").key == OTHER.key
    code("new")
    original, retrain = store.enqueue([ORIGINAL, RETRAIN])
    if again == "retry":
        store.cancel(retrain.id)
    code("old")
    assert store.left_to_others() == 2 - (again == "retry") and store.claim("old worker") is None
    if again == "retry":
        store.retry(retrain.id)
    else:
        assert [job.id for job in store.enqueue([ORIGINAL, RETRAIN])] == [original.id, retrain.id]
    assert store.left_to_others() == 0
    store.finish_job(claimed(store, "old worker").id, "done", worker_id="old worker")
    store.put_result(make_result(ORIGINAL))
    assert claimed(store, "old worker").key == RETRAIN.key
    code("new")
    assert store.left_to_others() == 0


def test_a_worker_says_its_versions_and_why_it_is_idle(store: Store) -> None:
    worker = store.register_worker("cpu", 1, versions={"torch": "9.9"})
    assert {"mucore", "torch", "methods", "metrics"} <= set(worker.versions)
    counter = store.change_counter()
    store.beat_worker(worker.id, "idle", "Why.")
    assert [each.note for each in store.workers()] == ["Why."]
    assert store.change_counter() == counter + 1
    store.beat_worker(worker.id, "idle", "Why.")
    assert store.change_counter() == counter + 1
