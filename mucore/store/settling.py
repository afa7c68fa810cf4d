"""How jobs end that nobody runs: their result exists by now, or a run that they need will have
none.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import titles
from mucore.errors import StoreError
from mucore.store import schema
from mucore.store.claims import Claims
from mucore.store.rows import ENDED_WITHOUT_RESULT
from mucore.store.schema import from_json, now, whole_row


class Settling(Claims):
    """The part of the store that ends waiting jobs."""

    def _unsettled(self, connection: Connection) -> bool:
        """Whether `_settle` would end anything."""
        table = schema.job
        ended = sa.select(table.c.id).where(table.c.state == "queued", _has_result(table)).limit(1)
        return any(
            connection.execute(query).first() is not None
            for query in (ended, self._stuck().limit(1))
        )

    def _settle(self, connection: Connection) -> None:
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
        ended = {row.id: _blocked(row) for row in connection.execute(self._stuck())}
        for number, values in ended.items():
            waits = sa.and_(table.c.id == number, table.c.state == "queued")
            connection.execute(sa.update(table).where(waits).values(values))

    def _stuck(self) -> sa.Select[*tuple[Any, ...]]:
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
            sa.select(
                table.c.id, other.c.spec, other.c.state, other.c.error, other.c.cancel_requested
            )
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


def done() -> dict[str, Any]:
    return {"state": "done", "progress": 1.0, "step": "", "finished": now()}


def cancelled() -> dict[str, Any]:
    return {"state": "cancelled", "finished": now()}


def _has_result(table: Any) -> sa.ColumnElement[bool]:
    return sa.exists().where(schema.result.c.key == table.c.key).correlate(table)


def _blocked(row: Any) -> dict[str, Any]:
    """How a job ends that waits for one which will have no result."""
    state = "cancelled" if row.cancel_requested or row.state == "cancelled" else "failed"
    how = {"failed": "failed", "lost": "was lost"}.get(row.state, "was cancelled")
    why = f": {row.error}" if row.error and state == "failed" else "."
    return {
        "state": state,
        "error": f"This run needs “{_title(row)}”, which {how}{why}",
        "finished": now(),
    }


def _title(row: Any) -> str:
    try:
        with whole_row():
            return titles.run(from_json(row.spec))
    except StoreError:
        return "a run whose row is damaged"
