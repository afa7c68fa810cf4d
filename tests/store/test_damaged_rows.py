"""Rows that somebody or something damaged are named and left out; they hold up nobody."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from builders import make_result, make_spec_row

from mucore.store import Store
from mucore.store import schema as tables

SPEC = make_spec_row()
ORIGINAL, OTHER = SPEC.original(), make_spec_row(training_seed=1).original()


def damage(store: Store, table: sa.Table, row: sa.ColumnElement[bool], **values: Any) -> None:
    with store.write() as connection:
        connection.execute(sa.update(table).where(row).values(values))


@pytest.mark.parametrize(
    ("column", "value"),
    [*(("spec", "{"), ("spec", '{"dataset": 1}'), ("needs", "["), ("losses", "{}"))],
)
def test_a_damaged_job_is_failed_and_the_queue_goes_on(
    store: Store, caplog: pytest.LogCaptureFixture, column: str, value: str
) -> None:
    broken, waiting, other = store.enqueue([ORIGINAL, SPEC.retrained(), OTHER])
    damage(store, tables.job, tables.job.c.id == broken.id, **{column: value})
    assert [job.id for job in store.jobs()] == [waiting.id, other.id]
    assert f"job {broken.id}:" in caplog.text
    taken = store.claim("w")
    assert taken is not None and taken.id == other.id
    assert store.job(waiting.id).state == "failed"
    with store.read() as connection:
        table = tables.job
        row = connection.execute(sa.select(table).where(table.c.id == broken.id)).one()
    assert row.state == "failed" and "damaged" in row.error
    lost = column in ("spec", "needs")  # nothing can stand in for what it computes
    assert store.damaged_jobs() == ([broken.id] if lost else [])
    assert (broken.id in [job.id for job in store.jobs()]) is not lost
    with store.write() as connection:
        connection.execute(sa.delete(tables.job).where(tables.job.c.id == broken.id))
    assert store.damaged_jobs() == []


@pytest.mark.parametrize(
    ("column", "value"), [*(("record", "{"), ("record", '{"spec": 5}'), ("metric_names", "5"))]
)
def test_damaged_results_are_left_out(
    store: Store, caplog: pytest.LogCaptureFixture, column: str, value: str
) -> None:
    broken, whole = make_result(training_seed=0), make_result(training_seed=1)
    store.put_results([broken, whole])
    damage(store, tables.result, tables.result.c.key == broken.key, **{column: value})
    assert store.results() == [whole] and store.get_result(broken.key) is None
    assert caplog.text.count(f"result {broken.key}:") == 1
    assert [each.key for each in store.results(metrics=[], brief=True)][-1] == whole.key
    assert list(store.remarks()) == [broken.key, whole.key]
    if column != "record":
        assert set(store.metric_values()["key"]) == {whole.key}
    assert store.damaged_results() == [broken.key]
    store.put_result(broken)  # computed again
    assert store.results() == [broken, whole] and store.damaged_results() == []


# SQLite alone takes a text where a time should be, and makes a number of this one.
NO_TIME = "12"


@pytest.fixture
def loose(store: Store) -> Store:
    if not store.sqlite:
        pytest.skip("Postgres holds times alone")
    return store


@pytest.mark.parametrize("column", ["queued", "started", "finished", "heartbeat"])
def test_a_damaged_time_spoils_its_job_alone(
    loose: Store, caplog: pytest.LogCaptureFixture, column: str
) -> None:
    broken, other = loose.enqueue([ORIGINAL, OTHER])
    damage(
        loose,
        tables.job,
        tables.job.c.id == broken.id,
        **{column: sa.literal_column(repr(NO_TIME))},
    )
    assert [job.id for job in loose.jobs()] == [other.id]
    assert f"job {broken.id}:" in caplog.text and NO_TIME in caplog.text
    assert loose.damaged_jobs() == [broken.id]
    taken = loose.claim("w")
    assert taken is not None and taken.id == other.id
    # what it computes is whole, so it is listed again with the reason, and can be retried
    assert loose.damaged_jobs() == []
    failed, _ = loose.jobs()
    assert (failed.id, failed.state) == (broken.id, "failed") and NO_TIME in str(failed.error)
    assert loose.retry(broken.id).key == broken.key
