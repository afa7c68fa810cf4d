"""`Store`: everything that is kept between runs, behind one object."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import sqlalchemy as sa

from mucore.errors import BadValue
from mucore.store import schema
from mucore.store.artifacts import YOUNG_SECONDS, Artifacts, remove_old, size
from mucore.store.comparisons import Comparisons
from mucore.store.jobs import Jobs
from mucore.store.results import Results
from mucore.store.rows import ACTIVE
from mucore.store.workers import Workers

Policy = Literal["all", "outputs", "numbers"]
REFERENCES = ("original", "retrain")
_FOLDERS = {
    name: name
    for name in ("uploads", "forget_sets", "checkpoints", "logs", "analyses", "quality", "data")
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
    "other": (
        "Nothing of a run. Files of a write that was cut off go with `python -m mucore gc`; look "
        "at the rest before you delete it."
    ),
}


class Store(Results, Jobs, Workers, Comparisons):
    """Results, models, jobs, workers and comparisons in a database; weights and outputs in files
    under `home`.

    Make one a process with `open_store`; threads may share it. Use it in a `with` block or call
    `close`.
    """

    def __init__(self, home: Path, *, url: str | None = None):
        super().__init__(home, url)
        self.artifacts = Artifacts(home / "artifacts")

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
        """From now on every write raises `StoreError` with `sentence`."""
        self.read_only = self.artifacts.read_only = sentence

    def disk_use(self) -> dict[str, int]:
        """Bytes of everything in the home by kind, the keys of `REMOVAL`; links are not followed.

        `database` is 0 where it is elsewhere, `data` where the data folder is; `analyses` counts
        those of packs, too.
        """
        artifacts = self.artifacts.disk_use()
        use = dict.fromkeys(REMOVAL, 0) | artifacts
        for entry in self.home.iterdir() if self.home.is_dir() else ():
            if entry.name.startswith("store.sqlite"):
                use["database"] += size(entry)
            elif entry.name != self.artifacts.folder.name:
                use[_FOLDERS.get(entry.name, "other")] += _bytes(entry)
        # left by writes that were cut off
        use["other"] += max(0, _bytes(self.artifacts.folder) - sum(artifacts.values()))
        return use

    def gc(self, policy: Policy, *, young_seconds: float = YOUNG_SECONDS) -> dict[str, int]:
        """Remove files that no record needs, and those that `policy` does not keep; returns `files`
        and `bytes` removed.

        `all` keeps everything a record names. `outputs` drops the weights of unlearned models;
        those of originals and retrained models stay, because every later method starts from them.
        `numbers` drops all weights and outputs. What a queued or running job needs stays under any
        policy, and so do files younger than `young_seconds`, whose record may be on its way.
        Numbers never go. States of unfinished trainings go while no job is queued or running.
        """
        if policy not in ("all", "outputs", "numbers"):
            raise BadValue(f"A retention policy is all, outputs or numbers, but got {policy!r}.")
        result, model = schema.result, schema.model
        with self.write("results") as connection:
            needed = self._needed_by_jobs(connection)
            needed_models = set(
                connection.execute(
                    sa.select(result.c.model_key).where(self.among(result.c.key, needed))
                ).scalars()
            )
            if policy != "all":
                free = ~self.among(result.c.key, needed)
                if policy == "outputs":
                    free &= result.c.method.not_in(REFERENCES)
                    references = sa.select(result.c.model_key).where(
                        result.c.method.in_(REFERENCES)
                    )
                    needed_models |= set(connection.execute(references).scalars())
                dropped = (
                    {"weights": None} if policy == "outputs" else {"weights": None, "outputs": None}
                )
                connection.execute(sa.update(result).where(free).values(dropped))
                connection.execute(
                    sa.update(model)
                    .where(~self.among(model.c.model_key, needed_models))
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
        if not needed:
            unfinished, more = remove_old(
                (self.home / "checkpoints").glob("*"), young_seconds=young_seconds
            )
            files, freed = files + unfinished, freed + more
        return {"files": files, "bytes": freed}

    def _needed_by_jobs(self, connection: sa.Connection) -> set[str]:
        """Keys of queued and running jobs and of what they build on."""
        active = connection.execute(
            sa.select(schema.job.c.key, schema.job.c.needs).where(schema.job.c.state.in_(ACTIVE))
        )
        return {key for row in active for key in (row.key, *json.loads(row.needs))}


def _bytes(path: Path) -> int:
    """Of a file, or of all files in a folder; a link counts as itself."""
    if path.is_symlink() or not path.is_dir():
        try:
            return path.lstat().st_size
        except FileNotFoundError:  # another process removed it
            return 0
    return sum(_bytes(Path(folder, name)) for folder, _, files in os.walk(path) for name in files)


def default_home() -> Path:
    """`MUCORE_HOME`, or `.mucore` in the user's home folder."""
    return Path(os.environ.get("MUCORE_HOME") or Path.home() / ".mucore").expanduser()


def open_store(home: Path | str | None = None, *, url: str | None = None) -> Store:
    """Open the store in `home` (default: `default_home()`), making what is missing.

    `url` (default: `MUCORE_STORE_URL`) names a database elsewhere,
    `postgresql://user:password@host/database`, to share it between machines; files stay under
    `home`, which must then be a shared folder. Raises `StoreError`.
    """
    folder = default_home() if home is None else Path(home).expanduser()
    return Store(folder.absolute(), url=url or os.environ.get("MUCORE_STORE_URL") or None)
