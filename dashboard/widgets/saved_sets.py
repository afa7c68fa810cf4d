"""Forget sets: the sets that a reader saved, as pages list them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard import data
from dashboard.widgets.training_set import stamp
from mucore import catalog, forget_sets
from mucore.errors import MucoreError
from mucore.forget_sets import NamedSet
from mucore.userfiles import datasets, doors


def saved_sets() -> tuple[list[NamedSet], list[str]]:
    """The reader's sets, newest first, and a sentence for each damaged file. Raises `ReadOnly`."""
    doors.check()
    home = data.own_store().home
    files = [
        (path.name, path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(forget_sets.folder(home).glob("*.json"))
    ]
    return _listed(str(home), tuple(files))


def sets_of(dataset: str) -> list[NamedSet]:
    """The saved sets that name samples of a data set; none of a user's own data that cannot be
    read.
    """
    found = saved_sets()[0]
    if ":" in dataset:
        try:
            content = content_of(dataset) if any(each.data_hash for each in found) else ""
        except MucoreError:
            return []
        return [each for each in found if each.data_hash and each.data_hash == content]
    return [each for each in found if each.dataset == dataset]


def content_of(dataset: str) -> str:
    """`userdata.data_hash`, without reading files that have not changed again. Raises a
    `MucoreError`.
    """
    if not catalog.dataset(dataset).takes_path:
        return ""
    return _content(datasets.named(dataset), stamp(str(datasets.path_of(dataset))))


@st.cache_data(show_spinner=False, max_entries=8)
def _content(dataset: str, changed: tuple[int, ...]) -> str:
    return datasets.data_hash(dataset)


@st.cache_data(show_spinner=False, max_entries=8)
def _listed(home: str, files: tuple[tuple[str, int, int], ...]) -> tuple[list[NamedSet], list[str]]:
    return forget_sets.listed(Path(home))
