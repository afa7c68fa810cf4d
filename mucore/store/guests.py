"""A store as guests see it: it can only be read, and says no path of this machine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Unpack

import sqlalchemy as sa

from mucore.store import schema
from mucore.store.records import Job, Measured
from mucore.store.results import Filters
from mucore.store.store import Store

if TYPE_CHECKING:
    import pandas as pd

_OWN = re.compile(r"(npz|folder):(?![0-9a-f]{4}/[^/]*$)(.+)", re.DOTALL)
# Two parts at least, so that "and/or" and a lone "/" stay what they are.
_PATH = re.compile(
    r"""(?<![\w/\\.~*-])(?:~|[A-Za-z]:)?[/\\](?:[^\s'"<>|,;:()/\\]+[/\\])+[^\s'"<>|,;()/\\]*"""
)
_ADDRESS = re.compile(r"\b(?:postgres\w*|sqlite|s3|gs|file)(?:\+\w+)?://[^\s,;)]*")


class GuestStore(Store):
    """A store for who may only read: each write raises `ReadOnly` with `sentence`, and the database
    refuses what would get past that. The user's own data are named by the last part of their path,
    in records, jobs and sentences; keys stay, for they never hold a path.
    """

    def __init__(
        self, home: Path, *, url: str | None = None, artifacts: str | None = None, sentence: str
    ):
        super().__init__(home, url=url, artifacts=artifacts)
        self.make_read_only(sentence)

    def summaries(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        frame = super().summaries(**filters)
        return frame.assign(dataset=frame["dataset"].map(dataset_of).astype("str"))

    def metric_values(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        frame = super().metric_values(**filters)
        known = (str(self.home), *_own_paths(self._datasets()))
        return frame.assign(error=frame["error"].map(partial(_shown, known), na_action="ignore"))

    def kept_log(self, job_id: int) -> str:
        return ""  # logs name files

    def _select(self, columns: Sequence[Any], filters: Filters) -> Sequence[Any]:
        wanted = filters.get("dataset")
        names = [wanted] if isinstance(wanted, str) else list(wanted or ())
        if any(":" in name for name in names):
            known = [one for one in self._datasets() if dataset_of(one) in names]
            filters = {**filters, "dataset": known}
        return super()._select(columns, filters)

    def _datasets(self) -> Sequence[str]:
        """The names of data sets that results have, as they are stored."""
        with self.read() as connection:
            return connection.execute(sa.select(schema.result.c.dataset).distinct()).scalars().all()

    def shown(self, record: Any) -> Any:
        """A record with each name of data and each sentence as guests see it; logs name files."""
        fields = vars(record) | ({"log": None} if isinstance(record, Job) else {})
        asked = fields["spec"] if "spec" in fields else fields["grid"]
        known = (str(self.home), *_own_paths([str(asked.get("dataset"))]))
        return replace(record, **{name: _shown(known, value) for name, value in fields.items()})


def _own_paths(datasets: Iterable[str]) -> list[str]:
    return [found[2] for name in datasets if (found := _OWN.fullmatch(name))]


def _shown(known: Sequence[str], value: Any) -> Any:
    """A value of a record, and all that is in it, without this machine's paths."""
    if isinstance(value, str):
        return dataset_of(value) if _OWN.fullmatch(value) else without_paths(value, *known)
    if isinstance(value, Measured):
        return replace(value, error=_shown(known, value.error)) if value.error else value
    if isinstance(value, Mapping):
        return {name: _shown(known, one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_shown(known, one) for one in value)
    return value


def dataset_of(name: str) -> str:
    """The name of a data set without the way to it, "npz:3f2a/faces.npz": four digits tell files of
    one name apart.
    """
    own = _OWN.fullmatch(name)
    if own is None:
        return name
    kind, path = own.groups()
    return f"{kind}:{hashlib.sha256(path.encode()).hexdigest()[:4]}/{PurePath(path).name}"


def without_paths(text: str, *known: str) -> str:
    """A sentence with the last part of each absolute path in its place; `known` paths are found
    with spaces in them, too. Addresses of databases and object stores go.
    """
    text = _ADDRESS.sub("…", text)
    for path in sorted(filter(None, known), key=len, reverse=True):
        text = text.replace(path, PurePath(path).name)
    return _PATH.sub(lambda found: re.split(r"[/\\]", found[0].rstrip("/\\"))[-1], text)
