"""Addresses of pages under names that a person gave: a file each, `<home>/views/<hash>.json`.

Files, not a table: a view is a link, and nothing that is computed depends on it. Two people who
save at once write two files. No Streamlit.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dashboard.pages import BY_ID, MOVED, TAB
from mucore import printable
from mucore.errors import BadValue, StoreError
from mucore.files import write

FOLDER: Final = "views"
LONGEST: Final = 60  # characters of a name
MOST: Final = 100  # views of a home
_PATH: Final = re.compile(r"[/\\]")


class SavedView(BaseModel):
    """A page's address under a name; `query` are its parameters, each with its values."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=LONGEST)
    page: str
    query: dict[str, list[Annotated[str, Field(max_length=4096)]]] = Field(max_length=100)

    @property
    def names_a_file(self) -> bool:
        """Whether the address says where something lies on this machine, as own data do."""
        return any(_PATH.search(value) for values in self.query.values() for value in values)


def every(home: Path) -> tuple[SavedView, ...]:
    """By name; files that are no view are left out."""
    found = [view for path in (home / FOLDER).glob("*.json") if (view := _read(path)) is not None]
    return tuple(sorted(found, key=lambda view: view.name.casefold()))


def save(home: Path, name: str, page: str, query: Mapping[str, Sequence[str]]) -> SavedView:
    """Keep an address; one of the same name, however it is written, is replaced. Raises `BadValue`
    with the rule that is broken, `StoreError`.
    """
    name = printable.checked("A view's name", " ".join(name.split()))
    if not 1 <= len(name) <= LONGEST:
        raise BadValue(
            f"A view's name has 1 to {LONGEST} characters, but this has {len(name)}. Give it a "
            "word or two that you will recognise."
        )
    if page not in BY_ID:
        raise BadValue(f"There is no page {page!r}. Save the view on one of the pages.")
    if not _file(home, name).exists() and len(every(home)) >= MOST:
        raise BadValue(
            f"There are {MOST} saved views, and more would hide each other. Delete one first."
        )
    try:
        made = SavedView(name=name, page=page, query={k: list(v) for k, v in query.items()})
    except ValidationError as error:
        raise BadValue(
            "This address is too long to be saved as a view. Save the forget set by name first, "
            "or choose less."
        ) from error
    write(_file(home, name), made.model_dump_json().encode())
    return made


def rename(home: Path, old: str, new: str) -> None:
    """Raises `BadValue` for a name that breaks the rule or that another view has, or where there is
    no view `old`.
    """
    view = _read(_file(home, old))
    if view is None:
        raise BadValue(f"There is no view named {old}. Somebody may have deleted it.")
    if _file(home, new) != _file(home, old) and _file(home, new).exists():
        raise BadValue(f"There is another view named {new}. Choose another name.")
    made = save(home, new, view.page, view.query)
    if _file(home, made.name) != _file(home, old):
        delete(home, old)


def delete(home: Path, name: str) -> None:
    """One that is gone already stays gone. Raises `StoreError`."""
    try:
        _file(home, name).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"The view {name} could not be deleted: {error.strerror or error}. Try again."
        ) from error


def _file(home: Path, name: str) -> Path:
    known = " ".join(name.split()).casefold()
    return home / FOLDER / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}.json"


def _read(path: Path) -> SavedView | None:
    try:
        content: Any = json.loads(path.read_bytes())
        view = SavedView.model_validate(content)
    except (OSError, ValueError):  # gone meanwhile, damaged, or put there by hand
        return None
    if view.page in MOVED:
        page, tab = MOVED[view.page]
        view = view.model_copy(update={"page": page, "query": {**view.query, TAB: [tab]}})
    return view if view.page in BY_ID else None
