"""The tables of the store.

Times are UTC. JSON is kept as text, so that both databases hold the same bytes and a value that
JSON itself lacks (infinity) survives. A change of these tables raises `SCHEMA`; a store of another
one is refused, but for those from `OLDEST` on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pydantic_core
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from mucore.errors import StoreError, said

SCHEMA = 6
# That of version 0.2, which is read as it is: five columns more, with defaults, that nothing asks.
OLDEST = 5


class Time(TypeDecorator[datetime]):
    """An aware datetime in Python, a naive one in UTC in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return (
            value.astimezone(UTC).replace(tzinfo=None)
            if value is not None and value.tzinfo
            else value
        )

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()

# Numbers about the store itself: `schema_version`, and one counter for each part that a page shows.
store_info = Table(
    "store_info",
    metadata,
    Column("name", String, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

result = Table(
    "result",
    metadata,
    Column("key", String, primary_key=True),
    Column("model_key", String, nullable=False),
    Column("dataset", String, nullable=False),
    Column("model", String, nullable=False),
    Column("scenario", String),
    Column("scenario_parameters", Text, nullable=False),
    Column("method", String, nullable=False),
    Column("method_preset", String, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("training_seed", BigInteger, nullable=False),
    Column("unlearning_seed", BigInteger, nullable=False),
    Column("evaluation_seed", BigInteger, nullable=False),
    Column("status", String, nullable=False),
    Column("seconds", Float),
    Column("steps", BigInteger),
    Column("device", String, nullable=False),
    Column("precision", String, nullable=False),
    Column("forget_count", BigInteger, nullable=False),
    Column("forget_hash", String),
    Column("demo", Boolean, nullable=False),
    Column("finished", Time),
    Column("recipe", Text, nullable=False),
    # A long table of 10,000 results x 40 metrics takes 0.8 s to become a frame; three parallel
    # lists a row take 0.2 s.
    Column("metric_names", Text, nullable=False),  # [id, ...]
    Column("metric_numbers", Text, nullable=False),  # [[value, ...], [gap, ...], {id: error}]
    Column("outputs", String),
    Column("weights", String),
    Column("record", Text, nullable=False),  # the fields of `Result` that have no column
    Index("result_by_choice", "dataset", "model", "scenario", "method"),
)

model = Table(
    "model",
    metadata,
    Column("model_key", String, primary_key=True),
    Column("weights", String),
    Column("created", Time, nullable=False),
    Column("record", Text, nullable=False),
)

comparison = Table(
    "comparison",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("note", Text, nullable=False),
    Column("grid", Text, nullable=False),
    Column("created", Time, nullable=False),
    Column("demo", Boolean, nullable=False),
    sqlite_autoincrement=True,  # a permalink to a deleted comparison must not show another one
)

comparison_run = Table(
    "comparison_run",
    metadata,
    Column(
        "comparison", Integer, ForeignKey("comparison.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Integer, primary_key=True),
    Column("key", String, nullable=False),
    Index("comparison_run_by_key", "comparison", "key"),
)

job = Table(
    "job",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String, nullable=False),
    Column("spec", Text, nullable=False),
    Column("label", String, nullable=False),
    Column("state", String, nullable=False),
    Column("priority", Integer, nullable=False),
    # [key, ...] in order; `job_need` holds the same for queries
    Column("needs", Text, nullable=False),
    Column("comparison", Integer, ForeignKey("comparison.id", ondelete="SET NULL")),
    Column("progress", Float, nullable=False),
    Column("step", String, nullable=False),
    Column("losses", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("worker", String),
    Column("error", Text),
    Column("queued", Time, nullable=False),
    Column("started", Time),
    Column("finished", Time),
    Column("heartbeat", Time),
    Column("kind", String, nullable=False, server_default="run"),
    Column("waits_for", Text),
    Column("not_before", Time),
    Index("job_by_key", "key", "id"),
    Index("job_by_state", "state", "priority"),
    Index(
        "job_active_key",
        "key",
        unique=True,
        sqlite_where=text("state IN ('queued', 'running')"),
        postgresql_where=text("state IN ('queued', 'running')"),
    ),
    sqlite_autoincrement=True,
)

job_need = Table(
    "job_need",
    metadata,
    Column("job", Integer, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("key", String, nullable=False),
)

# The end of a job's log, since its file lies on the machine where the job ran. A table of its own:
# lists of jobs do not carry it.
job_log = Table(
    "job_log",
    metadata,
    Column("job", Integer, ForeignKey("job.id", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
)

worker = Table(
    "worker",
    metadata,
    Column("id", String, primary_key=True),
    Column("host", String, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("pid_created", Float, nullable=False),
    Column("device", String, nullable=False),
    Column("threads", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("started", Time, nullable=False),
    Column("heartbeat", Time, nullable=False),
    Column("versions", Text, nullable=False, server_default="{}"),
    Column("facts", Text, nullable=False, server_default="{}"),
)

# A lesson that somebody holds before a room, one a room, and what the room answered. Nothing says
# who or when: `voter` is a hash with a secret that lives no longer than the server.
talk = Table(
    "talk",
    metadata,
    Column("room", String, primary_key=True),
    Column("lesson", String, nullable=False),
    Column("step", Integer, nullable=False),
    Column("source", String, nullable=False),
    Column("revealed", Text, nullable=False),  # [question, ...]
    Column("changed", Time, nullable=False),  # by who holds it, never by a vote
)

vote = Table(
    "vote",
    metadata,
    Column("room", String, primary_key=True),
    Column("question", String, primary_key=True),
    Column("voter", String, primary_key=True),
    Column("choice", String, nullable=False),
)


def to_json(value: Any, *, canonical: bool = False) -> str:
    """JSON text of plain data, numpy numbers and times included; `canonical` sorts the keys."""
    if canonical:  # compared as text with what other versions wrote
        return _CANONICAL.encode(value)
    return pydantic_core.to_json(value, inf_nan_mode="constants", fallback=_plain).decode()


def from_json(text: str | bytes) -> Any:
    """What `to_json` wrote. Raises `StoreError` for a row that somebody or something damaged."""
    try:
        # a third faster than `json`, of which a page of ten thousand runs takes seconds
        return pydantic_core.from_json(text)
    except ValueError as error:
        raise StoreError(
            f"A row of the store is damaged ({said(str(error))}). Restore the store from a backup, "
            "or delete that row."
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} does not fit in a record")


# `json.dumps` makes one for every text, and a page of ten thousand runs has thirty thousand
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain
)


def now() -> datetime:
    return datetime.now(UTC)
