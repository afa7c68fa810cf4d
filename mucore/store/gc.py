"""Retention: what `gc` removes and what it keeps because a record needs it or a job may; how much
there is on the disk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

import sqlalchemy as sa

from mucore.errors import BadValue
from mucore.runs import REFERENCES
from mucore.store import schema
from mucore.store.artifacts import YOUNG_SECONDS, Artifacts
from mucore.store.jobs import Jobs
from mucore.store.records import ACTIVE
from mucore.store.storage import Folder

Policy = Literal["all", "outputs", "numbers"]
# Each kind of files, or folder, in the home with what may be removed of it, and how.
REMOVAL: Mapping[str, str] = {
    "weights": "`gc --keep outputs` removes those of unlearned models, `--keep numbers` all.",
    "outputs": "`gc --keep numbers` removes them; pages of single samples need them.",
    "given": "Copies of your own files of weights. Nothing could make them again.",
    "uploads": "Data sets that came through Launch. Delete the folder if no run needs them.",
    "forget_sets": "Lists of samples. Saved ones go on the page Forget sets.",
    "checkpoints": "`gc` removes them while no run is queued or running.",
    "logs": "Delete the folder when nothing is running.",
    "database": "All results; cannot be removed.",
    "analyses": "Delete the folder: they are computed again.",
    "packs": "Delete the folder: analyses of packs are computed again.",
    "quality": "Delete the folder: it is computed again.",
    "data": "Delete the folder, but for what you put there: it is fetched or drawn again.",
    "copies": "Delete the folder: they are fetched again from MUCORE_ARTIFACTS.",
    "other": "Nothing of a run. Look at it before you delete it.",
}


class Retention(Jobs):
    """The part of the store that knows what its files are for."""

    artifacts: Artifacts

    def gc(self, policy: Policy, *, young_seconds: float = YOUNG_SECONDS) -> dict[str, int]:
        """Remove files that no record needs, and those that `policy` does not keep; returns `files`
        and `bytes` removed.

        `all` keeps everything a record names. `outputs` drops the weights of unlearned models;
        those of originals and retrained models stay, because every later method starts from them.
        `numbers` drops all weights and outputs, those of originals and retrained models once no
        job is queued or running; then states of unfinished trainings go, too. Numbers never go,
        and files younger than `young_seconds` stay, whose record may be on its way. Raises
        `BadValue`.
        """
        if policy not in get_args(Policy):
            raise BadValue(f"A retention policy is all, outputs or numbers, but got {policy!r}.")
        self.check_writable()
        busy = bool(self.jobs(states=ACTIVE, limit=1))
        # Files go first, for on a full disk nothing can be written before. A row whose file is
        # gone counts as one without, so what happens in between does no harm.
        free = _free(policy, busy, schema.now() - timedelta(seconds=young_seconds))
        with self.read() as connection:
            keep = {
                name
                for column, rows in free
                for name in connection.execute(sa.select(column).where(~rows)).scalars()
            }
        files, freed = self.artifacts.sweep(keep, young_seconds=young_seconds)
        if policy != "all":
            with self.write("results") as connection:
                for column, rows in free:
                    update = sa.update(column.table).where(rows).values({column.name: None})
                    connection.execute(update)
        if not busy:
            latest = time.time() - young_seconds
            for path in (self.home / "checkpoints").glob("*"):
                with suppress(OSError):  # another process sweeps too; or it is somebody else's
                    facts = path.stat()
                    if facts.st_mtime <= latest:
                        path.unlink()
                        files, freed = files + 1, freed + facts.st_size
        return {"files": files, "bytes": freed}

    def disk_use(self) -> dict[str, int]:
        """Bytes of everything in the home by kind, the keys of `REMOVAL`, with the artifacts where
        they lie; links are not followed.

        `database` is 0 where it is elsewhere, `data` where the data folder is.
        """
        artifacts = self.artifacts.disk_use()
        use = dict.fromkeys(REMOVAL, 0) | artifacts
        storage = self.artifacts.storage
        for entry in self.home.iterdir() if self.home.is_dir() else ():
            size = _bytes(entry)
            if entry.name.startswith("store.sqlite"):
                use["database"] += size
            elif isinstance(storage, Folder) and entry == storage.path:
                use["other"] += size - sum(artifacts.values())  # left by writes that were cut off
            else:
                use[entry.name if entry.name in REMOVAL else "other"] += size
        return use


def _free(
    policy: Policy, busy: bool, latest: datetime
) -> list[tuple[sa.Column[str], sa.ColumnElement[bool]]]:
    """The columns that name files, and the rows, none younger than `latest`, whose file `policy`
    does not keep.
    """
    result, model = schema.result, schema.model
    reference = result.c.method.in_(REFERENCES)
    # one without a result may be a reference that is still measured, or a record of a training
    measured = model.c.model_key.in_(sa.select(result.c.model_key).where(~reference))
    results = sa.func.coalesce(result.c.finished <= latest, sa.true())
    models = model.c.created <= latest
    if policy == "all":
        results = models = sa.false()
    elif policy == "outputs" or busy:
        results, models = results & ~reference, models & measured
    return [
        (result.c.weights, results),
        (result.c.outputs, results if policy == "numbers" else sa.false()),
        (model.c.weights, models),
    ]


def _bytes(path: Path) -> int:
    """Of a file, or of all files in a folder; a link counts as itself."""
    if path.is_symlink() or not path.is_dir():
        try:
            return path.lstat().st_size
        except FileNotFoundError:  # another process removed it
            return 0
    return sum(_bytes(Path(folder, name)) for folder, _, files in os.walk(path) for name in files)
