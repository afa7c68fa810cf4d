"""Rows that somebody or something damaged are named and left out; they hold up nobody."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from builders import make_result, make_spec_row

from mucore.store import Store
from mucore.store import schema as tables

SPEC = make_spec_row()
ORIGINAL, OTHER = SPEC.original(), make_spec_row(training_seed=1).original()


def damage(store: Store, table: sa.Table, row: sa.ColumnElement[bool], **values: str) -> None:
    with store.write() as connection:
        connection.execute(sa.update(table).where(row).values(values))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("spec", value) for value in ("{", "[" * 100_000, "{}", "5", '{"dataset": 1}')),
        *(("needs", "["), ("needs", "5"), ("losses", "{}"), ("losses", ""), ("deaths", "[]")),
    ],
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


def test_a_dead_worker_is_found_though_the_deaths_cannot_be_read(store: Store) -> None:
    (job,) = store.enqueue([ORIGINAL])
    store.claim("no machine")
    damage(store, tables.job, tables.job.c.id == job.id, deaths="[")
    with store.write() as connection:
        connection.execute(sa.update(tables.job).values(heartbeat=None))
    (found,) = store.reap()
    assert (found.state, found.attempts, list(found.deaths.values())) == ("queued", 1, [1])


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("record", "{"), ("record", "{}"), ("record", '{"spec": 5}')),
        *(("metric_names", "5"), ("metric_numbers", "[]"), ("metric_numbers", "{")),
    ],
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
    store.put_result(broken)  # computed again
    assert store.results() == [broken, whole]


def test_damaged_settings_are_left_out_of_tables(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = make_result(training_seed=0), make_result(training_seed=1)
    store.put_results([broken, whole])
    damage(store, tables.result, tables.result.c.key == broken.key, parameters="{")
    assert list(store.summaries()["key"]) == [whole.key]
    assert f"result {broken.key}:" in caplog.text
    if store.sqlite:  # which takes a text where a number should be
        damage(store, tables.result, tables.result.c.key == whole.key, training_seed="x")
        assert store.summaries().empty
