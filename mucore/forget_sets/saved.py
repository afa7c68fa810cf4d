"""Forget sets as files that can be shared: `<home>/forget_sets/<name>.json`, each written whole or
not at all.

A set that nobody has named yet is kept by its content, under `kept/<32 hexadecimal digits>.json` of
the same folder, so that an address can name more samples than it carries. Where ids are asked for,
`set:NAME` and `kept:DIGITS` stand for them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import AliasChoices, AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from mucore.errors import BadFile, BadValue, StoreError, UnknownName
from mucore.files import write
from mucore.userfiles import doors

SAVED: Final = "set:"
KEPT: Final = "kept:"
FORMAT: Final = "mucore forget set"
VERSION: Final = 2  # of the file: rows in the source; 1 had numbers of the default division
LONGEST: Final = 60  # characters of a name
LONGEST_STEP: Final = 500  # characters of a sentence on how a set was made; longer ones are cut
_RULE: Final = (
    "A name has 1 to 60 letters from a to z, digits, spaces, dots, hyphens and "
    "underscores, and begins with a letter or digit"
)
# names that Windows keeps for devices
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def forget_hash(ids: Iterable[int]) -> str:
    """16 hexadecimal digits that name a forget set; the order of the ids does not matter."""
    text = ",".join(str(int(i)) for i in sorted(ids))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class NamedSet:
    """Samples to forget and where they come from.

    `dataset` is an id, `npz:PATH` or `folder:PATH`; `data_hash` is of the content of the last two,
    "" for the others. `ids` (n,) int64 are rows in the source, sorted, each once; in a file of
    `version` 1 they are numbers of the default division (`identity.of_saved` translates). `digest`
    is of images and labels, "" where it is not known. `made` says in sentences how the set came
    about, `created` when it was saved; `name` is "" for one kept by content.
    """

    name: str
    dataset: str
    data_hash: str
    ids: np.ndarray
    made: tuple[str, ...] = ()
    created: datetime | None = None
    hash: str = ""
    digest: str = ""
    version: int = VERSION


class _Content(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", strict=False)

    format: Literal["mucore forget set"]
    version: Literal[1, 2]
    name: str = Field(max_length=LONGEST)
    dataset: str = Field(min_length=1, max_length=4096)
    data_hash: str = Field(pattern=r"^([0-9a-f]{64})?$")
    hash: str
    made: list[Annotated[str, Field(max_length=LONGEST_STEP)]] = []
    created: AwareDatetime | None = None
    digest: str = Field(default="", pattern=r"^([0-9a-f]{32})?$")
    ids: list[Annotated[int, Field(ge=0, strict=True)]] = Field(
        min_length=1, validation_alias=AliasChoices("rows", "ids")
    )


def make(
    dataset: str,
    ids: Iterable[int],
    *,
    data_hash: str = "",
    digest: str = "",
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
    created = datetime.now(UTC).replace(microsecond=0) if name else None
    steps = tuple(
        step if len(step) <= LONGEST_STEP else step[: LONGEST_STEP - 1] + "…" for step in made
    )
    named = forget_hash(found.tolist())
    return NamedSet(name, dataset, data_hash, found, steps, created, named, digest)


def check_name(name: str) -> str:
    """The name as it may stand in a file's. Raises `BadValue` with the rule."""
    if (
        not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._-]*", name)
        or len(name) > LONGEST
        or name[-1] in " ."
        or _RESERVED.fullmatch(name) is not None
    ):
        raise BadValue(f"{_RULE}, but got {name[:80]!r}. Choose another.")
    return name


def folder(home: Path) -> Path:
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
    content = to_json(dataclasses.replace(found, name="", created=None))
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
        where = "they were put together on another machine, or removed"
        raise BadFile(
            f"The samples kept as {name} are not in {folder(home)}: {where}. Ask for the set as a "
            "file, or put it together again."
        )
    if hashlib.sha256(path.read_bytes()).hexdigest()[:32] != name:
        raise BadFile(
            f"{path} is damaged: its content is not what its name says. Put the samples together "
            "again."
        )
    return _read(path)


def check_fits(found: NamedSet, dataset: str, data_hash: str) -> None:
    """Raise `BadValue` unless the ids mean samples of that data set; a user's own data may lie
    anywhere, but must be the same.
    """
    if (
        (found.data_hash == data_hash)
        if data_hash or found.data_hash
        else (found.dataset == dataset)
    ):
        return
    what = f"The forget set {found.name!r}" if found.name else "This list of samples"
    same = dataset.partition(":")[0] == found.dataset.partition(":")[0] and bool(
        data_hash and found.data_hash
    )
    rule = f"{what} names samples of {found.dataset}"
    raise BadValue(
        f"{rule}, whose content was different. Build it again."
        if same
        else f"{rule}, not of {dataset}. Choose that data set."
    )


def parse(content: bytes, *, name: str) -> NamedSet:
    """A set from what a file called `name` holds. Raises `BadFile`."""
    try:
        told = _Content.model_validate_json(content)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise BadFile(
            f"{name} is no forget set, or a damaged one "
            f"({where + ': ' if where else ''}{problem['msg']})."
        ) from None
    ids = np.array(told.ids, np.int64)
    if (np.diff(ids) <= 0).any():
        raise BadFile(f"{name} is damaged: its ids must be sorted, each once.")
    if forget_hash(told.ids) != told.hash:
        raise BadFile(
            f"{name} is damaged: its ids do not have the hash {told.hash[:16]} that it says."
        )
    return NamedSet(
        told.name,
        told.dataset,
        told.data_hash,
        ids,
        tuple(told.made),
        told.created,
        told.hash,
        told.digest,
        told.version,
    )


def to_json(found: NamedSet) -> bytes:
    """The content of a set's file."""
    told = {
        "format": FORMAT,
        "version": found.version,
        "name": found.name,
        "dataset": found.dataset,
        "data_hash": found.data_hash,
        "hash": found.hash,
        "made": list(found.made),
        "created": found.created.isoformat() if found.created is not None else None,
    }
    ids = found.ids.tolist()
    told |= {"ids": ids} if found.version == 1 else {"digest": found.digest, "rows": ids}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _path(home: Path, name: str) -> Path:
    doors.check()
    return folder(home) / f"{check_name(name)}.json"


def _kept(home: Path, key: str) -> Path:
    doors.check()
    return folder(home) / "kept" / f"{key}.json"


def _files(home: Path) -> list[Path]:
    doors.check()
    return sorted(folder(home).glob("[!.]*.json"))


def _read(path: Path) -> NamedSet:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error
    found = parse(content, name=path.name)
    if found.name and found.name != path.stem:  # somebody renamed the file, so that is its name now
        found = dataclasses.replace(found, name=path.stem)
    return found
