"""How jobs end that nobody runs: their result exists by now, or a run that they need will have
none.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import titles
from mucore.store import schema
from mucore.store.rows import ENDED_WITHOUT_RESULT
from mucore.store.schema import now


def is_due(connection: Connection) -> bool:
    """Whether `end_waiting_jobs` would end anything."""
    table = schema.job
    ended = sa.select(table.c.id).where(table.c.state == "queued", _has_result(table))
    return any(
        connection.execute(query.limit(1)).first() is not None for query in (ended, _stuck())
    )


def end_waiting_jobs(connection: Connection) -> None:
    """End queued jobs that need not or cannot run any more.

    What waits for a cancelled run is cancelled, also while that one is still coming to its end;
    what waits for one that failed or was lost is failed. Needs are listed with those of needs,
    so one pass is enough.
    """
    table = schema.job
    connection.execute(
        sa.update(table).where(table.c.state == "queued", _has_result(table)).values(done())
    )
    # the last one kept is the first need
    ended = {row.id: _blocked(row) for row in connection.execute(_stuck())}
    for number, values in ended.items():
        connection.execute(sa.update(table).where(table.c.id == number).values(values))


def done() -> dict[str, Any]:
    return {"state": "done", "progress": 1.0, "step": "", "finished": now()}


def cancelled() -> dict[str, Any]:
    return {"state": "cancelled", "finished": now()}


def _stuck() -> sa.Select[*tuple[Any, ...]]:
    """Queued jobs that need a run which will have no result, with that run's job."""
    table, need, other = schema.job, schema.job_need, schema.job.alias()
    newer = schema.job.alias()
    newest = (
        sa.select(sa.func.max(newer.c.id))
        .where(newer.c.key == need.c.key)
        .correlate(need)
        .scalar_subquery()
    )
    return (
        sa.select(table.c.id, other.c.spec, other.c.state, other.c.error, other.c.cancel_requested)
        .join(need, need.c.job == table.c.id)
        .join(other, other.c.id == newest)
        .where(table.c.state == "queued")
        .where(
            sa.or_(
                other.c.state.in_(ENDED_WITHOUT_RESULT),
                sa.and_(other.c.state == "running", other.c.cancel_requested),
            )
        )
        .where(~sa.exists().where(schema.result.c.key == need.c.key).correlate(need))
        .order_by(table.c.id, need.c.position.desc())
    )


def _has_result(table: Any) -> sa.ColumnElement[bool]:
    return sa.exists().where(schema.result.c.key == table.c.key).correlate(table)


def _blocked(row: Any) -> dict[str, Any]:
    """How a job ends that waits for one which will have no result."""
    state = "cancelled" if row.cancel_requested or row.state == "cancelled" else "failed"
    title, why = titles.run(row.spec), row.error or f"it is {state}."
    return {
        "state": state,
        "error": f"This run needs “{title}”, which has no result: {why}",
        "finished": now(),
    }
