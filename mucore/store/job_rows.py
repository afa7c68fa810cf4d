"""Rows of the job table as jobs, and what is done about rows that are damaged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mucore import titles
from mucore.errors import StoreError, said
from mucore.store import schema
from mucore.store.rows import Job
from mucore.store.schema import check_spec, check_times, from_json, now, to_json, whole_row

# columns that no page shows
_INSIDE = ("short_of_memory", "delays", "generation")
# `not_before` is not among them: a pause whose end cannot be read is over
_TIMES = [
    column
    for column in schema.job.c
    if isinstance(column.type, schema.Time) and column is not schema.job.c.not_before
]


def job_of(row: Any) -> Job:
    """Raises `StoreError` for a damaged row."""
    fields = {name: value for name, value in row._mapping.items() if name not in _INSIDE}
    with whole_row():
        for name, kind in (("spec", dict), ("needs", list), ("losses", list), ("deaths", dict)):
            fields[name] = from_json(fields[name])
            if not isinstance(fields[name], kind):
                raise TypeError(f"{name} is {said(fields[name])}")
        check_times(*(getattr(row, column.name) for column in _TIMES))
        if row.kind == "run":
            check_spec(fields["spec"])
            titles.run(fields["spec"])  # what everybody who lists it asks
    if not isinstance(row.not_before, datetime):
        fields["not_before"] = None
    fields |= {"needs": tuple(fields["needs"]), "losses": tuple(fields["losses"])}
    begun = row.started is not None or row.attempts
    return Job(**fields, log=log_of(row.id) if begun else None)


def number_of(row: Any) -> int:
    return row.id


def log_of(job_id: int) -> str:
    return f"job-{job_id}.log"


def deaths_of(row: Any) -> dict[str, int]:
    """As they are stored; none where they cannot be read."""
    try:
        deaths = from_json(row.deaths)
    except StoreError:
        return {}
    known = isinstance(deaths, dict) and all(isinstance(count, int) for count in deaths.values())
    return deaths if known else {}


def mended(row: Any) -> dict[str, Any]:
    """What stands from now on where a job's row is damaged, but for its spec and needs, which
    nothing can stand in for.
    """
    values: dict[str, Any] = {
        column.name: None if column.nullable else now()
        for column in _TIMES
        if not isinstance(getattr(row, column.name), datetime | None)
    }
    for name, kind in (("losses", list), ("deaths", dict)):
        try:
            whole = isinstance(from_json(getattr(row, name)), kind)
        except StoreError:
            whole = False
        if not whole:
            values[name] = to_json(kind())
    return values
