"""The tables of the store.

Times are UTC. JSON is kept as text, so that both databases hold the same bytes and a value that
JSON itself lacks (infinity) survives. A change of these tables raises `SCHEMA`, and `UPGRADES` says
how an earlier store is brought to it; a store that says more than `SCHEMA` is refused.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
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
    false,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from mucore.errors import StoreError, said

SCHEMA = 5
# by the schema that they lead to, statements for a store of the one before; SQLite and Postgres
# read them alike
UPGRADES = {
    2: ("ALTER TABLE job ADD COLUMN kind VARCHAR NOT NULL DEFAULT 'run'",),
    3: (
        "ALTER TABLE job ADD COLUMN deaths TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE job ADD COLUMN short_of_memory BOOLEAN NOT NULL DEFAULT FALSE",
        "ALTER TABLE job ADD COLUMN waits_for TEXT",
        "ALTER TABLE job ADD COLUMN not_before TIMESTAMP",
        "ALTER TABLE job ADD COLUMN delays INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE job ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE worker ADD COLUMN versions TEXT NOT NULL DEFAULT '{}'",
        "ALTER TABLE worker ADD COLUMN note TEXT NOT NULL DEFAULT ''",
    ),
    4: (
        "ALTER TABLE worker ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'",
        "CREATE TABLE job_log (job INTEGER NOT NULL PRIMARY KEY REFERENCES job (id) ON DELETE "
        "CASCADE, text TEXT NOT NULL)",
    ),
    5: (
        "CREATE TABLE talk (room VARCHAR NOT NULL PRIMARY KEY, lesson VARCHAR NOT NULL, step "
        "INTEGER NOT NULL, source VARCHAR NOT NULL, revealed TEXT NOT NULL, changed TIMESTAMP NOT "
        "NULL)",
        "CREATE TABLE vote (room VARCHAR NOT NULL, question VARCHAR NOT NULL, voter VARCHAR NOT "
        "NULL, choice VARCHAR NOT NULL, PRIMARY KEY (room, question, voter))",
    ),
}
# of these what only Postgres needs, which knows how long whole numbers are
POSTGRES_UPGRADES = {
    3: tuple(
        f"ALTER TABLE result ALTER COLUMN {name} TYPE BIGINT"
        for name in ("training_seed", "unlearning_seed", "evaluation_seed", "steps", "forget_count")
    )
}


class Time(TypeDecorator[datetime]):
    """An aware datetime in Python, a naive one in UTC in the database. What SQLite holds in the
    place of one comes as it is, so that it spoils its own row alone (`check_times`).
    """

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

    def result_processor(self, dialect: Dialect, coltype: Any) -> Any:
        read = super().result_processor(dialect, coltype)

        def tried(value: Any) -> Any:
            try:
                return value if read is None else read(value)
            except (ValueError, TypeError):
                return value

        return tried


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
    # {place in the run where its worker died: how much that counts}, see `poison.after_death`
    Column("deaths", Text, nullable=False, server_default="{}"),
    Column("short_of_memory", Boolean, nullable=False, server_default=false()),
    Column("waits_for", Text),
    Column("not_before", Time),
    Column("delays", Integer, nullable=False, server_default="0"),
    Column("generation", Integer, nullable=False, server_default="0"),
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
    Column("note", Text, nullable=False, server_default=""),
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
    try:
        return pydantic_core.to_json(value, inf_nan_mode="constants", fallback=_plain).decode()
    except ValueError:  # what it takes for no text, `json` may; else this raises `TypeError`
        return _AS_IT_IS.encode(value)


def from_json(text: Any) -> Any:
    """What `to_json` wrote. Raises `StoreError` for a row that somebody or something damaged."""
    with whole_row():
        return plain_json(text)


def plain_json(text: str | bytes) -> Any:
    """What a JSON text says; numbers that are none among it. Raises `ValueError`, `TypeError` and
    `RecursionError`.
    """
    try:
        # a third faster than `json`, of which a page of ten thousand runs takes seconds
        return pydantic_core.from_json(text)
    except ValueError:  # it knows no lone surrogate, and no depth beyond two hundred
        return json.loads(text)


@contextmanager
def whole_row() -> Generator[None]:
    """A record made of a row. Raises `StoreError` where the row does not hold what it should."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"A row of the store is damaged ({said(str(error))}). Restore the store from a backup, "
            "or delete that row."
        ) from error


def check_times(*times: Any) -> None:
    """Raise `TypeError` for what is no time, in a column that may be empty."""
    for time in times:
        if not isinstance(time, datetime | None):
            raise TypeError(f"{said(time)} is no time")


def check_spec(spec: Any) -> None:
    """Raise `TypeError` for what is not the spec of a run, of whatever version."""
    names = ("dataset", "model", "method")
    if not (isinstance(spec, Mapping) and all(isinstance(spec.get(name), str) for name in names)):
        raise TypeError(f"{said(spec)} is no run")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} does not fit in a record")


# `json.dumps` makes one for every text, and a page of ten thousand runs has thirty thousand
_AS_IT_IS, _CANONICAL = (
    json.JSONEncoder(sort_keys=canonical, separators=(",", ":"), ensure_ascii=False, default=_plain)
    for canonical in (False, True)
)


def now() -> datetime:
    return datetime.now(UTC)
