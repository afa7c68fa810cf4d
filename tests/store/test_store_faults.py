"""A store that cannot be opened or written says why, and what to do; nothing is lost."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from builders import make_result, make_spec_row
from sqlalchemy import event

from mucore.errors import BadValue, StoreError
from mucore.store import Store, default_home, open_store
from mucore.store import schema as tables
from mucore.store.schema import OLDEST, SCHEMA, store_info
from mucore.store.transient_errors import LOCK, patient, waiting


def test_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MUCORE_HOME", raising=False)
    assert default_home() == Path.home() / ".mucore"
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "elsewhere"))
    with open_store() as store:
        assert store.home == default_home() == tmp_path / "elsewhere"
        assert (store.home / "store.sqlite").is_file()


@pytest.mark.parametrize("content", [b"a diary", b"SQLite format 3\0" + b"\xff" * 2000])
def test_a_file_that_is_no_store(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "store.sqlite"
    file.write_bytes(content)
    with pytest.raises(StoreError, match="not a database|malformed") as caught:
        open_store(tmp_path)
    assert str(file) in str(caught.value) and "--home" in str(caught.value)
    assert file.read_bytes() == content


def test_a_database_of_another_program(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.execute("CREATE TABLE contacts (name TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        open_store(tmp_path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").touch()
    with open_store(tmp_path) as store:
        assert store.results() == []


def test_a_store_of_a_newer_schema(shared_url: str | None, tmp_path: Path) -> None:
    with open_store(tmp_path, url=shared_url) as store:
        store.put_result(make_result())
        with store.write() as connection:
            connection.execute(
                sa.update(store_info)
                .where(store_info.c.name == "schema_version")
                .values(value=SCHEMA + 1)
            )
    words = (
        f"written by schema {SCHEMA + 1}; this mucore reads {OLDEST} to {SCHEMA}. Update mucore, "
        "or choose another home with --home"
    )
    with pytest.raises(StoreError, match=words):
        open_store(tmp_path, url=shared_url)


def test_the_address_may_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MUCORE_STORE_URL", f"sqlite:///{tmp_path / 'other.sqlite'}")
    with open_store(tmp_path / "home") as store:
        store.put_result(make_result())
    assert (tmp_path / "other.sqlite").is_file() and not (
        tmp_path / "home" / "store.sqlite"
    ).exists()
    monkeypatch.delenv("MUCORE_STORE_URL")  # `gc` would remove the files of the other one
    with pytest.raises(StoreError, match="another database"):
        open_store(tmp_path / "home")


def test_a_full_disk_under_the_database(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.put_result(make_result())

        @event.listens_for(store._engine, "begin")
        def shrink(connection: sa.Connection) -> None:
            # SQLite's own way to say that the disk is full
            connection.exec_driver_sql("PRAGMA max_page_count=1")

        with pytest.raises(StoreError, match="no space left in .*--home"):
            store.put_results(
                [make_result(training_seed=seed, notes=("x" * 5000,)) for seed in range(1, 30)]
            )
        assert len(store.results()) == 1


def test_a_failed_write_leaves_nothing_behind(store: Store) -> None:
    worker = store.register_worker("cpu", 1)
    counter = store.change_counter()
    with pytest.raises(RuntimeError), store.write("results") as connection:
        connection.execute(sa.delete(tables.worker))
        raise RuntimeError
    with pytest.raises(ValueError, match="does not fit"):
        store.put_result(make_result(diagnostics={"x": object()}))
    assert (
        store.change_counter() == counter and store.results() == [] and store.workers() == [worker]
    )


def test_a_store_that_another_program_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mucore.store.database.BUSY_SECONDS", 0.05)
    with open_store(tmp_path) as store:
        holder = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        try:
            assert store.results() == []  # readers never wait
            with pytest.raises(StoreError, match="was busy"):
                store.enqueue([make_spec_row()])
        finally:
            holder.close()
        assert len(store.enqueue([make_spec_row()])) == 1


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_new_home_is_its_owners_alone_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    for home, mode in ((tmp_path / "new", 0o700), (shared, 0o770)):
        open_store(home).close()
        assert home.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:sesame@127.0.0.1:1/base",
        "postgresql://me:sesame@127.0.0.1:x/base",
        "postgresql://me:sesame/word@127.0.0.1:1/base",
        "mysql://me:sesame@host/x",
        "sesame",
    ],
)
def test_no_sentence_names_a_password(url: str, tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as caught:
        open_store(tmp_path, url=url)
    assert "sesame" not in str(caught.value)


def test_a_lock_while_the_store_is_made_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mucore.store.database.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")  # of a file that has nothing in it yet
    with pytest.raises(StoreError, match="was busy"):
        open_store(tmp_path)
    told: list[str] = []

    def wait(what: str, seconds: float) -> None:
        told.append(what)
        holder.close()

    with waiting(wait), patient(open_store)(tmp_path) as store:
        assert store.results() == [] and told == [LOCK]


def test_a_text_that_no_database_keeps_is_not_taken_for_a_damaged_row(store: Store) -> None:
    with pytest.raises(BadValue) as problem:
        store.summaries(dataset="a\udcff")
    assert "\\udcff" in str(problem.value) and "UTF-8" in str(problem.value)


def test_a_copy_of_a_home_is_a_home(tmp_path: Path, shared_url: str | None) -> None:
    with open_store(tmp_path / "home", url=shared_url) as store:
        weights = store.artifacts.put_arrays({"w": np.zeros(3)})
        store.put_result(make_result(weights=weights))
        if shared_url is not None:
            with pytest.raises(BadValue, match="pg_dump"):
                store.back_up(tmp_path / "copy")
            return
        store.back_up(tmp_path / "home" / "copy")  # not of itself
        with pytest.raises(BadValue, match="exists"):
            store.back_up(tmp_path / "home" / "copy")
    with open_store(tmp_path / "home" / "copy") as copy:
        (result,) = copy.results()
        assert result.weights == weights and copy.artifacts.get_arrays(weights)["w"].shape == (3,)
    assert not (tmp_path / "home" / "copy" / "copy").exists()
