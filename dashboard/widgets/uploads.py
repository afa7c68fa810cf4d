"""Launch: files that a reader brings from their own computer, which need not be the one that the
program runs on.

A file is kept by its content in the reader's home; the name it came with is kept beside it, to be
shown and for nothing else. It fills the line of a parameter, so the address of the page says what
it says for a path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import data, state
from dashboard.widgets import fields
from mucore import catalog, titles
from mucore.catalog.cards import DatasetCard
from mucore.errors import MucoreError
from mucore.files import write
from mucore.userfiles import datasets, doors
from mucore.userfiles.weights import SUFFIXES

WEIGHTS = tuple(suffix.removeprefix(".") for suffix in SUFFIXES)
FOLDER = "uploads"  # in the home; weights lie among the store's files
LONGEST_NAME = 100


def field(
    label: str, name: str, kinds: Sequence[str], take: Callable[[Any], str], *, megabytes: int
) -> None:
    """An uploader that fills the line of parameter `name` with what `take` makes of the file; what
    is wrong with it is said below for as long as the file is there.
    """
    key = f"upload:{name}"
    file = st.file_uploader(
        label,
        type=list(kinds),
        key=key,
        on_change=_fill,
        args=(key, name, take),
        max_upload_size=megabytes,
    )
    if file is None:
        state.set_ticket(key, None)
    elif failure := state.ticket(key):
        fields.tell(failure)


def weights_field(name: str) -> None:
    """Of a file with weights: safetensors, or torch's format, which is read without running what it
    may hold.
    """
    field("or a file from your computer", name, WEIGHTS, _take_weights, megabytes=500)


def path_field(card: DatasetCard, **look: Any) -> str:
    """A reader's own data as a grid names them, "npz:PATH": an npz file, which is read without
    pickles, or a folder or a zip archive of images, which is never unpacked. The path may be that
    of an upload; where none is given, the sentence is told.
    """
    kind, what = ("npz", "File") if card.id == "npz" else ("zip", "Folder")
    path = state.text(
        what, "path", help=f"A path on the machine that runs the program. {card.where}", **look
    ).strip()
    field(
        f"or a {kind} file from your computer", "path", [kind], partial(_take, kind), megabytes=500
    )
    if not path:
        fields.tell(f"{card.title}: name the {what.lower()}, or choose a {kind} file.")
    return f"{card.id}:{path}"


def title_of(dataset: str) -> str:
    """The title of a data set; of a reader's own, the name of the file or folder, which for an
    upload is the one that it came with.
    """
    card, path = catalog.dataset(dataset), dataset.partition(":")[2]
    return titles.file(path) if card.takes_path and path else card.title


def named(sentence: str, path: str) -> str:
    """A sentence about an uploaded file with the name that it came with in place of its path."""
    kept = datasets.split(path)[0]
    name = titles.file(kept)
    return sentence if name == Path(kept).name else sentence.replace(kept, name)


def _keep_name(path: Path, file: Any) -> None:
    """Keep the last part of a file's name beside its content; a disk that is full costs the name
    alone.
    """
    name = "".join(
        char for char in str(file.name).replace("\\", "/").rpartition("/")[2] if char.isprintable()
    )[:LONGEST_NAME]
    with suppress(OSError):
        _names().mkdir(parents=True, exist_ok=True)
        (_names() / f"{path.name}.txt").write_text(name, encoding="utf-8")


def _names() -> Path:
    return data.own_store().home / FOLDER / "names"


def _take(kind: str, file: Any) -> str:
    path = keep(file.getvalue(), kind)
    _keep_name(path, file)
    return str(path)


def _take_weights(file: Any) -> str:
    digest = data.own_store().artifacts.put_given(file.getvalue())
    _keep_name(data.own_store().artifacts.file(digest), file)
    return digest


def keep(content: bytes, kind: str) -> Path:
    """Write the content of a data set to the home, under the hash of it; returns the path. Raises
    `StoreError`, `ReadOnly`.
    """
    doors.check()
    path = data.own_store().home / FOLDER / f"{hashlib.sha256(content).hexdigest()[:32]}.{kind}"
    if not path.exists():
        write(path, content)
    return path


def _fill(key: str, name: str, take: Callable[[Any], str]) -> None:
    file = state.uploaded(key)
    state.set_ticket(key, None)
    if file is None:
        return
    try:
        state.set_param(name, take(file))
    except MucoreError as failure:
        state.set_ticket(key, str(failure))
