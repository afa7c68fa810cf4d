"""`Store`: everything that is kept between runs, behind one object."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import sqlalchemy as sa

from mucore.errors import BadValue, StoreError
from mucore.spec import RunSpec
from mucore.store import schema
from mucore.store.artifacts import YOUNG_SECONDS, Artifacts, size
from mucore.store.comparisons import Comparisons
from mucore.store.jobs import Jobs
from mucore.store.needed import needed_by_jobs
from mucore.store.places import MARK, Elsewhere, Folder, place_of
from mucore.store.results import Results
from mucore.store.talks import Talks
from mucore.store.workers import Workers
from mucore.userfiles import paths
from mucore.userfiles.paths import default_home

Policy = Literal["all", "outputs", "numbers"]
REFERENCES = ("original", "retrain")
_FILES = "files"  # the row of `store_info` with the number of the place
_FOLDERS = {
    name: name
    for name in (
        "uploads",
        "forget_sets",
        "checkpoints",
        "logs",
        "analyses",
        "quality",
        "data",
        "copies",
    )
} | {"packs": "analyses"}
# Each kind of files in the home with what may be removed of it, and how.
REMOVAL: Mapping[str, str] = {
    "weights": (
        "`python -m mucore gc --keep outputs` removes those of unlearned models, `--keep numbers` "
        "all. A run makes them again."
    ),
    "outputs": (
        "`python -m mucore gc --keep numbers` removes predictions and features. Pages that show "
        "single samples need them."
    ),
    "given": (
        "Copies of your own files of weights. No command removes them, for nothing could make "
        "them again."
    ),
    "uploads": (
        "Data sets that came through the Launch page. Delete the folder uploads if no run on them "
        "is to be made again."
    ),
    "forget_sets": (
        "Lists of samples. Saved ones go on the page Forget sets; the folder forget_sets/kept "
        "holds what addresses name."
    ),
    "checkpoints": (
        "States of unfinished trainings. `python -m mucore gc` removes them while no run is "
        "queued or running."
    ),
    "logs": "Delete the folder logs while no run is running. Numbers do not need it.",
    "database": "All numbers. It stays.",
    "analyses": (
        "Delete the folders analyses and packs. Maps and the like are computed again when a page "
        "asks, from outputs and weights."
    ),
    "quality": (
        "Delete the folder quality. Forgetting quality is computed again, as long as the outputs "
        "are there."
    ),
    "data": (
        "Delete data sets in the folder data. They are fetched or drawn again; those that you put "
        "there yourself are not."
    ),
    "copies": (
        "Copies of weights and outputs that lie elsewhere (MUCORE_ARTIFACTS). Delete the folder "
        "copies; they are fetched again. MUCORE_COPIES_GB says how much they may take."
    ),
    "other": (
        "Nothing of a run. Files of a write that was cut off go with `python -m mucore gc`; look "
        "at the rest before you delete it."
    ),
}


class Store(Results, Jobs, Workers, Comparisons, Talks):
    """Results, models, jobs, workers, comparisons and talks in a database; weights and outputs in
    files under `home`, or where the address `artifacts` says.

    Make one a process with `open_store`; threads may share it. Use it in a `with` block or call
    `close`.
    """

    def __init__(self, home: Path, *, url: str | None = None, artifacts: str | None = None):
        place = place_of(home, artifacts)
        super().__init__(home, url)
        self.artifacts_url = artifacts
        self.artifacts = Artifacts(place)
        try:
            self._check_place()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def make_read_only(self, sentence: str) -> None:
        super().make_read_only(sentence)
        self.artifacts.read_only = sentence

    def _check_place(self) -> None:
        """Hold that the files of this database lie in this place: the database and the place know
        one number. The first who opens a database with a place of its own to it makes the number.

        A database in memory, and one in its home with its files, need none. Raises `StoreError`.
        """
        apart = not (self.url is None or self.url == "sqlite://") or isinstance(
            self.artifacts.place, Elsewhere
        )
        with self.read() as connection:
            known = _files_id(connection)
        if known is None and not apart:
            return
        place = self.artifacts.place
        with self.sentences():
            found = place.mark()
            if known is None:
                with self.write() as connection:
                    known = _files_id(connection)  # another process may have been faster
                    if known is None:
                        if found is None and self._lacks_files(connection):
                            raise StoreError(self._elsewhere())
                        usable = found is not None and found.isdecimal() and int(found) < 2**63
                        known = int(found) if usable else secrets.randbits(62)
                        connection.execute(
                            sa.insert(schema.store_info).values(name=_FILES, value=known)
                        )
                        # before the number counts, so that nobody finds the place without it
                        place.set_mark(str(known))
                        found = str(known)
                    else:
                        found = place.mark()
        if found != str(known):
            raise StoreError(self._elsewhere(known))
        self.artifacts.mark = found

    def _lacks_files(self, connection: sa.Connection) -> bool:
        """Whether the database names files of which this place has none."""
        newest = connection.execute(
            sa.select(schema.model.c.weights)
            .where(schema.model.c.weights.is_not(None))
            .order_by(schema.model.c.created.desc())
            .limit(20)
        ).scalars()
        names = list(newest)
        return bool(names) and not any(self.artifacts.exists(name) for name in names)

    def _elsewhere(self, known: int | None = None) -> str:
        place = self.artifacts.place
        way = (
            ""
            if known is None
            else f" If they were removed on purpose, write {known} into {place}/{MARK}."
        )
        return (
            f"The files of the store {self.where} are not those in {place}. Everyone who uses this "
            "database needs the same files: name the shared folder with --home, or their address "
            f"with MUCORE_ARTIFACTS.{way}"
        )

    def disk_use(self) -> dict[str, int]:
        """Bytes of everything in the home by kind, the keys of `REMOVAL`, with the artifacts where
        they lie; links are not followed.

        `database` is 0 where it is elsewhere, `data` where the data folder is; `analyses` counts
        those of packs, too.
        """
        artifacts = self.artifacts.disk_use()
        use = dict.fromkeys(REMOVAL, 0) | artifacts
        place = self.artifacts.place
        for entry in self.home.iterdir() if self.home.is_dir() else ():
            if entry.name.startswith("store.sqlite"):
                use["database"] += size(entry)
            elif not (isinstance(place, Folder) and entry == place.path):
                use[_FOLDERS.get(entry.name, "other")] += _bytes(entry)
        if isinstance(place, Folder):  # left by writes that were cut off
            use["other"] += max(0, _bytes(place.path) - sum(artifacts.values()))
        return use

    def gc(self, policy: Policy, *, young_seconds: float = YOUNG_SECONDS) -> dict[str, int]:
        """Remove files that no record needs, and those that `policy` does not keep; returns `files`
        and `bytes` removed.

        `all` keeps everything a record names. `outputs` drops the weights of unlearned models;
        those of originals and retrained models stay, because every later method starts from them.
        `numbers` drops all weights and outputs. What a queued or running job needs stays under any
        policy, of a search all weights, and so do files younger than `young_seconds`, whose record
        may be on its way. Numbers never go. States of unfinished trainings go while no job is
        queued or running. Raises `BadValue`.
        """
        if policy not in ("all", "outputs", "numbers"):
            raise BadValue(f"A retention policy is all, outputs or numbers, but got {policy!r}.")
        result, model = schema.result, schema.model
        specs: dict[str, RunSpec | None] = {}
        with self.read() as connection:
            needed_by_jobs(connection, self.among, specs)
        with self.write("results") as connection:
            needed = needed_by_jobs(connection, self.among, specs)
            if policy != "all":
                free = ~self.among(result.c.key, needed.keys)
                if policy == "outputs":
                    free &= result.c.method.not_in(REFERENCES)
                    references = sa.select(result.c.model_key).where(
                        result.c.method.in_(REFERENCES)
                    )
                    needed.models |= set(connection.execute(references).scalars())
                dropped = (
                    {"weights": None} if policy == "outputs" else {"weights": None, "outputs": None}
                )
                connection.execute(sa.update(result).where(free).values(dropped))
                if not needed.every_model:
                    connection.execute(
                        sa.update(model)
                        .where(~self.among(model.c.model_key, needed.models))
                        .values(weights=None)
                    )
            named = [
                sa.select(column)
                for column in (result.c.weights, result.c.outputs, model.c.weights)
            ]
            keep = set(connection.execute(sa.union(*named)).scalars())
        files, freed = self.artifacts.sweep(
            {name for name in keep if name}, young_seconds=young_seconds
        )
        if not needed.keys:
            unfinished, more = _remove_old(
                (self.home / "checkpoints").glob("*"), young_seconds=young_seconds
            )
            files, freed = files + unfinished, freed + more
        return {"files": files, "bytes": freed}


def _files_id(connection: sa.Connection) -> int | None:
    """The number that the database and the place of its files have in common."""
    return connection.execute(
        sa.select(schema.store_info.c.value).where(schema.store_info.c.name == _FILES)
    ).scalar()


def _bytes(path: Path) -> int:
    """Of a file, or of all files in a folder; a link counts as itself."""
    if path.is_symlink() or not path.is_dir():
        try:
            return path.lstat().st_size
        except FileNotFoundError:  # another process removed it
            return 0
    return sum(_bytes(Path(folder, name)) for folder, _, files in os.walk(path) for name in files)


def _remove_old(paths: Iterable[Path], *, young_seconds: float) -> tuple[int, int]:
    """Remove those of `paths` that are older than `young_seconds`; returns (files, bytes)
    removed.
    """
    files = freed = 0
    latest = time.time() - young_seconds
    for path in paths:
        try:
            facts = path.stat()
            if facts.st_mtime > latest:
                continue
            path.unlink()
        except FileNotFoundError:  # another process sweeps too
            continue
        files, freed = files + 1, freed + facts.st_size
    return files, freed


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
