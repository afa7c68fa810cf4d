"""The database under the store: opening and checking it, transactions, and the counters that move
with every change.

SQLite in WAL mode is the default. Writers say BEGIN IMMEDIATE: a transaction that starts as a
reader and turns writer fails at once when another one wrote in between, whatever the busy timeout.
On Postgres writers take one advisory lock, so that a write transaction sees the same world on both
databases: it is alone. What every worker does all the time, heartbeats, progress and claims, goes
without that lock.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, Connection, make_url

from mucore.errors import BadValue, MucoreError, ReadOnly, StoreError, install, said
from mucore.store.liveness import Lookout, Moment
from mucore.store.schema import POSTGRES_UPGRADES, SCHEMA, UPGRADES, Time, metadata, now, store_info
from mucore.store.trouble import FULL

log = logging.getLogger("mucore")
R = TypeVar("R")
T = TypeVar("T")
Part = Literal["results", "jobs"]
PARTS: tuple[Part, ...] = ("results", "jobs")

BUSY_SECONDS = 30
_WRITE_LOCK = 0x6D75636F7265  # any constant; "mucore" in ASCII
_SQLITE_HEADER = b"SQLite format 3\0"
# A worker uses two connections, one for its run and one for its heartbeat; pages may take more for
# a moment.
POOL_SIZE, POOL_OVERFLOW = 2, 10
# A process that was stopped within a transaction must not hold up the others for longer.
_IDLE_SECONDS = 60


class Database:
    """One database, opened and checked. Safe to use from several threads; after a fork the child
    gets connections of its own.

    `url` is None for `<home>/store.sqlite`. Raises `StoreError` for a foreign file, a newer schema,
    or a place that cannot be used.
    """

    def __init__(self, home: Path, url: str | None = None):
        self.home = home
        self.url = url
        self.read_only: str | None = None  # set: the sentence that says why nothing can be written
        self.lookout = Lookout()
        self._damaged: set[str] = set()  # rows that were named
        address = _address(home, url)
        self.where = (
            str(address.database)
            if address.get_backend_name() == "sqlite"
            else address.render_as_string(hide_password=True)
        )
        self._keep_alive: sqlite3.Connection | None = None
        self._pid = os.getpid()
        with self.sentences():
            # images and weights of a user's own: a new home is the owner's alone
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._engine = self._make_engine(address)
        self._write_options: dict[str, Any] = {"writes": True}
        if not self.sqlite:
            # The snapshot of REPEATABLE READ would be taken while waiting for the lock, and be
            # stale when it is granted.
            self._write_options["isolation_level"] = "READ COMMITTED"
        self._beside_others: dict[str, Any] = {} if self.sqlite else {"writes": False}
        try:
            self._check_schema()
        except BaseException:
            self.close()
            raise

    # -- transactions

    @contextmanager
    def read(self) -> Generator[Connection, None, None]:
        """A connection that sees one state of the database for as long as it is open."""
        with self.sentences(), self._own_engine().connect() as connection:
            yield connection

    @contextmanager
    def write(
        self, part: Part | None = None, *, alone: bool = True
    ) -> Generator[Connection, None, None]:
        """A transaction that is alone in writing; `part` moves that part's counter with it. Raises
        `ReadOnly` on a read-only store.

        With `alone=False` others may write at the same time where the database can do that: only
        for changes of single rows, each by one statement.
        """
        self.check_writable()
        options = self._write_options if alone else self._write_options | self._beside_others
        with (
            self.sentences(),
            self._own_engine().execution_options(**options).begin() as connection,
        ):
            yield connection
            if part is not None:
                self.moved(connection, part)

    def make_read_only(self, sentence: str) -> None:
        """From now on every write raises `ReadOnly` with `sentence`; the database itself refuses
        what would get past that.
        """
        self.read_only = sentence
        self._engine.dispose()  # connections that could write; later ones are opened to read

    def check_writable(self) -> None:
        """Raise `ReadOnly` on a read-only store: for what is written or started beside the
        database.
        """
        if self.read_only:
            raise ReadOnly(self.read_only)

    def moved(self, connection: Connection, part: Part) -> None:
        """Say that something a page may show has changed."""
        connection.execute(
            sa.update(store_info)
            .where(store_info.c.name == part)
            .values(value=store_info.c.value + 1)
        )

    def change_counter(self, part: Literal["all"] | Part = "all") -> int:
        """A number that moves with every write that a page could show.

        `results` counts results, models and comparisons only; `jobs` jobs and workers, several
        times a second while one runs.
        """
        parts = PARTS if part == "all" else (part,)
        with self.read() as connection:
            return int(
                connection.execute(
                    sa.select(sa.func.sum(store_info.c.value)).where(store_info.c.name.in_(parts))
                ).scalar_one()
            )

    def clock(self) -> sa.ColumnElement[datetime]:
        """The time by the database's clock, as an expression: machines' clocks differ, and all who
        write or judge a heartbeat must use one. SQLite has only this machine's.
        """
        if self.sqlite:
            return sa.literal(now(), Time())
        return sa.type_coerce(sa.func.timezone("UTC", sa.func.clock_timestamp()), Time())

    def moment(self, connection: Connection) -> Moment:
        if self.sqlite:
            return Moment(now())
        up_since = sa.func.timezone("UTC", sa.func.pg_postmaster_start_time())
        row = connection.execute(sa.select(self.clock(), sa.type_coerce(up_since, Time()))).one()
        return Moment(*row)

    def among(self, column: sa.ColumnElement[str], keys: Collection[str]) -> sa.ColumnElement[bool]:
        """`column` is one of `keys`, of which there may be more than a statement can have
        parameters.
        """
        if self.sqlite:
            return column.in_(
                sa.select(sa.column("value")).select_from(sa.func.json_each(json.dumps(list(keys))))
            )
        return column == sa.any_(sa.cast(list(keys), sa.ARRAY(sa.String)))

    def close(self) -> None:
        """Give all connections back. The store can't be used afterwards."""
        self._engine.dispose()
        if self._keep_alive is not None:
            self._keep_alive.close()
            self._keep_alive = None

    @contextmanager
    def sentences(self) -> Generator[None, None, None]:
        """Turn what the database or the file system raises inside into a `StoreError` that a person
        can act on; `BadValue` for a text that no database keeps.
        """
        try:
            yield
        except MucoreError:
            raise
        except (exc.DBAPIError, sqlite3.Error) as error:
            self.lookout.forget()  # others may not have been able to beat either
            raise self._translated(error) from error
        except UnicodeEncodeError as error:  # of what was asked, not of a row
            raise BadValue(f"{said(error.object)} is no text. Write it in UTF-8.") from error
        except ValueError as error:  # a date that is none, a text where a number was
            raise StoreError(
                f"The store {self.where} holds a damaged row ({said(str(error))}). Restore it from "
                "a backup, or delete that row."
            ) from error
        except exc.TimeoutError as error:
            raise StoreError(
                f"All connections to the store {self.where} are in use. Try again."
            ) from error
        except OSError as error:
            raise (
                self.no_space()
                if error.errno in FULL
                else StoreError(f"The home folder {self.home} cannot be used: {error}.")
            ) from error

    def _whole(
        self, what: str, rows: Iterable[R], make: Callable[[R], T], name: Callable[[R], object]
    ) -> list[T]:
        """What `make` gives of each row. A damaged one is left out, and named once: "job 7"."""
        made = []
        for row in rows:
            try:
                made.append(make(row))
            except StoreError as problem:
                if (damaged := f"{what} {name(row)}") not in self._damaged:
                    self._damaged.add(damaged)
                    log.warning("Left out, %s: %s", damaged, problem)
        return made

    def _left_out(self, what: str) -> list[str]:
        """What `_whole` has left out so far, by its name."""
        return [one.removeprefix(f"{what} ") for one in self._damaged if one.startswith(f"{what} ")]

    def _is_whole(self, what: str, names: Iterable[str]) -> None:
        """These were left out before, and are whole by now, or gone."""
        self._damaged -= {f"{what} {name}" for name in names}

    def no_space(self) -> StoreError:
        return StoreError(
            f"There is no space left in {self.home}. Free some space, or choose another home with "
            "--home."
        )

    # -- inside

    @property
    def sqlite(self) -> bool:
        return self._engine.dialect.name == "sqlite"

    def _own_engine(self) -> sa.Engine:
        if os.getpid() != self._pid:
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        return self._engine

    def _make_engine(self, address: URL) -> sa.Engine:
        if address.get_backend_name() != "sqlite":
            return self._make_postgres(address)
        if address.database in (None, "", ":memory:"):
            name = f"file:/mucore-{uuid.uuid4().hex}?vfs=memdb"
            self._keep_alive = sqlite3.connect(name, uri=True, check_same_thread=False)
            engine = sa.create_engine(
                "sqlite://",
                creator=lambda: sqlite3.connect(
                    name, uri=True, check_same_thread=False, timeout=BUSY_SECONDS
                ),
                poolclass=sa.QueuePool,
            )
        else:
            _new_file(Path(str(address.database)))
            engine = sa.create_engine(address, connect_args={"timeout": BUSY_SECONDS})

        @event.listens_for(engine, "connect")
        def connected(connection: Any, _record: Any) -> None:
            # the driver would begin transactions of its own, deferred ones
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")
            if self.read_only:
                connection.execute("PRAGMA query_only=ON")

        @event.listens_for(engine, "begin")
        def begun(connection: Connection) -> None:
            connection.exec_driver_sql(
                "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN"
            )

        return engine

    def _make_postgres(self, address: URL) -> sa.Engine:
        try:
            engine = sa.create_engine(
                address,
                isolation_level="REPEATABLE READ",
                pool_pre_ping=True,
                pool_size=POOL_SIZE,
                max_overflow=POOL_OVERFLOW,
                connect_args={
                    "connect_timeout": BUSY_SECONDS,
                    "options": f"-c idle_in_transaction_session_timeout={_IDLE_SECONDS}s",
                },
            )
        except ImportError:
            raise StoreError(
                "A store on Postgres needs the driver psycopg. Install it with "
                f"{install('postgres')}."
            ) from None

        @event.listens_for(engine, "connect")
        def connected(connection: Any, _record: Any) -> None:
            if self.read_only:
                connection.execute("SET default_transaction_read_only = on")
                connection.commit()

        @event.listens_for(engine, "begin")
        def begun(connection: Connection) -> None:
            if connection.get_execution_options().get("writes"):
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")

        return engine

    def _check_schema(self) -> None:
        with self.read() as connection:
            version = self._schema_version(connection)
        if version is None:
            with self.write() as connection:
                version = self._schema_version(connection)  # another process may have been faster
                if version is None:
                    metadata.create_all(connection)
                    first = {"schema_version": SCHEMA, **dict.fromkeys(PARTS, 0)}
                    connection.execute(
                        sa.insert(store_info),
                        [{"name": name, "value": value} for name, value in first.items()],
                    )
                    version = SCHEMA
        if version < SCHEMA:
            version = self._upgrade()
        if version > SCHEMA:
            raise StoreError(
                f"This store was written by schema {version}; this mucore reads up to {SCHEMA}. "
                f"Update mucore, or choose another home with --home. (Store: {self.where})"
            )

    def _upgrade(self) -> int:
        """Bring a store of an earlier schema to this one; the schema that it has then."""
        with self.write() as connection:
            version = self._schema_version(connection) or SCHEMA
            for number in range(version + 1, SCHEMA + 1):  # none: another process was faster
                own = () if self.sqlite else POSTGRES_UPGRADES.get(number, ())
                for statement in (*UPGRADES[number], *own):
                    connection.exec_driver_sql(statement)
                connection.execute(
                    sa.update(store_info)
                    .where(store_info.c.name == "schema_version")
                    .values(value=number)
                )
            return max(version, SCHEMA)

    def _schema_version(self, connection: Connection) -> int | None:
        """None for an empty database. Raises `StoreError` for one of another program."""
        tables = sa.inspect(connection).get_table_names()
        if store_info.name in tables:
            version = connection.execute(
                sa.select(store_info.c.value).where(store_info.c.name == "schema_version")
            ).scalar()
            if version is not None:
                return int(version)
        if tables:
            raise StoreError(
                f"{self.where} is a database of another program. Choose another home with --home."
            )
        return None

    def _translated(self, error: exc.DBAPIError | sqlite3.Error) -> StoreError:
        orig = error.orig if isinstance(error, exc.DBAPIError) else error
        text = str(orig).strip()
        if "is full" in text or getattr(orig, "sqlstate", None) == "53100":
            return self.no_space()
        if "is locked" in text:
            return StoreError(
                f"The store {self.where} was busy for {BUSY_SECONDS} seconds. Is another program "
                "holding it? Try again."
            )
        if "malformed" in text or "not a database" in text:
            return StoreError(
                f"The store {self.where} is damaged ({text}). Restore it from a backup, or choose "
                "another home with --home."
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"The store {self.where} cannot be opened or written ({text}). Check its "
                "permissions, or use --home."
            )
        return StoreError(f"The store {self.where} could not be used: {text}")


def _address(home: Path, url: str | None) -> URL:
    if not url:
        return URL.create("sqlite", database=str(home / "store.sqlite"))
    try:
        address = make_url(url)
        backend = address.get_backend_name()
    except (exc.ArgumentError, ValueError):
        backend = ""
    if backend not in ("sqlite", "postgresql", "postgres"):
        raise StoreError(
            "The address of a store looks like postgresql://user:password@host/database or "
            "sqlite:///file."
        )
    if backend != "sqlite" and "@" in (address.database or ""):
        raise StoreError(
            "The address of the store is read wrongly, because its name or password holds a / that "
            "is not written as %2F. Write @, :, / and % in them as %40, %3A, %2F and %25."
        )
    return address if backend == "sqlite" else address.set(drivername="postgresql+psycopg")


def _new_file(path: Path) -> None:
    """Make `path` an SQLite file in WAL mode unless it is one already. Raises `StoreError` for a
    file of another kind, and SQLite's own error where it cannot be made now.
    """
    if path.exists():
        with path.open("rb") as file:
            head = file.read(len(_SQLITE_HEADER))
        if head == _SQLITE_HEADER:
            return
        if head:
            raise StoreError(
                f"{path} is not a store: it is no SQLite file. Move it away, or choose another "
                "home with --home."
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            # Two processes that make the same file: the busy timeout does not cover a change of the
            # journal mode.
            if "is locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        finally:
            connection.close()
