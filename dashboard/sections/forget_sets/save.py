"""Forget sets: a name for the set in hand, the way to Launch, and the sets that were saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.sections.forget_sets import working_set
from dashboard.sections.forget_sets.working_set import Working
from dashboard.text import units
from dashboard.widgets import columns, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import local_time
from dashboard.widgets.saved_sets import saved_sets
from dashboard.widgets.training_set import Training
from mucore.forget_sets import identity, saved
from mucore.forget_sets.saved import SAVED, NamedSet

_FAILED = "saving_failed"


def to_launch(dataset: str, label: str, **query: str | list[str]) -> None:
    """A link to Launch with a data set filled in; `query` are further URL parameters."""
    kind, _, path = dataset.partition(":")
    found = {"dataset": kind, **({"path": path} if path else {}), **query}
    link("launch", label, icon=":material/rocket_launch:", **found)


def save_and_launch(training: Training, now: Working) -> None:
    """A name and a button, which says where it would replace a set. Below it the way to Launch."""
    if failure := state.ticket(_FAILED):
        messages.problem(failure)
        state.set_ticket(_FAILED, None)
    field, button = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with field:
        name = st.text_input(
            "Name", key="set_name", max_chars=saved.LONGEST, placeholder="requests-of-may"
        ).strip()
    known = next((each for each in saved_sets()[0] if each.name == name), None)
    same = (
        known is not None
        and known.dataset == training.dataset
        and np.array_equal(known.ids, now.ids)
    )
    with button:
        st.button(
            "Save" if known is None else "Saved" if same else "Replace it",
            key="save_set",
            icon=":material/save:",
            width="stretch",
            disabled=not name or same,
            on_click=_save,
            args=(training, now, name, known is not None),
        )
    if known is not None and not same:
        st.caption(
            escape(f"{name} has {units.count(len(known.ids), 'sample')} of {known.dataset}.")
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(now.ids) < len(training):
            to_launch(
                training.dataset,
                "Launch with this set",
                scenarios=["ids"],
                **{"ids.ids": now.reference},
            )
        st.button(
            "Start over",
            key="start_over",
            icon=":material/restart_alt:",
            type="tertiary",
            on_click=working_set.leave,
        )


def show_saved(training: Training | None) -> None:
    """The table of saved sets, and what can be done with the chosen one."""
    found, problems = saved_sets()
    for sentence in problems:
        st.warning(escape(f"{sentence} It is left out here."), icon=":material/broken_image:")
    if not found:
        return
    st.subheader("Saved sets", anchor=False)
    frame = pd.DataFrame(
        {
            "Name": [each.name for each in found],
            "Data set": [_short(each.dataset) for each in found],
            "Samples": [len(each.ids) for each in found],
            "Hash": [each.hash for each in found],
            "Saved": local_time(pd.Series([each.created for each in found])),
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
        st.download_button(
            "JSON",
            lambda: saved.to_json(chosen),
            f"{chosen.name}.json",
            "application/json",
            key="set:JSON",
            icon=":material/download:",
            help="Can be read in again under List.",
            on_click="ignore",
        )
        with st.popover("Delete", icon=":material/delete:", key="delete_question"):
            st.markdown(escape(f"Delete {chosen.name} for good? Results on it stay."))
            st.button(
                "Delete it", key="delete_set", type="primary", on_click=_delete, args=(chosen.name,)
            )
        to_launch(
            chosen.dataset, "Launch with it", scenarios=["ids"], **{"ids.ids": SAVED + chosen.name}
        )


def open_set(training: Training | None, found: NamedSet) -> None:
    """A callback: go on from a saved set, on its data set."""
    own = training is not None and found.data_hash and found.data_hash == training.data_hash
    if not own:  # a user's own data may have moved
        kind, _, path = found.dataset.partition(":")
        state.set_param("dataset", kind)
        state.set_param("path", path or None)
    with messages.kept(_FAILED):
        here = identity.of_saved(found, found.dataset)
        working_set.put(here, here.ids)


def _save(training: Training, now: Working, name: str, replace: bool) -> None:
    with messages.kept(_FAILED):
        whole = saved.make(training.dataset, now.ids, data_hash=training.data_hash, name=name)
        saved.save(data.own_store().home, whole, replace=replace)


def _delete(name: str) -> None:
    with messages.kept(_FAILED):
        saved.delete(data.own_store().home, name)


def _short(dataset: str) -> str:
    """A user's own data by the name of the file or folder, for paths are long."""
    kind, _, path = dataset.partition(":")
    return f"{kind}:{Path(path).name}" if path else dataset
