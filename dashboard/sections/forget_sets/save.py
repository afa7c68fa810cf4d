"""Forget sets: a name for the set in hand, the way to Launch, and the sets that were saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.sections.forget_sets import working_set
from dashboard.sections.forget_sets.links import to_launch
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import columns, messages
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import local_time
from dashboard.widgets.saved_sets import saved_sets
from dashboard.widgets.training_set import Training
from mucore import forget_sets
from mucore.errors import MucoreError
from mucore.forget_sets import SAVED, NamedSet, identity

_FAILED = "saving_failed"


def save_and_launch(training: Training, now: Working) -> None:
    """A name and a button; where the name is taken, the question whether to replace it. Beside it
    the way to Launch.
    """
    if failure := state.ticket(_FAILED):
        messages.error(escape(failure))
        state.set_ticket(_FAILED, None)
    field, button = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with field:
        name = st.text_input(
            "Name", key="set_name", max_chars=forget_sets.LONGEST, placeholder="requests-of-may"
        ).strip()
    problem, known = "", None
    if name:
        try:
            forget_sets.check_name(name)
            known = next((each for each in saved_sets()[0] if each.name == name), None)
            taken = (forget_sets.folder(data.own_store().home) / f"{name}.json").exists()
        except MucoreError as failure:
            problem, taken = str(failure), False
    else:
        taken = False
    same = (
        known is not None
        and known.dataset == training.dataset
        and np.array_equal(known.ids, now.ids)
    )
    with button:
        st.button(
            "Save",
            key="save_set",
            icon=":material/save:",
            width="stretch",
            disabled=bool(problem) or not name or taken or not len(now.ids),
            on_click=_save,
            args=(training, now, name, False),
        )
    if problem:
        messages.problem(problem)
    elif same:
        st.caption(f"Saved as {escape(name)}.")
    elif taken:
        what = (
            "a damaged file"
            if known is None
            else f"{units.count(len(known.ids), 'sample')} of {known.dataset}, hash {known.hash}"
        )
        st.markdown(
            escape(
                f"There is a set {name!r} already: {what}. Choose another name, or replace it for "
                "good."
            )
        )
        st.button(
            "Replace it",
            key="replace_set",
            icon=":material/sync:",
            on_click=_save,
            args=(training, now, name, True),
        )
    if len(now.ids) and len(now.ids) < len(training):
        to_launch(
            training.dataset,
            "Launch with this set",
            scenarios=["ids"],
            **{"ids.ids": now.reference},
        )


def show_saved(training: Training | None) -> None:
    """The table of saved sets, and what can be done with the chosen one."""
    st.subheader("Saved sets", anchor=False)
    found, problems = saved_sets()
    for sentence in problems:
        st.warning(escape(f"{sentence} It is left out here."), icon=":material/broken_image:")
    if not found:
        st.markdown(
            "No set has been saved yet. Put samples together above and give them a name; each "
            "becomes a file that you can pass on."
        )
        return
    frame = pd.DataFrame(
        {
            "Name": [each.name for each in found],
            "Data set": [_short(each.dataset) for each in found],
            "Samples": [len(each.ids) for each in found],
            "Hash": [each.hash for each in found],
            "Saved": local_time(pd.Series([each.created for each in found])),
            "How it was made": [" ".join(each.made) for each in found],
        }
    )
    st.dataframe(frame, hide_index=True, column_config=columns.aligned(frame, {}))
    sets = {each.name: each for each in found}
    pick, actions = st.columns([2, 5], vertical_alignment="bottom", gap="small")
    with pick:
        chosen = sets[state.select("Set", "saved", list(sets))]
    with actions, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Open",
            key="open_set",
            icon=":material/folder_open:",
            on_click=open_set,
            args=(training, chosen),
        )
        for label, content, mime in (
            ("JSON", lambda: forget_sets.to_json(chosen), "application/json"),
            ("CSV", lambda: forget_sets.to_csv(chosen.ids.tolist()), "text/csv"),
        ):
            file = f"{chosen.name}.{label.lower()}"
            st.download_button(
                label,
                content,
                file,
                mime,
                key=f"set:{label}",
                icon=":material/download:",
                on_click="ignore",
            )
        with st.popover("Delete", icon=":material/delete:", key="delete_question"):
            st.markdown(
                escape(
                    f"Delete {chosen.name}, {units.count(len(chosen.ids), 'sample')}, for good? "
                    "Results on it stay."
                )
            )
            st.button(
                "Delete it", key="delete_set", type="primary", on_click=_delete, args=(chosen.name,)
            )
        to_launch(
            chosen.dataset, "Launch with it", scenarios=["ids"], **{"ids.ids": SAVED + chosen.name}
        )
    st.caption(
        "The JSON file says the data set and how the set was made, and can be read in again under "
        "List; the CSV has the ids alone."
    )


def open_set(training: Training | None, found: NamedSet) -> None:
    """A callback: go on from a saved set, on its data set."""
    try:
        if training is None:
            raise MucoreError("")
        forget_sets.check_fits(found, training.dataset, training.data_hash)
    except MucoreError:
        kind, _, path = found.dataset.partition(":")
        working_set.leave()
        state.set_param("dataset", kind)
        state.set_param("path", path or None)
    try:
        found = identity.of_saved(found, found.dataset)
        working_set.put(found, found.ids, found.made)
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _save(training: Training, now: Working, name: str, replace: bool) -> None:
    try:
        whole = forget_sets.make(
            training.dataset,
            now.ids,
            data_hash=training.data_hash,
            digest=identity.digest(training.splits, now.ids),
            made=now.made,
            name=name,
        )
        forget_sets.save(data.own_store().home, whole, replace=replace)
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _delete(name: str) -> None:
    try:
        forget_sets.delete(data.own_store().home, name)
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _short(dataset: str) -> str:
    """A user's own data by the name of the file or folder, for paths are long."""
    kind, _, path = dataset.partition(":")
    return f"{kind}:{Path(path).name}" if path else dataset
