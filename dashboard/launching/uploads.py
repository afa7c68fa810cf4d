"""Launch: files that a reader brings from their own computer, which need not be the one that the program runs on.

A file is kept by its content in the reader's home; the name it came with is shown and nothing else. It fills the line of a parameter, so
the address of the page says what it says for a path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import data, state
from dashboard.launching import parts
from mucore.errors import MucoreError, StoreError
from mucore.given import SUFFIXES

WEIGHTS = tuple(suffix.removeprefix(".") for suffix in SUFFIXES)
ARRAYS = ("npz",)
FOLDER = "uploads"  # in the home; weights lie among the store's files


def field(label: str, name: str, kinds: Sequence[str], take: Callable[[Any], str], *, megabytes: int) -> None:
    """An uploader that fills the line of parameter `name` with what `take` makes of the file; what is wrong with it is said below."""
    key = f"upload:{name}"
    st.file_uploader(label, type=list(kinds), key=key, on_change=_fill, args=(key, name, take), max_upload_size=megabytes)
    if failure := state.ticket(key):
        parts.tell(failure)
        state.set_ticket(key, None)


def weights_field(name: str) -> None:
    """Of a file with weights: safetensors, or torch's format, which is read without running what it may hold."""
    field("or a file from your computer", name, WEIGHTS, lambda file: data.own_store().artifacts.put_given(file.getvalue()), megabytes=500)


def arrays_field(name: str) -> None:
    """Of an npz file with images and labels, which is read without pickles."""
    field("or a file from your computer", name, ARRAYS, lambda file: str(keep_arrays(file.getvalue())), megabytes=500)


def keep_arrays(content: bytes) -> Path:
    """Write the content of an npz file to the home, under the hash of it; returns the path. Raises `StoreError`."""
    path = data.own_store().home / FOLDER / f"{hashlib.sha256(content).hexdigest()[:32]}.npz"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_bytes(content)
            part.replace(path)
    except OSError as error:
        raise StoreError(f"The file could not be kept in {path.parent}: {error.strerror or error}. Free some space.") from error
    return path


def _fill(key: str, name: str, take: Callable[[Any], str]) -> None:
    file = state.uploaded(key)
    if file is None:
        return
    try:
        state.set_param(name, take(file))
    except MucoreError as failure:
        state.set_ticket(key, str(failure))
