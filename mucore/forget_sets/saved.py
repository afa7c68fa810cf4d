"""Forget sets as files that can be shared: `<home>/forget_sets/<name>.json`, each written whole or
not at all.

A set that nobody has named yet is kept by its content, under `kept/<32 hexadecimal digits>.json` of
the same folder, so that an address can name more samples than it carries. Where ids are asked for,
`set:NAME` and `kept:DIGITS` stand for them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import numpy as np
from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    computed_field,
)

from mucore.errors import BadFile, BadValue, StoreError, UnknownName
from mucore.files import write
from mucore.userfiles import doors

SAVED: Final = "set:"
KEPT: Final = "kept:"
VERSION: Final = 2  # of the file: rows in the source; 1 had numbers of the default division
LONGEST: Final = 60  # characters of a name
_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9 ._-]*[A-Za-z0-9_-])?")
_RULE: Final = (
    "A name has 1 to 60 letters from a to z, digits, spaces, dots, hyphens and "
    "underscores, and begins with a letter or digit"
)


def forget_hash(ids: Iterable[int]) -> str:
    """16 hexadecimal digits that name a forget set; the order of the ids does not matter."""
    text = ",".join(str(int(i)) for i in sorted(ids))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class NamedSet(BaseModel):
    """Samples to forget and where they come from; the file as it stands.

    `dataset` is an id, `npz:PATH` or `folder:PATH`; `data_hash` is of the content of the last two,
    "" for the others. `rows` are those of the source, sorted, each once; in a file of `version` 1
    they are numbers of the default division (`identity.of_saved` translates). `made` says in
    sentences how the set came about, `created` when it was saved; `name` is "" for one kept by
    content.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["mucore forget set"] = "mucore forget set"
    version: Literal[1, 2] = VERSION
    name: str = Field(default="", max_length=LONGEST)
    dataset: str
    data_hash: str
    made: tuple[str, ...] = ()
    created: AwareDatetime | None = None
    rows: tuple[NonNegativeInt, ...] = Field(
        min_length=1, validation_alias=AliasChoices("rows", "ids")
    )

    @computed_field
    @property
    def hash(self) -> str:
        return forget_hash(self.rows)

    @property
    def ids(self) -> np.ndarray:
        """The rows, (n,) int64."""
        return np.array(self.rows, np.int64)


def make(
    dataset: str,
    ids: Iterable[int],
    *,
    data_hash: str = "",
    made: Iterable[str] = (),
    name: str = "",
) -> NamedSet:
    """A set of these samples, made now where it has a name. Raises `BadValue` for a name that
    breaks the rule, and for no sample.
    """
    found = np.unique(np.asarray(list(ids), dtype=np.int64))
    if not len(found):
        raise BadValue("A forget set needs at least one sample. Add some first.")
    if name:
        check_name(name)
    return NamedSet(
        name=name,
        dataset=dataset,
        data_hash=data_hash,
        made=tuple(made),
        created=datetime.now(UTC).replace(microsecond=0) if name else None,
        rows=tuple(found.tolist()),
    )


def check_name(name: str) -> str:
    """The name as it may stand in a file's. Raises `BadValue` with the rule."""
    if len(name) > LONGEST or not _NAME.fullmatch(name):
        raise BadValue(f"{_RULE}, but got {name[:80]!r}. Choose another.")
    return name


def folder(home: Path) -> Path:
    """Raises `ReadOnly` to who may not name files."""
    doors.check()
    return home / "forget_sets"


def save(home: Path, found: NamedSet, *, replace: bool = False) -> Path:
    """Write a set under its name. Raises `BadValue` where the name is taken and it was not said to
    `replace` that set; `StoreError`.
    """
    path = _path(home, found.name)
    if path.exists() and not replace:
        raise BadValue(
            f"There is a forget set {found.name!r} already. Choose another name, or replace it."
        )
    write(path, to_json(found))
    return path


def load(home: Path, name: str) -> NamedSet:
    """Raises `BadValue` for what is no name, `UnknownName` for one that no set has, `BadFile` for a
    damaged file.
    """
    path = _path(home, name)
    if not path.is_file():
        raise UnknownName("forget set", name, [each.stem for each in _files(home)])
    return _read(path)


def listed(home: Path) -> tuple[list[NamedSet], list[str]]:
    """The saved sets, newest first, and a sentence for each file that cannot be used."""
    found, problems = [], []
    for path in _files(home):
        try:
            found.append(_read(path))
        except BadFile as failure:
            problems.append(str(failure))
    return sorted(
        found,
        key=lambda each: (each.created or datetime.min.replace(tzinfo=UTC), each.name),
        reverse=True,
    ), problems


def delete(home: Path, name: str) -> None:
    """Remove a set, a damaged one too. Raises `BadValue`, `UnknownName`, `StoreError`."""
    path = _path(home, name)
    try:
        path.unlink()
    except FileNotFoundError:
        raise UnknownName("forget set", name, [each.stem for each in _files(home)]) from None
    except OSError as error:
        raise StoreError(f"{path} could not be removed: {error.strerror or error}.") from error


def keep(home: Path, found: NamedSet) -> str:
    """Keep a set by its content; the 32 digits that name it. Raises `StoreError`."""
    content = to_json(found.model_copy(update={"name": "", "created": None}))
    key = hashlib.sha256(content).hexdigest()[:32]
    path = _kept(home, key)
    if not path.exists():
        write(path, content)
    return key


def is_reference(text: str) -> bool:
    """Whether a text names a set in the place of ids."""
    return text.strip().startswith((SAVED, KEPT))


def resolve(home: Path, text: str) -> NamedSet:
    """The set that `set:NAME` or `kept:DIGITS` names. Raises `BadValue`, `UnknownName`,
    `BadFile`.
    """
    kind, _, name = text.strip().partition(":")
    if f"{kind}:" == SAVED:
        return load(home, name.strip())
    if f"{kind}:" != KEPT or not re.fullmatch(r"[0-9a-f]{32}", name):
        raise BadValue(
            f"A forget set is named as set:NAME or kept:DIGITS, but got {text.strip()[:80]!r}."
        )
    path = _kept(home, name)
    if not path.is_file():
        raise BadFile(
            f"The samples kept as {name} are not in {folder(home)}: they were put together on "
            "another machine, or removed. Ask for the set as a file, or put it together again."
        )
    return _read(path)


def check_fits(found: NamedSet, dataset: str, data_hash: str) -> None:
    """Raise `BadValue` unless the ids mean samples of that data set; a user's own data may lie
    anywhere, but must be the same.
    """
    mine, wanted = (found.data_hash, data_hash) if found.data_hash else (found.dataset, dataset)
    if mine != wanted:
        raise BadValue(
            f"The forget set {found.name!r} names samples of {found.dataset}, which is not "
            f"{dataset} or had another content. Choose that data set, or build it again."
        )


def parse(content: bytes, *, name: str) -> NamedSet:
    """A set from what a file called `name` holds. Raises `BadFile`."""
    try:
        found = NamedSet.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise BadFile(
            f"{name} is no forget set, or a damaged one: {where} {problem['msg']}."
        ) from None
    return found.model_copy(update={"rows": tuple(sorted({*found.rows}))})


def to_json(found: NamedSet) -> bytes:
    """The content of a set's file."""
    return found.model_dump_json().encode() + b"\n"


def _path(home: Path, name: str) -> Path:
    return folder(home) / f"{check_name(name)}.json"


def _kept(home: Path, key: str) -> Path:
    return folder(home) / "kept" / f"{key}.json"


def _files(home: Path) -> list[Path]:
    return sorted(folder(home).glob("[!.]*.json"))


def _read(path: Path) -> NamedSet:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error
    found = parse(content, name=path.name)
    if found.name and found.name != path.stem:  # somebody renamed the file, so that is its name now
        found = found.model_copy(update={"name": path.stem})
    return found
