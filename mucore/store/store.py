"""`Store`: everything that is kept between runs, behind one object."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import sqlalchemy as sa

from mucore.errors import BadValue
from mucore.store import schema
from mucore.store.artifacts import YOUNG_SECONDS, Artifacts, remove_old, size
from mucore.store.comparisons import Comparisons
from mucore.store.jobs import Jobs
from mucore.store.records import ACTIVE
from mucore.store.results import Results
from mucore.store.workers import Workers

Policy = Literal["all", "outputs", "numbers"]
REFERENCES = ("original", "retrain")


class Store(Results, Jobs, Workers, Comparisons):
    """Results, models, jobs, workers and comparisons in a database; weights and outputs in files under `home`.

    Make one a process with `open_store`; threads may share it. Use it in a `with` block or call `close`.
    """

    def __init__(self, home: Path, *, url: str | None = None):
        super().__init__(home, url)
        self.artifacts = Artifacts(home / "artifacts")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def make_read_only(self, sentence: str) -> None:
        """From now on every write raises `StoreError` with `sentence`."""
        self.read_only = self.artifacts.read_only = sentence

    def disk_use(self) -> dict[str, int]:
        """Bytes on disk by kind: `weights`, `outputs`, `checkpoints`, `logs`, `database` (0 where the database is elsewhere)."""
        use = self.artifacts.disk_use()
        for kind in ("checkpoints", "logs"):
            use[kind] = sum(size(path) for path in (self.home / kind).rglob("*") if path.is_file())
        return use | {"database": sum(size(path) for path in self.home.glob("store.sqlite*"))}

    def gc(self, policy: Policy, *, young_seconds: float = YOUNG_SECONDS) -> dict[str, int]:
        """Remove files that no record needs, and those that `policy` does not keep; returns `files` and `bytes` removed.

        `all` keeps everything a record names. `outputs` drops the weights of unlearned models; those of originals and retrained models
        stay, because every later method starts from them. `numbers` drops all weights and outputs. What a queued or running job needs
        stays under any policy, and so do files younger than `young_seconds`, whose record may be on its way. Numbers never go. States of
        unfinished trainings go while no job is queued or running.
        """
        if policy not in ("all", "outputs", "numbers"):
            raise BadValue(f"A retention policy is all, outputs or numbers, but got {policy!r}.")
        result, model = schema.result, schema.model
        with self.write("results") as connection:
            needed = self._needed_by_jobs(connection)
            needed_models = set(connection.execute(sa.select(result.c.model_key).where(self.among(result.c.key, needed))).scalars())
            if policy != "all":
                free = ~self.among(result.c.key, needed)
                if policy == "outputs":
                    free &= result.c.method.not_in(REFERENCES)
                    references = sa.select(result.c.model_key).where(result.c.method.in_(REFERENCES))
                    needed_models |= set(connection.execute(references).scalars())
                dropped = {"weights": None} if policy == "outputs" else {"weights": None, "outputs": None}
                connection.execute(sa.update(result).where(free).values(dropped))
                connection.execute(sa.update(model).where(~self.among(model.c.model_key, needed_models)).values(weights=None))
            named = [sa.select(column) for column in (result.c.weights, result.c.outputs, model.c.weights)]
            keep = set(connection.execute(sa.union(*named)).scalars())
        files, freed = self.artifacts.sweep({name for name in keep if name}, young_seconds=young_seconds)
        if not needed:
            unfinished, more = remove_old((self.home / "checkpoints").glob("*"), young_seconds=young_seconds)
            files, freed = files + unfinished, freed + more
        return {"files": files, "bytes": freed}

    def _needed_by_jobs(self, connection: sa.Connection) -> set[str]:
        """Keys of queued and running jobs and of what they build on."""
        active = connection.execute(sa.select(schema.job.c.key, schema.job.c.needs).where(schema.job.c.state.in_(ACTIVE)))
        return {key for row in active for key in (row.key, *json.loads(row.needs))}


def default_home() -> Path:
    """`MUCORE_HOME`, or `.mucore` in the user's home folder."""
    return Path(os.environ.get("MUCORE_HOME") or Path.home() / ".mucore").expanduser()


def open_store(home: Path | str | None = None, *, url: str | None = None) -> Store:
    """Open the store in `home` (default: `default_home()`), making what is missing.

    `url` (default: `MUCORE_STORE_URL`) names a database elsewhere, `postgresql://user:password@host/database`, to share it between
    machines; files stay under `home`, which must then be a shared folder. Raises `StoreError`.
    """
    folder = default_home() if home is None else Path(home).expanduser()
    return Store(folder.absolute(), url=url or os.environ.get("MUCORE_STORE_URL") or None)
