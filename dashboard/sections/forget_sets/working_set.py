"""Forget sets: the set in hand. The address holds it, by its ids where they are few, else by the
name of a file kept by content; the browser's Back button undoes a change.

Every change is made by the callback of a widget, before the page is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import streamlit as st

from dashboard import data, state
from dashboard.widgets.training_set import Training
from mucore.errors import MucoreError
from mucore.forget_sets import identity, lists, saved
from mucore.forget_sets.lists import Listed
from mucore.forget_sets.saved import KEPT, NamedSet
from mucore.userfiles import doors

SHORT: Final = 150  # ids that an address carries
_IDS, _KEPT, _FAILED = "ids", "kept", "forget_set_failed"


@dataclass(frozen=True, eq=False)
class Working:
    """Training samples by their rows, sorted; what is wrong with what the address says; and the
    hash that a result on them has.
    """

    ids: np.ndarray
    problem: str = ""
    kept: str = ""
    hash: str = ""

    @property
    def reference(self) -> str:
        """How the field of scenario `ids` on the Launch page names these samples."""
        return KEPT + self.kept if self.kept else ",".join(map(str, self.ids.tolist()))


def read(training: Training) -> Working:
    """The set that the address names. What it names that is not there is told, never guessed."""
    problem = str(state.ticket(_FAILED) or "")
    state.set_ticket(_FAILED, None)
    none = np.empty(0, np.int64)
    kept, text = state.param(_KEPT), state.param(_IDS)
    try:
        if kept:
            doors.check()
            listed = Listed(saved=_resolve(str(data.own_store().home), KEPT + kept))
        elif text:
            listed = lists.read_list(text.encode(), name="the address")
        else:
            return Working(none, problem)
        ids = checked(training, listed)
    except MucoreError as failure:
        return Working(none, str(failure))
    return Working(ids, problem, kept, training.hash_of(ids))


def checked(training: Training, listed: Listed) -> np.ndarray:
    """The rows of a list, sorted; it is taken whole or refused. Raises `BadFile`, `BadValue`."""
    rows = identity.rows_of(listed, training.dataset)
    identity.to_ids(training.splits, rows)
    return np.sort(np.array(rows, np.int64))


def add(training: Training, ids: np.ndarray) -> None:
    """A callback: these samples join the set."""
    put(training, np.union1d(read(training).ids, ids))


def take(training: Training, ids: np.ndarray) -> None:
    """A callback: these samples leave the set."""
    put(training, np.setdiff1d(read(training).ids, ids))


def toggle(training: Training, ids: list[int]) -> None:
    """A callback: clicked samples change sides; those that are no training samples are passed
    over.
    """
    clicked = np.intersect1d(np.array(ids, np.int64), training.ids)
    put(training, np.setxor1d(read(training).ids, clicked))


def leave() -> None:
    """A callback: without a set, as where another data set was chosen."""
    _go("", "")


def put(owner: Training | NamedSet, ids: np.ndarray) -> None:
    """Write a set of the owner's data set to the address. A disk that is full leaves the set as it
    was and says so.
    """
    if len(ids) <= SHORT:
        _go(",".join(map(str, ids.tolist())), "")
        return
    try:
        whole = saved.make(owner.dataset, ids, data_hash=owner.data_hash)
        _go("", saved.keep(data.own_store().home, whole))
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _go(ids: str, kept: str) -> None:
    state.set_param(_IDS, ids or None)
    state.set_param(_KEPT, kept or None)


@st.cache_data(show_spinner=False, max_entries=16)
def _resolve(home: str, reference: str) -> NamedSet:
    """What is kept by content never changes."""
    return saved.resolve(Path(home), reference)
