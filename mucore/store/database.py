"""The database under the store: opening and checking it, transactions, and the counter that moves
with every change of results.

SQLite in WAL mode is the default. Writers say BEGIN IMMEDIATE: a transaction that starts as a
reader and turns writer fails at once when another one wrote in between, whatever the busy timeout.
On Postgres writers take one advisory lock, so that a write transaction sees the same world on both
databases: it is alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Collection, Generator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, Connection, make_url

from mucore.errors import BadValue, MucoreError, ReadOnly, StoreError, UnknownName, install, said
from mucore.store.schema import OLDEST, SCHEMA, Time, metadata, now, store_info
from mucore.store.transient_errors import FULL, is_full

RESULTS = "results"  # the row of the counter that moves with results, models and comparisons

BUSY_SECONDS = 30
T = TypeVar("T")
_WRITE_LOCK = 0x6D75636F7265  # any constant; "mucore" in ASCII
# A worker uses two connections, one for its run and one for its heartbeat; pages may take more for
# a moment.
POOL_SIZE, POOL_OVERFLOW = 2, 10
# A process that was stopped within a transaction must not hold up the others for longer.
_IDLE_SECONDS = 60


class Database:
    """One database, opened and checked. Safe to use from several threads.

    `url` is None for `<home>/store.sqlite`. A file that may not be written is opened to be read.
    Raises `StoreError` for a foreign file, another schema, or a place that cannot be used.
    """

    def __init__(self, home: Path, url: str | None = None):
        self.home = home
        self.url = url
        self.read_only: str | None = None  # set: the sentence that says why nothing can be written
        address = _address(home, url)
        self.sqlite = address.get_backend_name() == "sqlite"
        self.where = (
            str(address.database) if self.sqlite else address.render_as_string(hide_password=True)
        )
        # The snapshot of REPEATABLE READ would be taken while waiting for the lock, and be stale
        # when it is granted.
        self._write_options: dict[str, Any] = {"writes": True} | (
            {} if self.sqlite else {"isolation_level": "READ COMMITTED"}
        )
        self._keep_alive: sqlite3.Connection | None = None
        with self.sentences():
            # images and weights of a user's own: a new home is the owner's alone
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._engine = self._make_engine(address)
        try:
            self._check_schema()
        except BaseException:
            self.close()
            raise

    # -- transactions

    @contextmanager
    def read(self) -> Generator[Connection, None, None]:
        """A connection that sees one state of the database for as long as it is open."""
        with self.sentences(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, part: Literal["results"] | None = None) -> Generator[Connection, None, None]:
        """A transaction that is alone in writing; one of "results" moves the counter of changes.
        Raises `ReadOnly` on a read-only store.
        """
        self.check_writable()
        engine = self._engine.execution_options(**self._write_options)
        with self.sentences(), engine.begin() as connection:
            yield connection
            if part is not None:
                counter = sa.update(store_info).where(store_info.c.name == RESULTS)
                connection.execute(counter.values(value=store_info.c.value + 1))

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

    def change_counter(self) -> int:
        """A number that moves with every write of results, models and comparisons."""
        counter = sa.select(store_info.c.value).where(store_info.c.name == RESULTS)
        with self.read() as connection:
            return connection.execute(counter).scalar_one()

    def time(self, connection: Connection) -> datetime:
        """By the database's clock: machines' clocks differ, and all who write or judge a heartbeat
        must use one. SQLite has only this machine's.
        """
        if self.sqlite:
            return now()
        clock = sa.func.timezone("UTC", sa.func.clock_timestamp())
        return connection.execute(sa.select(sa.type_coerce(clock, Time()))).scalar_one()

    def among(self, column: sa.ColumnElement[Any], keys: Collection[Any]) -> sa.ColumnElement[bool]:
        """`column` is one of `keys`, of which there may be more than a statement can have
        parameters.
        """
        if self.sqlite:
            return column.in_(
                sa.select(sa.column("value")).select_from(sa.func.json_each(json.dumps(list(keys))))
            )
        return column == sa.any_(sa.cast(list(keys), sa.ARRAY(column.type)))

    def close(self) -> None:
        """Give all connections back. The store can't be used afterwards."""
        self._engine.dispose()
        if self._keep_alive is not None:
            self._keep_alive.close()
            self._keep_alive = None

    def shown(self, record: T) -> T:
        """A record as whoever reads this store may see it."""
        return record

    @contextmanager
    def sentences(self) -> Generator[None, None, None]:
        """Turn what the database or the file system raises inside into a `StoreError` that a person
        can act on; `BadValue` for a text that no database keeps.
        """
        try:
            yield
        except MucoreError:
            raise
        except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error, OSError) as error:
            raise self._sentence(error) from error
        except UnicodeEncodeError as error:  # of what was asked, not of a row
            raise BadValue(f"{said(error.object)} is no text. Write it in UTF-8.") from error
        except ValueError as error:  # a date that is none, a text where a number was
            raise StoreError(
                f"The store {self.where} holds a damaged row ({said(str(error))}). Restore it from "
                "a backup, or delete that row."
            ) from error

    # -- inside

    def _replace(self, connection: Connection, key: sa.Column, rows: Sequence[Any]) -> None:
        """Rows in the place of those with the same `key`."""
        old = self.among(key, [row[key.name] for row in rows])
        connection.execute(sa.delete(key.table).where(old))
        connection.execute(sa.insert(key.table), rows)

    def _make_engine(self, address: URL) -> sa.Engine:
        if not self.sqlite:
            engine = self._make_postgres(address)
        elif address.database in (None, "", ":memory:"):
            name = f"file:/mucore-{uuid.uuid4().hex}?vfs=memdb"
            options = {"uri": True, "check_same_thread": False, "timeout": BUSY_SECONDS}
            connect = partial(sqlite3.connect, name, **options)
            self._keep_alive = connect()
            engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.QueuePool)
        else:
            engine = self._open_file(Path(str(address.database)), address)
        event.listen(engine, "connect", self._connected)
        event.listen(engine, "begin", self._begun)
        return engine

    def _connected(self, connection: Any, _record: Any) -> None:
        if self.sqlite:
            # the driver would begin transactions of its own, deferred ones
            connection.isolation_level = None
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")
            if self.read_only:
                connection.execute("PRAGMA query_only=ON")
        elif self.read_only:
            connection.execute("SET default_transaction_read_only = on")
            connection.commit()

    def _begun(self, connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        if self.sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
        elif writes:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})")

    def _open_file(self, path: Path, address: URL) -> sa.Engine:
        if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            self.read_only = (
                f"The store {path} lies where nothing can be written. Copy the home to a place "
                "of yours, and name that with --home."
            )
            # what a writer on another machine has not moved into the file yet lies beside it
            beside = path.with_name(f"{path.name}-wal").exists()
            how = {"mode": "ro"} if beside else {"immutable": "1"}
            uri = path.absolute().as_uri()
            return sa.create_engine(
                URL.create("sqlite", database=uri, query={**how, "uri": "true"})
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        patience = {"timeout": BUSY_SECONDS}
        try:
            _switch_to_wal(path)
        except sqlite3.Error as error:
            if not (path.exists() and is_full(error)):
                raise
            # Nothing is shared then, so nothing has to be written to read, and to make space. Each
            # connection shuts others out, and is closed after use.
            engine = sa.create_engine(address, poolclass=sa.NullPool, connect_args=patience)
            event.listen(engine, "connect", _alone)
            return engine
        return sa.create_engine(address, connect_args=patience)

    def _make_postgres(self, address: URL) -> sa.Engine:
        try:
            return sa.create_engine(
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

    def _check_schema(self) -> None:
        with self.read() as connection:
            version = self._schema_version(connection)
        if version is None:
            with self.write() as connection:
                version = self._schema_version(connection)  # another process may have been faster
                if version is None:
                    metadata.create_all(connection)
                    first = {"schema_version": SCHEMA, RESULTS: 0}
                    rows = [{"name": name, "value": value} for name, value in first.items()]
                    connection.execute(sa.insert(store_info), rows)
                    version = SCHEMA
        if not OLDEST <= version <= SCHEMA:
            raise StoreError(
                f"This store was written by schema {version}; this mucore reads {OLDEST} to "
                f"{SCHEMA}. Update mucore, or choose another home with --home. (Store: "
                f"{self.where})"
            )

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

    def _sentence(self, error: Exception) -> StoreError:
        if getattr(error, "errno", None) in FULL or is_full(error):
            return StoreError(
                f"There is no space left in {self.home}. Free some space, or choose another home "
                "with --home."
            )
        text = str(error.orig if isinstance(error, exc.DBAPIError) else error).strip()
        if "is locked" in text or isinstance(error, exc.TimeoutError):
            return StoreError(
                f"The store {self.where} was busy for {BUSY_SECONDS} seconds. Is another program "
                "holding it? Try again."
            )
        return StoreError(
            f"The store {self.where} cannot be used: {text}. Check its permissions, restore it "
            "from a backup, or choose another home with --home."
        )


def unknown(connection: Connection, table: sa.Table, number: int) -> UnknownName:
    """That a table has no row of this number, with the newest that it has."""
    newest = sa.select(table.c.id).order_by(table.c.id.desc()).limit(20)
    return UnknownName(table.name, number, map(str, connection.execute(newest).scalars()))


def _address(home: Path, url: str | None) -> URL:
    if not url:
        return URL.create("sqlite", database=str(home / "store.sqlite"))
    try:
        address = make_url(url)
        backend = address.get_backend_name()
    except (exc.ArgumentError, ValueError):
        backend = ""
    # a / in a password that is not written as %2F ends the host, so the rest counts as the name
    if backend == "sqlite" or (
        backend in ("postgresql", "postgres") and "@" not in (address.database or "")
    ):
        return address if backend == "sqlite" else address.set(drivername="postgresql+psycopg")
    raise StoreError(
        "The address of a store looks like postgresql://user:password@host/database or "
        "sqlite:///file. Write @, :, / and % in a name or password as %40, %3A, %2F and %25."
    )


def _switch_to_wal(path: Path) -> None:
    """Make `path` an SQLite file in WAL mode unless it is one already. Raises SQLite's own error
    for a file of another kind, and where it cannot be made now.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        with closing(
            sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
        ) as connection:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("SELECT count(*) FROM sqlite_master")
                return
            except sqlite3.OperationalError as error:
                # Two processes that make the same file: the busy timeout does not cover a change of
                # the journal mode.
                if "is locked" not in str(error) or time.monotonic() > deadline:
                    raise
        time.sleep(0.01)


def _alone(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
