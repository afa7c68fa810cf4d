"""`Store`: everything that is kept between runs, behind one object."""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Self

import sqlalchemy as sa

from mucore.errors import StoreError, need
from mucore.store import schema
from mucore.store.artifacts import Artifacts
from mucore.store.comparisons import Comparisons
from mucore.store.gc import Retention
from mucore.store.results import Results
from mucore.store.storage import MARK, Storage, mark_of, storage_of
from mucore.store.talks import Talks
from mucore.store.workers import Workers
from mucore.userfiles import paths
from mucore.userfiles.paths import default_home

_FILES = "files"  # the row of `store_info` with the number of the storage


class Store(Results, Retention, Workers, Comparisons, Talks):
    """Results, models, jobs, workers, comparisons and talks in a database; weights and outputs in
    files under `home`, or where the address `artifacts` says.

    Make one a process with `open_store`; threads may share it. Use it in a `with` block or call
    `close`.
    """

    def __init__(self, home: Path, *, url: str | None = None, artifacts: str | None = None):
        storage = storage_of(home, artifacts)
        super().__init__(home, url)
        self.artifacts_url = artifacts
        self.artifacts = Artifacts(storage, read_only=self.read_only)
        try:
            if artifacts or url not in (None, "sqlite://") or (url is None and mark_of(storage)):
                self._check_storage(storage)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def make_read_only(self, sentence: str) -> None:
        super().make_read_only(sentence)
        self.artifacts.read_only = sentence

    def back_up(self, folder: Path) -> None:
        """Copy the home into a new folder, itself a home then, while others work here. Raises
        `BadValue` where the folder exists or the database lies elsewhere, `StoreError`.
        """
        need(not folder.exists(), f"{folder} exists. Name a new folder.")
        own = self.sqlite and not self.artifacts_url
        tools = "with its own tools, such as pg_dump, and then the files in"
        need(own, f"The store is {self.where}. Copy it {tools} {self.artifacts.storage}.")

        def left_out(place: str, names: list[str]) -> list[str]:
            return [n for n in names if n.startswith("store.sqlite") or Path(place, n) == folder]

        with self.sentences():
            folder.mkdir(mode=0o700, parents=True)
            # rows first: of files that come meanwhile nobody asks there
            with closing(sqlite3.connect(self.where)) as here:
                with closing(sqlite3.connect(folder / "store.sqlite")) as there:
                    here.backup(there)
            shutil.copytree(self.home, folder, ignore=left_out, dirs_exist_ok=True)

    def _check_storage(self, storage: Storage) -> None:
        """Hold that the files of this database lie in this storage, and those of no other: both
        know one number, which the first who opens a database to it makes. Raises `StoreError`.
        """
        info = schema.store_info
        number = sa.select(info.c.value).where(info.c.name == _FILES)
        with self.sentences():
            with self.read() as connection:
                known = connection.execute(number).scalar()
            if known is None:
                with self.write() as connection:
                    known = connection.execute(number).scalar()  # another was faster
                    if known is None and mark_of(storage):
                        raise StoreError(
                            f"The files in {storage} are those of another database than "
                            f"{self.where}. Name that one with MUCORE_STORE_URL; if it is gone for "
                            f"good, remove {storage}/{MARK}."
                        )
                    if known is None:
                        known = secrets.randbits(62)
                        connection.execute(sa.insert(info).values(name=_FILES, value=known))
                        # before the number counts, so that nobody finds the storage without it
                        storage.write(MARK, str(known).encode())
            found = mark_of(storage)
        if found != str(known):
            raise StoreError(
                f"The files of the store {self.where} are not those in {storage}. Everyone who "
                "uses this database needs the same files: name the shared folder with --home, "
                "or their address with MUCORE_ARTIFACTS. If they were removed on purpose, "
                f"write {known} into {storage}/{MARK}."
            )
        self.artifacts.mark = found


def open_store(
    home: Path | str | None = None, *, url: str | None = None, artifacts: str | None = None
) -> Store:
    """Open the store in `home` (default: `default_home()`), making what is missing.

    `url` (default: `MUCORE_STORE_URL`) names a database elsewhere,
    `postgresql://user:password@host/database`, to share it between machines. Then `artifacts`
    (default: `MUCORE_ARTIFACTS`) names where weights and outputs lie for all of them, such as
    `s3://bucket/prefix` or `file:///shared/folder`; without it they lie under `home`, which must be
    a shared folder. Raises `StoreError`, also where these are another store's files.
    """
    folder = default_home() if home is None else paths.path(os.fspath(home), what="The home")
    return Store(
        folder.absolute(),
        url=url or os.environ.get("MUCORE_STORE_URL") or None,
        artifacts=artifacts or os.environ.get("MUCORE_ARTIFACTS") or None,
    )
