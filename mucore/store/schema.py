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
from sqlalchemy.types import TypeDecorator, TypeEngine

from mucore.errors import StoreError, said

SCHEMA = 6
# That of version 0.2, which is read as it is: five columns more, with defaults, that nothing asks.
OLDEST = 5


class Time(TypeDecorator[datetime]):
    """An aware datetime in Python, a naive one in UTC in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Json(TypeDecorator[Any]):
    """Plain data in Python, JSON text in the database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else to_json(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else from_json(value)


def _columns(kind: type[TypeEngine[Any]], *names: str, nullable: bool = False) -> list[Column]:
    return [Column(name, kind, nullable=nullable) for name in names]


metadata = MetaData()

# Numbers about the store itself: `schema_version`, and the counter of changes.
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
    *_columns(String, "model_key", "dataset", "model", "method", "method_preset"),
    *_columns(String, "status", "device", "precision"),
    *_columns(String, "scenario", "forget_hash", "outputs", "weights", nullable=True),
    *_columns(Text, "scenario_parameters", "parameters", "recipe"),
    *_columns(BigInteger, "training_seed", "unlearning_seed", "evaluation_seed", "forget_count"),
    *_columns(BigInteger, "steps", nullable=True),
    *_columns(Float, "seconds", nullable=True),
    *_columns(Boolean, "demo"),
    *_columns(Time, "finished", nullable=True),
    # A long table of 10,000 results x 40 metrics takes 0.8 s to become a frame; three parallel
    # lists a row take 0.2 s: [id, ...] and [[value, ...], [gap, ...], {id: error}].
    *_columns(Text, "metric_names", "metric_numbers"),
    *_columns(Text, "record"),  # the fields of `Result` that have no column
    Index("result_by_choice", "dataset", "model", "scenario", "method"),
)

model = Table(
    "model",
    metadata,
    Column("model_key", String, primary_key=True),
    *_columns(String, "weights", nullable=True),
    *_columns(Time, "created"),
    *_columns(Json, "record"),
)

comparison = Table(
    "comparison",
    metadata,
    Column("id", Integer, primary_key=True),
    *_columns(String, "name"),
    *_columns(Text, "note"),
    *_columns(Json, "grid"),
    *_columns(Time, "created"),
    *_columns(Boolean, "demo"),
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

_ACTIVE = text("state IN ('queued', 'running')")
job = Table(
    "job",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", String, nullable=False, server_default="run"),
    Column("comparison", Integer, ForeignKey("comparison.id", ondelete="SET NULL")),
    *_columns(String, "key", "label", "state", "step"),
    *_columns(String, "worker", nullable=True),
    *_columns(Text, "error", "waits_for", nullable=True),
    # `job_need` holds the needs once more, for queries
    *_columns(Json, "spec", "needs", "losses"),
    *_columns(Integer, "priority"),
    # of its workers; the name that the first schema gave it
    Column("attempts", Integer, key="deaths", nullable=False),
    *_columns(Float, "progress"),
    *_columns(Boolean, "cancel_requested"),
    *_columns(Time, "queued"),
    *_columns(Time, "started", "finished", "heartbeat", "not_before", nullable=True),
    Index("job_by_key", "key", "id"),
    Index("job_by_state", "state", "priority"),
    Index("job_active_key", "key", unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE),
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
    *_columns(String, "host", "device", "state"),
    *_columns(Integer, "pid", "threads"),
    *_columns(Float, "pid_created"),
    *_columns(Time, "started", "heartbeat"),
    Column("versions", Json, nullable=False, server_default="{}"),
    Column("facts", Json, nullable=False, server_default="{}"),
)

# A lesson that somebody holds before a room, one a room, and what the room answered. Nothing says
# who or when: `voter` is a hash with a secret that lives no longer than the server.
talk = Table(
    "talk",
    metadata,
    Column("room", String, primary_key=True),
    *_columns(String, "lesson", "source"),
    *_columns(Integer, "step"),
    *_columns(Json, "revealed"),  # [question, ...]
    *_columns(Time, "changed"),  # by who holds it, never by a vote
)

vote = Table(
    "vote",
    metadata,
    *(Column(name, String, primary_key=True) for name in ("room", "question", "voter")),
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
