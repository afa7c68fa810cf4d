"""Forget sets: the set in hand. The address holds it, by its ids where they are few, else by the
name of a file kept by content.

Every change is made by the callback of a widget, before the page is drawn; the address before it
goes onto a pile for "Undo".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from dashboard import data, state
from dashboard.text import units
from dashboard.widgets.training_set import Training
from mucore import forget_sets
from mucore.errors import MucoreError
from mucore.forget_sets import KEPT, Listed, NamedSet, identity
from mucore.forget_sets.saved import forget_hash
from mucore.userfiles import doors

SHORT: Final = 150  # ids that an address carries
STEPS_BACK: Final = 50
_IDS, _KEPT = "ids", "kept"
_PAST, _MADE, _FAILED = "forget_set_past", "forget_set_made", "forget_set_failed"
_CLICKED: Final = re.compile(r"(Added|Took away) ([\d,]+) samples? by click\.")


@dataclass(frozen=True, eq=False)
class Working:
    """Training samples by their rows, sorted; how they came together; what is wrong with what the
    address says, sentences; and the hash that a result on them has.
    """

    ids: np.ndarray
    made: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    kept: str = ""
    hash: str = ""

    @property
    def reference(self) -> str:
        """How the field of scenario `ids` on the Launch page names these samples."""
        return KEPT + self.kept if self.kept else ",".join(map(str, self.ids.tolist()))


def read(training: Training) -> Working:
    """The set that the address names. What it names that is not there is told, never guessed."""
    failed = tuple(filter(None, [state.ticket(_FAILED)]))
    state.set_ticket(_FAILED, None)
    none = np.empty(0, np.int64)
    try:
        if kept := state.param(_KEPT):
            doors.check()
            found = _resolve(str(data.own_store().home), KEPT + kept)
            ids = checked(training, Listed(saved=found))
            return Working(ids, found.made, failed, kept, training.hash_of(ids))
        if text := state.param(_IDS):
            ids = checked(training, forget_sets.read_list(text.encode(), name="the address"))
            made = (state.ticket(_MADE) or {}).get(
                forget_hash(ids.tolist()), ("Named in the address of the page.",)
            )
            return Working(ids, made, failed, "", training.hash_of(ids))
    except MucoreError as failure:
        return Working(none, (), (*failed, str(failure)))
    return Working(none, (), failed)


def checked(training: Training, listed: Listed) -> np.ndarray:
    """The rows of a list, sorted; it is taken whole or refused. Raises `BadFile`, `BadValue`."""
    rows = identity.rows_of(listed, training.dataset)
    identity.to_ids(training.splits, rows)
    return np.sort(np.array(rows, np.int64))


def add(training: Training, ids: np.ndarray, what: str) -> None:
    """A callback: these samples join the set; `what` they are goes into how it was made."""
    now = read(training)
    new = np.setdiff1d(ids, now.ids)
    put(training, np.union1d(now.ids, new), (*now.made, _step("Added", len(new), what)))


def take(training: Training, ids: np.ndarray, what: str) -> None:
    """A callback: these samples leave the set."""
    now = read(training)
    gone = np.intersect1d(ids, now.ids)
    put(training, np.setdiff1d(now.ids, gone), (*now.made, _step("Took away", len(gone), what)))


def only(training: Training, ids: np.ndarray, what: str) -> None:
    """A callback: these samples and no others."""
    put(training, ids, (_step("Added", len(ids), what),))


def toggle(training: Training, ids: list[int]) -> None:
    """A callback: clicked samples change sides; those that are no training samples are passed
    over.
    """
    now = read(training)
    clicked = np.intersect1d(np.array(ids, np.int64), training.ids)
    made = now.made
    for verb, some in (
        ("Added", np.setdiff1d(clicked, now.ids)),
        ("Took away", np.intersect1d(clicked, now.ids)),
    ):
        if len(some):
            made = _clicked(made, verb, len(some))
    put(training, np.setxor1d(now.ids, clicked), made)


def start_over() -> None:
    _go("", "")


def undo() -> None:
    """A callback: back to the set before the last change."""
    past = list(state.ticket(_PAST) or [])
    if past:
        ids, kept = past.pop()
        state.set_param(_IDS, ids or None)
        state.set_param(_KEPT, kept or None)
    state.set_ticket(_PAST, past)


def can_undo() -> bool:
    return bool(state.ticket(_PAST))


def leave() -> None:
    """A callback: another data set was chosen, whose samples are others."""
    state.set_param(_IDS, None)
    state.set_param(_KEPT, None)
    state.set_ticket(_PAST, [])


def put(owner: Training | NamedSet, ids: np.ndarray, made: tuple[str, ...]) -> None:
    """Write a set of the owner's data set to the address. A disk that is full leaves the set as it
    was and says so.
    """
    if not len(ids):
        _go("", "")
        return
    if len(ids) <= SHORT:
        known = dict(list((state.ticket(_MADE) or {}).items())[-STEPS_BACK:])
        state.set_ticket(_MADE, known | {forget_hash(ids.tolist()): made})
        _go(",".join(map(str, ids.tolist())), "")
        return
    try:
        whole = forget_sets.make(owner.dataset, ids, data_hash=owner.data_hash, made=made)
        _go("", forget_sets.keep(data.own_store().home, whole))
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _go(ids: str, kept: str) -> None:
    before = (state.param(_IDS), state.param(_KEPT))
    if before != (ids, kept):
        state.set_ticket(_PAST, [*(state.ticket(_PAST) or []), before][-STEPS_BACK:])
    state.set_param(_IDS, ids or None)
    state.set_param(_KEPT, kept or None)


def _step(verb: str, number: int, what: str) -> str:
    return f"{verb} {units.count(number, 'sample')}: {what}."


def _clicked(made: tuple[str, ...], verb: str, number: int) -> tuple[str, ...]:
    """Clicks in a row are one step."""
    last = _CLICKED.fullmatch(made[-1]) if made else None
    if last is not None and last[1] == verb:
        made, number = made[:-1], number + int(last[2].replace(",", ""))
    return (*made, f"{verb} {number:,} {'sample' if number == 1 else 'samples'} by click.")


@st.cache_data(show_spinner=False, max_entries=16)
def _resolve(home: str, reference: str) -> NamedSet:
    """What is kept by content never changes."""
    from pathlib import Path

    return forget_sets.resolve(Path(home), reference)
