"""A comparison's name, note and tags, and what the presenter changes about them."""

from __future__ import annotations

import streamlit as st

from dashboard import access, data, state
from dashboard.text.tags import tags_in
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore.store.records import Comparison

NOTE_HELP = "Words that begin with # are tags: “#talk” puts this comparison under talk."


def show(comparison: Comparison) -> None:
    """The note, its tags in sight, and for the presenter a place to change name and note, or to
    take the comparison off the list.
    """
    if problem := state.ticket("comparison_problem"):
        messages.error(escape(str(problem)))
        state.set_ticket("comparison_problem", None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for tag in tags_in(comparison.note):
            st.badge(escape(tag), icon=":material/label:", color="gray")
        if comparison.note:
            st.caption(escape(comparison.note))
        if access.presents():
            with st.popover("Name, note, tags", icon=":material/edit_note:"):
                _change(comparison)


def _change(comparison: Comparison) -> None:
    at = comparison.id
    name = st.text_input("Name", comparison.name, key=f"comparison_name:{at}", max_chars=200)
    note = st.text_area(
        "Note", comparison.note, key=f"comparison_note:{at}", max_chars=2000, help=NOTE_HELP
    )
    if st.button("Save", type="primary", key=f"comparison_save:{at}"):
        with messages.kept("comparison_problem"):
            data.own_store().rename_comparison(at, name, note.strip())
        st.rerun()
    st.caption("Removing it from the list keeps its runs and their results.")
    if st.button("Take off the list", icon=":material/delete:", key=f"comparison_delete:{at}"):
        with messages.kept("comparison_problem"):
            data.own_store().delete_comparison(at)
            state.set_param("comparison", None)
        st.rerun()
